"""The voted perceptron: one fit, three predictions."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from oracles import family
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import voted_perceptron as voted
from rosenblatt.learners.voted_perceptron import (
    CopiedUpdates,
    Voted,
    VotedStream,
    VoteUpdates,
    cast_ballots,
    cast_sparse_ballots,
)
from rosenblatt.training.stream import Settings
from strategies import integer_sets
from ways import METHODS, trained

THREE = {"shuffle": False, "max_iter": 3, "tol": None}


def rows_of(classes=2, n=61, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.integers(0, classes, n)


@given(integer_sets())
def test_the_votes_are_those_of_the_oracle(data):
    X, label = data
    model = VotedPerceptron(**THREE).fit(X, label)
    padded = np.c_[X, np.ones(len(X))]
    run = family.voted(padded, (2 * label - 1).tolist(), [range(len(X))] * model.n_iter_)
    trials = len(X) * model.n_iter_
    for x, share in zip(padded, model.decision_function(X), strict=True):
        votes = sum(count * (1 if v @ x > 0 else -1) for v, count in run.more["vectors"])
        assert round(share * trials) == votes


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_the_other_aggregates_are_the_perceptron_and_its_average(multiclass):
    X, y = rows_of(3)
    voted, plain, average = (
        cls(multiclass=multiclass, **THREE).fit(X, y) for cls in (VotedPerceptron, Perceptron, AveragedPerceptron)
    )
    np.testing.assert_allclose(voted.decision_function(X, aggregate="last"), plain.decision_function(X), atol=1e-9)
    expected = average.decision_function(X)
    np.testing.assert_allclose(voted.decision_function(X, aggregate="average"), expected, atol=1e-9)
    np.testing.assert_allclose(voted.coef_, average.coef_, atol=1e-12)
    np.testing.assert_allclose(voted.intercept_, average.intercept_, atol=1e-12)
    np.testing.assert_allclose(voted.distance(X), average.distance(X), atol=1e-9)


@given(integer_sets(), st.booleans(), st.integers(1, 24))
def test_the_vectors_are_those_of_the_oracle(data, sparse, cut):
    X, label = data
    rows = sp.csr_array(X) if sparse else X
    model = VotedPerceptron().partial_fit(rows[:cut], label[:cut], classes=[0, 1])
    if cut < len(X):
        model.partial_fit(rows[cut:], label[cut:])
    run = family.voted(np.c_[X, np.ones(len(X))], (2 * label - 1).tolist(), [range(len(X))])
    found = [([*w, b], survived) for w, b, survived in model.vectors()]
    assert found == [(v.tolist(), count) for v, count in run.more["vectors"] if count]
    assert sum(survived for _, survived in found) == model.t_


def test_every_problem_has_its_vectors_and_no_other_has_any():
    X, y = rows_of(3)
    model = VotedPerceptron(**THREE).fit(X, y)
    for problem in range(3):
        *_, (w, b, _) = model.vectors(problem)
        np.testing.assert_allclose(w, model._stream.state.W[problem], atol=1e-12)
        assert b == model._stream.state.b[problem]
    for problem in (3, -1, 1.0, True):
        with pytest.raises(InvalidInput, match="choose a row of coef_, 0 to 2"):
            model.vectors(problem)


def test_the_weights_cannot_be_assigned():
    model = VotedPerceptron().fit(*rows_of())
    with pytest.raises(InvalidInput, match="cannot be assigned"):
        model.coef_ = np.ones((1, 3))
    with pytest.raises(InvalidInput, match="cannot be assigned"):
        model.intercept_ = [1.0]


def test_the_average_of_a_stream_is_that_of_all_its_trials():
    X, y = rows_of()
    model, average = VotedPerceptron(), AveragedPerceptron()
    for start in (0, 20, 40):
        part = X[start : start + 20], y[start : start + 20]
        model.partial_fit(*part)
        average.partial_fit(*part)
        expected = average.decision_function(X)
        np.testing.assert_allclose(model.decision_function(X, aggregate="average"), expected, atol=1e-12)
        np.testing.assert_allclose(model.coef_, average.coef_, atol=1e-12)


def test_rows_one_by_one_after_a_fit_have_the_weights_of_their_classes():
    X, y = rows_of()
    one_by_one = VotedPerceptron(class_weight={label: 1.0 + 2.0 * k for k, label in enumerate(np.unique(y))})
    one_by_one.set_params(max_iter=1, tol=None).fit(X[:20], y[:20])
    chunk = copy.deepcopy(one_by_one).partial_fit(X[20:], y[20:])
    for x, label in zip(X[20:], y[20:], strict=True):
        one_by_one.learn_one(x, label)
    assert one_by_one.coef_.tolist() == chunk.coef_.tolist()


@pytest.mark.parametrize("classes", [2, 3])
def test_one_row_is_predicted_by_the_vote(classes):
    X, y = rows_of(classes)
    fitted = VotedPerceptron(**THREE).fit(X, y)
    stream = clone(fitted)
    for x, label in zip(X, y.tolist(), strict=True):
        stream.learn_one(x, label)
    for model in (fitted, stream):
        assert [model.predict_one(x) for x in X] == [model.predict(x[None])[0] for x in X]
        last = model.predict(X, aggregate="last").tolist()
        assert [model.predict_one(x) for x in X] != last  # or this test could not tell them apart


def test_an_unknown_aggregate_is_refused():
    model = VotedPerceptron().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidInput, match=r"aggregate='best' is not known: choose one of 'vote', 'average', 'last'\."):
        model.predict([[0.0]], aggregate="best")


def test_a_vote_starts_from_zero():
    with pytest.raises(InvalidInput, match="starts from zero"):
        VotedPerceptron().fit([[0.0], [1.0]], [0, 1], coef_init=[[1.0]])


def test_the_updates_add_up_to_the_weights():
    algorithm = METHODS["voted"]
    algorithm.log.clear()
    state, _ = trained(algorithm)
    rows, problem, factor, trial = algorithm.log.take()
    W = np.zeros_like(state.W)
    np.add.at(W, problem, factor[:, None] * rows)
    np.testing.assert_allclose(W, state.W)
    assert (np.diff(trial[problem == 0]) > 0).all()
    assert algorithm.log.size == 0


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_are_copied(kind):
    from rosenblatt.data.table import as_table
    from rosenblatt.engine.epoch import UpdateLog

    X, log = np.eye(3), CopiedUpdates()
    updates = UpdateLog(np.array([2, 0, 9]), np.zeros(3, int), np.ones(3), np.arange(3), np.array([2]))
    rows = as_table(kind(X)).rows
    log.add(rows, updates, 3)
    log.add(rows, updates, 3)
    X[:] = 7.0
    kept, problem, _, _ = log.take()
    kept = kept.toarray() if sp.issparse(kept) else kept
    assert kept.tolist() == np.eye(3)[[2, 0, 2, 0]].tolist()
    assert problem.size == 4


UNWEIGHTED = np.empty(0)


def stream_of(X, y, *cuts, **options):
    stream = VotedStream(Settings(Voted(perceptron()), **options))
    for start, end in zip([0, *cuts], [*cuts, X.shape[0]], strict=True):
        stream.learn(as_table(X[start:end]), y[start:end], UNWEIGHTED, classes=np.unique(y))
    return stream


def pad(X):
    return np.c_[X, np.ones(len(X))]


@given(integer_sets(), st.booleans(), st.integers(1, 24))
def test_votes_and_averages_are_those_of_the_oracle(data, sparse, cut):
    X, label = data
    rows = sp.csr_array(X) if sparse else X
    stream = stream_of(rows, label, *([cut] if cut < len(X) else []))
    run = family.voted(pad(X), (2 * label - 1).tolist(), [range(len(X))])
    vectors = run.more["vectors"]
    share = [sum(c * (1 if v @ x > 0 else -1) for v, c in vectors) / len(X) for x in pad(X)]
    mean = sum(c * v for v, c in vectors) / len(X)
    np.testing.assert_allclose(stream.vote(as_table(rows))[:, 0], share, atol=1e-12)
    np.testing.assert_allclose(stream.average_scores(as_table(rows))[:, 0], pad(X) @ mean, atol=1e-9)


@given(integer_sets(classes=3))
def test_the_updates_add_up_to_the_last_weights(data):
    X, label = data
    for multiclass in ("ovr", "ovo", "joint"):
        stream = stream_of(X, label, multiclass=multiclass)
        assert len(stream.updates) == stream.state.b.size
        for p, updates in enumerate(stream.updates):
            np.testing.assert_allclose(updates.factor @ updates.rows, stream.state.W[p], atol=1e-12)
            assert updates.factor.sum() == stream.state.b[p]
            assert (np.diff(updates.trial) > 0).all()


def test_blocks_of_scores_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 2, 50)
    stream = stream_of(X, y)
    whole = stream.vote(as_table(X))
    expected = [(w.tolist(), *rest) for w, *rest in stream.vectors(0)]
    for name, size in (("SCORES_PER_BLOCK", 7), ("WEIGHTS_PER_BLOCK", 1), ("MIN_VECTORS_PER_BLOCK", 2)):
        monkeypatch.setattr(voted, name, size)
        for rows in (X, sp.csr_array(X)):
            np.testing.assert_allclose(stream.vote(as_table(rows)), whole, atol=1e-12)
        assert [(w.tolist(), *rest) for w, *rest in stream.vectors(0)] == expected


def test_votes_of_several_streams_are_not_merged():
    X = np.eye(3)
    with pytest.raises(InvalidInput, match="cannot be merged"):
        stream_of(X, [0, 1, 0]).merge([stream_of(X, [1, 1, 0])])


def test_updates_of_dense_and_sparse_chunks_join():
    dense = VoteUpdates(np.ones((2, 3)), np.ones(2), np.array([0, 1]))
    sparse = VoteUpdates(sp.csr_matrix(np.eye(3)), np.ones(3), np.array([2, 3, 4]))
    for joined in (dense.join(sparse), sparse.join(dense)):
        assert joined.rows.shape == (5, 3)
        assert joined.factor.size == joined.trial.size == 5
    assert isinstance(dense.join(dense).rows, np.ndarray)


@pytest.mark.parametrize(
    "updates",
    [
        [],
        None,
        [VoteUpdates(np.ones((2, 2)), np.ones(3), np.arange(3))] * 2,
        [VoteUpdates(np.ones((2, 9)), np.ones(2), np.arange(2))] * 2,
        [VoteUpdates(np.ones((2, 2)), np.ones(2), np.ones(2))] * 2,
    ],
    ids=["none", "missing", "too few rows", "too wide", "trials of floats"],
)
def test_updates_that_do_not_fit_are_refused(updates):
    rng = np.random.default_rng(0)
    stream = stream_of(rng.standard_normal((9, 2)), np.arange(9) % 2)
    stream.check()
    stream.updates = updates
    with pytest.raises(InvalidInput):
        stream.check()


def test_a_tie_of_votes_does_not_depend_on_the_other_rows():
    X = np.random.default_rng(0).standard_normal((30, 3))
    model = VotedPerceptron().partial_fit(X, np.arange(30) % 2)
    assert model.predict(X).tolist() == [model.predict(x[None])[0] for x in X]
    assert model.predict(X).tolist() == [model.predict_one(x) for x in X]


def test_single_sparse_rows_are_learned_and_dicts_get_a_sentence():
    model = VotedPerceptron()
    model.learn_one(sp.csr_array([[1.0, 0.0]]), 0)
    model.learn_one(np.array([0.0, 1.0]), 1)
    assert model.t_ == 2
    with pytest.raises(InvalidInput, match="Pass arrays"):
        VotedPerceptron().learn_one({"a": 1.0}, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_rows_have_the_ballots_of_each_vector(dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(-2, 3, (30, 11)) * (rng.random((30, 11)) < 0.6)).astype(dtype)
    V, bias = rng.integers(-2, 3, (7, 11)).astype(dtype), rng.integers(-2, 3, 7).astype(float)
    survived = rng.integers(1, 9, 7).astype(float)
    expected = [sum(s if w @ x + b > 0 else -s for w, b, s in zip(V, bias, survived, strict=True)) for x in X]
    dense, sparse, rows = np.full(30, 5.0), np.full(30, 5.0), sp.csr_array(X)
    cast_ballots(X @ V.T, bias, survived, dense)
    cast_sparse_ballots(rows.data, rows.indices, rows.indptr, np.ascontiguousarray(V.T), bias, survived, sparse)
    assert (dense - 5).tolist() == (sparse - 5).tolist() == expected
