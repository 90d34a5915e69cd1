"""The trainer: epochs, the best weights, the record. A runner presents the rows of each epoch.

The rows are a table in memory (`rosenblatt.training.runner`), chunks of a file (`chunked`), shards (`sharded`), or
objects with a kernel (`rosenblatt.kernels.runner`).
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.jit import compile_seconds
from rosenblatt.text import count
from rosenblatt.training.multiclass import part_names
from rosenblatt.training.plan import Epoch, Plan, Run
from rosenblatt.training.stopping import (
    FAST_FALL,
    GRACE_SECONDS,
    Cycle,
    MarginBound,
    Stop,
    StoppingRules,
    Words,
    reason,
)

if TYPE_CHECKING:
    from rosenblatt.prover.certificates.certificate import Certificate

Array = npt.NDArray[Any]


class RunClock:
    """Seconds since the start, and whether a time limit is over. Compiling does not count against the limit."""

    def __init__(self, limit: float | None) -> None:
        self.start, self.limit = time.perf_counter(), limit
        self.compiled = compile_seconds()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def left(self) -> float:
        """Seconds up to the limit; negative afterwards, infinite without one."""
        if self.limit is None:
            return math.inf
        return self.limit - (self.seconds - (compile_seconds() - self.compiled))

    @property
    def late(self) -> bool:
        """Whether the limit is over."""
        return self.limit is not None and self.left < 0.0

    @property
    def overdue(self) -> bool:
        """Whether the grace period after the limit is over, too."""
        return self.limit is not None and self.left < -GRACE_SECONDS


class EpochStats(NamedTuple):
    """The counts of an epoch, one for each part."""

    mistakes: list[int]
    updates: list[int]
    loss: list[float]  # summed over the trials
    trials: int
    complete: bool  # whether every row was presented


class EpochRunner:
    """Presents rows in epochs, and answers the trainer's questions about them.

    Parameters
    ----------
    plan : Plan
    problems : int
        Binary problems that learn.
    multiclass : str
    names : tuple
        Labels of the classes; empty for none.
    together : bool
        Whether the problems end together without being joint.
    """

    parts: int  # problems, which end one by one; or 1 for all classes of a joint task
    counted: int  # parts that the record counts; those of the reserve class come after them
    n_rows: int  # rows of an epoch
    # Whether an epoch without an update changes nothing, so that further epochs would not either.
    converges_when_clean: bool = True
    validates: bool = False  # whether the error is measured on rows that are not trained on
    words: Words  # template of the reason for each end
    # Mean loss of zero weights, which a diverging loss is compared with; infinite if a growing loss is harmless.
    zero_loss: float = np.inf
    remedy: str = "scale the data"  # advice against weights that diverge
    plane: str = "hyperplane"  # noun for what separates the rows
    # Advice for rows that cannot be separated.
    beyond: str = "a kernel (KernelPerceptron) or a soft margin (SoftMargin) may help"
    names: tuple[Any, ...] = ()  # names of the parts; empty if they have none
    noun: tuple[str, str] = ("problem", "problems")  # noun for one part and for several
    predictor: str = ""  # noun for what predicts, if not the last weights; else empty
    leaves_out: bool = False  # whether some rows are not learned from: held out, or without weight
    penalised: bool = False  # whether the objective includes a penalty
    cycle: Cycle | None = None  # looks for weights that return
    bound: MarginBound | None = None  # on the margin of any separator, by the run's own mistakes

    def __init__(
        self, plan: Plan, problems: int, multiclass: str, names: tuple[Any, ...] = (), *, together: bool = False
    ) -> None:
        self.plan, self.multiclass = plan, multiclass
        self.joint = multiclass == "joint" and problems > 1
        self.parts = self.counted = 1 if self.joint or together else problems
        if self.parts > 1 and names:
            self.names, self.noun = part_names(names, multiclass)
        if problems > 1 and multiclass == "ovo":
            self.predictor = "the sum of the scores of all pairs"

    def run_epoch(self, epoch: int, active: list[int], clock: RunClock) -> EpochStats:
        """Present every row once to the active parts, or as many rows as there is time for."""
        raise NotImplementedError

    def fits(self, part: int, clock: RunClock) -> bool:
        """Return whether every row is on its side; False if there is no time to check."""
        raise NotImplementedError

    def objective(self, stats: EpochStats) -> list[float]:
        """Return for each part the figure that must fall: the mean loss."""
        return [loss / self.n_rows for loss in stats.loss]

    def give_up(self, parts: list[int], tol: float, epoch: int, clock: RunClock) -> dict[int, Stop]:
        """Return the stalled parts that end, and why: those that waiting will hardly separate."""
        if self.bound is None:
            return dict.fromkeys(parts, Stop.TRAINING)
        return self.bound.give_up(parts, tol, epoch, clock)

    def cycle_proves(self) -> bool:
        """Return whether all sums are exact, so that returning weights prove that nothing separates the rows."""
        return False

    def error(self, clock: RunClock) -> float | None:
        """Return the share of wrong rows, by weight, on the validation rows if there are any; None if out of time."""
        raise NotImplementedError

    def snapshot(self) -> Any:
        """Return a copy of what was learned."""
        raise NotImplementedError

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot."""
        raise NotImplementedError

    def weights(self) -> tuple[Array, Array]:
        """Return a copy of the weights and biases, at the learning rate of the plan."""
        raise NotImplementedError

    def learned(self) -> Any:
        """Return a copy of all that was learned, which later epochs leave as it is."""
        raise NotImplementedError

    @property
    def radius(self) -> float:
        """Largest norm of a row."""
        raise NotImplementedError

    def margin_bounds(self) -> list[float]:
        """Return for each part an upper bound on the margin of any separator, as the run has proved; else inf."""
        return [np.inf] * self.parts if self.bound is None else self.bound.observe()

    @property
    def certificate(self) -> Certificate | None:
        """The proof that two classes cannot be separated, if the run has found one."""
        return None if self.bound is None else self.bound.certificate

    def misses(self) -> int | None:
        """Return how many of the rows that were learned from the model predicts wrongly; None if that takes long."""
        return None


