"""The public names: one table, loaded when they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rosenblatt
from rosenblatt.learners import modules

SOURCE = Path(rosenblatt.__file__).read_text()


def modules_after(statement):
    script = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    heavy = {"numpy", "scipy", "numba", "sklearn", "joblib", "matplotlib", "click"}
    assert not heavy & modules_after("import rosenblatt")
    assert not heavy & modules_after("import rosenblatt; dir(rosenblatt); rosenblatt.__all__; rosenblatt.__version__")


def test_every_public_name_is_there_and_documented():
    assert rosenblatt.__all__ == sorted(set(rosenblatt.__all__))
    for name in rosenblatt.__all__:
        assert getattr(rosenblatt, name).__doc__
        assert getattr(rosenblatt, name).__name__ == name
        assert name in dir(rosenblatt)
    assert rosenblatt.__version__


def test_a_star_imports_all_public_names():
    names: dict = {}
    exec("from rosenblatt import *", names)
    assert set(rosenblatt.__all__) <= names.keys()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'rosenblatt' has no attribute 'nothing_like_it'"):
        _ = rosenblatt.nothing_like_it
    with pytest.raises(ImportError, match="nothing_like_it"):
        from rosenblatt import nothing_like_it  # noqa: F401


def test_type_checkers_see_the_names_of_the_table():
    block = next(node for node in ast.parse(SOURCE).body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    seen = {}
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            assert alias.asname == alias.name  # else strict type checkers take it for private
            seen[alias.name] = statement.module.removeprefix("rosenblatt.")
    learners = {name: module.removeprefix("rosenblatt.") for name, module in modules().items()}
    assert seen == rosenblatt._HOME | learners, "run make tables"
