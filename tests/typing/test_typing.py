"""Type checkers and editors know the constructors: mypy accepts what is right and rejects what is not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    """Lines of good.py and bad.py that mypy rejects in strict mode, with what it says."""
    pytest.importorskip("mypy", reason="mypy is not installed: see the group lint of pyproject.toml")
    cache = tmp_path_factory.mktemp("mypy")
    settings = cache / "mypy.ini"
    settings.write_text(
        "[mypy]\nstrict = true\n"
        "[mypy-numba.*,llvmlite.*,sklearn.*,joblib.*,scipy.*,threadpoolctl.*]\n"
        "ignore_missing_imports = true\nfollow_imports = skip\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", str(cache)]
    command += ["--no-error-summary", "--hide-error-context", "--disable-error-code", "type-arg"]
    done = subprocess.run(
        [*command, "good.py", "bad.py"],
        cwd=HERE,
        env=os.environ | {"MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = {"good.py": {}, "bad.py": {}}
    for name, line, text in re.findall(r"^(\w+\.py):(\d+): error: (.*)$", done.stdout, re.MULTILINE):
        found[name][int(line)] = text
    return found


def test_what_is_right_is_accepted(faults):
    assert faults["good.py"] == {}


def test_what_is_wrong_is_rejected_and_nothing_else(faults):
    lines = (HERE / "bad.py").read_text().splitlines()
    wrong = {number: line for number, line in enumerate(lines, 1) if "# expect-error" in line}
    accepted = {number: line for number, line in wrong.items() if number not in faults["bad.py"]}
    assert not accepted, f"mypy accepts {accepted}"
    assert faults["bad.py"].keys() == wrong.keys()
    assert len(wrong) > 10
