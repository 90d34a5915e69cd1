"""What is printed fits a screen, however large the data."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from members import EVERY_CLASS
from rosenblatt import AveragedPerceptron, Perceptron, certify, record, theory, train
from rosenblatt.datasets import noisy, separable

SCREEN = 24, 2400  # lines, characters


@pytest.fixture(scope="module")
def shown():
    """One of each record that a user gets, from many rows, features, epochs and classes."""
    random = np.random.default_rng(0)
    wide = separable(60, 300, 0.5)
    tall = noisy(400, 3, 0.2)
    several = random.standard_normal((90, 200)), np.arange(90) % 30
    fitted = AveragedPerceptron(max_iter=300, tol=None).fit(*several)
    overlapping, parted = certify(*tall), certify(*wide)
    recording = record(Perceptron(max_iter=5, tol=None), *wide)
    epochs = []
    run = train(*several, max_iter=20, tol=None, callback=epochs.append)
    return {
        "Run": fitted.run_,
        "Run of train": run,
        "Certificate of overlap": overlapping,
        "Certificate of a margin": parted,
        "Bracket": parted.margin,
        "Theory": theory(*wide),
        "Recording": recording,
        "Trial": next(recording.trials()),
        "LinearModel": run.model,
        "Stream": fitted._stream,
        "Epoch": epochs[-1],
        "Planted": wide,
        "estimator": fitted,
    }


@pytest.mark.parametrize("way", [repr, str])
def test_every_record_fits_a_screen(shown, way):
    for name, value in shown.items():
        text = way(value)
        assert len(text.splitlines()) <= SCREEN[0], f"{name} has {len(text.splitlines())} lines"
        assert len(text) <= SCREEN[1], f"{name} has {len(text)} characters"


def test_reprs_name_their_class_and_what_matters(shown):
    for name, value in shown.items():
        if name != "estimator":
            assert repr(value).removeprefix("<").startswith((type(value).__name__ + "(", type(value).__name__ + ":"))
    assert "overlapping" in repr(shown["Certificate of overlap"])
    assert "stop=Stop." in repr(shown["Run"])
    assert "more)" in repr(shown["Run"])
    assert "W=array of shape (30, 200)" in repr(shown["LinearModel"])
    assert "It stopped: " in str(shown["Run"])
    assert "trials=" in repr(shown["Stream"])


def test_small_records_are_shown_whole():
    run = train([[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, 1], order="cyclic")
    assert "mistakes=(3, 1, 2, 2, 1, 0)" in repr(run)
    assert str(run).startswith("6 epochs, 24 trials, 9 updates in ")
    assert repr(run.model).startswith("LinearModel(W=array([[2., 2.]]), b=array([-1.]), classes=array([-1, 1]), ")


def test_html_is_short_and_has_a_picture(shown):
    for name in ("Run", "Run of train", "Certificate of overlap", "Certificate of a margin", "Theory", "Recording"):
        html = shown[name]._repr_html_()
        assert "<svg" in html, name
        assert len(html) < 60_000, name
        assert not re.search(r"<script|\son\w+=|\sstyle=", html), name


def test_a_fitted_estimator_shows_its_run_below_the_diagram(shown):
    fitted = shown["estimator"]
    run = fitted.run_._repr_html_()
    assert fitted._repr_html_().endswith(run)
    assert fitted._repr_mimebundle_()["text/html"].endswith(run)
    assert run not in AveragedPerceptron()._repr_html_()


@pytest.mark.parametrize("cls", EVERY_CLASS)
def test_the_diagram_links_to_the_page_of_its_class(cls):
    site = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
    assert f'href="{site}reference/generated/rosenblatt.{cls.__name__}.html"' in cls()._repr_html_()


def test_no_label_is_executed_in_html():
    evil = "<script>alert(1)</script>"
    X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [evil, "b", "b", "b"]
    model = Perceptron(shuffle=False).fit(X, y)
    for html in (model.run_._repr_html_(), certify(X, y)._repr_html_(), theory(X, y)._repr_html_()):
        assert evil not in html
