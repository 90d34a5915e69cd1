"""Random designs of every kind of model: verdict, extreme rows and estimates against exact linear programs.

    python tests/attacks/fuzz_designs.py 5000 1                  # how many of each kind, and the seed
    python tests/attacks/fuzz_designs.py 5000 1 poisson ordinal  # of these kinds

Each design is certified dense and sparse, and verified. The designs are those of `fuzz_estimates` and more that have
constant and empty columns, repeated rows, few rows and columns of different sizes.
"""

import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).parents[1]))

from attacks.fuzz_estimates import DESIGNS
from oracles import cones
from rosenblatt import certify, verify


def constant_among_columns(rng, n, d):
    X = rng.integers(-1, 3, (n, d + 1))
    X[:, rng.integers(d + 1)] = rng.integers(-2, 3)
    return X


def repeated_rows(rng, n, d):
    return rng.integers(-2, 3, (n, d))[rng.integers(0, n, n)]


def two_factors(rng, n, d):
    """Every level of two factors, as without a constant; the second leaves one dependent column."""
    return np.c_[np.eye(3)[rng.integers(0, 3, n)], np.eye(2)[rng.integers(0, 2, n)]]


def wide(rng, n, d):
    return rng.integers(-1, 2, (n, int(rng.integers(n, n + 4))))


def nested(rng, n, d):
    """A factor, a number, and the number within the last level only."""
    level, count = rng.integers(0, 2, n), rng.integers(-2, 3, n)
    return np.c_[level, count, level * count, np.ones(n)]


def sums(rng, n, d):
    X = rng.integers(-2, 3, (n, d + 1))
    X[:, -1] = X[:, :-1].sum(axis=1)
    return X


MORE = (constant_among_columns, repeated_rows, two_factors, wide, nested, sums)
FAMILIES = DESIGNS | {one.__name__.replace("_", " "): one for one in MORE}


class Kind(NamedTuple):
    """A response drawn for a design, its model for the oracle, the options of `certify`, and the most rows."""

    draw: object
    model: object
    options: dict
    rows: int = 16
    columns: int = 4


def scores(rng, X):
    """Small integers that follow the rows: a sum of columns on their own scale."""
    spread = np.ptp(X, axis=0) + (np.ptp(X, axis=0) == 0)
    return np.rint(2 * ((X - X.min(axis=0)) / spread) @ rng.integers(-2, 3, X.shape[1]))


def labels(classes):
    def draw(rng, X):
        y = rng.integers(0, classes, len(X))
        if rng.random() < 0.6:
            y = np.digitize(scores(rng, X), np.sort(rng.integers(-2, 4, classes - 1)))
            if rng.random() < 0.5:
                y[rng.integers(len(X))] = rng.integers(classes)
        return numbered(y)

    return draw


def numbered(y):
    """Class numbers without gaps; one class alone is the second."""
    y = np.unique(y, return_inverse=True)[1]
    return y if y.max() else y + 1


def ordered(rng, X):
    y = labels(int(rng.integers(2, 5)))(rng, X)
    y[0], y[-1] = 0, max(1, y.max())
    return numbered(y)


def counts(rng, X):
    positive = rng.integers(1, 4, len(X))
    if rng.random() < 0.5:
        return positive * (rng.random(len(X)) < rng.choice([0.1, 0.3, 0.6]))
    return positive * (scores(rng, X) > rng.integers(-2, 3))


def groups(rng, X):
    """Successes and failures, seldom both."""
    above = scores(rng, X) > rng.integers(-2, 3)
    if rng.random() < 0.4:
        above = rng.random(len(X)) < 0.5
    pairs = np.c_[above, ~above] * rng.integers(1, 4, (len(X), 1))
    pairs += (rng.random((len(X), 1)) < rng.choice([0, 0.1, 0.3])) * rng.integers(0, 3, (len(X), 2))
    pairs[rng.random(len(X)) < rng.choice([0, 0.2])] = 0
    if not pairs.any():
        pairs[:, 0] = 1
    return pairs


BARE = {"fit_intercept": False}
COUNTS, GROUPS = {"family": "poisson"}, {"family": "binomial"}
KINDS = {
    "binary": Kind(labels(2), cones.binary, {}),
    "multinomial": Kind(labels(4), cones.multinomial, {}, rows=10, columns=3),
    "binary without a constant": Kind(labels(2), cones.binary, BARE),
    "multinomial without a constant": Kind(labels(4), cones.multinomial, BARE, rows=10, columns=3),
    "poisson": Kind(counts, cones.poisson, COUNTS),
    "poisson without a constant": Kind(counts, cones.poisson, COUNTS | BARE),
    "grouped": Kind(groups, cones.grouped, GROUPS),
    "grouped without a constant": Kind(groups, cones.grouped, GROUPS | BARE),
    "ordinal": Kind(ordered, cones.ordinal, {"family": "ordinal"}, rows=10, columns=3),
}


