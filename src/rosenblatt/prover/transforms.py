"""Rows on which `certify` answers other questions: polynomial kernels and ordinal models, without rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.data.matrices import as_csr, column_names, sp
from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Dense, gather
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact.numbers import exact_table

Array = npt.NDArray[Any]

MAX_ENTRIES = 1 << 27  # of the matrix of monomials: a gigabyte


def monomials(X: Any, degree: int = 2, *, decimal: bool = False) -> Array:
    """Compute all products of up to `degree` features: x1, x2, ..., x1 x1, x1 x2, ..., each exactly.

    A polynomial kernel (1 + x.z)^degree separates rows if and only if a hyperplane separates their monomials: the
    two feature spaces differ by positive factors of the coordinates.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    degree : int
        Highest degree of a product, at least 1.
    decimal : bool
        Multiply the shortest decimals that round to the values, as ``certify(..., exact="decimal")`` reads them,
        instead of the binary values.

    Returns
    -------
    array of shape (n_samples, n_monomials)
        float64; or integers and Fractions, if X has numbers that float64 does not hold.

    Raises
    ------
    InvalidInput
        If a product does not fit a float exactly: a proof would then be about other numbers.

    Examples
    --------
    >>> from rosenblatt import certify
    >>> from rosenblatt.prover import monomials
    >>> monomials([[2, 3]]).tolist()
    [[2.0, 3.0, 4.0, 6.0, 9.0]]
    >>> certify(monomials([[0, 0], [1, 0], [0, 1], [1, 1]]), [0, 1, 1, 0]).verdict
    'separable'
    """
    if not isinstance(degree, int) or degree < 1:
        raise InvalidInput(f"degree={degree!r} is not a whole number from 1. Pass the highest degree of a product.")
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
    """Return the number of bits from the first to the last nonzero binary digit of each number."""
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
        remedy = "Round X to fewer binary digits, as in np.round(X * 1024) / 1024, or read it as decimals."
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


def against_thresholds(X: Any, y: Any, *, order: Sequence[Any] | None = None) -> tuple[Any, Array]:
    """Turn an ordinal model into a question of two classes, whether each observation is between its thresholds.

    A cumulative-link model (proportional odds, ordered probit) has one weight vector, and a threshold between each two
    neighbouring classes. Its likelihood has no maximum if and only if there are weights and thresholds that put no
    observation on the wrong side of the thresholds around its class, and one strictly on the right side: the question
    that `certify` answers for the returned rows. Their intercept is the first threshold, and additional columns have
    the differences of the other thresholds from it.

    Parameters
    ----------
    X : array-like, sparse matrix or pandas data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Ordered classes.
    order : sequence, optional
        All labels, the lowest class first. By default they are sorted.

    Returns
    -------
    rows : like X
        One or two rows for each observation, in order, with an additional column for each threshold after the first.
    above : bool array
        For each row, whether its observation belongs above the threshold.

    Raises
    ------
    InvalidInput
        If there are fewer than two classes, or `order` does not list them.

    Examples
    --------
    >>> rows, above = against_thresholds([[1], [2], [3]], ["low", "high", "mid"], order=["low", "mid", "high"])
    >>> rows.tolist(), above.tolist()
    ([[1, 0], [2, 1], [3, 0], [3, 1]], [False, True, True, False])
    """
    sparse, frame = sp.issparse(X), X if hasattr(X, "iloc") else None
    values: Any = as_csr(X) if sparse else np.asarray(X)
    classes, label = as_labels(y, values.shape[0])
    levels = classes.tolist() if order is None else list(order)
    if len(levels) < 2 or sorted(map(repr, levels)) != sorted(map(repr, classes.tolist())):
        raise InvalidInput(
            f"order={levels!r:.200} does not list the classes {classes.tolist()!r:.200}, at least two, each once. Pass "
            "all labels of y, the lowest class first."
        )
    rank = np.array([levels.index(one) for one in classes.tolist()])[label]
    sample = np.repeat(np.arange(rank.size), 2)
    threshold = (rank[:, None] - [1, 0]).ravel()  # the one below each class, and the one above it
    inside = (threshold >= 0) & (threshold < len(levels) - 1)
    sample, threshold = sample[inside], threshold[inside]
    marks = (threshold[:, None] == np.arange(1, len(levels) - 1)).astype(np.int64)
    above = threshold < rank[sample]
    if sparse:
        columns: Any = sp.csr_array(marks.astype(values.dtype))
        return sp.hstack([values[sample], columns], format="csr"), above
    if frame is None or not column_names(frame):
        return np.hstack([values[sample], marks.astype(values.dtype)]), above
    named = {f"threshold {levels[t]}|{levels[t + 1]}": marks[:, t - 1] for t in range(1, len(levels) - 1)}
    return frame.iloc[sample].reset_index(drop=True).assign(**named), above
