"""The same bits on Dask as on threads, whatever the workers, and when one of them is killed."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

dask = pytest.importorskip("dask", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
da = pytest.importorskip("dask.array")

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, certify, verify  # noqa: E402
from rosenblatt.errors import InvalidInput, NoWorker  # noqa: E402
from rosenblatt.scaling import dask as scaling  # noqa: E402

# Warnings of Dask and of what it imports are Dask's.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.long]


@pytest.fixture(scope="module")
def client():
    settings = {"distributed.scheduler.allowed-failures": 10, "distributed.comm.timeouts.connect": "60s"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
        client.wait_for_workers(2, timeout=60)  # closing while a worker is started again may hang


def some_rows(n=480, d=6, classes=2):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=(d, classes)) + random.normal(size=(n, classes))).argmax(axis=1)


def blocks(X, y, size=60):
    if not sp.issparse(X):
        return da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)
    parts = [dask.delayed(X[first : first + size]) for first in range(0, X.shape[0], size)]
    empty = sp.csr_matrix((0, X.shape[1]))
    rows = [da.from_delayed(part, (size, X.shape[1]), meta=empty) for part in parts]
    return da.concatenate(rows), da.from_array(y, chunks=size)


def same(one, other):
    return (
        one.coef_.tobytes() == other.coef_.tobytes()
        and one.intercept_.tobytes() == other.intercept_.tobytes()
        and one.run_.mistakes == other.run_.mistakes
    )


@pytest.mark.parametrize("member", [Perceptron(), AveragedPerceptron(), PassiveAggressive()], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_dask_gives_the_bits_of_shards_on_threads(client, member, classes):
    X, y = some_rows(classes=classes)
    for rows in (X, sp.csr_matrix(np.round(X))):
        there = scaling.fit(member, *blocks(rows, y), rounds=3)
        here = type(member)(shards=8, max_iter=3).fit(rows, y)
        assert same(there, here)
        assert there.shards == 8


@pytest.mark.parametrize("member", [Perceptron(mixes=3), AveragedPerceptron(mixes=5), AveragedPerceptron(mixes=1)])
def test_dask_mixes_as_often_as_the_estimator_says(client, member):
    X, y = some_rows()
    there = scaling.fit(member, *blocks(X, y), rounds=3)
    assert same(there, type(member)(shards=8, max_iter=3, mixes=member.mixes).fit(X, y))
    assert not same(there, type(member)(shards=8, max_iter=3, mixes=2).fit(X, y))


def test_shards_may_be_cut_anew(client):
    X, y = some_rows()
    there = scaling.fit(Perceptron(), *blocks(X, y, 100), shards=8, rounds=2)
    assert same(there, Perceptron(shards=8, max_iter=2).fit(X, y))


def test_empty_partitions_one_class_and_weights_do_no_harm(client):
    X, y = some_rows()
    order = np.argsort(y, kind="stable")
    X, y, weight = X[order], y[order], np.tile([2.0, 0.0, 1.0], 160)
    rows, labels = blocks(X, y)
    none = da.from_array(np.empty((0, 6)), chunks=(1, -1))
    rows = da.concatenate([rows[:240], none, rows[240:]])
    labels = da.concatenate([labels[:240], da.from_array(np.empty(0, int), chunks=1), labels[240:]])
    there = scaling.fit(AveragedPerceptron(), rows, labels, rounds=3, sample_weight=da.from_array(weight, chunks=60))
    assert there.score(X, y) > 0.7
    assert there.t_ == 3 * np.count_nonzero(weight)


def test_a_worker_that_is_killed_changes_no_bit(client):
    X, y = some_rows()
    here = AveragedPerceptron(shards=8, max_iter=6).fit(X, y)

    def kill(epoch):
        if epoch.number == 2:
            worker = next(iter(client.run(os.getpid).values()))
            threading.Timer(0.02, os.kill, (worker, signal.SIGKILL)).start()

    # In a thread of its own: whatever happens to a cluster, the test ends.
    with ThreadPoolExecutor(1) as pool:
        member = AveragedPerceptron(callback=kill)
        there = pool.submit(scaling.fit, member, *blocks(X, y), rounds=6, client=client).result(timeout=300)
    assert same(there, here)
    client.wait_for_workers(2, timeout=120)


@pytest.mark.parametrize("hold", [True, False])
def test_files_are_read_alike_wherever_and_give_what_one_machine_learns(client, tmp_path, hold):
    X, y = some_rows()
    label = np.where(y, "ham", "spam")
    words = (X[:, :2] * 3).astype(int)
    lines = [f"{c}\tword{v} and word{u}" for c, (v, u) in zip(label, words, strict=True)]
    for k in range(4):
        (tmp_path / f"part-{k}.tsv").write_text("\n".join(lines[k::4]) + "\n")
    pattern = str(tmp_path / "part-*.tsv")
    there = scaling.fit(AveragedPerceptron(), pattern, rounds=2, hold=hold, format="text")
    from rosenblatt.learners.sharding import fit_shards
    from rosenblatt.scaling.partitions import FileRows, resolve_files, shard_of_files
    from rosenblatt.training.sharded import LocalShards

    paths, options, names, _ = resolve_files([pattern], {"format": "text"})
    shards = [shard_of_files(number, FileRows([path], options), names, True) for number, path in enumerate(paths)]
    assert same(there, fit_shards(AveragedPerceptron(), LocalShards(shards), rounds=2))
    assert there.classes_.tolist() == ["ham", "spam"]
    predicted = scaling.predict(there, pattern, format="text").compute()
    assert np.mean(predicted == np.concatenate([label[k::4] for k in range(4)])) > 0.55


def test_frames_are_trained_on_by_the_name_of_a_column(client):
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = some_rows()
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(kind=np.where(y, "yes", "no"))
    rows = frames.from_pandas(frame, npartitions=4)
    model = scaling.fit(AveragedPerceptron(), rows, "kind", rounds=4)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.score(frame[list("abcdef")], frame["kind"]) > 0.7
    predicted = scaling.predict(model, rows.drop(columns="kind")).compute()
    assert predicted.tolist() == model.predict(frame[list("abcdef")]).tolist()
    with pytest.raises(InvalidInput, match="no column 'sort'"):
        scaling.fit(AveragedPerceptron(), rows, "sort")


def test_predictions_are_those_of_the_model(client):
    X, y = some_rows(classes=3)
    model = AveragedPerceptron(max_iter=3).fit(X, y)
    rows = blocks(X, y)[0]
    assert scaling.predict(model, rows).compute().tolist() == model.predict(X).tolist()
    scores = scaling.predict(model, rows, method="decision_function")
    assert scores.shape == (480, 3)
    np.testing.assert_array_equal(scores.compute(), model.decision_function(X))


def test_certificates_are_those_of_one_machine(client):
    X, _ = some_rows()
    for y in (X[:, 0] > 0, X[:, 0] > X[:, 1] ** 2):
        found = scaling.certify(*blocks(X, y))
        assert found.verdict == certify(X, y).verdict
        assert verify(found, X, y)


def test_what_cannot_be_trained_is_refused(client):
    X, y = some_rows()
    rows, labels = blocks(X, y)
    with pytest.raises(InvalidInput, match="no mean"):
        scaling.fit(AROW(), rows, labels)
    with pytest.raises(InvalidInput, match="not a Dask collection"):
        scaling.fit(Perceptron(), X, y)
    with pytest.raises(InvalidInput, match="y is missing"):
        scaling.fit(Perceptron(), rows)
    with pytest.raises(InvalidInput, match="shards=0"):
        scaling.fit(Perceptron(), rows, labels, shards=0)
    with pytest.raises(InvalidInput, match="y has 479 values"):
        scaling.fit(Perceptron(), rows, labels[1:])
    with pytest.raises(InvalidInput, match="one machine"):
        scaling.fit(Perceptron(early_stopping=True), rows, labels)
    with pytest.raises(InvalidInput, match="one; got 1 class"):
        scaling.fit(Perceptron(), rows, labels * 0)
    with pytest.raises(InvalidInput, match="option for files"):
        scaling.fit(Perceptron(), rows, labels, format="csv")
    with (
        dask.config.set({"rosenblatt.worker-timeout": 0}),
        pytest.raises(InvalidInput, match="worker-timeout=0 is not above 0"),
    ):
        scaling.fit(Perceptron(), rows, labels)


def test_where_no_worker_is_left_one_does_not_wait_for_ever():
    X, y = some_rows()
    with (
        dask.config.set({"rosenblatt.worker-timeout": "500ms"}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        leaving = AveragedPerceptron(callback=lambda epoch: cluster.scale(0), tol=None)
        for member in (leaving, AveragedPerceptron()):  # lost after some rounds; none from the start
            options = {"rounds": 100_000, "client": client}
            with ThreadPoolExecutor(1) as pool:
                fitting = pool.submit(scaling.fit, member, *blocks(X, y), **options)
                with pytest.raises(NoWorker, match=r"had no worker for 0\.5 s"):
                    fitting.result(timeout=120)
