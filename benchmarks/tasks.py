"""The data and the cases. A new case is a function with ``@case("title")`` that yields figures."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_svmlight_file, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from benchmarks.harness import (
    APART,
    BANDWIDTH,
    COST,
    MEMORY,
    RATE,
    SPEED,
    Bench,
    Figure,
    Prepared,
    Skip,
    Table,
    Yield,
    case,
    in_fresh_process,
    peak_growth,
)
from rosenblatt import (
    ALMA,
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    SoftMargin,
    save,
)

# A fit of few epochs is meant to end before it has converged.
warnings.filterwarnings("ignore", category=ConvergenceWarning)

Array = npt.NDArray[Any]
Data = tuple[Any, Array]

DATA = Path(os.environ.get("ROSENBLATT_DATA", Path(__file__).parents[2] / "shared" / "data"))
NOISE = 0.05  # share of labels turned over: enough that no fit separates the data and ends before its epochs
OURS, SKLEARN = "rosenblatt", "scikit-learn"


# -------------------------------------------------------------------------------------------------------------- data


def _planted(X: Any, rng: np.random.Generator) -> Array:
    """Label the rows -1 and +1 by a random hyperplane, with noise."""
    score = X @ rng.standard_normal(X.shape[1]).astype(X.dtype)
    return np.where((score > np.median(score)) ^ (rng.random(X.shape[0]) < NOISE), 1, -1)


def dense(rows: int, features: int, dtype: npt.DTypeLike) -> Data:
    """Make normal rows with planted labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features), dtype=dtype)
    return X, _planted(X, rng)


def csr(rows: int, features: int, dtype: npt.DTypeLike) -> Data:
    """Make rows of unit length like those of a text corpus, about 67 words each, with planted labels.

    Words come by Zipf's law, and as in an alphabetical vocabulary the frequent ones are spread over the columns.
    """
    rng = np.random.default_rng(0)
    law = np.cumsum(1.0 / np.arange(1, features + 1))
    rank = np.searchsorted(law, rng.random((rows, 83)) * law[-1])  # 83 words, of which some 67 differ
    column = np.sort(rng.permutation(features).astype(np.int32)[rank], axis=1)
    first = np.column_stack([np.ones(rows, bool), column[:, 1:] != column[:, :-1]])
    indptr = np.concatenate([[0], np.cumsum(first.sum(axis=1))]).astype(np.int32)
    data = rng.uniform(0.5, 1.5, indptr[-1])
    data /= np.repeat(np.sqrt(np.add.reduceat(data**2, indptr[:-1])), np.diff(indptr))
    X = sp.csr_array((data.astype(dtype), column[first], indptr), shape=(rows, features))
    return X, _planted(X, rng)


def mnist_or_alike(rows: int) -> tuple[Data, str]:
    """Give MNIST's training images in float32, or rows of the same shape and density, and say which."""
    folder = DATA / "mnist"
    images, labels = folder / "train-images-idx3-ubyte.gz", folder / "train-labels-idx1-ubyte.gz"
    if images.exists() and labels.exists():
        pixels = np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16).reshape(-1, 784)
        y = np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8)
        return (pixels[:rows].astype(np.float32) / 255, y[:rows].astype(int)), "the real MNIST"
    rng = np.random.default_rng(0)
    X = rng.random((rows, 784), dtype=np.float32) * (rng.random((rows, 784), dtype=np.float32) < 0.19)
    y = (X @ rng.standard_normal((784, 10), dtype=np.float32)).argmax(axis=1)
    return (X, y), f"random data in MNIST's shape (no mnist/*.gz in {DATA})"


def letters(rows: int) -> Data:
    """Make rows in the shape of the UCI set letter: 26 classes, 16 features from 0 to 15.

    A letter has twelve styles, each a normal distribution of its own. As on the real set, `SVC` is right on 97 % of new
    rows after 15,000.
    """
    rng = np.random.default_rng(0)
    y, style = rng.integers(0, 26, rows), rng.integers(0, 12, rows)
    centre = rng.normal(7.5, 1.5, (26, 1, 16)) + rng.normal(0.0, 1.5, (26, 12, 16))
    spread = rng.normal(0.0, 0.29, (26, 12, 16, 16))
    X = centre[y, style] + np.einsum("nij,nj->ni", spread[y, style], rng.standard_normal((rows, 16)))
    return np.clip(np.round(X), 0, 15), y


