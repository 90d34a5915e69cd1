"""How a run proceeds: the plan, the learning rate, the order of the rows; and the record that it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.bounds import average_risk, voted_risk
from rosenblatt.data.numbers import is_real, is_truth, is_whole
from rosenblatt.data.table import row_numbers
from rosenblatt.engine.rows import interleave, shuffle
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.markup.charts import sparkline, with_caption
from rosenblatt.storage.registry import expect, stored
from rosenblatt.text import brief, count, did_you_mean, short_repr
from rosenblatt.training.stopping import Stop

if TYPE_CHECKING:
    from rosenblatt.training.model import LinearModel

Array = npt.NDArray[Any]
Schedule = Callable[[int], float]

# From so many rows on, blocks of neighbours are shuffled. The number of rows decides, not their size in bytes:
# a dense matrix and its sparse copy must give the same orders.
MIN_ROWS_FOR_BLOCKS = 1 << 14
ROWS_PER_BLOCK = 64
BLOCKS_AT_ONCE = 4

# ---------------------------------------------------------------------------------------------------- the learning rate


def constant(epoch: int) -> float:
    """Return the factor 1."""
    return 1.0


def inverse(epoch: int) -> float:
    """Return the factor 1/t in epoch t."""
    return 1.0 / epoch


def inverse_sqrt(epoch: int) -> float:
    """Return the factor 1/sqrt(t) in epoch t."""
    return float(epoch**-0.5)


def step_decay(factor: float = 0.5, every: int = 10) -> Schedule:
    """Return a schedule that multiplies the rate by `factor` after each `every` epochs."""
    if not is_real(factor) or not is_whole(every) or not 0.0 < factor <= 1.0 or every < 1:
        raise InvalidInput(
            f"factor={short_repr(factor)} or every={short_repr(every)} is invalid: pass a factor above 0 and at "
            "most 1, and a whole number of epochs from 1."
        )
    return lambda epoch: float(factor ** ((epoch - 1) // every))


SCHEDULES: dict[str, Schedule] = {
    "constant": constant,
    "1/t": inverse,
    "1/sqrt(t)": inverse_sqrt,
    "step": step_decay(),
}

# ------------------------------------------------------------------------------------------------------------- the plan

ORDERS = ("cyclic", "shuffled", "random")


@dataclass(frozen=True)
class Epoch:
    """An epoch, as a callback sees it.

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
        training rows; None if it was not needed.
    seconds : float
        Since the start.
    coef, intercept : array
        A copy of the weights (n_problems, n_features) and biases (n_problems,).
    learned : callable
        Returns a copy of all that was learned, as the learner's own code keeps it, and the record so far.
    """

    number: int
    mistakes: int
    updates: int
    loss: float
    error: float | None
    seconds: float
    coef: Array
    intercept: Array
    learned: Callable[[], tuple[Any, Run]] = field(repr=False)

    def __repr__(self) -> str:
        """Return the epoch in a few lines, without its weights if there are many."""
        return brief(self)


def _is_count(value: Any) -> bool:
    return is_whole(value) and bool(value >= 1)


# Values that the fields of a plan may have: choices, or a condition and its description.
_CHOICES = {"order": ORDERS, "schedule": tuple(SCHEDULES), "keep": ("last", "best")}
_CONDITIONS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "max_iter": (_is_count, "a whole number from 1"),
    "n_iter_no_change": (_is_count, "a whole number of epochs from 1"),
    "n_jobs": (_is_count, "a whole number from 1"),
    "random_state": (lambda value: is_whole(value) and bool(value >= 0), "a whole number from 0"),
    "batch": (is_truth, "True or False"),
    "eta0": (lambda value: is_real(value) and 0 < float(value) < np.inf, "a positive number"),
    "tol": (lambda value: value is None or (is_real(value) and value == value), "a number, or None for all epochs"),
    "max_seconds": (lambda value: value is None or (is_real(value) and value > 0), "a positive number, or None"),
    "callback": (lambda value: value is None or callable(value), "a function of an Epoch, or None"),
    "before_epoch": (lambda value: value is None or callable(value), "a function of an epoch's number, or None"),
}


def check_names(function: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Raise an error for the first name that is not a parameter of a function, with the closest one that is."""
    for name in names:
        if name not in known:
            meant = did_you_mean(name, known) or f" It has {', '.join(known)}."
            raise InvalidArgument(f"{function} has no parameter {name!r}.{meant}")


