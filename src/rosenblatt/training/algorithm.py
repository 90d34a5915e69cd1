"""The interface between training and a learning algorithm: which loop runs, on which state, which weights result.

A state is a NamedTuple of arrays with one row per problem. Training copies, grows and splits it by problem without
knowing what else the algorithm keeps in it. The first three arrays are always W, b and t: weights, biases, trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, get_type_hints

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.data.table import Table
from rosenblatt.engine import scores as loops
from rosenblatt.engine.frame import run_epoch
from rosenblatt.engine.rows import Counts, Csr, Hyperplanes, Task
from rosenblatt.engine.single import as_rows, is_sound, learn_state_row, score_row, touched_finite
from rosenblatt.errors import InvalidInput
from rosenblatt.storage.checks import check_layout
from rosenblatt.storage.registry import Fault, expect

Array = npt.NDArray[Any]
Order = Literal["C", "F"]
# A single row. A dense one is an array and None. A sparse one is the bytes of its values, which take less than half the
# time of an array to make, and their columns.
Row = tuple[Array, None] | tuple[bytes, Array]
# Arrays of a state for p problems and d features, each with its layout: see `rosenblatt.storage.checks.check_layout`.
Matrix: TypeAlias = Annotated[np.ndarray, "f pd"]  # in the dtype of the rows
Vector: TypeAlias = Annotated[np.ndarray, "f p"]
Doubles: TypeAlias = Annotated[np.ndarray, "d p"]
Integers: TypeAlias = Annotated[np.ndarray, "l p"]
LearnRow = Callable[[int, Any, Array | None], int]
ScoreRow = Callable[[Any, Array | None], float]

# Up to this size NumPy reads all weights faster than a compiled loop is loaded.
FEW_WEIGHTS = 1 << 12
# A state, and the weights derived from it while it learns or predicts.
COPIES = 2.0


def never() -> bool:
    """Return False: there is no time limit."""
    return False


class EpochArgs(NamedTuple):
    """The arguments of an epoch's loop, except the state."""

    rows: Any
    task: Task
    order: Array  # rows to present, in this order; empty: all, as they are stored
    subset: Array  # rows of the task that are trained on; empty: all
    active: Array  # problems that learn
    eta: float
    counts: Counts
    joint: bool
    late: Callable[[], bool] = never  # whether to end early, for loops that can

    @property
    def size(self) -> int:
        """Number of rows presented."""
        return int(self.order.size or self.task.label.size)


class RowTask(NamedTuple):
    """The task of the next row of a stream, whatever its class."""

    task: Task  # without a label
    eta: float
    joint: bool
    known: int  # problems whose mistakes count; those of the reserve class come after them
    safe: bool = False  # whether no row can make the weights overflow


def layout_of(state_class: type) -> dict[str, str]:
    """Return the layout of each array of a state, from the annotations of its fields."""
    return {name: hint.__metadata__[0] for name, hint in get_type_hints(state_class, include_extras=True).items()}


def order_of(W: Array) -> Order:
    """Return the memory order of a matrix; C if it is both."""
    return "F" if W.flags.f_contiguous and not W.flags.c_contiguous else "C"


def best_order(algorithm: Algorithm, problems: int, table: Table, *, by_pairs: bool) -> Order:
    """Return the memory order of the weights that is fastest for the rows of a table.

    For sparse rows, the weights of one feature are neighbours across problems: an entry touches the fewest cache lines.
    For dense rows, the weights of one problem are neighbours.
    """
    several = problems > 1 and not by_pairs
    return "F" if several and algorithm.by_feature and isinstance(table.rows, Csr) else "C"


def all_finite(planes: Any) -> bool:
    """Return whether all weights and biases are finite."""
    if planes.W.size <= FEW_WEIGHTS:
        # A finite sum of squares proves it, and is faster to compute than np.isfinite.
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


