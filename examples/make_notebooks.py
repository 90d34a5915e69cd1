"""Write a notebook for each example: the docstring as text, and a cell for each paragraph of code.

python examples/make_notebooks.py build/notebooks
"""

import ast
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def cells(source: str) -> list[tuple[str, str]]:
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


def notebook(source: str) -> dict[str, Any]:
    """Return an example as a notebook, format 4.5."""
    made: list[dict[str, Any]] = []
    for number, (kind, text) in enumerate(cells(source)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text}
        made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def main() -> None:
    """Write the notebooks."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    examples = sorted(path for path in HERE.glob("*.py") if path != Path(__file__))
    for path in examples:
        text = json.dumps(notebook(path.read_text(encoding="utf-8")), indent=1)
        (folder / f"{path.stem}.ipynb").write_text(text + "\n", encoding="utf-8")
    print(f"{len(examples)} notebooks are in {folder}.")


if __name__ == "__main__":
    main()
