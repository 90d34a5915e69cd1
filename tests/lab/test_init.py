"""The lab's two doors, which need an extra each and say so."""

import subprocess
import sys

import pytest

from rosenblatt import lab

# A finder that hides packages, as if they were not installed.
HIDING = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r}:
            raise ImportError("No module named " + repr(name))
sys.meta_path.insert(0, Hidden())
import rosenblatt.lab
from rosenblatt.errors import MissingExtra
{check}
try:
    {call}
except MissingExtra as error:
    print(error)
"""


def run_without(hidden, call, check=""):
    program = HIDING.format(hidden=hidden, call=call, check=check)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("hidden", "call", "extra"),
    [
        (["starlette", "uvicorn"], "rosenblatt.lab.open_lab(browser=False)", "rosenblatt[lab]"),
        (["anywidget"], "rosenblatt.lab.explore()", "rosenblatt[notebook]"),
    ],
)
def test_without_the_extra_the_error_names_it(hidden, call, extra):
    assert f'pip install "{extra}"' in run_without(hidden, call)


def test_importing_the_lab_imports_neither_and_a_file_can_be_written_without_both():
    check = (
        "from rosenblatt.lab.page import one_file\n"
        "from rosenblatt.lab.scene import Scene\n"
        "assert one_file(Scene()).startswith('<!doctype html>')\n"
        "assert not {'starlette', 'anywidget'} & set(sys.modules)"
    )
    run_without(["starlette", "uvicorn", "anywidget", "traitlets", "anyio"], "pass", check)


def test_open_lab_serves(monkeypatch):
    served = []
    monkeypatch.setattr("rosenblatt.lab.server.serve", lambda *args, **options: served.append((args, options)))
    lab.open_lab(port=8123, browser=False)
    assert served == [((None,), {"port": 8123, "browser": False})]
