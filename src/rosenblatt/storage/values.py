"""Values as JSON nodes and tensors, and back.

A value that JSON does not know is an object with a single key, the tag that says how to read it. Only tags and records
that the reader knows can be named, and nothing in a file is run. The tags are listed in docs/reference/model-files.md.
"""

from __future__ import annotations

import dataclasses
import math
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import SURELY_THERE, physical_memory
from rosenblatt.data.numbers import is_too_large
from rosenblatt.errors import InvalidInput
from rosenblatt.storage.checks import check_record, entries, is_integer, is_label
from rosenblatt.storage.registry import BY_CLASS, BY_NAME, Fault, Registration, expect
from rosenblatt.storage.sparse import SparseArray, compress, from_parts

Array = npt.NDArray[Any]

MAX_USES_OF_A_TENSOR = 8  # a small file must not grow large in memory
MIN_NUMBERS_IN_A_TENSOR = 16  # shorter tuples are JSON
MAX_LABEL_CHARACTERS = 1 << 20

DTYPES = {
    "BOOL": np.dtype("?"),
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    **{f"{kind}{8 * size}": np.dtype(f"<{kind.lower()}{size}") for kind in "IU" for size in (1, 2, 4, 8)},
}
DTYPE_CODES = {dtype: name for name, dtype in DTYPES.items()}
_SCALARS: dict[str, Any] = {dtype.name: dtype.type for dtype in DTYPES.values()} | {"str": np.str_}
_SPARSE = ("csr_matrix", "csr_array", "csc_matrix")
_COMPRESSED = ("data", "indices", "indptr")


def _sparse_class(name: str) -> Any:
    """Return a class of SciPy's, which a model of dense arrays does not need."""
    import scipy.sparse

    return getattr(scipy.sparse, name)


def raw_bytes(array: Array) -> Array:
    """Return the memory of a contiguous array as bytes."""
    return array.reshape(-1).view(np.uint8)


# ------------------------------------------------------------------------------------------------ registered classes


def registered(name: str, kind: str) -> Registration:
    """Return the registered class of a name in a file; raise a `Fault` if there is no such class of that kind."""
    found = BY_NAME.get(name)
    if found is None or found.kind != kind:
        raise Fault(f"there is no {kind} {name!r:.60}")
    return found


def fields_of(entry: Registration) -> tuple[str, ...]:
    """Return the names of the fields."""
    if dataclasses.is_dataclass(entry.cls):
        return tuple(field.name for field in dataclasses.fields(entry.cls) if field.init)
    names: tuple[str, ...] = entry.cls._fields
    return names


def approve(entry: Registration, record: Any) -> Any:
    """Return the record if its invariants hold; else raise a `Fault`."""
    if entry.check is not None:
        if entry.kind == "record":  # the check may rely on the types of the fields
            check_record(f"a {entry.name}", record, entry.cls)
        entry.check(record)
    return record


# ----------------------------------------------------------------------------------------------- from values to nodes


def _unstorable(path: str, value: Any) -> Fault:
    kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    return Fault(
        f"{path} is or holds {kind}, which no file can hold. Use numbers, text, tuples, lists, dicts or plain arrays"
    )


def _is_masked(value: Any) -> bool:
    """Return whether a value is a masked array; only those who have one have imported `numpy.ma`."""
    return "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray)


def _is_random(value: Any) -> bool:
    """Return whether a value is a `RandomState`; only those who have one have imported `numpy.random`."""
    return "numpy.random" in sys.modules and isinstance(value, np.random.RandomState)


