"""Names that a reader can find, and words that were given up."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "rosenblatt"
NOTATION = (ROOT / "docs" / "explanation" / "notation.md").read_text()
ARCHITECTURE = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
# The packages below the estimators.
ENGINE = ("compiled", "data", "files", "storage", "exact", "proof", "separability", "learn", "dual")
# Private metaphors and second names, each replaced by a word of the field.
GIVEN_UP = {
    "stranger": "reserve class",
    "crew": "threads",
    "sweep": "pass",
    "tally": "counts",
    "stake": "class cost",
    "ballot": "vote",
    "pace": "rate",
    "dear": "expensive",
    "foreign": "user-defined",
    "frugal": "budgeted",
    "counted in and out": "reference counts",
    "counts its arrays in and out": "reference counts",
}
# Docstrings begin with Return, Compute, Check, Raise, ...
NOT_AT_THE_START = ("Give", "Tell", "Say", "Refuse", "Ask")

files = pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE).with_suffix(""))
)


def defined_terms():
    """The identifiers and the first columns of the tables of the notation page."""
    cells = [line.split("|")[1] for line in NOTATION.splitlines() if line.startswith("| ")]
    words = (word.strip().strip("`") for cell in cells for word in cell.split(","))
    return {term.replace("_", " ") for term in (*words, *re.findall(r"`(\w+)", NOTATION))}


def documented(tree):
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    return [text for node in ast.walk(tree) if isinstance(node, kinds) if (text := ast.get_docstring(node))]


def test_every_name_on_the_notation_page_is_in_the_source():
    source = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    names = set(re.findall(r"`(\w+)`", NOTATION))
    gone = {name for name in names if not re.search(rf"\b{name}\b", source)}
    assert not gone, f"Take these names out of docs/explanation/notation.md: {sorted(gone)}"


def test_the_map_is_the_tree():
    tree = ARCHITECTURE.split("## The tree")[1].split("```")[1]
    shown, package = set(), ""
    for line in tree.splitlines():
        words = re.findall(r"[\w.]+\.py\b|\w+/", line)
        if line.startswith("  ") and not line.startswith("   "):
            package = words[0] if words and words[0].endswith("/") else ""
            words = words[1:] if package else words[:1]
        shown |= {package + word for word in words if word.endswith(".py")}
    there = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")}
    there = {path for path in there if not path.endswith("/__init__.py")}
    assert shown == there


@files
def test_words_that_were_given_up_stay_away(path):
    text, terms = re.sub(r"\s+", " ", path.read_text().replace("#", " ")), defined_terms()
    for word, instead in GIVEN_UP.items():
        found = re.search(rf"(?<![a-z]){word}s?(?![a-z])", text, re.IGNORECASE)
        assert not found or word in terms, f"{word!r} is {instead!r} here, or goes into docs/explanation/notation.md"


@files
def test_margins_are_not_heights(path):
    if path.parent.name in ENGINE:
        assert not re.search(r"(?<![a-z])heights(?![a-z])", path.read_text()), "y f(x) is a margin everywhere"


@files
def test_docstrings_say_what_is_done(path):
    for text in documented(ast.parse(path.read_text())):
        first = text.split()[0]
        assert first not in NOT_AT_THE_START, f"{text.splitlines()[0]!r}: begin with Return, Compute, Check, Raise, ..."
