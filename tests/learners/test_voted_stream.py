"""The voted perceptron's stream keeps the row of every update."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from oracles import family
from rosenblatt import VotedPerceptron
from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import voted_stream as voted
from rosenblatt.learners.voted_method import Voted
from rosenblatt.learners.voted_stream import Updates, VotedStream
from rosenblatt.training.stream import Settings
from strategies import integer_sets

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
    dense = Updates(np.ones((2, 3)), np.ones(2), np.array([0, 1]))
    sparse = Updates(sp.csr_matrix(np.eye(3)), np.ones(3), np.array([2, 3, 4]))
    for joined in (dense.join(sparse), sparse.join(dense)):
        assert joined.rows.shape == (5, 3)
        assert joined.factor.size == joined.trial.size == 5
    assert isinstance(dense.join(dense).rows, np.ndarray)


@pytest.mark.parametrize(
    "updates",
    [
        [],
        None,
        [Updates(np.ones((2, 2)), np.ones(3), np.arange(3))] * 2,
        [Updates(np.ones((2, 9)), np.ones(2), np.arange(2))] * 2,
        [Updates(np.ones((2, 2)), np.ones(2), np.ones(2))] * 2,
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
