"""Escape docstrings, which are plain text: |w| is a length and `coef_` a name, not markup."""

import re
from typing import Any

from sphinx.application import Sphinx

QUOTED = re.compile(r"(``.+?``|`[^`]+`)")
# scikit-learn's docstrings refer to pages of its own site.
ELSEWHERE = re.compile(r":ref:`([^`<]+?)\s*(?:<[^>]+>)?`")


def as_text(line: str) -> str:
    """Return a line with all markup escaped, except text between backquotes."""
    parts = QUOTED.split(ELSEWHERE.sub(r"\1", line))
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<!\\)\|", r"\\|", parts[i])
        parts[i] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[i])
        parts[i] = re.sub(r"(?<![\w*])([a-zA-Z])\*(?=[\s,.;:)>]|$)", r"\1\\*", parts[i])
    return "".join(parts)


def escape(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Escape the lines of a docstring, apart from examples and directives."""
    code = False
    for i, line in enumerate(lines):
        code = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        if not code and not line.lstrip().startswith(".. "):
            lines[i] = as_text(line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the event, to run after napoleon has converted the sections."""
    app.connect("autodoc-process-docstring", escape, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
