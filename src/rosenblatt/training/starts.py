"""Where states begin: in memory, as users give them, as files have them, with problems or features that came later."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.checks import check_layout, check_record
from rosenblatt.storage.registry import expect
from rosenblatt.training.algorithm import Algorithm, Order, copy_state, order_of

Array = npt.NDArray[Any]


# Of a cache. Vectors of weights that lie across two lines take longer to read.
LINE_BYTES = 64


def zeros(shape: tuple[int, int], dtype: npt.DTypeLike, order: Order) -> Array:
    """Return a matrix of zeros that begins with a line of the cache."""
    kind = np.dtype(dtype)
    room = np.zeros(shape[0] * shape[1] * kind.itemsize + LINE_BYTES, np.uint8)
    first = -room.ctypes.data % LINE_BYTES
    return room[first : room.size - LINE_BYTES + first].view(kind).reshape(shape, order=order)


def check_start(init: Any, n_problems: int, n_features: int) -> tuple[Array, Array]:
    """Return an initial (w0, b0) as arrays for every problem, or raise an error that names its fault."""
    wanted = (n_problems, n_features)
    try:
        w0, b0 = (np.asarray(part, dtype=np.float64) for part in init)
        if w0.shape not in (wanted, wanted[1:]):
            raise ValueError(f"w0 has shape {w0.shape}")
        W0, b0 = np.broadcast_to(w0, wanted), np.broadcast_to(b0, wanted[:1])
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"init is not a pair (w0, b0) with w0 of shape {wanted} and b0 of shape {wanted[:1]}: {error}."
        ) from None
    if not (np.isfinite(W0).all() and np.isfinite(b0).all()):
        raise InvalidInput("init has values that are not finite. Start from finite weights.")
    return W0, b0


def check_stored(algorithm: Algorithm, state: Any) -> None:
    """Raise a `Fault` unless the arrays of a state from a file are those that the loops may read."""
    check_record("the state", state, algorithm.state_class)
    shaped = state.W.ndim == 2 and state.b.ndim == 1
    expect(shaped, f"the state has weights of shape {state.W.shape} and biases of shape {state.b.shape}. Fit again")
    problems, features = state.W.shape
    check_layout(state, algorithm.layout, {"p": problems, "d": features, "e": features + 1})
    expect(np.all(state.t >= 0), "the state has seen fewer than no trials")


def grown(algorithm: Algorithm, state: Any, change: Array) -> Any:
    """Return the state of more problems, as `Method.grow` does for what any state has."""
    source = np.abs(change).argmax(axis=1)
    fresh = ~change.any(axis=1)
    sign = change[np.arange(change.shape[0]), source]
    new_state = copy_state(algorithm.start(change.shape[0], state.W.shape[1], state.W.dtype, order_of(state.W)))
    for name, old, new in zip(state._fields, state, new_state, strict=True):
        factor = sign if name in algorithm.signed else np.ones_like(sign)
        taken = old[source] * factor.reshape(-1, *[1] * (old.ndim - 1)).astype(old.dtype)
        new[~fresh] = taken[~fresh]
    return new_state


def widened(algorithm: Algorithm, state: Any, features: int) -> Any:
    """Return the state of more features, as `Method.widen` does."""
    wider = copy_state(algorithm.start(state.b.size, features, state.W.dtype, order_of(state.W)))
    for old, new in zip(state, wider, strict=True):
        new[tuple(slice(size) for size in old.shape)] = old
    return wider
