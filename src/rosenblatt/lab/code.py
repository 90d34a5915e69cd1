"""The Python that gives the weights on the screen, bit for bit: at most fifteen lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.lab.scene import Scene

MOST_LINES = 15


def python_of(scene: Scene, t: int) -> str:
    """Return a program that repeats a scene up to a trial, in a process that knows nothing of the lab's page.

    Parameters
    ----------
    scene : Scene
    t : int
        The trial; 0: before the first.

    Returns
    -------
    str
        It leaves the weights in `w` and the biases in `b`, a row for each problem.
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
    """Return imports and statements that make X and y."""
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
    """Return imported names and statements that map X."""
    if scene.features == "quadratic":
        pairs = "i, j = np.triu_indices(X.shape[1])"
        return [], [pairs, "X = np.hstack([X, X[:, i] * X[:, j]])  # squares and products"]
    if scene.features == "units":
        units = f"AssociationUnits(n_units={scene.units}, random_state={scene.seed})"
        return ["AssociationUnits"], [f"X = {units}.fit(X).transform(X)"]
    return [], []


def _weights(scene: Scene, learner: str, t: int) -> list[str]:
    """Return statements that learn, and take the weights of a trial."""
    if not scene.traits.trials:
        return [f"model = {learner}.fit(X, y)", "w, b = model.coef_, model.intercept_"]
    record = f"run = record({learner}, X, y)"
    if t <= 0:
        return [record, "w, b = run.W[0], run.b[0]  # before the first trial"]
    return [record, f"state = run.at[{t} - 1]  # after trial {t}", "w, b = run.W[state], run.b[state]"]


def _short(value: Any) -> str:
    """Return a number as short as it can be read back without loss."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
