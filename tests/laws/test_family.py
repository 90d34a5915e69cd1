"""The compiled family against its oracle, and the laws that every member keeps."""

import runpy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

import rosenblatt
from members import STREAMS
from oracles import family
from rosenblatt import (
    AROW,
    Adaline,
    AdalineRegressor,
    AveragedPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
)
from rosenblatt.errors import InvalidInput
from strategies import integer_sets, separable_sets

ONE_PASS = {"shuffle": False, "max_iter": 1, "tol": None}
THREE = {"shuffle": False, "max_iter": 3, "tol": None}


def pad(X):
    return np.c_[X, np.ones(len(X))]


def weights(model, p=0):
    return np.append(model.coef_[p], model.intercept_[p])


ORACLES = {
    "averaged": (AveragedPerceptron(**THREE), family.averaged, {}),
    "margin": (Perceptron(margin=2.0, **THREE), family.margin_perceptron, {"tau_pos": 2.0, "tau_neg": 2.0}),
    "uneven": (Perceptron(margin=(3.0, 1.0), **THREE), family.margin_perceptron, {"tau_pos": 3.0, "tau_neg": 1.0}),
    "PA": (PassiveAggressive(C=np.inf, **THREE), family.passive_aggressive, {"variant": "PA"}),
    "PA-I": (PassiveAggressive(C=0.1, **THREE), family.passive_aggressive, {"C": 0.1, "variant": "PA-I"}),
    "PA-II": (
        PassiveAggressive(C=0.5, loss="squared_hinge", **THREE),
        family.passive_aggressive,
        {"C": 0.5, "variant": "PA-II"},
    ),
    "AROW full": (AROW(r=2.0, covariance="full", **THREE), family.arow, {"r": 2.0}),
    "AROW diagonal": (AROW(r=0.5, covariance="diagonal", **THREE), family.arow_diagonal, {"r": 0.5}),
    "LMS": (Adaline(eta0=0.01, normalised=False, **THREE), family.lms, {"eta": 0.01}),
    "NLMS": (Adaline(eta0=0.5, **THREE), family.lms, {"eta": 0.5, "normalised": True}),
    "Pegasos": (
        SoftMargin(alpha=0.1, schedule="pegasos", fit_intercept=False, average=False, **THREE),
        family.pegasos,
        {"lam": 0.1, "project": False},
    ),
    "balanced Winnow": (Winnow(factor=2.0, **THREE), family.balanced_winnow, {"alpha": 2.0}),
}


@pytest.mark.parametrize(("model", "oracle", "parameters"), ORACLES.values(), ids=ORACLES.keys())
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@given(data=integer_sets())
@settings(max_examples=40)
def test_the_compiled_method_is_the_oracle(model, oracle, parameters, sparse, data):
    X, label = data
    fitted = model.fit(sp.csr_array(X) if sparse else X, label)
    rows = pad(X) if model.fit_intercept else X
    run = oracle(rows, (2 * label - 1).tolist(), [range(len(X))] * fitted.n_iter_, **parameters)
    # Where rounding decides whether a margin is below one, two right implementations may differ.
    assume(oracle is not family.pegasos or min(abs(margin - 1) for margin in run.margins) > 1e-9)
    found = weights(fitted) if model.fit_intercept else fitted.coef_[0]
    np.testing.assert_allclose(found, run.w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("eliminate", "oracle"), [(True, family.winnow1), (False, family.winnow2)])
@given(data=integer_sets(), factor=st.sampled_from([1.5, 2.0]))
def test_winnow_is_littlestones(eliminate, oracle, data, factor):
    X, label = data
    X = (X > 0).astype(float)
    model = Winnow(balanced=False, factor=factor, eliminate=eliminate, **THREE).fit(X, label)
    run = oracle(X, (2 * label - 1).tolist(), [range(len(X))] * 3, alpha=factor, theta=X.shape[1] / 2)
    np.testing.assert_allclose(model.coef_[0], run.w, rtol=1e-12)
    assert sum(model.run_.mistakes) == sum(run.mistakes)
    assert model.intercept_.tolist() == [-X.shape[1] / 2]


