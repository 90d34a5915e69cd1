"""The p-norm perceptron: the oracle's weights, the bound of the paper, the perceptron at p = 2, and large p."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles import family
from oracles.cases import separable
from rosenblatt import Perceptron, PNormPerceptron, Winnow
from rosenblatt.bounds import p_norm
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.p_norm import PNorm
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.multiclass import coding_matrix, make_task
from strategies import integer_sets

THREE = {"shuffle": False, "max_iter": 3, "tol": None, "keep": "last"}


def norm(values, p):
    return (np.abs(values) ** p).sum(axis=-1) ** (1 / p)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@given(data=integer_sets(), p=st.sampled_from([2.0, 2.5, 3.0, 6.0, 20.0]), length=st.sampled_from([0.3, 1.0, 4.0]))
def test_the_weights_and_the_mistakes_are_those_of_the_oracle(sparse, data, p, length):
    X, label = data
    rows = np.c_[X, np.full(len(X), length)]
    run = family.p_norm(rows, (2 * label - 1).tolist(), [range(len(X))] * 3, p=p)
    # Else rounding decides on a mistake; small whole powers are exact.
    margins = np.array(run.margins)
    assume((np.abs(margins[margins != 0.0]) > 1e-9).all())
    assume((margins[1:] != 0.0).all() or (p in (2.0, 3.0) and length != 0.3))
    model = PNormPerceptron(p=p, intercept_scaling=length, **THREE).fit(sp.csr_array(X) if sparse else X, label)
    np.testing.assert_allclose(
        np.append(model.coef_, model.intercept_ / length), run.w, rtol=1e-7, atol=1e-7 * np.abs(run.w).max()
    )
    assert list(model.run_.mistakes) == run.mistakes[: model.n_iter_]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(data=integer_sets(classes=3), sparse=st.booleans())
def test_with_p_of_two_it_is_the_perceptron_to_the_last_bit(data, sparse, dtype):
    X, label = data
    X = (X / 3).astype(dtype)  # so that sums are rounded
    rows, shuffled = sp.csr_array(X) if sparse else X, THREE | {"shuffle": True}  # where nobody looks for a cycle
    there, here = (model.fit(rows, label) for model in (Perceptron(**shuffled), PNormPerceptron(p=2, **shuffled)))
    assert here.coef_.tolist() == there.coef_.tolist()
    assert here.intercept_.tolist() == there.intercept_.tolist()
    assert (here.run_.mistakes, here.run_.losses) == (there.run_.mistakes, there.run_.losses)


@given(separable(), st.sampled_from([2.0, 2.5, 3.0, 4.0, 8.0, 30.0]))
def test_mistakes_keep_the_bound_of_grove_littlestone_and_schuurmans(case, p):
    assume(len(set(case.labels.tolist())) == 2)
    margin = (case.labels * (case.rows @ case.u)).min() / norm(case.u, p / (p - 1))
    model = PNormPerceptron(p=p, fit_intercept=False, tol=None, max_iter=50).fit(case.rows, case.labels)
    assert sum(model.run_.mistakes) <= p_norm(norm(case.rows, p).max(), margin, p) * (1 + 1e-9)


@given(integer_sets(), st.sampled_from([2.5, 4.0, 12.0]))
def test_the_weights_are_the_gradient_of_half_the_squared_norm_of_theta(data, p):
    X, label = data
    model = PNormPerceptron(p=p, fit_intercept=False, **THREE).fit(X, label)
    theta, w = model._stream.state.theta[0], model.coef_[0]
    assert w @ theta == pytest.approx(norm(theta, p) ** 2, rel=1e-9)
    assert norm(w, p / (p - 1)) == pytest.approx(norm(theta, p), rel=1e-9)


def test_few_features_among_many_take_fewer_mistakes_than_the_perceptron():
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (2000, 1000))
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    options = {"max_iter": 1, "tol": None, "fit_intercept": False, "shuffle": False}
    plain = Perceptron(**options).fit(X, y).run_.mistakes[0]
    other = PNormPerceptron(p=2 * np.log(1000), **options).fit(X, y).run_.mistakes[0]
    assert 3 * other < plain
    assert 3 * Winnow(factor=1.1, **options).fit(X, y).run_.mistakes[0] < plain


@pytest.mark.parametrize("p", [8.0, 60.0, 1000.0])
@pytest.mark.parametrize("size", [1e-10, 1.0, 1e10])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_powers_and_rows_of_any_size_leave_finite_weights(p, size, dtype):
    rng = np.random.default_rng(0)
    X, y = (size * rng.standard_normal((300, 5))).astype(dtype), rng.integers(0, 2, 300)
    model = PNormPerceptron(p=p, fit_intercept=False, max_iter=20, tol=None).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.abs(model.coef_).max() > 0
    one = PNormPerceptron(p=p, fit_intercept=False, max_iter=20, tol=None).fit((X / size).astype(dtype), y)
    if dtype == np.float64:
        np.testing.assert_allclose(model.coef_ / size, one.coef_, rtol=1e-6, atol=1e-9)


def test_weights_that_are_assigned_are_gone_on_from():
    X, y = np.eye(3), [0, 1, 1]
    model = PNormPerceptron(p=4.0, fit_intercept=False).partial_fit(X, y)
    model.coef_ = [[8.0, 0.0, -1.0]]
    assert model.coef_.tolist() == [[8.0, 0.0, -1.0]]
    # theta is in proportion to the cube roots, and as long by the 4-norm as the weights are by the 4/3-norm.
    theta = np.array([2.0, 0.0, -1.0])
    theta *= norm(np.array([8.0, 1.0]), 4 / 3) / norm(theta, 4)
    model.partial_fit(X[:1], [0])
    theta[0] -= 1
    np.testing.assert_allclose(model.coef_[0], np.sign(theta) * np.abs(theta) ** 3 / norm(theta, 4) ** 2, rtol=1e-12)


def test_another_p_goes_on_from_the_same_weights():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 4)), rng.integers(0, 2, 50)
    model = PNormPerceptron(p=4.0).partial_fit(X, y)
    before = model.coef_.copy()
    model.set_params(p=3.0).partial_fit(X[:1], [1 - model.predict(X[:1])[0]])
    assert 0 < np.abs(model.coef_ - before).max() < 10 * np.abs(X[0]).max()


@given(integer_sets(), st.sampled_from([0.5, 2.0]))
def test_a_weight_is_a_factor_of_the_step(data, weight):
    X, label = data
    one, other = (
        PNormPerceptron(fit_intercept=False, **THREE).fit(X, label, sample_weight=np.full(len(X), factor))
        for factor in (1.0, weight)
    )
    np.testing.assert_allclose(other.coef_, weight * one.coef_, rtol=1e-12)


@pytest.mark.parametrize("p", [1.5, np.inf, np.nan])
def test_a_p_outside_its_range_is_refused(p):
    with pytest.raises(InvalidInput, match="a number of at least 2"):
        PNormPerceptron(p=p).fit([[0.0], [1.0]], [0, 1])


def test_classes_that_compete_have_no_bound():
    with pytest.raises(
        InvalidInput, match="does not exist for PNormPerceptron: choose one of 'ovr', 'ovo', 'ovo-vote'"
    ):
        PNormPerceptron(multiclass="joint").fit(np.eye(3), [0, 1, 2])


def test_a_state_that_no_loop_leaves_is_refused():
    algorithm = PNorm(3.0)
    state = algorithm.start(2, 3, np.float64)
    state.unit[0] = 0.0
    with pytest.raises(InvalidInput, match="units that are not positive"):
        algorithm.check_state(state)


def test_weights_that_were_put_there_are_the_weights():
    algorithm = PNorm(3.0)
    state = algorithm.start(1, 2, np.float32)
    state.W[:], state.b[:] = [2.0, 4.0], 3.0
    planes = algorithm.hyperplanes(state)
    assert (planes.W.tolist(), planes.b.tolist(), planes.W.dtype) == ([[2.0, 4.0]], [3.0], np.float32)


def test_the_factor_belongs_to_weights_and_bias():
    algorithm = PNorm(4.0)
    state = algorithm.start(1, 1, np.float64)
    state.W[:], state.b[:], state.unit[:], state.power_sum[:] = 2.0, 3.0, 6.0, 4.0
    planes = algorithm.hyperplanes(state)
    assert (planes.W.tolist(), planes.b.tolist()) == ([[6.0]], [9.0])


def test_another_p_has_another_link():
    assert PNorm(2.0).kind != PNorm(3.0).kind


storages = pytest.mark.parametrize("storage", [np.array, sp.csr_array], ids=["dense", "sparse"])


def present(rows, labels, power, bias=0.0, cost=None, dtype=np.float64):
    algorithm, every = PNorm(power), np.empty(0, np.int32)
    state = algorithm.start(1, rows.shape[1], dtype)
    label = np.array(labels, np.int32)
    task = make_task(label, coding_matrix(2, "ovr"), "ovr", class_cost=cost, weight=np.empty(0), bias=bias)
    counts = new_counts(1)
    table = as_table(rows.astype(dtype))
    algorithm.run_epoch(EpochArgs(table.rows, task, every, every, np.arange(1), 1.0, counts, False), state, state)
    return algorithm.hyperplanes(state), state, counts


@storages
def test_a_mistake_is_added_to_theta_and_the_weights_are_its_link(storage):
    planes, state, counts = present(storage([[3.0, 0.0, -4.0]]), [1], 4.0)
    assert state.theta.tolist() == [[3.0, 0.0, -4.0]]
    np.testing.assert_allclose(planes.W[0], np.array([27.0, 0.0, -64.0]) / (81 + 256) ** 0.5, rtol=1e-14)
    assert (counts.mistakes.tolist(), counts.updates.tolist(), counts.loss.tolist()) == ([1], [1], [0.0])


def test_the_padding_is_an_entry_of_its_length():
    planes, state, _ = present(np.array([[2.0]]), [0], 3.0, bias=16.0)
    assert (state.theta.tolist(), state.theta_b.tolist()) == ([[-2.0]], [-16.0])
    expected = -np.array([2.0**2, 4.0 * 4.0**2]) / (8 + 64) ** (1 / 3)
    np.testing.assert_allclose([planes.W[0, 0], planes.b[0]], expected, rtol=1e-14)


@storages
@pytest.mark.parametrize(("dtype", "rel"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_the_sum_of_powers_is_that_of_theta_after_many_updates(storage, dtype, rel):
    rng = np.random.default_rng(0)
    X = storage(rng.standard_normal((2000, 4)) * (rng.random((2000, 4)) < 0.5))
    _, state, counts = present(X, rng.integers(0, 2, 2000), 8.0, bias=1.0, dtype=dtype)
    assert counts.updates[0] > 500
    theta = np.append(state.theta[0], state.theta_b[0]).astype(float)
    assert state.power_sum[0] == pytest.approx((np.abs(theta / state.unit[0]) ** 8).sum(), rel=rel)
    assert 2.0**-10 <= state.power_sum[0] <= 2.0**10


@pytest.mark.parametrize("power", [2.0, 5.0])
def test_theta_that_comes_back_to_zero_leaves_no_weights_and_goes_on(power):
    there_and_back = np.array([[0.1, 0.7], [-0.1, -0.7]])
    planes, state, counts = present(there_and_back, [1, 1], power, bias=0.0)
    assert (planes.W.tolist(), state.power_sum.tolist(), counts.mistakes.tolist()) == ([[0.0, 0.0]], [0.0], [2])
    planes, _, counts = present(np.r_[there_and_back, [[3.0, 0.0]]], [1, 1, 0], power)
    np.testing.assert_allclose(planes.W, [[-3.0, 0.0]], rtol=1e-14)
    assert counts.mistakes.tolist() == [3]


def test_a_row_that_costs_nothing_is_passed_over():
    planes, state, counts = present(np.array([[1.0]]), [1], 3.0, cost=np.array([1.0, 0.0]))
    assert planes.W.tolist() == [[0.0]]
    assert (state.t.tolist(), counts.updates.tolist()) == ([1], [0])


def test_the_loss_is_that_of_the_weights_and_not_of_their_units():
    rows, labels = np.array([[3.0, 4.0], [1.0, 1.0]]), [1, 0]
    planes, _, _ = present(rows[:1], labels[:1], 6.0)
    _, _, counts = present(rows, labels, 6.0)
    assert counts.loss[0] == pytest.approx(planes.W[0] @ rows[1], rel=1e-12)


def test_ties_of_whole_numbers_stay_ties():
    # theta = (3, 4, 5): its squares are those of a right triangle.
    _, state, counts = present(np.array([[3.0, 4.0, 5.0], [7.0, 7.0, -7.0]]), [1, 1], 3.0)
    assert (counts.mistakes.tolist(), counts.loss.tolist()) == ([2], [0.0])
    assert state.theta.tolist() == [[10.0, 11.0, -2.0]]
