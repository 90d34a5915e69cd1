"""The examples run, are listed, and become notebooks that run the same code; so do the lectures."""

import ast
import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if path.stem != "make_notebooks")
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src")}
examples = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def run(*arguments):
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
@examples
def test_an_example_runs_and_says_something(path):
    assert run("-W", "error", path).strip()


@examples
def test_an_example_says_what_it_shows_and_fits_a_screen(path):
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 40


def test_the_list_has_every_example():
    listed = re.findall(r"\| \[(\w+)\.py\]", (FOLDER / "README.md").read_text())
    assert sorted(listed) == [path.stem for path in EXAMPLES]


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    run(FOLDER / "make_notebooks.py", folder)
    return folder


@examples
def test_a_notebook_has_all_the_code_of_its_example_in_order(path, notebooks):
    book = json.loads((notebooks / f"{path.stem}.ipynb").read_text())
    code = "\n".join(cell["source"] for cell in book["cells"] if cell["cell_type"] == "code")
    whole = ast.parse(path.read_text())
    assert book["cells"][0]["source"] == ast.get_docstring(whole)
    assert ast.dump(ast.parse(code)) == ast.dump(ast.Module(whole.body[1:], []))
    assert (book["nbformat"], len({cell["id"] for cell in book["cells"]})) == (4, len(book["cells"]))


LECTURES = sorted((ROOT / "docs" / "learn").glob("lecture-*.md"))
lectures = pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)


def code_of(path):
    book = json.loads(path.read_text())
    assert (book["nbformat"], len({cell["id"] for cell in book["cells"]})) == (4, len(book["cells"]))
    return [cell["source"] for cell in book["cells"] if cell["cell_type"] == "code"]


@lectures
def test_a_notebook_of_a_lecture_has_its_examples_in_order(path, notebooks):
    page = path.read_text()
    steps = [step.source.rstrip() for step in doctest.DocTestParser().get_examples(page)]
    figures = re.findall(r"^```\{drawing\}[^\n]*\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    code = code_of(notebooks / f"{path.stem}.ipynb")
    assert [text for text in code if text.endswith("ax.figure")] == [f"{figure}ax.figure" for figure in figures]
    rest = "\n".join(text for text in code if not text.endswith("ax.figure"))
    assert ast.dump(ast.parse(rest)) == ast.dump(ast.parse("\n".join(steps)))


@lectures
def test_a_notebook_without_answers_has_the_questions(path, notebooks):
    book = json.loads((notebooks / f"{path.stem}-without-answers.ipynb").read_text())
    text = "\n".join(cell["source"] for cell in book["cells"])
    questions = re.findall(r"^\*\*\d\.\*\*", path.read_text(), re.MULTILINE)
    assert questions
    assert re.findall(r"^\*\*\d\.\*\*", text, re.MULTILINE) == questions
    assert "Answer" not in text
    with_answers = code_of(notebooks / f"{path.stem}.ipynb")
    without = code_of(notebooks / f"{path.stem}-without-answers.ipynb")
    assert without == with_answers[: len(without)]
    assert len(without) < len(with_answers)
