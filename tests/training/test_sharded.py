"""Laws of training on shards of one table."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PNormPerceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
    certify,
    load,
    record,
    save,
)
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.training.sharded import LocalShards, Shards, learnable_dtype, table_stats
from rosenblatt.training.shards import Shard
from rosenblatt.training.stopping import Stop

MEMBERS = [
    Perceptron(),
    Perceptron(multiclass="ovo"),
    Perceptron(margin=0.5, schedule="1/sqrt(t)"),
    AveragedPerceptron(),
    AveragedPerceptron(multiclass="joint"),
    PassiveAggressive(),
    SoftMargin(),
    SoftMargin(penalty="elasticnet"),
]
each = pytest.mark.parametrize("member", MEMBERS, ids=str)


def some_rows(n=400, d=6, classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    planes = np.random.default_rng(5).normal(size=(classes, d))
    return X, (X @ planes.T + 0.5 * random.normal(size=(n, classes))).argmax(axis=1)


def made(member, **changes):
    return type(member)(**member.get_params() | {"max_iter": 12} | changes)


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_the_result_depends_on_the_shards_and_not_on_the_threads(member, classes):
    X, y = some_rows(classes=classes)
    one = made(member, shards=8).fit(X, y)
    two = made(member, shards=8, n_jobs=2).fit(X, y)
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.intercept_.tobytes() == two.intercept_.tobytes()
    assert one.run_.mistakes == two.run_.mistakes
    assert one.coef_.tobytes() != made(member, shards=7).fit(X, y).coef_.tobytes()


@pytest.mark.parametrize("mixes", [1, 3, 1000])
def test_however_often_shards_mix_threads_change_nothing_and_each_row_is_presented_once(mixes):
    X, y = some_rows(classes=3)
    one, two = (AveragedPerceptron(shards=4, mixes=mixes, n_jobs=n, max_iter=5, tol=None).fit(X, y) for n in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.t_ == 5 * 400
    assert one.score(X, y) > 0.8


def test_impossible_numbers_of_mixes_are_refused():
    X, y = some_rows()
    for value in (0, 1.5, "often", None):
        with pytest.raises(InvalidInput, match=r"mixes=.* a whole number from 1, or \"auto\""):
            Perceptron(shards=2, mixes=value).fit(X, y)


@each
def test_shards_learn_about_as_well_as_one(member):
    X, y = some_rows(2000, classes=3)
    new, truth = some_rows(2000, classes=3, seed=1)
    single, sharded = (made(member, shards=k, max_iter=30).fit(X, y).score(new, truth) for k in (1, 5))
    assert sharded > single - 0.08


def test_separable_rows_are_separated():
    X, _ = some_rows()
    y = X[:, 0] > 0
    X[:, 0] += np.where(y, 0.3, -0.3)
    model = Perceptron(shards=5).fit(X, y)
    assert model.run_.stop is Stop.SEPARATED
    assert model.score(X, y) == 1.0


def test_the_ceiling_of_the_margin_is_true():
    X, _ = some_rows(60, 2)
    y = X[:, 0] > 0
    X[:, 0] += np.where(y, 0.3, -0.3)
    for member, mixes in ((Perceptron, "auto"), (AveragedPerceptron, "auto"), (AveragedPerceptron, 7)):
        run = member(shards=4, mixes=mixes, max_iter=6, tol=None).fit(X, y).run_
        assert run.ceiling is not None
        assert run.ceiling >= certify(X, y).augmented.lower


def test_more_shards_than_rows_and_shards_of_one_class_do_no_harm():
    assert Perceptron(shards=50).fit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 1]).score([[0, 0]], [0]) == 1.0
    X, y = some_rows()
    order = np.argsort(y, kind="stable")
    assert AveragedPerceptron(shards=4, max_iter=20).fit(X[order], y[order]).score(X, y) > 0.8


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    X, y = some_rows()
    weight = np.ones(400)
    weight[::3] = 0.0
    left = weight > 0
    assert (
        made(MEMBERS[3], shards=4).fit(X, y, sample_weight=weight).coef_.tobytes()
        == made(MEMBERS[3], shards=4).fit(X[left], y[left]).coef_.tobytes()
    )


def test_a_sparse_copy_gives_the_same_weights():
    X, y = some_rows(classes=3)
    X = np.round(X)
    a, b = (Perceptron(shards=4, max_iter=5, tol=None).fit(rows, y) for rows in (X, sp.csr_matrix(X)))
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_early_stopping_and_warm_starts_work():
    X, y = some_rows()
    model = AveragedPerceptron(shards=3, early_stopping=True, max_iter=20).fit(X, y)
    assert len(model.run_.errors) == model.n_iter_
    warm = Perceptron(shards=3, warm_start=True, max_iter=2, tol=None).fit(X, y)
    before = warm.coef_.copy()
    assert not np.array_equal(warm.fit(X, y).coef_, before)
    started = Perceptron(shards=3, max_iter=1, tol=None, init=(before[0], 0.0)).fit(X, y)
    assert not np.array_equal(started.coef_, before)


def test_a_time_limit_ends_it():
    X, y = some_rows()
    model = Perceptron(shards=3, n_jobs=2, max_seconds=1e-9, tol=None).fit(X, y)
    assert model.run_.stop is Stop.SECONDS


def test_shards_drawn_with_replacement_and_in_their_order_work():
    X, y = some_rows()
    assert Perceptron(shards=3, shuffle="random", max_iter=20).fit(X, y).score(X, y) > 0.8
    assert Perceptron(shards=3, shuffle=False, max_iter=20).fit(X, y).score(X, y) > 0.8


def test_a_model_is_saved_with_its_shards(tmp_path):
    X, y = some_rows()
    model = AveragedPerceptron(shards=4, max_iter=3).fit(X, y)
    save(model, tmp_path / "m")
    again = load((tmp_path / "m").read_bytes())
    assert (again.shards, again.mixes) == (4, "auto")
    assert again.partial_fit(X, y).coef_.tobytes() == model.partial_fit(X, y).coef_.tobytes()


@pytest.mark.parametrize(
    "member",
    [ALMA, AROW, ROMMA, PNormPerceptron, Winnow, VotedPerceptron, PocketPerceptron, KernelPerceptron, MaximumMargin],
)
def test_who_cannot_have_shards_says_why(member):
    with pytest.raises(InvalidInput, match=r"has no parameter 'shards'\. .* (Choose|Put) .* without shards\."):
        member(shards=2)


def test_what_shards_cannot_do_is_refused():
    X, y = some_rows()
    with pytest.raises(InvalidInput, match="Batch"):
        Perceptron(shards=2, batch=True).fit(X, y)
    with pytest.raises(InvalidInput, match="learn in parallel"):
        record(Perceptron(shards=2), X, y)
    with pytest.raises(InvalidInput, match="shards=0"):
        Perceptron(shards=0).fit(X, y)
    with pytest.raises(NotImplementedError):
        Shards().combine(len)


def test_an_error_in_a_shard_reaches_the_caller():
    def fail(shard, late):
        raise InvalidInput("here")

    for threads in (1, 2):
        with pytest.raises(InvalidInput, match="here"):
            LocalShards([Shard(k, []) for k in range(4)], threads).combine(fail)


def test_values_that_float32_does_not_hold_are_widened():
    X = np.full((4, 2), 1e16, np.float32)
    found = table_stats(as_table(X), np.empty(0, np.int32), 2)
    assert (found.dtype, learnable_dtype(found)) == (np.float32, np.float64)
