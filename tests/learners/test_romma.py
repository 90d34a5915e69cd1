"""ROMMA: the oracle's weights, the bound of Li and Long, and rows that nothing separates."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles import family
from oracles.cases import separable
from rosenblatt import ROMMA
from rosenblatt.bounds import romma
from rosenblatt.errors import InvalidInput
from strategies import integer_sets

THREE = {"shuffle": False, "max_iter": 3, "tol": None, "keep": "last"}
both = pytest.mark.parametrize("aggressive", [False, True])


def clear(run):
    """Whether rounding decides on no mistake, and is not blown up by weights that grow without end."""
    return np.linalg.norm(run.w) < 1e3 and (np.abs(run.margins[1:]) > 1e-9).all()


@both
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@given(data=integer_sets())
def test_the_weights_and_the_mistakes_are_those_of_the_oracle(aggressive, sparse, data):
    X, label = data
    rows = np.c_[X, np.ones(len(X))]
    run = family.romma(rows, (2 * label - 1).tolist(), [range(len(X))] * 3, aggressive=aggressive)
    assume(clear(run))
    model = ROMMA(aggressive=aggressive, intercept_scaling=1.0, **THREE).fit(sp.csr_array(X) if sparse else X, label)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, rtol=1e-7, atol=1e-7)
    assert list(model.run_.mistakes) == run.mistakes[: model.n_iter_]


@both
@given(case=separable())
def test_mistakes_keep_the_bound_of_li_and_long(aggressive, case):
    assume(len(set(case.labels.tolist())) == 2)
    model = ROMMA(aggressive=aggressive, fit_intercept=False, tol=None, max_iter=50).fit(case.rows, case.labels)
    assert sum(model.run_.mistakes) <= romma(case.radius, case.margin) * (1 + 1e-9)
    assert np.linalg.norm(model.coef_[0]) <= (1 + 1e-6) / case.margin


@given(integer_sets(), st.booleans())
def test_an_update_ends_on_the_margin_of_one(data, aggressive):
    X, label = data
    rows, sign = np.c_[X, np.ones(len(X))], 2 * label - 1
    run = family.romma(rows, sign.tolist(), [range(len(X))], aggressive=aggressive)
    assume(clear(run) and run.rows and run.rows[-1] == len(X) - 1)
    model = ROMMA(aggressive=aggressive, intercept_scaling=1.0, **THREE | {"max_iter": 1}).fit(X, label)
    assert sign[-1] * model.decision_function(X[-1:])[0] == pytest.approx(1.0, rel=1e-6)


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_nothing_separates_leave_finite_weights_of_the_same_direction(aggressive, dtype):
    rng = np.random.default_rng(0)
    X, label = rng.standard_normal((300, 3)).astype(dtype), rng.integers(0, 2, 300)
    model = ROMMA(aggressive=aggressive, max_iter=100, tol=None, keep="last", shuffle=False).fit(X, label)
    length = np.linalg.norm(np.append(model.coef_, model.intercept_).astype(float))
    assert 1e10 < length < 1e37
    model.partial_fit(X, label)
    assert np.isfinite(model.coef_).all()


def test_scaling_down_does_not_turn_the_weights():
    rng = np.random.default_rng(1)
    X, label = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    for epochs in (12, 25):
        run = family.romma(X, (2 * label - 1).tolist(), [range(40)] * epochs)
        model = ROMMA(fit_intercept=False, shuffle=False, max_iter=epochs, tol=None, keep="last").fit(X, label)
        there, here = run.w / np.linalg.norm(run.w), model.coef_[0] / np.linalg.norm(model.coef_[0])
        np.testing.assert_allclose(here, there, atol=1e-6)
    assert np.linalg.norm(run.w) > 1e30


def test_a_weight_is_a_factor_of_the_change():
    X, y = np.array([[2.0, 0.0], [0.0, 1.0]]), [1, 0]
    options = {"fit_intercept": False, "shuffle": False, "max_iter": 1, "tol": None, "keep": "last"}
    half, whole, twice = (ROMMA(**options).fit(X, y, sample_weight=[w, 1e-300]).coef_[0] for w in (0.5, 1.0, 2.0))
    np.testing.assert_allclose([half[0], whole[0], twice[0]], [0.25, 0.5, 1.0], rtol=1e-12)


def test_the_opposite_of_a_row_that_was_all_is_a_mistake_that_nothing_mends():
    model = ROMMA(fit_intercept=False, max_iter=5, tol=None).fit([[1.0, 2.0], [1.0, 2.0]], [0, 1])
    assert model.run_.mistakes[-1] == 1
    assert "without" not in model.stop_reason_


def test_classes_that_compete_have_no_projection():
    with pytest.raises(InvalidInput, match="does not exist for ROMMA: choose one of 'ovr', 'ovo', 'ovo-vote'"):
        ROMMA(multiclass="joint").fit(np.eye(3), [0, 1, 2])
