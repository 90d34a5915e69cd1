"""Compiled loops that are called without Numba, whose import takes longer than to learn from a file of some megabytes.

Numba keeps the machine code of a loop as an object file. `keep` writes it once more, with what a caller must know:
the types of arguments and result, and the name of the function. `find` lets llvmlite load it, and calls it as Numba
would, by numbers: of an array its address, shape and strides. Whatever is unusual is left to Numba: other types,
loops that allocate, object files that are not ELF, code of another version or for another processor.

Only commands look here (`enable`); a library that was imported has time for Numba.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.jit import NotKept, kept

PACKAGE = Path(__file__).parent
SUFFIX = ".loop"
SCALARS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}
NONE = "none"
# What an object file needs for the function that Python would call, and for arrays that the loop made: it made none,
# or it would need others as well.
UNUSED_SYMBOLS = frozenset(
    (
        *("NRT_adapt_ndarray_from_python", "NRT_MemInfo_call_dtor", "NRT_Free"),
        *("numba_do_raise", "numba_gil_ensure", "numba_gil_release", "numba_unpickle"),
        "numba_runtime_build_excinfo_struct",
    )
)
OWN_SYMBOLS = ("NRT_", "numba_")  # that only Numba has
FINE = (0, -2)  # what a loop returns: a result, or none
ELF_64 = b"\x7fELF\x02\x01"
SYMBOL_TABLE = 2


_lock = threading.Lock()


def enable(*, uses: bool = True) -> None:
    """Keep code that needs no Numba from now on, and use it."""
    kept.find, kept.keep = find if uses else None, keep_numbas


def disable() -> None:
    """Leave everything to Numba again."""
    kept.find = kept.keep = None


# ----------------------------------------------------------------------------------------------------------- identity


@cache
def _sources(path: str) -> str:
    """Return what an edit changes: of a source file, and of the verbs that it may call."""
    verbs = PACKAGE / "verbs"
    files = [path, *sorted(str(verbs / name) for name in os.listdir(verbs) if name.endswith(".py"))]
    return json.dumps([(file, os.stat(file).st_mtime_ns, os.stat(file).st_size) for file in files])


@cache
def _machine() -> str:
    """Return what code depends on: versions, processor, and settings of Numba."""
    import llvmlite
    from llvmlite import binding

    numba = find_spec("numba")
    place = os.path.dirname((numba and numba.origin) or "")
    status = os.stat(os.path.join(place, "_version.py"))
    settings = sorted((name, value) for name, value in os.environ.items() if name.startswith("NUMBA_"))
    settings = [(name, value) for name, value in settings if name != "NUMBA_CACHE_DIR"]
    processor = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    versions = (place, status.st_mtime_ns, status.st_size, llvmlite.__version__, sys.version)
    return json.dumps([versions, processor, settings])


def is_private(place: Path) -> bool:
    """Return whether nobody else can write to a directory: what is kept there will be run."""
    if not hasattr(os, "getuid"):
        return True
    status = os.stat(place)
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


@cache
def directory() -> Path | None:
    """Return where code is kept: a place of the user's own, or None."""
    chosen, home = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    places = [Path(chosen)] if chosen else [PACKAGE / "__pycache__", Path(home) if home else Path.home() / ".cache"]
    for place in places:
        try:
            (place / "rosenblatt").mkdir(mode=0o700, parents=True, exist_ok=True)
            if is_private(place / "rosenblatt") and os.access(place / "rosenblatt", os.W_OK):
                return place / "rosenblatt"
        except OSError:
            continue
    return None


def any_kept() -> bool:
    """Return whether there is any code that needs no Numba, of the package as it is now."""
    place = directory()
    return place is not None and any(map(_is_current, place.glob(f"*{SUFFIX}")))


def _is_current(path: Path) -> bool:
    """Return whether no edit has changed the sources of kept code."""
    try:
        with open(path, "rb") as file:
            sources = json.loads(json.loads(file.readline())["sources"])
        return all((os.stat(name).st_mtime_ns, os.stat(name).st_size) == (time, size) for name, time, size in sources)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _path(function: Callable[..., Any], kinds: str) -> Path:
    place = directory()
    if place is None:
        raise NotKept
    code = function.__code__
    name = f"{function.__module__}.{code.co_name}"
    digest = hashlib.sha1(f"{name} {code.co_firstlineno} {kinds} {_machine()}".encode(), usedforsecurity=False)
    return place / f"{name}-{digest.hexdigest()[:20]}{SUFFIX}"


