"""Every member with its defaults against its nearest peer with the peer's: ``python -m benchmarks defaults``."""

from __future__ import annotations

import gzip
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import datasets, linear_model
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.harness import Bench, Skip, Table, Yield, case
from benchmarks.sparse import topics
from benchmarks.tasks import DATA, Data, a9a_rows, mnist_or_alike, their_passive_aggressive
from rosenblatt import (
    AROW,
    Adaline,
    AssociationUnits,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
)

Array = npt.NDArray[Any]

SEEDS = 3
SMALL, MANY_SEEDS = 5_000, 12  # of fewer rows there are more splits: one of 38 test rows is 2.6 points
LIMIT = 60.0  # seconds of a fit
MIN_OF_CLASS = 4  # rows, so that some are to train on and one to test
SHORT, REPEATS = 0.1, 5  # fits of fewer seconds are timed so many times more
KERNEL_ROWS = 3_000  # that a kernel is trained on at most
MOST_POINTS = 1.0  # percentage points of accuracy that a member may be worse by
MOST_TIMES = {"topics": 3.0}  # times the peer's time that a fit may take; 5 elsewhere


class Split(NamedTuple):
    """Rows to train on, and rows to test on."""

    X: Any
    y: Array
    X_test: Any
    y_test: Array


# -------------------------------------------------------------------------------------------------------------- sets


def _needed(*names: str) -> list[Any]:
    paths = [DATA / name for name in names]
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise Skip(f"no {', '.join(missing)}; set ROSENBLATT_DATA to a folder that has it.")
    return paths


def _parted(X: Any, y: Array, seed: int) -> Split:
    """Return three quarters to learn from, and a quarter to test."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    return Split(X, y, X_test, y_test)


def _scaled(split: Split) -> Split:
    scaler = (MaxAbsScaler if sp.issparse(split.X) else StandardScaler)().fit(split.X)
    return split._replace(X=scaler.transform(split.X), X_test=scaler.transform(split.X_test))


@cache
def _csv(name: str) -> Data:
    (path,) = _needed(name)
    cells = [line.split(",") for line in path.read_text().splitlines() if line]
    X = np.array([line[:-1] for line in cells], dtype=float)
    return X, np.unique([line[-1] for line in cells], return_inverse=True)[1]


@cache
def _covtype() -> Data:
    (path,) = _needed("covtype/covtype.csv.gz")
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()[1:]
    chosen = np.random.default_rng(0).choice(len(lines), 13_000, replace=False)
    cells = np.array([lines[i].split(",") for i in chosen], dtype=float)
    return cells[:, :-1], cells[:, -1].astype(int)


@cache
def _sms() -> tuple[list[str], Array]:
    (path,) = _needed("sms_spam/SMSSpamCollection")
    cells = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").split("\n") if "\t" in line]
    return [text for _, text in cells], np.array([label == "spam" for label, _ in cells], dtype=int)


@cache
def _imdb() -> Split:
    texts, labels = [], []
    for path in _needed("imdb/imdb_train.tsv.gz", "imdb/imdb_test.tsv.gz"):
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").rstrip("\n").split("\n")  # texts have other breaks
        chosen = np.random.default_rng(0).choice(len(lines), 5_000, replace=False)
        cells = [lines[i].split("\t", 1) for i in chosen]
        texts.append([text for _, text in cells])
        labels.append(np.array([int(label) for label, _ in cells]))
    words = TfidfVectorizer().fit(texts[0])
    return Split(words.transform(texts[0]), labels[0], words.transform(texts[1]), labels[1])


@cache
def _rcv1() -> Split:
    found = []
    for path in _needed("rcv1_small/rcv1_small.dat.gz", "rcv1_small/rcv1_small_test.data.gz"):
        label, indptr, indices, values = [], [0], [], []
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            told, _, entries = line.partition("|f")
            label.append(int(float(told.split()[0]) > 0))
            pairs = sorted((int(j), float(x)) for j, x in (entry.split(":") for entry in entries.split()))
            indices.extend(j for j, _ in pairs)
            values.extend(x for _, x in pairs)
            indptr.append(len(indices))
        found.append((values, np.array(indices, np.int32), np.array(indptr, np.int32), np.array(label)))
    features = 1 + max(int(indices.max()) for _, indices, _, _ in found)
    X, X_test = (sp.csr_matrix((v, j, p), (len(p) - 1, features)) for v, j, p, _ in found)
    return Split(X, found[0][3], X_test, found[1][3])


@cache
def _mnist() -> Split:
    (X, y), _ = mnist_or_alike(12_000)
    return Split(X[:10_000], y[:10_000], X[10_000:], y[10_000:])


@cache
def _topics() -> Split:
    X, y = topics(9_000)
    return Split(X[:7_000], y[:7_000], X[7_000:], y[7_000:])


def _a9a() -> Split:
    (X, y), (X_test, y_test) = a9a_rows()
    return Split(X, y, X_test, y_test)


def _texts(seed: int) -> Split:
    texts, y = _sms()
    split = _parted(np.array(texts, dtype=object), y, seed)
    words = TfidfVectorizer().fit(split.X)
    return split._replace(X=words.transform(split.X), X_test=words.transform(split.X_test))


def _bundled(load: Callable[..., Data]) -> Callable[[int], Split]:
    return lambda seed: _parted(*load(return_X_y=True), seed)


def _of_csv(name: str) -> Callable[[int], Split]:
    return lambda seed: _parted(*_csv(name), seed)


@cache
def _table(path: Path) -> Data:
    """Read a file of the user's own: numbers or categories, and the class last. Rows with gaps are left out."""
    import pandas as pd

    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"]).dropna()
    X = pd.get_dummies(frame.iloc[:, :-1]).to_numpy(float)
    y = np.unique(frame.iloc[:, -1].astype(str), return_inverse=True)[1]
    enough = np.bincount(y)[y] >= MIN_OF_CLASS
    return X[enough], y[enough]


