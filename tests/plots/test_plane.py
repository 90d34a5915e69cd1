"""The lectures' pictures of the plane."""

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from rosenblatt import KernelPerceptron, MaximumMargin, Perceptron, trace
from rosenblatt.datasets import circles, two_moons
from rosenblatt.errors import InvalidInput
from rosenblatt.plots import plot_boundary, plot_mapped, plot_trace
from rosenblatt.plots.axes import COLOURS, INK

OR = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([-1, 1, 1, 1])
XOR = OR[0], np.array([-1, 1, 1, -1])


def three_classes(n=60):
    random = np.random.default_rng(0)
    y = np.arange(n) % 3
    return np.array([[0, 2], [-2, -1], [2, -1]])[y] + 0.3 * random.normal(size=(n, 2)), y


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def scattered(ax):
    """The points of each class, without the rings."""
    return [c for c in ax.collections if isinstance(c, PathCollection) and c.get_facecolors().size]


def strong_line(ax):
    """The one line drawn across the axes in ink: two of its points."""
    (line,) = [line for line in ax.lines if to_hex(line.get_color()) == INK.lower() and line.get_linewidth() > 1.5]
    return np.array([line.get_xy1(), line.get_xy2()])


def test_boundary_draws_the_hyperplane_of_the_model():
    model = Perceptron(shuffle=False).fit(*OR)
    ax = plot_boundary(model, *OR)
    assert strong_line(ax) @ model.coef_[0] + model.intercept_[0] == pytest.approx([0, 0])


def test_boundary_shows_every_row_in_the_colour_of_its_class():
    ax = plot_boundary(Perceptron().fit(*OR), *OR)
    assert [len(points.get_offsets()) for points in scattered(ax)] == [1, 3]
    assert [to_hex(points.get_facecolors()[0]).upper() for points in scattered(ax)] == list(COLOURS[:2])
    assert legend(ax)[1:] == ["class -1", "class 1"]
    assert np.all(ax.dataLim.min <= 0)
    assert ax.get_xlim()[0] < 0 < 1 < ax.get_xlim()[1]


def test_boundary_names_the_normal_and_the_smallest_distance():
    model = Perceptron(init=([1.0, 1.0], -0.5)).fit(*OR)
    assert model.run_.updates == 0
    ax = plot_boundary(model, *OR)
    assert texts(ax) == ["$w$"]
    assert legend(ax)[0] == f"closest row: {0.5 / np.sqrt(2):.3g}"


def test_boundary_marks_the_closest_row():
    X = np.array([[0.0, 0.0], [0.0, 3.0], [2.0, 0.0], [5.0, 1.0]])
    y = [0, 0, 1, 1]
    model = Perceptron(init=([1.0, 0.0], -0.75)).fit(X, y)
    ax = plot_boundary(model, X, y)
    (ring,) = [c for c in ax.collections if isinstance(c, PathCollection) and not c.get_facecolors().size]
    assert ring.get_offsets().tolist() in ([[0.0, 0.0]], [[0.0, 3.0]])
    assert "closest row: 0.75" in legend(ax)


def test_boundary_of_a_vertical_hyperplane_is_vertical():
    X, y = [[-1.0, 0.0], [1.0, 0.0]], [0, 1]
    line = strong_line(plot_boundary(Perceptron().fit(X, y), X, y))
    assert line[0, 0] == line[1, 0]


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_regions_cover_the_plane_with_the_predicted_classes(multiclass):
    X, y = three_classes()
    model = Perceptron(multiclass=multiclass).fit(X, y)
    ax = plot_boundary(model, X, y)
    filled = [c for c in ax.collections if hasattr(c, "filled") and c.filled]
    assert len(filled) == 3
    inside = np.array([[region.get_paths()[0].contains_point(point) for region in filled] for point in X])
    assert np.array_equal(inside.argmax(axis=1), model.predict(X))
    assert (inside.sum(axis=1) == 1).all()
    assert legend(ax) == ["class 0", "class 1", "class 2"]


def test_boundary_takes_sparse_rows_and_the_linear_models_of_scikit_learn():
    X, y = three_classes()
    assert plot_boundary(Perceptron().fit(X, y), sp.csr_matrix(X), y).collections
    assert plot_boundary(LogisticRegression().fit(*OR), *OR).lines