class Encoder:
    """Turn values into JSON nodes and tensors, named by the path to the value. Equal arrays are stored once."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}
        self._names: dict[Any, str] = {}
        self._uses: dict[str, int] = {}

    def node(self, value: Any, path: str) -> Any:
        """Return the JSON node of a value."""
        kind = type(value)
        encode = _ENCODERS.get(kind)
        if encode is None:
            encode = next((encode for base, encode in _ENCODERS_OF_BASES if isinstance(value, base)), None)
        if encode is None and _is_random(value):
            encode = Encoder._random
        if encode is None and kind in BY_CLASS:
            encode = Encoder._registered
        if encode is None and kind.__name__ in _SPARSE and kind is _sparse_class(kind.__name__):
            encode = Encoder._sparse
        if encode is None or _is_masked(value):
            raise _unstorable(path, value)
        return encode(self, value, path)

    def tensor(self, array: Array, path: str) -> str:
        """Return the name of the tensor that holds an array of numbers."""
        dtype = array.dtype.newbyteorder("<") if array.dtype.kind != "O" else array.dtype
        if dtype not in DTYPE_CODES:
            raise _unstorable(path, array)
        array = np.asarray(array, dtype=dtype, order="C")
        key = dtype.str, array.shape, zlib.crc32(raw_bytes(array).data)
        name = self._names.get(key)
        if name is not None and self._uses[name] == MAX_USES_OF_A_TENSOR:
            name = None
        if name is None or not np.array_equal(raw_bytes(self.tensors[name]), raw_bytes(array)):
            name = self._names[key] = path
            self.tensors[name], self._uses[name] = array, 0
        self._uses[name] += 1
        return name

    def _same(self, value: Any, path: str) -> Any:
        return value

    def _int(self, value: int, path: str) -> int:
        expect(not is_too_large(value), f"{path} is an integer of over 300 digits, which cannot be written")
        return value

    def _float(self, value: float, path: str) -> Any:
        return value if math.isfinite(value) else {"float": repr(value)}

    def _list(self, values: Iterable[Any], path: str) -> list[Any]:
        return [self.node(value, f"{path}.{i}") for i, value in enumerate(values)]

    def _tuple(self, values: tuple[Any, ...], path: str) -> dict[str, Any]:
        for kind, dtype in ((int, np.int64), (float, np.float64)):
            if len(values) >= MIN_NUMBERS_IN_A_TENSOR and all(type(value) is kind for value in values):
                with suppress(OverflowError):
                    return {"numbers": self.tensor(np.array(values, dtype), path)}
        return {"tuple": self._list(values, path)}

    def _dict(self, value: dict[Any, Any], path: str) -> dict[str, Any]:
        return {"dict": [self._list(pair, f"{path}.{i}") for i, pair in enumerate(value.items())]}

    def _scalar(self, value: np.generic, path: str) -> dict[str, Any]:
        kind = "str" if value.dtype.kind == "U" else value.dtype.name
        if kind not in _SCALARS:
            raise _unstorable(path, value)
        return {"scalar": [kind, self.node(value.item(), path)]}

    def _array(self, value: Array, path: str) -> dict[str, Any]:
        array = np.asarray(value)
        if array.dtype.kind == "U" and array.ndim == 1 and 0 < array.dtype.itemsize <= 4 * MAX_LABEL_CHARACTERS:
            points = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).view("<u4")
            return {"text": self.tensor(points.reshape(array.size, array.dtype.itemsize // 4), path)}
        if array.dtype.kind != "O" or array.ndim != 1:
            sparse = compress(array)
            return {"tensor": self.tensor(array, path)} if sparse is None else self._sparse_array(sparse, path)
        if not all(type(item) is str for item in array):
            if not all(isinstance(item, bool | int | float | str | np.generic) for item in array):
                raise _unstorable(path, array)
            return {"objects": self._list(array.tolist(), path)}
        coded = [item.encode("utf-8", "surrogatepass") for item in array]
        ends = np.cumsum([len(item) for item in coded], dtype=np.int64)
        letters = np.frombuffer(b"".join(coded), np.uint8)
        return {"strings": {"utf8": self.tensor(letters, f"{path}.utf8"), "ends": self.tensor(ends, f"{path}.ends")}}

    def _sparse(self, value: Any, path: str) -> dict[str, Any]:
        parts = {part: self.tensor(getattr(value, part), f"{path}.{part}") for part in _COMPRESSED}
        return {type(value).__name__: {"shape": [int(size) for size in value.shape], **parts}}

    def _sparse_array(self, value: SparseArray, path: str) -> dict[str, Any]:
        node = self._sparse(value, path)[SparseArray.__name__]
        return {"sparse": {"fill": value.fill.item(), **node}}

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

    def _registered(self, value: Any, path: str) -> dict[str, Any]:
        entry = BY_CLASS[type(value)]
        approve(entry, value)
        if entry.kind == "enumeration":
            return {"enum": [entry.name, value.name]}
        if entry.kind == "document":
            return {"document": [entry.name, value.to_dict()]}
        parts = {name: self.node(getattr(value, name), f"{path}.{name}") for name in fields_of(entry)}
        return {"record": [entry.name, parts]}


_ENCODERS: dict[type, Callable[[Encoder, Any, str], Any]] = {
    **dict.fromkeys((type(None), bool, str), Encoder._same),
    int: Encoder._int,
    float: Encoder._float,
    list: Encoder._list,
    tuple: Encoder._tuple,
    dict: Encoder._dict,
}
_ENCODERS_OF_BASES: tuple[tuple[type, Callable[[Encoder, Any, str], Any]], ...] = (
    (np.generic, Encoder._scalar),
    (np.ndarray, Encoder._array),
    (SparseArray, Encoder._sparse_array),
)


# ----------------------------------------------------------------------------------------------- from nodes to values


class Decoder:
    """Turn JSON nodes and tensors back into values.

    The first use of a tensor gets the array itself, later ones get copies; `uses` counts them by name, and `filled` the
    bytes of arrays that were sparse in the file.
    """

    def __init__(self, tensors: dict[str, Array]) -> None:
        self.tensors = tensors
        self.uses: dict[str, int] = {}
        self.filled = 0

    def value(self, node: Any) -> Any:
        """Return the value of a node."""
        if type(node) is int:
            expect(not is_too_large(node), "it has a number that is too large")
            return node
        if node is None or type(node) in (bool, str):
            return node
        if type(node) is float:
            expect(math.isfinite(node), "it has a number that is too large")
            return node
        if type(node) is list:
            return [self.value(entry) for entry in node]
        expect(len(node) == 1, f"an entry has {len(node)} tags in place of one")
        ((tag, content),) = node.items()
        if tag in _SPARSE:
            return self._sparse(_sparse_class(tag), content)
        expect(tag in _DECODERS, f"an entry has the unknown tag {tag!r:.60}")
        return _DECODERS[tag](self, content)

    def array(self, name: Any, kinds: str, dimensions: int | None = None) -> Array:
        """Return a tensor, which must be of one of the kinds."""
        expect(isinstance(name, str) and name in self.tensors, f"there is no tensor {name!r:.60}")
        uses = self.uses[name] = self.uses.get(name, 0) + 1
        expect(uses <= MAX_USES_OF_A_TENSOR, f"tensor {name!r:.60} is used more than {MAX_USES_OF_A_TENSOR} times")
        tensor = self.tensors[name]
        fits = tensor.dtype.kind in kinds and dimensions in (None, tensor.ndim)
        expect(fits, f"tensor {name!r:.60} has type {tensor.dtype} and shape {tensor.shape}, which do not belong there")
        native = tensor.dtype.newbyteorder("=")
        return tensor.astype(native, copy=uses > 1)

    def _tensor(self, name: Any) -> Array:
        return self.array(name, "biuf")

    def _sparse_array(self, content: Any) -> SparseArray:
        fill, shape, *names = entries(content, ("fill", "shape", *_COMPRESSED))
        return from_parts(shape, fill, *(self.array(name, "iuf", 1) for name in names))

    def _filled(self, content: Any) -> Array:
        """Return a sparse array as a dense one.

        A file of a kilobyte may declare terabytes, and an honest one of hashed columns looks no different. It may fill
        half of the memory of the machine; learning would need more than that anyway.
        """
        sparse = self._sparse_array(content)
        self.filled += sparse.nbytes
        if self.filled > SURELY_THERE:
            needed, there = f"{self.filled / 1e9:.3g} GB", physical_memory()
            expect(
                self.filled <= there // 2,
                f"its arrays would take {needed} of memory, more than half of the {there / 1e9:.3g} GB that there are. "
                "To predict only, use load_linear or rosenblatt predict, which keep weights sparse",
            )
        try:
            return sparse.toarray()
        except MemoryError:
            raise Fault(f"there is no memory for an array of shape {sparse.shape}") from None

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
        width = points.shape[1]
        fits = points.dtype == np.uint32 and 0 < width <= MAX_LABEL_CHARACTERS and points.max(initial=0) < 0x110000
        expect(fits, f"tensor {name!r:.60} is not text")
        return points.view(f"=U{width}").reshape(-1)

    def _strings(self, content: Any) -> Array:
        utf8, ends = entries(content, ("utf8", "ends"))
        letters, places = self.array(utf8, "u", 1), self.array(ends, "i", 1)
        rising = letters.dtype == np.uint8 and np.all(np.diff(places, prepend=0) >= 0) and places.min(initial=0) >= 0
        last = int(places[-1]) if places.size else 0
        expect(rising and last == letters.size, f"the ends of {utf8!r:.60} are not those of it")
        data, result, start = letters.tobytes(), np.empty(places.size, object), 0
        for i, end in enumerate(places.tolist()):
            try:
                result[i] = data[start:end].decode("utf-8", "surrogatepass")
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
        # Here, because a dense model needs no sparse rows.
        from rosenblatt.data.table import as_table

        shape, *names = entries(content, ("shape", *_COMPRESSED))
        fits = isinstance(shape, list) and len(shape) == 2 and all(is_integer(side) for side in shape)
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
            as_table(rows)  # raises for indices out of range and values that are not finite
        return matrix

    def _random(self, content: Any) -> np.random.RandomState:
        name, position, has, gauss = entries(content, ("key", "pos", "has_gauss", "gauss"))
        key = self.array(name, "u", 1)
        # NumPy does not check where the position leads.
        fits = key.dtype == np.uint32 and key.size == 624 and is_integer(position, 0, 624) and is_integer(has, 0, 1)
        expect(fits and type(gauss) is float and math.isfinite(gauss), "random_state is not a state")
        random = np.random.RandomState()
        state = {"key": key, "pos": position}
        random.set_state({"bit_generator": "MT19937", "state": state, "has_gauss": has, "gauss": gauss})
        return random

    def _enum(self, content: Any) -> Any:
        tag, name = self._pair(content)
        entry = registered(tag, "enumeration")
        known = isinstance(name, str) and name in entry.cls.__members__
        expect(known, f"there is no {tag:.60} {name!r:.60}")
        return approve(entry, entry.cls[name])

    def _record(self, content: Any) -> Any:
        tag, parts = self._pair(content)
        entry = registered(tag, "record")
        expect(isinstance(parts, dict), f"a {tag:.60} has no fields")
        names = fields_of(entry)
        values = {
            name: self._field(node, name in entry.sparse)
            for name, node in zip(names, entries(parts, names), strict=True)
        }
        return approve(entry, entry.cls(**values))

    def _field(self, node: Any, sparse: bool) -> Any:
        """Return a field of a record: if it may be sparse, and is large, as it is in the file."""
        if sparse and isinstance(node, dict) and node.keys() == {"sparse"}:
            array = self._sparse_array(node["sparse"])
            return array if array.nbytes > SURELY_THERE else array.toarray()
        return self.value(node)

    def _document(self, content: Any) -> Any:
        tag, parts = self._pair(content)
        entry = registered(tag, "document")
        try:
            return approve(entry, entry.cls.from_dict(parts))
        except InvalidInput as fault:
            raise Fault(f"its {tag} cannot be read: {str(fault).rstrip('.')}") from None


_DECODERS: dict[str, Callable[[Decoder, Any], Any]] = {
    "tensor": Decoder._tensor,
    "sparse": Decoder._filled,
    "numbers": Decoder._numbers,
    "tuple": Decoder._tuple,
    "dict": Decoder._dict,
    "float": Decoder._float,
    "scalar": Decoder._scalar,
    "text": Decoder._text,
    "strings": Decoder._strings,
    "objects": Decoder._objects,
    "RandomState": Decoder._random,
    "enum": Decoder._enum,
    "record": Decoder._record,
    "document": Decoder._document,
}
