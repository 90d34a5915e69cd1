"""Compiled arithmetic modulo a prime, for `rosenblatt.prover.exact`: elimination, inversion, p-adic lifting.

Residues are integers held in float64, nearest to zero: |r| <= p / 2, so r is 0 modulo p only if it is 0.0. With
primes below 2**27 each product stays below 2**53 and is exact, and unlike the integer remainder it vectorises.
"""

import numpy as np

from rosenblatt.engine.jit import compiled

# Sums may be reordered: every partial sum is an integer below 2**53, so all orders give the same number.
FASTMATH = {"reassoc", "contract", "nsz"}

# Bits of a limb. With primes of as many bits, sums of 4000 products of a limb and a digit are exact.
LIMB_BITS = 21

# Sums of so many products of two unsigned limbs, or of digits, are exact.
EXACT_TERMS = 1 << 11


@compiled()
def _reciprocal(a, p):
    """Compute the inverse of a modulo p by Fermat's little theorem."""
    base = np.int64(a) % np.int64(p)
    modulus = np.int64(p)
    exponent = modulus - 2
    power = np.int64(1)
    while exponent > 0:
        if exponent & 1:
            power = power * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return power - modulus if 2 * power > modulus else power


@compiled(inline="always")
def _residue(t, p, inverse_p):
    return t - np.rint(t * inverse_p) * p


@compiled(fastmath=FASTMATH)
def _subtract(row, factor, other, p, inverse_p):
    """Subtract a multiple of another row. Indices count from 0: only then does the loop vectorise."""
    for j in range(row.size):
        t = row[j] - factor * other[j]
        row[j] = t - np.rint(t * inverse_p) * p


@compiled()
def find_pivots(M, p, begin, end, left, rows, columns, rank):
    """Eliminate some columns, one by one; M is overwritten.

    The pivot of a column is its topmost nonzero of the rows that are left, and rows keep their order: the pivot rows
    are those independent of the rows above them, the pivot columns those independent of the columns to their left.

    Parameters
    ----------
    M : (m, n) array
        Residues, with the columns before `begin` eliminated.
    p : float
        Prime below 2**27.
    begin, end : int
        The columns to eliminate.
    left : int array of shape (m,)
        The rows that are left, in order; all of them at first.
    rows, columns : int array of shape (min(m, n),)
        Receive the pivots.
    rank : int
        How many there are already.

    Returns
    -------
    int
        How many there are now.
    """
    m = M.shape[0]
    inverse_p = 1.0 / p
    for c in range(begin, end):
        count = m - rank
        if count == 0:
            break
        first = 0
        while first < count and M[left[first], c] == 0.0:
            first += 1
        if first == count:
            continue
        pivot = left[first]
        scale = np.float64(_reciprocal(M[pivot, c], p))
        for s in range(first + 1, count):
            i = left[s]
            left[s - 1] = i
            if M[i, c] != 0.0:
                factor = _residue(M[i, c] * scale, p, inverse_p)
                _subtract(M[i, c + 1 :], factor, M[pivot, c + 1 :], p, inverse_p)
        rows[rank] = pivot
        columns[rank] = c
        rank += 1
    return rank


@compiled()
def invert(M, p, begin, end, swapped):
    """Replace M by its inverse modulo p (Gauss and Jordan, in place); False if M is singular modulo p.

    So that the work can be cut into pieces, it goes over the columns from `begin` to before `end`; `swapped`, of a
    place for each, keeps what the last piece puts back.
    """
    n = M.shape[0]
    inverse_p = 1.0 / p
    for c in range(begin, end):
        pivot = c
        while pivot < n and M[pivot, c] == 0.0:
            pivot += 1
        if pivot == n:
            return False
        swapped[c] = pivot
        if pivot != c:
            for j in range(n):
                M[c, j], M[pivot, j] = M[pivot, j], M[c, j]
        scale = np.float64(_reciprocal(M[c, c], p))
        M[c, c] = 1.0
        for j in range(n):
            M[c, j] = _residue(M[c, j] * scale, p, inverse_p)
        for i in range(n):
            factor = M[i, c]
            if i != c and factor != 0.0:
                M[i, c] = 0.0
                _subtract(M[i], factor, M[c], p, inverse_p)
    if end < n:
        return True
    for c in range(n - 1, -1, -1):
        if swapped[c] != c:
            for i in range(n):
                M[i, c], M[i, swapped[c]] = M[i, swapped[c]], M[i, c]
    return True


@compiled(fastmath=FASTMATH)
def _dot(M, i, x):
    total = 0.0
    for j in range(x.size):
        total += M[i, j] * x[j]
    return total