def test_boundary_shows_classes_that_the_model_does_not_know():
    X, y = three_classes()
    model = Perceptron().fit(X[y > 0], y[y > 0])
    assert legend(plot_boundary(model, X, y))[1:] == ["class 1", "class 2", "class 0"]


def test_trace_draws_one_line_for_each_update_and_the_last_one_strong():
    trials = list(trace(*OR))
    updates = [trial for trial in trials if trial.mistake and trial.w.any()]
    ax = plot_trace(iter(trials), *OR)
    drawn = [line for line in ax.lines if len(line.get_xdata()) == 2]
    assert len(drawn) == len(updates)
    assert strong_line(ax) @ trials[-1].w + trials[-1].b == pytest.approx([0, 0])
    assert legend(ax)[0] == "after update 9, the last"


def test_trace_fades_in():
    ax = plot_trace(trace(*OR), *OR)
    strength = [line.get_alpha() for line in ax.lines[:-1]]
    assert len(strength) > 3
    assert strength == sorted(strength)
    assert len(set(strength)) == len(strength)


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: plot_boundary(Perceptron(), *OR), "not fitted"),
        (lambda: plot_boundary(Perceptron().fit(np.eye(3), [0, 1, 1]), *OR), "model has 3 features"),
        (lambda: plot_boundary(Perceptron().fit(*OR), np.eye(3), [0, 1, 1]), "X has 3 features"),
        (lambda: plot_boundary(Perceptron().fit(*OR), OR[0], [1, 2]), "one label for each row"),
        (lambda: plot_boundary(Perceptron(tol=None, max_iter=1).fit([[0.0, 0.0]] * 2, [0, 1]), *OR), "vector is zero"),
        (lambda: plot_trace([], *OR), "nothing to draw"),
        (lambda: plot_trace(trace(*OR), np.eye(4), OR[1]), "X has 4 features"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_its_fault(call, fault):
    with pytest.raises(InvalidInput, match=fault):
        call()


def ten_classes(n=100):
    y = np.arange(n) % 10
    angle = y * 2 * np.pi / 10
    noise = 0.3 * np.random.default_rng(0).normal(size=(n, 2))
    return 4 * np.column_stack([np.cos(angle), np.sin(angle)]) + noise, y


def test_ten_classes_differ_by_colour_and_by_shape():
    X, y = ten_classes()
    ax = plot_boundary(Perceptron().fit(X, y), X, y)
    looks = [(to_hex(c.get_facecolors()[0]), c.get_paths()[0].vertices.tobytes()) for c in scattered(ax)]
    assert len({colour for colour, _ in looks}) == len({shape for _, shape in looks}) == 10


@pytest.mark.parametrize("style", ["paper", "talk"])
def test_long_names_of_classes_do_not_squeeze_the_axes(style):
    X, y = ten_classes()
    model = Perceptron().fit(X, y)
    heights = []
    for names in (None, [f"the class of all things that are like number {k}, and more" for k in range(10)]):
        ax = plot_boundary(model, X, y, class_names=names, style=style)
        ax.figure.draw_without_rendering()
        heights.append(ax.get_window_extent().height / ax.figure.bbox.height)
    assert heights[1] > 0.8 * heights[0]
    shown = legend(ax)
    assert len(set(shown)) == 10
    assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.x1


def test_hyperplanes_of_the_problems_are_drawn_where_the_weights_say():
    X, y = three_classes()
    model = Perceptron(multiclass="ovr").fit(X, y)
    ax = plot_boundary(model, X, y, hyperplanes=True)
    for k, line in enumerate(line for line in ax.lines if hasattr(line, "get_xy1")):
        ends = np.array([line.get_xy1(), line.get_xy2()])
        assert ends @ model.coef_[k] + model.intercept_[k] == pytest.approx([0, 0])


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_the_hatched_region_is_where_the_problems_contradict_one_another(multiclass):
    random = np.random.default_rng(8)
    y = np.arange(90) % 3
    X = np.array([[2, 5], [1, 1], [5, 2]])[y] + 0.6 * random.normal(size=(90, 2))
    model = Perceptron(multiclass=multiclass).fit(X, y)
    ax = plot_boundary(model, X, y, undecided=True)
    (hatched,) = [c for c in ax.collections if getattr(c, "hatches", None) == ["////"]]
    grid = random.uniform([0, 0], [6, 6], (2000, 2))
    inside = np.any([path.contains_points(grid) for path in hatched.get_paths()], axis=0)
    above = grid @ model.coef_.T + model.intercept_ > 0
    if multiclass == "ovr":
        torn = above.sum(axis=1) != 1
    else:
        (a, b, c) = above.T  # 0 against 1, 0 against 2, 1 against 2
        torn = ~((a & b) | (~a & c) | (~b & ~c))
    assert np.mean(inside == torn) > 0.98
    assert 0 < torn.mean() < 0.9


def test_names_of_features_and_classes_may_be_anything():
    ax = plot_boundary(Perceptron().fit(*OR), *OR, feature_names=["cost in $", "a_b"], class_names=["$5", "x^2"])
    ax.figure.draw_without_rendering()
    assert legend(ax)[1:] == [r"\$5", "x^2"]


def test_a_boundary_that_is_no_line_passes_where_the_prediction_changes():
    X, y = two_moons(80, noise=0.1)
    model = KernelPerceptron(kernel="rbf", gamma=2.0).fit(X, y)
    ax = plot_boundary(model, X, y)
    border = np.vstack(
        [p.vertices for c in ax.collections if getattr(c, "filled", None) is False for p in c.get_paths()]
    )
    scale = np.abs(model.decision_function(X)).max()
    assert np.abs(model.decision_function(border)).max() < 0.02 * scale
    assert not any(hasattr(line, "get_xy1") for line in ax.lines)


def test_single_hyperplanes_of_two_classes_are_refused():
    with pytest.raises(InvalidInput, match="no hyperplane for each problem"):
        plot_boundary(Perceptron().fit(*OR), *OR, hyperplanes=True)


# ---------------------------------------------------------------------------------------------------------- mapped rows

CIRCLES, INSIDE = circles(60, factor=0.5, noise=0.05)


def borders(ax):
    """Points of the border between the regions."""
    found = [c for c in ax.collections if hasattr(c, "filled") and not c.filled]
    return np.vstack([path.vertices for c in found for path in c.get_paths() if len(path.vertices)])


def test_squares_turn_the_circle_into_a_line():
    model = MaximumMargin().fit(np.square(CIRCLES), INSIDE)
    left, right = plot_mapped(model, CIRCLES, INSIDE, np.square)
    curve = np.square(borders(left)) @ model.coef_[0] + model.intercept_[0]
    scale = np.abs(np.square(CIRCLES) @ model.coef_[0]).max()
    assert np.abs(curve).max() < 1e-3 * scale
    (line,) = [line for line in right.lines if hasattr(line, "get_xy1")]
    assert np.array([line.get_xy1(), line.get_xy2()]) @ model.coef_[0] + model.intercept_[0] == pytest.approx([0, 0])
    assert right.get_xlabel() == "$x_1^2$"


def test_more_dimensions_are_seen_from_the_side_of_the_hyperplane():
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(max_iter=2000)).fit(CIRCLES, INSIDE)
    _, right = plot_mapped(model, CIRCLES, INSIDE)
    drawn = np.vstack(
        [c.get_offsets() for c in right.collections if hasattr(c, "get_offsets") and not hasattr(c, "filled")]
    )
    distances = model.decision_function(CIRCLES) / np.linalg.norm(model[-1].coef_)
    assert np.allclose(np.sort(drawn[:, 0]), np.sort(distances))


def test_a_mapping_that_does_not_fit_is_rejected_with_its_fault():
    model = MaximumMargin().fit(np.square(CIRCLES), INSIDE)
    with pytest.raises(InvalidInput, match="not a pipeline"):
        plot_mapped(model, CIRCLES, INSIDE)
    with pytest.raises(InvalidInput, match="2 weights"):
        plot_mapped(model, CIRCLES, INSIDE, lambda rows: rows[:, :1])
