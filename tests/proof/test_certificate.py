"""Signed rows against fractions, certificates by hand, files, and everything that must be refused."""

import csv
import json
import math
import runpy
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt.exact.signed_rows
from rosenblatt.compiled.signs import OPEN
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.exact.signed_rows import SignedRows
from rosenblatt.proof import certificate as certificates
from rosenblatt.proof.brackets import direction
from rosenblatt.proof.certificate import (
    Bracket,
    Certificate,
    augmented_bracket,
    digest,
    issue,
    margin_bracket,
    mistake_bound,
    outer_radius,
    prepare,
    root_above,
    root_below,
    verify,
)

CHECKER = Path(__file__).parents[2] / "tools" / "check_certificate.py"
SQUARE = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)

# ----------------------------------------------------------------------------------------------- signed rows, exactly


def exact(value, decimal=False):
    if isinstance(value, Fraction):
        return value
    return Fraction(repr(float(value))) if decimal else Fraction(float(value))


def signed_rows_of(X, label, classes, decimal=False):
    """Every signed row as a list of fractions, straight from the definition."""
    for x, own in zip(X, label, strict=True):
        padded = [*(exact(v, decimal) for v in x), Fraction(1)]
        for rival in range(classes):
            if rival != own:
                blocks = [[(c == own) * v - (c == rival) * v for v in padded] for c in range(classes)]
                yield [v for block in blocks[1:] for v in block]


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
    heights = [sum(a * b for a, b in zip(z, exact_w, strict=True)) for z in signed_rows_of(X, label, classes, decimal)]
    for data in (X, sp.csr_array(X)):
        signed = SignedRows(as_table(data), label, classes, decimal=decimal)
        assert signed.signs(w).tolist() == [(h > 0) - (h < 0) for h in heights]
        if not isinstance(w, list):
            with np.errstate(over="ignore", invalid="ignore"):
                s, a = signed.heights(w)
                relative, absolute = signed.slack(w)
                error = relative * a + absolute
            for k in np.flatnonzero(np.isfinite(s) & np.isfinite(error)):
                assert abs(exact(s[k]) - heights[k]) <= exact(error[k])
            least = signed.lowest(w, np.arange(signed.n))
            assert least <= min(heights) <= least + abs(min(heights)) / 2**49


@given(questions())
@settings(max_examples=60)
def test_rows_are_gathered_and_made_whole(question):
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
    heights = X.astype(int) @ w[:-1]
    signed = SignedRows(as_table(X), np.ones(4000, int), 2)
    for vector in (w * 0.1, [int(v) * 7**300 for v in w], [int(v) * 7**300 for v in w[:-1]] + [0]):
        assert np.array_equal(signed.signs(vector), np.sign(heights))


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
        height = sum(int(x) * v for x, v in zip(X[draw(st.integers(0, n - 1)), :-1], w, strict=False))
        blocks += [*w[:-1], -height * int(X[0, -1]), draw(st.integers(-1, 1))]
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
            found = signed._short(w, np.arange(signed.n))
            assert all(sign in (own, OPEN) for sign, own in zip(found.tolist(), signs, strict=True))
            assert signed.signs(w).tolist() == signs


