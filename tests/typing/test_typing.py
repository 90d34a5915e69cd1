"""Type checkers and editors know the constructors: they accept what is right and reject what is not."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"


def run(module, *arguments, cwd=HERE):
    pytest.importorskip(module, reason=f"{module} is not installed: see the group lint of pyproject.toml")
    command = [sys.executable, "-m", module, *arguments]
    environment = os.environ | {"MYPYPATH": str(SOURCE)}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def mypy(folder):
    """Return lines of good.py and bad.py that mypy rejects in strict mode."""
    settings = folder / "mypy.ini"
    # As users have it: what ships no types is of unknown type.
    settings.write_text("[mypy]\nstrict = true\nignore_missing_imports = true\n[mypy-scipy.*]\nfollow_imports = skip\n")
    options = ["--config-file", str(settings), "--cache-dir", str(folder), "--no-error-summary", "--hide-error-context"]
    said = run("mypy", *options, "good.py", "bad.py")
    return {(name, int(line)) for name, line in re.findall(r"^(\w+\.py):(\d+): error:", said, re.MULTILINE)}


def pyright(folder):
    """Return lines of good.py and bad.py that pyright rejects in strict mode."""
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(SOURCE)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    files = [str(HERE / name) for name in ("good.py", "bad.py")]
    said = run("pyright", "--pythonpath", sys.executable, "--outputjson", *files, cwd=folder)
    found = [entry for entry in json.loads(said)["generalDiagnostics"] if entry["severity"] == "error"]
    return {(Path(entry["file"]).name, entry["range"]["start"]["line"] + 1) for entry in found}


@pytest.mark.parametrize("checker", [mypy, pyright], ids=["mypy", "pyright"])
def test_what_is_right_is_accepted_and_what_is_wrong_is_not(checker, tmp_path):
    lines = (HERE / "bad.py").read_text().splitlines()
    wrong = {("bad.py", number) for number, line in enumerate(lines, 1) if "# expect-error" in line}
    assert len(wrong) > 15
    assert checker(tmp_path) == wrong
