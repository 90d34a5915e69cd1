"""One safetensors file of texts and named values: its layout, its header and its seal.

The seal, a digest of the content, guards against accidents. The caller checks whether the values make sense. The
format is described in docs/reference/model-files.md.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import math
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np

from rosenblatt.storage.atomic import replace_file, write_to
from rosenblatt.storage.checks import entries, is_integer
from rosenblatt.storage.kinds import BYTES_OF_KIND, kind_of_file
from rosenblatt.storage.registry import Fault, expect
from rosenblatt.storage.values import DTYPE_CODES, DTYPES, Array, Decoder, Encoder, raw_bytes

Content = dict[str, str | dict[str, Any]]  # texts, and sections of named values
Source = str | os.PathLike[str] | bytes | bytearray | memoryview

FORMAT = "rosenblatt-model"
VERSION = "1"
MAX_HEADER_BYTES = 1 << 26  # long values, such as names and records, are tensors
# Bytes in memory for each of these characters in JSON: objects, their entries, lists, and separated values.
BYTES_PER_CHARACTER = {"{": 184, ":": 100, "[": 56, ",": 60}
# The header may take BYTES_PER_FILE_BYTE times the size of the file in memory, and MIN_PARSED_BYTES in any case.
BYTES_PER_FILE_BYTE = 8
MIN_PARSED_BYTES = 1 << 26

CONTROL_BYTES = {*range(32)} - {9, 10, 13}  # never in text
_METADATA = {"format", "version", "package", "model", "seal"}


def write(target: Any, content: Content) -> None:
    """Write texts and sections of named values to a file, which appears whole or not at all, or to a file object.

    Raises a `Fault` if a file cannot hold a value, or a record failed its check.
    """
    parts = pack(content)
    if isinstance(target, Path):
        replace_file(target, parts)
    else:
        write_to(target, parts)


def pack(content: Content) -> list[Any]:
    """Return the bytes of a file, in parts: the length of the header, the header, and the tensors."""
    encoder = Encoder()
    try:
        nodes = {
            key: part if isinstance(part, str) else {name: encoder.node(value, name) for name, value in part.items()}
            for key, part in content.items()
        }
        header, tensors = _lay_out(nodes, encoder.tensors)
    except RecursionError:
        raise Fault("a value is nested too deeply") from None
    return [len(header).to_bytes(8, "little"), header, *tensors]


def read(source: Source) -> Content:
    """Read a path, or the content of a file that `write` or `pack` made.

    Nothing in it is run, and nothing outside its bytes is read. Raises a `Fault` if the file is damaged, of an unknown
    version, has unknown names, or holds a record that failed its check.
    """
    return open_container(source).content()


def open_container(source: Source) -> Container:
    """Open a file for callers that need only some of its values; its layout and its seal are checked as a whole."""
    try:
        if isinstance(source, bytes | bytearray | memoryview):
            with io.BytesIO(source) as file:
                return Container(*_unpack(file, memoryview(source).nbytes))
        with open(source, "rb") as file:
            return Container(*_unpack(file, os.fstat(file.fileno()).st_size))
    except RecursionError:
        raise Fault("it is nested too deeply") from None


class Container:
    """Texts and sections of an open file. Values are restored lazily."""

    def __init__(self, nodes: dict[str, Any], tensors: dict[str, Array]) -> None:
        self._nodes = nodes
        self._decoder = Decoder(tensors)
        self._values: dict[tuple[str, str], Any] = {}

    def text(self, key: str) -> str:
        """Return a text; raise a `Fault` if it does not exist."""
        found = self._nodes.get(key)
        expect(isinstance(found, str), f"it has no text {key!r:.60}")
        return str(found)

    def names(self, section: str) -> list[str]:
        """Return the names of the values of a section; raise a `Fault` if there is no such section."""
        found = self._nodes.get(section)
        if not isinstance(found, dict):
            raise Fault(f"it has no section {section!r:.60}")
        return list(found)

    def value(self, section: str, name: str) -> Any:
        """Return a value, always the same object; raise a `Fault` if it does not exist."""
        expect(name in self.names(section), f"its section {section!r:.60} has no {name!r:.60}")
        if (section, name) not in self._values:
            try:
                self._values[section, name] = self._decoder.value(self._nodes[section][name])
            except RecursionError:
                raise Fault("it is nested too deeply") from None
        return self._values[section, name]

    def content(self) -> Content:
        """Return all texts and values; raise a `Fault` also if a tensor is unused."""
        content = {
            key: part if isinstance(part, str) else {name: self.value(key, name) for name in part}
            for key, part in self._nodes.items()
        }
        unused = self._decoder.tensors.keys() - self._decoder.uses.keys()
        expect(not unused, f"it has tensors that belong to nothing: {', '.join(sorted(unused)):.60}")
        return content


# ------------------------------------------------------------------------------------------------------------ writing


@cache
def _package() -> str:
    """Return the name and version of the package. Cached: the lookup takes longer than reading a small file."""
    return f"rosenblatt {importlib.metadata.version('rosenblatt')}"


def _seal(header: dict[str, Any], tensors: Iterable[Array]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True, separators=(",", ":")).encode())
    for tensor in tensors:
        digest.update(raw_bytes(tensor).data)
    return digest.hexdigest()


def _places(tensors: dict[str, Array]) -> dict[str, Any]:
    """Return the header's entry of each tensor in the order of the file: wide numbers first, which aligns all."""
    found, end = {}, 0
    for name in sorted(tensors, key=lambda name: (-tensors[name].itemsize, name)):
        start, end = end, end + tensors[name].nbytes
        code, shape = DTYPE_CODES[tensors[name].dtype], [int(size) for size in tensors[name].shape]
        found[name] = {"dtype": code, "shape": shape, "data_offsets": [start, end]}
    return found


