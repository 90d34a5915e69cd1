"""Random runs of all members, and every sentence that they say of the data parsed and checked.

    PYTHONPATH=src:tests python tests/attacks/fuzz_claims.py [runs] [seed]

SENTENCES is the list of what may be said, each with the check that proves it: a pattern, and a function of the match
and of the case that yields a sentence for each falsehood. A sentence that no pattern knows is a falsehood itself. The
checks know the rows, the labels, the weights that were learned and the record, and do their sums in NumPy and SciPy;
of the package they call nothing but what they check.
"""

# ruff: noqa: E501 (sentences are not cut into lines, so that they can be found)

from __future__ import annotations

import math
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.model_selection import StratifiedShuffleSplit

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]

from commands import run as command
from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    Adaline,
    AdalineRegressor,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PNormPerceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
    certify,
    theory,
)
from rosenblatt.errors import RosenblattError

# ------------------------------------------------------------------------------------------------------------ the data


def _separable(rng, n, d, k):
    X = rng.integers(-6, 7, (n, d)).astype(float) + rng.integers(0, 8)
    return X, (X @ rng.normal(size=(d, k))).argmax(axis=1)


def _overlapping(rng, n, d, k):
    return rng.normal(size=(n, d)), rng.integers(0, k, n)


def _quasi(rng, n, d, k):
    X, y = _separable(rng, n, d, k)
    X[0], X[-1] = X.mean(axis=0).round(), X.mean(axis=0).round()
    return X, y


def _duplicates(rng, n, d, k):
    X = rng.integers(-1, 2, (n, d)).astype(float)
    y = (X.sum(axis=1).astype(int) % k).astype(int)
    if rng.random() < 0.5:
        y[rng.integers(n)] = rng.integers(k)
    return X, y


def _tiny_margin(rng, n, d, k):
    X = rng.normal(size=(n, d))
    y = rng.integers(0, k, n)
    X[:, 0] = y + rng.uniform(-0.499, 0.499, n) if k == 2 else y
    return X, y


def _blobs(rng, n, d, k):
    y = np.arange(n) % k
    return 4.0 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


DATA = {
    "separable": _separable,
    "overlapping": _overlapping,
    "quasi-separable": _quasi,
    "duplicates": _duplicates,
    "tiny margins": _tiny_margin,
    "blobs": _blobs,
}

# ----------------------------------------------------------------------------------------------------------- the models

MEMBERS = [
    (Perceptron, {}),
    (Perceptron, {"margin": 1.0}),
    (Perceptron, {"batch": True}),
    (Perceptron, {"penalty": "l2"}),
    (Perceptron, {"shuffle": False}),
    (AveragedPerceptron, {}),
    (VotedPerceptron, {}),
    (PocketPerceptron, {}),
    (PassiveAggressive, {}),
    (PassiveAggressive, {"average": True, "C": math.inf}),
    (PassiveAggressive, {"loss": "squared_hinge"}),
    (AROW, {}),
    (ALMA, {}),
    (ROMMA, {}),
    (PNormPerceptron, {}),
    (Winnow, {}),
    (Adaline, {}),
    (AdalineRegressor, {}),
    (SoftMargin, {}),
    (SoftMargin, {"loss": "logistic"}),
    (MaximumMargin, {}),
    (KernelPerceptron, {"kernel": "linear"}),
    (KernelPerceptron, {"kernel": "rbf"}),
    (KernelPerceptron, {"kernel": "poly", "degree": 2}),
    (KernelPerceptron, {"kernel": "rbf", "budget": 6}),
]
MODES = [
    "fit",
    "fit",
    "fit",
    "weights",
    "class weights",
    "early stopping",
    "warm start",
    "chunks",
    "rows",
    "fit then rows",
]