@given(integer_sets(), st.booleans())
def test_one_fit_of_the_voted_perceptron_gives_three_predictions(data, sparse):
    X, label = data
    stored = sp.csr_array(X) if sparse else X
    model = VotedPerceptron(**THREE).fit(stored, label)
    run = family.voted(pad(X), (2 * label - 1).tolist(), [range(len(X))] * model.n_iter_)
    trials = sum(count for _, count in run.more["vectors"])
    share = [sum(c * (1 if v @ x > 0 else -1) for v, c in run.more["vectors"]) / trials for x in pad(X)]
    mean = sum(c * v for v, c in run.more["vectors"]) / trials
    np.testing.assert_allclose(model.decision_function(stored), share, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(stored, aggregate="average"), pad(X) @ mean, atol=1e-9)
    plain, average = Perceptron(**THREE).fit(X, label), AveragedPerceptron(**THREE).fit(X, label)
    np.testing.assert_allclose(model.decision_function(stored, aggregate="last"), pad(X) @ weights(plain), atol=1e-9)
    assert model.coef_.tolist() == average.coef_.tolist()
    assert model.intercept_.tolist() == average.intercept_.tolist()
    np.testing.assert_allclose(model.decision_function(X, aggregate="average"), average.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("model", STREAMS, ids=str)
@settings(max_examples=12)
@given(
    data=integer_sets(classes=3, most_rows=16),
    multiclass=st.sampled_from(["ovr", "ovo", "ovo-vote", "joint"]),
    more=st.data(),
)
def test_chunks_new_classes_and_storage_do_not_matter(model, data, multiclass, more):
    X, label = data
    if multiclass not in model.modes:
        multiclass = "ovr"
    model = type(model)(**model.get_params()).set_params(multiclass=multiclass)
    if isinstance(model, SoftMargin) and model.average is None:  # a fit averages then, a stream does not
        model.set_params(average=False)
    whole = type(model)(**model.get_params()).set_params(**ONE_PASS).fit(X, label)
    stream = type(model)(**model.get_params())
    announced = {"classes": [0, 1, 2]} if multiclass == "joint" or more.draw(st.booleans()) else {}
    cuts = sorted(more.draw(st.lists(st.integers(0, len(X)), max_size=3)))
    for start, end in zip([0, *cuts], [*cuts, len(X)], strict=True):
        if start < end:
            rows = sp.csr_array(X[start:end]) if more.draw(st.booleans()) else X[start:end]
            stream.partial_fit(rows, label[start:end], **announced)
            stream.decision_function(X)  # to have looked changes nothing
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(stream.intercept_, whole.intercept_, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(stream.decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-6)


@given(integer_sets(), st.integers(1, 20))
def test_the_average_is_exact_on_integers_and_can_be_read_at_any_time(data, cut):
    X, label = data
    cut = min(cut, len(X))
    watched = AveragedPerceptron()
    for part in (slice(0, cut), slice(cut, None)):
        if len(X[part]):
            watched.partial_fit(X[part], label[part], classes=[0, 1])
            assert np.isfinite(watched.coef_).all()
    blind = AveragedPerceptron(**ONE_PASS).fit(X, label)
    assert watched.coef_.tolist() == blind.coef_.tolist()
    assert watched.intercept_.tolist() == blind.intercept_.tolist()
    # B20: the average times the trials is the sum of the iterates, exactly.
    iterates = [np.append(trial.w, trial.b) for trial in rosenblatt.trace(X, label, max_iter=1)]
    np.testing.assert_allclose(weights(blind) * len(X), np.sum(iterates, axis=0), rtol=1e-14)


@given(separable_sets())
def test_the_widest_margin_is_no_less_than_that_of_any_known_separator(data):
    X, y, u, c = data
    if len(set(y)) < 2:
        return
    model = MaximumMargin().fit(X, y)
    known = (y * (X @ u + c)).min() / np.linalg.norm(u) if u.any() else 0.0
    reached = (y * (X @ model.coef_[0] + model.intercept_[0])).min() / np.linalg.norm(model.coef_[0])
    assert reached >= known * (1 - 1e-6)
    np.testing.assert_allclose(model.margin_[0], reached, rtol=1e-6)
    assert model.margin_ceiling_[0] >= reached * (1 - 1e-9)
    assert model.margin_[0] >= model.margin_ceiling_[0] * (1 - 1e-5)


@given(integer_sets(), st.integers(0, 5))
@settings(max_examples=40)
def test_the_pocket_never_gets_worse(data, seed):
    X, label = data
    errors = []
    for epochs in (1, 2, 4, 8):
        model = PocketPerceptron(max_iter=epochs, tol=None, random_state=seed).fit(X, label)
        errors.append(int(((2 * label - 1) * model.decision_function(X) <= 0).sum()))
    assert errors == sorted(errors, reverse=True)


def test_the_pocket_is_the_oracles():
    rng = np.random.default_rng(0)
    X, label = rng.integers(-3, 4, (40, 3)).astype(float), rng.integers(0, 2, 40)
    model = PocketPerceptron(shuffle=False, max_iter=5, tol=None).fit(X, label)
    run = family.pocket(pad(X), (2 * label - 1).tolist(), [range(40)] * 5)
    ours = int((model.predict(X) != label).sum())
    assert ours <= int(((pad(X) @ run.w > 0) != label).sum()) + 2


@given(integer_sets())
def test_a_passive_aggressive_step_reaches_the_margin_exactly(data):
    X, label = data
    model = PassiveAggressive(C=np.inf, **ONE_PASS).fit(X, label)
    last = (2 * label[-1] - 1) * model.decision_function(X[-1:])[0]
    assert last >= 1 - 1e-9


def test_regression_by_lms_is_the_oracle_and_finds_the_line():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = X @ [1.0, -2.0, 0.5] + 3.0
    for normalised, eta in ((False, 0.05), (True, 0.5)):
        model = AdalineRegressor(eta0=eta, normalised=normalised, **THREE).fit(X, y)
        run = family.lms(pad(X), y.tolist(), [range(60)] * 3, eta=eta, normalised=normalised)
        np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, atol=1e-10)
    stream = AdalineRegressor(eta0=0.5)
    for i in range(0, 60, 7):
        stream.partial_fit(sp.csr_array(X[i : i + 7]), y[i : i + 7])
    np.testing.assert_allclose(stream.coef_, AdalineRegressor(eta0=0.5, **ONE_PASS).fit(X, y).coef_, atol=1e-10)
    final = AdalineRegressor(eta0=0.5, max_iter=200, tol=None).fit(X, y)
    assert final.score(X, y) > 0.999999


@pytest.mark.parametrize(
    ("loss", "eta"), [("hinge", 2e-4), ("squared_hinge", 0.01), ("modified_huber", 0.01), ("log_loss", 1e-3)]
)
@pytest.mark.parametrize(("penalty", "average"), [("l2", False), ("l1", False), ("elasticnet", False), ("l2", True)])
def test_soft_margins_equal_scikit_learns_sgd_on_dense_rows_where_no_step_is_bounded(loss, eta, penalty, average):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = (X[:, 0] + 0.3 * rng.standard_normal(200) > 0).astype(int)
    options = {"penalty": penalty, "alpha": 0.01, "average": average, "shuffle": False, "max_iter": 4, "tol": None}
    # Rates so small that one step is as good as many: with larger ones scikit-learn overshoots, and ours does not.
    ours = SoftMargin(loss=loss, schedule="constant", eta0=eta, **options).fit(X, y)
    sgd = SGDClassifier(loss=loss, learning_rate="constant", eta0=eta, **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, sgd.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, sgd.intercept_, rtol=1e-6, atol=1e-8)


def test_probabilities_add_up_and_exist_for_the_logistic_loss_only():
    X, y = np.random.default_rng(0).standard_normal((60, 3)), np.arange(60) % 3
    assert np.allclose(SoftMargin(loss="logistic").fit(X, y).predict_proba(X).sum(1), 1)
    assert SoftMargin(loss="logistic").fit(X, y > 1).predict_proba(X).shape == (60, 2)
    assert not hasattr(SoftMargin(), "predict_proba")


def test_weights_of_a_row_of_lms_are_repetitions_of_it():
    X, y = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]), np.array([0, 1, 1])
    options = {"eta0": 0.3, **ONE_PASS}
    heavy = Adaline(**options).fit(X, y, sample_weight=[1, 3, 2])
    repeated = Adaline(**options).fit(X[[0, 1, 1, 1, 2, 2]], y[[0, 1, 1, 1, 2, 2]])
    np.testing.assert_allclose(heavy.coef_, repeated.coef_, rtol=1e-12)