def _own_sets(folder: str) -> dict[str, Callable[[int], Split]]:
    """Return the tables of a folder, as they are and with their columns standardised."""
    sets: dict[str, Callable[[int], Split]] = {}
    for path in sorted(Path(folder).glob("*.*")):
        sets[path.stem] = lambda seed, path=path: _parted(*_table(path), seed)
        sets[f"{path.stem}, scaled"] = lambda seed, path=path: _scaled(_parted(*_table(path), seed))
    return sets


SETS: dict[str, Callable[[int], Split]] = {
    "iris": _bundled(datasets.load_iris),
    "wine, scaled": lambda seed: _scaled(_bundled(datasets.load_wine)(seed)),
    "breast cancer": _bundled(datasets.load_breast_cancer),
    "breast cancer, scaled": lambda seed: _scaled(_bundled(datasets.load_breast_cancer)(seed)),
    "digits": _bundled(datasets.load_digits),
    "sonar": _of_csv("uci/sonar.csv"),
    "ionosphere": _of_csv("uci/ionosphere.csv"),
    "pima, scaled": lambda seed: _scaled(_of_csv("uci/pima-indians-diabetes.csv")(seed)),
    "banknote": _of_csv("uci/banknote_authentication.csv"),
    "spambase": _of_csv("spambase/spambase.data"),
    "spambase, scaled": lambda seed: _scaled(_of_csv("spambase/spambase.data")(seed)),
    "covtype, scaled": lambda seed: _scaled(_parted(*_covtype(), seed)),
    "a9a": lambda seed: _a9a(),
    "mnist": lambda seed: _mnist(),
    "sms spam": _texts,
    "imdb": lambda seed: _imdb(),
    "rcv1": lambda seed: _rcv1(),
    "topics": lambda seed: _topics(),
}


# ----------------------------------------------------------------------------------------------------------- members


class Pair(NamedTuple):
    """A member of the family and its nearest peer."""

    name: str
    ours: Callable[..., Any]
    peer: str
    theirs: Callable[..., Any]
    kernel: bool = False


