"""`python -m rosenblatt` is the command line."""

import subprocess
import sys

from rosenblatt.cli.main import COMMANDS


def test_the_package_runs_as_the_command():
    done = subprocess.run([sys.executable, "-m", "rosenblatt", "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: rosenblatt ")
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
