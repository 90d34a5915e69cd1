"""The progress of a training, as a bar on a terminal and as lines elsewhere, and tables of text."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from rosenblatt.text import count, in_columns


class ProgressBar:
    """Print the progress of a training, on stderr by default: a terminal gets a bar, a file gets lines."""

    def __init__(self, source: Any, epochs: int, quiet: bool, stream: TextIO | None = None) -> None:
        self.source, self.epochs, self.quiet = source, epochs, quiet
        self.stream = stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.start = self.last = time.monotonic()
        self.drawn = False
        self.rows = 0  # of the finished epochs
        self.rows_of_epoch = 0

    def after_chunk(self, runner: Any) -> None:
        """Print the progress of an epoch, if the last time was long enough ago."""
        self.rows_of_epoch = runner.trials
        now = time.monotonic()
        if self.quiet or now - self.last < (0.1 if self.terminal else 10.0):
            return
        self.last = now
        rows = self.rows + self.rows_of_epoch
        speed = rows / max(now - self.start, 1e-9)
        progress = self.source.progress()
        share = progress.bytes_read / progress.bytes_total if progress.bytes_total else None
        loss = f"loss {runner.mean_loss:.4f}"
        if self.terminal:
            left = ""
            if share:
                done = min(runner.epoch - 1 + share, self.epochs)
                left = f", at most {duration((now - self.start) * (self.epochs / done - 1))} left"
            text = f"{bar(share)} epoch {runner.epoch}/{self.epochs}, {abbreviated(speed)} rows/s, {loss}{left}"
            self.stream.write(f"\r{text:<78.110}")
            self.stream.flush()
            self.drawn = True
        else:
            part = "" if share is None else f" {share:.0%}"
            self._line(f"epoch {runner.epoch}{part}: {rows} rows in all, {abbreviated(speed)} rows/s, {loss}")

    def after_epoch(self, epoch: Any) -> None:
        """Print the results of an epoch."""
        self.rows, self.rows_of_epoch = self.rows + self.rows_of_epoch, 0
        if not self.quiet:
            error = "" if epoch.error is None else f", held-out error {epoch.error:.4f}"
            self._line(f"epoch {epoch.number}: {count(epoch.mistakes, 'mistake')}, loss {epoch.loss:.4f}{error}")

    def _line(self, text: str) -> None:
        self.clear()
        self.stream.write(f"{text}\n")
        self.stream.flush()

    def clear(self) -> None:
        """Remove the bar."""
        if self.drawn:
            self.stream.write(f"\r{'':<110}\r")
            self.drawn = False


class ProgressTable:
    """Print the errors of a stream on stderr: so far, and since the last line, which shows a drift."""

    def __init__(self, every: int, regression: bool, quiet: bool, stream: TextIO | None = None) -> None:
        self.every, self.regression, self.quiet = every, regression, quiet
        self.stream = stream or sys.stderr
        self.start = time.monotonic()
        self.rows = self.rows_before = 0
        self.loss = self.loss_before = 0.0

    def add(self, losses: Any) -> None:
        """Add the loss of each of some rows, 0 or 1, or the squared error of a regression; print lines that are due."""
        done = 0
        while done < len(losses):
            part = losses[done : done + self.every - self.rows % self.every]
            done += len(part)
            self.rows, self.loss = self.rows + len(part), self.loss + float(part.sum())
            if self.rows % self.every == 0:
                self._line()

    def end(self) -> None:
        """Print a line for the last rows, if there were lines before."""
        if 0 < self.rows_before < self.rows:
            self._line()

    def _line(self) -> None:
        if not self.quiet:
            if not self.rows_before:
                name = "squared error" if self.regression else "error"
                self.stream.write(f"{'rows':>12}  {name + ' so far':>20}  {'since last':>12}  {'seconds':>8}\n")
            so_far = self.loss / self.rows
            recent = (self.loss - self.loss_before) / (self.rows - self.rows_before)
            seconds = time.monotonic() - self.start
            self.stream.write(f"{self.rows:>12}  {so_far:>20.6g}  {recent:>12.6g}  {seconds:>8.1f}\n")
            self.stream.flush()
        self.rows_before, self.loss_before = self.rows, self.loss


@contextmanager
def steps_shown(
    command: str, limit: str = "", *, quiet: bool = False, every: float = 5.0, stream: TextIO | None = None
) -> Iterator[None]:
    """Print the step that runs, which the package's loggers name, while the body takes long.

    A line is printed after `every` seconds, then when the step has changed or the time doubled, at most one in `every`
    seconds. `limit` is what to say about the longest time.
    """
    if quiet:
        yield
        return
    start, step, shown = time.monotonic(), ["starting"], ("", 0.0)
    done, out = threading.Event(), stream or sys.stderr

    class Steps(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            step[0] = record.getMessage()

    def wait() -> None:
        nonlocal shown
        while not done.wait(every):
            seconds = time.monotonic() - start
            if step[0] != shown[0] or seconds >= 2 * shown[1]:
                shown = step[0], seconds
                print(f"{command}: {step[0]}, {seconds:.3g} s{limit}", file=out, flush=True)

    logger, handler, thread = logging.getLogger("rosenblatt"), Steps(), threading.Thread(target=wait, daemon=True)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    thread.start()
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        done.set()
        thread.join()


def bar(share: float | None) -> str:
    """Return a progress bar; empty if the share is unknown."""
    if share is None:
        return ""
    full = round(24 * min(max(share, 0.0), 1.0))
    return f"[{'#' * full:.<24}]"


def abbreviated(number: float) -> str:
    """Return a number, in thousands or millions if it is large."""
    if number >= 1e6:
        return f"{number / 1e6:.1f}M"
    return f"{number / 1e3:.0f}k" if number >= 1e4 else f"{number:.0f}"


def duration(seconds: float) -> str:
    """Return seconds as hours, minutes and seconds."""
    whole = max(round(seconds), 0)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rows_of_files(rows: Mapping[str, int]) -> str:
    """Return a line with the number of rows of each file; beyond 20 files, a total of the rest."""
    shown = list(rows.items())[:20]
    lines = [f"{path}: {count(number, 'row')}" for path, number in shown]
    if len(rows) > len(shown):
        rest = sum(rows.values()) - sum(number for _, number in shown)
        lines.append(f"... and {count(rest, 'row')} in {len(rows) - len(shown)} more files")
    return "\n".join(lines)


def table(heading: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table of text. The first column and those whose heading begins with < are aligned left."""
    left = {column for column, name in enumerate(heading) if column == 0 or name.startswith("<")}
    cells = [[str(cell) for cell in row] for row in ([name.removeprefix("<") for name in heading], *rows)]
    return in_columns(cells, left)
