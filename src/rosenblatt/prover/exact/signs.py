"""Compiled passes over signed rows: their margins, and the signs of the margins without rounding errors.

A signed row is (e_y - e_r) (x) (x, 1); `signed_rows` defines it. Its margin is its product with the weights.
Nothing here checks bounds: `rosenblatt.data.table` and `signed_rows` validate each array.

Stored rows are the NamedTuples Dense and Csr of `rosenblatt.engine.rows`, read by their fields.
"""

import math
from typing import NamedTuple

import numpy as np

from rosenblatt.engine.jit import compiled

# Sums may be reordered and fused: the filter that reads them allows for any order. The passes that must not lose a
# bit, `sum_dense` and `sum_csr`, are compiled without.
FASTMATH = {"reassoc", "contract", "nsz"}

OPEN = 2  # a sign that is not known yet


class SignedIndex(NamedTuple):
    """Which signed rows to read."""

    row: np.ndarray  # (m,) sample
    own: np.ndarray  # (m,) class of the sample
    rival: np.ndarray  # (m,) rival class


class LimbWeights(NamedTuple):
    """Integer weights in limbs: the sum of limbs[l] 2**(limb_bits l)."""

    limbs: np.ndarray  # (n_limbs, classes, features + 1) int64, below 2**limb_bits in size
    limb_bits: int
    entry_bits: int  # bits that an entry of a row may have so that a sum over the row fits into 63 bits


# ------------------------------------------------------------------------------------------------------- margins


@compiled(fastmath=FASTMATH)
def margins_dense(rows, sign, w, s, a):
    """Two classes: s = sign (x.w + b) and a = sum of |x_j w_j| + |b|, the bias b being the last of w."""
    X = rows.X
    d = X.shape[1]
    for i in range(X.shape[0]):
        total, mass = 0.0, 0.0
        for j in range(d):
            term = np.float64(X[i, j]) * w[j]
            total += term
            mass += abs(term)
        s[i] = sign[i] * (total + w[d])
        a[i] = mass + abs(w[d])


@compiled()
def margins_csr(rows, sign, w, s, a):
    """`margins_dense` for rows stored by their nonzeros."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    # Independent sums hide the latency of the additions; unsigned numbers spare the tests for negative indices.
    one, two = np.uint64(1), np.uint64(2)
    bias = w[w.size - 1]
    for i in range(indptr.size - 1):
        s0, s1, a0, a1 = 0.0, 0.0, 0.0, 0.0
        k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        while k + two <= end:
            t0 = np.float64(data[k]) * w[np.uint64(indices[k])]
            t1 = np.float64(data[k + one]) * w[np.uint64(indices[k + one])]
            s0 += t0
            s1 += t1
            a0 += abs(t0)
            a1 += abs(t1)
            k += two
        if k < end:
            t0 = np.float64(data[k]) * w[np.uint64(indices[k])]
            s0 += t0
            a0 += abs(t0)
        s[i] = sign[i] * ((s0 + s1) + bias)
        a[i] = (a0 + a1) + abs(bias)


@compiled(forceinline=True)
def _compare(score, mass, own, i, s, a):
    """Write the margins of row i's class over each of its rivals, from the scores of all classes."""
    t = i * (score.size - 1)
    for c in range(score.size):
        if c != own:
            s[t] = score[own] - score[c]
            a[t] = mass[own] + mass[c]
            t += 1


@compiled(fastmath=FASTMATH)
def joint_margins_dense(rows, label, W, s, a):
    """Any number of classes: W (classes - 1, features + 1), the first class scoring zero."""
    X = rows.X
    d = X.shape[1]
    score, mass = np.zeros(W.shape[0] + 1), np.zeros(W.shape[0] + 1)
    for i in range(X.shape[0]):
        for c in range(W.shape[0]):
            total, size = 0.0, 0.0
            for j in range(d):
                term = np.float64(X[i, j]) * W[c, j]
                total += term
                size += abs(term)
            score[c + 1] = total + W[c, d]
            mass[c + 1] = size + abs(W[c, d])
        _compare(score, mass, label[i], i, s, a)


@compiled()
def joint_margins_csr(rows, label, W, s, a):
    """`joint_margins_dense` for rows stored by their nonzeros."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    d = W.shape[1] - 1
    score, mass = np.zeros(W.shape[0] + 1), np.zeros(W.shape[0] + 1)
    for i in range(indptr.size - 1):
        for c in range(W.shape[0]):
            total, size = 0.0, 0.0
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                term = np.float64(data[k]) * W[c, np.uint64(indices[k])]
                total += term
                size += abs(term)
            score[c + 1] = total + W[c, d]
            mass[c + 1] = size + abs(W[c, d])
        _compare(score, mass, label[i], i, s, a)


# --------------------------------------------------------------------------------------------------------- signs


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
    """Whether the shortest decimal that rounds to x is x itself: at most 15 digits suffice for such numbers."""
    return abs(x) < 1e5 and x * 1024.0 == np.floor(x * 1024.0)


@compiled()
def sum_dense(rows, index, W, decimal, value, lost):
    """Write margins of signed rows in doubled precision, and a bound of what was lost of each: 0 means exact.

    W (classes, features + 1) has a row for every class, the first being zero. With `decimal`, a row gets an infinite
    loss if one of its values is not the decimal that rounds to it.
    """
    X = rows.X
    d = X.shape[1]
    for t in range(index.row.size):
        i, c, r = index.row[t], index.own[t], index.rival[t]
        total, rest, loss = _add_product(1.0, W[c, d], 0.0, 0.0, 0.0)
        total, rest, loss = _add_product(-1.0, W[r, d], total, rest, loss)
        for j in range(d):
            x = np.float64(X[i, j])
            if decimal and not _plain(x):
                loss = np.inf
                break
            total, rest, loss = _add_product(x, W[c, j], total, rest, loss)
            total, rest, loss = _add_product(-x, W[r, j], total, rest, loss)
        value[t], lost[t] = total + rest, loss


@compiled()
def sum_csr(rows, index, W, decimal, value, lost):
    """`sum_dense` for rows stored by their nonzeros."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    d = W.shape[1] - 1
    for t in range(index.row.size):
        i, c, r = index.row[t], index.own[t], index.rival[t]
        total, rest, loss = _add_product(1.0, W[c, d], 0.0, 0.0, 0.0)
        total, rest, loss = _add_product(-1.0, W[r, d], total, rest, loss)
        for k in range(indptr[i], indptr[i + 1]):
            x = np.float64(data[k])
            if decimal and not _plain(x):
                loss = np.inf
                break
            total, rest, loss = _add_product(x, W[c, indices[k]], total, rest, loss)
            total, rest, loss = _add_product(-x, W[r, indices[k]], total, rest, loss)
        value[t], lost[t] = total + rest, loss


