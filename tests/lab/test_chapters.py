"""The tour: what its sentences say is what the engine finds."""

import numpy as np
import pytest

from rosenblatt.lab.catalogue import DATA, chapters, learner_names, listed_in
from rosenblatt.lab.frames import MISTAKE, frames
from rosenblatt.lab.scene import Scene

CHAPTERS = listed_in("chapters.json")
each = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter["title"])


def run_of(chapter):
    return frames(Scene.from_dict(chapter["scene"]))


@each
def test_every_step_is_true(chapter):
    run = run_of(chapter)
    wrong = np.cumsum(run.arrays["mistake"] & MISTAKE)
    for step in chapter["steps"]:
        assert 0 <= step["t"] <= run.arrays["row"].size
        assert step["mistakes"] == (wrong[step["t"] - 1] if step["t"] else 0)
        if "W" in run.arrays:
            state = run.arrays["at"][step["t"] - 1] if step["t"] else 0
            assert run.arrays["W"][state, 0].tolist() == step["w"]
        else:
            before = run.arrays["when"] <= step["t"]
            coef = np.bincount(run.arrays["slot"][before], run.arrays["step"][before], run.arrays["slot_row"].size)
            by_row = np.zeros(len(run.arrays["y"]))
            by_row[run.arrays["slot_row"]] = coef
            assert by_row.tolist() == step["w"]


@each
def test_steps_go_forward_and_end_with_the_run(chapter):
    trials = [step["t"] for step in chapter["steps"]]
    assert trials == sorted(set(trials))
    total = run_of(chapter).arrays["row"].size
    assert total - trials[-1] in (0, 4), "the last step shows the end, or the epoch before it"


@each
def test_a_prediction_is_asked_for_where_a_row_is_presented(chapter):
    rows = run_of(chapter).arrays["row"]
    for step in chapter["steps"]:
        assert not step.get("predict") or (step["t"] >= 1 and rows[step["t"] - 1] >= 0)


def test_numbers_in_the_answers_are_true():
    assert run_of(CHAPTERS[3]).about["bound"] == 55
    assert frames(Scene.from_query("data=and")).about["bound"] == 51
    from_zero = frames(Scene.from_query("data=and")).arrays["mistake"] & MISTAKE
    assert from_zero.sum() == 18
    one_by_one = frames(Scene.from_query("data=or")).arrays["mistake"] & MISTAKE
    assert one_by_one.sum() == 9
    assert run_of(CHAPTERS[2]).about["ending"] == "cycle"


def test_there_is_a_chapter_for_each_lecture_and_the_page_can_read_it():
    found = chapters()
    assert [one["number"] for one in found] == [1, 2, 3, 4, 5]
    assert len({one["lecture"] for one in found}) == 5
    for one in found:
        assert one["question"].endswith("?")
        assert one["answer"].endswith(".")
        assert one["scene"]["data"] in DATA
        assert one["scene"]["learner"] in learner_names()
        for step in one["steps"]:
            assert {"t", "sentences", "predict"} == step.keys()
            assert not any("{" in sentence for sentence in step["sentences"])