def test_one_row_at_a_time_is_the_stream():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 10)), rng.integers(0, 2, 200)
    for model in (Perceptron(), PassiveAggressive(), AROW(), AveragedPerceptron()):
        chunks = type(model)(**model.get_params()).partial_fit(X, y, classes=[0, 1])
        mistakes = [model.learn_one(x, label) for x, label in zip(X, y.tolist(), strict=True)]
        np.testing.assert_allclose(model.coef_, chunks.coef_, atol=1e-12)
        assert model.t_ == 200
        assert sum(mistakes) == model.mistakes_ == chunks.mistakes_
        assert model.predict_one(X[0]) == model.predict(X[:1])[0]
    with pytest.raises(InvalidInput, match="NaN"):
        Perceptron().partial_fit(X, y).learn_one(np.full(10, np.nan), 1)
    for wrong in (np.ones(9), 3.0, [7.0], np.ones((1, 10))):
        with pytest.raises(InvalidInput, match="10 features"):
            Perceptron().partial_fit(X, y).learn_one(wrong, 1)


def test_a_rule_is_added_in_a_few_lines(tmp_path):
    """ROMMA's cousin for the test: a step of fixed length, normalised by the row."""
    script = """
from rosenblatt.engine.rules import rule
from rosenblatt.learners import shared
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.training.first_order import FirstOrder
@rule
def unit_step(margin, norm, bias=1.0):
    return (0.0, 0.0) if margin > 0 else ((norm - bias) ** -0.5, -margin)
class UnitPerceptron(LinearClassifier):
    max_iter: int = shared.MAX_ITER
    tol: float | None = shared.TOL
    shuffle: shared.Shuffle = shared.SHUFFLE
    def _algorithm(self):
        return FirstOrder(unit_step())
"""
    assert script.count("\n") < 15
    path = tmp_path / "unit_step.py"
    path.write_text(script)
    space = runpy.run_path(str(path))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    y = X[:, 0] > 0
    model = space["UnitPerceptron"](**ONE_PASS).fit(X, y)
    w, b = np.zeros(4), 0.0
    for x, label in zip(X, 2 * y - 1, strict=True):
        if label * (w @ x + b) <= 0:
            w, b = w + label * x / np.linalg.norm(x), b + label / np.linalg.norm(x)
    np.testing.assert_allclose(weights(model), np.append(w, b), atol=1e-12)


