"""The curve in the plane and the line in the mapped space are the same boundary."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from rosenblatt import MaximumMargin, Perceptron
from rosenblatt.datasets import circles
from rosenblatt.errors import InvalidInput
from rosenblatt.plots import plot_mapped

X, Y = circles(60, factor=0.5, noise=0.05)


def borders(ax):
    """Points of the border between the regions."""
    found = [c for c in ax.collections if hasattr(c, "filled") and not c.filled]
    return np.vstack([path.vertices for c in found for path in c.get_paths() if len(path.vertices)])


def test_squares_turn_the_circle_into_a_line():
    model = MaximumMargin().fit(np.square(X), Y)
    left, right = plot_mapped(model, X, Y, np.square)
    curve = np.square(borders(left)) @ model.coef_[0] + model.intercept_[0]
    scale = np.abs(np.square(X) @ model.coef_[0]).max()
    assert np.abs(curve).max() < 1e-3 * scale
    (line,) = [line for line in right.lines if hasattr(line, "get_xy1")]
    assert np.array([line.get_xy1(), line.get_xy2()]) @ model.coef_[0] + model.intercept_[0] == pytest.approx([0, 0])
    assert right.get_xlabel() == "$x_1^2$"


def test_more_dimensions_are_seen_from_the_side_of_the_hyperplane():
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(max_iter=2000)).fit(X, Y)
    _, right = plot_mapped(model, X, Y)
    drawn = np.vstack(
        [c.get_offsets() for c in right.collections if hasattr(c, "get_offsets") and not hasattr(c, "filled")]
    )
    distances = model.decision_function(X) / np.linalg.norm(model[-1].coef_)
    assert np.allclose(np.sort(drawn[:, 0]), np.sort(distances))


def test_what_cannot_be_drawn_is_refused_with_its_fault():
    model = MaximumMargin().fit(np.square(X), Y)
    with pytest.raises(InvalidInput, match="no pipeline"):
        plot_mapped(model, X, Y)
    with pytest.raises(InvalidInput, match="2 weights"):
        plot_mapped(model, X, Y, lambda rows: rows[:, :1])
