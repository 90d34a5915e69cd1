"""Compiled loops of the dual representation: blocks of rows, votes. Nothing here checks bounds.

A block is some rows with the scores that they have before the first of them is presented. Its similarities are
columns: K[k, j] is the similarity of the object of column k with row j of the block. So the values that one update
adds to the scores of the other rows are neighbours in memory. A block may be all rows, with their whole Gram matrix.

Short names, defined in docs/explanation/notation.md: i, j row of a block, p problem, c class.
"""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.jit import compiled


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
    most, counts = problems.most, progress.counts
    for t in range(start, order.size):
        i = order[t]
        c = label[i]
        k = column[i]
        if k < 0:
            for a in range(first[c], first[c + 1]):
                p = active[a]
                if not sign[c, p] * scores[p, i] > problems.margin and _is_free(p, block.row[i], most, counts):
                    return t
        for a in range(first[c], first[c + 1]):
            p = active[a]
            margin = sign[c, p] * scores[p, i]
            step = sample_weight[i] * cost[c, p]
            if not margin > problems.margin and step != 0.0:
                mistakes[p] += not margin > 0.0
                loss[p] += problems.margin - margin
                if _is_free(p, block.row[i], most, counts):
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
    most, counts = problems.most, progress.counts
    for t in range(start, order.size):
        i = order[t]
        c = label[i]
        wrong = _best_wrong(c, i, scores)
        margin = scores[c, i] - scores[wrong, i]
        step = sample_weight[i] * class_cost[c]
        if not margin > problems.margin and step != 0.0:
            k, free = column[i], _is_free(0, block.row[i], most, counts)
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
def _is_free(part, row, most, counts):
    """Return whether a row may be updated once more.

    It takes what it needs instead of `Problems` and `Progress`: passing all their arrays costs more than a trial.
    """
    return most == np.inf or counts[part, row] < most


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
    most, counts = problems.most, progress.counts
    for t in range(start, block.order.size):
        i = block.order[t]
        c, row = label[i], block.row[i]
        least = np.inf
        if problems.joint:
            if _is_free(0, row, most, counts):
                least = scores[c, i] - scores[_best_wrong(c, i, scores), i]
        else:
            for a in range(first[c], first[c + 1]):
                p = active[a]
                margin = problems.sign[c, p] * scores[p, i]
                if margin < least and _is_free(p, row, most, counts):
                    least = margin
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
def find_steps(i, block, problems, progress, step):
    """Write the signed step of each problem on row i, zero where none is due; return whether any is due."""
    scores, sign, cost = block.scores, problems.sign, problems.cost
    trials, mistakes, loss = progress.trials, progress.mistakes, progress.loss
    c, weight = block.label[i], block.sample_weight[i]
    found = False
    step[:] = 0.0
    if problems.joint:
        wrong = _best_wrong(c, i, scores)
        margin = scores[c, i] - scores[wrong, i]
        if not margin > problems.margin and weight * problems.class_cost[c] != 0.0:
            step[c] = weight * problems.class_cost[c]
            step[wrong] = -step[c]
            mistakes[0] += not margin > 0.0
            progress.updates[0] += 1.0
            loss[0] += problems.margin - margin
            found = True
        for p in range(trials.size):
            trials[p] += 1
        return found
    for a in range(problems.first[c], problems.first[c + 1]):
        p = problems.active[a]
        margin = sign[c, p] * scores[p, i]
        if not margin > problems.margin and weight * cost[c, p] != 0.0:
            step[p] = sign[c, p] * weight * cost[c, p]
            mistakes[p] += not margin > 0.0
            progress.updates[p] += 1.0
            loss[p] += problems.margin - margin
            found = True
        trials[p] += 1
    return found
