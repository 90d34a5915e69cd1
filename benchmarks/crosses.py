"""Clicks of users on ads: accuracy with crosses and without, beside Vowpal Wabbit: ``python -m benchmarks crosses``."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Table, Yield, case

USERS, ADS, TOPICS = 400, 100, 8
OURS = [sys.executable, "-m", "rosenblatt.cli.main"]
VW = [sys.executable, "-m", "vowpalwabbit", "--quiet", "--loss_function", "logistic"]


def clicks(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return users, ads and clicks (-1 or 1): a user likes some topics, and an ad has one, which the rows do not tell.

    All users and ads are about equally popular, so that neither says much alone.
    """
    random = np.random.default_rng(seed)
    taste = random.choice([-1.0, 1.0], (USERS, TOPICS))
    topic = random.integers(0, TOPICS, ADS)
    user, ad = random.integers(0, USERS, n), random.integers(0, ADS, n)
    score = 2.5 * taste[user, topic[ad]] + random.normal(size=ADS)[ad]
    return user, ad, np.where(random.random(n) < 1.0 / (1.0 + np.exp(-score)), 1, -1)


def exclusive_or(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return two random categories, and whether exactly one of their numbers is odd."""
    random = np.random.default_rng(seed)
    user, ad = random.integers(0, USERS, n), random.integers(0, ADS, n)
    return user, ad, np.where((user + ad) % 2 == 1, 1, -1)


def _write(path: Path, rows: tuple[Any, Any, Any], begin: int, end: int) -> Path:
    lines = zip(*(part[begin:end].tolist() for part in rows), strict=True)
    path.write_text("".join(f"{y} |user u{user} |ad a{ad}\n" for user, ad, y in lines))
    return path


def _run(*arguments: Any) -> str:
    return subprocess.run([*map(str, arguments)], check=True, capture_output=True, text=True).stdout


def _ours(train: Path, test: Path, *options: Any) -> float:
    model = train.with_suffix(".ours")
    model.unlink(missing_ok=True)
    _run(*OURS, "train", train, "--learner", "arow", "--epochs", 1, "--overwrite", "--model", model, *options)
    return float(json.loads(_run(*OURS, "evaluate", test, "--model", model, "--json"))["accuracy"])


def _theirs(train: Path, test: Path, *options: Any) -> float:
    model, told = train.with_suffix(".theirs"), train.with_suffix(".txt")
    _run(*VW, "-d", train, "-f", model, *options)
    _run(*VW, "-t", "-i", model, "-d", test, "-p", told)
    label = [float(line.split()[0]) for line in test.read_text().splitlines()]
    score = [float(line) for line in told.read_text().split()]
    return float(np.mean(np.sign(score) == label))


@case("crosses: accuracy on clicks and on exclusive or, with user*ad and without, beside vw -q", alone=True)
def crosses(bench: Bench) -> Iterator[Yield]:
    """Compare one pass over Vowpal Wabbit's text, on the fifth of the rows that comes after it."""
    n, table = bench.rows(300_000), []
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("clicks", clicks(n)), ("exclusive or", exclusive_or(n))):
            train = _write(Path(folder) / "train.vw", rows, 0, n * 4 // 5)
            test = _write(Path(folder) / "test.vw", rows, n * 4 // 5, n)
            share = max(np.mean(rows[2] == 1), np.mean(rows[2] == -1))
            for cross, ours, theirs in (("none", (), ()), ("user*ad", ("--cross", "user*ad"), ("-q", "ua"))):
                found = share, _ours(train, test, *ours), _theirs(train, test, *theirs)
                table.append((name, cross, *(f"{value:.3f}" for value in found)))
    yield Table(("rows", "cross", "majority", "AROW", "vw --loss_function logistic"), table)
