"""One file of texts and values: nothing but what was written comes out of it, whole or in part."""

import json
import math
import re
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from attacks.forge import content, join, split
from rosenblatt.storage.container import open_container, pack, pack_arrays, read, unpack_arrays, write
from rosenblatt.storage.registry import Fault, expect, stored

CONTENT = {
    "class": "Thing",
    "numbers": {"a": np.arange(6.0).reshape(2, 3), "b": np.arange(3, dtype=np.int16), "c": (1, 2.5, math.inf)},
    "flags": {"on": np.array([True, False]), "words": np.array(["x", "yy"], object)},
    "empty": {},
}


def packed(made=CONTENT):
    return b"".join(bytes(part) for part in pack(made))


def check(found):
    assert list(found) == list(CONTENT)
    assert found["class"] == "Thing"
    assert found["numbers"]["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["numbers"]["b"].dtype == np.int16
    assert found["numbers"]["c"] == (1, 2.5, math.inf)
    assert found["flags"]["on"].tolist() == [True, False]
    assert found["flags"]["words"].tolist() == ["x", "yy"]
    assert found["empty"] == {}


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_bytes_come_back(form):
    found = read(form(packed()))
    check(found)
    found["numbers"]["a"][0, 0] = 7  # is the reader's own
    check(read(packed()))


@pytest.mark.parametrize("form", [str, lambda path: path])
def test_files_come_back_and_hold_the_same_bytes(form, tmp_path):
    write(tmp_path / "x", CONTENT)
    assert (tmp_path / "x").read_bytes() == packed()
    check(read(form(tmp_path / "x")))


@pytest.mark.parametrize("version", ["0", "2", "", "1.0", 1, None, ["1"]])
def test_any_other_version_of_the_format_is_refused(version):
    header, tensors = split(packed())
    assert header["__metadata__"]["version"] == "1"
    header["__metadata__"]["version"] = version
    said = rf"it has version {re.escape(repr(version))} of the format, written by 'rosenblatt .*reads version '1'"
    with pytest.raises(Fault, match=said):
        read(join(header, tensors))


def test_the_safetensors_library_reads_the_file_and_tensors_are_aligned(tmp_path):
    write(tmp_path / "x", CONTENT)
    tensors = safetensors.numpy.load_file(tmp_path / "x")
    assert tensors["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tensors["on"].dtype == bool
    with safetensors.safe_open(tmp_path / "x", "np") as file:
        assert file.metadata()["format"] == "rosenblatt-model"
        assert content({"__metadata__": file.metadata()})["class"] == "Thing"
    data = packed()
    header, _ = split(data)
    start = 8 + int.from_bytes(data[:8], "little")
    assert start % 8 == 0
    for name, tensor in tensors.items():
        assert (start + header[name]["data_offsets"][0]) % tensor.itemsize == 0


# ----------------------------------------------------------------------------------------------------- opened in part


LOOKED_AT = []


@stored("tests.Witness", check=lambda witness: LOOKED_AT.append(witness.number))
class Witness(NamedTuple):
    number: int


def test_only_the_values_that_are_asked_for_are_restored():
    data = packed({"class": "Thing", "parts": {"one": Witness(1), "two": Witness(2), "rows": np.ones(3)}})
    LOOKED_AT.clear()
    opened = open_container(data)
    assert opened.text("class") == "Thing"
    assert opened.names("parts") == ["one", "two", "rows"]
    assert LOOKED_AT == []
    assert opened.value("parts", "two") == Witness(2)
    assert LOOKED_AT == [2]
    assert opened.value("parts", "rows").tolist() == [1, 1, 1]
    assert opened.value("parts", "rows") is opened.value("parts", "rows")
    assert LOOKED_AT == [2]
    assert opened.content()["parts"]["one"] == Witness(1)
    assert LOOKED_AT == [2, 1]


def test_what_is_not_there_is_a_fault():
    opened = open_container(packed())
    for ask, message in (
        (lambda: opened.text("numbers"), "no text 'numbers'"),
        (lambda: opened.text("gone"), "no text 'gone'"),
        (lambda: opened.names("class"), "no section 'class'"),
        (lambda: opened.value("gone", "a"), "no section 'gone'"),
        (lambda: opened.value("numbers", "on"), "section 'numbers' has no 'on'"),
    ):
        with pytest.raises(Fault, match=message):
            ask()


def test_to_open_a_file_checks_the_whole_seal():
    data = bytearray(packed())
    data[-1] ^= 1  # the last tensor, which nobody asks for
    with pytest.raises(Fault, match="its seal does not fit"):
        open_container(data)


def test_an_unknown_record_is_a_fault_of_its_own_value_only():
    header, tensors = split(packed())
    node = content(header)
    node["empty"] = {"spy": {"record": ["Popen", {}]}}
    opened = open_container(join(header, tensors, model=node))
    assert opened.value("numbers", "c") == (1, 2.5, math.inf)
    with pytest.raises(Fault, match="no record 'Popen'"):
        opened.value("empty", "spy")


# ------------------------------------------------------------------------------------------------ not to be trusted


def test_every_flipped_bit_is_noticed():
    data = packed()
    rng = np.random.default_rng(0)
    for place in rng.choice(len(data), min(500, len(data)), replace=False).tolist():
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        try:
            read(broken)
        except Fault:
            continue
        # White space may turn into other white space, between the parts of the header.
        assert bytes([data[place]]).isspace()
        assert bytes([broken[place]]).isspace()


def test_every_shorter_and_longer_file_is_noticed():
    data = packed()
    for length in range(0, len(data), 7):
        with pytest.raises(Fault):
            read(data[:length])
    with pytest.raises(Fault, match="its tensors take"):
        read(data + b"12345678")


def entry(name, **changes):
    def change(header):
        header[name].update(changes)

    return change


def about(**changes):
    def change(header):
        header["__metadata__"].update(changes)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (entry("a", dtype="BF16"), "unknown type 'BF16'"),
        (entry("a", dtype=3), "unknown type 3"),
        (entry("a", dtype="F32"), "does not fit its place"),
        (entry("a", shape=[-2, -3]), "has no shape"),
        (entry("a", shape=[2.0, 3]), "has no shape"),
        (entry("a", shape=[2**40, 2**40]), "has no shape"),
        (entry("a", shape=[0, 2**40, 2**40]), "has no shape"),
        (entry("a", shape=[1] * 7 + [2, 3]), "has no shape"),
        (entry("a", data_offsets=[0, 2**60]), "has no place"),
        (entry("a", data_offsets=[8, 56]), "does not fit its place"),
        (entry("a", more=1), "other names than dtype, shape, data_offsets"),
        (entry("b", dtype="BOOL", shape=[6]), "'b' has booleans other than 0 and 1"),
        (lambda header: header.update(z={"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}), "belong to nothing"),
        (lambda header: header.pop("b"), "does not fit its place"),
        (about(format="other"), "not a model file"),
        (about(more="x"), "metadata are not"),
        (about(package=3), "metadata are not text"),
        (about(model="3"), "no sections"),
        (about(model='{"a": 1}'), "no sections"),
        (about(model='{"a": "b", "a": "c"}'), "comes twice"),
        (about(model='{"a": {"b": Infinity}}'), "Infinity, which is not JSON"),
        (about(model='{"a": {"b": 1e999}}'), "too large"),
        (about(model='{"a": {"b": ' + "[" * 100_000), "nested too deeply"),
    ],
)
def test_a_lie_under_a_true_seal_is_refused(change, message):
    header, tensors = split(packed())
    change(header)
    with pytest.raises(Fault, match=message):
        read(join(header, tensors))


def test_headers_that_are_none_are_refused():
    good = json.dumps(split(packed({}))[0]).encode()
    for text, message in (
        (good.replace(b'{"__metadata__":', b'{"__metadata__": {}, "__metadata__":'), "comes twice"),
        (b'{"__metadata__": {"format": NaN}}', "NaN, which is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff\xff", "not text"),
        (b"{", "not JSON"),
        (b"[]", "not a model file"),
        (b'{"__metadata__": 3}', "not a model file"),
        (b'{"__metadata__": {"format": "rosenblatt-model", "version": 1}}', "version 1 of the format"),
    ):
        with pytest.raises(Fault, match=message):
            read(len(text).to_bytes(8, "little") + text)
    with pytest.raises(Fault, match="it is cut short, or damaged: its header would have"):
        read((2**63).to_bytes(8, "little") + good)


def test_a_file_of_a_tebibyte_with_nothing_in_it_is_refused_at_once(tmp_path):
    write(tmp_path / "x", {})
    header = json.dumps(split((tmp_path / "x").read_bytes())[0]).encode()
    with open(tmp_path / "x", "wb") as file:
        file.write((2**39).to_bytes(8, "little") + header)
        file.truncate(2**40)
    with pytest.raises(Fault, match="it is cut short, or damaged: its header would have"):
        read(tmp_path / "x")
    with open(tmp_path / "x", "r+b") as file:
        file.write(len(header).to_bytes(8, "little"))
    with pytest.raises(Fault, match="its tensors take 0 bytes"):
        read(tmp_path / "x")


def test_what_cannot_be_written_leaves_no_file(tmp_path):
    nested: list = []
    nested.append(nested)
    for value, message in ((print, "is or holds"), (10**5000, "cannot be written"), (nested, "nested too deeply")):
        with pytest.raises(Fault, match=message):
            write(tmp_path / "x", {"parts": {"value": value}})
    assert not list(tmp_path.iterdir())


def refuse(record):
    expect(False, "never")


@stored("tests.Refused", check=refuse)
class Refused(NamedTuple):
    number: int


def test_a_record_that_fails_its_check_is_not_written(tmp_path):
    with pytest.raises(Fault, match="never"):
        write(tmp_path / "x", {"parts": {"value": Refused(1)}})
    assert not list(tmp_path.iterdir())


# Not getrusage, which counts the process that started this one, too.
MEMORY = """
import re, sys
from pathlib import Path
from rosenblatt.storage.container import open_container
unit, count = sys.argv[1].encode(), (1 << 26) // len(sys.argv[1]) - 10
data = b"[" + unit * count + unit[:-1] + b"]"
data = len(data).to_bytes(8, "little") + data

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

before = peak()
try:
    open_container(data)
except ValueError as error:
    print(error)
print((peak() - before) * 1024 / len(data))
"""


@pytest.mark.parametrize("unit", ["[],", "{},", '{"":0},', '"ab",', "1234,"])
def test_a_long_header_is_refused_before_it_takes_memory(unit):
    result = subprocess.run([sys.executable, "-c", MEMORY, unit], capture_output=True, text=True, check=True)
    message, times = result.stdout.splitlines()
    assert "its header would take" in message
    assert float(times) < 5


def test_what_would_be_refused_because_of_its_header_is_not_written():
    with pytest.raises(Fault, match="its header would take"):
        pack({"model": {"labels": np.array([1, "a"] * 600_000, object)}})


# -------------------------------------------------------------------------------------------- arrays without a model

ARRAYS = {
    "flags": np.array([1, 0, 1], np.uint8),
    "wide": np.arange(6.0).reshape(2, 3),
    "none": np.zeros((0, 4), np.int32),
    "turned": np.arange(6, dtype=np.float32).reshape(2, 3).T,
}


def test_arrays_and_a_text_survive_a_message():
    message = pack_arrays('{"a": "\u00e9"}', ARRAYS)
    about, found = unpack_arrays(message)
    assert json.loads(about) == {"a": "\u00e9"}
    for reader in (found, safetensors.numpy.load(message)):
        assert reader.keys() == ARRAYS.keys()
        assert all(np.array_equal(reader[name], array) and reader[name].dtype == array.dtype
                   for name, array in ARRAYS.items())  # fmt: skip


def test_numbers_of_another_byte_order_are_turned_round():
    assert unpack_arrays(pack_arrays("", {"x": np.arange(3, dtype=">f8")}))[1]["x"].tolist() == [0, 1, 2]


def test_a_damaged_message_is_refused_whatever_is_damaged():
    message = pack_arrays("text", ARRAYS)
    for length in range(len(message)):
        with pytest.raises(Fault):
            unpack_arrays(message[:length])
    with pytest.raises(Fault, match="take"):
        unpack_arrays(message + b"x")
    for wrong in (b"", b"\xff" * 8, b"\x02" + b"\0" * 7 + b"[]", b"\x02" + b"\0" * 7 + b"\xff\xfe"):
        with pytest.raises(Fault):
            unpack_arrays(wrong)
