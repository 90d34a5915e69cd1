"""What shards, Dask and Spark do: the same bits, killed workers, accuracy, time, memory. Figures are printed as JSON.

python -m benchmarks.scale bits|kill|accuracy|threads|round|memory|certify [--quick] [--spark]

Data sets are looked for in ROSENBLATT_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt import AveragedPerceptron, PassiveAggressive, Perceptron, certify, verify

DATA = Path(os.environ.get("ROSENBLATT_DATA", Path(__file__).parents[2] / "shared" / "data"))
MEMBERS = {"perceptron": Perceptron, "averaged": AveragedPerceptron, "passive-aggressive": PassiveAggressive}


def report(**figures: Any) -> None:
    """Print figures as a line of JSON."""
    print(json.dumps(figures, default=float), flush=True)


def digest(model: Any) -> str:
    """Return a hash of the weights and biases."""
    return hashlib.sha256(model.coef_.tobytes() + model.intercept_.tobytes()).hexdigest()[:16]


def rows_of(*paths: Path, **options: Any) -> tuple[Any, Any]:
    """Read files as one table."""
    from rosenblatt.files.chunks import joined
    from rosenblatt.files.opening import open_source

    with open_source([str(path) for path in paths], **options) as source:
        whole = joined(list(source))
    return whole.table.matrix(), whole.label


def data_set(name: str, most: int = 1 << 62) -> tuple[Any, Any, Any, Any]:
    """Return training and test rows of a data set."""
    if name == "a9a":
        (X, y), (T, z) = (rows_of(DATA / "a9a" / file, format="svmlight") for file in ("a9a", "a9a.t"))
        X, T = X[:, :124], T[:, :124]
    elif name == "imdb":
        X, y, T, z = imdb()
    else:
        table = np.loadtxt(
            DATA / "covtype" / "covtype.csv.gz", delimiter=",", skiprows=1, max_rows=min(most * 2, 600000)
        )
        order = np.random.default_rng(0).permutation(len(table))
        X, y = table[order, :-1], table[order, -1].astype(int)
        X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
        y = y == 2 if name == "covtype" else np.minimum(y, 3)  # two classes, or three: spruce, pine, all others
        half = len(y) * 4 // 5
        X, y, T, z = X[:half], y[:half], X[half:], y[half:]
    return X[:most], np.asarray(y)[:most], T, np.asarray(z)


def imdb() -> tuple[Any, Any, Any, Any]:
    """Return the reviews, hashed to 2^18 columns."""
    from rosenblatt.files.options import FeatureOptions

    options = {"format": "text", "features": FeatureOptions(bits=18)}
    train = rows_of(DATA / "imdb" / "imdb_train.tsv.gz", **options)
    return *train, *rows_of(DATA / "imdb" / "imdb_test.tsv.gz", **options)


# ------------------------------------------------------------------------------------------------------------- engines


@contextlib.contextmanager
def dask_cluster(workers: int) -> Any:
    """Start a cluster of worker processes."""
    import dask
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": 20, "distributed.comm.timeouts.connect": "120s"}
    settings["distributed.admin.large-graph-warning-threshold"] = "10GB"
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
        client.wait_for_workers(workers, timeout=120)


def dask_blocks(X: Any, y: Any, shards: int) -> tuple[Any, Any]:
    """Return rows and labels as dask arrays of so many blocks."""
    import dask
    import dask.array as da

    parts = np.array_split(np.arange(X.shape[0]), shards)
    meta = sp.csr_matrix((0, 0)) if sp.issparse(X) else np.empty((0, 0))
    shapes = [(len(part), X.shape[1]) for part in parts]
    rows = [da.from_delayed(dask.delayed(X[part]), shape, meta=meta) for part, shape in zip(parts, shapes, strict=True)]
    return da.concatenate(rows), da.from_array(np.asarray(y), chunks=(tuple(len(part) for part in parts),))


def spark_session(master: str) -> Any:
    """Start Spark."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.task.maxFailures": "20",
        "spark.driver.memory": "2g",
        "spark.executor.memory": "1g",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spark_frame(session: Any, X: Any, y: Any, shards: int) -> Any:
    """Return rows, labels, shards and places as a DataFrame of Spark."""
    from pyspark.ml.linalg import Vectors

    shard = np.concatenate(
        [np.full(len(part), number) for number, part in enumerate(np.array_split(np.arange(X.shape[0]), shards))]
    )
    rows = []
    for place, (label, number) in enumerate(zip(np.asarray(y).tolist(), shard.tolist(), strict=True)):
        if sp.issparse(X):
            entries = slice(X.indptr[place], X.indptr[place + 1])
            vector = Vectors.sparse(X.shape[1], X.indices[entries].tolist(), X.data[entries].tolist())
        else:
            vector = Vectors.dense(X[place].tolist())
        rows.append((vector, float(label), number, place))
    return session.createDataFrame(rows, ["features", "label", "shard", "place"])


