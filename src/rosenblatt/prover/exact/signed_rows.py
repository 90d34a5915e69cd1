"""Signed rows, the one form of every question of separability: their margins, and the exact signs of these.

For sample i of class y and a rival class r the signed row is z = (e_y - e_r) (x) (x, 1), without the block of class 0,
whose weights are fixed at zero because adding one vector to all classes changes no prediction. A separator is a w with
z.w > 0 for all signed rows. With two classes that is z = y (x, 1), y = -1 for class 0 and +1 for class 1. In a model
without an intercept the constant is 0 in place of 1, and the weight on it is zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import FASTMATH, Csr, Dense, U, entries, entry
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact.clock import check_time, timed
from rosenblatt.prover.exact.rational import as_integers, primitive

Array = npt.NDArray[Any]

EPS = 2.0**-53  # largest relative error of one rounded operation
TINY = 1e-323  # twice the smallest positive number: above the absolute error of a product that underflows
OPEN = 2  # a sign that is not decided yet
# Long weights are cut into limbs of so many bits, unless they make more than so many limbs (128 MB).
LIMB_BITS, MAX_LIMBS = 24, 1 << 24
CACHED_ENTRIES = 1 << 18  # entries of rows as integers that are kept: some ten megabytes


class SignedIndex(NamedTuple):
    """Numbers of signed rows, split into sample, class and rival."""

    row: np.ndarray  # (m,) sample
    own: np.ndarray  # (m,) class of the sample
    rival: np.ndarray  # (m,) rival class


class SignedRows:
    """The signed rows of labelled samples, computed when they are needed and never stored.

    Signed row k belongs to sample k // (classes - 1), and to rival number k % (classes - 1) among the classes other
    than the sample's own. With two classes k is the sample.

    Parameters
    ----------
    table : Table
    label : int array of shape (n_samples,)
        Class numbers from 0.
    classes : int
        Number of classes, at least 2.
    decimal : bool
        Read each value as the shortest decimal that rounds to it, so that 0.1 is one tenth, in `signs` and `integers`.
        If the table has exact values these are read instead, and the attribute is False.
    intercept : bool
        Whether the model has a constant.

    Attributes
    ----------
    n : int
        Number of signed rows.
    width : int
        Their length: (classes - 1) blocks of the weights of one class, its bias last.
    samples, features, classes : int
    constant : int
        1, or 0 without an intercept: the last entry of every padded row.
    terms : int
        Number of rounded terms in the longest margin, for error bounds.
    arithmetic : str
        What the values are: "binary" floats, "decimal" ones, or "rational" if floats do not hold them.
    """

    def __init__(
        self, table: Table, label: Array, classes: int, *, decimal: bool = False, intercept: bool = True
    ) -> None:
        label = np.ascontiguousarray(label, np.int64)
        if classes < 2 or label.shape != (table.shape[0],) or label.min() < 0 or label.max() >= classes:
            raise InvalidInput(
                f"label has shape {label.shape} for {table.shape[0]} rows and {classes} classes. Pass one class "
                "number from 0 for each row, and at least 2 classes."
            )
        self.table, self.label, self.classes = table, label, classes
        self.decimal = decimal and table.exact is None
        self.samples, self.features = table.shape
        self.constant = int(intercept)
        self.arithmetic = "rational" if table.exact is not None else "decimal" if self.decimal else "binary"
        self._rounded_rows = _rounded_rows(table)
        self.n = self.samples * (classes - 1)
        self.width = (self.features + 1) * (classes - 1)
        # Rounded operations in a margin: along its longest row, the bias, and the difference to a rival.
        rows = table.rows
        longest = int(np.diff(rows.indptr).max()) if isinstance(rows, Csr) else self.features
        self.terms = longest + 1 + (classes > 2)
        self._latest: tuple[bytes, Array, Array] = b"", np.empty(0), np.empty(0)
        self._integers: dict[int, tuple[dict[int, int], Fraction]] = {}
        self._cached = 0

    def take(self, index: Array) -> SignedRows:
        """Copy the rows of some samples."""
        return self.with_samples(self.table.take(index), self.label[index])

    def with_samples(self, table: Table, label: Array) -> SignedRows:
        """Return the signed rows of other samples in the same model."""
        return SignedRows(table, label, self.classes, decimal=self.decimal, intercept=bool(self.constant))

    @property
    def columns(self) -> Array:
        """The columns that can have an entry: all, or those of the features without an intercept."""
        every = np.arange(self.width)
        return every if self.constant else every[every % (self.features + 1) < self.features]

    def split(self, k: Any) -> tuple[Any, Any]:
        """Return the sample and the rival class of signed row k, or of an array of signed rows."""
        row, rank = divmod(k, self.classes - 1)
        return row, rank + (rank >= self.label[row])

    def number(self, row: Any, rival: Any) -> Any:
        """Return the number of the signed row of a sample and a rival class, or of arrays of these."""
        return row * (self.classes - 1) + rival - (rival > self.label[row])

    def gather(self, ids: Any, columns: Any = None) -> Array:
        """Copy signed rows into a C-contiguous matrix of float64: all columns, or some without repetitions."""
        index = self._index(ids)
        place = np.arange(self.width)
        if columns is not None:
            kept = np.asarray(columns, np.int64)
            if kept.size and (kept.min() < 0 or kept.max() >= self.width):
                raise InvalidInput(
                    f"columns go from {kept.min()} to {kept.max()}; pass numbers from 0 to {self.width - 1}."
                )
            place[:] = -1
            place[kept] = np.arange(kept.size)
        if not self.constant:
            place[self.features :: self.features + 1] = -1
        out = np.zeros((index.row.size, self.width if columns is None else kept.size))
        gather_signed(self.table.rows, index, place.reshape(self.classes - 1, -1), out)
        return out

    def touched(self, ids: Any) -> Array:
        """Return the sorted columns in which these rows have an entry; all `columns` if the data are dense."""
        row, own, rival = self._index(ids)
        rows = self.table.rows
        if isinstance(rows, Dense):
            return self.columns
        used = np.unique(np.stack([np.concatenate([row, row]), np.concatenate([own, rival])]), axis=1)
        used = used[:, used[1] > 0]
        start = (used[1] - 1) * (self.features + 1)
        first = rows.indptr[used[0]].astype(np.int64)
        count = rows.indptr[used[0] + 1] - first
        place = np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)
        inside = rows.indices[place] + np.repeat(start, count)
        return np.unique(np.concatenate([inside, start + self.features] if self.constant else [inside]))

    def margins(self, w: Array) -> tuple[Array, Array]:
        """Compute s = z.w in floats for every signed row, and a, the sums of |z_j w_j|; both arrays are read-only.

        Each s is within `slack` of the exact margin. The latest result is cached, because search, centring and proof
        need the margins of the same weights.
        """
        w = self._vector(w)
        if self._latest[0] != w.tobytes():
            s, a = np.empty(self.n), np.empty(self.n)
            write_margins[type(self.table.rows)](self.table.rows, self.label, self._by_class(w), s, a)
            s.flags.writeable = a.flags.writeable = False
            self._latest = w.tobytes(), s, a
        return self._latest[1:]

    def _by_class(self, w: Array) -> Array:
        """Return weights with a row for every class; those of the first are zero."""
        return np.vstack([np.zeros(self.features + 1), w.reshape(self.classes - 1, -1)])

    def without_constant(self, w: Any) -> Any:
        """Return weights, floats or integers, with zeros on a constant that the model does not have."""
        if self.constant:
            return w
        cleared = w.copy() if isinstance(w, np.ndarray) else list(w)
        for j in range(self.features, self.width, self.features + 1):
            cleared[j] = 0
        return cleared

    def slack(self, w: Array) -> tuple[float, float]:
        """Return (r, t) such that every computed margin s of w is within r a + t of the exact one.

        The bound holds for any order of summation and fused products: (m + 4) u with m rounded terms, and a few of the
        smallest numbers for products that underflow. A value that is not a float is within one more u of its float.
        """
        relative, absolute = (self.terms + 4) * 1.01 * EPS, (self.terms + 2) * TINY
        if self.arithmetic != "binary":
            relative += 1.01 * EPS
            absolute += TINY * float(np.abs(w).sum())
        return relative, absolute

    def _slack(self, w: Array, exact: bool) -> tuple[float, float]:
        """Compute `slack` for weights that may be rounded integers; `exact` says that they are not."""
        relative, absolute = self.slack(w)
        if exact:
            return relative, absolute
        # Each weight is within 2u of the integer it stands for, or of zero where that underflowed.
        return relative + 2.02 * EPS, absolute + self.terms * TINY * (math.sqrt(self.table.largest) + 1.0)

    def _rounded(self, w: Array | Sequence[int]) -> tuple[Array, list[int] | None, bool]:
        """Return weights as floats up to a power of two, as integers if they are, and whether the floats are exact."""
        if isinstance(w, np.ndarray) and w.dtype.kind == "f":
            return self._vector(w), None, True
        integers = self.without_constant([int(v) for v in w])
        vector, exact = _rounded(integers)
        return self._vector(vector), integers, exact

    def signs(self, w: Array | Sequence[int]) -> Array:
        """Compute the exact signs of z.w over the rationals, as int8.

        A floating-point filter decides most rows. Open rows are summed in doubled precision, with a bound of the loss,
        and if that does not decide, in integers.
        """
        vector, integers, exact = self._rounded(w)
        if not np.isfinite(vector).all():
            raise InvalidInput("w has values that are not finite, so margins have no sign. Pass finite weights.")
        with np.errstate(over="ignore", invalid="ignore"):  # compiled code does not warn, plain Python would
            s, a = self.margins(vector)
            relative, absolute = self._slack(vector, exact)
            out = np.empty(self.n, np.int8)
            count = filter_signs(s, a, relative, absolute, out)
        left_open = np.flatnonzero(out == OPEN) if count else np.empty(0, np.int64)
        if count and exact:
            value, lost = self._doubled_margins(vector, left_open)
            known = (lost == 0) | (np.abs(value) > 1.1 * lost)
            out[left_open[known]] = np.sign(value[known])
            left_open = left_open[~known]
        if left_open.size:
            integers = as_integers(vector)[0] if integers is None else primitive(integers)
            out[left_open] = self._signs_by_limbs(integers, left_open)
            left_open = left_open[out[left_open] == OPEN]
            out[left_open] = [(total > 0) - (total < 0) for total, _ in self._integer_margins(integers, left_open)]
        return out

    def lowest_candidates(self, w: Array | Sequence[int], ids: Array) -> Array:
        """Return the rows among `ids` that may have the lowest margin, judged by floats and their error bounds."""
        vector, _, exact = self._rounded(w)
        with np.errstate(over="ignore", invalid="ignore"):
            s, a = (part[ids] for part in self.margins(vector))
            relative, absolute = self._slack(vector, exact)
            error = relative * a + absolute
            chosen: Array = ids[~(s - error > (s + error).min())]  # all, if a margin overflowed
        return chosen

    def lowest_margin(self, w: Array | Sequence[int], ids: Array) -> Fraction:
        """Bound the lowest margin of some rows from below, within 2**-49 of its size; exactly if w are integers."""
        near = self.lowest_candidates(w, ids)
        vector, integers, _ = self._rounded(w)
        if integers is not None:
            return min(total * scale for total, scale in self._integer_margins(integers, near))
        with np.errstate(over="ignore", invalid="ignore"):
            value, lost = self._doubled_margins(vector, near)
        sure = 1.1 * lost <= 2.0**-51 * np.abs(value)
        least = [Fraction(value[sure].min())] if sure.any() else []
        bounds = [v - abs(v) / 2**50 for v in least]
        if not sure.all():
            integers, common = as_integers(vector)
            bounds += [total * scale * common for total, scale in self._integer_margins(integers, near[~sure])]
        return min(bounds)

    def integers(self, k: int) -> tuple[dict[int, int], Fraction]:
        """Return signed row k exactly: its nonzero entries as integers by column, and their positive scale.

        The row is cached; do not modify it.
        """
        if k in self._integers:
            return self._integers[k]
        row, rival = (int(part) for part in self.split(k))
        columns, values, scale = self._integer_row(row)
        nonzero: dict[int, int] = {}
        for sign, c in ((1, int(self.label[row])), (-1, rival)):
            if c:
                start = (c - 1) * (self.features + 1)
                nonzero.update({start + j: sign * v for j, v in zip(columns, values, strict=True) if v})
        if self._cached + len(nonzero) > CACHED_ENTRIES:
            self._integers.clear()
            self._cached = 0
        self._integers[k] = nonzero, scale
        self._cached += len(nonzero)
        return nonzero, scale

    def scale(self, k: int) -> Fraction:
        """Return the scale of signed row k."""
        return self._integers[k][1] if k in self._integers else self._integer_row(int(self.split(k)[0]))[2]

    def _index(self, ids: Any) -> SignedIndex:
        """Return sample, own class and rival of checked row numbers."""
        ids = np.ascontiguousarray(ids, np.int64).reshape(-1)
        if ids.size and (ids.min() < 0 or ids.max() >= self.n):
            raise InvalidInput(f"signed rows go from {ids.min()} to {ids.max()}; pass numbers from 0 to {self.n - 1}.")
        row, rival = self.split(ids)
        return SignedIndex(row, self.label[row], rival)

    def _vector(self, w: Any) -> Array:
        vector: Array = np.ascontiguousarray(w, np.float64)
        if vector.shape != (self.width,):
            raise InvalidInput(f"w has shape {vector.shape}; pass {self.width} weights, the width of the signed rows.")
        vector = self.without_constant(vector)
        return vector

    def _doubled_margins(self, w: Array, ids: Array) -> tuple[Array, Array]:
        """Compute margins in doubled precision, rounded once, and a bound of the loss before that."""
        value, lost = np.empty(ids.size), np.empty(ids.size)
        index = self._index(ids)
        sum_margins(self.table.rows, index, self._by_class(w), self.arithmetic == "decimal", value, lost)
        if self._rounded_rows is not None:
            lost[self._rounded_rows[index.row]] = np.inf
        return value, lost

    def _integer_row(self, row: int) -> tuple[list[int], list[int], Fraction]:
        """Return columns, integers and scale of a padded row."""
        check_time()
        rows = self.table.rows
        if isinstance(rows, Dense):
            columns, place = list(range(self.features)), slice(row, row + 1)
        else:
            place = slice(rows.indptr[row], rows.indptr[row + 1])
            columns = rows.indices[place].tolist()
        exact = self.table.exact
        values = self.table.values[place].astype(np.float64) if exact is None else exact[place].astype(object)
        integers, scale = as_integers(np.append(values, self.constant), self.decimal)
        return [*columns, self.features], integers, scale

    def _signs_by_limbs(self, w: list[int], ids: Array) -> Array:
        """Compute signs in 64-bit integers for rows with entries of few bits; other rows stay open.

        The difference of two limbs has at most LIMB_BITS + 1 bits, and its product with an entry `entry_bits` more. The
        sum of at most `terms` products and a smaller carry fits into 62 bits.
        """
        out = np.full(ids.size, OPEN, np.int8)
        count = -(-max(v.bit_length() for v in w) // LIMB_BITS)
        size = self.classes * (self.features + 1)
        entry_bits = min(LIMB_BITS, 61 - LIMB_BITS - (2 * self.terms + 2).bit_length())
        if count * size > MAX_LIMBS:
            return out
        W = np.zeros((count, self.classes, self.features + 1), np.int64)
        W.reshape(count, size)[:, self.features + 1 :] = _limbs(w, count)
        index = self._index(ids)
        limb_signs(self.table.rows, index, W, entry_bits, self.arithmetic == "decimal", out)
        if self._rounded_rows is not None:
            out[self._rounded_rows[index.row]] = OPEN
        return out

    def _integer_margins(self, w: list[int], ids: Array) -> list[tuple[int, Fraction]]:
        """Compute margins in integers, each with its row's scale; a row is converted once for all its rivals."""
        size = self.features + 1
        blocks = [[0] * size, *(w[c * size : (c + 1) * size] for c in range(self.classes - 1))]
        margins: list[tuple[int, Fraction]] = []
        differences: dict[tuple[int, int], list[int]] = {}
        last = -1
        for row, own, rival in timed(zip(*(part.tolist() for part in self._index(ids)), strict=True)):
            if row != last:
                columns, values, scale = self._integer_row(row)
                last = row
            if (own, rival) not in differences:
                differences[own, rival] = [p - q for p, q in zip(blocks[own], blocks[rival], strict=True)]
            difference = differences[own, rival]
            margins.append((sum(map(mul, values, (difference[j] for j in columns))), scale))
        return margins


