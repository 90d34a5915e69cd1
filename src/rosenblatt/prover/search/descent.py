"""Cheap passes over the rows before a search: coordinate descent on two classes, joint updates on more."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.epoch import Learner, Weights
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.joint import run_joint
from rosenblatt.engine.rows import FASTMATH, Counts, Task, U, entries, entry, shuffle
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import limits
from rosenblatt.prover.search.coordinates import AffineView

Array = npt.NDArray[Any]


def coordinate_descent(
    view: AffineView, epochs: int, deadline: Deadline, *, tied: Array | None = None, reached: float | None = None
) -> tuple[Array, Array]:
    """Run dual coordinate descent on two classes; return the weights in the view and the multipliers.

    The margin of `tied` rows must be zero, as it is on a support that rules a separator out. Stop when all other rows
    are on their side; or, if `reached` is given, when the margin is below the largest by at most this share.
    """
    signed, rows, constant = view.signed, view.signed.table.rows, float(view.signed.constant)
    u, alpha = np.zeros(view.width), np.zeros(view.n)
    square = view.lengths**2 if view.normalise else view.squares()
    sign, ties = 2.0 * signed.label - 1.0, np.zeros(signed.n, bool)
    if tied is not None:
        ties[tied] = True
    random, order = np.random.default_rng(0), np.arange(signed.n)
    for epoch in range(epochs):
        deadline.check()
        shuffled = random.permutation(order)
        wrong = descend(rows, sign, view.centre, view.inverse, constant, square, ties, shuffled, u, alpha)
        if reached is None and wrong < signed.n // 100 + 1 and view.margins(u)[~ties].min() > 0:
            break
        if reached is not None and epoch % limits.EPOCHS_PER_LOOK == limits.EPOCHS_PER_LOOK - 1:
            margins = view.margins(u)
            if gap(margins, u, alpha) < reached:
                break
            order = np.flatnonzero((alpha > 0) | (margins < limits.FAR_MARGIN))
    return u, alpha


def gap(margins: Array, u: Array, alpha: Array) -> float:
    """Return the share by which the least margin of u is below the bound that multipliers prove, both in floats."""
    length, total = float(np.linalg.norm(u)), float(alpha.sum())
    if not (length > 0 and total > 0):
        return np.inf
    return 1.0 - float(margins.min()) * total / length**2


def joint_epochs(signed: SignedRows, rule: NamedTuple, epochs: int, deadline: Deadline) -> Array:
    """Learn several classes jointly until all rows are right, or for some epochs; return the weights.

    The passive-aggressive rule needs fewer epochs where classes are far apart, the perceptron's where they are close.
    """
    classes, features, dtype = signed.classes, signed.features, signed.table.dtype
    zeros, none = np.zeros(classes), np.empty(0)
    weights = Weights(
        W=np.zeros((classes, features), dtype),
        b=np.zeros(classes, dtype),
        t=np.zeros(classes, np.int64),
        scale=np.ones(classes),
        owed=zeros,
        paid=np.zeros((classes, 0)),
        scale_sum=zeros.copy(),
        lag=np.zeros((classes, 0)),
        lag_b=zeros.copy(),
        skipped=np.zeros(classes, np.int64),
    )
    sign = (2 * np.eye(classes, dtype=np.int8) - 1).astype(np.int8)
    label, bias = signed.label.astype(np.int32), float(signed.constant)
    task = Task(label, sign, np.ones(sign.shape), np.ones(classes), none, none, bias)
    # The dtype that training uses for row numbers, so that the epoch is compiled once for both.
    order = np.arange(signed.samples, dtype=np.int32 if signed.samples <= np.iinfo(np.int32).max else np.int64)
    random = np.random.default_rng(0)
    for _ in range(epochs):
        deadline.check()
        shuffle(order, random.random(order.size))
        counts = Counts(*np.zeros((2, 1), np.int64), *np.zeros((2, 1)))
        run_joint(rule, Learner(1.0), signed.table.rows, task, order, weights, weights, counts)
        if counts.mistakes[0] == 0:
            break
    W: Array = np.column_stack([weights.W, weights.b]).astype(float)
    return np.ravel(W[1:] - W[0])


@compiled(fastmath=FASTMATH)
def descend(rows, sign, centre, inverse, constant, square, tied, order, w, alpha):
    """Pass once over the rows in `order`, solving for one multiplier at a time; return how many are on the wrong side.

    Minimises |w|^2 / 2 subject to y f(x) >= 1, or f(x) = 0 for tied rows, in the dual (Hsieh et al. 2008), over the
    rows ((x - centre) * inverse, constant) of squared lengths `square`. The centre of sparse rows must be zero.
    """
    d = w.size - 1
    wrong = 0
    for t in range(order.size):
        i = order[t]
        start, end = entries(rows, i)
        score = constant * w[d]
        for k in range(U(start), U(end)):
            column, value = entry(rows, i, k)
            j = U(column)
            score += (value - centre[j]) * inverse[j] * w[j]
        shortfall = 1.0 - sign[i] * score
        wrong += shortfall >= 1.0
        if tied[i] or shortfall > 0.0 or alpha[i] > 0.0:
            step = max(shortfall / square[i], -alpha[i])
            if tied[i]:
                step = (shortfall - 1.0) / square[i]
            if step != 0.0:
                alpha[i] += step
                step *= sign[i]
                for k in range(U(start), U(end)):
                    column, value = entry(rows, i, k)
                    j = U(column)
                    w[j] += step * (value - centre[j]) * inverse[j]
                w[d] += constant * step
    return wrong
