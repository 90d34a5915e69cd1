"""Blocks of rows, tasks and counts for the compiled loops of kernels, and kernels in plain Python."""

import numpy as np

from rosenblatt.kernels import loops

NO_SPANS = np.empty((0, 2, 2), np.int64)


def taught(sign, active):
    """What rows teach the active problems, without a margin and without a limit."""
    label, place = np.nonzero(sign[:, active])
    first = np.searchsorted(label, np.arange(len(sign) + 1))
    active = np.array(active, np.int64)[place]
    return loops.Problems(sign, np.ones(sign.shape), np.ones(len(sign)), active, first, False, 0.0, np.inf)


def binary():
    """Two classes, one problem."""
    return taught(np.array([[-1], [1]], np.int8), [0])


def one_vs_rest(classes, active):
    return taught((2 * np.eye(classes) - 1).astype(np.int8), list(active))


def joint(classes):
    return one_vs_rest(classes, range(classes))._replace(joint=True)


def new_progress(problems, rows=0):
    parts = 1 if problems.joint else problems.sign.shape[1]
    count = problems.sign.shape[1]
    counts = np.zeros((parts, rows), np.int32)
    return loops.Progress(np.zeros(count, np.int64), *np.zeros((3, parts)), *np.zeros((2, count)), counts)


def new_updates(capacity):
    whole = np.zeros((3, capacity), np.int64)
    return loops.UpdateBuffer(whole[0], whole[1], np.zeros(capacity), whole[2], np.zeros(1, np.int64))


def new_block(label, K, problems, scores=None):
    n = label.size
    scores = np.zeros((problems.sign.shape[1], n)) if scores is None else scores
    return loops.RowBlock(np.arange(n), label, np.ones(n), K, scores, np.arange(n), NO_SPANS)


def quadratic(x, z):
    return (1 + sum(a * b for a, b in zip(x, z, strict=True))) ** 2


def gaussian(x, z):
    return float(np.exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / 8))


def half_gaussian(x, z):
    return gaussian(x, z) / 2


def gram(kernel, X):
    return np.array([[kernel(x, z) for z in X.tolist()] for x in X.tolist()], float)
