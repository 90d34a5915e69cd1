"""The kernel perceptron: alpha_i += 1 on a mistake, f(x) = sum alpha_i y_i k(x_i, x) (Aizerman et al. 1964)."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_classes, as_labels, as_names, as_weights, labels_of, used_rows
from rosenblatt.data.memory import physical_memory
from rosenblatt.data.table import Table, learnable
from rosenblatt.engine.rows import Hyperplanes, Task
from rosenblatt.errors import InvalidInput, NotAvailable
from rosenblatt.kernels.budget import AfterTrial, Budget, BudgetState, continues
from rosenblatt.kernels.expansion import Expansion
from rosenblatt.kernels.kernels import (
    WITH_WIDTH,
    Objects,
    Padded,
    Precomputed,
    Similarity,
    are_vectors,
    as_objects,
    built_in,
    from_function,
    is_sparse,
    width,
)
from rosenblatt.kernels.replay import BudgetNotes, check_start, replay
from rosenblatt.kernels.rules import BUDGET_RULES, run_budgeted
from rosenblatt.kernels.runner import KernelJob
from rosenblatt.kernels.unbounded import run_dual
from rosenblatt.learners import shared
from rosenblatt.learners.base import (
    UNCHECKED,
    Estimator,
    Facts,
    all_or_nothing,
    available_when,
    choose_aggregate,
    same_classes,
    same_width,
    steady,
    validated,
)
from rosenblatt.learners.callbacks import Watched
from rosenblatt.learners.contract import ClassifierMixin, ConvergenceWarning, check_is_fitted
from rosenblatt.learners.parameters import choice, custom, flag, integer, real
from rosenblatt.learners.shared import plan_of, seed_of
from rosenblatt.storage.checks import check_array, check_classes, check_record, check_rows
from rosenblatt.storage.registry import Fault, expect
from rosenblatt.text import count
from rosenblatt.training.algorithm import refuse_replaced
from rosenblatt.training.explanation import Explanation, Similarities, explain, plain_labels
from rosenblatt.training.multiclass import (
    by_pairs,
    check_kind,
    class_costs,
    coding_matrix,
    count_problems,
    decision,
    growth,
    make_task,
    open_coding_matrix,
    winners,
)
from rosenblatt.training.named_rows import array_table, by_names, is_dict, row_names
from rosenblatt.training.plan import Epoch, Plan, Run
from rosenblatt.training.record import Recording
from rosenblatt.training.stopping import Stop

Array = npt.NDArray[Any]

KERNELS = ("linear", "quadratic", "poly", "rbf", "laplacian", "cosine", "precomputed")
AGGREGATES = ("last", "average", "vote")
# Parameters that say which space the expansion is in.
SHAPING = ("kernel", "gamma", "coef0", "degree", "fit_intercept")


def _looks_up(estimator: Any) -> bool:
    """Return whether the kernel is a matrix of similarities."""
    return isinstance(estimator.kernel, str) and estimator.kernel == "precomputed"


def _to_show(vectors: Any) -> Any:
    """Return support vectors for users: of a sparse matrix, read-only views.

    Compiled loops trust the indices; overwriting them by mistake would make a loop read outside an array.
    """
    if not hasattr(vectors, "indptr"):
        return vectors
    parts = [part.view() for part in (vectors.data, vectors.indices, vectors.indptr)]
    for part in parts:
        part.flags.writeable = False
    return type(vectors)(tuple(parts), shape=vectors.shape, copy=False)


def _streams(estimator: Any) -> bool:
    if _looks_up(estimator):
        raise NotAvailable(
            "kernel='precomputed' has no stream: the similarities of later rows with earlier ones are not known. "
            "Pass the kernel as a function, or fit on all rows."
        )
    return True


class Predictor(NamedTuple):
    """What predicts: an estimator as it was fitted, the function that it learned, and which aggregate of it."""

    fitted: KernelPerceptron
    expansion: Expansion
    aggregate: str
    lag: Array | None  # of the average, as in `Expansion.summed`

    def rows(self, X: Any) -> tuple[Similarity, Objects]:
        """Return the kernel, and rows as objects for it."""
        objects, _, matrix = self.fitted._objects(X, reset=False)
        vectors = self.expansion.vectors
        if matrix is not None and matrix.shape[1] <= np.max(vectors, initial=-1):
            raise InvalidInput(
                f"X has the similarities with {matrix.shape[1]} training rows, but the model was learned from row "
                f"{np.max(vectors)}, too. Pass a column for each row of the fit."
            )
        return self.fitted._similarity(matrix), objects


class KernelPerceptron(ClassifierMixin, Watched, Estimator):
    """The perceptron in the dual: any similarity in place of the inner product.

    On a mistake, y_i f(x_i) <= 0, the row's count alpha_i rises by one, where f(x) = sum of alpha_i y_i k(x_i, x): the
    perceptron in the space of the kernel. One fit serves three ways to predict (Freund and Schapire 1999): by the
    last f, by the average of f over all trials, or by a vote of every f, once for each trial that it survived.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    alpha_ : array of shape (n_problems, n_support)
        The counts: how often each support row was learned from, for each problem; times the weights, if any. On a
        budget that shrinks or projects, the absolute values of `dual_coef_`.
    dual_coef_ : array of shape (n_problems, n_support)
        alpha_ with the signs of the rows.
    support_ : array of shape (n_support,)
        Numbers of the rows that were learned from, in the order of their first updates; in a stream, counted from its
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
        Record of the last fit; its `radius` is the largest sqrt(k(x, x)).
    stop_reason_ : str
        Why training stopped.
    t_, mistakes_ : int
        Trials and mistakes so far.
    n_features_in_ : int
        Number of features, where rows have any.

    See Also
    --------
    AssociationUnits : A random layer of features, for data with too many rows for a kernel.

    Notes
    -----
    With its defaults f is that of the lectures, with any kernel. The fit ends when every row is on its side, or once
    its mistakes prove that no separator has a margin g with (R / g)^2 < n: a smaller margin bounds no error on new
    rows. ``tol=None`` runs all epochs.

    With "rbf" and "laplacian" any distinct rows are separable, and separating noisy rows means learning the noise. Use
    ``margin=4, max_updates=8`` for a soft margin: the coefficients are bounded as those of a support vector machine
    with C = 2, and the fit ends when no update is left to make. With one label in ten wrong, the test accuracy rises
    from 80.6 to 88.9 %; with ``aggregate="average"`` it is 83.5 %.

    Rows are presented one by one; blocks and matrix products only compute the similarities ahead. The cost of an epoch
    is proportional to the rows times the mistakes of that epoch, whatever the number of support vectors. On integers
    in float64 all sums are exact below 2^53.

    On a budget all problems share the vectors, and end together. By default, the vectors are the first rows that need
    an update, and what is learned from the others is projected onto their span: a linear model on Nystroem's features
    of these vectors, in an orthonormal basis, that learns by AROW. No mistake bound is known for it, since its
    variances depend on the basis. The projectron has the perceptron's bound among the functions in the span.

    References
    ----------
    Aizerman, Braverman and Rozonoer (1964), Theoretical foundations of the potential function method in pattern
    recognition learning. Freund and Schapire (1999), Large margin classification using the perceptron algorithm,
    Machine Learning 37. Cavallanti, Cesa-Bianchi and Gentile (2007), Tracking the best hyperplane with a simple budget
    perceptron, Machine Learning 69. Dekel, Shalev-Shwartz and Singer (2008), The Forgetron: a kernel-based perceptron
    on a budget, SIAM Journal on Computing 37. Orabona, Keshet and Caputo (2009), Bounded kernel-based online learning,
    JMLR 10. Crammer, Kulesza and Dredze (2009), Adaptive regularization of weight vectors, NIPS 22. Lu, Hoi, Wang, Zhao
    and Liu (2016), Large scale online kernel learning, JMLR 17.

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

    kernel: str | Callable[[Any, Any], Any] = custom(
        default="rbf",
        text='"linear": x.z; "quadratic": (1 + x.z)^2; "poly": (gamma x.z + coef0)^degree; "rbf": exp(-gamma '
        '|x - z|^2); "laplacian": exp(-gamma |x - z|_1); "cosine": x.z / (|x| |z|); "precomputed": X is '
        "the matrix of similarities, of the rows with the training rows. Or a function: of two blocks of rows"
        " that returns the block of their similarities, or of two single objects that returns a number, "
        "the same for (x, z) as for (z, x). It is called with blocks of two and three rows to find out which. "
        "With a function, X may be a list of anything: strings, graphs, sets.",
        kind="str or callable",
        accepts=lambda value: callable(value) or (isinstance(value, str) and value in KERNELS),
        wanted=f"one of {', '.join(map(repr, KERNELS))}, or a function of two rows or two blocks of rows",
        words=KERNELS,
        lab=KERNELS[:-1],
    )
    degree: int = integer(default=3, text="For the polynomial kernel only.", least=0, range=(1, 6, 1))
    gamma: float | Literal["scale", "auto"] | None = real(
        default=None,
        text='"scale": 1 / (n_features * X.var()); "auto": 1 / n_features; None: 1 for "poly", "scale" for '
        '"rbf" and "laplacian". In a stream the first chunk decides.',
        above=0,
        optional=True,
        words=("scale", "auto"),
        range=(0.01, 100.0, 0.01),
        log=True,
    )
    coef0: float = real(
        default=1.0,
        text="For the polynomial kernel only.",
        least=-np.finfo(float).max,
        wanted="a finite number",
        range=(-2.0, 4.0, 0.1),
    )
    aggregate: Literal["last", "average", "vote"] = choice(
        default="last",
        text="What predicts: the last f, the average of f over all trials, or a vote of every f.",
        choices=AGGREGATES,
        lab=False,
    )
    budget: int | None = integer(
        default=None,
        text="Maximum number of support vectors, shared by all problems; None for no limit. On a budget there is no "
        "vote, and an average only where vectors are never dropped.",
        least=1,
        optional=True,
        range=(1, 100, 1),
    )
    budget_rule: Literal["arow", "projectron", "random", "forgetron"] = choice(
        default="arow",
        text="How a budget learns. The first rows that need an update become the vectors, until the budget is full; "
        'all others are projected onto their span: "arow" learns there with a variance for each direction (Crammer et '
        'al. 2009), "projectron" is the perceptron (Orabona et al. 2009). Or a mistaken row replaces a vector, '
        '"random" one at random (Cavallanti et al. 2007), "forgetron" the oldest, after all have been shrunk '
        "(self-tuned, Dekel et al. 2008).",
        choices=tuple(BUDGET_RULES),
    )
    residual: float = real(
        default=0.1,
        text='For "arow" and "projectron": a row whose distance from the span is below this share of its length is '
        "projected even while there is room.",
        least=0,
        below=1,
        wanted="a number from 0 and below 1",
        lab=False,
    )
    margin: float = real(default=0.0, text="Learn from a row while y f(x) <= margin.", least=0, range=(0.0, 5.0, 0.05))
    max_updates: float = real(
        default=np.inf,
        text="Maximum number of updates of a row in a problem, that is the largest alpha, like C in a soft margin: a "
        "row that is mistaken again and again is noise. With a limit the fit ends when no update is left to make. "
        "Streams ignore it.",
        least=1,
        most=np.inf,
        wanted="a number from 1, infinity for no limit",
        lab=False,
    )
    tol: float | None = real(
        default=1e-3,
        text="The fit ends after `n_iter_no_change` epochs without progress. Progress is an epoch after which some "
        "separator may still have a margin g with (R / g)^2 < n, R the largest length of the n rows; or, once the mean"
        " loss has stopped falling by more than tol, a margin above tol R. With `max_updates` it ends when no update is"
        " left to make. None: all `max_iter` epochs.",
        most=np.inf,
        wanted="a number, or None for all epochs",
        optional=True,
        lab=False,
    )
    cache_size: float = real(
        default=1000,
        text="Megabytes of similarities to keep, at most half of the memory, where computing them again would take "
        "longer: those of up to 8,000 rows, of a function, and of rows with thousands of features.",
        least=0,
        wanted="a number of megabytes",
        lab=False,
    )
    fit_intercept: bool = flag(
        default=False,
        text="Whether to learn a bias, that is to add 1 to the kernel; linear and cosine kernels often need one. On a "
        "budget each vector that is dropped moves it.",
    )
    max_iter: int = integer(default=100, text="Maximum number of epochs.", least=1, lab=False)
    shuffle: shared.Shuffle = shared.SHUFFLE
    verbose: int = shared.VERBOSE
    random_state: shared.RandomState = shared.RANDOM_STATE
    n_iter_no_change: int = shared.N_ITER_NO_CHANGE
    max_seconds: float | None = shared.MAX_SECONDS
    callback: shared.Callback = shared.CALLBACK
    class_weight: shared.ClassWeight = shared.CLASS_WEIGHT
    multiclass: shared.Multiclass = shared.MULTICLASS
    warm_start: bool = shared.WARM_START

    facts = Facts(
        published=1964,
        does="any similarity, also of strings and graphs; last, average, vote; budgets",
        when="no hyperplane will do",
        title="Kernel perceptron",
        lecture="Perceptron and Kernelization",
        rule="kernel",
    )
    without_shards = (
        "Expansions of several shards have no mean that is known to learn. Put AssociationUnits in front of an "
        "AveragedPerceptron, or train without shards."
    )
    stored_attributes = ("classes_", "n_iter_", "run_", "stop_reason_", "t_", "mistakes_", "_expansion")
    at_times = ("gamma_", "_memory")
    derived = ("_form", "_fitted_with", "dual_coef_", "support_", "support_vectors_")
    meaning = (*SHAPING, "multiclass", "budget", "aggregate")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = _looks_up(self)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    # ------------------------------------------------------------------------------------------------------- parameters

    def _check_own(self) -> None:
        """Raise an error for parameters that do not go with a budget."""
        if self.budget is None:
            return
        if self.aggregate not in self._aggregates(self.budget_rule):
            raise InvalidInput(
                f"aggregate={self.aggregate!r} needs every vector that there was, and a budget drops some. Use "
                "aggregate='last', or 'average' with budget_rule='arow' or 'projectron', or budget=None."
            )
        if self.max_updates != np.inf or (self.margin and self.budget_rule != "projectron"):
            raise InvalidInput(
                f"margin={self.margin} and max_updates={self.max_updates} have no meaning on a budget of the rule "
                f"{self.budget_rule!r}. Use margin=0 and max_updates=inf, or budget_rule='projectron', which takes a "
                "margin, or budget=None."
            )

    @staticmethod
    def _aggregates(rule: str | None) -> tuple[str, ...]:
        """Return what can predict after a fit by a rule of a budget; None stands for no budget."""
        return AGGREGATES if rule is None else AGGREGATES[:2] if BUDGET_RULES[rule].averages else AGGREGATES[:1]

    def _similarity(self, matrix: Array | None) -> Similarity:
        """Return the similarity, once gamma and the form of a function are known."""
        kernel: Similarity
        if callable(self.kernel):
            kernel = self._form(self.kernel)  # type: ignore[call-arg]
        elif self.kernel == "precomputed":
            assert matrix is not None
            kernel = Precomputed(matrix)
        else:
            gamma = float(self.gamma_) if self.kernel in WITH_WIDTH else 1.0
            kernel = built_in(self.kernel, gamma, float(self.coef0), int(self.degree))
        return Padded(kernel) if self.fit_intercept else kernel

    def _settle_kernel(self, objects: Objects, used: Array) -> None:
        """Set what the first rows determine: gamma, and the form of a function. Rows of weight zero have no effect."""
        objects = objects[used] if used.size else objects
        for name in ("gamma_", "_form"):
            self.__dict__.pop(name, None)
        if callable(self.kernel):
            self._form = type(from_function(self.kernel, objects))
        elif self.kernel in WITH_WIDTH:
            default: float | str = 1.0 if self.kernel == "poly" else "scale"
            self.gamma_ = width(default if self.gamma is None else self.gamma, objects)

    def _check_continues(self) -> None:
        """Raise an error if training cannot continue: parameters that the learned state depends on have changed."""
        self._refuse_changed(SHAPING if self.classes_.size <= 2 else (*SHAPING, "multiclass"))
        self._check_arrays()

    # ---------------------------------------------------------------------------------------------------------- objects

    def _objects(self, X: Any, y: Any = UNCHECKED, *, reset: bool) -> tuple[Objects, Any, Array | None]:
        """Return checked objects, labels, and the matrix of similarities if that is what X is."""
        named = isinstance(X, Table)  # one row, read by its names
        if callable(self.kernel) and not (named or (are_vectors(X) if reset else hasattr(self, "n_features_in_"))):
            if not reset and are_vectors(X) and not self._has_alike(X):
                raise InvalidInput(
                    "X has rows of numbers, but the model was fitted on other objects. Pass such objects."
                )
            if reset:
                self.__dict__.pop("n_features_in_", None)
            return as_objects(X), y, None
        if _looks_up(self):
            return self._look_up(X, y, reset)
        if named:
            table = learnable(X)
            if reset:
                self.n_features_in_ = table.shape[1]
        else:
            table, y = self._check_rows(X, y, reset=reset)
        vectors: Any = getattr(vars(self).get("_expansion"), "vectors", None)
        if not reset and getattr(vectors, "ndim", 1) == 2 and vectors.shape[1] != table.shape[1]:
            raise InvalidInput(
                f"X has {count(table.shape[1], 'feature')}, the vectors of the model have {vectors.shape[1]}. Pass the "
                "same columns, or fit again."
            )
        return table.matrix(), y, None

    def _has_alike(self, X: Any) -> bool:
        """Return whether objects in a list are of a type that the model has: sequences of equal lengths by chance."""
        return isinstance(X, list) and type(X[0]) in {type(known) for known in self._expansion.vectors}

    def _one_row(self, x: Any) -> Any:
        """Return one row as a block, or as a table if its names say what its values are; another object as a list."""
        width, shape = getattr(self, "n_features_in_", None), tuple(getattr(x, "shape", ()))
        whole = len(shape) == 2  # a frame, or a matrix, of one row
        several = whole and shape[:1] != (1,)
        if callable(self.kernel) and width is None and ("_expansion" in vars(self) or is_dict(x) or several):
            return [x]
        if several:
            raise InvalidInput(f"x has {shape[0]} rows. Pass one row.")
        names, named = self._names_for(x), x.to_dict() if row_names(x) else x
        if names and is_dict(named) and not _looks_up(self):
            return array_table(by_names(named, names), width)
        if is_dict(x):
            raise InvalidInput("The features of the model have no names that are texts. Pass an array.")
        return x if whole else x.reshape(1, -1) if isinstance(x, np.ndarray) else [x]

    def _names_for(self, x: Any) -> Sequence[str]:
        """Return the names of the features, if they have some: those of the fit, or of the first row of a stream."""
        if "n_features_in_" in vars(self):
            return list(getattr(self, "feature_names_in_", ()))
        named = is_dict(x) and all(isinstance(name, str) for name in x)
        return tuple(x) if named else row_names(x)

    def _look_up(self, X: Any, y: Any, reset: bool) -> tuple[Objects, Any, Array]:
        checked = validated(self, X, y, reset=reset, order="C")
        matrix, y = (checked, y) if y is UNCHECKED else checked
        if reset and matrix.shape[0] != matrix.shape[1]:
            raise InvalidInput(
                f"X should be a square matrix of similarities: kernel='precomputed', but its shape is {matrix.shape}. "
                "Pass the similarity of each training row with each."
            )
        return np.arange(matrix.shape[0]), y, matrix

    # --------------------------------------------------------------------------------------------------------- training

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
        with all_or_nothing(self):
            job, classes = self._prepare(X, y, sample_weight)

            def train(plan: Plan) -> None:
                self._learn(replace(job, plan=plan), classes)

            def fitted(epoch: Epoch) -> dict[str, Any]:
                copied = copy.copy(self)
                copied._keep(job, classes, *epoch.learned())
                return vars(copied)

            self._run_watched(job.plan, train, fitted, X, y, sample_weight)
            if self.run_.stop is Stop.EPOCHS and self.tol is not None:
                noisy = " If the rows are noisy, use margin=4, max_updates=8." if self.max_updates == np.inf else ""
                warnings.warn(f"Not converged: {self.stop_reason_}{noisy}", ConvergenceWarning, stacklevel=2)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[KernelJob, Array]:
        """Return what to learn in a fit, and the classes."""
        self._check_parameters()
        warm, width = self.warm_start and "_expansion" in self.__dict__, getattr(self, "n_features_in_", None)
        objects, y, matrix = self._objects(X, y, reset=True)
        classes, label = labels_of(y, objects.shape[0])
        if warm:
            self._check_continues()
            same_width(getattr(self, "n_features_in_", None), width)
            same_classes(classes, self.classes_)
        sign = coding_matrix(classes.size, self.multiclass)
        fluctuates = self.budget is not None and self.tol is not None and self.aggregate == "last"
        job = self._job(
            objects,
            matrix,
            make_task(
                label,
                sign,
                self.multiclass,
                class_cost=class_costs(self.class_weight, classes, np.bincount(label)),
                weight=as_weights(sample_weight, label.size),
                bias=0.0,
            ),
            start=self._known() if warm else None,
            # The last f on a full budget fluctuates: the best epoch is kept, unless all epochs are asked for.
            plan=plan_of(self, **({"keep": "best"} if fluctuates else {})),
            cache_bytes=min(1e6 * float(self.cache_size), physical_memory() / 2),
            names=as_names(classes),
            aggregate=self.aggregate,
            most_updates=float(self.max_updates),
        )
        return job, classes

    def _prepare_chunk(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[KernelJob, Array]:
        """Return what to learn from a chunk of a stream, and the classes so far."""
        self._check_parameters()
        first = "_expansion" not in self.__dict__
        if not first:
            self._check_continues()
        objects, y, _ = self._objects(X, y, reset=first)
        found, number = as_labels(y, objects.shape[0])
        expected = [*([] if first else [self.classes_]), *([] if classes is None else [as_classes(classes)])]
        for one in expected:
            check_kind(found, one)
        seen = np.unique(np.concatenate([*expected, found]))
        # On a budget a reserve class would take room: a class that appears then starts from zero.
        sign = (open_coding_matrix if self.budget is None else coding_matrix)(seen.size, self.multiclass)
        job = self._job(
            objects,
            None,
            make_task(
                np.searchsorted(seen, found).astype(np.int32)[number],
                sign,
                self.multiclass,
                class_cost=class_costs(self.class_weight, seen, None),
                weight=as_weights(sample_weight, number.size),
                bias=0.0,
            ),
            start=None if first else self._grown(seen),
            plan=plan_of(self, order="cyclic", tol=None, keep="last", max_seconds=None),
            n_reserve=sign.shape[1] - count_problems(seen.size, self.multiclass),
            n_before=0 if first else self.t_,
            streams=True,
        )
        return job, seen

    def _job(
        self, objects: Objects, matrix: Array | None, task: Task, *, start: Expansion | None, **how: Any
    ) -> KernelJob:
        """Return what to learn; without a start, from zero and with a kernel that the rows settle."""
        used = used_rows(task.sample_weight)
        if start is None:
            self._settle_kernel(objects, used)
            start = Expansion.empty(objects, task.sign.shape[1])
        return KernelJob(
            kernel=self._similarity(matrix),
            objects=objects,
            task=task,
            multiclass=self.multiclass,
            start=start,
            subset=used,
            margin=float(self.margin),
            **how,
        )

    def _record(self, X: Any, y: Any, sample_weight: Any = None) -> Recording:
        """Fit, and record every trial: see `rosenblatt.training.record`."""
        with all_or_nothing(self):
            job, classes = self._prepare(X, y, sample_weight)
            check_start(job)
            notes = BudgetNotes(job)
            self._learn(job, classes, after_trial=notes.after_trial)
        if self.budget is not None:
            return notes.recording(self.run_, self)
        return replay(job, self._expansion, self.run_, self)

    @available_when(_streams)
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
        with all_or_nothing(self):
            self._learn(*self._prepare_chunk(X, y, classes, sample_weight))
        return self

    @available_when(_streams)
    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row of a stream: the same as `partial_fit` with one row.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, row of a data frame, dict from names to numbers, or one object
            Rows of data frames and dicts go by the names of the fit, or of the first row.
        y : label

        Returns
        -------
        bool
            Whether it was a mistake.
        """
        with self._turn.lock:
            before = self.mistakes_ if "_expansion" in self.__dict__ else 0
            row, names = self._one_row(x), self._names_for(x)
            self.partial_fit(row, [y])
            if names and isinstance(row, Table):
                self.feature_names_in_ = np.array(names, dtype=object)
            return bool(self.mistakes_ > before)

    def predict_one(self, x: Any) -> Any:
        """Predict one row, as `predict` does; before the first row was learned None.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, row of a data frame, dict from names to numbers, or one object
            Rows of data frames and dicts go by the names of the fit, or of the first row.

        Returns
        -------
        label
        """
        return self.predict(self._one_row(x)).tolist()[0] if "_expansion" in self.__dict__ else None

    def _grown(self, seen: Array) -> Expansion:
        """Grow what was learned to the classes seen so far, which may include new ones, and return the expansion."""
        problems = open_coding_matrix(self.classes_.size, self.multiclass).shape[1]
        known, size = count_problems(self.classes_.size, self.multiclass), self._expansion.trials.size
        if seen.size == self.classes_.size and size == (problems if self.budget is None else known):
            return self._expansion
        changes: list[Array] = []
        if size not in (known, problems):  # of another mode, whose reserve class goes with it
            changes.append(np.eye(known, size, dtype=np.int8))
            size = known
        if size < problems:  # a fit has no reserve class: it starts from zero
            changes.append(np.eye(problems, size, dtype=np.int8))
            size = problems
        if seen.size > self.classes_.size:
            places = np.searchsorted(seen, self.classes_).tolist()
            changes.append(growth(places, seen.size, self.multiclass))
            size = changes[-1].shape[0]
        if self.budget is not None:
            changes.append(np.eye(count_problems(seen.size, self.multiclass), size, dtype=np.int8))
        label = np.searchsorted(seen, self.classes_)[self._expansion.label]
        self._expansion: Expansion = replace(self._expansion, label=label)
        for change in changes:
            self._expansion = self._expansion.grow(change)
            if "_memory" in self.__dict__:
                self._memory: BudgetState = self._memory.grow(change)
        return self._expansion

    def _learn(self, job: KernelJob, classes: Array, after_trial: AfterTrial | None = None) -> None:
        """Train, and keep what was learned."""
        budget = None
        if self.budget is not None:
            budget = Budget(int(self.budget), self.budget_rule, float(self.residual), seed_of(self))
        memory: BudgetState | None = self.__dict__.pop("_memory", None)
        if not job.start.rows.size:
            memory = None
        elif not continues(memory, budget):
            raise InvalidInput(
                f"budget={self.budget} and budget_rule={self.budget_rule!r} are not those that the model was trained "
                "with. Fit again."
            )
        if budget is None:
            learned, record = run_dual(job)
        else:
            learned, record, memory = run_budgeted(job, budget, memory, after_trial)
        self._keep(job, classes, (learned, memory), record)

    def _keep(self, job: KernelJob, classes: Array, learned: tuple[Expansion, BudgetState | None], record: Run) -> None:
        """Keep what was learned, which includes what the rule of a budget needs to continue, and the record."""
        later = job.n_before > 0
        once = not later or (self.run_.stop is Stop.CHUNK and self.run_.single_pass is not None)
        self.classes_: Array = classes
        self._expansion, memory = learned
        if memory is not None:
            self._memory = memory
        self.t_: int = record.trials + (self.t_ if later else 0)
        self.mistakes_: int = sum(record.mistakes) + (self.mistakes_ if later else 0)
        if job.streams:  # rows of a stream that began without a fit were all seen once
            record = replace(record, single_pass=(self.t_, self.mistakes_) if once else None)
        elif job.start.rows.size:  # a warm start: the rows may be those of an earlier fit
            record = replace(record, single_pass=None)
        self.run_: Run = record
        self.n_iter_, self.stop_reason_ = record.epochs, record.reason
        self._expose()

    def _expose(self) -> None:
        """Set the attributes that show the expansion of the known classes."""
        self._note_meaning()
        known = self._known()
        self.dual_coef_, self.support_ = known.coef, known.rows
        self.support_vectors_ = np.empty((0, 0)) if _looks_up(self) else _to_show(known.vectors)

    def _known(self) -> Expansion:
        """Return the expansion of the known classes, without the reserve class."""
        return self._expansion.known(count_problems(self.classes_.size, self.multiclass))

    @property
    def alpha_(self) -> Array:
        """How often each support row was learned from, for each problem."""
        return np.abs(self.dual_coef_)

    # ------------------------------------------------------------------------------------------------------- prediction

    def _predictor(self, aggregate: str | None) -> Predictor:
        """Return what predicts."""
        check_is_fitted(self)
        fitted = self._as_fitted()
        possible = self._aggregates(self._memory.rule if "_memory" in self.__dict__ else None)
        chosen = choose_aggregate(aggregate, fitted.aggregate, possible)
        self._check_arrays()
        known = fitted._known()
        if len(known.coef) != count_problems(self.classes_.size, fitted.multiclass):
            raise InvalidInput(
                f"classes_ has {self.classes_.size} classes, not those that the model was learned with. Fit again."
            )
        if _looks_up(fitted):
            known = replace(known, vectors=known.rows)
        return Predictor(fitted, known, chosen, fitted._memory.lag if "_memory" in vars(fitted) else None)

    def _class_scores(self, X: Any, aggregate: str | None) -> Array:
        predictor = self._predictor(aggregate)
        kernel, objects = predictor.rows(X)
        scores = predictor.expansion.scores(kernel, objects, predictor.aggregate, predictor.lag)
        return decision(scores.T, self.classes_.size, predictor.fitted.multiclass)

    @steady
    def decision_function(self, X: Any, aggregate: str | None = None) -> Array:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or list of objects
            With kernel="precomputed", the similarities with the training rows, of shape (n_samples, n_training).
        aggregate : {"last", "average", "vote"}, default that of the constructor
            The score of the last f; of the average; the share of votes for less against, between -1 and 1.

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
        """
        scores = self._class_scores(X, aggregate)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @steady
    def predict(self, X: Any, aggregate: str | None = None) -> Array:
        """Return the class of each row; a score of zero is the negative class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or list of objects
        aggregate : {"last", "average", "vote"}, default that of the constructor

        Returns
        -------
        array of shape (n_samples,)
        """
        scores = self._class_scores(X, aggregate)
        return self.classes_[winners(scores) if self.classes_.size > 1 else np.zeros(scores.shape[0], int)]

    @steady
    def explain(self, x: Any, top: int | None = None, aggregate: str | None = None) -> Explanation:
        """Return the scores of one row as sums over the support rows: coefficient times similarity.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, row of a data frame, dict from names to numbers, or one object
            With kernel="precomputed", its similarities with the training rows.
        top : int, optional
            How many contributions to list, the largest first; the others are added up. By default all.
        aggregate : {"last", "average"}, default that of the constructor
            The vote is not a sum over rows.

        Returns
        -------
        Explanation
            Prints as a line for each class: ``yes 1.7 = row 31 (yes) 0.98, row 4 (no) -0.2, others 0.92, bias 0``.

        Examples
        --------
        >>> from rosenblatt import KernelPerceptron
        >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], ["same", "other", "other", "same"]
        >>> model = KernelPerceptron(kernel="quadratic", shuffle=False).fit(X, y)
        >>> model.explain([1, 0], top=2)
        same -2 = row 1 (other) -20, row 3 (same) 16, others 2, bias 0
        >>> model.explain([1, 0]).sums[0].contributions[0]
        SimilarRow(row=1, label='other', similarity=4.0, coefficient=-5.0, contribution=-20.0)
        """
        fitted, learned, chosen, lag = predictor = self._predictor(aggregate)
        if chosen == "vote":
            raise InvalidInput(
                "The vote of many f is not a sum over rows. Pass aggregate='average' or aggregate='last'."
            )
        kernel, objects = predictor.rows(fitted._one_row(x))
        coef, bias = learned.coefficients(chosen, lag), np.zeros(learned.trials.size)
        if isinstance(kernel, Padded):  # adds one to each similarity
            kernel, bias = kernel.inner, coef.sum(axis=1)
        similarity = kernel.columns(learned.vectors, objects)[:, 0] if learned.rows.size else np.empty(0)
        labels = plain_labels(self.classes_)
        label = [labels[c] for c in learned.label.tolist()]
        entries = Similarities(similarity.astype(np.float64), learned.rows.tolist(), label)
        return explain(Hyperplanes(coef, bias), self.classes_, fitted.multiclass, entries, top)

    # ------------------------------------------------------------------------------------------------------------ files

    def _check_learned(self) -> None:
        self._check_parameters()
        check_classes(self.classes_)
        wide = self.kernel not in WITH_WIDTH or hasattr(self, "gamma_")
        expect(wide, f"gamma_=None is not a width, which kernel={self.kernel!r} needs. Fit again")
        learned, classes = self._expansion, self.classes_.size
        check_record("the expansion", learned, Expansion)
        expect(
            (self.budget is None) == ("_memory" not in vars(self)),
            f"budget={self.budget} is not what it was trained with. Set that, or fit again",
        )
        known, count = count_problems(classes, self.multiclass), learned.rows.size
        # Without the coding matrix, which could be huge for a forged number of classes.
        none = self.budget is not None or self.multiclass == "joint" or classes == 1
        reserve = 0 if none else classes if by_pairs(self.multiclass) else 1
        problems = learned.trials.size
        expect(problems in (known, known + reserve), f"the expansion has {problems} problems, not {known}. Fit again")
        learned.check(classes)
        self._check_support(learned.vectors, count)
        if self.budget is not None:
            check_record("the memory", self._memory, BudgetState)
            self._memory.check(int(self.budget), self.budget_rule, learned)
        self._expose()

    def _check_arrays(self) -> None:
        """Raise an error unless the loops can read the expansion, which users can replace."""
        with refuse_replaced():
            self._expansion.check(self.classes_.size)
            vectors, rows = self._expansion.vectors, self._expansion.rows.size
            size = np.shape(vectors)[:1]
            expect(size == (rows,), f"the expansion has vectors of shape {size}, where {(rows,)} belongs")
            if is_sparse(vectors):
                try:
                    vectors.check_format(full_check=True)
                except ValueError as error:
                    raise Fault(f"the vectors of the expansion are a damaged matrix ({error})") from None
            if "_memory" in self.__dict__:
                self._memory.check(self._memory.size, self._memory.rule, self._expansion)

    def _check_support(self, vectors: Any, count: int) -> None:
        name = "the vectors of the expansion"
        if self.kernel != "precomputed":
            check_rows(name, vectors, count, self.n_features_in_)
            ordered = isinstance(vectors, np.ndarray) or vectors.has_canonical_format
            expect(ordered, f"{name} have columns out of order")
            return
        for numbers in (vectors, self._expansion.rows):  # both look up columns of the similarities
            check_array(name, numbers, "l", (count,))
            inside = np.all((numbers >= 0) & (numbers < self.n_features_in_))
            expect(inside, f"{name} are not among the {self.n_features_in_} rows that there were")
