"""What a fit says of itself is true of the model that predicts."""

import re
import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone

from attacks import fuzz_claims
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron

MODELS = [
    Perceptron(),
    Perceptron(multiclass="ovo"),
    AveragedPerceptron(),
    AveragedPerceptron(multiclass="joint"),
    VotedPerceptron(),
    KernelPerceptron(tol=None, max_iter=2000, kernel="linear", fit_intercept=True, aggregate="average"),
    KernelPerceptron(tol=None, max_iter=2000, kernel="linear", fit_intercept=True, aggregate="vote"),
    KernelPerceptron(tol=None, max_iter=2000, kernel="linear", fit_intercept=True, multiclass="ovo"),
    KernelPerceptron(tol=None, max_iter=2000, kernel="poly", degree=2),
]


def separable(seed, classes):
    """Rows of integers with a thin gap between the classes, far from the origin: averages come late."""
    random = np.random.default_rng(seed)
    if classes == 2:
        X = random.integers(-6, 7, (40, 2)).astype(float)
        return X + 7.0, (X @ [1.0, 2.0] > 1).astype(int)
    y = np.arange(40) % 3
    return np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[y] + random.integers(0, 5, (40, 2)) + 7.0, y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_row_is_on_its_side_is_said_of_what_predicts(model, classes):
    said = 0
    for seed in range(15):
        X, y = separable(seed, classes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        if {stop.name for stop in model.run_.stops} != {"SEPARATED"}:
            continue
        said, wrong = said + 1, int((model.predict(X) != y).sum())
        reason = model.stop_reason_
        told = re.search(r"by which the model predicts, (?:errs on (\w+)|(may err on some)) of them\.$", reason)
        if "under the last weights, " not in reason:
            assert wrong == 0, reason
        elif told[1]:
            assert wrong == (0 if told[1] == "none" else int(told[1])), reason
        assert ("under the last weights" in reason) == bool(told)
    assert said > 0


@pytest.mark.parametrize("options", [{"early_stopping": True}, {"class_weight": {0: 0.0}}, {}], ids=str)
def test_rows_that_nothing_is_learned_from_are_not_spoken_of(options):
    X, y = separable(3, 2)
    weight = np.ones(len(X)) if options else np.r_[np.zeros(15), np.ones(25)]
    model = Perceptron(validation_fraction=0.3, n_iter_no_change=100, **options).fit(X, y, sample_weight=weight)
    assert model.run_.stop.name == "SEPARATED"
    assert "every row that was learned from is on its side" in model.stop_reason_


@pytest.mark.parametrize("model", [Perceptron(), KernelPerceptron(kernel="linear", fit_intercept=True)], ids=str)
def test_only_rows_that_were_seen_once_promise_anything(model):
    X, y = separable(5, 2)
    warm = clone(model).set_params(warm_start=True, max_iter=2)
    assert warm.fit(X, y).run_.guarantees()
    assert not warm.fit(X, y).run_.guarantees()
    assert not clone(model).fit(X, y).partial_fit(X, y).run_.guarantees()
    stream = clone(model).partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert stream.run_.single_pass == (40, stream.mistakes_)


def test_a_small_campaign_says_nothing_false():
    false, counts = fuzz_claims.campaign(60, seed=2)
    assert false == []
    assert {"SEPARATED", "EPOCHS", "TRAINING", "CHUNK"} <= counts.keys()


def test_of_rows_drawn_at_random_the_last_weights_are_looked_at():
    """An average that has every row on its side says nothing of the last weights."""
    ends = 0
    for seed in range(30):
        X, y = separable(seed, 2)
        model = AveragedPerceptron(shuffle="random", random_state=seed, max_iter=200).fit(X, y)
        if model.run_.stop.name == "SEPARATED":
            ends += 1
            last = model._stream.state
            assert ((2 * y - 1) * (X @ last.W[0] + last.b[0]) > 0).all()
    assert ends > 0


@pytest.mark.parametrize("seed", [100_000_005_814, 100_000_009_520], ids=["pairs that share a budget", "a tiny share"])
def test_runs_that_said_something_false_say_nothing_false_any_more(seed, tmp_path):
    assert list(fuzz_claims.one(seed, tmp_path, Counter())) == []
