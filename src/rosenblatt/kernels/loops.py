"""Compiled loops of the dual representation: blocks of rows, budgets, votes. Nothing here checks bounds.

A block is some rows with the scores that they have before the first of them is presented. Its similarities are
columns: K[k, j] is the similarity of the object of column k with row j of the block. So the values that one update
adds to the scores of the other rows are neighbours in memory. A block may be all rows, with their whole Gram matrix.

Short names, defined in docs/explanation/notation.md: i, j row of a block, p problem, c class; s, r, q are vectors
that a budget keeps.
"""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.jit import DISABLE_JIT, compiled


class RowBlock(NamedTuple):
    """Rows that are presented together."""

    row: np.ndarray  # (n,) their numbers
    label: np.ndarray  # (n,) their classes
    sample_weight: np.ndarray  # (n,) factor of the step
    K: np.ndarray  # (columns, n) similarities of some objects with the rows
    scores: np.ndarray  # (problems, n) kept up to date for the rows that are still to be presented
    order: np.ndarray  # (trials,) places of the rows in the order of their presentation; on a budget they rise
    # (problems, 2, 2) first and last + 1 of the rows whose scores are kept up to date, in two parts; else empty: of the
    # rows that follow in the block
    spans: np.ndarray


class Problems(NamedTuple):
    """The task of a row of each class in each problem."""

    sign: np.ndarray  # (classes, problems) +1, -1, or 0: no example
    cost: np.ndarray  # (classes, problems) factor of the step
    class_cost: np.ndarray  # (classes,) the same when all problems learn jointly
    active: np.ndarray  # problems that still learn, class by class: those that a row of the class is an example of
    first: np.ndarray  # (classes + 1,) where the problems of each class begin in `active`
    joint: bool  # whether the problems are classes that compete in each trial
    margin: float  # an update is due while y f(x) is not above it
    most: float  # updates of a row in a problem; infinite for no limit


class Progress(NamedTuple):
    """Counts. A joint task has a single entry in `mistakes`, `updates` and `loss`."""

    trials: np.ndarray  # (problems,) trials so far
    mistakes: np.ndarray  # (problems,) or (1,)
    updates: np.ndarray  # (problems,) or (1,) trials with an update
    loss: np.ndarray  # (problems,) or (1,) sum of margin - y f(x), where that is not negative
    square: np.ndarray  # (problems,) |f|^2 in the space of the kernel
    steps: np.ndarray  # (problems,) sum of the absolute steps
    counts: np.ndarray  # (problems, rows) or (1, rows) updates of each row; without rows where there is no limit


class UpdateBuffer(NamedTuple):
    """Every update of a block. The caller provides room for all of them."""

    row: np.ndarray  # (capacity,) place within the block
    problem: np.ndarray  # (capacity,)
    step: np.ndarray  # (capacity,) signed
    trial: np.ndarray  # (capacity,) trials of the problem before it
    size: np.ndarray  # (1,) updates written so far


class BudgetVectors(NamedTuple):
    """The vectors that a budget keeps, and what its rule knows of them. All problems share the vectors."""

    coef: np.ndarray  # (problems, budget)
    member: np.ndarray  # (budget,) numbers of the rows
    gram: np.ndarray  # (budget, budget) similarities among the vectors for the Forgetron, their inverse for Projectron
    born: np.ndarray  # (budget,) how many vectors had entered before
    count: np.ndarray  # type: ignore[assignment]  # (2,) vectors in use; vectors that ever entered
    damage: np.ndarray  # (problems,) damage by removals, for the Forgetron
    errors: np.ndarray  # (problems,) mistakes, for the Forgetron


# ------------------------------------------------------------------------------------------------- without a budget


@compiled()
def run_block(block, problems, column, start, progress, updates):
    """Present the rows of a block to the active problems, one by one, from trial `start` on.

    column (n,) is the row's place in `block.K`, or -1 if its similarities have not been computed.

    Returns
    -------
    int
        The first trial whose row needs an update while its similarities are missing; the number of all trials when
        all rows were presented.
    """
    label, sample_weight, scores, order = block.label, block.sample_weight, block.scores, block.order
    sign, cost, active, first = problems.sign, problems.cost, problems.active, problems.first
    trials, mistakes, loss = progress.trials, progress.mistakes, progress.loss
    for t in range(start, order.size):
        i = order[t]
        c = label[i]
        k = column[i]
        if k < 0:
            for a in range(first[c], first[c + 1]):
                p = active[a]
                if not sign[c, p] * scores[p, i] > problems.margin and _is_free(p, block.row[i], problems, progress):
                    return t
        for a in range(first[c], first[c + 1]):
            p = active[a]
            margin = sign[c, p] * scores[p, i]
            step = sample_weight[i] * cost[c, p]
            if not margin > problems.margin and step != 0.0:
                mistakes[p] += not margin > 0.0
                loss[p] += problems.margin - margin
                if _is_free(p, block.row[i], problems, progress):
                    _update(i, p, sign[c, p] * step, k, block, progress, updates)
                    _count(p, block.row[i], progress)
            trials[p] += 1
    return order.size


