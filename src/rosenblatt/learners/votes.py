"""Votes of many weight vectors on rows: the scores of a block of vectors, and the sum of their ballots.

Nothing here checks bounds; `rosenblatt.learners.voted_stream` brings vectors and rows that fit each other.
"""

import numpy as np

from rosenblatt.engine.jit import compiled

# Sums of whole numbers, in any order.
FASTMATH = {"reassoc", "contract", "nsz"}


@compiled(forceinline=True, fastmath=FASTMATH)
def _ballots(scores, bias, survived):
    """Sum of the trials survived by vectors with a positive score, less those of the others."""
    total = 0.0
    for v in range(bias.size):
        total += survived[v] if scores[v] + bias[v] > 0.0 else -survived[v]
    return total


@compiled()
def cast_ballots(scores, bias, survived, votes):
    """Add the ballots of each row to its votes, from its scores (rows, vectors) without the bias."""
    for i in range(votes.size):
        votes[i] += _ballots(scores[i], bias, survived)


@compiled()
def cast_sparse_ballots(data, indices, indptr, V, bias, survived, votes):
    """Do the same for sparse rows, from the vectors themselves: V is (features, vectors)."""
    scores = np.empty(bias.size, V.dtype)
    for i in range(votes.size):
        scores[:] = 0.0
        k, end = indptr[i], indptr[i + 1]
        while k + 4 <= end:  # four entries at a time, in the order of the loops that learn
            x0, x1, x2, x3 = data[k], data[k + 1], data[k + 2], data[k + 3]
            j0, j1, j2, j3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
            for v in range(scores.size):
                scores[v] += (x0 * V[j0, v] + x1 * V[j1, v]) + (x2 * V[j2, v] + x3 * V[j3, v])
            k += 4
        while k < end:
            x0, j0 = data[k], indices[k]
            for v in range(scores.size):
                scores[v] += x0 * V[j0, v]
            k += 1
        votes[i] += _ballots(scores, bias, survived)
