"""Scores of rows under given weights."""

from typing import Any

from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import Csr, dot


@compiled()
def _score(rows, subset, W, b, out):
    for t in range(out.shape[0]):
        i = subset[t] if subset.size else t
        for p in range(b.size):
            out[t, p] = dot(rows, i, W, p) + b[p]


def score(rows: Any, subset: Any, planes: Any, out: Any) -> None:
    """Compute the scores of the rows of `subset` (empty: all) under every problem, into out (rows, problems)."""
    loop, flags = _score, planes.W.flags
    if isinstance(rows, Csr) and flags.f_contiguous and not flags.c_contiguous:
        from rosenblatt.engine.classes import score_classes as loop  # which imports Numba
    loop(rows, subset, planes.W, planes.b, out)