@compiled()
def run_joint_block(block, problems, column, start, progress, updates):
    """Present the rows to all classes at once: step towards the true class, away from the best wrong one.

    Parameters and result as in `run_block`.
    """
    label, sample_weight, scores, order = block.label, block.sample_weight, block.scores, block.order
    class_cost = problems.class_cost
    trials, mistakes, loss = progress.trials, progress.mistakes, progress.loss
    for t in range(start, order.size):
        i = order[t]
        c = label[i]
        wrong = _best_wrong(c, i, scores)
        margin = scores[c, i] - scores[wrong, i]
        step = sample_weight[i] * class_cost[c]
        if not margin > problems.margin and step != 0.0:
            k, free = column[i], _is_free(0, block.row[i], problems, progress)
            if free and k < 0:
                return t
            mistakes[0] += not margin > 0.0
            loss[0] += problems.margin - margin
            if free:
                _update(i, c, step, k, block, progress, updates)
                _update(i, wrong, -step, k, block, progress, updates)
                _count(0, block.row[i], progress)
        for p in range(trials.size):
            trials[p] += 1
    return order.size


@compiled()
def _best_wrong(c, i, scores):
    """Return the class other than c with the highest score of row i, the first of several."""
    best, wrong = -np.inf, -1
    for p in range(scores.shape[0]):
        if p != c and (wrong < 0 or scores[p, i] > best):
            best, wrong = scores[p, i], p
    return wrong


@compiled()
def _is_free(part, row, problems, progress):
    """Return whether a row may be updated once more."""
    return problems.most == np.inf or progress.counts[part, row] < problems.most


@compiled()
def _count(part, row, progress):
    """Count an update of a row."""
    progress.updates[part] += 1.0
    if progress.counts.shape[1] > 0:
        progress.counts[part, row] += 1


@compiled()
def _update(i, p, step, k, block, progress, updates):
    """Log an update by row i, and add its effect to the scores: of a problem's rows, or of those that follow."""
    K, scores, spans = block.K, block.scores, block.spans
    progress.square[p] += step * (2.0 * scores[p, i] + step * K[k, i])
    progress.steps[p] += abs(step)
    if spans.shape[0] == 0:
        for j in range(i + 1, scores.shape[1]):
            scores[p, j] += step * K[k, j]
    else:
        for part in range(2):
            for j in range(spans[p, part, 0], spans[p, part, 1]):
                scores[p, j] += step * K[k, j]
    at = updates.size[0]
    updates.row[at] = i
    updates.problem[at] = p
    updates.step[at] = step
    updates.trial[at] = progress.trials[p]
    updates.size[0] += 1


@compiled()
def margins(block, problems, progress, start, out):
    """Write by how much the row of each trial from `start` on exceeds its margin, over the active problems, into out.

    A row that may not be updated any more exceeds it by any amount. out (trials,).
    """
    label, scores, active, first = block.label, block.scores, problems.active, problems.first
    for t in range(start, block.order.size):
        i = block.order[t]
        c, row = label[i], block.row[i]
        least = np.inf
        if problems.joint:
            if _is_free(0, row, problems, progress):
                least = scores[c, i] - scores[_best_wrong(c, i, scores), i]
        else:
            for a in range(first[c], first[c + 1]):
                p = active[a]
                if _is_free(p, row, problems, progress):
                    least = min(least, problems.sign[c, p] * scores[p, i])
        out[t] = least - problems.margin


@compiled()
def add_votes(K, slot, step, survived, first, out):
    """Add the votes of every f that training went through, each weighted by the trials that it survived.

    K (slots, n); slot, step and survived in the order of the updates, those of problem p from first[p] to
    first[p + 1]; out (problems, n).
    """
    n = K.shape[1]
    score = np.empty(n)
    for p in range(first.size - 1):
        score[:] = 0.0
        for k in range(first[p], first[p + 1]):
            s, factor, votes = slot[k], step[k], survived[k]
            for j in range(n):
                score[j] += factor * K[s, j]
                out[p, j] += votes if score[j] > 0.0 else -votes


# ------------------------------------------------------------------------------------------------------ on a budget


@compiled()
def run_evicting_block(shrinks, seed, block, columns, problems, vectors, progress):
    """Present a block on a budget: when the budget is full, a mistaken row replaces one of the vectors.

    Without `shrinks`, the replaced vector is drawn at random (Cavallanti, Cesa-Bianchi and Gentile 2007). With it, it
    is the oldest, after all coefficients were multiplied by the largest factor that keeps the damage done by removals
    below 15/32 of the mistakes: the self-tuned Forgetron, Dekel, Shalev-Shwartz and Singer (2008).

    block.K (n, n) among the rows; columns (budget, n) of the vectors with the rows.
    """
    K, scores = block.K, block.scores
    coef, gram, born, count = vectors.coef, vectors.gram, vectors.born, vectors.count
    n, budget = scores.shape[1], coef.shape[1]
    step = np.empty(coef.shape[0])
    for i in block.order:
        if not _find_mistakes(i, block, problems, progress, step):
            continue
        for p in range(step.size):
            vectors.errors[p] += step[p] != 0.0
        if count[0] < budget:
            s = count[0]
            count[0] += 1
        else:
            s = born.argmin() if shrinks else _draw(seed, count[1], budget)
            for p in range(step.size):
                if coef[p, s] == 0.0:
                    continue
                if shrinks:
                    factor = _shrink(p, s, i, step[p], columns, vectors)
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
        _enter(i, s, step, block, columns, vectors)
        born[s] = count[1]
        count[1] += 1


