"""Pictures: what the axes hold, and that a picture comes out."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

from rosenblatt import Perceptron, trace, train
from rosenblatt.errors import InvalidInput
from rosenblatt.plots.plane import COLOURS, INK, plot_boundary, plot_errors, plot_mistakes, plot_trace

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
    assert legend(ax) == ["class -1", "class 1"]
    assert np.all(ax.dataLim.min <= 0)
    assert ax.get_xlim()[0] < 0 < 1 < ax.get_xlim()[1]


def test_boundary_names_the_normal_and_the_smallest_distance():
    model = Perceptron(init=([1.0, 1.0], -0.5)).fit(*OR)
    assert model.run_.updates == 0
    assert texts(plot_boundary(model, *OR)) == ["$w$", f"{0.5 / np.sqrt(2):.3g}"]


def test_boundary_marks_the_closest_row():
    X = np.array([[0.0, 0.0], [0.0, 3.0], [2.0, 0.0], [5.0, 1.0]])
    y = [0, 0, 1, 1]
    model = Perceptron(init=([1.0, 0.0], -0.75)).fit(X, y)
    ax = plot_boundary(model, X, y)
    (ring,) = [c for c in ax.collections if isinstance(c, PathCollection) and not c.get_facecolors().size]
    assert ring.get_offsets().tolist() in ([[0.0, 0.0]], [[0.0, 3.0]])
    assert "0.75" in texts(ax)


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
    assert legend(plot_boundary(model, X, y)) == ["class 1", "class 2", "class 0"]


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


def test_errors_draw_mistakes_and_errors_as_shares_of_the_rows():
    run = Perceptron(shuffle=False).fit(*OR).run_
    ax = plot_errors(run)
    mistakes, errors = ax.lines[:2]
    assert mistakes.get_ydata().tolist() == [count / 4 for count in run.mistakes]
    assert errors.get_ydata().tolist() == list(run.errors)
    assert mistakes.get_xdata().tolist() == list(range(1, run.epochs + 1))
    assert legend(ax) == ["mistakes during the epoch", "error at its end"]


def test_errors_without_measurement_draw_the_mistakes_only():
    run = train(*OR, order="cyclic")
    assert run.errors == ()
    ax = plot_errors(run)
    assert legend(ax) == ["mistakes during the epoch"]
    assert f"stopped and kept: epoch {run.epochs}" in texts(ax)


def test_errors_mark_the_stopping_point_and_the_epoch_kept():
    best_first = [0.5, 0.25, 0.5, 0.75]
    run = train(*XOR, keep="best", epochs=4, tol=None, seed=3)
    run = replace(run, errors=tuple(best_first), kept=2)
    ax = plot_errors(run)
    assert texts(ax) == ["kept: epoch 2", "stopped: epoch 4"]
    assert [list(line.get_xdata()) for line in ax.lines[-2:]] == [[4, 4], [2]]
    assert list(ax.lines[-1].get_ydata()) == [0.25]


def test_errors_of_a_long_run_are_smoothed_around_their_mean():
    run = train(*XOR, epochs=200, tol=None, order="shuffled")
    ax = plot_errors(run)
    raw, smooth = (np.asarray(line.get_ydata()) for line in ax.lines[:2])
    assert raw.size == smooth.size == 200
    assert smooth.min() >= raw.min()
    assert smooth.max() <= raw.max()
    assert smooth[100] == pytest.approx(raw[95:106].mean())


def test_mistakes_of_a_run_and_of_its_trace_end_at_the_same_point():
    run, trials = train(*OR, order="cyclic"), list(trace(*OR))
    ax = plot_mistakes(run, trials, labels=["run", "trace"])
    assert legend(ax) == ["run", "trace"]
    ends = {(line.get_xdata()[-1], line.get_ydata()[-1]) for line in ax.lines}
    assert ends == {(24, 9)}


def test_mistakes_stay_below_a_bound_that_is_drawn():
    ax = plot_mistakes(train(*OR, order="cyclic"), bound=30)
    (bound,) = [line for line in ax.lines if list(line.get_ydata()) == [30, 30]]
    assert bound.get_linestyle() == "--"
    assert texts(ax) == ["at most 30"]
    assert ax.get_ylim()[1] > 30
    assert ax.get_yscale() == "linear"


def test_mistakes_are_counted_on_a_logarithmic_scale_where_the_bound_is_far_away():
    runs = [train(*OR, order="cyclic"), train(*OR, seed=1)]
    ax = plot_mistakes(*runs, bound=[100, 1e6])
    assert ax.get_yscale() == "log"
    assert texts(ax) == ["at most 100", "at most 1,000,000"]


def test_a_shared_bound_is_drawn_once():
    runs = [train(*OR, order="cyclic"), train(*OR, seed=1)]
    assert texts(plot_mistakes(*runs, bound=np.float64(50))) == ["at most 50"]


DRAWINGS = {
    "boundary": lambda ax=None: plot_boundary(Perceptron().fit(*OR), *OR, ax=ax),
    "trace": lambda ax=None: plot_trace(trace(*OR), *OR, ax=ax),
    "errors": lambda ax=None: plot_errors(train(*OR), ax=ax),
    "mistakes": lambda ax=None: plot_mistakes(train(*OR), bound=99, ax=ax),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_png_comes_out(name, tmp_path):
    ax = DRAWINGS[name]()
    assert isinstance(ax, Axes)
    ax.figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", DRAWINGS)
def test_axes_that_are_given_are_drawn_on(name):
    ax = Figure().subplots()
    assert DRAWINGS[name](ax) is ax
    assert ax.lines


def test_threads_draw_the_same_picture_as_one(tmp_path):
    def draw(number):
        path = tmp_path / f"{number}.png"
        DRAWINGS["boundary"]().figure.savefig(path)
        return path.read_bytes()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(draw, range(8)))) == 1


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: plot_boundary(Perceptron(), *OR), "not fitted"),
        (lambda: plot_boundary(Perceptron().fit(np.eye(3), [0, 1, 1]), *OR), "model has 3 features"),
        (lambda: plot_boundary(Perceptron().fit(*OR), np.eye(3), [0, 1, 1]), "X has 3 features"),
        (lambda: plot_boundary(Perceptron().fit(*OR), OR[0], [1, 2]), "one label for each row"),
        (lambda: plot_boundary(Perceptron(tol=None, max_iter=1).fit([[0.0, 0.0]] * 2, [0, 1]), *OR), "vector is zero"),
        (lambda: plot_trace([], *OR), "nothing to draw"),
        (lambda: plot_trace(trace(*OR), np.eye(4), OR[1]), "X has 4 features"),
        (lambda: plot_mistakes(), "0 records"),
        (lambda: plot_mistakes([]), "no trials"),
        (lambda: plot_mistakes(train(*OR), bound=[1, 2]), "1 records, 2 bounds"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_its_fault(call, told):
    with pytest.raises(InvalidInput, match=told):
        call()


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_without_matplotlib_the_extra_is_named():
    out = run_python(
        "import sys; sys.modules['matplotlib'] = None\n"
        "from rosenblatt import train, errors\n"
        "from rosenblatt.plots import plot_errors\n"
        "try: plot_errors(train([[0], [1]], [0, 1]))\n"
        "except errors.MissingExtra as error: print(error)"
    )
    assert 'pip install "rosenblatt[plots]"' in out


def test_pyplot_is_never_imported():
    out = run_python(
        "import sys\n"
        "from rosenblatt import train\n"
        "from rosenblatt.plots import plot_errors\n"
        "print('matplotlib' in sys.modules)\n"
        "plot_errors(train([[0], [1]], [0, 1])).figure.canvas\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    assert out.split() == ["False", "False"]
