"""Every trial of a fit: the recording is the fit, to the last bit."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_regressor

from members import FAMILY, STREAMS
from rosenblatt import (
    ALMA,
    AROW,
    AdalineRegressor,
    AssociationUnits,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    Perceptron,
    PNormPerceptron,
    PocketPerceptron,
    SoftMargin,
    Winnow,
    record,
    trace,
)
from rosenblatt.errors import InvalidInput
from rosenblatt.training import record as module
from strategies import integer_sets

XOR = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float), np.array([0, 1, 1, 0])
RECORDED = [
    *(model for model in FAMILY if not isinstance(model, (MaximumMargin, PocketPerceptron))),
    *(model for model in STREAMS if str(model) not in map(str, FAMILY)),
    Perceptron(penalty="elasticnet", alpha=0.01),
    Perceptron(eta0=0.1, schedule="1/t", keep="best"),
    Perceptron(early_stopping=True, validation_fraction=0.3),
    Perceptron(class_weight={0: 2.0, 1: 0.5}, shuffle="random"),
]


def rows_of(classes=2, n=30, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.integers(-3, 4, (n, d))).astype(float)
    y = rng.integers(0, classes, n)
    y[:classes] = range(classes)
    return X, y


def same_as_fit(model, X, y, **options):
    """Record a fit, check it against a fit of a fresh estimator, and return it."""
    fitted, recorded = clone(model).fit(X, y, **options), clone(model)
    recording = record(recorded, X, y, **options)
    assert recording.estimator is recorded
    assert recording.run is recorded.run_
    for name in ("mistakes", "losses", "errors", "updates", "epochs", "trials", "stop", "stops", "kept", "cycle"):
        ours, theirs = getattr(recorded.run_, name), getattr(fitted.run_, name)
        if name == "losses":  # sums of floats, added up in the same order
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        else:
            assert ours == theirs, name
    assert recorded.stop_reason_ == fitted.stop_reason_
    assert (recorded.t_, recorded.n_iter_) == (fitted.t_, fitted.n_iter_)
    assert_sums(recording)
    return recording, fitted


def assert_sums(recording):
    """Check that the trials of each epoch add up to what the record says of it."""
    run, epochs = recording.run, range(1, recording.run.epochs + 1)
    n_rows = run.trials / run.epochs
    assert tuple(int(recording.mistakes[recording.epoch == epoch].sum()) for epoch in epochs) == run.mistakes
    assert int(recording.epoch.max()) == run.epochs
    losses = [recording.loss[recording.epoch == epoch].sum() / n_rows for epoch in epochs]
    np.testing.assert_allclose(losses, run.losses, rtol=1e-9, atol=1e-12)


def assert_scored_before(recording, X):
    """Check that each score is W.x + b of the weights before its trial."""
    at = np.r_[0, recording.at[:-1]]
    for row, score, k in zip(recording.row, recording.score, at, strict=True):
        np.testing.assert_allclose(score, recording.W[k] @ X[row] + recording.b[k], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", RECORDED, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_recording_is_the_fit(model, classes):
    X, y = rows_of(classes)
    if classes == 3 and isinstance(getattr(model, "class_weight", None), dict):
        model = clone(model).set_params(class_weight={0: 2.0, 1: 0.5, 2: 1.0})
    for storage in (np.asarray, sp.csr_array):
        recording, fitted = same_as_fit(clone(model).set_params(max_iter=7), storage(X), y)
        assert recording.estimator.coef_.tolist() == fitted.coef_.tolist()
        assert np.ravel(recording.estimator.intercept_).tolist() == np.ravel(fitted.intercept_).tolist()
        if not getattr(model, "batch", False):
            assert_scored_before(recording, X)
            assert recording.row.size == fitted.run_.trials


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "ovo-vote", "joint"])
@pytest.mark.parametrize(
    "model", [Perceptron(), AveragedPerceptron(), AROW(), SoftMargin(), Winnow(), ALMA(), PNormPerceptron()], ids=str
)
def test_every_multiclass_mode_is_recorded(model, multiclass):
    if multiclass not in model.modes:
        pytest.skip(f"{model} has no mode {multiclass}")
    X, y = rows_of(4, n=40, seed=2)
    recording, fitted = same_as_fit(clone(model).set_params(multiclass=multiclass, max_iter=4), X, y)
    assert recording.estimator.coef_.tolist() == fitted.coef_.tolist()
    assert_scored_before(recording, X)
    assert set(recording.label.tolist()) == {0, 1, 2, 3}


@given(integer_sets(classes=3), st.integers(0, 5), st.booleans())
@settings(max_examples=30)
def test_any_rows_are_recorded_as_they_are_fitted(data, seed, sparse):
    X, label = data
    rows = sp.csr_array(X) if sparse else X
    recording, fitted = same_as_fit(Perceptron(random_state=seed, max_iter=20), rows, label)
    assert recording.estimator.coef_.tolist() == fitted.coef_.tolist()
    assert_scored_before(recording, X)


def test_weights_of_rows_are_taken():
    X, y = rows_of()
    weight = np.arange(30.0) % 4
    recording, fitted = same_as_fit(Perceptron(max_iter=3, tol=None), X, y, sample_weight=weight)
    assert recording.estimator.coef_.tolist() == fitted.coef_.tolist()
    assert not set(recording.row.tolist()) & set(np.flatnonzero(weight == 0).tolist())


def test_a_batch_with_a_penalty_is_refused_as_it_is_by_a_fit():
    model = Perceptron(batch=True, penalty="l2")
    for learn in (model.fit, lambda X, y: record(model, X, y)):
        with pytest.raises(InvalidInput, match="without a penalty"):
            learn([[0.0], [1.0]], [0, 1])


def test_a_batch_epoch_is_one_trial():
    X, y = rows_of()
    recording, fitted = same_as_fit(Perceptron(batch=True, max_iter=5, tol=None, keep="last"), X, y)
    assert recording.row.tolist() == [-1] * fitted.n_iter_
    assert recording.label.tolist() == [-1] * fitted.n_iter_
    assert recording.W[recording.at[-1]].tolist() == fitted.coef_.tolist()
    trials = list(recording.trials())
    assert [trial.label for trial in trials] == [0] * fitted.n_iter_
    assert trials[-1].mistakes == sum(fitted.run_.mistakes)


@pytest.mark.parametrize(
    "model",
    [
        KernelPerceptron(kernel="quadratic"),
        KernelPerceptron(kernel="rbf", gamma=0.5, shuffle=False),
        KernelPerceptron(kernel="linear", fit_intercept=True, multiclass="ovo"),
        KernelPerceptron(kernel="quadratic", multiclass="joint", max_iter=5),
        KernelPerceptron(kernel="poly", multiclass="ovr", class_weight={0: 2.0}),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_dual_is_recorded_from_its_log(model, classes):
    X, y = rows_of(classes, seed=1)
    recording, fitted = same_as_fit(model, X, y)
    assert recording.estimator.dual_coef_.tolist() == fitted.dual_coef_.tolist()
    assert recording.W[recording.at[-1]].tolist() == fitted.dual_coef_.tolist()
    assert recording.row.size == fitted.t_


@pytest.mark.parametrize("rule", ["arow", "projectron", "random", "forgetron"])
@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_budget_is_recorded_trial_by_trial(rule, multiclass, classes):
    X, y = rows_of(classes, seed=1)
    options = {"kernel": "rbf", "gamma": 0.5, "budget": 5, "budget_rule": rule, "multiclass": multiclass}
    model = KernelPerceptron(**options, max_iter=4, tol=None)
    recording, fitted = same_as_fit(model, X, y)
    by_row = np.zeros((fitted.dual_coef_.shape[0], len(X)))
    np.add.at(by_row, (slice(None), fitted.support_), fitted.dual_coef_)
    np.testing.assert_array_equal(recording.W[recording.at[-1]], by_row[:, recording.vectors])
    assert (np.count_nonzero(recording.W.any(axis=1), axis=1) <= 5).all()
    assert [recording.mistakes[recording.epoch == epoch].sum() for epoch in (1, 2, 3, 4)] == list(fitted.run_.mistakes)
    K = np.exp(-0.5 * ((X[recording.vectors][:, None] - X) ** 2).sum(axis=2))
    before = np.r_[0, recording.at[:-1]]
    for t, row in enumerate(recording.row):
        np.testing.assert_allclose(recording.score[t], recording.W[before[t]] @ K[:, row], atol=1e-9)


@given(integer_sets(most_rows=16), st.integers(1, 6))
def test_the_trials_of_the_plain_perceptron_are_those_of_the_trace(data, epochs):
    X, label = data
    plain = list(trace(X, label, max_iter=epochs))
    model = Perceptron(shuffle=False, max_iter=epochs, tol=None)
    followed = list(trace(X, label, estimator=model))
    assert len(followed) >= len(plain)
    assert len(followed) == len(plain) or plain[-1].cycle is not None
    for one, other in zip(plain, followed, strict=False):
        for name in ("t", "epoch", "row", "label", "score", "loss", "mistake", "b", "mistakes", "total_loss"):
            assert getattr(one, name) == getattr(other, name), name
        assert one.w.tolist() == other.w.tolist()
        assert other.update == one.mistake


def test_the_last_trial_of_a_cycle_says_how_long_it_is():
    assert [*trace(*XOR)][-1].cycle == 1
    assert [*trace(*XOR)][-1].t == 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trials = [*trace(*XOR, estimator=Perceptron(shuffle=False, tol=None))]
    assert trials[-1].cycle == 1
    assert [trial.cycle for trial in trials[:-1]] == [None] * (len(trials) - 1)


def test_a_trace_of_several_classes_has_a_score_for_each():
    X, y = rows_of(3)
    for trial in trace(X, y, estimator=Perceptron(max_iter=1, tol=None)):
        assert trial.score.shape == trial.b.shape == (3,)
        assert trial.w.shape == (3, 3)
        assert trial.label == y[trial.row]


def test_a_regression_is_recorded():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 2))
    recording, fitted = same_as_fit(AdalineRegressor(max_iter=3, tol=None), X, X @ [1.0, -1.0])
    assert is_regressor(fitted)
    assert recording.W[recording.at[-1]][0].tolist() == fitted.coef_.tolist()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MaximumMargin(), "MaximumMargin does not learn trial by trial"),
        (AssociationUnits(), "AssociationUnits does not learn trial by trial"),
    ],
    ids=str,
)
def test_what_has_no_trials_is_refused_with_a_sentence(model, message):
    with pytest.raises(InvalidInput, match=message):
        record(model, *XOR)
    with pytest.raises(InvalidInput, match=message):
        list(trace(*XOR, estimator=model))


def test_a_recording_is_not_endless(monkeypatch):
    monkeypatch.setattr(module, "MAX_TRIALS", 10)
    with pytest.raises(InvalidInput, match="10 trials; epoch 3"):
        record(Perceptron(tol=None), *XOR)


@pytest.mark.parametrize("seed", range(5))
def test_a_recorded_pocket_is_the_fitted_pocket(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (30, 3)).astype(float), rng.integers(0, 2, 30)
    recorded = PocketPerceptron(max_iter=7, tol=None)
    record(recorded, X, y)
    assert recorded.coef_.tolist() == PocketPerceptron(max_iter=7, tol=None).fit(X, y).coef_.tolist()
