"""The Gram matrix of few rows: the same run as block by block."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.engine.rows import Task
from rosenblatt.kernels import expansion, kernels, unbounded
from rosenblatt.kernels.expansion import Expansion
from rosenblatt.kernels.kernels import PairFunction, Polynomial
from rosenblatt.kernels.runner import KernelJob
from rosenblatt.training.plan import Plan
from strategies import integer_sets

IRIS = load_iris(return_X_y=True)
MODES = ("ovr", "ovo", "joint")
BLOCKWISE = {"cache_size": 0}


def same_runs(first, second, tolerance=0.0):
    assert first.run_.mistakes == second.run_.mistakes
    assert first.run_.stops == second.run_.stops
    assert first.run_.trials == second.run_.trials
    assert first.support_.tolist() == second.support_.tolist()
    assert first.alpha_.tolist() == second.alpha_.tolist()
    for one, other in zip(first._expansion.log, second._expansion.log, strict=True):
        assert one.tolist() == other.tolist()
    np.testing.assert_allclose(first.run_.losses, second.run_.losses, rtol=tolerance)


@pytest.mark.parametrize("multiclass", MODES)
@pytest.mark.parametrize("shuffle", [False, True, "random"])
@settings(max_examples=8)
@given(data=integer_sets(classes=3, most_rows=40), seed=st.integers(0, 9))
def test_on_integers_the_log_is_the_one_of_blocks(multiclass, shuffle, data, seed):
    X, label = data
    options = {"kernel": "quadratic", "multiclass": multiclass, "shuffle": shuffle, "max_iter": 6, "random_state": seed}
    weight = np.random.default_rng(seed).integers(0, 3, len(X))
    weight[np.unique(label, return_index=True)[1]] = 1
    for sample_weight in (None, weight):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(unbounded, "GRAM_COLUMNS_AHEAD", 3)
            patch.setattr(unbounded, "COLUMNS_PER_SHARE", 2)
            whole = KernelPerceptron(tol=None, **options).fit(X, label, sample_weight)
        same_runs(whole, KernelPerceptron(tol=None, **options, **BLOCKWISE).fit(X, label, sample_weight))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine", "poly", "linear", "precomputed", "function"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_every_kernel_learns_the_same_from_both(kernel, storage):
    X, y = IRIS[0] - IRIS[0].mean(axis=0), IRIS[1]
    if kernel in ("precomputed", "function") and storage is not np.asarray:
        pytest.skip("such a kernel has no sparse rows")
    X = (1 + X @ X.T) ** 2 if kernel == "precomputed" else storage(X)
    similarity = (lambda A, B: (1 + A @ B.T) ** 2) if kernel == "function" else kernel
    options = {"kernel": similarity, "class_weight": {0: 2.0, 1: 0.5, 2: 1.0}}
    whole = KernelPerceptron(**options).fit(X, y)
    same_runs(whole, KernelPerceptron(**options, **BLOCKWISE).fit(X, y), 1e-9)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo-vote", "joint"])
def test_ten_classes_with_a_margin_and_a_limit_learn_the_same_from_both(multiclass):
    X, y = load_digits(return_X_y=True)
    options = {"multiclass": multiclass, "kernel": "quadratic", "margin": 5000.0, "max_updates": 3}
    whole = KernelPerceptron(**options).fit(X[:300], y[:300])
    same_runs(whole, KernelPerceptron(**options, **BLOCKWISE).fit(X[:300], y[:300]))
    assert whole.alpha_.max() <= 3 if multiclass != "joint" else whole.alpha_.max(axis=0).max() <= 3
    default = KernelPerceptron(multiclass=multiclass).fit(X[:300], y[:300])
    same_runs(default, KernelPerceptron(multiclass=multiclass, **BLOCKWISE).fit(X[:300], y[:300]), 1e-9)


def test_a_warm_start_a_callback_and_a_time_limit_work_with_both():
    X, y = np.round(10 * IRIS[0]), IRIS[1]
    seen = {}
    for name, way in (("whole", {}), ("blocks", BLOCKWISE)):
        epochs = []
        options = {"kernel": "quadratic", "shuffle": False, "warm_start": True, "max_iter": 3, **way}
        model = KernelPerceptron(tol=None, callback=epochs.append, **options).fit(X, y).fit(X, y)
        seen[name] = model, epochs
    same_runs(seen["whole"][0], seen["blocks"][0])
    for one, other in zip(seen["whole"][1], seen["blocks"][1], strict=True):
        assert (one.number, one.mistakes, one.loss) == (other.number, other.mistakes, other.loss)
        assert one.coef.tolist() == other.coef.tolist()
    model = KernelPerceptron(max_seconds=1e-9).fit(X, y)
    assert (model.run_.stop.name, model.run_.epochs, model.run_.trials) == ("SECONDS", 1, len(y))


def test_only_columns_of_mistaken_rows_are_asked_for():
    X, y = make_moons(400, noise=0.05, random_state=0)
    asked = []

    def kernel(A, B):
        asked.append(len(B) if len(A) == len(X) else 0)
        return np.exp(-((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unbounded, "GRAM_COLUMNS_AHEAD", 8)
        KernelPerceptron(kernel=kernel, max_iter=20).fit(X, y)
    assert 0 < sum(asked) < 200  # of 400 columns


def test_single_precision_learns_from_similarities_in_single_precision():
    X, y = load_digits(return_X_y=True)
    single = KernelPerceptron().fit(X[:300].astype(np.float32), y[:300])
    double = KernelPerceptron().fit(X[:300], y[:300])
    assert np.mean(single.predict(X) == double.predict(X)) > 0.97


@pytest.mark.parametrize(
    ("rows", "cache_bytes", "kernel", "streams", "wanted"),
    [
        (8000, 1e9, Polynomial(), False, True),
        (8001, 1e9, Polynomial(), False, False),
        (100, 8e4, Polynomial(), False, True),
        (100, 7e4, Polynomial(), False, False),
        (100, 1e9, Polynomial(), True, False),
        (100, 1e9, PairFunction(lambda a, b: 1.0), False, False),
    ],
)
def test_there_is_room_for_few_rows_and_cheap_kernels(rows, cache_bytes, kernel, streams, wanted):
    X, none = np.zeros((rows, 1)), np.empty(0)
    task = Task(np.zeros(rows, np.int32), np.array([[-1], [1]], np.int8), np.ones((2, 1)), np.ones(2), none, none, 0.0)
    start = Expansion.empty(X, 1)
    assert (
        unbounded.has_room(KernelJob(kernel, X, task, Plan(), "ovr", start, cache_bytes=cache_bytes, streams=streams))
        == wanted
    )


few = settings(max_examples=20)


SMALL_SIZES = {
    unbounded: {
        "ROWS_PER_BLOCK": 5,
        "ROWS_PER_SHARE": 2,
        "VECTORS_PER_TILE": 3,
        "COLUMNS_AHEAD": 1,
        "GRAM_MAX_BYTES": 0,
        "COLUMNS_PER_READ": 2,
        "FIRST_CAPACITY": 1,
    },
    expansion: {"ROWS_PER_SHARE": 5, "VOTED_ROWS_PER_SHARE": 2, "VECTORS_PER_TILE": 3},
    kernels: {"CACHED_MIN_FEATURES": 1},
}


def small_blocks(patch):
    """Make blocks so small that a handful of rows meets every path: shares, tiles, chunks, rows not foreseen."""
    for module, sizes in SMALL_SIZES.items():
        for name, value in sizes.items():
            patch.setattr(module, name, value)


@pytest.mark.parametrize("multiclass", MODES)
@pytest.mark.parametrize("shuffle", [False, True, "random"])
@few
@given(data=integer_sets(classes=3), epochs=st.integers(1, 5))
def test_linear_is_the_primal_perceptron_exactly(multiclass, shuffle, data, epochs):
    X, label = data
    options = {"multiclass": multiclass, "shuffle": shuffle, "max_iter": epochs, "tol": None}
    for intercept in (False, True):
        ours = KernelPerceptron(kernel="linear", fit_intercept=intercept, **options).fit(X, label)
        primal = Perceptron(fit_intercept=intercept, **options).fit(X, label)
        assert ours.decision_function(X, "last").tolist() == primal.decision_function(X).tolist()
        if primal.run_.cycle is None:  # which ends the primal run, while the dual goes round and round
            assert ours.run_.mistakes == primal.run_.mistakes
        np.testing.assert_array_equal(ours.dual_coef_ @ ours.support_vectors_, primal.coef_)


@given(data=integer_sets(most_rows=16), epochs=st.integers(1, 5))
def test_quadratic_is_the_explicit_map_exactly(data, epochs):
    X, label = data
    padded = np.hstack([np.ones((len(X), 1)), X])
    products = (padded[:, :, None] * padded[:, None, :]).reshape(len(X), -1)
    options = {"shuffle": False, "max_iter": epochs, "tol": None}
    ours = KernelPerceptron(kernel="quadratic", fit_intercept=False, **options).fit(X, label)
    primal = Perceptron(fit_intercept=False, **options).fit(products, label)
    assert ours.decision_function(X, "last").tolist() == primal.decision_function(products).tolist()


@pytest.mark.parametrize("multiclass", MODES)
@pytest.mark.parametrize("shuffle", [False, True, "random"])
@settings(max_examples=8)
@given(data=integer_sets(classes=3, most_rows=40))
def test_blocks_tiles_and_caches_change_nothing(multiclass, shuffle, data):
    X, label = data
    options = {"kernel": "quadratic", "multiclass": multiclass, "shuffle": shuffle, "max_iter": 4, "tol": None}
    whole = KernelPerceptron(**options).fit(X, label)
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        for cache in (0, 5 * 8 * len(X) / 1e6, 1000):  # none, five columns, all
            parts = KernelPerceptron(cache_size=cache, **options).fit(X, label)
            assert parts.run_.mistakes == whole.run_.mistakes
            for algorithm in ("last", "average", "vote"):
                got, wanted = parts.decision_function(X, algorithm), whole.decision_function(X, algorithm)
                np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_a_run_that_cannot_separate_gives_up_with_a_proof():
    X = np.repeat(np.linspace(-1, 1, 20)[:, None], 2, axis=0)
    y = np.tile([0, 1], 20)  # each point has both labels
    model = KernelPerceptron(max_iter=2000).fit(X, y)
    assert model.run_.stop.name == "TRAINING"
    assert model.run_.ceiling <= model.run_.radius / np.sqrt(len(y))
    assert "no hyperplane of the kernel's space" in model.stop_reason_


def test_limits_of_epochs_time_and_callbacks_end_a_fit(capsys):
    X, y = make_moons(300, noise=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="allow more epochs"):
        KernelPerceptron(max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KernelPerceptron(max_iter=2, tol=None).fit(X, y).n_iter_ == 2
    seen = []
    model = KernelPerceptron(callback=lambda epoch: seen.append(epoch) or epoch.number == 3, verbose=1).fit(X, y)
    assert model.run_.stop.name == "CALLBACK"
    assert [epoch.mistakes for epoch in seen] == list(model.run_.mistakes)
    assert len(capsys.readouterr().out.splitlines()) == 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unbounded, "ROWS_PER_BLOCK", 5)
        model = KernelPerceptron(max_seconds=1e-9, cache_size=0).fit(X, y)
        assert model.run_.stop.name == "SECONDS"
        assert model.run_.trials == 5
