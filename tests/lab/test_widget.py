"""The lab in a notebook: what is drawn there is an array here, and the other way round."""

import json
from html import unescape

import numpy as np
import pytest
import traitlets
from safetensors.numpy import load

from rosenblatt.datasets import two_moons
from rosenblatt.errors import InvalidInput
from rosenblatt.lab import explore
from rosenblatt.lab.widget import Lab, as_points


@pytest.fixture
def lab():
    return explore(data="or")


def ask(lab, kind, body=None):
    """What the page gets for a question."""
    sent = []
    lab.send = lambda content, buffers=None: sent.append((content, buffers))
    lab._answer(lab, {"id": 7, "kind": kind, "body": body}, [])
    ((content, buffers),) = sent
    json.dumps(content)
    assert content["id"] == 7
    return content, buffers


def test_it_begins_with_the_points_that_it_is_given():
    X, y = two_moons(20)
    lab = explore(X, np.where(y > 0, "up", "down"), learner="KernelPerceptron")
    assert isinstance(lab, Lab)
    np.testing.assert_array_equal(lab.points, X)
    assert set(lab.labels) == {"up", "down"}
    assert lab.scene["learner"] == "KernelPerceptron"
    numbers = [point[2] for point in lab.scene["points"]]
    assert numbers == [int(one == "up") for one in lab.labels]


def test_a_set_of_the_lab_stays_that_set(lab):
    assert lab.scene["data"] == "or"
    assert lab.points.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert lab.labels.tolist() == [-1, 1, 1, 1]


def test_what_is_drawn_on_the_page_is_an_array(lab):
    lab.set_state({"scene": {**lab.scene, "data": "points", "points": [[0, 0, 0], [1, 2, 1], [0.5, 0.5, 1]]}})
    assert lab.points.tolist() == [[0, 0], [1, 2], [0.5, 0.5]]
    assert lab.labels.tolist() == [0, 1, 1]


def test_labels_keep_their_names_while_points_are_moved():
    lab = explore([[0.0, 0.0], [1.0, 1.0]], ["no", "yes"])
    lab.scene = {**lab.scene, "points": [[0.5, 0.0, 0], [1.0, 1.0, 1], [2.0, 2.0, 1]]}
    assert lab.labels.tolist() == ["no", "yes", "yes"]


def test_points_from_python_are_shown_by_the_page(lab):
    lab.labels, lab.points = np.array([1, 0, 1]), np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 4.0]])
    assert lab.scene["data"] == "points"
    assert lab.scene["points"] == [[0.0, 1.0, 1], [2.0, 3.0, 0], [4.0, 4.0, 1]]


def test_the_trial_goes_both_ways(lab):
    lab.set_state({"trial": 9})
    assert lab.trial == 9
    lab.trial = 3
    assert lab.get_state()["trial"] == 3
    with pytest.raises(traitlets.TraitError):
        lab.trial = -1


def test_points_travel_as_lists(lab):
    state = lab.get_state()
    json.dumps({key: state[key] for key in ("points", "labels", "scene", "trial", "_options")})
    assert state["points"][1] == [1.0, 0.0]


def test_a_scene_that_is_not_possible_is_rejected_with_a_message(lab):
    with pytest.raises(InvalidInput, match="is not known"):
        lab.scene = {"data": "nor"}
    assert lab.scene["data"] == "or"


def test_while_there_is_one_class_the_points_stay(lab):
    lab.scene = {**lab.scene, "data": "points", "points": [[0, 0, 0]]}
    assert lab.points.shape == (4, 2)


def test_the_kernel_answers_the_page(lab):
    content, buffers = ask(lab, "run", {"data": "or"})
    assert content["bytes"]
    assert load(buffers[0])["W"][-1, 0].tolist() == [2, 2, -1]
    assert ask(lab, "certificate", {"data": "xor"})[0]["answer"]["file"]["verdict"] == "overlapping"
    assert ask(lab, "code", {"t": 2})[0]["answer"].startswith("from rosenblatt")
    assert len(ask(lab, "catalogue")[0]["answer"]["chapters"]) == 5


@pytest.mark.parametrize("message", [("run", {"data": "nor"}), ("nothing", {}), (None, {}), ("run", [1])])
def test_a_failure_is_a_message(lab, message):
    assert ask(lab, *message)[0]["error"]


def test_a_message_without_a_question_does_no_harm(lab):
    sent = []
    lab.send = lambda content, buffers=None: sent.append(content)
    for message in ({}, "text", None, []):
        lab._answer(lab, message, [])
    assert all("error" in content for content in sent)


def test_without_a_kernel_there_is_a_page_in_a_frame(lab):
    html = lab._repr_html_()
    assert html.startswith('<iframe srcdoc="')
    assert "<!doctype html>" in unescape(html)
    assert html.count("<") == 2, "nothing of the page's markup is outside the attribute"


def test_tables_without_a_plane_can_be_explored():
    random = np.random.default_rng(0)
    lab = explore(random.normal(size=(12, 5)), np.arange(12) % 2)
    run = load(ask(lab, "run", lab.scene)[1][0])
    assert run["W"].shape[2] == 6


def test_what_cannot_be_shown_is_rejected_with_a_message():
    with pytest.raises(InvalidInput, match="Pass both"):
        explore([[0.0, 1.0]])
    with pytest.raises(InvalidInput, match="at most 4"):
        as_points(np.zeros((5, 2)), range(5))
    with pytest.raises(InvalidInput, match="a row for each point"):
        as_points(np.zeros(5), range(5))
    with pytest.raises(InvalidInput, match="1 to 2000 points"):
        explore(np.zeros((2001, 2)), np.arange(2001) % 2)
