"""Runners: whatever presents the rows of an epoch to the algorithm. The trainer decides how many epochs there are.

Rows are in memory (`in_memory`), in chunks (`chunked`), in shards (`sharded`), or objects with a kernel
(`rosenblatt.kernels.runner`).
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.jit import compile_seconds
from rosenblatt.errors import InvalidInput
from rosenblatt.training import reasons
from rosenblatt.training.algorithm import Algorithm, EpochArgs, all_finite, copy_state, new_counts, order_of
from rosenblatt.training.multiclass import part_names
from rosenblatt.training.plan import Plan
from rosenblatt.training.stopping import GRACE_SECONDS, MOST_WATCHED_WEIGHTS, Cycle, MarginBound, Stop

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
    """Presents rows in epochs, and answers the trainer's questions about them."""

    parts: int  # problems, which end one by one; or 1 for all classes of a joint task
    counted: int  # parts that the record counts; those of the reserve class come after them
    n_rows: int  # rows of an epoch
    # Whether an epoch without an update changes nothing, so that further epochs would not either.
    converges_when_clean: bool = True
    validates: bool = False  # whether the error is measured on rows that are not trained on
    words: reasons.Words  # template of the reason for each end: see `rosenblatt.training.reasons`
    # Mean loss of zero weights, which a diverging loss is compared with; infinite if a growing loss is harmless.
    zero_loss: float = np.inf
    remedy: str = "scale the data"  # advice against weights that diverge
    plane: str = "hyperplane"  # what separates the rows, for messages
    proof: str = ", and no {plane} separates the rows{share}"  # template for a bound on the margin
    # Advice for rows that cannot be separated.
    beyond: str = "a kernel (KernelPerceptron) or a soft margin (SoftMargin) may help"
    names: tuple[Any, ...] = ()  # names of the parts; empty if they have none
    noun: tuple[str, str] = ("problem", "problems")  # noun for one part and for several
    certificate: Certificate | None = None  # the proof that two classes cannot be separated, if the run has found one
    predictor: str = ""  # what predicts, if not the last weights; else empty
    leaves_out: bool = False  # whether some rows are not learned from: held out, or without weight
    penalised: bool = False  # whether the objective includes a penalty

    def _divide(self, plan: Plan, problems: int, multiclass: str, names: tuple[Any, ...], *, together: bool) -> None:
        """Divide a run into parts: one for each problem, or a single one if the problems end together.

        `names` are the labels of the classes, if they have any; `together` is for problems that end together without
        being joint.
        """
        self.plan, self.multiclass = plan, multiclass
        self.joint = multiclass == "joint" and problems > 1
        self.parts = self.counted = 1 if self.joint or together else problems
        if self.parts > 1 and names:
            self.names, self.noun = part_names(names, multiclass)
        if problems > 1 and multiclass == "ovo":
            self.predictor = "the sum of the scores of all pairs"

    def run_epoch(self, epoch: int, active: list[int], clock: RunClock) -> EpochStats:
        """Present every row once to the active parts, or as many as the clock allows."""
        raise NotImplementedError

    def fits(self, part: int, clock: RunClock) -> bool:
        """Return whether every row is on its side; False if there is no time to check."""
        raise NotImplementedError

    def objective(self, stats: EpochStats) -> list[float]:
        """Return for each part the figure that must fall: the mean loss."""
        return [loss / self.n_rows for loss in stats.loss]

    def give_up(self, parts: list[int], tol: float, epoch: int, clock: RunClock) -> dict[int, Stop]:
        """Return the stalled parts that end, and why; here all of them, as nothing is gained by waiting."""
        return dict.fromkeys(parts, Stop.TRAINING)

    def returned(self, active: list[int]) -> dict[int, int]:
        """Return the parts whose weights have returned, and after how many epochs; called once per epoch."""
        return {}

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

    @property
    def radius(self) -> float:
        """Largest norm of a row."""
        raise NotImplementedError

    def margin_bounds(self) -> list[float]:
        """Return for each part an upper bound on the margin of any separator, as the run has proved; else inf."""
        return [np.inf] * self.parts

    def misses(self) -> int | None:
        """Return how many of the rows that were learned from the model predicts wrongly; None if that takes long."""
        return None


