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
def run_block(label, importance, sign, cost, active, column, K, scores, start, t, change, size, counts):
    """Present the rows of a block from `start` on to the active problems; give the row where a column is missing.

    label (n,), importance (n,), sign and cost (classes, problems), active problems; column (n,) where a row has its
    similarities in K, or -1; scores (problems, n); t (problems,) trials; change (4, capacity): row, problem, signed
    step, trial; size (1,); counts (2, problems): mistakes, loss.
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
                counts[0, p] += 1.0
                counts[1, p] -= margin
            t[p] += 1
    return n


@njit(cache=True, nogil=True)
def run_joint_block(label, importance, class_cost, column, K, scores, start, t, change, size, counts):
    """Present the rows to all classes at once: towards the true one, away from the best wrong one.

    As `run_block`; class_cost (classes,) is the factor of the step. A mistake counts for problem 0.
    """
    n = label.size
    for i in range(start, n):
        c = label[i]
        wrong = best_wrong(c, i, scores)
        margin = scores[c, i] - scores[wrong, i]
        step = importance[i] * class_cost[c]
        if not margin > 0.0 and step != 0.0:
            k = column[i]
            if k < 0:
                return i
            _update(i, c, step, k, K, scores, t, change, size)
            _update(i, wrong, -step, k, K, scores, t, change, size)
            counts[0, 0] += 1.0
            counts[1, 0] -= margin
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
    """Add up the absolute differences of the rows of A and of B, dense."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                total += abs(A[i, k] - B[j, k])
            out[i, j] = total


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def cityblock_csr(data_a, indices_a, indptr_a, data_b, indices_b, indptr_b, length_a, length_b, out):
    """Do the same for CSR rows with ascending columns: what both have is counted anew, the rest is their lengths."""
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


# --------------------------------------------------------------------------------------------------------- on a budget


