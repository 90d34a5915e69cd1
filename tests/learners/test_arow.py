"""AROW: a variance for each weight, or a covariance."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from oracles import family
from rosenblatt import AROW
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.arow import Arow
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.multiclass import coding_matrix, make_task
from strategies import integer_sets
from ways import trained

THREE = {"shuffle": False, "max_iter": 3, "tol": None}


def pad(X):
    return np.c_[X, np.ones(len(X))]


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@given(data=integer_sets())
def test_the_mistakes_are_those_of_the_oracle(covariance, data):
    X, label = data
    oracle = family.arow if covariance == "full" else family.arow_diagonal
    model = AROW(r=0.7, covariance=covariance, **THREE).fit(X, label)
    run = oracle(pad(X), (2 * label - 1).tolist(), [range(len(X))] * model.n_iter_, r=0.7)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, rtol=1e-8, atol=1e-8)


@given(integer_sets())
def test_variances_only_shrink_and_stay_positive(data):
    X, label = data
    diagonal, full = (AROW(covariance=kind, **THREE).fit(X, label)._stream.state for kind in ("diagonal", "full"))
    assert ((diagonal.V > 0) & (diagonal.V <= 1)).all()
    np.testing.assert_allclose(full.V, full.V.transpose(0, 2, 1), atol=1e-12)
    values = np.linalg.eigvalsh(full.V[0])
    assert (values > 0).all()
    assert (values <= 1 + 1e-12).all()


def test_both_covariances_agree_on_features_that_never_meet():
    rng = np.random.default_rng(0)
    X = np.eye(4)[rng.integers(0, 4, 40)] * rng.standard_normal((40, 1))
    y = rng.integers(0, 2, 40)
    options = {"fit_intercept": False, **THREE}
    diagonal, full = (AROW(covariance=kind, **options).fit(X, y) for kind in ("diagonal", "full"))
    np.testing.assert_allclose(diagonal.coef_, full.coef_, atol=1e-12)


def test_a_weight_is_a_share_of_the_noise():
    X, y = np.array([[1.0, 2.0], [-1.0, 0.5]]), [0, 1]
    heavy = AROW(r=3.0, **THREE).fit(sp.csr_array(X), y, sample_weight=[3.0, 3.0])
    quiet = AROW(r=1.0, **THREE).fit(X, y)
    np.testing.assert_allclose(heavy.coef_, quiet.coef_, rtol=1e-12)


def test_classes_at_once_share_no_covariance_matrix():
    with pytest.raises(InvalidInput, match="does not exist for AROW: choose one of 'ovr', 'ovo', 'ovo-vote'"):
        AROW(covariance="full", multiclass="joint").fit(np.eye(3), [0, 1, 2])


@pytest.mark.parametrize(
    ("features", "multiclass", "kind"), [(40, "ovr", "full"), (41, "ovr", "diagonal"), (3, "joint", "diagonal")]
)
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_a_fit_of_few_features_takes_the_whole_matrix(features, multiclass, kind, store):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, features)), rng.integers(0, 3, 60)
    chosen, given = (AROW(covariance=c, multiclass=multiclass, **THREE).fit(store(X), y) for c in ("auto", kind))
    assert chosen.covariance_ == given.covariance_ == kind
    assert chosen.coef_.tolist() == given.coef_.tolist()
    assert (chosen._stream.state.V.ndim == 3) == (kind == "full")


def test_a_stream_has_variances_and_goes_on_with_what_a_fit_chose():
    X, y = np.random.default_rng(0).standard_normal((30, 4)), np.arange(30) % 2
    assert AROW().partial_fit(X, y)._stream.state.V.ndim == 2
    fitted = AROW(**THREE).fit(X, y)
    again = AROW(covariance="full", **THREE).fit(X, y)
    for model in (fitted, again):
        model.partial_fit(X[::-1], y[::-1])
    assert fitted.coef_.tolist() == again.coef_.tolist()


def test_columns_that_nearly_agree_are_learned_with_the_defaults():
    # The classes differ in the small difference of two columns, whose variances shrink by what they have in common.
    common, difference = np.random.default_rng(0).standard_normal((2, 400, 1))
    X, y = np.hstack([common + 0.05 * difference, common - 0.05 * difference]), difference[:, 0] > 0
    assert AROW().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95
    assert AROW(covariance="diagonal").fit(X[::2], y[::2]).score(X[1::2], y[1::2]) < 0.8


def test_a_covariance_that_fills_the_memory_is_refused():
    with pytest.raises(InvalidInput, match=r"covariance='full' needs \d+ GiB for 100000 features"):
        Arow(1.0, full=True).start(1, 100_000, np.float64)


@pytest.mark.parametrize("full", [False, True], ids=["diagonal", "full"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_one_trial_is_the_formula_of_the_paper(full, kind):
    x, r = np.array([2.0, 0.0, -1.0]), 0.5
    algorithm, every = Arow(r, full), np.empty(0, np.int32)
    state, label = algorithm.start(1, 3, np.float64), np.array([1], np.int32)
    task = make_task(label, coding_matrix(2, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    shown = EpochArgs(as_table(kind(x[None])).rows, task, every, every, np.arange(1), 1.0, new_counts(1), False)
    algorithm.run_epoch(shown, state, state)
    z = np.append(x, 1.0)
    beta = 1.0 / (z @ z + r)
    np.testing.assert_allclose(np.append(state.W, state.b), beta * z)
    V = np.eye(4) - beta * np.outer(z, z)
    if full:
        np.testing.assert_allclose(state.V[0], V)
    else:
        np.testing.assert_allclose(np.append(state.V, state.v), np.diag(V))


def test_variances_only_shrink():
    state, _ = trained(Arow(1.0))
    assert (state.V <= 1.0).all()
    assert (state.V > 0.0).all()
    assert (state.V < 1.0).any()
