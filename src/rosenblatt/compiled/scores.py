"""Scores of rows under given weights."""

from rosenblatt.engine.rows import dot
from rosenblatt.jit import compiled


@compiled()
def score(rows, subset, planes, out):
    """Compute the scores of the rows of `subset` (empty: all) under every problem, into out (rows, problems)."""
    W, b = planes.W, planes.b
    for t in range(out.shape[0]):
        i = subset[t] if subset.size else t
        for p in range(b.size):
            out[t, p] = dot(rows, i, W, p) + b[p]