@dataclass(frozen=True)
class Plan:
    """How a run proceeds and when it ends. The names are those of scikit-learn where it has them.

    Attributes
    ----------
    order : {"shuffled", "cyclic", "random"}
        Reshuffled each epoch, as the rows are stored, or drawn with replacement.
    schedule : str or callable
        Factor of the learning rate by epoch: a name in `SCHEDULES` or a function of the epoch's number from 1.
    eta0 : float
        Learning rate.
    batch : bool
        One update per epoch, by the sum over all misclassified rows.
    max_iter : int
        Maximum number of epochs.
    max_seconds : float or None
        Time limit; None for no limit.
    tol : float or None
        Improvement of the mean loss (of the error, with validation rows) that counts as progress; also the
        margin, as a share of the radius, below which separating is given up. None: run all epochs.
    n_iter_no_change : int
        Epochs without progress that end the run.
    keep : {"last", "best"}
        Which weights to return: of the last epoch, or those with the fewest errors at the end of an epoch. A run
        that ends with everything separated keeps its last.
    random_state : int
        Seed of the order.
    n_jobs : int
        Maximum number of threads; the result does not depend on it.
    callback : callable or None
        Called with an `Epoch` after each; a true answer ends the run.
    before_epoch : callable or None
        Called with the number of each epoch before it.
    """

    order: str = "shuffled"
    schedule: str | Schedule = "constant"
    eta0: float = 1.0
    batch: bool = False
    max_iter: int = 1000
    max_seconds: float | None = None
    tol: float | None = 1e-3
    n_iter_no_change: int = 5
    keep: str = "last"
    random_state: int = 0
    n_jobs: int = 1
    callback: Callable[[Epoch], Any] | None = None
    before_epoch: Callable[[int], Any] | None = None

    def __post_init__(self) -> None:
        """Raise an error for invalid values."""
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not (isinstance(value, str) and value in choices) and not (name == "schedule" and callable(value)):
                valid = f"one of {', '.join(choices)}" + ", or a function of the epoch's number" * (name == "schedule")
                meant = did_you_mean(value, choices)
                raise InvalidInput(f"{name}={short_repr(value)} is not known: choose {valid}.{meant}")
        for name, (fits, valid) in _CONDITIONS.items():
            value = getattr(self, name)
            if not fits(value):
                raise InvalidInput(f"{name}={short_repr(value)} is invalid: pass {valid}.")

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        schedule = self.schedule if callable(self.schedule) else SCHEDULES[self.schedule]
        factor = schedule(epoch)
        if not (type(factor) is float or is_real(factor)) or not 0 < factor < np.inf:
            raise InvalidInput(
                f"The schedule returned {short_repr(factor)} for epoch {epoch}, which is not a learning rate. It must "
                "return a positive number."
            )
        return float(factor) * self.eta0

    def first_pass(self, mistakes: Sequence[int], trials: int) -> tuple[int, int] | None:
        """Return the rows and mistakes of the first epoch, if no row had been seen by the weights that predicted it.

        Rows drawn with replacement may have been. A batch has one hypothesis for all rows, zero.
        """
        rows = trials // len(mistakes) if mistakes else 0
        return None if self.order == "random" or self.batch or not rows else (rows, mistakes[0])


# ------------------------------------------------------------------------------------------------ the order of the rows


