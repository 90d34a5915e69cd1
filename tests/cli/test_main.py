"""The command line, as a user meets it: exit codes, streams, and what is imported when."""

import os
import signal
import subprocess
import sys
import urllib.request
from importlib.metadata import version

import click
import pytest
from click.testing import CliRunner

from commands import command, run
from rosenblatt.cli.main import COMMANDS, Commands, commands
from rosenblatt.errors import InvalidInput

compiled = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes long without compilation")


def rosenblatt(*arguments, **options):
    done = subprocess.run(command(*arguments), capture_output=True, text=True, encoding="utf-8", **options)
    lines = done.stderr.splitlines(keepends=True)
    done.stderr = "".join(line for line in lines if "compiling loops" not in line)  # where there is no code yet
    return done


def test_version_is_that_of_the_installed_package():
    done = rosenblatt("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"rosenblatt {version('rosenblatt')}\n", "")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_every_command(flag):
    done = CliRunner().invoke(commands, [flag])
    assert done.exit_code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in done.output


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys\n"
        "from rosenblatt.cli.main import main\n"
        f"main({arguments}, standalone_mode=False)\n"
        "heavy = {'numba', 'numpy', 'scipy', 'sklearn', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [["nonsense"], ["--nonsense"], ["demo", "--output"], ["demo", "--output", "."]])
def test_wrong_usage_exits_with_2_and_says_what_is_wrong(arguments):
    done = rosenblatt(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_misspelt_command_is_answered_with_the_right_one():
    assert "Did you mean 'train'?" in run("trian", code=2).stderr


def test_an_error_of_the_package_is_one_sentence_on_stderr_and_exit_code_1(tmp_path):
    done = rosenblatt("demo", "--output", str(tmp_path / "none" / "demo.png"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: --output: the folder ")
    assert done.stderr.count("\n") == 1


def test_an_error_that_is_not_expected_keeps_its_traceback():
    @click.group(cls=Commands)
    def group():
        pass

    @group.command()
    def expected():
        raise InvalidInput("1 is too small. Pass 2.")

    @group.command()
    def defect():
        raise ZeroDivisionError

    done = CliRunner().invoke(group, ["expected"])
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "error: 1 is too small. Pass 2.\n")
    assert isinstance(CliRunner().invoke(group, ["defect"]).exception, ZeroDivisionError)


def test_ctrl_c_exits_with_130_in_every_command():
    @click.group(cls=Commands)
    def group():
        pass

    @group.command()
    def long():
        raise KeyboardInterrupt

    done = CliRunner().invoke(group, ["long"])
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "\nInterrupted.\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
def test_ctrl_c_stops_the_lab():
    pytest.importorskip("starlette", reason="the lab needs the extra: pip install rosenblatt[lab]")
    process = subprocess.Popen(
        command("lab", "--no-browser"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts tests in the background with SIGINT ignored, which processes inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    address = process.stdout.readline().split()[-1]
    assert "Ctrl-C" in process.stdout.readline()
    urllib.request.urlopen(address, timeout=30).close()  # a server that answers listens to signals
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "\nInterrupted.\n")


@compiled
def test_demo_saves_its_picture_in_the_current_folder(tmp_path):
    done = rosenblatt("demo", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["rosenblatt-demo.png"]
    assert str(tmp_path / "rosenblatt-demo.png") in done.stdout


@compiled
def test_demo_without_picture_needs_no_matplotlib_and_writes_nothing(tmp_path):
    start = "import sys; sys.modules['matplotlib'] = None; from rosenblatt.cli.main import main"
    code = f"{start}; main(['demo', *sys.argv[1:]])"
    program = [sys.executable, "-c", code]
    done = subprocess.run([*program, "--no-picture"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "picture" not in done.stdout
    assert list(tmp_path.iterdir()) == []
    refused = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: matplotlib is not installed")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
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