def row_content(table: Table, i: int) -> Any:
    """Return a hashable key that two rows of a table share exactly if they are equal."""
    rows = table.rows
    place = slice(i, i + 1) if isinstance(rows, Dense) else slice(rows.indptr[i], rows.indptr[i + 1])
    values = table.values[place] if table.exact is None else table.exact[place]
    if isinstance(rows, Dense):
        return (values + 0.0).tobytes() if table.exact is None else tuple(values[0].tolist())
    return tuple((j, v) for j, v in zip(rows.indices[place].tolist(), values.tolist(), strict=True) if v)


def _rounded_rows(table: Table) -> Array | None:
    """Return which rows floats do not hold; None if they hold all of them."""
    if table.exact is None:
        return None
    different = (table.exact.astype(object) != table.values.astype(object)).astype(bool)
    if isinstance(table.rows, Dense):
        return np.asarray(different.any(axis=1))
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.rows.indptr))
    return np.bincount(row, different, table.shape[0]) > 0


def _limbs(w: list[int], count: int) -> Array:
    """Cut integers into `count` limbs of LIMB_BITS bits, lowest first, each with the sign of its integer."""
    size = LIMB_BITS // 8
    text = b"".join(abs(v).to_bytes(size * count, "little") for v in w)
    octets = np.frombuffer(text, np.uint8).reshape(len(w), count, size)
    limbs = octets @ (1 << np.arange(0, LIMB_BITS, 8))
    signed: Array = limbs.T * np.array([(v > 0) - (v < 0) for v in w])
    return signed