@dataclass
class Case:
    """A run: what was learned from, and what came of it."""

    model: Any
    X: np.ndarray
    y: np.ndarray
    mode: str
    used: np.ndarray  # whether each row may have been learned from
    words: str = ""
    seen: Counter = field(default_factory=Counter)

    @property
    def run(self):
        return self.model.run_

    @property
    def bias(self):
        """Square of the constant that pads each row."""
        if not getattr(self.model, "fit_intercept", True):
            return 0.0
        return float(getattr(self.model, "intercept_scaling_", 1.0)) ** 2

    def problems(self):
        """Yield for each part of the run the rows that it is about, their signs, and its name."""
        labels, mode = self.model.classes_, self.model.multiclass
        if len(labels) == 2 or mode == "joint":
            yield np.flatnonzero(self.used), np.where(self.y[self.used] == labels[-1], 1.0, -1.0)
        elif mode == "ovr":
            # The weight of a class is one of its own problem: rows of weight zero there are negative ones elsewhere.
            every = np.ones(len(self.y), bool) if self.mode == "class weights" else self.used
            for label in labels:
                rows = np.flatnonzero(every & (self.used | (self.y != label)))
                yield rows, np.where(self.y[rows] == label, 1.0, -1.0)
        else:
            for i, first in enumerate(labels):
                for second in labels[i + 1 :]:
                    rows = np.flatnonzero(self.used & np.isin(self.y, [first, second]))
                    yield rows, np.where(self.y[rows] == first, 1.0, -1.0)

    @property
    def joint(self):
        mode = getattr(self.model, "multiclass", "ovr")
        return mode == "joint" and len(np.unique(self.y)) > 2

    def wrong(self):
        """Return the fewest and the most rows learned from that the model predicts wrongly, as far as rounding goes."""
        predicted = self.model.predict(self.X[self.used])
        found = int((predicted != self.y[self.used]).sum())
        scores = np.asarray(self.model.decision_function(self.X[self.used]), float).reshape(self.used.sum(), -1)
        best = np.sort(scores, axis=1)
        gap = abs(best[:, -1]) if best.shape[1] == 1 else best[:, -1] - best[:, -2]
        close = int((gap <= 1e-9 * (1.0 + abs(scores).max(axis=1))).sum())
        return found - close, found + close


def widest(Z):
    """Return the largest margin that a unit vector can have on signed rows: how far their hull is from the origin."""
    scale = max(float(np.abs(Z).max()), 1e-300)
    A = np.vstack([Z.T / scale, np.full(len(Z), 10.0)])
    share, _ = nnls(A, np.append(np.zeros(Z.shape[1]), 10.0), maxiter=100 * len(Z))
    return scale * float(np.linalg.norm(Z.T @ share / scale) / share.sum())


def signed(case, rows, sign):
    Z = np.c_[case.X[rows], np.full(len(rows), math.sqrt(case.bias))] if case.bias else case.X[rows]
    return sign[:, None] * Z


def last_weights(case):
    """Return the weights and biases that training ended with, whatever predicts."""
    state = case.model._stream.state
    count = len(case.model.coef_)
    W, b = np.array(state.W[:count, : case.X.shape[1]], float), np.array(state.b[:count], float)
    return W * getattr(state, "scale", np.ones(len(b)))[:count, None], b


# ----------------------------------------------------------------------------------------------- sentences and checks


def ended(case, name):
    return [part for part, stop in enumerate(case.run.stops) if stop.name == name]


def on_their_sides(match, case):
    """Every row that was learned from has a positive margin under the last weights, and no epoch had an update."""
    if case.mode in ("chunks", "rows"):
        yield "a stream says so"
    if match["out"] is None and not case.used.all():
        yield "rows were left out"
    if match["totals"] and tuple(map(int, re.findall(r"\d+", match["totals"]))) != (case.run.updates, case.run.epochs):
        yield f"updates and epochs are {case.run.updates}, {case.run.epochs}"
    if len(case.run.stops) == 1 and case.run.mistakes[-1]:
        yield f"{case.run.mistakes[-1]} mistakes in the last epoch"
    everything = {stop.name for stop in case.run.stops} == {"SEPARATED"}
    if everything and match["under"] is None and not isinstance(case.model, AdalineRegressor):
        fewest, _ = case.wrong()
        if fewest > 0:
            yield f"the model errs on {fewest} rows"
    if isinstance(case.model, KernelPerceptron | MaximumMargin | AdalineRegressor) or case.joint:
        return
    if match["under"] is None and case.run.kept < case.run.epochs:
        yield "the last weights were not kept"
    if case.run.kept < case.run.epochs:
        return
    W, b = last_weights(case)
    for part, (rows, sign) in enumerate(case.problems()):
        if part in ended(case, "SEPARATED") and len(np.unique(case.y)) == len(case.model.classes_):
            terms = case.X[rows] * W[part]
            margin = sign * (terms.sum(axis=1) + b[part])
            if (margin < -1e-9 * (abs(terms).sum(axis=1) + abs(b[part]))).any():
                yield f"problem {part}: a margin of {margin.min():.3g}"


