"""Rules and loops that users write; a loop is an epoch over dense rows for one problem at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.epoch import Learner, Weights
from rosenblatt.engine.rows import Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.storage.registry import stored
from rosenblatt.training.algorithm import Algorithm, EpochArgs, Order
from rosenblatt.training.first_order import FirstOrder

Array = npt.NDArray[Any]


@contextmanager
def named(name: str) -> Iterator[None]:
    """Add the name of a loop to an exception that leaves it: machine code has no traceback."""
    try:
        yield
    except Exception as error:
        error.add_note(f"It was raised in {name}.")
        raise


class OwnRule(FirstOrder):
    """A rule that a user has written."""

    def _run_epoch(self, shown: EpochArgs, state: Weights, into: Weights, learner: Learner) -> None:
        with named(self.rule.of.__name__):
            super()._run_epoch(shown, state, into, learner)


@stored("LoopWeights")
class LoopWeights(NamedTuple):
    """Weights, and nothing beside them."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,) trials seen


@dataclass
class OwnLoop(Algorithm):
    """A loop that a user has written.

    Attributes
    ----------
    owner : type
        Its `loop` is a function from what `inputs` names, of X, y, order, weights, bias and the importance of each row,
        and from the parameters to mistakes, updates and loss. The class, and not the function, as only the class can be
        pickled by its name.
    values : tuple
        Of the parameters.
    """

    owner: Any
    values: tuple[Any, ...]

    state_class: ClassVar[type] = LoopWeights
    layout: ClassVar[Mapping[str, str]] = {"W": "f pd", "b": "f p", "t": "l p"}
    local_updates: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Name of the loop."""
        return str(self.owner.__name__)

    @property
    def remedy(self) -> str:  # type: ignore[override]
        """What to do against weights that grow without end."""
        return f"look at what {self.name} adds to them, or scale the data, for example with StandardScaler"

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> LoopWeights:
        """Return zero weights."""
        return LoopWeights(
            np.zeros((problems, features), dtype), np.zeros(problems, dtype), np.zeros(problems, np.int64)
        )

    def run_epoch(self, shown: EpochArgs, state: LoopWeights, into: LoopWeights) -> int:
        """Run the loop for each problem."""
        if not isinstance(shown.rows, Dense):
            raise InvalidInput(
                f"{self.name} is a loop over dense rows, and X is sparse. Pass X.toarray(), or write a rule, a "
                "function of margin, norm and rate, which learns from either."
            )
        task, order = shown.task, shown.order if shown.order.size else np.arange(shown.size)
        for p in shown.active:
            y = task.sign[:, p].astype(float)[task.label]
            importance = task.cost[:, p][task.label]
            if task.sample_weight.size:
                importance = importance * task.sample_weight
            if "importance" not in self.owner.inputs and np.any((importance[order] != 1.0) & (y[order] != 0.0)):
                raise InvalidInput(
                    f"{self.name} takes no weights of rows or classes. Let it take importance, an array with a number "
                    "for each row; or drop sample_weight and class_weight."
                )
            arrays = {"X": shown.rows.X, "y": y, "order": order, "weights": state.W[p], "bias": state.b[p : p + 1]}
            inputs = [(arrays | {"importance": importance})[name] for name in self.owner.inputs]
            with named(self.name):
                counts = self.owner.loop(*inputs, *self.values)
            for column, count in zip(shown.counts[:3], counts, strict=True):
                column[p] += count
            state.t[p] += np.count_nonzero(y[order])
        return shown.size

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has."""
        return ("LoopWeights",)