def _rounded(w: list[int]) -> tuple[Array, bool]:
    """Return w divided by a power of two and rounded to floats, and whether these are exact.

    The largest becomes about 1. Each has a relative error of at most 2u, unless it underflows.
    """
    size = max(v.bit_length() for v in w)
    out, exact = np.empty(len(w)), True
    for j, v in enumerate(w):
        surplus = max(0, v.bit_length() - 64)
        top = v >> surplus
        out[j] = math.ldexp(float(top), surplus - size)
        numerator, denominator = out[j].as_integer_ratio()
        exact = exact and numerator << size == v * denominator
    return out, exact


# -------------------------------------------------------------------------------------------------- compiled passes

# Nothing here checks bounds: `rosenblatt.data.table` and `SignedRows` validate each array. W (classes, features + 1)
# has a row of weights for every class, the bias last; those of the first class are zero.


def _write_margins(rows, label, W, s, a):
    """Write the margin of each row's class over each of its rivals to s, and the sum of the sizes of its terms to a."""
    classes, d = W.shape[0], W.shape[1] - 1
    score, mass = np.zeros(classes), np.zeros(classes)
    t = 0
    for i in range(label.size):
        start, end = entries(rows, i)
        for c in range(1, classes):
            total, size = 0.0, 0.0
            for k in range(U(start), U(end)):
                j, value = entry(rows, i, k)
                term = np.float64(value) * W[c, U(j)]
                total += term
                size += abs(term)
            score[c] = total + W[c, d]
            mass[c] = size + abs(W[c, d])
        own = label[i]
        for rank in range(classes - 1):
            rival = rank + (rank >= own)
            s[t] = score[own] - score[rival]
            a[t] = mass[own] + mass[rival]
            t += 1


