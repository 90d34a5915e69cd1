"""The chapters of the tour, one for each of the five lectures.

Numbers in a sentence are placeholders, with their values in fields next to it; the tests compare these values with what
the engine records.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    """A step of a chapter: a trial, the text about it, and the numbers that the engine must have recorded.

    Attributes
    ----------
    t : int
        The trial.
    sentences : tuple of str
        With placeholders {mistakes} and {w}.
    mistakes : int
        Mistakes up to and including the trial.
    w : tuple of float
        The weights after it, the bias last; for a kernel learner the coefficients of the rows.
    predict : bool
        Ask the reader for a prediction first.
    """

    t: int
    sentences: tuple[str, ...]
    mistakes: int
    w: tuple[float, ...]
    predict: bool = False

    def described(self) -> dict[str, Any]:
        """Return the step as JSON values for the page."""
        w = f"({', '.join(f'{value:g}' for value in self.w)})"
        sentences = [text.format(mistakes=self.mistakes, w=w) for text in self.sentences]
        return {"t": self.t, "sentences": sentences, "predict": self.predict}


@dataclass(frozen=True)
class Chapter:
    """A chapter of the tour.

    Attributes
    ----------
    number : int
    title, lecture : str
    sentences : tuple of str
        The introduction.
    question, answer : str
    scene : dict
    steps : tuple of Step
    hide : tuple of str
        Controls to hide.
    view : str
        View of weight space.
    """

    number: int
    title: str
    lecture: str
    sentences: tuple[str, ...]
    question: str
    answer: str
    scene: dict[str, Any]
    steps: tuple[Step, ...]
    hide: tuple[str, ...] = ()
    view: str = "sphere"
    t: int = field(default=0)

    def described(self) -> dict[str, Any]:
        """Return the chapter as JSON values for the page."""
        plain = asdict(self) | {"steps": [step.described() for step in self.steps]}
        return plain | {"sentences": list(self.sentences), "hide": list(self.hide)}


CHAPTERS = (
    Chapter(
        1,
        "A mistake moves the line",
        "Perceptron: Single Layer Neural Network",
        (
            "A perceptron scores a point by f(x) = w.x + b and predicts the side by the sign.",
            "It sees one point at a time. If y f(x) <= 0, the point is on the wrong side, or on the line, and then "
            "w moves by y x and b by y. Otherwise nothing happens.",
            "Here are the four points of OR. The weights are zero, so there is no line yet.",
        ),
        "Why is the very first trial a mistake, although the weights are still zero?",
        "With w = 0 and b = 0 every score is 0. A score of 0 is a tie, and a tie counts as a mistake: otherwise the "
        "weights would stay at zero forever.",
        {"data": "or", "learner": "Perceptron", "order": "cyclic"},
        (
            Step(
                1,
                (
                    "x1 = (0, 0) is negative. Its score is 0, a tie: mistake {mistakes}.",
                    "Subtracting x1 changes no weight, since x1 is zero. Only the bias falls: (w, b) = {w}. With zero "
                    "weights there is still no line.",
                ),
                1,
                (0, 0, -1),
            ),
            Step(
                2,
                (
                    "x2 = (1, 0) is positive and gets -1: mistake {mistakes}. Adding it gives (w, b) = {w}.",
                    "Now there is a line, and x2 is on its right side.",
                ),
                2,
                (1, 0, 0),
                True,
            ),
            Step(
                4,
                ("x4 gets a score of 3, which is correct: nothing changes. The first epoch had {mistakes} mistakes.",),
                3,
                (1, 1, 1),
                True,
            ),
            Step(
                9,
                (
                    "x1 again: its score is just the bias, so it stays a mistake until b is below zero.",
                    "{mistakes} mistakes so far, and (w, b) = {w}.",
                ),
                5,
                (1, 1, -1),
                True,
            ),
            Step(
                24,
                (
                    "An epoch without a mistake: it has converged, after {mistakes} mistakes, at (w, b) = {w}.",
                    "The line 2 x[1] + 2 x[2] = 1 separates OR, where x[1] and x[2] are the coordinates of a point. "
                    "Now drag a point, and watch a new run.",
                ),
                9,
                (2, 2, -1),
            ),
        ),
        ("race", "settings"),
    ),
    Chapter(
        2,
        "Downhill on a loss",
        "Perceptron: Loss Function Minimisation",
        (
            "The number of mistakes is a poor thing to descend on: it is flat almost everywhere, and jumps.",
            "The perceptron's loss is max(0, -y f(x)), summed over the points. Its gradient, where it exists, is minus "
            "the sum of y x over the misclassified points.",
            "A step against the gradient is the batch perceptron: one update per epoch, by all misclassified points "
            "together. Each step of this chapter is such an epoch.",
        ),
        "At zero weights the loss is zero, its minimum. Why does the algorithm not stop there?",
        "The loss of a tie is max(0, 0) = 0, so zero weights have no loss and are useless: every point is a tie. The "
        "algorithm counts ties as mistakes and leaves. Losses with a margin, such as the hinge max(0, 1 - y f(x)), "
        "have no such hole: try the soft margin.",
        {"data": "or", "learner": "Perceptron", "params": {"batch": True}},
        (
            Step(
                1,
                (
                    "All four points are ties. Their sum, with signs, is (2, 2) and 2 for the bias: (w, b) = {w}.",
                    "Now only x1 is wrong, and the loss is 2.",
                ),
                1,
                (2, 2, 2),
            ),
            Step(2, ("x1 alone is corrected, and the bias falls to 1: (w, b) = {w}.",), 2, (2, 2, 1)),
            Step(3, ("Once more: (w, b) = {w}. The loss is 0, but x1 is on the line: a tie.",), 3, (2, 2, 0)),
            Step(
                5,
                (
                    "{mistakes} batch updates were enough, where one point at a time took nine. Each of them looked "
                    "at all points, though. The weights are the same: (w, b) = {w}.",
                ),
                4,
                (2, 2, -1),
            ),
        ),
        ("race", "order"),
        "plane",
    ),
    Chapter(
        3,
        "When no line will do",
        "CS480/680: Introduction to Machine Learning, Lecture 2: Perceptron",
        (
            "If some line separates the classes with margin gamma, and no point (x, 1) is longer than R, the "
            "perceptron makes at most (R/gamma)^2 mistakes, in any order.",
            "XOR has no such line. The theorem does not apply, and the perceptron does not stop by itself.",
        ),
        "The weights stay bounded although the algorithm never stops. What does it do, and what does that prove?",
        "After one epoch of four mistakes the weights are back at zero, so everything repeats forever. In between, "
        "each point was added once with its sign, and the sum was zero: the mean of the positive points is the mean "
        "of the negative ones, (1/2, 1/2). No line has the same point on both sides. Press 'Prove it' to see this.",
        {"data": "xor", "learner": "Perceptron", "order": "cyclic"},
        (
            Step(1, ("As for OR: x1 is a tie, mistake {mistakes}. (w, b) = {w}.",), 1, (0, 0, -1), True),
            Step(3, ("{mistakes} mistakes, and (w, b) = {w}: still exactly as for OR.",), 3, (1, 1, 1), True),
            Step(
                4,
                (
                    "x4 = (1, 1) is negative here and gets 3: mistake {mistakes}. Subtracting it gives (w, b) = {w}.",
                    "That is where we began: from here it would repeat for ever. Step on, and watch it go round.",
                ),
                4,
                (0, 0, 0),
                True,
            ),
        ),
        ("race", "settings"),
    ),
    Chapter(
        4,
        "Pattern space and weight space",
        "Linear Classification (Pattern Classification, chapter 5)",
        (
            "On the left, weights are a line among points. On the right, it is the other way round: weights are a "
            "point, and each example is a plane through the origin that cuts the good weights from the bad.",
            "All good weights together are a cone. On the sphere of directions it is the patch, without its rim.",
            "This is AND, and the run starts from weights that are wrong on purpose.",
        ),
        "The theorem holds from any start. What does a bad start cost?",
        "The bound becomes |a - alpha a*|^2 / R^2 with the start a: from here at most 55 mistakes, where from zero it "
        "is 51. Nineteen are made; from zero it would be eighteen. Drag w elsewhere, and the bound is updated.",
        {"data": "and", "learner": "Perceptron", "order": "cyclic", "start": [-1.0, 2.0, 1.0]},
        (
            Step(
                0,
                ("(w, b) = {w}. In weight space that is a point far outside the patch of the solutions.",),
                0,
                (-1, 2, 1),
            ),
            Step(
                1,
                (
                    "x1 = (0, 0) is on the wrong side. The update moves the weights straight across the plane of x1, "
                    "or at least towards it: (w, b) = {w}.",
                ),
                1,
                (-1, 2, 0),
                True,
            ),
            Step(
                4,
                ("After an epoch: {mistakes} mistakes, (w, b) = {w}. The direction has turned towards the patch.",),
                3,
                (0, 2, 0),
            ),
            Step(
                32,
                (
                    "Inside: {mistakes} mistakes in eight epochs, (w, b) = {w}, and a ninth without any.",
                    "Another order or start ends elsewhere in the patch. Only the largest margin is unique.",
                ),
                19,
                (2, 3, -4),
            ),
        ),
        ("race",),
    ),
    Chapter(
        5,
        "Kernels",
        "Perceptron and Kernelization",
        (
            "The weights are a sum of mistaken points, so f(x) needs nothing but inner products with them. Replace "
            "these by a kernel, here (1 + x.z)^2, and the perceptron runs in a space with squares and products.",
            "It learns counts: how often each point was a mistake. This is XOR again.",
        ),
        "No line separates XOR. Why does this run end?",
        "In the space of the kernel there is the coordinate x[1] x[2], and with it a plane separates XOR. In the "
        "picture "
        "that plane is a curve. More kernels separate more: with the Gaussian, any distinct points under any labels. "
        "So the end of the run says nothing about new points, but a small number of mistakes does.",
        {
            "data": "xor",
            "learner": "KernelPerceptron",
            "params": {"kernel": "quadratic", "fit_intercept": False},
            "order": "cyclic",
        },
        (
            Step(
                4,
                (
                    "The first epoch: {mistakes} mistakes, one on each point, and the counts with their signs are {w}.",
                    "The linear perceptron was back at zero here. This f is not zero.",
                ),
                4,
                (-1, 1, 1, -1),
            ),
            Step(
                20,
                ("x4 is correct for the first time, after {mistakes} mistakes. The counts are {w}.",),
                19,
                (-5, 5, 5, -4),
                True,
            ),
            Step(
                32,
                ("An epoch without a mistake, after {mistakes}: the counts are 7, 5, 5, 4, with signs {w}.",),
                21,
                (-7, 5, 5, -4),
            ),
        ),
        ("race",),
        "slice",
    ),
)


def chapters() -> list[dict[str, Any]]:
    """Return the chapters as JSON values for the page."""
    return [chapter.described() for chapter in CHAPTERS]
