"""Blocks, tiles and caches: the same algorithm, whatever they are."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.kernels import blocks, expansion, gram, kernels, objects
from strategies import integer_sets

MODES = ("ovr", "ovo", "joint")
few = settings(max_examples=20)


SMALL_SIZES = {
    blocks: {"ROWS_PER_BLOCK": 5, "ROWS_PER_SHARE": 2, "VECTORS_PER_TILE": 3, "COLUMNS_AHEAD": 1},
    expansion: {"ROWS_PER_SHARE": 5, "VOTED_ROWS_PER_SHARE": 2, "VECTORS_PER_TILE": 3},
    objects: {"COLUMNS_PER_CHUNK": 2, "FIRST_CAPACITY": 1},
    kernels: {"CACHED_MIN_FEATURES": 1},
    gram: {"GRAM_MAX_BYTES": 0},
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
        patch.setattr(blocks, "ROWS_PER_BLOCK", 5)
        model = KernelPerceptron(max_seconds=1e-9, cache_size=0).fit(X, y)
        assert model.run_.stop.name == "SECONDS"
        assert model.run_.trials == 5
