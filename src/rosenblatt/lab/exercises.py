"""Exercises that the lab checks by itself: change the scene until a number of the run reaches a goal.

The page compares the run with the goal, and the rest of the scene with the exercise. What a student hands in is the
address of the page: whoever opens it sees the same run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OR_POINTS = [[0.0, 0.0, 0], [1.0, 0.0, 1], [0.0, 1.0, 1], [1.0, 1.0, 1]]
XOR_POINTS = [[0.0, 0.0, 0], [1.0, 0.0, 1], [0.0, 1.0, 1], [1.0, 1.0, 0]]


@dataclass(frozen=True)
class Exercise:
    """An exercise of a lecture, with the scene that it starts from and a scene that solves it."""

    name: str  # in addresses
    lecture: int
    text: str
    scene: dict[str, Any]
    may_change: str  # the part of the scene that may be changed: "start", "points", "features" or "params"
    measure: str  # a number of the run: "updates", "bound", "gamma"
    goal: float
    solution: dict[str, Any]  # the changed part of a scene that reaches the goal; the page does not have it
    least: bool = True  # whether the number must be at least the goal, or at most
    points: int = 0  # that may be added or moved
    length: float = 0.0  # of the start, at most; 0: any

    def described(self) -> dict[str, Any]:
        """Return the exercise as JSON values for the page."""
        return {key: value for key, value in vars(self).items() if key != "solution"}


PERCEPTRON = {"learner": "Perceptron", "order": "cyclic"}

EXERCISES = (
    Exercise(
        "or-start",
        1,
        "Drag the start w, at most 3 from the origin, so that OR takes at least 16 updates. From zero it takes 9.",
        {"data": "or", **PERCEPTRON},
        "start",
        "updates",
        16,
        {"start": [-1.0, -2.0, 2.0]},
        length=3.0,
    ),
    Exercise(
        "or-batch",
        2,
        "All misclassified points of OR are added together. Find a start from which two updates are enough, and one "
        "is needed.",
        {"data": "or", "learner": "Perceptron", "params": {"batch": True}},
        "start",
        "updates",
        2,
        {"start": [2.0, 2.0, 1.0]},
        least=False,
    ),
    Exercise(
        "xor-move",
        3,
        "Move one point of XOR so that a line separates the classes with a margin gamma of at least 0.3.",
        {"data": "points", "points": XOR_POINTS, **PERCEPTRON},
        "points",
        "gamma",
        0.3,
        {"points": [*XOR_POINTS[:3], [-1.0, -1.0, 0]]},
        points=1,
    ),
    Exercise(
        "or-bound",
        4,
        "Add one point to OR so that the bound (R/gamma)^2 at least doubles, from 27 to 54, and the run still ends "
        "without a mistake.",
        {"data": "points", "points": OR_POINTS, **PERCEPTRON},
        "points",
        "bound",
        54,
        {"points": [*OR_POINTS, [0.3, 0.3, 1]]},
        points=1,
    ),
    Exercise(
        "circle-map",
        5,
        "No line separates the circle. Choose a feature map under which the perceptron ends after at most 20 updates.",
        {"data": "circle", **PERCEPTRON},
        "features",
        "updates",
        20,
        {"features": "quadratic"},
        least=False,
    ),
    Exercise(
        "xor-kernel",
        5,
        "With the kernel (1 + x.z)^2 XOR takes 21 updates. Choose a kernel with which it takes at most 4.",
        {"data": "xor", "learner": "KernelPerceptron", "order": "cyclic", "params": {"kernel": "quadratic"}},
        "params",
        "updates",
        4,
        {"params": {"kernel": "rbf"}},
        least=False,
    ),
)


def exercises() -> list[dict[str, Any]]:
    """Return the exercises as JSON values for the page."""
    return [exercise.described() for exercise in EXERCISES]
