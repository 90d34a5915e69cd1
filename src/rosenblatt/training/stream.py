"""Streams: the only owner of what was learned. Rows come in chunks or one by one, classes may appear at any time.

A stream learns in place, in time proportional to the entries of the rows. What it hands out through `model` stays as it
was: the stream copies its weights before it changes weights that somebody may still look at.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels, used_rows
from rosenblatt.data.sparse import sp
from rosenblatt.data.table import Table, as_table, with_dtype
from rosenblatt.engine.rows import Counts, Csr, Dense, Hyperplanes, Task
from rosenblatt.engine.rules import perceptron
from rosenblatt.engine.single import as_rows, touched_finite
from rosenblatt.errors import InvalidInput
from rosenblatt.storage.checks import check_classes, is_integer
from rosenblatt.storage.registry import expect, stored
from rosenblatt.text import count, short_repr
from rosenblatt.training import named_rows
from rosenblatt.training.algorithm import (
    Algorithm,
    EpochArgs,
    all_finite,
    as_hyperplanes,
    best_order,
    copy_state,
    new_counts,
    order_of,
    start_state,
)
from rosenblatt.training.costs import class_costs
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.model import LinearModel
from rosenblatt.training.multiclass import by_pairs, code, count_problems, is_joint, make_task
from rosenblatt.training.named_rows import (
    NOT_FINITE,
    Columns,
    Layout,
    add_names,
    check_finite,
    is_dict,
    known_part,
    layout_of,
    named_row,
    read_values,
)
from rosenblatt.training.pieces import run_in_pieces
from rosenblatt.training.reserve import check_kind, growth, open_code
from rosenblatt.training.scores import ENTRIES_PER_WEIGHT, scores
from rosenblatt.training.single import ReplayLog, Scorer, Single
from rosenblatt.training.single_row import LearnRow, Row, RowTask
from rosenblatt.training.touched import Snapshot, stays_local, touched_part, touches_few

Array = npt.NDArray[Any]

NO_CLASSES = np.empty(0)
# Flags of an array that is contiguous and aligned: NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED.
PLAIN = 0x0001 | 0x0100
OVERFLOW = (
    "The weights overflowed {dtype}. Scale the data, for example with StandardScaler, or lower the learning rate."
)
# Cost of a class, up to which the sums of a perceptron's steps cannot overflow in any number of trials: a row that is
# accepted is no longer than the square root of what overflows.
SAFE_COST = 1e3


@dataclass(frozen=True)
class Settings:
    """How a stream learns.

    Attributes
    ----------
    method : Method
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}
    eta : float
        Learning rate.
    bias : float
        Square of the constant that pads each row; 0 for no bias.
    class_weight : dict or None
        Factor of the steps for each class.
    takes_new_classes : bool
        Whether classes may appear that were not announced.
    """

    algorithm: Algorithm
    multiclass: str = "ovr"
    eta: float = 1.0
    bias: float = 1.0
    class_weight: Mapping[Any, float] | None = None
    supports_new_classes: bool = True

    def __eq__(self, other: Any) -> bool:
        # In words too, which name the types: rules are tuples, and equal ones of two types are different rules.
        return (
            isinstance(other, Settings) and vars(self) == vars(other) and repr(self.algorithm) == repr(other.algorithm)
        )

    @property
    def rate_scale(self) -> float:
        """Rate that the weights of the state are in units of."""
        return self.algorithm.rate_scale(self.eta)


@stored("Learned")
class Learned(NamedTuple):
    """What a stream has learned, as files keep it."""

    classes: Array  # sorted labels; empty for a regression
    state: Any  # of the method: a row for each problem, those of the reserve class last
    trials: int
    mistakes: int
    names: tuple[str, ...]  # of the features, where rows come as dicts; else empty


class Stream:
    """Learn from rows as they come.

    Attributes
    ----------
    settings : Settings
    classes : array of shape (n_classes,)
        The labels so far, sorted.
    state : NamedTuple of arrays
        Of the method; None before the first row.
    trials, mistakes : int
        Rows learned from, and mistakes of the known problems, so far.
    columns : dict from str to int, or None
        Where rows are dicts: the column of each name. The columns grow with the names.
    """

    # Slots: of an object whose `__dict__` was once looked at, Python finds attributes in three times the time.
    __slots__ = (
        *("settings", "init", "outdated", "classes", "state", "trials", "mistakes", "columns", "recorded"),
        *("_exposed", "_undos", "_planes", "_model", "_single", "_scorers", "_layout", "_journal"),
    )

    def __init__(self, settings: Settings, learned: Learned | None = None, init: Any = None) -> None:
        self.settings, self.init = settings, init
        self.outdated = False  # whether its owner should look at the settings again
        self.classes: Array = NO_CLASSES
        self.state: Any = None
        self.trials = self.mistakes = 0
        self.columns: Columns | None = None
        if learned is not None:
            self.classes, self.state, self.trials, self.mistakes, names = learned
            self.columns = {name: column for column, name in enumerate(names)} or None
        self.recorded = self.trials, self.mistakes  # what the record of its owner includes
        self._exposed = False  # whether somebody may hold a view of the weights of the state
        self._undos: list[Snapshot] | None = None  # of what has changed in place since `all_or_nothing` began
        self._forget()

    def __repr__(self) -> str:
        """Return what the stream has seen, in a line."""
        seen = f"classes={short_repr(self.classes)}, trials={self.trials}, mistakes={self.mistakes}"
        return f"{type(self).__name__}({seen}, method={type(self.settings.algorithm).__name__})"

    def _forget(self) -> None:
        """Drop what was derived from the state."""
        self._planes: Hyperplanes | None = None
        self._model: LinearModel | None = None
        self._single: Single | None = None
        self._scorers: dict[bool, Scorer] = {}  # of dense rows, or of sparse ones
        self._layout: Layout | None = None  # of the last dict
        self._journal: ReplayLog | None = None

    def begin(self) -> Callable[[], None]:
        """Remember from here on what changes in place, until `end`; return a function that undoes everything since."""
        outermost = self._undos is None
        undos = [] if self._undos is None else self._undos
        before, first, names = self._attributes(), len(undos), len(self.columns or ())
        if outermost:
            self._undos = undos

        def go_back() -> None:
            while len(undos) > first:
                undos.pop().restore()
            for name, value in before.items():
                setattr(self, name, value)
            if self.columns is not None and len(self.columns) > names:
                self.columns = dict(islice(self.columns.items(), names))  # another one: layouts are of the old one
            if outermost:
                self._undos = None

        return go_back

    def end(self) -> None:
        """Forget how to undo what was done: it is to stay."""
        self._undos = None

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Leave the stream as it was if what happens inside fails or is interrupted. It may be part of more of this."""
        outermost, go_back = self._undos is None, self.begin()
        try:
            yield
        except BaseException:
            go_back()
            raise
        if outermost:
            self.end()

    def _attributes(self) -> dict[str, Any]:
        """Return all attributes by name."""
        names = [name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ())]
        return {name: getattr(self, name) for name in names}

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        derived = dict.fromkeys(("_planes", "_model", "_single", "_layout", "_journal"))
        return None, self._attributes() | derived | {"_exposed": False, "_scorers": {}}

    @property
    def learned(self) -> Learned:
        """What files keep of the stream."""
        return Learned(self.classes, self.state, self.trials, self.mistakes, tuple(self.columns or ()))

    @property
    def n_features(self) -> int:
        """Number of features; the state may have room for more."""
        return int(self.state.W.shape[1]) if self.columns is None else len(self.columns)

    @property
    def known(self) -> int:
        """Number of problems of the known classes."""
        return count_problems(self.classes.size, self.settings.multiclass)

    @property
    def _eta(self) -> float:
        """Learning rate, in the units of the state."""
        return self.settings.eta / self.settings.rate_scale

    def check(self) -> None:
        """Raise a `Fault` unless what was read from a file is what the loops may read."""
        multiclass, state = self.settings.multiclass, self.state
        self._check_classes()
        self.settings.algorithm.check_state(state)
        # The code is not asked, whose table of a forged number of classes could be vast.
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

    # ---------------------------------------------------------------------------------------------- what was learned

    def hyperplanes(self) -> Hyperplanes:
        """Return the weights of all problems for reading only; they change when the stream goes on."""
        if self._planes is None:
            self._planes = self._hyperplanes_of(self.state)
        return self._planes

    def _hyperplanes_of(self, state: Any) -> Hyperplanes:
        """Return the weights that a state stands for, at the learning rate that was asked for."""
        planes, scale = self.settings.algorithm.hyperplanes(state), self.settings.rate_scale
        if scale == 1.0:
            return planes
        return as_hyperplanes(planes.W * planes.W.dtype.type(scale), planes.b * planes.b.dtype.type(scale))

    def problem_scores(self, table: Table) -> Array:
        """Return the score of each row under each known problem.

        A few sparse rows ask only for the weights that they touch: an average, say, of all of them takes longer.
        """
        self._check_width(table)
        known, settings = self.known, self.settings
        stored = self._planes is not None or not (settings.algorithm.derived or settings.rate_scale != 1.0)
        if not stored and touches_few(table, self.state.W.shape[1]):
            state, table = touched_part(self.state, table)
            W, b, _ = self._hyperplanes_of(state)
        else:
            W, b, _ = self.hyperplanes()
        if isinstance(table.rows, Dense):
            W = W[:, : table.shape[1]]
        if order_of(W) == "C":  # else the problem of the reserve class lies between the others
            W, b = W[:known], b[:known]
        dtype = np.result_type(table.dtype, W.dtype)
        found = scores(table, as_hyperplanes(W.astype(dtype, copy=False), b.astype(dtype, copy=False)))
        return found[:, :known]

    def model(self) -> LinearModel:
        """Return the weights, which will not change when the stream goes on."""
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
        """Start anew from other weights of the same size."""
        shape = (self.known, self.n_features)
        try:
            W, b = np.asarray(W), np.asarray(b)
        except ValueError as error:
            raise InvalidInput(f"coef_ or intercept_ cannot be read as an array ({error}). Pass numbers.") from None
        if W.shape != shape or b.shape != shape[:1]:
            raise InvalidInput(
                f"coef_ has shape {W.shape} and intercept_ {b.shape}, where {shape} and {shape[:1]} belong. "
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
        self.state, self._exposed = state, False
        self._forget()

    def reconfigure(self, settings: Settings) -> None:
        """Go on with other settings; of a state that the method cannot continue, only the weights are kept."""
        self.outdated = False
        if settings == self.settings or self.state is None:
            self.settings = settings
            return
        before, algorithm = self.settings, settings.algorithm
        if settings.multiclass != before.multiclass and self.classes.size > 2:
            raise InvalidInput(
                f"multiclass={settings.multiclass!r} is not how this stream began, with {before.multiclass!r}. "
                "Set that back, or fit anew."
            )
        # The bias of a first-order state is itself; others have the constant that pads the rows in what they keep.
        same_bias = settings.bias == before.bias or isinstance(algorithm, FirstOrder)
        if algorithm.kind == before.algorithm.kind and same_bias:
            if settings.rate_scale != before.rate_scale:
                state = copy_state(self.state)
                algorithm.rescale(state, before.rate_scale / settings.rate_scale)
                self.state, self._exposed = state, False
        else:
            planes = before.algorithm.hyperplanes(self.state)
            state = algorithm.start(self.state.b.size, self.state.W.shape[1], self.state.W.dtype, order_of(planes.W))
            state.W[:] = planes.W * planes.W.dtype.type(before.rate_scale / settings.rate_scale)
            state.b[:] = planes.b * planes.b.dtype.type(before.rate_scale / settings.rate_scale)
            algorithm.settle(state)
            self.state = state
        self.settings = settings
        if (settings.multiclass, settings.supports_new_classes) != (before.multiclass, before.supports_new_classes):
            # The problems of the reserve class are others now, or none: those that there are begin anew.
            self.state = copy_state(self.state, part=slice(self.known))
        self._forget()

    # -------------------------------------------------------------------------------------------------------- classes

    def _code(self, n_classes: int) -> Array:
        """Return the table sign[class, problem] of the problems that learn."""
        table = open_code if self.settings.supports_new_classes else code
        return table(n_classes, self.settings.multiclass)

    def meet(self, classes: Array) -> None:
        """Add classes: each starts from the weights that it would have, had it been announced at the start."""
        check_kind(classes, self.classes)
        seen = np.unique(np.concatenate([self.classes, classes])) if self.classes.size else np.unique(classes)
        if seen.size == self.classes.size:
            if self.state is not None:
                self._open()
            return
        if self.state is not None:
            self._open()
            if not self.settings.supports_new_classes:
                new = sorted(set(seen.tolist()) - set(self.classes.tolist()))
                raise InvalidInput(
                    f"The new classes {new} cannot appear mid-stream here: announce them in the first call with "
                    "classes=."
                )
            places = np.searchsorted(seen, self.classes).tolist()
            self._grow(growth(places, seen.size, self.settings.multiclass))
        self.classes = seen
        self._forget()

    def _open(self) -> None:
        """Add the problems of the reserve class, which a fit does not train: from here on they learn."""
        stored, wanted = self.state.b.size, self._code(self.classes.size).shape[1]
        if stored < wanted:
            self._grow(np.eye(wanted, stored, dtype=np.int8))
            self._forget()

    def _grow(self, change: Array) -> None:
        """Turn the problems into more problems, each an old one, an old one with its sign changed, or a new one."""
        self.state = self.settings.algorithm.grow(self.state, change)

    def _arrange(self, table: Table) -> None:
        """Lay the weights out for the rows of a table, if there are enough of them."""
        W = self.state.W
        order = best_order(self.settings.algorithm, W.shape[0], table, by_pairs=by_pairs(self.settings.multiclass))
        if order != order_of(W) and min(W.shape) > 1 and table.entries >= ENTRIES_PER_WEIGHT * W.size:
            self.state = type(self.state)(*(np.array(array, order=order) for array in self.state))
            self._exposed = False
            self._forget()

    def _make_own(self) -> None:
        """Copy the weights if somebody may hold a view of them, or they cannot be written to."""
        if self._exposed or not self.state.W.flags.writeable:
            self.state = copy_state(self.state)
            self._exposed, self._single, self._scorers, self._journal = False, None, {}, None

    # ------------------------------------------------------------------------------------------------------- learning

    def learn(self, table: Table, y: Any, weight: Array, classes: Any = None) -> Counts:
        """Learn from the rows once, in the order in which they come.

        A chunk that makes the weights overflow is refused, and nothing of it is learned.

        Parameters
        ----------
        table : Table
        y : array-like of shape (n_rows,)
            Labels.
        weight : array of shape (n_rows,), or empty
        classes : array-like, optional
            Classes to expect besides those of y.

        Returns
        -------
        Counts
            Of the known problems.
        """
        found, number = as_labels(y, table.shape[0])
        announced = found if classes is None else np.unique(np.asarray(classes))
        check_kind(announced, found)
        with self.all_or_nothing():  # the classes that the rows bring go with them
            self.meet(found if classes is None else np.concatenate([announced, found]))
            label = np.searchsorted(self.classes, found).astype(np.int32)[number]
            return self._run_epoch(table, self._task(label, weight))

    def _task(self, label: Array, weight: Array) -> Task:
        """Return what rows of these labels teach: the problems of the state, which the loops go through by number."""
        settings, sign = self.settings, self._code(self.classes.size)
        if self.state is not None and self.state.b.size != sign.shape[1]:
            raise InvalidInput(
                f"What was learned has {self.state.b.size} problems, where multiclass={settings.multiclass!r} has "
                f"{sign.shape[1]} for {self.classes.size} classes. Fit anew."
            )
        costs = class_costs(settings.class_weight, self.classes)
        return make_task(label, sign, settings.multiclass, class_cost=costs, weight=weight, bias=settings.bias)

    def _run_epoch(self, table: Table, task: Task) -> Counts:
        algorithm, problems = self.settings.algorithm, task.sign.shape[1]
        if self.state is None:
            scale = self.settings.rate_scale
            self.state = start_state(
                algorithm, problems, table, self.init, scale, by_pairs=by_pairs(self.settings.multiclass)
            )
        self._check_width(table)
        table = with_dtype(table, self.state.W.dtype)
        self._arrange(table)
        self._make_own()
        joint = is_joint(task.sign, self.settings.multiclass)
        counts, subset = new_counts(1 if joint else problems), used_rows(task.sample_weight)
        shown = EpochArgs(table.rows, task, subset, subset, np.arange(problems), self._eta, counts, joint)
        local = stays_local(shown, algorithm, self.state)
        if self._undos is not None:
            self._undos.append(Snapshot(self.state, table.rows, local=local))
        run_in_pieces(algorithm, shown, self.state, table.entries)
        W, b = self.state.W, self.state.b
        alone = local and isinstance(table.rows, Csr)
        if not (touched_finite(table.rows, W, b) if alone else all_finite(self.state)):
            raise InvalidInput(OVERFLOW.format(dtype=W.dtype) + " Nothing was learned from these rows.")
        counted = Counts(*(column[: self.known] for column in counts)) if self.classes.size else counts
        self.trials += subset.size or table.shape[0]
        self.mistakes += int(counted.mistakes.sum())
        self._planes = self._model = self._journal = None
        return counted

    def _check_width(self, table: Table) -> None:
        """Raise an error for rows that are longer than the weights: no loop may look for weights that there are not.

        Dense rows may be shorter only in a stream of dicts, whose weights have room for more names.
        """
        known, narrow = self.state.W.shape[1], self.columns is None and isinstance(table.rows, Dense)
        if table.shape[1] > known or (narrow and table.shape[1] < known):
            raise InvalidInput(
                f"X has {count(table.shape[1], 'feature')}, what was learned has {known}. Pass the "
                "same columns, or fit anew."
            )

    # ---------------------------------------------------------------------------------------------------- single rows

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row; return whether it was a mistake.

        The same as `learn` with a chunk of one row, with less work around it. A row that makes the weights overflow is
        refused, and nothing of it is learned.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or dict from names to numbers
        y : label
        """
        mistake = self.learn_known(x, y)
        if mistake is not None:
            return mistake
        with self.all_or_nothing():  # a row that is refused leaves none of its names
            if self.state is not None and is_dict(x):
                self._add_names(x)
                mistake = self.learn_known(x, y)
            return self._learn_first(x, y) if mistake is None else mistake

    def learn_known(self, x: Any, y: Any) -> bool | None:
        """Learn from one row, unless its class or one of its names is new; None if so."""
        if self._exposed:
            self._make_own()
        single = self._single or self._prepare_single()
        if single is None:
            return None
        place, trial, learners = single
        try:
            c = place.get(y)
        except TypeError:
            raise InvalidInput(f"y={y!r} is not a label. Pass a number, a text or another hashable value.") from None
        if c is None or (row := self._row(x)) is None:
            return None
        values, columns = row
        learn = learners.get(columns is None)
        if learn is None:
            learn = learners[columns is None] = self.settings.algorithm.row_learner(trial, self.state, row)
        if self._undos is not None:
            self._undos.append(self._undo_of(row))
        mistakes = learn(c, values, columns) if trial.safe else self._learn_noted(learn, c, row)
        if mistakes < 0:
            overflow = OVERFLOW.format(dtype=self.state.W.dtype) + " Nothing was learned from this row."
            raise InvalidInput(NOT_FINITE if mistakes == -1 else overflow)
        self.trials += 1
        self.mistakes += mistakes
        self._planes = self._model = None
        return mistakes > 0

    def _undo_of(self, row: Row) -> Snapshot:
        """Return how to undo a trial of one row."""
        algorithm, state = self.settings.algorithm, self.state
        plain = not isinstance(algorithm, FirstOrder) or not algorithm.penalised
        return Snapshot(state, as_rows(row[0], row[1], state.W), local=plain and algorithm.local)

    def _learn_noted(self, learn: LearnRow, c: int, row: Row) -> int:
        """Present a row and write it down; undo what it did if the weights overflowed."""
        journal = self._journal
        if journal is None:
            journal = self._journal = ReplayLog(self.state)
        mistakes = learn(c, *row)
        if mistakes == -2:
            journal.restore()
        elif mistakes >= 0:
            journal.note(learn, c, row)
        return mistakes

    def _learn_first(self, x: Any, y: Any) -> bool:
        """Learn from the first row of a stream, or of a class."""
        before = self.mistakes
        self.learn(self.row_table(x, grow=True), [y], np.empty(0))
        return self.mistakes > before

    def _prepare_single(self) -> Single | None:
        if self.state is None:
            return None
        self._open()
        self._make_own()
        settings, algorithm = self.settings, self.settings.algorithm
        task = self._task(np.empty(0, np.int32), np.empty(0))
        steps_once = (
            isinstance(algorithm, FirstOrder) and isinstance(algorithm.rule, perceptron) and not algorithm.penalised
        )
        safe = steps_once and task.class_cost.max() * self._eta <= SAFE_COST
        self._single = Single(
            place={label: number for number, label in enumerate(self.classes.tolist())},
            trial=RowTask(task, self._eta, is_joint(task.sign, settings.multiclass), self.known, safe),
            learn={},
        )
        return self._single

    def predict_one(self, x: Any) -> Any:
        """Return the class of a row, or the number in a regression.

        None if the row is not finite, classes are learned by pairs, or all weights must be derived: `problem_scores`
        then says more.
        """
        scorers = self._scorers  # read once: whoever changes what was learned puts another dict there
        row = self._row(x)
        if row is None:  # names that nobody has learned count as zero
            row = self._row(known_part(self.columns or {}, x))
            assert row is not None
        values, columns = row
        score, labels, several = scorers.get(columns is None) or self._make_scorer(scorers, row)
        value = score(values, columns)
        if value != value:
            return None
        return value if labels is None else labels[int(value) if several else value > 0.0]

    def _make_scorer(self, scorers: dict[bool, Scorer], row: Row) -> Scorer:
        classes, pairs = self.classes, by_pairs(self.settings.multiclass) and self.classes.size > 2
        score = None if pairs else self.settings.algorithm.row_scorer(self.known, self.state, row)
        labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
        several = len(labels) > 2
        labels = 2 * labels if len(labels) == 1 else labels
        scorer = scorers[row[1] is None] = Scorer(score or (lambda values, columns: math.nan), labels or None, several)
        return scorer

    def _row(self, x: Any) -> Row | None:
        """Return a row as the compiled calls take it; None if it has a name without a column.

        Those calls do not look at types, which must be just those that they were made for.
        """
        if type(x) is dict:
            if (layout := self._layout) is not None:
                columns, size, values, pack, indices = layout
                if size == len(x) and columns is self.columns:
                    try:
                        return pack(*values(x)), indices
                    except (KeyError, struct.error):  # other names, or a value that is no float
                        pass
            return self._named_row(x)
        W = self.state.W
        if (
            type(x) is np.ndarray
            and x.dtype is W.dtype
            and x.shape == W.shape[1:]
            and x.flags.num & PLAIN == PLAIN
            and self.columns is None
        ):
            return x, None
        if is_dict(x):
            return self._named_row(x)
        rows = with_dtype(self.row_table(x), W.dtype).rows
        if isinstance(rows, Dense):
            return np.require(rows.X[0], W.dtype, ["C", "A"]), None
        # Copies: what is written down must not change with the user's matrix.
        return rows.data.tobytes(), np.array(rows.indices, np.int64)

    def _named_row(self, x: Mapping[str, float]) -> Row | None:
        """Return a dict as the compiled calls take it, and remember where its names are: most rows have the same."""
        columns, dtype = self._own_columns(), self.state.W.dtype
        try:
            layout = layout_of(columns, x, dtype)
        except KeyError:
            return None
        self._layout = layout
        return read_values(layout, x, dtype).tobytes(), layout.indices

    # ------------------------------------------------------------------------------------------------- rows with names

    def row_table(self, x: Any, *, grow: bool = False) -> Table:
        """Return one row as a table.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or dict from names to numbers
        grow : bool
            Whether names that were not there before become columns; else they count as zero.
        """
        if is_dict(x):
            if grow:
                self._add_names(x)
            columns, double = self._own_columns(), np.dtype(np.float64)
            row = named_row(columns, known_part(columns, x), double)
            return Table(row, (1, max(len(columns), 1)), double, check_finite(row))
        if self.columns is not None:
            raise InvalidInput("The rows of this stream are dicts. Pass a dict from names to numbers.")
        sparse = sp.issparse(x)
        given: Any = x if sparse else named_rows.as_row(x)
        single = given.ndim == 1 or (sparse and given.shape[0] == 1)
        if not single or (self.state is not None and given.shape[-1] != self.n_features):
            wanted = "" if self.state is None else f"; the model has {self.n_features} features"
            raise InvalidInput(f"x has shape {given.shape}{wanted}. Pass one row: an array of shape (n_features,).")
        return as_table(given if given.ndim == 2 else given.reshape(1, -1))

    def _own_columns(self) -> Columns:
        """Return the column of each name; none before the first row."""
        if self.columns is None:
            if self.state is not None:
                raise InvalidInput(
                    "The rows of this model are arrays without names. Pass an array, or start a stream with dicts."
                )
            self.columns = {}
        return self.columns

    def _add_names(self, x: Mapping[str, float]) -> None:
        """Let new names become columns, for which the state has room."""
        columns = self._own_columns()
        # Nothing may be left of a row that is refused.
        check_finite(named_row({name: place for place, name in enumerate(x)}, x, np.dtype(np.float64)))
        add_names(columns, x)
        if self.state is not None and len(columns) > self.state.W.shape[1]:
            # Twice as many columns as needed, so that this is rare.
            self.state = self.settings.algorithm.widen(self.state, 2 * len(columns))
            self._forget()

    # --------------------------------------------------------------------------------------------------------- merging

    def merge(self, others: Sequence[Stream], shares: Sequence[float] | None = None) -> Stream:
        """Return a stream whose state is the weighted mean of this one's and others', of the same settings.

        Classes that only some of them know are added to the others first, which changes them.

        Parameters
        ----------
        others : sequence of Stream
        shares : sequence of float, optional
            Weight of each, this stream first; equal by default. They are scaled to add up to one.
        """
        streams = [self, *others]
        weight = np.asarray([1.0] * len(streams) if shares is None else shares, dtype=np.float64)
        if weight.shape != (len(streams),) or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
            raise InvalidInput(f"shares={shares!r} are not {len(streams)} weights from 0 with a positive sum.")
        if not all(self._is_like(stream) for stream in streams):
            raise InvalidInput("Only streams of the same settings and features, which have learned, can be merged.")
        seen = np.unique(np.concatenate([stream.classes for stream in streams]))
        for stream in streams:
            stream.meet(seen)
        algorithm, room = self.settings.algorithm, max(stream.state.W.shape[1] for stream in streams)
        states = [s.state if s.state.W.shape[1] == room else algorithm.widen(s.state, room) for s in streams]
        state = algorithm.merge(states, weight / weight.sum())
        trials, mistakes = sum(s.trials for s in streams), sum(s.mistakes for s in streams)
        return type(self)(self.settings, Learned(seen, state, trials, mistakes, tuple(self.columns or ())))

    def _is_like(self, other: Stream) -> bool:
        """Return whether another stream has learned, by the same settings and about the same features."""
        if self.state is None or other.state is None:
            return False
        same_features = other.columns == self.columns and other.n_features == self.n_features
        return same_features and other.settings == self.settings
