"""The perceptron in the dual: `KernelPerceptron`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.compiled.epochs import Dense, Task
from rosenblatt.data.labels import as_labels, as_weights
from rosenblatt.data.table import Table
from rosenblatt.dual.blocks import DualJob, run_dual
from rosenblatt.dual.budget import BUDGET_RULES, Budget, BudgetState, run_budgeted
from rosenblatt.dual.expansion import Expansion, Log, expand, vote
from rosenblatt.dual.kernels import (
    Cosine,
    Gaussian,
    Laplacian,
    Objects,
    Padded,
    Polynomial,
    Precomputed,
    Similarity,
    from_function,
    is_sparse,
)
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.base import EpochLearner, learner, require, require_one_of
from rosenblatt.data.table import ALL_ROWS
from rosenblatt.learn.multiclass import MULTICLASS, code, decision, winners
from rosenblatt.data.table import row_numbers
from rosenblatt.learn.stopping import Stop
from rosenblatt.learn.multiclass import growth, open_code
from rosenblatt.learn.plan import Run

Array = npt.NDArray[Any]

KERNELS = ("linear", "quadratic", "poly", "rbf", "laplacian", "cosine", "precomputed")
METHODS = ("last", "average", "vote")
_NOT_HERE = ("n_jobs", "early_stopping", "validation_fraction", "init", "keep")


@learner(
    kernel="rbf",
    degree=3,
    gamma=None,
    coef0=1.0,
    aggregate="last",
    budget=None,
    budget_rule="random",
    residual=0.1,
    cache_size=1000,
    fit_intercept=False,
    max_iter=100,
    without=_NOT_HERE,
)
class KernelPerceptron(ClassifierMixin, EpochLearner):  # type: ignore[misc]
    """The perceptron in the dual: any similarity in place of the inner product.

    On a mistake, y_i f(x_i) <= 0, the row's count alpha_i rises by one, where f(x) = sum of alpha_i y_i k(x_i, x): the
    perceptron in the space of the kernel. One fit serves three ways to predict (Freund and Schapire 1999): by the
    last f, by the average of f over all trials, or by a vote of every f, once for each trial that it survived.

    Parameters
    ----------
    kernel : str or callable, default "rbf"
        "linear": x.z; "quadratic": (1 + x.z)^2; "poly": (gamma x.z + coef0)^degree; "rbf": exp(-gamma |x - z|^2);
        "laplacian": exp(-gamma |x - z|_1); "cosine": x.z / (|x| |z|); "precomputed": X is the matrix of similarities,
        of the rows with the training rows.
        A function of two blocks of rows that gives the block of their similarities; or of two single objects that
        gives a number, the same for (x, z) as for (z, x). Which of the two, is found out by trying blocks of two and
        three. With a function, X may be a list of anything: strings, graphs, sets.
    degree : int, default 3
        Of "poly".
    gamma : float, "scale", "auto" or None, default None
        "scale": 1 / (n_features * X.var()); "auto": 1 / n_features; None: 1 for "poly", "scale" for "rbf" and
        "laplacian". In a stream the first chunk decides.
    coef0 : float, default 1
        Of "poly".
    aggregate : {"last", "average", "vote"}, default "last"
        What `predict` and `decision_function` go by, unless told otherwise.
    budget : int or None, default None
        Most support vectors to keep, shared by all problems; None for no limit. With a budget there is only the last f.
    budget_rule : {"random", "forgetron", "projectron"}, default "random"
        When the budget is full and one more row is mistaken: drop a vector at random (Cavallanti et al. 2007); shrink
        all coefficients and drop the oldest (self-tuned, Dekel et al. 2008); or add the projection of the row onto
        the span of the vectors (Orabona et al. 2009).
    residual : float, default 0.1
        For the projectron: a row whose distance from the span is below this share of its length is projected even
        while there is room.
    cache_size : float, default 1000
        Megabytes of similarities to keep, where computing them again would take longer: those of a function, and of
        rows with thousands of features.
    fit_intercept : bool, default False
        Whether to learn a bias: adds 1 to the kernel.
    max_iter : int, default 100
        Most epochs.
    {common}

    Attributes
    ----------
    alpha_ : array of shape (n_problems, n_support)
        The counts: how often each support row was a mistake, for each problem; times the weights, if any. On a budget
        that shrinks or projects, the absolute values of `dual_coef_`.
    dual_coef_ : array of shape (n_problems, n_support)
        alpha_ with the signs of the rows.
    support_ : array of shape (n_support,)
        Numbers of the rows that were mistaken, in the order of their first mistakes; in a stream, counted from its
        start.
    support_vectors_ : array or sparse matrix of shape (n_support, n_features), or array of objects
        The rows.
    gamma_ : float
        The gamma that is used, where there is one.
    classes_ : array of shape (n_classes,)
        The labels, sorted; with two, the second is the positive one.
    n_iter_ : int
        Epochs run.
    run_ : Run
        Record of the last fit; its `coef` are those of the dual, its `radius` is the largest sqrt(k(x, x)).
    stop_reason_ : str
        Why it stopped, as a sentence.
    t_, mistakes_ : int
        Trials and mistakes so far.
    n_features_in_ : int
        Number of features, where rows have any.

    Notes
    -----
    Rows are presented one by one, as everywhere in the family; blocks and matrix products only compute what the rows
    need. An epoch costs n times its own mistakes, whatever the number of support vectors. On integers in float64 all
    sums are exact below 2^53.

    References
    ----------
    Aizerman, Braverman and Rozonoer (1964), Theoretical foundations of the potential function method in pattern
    recognition learning. Freund and Schapire (1999), Large margin classification using the perceptron algorithm,
    Machine Learning 37. Cavallanti, Cesa-Bianchi and Gentile (2007), Tracking the best hyperplane with a simple budget
    perceptron, Machine Learning 69. Dekel, Shalev-Shwartz and Singer (2008), The Forgetron: a kernel-based perceptron
    on a budget, SIAM Journal on Computing 37. Orabona, Keshet and Caputo (2009), Bounded kernel-based online learning,
    JMLR 10.

    See Also
    --------
    AssociationUnits : a random layer of features, for more rows than similarities can be afforded for.

    Examples
    --------
    >>> from rosenblatt import KernelPerceptron
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron(kernel="quadratic", shuffle=False).fit(X, y)
    >>> model.predict(X).tolist(), model.alpha_.tolist()
    ([0, 1, 1, 0], [[7.0, 5.0, 5.0, 4.0]])
    >>> common = KernelPerceptron(kernel=lambda a, b: len(set(a) & set(b)))
    >>> common.fit(["abc", "cab", "xyz", "xyw"], [0, 0, 1, 1]).predict(["bad", "zoo"]).tolist()
    [0, 1]
    """

    classes_: Array
    dual_coef_: Array
    support_: Array
    support_vectors_: Any
    n_iter_: int
    n_features_in_: int
    run_: Run
    stop_reason_: str
    t_: int
    mistakes_: int
    gamma_: float
    _expansion: Expansion
    _memory: BudgetState
    _form: type[Similarity]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._looks_up()
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    # ------------------------------------------------------------------------------------------------- parameters

    def _check_parameters(self) -> None:
        self._check_common()
        require_one_of("multiclass", self.multiclass, MULTICLASS)
        require_one_of("aggregate", self.aggregate, METHODS)
        if not callable(self.kernel):
            require_one_of("kernel", self.kernel, KERNELS)
        require("degree", self.degree, Integral, lambda v: v >= 0, "a whole number from 0")
        require("coef0", self.coef0, Real, lambda v: abs(v) < np.inf, "a finite number")
        if self.budget is not None:
            require("budget", self.budget, Integral, lambda v: v >= 1, "a whole number from 1, or None")
            if self.aggregate != "last":
                raise InvalidInput(
                    f"aggregate={self.aggregate!r} needs every vector that there was, and a budget drops some. Use "
                    "aggregate='last', or budget=None."
                )
        require_one_of("budget_rule", self.budget_rule, BUDGET_RULES)
        require("residual", self.residual, Real, lambda v: 0 <= v < 1, "a number from 0 and below 1")
        require("cache_size", self.cache_size, Real, lambda v: 0 <= v < np.inf, "a number of megabytes")
        if self.gamma is not None and not isinstance(self.gamma, str):
            require("gamma", self.gamma, Real, lambda v: 0 < v < np.inf, 'a positive number, "scale", "auto" or None')
        elif self.gamma is not None:
            require_one_of("gamma", self.gamma, (None, "scale", "auto"))

    def _width(self, objects: Objects) -> float:
        """Give the gamma that the parameters and the rows ask for."""
        if isinstance(self.gamma, Real):
            return float(self.gamma)
        if self.gamma is None and self.kernel == "poly":
            return 1.0
        if self.gamma == "auto":
            return 1.0 / int(objects.shape[1])
        if is_sparse(objects):
            spread = objects.multiply(objects).mean() - objects.mean() ** 2
        else:
            spread = objects.var(dtype=np.float64)
        return float(1.0 / (objects.shape[1] * spread)) if spread > 0 else 1.0

    def _similarity(self, objects: Objects, matrix: Array | None) -> Similarity:
        """Give the similarity, once gamma and the form of a function are known."""
        kernel: Similarity
        if callable(self.kernel):
            kernel = self._form(self.kernel)  # type: ignore[call-arg]
        elif self.kernel == "precomputed":
            assert matrix is not None
            kernel = Precomputed(matrix)
        else:
            made: dict[str, Callable[[], Similarity]] = {
                "linear": Polynomial,
                "quadratic": lambda: Polynomial(1.0, 1.0, 2),
                "poly": lambda: Polynomial(self.gamma_, float(self.coef0), int(self.degree)),
                "rbf": lambda: Gaussian(self.gamma_),
                "laplacian": lambda: Laplacian(self.gamma_),
                "cosine": Cosine,
            }
            kernel = made[self.kernel]()
        return Padded(kernel) if self.fit_intercept else kernel

    def _settle_kernel(self, objects: Objects) -> None:
        """Find out what the first rows decide: gamma, and which form a function has."""
        if callable(self.kernel):
            self._form = type(from_function(self.kernel, objects))
        elif self.kernel in ("poly", "rbf", "laplacian"):
            self.gamma_ = self._width(objects)

    # ------------------------------------------------------------------------------------------------------- objects

    def _objects(self, X: Any, y: Any = "no_validation", *, reset: bool) -> tuple[Objects, Any, Array | None]:
        """Give checked objects, labels, and the matrix of similarities if it is given."""
        if callable(self.kernel) and not (_are_vectors(X) if reset else hasattr(self, "n_features_in_")):
            if not reset and _are_vectors(X):
                raise InvalidInput(
                    "X has rows of numbers, but the model was fitted on other objects. Pass such objects."
                )
            if reset:
                self.__dict__.pop("n_features_in_", None)
            objects = np.empty(len(X), object)
            for i, item in enumerate(X):
                objects[i] = item
            if not objects.size:
                raise InvalidInput("Found 0 sample(s) in X while a minimum of 1 is required.")
            return objects, y, None
        if self._looks_up():
            return self._look_up(X, y, reset)
        table, y = self._check_rows(X, y, reset=reset)
        return _as_objects(table), y, None

    def _look_up(self, X: Any, y: Any, reset: bool) -> tuple[Objects, Any, Array]:
        checked = validate_data(self, X, y, reset=reset, dtype=[np.float64, np.float32], order="C")
        matrix, y = (checked, y) if isinstance(y, str) and y == "no_validation" else checked
        if reset and matrix.shape[0] != matrix.shape[1]:
            raise InvalidInput(
                f"X should be a square matrix of similarities: kernel='precomputed', but its shape is {matrix.shape}. "
                "Pass the similarity of each training row with each."
            )
        return np.arange(matrix.shape[0]), y, matrix

    # ------------------------------------------------------------------------------------------------------ training

    def _task(self, label: Array, sign: Array, classes: Array, y: Array, weight: Array) -> Task:
        """Say what each row teaches each problem; one-vs-all weights the class that a problem looks for only."""
        stake = np.ones(classes.size)
        if self.class_weight is not None:
            stake = compute_class_weight(self.class_weight, classes=classes, y=y).astype(float)
        own = sign > 0 if self.multiclass == "ovr" and classes.size > 2 else sign != 0
        return Task(label, sign, np.where(own, stake[:, None], 1.0), stake, weight, np.empty(0), 0.0)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train until a stopping rule says so.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or list of objects
            With kernel="precomputed", the similarities of the training rows, of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of each row's step; rows of weight zero are left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        objects, y, matrix = self._objects(X, y, reset=True)
        classes, label = as_labels(y, objects.shape[0])
        if classes.size < 2:
            raise InvalidInput(
                f"The number of classes has to be greater than one; got 1 class: {classes[0]!r}. "
                "Add examples of another class."
            )
        warm = self.warm_start and hasattr(self, "_expansion")
        if warm and not np.array_equal(classes, self.classes_):
            raise InvalidInput(
                f"warm_start continues with the classes {self.classes_.tolist()}, but y has {classes.tolist()}. "
                "Fit a fresh estimator, or use partial_fit, which takes new classes."
            )
        if not warm:
            self._settle_kernel(objects)
        sign = code(classes.size, self.multiclass)
        start = self._known() if warm else Expansion.empty(objects, sign.shape[1])
        weight = as_weights(sample_weight, objects.shape[0])
        job = DualJob(
            kernel=self._similarity(objects, matrix),
            objects=objects,
            task=self._task(label, sign, classes, np.asarray(y), weight),
            plan=self._plan(),
            multiclass=self.multiclass,
            start=start,
            subset=_used(weight),
            cache_bytes=1e6 * float(self.cache_size),
        )
        self.classes_ = classes
        self._learn(job)
        self.t_, self.mistakes_ = self.run_.trials, sum(self.run_.mistakes)
        if self.run_.stop is Stop.EPOCHS and self.tol is not None:
            warnings.warn(
                f"Not converged: {self.stop_reason_} Consider a larger max_iter.", ConvergenceWarning, stacklevel=2
            )
        return self

    def _streams(self) -> bool:
        if self._looks_up():
            raise AttributeError(
                "kernel='precomputed' has no stream: the similarities of later rows with earlier ones are not known. "
                "Pass the kernel as a function, or fit on all rows."
            )
        return True

    @available_if(_streams)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the rows once, in the order in which they come.

        A stream in chunks of any size gives the same model. Classes may appear at any time: a new one starts from
        what it would have learned, had it been announced at the start (from zero with ``multiclass="joint"`` and on
        a budget).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or list of objects
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            Classes to expect; those that y brings are added by themselves.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        first = not hasattr(self, "_expansion")
        objects, y, _ = self._objects(X, y, reset=first)
        seen, label = self._more_labels(y, objects.shape[0], classes, first)
        if first:
            self._settle_kernel(objects)
        # On a budget a stranger would take room: a class that appears then starts from zero.
        sign = (open_code if self.budget is None else code)(seen.size, self.multiclass)
        weight = as_weights(sample_weight, objects.shape[0])
        job = DualJob(
            kernel=self._similarity(objects, None),
            objects=objects,
            task=self._task(label, sign, seen, seen, weight),
            plan=self._plan(order="cyclic", epochs=1, tol=None, keep="last", seconds=None),
            multiclass=self.multiclass,
            start=Expansion.empty(objects, sign.shape[1]) if first else self._meet(seen),
            subset=_used(weight),
            n_reserve=sign.shape[1] - code(seen.size, self.multiclass).shape[1],
            n_before=0 if first else self.t_,
        )
        before = (0, 0) if first else (self.t_, self.mistakes_)
        self.classes_ = seen
        self._learn(job)
        self.t_, self.mistakes_ = before[0] + self.run_.trials, before[1] + sum(self.run_.mistakes)
        return self

    def _meet(self, seen: Array) -> Expansion:
        """Give the expansion to continue with when the classes are those seen, new ones among them perhaps."""
        problems = open_code(self.classes_.size, self.multiclass).shape[1]
        if self._expansion.trials.size < problems:  # a fit has no strangers: they start from zero
            self._grow(np.eye(problems, self._expansion.trials.size, dtype=np.int8))
        if seen.size > self.classes_.size:
            places = np.searchsorted(seen, self.classes_).tolist()
            self._grow(growth(places, seen.size, self.multiclass))
        if self.budget is not None:
            known = code(seen.size, self.multiclass).shape[1]
            self._grow(np.eye(known, self._expansion.trials.size, dtype=np.int8))
        return self._expansion

    def _grow(self, change: Array) -> None:
        self._expansion = self._expansion.grow(change)
        if "_memory" in self.__dict__:
            self._memory = self._memory.grow(change)

    def _learn(self, job: DualJob) -> None:
        """Train, and store what was learned."""
        if self.budget is None:
            if job.start.rows.size and "_memory" in self.__dict__:
                raise self._other_budget()
            self._expansion, self.run_ = run_dual(job)
            self.__dict__.pop("_memory", None)
        else:
            budget = Budget(int(self.budget), self.budget_rule, float(self.residual), self._seed())
            memory = self._memory_of(job.start, budget)
            self._expansion, self.run_, self._memory = run_budgeted(job, budget, memory)
        self.n_iter_, self.stop_reason_ = self.run_.epochs, self.run_.reason
        known = self._known()
        self.dual_coef_, self.support_ = known.coef, known.rows
        self.support_vectors_ = np.empty((0, 0)) if self._looks_up() else known.vectors

    def _memory_of(self, start: Expansion, budget: Budget) -> BudgetState:
        """Give what the rule remembers of the start."""
        fresh = BudgetState.empty(budget, start.trials.size)
        if not start.rows.size:
            return fresh
        left: BudgetState | None = self.__dict__.get("_memory")
        if left is None or left.rule != budget.rule or left.born.shape != fresh.born.shape:
            raise self._other_budget()
        return left

    def _other_budget(self) -> InvalidInput:
        return InvalidInput(
            f"budget={self.budget} and budget_rule={self.budget_rule!r} are not those that the model was trained "
            "with. Fit it anew."
        )

    def _looks_up(self) -> bool:
        return not callable(self.kernel) and bool(self.kernel == "precomputed")

    def _known(self) -> Expansion:
        """Give the expansion of the known classes, without what is only there for classes to come."""
        whole = self._expansion
        problems = code(self.classes_.size, self.multiclass).shape[1]
        if whole.trials.size == problems:
            return whole
        if "_memory" in self.__dict__:
            return replace(whole, coef=whole.coef[:problems], trials=whole.trials[:problems])
        mine = whole.log.problem < problems
        used, slot = np.unique(whole.log.slot[mine], return_inverse=True)
        log = Log(slot, whole.log.problem[mine], whole.log.step[mine], whole.log.trial[mine])
        vectors = whole.vectors if used.size == whole.rows.size else whole.vectors[used]
        return Expansion(vectors, whole.rows[used], whole.coef[:problems, used], whole.trials[:problems], log)

    @property
    def alpha_(self) -> Array:
        """How often each support row was a mistake, for each problem."""
        return np.abs(self.dual_coef_)

    # ---------------------------------------------------------------------------------------------------- prediction

    def _class_scores(self, X: Any, method: str | None) -> Array:
        check_is_fitted(self)
        chosen = self.aggregate if method is None else method
        require_one_of("method", chosen, METHODS if "_memory" not in self.__dict__ else METHODS[:1])
        objects, _, matrix = self._objects(X, reset=False)
        known = self._known()
        kernel = self._similarity(objects, matrix)
        vectors = known.rows if matrix is not None else known.vectors
        if chosen == "vote":
            given = vote(kernel, replace(known, vectors=vectors), objects)
        elif chosen == "average":
            given = expand(kernel, vectors, objects, known.summed()) / np.maximum(known.trials, 1)[:, None]
        else:
            given = expand(kernel, vectors, objects, known.coef)
        return decision(given.T, code(self.classes_.size, self.multiclass), self.multiclass)

    def decision_function(self, X: Any, method: str | None = None) -> Array:
        """Give the scores of the classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or list of objects
            With kernel="precomputed", the similarities with the training rows, of shape (n_samples, n_training).
        method : {"last", "average", "vote"}, default `aggregate`
            The score of the last f; of the average; the share of votes for less against, between -1 and 1.

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
        """
        given = self._class_scores(X, method)
        return given[:, 0] if given.shape[1] == 1 else given

    def predict(self, X: Any, method: str | None = None) -> Array:
        """Give the class of each row; a score of zero is the negative class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or list of objects
        method : {"last", "average", "vote"}, default `aggregate`

        Returns
        -------
        array of shape (n_samples,)
        """
        given = self._class_scores(X, method)
        return self.classes_[winners(given) if self.classes_.size > 1 else np.zeros(given.shape[0], int)]


def _used(weight: Array) -> Array:
    return row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else ALL_ROWS


def _as_objects(table: Table) -> Objects:
    rows = table.rows
    return rows.X if isinstance(rows, Dense) else sp.csr_matrix(rows, shape=table.shape)


def _are_vectors(X: Any) -> bool:
    """Tell rows of numbers from other objects: a matrix, a data frame, or lists that numpy reads as numbers."""
    if is_sparse(X) or hasattr(X, "columns"):
        return True
    if hasattr(X, "ndim"):
        return bool(X.ndim == 2 and X.dtype.kind not in "US")
    try:
        values = np.asarray(X)
    except ValueError:  # sequences of different lengths
        return False
    return values.ndim == 2 and values.dtype.kind in "fiubc"
