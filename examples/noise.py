"""Compare learners on data with a tenth of the labels flipped: averaged weights beat the last weights."""

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, SoftMargin, VotedPerceptron
from rosenblatt.datasets import noisy

X, y = noisy(4000, 20, flip=0.1, seed=0)
learners = (Perceptron(keep="last"), PassiveAggressive(), VotedPerceptron(), AveragedPerceptron(), AROW(), SoftMargin())
for learner in learners:
    learner.set_params(max_iter=10, tol=None).fit(X[:2000], y[:2000])
    print(f"{type(learner).__name__:18} {learner.score(X[2000:], y[2000:]):.3f}")
