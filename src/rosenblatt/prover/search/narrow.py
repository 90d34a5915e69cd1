"""Wide rows without the columns that depend on others: what is decided there holds of all columns.

Weights there are weights of all columns, zero on those that were left out; a sum of rows that vanishes there vanishes
on columns that depend on them. Which columns depend on others is found modulo primes. So that no verdict
rests on that, what is found is checked on all columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.prover.certificates.brackets import combine
from rosenblatt.prover.certificates.spans import sample_integers
from rosenblatt.prover.exact.clock import Clock
from rosenblatt.prover.exact.rational import MAX_UNKNOWNS, array_pivots
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.compact import CompactRows
from rosenblatt.prover.search.views import View, is_wide
from rosenblatt.prover.search.witness import Witness, counts_to_multipliers

Array = npt.NDArray[Any]

# Samples, for each feature, from which dependent features are guessed.
SAMPLES_PER_FEATURE = 2
# Seconds that a product takes in an elimination modulo primes.
SECONDS_PER_PRODUCT = 2e-9


class NarrowView:
    """A view of signed rows without columns that depend on others.

    Attributes
    ----------
    rows : CompactRows
        The signed rows without these columns.
    inner : View
        A view of them.
    """

    def __init__(self, signed: SignedRows, rows: CompactRows, inner: View) -> None:
        self.signed, self.rows, self.inner = signed, rows, inner
        self.n, self.width = inner.n, inner.width

    def gather(self, ids: Array) -> Array:
        """Copy some rows."""
        return self.inner.gather(ids)

    def margins(self, u: Array) -> Array:
        """Compute the product of every row with u."""
        return self.inner.margins(u)

    def to_weights(self, u: Array) -> Array:
        """Return the weights of the signed rows."""
        weights: Array = self.rows.to_weights(self.inner.to_weights(u))
        return weights


def is_long(signed: SignedRows) -> bool:
    """Return whether rows have so many columns that they are searched in the space that they span."""
    return is_wide(signed) or signed.width > MAX_UNKNOWNS


def narrowed(signed: SignedRows, clock: Clock) -> CompactRows | None:
    """Leave out columns of long rows that depend on others; None if there are none, or they are too many to look at."""
    if not is_long(signed):
        return None
    samples = np.arange(0, signed.samples, -(-signed.samples // (SAMPLES_PER_FEATURE * (signed.features + 1))))
    matrix = sample_integers(signed, samples, np.arange(signed.features + 1))
    if matrix is None or SECONDS_PER_PRODUCT * matrix.size * min(matrix.shape) > clock.left:
        return None
    # Neighbours are often alike: columns in any order are better conditioned.
    order = np.random.default_rng(0).permutation(signed.features)
    columns = array_pivots(matrix[:, [signed.features, *order]])[1]
    kept = np.sort(order[[j - 1 for j in columns if j]])
    return CompactRows(signed, columns=kept) if kept.size < signed.features else None


def widened(signed: SignedRows, rows: CompactRows, witness: Witness | None) -> Witness | None:
    """Return a witness of rows without some columns as one of all columns, if it is."""
    if witness is None:
        return None
    if witness.w is not None:
        return witness._replace(w=rows.to_weights(witness.w))
    multipliers = counts_to_multipliers(rows.signed, witness.support, witness.counts)
    vanishes = not combine(signed, witness.support, multipliers)[0]
    return rows.to_witness(signed, witness) if vanishes else None