SGD = linear_model.SGDClassifier
# scikit-learn's Perceptron is this without the average: a perceptron has no penalty.
averaged_sgd = partial(SGD, loss="perceptron", penalty=None, average=True, learning_rate="constant", eta0=1.0)

PAIRS = (
    Pair("Perceptron", Perceptron, "Perceptron", linear_model.Perceptron),
    Pair("AveragedPerceptron", AveragedPerceptron, "averaged SGD", averaged_sgd),
    Pair("VotedPerceptron", VotedPerceptron, "averaged SGD", averaged_sgd),
    Pair("PocketPerceptron", PocketPerceptron, "Perceptron", linear_model.Perceptron),
    Pair("PassiveAggressive", PassiveAggressive, "PA-I", their_passive_aggressive),
    Pair("AROW", AROW, "PA-I", their_passive_aggressive),
    Pair("SoftMargin, hinge", SoftMargin, "SGD, hinge", SGD),
    Pair("SoftMargin, logistic", partial(SoftMargin, loss="logistic"), "SGD, log_loss", partial(SGD, loss="log_loss")),
    Pair(
        "SoftMargin, squared_hinge",
        partial(SoftMargin, loss="squared_hinge"),
        "SGD, squared_hinge",
        partial(SGD, loss="squared_hinge"),
    ),
    Pair("Adaline", Adaline, "RidgeClassifier", linear_model.RidgeClassifier),
    Pair("MaximumMargin", MaximumMargin, "LinearSVC, C=1e6", partial(LinearSVC, C=1e6)),
    Pair("KernelPerceptron", KernelPerceptron, "SVC", SVC, kernel=True),
    Pair(
        "KernelPerceptron, soft margin",
        partial(KernelPerceptron, margin=4, max_updates=8, multiclass="ovo-vote"),
        "SVC",
        SVC,
        kernel=True,
    ),
)


class Outcome(NamedTuple):
    """What came of a learner on a set."""

    accuracy: float  # in percent, the mean over the seeds; NaN where a fit did not end or raised an error
    seconds: float  # the mean over the seeds, of the fastest fit of each
    fault: str = ""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError in the main thread after so many seconds."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _make(learner: Callable[..., Any], seed: int) -> Any:
    model = learner()
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


def _fit(learner: Callable[..., Any], seed: int, given: Split) -> tuple[Any, float]:
    """Return a fitted model, and the seconds of the fastest fit."""
    best, left = float("inf"), 1
    while left:
        model = _make(learner, seed)
        start = perf_counter()
        model.fit(given.X, given.y)
        seconds = perf_counter() - start
        left = REPEATS if best == float("inf") and seconds < SHORT else left - 1
        best = min(best, seconds)
    return model, best


def _few(split: Split, rows: int) -> Split:
    return split._replace(X=split.X[:rows], y=split.y[:rows])


def compare(pair: Pair, splits: list[Split]) -> tuple[Outcome, Outcome]:
    """Fit both in turns, once for each seed, and test them."""
    learners = (pair.ours, pair.theirs)
    found: tuple[list[tuple[float, float]], ...] = ([], [])
    faults = ["", ""]
    for seed, split in enumerate(splits):
        given = _few(split, KERNEL_ROWS) if pair.kernel else split
        for k, learner in enumerate(learners):
            if faults[k]:
                continue
            try:
                if seed == 0:  # which loads and compiles, and must not be interrupted there
                    _make(learner, 0).fit(*_few(given, 200)[:2]).predict(given.X_test[:10])
                with _limited(LIMIT):
                    model, seconds = _fit(learner, seed, given)
                found[k].append((100 * float(np.mean(model.predict(given.X_test) == given.y_test)), seconds))
            except (TimeoutError, ValueError) as error:
                faults[k] = str(error)
    return tuple(  # type: ignore[return-value]
        Outcome(float("nan"), LIMIT if "more than" in fault else float("nan"), fault)
        if fault
        else Outcome(*map(fmean, zip(*one, strict=True)))
        for one, fault in zip(found, faults, strict=True)
    )


