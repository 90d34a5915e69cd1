"""Pictures of proofs show the quantities of the proof."""

import numpy as np
import pytest

from rosenblatt import Perceptron, certify, theory
from rosenblatt.errors import InvalidInput
from rosenblatt.plots import plot_certificate, plot_theory

SQUARE = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)


def test_a_run_without_a_mistake_is_refused():
    report = theory([[0.0], [1.0]], [0, 1], Perceptron(init=([4.0], -2.0)))
    with pytest.raises(InvalidInput, match="no mistake"):
        plot_theory(report)


def test_the_picture_shows_the_crossing():
    report = theory(SQUARE, [-1, 1, 1, 1], Perceptron(shuffle=False))
    lines = {line.get_label(): line.get_xydata() for line in plot_theory(report).lines}
    assert np.allclose(lines["$|w|$"], np.column_stack([report.updates, np.sqrt(report.square)]))
    assert np.allclose(lines[r"$\langle w, w^*\rangle$"][:, 1], report.alignment)
    # Where the two bounds cross, M gamma = sqrt(M) R: at the mistake bound.
    [cross] = [points for points in lines.values() if len(points) == 1]
    assert np.allclose(cross, [[27, 9]])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    assert plot_theory(theory(X, X[:, 0] > 0.1)).get_xscale() == "log"
    assert len(plot_theory(theory(SQUARE, [-1, 1, 1, -1])).lines) == 2


def test_a_separator_is_drawn_with_the_band_between_the_classes():
    y = [-1, 1, 1, 1]
    ax = plot_certificate(certify(SQUARE, y), SQUARE, y)
    feet = {tuple(np.round(line.get_xy1(), 12)): line.get_linewidth() for line in ax.lines}
    # The separator x1 + x2 = 1/2, and the rims of its band.
    assert feet == {(0.25, 0.25): 1.6, (0.0, 0.0): 1.0, (0.5, 0.5): 1.0}


def test_rows_that_overlap_are_drawn_with_their_common_point():
    y = [-1, 1, 1, -1]
    ax = plot_certificate(certify(SQUARE, y), SQUARE, y)
    (star,) = [c for c in ax.collections if c.get_label() == "common point"]
    assert star.get_offsets().tolist() == [[0.5, 0.5]]


def test_other_data_than_the_certificate_is_about_is_refused():
    certificate = certify(SQUARE, [-1, 1, 1, 1])
    with pytest.raises(InvalidInput, match="Pass the certified data"):
        plot_certificate(certificate, SQUARE[:3], [-1, 1, 1])
