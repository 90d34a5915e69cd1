"""What a page may ask, whoever carries the question: a server, or the kernel of a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.catalogue import one_of
from rosenblatt.lab.code import python_of
from rosenblatt.lab.frames import frames, surface, trace_table
from rosenblatt.lab.scene import Scene
from rosenblatt.lab.theory import drawn_certificate
from rosenblatt.lab.uploads import points_of_text
from rosenblatt.words import shown

MAX_TRIAL = 10_000_000

Body = dict[str, Any]


def trial_of(body: Body) -> int:
    """Return the trial that a question is about; raise InvalidInput if it is none."""
    t = body.get("t", 0)
    if isinstance(t, bool) or not isinstance(t, int) or not 0 <= t <= MAX_TRIAL:
        raise InvalidInput(f"t={shown(t)} is no trial: pass a whole number from 0.")
    return t


def points_in(scene: Scene) -> Body:
    """Return the points of a scene, which need nothing compiled: each row with the number of its class last."""
    X, y = scene.rows()
    classes, label = np.unique(y, return_inverse=True)
    points = [[*row, int(c)] for row, c in zip(X.tolist(), label, strict=True)]
    return {"points": points, "classes": [str(name) for name in classes], "names": list(scene.columns())}


_ANSWERS: dict[str, Callable[[Body, bool], bytes | str | dict[str, Any]]] = {
    "points": lambda body, _: points_in(Scene.from_dict(body)),
    "run": lambda body, proofs: frames(Scene.from_dict(body), proofs=proofs).to_bytes(),
    "certificate": lambda body, _: drawn_certificate(Scene.from_dict(body)),
    "surface": lambda body, _: surface(Scene.from_dict(body), trial_of(body), body.get("way", "vote")).to_bytes(),
    "table": lambda body, _: points_of_text(body.get("text"), body.get("label")),
    "code": lambda body, _: python_of(Scene.from_dict(body), trial_of(body)),
    "trace": lambda body, _: trace_table(Scene.from_dict(body)),
}
KINDS = tuple(_ANSWERS)


def answer(kind: str, body: Body, *, proofs: bool = True) -> bytes | str | dict[str, Any]:
    """Return the answer to a question: arrays as bytes, text, or plain values.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    body : dict
        As the page wrote it; nothing in it is trusted.
    proofs : bool
        Whether a run is to know its margin and its bound.

    Raises
    ------
    InvalidInput
        With a sentence for whoever asked.
    """
    return _ANSWERS[one_of("question", kind, KINDS)](body, proofs)