def at_rest(match, case):
    """Some row is wrong, or a tie, under the last weights of a part that ended so."""
    if len(case.run.stops) == 1 and not case.run.mistakes[-1]:
        yield "no mistakes in the last epoch"
    if case.joint or case.run.kept < case.run.epochs:
        return
    W, b = last_weights(case)
    problems = list(case.problems())
    wrong = []
    for part in ended(case, "TRAINING"):
        rows, sign = problems[part]
        terms = case.X[rows] * W[part]
        margin = sign * (terms.sum(axis=1) + b[part])
        wrong.append((margin <= 1e-9 * (abs(terms).sum(axis=1) + abs(b[part]))).any())
    if not any(wrong):
        yield "every row is on its side"


def prediction(match, case):
    """What predicts errs on as many of the rows as is said."""
    if match["wrong"] is not None:
        fewest, most = case.wrong()
        said = 0 if match["wrong"] == "none" else int(match["wrong"])
        if not fewest <= said <= most:
            yield f"it errs on {fewest} to {most}"


def last_epoch(match, case):
    """All epochs were run, and the mistakes of the last are as many as is said."""
    if int(match["epoch"] or case.run.epochs) != case.run.epochs or case.run.epochs != case.model.max_iter:
        yield f"there were {case.run.epochs} epochs of {case.model.max_iter}"
    if int(match["mistakes"]) != case.run.mistakes[-1]:
        yield f"there were {case.run.mistakes[-1]} mistakes"
    yield from falling(match["outlook"], case.run.mistakes, case.run)


def falling(outlook, figures, run):
    """Epochs are said to be of no use only where the last third is hardly below the second, or one is the best."""
    if "an earlier one had fewer errors" in outlook:
        if run.kept == run.epochs:
            yield "the last epoch was the best"
        return
    third = len(figures) // 3
    if len(figures) < 10:
        falls = len(figures) == 1 or min(figures[1:]) < figures[0]
    else:
        falls = sum(figures[-third:]) <= 0.95 * sum(figures[-2 * third : -third])
    if falls != (outlook == ": allow more epochs"):
        yield f"{figures} {'falls' if falls else 'does not fall'}"


def last_loss(match, case):
    """All epochs were run, and the mean loss of the last is what is said."""
    if case.run.epochs != case.model.max_iter:
        yield f"there were {case.run.epochs} epochs"
    if f"{case.run.losses[-1]:.3g}" != match["loss"]:
        yield f"the loss is {case.run.losses[-1]}"
    yield from falling(match["outlook"], case.run.losses, case.run)


def stale(figures, patience, tol):
    """Return whether so many figures in a row, the last ones, are not below the lowest before them by more than tol."""
    lowest, count = math.inf, 0
    for figure in figures:
        count = count + 1 if figure > lowest - tol else 0
        lowest = min(lowest, figure)
    return count >= patience


def no_progress(match, case):
    """The figure that is named did not fall in so many epochs; and the margin that is named is none that rows have."""
    run, tol = case.run, case.model.tol
    if int(match["patience"]) != case.model.n_iter_no_change:
        yield "another patience"
    if match["by"] and f"{tol:g}" != match["by"]:
        yield "another tol"
    one = len(run.stops) == 1 and case.mode != "early stopping"
    figures = run.mistakes if "misclassified" in match[0] else run.losses
    scale = case.used.sum() if "misclassified" in match[0] else 1
    in_vain = isinstance(case.model, KernelPerceptron)  # which may end for the other reason that it names
    in_vain |= "with its penalty" in match[0]  # which the record does not have
    if one and not in_vain and not stale([f / scale for f in figures], case.model.n_iter_no_change, tol):
        yield f"it did fall: {[round(f, 5) for f in figures[-8:]]}"
    yield from no_margin(match, case)


def no_margin(match, case):
    """No hyperplane has a larger margin than is said, by the distance of the hull from the origin."""
    if not match["nothing"] or isinstance(case.model, KernelPerceptron) or case.joint:
        return
    radius = math.sqrt((case.X**2).sum(axis=1).max() + case.bias)
    if abs(radius / case.run.radius - 1) > 1e-6:
        yield f"the radius is {radius}, not {case.run.radius}"
    share = float(match["share"]) if match["share"] else 1e-9
    for part, (rows, sign) in enumerate(case.problems()):
        if part in ended(case, "TRAINING") and len(np.unique(sign)) == 2:
            found = widest(signed(case, rows, sign)) / radius
            if found > share * (1 + 1e-6) + 1e-8:
                digit = 10.0 ** math.floor(math.log10(share)) / 2  # what a figure of one digit may be off
                rounded = found <= share + digit
                yield f"problem {part}: one has {found:.6g} of it{' (rounding)' if rounded else ''}"


