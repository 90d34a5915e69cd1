"""Epochs: present the rows, decide when to end, keep the best weights, write the record. No labels here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt import _kernels as kernels
from rosenblatt._kernels import ElasticNet, NoPenalty, PerceptronRule, Tally, Task, Weights
from rosenblatt.data import Table, as_labels, as_table, as_weights
from rosenblatt.errors import InvalidInput
from rosenblatt.model import EVERY_ROW, code, copy_weights, decision, initial_weights, scores, winners, zeros_like
from rosenblatt.order import ORDERS, SCHEDULES, Order, Schedule, row_numbers
from rosenblatt.stopping import PRECEDENCE, Ceiling, Cycle, Patience, Stop

Array = npt.NDArray[Any]
Penalty = NoPenalty | ElasticNet

# Trials between two looks at the clock, where a time limit was set.
TRIALS_PER_LOOK = 1 << 15


@dataclass(frozen=True)
class Epoch:
    """What a callback sees after each epoch.

    Attributes
    ----------
    number : int
        The epoch, from 1.
    mistakes, updates : int
        In this epoch, over all problems.
    loss : float
        Mean loss per row, over all problems, met while the weights changed.
    error : float or None
        Error of the weights at the end of the epoch, on the validation rows if there are any, otherwise on the
        training rows; None where nothing asked for it.
    seconds : float
        Since the start.
    coef, intercept : array
        A copy of the weights (n_problems, n_features) and biases (n_problems,).
    """

    number: int
    mistakes: int
    updates: int
    loss: float
    error: float | None
    seconds: float
    coef: Array
    intercept: Array


@dataclass(frozen=True)
class Plan:
    """How a run proceeds and when it ends.

    Attributes
    ----------
    order : {"shuffled", "cyclic", "random"}
        Reshuffled each epoch, as the rows lie, or drawn with replacement.
    schedule : str or callable
        Factor of the learning rate by epoch: a name in `SCHEDULES` or a function of the epoch's number from 1.
    eta : float
        Learning rate.
    batch : bool
        One update per epoch, by the sum over all misclassified rows.
    epochs : int
        Most epochs.
    seconds : float or None
        Most seconds.
    tol : float or None
        Improvement of the mean loss (of the error, with validation rows) that counts as progress; also the
        margin, as a share of the radius, below which separating is given up. None: run all epochs.
    patience : int
        Epochs without progress that end the run.
    keep : {"last", "best"}
        Which weights to return: of the last epoch, or those with the fewest errors at the end of an epoch. A run
        that ends with everything separated keeps its last.
    seed : int
        For the order.
    threads : int
        Most threads; the result does not depend on it.
    callback : callable or None
        Called with an `Epoch` after each; a true answer ends the run.
    """

    order: str = "shuffled"
    schedule: str | Schedule = "constant"
    eta: float = 1.0
    batch: bool = False
    epochs: int = 1000
    seconds: float | None = None
    tol: float | None = 1e-3
    patience: int = 5
    keep: str = "last"
    seed: int = 0
    threads: int = 1
    callback: Callable[[Epoch], Any] | None = None

    def __post_init__(self) -> None:
        """Refuse values without a meaning."""
        if self.order not in ORDERS:
            raise InvalidInput(f"order={self.order!r} is not known. Choose one of {', '.join(ORDERS)}.")
        if not callable(self.schedule) and self.schedule not in SCHEDULES:
            raise InvalidInput(
                f"schedule={self.schedule!r} is not known. Choose one of {', '.join(SCHEDULES)}, or pass a "
                "function of the epoch's number."
            )
        if self.keep not in ("last", "best"):
            raise InvalidInput(f"keep={self.keep!r} is not known. Choose 'last' or 'best'.")
        for name, least in (("epochs", 1), ("patience", 1), ("threads", 1)):
            if getattr(self, name) < least:
                raise InvalidInput(f"{name}={getattr(self, name)} is too small. Pass a whole number from {least}.")
        if not 0 < self.eta < np.inf:
            raise InvalidInput(f"The learning rate {self.eta} is not a positive number.")
        if self.seconds is not None and not self.seconds > 0:
            raise InvalidInput(f"The time limit of {self.seconds} seconds is not positive.")

    def rate(self, epoch: int) -> float:
        """Learning rate factor of an epoch."""
        schedule = self.schedule if callable(self.schedule) else SCHEDULES[self.schedule]
        factor = float(schedule(epoch))
        if not 0 < factor < np.inf:
            raise InvalidInput(f"The schedule gave {factor} for epoch {epoch}. A learning rate is a positive number.")
        return factor


@dataclass(frozen=True)
class Run:
    """Record of a run.

    Attributes
    ----------
    mistakes : tuple of int
        Mistakes in each epoch, over all problems.
    losses : tuple of float
        Mean loss per row in each epoch, met while the weights changed.
    errors : tuple of float
        Error at the end of each epoch, where it was measured: on the validation rows if there are any.
    updates : int
        Changes of the weights.
    epochs : int
        Passes over the rows, the last one perhaps cut short by a time limit.
    trials : int
        Rows presented.
    seconds : float
        Time taken.
    stop : Stop
        Why it ended.
    reason : str
        The same as a sentence, with its figures.
    stops : tuple of Stop
        Why each problem ended.
    kept : int
        Epoch whose weights were kept.
    cycle : int or None
        Length in epochs of the cycle that ended the run.
    radius : float
        Largest norm of a row, the constant of the bias included.
    ceiling : float or None
        The largest margin that any separating hyperplane can have, as the run's own mistakes prove, for the
        problem where it is smallest; None with a penalty or without an update.
    coef, intercept : array
        The weights (n_problems, n_features) and biases (n_problems,).
    """

    mistakes: tuple[int, ...]
    losses: tuple[float, ...]
    errors: tuple[float, ...]
    updates: int
    epochs: int
    trials: int
    seconds: float
    stop: Stop
    reason: str
    stops: tuple[Stop, ...]
    kept: int
    cycle: int | None
    radius: float
    ceiling: float | None
    coef: Array = field(repr=False)
    intercept: Array = field(repr=False)


@dataclass(frozen=True)
class Held:
    """Rows kept out of training, to measure the error on."""

    table: Table
    index: Array
    label: Array  # class of each row of the table; -1 for one that training does not know
    weight: Array


class _Running:
    """A run in progress. A unit is what ends by itself: one problem, or all classes of a joint task."""

    def __init__(
        self,
        rule: PerceptronRule,
        penalty: Penalty,
        table: Table,
        task: Task,
        weights: Weights,
        plan: Plan,
        multiclass: str,
        index: Array,
        held: Held | None,
        strangers: int,
        pool: ThreadPoolExecutor | None,
    ) -> None:
        self.start = time.perf_counter()
        self.rule, self.penalty, self.table, self.task, self.weights = rule, penalty, table, task, weights
        self.settled = weights
        self.plan, self.multiclass, self.index, self.held, self.pool = plan, multiclass, index, held, pool
        self.n = index.size or table.shape[0]
        self.joint = multiclass == "joint" and weights.b.size > 1
        self.units = 1 if self.joint else weights.b.size
        self.known = self.units - strangers
        self.active = np.arange(self.units)
        self.stops: dict[int, Stop] = {}
        self.counts, self.sums = np.zeros((2, self.units), np.int64), np.zeros((2, self.units))
        self.tally = Tally(*self.counts, *self.sums)
        self.penalised = isinstance(penalty, ElasticNet)
        # A constant rate only scales weights that start at zero. The run is made with rate one, whose sums of
        # integers are exact; 0.1 would break the ties that the algorithm depends on.
        self.unit = 1.0 if self.penalised else plan.eta
        self.order = Order(plan.order, task.label, index, plan.seed)
        repeats = plan.order == "cyclic" and plan.schedule == "constant" and not self.penalised
        self.cycle = Cycle(weights) if repeats else None
        self.cycle_length: int | None = None
        self.due = np.full(self.units, plan.epochs + 1)
        self.patience = None if plan.tol is None else Patience(self.units, plan.tol, plan.patience)
        self.ceiling = None if self.penalised else Ceiling(table, task, index, weights, self.units)
        self.best = copy_weights(weights) if plan.keep == "best" else None
        self.best_settled = weights if self.best is None else self.best
        self.fewest, self.kept = np.inf, 0
        self.mistakes: list[int] = []
        self.losses: list[float] = []
        self.errors: list[float] = []
        self.updates = self.trials = 0

    def part(self, unit: int) -> slice:
        """Give the weight vectors of a unit."""
        return slice(None) if self.joint else slice(unit, unit + 1)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self.start

    @property
    def late(self) -> bool:
        """Whether the time limit is over."""
        return self.plan.seconds is not None and self.seconds > self.plan.seconds

    def epoch(self) -> None:
        """Present every row once, then decide which units go on."""
        number = len(self.mistakes) + 1
        self.counts[:], self.sums[:] = 0, 0.0
        self._present(self.order.draw(), self.plan.rate(number) * self.plan.eta / self.unit)
        mistakes, updates = self.counts[:, : self.known].sum(axis=1)
        self.mistakes.append(int(mistakes))
        self.losses.append(float(self.tally.loss[: self.known].sum()) * self.unit / self.n)
        self.updates += int(np.count_nonzero(self.tally.updates) if self.plan.batch else updates)
        if self.ceiling is not None:
            self.ceiling.steps += self.tally.step
        with np.errstate(invalid="ignore", over="ignore"):
            finite = math.isfinite(self.weights.W.sum() + self.weights.b.sum())
        if not finite:
            raise InvalidInput(
                f"The weights overflowed {self.weights.W.dtype} in epoch {number}. Scale the data, for example "
                "with StandardScaler."
            )
        self._measure(number)
        self._judge(number)

    def _present(self, order: Array, eta: float) -> None:
        """Run the kernel over the order, in slices where the clock matters."""
        into = zeros_like(self.weights) if self.plan.batch else self.weights
        pieces = [order]
        if self.plan.seconds is not None:
            whole = order if order.size else row_numbers(np.arange(self.n))
            pieces = np.split(whole, range(TRIALS_PER_LOOK, self.n, TRIALS_PER_LOOK))
        for piece in pieces:
            self._sweep(piece, eta, into)
            self.trials += piece.size or self.n
            if self.late:
                break
        if into is not self.weights:
            self.weights.W[:] += into.W
            self.weights.b[:] += into.b
        if self.penalised:
            # A copy: what the weights owe is paid when they are next used, wherever a stream was cut into chunks.
            self.settled = copy_weights(self.weights)
            kernels.settle(self.settled)

    def _sweep(self, order: Array, eta: float, into: Weights) -> None:
        given = (self.rule, self.penalty, self.table.rows, self.task, order, eta)
        if self.joint:
            kernels.run_joint_epoch(*given, self.weights, into, self.tally)
        else:
            self._share(lambda active: kernels.run_epoch(*given, active, self.weights, into, self.tally))

    def _share(self, work: Callable[[Array], None]) -> None:
        """Share the active problems among the threads; each belongs to one, so the result is the same."""
        if self.pool is None or self.active.size == 1:
            work(self.active)
        else:
            list(self.pool.map(work, np.array_split(self.active, min(self.plan.threads, self.active.size))))

    def _error(self) -> float:
        """Measure the share of wrong rows, by weight: of those held out if there are any, else of the training rows."""
        held = self.held or Held(self.table, self.index, self.task.label, self.task.weight)
        task = self.task._replace(label=held.label, weight=held.weight)
        if self.multiclass != "ovo" or self.units == 1:
            wrong, total = kernels.weigh_errors(held.table.rows, task, held.index, self.settled)
            return float(wrong / total)
        index = held.index if held.index.size else row_numbers(np.arange(held.table.shape[0]))
        stake = np.append(task.stake, 1.0)[held.label[index]] * (held.weight[index] if held.weight.size else 1.0)
        elected = winners(decision(scores(held.table, self.settled, index), task.sign, self.multiclass))
        return float(stake[elected != held.label[index]].sum() / stake.sum())

    def _measure(self, number: int) -> None:
        """Measure the error at the end of the epoch, where something depends on it, and keep the best weights."""
        if self.held is None and self.best is None:
            return
        self.errors.append(self._error())
        if self.best is not None and self.errors[-1] <= self.fewest:
            self.fewest, self.kept = self.errors[-1], number
            copy_weights(self.weights, self.best)
            self.best_settled = copy_weights(self.settled) if self.penalised else self.best

    def _judge(self, number: int) -> None:
        clean = self.active[self.tally.updates[self.active] == 0]
        if clean.size and (self.plan.order == "random" or self.late):
            clean = clean[[self._fits(unit) for unit in clean]]  # not every row need have been presented
        self._end(clean, Stop.SEPARATED)
        if self.cycle is not None:
            self._find_cycles(self.cycle, number)
        if self.patience is not None:
            self._lose_patience(self.patience, number)
        if self.plan.callback is not None and self.plan.callback(self._report(number)):
            self._end(self.active, Stop.CALLBACK)
        if self.late:
            self._end(self.active, Stop.SECONDS)
        if number == self.plan.epochs:
            self._end(self.active, Stop.EPOCHS)

    def _fits(self, unit: int) -> bool:
        """Look at every row of a unit; tell whether each is on its side."""
        if self.joint:
            return bool(kernels.weigh_errors(self.table.rows, self.task, self.index, self.settled)[0] == 0.0)
        return bool(kernels.misfits(self.table.rows, self.task, self.index, unit, self.settled) == 0)

    def _end(self, units: Array, stop: Stop) -> None:
        if units.size:
            self.stops.update((int(unit), stop) for unit in units)
            self.active = np.array([unit for unit in self.active if unit not in self.stops], np.int64)

    def _find_cycles(self, cycle: Cycle, number: int) -> None:
        for unit in self.active.tolist():
            if self.due[unit] > self.plan.epochs and cycle.returned(self.weights, self.part(unit)):
                self.cycle_length = cycle.length
                # Whole cycles change nothing: what remains after them leads to the weights of the last epoch.
                self.due[unit] = number + ((self.plan.epochs - number) % cycle.length if self.best is None else 0)
        cycle.advance(self.weights)
        self._end(self.active[self.due[self.active] <= number], Stop.CYCLE)

    def _lose_patience(self, patience: Patience, number: int) -> None:
        if self.held is not None:
            lost = patience.lost(np.full(self.units, self.errors[-1]))
            self._end(self.active[lost[self.active]], Stop.VALIDATION)
            return
        # At zero weights the loss of a batch is zero, which no later epoch can improve on; its errors can fall.
        figure = self.tally.mistakes if self.plan.batch else self.tally.loss * self.unit
        objective = figure / self.n
        if isinstance(self.penalty, ElasticNet):
            objective += self._penalty_value(self.penalty)
        tired = self.active[patience.lost(objective)[self.active]]
        if self.ceiling is not None and tired.size:
            level = patience.tol * self.ceiling.radius
            tired = np.array([unit for unit in tired if self.ceiling.below(level, unit, number)], int)
        self._end(tired, Stop.TRAINING)

    def _penalty_value(self, penalty: ElasticNet) -> Array:
        W = self.settled.W
        value = 0.5 * penalty.l2 * (W * W).sum(axis=1) + penalty.l1 * np.abs(W).sum(axis=1)
        return np.array([value[self.part(unit)].sum() for unit in range(self.units)])

    def _scaled(self) -> tuple[Array, Array]:
        """Give the weights at the learning rate that was asked for."""
        rate = self.settled.W.dtype.type(self.unit)
        return self.settled.W * rate, self.settled.b * rate

    def _report(self, number: int) -> Epoch:
        error = self.errors[-1] if self.errors else None
        updates = int(self.tally.updates.sum())
        return Epoch(number, self.mistakes[-1], updates, self.losses[-1], error, self.seconds, *self._scaled())

    def record(self) -> Run:
        """Put the best weights back if asked to, and write the record."""
        ceiling = np.inf if self.ceiling is None else self.ceiling.observe()
        stops = tuple(self.stops[unit] for unit in range(self.units))
        if self.best is None or (self.held is None and set(stops) == {Stop.SEPARATED}):
            self.kept = len(self.mistakes)
        else:
            copy_weights(self.best, self.weights)
            copy_weights(self.best_settled, self.settled)
        coef, intercept = self._scaled()
        return Run(
            mistakes=tuple(self.mistakes),
            losses=tuple(self.losses),
            errors=tuple(self.errors),
            updates=self.updates,
            epochs=len(self.mistakes),
            trials=self.trials,
            seconds=self.seconds,
            stop=next(stop for stop in PRECEDENCE if stop in stops),
            reason=self._reason(stops, ceiling),
            stops=stops,
            kept=self.kept,
            cycle=self.cycle_length,
            radius=float(np.sqrt(self.table.largest + self.task.bias)),
            ceiling=ceiling if np.isfinite(ceiling) else None,
            coef=coef,
            intercept=intercept,
        )

    def _reason(self, stops: tuple[Stop, ...], ceiling: float) -> str:
        """Say why the run ended, with its figures."""
        if self.units == 1:
            told = self._sentence(stops[0], ceiling)
        else:
            counts = ((stops.count(stop), stop) for stop in PRECEDENCE if stop in stops)
            told = "; ".join(
                f"{count} of {self.units} problems: {self._sentence(stop, ceiling)}" for count, stop in counts
            )
        if self.kept < len(self.mistakes) or (self.best is not None and set(stops) != {Stop.SEPARATED}):
            told += f"; the weights of epoch {self.kept} are kept, the best of {len(self.mistakes)}"
        return told + "."

    def _sentence(self, stop: Stop, ceiling: float) -> str:
        plan, epochs = self.plan, len(self.mistakes)
        alone = f" ({self.updates} updates in {epochs} epochs)" if self.units == 1 else ""
        share = ceiling / math.sqrt(self.table.largest + self.task.bias or 1.0)
        proof = f", and no hyperplane separates the rows with a margin above {share:.1g} of their radius"
        figures = {
            Stop.SEPARATED: alone,
            Stop.EPOCHS: f" ({self.mistakes[-1]} in epoch {epochs}): allow more epochs, or see whether the data is "
            "separable at all",
            Stop.SECONDS: f" ({plan.seconds} s, in epoch {epochs})",
            Stop.TRAINING: f": {plan.patience} epochs in a row did not lower the mean loss by {plan.tol}"
            + (proof if np.isfinite(share) else ""),
            Stop.VALIDATION: f": {plan.patience} epochs in a row did not lower it by {plan.tol}",
            Stop.CYCLE: ", every epoch" if self.cycle_length == 1 else f", every {self.cycle_length} epochs",
            Stop.CALLBACK: f", after epoch {epochs}",
        }
        return stop.value + figures[stop]


def run(
    rule: PerceptronRule,
    penalty: Penalty,
    table: Table,
    task: Task,
    weights: Weights,
    plan: Plan,
    *,
    multiclass: str = "ovr",
    index: Array = EVERY_ROW,
    held: Held | None = None,
    strangers: int = 0,
) -> Run:
    """Train `weights` in place by the plan, and give the record.

    Parameters
    ----------
    rule : PerceptronRule
    penalty : NoPenalty or ElasticNet
    table : Table
    task : Task
    weights : Weights
        In units of the learning rate where there is no penalty: the record has them at the rate itself.
    plan : Plan
    multiclass : {"ovr", "ovo", "joint"}
    index : int array
        The rows to train on, in the order of a cycle; empty for all.
    held : Held or None
        Rows to measure the error on.
    strangers : int
        How many of the last problems the record leaves out of its counts.

    Returns
    -------
    Run
    """
    if plan.batch and isinstance(penalty, ElasticNet):
        raise InvalidInput("A penalty is applied trial by trial, which batch updates do not have. Drop one of the two.")
    given = (rule, penalty, table, task, weights, plan, multiclass, index, held, strangers)
    if plan.threads == 1:
        return _finish(_Running(*given, None))
    with ThreadPoolExecutor(plan.threads) as pool:
        return _finish(_Running(*given, pool))


def _finish(running: _Running) -> Run:
    while running.active.size:
        running.epoch()
    return running.record()


def train(
    X: Any,
    y: Any,
    *,
    multiclass: str = "ovr",
    margin: float = 0.0,
    fit_intercept: bool = True,
    init: Any = None,
    sample_weight: Any = None,
    validation: tuple[Any, Any] | None = None,
    **plan: Any,
) -> Run:
    """Train a perceptron on X and y, without scikit-learn.

    On a mistake, y f(x) <= 0, the weights move towards the row: w += eta y x, b += eta y.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes, such as -1 and +1 or 0 and 1, of which the larger is positive; or more.
    multiclass : {"ovr", "ovo", "joint"}
        How more than two classes are told apart.
    margin : float
        Update as long as y f(x) <= margin.
    fit_intercept : bool
        Whether to learn a bias.
    init : (w0, b0) or None
        Where to start; zero by default.
    sample_weight : array-like of shape (n_samples,) or None
        Factor of each row's step.
    validation : (X, y) or None
        Rows to measure the error on after each epoch; the run ends when it stops decreasing.
    **plan
        The fields of `Plan`: order, schedule, eta, batch, epochs, seconds, tol, patience, keep, seed, threads,
        callback.

    Returns
    -------
    Run
        With the weights as `coef` and `intercept`.

    Examples
    --------
    The logical OR, presented row by row until an epoch passes without a mistake:

    >>> from rosenblatt import train
    >>> run = train([[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, 1], order="cyclic")
    >>> run.mistakes, run.coef.tolist(), run.intercept.tolist()
    ((3, 1, 2, 2, 1, 0), [[2.0, 2.0]], [-1.0])
    """
    chosen = Plan(**plan)
    table = as_table(X)
    classes, label = as_labels(y, table.shape[0])
    if classes.size < 2:
        raise InvalidInput(f"y has one class only, {classes[0]!r}. Learning to tell apart needs at least two.")
    sign = code(classes.size, multiclass)
    weight = as_weights(sample_weight, table.shape[0])
    index = row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else EVERY_ROW
    task = Task(label, sign, np.ones(sign.shape), np.ones(classes.size), weight, 1.0 if fit_intercept else 0.0)
    weights = initial_weights(init, sign.shape[1], table.shape[1], table.dtype)
    weights.W[:] /= chosen.eta
    weights.b[:] /= chosen.eta
    held = None if validation is None else _hold(validation, classes, table.shape[1])
    rule = PerceptronRule(float(margin))
    return run(rule, NoPenalty(), table, task, weights, chosen, multiclass=multiclass, index=index, held=held)


def _hold(validation: tuple[Any, Any], classes: Array, n_features: int) -> Held:
    table = as_table(validation[0])
    if table.shape[1] != n_features:
        raise InvalidInput(f"The validation rows have {table.shape[1]} features, the training rows {n_features}.")
    given, number = as_labels(validation[1], table.shape[0])
    place = np.searchsorted(classes, given)
    known = classes[np.minimum(place, classes.size - 1)] == given
    # A class that training never saw cannot be predicted: -1 counts as an error whatever is elected.
    return Held(table, EVERY_ROW, np.where(known, place, -1).astype(np.int32)[number], np.empty(0))
