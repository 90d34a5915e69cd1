"""Certificates with one or two things changed and a seal that fits: both verifiers agree, and neither accepts a lie.

    python tests/attacks/mutate_certificates.py 20000 1      # how many, and the seed

What an accepted certificate says is held against oracles that share nothing with the package.
"""

import contextlib
import csv
import io
import json
import math
import runpy
import sys
import tempfile
from collections import Counter
from copy import deepcopy
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).parents[1]))

from oracles import exact_lp, recession
from rosenblatt import certify, verify
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.certificates.certificate import Certificate

CHECKER = Path(__file__).parents[2] / "tools" / "check_certificate.py"
WORDS = {
    "verdict": ("separable", "quasi-separable", "overlapping", "undecided"),
    "arithmetic": ("binary", "decimal", "rational"),
    "layout": ("dense", "sparse"),
    "estimates": ("finite", "+inf", "-inf", "+/-inf", "not identified"),
}
FREE = ("names", "reason")  # fields that are not claims


def sealed(document):
    rest = {key: value for key, value in document.items() if key != "seal"}
    return rest | {"seal": sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()}


def small_set(rng, k):
    """Few small numbers, so that all verdicts and estimates occur; every seventh in tenths, every fifth sparse."""
    classes = 2 + (k % 4 == 3)
    n, d = int(rng.integers(3, 8)), int(rng.integers(1, 3 if classes > 2 else 4))
    X = rng.integers(-2, 3, (n, d)) / (10 if k % 7 == 0 else 1)
    y = rng.integers(0, classes, n)
    if k % 2:
        y = np.digitize(X @ rng.integers(-1, 2, d) + rng.integers(-1, 2), np.arange(classes - 1))
    if k % 3 == 0:
        X[rng.integers(n)] = X[rng.integers(n)]
    label = np.unique(y, return_inverse=True)[1]
    names = [("no", "so", "yes"), (0, 1, 2), (-1.0, 0.5, 1.0), (False, True, 7)][k % 4 if label.max() < 2 else k % 2]
    if label.max() == 1 and k % 4 == 2:
        names = (-1.0, 1.0)
    return X, label, [names[c] for c in label]


