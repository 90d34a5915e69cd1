"""Penalties on the weights, and the learning rate that goes with them."""

from typing import NamedTuple

from rosenblatt.jit import compiled
from rosenblatt.verbs.learning import AFTER, BEFORE, RATE, NoPenalty, after_none
from rosenblatt.verbs.pointers import pointer
from rosenblatt.verbs.rows import entries, entry


class Ridge(NamedTuple):
    """Each trial shrinks the weights by `l2`."""

    l2: float


class ElasticNet(NamedTuple):
    """Each trial shrinks the weights by `l2` and truncates them by `l1` (Tsuruoka et al. 2009, cumulative)."""

    l1: float
    l2: float


Penalty = NoPenalty | Ridge | ElasticNet

# Scale of a vector below which it is multiplied into all weights.
LEAST_SCALE = 1e-9


class HarmonicRate(NamedTuple):
    """Learning rate 1 / (strength (start + t)) in trial t. Shalev-Shwartz et al. (2007) with start 0."""

    strength: float
    start: float


@compiled()
def _fold(W, strides, itemsize, features, scale, scale_sum, lag, lag_features, p):
    """Multiply the scale of vector p into it; the sum over the trials, scale_sum W - lag, stays what it is.

    By pointers: to pass arrays on in a branch takes longer than a short row, see `rosenblatt.verbs.pointers`.
    """
    first, stride = p * strides[0] // itemsize, strides[1] // itemsize
    if scale[p] > 0.0:
        scale_sum[p] /= scale[p]
    else:
        for j in range(lag_features):
            lag[first + j * stride] -= scale_sum[p] * W[first + j * stride]
        scale_sum[p] = 0.0
    for j in range(features):
        W[first + j * stride] *= scale[p]
    scale[p] = 1.0


@compiled(forceinline=True)
def _truncate(weights, p, j):
    """Pay what weight j of vector p still owes, but not past zero."""
    scale = weights.scale[p]
    before = scale * weights.W[p, j]
    after = before
    if before > 0.0:
        after = max(0.0, before - (weights.owed[p] + weights.paid[p, j]))
    elif before < 0.0:
        after = min(0.0, before + (weights.owed[p] - weights.paid[p, j]))
    if after != before:
        weights.paid[p, j] += after - before
        if weights.lag.shape[1]:
            weights.lag[p, j] += weights.scale_sum[p] * (after - before) / scale
        weights.W[p, j] = after / scale


def _before_shrink(penalty, eta, W, scale, scale_sum, lag, p):
    # In constant time, through the scale, which is folded in before it gets too small.
    scale[p] *= max(0.0, 1.0 - eta * penalty.l2)
    weights, lags, scales, sums = pointer(W), pointer(lag), pointer(scale), pointer(scale_sum)
    strides, itemsize, features, lag_features = W.strides, W.itemsize, W.shape[1], lag.shape[1]
    if scales[p] < LEAST_SCALE:
        _fold(weights, strides, itemsize, features, scales, sums, lags, lag_features, p)


def _after_elastic_net(penalty, eta, rows, i, weights, p):
    if penalty.l1 > 0.0:
        weights.owed[p] += eta * penalty.l1
        # Only what the row touches: a weight that no row reads can pay later, and sparse stays sparse.
        start, end = entries(rows, i)
        for k in range(start, end):
            j, value = entry(rows, i, k)
            if value != 0.0:
                _truncate(weights, p, j)


BEFORE |= {Ridge: _before_shrink, ElasticNet: _before_shrink}
AFTER |= {Ridge: after_none, ElasticNet: _after_elastic_net}
RATE |= {HarmonicRate: lambda rate, t: 1.0 / (rate.strength * (rate.start + t))}


@compiled()
def settle(weights):
    """Pay all truncation and fold the scales into the weights, so that W alone is the model."""
    for p in range(weights.W.shape[0]):
        for j in range(weights.paid.shape[1]):
            _truncate(weights, p, j)
        parts = pointer(weights.scale), pointer(weights.scale_sum), pointer(weights.lag), weights.lag.shape[1]
        _fold(pointer(weights.W), weights.W.strides, weights.W.itemsize, weights.W.shape[1], *parts, p)
