"""Single rows of a stream: a loop over one row, called without a look at the types of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.rows import Task
from rosenblatt.engine.single import as_rows, is_sound, touched_finite
from rosenblatt.training.algorithm import Algorithm, EpochArgs, new_counts

Array = npt.NDArray[Any]
# A dense row is an array and None. A sparse one is the bytes of its values, made in less than half the time of an array
# of them, and their columns.
Row = tuple[Array, None] | tuple[bytes, Array]
LearnRow = Callable[[int, Any, Array | None], int]
ScoreRow = Callable[[Any, Array | None], float]


class RowTask(NamedTuple):
    """What the next row of a stream teaches, whatever its class."""

    task: Task  # without a label
    eta: float
    joint: bool
    known: int  # problems whose mistakes count; those of the reserve class come after them
    safe: bool = False  # whether no row can make the weights overflow


def bind(loop: Any, fixed: tuple[Any, ...], *examples: Any) -> Callable[..., Any]:
    """Return a compiled loop as a function of its last arguments, which must be of the types of the examples.

    Numba looks at the types of all arguments of each call, which takes 3 to 10 us for a NamedTuple of NamedTuples. Here
    they are known beforehand: the code for them is asked for once, and called without a further look.
    """
    if not hasattr(loop, "compile"):  # the JIT is off: the loop is plain Python, and returns NumPy's numbers
        return lambda *rest: np.asarray(loop(*fixed, *rest)).item()
    from numba import typeof

    return partial(loop.compile(tuple(map(typeof, (*fixed, *examples)))), *fixed)


def bind_row_loop(loop: Any, how: tuple[Any, ...], trial: RowTask, state: tuple[Any, ...], row: Row) -> LearnRow:
    """Return a compiled loop over a single row as a function of its class, its values and their columns."""
    task = trial.task
    return bind(loop, (*how, trial.known, task.sign, task.cost, task.class_cost, task.bias, *state), 0, *row)


def interpreted_learner(algorithm: Algorithm, trial: RowTask, state: Any) -> LearnRow:
    """Return a function of a class and a row that calls `Method.present`, for methods without a loop of their own."""

    def learn(c: int, values: Any, columns: Array | None) -> int:
        rows = as_rows(values, columns, state.W)
        if not is_sound(rows, state.W):
            return -1
        problems, every = state.b.size, np.empty(0, np.int32)
        counts = new_counts(1 if trial.joint else problems)
        task = trial.task._replace(label=np.array([c], np.int32))
        shown = EpochArgs(rows, task, every, every, np.arange(problems), trial.eta, counts, trial.joint)
        algorithm.run_epoch(shown, state, state)
        finite = touched_finite(rows, state.W, state.b)
        return int(counts.mistakes[: trial.known].sum()) if finite else -2

    return learn
