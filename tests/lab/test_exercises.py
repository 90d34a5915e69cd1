"""Exercises of the lab: each can be solved, and is not solved as it is given."""

import numpy as np
import pytest

from rosenblatt.lab.exercises import EXERCISES
from rosenblatt.lab.frames import frames
from rosenblatt.lab.scene import Scene


def measured(scene, name):
    """Return the number of a run and how it ended."""
    run = frames(Scene.from_dict(scene))
    numbers = {"updates": np.count_nonzero(run.arrays["mistake"] & 2), **run.about}
    return numbers[name], run.about["ending"]


def reached(exercise, scene):
    value, ending = measured(scene, exercise.measure)
    if value is None or ending != "separated":
        return False
    return value >= exercise.goal if exercise.least else 0 < value <= exercise.goal


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one.name)
def test_an_exercise_has_a_solution_that_keeps_its_rules(exercise):
    assert not reached(exercise, exercise.scene)
    assert reached(exercise, exercise.scene | exercise.solution)
    assert set(exercise.solution) == {exercise.may_change}
    if exercise.length:
        assert np.linalg.norm(exercise.solution["start"]) <= exercise.length
    if exercise.points:
        before, after = exercise.scene["points"], exercise.solution["points"]
        assert max(len(before), len(after)) - sum(point in after for point in before) == exercise.points


def test_the_page_does_not_have_the_solutions():
    assert not any("solution" in exercise.described() for exercise in EXERCISES)


def test_the_numbers_that_exercises_name_are_true():
    assert measured({"data": "or", "learner": "Perceptron", "order": "cyclic"}, "updates") == (9, "separated")
    assert measured({"data": "or", "learner": "Perceptron", "order": "cyclic"}, "bound") == (27, "separated")
    kernel = {"learner": "KernelPerceptron", "order": "cyclic", "params": {"kernel": "quadratic"}}
    assert measured({"data": "xor", **kernel}, "updates") == (21, "separated")
