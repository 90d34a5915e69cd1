"""Random units in front of a linear learner."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import AdalineRegressor, AssociationUnits, Perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.association import UNITS

XOR = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float), np.array([0, 1, 1, 0])


@parametrize_with_checks([AssociationUnits(), *(AssociationUnits(units=u, fan_in=1) for u in UNITS[1:])])
def test_scikit_learn_accepts_the_transformer(estimator, check):
    check(estimator)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize(
    "data", [XOR, make_circles(200, noise=0.05, factor=0.5, random_state=0)], ids=["xor", "circles"]
)
def test_a_perceptron_behind_them_learns_what_it_could_not(units, data):
    assert Perceptron().fit(*data).score(*data) < 0.8
    assert make_pipeline(AssociationUnits(units=units), Perceptron()).fit(*data).score(*data) == 1.0


@pytest.mark.parametrize("units", UNITS)
def test_they_learn_two_moons(units):
    X, y = make_moons(200, noise=0.1, random_state=0)
    assert make_pipeline(AssociationUnits(units=units), Perceptron()).fit(X, y).score(X, y) >= 0.99


@settings(max_examples=20)
@given(st.integers(0, 2**31 - 1))
def test_more_steps_than_rows_separate_any_labelling(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((50, 2)), rng.integers(0, 2, 50)
    y[:2] = 0, 1
    model = make_pipeline(AssociationUnits(units="step", n_units=1000, random_state=seed), Perceptron()).fit(X, y)
    assert model.score(X, y) == 1.0


def test_a_sum_of_units_approximates_a_continuous_function_on_the_square():
    def ridge(P):
        return np.sin(3 * P[:, 0]) * np.cos(2 * P[:, 1]) + np.abs(P[:, 0] - P[:, 1]) / 2

    X = np.random.default_rng(0).random((4000, 2))
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), -1).reshape(-1, 2)
    errors = []
    for n_units in (10, 50, 300):
        learner = AdalineRegressor(eta0=1.0, schedule="1/sqrt(t)", max_iter=60, tol=None)
        model = make_pipeline(AssociationUnits(units="cosine", n_units=n_units, gamma=20.0), learner).fit(X, ridge(X))
        errors.append(np.abs(model.predict(grid) - ridge(grid)).max())
    assert errors[2] < 0.05
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("fan_in", [None, 2])
def test_dense_and_sparse_rows_give_the_same_features(units, fan_in):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.5)
    dense, sparse = (
        AssociationUnits(units=units, fan_in=fan_in, n_units=30).fit(rows) for rows in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(dense.transform(X), sparse.transform(sp.csr_array(X)), atol=1e-9)
    np.testing.assert_allclose(dense.bias_, sparse.bias_, atol=1e-9)
    assert dense.get_feature_names_out()[:2].tolist() == ["associationunits0", "associationunits1"]


def test_units_are_what_their_names_say():
    X = np.random.default_rng(2).standard_normal((30, 4))
    fitted = {units: AssociationUnits(units=units, n_units=20, fan_in=3).fit(X) for units in UNITS}
    for units, layer in fitted.items():
        assert np.diff(layer.weights_.indptr).tolist() == [3] * 20
        Z = X @ layer.weights_.toarray() + layer.bias_
        wanted = {
            "step": np.where(Z > 0, 1.0, 0.0),
            "sigmoid": 1 / (1 + np.exp(-Z)),
            "relu": np.where(Z > 0, Z, 0.0),
            "cosine": np.sqrt(2 / 20) * np.cos(Z),
        }
        np.testing.assert_allclose(layer.transform(X), wanted[units], atol=1e-12)
    assert 0 < fitted["step"].transform(X).mean() < 1


def test_cosine_units_approximate_the_gaussian_kernel():
    X = load_iris().data[::10]
    Z = AssociationUnits(units="cosine", n_units=20000, gamma=0.3).fit(X).transform(X)
    assert np.abs(Z @ Z.T - rbf_kernel(X, gamma=0.3)).max() < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": "tanh"}, "units='tanh'"),
        ({"n_units": 0}, "n_units=0"),
        ({"fan_in": 0}, "fan_in=0"),
        ({"fan_in": 9}, "more than the 2 features"),
        ({"gamma": "auto"}, "gamma='auto'"),
        ({"gamma": -1.0}, "gamma=-1.0"),
    ],
)
def test_impossible_parameters_are_refused_by_name(options, message):
    with pytest.raises(InvalidInput, match=message):
        AssociationUnits(**options).fit(XOR[0])
