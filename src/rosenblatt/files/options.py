"""How files are read: options as users give them, and the decisions that were taken, which a model keeps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from rosenblatt.data.numbers import is_whole
from rosenblatt.errors import InvalidInput
from rosenblatt.files.arguments import as_count, reject
from rosenblatt.text import short_repr

FORMATS = ("svmlight", "vw", "csv", "tsv", "jsonl", "text", "parquet", "arrow")
DELIMITED, TYPED = ("csv", "tsv"), ("jsonl", "parquet", "arrow")
KINDS = ("number", "category", "text", "skip", "weight", "label")
COUNTS = ("binary", "count", "log")
MOST_BITS = 30
LONGEST_GRAM = 16
_WORDS = "text, and for tables with a column of text"
# What each option of reading is for. Which of them a file takes, its parser says.
PURPOSES = {
    "label": "tables: csv, tsv, jsonl, parquet and arrow",
    "label_type": "every format",
    "header": "csv and tsv",
    "columns": "tables: csv, tsv, jsonl, parquet and arrow",
    "zero_based": "svmlight",
    "bits": "features that are hashed or numbered, and not for a table of numbers alone",
    "dictionary": "features that have names, and not for svmlight, whose features have numbers",
    "words": _WORDS,
    "letters": _WORDS,
    "lowercase": _WORDS,
    "counts": _WORDS,
    "normalise": "sparse rows, and not for a table of numbers alone, which standardise is for",
    "standardise": "columns of numbers in csv, tsv, parquet and arrow",
}
WORD_OPTIONS = ("words", "letters", "lowercase", "counts")
NAMED_OPTIONS = ("bits", "dictionary", "normalise")


def _check_range(name: str, value: Any) -> tuple[int, int] | None:
    """Return the shortest and the longest n of n-grams, or None."""
    if value is None:
        return None
    wanted = f"two whole numbers from 1 to {LONGEST_GRAM} in order, such as (1, 2), or None"
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(is_whole(n) for n in value):
        reject(name, value, wanted)
    least, most = int(value[0]), int(value[1])
    if not 1 <= least <= most <= LONGEST_GRAM:
        reject(name, value, wanted)
    return least, most


@dataclass(frozen=True)
class FeatureOptions:
    """How names, categories and words become columns.

    Attributes
    ----------
    bits : int, default 18
        There are 2^bits columns.
    dictionary : bool, default False
        Give each name a column of its own, in the order of appearance, instead of hashing it. Names for which there
        is no column left are left out.
    words, letters : (int, int) or None
        The shortest and the longest n of n-grams of words, and of characters within words.
    lowercase : bool, default True
        Whether upper and lower case are one.
    counts : {"binary", "count", "log"}, default "log"
        The value of a word that occurs c times: 1, c, or 1 + ln c.
    normalise : bool, optional
        Whether rows are divided by their Euclidean length; by default where all features are words.
    standardise : bool, default False
        Whether numbers of a table are centred and scaled by the rows so far.
    """

    bits: int = 18
    dictionary: bool = False
    words: tuple[int, int] | None = (1, 1)
    letters: tuple[int, int] | None = None
    lowercase: bool = True
    counts: str = "log"
    normalise: bool | None = None
    standardise: bool = False

    def __post_init__(self) -> None:
        if not is_whole(self.bits) or not 1 <= self.bits <= MOST_BITS:
            reject("bits", self.bits, f"a whole number from 1 to {MOST_BITS}")
        for name in ("words", "letters"):
            object.__setattr__(self, name, _check_range(name, getattr(self, name)))
        if self.words is None and self.letters is None:
            reject("words", None, "a range such as (1, 1), unless there are letters")
        if self.counts not in COUNTS:
            reject("counts", self.counts, " or ".join(COUNTS))
        for name in ("dictionary", "lowercase", "standardise"):
            if not isinstance(getattr(self, name), bool):
                reject(name, getattr(self, name), "True or False")
        if not (self.normalise is None or isinstance(self.normalise, bool)):
            reject("normalise", self.normalise, "True, False or None")

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return 1 << self.bits


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, and what its values are."""

    name: str
    kind: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.kind not in KINDS:
            reject("columns", (self.name, self.kind), f"names with one of {', '.join(KINDS)}")