@compiled()
def lift_digits(limbs, inverse, residual, p, digits):
    """Continue the p-adic expansion of the solution of A x = b by as many digits as `digits` has rows.

    Dixon (1982): the next digit is x = A^-1 r modulo p, the next residual (r - A x) / p.

    Parameters
    ----------
    limbs : (l n, n) array
        A as a sum of 2**(LIMB_BITS k) times the k-th n rows.
    inverse : (n, n) array
        Inverse of A modulo p.
    residual : (m, n) array
        The residual's limbs, the highest with the sign; updated. b at first. m is at least one more than the limbs
        of A and of b.
    p : float
        Prime below 2**LIMB_BITS.
    digits : (k, n) array
        Receives the digits, each nearest to zero.
    """
    m, n = residual.shape
    base = 2.0**LIMB_BITS
    inverse_base = 1.0 / base
    inverse_p = 1.0 / p
    x = np.empty(n)
    carry = np.empty(n)
    remainder = np.zeros(n)
    for k in range(m - 1, -1, -1):
        for i in range(n):
            remainder[i] = _residue(remainder[i] * base + residual[k, i], p, inverse_p)
    for digit in range(digits.shape[0]):
        for i in range(n):
            x[i] = _residue(_dot(inverse, i, remainder), p, inverse_p)
            digits[digit, i] = x[i]
        for i in range(limbs.shape[0]):
            residual[i // n, i % n] -= _dot(limbs, i, x)
        carry[:] = 0.0
        for k in range(m - 1):
            for i in range(n):
                t = residual[k, i] + carry[i]
                carry[i] = np.floor(t * inverse_base)
                residual[k, i] = t - carry[i] * base
        for i in range(n):
            residual[m - 1, i] += carry[i]
        # Divide by p from the highest limb down; `carry` is the remainder of the division, 0 in the end.
        carry[:] = 0.0
        remainder[:] = 0.0
        for k in range(m - 1, -1, -1):
            for i in range(n):
                t = carry[i] * base + residual[k, i]
                q = np.rint(t * inverse_p)
                carry[i] = t - q * p
                residual[k, i] = q
                remainder[i] = _residue(remainder[i] * base + q, p, inverse_p)


@compiled()
def reduce_limbs(limbs, p, out):
    """Write to `out` the residues of integers with the limbs limbs[k] in place k, modulo a prime below 2**LIMB_BITS."""
    inverse_p = 1.0 / p
    base = _residue(2.0**LIMB_BITS, p, inverse_p)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for k in range(limbs.shape[0] - 1, -1, -1):
                total = _residue(total * base + limbs[k, i, j], p, inverse_p)
            out[i, j] = total


@compiled()
def congruent(A, B, p):
    """Whether two matrices of integers below 2**52 are equal modulo p."""
    inverse_p = 1.0 / p
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if _residue(_residue(A[i, j] - B[i, j], p, inverse_p), p, inverse_p) != 0.0:
                return False
    return True


@compiled()
def multiply(digits, factor, p, begin, end, total, product):
    """Multiply p-adic numbers, a column each, by the digits of an integer. The result has digits nearest to zero.

    The places from `begin` to before `end` of `product` are written; `total`, of a place for each column, is what they
    carry on, zero at first.
    """
    n = digits.shape[1]
    inverse_p = 1.0 / p
    for k in range(begin, end):
        # What the total carries to the next place, apart, so that neither leaves the exact integers.
        carry = np.zeros(n)
        for start in range(0, min(k + 1, factor.size), EXACT_TERMS):
            for s in range(start, min(k + 1, factor.size, start + EXACT_TERMS)):
                for i in range(n):
                    total[i] += factor[s] * digits[k - s, i]
            for i in range(n):
                q = np.rint(total[i] * inverse_p)
                total[i] -= q * p
                carry[i] += q
        for i in range(n):
            q = np.rint(total[i] * inverse_p)
            product[k, i] = total[i] - q * p
            total[i] = carry[i] + q


@compiled()
def add_products(rows, v, total):
    """Add rows . v to total, by places.

    Parameters
    ----------
    rows : (l m, n) array
        The limbs of m rows: those of the lowest place of all rows, then of the next. n is at most EXACT_TERMS.
    v : (k, n) array
        The limbs of a vector.
    total : (m, k + l) int64 array
        Numbers to the base 2**LIMB_BITS, with digits of any size and sign.
    """
    m = total.shape[0]
    for t in range(v.shape[0]):
        for i in range(rows.shape[0]):
            total[i % m, t + i // m] += np.int64(_dot(rows, i, v[t]))


@compiled()
def all_zero(total):
    """Whether all numbers that `add_products` made are 0. Carries are done in place."""
    for i in range(total.shape[0]):
        for t in range(total.shape[1] - 1):
            if total[i, t] & ((1 << LIMB_BITS) - 1):
                return False
            total[i, t + 1] += total[i, t] >> LIMB_BITS
        if total[i, total.shape[1] - 1] != 0:
            return False
    return True


@compiled()
def decided_quotients(x, y):
    """Take the steps of Euclid's algorithm that are the same for all numbers that begin with x and y (Lehmer, 1938).

    Returns the rows (a, b) and (c, d) of the matrix that they are.
    """
    a, b, c, d = 1, 0, 0, 1
    while y + c != 0 and y + d != 0:
        q = (x + a) // (y + c)
        if q != (x + b) // (y + d):
            break
        a, c = c, a - q * c
        b, d = d, b - q * d
        x, y = y, x - q * y
    return a, b, c, d
