"""Columns of an integer matrix on which all its columns depend, with a proof that they do.

A minor that is nonsingular modulo a prime is nonsingular, so a rank modulo a prime is never too large. That it is not
too small either follows from many primes: a minor that is 0 modulo each of them, and smaller than their product, is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.prover.exact import modular
from rosenblatt.prover.exact.lifting import as_limbs, invert_modulo, residues, small_primes
from rosenblatt.prover.exact.rational import MAX_UNKNOWNS, array_pivots

Array = npt.NDArray[Any]

# Products of floats that a proof may take: some seconds.
MAX_PRODUCTS = 10**11


def spanning_columns(A: Array) -> list[int] | None:
    """Find independent columns of an integer matrix on which all others depend, and prove that they do.

    Parameters
    ----------
    A : array of int64 or of Python integers, of shape (m, n)

    Returns
    -------
    list of int or None
        Those that do not depend on columns to their left. None if the proof would take too long.

    Examples
    --------
    >>> spanning_columns(np.array([[0, 1, 2, 1], [0, 2, 4, 1], [0, 3, 6, 1]]))
    [1, 3]
    """
    A = _distinct(A)
    rows, columns = array_pivots(A)
    rank = len(rows)
    if rank in A.shape or not A.any():  # no rank is larger
        return columns
    # Hadamard: a minor of one more row and column is at most the product of the lengths of its rows.
    sizes = [(rank + 1) * int(size) ** 2 for size in np.abs(A).max(axis=1)]
    bits = (sum(sizes[i].bit_length() for i in rows) + max(sizes).bit_length()) // 2 + 1
    primes = bits // (modular.LIMB_BITS - 1) + 1
    if rank > MAX_UNKNOWNS or primes * A.size * rank > MAX_PRODUCTS:
        return None
    limbs, product = as_limbs(A), 1
    for p in small_primes():
        depends = _depend_modulo(limbs, rows, columns, p)
        if depends is False:
            return None  # negligible: both primes of `array_pivots` hid a part of the rank
        product *= p if depends else 1
        if product.bit_length() > bits:
            return columns
    raise AssertionError("there are more primes than can divide a determinant")


def _depend_modulo(limbs: Array, rows: list[int], columns: list[int], p: int) -> bool | None:
    """Check modulo a prime that a matrix has no larger rank than a minor of it; None if that minor is singular there.

    All sums are of at most MAX_UNKNOWNS products of residues, hence exact in floats in any order.
    """
    A = np.empty(limbs.shape[1:])
    modular.reduce_limbs(limbs, float(p), A)
    inverse = np.ascontiguousarray(A[np.ix_(rows, columns)])
    if not invert_modulo(inverse, p):
        return None
    shares = residues(inverse @ A[rows], p)
    return bool(modular.congruent(A[:, columns] @ shares, A, float(p)))


def _distinct(A: Array) -> Array:
    """Leave out rows that are equal to rows above."""
    keys = A.tolist() if A.dtype == object else [row.tobytes() for row in np.ascontiguousarray(A)]
    first: dict[Any, int] = {}
    for i, key in enumerate(keys):
        first.setdefault(tuple(key) if isinstance(key, list) else key, i)
    return A[list(first.values())]
