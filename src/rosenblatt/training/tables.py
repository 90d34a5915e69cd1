"""Trials as tables for the classroom: numbered rows, weights before and after, as text, Markdown, HTML or LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.markup.elements import table
from rosenblatt.text import count, did_you_mean, in_columns, short_repr
from rosenblatt.training.record import Recording, Trial

Array = npt.NDArray[Any]

FORMS = ("text", "markdown", "html", "latex")
# Features up to which weights are written out.
MAX_WEIGHTS = 8
# Headings of the columns: in text and HTML, and in LaTeX's mathematics.
_COLUMNS = (
    ("t", "$t$"),
    ("epoch", "epoch"),
    ("row", "row"),
    ("y", "$y$"),
    ("w before", "$w$ before"),
    ("b before", "$b$ before"),
    ("f(x)", "$f(x)$"),
    ("y f(x)", "$y f(x)$"),
    ("mistake", "mistake"),
    ("w after", "$w$ after"),
    ("b after", "$b$ after"),
)
_SPECIAL = str.maketrans(
    {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}"}
    | {"^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)
_MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in "\\|`*_<>[]"} | {"\n": " "})


def trial_table(
    trials: Recording | Iterable[Trial],
    form: str = "text",
    *,
    start: Any = None,
    row_names: Sequence[str] | None = None,
    most: int | None = None,
) -> str:
    """Return trials as a table, as a teacher writes it on the board.

    Rows are numbered x1, x2, ... Each line has the weights before and after the trial; there are too many to be written
    out beyond eight features or for several problems, and then they are left out.

    Parameters
    ----------
    trials : Recording, or iterable of Trial
        From `rosenblatt.record` or `rosenblatt.trace`.
    form : {"text", "markdown", "html", "latex"}
        LaTeX needs no package: a tabular in its own mathematics.
    start : (w0, b0), optional
        The weights before the first trial, zero by default; a recording knows them.
    row_names : sequence of str, optional
        What to call the rows, instead of x1, x2, ...
    most : int, optional
        Most lines; a last line then says how many more there are.

    Returns
    -------
    str
        The table, ready to be printed or written to a file.

    Examples
    --------
    >>> from rosenblatt import trace, trial_table
    >>> print(trial_table(trace([[0, 0], [1, 1]], [-1, 1], max_iter=1)))
    t  epoch  row   y  w before  b before  f(x)  y f(x)  mistake  w after  b after
    1      1   x1  -1    (0, 0)         0     0       0      yes   (0, 0)       -1
    2      1   x2   1    (0, 0)        -1    -1      -1      yes   (1, 1)        0
    """
    write = {"text": _text, "markdown": _markdown, "html": _html, "latex": _latex}.get(form)
    if write is None:
        hint = did_you_mean(form, FORMS)
        raise InvalidInput(f"form={short_repr(form)} is not known. Choose one of {', '.join(FORMS)}.{hint}")
    if isinstance(trials, Recording):
        if start is None and trials.b.shape[1] == 1:
            start = trials.W[0, 0], float(trials.b[0, 0])
        trials = trials.trials()
    listed = list(trials)
    if not listed:
        raise InvalidInput("There are no trials to show. Trace at least one epoch.")
    left_out = 0 if most is None else max(0, len(listed) - most)
    lines = _lines(listed[: len(listed) - left_out], start, row_names, form)
    columns = [
        names[form == "latex"] for names in _COLUMNS if len(lines[0]) == len(_COLUMNS) or not _is_weight(names[0])
    ]
    return write(columns, lines, f"... {count(left_out, 'more trial')}" if left_out else "")


def _is_weight(name: str) -> bool:
    return name.endswith(("before", "after"))


def _lines(trials: list[Trial], start: Any, names: Sequence[str] | None, form: str) -> list[list[str]]:
    """Return the cells of each trial."""
    single = np.ndim(trials[0].w) == 1
    written = single and np.size(trials[0].w) <= MAX_WEIGHTS
    w, b = (np.zeros(np.size(trials[0].w)), 0.0) if start is None or not single else (np.asarray(start[0]), start[1])
    found = []
    for trial in trials:
        cells = [str(trial.t), str(trial.epoch), _row(trial.row, names, form), str(trial.label)]
        if written:
            cells += [_vector(w), _number(b)]
        scored = single and trial.row >= 0
        cells += [_number(trial.score), _number(trial.label * trial.score)] if scored else ["", ""]
        cells.append("yes" if trial.mistake else "")
        if written:
            w, b = trial.w, trial.b
            cells += [_vector(w), _number(b)]
        found.append(cells)
    return found


def _row(i: int, names: Sequence[str] | None, form: str) -> str:
    if i < 0:
        return "all"
    if names is not None:
        escaped = {"latex": _SPECIAL, "markdown": _MARKDOWN}.get(form, {})
        return str(names[i]).translate(escaped)
    return f"$x_{{{i + 1}}}$" if form == "latex" else f"x{i + 1}"


def _number(value: Any) -> str:
    return f"{float(value) + 0.0:.6g}"


def _vector(values: Any) -> str:
    return f"({', '.join(_number(value) for value in np.asarray(values).tolist())})"


def _text(columns: list[str], lines: list[list[str]], note: str) -> str:
    return "\n".join([in_columns([columns, *lines])] + [note] * bool(note))


def _markdown(columns: list[str], lines: list[list[str]], note: str) -> str:
    rows = [columns, ["---:"] * len(columns), *lines]
    return "\n".join(["| " + " | ".join(row) + " |" for row in rows] + ["", note] * bool(note))


def _html(columns: list[str], lines: list[list[str]], note: str) -> str:
    return table(columns, lines, caption=note or None)


def _latex(columns: list[str], lines: list[list[str]], note: str) -> str:
    body = [" & ".join(_in_mathematics(cell) for cell in line) + r" \\" for line in lines]
    rows = [rf"\begin{{tabular}}{{{'r' * len(columns)}}}", r"\hline", " & ".join(columns) + r" \\", r"\hline", *body]
    last = [rf"\multicolumn{{{len(columns)}}}{{l}}{{{note}}} \\"] if note else []
    return "\n".join([*rows, *last, r"\hline", r"\end{tabular}"])


def _in_mathematics(cell: str) -> str:
    """Return a number or a vector with a minus sign instead of a hyphen."""
    return f"${cell}$" if cell and cell[0] in "-(0123456789" else cell
