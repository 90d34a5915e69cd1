"""The weights that sparse rows touch: what depends on them is done in time proportional to the entries of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.epoch import LEAST_SCALE
from rosenblatt.engine.rows import Csr
from rosenblatt.training.algorithm import Algorithm, EpochArgs, order_of
from rosenblatt.training.first_order import FirstOrder

Array = npt.NDArray[Any]

# Entries of rows, as a share of the features, up to which it pays to look only at the weights that they touch: to
# gather them takes longer for each of them than to go through all.
TOUCHED_PER_FEATURE = 0.1


def touches_few(table: Table, features: int) -> bool:
    """Return whether rows touch so few of the weights that these are better looked at alone."""
    return isinstance(table.rows, Csr) and table.entries <= TOUCHED_PER_FEATURE * features


def touched_part(state: Any, table: Table) -> tuple[Any, Table]:
    """Return the part of a state that sparse rows touch, and the rows with their columns numbered accordingly.

    Each entry has a column of its own, whether or not another entry is of the same feature.

    Parameters
    ----------
    state : NamedTuple of arrays
        Of a method.
    table : Table
        With sparse rows.
    """
    assert isinstance(table.rows, Csr)
    data, indices, indptr = table.rows
    features, order = state.W.shape[1], order_of(state.W)
    part = (np.array(array[:, indices], order=order) if by_feature(array, features) else array for array in state)
    rows = Csr(data, np.arange(indices.size, dtype=indices.dtype), indptr)
    return type(state)(*part), Table(rows, (table.shape[0], indices.size), table.dtype, table.largest)


def by_feature(array: Array, features: int) -> bool:
    """Return whether an array of a state has a column for each feature."""
    return array.ndim == 2 and array.shape[1] == features


def stays_local(shown: EpochArgs, algorithm: Algorithm, state: Any) -> bool:
    """Return whether rows change the weights of their own features only.

    A penalty shrinks all weights through their scale, and writes it to each of them where it gets too small.
    """
    if not isinstance(algorithm, FirstOrder) or not algorithm.penalised:
        return algorithm.local
    # The first rate is the largest.
    eta = (
        shown.eta if algorithm.rate is None else 1.0 / (algorithm.rate.strength * (algorithm.rate.start + state.t + 1))
    )
    shrunk = np.maximum(0.0, 1.0 - eta * algorithm.penalty.l2) ** shown.size
    return bool((state.scale * shrunk > 2 * LEAST_SCALE).all())  # twice, as the loop rounds


class Snapshot:
    """The weights that rows touch, as they were; all of them, unless the rows are sparse and updates local."""

    def __init__(self, state: Any, rows: Any, *, local: bool = True) -> None:
        self.state, self.features = state, state.W.shape[1]
        few = local and isinstance(rows, Csr) and rows.indices.size < self.features
        # A column may come several times: it is then put back several times, to what it was.
        self.columns = rows.indices if few else slice(None)
        self.before = [self._touched(array).copy() for array in state]

    def _touched(self, array: Array) -> Array:
        return array[:, self.columns] if by_feature(array, self.features) else array

    def restore(self) -> None:
        """Put the weights back."""
        for array, old in zip(self.state, self.before, strict=True):
            if by_feature(array, self.features):
                array[:, self.columns] = old
            else:
                array[:] = old
