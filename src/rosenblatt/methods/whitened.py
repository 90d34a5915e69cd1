"""First-order rules with a matrix of learning rates: steps along whitened rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.whitened import (
    Steering,
    Whitening,
    direct_all,
    learn_whitened_row,
    run_whitened_epoch,
)
from rosenblatt.errors import InvalidInput
from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.methods.method import Method, Pass
from rosenblatt.methods.single_row import RowTask, bind_row_loop
from rosenblatt.storage.registry import expect
from rosenblatt.verbs.learning import Weights

Array = npt.NDArray[Any]

# Times the mean squared length from which on rows are normalised, and so many times the learning rate: the step of
# shorter rows is that of least squares, in which each counts alike. Measured on 43 data sets, scaled: with 1 rows that
# are hardly longer than the mean count less, which costs 3 points of accuracy where values are few (led7digit).
LONG = 2.0
# Entries of rows whose directions are kept, as they are presented in every epoch.
KEPT_ENTRIES = 1 << 24


@dataclass
class Whitened(FirstOrder):
    """A rule that moves the weights along the row with its columns made uncorrelated and of one size.

    Attributes
    ----------
    whitening : array of shape (features + 1, features)
        A symmetric matrix of learning rates, and the centre of the rows. Features that appear later have a rate of
        their own, the median.
    """

    whitening: Array = field(default_factory=lambda: np.zeros((1, 0)), compare=False)

    by_feature: ClassVar[bool] = False
    local: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Keep no directions yet; and none at all of a stream, whose rows do not return."""
        self.whitening = np.ascontiguousarray(self.whitening, np.float64)
        shape = self.whitening.shape
        if len(shape) != 2 or shape[0] != shape[1] + 1:
            raise InvalidInput(f"whitening_ has shape {shape}: assign a square matrix with the centre below, or refit.")
        self._kept: tuple[Any, Array] | None = None
        self._returns = False

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the directions."""
        return self.__dict__ | {"_kept": None}

    def check_state(self, state: Weights) -> None:
        """Raise a `Fault` unless a state from a file is sound, with weights for all features of the matrix."""
        super().check_state(state)
        known, features = self.whitening.shape[1], state.W.shape[1]
        expect(known <= features, f"the matrix of rates is for {known} features, of {features}. Fit again")

    def trial_cost(self, entries: int, features: int, problems: int) -> int:
        """Return about how many numbers a trial reads: the matrix of rates among them."""
        return entries * (2 * problems + features)

    def begin_epoch(self, epoch: int, problems: Any, state: Weights) -> None:
        """Expect the rows to be presented again."""
        super().begin_epoch(epoch, problems, state)
        self._returns = True

    def _whitening(self, features: int, bias: float) -> Whitening:
        known = min(self.whitening.shape[1], features)
        matrix, centre = self.whitening[:-1][:known, :known], self.whitening[-1][:known]
        if features > known:
            rates = np.full(features, np.sort(matrix.diagonal())[known // 2] if known else 1.0)
            wider, centre = np.diag(rates), np.append(centre, np.zeros(features - known))
            wider[:known, :known] = matrix
            matrix = wider
        return Whitening(
            np.ascontiguousarray(matrix), np.ascontiguousarray(centre), -(centre @ matrix), float(bias > 0)
        )

    def _directions(self, rows: Any, count: int, whitening: Whitening) -> tuple[Array, bool]:
        """Return the directions of all rows, if they are not too many; else room for one."""
        features = whitening.centre.size
        if not self._returns or count * features > KEPT_ENTRIES:
            return np.empty((1, features + 2)), False
        if self._kept is None or self._kept[0] is not rows[0] or self._kept[1].shape != (count, features + 2):
            directions = np.empty((count, features + 2))
            direct_all(rows, whitening, directions)
            self._kept = rows[0], directions
        return self._kept[1], True

    def present(self, shown: Pass, state: Weights, into: Weights) -> int:
        """Run the loop over whitened rows."""
        whitening = self._whitening(state.W.shape[1], shown.task.bias)
        directions, kept = self._directions(shown.rows, shown.task.label.size, whitening)
        how = Steering(LONG * shown.eta, self.averaged, kept)
        run_whitened_epoch(
            self.rule, how, shown.rows, shown.task, shown.order, shown.active, whitening, directions, into, shown.counts
        )
        return shown.size

    def row_learner(self, trial: RowTask, state: Weights, rows: Any) -> Callable[[Any, int], int]:
        """Return a function that runs one trial, in a single compiled call."""
        whitening = self._whitening(state.W.shape[1], trial.task.bias)
        steering, room = Steering(LONG * trial.eta, self.averaged, False), np.empty((1, state.W.shape[1] + 2))
        return bind_row_loop(learn_whitened_row, (self.rule, steering, whitening, room), trial, state[:-1], rows)

    def dense_row_learner(self, trial: RowTask, state: Weights, x: Array) -> Callable[[Any, int], int]:
        """Return the same as a function of a dense row."""
        return Method.dense_row_learner(self, trial, state, x)