def _padded(header: str) -> bytes:
    text = header.encode()
    return text + b" " * (-len(text) % 8)


def _lay_out(nodes: dict[str, Any], tensors: dict[str, Array]) -> tuple[bytes, list[Array]]:
    """Return the header and the bytes of the tensors."""
    try:
        model = json.dumps(nodes, allow_nan=False)
    except ValueError as error:  # an integer of thousands of digits
        raise Fault(f"a value cannot be written ({error})") from None
    metadata = {"format": FORMAT, "version": VERSION, "package": _package(), "model": model}
    places = _places(tensors)
    header: dict[str, Any] = {"__metadata__": metadata} | places
    metadata["seal"] = _seal(header, (tensors[name] for name in places))
    shown = json.dumps(header)
    _check_room(shown, 8 + len(shown) + sum(tensor.nbytes for tensor in tensors.values()))
    text = _padded(shown)
    expect(len(text) <= MAX_HEADER_BYTES, f"its header has {len(text)} bytes, of at most {MAX_HEADER_BYTES}")
    return text, [raw_bytes(tensors[name]) for name in places]


# ------------------------------------------------------------------------------------------------------------ reading


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    expect(len(found) == len(pairs), "a key of its header comes twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise Fault(f"its header has {name}, which is not JSON")


def _check_room(text: str, size: int) -> None:
    """Raise a `Fault` if a text of JSON would take more memory than a file of this size justifies."""
    needed = sum(count * text.count(character) for character, count in BYTES_PER_CHARACTER.items())
    room = max(MIN_PARSED_BYTES, BYTES_PER_FILE_BYTE * size)
    expect(needed <= room, f"its header would take {needed} bytes of memory, of {room} for a file of {size} bytes")


def _parse(text: str, size: int) -> Any:
    _check_room(text, size)
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except ValueError as error:
        raise Fault(f"its header is not JSON ({error})") from None


def _unpack(file: BinaryIO, size: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the nodes and the tensors of a file, after checking its layout and seal."""
    length = int.from_bytes(file.read(8), "little")
    expect(size >= 8, f"it has {size} bytes and no header")
    if length > min(MAX_HEADER_BYTES, size - 8):
        raise Fault(_what_it_is(file, size))
    try:
        header = _parse(file.read(length).decode(), size)
    except UnicodeDecodeError:
        raise Fault("its header is not text") from None
    model, seal = _take_metadata(header)
    layout = _check_tensors(header, size - 8 - length)
    tensors = {name: _read_tensor(file, dtype, shape) for name, dtype, shape in layout}
    expect(_seal(header, tensors.values()) == seal, "its seal does not fit: it was damaged or changed")
    for name, tensor in tensors.items():
        if tensor.dtype == bool and tensor.size:
            expect(raw_bytes(tensor).max() <= 1, f"{name!r:.60} has booleans other than 0 and 1")
    nodes = _parse(model, size)
    sections = isinstance(nodes, dict) and all(isinstance(part, str | dict) for part in nodes.values())
    expect(sections, "it has no sections")
    return nodes, tensors


def _what_it_is(file: BinaryIO, size: int) -> str:
    """Describe a file that does not begin with a header."""
    file.seek(0)
    start = file.read(BYTES_OF_KIND)
    if start[8:9] == b"{":
        return (
            f"it is cut short, or damaged: its header would have {int.from_bytes(start[:8], 'little')} bytes of {size}"
        )
    kind, _ = kind_of_file(start)
    text = not kind and not set(start) & CONTROL_BYTES
    return f"it is {kind or ('a text file' if text else 'not a safetensors file')}, and not a model of rosenblatt"


def _take_metadata(header: Any) -> tuple[str, str]:
    """Return the model and the seal, which is taken out of the header."""
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    known = isinstance(metadata, dict) and metadata.get("format") == FORMAT
    expect(known, "it is not a model file of rosenblatt")
    assert isinstance(metadata, dict)
    version = metadata.get("version")
    expect(
        version == VERSION,
        f"it has version {version!r:.60} of the format, written by {metadata.get('package')!r:.60}; this is "
        f"{_package()}, which reads version {VERSION!r}",
    )
    expect(metadata.keys() == _METADATA, f"its metadata are not {', '.join(sorted(_METADATA))}")
    expect(all(isinstance(text, str) for text in metadata.values()), "its metadata are not text")
    return metadata["model"], metadata.pop("seal")


def _check_tensors(header: dict[str, Any], room: int) -> list[tuple[str, np.dtype[Any], list[int]]]:
    """Return names, types and shapes of the tensors in the order of the file, which they must fill without a gap."""
    found = []
    for name, entry in header.items():
        if name != "__metadata__":
            code, shape, offsets = entries(entry, ("dtype", "shape", "data_offsets"))
            expect(isinstance(code, str) and code in DTYPES, f"tensor {name!r:.60} has the unknown type {code!r:.60}")
            sound = isinstance(shape, list) and len(shape) <= 8 and all(map(is_integer, shape))
            # Also an array without entries must have a shape that an address, of 48 bits, could reach.
            reachable = sound and math.prod(max(side, 1) for side in shape) < 1 << 48
            expect(reachable, f"tensor {name!r:.60} has no shape")
            ends = isinstance(offsets, list) and len(offsets) == 2 and all(map(is_integer, offsets))
            expect(ends, f"tensor {name!r:.60} has no place")
            found.append((*offsets, name, DTYPES[code], shape))
    found.sort(key=lambda entry: entry[:3])
    place = 0
    for start, end, name, dtype, shape in found:
        fits = start == place and end - start == math.prod(shape) * dtype.itemsize
        expect(fits, f"tensor {name!r:.60} of shape {shape} does not fit its place from {start} to {end}")
        place = end
    expect(place == room, f"its tensors take {place} bytes, of which the file has {room}")
    return [entry[2:] for entry in found]


def _read_tensor(file: BinaryIO, dtype: np.dtype[Any], shape: list[int]) -> Array:
    array = np.empty(shape, dtype)
    expect(file.readinto(raw_bytes(array)) == array.nbytes, "it ends too early")  # type: ignore[attr-defined]
    return array


# -------------------------------------------------------------------------------------------- arrays without a model


def pack_arrays(about: str, arrays: dict[str, Array]) -> bytes:
    """Return named arrays and a text in the same layout, but without a seal: for transient messages."""
    plain = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    places = _places(plain)
    text = _padded(json.dumps({"__metadata__": {"about": about}} | places))
    parts = [raw_bytes(plain[name]).data for name in places]
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def unpack_arrays(content: bytes) -> tuple[str, dict[str, Array]]:
    """Return the text and the arrays of a message, whose layout must fill it exactly. The arrays are to read."""
    size = len(content)
    expect(size >= 8, f"it has {size} bytes and no header")
    length = int.from_bytes(content[:8], "little")
    expect(length <= min(MAX_HEADER_BYTES, size - 8), f"its header would have {length} bytes, of {size} in all")
    try:
        header = _parse(content[8 : 8 + length].decode(), size)
    except UnicodeDecodeError:
        raise Fault("its header is not text") from None
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    about = metadata.get("about") if isinstance(metadata, dict) else None
    expect(isinstance(about, str), "its metadata have no text 'about'")
    arrays, place = {}, 8 + length
    for name, dtype, shape in _check_tensors(header, size - place):
        arrays[name] = np.ndarray(shape, dtype, content, place)
        place += arrays[name].nbytes
    return str(about), arrays