@contextmanager
def refuse_replaced() -> Iterator[None]:
    """Report a `Fault` in learned arrays as the error of a user who has replaced them."""
    try:
        yield
    except Fault as fault:
        raise InvalidInput(
            f"The learned arrays were replaced: {str(fault).removesuffix('. Fit again')}. Fit again."
        ) from None


class Algorithm:
    """A learning algorithm, as training sees it."""

    # Whether separable rows cause finitely many updates, so that training may wait for an epoch without one.
    finite_updates: bool = False
    # Whether an epoch without an update changes nothing, so that further epochs would not either.
    converges_when_clean: bool = True
    # Whether w = w0 + sum of steps times signed rows. Then any separator's margin is at most |w - w0| / (sum of the
    # steps).
    is_sum_of_rows: bool = False
    local_updates: bool = True  # whether an update changes the weights of the row's nonzero features only
    # Whether the weights that predict are computed from the state, as an average is, rather than stored in it.
    derives_weights: bool = False
    needs_epoch_end: bool = False  # whether `end_epoch` must be called with all rows of an epoch
    penalised: bool = False  # whether the objective includes a penalty
    # Loss of zero weights on a row, for a target of one; infinite if a growing loss is harmless.
    zero_loss: float = np.inf
    remedy: str = "scale the data, for example with StandardScaler"  # advice against weights that diverge
    # Whether the loops process all problems of a feature at once if sparse rows have weights in Fortran order.
    by_feature: bool = False
    predictor: str = ""  # noun for what predicts, if not the last weights; else empty
    linear: bool = True  # whether each problem has one weight vector
    state_class: ClassVar[type]  # class of the state
    # Type and possible shapes of each array, for p problems, d features and e = d + 1: see
    # `rosenblatt.storage.checks.check_layout`.
    layout: ClassVar[Mapping[str, str]]
    # Arrays of the state whose sign changes if positive and negative examples are swapped.
    signed: ClassVar[frozenset[str]] = frozenset({"W", "b"})

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has. Algorithms of the same kind can continue each other's states."""
        return (type(self).__name__,)

    # ------------------------------------------------------------------------------------------------------ the state

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> Any:
        """Return the state before the first trial, here of zeros, with its matrices in C or Fortran order."""
        sizes = {"p": problems, "d": features, "e": features + 1}
        dtypes = {"f": dtype, "d": np.float64, "l": np.int64}
        layouts = map(str.split, self.layout.values())
        return self.state_class(
            *(np.zeros([sizes[side] for side in shape], dtypes[kind[0]], order) for kind, shape, *_ in layouts)
        )

    def check_arrays(self, state: Any, *, finite: bool = False) -> None:
        """Raise a `Fault` unless the loops can read the arrays of a state: their types, shapes and memory orders."""
        expect(type(state) is self.state_class, f"the state is not a {self.state_class.__name__}")
        # Arrays of a subclass are fine: those of a model that joblib has mapped into memory.
        expect(all(isinstance(array, np.ndarray) for array in state), "the state has values that are not arrays")
        shaped = state.W.ndim == 2 and state.b.ndim == 1
        expect(shaped, f"the state has weights of shape {state.W.shape} and biases of shape {state.b.shape}. Fit again")
        problems, features = state.W.shape
        check_layout(state, self.layout, {"p": problems, "d": features, "e": features + 1}, finite=finite)
        for name, array in state._asdict().items():
            expect(array.flags.forc and array.flags.aligned, f"{name} of the state has gaps in memory. Fit again")
            alike = array.ndim != 2 or array.shape != state.W.shape or order_of(array) == order_of(state.W)
            expect(alike, f"{name} of the state has another memory order than its weights. Fit again")

    def check_state(self, state: Any) -> None:
        """Raise a `Fault` unless a state from a file is sound: its arrays, and what is in them."""
        self.check_arrays(state, finite=True)
        expect(np.all(state.t >= 0), "the state has seen fewer than no trials")

    def grow(self, state: Any, change: Array) -> Any:
        """Return the state of more problems, each an old one, an old one with its sign changed, or a new one.

        `change` has one row for each new problem and one column for each old one, with at most one entry, 1 or -1, in
        a row.
        """
        source = np.abs(change).argmax(axis=1)
        fresh = ~change.any(axis=1)
        sign = change[np.arange(change.shape[0]), source]
        grown = copy_state(self.start(change.shape[0], state.W.shape[1], state.W.dtype, order_of(state.W)))
        for name, old, new in zip(state._fields, state, grown, strict=True):
            factor = sign if name in self.signed else np.ones_like(sign)
            taken = old[source] * factor.reshape(-1, *[1] * (old.ndim - 1)).astype(old.dtype)
            new[~fresh] = taken[~fresh]
        return grown

    def widen(self, state: Any, features: int) -> Any:
        """Return the state of more features, the new ones as they are before the first trial."""
        wider = copy_state(self.start(state.b.size, features, state.W.dtype, order_of(state.W)))
        for old, new in zip(state, wider, strict=True):
            new[tuple(slice(size) for size in old.shape)] = old
        return wider

    def rescale(self, state: Any, factor: float) -> None:
        """Multiply the weights by a factor, in place, when the unit of the weights changes with the rate."""
        for name in self.signed:
            array = getattr(state, name)
            array *= array.dtype.type(factor)

    def merge(self, states: Sequence[Any], share: Array) -> Any:
        """Return the mean of several states, each with its share."""
        raise InvalidInput(f"No meaningful mean of states of {type(self).__name__} is known. Train one stream.")

    def settle(self, state: Any) -> None:
        """Make a state with assigned weights predict by them, as if they had lasted for one trial."""

    # --------------------------------------------------------------------------------------------------------- epochs

    def begin_epoch(self, epoch: int, problems: Any, state: Any) -> None:
        """Prepare the state for an epoch of the problems that learn."""

    def run_epoch(self, args: EpochArgs, state: Any, target: Any) -> int:
        """Present rows; read from `state`, write to `target` (another one for batch updates); return how many."""
        raise NotImplementedError

    def end_epoch(self, args: EpochArgs, state: Any) -> None:
        """Finish an epoch, after all its rows; `args` has its counts."""

    def trial_cost(self, entries: int, features: int, problems: int) -> int:
        """Return roughly how many numbers a trial reads, for a row with this many entries."""
        return entries * problems

    def rate_scale(self, eta: float) -> float:
        """Return the unit of the weights: the learning rate if it only scales them, which keeps integer sums exact."""
        return 1.0

    # ---------------------------------------------------------------------------------------------------- single rows

    def row_learner(self, trial: RowTask, state: Any, row: Row) -> LearnRow:
        """Return a function of a class and the values and columns of a row, which makes a state learn the row.

        `row` is an example of its arguments: the types of its arrays must never change. It returns the mistakes of the
        known problems; -1 if the row is not finite and nothing was learned; -2 if the weights overflowed. This one runs
        an epoch of one row, for algorithms without a loop for single rows.
        """

        def learn(c: int, values: Any, columns: Array | None) -> int:
            rows = as_rows(values, columns, state.W)
            if not is_sound(rows, state.W):
                return -1
            problems, every = state.b.size, np.empty(0, np.int32)
            counts = new_counts(1 if trial.joint else problems)
            task = trial.task._replace(label=np.array([c], np.int32))
            args = EpochArgs(rows, task, every, every, np.arange(problems), trial.eta, counts, trial.joint)
            self.run_epoch(args, state, state)
            finite = touched_finite(rows, state.W, state.b)
            return int(counts.mistakes[: trial.known].sum()) if finite else -2

        return learn

    def row_scorer(self, known: int, state: Any, row: Row) -> ScoreRow | None:
        """Return a function of the values and columns of a row, like `score_row`; None if the weights are derived."""
        if self.derives_weights:
            return None
        planes = self.hyperplanes(state)
        return bind(score_row, (known, planes.W, planes.b, *6 * (None,)), *row)

    # -------------------------------------------------------------------------------------------------------- weights

    def hyperplanes(self, state: Any) -> Hyperplanes:
        """Return the weights that predict."""
        return Hyperplanes(state.W, state.b)

    def penalty_of(self, state: Any) -> Array | None:
        """Return the penalty if it can be computed without deriving the weights, and they are finite; else None."""
        return None

    def penalty_value(self, planes: Hyperplanes) -> Array | float:
        """Return the penalty of each problem's weights."""
        return 0.0


