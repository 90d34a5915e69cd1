"""No two texts of a figure overlap, and none is cut off: titles, legends, names of axes, tick labels, numbers."""

import warnings
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from rosenblatt import AveragedPerceptron, MaximumMargin, Perceptron, certify, plots, record, theory, trace, train
from rosenblatt.cli import demo
from rosenblatt.datasets import SPAM_WORDS, circles, logical, noisy, separable, spam

OR = logical("or")
RINGS = circles(40, factor=0.5, noise=0.06)
PLANE = separable(12, 2, 0.25, seed=3)
NOISY = noisy(80, 2, flip=0.1, seed=1)
TEN = np.arange(100) % 10
WHEEL = np.column_stack([np.cos(0.6283 * TEN), np.sin(0.6283 * TEN)]) + np.random.default_rng(1).normal(
    0, 0.2, (100, 2)
)
LONG = [f"class {k} of the many kinds of things in this world" for k in range(10)]


def ten_classes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Perceptron(max_iter=20, random_state=0).fit(WHEEL, TEN)


def names(long, count=2):
    return {"class_names": LONG[:count]} if long else {}


# Each draws on axes, or on a new figure; with long names where there are names.
DRAWINGS = {
    "boundary": lambda ax, long: plots.plot_boundary(Perceptron().fit(*OR), *OR, ax, **names(long)),
    "boundary of ten": lambda ax, long: plots.plot_boundary(ten_classes(), WHEEL, TEN, ax, **names(long, 10)),
    "certificate": lambda ax, long: plots.plot_certificate(certify(*OR), *OR, ax, **names(long)),
    "overlap": lambda ax, long: plots.plot_certificate(certify(*NOISY), *NOISY, ax, **names(long)),
    "confusion": lambda ax, long: plots.plot_confusion(ten_classes(), WHEEL, TEN, ax, **names(long, 10)),
    "errors": lambda ax, _: plots.plot_errors(train(*NOISY, validation=tuple(NOISY), keep="best", random_state=1), ax),
    "errors to the end": lambda ax, _: plots.plot_errors(train(*OR), ax),
    "largest weights": lambda ax, long: plots.plot_largest_weights(
        Perceptron().fit(*spam()), ax, feature_names=LONG[:5] if long else SPAM_WORDS
    ),
    "learning curve": lambda ax, _: plots.plot_learning_curve(AveragedPerceptron(), *NOISY, *NOISY, ax=ax),
    "margins": lambda ax, _: plots.plot_margins(AveragedPerceptron().fit(*NOISY), *NOISY, ax),
    "mistakes": lambda ax, long: plots.plot_mistakes(
        train(*OR), train(*PLANE), bound=[30, 31], labels=LONG[:2] if long else ["a", "b"], ax=ax
    ),
    "theory": lambda ax, _: plots.plot_theory(theory(*OR, Perceptron(shuffle=False)), ax),
    "trace": lambda ax, long: plots.plot_trace(trace(*OR), *OR, ax, **names(long)),
    "weights": lambda ax, long: plots.plot_weights(
        record(Perceptron(shuffle=False), *spam()), ax, feature_names=LONG[:5] if long else SPAM_WORDS
    ),
}
# These draw on two axes.
PAIRS = {
    "losses": lambda axes, _: plots.plot_losses(*NOISY, ([1.0, -1.0], 0.3), Perceptron().fit(*NOISY), axes),
    "mapped": lambda axes, long: plots.plot_mapped(
        MaximumMargin().fit(np.square(RINGS[0]), RINGS[1]), *RINGS, np.square, axes, **names(long)
    ),
    "spaces": lambda axes, long: plots.plot_spaces(Perceptron().fit(*OR), *OR, axes, **names(long)),
    "cone": lambda axes, long: plots.plot_spaces(trace(*PLANE, fit_intercept=False), *PLANE, axes, **names(long)),
    "update": lambda axes, long: plots.plot_update(trace(*OR), *OR, 1, axes, **names(long)),
}
every = pytest.mark.parametrize("name", [*DRAWINGS, *PAIRS])
pytestmark = pytest.mark.filterwarnings("ignore:.*did not converge|.*not separable|.*stopped")


