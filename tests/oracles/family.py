"""The second oracle: the family of the perceptron, each algorithm in one plain loop, slow and readable.

Every algorithm is a function

    algorithm(rows, labels, orders, *, its parameters) -> Run

rows    a matrix, used as given: whoever wants a bias pads the rows with a one, which then counts in their norms
labels  a sign -1 or +1 for each row; class numbers 0..k-1 for `multiclass`, numbers for `lms`
orders  for each epoch the row numbers in the order of presentation; a stream is one epoch

and counts in a Run

w         the final weights: those that predict
mistakes  for each epoch, the trials with y f(x) <= 0 before the update: ties are mistakes
updates   for each epoch, the trials that changed the weights
losses    for each trial, the loss before the update: hinge, max(0, 1 - y f(x)), where the docstring names no other
rows      for each update, the number of its row
trials    for each update, the number of its trial, from 0 through all epochs
more      what else the algorithm keeps, by name

Weights start at zero unless the docstring says otherwise. A row of norm zero changes nothing where a step divides by
its norm.
"""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Run:
    """What an algorithm ends with and what it counted; see the top of the file."""

    w: np.ndarray | None = None
    mistakes: list = field(default_factory=list)
    updates: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    margins: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    trials: list = field(default_factory=list)
    more: dict = field(default_factory=dict)

    def run_epoch(self, rows, labels, orders):
        """Yield number, row and label of every trial."""
        for order in orders:
            self.mistakes.append(0)
            self.updates.append(0)
            for i in order:
                yield i, np.asarray(rows[i], float), labels[i]

    def see(self, margin, loss=None):
        """Count a trial by its margin y f(x); returns its loss."""
        self.mistakes[-1] += bool(margin <= 0)
        self.margins.append(float(margin))
        self.losses.append(max(0.0, 1.0 - margin) if loss is None else loss)
        return self.losses[-1]

    def update(self, i):
        """Count an update by row i in the trial last seen."""
        self.updates[-1] += 1
        self.rows.append(int(i))
        self.trials.append(len(self.losses) - 1)

    def end(self, w, **more):
        self.w, self.more = w, more
        return self


def zeros(rows):
    return np.zeros(len(rows[0]))


# Additive updates -----------------------------------------------------------------------------------------------------


def perceptron(rows, labels, orders):
    """Update by y x on y f(x) <= 0."""
    w, run = zeros(rows), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * (w @ x)
        run.see(margin)
        if margin <= 0:
            w = w + y * x
            run.update(i)
    return run.end(w)


def margin_perceptron(rows, labels, orders, *, tau_pos=1.0, tau_neg=1.0):
    """Update by y x on y f(x) <= tau of the class: the perceptron with uneven margins (Li et al. 2002)."""
    w, run = zeros(rows), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * (w @ x)
        run.see(margin)
        if margin <= (tau_pos if y > 0 else tau_neg):
            w = w + y * x
            run.update(i)
    return run.end(w)


def passive_aggressive(rows, labels, orders, *, C=math.inf, variant="PA", weights=None):
    """PA, PA-I and PA-II (Crammer et al. 2006): the least change that reaches margin one, capped or softened by C.

    The weight of a row is a factor of its step; of PA and PA-II, whose steps have no bound, a mistake goes only as far
    as to a margin of that weight.
    """
    w, run = zeros(rows), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        loss = run.see(y * (w @ x))
        if loss > 0 and x @ x > 0:
            weight = 1.0 if weights is None else weights[i]
            # With a margin of zero or more the factor is the weight; else the margin becomes the weight, if above one.
            wanted = weight * loss if loss <= 1 or weight <= 1 else weight - y * (w @ x)
            if variant == "PA":
                step = wanted / (x @ x)
            elif variant == "PA-I":
                step = weight * min(C, loss / (x @ x))
            else:
                step = wanted / (x @ x + 1 / (2 * C))
            w = w + step * y * x
            run.update(i)
    return run.end(w)


def relaxation(rows, labels, orders, *, b=1.0, rho=1.0):
    """Single-sample relaxation with margin b: on y f(x) < b go the part rho of the way to y f(x) = b."""
    w, run = zeros(rows), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * (w @ x)
        run.see(margin)
        if margin < b and x @ x > 0:
            w = w + rho * (b - margin) / (x @ x) * y * x
            run.update(i)
    return run.end(w)


def lms(rows, labels, orders, *, eta=0.01, normalised=False):
    """LMS (Adaline): after every trial w += eta (y - f(x)) x, normalised by x.x if asked. Losses (y - f(x))^2."""
    w, run = zeros(rows), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        error = y - w @ x
        run.see(y * (w @ x), error**2)
        if error != 0 and x @ x > 0:
            w = w + eta * error * x / (x @ x if normalised else 1.0)
            run.update(i)
    return run.end(w)


