"""Raw text: a label, a tab, and any text on each line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.files.features import TEXT_FIELD, word_pieces
from rosenblatt.files.formats import Format
from rosenblatt.files.options import NAMED_OPTIONS, WORD_OPTIONS, FileLayout, Opening, Reading
from rosenblatt.files.parsing import LineFaults, Parsed, Parser, RefusedRows, stripped
from rosenblatt.files.records import (
    LABEL_COLUMN,
    TEXT_COLUMN,
    FeatureRows,
    Output,
    Record,
    Records,
    as_field,
    as_value,
    flat,
    one_line,
    short_number,
)
from rosenblatt.files.sniffing import Sample, label_type, sample_lines
from rosenblatt.files.streams import Array
from rosenblatt.files.tables import check_crosses
from rosenblatt.files.tokens import find_tabs

MISSING_LABEL = "Begin the line with a label, then a tab, and the text."
MOST_REPEATS = 1000  # of a word, by its count


def looks_like_text(lines: list[bytes]) -> bool:
    """Return whether most lines are a label, one tab, and words."""
    fields = [line.split(b"\t") for line in lines if b"\t" in line]
    if not fields or len(fields) < 0.8 * len(lines):
        return False
    labels = Counter(parts[0] for parts in fields)
    words = sum(len(b" ".join(parts[1:]).split()) for parts in fields)
    one_tab = sum(len(parts) == 2 for parts in fields) >= 0.9 * len(fields)
    short = all(len(label.split()) <= 2 for label in labels)
    return one_tab and short and words >= 2 * len(fields)  # two words on average


def decide(reading: Reading, sample: Sample, opening: Opening) -> Reading:
    """Return how to read files that begin like a sample."""
    labels = [line.partition(b"\t")[0] for line in sample_lines(sample.content)]
    kind = "number" if opening.labels == "none" else label_type(labels, opening.label_type)
    check_crosses(reading.features.cross, {TEXT_FIELD: "text"})
    return replace(reading, label_type=kind, normalise=True)


class TextParser(Parser):
    """Parse lines of a label, a tab and text. Without labels, the whole line is text."""

    options = ("label_type", *NAMED_OPTIONS, *WORD_OPTIONS)
    what = "a label, a tab and text on each line"

    def parse(self, text: Array) -> Parsed:
        """Return the rows of a block of whole lines."""
        faults = LineFaults(self.skip)
        end, first = lines_of(text)
        lines = end.size
        start = np.concatenate([[0], end[:-1] + 1])
        line = np.flatnonzero((end > start) & ~((end == start + 1) & (text[start] == 13)))
        start, end, tab = start[line], end[line], first[line]
        label: Array = np.full(line.size, np.nan)
        if self.labels != "none":
            begin, stop = stripped(text, start, np.where(tab < end, tab, start))
            refused = RefusedRows(line.size, faults)
            label = self.read_labels(text, begin, stop, line, refused, MISSING_LABEL)
            start, kept = np.where(tab < end, tab + 1, start), ~refused.mask
            label, start, end, line = label[kept], start[kept], end[kept], line[kept]
        return Parsed(label, lines, line, faults, word_pieces(self.reading.features, text, start, end))


def lines_of(text: Array) -> tuple[Array, Array]:
    """Return where the lines of a text end, and where each has its first tab, or ends if it has none."""
    end = np.flatnonzero(text == 10)
    tab = np.empty_like(end)
    find_tabs(text, end, tab)
    return end, tab


def records(table: Records, path: Any, layout: FileLayout) -> Iterator[Record]:
    """Yield the rows of a file as plain values."""
    for number, line in table.lines(path):
        text = line.decode("utf-8", table.errors)
        label, tab, rest = text.partition("\t")
        if table.labels == "none":
            yield {TEXT_COLUMN: text}
        elif not tab:
            table.refuse(path, number, text, "has no tab between label and text. Correct the line.")
        else:
            yield {LABEL_COLUMN: as_value(label), TEXT_COLUMN: rest}


def write(output: Output, rows: Records | FeatureRows) -> None:
    """Write a label and a text on each line; features must be words with counts."""
    for line in _lines_of_words(rows) if isinstance(rows, FeatureRows) else _lines(rows):
        output.write_row(line)


def _lines(rows: Records) -> Iterator[str]:
    texts, label = rows.texts, rows.label
    others = [name for name in rows.names() if name not in (*texts, label)]
    if not texts or others:
        found_instead = f"the columns {', '.join(others)[:100]}" if texts else "no columns of text"
        raise InvalidInput(
            f"Raw text holds a label and a text; there are {found_instead}. "
            "Skip other columns, or convert to csv or jsonl."
        )
    for record in rows:
        found = flat(record)
        text = one_line(" ".join(str(found[name]) for name in texts if name in found))
        yield f"{one_line(as_field(found.get(label, '')))}\t{text}" if label else text


def _lines_of_words(rows: FeatureRows) -> Iterator[str]:
    for row in rows:
        words = []
        for name, value in row.features:
            word = rows.column_of(name)
            if not re.fullmatch(r"\w+", word) or value != int(value) or not 0 < value <= MOST_REPEATS:
                raise InvalidInput(
                    f"The feature {word!r} with the value {short_number(value)} is not a word with a count, and raw "
                    "text holds nothing else. Convert to csv, jsonl, vw or svmlight."
                )
            words += [word] * int(value)
        yield f"{row.label_text}\t{' '.join(words)}"


TEXT = Format(
    name="text",
    kind="text",
    rank=40,
    matches=looks_like_text,
    row="`label<TAB>any text`",
    label="before the first tab",
    refused="a line without a tab",
    parser=TextParser,
    decide=decide,
    records=records,
    write=write,
)
