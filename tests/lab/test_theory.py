"""Certificates as the page draws them, and the numbers of the charts."""

from fractions import Fraction

import numpy as np
import pytest

from pages_engine import answers
from rosenblatt import verify
from rosenblatt.lab.scene import Scene
from rosenblatt.lab.theory import follows_theorem, mistake_bound, proof_of, rate
from rosenblatt.prover.certificates.certificate import Certificate


def shown(text):
    """Return Python's proof of a scene as the page shows it."""
    return answers([["read", proof_of(Scene.from_query(text))]])[0]


def drawn(text):
    return shown(text), *Scene.from_query(text).rows()


@pytest.mark.parametrize("text", ["data=or", "data=and", "data=clouds&margin=0.2", "data=clouds&margin=0&data_seed=3"])
def test_a_separable_set_gets_the_widest_band_and_the_points_at_its_rim(text):
    found, X, y = drawn(text)
    *w, b = found["hyperplane"]
    distance = (X @ w + b) / np.linalg.norm(w) * np.where(y == y.max(), 1, -1)
    assert found["verdict"] == "separable"
    assert distance.min() == pytest.approx(found["band"], rel=1e-6)
    assert sorted(np.flatnonzero(distance <= found["band"] * (1 + 1e-5)) + 1) == found["supports"]
    assert len(found["supports"]) >= 2
    assert {*y[np.array(found["supports"]) - 1]} == {*y}, "the band rests on points of either class"
    assert int(found["json"]["mistake_bound"]) >= 1


@pytest.mark.parametrize("text", ["data=xor", "data=overlap", "data=moons", "data=labels", "data=clouds&noise=0.1"])
def test_hulls_that_meet_have_a_common_point_in_exact_fractions(text):
    found, X, y = drawn(text)
    assert found["verdict"] == "overlapping"
    classes = np.unique(y)
    for number in (0, 1):
        own = [(row, Fraction(share)) for row, share, k in found["weights"] if k == number]
        assert sum(share for _, share in own) == 1
        assert all(share > 0 and y[row - 1] == classes[number] for row, share in own)
        mean = [sum(share * Fraction(repr(float(X[row - 1, j]))) for row, share in own) for j in (0, 1)]
        assert [str(value) for value in mean] == found["common_exact"]
    assert found["common_point"] == pytest.approx([float(Fraction(text)) for text in found["common_exact"]])
    assert found["supports"] == sorted(row for row, _, _ in found["weights"])


def test_the_proof_of_xor_is_that_of_the_lecture():
    found, _, _ = drawn("data=xor")
    assert found["common_exact"] == ["1/2", "1/2"]
    assert {share for _, share, _ in found["weights"]} == {"1/2"}
    assert "x2" in found["lines"][0]
    assert "x0" not in " ".join(found["lines"])


def test_quasi_separable_points_name_those_on_the_line():
    touching, _, _ = drawn("data=points&p=0,0a;0,1b;0,2a;1,1b;-1,1a")
    assert touching["verdict"] == "quasi_separable"
    assert touching["hyperplane"][-1] == pytest.approx(0)
    assert touching["common_point"] == [0.0, 1.0]
    assert any(line.startswith("Points on it") for line in touching["lines"])


@pytest.mark.parametrize("text", ["data=or", "data=xor", "data=four", "data=three&noise=0.5"])
def test_what_is_drawn_is_a_certificate_that_verifies(text):
    found, X, y = drawn(text)
    assert verify(Certificate.from_dict(found["json"]), X, y)
    assert found["lines"]


def test_coordinates_are_read_as_the_decimals_that_were_written():
    found, _, _ = drawn("data=points&p=0.1,0a;0.3,0a;0.2,0b;5,5b")
    assert found["common_exact"] == ["1/5", "0"]


def test_hulls_are_drawn_in_the_plane_only():
    assert len(drawn("data=or")[0]["hulls"]) == 2
    assert drawn("data=spam")[0]["hulls"] == []
    mapped = shown("data=circle&features=quadratic")
    assert (mapped["verdict"], mapped["hulls"]) == ("separable", [])


def test_the_numbers_of_the_charts():
    scene = Scene()
    found = mistake_bound(scene, *scene.rows())
    assert found.radius == pytest.approx(3**0.5)
    assert found.margin == pytest.approx(1 / 3)
    assert found.bound == 27
    assert np.linalg.norm(found.separator) == pytest.approx(1)
    four = Scene(data="four")
    assert mistake_bound(four, *four.rows()).margin is None


def test_a_start_changes_the_bound_and_the_rate_does_not():
    started = Scene.from_dict({"data": "and", "start": [-1, 2, 1]})
    assert mistake_bound(started, *started.rows()).bound == 55
    scaled = Scene.from_dict({"data": "and", "start": [-2, 4, 2], "params": {"eta0": 2.0}})
    assert mistake_bound(scaled, *scaled.rows()).bound == 55
    assert mistake_bound(Scene.from_dict({"params": {"eta0": 0.5}}), *Scene().rows()).bound == 27


def test_the_rule_of_the_theorem():
    assert follows_theorem(Scene())
    assert not follows_theorem(Scene.from_query("param.batch=true"))
    assert not follows_theorem(Scene(learner="Winnow"))
    assert rate(Scene()) == 1.0
    assert rate(Scene(learner="Adaline")) == 0.1
    assert rate(Scene(learner="PocketPerceptron")) == 1.0
    assert rate(Scene(learner="AROW")) is None


@pytest.mark.parametrize(
    ("query", "sentence", "line"),
    [
        (
            "data=spam",
            "Complete separation: a hyperplane separates the classes.",
            "w = (0, 0.7022, 0, -0.7022, 0.7022), b = 0, rounded.",
        ),
        (
            "data=four&n=12",
            "Complete separation: one weight vector per class separates them.",
            "the highest score for its own class.",
        ),
        (
            "data=points&p=0,0a;1,0b;-1,0b",
            "Overlap: no hyperplane",
            "x1 is a weighted mean of points of the other class, so no line",
        ),
        (
            "data=points&p=0,0a;0,0b",
            "Overlap: no hyperplane",
            "are the same point in different classes, so no line separates",
        ),
        ("data=three&noise=1", "Quasi-complete separation: no weight vectors separate", "against class 3"),
    ],
)
def test_a_proof_is_told_in_the_numbers_of_the_page(query, sentence, line):
    """Rows and classes count from 1, and what is zero up to rounding is 0."""
    drawn = shown(query)
    told = " ".join(drawn["lines"])
    assert drawn["sentence"].startswith(sentence)
    assert line in told
    assert "class 0" not in told
    if drawn["verdict"] != "separable":
        assert "Every point has the highest score" not in told


def test_the_distances_of_a_proof_are_those_of_the_rows():
    drawn = shown("data=spam")
    X, y = Scene.from_query("data=spam").rows()
    w, b = np.array(drawn["hyperplane"][:-1]), drawn["hyperplane"][-1]
    np.testing.assert_allclose(drawn["margins"], y * (X @ w + b) / np.linalg.norm(w))
    np.testing.assert_allclose(drawn["margins"], 1 / np.sqrt(3), rtol=1e-6)  # all six mails are on the edge of the band