class Trainer:
    """A run in progress: run an epoch, keep the best weights, apply the stopping rules, write the record."""

    def __init__(self, plan: Plan, runner: EpochRunner, clock: RunClock | None = None) -> None:
        self.clock = RunClock(plan.max_seconds) if clock is None else clock
        self.plan, self.runner = plan, runner
        self.rules = StoppingRules(plan, runner, self.clock)
        self.best: Any = None
        self.fewest, self.kept = np.inf, 0
        self.fewest_mistakes = math.inf  # in an epoch
        self.candidate = True  # whether the weights of the last epoch could become the best
        self.mistakes: list[int] = []
        self.losses: list[float] = []
        self.errors: list[float | None] = []  # None: not measured
        self.updates = self.trials = 0

    def run(self) -> Run:
        """Train until every part has ended; return the record."""
        while self.rules.active:
            self._epoch(len(self.mistakes) + 1)
        if self.best is not None and not self.candidate:
            self._keep_best(len(self.mistakes))
            if self.errors[-1] is None:
                self.best = None  # out of time while mistakes decreased fast: the last weights are better
        return self._record()

    def run_chunk(self) -> Run:
        """Present the rows once, as a chunk of a stream; return the record."""
        self._run_epoch(1)
        self.rules.end_chunk()
        return self._record()

    def _run_epoch(self, number: int) -> EpochStats:
        stats, counted = self.runner.run_epoch(number, self.rules.active, self.clock), self.runner.counted
        self.mistakes.append(sum(stats.mistakes[:counted]))
        self.losses.append(sum(stats.loss[:counted]) / self.runner.n_rows)
        self.updates += sum(stats.updates[:counted])
        self.trials += stats.trials
        return stats

    def _epoch(self, number: int) -> None:
        if self.plan.before_epoch is not None:
            self.plan.before_epoch(number)
        stats = self._run_epoch(number)
        self._measure(number, stats)
        callback = self.plan.callback
        asked = callback is not None and bool(callback(self._report(number, stats)))
        self.rules.after_epoch(number, stats, self.errors[-1] if self.runner.validates else None, asked=asked)

    def _measure(self, number: int, stats: EpochStats) -> None:
        """Measure the error at the end of the epoch, if something depends on it, and keep the best weights.

        It takes about as long as an epoch. While mistakes decrease fast, the next weights will be better: those in
        between are not candidates, whether or not a callback needs their error.
        """
        if not self.runner.validates and self.plan.keep != "best":
            return
        self.errors.append(None)
        mistakes = self.mistakes[-1] * self.runner.n_rows / max(stats.trials, 1)  # an epoch may be cut short
        self.candidate = self.runner.validates or mistakes > FAST_FALL * self.fewest_mistakes
        self.fewest_mistakes = min(self.fewest_mistakes, mistakes)
        if self.candidate:
            self._keep_best(number)
        elif self.plan.callback is not None:
            self.errors[-1] = self.runner.error(self.clock)

    def _keep_best(self, number: int) -> None:
        """Measure the error, and keep the weights if they are the best so far."""
        self.errors[-1] = error = self.runner.error(self.clock)
        if error is not None and self.plan.keep == "best" and error <= self.fewest:
            self.fewest, self.kept = error, number
            self.best = self.runner.snapshot()

    def _report(self, number: int, stats: EpochStats) -> Epoch:
        error = self.errors[-1] if self.errors else None
        seconds = self.clock.seconds
        coef, intercept = self.runner.weights()
        mistakes, updates, loss = self.mistakes[-1], sum(stats.updates), self.losses[-1]
        return Epoch(number, mistakes, updates, loss, error, seconds, coef, intercept, self._learned)

    def _learned(self) -> tuple[Any, Run]:
        """Return what was learned, and the record, as if the callback ended the run here."""
        stops = tuple(self.rules.stops.get(part, Stop.CALLBACK) for part in range(self.runner.parts))
        epochs = len(self.mistakes)
        return self.runner.learned(), self._run(stops, f"{count(epochs, 'epoch')} of a fit that went on.", epochs)

    def _record(self) -> Run:
        """Go back to the best weights if the plan keeps them, and return the record."""
        stops = tuple(self.rules.stops[part] for part in range(self.runner.parts))
        bounds = self.runner.margin_bounds()
        bound = min(bounds)
        separated = not self.runner.validates and set(stops) == {Stop.SEPARATED}
        if self.best is None or separated:
            self.kept = len(self.mistakes)
        else:
            self.runner.restore(self.best)
        return self._run(stops, reason(self, stops, bounds), self.kept, bound if np.isfinite(bound) else None)

    def _run(self, stops: tuple[Stop, ...], reason: str, kept: int, ceiling: float | None = None) -> Run:
        return Run(
            mistakes=tuple(self.mistakes),
            losses=tuple(self.losses),
            errors=() if all(error is None for error in self.errors) else tuple(self.errors),
            updates=self.updates,
            epochs=len(self.mistakes),
            trials=self.trials,
            seconds=self.clock.seconds,
            stop=next(stop for stop in Stop if stop in stops),
            reason=reason,
            stops=stops,
            kept=kept,
            cycle=self.rules.cycle,
            radius=self.runner.radius,
            ceiling=ceiling,
            certificate=self.runner.certificate,
            single_pass=self.plan.first_pass(self.mistakes, self.trials),
        )
