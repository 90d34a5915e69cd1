"""The base classes: scikit-learn's, what type checkers see of them, and plain ones for the command line."""

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rosenblatt.learners import ALL, contract

TREE = ast.parse(Path(contract.__file__).read_text())


@pytest.mark.parametrize("name", contract.__all__)
def test_python_sees_scikit_learn(name):
    if "callback" in name.lower() and find_spec("sklearn.callback") is None:
        pytest.skip("scikit-learn has callbacks from 1.9 on")
    assert getattr(contract, name).__module__.startswith(("sklearn.", "joblib."))


def test_type_checkers_see_methods_that_scikit_learn_has():
    block = next(node for node in TREE.body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    seen = {node.name: node for node in (*TREE.body, *block.body) if isinstance(node, ast.ClassDef)}
    others = {node.target.id for node in block.body if isinstance(node, ast.AnnAssign)}
    others |= {node.name for node in TREE.body if isinstance(node, ast.FunctionDef)}
    assert seen.keys() | others == set(contract.__all__)
    for name, node in seen.items():
        for method in (part.name for part in node.body if isinstance(part, ast.FunctionDef)):
            assert hasattr(getattr(contract, name), method), f"{name}.{method}"


def test_without_scikit_learn_the_learners_have_the_same_parameters():
    script = """
        import json, sys
        from rosenblatt import learners
        learners.SCIKIT_LEARN = False
        from rosenblatt.learners import contract
        assert all(hasattr(contract, name) for name in contract.__all__)
        models = {name: contract.clone(cls()).set_params() for name, cls in learners.ALL.items()}
        assert models["Perceptron"].set_params(n_jobs=-1)._plan().n_jobs >= 1
        assert "sklearn" not in sys.modules and "joblib" not in sys.modules
        print(json.dumps({name: sorted(model.get_params()) for name, model in models.items()}))
    """
    code = "\n".join(line.strip() for line in script.splitlines())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {name: sorted(cls().get_params()) for name, cls in ALL.items()}