def test_rows_of_few_bits_need_no_python():
    X = np.array([[3.0, 0.0, 255.0], [0.5, 0.25, 1.0], [2.0**23, 1.0, 0.0], [2.0**60, 1.0, 0.0], [1e-300, 1.0, 0.0]])
    for data in (X, sp.csr_array(X)):
        signed = SignedRows(as_table(data), np.ones(5, int), 2)
        w = [3**500, -(5**400), 1 - 3**501 // 255, 2]
        found = signed._short(w, np.arange(5))
        assert (found == OPEN).tolist() == [False, False, False, True, True]
        assert found[0] == np.sign(3 * w[0] + 255 * w[2] + w[3])


def test_rows_made_whole_are_kept_within_bounds(monkeypatch):
    monkeypatch.setattr(rosenblatt.exact.signed_rows, "KEPT", 10)
    X = np.arange(40.0).reshape(10, 4) + 0.5
    signed, fresh = (SignedRows(as_table(X), np.ones(10, int), 2) for _ in range(2))
    for k in [0, 1, 0, 5, 6, 7, 5, 0]:
        assert signed.integers(k) == fresh.integers(k)
        assert sum(len(entries) for entries, _ in signed._made.values()) <= 10


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


# ---------------------------------------------------------------------------------------------- certificates by hand


def separable(X, y, w, rows, weights, decimal=False):
    signed, classes = prepare(X, y, decimal)
    brackets = [make(signed, w, rows, weights) for make in (margin_bracket, augmented_bracket)]
    return issue(signed, classes, verdict="separable", vector=w, margin=brackets[0], augmented=brackets[1])


def proved(X, y, decimal=False, **claims):
    return issue(*prepare(X, y, decimal), **claims)


def examples():
    """Name, X, y and a certificate made by hand for each kind of claim."""
    yield "or", SQUARE, [0, 1, 1, 1], separable(SQUARE, [0, 1, 1, 1], [2.0, 2.0, -1.0], [0, 1, 2], [2, 1, 1])
    yield "and", SQUARE, [0, 0, 0, 1], separable(SQUARE, [0, 0, 0, 1], [2.0, 2.0, -3.0], [3, 1, 2], [2, 1, 1])
    xor = {"support": (0, 1, 2, 3), "rivals": (1, 0, 0, 1), "multipliers": (1, 1, 1, 1)}
    yield "xor", SQUARE, [0, 1, 1, 0], proved(SQUARE, [0, 1, 1, 0], verdict="overlapping", **xor)
    # Two contradictory points at 0, the others apart: w = (1, 0) is zero on the former only.
    line, label = np.array([[0.0], [0.0], [3.0], [-2.0]]), ["no", "yes", "yes", "no"]
    pair = {"support": (0, 1), "rivals": (1, 0), "multipliers": (1, 1)}
    yield "quasi", line, label, proved(line, label, verdict="quasi-separable", vector=(1, 0), **pair)
    # The same two points alone overlap, and vanish in one direction.
    basis = {"null_basis": ((1, -7),)}
    X = np.array([[7.0], [7.0]])
    yield "duplicates", X, [-1.0, 1.0], proved(X, [-1.0, 1.0], verdict="overlapping", **pair, **basis)
    three, classes = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [5, 6, 7]
    w = (Fraction(1), Fraction(0), Fraction(-1, 3), Fraction(0), Fraction(1), Fraction(-1, 3))
    yield "three", three, classes, proved(three, classes, verdict="separable", vector=w)
    # The points at 1 are of classes 1 and 2, which therefore can only tie there.
    four, classes = np.array([[0.0], [1.0], [1.0], [2.0]]), [0, 1, 2, 1]
    claim = {"support": (1, 2), "rivals": (2, 1), "multipliers": (1, 1)}
    w = (Fraction(1), Fraction(-1, 2), Fraction(1), Fraction(-1, 2))
    yield "three quasi", four, classes, proved(four, classes, verdict="quasi-separable", vector=w, **claim)
    tenths = np.array([[0.1, 0.2], [0.3, 0.0]])
    yield "tenths", tenths, [0, 1], separable(tenths, [0, 1], [1.0, -1.0, 0.0], [0, 1], [1, 1], decimal=True)
    yield "one class", SQUARE, [3] * 4, separable(SQUARE, [3] * 4, [0.0, 0.0, 1.0], [0], [1])
    stored = sp.csr_array(SQUARE)
    yield "sparse", stored, [0, 1, 1, 1], separable(stored, [0, 1, 1, 1], [2.0, 2.0, -1.0], [0, 1, 2], [2, 1, 1])


EXAMPLES = {name: (X, y, certificate) for name, X, y, certificate in examples()}


def run_checker(folder, document, X, y):
    """Whether the standalone checker accepts."""
    X = X.toarray() if sp.issparse(X) else X
    with (folder / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([*map(repr, row), label] for row, label in zip(X.tolist(), y, strict=True))
    (folder / "certificate.json").write_text(json.dumps(document))
    command = [sys.executable, "-I", CHECKER, folder / "certificate.json", folder / "data.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1)
    [line] = (done.stdout + done.stderr).splitlines()
    assert line.startswith("rejected: ") if done.returncode else line == f"holds: {document['verdict']}"
    return done.returncode == 0


def test_the_checker_is_short_enough_to_be_read():
    assert len(CHECKER.read_text().splitlines()) < 60


def test_the_checker_refuses_other_versions(tmp_path):
    X, y, certificate = EXAMPLES["xor"]
    document = certificate.to_dict() | {"version": 2}
    assert not run_checker(tmp_path, document | {"seal": certificates._seal(document)}, X, y)


@pytest.mark.parametrize("name", EXAMPLES)
def test_true_certificates_are_accepted(name, tmp_path):
    X, y, certificate = EXAMPLES[name]
    assert verify(certificate, X, y)
    assert verify(certificate, X.toarray() if sp.issparse(X) else sp.csc_array(X), y)
    assert run_checker(tmp_path, certificate.to_dict(), X, y)


@pytest.mark.parametrize("name", EXAMPLES)
def test_files_round_trip(name, tmp_path):
    X, y, certificate = EXAMPLES[name]
    certificate.save(tmp_path / "proof.json")
    again = Certificate.load(tmp_path / "proof.json")
    assert again == certificate
    assert verify(again, X, y)
    assert [path.name for path in tmp_path.iterdir()] == ["proof.json"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_other_data_is_rejected(name, tmp_path):
    X, y, certificate = EXAMPLES[name]
    dense = X.toarray() if sp.issparse(X) else X
    shifted, fewer = dense.copy(), dense[:-1]
    shifted[0, 0] = np.nextafter(shifted[0, 0], 9)
    assert not verify(certificate, shifted, y)
    assert not verify(certificate, fewer, y[:-1])
    assert not verify(certificate, dense, [*y[1:], "other"])
    assert not run_checker(tmp_path, certificate.to_dict(), shifted, y)
    with pytest.raises(InvalidInput):
        verify(certificate, dense, y[:-1])
    with pytest.raises(InvalidInput):
        verify(certificate.to_dict(), dense, y)


def changes(value):
    """Values unlike this one, of the same kind and of others."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, -1, str(value)]
    if isinstance(value, str):
        return [value + "0", value[:-1], "1", 7]
    if isinstance(value, list):
        inner = [[*value[:k], new, *value[k + 1 :]] for k in range(len(value)) for new in changes(value[k])]
        return [*inner, value[:-1] if value else [0], [*value, *value[:1]] if value else [[0]]]
    if isinstance(value, dict):
        inner = [value | {key: new} for key in value for new in changes(value[key])]
        return [*inner, {key: v for key, v in value.items() if key != next(iter(value))}]
    return ["1", [], {}, 0.5]


@pytest.mark.parametrize("name", EXAMPLES)
def test_any_change_of_any_field_breaks_the_seal(name):
    X, y, certificate = EXAMPLES[name]
    document = certificate.to_dict()
    assert Certificate.from_dict(json.loads(json.dumps(document))) == certificate
    refused = rejected = 0
    for key in document:
        for new in [new for new in changes(document[key]) if new != document[key]]:
            try:
                forged = Certificate.from_dict(document | {key: new})
            except InvalidInput:
                refused += 1
            else:
                rejected += 1
                assert not verify(forged, X, y), (key, new)
    assert refused > 50
    assert rejected > 10


def accepts(certificate, data, monkeypatch):
    """Whether the standalone checker accepts, within this process."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # the script sets it
    monkeypatch.setattr(sys, "argv", ["", str(certificate), str(data)])
    try:
        runpy.run_path(str(CHECKER))
    except SystemExit as end:
        return end.code is None
    except Exception:  # it says so and fails
        return False
    raise AssertionError("the script must exit")


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # files that the script leaves open until it ends
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_checker_rejects_any_change_of_any_field(name, tmp_path, monkeypatch):
    X, y, certificate = EXAMPLES[name]
    document = certificate.to_dict()
    assert run_checker(tmp_path, document, X, y)
    paths = tmp_path / "certificate.json", tmp_path / "data.csv"
    assert accepts(*paths, monkeypatch)
    for key in document:
        for new in [new for new in changes(document[key]) if new != document[key]]:
            paths[0].write_text(json.dumps(document | {key: new}))
            assert not accepts(*paths, monkeypatch), (key, new)


def sealed(certificate, **claims):
    """The same certificate with other claims and a seal that fits them."""
    forged = replace(certificate, **claims)
    return replace(forged, seal=certificates._seal(forged.to_dict()))


def lies():
    """Certificates with a fitting seal that claim something false."""
    step = {"down": 0.0, "up": math.inf}
    good = EXAMPLES["or"][2]
    yield "or", sealed(good, vector=(2.0, 2.0, -2.0))  # zero on two points
    yield "or", sealed(good, vector=(2.0, 2.0, 0.0))
    yield "or", sealed(good, vector=None)
    yield "or", sealed(good, radius=math.nextafter(math.sqrt(3), step["down"]))
    yield "or", sealed(good, radius=2.0, mistake_bound=36)
    yield "or", sealed(good, mistake_bound=26)
    yield "or", sealed(good, mistake_bound=None)
    yield "or", sealed(good, verdict="quasi-separable")
    yield "or", sealed(good, verdict="overlapping", vector=None, margin=None, augmented=None, mistake_bound=None)
    yield "or", sealed(good, boundary=(1,))
    yield "or", sealed(good, arithmetic="decimal", digest="0" * 64)
    yield "or", sealed(good, layout="sparse")
    yield "or", sealed(good, classes=(0, 2))
    yield (
        "or",
        sealed(good, shape=(4, 3), vector=(2.0, 2.0, -1.0, 0.0), margin=None, augmented=None, mistake_bound=None),
    )
    for field, limit in (("margin", math.sqrt(1 / 8)), ("augmented", 1 / 3)):
        claim = getattr(good, field)
        for change in (
            {"lower": limit * (1 + 1e-15)},
            {"upper": claim.lower * (1 - 1e-15)},
            {"weights": (9.0, 1.0, 1.0)} if field == "augmented" else {"weights": (2.0, 9.0, 1.0)},
            {"rows": (0, 1, 3)},
            {"w": (2.0, 1.0, -1.0)},
        ):
            forged = {"margin": good.margin, "augmented": good.augmented} | {field: replace(claim, **change)}
            yield "or", sealed(good, **forged, mistake_bound=mistake_bound(good.radius, forged["augmented"].lower))
    xor = EXAMPLES["xor"][2]
    yield "xor", sealed(xor, multipliers=(1, 1, 1, 2))
    yield "xor", sealed(xor, multipliers=(1, 1, 2, 1), point=())
    yield "xor", sealed(xor, support=(0, 1, 1, 3))
    yield "xor", sealed(xor, rivals=(1, 0, 0, 0))
    yield "xor", sealed(xor, point=(0.5, 0.25))
    yield "xor", sealed(xor, support=(), rivals=(), multipliers=(), point=())
    yield "xor", sealed(xor, null_basis=((1, 1, 0),))
    yield "xor", sealed(xor, verdict="quasi-separable", vector=(0.0, 0.0, 0.0), boundary=(0, 1, 2, 3))
    yield (
        "xor",
        sealed(xor, verdict="separable", vector=(1.0, 1.0, 0.0), support=(), rivals=(), multipliers=(), point=()),
    )
    yield "xor", sealed(xor, verdict="undecided", reason="no time", support=(), rivals=(), multipliers=(), point=())
    quasi = EXAMPLES["quasi"][2]
    yield "quasi", sealed(quasi, boundary=(0,))
    yield "quasi", sealed(quasi, boundary=(0, 1, 2))
    yield "quasi", sealed(quasi, vector=(Fraction(1), Fraction(1)))
    yield "quasi", sealed(quasi, vector=(Fraction(0), Fraction(0)), boundary=(0, 1, 2, 3))
    yield "quasi", sealed(quasi, verdict="overlapping", vector=None, boundary=())
    yield "quasi", sealed(quasi, verdict="overlapping", vector=None, boundary=(), null_basis=((1, 0),))
    twins = EXAMPLES["duplicates"][2]
    yield "duplicates", sealed(twins, null_basis=())
    yield "duplicates", sealed(twins, null_basis=((1, -6),))
    yield "duplicates", sealed(twins, null_basis=((0, 0),))
    yield "duplicates", sealed(twins, null_basis=((1, -7), (2, -14)))
    three = EXAMPLES["three"][2]
    yield "three", sealed(three, vector=(Fraction(1), Fraction(0), Fraction(-1, 3), Fraction(1), *three.vector[4:]))
    yield "three quasi", sealed(EXAMPLES["three quasi"][2], rivals=(2, 0))
    alone = EXAMPLES["one class"][2]
    yield "one class", sealed(alone, margin=Bracket(1.0, 2.0))
    yield "tenths", sealed(EXAMPLES["tenths"][2], vector=(-1.0, 1.0, 0.0))


LIES = list(lies())


@pytest.mark.parametrize("k", range(len(LIES)))
def test_lies_with_a_fitting_seal_are_rejected(k, tmp_path):
    name, forged = LIES[k]
    X, y, _ = EXAMPLES[name]
    assert not verify(forged, X, y)
    assert not run_checker(tmp_path, forged.to_dict(), X, y)


def test_decimals_and_floats_are_different_data():
    # 0.1 + 0.2 = 0.3 in decimals only: the three points are then on one line, and the middle one is of the other class.
    X, y = np.array([[0.1], [0.3], [0.5]]), [0, 1, 0]
    claim = {"support": (0, 1, 2), "rivals": (1, 0, 1), "multipliers": (1, 2, 1), "verdict": "overlapping"}
    assert verify(proved(X, y, decimal=True, **claim), X, y)
    assert Fraction(0.1) + Fraction(0.5) != 2 * Fraction(0.3)
    assert not verify(proved(X, y, **claim), X, y)


# -------------------------------------------------------------------------------------------------- brackets, digest


@given(st.fractions(min_value=0), st.integers(-400, 400))
def test_roots_are_rounded_outwards_by_less_than_a_step(value, exponent):
    square = value * Fraction(4) ** exponent
    low, high = root_below(square), root_above(square)
    assert Fraction(low) ** 2 <= square < Fraction(math.nextafter(low, math.inf)) ** 2
    assert Fraction(high) ** 2 >= square
    assert high == 0 or Fraction(math.nextafter(high, 0.0)) ** 2 < square


@st.composite
def two_clouds(draw):
    """Separable rows, a separator that is not the best, and witnesses."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(2, 30)), draw(st.integers(1, 5))
    X = rng.standard_normal((n, d)) * 10.0 ** draw(st.integers(-8, 8)) + 10.0 ** draw(st.integers(-3, 6))
    w = rng.standard_normal(d)
    heights = X @ w
    cut = np.median(heights) if n > 2 else heights.mean()
    y = heights > cut
    y[np.argmax(heights)] = True
    rows = np.flatnonzero(rng.random(n) < 0.5)
    rows = np.union1d(rows, [np.argmax(heights), np.argmin(heights)])
    return X, y, np.append(w, -cut), rows, rng.random(rows.size) + 0.01, draw(st.booleans())


@given(two_clouds(), st.booleans())
def test_brackets_are_true_and_tight(clouds, in_fractions):
    X, y, w, rows, weights, decimal = clouds
    if in_fractions:  # that no floats are
        w, weights = (np.array([Fraction(v) / 3 for v in part]) for part in (w, weights))
    signed, _ = prepare(X, y, decimal)
    Z = list(signed_rows_of(X, y.astype(int), 2, decimal))
    exact_w = [exact(v) for v in w]
    heights = [sum(a * b for a, b in zip(z, exact_w, strict=True)) for z in Z]
    shares = [exact(v) for v in weights]

    def mean(side):
        own = [(share, Z[i]) for share, i in zip(shares, rows, strict=True) if y[i] in side]
        return [sum(share * z[j] for share, z in own) / sum(share for share, _ in own) for j in range(w.size)]

    low = [min(h for h, own in zip(heights, y, strict=True) if own == side) for side in (False, True)]
    square = sum(v * v for v in exact_w)
    gap = [a + b for a, b in zip(mean({False}), mean({True}), strict=True)]
    for bracket, height, norm, upper in (
        (
            margin_bracket(signed, w, rows, weights),
            sum(low) / 2,
            square - exact_w[-1] ** 2,
            sum(v * v for v in gap) / 4,
        ),
        (augmented_bracket(signed, w, rows, weights), min(low), square, sum(v * v for v in mean({False, True}))),
    ):
        truth = (1 if height > 0 else -1) * height**2 / norm
        lower = exact(bracket.lower) * abs(exact(bracket.lower))
        assert lower <= truth <= lower + abs(lower) * Fraction(1, 10**12)
        assert exact(bracket.upper) ** 2 >= upper >= exact(bracket.upper) ** 2 * (1 - Fraction(1, 10**12))


def test_integers_are_not_rounded_on_the_way():
    assert direction((2**60 + 1, Fraction(1, 2))) == [2**61 + 2, 1]
    assert direction((0.5, np.float32(2.0))).tolist() == [0.5, 2.0]
    signed, _ = prepare([[1.0, 1.0], [-1.0, -1.0]], [1, 0])
    assert augmented_bracket(signed, (2**60 + 1, -(2**60), 0), [], []).lower > 0  # in floats the height is zero


@given(two_clouds())
@settings(max_examples=40)
def test_the_radius_holds_and_the_mistake_bound_follows(clouds):
    X, y, _, _, _, decimal = clouds
    radius = outer_radius(prepare(X, y, decimal)[0])
    largest = max(sum(exact(v, decimal) ** 2 for v in x) + 1 for x in X)
    assert largest <= exact(radius) ** 2 <= largest * (1 + Fraction(1, 10**9))
    assert mistake_bound(radius, 0.5) == (4 * exact(radius) ** 2).__floor__()
    assert mistake_bound(radius, 0.0) is None


def test_the_digest_is_of_the_data_not_of_their_storage():
    rng = np.random.default_rng(1)
    X = rng.integers(-1, 2, (700, 40)) * rng.random((700, 40))
    label = rng.integers(0, 3, 700)
    stored = sp.csr_array(X)
    with_zero = sp.csr_array(X + (X == 0) * 5.0)
    with_zero.data[with_zero.data == 5.0] = -0.0
    forms = [as_table(form) for form in (X, np.where(X == 0, -0.0, X), stored, with_zero, np.asfortranarray(X))]
    seen = {layout: {digest(table, label, layout) for table in forms} for layout in ("dense", "sparse")}
    assert all(len(found) == 1 for found in seen.values())
    assert seen["dense"] != seen["sparse"]
    single = X.astype(np.float32)
    assert digest(as_table(single), label, "dense") == digest(as_table(single.astype(float)), label, "dense")
    assert digest(as_table(X), 2 - label, "dense") not in seen["dense"]


# ------------------------------------------------------------------------------------------------------------- files


def test_long_integers_survive():
    long = 3**41_000  # 65,000 bits, about the multipliers of a thousand features
    forged = replace(EXAMPLES["xor"][2], multipliers=(long,) * 4)
    forged = replace(forged, seal=certificates._seal(forged.to_dict()))
    again = Certificate.from_dict(json.loads(json.dumps(forged.to_dict())))
    assert again.multipliers == (long,) * 4
    assert verify(again, SQUARE, [0, 1, 1, 0])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "rosenblatt-certificate", "version": 1}',
        b"9" * 10_000,
        b'{"a": NaN}',
    ],
)
def test_files_that_are_no_certificates_are_refused(content, tmp_path):
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput):
        Certificate.load(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("multipliers", ["1" * 5000, "1", "1", "1"]),
        ("multipliers", ["1", "1", "1", "01"]),
        ("multipliers", ["1", "1", "1", "0"]),
        ("multipliers", ["1", "1", "1", 1]),
        ("radius", "nan"),
        ("radius", "inf"),
        ("radius", "0x1p99999"),
        ("radius", "1.75"),
        ("shape", [4, 0]),
        ("shape", [10**30, 2]),
        ("support", [0, 1, 2, 4]),
        ("support", [0, 1, 2, True]),
        ("classes", [None, None]),
        ("classes", [0]),
        ("classes", [0, [1]]),
        ("null_basis", [["1"]]),
        ("vector", ["1/0", "1/1", "1/1"]),
        ("vector", ["2/4", "1/1", "1/1"]),
        ("vector", ["0x1.0000000000000p+0", "1/1", "1/1"]),
        ("version", 2),
        ("verdict", "maybe"),
        ("digest", "0" * 63),
        ("diverging", [1, 0, 0]),
    ],
)
def test_fields_out_of_form_are_refused_with_their_name(field, value):
    document = EXAMPLES["xor"][2].to_dict()
    with pytest.raises(InvalidInput, match=field):
        Certificate.from_dict(document | {field: value})


# ------------------------------------------------------------------------------------------------------------- words


def test_the_proof_of_xor_reads_as_in_a_lecture():
    told = str(EXAMPLES["xor"][2])
    assert "not separable: overlapping" in told
    assert "the midpoint of rows 1 and 2 equals the midpoint of rows 0 and 3" in told
    assert "meet at (0.5, 0.5)" in told


def test_words_say_what_each_certificate_proves():
    assert "at most 27 mistakes" in str(EXAMPLES["or"][2])
    assert "row 1 equals row 0, which has the other label" in str(EXAMPLES["quasi"][2])
    assert "2 are on it: 0, 1" in str(EXAMPLES["quasi"][2])
    assert "one class only" in str(EXAMPLES["one class"][2])
    sides = {"rivals": [1] * 20 + [0] * 20, "multipliers": range(1, 41), "null_basis": ((1, 0),)}
    many = proved(np.zeros((40, 1)), [0] * 20 + [1] * 20, verdict="overlapping", support=range(40), **sides)
    assert "(14 more)" in str(many)
    undecided = proved(SQUARE, [0, 1, 1, 0], verdict="undecided", reason="The time limit was over.")
    assert str(undecided).endswith("undecided. The time limit was over.")
    assert not verify(undecided, SQUARE, [0, 1, 1, 0])


def test_separators_have_the_shape_of_a_model():
    w, b = EXAMPLES["or"][2].separator
    assert w.dtype == np.float64
    assert (w.tolist(), b) == ([2.0, 2.0], -1.0)
    W, b = EXAMPLES["three"][2].separator
    assert W.shape == (3, 2)
    assert not W[0].any()
    X = EXAMPLES["three"][0]
    assert np.argmax(X.astype(int) @ W.T + b, axis=1).tolist() == [0, 1, 2]
    assert W[1, 0] == Fraction(1)
    assert b[1] == Fraction(-1, 3)
    assert EXAMPLES["xor"][2].separator is None


def test_extreme_samples_are_those_off_the_boundary():
    assert EXAMPLES["or"][2].extreme == (0, 1, 2, 3)
    assert EXAMPLES["quasi"][2].extreme == (2, 3)
    assert EXAMPLES["xor"][2].extreme == ()


# ---------------------------------------------------------------------------------------------------------- pictures


def test_pictures_show_the_witnesses():
    pytest.importorskip("matplotlib")
    from rosenblatt.plots import plot_certificate

    X, y, certificate = EXAMPLES["xor"]
    ax = plot_certificate(certificate, X, y)
    star = next(mark for mark in ax.collections if mark.get_label() == "common point")
    assert star.get_offsets().tolist() == [[0.5, 0.5]]
    outlines = [{tuple(corner) for corner in line.get_xydata().tolist()} for line in ax.lines]
    assert {(0.0, 0.0), (1.0, 1.0)} in outlines
    assert {(0.0, 1.0), (1.0, 0.0)} in outlines
    X, y, certificate = EXAMPLES["or"]
    ax = plot_certificate(certificate, X, y)
    band = {tuple(np.round(line.get_xy1(), 12)) for line in ax.lines}
    assert band == {(0.0, 0.0), (0.25, 0.25), (0.5, 0.5)}  # the separator x1 + x2 = 1/2, and the rims of its band
    plot_certificate(*(EXAMPLES["one class"][k] for k in (2, 0, 1)))


def test_pictures_of_other_data_are_refused():
    pytest.importorskip("matplotlib")
    from rosenblatt.plots import plot_certificate

    X, y, certificate = EXAMPLES["xor"]
    with pytest.raises(InvalidInput):
        plot_certificate(certificate, X[:3], y[:3])
    X, y, certificate = EXAMPLES["three"]
    with pytest.raises(InvalidInput):
        plot_certificate(certificate, X, y)