@dataclass(frozen=True)
class Reading:
    """All decisions about how files are read. Files that are read with an equal reading give rows that mean the same.

    Attributes
    ----------
    format : str
    features : FeatureOptions
    label_type : {"number", "text"}
    zero_based : bool
        Whether index 0 is the first column; of svmlight.
    delimiter : str
        Between fields; of tables in text.
    header : bool
        Whether the first line of a table has the names of the columns.
    columns : tuple of Column
        Of tables; in the order of the first file, where it has one.
    normalise : bool
    """

    format: str
    features: FeatureOptions = FeatureOptions()
    label_type: str = "number"
    zero_based: bool = False
    delimiter: str = ","
    header: bool = False
    columns: tuple[Column, ...] = ()
    normalise: bool = False

    @property
    def named(self) -> bool:
        """Whether columns are known by names that are in the files."""
        return self.header or self.format in TYPED

    @property
    def numeric(self) -> bool:
        """Whether this is a table of numbers alone, whose columns are those of the file."""
        kinds = {column.kind for column in self.columns} - {"skip", "weight", "label"}
        return kinds == {"number"} and not self.features.dictionary and self.format != "jsonl"

    @property
    def layout(self) -> Layout:
        """The layout of a file that has these columns in this order."""
        names = tuple(column.name for column in self.columns)
        return Layout(self.format, names, self.named, delimiter=self.delimiter)

    def to_json(self) -> dict[str, Any]:
        """Return the reading as plain values, which JSON can hold."""
        content = asdict(self)
        content["columns"] = [[column.name, column.kind] for column in self.columns]
        for name in ("words", "letters"):
            grams = getattr(self.features, name)
            content["features"][name] = None if grams is None else list(grams)
        return content

    @classmethod
    def from_json(cls, content: Any) -> Reading:
        """Return the reading that was written by `to_json`; raise `InvalidInput` for anything else."""
        parts = _fields_of(cls, content)
        parts["features"] = FeatureOptions(**_fields_of(FeatureOptions, parts["features"]))
        columns = parts["columns"]
        if not isinstance(columns, list | tuple) or not all(
            isinstance(c, list | tuple) and len(c) == 2 for c in columns
        ):
            reject("columns", columns, "pairs of a name and a kind")
        parts["columns"] = tuple(Column(*pair) for pair in columns)
        reading = cls(**parts)
        if reading.format not in FORMATS:
            reject("format", reading.format, f"one of {', '.join(FORMATS)}")
        if reading.label_type not in ("number", "text"):
            reject("label_type", reading.label_type, '"number" or "text"')
        if not isinstance(reading.delimiter, str) or len(reading.delimiter.encode()) != 1:
            reject("delimiter", reading.delimiter, "one ASCII character")
        for name in ("zero_based", "header", "normalise"):
            if not isinstance(getattr(reading, name), bool):
                reject(name, getattr(reading, name), "True or False")
        return reading


class Layout(NamedTuple):
    """Where one file has what a reading wants. Files of one source may differ in it.

    Attributes
    ----------
    format : str
    names : tuple of str
        Of its columns, in its own order; of tables.
    named : bool
        Whether the names are its own, rather than numbers of columns.
    closed : bool
        Whether names that are not known are refused, rather than left out; of JSON.
    delimiter : str
    offset, line : int
        Bytes (after unpacking) and lines before the first row: those of the header.
    """

    format: str
    names: tuple[str, ...] = ()
    named: bool = False
    closed: bool = False
    delimiter: str = ","
    offset: int = 0
    line: int = 0


def described(reading: Reading) -> str:
    """Return what a table is, in words: its format, and what its columns are."""
    plural = {"number": "numbers", "category": "categories", "text": "text"}
    kinds = {column.kind for column in reading.columns}
    return f"{reading.format} with columns of {' and of '.join(plural[kind] for kind in plural if kind in kinds)}"


def options_of_table(reading: Reading) -> set[str]:
    """Return the options that a table takes, by its format and its columns."""
    kinds = {column.kind for column in reading.columns}
    found = {"label", "label_type", "columns", "dictionary"}
    found |= {"header"} if reading.format in ("csv", "tsv") else set()
    found |= {"standardise"} if "number" in kinds and reading.format != "jsonl" else set()
    found |= set(WORD_OPTIONS) if "text" in kinds else set()
    return found if reading.numeric else found | set(NAMED_OPTIONS)


def check_options(given: Mapping[str, Any], taken: Collection[str], path: Any, what: str) -> None:
    """Raise `InvalidInput` for an option that changes nothing.

    Parameters
    ----------
    given : mapping
        Options that are not as they are by default.
    taken : collection of str
        Those that such a file takes.
    path : path-like
    what : str
        What the file is, in words.
    """
    for name, value in given.items():
        if name in taken:
            continue
        flag = "--keep-case" if name == "lowercase" else f"--{name.replace('_', '-')}"
        hint = " The learning rate, which is -l in Vowpal Wabbit, is --eta0 here." if _is_rate(name, value) else ""
        raise InvalidInput(
            f"{name}={short_repr(value)} ({flag}) would change nothing: {path} is {what}, and the option is for "
            f"{PURPOSES[name]}. Leave it out.{hint}"
        )


def _is_rate(name: str, value: Any) -> bool:
    """Return whether a label is more likely a learning rate."""
    try:
        return name == "label" and float(value) >= 0
    except ValueError:
        return False


def _fields_of(cls: Any, content: Any) -> dict[str, Any]:
    names = {field.name for field in fields(cls)}
    if not isinstance(content, Mapping) or set(content) != names:
        raise InvalidInput(
            f"{cls.__name__} has the fields {', '.join(sorted(names))}; these are not they: {content!r:.200}. "
            "Pass what `to_json` returned."
        )
    return dict(content)


def check_chunking(chunk_bytes: Any, chunk_rows: Any, threads: Any) -> None:
    """Raise `InvalidInput` unless these say how to cut and how many threads to use."""
    as_count("chunk_bytes", chunk_bytes)
    if chunk_rows is not None:
        as_count("chunk_rows", chunk_rows)
    as_count("threads", threads, least=0)
