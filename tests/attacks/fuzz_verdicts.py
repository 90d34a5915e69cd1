"""Small random data sets of many families, certified and compared with the exact oracle.

    PYTHONPATH=src:tests python tests/attacks/fuzz_verdicts.py [sets] [seed]

A set is dense or sparse in turn. COMPARISONS holds what is compared: functions of the certificate, the rows and the
class numbers that yield a sentence for each difference. Undecided certificates count as differences.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy.sparse as sp

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]

from oracles import exact_lp
from rosenblatt import certify, verify

SECONDS = 60.0  # for one set; all take a fraction of one
BIG = 2**53


def _shape(rng, rows=10, features=3):
    return int(rng.integers(2, rows + 1)), int(rng.integers(1, features + 1))


def _labels(rng, X, classes=2):
    """Labels by a rounded hyperplane, some of them wrong; or at random."""
    n, d = X.shape
    if rng.random() < 0.45:
        return rng.integers(0, classes, n)
    moved = (X - np.mean(X, axis=0)).astype(float)
    scale = np.abs(moved).max(axis=0) + (np.abs(moved).max(axis=0) == 0)
    y = np.digitize(
        (moved / scale) @ rng.integers(-2, 3, d), np.linspace(-0.7, 0.7, classes - 1) if classes > 2 else [0]
    )
    if rng.random() < 0.7:
        y[rng.integers(n)] = rng.integers(classes)
    return y


def _small(rng, rows=10, features=3, size=3):
    n, d = _shape(rng, rows, features)
    return rng.integers(-size, size + 1, (n, d)).astype(float)


def integers(rng):
    X = _small(rng, 11, 4)
    return X, _labels(rng, X)


def outliers(rng):
    X = _small(rng)
    for _ in range(int(rng.integers(1, 3))):
        X[rng.integers(len(X)), rng.integers(X.shape[1])] = float(rng.choice([1e6, 2e12, 1e15, 1e20, -1e9, 1e-9]))
    return X, _labels(rng, X)


def offsets(rng):
    X = _small(rng)
    X += 10.0 ** rng.integers(0, 15, X.shape[1])
    return X, _labels(rng, X)


def near_parallel(rng):
    X = _small(rng, features=3)
    line = rng.integers(-3, 4, X.shape[0]).astype(float)
    X = line[:, None] * rng.integers(1, 4, X.shape[1]) + 2.0 ** -float(rng.integers(10, 50)) * X
    return X, _labels(rng, X)


def mirrored(rng):
    X = _small(rng, 5)
    X = X + 10.0 ** rng.integers(0, 9)
    y = _labels(rng, X)
    return np.vstack([X, np.nextafter(X, np.inf)]), np.append(y, 1 - y)


def interactions(rng):
    """A design with a factor, a number and their products, as a formula makes it."""
    n = int(rng.integers(4, 12))
    level, number = rng.integers(0, 3, n), rng.integers(-2, 3, n).astype(float)
    dummies = np.eye(3)[level][:, 1:]
    X = np.column_stack([dummies, number, dummies * number[:, None]])
    return X, _labels(rng, X)


def one_hot(rng):
    n, d = int(rng.integers(3, 10)), int(rng.integers(2, 4))
    X = np.hstack([np.eye(d)[rng.integers(0, d, n)], np.eye(2)[rng.integers(0, 2, n)]])
    return X, _labels(rng, X)


def three_classes(rng):
    X = _small(rng, 8, 2)
    return X, _labels(rng, X, 3)


def four_classes(rng):
    X = _small(rng, 8, 2)
    return X, _labels(rng, X, 4)


def classes_with_outliers(rng):
    X = _small(rng, 8, 2)
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = float(rng.choice([2e12, -1e15, 1e8]))
    X += 10.0 ** rng.integers(0, 10)
    return X, _labels(rng, X, 3)


def big_integers(rng):
    X = _small(rng).astype(np.int64)
    X += rng.choice([0, BIG, 2**60, -(2**61), 1_700_000_000_000_000_000], X.shape[1])
    return X, _labels(rng, X)


def huge_integers(rng):
    X = _small(rng).astype(object) * 10 ** int(rng.integers(0, 30)) + 10 ** int(rng.integers(16, 60))
    return X, _labels(rng, X)


def fractions(rng):
    X = _small(rng, size=4)
    below = rng.integers(1, 8, X.shape)
    exact = np.array(
        [[Fraction(int(v), int(b)) for v, b in zip(*row, strict=True)] for row in zip(X, below, strict=True)]
    )
    return exact, _labels(rng, exact.astype(float))


def decimals(rng):
    """Tenths, which are read as decimals."""
    X = rng.integers(-30, 31, _shape(rng)) / 10.0
    return X, _labels(rng, X)


def tenths_as_floats(rng):
    X = rng.integers(-9, 10, _shape(rng)) * 0.1
    return X, _labels(rng, X)


def duplicates(rng):
    X = _small(rng, 7)
    index = rng.integers(0, len(X), 2 * len(X))
    return X[index], _labels(rng, X[index])


def empty_columns(rng):
    X = _small(rng, 8, 3)
    wide = np.zeros((len(X), X.shape[1] + int(rng.integers(1, 4))))
    wide[:, rng.permutation(wide.shape[1])[: X.shape[1]]] = X
    return wide, _labels(rng, X)


def dependent_columns(rng):
    X = _small(rng, 9, 2)
    X = np.column_stack([X, X @ rng.integers(-2, 3, (X.shape[1], 2)) + rng.integers(-1, 2)])
    return X, _labels(rng, X)


def scales(rng):
    X = _small(rng) * 10.0 ** rng.integers(-12, 13)
    X = X * 10.0 ** rng.integers(-9, 10, X.shape[1])
    return X, _labels(rng, X)


def extreme_scales(rng):
    X = _small(rng, 7, 2) * 10.0 ** rng.choice([-300, -200, -30, 30, 100, 140], 1)
    return X, _labels(rng, X)


def gaussian(rng):
    X = rng.standard_normal(_shape(rng, 12, 4))
    return X, _labels(rng, X)


def collinear_clouds(rng):
    n = int(rng.integers(3, 10))
    t = rng.standard_normal(n)
    X = np.column_stack([t, t * (1 + 1e-13 * rng.standard_normal(n)), t + 1e-14 * rng.standard_normal(n)])
    return X, _labels(rng, X)


def wide(rng):
    X = rng.integers(-1, 2, (int(rng.integers(2, 6)), int(rng.integers(6, 12)))).astype(float)
    return X, _labels(rng, X)


FAMILIES = (
    integers,
    outliers,
    offsets,
    near_parallel,
    mirrored,
    interactions,
    one_hot,
    three_classes,
    four_classes,
    classes_with_outliers,
    big_integers,
    huge_integers,
    fractions,
    decimals,
    tenths_as_floats,
    duplicates,
    empty_columns,
    dependent_columns,
    scales,
    extreme_scales,
    gaussian,
    collinear_clouds,
    wide,
)


def compare_verdict(certificate, X, y, decimal):
    """The verdict, and that it is proved."""
    truth = exact_lp.verdict(X, y, decimal=decimal)
    if certificate.verdict != truth:
        yield f"verdict is {certificate.verdict}, truth {truth}"


# Each yields sentences about what a certificate says of rows X (lists of numbers) with class numbers y and is not true.
COMPARISONS = [compare_verdict]


def check(family, number, seed):
    """Certify one set; return the differences from the truth, the seconds, the verdict, and the set."""
    rng = np.random.default_rng([seed, FAMILIES.index(family), number])
    X, y = family(rng)
    y = np.unique(y, return_inverse=True)[1]
    decimal = family is decimals
    data = sp.csr_array(X) if number % 2 and X.dtype != object else X
    start = time.process_time()
    options = {"exact": "decimal"} if decimal else {}
    for _ in range(2):  # once more if out of time: this process may have been stopped meanwhile
        certificate = certify(data, y, margin=number % 7 == 0, time_limit=SECONDS, **options)
        if certificate.verdict != "undecided":
            break
    seconds = time.process_time() - start
    faults = [] if verify(certificate, X, y) else ["verify says no"]
    for comparison in COMPARISONS:
        faults += comparison(certificate, X.tolist(), y.tolist(), decimal)
    return faults, seconds, certificate.verdict, (X.tolist(), y.tolist(), "sparse" if data is not X else "dense")


def run(sets, seed, report=print):
    """Go over the families in turn; report every difference, and return their number."""
    seen, slowest, differences = Counter(), (0.0, "", 0), 0
    for k in range(sets):
        family = FAMILIES[k % len(FAMILIES)]
        faults, seconds, verdict, data = check(family, k // len(FAMILIES), seed)
        seen[verdict] += 1
        slowest = max(slowest, (seconds, family.__name__, k // len(FAMILIES)))
        if faults:
            differences += 1
            report(f"{family.__name__} {k // len(FAMILIES)} (seed {seed}): {'; '.join(faults)}: {data}")
    report(f"{sets} sets of {len(FAMILIES)} families, seed {seed}: {differences} differences; {dict(seen)}")
    report(f"longest: {slowest[0]:.2f} s, {slowest[1]} {slowest[2]}")
    return differences


if __name__ == "__main__":
    SETS, SEED = (int(v) for v in (sys.argv[1:] + ["2000", "0"][len(sys.argv) - 1 :])[:2])
    sys.exit(run(SETS, SEED) > 0)
