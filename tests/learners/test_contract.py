"""What type checkers see of scikit-learn's base classes is there."""

import ast
from pathlib import Path

import pytest
import sklearn.base

from rosenblatt.learners import contract


@pytest.mark.parametrize("name", contract.__all__)
def test_python_sees_scikit_learn(name):
    assert getattr(contract, name) is getattr(sklearn.base, name)


def test_type_checkers_see_methods_that_scikit_learn_has():
    tree = ast.parse(Path(contract.__file__).read_text())
    seen = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    assert seen.keys() == set(contract.__all__)
    for name, node in seen.items():
        for method in (part.name for part in node.body if isinstance(part, ast.FunctionDef)):
            assert hasattr(getattr(sklearn.base, name), method), f"{name}.{method}"