# Sums over dense rows are vectorised, in any order, which `slack` allows for. Gathers would make sparse ones slower.
write_margins = {Dense: compiled(fastmath=FASTMATH)(_write_margins), Csr: compiled()(_write_margins)}


@compiled()
def filter_signs(s, a, relative, absolute, out):
    """Write the sign of each margin that is farther from 0 than its error bound, else OPEN; return the open count."""
    count = 0
    for k in range(s.size):
        error = relative * a[k] + absolute
        if not abs(s[k]) < np.inf or not abs(s[k]) > error:
            out[k] = OPEN
            count += 1
        else:
            out[k] = 1 if s[k] > 0 else -1
    return count


@compiled(forceinline=True)
def _two_sum(x, y):
    """Return the sum and its rounding error, exactly (Knuth)."""
    total = x + y
    virtual = total - x
    return total, (x - (total - virtual)) + (y - virtual)


@compiled(forceinline=True)
def _add_product(x, v, total, rest, lost):
    """Add x v to the unevaluated pair total + rest; `lost` grows by at least what the pair could not hold."""
    if x == 0.0 or v == 0.0:
        return total, rest, lost
    product = x * v
    # Within these limits neither the product's error nor the halves underflow or overflow.
    if not (1e-250 < abs(product) < 1e290 and abs(x) < 1e290 and abs(v) < 1e290):
        return total, rest, np.inf
    t = 134217729.0 * x  # 2**27 + 1: Veltkamp's splitting, for the product's error after Dekker
    x_high = t - (t - x)
    x_low = x - x_high
    t = 134217729.0 * v
    v_high = t - (t - v)
    v_low = v - v_high
    error = ((x_high * v_high - product) + x_high * v_low + x_low * v_high) + x_low * v_low
    total, below = _two_sum(total, product)
    rest, lost_sum = _two_sum(rest, below)
    rest, lost_error = _two_sum(rest, error)
    return total, rest, lost + (abs(lost_sum) + abs(lost_error))


