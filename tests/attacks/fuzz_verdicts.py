"""Small random data sets of many families, certified and compared with the exact oracle.

    PYTHONPATH=src:tests python tests/attacks/fuzz_verdicts.py [sets] [seed]

Each set is passed in one of several forms, and read as floats or as decimals. COMPARISONS holds what is compared:
functions of the certificate, the rows and the class numbers that yield a sentence for each difference. Undecided
certificates count as differences, and so do those that `verify` or the stand-alone checker does not accept.
"""

from __future__ import annotations

import contextlib
import csv
import io
import sys
import tempfile
import time
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

sys.path[:0] = [str(Path(__file__).parents[k] / name) for k, name in ((1, "."), (2, "src"), (2, "tools"))]

import check_certificate

from oracles import exact_lp
from rosenblatt import certify, certify_cycle, certify_pairs, verify
from rosenblatt.errors import InvalidInput
from rosenblatt.prover import monomials

SECONDS = 60.0  # for one set; all take a fraction of one
CHECKED = 5  # of so many sets the stand-alone checker is asked about one, and other ways to a proof are tried on one
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


_WIDE = Context(prec=2000)


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


# ----------------------------------------------------------------- numbers of all kinds, exact images of small integers


def _written(value, rng, decimal):
    """A rational as one of the Python numbers that are equal to it, chosen at random."""
    kinds = [value]
    if value.denominator == 1:
        kinds += [int(value)] * 2
    if 1e-300 < abs(value) < 1e300 and exact_lp.number(float(value), decimal=decimal) == value:
        kinds += [float(value)] * 2
    if 10**400 % value.denominator == 0 and value.denominator.bit_length() < 200:
        kinds.append(Decimal(value.numerator * (10**400 // value.denominator)).scaleb(-400, _WIDE).normalize(_WIDE))
    return kinds[rng.integers(len(kinds))]


def _image(rng, X, steps, bases, decimal):
    """Columns base + step * integer, exactly, so that ties stay ties; each number in a form of its own."""
    out = np.empty(X.shape, object)
    for j in range(X.shape[1]):
        step, base = (Fraction(choice[rng.integers(len(choice))]) for choice in (steps, bases))
        out[:, j] = [_written(base + step * int(v), rng, decimal) for v in X[:, j]]
    return out


def _imaged(steps, bases, name, decimal=False, classes=2):
    def family(rng):
        X = _small(rng, 9, 3) if classes == 2 else _small(rng, 7, 2)
        return _image(rng, X, steps, bases, decimal), _labels(rng, X, classes)

    family.__name__ = name + "_as_decimals" * decimal + f"_of_{classes}_classes" * (classes > 2)
    return family


_UNITS = (1, Fraction(1, 2), Fraction(1, 10), Fraction(1, 3), Fraction(7, 1000), 512, 10**15)
_PLACES = (
    0,
    0,
    BIG,
    2**60,
    2**60 + 1,
    -(2**63),
    10**23,
    Fraction(1, 7),
    Fraction(1, 10),
    Fraction("0.30000000000000004"),
)
IMAGES = tuple(
    _imaged(steps, bases, name, decimal, classes)
    for name, steps, bases in (
        ("mixed_numbers", _UNITS, _PLACES),
        ("neighbours_of_a_power", (1, 2, 256, 512, 1024), (0, 2**60, 2**60 + 256, 2**62, 2**63 - 1, 2**64)),
        (
            "last_digits",
            (Fraction(1, 10**17), Fraction(1, 2**60), Fraction(1, 2**52)),
            (1, Fraction(1, 10), Fraction(1, 3)),
        ),
        (
            "huge_and_tiny",
            (Fraction(10) ** -290, Fraction(1, 2**1040), 10**140, 2**400),
            (0, 0, Fraction(10) ** -280, 10**120),
        ),
        (
            "long_fractions",
            (Fraction(1, 3**30), Fraction(1, 10**30), Fraction(1, 97**9)),
            (0, Fraction(1, 7**20), 10**30),
        ),
    )
    for decimal in (False, True)
    for classes in (2, 3)
)


def collinear_integers(rng):
    """Three rows on a line that floats, or the decimals that they print as, would bend; and others off it."""
    step, base = int(rng.choice([1, 128, 256, 512])), 2 ** int(rng.integers(56, 63)) + int(rng.integers(0, 2))
    rows = [[base, 0], [base + 2 * step, 2], [base + step, 1], *([0, k] for k in range(int(rng.integers(1, 5))))]
    y = np.array([0, 0, 1] + [1] * (len(rows) - 3))
    order = rng.permutation(len(rows))
    return np.array(rows, np.int64)[order], y[order]


def subnormals(rng):
    X = _small(rng, 8, 2, 4)
    return X * 5e-324 * 2.0 ** rng.integers(0, 40, X.shape[1]), _labels(rng, X)


def single_precision(rng):
    X = _small(rng, 9, 3, 9)
    return (X / 10 + rng.choice([0, 1, 100], X.shape[1])).astype(np.float32), _labels(rng, X)


def long_doubles(rng):
    X = _small(rng, 8, 2)
    return 1 + X.astype(np.longdouble) * np.longdouble(2) ** -int(rng.integers(40, 64)), _labels(rng, X)


def unsigned(rng):
    X = np.abs(_small(rng)).astype(np.uint64)
    return X + np.array([0, 2**63, 2**64 - 10], np.uint64)[rng.integers(0, 3, X.shape[1])], _labels(
        rng, X.astype(float)
    )


def truth_values(rng):
    X = rng.random(_shape(rng, 9, 4)) < 0.5
    return X, _labels(rng, X.astype(float))


def hilbert(rng):
    n, d = _shape(rng, 8, 4)
    X = np.array([[Fraction(1, i + j + 1) for j in range(d)] for i in range(n)])
    return (X.astype(float) if rng.random() < 0.5 else X), rng.integers(0, 2, n)


def sums_of_tenths(rng):
    """0.1 + 0.2 beside 0.3: one number as a decimal if it had been typed, two if it was computed."""
    X = _small(rng, 9, 2)
    computed = X * 0.1
    return np.where(rng.random(X.shape) < 0.5, computed, np.round(computed, 1)), _labels(rng, X)


def conflicting(rng):
    """Equal rows of different classes, among numbers that are nearly equal."""
    X = _small(rng, 6, 2)
    X = np.vstack([X, X[rng.integers(0, len(X), 2)], np.nextafter(X[:2], 9.0)]) + 0.1
    return X, rng.integers(0, int(rng.integers(2, 4)), len(X))


def on_a_plane(rng):
    """Rows of both classes on one hyperplane, up to the last digit of a float."""
    X = rng.standard_normal((int(rng.integers(4, 10)), 3))
    X[:, -1] = X[:, :-1] @ [0.3, 0.7] + 0.1
    return X, (rng.random(len(X)) < 0.5).astype(int)


def one_class(rng):
    X = _small(rng) * 10.0 ** rng.integers(-5, 6)
    return X, np.zeros(len(X), int)


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
    collinear_integers,
    subnormals,
    single_precision,
    long_doubles,
    unsigned,
    truth_values,
    hilbert,
    sums_of_tenths,
    conflicting,
    on_a_plane,
    one_class,
    *IMAGES,
)


def compare_verdict(certificate, X, y, decimal):
    """The verdict, and that it is proved."""
    truth = exact_lp.verdict(X, y, decimal=decimal)
    if certificate.verdict != truth:
        yield f"verdict is {certificate.verdict}, truth {truth}"


# Each yields sentences about what a certificate says of rows X (lists of numbers) with class numbers y and is not true.
COMPARISONS = [compare_verdict]


def decimal_reading(family, rng):
    """Whether a set is read as decimals: some families always are, the others as often as not."""
    return family is decimals or "as_decimals" in family.__name__ or bool(rng.random() < 0.5)


def forms(X):
    """The ways in which rows can be passed: as they are, in lists, as a frame, each column of a type, or sparse."""
    columns = {f"c{j}": pd.Series(X[:, j], dtype=X.dtype) for j in range(X.shape[1])}
    lists = X.tolist() if X.dtype.kind in "Oiu" or X.dtype == np.float64 else list(X)
    return {"dense": X, "lists": lists, "frame": pd.DataFrame(columns)} | (
        {"sparse": sp.csr_array(X)} if X.dtype.kind in "iuf" and X.dtype.itemsize <= 8 else {}
    )


def numbers(X, decimal):
    """Rows of Python numbers that the oracle reads as it should: of other precisions the digits that they print."""
    if X.dtype.kind == "f" and X.dtype != np.float64:
        return [[Fraction(str(v)) if decimal else Fraction(*v.as_integer_ratio()) for v in row] for row in X]
    return X.tolist()


def accepted_by_checker(certificate, rows, y, decimal):
    """Whether tools/check_certificate.py, which shares nothing with the package, accepts a certificate."""
    with tempfile.TemporaryDirectory() as folder:
        certificate.save(Path(folder) / "certificate.json")
        with open(Path(folder) / "data.csv", "w", newline="") as file:
            for row, label in zip(rows, y, strict=True):
                exact = [exact_lp.number(v, decimal=decimal) for v in row]
                rational = certificate.arithmetic == "rational"
                csv.writer(file).writerow(
                    [*(f"{v.numerator}/{v.denominator}" if rational else repr(float(v)) for v in exact), label]
                )
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
            code = check_certificate.main([str(Path(folder) / "certificate.json"), str(Path(folder) / "data.csv")])
    return code == 0


def other_ways(X, y, rows, decimal):
    """Yield what is not true of the certificates that a perceptron's cycle, pairs of classes and products have."""
    options = {"exact": "decimal"} if decimal else {}
    with contextlib.suppress(InvalidInput):  # numbers that no small factor makes whole
        if y.max() <= 1:
            found = certify_cycle(X, y, epochs=3000, **options)
            if found.verdict != "undecided":  # it need not come back
                yield from _proved("cycle", found, X, y, rows, decimal)
    if y.max() > 0:
        for (a, b), found in certify_pairs(X, y, margin=False, **options).items():
            own = np.flatnonzero((y == a) | (y == b))
            yield from _proved(
                f"pair {a}, {b}", found, X[own], (y[own] == b) * 1, [rows[i] for i in own], decimal, y[own]
            )
    with contextlib.suppress(InvalidInput):  # products that do not fit a float
        features = monomials(X, 2, decimal=decimal)
        found = certify(X, y, kernel="quadratic", margin=False, **options)
        yield from _proved("quadratic", found, features, y, numbers(features, decimal), decimal)


def _proved(what, certificate, X, y, rows, decimal, labels=None):
    if not verify(certificate, X, y if labels is None else labels):
        yield f"{what}: verify says no"
    for fault in compare_verdict(certificate, rows, y.tolist(), decimal):
        yield f"{what}: {fault}"


def check(family, number, seed):
    """Certify one set; return the differences from the truth, the seconds, the verdict, and the set."""
    rng = np.random.default_rng([seed, FAMILIES.index(family), number])
    X, y = family(rng)
    y = np.unique(y, return_inverse=True)[1]
    decimal = decimal_reading(family, rng)
    every = forms(X)
    form = list(every)[rng.integers(len(every))]
    data, rows = every[form], numbers(X, decimal)
    start = time.process_time()
    options = {"exact": "decimal"} if decimal else {}
    try:
        for _ in range(2):  # once more if out of time: this process may have been stopped meanwhile
            certificate = certify(data, y, margin=number % 4 == 0, time_limit=SECONDS, **options)
            if certificate.verdict != "undecided":
                break
    except InvalidInput as refusal:
        return [] if "overflows" in str(refusal) else [str(refusal)], 0.0, "refused", (rows, y.tolist(), form)
    seconds = time.process_time() - start
    faults = [] if verify(certificate, X, y) and verify(certificate, data, y) else ["verify says no"]
    if number % CHECKED == 0 and not accepted_by_checker(certificate, rows, y.tolist(), decimal):
        faults.append("the checker says no")
    if number % CHECKED == 1:
        faults += other_ways(X, y, rows, decimal)
    for comparison in COMPARISONS:
        faults += comparison(certificate, rows, y.tolist(), decimal)
    return faults, seconds, certificate.verdict, (rows, y.tolist(), form, options)


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
        if k % 1000 == 999:
            report(f"{k + 1} sets: {differences} differences")
    report(f"{sets} sets of {len(FAMILIES)} families, seed {seed}: {differences} differences; {dict(seen)}")
    report(f"longest: {slowest[0]:.2f} s, {slowest[1]} {slowest[2]}")
    return differences


if __name__ == "__main__":
    SETS, SEED = (int(v) for v in (sys.argv[1:] + ["2000", "0"][len(sys.argv) - 1 :])[:2])
    sys.exit(run(SETS, SEED) > 0)