class LinearRunner(EpochRunner):
    """A runner whose state is the weights of an `Algorithm`.

    A part is one problem, or all classes of a joint task.

    Parameters
    ----------
    bias : float
        Square of the constant that pads each row; 0 for no bias.
    names : tuple
        Labels of the classes; empty for none.
    regression : bool
        Whether the targets are numbers.
    pool : ThreadPoolExecutor or None
        Threads that share the problems.

    Attributes
    ----------
    counts : Counts
        Of the epoch in progress.
    """

    state: Any = None
    batch_sum: Any = None  # with batch updates, the sum of the corrections of the epoch so far
    largest: float  # largest squared norm of a row so far, without the constant
    cycle: Cycle | None = None
    bound: MarginBound | None = None

    def __init__(
        self,
        algorithm: Algorithm,
        plan: Plan,
        problems: int,
        multiclass: str,
        bias: float,
        *,
        names: tuple[Any, ...] = (),
        regression: bool = False,
        pool: ThreadPoolExecutor | None = None,
    ) -> None:
        self._divide(plan, problems, multiclass, names, together=False)
        self.algorithm, self.bias, self.pool = algorithm, bias, pool
        self.converges_when_clean = algorithm.converges_when_clean
        self.zero_loss, self.remedy = algorithm.zero_loss, algorithm.remedy
        self.predictor = algorithm.predictor or self.predictor
        # A constant rate only scales weights that start at zero. The run uses rate one, whose sums of integers are
        # exact: rounding with 0.1 would break ties that the algorithm depends on.
        self.rate_scale = algorithm.rate_scale(plan.eta0)
        self.counts = new_counts(self.parts)
        self.words = reasons.words_for(algorithm, regression=regression, batch=plan.batch)
        self._planes: Any = None
        self._penalty: Any = 0.0
        self._copy: Any = None

    def _begin(self, state: Any) -> None:
        """Start from a state."""
        self.state = state
        if self.plan.batch:
            self.batch_sum = self.algorithm.start(state.b.size, state.W.shape[1], state.W.dtype, order_of(state.W))
        # Weights can return only if all epochs are alike.
        alike = self.plan.order == "cyclic" and self.plan.schedule == "constant"
        if alike and self.algorithm.finite_updates and state.W.size <= MOST_WATCHED_WEIGHTS:
            self.cycle = Cycle(state.W, state.b)

    # ------------------------------------------------------------------------------------------------------- an epoch

    def _present(self, args: EpochArgs) -> int:
        """Present rows to the active problems; return how many.

        Each problem belongs to one thread, so the result does not depend on their number.
        """
        target = self.state if self.batch_sum is None else self.batch_sum
        if self.pool is None or self.joint or args.active.size == 1:
            return self.algorithm.run_epoch(args, self.state, target)

        def work(problems: Array) -> int:
            return self.algorithm.run_epoch(args._replace(active=problems), self.state, target)

        return max(self.pool.map(work, np.array_split(args.active, min(self.plan.n_jobs, args.active.size))))

    def _add_batch(self) -> None:
        """Add the corrections of a batch to the weights."""
        if self.batch_sum is not None:
            for total, part in ((self.state.W, self.batch_sum.W), (self.state.b, self.batch_sum.b)):
                total += part
                part[:] = 0

    def _stats(self, epoch: int, trials: int, complete: bool) -> EpochStats:
        """Check the weights after an epoch, and return its counts."""
        if self._planes is not None and self._planes.W is not self.state.W:  # else they are the state, and up to date
            self._planes = None
        self._penalty = self.algorithm.penalty_of(self.state)
        if self._penalty is None:
            self._penalty = self.algorithm.penalty_value(self.planes)
            if not all_finite(self.planes):
                raise InvalidInput(f"The weights overflowed {self.planes.W.dtype} in epoch {epoch}: {self.remedy}.")
        # Lists: there are few parts as a rule, and summing an array costs more than summing a hundred of them.
        mistakes, updates, loss = (column.tolist() for column in self.counts[:3])
        if self.plan.batch:
            updates = [min(count, 1) for count in updates]
        loss = [total * self.rate_scale for total in loss]
        return EpochStats(mistakes, updates, loss, trials, complete and self.plan.order != "random")

    # ------------------------------------------------------------------------------------------------ for the trainer

    @property
    def planes(self) -> Any:
        """The weights that predict, derived from the state when they are first needed."""
        if self._planes is None:
            self._planes = self.algorithm.hyperplanes(self.state)
        return self._planes

    @property
    def penalised(self) -> bool:  # type: ignore[override]
        """Whether the objective includes a penalty."""
        return not isinstance(self._penalty, float)

    @property
    def radius(self) -> float:
        """Largest norm of a row so far, the constant of the bias included."""
        return math.sqrt(self.largest + self.bias)

    @property
    def certificate(self) -> Certificate | None:  # type: ignore[override]
        """The proof that two classes cannot be separated."""
        return None if self.bound is None else self.bound.certificate

    def objective(self, stats: EpochStats) -> list[float]:
        """Return the mean loss of each part, with its penalty."""
        # At zero weights the loss of a batch is zero, which no later epoch can improve on; its errors can fall.
        figures = stats.mistakes if self.plan.batch else stats.loss
        if not self.penalised:
            return [figure / self.n_rows for figure in figures]
        values = [float(np.sum(self._penalty))] if self.joint else np.asarray(self._penalty).tolist()
        return [figure / self.n_rows + value for figure, value in zip(figures, values, strict=True)]

    def returned(self, active: list[int]) -> dict[int, int]:
        """Return the parts whose weights have returned, and after how many epochs."""
        return {} if self.cycle is None else self.cycle.back(active, self.joint)

    def give_up(self, parts: list[int], tol: float, epoch: int, clock: RunClock) -> dict[int, Stop]:
        """Return the stalled parts that end, and why: those that waiting will hardly separate."""
        if self.bound is None:
            return super().give_up(parts, tol, epoch, clock)
        return self.bound.give_up(parts, tol, epoch, clock)

    def margin_bounds(self) -> list[float]:
        """Return for each part an upper bound on the margin of any separator, as the run's mistakes prove."""
        return super().margin_bounds() if self.bound is None else self.bound.observe()

    def snapshot(self) -> Any:
        """Return a copy of the state; it replaces the earlier copy, as states may be large."""
        self._copy = copy_state(self.state, self._copy)
        return self._copy

    def restore(self, snapshot: Any) -> None:
        """Go back to a copy of the state."""
        copy_state(snapshot, self.state)
        self._planes = None

    def weights(self) -> tuple[Array, Array]:
        """Return the weights at the learning rate of the plan."""
        rate = self.planes.W.dtype.type(self.rate_scale)
        return self.planes.W * rate, self.planes.b * rate
