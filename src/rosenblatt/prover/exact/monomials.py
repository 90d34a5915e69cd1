"""The explicit feature map of polynomial kernels, without rounding, so that proofs hold for it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.reorder import gather
from rosenblatt.engine.rows import Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact.numbers import exact_table

Array = npt.NDArray[Any]

# Entries of the largest matrix that is made: a gigabyte.
MAX_ENTRIES = 1 << 27


def monomials(X: Any, degree: int = 2, *, decimal: bool = False) -> Array:
    """Compute all products of up to `degree` features: x1, x2, ..., x1 x1, x1 x2, ..., each exactly.

    A polynomial kernel (1 + x.z)^degree separates rows if and only if a hyperplane separates their monomials: the
    two feature spaces differ by positive factors of the coordinates.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    degree : int
        From 1.
    decimal : bool
        Multiply the shortest decimals that round to the values, as ``certify(..., exact="decimal")`` reads them, and
        not the binary values.

    Returns
    -------
    array of shape (n_samples, n_monomials)
        Of float64; of integers and Fractions where X has numbers that float64 does not hold.

    Raises
    ------
    InvalidInput
        If a product does not fit a float, so that a proof about it would be one about other numbers.

    Examples
    --------
    >>> from rosenblatt import certify
    >>> from rosenblatt.prover.exact.monomials import monomials
    >>> monomials([[2, 3]]).tolist()
    [[2.0, 3.0, 4.0, 6.0, 9.0]]
    >>> certify(monomials([[0, 0], [1, 0], [0, 1], [1, 1]]), [0, 1, 1, 0]).verdict
    'separable'
    """
    if not isinstance(degree, int) or degree < 1:
        raise InvalidInput(f"degree={degree!r} is not a whole number from 1.")
    table = exact_table(X, decimal=decimal)
    n, d = table.shape
    count = math.comb(d + degree, degree) - 1
    if n * count > MAX_ENTRIES:
        raise InvalidInput(
            f"{d} features have {count} monomials up to degree {degree}: too many for {n} rows. Choose fewer features."
        )
    x = np.zeros((n, d))
    gather(table.rows, np.arange(n), np.ones(n), x)
    multiply = _decimal_product if decimal else _binary_product
    if table.exact is not None:
        x, multiply = _exact_values(table), _exact_product
    products: dict[tuple[int, ...], Array] = {(j,): x[:, j] for j in range(d)}
    for size in range(2, degree + 1):
        for powers in combinations_with_replacement(range(d), size):
            products[powers] = multiply(products[powers[:-1]], x[:, powers[-1]], powers)
    return np.column_stack(list(products.values()))


def _rounded(powers: tuple[int, ...], row: int, remedy: str) -> InvalidInput:
    name = " ".join(f"x{j + 1}" for j in powers)
    return InvalidInput(f"The product {name} of row {row} does not fit a float without rounding. {remedy}")


def _bits(values: Array) -> Array:
    """Count the bits of each number from its first to its last binary digit that is not zero."""
    mantissa = (np.abs(np.frexp(values)[0]) * 2.0**53).astype(np.int64)
    last = np.where(mantissa == 0, 1, mantissa & -mantissa)
    return np.where(mantissa == 0, 0, 53 - np.log2(last.astype(np.float64)).astype(np.int64))


def _binary_product(a: Array, b: Array, powers: tuple[int, ...]) -> Array:
    with np.errstate(all="ignore"):
        product: Array = a * b
    zero = (a == 0) | (b == 0)
    normal = np.isfinite(product) & (np.abs(product) >= np.finfo(float).tiny)
    bad = np.flatnonzero(~zero & ((_bits(a) + _bits(b) > 53) | ~normal))
    if bad.size:
        remedy = "Round X to fewer binary digits, as in np.round(X * 1024) / 1024, or take decimals."
        raise _rounded(powers, int(bad[0]), remedy)
    return product


def _exact_values(table: Table) -> Array:
    """Return the integers and Fractions of a table as a matrix."""
    if isinstance(table.rows, Dense):
        return np.asarray(table.exact).astype(object)
    x = np.zeros(table.shape, object)
    x[np.repeat(np.arange(table.shape[0]), np.diff(table.rows.indptr)), table.rows.indices] = table.exact
    return x


def _exact_product(a: Array, b: Array, powers: tuple[int, ...]) -> Array:
    product: Array = a * b
    return product


def _decimal_product(a: Array, b: Array, powers: tuple[int, ...]) -> Array:
    out = np.empty(a.size)
    for i, (p, q) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        exact = Fraction(repr(p)) * Fraction(repr(q))
        out[i] = float(exact)
        if Fraction(repr(out[i].item())) != exact:
            raise _rounded(powers, i, "Round X to fewer decimals.")
    return out
