"""Which format a file has, by its name and the start of its content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from os import fspath
from pathlib import PurePath
from typing import NamedTuple

from rosenblatt.errors import InvalidInput
from rosenblatt.files.options import DELIMITED, TYPED
from rosenblatt.files.source import BYTE_ORDER_MARK, STANDARD_INPUT, FilePath
from rosenblatt.storage.kinds import kind_of_file

SAMPLE_BYTES, MOST_SAMPLE_BYTES = 1 << 16, 1 << 25
FEWEST_LINES, SAMPLE_LINES = 8, 200
PACKED_NAMES = {".gz", ".bz2", ".xz", ".lzma", ".zst", ".zstd"}
BY_NAME = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}

# There is one way only to match any text, so that a failure is found in one pass over it.
NUMBER = rb"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
SVMLIGHT = re.compile(rb"\s*(?:%s(?=\s|$))?(?:\s*(?:qid:[0-9]+|[0-9]+:%s)(?=\s|$))*\s*(?:#.*)?" % (NUMBER, NUMBER))
QUOTED = re.compile(rb'(?:^|\t)"[^\t]*"(?:\t|\r?$)')
PAIR = re.compile(rb"\s[0-9]+:" + NUMBER)
JSON_OF_SEVERAL_LINES = re.compile(rb"\s*(?:\[\s*[\[{]|\{\s*\n)")
MOST_WORDS = 4  # before the bar of Vowpal Wabbit: label, importance, base and tag
MOST = 0.9  # of the lines must look like a format
WORDS_OF_TEXT = 3  # on average, from which on a field is text
WORDS_AFTER_A_TAB = 2  # the same, of lines with one tab


class Sample(NamedTuple):
    """The start of a file, unpacked, and its path."""

    content: bytes
    path: FilePath


def sample_lines(sample: bytes) -> list[bytes]:
    """Return the first lines of a sample that are not empty; the last one may be cut off and is left out."""
    lines = sample.replace(b"\r\n", b"\n").split(b"\n")
    whole = lines[:-1] if len(lines) > 1 else lines
    return [line for line in whole if line.strip()][:SAMPLE_LINES]


def format_by_name(path: FilePath) -> str | None:
    """Return the format that the name of a file says, if any."""
    suffixes = [suffix.lower() for suffix in PurePath(fspath(path)).suffixes]
    while suffixes and suffixes[-1] in PACKED_NAMES:
        suffixes.pop()
    return BY_NAME.get(suffixes[-1]) if suffixes else None


def looks_like_text(lines: list[bytes]) -> bool:
    """Return whether most lines are a label, one tab, and words."""
    fields = [line.split(b"\t") for line in lines if b"\t" in line]
    if not fields or len(fields) < 0.8 * len(lines):
        return False
    labels = Counter(parts[0] for parts in fields)
    words = sum(len(b" ".join(parts[1:]).split()) for parts in fields)
    one_tab = sum(len(parts) == 2 for parts in fields) >= 0.9 * len(fields)
    short = all(len(label.split()) <= 2 for label in labels)
    return one_tab and short and words >= WORDS_AFTER_A_TAB * len(fields)


def label_type(labels: list[bytes], wanted: str) -> str:
    """Return whether some labels are numbers or text, unless it is said which they are."""
    if wanted != "auto":
        return wanted
    known = [label.strip() for label in labels if label.strip()]
    return "number" if all(re.fullmatch(NUMBER, label) for label in known) else "text"


def _looks_like_vw(line: bytes) -> bool:
    """Return whether numbers, and a tag that may touch the bar, are before a bar."""
    head, bar, _ = line.partition(b"|")
    words = head.split()
    if words and (words[-1].startswith(b"'") or not head.endswith((b" ", b"\t"))):
        words.pop()
    return bool(bar) and len(words) < MOST_WORDS and all(re.fullmatch(NUMBER, word) for word in words)


def _share(fits: Callable[[bytes], object], lines: list[bytes]) -> float:
    return sum(bool(fits(line)) for line in lines) / len(lines)


def recognise(sample: bytes, path: FilePath) -> str:
    """Return the format of a file.

    Parameters
    ----------
    sample : bytes
        The start of its content, unpacked.
    path : path-like
        Its name decides where it is one that is used for one format.

    Raises
    ------
    InvalidInput
        If it looks like none of them.
    """
    for magic, found in MAGIC.items():
        if sample.startswith(magic):
            return found
    lines = sample_lines(sample.removeprefix(BYTE_ORDER_MARK))
    by_name = format_by_name(path) if fspath(path) != STANDARD_INPUT else None
    if by_name == "tsv" and looks_like_text(lines):
        return "text"
    if by_name is not None:
        return by_name
    if not lines:
        raise InvalidInput(f"{path} has no rows. Pass a file with data.")
    found_by_content = _format_by_content(lines)
    if found_by_content == "tsv":
        _check_quotes(lines, path)
    if found_by_content is None:
        raise InvalidInput(
            f"{path} begins with {lines[0][:60]!r}, which looks like no format that is known. Say which it is: "
            "svmlight, vw, csv, tsv, jsonl, text, parquet or arrow."
        )
    return found_by_content


def _check_quotes(lines: list[bytes], path: FilePath) -> None:
    """Raise an error if fields between tabs are in quotes, in a file whose name does not say what that means."""
    quoted = next((line for line in lines if QUOTED.search(line)), None)
    if quoted is not None:
        raise InvalidInput(
            f"{path} has fields in quotes between tabs, as in {quoted[:60]!r}. Say whether the quotes belong to the "
            "fields: --format tsv, or a name that ends in .tsv; or not: csv."
        )


def _format_by_content(lines: list[bytes]) -> str | None:
    if _share(lambda line: line.lstrip()[:1] == b"{", lines) > MOST:
        return "jsonl"
    if any(PAIR.search(line) for line in lines) and _share(SVMLIGHT.fullmatch, lines) > MOST:
        return "svmlight"
    if _share(_looks_like_vw, lines) > MOST:
        return "vw"
    if looks_like_text(lines):
        return "text"
    for delimiter, found in ((b"\t", "tsv"), (b",", "csv"), (b";", "csv")):
        if sum(delimiter in line for line in lines) > MOST * len(lines):
            return found
    return None


def table_format(sample: Sample, first: str) -> str:
    """Return the format of a table that is read with others, by its content, its name and the format of the first."""
    content, path = sample.content.removeprefix(BYTE_ORDER_MARK), sample.path
    magic = next((found for magic, found in MAGIC.items() if content.startswith(magic)), None)
    name = magic or (format_by_name(path) if fspath(path) != STANDARD_INPUT else None)
    if name is None:
        lines = sample_lines(content)
        name = "jsonl" if content.lstrip()[:1] == b"{" else "csv"
        if name == "csv" and _share(lambda line: b"\t" in line, lines) > MOST:
            _check_quotes(lines, path)
            name = "tsv"
    if name not in (*DELIMITED, *TYPED):
        raise InvalidInput(f"{path} is {name}, and the files before are tables ({first}). Convert it first.")
    return name


def other_format(sample: Sample, first: str) -> str | None:
    """Return the format of a file that is read with others of a format without columns, if it is clearly another one.

    A name decides, or else the content; but what looks like nothing may be anything, as lines of labels alone.
    """
    try:
        found = recognise(sample.content, sample.path)
    except InvalidInput:
        return None
    if first == "text" and found == "tsv" and all(line.count(b"\t") == 1 for line in sample_lines(sample.content)):
        return None  # short texts
    return found if found != first else None


def check_text(start: bytes, path: FilePath) -> None:
    """Raise an error if a file is known to be something else than a text, or one that no reader takes."""
    if start.startswith(tuple(MAGIC)):
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
    name = format_by_name(path) if fspath(path) != STANDARD_INPUT else None
    if name in (None, "jsonl") and (found := JSON_OF_SEVERAL_LINES.match(start)):
        what = "array" if b"[" in found[0] else "object over several lines"
        raise InvalidInput(
            f"{path} is one JSON {what}. Write an object on each line, for example with jq -c '.[]', or in pandas with "
            "to_json(orient='records', lines=True)."
        )
