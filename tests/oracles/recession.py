"""A slow oracle of what diverges in a logistic regression, by linear programs in integers, from the definitions alone.

The log-likelihood of a multinomial logistic model is a sum of -log(1 + exp(-z.w) + ...) over the signed rows z. It
never falls in the directions w with Z w >= 0, its recession cone, and falls in all others. A fitted probability tends
to 1 if some direction of the cone is positive on all signed rows of the sample. A coefficient is finite if it is zero
in the whole cone, and goes to +inf if the cone has it positive somewhere and negative nowhere. As in R, a column that
depends on those before it, the constant first, is left out.
"""

from fractions import Fraction

from oracles.exact_lp import feasible, number, signed_rows


def extreme(X, label, **reading):
    """Samples whose fitted probability tends to 1 for their own class."""
    Z = signed_rows(X, label, **reading)
    rivals = len(Z) // len(X)
    zeros = [0] * len(Z)
    positive = [feasible([*Z, z], [*zeros, 1]) for z in Z]
    return tuple(i for i in range(len(X)) if all(positive[i * rivals : (i + 1) * rivals]))


def dependent(X, *, decimal=False):
    """Features that are combinations of the constant and the features before them."""
    rows = [[Fraction(1), *(number(v, decimal=decimal) for v in x)] for x in X]
    found, done = set(), 0
    for j in range(len(rows[0])):
        pivot = next((i for i in range(done, len(rows)) if rows[i][j]), None)
        if pivot is None:
            found.add(j - 1)
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        for i in range(done + 1, len(rows)):
            factor = rows[i][j] / rows[done][j]
            if factor:
                rows[i] = [v - factor * top for v, top in zip(rows[i], rows[done], strict=True)]
        done += 1
    return found


def estimates(X, label, **reading):
    """For each coefficient, in the order of the certificate: finite, +inf, -inf, +/-inf or not identified."""
    Z = signed_rows(X, label, **reading)
    width, size = len(Z[0]), len(X[0]) + 1
    out = dependent(X, **reading)
    units = [[int(j == k) for k in range(width)] for j in range(width)]
    fixed = [sign for j, e in enumerate(units) if j % size in out for sign in (e, [-v for v in e])]
    cone = [*Z, *fixed]
    found = []
    for j, e in enumerate(units):
        if j % size in out:
            found.append("not identified")
            continue
        up = feasible([*cone, e], [0] * len(cone) + [1])
        down = feasible([*cone, [-v for v in e]], [0] * len(cone) + [1])
        found.append({(False, False): "finite", (True, False): "+inf", (False, True): "-inf"}.get((up, down), "+/-inf"))
    return tuple(found)