def engine(rows: int) -> Data:
    """Make rows in the shape of IJCNN 2001, in the order of time: 22 features, one row in ten is a misfire.

    Ten features tell the cylinder, the others are the last four values of three signals that drift. No hyperplane does
    better than to say "no misfire" always.
    """
    rng = np.random.default_rng(0)
    signals, drift = rng.standard_normal((rows + 4, 3)), 0.95
    for t in range(1, rows + 4):
        signals[t] = drift * signals[t - 1] + np.sqrt(1.0 - drift**2) * signals[t]
    cylinder = np.arange(rows) % 10
    a, b, c = (signals[3:-1] + rng.normal(0.0, 0.3, (10, 3))[cylinder]).T
    strength = a * b + np.sin(c) / 2.0
    y = (strength > np.quantile(strength, 0.9)) ^ (rng.random(rows) < 0.005)
    return np.hstack([np.eye(10)[cylinder], *(signals[lag : lag + rows] for lag in range(4))]), y.astype(int)


# ------------------------------------------------------------------------------------------------- time per epoch


def duel(
    bench: Bench,
    data: Data,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    settings: Mapping[str, Any],
    *,
    epochs: tuple[int, int],
    target: float | None = None,
    bandwidth_target: float | None = None,
    what: str = "",
) -> Iterator[Figure]:
    """Compare two estimators by the time of an epoch and of a whole fit; on dense data with reading it, too.

    Parameters
    ----------
    bench : Bench
    data : (X, y)
    ours, theirs : estimator class
        Or any function that takes the settings, `max_iter` and `tol` and gives something with `fit`.
    settings : mapping
        Parameters for both.
    epochs : (int, int)
        Those of the short and of the long fit.
    target : float, optional
        How many times as fast our epoch is to be.
    bandwidth_target : float, optional
        How many percent of the speed of `X.sum()` our epoch is to reach.
    what : str, optional
        The data, where a case has more than one.
    """
    X, y = data
    few, many = epochs
    fits = {
        name: lambda k, estimator=estimator: estimator(max_iter=k, tol=None, **settings).fit(X, y)
        for name, estimator in ((OURS, ours), (SKLEARN, theirs))
    }
    is_dense = isinstance(X, np.ndarray)
    epoch, whole = bench.epochs(fits, few, many, {"read": X.sum} if is_dense else None)
    label = ", ".join(([what] if what else []) + [f"{name}={value}" for name, value in settings.items()])
    yield Figure(f"epoch, {label}", SPEED, epoch[OURS], epoch[SKLEARN], target=target)
    if is_dense:
        ours_reads, machine_reads = X.nbytes / epoch[OURS] / 1e9, X.nbytes / whole["read"].seconds / 1e9
        yield Figure(
            f"data read, {label}", BANDWIDTH, ours_reads, machine_reads, "GB/s", "X.sum()", target=bandwidth_target
        )
    yield Figure(f"fit of {many} epochs, {label}", SPEED, whole[OURS].seconds, whole[SKLEARN].seconds, drawn=False)


def _binary(bench: Bench, data: Data, target: float, bandwidth_target: float | None = None) -> Iterator[Figure]:
    """Compare with the defaults, which shuffle; and in the order of the rows, where memory sets the limit for both."""
    for shuffle in (True, False):
        targets = {"target": target if shuffle else None, "bandwidth_target": bandwidth_target}
        settings = {"shuffle": shuffle}
        yield from duel(bench, data, Perceptron, linear_model.Perceptron, settings, epochs=(2, 12), **targets)


@case("dense, 200,000 x 100, float64")
def dense64(bench: Bench) -> Iterator[Yield]:
    """Rows of 800 bytes."""
    yield from _binary(bench, dense(bench.rows(200_000), 100, np.float64), target=3.0, bandwidth_target=70.0)


@case("the data of dense64 sorted by class: each package shuffles single rows")
def sorted64(bench: Bench) -> Iterator[Yield]:
    """Compare like with like: on rows whose classes are mixed, rosenblatt shuffles blocks of them."""
    X, y = dense(bench.rows(200_000), 100, np.float64)
    order = np.argsort(y, kind="stable")
    settings = {"shuffle": True}
    yield from duel(bench, (X[order], y[order]), Perceptron, linear_model.Perceptron, settings, epochs=(2, 12))


@case("dense, 50,000 x 1,000, float32")
def dense32(bench: Bench) -> Iterator[Yield]:
    """Rows of 4,000 bytes."""
    yield from _binary(bench, dense(bench.rows(50_000), 1_000, np.float32), target=3.0, bandwidth_target=70.0)


@case("CSR, 200,000 x 47,000, 67 nonzeros a row, float64")
def csr64(bench: Bench) -> Iterator[Yield]:
    """Text-like rows."""
    yield from _binary(bench, csr(bench.rows(200_000), 47_000, np.float64), target=1.5)


