"""Signed rows against fractions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from certificates_by_hand import SQUARE, exact, signed_rows_of
from rosenblatt.data.table import as_table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact import signed_rows
from rosenblatt.prover.exact.signed_rows import OPEN, SignedRows

scales = st.integers(-150, 150).map(lambda e: 10.0**e)
entries = st.one_of(
    st.integers(-3, 3).map(float),
    st.integers(-20, 20).map(lambda v: v / 10),
    st.builds(lambda v, s: v * s, st.floats(-1, 1), scales),
    st.integers(-60, 60).map(lambda e: 2.0**e),
)
weights = st.one_of(
    st.integers(-3, 3).map(float),
    st.integers(-20, 20).map(lambda v: v / 10),
    st.builds(lambda v, e: v * 10.0**e, st.floats(-1, 1), st.integers(-300, 300)),
)
long_integers = st.one_of(st.integers(-3, 3), st.builds(lambda v, e: v * 3**e, st.integers(-3, 3), st.integers(0, 800)))


@st.composite
def questions(draw):
    """Labelled rows and weights, one row often made orthogonal to the weights."""
    classes = draw(st.integers(2, 4))
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n)))
    if draw(st.booleans()):
        X = np.where(np.abs(X) < 1e30, X, 1.0).astype(np.float32)
    label = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)))
    width = (classes - 1) * (d + 1)
    w = draw(st.one_of(*(st.lists(kind, min_size=width, max_size=width) for kind in (weights, long_integers))))
    return X, label, classes, np.array(w) if isinstance(w[0], float) else w, draw(st.booleans())


@given(questions())
@settings(max_examples=300)
def test_signs_are_those_of_fractions(question):
    X, label, classes, w, decimal = question
    exact_w = [Fraction(v) for v in w] if isinstance(w, list) else [exact(v) for v in w]
    margins = [sum(a * b for a, b in zip(z, exact_w, strict=True)) for z in signed_rows_of(X, label, classes, decimal)]
    for data in (X, sp.csr_array(X)):
        signed = SignedRows(as_table(data), label, classes, decimal=decimal)
        assert signed.signs(w).tolist() == [(h > 0) - (h < 0) for h in margins]
        if not isinstance(w, list):
            with np.errstate(over="ignore", invalid="ignore"):
                s, a = signed.margins(w)
                relative, absolute = signed.slack(w)
                error = relative * a + absolute
            for k in np.flatnonzero(np.isfinite(s) & np.isfinite(error)):
                assert abs(exact(s[k]) - margins[k]) <= exact(error[k])
            least = signed.lowest_margin(w, np.arange(signed.n))
            assert least <= min(margins) <= least + abs(min(margins)) / 2**49


@given(questions())
@settings(max_examples=60)
def test_rows_are_gathered_and_written_as_integers(question):
    X, label, classes, _, decimal = question
    truth = list(signed_rows_of(X, label, classes, decimal))
    for data in (X, sp.csr_array(X)):
        signed = SignedRows(as_table(data), label, classes, decimal=decimal)
        ids = np.arange(signed.n)[::-1]
        row, rival = signed.split(ids)
        assert np.array_equal(signed.number(row, rival), ids)
        Z = signed.gather(ids)
        expected = np.array([[float(v) for v in truth[k]] for k in ids])
        assert np.array_equal(Z, expected)  # the decimal nearest to a float rounds to that float
        columns = np.arange(0, signed.width, 2)
        assert np.array_equal(signed.gather(ids, columns), Z[:, columns])
        for k in ids:
            touched = signed.touched([k])
            assert set(np.flatnonzero(Z[signed.n - 1 - k])) <= set(touched.tolist())
            integers, scale = signed.integers(int(k))
            assert [integers.get(j, 0) * scale for j in range(signed.width)] == truth[k]


def test_thousands_of_exact_zeros_are_found():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (4000, 12)).astype(float)
    w = np.append(rng.integers(-2, 3, 12), 0)
    margins = X.astype(int) @ w[:-1]
    signed = SignedRows(as_table(X), np.ones(4000, int), 2)
    for vector in (w * 0.1, [int(v) * 7**300 for v in w], [int(v) * 7**300 for v in w[:-1]] + [0]):
        assert np.array_equal(signed.signs(vector), np.sign(margins))


@st.composite
def near_ties(draw):
    """Rows of few bits and long weights, some of them exact ties, some missing a tie by one."""
    classes, d, n = draw(st.integers(2, 4)), draw(st.integers(2, 6)), draw(st.integers(1, 8))
    unit = 2.0 ** draw(st.integers(-30, 4))
    X = np.array(draw(st.lists(st.lists(st.integers(-(2**20), 2**20), min_size=d, max_size=d), min_size=n, max_size=n)))
    X[:, 0] = draw(st.integers(-3, 3))
    w = draw(
        st.lists(st.builds(lambda v, e: v * 5**e, st.integers(-9, 9), st.integers(0, 200)), min_size=d, max_size=d)
    )
    # The last feature's weight is a multiple of the others' scores, so that a row can cancel them.
    X[:, -1] = draw(st.sampled_from([-1, 1]))
    blocks = []
    for _ in range(classes - 1):
        margin = sum(int(x) * v for x, v in zip(X[draw(st.integers(0, n - 1)), :-1], w, strict=False))
        blocks += [*w[:-1], -margin * int(X[0, -1]), draw(st.integers(-1, 1))]
    label = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)))
    return X * unit, label, classes, blocks


@given(near_ties())
def test_signs_by_limbs_are_those_of_fractions(question):
    X, label, classes, w = question
    for decimal in (False, True):
        truth = [sum(a * b for a, b in zip(z, w, strict=True)) for z in signed_rows_of(X, label, classes, decimal)]
        signs = [(h > 0) - (h < 0) for h in truth]
        for data in (X, sp.csr_array(X)):
            signed = SignedRows(as_table(data), label, classes, decimal=decimal)
            found = signed._signs_by_limbs(w, np.arange(signed.n))
            assert all(sign in (own, OPEN) for sign, own in zip(found.tolist(), signs, strict=True))
            assert signed.signs(w).tolist() == signs


def test_rows_of_few_bits_need_no_python():
    X = np.array([[3.0, 0.0, 255.0], [0.5, 0.25, 1.0], [2.0**23, 1.0, 0.0], [2.0**60, 1.0, 0.0], [1e-300, 1.0, 0.0]])
    for data in (X, sp.csr_array(X)):
        signed = SignedRows(as_table(data), np.ones(5, int), 2)
        w = [3**500, -(5**400), 1 - 3**501 // 255, 2]
        found = signed._signs_by_limbs(w, np.arange(5))
        assert (found == OPEN).tolist() == [False, False, False, True, True]
        assert found[0] == np.sign(3 * w[0] + 255 * w[2] + w[3])


def test_rows_as_integers_are_cached_within_bounds(monkeypatch):
    monkeypatch.setattr(signed_rows, "CACHED_ENTRIES", 10)
    X = np.arange(40.0).reshape(10, 4) + 0.5
    signed, fresh = (SignedRows(as_table(X), np.ones(10, int), 2) for _ in range(2))
    for k in [0, 1, 0, 5, 6, 7, 5, 0]:
        assert signed.integers(k) == fresh.integers(k)
        assert sum(len(entries) for entries, _ in signed._integers.values()) <= 10


def test_bad_questions_are_refused():
    signed = SignedRows(as_table(SQUARE), np.array([0, 1, 1, 0]), 2)
    for wrong in (np.ones(2), np.ones((3, 1)), np.array([1.0, np.nan, 0.0])):
        with pytest.raises(InvalidInput):
            signed.signs(wrong)
    for ids in ([-1], [4]):
        with pytest.raises(InvalidInput):
            signed.gather(ids)
    with pytest.raises(InvalidInput):
        signed.gather([0], [3])
    with pytest.raises(InvalidInput):
        SignedRows(as_table(SQUARE), np.array([0, 1, 2, 0]), 2)


N, D, CLASSES = 30, 4, 3
RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, (N, D)) / 4.0
LABEL = RNG.integers(0, CLASSES, N)
SPARSE = sp.csr_array(X)
STORED = {"dense": Dense(X), "csr": Csr(SPARSE.data, SPARSE.indices, SPARSE.indptr)}
storage = pytest.mark.parametrize("kind", STORED)

# Every signed row of three classes, by its definition.
INDEX = signed_rows.SignedIndex(
    np.repeat(np.arange(N), CLASSES - 1),
    np.repeat(LABEL, CLASSES - 1),
    np.concatenate([np.delete(np.arange(CLASSES), own) for own in LABEL]),
)
Z = [
    [((c == own) - (c == rival)) * Fraction(v) for c in range(1, CLASSES) for v in (*X[i], 1.0)]
    for i, own, rival in zip(*(part.tolist() for part in INDEX), strict=True)
]


def product(z, w):
    return sum(a * b for a, b in zip(z, w, strict=True))


@storage
@pytest.mark.parametrize("classes", [2, 3])
def test_margins_are_those_of_fractions(kind, classes):
    label = LABEL % classes
    W = np.zeros((classes, D + 1))
    W[1:] = RNG.integers(-3, 4, (classes - 1, D + 1)) / 8.0
    s, a = np.empty((2, N * (classes - 1)))
    signed_rows.write_margins[type(STORED[kind])](STORED[kind], label, W, s, a)
    w, rows = [Fraction(v) for v in W[1:].ravel()], signed_rows_of(X, label, classes, False)
    for z, margin, size in zip(rows, s, a, strict=True):  # exact in these numbers
        assert Fraction(margin) == product(z, w)
        assert Fraction(size) == sum(abs(p * q) for p, q in zip(z, w, strict=True))


def test_a_sign_is_open_within_its_error_and_where_the_margin_overflowed():
    s, a = np.array([1.0, -1.0, 0.1, 0.0, np.inf, np.nan]), np.ones(6)
    out = np.empty(6, np.int8)
    assert signed_rows.filter_signs(s, a, 0.2, 0.1, out) == 4
    assert out.tolist() == [1, -1, *[signed_rows.OPEN] * 4]


@storage
def test_sums_in_doubled_precision_know_what_they_lost(kind):
    rng = np.random.default_rng(1)
    W = np.zeros((CLASSES, D + 1))
    W[1:] = rng.standard_normal((CLASSES - 1, D + 1)) * 10.0 ** rng.integers(-12, 12, (CLASSES - 1, D + 1))
    value, lost = np.empty(len(Z)), np.empty(len(Z))
    signed_rows.sum_margins(STORED[kind], INDEX, W, False, value, lost)
    w = [Fraction(v) for v in W[1:].ravel()]
    for z, v, loss in zip(Z, value.tolist(), lost.tolist(), strict=True):
        assert abs(Fraction(v) - product(z, w)) <= Fraction(loss) + abs(Fraction(v)) / 2**53
    assert (lost <= 1e-28 * np.abs(W).sum()).all()
    short = np.zeros((CLASSES, D + 1))
    short[1:] = rng.integers(-9, 10, (CLASSES - 1, D + 1)) * 2.0 ** rng.integers(-40, 40)
    signed_rows.sum_margins(STORED[kind], INDEX, short, False, value, lost)
    assert not lost.any()
    assert [Fraction(v) for v in value] == [product(z, [Fraction(v) for v in short[1:].ravel()]) for z in Z]
    # Tenths are no binary numbers: as decimals such rows are given up.
    tenths = X + 0.1
    stored = Dense(tenths) if kind == "dense" else Csr(*(lambda A: (A.data, A.indices, A.indptr))(sp.csr_array(tenths)))
    signed_rows.sum_margins(stored, INDEX, W, True, value, lost)
    assert np.isinf(lost).all()


@storage
def test_signs_by_limbs_are_exact_or_open(kind):
    limb_bits, count = signed_rows.LIMB_BITS, 4
    w = [int(v) * 3**k for k, v in enumerate(RNG.integers(-5, 6, (CLASSES - 1) * (D + 1)) * 2**40)]
    limbs = np.zeros((count, CLASSES, D + 1), np.int64)
    for k in range(count):
        values = [(abs(v) >> (limb_bits * k)) % (1 << limb_bits) * (1 if v > 0 else -1) for v in w]
        limbs[k, 1:] = np.reshape(values, (CLASSES - 1, D + 1))
    for entry_bits in (8, 1):
        out = np.empty(len(Z), np.int8)
        signed_rows.limb_signs(STORED[kind], INDEX, limbs, entry_bits, False, out)
        margins = [product(z, w) for z in Z]
        decided = out != signed_rows.OPEN
        assert decided.all() == (entry_bits == 8)  # quarters below 2 need three bits
        assert all(out[k] == (margins[k] > 0) - (margins[k] < 0) for k in np.flatnonzero(decided))


@storage
def test_signed_rows_are_copied_whole_or_by_columns(kind):
    expected = np.array(Z, float)
    every, some = np.arange(expected.shape[1]), np.array([0, 3, 4, 7])
    for columns in (every, some):
        place = np.full(expected.shape[1], -1)
        place[columns] = np.arange(columns.size)
        out = np.zeros((len(Z), columns.size))
        signed_rows.gather_signed(STORED[kind], INDEX, place.reshape(CLASSES - 1, D + 1), out)
        assert np.array_equal(out, expected[:, columns])
