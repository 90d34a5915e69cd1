"""Sigmoids have the gradient zero that Platt asks for, and agree with scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import rosenblatt
from rosenblatt.errors import InvalidInput, NotAvailable
from rosenblatt.training.calibration import Sigmoids, calibrate, fit_sigmoid, probabilities
from rosenblatt.training.model import LinearModel


def gradient(slope, offset, score, positive, weight):
    """Of Platt's likelihood, by hand, row by row."""
    n_positive, n_negative = sum(weight[positive]), sum(weight[~positive])
    total = np.zeros(2)
    for f, is_positive, w in zip(score, positive, weight, strict=True):
        target = (n_positive + 1) / (n_positive + 2) if is_positive else 1 / (n_negative + 2)
        p = 1 / (1 + np.exp(-(slope * f + offset)))
        total += w * (p - target) * np.array([f, 1])
    return total


@given(st.integers(0, 1 << 30), st.integers(2, 60), st.floats(0.001, 1000), st.floats(-3, 3))
def test_no_other_sigmoid_is_more_likely(seed, n, size, shift):
    random = np.random.default_rng(seed)
    positive = random.random(n) < 0.4
    score = size * (random.normal(size=n) + shift * positive)
    weight = random.choice([0.5, 1.0, 3.0], n)
    slope, offset = fit_sigmoid(score, positive, weight)
    # The likelihood is concave: where its gradient vanishes, it is largest.
    found = gradient(slope, offset, score, positive, weight) / np.array([size, 1])
    np.testing.assert_allclose(found, 0, atol=1e-6 * weight.sum())


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_are_those_of_scikit_learn(classes):
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 5))
    y = (X @ random.normal(size=(5, classes)) + random.normal(size=(600, classes))).argmax(axis=1)
    model = rosenblatt.Perceptron(max_iter=5).fit(X[:300], y[:300])
    peer = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid").fit(X[300:], y[300:])
    scores = model.decision_function(X).reshape(600, -1)
    sigmoids = calibrate([(y[300:450], scores[300:450], None), (y[450:], scores[450:], None)], model.classes_)
    np.testing.assert_allclose(probabilities(scores, classes, sigmoids), peer.predict_proba(X), atol=1e-4)


def test_both_classes_are_needed_but_not_every_one_of_several():
    with pytest.raises(InvalidInput, match="no row of class 1"):
        calibrate([(np.zeros(3), np.ones((3, 1)), None)], np.array([0.0, 1.0]))
    with pytest.raises(InvalidInput, match="no held-out rows"):
        calibrate([], np.array([0.0, 1.0]))
    sigmoids = calibrate([(np.array([0, 1, 0, 1]), np.eye(4)[:, :3], None)], np.arange(3))
    found = probabilities(np.eye(3), 3, sigmoids)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_a_damaged_calibration_is_refused(tmp_path):
    for calibration in ([[1.0]], [[1.0], [2.0, 3.0]], [["a"], [1.0]], [[1.0, 2.0], [1.0, 2.0]], 5):
        model = LinearModel(np.ones((1, 2)), np.zeros(1), np.array([0, 1]), origin={"calibration": calibration})
        with pytest.raises(InvalidInput, match="calibration"):
            model.save(tmp_path / "m")
    model = LinearModel(np.ones((1, 2)), np.zeros(1), np.array([0, 1]), origin={"calibration": [[2.0], [-1.0]]})
    model.save(tmp_path / "m")
    assert rosenblatt.load_linear(tmp_path / "m").sigmoids == Sigmoids((2.0,), (-1.0,))
    with pytest.raises(NotAvailable, match="--calibrate"):
        LinearModel(np.ones((1, 2)), np.zeros(1), np.array([0, 1])).predict_proba([[1.0, 2.0]])
