"""A slow oracle of which estimates a model has: its recession cone, by exact linear programs from the definitions.

Along a direction w the log-likelihood of each of these models never falls if and only if A w >= 0 and E w = 0, for
rows that the responses determine (Albert and Anderson 1984; Haberman 1974 for counts). It rises if some row of A is
positive, and stays as it is otherwise. Separation is complete if some direction is positive on all rows and there are
no equations, quasi-complete if some direction is positive on some row, and there is overlap if none is.

A coefficient is finite if it is zero in the whole cone, and goes to +inf if the cone has it positive somewhere and
negative nowhere. A column that depends on those before it, the constant first, is left out, as in R: its weight is
zero.

Each question is whether the cone has a direction with c.w > 0. There is none if and only if -c is a sum of rows of A
with factors that are not negative (Farkas 1902), up to a sum of equations, which are solved first: one linear program.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from oracles.exact_lp import number, solvable


class Model(NamedTuple):
    """Rows, equations, the observation of each row and each equation, and columns whose weights are zero."""

    above: list
    equal: list
    samples: list
    equated: list
    dependent: set


def binary(X, label, *, constant=True, **reading):
    """Logistic regression: x.w >= 0 for class 1, -x.w >= 0 for class 0."""
    return multinomial(X, label, classes=2, constant=constant, **reading)


def multinomial(X, label, *, classes=None, constant=True, **reading):
    """Baseline-category logits: (e_y - e_r) (x) x for each other class r, without the block of class 0."""
    rows = padded(X, constant, **reading)
    classes = classes or max(2, max(label) + 1)
    above, samples = [], []
    for i, (x, own) in enumerate(zip(rows, label, strict=True)):
        for rival in range(classes):
            if rival != own:
                above.append([((c == own) - (c == rival)) * v for c in range(1, classes) for v in x])
                samples.append(i)
    size = len(rows[0])
    return Model(above, [], samples, [], {c * size + j for j in dependent(rows) for c in range(classes - 1)})


def grouped(X, counts, *, constant=True, **reading):
    """Logistic regression of pairs (successes, failures): -x and x if a row has both, nothing if it has neither."""
    every = padded(X, constant, **reading)
    model = Model([], [], [], [], dependent([x for x, pair in zip(every, counts, strict=True) if any(pair)]))
    for i, (x, (successes, failures)) in enumerate(zip(every, counts, strict=True)):
        if successes and failures:
            model.equal.append(x)
            model.equated.append(i)
        elif successes or failures:
            model.above.append(x if successes else [-v for v in x])
            model.samples.append(i)
    return model


def poisson(X, counts, *, constant=True, **reading):
    """Poisson regression with a log link: -x.w >= 0 where the count is zero, x.w = 0 where it is not."""
    rows = padded(X, constant, **reading)
    zero = [i for i, count in enumerate(counts) if not count]
    others = [i for i, count in enumerate(counts) if count]
    above = [[-v for v in rows[i]] for i in zero]
    return Model(above, [rows[i] for i in others], zero, others, dependent(rows))


def ordinal(X, label, **reading):
    """Cumulative link P(y <= k) = F(alpha_k - x.beta), weights (beta, alpha_0, alpha_1, ...).

    A row of class k has alpha_k - x.beta >= 0, unless k is the last, and x.beta - alpha_{k-1} >= 0, unless it is first.
    """
    rows = padded(X, True, **reading)
    cuts = max(label)
    above, samples = [], []
    for i, (x, own) in enumerate(zip(rows, label, strict=True)):
        for cut, sign in ((own - 1, 1), (own, -1)):
            if 0 <= cut < cuts:
                above.append([sign * v for v in [*x[:-1], *(-int(k == cut) for k in range(cuts))]])
                samples.append(i)
    return Model(above, [], samples, [], {j for j in dependent(rows) if j < len(rows[0]) - 1})


def padded(X, constant, **reading):
    """Rows with the constant as their last entry; without one it is zero."""
    return [[*(number(v, **reading) for v in x), Fraction(int(constant))] for x in X]


def dependent(rows):
    """Columns that are combinations of those before them, the last column, of the constant, being the first."""
    order = [len(rows[0]) - 1, *range(len(rows[0]) - 1)]
    pivots = reduced([[row[j] for j in order] for row in rows])[1]
    return {j for place, j in enumerate(order) if place not in pivots}


def reduced(rows):
    """The reduced row echelon form and the columns of its pivots (Gauss and Jordan)."""
    rows, pivots = [list(row) for row in rows], []
    for j in range(len(rows[0]) if rows else 0):
        done = len(pivots)
        pivot = next((i for i in range(done, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [v / rows[done][j] for v in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[j]:
                rows[i] = [v - row[j] * top for v, top in zip(row, rows[done], strict=True)]
        pivots.append(j)
    return rows[: len(pivots)], pivots


class Cone:
    """The directions w with A w >= 0, E w = 0 and no weight on dependent columns, in coordinates of the last two."""

    def __init__(self, model, width):
        fixed = [[Fraction(int(k == j)) for k in range(width)] for j in model.dependent]
        rows, pivots = reduced([*model.equal, *fixed])
        self.basis = []
        for free in sorted(set(range(width)) - set(pivots)):
            vector = [Fraction(int(k == free)) for k in range(width)]
            for row, j in zip(rows, pivots, strict=True):
                vector[j] = -row[free]
            self.basis.append(vector)
        self.rows = list(dict.fromkeys(map(self.coordinates, model.above)))
        self.known = {}

    def coordinates(self, c):
        """c.w for each vector of the basis, as integers, up to a positive factor."""
        found = [sum(a * b for a, b in zip(c, vector, strict=True) if a and b) for vector in self.basis]
        common = math.lcm(*(Fraction(v).denominator for v in found))
        return tuple(int(v * common) for v in found)

    def reaches(self, c):
        """Whether some direction of the cone has c.w > 0."""
        target = self.coordinates(c)
        if target not in self.known:
            columns = [list(column) for column in zip(*self.rows, strict=True)]
            self.known[target] = any(target) and not (columns and solvable(columns, [-v for v in target]))
        return self.known[target]


def answers(model, width=None, coefficients=None):
    """The verdict, the observations that are fitted perfectly in the limit, and the estimates.

    `coefficients` are linear functions of the weights; by default the weights themselves.
    """
    width = width or len((model.above or model.equal)[0])
    cone = Cone(model, width)
    positive = [cone.reaches(row) for row in model.above]
    if all(positive) and not model.equal:
        verdict = "separable"
    else:
        verdict = "quasi-separable" if any(positive) else "overlapping"
    partly = {i for i, found in zip(model.samples, positive, strict=True) if not found} | set(model.equated)
    extreme = tuple(sorted(set(model.samples) - partly))
    estimates = []
    for c in coefficients or [[int(j == k) for k in range(width)] for j in range(width)]:
        if all(j in model.dependent for j, v in enumerate(c) if v):
            estimates.append("not identified")
            continue
        signs = cone.reaches(c), cone.reaches([-v for v in c])
        names = {(False, False): "finite", (True, False): "+inf", (False, True): "-inf", (True, True): "+/-inf"}
        estimates.append(names[signs])
    return verdict, extreme, tuple(estimates)