@case("CSR, 200,000 x 47,000, 67 nonzeros a row, float32")
def csr32(bench: Bench) -> Iterator[Yield]:
    """Text-like rows in single precision."""
    yield from _binary(bench, csr(bench.rows(200_000), 47_000, np.float32), target=1.5)


@case("MNIST, 60,000 x 784, float32, ten classes one-vs-rest")
def mnist(bench: Bench) -> Iterator[Yield]:
    """Ten classes, on one thread and on two."""
    data, source = mnist_or_alike(bench.rows(60_000))
    yield f"Data: {source}."
    for n_jobs, target in ((None, 8.0), (2, None)):
        settings = {"n_jobs": n_jobs}
        yield from duel(bench, data, Perceptron, linear_model.Perceptron, settings, epochs=(1, 4), target=target)


# -------------------------------------------------------------------------------------------------------- the family


def extra(bench: Bench, data: Data, estimator: Callable[..., Any], what: str, target: float) -> Iterator[Figure]:
    """Compare an estimator with our own plain perceptron by the time of an epoch."""
    X, y = data
    name, plain = estimator.__name__, "Perceptron"
    fits = {
        name: lambda k: estimator(max_iter=k, tol=None).fit(X, y),
        plain: lambda k: Perceptron(max_iter=k, tol=None).fit(X, y),
    }
    epoch, _ = bench.epochs(fits, 2, 12)
    yield Figure(f"epoch of {name}, {what}", COST, epoch[name], epoch[plain], peer="our Perceptron", target=target)


@case("averaging: the data of dense64 and csr64")
def averaged(bench: Bench) -> Iterator[Yield]:
    """Measure what averaging costs."""
    yield from extra(bench, dense(bench.rows(200_000), 100, np.float64), AveragedPerceptron, "dense", 1.3)
    yield from extra(bench, csr(bench.rows(200_000), 47_000, np.float64), AveragedPerceptron, "CSR", 1.3)


@case("AROW with a variance for each weight: the data of csr64")
def arow(bench: Bench) -> Iterator[Yield]:
    """Measure what the variances cost."""
    yield from extra(bench, csr(bench.rows(200_000), 47_000, np.float64), AROW, "CSR", 3.0)


