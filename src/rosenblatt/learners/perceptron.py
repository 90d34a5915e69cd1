"""The perceptron, w += y x on a mistake (Rosenblatt 1958), and the average of its weights (Freund, Schapire 1999)."""

from __future__ import annotations

from typing import Any

from rosenblatt.data.numbers import is_real
from rosenblatt.engine.rules import perceptron
from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import flag, margins
from rosenblatt.training.algorithm import Algorithm
from rosenblatt.training.first_order import FirstOrder


def _rule(learner: Any) -> Any:
    """Return the perceptron's rule; margins are in units of the learning rate, as the weights are."""
    positive, negative = (learner.margin,) * 2 if is_real(learner.margin) else learner.margin
    return perceptron(positive=float(positive / learner.eta0), negative=float(negative / learner.eta0))


class Perceptron(LinearClassifier):
    """Rosenblatt's perceptron: on a mistake, move the weights towards the row.

    For a row x with label y in {-1, +1} and the score f(x) = w.x + b, a mistake is y f(x) <= 0, and then
    w += eta0 y x, b += eta0 y. If some hyperplane separates the classes with margin g, and no row is longer than R,
    this happens at most (R/g)^2 times, in any order.

    Takes every parameter of scikit-learn's ``Perceptron``, with its meaning. The defaults differ in effect: fitting
    goes on while the data may be separable, at most twice as long as the loss kept falling on large data, and the best
    weights are kept when it is not.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    AveragedPerceptron : Steadier on data that is not separable.

    Notes
    -----
    An epoch reads the data once, for all classes together, at the speed of memory. Where the mistakes no longer fall
    fast, keeping the best weights adds a second reading. Dense and sparse copies of the same data give the same model.

    Mistakes: at most (R/g)^2 (Novikoff 1962), `rosenblatt.bounds.novikoff`. With a margin tau: at most
    (R^2 + 2 tau)/g^2 updates, `rosenblatt.bounds.margin_perceptron`.

    References
    ----------
    Rosenblatt (1958), The perceptron: a probabilistic model for information storage and organization in the brain.
    Novikoff (1962), On convergence proofs on perceptrons. Li, Zaragoza, Herbrich, Shawe-Taylor and Kandola (2002),
    The perceptron algorithm with uneven margins.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> model = Perceptron(shuffle=False).fit(X, ["no", "yes", "yes", "yes"])
    >>> model.predict([[0, 0], [1, 1]]).tolist(), model.coef_.tolist(), model.run_.mistakes
    (['no', 'yes'], [[2.0, 2.0]], (3, 1, 2, 2, 1, 0))
    """

    batch: bool = flag(default=False, text="One update per epoch, by the sum over all misclassified rows.")
    margin: shared.Margin = margins(
        default=0.0,
        text="Update while y f(x) <= margin; a pair for the positive and the negative class (uneven margins).",
        range=(0.0, 5.0, 0.1),
    )
    penalty: shared.Penalty = shared.PENALTY
    alpha: float = shared.ALPHA
    l1_ratio: float = shared.L1_RATIO
    eta0: float = shared.ETA0
    schedule: shared.Schedule = shared.SCHEDULE
    fit_intercept: bool = shared.FIT_INTERCEPT
    max_iter: int = shared.MAX_ITER
    tol: float | None = shared.TOL
    shuffle: shared.Shuffle = shared.SHUFFLE
    verbose: int = shared.VERBOSE
    random_state: shared.RandomState = shared.RANDOM_STATE
    n_iter_no_change: int = shared.N_ITER_NO_CHANGE
    max_seconds: float | None = shared.MAX_SECONDS
    callback: shared.Callback = shared.CALLBACK
    class_weight: shared.ClassWeight = shared.CLASS_WEIGHT
    multiclass: shared.Multiclass = shared.MULTICLASS
    intercept_scaling: shared.Padding = shared.INTERCEPT_SCALING
    shards: int = shared.SHARDS
    mixes: int | str = shared.MIXES
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION
    warm_start: bool = shared.WARM_START
    init: Any = shared.INIT
    keep: shared.Keep = shared.KEEP

    facts = Facts(
        published=1958,
        does="on a mistake, move towards the row; margins, penalties, batch",
        when="the data may be separable; the baseline",
        command="perceptron",
        title="Perceptron",
        lecture="all five lectures",
        rule="perceptron",
    )

    def _algorithm(self) -> Algorithm:
        return FirstOrder(_rule(self), *shared.penalty_of(self))


class AveragedPerceptron(LinearClassifier):
    """The perceptron whose model is the average of its weights over all trials.

    Trains exactly as `Perceptron` does and predicts with (w_1 + ... + w_T) / T, which does not depend on which row came
    last. The sum is kept lazily, at the cost of a second addition per update, and training can go on at any time.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    The mistakes of the perceptron that it averages are at most (R/g)^2, as for `Perceptron`.

    References
    ----------
    Freund and Schapire (1999), Large margin classification using the perceptron algorithm, Machine Learning 37.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> model = AveragedPerceptron(shuffle=False, max_iter=1, tol=None).fit([[1.0], [-1.0]], [1, 0])
    >>> model.coef_.tolist(), model.intercept_.tolist()
    ([[1.5]], [0.5])
    """

    margin: shared.Margin = shared.MARGIN
    eta0: float = shared.ETA0
    schedule: shared.Schedule = shared.SCHEDULE
    fit_intercept: bool = shared.FIT_INTERCEPT
    max_iter: int = shared.MAX_ITER
    tol: float | None = shared.TOL
    shuffle: shared.Shuffle = shared.SHUFFLE
    verbose: int = shared.VERBOSE
    random_state: shared.RandomState = shared.RANDOM_STATE
    n_iter_no_change: int = shared.N_ITER_NO_CHANGE
    max_seconds: float | None = shared.MAX_SECONDS
    callback: shared.Callback = shared.CALLBACK
    class_weight: shared.ClassWeight = shared.CLASS_WEIGHT
    multiclass: shared.Multiclass = shared.MULTICLASS
    intercept_scaling: shared.Padding = shared.INTERCEPT_SCALING
    shards: int = shared.SHARDS
    mixes: int | str = shared.MIXES
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION
    warm_start: bool = shared.WARM_START
    init: Any = shared.INIT
    keep: shared.Keep = shared.KEEP

    facts = Facts(
        published=1999,
        does="the average of its weights over all trials",
        when="noisy data, streams; a strong default",
        command="averaged",
        title="Averaged perceptron",
        lecture="Perceptron and Kernelization",
        rule="perceptron",
    )

    # The last average is of most weights; the one with the fewest training errors is no better on other rows.
    default_keep = "last"

    def _algorithm(self) -> Algorithm:
        return FirstOrder(_rule(self), averaged=True)
