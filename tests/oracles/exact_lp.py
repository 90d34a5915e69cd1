"""A slow oracle of separability: linear programming in integers, sharing nothing with the package.

Rows Z of signed samples are separable if some w has Z w > 0: if no shares that are not negative and add up to one have
a sum of rows of zero (Gordan 1873). They are overlapping if no w has Z w >= 0 but for Z w = 0: if positive shares, at
least one each, have a sum of rows of zero (Stiemke 1915). Either is a system A x = b, x >= 0 with an equation for each
weight, which are few, decided by the first phase of the simplex method with Bland's rule (1977), which always ends.
"""

import math
from fractions import Fraction


def number(value, *, decimal=False):
    """What a value stands for: a float itself or, if read so, the decimal that it prints as; others what they are."""
    return Fraction(repr(float(value))) if decimal and isinstance(value, float) else Fraction(value)


def signed_rows(X, label, *, decimal=False):
    """Signed rows (e_y - e_r) (x) (x, 1) without the block of class 0, straight from the definition, as integers.

    Each is multiplied by the least positive integer that makes all its entries integers, which changes no verdict.
    """
    classes = max(2, max(label) + 1)
    rows = []
    for x, own in zip(X, label, strict=True):
        padded = [*(number(v, decimal=decimal) for v in x), Fraction(1)]
        common = math.lcm(*(v.denominator for v in padded))
        integers = [int(v * common) for v in padded]
        for rival in range(classes):
            if rival != own:
                rows.append([((c == own) - (c == rival)) * v for c in range(1, classes) for v in integers])
    return rows


def verdict(X, label, *, decimal=False):
    """Decide the question for rows of numbers and class numbers from 0."""
    Z = [list(row) for row in dict.fromkeys(map(tuple, signed_rows(X, label, decimal=decimal)))]
    columns = [list(column) for column in zip(*Z, strict=True)]
    if not solvable([*columns, [1] * len(Z)], [0] * len(columns) + [1]):
        return "separable"
    return "overlapping" if solvable(columns, [-sum(column) for column in columns]) else "quasi-separable"


def feasible(A, b):
    """Return whether some x has A x >= b, for integers A and b >= 0.

    With x = u - t (1, ..., 1), u and t not negative, and surplus s, the system is A u - (A 1) t - s = b.
    """
    return solvable([[*row, -sum(row), *(-(k == i) for k in range(len(A)))] for i, row in enumerate(A)], b)


def solvable(A, b):
    """Return whether some x >= 0 has A x = b, for integers.

    One artificial variable in each row makes a first solution; the system has one without them if their sum can be
    brought to zero. Their columns are not stored: one that has left the basis never comes back. Every number of the
    tableau has the same denominator, the last pivot (Edmonds 1967), so that integers are enough and all divisions
    leave no remainder.
    """
    columns = len(A[0])
    tableau = [[*row, value] if value >= 0 else [-v for v in (*row, value)] for row, value in zip(A, b, strict=True)]
    cost = [sum(column) for column in zip(*tableau, strict=True)]
    basis = [columns + i for i in range(len(A))]
    last = 1
    while True:
        entering = next((j for j in range(columns) if cost[j] > 0), None)
        if entering is None:
            return cost[-1] == 0
        # Bland: the first column that helps; of the rows that bind first, the one whose variable has the least number.
        leaving = None
        for i, row in enumerate(tableau):
            if row[entering] > 0:
                if leaving is None:
                    leaving = i
                    continue
                best = tableau[leaving]
                here, there = row[-1] * best[entering], best[-1] * row[entering]
                if here < there or (here == there and basis[i] < basis[leaving]):
                    leaving = i
        # The sum of the artificial variables is bounded by zero, so that some row binds.
        pivot_row = tableau[leaving]
        pivot = pivot_row[entering]
        for i, row in enumerate(tableau):
            if i != leaving:
                factor = row[entering]
                tableau[i] = [(v * pivot - factor * p) // last for v, p in zip(row, pivot_row, strict=True)]
        factor = cost[entering]
        cost = [(v * pivot - factor * p) // last for v, p in zip(cost, pivot_row, strict=True)]
        basis[leaving], last = entering, pivot
