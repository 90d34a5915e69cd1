"""Code that is called without Numba does what Numba's does, and what is unusual is left to Numba."""

import gc
import json
import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from commands import run
from rosenblatt import jit, native

pytestmark = [
    pytest.mark.skipif(jit.DISABLE_JIT, reason="the JIT is off"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="object files are not ELF"),
]


class Pair(NamedTuple):
    """Arguments in a structure."""

    values: np.ndarray
    factor: float


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """A folder for code, which is kept and used."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setattr(native, "_found", {})
    native.directory.cache_clear()
    native.enable()
    yield tmp_path / "rosenblatt"
    native.disable()
    native.directory.cache_clear()


def own(function):
    """Return a function as if it were the package's."""
    function.__module__ = "rosenblatt.made_up"
    return function


@own
def total(values, pair, more, negative):
    result = 0.0
    for k in range(values.shape[0]):
        for j in range(values.shape[1]):
            result += values[k, j] * pair.factor
    result += pair.values[0] + more[0] * more[1]
    return (-result if negative else result), values.shape[0], negative


@own
def double_in_place(values):
    for k in range(values.size):
        values[k] *= 2


@own
def double_into(values, into, factor):
    if into is None:
        into = values
    for k in range(values.size):
        into[k] = factor * values[k]


@own
def quotient(values, divisor):
    values[0] += 1
    return 7 // divisor


@own
def allocates(values):
    return np.zeros(values.size + 1)[0] + values[0]


def both(function, *args):
    """Call a function through Numba, and then its kept code."""
    with_numba = jit.compiled()(function)(*args)
    native._found.clear()  # what was not there before
    return with_numba, native.find(function, args)(args)


LAYOUTS = {
    "rows": np.arange(12.0).reshape(3, 4),
    "columns": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "strided": np.arange(48.0).reshape(6, 8)[::2, ::-2],
    "empty": np.empty((0, 4)),
    "single precision": np.arange(12, dtype=np.float32).reshape(3, 4),
}


@pytest.mark.parametrize("values", LAYOUTS.values(), ids=list(LAYOUTS))
def test_arrays_structures_and_numbers_arrive_and_results_come_back(kept, values):
    for negative in (True, False):
        args = (values, Pair(np.array([0.5]), 1.5), (2, 3.25), negative)
        with_numba, without = both(total, *args)
        assert with_numba == without == total(*args)
        assert list(map(type, without)) == [float, int, bool]


def test_arrays_are_changed_in_place_and_no_result_is_none(kept):
    values = np.arange(4)
    assert both(double_in_place, values) == (None, None)
    assert values.tolist() == [0, 4, 8, 12]


def test_the_words_for_types_are_those_of_numba():
    from numba import typeof

    read_only = np.zeros(2, np.uint8)
    read_only.flags.writeable = False
    values = [*LAYOUTS.values(), read_only, 1, -(2**63), 1.5, True, np.int32(4), np.float32(2), np.bool_(True)]
    values += [
        (1, 2),
        (1, 2.0),
        Pair(np.zeros(1), 2.0),
        (Pair(np.zeros(1), 2.0), (1,)),
        np.zeros((2, 2), np.int8),
        None,
    ]
    for value in values:
        assert native.kind_of(value) == native.numbas_kind(typeof(value))


@pytest.mark.parametrize("value", [2**63, "text", 1j, [1], {}])
def test_other_types_are_left_to_numba(value):
    with pytest.raises(jit.NotKept):
        native.kind_of(value)


def test_an_exception_of_a_loop_is_raised_as_by_numba(kept):
    loop = jit.compiled()(quotient)
    assert loop(np.zeros(1), 2) == 3
    native._found.clear()
    fresh = jit.compiled()(quotient)
    assert fresh(np.zeros(1), 2) == 3
    assert fresh._dispatcher is None, "the kept code was used"
    with pytest.raises(ZeroDivisionError):
        fresh(np.zeros(1), 0)


def test_a_loop_that_allocates_is_not_kept(kept):
    assert jit.compiled()(allocates)(np.ones(3)) == 1.0
    assert not list(kept.glob("*.loop"))
    with pytest.raises(jit.NotKept):
        native.find(allocates, (np.ones(3),))


def test_nothing_is_kept_or_used_unless_that_is_wanted(kept):
    native.disable()
    jit.compiled()(double_in_place)(np.ones(3))
    assert not list(kept.glob("*.loop"))


