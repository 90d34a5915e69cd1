"""Streams: rows come in chunks or one by one, classes may appear at any time. A stream owns what was learned.

A stream learns in place, in time proportional to the entries of the rows. The result of `model` does not change: the
stream copies weights before it changes any that a caller may still hold.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels, as_targets, used_rows
from rosenblatt.data.table import Table, part_of, with_dtype
from rosenblatt.engine.rows import Counts, Csr, Dense, Hyperplanes, Task
from rosenblatt.engine.single import as_rows, touched_finite
from rosenblatt.errors import InvalidInput
from rosenblatt.storage.checks import check_classes, is_integer
from rosenblatt.storage.registry import expect, stored
from rosenblatt.text import count, short_repr
from rosenblatt.training.algorithm import (
    Algorithm,
    EpochArgs,
    Row,
    RowTask,
    all_finite,
    best_order,
    copy_state,
    new_counts,
    order_of,
    refuse_replaced,
    start_state,
)
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.model import LinearModel, scaled_shares
from rosenblatt.training.multiclass import (
    by_pairs,
    check_kind,
    class_costs,
    coding_matrix,
    count_problems,
    decision,
    growth,
    is_joint,
    make_task,
    open_coding_matrix,
    regression_task,
    winners,
)
from rosenblatt.training.named_rows import NamedColumns, array_table, is_dict
from rosenblatt.training.scores import ENTRIES_PER_WEIGHT, PIECE_ENTRIES, scores, touched_part, touches_few
from rosenblatt.training.single_rows import OVERFLOW, RowLearner, RowScorer, bind_scorer, cannot_overflow
from rosenblatt.training.snapshots import Snapshot, stays_local

Array = npt.NDArray[Any]

NO_CLASSES = np.empty(0)
# Flags of an array that is contiguous and aligned: NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED.
PLAIN = 0x0001 | 0x0100


@dataclass(frozen=True)
class Settings:
    """How a stream learns."""

    algorithm: Algorithm
    multiclass: str = "ovr"  # one of "ovr", "ovo", "ovo-vote", "joint"
    eta: float = 1.0  # learning rate
    bias: float = 1.0  # square of the constant that pads each row; 0 for no bias
    class_weight: Mapping[Any, float] | None = None  # factor of the steps for each class
    supports_new_classes: bool = True  # whether classes may appear that were not announced

    def __eq__(self, other: Any) -> bool:
        # The representations too, which name the types: rules are tuples, and equal tuples may be different rules.
        return (
            isinstance(other, Settings) and vars(self) == vars(other) and repr(self.algorithm) == repr(other.algorithm)
        )

    @property
    def rate_scale(self) -> float:
        """Unit of the weights of the state."""
        return self.algorithm.rate_scale(self.eta)

    def hyperplanes(self, state: Any) -> Hyperplanes:
        """Return the weights that predict, at the learning rate."""
        planes, scale = self.algorithm.hyperplanes(state), self.rate_scale
        if scale == 1.0:
            return planes
        return Hyperplanes(planes.W * planes.W.dtype.type(scale), planes.b * planes.b.dtype.type(scale))

    def coding_matrix(self, n_classes: int) -> Array:
        """Return sign[class, problem] of the problems that learn, those of the reserve class last."""
        return (open_coding_matrix if self.supports_new_classes else coding_matrix)(n_classes, self.multiclass)


@stored("Learned")
class Learned(NamedTuple):
    """The content of a stream, as files store it."""

    classes: Array  # sorted labels; empty for a regression
    state: Any  # of the algorithm: a row for each problem, those of the reserve class last
    trials: int
    mistakes: int
    names: tuple[str, ...]  # of the features, if rows are dicts; else empty


class TableRow(NamedTuple):
    """A row of a table as the compiled calls take it; `Stream.table_rows` makes them."""

    values: Any
    columns: Array | None


class Stream:
    """Learn from rows as they come.

    Attributes
    ----------
    settings : Settings
    classes : array of shape (n_classes,)
        The labels so far, sorted.
    state : NamedTuple of arrays
        Of the algorithm; None before the first row.
    trials, mistakes : int
        Rows learned from, and mistakes of the known problems, so far.
    columns : NamedColumns or None
        If rows are dicts: the column of each name. The columns grow with the names.
    outdated : bool
        Whether the owner must check its parameters before the next row: at first, and when one has changed.
    recorded : (int, int)
        Trials and mistakes that the owner's record includes.
    """

    # Slots: once the `__dict__` of an object has been read, Python takes three times longer to find its attributes.
    __slots__ = (
        *("settings", "init", "outdated", "classes", "trials", "mistakes", "columns", "recorded"),
        *("_state", "_checked", "_exposed", "_snapshots", "_planes", "_model", "_learner", "_scorers"),
    )

    def __init__(self, settings: Settings, learned: Learned | None = None, init: Any = None) -> None:
        self.settings, self.init, self.outdated = settings, init, True
        learned = learned or Learned(NO_CLASSES, None, 0, 0, ())
        self.classes, self.trials, self.mistakes = learned.classes, learned.trials, learned.mistakes
        named = {name: column for column, name in enumerate(learned.names)}
        self.columns: NamedColumns | None = NamedColumns(named) if named else None
        self.recorded = self.trials, self.mistakes
        self._snapshots: list[Snapshot] | None = None  # of the changes in place since `all_or_nothing` began
        self.state = learned.state

    def __repr__(self) -> str:
        """Return the stream in a line."""
        seen = f"classes={short_repr(self.classes)}, trials={self.trials}, mistakes={self.mistakes}"
        return f"{type(self).__name__}({seen}, method={type(self.settings.algorithm).__name__})"

    @property
    def state(self) -> Any:
        """The state of the algorithm; None before the first row. Assigning it drops everything derived from it."""
        return self._state

    @state.setter
    def state(self, state: Any) -> None:
        self._state = state
        self._checked: Any = None  # the layout of the arrays when they were last checked
        self._exposed = False  # whether a caller may hold a view of the weights of the state
        self._clear()

    def _clear(self) -> None:
        """Drop everything that was derived from the state, the classes and the settings."""
        self._planes: Hyperplanes | None = None
        self._model: LinearModel | None = None
        self._learner: RowLearner | None = None
        self._scorers: dict[bool, RowScorer] = {}  # for dense rows, and for sparse ones
        if self.columns is not None:
            self.columns.layout = None  # of the dtype of the state

    def _attributes(self) -> dict[str, Any]:
        names = [name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ())]
        return {name: getattr(self, name) for name in names}

    def __getstate__(self) -> dict[str, Any]:
        derived = dict.fromkeys(("_checked", "_planes", "_model", "_learner"))
        return self._attributes() | derived | {"_exposed": False, "_scorers": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def begin(self) -> Callable[[], None]:
        """Record changes in place until `end`; return a function that undoes everything since.

        For callers that must undo changes of their own at the same moment: two context managers would leave a gap
        between them, in which an interrupt undoes one and keeps the other.
        """
        outermost = self._snapshots is None
        snapshots = self._snapshots if self._snapshots is not None else []
        before, first, names = self._attributes(), len(snapshots), len(self.columns or ())
        self._snapshots = snapshots

        def restore() -> None:
            while len(snapshots) > first:
                snapshots.pop().restore()
            for name, value in before.items():
                setattr(self, name, value)
            if self._learner is not None:
                self._learner.log = None  # it may have rows that are undone
            if self.columns is not None:
                self.columns = NamedColumns(islice(self.columns.items(), names))
            if outermost:
                self._snapshots = None

        return restore

    def end(self) -> None:
        """Keep all changes, and stop recording them."""
        self._snapshots = None

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Restore the stream if the body fails or is interrupted. These contexts may be nested."""
        outermost, restore = self._snapshots is None, self.begin()
        try:
            yield
        except BaseException:
            restore()
            raise
        if outermost:
            self.end()

    @property
    def learned(self) -> Learned:
        """The content of the stream, as files store it."""
        return Learned(self.classes, self.state, self.trials, self.mistakes, tuple(self.columns or ()))

    @property
    def n_features(self) -> int:
        """Number of features; the state may have room for more."""
        return int(self.state.W.shape[1]) if self.columns is None else len(self.columns)

    @property
    def known(self) -> int:
        """Number of problems of the known classes."""
        return count_problems(self.classes.size, self.settings.multiclass)

    def check(self) -> None:
        """Raise a `Fault` unless the loops can read what comes from a file."""
        multiclass, state = self.settings.multiclass, self.state
        self._check_classes()
        self.settings.algorithm.check_state(state)
        # Without the coding matrix, which could be huge for a forged number of classes.
        reserve = self.classes.size if by_pairs(multiclass) else 1
        fits = state.b.size in (self.known, self.known + (0 if multiclass == "joint" else reserve))
        expect(fits, f"the state has {state.b.size} problems, not {self.known}. Fit again")
        for name, number in (("trials", self.trials), ("mistakes", self.mistakes)):
            expect(is_integer(number, 0, 1 << 62), f"{name}={number!r} is not a count")
        if self.columns is not None:
            named = all(isinstance(name, str) for name in self.columns) and len(self.columns) <= state.W.shape[1]
            expect(named, "the names of the features do not fit the weights")

    def _check_classes(self) -> None:
        check_classes(self.classes)

    def check_arrays(self) -> None:
        """Raise an error unless the loops can read the state, parts of which users can replace.

        A single row is compared with the arrays in the compiled call, which was bound to them after this check.
        """
        layout = self.settings.algorithm.kind, [(array.shape, array.dtype) for array in self._state]
        if layout != self._checked:
            with refuse_replaced():
                self.settings.algorithm.check_arrays(self._state)
            self._checked = layout
        if self._state.b.size < self.known:
            raise self._other_classes()

    def _other_classes(self) -> InvalidInput:
        problems = count(self._state.b.size, "problem")
        return InvalidInput(
            f"The model has {problems}, not those of the classes {short_repr(self.classes)}. Fit again."
        )

    # -------------------------------------------------------------------------------------------------------- weights

    def hyperplanes(self) -> Hyperplanes:
        """Return the weights of all problems, for reading only; they change with the stream."""
        if self._planes is None:
            self.check_arrays()
            self._planes = self.settings.hyperplanes(self.state)
        return self._planes

    def problem_scores(self, table: Table) -> Array:
        """Return the score of each row under each known problem.

        For a few sparse rows, only the weights that they touch are derived: averaging all weights would take longer.
        """
        if self._planes is None:
            self.check_arrays()
        self._check_width(table)
        known, settings = self.known, self.settings
        stored = self._planes is not None or not (settings.algorithm.derives_weights or settings.rate_scale != 1.0)
        if not stored and touches_few(table, self.state.W.shape[1]):
            state, table = touched_part(self.state, table)
            W, b = settings.hyperplanes(state)
        else:
            W, b = self.hyperplanes()
        if isinstance(table.rows, Dense):
            W = W[:, : table.shape[1]]
        if order_of(W) == "C":  # else the weights of the reserve class are between the others
            W, b = W[:known], b[:known]
        dtype = np.result_type(table.dtype, W.dtype)
        every = scores(table, Hyperplanes(W.astype(dtype, copy=False), b.astype(dtype, copy=False)))
        return every[:, :known]

    def model(self) -> LinearModel:
        """Return the weights, which do not change with the stream."""
        if self._model is None:
            planes, known = self.hyperplanes(), self.known
            W, b = planes.W[:known, : self.n_features], planes.b[:known].copy()
            self._exposed = np.may_share_memory(W, self.state.W)
            W, b = W.view(), b.view()
            W.flags.writeable = b.flags.writeable = False
            names = tuple(self.columns or ())
            self._model = LinearModel(W, b, self.classes, self.settings.multiclass, names)
        return self._model

    def set_weights(self, W: Any, b: Any) -> None:
        """Restart from other weights of the same size."""
        shape = (self.known, self.n_features)
        try:
            W, b = np.asarray(W), np.asarray(b)
        except ValueError as error:
            raise InvalidInput(f"coef_ or intercept_ cannot be read as an array ({error}). Pass numbers.") from None
        if W.shape != shape or b.shape != shape[:1]:
            raise InvalidInput(
                f"coef_ has shape {W.shape} and intercept_ {b.shape}, but {shape} and {shape[:1]} are expected. "
                "Set them to that size, or fit again."
            )
        dtype = np.result_type(W.dtype, np.float32) if W.dtype.kind in "fiub" else np.dtype(np.float64)
        dtype = np.dtype(np.float32) if dtype == np.float32 else np.dtype(np.float64)
        state = self.settings.algorithm.start(self.state.b.size, self.state.W.shape[1], dtype, order_of(self.state.W))
        try:
            state.W[: shape[0], : shape[1]] = W / self.settings.rate_scale
            state.b[: shape[0]] = b / self.settings.rate_scale
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(f"coef_ or intercept_ has values that are not numbers ({error}).") from None
        if not all_finite(state):
            raise InvalidInput("coef_ or intercept_ has values that are not finite.")
        self.settings.algorithm.settle(state)
        self.state = state

    def reconfigure(self, settings: Settings) -> None:
        """Continue with other settings; if the algorithm cannot continue the state, only the weights are kept."""
        self.outdated = False
        if settings == self.settings or self.state is None:
            self.settings = settings
            return
        self.check_arrays()
        before, algorithm = self.settings, settings.algorithm
        if settings.multiclass != before.multiclass and self.classes.size > 2:
            raise InvalidInput(
                f"multiclass={settings.multiclass!r} is not how this stream began, with {before.multiclass!r}. "
                "Set that back, or fit again."
            )
        # A first-order state keeps the bias apart; in others the constant that pads the rows is part of what they keep.
        same_bias = settings.bias == before.bias or isinstance(algorithm, FirstOrder)
        if algorithm.kind == before.algorithm.kind and same_bias:
            if settings.rate_scale != before.rate_scale:
                state = copy_state(self.state)
                algorithm.rescale(state, before.rate_scale / settings.rate_scale)
                self.state = state
        else:
            planes = before.algorithm.hyperplanes(self.state)
            state = algorithm.start(self.state.b.size, self.state.W.shape[1], self.state.W.dtype, order_of(planes.W))
            state.W[:] = planes.W * planes.W.dtype.type(before.rate_scale / settings.rate_scale)
            state.b[:] = planes.b * planes.b.dtype.type(before.rate_scale / settings.rate_scale)
            algorithm.settle(state)
            self.state = state
        self.settings = settings
        if (settings.multiclass, settings.supports_new_classes) != (before.multiclass, before.supports_new_classes):
            # The reserve class has other problems now, or none: they restart.
            self.state = copy_state(self.state, part=slice(self.known))
        self._clear()

    # -------------------------------------------------------------------------------------------------------- classes

    def meet(self, classes: Array) -> None:
        """Add classes. Each starts from the weights that it would have if it had been announced at the start."""
        check_kind(classes, self.classes)
        if not (self.classes[1:] > self.classes[:-1]).all():  # the loops index by number
            raise self._other_classes()
        seen = np.unique(np.concatenate([self.classes, classes])) if self.classes.size else np.unique(classes)
        if self.state is not None:
            self._open()
        if seen.size == self.classes.size:
            return
        if self.state is not None:
            if not self.settings.supports_new_classes:
                new = sorted(set(seen.tolist()) - set(self.classes.tolist()))
                raise InvalidInput(
                    f"The new classes {new} cannot appear mid-stream here: announce them in the first call with "
                    "classes=."
                )
            places = np.searchsorted(seen, self.classes).tolist()
            self._grow(growth(places, seen.size, self.settings.multiclass))
        self.classes = seen
        self._clear()

    def _open(self) -> None:
        """Add the problems of the reserve class, which a fit does not train: from now on they learn."""
        present, needed = self.state.b.size, self.settings.coding_matrix(self.classes.size).shape[1]
        if present < needed:
            self._grow(np.eye(needed, present, dtype=np.int8))

    def _grow(self, change: Array) -> None:
        """Replace the problems by more of them: see `Algorithm.grow`."""
        self.check_arrays()
        self.state = self.settings.algorithm.grow(self.state, change)

    def _arrange(self, table: Table) -> None:
        """Change the memory order of the weights to the best one for a table, if it has enough rows."""
        W = self.state.W
        order = best_order(self.settings.algorithm, W.shape[0], table, by_pairs=by_pairs(self.settings.multiclass))
        if order != order_of(W) and min(W.shape) > 1 and table.entries >= ENTRIES_PER_WEIGHT * W.size:
            self.state = type(self.state)(*(np.array(array, order=order) for array in self.state))

    def _make_own(self) -> None:
        """Copy the weights if a caller may hold a view of them, or if they are read-only."""
        if self._exposed or not all(array.flags.writeable for array in self.state):
            self.state = copy_state(self.state)

    # ------------------------------------------------------------------------------------------------------- learning

    def learn(self, table: Table, y: Any, weight: Array, classes: Any = None) -> Counts:
        """Learn from the rows once, in the order in which they come.

        If a chunk makes the weights overflow, an error is raised and nothing of it is learned.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Labels.
        classes : array-like, optional
            Classes to expect besides those of y.

        Returns
        -------
        Counts
            Of the known problems.
        """
        labels, number = as_labels(y, table.shape[0])
        announced = labels if classes is None else np.unique(np.asarray(classes))
        check_kind(announced, labels)
        with self.all_or_nothing():  # the new classes are undone with the rows
            self.meet(labels if classes is None else np.concatenate([announced, labels]))
            label = np.searchsorted(self.classes, labels).astype(np.int32)[number]
            return self._run_epoch(table, self._task(label, weight))

    def _task(self, label: Array, weight: Array) -> Task:
        """Return the task of rows with these labels. The loops index the problems of the state by number."""
        settings = self.settings
        sign = settings.coding_matrix(self.classes.size)
        costs = class_costs(settings.class_weight, self.classes)
        return make_task(label, sign, settings.multiclass, class_cost=costs, weight=weight, bias=settings.bias)

    def _check_problems(self, task: Task) -> None:
        """Raise an error unless the state has the problems of a task, and the loops can read it."""
        self.check_arrays()
        if self.state.b.size != task.sign.shape[1]:
            raise self._other_classes()

    def _run_epoch(self, table: Table, task: Task) -> Counts:
        settings, algorithm, problems = self.settings, self.settings.algorithm, task.sign.shape[1]
        if self.state is None:
            pairs = by_pairs(settings.multiclass)
            self.state = start_state(algorithm, problems, table, self.init, settings.rate_scale, by_pairs=pairs)
        self._check_problems(task)
        self._check_width(table)
        table = with_dtype(table, self.state.W.dtype)
        self._arrange(table)
        self._make_own()
        joint = is_joint(task.sign, settings.multiclass)
        counts, subset = new_counts(1 if joint else problems), used_rows(task.sample_weight)
        eta = settings.eta / settings.rate_scale
        args = EpochArgs(table.rows, task, subset, subset, np.arange(problems), eta, counts, joint)
        local = stays_local(algorithm, self.state, eta, args.size)
        if self._snapshots is not None:
            self._snapshots.append(Snapshot(self.state, table.rows, local=local))
        # In pieces, as compiled code does not react to Ctrl-C. The result is the same.
        W, b, n_rows = self.state.W, self.state.b, args.size
        cost = algorithm.trial_cost(max(1, table.entries // max(1, n_rows)), W.shape[1], problems)
        size = max(1, PIECE_ENTRIES // cost)
        for first in range(0, n_rows, size):
            piece = part_of(args.order, first, size, n_rows)
            algorithm.run_epoch(args._replace(order=piece), self.state, self.state)
        few = local and isinstance(table.rows, Csr)
        if not (touched_finite(table.rows, W, b) if few else all_finite(self.state)):
            raise InvalidInput(OVERFLOW.format(dtype=W.dtype) + " Nothing was learned from these rows.")
        counted = Counts(*(column[: self.known] for column in counts)) if self.classes.size else counts
        self.trials += subset.size or table.shape[0]
        self.mistakes += int(counted.mistakes.sum())
        self._planes = self._model = None
        if self._learner is not None:
            self._learner.log = None
        return counted

    def _check_width(self, table: Table) -> None:
        """Raise an error if rows are longer than the weights: the loops check no index.

        Dense rows may be shorter only in a stream of dicts, whose weights have room for more names.
        """
        features, narrow = self.state.W.shape[1], self.columns is None and isinstance(table.rows, Dense)
        if table.shape[1] > features or (narrow and table.shape[1] < features):
            raise InvalidInput(
                f"X has {count(table.shape[1], 'feature')}, the model has {features}. Pass the same columns, or fit "
                "again."
            )

    # ---------------------------------------------------------------------------------------------------- single rows

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row, an array, a sparse row or a dict; return whether it was a mistake.

        The same as `learn` with a chunk of one row, with less overhead. If it makes the weights overflow, an error is
        raised and nothing is learned.
        """
        mistake = self.learn_known(x, y)
        if mistake is not None:
            return mistake
        with self.all_or_nothing():  # an invalid row must not leave its names
            if self.state is not None and is_dict(x):
                self._add_names(x)
                mistake = self.learn_known(x, y)
            return self._learn_as_chunk(x, y) if mistake is None else mistake

    def learn_known(self, x: Any, y: Any) -> bool | None:
        """Learn from one row, unless its class or one of its names is new; return None if so."""
        if self._exposed:
            self._make_own()
        learner = self._learner or self._bind_learner()
        if learner is None:
            return None
        try:
            c = learner.place.get(y)
        except TypeError:
            raise InvalidInput(f"y={y!r} is not a label. Pass a number, a text or another hashable value.") from None
        if c is None or (row := self._row(x)) is None:
            return None
        if self._snapshots is not None:
            (values, columns), state = row, self._state
            local = stays_local(self.settings.algorithm, state, learner.trial.eta, 1)
            self._snapshots.append(Snapshot(state, as_rows(values, columns, state.W), local=local))
        mistakes = learner.learn(c, row)
        self.trials += 1
        self.mistakes += mistakes
        self._planes = self._model = None
        return mistakes > 0

    def _learn_as_chunk(self, x: Any, y: Any) -> bool:
        before = self.mistakes
        self.learn(self.row_table(x, grow=True), [y], np.empty(0))
        return self.mistakes > before

    def _bind_learner(self) -> RowLearner | None:
        """Return what learns single rows by the classes and settings as they are; None before the first chunk."""
        if self.state is None:
            return None
        self.check_arrays()
        self._open()
        self._make_own()
        settings, algorithm = self.settings, self.settings.algorithm
        task, eta = self._task(np.empty(0, np.int32), np.empty(0)), settings.eta / settings.rate_scale
        self._check_problems(task)
        joint, safe = is_joint(task.sign, settings.multiclass), cannot_overflow(algorithm, task, eta)
        self._learner = RowLearner(algorithm, RowTask(task, eta, joint, self.known, safe), self.state, self.classes)
        return self._learner

    def predict_one(self, x: Any) -> Any:
        """Return the class of a row, or the number in a regression.

        None if the row is not finite, classes are learned by pairs, or all weights must be derived: use
        `problem_scores` then.
        """
        scorers = self._scorers  # read once: a thread that learns replaces the dict
        if not scorers:
            self.check_arrays()
        row = self._row(x)
        if row is None:  # names without a column count as zero
            row = self._row((self.columns or NamedColumns()).known_part(x))
            assert row is not None
        values, columns = row
        scorer = scorers.get(columns is None)
        if scorer is None:
            self.check_arrays()
            how, multiclass = self.settings.algorithm, self.settings.multiclass
            scorer = bind_scorer(how, multiclass, self.known, self.classes, self._state, row)
            scorers[columns is None] = scorer
        score, labels = scorer
        value = score(values, columns)
        if value != value:
            return None
        return labels[value > 0.0 if len(labels) == 2 else int(value)] if labels else value

    def predict_then_learn(self, table: Table, y: Array, weight: Array, before: Table | None = None) -> list[Any]:
        """Return the prediction of each row before it is learned; None for the first row of the stream.

        The same as `predict_one` and `learn_one` for each row, without converting rows one by one. `before` has the
        rows as they are to be predicted, if they are learned otherwise.
        """
        predictions: list[Any] = []
        rows: list[TableRow] = []
        asked: list[TableRow] = []
        for i, label in enumerate(y.tolist()):
            predicted = None
            if self.state is not None:
                rows = rows or list(self.table_rows(table))
                asked = asked or (rows if before is None else list(self.table_rows(before)))
                predicted = self.predict_one(asked[i])
                if predicted is None:
                    predicted = self._predict_table((table if before is None else before).take(np.array([i])))
            predictions.append(predicted)
            # By themselves: the first row, one of a new class, one with a weight.
            if not rows or weight.size or self.learn_known(rows[i], label) is None:
                self.learn(table.take(np.array([i])), y[i : i + 1], weight[i : i + 1])
        return predictions

    def _predict_table(self, table: Table) -> Any:
        """Return the prediction of the only row of a table."""
        scores = self.problem_scores(table)
        if self.classes.size == 0:
            return float(scores[0, 0])
        if self.classes.size == 1:
            return self.classes[0]
        return self.classes[winners(decision(scores, self.classes.size, self.settings.multiclass))[0]].item()

    def _row(self, x: Any) -> Row | None:
        """Return a row as the compiled calls take it; None if it has a name without a column.

        Those calls do not check types: the types must be exactly those that they were compiled for.
        """
        columns, kind = self.columns, type(x)
        if kind is dict:
            if columns is not None and (layout := columns.layout) is not None:
                size, values, pack, indices = layout
                if size == len(x):
                    try:
                        return pack(*values(x)), indices
                    except (KeyError, struct.error):  # other names, or a value that is not a float
                        pass
            return self._own_columns().row(x, self._state.W.dtype)
        if kind is TableRow:
            return x  # type: ignore[no-any-return]
        W = self._state.W
        if (
            kind is np.ndarray
            and x.dtype is W.dtype
            and x.shape == W.shape[1:]
            and x.flags.num & PLAIN == PLAIN
            and columns is None
        ):
            return x, None
        if is_dict(x):
            return self._own_columns().row(x, W.dtype)
        rows = with_dtype(self.row_table(x), W.dtype).rows
        if isinstance(rows, Dense):
            return np.require(rows.X[0], W.dtype, ["C", "A"]), None
        # Copies: a row that is kept must not change with the user's matrix.
        return rows.data.tobytes(), np.array(rows.indices, np.int64)

    def table_rows(self, table: Table) -> Iterator[TableRow]:
        """Yield the rows of a table one by one, for `predict_one` and `learn_known`."""
        self._check_width(table)
        rows = with_dtype(table, self.state.W.dtype).rows
        if isinstance(rows, Dense):
            yield from (TableRow(x, None) for x in np.require(rows.X, requirements=["C", "A"]))
            return
        indices = rows.indices.astype(np.int64)
        for begin, end in pairwise(rows.indptr.tolist()):
            yield TableRow(rows.data[begin:end].tobytes(), indices[begin:end])

    def row_table(self, x: Any, *, grow: bool = False) -> Table:
        """Return one row as a table. New names become columns if it may `grow`; else they count as zero."""
        if is_dict(x):
            if grow:
                self._add_names(x)
            return self._own_columns().table(x)
        if self.columns is not None:
            raise InvalidInput("The rows of this stream are dicts. Pass a dict from names to numbers.")
        return array_table(x, None if self.state is None else self.n_features)

    def _own_columns(self) -> NamedColumns:
        """Return the column of each name; empty before the first row."""
        if self.columns is None:
            if self.state is not None:
                raise InvalidInput(
                    "The rows of this model are arrays without names. Pass an array, or start a stream with dicts."
                )
            self.columns = NamedColumns()
        return self.columns

    def _add_names(self, x: Mapping[str, float]) -> None:
        """Make columns of new names, and room for them in the state."""
        columns = self._own_columns()
        columns.add(x)
        if self.state is not None and len(columns) > self.state.W.shape[1]:
            # Twice the columns needed, so that this is rare.
            self.state = self.settings.algorithm.widen(self.state, 2 * len(columns))

    # --------------------------------------------------------------------------------------------------------- merging

    def merge(self, others: Sequence[Stream], shares: Sequence[float] | None = None) -> Stream:
        """Return a stream whose state is the weighted mean of this one's and others', of the same settings.

        Classes that only some of them have are first added to the others, which changes them. The shares, this stream's
        first, are scaled to add up to one; they are equal by default.
        """
        streams = [self, *others]
        weight = scaled_shares([1.0] * len(streams) if shares is None else shares, len(streams))
        alike = all(
            stream.state is not None
            and stream.columns == self.columns
            and stream.n_features == self.n_features
            and stream.settings == self.settings
            for stream in streams
        )
        if not alike:
            raise InvalidInput("Only streams of the same settings and features, which have learned, can be merged.")
        seen = np.unique(np.concatenate([stream.classes for stream in streams]))
        for stream in streams:
            stream.meet(seen)
        algorithm, room = self.settings.algorithm, max(stream.state.W.shape[1] for stream in streams)
        states = [s.state if s.state.W.shape[1] == room else algorithm.widen(s.state, room) for s in streams]
        state = algorithm.merge(states, weight)
        trials, mistakes = sum(s.trials for s in streams), sum(s.mistakes for s in streams)
        return type(self)(self.settings, Learned(seen, state, trials, mistakes, tuple(self.columns or ())))


class RegressionStream(Stream):
    """Learn to predict numbers."""

    __slots__ = ()

    @property
    def known(self) -> int:
        """One problem."""
        return 1

    def learn(self, table: Table, y: Any, weight: Array, classes: Any = None) -> Counts:
        """Learn from the rows once, in the order in which they come; `y` are numbers."""
        with self.all_or_nothing():
            return self._run_epoch(table, regression_task(as_targets(y), weight, self.settings.bias))

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row, as from a chunk; a regression has no mistakes."""
        return self._learn_as_chunk(x, y)

    def _bind_learner(self) -> None:
        """Return None: there is no compiled call for a single row of a regression."""

    def meet(self, classes: Array) -> None:
        """Do nothing: a regression has no classes."""

    def _open(self) -> None:
        """Do nothing: a regression has no reserve class."""

    def _check_classes(self) -> None:
        expect(self.classes.size == 0, "a regression has classes")
