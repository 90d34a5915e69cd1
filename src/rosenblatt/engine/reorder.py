"""Shuffle, interleave and gather rows."""

from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import add


@compiled()
def shuffle(order, uniform):
    """Permute `order` in place by Fisher and Yates; `uniform` holds a number in [0, 1) for each element."""
    for k in range(order.size - 1, 0, -1):
        j = min(k, int(uniform[k] * (k + 1)))  # the product may round up to k + 1
        order[k], order[j] = order[j], order[k]


@compiled()
def interleave(blocks, width, streams, rows, order):
    """Order the n = rows.size positions by walking `streams` blocks of `width` neighbours side by side.

    `blocks` is a permutation of the block numbers. A few forward streams run at the full speed of memory, unlike
    rows in random order.
    """
    n = rows.size
    t = 0
    for first in range(0, blocks.size, streams):
        last = min(first + streams, blocks.size)
        for offset in range(width):
            for k in range(first, last):
                position = blocks[k] * width + offset
                if position < n:
                    order[t] = rows[position]
                    t += 1


@compiled()
def gather(rows, subset, factor, out):
    """Write the rows of `subset`, each times its `factor`, to out, which holds zeros."""
    for t in range(subset.size):
        add(rows, subset[t], factor[t], out, t)
