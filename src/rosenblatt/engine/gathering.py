"""Copies of some rows."""

from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import add


@compiled()
def gather(rows, subset, factor, out):
    """Copy the rows of `subset`, each times its `factor`, into the zeroed matrix out."""
    for t in range(subset.size):
        add(rows, subset[t], factor[t], out, t)
