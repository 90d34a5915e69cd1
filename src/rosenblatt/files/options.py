"""How files are read: the options of `open_source`, and the decisions that follow from them and from the files.

A model keeps the decisions (`Reading`), so that other files are read in the same way.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple, NoReturn

from rosenblatt.data.numbers import is_whole
from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.streams import FilePath
from rosenblatt.text import short_repr

DATE_KINDS = ("date", "date-dmy", "date-mdy")  # between slashes the day or the month comes first
FEATURE_KINDS = ("number", "category", "text", *DATE_KINDS)
KINDS = (*FEATURE_KINDS, "skip", "weight", "label")
COUNTS = ("binary", "count", "log")
MOST_BITS = 30
LONGEST_GRAM = 16
WORD_OPTIONS = ("words", "letters", "lowercase", "counts")
NAMED_OPTIONS = ("bits", "dictionary", "normalise", "cross")
CHUNK_BYTES = 1 << 22


def reject(name: str, value: Any, wanted: str) -> NoReturn:
    """Raise `InvalidInput` for an argument: its name, its value and what it must be."""
    raise InvalidInput(f"{name}={short_repr(value)} is invalid: it must be {wanted}.")


def as_count(name: str, value: Any, least: int = 1) -> int:
    """Return an argument that must be an integer from `least` on."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        reject(name, value, f"a whole number from {least}")
    return number


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


def as_crosses(value: Any) -> tuple[tuple[str, ...], ...]:
    """Return each cross once, as names, with those that are repeated next to each other."""
    wanted = 'names with a star between them, such as "user*ad", or a list of them'
    given = () if value is None else [value] if isinstance(value, str) else value
    if not isinstance(given, tuple | list):
        reject("cross", value, wanted)
    texts = [text for one in given for text in (one.split(",") if isinstance(one, str) else [one])]
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for text in texts:
        # The default namespace of Vowpal Wabbit is a space.
        names = [name.strip() or name for name in text.split("*")] if isinstance(text, str) else text
        if not isinstance(names, tuple | list) or len(names) < 2 or not all(isinstance(n, str) and n for n in names):
            reject("cross", text, wanted)
        found.setdefault(tuple(sorted(names)), tuple(sorted(names, key=names.index)))
    return tuple(found.values())


