"""The base of linear classifiers: fitting, streams, prediction by hyperplanes."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_classes, as_names, as_weights, used_rows
from rosenblatt.data.sparse import as_dense
from rosenblatt.data.survey import survey
from rosenblatt.data.table import Table, row_numbers, with_own_indices
from rosenblatt.errors import InvalidInput, NotAvailable
from rosenblatt.learners.base import available_when, steady
from rosenblatt.learners.contract import (
    ClassifierMixin,
    StratifiedShuffleSplit,
    check_is_fitted,
)
from rosenblatt.learners.epoch_learner import EpochLearner
from rosenblatt.learners.rows import labels_of, same_classes, warn_of_scale
from rosenblatt.text import count, short_repr
from rosenblatt.training.algorithm import start_state
from rosenblatt.training.in_memory import Job, Validation
from rosenblatt.training.multiclass import by_pairs, class_costs, coding_matrix, decision, make_task, winners
from rosenblatt.training.runner import RunClock
from rosenblatt.training.sharded import table_stats

Array = npt.NDArray[Any]

ATTRIBUTES = """\
    coef_ : array of shape (n_problems, n_features)
        Weights: one vector for two classes, otherwise one per class, or per pair with "ovo". To change them, assign a
        whole array: training then continues from it.
    intercept_ : array of shape (n_problems,)
        Biases.
    classes_ : array of shape (n_classes,)
        The labels, sorted; with two, the second is the positive one.
    intercept_scaling_ : float
        The constant that pads each row, given or chosen.
    n_iter_ : int
        Epochs run.
    run_ : Run
        Record of the last fit: mistakes per epoch, updates, seconds, why it stopped.
    stop_reason_ : str
        Why training stopped.
    t_, mistakes_ : int
        Trials and mistakes so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X had any."""


def without_probabilities(estimator: Any) -> NoReturn:
    """Raise an error: scores of hyperplanes are not probabilities. SoftMargin with the logistic loss has them."""
    raise NotAvailable(
        f"{type(estimator).__name__} has no probabilities. Use decision_function, SoftMargin(loss='logistic'), or "
        "scikit-learn's CalibratedClassifierCV around it."
    )


def distances(scores: Array, coef: Any) -> Array:
    """Return the signed distance of each row from each hyperplane, from scores and weights."""
    length = np.linalg.norm(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=float), axis=1)
    if not length.all():
        raise InvalidInput("A weight vector is zero: it has no hyperplane to measure from. Train on more rows.")
    found = np.asarray(scores / length)
    return found[:, 0] if found.shape[1] == 1 else found


class LinearClassifier(ClassifierMixin, EpochLearner):
    """A classifier by hyperplanes, trained in epochs or from a stream, which owns what was learned.

    A subclass declares its parameters, and returns its way to learn from `_algorithm`.
    """

    default_keep = "best"
    # Whether a column of large values outweighs the others, as where the weights move along the row.
    scale_sensitive: ClassVar[bool] = True
    attributes_text = ATTRIBUTES
    at_times: ClassVar[tuple[str, ...]] = ("intercept_scaling_",)

    # ------------------------------------------------------------------------------------------------ what was learned

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return self._learned("classes_").classes

    @property
    def mistakes_(self) -> int:
        """Mistakes so far."""
        return self._learned("mistakes_").mistakes

    @property
    def coef_(self) -> Array:
        """The weights; assign a whole array to continue from others."""
        shown: Array = self._shown(np.asarray(self._snapshot("coef_").W))
        return shown

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self._learned("coef_").set_weights(as_dense(value), self.intercept_)

    @property
    def intercept_(self) -> Array:
        """The biases; assign a whole array to continue from others."""
        return self._snapshot("intercept_").b

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        stream = self._learned("intercept_")
        stream.set_weights(stream.model().W, value)

    # --------------------------------------------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Train until a stopping rule says so.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type.
        coef_init : array-like of shape (n_problems, n_features), optional
            Weights to start from.
        intercept_init : array-like of shape (n_problems,), optional
            Biases to start from.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of each row's step; rows of weight zero are left out.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, coef_init, intercept_init)

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, coef_init: Any = None, intercept_init: Any = None
    ) -> tuple[Job, Array, Any]:
        self._check_parameters()
        clock = RunClock(self.max_seconds)
        names = getattr(self, "feature_names_in_", None)
        table, y = self._check_rows(X, y, reset=True)
        classes, label = labels_of(y, table.shape[0])
        sign = coding_matrix(classes.size, self.multiclass)
        weight = as_weights(sample_weight, table.shape[0])
        costs = class_costs(self.class_weight, classes, np.bincount(label))
        explicit = coef_init is not None or intercept_init is not None
        warm = self._continues() and not explicit
        self._look_at(table, weight, classes.size, warm=warm)
        task = make_task(label, sign, self.multiclass, class_cost=costs, weight=weight, bias=self._bias())
        algorithm, plan = self._algorithm(), self._plan()
        if warm:
            same_classes(classes, self.classes_)
            state = self._warm_state(table.shape[1], names)
        else:
            init = self.init
            if explicit:
                w0 = np.zeros(table.shape[1]) if coef_init is None else coef_init
                init = (w0, 0.0 if intercept_init is None else intercept_init)
            scale = algorithm.rate_scale(plan.eta0)
            state = start_state(algorithm, sign.shape[1], table, init, scale, by_pairs=by_pairs(self.multiclass))
        subset, validation = self._split(table, label, weight, classes)
        if self.callback is not None or callable(getattr(self, "schedule", None)):
            table = with_own_indices(table)
        job = Job(algorithm, table, task, plan, self.multiclass, subset, validation, as_names(classes), clock)
        return job, classes, state

    def _look_at(self, table: Table, weight: Array, n_classes: int, *, warm: bool) -> None:
        """Choose what the sizes of the values determine, and warn of columns that outweigh the others."""
        used = used_rows(weight)
        sizes = survey(table, used)
        # Added up shard by shard, the sizes are the same wherever the shards are.
        chosen_by = sizes if self.shards == 1 else table_stats(table, used, int(self.shards)).survey()
        self._adapt(chosen_by, n_classes, warm=warm)
        if self.scale_sensitive and not warm:
            warn_of_scale(sizes, self.__dict__.get("feature_names_in_"), stacklevel=5)

    def _split(self, table: Table, label: Array, weight: Array, classes: Array) -> tuple[Array, Validation | None]:
        """Return the rows to train on, and those held out if training is to stop early."""
        used = used_rows(weight)
        if not self.early_stopping:
            return used, None
        rows = used if used.size else row_numbers(np.arange(table.shape[0]))
        self._check_split(label[rows], classes)
        splitter = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=self.random_state)
        inside, outside = next(splitter.split(np.zeros((rows.size, 1)), label[rows]))
        return np.sort(rows[inside]), Validation(table, np.sort(rows[outside]), label, weight)

    def _check_split(self, label: Array, classes: Array) -> None:
        """Raise an error if there are too few rows of a class to hold some of them out."""
        per_class = np.bincount(label, minlength=classes.size)
        if 1 in per_class:
            alone = short_repr(classes[per_class == 1][0])
            raise InvalidInput(
                f"early_stopping holds out rows of each class, but class {alone} has only one. Add examples of it, or "
                "use early_stopping=False."
            )
        held = math.ceil(self.validation_fraction * label.size)
        present = int(np.count_nonzero(per_class))
        if min(held, label.size - held) < present:
            raise InvalidInput(
                f"validation_fraction={self.validation_fraction} holds out {held} of {label.size} rows, too few on one "
                f"side for {count(present, 'class', 'classes')}. Choose another share, or early_stopping=False."
            )

    # --------------------------------------------------------------------------------------------------------- streams

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the rows once, in the order in which they come.

        A stream in chunks of any size gives the same weights. Classes may appear at any time: a new one starts from
        the weights that it would have, had it been announced at the start (with ``multiclass="joint"``, from zero).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            Classes to expect; those that y brings are added by themselves.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        return self._learn_chunk(X, y, sample_weight, None if classes is None else as_classes(classes))

    @steady
    def _predict_other(self, x: Any) -> Any:
        if "_stream" not in self.__dict__:
            return None
        x = self._by_names(self._stream, x)
        label = self._stream.predict_one(x)
        if label is None:
            label = self._elect(self._decide(self._problem_scores(self._stream.row_table(x))))[0]
        return label.item() if isinstance(label, np.generic) else label

    # ------------------------------------------------------------------------------------------------------ prediction

    def _problem_scores(self, table: Table) -> Array:
        """Return the score of each row under each problem."""
        return self._stream.problem_scores(table)

    def _hyperplane_scores(self, table: Table) -> Array:
        """Return the score of each row under each hyperplane of `coef_`."""
        return self._problem_scores(table)

    def _class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        return self._decide(self._problem_scores(table))

    def _decide(self, problem_scores: Array) -> Array:
        # As they were learned, whatever `multiclass` is set to since.
        return decision(problem_scores, self.classes_.size, self._stream.settings.multiclass)

    def _elect(self, class_scores: Array) -> Array:
        if self.classes_.size == 1:
            return np.repeat(self.classes_, class_scores.shape[0])
        return self.classes_[winners(class_scores)]

    @steady
    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
            For one-vs-one the sum of a class's signed scores against each other class.
        """
        scores = self._class_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @steady
    def predict(self, X: Any) -> Array:
        """Return the class of each row; a score of zero is the negative class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._elect(self._class_scores(X))

    predict_proba = available_when(without_probabilities)(without_probabilities)

    def distance(self, X: Any) -> Array:
        """Return the signed distance (w.x + b) / |w| of each row from each hyperplane.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for one hyperplane, else (n_samples, n_hyperplanes)
        """
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        return distances(self._hyperplane_scores(table), self.coef_)
