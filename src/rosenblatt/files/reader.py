"""Data in memory as rows, by the reading of data files: frames, dicts, texts, lines of a file, arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from rosenblatt.data.matrices import sp
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.chunks import inspected
from rosenblatt.files.features import Dictionary, Piece, to_bytes, word_pieces
from rosenblatt.files.formats.jsonl import JsonParser
from rosenblatt.files.names import NamedRows, is_hashed
from rosenblatt.files.options import FEATURE_KINDS, FileLayout, Reading
from rosenblatt.files.parsing import MISSING, LineFaults, Parsed, Parser
from rosenblatt.files.tables import Moments, TableParser, joined_texts, listed, needed_names

# Whole numbers up to this size are the same as floats and as integers.
EXACT = 1 << 53


@dataclass
class RowReader:
    """Turns data in memory into the rows that files with the same content give.

    Attributes
    ----------
    reading : Reading
        How the files were read.
    names : tuple of str
        The dictionary so far; empty if names are hashed.
    moments : Moments or None
        Of the columns of numbers so far, if they are standardised.
    utf8 : bool or None
        Whether the text of the files was UTF-8; None if it was ASCII.
    """

    reading: Reading
    names: tuple[str, ...] = ()
    moments: Moments | None = None
    utf8: bool | None = None

    @property
    def parser(self) -> Parser:
        """The parser of lines of the format, whose labels are ignored."""
        return _parser_of(self.reading)

    @property
    def n_features(self) -> int:
        """Number of columns of the rows."""
        return self.parser.n_features

    @property
    def learns(self) -> bool:
        """Whether rows depend on those before them: by new names, or by the scaling."""
        return self.moments is not None or self.reading.features.dictionary

    def table(self, X: Any, *, learn: bool = False) -> Table:
        """Return the rows of X.

        With `learn`, new names get columns, and numbers are scaled by these rows, too; else neither changes.

        Parameters
        ----------
        X : data frame, list of dicts, of texts or of lines of the format, array, or sparse matrix
            A sparse matrix has the columns of the model. An array has them, too, or the columns of the table.
        """
        if hasattr(X, "tocsr") and not formats.ALL[self.reading.format].numbered:
            return as_table(X)
        parsed, parser = self._parsed(X), self.parser
        scaler = dictionary = None
        if self.moments is not None:
            scaler = parser.scaler(self.moments if learn else self.moments.scaling())
        if self.reading.features.dictionary:
            dictionary = Dictionary(self.reading.features.n_columns, self.names, frozen=not learn)
        table, infinite = inspected(parser.rows(parsed, scaler, dictionary), self.n_features)
        if infinite >= 0:
            raise InvalidInput(f"X, row {infinite}: the values are so large that their squares overflow. Scale them.")
        if learn and scaler is not None:
            self.moments = scaler.moments()
        if learn and dictionary is not None:
            self.names = dictionary.names()
        return table

    def rows(self, X: Any) -> list[Any]:
        """Return the rows of X one by one: those of a data frame as dicts."""
        return list(self._of_frame(X) if hasattr(X, "columns") and hasattr(X, "__getitem__") else X)

    def labels(self, lines: Sequence[Any]) -> tuple[list[Any], list[float] | None]:
        """Return the label on each line of the format, NaN or empty where there is none, and the weights, if any."""
        parsed = self._lines(lines)
        return parsed.label.tolist(), None if parsed.weight is None else parsed.weight.tolist()

    def named_rows(self, X: Any) -> tuple[Table, NamedRows]:
        """Return the rows of X, and the names of their features."""
        reading, exact = self.reading, self
        if is_hashed(reading):
            exact = replace(self, reading=replace(reading, features=replace(reading.features, dictionary=True)))
        return self.table(X), NamedRows(self.parser, exact._parsed(X), self.names)

    def _parsed(self, X: Any) -> Parsed:
        """Return the content of X, of any kind."""
        if isinstance(X, str | bytes | Mapping):
            raise InvalidInput(f"X is one {'row' if isinstance(X, Mapping) else 'text'}. Pass a list of them.")
        columns = self.reading.columns
        if hasattr(X, "columns") and hasattr(X, "__getitem__"):
            return self._objects(self._of_frame(X))
        if not hasattr(X, "__len__"):
            X = list(X) if isinstance(X, Iterable) else X
        first = X[0] if isinstance(X, list | tuple) and X else None
        if isinstance(first, Mapping):
            return self._objects(X)
        if isinstance(first, str | bytes) or getattr(getattr(X, "dtype", None), "kind", None) in ("U", "S"):
            return self._lines(X)
        if formats.ALL[self.reading.format].numbered:
            return self._matrix(X)
        try:
            values = np.asarray(X)
        except ValueError:
            raise InvalidInput("The rows of X are not of one length and kind. Pass rows that are.") from None
        if values.ndim == 1 and values.dtype == object and all(isinstance(text, str | bytes) for text in values):
            return self._lines(values.tolist())
        names = [column.name for column in columns if column.kind in FEATURE_KINDS]
        if values.ndim == 2 and columns and values.shape[1] == len(names):
            return self._objects(dict(zip(names, row, strict=True)) for row in values.tolist())
        wanted = f"with the columns {listed(names)}" if columns else f"of lines of {self.reading.format}"
        raise InvalidInput(f"X has shape {values.shape}. Pass a {'table' if columns else 'list'} {wanted}.")

    def _matrix(self, X: Any) -> Parsed:
        """Return the entries of a matrix, whose first column is the first of the format."""
        table = as_table(X)
        if table.shape[1] > self.n_features:
            raise InvalidInput(f"X has {table.shape[1]} columns, the model has {self.n_features}. Pass as many.")
        entries = sp.csr_matrix(table.matrix())
        every = np.arange(table.shape[0], dtype=np.int32)
        column, value = entries.indices.astype(np.int32), entries.data.astype(np.float64)
        pieces = [Piece(entries.indptr.astype(np.int32), value=value, column=column)]
        return Parsed(np.full(every.size, np.nan), every.size, every, LineFaults(False), pieces)

    def _of_frame(self, X: Any) -> Iterable[dict[str, Any]]:
        """Return the rows of a data frame."""
        names = [str(name) for name in X.columns]
        if self.reading.named and not formats.ALL[self.reading.format].ragged:
            missing = [name for name in needed_names(self.reading, "none", False) if name not in names]
            if missing:
                raise InvalidInput(
                    f"X has no column {listed(missing)}, which the model has. Its columns are {listed(names)}. Rename "
                    "or add columns; their order does not matter."
                )
        columns = (_values(X[name]) for name in X.columns)
        return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))

    def _objects(self, rows: Iterable[Mapping[str, Any]]) -> Parsed:
        """Return the content of rows with names, as a JSON object on each line of a file gives it."""
        if not isinstance(self.parser, TableParser):
            raise InvalidInput(
                f"X has columns, but the model was trained on {self.reading.format}. Pass a list of "
                f"{'texts' if self.reading.format == 'text' else 'its lines'}."
            )
        parser = _parser_of_objects(self.reading)
        typed = formats.ALL[self.reading.format].typed
        return parser.objects({str(name): _cell(value, typed) for name, value in row.items()} for row in rows)

    def _lines(self, lines: Sequence[Any]) -> Parsed:
        """Return the content of texts, or of lines of the format."""
        texts = [line if isinstance(line, bytes) else to_bytes(str(line)) for line in lines]
        if self.utf8 is False and not all(map(bytes.isascii, texts)):
            raise InvalidInput("The text of the training is not UTF-8. Pass bytes in its encoding, or train on UTF-8.")
        every = np.arange(len(texts), dtype=np.int32)
        if self.reading.format == "text":
            pieces = word_pieces(self.reading.features, *joined_texts(texts))
            return Parsed(np.full(every.size, np.nan), every.size, every, LineFaults(False), pieces)
        if formats.ALL[self.reading.format].magic:
            raise InvalidInput(f"The model was trained on {self.reading.format}, which has no lines. Pass a table.")
        content = b"".join(text.rstrip(b"\r\n") + b"\n" for text in texts)
        parsed = self.parser.parse(np.frombuffer(content, np.uint8))
        if parsed.faults.stop:
            fault = parsed.faults.examples[0]
            raise InvalidInput(f"X, row {fault.line}: {fault.found}{fault.reason}")
        if parsed.label.size != len(texts):
            empty = sorted(set(every.tolist()).difference(parsed.line.tolist()))
            raise InvalidInput(f"X, row {empty[0] if empty else 0}: the line is empty. Leave it out.")
        return parsed


# Parsers keep nothing of what they parse, and to make one takes as long as to parse a row.
@lru_cache
def _parser_of(reading: Reading) -> Parser:
    """Return the parser of the lines of a format."""
    parser: Parser = formats.ALL[reading.format].parser(reading, "optional", False, None)
    return parser


@lru_cache
def _parser_of_objects(reading: Reading) -> JsonParser:
    """Return the parser of rows with names."""
    return JsonParser(reading, "none", False, FileLayout("jsonl", named=True))


def _values(column: Any) -> list[Any]:
    """Return the values of a column of a data frame."""
    values = np.asarray(column)
    # Polars would make objects of timestamps that are numbers.
    return list(values) if values.dtype.kind == "M" else np.asarray(column, np.object_).tolist()


def _cell(value: Any, typed: bool) -> Any:
    """Return a value as JSON has it; None if it is missing.

    If the files were text, so are the words for missing values, and a whole number has no decimal point: pandas makes
    floats of integers where some are missing.
    """
    if isinstance(value, np.datetime64) and value.dtype == "M8[ns]":  # which datetime does not have
        value = value.astype("M8[us]")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | list | dict):
        return value
    if isinstance(value, float | Decimal):
        number = float(value)
        if number != number:
            return None
        return int(number) if not typed and abs(number) < EXACT and number.is_integer() else number
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    text = str(value)
    return None if not typed and to_bytes(text.strip()) in MISSING else text