def bind(loop: Any, fixed: tuple[Any, ...], *examples: Any) -> Callable[..., Any]:
    """Return a compiled loop as a function of its last arguments, which must have the types of the examples.

    Numba inspects the types of all arguments of each call, which takes 3 to 10 us for nested NamedTuples. Here they are
    known beforehand: the code for them is looked up once, and called without inspection.
    """
    if not hasattr(loop, "compile"):  # the JIT is off: the loop is plain Python, and returns NumPy scalars
        return lambda *rest: np.asarray(loop(*fixed, *rest)).item()
    from numba import typeof

    return partial(loop.compile(tuple(map(typeof, (*fixed, *examples)))), *fixed)


def bind_row_loop(loop: Any, how: tuple[Any, ...], trial: RowTask, state: tuple[Any, ...], row: Row) -> LearnRow:
    """Return a compiled loop over a single row as a function of its class, its values and their columns."""
    task = trial.task
    return bind(loop, (*how, trial.known, task.sign, task.cost, task.class_cost, task.bias, *state), 0, *row)


class TrialAlgorithm(Algorithm):
    """An algorithm that keeps more than a sum of rows: its rule has a trial in `rosenblatt.engine.frame.TRIALS`."""

    rule: Any

    def run_epoch(self, args: EpochArgs, state: Any, target: Any) -> int:
        """Run the trial of the rule for each row."""
        run_epoch(self.rule, args.rows, args.task, args.order, args.active, state, args.counts)
        return args.size

    def row_learner(self, trial: RowTask, state: Any, row: Row) -> LearnRow:
        """Return a function that runs one trial, in a single compiled call."""
        return bind_row_loop(learn_state_row, (self.rule,), trial, (state,), row)


