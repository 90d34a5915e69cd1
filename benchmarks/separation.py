"""Units must not matter: estimates of logistic regressions whose incomes are in units, thousands or millions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import SPEED, Bench, Figure, Table, Yield, case
from rosenblatt import certify

try:
    from firthmodels import detect_separation
except ImportError:  # the table is ours alone then
    detect_separation = None

Array = npt.NDArray[Any]

OURS, PEER = "rosenblatt", "firthmodels"
SCALES = (1.0, 1e3, 1e6)
ROWS = 60


def separated(seed: int, scale: float) -> tuple[Array, Array]:
    """Return incomes and ages, and labels that the incomes separate completely: no estimate is finite."""
    X, random = _people(seed)
    place = int(random.integers(ROWS // 4, 3 * ROWS // 4))
    return X * [scale, 1.0], (np.argsort(np.argsort(X[:, 0])) >= place).astype(int)


def contradictory(seed: int, scale: float) -> tuple[Array, Array]:
    """Return such rows once with either label: every estimate is finite."""
    X = _people(seed)[0][: ROWS // 2]
    return np.vstack([X, X]) * [scale, 1.0], np.repeat([0, 1], len(X))


def _people(seed: int) -> tuple[Array, np.random.Generator]:
    """Return different incomes in thousands, to the cent of a unit, and ages."""
    random = np.random.default_rng(seed)
    incomes = random.choice(np.arange(1_200_000, 18_000_000), ROWS, replace=False) / 1e5
    return np.column_stack([incomes, random.integers(18, 80, ROWS)]), random


def ours(X: Array, y: Array) -> list[bool]:
    """Return which estimates are finite, proved."""
    return [estimate == "finite" for estimate in certify(X, y, margin=False, coefficients=True).estimates]


def theirs(X: Array, y: Array) -> list[bool]:
    """Return which estimates a linear program in floats calls finite."""
    finite: list[bool] = detect_separation(X, y).is_finite.tolist()
    return finite


@case("which estimates are finite, 300 sets of 60 x 2 in units, thousands and millions", alone=True)
def units(bench: Bench) -> Iterator[Yield]:
    """Count wrong answers, and compare times."""
    answer: dict[str, Callable[[Array, Array], list[bool]]] = {OURS: ours}
    if detect_separation is not None:
        answer[PEER] = theirs
    table = []
    for kind, finite in ((separated, False), (contradictory, True)):
        for scale in SCALES:
            sets = [kind(seed, scale) for seed in range(bench.rows(300))]
            contestants = {
                name: lambda one=one, sets=sets: [one(X, y) for X, y in sets] for name, one in answer.items()
            }
            timed = bench.best(contestants, min(2, bench.rounds))
            what = f"{kind.__name__}, income times {scale:g}"
            wrong = [sum(any(v != finite for v in found) for found in one.result) for one in timed.values()]
            table.append((what, str(len(sets)), *map(str, wrong)))
            if PEER in timed:
                yield Figure(what, SPEED, timed[OURS].seconds / len(sets), timed[PEER].seconds / len(sets), peer=PEER)
            else:
                yield f"{what}: {1e3 * timed[OURS].seconds / len(sets):.2f} ms for a set."
    yield Table(("", "sets", *(f"wrong: {name}" for name in answer)), table)
    if PEER not in answer:
        yield "firthmodels is not installed: pip install firthmodels."
