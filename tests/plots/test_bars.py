"""Bars and tables show the numbers of the model."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from rosenblatt import Perceptron, train
from rosenblatt.datasets import SPAM_WORDS, logical, noisy, spam
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.plots import plot_confusion, plot_largest_weights, plot_margins
from rosenblatt.plots.axes import COLOURS


def test_bars_left_of_zero_are_the_mistakes():
    X, y = noisy(200, 4, flip=0.2)
    model = Perceptron(max_iter=5).fit(X, y)
    ax = plot_margins(model, X, y)
    left = sum(bar.get_height() for bar in ax.patches if bar.get_x() + bar.get_width() <= 1e-12)
    assert left == (np.where(y > 0, 1, -1) * model.decision_function(X) <= 0).sum()
    assert sum(bar.get_height() for bar in ax.patches) == 200


def test_ties_are_mistakes():
    X, y = logical("or")
    run = train(X, y, init=([0.0, 1.0], 0.0), max_iter=1, tol=None, order="cyclic")
    ax = plot_margins(run, X, y)
    wrong = (y * (X @ run.coef[0] + run.intercept[0]) <= 0).sum()
    assert sum(bar.get_height() for bar in ax.patches if bar.get_x() < -1e-12) == wrong > 0


def test_the_largest_weights_have_their_names():
    model = Perceptron(shuffle=False).fit(*spam())
    ax = plot_largest_weights(model, feature_names=SPAM_WORDS, top=3)
    names = [label.get_text() for label in ax.get_yticklabels()]
    weights = {name: bar.get_width() for name, bar in zip(names, ax.patches, strict=True)}
    assert weights == {"viagra": 2, "of": -1, "nigeria": 1}
    assert to_hex(ax.patches[names.index("of")].get_facecolor()).upper() == COLOURS[0]


def test_the_weights_of_a_class_are_drawn_where_each_has_its_own():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.array(list("abc") * 10)
    model = Perceptron(max_iter=5).fit(X, y)
    ax = plot_largest_weights(model, label="b")
    assert sorted(bar.get_width() for bar in ax.patches) == sorted(model.coef_[1])
    assert ax.get_xlabel() == "weight (positive: class b)"
    with pytest.raises(InvalidInput, match="not a class with a weight vector"):
        plot_largest_weights(model, label="d")


def test_confusions_count_the_rows():
    X, y = noisy(100, 4, flip=0.2)
    model = Perceptron(max_iter=3).fit(X, y)
    ax = plot_confusion(model, X, y, class_names=["no", "yes"])
    counts = {tuple(text.xy): int(text.get_text()) for text in ax.texts}
    predicted = model.predict(X)
    assert counts == {
        (j, i): ((y == (-1, 1)[i]) & (predicted == (-1, 1)[j])).sum()
        for i in range(2)
        for j in range(2)
        if ((y == (-1, 1)[i]) & (predicted == (-1, 1)[j])).any()
    }
    with pytest.raises(InvalidArgument, match="2 classes"):
        plot_confusion(model, X, y, class_names=["one"])