@dataclass(frozen=True)
class FeatureOptions:
    """How names, categories and words become columns.

    Attributes
    ----------
    bits : int, default 18
        There are 2^bits columns.
    dictionary : bool, default False
        Give each name a column of its own, in the order of appearance, instead of hashing it. Names beyond the last
        column are left out.
    words, letters : (int, int) or None
        Minimum and maximum n of n-grams of words, and of characters within words.
    lowercase : bool, default True
        Whether to ignore case.
    counts : {"binary", "count", "log"}, default "log"
        The value of a word that occurs c times: 1, c, or 1 + ln c.
    normalise : bool, optional
        Whether rows are divided by their Euclidean length; by default where all features are words.
    standardise : bool, optional
        Whether numbers of a table are centred and scaled by the rows so far; by default where rows are read to learn.
    cross : str, or sequence of them, default ()
        Columns or namespaces whose features are multiplied with each other, such as "user*ad"; as tuples of names where
        a name has a star or a comma.
    """

    bits: int = 18
    dictionary: bool = False
    words: tuple[int, int] | None = (1, 1)
    letters: tuple[int, int] | None = None
    lowercase: bool = True
    counts: str = "log"
    normalise: bool | None = None
    standardise: bool | None = None
    cross: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cross", as_crosses(self.cross))
        if not is_whole(self.bits) or not 1 <= self.bits <= MOST_BITS:
            reject("bits", self.bits, f"a whole number from 1 to {MOST_BITS}")
        for name in ("words", "letters"):
            object.__setattr__(self, name, _check_range(name, getattr(self, name)))
        if self.words is None and self.letters is None:
            reject("words", None, "a range such as (1, 1), unless there are letters")
        if self.counts not in COUNTS:
            reject("counts", self.counts, " or ".join(COUNTS))
        for name in ("dictionary", "lowercase"):
            if not isinstance(getattr(self, name), bool):
                reject(name, getattr(self, name), "True or False")
        for name in ("normalise", "standardise"):
            if not (getattr(self, name) is None or isinstance(getattr(self, name), bool)):
                reject(name, getattr(self, name), "True, False or None")

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return 1 << self.bits


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, and the kind of its values."""

    name: str
    kind: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.kind not in KINDS:
            reject("columns", (self.name, self.kind), f"names with one of {', '.join(KINDS)}")


@dataclass(frozen=True)
class Reading:
    """How files are read, with nothing left to decide: files with equal readings give rows that mean the same."""

    format: str
    features: FeatureOptions = FeatureOptions()
    label_type: str = "number"  # or "text"
    zero_based: bool = False  # whether the first column of svmlight has index 0
    delimiter: str = ","  # between the fields of a table in text
    header: bool = False  # whether the first line of a table has the names of the columns
    columns: tuple[Column, ...] = ()  # of a table, in the order of the first file
    normalise: bool = False

    @property
    def named(self) -> bool:
        """Whether columns are known by names that are in the files."""
        return self.header or formats.ALL[self.format].typed

    @property
    def numeric(self) -> bool:
        """Whether this is a table of numbers alone, whose columns are those of the file."""
        kinds = {column.kind for column in self.columns} - {"skip", "weight", "label"}
        hashed = self.features.dictionary or self.features.cross or formats.ALL[self.format].ragged
        return kinds == {"number"} and not hashed

    @property
    def layout(self) -> FileLayout:
        """The layout of a file that has these columns in this order."""
        names = tuple(column.name for column in self.columns)
        return FileLayout(self.format, names, self.named, delimiter=self.delimiter)

    def to_json(self) -> dict[str, Any]:
        """Return the reading as plain values, which JSON can hold."""
        content = asdict(self)
        content["columns"] = [[column.name, column.kind] for column in self.columns]
        for name in ("words", "letters"):
            grams = getattr(self.features, name)
            content["features"][name] = None if grams is None else list(grams)
        content["features"]["cross"] = [list(names) for names in self.features.cross]
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
        if reading.format not in (known := formats.names()):
            reject("format", reading.format, f"one of {', '.join(known)}")
        if reading.label_type not in ("number", "text"):
            reject("label_type", reading.label_type, '"number" or "text"')
        if not isinstance(reading.delimiter, str) or len(reading.delimiter.encode()) != 1:
            reject("delimiter", reading.delimiter, "one ASCII character")
        for name in ("zero_based", "header", "normalise"):
            if not isinstance(getattr(reading, name), bool):
                reject(name, getattr(reading, name), "True or False")
        return reading


class FileLayout(NamedTuple):
    """Format and columns of one file. The files of one source may differ in them."""

    format: str
    names: tuple[str, ...] = ()  # of the columns of a table, in the order of the file
    named: bool = False  # whether the names are in the file, rather than made from the numbers of the columns
    closed: bool = False  # whether unknown names in a JSON object are refused, rather than left out
    delimiter: str = ","
    offset: int = 0  # bytes, after unpacking, and lines of the header, before the first row
    line: int = 0


def _fields_of(cls: Any, content: Any) -> dict[str, Any]:
    names = {one.name for one in fields(cls)}
    if not isinstance(content, Mapping) or set(content) != names:
        raise InvalidInput(
            f"{cls.__name__} has the fields {', '.join(sorted(names))}, got {content!r:.200}. Pass what `to_json` "
            "returned."
        )
    return dict(content)


@dataclass(frozen=True)
class Opening:
    """Options of `open_source`. By default the content of the files decides.

    Attributes
    ----------
    format : str, optional
        Name of a format, see docs/reference/file-formats.md; by default it is recognised by name and content.
    label : str or int, optional
        Name or position of the column with the labels of a table; by default one that is called label, y, class or
        target, else the last.
    labels : {"required", "optional", "none"}
        "optional": labels may be missing; "none": the files have no labels.
    label_type : {"auto", "number", "text"}
        "auto": numbers if all labels at the start of the file are numbers.
    header : bool or "auto"
        Whether the first line of a table has the names of the columns.
    columns : mapping from name or position to kind
        "number", "category", "text", "date", "skip" or "weight", to override what the content of a column shows; with
        "date-dmy" or "date-mdy", the day or the month comes first in dates with slashes.
    zero_based : bool or "auto"
        Whether the first column of svmlight has index 0; "auto": if index 0 is at the start of the file.
    features : FeatureOptions
    learns : bool
        Whether the rows are for learning: numbers of tables are standardised, and columns with another value in each
        row are left out, unless options say otherwise.
    on_error : {"raise", "skip"}
        What to do with a line that cannot be used.
    reading : Reading, optional
        How other files were read. It replaces all options above but `labels` and `on_error`.
    names : sequence of str, optional
        The dictionary of other files; names that are not in it are left out.
    scaling : Scaling or Moments, optional
        Means and deviations of other files.
    goes_on : bool
        Whether these files continue where others ended: `names` are a dictionary that grows, and `scaling` is
        `Moments` that further rows change.
    utf8 : bool, optional
        Whether the text of other files was UTF-8; files in the other encoding are refused. None: unknown.
    chunk_bytes, chunk_rows : int
        Size of chunks in bytes of text, or exactly in rows. The rows do not depend on it.
    threads : int
        Threads that parse ahead of the consumer.
    named : bool
        Whether the chunks have the names of the features of each row.
    id : str or int, optional
        Name or position of a column of a table whose values the chunks have, as they are in the file.
    tags : bool
        Whether the chunks have the tags of Vowpal Wabbit's text.
    cache : path-like, optional
        File in which to keep the rows for further passes.
    cache_bytes : int
        Maximum size of the cache.
    given : collection of str
        Options that the user named, which are refused if they have no effect even with their default values.
    """

    format: str | None = None
    label: str | int | None = None
    labels: str = "required"
    label_type: str = "auto"
    header: bool | str = "auto"
    columns: Mapping[str | int, str] = field(default_factory=dict)
    zero_based: bool | str = "auto"
    features: FeatureOptions = field(default_factory=FeatureOptions)
    learns: bool = False
    on_error: str = "raise"
    reading: Reading | None = None
    names: Sequence[str] | None = None
    scaling: Any = None
    goes_on: bool = False
    utf8: bool | None = None
    chunk_bytes: int = CHUNK_BYTES
    chunk_rows: int | None = None
    threads: int = 2
    named: bool = False
    id: str | int | None = None
    tags: bool = False
    cache: FilePath | None = None
    cache_bytes: int = 64 << 30
    given: Collection[str] = ()

    def __post_init__(self) -> None:
        as_count("chunk_bytes", self.chunk_bytes)
        if self.chunk_rows is not None:
            as_count("chunk_rows", self.chunk_rows)
        as_count("threads", self.threads, least=0)
        choices = {
            "format": (None, *formats.ALL),
            "labels": ("required", "optional", "none"),
            "on_error": ("raise", "skip"),
            "label_type": ("auto", "number", "text"),
            "header": ("auto", True, False),
            "zero_based": ("auto", True, False),
            "utf8": (None, True, False),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                reject(name, getattr(self, name), " or ".join(map(repr, allowed)))
        if not isinstance(self.features, FeatureOptions):
            reject("features", self.features, "FeatureOptions(...)")

    def changed(self) -> dict[str, Any]:
        """Return the options of reading that differ from their defaults, or that were given."""
        found: dict[str, Any] = {}
        for options in (self, self.features):
            default, known = type(options)(), purposes()
            own = (one.name for one in fields(options) if one.name in known)
            values = {name: getattr(options, name) for name in own}
            found |= {name: v for name, v in values.items() if v != getattr(default, name) or name in self.given}
        return found


def purposes() -> dict[str, str]:
    """Return the formats and columns that each option of reading is for, in words."""
    tables = formats.names(lambda one: one.kind == "table")
    words = "text, and for tables with a column of text"
    return {
        "label": f"tables: {formats.listed(tables, 'and')}",
        "label_type": "every format",
        "header": formats.listed([name for name in tables if not formats.ALL[name].typed], "and"),
        "columns": f"tables: {formats.listed(tables, 'and')}",
        "zero_based": "svmlight",
        "bits": "features that are hashed or numbered, and not for a table of numbers alone",
        "dictionary": "features that have names, and not for svmlight, whose features have numbers",
        **dict.fromkeys(WORD_OPTIONS, words),
        "cross": "features that have names, and not for svmlight, whose features have numbers",
        "normalise": "sparse rows, and not for a table of numbers alone, which standardise is for",
        "standardise": "columns of numbers in "
        + formats.listed([name for name in tables if not formats.ALL[name].ragged], "and"),
    }


def check_options(changed: Mapping[str, Any], taken: Collection[str], path: Any, what: str) -> None:
    """Raise `InvalidInput` for a changed option that has no effect: one that is not among those `taken`.

    `what` describes the file.
    """
    for name, value in changed.items():
        if name in taken:
            continue
        flag = "--keep-case" if name == "lowercase" and not value else f"--{name.replace('_', '-')}"
        hint = " The learning rate, which is -l in Vowpal Wabbit, is --eta0 here." if _is_rate(name, value) else ""
        raise InvalidInput(
            f"{name}={short_repr(value)} ({flag}) would change nothing: {path} is {what}, and the option is for "
            f"{purposes()[name]}. Leave it out.{hint}"
        )


def _is_rate(name: str, value: Any) -> bool:
    """Return whether the value of `label` looks like a learning rate."""
    try:
        return name == "label" and float(value) >= 0
    except ValueError:
        return False
