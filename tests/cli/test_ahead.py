"""A second process compiles what learning needs, and the first never depends on it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from commands import run
from rosenblatt import jit, native
from rosenblatt.cli import ahead
from rosenblatt.files.opening import open_source

pytestmark = [
    pytest.mark.skipif(jit.DISABLE_JIT, reason="the JIT is off"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a second process"),
]
SOURCE = Path(jit.__file__).parents[1]

# Trains with an empty cache, and prints what the first process compiled. {more} may change the second process.
PROGRAM = """
import os, sys
import numba.core.event as event
from rosenblatt.cli import ahead
from rosenblatt.cli.main import main

os.sched_getaffinity = lambda _: {{0, 1}}
{more}
first, names = os.getpid(), []

class Listener(event.Listener):
    def on_start(self, event):
        names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
try:
    main(["train", *sys.argv[1:], "--quiet"], standalone_mode=False)
finally:
    assert os.getpid() == first, "the second process came back"
    print(" ".join(names))
    try:
        os.waitpid(-1, 0)
        print("a process is left")
    except ChildProcessError:
        pass
"""

NUMBERS = "x,y,label\n" + "".join(f"{k % 7},{k % 5},{'even' if k % 2 else 'odd'}\n" for k in range(400))
PAIRS = "".join(f"{(-1) ** k} {1 + k % 3}:1 {7 + k % 5}:0.5\n" for k in range(400))


def train_anew(folder, text, name, more="", **options):
    """Train with an empty cache; return the model, and what the first process compiled."""
    rows, model, cache = folder / name, folder / "model", folder / "cache"
    rows.write_text(text)
    env = os.environ | {"PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM.format(more=more), str(rows), "--model", str(model)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "a process is left" not in done.stdout
    return model.read_bytes(), done.stdout.split()


def train_here(folder, name):
    """Train in this process, as if there were no second one."""
    model = folder / "here"
    assert run("train", str(folder / name), "--model", str(model), "--quiet").exit_code == 0
    return model.read_bytes()


@pytest.mark.parametrize(("text", "name"), [(NUMBERS, "rows.csv"), (PAIRS, "rows.svm")])
def test_the_second_process_compiles_what_learns_and_the_model_is_the_same(tmp_path, text, name):
    model, names = train_anew(tmp_path, text, name)
    assert {"split_fields", "read_svmlight"} & set(names), "the first compiles what reads"
    assert not {"run_epoch", "inspect_csr", "inspect_dense"} & set(names), "and nothing that learns"
    assert model == train_here(tmp_path, name)


@pytest.mark.parametrize(
    "fault",
    [
        "ahead._rehearse = lambda job: os._exit(3)",
        "ahead._rehearse = lambda job: 1 / 0",
        "def fail(): raise OSError('no process')\nos.fork = fail",
    ],
    ids=["it ends", "it fails", "it cannot be had"],
)
def test_without_the_second_process_the_first_does_all(tmp_path, fault):
    model, names = train_anew(tmp_path, NUMBERS, "rows.csv", fault)
    assert {"split_fields", "run_epoch"} <= set(names)
    assert model == train_here(tmp_path, "rows.csv")


# ------------------------------------------------------------------------------------------------------------ the end


def is_running(pid):
    """Return whether a process is there, and not only its name."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_it_is_ended_when_it_is_no_longer_needed():
    second = ahead._fork(lambda: time.sleep(600))
    assert second.wait(native.find)
    second.end()
    second.end()
    assert not is_running(second.pid)
    assert not second.wait(native.find)


def test_nobody_waits_for_one_that_is_stuck(monkeypatch):
    monkeypatch.setattr(ahead, "LONGEST_SECONDS", 0.05)
    second = ahead._fork(lambda: time.sleep(600))
    deadline = time.monotonic() + 30
    while second.wait(native.find):
        assert time.monotonic() < deadline
    assert not is_running(second.pid)


def test_nobody_waits_for_code_that_it_does_not_compile():
    second = ahead._fork(lambda: time.sleep(600))
    try:
        from rosenblatt.compiled.tokens import hash_spans

        assert not second.wait(hash_spans.py_func)
    finally:
        second.end()


KILLED = """
import os, time
from rosenblatt.cli import ahead
print(ahead._fork(lambda: time.sleep(600)).pid, flush=True)
time.sleep({seconds})
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_the_first_process(signal_number):
    env = os.environ | {"PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", KILLED.format(seconds=600)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as first:
        pid = int(first.stdout.readline())
        assert is_running(pid)
        first.send_signal(signal_number)
    deadline = time.monotonic() + 30
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(pid)


# -------------------------------------------------------------------------------------------------- when there is one


def test_there_is_one_only_where_nothing_is_kept_and_there_are_two_processors(tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_text(PAIRS)
    source = open_source(path)
    monkeypatch.setattr(native, "directory", lambda: tmp_path)
    monkeypatch.setattr(native, "any_kept", lambda: False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr("threading.active_count", lambda: 1)
    assert ahead._is_worthwhile(source)
    for target, name, value in [
        (native, "any_kept", lambda: True),
        (native, "directory", lambda: None),
        (os, "sched_getaffinity", lambda _: {0}),
        (ahead.threading, "active_count", lambda: 2),
        (ahead, "DISABLE_JIT", True),
        (source.inputs, "standard_input", object()),
    ]:
        with monkeypatch.context() as changed:
            changed.setattr(target, name, value)
            assert not ahead._is_worthwhile(source), name


@pytest.mark.parametrize(("text", "name"), [(NUMBERS, "rows.csv"), (PAIRS, "rows.svm"), ('"a\nb",1\n' * 30, "q.csv")])
def test_the_first_lines_are_whole_rows_and_a_few(tmp_path, monkeypatch, text, name):
    path = tmp_path / name
    path.write_text(text)
    whole = open_source(path)
    rows = [chunk.table.matrix() for chunk in whole]
    monkeypatch.setattr(ahead, "SAMPLE_BYTES", 50)
    few = [chunk.table.matrix() for chunk in ahead._first_lines(whole)]
    assert len(few) == 1
    assert 0 < few[0].shape[0] < rows[0].shape[0]
    dense = [part if isinstance(part, np.ndarray) else part.toarray() for part in (few[0], rows[0])]
    np.testing.assert_array_equal(dense[0], dense[1][: len(dense[0])])
