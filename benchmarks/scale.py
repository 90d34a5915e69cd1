"""What shards, Dask and Spark do: the same bits, killed workers, accuracy, time, memory. Figures are printed as JSON.

python -m benchmarks.scale bits|kill|accuracy|threads|round|memory|certify [--quick] [--spark]
    [--data NAME] [--member NAME] [--engine NAME]

The last three restrict bits and kill to one data set, member or engine: shards on one thread are always compared with.
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
import sys
import tempfile
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt import AveragedPerceptron, PassiveAggressive, Perceptron, certify, verify
from rosenblatt.training.algorithm import never
from rosenblatt.training.sharded import Shards

DATA = Path(os.environ.get("ROSENBLATT_DATA", Path(__file__).parents[2] / "shared" / "data"))
CHOSEN: dict[str, str] = {}  # what the checks are restricted to
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


class Parts:
    """Rows and labels in files, a shard each: workers read them, and the driver has nothing of them."""

    def __init__(self, folder: str, X: Any, y: Any, shards: int) -> None:
        self.y, self.columns, self.sparse = np.asarray(y), X.shape[1], sp.issparse(X)
        self.parts = np.array_split(np.arange(X.shape[0]), shards)
        self.paths = [f"{tempfile.mkdtemp(dir=folder)}/{number}" for number in range(shards)]
        for path, part in zip(self.paths, self.parts, strict=True):
            sp.save_npz(path, X[part], compressed=False) if self.sparse else np.save(path, X[part])

    def dask(self) -> tuple[Any, Any]:
        """Return rows and labels as dask arrays."""
        import dask
        import dask.array as da

        meta = sp.csr_matrix((0, 0)) if self.sparse else np.empty((0, 0))
        rows = [
            da.from_delayed(dask.delayed(_read)(path, self.sparse), (len(part), self.columns), meta=meta)
            for path, part in zip(self.paths, self.parts, strict=True)
        ]
        return da.concatenate(rows), da.from_array(self.y, chunks=(tuple(map(len, self.parts)),))

    def spark(self, session: Any) -> Any:
        """Return rows, labels, shards and places as a DataFrame of Spark."""
        from pyspark.ml.linalg import VectorUDT
        from pyspark.sql.types import DoubleType, LongType, StructField, StructType

        kinds = {"features": VectorUDT(), "label": DoubleType(), "shard": LongType(), "place": LongType()}
        schema = StructType([StructField(name, kind) for name, kind in kinds.items()])
        labels = [self.y[part].astype(float) for part in self.parts]
        numbers = session.range(0, len(self.paths), 1, len(self.paths))
        return numbers.mapInArrow(_Reader(self.paths, self.sparse, labels), schema)


def _read(path: str, sparse: bool) -> Any:
    return sp.load_npz(path + ".npz") if sparse else np.load(path + ".npy")


class _Reader:
    """What a worker of Spark makes of the numbers of shards."""

    def __init__(self, paths: list[str], sparse: bool, labels: list[Any]) -> None:
        self.paths, self.sparse, self.labels = paths, sparse, labels

    def __call__(self, batches: Any) -> Any:
        import pyarrow as pa

        from rosenblatt.scaling.spark import vectors_of

        for batch in batches:
            for number in batch.column(0).to_pylist():
                X, y = _read(self.paths[number], self.sparse), self.labels[number]
                for first in range(0, X.shape[0], 5000):
                    rows = X[first : first + 5000]
                    n = rows.shape[0]
                    columns = [
                        _sparse_vectors(rows) if self.sparse else vectors_of(rows),
                        pa.array(y[first : first + n]),
                        pa.array(np.full(n, number)),
                        pa.array(np.arange(first, first + n)),
                    ]
                    yield pa.RecordBatch.from_arrays(columns, ["features", "label", "shard", "place"])


def _sparse_vectors(rows: Any) -> Any:
    import pyarrow as pa

    ends = pa.array(rows.indptr.astype(np.int32))
    lists = [
        pa.ListArray.from_arrays(ends, pa.array(values))
        for values in (rows.indices.astype(np.int32), rows.data.astype(float))
    ]
    kind, size = (np.full(rows.shape[0], value, dtype) for value, dtype in ((0, np.int8), (rows.shape[1], np.int32)))
    return pa.StructArray.from_arrays([pa.array(kind), pa.array(size), *lists], ["type", "size", "indices", "values"])


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
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "spark.executor.memory": "1g",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


# -------------------------------------------------------------------------------------------------------------- checks


def bits(quick: bool, spark: bool) -> None:
    """Compare the bits of eight shards on one thread, two threads, Dask with 1, 2 and 3 workers, and Spark."""
    with tempfile.TemporaryDirectory() as folder:
        for name in filter(_wanted("data"), ("a9a", "imdb", "covtype", "covtype-three")):
            X, y, *_ = data_set(name, 2000 if quick else 1 << 62)
            parts, found = Parts(folder, X, y, 8), {member: {} for member in MEMBERS if _wanted("member")(member)}
            for engine, member, model in _everywhere(X, y, parts, 3, spark):
                found[member][engine] = digest(model)
                report(check="bits", data=name, member=member, engine=engine, digest=digest(model))
            for member, digests in found.items():
                same = len(set(digests.values())) == 1
                report(check="bits", data=name, rows=len(y), member=member, engines=list(digests), same=same)


def _wanted(kind: str) -> Any:
    return lambda name: CHOSEN.get(kind) in (None, name)


def _everywhere(X: Any, y: Any, parts: Parts, rounds: int, spark: bool) -> Any:
    """Yield every engine, every member of the family, and the model."""
    from rosenblatt.scaling.dask import fit

    engine, members = _wanted("engine"), [name for name in MEMBERS if _wanted("member")(name)]
    for threads, member in product((1, 2) if engine("threads") else (1,), members):
        made = MEMBERS[member](max_iter=rounds, tol=None, shards=8, n_jobs=threads)
        yield f"{threads} threads", member, made.fit(X, y)
    for workers in (1, 2, 3) if engine("dask") else ():
        with dask_cluster(workers) as client:
            for member in members:
                model = fit(MEMBERS[member](tol=None), *parts.dask(), client=client, rounds=rounds)
                yield f"dask, {workers} workers", member, model
    for master in filter(engine, ("local[2]", "local-cluster[2,1,1024]")) if spark else ():
        session = spark_session(master)
        for member in members:
            yield master, member, _fit_on_spark(session, MEMBERS[member](tol=None), parts, rounds)
        session.stop()


def _fit_on_spark(session: Any, member: Any, parts: Parts, rounds: int) -> Any:
    from rosenblatt.scaling.spark import PerceptronClassifier

    learner = PerceptronClassifier(member, rounds=rounds, shardCol="shard", orderCol="place")
    return learner.fit(parts.spark(session)).fitted


def kill(quick: bool, spark: bool) -> None:
    """Kill processes in the middle of random rounds, ten times each: training completes with the same bits.

    A trial counts if what was killed was gone before the round was over, and on Spark if tasks were lost by it.
    """
    times, epochs = (3 if quick else 10), 3
    X, y, *_ = data_set("a9a", 4000)
    wanted = digest(AveragedPerceptron(max_iter=epochs, tol=None, shards=8).fit(X, y))
    os.environ[MARK] = str(os.getpid())  # before an engine starts: its processes have it too
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(folder, X, y, 8)
        for engine in filter(_wanted("engine"), VICTIMS if spark else ("dask worker",)):
            counted = same = 0
            with (_fits_on_spark if spark else _fits_on_dask)(engine, parts, epochs) as fits:
                rounds = fits(
                    Struck.nobody()
                ).seconds  # nobody is killed: how many rounds there are, how long they take
                for trial in range(3 * times):
                    chosen = random.Random(trial)
                    number = chosen.randrange(len(rounds))
                    struck = fits(Struck(number, chosen.random() * min(rounds) / 2, chosen))
                    counted += struck.counts
                    same += struck.counts and digest(struck.model) == wanted
                    report(check="kill", engine=engine, same=digest(struck.model) == wanted, **struck.told())
                    if counted == times:
                        break
            report(check="kill", engine=engine, rounds=len(rounds), times=counted, same=same)


# Set in the environment of every process that an engine starts: workers whose parent was killed are found by it.
MARK = "ROSENBLATT_BENCHMARK"
# What is killed, and on which cluster.
VICTIMS = {
    "spark executor": "local-cluster[2,1,1024]",
    "spark python worker": "local[2,20]",
    "spark python daemon": "local[2,20]",  # and all workers with it
}


class Struck(Shards):
    """Shards some of whose processes are killed in the middle of a round.

    Attributes
    ----------
    number : int
        The round, from 0, which is the first look at the rows; the next, if it is over too soon.
    delay : float
        Seconds after it is busy.
    busy : callable
        Returns whether work is being done.
    victims : callable
        Returns the processes to kill.
    seconds : list of float
        Of each round.
    dead : list of int
        The processes that were gone before the round was over.
    lost : int
        Tasks that failed; where the engine counts none, those processes.
    """

    def __init__(self, number: int, delay: float, chosen: random.Random) -> None:
        self.number, self.delay, self.chosen = number, delay, chosen
        self.seconds: list[float] = []
        self.dead: list[int] = []
        self.struck, self.lost = -1, 0
        self.shards: Shards = Shards()
        self.model: Any = None
        self.victims: Callable[[], list[int]] = list
        self.busy: Callable[[], bool] = lambda: True

    @classmethod
    def nobody(cls) -> Struck:
        """Return what kills nobody."""
        return cls(sys.maxsize, 0.0, random.Random())

    @property
    def counts(self) -> bool:
        """Whether something was killed that did work."""
        return bool(self.dead and self.lost)

    def told(self) -> dict[str, Any]:
        """Return what happened."""
        return {"round": self.struck, "after": self.delay, "killed": len(self.dead), "tasks_lost": self.lost}

    def combine(self, work: Any, late: Any = never) -> Any:
        """Call `work` on each shard, and kill meanwhile."""
        start, over = time.perf_counter(), threading.Event()
        killer = threading.Thread(target=self._kill, args=(over,))
        if not self.dead and len(self.seconds) >= self.number:
            killer.start()
        try:
            return self.shards.combine(work, late)
        finally:
            over.set()
            if killer.ident is not None:
                killer.join()
            self.seconds.append(time.perf_counter() - start)

    def _kill(self, over: threading.Event) -> None:
        while not self.busy() and not over.wait(0.01):
            pass
        if over.wait(self.delay):
            return
        killed = self.victims()
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        while not over.is_set() and any(map(_lives, killed)):
            time.sleep(0.002)
        if not over.is_set():
            self.dead, self.struck = killed, len(self.seconds)

    def keep(self, numbers: Any) -> None:
        """Forget all shards but these."""
        self.shards.keep(numbers)


@contextlib.contextmanager
def _fits_on_dask(_: str, parts: Parts, epochs: int) -> Any:
    from rosenblatt.learners.sharding import fit_shards
    from rosenblatt.scaling.dask import OnDask

    def fits(struck: Struck) -> Struck:
        with dask_cluster(2) as client:
            workers = list(client.run(os.getpid).values())
            struck.shards = OnDask(client, *parts.dask(), {})
            struck.victims = lambda: struck.chosen.sample(workers, 1)
            struck.model = fit_shards(AveragedPerceptron(tol=None), struck, rounds=epochs)
            struck.lost = len(struck.dead)
        return struck

    yield fits


@contextlib.contextmanager
def _fits_on_spark(engine: str, parts: Parts, epochs: int) -> Any:
    from rosenblatt.learners.sharding import fit_shards
    from rosenblatt.scaling.spark import OnSpark, PerceptronClassifier

    session = spark_session(VICTIMS[engine])
    context = session.sparkContext
    jobs = iter(range(sys.maxsize))
    found = context.statusTracker()

    def busy() -> bool:
        stages = map(found.getStageInfo, found.getActiveStageIds())
        return any(stage is not None and stage.numActiveTasks for stage in stages)

    def victims(struck: Struck) -> list[int]:
        if engine == "spark python daemon":
            return _started("pyspark.daemon")
        # The daemon leads the group of the workers that it has forked, and an executor has started it.
        workers = [pid for pid in _started("pyspark.daemon") if _status(pid)[2] != str(pid)]
        busy = [pid for pid in workers if _status(pid)[0] == "R"] or workers
        if engine == "spark executor":
            busy = [int(_status(int(_status(pid)[1]))[1]) for pid in busy]
        return struck.chosen.sample(busy, min(1, len(busy)))

    def fits(struck: Struck) -> Struck:
        context.setJobGroup(group := f"fit {next(jobs)}", "a fit of the benchmark")
        frame = PerceptronClassifier(shardCol="shard", orderCol="place")._prepared(parts.spark(session)).persist()
        struck.shards, struck.victims, struck.busy = OnSpark(frame), lambda: victims(struck), busy
        struck.model = fit_shards(AveragedPerceptron(tol=None), struck, rounds=epochs)
        frame.unpersist()
        stages = {stage for job in found.getJobIdsForGroup(group) for stage in found.getJobInfo(job).stageIds}
        struck.lost = sum(info.numFailedTasks for info in map(found.getStageInfo, stages) if info is not None)
        return struck

    yield fits
    session.stop()


def _started(word: str) -> list[int]:
    """Return the processes that the engine has started, by a word of their commands."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            marked = f"{MARK}={os.getpid()}".encode() in (folder / "environ").read_bytes().split(b"\0")
            if marked and word.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return sorted(found)


