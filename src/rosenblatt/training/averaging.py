"""The average of a first-order state: (scale_sum W - lag) over the trials that it is of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.epoch import Weights
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.storage.registry import expect
from rosenblatt.training.algorithm import FEW_WEIGHTS, as_hyperplanes, order_of

if TYPE_CHECKING:
    from rosenblatt.training.first_order import FirstOrder

Array = npt.NDArray[Any]


def check_parts(algorithm: FirstOrder, state: Weights) -> None:
    """Raise a `Fault` unless the parts of a state from a file, whose shapes are sound, fit one another."""
    expect(np.all(state.scale > 0), "the state has scales that are not positive")
    expect(np.all((state.skipped >= 0) & (state.skipped <= state.t)), "the state skips trials that were not made")
    averaged, truncated = state.lag.shape == state.W.shape, state.paid.shape == state.W.shape
    wanted = (algorithm.averaged, algorithm.truncated)
    empty = state.W.shape[1] == 0
    expect(empty or (averaged, truncated) == wanted, "the state is one of other parameters. Fit again")


def average(state: Weights) -> Hyperplanes:
    """Return the average of the weights and biases."""
    trials = np.maximum(state.t - state.skipped, 1)
    if state.W.size > FEW_WEIGHTS and order_of(state.W) == order_of(state.lag) == "F":
        from rosenblatt.engine.classes import average_all  # which imports Numba

        W = np.empty(state.W.shape, state.W.dtype, "F")
        average_all(state.W.T, state.scale_sum, state.lag.T, trials, W.T)
    else:
        W = state.scale_sum[:, None] * state.W
        W -= state.lag  # in place: there may be more weights than fit into memory twice
        W /= trials[:, None]
    b = (state.t * state.b.astype(float) - state.lag_b) / trials
    return as_hyperplanes(W.astype(state.W.dtype, copy=False), b.astype(state.b.dtype))


def squared_lengths(state: Weights) -> Array | None:
    """Return the sum of squares of each problem's weights, or of their average, which are not written for that.

    None if they do not lie feature by feature, or if something could overflow.
    """
    averaged = state.lag.shape[1] > 0
    if order_of(state.W) != "F" or (averaged and order_of(state.lag) != "F"):
        return None
    from rosenblatt.engine.classes import sum_squares  # which imports Numba

    squares, limit = np.zeros(state.b.size), np.finfo(state.W.dtype).max
    trials = np.maximum(state.t - state.skipped, 1.0) if averaged else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        sum_squares(state.W.T, state.scale_sum if averaged else state.scale, state.lag.T, squares)
        squares = squares / trials / trials
        largest = np.sqrt(squares) + state.t * np.abs(state.b.astype(float)) + np.abs(state.lag_b)
        return squares if (largest < limit).all() else None


def begin_anew(state: Weights, problems: Any) -> None:
    """Let the averages of some problems begin with the weights as they are now, which count as those of one trial.

    An average that begins anew in epochs 2, 4, 8, ... is that of the later half of a run at least. Of rates that fall
    with 1/t it is closer to the optimum than the average over all trials, whose first weights are far from the last
    (Rakhlin, Shamir and Sridharan 2012, Making gradient descent optimal for strongly convex stochastic optimization).
    """
    if isinstance(problems, list) and len(problems) == state.b.size:
        problems = slice(None)  # several times as fast
    state.skipped[problems] = np.maximum(state.t[problems] - 1, 0)
    state.scale_sum[problems] = state.scale[problems]
    state.lag[problems] = 0.0
    state.lag_b[problems] = state.skipped[problems] * state.b[problems].astype(float)


def merge(algorithm: FirstOrder, folded: Sequence[Weights], share: Array) -> Weights:
    """Return the mean of the weights, and the average over the trials of all states, whose scales are one."""
    W = sum(s * state.W.astype(float) for s, state in zip(share, folded, strict=True))
    b = sum(s * state.b.astype(float) for s, state in zip(share, folded, strict=True))
    problems, features = folded[0].W.shape
    merged = algorithm.start(problems, features, folded[0].W.dtype, order_of(folded[0].W))
    merged.W[:], merged.b[:] = W, b
    for state in folded:
        merged.t[:] += state.t
        merged.skipped[:] += state.skipped
        merged.scale_sum[:] += state.scale_sum
    merged.owed[:] = sum(s * state.owed for s, state in zip(share, folded, strict=True))
    merged.paid[:] = sum(s * state.paid for s, state in zip(share, folded, strict=True))
    if algorithm.averaged:
        # scale_sum W - lag must remain the sum of the weights over the trials of all averages.
        total = sum(state.scale_sum[:, None] * state.W - state.lag for state in folded)
        total_b = sum(state.t * state.b.astype(float) - state.lag_b for state in folded)
        merged.lag[:] = merged.scale_sum[:, None] * merged.W - total
        merged.lag_b[:] = merged.t * merged.b.astype(float) - total_b
    return merged
