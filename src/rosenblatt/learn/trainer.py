"""The trainer: epochs, patience, the best weights, the end and its reason. What presents the rows is somebody else's.

A `Presenter` shows the rows of an epoch to whatever learns from them, and says what an end means in its `words`.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.jit import compile_seconds
from rosenblatt.learn.plan import Epoch, Plan, Run
from rosenblatt.learn.stopping import PRECEDENCE, Divergence, Patience, Stop
from rosenblatt.methods.method import Method, all_finite, copy_state

if TYPE_CHECKING:
    from rosenblatt.learn.cycle import Cycle
    from rosenblatt.learn.reasons import Words
    from rosenblatt.proof.certificate import Certificate

Array = npt.NDArray[Any]

# Mistakes fall fast in an epoch with at most this share of the fewest so far.
FAST_FALL = 0.8
# Seconds after the limit in which the weights that there are may still be measured.
GRACE_SECONDS = 0.1


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


class Shown(NamedTuple):
    """What happened in an epoch, with a count for each part."""

    mistakes: list[int]
    updates: list[int]
    loss: list[float]  # summed over the trials
    trials: int
    complete: bool  # whether every row was presented


class Presenter:
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
        What a ceiling of the margin means here.
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
    rests: bool = True
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

    def present(self, epoch: int, active: list[int], clock: Clock) -> Shown:
        """Present every row once to the active parts, or as many as the clock allows."""
        raise NotImplementedError

    def fits(self, part: int, clock: Clock) -> bool:
        """Return whether every row is on its side; False where the clock leaves no time to find out."""
        raise NotImplementedError

    def objective(self, shown: Shown) -> list[float]:
        """Return for each part the figure that must fall: the mean loss."""
        return [loss / self.n_rows for loss in shown.loss]

    def hopeless(self, parts: list[int], level: float, epoch: int, clock: Clock) -> dict[int, Stop]:
        """Return which of the stalled parts should end: those that nothing separates with a margin above `level`.

        `level` is a share of the radius. What the clock leaves no time to find out is not found out.
        """
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

    def margin_ceilings(self) -> list[float]:
        """Return the largest margin that a separator of each part can have, as far as the run has proved; else inf."""
        return [np.inf] * self.parts

    def misses(self) -> int | None:
        """Return how many of the rows that were learned from the model predicts wrongly; None: that takes too long."""
        return None


class LinearPresenter(Presenter):
    """A presenter whose state is the weights of a `Method`; `planes` are those that predict, derived from it."""

    method: Method
    plan: Plan
    multiclass: str
    joint: bool
    rate_scale: float
    state: Any
    derived: Any = None
    penalty: Any = 0.0
    copied: Any = None
    cycle: Cycle | None = None

    def _watch(self) -> None:
        """Notice a return of the weights, where they can return: if all epochs are alike."""
        if self.plan.order == "cyclic" and self.plan.schedule == "constant" and self.method.finite:
            from rosenblatt.learn.cycle import Cycle

            self.cycle = Cycle(self.state.W, self.state.b)

    @property
    def planes(self) -> Any:
        """The weights that predict."""
        if self.derived is None:
            self.derived = self.method.hyperplanes(self.state)
        return self.derived

    def _derive(self, epoch: int) -> None:
        """Look at the weights that predict after an epoch, which are derived when they are asked for."""
        if self.derived is not None and self.derived.W is not self.state.W:  # else it is the state, and up to date
            self.derived = None
        self.penalty = self.method.penalty_of(self.state)
        if self.penalty is None:
            self.penalty = self.method.penalty_value(self.planes)
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
        return self.method.predictor or "the sum of the scores of all pairs" * added

    def objective(self, shown: Shown) -> list[float]:
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
    """A run in progress: present an epoch, decide which parts go on, keep the best, write the record."""

    def __init__(self, plan: Plan, presenter: Presenter, clock: Clock | None = None) -> None:
        self.clock = Clock(plan.seconds) if clock is None else clock
        self.plan, self.presenter = plan, presenter
        self.active = list(range(presenter.parts))
        self.stops: dict[int, Stop] = {}
        self.at_rest: list[int] = []  # parts that nothing moves any more, for all their mistakes
        self.patience = None if plan.tol is None else Patience(presenter.parts, plan.tol, plan.patience)
        self.divergence = Divergence(presenter.parts, presenter.zero_loss, plan.patience)
        # Whole cycles change nothing: a part that cycles ends at the epoch with the weights of the last one.
        self.cycle_ends: dict[int, int] = {}
        self.cycle: int | None = None
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
        while self.active:
            self._epoch(len(self.mistakes) + 1)
        if self.best is not None and not self.looked:
            self._look(len(self.mistakes))
            if self.errors[-1] is None:
                self.best = None  # out of time, while mistakes became fewer fast: the last weights are the better ones
        return self._record()

    def run_chunk(self) -> Run:
        """Present the rows once, as a chunk of a stream; return the record."""
        self._present(1)
        self._end(self.active, Stop.CHUNK)
        return self._record()

    def _present(self, number: int) -> Shown:
        shown, counted = self.presenter.present(number, self.active, self.clock), self.presenter.counted
        self.mistakes.append(sum(shown.mistakes[:counted]))
        self.losses.append(sum(shown.loss[:counted]) / self.presenter.n_rows)
        self.updates += sum(shown.updates[:counted])
        self.trials += shown.trials
        return shown

    def _epoch(self, number: int) -> None:
        shown = self._present(number)
        self._measure(number, shown)
        self._end_clean(shown)
        self._end_cycles(number)
        objective = self.presenter.objective(shown)
        self._end_diverged(objective, number)
        if not self.clock.late:
            self._end_stalled(objective, number)
        if self.plan.callback is not None and self.plan.callback(self._report(number, shown)):
            self._end(self.active, Stop.CALLBACK)
        if self.clock.late:
            self._end(self.active, Stop.SECONDS)
        if number == self.plan.epochs:
            self._end(self.active, Stop.EPOCHS)

    def _measure(self, number: int, shown: Shown) -> None:
        """Measure the error at the end of the epoch, where something depends on it, and keep the best weights.

        It takes about as long as an epoch. While mistakes become fewer fast, the next weights will be better: those in
        between are not candidates, whether a callback wants to know their error or not.
        """
        if not self.presenter.validates and self.plan.keep != "best":
            return
        self.errors.append(None)
        mistakes = self.mistakes[-1] * self.presenter.n_rows / max(shown.trials, 1)  # an epoch may be cut short
        self.looked = self.presenter.validates or mistakes > FAST_FALL * self.fewest_mistakes
        self.fewest_mistakes = min(self.fewest_mistakes, mistakes)
        if self.looked:
            self._look(number)
        elif self.plan.callback is not None:
            self.errors[-1] = self.presenter.error(self.clock)

    def _look(self, number: int) -> None:
        """Measure the error, and keep the weights if they are the best so far."""
        self.errors[-1] = error = self.presenter.error(self.clock)
        if error is not None and self.plan.keep == "best" and error <= self.fewest:
            self.fewest, self.kept = error, number
            self.best = self.presenter.snapshot()

    def _end(self, parts: list[int], stop: Stop) -> None:
        if parts:
            self.stops.update((part, stop) for part in parts)
            self.active = [part for part in self.active if part not in self.stops]

    def _end_clean(self, shown: Shown) -> None:
        if not self.presenter.rests:
            return
        clean = [part for part in self.active if not shown.updates[part]]
        if not shown.complete:
            clean = [part for part in clean if self.presenter.fits(part, self.clock)]
        # Rows that may not be updated any more, or that a rule leaves alone, are mistakes without an update.
        self._end([part for part in clean if not shown.mistakes[part]], Stop.SEPARATED)
        self.at_rest += [part for part in clean if shown.mistakes[part]]
        self._end(self.at_rest, Stop.TRAINING)

    def _end_cycles(self, number: int) -> None:
        for part, length in self.presenter.returned(self.active).items():
            if part not in self.cycle_ends:
                self.cycle = length
                left = (self.plan.epochs - number) % length
                self.cycle_ends[part] = number + (left if self.plan.keep == "last" else 0)
        self._end([part for part in self.active if self.cycle_ends.get(part, number + 1) <= number], Stop.CYCLE)

    def _end_diverged(self, objective: list[float], number: int) -> None:
        """End what diverges; or, where all epochs are asked for, say so after the last one."""
        if math.isfinite(self.presenter.zero_loss):
            found = self.divergence.found(objective)
            if self.patience is not None or number == self.plan.epochs:
                self._end([part for part in self.active if found[part]], Stop.DIVERGED)

    def _end_stalled(self, objective: list[float], number: int) -> None:
        if self.patience is None:
            return
        if self.presenter.validates:
            if (error := self.errors[-1]) is not None:
                stalled = self.patience.stalled([error] * self.presenter.parts)
                self._end([part for part in self.active if stalled[part]], Stop.VALIDATION)
            return
        stalled = self.patience.stalled(objective)
        if parts := [part for part in self.active if stalled[part]]:
            for part, stop in self.presenter.hopeless(parts, self.patience.tol, number, self.clock).items():
                self._end([part], stop)

    def _report(self, number: int, shown: Shown) -> Epoch:
        error = self.errors[-1] if self.errors else None
        seconds = self.clock.seconds
        coef, intercept = self.presenter.weights()
        return Epoch(number, self.mistakes[-1], sum(shown.updates), self.losses[-1], error, seconds, coef, intercept)

    def _record(self) -> Run:
        """Go back to the best weights if they are asked for, and write the record."""
        # Imported here: a run looks for its words when it is over.
        from rosenblatt.learn.reasons import reason

        stops = tuple(self.stops[part] for part in range(self.presenter.parts))
        ceilings = self.presenter.margin_ceilings()
        ceiling = min(ceilings)
        separated = not self.presenter.validates and set(stops) == {Stop.SEPARATED}
        if self.best is None or separated:
            self.kept = len(self.mistakes)
        else:
            self.presenter.restore(self.best)
        return Run(
            mistakes=tuple(self.mistakes),
            losses=tuple(self.losses),
            errors=() if all(error is None for error in self.errors) else tuple(self.errors),
            updates=self.updates,
            epochs=len(self.mistakes),
            trials=self.trials,
            seconds=self.clock.seconds,
            stop=next(stop for stop in PRECEDENCE if stop in stops),
            reason=reason(self, stops, ceilings),
            stops=stops,
            kept=self.kept,
            cycle=self.cycle,
            radius=self.presenter.radius,
            ceiling=ceiling if np.isfinite(ceiling) else None,
            certificate=self.presenter.certificate,
            single_pass=self.plan.first_pass(self.mistakes, self.trials),
        )
