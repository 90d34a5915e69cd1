"""Epochs: present the rows, decide when to end, keep the best weights, write the record. No labels here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.bounds import average_risk, voted_risk
from rosenblatt.compiled import epochs as kernels
from rosenblatt.compiled.epochs import Counts, PerceptronRule, Task
from rosenblatt.data.table import Table, as_labels, as_names, as_table, as_weights
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.methods import FirstOrder, Method, Pass
from rosenblatt.learn.model import EVERY_ROW, by_pairs, check_start, code, copy_state, decision, scores, winners
from rosenblatt.learn.order import ORDERS, SCHEDULES, Order, Schedule, row_numbers
from rosenblatt.learn.stopping import PRECEDENCE, Ceiling, Cycle, Patience, Stop
from rosenblatt.proof.certificate import Certificate

Array = npt.NDArray[Any]

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
    certificate : Certificate or None
        The proof, where the run ended because two classes cannot be separated.
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
    certificate: Certificate | None
    coef: Array = field(repr=False)
    intercept: Array = field(repr=False)

    def guarantees(self, delta: float = 0.05) -> tuple[Guarantee, ...]:
        """Give what the mistakes of the first pass say about new rows.

        Parameters
        ----------
        delta : float
            Probability with which a guarantee may fail.

        Returns
        -------
        tuple of Guarantee
            Empty for several problems at once, whose mistakes are not one another's.
        """
        if len(self.stops) > 1 or not self.mistakes:
            return ()
        rows = self.trials // self.epochs
        assumption = "independent rows of one distribution, seen once, in an order that does not depend on them"
        source = (
            "Cesa-Bianchi, Conconi and Gentile (2004), On the generalization ability of on-line learning algorithms"
        )
        given = (self.mistakes[0], rows, delta)
        return (
            Guarantee(
                average_risk(*given), 1 - delta, "the hypotheses of the first pass, on average", assumption, source
            ),
            Guarantee(voted_risk(*given), 1 - delta, "their vote, each once per trial", assumption, source),
        )


@dataclass(frozen=True)
class Guarantee:
    """A bound on the error on new rows.

    Attributes
    ----------
    risk : float
        The error is at most this, between 0 and 1; above 1 it says nothing.
    confidence : float
        With this probability over the rows.
    hypothesis : str
        Of which weights it speaks.
    assumption : str
        What must hold of the rows.
    source : str
        Who proved it.
    """

    risk: float
    confidence: float
    hypothesis: str
    assumption: str
    source: str


@dataclass(frozen=True)
class Validation:
    """Rows kept out of training, to measure the error on."""

    table: Table
    index: Array
    label: Array  # class of each row of the table; -1 for one that training does not know
    weight: Array


@dataclass(frozen=True)
class Job:
    """What to learn, from which rows, how, and until when.

    Attributes
    ----------
    method : Method
    table : Table
    task : Task
    plan : Plan
    multiclass : {"ovr", "ovo", "joint"}
    index : int array
        The rows to train on, in the order of a cycle; empty for all.
    held : Validation or None
        Rows to measure the error on.
    strangers : int
        How many of the last problems the record leaves out of its counts.
    names : tuple
        Labels of the classes, for a certificate; empty for none.
    """

    method: Method
    table: Table
    task: Task
    plan: Plan
    multiclass: str = "ovr"
    index: Array = field(default_factory=lambda: EVERY_ROW)
    held: Validation | None = None
    strangers: int = 0
    names: tuple[Any, ...] = ()


class _Running:
    """A run in progress. A unit is what ends by itself: one problem, or all classes of a joint task."""

    def __init__(self, job: Job, state: Any, pool: ThreadPoolExecutor | None) -> None:
        self.start = time.perf_counter()
        self.job, self.state, self.pool = job, state, pool
        self.method, self.plan, self.task = job.method, job.plan, job.task
        self.model = job.method.model(state)
        self.n = job.index.size or job.table.shape[0]
        self.joint = job.multiclass == "joint" and state.b.size > 1
        self.units = 1 if self.joint else state.b.size
        self.known = self.units - job.strangers
        self.active = list(range(self.units))
        self.stops: dict[int, Stop] = {}
        self.counts = Counts(*np.zeros((2, self.units), np.int64), *np.zeros((2, self.units)))
        # A constant rate only scales weights that start at zero. The run is made with rate one, whose sums of
        # integers are exact; 0.1 would break the ties that the algorithm depends on.
        self.unit = job.method.unit(self.plan.eta)
        self.order = Order(self.plan.order, job.task.label, job.index, self.plan.seed)
        repeats = self.plan.order == "cyclic" and self.plan.schedule == "constant" and job.method.finite
        self.cycle = Cycle(state.W, state.b) if repeats else None
        self.cycle_length: int | None = None
        self.due = np.full(self.units, self.plan.epochs + 1)
        self.patience = None if self.plan.tol is None else Patience(self.units, self.plan.tol, self.plan.patience)
        given = (job.table, job.task, job.index, state.W, state.b, self.units, job.names)
        self.ceiling = Ceiling(*given) if job.method.additive else None
        self.best: Any = None
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
    def _radius(self) -> float:
        return math.sqrt(self.job.table.largest + self.task.bias)

    @property
    def late(self) -> bool:
        """Whether the time limit is over."""
        return self.plan.seconds is not None and self.seconds > self.plan.seconds

    def epoch(self) -> None:
        """Present every row once, then decide which units go on."""
        number = len(self.mistakes) + 1
        for column in self.counts:
            column[:] = 0
        self._present(self.order.draw(), self.plan.rate(number) * self.plan.eta / self.unit)
        # Lists: there are few units as a rule, and a sum of NumPy's costs more than a hundred of them.
        mistakes, updates, losses = (column[: self.known].tolist() for column in self.counts[:3])
        self.mistakes.append(sum(mistakes))
        self.losses.append(sum(losses) * self.unit / self.n)
        self.updates += int(np.count_nonzero(self.counts.updates)) if self.plan.batch else sum(updates)
        if self.ceiling is not None:
            self.ceiling.steps += self.counts.step
        if self.model.W is not self.state.W:  # else it is the state itself, and up to date
            self.model = self.method.model(self.state)
        if not kernels.all_finite(self.model.W, self.model.b):
            raise InvalidInput(
                f"The weights overflowed {self.model.W.dtype} in epoch {number}. Scale the data, for example with "
                "StandardScaler."
            )
        self._measure(number)
        self._judge(number)

    def _present(self, order: Array, eta: float) -> None:
        """Run the kernel over the order, in slices where the clock matters."""
        into = self.state
        if self.plan.batch:
            problems, features = self.state.W.shape
            into = self.method.start(problems, features, self.state.W.dtype)
        pieces = [order]
        if self.plan.seconds is not None:
            whole = order if order.size else row_numbers(np.arange(self.n))
            pieces = np.split(whole, range(TRIALS_PER_LOOK, self.n, TRIALS_PER_LOOK))
        for piece in pieces:
            self._share(piece, eta, into)
            self.trials += piece.size or self.n
            if self.late:
                break
        if into is not self.state:
            self.state.W[:] += into.W
            self.state.b[:] += into.b

    def _share(self, order: Array, eta: float, into: Any) -> None:
        """Share the active problems among the threads; each belongs to one, so the result is the same."""

        def work(active: Array) -> None:
            rows = self.job.table.rows
            shown = Pass(rows, self.task, order, self.job.index, active, eta, self.counts, self.joint)
            self.method.present(shown, self.state, into)

        active = np.array(self.active)
        if self.pool is None or self.joint or active.size == 1:
            work(active)
        else:
            list(self.pool.map(work, np.array_split(active, min(self.plan.threads, active.size))))

    @cached_property
    def _measured(self) -> tuple[Validation, Task]:
        """The rows to measure the error on: those held out if there are any, else the training rows."""
        held = self.job.held or Validation(self.job.table, self.job.index, self.task.label, self.task.sample_weight)
        return held, self.task._replace(label=held.label, sample_weight=held.weight)

    def _error(self) -> float:
        """Measure the share of wrong rows, by weight."""
        held, task = self._measured
        if not by_pairs(self.job.multiclass) or self.units == 1:
            wrong, total = kernels.weigh_errors(held.table.rows, task, held.index, self.model)
            return float(wrong / total)
        index = held.index if held.index.size else row_numbers(np.arange(held.table.shape[0]))
        stake = np.append(task.class_cost, 1.0)[held.label[index]] * (held.weight[index] if held.weight.size else 1.0)
        elected = winners(decision(scores(held.table, self.model, index), task.sign, self.job.multiclass))
        return float(stake[elected != held.label[index]].sum() / stake.sum())

    def _measure(self, number: int) -> None:
        """Measure the error at the end of the epoch, where something depends on it, and keep the best weights."""
        if self.job.held is None and self.plan.keep != "best":
            return
        self.errors.append(self._error())
        if self.plan.keep == "best" and self.errors[-1] <= self.fewest:
            self.fewest, self.kept = self.errors[-1], number
            self.best = copy_state(self.state)

    def _judge(self, number: int) -> None:
        if self.method.rests:
            updates = self.counts.updates.tolist()
            clean = [unit for unit in self.active if not updates[unit]]
            if clean and (self.plan.order == "random" or self.late):
                clean = [unit for unit in clean if self._fits(unit)]  # not every row need have been presented
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
            return bool(kernels.weigh_errors(self.job.table.rows, self.task, self.job.index, self.model)[0] == 0.0)
        return bool(kernels.misfits(self.job.table.rows, self.task, self.job.index, unit, self.model) == 0)

    def _end(self, units: list[int], stop: Stop) -> None:
        if units:
            self.stops.update((unit, stop) for unit in units)
            self.active = [unit for unit in self.active if unit not in self.stops]

    def _find_cycles(self, cycle: Cycle, number: int) -> None:
        for unit in self.active:
            if self.due[unit] > self.plan.epochs and cycle.returned(self.part(unit)):
                self.cycle_length = cycle.length
                # Whole cycles change nothing: what remains after them leads to the weights of the last epoch.
                left = (self.plan.epochs - number) % cycle.length
                self.due[unit] = number + (left if self.plan.keep == "last" else 0)
        cycle.advance()
        self._end([unit for unit in self.active if self.due[unit] <= number], Stop.CYCLE)

    def _lose_patience(self, patience: Patience, number: int) -> None:
        if self.job.held is not None:
            lost = patience.lost([self.errors[-1]] * self.units)
            self._end([unit for unit in self.active if lost[unit]], Stop.VALIDATION)
            return
        # At zero weights the loss of a batch is zero, which no later epoch can improve on; its errors can fall.
        figure = self.counts.mistakes if self.plan.batch else self.counts.loss * self.unit
        objective = figure / self.n + self._penalty_value()
        lost = patience.lost(objective.tolist())
        tired = [unit for unit in self.active if lost[unit]]
        if tired and self.ceiling is not None and self.method.finite:
            level = patience.tol * self.ceiling.radius
            for unit in tired:
                stop = self.ceiling.judge(level, unit, number)
                if stop is not None:
                    self._end([unit], stop)
        else:
            self._end(tired, Stop.TRAINING)

    def _penalty_value(self) -> Array | float:
        value = self.method.penalty_value(self.model)
        return np.sum(value, keepdims=True) if self.joint else value

    def _scaled(self) -> tuple[Array, Array]:
        """Give the weights at the learning rate that was asked for."""
        rate = self.model.W.dtype.type(self.unit)
        return self.model.W * rate, self.model.b * rate

    def _report(self, number: int) -> Epoch:
        error = self.errors[-1] if self.errors else None
        updates = int(self.counts.updates.sum())
        return Epoch(number, self.mistakes[-1], updates, self.losses[-1], error, self.seconds, *self._scaled())

    def record(self) -> Run:
        """Put the best weights back if asked to, and write the record."""
        ceiling = np.inf if self.ceiling is None else self.ceiling.observe()
        stops = tuple(self.stops[unit] for unit in range(self.units))
        if self.best is None or (self.job.held is None and set(stops) == {Stop.SEPARATED}):
            self.kept = len(self.mistakes)
        else:
            copy_state(self.best, self.state)
            self.model = self.method.model(self.state)
        coef, intercept = self._scaled()
        certificate = None if self.ceiling is None else self.ceiling.certificate
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
            radius=self._radius,
            ceiling=ceiling if np.isfinite(ceiling) else None,
            certificate=certificate,
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
        share = ceiling / (self._radius or 1.0)
        proof = f", and no hyperplane separates the rows with a margin above {share:.1g} of their radius"
        certificate = None if self.ceiling is None else self.ceiling.certificate
        size = 0 if certificate is None else len(certificate.support)
        figures = {
            Stop.SEPARATED: alone,
            Stop.EPOCHS: f" ({self.mistakes[-1]} in epoch {epochs}): allow more epochs, or see whether the data is "
            "separable at all",
            Stop.SECONDS: f" ({plan.seconds} s, in epoch {epochs})",
            Stop.TRAINING: f": {plan.patience} epochs in a row did not lower the mean loss by {plan.tol}"
            + (proof if np.isfinite(share) else ""),
            Stop.INSEPARABLE: f", as {size} of the rows show (after {epochs} epochs)",
            Stop.VALIDATION: f": {plan.patience} epochs in a row did not lower it by {plan.tol}",
            Stop.CYCLE: ", every epoch" if self.cycle_length == 1 else f", every {self.cycle_length} epochs",
            Stop.CALLBACK: f", after epoch {epochs}",
        }
        return stop.value + figures[stop]


def run(job: Job, state: Any) -> Run:
    """Train `state` in place, and give the record.

    Parameters
    ----------
    job : Job
    state : NamedTuple of arrays
        Of the job's method; in units of the learning rate where that only scales: the record has the rate itself.

    Returns
    -------
    Run
    """
    if job.plan.batch and not job.method.finite:
        raise InvalidInput("Batch updates are for the perceptron without a penalty. Drop batch=True, or the penalty.")
    if job.plan.threads == 1:
        return _finish(_Running(job, state, None))
    with ThreadPoolExecutor(job.plan.threads) as pool:
        return _finish(_Running(job, state, pool))


def _finish(running: _Running) -> Run:
    while running.active:
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
    bias = 1.0 if fit_intercept else 0.0
    task = Task(label, sign, np.ones(sign.shape), np.ones(classes.size), weight, np.empty(0), bias)
    method = FirstOrder(PerceptronRule(margin / chosen.eta, margin / chosen.eta))
    state = method.start(sign.shape[1], table.shape[1], table.dtype)
    if init is not None:
        W0, b0 = check_start(init, sign.shape[1], table.shape[1])
        state.W[:], state.b[:] = W0 / chosen.eta, b0 / chosen.eta
    held = None if validation is None else _hold(validation, classes, table.shape[1])
    return run(Job(method, table, task, chosen, multiclass, index, held, names=as_names(classes)), state)


def _hold(validation: tuple[Any, Any], classes: Array, n_features: int) -> Validation:
    table = as_table(validation[0])
    if table.shape[1] != n_features:
        raise InvalidInput(f"The validation rows have {table.shape[1]} features, the training rows {n_features}.")
    given, number = as_labels(validation[1], table.shape[0])
    place = np.searchsorted(classes, given)
    known = classes[np.minimum(place, classes.size - 1)] == given
    # A class that training never saw cannot be predicted: -1 counts as an error whatever is elected.
    return Validation(table, EVERY_ROW, np.where(known, place, -1).astype(np.int32)[number], np.empty(0))