def has_columns(array: Array, features: int) -> bool:
    """Return whether an array of a state has a column for each feature."""
    return array.ndim == 2 and array.shape[1] == features


def state_bytes(algorithm: Algorithm, problems: int, features: int, dtype: npt.DTypeLike) -> float:
    """Return the memory that a state takes, extrapolated from a small one by its layout."""
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
    """Return a state with the initial weights (w0, b0), or the algorithm's own start if `init` is None.

    The weights are in units of `rate_scale`. If problems are `by_pairs`, a row teaches a few of them instead of all.
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
        W0, b0 = check_start(init, problems, features)
        state.W[:], state.b[:] = W0 / rate_scale, b0 / rate_scale
    return state


def check_start(init: Any, n_problems: int, n_features: int) -> tuple[Array, Array]:
    """Return an initial (w0, b0) as arrays for every problem; raise an error if it does not fit."""
    shape = (n_problems, n_features)
    try:
        w0, b0 = (np.asarray(part, dtype=np.float64) for part in init)
        if w0.shape not in (shape, shape[1:]):
            raise ValueError(f"w0 has shape {w0.shape}")
        W0, b0 = np.broadcast_to(w0, shape), np.broadcast_to(b0, shape[:1])
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"init is not a pair (w0, b0) with w0 of shape {shape} and b0 of shape {shape[:1]}: {error}."
        ) from None
    if not (np.isfinite(W0).all() and np.isfinite(b0).all()):
        raise InvalidInput("init has values that are not finite. Start from finite weights.")
    return W0, b0