def drawn_texts(figure):
    """Draw a figure; return each text that was drawn, with its box in pixels and its angle."""
    found, draw = {}, Text.draw

    def spy(text, renderer, *args, **kwargs):
        if text.get_visible() and text.get_text().strip():
            found[text] = None
        return draw(text, renderer, *args, **kwargs)

    canvas = FigureCanvasAgg(figure)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", spy)
        canvas.draw()
    renderer = canvas.get_renderer()
    return [(text, text.get_window_extent(renderer), text.get_rotation()) for text in found]


def turned_back(text, angle):
    """The box of a slanted text in coordinates in which it is level."""
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(angle)
    at, turn = text.get_transform().transform(text.get_position()), np.radians(-angle)
    shift = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ at - at
    return Bbox(box.get_points() + shift)


def overlaps(figure):
    """Pairs of texts whose boxes share more than a pixel."""
    found = []
    for (one, box, angle), (other, box_2, angle_2) in combinations(drawn_texts(figure), 2):
        if angle == angle_2 and angle % 90:
            box, box_2 = turned_back(one, angle), turned_back(other, angle)
        shared = np.minimum(box.max, box_2.max) - np.maximum(box.min, box_2.min)
        if (shared > 1).all():
            found.append((one.get_text(), other.get_text()))
    return found


def cut_off(figure):
    return [
        text.get_text()
        for text, box, _ in drawn_texts(figure)
        if (box.min < -1).any() or (box.max > figure.bbox.max + 1).any()
    ]


def assert_readable(axes):
    axes = np.ravel(np.asarray(axes, dtype=object))
    for place, ax in zip(("left", "center", "right", "left"), axes, strict=False):
        ax.set_title("A title of the user", loc=place)
    assert overlaps(axes[0].figure) == []
    assert cut_off(axes[0].figure) == []


def test_every_picture_is_tested():
    called = {name for code in (*DRAWINGS.values(), *PAIRS.values()) for name in code.__code__.co_names}
    assert {name for name in plots.__all__ if name.startswith("plot_")} <= called


@every
@pytest.mark.parametrize("long", [pytest.param(False, marks=pytest.mark.long), True], ids=["short names", "long names"])
def test_new_figures_with_a_title(name, long):
    assert_readable((DRAWINGS | PAIRS)[name](None, long))


@pytest.mark.long
@every
def test_figures_for_a_projector(name):
    count = 2 if name in PAIRS else 1
    axes = plots.new_figure(6 * count, 5, "talk").subplots(1, count)
    assert_readable((DRAWINGS | PAIRS)[name](axes, False))


@pytest.mark.long
@every
def test_figures_of_the_users_own(name):
    figure, axes = plt.subplots(2, 2)
    try:
        if name in PAIRS:
            PAIRS[name](axes[0], False), PAIRS[name](axes[1], False)
        else:
            [DRAWINGS[name](ax, False) for ax in axes.flat]
        assert_readable(axes)
    finally:
        plt.close(figure)


def test_figures_inside_a_figure():
    left, right = Figure(figsize=(9, 5)).subfigures(1, 2)
    DRAWINGS["trace"](left.subplots(), False).set_title("The title")
    PAIRS["cone"](right.subplots(2, 1), False)[0].set_title("The title")
    assert overlaps(left.figure) == []


def test_the_picture_of_the_demonstration():
    figure = demo._picture(train(*NOISY, keep="best", random_state=0))
    assert overlaps(figure) == []
    assert cut_off(figure) == []


def test_a_title_above_a_legend_that_was_removed_comes_down():
    ax = DRAWINGS["trace"](None, False)
    ax.set_title("title")
    heights = []
    for _ in range(2):
        ax.figure.draw_without_rendering()
        heights.append(ax.title.get_position()[1])
        if ax.get_legend():
            ax.get_legend().remove()
    assert heights[0] > heights[1] == 1.0


def test_axes_that_were_placed_by_hand_stay_where_they_are():
    ax = Figure().add_axes([0.2, 0.2, 0.5, 0.4])
    DRAWINGS["margins"](ax, False).figure.draw_without_rendering()
    assert ax.get_position().bounds == pytest.approx((0.2, 0.2, 0.5, 0.4))


def test_texts_that_overlap_are_noticed():
    ax = Figure().subplots()
    ax.text(0.5, 0.5, "one")
    ax.text(0.52, 0.5, "two")
    ax.text(2, 0.5, "three")
    assert overlaps(ax.figure) == [("one", "two")]
    assert cut_off(ax.figure) == ["three"]