@compiled(forceinline=True)
def _sign_of(x, columns, count, c, r, weights):
    """Return the sign of x[:count] times (the weights of class c less those of class r), limb by limb.

    The products of each limb are added up, and what the limb cannot hold is carried to the next. A carry is rounded
    down, so what it leaves behind is never negative.
    """
    limbs, limb_bits = weights.limbs, weights.limb_bits
    carry, left = np.int64(0), np.int64(0)
    for t in range(limbs.shape[0]):
        total = carry
        for k in range(count):
            total += x[k] * (limbs[t, c, columns[k]] - limbs[t, r, columns[k]])
        carry = total >> limb_bits
        left |= total - (carry << limb_bits)
    return 1 if carry > 0 or (carry == 0 and left != 0) else -1 if carry < 0 else 0


@compiled(forceinline=True)
def _scale_of(top, bits):
    """Return the power of two that gives a row with largest entry `top`, at least 1, integers of so many bits."""
    return math.ldexp(1.0, bits - math.frexp(top)[1])


@compiled(forceinline=True)
def _is_integral(x, scaled, decimal):
    """Whether x times a power of two is the integer `scaled`, nothing having underflowed."""
    return scaled == np.floor(scaled) and (scaled != 0.0 or x == 0.0) and (not decimal or _plain(x))


@compiled()
def sign_dense(rows, index, weights, decimal, out):
    """Write exact signs of signed rows whose entries are integers of few bits times one power of two; else OPEN."""
    X = rows.X
    d = X.shape[1]
    x, columns = np.empty(d + 1, np.int64), np.arange(d + 1)
    for t in range(index.row.size):
        i = index.row[t]
        top = 1.0
        for j in range(d):
            top = max(top, abs(np.float64(X[i, j])))
        scale = _scale_of(top, weights.entry_bits)
        integral = scale >= 1.0
        for j in range(d):
            scaled = np.float64(X[i, j]) * scale
            if not _is_integral(np.float64(X[i, j]), scaled, decimal):
                integral = False
                break
            x[j] = np.int64(scaled)
        x[d] = np.int64(scale)
        out[t] = _sign_of(x, columns, d + 1, index.own[t], index.rival[t], weights) if integral else OPEN


@compiled()
def sign_csr(rows, longest, index, weights, decimal, out):
    """`sign_dense` for rows stored by at most `longest` nonzeros each."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    x, columns = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    for t in range(index.row.size):
        first = indptr[index.row[t]]
        count = indptr[index.row[t] + 1] - first
        top = 1.0
        for k in range(count):
            top = max(top, abs(np.float64(data[first + k])))
        scale = _scale_of(top, weights.entry_bits)
        integral = scale >= 1.0
        for k in range(count):
            scaled = np.float64(data[first + k]) * scale
            if not _is_integral(np.float64(data[first + k]), scaled, decimal):
                integral = False
                break
            x[k], columns[k] = np.int64(scaled), indices[first + k]
        x[count], columns[count] = np.int64(scale), weights.limbs.shape[2] - 1
        out[t] = _sign_of(x, columns, count + 1, index.own[t], index.rival[t], weights) if integral else OPEN


# ------------------------------------------------------------------------------------------------------ gathering


@compiled()
def gather_dense(rows, index, columns, out):
    """Copy signed rows, restricted to `columns` of their width, into the zeroed matrix out."""
    X = rows.X
    d = X.shape[1]
    for t in range(index.row.size):
        i, own, rival = index.row[t], index.own[t], index.rival[t]
        for m in range(columns.size):
            c, j = columns[m] // (d + 1) + 1, columns[m] % (d + 1)
            if c == own:
                out[t, m] = np.float64(X[i, j]) if j < d else 1.0
            elif c == rival:
                out[t, m] = -np.float64(X[i, j]) if j < d else -1.0


@compiled(forceinline=True)
def _write(columns, column, value, out, t):
    """Write at the place that `column` has among the sorted columns, if it has one; no columns means all."""
    if columns.size == 0:
        out[t, column] = value
        return
    low, high = 0, columns.size
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    if low < columns.size and columns[low] == column:
        out[t, low] = value


@compiled()
def gather_csr(rows, index, d, columns, out):
    """`gather_dense` for rows of d features stored by their nonzeros; columns empty: the entire width."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    for t in range(index.row.size):
        i = index.row[t]
        for side in range(2):
            c = index.own[t] if side == 0 else index.rival[t]
            if c == 0:
                continue
            sign = 1.0 if side == 0 else -1.0
            start = (c - 1) * (d + 1)
            for k in range(indptr[i], indptr[i + 1]):
                _write(columns, start + indices[k], sign * np.float64(data[k]), out, t)
            _write(columns, start + d, sign, out, t)
