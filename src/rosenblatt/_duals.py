"""Every compiled function of the dual representation: blocks of rows, budgets, votes, distances.

One file on purpose, like `_kernels`, and apart from it: none of these calls one of those. Nothing here checks bounds.

A block is some rows with the scores that they have before the first of them is presented. Its similarities come as
columns: K[k, j] is the similarity of the object of column k and row j of the block, so that what an update adds to
the scores of the rows to come lies side by side.

Short names as there: i, j row of a block, p problem, c class, t trial.
"""

import numpy as np
from numba import njit

FASTMATH = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True)
def run_block(label, importance, sign, cost, active, column, K, scores, start, t, change, size, tally):
    """Present the rows of a block from `start` on to the active problems; give the row where a column is missing.

    label (n,), importance (n,), sign and cost (classes, problems), active problems; column (n,) where a row has its
    similarities in K, or -1; scores (problems, n); t (problems,) trials; change (4, capacity): row, problem, signed
    step, trial; size (1,); tally (2, problems): mistakes, loss.
    """
    n = label.size
    for i in range(start, n):
        c = label[i]
        k = column[i]
        if k < 0:
            for a in range(active.size):
                p = active[a]
                if sign[c, p] != 0 and not sign[c, p] * scores[p, i] > 0.0:
                    return i
        for a in range(active.size):
            p = active[a]
            if sign[c, p] == 0:
                continue
            margin = sign[c, p] * scores[p, i]
            step = importance[i] * cost[c, p]
            if not margin > 0.0 and step != 0.0:
                _update(i, p, sign[c, p] * step, k, K, scores, t, change, size)
                tally[0, p] += 1.0
                tally[1, p] -= margin
            t[p] += 1
    return n


@njit(cache=True, nogil=True)
def run_joint_block(label, importance, stake, column, K, scores, start, t, change, size, tally):
    """Present the rows to all classes at once: towards the true one, away from the best wrong one.

    As `run_block`; stake (classes,) is the factor of the step. A mistake counts for problem 0.
    """
    n = label.size
    for i in range(start, n):
        c = label[i]
        wrong = best_wrong(c, i, scores)
        margin = scores[c, i] - scores[wrong, i]
        step = importance[i] * stake[c]
        if not margin > 0.0 and step != 0.0:
            k = column[i]
            if k < 0:
                return i
            _update(i, c, step, k, K, scores, t, change, size)
            _update(i, wrong, -step, k, K, scores, t, change, size)
            tally[0, 0] += 1.0
            tally[1, 0] -= margin
        for p in range(t.size):
            t[p] += 1
    return n


@njit(cache=True, nogil=True)
def best_wrong(c, i, scores):
    """Give the class other than c with the highest score of row i, the first of several."""
    best, wrong = -np.inf, -1
    for p in range(scores.shape[0]):
        if p != c and (wrong < 0 or scores[p, i] > best):
            best, wrong = scores[p, i], p
    return wrong


@njit(cache=True, nogil=True)
def _update(i, p, step, k, K, scores, t, change, size):
    """Write an update down, and let the rows to come know of it."""
    for j in range(i + 1, scores.shape[1]):
        scores[p, j] += step * K[k, j]
    change[0, size[0]] = i
    change[1, size[0]] = p
    change[2, size[0]] = step
    change[3, size[0]] = t[p]
    size[0] += 1


@njit(cache=True, nogil=True)
def margins(label, sign, active, joint, scores, start, out):
    """Give the smallest margin of each row from `start` on, over the active problems."""
    for i in range(start, label.size):
        c = label[i]
        if joint:
            out[i] = scores[c, i] - scores[best_wrong(c, i, scores), i]
            continue
        least = np.inf
        for a in range(active.size):
            p = active[a]
            if sign[c, p] != 0:
                least = min(least, sign[c, p] * scores[p, i])
        out[i] = least


@njit(cache=True, nogil=True)
def vote(K, slot, step, survived, first, out):
    """Add up the votes of every prefix of the updates, each as often as it survived a trial.

    K (slots, n); slot, step and survived in the order of the updates, those of problem p from first[p] to
    first[p + 1]; out (problems, n).
    """
    n = K.shape[1]
    height = np.empty(n)
    for p in range(first.size - 1):
        height[:] = 0.0
        for k in range(first[p], first[p + 1]):
            s, factor, votes = slot[k], step[k], survived[k]
            for j in range(n):
                height[j] += factor * K[s, j]
                out[p, j] += votes if height[j] > 0.0 else -votes


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def cityblock(A, B, out):
    """Sums of absolute differences of the rows of A and of B, dense."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                total += abs(A[i, k] - B[j, k])
            out[i, j] = total


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def cityblock_csr(data_a, indices_a, indptr_a, data_b, indices_b, indptr_b, length_a, length_b, out):
    """The same of CSR rows with ascending columns: what both have is counted anew, the rest is their lengths."""
    for i in range(indptr_a.size - 1):
        for j in range(indptr_b.size - 1):
            total = length_a[i] + length_b[j]
            a, b = indptr_a[i], indptr_b[j]
            while a < indptr_a[i + 1] and b < indptr_b[j + 1]:
                if indices_a[a] < indices_b[b]:
                    a += 1
                elif indices_a[a] > indices_b[b]:
                    b += 1
                else:
                    x, z = data_a[a], data_b[b]
                    total += abs(x - z) - abs(x) - abs(z)
                    a += 1
                    b += 1
            out[i, j] = max(total, 0.0)
