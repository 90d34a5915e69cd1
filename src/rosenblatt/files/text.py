"""Raw text: a label, a tab, and any text on each line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.files.options import NAMED_OPTIONS, WORD_OPTIONS, Reading
from rosenblatt.files.parsing import Fault, Faults, Parsed, Parser, fault_at, numbers_in, stripped, texts_in
from rosenblatt.files.sniffing import Sample, label_type, sample_lines
from rosenblatt.files.tokens import find_tabs

Array = npt.NDArray[Any]

MISSING_LABEL = "Begin the line with a label, then a tab, and the text."


def decide(reading: Reading, sample: Sample, opening: Any) -> Reading:
    """Return how such a file is to be read."""
    labels = [line.partition(b"\t")[0] for line in sample_lines(sample.content)]
    kind = "number" if opening.labels == "none" else label_type(labels, opening.label_type)
    return replace(reading, label_type=kind, normalise=True)


class TextParser(Parser):
    """Lines of a label, a tab and text. Without labels, the whole line is text."""

    options = ("label_type", *NAMED_OPTIONS, *WORD_OPTIONS)
    what = "a label, a tab and text on each line"

    def parse(self, text: Array) -> Parsed:
        """Return what a block of whole lines says."""
        faults = Faults(self.skip)
        end, first = lines_of(text)
        lines = end.size
        start = np.concatenate([[0], end[:-1] + 1])
        line = np.flatnonzero((end > start) & ~((end == start + 1) & (text[start] == 13)))
        start, end, tab = start[line], end[line], first[line]
        label: Array = np.full(line.size, np.nan)
        if self.labels != "none":
            label_end = np.where(tab < end, tab, start)
            found = [start, label_end, np.where(tab < end, tab + 1, start), end, line]
            label, (start, end, line) = self._labels(text, found, faults)
        entries, pieces = self.finished(self.assembler.words.pieces(text, start, end))
        return Parsed(label, lines, line, faults, entries, pieces=pieces)

    def _labels(self, text: Array, found: list[Array], faults: Faults) -> tuple[Array, list[Array]]:
        """Return labels, and start, end and line of each text, without rows whose label cannot be used."""
        begin, end, *others = found
        begin, end = stripped(text, begin, end)
        label, wrong = read_labels(text, begin, end, self.reading.label_type, self.labels == "optional")

        def describe(row: int) -> Fault:
            return label_fault(text, int(others[2][row]), int(begin[row]), int(end[row]), MISSING_LABEL)

        faults.add_rows(wrong, describe)
        if wrong.size:
            label = np.delete(label, wrong)
            others = [np.delete(part, wrong) for part in others]
        return label, others


def lines_of(text: Array) -> tuple[Array, Array]:
    """Return where the lines of a text end, and where each has its first tab, or ends if it has none."""
    end = np.flatnonzero(text == 10)
    tab = np.empty_like(end)
    find_tabs(text, end, tab)
    return end, tab


def read_labels(text: Array, start: Array, end: Array, label_type: str, optional: bool) -> tuple[Array, Array]:
    """Return the labels in some spans, and the rows that have none or none of the type."""
    empty = start == end
    if label_type == "text":
        return texts_in(text, start, end), np.flatnonzero(empty & (not optional))
    label, wrong = numbers_in(text, start, end)
    label[empty] = np.nan
    return label, wrong[~empty[wrong]] if optional else wrong


def label_fault(text: Array, line: int, start: int, end: int, then: str) -> Fault:
    """Return what is wrong with a label; `then` says what to do if there is none."""
    if start == end:
        return Fault(line, "", f"there is no label. {then}")
    return fault_at(
        text, line, start, end, " is not a number, as the first labels are. Correct it, or pass label_type='text'."
    )
