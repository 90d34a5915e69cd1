"""Learning rates of columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Adaline, load, save
from rosenblatt.data.survey import ColumnSizes, column_sizes
from rosenblatt.data.table import as_table
from rosenblatt.estimators.rates import (
    DIFFERENT,
    NOISE,
    check_rates,
    check_whitening,
    choose_rates,
    choose_whitening,
    rated_length,
)
from rosenblatt.storage.registry import Fault

ONE_PASS = {"shuffle": False, "max_iter": 1, "tol": None}


def sizes(means, rows=100):
    return ColumnSizes(rows, np.array(means, float) * rows, np.full(len(means), float(rows)))


def two_classes(n=200, d=5, seed=0, units=10.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1.0
    return X * units ** rng.integers(-2, 3, d), (X @ rng.standard_normal(d) > 0.3).astype(int)


def test_rates_are_powers_of_two_close_to_one_over_the_mean_square():
    means = np.array([1e-6, 0.5, 1.0, 3.0, 1e8])
    rates = np.array(choose_rates(sizes(means)))
    assert np.array_equal(np.exp2(np.round(np.log2(rates))), rates)
    assert np.all((rates * means >= 0.5) & (rates * means <= 2.0))


@pytest.mark.parametrize(
    "given",
    [None, sizes([1.0, DIFFERENT]), sizes([0.0, 0.0]), sizes([1.0, 1e6, 1.0], rows=3), sizes([])],
    ids=["unknown", "of one size", "zeros", "no more rows than columns", "no columns"],
)
def test_there_are_no_rates_where_they_would_not_help(given):
    assert choose_rates(given) == []


def test_a_column_without_values_takes_the_median():
    assert choose_rates(sizes([1.0, 0.0, 1.0, 2.0**20])) == [1.0, 1.0, 1.0, 2.0**-20]


def test_lengths_are_measured_with_the_rates():
    X = np.array([[1.0, 300.0], [3.0, 100.0], [2.0, 100.0]])
    found = column_sizes(as_table(X))
    rates = choose_rates(found)
    assert rated_length(found, rates) == pytest.approx(np.sqrt((X**2 @ rates).mean()))


@given(st.integers(0, 20), st.lists(st.integers(-12, 12), min_size=5, max_size=5))
def test_units_of_columns_do_not_matter(seed, powers):
    X, y = two_classes(seed=seed)
    units = 2.0 ** np.array(powers)
    one, other = Adaline().fit(X, y), Adaline().fit(X * units, y)
    assert one.whitening_.shape == (6, 5)
    np.testing.assert_array_equal(other.coef_ * units, one.coef_)
    np.testing.assert_array_equal(other.intercept_, one.intercept_)


def test_means_of_columns_do_not_matter():
    X, y = two_classes(units=1.0)
    one, other = Adaline().fit(X, y), Adaline().fit(X + np.array([1e3, -50.0, 0.0, 7.0, 400.0]), y)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-6)


def test_what_columns_have_in_common_matters_little():
    X, y = two_classes(n=400, units=1.0)
    alike = X @ (np.eye(5) + 3.0)
    least = [np.linalg.lstsq(np.column_stack([rows, np.ones(400)]), 2.0 * y - 1, rcond=None)[0] for rows in (X, alike)]
    for rows, wanted in zip((X, alike), least, strict=True):
        model = Adaline(random_state=0).fit(rows, y)
        scores, best = model.decision_function(rows), rows @ wanted[:-1] + wanted[-1]
        assert np.mean((scores - best) ** 2) < 0.01 * np.mean(best**2)


def test_a_matrix_of_rates_is_nearly_the_inverse_of_the_covariance():
    X, _ = two_classes(units=1.0)
    found, square = choose_whitening(column_sizes(as_table(X)), 1.0)
    scale = X.std(axis=0)
    covariance = np.cov(X.T, bias=True) + NOISE * np.diag(scale**2)
    np.testing.assert_allclose(found[:-1] @ covariance, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(found[-1], X.mean(axis=0))
    moved = X - X.mean(axis=0)
    assert square == pytest.approx(np.mean(np.sum(moved @ found[:-1] * moved, axis=1)))
    products, _ = choose_whitening(column_sizes(as_table(X)), 0.0)
    length = np.diag(np.mean(X**2, axis=0))
    np.testing.assert_allclose(products[:-1] @ (X.T @ X / len(X) + NOISE * length), np.eye(5), atol=1e-10)


def test_there_is_no_matrix_of_rates_where_columns_are_many_or_unknown():
    random = np.random.default_rng(0)
    for X in (
        random.random((300, 129)),
        random.random((20, 20)),
        np.ones((9, 2)),
        1e153 + 1e153 * random.random((400, 2)),
    ):
        assert choose_whitening(column_sizes(as_table(X)), 1.0)[0].size == 0
    assert choose_whitening(None, 1.0)[0].size == 0


def test_a_column_that_does_not_vary_among_the_rows_that_were_looked_at_has_a_rate():
    X, _ = two_classes()
    X[:, 2] = 8.0
    found, _ = choose_whitening(column_sizes(as_table(X)), 1.0)
    assert found[2, 2] > 0
    assert not found[2, [0, 1, 3, 4]].any()
    assert found[-1, 2] == 8.0


def test_moments_of_shards_add_up():
    X, _ = two_classes(units=1.0)
    parts = [column_sizes(as_table(X[:70])), column_sizes(as_table(X[70:]))]
    whole = choose_whitening(column_sizes(as_table(X)), 1.0)[0]
    np.testing.assert_allclose(choose_whitening(parts[0].merge(parts[1]), 1.0)[0], whole, rtol=1e-10)


def test_rates_are_those_of_learning_from_scaled_columns():
    X, y = two_classes(n=300, d=140)
    model = Adaline(average=False, **ONE_PASS).fit(X, y)
    scale = np.sqrt(model.column_rates_)
    plain = Adaline(eta0=0.5, average=False, **ONE_PASS).fit(X * scale, y)
    np.testing.assert_allclose(model.coef_, plain.coef_ * scale, rtol=1e-9)
    np.testing.assert_allclose(model.row_length_, plain.row_length_, rtol=1e-12)


@pytest.mark.parametrize("options", [{}, {"average": False}, {"multiclass": "ovo"}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [5, 140])
def test_storage_does_not_matter(options, dtype, d):
    X, _ = two_classes(n=300, d=d)
    X[np.random.default_rng(1).random(X.shape) < 0.4] = 0.0
    X, y = X.astype(dtype), np.arange(300) % 3
    dense, sparse = (Adaline(**options, max_iter=5, tol=None).fit(rows, y) for rows in (X, sp.csr_array(X)))
    assert dense.column_rates_ == sparse.column_rates_
    assert (dense.column_rates_ != []) == (d == 140)
    np.testing.assert_array_equal(dense.whitening_, sparse.whitening_)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-3 if dtype is np.float32 else 1e-9)


@pytest.mark.parametrize("d", [5, 140])
def test_a_stream_goes_on_with_the_rates_of_a_fit_in_chunks_row_by_row_and_from_a_file(tmp_path, d):
    X, y = two_classes(d=d)
    save(Adaline().fit(X, y), tmp_path / "model")
    whole, chunks, single, sparse = (load(tmp_path / "model") for _ in range(4))
    assert bool(whole.column_rates_) == (d == 140) != bool(whole.whitening_.size)
    whole.partial_fit(X, y)
    for k in range(0, 200, 7):
        chunks.partial_fit(X[k : k + 7], y[k : k + 7])
        sparse.partial_fit(sp.csr_array(X[k : k + 7]), y[k : k + 7])
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label)
    np.testing.assert_array_equal(chunks.coef_, whole.coef_)
    np.testing.assert_array_equal(single.coef_, whole.coef_)
    np.testing.assert_allclose(sparse.coef_, whole.coef_, rtol=1e-9)


def test_a_given_rate_is_the_rate_of_every_column():
    X, y = two_classes()
    for model in (Adaline(eta0=0.1), Adaline(normalised=True), Adaline(normalised=False, eta0=1e-9)):
        assert model.fit(X, y).column_rates_ == []
        assert model.whitening_.size == 0


def test_shards_have_rates_and_separate_what_one_rate_does_not():
    X, y = two_classes(n=2000, units=100.0)
    scores = [Adaline(shards=4, random_state=0, **more).fit(X, y).score(X, y) for more in ({}, {"eta0": 0.1})]
    assert scores[0] > 0.9 > scores[1]


@pytest.mark.parametrize(
    "rates", [(1.0,), [0.0], ["1"], [float("nan")], [1.0] * 600], ids=lambda rates: repr(rates)[:20]
)
def test_rates_from_a_file_are_checked(rates):
    check_rates([1.0, 0.5])
    with pytest.raises(Fault, match="column_rates_"):
        check_rates(rates)


@pytest.mark.parametrize(
    "whitening",
    [[[1.0], [0.0]], np.ones((2, 2)), np.zeros((2, 1)), np.array([[np.nan], [0.0]]), np.ones((2, 1), np.float32)],
    ids=["list", "square", "zero", "nan", "float32"],
)
def test_a_matrix_of_rates_from_a_file_is_checked(whitening):
    check_whitening(np.array([[1.0], [0.0]]))
    check_whitening(np.zeros((0, 0)))
    with pytest.raises(Fault, match="whitening_"):
        check_whitening(whitening)
