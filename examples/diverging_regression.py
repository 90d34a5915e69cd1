"""Find the coefficients of a logistic regression without finite estimates, and the observations that cause this."""

from rosenblatt import certify

# dose, treated -> cured. Every treated patient was cured.
X = [[1, 0], [2, 0], [3, 0], [4, 0], [2, 1], [3, 1], [4, 1], [5, 1]]
y = ["no", "yes", "no", "yes", "yes", "yes", "yes", "yes"]

certificate = certify(X, y)
print(certificate.coefficients)
print("observations with a fitted probability of 0 or 1:", certificate.extreme)
