"""The perceptrons and their kin: one scikit-learn class for each. Parameters and documentation; the rest is shared."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rosenblatt.compiled.epochs import (
    BalancedWinnowRule,
    Dense,
    PassiveAggressiveRule,
    PerceptronRule,
    SmoothPassiveAggressiveRule,
    Task,
    WinnowRule,
)
from rosenblatt.data.table import Table
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.base import (
    LinearClassifier,
    check_penalty,
    check_rate,
    learner,
    penalty_of,
    require,
    require_one_of,
)
from rosenblatt.learn.methods import Arow, FirstOrder, Method, Multiplicative, PocketMethod, Voted
from rosenblatt.learn.model import MULTICLASS, code, decision, winners
from rosenblatt.learn.trace import growth

Array = npt.NDArray[Any]


def _margins(estimator: Any) -> PerceptronRule:
    """Give the perceptron's rule; margins are in units of the learning rate, as the weights are."""
    try:
        positive, negative = np.broadcast_to(np.asarray(estimator.margin, dtype=float), 2)
    except ValueError:
        positive = negative = -1.0
    if not (0 <= positive < np.inf and 0 <= negative < np.inf):
        raise InvalidInput(
            f"margin={estimator.margin!r} is not possible: it must be a number from 0, or a pair of them for the "
            "positive and the negative class."
        )
    return PerceptronRule(float(positive / estimator.eta0), float(negative / estimator.eta0))


@learner(
    penalty=None, alpha=0.0001, l1_ratio=0.15, eta0=1.0, schedule="constant", batch=False, margin=0.0
)  # fmt: skip
class Perceptron(LinearClassifier):
    r"""Rosenblatt's perceptron: on a mistake, move the weights towards the row.

    For a row x with label y in {-1, +1} and the score f(x) = w.x + b, a mistake is y f(x) <= 0, and then
    w += eta0 y x, b += eta0 y. If some hyperplane separates the classes with margin g, and no row is longer than R,
    this happens at most (R/g)^2 times, in any order.

    Takes every parameter of scikit-learn's ``Perceptron``, with its meaning. The defaults differ in effect: fitting
    goes on as long as the data may be separable, and the best weights are kept when it is not.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default None
        Shrink the weights a little in each trial.
    alpha : float, default 0.0001
        Strength of the penalty.
    l1_ratio : float, default 0.15
        Share of L1 in the elastic net.
    eta0 : float, default 1
        Learning rate.
    schedule : str or callable, default "constant"
        Factor of the learning rate by epoch: "constant", "1/t", "1/sqrt(t)", "step" (halved every ten epochs), or a
        function of the epoch's number from 1.
    batch : bool, default False
        One update per epoch, by the sum over all misclassified rows.
    margin : float or (float, float), default 0
        Update as long as y f(x) <= margin; a pair for the positive and the negative class (uneven margins).
    {common}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    An epoch reads the data once, for all classes together, at the speed of memory. Keeping the best weights adds a
    second reading. Dense and sparse copies of the same data give the same model.

    Mistakes: at most (R/g)^2 (Novikoff 1962), `rosenblatt.bounds.novikoff`. With a margin tau: at most
    (R^2 + 2 tau)/g^2 updates, `rosenblatt.bounds.margin_perceptron`.

    References
    ----------
    Rosenblatt (1958), The perceptron: a probabilistic model for information storage and organization in the brain.
    Novikoff (1962), On convergence proofs on perceptrons. Li, Zaragoza, Herbrich, Shawe-Taylor and Kandola (2002),
    The perceptron algorithm with uneven margins.

    See Also
    --------
    AveragedPerceptron : steadier on data that is not separable.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> model = Perceptron(shuffle=False).fit(X, ["no", "yes", "yes", "yes"])
    >>> model.predict([[0, 0], [1, 1]]).tolist(), model.coef_.tolist(), model.run_.mistakes
    (['no', 'yes'], [[2.0, 2.0]], (3, 1, 2, 2, 1, 0))
    """

    def _check_own(self) -> None:
        check_rate(self)
        check_penalty(self)
        _margins(self)

    def _method(self) -> Method:
        return FirstOrder(_margins(self), penalty_of(self))


