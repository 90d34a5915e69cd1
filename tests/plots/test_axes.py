"""Figures, axes and words: with matplotlib, without it, and never through pyplot."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rosenblatt import Perceptron, trace, train
from rosenblatt.errors import InvalidArgument
from rosenblatt.plots import plot_boundary, plot_errors, plot_mistakes, plot_trace
from rosenblatt.plots.axes import draw_line, new_figure

OR = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([-1, 1, 1, 1])


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


def test_a_figure_has_the_size_asked_for():
    assert new_figure(3, 2).get_size_inches().tolist() == [3, 2]


def test_a_talk_has_larger_type_against_the_same_picture():
    paper, talk = new_figure(), new_figure(style="talk")
    assert np.allclose(paper.get_size_inches() * paper.dpi, talk.get_size_inches() * talk.dpi)
    assert talk.dpi == 1.6 * paper.dpi
    with pytest.raises(InvalidArgument, match="Did you mean 'talk'"):
        new_figure(style="talks")


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12, 1e150])
def test_lines_are_drawn_however_far_they_are_from_the_origin(scale):
    ax = Figure().subplots()
    w, b = np.array([1.0, 2.0]), -5.0 * scale
    draw_line(ax, w, b)
    ends = np.array([ax.lines[0].get_xy1(), ax.lines[0].get_xy2()])
    assert ends @ w + b == pytest.approx([0, 0], abs=1e-12 * max(scale, 1.0))