@compiled(forceinline=True)
def _plain(x):
    """Return whether x is the shortest decimal that rounds to it: true for such numbers, of at most 15 digits."""
    return abs(x) < 1e5 and x * 1024.0 == np.floor(x * 1024.0)


@compiled()
def sum_margins(rows, index, W, decimal, value, lost):
    """Write margins of signed rows in doubled precision, and a bound of the loss of each; 0 means exact.

    With `decimal`, a row gets an infinite loss if one of its values is not the decimal that rounds to it.
    """
    d = W.shape[1] - 1
    for t in range(index.row.size):
        i, c, r = index.row[t], index.own[t], index.rival[t]
        total, rest, loss = _add_product(1.0, W[c, d], 0.0, 0.0, 0.0)
        total, rest, loss = _add_product(-1.0, W[r, d], total, rest, loss)
        start, end = entries(rows, i)
        for k in range(start, end):
            j, stored = entry(rows, i, k)
            x = np.float64(stored)
            if decimal and not _plain(x):
                loss = np.inf
                break
            total, rest, loss = _add_product(x, W[c, j], total, rest, loss)
            total, rest, loss = _add_product(-x, W[r, j], total, rest, loss)
        value[t], lost[t] = total + rest, loss


@compiled(forceinline=True)
def _limb_sign(x, columns, count, c, r, limbs):
    """Return the sign of x[:count] times (the weights of class c less those of class r), limb by limb.

    The products of each limb are added up, and the excess is carried to the next limb. A carry is rounded down, so the
    remainder is never negative.
    """
    carry, left = np.int64(0), np.int64(0)
    for t in range(limbs.shape[0]):
        total = carry
        for k in range(count):
            total += x[k] * (limbs[t, c, columns[k]] - limbs[t, r, columns[k]])
        carry = total >> LIMB_BITS
        left |= total - (carry << LIMB_BITS)
    return 1 if carry > 0 or (carry == 0 and left != 0) else -1 if carry < 0 else 0


