"""Uses of the constructors that type checkers must reject, on each marked line; run by test_typing.py."""

from rosenblatt import (
    AROW,
    AssociationUnits,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    SoftMargin,
)


def use() -> None:
    Perceptron(shufle=False)  # expect-error
    AROW(rr=2.0)  # expect-error
    KernelPerceptron(kernels="rbf")  # expect-error
    AssociationUnits(units="step", units_per_row=3)  # expect-error
    MaximumMargin(max_iter=5)  # expect-error
    Perceptron(shuffle="often")  # expect-error
    Perceptron(max_iter="5")  # expect-error
    Perceptron(tol="x")  # expect-error
    Perceptron(penalty="l3")  # expect-error
    Perceptron(multiclass="all")  # expect-error
    Perceptron(keep="first")  # expect-error
    Perceptron(callback=3)  # expect-error
    PassiveAggressive(loss="logistic")  # expect-error
    AROW(r="2")  # expect-error
    AROW(covariance="low-rank")  # expect-error
    SoftMargin(loss="hinge loss")  # expect-error
    KernelPerceptron(gamma="wide")  # expect-error
    KernelPerceptron(budget_rule="oldest")  # expect-error
    MaximumMargin(multiclass="joint")  # expect-error
    AssociationUnits(units="tanh")  # expect-error

    return Perceptron().predict([[0.0]])  # expect-error
