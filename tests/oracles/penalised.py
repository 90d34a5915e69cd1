"""A slow oracle of penalised and plain likelihoods in decimals of 40 digits, from the definitions alone.

Derivatives are differences over steps so short that half of the digits remain. So no formula of the scores of Firth,
of leverages or of second derivatives is needed.
"""

from decimal import Decimal, localcontext

DIGITS = 40
STEP = Decimal("1e-12")


def likelihood(design, responses, beta, *, family="binomial", weights=None, penalty=True):
    """The log-likelihood of responses of 0 and 1, or of counts less their constant; plus 1/2 log det X'WX."""
    rows = [[Decimal(v) for v in row] for row in design]
    weights = [Decimal(w) for w in weights or [1] * len(rows)]
    value, k = Decimal(0), len(beta)
    information = [[Decimal(0)] * k for _ in range(k)]
    for row, y, weight in zip(rows, map(Decimal, responses), weights, strict=True):
        power = sum((x * b for x, b in zip(row, beta, strict=True)), Decimal(0))
        if family == "binomial":
            p = 1 / (1 + (-power).exp())
            value += weight * (p if y else 1 - p).ln()
            variance = weight * p * (1 - p)
        else:
            variance = weight * power.exp()
            value += weight * y * power - variance
        for i in range(k):
            for j in range(i, k):
                information[i][j] += variance * row[i] * row[j]
    if not penalty:
        return value
    symmetric = [[information[min(i, j)][max(i, j)] for j in range(k)] for i in range(k)]
    return value + determinant(symmetric).ln() / 2


def determinant(matrix):
    """By elimination without pivots, which a positive definite matrix does not need."""
    matrix, found = [list(row) for row in matrix], Decimal(1)
    for i, pivot in enumerate(matrix):
        found *= pivot[i]
        for row in matrix[i + 1 :]:
            factor = row[i] / pivot[i]
            row[:] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
    return found


def solve(matrix, right):
    """By Gauss and Jordan."""
    rows = [[*row, r] for row, r in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for j in range(len(rows)):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def scores(function, beta, columns=None):
    """The derivatives of a function of the coefficients, by central differences."""
    with localcontext(prec=DIGITS):
        beta = [Decimal(b) for b in beta]
        return [
            (function(_moved(beta, j, STEP)) - function(_moved(beta, j, -STEP))) / (2 * STEP)
            for j in (range(len(beta)) if columns is None else columns)
        ]


def maximum(function, start, fixed=None):
    """Where a function of the coefficients is largest, and its value there; `fixed` maps coefficients to values."""
    with localcontext(prec=DIGITS):
        beta = [Decimal(b) for b in start]
        for j, value in (fixed or {}).items():
            beta[j] = Decimal(value)
        free = [j for j in range(len(beta)) if j not in (fixed or {})]
        for _ in range(30):
            slopes = scores(function, beta, free)
            length = Decimal("1e-8")
            curves = []
            for j in free:
                above, below = (
                    scores(function, _moved(beta, j, length), free),
                    scores(function, _moved(beta, j, -length), free),
                )
                curves.append([-(a - b) / (2 * length) for a, b in zip(above, below, strict=True)])
            move = solve(curves, slopes)
            size, value = Decimal(1), function(beta)
            while function(_along(beta, free, move, size)) < value - Decimal("1e-25"):
                size /= 2
            beta = _along(beta, free, move, size)
            if max(map(abs, move)) < Decimal("1e-9"):  # steps converge quadratically, and this one was taken
                return beta, function(beta)
        raise AssertionError("the oracle did not converge")


def _moved(beta, j, step):
    return [b + step if i == j else b for i, b in enumerate(beta)]


def _along(beta, free, move, size):
    found = list(beta)
    for j, step in zip(free, move, strict=True):
        found[j] += size * step
    return found
