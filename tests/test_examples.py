"""The examples run, are listed, and become notebooks that run the same code."""

import ast
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
