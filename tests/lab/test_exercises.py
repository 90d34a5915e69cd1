"""The exercises that check themselves: open at the start, solved by their solution, as plain Python measures."""

import json
import operator
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from rosenblatt import Perceptron, certify
from rosenblatt.lab.catalogue import exercises
from rosenblatt.lab.scene import Scene

ROOT = Path(__file__).parents[2]
EXERCISES = json.loads((ROOT / "src" / "rosenblatt" / "lab" / "exercises.json").read_text())
PAGE = (ROOT / "docs" / "how-to" / "teaching.md").read_text()
RELATIONS = {"=": operator.eq, ">=": operator.ge, "<=": operator.le}
every = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise["id"])


def run(X, y, start=(0.0, 0.0, 0.0), epochs=1000):
    """The perceptron of the lectures in order: updates, epochs, and the length of its cycle (0 without one)."""
    w, rows, updates, seen = list(start), [(*x, 1.0) for x in X.tolist()], 0, {}
    for epoch in range(epochs):
        if tuple(w) in seen:
            return updates, epoch, epoch - seen[tuple(w)]
        seen[tuple(w)], before = epoch, updates
        for row, sign in zip(rows, y.tolist(), strict=True):
            if sign * sum(a * b for a, b in zip(w, row, strict=True)) <= 0:
                w = [a + sign * b for a, b in zip(w, row, strict=True)]
                updates += 1
        if updates == before:
            return updates, epoch + 1, 0
    return updates, epochs, 0


def points(scene):
    X, y = scene.rows()
    return [(*x, label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]


def measure(scene, first):
    """Every quantity of the checks, for a scene and the one that the exercise began with."""
    X, y = scene.rows()
    sign, now, before = np.where(y == y.max(), 1, -1), points(scene), points(first)
    start = scene.start or (0.0, 0.0, 0.0)
    updates, epochs, cycle = run(X, sign, start, scene.epochs)
    if dict(scene.params).get("batch"):
        epochs = Perceptron(batch=True, max_iter=scene.epochs, tol=None).fit(X, sign).run_.epochs
    proof, mapped = certify(X, y), certify(PolynomialFeatures(2, include_bias=False).fit_transform(X), y)
    moves = [np.hypot(a[0] - b[0], a[1] - b[1]) for a, b in zip(now, before, strict=False)]
    return {
        "points": len(now),
        "distinct": len({point[:2] for point in now}) == len(now),
        "same points": sorted(now) == sorted(before),
        "old points kept": now[: len(before)] == before,
        "moved points": sum(move > 0 for move in moves),
        "distance moved": max(moves),
        "whole numbers up to": float(np.abs(X).max()) if (np.rint(X) == X).all() else np.inf,
        "start up to": max(map(abs, start)) if all(value == round(value) for value in start) else np.inf,
        "updates": updates,
        "mistakes": updates,
        "epochs": epochs,
        "cycle": cycle,
        "separable": proof.verdict == "separable",
        "separable by quadratic features": mapped.verdict == "separable",
        "bound": proof.mistake_bound,
    }


def solved(exercise, query):
    first, scene = Scene.from_query(exercise["scene"]), Scene.from_query(query)
    assert (scene.learner, scene.params) == (first.learner, first.params)
    values = measure(scene, first)
    return all(RELATIONS[relation](values[name], value) for name, relation, value in exercise["check"])


@every
def test_an_exercise_is_open_at_first_and_its_solution_solves_it(exercise):
    assert not solved(exercise, exercise["scene"])
    assert solved(exercise, exercise["solution"])
    assert exercise["result"] in {name for name, _, _ in exercise["check"]}


def test_the_page_does_not_have_the_solutions():
    assert [one["id"] for one in exercises()] == [one["id"] for one in EXERCISES]
    assert not any("solution" in one for one in exercises())


def test_the_page_for_teachers_has_every_exercise_and_quantity():
    assert len({exercise["id"] for exercise in EXERCISES}) == len(EXERCISES)
    for exercise in EXERCISES:
        assert exercise["title"] in PAGE
    for name in {name for exercise in EXERCISES for name, _, _ in exercise["check"]}:
        assert f"| {name} |" in PAGE


def test_the_best_results_that_the_tasks_promise():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([-1, 1, 1, 1])
    assert max(run(X, y, start)[0] for start in product(range(-5, 6), repeat=3)) == 26
    assert run(X, y)[0] == 9
    conjunction = np.array([-1, -1, -1, 1])
    orders = [list(order) for order in permutations(range(4))]
    assert max(run(X[order], conjunction[order])[0] for order in orders) == 22
    assert run(X, conjunction)[0] == 18
    cycle = np.array([[2, 3], [1, 2], [-2, -2], [0, 3], [3, 3], [3, -3]]), np.array([-1, 1, 1, -1, -1, -1])
    assert run(*cycle)[2] == 27
    # Three points are never too much for a quadratic: of three on a line, it can put the middle one apart.
    line = PolynomialFeatures(2).fit_transform([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    assert certify(line, [0, 1, 0]).verdict == "separable"
