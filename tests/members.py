"""The family, once: every estimator in the configurations that tests run over.

A learner that is not named here is tested with its defaults.
"""

import pytest
from sklearn.base import is_classifier, is_regressor

from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    Adaline,
    AdalineRegressor,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PNormPerceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
)
from rosenblatt.learners import ALL

# Under scikit-learn's estimator checks.
FAMILY = [
    Perceptron(),
    Perceptron(multiclass="ovo"),
    Perceptron(multiclass="joint"),
    Perceptron(batch=True),
    AveragedPerceptron(),
    VotedPerceptron(),
    PocketPerceptron(),
    PassiveAggressive(),
    PassiveAggressive(loss="squared_hinge"),
    AROW(),
    AROW(covariance="full"),
    Winnow(),
    Winnow(balanced=False),
    ALMA(),
    ROMMA(),
    ROMMA(aggressive=True),
    PNormPerceptron(),
    Adaline(),
    AdalineRegressor(),
    SoftMargin(),
    SoftMargin(loss="logistic", average=True),
    MaximumMargin(),
]

# Whatever learns row by row.
STREAMS = [
    Perceptron(),
    Perceptron(margin=1.0),
    AveragedPerceptron(),
    VotedPerceptron(),
    PassiveAggressive(),
    PassiveAggressive(loss="squared_hinge", average=True),
    AROW(covariance="diagonal"),  # a stream does not know how wide it will be
    AROW(covariance="full"),
    Winnow(factor=1.25),
    ALMA(),
    ROMMA(),
    PNormPerceptron(p=4.0),
    Adaline(),
    Adaline(average=True),
    SoftMargin(alpha=0.01),
    SoftMargin(alpha=0.01, penalty="elasticnet", loss="squared_hinge", average=True),
    SoftMargin(alpha=0.01, loss="logistic", schedule="pegasos"),
]

# Every public estimator class.
EVERY_CLASS = list(ALL.values())
NAMED = {type(model) for model in [*FAMILY, *STREAMS]} | {KernelPerceptron}  # which has a file of its own
for cls in EVERY_CLASS:
    if cls not in NAMED and (is_classifier(cls()) or is_regressor(cls())):
        FAMILY.append(cls())
        if is_classifier(cls()) and hasattr(cls(), "learn_one"):
            STREAMS.append(cls())


def others_long(models):
    """Mark all models of a class but the first as long, where they only compile the same source once more."""
    first = {type(model): model for model in reversed(models)}.values()
    return [pytest.param(model, marks=[] if model in first else pytest.mark.long) for model in models]
