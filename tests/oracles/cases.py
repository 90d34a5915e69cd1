"""Rows, labels, orders and vectors to hold the bounds against, and oracles with one thing wrong.

A claim is a function of a case and an algorithm that returns pairs (smaller, larger). A property test puts the oracle
in it. A mutation test puts the oracle in it with a piece of its source replaced, and wants some case of a fixed family
to break the claim: this is how the property tests are known to be able to fail.
"""

import inspect
import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from oracles import family
from strategies import integer_sets, separable_sets, small


@dataclass
class Case:
    """Rows as the algorithm sees them, labels, orders of presentation and a vector u (or several, for classes)."""

    rows: np.ndarray
    labels: np.ndarray
    orders: list
    u: np.ndarray

    @property
    def radius(self):
        return math.sqrt((self.rows**2).sum(1).max())

    @property
    def margin(self):
        """Of u, scaled to unit norm: a lower bound on the margin of the best separator."""
        return (self.labels * (self.rows @ self.u)).min() / np.linalg.norm(self.u)

    @property
    def stream(self):
        return [i for order in self.orders for i in order]

    def losses(self, numbers):
        """Hinge losses of u on the rows of these numbers."""
        return np.maximum(0, 1 - self.labels[numbers] * (self.rows[numbers] @ self.u))

    def run(self, algorithm, **parameters):
        return algorithm(self.rows, self.labels, self.orders, **parameters)


def holds(pairs):
    return all(smaller <= larger * (1 + 1e-9) + 1e-12 for smaller, larger in pairs)


def mutant(algorithm, old, new):
    """The algorithm with one piece of its source replaced."""
    source = inspect.getsource(algorithm)
    assert old in source
    names = dict(vars(family))
    exec(source.replace(old, new), names)
    return names[algorithm.__name__]


def broken(claim, cases, algorithm, old, new):
    """Whether the mutant breaks the claim on some case of the family, which the oracle itself does not."""
    wrong = mutant(algorithm, old, new)
    assert all(holds(claim(case, algorithm)) for case in cases)
    with np.errstate(all="ignore"):
        return any(not holds(claim(case, wrong)) for case in cases)


def some_orders(rng, n, epochs):
    """Each epoch cyclic, shuffled or drawn with repetition."""
    draws = [lambda: range(n), lambda: rng.permutation(n), lambda: rng.integers(0, n, 2 * n)]
    return [list(draws[rng.integers(3)]()) for _ in range(epochs)]


@st.composite
def orders_of(draw, n, most_epochs=6):
    return some_orders(np.random.default_rng(draw(st.integers(0, 999))), n, draw(st.integers(1, most_epochs)))


@st.composite
def separable(draw, **sizes):
    """Integer rows padded with a one, labelled by a planted hyperplane with half-integer bias, which is u."""
    X, y, u, c = draw(separable_sets(**sizes))
    return Case(np.c_[X, np.ones(len(X))], y, draw(orders_of(len(X))), np.append(u, c))


@st.composite
def any_rows(draw):
    """Integer rows padded with a one, any labels and any u."""
    X, label = draw(integer_sets())
    u = draw(st.lists(small, min_size=X.shape[1] + 1, max_size=X.shape[1] + 1))
    scale = draw(st.sampled_from([1, 1 / 2, 1 / 8]))
    return Case(np.c_[X, np.ones(len(X))], 2 * label - 1, draw(orders_of(len(X))), np.array(u) * scale)


@st.composite
def separable_classes(draw, classes=4):
    """Integer rows labelled by the highest of planted integer scores, those with a tie left out."""
    X, _ = draw(integer_sets(most_features=4))
    rows = np.c_[X, np.ones(len(X))]
    U = draw(
        st.lists(st.lists(small, min_size=rows.shape[1], max_size=rows.shape[1]), min_size=classes, max_size=classes)
    )
    return class_case(rows, np.array(U, float), draw(st.integers(0, 999)))


def class_case(rows, U, seed, epochs=4):
    scores = np.sort(rows @ U.T, axis=1)
    rows = rows[scores[:, -1] > scores[:, -2]]
    orders = some_orders(np.random.default_rng(seed), len(rows), epochs) if len(rows) else []
    return Case(rows, (rows @ U.T).argmax(1) if len(rows) else np.array([], int), orders, U)


@st.composite
def disjunctions(draw):
    n = draw(st.integers(2, 40))
    return disjunction_case(n, draw(st.integers(1, min(4, n))), draw(st.integers(0, 9999)))


def disjunction_case(n, k, seed, trials=150):
    """Rows of zeros and ones of several densities; positive if one of k features is one. u marks the features."""
    rng = np.random.default_rng(seed)
    u = np.zeros(n)
    u[rng.choice(n, k, replace=False)] = 1
    rows = (rng.random((trials, n)) < rng.choice([0.02, 0.1, 0.3, 0.6], (trials, 1))).astype(float)
    return Case(rows, np.where(rows @ u > 0, 1, -1), [range(trials)], u)


def fixed(separated, cases=16, epochs=30):
    """A fixed family of small integer sets, separable by u or not."""
    found = []
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(4, 25), rng.integers(1, 5)
        rows = np.c_[rng.integers(-4, 5, (n, d)), np.ones(n)].astype(float)
        u = np.append(rng.integers(-4, 5, d), rng.integers(-4, 5) + 0.5)
        labels = np.where(rows @ u > 0, 1, -1)
        if not separated:
            labels = np.where(rng.random(n) < 0.2, -labels, labels)
            u = u / rng.choice([1, 2, 8, 64])
        found.append(Case(rows, labels, some_orders(rng, n, epochs), u))
    return found


SEPARABLE = fixed(True)
NOISY = fixed(False)
# Orthonormal rows, all positive: many of the bounds are equalities on them.
AXES = [Case(np.eye(n), np.ones(n), [range(n)] * 3, np.ones(n)) for n in (1, 2, 5, 9)]
CLASSES = [class_case(np.eye(n), np.eye(n), n, epochs=30) for n in (2, 3, 5)]
DISJUNCTIONS = [disjunction_case(n, 2, n, trials=400) for n in (4, 8, 16, 32, 64)]


def settle(algorithm, case, most_epochs=2000, **parameters):
    """Run in cyclic order until an epoch has no update; None if that takes too long."""
    epochs = 2
    while epochs <= most_epochs:
        run = algorithm(case.rows, case.labels, [range(len(case.rows))] * epochs, **parameters)
        if run.updates[-1] == 0:
            return run
        epochs *= 4
    return None


def final_margin(rows, case, run):
    return (case.labels * (rows @ run.w)).min() / (np.linalg.norm(run.w) or 1.0)
