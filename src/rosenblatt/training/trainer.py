"""The trainer: epochs, the best weights, the record. Presenting the rows is the presenter's job.

A `Presenter` shows the rows of an epoch to whatever learns from them, and says what an end means in its `words`.
`stopping.StoppingRules` decides when to end.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.jit import compile_seconds
from rosenblatt.errors import InvalidInput
from rosenblatt.training.algorithm import Algorithm, all_finite, copy_state
from rosenblatt.training.plan import Epoch, Plan, Run
from rosenblatt.training.stopping import (
    FAST_FALL,
    GRACE_SECONDS,
    MOST_WATCHED_WEIGHTS,
    MarginBound,
    Stop,
    StoppingRules,
)

if TYPE_CHECKING:
    from rosenblatt.prover.certificates.certificate import Certificate
    from rosenblatt.training.cycle import Cycle
    from rosenblatt.training.reasons import Words

Array = npt.NDArray[Any]


class Clock:
    """Time since the start, and whether a limit is over. To compile does not count against the limit."""

    def __init__(self, limit: float | None) -> None:
        self.start, self.limit = time.perf_counter(), limit
        self.compiled = compile_seconds()

    @property
    def seconds(self) -> float:
        """Time since the start."""
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
        """Whether even the grace after the limit is over."""
        return self.limit is not None and self.left < -GRACE_SECONDS


class EpochStats(NamedTuple):
    """What happened in an epoch, with a count for each part."""

    mistakes: list[int]
    updates: list[int]
    loss: list[float]  # summed over the trials
    trials: int
    complete: bool  # whether every row was presented


class EpochRunner:
    """What a trainer asks of rows that are presented in epochs.

    Attributes
    ----------
    parts : int
        What ends by itself: problems, or one joint task.
    counted : int
        Parts that the record counts; those of the reserve class come after them.
    n_rows : int
        Rows of an epoch.
    rests : bool
        Whether an epoch without an update leaves everything as it was, so that more of them would too.
    validates : bool
        Whether the error is measured on rows that are not trained on.
    words : mapping from Stop to str
        What an end means here.
    zero_loss : float
        Mean loss of weights of zero, from which a loss that diverges is told; infinite where a loss may grow unharmed.
    remedy : str
        What to do against weights that grow without end.
    plane : str
        What separates here.
    proof : str
        What a bound on the margin means here.
    beyond : str
        What to try where nothing separates the rows.
    names : tuple
        What the parts are called; empty if they have no names.
    noun : (str, str)
        What a part is, and several of them.
    certificate : Certificate or None
        The proof that two classes cannot be separated, if the run has found one.
    predictor : str
        What predicts, where it is not the last weights; else empty.
    leaves_out : bool
        Whether there are rows that nothing is learned from: held out, or without weight.
    penalised : bool
        Whether the figure that must fall includes a penalty.
    """

    parts: int
    counted: int
    n_rows: int
    converges_when_clean: bool = True
    validates: bool = False
    words: Words
    zero_loss: float = np.inf
    remedy: str = "scale the data"
    plane: str = "hyperplane"
    proof: str = ", and no {plane} separates the rows{share}"
    beyond: str = "a kernel (KernelPerceptron) or a soft margin (SoftMargin) may help"
    names: tuple[Any, ...] = ()
    noun: tuple[str, str] = ("problem", "problems")
    certificate: Certificate | None = None
    predictor: str = ""
    leaves_out: bool = False
    penalised: bool = False

    def run_epoch(self, epoch: int, active: list[int], clock: Clock) -> EpochStats:
        """Present every row once to the active parts, or as many as the clock allows."""
        raise NotImplementedError

    def fits(self, part: int, clock: Clock) -> bool:
        """Return whether every row is on its side; False where the clock leaves no time to find out."""
        raise NotImplementedError

    def objective(self, shown: EpochStats) -> list[float]:
        """Return for each part the figure that must fall: the mean loss."""
        return [loss / self.n_rows for loss in shown.loss]

    def give_up(self, parts: list[int], tol: float, epoch: int, clock: Clock) -> dict[int, Stop]:
        """Return which of the stalled parts end, and why; here all of them, as nothing is gained by waiting."""
        return dict.fromkeys(parts, Stop.TRAINING)

    def returned(self, active: list[int]) -> dict[int, int]:
        """Return parts whose weights are back where they were so many epochs ago; called once per epoch."""
        return {}

    def cycle_proves(self) -> bool:
        """Return whether all sums are exact, so that a return of the weights proves that nothing separates."""
        return False

    def error(self, clock: Clock) -> float | None:
        """Return the share of wrong rows, by weight, on the validation rows if there are any.

        None where the clock leaves no time to measure it.
        """
        raise NotImplementedError

    def snapshot(self) -> Any:
        """Return a copy of what was learned."""
        raise NotImplementedError

    def restore(self, snapshot: Any) -> None:
        """Go back to what was learned when the snapshot was taken."""
        raise NotImplementedError

    def weights(self) -> tuple[Array, Array]:
        """Return a copy of the weights and biases, at the learning rate that was asked for."""
        raise NotImplementedError

    @property
    def radius(self) -> float:
        """Largest norm of a row."""
        raise NotImplementedError

    def margin_bounds(self) -> list[float]:
        """Return the largest margin that a separator of each part can have, as far as the run has proved; else inf."""
        return [np.inf] * self.parts

    def misses(self) -> int | None:
        """Return how many of the rows that were learned from the model predicts wrongly; None: that takes too long."""
        return None


class LinearRunner(EpochRunner):
    """A presenter whose state is the weights of a `Method`; `planes` are those that predict, derived from it."""

    algorithm: Algorithm
    plan: Plan
    multiclass: str
    joint: bool
    rate_scale: float
    state: Any
    derived: Any = None
    penalty: Any = 0.0
    copied: Any = None
    cycle: Cycle | None = None
    bound: MarginBound | None = None

    def _watch(self) -> None:
        """Notice a return of the weights, where they can return (all epochs are alike) and are not too many."""
        alike = self.plan.order == "cyclic" and self.plan.schedule == "constant"
        if alike and self.algorithm.finite and self.state.W.size <= MOST_WATCHED_WEIGHTS:
            from rosenblatt.training.cycle import Cycle

            self.cycle = Cycle(self.state.W, self.state.b)

    @property
    def planes(self) -> Any:
        """The weights that predict."""
        if self.derived is None:
            self.derived = self.algorithm.hyperplanes(self.state)
        return self.derived

    def _derive(self, epoch: int) -> None:
        """Look at the weights that predict after an epoch, which are derived when they are asked for."""
        if self.derived is not None and self.derived.W is not self.state.W:  # else it is the state, and up to date
            self.derived = None
        self.penalty = self.algorithm.penalty_of(self.state)
        if self.penalty is None:
            self.penalty = self.algorithm.penalty_value(self.planes)
            if not all_finite(self.planes):
                raise InvalidInput(f"The weights overflowed {self.planes.W.dtype} in epoch {epoch}: {self.remedy}.")

    @property
    def penalised(self) -> bool:  # type: ignore[override]
        """Whether the figure that must fall includes a penalty."""
        return not isinstance(self.penalty, float)

    @property
    def predictor(self) -> str:  # type: ignore[override]
        """What predicts, where it is not the last weights of each problem."""
        added = self.parts > 1 and self.multiclass == "ovo"
        return self.algorithm.predictor or "the sum of the scores of all pairs" * added

    def objective(self, shown: EpochStats) -> list[float]:
        """Return the mean loss of each part, with its penalty."""
        # At zero weights the loss of a batch is zero, which no later epoch can improve on; its errors can fall.
        figures = shown.mistakes if self.plan.batch else shown.loss
        if isinstance(self.penalty, float):
            return [figure / self.n_rows for figure in figures]
        values = [float(np.sum(self.penalty))] if self.joint else np.asarray(self.penalty).tolist()
        return [figure / self.n_rows + value for figure, value in zip(figures, values, strict=True)]

    def returned(self, active: list[int]) -> dict[int, int]:
        """Return parts whose weights are back where they were so many epochs ago."""
        return {} if self.cycle is None else self.cycle.back(active, self.joint)

    def give_up(self, parts: list[int], tol: float, epoch: int, clock: Clock) -> dict[int, Stop]:
        """Return which of the stalled parts end, and why: those that a wait will hardly separate."""
        if self.bound is None:
            return super().give_up(parts, tol, epoch, clock)
        return self.bound.give_up(parts, tol, epoch, clock)

    def margin_bounds(self) -> list[float]:
        """Return the largest margin that a separator of each part can have, as the run's mistakes prove."""
        return super().margin_bounds() if self.bound is None else self.bound.observe()

    def snapshot(self) -> Any:
        """Return a copy of the state, in the place of an earlier one: they may be large, and only the last is used."""
        self.copied = copy_state(self.state, self.copied)
        return self.copied

    def restore(self, snapshot: Any) -> None:
        """Put a copy of the state back."""
        copy_state(snapshot, self.state)
        self.derived = None

    def weights(self) -> tuple[Array, Array]:
        """Return the weights at the learning rate that was asked for."""
        rate = self.planes.W.dtype.type(self.rate_scale)
        return self.planes.W * rate, self.planes.b * rate


