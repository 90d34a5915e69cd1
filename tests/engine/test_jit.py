"""Compiled functions: when Numba is imported, and what is said about the time that it takes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.engine import jit

SOURCE = Path(jit.__file__).parents[2]
needs_the_compiler = pytest.mark.skipif(jit.DISABLE_JIT, reason="the JIT is off")


def run_python(code, **options):
    """Run code in a process of its own."""
    settings = {"env": os.environ | {"PYTHONPATH": str(SOURCE)}, "capture_output": True, "text": True}
    return subprocess.run([sys.executable, "-c", code], check=False, **(settings | options))


def double(values):
    total = 0.0
    for k in range(values.size):
        total += 2.0 * values[k]
    return total


def compile_into(folder, monkeypatch, function, argument):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(folder))
    loop = jit.compiled()(function)
    return loop, loop(argument)


# --------------------------------------------------------------------------------------------------- loops and verbs

LAZY = """
import sys
import rosenblatt.engine.epoch, rosenblatt.learners.arow, rosenblatt.files.tokens, rosenblatt.training.chunked
assert "numba" not in sys.modules, "imported before a loop was called"
"""


def test_numba_is_not_imported_before_a_loop_is_called():
    done = run_python(LAZY)
    assert done.returncode == 0, done.stderr


@needs_the_compiler
def test_a_loop_has_the_name_and_the_attributes_of_its_function_and_of_its_dispatcher(monkeypatch, tmp_path):
    loop, found = compile_into(tmp_path, monkeypatch, double, np.ones(3))
    assert (loop.__name__, loop.__module__, loop.py_func) == ("double", __name__, double)
    assert found == double(np.ones(3))
    assert len(loop.overloads) == len(loop.signatures) == 1
    assert not hasattr(loop, "__nonsense__")


def halve(value):
    return jit.DISABLE_JIT, value / 2.0


@needs_the_compiler
def test_what_is_jitable_is_called_by_compiled_code_and_stays_python(monkeypatch, tmp_path):
    found = jit.jitable(halve)
    assert found is halve
    loop, result = compile_into(tmp_path, monkeypatch, lambda values: halve(values[0]), np.full(3, 5.0))
    assert result == halve(5.0) == (False, 2.5)
    assert loop.nopython_signatures


# ------------------------------------------------------------------------------------------------ the time it takes

LOUD = """
import rosenblatt.engine.jit as jit, numpy as np
jit.SILENT_SECONDS = {seconds}
for k in range(2):
    loop = jit.compiled()(lambda x: np.sort(x) + {salt})
    loop.py_func.__module__ = "rosenblatt.engine.made_up"
    loop(np.ones(3))
"""


@needs_the_compiler
@pytest.mark.parametrize(("seconds", "lines"), [(0.0, 1), (1000.0, 0)])
def test_a_long_compile_is_announced_once_and_on_stderr(tmp_path, seconds, lines):
    env = os.environ | {"PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(tmp_path)}
    done = run_python(LOUD.format(seconds=seconds, salt=seconds), env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("rosenblatt: compiling") == lines


@needs_the_compiler
def test_the_time_to_compile_is_added_up_without_the_functions_inside_twice(monkeypatch, tmp_path):
    before = jit.compile_seconds()
    assert compile_into(tmp_path, monkeypatch, double, np.ones(3, np.float32))[1] == 6.0
    spent = jit.compile_seconds() - before
    assert 0.0 < spent < 60.0
    loop, _ = compile_into(tmp_path, monkeypatch, double, np.ones(3, np.float32))
    assert loop.stats.cache_hits
    assert jit.compile_seconds() - before > spent, "to load code takes time, too"


@needs_the_compiler
def test_a_compilation_that_was_under_way_before_there_was_a_listener_ends_without_harm():
    timer = jit.CompileTimer()
    timer.end()
    assert timer.seconds == 0.0
    timer.start(double)
    timer.end()
    assert timer.seconds > 0.0
