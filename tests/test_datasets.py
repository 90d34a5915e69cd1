"""Data with planted truths, and the lectures' tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron, train
from rosenblatt.datasets import (
    SPAM_WORDS,
    Planted,
    circles,
    logical,
    noisy,
    separable,
    spam,
    two_moons,
)
from rosenblatt.errors import InvalidInput

SEEDS = st.integers(0, 2**64)
FEATURES = st.integers(1, 30)
MARGINS = st.floats(1e-6, 1.0)
BIASES = st.floats(-0.99, 0.99)


def signed_distances(data):
    return data.y * (data.X @ data.w + data.b)


# ---------------------------------------------------------------------------------------------- planted hyperplanes


@given(st.integers(2, 60), FEATURES, MARGINS, BIASES, SEEDS)
def test_tight_rows_have_exactly_the_margin(n, d, margin, bias, seed):
    data = separable(n, d, margin, bias=bias, seed=seed)
    assert data.X.shape == (n, d)
    assert set(data.y.tolist()) == {-1, 1}
    assert abs(np.linalg.norm(data.w) - 1) < 1e-12
    assert abs(signed_distances(data).min() - margin) < 1e-12
    # No hyperplane has a larger margin than half the distance of the classes.
    closest = np.linalg.norm(data.X[data.y > 0][:, None] - data.X[data.y < 0][None], axis=2).min()
    assert abs(closest - 2 * margin) < 1e-12


@given(st.integers(1, 60), FEATURES, MARGINS, BIASES, SEEDS)
def test_loose_rows_have_at_least_the_margin_and_stay_in_a_ball(n, d, margin, bias, seed):
    data = separable(n, d, margin, bias=bias, tight=False, seed=seed)
    assert data.X.shape == (n, d)
    assert signed_distances(data).min() >= margin
    assert np.linalg.norm(data.X, axis=1).max() <= 1 + margin + 1e-12


@given(st.integers(2, 60), FEATURES, MARGINS, SEEDS)
def test_tight_rows_without_bias_stay_in_a_ball(n, d, margin, seed):
    assert np.linalg.norm(separable(n, d, margin, seed=seed).X, axis=1).max() <= 1 + margin + 1e-12


def test_mistakes_on_separable_rows_keep_the_bound():
    X, y = separable(200, 5, 0.1)
    run = train(X, y, fit_intercept=False)
    assert run.stop.name == "SEPARATED"
    assert run.updates <= (np.linalg.norm(X, axis=1).max() / 0.1) ** 2


def test_planted_unpacks_to_what_training_needs():
    data = separable(20, 3, 0.2)
    X, y = data
    assert isinstance(data, Planted)
    assert X is data.X
    assert y is data.y
    assert Perceptron().fit(*data).score(X, y) == 1


@given(st.integers(1, 80), FEATURES, st.floats(0, 1), st.floats(0.01, 1), SEEDS)
def test_the_share_of_flipped_labels_is_as_asked(n, d, flip, margin, seed):
    data = noisy(n, d, flip, margin=margin, seed=seed)
    distance = signed_distances(data)
    assert (distance < 0).sum() == round(flip * n)
    assert np.abs(distance).min() >= margin


MAKERS = {
    "separable": lambda seed: separable(30, 4, 0.1, bias=0.1, seed=seed),
    "loose": lambda seed: separable(30, 4, 0.1, tight=False, seed=seed),
    "noisy": lambda seed: noisy(30, 4, 0.2, seed=seed),
    "two_moons": lambda seed: two_moons(30, 0.1, seed),
    "circles": lambda seed: circles(30, 0.5, 0.1, seed),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_the_seed_decides_everything(maker):
    def content(seed):
        X, y = maker(seed)
        assert y.dtype == np.int64
        assert set(y.tolist()) <= {-1, 1}
        return X.tobytes(), y.tobytes()

    state = np.random.get_state()[1].copy()  # noqa: NPY002 - must not be touched
    assert content(5) == content(5)
    assert content(5) != content(6)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


# --------------------------------------------------------------------------------------------- figures in the plane


@given(st.integers(2, 60), SEEDS)
def test_moons_and_circles_without_noise_lie_on_their_curves(n, seed):
    X, y = two_moons(n, 0, seed)
    assert abs(y.sum()) == n % 2
    upper, lower = X[y < 0], X[y > 0]
    assert np.allclose(np.hypot(*upper.T), 1)
    assert upper[:, 1].min() >= 0
    assert np.allclose(np.hypot(*(lower - [1, 0.5]).T), 1)
    assert lower[:, 1].max() <= 0.5
    X, y = circles(n, 0.3, 0, seed)
    assert abs(y.sum()) == n % 2
    assert np.allclose(np.hypot(*X.T), np.where(y > 0, 0.3, 1))


def test_noise_has_the_deviation_asked_for():
    X, y = circles(20_000, 0.5, 0.01, seed=1)
    assert np.std(np.hypot(*X.T) - np.where(y > 0, 0.5, 1)) == pytest.approx(0.01, rel=0.05)


# ----------------------------------------------------------------------------------------------- lectures' examples


def test_spam_is_the_lectures_table():
    X, y = spam()
    assert SPAM_WORDS == ("and", "viagra", "the", "of", "nigeria")
    assert X.T.astype(int).tolist() == [
        [1, 0, 0, 1, 1, 1],
        [1, 0, 1, 0, 0, 0],
        [0, 1, 1, 0, 1, 1],
        [1, 1, 0, 1, 0, 1],
        [1, 0, 0, 0, 1, 0],
    ]
    assert y.tolist() == [1, -1, 1, -1, 1, -1]
    run = train(X, y, order="cyclic")
    assert (run.updates, run.coef.tolist(), run.intercept.tolist()) == (4, [[0, 2, 0, -1, 1]], [0])


@pytest.mark.parametrize(
    ("name", "y", "updates"), [("or", [-1, 1, 1, 1], 9), ("and", [-1, -1, -1, 1], 18), ("xor", [-1, 1, 1, -1], 4)]
)
def test_logical_functions_are_the_lectures_tables(name, y, updates):
    X, labels = logical(name)
    assert X.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert labels.tolist() == y
    assert train(X, labels, order="cyclic").updates == updates


# -------------------------------------------------------------------------------------------------- wrong arguments


@pytest.mark.parametrize(
    "call",
    [
        lambda: separable(1, 2, 0.1),
        lambda: separable(0, 2, 0.1, tight=False),
        lambda: separable(2.5, 2, 0.1),
        lambda: separable(True, 2, 0.1, tight=False),
        lambda: separable(10, 0, 0.1),
        lambda: separable(10, 2, 0.0),
        lambda: separable(10, 2, 1.5),
        lambda: separable(10, 2, np.nan),
        lambda: separable(10, 2, "0.1"),
        lambda: separable(10, 2, None),
        lambda: separable(10, 2, 0.1, bias=1.0),
        lambda: separable(10, 2, 0.1, seed=-1),
        lambda: separable(10, 2, 0.1, seed=None),
        lambda: noisy(10, 2, 1.1),
        lambda: noisy(10, 2, 0.1, margin=-0.1),
        lambda: noisy(10, 2, 0.1, bias=2),
        lambda: two_moons(1),
        lambda: two_moons(10, -1),
        lambda: circles(10, 1.0),
        lambda: circles(10, 0.5, np.nan),
        lambda: logical("nand"),
        lambda: logical(["or"]),
    ],
)
def test_wrong_arguments_are_named_with_value_and_remedy(call):
    with pytest.raises(InvalidInput, match=r"^\w+=.*(must be|Choose)"):
        call()
