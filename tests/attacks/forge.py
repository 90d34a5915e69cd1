"""Take model files apart and put them together again, by docs/reference/model-files.md and not by our code."""

import hashlib
import json
import struct


def split(data):
    """Give the header without its padding, as it was parsed, and the bytes of the tensors."""
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def content(header):
    return json.loads(header["__metadata__"]["model"])


def join(header, tensors, *, model=None, seal=True):
    """Give the bytes of a file; with the seal that fits it, unless told otherwise."""
    if model is not None:
        header["__metadata__"]["model"] = json.dumps(model)
    if seal:
        header["__metadata__"].pop("seal", None)
        canonical = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
        header["__metadata__"]["seal"] = hashlib.sha256(canonical + tensors).hexdigest()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + tensors


def without(header, names, tensors):
    """Take tensors out of a file."""
    kept, result = sorted(set(header) - {*names, "__metadata__"}, key=lambda name: header[name]["data_offsets"]), b""
    for name in set(header) - {*kept, "__metadata__"}:
        del header[name]
    for name in kept:
        start, end = header[name]["data_offsets"]
        header[name]["data_offsets"] = [len(result), len(result) + end - start]
        result += tensors[start:end]
    return result


def pruned(header, model, tensors):
    """Take the tensors out of a file that its model does not use."""
    text = json.dumps(model)
    return without(header, [name for name in header if f'"{name}"' not in text], tensors)
