"""Random small sets of many families: verdict, extreme observations and estimates against exact linear programs.

    python tests/attacks/fuzz_estimates.py 20000 1      # how many, and the seed

Each set is certified dense and sparse, and verified. The families are those of `fuzz_verdicts`, and some designs of
statisticians, in which estimates of all kinds are frequent.
"""

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).parents[1]))

from attacks import fuzz_verdicts
from oracles import exact_lp, recession
from rosenblatt import certify, verify


def factor_with_interaction(rng, n, d):
    level, count = rng.integers(0, 3, n), rng.integers(0, 3, n)
    return np.c_[level == 1, level == 2, count, (level == 1) * count][:, : d + 1]


def polynomial(rng, n, d):
    return rng.integers(-3, 4, (n, 1)) ** np.arange(1, d + 1)


def crossed_factors(rng, n, d):
    first, second = rng.integers(0, 2, n), rng.integers(0, 3, n)
    return np.c_[first == 1, second == 1, second == 2, (first == 1) * (second == 1), (first == 1) * (second == 2)]


def full_dummies(rng, n, d):
    """A column for every level beside the intercept: the last is what the others leave."""
    return np.c_[rng.integers(-1, 2, (n, d - 1)), np.eye(3)[rng.integers(0, 3, n)]]


def with_a_copy(rng, n, d):
    X = rng.integers(-2, 3, (n, d))
    X[:, -1] = 2 * X[:, 0] - 1
    return X


def time_stamps(rng, n, d):
    """Nanoseconds, which floats would round, beside a dummy variable."""
    return np.c_[1_700_000_000_000_000_000 + rng.integers(0, 3, n), rng.integers(0, 2, (n, d))]


DESIGNS = {
    "binary": lambda rng, n, d: rng.integers(0, 2, (n, d)),
    "small integers": lambda rng, n, d: rng.integers(-3, 4, (n, d)),
    "factor with interaction": factor_with_interaction,
    "crossed factors": crossed_factors,
    "full dummies": full_dummies,
    "copy": with_a_copy,
    "powers": polynomial,
    "one factor": lambda rng, n, d: np.eye(d + 1)[rng.integers(0, d + 1, n)],
    "scaled columns": lambda rng, n, d: rng.integers(-2, 3, (n, d)) * 10.0 ** rng.integers(-6, 7, d),
    "tenths": lambda rng, n, d: rng.integers(-3, 4, (n, d)) / 10,
    "sparse counts": lambda rng, n, d: rng.integers(1, 4, (n, d)) * (rng.random((n, d)) < 0.3),
    "time stamps": time_stamps,
}
FAMILIES = (*DESIGNS, *fuzz_verdicts.FAMILIES)


def draw_design(rng, name):
    """Return the rows of a design and labels, some by a rounded hyperplane."""
    classes = 2 if rng.random() < 0.75 else int(rng.integers(3, 5))
    n, d = int(rng.integers(2, 11)), int(rng.integers(1, 4))
    if classes > 2:
        n, d = min(n, 7), min(d, 2)
    X = 1 * DESIGNS[name](rng, n, d)  # dummy variables are numbers, too
    y = rng.integers(0, classes, n)
    if rng.random() < 0.5:
        sizes = X - X.min(axis=0)
        y = np.digitize(sizes @ rng.integers(-2, 3, X.shape[1]), np.sort(rng.integers(-2, 3, classes - 1)))
    if rng.random() < 0.4:
        y[rng.integers(n)] = rng.integers(classes)
    return X, y


def draw(k, seed):
    """Return the family of set k, its rows and class numbers, and whether they are read as decimals."""
    family = FAMILIES[k % len(FAMILIES)]
    rng = np.random.default_rng([seed, k])
    X, y = draw_design(rng, family) if family in DESIGNS else family(rng)
    name = family if family in DESIGNS else family.__name__
    decimal = family == "tenths" if family in DESIGNS else fuzz_verdicts.decimal_reading(family, rng)
    return name, X, np.unique(y, return_inverse=True)[1], decimal


def forms(X):
    """Return the rows dense and, if SciPy can hold their numbers, sparse."""
    every = fuzz_verdicts.forms(X)
    return [every[name] for name in ("dense", "sparse") if name in every]


def run(count, seed, time_limit=60, report=print):
    """Return what was seen, the number of differences from the oracles, and the longest time with its family."""
    seen, differences, longest = Counter(), 0, (0.0, "")
    for k in range(count):
        name, X, label, decimal = draw(k, seed)
        if not label.max():
            continue
        rows, labels = fuzz_verdicts.numbers(X, decimal), label.tolist()
        truth = (
            exact_lp.verdict(rows, labels, decimal=decimal),
            recession.extreme(rows, labels, decimal=decimal),
            recession.estimates(rows, labels, decimal=decimal),
        )
        for data in forms(X):
            start = time.process_time()
            exact = "decimal" if decimal else "binary"
            found = certify(data, label, exact=exact, time_limit=time_limit, margin=False)
            longest = max(longest, (time.process_time() - start, name))
            if (found.verdict, found.extreme, found.estimates) != truth or not verify(found, data, label):
                differences += 1
                report(
                    f"{name} {k} (seed {seed}): {rows} {labels} sparse={sp.issparse(data)} {truth} {found.to_dict()}"
                )
        seen.update([(truth[0], int(label.max()) + 1), *truth[2]])
        if k % 1000 == 999:
            report(f"{k + 1} sets of {len(FAMILIES)} families: {differences} differences, longest {longest}")
    return seen, differences, longest


if __name__ == "__main__":
    found, faults, (seconds, slowest) = run(int(sys.argv[1]), int(sys.argv[2]))
    print(dict(found), "differences:", faults, f"longest: {seconds:.2f} s, {slowest}")
    sys.exit(bool(faults))
