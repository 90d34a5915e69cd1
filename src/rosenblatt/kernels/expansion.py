"""The model in the dual: an expansion in similarities with the mistaken rows, its scores and its votes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.kernels.kernels import Objects, Similarity, take
from rosenblatt.kernels.loops import add_votes
from rosenblatt.kernels.threads import Threads, pieces
from rosenblatt.storage.checks import check_array
from rosenblatt.storage.registry import expect, stored

Array = npt.NDArray[Any]

ROWS_PER_SHARE = 512  # rows that a thread computes the scores of at a time
VOTED_ROWS_PER_SHARE = 256  # the same for votes, which need the similarities of all vectors at once
VECTORS_PER_TILE = 1024  # vectors whose similarities with a share are computed together: they fit a cache


@stored("Log")
class Log(NamedTuple):
    """The updates in the order of the trials."""

    slot: Array  # (m,) which vector
    problem: Array  # (m,)
    step: Array  # (m,) signed
    trial: Array  # (m,) trials of the problem before it


@stored("Expansion")
@dataclass(frozen=True)
class Expansion:
    """The function f_p(x) = sum over s of coef[p, s] k(x_s, x), and the log of its updates."""

    vectors: Objects  # the x_s, in the order of their first mistakes
    rows: Array  # (n_vectors,) their numbers among all rows presented
    coef: Array  # (n_problems, n_vectors)
    trials: Array  # (n_problems,) trials so far
    log: Log  # all updates; empty on a budget
    label: Array = field(default_factory=lambda: np.empty(0, np.int64))  # (n_vectors,) numbers of their classes

    @classmethod
    def empty(cls, objects: Objects, problems: int) -> Expansion:
        """Return the zero function of such objects."""
        none = np.empty(0, np.int64)
        log = Log(none, none, np.empty(0), none)
        return cls(objects[:0], none, np.zeros((problems, 0)), np.zeros(problems, np.int64), log)

    def check(self, classes: int) -> None:
        """Raise a `Fault` unless the arrays fit together, for so many classes; the caller checks the vectors."""
        problems, count, log = np.size(self.trials), np.size(self.rows), self.log
        check_array("the trials", self.trials, "l", (problems,))
        check_array("the coefficients", self.coef, "d", (problems, count))
        check_array("the numbers of the support", self.rows, "l", (count,))
        check_array("the labels of the support", self.label, "l", (count,))
        expect(np.all(self.trials >= 0) and np.all(self.rows >= 0), "the expansion has trials or rows below zero")
        inside = np.all((self.label >= 0) & (self.label < classes))
        expect(inside, f"the labels of the support are not among the {classes} classes")
        expect(type(log) is Log, "the log is not a Log")
        length = (np.size(log.slot),)
        for name, limit in (("slot", count), ("problem", problems)):
            numbers = getattr(log, name)
            check_array(f"{name} of the log", numbers, "l", length)
            inside = np.all((numbers >= 0) & (numbers < limit))
            expect(inside, f"{name} of the log is beyond the {limit} of the expansion")
        check_array("step of the log", log.step, "d", length)
        check_array("trial of the log", log.trial, "l", length)
        inside = np.all((log.trial >= 0) & (log.trial < self.trials[log.problem]))
        expect(inside, "trial of the log is beyond the trials of the expansion")

    def summed(self, lag: Array | None = None) -> Array:
        """Return the coefficients of the sum of f_p over all trials. The sum is exact where the steps are.

        `lag` are the steps times the trials before them, added up for each vector; by default those of the log.
        """
        if lag is None:
            lag = np.zeros_like(self.coef)
            np.add.at(lag, (self.log.problem, self.log.slot), self.log.step * self.log.trial)
        return self.trials[:, None] * self.coef - lag

    def known(self, problems: int) -> Expansion:
        """Return the expansion of the first problems, with the vectors that they use."""
        if problems == self.trials.size:
            return self
        mine = self.log.problem < problems
        used, slot = np.unique(self.log.slot[mine], return_inverse=True)
        log = Log(slot, self.log.problem[mine], self.log.step[mine], self.log.trial[mine])
        vectors = self.vectors if used.size == self.rows.size else self.vectors[used]
        coef, trials = self.coef[:problems, used], self.trials[:problems]
        return Expansion(vectors, self.rows[used], coef, trials, log, self.label[used])

    def coefficients(self, aggregate: str, lag: Array | None = None) -> Array:
        """Return the coefficients of "last" or "average"; see `summed`."""
        if aggregate == "average":
            return self.summed(lag) / np.maximum(self.trials, 1)[:, None]
        return self.coef

    def scores(self, kernel: Similarity, rows: Objects, aggregate: str, lag: Array | None = None) -> Array:
        """Return the scores of rows, in shape (n_problems, n_rows), by "last", "average" or "vote"; see `summed`."""
        if aggregate == "vote":
            return vote(kernel, self, rows)
        if aggregate == "average":
            return expand(kernel, self.vectors, rows, self.summed(lag)) / np.maximum(self.trials, 1)[:, None]
        return expand(kernel, self.vectors, rows, self.coef)

    def grow(self, change: Array) -> Expansion:
        """Return the expansion for more problems.

        Row p of `change` (n_problems, n_old_problems) has one entry, 1 or -1, where problem p continues an old one with
        that sign, or none if it is new.
        """
        parts = []
        for p, line in enumerate(change):
            (old,) = np.nonzero(line) if line.any() else (np.array([-1]),)
            mine = self.log.problem == old[0]
            step = line[old[0]] * self.log.step[mine]
            parts.append(Log(self.log.slot[mine], np.full(mine.sum(), p), step, self.log.trial[mine]))
        log = Log(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        trials = np.abs(change).astype(np.int64) @ self.trials
        return replace(self, coef=change.astype(float) @ self.coef, trials=trials, log=log)


def check_finite(scores: Array) -> None:
    """Raise InvalidInput if scores are not finite."""
    if not np.isfinite(scores).all():
        raise InvalidInput(
            "The scores overflowed: similarities are too large. Scale the data, for example with StandardScaler, or "
            "lower gamma or degree."
        )


def expand(kernel: Similarity, vectors: Objects, rows: Objects, coef: Array) -> Array:
    """Return the sums of coef[p, s] k(x_s, x) for each row x, in shape (n_problems, n_rows)."""
    out = np.zeros((coef.shape[0], rows.shape[0]))

    def work(share: Array) -> None:
        block = take(rows, share)
        for tile in pieces(vectors.shape[0], VECTORS_PER_TILE):
            K = kernel.columns(take(vectors, tile), block)
            with np.errstate(over="ignore", invalid="ignore"):
                out[:, share[0] : share[-1] + 1] += coef[:, tile].astype(K.dtype) @ K

    with Threads(alone=kernel.user_defined) as threads:
        threads.share(work, pieces(rows.shape[0], ROWS_PER_SHARE))
    check_finite(out)
    return out


class Ballots(NamedTuple):
    """The updates, problem by problem, and how many trials each f survived that they led to."""

    slot: Array  # (m,) which vector
    step: Array  # (m,) signed
    survived: Array  # (m,) whole numbers
    first: Array  # (n_problems + 1,) the updates of problem p are first[p] to first[p + 1]


def ballots(expansion: Expansion) -> Ballots:
    """Return every f that training went through, as updates of the one before it."""
    log = expansion.log
    order = np.argsort(log.problem, kind="stable")
    slot, step, trial, problem = (part[order] for part in (log.slot, log.step, log.trial, log.problem))
    first = np.searchsorted(problem, np.arange(expansion.trials.size + 1))
    following = np.append(trial[1:], 0)
    ends = first[1:][np.diff(first) > 0] - 1
    following[ends] = expansion.trials[problem[ends]]
    return Ballots(slot, step, (following - trial).astype(np.float64), first)


def vote(kernel: Similarity, expansion: Expansion, rows: Objects) -> Array:
    """Return the votes of every f that training went through, once for each trial that it survived.

    The result (n_problems, n_rows) is the share of votes for minus the share against; the zero function abstains.
    """
    slot, step, survived, first = ballots(expansion)
    out = np.zeros((expansion.trials.size, rows.shape[0]))
    if not slot.size:
        return out

    def work(share: Array) -> None:
        block = take(rows, share)
        tiles = pieces(expansion.rows.size, VECTORS_PER_TILE)
        K = np.concatenate([kernel.columns(take(expansion.vectors, tile), block) for tile in tiles])
        votes = np.zeros((expansion.trials.size, share.size))
        add_votes(K, slot, step, survived, first, votes)
        # Sums of whole numbers are exact, and divided last a tie is a tie.
        out[:, share[0] : share[-1] + 1] = votes / np.maximum(expansion.trials, 1)[:, None]

    with Threads(alone=kernel.user_defined) as threads:
        threads.share(work, pieces(rows.shape[0], VOTED_ROWS_PER_SHARE))
    return out
