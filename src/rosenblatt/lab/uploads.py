"""Points from a table that the user pastes or opens, read by `rosenblatt.files`."""

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
from rosenblatt.lab.catalogue import LARGEST, MAX_POINTS
from rosenblatt.lab.scene import MAX_CLASSES, MAX_COLUMNS
from rosenblatt.text import count, short_repr

MAX_TABLE_BYTES = 5_000_000
MAX_HEADER_CHARACTERS = 10_000


def points_of_text(text: Any, label: Any = None) -> dict[str, Any]:
    """Return the points of a table, with the names of its columns and classes.

    Parameters
    ----------
    text : str
        Lines of numbers and a label, separated by commas, semicolons or tabs.
    label : str or None
        Name of the label column. By default it is found by its name, or is the last.

    Raises
    ------
    InvalidInput
        If the text is not such a table, or has too many points.
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("The table has no text. Paste lines of numbers with a label at the end.")
    content = text.encode("utf-8", "replace")
    if len(content) > MAX_TABLE_BYTES:
        raise InvalidInput(f"The table has {len(content)} bytes; the limit is {MAX_TABLE_BYTES}. Use fewer rows.")
    if label is not None and not isinstance(label, str):
        raise InvalidInput(f"label={short_repr(label)} is not the name of a column. Pass a string.")
    # The readers need a file: they are made for data larger than memory.
    with tempfile.TemporaryDirectory(prefix="rosenblatt-lab-") as folder:
        path = os.path.join(folder, "table.csv")
        with open(path, "wb") as file:
            file.write(content)
        return points_of_file(path, label, name="The table")


def points_of_file(path: Any, label: str | None = None, *, name: str | None = None) -> dict[str, Any]:
    """Return the points of a data file, as `points_of_text` does.

    Parameters
    ----------
    path : path-like
    label : str or None
    name : str or None
        Name of the file in messages.
    """
    title = name or str(path)
    try:
        source = open_source(path, label=_label_beside_y(path) if label is None else label)
        chunks = list(source)
    except InvalidInput as error:
        raise InvalidInput(str(error).replace(str(path), title).replace(" with --on-error skip", "")) from None
    if not chunks:
        raise InvalidInput(f"{title} has no rows. Pass at least one row of each of two classes.")
    if not source.reading.numeric:
        raise InvalidInput(f"{title} has columns that are not numbers. Leave them out, or convert them.")
    if source.problems.missing:
        raise InvalidInput(f"{title} has no number {_first_missing(source)}. Fill it in, or leave the row out.")
    whole = joined(chunks)
    matrix = whole.table.matrix()
    X = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
    classes, number = np.unique(np.asarray(whole.label), return_inverse=True)
    _check_size(title, X, classes.size)
    names = list(source.names or ())
    if _is_nameless(names):
        names = [f"x{j}" for j in range(1, X.shape[1] + 1)]
    labels = [_label(one) for one in classes.tolist()]
    points = [[*row, int(k)] for row, k in zip(X.tolist(), number.tolist(), strict=True)]
    sizes = f"{count(len(points), 'point')}, {count(X.shape[1], 'feature')}, {count(classes.size, 'class', 'classes')}"
    sentence = f"{title}: {sizes}."
    if X.shape[1] != 2:
        sentence += " Only points with two features can be drawn in the plane; here, weights and trials are shown."
    return {"points": points, "names": names, "classes": labels, "sentence": sentence}


def _first_missing(source: Any) -> str:
    """Return the row and the column of the first missing number."""
    numbers = [column.name for column in source.reading.columns if column.kind == "number"]
    for row, record in enumerate(Records(source), 1):
        for name in numbers:
            if name not in record:
                return f"in row {row} of column {int(name) + 1 if _is_nameless(numbers) else repr(name)}"
    raise AssertionError("no value is missing")


def _is_nameless(names: Any) -> bool:
    """Return whether columns have no names but their numbers from 0, as in a table without a header."""
    numbers = set(map(str, range(len(names) + 1)))  # one of them is the label
    return numbers.issuperset(names)


def _label_beside_y(path: Any) -> str | None:
    """Return the last column of a table with columns x and y before it: there y is a coordinate, not a label."""
    try:
        with open(path, encoding="utf-8") as file:
            names = [name.strip().strip("\"'") for name in re.split("[,;\t]", file.readline(MAX_HEADER_CHARACTERS))]
    except (OSError, ValueError):  # the readers report the fault, or decompress the file
        return None
    return names[-1] if {"x", "y"} <= {name.lower() for name in names[:-1]} else None


def _check_size(title: str, X: Any, n_classes: int) -> None:
    if len(X) > MAX_POINTS:
        raise InvalidInput(f"{title} has {len(X)} rows, but the lab shows at most {MAX_POINTS}. Use some of them.")
    if not 1 <= X.shape[1] <= MAX_COLUMNS:
        raise InvalidInput(f"{title} has {X.shape[1]} features; the lab takes 1 to {MAX_COLUMNS}. Choose two columns.")
    if not 2 <= n_classes <= MAX_CLASSES:
        number = count(n_classes, "class", "classes")
        raise InvalidInput(f"{title} has {number}; the lab takes 2 to {MAX_CLASSES}. Is the label in the last column?")
    if not np.isfinite(X).all() or np.abs(X).max() > LARGEST:
        raise InvalidInput(f"{title} has values beyond {LARGEST:g}, or infinite ones. Scale them, or leave them out.")


def _label(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
