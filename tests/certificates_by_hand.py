"""Signed rows by their definition, certificates made by hand for each kind of claim, and the stand-alone checker."""

import csv
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from rosenblatt.prover.certificates.brackets import margin_bracket
from rosenblatt.prover.certificates.certificate import issue
from rosenblatt.prover.certificates.certificate_json import seal_of
from rosenblatt.prover.designs import read_design

CHECKER = Path(__file__).parents[1] / "tools" / "check_certificate.py"
SQUARE = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)


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


def prepare(X, y, decimal=False):
    return read_design(X, y, decimal=decimal)[:2]


def separable(X, y, w, rows, weights, decimal=False):
    signed, classes = prepare(X, y, decimal)
    brackets = [margin_bracket(signed, w, rows, weights, augmented=augmented) for augmented in (False, True)]
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
    # The same two points alone overlap; their rank is not full.
    X = np.array([[7.0], [7.0]])
    yield "duplicates", X, [-1.0, 1.0], proved(X, [-1.0, 1.0], verdict="overlapping", **pair)
    three, classes = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [5, 6, 7]
    w = (Fraction(1), Fraction(0), Fraction(-1, 3), Fraction(0), Fraction(1), Fraction(-1, 3))
    yield "three", three, classes, proved(three, classes, verdict="separable", vector=w)
    # The points at 1 are of classes 1 and 2, which therefore can only tie there.
    four, classes = np.array([[0.0], [1.0], [1.0], [2.0]]), [0, 1, 2, 1]
    claim = {"support": (1, 2), "rivals": (2, 1), "multipliers": (1, 1)}
    w = (Fraction(2), Fraction(-3, 2), Fraction(1), Fraction(-1, 2))
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
    [line] = (done.stdout + done.stderr).splitlines()
    assert line.startswith(("holds: ", "false: ", "cannot read ")[done.returncode])
    return done.returncode == 0


def sealed(certificate, **claims):
    """The same certificate with other claims and a seal that fits them."""
    forged = replace(certificate, **claims)
    return replace(forged, seal=seal_of(forged.to_dict()))