def test_code_that_needs_an_unknown_name_is_refused_and_other_code_still_works(kept):
    both(double_in_place, np.arange(4))
    (file,) = kept.glob("*.loop")
    first, _, code = file.read_bytes().partition(b"\n")
    head = json.loads(first)
    for _ in range(3):  # what is refused is freed, with its engine
        with pytest.raises(jit.NotKept):
            native._loaded(head | {"needed": ["no_such_name"]}, code)
    native._found.clear()
    values = np.arange(4)
    assert native.find(double_in_place, (values,))((values,)) is None
    assert values.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("damage", ["code", "head", "short", "empty", "sources"])
def test_damaged_or_outdated_code_is_never_run(kept, damage):
    both(double_in_place, np.arange(4))
    (file,) = kept.glob("*.loop")
    content = bytearray(file.read_bytes())
    if damage == "code":
        content[-100] ^= 1
    elif damage == "head":
        content[5] = 0
    elif damage == "sources":
        content = content.replace(b'"sources": "[', b'"sources": "[1')
    file.write_bytes(content[: {"short": -1, "empty": 0}.get(damage, len(content))])
    native._found.clear()
    with pytest.raises(jit.NotKept):
        native.find(double_in_place, (np.arange(4),))
    native._found.clear()
    jit.compiled()(double_in_place)(np.arange(4))
    native._found.clear()
    assert native.find(double_in_place, (np.arange(4),)), "it was written anew"


def test_object_files_of_other_systems_are_left_to_numba():
    for code in (b"", b"\xcf\xfa\xed\xfe" + bytes(100), b"MZ" + bytes(100), b"\x7fELF\x01\x01" + bytes(100)):
        with pytest.raises(jit.NotKept):
            native.undefined_symbols(code)


COMMAND = """
import sys
from rosenblatt.cli.main import main
try:
    main(["train", *sys.argv[1:], "--quiet"], standalone_mode=False)
finally:
    print("numba" in sys.modules)
"""
FILES = {
    "rows.svm": "1 1:1 3:0.5\n-1 2:1\n-1 1:0.25 4:3\n" * 9,
    "classes.svm": "1 1:1 3:0.5\n2 2:1\n3 1:0.25 4:3\n" * 9,
    "rows.vw": "1 | a b:2 c\n-1 |x d e:0.5\n" * 9,
    "rows.txt": "yes\ta word and another\nno\tnone of these words\n" * 9,
    "rows.csv": "x,city,words,label\n1.5,Rome,so it is,yes\n2.5,Oslo,so it was,no\n" * 1 + "3,Bern,it was so,no\n" * 9,
    "numbers.csv": "x,y,label\n1.5,2,1\n2.5,1,0\n" + "3,0.5,0\n" * 9,
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A folder for compiled code, empty at first."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("name", FILES)
def test_a_command_needs_no_numba_the_second_time_and_writes_the_same_model(tmp_path, cache, name):
    rows = tmp_path / name
    rows.write_text(FILES[name])
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    models, imported = [], []
    for k in range(2):
        target = tmp_path / f"{k}.model"
        command = [sys.executable, "-c", COMMAND, str(rows), "--model", str(target)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        models.append(target.read_bytes())
        imported.append(done.stdout.strip())
    assert models[0] == models[1]
    assert imported == ["True", "False"]


def test_none_in_the_place_of_an_array_arrives(kept):
    for into in (None, np.zeros(3)):
        values = np.arange(3.0)
        both(double_into, values, into, 3.0)  # twice
        assert (values if into is None else into).tolist() == ([0.0, 9.0, 18.0] if into is None else [0.0, 3.0, 6.0])


def test_a_folder_that_others_can_write_to_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    native.directory.cache_clear()
    assert native.directory() == tmp_path / "rosenblatt"
    (tmp_path / "rosenblatt").chmod(0o777)
    native.directory.cache_clear()
    assert native.directory() is None
    native.directory.cache_clear()


def test_commands_look_for_garbage_and_leave_the_setting_as_it_was():
    before = gc.get_threshold()
    run("--version")
    assert gc.get_threshold() == before
    assert gc.isenabled()


def test_code_of_another_version_of_the_sources_does_not_count_as_kept(kept):
    assert not native.any_kept()
    loop = jit.compiled()(double_in_place)
    loop(np.ones(3))
    assert native.any_kept()
    (path,) = kept.glob("*.loop")
    first, code = path.read_bytes().split(b"\n", 1)
    head = json.loads(first)
    sources = [(name, time - 1, size) for name, time, size in json.loads(head["sources"])]
    path.write_bytes(json.dumps(head | {"sources": json.dumps(sources)}).encode() + b"\n" + code)
    assert not native.any_kept()
    path.write_bytes(b"{}")
    assert not native.any_kept()