def _shortfall(name: str, ours: Outcome, theirs: Outcome) -> str:
    """Return where a member is worse than it may be; empty where it is not."""
    told = []
    if ours.fault and not theirs.fault:
        told.append(ours.fault.split(". ")[0][:60])
    if ours.accuracy < theirs.accuracy - MOST_POINTS:
        told.append(f"{theirs.accuracy - ours.accuracy:.1f} points")
    most = MOST_TIMES.get(name, 5.0)
    if ours.seconds > most * theirs.seconds:
        told.append(f"{ours.seconds / theirs.seconds:.1f} times")
    return ", ".join(told)


@case("every member with its defaults against its nearest peer with the peer's", alone=True)
def defaults(bench: Bench) -> Iterator[Yield]:
    """Look for data on which the defaults are worse or slower than those of a peer.

    With ROSENBLATT_SETS, a folder of tables without a header and with the class last, on these instead.
    """
    warnings.simplefilter("ignore")
    lines, short, compared = [], [], 0
    folder = os.environ.get("ROSENBLATT_SETS")
    for name, load in (_own_sets(folder) if folder else SETS).items():
        try:
            splits = [load(0)]
            seeds = 1 if bench.quick else MANY_SEEDS if len(splits[0].y) < SMALL else SEEDS
            splits += [load(seed) for seed in range(1, seeds)]
        except Skip as reason:
            yield f"Skipped: {reason}"
            continue
        if bench.quick:
            splits = [_few(split, 300) for split in splits]
        for pair in PAIRS:
            ours, theirs = compare(pair, splits)
            told = _shortfall(name, ours, theirs)
            compared += 1
            line = (
                *(name, pair.name, f"{ours.accuracy:.1f}", f"{theirs.accuracy:.1f}"),
                *(f"{ours.seconds:.4f}", f"{theirs.seconds:.4f}", f"{ours.seconds / theirs.seconds:.2f}"),
                *(pair.peer, told),
            )
            lines.append(line)
            print(*line, sep="\t", flush=True)
            if told:
                short.append((name, pair.name, pair.peer, told))
    columns = ("set", "member", "accuracy", "peer's", "seconds", "peer's s", "times", "peer", "worse by")
    yield Table(columns, lines)
    yield Table(("set", "member", "peer", "worse by"), short)
    yield f"Worse on {len(short)} of {compared} comparisons (more than {MOST_POINTS:g} point, or 5 times; topics 3)."


LAYERS: dict[str, dict[str, Any] | None] = {
    "alone": None,
    "behind 500 steps": {"units": "step", "n_units": 500},
    "behind the default units": {},
}


def _behind(layer: dict[str, Any] | None, learner: Any, seed: int, split: Split) -> float:
    """Return the test accuracy of a learner, in percent, with a layer of random units in front of it or without."""
    units = [] if layer is None else [AssociationUnits(**layer, random_state=seed)]
    model = make_pipeline(*units, learner.set_params(random_state=seed)).fit(split.X, split.y)
    return 100 * float(model.score(split.X_test, split.y_test))


@case("linear learners alone and behind random units: test accuracy", alone=True)
def random_units(bench: Bench) -> Iterator[Yield]:
    """Look for data on which random units are worth their time."""
    warnings.simplefilter("ignore")
    lines = []
    for name in ("digits", "mnist", "spambase, scaled", "covtype, scaled", "a9a"):
        splits = [SETS[name](seed) for seed in range(SEEDS)]
        if bench.quick:
            splits = [_few(split, 300) for split in splits]
        for learner in (AROW(), SoftMargin(loss="logistic")):
            percent = (
                fmean(_behind(layer, learner, seed, split) for seed, split in enumerate(splits))
                for layer in LAYERS.values()
            )
            lines.append((name, type(learner).__name__, *(f"{mean:.1f}" for mean in percent)))
    yield Table(("set", "learner", *LAYERS), lines)
