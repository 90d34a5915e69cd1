"""Signed rows: the one form in which every question of separability is asked.

For sample i of class y and a rival class r the signed row is z = (e_y - e_r) (x) (x, 1), without the block of class 0,
whose weights are fixed at zero because adding one vector to all classes changes no prediction. A separator is a w with
z.w > 0 for all signed rows. With two classes that is z = y (x, 1), y = -1 for class 0 and +1 for class 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact import signs as compiled
from rosenblatt.prover.exact.clock import check_time, timed
from rosenblatt.prover.exact.rational import as_integers, primitive
from rosenblatt.prover.exact.signs import LimbWeights, SignedIndex

Array = npt.NDArray[Any]

EPS = 2.0**-53  # largest relative error of one rounded operation
TINY = 1e-323  # twice the smallest positive number: above the absolute error of a product that underflows
# Long weights are cut into limbs of so many bits, unless that makes more than so many limbs.
LIMB_BITS, MAX_LIMBS = 24, 1 << 24
CACHED_ENTRIES = 1 << 18  # entries of rows as integers that are kept: some ten megabytes


class SignedRows:
    """The signed rows of labelled samples, never stored: each is computed when it is asked for.

    Signed row k belongs to sample k // (classes - 1), and to the rival that comes k % (classes - 1) places from the
    start among the classes other than the sample's own. With two classes k is the sample.

    Parameters
    ----------
    table : Table
    label : int array of shape (n_samples,)
        Class numbers from 0.
    classes : int
        How many classes there are, at least 2.
    decimal : bool
        Read each value as the shortest decimal that rounds to it, so that 0.1 is one tenth, in `signs` and `integers`.
        Where the table has its values exactly, these are read, and the attribute is False: rows that are computed from
        exact values are floats only where floats hold them as they are.

    Attributes
    ----------
    n : int
        Number of signed rows.
    width : int
        Their length: (classes - 1) blocks of the weights of one class, its bias last.
    samples, features, classes : int
    terms : int
        Rounded terms in the longest margin, for error bounds.
    arithmetic : str
        What the values are: "binary" floats, "decimal" ones, or "rational" where floats do not hold them.
    """

    def __init__(self, table: Table, label: Array, classes: int, *, decimal: bool = False) -> None:
        label = np.ascontiguousarray(label, np.int64)
        if classes < 2 or label.shape != (table.shape[0],) or label.min() < 0 or label.max() >= classes:
            raise InvalidInput(
                f"label has shape {label.shape} for {table.shape[0]} rows and {classes} classes. Pass one class "
                "number from 0 for each row, and at least 2 classes."
            )
        self.table, self.label, self.classes = table, label, classes
        self.decimal = decimal and table.exact is None
        self.samples, self.features = table.shape
        self.arithmetic = "rational" if table.exact is not None else "decimal" if self.decimal else "binary"
        self._rounded_rows = _rounded_rows(table)
        self.n = self.samples * (classes - 1)
        self.width = (self.features + 1) * (classes - 1)
        self._sign = 2.0 * (label > 0) - 1.0
        # Rounded operations in a margin: products or additions along its longest row, then the rival's.
        rows = table.rows
        self._longest = int(np.diff(rows.indptr).max()) if isinstance(rows, Csr) else self.features
        self.terms = self._longest + 1 + (classes > 2)
        self._latest: tuple[bytes, Array, Array] = b"", np.empty(0), np.empty(0)
        self._integers: dict[int, tuple[dict[int, int], Fraction]] = {}
        self._cached = 0

    def take(self, index: Array) -> SignedRows:
        """Copy the rows of some samples."""
        return SignedRows(self.table.take(index), self.label[index], self.classes, decimal=self.decimal)

    def split(self, k: Any) -> tuple[Any, Any]:
        """Return the sample and the rival class of signed row k; works on arrays as well."""
        row, rank = divmod(k, self.classes - 1)
        return row, rank + (rank >= self.label[row])

    def number(self, row: Any, rival: Any) -> Any:
        """Return the number of the signed row of a sample and a rival class; works on arrays as well."""
        return row * (self.classes - 1) + rival - (rival > self.label[row])

    def gather(self, ids: Any, columns: Any = None) -> Array:
        """Copy signed rows into a matrix.

        Parameters
        ----------
        ids : int array of shape (m,)
        columns : sorted int array, optional
            The columns of the width to keep; the others are not computed. All by default.

        Returns
        -------
        float64 array of shape (m, width) or (m, len(columns)), C-contiguous
        """
        index = self._index(ids)
        kept = np.empty(0, np.int64) if columns is None else np.ascontiguousarray(columns, np.int64)
        out = np.zeros((index.row.size, self.width if columns is None else kept.size))
        if not out.size:
            return out
        rows = self.table.rows
        if isinstance(rows, Dense):
            kept = np.arange(self.width) if columns is None else kept
            if kept.min() < 0 or kept.max() >= self.width:
                raise InvalidInput(f"columns go from {kept.min()} to {kept.max()}; there are {self.width} from 0.")
            compiled.gather_dense(rows, index, kept, out)
        else:
            compiled.gather_csr(rows, index, self.features, kept, out)
        return out

    def touched(self, ids: Any) -> Array:
        """Return the sorted columns of the width in which these rows have an entry; all where the data are dense."""
        row, own, rival = self._index(ids)
        rows = self.table.rows
        if isinstance(rows, Dense):
            return np.arange(self.width)
        used = np.unique(np.stack([np.concatenate([row, row]), np.concatenate([own, rival])]), axis=1)
        used = used[:, used[1] > 0]
        start = (used[1] - 1) * (self.features + 1)
        first = rows.indptr[used[0]].astype(np.int64)
        count = rows.indptr[used[0] + 1] - first
        place = np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)
        inside = rows.indices[place] + np.repeat(start, count)
        return np.unique(np.concatenate([inside, start + self.features]))

    def margins(self, w: Array) -> tuple[Array, Array]:
        """Compute z.w in floats for every signed row, and what bounds its error.

        The latest result is cached: search, centring and proof ask for the margins of the same weights.

        Parameters
        ----------
        w : float64 array of shape (width,)

        Returns
        -------
        s : float64 array of shape (n,)
            z.w, each within ``slack`` of the truth.
        a : float64 array of shape (n,)
            The sum of |z_j w_j|. Neither can be written to.
        """
        w = self._vector(w)
        if self._latest[0] != w.tobytes():
            s, a = self._margins(w)
            s.flags.writeable = a.flags.writeable = False
            self._latest = w.tobytes(), s, a
        return self._latest[1:]

    def _margins(self, w: Array) -> tuple[Array, Array]:
        s, a = np.empty(self.n), np.empty(self.n)
        rows = self.table.rows
        if self.classes == 2:
            if isinstance(rows, Dense):
                compiled.margins_dense(rows, self._sign, w, s, a)
            else:
                compiled.margins_csr(rows, self._sign, w, s, a)
            return s, a
        W = w.reshape(self.classes - 1, self.features + 1)
        if isinstance(rows, Dense):
            compiled.joint_margins_dense(rows, self.label, W, s, a)
        else:
            compiled.joint_margins_csr(rows, self.label, W, s, a)
        return s, a

    def slack(self, w: Array) -> tuple[float, float]:
        """Return (r, t) such that every computed margin s of w is within r a + t of the exact one.

        Holds for any order of summation and fused products: (m + 4) u with m rounded terms, and a few of the smallest
        numbers for products that underflow. What is rounded is within one more u of the float that it rounds to.
        """
        relative, absolute = (self.terms + 4) * 1.01 * EPS, (self.terms + 2) * TINY
        if self.arithmetic != "binary":
            relative += 1.01 * EPS
            absolute += TINY * float(np.abs(w).sum())
        return relative, absolute

    def _slack(self, w: Array, exact: bool) -> tuple[float, float]:
        """Compute `slack` for weights that may be rounded integers: exact says that they are not."""
        relative, absolute = self.slack(w)
        if exact:
            return relative, absolute
        # Each weight is within 2u of the integer it stands for, or of zero where that underflowed.
        return relative + 2.02 * EPS, absolute + self.terms * TINY * (math.sqrt(self.table.largest) + 1.0)

    def _rounded(self, w: Array | Sequence[int]) -> tuple[Array, list[int] | None, bool]:
        """Return weights as floats, up to a power of two; as integers, if they are; and whether nothing was lost."""
        if isinstance(w, np.ndarray) and w.dtype.kind == "f":
            return self._vector(w), None, True
        integers = [int(v) for v in w]
        vector, exact = _rounded(integers)
        return self._vector(vector), integers, exact

    def signs(self, w: Array | Sequence[int]) -> Array:
        """Compute the exact signs of z.w over the rationals.

        A floating-point filter decides most rows. The rows that it leaves open are summed in doubled precision, with a
        bound of the loss, and where that does not decide, in integers.

        Parameters
        ----------
        w : float64 array of shape (width,), or as many Python integers

        Returns
        -------
        int8 array of shape (n,)
        """
        vector, integers, exact = self._rounded(w)
        if not np.isfinite(vector).all():
            raise InvalidInput("w has values that are not finite; they have no sign. Pass finite weights.")
        with np.errstate(over="ignore", invalid="ignore"):  # compiled code does not warn; plain Python would
            s, a = self.margins(vector)
            relative, absolute = self._slack(vector, exact)
            out = np.empty(self.n, np.int8)
            count = compiled.filter_signs(s, a, relative, absolute, out)
        left_open = np.flatnonzero(out == compiled.OPEN) if count else np.empty(0, np.int64)
        if count and exact:
            value, lost = self._doubled_margins(vector, left_open)
            known = (lost == 0) | (np.abs(value) > 1.1 * lost)
            out[left_open[known]] = np.sign(value[known])
            left_open = left_open[~known]
        if left_open.size:
            integers = as_integers(vector)[0] if integers is None else primitive(integers)
            out[left_open] = self._signs_by_limbs(integers, left_open)
            left_open = left_open[out[left_open] == compiled.OPEN]
            out[left_open] = [(total > 0) - (total < 0) for total, _ in self._integer_margins(integers, left_open)]
        return out

    def lowest_candidates(self, w: Array | Sequence[int], ids: Array) -> Array:
        """Return those of some rows that may have the lowest margin, as far as floats can tell."""
        vector, _, exact = self._rounded(w)
        with np.errstate(over="ignore", invalid="ignore"):
            s, a = (part[ids] for part in self.margins(vector))
            relative, absolute = self._slack(vector, exact)
            error = relative * a + absolute
            chosen: Array = ids[~(s - error > (s + error).min())]  # all, where a margin overflowed
        return chosen

    def lowest_margin(self, w: Array | Sequence[int], ids: Array) -> Fraction:
        """Bound the least of some margins from below, within 2**-49 of its size.

        Parameters
        ----------
        w : float64 array of shape (width,), or as many Python integers, for which it is exact
        ids : int array
            Numbers of signed rows, at least one.

        Returns
        -------
        Fraction
            At most z.w for each of these rows.
        """
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

        The row is cached: do not change it.
        """
        if k in self._integers:
            return self._integers[k]
        row, rival = (int(part) for part in self.split(k))
        columns, values, scale = self._integer_row(row)
        entries: dict[int, int] = {}
        for sign, c in ((1, int(self.label[row])), (-1, rival)):
            if c:
                start = (c - 1) * (self.features + 1)
                entries.update({start + j: sign * v for j, v in zip(columns, values, strict=True) if v})
        if self._cached + len(entries) > CACHED_ENTRIES:
            self._integers.clear()
            self._cached = 0
        self._integers[k] = entries, scale
        self._cached += len(entries)
        return entries, scale

    def scale(self, k: int) -> Fraction:
        """Return the scale alone of signed row k."""
        return self._integers[k][1] if k in self._integers else self._integer_row(int(self.split(k)[0]))[2]

    def _index(self, ids: Any) -> SignedIndex:
        """Return sample, own class and rival of checked row numbers."""
        ids = np.ascontiguousarray(ids, np.int64).reshape(-1)
        if ids.size and (ids.min() < 0 or ids.max() >= self.n):
            raise InvalidInput(f"signed rows {ids.min()} to {ids.max()} were asked for; there are {self.n} from 0.")
        row, rival = self.split(ids)
        return SignedIndex(row, self.label[row], rival)

    def _vector(self, w: Any) -> Array:
        vector: Array = np.ascontiguousarray(w, np.float64)
        if vector.shape != (self.width,):
            raise InvalidInput(f"w has shape {vector.shape}; signed rows of width {self.width} need as many weights.")
        return vector

    def _doubled_margins(self, w: Array, ids: Array) -> tuple[Array, Array]:
        """Compute margins in doubled precision, rounded once, and a bound of what was lost before that."""
        W = np.zeros((self.classes, self.features + 1))
        W[1:] = w.reshape(self.classes - 1, -1)
        value, lost = np.empty(ids.size), np.empty(ids.size)
        rows = self.table.rows
        add_up = compiled.sum_dense if isinstance(rows, Dense) else compiled.sum_csr
        index = self._index(ids)
        add_up(rows, index, W, self.arithmetic == "decimal", value, lost)
        if self._rounded_rows is not None:
            lost[self._rounded_rows[index.row]] = np.inf
        return value, lost

    def _integer_row(self, row: int) -> tuple[list[int], list[int], Fraction]:
        """Return columns, integers and scale of (x, 1)."""
        check_time()
        rows = self.table.rows
        if isinstance(rows, Dense):
            columns, place = list(range(self.features)), slice(row, row + 1)
        else:
            place = slice(rows.indptr[row], rows.indptr[row + 1])
            columns = rows.indices[place].tolist()
        exact = self.table.exact
        values = self.table.values[place].astype(np.float64) if exact is None else exact[place].astype(object)
        integers, scale = as_integers(np.append(values, 1), self.decimal)
        return [*columns, self.features], integers, scale

    def _signs_by_limbs(self, w: list[int], ids: Array) -> Array:
        """Compute signs in 64-bit integers for rows of few bits; the others stay open.

        The difference of two limbs has at most LIMB_BITS + 1 bits and its product with an entry `entry_bits` more.
        There are at most `terms` products and a carry, which is smaller than their sum: 62 bits hold it.
        """
        out = np.full(ids.size, compiled.OPEN, np.int8)
        count = -(-max(v.bit_length() for v in w) // LIMB_BITS)
        size = self.classes * (self.features + 1)
        entry_bits = min(LIMB_BITS, 61 - LIMB_BITS - (2 * self.terms + 2).bit_length())
        if count * size > MAX_LIMBS:
            return out
        W = np.zeros((count, self.classes, self.features + 1), np.int64)
        W.reshape(count, size)[:, self.features + 1 :] = _limbs(w, count)
        index, weights = self._index(ids), LimbWeights(W, LIMB_BITS, entry_bits)
        rows = self.table.rows
        if isinstance(rows, Dense):
            compiled.sign_dense(rows, index, weights, self.arithmetic == "decimal", out)
        else:
            compiled.sign_csr(rows, self._longest, index, weights, self.arithmetic == "decimal", out)
        if self._rounded_rows is not None:
            out[self._rounded_rows[index.row]] = compiled.OPEN
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
    """Return what equal rows of a table have in common, and no others."""
    rows = table.rows
    place = slice(i, i + 1) if isinstance(rows, Dense) else slice(rows.indptr[i], rows.indptr[i + 1])
    values = table.values[place] if table.exact is None else table.exact[place]
    if isinstance(rows, Dense):
        return (values + 0.0).tobytes() if table.exact is None else tuple(values[0].tolist())
    return tuple((j, v) for j, v in zip(rows.indices[place].tolist(), values.tolist(), strict=True) if v)


def _rounded_rows(table: Table) -> Array | None:
    """Determine which rows floats do not hold; None if they hold all of them."""
    if table.exact is None:
        return None
    different = (table.exact.astype(object) != table.values.astype(object)).astype(bool)
    if isinstance(table.rows, Dense):
        return np.asarray(different.any(axis=1))
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.rows.indptr))
    return np.bincount(row, different, table.shape[0]) > 0


def _limbs(w: list[int], count: int) -> Array:
    """Cut integers into so many limbs of LIMB_BITS bits, lowest first, each with the sign of its integer."""
    size = LIMB_BITS // 8
    text = b"".join(abs(v).to_bytes(size * count, "little") for v in w)
    octets = np.frombuffer(text, np.uint8).reshape(len(w), count, size)
    limbs = octets @ (1 << np.arange(0, LIMB_BITS, 8))
    signed: Array = limbs.T * np.array([(v > 0) - (v < 0) for v in w])
    return signed


def _rounded(w: list[int]) -> tuple[Array, bool]:
    """Return w divided by a power of two and rounded, and whether nothing was lost.

    The largest becomes about 1; each is within 2u of the truth, relatively, unless it underflows.
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