# -------------------------------------------------------------------------------------------------------------- checks


def bits(quick: bool, spark: bool) -> None:
    """Compare the bits of eight shards on one thread, two threads, Dask with 1, 2 and 3 workers, and Spark."""
    from rosenblatt.scaling.dask import fit

    most, rounds = (2000, 3) if quick else (100_000, 5)
    sets = {name: data_set(name, most)[:2] for name in ("a9a", "covtype", "covtype-three", "imdb")}
    cases = [(name, member) for name in sets for member in MEMBERS]
    found: dict[tuple[str, str], dict[str, str]] = {case: {} for case in cases}
    for name, member in cases:
        for threads in (1, 2):
            made = MEMBERS[member](max_iter=rounds, tol=None, shards=8, n_jobs=threads)
            found[name, member][f"{threads} threads"] = digest(made.fit(*sets[name]))
    for workers in (1, 2, 3):
        with dask_cluster(workers) as client:
            for name, member in cases:
                blocks = dask_blocks(*sets[name], 8)
                model = fit(MEMBERS[member](tol=None), *blocks, client=client, rounds=rounds)
                found[name, member][f"dask, {workers} workers"] = digest(model)
    for master in ("local[2]", "local-cluster[2,1,1024]") if spark else ():
        session = spark_session(master)
        for name, member in cases:
            X, y = sets[name]
            found[name, member][master] = digest(_fit_on_spark(session, MEMBERS[member](tol=None), X, y, rounds))
        session.stop()
    for (name, member), digests in found.items():
        report(check="bits", data=name, member=member, same=len(set(digests.values())) == 1, digests=digests)


def _fit_on_spark(session: Any, member: Any, X: Any, y: Any, rounds: int) -> Any:
    from rosenblatt.scaling.spark import PerceptronClassifier

    learner = PerceptronClassifier(member, rounds=rounds, shardCol="shard", orderCol="place")
    return learner.fit(spark_frame(session, X, y, 8)).fitted


def _on_spark(master: str, member: Any, X: Any, y: Any, rounds: int, during: Any) -> Any:
    session = spark_session(master)
    try:
        during(session)
        return _fit_on_spark(session, member, X, y, rounds)
    finally:
        session.stop()


def kill(quick: bool, spark: bool) -> None:
    """Kill workers at random moments, ten times each: training completes with the same bits."""
    from rosenblatt.scaling.dask import fit

    times, rounds = (3 if quick else 10), 6
    X, y, *_ = data_set("a9a", 4000)
    wanted = digest(AveragedPerceptron(max_iter=rounds, tol=None, shards=8).fit(X, y))
    blocks, same = dask_blocks(X, y, 8), 0
    for trial in range(times):
        with dask_cluster(2) as client:
            chosen = random.Random(trial).randrange(1, rounds)

            def strike(epoch: Any, chosen: int = chosen, client: Any = client) -> None:
                if epoch.number == chosen:
                    worker = random.choice(list(client.run(os.getpid).values()))
                    threading.Timer(0.03, os.kill, (worker, signal.SIGKILL)).start()

            model = fit(AveragedPerceptron(tol=None, callback=strike), *blocks, client=client, rounds=rounds)
            same += digest(model) == wanted
        report(check="kill", engine="dask worker", round=chosen, same=digest(model) == wanted)
    report(check="kill", engine="dask worker", times=times, same=same)
    for what, master in (("pyspark.daemon", "local[2,20]"), ("CoarseGrainedExecutor", "local-cluster[2,1,1024]")):
        if spark:
            report(check="kill", engine=f"spark {what}", times=times, same=_kill_spark(what, master, times))


def _kill_spark(what: str, master: str, times: int) -> int:
    """Kill processes of Spark whose command has a word, while it trains; return how often the bits are the same."""
    X, y, *_ = data_set("a9a", 2000)
    wanted, same = digest(AveragedPerceptron(max_iter=6, tol=None, shards=8).fit(X, y)), 0
    for trial in range(times):
        ended = threading.Event()

        def strike(delay: float = 5 + 5 * random.Random(trial).random(), ended: Any = ended) -> None:
            if not ended.wait(delay):
                found = subprocess.run(
                    ["pgrep", "-P", ",".join(_children()), "-f", what], capture_output=True, text=True
                )
                for pid in found.stdout.split()[-1:]:
                    os.kill(int(pid), signal.SIGKILL)

        model = _on_spark(
            master,
            AveragedPerceptron(tol=None),
            X,
            y,
            6,
            lambda _, strike=strike: threading.Thread(target=strike, daemon=True).start(),
        )
        ended.set()
        same += digest(model) == wanted
    return same