def not_separable(match, case):
    """The hull of the signed rows holds the origin, as far as floats can tell."""
    if case.joint or isinstance(case.model, KernelPerceptron):
        return
    stop = "INSEPARABLE" if match[0].startswith("proven") else "CYCLE"
    for part, (rows, sign) in enumerate(case.problems()):
        if part in ended(case, stop) and len(np.unique(sign)) == 2:
            Z = signed(case, rows, sign)
            if widest(Z) > 1e-7 * np.abs(Z).max():
                yield f"problem {part}: a margin of {widest(Z):.3g}"


def repeats(match, case):
    """The weights come back after so many epochs."""
    said = 1 if match["every"] == "every epoch" else int(re.findall(r"\d+", match["every"])[0])
    if said != case.run.cycle:
        yield f"the cycle is {case.run.cycle}"
    if match["proved"]:
        yield from not_separable(match, case)


def validated(match, case):
    """The error on the rows held out did not fall in so many epochs."""
    errors = [error for error in case.run.errors if error is not None]
    if case.mode != "early stopping" or not stale(errors, int(match["patience"]), case.model.tol):
        yield f"it did fall: {errors[-8:]}"


def of_the_stream(match, case):
    """As many rows and mistakes as the stream has seen since its last record."""
    rows, made = int(match["rows"]), match["mistakes"]
    if rows != case.seen["rows"]:
        yield f"there were {case.seen['rows']} rows"
    if made is not None and int(made) != sum(case.run.mistakes):
        yield f"there were {case.run.mistakes} mistakes"
    if made is not None and "mistakes" in case.seen and int(made) != case.seen["mistakes"]:
        yield f"there were {case.seen['mistakes']} mistakes"


def kept(match, case):
    """The weights of the epoch with the lowest error that was measured are kept."""
    epoch, epochs = int(match["kept"]), int(match["epochs"])
    errors = {number: error for number, error in enumerate(case.run.errors, start=1) if error is not None}
    if (epoch, epochs) != (case.run.kept, case.run.epochs) or errors.get(epoch, 0.0) > min(
        errors.values(), default=0.0
    ):
        yield f"kept {case.run.kept} of {case.run.epochs}, errors {errors}"


def diverged(match, case):
    """The mean loss is far above that of zero weights."""
    if not (float(match["loss"]) > 10 * float(match["zero"]) or not math.isfinite(float(match["loss"]))):
        yield "it is not"


def widest_margin(match, case):
    """The margin of each problem is within a share of the largest that there is."""
    for part, (rows, sign) in enumerate(case.problems()):
        w, b = np.asarray(case.model.coef_[part], float), float(case.model.intercept_[part])
        reached = (sign * (case.X[rows] @ w + b)).min() / max(np.linalg.norm(w), 1e-300)
        if (
            case.model.margin_ceiling_[part] > 0
            and reached < (1 - float(match["gap"]) - 1e-6) * case.model.margin_[part]
        ):
            yield f"problem {part}: {reached} of {case.model.margin_ceiling_[part]}"
        if reached <= 0:
            yield f"problem {part}: a margin of {reached}"


def not_solved(match, case):
    """As many problems have no separator."""
    count = sum(widest(signed(case, rows, sign)) <= 1e-9 * np.abs(case.X).max() for rows, sign in case.problems())
    if int(match["count"]) > count:
        yield f"{count} have none"


def true(match, case):
    """Nothing about the data."""
    return ()


BEYOND = r"[^.;]*\bmay help"
PLANE = r"(?:hyperplane|set of hyperplanes|hyperplane of the kernel's space)(?: through the origin)?"
UNDER = r"(?P<under>under the last weights, )?"
ROWS = r"every row(?P<out> that was learned from)?"
TOTALS = r"(?P<totals> \(\d+ updates? in \d+ epochs?\))?"
OUTLOOK = rf"(?P<outlook>: allow more epochs|, and no longer fewer: more epochs will hardly help; {BEYOND}"
OUTLOOK += r"|, and it no longer falls: more epochs will hardly help"
OUTLOOK += r"|, and an earlier one had fewer errors: more epochs will hardly help)"
NUMBER = r"(?:-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)"
PATIENCE = r"(?P<patience>\d+) epochs? in a row"
BY = rf"(?: by (?P<by>{NUMBER}))?"
PROOF = rf"(?P<nothing>, and no {PLANE} separates the rows(?: with a margin above (?P<share>{NUMBER}) of their radius"
PROOF += r"|, as computed))?"
EVERY = r"(?P<every>every epoch|every \d+ epochs)"

