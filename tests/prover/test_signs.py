"""Margins of signed rows, their signs and their copies, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.prover.exact import signs

N, D, CLASSES = 30, 4, 3
RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, (N, D)) / 4.0
LABEL = RNG.integers(0, CLASSES, N)
SPARSE = sp.csr_array(X)
STORED = {"dense": Dense(X), "csr": Csr(SPARSE.data, SPARSE.indices, SPARSE.indptr)}
LONGEST = int(np.diff(SPARSE.indptr).max())
storage = pytest.mark.parametrize("kind", STORED)

# Every signed row of three classes, by its definition.
INDEX = signs.SignedIndex(
    np.repeat(np.arange(N), CLASSES - 1),
    np.repeat(LABEL, CLASSES - 1),
    np.concatenate([np.delete(np.arange(CLASSES), own) for own in LABEL]),
)
Z = [
    [((c == own) - (c == rival)) * Fraction(v) for c in range(1, CLASSES) for v in (*X[i], 1.0)]
    for i, own, rival in zip(*(part.tolist() for part in INDEX), strict=True)
]


def function(name, kind):
    return getattr(signs, f"{name}_{kind}")


def product(z, w):
    return sum(a * b for a, b in zip(z, w, strict=True))


@storage
def test_margins_of_two_classes(kind):
    sign = np.where(LABEL > 0, 1.0, -1.0)
    w = RNG.integers(-3, 4, D + 1) / 8.0
    s, a = np.empty(N), np.empty(N)
    function("margins", kind)(STORED[kind], sign, w, s, a)
    assert s.tolist() == (sign * (X @ w[:-1] + w[-1])).tolist()  # exact in these numbers
    assert a.tolist() == (np.abs(X) @ np.abs(w[:-1]) + abs(w[-1])).tolist()


@storage
def test_margins_of_three_classes(kind):
    W = RNG.integers(-3, 4, (CLASSES - 1, D + 1)) / 8.0
    s, a = np.empty(len(Z)), np.empty(len(Z))
    function("joint_margins", kind)(STORED[kind], LABEL, W, s, a)
    w = [Fraction(v) for v in W.ravel()]
    assert [Fraction(v) for v in s] == [product(z, w) for z in Z]
    assert [Fraction(v) for v in a] == [sum(abs(p * q) for p, q in zip(z, w, strict=True)) for z in Z]


def test_a_sign_is_open_within_its_error_and_where_the_margin_overflowed():
    s, a = np.array([1.0, -1.0, 0.1, 0.0, np.inf, np.nan]), np.ones(6)
    out = np.empty(6, np.int8)
    assert signs.filter_signs(s, a, 0.2, 0.1, out) == 4
    assert out.tolist() == [1, -1, *[signs.OPEN] * 4]


@storage
def test_sums_in_doubled_precision_know_what_they_lost(kind):
    rng = np.random.default_rng(1)
    W = np.zeros((CLASSES, D + 1))
    W[1:] = rng.standard_normal((CLASSES - 1, D + 1)) * 10.0 ** rng.integers(-12, 12, (CLASSES - 1, D + 1))
    value, lost = np.empty(len(Z)), np.empty(len(Z))
    function("sum", kind)(STORED[kind], INDEX, W, False, value, lost)
    w = [Fraction(v) for v in W[1:].ravel()]
    for z, v, loss in zip(Z, value.tolist(), lost.tolist(), strict=True):
        assert abs(Fraction(v) - product(z, w)) <= Fraction(loss) + abs(Fraction(v)) / 2**53
    assert (lost <= 1e-28 * np.abs(W).sum()).all()
    short = np.zeros((CLASSES, D + 1))
    short[1:] = rng.integers(-9, 10, (CLASSES - 1, D + 1)) * 2.0 ** rng.integers(-40, 40)
    function("sum", kind)(STORED[kind], INDEX, short, False, value, lost)
    assert not lost.any()
    assert [Fraction(v) for v in value] == [product(z, [Fraction(v) for v in short[1:].ravel()]) for z in Z]
    # Tenths are no binary numbers: as decimals such rows are given up.
    tenths = X + 0.1
    stored = Dense(tenths) if kind == "dense" else Csr(*(lambda A: (A.data, A.indices, A.indptr))(sp.csr_array(tenths)))
    function("sum", kind)(stored, INDEX, W, True, value, lost)
    assert np.isinf(lost).all()


@storage
def test_signs_by_limbs_are_exact_or_open(kind):
    limb_bits, count = 20, 4
    w = [int(v) * 3**k for k, v in enumerate(RNG.integers(-5, 6, (CLASSES - 1) * (D + 1)))]
    limbs = np.zeros((count, CLASSES, D + 1), np.int64)
    for k in range(count):
        values = [(abs(v) >> (limb_bits * k)) % (1 << limb_bits) * (1 if v > 0 else -1) for v in w]
        limbs[k, 1:] = np.reshape(values, (CLASSES - 1, D + 1))
    rows = (STORED[kind],) if kind == "dense" else (STORED[kind], LONGEST)
    for entry_bits in (8, 1):
        out = np.empty(len(Z), np.int8)
        weights = signs.LimbWeights(limbs, limb_bits, entry_bits)
        function("sign", kind)(*rows, INDEX, weights, False, out)
        margins = [product(z, w) for z in Z]
        decided = out != signs.OPEN
        assert decided.all() == (entry_bits == 8)  # quarters below 2 need three bits
        assert all(out[k] == (margins[k] > 0) - (margins[k] < 0) for k in np.flatnonzero(decided))


@storage
def test_signed_rows_are_copied_whole_or_by_columns(kind):
    expected = np.array(Z, float)
    every, some = np.arange(expected.shape[1]), np.array([0, 3, 4, 7])
    extent = () if kind == "dense" else (D,)
    for columns in (every, some):
        out = np.zeros((len(Z), columns.size))
        function("gather", kind)(STORED[kind], INDEX, *extent, columns, out)
        assert np.array_equal(out, expected[:, columns])
    if kind == "csr":
        out = np.zeros(expected.shape)
        signs.gather_csr(STORED[kind], INDEX, D, np.empty(0, np.int64), out)
        assert np.array_equal(out, expected)
