"""The cases about proofs: separability against linear programs, the largest margin against a support vector machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import cycle
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.svm import LinearSVC

from benchmarks.harness import COST, SPEED, Bench, Figure, Table, Yield, case
from rosenblatt import MaximumMargin, certify
from rosenblatt.datasets import separable
from rosenblatt.prover.designs import read_design

Array = npt.NDArray[Any]

OURS, SIMPLEX, INTERIOR = "rosenblatt", "HiGHS simplex", "HiGHS interior point"
MARGINS = (1e-1, 1e-2, 1e-3, 1e-4)
TINY = (1e-6, 1e-8, 1e-10, 1e-12)
LIMIT = 60.0  # seconds for a linear program


def regimes(rows: int, features: int, margins: tuple[float, ...]) -> Iterator[tuple[str, Array, Array]]:
    """Make separable sets of exact margins, and one with labels turned over."""
    for margin in margins:
        X, y, *_ = separable(rows, features, margin, tight=True, seed=0)
        yield f"margin {margin:g}", X, y
    X, y, *_ = separable(rows, features, 1e-2, tight=True, seed=0)
    for share in (0.01, 0.1):
        flipped = y.copy()
        flipped[np.random.default_rng(0).choice(rows, int(share * rows), replace=False)] *= -1
        yield f"{share:.0%} of the labels turned over", X, flipped


def program(X: Array, y: Array, method: str) -> str:
    """Ask for w with y (w.x + b) >= 1, as a linear program."""
    Z = np.column_stack([X, np.ones(len(X))]) * -y[:, None]
    given = {"bounds": (None, None), "method": method, "options": {"time_limit": LIMIT}}
    found = linprog(np.zeros(Z.shape[1]), A_ub=Z, b_ub=-np.ones(len(Z)), **given)
    return {0: "separable", 1: "out of time", 2: "not separable"}.get(found.status, f"status {found.status}")


def _race(bench: Bench, rows: int, features: int, target: float, margins: tuple[float, ...]) -> Iterator[Yield]:
    table = []
    for what, X, y in regimes(bench.rows(rows), features, margins):
        contestants: dict[str, Callable[[], Any]] = {
            OURS: lambda X=X, y=y: certify(X, y, margin=False),
            SIMPLEX: lambda X=X, y=y: program(X, y, "highs-ds"),
            INTERIOR: lambda X=X, y=y: program(X, y, "highs-ipm"),
        }
        timed = bench.best(contestants) if rows < 10_000 else _once(contestants, bench)
        verdict = timed[OURS].result.verdict
        for peer in (SIMPLEX, INTERIOR):
            ours, theirs = timed[OURS].seconds, timed[peer].seconds
            yield Figure(what, SPEED, ours, theirs, peer=peer, target=target)
        table.append((what, verdict, timed[SIMPLEX].result, timed[INTERIOR].result))
    yield Table(("verdicts", OURS, SIMPLEX, INTERIOR), table)
    yield "Ours come with a proof in exact arithmetic; where a linear program says otherwise, it is wrong."


def _once(contestants: dict[str, Callable[[], Any]], bench: Bench) -> dict[str, Any]:
    """Time what takes a minute once, and ours before and after it."""
    first = bench.best({OURS: contestants[OURS]}, 2)
    rest = {}
    for name in (SIMPLEX, INTERIOR):
        start = perf_counter()
        result = contestants[name]()
        rest[name] = type(first[OURS])(perf_counter() - start, result)
    last = bench.best({OURS: contestants[OURS]}, 2)
    return rest | {OURS: min(first[OURS], last[OURS], key=lambda one: one.seconds)}


@case("separable or not, 1,000 x 10: a proof against linear programs")
def certify_small(bench: Bench) -> Iterator[Yield]:
    """Decide small sets."""
    yield from _race(bench, 1_000, 10, target=1.0, margins=MARGINS + TINY)


@case("separable or not, 100,000 x 100: a proof against linear programs, up to 60 s each")
def certify_large(bench: Bench) -> Iterator[Yield]:
    """Decide large sets."""
    yield from _race(bench, 100_000, 100, target=30.0, margins=MARGINS)


@case("exact signs of 100,000 x 100 heights, against the product X @ w")
def exact(bench: Bench) -> Iterator[Yield]:
    """Time the exact verification of a separator of smallest margin."""
    X, y, *_ = separable(bench.rows(100_000), 100, 1e-4, tight=True, seed=0)
    w = np.array(certify(X, y, margin=False).vector)
    rows = read_design(X, y).signed
    others = cycle([w, -w])  # the heights of the latest weights are kept
    timed = bench.best({OURS: lambda: rows.signs(next(others)), "X @ w": lambda: X @ w[:-1]}, 5 * bench.rounds)
    yield Figure("exact verification", COST, timed[OURS].seconds, timed["X @ w"].seconds, peer="X @ w", target=3.0)


@case("the largest margin: 100,000 x 100 against LinearSVC(C=1e6), and breast cancer as it comes")
def widest(bench: Bench) -> Iterator[Yield]:
    """Compare time, and how much of the largest margin is reached."""
    sets = [(margin, separable(bench.rows(100_000), 100, margin, tight=True, seed=0)) for margin in MARGINS]
    known = [(f"margin {margin:g}", data, 10.0) for margin, data in sets]
    table = []
    for what, (X, y, *_), target in [*known, ("breast cancer", load_breast_cancer(return_X_y=True), None)]:
        contestants = {
            OURS: lambda X=X, y=y: MaximumMargin().fit(X, y),
            "LinearSVC": lambda X=X, y=y: LinearSVC(C=1e6).fit(X, y),
        }
        timed = bench.best(contestants, 3)
        timed |= bench.best({"LinearSVC, dual": lambda X=X, y=y: LinearSVC(C=1e6, dual=True).fit(X, y)}, 1)
        for peer in list(timed)[1:]:
            yield Figure(what, SPEED, timed[OURS].seconds, timed[peer].seconds, peer=peer, target=target)
        ceiling = float(timed[OURS].result.margin_ceiling_[0])
        for name, one in timed.items():
            heights = (2.0 * (y == one.result.classes_[1]) - 1.0) * one.result.decision_function(X)
            reached = heights.min() / np.linalg.norm(one.result.coef_)
            table.append((what, name, f"{reached:.10g}", f"{1 - reached / ceiling:.1e}"))
        gap = 1 - timed[OURS].result.margin_[0] / ceiling
        table.append((what, "certified bracket", f"up to {ceiling:.10g}", f"{gap:.1e}"))
    yield Table(("", "", "margin", "short of the largest by"), table)


def _slow_sets() -> Iterator[tuple[str, Any, Array, dict[str, Any]]]:
    """Make data whose proofs, or parts of them, take longer than anybody waits."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 400))).add_prefix("column ")
    yield "a frame of 200 x 400", frame, np.arange(200) % 2, {}
    yield "400 x 800, with coefficients", rng.standard_normal((400, 800)), np.arange(400) % 2, {"coefficients": True}
    hilbert = 1.0 / (np.arange(120)[:, None] + np.arange(60) + 1.0)
    yield "a Hilbert matrix of 120 x 60", hilbert, rng.integers(0, 2, 120), {}
    sparse = sp.random(6000, 3000, density=0.01, format="csr", random_state=0)
    yield "sparse 6,000 x 3,000", sparse, rng.integers(0, 2, 6000), {}
    fractions = rng.integers(-99, 100, (120, 80)) + np.array(
        [[Fraction(1, int(v)) for v in row] for row in rng.integers(2, 10**9, (120, 80))]
    )
    yield "fractions, 120 x 80", fractions, rng.integers(0, 2, 120), {}


@case("time limits of proofs: what is asked for, and what it takes")
def limits(bench: Bench) -> Iterator[Yield]:
    """Time proofs that end at their limit."""
    certify(np.random.default_rng(0).standard_normal((40, 5)), np.arange(40) % 2)
    table = []
    for what, X, y, options in _slow_sets():
        for limit in (2.0, 10.0):
            start = perf_counter()
            found = certify(X, y, time_limit=limit, **options)
            table.append((what, f"{limit:g}", f"{perf_counter() - start:.1f}", found.verdict, found.reason or "all"))
    yield Table(("", "limit, s", "took, s", "verdict", "not determined"), table)
