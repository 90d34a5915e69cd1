"""Sparse rows and many classes: generated topics, the grid of storages, classes and widths, wide streams, the vote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn import linear_model

from benchmarks.harness import COST, SPEED, Bench, Figure, Prepared, Table, Yield, case
from benchmarks.tasks import NOISE, OURS, SKLEARN, Array, Data, a9a_rows, duel
from rosenblatt import AveragedPerceptron, Perceptron, SoftMargin, VotedPerceptron

WRONG_TOPICS = 0.08  # share of topics drawn anew
OWN_WORDS = 1_500  # words that a topic prefers


def topics(rows: int, features: int = 60_000, classes: int = 20, common: int = 120, own: int = 12) -> Data:
    """Make texts on topics, in the shape of 20 newsgroups: rows of unit length with some 100 words each.

    Most words come by Zipf's law and mean nothing; a few are drawn from those that the topic prefers, which are rare as
    a rule. As in an alphabetical vocabulary, frequent words are spread over the columns.

    Parameters
    ----------
    rows, features, classes : int
    common, own : int
        Words drawn for each row: without a meaning, and from its topic. Fewer differ.
    """
    rng = np.random.default_rng(0)
    topic = rng.integers(0, classes, rows)
    law = np.cumsum(1.0 / np.arange(1, features + 1))
    drawn = np.searchsorted(law, rng.random((rows, common)) * law[-1])
    preferred = np.stack([rng.choice(features, OWN_WORDS, replace=False) for _ in range(classes)])
    telling = preferred[topic[:, None], rng.integers(0, OWN_WORDS, (rows, own))]
    X = _unit_rows(rng.permutation(features).astype(np.int32)[np.hstack([drawn, telling])], features)
    return X, np.where(rng.random(rows) < WRONG_TOPICS, rng.integers(0, classes, rows), topic)


def _unit_rows(column: Array, features: int) -> Any:
    """Return rows of unit length with equal values in the given columns, of which some are the same."""
    column = np.sort(column, axis=1)
    first = np.column_stack([np.ones(len(column), bool), column[:, 1:] != column[:, :-1]])
    count = first.sum(axis=1)
    indptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
    return sp.csr_matrix((np.repeat(1.0 / np.sqrt(count), count), column[first], indptr), (len(column), features))


# ------------------------------------------------------------------------------------------------------------ topics


@case("topics: 7,000 x 60,000 with 20 classes, and 5,000 x 50,000 with 100, CSR float64")
def topics_(bench: Bench) -> Iterator[Yield]:
    """Compare epochs and predictions on text with many classes."""
    size, test = bench.rows(7_000), bench.rows(2_000)
    X, y = topics(size + test)
    train = X[:size], y[:size]
    yield f"Words in a row: {X.nnz / X.shape[0]:.0f}."
    yield from _epochs(bench, train, "20 classes", {False: 1.5, True: 3.0})
    yield _predict(bench, train, X[size:], "20 classes")
    fits = {
        mode: lambda k, mode=mode: Perceptron(multiclass=mode, max_iter=k, tol=None).fit(*train)
        for mode in ("joint", "ovr")
    }
    epoch, _ = bench.epochs(fits, 1, 4)
    yield Figure("epoch, joint", COST, epoch["joint"], epoch["ovr"], peer="our one-vs-rest", target=1.5)
    timed = bench.best({str(tol): lambda tol=tol: Perceptron(max_iter=8, tol=tol).fit(*train) for tol in (1e-3, None)})
    default, bare = (timed[key].seconds for key in ("0.001", "None"))
    yield Figure("default fit of 8 epochs", COST, default, bare, peer="with tol=None", target=1.5)
    size = bench.rows(5_000)
    X, y = topics(size + test, 50_000, 100, common=64, own=8)
    train = X[:size], y[:size]
    yield from _epochs(bench, train, "100 classes", {False: 2.0, True: 2.0})
    yield _predict(bench, train, X[size:], "100 classes")


def _epochs(bench: Bench, data: Data, what: str, targets: dict[bool, float]) -> Iterator[Figure]:
    for shuffle, target in targets.items():
        contestants = Perceptron, linear_model.Perceptron
        yield from duel(bench, data, *contestants, {"shuffle": shuffle}, epochs=(1, 4), target=target, what=what)


def _predict(bench: Bench, data: Data, X: Any, what: str) -> Figure:
    models = {name: make(max_iter=2, tol=None).fit(*data) for name, make in PLAIN.items()}
    timed = bench.best({name: partial(model.predict, X) for name, model in models.items()}, rounds=3 * bench.rounds)
    return Figure(f"predict, {what}", SPEED, timed[OURS].seconds, timed[SKLEARN].seconds, target=1.0)


# -------------------------------------------------------------------------------------------------------------- grid

STORAGES, CLASSES, FEATURES = ("dense", "CSR"), (2, 5, 10, 100), (10, 100, 1_000, 50_000)
MEASURES = ("epoch in order", "epoch shuffled", "hinge epoch", "predict", "partial_fit")
ENTRIES_PER_ROW = 60  # of sparse rows, where there are as many features
CHUNK_ROWS = 100
PLAIN: dict[str, Callable[..., Any]] = {OURS: Perceptron, SKLEARN: linear_model.Perceptron}
MOST_BYTES = 8e7  # of X
ENTRIES_PER_EPOCH = 2e7  # entries times classes: some 20 ms


class Cell(NamedTuple):
    """A place in the grid."""

    storage: str
    classes: int
    features: int

    def __str__(self) -> str:
        """Name it."""
        return f"{self.storage}, {self.classes} classes, {self.features:,} features"

    @property
    def entries(self) -> int:
        """How many entries a row has."""
        return self.features if self.storage == "dense" else max(1, min(ENTRIES_PER_ROW, self.features // 2))

    def rows(self, bench: Bench) -> int:
        """How many rows there are: an epoch takes long enough to be timed, and X fits into memory."""
        wanted = ENTRIES_PER_EPOCH / ((self.entries + 20) * self.classes)
        most = min(20_000, MOST_BYTES / (8 * self.entries))
        return max(self.classes, CHUNK_ROWS, bench.rows(int(min(wanted, most))))

    def data(self, bench: Bench) -> Data:
        """Make rows of planted classes with noise; some are zero, of each class, so that no fit ends early."""
        rng, rows = np.random.default_rng(0), self.rows(bench)
        if self.storage == "dense":
            X: Any = rng.standard_normal((rows, self.features))
        else:
            X = _unit_rows(rng.integers(0, self.features, (rows, self.entries), dtype=np.int32), self.features)
        y = np.asarray(X @ rng.standard_normal((self.features, self.classes))).argmax(axis=1)
        y = np.where(rng.random(rows) < NOISE, rng.integers(0, self.classes, rows), y)
        y[: self.classes] = np.arange(self.classes)
        if rows >= 4 * self.classes:  # else so few rows are fitted in two epochs, which is all that they get
            if self.storage == "dense":
                X[: self.classes] = 0.0
            else:
                X.data[: X.indptr[self.classes]] = 0.0
                X.eliminate_zeros()
        return X, y


@case("grid: dense and CSR, 2 to 100 classes, 10 to 50,000 features")
def grid(bench: Bench) -> Iterator[Yield]:
    """Compare all that is done with rows, wherever it could be slower than scikit-learn."""
    lines, lowest = [], dict[str, tuple[float, Cell, float, float]]()
    for cell in (Cell(*place) for place in product(STORAGES, CLASSES, FEATURES)):
        times = cell_times(bench, cell)
        lines.append((str(cell), f"{cell.rows(bench):,}", *(f"{theirs / ours:.2f}" for ours, theirs in times.values())))
        for measure, (ours, theirs) in times.items():
            lowest[measure] = min(lowest.get(measure, (np.inf,)), (theirs / ours, cell, ours, theirs))
    for measure, (_, cell, ours, theirs) in lowest.items():
        yield Figure(f"{measure}, the lowest: {cell}", SPEED, ours, theirs, target=1.0)
    yield Table(("times as fast as scikit-learn", "rows", *MEASURES), lines)


def cell_times(bench: Bench, cell: Cell) -> dict[str, tuple[float, float]]:
    """Return our time and scikit-learn's for each measure of a cell."""
    X, y = cell.data(bench)
    work = X.shape[0] * (cell.entries + 20) * cell.classes
    more = int(np.clip(3 * ENTRIES_PER_EPOCH / work, 1, 20))
    rounds = min(bench.rounds, 5 if work < 3 * ENTRIES_PER_EPOCH else 2)
    found = {}
    for measure, ours, theirs, settings in (
        (MEASURES[0], Perceptron, linear_model.Perceptron, {"shuffle": False}),
        (MEASURES[1], Perceptron, linear_model.Perceptron, {"shuffle": True}),
        (MEASURES[2], SoftMargin, linear_model.SGDClassifier, {"shuffle": True}),
    ):
        fits = {
            (name, epochs): lambda make=make, epochs=epochs, settings=settings: make(
                max_iter=epochs, tol=None, **settings
            ).fit(X, y)
            for name, make in ((OURS, ours), (SKLEARN, theirs))
            for epochs in (1, 1 + more)
        }
        timed = bench.best({str(key): fit for key, fit in fits.items()}, rounds=rounds)
        spent = {key: timed[str(key)].seconds for key in fits}
        # Where noise hides the epochs, what the whole fit takes stands in for them.
        whole = any(spent[name, 1 + more] <= spent[name, 1] for name in (OURS, SKLEARN))
        found[measure] = tuple(spent[name, 1 + more] - (0 if whole else spent[name, 1]) for name in (OURS, SKLEARN))
    return found | _uses(bench, (X, y), rounds)


