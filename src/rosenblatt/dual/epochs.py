"""The epoch loop of the dual: present an epoch, decide which parts go on, write the record."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.learn.stopping import PRECEDENCE, Patience, Stop
from rosenblatt.learn.plan import Epoch, Plan, Run

if TYPE_CHECKING:
    from rosenblatt.dual.blocks import DualPresenter

Array = npt.NDArray[Any]


class Clock:
    """Time since the start, and whether a limit is over."""

    def __init__(self, limit: float | None) -> None:
        self.start, self.limit = time.perf_counter(), limit

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self.start

    @property
    def late(self) -> bool:
        """Whether the limit is over."""
        return self.limit is not None and self.seconds > self.limit


class Shown(NamedTuple):
    """What happened in an epoch, with a count for each part."""

    mistakes: list[int]
    updates: list[int]
    loss: list[float]  # summed over the trials
    trials: int
    complete: bool  # whether every row was presented


class Epochs:
    """A run in progress. A part is what ends by itself: a problem, or all problems of a presenter that shares them."""

    def __init__(self, plan: Plan, presenter: DualPresenter) -> None:
        self.clock = Clock(plan.seconds)
        self.plan, self.presenter = plan, presenter
        self.active = list(range(presenter.parts))
        self.stops: dict[int, Stop] = {}
        self.patience = None if plan.tol is None else Patience(presenter.parts, plan.tol, plan.patience)
        self.mistakes: list[int] = []
        self.losses: list[float] = []
        self.trials = 0

    def run(self) -> Run:
        """Train until every part has ended; return the record."""
        while self.active:
            self._epoch(len(self.mistakes) + 1)
        return self._record()

    def _epoch(self, number: int) -> None:
        shown, counted = self.presenter.present(number, self.active, self.clock), self.presenter.counted
        self.mistakes.append(sum(shown.mistakes[:counted]))
        self.losses.append(float(np.sum(shown.loss[:counted])) / self.presenter.n_rows)
        self.trials += shown.trials
        clean = [part for part in self.active if not shown.mistakes[part]]
        if not shown.complete:
            clean = [part for part in clean if self.presenter.fits(part)]
        self._end(clean, Stop.SEPARATED)
        if self.patience is not None:
            lost = self.patience.lost([loss / self.presenter.n_rows for loss in shown.loss])
            stalled = [part for part in self.active if lost[part]]
            if stalled:
                for part, stop in self.presenter.hopeless(stalled, self.patience.tol, number).items():
                    self._end([part], stop)
        if self.plan.callback is not None and self.plan.callback(self._report(number)):
            self._end(self.active, Stop.CALLBACK)
        if self.clock.late:
            self._end(self.active, Stop.SECONDS)
        if number == self.plan.epochs:
            self._end(self.active, Stop.EPOCHS)

    def _end(self, parts: list[int], stop: Stop) -> None:
        if parts:
            self.stops.update((part, stop) for part in parts)
            self.active = [part for part in self.active if part not in self.stops]

    def _report(self, number: int) -> Epoch:
        mistakes = self.mistakes[-1]
        coef, intercept = self.presenter.weights()
        return Epoch(number, mistakes, mistakes, self.losses[-1], None, self.clock.seconds, coef, intercept)

    def _record(self) -> Run:
        stops = tuple(self.stops[part] for part in range(self.presenter.parts))
        coef, intercept = self.presenter.weights()
        ceiling = self.presenter.margin_ceiling()
        # Problems that share their vectors end together, and the record has an end for each of them.
        ends = stops * (coef.shape[0] if self.presenter.shares_vectors and not self.presenter.joint else 1)
        return Run(
            mistakes=tuple(self.mistakes),
            losses=tuple(self.losses),
            errors=(),
            updates=sum(self.mistakes),
            epochs=len(self.mistakes),
            trials=self.trials,
            seconds=self.clock.seconds,
            stop=next(stop for stop in PRECEDENCE if stop in stops),
            reason=self._reason(stops),
            stops=ends,
            kept=len(self.mistakes),
            cycle=None,
            radius=self.presenter.radius,
            ceiling=ceiling if np.isfinite(ceiling) else None,
            certificate=None,
            coef=coef,
            intercept=intercept,
        )

    def _reason(self, stops: tuple[Stop, ...]) -> str:
        """Return why the run ended, as a sentence with its figures."""
        if len(stops) == 1:
            return self._sentence(stops[0]) + "."
        counts = ((stops.count(stop), stop) for stop in PRECEDENCE if stop in stops)
        return "; ".join(f"{count} of {len(stops)} problems: {self._sentence(stop)}" for count, stop in counts) + "."

    def _sentence(self, stop: Stop) -> str:
        plan, epochs, ceiling = self.plan, len(self.mistakes), self.presenter.margin_ceiling()
        totals = f" ({sum(self.mistakes)} updates in {epochs} epochs)" if self.presenter.parts == 1 else ""
        proof = ""
        if np.isfinite(ceiling) and ceiling:
            proof = (
                ", and no hyperplane of the kernel's space separates the rows with a margin above "
                f"{ceiling / (self.presenter.radius or 1.0):.1g} of their radius"
            )
        figures = {
            Stop.SEPARATED: totals,
            Stop.EPOCHS: f" ({self.mistakes[-1]} in epoch {epochs}): allow more epochs, or another kernel",
            Stop.SECONDS: f" ({plan.seconds} s, in epoch {epochs})",
            Stop.TRAINING: f": {plan.patience} epochs in a row did not lower the mean loss by {plan.tol}{proof}",
            Stop.CALLBACK: f", after epoch {epochs}",
        }
        return stop.value + figures[stop]