def _children() -> list[str]:
    """Return all processes that this one has started."""
    found, new = [], [str(os.getpid())]
    while new:
        found += new
        listed = subprocess.run(["pgrep", "-P", ",".join(new)], capture_output=True, text=True, check=False)
        new = listed.stdout.split()
    return found


def accuracy(quick: bool, spark: bool) -> None:
    """Measure the accuracy on test rows for 1, 8, 32 and 128 shards: means of three seeds."""
    for name in ("a9a", "covtype", "imdb"):
        X, y, T, z = data_set(name, 20000 if quick else 1 << 62)
        for shards in (1, 8, 32, 128):
            found = {}
            for epochs in (1, 5, 20):
                made = [
                    AveragedPerceptron(max_iter=epochs, tol=None, shards=shards, n_jobs=2, random_state=seed)
                    for seed in range(3)
                ]
                found[epochs] = round(float(np.mean([model.fit(X, y).score(T, z) for model in made])), 4)
            report(check="accuracy", data=name, shards=shards, rows=X.shape[0], accuracy=found)


def threads(quick: bool, spark: bool) -> None:
    """Compare an epoch of one binary problem on one thread and on two, interleaved, best of several."""
    n = 50_000 if quick else 200_000
    generator = np.random.default_rng(0)
    w = generator.normal(size=100)
    X = generator.normal(size=(n, 100))
    dense = (X, X @ w + 3 * generator.normal(size=n) > 0)
    # As words in texts: few columns are frequent.
    columns = (47_000 * generator.random((n, 70)) ** 3).astype(np.int32)
    S = sp.csr_matrix((generator.random(n * 70), columns.ravel(), np.arange(0, n * 70 + 1, 70)), shape=(n, 47_000))
    S.sum_duplicates()
    sparse = (S, S @ generator.normal(size=47_000) + generator.normal(size=n) > 0)
    for name, (rows, y) in (("dense x 100", dense), ("csr x 47k", sparse)):
        for shuffle in (True, False):
            made = {
                "1 thread": Perceptron(max_iter=5, tol=None, shuffle=shuffle),
                "2 shards, 1 thread": Perceptron(max_iter=5, tol=None, shards=2, shuffle=shuffle),
                "2 shards, 2 threads": Perceptron(max_iter=5, tol=None, shards=2, n_jobs=2, shuffle=shuffle),
            }
            best = dict.fromkeys(made, np.inf)
            for _ in range(3):
                for key, model in made.items():
                    best[key] = min(best[key], model.fit(rows[:-5000], y[:-5000]).run_.seconds / 5)
            read = rows.nbytes if isinstance(rows, np.ndarray) else rows.data.nbytes + rows.indices.nbytes
            score = {key: round(model.score(rows[-5000:], y[-5000:]), 4) for key, model in made.items()}
            speed = {key: round(read / seconds / 1e9, 2) for key, seconds in best.items()}
            averaged = {
                shards: AveragedPerceptron(max_iter=5, tol=None, shards=shards, n_jobs=shards, shuffle=shuffle)
                .fit(rows[:-5000], y[:-5000])
                .score(rows[-5000:], y[-5000:])
                for shards in (1, 2)
            }
            report(
                check="threads",
                data=name,
                shuffle=shuffle,
                epoch=best,
                gigabytes_per_second=speed,
                accuracy=score,
                averaged=averaged,
            )


def _nothing(shard: Any, late: Any = None) -> Any:
    from rosenblatt.learn.mixing import Errors

    return Errors(0.0, 0.0)


def round_(quick: bool, spark: bool) -> None:
    """Split the time of a round on Dask into engine, moving of states, and computing; medians."""
    from rosenblatt.learn.mixing import Learn, Lesson, Round
    from rosenblatt.learn.multiclass import code
    from rosenblatt.methods.first_order import FirstOrder
    from rosenblatt.scaling.dask import OnDask
    from rosenblatt.verbs.learning import PerceptronRule

    for name in ("covtype", "imdb"):
        X, y, *_ = data_set(name, 20000 if quick else 1 << 62)
        method = FirstOrder(PerceptronRule(0.0, 0.0), averaged=True)
        state = method.start(1, X.shape[1], np.float64)
        lesson = Lesson(method, np.unique(y), code(2, "ovr"), np.ones(2))
        full = Learn(lesson, Round(1, state.W, state.b, state.t, np.arange(1), 1.0))
        with dask_cluster(2) as client:
            settings = {"shards": "partitions", "sample_weight": None, "hold": None, "reading": {}}
            shards = OnDask.of(client, *dask_blocks(X, y, 8), **settings)
            found: dict[str, list[float]] = {"engine": [], "engine, states": [], "whole round": []}
            for _ in range(3 if quick else 9):
                for key, work in zip(found, (_nothing, _Idle(full), full), strict=True):
                    start = time.perf_counter()
                    shards.combine(work)
                    found[key].append(time.perf_counter() - start)
        report(check="round", data=name, seconds={key: round(float(np.median(v[1:])), 4) for key, v in found.items()})