# ---------------------------------------------------------------------------------------------------------- arguments


def kind_of(value: Any) -> str:
    """Return the type of an argument in words, or raise `NotKept`."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return array_kind(value.dtype, value.ndim, layout, flags.writeable, flags.aligned)
    if isinstance(value, tuple):
        name = f"{type(value).__module__}.{type(value).__qualname__}" if hasattr(value, "_fields") else ""
        return f"{name}({','.join(map(kind_of, value))})"
    if value is None:
        return NONE
    if isinstance(value, bool | np.bool_):
        return "bool"
    if type(value) is int and -(1 << 63) <= value < 1 << 63:
        return "int64"
    if type(value) is float:
        return "float64"
    if isinstance(value, np.generic) and value.dtype.name in SCALARS:
        return value.dtype.name
    raise NotKept


def array_kind(dtype: Any, ndim: int, layout: str, writeable: bool, aligned: bool) -> str:
    """Return the type of an array in words."""
    return f"{dtype.str}{ndim}{layout}{'w' if writeable else 'r'}{'' if aligned else 'u'}"


def _numbers(values: Any) -> Iterator[Any]:
    """Yield what a loop is passed for its arguments, one by one."""
    for value in values:
        if isinstance(value, np.ndarray):
            yield from (0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)
        elif isinstance(value, tuple):
            yield from _numbers(value)
        else:
            yield value.item() if isinstance(value, np.generic) else value


def _types(values: Any) -> Iterator[Any]:
    """Yield the types of these numbers."""
    for value in values:
        if isinstance(value, np.ndarray):
            yield from (ctypes.c_int64,) * (5 + 2 * value.ndim)
        elif isinstance(value, tuple):
            yield from _types(value)
        else:
            yield ctypes.c_void_p if value is None else SCALARS[kind_of(value)]


class _Loop:
    """A loop for arguments of some types.

    Parameters
    ----------
    address : int
        Of a function with the result and an exception as pointers, and then the numbers.
    examples : tuple
        Arguments.
    result : str
        "none", a type, or types with commas.
    owner
        Kept alive with the code.
    """

    def __init__(self, address: int, examples: tuple[Any, ...], result: str, owner: Any) -> None:
        pointer = ctypes.c_void_p
        self.function = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, *_types(examples))(address)
        names = result.split(",")
        self.single = len(names) == 1
        fields = [(f"f{k}", ctypes.c_void_p if name == NONE else SCALARS[name]) for k, name in enumerate(names)]
        self.structure = type("Result", (ctypes.Structure,), {"_fields_": fields})
        self.names, self.gives_none, self.owner = [name for name, _ in fields], result == NONE, owner

    def __call__(self, args: tuple[Any, ...]) -> Any:
        """Call the code; raise `NotKept` if it raised an exception, which Numba can tell."""
        result, fault = self.structure(), ctypes.c_void_p()
        if self.function(ctypes.addressof(result), ctypes.addressof(fault), *_numbers(args)) not in FINE:
            raise NotKept
        if self.gives_none:
            return None
        values = [getattr(result, name) for name in self.names]
        return values[0] if self.single else tuple(values)


# ------------------------------------------------------------------------------------------------------------ on disk


def undefined_symbols(code: bytes) -> list[str]:
    """Return the names that an object file needs from elsewhere, or raise `NotKept` if it is not ELF of 64 bits."""
    if code[: len(ELF_64)] != ELF_64:
        raise NotKept
    (table,) = struct.unpack_from("<Q", code, 0x28)
    size, count = struct.unpack_from("<HH", code, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + k * size) for k in range(count)]
    found = []
    for section in sections:
        if section[1] != SYMBOL_TABLE:
            continue
        names = sections[section[6]][4]
        for place in range(section[4], section[4] + section[5], 24):
            name, _, _, owner = struct.unpack_from("<IBBH", code, place)
            if name and owner == 0:
                found.append(code[names + name : code.index(b"\0", names + name)].decode())
    return found


def keep(function: Callable[..., Any], kinds: str, result: str, symbol: str, code: bytes) -> None:
    """Write the code of a loop, unless it is there.

    Parameters
    ----------
    function : function
        The loop as plain Python.
    kinds, result : str
        Types of arguments and result.
    symbol : str
        Name of the loop in the object file.
    code : bytes
        The object file.
    """
    try:
        path, needed = _path(function, kinds), undefined_symbols(code)
        if any(name.startswith(OWN_SYMBOLS) and name not in UNUSED_SYMBOLS for name in needed):
            return
        head = {"sources": _sources(function.__code__.co_filename), "kinds": kinds, "result": result}
        more = {"symbol": symbol, "needed": needed, "size": len(code), "sum": zlib.crc32(code)}
        content = json.dumps(head | more).encode() + b"\n" + code
        if not path.exists() or path.read_bytes() != content:
            part = path.with_suffix(f".{os.getpid()}")
            part.write_bytes(content)
            os.replace(part, path)
    except (NotKept, OSError):
        return


def _read(function: Callable[..., Any], kinds: str) -> tuple[dict[str, Any], bytes]:
    """Return what was kept for arguments of these types, or raise `NotKept` if it is not, or no longer, of use."""
    try:
        first, _, code = _path(function, kinds).read_bytes().partition(b"\n")
        head = json.loads(first)
        fits = (head["sources"], head["kinds"]) == (_sources(function.__code__.co_filename), kinds)
        whole = (head["size"], head["sum"]) == (len(code), zlib.crc32(code))
    except (OSError, ValueError, KeyError, TypeError):
        raise NotKept from None
    if not (fits and whole):
        raise NotKept
    return head, code


@cache
def _target() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple()


def _loaded(head: dict[str, Any], code: bytes) -> tuple[int, Any]:
    """Return the address of a loop, and what keeps it in memory."""
    from llvmlite import binding

    unused = [name for name in head["needed"] if name in UNUSED_SYMBOLS]
    module = binding.parse_assembly("\n".join(f"declare void @{name}()" for name in unused))
    # The engine owns its machine. From now on names of this process are known.
    engine = binding.create_mcjit_compiler(module, _target().create_target_machine(jit=True))
    if any(not binding.address_of_symbol(name) for name in head["needed"] if name not in UNUSED_SYMBOLS):
        raise NotKept
    for name in unused:
        engine.add_global_mapping(module.get_function(name), binding.address_of_symbol("abort"))
    file = binding.ObjectFileRef.from_data(code)
    engine.add_object_file(file)
    engine.finalize_object()
    address = engine.get_function_address(head["symbol"])
    if not address:
        raise NotKept
    return address, (engine, file)


_found: dict[tuple[Any, str], _Loop | None] = {}


def find(function: Callable[..., Any], args: tuple[Any, ...]) -> _Loop:
    """Return the code of a loop for arguments of these types, or raise `NotKept` if Numba must be asked."""
    kinds = ";".join(map(kind_of, args))
    key = function, kinds
    with _lock:
        if key not in _found:
            _found[key] = None
            try:
                head, code = _read(function, kinds)
                address, owner = _loaded(head, code)
                _found[key] = _Loop(address, args, head["result"], owner)
            except (NotKept, ImportError, AttributeError, RuntimeError, OSError):
                pass
        found = _found[key]
    if found is None:
        raise NotKept
    return found


# ------------------------------------------------------------------------------------------------------- from Numba


def numbas_kind(of: Any) -> str:
    """Return a type of Numba's in the words of `kind_of`."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    if isinstance(of, types.Array):
        return array_kind(as_dtype(of.dtype), of.ndim, of.layout, of.mutable, of.aligned)
    if isinstance(of, types.BaseTuple):
        cls = getattr(of, "instance_class", None)
        name = "" if cls is None else f"{cls.__module__}.{cls.__qualname__}"
        return f"{name}({','.join(map(numbas_kind, of.types))})"
    if str(of) in SCALARS or isinstance(of, types.NoneType):
        return str(of)
    raise NotKept


def _result(of: Any) -> str:
    """Return the type of a result: nothing, a number, or several."""
    from numba import types

    if isinstance(of, types.NoneType):
        return NONE
    parts = of.types if isinstance(of, types.UniTuple | types.Tuple) and of.count > 1 else [of]
    names = [str(part) for part in parts]
    if not set(names) <= set(SCALARS):
        raise NotKept
    return ",".join(names)


def keep_numbas(function: Callable[..., Any], data: Any) -> None:
    """Keep what Numba writes or reads for a function, so that the next command needs no Numba."""
    if function.__closure__ is not None or not function.__module__.startswith("rosenblatt."):
        return
    try:
        (_, form, (code, *_)), description, _, signature = data[:4]
        if form == "object":
            kinds = ";".join(map(numbas_kind, signature.args))
            keep(function, kinds, _result(signature.return_type), description.llvm_func_name, code)
    except (NotKept, ValueError, TypeError, AttributeError):  # another type, or another version of Numba
        return
