"""Verification, here and by the stand-alone checker: true certificates are accepted, all others rejected."""

import contextlib
import io
import json
import math
import runpy
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from attacks import mutate_certificates
from certificates_by_hand import CHECKER, EXAMPLES, proved, run_checker, sealed
from rosenblatt import certify
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.certificates.brackets import Bracket, mistake_bound
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.prover.certificates.certificate_json import seal_of
from rosenblatt.prover.certificates.verify import verify

MAIN = runpy.run_path(str(CHECKER))["main"]


def test_the_checker_refuses_other_versions(tmp_path):
    X, y, certificate = EXAMPLES["xor"]
    for version in (0, 2, True, 1.0, "1"):
        document = certificate.to_dict() | {"version": version}
        assert not run_checker(tmp_path, document | {"seal": seal_of(document)}, X, y)


def run(*arguments):
    done = subprocess.run([sys.executable, "-I", CHECKER, *arguments], capture_output=True, text=True, check=False)
    [line] = (done.stdout + done.stderr).splitlines()
    return done.returncode, line


def test_the_checker_says_how_it_is_used_and_what_it_cannot_read(tmp_path):
    X, y, certificate = EXAMPLES["or"]
    certificate.save(tmp_path / "or.json")
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    data = tmp_path / "or.csv"
    assert run()[0] == run("one")[0] == run("one", "two", "three")[0] == 2
    assert run()[1] == "usage: python check_certificate.py certificate.json data.csv"
    assert run(tmp_path / "or.json", tmp_path / "none.csv")[0] == 2
    for bad in (["a,b,label", *lines], [*lines[:3], "1,1"], [*lines[:3], "1_0,1,1"], [*lines[:3], "\u0661,1,1"], []):
        data.write_text("\n".join(bad))
        code, line = run(tmp_path / "or.json", data)
        assert (code, line[:12]) == (2, "cannot read ")
    data.write_text("\n".join([*lines[:3], "9007199254740993,1,1"]))
    assert "no double is equal to 9007199254740993" in run(tmp_path / "or.json", data)[1]
    data.write_text("\n".join([*lines[:3], "1,1,2"]))
    assert run(tmp_path / "or.json", data) == (1, "false: these are the data")
    data.write_text("\n".join(lines))
    assert run(tmp_path / "or.json", data) == (0, "holds: separable")


def test_labels_that_look_alike_are_not_merged(tmp_path):
    # As text v1 and v1.0 are two classes; as numbers 1 and 1.0 are one.
    X, text = EXAMPLES["xor"][0], ["v1", "v1.0", "v1.0", "v1"]
    claims = {"support": (0, 1, 2, 3), "rivals": (1, 0, 0, 1), "multipliers": (1, 1, 1, 1), "verdict": "overlapping"}
    certificate = proved(X, text, **claims)
    assert run_checker(tmp_path, certificate.to_dict(), X, text)
    assert not run_checker(tmp_path, certificate.to_dict(), X, ["v1"] * 4)
    numbers = proved(X, [0.0, 1.0, 1.0, 0.0], **claims)
    assert run_checker(tmp_path, numbers.to_dict(), X, [0, 1, 1, 0])
    assert not run_checker(tmp_path, numbers.to_dict(), X, ["0", "one", "one", "0"])


def test_nobody_calls_a_class_nothing(tmp_path):
    # Two classes of which one has no label, beside a third: XOR would pass for something else.
    X, _, certificate = EXAMPLES["xor"]
    document = certificate.to_dict() | {"classes": [None, "no", "yes"]}
    document |= {"seal": seal_of(document)}
    assert not run_checker(tmp_path, document, X, ["no", "yes", "yes", "no"])
    with pytest.raises(InvalidInput):
        Certificate.from_dict(document)


def test_mutations_of_sealed_certificates_deceive_neither_verifier():
    seen, wrong = mutate_certificates.run(300, seed=0, pool_size=20)
    assert not wrong
    assert seen["accepted, and true"] > 3
    assert sum(seen.values()) == 320


@pytest.mark.parametrize("name", EXAMPLES)
def test_true_certificates_are_accepted(name, tmp_path):
    X, y, certificate = EXAMPLES[name]
    assert verify(certificate, X, y)
    assert verify(certificate, X.toarray() if sp.issparse(X) else sp.csc_array(X), y)
    assert run_checker(tmp_path, certificate.to_dict(), X, y)


@pytest.mark.parametrize("name", EXAMPLES)
def test_other_data_is_rejected(name, tmp_path):
    X, y, certificate = EXAMPLES[name]
    dense = X.toarray() if sp.issparse(X) else X
    shifted, fewer = dense.copy(), dense[:-1]
    shifted[0, 0] = np.nextafter(shifted[0, 0], 9)
    assert not verify(certificate, shifted, y)
    assert not verify(certificate, fewer, y[:-1])
    assert not verify(certificate, dense, [*map(str, y[1:]), "other"])
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


def accepts(certificate, data):
    """Whether the stand-alone checker accepts, within this process."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return MAIN([str(certificate), str(data)]) == 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_checker_rejects_any_change_of_any_field(name, tmp_path):
    X, y, certificate = EXAMPLES[name]
    document = certificate.to_dict()
    assert run_checker(tmp_path, document, X, y)
    paths = tmp_path / "certificate.json", tmp_path / "data.csv"
    assert accepts(*paths)
    for key in document:
        for new in [new for new in changes(document[key]) if new != document[key]]:
            paths[0].write_text(json.dumps(document | {key: new}))
            assert not accepts(*paths), (key, new)


# Row 3 can be on its side as well, but these weights leave it on the boundary.
HALF = proved(
    EXAMPLES["three quasi"][0],
    EXAMPLES["three quasi"][1],
    verdict="quasi-separable",
    vector=(Fraction(1), Fraction(-1, 2), Fraction(1), Fraction(-1, 2)),
    **{"support": (1, 2), "rivals": (2, 1), "multipliers": (1, 1)},
)


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
    # Zero on a row that another weak separator is positive on: not all that it could say.
    yield "three quasi", HALF
    three = EXAMPLES["three"][2]
    yield "three", sealed(three, vector=(Fraction(1), Fraction(0), Fraction(-1, 3), Fraction(1), *three.vector[4:]))
    yield "three quasi", sealed(EXAMPLES["three quasi"][2], rivals=(2, 0))
    alone = EXAMPLES["one class"][2]
    yield "one class", sealed(alone, margin=Bracket(1.0, 2.0))
    yield "tenths", sealed(EXAMPLES["tenths"][2], vector=(-1.0, 1.0, 0.0))


LIES = list(lies())


def test_a_point_with_a_negative_zero_is_not_the_rounded_one(tmp_path):
    X, y = np.array([[0.0, 1.0], [0.0, 1.0]]), [0, 1]
    good = certify(X, y)
    assert good.point == (0.0, 1.0)
    forged = sealed(good, point=(-0.0, 1.0))
    assert not verify(forged, X, y)
    assert not run_checker(tmp_path, forged.to_dict(), X, y)


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


@pytest.mark.parametrize(
    "labels", [(0.1, 0.2), (0.1, 3), (1e300, 1e301), (2**53, 2**53 + 1), (-0.5, 0.30000000000000004)]
)
def test_the_checker_knows_numbers_as_labels(tmp_path, labels):
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([labels[0], labels[1], labels[1]], object)
    document = certify(X, y).to_dict()
    assert run_checker(tmp_path, document, X, y)
    assert not run_checker(tmp_path, document, X, y[::-1])
    assert not run_checker(tmp_path, document, X, [labels[0], 2 * labels[1], labels[1]])