@learner(eta0=1.0, schedule="constant", margin=0.0)
class AveragedPerceptron(LinearClassifier):
    """The perceptron whose model is the average of its weights over all trials.

    Trains exactly as `Perceptron` does and predicts with (w_1 + ... + w_T) / T, which does not depend on which row came
    last. The sum is kept lazily, at the cost of a second addition per update, and training can go on at any time.

    Parameters
    ----------
    eta0 : float, default 1
        Learning rate.
    schedule : str or callable, default "constant"
        Factor of the learning rate by epoch, as for `Perceptron`.
    margin : float or (float, float), default 0
        Update as long as y f(x) <= margin.
    {common}

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

    def _check_own(self) -> None:
        check_rate(self)
        _margins(self)

    def _method(self) -> Method:
        return FirstOrder(_margins(self), averaged=True)


@learner(without=("n_jobs", "early_stopping", "validation_fraction", "warm_start", "init", "keep"))
class VotedPerceptron(LinearClassifier):
    """The voted perceptron: every weight vector it passed through votes, as often as it survived.

    One fit gives three predictions: by the last vector, by the average, and by the vote of all of them. What is
    stored is the row of each update, sparse where the data is; the vectors are sums of them.

    Parameters
    ----------
    {common}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Prediction costs one inner product for each update that was made. After one pass the vote errs on a new row with
    probability at most 2 E/(n + 1), E the expected mistakes (`rosenblatt.bounds.leave_one_out_vote`).

    References
    ----------
    Freund and Schapire (1999), Large margin classification using the perceptron algorithm, Machine Learning 37.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> model = VotedPerceptron().fit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 1])
    >>> [model.predict([[0, 0], [1, 1]], method=way).tolist() for way in ("vote", "average", "last")]
    [[0, 1], [0, 1], [0, 1]]
    """

    keeps = "last"

    _ballots: list[tuple[Any, Array, Array]]

    def _method(self) -> Method:
        return Voted(PerceptronRule(0.0, 0.0))

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Train until a stopping rule says so; see `Perceptron.fit`. A start other than zero is not possible."""
        if coef_init is not None or intercept_init is not None:
            raise InvalidInput("The vote starts from zero: drop coef_init and intercept_init.")
        self.__dict__.pop("_ballots", None)
        return super().fit(X, y, sample_weight=sample_weight)

    def _finish(self, state: Any, method: Method, table: Table, task: Task) -> None:
        super()._finish(state, method, table, task)
        assert isinstance(method, Voted)
        row, problem, factor, trial = (np.concatenate(column) for column in zip(*method.ballots, strict=True))
        before = self.__dict__.get("_ballots", [])
        self._ballots = []
        for p in range(state.b.size):
            mine = problem == p
            cast = (_take(table, row[mine]), factor[mine], trial[mine])
            self._ballots.append(_join(before[p], cast) if p < len(before) else cast)

    def _meet(self, first: bool, method: Method, seen: Array, problems: int, table: Table) -> Any:
        state = super()._meet(first, method, seen, problems, table)
        if not first and seen.size > self.classes_.size:
            change = growth(np.searchsorted(seen, self.classes_).tolist(), seen.size, self.multiclass)
            source = np.abs(change).argmax(axis=1)
            sign = change[np.arange(change.shape[0]), source]
            vectors, factor, trial = self._ballots[0]
            empty = (vectors[:0], factor[:0], trial[:0])
            old = self._ballots + [empty] * (change.shape[1] - len(self._ballots))
            self._ballots = [
                (old[p][0], s * old[p][1], old[p][2]) if s else empty for p, s in zip(source, sign, strict=True)
            ]
        return state

    def decision_function(self, X: Any, method: str = "vote") -> Array:
        """Give the scores of the classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        method : {"vote", "average", "last"}
            The share of votes for less against, between -1 and 1; the score of the average; of the last vector.

        Returns
        -------
        array of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        given = self._elect(X, method)
        return given[:, 0] if given.shape[1] == 1 else given

    def predict(self, X: Any, method: str = "vote") -> Array:
        """Give the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        method : {"vote", "average", "last"}

        Returns
        -------
        array of shape (n_samples,)
        """
        given = self._elect(X, method)
        return self.classes_[winners(given) if self.classes_.size > 1 else np.zeros(given.shape[0], int)]

    def _elect(self, X: Any, method: str) -> Array:
        require_one_of("method", method, ("vote", "average", "last"))
        if method == "last":
            return self._class_scores(X)
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        state = self._trained[0]
        columns = [self._poll(table, p, int(state.t[p]), method) for p in range(self.coef_.shape[0])]
        return decision(np.stack(columns, axis=1), code(self.classes_.size, self.multiclass), self.multiclass)

    def _poll(self, table: Table, p: int, trials: int, method: str) -> Array:
        """Let the vectors of a problem vote, or take their average, in blocks that fit into memory."""
        vectors, factor, trial = self._ballots[p]
        result = np.zeros(table.shape[0])
        if not factor.size:
            return result
        survived = np.diff(trial, append=trials) / max(trials, 1)
        bias = np.cumsum(factor) if self.fit_intercept else np.zeros(factor.size)
        rows = table.rows
        matrix = rows.X if isinstance(rows, Dense) else sp.csr_matrix(rows, shape=table.shape)
        size = max(1, (1 << 22) // factor.size)
        for start in range(0, table.shape[0], size):
            heights = np.cumsum(_as_array(matrix[start : start + size] @ vectors.T) * factor, axis=1) + bias
            result[start : start + size] = (
                np.where(heights > 0, 1.0, -1.0) if method == "vote" else heights
            ) @ survived
        return result


def _as_array(matrix: Any) -> Array:
    return np.asarray(matrix.toarray()) if hasattr(matrix, "toarray") else np.asarray(matrix)


def _take(table: Table, index: Array) -> Any:
    """Copy rows of a table, sparse where it is."""
    rows = table.rows
    return rows.X[index] if isinstance(rows, Dense) else sp.csr_matrix(rows, shape=table.shape)[index]


def _join(old: tuple[Any, Array, Array], new: tuple[Any, Array, Array]) -> tuple[Any, Array, Array]:
    if sp.issparse(old[0]) or sp.issparse(new[0]):
        rows = sp.vstack([sp.csr_matrix(old[0]), sp.csr_matrix(new[0])], format="csr")
    else:
        rows = np.vstack([old[0], new[0]])
    return rows, np.append(old[1], new[1]), np.append(old[2], new[2])


@learner(shuffle="random", without=("keep", "init", "warm_start"))
class PocketPerceptron(LinearClassifier):
    """The perceptron with its best weights in the pocket: for data that is not separable.

    Runs the perceptron, and keeps the weights with the longest run of correct trials, replaced only by weights that
    also make fewer errors on all rows (the ratchet). The error of the pocket never rises. Rows are drawn at random with
    replacement, ``shuffle="random"``, unless told otherwise.

    Parameters
    ----------
    {common}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    With rows drawn at random the pocket holds optimal weights with a probability that tends to one (Gallant 1990). Each
    look at all rows costs an epoch; they are rare once the pocket is good.

    References
    ----------
    Gallant (1990), Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1, 179-191.

    Examples
    --------
    >>> from rosenblatt import PocketPerceptron
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [9.0]], [0, 0, 1, 1, 1, 0]
    >>> round(PocketPerceptron(max_iter=200, tol=None).fit(X, y).score(X, y), 3)
    0.833
    """

    modes = ("ovr", "ovo", "ovo-vote")
    keeps = "last"

    def _method(self) -> Method:
        return PocketMethod()

    @property
    def partial_fit(self) -> Any:
        """Not there: the ratchet looks back at all rows, which a stream does not keep."""
        raise AttributeError(
            "PocketPerceptron looks back at all rows, which a stream does not keep. Use AveragedPerceptron for streams."
        )


@learner(C=1.0, loss="hinge", average=False)
class PassiveAggressive(LinearClassifier):
    """Passive-aggressive: the smallest change of the weights that gives the row a margin of one.

    With the loss l = max(0, 1 - y f(x)) the weights move by tau y x, where tau = min(C, l/|x|^2) (PA-I,
    ``loss="hinge"``) or tau = l/(|x|^2 + 1/2C) (PA-II, ``loss="squared_hinge"``). PA without slack is C = inf. The
    squared length includes the one of the bias.

    Parameters
    ----------
    C : float, default 1
        Largest step (PA-I), or how little slack costs (PA-II); may be infinite.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        PA-I or PA-II.
    average : bool, default False
        Whether the model is the average of the weights over all trials.
    {common}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Bounds on losses and mistakes: `rosenblatt.bounds.passive_aggressive`, `passive_aggressive_1`,
    `passive_aggressive_2`.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz and Singer (2006), Online passive-aggressive algorithms, JMLR 7, 551-585.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressive
    >>> model = PassiveAggressive(C=float("inf")).fit([[0.0], [3.0]], [0, 1])
    >>> (model.decision_function([[3.0]]) >= 0.99).tolist()
    [True]
    """

    def _check_own(self) -> None:
        require("C", self.C, Real, lambda v: v > 0, "a positive number, infinity included")
        require_one_of("loss", self.loss, ("hinge", "squared_hinge"))

    def _method(self) -> Method:
        kind = PassiveAggressiveRule if self.loss == "hinge" else SmoothPassiveAggressiveRule
        return FirstOrder(kind(float(self.C)), averaged=bool(self.average))


@learner(r=1.0, covariance="diagonal", without=("init",))
class AROW(LinearClassifier):
    """Adaptive regularisation of weights: small steps where a feature is known well, large ones where it is rare.

    Keeps a Gaussian over the weights. When m = y f(x) < 1, with v = x'Vx and beta = 1/(v + r):
    w += (1 - m) beta y V x and V -= beta V x x'V. Strong on noisy and sparse data.

    Parameters
    ----------
    r : float, default 1
        The larger, the smaller the steps.
    covariance : {"diagonal", "full"}, default "diagonal"
        A variance for each weight, or the whole matrix, for up to some thousand features.
    {common}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Mistakes with the full matrix: `rosenblatt.bounds.arow`.

    References
    ----------
    Crammer, Kulesza and Dredze (2009), Adaptive regularization of weight vectors, NIPS 22.

    Examples
    --------
    >>> from rosenblatt import AROW
    >>> AROW().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.2, 1.0]]).tolist()
    [0]
    """

    @property
    def modes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Modes there are: all classes at once share no covariance matrix."""
        return MULTICLASS if self.covariance == "diagonal" else MULTICLASS[:-1]

    def _check_own(self) -> None:
        require("r", self.r, Real, lambda v: 0 < v < np.inf, "a positive number")
        require_one_of("covariance", self.covariance, ("diagonal", "full"))

    def _method(self) -> Method:
        return Arow(float(self.r), self.covariance == "full")

    def _fresh_state(self, method: Method, problems: int, table: Table, init: Any) -> Any:
        size = 8 * problems * (table.shape[1] + 1) ** 2
        if self.covariance == "full" and size > 1 << 32:
            raise InvalidInput(
                f"covariance='full' needs {size / 2**30:.0f} GiB for {table.shape[1]} features and {problems} "
                "problems. Use covariance='diagonal'."
            )
        return super()._fresh_state(method, problems, table, init)