SENTENCES = {
    rf"{UNDER}{ROWS} is on its side: (?:an epoch passed without an update|no row was left to correct){TOTALS}": on_their_sides,
    rf"{UNDER}{ROWS} has the required margin: an epoch passed without an update{TOTALS}": on_their_sides,
    rf"{UNDER}{ROWS} has no loss: an epoch passed without an update{TOTALS}": true,
    rf"the last allowed epoch was over, with mistakes still being made \((?P<mistakes>\d+) in epoch (?P<epoch>\d+)\){OUTLOOK}": last_epoch,
    rf"the last allowed epoch was over, with (?P<mistakes>\d+) (?P<epoch>)rows? still misclassified{OUTLOOK}": last_epoch,
    rf"the last allowed epoch was over, with a mean loss of (?P<loss>{NUMBER}) in it{OUTLOOK}": last_loss,
    rf"the training error stopped changing: {PATIENCE} did not lower the (?:mean loss|share of misclassified rows){BY}{PROOF}": no_progress,
    rf"no progress in {PATIENCE}: the mean loss did not fall{BY}, or the mistakes are so many that a separator would promise nothing of new rows{PROOF}; if the rows are noisy, margin=4 and max_updates=8 may help": no_progress,
    r"an epoch passed without an update, but not without mistakes: they are of rows that the rule does not move the weights for, and more epochs would change nothing": at_rest,
    r"no update was left to make: every row has its margin, or has been updated as often as a row may be": true,
    rf"the mean loss(?P<penalty> with its penalty)? stopped falling: {PATIENCE} did not lower it{BY}(?P<nothing>)(?P<share>)": no_progress,
    rf"the validation error stopped decreasing: {PATIENCE} did not lower it{BY}": validated,
    rf"the mean loss grew far above that of zero weights \((?P<loss>{NUMBER}) in epoch \d+, against (?P<zero>{NUMBER})\): [^.;]*(?:2/\|x\|\^2[^.;]*)?": diverged,
    rf"proven not separable: no hyperplane has every row on its side, as \d+ of the rows prove \(after \d+ epochs?\); {BEYOND}": not_separable,
    rf"(?P<proved>no {PLANE} separates the rows): the weights came back to where they had been, so that the updates in between add up to zero and the run repeats itself, {EVERY}; {BEYOND}": repeats,
    rf"(?P<proved>)the weights came back to where they had been, and the run repeats itself, {EVERY}: as computed, no {PLANE} separates the rows, and certify decides it without rounding; {BEYOND}": repeats,
    r"(?:the chunk of the stream was over|rows came one by one) \(rows: (?P<rows>\d+)(?:, mistakes: (?P<mistakes>\d+))?(?:, mean loss: [^)]*)?\): the stream can continue": of_the_stream,
    rf"the margin is the largest possible, up to a relative error of (?P<gap>{NUMBER})": widest_margin,
    r"(?P<count>\d+) of \d+ problems cannot be separated: there is no largest margin, and the weights are those of SoftMargin\(\)\. Use SoftMargin instead": not_solved,
    r"\d+ of \d+ problems can be separated, but not by weights in floats: the margin is too small next to the values\. The weights that separate are in exact_weights_\. Consider centring the data": true,
    r"the weights of epoch (?P<kept>\d+) are kept, the best of (?P<epochs>\d+)": kept,
    r"the (?:average|vote|pocket|kept weights|sum of the scores of all pairs), by which the model predicts, (?:errs on (?P<wrong>\d+|none)|may err on some) of them": prediction,
}
PARTS = r"(?:all \d+ \w+: |\d+ of \d+ \w+(?: \(.*?\))?: )?"
PATTERNS = [(re.compile(PARTS + pattern), check) for pattern, check in SENTENCES.items()]


def falsehoods(case):
    """Yield what is not so of what a run says of itself."""
    text = case.words
    while text:
        for pattern, check in PATTERNS:
            match = pattern.match(text)
            if match and re.match(r"; |\. |\.$", text[match.end() :]):
                yield from (f"{match[0]!r}: {wrong}" for wrong in check(match, case))
                text = text[match.end() :][1:].lstrip()
                break
        else:
            yield f"unknown sentence: {text!r}"
            return


# ---------------------------------------------------------------------------------------------------------- what is run


