"""Model files of hashed texts: their size, the memory to train and predict, and the time to save and load them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Bench, Figure, Quantity, Skip, Table, Yield, case
from benchmarks.tasks import DATA

VW = "Vowpal Wabbit"
SIZE = Quantity("size of the model file, as a multiple of its nonzero weights and their indices", "of them", "x", False,
                lambda ours, theirs: ours / theirs)  # fmt: skip
PEAK = Quantity("peak memory of the process, as a multiple of the peer's", "the memory", "x", False,
                lambda ours, theirs: ours / theirs)  # fmt: skip
# A process inherits the peak of the one that forks it: a small one does.
WATCH = """
import json, os, sys
_, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(json.dumps([usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
sys.exit(os.waitstatus_to_exitcode(status))
"""
# The best of three: a process that has just read a file finds it in memory.
LOAD = """
import json, sys
from time import perf_counter
from rosenblatt import load_linear
best = {"load": 1e9, "save": 1e9}
for _ in range(3):
    start = perf_counter()
    model = load_linear(sys.argv[1])
    best["load"] = min(best["load"], perf_counter() - start)
    start = perf_counter()
    model.save(sys.argv[2])
    best["save"] = min(best["save"], perf_counter() - start)
print(json.dumps(best))
"""
VW_LOAD = """
import json, sys
from time import perf_counter
from vowpalwabbit import Workspace
best = {"load": 1e9, "save": 1e9}
for _ in range(3):
    start = perf_counter()
    model = Workspace(f"-i {sys.argv[1]} --quiet")
    best["load"] = min(best["load"], perf_counter() - start)
    start = perf_counter()
    model.save(sys.argv[2])
    best["save"] = min(best["save"], perf_counter() - start)
    model.finish()
print(json.dumps(best))
"""
NONZERO = """
import sys, numpy
from rosenblatt import load_linear
print(numpy.count_nonzero(load_linear(sys.argv[1]).W))
"""


class Texts(NamedTuple):
    """Labelled texts, and the number of bits to hash their words to."""

    name: str
    classes: int
    bits: int
    rows: list[tuple[str, str]]  # label and text


class Child(NamedTuple):
    """A process that has ended: its processor time, its peak memory and its output."""

    seconds: float
    megabytes: float
    output: str


def generated(name: str, n_rows: int, classes: int, words: int, lengths: tuple[int, int], bits: int) -> Texts:
    """Return texts of words by Zipf's law, a third of which are of the words that the class prefers."""
    rng = np.random.default_rng(classes)
    law = np.cumsum(1.0 / np.arange(1, words + 1))
    rows = []
    for label in rng.integers(0, classes, n_rows).tolist():
        drawn = np.searchsorted(law, rng.random(rng.integers(*lengths)) * law[-1])
        own = (drawn // classes * classes + label) % words
        drawn = np.where(rng.random(drawn.size) < 1 / 3, own, drawn)
        rows.append((f"c{label}", " ".join(f"w{word:x}" for word in drawn.tolist())))
    return Texts(name, classes, bits, rows)


def _sets(bench: Bench) -> Iterator[Texts]:
    yield generated("77 classes of short texts, 18 bits", bench.rows(10_000), 77, 3_000, (5, 16), 18)
    yield generated("20 classes, 22 bits", bench.rows(20_000), 20, 200_000, (30, 120), 22)
    path = DATA / "sms_spam" / "SMSSpamCollection"
    if not path.exists():
        return
    pairs = (line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines())
    rows = [(label, text.replace("|", " ").replace(":", " ")) for label, text in pairs]
    yield Texts("spam in text messages, 18 bits", 2, 18, rows)


def run(*command: Any) -> Child:
    """Run a process to its end."""
    words = [sys.executable, "-I", "-c", WATCH, *map(str, command)]
    *output, figures = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    seconds, kilobytes = json.loads(figures)
    return Child(seconds, kilobytes / 2**10, "\n".join(output))


def _ours(texts: Texts, folder: Path) -> dict[str, Any]:
    data, model = folder / "rows.tsv", folder / "ours.model"
    data.write_text("".join(f"{label}\t{text}\n" for label, text in texts.rows))
    command = sys.executable, "-m", "rosenblatt"
    for _ in range(2):  # the first may compile
        train = run(
            *command, "train", data, "--bits", texts.bits, "--max-iter", 1, "--quiet", "--overwrite", "--model", model
        )
        predict = run(*command, "predict", data, "--model", model, "--quiet", "-o", folder / "ours.txt")
    python = sys.executable, "-c"
    moved = run(*python, LOAD, model, folder / "again.model")
    return {"train": train, "predict": predict, "moved": moved, "bytes": model.stat().st_size} | {
        "nonzero": int(run(*python, NONZERO, model).output)
    }


def _theirs(texts: Texts, folder: Path) -> dict[str, Any]:
    data, model = folder / "rows.vw", folder / "vw.model"
    number = {label: k for k, label in enumerate(sorted({label for label, _ in texts.rows}), 1)}
    data.write_text("".join(f"{_vw_label(texts, number[label])} | {text}\n" for label, text in texts.rows))
    several = ("--oaa", texts.classes) if texts.classes > 2 else ("--loss_function", "hinge")
    command = sys.executable, "-m", "vowpalwabbit", "--quiet", "-d", data
    train = run(*command, "-f", model, "-b", texts.bits, *several)
    predict = run(*command, "-i", model, "-t", "-p", folder / "vw.txt")
    moved = run(sys.executable, "-c", VW_LOAD, model, folder / "again.vw")
    return {"train": train, "predict": predict, "moved": moved, "bytes": model.stat().st_size}


def _vw_label(texts: Texts, number: int) -> int:
    return number if texts.classes > 2 else 2 * number - 3


@case("model files of hashed texts, beside Vowpal Wabbit's")
def models(bench: Bench) -> Iterator[Yield]:
    """Measure file, memory and seconds of training, predicting, saving and loading, each in a process of its own."""
    if not find_spec("vowpalwabbit"):
        raise Skip("vowpalwabbit is not installed; pip install rosenblatt[bench]")
    rows = []
    for texts in _sets(bench):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = _ours(texts, Path(folder)), _theirs(texts, Path(folder))
        least = 12 * ours["nonzero"]  # float64 and int32
        yield Figure(f"file, {texts.name}", SIZE, ours["bytes"] / 1e6, least / 1e6, "MB", "its weights", target=1.2)
        for step in ("train", "predict"):
            sizes = ours[step].megabytes, theirs[step].megabytes
            yield Figure(f"{step}, {texts.name}", PEAK, *sizes, "MB", VW, drawn=False)
        for name, measured in (("rosenblatt", ours), (VW, theirs)):
            moved = json.loads(measured["moved"].output)
            steps = [f"{measured[s].seconds:.2f} s, {measured[s].megabytes:.0f} MB" for s in ("train", "predict")]
            loaded = f"{moved['load']:.3f} s, {measured['moved'].megabytes:.0f} MB"
            rows.append((texts.name, name, f"{measured['bytes'] / 1e6:.2f} MB", *steps, loaded, f"{moved['save']:.3f}"))
    yield Table(("set", "", "file", "train", "predict", "load", "save, s"), rows)