def their_passive_aggressive(**settings: Any) -> Any:
    """Give scikit-learn's PA-I; the class of that name goes with version 1.10."""
    if not hasattr(linear_model, "PassiveAggressiveClassifier"):
        pa1 = {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": 1.0}
        return linear_model.SGDClassifier(**pa1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return linear_model.PassiveAggressiveClassifier(**settings)


@case("passive-aggressive, PA-I: the data of dense64 and csr64")
def pa(bench: Bench) -> Iterator[Yield]:
    """Rows within the margin move the weights, too."""
    for what, data in (
        ("dense", dense(bench.rows(200_000), 100, np.float64)),
        ("CSR", csr(bench.rows(200_000), 47_000, np.float64)),
    ):
        contestants = PassiveAggressive, their_passive_aggressive
        yield from duel(bench, data, *contestants, {"shuffle": True}, epochs=(2, 12), target=1.0, what=what)


@case("logistic loss: the data of dense64")
def logistic(bench: Bench) -> Iterator[Yield]:
    """Every row moves the weights, by an exponential each; the same loss is to come of it."""
    X, y = dense(bench.rows(200_000), 100, np.float64)

    def ours(**settings: Any) -> Any:
        return SoftMargin(loss="logistic", average=False, **settings)

    def theirs(**settings: Any) -> Any:
        return linear_model.SGDClassifier(loss="log_loss", **settings)

    yield from duel(bench, (X, y), ours, theirs, {"shuffle": True}, epochs=(2, 12), target=2.0)
    loss = []
    for make in (ours, theirs):
        model = make(max_iter=12, tol=None, random_state=0).fit(X, y)
        loss.append(float(np.logaddexp(0, -y * model.decision_function(X)).mean()))
    yield Figure("training loss after 12 epochs", APART, *loss, unit="nats", target=1.0, drawn=False)


@case("one example at a time: predict_one, then learn_one")
def latency(bench: Bench) -> Iterator[Yield]:
    """Compare a stream of single rows with river's, which takes them as dicts, made before the clock starts."""
    try:
        from river import linear_model as river
    except ImportError as error:
        raise Skip(f"{error.name} is not installed; pip install rosenblatt[bench]") from None

    def stream(make: Callable[[], Any], given: list[Any], labels: list[Any]) -> Prepared:
        def prepare() -> Callable[[], Any]:
            model = make()
            for row, label in zip(given[:100], labels[:100], strict=True):
                model.learn_one(row, label)

            def go() -> Any:
                for row, label in zip(given, labels, strict=True):
                    model.predict_one(row)
                    model.learn_one(row, label)
                return model

            return go

        return Prepared(prepare)

    # River's own way to several classes is one model for each: its perceptron of two stands beside all of ours.
    for width, kind, target in ((6, "dicts", 0.9), (100, "dicts", 0.7), (100, "arrays", 0.3)):
        X, y = dense(bench.rows(5_000), width, np.float64)
        dicts = [{f"f{j}": value for j, value in enumerate(row)} for row in X.tolist()]
        two, five = (y > 0).tolist(), np.random.default_rng(0).integers(0, 5, len(X)).tolist()
        for member in (Perceptron, AveragedPerceptron, AROW):
            for labels in (two, five):
                given = dicts if kind == "dicts" else list(X)
                timed = bench.best({OURS: stream(member, given, labels), "river": stream(river.Perceptron, dicts, two)})
                mine, their = (timed[key].seconds / len(X) for key in (OURS, "river"))
                name = f"{member.__name__}, {kind} of {width}, {len(set(labels))} classes"
                limit = target if labels is two and member is not AROW else None
                yield Figure(name, COST, mine, their, peer="river", target=limit)

    X, y = dense(bench.rows(20_000), 100, np.float64)
    rows, dicts, labels = list(X), [dict(enumerate(row)) for row in X.tolist()], (y > 0).tolist()

    def ours() -> Any:
        return Perceptron().partial_fit(X[:1], labels[:1], classes=[False, True])

    def theirs() -> Any:
        model = river.Perceptron()
        model.learn_one(dicts[0], labels[0])
        return model

    # River's learn_one does not say whether it was a mistake. The first row, where all weights are zero, is left out:
    # there our perceptron counts a mistake, and river's predicts False.
    model, peer = ours(), theirs()
    mine, their = [], []
    for row, told, label in zip(rows[1:], dicts[1:], labels[1:], strict=True):
        mine.append(model.learn_one(row, label))
        their.append(peer.predict_one(told) != label)
        peer.learn_one(told, label)
    yield Figure("mistakes", APART, sum(mine), sum(their), "mistakes", "river", target=0.0, drawn=False)
    weights = np.array([peer.weights[j] for j in range(X.shape[1])])
    gap = np.abs(weights - model.coef_[0]).max() / np.abs(weights).max()
    differ = np.sum(np.array(mine) != their)
    yield f"Trials on which only one of them errs: {differ}. Weights apart by {gap:.1g} of the largest."


@case("learn_one of the family, one row of 100 features, against river's nearest")
def latencies(bench: Bench) -> Iterator[Yield]:
    """Compare other members, and ten classes, with what river has for the same purpose."""
    try:
        from river import linear_model as river
        from river import multiclass
    except ImportError as error:
        raise Skip(f"{error.name} is not installed; pip install rosenblatt[bench]") from None
    X, y = dense(bench.rows(5_000), 100, np.float64)
    rows, dicts, two = list(X), [dict(enumerate(row)) for row in X.tolist()], (y > 0).tolist()
    ten = np.random.default_rng(0).integers(0, 10, len(rows)).tolist()
    pairs: tuple[tuple[str, Any, Any, list[Any]], ...] = (
        ("AveragedPerceptron", AveragedPerceptron, river.Perceptron, two),
        ("PassiveAggressive", PassiveAggressive, lambda: river.PAClassifier(C=1.0, mode=1), two),
        ("AROW", AROW, river.ALMAClassifier, two),
        ("ALMA", ALMA, river.ALMAClassifier, two),
        ("Perceptron, ten classes", Perceptron, lambda: multiclass.OneVsRestClassifier(river.Perceptron()), ten),
    )
    for name, ours, theirs, labels in pairs:

        def stream(make: Callable[[], Any], given: list[Any], labels: list[Any] = labels) -> Prepared:
            def prepare() -> Callable[[], Any]:
                model = make()
                for row, label in zip(given[:100], labels[:100], strict=True):
                    model.learn_one(row, label)
                return lambda: [model.learn_one(row, label) for row, label in zip(given, labels, strict=True)]

            return Prepared(prepare)

        timed = bench.best({OURS: stream(ours, rows), "river": stream(theirs, dicts)})
        mine, their = (timed[key].seconds / len(rows) for key in (OURS, "river"))
        yield Figure(f"learn_one, {name}", SPEED, mine, their, peer="river", target=3.0)


# --------------------------------------------------------------------------------------------------------- whole fit


@case("iris: a whole default fit, warm")
def iris(bench: Bench) -> Iterator[Yield]:
    """Time what is mostly overhead."""
    X, y = load_iris(return_X_y=True)
    for _ in range(100):  # the search for a separator is interpreted until it pays to compile it
        Perceptron().fit(X, y)
    contestants = {
        OURS: lambda: Perceptron().fit(X, y),
        SKLEARN: lambda: linear_model.Perceptron().fit(X, y),
    }
    timed = bench.best(contestants, rounds=20 * bench.rounds)
    yield Figure("default fit", SPEED, timed[OURS].seconds, timed[SKLEARN].seconds, target=1.0)
    yield Table(
        ("", "epochs", "training accuracy"),
        [(name, str(one.result.n_iter_), f"{one.result.score(X, y):.4f}") for name, one in timed.items()],
    )


@case("a9a: a whole default fit, 32,561 x 123, CSR float64")
def a9a(bench: Bench) -> Iterator[Yield]:
    """Compare time and test accuracy on real data that is not separable."""
    (X, y), (X_test, y_test) = a9a_rows()
    contestants = {
        OURS: lambda: Perceptron().fit(X, y),
        SKLEARN: lambda: linear_model.Perceptron().fit(X, y),
    }
    timed = bench.best(contestants)
    yield Figure("default fit", COST, timed[OURS].seconds, timed[SKLEARN].seconds, target=3.0)
    yield Table(
        ("", "test accuracy", "epochs", "why it stopped"),
        [
            (
                name,
                f"{one.result.score(X_test, y_test):.4f}",
                str(one.result.n_iter_),
                getattr(one.result, "stop_reason_", "does not say"),
            )
            for name, one in timed.items()
        ],
    )


def a9a_rows() -> tuple[Data, Data]:
    """Read a9a: the rows to train on, and those to test."""
    train, test = DATA / "a9a" / "a9a", DATA / "a9a" / "a9a.t"
    if not (train.exists() and test.exists()):
        raise Skip(f"no a9a in {DATA}; set ROSENBLATT_DATA to a folder that has a9a/a9a and a9a/a9a.t.")
    return _svmlight(train), _svmlight(test)


def _svmlight(path: Path) -> Data:
    X, y = load_svmlight_file(str(path), n_features=123)
    # The loader gives int64 indices, which scikit-learn's own Perceptron refuses.
    return sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape), y


# ----------------------------------------------------------------------------------------------------------- kernels


SMALL_SIZES = (100, 500, 2_000, 8_000)
# Makers of so many rows.
SMALL_SETS: dict[str, Callable[[int], Data]] = {
    "10 features, a tenth of the labels random": lambda rows: make_classification(
        rows, 10, n_informative=5, n_redundant=0, flip_y=0.1, random_state=0
    ),
    "5 classes": lambda rows: make_classification(
        rows, 20, n_informative=10, n_redundant=0, n_classes=5, flip_y=0.05, random_state=0
    ),
    "two moons": lambda rows: make_moons(rows, noise=0.3, random_state=0),
    "MNIST": lambda rows: mnist_or_alike(rows)[0],
}


@case("kernel (1 + x.z)^3 on 10,000 images of MNIST: a fit, and predictions by 10,000 support vectors")
def kernel(bench: Bench) -> Iterator[Yield]:
    """Compare with the support vector machine of the same kernel."""
    (X, y), source = mnist_or_alike(60_000)
    size = bench.rows(10_000)
    yield f"Data: {source}."
    (X, y), (X_test, y_test) = (X[:size], y[:size]), (X[-10_000:], y[-10_000:])
    theirs = {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0}
    ours = {"kernel": "poly", "degree": 3, "aggregate": "average", "max_iter": 5, "tol": None}
    contestants = {OURS: lambda: KernelPerceptron(**ours).fit(X, y), SKLEARN: lambda: SVC(**theirs).fit(X, y)}
    timed = bench.best(contestants, rounds=min(2, bench.rounds))
    yield Figure("fit", SPEED, timed[OURS].seconds, timed[SKLEARN].seconds, peer="SVC", target=5.0)
    part = X_test[: bench.rows(10_000)], y_test[: bench.rows(10_000)]
    wrong = {name: 100.0 * (1.0 - one.result.score(*part)) for name, one in timed.items()}
    yield Table(("", "test error, %"), [(name, f"{value:.2f}") for name, value in wrong.items()])

    noise = np.random.default_rng(0).integers(0, 2, size)  # which makes nearly every row a support vector
    machine, peer = KernelPerceptron(**ours).fit(X, noise), SVC(**theirs).fit(X, noise)
    rows, few = X_test[: bench.rows(10_000)], X_test[: bench.rows(500)]
    S = machine.support_vectors_
    runs = {
        OURS: lambda: machine.predict(rows, "last"),
        SKLEARN: lambda: peer.predict(few),
        "product": lambda: rows @ S.T,
    }
    timed = bench.best(runs, rounds=min(2, bench.rounds))
    rate = {OURS: len(rows) / timed[OURS].seconds, SKLEARN: len(few) / timed[SKLEARN].seconds}
    vectors = f"{S.shape[0]:,} vectors, SVC's {peer.support_.size:,}"
    yield Figure(f"predict, {vectors}", RATE, rate[OURS], rate[SKLEARN], "rows/s", "SVC", target=1.0)
    product = timed["product"].seconds
    yield Figure("predict, against one matrix product", COST, timed[OURS].seconds, product, peer="rows @ vectors.T")


@case("KernelPerceptron() against SVC() on 100, 500, 2,000 and 8,000 rows: a fit with the defaults, and its accuracy")
def kernel_small(bench: Bench) -> Iterator[Yield]:
    """Compare both with their defaults on noisy rows, on two moons, and on digits."""
    lines = []
    for name, make in SMALL_SETS.items():
        for size in SMALL_SIZES:
            rows = bench.rows(size)
            X, y = make(rows + 2_000)
            train, test = (X[:rows], y[:rows]), (X[rows:], y[rows:])
            contestants = {
                OURS: lambda data=train: KernelPerceptron().fit(*data),
                SKLEARN: lambda data=train: SVC().fit(*data),
            }
            timed = bench.best(contestants, rounds=bench.rounds if size <= 2_000 else 1)
            ours, theirs = timed[OURS], timed[SKLEARN]
            yield Figure(f"{name}, {rows:,} rows", SPEED, ours.seconds, theirs.seconds, peer="SVC", target=1 / 3)
            right = [100.0 * one.result.score(*test) for one in (ours, theirs)]
            lines.append((name, f"{rows:,}", *(f"{value:.1f}" for value in right), f"{right[0] - right[1]:+.1f}"))
    yield Table(("data", "rows", "accuracy, %", "SVC", "difference, at least -2"), lines)


@case("KernelPerceptron() against SVC() on 15,000 rows of 26 classes: a fit with the defaults, predictions, accuracy")
def kernel_letters(bench: Bench) -> Iterator[Yield]:
    """Compare above the size of a Gram matrix, where similarities are computed in blocks."""
    size = bench.rows(15_000)
    X, y = letters(size + 5_000)
    train, test = (X[:size], y[:size]), (X[size:], y[size:])
    fits = {OURS: lambda: KernelPerceptron().fit(*train), SKLEARN: lambda: SVC().fit(*train)}
    timed = bench.best(fits, rounds=min(3, bench.rounds))
    yield Figure("fit", COST, timed[OURS].seconds, timed[SKLEARN].seconds, peer="SVC", target=3.0)
    models = {name: one.result for name, one in timed.items()}
    timed = bench.best({name: lambda model=model: model.predict(test[0]) for name, model in models.items()})
    yield Figure("predict", COST, timed[OURS].seconds, timed[SKLEARN].seconds, peer="SVC", target=1.0)
    lines = [(name, f"{model.support_.size:,}", f"{100.0 * model.score(*test):.1f}") for name, model in models.items()]
    yield Table(("", "vectors", "test accuracy, %"), lines)


@case("a9a with RBF on a budget of a tenth: accuracy, and memory over ten passes of a stream")
def budgets(bench: Bench) -> Iterator[Yield]:
    """Compare the rules with no budget at all."""
    (X, y), (X_test, y_test) = a9a_rows()
    X, y = X[: bench.rows(X.shape[0])], y[: bench.rows(X.shape[0])]

    def stream(model: Any, passes: int) -> Any:
        for start in list(range(0, X.shape[0], 1_000)) * passes:
            model.partial_fit(X[start : start + 1_000], y[start : start + 1_000])
        return model

    free = stream(KernelPerceptron(gamma=0.05), 1)
    tenth = free.support_.size // 10
    lines = [("none", f"{free.support_.size:,}", f"{free.score(X_test, y_test):.4f}", "")]
    for rule in ("arow", "projectron", "random", "forgetron"):
        model = stream(KernelPerceptron(gamma=0.05, budget=tenth, budget_rule=rule), 1)
        once = model.score(X_test, y_test)
        growth = peak_growth(lambda model=model: stream(model, 9))
        lines.append((rule, f"{tenth:,}", f"{once:.4f}", f"{growth / 2**20:.1f} MiB"))
    yield Table(("rule", "vectors", "test accuracy after a pass", "memory grew over nine more"), lines)


BUDGET_SIZES = (50, 200, 1_000)
BUDGET_RULES: dict[str, dict[str, Any]] = {
    '"arow"': {"budget_rule": "arow"},
    '"projectron", average': {"budget_rule": "projectron", "aggregate": "average"},
    '"forgetron"': {"budget_rule": "forgetron"},
    '"random"': {"budget_rule": "random"},
}


def _budget_sets(bench: Bench) -> Iterator[tuple[str, Data, Data]]:
    """Give the name of each set, its rows to train on, and those to test."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(y.size)
    yield "digits", (X[order[:1_200]], y[order[:1_200]]), (X[order[1_200:]], y[order[1_200:]])
    size = bench.rows(10_000)
    (X, y), source = mnist_or_alike(60_000)
    yield source, (X[:size], y[:size]), (X[-10_000:], y[-10_000:])
    (X, y), (X_test, y_test) = a9a_rows()
    yield "a9a", (X[:size].toarray(), y[:size]), (X_test[:8_000].toarray(), y_test[:8_000])
    for name, make, full in (("letters", letters, 15_000), ("engine", engine, 50_000)):
        size = bench.rows(full)
        X, y = make(size + 5_000)
        yield f"{name}, made for this benchmark", (X[:size], y[:size]), (X[size:], y[size:])


def _budget_models(gamma: float) -> Iterator[tuple[str, Any, str]]:
    """Give the name of each contestant, the model, and the method that trains it."""
    yield "all rows", KernelPerceptron(), "fit"
    yield "SVC", SVC(), "fit"
    for size in BUDGET_SIZES:
        nystroem = Nystroem(gamma=gamma, n_components=size, random_state=0)
        yield f"{size:,}, Nystroem and SGD", make_pipeline(nystroem, linear_model.SGDClassifier(random_state=0)), "fit"
        for rule, options in BUDGET_RULES.items():
            for method in ("fit", "partial_fit"):
                yield f"{size:,}, {rule}", KernelPerceptron(budget=size, **options), method


@case("the rules of a budget on five sets, against Nystroem with SGD and SVC: test accuracy and time")
def budget_rules(bench: Bench) -> Iterator[Yield]:
    """Compare a fit and one pass by each rule with models of all rows."""
    for data, train, test in _budget_sets(bench):
        lines = []
        for name, model, method in _budget_models(1.0 / (train[0].shape[1] * train[0].var())):
            run = {name: lambda model=model, method=method, train=train: getattr(clone(model), method)(*train)}
            one = bench.best(run, rounds=1)[name]
            lines.append((name, method, f"{100.0 * one.result.score(*test):.1f}", f"{one.seconds:.2f}"))
        yield f"Data: {data}."
        yield Table(("model", "by", "test accuracy, %", "s"), lines)


# ------------------------------------------------------------------------------------------------- memory and import


MEMORY_TASKS: dict[str, tuple[Callable[..., Data], int, int, npt.DTypeLike]] = {
    "dense64": (dense, 200_000, 100, np.float64),
    "dense32": (dense, 50_000, 1_000, np.float32),
    "csr64": (csr, 200_000, 47_000, np.float64),
}


@case("peak memory of fit with the defaults, 5 epochs")
def memory(bench: Bench) -> Iterator[Yield]:
    """Measure whether X is used in place."""
    for name, (_, rows, _, _) in MEMORY_TASKS.items():
        growth, size = in_fresh_process(_growth, name, bench.rows(rows))
        yield Figure(name, MEMORY, growth / 1e6, size / 1e6, "MB", "X", target=10.0)


def _growth(name: str, rows: int) -> tuple[int, int]:
    """Give the growth in bytes, and the size of X."""
    make, _, features, dtype = MEMORY_TASKS[name]
    Perceptron(max_iter=5).fit(*make(1_000, features, dtype))  # compiles
    X, y = make(rows, features, dtype)
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return peak_growth(lambda: Perceptron(max_iter=5).fit(X, y)), size


@case("start of a fresh interpreter with an import")
def import_(bench: Bench) -> Iterator[Yield]:
    """Measure the import alone, and with the estimator that users want from it."""
    for ours, theirs, peer, target in (
        ("import rosenblatt", "import numpy", "numpy", 1.5),
        ("from rosenblatt import Perceptron", "from sklearn.linear_model import Perceptron", SKLEARN, None),
    ):
        timed = bench.best({code: lambda code=code: _interpret(code) for code in (ours, theirs)})
        yield Figure(ours, COST, timed[ours].seconds, timed[theirs].seconds, peer=peer, target=target)


@case("weights from a file, and a prediction, in a fresh interpreter")
def loading(bench: Bench) -> Iterator[Yield]:
    """Measure `load_linear` and `predict` against the import of scikit-learn's linear models alone."""
    X, y = dense(200, 20, np.float64)
    with tempfile.TemporaryDirectory() as folder:
        save(Perceptron().fit(X, y), f"{folder}/model")
        np.save(f"{folder}/X.npy", X)
        ours = (
            "import numpy as np; from rosenblatt import load_linear; "
            f"load_linear({folder + '/model'!r}).predict(np.load({folder + '/X.npy'!r}))"
        )
        theirs = "import sklearn.linear_model"
        timed = bench.best({code: lambda code=code: _interpret(code) for code in (ours, theirs)})
    yield Figure("load_linear, predict", COST, timed[ours].seconds, timed[theirs].seconds, peer=SKLEARN, target=0.6)


def _interpret(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


# ------------------------------------------------------------------------------------------------------------- peers


class Entry(NamedTuple):
    """A package in the comparison of peers."""

    name: str
    rows: int
    timed: str
    contestant: Callable[[], Any] | Prepared
    predict: Callable[[Any], Array]  # from what the contestant returned to the classes of its rows
    work: str = "one pass"


@case("one pass over 100,000 x 50, dense float64, by each package")
def peers(bench: Bench) -> Iterator[Yield]:
    """Compare with packages whose work is alike but not the same; the table says what each does."""
    X, y = dense(bench.rows(100_000), 50, np.float64)
    entries: list[Entry] = []
    for enter in (_ours, _sklearn, _vowpal_wabbit, _liblinear, _river):
        try:
            entries.append(enter(X, y))
        except ImportError as error:
            yield f"Skipped: {error.name} is not installed; pip install rosenblatt[bench]"
    # Building Vowpal Wabbit's examples takes fifty times as long as learning them: few rounds.
    timed = bench.best({entry.name: entry.contestant for entry in entries}, rounds=min(3, bench.rounds))
    rate = {entry.name: entry.rows / timed[entry.name].seconds for entry in entries}
    rows = []
    for entry in entries:
        if entry.name != OURS:
            yield Figure(entry.work, RATE, rate[OURS], rate[entry.name], "rows/s", entry.name)
        accuracy = np.mean(entry.predict(timed[entry.name].result) == y[: entry.rows])
        rows.append((entry.name, f"{rate[entry.name]:,.0f}", f"{accuracy:.4f}", entry.timed))
    yield Table(("", "rows/s", "training accuracy", "what is timed"), rows)


FIT = "fit with max_iter=1, checks of the data included"


def _ours(X: Array, y: Array) -> Entry:
    return Entry(OURS, len(y), FIT, lambda: Perceptron(max_iter=1, tol=None).fit(X, y), lambda model: model.predict(X))


def _sklearn(X: Array, y: Array) -> Entry:
    def fit() -> Any:
        return linear_model.Perceptron(max_iter=1, tol=None).fit(X, y)

    return Entry(SKLEARN, len(y), FIT, fit, lambda model: model.predict(X))


def _vowpal_wabbit(X: Array, y: Array) -> Entry:
    from vowpalwabbit import Example, LabelType, Workspace

    def build(workspace: Any, row: list[float], label: int) -> Any:
        example = Example(workspace, {"x": list(enumerate(row))}, LabelType.SIMPLE)
        example.set_label_string(str(label))
        example.setup_example()
        return example

    def make() -> Callable[[], Any]:
        workspace = Workspace("--loss_function hinge --quiet")
        examples = [build(workspace, row, label) for row, label in zip(X.tolist(), y, strict=True)]

        def learn() -> Any:
            for example in examples:
                workspace.learn(example)
            return workspace, examples

        return learn

    def predict(trained: Any) -> Array:
        workspace, examples = trained
        return np.where([workspace.predict(example) > 0 for example in examples], 1, -1)

    told = "learn, example by example, with --loss_function hinge; examples are built before"
    return Entry("Vowpal Wabbit", len(y), told, Prepared(make), predict)


def _liblinear(X: Array, y: Array) -> Entry:
    from liblinear.liblinear import parameter, problem
    from liblinear.liblinearutil import predict, train

    given, options = problem(y, X, bias=1), parameter("-s 3 -B 1 -q")
    told = "train -s 3 (dual hinge), all the passes until it stops; its problem is built before"

    def classes(model: Any) -> Array:
        return np.array(predict(y, X, model, "-q")[0])

    return Entry("LIBLINEAR", len(y), told, lambda: train(given, options), classes, "one pass to its whole training")


def _river(X: Array, y: Array) -> Entry:
    from river import linear_model as river

    part = len(y) // 20
    rows = [dict(enumerate(row)) for row in X[:part].tolist()]
    labels = (y[:part] > 0).tolist()

    def learn() -> Any:
        model = river.Perceptron()
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)
        return model

    told = f"learn_one over {part:,} dicts built before; a slice, since the rate does not depend on the number of rows"
    return Entry("river", part, told, learn, lambda model: np.where([model.predict_one(row) for row in rows], 1, -1))