def build(rng, kind, options, classes):
    """Return a member with some of its parameters drawn."""
    options = dict(options)
    declared = kind.declared
    draws = {
        "multiclass": ["ovr", "ovo", "ovo-vote", "joint"],
        "fit_intercept": [True, True, False],
        "tol": [1e-3, 1e-3, 0.02, None],
        "shuffle": [True, False, "random"],
        "keep": [None, "last", "best"],
        "eta0": [1.0, 0.1],
    }
    for name, values in draws.items():
        if name in declared and name not in options and rng.random() < 0.4:
            value = values[rng.integers(len(values))]
            if name == "multiclass" and (classes == 2 or value not in getattr(kind(), "modes", draws["multiclass"])):
                continue
            if name == "eta0" and kind in (Adaline, AdalineRegressor):
                continue
            options[name] = value
    if "max_iter" in declared:
        options["max_iter"] = int(rng.choice([1, 3, 12, 60]))
    if "random_state" in declared:
        options["random_state"] = int(rng.integers(1000))
    if kind is KernelPerceptron and "budget" not in options:
        options["aggregate"] = ["last", "average", "vote"][rng.integers(3)]
    if kind is MaximumMargin:
        options.pop("tol", None)
    return kind(**options)


def learn(rng, model, X, y, mode):
    """Fit a member in some way; return the case."""
    case = Case(model, X, y, mode, np.ones(len(y), bool))
    rows = sp.csr_array(X) if rng.random() < 0.25 and not isinstance(model, KernelPerceptron) else X
    if mode == "weights":
        weight = rng.choice([0.0, 0.5, 1.0, 3.0], len(y))
        case.used = weight > 0
        model.fit(rows, y, sample_weight=weight)
    elif mode == "class weights":
        costs = {label: float(rng.choice([0.0, 0.5, 2.0])) for label in np.unique(y).tolist()}
        model.set_params(class_weight=costs)
        case.used = np.array([costs[label] > 0 for label in y.tolist()])
        model.fit(rows, y)
    elif mode == "early stopping":
        model.set_params(early_stopping=True, validation_fraction=0.25)
        model.fit(rows, y)
        splitter = StratifiedShuffleSplit(1, test_size=0.25, random_state=model.random_state)
        case.used = np.isin(np.arange(len(y)), next(splitter.split(X, y))[0])
    elif mode == "warm start":
        model.set_params(warm_start=True)
        model.fit(rows, y)
        model.fit(rows, y)
    elif mode == "chunks":
        cut = int(rng.integers(1, len(y)))
        for part in (slice(0, cut), slice(cut, None)):
            before = getattr(model, "mistakes_", 0) if hasattr(model, "run_") else 0
            model.partial_fit(X[part], y[part])
            case.seen["rows"], made = len(y[part]), getattr(model, "mistakes_", 0) - before
            if not isinstance(model, AdalineRegressor):
                case.seen["mistakes"] = made
            if rng.random() < 0.5:
                assert model.stop_reason_
    elif mode == "rows":
        made = 0
        for x, label in zip(X, y.tolist(), strict=True):
            made += model.learn_one(x, label)
            case.seen["rows"] += 1
            if rng.random() < 0.1:
                assert model.stop_reason_
        if isinstance(model, KernelPerceptron | VotedPerceptron):
            case.seen["rows"] = 1 if isinstance(model, KernelPerceptron) else case.seen["rows"]
    elif mode == "fit then rows":
        model.fit(rows, y)
        assert model.stop_reason_
        for x, label in zip(X[:3], y[:3].tolist(), strict=True):
            model.learn_one(x, label)
        case.seen["rows"] = 1 if isinstance(model, KernelPerceptron) else 3
    else:
        model.fit(rows, y)
    case.words = model.stop_reason_
    return case


VERDICT = r"((?:quasi-)?complete separation|overlap|undecided)(?: \((?:not )?linearly separable[^)]*\))?"