class Trainer:
    """A run in progress: present an epoch, keep the best weights, ask the stopping rules, write the record."""

    def __init__(self, plan: Plan, runner: EpochRunner, clock: Clock | None = None) -> None:
        self.clock = Clock(plan.seconds) if clock is None else clock
        self.plan, self.runner = plan, runner
        self.rules = StoppingRules(plan, runner, self.clock)
        self.best: Any = None
        self.fewest, self.kept = np.inf, 0
        self.fewest_mistakes = math.inf  # in an epoch
        self.looked = True  # whether the weights of the last epoch could become the best
        self.mistakes: list[int] = []
        self.losses: list[float] = []
        self.errors: list[float | None] = []  # None: not measured
        self.updates = self.trials = 0

    def run(self) -> Run:
        """Train until every part has ended; return the record."""
        while self.rules.active:
            self._epoch(len(self.mistakes) + 1)
        if self.best is not None and not self.looked:
            self._look(len(self.mistakes))
            if self.errors[-1] is None:
                self.best = None  # out of time, while mistakes became fewer fast: the last weights are the better ones
        return self._record()

    def run_chunk(self) -> Run:
        """Present the rows once, as a chunk of a stream; return the record."""
        self._run_epoch(1)
        self.rules.end_chunk()
        return self._record()

    def _run_epoch(self, number: int) -> EpochStats:
        shown, counted = self.runner.run_epoch(number, self.rules.active, self.clock), self.runner.counted
        self.mistakes.append(sum(shown.mistakes[:counted]))
        self.losses.append(sum(shown.loss[:counted]) / self.runner.n_rows)
        self.updates += sum(shown.updates[:counted])
        self.trials += shown.trials
        return shown

    def _epoch(self, number: int) -> None:
        shown = self._run_epoch(number)
        self._measure(number, shown)
        callback = self.plan.callback
        asked = callback is not None and bool(callback(self._report(number, shown)))
        self.rules.after_epoch(number, shown, self.errors[-1] if self.runner.validates else None, asked=asked)

    def _measure(self, number: int, shown: EpochStats) -> None:
        """Measure the error at the end of the epoch, where something depends on it, and keep the best weights.

        It takes about as long as an epoch. While mistakes become fewer fast, the next weights will be better: those in
        between are not candidates, whether a callback wants to know their error or not.
        """
        if not self.runner.validates and self.plan.keep != "best":
            return
        self.errors.append(None)
        mistakes = self.mistakes[-1] * self.runner.n_rows / max(shown.trials, 1)  # an epoch may be cut short
        self.looked = self.runner.validates or mistakes > FAST_FALL * self.fewest_mistakes
        self.fewest_mistakes = min(self.fewest_mistakes, mistakes)
        if self.looked:
            self._look(number)
        elif self.plan.callback is not None:
            self.errors[-1] = self.runner.error(self.clock)

    def _look(self, number: int) -> None:
        """Measure the error, and keep the weights if they are the best so far."""
        self.errors[-1] = error = self.runner.error(self.clock)
        if error is not None and self.plan.keep == "best" and error <= self.fewest:
            self.fewest, self.kept = error, number
            self.best = self.runner.snapshot()

    def _report(self, number: int, shown: EpochStats) -> Epoch:
        error = self.errors[-1] if self.errors else None
        seconds = self.clock.seconds
        coef, intercept = self.runner.weights()
        return Epoch(number, self.mistakes[-1], sum(shown.updates), self.losses[-1], error, seconds, coef, intercept)

    def _record(self) -> Run:
        """Go back to the best weights if they are asked for, and write the record."""
        # Imported here: a run looks for its words when it is over.
        from rosenblatt.training.reasons import reason

        stops = tuple(self.rules.stops[part] for part in range(self.runner.parts))
        bounds = self.runner.margin_bounds()
        bound = min(bounds)
        separated = not self.runner.validates and set(stops) == {Stop.SEPARATED}
        if self.best is None or separated:
            self.kept = len(self.mistakes)
        else:
            self.runner.restore(self.best)
        return Run(
            mistakes=tuple(self.mistakes),
            losses=tuple(self.losses),
            errors=() if all(error is None for error in self.errors) else tuple(self.errors),
            updates=self.updates,
            epochs=len(self.mistakes),
            trials=self.trials,
            seconds=self.clock.seconds,
            stop=next(stop for stop in Stop if stop in stops),
            reason=reason(self, stops, bounds),
            stops=stops,
            kept=self.kept,
            cycle=self.rules.cycle,
            radius=self.runner.radius,
            ceiling=bound if np.isfinite(bound) else None,
            certificate=self.runner.certificate,
            single_pass=self.plan.first_pass(self.mistakes, self.trials),
        )
