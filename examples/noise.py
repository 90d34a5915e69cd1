"""On noise, the average of the weights beats the last ones: the family on data with a tenth of the labels flipped."""

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, SoftMargin, VotedPerceptron
from rosenblatt.datasets import noisy

X, y = noisy(4000, 20, flip=0.1, seed=0)
members = (Perceptron(keep="last"), PassiveAggressive(), VotedPerceptron(), AveragedPerceptron(), AROW(), SoftMargin())
for member in members:
    member.set_params(max_iter=10, tol=None).fit(X[:2000], y[:2000])
    print(f"{type(member).__name__:18} {member.score(X[2000:], y[2000:]):.3f}")