def said_of_theory(rng, X, y):
    """Yield what is not so of a comparison with the theorems."""
    found = theory(X, y, Perceptron(shuffle=bool(rng.integers(2)), max_iter=30, random_state=int(rng.integers(99))))
    text = str(found)
    Z = np.where(y == np.unique(y)[-1], 1.0, -1.0)[:, None] * np.c_[X, np.ones(len(X))]
    margin, radius = widest(Z), math.sqrt((Z**2).sum(axis=1).max())
    lines = text.splitlines()
    verdict = re.fullmatch(rf"(\d+) samples?, (\d+) features?: {VERDICT}\.", lines[0])
    if not verdict or (int(verdict[1]), int(verdict[2])) != X.shape:
        yield f"unknown or wrong: {lines[0]!r}"
    elif (
        verdict[3] != "undecided"
        and (verdict[3] == "complete separation") != (margin > 1e-9 * radius)
        and margin > 1e-9 * radius
    ):
        yield f"{lines[0]!r}, but the margin is {margin}"
    made = re.fullmatch(r"The perceptron made (\d+) mistakes? in (\d+) epochs?\.", lines[1])
    if not made or int(made[1]) != sum(found.run.mistakes):
        yield f"unknown or wrong: {lines[1]!r}"
    known = (
        r"At most (?P<bound>\d+) (?:was|were) possible: it used [\d.e+-]+ % of the bound\.",
        r"  R = \S+, the longest row; gamma = \S+, the margin(?: \(at most \S+\))?",
        r"The proof, after the last mistake:",
        r"  <w, w\*> = \S+, at least \S+: each mistake adds gamma or more",
        r"  \|w\|\^2 = (?P<square>\S+), at most (?P<cap>\S+): each mistake adds R\^2 or less",
        r"Its mistakes alone prove that no margin exceeds (?P<ceiling>\S+)\.",
    )
    for line in lines[2:]:
        match = next((m for m in (re.fullmatch(pattern, line) for pattern in known) if m), None)
        if match is None:
            yield f"unknown sentence: {line!r}"
            continue
        said = match.groupdict()
        if "bound" in said and not int(made[1]) <= int(said["bound"]):
            yield f"{line!r}, but there were {made[1]}"
        if "bound" in said and int(said["bound"]) < math.floor((radius / margin) ** 2 * (1 - 1e-6)):
            yield f"{line!r}, but (R / margin)^2 is {(radius / margin) ** 2}"
        if "ceiling" in said and float(said["ceiling"]) < margin * (1 - 1e-9) - 1e-12 * radius:
            rounded = float(said["ceiling"]) > margin * (1 - 1e-5)
            yield f"{line!r}, but the margin is {margin}{' (rounding)' * rounded}"
        if "cap" in said and float(said["square"]) > float(said["cap"]) * (1 + 1e-5):
            yield f"{line!r}"


def said_of_guarantees(case):
    """Yield what is not so of the promises of a first pass: the pass, and the two formulas."""
    run = case.run
    for one in run.guarantees(0.1):
        rows, mistakes = run.single_pass
        if len(run.stops) > 1 or not rows > 0 or case.mode in ("warm start", "fit then rows"):
            yield f"a promise of {case.mode}"
        bound = mistakes / rows + math.sqrt(2 * math.log(10) / rows)
        if not math.isclose(one.risk, bound * (2 if "vote" in one.hypothesis else 1)):
            yield f"{one.hypothesis}: {one.risk}, not {bound}"
        if case.mode == "rows" and rows != len(case.y):
            yield f"{rows} rows of {len(case.y)}"
        if case.mode in ("fit", "weights") and (rows, mistakes) != (int(case.used.sum()), run.mistakes[0]):
            yield f"the first pass is not {rows} rows and {mistakes} mistakes"


def said_by_certify(X, y):
    """Yield what is not so of a verdict."""
    found = certify(X, y)
    Z = np.where(y == np.unique(y)[-1], 1.0, -1.0)[:, None] * np.c_[X, np.ones(len(X))]
    margin = widest(Z) / np.abs(Z).max()
    first = str(found).splitlines()[0]
    match = re.fullmatch(rf"(\d+) samples?, (\d+) features?: {VERDICT}\.?.*", first)
    if not match or (int(match[1]), int(match[2])) != X.shape:
        yield f"unknown or wrong: {first!r}"
    elif match[3] != "complete separation" and margin > 1e-7:
        yield f"{first!r}, but the margin is {margin}"
    for line in str(found).splitlines():
        if within := re.search(r"All rows \(x, 1\) are within (\S+) of the origin", line):
            radius = math.sqrt((np.c_[X, np.ones(len(X))] ** 2).sum(axis=1).max())
            if float(within[1]) < radius * (1 - 1e-12):
                yield f"{line!r}, but R is {radius}" + " (rounding)" * (float(within[1]) > radius * (1 - 1e-5))


LINES = (
    r"epoch \d+: \d+ mistakes?, loss \S+(?:, .*)?",
    r"labels: .*",
    r"The model is in .* \(\d+ rows in \S+ s\)\.",
    r"rosenblatt: compiling loops .*",
    r"\s*",
)


