"""Python values in one safetensors file: arrays as tensors, the rest as JSON, and nothing that can run.

A value that JSON does not know is an object with a single key, the tag that says how to read it. Only tags and types
that the reader knows can be named. A seal guards against accidents; that what was read makes sense is for the caller to
check. The format is described in docs/reference/model-files.md.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
import stat
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, NoReturn, get_type_hints

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]
Content = dict[str, str | dict[str, Any]]
Types = Mapping[str, type]  # records and enumerations that a file may name

FORMAT, VERSION = "rosenblatt-model", "1"
# No header comes near: whatever may be long, such as names and records, is in tensors.
MOST_HEADER = 1 << 26
# A tensor stands for equal arrays up to so often, so that a small file cannot grow large in memory.
MOST_USES = 8
# Sequences of numbers from this length on are tensors.
LONG = 16
WIDEST = 1 << 20  # characters of a label

_DTYPES = {
    "BOOL": np.dtype("?"),
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    **{f"{kind}{8 * size}": np.dtype(f"<{kind.lower()}{size}") for kind in "IU" for size in (1, 2, 4, 8)},
}
_CODES = {dtype: name for name, dtype in _DTYPES.items()}
_SCALARS: dict[str, Any] = {dtype.name: dtype.type for dtype in _DTYPES.values()} | {"str": np.str_}
_SPARSE = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array, "csc_matrix": sp.csc_matrix}
_COMPRESSED = ("data", "indices", "indptr")
_METADATA = {"format", "version", "package", "model", "seal"}


class Fault(InvalidInput):
    """What cannot be stored, or not be believed, without a full stop: the caller says of which model or file."""


def expect(condition: Any, fault: str) -> None:
    """Raise a `Fault` unless the condition holds."""
    if not condition:
        raise Fault(fault)


def write(path: Path, content: Content, types: Types) -> None:
    """Write texts and sections of named values to a file, which appears whole or not at all.

    Parameters
    ----------
    path : Path
    content : dict
    types : mapping from names to classes
        NamedTuples, dataclasses and enumerations that may be among the values; one with `to_dict` and `from_dict` is
        stored as what they give and take.

    Raises
    ------
    Fault
        If a value is of a kind that a file cannot hold.
    """
    store = _Store(types)
    try:
        nodes = {
            key: part if isinstance(part, str) else {name: store.node(value, name) for name, value in part.items()}
            for key, part in content.items()
        }
        header, tensors = _pack(nodes, store.tensors)
    except RecursionError:
        raise Fault("a value is nested too deeply") from None
    replace_file(path, [len(header).to_bytes(8, "little"), header, *tensors])


def read(path: str, types: Types) -> Content:
    """Read what `write` wrote; nothing in the file is run, and nothing outside its bytes is read.

    Parameters
    ----------
    path : str
    types : mapping from names to classes
        As for `write`; the types of their fields are not checked.

    Returns
    -------
    dict

    Raises
    ------
    Fault
        If the file is damaged, of another version, or names what is not known.
    """
    try:
        nodes, tensors = _open(path)
        restore = _Restore(tensors, types)
        content = {
            key: part if isinstance(part, str) else {name: restore.value(node) for name, node in part.items()}
            for key, part in nodes.items()
        }
    except RecursionError:
        raise Fault("it is nested too deeply") from None
    unused = tensors.keys() - restore.uses.keys()
    expect(not unused, f"it has tensors that belong to nothing: {', '.join(sorted(unused)):.60}")
    return content


# -------------------------------------------------------------------------------------------- from values to a file


class _Store:
    """Turn values into JSON and tensors, named by the way that leads to them. Equal arrays are stored once."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self.tensors: dict[str, Array] = {}
        self._known: dict[Any, str] = {}
        self._uses: dict[str, int] = {}

    def node(self, value: Any, path: str) -> Any:
        """Give what stands for a value in JSON."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return self._nodes(value, path)
        if type(value) is tuple:
            return self._tuple(value, path)
        if type(value) is dict:
            return {"dict": [self._nodes(pair, f"{path}.{i}") for i, pair in enumerate(value.items())]}
        if isinstance(value, np.generic):
            number = "str" if value.dtype.kind == "U" else value.dtype.name
            expect(number in _SCALARS, _no(path, value))
            return {"scalar": [number, self.node(value.item(), path)]}
        if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
            return self._array(np.asarray(value), path)
        if isinstance(value, np.random.RandomState):
            return self._random(value, path)
        known = {**_SPARSE, **self.types}
        tag = next((name for name, kind in known.items() if type(value) is kind), None)
        if tag is None:
            raise Fault(_no(path, value))
        if tag in _SPARSE:
            arrays = {part: self.tensor(getattr(value, part), f"{path}.{part}") for part in _COMPRESSED}
            return {tag: {"shape": [int(size) for size in value.shape], **arrays}}
        if issubclass(known[tag], Enum):
            return {"enum": [tag, value.name]}
        if hasattr(known[tag], "from_dict"):  # has a form of its own for JSON
            return {"document": [tag, value.to_dict()]}
        names = get_type_hints(known[tag])
        return {"record": [tag, {name: self.node(getattr(value, name), f"{path}.{name}") for name in names}]}

    def tensor(self, array: Array, path: str) -> str:
        """Give the name of the tensor that holds an array of numbers."""
        dtype = array.dtype.newbyteorder("<") if array.dtype.kind != "O" else array.dtype
        expect(dtype in _CODES, _no(path, array))
        array = np.asarray(array, dtype=dtype, order="C")
        key = dtype.str, array.shape, zlib.crc32(_bytes(array).data)
        name = self._known.get(key)
        if name is not None and self._uses[name] == MOST_USES:
            name = None
        if name is None or not np.array_equal(_bytes(self.tensors[name]), _bytes(array)):
            name = self._known[key] = path
            self.tensors[name], self._uses[name] = array, 0
        self._uses[name] += 1
        return name

    def _nodes(self, values: Iterable[Any], path: str) -> list[Any]:
        return [self.node(value, f"{path}.{i}") for i, value in enumerate(values)]

    def _tuple(self, values: tuple[Any, ...], path: str) -> dict[str, Any]:
        for kind, dtype in ((int, np.int64), (float, np.float64)):
            if len(values) >= LONG and all(type(value) is kind for value in values):
                with suppress(OverflowError):
                    return {"numbers": self.tensor(np.array(values, dtype), path)}
        return {"tuple": self._nodes(values, path)}

    def _array(self, array: Array, path: str) -> dict[str, Any]:
        if array.dtype.kind == "U" and array.ndim == 1 and 0 < array.dtype.itemsize <= 4 * WIDEST:
            letters = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).view("<u4")
            return {"text": self.tensor(letters.reshape(array.size, array.dtype.itemsize // 4), path)}
        if array.dtype.kind != "O" or array.ndim != 1:
            return {"tensor": self.tensor(array, path)}
        if not all(type(item) is str for item in array):
            expect(all(isinstance(item, bool | int | float | str | np.generic) for item in array), _no(path, array))
            return {"objects": self._nodes(array.tolist(), path)}
        coded = [item.encode("utf-8", "surrogatepass") for item in array]
        ends = np.cumsum([len(item) for item in coded], dtype=np.int64)
        letters = np.frombuffer(b"".join(coded), np.uint8)
        return {"strings": {"utf8": self.tensor(letters, f"{path}.utf8"), "ends": self.tensor(ends, f"{path}.ends")}}

    def _random(self, value: np.random.RandomState, path: str) -> dict[str, Any]:
        state: Any = value.get_state(legacy=False)
        expect(
            state["bit_generator"] == "MT19937",
            f"{path} draws from {state['bit_generator']}, and only MT19937 can be stored. Pass a seed",
        )
        return {
            "RandomState": {
                "key": self.tensor(state["state"]["key"], f"{path}.key"),
                "pos": int(state["state"]["pos"]),
                "has_gauss": int(state["has_gauss"]),
                "gauss": float(state["gauss"]),
            }
        }


def _no(path: str, value: Any) -> str:
    kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    return f"{path} is or holds {kind}, which no file can hold. Use numbers, text, tuples, lists, dicts or plain arrays"


def _bytes(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)


def _seal(header: dict[str, Any], tensors: Iterable[Array]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True, separators=(",", ":")).encode())
    for tensor in tensors:
        digest.update(_bytes(tensor).data)
    return digest.hexdigest()


def _pack(content: dict[str, Any], tensors: dict[str, Array]) -> tuple[bytes, list[Array]]:
    """Give the header and the bytes of the tensors, wide numbers first, so that each lies where its size divides."""
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    try:
        model = json.dumps(content, allow_nan=False)
    except ValueError as error:  # an integer of thousands of digits
        raise Fault(f"a value cannot be written ({error})") from None
    about = {"format": FORMAT, "version": VERSION, "package": f"rosenblatt {version('rosenblatt')}", "model": model}
    header: dict[str, Any] = {"__metadata__": about}
    end = 0
    for name in order:
        start, end = end, end + tensors[name].nbytes
        shape = [int(size) for size in tensors[name].shape]
        header[name] = {"dtype": _CODES[tensors[name].dtype], "shape": shape, "data_offsets": [start, end]}
    about["seal"] = _seal(header, (tensors[name] for name in order))
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    expect(len(text) <= MOST_HEADER, f"what is not an array takes {len(text)} bytes, of at most {MOST_HEADER}")
    return text, [_bytes(tensors[name]) for name in order]


def replace_file(target: Path, parts: list[Any]) -> None:
    """Write a file beside the target, see it safely on the disk, and give it the target's name."""
    beside = target.parent / f".rosenblatt-{secrets.token_hex(8)}.tmp"
    try:
        with open(beside, "xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(beside, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):  # the new name must last too, where directories can be opened
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


# -------------------------------------------------------------------------------------------- from a file to values


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    expect(len(found) == len(pairs), "a key of its header comes twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise Fault(f"its header has {name}, which is not JSON")


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except ValueError as error:
        raise Fault(f"its header is not JSON ({error})") from None


def is_whole(value: Any, least: int = 0, most: int = 1 << 48) -> bool:
    """Whether a value is a Python integer in a range."""
    return type(value) is int and least <= value <= most


def is_label(value: Any) -> bool:
    """Whether a value may be a class, or the key of a dict."""
    return isinstance(value, bool | int | float | str | np.generic) and bool(value == value)


def fields(node: Any, *names: str) -> list[Any]:
    """Give the entries of a dict, which must have just these names."""
    expect(isinstance(node, dict) and node.keys() == set(names), f"an entry has not just {', '.join(names)}")
    return [node[name] for name in names]


def _open(path: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Give the content and the tensors of a file, once all of it fits together and the seal is right."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        expect(size >= 8, f"it has {size} bytes and no header")
        expect(length <= min(MOST_HEADER, size - 8), f"its header would have {length} bytes, the file has {size}")
        try:
            header = _parse(file.read(length).decode())
        except UnicodeDecodeError:
            raise Fault("its header is not text") from None
        content, seal = _about(header)
        layout = _layout(header, size - 8 - length)
        tensors = {name: _tensor(file, dtype, shape) for name, dtype, shape in layout}
    expect(_seal(header, tensors.values()) == seal, "its seal does not fit: it was damaged or changed")
    for name, tensor in tensors.items():
        if tensor.dtype == bool and tensor.size:
            expect(_bytes(tensor).max() <= 1, f"{name!r:.60} holds what is neither true nor false")
    nodes = _parse(content)
    sections = isinstance(nodes, dict) and all(isinstance(part, str | dict) for part in nodes.values())
    expect(sections, "it has no sections")
    return nodes, tensors


def _about(header: Any) -> tuple[str, str]:
    """Give the content and the seal, which is taken out of the header."""
    about = header.get("__metadata__") if isinstance(header, dict) else None
    known = isinstance(about, dict) and about.get("format") == FORMAT
    expect(known, "it is not a model file of rosenblatt")
    assert isinstance(about, dict)
    expect(
        about.get("version") == VERSION,
        f"it has version {about.get('version')!r:.60} of the format, written by {about.get('package')!r:.60}; this is "
        f"rosenblatt {version('rosenblatt')}, which knows version {VERSION!r}",
    )
    expect(about.keys() == _METADATA, f"its metadata are not {', '.join(sorted(_METADATA))}")
    expect(all(isinstance(text, str) for text in about.values()), "its metadata are not text")
    return about["model"], about.pop("seal")


def _layout(header: dict[str, Any], room: int) -> list[tuple[str, np.dtype[Any], list[int]]]:
    """Give names, types and shapes of the tensors in the order of the file; they must fill its room without a gap."""
    found = []
    for name, entry in header.items():
        if name != "__metadata__":
            code, shape, offsets = fields(entry, "dtype", "shape", "data_offsets")
            expect(isinstance(code, str) and code in _DTYPES, f"tensor {name!r:.60} has the unknown type {code!r:.60}")
            sound = isinstance(shape, list) and len(shape) <= 8 and all(is_whole(side) for side in shape)
            # Also an array without entries must have a shape that an address could reach.
            expect(sound and math.prod(max(side, 1) for side in shape) < 1 << 48, f"tensor {name!r:.60} has no shape")
            ends = isinstance(offsets, list) and len(offsets) == 2 and all(is_whole(end) for end in offsets)
            expect(ends, f"tensor {name!r:.60} has no place")
            found.append((*offsets, name, _DTYPES[code], shape))
    place = 0
    for start, end, name, dtype, shape in sorted(found, key=lambda entry: entry[:3]):
        fits = start == place and end - start == math.prod(shape) * dtype.itemsize
        expect(fits, f"tensor {name!r:.60} of shape {shape} does not fit its place from {start} to {end}")
        place = end
    expect(place == room, f"its tensors take {place} bytes, of which the file has {room}")
    return [entry[2:] for entry in sorted(found, key=lambda entry: entry[:3])]


def _tensor(file: Any, dtype: np.dtype[Any], shape: list[int]) -> Array:
    array = np.empty(shape, dtype)
    expect(file.readinto(_bytes(array)) == array.nbytes, "it ends too early")
    return array


class _Restore:
    """Turn JSON and tensors back into values."""

    def __init__(self, tensors: dict[str, Array], types: Types) -> None:
        self.tensors, self.types = tensors, types
        self.uses: dict[str, int] = {}

    def value(self, node: Any) -> Any:
        """Give the value that a node stands for."""
        if node is None or type(node) in (bool, int, str):
            return node
        if type(node) is float:
            expect(math.isfinite(node), "it has a number that is too large")
            return node
        if type(node) is list:
            return [self.value(entry) for entry in node]
        expect(len(node) == 1, f"an entry has {len(node)} tags in place of one")
        ((tag, content),) = node.items()
        if tag in _SPARSE:
            return self._sparse(_SPARSE[tag], content)
        expect(tag in self._TAGS, f"an entry has the unknown tag {tag!r:.60}")
        return self._TAGS[tag](self, content)

    def array(self, name: Any, kinds: str, dimensions: int | None = None) -> Array:
        """Give a tensor, which must be of one of the kinds; a copy of its own to each who asks."""
        expect(isinstance(name, str) and name in self.tensors, f"there is no tensor {name!r:.60}")
        self.uses[name] = self.uses.get(name, 0) + 1
        expect(self.uses[name] <= MOST_USES, f"tensor {name!r:.60} is used more than {MOST_USES} times")
        given = self.tensors[name]
        fits = given.dtype.kind in kinds and dimensions in (None, given.ndim)
        expect(fits, f"tensor {name!r:.60} has type {given.dtype} and shape {given.shape}, which do not belong there")
        native = given.dtype.newbyteorder("=")
        return given.astype(native, copy=self.uses[name] > 1)

    def _tensor(self, name: Any) -> Array:
        return self.array(name, "biuf")

    def _numbers(self, name: Any) -> tuple[Any, ...]:
        return tuple(self.array(name, "if", 1).tolist())

    def _tuple(self, content: Any) -> tuple[Any, ...]:
        return tuple(self._list(content))

    def _list(self, content: Any) -> list[Any]:
        expect(isinstance(content, list), "a sequence is not one")
        return [self.value(entry) for entry in content]

    def _dict(self, content: Any) -> dict[Any, Any]:
        pairs = self._list(content)
        fits = all(type(pair) is list and len(pair) == 2 and is_label(pair[0]) for pair in pairs)
        expect(fits, "a dict is not made of keys and values")
        found = dict(pairs)
        expect(len(found) == len(pairs), "a key of a dict comes twice")
        return found

    def _float(self, content: Any) -> float:
        expect(content in ("inf", "-inf", "nan"), f"{content!r:.60} is not a number")
        return float(content)

    def _scalar(self, content: Any) -> Any:
        kind, value = self._pair(content)
        expect(kind in _SCALARS, f"{kind!r:.60} is not a kind of number")
        value = self.value(value)
        with suppress(OverflowError, ValueError, TypeError), np.errstate(all="ignore"):
            made = _SCALARS[kind](value)
            if type(made.item()) is type(value) and (made == value or value != value):
                return made
        raise Fault(f"{value!r:.60} is not of kind {kind}")

    def _pair(self, content: Any) -> tuple[str, Any]:
        fits = isinstance(content, list) and len(content) == 2 and isinstance(content[0], str)
        expect(fits, "a pair is not one")
        return content[0], content[1]

    def _text(self, name: Any) -> Array:
        points = self.array(name, "u", 2)
        fits = points.dtype == np.uint32 and 0 < points.shape[1] <= WIDEST and points.max(initial=0) < 0x110000
        expect(fits, f"tensor {name!r:.60} is not text")
        return points.view(f"=U{points.shape[1]}").reshape(-1)

    def _strings(self, content: Any) -> Array:
        utf8, ends = fields(content, "utf8", "ends")
        letters, places = self.array(utf8, "u", 1), self.array(ends, "i", 1)
        rising = letters.dtype == np.uint8 and np.all(np.diff(places, prepend=0) >= 0) and places.min(initial=0) >= 0
        last = int(places[-1]) if places.size else 0
        expect(rising and last == letters.size, f"the ends of {utf8!r:.60} are not those of it")
        whole, result, start = letters.tobytes(), np.empty(places.size, object), 0
        for i, end in enumerate(places.tolist()):
            try:
                result[i] = whole[start:end].decode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                raise Fault(f"{utf8!r:.60} is not text") from None
            start = end
        return result

    def _objects(self, content: Any) -> Array:
        values = self._list(content)
        expect(all(is_label(value) for value in values), "an array of labels holds something else")
        result = np.empty(len(values), object)
        result[:] = values
        return result

    def _sparse(self, kind: Any, content: Any) -> Any:
        shape, *names = fields(content, "shape", *_COMPRESSED)
        fits = isinstance(shape, list) and len(shape) == 2 and all(is_whole(side) for side in shape)
        expect(fits, "a sparse matrix has no shape")
        parts = [self.array(name, kinds, 1) for name, kinds in zip(names, ("f", "i", "i"), strict=True)]
        expect(all(part.dtype.itemsize >= 4 for part in parts), "a sparse matrix has numbers of an unknown type")
        try:
            matrix = kind(tuple(parts), shape=tuple(shape))
        except ValueError as error:
            raise Fault(f"a sparse matrix is damaged ({error})") from None
        rows = matrix.T if matrix.format == "csc" else matrix
        if rows.shape[0] == 0:
            expect(parts[0].size == parts[1].size == 0, "an empty sparse matrix has entries")
        else:
            as_table(rows)  # refuses indices out of range and values that are not finite
        return matrix

    def _random(self, content: Any) -> np.random.RandomState:
        name, position, has, gauss = fields(content, "key", "pos", "has_gauss", "gauss")
        key = self.array(name, "u", 1)
        # NumPy does not look where the position leads.
        fits = key.dtype == np.uint32 and key.size == 624 and is_whole(position, 0, 624) and is_whole(has, 0, 1)
        expect(fits and type(gauss) is float and math.isfinite(gauss), "random_state is not a state")
        random = np.random.RandomState()
        state = {"key": key, "pos": position}
        random.set_state({"bit_generator": "MT19937", "state": state, "has_gauss": has, "gauss": gauss})
        return random

    def _enum(self, content: Any) -> Enum:
        tag, name = self._pair(content)
        kind = self.types.get(tag)
        known = kind is not None and issubclass(kind, Enum) and isinstance(name, str) and name in kind.__members__
        expect(known, f"there is no {tag:.60} {name!r:.60}")
        found: Enum = kind[name]  # type: ignore[index]
        return found

    def _record(self, content: Any) -> Any:
        tag, parts = self._pair(content)
        kind = self.types.get(tag)
        if kind is None or issubclass(kind, Enum) or hasattr(kind, "from_dict"):
            raise Fault(f"there is no record {tag!r:.60}")
        names = get_type_hints(kind)
        return kind(**dict(zip(names, map(self.value, fields(parts, *names)), strict=True)))

    def _document(self, content: Any) -> Any:
        tag, parts = self._pair(content)
        read = getattr(self.types.get(tag), "from_dict", None)
        if read is None:
            raise Fault(f"there is no document {tag!r:.60}")
        try:
            return read(parts)
        except InvalidInput as fault:
            raise Fault(f"its {tag} cannot be read: {str(fault).rstrip('.')}") from None

    _TAGS: ClassVar[dict[str, Callable[[_Restore, Any], Any]]] = {
        "tensor": _tensor,
        "numbers": _numbers,
        "tuple": _tuple,
        "dict": _dict,
        "float": _float,
        "scalar": _scalar,
        "text": _text,
        "strings": _strings,
        "objects": _objects,
        "RandomState": _random,
        "enum": _enum,
        "record": _record,
        "document": _document,
    }
