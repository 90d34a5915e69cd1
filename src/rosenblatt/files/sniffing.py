"""Recognise the format of a file by its name and the start of its content."""

from __future__ import annotations

import re
from collections.abc import Callable
from os import fspath
from pathlib import PurePath
from typing import NamedTuple

from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.formats import Format
from rosenblatt.files.streams import BYTE_ORDER_MARK, FilePath
from rosenblatt.storage.kinds import kind_of_file

SAMPLE_BYTES, MOST_SAMPLE_BYTES = 1 << 16, 1 << 25
FEWEST_LINES, SAMPLE_LINES = 8, 200
PACKED_NAMES = {".gz", ".bz2", ".xz", ".lzma", ".zst", ".zstd"}
# Each text matches in one way at most, so that failing to match takes one pass over it.
NUMBER = rb"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
JSON_OF_SEVERAL_LINES = re.compile(rb"\s*(?:\[\s*[\[{]|\{\s*\n)")
MOST = 0.9  # share of the lines that must look like a format


class Sample(NamedTuple):
    """The start of a file, unpacked, and its path."""

    content: bytes
    path: FilePath


def sample_lines(content: bytes) -> list[bytes]:
    """Return the first lines of a sample that are not empty, without the last one, which may be cut off."""
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    whole = lines[:-1] if len(lines) > 1 else lines
    return [line for line in whole if line.strip()][:SAMPLE_LINES]


def most(lines: list[bytes], fits: Callable[[bytes], object]) -> bool:
    """Return whether a condition holds for nearly all lines."""
    return sum(bool(fits(line)) for line in lines) > MOST * len(lines)


def label_type(labels: list[bytes], wanted: str) -> str:
    """Return "number" or "text", by the first labels unless `wanted` says it."""
    if wanted != "auto":
        return wanted
    known = [label.strip() for label in labels if label.strip()]
    return "number" if all(re.fullmatch(NUMBER, label) for label in known) else "text"


def format_by_name(path: FilePath) -> str | None:
    """Return the format that the name of a file ends in, if any."""
    suffixes = [suffix.lower() for suffix in PurePath(fspath(path)).suffixes]
    while suffixes and suffixes[-1] in PACKED_NAMES:
        suffixes.pop()
    return next((one.name for one in formats.ALL.values() if suffixes and suffixes[-1] in one.endings), None)


def _format_by_magic(content: bytes) -> str | None:
    return next((one.name for one in formats.ALL.values() if one.magic and content.startswith(one.magic)), None)


def _confirmed(found: Format, lines: list[bytes], path: FilePath, by_name: bool) -> str:
    return found.name if found.confirm is None else found.confirm(lines, path, by_name)


def recognise(content: bytes, path: FilePath) -> str:
    """Return the format of a file: by its name if that has the ending of a format, else by the start of its content.

    The content is unpacked. Raises `InvalidInput` if it looks like none of them.
    """
    if (magic := _format_by_magic(content)) is not None:
        return magic
    lines = sample_lines(content.removeprefix(BYTE_ORDER_MARK))
    if (name := format_by_name(path)) is not None:
        return _confirmed(formats.ALL[name], lines, path, True)
    if not lines:
        raise InvalidInput(f"{path} has no rows. Pass a file with data.")
    found = next((one for one in formats.ALL.values() if one.matches and one.matches(lines)), None)
    if found is None:
        raise InvalidInput(
            f"{path} begins with {lines[0][:60]!r}, which is not a format that is recognised. Pass its name: "
            f"{formats.listed(formats.ALL)}."
        )
    return _confirmed(found, lines, path, False)


def table_format(sample: Sample, first: str) -> str:
    """Return the format of a table that is read with others, by its content and its name.

    Any text can be a table. Typed formats are recognised by the first line, as later ones may be faulty.
    """
    content, path = sample.content.removeprefix(BYTE_ORDER_MARK), sample.path
    name = _format_by_magic(content) or format_by_name(path)
    if name is None:
        lines = sample_lines(content)
        tables = [one for one in formats.ALL.values() if one.kind == "table" and one.matches and lines]
        fits = (one for one in tables if one.matches and one.matches(lines[:1] if one.typed else lines))
        return _confirmed(next(fits, formats.ALL["csv"]), lines, path, False)
    if formats.ALL[name].kind != "table":
        raise InvalidInput(f"{path} is {name}, and the files before are tables ({first}). Convert it first.")
    return name


def other_format(sample: Sample, first: str) -> str | None:
    """Return the format of a file that is read with others without columns, if it is clearly another one.

    Its name decides, or else its content; lines of labels alone, for example, may be of any format.
    """
    try:
        found = recognise(sample.content, sample.path)
    except InvalidInput:
        return None
    if first == "text" and found == "tsv" and all(line.count(b"\t") == 1 for line in sample_lines(sample.content)):
        return None  # short texts
    return found if found != first else None


def check_text(start: bytes, path: FilePath) -> None:
    """Raise `InvalidInput` if a file is known to be one that no format here reads."""
    if _format_by_magic(start) is not None:
        return
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        code = "UTF-32" if start[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff") else "UTF-16"
        raise InvalidInput(f"{path} is text in {code}. Save it as UTF-8, for example with iconv -f {code} -t UTF-8.")
    what, remedy = kind_of_file(start)
    if what:
        raise InvalidInput(f"{path} is {what}, which is not read here. {remedy}")
    if b"\r" in start and b"\n" not in start:
        raise InvalidInput(
            f"{path} has lines that end in a carriage return alone. Save it with ends of lines as on Unix or Windows."
        )
    if format_by_name(path) in (None, "jsonl") and (found := JSON_OF_SEVERAL_LINES.match(start)):
        what = "array" if b"[" in found[0] else "object over several lines"
        raise InvalidInput(
            f"{path} is one JSON {what}. Write an object on each line, for example with jq -c '.[]', or in pandas with "
            "to_json(orient='records', lines=True)."
        )
