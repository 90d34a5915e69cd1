"""Verdicts against an exact oracle, counts known from the literature, and all that must leave a verdict alone."""

import contextlib
import csv
import io
import itertools
import json
import math
import runpy
import subprocess
import sys
import tempfile
from collections import Counter
from copy import deepcopy
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from certificates_by_hand import prepare
from oracles import exact_lp
from rosenblatt import certify, certify_pairs, verify
from rosenblatt.datasets import noisy
from rosenblatt.errors import InvalidInput, UnprovedClaim
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.prover.exact import rational
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.search import certify as certify_module
from strategies import integer_sets, small

CHECKER = Path(__file__).parents[2] / "tools" / "check_certificate.py"
SQUARE = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)
VERDICTS = ("separable", "quasi-separable", "overlapping")


def verdict(X, y, **options):
    """The verdict of a certificate that verifies."""
    certificate = certify(X, y, margin=False, **options)
    assert verify(certificate, X, y)
    return certificate.verdict


CHECK = runpy.run_path(str(CHECKER))


def lines(X, y):
    """Data as the checker reads them from a CSV file."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    return [[*map(repr, row), str(label)] for row, label in zip(X.tolist(), np.asarray(y).tolist(), strict=True)]


def checker_accepts(document, X, y):
    """Whether the checker's command line accepts, in this process."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        certificate, data = Path(folder) / "certificate.json", Path(folder) / "data.csv"
        with data.open("w", newline="") as file:
            csv.writer(file).writerows(lines(X, y))
        certificate.write_text(json.dumps(document))
        with contextlib.redirect_stderr(out):
            return CHECK["main"]([str(certificate), str(data)]) == 0


def verify_accepts(document, X, y):
    try:
        certificate = Certificate.from_dict(document)
    except InvalidInput:
        return False
    return verify(certificate, X, y)


# ------------------------------------------------------------------------------------------- against the exact oracle


def degenerate_set(rng, classes, most_rows, most_features):
    """Few distinct integers, with duplicates, contradictions, constant and repeated columns as chance has them."""
    n, d = int(rng.integers(2, most_rows + 1)), int(rng.integers(1, most_features + 1))
    size = int(rng.integers(1, 4))
    X = rng.integers(-size, size + 1, (n, d))
    y = rng.integers(0, classes, n)
    if rng.random() < 0.4:  # mostly right labels, or nearly everything would overlap
        y = np.digitize(X @ rng.integers(-2, 3, d) + rng.integers(-1, 2), np.arange(classes - 1))
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = rng.integers(-1, 2)
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = X[:, rng.integers(d)]
    if rng.random() < 0.3:
        X[rng.integers(n)] = X[rng.integers(n)]
    if rng.random() < 0.2:
        y[rng.integers(n)] = rng.integers(classes)
    y = np.unique(y, return_inverse=True)[1]
    return X, y


def balanced_sets(rng, classes, each, most_rows, most_features):
    """Degenerate sets with their verdicts by the oracle: as many of each verdict, no two with the same points."""
    seen, left = set(), dict.fromkeys(VERDICTS, each)
    while any(left.values()):
        X, y = degenerate_set(rng, classes, most_rows, most_features)
        points = frozenset(zip(map(tuple, X.tolist()), y.tolist(), strict=True))
        truth = exact_lp.verdict(X.tolist(), y.tolist())
        if left[truth] and points not in seen:
            seen.add(points)
            left[truth] -= 1
            yield X, y, truth


@pytest.mark.parametrize(("classes", "each", "most_rows", "most_features"), [(2, 480, 9, 4), (3, 90, 7, 2)])
def test_the_oracle_agrees_on_degenerate_integer_sets(classes, each, most_rows, most_features):
    rng = np.random.default_rng(classes)
    for k, (X, y, truth) in enumerate(balanced_sets(rng, classes, each, most_rows, most_features)):
        data = sp.csr_array(X.astype(float)) if k % 3 == 0 else X.astype(float)
        assert verdict(data, y, coefficients=k % 5 == 0) == truth, (X.tolist(), y.tolist())


# ------------------------------------------------------------------------------------------------------ known counts


# Points, dimensions, and how many of their labelings are separable.
LABELINGS = [(8, 2, 58), (10, 3, 260), pytest.param(11, 4, 772, marks=pytest.mark.long)]


