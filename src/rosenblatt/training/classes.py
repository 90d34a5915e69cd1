"""Sparse rows of several classes, whose weights lie feature by feature: how an epoch of them is run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import part_of
from rosenblatt.engine.classes import add_waiting, run_classes, run_joint_classes
from rosenblatt.engine.epoch import Learner, Weights
from rosenblatt.training.algorithm import EpochArgs, order_of
from rosenblatt.training.first_order import CACHED_BYTES

Array = npt.NDArray[Any]

# Steps of trials that wait until they are added to the lag. There must be so many entries of rows for each feature, or
# the lag is not read and written less often; and so many problems, or to sort the entries takes longer.
WAITING_STEPS = 1 << 19
ENTRIES_PER_FEATURE, MANY_PROBLEMS = 0.5, 24


def run_many_classes(rule: Any, learner: Learner, shown: EpochArgs, state: Weights, into: Weights) -> None:
    """Present sparse rows to several problems, all problems of a row at once."""
    if shown.joint:
        run_joint_classes(rule, learner, shown.rows, shown.task, shown.order, state, into, shown.counts)
        return
    target, products = None if into is state else into, np.empty(state.b.size, state.b.dtype)
    for order, steps in _parts(learner, shown, into):
        task, active = shown.task, shown.active
        run_classes(rule, learner, shown.rows, task, order, active, state, target, shown.counts, products, steps)


def _parts(learner: Learner, shown: EpochArgs, into: Weights) -> Iterator[tuple[Array, Array]]:
    """Yield the rows of a pass in parts, each with zero steps to present it with, which are added to the lag then.

    Where sparse rows of several problems find a lag that no cache holds, those of many trials are added at once.
    """
    lag, (problems, features) = into.lag, into.lag.shape
    # A scale of zero moves what is in the weights to the lag, which must have all of its own by then.
    fastest = 1.0 / (learner.strength * (learner.start + 1 + into.t.min())) if learner.strength else learner.rate
    several = lag.nbytes > CACHED_BYTES and order_of(lag) == "F" and problems >= MANY_PROBLEMS
    several = several and learner.l2 * fastest < 1.0
    size, n_rows = max(1, WAITING_STEPS // problems), shown.size
    entries = shown.rows.data.size / max(1, shown.rows.indptr.size - 1) * min(size, n_rows) if several else 0
    if entries < ENTRIES_PER_FEATURE * features:
        yield shown.order, np.zeros((2, problems))
        return
    place = np.empty(features + 1, shown.rows.indptr.dtype)
    first, last = shown.active[0], shown.active[-1] + 1
    for start in range(0, n_rows, size):
        order = part_of(shown.order, start, size, n_rows)
        steps = np.zeros((1 + (order.size or n_rows), problems))
        yield order, steps
        count = np.diff(shown.rows.indptr)[order].sum() if order.size else shown.rows.data.size
        rooms = place, np.empty(count, np.int32), np.empty(count, shown.rows.data.dtype)
        add_waiting(shown.rows, order, steps[1:], lag.T, first, last, *rooms)
