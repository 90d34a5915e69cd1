"""Training from files, from process start to exit, against Vowpal Wabbit, scikit-learn and pandas.

`python -m benchmarks.files --megabytes 300` makes files of that size in a temporary folder, lets the contestants take
turns, and prints the best of several runs. Vowpal Wabbit gets the same rows in its own format; it is run through its
Python package, whose import is given apart, so that it can be taken off.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

FEATURES, ENTRIES = 60_000, 40
ROWS_AT_ONCE = 20_000
NUMERIC_COLUMNS = 30
WORDS = 30_000
WORDS_PER_TEXT = 120
VW = ["--loss_function", "hinge", "--sgd", "-l", "1", "--power_t", "0", "-b", "18", "--quiet"]

SKLEARN = {
    "svmlight": """
import sys
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron
X, y = load_svmlight_file(sys.argv[1])
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")  # fit takes no others
Perceptron(max_iter=1, tol=None, shuffle=False).fit(X, y)
""",
    "text": """
import sys
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import Perceptron
rows = [line.split("\\t", 1) for line in open(sys.argv[1], encoding="utf-8")]
X = HashingVectorizer(n_features=2**18, alternate_sign=False).transform(text for _, text in rows)
Perceptron(max_iter=1, tol=None, shuffle=False).fit(X, [label for label, _ in rows])
""",
    "csv": """
import sys
import pandas
from sklearn.linear_model import Perceptron
frame = pandas.read_csv(sys.argv[1])
Perceptron(max_iter=1, tol=None, shuffle=False).fit(frame.drop(columns="label").to_numpy(), frame["label"])
""",
}


# -------------------------------------------------------------------------------------------------------------- files


def _sparse_rows(rng: np.random.Generator) -> Iterator[tuple[int, list[int], list[str]]]:
    """Yield labels, columns and values of rows with noisy labels, without end."""
    w = np.random.default_rng(0).normal(size=FEATURES)
    while True:
        columns = np.sort(rng.integers(1, FEATURES, (ROWS_AT_ONCE, ENTRIES)), axis=1)
        values = rng.random((ROWS_AT_ONCE, ENTRIES)).round(4)
        label = np.where((w[columns] * values).sum(axis=1) + rng.normal(size=ROWS_AT_ONCE) > 0, 1, -1)
        for one, own, x in zip(label.tolist(), columns, values.tolist(), strict=True):
            places = np.unique(own)
            yield one, places.tolist(), [str(value) for value in x[: places.size]]


def _svmlight_lines(rng: np.random.Generator) -> Iterator[str]:
    for label, columns, values in _sparse_rows(rng):
        yield f"{label} " + " ".join(f"{c}:{v}" for c, v in zip(columns, values, strict=True)) + "\n"


def _texts(rng: np.random.Generator) -> Iterator[tuple[int, str]]:
    words = np.array([f"w{number:x}" for number in range(WORDS)])
    law = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    while True:
        label = rng.choice([-1, 1], 1000)
        drawn = np.searchsorted(law, rng.random((1000, WORDS_PER_TEXT)) * law[-1])
        # Each kind prefers every other word, a little.
        drawn = np.where(rng.random(drawn.shape) < 0.1, drawn // 2 * 2 + (label[:, None] > 0), drawn) % WORDS
        for one, own in zip(label.tolist(), drawn, strict=True):
            yield one, " ".join(words[own])


def _tables(rng: np.random.Generator) -> Iterator[str]:
    w = np.random.default_rng(0).normal(size=NUMERIC_COLUMNS)
    while True:
        X = rng.normal(size=(1000, NUMERIC_COLUMNS)).round(4)
        label = np.where(X @ w + rng.normal(size=1000) > 0, 1, -1)
        for one, x in zip(label.tolist(), X.tolist(), strict=True):
            yield f"{','.join(map(str, x))},{one}\n"


def _write(path: Path, lines: Iterator[str], size: int, head: str = "") -> None:
    """Write lines until the file has so many bytes: one block of them again and again, as making them is slow."""
    block, made = [], 0
    while made < min(size, 50 << 20):
        block.append(next(lines))
        made += len(block[-1])
    content = "".join(block).encode()
    with open(path, "wb") as file:
        file.write(head.encode())
        written = 0
        while written < size:
            written += file.write(content[: size - written] if size - written < len(content) else content)
    # The last line may be cut: whole lines only.
    with open(path, "r+b") as file:
        file.seek(-min(size, 1 << 16), os.SEEK_END)
        tail = file.read()
        file.truncate(file.tell() - len(tail) + tail.rfind(b"\n") + 1)


def make_files(folder: Path, kind: str, size: int) -> tuple[Path, Path]:
    """Write a file for us and one for Vowpal Wabbit; the size is that of ours, or of Vowpal Wabbit's for its format."""
    ours, theirs = folder / f"rows.{kind}", folder / "rows.vw"
    rng = np.random.default_rng(1)
    if kind in ("svmlight", "vw"):
        _write(folder / "rows.svmlight", _svmlight_lines(rng), size)
        with open(folder / "rows.svmlight") as source, open(theirs, "w") as target:
            target.writelines(line.replace(" ", " | ", 1) for line in source)
        return (theirs if kind == "vw" else ours), theirs
    if kind == "csv":
        head = ",".join([f"x{j}" for j in range(NUMERIC_COLUMNS)] + ["label"]) + "\n"
        _write(ours, _tables(rng), size, head)
        names = head.split(",")
        with open(ours) as source, open(theirs, "w") as target:
            next(source)
            for line in source:
                *values, label = line.rstrip().split(",")
                target.write(f"{label} | " + " ".join(f"{n}:{v}" for n, v in zip(names, values, strict=False)) + "\n")
        return ours, theirs
    _write(ours, (f"{label}\t{text}\n" for label, text in _texts(rng)), size)
    with open(ours) as source, open(theirs, "w") as target:
        target.writelines(line.replace("\t", " | ", 1) for line in source)
    return ours, theirs