def labelings(n):
    """All ways to label n points up to a swap of the classes."""
    return (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1


@pytest.mark.parametrize(("n", "d", "count"), LABELINGS)
def test_cover_counts_the_labelings_of_points_in_general_position(n, d, count):
    X = np.random.default_rng(n).integers(-9, 10, (n, d)).astype(float)
    padded = np.c_[X, np.ones(n)]
    assert all(abs(np.linalg.det(padded[list(corner)])) > 0.5 for corner in itertools.combinations(range(n), d + 1))
    assert 2 * sum(certify(X, y, margin=False).verdict == "separable" for y in labelings(n)) == count


@pytest.mark.parametrize(("n", "d", "count"), LABELINGS)
def test_hyperplanes_cut_the_moment_curve_as_often_as_there_are_dimensions(n, d, count):
    X = np.arange(n, dtype=float)[:, None] ** np.arange(1, d + 1)
    found = 0
    for y in labelings(n):
        cuts = np.count_nonzero(np.diff(y))
        assert (certify(X, y, margin=False).verdict == "separable") == (cuts <= d)
        found += 2 * (cuts <= d)
    assert found == count


@pytest.mark.parametrize(("n", "split"), [(1, (4, 0, 0)), (2, (14, 0, 2)), (3, (104, 48, 104))])
def test_threshold_functions_are_counted(n, split):
    X = np.array(list(itertools.product((0.0, 1.0), repeat=n)))
    found = Counter(2 * [certify(X, y, margin=False).verdict for y in labelings(2**n)])
    assert tuple(found[name] for name in VERDICTS) == split


def test_threshold_functions_of_four_variables_are_counted():
    X = np.array(list(itertools.product((0, 1), repeat=4)))
    power = 2 ** np.arange(16)
    # Where each corner goes when inputs are permuted and negated.
    moves = [(X[:, order] ^ flip) @ (8, 4, 2, 1) for order in itertools.permutations(range(4)) for flip in X]
    moves = np.array(moves)
    orbit_of, functions = np.full(2**16, -1), 0
    for number in range(2**16):
        if orbit_of[number] < 0:
            y = (number >> np.arange(16)) & 1
            orbit = np.unique([y[moves] @ power, (1 - y)[moves] @ power])
            orbit_of[orbit] = number
            functions += orbit.size * (verdict(X.astype(float), y) == "separable")
    assert np.unique(orbit_of).size == 222  # the classes of such functions that are known
    assert functions == 1882


# -------------------------------------------------------------------------------------------------------- nasty floats

KINDS = ("scales", "offset", "collinear", "one-hot", "extreme", "mirrored", "duplicate", "integer")


def nasty_set(rng, kind, most_rows=60, most_features=12):
    """Rows that floats see badly, labelled by a hyperplane or nearly so."""
    if kind == "extreme":  # integers of a thousand digits are slow
        most_rows, most_features = min(most_rows, 24), min(most_features, 6)
    n, d = int(rng.integers(2, most_rows + 1)), int(rng.integers(1, most_features + 1))
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal(d) + 0.1 * rng.standard_normal() > 0).astype(int)
    if rng.random() < 0.4:
        y[rng.integers(n)] ^= 1
    if kind == "scales":
        X *= 10.0 ** rng.integers(-12, 13, d)
    elif kind == "offset":
        X += 1e10 * rng.standard_normal(d)
    elif kind == "collinear":
        X[:, -1] = X[:, 0] * (1 + 1e-13 * rng.standard_normal(n))
    elif kind == "one-hot":
        X = np.eye(d)[rng.integers(0, d, n)]
    elif kind == "extreme":
        X *= 10.0 ** rng.choice([-320, -310, -200, 100], d)
    elif kind == "mirrored":
        k = n // 2
        X[k : 2 * k] = X[:k] * (1 - 2.0**-52 * rng.integers(1, 4))
        y[:k], y[k : 2 * k] = 1, 0
    elif kind == "duplicate":
        X[n // 2] = X[0]
    else:
        X = np.round(3 * X)
    if y.min() == y.max():
        y[0] ^= 1
    return X, y


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_nasty_floats_are_decided(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    compared = undecided = 0
    for k in range(250):
        X, y = nasty_set(rng, kind)
        data = sp.csr_array(X) if k % 5 == 0 else X
        certificate = certify(data, y, time_limit=60)
        if certificate.verdict == "undecided":
            undecided += 1
            continue
        assert verify(certificate, X, y), k
        for bracket in (certificate.margin, certificate.augmented):
            if certificate.verdict == "separable" and bracket.upper > sys.float_info.min:
                assert bracket.upper <= bracket.lower * (1 + 1e-6), k
        if X.size < 40:
            assert certificate.verdict == exact_lp.verdict(X.tolist(), y.tolist()), k
            compared += 1
        if X.size < 200 and k % 8 == 0:
            assert checker_accepts(certificate.to_dict(), X, y), k
    assert undecided == 0  # of 2,000 in all, 2 would do
    assert compared > 10


@pytest.mark.parametrize("values", [(2e-320, 1e-310), (1e-310, 0.0), (5e-324, 0.0), (1e150, 1e150 + 1e135)])
def test_the_ends_of_the_range_of_floats_are_told_apart(values):
    X, y = np.array(values)[:, None], [0, 1]
    certificate = certify(X, y)
    assert certificate.verdict == "separable"
    assert verify(certificate, X, y)
    assert checker_accepts(certificate.to_dict(), X, y)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_rows_of_zeros_cannot_be_told_apart(store):
    X, y = store(np.zeros((3, 2))), [0, 1, 1]
    certificate = certify(X, y)
    assert certificate.verdict == "overlapping"
    assert verify(certificate, X, y)
    assert checker_accepts(certificate.to_dict(), X, y)


def run_checker(folder, document, X, y):
    """Exit code of the checker's command line."""
    with (folder / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines(X, y))
    (folder / "certificate.json").write_text(json.dumps(document))
    command = [sys.executable, "-I", CHECKER, folder / "certificate.json", folder / "data.csv"]
    return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.parametrize("kind", ["scales", "duplicate"])
def test_the_checker_confirms_from_files(kind, tmp_path):
    X, y = nasty_set(np.random.default_rng(1), kind)
    document = certify(X, y).to_dict()
    assert run_checker(tmp_path, document, X, y) == 0
    X[0, 0] += 0.5
    assert run_checker(tmp_path, document, X, y) == 1


# ---------------------------------------------------------------------------------------------------------- tampering


def proved_sets():
    """Certificates with every kind of claim, and their data."""
    rng = np.random.default_rng(0)
    for k in range(48):
        if k % 3 == 0:
            X, y = nasty_set(rng, KINDS[k // 3 % len(KINDS)], 12, 4)
        else:
            X, y = degenerate_set(rng, 2 + k % 2, 9, 3)
        data = sp.csr_array(X.astype(float)) if k % 5 == 0 and X.any() else X.astype(float)
        yield data, y, certify(data, y).to_dict()


def sealed(document):
    """With the seal that the documentation describes."""
    rest = {key: value for key, value in document.items() if key != "seal"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return rest | {"seal": sha256(text.encode()).hexdigest()}


def slip(rng, document):
    """Change one thing, anywhere."""
    document = deepcopy(document)
    holder, key = document, rng.choice(sorted(document))
    while isinstance(holder[key], dict | list) and len(holder[key]) and rng.random() < 0.9:
        holder = holder[key]
        key = rng.choice(sorted(holder)) if isinstance(holder, dict) else int(rng.integers(len(holder)))
    value = holder[key]
    if isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int | float):
        holder[key] = value + 1
    elif isinstance(value, str) and value:
        place = int(rng.integers(len(value)))
        holder[key] = value[:place] + ("1" if value[place] != "1" else "2") + value[place + 1 :]
    elif isinstance(value, list) and value:
        del value[int(rng.integers(len(value)))]
    else:  # nothing yet: null, an empty list or text
        holder[key] = ["1"] if isinstance(value, list) else "1"
    return document


def number(text):
    return Fraction(text) if "/" in text else Fraction(float.fromhex(text))


def times(text, factor):
    return (float.fromhex(text) * factor).hex()


def negated(texts):
    fractions = [-number(text) for text in texts]
    if "/" in texts[0]:
        return [f"{v.numerator}/{v.denominator}" for v in fractions]
    return [times(text, -1.0) for text in texts]


def bound(radius, lower):
    return str(math.floor((number(radius) / number(lower)) ** 2))


def lies(rng, document, X, y):
    """False claims, one at a time, each with whatever else would make it look right."""
    X = X.toarray() if sp.issparse(X) else X
    other = "0" if document["digest"][0] != "0" else "1"
    yield {"digest": other + document["digest"][1:]}
    yield {"layout": "sparse" if document["layout"] == "dense" else "dense"}
    yield {"shape": [document["shape"][0] + 1, document["shape"][1]]}
    yield {"classes": [*document["classes"][:-1], "another"]}
    for name in (*VERDICTS, "undecided"):
        if name != document["verdict"]:
            yield {"verdict": name}
    lower = document["augmented"] and document["augmented"]["lower"]
    for factor in (0.99, 1.01):
        radius = max(times(document["radius"], factor), (1.0).hex(), key=float.fromhex)
        if radius != document["radius"]:
            yield {"radius": radius, "mistake_bound": lower and bound(radius, lower)}
    if document["vector"]:
        vector = document["vector"]
        yield {"vector": negated(vector)}
        if "/" in vector[0]:
            yield {"vector": ["0/1"] * len(vector), "boundary": list(range(len(y)))}
        else:
            yield {"vector": [(0.0).hex()] * len(vector)}
    if document["support"]:
        t = int(rng.integers(len(document["support"])))
        multipliers, support, rivals = (list(document[key]) for key in ("multipliers", "support", "rivals"))
        yield {"multipliers": [*multipliers[:t], str(int(multipliers[t], 0) + 1), *multipliers[t + 1 :]]}
        yield {"multipliers": [*multipliers[:t], str(-int(multipliers[t], 0)), *multipliers[t + 1 :]]}
        others = [i for i in range(len(y)) if (X[i] != X[support[t]]).any() or y[i] != y[support[t]]]
        if others:
            yield {"support": [*support[:t], int(rng.choice(others)), *support[t + 1 :]]}
        yield {"rivals": [*rivals[:t], int(y[support[t]]), *rivals[t + 1 :]]}
        kept = [k for k in range(len(support)) if k != t]
        yield {key: [document[key][k] for k in kept] for key in ("support", "rivals", "multipliers")}
    if document["point"]:
        shifted = math.nextafter(float.fromhex(document["point"][0]), math.inf)
        yield {"point": [shifted.hex(), *document["point"][1:]]}
    if document["verdict"] == "quasi-separable":
        yield {"boundary": document["boundary"][1:]}
        inside = [i for i in range(len(y)) if i not in document["boundary"]]
        if inside:
            yield {"boundary": sorted([*document["boundary"], inside[0]])}
        yield {"verdict": "overlapping", "vector": None, "boundary": []}
    if document["estimates"]:
        j = int(rng.integers(len(document["estimates"])))
        for word in ("finite", "+inf", "-inf", "+/-inf", "not identified"):
            if word != document["estimates"][j]:
                yield {"estimates": [*document["estimates"][:j], word, *document["estimates"][j + 1 :]]}
    if document["directions"]:
        yield {"directions": document["directions"][:1]}
        yield {"directions": [*document["directions"], negated(document["directions"][0])]}
    for name in ("margin", "augmented"):
        bracket = document[name]
        if bracket and bracket["upper"] != "inf":
            raised, lowered = times(bracket["upper"], 1.01), times(bracket["lower"], 0.99)
            follow = {"mistake_bound": bound(document["radius"], raised)} if name == "augmented" else {}
            yield {name: bracket | {"lower": raised, "upper": times(raised, 2.0)}} | follow
            yield {name: bracket | {"upper": lowered}}
            nothing = "0/1" if "/" in bracket["weights"][0] else (0.0).hex()
            yield {name: bracket | {"weights": [nothing, *bracket["weights"][1:]]}}
            yield {name: bracket | {"w": negated(bracket["w"])}}
    if document["mistake_bound"]:
        yield {"mistake_bound": str(int(document["mistake_bound"]) - 1)}
        yield {"mistake_bound": None}


def test_a_thousand_tampered_certificates_are_rejected():
    pool = list(proved_sets())
    assert {document["verdict"] for _, _, document in pool} == set(VERDICTS)
    assert any(document["directions"] for _, _, document in pool)
    assert any(any(document["combinations"]) for _, _, document in pool)
    assert any(document["margin"] and "/" in str(document["margin"]["w"]) for _, _, document in pool)
    for X, y, document in pool:
        assert sealed(document) == document
        assert verify_accepts(document, X, y)
        assert checker_accepts(document, X, y)
    rng = np.random.default_rng(0)
    for k in range(500):
        X, y, document = pool[k % len(pool)]
        forged = slip(rng, document)
        assert forged != document
        assert not verify_accepts(forged, X, y)
        assert k % 5 or not checker_accepts(forged, X, y)
    lies_told = 0
    for X, y, document in pool:
        for claim in lies(rng, document, X, y):
            forged = sealed(document | claim)
            assert forged != document
            assert not verify_accepts(forged, X, y), claim
            assert not checker_accepts(forged, X, y), claim
            lies_told += 1
    assert lies_told >= 500


# ------------------------------------------------------------------------------------------------------- known truths


def test_xor_needs_every_corner_once():
    certificate = certify(SQUARE, [0, 1, 1, 0])
    assert certificate.verdict == "overlapping"
    assert (certificate.support, certificate.multipliers) == ((0, 1, 2, 3), (1, 1, 1, 1))
    assert certificate.point == (0.5, 0.5)


@pytest.mark.parametrize(
    ("path", "separable"),
    [
        ("uci/sonar.csv", True),
        ("uci/ionosphere.csv", False),
        ("uci/pima-indians-diabetes.csv", False),
        ("uci/banknote_authentication.csv", False),
        ("spambase/spambase.data", False),
    ],
)
def test_known_data_sets(real_data, path, separable):
    table = np.loadtxt(real_data / path, delimiter=",", dtype=str)
    assert (verdict(table[:, :-1].astype(float), table[:, -1]) == "separable") == separable


def test_digits_are_separable_but_for_eight_and_nine():
    datasets = pytest.importorskip("sklearn.datasets")
    X, digit = datasets.load_digits(return_X_y=True)
    found = [verdict(X, digit == k) for k in range(10)]
    assert found == ["separable"] * 8 + ["quasi-separable"] * 2
    joint = certify(X, digit)
    assert joint.verdict == "separable"
    assert verify(joint, X, digit)
    W, b = joint.separator
    assert np.argmax(X @ W.T + b, axis=1).tolist() == digit.tolist()


def test_the_pairs_of_iris():
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_iris(return_X_y=True)
    pairs = certify_pairs(X, y)
    assert list(pairs) == [(0, 1), (0, 2), (1, 2)]
    for pair, certificate in pairs.items():
        rows = np.isin(y, pair)
        assert verify(certificate, X[rows], y[rows])
    assert [certificate.verdict for certificate in pairs.values()] == ["separable", "separable", "overlapping"]
    assert len(pairs[1, 2].support) == 6
    assert certify(X, y).verdict == "quasi-separable"  # the first class is apart from the others, which tie


def test_breast_cancer_is_separable_as_it_is():
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_breast_cancer(return_X_y=True)
    certificate = certify(X, y)
    assert verify(certificate, X, y)
    assert certificate.verdict == "separable"
    w, b = certificate.separator
    assert ((X @ w + b > 0) == y).all()
    assert 0 < certificate.margin.lower <= certificate.margin.upper <= certificate.margin.lower * (1 + 1e-6)


# --------------------------------------------------------------------------------------------------- laws of verdicts


def exact_signs(certificate, X, label):
    """Signs of the certificate's vector on the signed rows of integer data, from the definition."""
    w = [Fraction(v) for v in certificate.vector]
    margins = [sum(a * b for a, b in zip(z, w, strict=True)) for z in exact_lp.signed_rows(X.tolist(), label.tolist())]
    return [(h > 0) - (h < 0) for h in margins]


@given(integer_sets(most_rows=16))
def test_no_data_have_a_separator_and_multipliers(data):
    X, label = data
    certificate = certify(X, label)
    Z = exact_lp.signed_rows(X.tolist(), label.tolist())
    terms = [[m * v for v in Z[i]] for i, m in zip(certificate.support, certificate.multipliers, strict=True)]
    assert not any(map(sum, zip(*terms, strict=True)))
    assert bool(terms) == (certificate.verdict != "separable")
    assert (certificate.vector is None) == (certificate.verdict == "overlapping")
    if certificate.verdict == "separable":
        assert min(exact_signs(certificate, X, label)) > 0
    if certificate.verdict == "quasi-separable":
        signs = exact_signs(certificate, X, label)
        assert (min(signs), max(signs)) == (0, 1)
        assert certificate.boundary == tuple(i for i, sign in enumerate(signs) if sign == 0)


@given(integer_sets(classes=3, most_rows=12, most_features=3))
@settings(max_examples=50)
def test_joint_certificates_hold_by_definition(data):
    X, label = data
    certificate = certify(X, label)
    assert certificate.verdict == exact_lp.verdict(X.tolist(), label.tolist())
    if certificate.vector is not None:
        signs = exact_signs(certificate, X, label)
        assert min(signs) == (certificate.verdict == "separable")
        assert max(signs) == 1
        W, b = certificate.separator
        scores = X @ np.array(W, float).T + np.array(b, float)
        best = scores.max(axis=1) - 1e-9 * np.abs(scores).max()
        assert (scores[np.arange(len(X)), label] >= best).all()
    else:
        total = np.zeros((3, X.shape[1] + 1), object)
        for i, rival, times in zip(certificate.support, certificate.rivals, certificate.multipliers, strict=True):
            padded = [times * int(v) for v in (*X[i], 1)]
            total[label[i]] += padded
            total[rival] -= padded
        assert not total.any()


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_few_points_prove_an_overlap(d, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((8 * d, d)), np.arange(8 * d) % 2
    certificate = certify(X, y)
    assume(certificate.verdict != "separable")
    # In general position the first support spans everything (Caratheodory; Kirchberger 1903).
    assert certificate.verdict == "overlapping"
    assert len(certificate.support) == d + 2


@given(integer_sets())
def test_few_points_prove_a_degenerate_overlap(data):
    X, label = data
    certificate = certify(X, label)
    assert len(certificate.support) <= 2 * (X.shape[1] + 1)  # Steinitz
    assert len(set(certificate.support)) == len(certificate.support)


@given(integer_sets())
@settings(max_examples=60)
def test_the_support_is_inseparable_and_no_part_of_a_minimal_one_is(data):
    X, label = data
    certificate = certify(X, label, margin=False)
    assume(certificate.verdict != "separable")
    S = list(certificate.support)
    assert verdict(X[S], label[S]) != "separable"
    Z = np.c_[X[S], np.ones(len(S))]
    assume(np.linalg.matrix_rank(Z) == len(S) - 1)  # its multipliers are then the only ones
    for left_out in range(len(S)):
        part = np.delete(S, left_out)
        assert verdict(X[part], label[part]) == "separable"


@given(integer_sets(), st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order_and_repeatedly(data, random):
    X, label = data
    before = verdict(X, label)
    order = [*range(len(X)), *random.choices(range(len(X)), k=3)]
    random.shuffle(order)
    assert verdict(X[order], label[order]) == before


@given(integer_sets())
def test_the_classes_may_swap_names(data):
    X, label = data
    assert verdict(X, 1 - label) == verdict(X, label) == verdict(X, np.where(label, "yes", "no"))


@given(integer_sets(most_features=4), st.data())
def test_affine_maps_leave_the_verdict_alone(data, draw):
    X, label = data
    d = X.shape[1]
    A = np.eye(d)
    for _ in range(draw.draw(st.integers(0, 3)) if d > 1 else 0):
        i, j = draw.draw(st.permutations(range(d)))[:2]
        A[:, j] += draw.draw(small) * A[:, i]  # a determinant of one stays one
    scale = 2.0 ** np.array(draw.draw(st.lists(st.integers(-40, 40), min_size=d, max_size=d)))
    c = np.array(draw.draw(st.lists(st.integers(-(10**6), 10**6), min_size=d, max_size=d)), float)
    assert verdict((X @ A + c) * scale, label) == verdict(X, label)


@given(integer_sets(), st.data())
def test_more_rows_never_help(data, draw):
    X, label = data
    kept = sorted(draw.draw(st.sets(st.integers(0, len(X) - 1), min_size=1)))
    if verdict(X, label) == "separable":
        assert verdict(X[kept], label[kept]) == "separable"
    if verdict(X[kept], label[kept]) != "separable":
        assert verdict(X, label) != "separable"


@given(integer_sets(), st.data())
def test_points_between_points_of_a_class_change_nothing(data, draw):
    X, label = data
    own = np.flatnonzero(label == draw.draw(st.integers(0, 1)))
    i, j = draw.draw(st.sampled_from(own.tolist())), draw.draw(st.sampled_from(own.tolist()))
    share = draw.draw(st.integers(0, 8)) / 8
    between = share * X[i] + (1 - share) * X[j]
    assert verdict(np.vstack([X, between]), np.append(label, label[i])) == verdict(X, label)


@given(integer_sets(most_rows=14), st.integers(2, 3), st.data())
@settings(max_examples=60)
def test_sparse_and_single_rows_are_read_as_they_are(data, classes, draw):
    X, label = data
    label = np.array([v % classes for v in draw.draw(st.lists(small, min_size=len(X), max_size=len(X)))])
    X = X / 3
    single = X.astype(np.float32)
    for one, other in ((X, sp.csr_array(X)), (single, single.astype(float)), (single, sp.csr_array(single))):
        first, second = certify(one, label), certify(other, label)
        assert first.verdict == second.verdict
        assert verify(first, other, label)
        assert verify(second, one, label)


def test_one_class_alone_is_separable():
    for X in (SQUARE, sp.csr_array(SQUARE)):
        certificate = certify(X, ["only"] * 4)
        assert verify(certificate, X, ["only"] * 4)
        assert certificate.verdict == "separable"
        assert certificate.classes == (None, "only")
        assert certificate.extreme == (0, 1, 2, 3)
    assert certify(SQUARE, ["only"] * 4, margin=False).verdict == "separable"


# ----------------------------------------------------------------------------------------------------------- options


def test_tenths_are_tenths_in_decimals_only():
    X, y = np.array([[0.1, 1.0], [0.2, 2.0], [0.3, 3.0]]), [0, 1, 0]
    for data in (X, sp.csr_array(X)):
        binary, decimal = certify(data, y), certify(data, y, exact="decimal")
        assert binary.verdict == "separable"  # 0.1 + 0.2 is not 0.3
        assert decimal.verdict == "overlapping"
        assert decimal.multipliers == (1, 2, 1)
        assert certify_pairs(data, y)[0, 1] == binary
        assert certify_pairs(data, y, exact="decimal")[0, 1] == decimal
        assert verify(binary, data, y)
        assert verify(decimal, data, y)


@given(integer_sets(most_rows=9, most_features=3))
@settings(max_examples=50)
def test_decimals_are_decided_as_by_the_oracle(data):
    X, label = data
    X = X / 10
    assert verdict(X, label, exact="decimal") == exact_lp.verdict(X.tolist(), label.tolist(), decimal=True)
    assert verdict(X, label, exact="decimal") == verdict(np.round(10 * X), label)


@pytest.mark.parametrize("seconds", [1e-9, 1e-4, 1e-3, 1e-2])
def test_a_time_limit_leaves_the_question_open_or_the_answer_proved(seconds):
    rng = np.random.default_rng(0)
    for d in (2, 20, 40):
        X = rng.standard_normal((400, d))
        for y in (rng.integers(0, 2, 400), (X[:, 0] > 0).astype(int), rng.integers(0, 3, 400)):
            certificate = certify(X, y, time_limit=seconds)
            if certificate.verdict == "undecided":
                assert "time limit" in certificate.reason
                assert not verify(certificate, X, y)
            else:
                assert verify(certificate, X, y)


def test_no_time_is_too_little_for_a_hard_question():
    X, y = np.random.default_rng(0).standard_normal((400, 20)), np.arange(400) % 2
    certificate = certify(X, y, time_limit=1e-9)
    assert certificate.verdict == "undecided"
    assert not certificate.support
    assert certify(X, y).verdict == "overlapping"


@pytest.mark.parametrize(
    "options", [{"exact": "octal"}, {"exact": None}, {"time_limit": 0}, {"time_limit": -1.0}, {"time_limit": math.nan}]
)
def test_options_out_of_range_are_refused(options):
    for ask in (certify, certify_pairs):
        with pytest.raises(InvalidInput):
            ask(SQUARE, [0, 1, 1, 0], **options)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0], [np.nan]], [0, 1]),
        ([[0.0], [np.inf]], [0, 1]),
        ([0.0, 1.0], [0, 1]),
        (np.empty((0, 2)), []),
        (np.empty((2, 0)), [0, 1]),
        (SQUARE, [0, 1, 1]),
        (SQUARE, [0, 1, 1, np.nan]),
        (SQUARE, [[0, 1], [1, 0], [0, 0], [1, 1]]),
        ([["a"], ["b"]], [0, 1]),
        (SQUARE + 1j, [0, 1, 1, 0]),
    ],
)
def test_data_that_cannot_be_used_are_refused(X, y):
    for ask in (certify, certify_pairs):
        with pytest.raises(InvalidInput):
            ask(X, y)


# -------------------------------------------------------------------------------------------------------- shape of use


def test_what_is_too_large_to_prove_is_undecided_with_a_reason(monkeypatch):
    monkeypatch.setattr(rational, "MAX_UNKNOWNS", 13)
    X, y, *_ = noisy(200, 20, 0.2, seed=0)
    certificate = certify(X, y)
    assert certificate.verdict == "undecided"
    assert "unknowns" in certificate.reason


# --------------------------------------------------------------------------------------------------- Gaussian kernels


def contradictory_sets():
    """Data with two equal rows of different classes: whether all other directions are covered, or not."""
    yield "quasi-separable", [[0.0], [3.0], [-0.0], [-2.0]], ["no", "yes", "yes", "no"], (0, 2)
    yield "overlapping", [[7.0, 1.0], [7.0, 1.0]], [1, 0], (0, 1)
    yield "overlapping", [[0, 0], [1, 0], [0, 1], [1, 1], [0, 0]], [0, 1, 1, 0, 1], (0, 4)
    yield "quasi-separable", [[0.0], [1.0], [1.0], [2.0]], [0, 1, 2, 1], (1, 2)


@pytest.mark.parametrize(("expected", "X", "y", "pair"), list(contradictory_sets()))
@pytest.mark.parametrize("store", [np.array, lambda X: sp.csr_array(np.array(X, float))])
def test_no_kernel_separates_equal_rows_of_different_classes(expected, X, y, pair, store):
    certificate = certify(store(X), y, kernel="rbf")
    assert certificate.verdict == expected == certify(store(X), y).verdict
    assert set(pair) <= set(certificate.support)
    assert f"rows {pair[0]} and {pair[1]} are equal" in certificate.reason
    assert certificate.reason in str(certificate)
    assert verify(certificate, store(X), y)
    assert checker_accepts(certificate.to_dict(), np.array(X, float), y)


def test_two_equal_rows_alone_prove_it():
    for X, y in (([[0.0], [3.0], [0.0], [-2.0]], [0, 1, 1, 0]), ([[7.0, 1.0], [7.0, 1.0]], [1, 0])):
        certificate = certify(X, y, kernel="rbf")
        assert len(certificate.support) == 2
        assert certificate.multipliers == (1, 1)


def test_a_gaussian_kernel_separates_other_rows_without_a_witness():
    certificate = certify(SQUARE, [0, 1, 1, 0], kernel="rbf")
    assert certificate.verdict == "undecided"
    assert "Micchelli" in certificate.reason
    assert not verify(certificate, SQUARE, [0, 1, 1, 0])


def test_a_time_limit_leaves_a_kernel_open():
    X = np.random.default_rng(0).standard_normal((400, 20))
    X[5] = X[3]
    certificate = certify(X, np.arange(400) % 4 < 2, kernel="rbf", time_limit=1e-9)
    assert certificate.verdict == "undecided"
    assert "time limit" in certificate.reason


@pytest.mark.parametrize("flag", [{"margin": "no"}, {"margin": [True]}, {"coefficients": "yes"}, {"coefficients": 2}])
def test_a_flag_is_true_or_false(flag):
    with pytest.raises(InvalidInput, match="neither True nor False"):
        certify([[0.0], [1.0]], [0, 1], **flag)
    assert certify([[0.0], [1.0]], [0, 1], margin=np.False_, coefficients=None).margin is None


class CountedLooks(Deadline):
    """A clock whose time is over after so many looks at it."""

    def __init__(self, looks):
        super().__init__(None)
        self.seconds, self.looks, self.late = 1.0, looks, 0

    @property
    def left(self):
        self.looks -= 1
        self.late += self.looks < 0
        return 1e9 if self.looks >= 0 else -1.0


def parts_of(X, y, looks):
    """The certificate that so many looks at the clock leave time for, and how often it was looked at in vain."""
    signed, classes = prepare(X, y)
    clock = CountedLooks(looks)
    claims = certify_module.proved_claims(signed, classes, True, clock, coefficients=True)
    return certify_module.issue(signed, classes, **claims), clock.late


@pytest.mark.parametrize("kind", ["separable", "quasi-separable", "overlapping", "three classes"])
def test_whenever_time_is_over_the_certificate_says_what_is_proved_and_no_more(kind):
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (30, 3)) / 8 + [0.0, 2.0**40, 0.0]
    y = (X[:, 0] > 0).astype(int)
    if kind == "quasi-separable":
        y[X[:, 0] == 0] = np.arange((X[:, 0] == 0).sum()) % 2
    elif kind == "three classes":
        y = np.digitize(X[:, 0], [-0.1, 0.1])
    elif kind == "overlapping":
        y = rng.integers(0, 2, 30)
    whole, late = parts_of(X, y, 10**9)
    assert not late
    assert whole.estimates
    seen = set()
    for looks in [*range(60), *range(60, 3000, 49)]:
        found, late = parts_of(X, y, looks)
        told = " not determined" in found.reason or "time limit" in found.reason
        assert late <= 4  # one for each part that is left, and one to see how much time there is
        assert found.verdict in (whole.verdict, "undecided")
        assert found.estimates in ((), whole.estimates)
        assert told == (late > 0)
        assert found.verdict == "undecided" or verify(found, X, y)
        seen.add((found.verdict, bool(found.estimates)))
    assert seen == {("undecided", False), (whole.verdict, False), (whole.verdict, True)}


def test_what_fails_its_verification_is_an_error(monkeypatch):
    """A search that lies: the weights of the wrong side."""
    lie = {"verdict": "separable", "vector": (-1.0, 0.0)}
    monkeypatch.setattr(certify_module, "verdict_claims", lambda signed, clock: lie)
    with pytest.raises(UnprovedClaim, match="verdict that was found"):
        certify([[0.0], [1.0]], [0, 1])


def test_estimates_that_nobody_asked_for_are_left_out_where_they_take_long():
    X = np.random.default_rng(0).standard_normal((40, 60))
    y = np.arange(40) % 2
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(60)])
    assert certify(frame, y).estimates == certify(X, y).estimates == ()
    assert len(certify(frame.iloc[:, :5], y).estimates) == 6