@pytest.mark.parametrize("model", [*STREAMS, PocketPerceptron(), MaximumMargin(), Winnow(balanced=False)], ids=str)
@pytest.mark.parametrize(
    ("dtype", "index"),
    [
        pytest.param(np.float64, None, id="float64-dense"),
        pytest.param(np.float32, None, id="float32-dense"),
        pytest.param(np.float64, np.int32, id="float64-int32"),
        # The same loops, compiled once more for each of these.
        pytest.param(np.float64, np.int64, id="float64-int64", marks=pytest.mark.long),
        pytest.param(np.float32, np.int32, id="float32-int32", marks=pytest.mark.long),
        pytest.param(np.float32, np.int64, id="float32-int64", marks=pytest.mark.long),
    ],
)
def test_every_storage_and_number_type_is_taken(model, dtype, index):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 5)).astype(dtype)
    y = (X[:, 0] > 0).astype(int)
    stored = X
    if index is not None:
        stored = sp.csr_array(X)
        stored.indices, stored.indptr = stored.indices.astype(index), stored.indptr.astype(index)
    fitted = type(model)(**model.get_params()).fit(stored, y)
    assert fitted.coef_.dtype == (np.float64 if isinstance(model, MaximumMargin) else dtype)
    assert fitted.score(stored, y) > 0.8


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AROW(multiclass="joint", covariance="full"), "does not exist for AROW"),
        (Winnow(multiclass="joint"), "does not exist for Winnow"),
        (SoftMargin(loss="logistic", multiclass="joint"), "does not exist for SoftMargin"),
        (PocketPerceptron(multiclass="joint"), "does not exist for PocketPerceptron"),
        (Winnow(balanced=False), "Negative values"),
        (Winnow(factor=1.0), "factor=1.0"),
        (AROW(r=0), "r=0"),
        (AROW(covariance="low-rank"), "covariance='low-rank'"),
        (PassiveAggressive(C=0), "C=0"),
        (PassiveAggressive(loss="logistic"), "loss='logistic'"),
        (SoftMargin(alpha=0), "divides by alpha"),
        (SoftMargin(schedule="never"), "schedule='never'"),
        (Perceptron(margin=-1), "margin=-1"),
        (Adaline(eta0=0), "eta0=0"),
    ],
    ids=str,
)
def test_what_a_method_does_not_have_is_refused_by_name(model, message):
    with pytest.raises(InvalidInput, match=message):
        model.fit([[-1.0], [1.0], [2.0]], [0, 1, 2])


