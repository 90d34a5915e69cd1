"""Prove that no line separates XOR, check the proof, find the perceptron's own proof (a cycle), and learn XOR."""

from rosenblatt import KernelPerceptron, certify, certify_cycle, verify
from rosenblatt.datasets import logical

X, y = logical("xor")
proof = certify(X, y)
print(proof)
print("Is the proof right?", verify(proof, X, y))

# One update on each of the four rows brings the weights back to zero.
print("updates in a cycle:", certify_cycle(X, y).multipliers)

# In the space of all products of two features, XOR is separable.
print("quadratic kernel:", KernelPerceptron(kernel="quadratic").fit(X, y).predict(X))
