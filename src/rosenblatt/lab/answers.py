"""The answers to a page's questions, for the server and for notebooks; among them the Python code of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.catalogue import DEGREES, one_of
from rosenblatt.lab.frames import frames, surface
from rosenblatt.lab.scene import Scene
from rosenblatt.lab.theory import proof_of
from rosenblatt.lab.uploads import points_of_text
from rosenblatt.text import short_repr

MAX_TRIAL = 10_000_000
VIEWS = ("sphere", "slice", "plane")

Body = dict[str, Any]

_ANSWERS: dict[str, Callable[[Body], bytes | str | dict[str, Any]]] = {
    "run": lambda body: frames(Scene.from_dict(body)).to_bytes(),
    "certificate": lambda body: proof_of(Scene.from_dict(body)),
    "surface": lambda body: surface(Scene.from_dict(body), trial_of(body), body.get("way", "vote")).to_bytes(),
    "table": lambda body: points_of_text(body.get("text"), body.get("label")),
    "code": lambda body: python_of(Scene.from_dict(body), trial_of(body)),
    "page": lambda body: page_of(body),
}


def answer(kind: str, body: Body) -> bytes | str | dict[str, Any]:
    """Return the answer to a question: arrays as bytes, text, or plain values.

    Parameters
    ----------
    kind : {"run", "certificate", "surface", "table", "code", "page"}
    body : dict
        From the page; every value is checked.

    Raises
    ------
    InvalidInput
        If the kind of question is unknown, or a value is invalid.
    """
    return _ANSWERS[one_of("question", kind, _ANSWERS)](body)


def trial_of(body: Body) -> int:
    """Return the trial that a question is about; raise `InvalidInput` if it is not a trial."""
    t = body.get("t", 0)
    if isinstance(t, bool) or not isinstance(t, int) or not 0 <= t <= MAX_TRIAL:
        raise InvalidInput(f"t={short_repr(t)} is not a trial. Pass an integer from 0 to {MAX_TRIAL}.")
    return t


def look_of(body: Body) -> dict[str, Any]:
    """Return how a page looks at a scene: the trial, and the view of weight space."""
    return {"t": trial_of(body), "view": one_of("view", body.get("view", VIEWS[0]), VIEWS)}


def page_of(body: Body) -> str:
    """Return the lab as one HTML file that opens with a scene."""
    # Imported here: it imports the code of a run from this module.
    from rosenblatt.lab.page import lab_file

    return lab_file(Scene.from_dict(body), look_of(body))


def read_scene(path: Path) -> tuple[Scene, dict[str, Any]]:
    """Return the scene in a file that the lab has saved, and how to look at it.

    Raises
    ------
    InvalidInput
        If the file is not a scene.
    """
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # JSON, or the encoding
        raise InvalidInput(f"{path} is not a scene of the lab ({error}). Export one as scene.json.") from None
    scene = Scene.from_dict(body)
    return scene, look_of(body)


# ---------------------------------------------------------------------------------------------------------------- code


def python_of(scene: Scene, t: int) -> str:
    """Return a Python program of at most fifteen lines that gives the weights after a trial.

    They are exact on whole numbers; elsewhere the last digits may differ, as the program learns from dense rows, whose
    sums a processor may round in its own way.

    Parameters
    ----------
    scene : Scene
    t : int
        The trial; 0 is before the first.

    Returns
    -------
    str
        The program sets `w` to the weights and `b` to the biases, with a row for each problem.
    """
    X, y = scene.rows()
    Z = scene.mapped(X)[0]
    arguments = ", ".join(f"{name}={value!r}" for name, value in scene.arguments(Z, np.unique(y).size).items())
    learner = f"{scene.learner}({arguments})"
    imports, data = _data(scene)
    extra, features = _features(scene)
    own = scene.traits.rule == "own"
    names = [*([] if own else [scene.learner]), *extra, *(["record"] if scene.traits.trials else [])]
    head = [f"from rosenblatt import {', '.join(sorted(names, key=str.lower))}", *imports]
    if own:
        head.append(f"# and {scene.learner}, as you have defined it")
    if any("np." in line for line in [*data, *features]):
        head.insert(0, "import numpy as np")
    return "\n".join([*head, "", *data, *features, *_weights(scene, learner, t), "print(w, b)"]) + "\n"


def _data(scene: Scene) -> tuple[list[str], list[str]]:
    """Return the imports and the statements that create X and y."""
    if scene.data == "points":
        rows = ", ".join(f"({', '.join(map(_short, point))})" for point in scene.points)
        return [], [f"points = np.array([{rows}])", "X, y = points[:, :-1], points[:, -1].astype(int)"]
    if scene.data in ("or", "and", "xor"):
        return ["from rosenblatt.datasets import logical"], [f'X, y = logical("{scene.data}")']
    if scene.data == "spam":
        return ["from rosenblatt.datasets import spam"], ["X, y = spam()"]
    controls = "".join(f", {name}={value!r}" for name, value in scene.controls)
    return ["from rosenblatt.lab.catalogue import points_of"], [f'X, y = points_of("{scene.data}"{controls})']


def _features(scene: Scene) -> tuple[list[str], list[str]]:
    """Return the names to import and the statements that map X."""
    if scene.features == "quadratic":
        pairs = "i, j = np.triu_indices(X.shape[1])"
        return [], [pairs, "X = np.hstack([X, X[:, i] * X[:, j]])  # squares and products"]
    if scene.features in ("cubic", "quartic"):
        imports = "from rosenblatt.lab.catalogue import polynomial"
        return [], [imports, f"X = polynomial(X, {DEGREES[scene.features]})"]
    if scene.features == "units":
        units = f'AssociationUnits(units="step", n_units={scene.units}, random_state={scene.seed})'
        return ["AssociationUnits"], [f"X = {units}.fit(X).transform(X)"]
    return [], []


def _weights(scene: Scene, learner: str, t: int) -> list[str]:
    """Return the statements that learn, and take the weights after a trial."""
    if not scene.traits.trials:
        return [f"model = {learner}.fit(X, y)", "w, b = model.coef_, model.intercept_"]
    record = f"run = record({learner}, X, y)"
    if t <= 0:
        return [record, "w, b = run.W[0], run.b[0]  # before the first trial"]
    return [record, f"state = run.at[{t} - 1]  # after trial {t}", "w, b = run.W[state], run.b[state]"]


def _short(value: Any) -> str:
    """Return the shortest text that reads back as the same number."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
