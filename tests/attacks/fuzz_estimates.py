"""Random small sets of many families: verdict, extreme observations and estimates against exact linear programs.

    python tests/attacks/fuzz_estimates.py 20000 1      # how many, and the seed

Each set is certified dense and sparse, and verified.
"""

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).parents[1]))

from oracles import exact_lp, recession
from rosenblatt import certify, verify


def factor_with_interaction(rng, n, d):
    level, count = rng.integers(0, 3, n), rng.integers(0, 3, n)
    return np.c_[level == 1, level == 2, count, (level == 1) * count][:, : d + 1]


def with_an_outlier(rng, n, d):
    X = rng.integers(0, 3, (n, d)).astype(float)
    X[rng.integers(n)] *= 1e12
    return X


def with_a_copy(rng, n, d):
    X = rng.integers(-2, 3, (n, d))
    X[:, -1] = 2 * X[:, 0] - 1
    return X


def nearly_parallel(rng, n, d):
    t = rng.integers(-3, 4, (n, 1)).astype(float)
    return t @ np.ones((1, d)) + 2.0**-40 * rng.integers(-1, 2, (n, d))


FAMILIES = {
    "binary": lambda rng, n, d: rng.integers(0, 2, (n, d)),
    "integers": lambda rng, n, d: rng.integers(-3, 4, (n, d)),
    "factor with interaction": factor_with_interaction,
    "dependent": with_a_copy,
    "one-hot": lambda rng, n, d: np.eye(d + 1)[rng.integers(0, d + 1, n)],
    "scales": lambda rng, n, d: rng.integers(-2, 3, (n, d)) * 10.0 ** rng.integers(-6, 7, d),
    "outlier": with_an_outlier,
    "offset": lambda rng, n, d: 1e8 + rng.integers(0, 3, (n, d)),
    "tenths": lambda rng, n, d: rng.integers(-3, 4, (n, d)) / 10,
    "sparse": lambda rng, n, d: rng.integers(1, 4, (n, d)) * (rng.random((n, d)) < 0.3),
    "parallel": nearly_parallel,
    "moments": lambda rng, n, d: rng.integers(-3, 4, (n, 1)) ** np.arange(1, d + 1),
}


def draw(rng, k):
    """Return the name of a family, rows and class numbers."""
    name = list(FAMILIES)[k % len(FAMILIES)]
    classes = 2 if rng.random() < 0.75 else int(rng.integers(3, 5))
    n, d = int(rng.integers(2, 11)), int(rng.integers(1, 4))
    if classes > 2:
        n, d = min(n, 7), min(d, 2)
    X = np.asarray(FAMILIES[name](rng, n, d), float)
    y = rng.integers(0, classes, n)
    if rng.random() < 0.5:
        y = np.digitize(X @ rng.integers(-2, 3, X.shape[1]), np.sort(rng.integers(-2, 3, classes - 1)))
    if rng.random() < 0.4:
        y[rng.integers(n)] = rng.integers(classes)
    return name, X, np.unique(y, return_inverse=True)[1]


def run(count, seed, time_limit=60):
    """Return what was seen, what differs from the oracles, and the longest time."""
    rng, seen, wrong, longest = np.random.default_rng(seed), Counter(), [], 0.0
    for k in range(count):
        name, X, label = draw(rng, k)
        if not label.max():
            continue
        reading = {"decimal": name == "tenths"}
        rows, labels = X.tolist(), label.tolist()
        truth = (
            exact_lp.verdict(rows, labels, **reading),
            recession.extreme(rows, labels, **reading),
            recession.estimates(rows, labels, **reading),
        )
        for data in (X, sp.csr_array(X)):
            start = time.perf_counter()
            exact = "decimal" if reading["decimal"] else "binary"
            found = certify(data, label, exact=exact, time_limit=time_limit, margin=False)
            longest = max(longest, time.perf_counter() - start)
            if (found.verdict, found.extreme, found.estimates) != truth or not verify(found, data, label):
                wrong.append((name, rows, labels, sp.issparse(data), truth, found.to_dict()))
        seen.update([(truth[0], int(label.max()) + 1), *truth[2]])
    return seen, wrong, longest


if __name__ == "__main__":
    found, faults, seconds = run(int(sys.argv[1]), int(sys.argv[2]))
    print(dict(found), "wrong:", len(faults), f"longest: {seconds:.2f} s")
    for fault in faults[:5]:
        print(fault)
    sys.exit(bool(faults))