def pegasos(rows, labels, orders, *, lam=0.1, project=True):
    """Pegasos (Shalev-Shwartz et al. 2011): subgradient of lam/2 norm(w)^2 + hinge with rate 1/(lam t), t from 1."""
    w, run = zeros(rows), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        loss = run.see(y * (w @ x))
        eta = 1 / (lam * len(run.losses))
        w = (1 - eta * lam) * w
        if loss > 0:
            w = w + eta * y * x
            run.update(i)
        if project and w @ w > 1 / lam:
            w = w / math.sqrt(lam * (w @ w))
    return run.end(w)


# What is made of the weights of a perceptron --------------------------------------------------------------------------


def averaged(rows, labels, orders):
    """Averaged perceptron: the average of the weights after each trial. `more`: total, last."""
    w, total, run = zeros(rows), zeros(rows), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * (w @ x)
        run.see(margin)
        if margin <= 0:
            w = w + y * x
            run.update(i)
        total = total + w
    return run.end(total / max(1, len(run.losses)), total=total, last=w)


def voted(rows, labels, orders):
    """Voted perceptron (Freund and Schapire 1999). `more`: vectors, a list of [weights, survival time]; see `vote`.

    The survival time counts the trials after which the vector was current, so the zero vector has none.
    """
    vectors, run = [[zeros(rows), 0]], Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        w = vectors[-1][0]
        margin = y * (w @ x)
        run.see(margin)
        if margin <= 0:
            vectors.append([w + y * x, 1])
            run.update(i)
        else:
            vectors[-1][1] += 1
    return run.end(vectors[-1][0], vectors=vectors)


def vote(vectors, x):
    """Sign of the sum of survival time times sign(w.x); zero counts as negative, in each vote and in the sum."""
    return 1 if sum(c if w @ x > 0 else -c for w, c in vectors) > 0 else -1


def pocket(rows, labels, orders):
    """Pocket with ratchet (Gallant 1990): keep the weights with the longest run of correct trials and fewer errors.

    `w` are the weights in the pocket. `more`: errors, those of the pocket on all rows after each trial; last, the
    weights of the perceptron that runs beside.
    """
    w, run = zeros(rows), Run()
    kept, kept_run, kept_errors = w, 0, len(rows)
    streak, history = 0, []
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * (w @ x)
        run.see(margin)
        if margin <= 0:
            w, streak = w + y * x, 0
            run.update(i)
        else:
            streak += 1
            if streak > kept_run:
                errors = sum(sign * (w @ row) <= 0 for row, sign in zip(rows, labels, strict=True))
                if errors < kept_errors:
                    kept, kept_run, kept_errors = w, streak, errors
        history.append(kept_errors)
    return run.end(kept, errors=history, last=w)


def parameter_mixing(rows, labels, orders, *, shares=2):
    """Iterative parameter mixing (McDonald et al. 2010): perceptrons on equal parts of the order, averaged every epoch.

    `more`: weighted, the sum of mistakes of a part times its share.
    """
    w, run = zeros(rows), Run()
    for order in orders:
        mistakes, parts = [], []
        for part in np.array_split(np.asarray(order), shares):
            shard = Run()
            v = w
            for i, x, y in shard.run_epoch(rows, labels, [part]):
                margin = y * (v @ x)
                shard.see(margin)
                if margin <= 0:
                    v = v + y * x
                    shard.update(i)
            mistakes.append(sum(shard.mistakes))
            parts.append(v)
            run.trials += [len(run.losses) + trial for trial in shard.trials]
            run.losses += shard.losses
            run.rows += shard.rows
        w = sum(parts) / shares
        run.mistakes.append(sum(mistakes))
        run.updates.append(sum(mistakes))
    return run.end(w, weighted=sum(run.mistakes) / shares)


# Towards the maximum margin -------------------------------------------------------------------------------------------


def romma(rows, labels, orders, *, aggressive=False):
    """ROMMA (Li and Long 2002): least w with y w.x >= 1 and w.w_t >= w_t.w_t, on y f(x) <= 0, or < 1 if aggressive.

    Where no w meets both, which separable rows never cause, nothing changes.
    """
    w, run = zeros(rows), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * (w @ x)
        run.see(margin)
        if margin < 1 if aggressive else margin <= 0:
            xx, ww = x @ x, w @ w
            if xx > 0 and ww * xx <= margin:  # y w.x = 1 alone gives the least w; so it is from zero weights
                w = y * x / xx
                run.update(i)
            elif xx * ww - margin**2 > 1e-12 * xx * ww:
                c = (xx * ww - margin) / (xx * ww - margin**2)
                d = ww * (1 - margin) / (xx * ww - margin**2)
                w = c * w + d * y * x
                run.update(i)
    return run.end(w)


def alma2(rows, labels, orders, *, alpha=0.5):
    """ALMA with p = 2, B = sqrt(8) / alpha, C = sqrt(2) (Gentile 2001), on rows of norm one: it normalises them."""
    w, run, k = zeros(rows), Run(), 1
    for i, x, y in run.run_epoch(rows, labels, orders):
        x = x / (math.sqrt(x @ x) or 1.0)
        margin = y * (w @ x)
        run.see(margin)
        if x @ x > 0 and margin <= (1 - alpha) * math.sqrt(8) / alpha / math.sqrt(k):
            w = w + math.sqrt(2) / math.sqrt(k) * y * x
            w = w / max(1.0, math.sqrt(w @ w))
            k += 1
            run.update(i)
    return run.end(w)


