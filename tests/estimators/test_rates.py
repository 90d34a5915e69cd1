"""Learning rates of columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Adaline, load, save
from rosenblatt.data.survey import ColumnSizes, column_sizes
from rosenblatt.data.table import as_table
from rosenblatt.estimators.rates import DIFFERENT, check_rates, choose_rates, rated_length
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
    if other.column_rates_:  # else the units made all columns of one size
        np.testing.assert_array_equal(other.coef_ * units, one.coef_)
        np.testing.assert_array_equal(other.intercept_, one.intercept_)


def test_rates_are_those_of_learning_from_scaled_columns():
    X, y = two_classes()
    model = Adaline(average=False, **ONE_PASS).fit(X, y)
    scale = np.sqrt(model.column_rates_)
    plain = Adaline(eta0=0.5, average=False, **ONE_PASS).fit(X * scale, y)
    np.testing.assert_allclose(model.coef_, plain.coef_ * scale, rtol=1e-9)
    np.testing.assert_allclose(model.row_length_, plain.row_length_, rtol=1e-12)


@pytest.mark.parametrize("options", [{}, {"average": False}, {"multiclass": "ovo"}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_does_not_matter(options, dtype):
    X, _ = two_classes()
    X[np.random.default_rng(1).random(X.shape) < 0.4] = 0.0
    X, y = X.astype(dtype), np.arange(200) % 3
    dense, sparse = (Adaline(**options, max_iter=5, tol=None).fit(rows, y) for rows in (X, sp.csr_array(X)))
    assert dense.column_rates_ == sparse.column_rates_ != []
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-3 if dtype is np.float32 else 1e-9)


def test_a_stream_goes_on_with_the_rates_of_a_fit_in_chunks_row_by_row_and_from_a_file(tmp_path):
    X, y = two_classes()
    save(Adaline().fit(X, y), tmp_path / "model")
    whole, chunks, single, sparse = (load(tmp_path / "model") for _ in range(4))
    assert whole.column_rates_
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