@learner(balanced=True, factor=1.5, threshold=None, eliminate=False, without=("init",))
class Winnow(LinearClassifier):
    """Winnow: on a mistake multiply the weights instead of adding to them; few relevant features among many.

    Littlestone's Winnow (``balanced=False``) takes features that are not negative: it starts from weights of one,
    predicts w.x > threshold, and multiplies w_j by factor^(y x_j), or eliminates it for good in a demotion. The
    balanced form, for any features, has weights factor^theta - factor^-theta with theta += y x, and learns a bias.

    Parameters
    ----------
    balanced : bool, default True
        Whether features may be of either sign.
    factor : float, default 1.5
        What a promotion multiplies by; above 1.
    threshold : float or None, default None
        What w.x is held against without `balanced`; None: half the number of features.
    eliminate : bool, default False
        Whether a demotion sets weights to zero (Winnow1) rather than dividing them (Winnow2).
    {common}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    A disjunction of k of n features is learned with at most 2 k log2(n) + 2 mistakes (factor 2, threshold n/2,
    elimination): `rosenblatt.bounds.winnow1`, `winnow2`.

    References
    ----------
    Littlestone (1988), Learning quickly when irrelevant attributes abound, Machine Learning 2, 285-318.

    Examples
    --------
    >>> from rosenblatt import Winnow
    >>> X = [[1, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 1], [0, 0, 1, 0]]
    >>> Winnow(balanced=False, factor=2.0).fit(X, [1, 0, 1, 0]).score(X, [1, 0, 1, 0])
    1.0
    """

    modes = ("ovr", "ovo", "ovo-vote")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.balanced
        # Littlestone's form is for features that are there or not; on others it promises little.
        tags.classifier_tags.poor_score = not self.balanced
        return tags

    @property
    def takes_new_classes(self) -> bool:  # type: ignore[override]
        """Whether a class may lend its weights, with their signs changed, to one that appears."""
        return bool(self.balanced)

    def _check_own(self) -> None:
        require("factor", self.factor, Real, lambda v: 1 < v < np.inf, "a number above 1")
        if self.threshold is not None:
            require("threshold", self.threshold, Real, lambda v: 0 < v < np.inf, "a positive number or None")

    def _check_rows(self, X: Any, y: Any = "no_validation", *, reset: bool) -> tuple[Table, Any]:
        table, labels = super()._check_rows(X, y, reset=reset)
        values = table.rows.X if isinstance(table.rows, Dense) else table.rows.data
        if not self.balanced and values.size and values.min() < 0:
            raise InvalidInput(
                f"Negative values in data passed to Winnow: X goes down to {values.min():.3g}. Use balanced=True, or "
                "split each feature into its positive and its negative part."
            )
        return table, labels

    def _task(self, label: Array, sign: Array, classes: Array, y: Array, weight: Array) -> Task:
        task = super()._task(label, sign, classes, y, weight)
        return task if self.balanced else task._replace(bias=0.0)

    def _method(self) -> Method:
        if self.balanced:
            return Multiplicative(BalancedWinnowRule(float(self.factor)))
        threshold = self.n_features_in_ / 2 if self.threshold is None else float(self.threshold)
        return Multiplicative(WinnowRule(float(self.factor), bool(self.eliminate)), threshold)
