"""A command starts without what Numba looks for and it does not need."""

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest

from rosenblatt.cli import start

PROGRAM = """
import gc, sys
from rosenblatt.cli.main import main
main(["train", sys.argv[1], "--model", sys.argv[2], "--quiet"], standalone_mode=False)
for name in ("scipy", "cffi", *(() if "numba" in sys.modules else ("numpy.ma", "numpy.random"))):
    assert name not in sys.modules, f"{name} was imported for nothing"
assert gc.isenabled()
import scipy.linalg, numpy as np
assert scipy.linalg.norm(np.ones(4)) == 2.0
"""


@pytest.mark.parametrize(("name", "text"), [("rows.svm", "1 1:1\n-1 2:1\n" * 5), ("rows.csv", "1,a\n2,b\n" * 9)])
def test_training_imports_no_scipy_and_leaves_it_importable(tmp_path, name, text):
    rows = tmp_path / name
    rows.write_text(text)
    for _ in range(2):  # the second time there is code that needs no Numba
        subprocess.run([sys.executable, "-c", PROGRAM, str(rows), str(tmp_path / "model")], check=True)


def test_packages_seem_absent_only_for_a_while_and_to_one_thread(monkeypatch):
    monkeypatch.setattr(start, "UNNEEDED", ("wave", "json"))
    import json

    sys.modules.pop("wave", None)
    with start._light():
        with pytest.raises(ImportError):
            import_module("wave")
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(import_module, "wave").result().open
        assert import_module("json") is json, "what is imported stays"
        assert not gc.isenabled()
    sys.modules.pop("wave", None)
    assert gc.isenabled()
    assert import_module("wave").open
