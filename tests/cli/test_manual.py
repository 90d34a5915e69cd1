"""Manual pages and completion, made from what the commands say of themselves."""

import os
import subprocess
import sys

import pytest

from commands import run
from rosenblatt.cli.main import COMMANDS
from rosenblatt.cli.manual import SHELLS, manual_pages


def test_there_is_a_page_for_each_command_with_all_its_options(tmp_path):
    run("manual", "--output", tmp_path / "man1")
    assert {path.name for path in (tmp_path / "man1").iterdir()} == {
        "rosenblatt.1",
        *(f"rosenblatt-{name}.1" for name in COMMANDS),
    }
    text = (tmp_path / "man1" / "rosenblatt-train.1").read_text()
    for option in ("checkpoint", "learner", "holdout", "bits"):
        assert f"\\-\\-{option}" in text
    assert "\b" not in text


def test_no_line_of_a_page_is_a_command_of_man_by_accident():
    known = (".TH", ".SH", ".PP", ".TP", ".B", ".BR", ".nf", ".fi")
    for text in manual_pages().values():
        for line in text.splitlines():
            assert not line.startswith((".", "'")) or line.split()[0] in known


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_scripts_name_the_program(shell):
    assert "_ROSENBLATT_COMPLETE" in run("completion", shell).stdout


def test_completion_knows_the_commands():
    environment = os.environ | {
        "_ROSENBLATT_COMPLETE": "bash_complete",
        "COMP_WORDS": "rosenblatt ev",
        "COMP_CWORD": "1",
    }
    code = "from rosenblatt.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "plain,evaluate\n"
