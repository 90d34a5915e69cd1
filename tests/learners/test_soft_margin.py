"""Soft margins: losses, penalties, rates, probabilities."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from oracles import family
from rosenblatt import SoftMargin, load, save
from rosenblatt.errors import InvalidInput


def rows_of(n=200, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, :classes] + 0.7 * rng.standard_normal((n, classes))).argmax(1)


@pytest.mark.parametrize("seed", range(5))
def test_pegasos_is_the_oracle(seed):
    X, label = rows_of(40, seed=seed)
    options = {"alpha": 0.2, "schedule": "pegasos", "fit_intercept": False, "shuffle": False, "average": False}
    model = SoftMargin(max_iter=2, tol=None, **options).fit(X, label)
    run = family.pegasos(X, (2 * label - 1).tolist(), [range(len(X))] * 2, lam=0.2, project=False)
    np.testing.assert_allclose(model.coef_[0], run.w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "modified_huber", "logistic"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
def test_dense_and_sparse_rows_and_chunks_give_the_same(loss, penalty):
    X, y = rows_of(60)
    X[np.abs(X) < 0.5] = 0.0
    options = {"loss": loss, "penalty": penalty, "alpha": 0.02, "shuffle": False, "max_iter": 1, "tol": None}
    options["average"] = penalty in (None, "l2")
    dense, sparse = (SoftMargin(**options).fit(rows, y) for rows in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-10)
    stream = SoftMargin(**options).partial_fit(X[:13], y[:13]).partial_fit(sp.csr_array(X[13:]), y[13:])
    np.testing.assert_allclose(stream.coef_, dense.coef_, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("length", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("eta", [0.01, 1.0, 100.0])
def test_a_long_step_goes_as_far_as_many_short_ones(loss, length, eta):
    x, options = np.array([[length]]), {"loss": loss, "schedule": "constant", "penalty": None, "average": False}
    once = SoftMargin(eta0=eta, **options).partial_fit(x, [1], classes=[0, 1])
    often = SoftMargin(eta0=eta / 1000, **options).partial_fit(np.repeat(x, 1000, axis=0), [1] * 1000, classes=[0, 1])
    np.testing.assert_allclose(once.coef_, often.coef_, rtol=0.02)


def test_long_rows_and_columns_of_other_sizes_do_no_harm():
    X, y = load_iris(return_X_y=True)
    for loss in ("hinge", "squared_hinge", "modified_huber", "logistic"):
        for scale in (1.0, 100.0):
            assert SoftMargin(loss=loss, random_state=0).fit(scale * X, y).score(scale * X, y) > 0.93


@pytest.mark.parametrize("length", [1.0, 30.0])
@pytest.mark.parametrize("multiclass", ["ovr", "joint"])
def test_a_step_against_the_squared_hinge_loss_does_not_go_beyond_a_margin_of_one(length, multiclass):
    x = length * np.array([[0.6, 0.8]])
    for eta in (1e-4, 0.1, 1e6):
        options = {"schedule": "constant", "penalty": None, "average": False, "multiclass": multiclass}
        model = SoftMargin(loss="squared_hinge", eta0=eta, intercept_scaling=1.0, **options)
        model.partial_fit(x, [1], classes=[0, 1, 2])
        scores = model.decision_function(x)[0]
        margin = scores[1] - scores[[0, 2]].min() if multiclass == "joint" else scores[1]
        gradient = 2 * eta * (length**2 + 1) * (2 if multiclass == "joint" else 1)
        assert margin == pytest.approx(min(gradient, 1.0))


def test_the_modified_huber_loss_is_the_squared_one_to_a_margin_of_minus_one_and_then_a_line():
    for start in (2.0, 0.5, -0.9, -1.0, -1.5, -40.0):
        model = SoftMargin(loss="modified_huber", schedule="constant", eta0=0.01, penalty=None, shuffle=False)
        model.set_params(max_iter=1, tol=None, fit_intercept=False, average=False)
        model.fit([[1.0], [0.0]], [1, 0], coef_init=[[start]])
        slope = 0.0 if start >= 1 else 2 * (1 - start) if start >= -1 else 4.0
        assert model.coef_[0, 0] == pytest.approx(start + 0.01 * slope)
        loss = 0.0 if start >= 1 else (1 - start) ** 2 if start >= -1 else -4 * start
        assert model.run_.losses[0] == pytest.approx((loss + 1.0) / 2)  # the row of zeros has a margin of zero


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_the_modified_huber_loss_are_scikit_learns(classes):
    X, y = rows_of(classes=classes)
    X = np.r_[X, 50 * X]
    model = SoftMargin(loss="modified_huber").fit(X[:200], y)
    theirs = SGDClassifier(loss="modified_huber").fit(X[:200], y)
    theirs.coef_, theirs.intercept_ = model.coef_, model.intercept_
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(theirs.predict_proba(X)), atol=1e-12)
    assert list(model.predict_proba_one(X[0]).values()) == model.predict_proba(X[:1])[0].tolist()
    model.coef_ = 0 * model.coef_
    model.intercept_ = np.full(model.coef_.shape[0], -2.0)  # no class has more than zero
    expected = [1.0, 0.0] if classes == 2 else [1 / 3] * 3
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], expected)


def test_scikit_learns_word_for_the_logistic_loss_is_understood(tmp_path):
    X, y = rows_of()
    ours, theirs = (SoftMargin(loss=loss).fit(X, y) for loss in ("logistic", "log_loss"))
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    save(theirs, tmp_path / "a.model")
    np.testing.assert_array_equal(load(tmp_path / "a.model").predict_proba(X), ours.predict_proba(X))
    with pytest.raises(InvalidInput, match="does not exist"):
        SoftMargin(loss="log_loss", multiclass="joint").fit(X, y)


@pytest.mark.parametrize("multiclass", ["ovr", "joint"])
def test_the_squared_hinge_loss_bears_long_rows(multiclass):
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SoftMargin(loss="squared_hinge", multiclass=multiclass).fit(X[:1200], y[:1200])
    assert model.score(X[1200:], y[1200:]) > LinearSVC().fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) - 0.01


def test_the_model_is_an_average_unless_zeros_are_wanted():
    X, y = rows_of()
    options = {"max_iter": 1, "tol": None}
    for penalty in ("l2", None, "l1", "elasticnet"):
        chosen, other = (
            SoftMargin(penalty=penalty, average=average, **options) for average in (None, penalty in ("l2", None))
        )
        assert chosen.fit(X, y).coef_.tolist() == other.fit(X, y).coef_.tolist()


@pytest.mark.parametrize("multiclass", ["ovr", "joint"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("strength", [0.01, 0.3, 0.7, 0.999, 1.0, 2.0])
def test_the_average_is_the_mean_of_the_weights_under_a_penalty_of_any_strength(strength, sparse, multiclass):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 3, 60)
    X = sp.csr_array(X) if sparse else X
    options = {"schedule": "constant", "eta0": 2.0, "alpha": strength / 2.0, "multiclass": multiclass}
    last, average = SoftMargin(average=False, **options), SoftMargin(average=True, **options)
    weights = []
    for i in range(60):
        for model in (last, average):
            model.partial_fit(X[[i]], y[i : i + 1], classes=[0, 1, 2])
        weights.append(last.coef_)
    np.testing.assert_allclose(average.coef_, np.mean(weights, axis=0), rtol=1e-9, atol=1e-9)


def test_an_l1_penalty_makes_weights_zero():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 30))
    y = X[:, 0] > 0
    model = SoftMargin(penalty="l1", alpha=0.03).fit(X, y)
    assert (model.coef_[0] == 0).sum() > 15
    assert np.argmax(np.abs(model.coef_[0])) == 0


def test_the_logistic_loss_finds_what_a_solver_finds():
    X, y = rows_of(400)
    alpha = 0.05
    model = SoftMargin(loss="logistic", alpha=alpha, average=True, max_iter=300, tol=None).fit(X, y)
    exact = LogisticRegression(C=1 / (alpha * len(X)), tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=0.05, atol=0.02)
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), atol=0.03)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_probabilities_add_up_and_agree_with_the_prediction(classes, multiclass):
    X, y = rows_of(classes=classes)
    model = SoftMargin(loss="logistic", multiclass=multiclass).fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (200, classes)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    # Scores far apart round to the same probability: the predicted class has the largest, perhaps not alone.
    np.testing.assert_array_equal(proba[np.arange(200), model.predict(X)], proba.max(axis=1))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_other_losses_have_no_probabilities(loss):
    assert not hasattr(SoftMargin(loss=loss), "predict_proba")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "schedule='optimal' divides by alpha"),
        ({"alpha": 0.0, "schedule": "pegasos"}, "schedule='pegasos' divides by alpha"),
        ({"schedule": "never"}, "schedule='never' is invalid: it must be one of 'optimal', 'pegasos'"),
        ({"loss": "logistic", "multiclass": "joint"}, "does not exist for SoftMargin"),
    ],
    ids=str,
)
def test_what_has_no_meaning_together_is_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        SoftMargin(**options).fit(*rows_of(classes=3))


def test_without_a_penalty_rates_go_by_epoch():
    model = SoftMargin(penalty=None, schedule="constant", alpha=0.0).fit(*rows_of())
    assert model.score(*rows_of()) > 0.8


@pytest.mark.parametrize("classes", [2, 3])
def test_logarithms_of_probabilities_do_not_vanish(classes):
    X, y = rows_of(classes=classes)
    model = SoftMargin(loss="logistic").fit(X, y)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), atol=1e-12)
    far = model.predict_log_proba(1e4 * X)
    assert np.isfinite(far).all()
    assert (far.min(axis=1) < -40).any()


@pytest.mark.parametrize("classes", [2, 3])
def test_one_row_has_the_probabilities_of_many(classes):
    X, y = rows_of(classes=classes)
    model = SoftMargin(loss="logistic").fit(X, np.array(["a", "b", "c"])[y])
    found = model.predict_proba_one(X[0])
    assert list(found) == model.classes_.tolist()
    np.testing.assert_array_equal([*found.values()], model.predict_proba(X[:1])[0])
    assert not hasattr(SoftMargin(), "predict_proba_one")
    assert not hasattr(SoftMargin(), "predict_log_proba")


def test_the_only_class_so_far_is_certain():
    model = SoftMargin(loss="logistic")
    model.learn_one({"a": 1.0}, "yes")
    assert model.predict_proba_one({"a": 2.0}) == {"yes": 1.0}


@pytest.mark.parametrize("alpha", [1e300, 1e308, 10.0])
def test_a_penalty_of_any_strength_leaves_the_rate_finite(alpha):
    assert np.isfinite(SoftMargin(alpha=alpha, max_iter=2).fit(*rows_of(20)).coef_).all()


def test_a_stream_does_not_average_unless_told_to_and_a_fit_does():
    X, y = rows_of(60)
    stream = SoftMargin().partial_fit(X, y)
    np.testing.assert_array_equal(stream.coef_, SoftMargin(average=False).partial_fit(X, y).coef_)
    assert not np.array_equal(stream.coef_, SoftMargin(average=True).partial_fit(X, y).coef_)
    fitted, averaged = (SoftMargin(max_iter=1, tol=None, shuffle=False, average=a).fit(X, y) for a in (None, True))
    np.testing.assert_array_equal(fitted.coef_, averaged.coef_)
    np.testing.assert_array_equal(fitted.partial_fit(X, y).coef_, averaged.partial_fit(X, y).coef_)


def test_a_stream_that_changes_is_followed_better_without_an_average():
    X = np.random.default_rng(0).normal(size=(4000, 2))
    y = (X[:, 0] * np.cos(np.arange(4000) / 400) > 0).astype(int)
    right = {None: 0, True: 0}
    for average in right:
        model = SoftMargin(loss="logistic", average=average)
        for x, label in zip(X, y, strict=True):
            right[average] += model.predict_one(x) == label
            model.learn_one(x, label)
    assert right[None] > right[True]
