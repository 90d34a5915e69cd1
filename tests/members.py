"""The family, once: every estimator in the configurations that tests run over."""

from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    Adaline,
    AdalineRegressor,
    AssociationUnits,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PNormPerceptron,
    PocketPerceptron,
    SoftMargin,
    TableHasher,
    TextHasher,
    VotedPerceptron,
    Winnow,
)

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
    Adaline(normalised=True),  # a stream does not know the mean length of its rows
    SoftMargin(alpha=0.01),
    SoftMargin(alpha=0.01, penalty="elasticnet", loss="squared_hinge", average=True),
    SoftMargin(alpha=0.01, loss="logistic", schedule="pegasos"),
]

# Every public estimator class.
EVERY_CLASS = [
    ALMA,
    ROMMA,
    PNormPerceptron,
    AROW,
    Adaline,
    AdalineRegressor,
    AssociationUnits,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    SoftMargin,
    TableHasher,
    TextHasher,
    VotedPerceptron,
    Winnow,
]
