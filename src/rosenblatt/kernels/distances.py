"""Compiled sums of absolute differences: the city-block distances of two blocks of rows.

Nothing here checks bounds. Names: i row of A, j row of B, k feature.
"""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.jit import compiled

# Sums may be reordered and fused, which is what vectorises them; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}


class CsrBlock(NamedTuple):
    """Rows stored by their nonzeros: row i is entries indptr[i] to indptr[i + 1]."""

    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,) features, ascending within a row
    indptr: np.ndarray  # (n + 1,)
    length: np.ndarray  # (n,) sum of the absolute values of each row


@compiled(fastmath=FASTMATH)
def city_block(A, B, out):
    """Write |a - b|_1 for each row a of A and each row b of B, both dense, into out (rows of A, rows of B)."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                total += abs(A[i, k] - B[j, k])
            out[i, j] = total


@compiled(fastmath=FASTMATH)
def city_block_csr(A, B, out):
    """Write the same for two `CsrBlock`: the sum of both lengths, corrected where both rows have an entry."""
    data_a, indices_a, indptr_a, length_a = A
    data_b, indices_b, indptr_b, length_b = B
    for i in range(indptr_a.size - 1):
        for j in range(indptr_b.size - 1):
            total = length_a[i] + length_b[j]
            a, b = indptr_a[i], indptr_b[j]
            while a < indptr_a[i + 1] and b < indptr_b[j + 1]:
                if indices_a[a] < indices_b[b]:
                    a += 1
                elif indices_a[a] > indices_b[b]:
                    b += 1
                else:
                    x, z = data_a[a], data_b[b]
                    total += abs(x - z) - abs(x) - abs(z)
                    a += 1
                    b += 1
            out[i, j] = max(total, 0.0)  # rounding may leave a distance just below zero