# --------------------------------------------------------------------------------------------------------------- races


def _run(command: list[str]) -> float:
    # As after an installation, Python keeps what it has compiled.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def race(contestants: dict[str, list[str]], repeats: int) -> dict[str, float]:
    """Let processes take turns; return the best time of each."""
    best = dict.fromkeys(contestants, np.inf)
    for _ in range(repeats):
        for name, command in contestants.items():
            best[name] = min(best[name], _run(command))
    return best


def _ours(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "rosenblatt.cli.main", *map(str, arguments)]


def _format(kind: str, folder: Path, megabytes: int, repeats: int, slow: bool) -> None:
    ours, theirs = make_files(folder, kind, megabytes << 20)
    name = {"vw": "vw", "text": "text", "csv": "csv", "svmlight": "svmlight"}[kind]
    train = _ours(
        "train",
        ours,
        "-f",
        name,
        "--learner",
        "perceptron",
        "--margin",
        "1",
        "--epochs",
        1,
        "--quiet",
        "--overwrite",
        "--model",
        folder / "m",
    )
    contestants = {
        "rosenblatt": train,
        "VW": [sys.executable, "-m", "vowpalwabbit", "-d", str(theirs), "-f", str(folder / "vw.model"), *VW],
        "VW's import": [sys.executable, "-c", "import vowpalwabbit"],
    }
    best = race(contestants, repeats)
    if slow and kind in SKLEARN:
        best |= race({"scikit-learn": [sys.executable, "-c", SKLEARN[kind], str(ours)]}, 1)
    size = ours.stat().st_size / 2**20
    print(f"{kind}, {size:.0f} MB")
    for name, seconds in best.items():
        speed = (
            "" if "import" in name else f"{size / seconds:8.0f} MB/s  {seconds / best['rosenblatt']:6.2f} times ours"
        )
        print(f"  {name:<14}{seconds:8.2f} s  {speed}")
    alone = best["VW"] - best["VW's import"]
    print(
        f"  {'VW, no import':<14}{alone:8.2f} s  {size / alone:8.0f} MB/s  {alone / best['rosenblatt']:6.2f} times ours"
    )


def _start(folder: Path, repeats: int) -> None:
    """Compare the start of the program with an import of NumPy."""
    make_files(folder, "svmlight", 1 << 20)
    contestants = {
        "import numpy": [sys.executable, "-c", "import numpy"],
        "--help": _ours("--help"),
        "train 1 MB": _ours(
            "train", folder / "rows.svmlight", "--epochs", 1, "--quiet", "--overwrite", "--model", folder / "m"
        ),
    }
    _run(contestants["train 1 MB"])  # so that Numba's cache is warm
    best = race(contestants, repeats)
    for name, seconds in best.items():
        print(f"{name:<16}{seconds:8.3f} s  {seconds / best['import numpy']:6.2f} times the import of NumPy")


def _memory(folder: Path, megabytes: int) -> None:
    """Measure the memory of a training on a large file, and how much faster later passes are, from the cache."""
    ours, theirs = make_files(folder, "svmlight", megabytes << 20)
    theirs.unlink()
    seconds = {}
    for epochs in (1, 11):  # of two, the second is lost in what the disk takes to write the cache
        arguments = [
            "train",
            ours,
            "--epochs",
            epochs,
            "--tol",
            "none",
            "--quiet",
            "--overwrite",
            "--cache",
            folder / "cache",
            "--model",
            folder / "m",
        ]
        (folder / "cache").unlink(missing_ok=True)
        seconds[epochs] = _run(_ours(*arguments))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
    later = (seconds[11] - seconds[1]) / 10
    print(
        f"{megabytes} MB of svmlight: one pass {seconds[1]:.2f} s, a later one {later:.2f} s from a cache of "
        f"{(folder / 'cache').stat().st_size / 2**20:.0f} MB; {peak:.0f} MB resident at most"
    )


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--slow", action="store_true", help="scikit-learn and pandas too, once")
    parser.add_argument("cases", nargs="*", default=["start", "svmlight", "vw", "text", "csv", "memory"])
    chosen = parser.parse_args(arguments)
    for name in chosen.cases:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            others: dict[str, Callable[[], None]] = {
                "start": lambda place=place: _start(place, chosen.repeats),
                "memory": lambda place=place: _memory(place, chosen.megabytes),
            }
            run = others.get(
                name, lambda name=name, place=place: _format(name, place, chosen.megabytes, chosen.repeats, chosen.slow)
            )
            run()


if __name__ == "__main__":
    main()