@compiled()
def run_projecting_block(residual, block, columns, problems, vectors, progress):
    """Present a block on a budget: a mistaken row close to the span of the vectors is projected onto it.

    A mistaken row becomes a vector if its distance from the span is above `residual` times its length, and there is
    room; otherwise its projection is added: the Projectron, Orabona, Keshet and Caputo (2009), Algorithm 1.

    vectors.gram is the inverse of the similarities among the vectors; the rest as in `run_evicting_block`.
    """
    K, scores = block.K, block.scores
    coef, inverse, count = vectors.coef, vectors.gram, vectors.count
    n, budget = scores.shape[1], coef.shape[1]
    step, share = np.empty(coef.shape[0]), np.empty(budget)
    for i in block.order:
        if not _find_mistakes(i, block, problems, progress, step):
            continue
        m = count[0]
        left = K[i, i] + 0.0  # squared distance from the span, in float64
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
            _enter(i, m, step, block, columns, vectors)
            count[0] += 1
            count[1] += 1
            continue
        for r in range(m):
            for p in range(step.size):
                if step[p] != 0.0 and share[r] != 0.0:
                    coef[p, r] += step[p] * share[r]
                    for j in range(i + 1, n):
                        scores[p, j] += step[p] * share[r] * columns[r, j]


@compiled()
def _find_mistakes(i, block, problems, progress, step):
    """Write the signed step of each problem on row i, zero without a mistake; return whether there is any mistake."""
    scores, sign, cost = block.scores, problems.sign, problems.cost
    trials, mistakes, loss = progress.trials, progress.mistakes, progress.loss
    c, weight = block.label[i], block.sample_weight[i]
    found = False
    step[:] = 0.0
    if problems.joint:
        wrong = _best_wrong(c, i, scores)
        margin = scores[c, i] - scores[wrong, i]
        if not margin > 0.0 and weight * problems.class_cost[c] != 0.0:
            step[c] = weight * problems.class_cost[c]
            step[wrong] = -step[c]
            mistakes[0] += 1.0
            progress.updates[0] += 1.0
            loss[0] -= margin
            found = True
        for p in range(trials.size):
            trials[p] += 1
        return found
    for a in range(problems.first[c], problems.first[c + 1]):
        p = problems.active[a]
        margin = sign[c, p] * scores[p, i]
        if not margin > 0.0 and weight * cost[c, p] != 0.0:
            step[p] = sign[c, p] * weight * cost[c, p]
            mistakes[p] += 1.0
            progress.updates[p] += 1.0
            loss[p] -= margin
            found = True
        trials[p] += 1
    return found


@compiled()
def _enter(i, s, step, block, columns, vectors):
    """Put row i into slot s with its steps as coefficients, and add its effect to the following scores."""
    K, scores, coef = block.K, block.scores, vectors.coef
    n = scores.shape[1]
    for j in range(n):
        columns[s, j] = K[i, j]
    for p in range(step.size):
        coef[p, s] = step[p]
        if step[p] != 0.0:
            for j in range(i + 1, n):
                scores[p, j] += step[p] * K[i, j]
    vectors.member[s] = block.row[i]


@compiled()
def _shrink(p, s, i, step, columns, vectors):
    """Return the factor by which to shrink problem p before vector s is removed, and add the damage.

    Removing lambda k(x_s, .) after shrinking by phi does the damage lambda^2 k(x_s, x_s) + 2 lambda - 2 lambda mu,
    with lambda = phi |coef| and mu = phi y_s f(x_s), where f already contains the new row.
    """
    coef, gram, damage = vectors.coef, vectors.gram, vectors.damage
    score = step * columns[s, i]
    for r in range(coef.shape[1]):
        score += coef[p, r] * gram[r, s]
    a = coef[p, s] * coef[p, s] * gram[s, s] - 2.0 * coef[p, s] * score
    b = 2.0 * abs(coef[p, s])
    c = damage[p] - 15.0 / 32.0 * vectors.errors[p]
    factor = 1.0
    if a + b + c > 0.0:
        factor = -c / b if a == 0.0 else (-b + np.sqrt(max(b * b - 4.0 * a * c, 0.0))) / (2.0 * a)
        factor = min(max(factor, 0.0), 1.0)
    damage[p] += factor * (a * factor + b)
    return factor


@compiled()
def _draw(seed, count, size):
    """Return a number below `size`, the same for the same seed and count: splitmix64."""
    z = np.uint64(seed) + np.uint64(count + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64(z % np.uint64(size))


if DISABLE_JIT:  # the products are meant modulo 2^64, and numpy warns of each
    _draw = np.errstate(over="ignore")(_draw)
