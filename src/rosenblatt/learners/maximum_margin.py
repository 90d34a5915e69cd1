"""The maximum margin: the hyperplane furthest from all rows, by the nearest points of the hulls (Wolfe 1976)."""

from __future__ import annotations

import math
import re
import time
import warnings
from contextlib import suppress
from fractions import Fraction
from typing import Any, Literal, NoReturn, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_weights, labels_of, used_rows
from rosenblatt.data.table import Table, row_numbers
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.errors import InvalidInput, NotAvailable, TooLarge
from rosenblatt.learners.base import Estimator, Facts, all_or_nothing, available_when, steady
from rosenblatt.learners.contract import ClassifierMixin, ConvergenceWarning, check_is_fitted
from rosenblatt.learners.linear import distances, without_probabilities
from rosenblatt.learners.parameters import choice, real
from rosenblatt.learners.soft_margin import SoftMargin
from rosenblatt.storage.checks import check_array, check_classes, shape_of
from rosenblatt.storage.registry import expect
from rosenblatt.text import rounded_up
from rosenblatt.training.explanation import Explanation
from rosenblatt.training.model import LinearModel
from rosenblatt.training.multiclass import coding_matrix, count_problems, decision, make_task, winners
from rosenblatt.training.plan import Run
from rosenblatt.training.runner import Job, run
from rosenblatt.training.scores import scores
from rosenblatt.training.stopping import Stop

Array = npt.NDArray[Any]


def _no_stream(estimator: Any) -> NoReturn:
    """Raise an error: the largest margin is a property of all rows together."""
    raise NotAvailable("MaximumMargin needs all rows at once. Use Perceptron(margin=...) for streams.")