class _Idle:
    """Work that carries a state there and as much back, and does nothing."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def __call__(self, shard: Any, late: Any = None) -> Any:
        from rosenblatt.learn.mixing import Shard

        return self.work(Shard(shard.number, []))


def memory(quick: bool, spark: bool) -> None:
    """Measure the memory of workers that read a set of files again in each round."""
    from rosenblatt.scaling.dask import fit

    size, count = (64 << 20) if quick else (2 << 30), 8
    with tempfile.TemporaryDirectory() as folder:
        line = " ".join(f"{j * 13 + 1}:{j % 7 + 0.5}" for j in range(60))
        block = "".join(f"{'1' if k % 2 else '-1'} {k % 12 + 1}:1 {line[8:]}\n" for k in range(2000))
        for number in range(count):
            with open(f"{folder}/{number}.svm", "w") as file:
                for _ in range(size // count // len(block)):
                    file.write(block)
        total = sum(os.path.getsize(f"{folder}/{number}.svm") for number in range(count))
        with dask_cluster(2) as client:
            before = client.run(_peak)
            start = time.perf_counter()
            fit(AveragedPerceptron(tol=None), f"{folder}/*.svm", client=client, rounds=2, hold=False, format="svmlight")
            seconds = time.perf_counter() - start
            after = client.run(_peak)
    report(check="memory", bytes=total, seconds=seconds, before=list(before.values()), after=list(after.values()))


def _peak() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3  # megabytes


def certificates(quick: bool, spark: bool) -> None:
    """Certify ten data sets on Dask: the same verdicts as on one machine, and certificates that hold."""
    from rosenblatt.scaling.dask import certify as certify_on_dask

    generator = np.random.default_rng(0)
    n = 5_000 if quick else 100_000
    X = generator.normal(size=(n, 10))
    height = X @ generator.normal(size=10)
    grid = generator.integers(-3, 4, (n, 5)).astype(float)
    coin = generator.integers(0, 2, n)
    far, tied = np.abs(height) > 0.02, np.where(grid[:, 0] == 0, coin, grid[:, 0] > 0)
    dependent = np.hstack([grid, 2 * grid[:, :1]])
    sets = {
        "separable": (X[far], height[far] > 0),
        "separable, float32": (X[far].astype(np.float32), height[far] > 0),
        "one row flipped": (X, (height > 0) ^ (np.arange(n) == 17)),
        "overlapping": (X, coin),
        "quasi-separable": (grid, tied),
        "quasi-separable, sparse": (sp.csr_matrix(grid), tied),
        "quasi-separable, dependent": (dependent, tied),
        "overlapping, dependent": (dependent, coin),
        "three classes, separable": (X, (X @ generator.normal(size=(10, 3))).argmax(axis=1)),
        "three classes, overlapping": (X, generator.integers(0, 3, n)),
    }
    with dask_cluster(2) as client:
        for name, (rows, y) in sets.items():
            blocks = dask_blocks(rows, y, 8)
            tracemalloc.start()
            start = time.perf_counter()
            found = certify_on_dask(*blocks, client=client)
            seconds, peak = time.perf_counter() - start, tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            alone = certify(rows, y, coefficients=False)
            holds = verify(found, rows, y)
            size = rows.nbytes if isinstance(rows, np.ndarray) else rows.data.nbytes
            report(
                check="certify",
                data=name,
                verdict=found.verdict,
                same=found.verdict == alone.verdict,
                verified=holds,
                seconds=seconds,
                driver_megabytes=peak / 1e6,
                data_megabytes=size / 1e6,
            )


CHECKS = {
    "bits": bits,
    "kill": kill,
    "accuracy": accuracy,
    "threads": threads,
    "round": round_,
    "memory": memory,
    "certify": certificates,
}


def main() -> None:
    """Run the checks that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checks", nargs="+", choices=CHECKS)
    parser.add_argument("--quick", action="store_true", help="small data, few rounds")
    parser.add_argument("--spark", action="store_true", help="Spark as well, which takes minutes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.checks:
        CHECKS[name](options.quick, options.spark)


if __name__ == "__main__":
    main()
