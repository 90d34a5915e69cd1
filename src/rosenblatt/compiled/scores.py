"""Scores of rows under given weights."""

from rosenblatt.jit import compiled, overload
from rosenblatt.verbs.rows import by_layout, dot


def _score_one_by_one(rows, subset, W, b, out):
    for t in range(out.shape[0]):
        i = subset[t] if subset.size else t
        for p in range(b.size):
            out[t, p] = dot(rows, i, W, p) + b[p]


_choose_score = by_layout("score", _score_one_by_one)


def score_all(rows, subset, W, b, out):
    """Compute the scores of rows, into out (rows, problems)."""
    return _choose_score(rows, W)(rows, subset, W, b, out)


overload(score_all)(lambda rows, subset, W, b, out: _choose_score(rows, W))


@compiled()
def score(rows, subset, planes, out):
    """Scores of the rows of `subset` (empty: all) under every problem, into out (rows, problems)."""
    score_all(rows, subset, planes.W, planes.b, out)
