"""The first use in a new place, and limits of time: ``python -m benchmarks cold limits``."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.harness import COST, Bench, Figure, Quantity, Table, Yield, case

IMPORT = "import sklearn.linear_model, numba"
# The set-up of each child is the same, and part of what is measured.
DATA = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
random = np.random.default_rng(0)
X = random.normal(size=(200, 5))
y = (X[:, 0] + random.normal(size=200) > 0).astype(int)
OR = [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 1]
import rosenblatt
"""
FIRST_USES = {
    "Perceptron, 200 x 5 noisy rows": "rosenblatt.Perceptron().fit(X, y)",
    "Perceptron, OR": "rosenblatt.Perceptron().fit(*OR)",
    "certify, OR": "rosenblatt.certify(*OR)",
    "MaximumMargin, OR": "rosenblatt.MaximumMargin().fit(*OR)",
    "AveragedPerceptron, 200 x 5 noisy rows": "rosenblatt.AveragedPerceptron().fit(X, y)",
    "AROW, 200 x 5 noisy rows": "rosenblatt.AROW().fit(X, y)",
    "KernelPerceptron, 200 x 5 noisy rows": "rosenblatt.KernelPerceptron().fit(X, y)",
    "certify, 200 x 5 noisy rows": "rosenblatt.certify(X, y)",
}
REQUIRED = 5  # the first so many have a target
MOST_IMPORTS = 3.0
MOST_SECONDS_LATE, MOST_SECONDS_DEAF = 0.5, 1.5


def _cpu_seconds(code: str) -> float:
    """Return the processor time, of user and system, of a child with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        env = os.environ | {"NUMBA_CACHE_DIR": cache}
        subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@case("first use: processor time with an empty cache, against the import of scikit-learn and numba", alone=True)
def cold(bench: Bench) -> Iterator[Yield]:
    """Start a process for each, in turns, and take the least of some rounds."""
    rounds = min(bench.rounds, 3)
    codes = {"import": IMPORT} | {name: DATA + use for name, use in FIRST_USES.items()}
    least = dict.fromkeys(codes, float("inf"))
    for _ in range(rounds):
        for name, code in codes.items():
            least[name] = min(least[name], _cpu_seconds(code))
    for number, name in enumerate(FIRST_USES):
        target = MOST_IMPORTS if number < REQUIRED else None
        yield Figure(name, COST, least[name], least["import"], peer="import", target=target)


# ------------------------------------------------------------------------------------------------------------ limits

LATE = Quantity("seconds beyond the limit", "late", "s", False, lambda ours, theirs: ours - theirs)
BIG = """
X = random.standard_normal((5_000_000, 50), dtype=np.float32)
y = (X[:, 0] + random.standard_normal(5_000_000) > 0).astype(int)
"""
PAIRS = """
y = random.integers(0, 60, 30_000)
X = random.normal(size=(30_000, 64))
X[np.arange(30_000), y] += 2
"""
FULL = """
X = random.normal(size=(4_000, 600))
y = (X[:, 0] + random.normal(size=4_000) > 0).astype(int)
"""
KERNEL = """
X = random.normal(size=(20_000, 50))
y = (X[:, 0] + random.normal(size=20_000) > 0).astype(int)
"""
# Name: rows, model, seconds asked for.
LIMITED = {
    "Perceptron, 200 x 5": ("", "Perceptron({})", 1.0),
    "one-vs-one, 60 classes": (PAIRS, "Perceptron(multiclass='ovo', {})", 0.5),
    "AROW, full covariance": (FULL, "AROW(covariance='full', {})", 0.5),
    "PocketPerceptron, 5M x 50": (BIG, "PocketPerceptron({})", 1.0),
    "VotedPerceptron, 5M x 50": (BIG, "VotedPerceptron({})", 1.0),
    "KernelPerceptron, 20,000 x 50": (KERNEL, "KernelPerceptron({})", 1.0),
    "MaximumMargin, 20,000 x 50": (KERNEL, "MaximumMargin({})", 1.0),
}
INTERRUPTED = ("PocketPerceptron, 5M x 50", "AROW, full covariance")
FIT = """
import time
import rosenblatt.training.check_separable
rosenblatt.AROW, rosenblatt.KernelPerceptron, rosenblatt.MaximumMargin, rosenblatt.PocketPerceptron  # imported
try:
    from rosenblatt.engine.jit import compile_seconds
except ImportError:
    compile_seconds = lambda: 0.0
for _ in range(2):
    start, compiled = time.perf_counter(), compile_seconds()
    model = rosenblatt.{model}.fit(X, y)
    print(time.perf_counter() - start - (compile_seconds() - compiled), model.stop_reason_[:100], sep="|")
"""
INTERRUPT = """
import os, signal, threading, time
rosenblatt.{short}.fit(X[:500], y[:500])
sent = []
def interrupt():
    time.sleep(1.0)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    rosenblatt.{model}.fit(X, y)
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
"""


def _output(code: str, cache: str) -> list[str]:
    env = os.environ | {"NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


@case("limits: seconds late, compiling apart, with an empty cache and a full one; and deaf to Ctrl-C", alone=True)
def limits(bench: Bench) -> Iterator[Yield]:
    """Ask for a second or less, and interrupt."""
    reasons = []
    with tempfile.TemporaryDirectory() as cache:
        for name, (rows, model, asked) in LIMITED.items():
            code = DATA + rows + FIT.format(model=model.format(f"max_seconds={asked}"))
            for line, state in zip(_output(code, cache), ("empty cache", "again"), strict=True):
                seconds, reason = line.split("|", 1)
                reasons.append((name, state, f"{asked:g} s", f"{float(seconds):.2f} s", reason))
                late = Figure(f"{name}, {state}", LATE, float(seconds), asked, peer="limit", target=MOST_SECONDS_LATE)
                yield late
        for name in INTERRUPTED:
            rows, model, _ = LIMITED[name]
            short, endless = model.format("max_seconds=0.2"), model.format("tol=None, max_iter=10**6")
            code = DATA + rows + INTERRUPT.format(short=short, model=endless)
            heard = float(_output(code, cache)[0])
            yield Figure(f"{name}, Ctrl-C", LATE, heard, 0.0, peer="at once", target=MOST_SECONDS_DEAF)
    yield Table(("fit", "cache", "asked", "took", "why it ended"), reasons)
