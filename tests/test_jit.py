"""Compiled functions: where their code is kept, what is said about it, and the same as plain Python."""

import ctypes
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.config import DISABLE_JIT

from rosenblatt import jit
from rosenblatt.compiled import cycle, epochs, modular, nearest, shuffles, signs
from rosenblatt.compiled.epochs import Csr, Dense
from rosenblatt.compiled.signs import OPEN, LimbWeights, SignedIndex
from rosenblatt.jit import Cache, Patient, compiled, interpreted, patient

SOURCE = Path(jit.__file__).parents[1]
needs_the_compiler = pytest.mark.skipif(DISABLE_JIT, reason="the JIT is off")


def run_python(code, **options):
    """Run code in a process of its own."""
    settings = {"env": os.environ | {"PYTHONPATH": str(SOURCE)}, "capture_output": True, "text": True}
    return subprocess.run([sys.executable, "-c", code], check=False, **(settings | options))


# ------------------------------------------------------------------------------------------------ plain Python


def rows_of(random):
    X = random.normal(size=(30, 4)) * 10.0 ** random.integers(-3, 4, (30, 1))
    X[random.random(X.shape) < 0.4] = 0.0
    indptr = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))])
    return Dense(X), Csr(X[X != 0], np.nonzero(X)[1], indptr)


def index_of(random):
    own = random.integers(0, 3, 20)
    return SignedIndex(random.integers(0, 30, 20), own, (own + 1) % 3)


def exact_calls():
    """Every function that is interpreted where that costs less, with arguments; all but the last are in and out."""
    random = np.random.default_rng(0)
    dense, csr = rows_of(random)
    index, W = index_of(random), np.vstack([np.zeros(5), random.normal(size=(2, 5))])
    limbs = LimbWeights(random.integers(-1000, 1000, (2, 3, 5)), 10, 20)
    s, a = random.normal(size=50), np.abs(random.normal(size=50))
    p, Z = 2097143.0, np.rint(random.normal(size=(9, 3)) * 3).astype(np.int64)
    M = np.rint(random.uniform(-1e6, 1e6, (5, 5)))
    state = np.array([0, 0, 1])
    gathered = np.arange(10)
    return [
        (signs.filter_signs, (np.append(s, [np.nan, np.inf]), np.append(a, [1, 1]), 0.5, 0.1, np.zeros(52, np.int8))),
        (signs.sum_dense, (dense, index, W, False, np.zeros(20), np.zeros(20))),
        (signs.sum_csr, (csr, index, W, True, np.zeros(20), np.zeros(20))),
        (signs.sign_dense, (Dense(np.rint(dense.X)), index, limbs, False, np.full(20, OPEN, np.int8))),
        (signs.sign_csr, (csr._replace(data=np.rint(csr.data)), 4, index, limbs, False, np.full(20, OPEN, np.int8))),
        (signs.gather_dense, (dense, index, gathered, np.zeros((20, 10)))),
        (signs.gather_csr, (csr, index, 4, gathered[:0], np.zeros((20, 10)))),
        (modular.find_pivots, (M.copy(), p)),
        (modular.invert, (M.copy(), p)),
        (modular.lift_digits, (M.copy(), M.copy(), np.zeros((3, 5)) + M[0], p, np.zeros((4, 5)))),
        (modular.multiply, (np.rint(random.uniform(-1e6, 1e6, (4, 3))), np.array([3.0, 5.0]), p)),
        (modular.add_products, (np.rint(M / 1e3), np.rint(M[:2] / 1e3), np.zeros((5, 3), np.int64))),
        (modular.all_zero, (np.zeros((3, 4), np.int64),)),
        (modular.decided_quotients, (1 << 40, (1 << 39) + 12345)),
        (
            cycle.run_epochs,
            (Z, np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(9, np.int64), state, 50, 1 << 40),
        ),
        (epochs.gather, (dense, np.arange(30), random.normal(size=30), np.zeros((30, 5)))),
        (epochs.gather, (csr, np.arange(30), random.normal(size=30), np.zeros((30, 5)))),
    ]


def bits(value):
    """Everything in nested tuples of arrays and numbers, so that equal means equal to the last bit."""
    if isinstance(value, tuple):
        return [bits(part) for part in value]
    array = np.asarray(value)
    return (array.astype(float) + 0.0).tobytes() if array.dtype.kind in "fiub" else value