def changed(rng, name, value):
    """Return something else that might pass for this value."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return int(value + rng.choice([-1, 1]))
    if isinstance(value, float):
        return float(value + rng.choice([-1.0, 1.0]))
    if isinstance(value, dict):
        key = str(rng.choice(sorted(value)))
        return value | {key: changed(rng, key, value[key])}
    if isinstance(value, list):
        if not value or rng.random() < 0.25:
            part = value[int(rng.integers(len(value)))] if value else int(rng.integers(2))
            return [*value, part] if rng.random() < 0.5 or not value else value[:-1]
        place = int(rng.integers(len(value)))
        return [*value[:place], changed(rng, name, value[place]), *value[place + 1 :]]
    if isinstance(value, str):
        return changed_text(rng, name, value)
    return [None, [], 0, "1"][int(rng.integers(4))]


def changed_text(rng, name, text):
    if name in WORDS:
        return str(rng.choice([word for word in WORDS[name] if word != text]))
    if "0x" in text and "p" in text and rng.random() < 0.8:
        value = float.fromhex(text)
        factor = rng.choice([-1.0, 0.5, 2.0, 1 + 2.0**-50, 1 - 2.0**-50, 1 + 2.0**-44, 1 + 5e-10, 1 + 2e-9, 0.0])
        return (value * factor + (value == 0) * rng.choice([1.0, -1.0])).hex()
    if text.lstrip("-").isdigit() and rng.random() < 0.8:
        return str(int(text) * int(rng.choice([-1, 1, 2])) + int(rng.choice([-1, 0, 1])))
    if "/" in text and rng.random() < 0.8:
        value = Fraction(text) * int(rng.choice([-1, 1, 2])) + int(rng.choice([-1, 0, 1]))
        return f"{value.numerator}/{value.denominator}"
    return str(rng.choice([text + "0", text[:-1], "0b1", "+1", "-" + text, "\u0661", "inf", " " + text, text.upper()]))


def mutated(rng, pool, k):
    """Change one field or two of a certificate, or take them from another; then seal it."""
    document, other = deepcopy(pool[k % len(pool)]["document"]), pool[int(rng.integers(len(pool)))]["document"]
    fields = sorted(set(document) - {"seal", "format", *FREE})
    for name in rng.choice(fields, 1 + k % 2, replace=False).tolist():
        document[name] = other[name] if rng.random() < 0.15 else changed(rng, name, document[name])
    if rng.random() < 0.02:
        document["another"] = 1
    return sealed(document)


class Truth:
    """What is true of a data set, by the oracles."""

    def __init__(self, X, label, decimal, certificate):
        rows, label = X.tolist(), label.tolist()
        self.verdict = exact_lp.verdict(rows, label, decimal=decimal)
        self.extreme = list(recession.extreme(rows, label, decimal=decimal)) if self.verdict != "overlapping" else []
        self.estimates = list(recession.estimates(rows, label, decimal=decimal))
        self.brackets = {name: getattr(certificate, name) for name in ("margin", "augmented")}
        exact = [[Fraction(repr(v)) if decimal else Fraction(v) for v in row] for row in rows]
        self.longest = max(sum(v * v for v in row) + 1 for row in exact)

    def allows(self, document):
        """Whether everything that can be seen of what a certificate states is true."""
        inside = [i for i in range(document["shape"][0]) if i not in document["boundary"]]
        extreme = inside if document["verdict"] in ("separable", "quasi-separable") else []
        holds = [
            document["verdict"] == self.verdict,
            extreme == self.extreme,
            document["estimates"] in ([], self.estimates),
            Fraction(float.fromhex(document["radius"])) ** 2 >= self.longest,
        ]
        for name, bracket in self.brackets.items():
            if document[name]:
                lower, upper = (float.fromhex(document[name][key]) for key in ("lower", "upper"))
                holds.append(lower <= bracket.upper and upper >= bracket.lower)
        if document["mistake_bound"]:
            lower = Fraction(float.fromhex(document["augmented"]["lower"]))
            radius = Fraction(float.fromhex(document["radius"]))
            holds.append(int(document["mistake_bound"]) == math.floor(radius**2 / lower**2))
        return all(holds)


def make_pool(rng, size, folder):
    """Return certificates, their data in arrays and in files, and what is true of them."""
    pool = []
    while len(pool) < size:
        k = len(pool)
        X, label, y = small_set(rng, k)
        decimal = k % 7 == 0
        data = sp.csr_array(X) if k % 5 == 0 and X.any() else X
        certificate = certify(data, y, exact="decimal" if decimal else "binary")
        path = folder / f"{k}.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([*map(repr, row), name] for row, name in zip(X.tolist(), y, strict=True))
        truth = Truth(X, label, decimal, certificate) if len(set(y)) > 1 else None
        pool.append({"document": certificate.to_dict(), "X": data, "y": y, "path": path, "truth": truth})
    return pool


def run(count, seed, pool_size=60):
    """Return how many were accepted and rejected, and the documents on which something is wrong."""
    rng, seen, wrong = np.random.default_rng(seed), Counter(), []
    check = runpy.run_path(str(CHECKER))["main"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pool = make_pool(rng, pool_size, folder)
        for k in range(-len(pool), count):
            item = pool[k % len(pool)]
            document = item["document"] if k < 0 else mutated(rng, pool, k)
            (folder / "certificate.json").write_text(json.dumps(document))
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
                code = check([str(folder / "certificate.json"), str(item["path"])])
            try:
                ours = verify(Certificate.load(folder / "certificate.json"), item["X"], item["y"])
            except InvalidInput:
                ours = False
            same = document == item["document"]
            true = same or item["truth"] is None or not ours or item["truth"].allows(document)
            if ours != (code == 0) or not true or (same and not ours):
                wrong.append((document, ours, code, out.getvalue(), true))
            seen["the same" if same else "accepted, and true" if ours else f"rejected, exit code {int(code)}"] += 1
    return seen, wrong


if __name__ == "__main__":
    found, faults = run(int(sys.argv[1]), int(sys.argv[2]))
    print(dict(found), "wrong:", len(faults))
    for fault in faults[:5]:
        print(fault[1:])
        print(json.dumps(fault[0]))
    sys.exit(bool(faults))
