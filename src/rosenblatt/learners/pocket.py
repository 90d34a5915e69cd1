"""The pocket algorithm: the perceptron, and the best of the weights that it passes through (Gallant 1990)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import part_of
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import Csr, Dense, Hyperplanes, add, dot
from rosenblatt.engine.scores import score
from rosenblatt.errors import NotAvailable
from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts, available_when
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import choice
from rosenblatt.storage.registry import stored
from rosenblatt.training.algorithm import (
    Algorithm,
    EpochArgs,
    Integers,
    Matrix,
    Order,
    Vector,
    layout_of,
)

Array = npt.NDArray[Any]

# Entries of rows that are read between two pauses: some milliseconds.
ENTRIES_PER_SLICE = 1 << 24
# Scores that are computed at once: some megabytes, however short the rows are.
SCORES_AT_ONCE = 1 << 20


@stored("Pocket")
class Pocket(NamedTuple):
    """The weights of the perceptron, and the best ones found so far in the pocket."""

    W: Matrix  # in Fortran order where sparse rows have several problems
    b: Vector
    t: Integers
    best_w: Matrix
    best_b: Vector
    run: Integers  # correct trials in a row of W
    best_run: Integers  # and of the pocket
    errors: Annotated[np.ndarray, "d? p"]  # training errors of the pocket; infinite while it is empty
    settled: Integers  # whether an epoch has ended with no fewer errors; every longer run is evaluated from then on


class PocketRoom(NamedTuple):
    """The place at which a loop was interrupted, all zero at first, and room to work in."""

    resume: np.ndarray  # (3,) the trial, the place of the problem among the active ones, the row of an evaluation
    errors: np.ndarray  # (1,) errors counted so far by the evaluation
    vector: np.ndarray  # (1, features) the weights that are evaluated, side by side in memory


@compiled()
def run_pocket_epoch(rows, task, order, subset, active, state, counts, room, most):
    """Run the perceptron with the best weights in the pocket, and a ratchet. Gallant (1990).

    Weights that were right more often in a row than those in the pocket take their place, if they also make fewer
    errors on all rows. They are evaluated when their run ends; if the problem is not settled, by the caller when the
    epoch ends.

    An evaluation takes as long as an epoch. The loop ends after `most` rows, of trials and evaluations together, and
    continues when it is called again. Returns whether all trials are over.
    """
    place = room.resume
    trials = order.size if order.size else task.label.size
    left = most
    while place[0] < trials:
        i = order[place[0]] if order.size else place[0]
        c = task.label[i]
        while place[1] < active.size:
            p = active[place[1]]
            sign = task.sign[c, p]
            if sign == 0:
                place[1] += 1
                continue
            margin = sign * (dot(rows, i, state.W, p) + state.b[p])
            left -= 1
            if margin > 0.0:
                state.t[p] += 1
                state.run[p] += 1
                place[1] += 1
                continue
            left -= consider(rows, task, subset, p, state, room, left)
            if place[2] > 0:
                return False
            state.t[p] += 1
            place[1] += 1
            step = task.cost[c, p]
            if task.sample_weight.size:
                step *= task.sample_weight[i]
            add(rows, i, sign * step, state.W, p)
            state.b[p] += sign * step * task.bias
            state.run[p] = 0
            counts.mistakes[p] += 1
            counts.updates[p] += 1
            counts.loss[p] += max(0.0, -margin)
            counts.step[p] += step
        place[0] += 1
        place[1] = 0
        if left <= 0:
            return place[0] == trials
    return True


@compiled()
def consider(rows, task, subset, p, state, room, most):
    """Put the weights of problem p into the pocket if they belong there; return how many rows that took.

    At most `most` rows at a time, one at least: resume[2] of the room is the row to continue with, or 0 at the end.
    """
    if state.run[p] <= state.best_run[p] or not state.settled[p]:
        return 0
    place, errors, vector = room.resume, room.errors, room.vector
    first, size = place[2], subset.size if subset.size else task.label.size
    last = min(size, first + max(most, 1))
    wrong = errors[0] if first > 0 else 0.0
    place[2] = 0
    if first == 0:
        vector[0] = state.W[p]
    for t in range(first, last):
        i = subset[t] if subset.size else t
        c = task.label[i]
        sign = task.sign[c, p]
        if sign != 0 and not sign * (dot(rows, i, vector, 0) + state.b[p]) > 0.0:
            wrong += task.cost[c, p] * (task.sample_weight[i] if task.sample_weight.size else 1.0)
            if wrong >= state.errors[p]:
                return t - first
    if last < size:
        place[2], errors[0] = last, wrong
        return last - first
    state.errors[p] = wrong
    state.best_run[p] = state.run[p]
    state.best_b[p] = state.b[p]
    state.best_w[p] = state.W[p]
    return last - first


def new_room(state: Pocket) -> PocketRoom:
    """Return the room of a loop that has not begun."""
    return PocketRoom(np.zeros(3, np.int64), np.zeros(1), np.empty((1, state.W.shape[1]), state.W.dtype))


def _rows_per_slice(rows: Dense | Csr) -> int:
    entries, count = (rows.X.size, rows.X.shape[0]) if isinstance(rows, Dense) else (rows.data.size, rows.indptr.size)
    return max(1, ENTRIES_PER_SLICE * count // max(1, entries))


class PocketAlgorithm(Algorithm):
    """The pocket algorithm with ratchet.

    At first nearly every run is longer than the one before, and evaluating its weights takes an epoch. While epochs
    end with fewer and fewer errors, only the weights at their ends are evaluated, for all problems at once, and go into
    the pocket. After the first epoch that ends with no fewer errors, a problem is settled: every longer run is
    evaluated.
    """

    finite_updates = is_sum_of_rows = needs_epoch_end = by_feature = True
    predictor = "the pocket"
    signed: ClassVar[frozenset[str]] = frozenset({"W", "b", "best_w", "best_b"})
    state_class: ClassVar[type] = Pocket
    layout: ClassVar[Mapping[str, str]] = layout_of(Pocket)

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> Pocket:
        """Return zero weights, and an empty pocket."""
        state: Pocket = super().start(problems, features, dtype, order)
        state.best_run[:], state.errors[:] = -1, np.inf
        return state

    def run_epoch(self, args: EpochArgs, state: Pocket, target: Pocket) -> int:
        """Run the pocket loop in slices, so that Ctrl-C works."""
        rows, task, order, subset, active = args[:5]
        room, most = new_room(state), _rows_per_slice(rows)
        while not run_pocket_epoch(rows, task, order, subset, active, state, args.counts, room, most):
            if args.late():
                break
        return int(room.resume[0])

    def end_epoch(self, args: EpochArgs, state: Pocket) -> None:
        """Evaluate the weights that the epoch ended with."""
        settled = state.settled[args.active] > 0
        if not settled.all():
            self._take_better(args, state, args.active[~settled])
        for p in args.active[settled].tolist():
            if not args.counts.updates[p]:
                state.run[p] = max(state.run[p], state.best_run[p] + 1)  # no error at all: whatever ran longer
            if state.run[p] > state.best_run[p]:
                self._consider(args, state, p)

    def _consider(self, args: EpochArgs, state: Pocket, p: int) -> None:
        """Put the weights of a problem into the pocket if they belong there, with pauses."""
        room, most = new_room(state), _rows_per_slice(args.rows)
        consider(args.rows, args.task, args.subset, p, state, room, most)
        while room.resume[2] and not args.late():
            consider(args.rows, args.task, args.subset, p, state, room, most)

    def _take_better(self, args: EpochArgs, state: Pocket, problems: Array) -> None:
        """Put the weights of problems that make fewer errors into the pocket; the others are settled."""
        evaluated = self._errors(args, Hyperplanes(state.W, state.b))
        if evaluated is None:
            return
        wrong, total = evaluated
        better = wrong[problems] < state.errors[problems]
        state.settled[problems[~better]] = 1
        taken = problems[better]
        # Of n trials with a share q of errors, the longest run to be expected has log(n q) / q (Erdos and Renyi 1970).
        # A run of the pocket's own weights is not worth an evaluation; half of that was measured to find better ones.
        share = np.maximum(wrong / np.maximum(total, 1e-300), 1e-300)
        expected = 0.5 * np.log(np.maximum(share * args.size, math.e)) / share
        expected = np.minimum(expected, 1 << 60).astype(np.int64)  # the share may be next to nothing
        state.errors[taken], state.best_run[taken] = wrong[taken], np.maximum(state.run, expected)[taken]
        state.best_w[taken], state.best_b[taken] = state.W[taken], state.b[taken]

    def _errors(self, args: EpochArgs, planes: Hyperplanes) -> tuple[Array, Array] | None:
        """Return the weight of the misclassified rows of each problem, and the total weight; None if out of time."""
        task, wrong, total = args.task, *np.zeros((2, planes.b.size))
        n_rows = args.subset.size or task.label.size
        size = max(1, min(_rows_per_slice(args.rows), SCORES_AT_ONCE) // planes.b.size)
        for first in range(0, n_rows, size):
            if first and args.late():
                return None
            block = part_of(args.subset, first, size, n_rows)
            rows = block if block.size else slice(None)
            sign = task.sign[task.label[rows]]
            found = np.empty(sign.shape, planes.W.dtype)
            score(args.rows, block, planes, found)
            cost = task.cost[task.label[rows]] * (task.sample_weight[rows, None] if task.sample_weight.size else 1.0)
            cost = cost * (sign != 0)
            wrong += (cost * ~(sign * found > 0.0)).sum(axis=0)
            total += cost.sum(axis=0)
        return wrong, total

    def hyperplanes(self, state: Pocket) -> Hyperplanes:
        """Return the weights in the pocket; those of the perceptron while it is empty."""
        empty = np.isinf(state.errors)
        if not empty.any():
            return Hyperplanes(state.best_w, state.best_b)
        W, b = state.best_w.copy(order="K"), state.best_b.copy()
        W[empty], b[empty] = state.W[empty], state.b[empty]
        return Hyperplanes(W, b)


def _no_stream(estimator: Any) -> NoReturn:
    raise NotAvailable(
        "PocketPerceptron looks back at all rows, which a stream does not keep. Use AveragedPerceptron for streams."
    )


class PocketPerceptron(LinearClassifier):
    """The perceptron with its best weights in the pocket: for data that is not separable.

    Runs the perceptron, and keeps the weights with the longest run of correct trials, replaced only by weights that
    also make fewer errors on all rows (the ratchet). The error of the pocket never rises. Rows are drawn at random with
    replacement, ``shuffle="random"``, by default.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    With rows drawn at random the pocket holds optimal weights with a probability that tends to one (Gallant 1990). To
    count the errors of weights on all rows costs an epoch. While every epoch ends with fewer errors than the one
    before, only the weights at its end are evaluated; afterwards those of every run that is longer than half of what
    the pocket's would reach.

    References
    ----------
    Gallant (1990), Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1, 179-191.

    Examples
    --------
    >>> from rosenblatt import PocketPerceptron
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [9.0]], [0, 0, 1, 1, 1, 0]
    >>> round(PocketPerceptron(max_iter=200, tol=None).fit(X, y).score(X, y), 3)
    0.833
    """

    shuffle: shared.Shuffle = choice(
        default="random",
        text="Reshuffle the rows each epoch, present them as they are stored, or draw them with replacement.",
        choices=(True, False, "random"),
        lab=False,
    )
    fit_intercept: bool = shared.FIT_INTERCEPT
    max_iter: int = shared.MAX_ITER
    tol: float | None = shared.TOL
    verbose: int = shared.VERBOSE
    random_state: shared.RandomState = shared.RANDOM_STATE
    n_iter_no_change: int = shared.N_ITER_NO_CHANGE
    max_seconds: float | None = shared.MAX_SECONDS
    callback: shared.Callback = shared.CALLBACK
    class_weight: shared.ClassWeight = shared.CLASS_WEIGHT
    multiclass: shared.Multiclass = shared.MULTICLASS
    intercept_scaling: shared.Padding = shared.INTERCEPT_SCALING
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION

    facts = Facts(
        published=1990,
        does="the best weights found, with a ratchet",
        when="few errors on data that is not separable",
        title="Pocket algorithm",
        rule="pocket",
    )
    modes = ("ovr", "ovo", "ovo-vote")
    without_shards = (
        "A pocket compares weights on all rows, and not on those of a shard. Choose Perceptron, or train "
        "without shards."
    )
    default_keep = "last"

    partial_fit = available_when(_no_stream)(LinearClassifier.partial_fit)
    learn_one = available_when(_no_stream)(LinearClassifier.learn_one)

    def _algorithm(self) -> Algorithm:
        return PocketAlgorithm()