def copied(value):
    if isinstance(value, tuple):
        parts = [copied(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("loop", "arguments"), exact_calls(), ids=lambda value: getattr(value, "__name__", ""))
def test_patient_functions_give_the_same_bits_interpreted_and_compiled(loop, arguments):
    assert isinstance(loop, Patient)
    plain, machine = copied(arguments), copied(arguments)
    with np.errstate(all="ignore"):
        found = interpreted(loop.loop)(*plain)
    assert bits(found) == bits(loop.loop(*machine))
    assert bits(plain) == bits(machine)


def test_every_patient_function_is_in_that_test():
    modules = (cycle, epochs, modular, nearest, shuffles, signs)
    patients = {name for module in modules for name, value in vars(module).items() if isinstance(value, Patient)}
    assert patients == {loop.__name__ for loop, _ in exact_calls()}


def test_a_notebook_that_adds_functions_to_the_builtins_takes_none_away():
    """IPython adds `display` and `get_ipython` to them."""
    program = (
        "import builtins\n"
        "builtins.display = lambda *what: None\n"
        "from rosenblatt import certify\n"
        "print(certify([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0]).verdict)\n"
    )
    with tempfile.TemporaryDirectory() as nothing_compiled:
        done = run_python(program, env=os.environ | {"PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": nothing_compiled})
    assert done.stdout == "overlapping\n", done.stderr[-500:]


def test_an_interpreted_function_calls_interpreted_functions_only():
    random = np.random.default_rng(0)
    dense, csr = rows_of(random)
    plain = interpreted(epochs.run_pocket_epoch)
    for name in ("dot", "add", "consider", "_dot_dense"):
        assert plain.__globals__[name] is not getattr(epochs, name)
    assert plain.__globals__["_DOT"].get(Dense).__globals__ is plain.__globals__
    planes = epochs.Hyperplanes(random.normal(size=(1, 4)), np.zeros(1), np.ones(1))
    for rows in (dense, csr):
        out, wanted = np.zeros((30, 1)), dense.X @ planes.W.T
        interpreted(epochs.score)(rows, np.empty(0, np.int32), planes, out)
        np.testing.assert_allclose(out, wanted)


def test_a_search_is_the_same_within_rounding_whichever_way_it_is_made(monkeypatch):
    random = np.random.default_rng(0)
    A = random.normal(size=(60, 4)) + np.array([1.0, 0.0, 0.0, 0.5])
    found = []
    for most in (0, 10**6):
        monkeypatch.setattr(nearest, "INTERPRETED_ENTRIES", most)
        active = nearest.ActiveSet(
            np.zeros(6, np.int64), np.zeros(6), np.zeros((6, 5)), np.zeros((6, 6)), np.zeros(6), np.eye(5)[4]
        )
        k, end, _ = nearest.nearest_point(A, 60, active, 0, 1e-12, 100, False)
        found.append((end, sorted(active.support[:k].tolist()), active.r.copy()))
    (end, support, r), (other_end, other_support, other_r) = found
    assert (end, support) == (other_end, other_support)
    np.testing.assert_allclose(r, other_r, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------------------------------------ patience


def double(values):
    total = 0.0
    for k in range(values.size):
        total += 2.0 * values[k]
    return total


@needs_the_compiler
def test_what_is_called_often_is_compiled_in_the_end(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    loop = patient(lambda values: values.size)(compiled()(double))
    loop.left = 25.0
    for calls in range(1, 5):
        assert loop(np.ones(10)) == 20.0
        assert bool(loop.loop.overloads) == (calls >= 3), "ten operations each: the third call is beyond 25"


@needs_the_compiler
def test_code_on_disk_is_used_at_once(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    with jit.compiling_all():
        assert patient(lambda values: 1.0)(compiled()(double))(np.ones(3)) == 6.0
    again = patient(lambda values: 1.0)(compiled()(double))
    assert again(np.ones(3)) == 6.0
    assert again.loop.stats.cache_hits
    assert again.left == jit.PATIENCE_OPERATIONS, "nothing was interpreted"


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
def test_an_index_of_a_source_with_other_names_counts_as_empty(monkeypatch, tmp_path):
    _, before = compile_into(tmp_path, monkeypatch, total_of, Renamed(np.ones(3)))
    (index,) = tmp_path.rglob("*.nbi")
    monkeypatch.delattr(sys.modules[__name__], "Renamed")
    with index.open("rb") as file:
        assert pickle.load(file)
        with pytest.raises(AttributeError, match="Renamed"):
            pickle.load(file)
    loop, after = compile_into(tmp_path, monkeypatch, total_of, Renamed_again(np.ones(3)))
    assert before == after == 3.0
    assert not loop.stats.cache_hits


class Renamed_again(NamedTuple):  # noqa: N801
    """The same under its new name."""

    values: np.ndarray


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
    jit._warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        _, found = compile_into(tmp_path, monkeypatch, double, np.ones(3))
    assert found == 6.0


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


def test_no_predictable_directory_is_made_up_for_the_cache(monkeypatch):
    # Numba's cache is code: a directory that another user could have prepared must never be read.
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    jit._warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        kept = jit._cache_of(double)
    assert kept.cache_path is None
    assert not isinstance(kept, Cache)


# ------------------------------------------------------------------------------------------------ the time it takes

LOUD = """
import rosenblatt.jit as jit, numpy as np
jit.SILENT_SECONDS = {seconds}
for k in range(2):
    loop = jit.compiled()(lambda x: np.sort(x) + {salt})
    loop.py_func.__module__ = "rosenblatt.compiled.made_up"
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
    functions = jit.compiled_functions()
    compile_into(tmp_path, monkeypatch, double, np.ones(3, np.float32))
    assert jit.compiled_functions() == functions, "to load code is not to compile"
    assert jit.compile_seconds() - before > spent, "but it takes time, too"