# Second order ---------------------------------------------------------------------------------------------------------


def arow(rows, labels, orders, *, r=1.0):
    """AROW with a full covariance S (Crammer et al. 2009), on y f(x) < 1. `more`: covariance."""
    w, S, run = zeros(rows), np.eye(len(rows[0])), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        loss = run.see(y * (w @ x))
        if loss > 0:
            Sx = S @ x
            beta = 1 / (x @ Sx + r)
            w = w + loss * beta * y * Sx
            S = S - beta * np.outer(Sx, Sx)
            run.update(i)
    return run.end(w, covariance=S)


def arow_diagonal(rows, labels, orders, *, r=1.0):
    """AROW that keeps the diagonal of the covariance only. `more`: covariance, the diagonal."""
    w, S, run = zeros(rows), np.ones(len(rows[0])), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        loss = run.see(y * (w @ x))
        if loss > 0:
            beta = 1 / (x @ (S * x) + r)
            w = w + loss * beta * y * S * x
            S = S - beta * (S * x) ** 2
            run.update(i)
    return run.end(w, covariance=S)


# Several classes and ranks --------------------------------------------------------------------------------------------


def multiclass(rows, labels, orders, *, n_classes, spread="max"):
    """Ultraconservative perceptrons (Crammer and Singer 2003): a mistake if another class scores as high as the true.

    Then add x to the true class and take it from the best wrong one ("max"), or in equal parts from all that score at
    least as high as the true one ("uniform"). The margin is the true score minus the best other. `w` has a row a class.
    """
    W, run = np.zeros((n_classes, len(rows[0]))), Run()
    for i, x, c in run.run_epoch(rows, labels, orders):
        scores = W @ x
        wrong = [k for k in range(n_classes) if k != c]
        best = max(wrong, key=lambda k, scores=scores: scores[k])
        margin = scores[c] - scores[best]
        run.see(margin)
        if margin <= 0:
            punished = [best] if spread == "max" else [k for k in wrong if scores[k] >= scores[c]]
            W[c] += x
            for k in punished:
                W[k] -= x / len(punished)
            run.update(i)
    return run.end(W)


# Multiplicative updates and other norms -------------------------------------------------------------------------------


def winnow1(rows, labels, orders, *, alpha=2.0, theta=None):
    """Winnow1 (Littlestone 1988) on features 0 or 1: f(x) = w.x - theta, weights from one; promote or eliminate.

    theta is half the number of features if not given. A tie is a mistake here too; Littlestone predicts 0 on it.
    """
    w, run = zeros(rows) + 1, Run()
    theta = len(w) / 2 if theta is None else theta
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * (w @ x - theta)
        run.see(margin)
        if margin <= 0:
            w = np.where(x > 0, w * alpha if y > 0 else 0.0, w)
            run.update(i)
    return run.end(w)


def winnow2(rows, labels, orders, *, alpha=2.0, theta=None):
    """Winnow2: as Winnow1, but a false alarm divides the weights of the active features by alpha."""
    w, run = zeros(rows) + 1, Run()
    theta = len(w) / 2 if theta is None else theta
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * (w @ x - theta)
        run.see(margin)
        if margin <= 0:
            w = np.where(x > 0, w * alpha if y > 0 else w / alpha, w)
            run.update(i)
    return run.end(w)


def balanced_winnow(rows, labels, orders, *, alpha=2.0, theta=0.0):
    """Balanced Winnow: f(x) = (u - v).x - theta, u and v from one; on a mistake u *= alpha^(y x) and v *= alpha^(-y x).

    `more`: u, v. For features 0 or 1 this promotes one side and demotes the other.
    """
    u, v, run = zeros(rows) + 1, zeros(rows) + 1, Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * ((u - v) @ x - theta)
        run.see(margin)
        if margin <= 0:
            u = u * alpha ** (y * x)
            v = v * alpha ** (-y * x)
            run.update(i)
    return run.end(u - v, u=u, v=v)


def p_norm(rows, labels, orders, *, p=2.0):
    """p-norm perceptron (Grove et al. 2001): w is the gradient of half the squared p-norm of a sum of y x.

    `more`: total, that sum over the mistakes.
    """
    total, w, run = zeros(rows), zeros(rows), Run()
    for i, x, y in run.run_epoch(rows, labels, orders):
        margin = y * (w @ x)
        run.see(margin)
        if margin <= 0:
            total = total + y * x
            length = (abs(total) ** p).sum() ** (1 / p)
            w = np.sign(total) * abs(total) ** (p - 1) / length ** (p - 2) if length > 0 else zeros(rows)
            run.update(i)
    return run.end(w, total=total)