class Order:
    """Orders of presentation, one per epoch.

    Shuffling single rows of a matrix that does not fit the cache makes memory the bottleneck, at a third of the speed.
    If the labels are mixed already, blocks of neighbours are shuffled instead, and read a few at a time. If they are
    sorted, single rows are shuffled, as runs of one class would harm learning.
    """

    def __init__(self, kind: str, label: Array, subset: Array, seed: int, by_blocks: bool | None = None) -> None:
        self.kind = kind
        self.random = np.random.default_rng(seed)
        self.rows = subset if subset.size or kind == "cyclic" else row_numbers(np.arange(label.size))
        self.width = 1
        if kind == "shuffled":
            if in_blocks(label, subset) if by_blocks is None else by_blocks:
                self.width = ROWS_PER_BLOCK
                self.blocks = row_numbers(np.arange(-(-self.rows.size // ROWS_PER_BLOCK)))
            self.order = self.rows.copy()

    def draw(self) -> Array:
        """Return the next epoch's order; empty means all rows as they are stored."""
        if self.kind == "cyclic":
            return self.rows
        if self.kind == "random":
            return self.rows[self.random.integers(0, self.rows.size, self.rows.size)]
        shuffled = self.blocks if self.width > 1 else self.order
        shuffle(shuffled, self.random.random(shuffled.size))
        if self.width > 1:
            interleave(self.blocks, self.width, BLOCKS_AT_ONCE, self.rows, self.order)
        return self.order


def in_blocks(label: Array, subset: Array) -> bool:
    """Return whether blocks of neighbours are shuffled: of many rows, whose labels arrive mixed."""
    many = (subset.size or label.size) >= MIN_ROWS_FOR_BLOCKS
    return many and mixed(label[subset] if subset.size else label)


def mixed(label: Array) -> bool:
    """Return whether neighbours share a class hardly more often than rows at random do."""
    share = np.bincount(label) / label.size
    alone = float(share @ share)
    together = float(np.mean(label[1:] == label[:-1]))
    return together - alone <= 0.1 * (1.0 - alone)


# ----------------------------------------------------------------------------------------------------------- the record


def _check_run(run: Run) -> None:
    expect(run.epochs >= 1 and run.trials >= 0, "a run has no epochs")
    rows, mistakes = run.single_pass or (1, 0)
    expect(1 <= rows <= 1 << 62 and mistakes >= 0, "a run has a pass without rows")


# The certificate's type is Any: reading a file without one must not import the proofs.
@stored("Run", check=_check_run)
@dataclass(frozen=True)
class Run:
    """Record of a run.

    Attributes
    ----------
    mistakes : tuple of int
        Mistakes in each epoch, over all problems.
    losses : tuple of float
        Mean loss per row in each epoch, met while the weights changed.
    errors : tuple of float or None
        Error at the end of each epoch, on the validation rows if there are any. None if it was not measured: while
        mistakes decrease fast, the last weights are the best. Empty if none was.
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
        The proof, if the run ended because two classes cannot be separated.
    model : LinearModel or None
        The result of `train`. None for the `run_` of an estimator, which has its `coef_` and `intercept_` itself.
    single_pass : (int, int) or None
        Rows that were predicted by weights which had not seen them, and the mistakes on them: of the first epoch, or of
        a whole stream. None if there was no such pass: rows drawn with replacement, a batch, a warm start, a
        regression.
    """

    mistakes: tuple[int, ...]
    losses: tuple[float, ...]
    errors: tuple[float | None, ...]
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
    certificate: Any = None
    model: Any = None
    single_pass: tuple[int, int] | None = None

    def __repr__(self) -> str:
        """Return the record in a few lines, with the first epochs of long columns."""
        return brief(self, ("stop", "reason", "epochs"))

    def __str__(self) -> str:
        """Report the run in a few lines."""
        size = f"{count(self.epochs, 'epoch')}, {count(self.trials, 'trial')}, {count(self.updates, 'update')}"
        mistakes = short_repr(self.mistakes)
        return f"{size} in {self.seconds:.3g} s. Mistakes by epoch: {mistakes}.\nIt stopped: {self.reason}"

    def _repr_html_(self) -> str:
        return with_caption(sparkline(self.mistakes, "Mistakes in each epoch"), str(self))

    @property
    def coef(self) -> Array:
        """The weights that `train` learned, (n_problems, n_features)."""
        return np.asarray(self._own_model().W)

    @property
    def intercept(self) -> Array:
        """The biases that `train` learned, (n_problems,)."""
        return self._own_model().b

    def _own_model(self) -> LinearModel:
        if self.model is None:
            raise AttributeError("The run of an estimator has no weights. They are its coef_ and intercept_.")
        model: LinearModel = self.model
        return model

    def guarantees(self, delta: float = 0.05) -> tuple[Guarantee, ...]:
        """Return bounds on the error on new rows, from the mistakes of the first pass or of a stream.

        Parameters
        ----------
        delta : float
            Probability with which a guarantee may fail.

        Returns
        -------
        tuple of Guarantee
            Empty for several problems, and if rows had been seen by the weights that predicted them: see `single_pass`.
        """
        if len(self.stops) > 1 or self.single_pass is None:
            return ()
        rows, mistakes = self.single_pass
        passed = "the stream" if self.stop is Stop.CHUNK else "the first pass"
        average, vote = average_risk(mistakes, rows, delta), voted_risk(mistakes, rows, delta)
        return (
            Guarantee(average, 1 - delta, f"the hypotheses of {passed}, on average"),
            Guarantee(vote, 1 - delta, "their vote, each once per trial"),
        )


@dataclass(frozen=True)
class Guarantee:
    """A bound on the error on new rows.

    Attributes
    ----------
    risk : float
        Upper bound on the error, between 0 and 1; a bound above 1 is vacuous.
    confidence : float
        Probability over the rows with which it holds.
    hypothesis : str
        The weights that it is about.
    assumption : str
        What the rows must satisfy.
    source : str
        Who proved it.
    """

    risk: float
    confidence: float
    hypothesis: str
    assumption: str = "independent rows of one distribution, seen once, in an order that does not depend on them"
    source: str = (
        "Cesa-Bianchi, Conconi and Gentile (2004), On the generalization ability of on-line learning algorithms"
    )
