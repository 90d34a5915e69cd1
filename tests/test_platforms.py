"""What only some systems have is missing here, in a process of its own: the same results come without it."""

import subprocess
import sys
from pathlib import Path

import pytest

from commands import mails, svmlight

FOLDER = Path(__file__).parent
# As on Windows, and on macOS or musl where these lack something that Linux has.
BARE = """
import ctypes, os, sys
for name in ("fcntl", "resource"):
    sys.modules[name] = None
for name in ("pread", "sysconf", "fchown", "O_DIRECTORY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "cpu_count"):
    delattr(os, name)
os.cpu_count = lambda: None
def no_library(name, *args, known=ctypes.CDLL.__init__, **options):
    raise TypeError("argument of type 'NoneType' is not iterable")
ctypes.CDLL = type("CDLL", (ctypes.CDLL,), {"__init__": lambda self, name, *args, **options: no_library(name)
    if name is None else super(ctypes.CDLL, self).__init__(name, *args, **options)})
"""
# An open file can be neither renamed nor replaced, as on Windows.
STUBBORN = """
from rosenblatt.storage import atomic
atomic.OPEN_FILES_STAY = True
def replace(source, target, known=os.replace):
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            held = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:
            continue
        if held in (str(source), str(target)):
            raise PermissionError(13, "The process cannot access the file because it is being used", held)
    known(source, target)
os.replace = replace
"""
COMMANDS = """
import sys
sys.path.insert(0, {folder!r})
from commands import run
from rosenblatt.cli.main import commands
model, other = "a.model", "b.model"
run("train", "rows.svm", "--model", model, "--passes", 3, "--cache", "rows.cache", "--checkpoint", "a.ckpt")
run("train", "mails.csv", "--label", "kind", "--model", other, "--quiet")
print(run("evaluate", "mails.csv", "--label", "kind", "--folds", 3, "--json").stdout.split('"seconds"')[0])
print(run("predict", "rows.svm", "--model", model).stdout)
with open("rows.jsonl", "w") as file:
    file.write('{{"subject": "free prize", "body": "click", "kind": "spam"}}\\n' * 3)
for _ in range(2):
    os.dup2(os.open("rows.jsonl", os.O_RDONLY), 0)
    learning = ["predict", "-", "--model", other, "--learn", "--journal", "rows.journal", "--json"]
    commands.main(learning, standalone_mode=False)
print(run("certify", "rows.svm", "--output", "a.json").stdout.splitlines()[0])
print(run("verify", "rows.svm", "--certificate", "a.json").stdout.splitlines()[0])
"""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks for open files in /proc")
KEPT = ("a.model", "b.model", "a.json")


def process(folder, before):
    script = "import os\n" + before + COMMANDS.format(folder=str(FOLDER))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout, [(folder / name).read_bytes() for name in KEPT]


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(BARE, id="bare"),
        pytest.param(BARE + STUBBORN, id="open files stay", marks=LINUX),
    ],
)
def test_commands_do_the_same_without_what_only_some_systems_have(tmp_path, before):
    results = []
    for number, missing in enumerate(("", before)):
        folder = tmp_path / str(number)
        folder.mkdir()
        svmlight(folder / "rows.svm", n=300)
        mails(folder / "mails.csv", n=200)
        results.append(process(folder, missing))
    assert results[0] == results[1]
