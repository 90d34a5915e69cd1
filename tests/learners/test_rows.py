"""The constant that pads each row: what it means, how it is chosen, and that streams and files keep it."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from rosenblatt import (
    AROW,
    Adaline,
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
    load,
    save,
    theory,
)
from rosenblatt.data.survey import OUTWEIGHS, Survey, choose_padding, warn_of_scale
from rosenblatt.errors import InvalidInput, ScaleWarning
from rosenblatt.storage.registry import Fault
from strategies import integer_sets

THREE = {"shuffle": False, "max_iter": 3, "tol": None}
MEMBERS = [
    Perceptron(**THREE),
    Perceptron(batch=True, **THREE),
    AveragedPerceptron(**THREE),
    VotedPerceptron(**THREE),
    PocketPerceptron(**THREE),
    PassiveAggressive(**THREE),
    PassiveAggressive(loss="squared_hinge", average=True, **THREE),
    AROW(**THREE),
    AROW(covariance="full", **THREE),
    Adaline(**THREE),
    Adaline(normalised=False, eta0=0.01, **THREE),
    SoftMargin(penalty=None, schedule="constant", loss="logistic", **THREE),
]


@pytest.mark.parametrize("model", MEMBERS, ids=str)
@pytest.mark.parametrize("multiclass", ["ovr", "joint"])
@given(data=integer_sets(classes=3), c=st.sampled_from([0.25, 1.0, 4.0]))
@settings(max_examples=15, deadline=None)
def test_a_bias_is_the_weight_of_a_feature_that_is_c_everywhere(model, multiclass, data, c):
    X, label = data
    if multiclass not in model.modes:
        return
    model.set_params(intercept_scaling=c, fit_intercept=True, multiclass=multiclass).fit(X, label)
    W, b = model.coef_, model.intercept_
    padded = np.c_[X, np.full(len(X), c)]
    model.set_params(fit_intercept=False).fit(padded, label)
    np.testing.assert_allclose(W, model.coef_[:, :-1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(b, c * model.coef_[:, -1], rtol=1e-9, atol=1e-9)


def sizes(length, value):
    return Survey(length, value, 0, value, value)


@pytest.mark.parametrize(
    ("length", "value", "classes", "c"),
    [
        (1.0, 0.1, 20, 1 / 8),
        (1.0, 0.1, 2, 1 / 2),
        (1.0, 0.25, 20, 1.0),
        (60.0, 10.0, 20, 1.0),
        (0.0, 0.0, 3, 1.0),
        (0.01, 0.001, 3, 2.0**-10),
        (30.0, 0.1, 2, 1.0),
    ],
)
def test_the_constant_does_not_outweigh_small_values(length, value, classes, c):
    assert choose_padding(sizes(length, value), classes) == c


@pytest.mark.parametrize("entries", [2**k for k in range(5, 15)])
def test_rows_of_equal_values_are_on_no_border(entries):
    value, last_bit = entries**-0.5, 1e-13
    around = {choose_padding(sizes(1.0, value * (1 + change)), 3) for change in (-last_bit, 0.0, last_bit)}
    assert len(around) == 1


def texts(n_classes=3):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 400), density=0.25, format="csr", rng=rng)
    return X / sp.linalg.norm(X, axis=1)[:, None], np.arange(60) % n_classes


def test_a_fit_chooses_by_the_data_and_not_by_the_storage():
    X, y = texts()
    X = sp.csr_array(X)
    sparse, dense = Perceptron().fit(X, y), Perceptron().fit(X.toarray(), y)
    assert sparse.intercept_scaling_ == dense.intercept_scaling_ == 1 / 8
    assert Perceptron().fit(8 * X, y).intercept_scaling_ == 1
    assert Perceptron().fit(X, y > 0).intercept_scaling_ == 1 / 2
    assert Perceptron(intercept_scaling=3).fit(X, y).intercept_scaling_ == 3
    # All steps of the bias are multiples of the square of the constant.
    steps = sparse.intercept_ * 64
    assert np.array_equal(steps, np.round(steps))
    assert (np.round(sparse.intercept_) != sparse.intercept_).any()


def test_rows_of_weight_zero_do_not_choose():
    X, y = texts()
    X = np.vstack([sp.csr_array(X).toarray(), np.full((60, 400), 100.0)])
    weight = np.repeat([1.0, 0.0], 60)
    assert AveragedPerceptron().fit(X, np.tile(y, 2), sample_weight=weight).intercept_scaling_ == 1 / 8


@pytest.mark.parametrize("model", [Perceptron(), AROW(), VotedPerceptron()], ids=str)
def test_a_stream_takes_one_or_goes_on_with_what_a_fit_has_chosen(model, tmp_path):
    X, y = texts()
    X = sp.csr_array(X)
    model.partial_fit(X, y)
    assert model.intercept_scaling_ == 1 / 4  # the first row has length one
    model.fit(X, y)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    for other in (model, loaded):
        other.partial_fit(X, y[::-1])
        assert other.intercept_scaling_ == 1 / 8
    np.testing.assert_array_equal(model.intercept_, loaded.intercept_)
    model.set_params(intercept_scaling=2.0)
    if isinstance(model, VotedPerceptron):
        with pytest.raises(InvalidInput, match="not what the vectors that vote were learned with"):
            model.partial_fit(X, y)
    else:
        assert model.partial_fit(X, y).intercept_scaling_ == 2


def test_a_warm_start_goes_on_with_the_constant():
    X, y = texts()
    X = sp.csr_array(X)
    model = Perceptron(warm_start=True).fit(X, y)
    assert model.fit(100 * X, y).intercept_scaling_ == 1 / 8


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan, 1e-200, "full", None])
def test_constants_without_a_meaning_are_refused(value):
    with pytest.raises(InvalidInput, match="intercept_scaling"):
        Perceptron(intercept_scaling=value).fit([[0.0], [1.0]], [0, 1])
    model = Perceptron().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(Fault, match="intercept_scaling_"):
        Perceptron()._from_file(model._to_file() | {"intercept_scaling_": value})
    with pytest.raises(InvalidInput, match="intercept_scaling_"):
        model.intercept_scaling_ = value


def test_winnow_has_a_threshold_instead():
    assert "intercept_scaling" not in Winnow().get_params()
    assert not hasattr(Winnow().fit([[0.0], [1.0]], [0, 1]), "intercept_scaling_")


def test_data_that_is_not_separable_is_proved_so_whatever_the_constant():
    X, y = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]] * 10, [0, 0, 1, 1] * 10
    for c in (1.0, 0.125):
        assert Perceptron(intercept_scaling=c).fit(X, y).run_.certificate is not None


def test_the_theorems_are_about_rows_padded_by_one():
    X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, 1]
    assert theory(X, y, Perceptron(intercept_scaling=1)).mistakes == theory(X, y, Perceptron()).mistakes
    with pytest.raises(InvalidInput, match="intercept_scaling="):
        theory(X, y, Perceptron(intercept_scaling=0.5))


FEW = {"max_iter": 3, "tol": None}


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", [Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron, Adaline])
def test_a_column_that_outweighs_the_others_is_named(model, kind):
    X, y = load_wine(return_X_y=True)
    with pytest.warns(
        ScaleWarning, match=r"Column 12 \(root mean square 8.1e\+02\) outweighs .* StandardScaler"
    ) as seen:
        model(**FEW).fit(kind(X), y)
    assert sum(issubclass(one.category, ScaleWarning) for one in seen) == 1
    assert seen[0].filename == __file__


def test_the_name_of_the_column_is_told_where_there_is_one():
    X, y = load_wine(return_X_y=True, as_frame=True)
    with pytest.warns(ScaleWarning, match="Column 'proline' "):
        PassiveAggressive(**FEW).fit(X, y)


def quiet(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        model.fit(X, y)


@pytest.mark.parametrize("load", [load_digits, load_iris])
def test_ordinary_data_is_not_warned_of(load):
    quiet(Perceptron(**FEW), *load(return_X_y=True))


def test_scaled_data_is_not_warned_of():
    X, y = load_breast_cancer(return_X_y=True)
    quiet(SoftMargin(**FEW), StandardScaler().fit_transform(X), y)


def test_rare_columns_of_ordinary_values_are_not_warned_of():
    X = sp.csr_array(np.eye(500) + np.outer(np.ones(500), np.eye(500)[0]))
    quiet(Perceptron(**FEW), X, np.arange(500) % 2)


@pytest.mark.parametrize("model", [AROW(**FEW), Winnow(**FEW), KernelPerceptron(**FEW)], ids=str)
def test_who_does_not_mind_does_not_warn(model):
    quiet(model, *load_breast_cancer(return_X_y=True))


def test_a_stream_is_not_warned_of_chunk_by_chunk():
    X, y = load_wine(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron().partial_fit(X, y).partial_fit(X, y)


def test_the_limit():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_scale(Survey(1.0, 1.0, 0, OUTWEIGHS, 1.0), None, 1)
        warn_of_scale(Survey(0.0, 0.0, 0, 0.0, 0.0), None, 1)
    with pytest.warns(ScaleWarning, match="'b'"):
        warn_of_scale(Survey(1.0, 1.0, 1, 1.01 * OUTWEIGHS, 1.0), pd.Index(["a", "b"]), 1)


# ------------------------------------------------------------------------------------------------ rows of extreme size


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("size", [1e-25, 1e20, 1e25])
@pytest.mark.parametrize("model", [Perceptron(), AveragedPerceptron(), PassiveAggressive(C=np.inf)], ids=str)
def test_float32_rows_of_any_size_are_learned_and_the_reason_is_true(model, size, kind):
    X, y = load_breast_cancer(return_X_y=True)
    X = (size * StandardScaler().fit_transform(X)).astype(np.float32)
    model.fit(kind(X), y)
    right = model.score(kind(X), y)
    assert right > 0.95
    assert ("every row is on its side" in model.stop_reason_) <= (right == 1)


@pytest.mark.parametrize("size", [1e-308, 1e-150, 1e150])
@pytest.mark.parametrize("model", [Perceptron(), KernelPerceptron(kernel="linear")], ids=str)
def test_rows_that_no_float_can_multiply_are_refused(model, size):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInput, match="Scale the data"):
        model.fit(size * X, y)
    if hasattr(model, "partial_fit"):
        with pytest.raises(InvalidInput, match="Scale the data"):
            model.partial_fit(size * X, y)


def test_a_stream_of_float32_refuses_rows_that_it_cannot_multiply():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    model = Perceptron().partial_fit(X, y)
    before = model.coef_
    for learn in (
        lambda: model.partial_fit(np.float32(1e25) * X, y),
        lambda: model.learn_one(np.float32(1e25) * X[0], 0),
        lambda: model.learn_one(sp.csr_array(np.float32(1e25) * X[:1]), 0),
    ):
        with pytest.raises(InvalidInput, match=r"[Ss]cale"):
            learn()
    assert model.coef_.tolist() == before.tolist()
    assert np.isfinite(model.decision_function(np.float32(1e37) * X)).all()