def _status(pid: int) -> list[str]:
    """Return the state of a process, its parent, its group, ...; of one that has ended, that it is dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return ["X", "0", "0"]


def _lives(pid: int) -> bool:
    """Return whether a process is there, and not only its exit status."""
    return _status(pid)[0] not in "ZX"


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
    """Compare an epoch of one binary problem on one thread and on two, interleaved, best of several; and accuracies."""
    n, held = (50_000, 10_000) if quick else (240_000, 40_000)
    report(check="threads", free_cores=_free_cores())
    for seed in (0, 1):
        generator = np.random.default_rng(seed)
        w = generator.normal(size=100)
        X = generator.normal(size=(n, 100))
        dense = (X, X @ w + 3 * generator.normal(size=n) > 0)
        # As words in texts: few columns are frequent.
        columns = (47_000 * generator.random((n, 70)) ** 3).astype(np.int32)
        S = sp.csr_matrix((generator.random(n * 70), columns.ravel(), np.arange(0, n * 70 + 1, 70)), shape=(n, 47_000))
        S.sum_duplicates()
        sparse = (S, S @ generator.normal(size=47_000) + generator.normal(size=n) > 0)
        for name, (rows, y) in (("dense x 100", dense), ("csr x 47k", sparse)):
            new, truth, rows, y = rows[-held:], y[-held:], rows[:-held], y[:-held]
            for member, shuffle in product((Perceptron, AveragedPerceptron), (True, False)):
                made = {
                    f"{shards} shards, {jobs} threads": member(
                        max_iter=5, tol=None, shuffle=shuffle, shards=shards, n_jobs=jobs, random_state=seed
                    )
                    for shards, jobs in ((1, 1), (2, 1), (2, 2))
                }
                best = dict.fromkeys(made, np.inf)
                for _ in range(5):
                    for key, model in made.items():
                        best[key] = min(best[key], model.fit(rows, y).run_.seconds / 5)
                read = rows.nbytes if isinstance(rows, np.ndarray) else rows.data.nbytes + rows.indices.nbytes
                report(
                    check="threads",
                    data=name,
                    seed=seed,
                    member=member.__name__,
                    shuffle=shuffle,
                    epoch=best,
                    gigabytes_per_second={key: round(read / seconds / 1e9, 2) for key, seconds in best.items()},
                    accuracy={key: round(model.score(new, truth), 4) for key, model in made.items()},
                )


def _free_cores() -> float:
    """Return how much more two threads compute than one: below 1.8, no figure says anything about threads."""
    values = np.linspace(0.0, 1.0, 1 << 16)
    taken = dict.fromkeys((1, 2), np.inf)
    for count in (1, 2) * 5:
        with ThreadPoolExecutor(count) as pool:
            start = time.perf_counter()
            list(pool.map(lambda _: [np.sin(values) for _ in range(100)], range(count)))
            taken[count] = min(taken[count], time.perf_counter() - start)
    return 2 * taken[1] / taken[2]


def _nothing(shard: Any, late: Any = None) -> Any:
    from rosenblatt.training.mixing import ShardErrors

    return ShardErrors(0.0, 0.0)


def round_(quick: bool, spark: bool) -> None:
    """Split the time of a round on Dask into engine, moving of states, and computing; medians."""
    from rosenblatt.engine.rules import perceptron
    from rosenblatt.scaling.dask import OnDask
    from rosenblatt.training.first_order import FirstOrder
    from rosenblatt.training.mixing import Round, ShardSpec, train_shard
    from rosenblatt.training.multiclass import coding_matrix

    for name in ("covtype", "imdb"):
        X, y, *_ = data_set(name, 20000 if quick else 1 << 62)
        method = FirstOrder(perceptron(), averaged=True)
        state = method.start(1, X.shape[1], np.float64)
        lesson = ShardSpec(method, np.unique(y), coding_matrix(2, "ovr"), np.ones(2))
        full = partial(train_shard, lesson, Round(1, 0, state.W, state.b, state.t, np.arange(1), 1.0))
        with tempfile.TemporaryDirectory() as folder, dask_cluster(2) as client:
            shards = OnDask(client, *Parts(folder, X, y, 8).dask(), {})
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
        from rosenblatt.training.shards import Shard

        return self.work(Shard(shard.number, []))


def memory(quick: bool, spark: bool) -> None:
    """Measure the memory of workers that read files again in each round: the same for a set eight times as large."""
    for megabytes in (8, 64) if quick else (256, 2048):
        _memory(megabytes << 20, 8)


def _memory(size: int, count: int) -> None:
    from rosenblatt.scaling.dask import fit

    with tempfile.TemporaryDirectory() as folder:
        line = " ".join(f"{j * 13 + 20}:{j % 7 + 0.5}" for j in range(60))
        block = "".join(f"{'1' if k % 2 else '-1'} {k % 12 + 1}:1 {line}\n" for k in range(2000))
        for number in range(count):
            with open(f"{folder}/{number}.svm", "w") as file:
                for _ in range(max(1, size // count // len(block))):
                    file.write(block)
        total = sum(os.path.getsize(f"{folder}/{number}.svm") for number in range(count))
        with dask_cluster(2) as client:
            before = client.run(_peak)
            start = time.perf_counter()
            fit(AveragedPerceptron(tol=None), f"{folder}/*.svm", client=client, rounds=2, hold=False, format="svmlight")
            seconds = time.perf_counter() - start
            after = client.run(_peak)
    report(
        check="memory",
        megabytes_of_files=total / 1e6,
        seconds=seconds,
        megabytes_before=list(before.values()),
        megabytes_after=list(after.values()),
        driver_megabytes=_peak(),
    )


def _peak() -> float:
    """Return the largest memory that this process had, in megabytes; getrusage would count that of its parent."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def certificates(quick: bool, spark: bool) -> None:
    """Certify ten data sets on Dask: the same verdicts as on one machine, and certificates that hold."""
    from rosenblatt.scaling.dask import certify as certify_on_dask

    generator = np.random.default_rng(0)
    n = 5_000 if quick else 200_000
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
    with tempfile.TemporaryDirectory() as folder, dask_cluster(2) as client:
        for name, (rows, y) in sets.items():
            blocks = Parts(folder, rows, y, 8).dask()
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
    for name in ("data", "member", "engine"):
        parser.add_argument(f"--{name}", help="restrict the check to it")
    options = parser.parse_args()
    CHOSEN.update({name: value for name, value in vars(options).items() if isinstance(value, str)})
    warnings.simplefilter("ignore")
    for name in options.checks:
        CHECKS[name](options.quick, options.spark)


if __name__ == "__main__":
    main()
