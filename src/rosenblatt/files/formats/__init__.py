"""The formats of data files. Each is declared in a module of this package, as a `Format`.

`ALL` has the formats by name, in the order in which content is matched against them. How files are recognised, parsed,
written and converted, what messages and the command line offer, and the table in docs/reference/file-formats.md are
derived from it: to add a format, add a module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.files.options import FileLayout, Opening, Reading
    from rosenblatt.files.parsing import Parser
    from rosenblatt.files.records import Output, Records
    from rosenblatt.files.sniffing import Sample
    from rosenblatt.files.streams import FilePath
    from rosenblatt.files.tables import Preview

    ALL: Mapping[str, Format]


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of data files.

    Attributes
    ----------
    name : str
        As users write it: ``--format csv``.
    kind : {"features", "text", "table"}
        What a row has: features with values; a label and a text; or a field for each column.
    parser : type
        The subclass of `Parser` that turns blocks of a file into rows.
    row, label, refused : str
        What a row looks like, where its label is, and what cannot be read: cells of the table in the documentation.
    endings, magic : tuples
        Endings of file names, such as ".csv"; first bytes of files that are not text.
    matches : callable, optional
        Return whether the first lines of a file look like this format.
    rank : int
        The formats are matched in this order: first those that little else looks like.
    confirm : callable, optional
        Called with the lines, the path and whether the name of the file decided. Return the name of the format, which
        may be another after a closer look, or raise `InvalidInput`.
    decide : callable
        Return the `Reading` for files that begin like a sample. Needed unless the kind is "table".
    preview : callable
        Called with a sample, the format's name, `header` and names of columns that are known. Return the columns and
        first rows of a table.
    notes : callable, optional
        Called with the reading, and with a preview of a table or the samples of all files of another kind. Return notes
        for users.
    records : callable
        Called with `Records`, a path and its layout. Yield the rows as dicts of plain values. Not for "features".
    write : callable, optional
        Write `Records` or `FeatureRows` to an `Output`. Formats without it can only be read.
    typed : bool
        Whether values have types and columns always have names. Their text is UTF-8.
    ragged : bool
        Whether each row has names of its own, rather than a field for each column.
    numbered : bool
        Whether features have numbers instead of names.
    column_of : callable
        Return the name of a feature as the name of a column.
    """

    name: str
    kind: str
    parser: type[Parser]
    row: str
    label: str
    refused: str = ""
    endings: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    matches: Callable[[list[bytes]], bool] | None = None
    rank: int = 50
    confirm: Callable[[list[bytes], FilePath, bool], str] | None = None
    decide: Callable[[Reading, Sample, Opening], Reading] | None = None
    preview: Callable[[Sample, str, bool | str, Collection[str]], Preview] | None = None
    notes: Callable[[Reading, Any], list[str]] | None = None
    records: Callable[[Records, Any, FileLayout], Iterator[dict[str, Any]]] | None = None
    write: Callable[[Output, Any], None] | None = None
    typed: bool = False
    ragged: bool = False
    numbered: bool = False
    column_of: Callable[[str], str] = str


@cache
def _all() -> dict[str, Format]:
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    formats = {one.name: one for module in modules for one in vars(module).values() if isinstance(one, Format)}
    return {one.name: one for one in sorted(formats.values(), key=lambda one: (one.rank, one.name))}


def __getattr__(name: str) -> Any:  # the modules import this one
    if name == "ALL":
        return _all()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def names(suits: Callable[[Format], Any] = lambda _: True) -> list[str]:
    """Return the names of the formats for which a condition holds."""
    return [one.name for one in _all().values() if suits(one)]


def listed(names: Iterable[str], word: str = "or") -> str:
    """Return names as in a sentence: a, b or c."""
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last
