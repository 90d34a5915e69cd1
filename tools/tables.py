"""Write what learners and file formats say of themselves, and what was measured, into the documents.

python -m tools.tables --write

A table of a document stands between the markers `<!-- table: name -->` and `<!-- end -->`. In `rosenblatt/__init__.py`
the names that type checkers and editors see are written.
"""

import argparse
import re
import sys
from itertools import groupby
from pathlib import Path

import rosenblatt
from rosenblatt.files.formats import ALL
from rosenblatt.learners import family, modules
from tools import claims

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "docs/reference/api.md", "docs/reference/file-formats.md", "docs/reference/learners.md")


def learners():
    """Yield a line for each learner: what it does, and when to choose it."""
    yield "| class | published | what it does | reach for it when |"
    yield "|---|---|---|---|"
    for cls in family():
        yield f"| `{cls.__name__}` | {cls.facts.published} | {cls.facts.does} | {cls.facts.when} |"


def abilities():
    """Yield a line for each group of learners that can do the same."""
    columns = {
        "`partial_fit`, `learn_one`": lambda cls: hasattr(cls(), "learn_one"),
        "warm start": lambda cls: "warm_start" in cls.declared,
        "class weights": lambda cls: "class_weight" in cls.declared,
        "early stopping": lambda cls: "early_stopping" in cls.declared,
        "threads for classes (`n_jobs`)": lambda cls: "n_jobs" in cls.declared,
        "for rows (`shards`)": lambda cls: "shards" in cls.declared,
        "files (`rosenblatt train`)": lambda cls: bool(cls.facts.command),
    }
    yield "| " + " | ".join(["", *columns]) + " |"
    yield "|---" * (1 + len(columns)) + "|"

    def row(cls):
        return ["yes" if able(cls) else "no" for able in columns.values()]

    predictors = sorted((cls for cls in family() if hasattr(cls, "predict")), key=row, reverse=True)
    for cells, group in groupby(predictors, row):
        yield "| " + " | ".join([", ".join(f"`{cls.__name__}`" for cls in group), *cells]) + " |"


def reference():
    """Yield the classes as Sphinx lists them."""
    yield from ("```{eval-rst}", ".. currentmodule:: rosenblatt", "", ".. autosummary::", "   :toctree: generated", "")
    yield from (f"   {cls.__name__}" for cls in family())
    yield from ("   learner", "```")


def formats():
    """Yield a line for each format of data files."""
    yield "| format | endings | a row | label | what is refused | written |"
    yield "|---|---|---|---|---|---|"
    for one in ALL.values():
        endings = ", ".join(f"`{ending}`" for ending in one.endings)
        cells = (f"`{one.name}`", endings, one.row, one.label, one.refused, "yes" if one.write else "")
        yield "| " + " | ".join(cells) + " |"


TABLES = {
    "claims": claims.table,
    "learners": learners,
    "abilities": abilities,
    "reference": reference,
    "formats": formats,
}


def of_document(text):
    """Return a document with its tables as they should be."""

    def written(found):
        lines = "\n".join(TABLES[found["name"]]())
        return f"<!-- table: {found['name']} -->\n{lines}\n<!-- end -->"

    return re.sub(r"<!-- table: (?P<name>\w+) -->\n.*?<!-- end -->", written, text, flags=re.DOTALL)


def of_package(text):
    """Return the source of the package with the names that type checkers see."""
    homes = {name: f"rosenblatt.{module}" for name, module in rosenblatt._HOME.items()} | modules()
    names = sorted((module, name) for name, module in homes.items())
    lines = "".join(f"    from {module} import {name} as {name}\n" for module, name in names)
    return re.sub(r"(?<=^if TYPE_CHECKING:)([^\n]*\n)(?:    from [^\n]*\n)+", rf"\1{lines}", text, flags=re.MULTILINE)


def outdated():
    """Return the files that do not say what the package says, each with the text that it should have."""
    texts = {ROOT / name: of_document for name in DOCUMENTS} | {Path(rosenblatt.__file__): of_package}
    made = {path: (path.read_text(), make(path.read_text())) for path, make in texts.items()}
    return {path: after for path, (before, after) in made.items() if before != after}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    found = outdated()
    for path, text in found.items():
        if write:
            path.write_text(text)
        print(f"{path.relative_to(ROOT)}: {'written' if write else 'out of date'}")
    sys.exit(bool(found) and not write)