class MaximumMargin(ClassifierMixin, Estimator):
    """The hyperplane furthest from all rows: the hard-margin support vector machine.

    Unlike the perceptron's, the solution is unique. It is found as the shortest vector between the convex hulls of
    the two classes (an active set of rows that grows), and scaled so that the closest rows have y f(x) = 1; the margin
    is 1/|w|, and certified: see `certify`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As for `Perceptron`.
    margin_ : array of shape (n_problems,)
        Distance of the closest rows from each hyperplane, rounded down: of the weights as they are in `coef_` and
        `intercept_`. Negative if a row is on the wrong side.
    margin_ceiling_ : array of shape (n_problems,)
        Largest distance that any hyperplane can have, rounded up: proved by two points of the hulls. 0 if there is
        none, infinite if time ran out before anything was proved.
    exact_weights_ : list of tuples of Fraction
        For each problem that can be separated, but not by weights in floats: weights that do, the bias last. Empty for
        the others.
    support_ : list of int arrays
        Numbers of the rows that are the support vectors of each hyperplane.
    stop_reason_ : str
        How close the margins are to the largest possible, or why there is none.
    run_ : Run
        Record of the fit: rows on the wrong side, seconds, whether each problem is separated.

    See Also
    --------
    certify : Proves the margin, or that there is none.
    SoftMargin : For data that is not separable.

    Notes
    -----
    Where classes cannot be separated there is no largest margin: a warning says so, `margin_` is negative for such a
    problem, and its weights are those of `SoftMargin()`, which is the better choice there. There is also a warning if
    time ran out, and if a margin is so small compared with the values that no weights in floating point separate them.

    References
    ----------
    Lawson and Hanson (1974), Solving Least Squares Problems, chapter 23; Wolfe (1976), Finding the nearest point in a
    polytope, Mathematical Programming 11, 128-149. From a sample to all rows: Clarkson (1995), Las Vegas algorithms for
    linear and integer programming when the dimension is small, Journal of the ACM 42, 488-499.

    Examples
    --------
    >>> from rosenblatt import MaximumMargin
    >>> model = MaximumMargin().fit([[0.0, 0.0], [0.0, 4.0]], [0, 1])
    >>> model.margin_.round(6).tolist(), model.intercept_.round(6).tolist()
    ([2.0], [-1.0])
    """

    tol: float = real(
        default=1e-3,
        text="Share of the largest margin that may be given up to save time, on many rows with even more columns, such"
        " as texts. All other data gets the largest margin in any case.",
        least=0,
        below=1,
        wanted="a number from 0 on and below 1",
        lab=False,
    )
    max_seconds: float | None = real(
        default=None,
        text="Time limit in seconds; a problem that is not solved by then gets the weights of `SoftMargin()`.",
        above=0,
        optional=True,
        lab=False,
    )
    multiclass: Literal["ovr", "ovo", "ovo-vote"] = choice(
        default="ovr",
        text="More than two classes: one against the rest, or every pair.",
        choices=("ovr", "ovo", "ovo-vote"),
    )

    facts = Facts(
        published=1974,
        does="the hyperplane furthest from all rows",
        when="separable data and a unique solution",
        title="Maximum margin",
        lecture="Introduction to Machine Learning",
        rule="maximum_margin",
    )
    modes = ("ovr", "ovo", "ovo-vote")
    without_shards = (
        "The largest margin of all rows is not a mean over shards. Choose SoftMargin, or train without shards."
    )
    stored_attributes = (
        "coef_",
        "intercept_",
        "classes_",
        "margin_",
        "margin_ceiling_",
        "support_",
        "stop_reason_",
        "run_",
    )
    at_times = ("_exact_weights",)
    meaning = ("multiclass",)
    derived = ("_fitted_with",)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _to_file(self) -> dict[str, Any]:
        stored = super()._to_file()
        return stored | {"model": self._named_model()} if stored else stored

    def _named_model(self) -> LinearModel:
        names = tuple(self.feature_names_in_.tolist()) if hasattr(self, "feature_names_in_") else ()
        return LinearModel(self.coef_, self.intercept_, self.classes_, self._mode(), names)

    def _from_file(self, attributes: dict[str, Any]) -> None:
        super()._from_file({name: value for name, value in attributes.items() if name != "model"})

    def _check_learned(self) -> None:
        self._check_parameters()
        check_classes(self.classes_)
        self._check_weights()
        check_array("coef_", self.coef_, "f", shape_of(self.coef_))
        check_array("intercept_", self.intercept_, "f", shape_of(self.intercept_))
        count = self.coef_.shape[:1]
        check_array("margin_", self.margin_, "d", count, finite=False)
        check_array("margin_ceiling_", self.margin_ceiling_, "d", count, finite=False)
        each = type(self.support_) is list and len(self.support_) == count[0]
        expect(each, "support_ is not one array for each problem")
        for rows in self.support_:
            check_array("support_", rows, "i", shape_of(rows)[:1] or (0,))
        self._note_meaning()
        for weights in vars(self).get("_exact_weights", ()):
            fit = type(weights) is list and len(weights) in (0, self.coef_.shape[1] + 1)
            expect(fit and all(_is_fraction(value) for value in weights), "_exact_weights are not fractions")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplane.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Rows of weight zero are left out. Other weights have no effect: every row must be on its side.

        Returns
        -------
        self
        """
        start = time.perf_counter()
        self._check_parameters()
        with all_or_nothing(self):
            table, y = self._check_rows(X, y, reset=True)
            used = used_rows(as_weights(sample_weight, table.shape[0]))
            if used.size:
                table, y = table.take(used), np.asarray(y)[used]
            classes, label = labels_of(y, table.shape[0])
            sign = coding_matrix(classes.size, self.multiclass)
            found = _furthest(table, label, sign, self.max_seconds, self.tol)
            self.classes_ = classes
            self.coef_ = np.array([plane.w for plane in found])
            self.intercept_ = np.array([plane.b for plane in found])
            self.margin_ = np.array([plane.margin.lower for plane in found])
            self.margin_ceiling_ = np.array([plane.margin.upper for plane in found])
            self.support_ = [used[plane.support] if used.size else plane.support for plane in found]
            vars(self).pop("_exact_weights", None)
            if any(plane.exact for plane in found):
                self._exact_weights = [[str(value) for value in plane.exact] for plane in found]
            self.stop_reason_, complete = self._reason()
            if not complete:
                warnings.warn(self.stop_reason_, ConvergenceWarning, stacklevel=2)
            self._note_meaning()
            self.run_ = self._record_of(table, label, sign, time.perf_counter() - start)
        return self

    @property
    def exact_weights_(self) -> list[tuple[Fraction, ...]]:
        """Weights over the rationals, where floats do not separate."""
        stored = vars(self).get("_exact_weights", [[]] * len(self.coef_))
        return [tuple(Fraction(value) for value in weights) for weights in stored]

    def _reason(self) -> tuple[str, bool]:
        """Return how close the margins are to the largest possible, in words, and whether all are known."""
        problems, ceiling = self.margin_.size, self.margin_ceiling_
        parts = []
        if apart := np.count_nonzero(ceiling == 0):
            parts.append(
                f"{apart} of {problems} problems cannot be separated: there is no largest margin, and the weights are "
                "those of SoftMargin(). Use SoftMargin instead."
            )
        if late := np.count_nonzero(np.isinf(ceiling)):
            parts.append(f"{late} of {problems} problems were not solved in the time given. Raise max_seconds.")
        if rounded := np.count_nonzero([bool(exact) for exact in self.exact_weights_]):
            parts.append(
                f"{rounded} of {problems} problems can be separated, but not by weights in floats: the margin is too "
                "small next to the values. The weights that separate are in exact_weights_. Consider centring the data."
            )
        if parts:
            return " ".join(parts), False
        gap = max(float((1 - self.margin_ / ceiling).max()), 0.0) + np.finfo(float).eps / 2  # the quotient is rounded
        return f"the margin is the largest possible, up to a relative error of {rounded_up(gap, 1)}.", True

    def _record_of(self, table: Table, label: Array, sign: Array, seconds: float) -> Run:
        """Return the record of a fit: one look at all rows."""
        margins = sign[label] * self._problem_scores(table)
        wrong = (margins <= 0) & (sign[label] != 0)
        late = np.isinf(self.margin_ceiling_).tolist()
        stops = tuple(
            Stop.SEPARATED if margin > 0 else Stop.SECONDS if out else Stop.TRAINING
            for margin, out in zip(self.margin_.tolist(), late, strict=True)
        )
        return Run(
            mistakes=(int(wrong.sum()),),
            losses=(),
            errors=(float(wrong.any(axis=1).mean()),),
            updates=0,
            epochs=1,
            trials=table.shape[0],
            seconds=seconds,
            stop=next((stop for stop in Stop if stop in stops), Stop.SEPARATED),
            reason=self.stop_reason_,
            stops=stops,
            kept=1,
            cycle=None,
            radius=math.sqrt(table.largest + 1.0),
            ceiling=None,
        )

    partial_fit = learn_one = available_when(_no_stream)(_no_stream)

    # ------------------------------------------------------------------------------------------------------ prediction

    def _mode(self) -> str:
        """Return how several classes were learned, whatever `multiclass` is set to since."""
        mode: str = self._as_fitted().multiclass
        return mode

    @steady
    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes, as `Perceptron.decision_function` does.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
        """
        scores = self._class_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @steady
    def predict(self, X: Any) -> Array:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        winner = winners(self._class_scores(X))  # before `classes_` is read: it says that the estimator is not fitted
        found: Array = self.classes_[winner]
        return found

    predict_proba = available_when(without_probabilities)(without_probabilities)

    @steady
    def explain(self, x: Any, top: int | None = None) -> Explanation:
        """Return the scores of one row as sums over its features, as `Perceptron.explain` does.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, row of a data frame, or dict from names to numbers
        top : int, optional
            How many contributions to list, the largest first; the others are added up. By default all.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        self._check_weights()
        return self._named_model().explain(x, top)

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
        return distances(self._problem_scores(self._check_rows(X, reset=False)[0]), self.coef_)

    def _class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return decision(self._problem_scores(self._check_rows(X, reset=False)[0]), self.classes_.size, self._mode())

    def _problem_scores(self, table: Table) -> Array:
        self._check_weights()
        dtype = np.result_type(table.dtype, self.coef_.dtype)
        try:
            W, b = np.ascontiguousarray(self.coef_, dtype=dtype), np.asarray(self.intercept_, dtype=dtype)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"coef_ or intercept_ has values that are not numbers ({error}). Fit again.") from None
        return scores(table, Hyperplanes(W, b))

    def _check_weights(self) -> None:
        """Raise an error if the weights were changed by hand to a size that no loop may read."""
        wanted = (count_problems(self.classes_.size, self._mode()), self.n_features_in_)
        found, biases = shape_of(self.coef_), shape_of(self.intercept_)
        if found != wanted or biases != wanted[:1]:
            raise InvalidInput(
                f"coef_ has shape {found} and intercept_ {biases}, where {wanted} and {wanted[:1]} belong. "
                "Set them to that size, or fit again."
            )


def _is_fraction(value: Any) -> bool:
    """Check that text is an integer or a quotient of two."""
    return isinstance(value, str) and re.fullmatch(r"-?[0-9]+(/[0-9]*[1-9][0-9]*)?", value, re.ASCII) is not None


def _soft_margin(table: Table, label: Array, subset: Array, sign: Array, seconds: float) -> tuple[Array, float]:
    """Return the weights and the bias that SoftMargin learns for one problem in the time that is left."""
    left = None if seconds == math.inf else max(seconds, 1e-3)  # enough for a part of an epoch
    soft = SoftMargin(max_seconds=left, random_state=0)
    soft.averaged_ = True  # as a fit chooses
    algorithm = soft._algorithm()
    state = algorithm.start(1, table.shape[1], table.dtype)
    task = make_task(label, sign, "ovr", weight=np.empty(0), bias=1.0)
    run(Job(algorithm, table, task, soft._plan(), subset=subset), state)
    planes = algorithm.hyperplanes(state)
    return planes.W[0].astype(float), float(planes.b[0])


def _furthest(table: Table, label: Array, signs: Array, seconds: float | None, tol: float) -> list[Any]:
    """Return the maximum-margin hyperplane of each problem; a soft margin if it is not separable or time ran out."""
    # Imported here: the command line lists all learners, and needs no prover for it.
    from rosenblatt.prover.certificates.brackets import Bracket
    from rosenblatt.prover.exact.clock import Deadline, OutOfTime
    from rosenblatt.prover.exact.signed_rows import SignedRows
    from rosenblatt.prover.search.margin import Hyperplane, largest_margin_hyperplane, plane_margin

    deadline, planes = Deadline(seconds), []
    for p in range(signs.shape[1]):
        sign = signs[:, p : p + 1]
        subset = row_numbers(np.flatnonzero(sign[label, 0]))
        part = table if subset.size == label.size else table.take(subset)
        signed, found, ceiling = SignedRows(part, sign[label[subset], 0] > 0, 2), None, np.inf
        with suppress(OutOfTime, TooLarge):
            found = largest_margin_hyperplane(signed, deadline, tol)
            ceiling = 0.0
        if found is not None:
            planes.append(found._replace(support=subset[found.support]))
            continue
        w, b = _soft_margin(table, label, subset, sign, deadline.left)
        reached = plane_margin(signed, np.append(w, b))
        if ceiling == 0.0:
            reached = min(reached, -np.finfo(float).tiny)
        planes.append(Hyperplane(w, b, Bracket(max(reached, -np.finfo(float).max), ceiling), subset[:0]))
    return planes
