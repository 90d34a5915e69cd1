"""Pieces of reports for a terminal: sparklines, tables, and why runs stopped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rosenblatt.training.stopping import Stop

UNICODE_BARS, ASCII_BARS = "▁▂▃▄▅▆▇█", "_.:-=+*#"
MAX_BARS = 40
# Shorter than the sentences of `Stop`.
_ENDS = {
    Stop.SEPARATED: "separated",
    Stop.EPOCHS: "out of epochs",
    Stop.SECONDS: "out of time",
    Stop.TRAINING: "gave up",
    Stop.VALIDATION: "validation error rose",
    Stop.CYCLE: "went in circles",
    Stop.CALLBACK: "interrupted",
    Stop.DIVERGED: "diverged",
}


def sparkline(counts: Sequence[int], *, ascii_only: bool = False) -> str:
    """Return counts as a line of bars; with many counts, each bar is the mean of several.

    Parameters
    ----------
    counts : sequence of int
        One for each epoch, at least one.
    ascii_only : bool
        Use ASCII characters for the bars.

    Returns
    -------
    str
        The bars, the first and the last count, and the number of epochs in a bar.
    """
    bars = np.array_split(np.asarray(counts), min(MAX_BARS, len(counts)))
    means = [float(bar.mean()) for bar in bars]
    blocks = ASCII_BARS if ascii_only else UNICODE_BARS
    top = max([*means, 1.0])
    line = "".join(blocks[min(7, int(8 * mean / top))] for mean in means)
    note = "" if len(bars) == len(counts) else f" (a bar: about {len(counts) / len(bars):.0f} epochs)"
    return f"{line} {counts[0]} to {counts[-1]}{note}"


def end_in_words(stop: Stop) -> str:
    """Return in a few words why a problem stopped."""
    return _ENDS.get(stop) or stop.value.partition(":")[0]


def ends_in_words(stops: Sequence[Stop]) -> str:
    """Return in a few words why the problems of a run stopped."""
    if len(set(stops)) == 1:
        end = end_in_words(stops[0])
        return end if len(stops) == 1 else f"all {len(stops)} {end}"
    return ", ".join(f"{stops.count(stop)} {end_in_words(stop)}" for stop in reversed(Stop) if stop in stops)


def text_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Any:
    """Return a table to print on a console.

    Parameters
    ----------
    columns : sequence of str
        Headings. One that begins with < aligns its column to the left.
    rows : iterable of sequences of str

    Returns
    -------
    rich.table.Table
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column.removeprefix("<"), justify="left" if column.startswith("<") else "right")
    for row in rows:
        table.add_row(*row)
    return table