def draw(kind, k, seed):
    """Return the family of design k of a kind, its rows, its response, and whether rows are read as decimals."""
    name = list(FAMILIES)[k % len(FAMILIES)]
    rng = np.random.default_rng([seed, list(KINDS).index(kind), k])
    one = KINDS[kind]
    X = 1 * FAMILIES[name](rng, int(rng.integers(2, one.rows)), int(rng.integers(1, one.columns)))
    return name, X, one.draw(rng, X), name == "tenths"


def truth(kind, X, y, decimal):
    options = {"constant": False} if "fit_intercept" in KINDS[kind].options else {}
    model = KINDS[kind].model(X.tolist(), y.tolist(), decimal=decimal, **options)
    return cones.answers(model, coefficients=differences_of_cuts(X, y) if kind == "ordinal" else None)


def differences_of_cuts(X, y):
    """The coefficients of an ordinal model as `certify` has them, in terms of the slopes and the cuts alpha.

    They are the slopes, alpha_0 - alpha_k for each later cut, and the intercept -alpha_0.
    """
    d, cuts = X.shape[1], int(y.max())
    slopes = np.eye(d + cuts, dtype=int)[:d].tolist()
    below = [[int(j == d) - int(j == d + k) for j in range(d + cuts)] for k in range(1, cuts)]
    return [*slopes, *below, [-int(j == d) for j in range(d + cuts)]]


def differences(kind, X, y, decimal, form=np.asarray):
    """Return what a certificate says and what is so, where they differ; None if it is right and verified."""
    options = KINDS[kind].options
    expected = truth(kind, X, y, decimal)
    found = certify(
        form(X), y, exact="decimal" if decimal else "binary", margin=False, coefficients=True, time_limit=60, **options
    )
    said = found.verdict, found.extreme, found.estimates
    if said != expected:
        return said, expected
    return None if verify(found, form(X), y) else ("verify says no", expected)


def smallest(kind, X, y, decimal, form):
    """Return the design without rows and columns that a difference does not need."""

    def differs(X, y):
        try:
            return X.size and len(y) and differences(kind, X, y, decimal, form) is not None
        except Exception:  # of another kind
            return False

    shrinking = True
    while shrinking:
        shrinking = False
        for axis in (0, 1):
            for i in reversed(range(X.shape[axis])):
                less = np.delete(X, i, axis=axis), np.delete(y, i, axis=0) if axis == 0 else y
                if KINDS[kind].options.get("family") in (None, "ordinal") and len(less[1]):
                    less = less[0], numbered(less[1])
                if differs(*less):
                    (X, y), shrinking = less, True
    return X, y


def run(kind, count, seed, report=print):
    """Return what was seen, the number of differences, and the longest time with its family."""
    seen, faults, longest = Counter(), 0, (0.0, "")
    for k in range(count):
        name, X, y, decimal = draw(kind, k, seed)
        for form in (np.asarray, sp.csr_array):
            start = time.process_time()
            try:
                difference = differences(kind, X, y, decimal, form)
            except Exception as error:
                difference = f"{type(error).__name__}: {error}", None
            longest = max(longest, (time.process_time() - start, name))
            if difference:
                faults += 1
                if difference[1] is not None:
                    X, y = smallest(kind, X, y, decimal, form)
                    difference = differences(kind, X, y, decimal, form)
                report(
                    f"{kind}: {name} {k} (seed {seed}), {form.__name__}, X={X.tolist()}, y={y.tolist()}: {difference}"
                )
                break
        verdict, _, estimates = truth(kind, X, y, decimal)
        seen.update([verdict, *estimates])
    return seen, faults, longest


if __name__ == "__main__":
    COUNT, SEED, *CHOSEN = sys.argv[1:]
    failed = 0
    for one in CHOSEN or KINDS:
        what, wrong, slowest = run(one, int(COUNT), int(SEED))
        failed += wrong
        print(f"{one}: {COUNT} designs, {wrong} differences, {dict(what)}, longest {slowest}", flush=True)
    sys.exit(failed > 0)