@compiled()
def limb_signs(rows, index, limbs, entry_bits, decimal, out):
    """Write exact signs of signed rows whose entries are integers of few bits times one power of two; else OPEN.

    The weights are the sum of limbs[l] 2**(LIMB_BITS l), each limb (classes, features + 1). An entry may have
    `entry_bits` bits, so that a sum over the row fits into 63.
    """
    d = limbs.shape[2] - 1
    x, columns = np.empty(d + 1, np.int64), np.empty(d + 1, np.int64)
    for t in range(index.row.size):
        i = index.row[t]
        start, end = entries(rows, i)
        top = 1.0
        for k in range(start, end):
            top = max(top, abs(np.float64(entry(rows, i, k)[1])))
        scale = math.ldexp(1.0, entry_bits - math.frexp(top)[1])
        integral, count = scale >= 1.0, 0
        for k in range(start, end):
            j, stored = entry(rows, i, k)
            value = np.float64(stored)
            scaled = value * scale
            # The product of a small value may underflow.
            if scaled != np.floor(scaled) or (scaled == 0.0 and value != 0.0) or (decimal and not _plain(value)):
                integral = False
                break
            x[count], columns[count] = np.int64(scaled), j
            count += 1
        x[count], columns[count] = np.int64(scale), d
        out[t] = _limb_sign(x, columns, count + 1, index.own[t], index.rival[t], limbs) if integral else OPEN


@compiled()
def gather_signed(rows, index, place, out):
    """Copy signed rows into the zeroed matrix out: column j of class c to column place[c - 1, j], unless negative."""
    d = place.shape[1] - 1
    for t in range(index.row.size):
        i = index.row[t]
        start, end = entries(rows, i)
        for c, sign in ((index.own[t], 1.0), (index.rival[t], -1.0)):
            if c == 0:
                continue
            for k in range(start, end):
                j, value = entry(rows, i, k)
                if place[c - 1, j] >= 0:
                    out[t, place[c - 1, j]] = sign * np.float64(value)
            if place[c - 1, d] >= 0:
                out[t, place[c - 1, d]] = sign
