"""The trainer: epochs, the best weights, the record. A runner presents the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.training.plan import Epoch, Plan, Run
from rosenblatt.training.reasons import reason
from rosenblatt.training.runner import EpochRunner, EpochStats, RunClock
from rosenblatt.training.stopping import FAST_FALL, Stop, StoppingRules


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
        return Epoch(number, self.mistakes[-1], sum(stats.updates), self.losses[-1], error, seconds, coef, intercept)

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
