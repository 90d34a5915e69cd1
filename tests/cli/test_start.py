"""A command starts without what Numba looks for and it does not need."""

import gc
import subprocess
import sys

from rosenblatt.cli import start

PROGRAM = """
import gc, sys
from rosenblatt.cli.main import main
main(["train", sys.argv[1], "--model", sys.argv[2], "--quiet"], standalone_mode=False)
assert "scipy" not in sys.modules and "cffi" not in sys.modules, "imported for nothing"
assert gc.isenabled()
import scipy.linalg, numpy as np
assert scipy.linalg.norm(np.ones(4)) == 2.0
"""


def test_training_imports_no_scipy_and_leaves_it_importable(tmp_path):
    rows = tmp_path / "rows.svm"
    rows.write_text("1 1:1\n-1 2:1\n" * 5)
    subprocess.run([sys.executable, "-c", PROGRAM, str(rows), str(tmp_path / "model")], check=True)


def test_packages_seem_absent_only_for_a_while(monkeypatch):
    monkeypatch.setattr(start, "UNNEEDED", ("wave", "json"))
    import json

    sys.modules.pop("wave", None)
    with start._light():
        assert sys.modules["wave"] is None
        assert sys.modules["json"] is json
        assert not gc.isenabled()
    assert "wave" not in sys.modules
    assert gc.isenabled()
    assert __import__("wave").open
