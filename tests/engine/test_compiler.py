"""Compiled functions: where their code is kept, and what is said about it."""

import ctypes
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import typeof
from numba.core.config import DISABLE_JIT

from rosenblatt.engine import compiler
from rosenblatt.engine.compiler import CodeCache
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import Dense, dot

SOURCE = Path(compiler.__file__).parents[2]
needs_the_compiler = pytest.mark.skipif(DISABLE_JIT, reason="the JIT is off")


def run_python(code, **options):
    """Run code in a process of its own."""
    settings = {"env": os.environ | {"PYTHONPATH": str(SOURCE)}, "capture_output": True, "text": True}
    return subprocess.run([sys.executable, "-c", code], check=False, **(settings | options))


def double(values):
    total = 0.0
    for k in range(values.size):
        total += 2.0 * values[k]
    return total


# ------------------------------------------------------------------------------------------------ the disk cache


class Renamed(NamedTuple):
    """A structure that a later version of the source does not have."""

    values: np.ndarray


def total_of(record):
    return record.values.sum()


def compile_into(folder, monkeypatch, function, argument):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(folder))
    loop = compiled()(function)
    return loop, loop(argument)


@needs_the_compiler
def test_an_index_is_read_without_its_types_and_code_belongs_to_the_class_of_its_name(monkeypatch, tmp_path):
    _, before = compile_into(tmp_path, monkeypatch, total_of, Renamed(np.ones(3)))
    (index,) = tmp_path.rglob("*.nbi")
    monkeypatch.delattr(sys.modules[__name__], "Renamed")
    with index.open("rb") as file:
        assert pickle.load(file)
        assert b"Renamed" not in file.read()
    loop, after = compile_into(tmp_path, monkeypatch, total_of, Renamed_again(np.ones(3)))
    assert before == after == 3.0
    assert not loop.stats.cache_hits


class Renamed_again(NamedTuple):  # noqa: N801
    """The same under its new name."""

    values: np.ndarray


@pytest.mark.parametrize("nest", [lambda record: record, lambda record: (record, 1)], ids=["record", "tuple"])
def test_classes_of_the_same_name_in_two_modules_do_not_share_code(nest):
    first, second = (namedtuple("Rule", ["rate"], module=module)(0.5) for module in ("one", "another"))
    keys = [((typeof(nest(record)),), "machine") for record in (first, second, first._replace(rate=1.5))]
    digests = [compiler._digest(key) for key in keys]
    assert digests[0] == digests[2] != digests[1]


@needs_the_compiler
@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\x80\x04", None])
def test_a_damaged_cache_counts_as_empty_and_is_mended(monkeypatch, tmp_path, pattern, damage):
    compile_into(tmp_path, monkeypatch, double, np.ones(3))
    for file in tmp_path.rglob(pattern):
        file.write_bytes(file.read_bytes()[:-40] if damage is None else damage)
    loop, found = compile_into(tmp_path, monkeypatch, double, np.ones(3))
    assert found == 6.0
    assert not loop.stats.cache_hits
    again, _ = compile_into(tmp_path, monkeypatch, double, np.ones(3))
    assert again.stats.cache_hits


@needs_the_compiler
def test_a_disk_that_is_full_costs_a_warning_and_no_more(monkeypatch, tmp_path):
    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._dump", full)
    compiler.warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        _, found = compile_into(tmp_path, monkeypatch, double, np.ones(3))
    assert found == 6.0


def dot_twice(rows, W):
    return 2.0 * dot(rows, 0, W, 0)


@needs_the_compiler
def test_an_edit_in_any_file_of_the_engine_makes_loops_compile_again(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler, "SOURCE", tmp_path)
    source = tmp_path / "engine" / "rows.py"
    source.parent.mkdir()
    hits = []
    for text in ("first", "first", "another", "another"):
        source.write_text(text)
        os.utime(source, (0, 0))
        compiler.room_stamp.cache_clear()
        loop = compiled()(dot_twice)
        assert loop(Dense(np.ones((1, 3))), np.ones((1, 3))) == 6.0
        hits.append(bool(loop.stats.cache_hits))
    assert hits == [False, True, False, True]


def obey_permissions():
    """Give up root's right to write everywhere, in a process about to start (PR_CAPBSET_DROP, CAP_DAC_OVERRIDE)."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


READ_ONLY = """
import os, sys, warnings
if os.access(sys.argv[1], os.W_OK):
    sys.exit(77)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import rosenblatt
    model = rosenblatt.Perceptron().fit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 1])
assert rosenblatt.__file__.startswith(sys.argv[1]), rosenblatt.__file__
print(model.predict([[0, 0], [1, 1]]).tolist())
print(sum("NUMBA_CACHE_DIR" in str(one.message) for one in said))
"""


@needs_the_compiler
def test_it_works_with_a_warning_where_nothing_is_writable():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(SOURCE / "rosenblatt", folder / "rosenblatt", ignore=shutil.ignore_patterns("__pycache__"))
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "HOME"))}
        env = kept | {"PYTHONPATH": name, "HOME": "/dev/null/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", READ_ONLY, name]
        done = subprocess.run(
            command, env=env, cwd="/", capture_output=True, text=True, check=False, preexec_fn=obey_permissions
        )
        folder.chmod(0o755)
        for path in folder.rglob("*"):
            path.chmod(0o755)
    if done.returncode == 77:
        pytest.skip("permissions do not bind this user")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["[0, 1]", "1"], "one warning, and the right classes"


@needs_the_compiler
def test_no_predictable_directory_is_made_up_for_the_cache(monkeypatch):
    # Numba's cache is code: a directory that another user could have prepared must never be read.
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    compiler.warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        loop = compiler.dispatcher_of(double, {})
    assert loop(np.ones(3)) == 6.0
    assert not isinstance(loop._cache, CodeCache)


# ------------------------------------------------------------------------------------------------ several processes


@needs_the_compiler
def test_an_index_that_another_process_has_overwritten_never_names_code_for_other_types(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    files = CodeCache(double)._cache_file
    files.save("one type", "its code")
    index = Path(files._index_path)
    before = index.read_bytes()
    index.unlink()  # the other process saw none
    files.save("another type", "other code")
    assert files.load("one type") is None
    index.write_bytes(before)
    assert files.load("one type") == "its code"


@needs_the_compiler
def test_code_is_listed_when_it_is_there(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    files = CodeCache(double)._cache_file
    seen = []
    monkeypatch.setattr(files, "_save_data", lambda name, data: seen.append(os.path.exists(files._index_path)))
    files.save("a type", "its code")
    assert seen == [False]
