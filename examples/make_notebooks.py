"""Write the examples and the lectures as notebooks, the lectures also without the answers of their exercises.

python examples/make_notebooks.py build/notebooks
"""

import ast
import doctest
import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LECTURES = HERE.parent / "docs" / "learn"


def example_cells(source: str) -> list[tuple[str, str]]:
    """Return the cells of an example as (type, text), one for each group of statements without empty lines between."""
    module = ast.parse(source)
    lines = source.splitlines()
    found, start, end = [("markdown", ast.get_docstring(module) or "")], 0, module.body[0].end_lineno or 0
    for statement in module.body[1:]:
        # Comments above a statement belong to it.
        first = statement.lineno
        while first - 1 > end and lines[first - 2].startswith("#"):
            first -= 1
        if start and first - end > 1:
            found.append(("code", "\n".join(lines[start - 1 : end])))
            start = first
        start, end = start or first, statement.end_lineno or first
    return [*found, ("code", "\n".join(lines[start - 1 : end]))]


def lecture_cells(page: str, *, answers: bool) -> list[tuple[str, str]]:
    """Return the cells of a lecture as (type, text): its text, its examples without their output, and its figures."""
    if not answers:
        page = re.sub(r"<details>.*?</details>\n*", "", page, flags=re.DOTALL)
    page = page.replace("<details><summary>Answer</summary>", "**Answer.**").replace("</details>", "")
    page = re.sub(r"\[([^]]+)\]\([^):]+\)", r"\1", page)  # the other pages are not beside the notebook
    found: list[tuple[str, str]] = []
    blocks = re.split(r"^```(\S+)([^\n]*)\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    for text, kind, caption, block in zip(blocks[::4], blocks[1::4], blocks[2::4], blocks[3::4], strict=False):
        found.append(("markdown", text.strip()))
        if kind == "python":
            found += [("code", code) for code in _statements(block)]
        elif kind == "{drawing}":
            found += [("code", f"{block}ax.figure"), ("markdown", caption.strip())]
        elif kind == "{lab}":
            found.append(("markdown", f"In the lab, with {', '.join(block.split())}: {caption.strip()}"))
        else:
            found.append(("markdown", f"```{kind}\n{block}```"))
    return [cell for cell in [*found, ("markdown", blocks[-1].strip())] if cell[1]]


def _statements(block: str) -> list[str]:
    """Return the code of an example, split after each statement that prints: a cell shows only its last value."""
    code = [""]
    for step in doctest.DocTestParser().get_examples(block):
        code[-1] += step.source
        if step.want:
            code.append("")
    return [text.rstrip() for text in code if text]


def notebook(cells: list[tuple[str, str]]) -> dict[str, Any]:
    """Return a notebook, format 4.5."""
    made: list[dict[str, Any]] = []
    for number, (kind, text) in enumerate(cells):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text}
        made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def main() -> None:
    """Write the notebooks."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    books = {
        path.stem: example_cells(path.read_text(encoding="utf-8"))
        for path in HERE.glob("*.py")
        if path != Path(__file__)
    }
    for path in LECTURES.glob("lecture-*.md"):
        for name, answers in ((path.stem, True), (f"{path.stem}-without-answers", False)):
            books[name] = lecture_cells(path.read_text(encoding="utf-8"), answers=answers)
    for name, cells in books.items():
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook(cells), indent=1) + "\n", encoding="utf-8")
    print(f"{len(books)} notebooks are in {folder}.")


if __name__ == "__main__":
    main()