def said_by_the_command(rng, X, y, folder):
    """Yield what is not so of what `train` and `evaluate` print: a file is learned from, in chunks."""
    path, model = folder / "rows.csv", folder / "model"
    names = np.array(["a", "b", "c", "d"])[y]
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "label"])
    path.write_text(
        "\n".join([header, *(",".join([*map(repr, x), name]) for x, name in zip(X.tolist(), names, strict=True))])
        + "\n"
    )
    algorithm = ["perceptron", "averaged", "passive-aggressive", "soft-margin"][rng.integers(4)]
    epochs = int(rng.choice([1, 4, 30]))
    try:
        done = command("train", path, "--model", model, "--algorithm", algorithm, "--epochs", epochs)
    except AssertionError as refused:
        if "Error" in str(refused):
            return
        raise
    from rosenblatt import load_linear

    learned = load_linear(model)
    for line in (done.output + done.stderr).splitlines():
        if stop := re.fullmatch(r"It stopped because (.*)", line):
            predicted = learned.predict(X)
            wrong = int((predicted != names).sum())
            if "is on its side" in stop[1] and "under the last weights" not in stop[1] and stop[1].startswith("every"):
                scores = np.atleast_2d(np.asarray(learned.decision_function(X), float).T).T
                if wrong and abs(scores).min() > 1e-9:
                    yield f"{stop[1]!r}, but {wrong} rows are predicted wrongly"
            text = stop[1]
            parsed = any(re.match(PARTS + pattern, text) for pattern in SENTENCES)
            if not parsed:
                yield f"unknown sentence: {text!r}"
        elif not any(re.fullmatch(pattern, line) for pattern in LINES) and "note" not in line.lower():
            yield f"unknown line: {line!r}"
    shown = command("evaluate", model, path).output
    rate = re.search(r"accuracy[^\d]*([\d.]+)", shown)
    if rate and abs(float(rate[1]) - (learned.predict(X) == names).mean()) > 0.51 * 10.0 ** -len(
        rate[1].split(".")[-1]
    ):
        yield f"{rate[0]!r}, but it is {(learned.predict(X) == names).mean()}"


def one(seed, folder, counts):
    """Yield what is false of one run."""
    rng = np.random.default_rng(seed)
    kind, options = MEMBERS[rng.integers(len(MEMBERS))]
    data = [*DATA][rng.integers(len(DATA))]
    n, d, k = int(rng.integers(6, 41)), int(rng.integers(1, 5)), int(rng.choice([2, 2, 2, 3, 4]))
    X, y = DATA[data](rng, n, d, k)
    if kind is Winnow:
        X = abs(X)
    if len(np.unique(y)) < 2:
        counts["one class"] += 1
        y[0] = y[1] + 1
    mode = MODES[rng.integers(len(MODES))]
    needs = {"early stopping": "early_stopping", "warm start": "warm_start", "class weights": "class_weight"}
    streams = hasattr(kind(), "learn_one")
    if (mode in needs and needs[mode] not in kind.declared) or (mode in MODES[-3:] and not streams):
        mode = "fit"
    what = f"{kind.__name__} {mode} {data} seed {seed}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = build(rng, kind, options, len(np.unique(y)))
        try:
            case = learn(rng, model, X, np.unique(y, return_inverse=True)[1], mode)
        except (RosenblattError, TypeError) as refusal:
            if isinstance(refusal, TypeError) and "unexpected keyword" not in str(refusal):
                raise
            counts["refused"] += 1
            return
        counts[case.run.stop.name] += 1
        yield from (f"{what}: {wrong}" for wrong in falsehoods(case))
        if not isinstance(model, AdalineRegressor):
            yield from (f"{what}: {wrong}" for wrong in said_of_guarantees(case))
        if seed % 10 == 0 and len(np.unique(y)) == 2:
            yield from (f"{what}: theory: {wrong}" for wrong in said_of_theory(rng, X, y))
            yield from (f"{what}: certify: {wrong}" for wrong in said_by_certify(X, y))
        if seed % 40 == 0:
            yield from (f"{what}: train: {wrong}" for wrong in said_by_the_command(rng, X, case.y, folder))


def campaign(runs, seed):
    """Run so many; return what was false, and how the runs ended."""
    counts, false = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            false += one(seed * 10**9 + number, Path(folder), counts)
    return false, counts


def main():
    runs, seed = (int(value) for value in [*sys.argv[1:], *["20000", "0"][len(sys.argv) - 1 :]])
    start, counts, false = time.time(), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            for wrong in one(seed * 10**9 + number, Path(folder), counts):
                false.append(wrong)
                print("FALSE", wrong, flush=True)
            if number % 1000 == 999:
                print(f"{number + 1} runs, {len(false)} false, {time.time() - start:.0f} s", flush=True)
    rounding = sum("(rounding)" in wrong for wrong in false)
    print(
        f"{runs} runs in {time.time() - start:.0f} s: {len(false)} false, {rounding} of them by rounding; {dict(counts)}"
    )
    sys.exit(bool(false))


if __name__ == "__main__":
    main()
