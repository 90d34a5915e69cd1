"""The learning methods: which loop runs, on which state, and what weights the state stands for.

A state is a NamedTuple of arrays with a row for each problem, so that problems can be copied, shared among threads
and grown, whatever the method keeps of them. The first three are always W, b and t: weights, biases, trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.data.table import Table
from rosenblatt.engine import scores as loops
from rosenblatt.engine.rows import Counts, Csr, Hyperplanes, Task
from rosenblatt.engine.single import score_row
from rosenblatt.errors import InvalidInput

if TYPE_CHECKING:
    from rosenblatt.training.single_row import LearnRow, Row, RowTask, ScoreRow

Array = npt.NDArray[Any]
Order = Literal["C", "F"]

# Weights that NumPy looks through in less time than it takes to load a compiled loop.
FEW_WEIGHTS = 1 << 12
# A state, and what is made of it while it learns or when it predicts.
COPIES = 2.0


def never() -> bool:
    """Return False: there is no time limit."""
    return False


class EpochArgs(NamedTuple):
    """One presentation of rows: everything a loop needs beside the state."""

    rows: Any
    task: Task
    order: Array  # the rows to present, in their order; empty: all as they are stored
    subset: Array  # all rows of the task that are trained on; empty: every one
    active: Array  # the problems that learn
    eta: float
    counts: Counts
    joint: bool
    late: Callable[[], bool] = never  # whether to end before all rows are presented, where the loop can

    @property
    def size(self) -> int:
        """How many rows are presented."""
        return int(self.order.size or self.task.label.size)


def as_hyperplanes(W: Array, b: Array) -> Hyperplanes:
    """Return weights and biases as the loops take them."""
    return Hyperplanes(W, b, np.ones(b.size))


def order_of(W: Array) -> Order:
    """Return the order in which a matrix lies in memory; C if it lies in both."""
    return "F" if W.flags.f_contiguous and not W.flags.c_contiguous else "C"


def best_order(algorithm: Algorithm, problems: int, table: Table, *, by_pairs: bool) -> Order:
    """Return the order of the weights that the rows of a table are learned fastest with.

    Sparse rows find the weights of all problems for one of their features side by side: each entry then touches as few
    cache lines as can be. In dense rows the features of one problem are neighbours.
    """
    several = problems > 1 and not by_pairs
    return "F" if several and algorithm.by_feature and isinstance(table.rows, Csr) else "C"


def all_finite(planes: Any) -> bool:
    """Return whether all weights and biases are finite."""
    if planes.W.size <= FEW_WEIGHTS:
        # A sum of squares is finite only if each is, and takes less time than to ask each.
        W = planes.W.ravel("K")
        if math.isfinite(np.vdot(W, W)) and math.isfinite(np.vdot(planes.b, planes.b)):  # `@` would warn of an overflow
            return True
        return bool(np.isfinite(W).all() and np.isfinite(planes.b).all())
    W = planes.W.T if order_of(planes.W) == "F" else planes.W
    return bool(loops.all_finite(W, planes.b))


def new_counts(parts: int) -> Counts:
    """Return counts of zero."""
    return Counts(*np.zeros((2, parts), np.int64), *np.zeros((2, parts)))


def copy_state(source: Any, target: Any = None, part: slice = slice(None)) -> Any:
    """Copy the rows of `part` of every array of a state, into `target` or into new arrays."""
    if target is None:
        return type(source)(*(array[part].copy(order="K") for array in source))
    for old, new in zip(source, target, strict=True):
        new[part] = old[part]
    return target


class Algorithm:
    """What training needs to know of a way to learn.

    Attributes
    ----------
    finite : bool
        Whether separable data ends the updates after finitely many, so that it is worth waiting.
    rests : bool
        Whether an epoch without an update leaves everything as it was, so that more of them would too.
    additive : bool
        Whether the weights are their start plus a sum of steps times signed rows, so that the steps bound the margin.
    looks_back : bool
        Whether something is due at the end of an epoch, with all its rows.
    zero_loss : float
        Loss of weights of zero on a row, for a target of one; infinite where a loss may grow without harm.
    remedy : str
        What to do against weights that grow without end.
    by_feature : bool
        Whether the loops look at all problems of a feature at once, if sparse rows find their weights side by side.
    derived : bool
        Whether the weights that a state stands for must be computed, as those of an average.
    predictor : str
        What predicts, where it is not the last weights; else empty.
    linear : bool
        Whether it is one weight vector for each problem.
    """

    finite: ClassVar[bool] = False
    converges_when_clean: ClassVar[bool] = True
    is_sum_of_rows: ClassVar[bool] = False
    needs_epoch_end: ClassVar[bool] = False
    zero_loss: ClassVar[float] = np.inf
    remedy: ClassVar[str] = "scale the data, for example with StandardScaler"
    by_feature: ClassVar[bool] = False
    derived: ClassVar[bool] = False
    predictor: ClassVar[str] = ""
    linear: ClassVar[bool] = True
    local: ClassVar[bool] = True  # whether an update changes the weights of the row's own features only
    # Class of the state, and its arrays: the type, then the shapes that are possible, for p problems and d features,
    # e = d + 1. See `rosenblatt.storage.checks.check_layout`.
    state_class: ClassVar[type]
    layout: ClassVar[Mapping[str, str]]

    # Arrays of the state that change their sign when positive and negative examples change places.
    signed: ClassVar[frozenset[str]] = frozenset({"W", "b"})

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> Any:
        """Return the state before the first trial, with its matrices in C or Fortran order."""
        raise NotImplementedError

    def check_state(self, state: Any) -> None:
        """Raise a `Fault` unless the arrays of a state from a file are those that the loops may read."""
        from rosenblatt.training.starts import check_stored

        check_stored(self, state)

    def run_epoch(self, shown: EpochArgs, state: Any, into: Any) -> int:
        """Present rows; read from `state`, write `into` (the same unless updates are batched); return how many."""
        raise NotImplementedError

    def trial_cost(self, entries: int, features: int, problems: int) -> int:
        """Return about how many numbers a trial reads, of a row of so many entries."""
        return entries * problems

    def begin_epoch(self, epoch: int, problems: Any, state: Any) -> None:
        """Do what is due before the first row of an epoch, for the problems that learn."""

    def end_epoch(self, shown: EpochArgs, state: Any) -> None:
        """Do what is due when all rows of an epoch have been presented; `shown` has the counts of the epoch."""

    def row_learner(self, trial: RowTask, state: Any, row: Row) -> LearnRow:
        """Return a function of a class and the values and columns of a row, that lets a state learn it.

        `row` is an example of what it will be called with: the types of its arrays must never change. It returns the
        mistakes of the known problems; -1 if the row is not finite, and then nothing was learned; -2 if the weights
        overflowed.
        """
        from rosenblatt.training.single_row import interpreted_learner

        return interpreted_learner(self, trial, state)

    def row_scorer(self, known: int, state: Any, row: Row) -> ScoreRow | None:
        """Return a function of the values and columns of a row, as `score_row`; None if all weights must be derived."""
        if self.derived:
            return None
        from rosenblatt.training.single_row import bind

        planes = self.hyperplanes(state)
        return bind(score_row, (known, planes.W, planes.b, *6 * (None,)), *row)

    def hyperplanes(self, state: Any) -> Hyperplanes:
        """Return the weights that the state stands for."""
        return as_hyperplanes(state.W, state.b)

    def settle(self, state: Any) -> None:
        """Let a state with assigned weights stand for them, as if they had been there for a trial."""

    def rate_scale(self, eta: float) -> float:
        """Return the rate that the weights are in units of, so that a constant rate need not disturb exact sums."""
        return 1.0

    def penalty_of(self, state: Any) -> Array | None:
        """Return the penalty if it can be told before the weights are derived, and they are finite; else None."""
        return None

    def penalty_value(self, planes: Hyperplanes) -> Array | float:
        """Return the penalty of each problem's weights."""
        return 0.0

    def grow(self, state: Any, change: Array) -> Any:
        """Return the state of more problems, each an old one, an old one with its sign changed, or a new one."""
        from rosenblatt.training.starts import grown

        return grown(self, state, change)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has: a state can be continued by methods of the same kind."""
        return (type(self).__name__,)

    def merge(self, states: Sequence[Any], share: Array) -> Any:
        """Return a state that stands for several, each with its share."""
        raise InvalidInput(
            f"Mixing the states of {type(self).__name__} has no meaning that is known. Train one stream."
        )

    def widen(self, state: Any, features: int) -> Any:
        """Return the state of more features, the new ones as they are before the first trial."""
        from rosenblatt.training.starts import widened

        return widened(self, state, features)

    def rescale(self, state: Any, factor: float) -> None:
        """Multiply the weights by a factor, in place, as where they come to be in units of another rate."""
        for name in self.signed:
            array = getattr(state, name)
            array *= array.dtype.type(factor)


def state_bytes(algorithm: Algorithm, problems: int, features: int, dtype: npt.DTypeLike) -> float:
    """Return how much memory a state takes, by the layout that a small one has."""
    sides = {"p": (2, problems), "d": (3, features), "e": (4, features + 1)}
    total = 0.0
    for name, array in algorithm.start(2, 3, dtype)._asdict().items():
        shapes = algorithm.layout[name].split()[1:]
        small = next(s for s in shapes if array.shape == tuple(sides[k][0] if k in sides else int(k) for k in s))
        total += array.itemsize * math.prod(float(sides[k][1] if k in sides else int(k)) for k in small)
    return total


def start_state(
    algorithm: Algorithm, problems: int, table: Table, init: Any, rate_scale: float, *, by_pairs: bool = False
) -> Any:
    """Return a state with the initial weights (w0, b0), or with those of the method where `init` is None.

    Each row of a table teaches all problems, or with `by_pairs` a few of them.
    """
    features, order = table.shape[1], best_order(algorithm, problems, table, by_pairs=by_pairs)
    if 4.0 * problems * (features + 1) ** 2 > FEW_WEIGHTS:  # else any state fits
        check_memory(
            COPIES * state_bytes(algorithm, problems, features, table.dtype),
            f"To learn {problems} problems with {features} features",
            "Use fewer features or classes, or float32.",
        )
    state = algorithm.start(problems, features, table.dtype, order)
    if init is not None:
        from rosenblatt.training.starts import check_start

        W0, b0 = check_start(init, problems, features)
        state.W[:], state.b[:] = W0 / rate_scale, b0 / rate_scale
    return state