@njit(cache=True, nogil=True)
def _draw(seed, count, size):
    """Give a number below `size`, the same for the same seed and count: splitmix64."""
    z = np.uint64(seed) + np.uint64(count + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64(z % np.uint64(size))


@njit(cache=True, nogil=True)
def _mistaken(i, label, importance, sign, cost, class_cost, active, joint, scores, t, counts, step):
    """Write the signed step of each problem on row i; tell whether there is any."""
    c = label[i]
    found = False
    step[:] = 0.0
    if joint:
        wrong = best_wrong(c, i, scores)
        margin = scores[c, i] - scores[wrong, i]
        if not margin > 0.0 and importance[i] * class_cost[c] != 0.0:
            step[c] = importance[i] * class_cost[c]
            step[wrong] = -step[c]
            counts[0, 0] += 1.0
            counts[1, 0] -= margin
            found = True
        for p in range(t.size):
            t[p] += 1
        return found
    for a in range(active.size):
        p = active[a]
        if sign[c, p] == 0:
            continue
        margin = sign[c, p] * scores[p, i]
        if not margin > 0.0 and importance[i] * cost[c, p] != 0.0:
            step[p] = sign[c, p] * importance[i] * cost[c, p]
            counts[0, p] += 1.0
            counts[1, p] -= margin
            found = True
        t[p] += 1
    return found


@njit(cache=True, nogil=True)
def _enter(i, s, row, step, columns, K, coef, scores, member):
    """Put row i into slot s, with its steps as coefficients."""
    n = scores.shape[1]
    for j in range(n):
        columns[s, j] = K[i, j]
    for p in range(step.size):
        coef[p, s] = step[p]
        if step[p] != 0.0:
            for j in range(i + 1, n):
                scores[p, j] += step[p] * K[i, j]
    member[s] = row[i]


@njit(cache=True, nogil=True)
def run_evicting_block(
    shrinks,
    seed,
    row,
    label,
    importance,
    sign,
    cost,
    class_cost,
    active,
    joint,
    K,
    columns,
    gram,
    scores,
    coef,
    member,
    born,
    count,
    t,
    damage,
    errors,
    counts,
):
    """Present a block to a memory of fixed size: where it is full, a new vector takes the place of an old one.

    Without `shrinks` of one drawn at random (Cavallanti, Cesa-Bianchi and Gentile 2007). With it of the oldest, after
    all coefficients were multiplied by the largest factor that keeps the damage done by removals below 15/32 of the
    mistakes: the self-tuned Forgetron, Dekel, Shalev-Shwartz and Singer (2008).

    row (n,) numbers of the rows; K (n, n) among the rows; columns (budget, n) of the vectors with the rows; gram
    (budget, budget) among the vectors, for the Forgetron; coef (problems, budget); member and born (budget,);
    count (2,): vectors there are, vectors there have been; damage and errors (problems,).
    """
    n, problems, budget = label.size, coef.shape[0], coef.shape[1]
    step = np.empty(problems)
    for i in range(n):
        if not _mistaken(i, label, importance, sign, cost, class_cost, active, joint, scores, t, counts, step):
            continue
        for p in range(problems):
            errors[p] += step[p] != 0.0
        if count[0] < budget:
            s = count[0]
            count[0] += 1
        else:
            s = born.argmin() if shrinks else _draw(seed, count[1], budget)
            for p in range(problems):
                if coef[p, s] == 0.0:
                    continue
                if shrinks:
                    factor = _shrink(p, s, i, step[p], columns, gram, coef, damage, errors)
                    for r in range(budget):
                        coef[p, r] *= factor
                    step[p] *= factor
                    for j in range(i + 1, n):
                        scores[p, j] *= factor
                for j in range(i + 1, n):
                    scores[p, j] -= coef[p, s] * columns[s, j]
        if shrinks:
            for r in range(count[0]):
                gram[s, r] = gram[r, s] = columns[r, i]
            gram[s, s] = K[i, i]
        _enter(i, s, row, step, columns, K, coef, scores, member)
        born[s] = count[1]
        count[1] += 1


@njit(cache=True, nogil=True)
def _shrink(p, s, i, step, columns, gram, coef, damage, errors):
    """Give the factor by which to shrink before vector s goes, and enter the damage.

    Removing lambda k(x_s, .) after shrinking by phi does the damage lambda^2 k(x_s, x_s) + 2 lambda - 2 lambda mu,
    with lambda = phi |coef| and mu = phi y_s f(x_s), where f has the new row already.
    """
    height = step * columns[s, i]
    for r in range(coef.shape[1]):
        height += coef[p, r] * gram[r, s]
    weight = abs(coef[p, s])
    a = coef[p, s] * coef[p, s] * gram[s, s] - 2.0 * coef[p, s] * height
    b = 2.0 * weight
    c = damage[p] - 15.0 / 32.0 * errors[p]
    factor = 1.0
    if a + b + c > 0.0:
        factor = -c / b if a == 0.0 else (-b + np.sqrt(max(b * b - 4.0 * a * c, 0.0))) / (2.0 * a)
        factor = min(max(factor, 0.0), 1.0)
    damage[p] += factor * (a * factor + b)
    return factor


@njit(cache=True, nogil=True)
def run_projecting_block(
    residual,
    row,
    label,
    importance,
    sign,
    cost,
    class_cost,
    active,
    joint,
    K,
    columns,
    inverse,
    scores,
    coef,
    member,
    count,
    t,
    counts,
):
    """Present a block; what hardly leaves the span of the vectors is projected onto it: the Projectron.

    A mistaken row becomes a vector if its distance from the span is above `residual` times its length, and there is
    room; otherwise its projection is added. Orabona, Keshet and Caputo (2009), Algorithm 1. inverse (budget, budget)
    is that of the similarities among the vectors; the rest as in `run_evicting_block`.
    """
    n, problems, budget = label.size, coef.shape[0], coef.shape[1]
    step, share = np.empty(problems), np.empty(budget)
    for i in range(n):
        if not _mistaken(i, label, importance, sign, cost, class_cost, active, joint, scores, t, counts, step):
            continue
        m = count[0]
        left = K[i, i] + 0.0
        for r in range(m):
            share[r] = 0.0
            for q in range(m):
                share[r] += inverse[r, q] * columns[q, i]
            left -= share[r] * columns[r, i]
        # A distance below the second bound is rounding, and its inverse would be noise.
        if m < budget and left > max(residual * residual, 1e-10) * K[i, i]:
            for r in range(m):
                for q in range(m):
                    inverse[r, q] += share[r] * share[q] / left
                inverse[r, m] = inverse[m, r] = -share[r] / left
            inverse[m, m] = 1.0 / left
            _enter(i, m, row, step, columns, K, coef, scores, member)
            count[0] += 1
            count[1] += 1
            continue
        for r in range(m):
            for p in range(problems):
                if step[p] != 0.0 and share[r] != 0.0:
                    coef[p, r] += step[p] * share[r]
                    for j in range(i + 1, n):
                        scores[p, j] += step[p] * share[r] * columns[r, j]
