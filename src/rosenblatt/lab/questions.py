"""What a page may ask, whoever carries the question: a server, or the kernel of a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.catalogue import one_of
from rosenblatt.lab.code import python_of
from rosenblatt.lab.frames import frames, surface, trace_table
from rosenblatt.lab.scene import Scene
from rosenblatt.lab.theory import drawn_certificate
from rosenblatt.lab.uploads import points_of_text
from rosenblatt.text import short_repr

MAX_TRIAL = 10_000_000

Body = dict[str, Any]


def trial_of(body: Body) -> int:
    """Return the trial that a question is about; raise InvalidInput if it is none."""
    t = body.get("t", 0)
    if isinstance(t, bool) or not isinstance(t, int) or not 0 <= t <= MAX_TRIAL:
        raise InvalidInput(f"t={short_repr(t)} is no trial: pass a whole number from 0.")
    return t


_ANSWERS: dict[str, Callable[[Body], bytes | str | dict[str, Any]]] = {
    "run": lambda body: frames(Scene.from_dict(body)).to_bytes(),
    "certificate": lambda body: drawn_certificate(Scene.from_dict(body)),
    "surface": lambda body: surface(Scene.from_dict(body), trial_of(body), body.get("way", "vote")).to_bytes(),
    "table": lambda body: points_of_text(body.get("text"), body.get("label")),
    "code": lambda body: python_of(Scene.from_dict(body), trial_of(body)),
    "trace": lambda body: trace_table(Scene.from_dict(body)),
}
KINDS = tuple(_ANSWERS)


def answer(kind: str, body: Body) -> bytes | str | dict[str, Any]:
    """Return the answer to a question: arrays as bytes, text, or plain values.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    body : dict
        As the page wrote it; nothing in it is trusted.

    Raises
    ------
    InvalidInput
        With a sentence for whoever asked.
    """
    return _ANSWERS[one_of("question", kind, KINDS)](body)