def test_an_unknown_parameter_is_refused_with_those_there_are():
    with pytest.raises(TypeError, match=r"Perceptron has no parameter 'eta'\. Did you mean 'eta0'\?"):
        Perceptron(eta=1)


def test_streams_that_look_back_have_no_partial_fit():
    for model in (PocketPerceptron(), MaximumMargin()):
        assert not hasattr(model, "partial_fit")


@given(integer_sets(classes=3))
@settings(max_examples=40)
def test_joint_arow_is_its_formula(data):
    X, label = data
    model = AROW(multiclass="joint", r=2.0, **ONE_PASS).fit(X, label)
    W, V = np.zeros((3, X.shape[1] + 1)), np.ones((3, X.shape[1] + 1))
    for x, c in zip(pad(X), label, strict=True):
        scores = W @ x
        wrong = max((k for k in range(3) if k != c), key=lambda k: scores[k])
        margin = scores[c] - scores[wrong]
        if margin < 1:
            alpha = (1 - margin) / ((V[c] + V[wrong]) @ (x * x) + 2.0)
            W[c] += alpha * V[c] * x
            W[wrong] -= alpha * V[wrong] * x
            for k in (c, wrong):
                V[k] = 1 / (1 / V[k] + x * x / 2.0)
    np.testing.assert_allclose(np.c_[model.coef_, model.intercept_], W, rtol=1e-9, atol=1e-9)


@given(integer_sets(classes=4, most_rows=20))
@settings(max_examples=40)
def test_pairs_may_vote_instead_of_adding_up(data):
    X, label = data
    summed, voted = (Perceptron(multiclass=m, **THREE).fit(X, label) for m in ("ovo", "ovo-vote"))
    assert voted.coef_.tolist() == summed.coef_.tolist()
    scores = X @ voted.coef_.T + voted.intercept_
    pairs = [(k, m) for k in range(4) for m in range(k + 1, 4)]
    for row, elected in zip(scores, voted.predict(X), strict=True):
        votes = np.bincount([k if s > 0 else m for (k, m), s in zip(pairs, row, strict=True)], minlength=4)
        assert votes[elected] == votes.max()


@pytest.mark.parametrize(
    "change", [("coef_", np.ones((1, 2))), ("coef_", np.ones(5)), ("intercept_", np.empty(0))], ids=str
)
def test_weights_of_a_wrong_size_are_refused_and_change_nothing(change):
    X, y = np.eye(5), np.array([0, 1, 0, 1, 0])
    model = Perceptron().partial_fit(X, y)
    before = model.coef_, model.intercept_
    with pytest.raises(InvalidInput, match="coef_ has shape"):
        setattr(model, *change)
    assert model.coef_ is before[0]
    assert model.intercept_ is before[1]


def test_changed_parameters_go_on_from_the_weights():
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    model = Perceptron(shuffle=False).partial_fit(X, y)
    before = model.coef_.copy()
    model.set_params(penalty="l1", alpha=0.0).partial_fit(X[:1], y[:1])
    assert np.abs(model.coef_ - before).max() <= 1
    with pytest.raises(InvalidInput, match="continues with 1 feature, but X has 4"):
        Perceptron(warm_start=True).fit(X[:, :1], y).fit(X, y)
