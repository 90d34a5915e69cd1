"""Uses of the constructors that type checkers must accept; run by test_typing.py."""

import numpy as np

from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    Adaline,
    AdalineRegressor,
    AveragedPerceptron,
    KernelPerceptron,
    LinearModel,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PNormPerceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
    load_linear,
    train,
)
from rosenblatt.training.plan import Epoch


def stop_early(epoch: Epoch) -> bool:
    return epoch.number > 3


def use() -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    Perceptron()
    Perceptron(shuffle=False)
    Perceptron(shuffle="random", max_iter=5, tol=None, random_state=None)
    Perceptron(margin=(1.0, 2.0), penalty="l2", alpha=1e-3, eta0=0.1, schedule=lambda epoch: 1.0 / epoch)
    Perceptron(multiclass="ovo-vote", class_weight={"spam": 2.0}, n_jobs=-1)
    Perceptron(class_weight="balanced", early_stopping=True, callback=stop_early, keep="best")
    AveragedPerceptron(margin=1.0)
    VotedPerceptron(max_seconds=2.5)
    PocketPerceptron(shuffle=True)
    PassiveAggressive(C=float("inf"), loss="squared_hinge", average=True)
    AROW(r=2.0, covariance="full")
    ALMA(approximation=0.2, multiclass="ovo-vote")
    ROMMA(aggressive=True)
    PNormPerceptron(p=4)
    Winnow(balanced=False, threshold=None, eliminate=True)
    Adaline(eta0=0.5, normalised=False)
    AdalineRegressor(max_iter=10)
    SoftMargin(loss="logistic", schedule="pegasos")
    KernelPerceptron(kernel="poly", gamma="scale", degree=2, budget=100, budget_rule="projectron")
    KernelPerceptron(kernel=lambda a, b: len(set(a) & set(b)))
    MaximumMargin(multiclass="ovo")

    model: Perceptron = Perceptron(max_iter=3).fit([[0.0], [1.0]], [0, 1])
    linear: LinearModel = load_linear("model.safetensors")
    run = train([[0.0], [1.0]], [0, 1], order="cyclic")
    return model.predict([[0.5]]), linear.scores([[0.5]]), run.mistakes
