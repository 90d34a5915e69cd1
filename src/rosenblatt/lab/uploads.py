"""Points from a table that somebody pastes or loads, by the package's own readers."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.files.chunks import joined
from rosenblatt.files.opening import open_source
from rosenblatt.files.records import Records
from rosenblatt.lab.catalogue import MAX_POINTS
from rosenblatt.lab.scene import LARGEST, MAX_CLASSES, MAX_COLUMNS
from rosenblatt.text import count, short_repr

MAX_TABLE_BYTES = 5_000_000
MAX_HEADER_CHARACTERS = 10_000


def points_of_text(text: Any, label: Any = None) -> dict[str, Any]:
    """Return the points of a table in text, with the names of its columns and classes.

    Parameters
    ----------
    text : str
        Lines of numbers and a label, parted by commas, semicolons or tabs.
    label : str or None
        Name of the column with the labels; None: one that is called so, or the last.

    Raises
    ------
    InvalidInput
        If there are no such points in it, or too many.
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("There is no text in the table. Paste lines of numbers with a label at the end.")
    content = text.encode("utf-8", "replace")
    if len(content) > MAX_TABLE_BYTES:
        raise InvalidInput(f"The table has {len(content)} bytes, of at most {MAX_TABLE_BYTES}. Take fewer rows.")
    if label is not None and not isinstance(label, str):
        raise InvalidInput(f"label={short_repr(label)} is not the name of a column.")
    # The readers take files: they are made for data that no memory holds.
    with tempfile.TemporaryDirectory(prefix="rosenblatt-lab-") as folder:
        path = os.path.join(folder, "table.csv")
        with open(path, "wb") as file:
            file.write(content)
        return points_of_file(path, label, name="The table")


def points_of_file(path: Any, label: str | None = None, *, name: str | None = None) -> dict[str, Any]:
    """Return the points of a data file; see `points_of_text`.

    Parameters
    ----------
    path : path-like
    label : str or None
    name : str or None
        What to call the file in messages.
    """
    called = name or str(path)
    try:
        source = open_source(path, label=_label_beside_y(path) if label is None else label)
        chunks = list(source)
    except InvalidInput as error:
        raise InvalidInput(str(error).replace(str(path), called)) from None
    if not chunks:
        raise InvalidInput(f"{called} has no rows. Pass at least one row of each of two classes.")
    if not source.reading.numeric:
        raise InvalidInput(f"{called} has columns that are not numbers. Leave them out, or turn them into numbers.")
    if source.problems.missing:
        raise InvalidInput(f"{called} has no number {_first_missing(source)}. Fill it in, or leave the row out.")
    whole = joined(chunks)
    matrix = whole.table.matrix()
    X = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
    classes, number = np.unique(np.asarray(whole.label), return_inverse=True)
    _check_size(called, X, classes.size)
    names = list(source.names or [f"x{j}" for j in range(1, X.shape[1] + 1)])
    points = [[*row, int(k)] for row, k in zip(X.tolist(), number.tolist(), strict=True)]
    shown_classes = [_label(one) for one in classes.tolist()]
    sizes = f"{count(len(points), 'point')}, {count(X.shape[1], 'feature')}, {count(classes.size, 'class', 'classes')}"
    sentence = f"{called}: {sizes}."
    if X.shape[1] != 2:
        sentence += " Only points with two features can be drawn in the plane; weights and trials are shown."
    return {"points": points, "names": names, "classes": shown_classes, "sentence": sentence}


def _first_missing(source: Any) -> str:
    """Return where a number is missing: as 0, it would be a point that nobody has measured."""
    numbers = [column.name for column in source.reading.columns if column.kind == "number"]
    for row, record in enumerate(Records(source), 1):
        for name in numbers:
            if name not in record:
                return f"in row {row} of column {name!r}"
    raise AssertionError("a value is missing that is there")


def _label_beside_y(path: Any) -> str | None:
    """Return the last column of a table of x, y and something else: y is a coordinate there, and no label."""
    try:
        with open(path, encoding="utf-8") as file:
            names = [name.strip().strip("\"'") for name in re.split("[,;\t]", file.readline(MAX_HEADER_CHARACTERS))]
    except (OSError, ValueError):  # the readers say what is wrong, or unpack it
        return None
    return names[-1] if {"x", "y"} <= {name.lower() for name in names[:-1]} else None


def _check_size(called: str, X: Any, n_classes: int) -> None:
    if len(X) > MAX_POINTS:
        raise InvalidInput(f"{called} has {len(X)} rows, and the lab shows at most {MAX_POINTS}. Take a part of them.")
    if not 1 <= X.shape[1] <= MAX_COLUMNS:
        raise InvalidInput(f"{called} has {X.shape[1]} features; the lab takes 1 to {MAX_COLUMNS}. Choose two columns.")
    if not 2 <= n_classes <= MAX_CLASSES:
        found = count(n_classes, "class", "classes")
        raise InvalidInput(f"{called} has {found}; the lab takes 2 to {MAX_CLASSES}. Is the label in the last column?")
    if not np.isfinite(X).all() or np.abs(X).max() > LARGEST:
        raise InvalidInput(f"{called} has values beyond {LARGEST:g}, or none at all. Scale them, or leave them out.")


def _label(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