def _uses(bench: Bench, data: Data, rounds: int) -> dict[str, tuple[float, float]]:
    """Return our time and scikit-learn's for predictions, and for a chunk of a stream."""
    (X, y), classes = data, np.unique(data[1])
    fitted = {name: make(max_iter=1, tol=None).fit(X, y) for name, make in PLAIN.items()}
    streams = {name: make().partial_fit(X, y, classes=classes) for name, make in PLAIN.items()}
    few = X[:: max(1, X.shape[0] // CHUNK_ROWS)][:CHUNK_ROWS], y[:: max(1, X.shape[0] // CHUNK_ROWS)][:CHUNK_ROWS]
    found = {}
    for measure, uses in (
        (MEASURES[3], {name: partial(model.predict, X) for name, model in fitted.items()}),
        (MEASURES[4], {name: partial(model.partial_fit, *few) for name, model in streams.items()}),
    ):
        timed = bench.best(uses, rounds=3 * rounds)
        found[measure] = (timed[OURS].seconds, timed[SKLEARN].seconds)
    return found


# ------------------------------------------------------------------------------------------------------- wide streams

WIDE = 1 << 22


@case("streams of sparse rows: chunks of 20 rows, 60 entries each, at 4,194,304 features")
def wide_stream(bench: Bench) -> Iterator[Yield]:
    """Compare chunks and the predictions between them, which must cost what their entries cost."""
    average = partial(
        linear_model.SGDClassifier, loss="perceptron", average=True, learning_rate="constant", eta0=1.0, penalty=None
    )
    rng = np.random.default_rng(0)
    for classes, (what, ours, theirs) in product(
        (2, 5), (("plain", Perceptron, linear_model.Perceptron), ("averaged", AveragedPerceptron, average))
    ):
        chunks = [
            (_unit_rows(rng.integers(0, WIDE, (20, 60), dtype=np.int32), WIDE), rng.integers(0, classes, 20))
            for _ in range(4)
        ]
        models = {OURS: ours(), SKLEARN: theirs()}
        for model, (X, y) in product(models.values(), chunks):
            model.partial_fit(X, y, classes=np.arange(classes))
        turns = {name: iter(chunks * (bench.rounds + 1)) for name in models}

        def learn(name: str, models: Any = models, turns: Any = turns) -> Prepared:
            return Prepared(lambda: partial(models[name].partial_fit, *next(turns[name])))

        timed = bench.best({name: learn(name) for name in models})
        yield Figure(
            f"partial_fit, {what}, {classes} classes", COST, timed[OURS].seconds, timed[SKLEARN].seconds, target=1.5
        )
        # After each chunk, so that nothing that was computed of all weights can be used again.
        timed = bench.best({name: _predict_after(model, chunks) for name, model in models.items()})
        yield Figure(
            f"predict, {what}, {classes} classes", COST, timed[OURS].seconds, timed[SKLEARN].seconds, target=1.5
        )


def _predict_after(model: Any, chunks: list[Data]) -> Prepared:
    def make() -> Callable[[], Array]:
        model.partial_fit(*chunks[0])
        predict: Callable[[], Array] = partial(model.predict, chunks[1][0])
        return predict

    return Prepared(make)


# -------------------------------------------------------------------------------------------------------------- votes


@case("voted: a9a, one epoch, predictions on 16,281 rows by vote, average and last vector")
def voted(bench: Bench) -> Iterator[Yield]:
    """Compare the vote with the inner products that it needs, and the average with the last vector."""
    (X, y), (X_test, y_test) = a9a_rows()
    size = bench.rows(X_test.shape[0])
    X_test, y_test = X_test[:size], y_test[:size]
    model = VotedPerceptron(max_iter=1, tol=None).fit(X, y)
    vectors = np.array([w for w, _, _ in model.vectors()])
    uses: dict[str, Callable[[], Any]] = {
        aggregate: partial(model.predict, X_test, aggregate=aggregate) for aggregate in ("vote", "average", "last")
    }
    uses["products"] = partial(_products, X_test, vectors)
    timed = bench.best(uses, rounds=min(3, bench.rounds))
    spent = {name: one.seconds for name, one in timed.items()}
    what = f"{len(vectors):,} vectors"
    yield Figure(f"vote, {what}", COST, spent["vote"], spent["products"], peer="their products", target=1.5)
    yield Figure("average", COST, spent["average"], spent["last"], peer="the last vector", target=1.5)
    lines = [(name, f"{spent[name]:.4f}", f"{np.mean(timed[name].result == y_test):.4f}") for name in list(uses)[:3]]
    yield Table(("aggregate", "seconds", "test accuracy"), lines)


def _products(X: Any, vectors: Array) -> None:
    """Multiply sparse rows with vectors, as many at a time as fit a cache."""
    size = (1 << 17) // X.shape[1]
    for start in range(0, len(vectors), size):
        X @ np.ascontiguousarray(vectors[start : start + size].T)
