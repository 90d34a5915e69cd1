"""What a weight means: a factor of what a row moves. Of every member, in every way that rows come."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.linear_model import SGDClassifier

from members import STREAMS
from oracles import family
from rosenblatt import (
    ROMMA,
    AdalineRegressor,
    KernelPerceptron,
    PassiveAggressive,
    PassiveAggressiveRegressor,
    PocketPerceptron,
)

MEMBERS = [
    *(*STREAMS, PocketPerceptron()),
    KernelPerceptron(margin=4, max_updates=8),  # without a limit the kernel separates the rows, whatever they weigh
    KernelPerceptron(kernel="linear", multiclass="joint", aggregate="average", fit_intercept=True),
]


def overlapping(seed):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 120)
    return random.normal(size=(120, 8)) + 0.4 * (2 * y - 1)[:, None], y


@pytest.mark.parametrize("model", MEMBERS, ids=str)
@pytest.mark.parametrize("weights", [(10.0, 1.0), (1.0, 0.1), (10.0, 0.1)], ids=str)
def test_a_class_that_weighs_more_is_predicted_more_often(model, weights):
    """On rows that overlap, by the weights of rows as by those of classes."""
    moved = []
    for seed in range(5):
        X, y = overlapping(seed)
        X = abs(X) if model.__sklearn_tags__().input_tags.positive_only else X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = clone(model).fit(X, y).predict(X).mean()
            by_row = clone(model).fit(X, y, sample_weight=np.where(y == 1, *weights)).predict(X).mean()
            by_class = clone(model).set_params(class_weight={1: weights[0], 0: weights[1]}).fit(X, y).predict(X).mean()
        assert by_row == by_class
        moved.append(by_row - plain)
    assert np.mean(moved) > 0.03, moved
    # ROMMA's weights grow with each mistake on such rows: where it ends is a matter of the last of them.
    assert min(moved) > (-0.1 if isinstance(model, ROMMA) else -1e-9), moved


@pytest.mark.parametrize("model", [*STREAMS, AdalineRegressor(), PassiveAggressiveRegressor()], ids=str)
@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_weights_mean_the_same_however_rows_come(model, multiclass):
    """In one chunk, row by row, sparse, and as the weight of a class."""
    if multiclass != "ovr" and multiclass not in getattr(model, "modes", ()):
        pytest.skip("has no such mode")
    X, y = overlapping(1)
    X, y = abs(X[:40]), np.arange(40) % (2 if multiclass == "ovr" else 3)
    costs = np.array([3.0, 0.25, 1.0])
    options = {"multiclass": multiclass} if "multiclass" in model.declared else {}
    whole = clone(model).set_params(**options).partial_fit(X, y, sample_weight=costs[y])
    rows, sparse = clone(whole), clone(whole)
    known = {"classes": np.unique(y)} if options else {}  # of which joint classes must know at the start
    for x, label in zip(X, y, strict=True):
        rows.partial_fit(x[None], [label], sample_weight=[costs[label]], **known)
    sparse.partial_fit(sp.csr_array(X), y, sample_weight=costs[y])
    found = [rows, sparse]
    if multiclass == "ovr" and options:  # of more classes, the weight of one is of its own problem alone
        single = clone(whole).set_params(class_weight=dict(enumerate(costs)))
        for x, label in zip(X, y.tolist(), strict=True):
            single.learn_one(x, label)
        found.append(single)
    for other in found:
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(other.intercept_, whole.intercept_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "model", [*STREAMS, AdalineRegressor(), PassiveAggressiveRegressor(), KernelPerceptron()], ids=str
)
def test_rows_of_weight_zero_move_nothing(model):
    X, y = overlapping(2)
    X = abs(X)
    learned, other = clone(model).partial_fit(X[:60], y[:60]), clone(model)
    other.partial_fit(X, y, sample_weight=np.r_[np.ones(60), np.zeros(60)])
    scores = [m.predict(X) if is_regressor(m) else m.decision_function(X) for m in (learned, other)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("options", [{"C": 0.05}, {"C": np.inf}, {"C": 0.5, "loss": "squared_hinge"}], ids=str)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_weighted_passive_aggressive_steps_are_the_oracles(options, sparse):
    X, y = overlapping(3)
    weights = np.random.default_rng(4).choice([0.1, 0.5, 1.0, 3.0, 20.0], y.size)
    how = {"shuffle": False, "max_iter": 2, "tol": None}
    model = PassiveAggressive(**options, **how).fit(sp.csr_array(X) if sparse else X, y, sample_weight=weights)
    variant = "PA-II" if "loss" in options else "PA-I" if np.isfinite(options["C"]) else "PA"
    rows, signs = np.c_[X, np.ones(len(X))], (2 * y - 1).tolist()
    run = family.passive_aggressive(
        rows, signs, [range(len(X))] * 2, C=options["C"], variant=variant, weights=weights.tolist()
    )
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, rtol=1e-9)


@pytest.mark.parametrize(("loss", "rate", "most"), [("hinge", "pa1", 20.0), ("squared_hinge", "pa2", 1.0)])
def test_weights_are_those_of_scikit_learn(loss, rate, most):
    """Of PA-II up to one: beyond, a mistake goes to a margin of the weight, where scikit-learn's steps overflow."""
    X, y = overlapping(5)
    weights = np.random.default_rng(6).uniform(0.01, most, y.size)
    ours = PassiveAggressive(C=0.5, loss=loss, fit_intercept=False, shuffle=False, max_iter=3, tol=None)
    how = {"penalty": None, "fit_intercept": False, "shuffle": False, "max_iter": 3, "tol": None}
    theirs = SGDClassifier(loss="hinge", learning_rate=rate, eta0=0.5, **how)
    np.testing.assert_allclose(
        ours.fit(X, y, sample_weight=weights).coef_, theirs.fit(X, y, sample_weight=weights).coef_, rtol=1e-6
    )


@pytest.mark.parametrize("options", [{"C": np.inf}, {"loss": "squared_hinge"}], ids=str)
def test_heavy_rows_that_overlap_do_not_grow_without_end(options):
    X, y = overlapping(7)
    model = PassiveAggressive(**options, max_iter=300, tol=None).fit(X, y, sample_weight=np.full(y.size, 50.0))
    assert np.linalg.norm(model.coef_) < 1e3 * np.linalg.norm(PassiveAggressive(**options).fit(X, y).coef_)
