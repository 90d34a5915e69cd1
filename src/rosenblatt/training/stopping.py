"""When a fit ends: the thresholds, the rules in their order, the margin bound, the search for cycles, and the reasons.

Work is counted in entries of rows, of which a machine processes about one in a nanosecond. It is counted rather than
timed so that the result does not depend on the machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.storage.registry import stored
from rosenblatt.text import count, listed, rounded_up

if TYPE_CHECKING:
    from rosenblatt.prover.certificates.certificate import Certificate
    from rosenblatt.training.algorithm import Algorithm
    from rosenblatt.training.check_separable import SeparabilityCheck
    from rosenblatt.training.plan import Plan
    from rosenblatt.training.trainer import EpochRunner, EpochStats, RunClock, Trainer

Array = npt.NDArray[Any]

# ----------------------------------------------------------------------------------------------------------- thresholds
# "Small sets" are 184 sets of 4 to 1,800 rows and 2 to 300 columns, separable, noisy and random, in three splits each.

# Returning weights are looked for up to this many: copying more takes as long as an epoch. Measured on 100 classes x
# 50,000 features: 23 ms an epoch with copies, 14.5 ms without.
MOST_WATCHED_WEIGHTS = 1 << 20

# A stalled mean loss above this multiple of that of zero weights has diverged. Measured: 3 to 300 give the same ends on
# all small sets (Adaline, SoftMargin).
DIVERGENCE = 10.0

# Cost of an epoch beside its rows, in entries. Measured on sonar (208 x 60): 40 microseconds.
ENTRIES_PER_EPOCH = 4e4
# Work in entries (3 ms) that a stalled part may do if the run has done less: waiting, in a search, and in a proof.
# Measured on the small sets (Perceptron, shuffled and not; 1,101 fits): 2e6 separates 15 fewer in 9 % fewer epochs, 5e6
# 12 more in 15 % more epochs and 1.3 times the time. The accuracy on new rows is the same within 0.02 points.
FREE_ENTRIES = 3e6

# Columns, at most, of rows that are searched, as a search costs their cube. Measured: 64 to 512 give the same ends on
# all small sets.
SEARCH_MAX_WIDTH = 256
# Rows, at most, that are searched: those with the lowest margins. Measured: with 200 rows 52 of 1,101 fits of the small
# sets lose their proof, with 500 one, with 2,000 none wins one.
SEARCHED_ROWS = 1000

# Cost of a proof in entries: for each row, each squared column and, where the support does not span the columns, each
# cubed column (exact facial reduction). Measured: 0.9 ms for 1,000 x 5, 16 ms for 300 x 50, 289 ms for 2,000 x 200,
# 75 ms for 300,000 x 20; reduction 5 ms for 10 columns, 9 ms for 20.
PROOF_ENTRIES_PER_ROW = 200
PROOF_ENTRIES_PER_SQUARED_COLUMN = 7e3
PROOF_ENTRIES_PER_CUBED_COLUMN = 1e4

# Trials that a problem with a kernel may always have, whatever a separator of few rows promises. Measured on the small
# sets (549 fits): with 0 13 fewer are separated, with 10,000 2 more in 19 % more epochs.
FREE_TRIALS = 1000

# Entries between two checks of the clock, for each thread, as compiled code checks neither the clock nor signals: 1 to
# 17 ms. Measured on MNIST, ten classes, four epochs on two threads: 2^22 127 ms, 2^24 108 ms, 2^26 103 ms; one
# thread takes 142 ms with any of them.
ENTRIES_PER_CHECK = 1 << 24
# Seconds after the time limit in which the error of the last weights may still be measured. Chosen, not measured.
GRACE_SECONDS = 0.1

# The error at the end of an epoch, which takes as long as an epoch to measure, is not measured if its mistakes are at
# most this share of the fewest so far (keep="best"). Measured on the small sets: with 0 (always) the accuracy on new
# rows is 0.1 points lower, with 0.95 0.05 points lower.
FAST_FALL = 0.8

# ------------------------------------------------------------------------------------------------------------- the ends


@stored("Stop")
class Stop(Enum):
    """Why a run ended; the value is the reason in short.

    A run whose parts ended differently reports the first of these: they are sorted by what they ask of the user.
    """

    DIVERGED = "the mean loss grew far above that of zero weights"
    CALLBACK = "the callback asked for it"
    SECONDS = "the allowed time was over"
    EPOCHS = "the last allowed epoch was over, with mistakes still being made"
    VALIDATION = "the validation error stopped decreasing"
    TRAINING = "the training error stopped changing"
    INSEPARABLE = "proven not separable: no hyperplane has every row on its side"
    CYCLE = "the weights came back to where they had been: from here the run repeats itself for ever"
    SEPARATED = "every row is on its side: an epoch passed without an update"
    CHUNK = "the chunk of the stream was over"

    @classmethod
    def _missing_(cls, value: object) -> Stop | None:
        """Return the member of this name: a pickle must not depend on the sentences."""
        return cls.__members__.get(str(value))

    def __reduce__(self) -> tuple[Any, ...]:  # for skops, which calls the class
        return type(self), (self.name,)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.__reduce__()


# ------------------------------------------------------------------------------------------------------------ the rules


class StoppingRules:
    """The rules that end a run. Each part (a problem, or all classes of a joint task) ends independently.

    Attributes
    ----------
    active : list of int
        Parts that have not ended.
    stops : dict from int to Stop
        Why the others ended.
    at_rest : list of int
        Parts that no longer change, despite their mistakes.
    cycle : int or None
        Epochs after which the weights returned.
    """

    def __init__(self, plan: Plan, runner: EpochRunner, clock: RunClock) -> None:
        self.plan, self.runner, self.clock = plan, runner, clock
        self.active = list(range(runner.parts))
        self.stops: dict[int, Stop] = {}
        self.at_rest: list[int] = []
        self.cycle: int | None = None
        self.cycle_ends: dict[int, int] = {}  # last epoch of each part whose weights returned
        self.lowest = [math.inf] * runner.parts  # of the figure that must fall
        self.stale = [0] * runner.parts  # epochs without progress

    def after_epoch(self, epoch: int, stats: EpochStats, error: float | None, *, asked: bool) -> None:
        """End parts, each by the first rule that applies, in this order.

        `error` is that of the validation rows, if there are any; `asked` is the answer of the callback.
        """
        self._end(self._without_update(stats))
        self._end(self._returned(epoch))
        if not self.clock.late:
            self._end(self._without_progress(epoch, stats, error))
        if asked:
            self._end(dict.fromkeys(self.active, Stop.CALLBACK))
        if self.clock.late:
            self._end(dict.fromkeys(self.active, Stop.SECONDS))
        if epoch == self.plan.max_iter:
            self._end(dict.fromkeys(self.active, Stop.EPOCHS))

    def end_chunk(self) -> None:
        """End all parts: the rows of a stream are presented once."""
        self._end(dict.fromkeys(self.active, Stop.CHUNK))

    def _end(self, stops: dict[int, Stop]) -> None:
        if stops:
            self.stops |= stops
            self.active = [part for part in self.active if part not in stops]

    def _without_update(self, stats: EpochStats) -> dict[int, Stop]:
        """End parts that an epoch did not change. After an incomplete epoch the other rows are checked, too."""
        if not self.runner.converges_when_clean:
            return {}
        clean = [part for part in self.active if not stats.updates[part]]
        if not stats.complete:
            clean = [part for part in clean if self.runner.fits(part, self.clock)]
        # A mistake causes no update if the row has had its maximum of updates, or if the rule ignores it.
        self.at_rest += [part for part in clean if stats.mistakes[part]]
        return {part: Stop.TRAINING if stats.mistakes[part] else Stop.SEPARATED for part in clean}

    def _returned(self, epoch: int) -> dict[int, Stop]:
        """End parts whose weights came back. For keep="last", in the epoch with the weights of the last one allowed."""
        returned = {} if self.runner.cycle is None else self.runner.cycle.back(self.active)
        for part, length in returned.items():
            if part not in self.cycle_ends:
                self.cycle = length
                left = (self.plan.max_iter - epoch) % length
                self.cycle_ends[part] = epoch + (left if self.plan.keep == "last" else 0)
        return {part: Stop.CYCLE for part in self.active if self.cycle_ends.get(part, math.inf) <= epoch}

    def _without_progress(self, epoch: int, stats: EpochStats, error: float | None) -> dict[int, Stop]:
        """End parts whose figure has stalled: the validation error, or else the mean loss with its penalty.

        A perceptron may still separate the rows after its loss has stalled: `give_up` decides how long to wait. With
        tol=None nothing ends here, but a diverged loss is reported after the last epoch.
        """
        runner, plan = self.runner, self.plan
        if runner.validates and error is None:  # there was no time to measure it
            return {}
        objective = runner.objective(stats)
        stalled = self._stalled(objective if error is None else [error] * runner.parts)
        high = [part for part in self.active if not objective[part] <= DIVERGENCE * runner.zero_loss]
        ended = [part for part in high if part in stalled or not math.isfinite(objective[part])]
        diverged = dict.fromkeys(ended, Stop.DIVERGED)
        if plan.tol is None:
            return diverged if epoch == plan.max_iter else {}
        stalled = [part for part in stalled if part not in diverged]
        if runner.validates:
            return diverged | dict.fromkeys(stalled, Stop.VALIDATION)
        return diverged | (runner.give_up(stalled, plan.tol, epoch, self.clock) if stalled else {})

    def _stalled(self, figures: list[float]) -> list[int]:
        """Return the parts whose figure was not at least `tol` below its lowest value for `n_iter_no_change` epochs."""
        for part, figure in enumerate(figures):
            self.stale[part] = self.stale[part] + 1 if figure > self.lowest[part] - (self.plan.tol or 0.0) else 0
            self.lowest[part] = min(self.lowest[part], figure)
        return [part for part in self.active if self.stale[part] >= self.plan.n_iter_no_change]


# --------------------------------------------------------------------------------------------------------------- cycles


class Cycle:
    """Brent's search for weights that return to an earlier value at the end of an epoch, in constant memory.

    The problems of a joint task return together.
    """

    def __init__(self, W: Array, b: Array, *, joint: bool = False) -> None:
        self.W, self.b, self.joint = np.atleast_2d(W), np.atleast_1d(b), joint
        self.mark = self.W.copy(order="K"), self.b.copy()  # the earlier weights that are compared with
        self.power, self.length = 1, 1

    def back(self, parts: list[int]) -> dict[int, int]:
        """Return the parts whose weights have returned, and after how many epochs; advance to the next epoch."""
        same, length = self.returned(), self.length
        back = [part for part in parts if (same.all() if self.joint else same[part])]
        self.advance()
        return dict.fromkeys(back, length)

    def returned(self) -> Array:
        """Return for each problem whether its weights are those of `length` epochs ago."""
        W, b = self.mark
        same = np.asarray(self.b == b)
        first, size = 0, 1
        # All problems at once, in memory order, until each differs somewhere: usually within a few features.
        while same.any() and first < W.shape[1]:
            block = slice(first, first + size)
            same &= (self.W[:, block] == W[:, block]).all(axis=1)
            first, size = first + size, 4 * size
        return same

    def advance(self) -> None:
        """Advance to the next epoch."""
        if self.length == self.power:
            self.mark[0][...], self.mark[1][...] = self.W, self.b  # in place: one copy at a time
            self.power, self.length = 2 * self.power, 0
        self.length += 1


# ----------------------------------------------------------------------------------------------- when to stop waiting


class MarginBound:
    """Upper bounds on the margin of any separator, and when to give up waiting for one.

    A separator of unit norm with margin g gains at least g in each update, so that g <= |w - w0| / (sum of the steps):
    the mistakes of a run bound the margin. A search for a short point in the convex hull of the signed rows gives a
    sharper bound; if the point is the origin itself, exactly, nothing separates the rows.

    Parameters
    ----------
    W, b : array
        The weights in training, one row for each problem.
    parts : int
        Problems, or 1 for all classes of a joint task.
    bias : float
        Square of the constant that pads each row; 0 without a bias.
    radius : float
        Largest norm of a row, the constant included.
    entries : int
        Entries of all rows.
    search : callable or None
        Takes a part, the work so far in entries and the seconds left; returns a `SeparabilityCheck`.
    certifies : bool
        Whether the search may find a certificate.
    """

    def __init__(
        self,
        W: Array,
        b: Array,
        parts: int,
        *,
        bias: float,
        radius: float,
        entries: int,
        search: Callable[[int, float, float], SeparabilityCheck] | None = None,
        certifies: bool = False,
    ) -> None:
        self.W, self.b, self.bias, self.radius = W, b, bias, radius
        self.origin = (W.astype(float), b.astype(float)) if b.any() or W.any() else None  # most runs start at zero
        self.joint = parts == 1 and b.size > 1
        self.epoch_cost = entries + ENTRIES_PER_EPOCH
        self.search, self.certifies = search, certifies
        self.certificate: Certificate | None = None
        self.steps = np.zeros(parts)  # summed over the run
        self.lowest = np.full(parts, np.inf)
        self.stalled: dict[int, int] = {}  # epoch in which each part first stalled
        self.next_search: dict[int, int] = {}

    def add(self, step: Array) -> None:
        """Add the steps of an epoch, summed for each part."""
        self.steps += step

    def observe(self) -> list[float]:
        """Update the bounds with the weights as they are; return that of each part."""
        W, b = (self.W, self.b) if self.origin is None else (self.W - self.origin[0], self.b - self.origin[1])
        squares = np.einsum("pj,pj->p", W, W, dtype=float) + np.square(b, dtype=float) / (self.bias or 1.0)
        lengths = np.sqrt(squares.sum(keepdims=True) if self.joint else squares)
        moved = self.steps > 0
        self.lowest[moved] = np.minimum(self.lowest[moved], lengths[moved] / self.steps[moved])
        bounds: list[float] = self.lowest.tolist()
        return bounds

    def give_up(self, parts: list[int], tol: float, epoch: int, clock: RunClock) -> dict[int, Stop]:
        """Return the stalled parts that end: no separator exists, its margin is tiny, or finding it takes too long.

        A part is searched when it stalls and whenever its epochs have doubled. It may wait for the time that it had
        learned before it stalled, or for `FREE_ENTRIES`, whichever is longer.
        """
        self.observe()
        ends = {}
        for part in parts:
            if clock.late:
                break
            since = self.stalled.setdefault(part, epoch)
            unsettled = self.certifies or self.lowest[part] > tol * self.radius
            if self.search is not None and unsettled and epoch >= self.next_search.get(part, 0):
                self.next_search[part] = 2 * epoch
                check = self.search(part, epoch * self.epoch_cost, clock.left)
                self.lowest[part] = min(self.lowest[part], check.margin_bound)
                self.certificate = check.certificate
            if self.certificate is not None:
                ends[part] = Stop.INSEPARABLE
            elif self.lowest[part] <= tol * self.radius or epoch - since >= max(since, FREE_ENTRIES / self.epoch_cost):
                ends[part] = Stop.TRAINING
        return ends


# ---------------------------------------------------------------------------------------------------------- the reasons

# Templates of the reason for each end, by the kind of training. `totals` is empty unless there is a single problem,
# `proof` unless the run has proved a bound on the margin. `beyond` is advice for rows that no hyperplane separates,
# without remedies that the run has already tried. An epoch without an update is about the last weights and the rows
# that were learned from: `under` and `rows` say so if others predict (an average, a vote, the weights of an earlier
# epoch), or if rows were held out or have no weight.
Words = dict[Stop, str]

_SHARED_WORDS: Words = {
    Stop.SECONDS: Stop.SECONDS.value + " ({seconds} s, in epoch {epochs}): allow more of it, or take fewer rows",
    Stop.VALIDATION: Stop.VALIDATION.value + ": {patience} in a row did not lower it{by}",
    Stop.DIVERGED: Stop.DIVERGED.value + " ({loss:.3g} in epoch {epochs}, against {zero_loss:.3g}): {remedy}",
    Stop.CALLBACK: Stop.CALLBACK.value + ", after epoch {epochs}",
    Stop.CYCLE: "{cycle}; {beyond}",
    Stop.INSEPARABLE: Stop.INSEPARABLE.value + ", as {support} of the rows prove (after {after}); {beyond}",
    Stop.CHUNK: Stop.CHUNK.value + " (rows: {trials}, mistakes: {mistakes}): the stream can continue",
}
PERCEPTRON_WORDS = _SHARED_WORDS | {
    Stop.SEPARATED: "{under}{rows} is on its side: an epoch passed without an update{totals}",
    Stop.EPOCHS: Stop.EPOCHS.value + " ({mistakes} in epoch {epochs}){fewer_mistakes}",
    Stop.TRAINING: Stop.TRAINING.value + ": {patience} in a row did not lower the mean loss{by}{proof}",
}
BATCH_WORDS = PERCEPTRON_WORDS | {
    Stop.SEPARATED: "{under}{rows} is on its side: no row was left to correct{totals}",
    Stop.EPOCHS: "the last allowed epoch was over, with {wrong} still misclassified{fewer_mistakes}",
    Stop.TRAINING: Stop.TRAINING.value
    + ": {patience} in a row did not lower the share of misclassified rows{by}{proof}",
}
UNBOUNDED_KERNEL_WORDS = PERCEPTRON_WORDS | {
    Stop.TRAINING: "no progress in {patience} in a row: the mean loss did not fall{by}, or the mistakes are so many "
    "that a separator would promise nothing of new rows{proof}; if the rows are noisy, margin=4 and max_updates=8 may "
    "help",
}
AT_REST = (
    "an epoch passed without an update, but not without mistakes: they are of rows that the rule does not move the "
    "weights for, and more epochs would change nothing"
)
LIMITED_KERNEL_WORDS = PERCEPTRON_WORDS | {
    Stop.TRAINING: "no update was left to make: every row has its margin, or has been updated as often as a row may be",
}
LOSS_WORDS = _SHARED_WORDS | {
    Stop.SEPARATED: "{under}{rows} has the required margin: an epoch passed without an update{totals}",
    Stop.EPOCHS: "the last allowed epoch was over, with a mean loss of {loss:.3g} in it{less_loss}",
    Stop.TRAINING: "{objective} stopped falling: {patience} in a row did not lower it{by}",
}
REGRESSION_WORDS = LOSS_WORDS | {
    Stop.SEPARATED: "{under}{rows} has no loss: an epoch passed without an update{totals}",
    Stop.CHUNK: Stop.CHUNK.value + " (rows: {trials}, mean loss: {loss:.3g}): the stream can continue",
}


def words_for(algorithm: Algorithm, *, regression: bool = False, batch: bool = False) -> Words:
    """Return the templates for training an algorithm."""
    if regression:
        return REGRESSION_WORDS
    if not algorithm.finite_updates:
        return LOSS_WORDS
    return BATCH_WORDS if batch else PERCEPTRON_WORDS


# A figure still falls if its mean over the last third of the epochs is at most this share of that over the second
# third. Fewer epochs are too few for that.
FALL, LEAST_EPOCHS = 0.95, 10
# Margins below this share of the radius are rounding.
LEAST_SHARE = 1e-9
NARROW = ", and no {plane} separates the rows{share}"
CYCLE_PROVED = (
    "no {plane} separates the rows: the weights came back to where they had been, so that the updates in between "
    "add up to zero and the run repeats itself, {every}"
)
CYCLE_COMPUTED = (
    "the weights came back to where they had been, and the run repeats itself, {every}: as computed, no {plane} "
    "separates the rows, and certify decides it without rounding"
)


def falls(figures: Sequence[float]) -> bool:
    """Return whether a figure fell until the last epoch; of few epochs, whether any is below the first."""
    if len(figures) < LEAST_EPOCHS:
        return len(figures) == 1 or min(figures[1:]) < figures[0]
    third = len(figures) // 3
    return sum(figures[-third:]) <= FALL * sum(figures[-2 * third : -third])


def outlook(mistakes: Sequence[int], losses: Sequence[float], beyond: str, *, past_best: bool) -> dict[str, str]:
    """Return what to expect from more epochs, judging by mistakes and by losses.

    `past_best`: an earlier epoch had the fewest errors, so more epochs would not help.
    """
    in_vain = "more epochs will hardly help"
    if past_best:
        return dict.fromkeys(("fewer_mistakes", "less_loss"), f", and an earlier one had fewer errors: {in_vain}")
    return {
        "fewer_mistakes": ": allow more epochs" if falls(mistakes) else f", and no longer fewer: {in_vain}; {beyond}",
        "less_loss": ": allow more epochs" if falls(losses) else f", and it no longer falls: {in_vain}",
    }


def by_part(
    stops: tuple[Stop, ...], names: Sequence[Any], noun: tuple[str, str], sentence: Callable[[Stop], str]
) -> str:
    """Return how the parts of a run ended, with the names of the parts for each end.

    Parameters
    ----------
    stops : tuple of Stop
        How each part ended.
    names : sequence
        Names of the parts; empty if they have none.
    noun : (str, str)
        Noun for one part and for several.
    sentence : callable
        Returns the reason for an end.

    Returns
    -------
    str
        Without a full stop.
    """
    ways = [stop for stop in Stop if stop in stops]
    if len(stops) == 1 or ways == [Stop.CHUNK]:
        return sentence(ways[0])
    if len(ways) == 1:
        return f"all {count(len(stops), *noun)}: {sentence(ways[0])}"
    parts = []
    for way in ways:
        ended = [number for number, stop in enumerate(stops) if stop is way]
        called = f" ({listed(names[number] for number in ended)})" if names else ""
        parts.append(f"{len(ended)} of {count(len(stops), *noun)}{called}: {sentence(way)}")
    return "; ".join(parts)


def reason(run: Trainer, stops: tuple[Stop, ...], bounds: Sequence[float]) -> str:
    """Return why a run ended, as a sentence with its figures.

    Parameters
    ----------
    stops : tuple of Stop
        How each part ended.
    bounds : sequence of float
        Upper bound on the margin of any separator of each part, as the run has proved.
    """
    runner = run.runner

    def sentence(stop: Stop) -> str:
        ended = [part for part, end in enumerate(stops) if end is stop]
        at_rest = (
            stop is Stop.TRAINING and set(ended) <= set(run.rules.at_rest) and runner.words is not LIMITED_KERNEL_WORDS
        )
        words = AT_REST if at_rest else runner.words[stop]
        return _sentence(run, stop, max(bounds[part] for part in ended), words)

    reason = by_part(stops, runner.names, runner.noun, sentence)
    if run.kept < len(run.mistakes) or (run.best is not None and set(stops) != {Stop.SEPARATED}):
        reason += f"; the weights of epoch {run.kept} are kept, the best of {len(run.mistakes)}"
    return reason + (_prediction(run) if set(stops) == {Stop.SEPARATED} else "") + "."


def _prediction(run: Trainer) -> str:
    """Return how the predictor does on the rows, if it is not the weights that have every row on its side."""
    what = run.runner.predictor or "the kept weights" * (run.kept < len(run.mistakes))
    if not what:
        return ""
    wrong = run.runner.misses()
    if wrong is None:
        return f"; {what}, by which the model predicts, may err on some of them"
    return f"; {what}, by which the model predicts, {f'errs on {wrong}' if wrong else 'errs on none'} of them"


def _sentence(run: Trainer, stop: Stop, bound: float, words: str) -> str:
    epochs, certificate = len(run.mistakes), run.runner.certificate
    share = bound / (run.runner.radius or 1.0)
    above = f" with a margin above {rounded_up(share, 2)} of their radius"
    figures = {
        "totals": f" ({count(run.updates, 'update')} in {count(epochs, 'epoch')})" * (run.runner.parts == 1),
        "under": "under the last weights, " * bool(run.runner.predictor or run.kept < epochs),
        "rows": "every row that was learned from" if run.runner.leaves_out else "every row",
        "objective": "the mean loss with its penalty" if run.runner.penalised else "the mean loss",
        "epochs": epochs,
        "after": count(epochs, "epoch"),
        "trials": run.trials,
        "mistakes": run.mistakes[-1],
        "wrong": count(run.mistakes[-1], "row"),
        "loss": run.losses[-1],
        "zero_loss": run.runner.zero_loss,
        "remedy": run.runner.remedy,
        "seconds": run.plan.max_seconds,
        "patience": count(run.plan.n_iter_no_change, "epoch"),
        "by": f" by {run.plan.tol:g}" if run.plan.tol else "",
        "beyond": run.runner.beyond,
        "every": "every epoch" if run.rules.cycle == 1 else f"every {run.rules.cycle} epochs",
        "plane": run.runner.plane,
        "share": above if share > LEAST_SHARE else ", as computed",
        "support": 0 if certificate is None else len(certificate.support),
    }
    figures |= outlook(run.mistakes, run.losses, run.runner.beyond, past_best=run.kept < epochs)
    if stop is Stop.CYCLE:
        figures["cycle"] = (CYCLE_PROVED if run.runner.cycle_proves() else CYCLE_COMPUTED).format(**figures)
    figures["proof"] = NARROW.format(**figures) if np.isfinite(share) else ""
    return words.format(**figures)
