"""What is printed while a training runs."""

import io
import logging
import threading
from types import SimpleNamespace

import pytest

from rosenblatt.cli.output import ProgressBar, abbreviated, bar, duration, steps_shown, table


class Terminal(io.StringIO):
    def isatty(self):
        return True


def watched(stream, chunks=3, quiet=False):
    progress = SimpleNamespace(bytes_read=50, bytes_total=100)
    watch = ProgressBar(SimpleNamespace(progress=lambda: progress), 2, quiet, stream)
    for _ in range(chunks):
        watch.last -= 100
        watch.start -= 1
        watch.after_chunk(SimpleNamespace(epoch=1, trials=5000, mean_loss=0.25))
    watch.after_epoch(SimpleNamespace(number=1, mistakes=7, loss=0.25, error=0.125))
    watch.clear()
    return stream.getvalue()


def test_a_terminal_sees_a_bar_with_speed_loss_and_time_left():
    text = watched(Terminal())
    assert "[############............] epoch 1/2" in text
    assert "rows/s, loss 0.2500, at most 0:0" in text
    assert text.rstrip().endswith("epoch 1: 7 mistakes, loss 0.2500, held-out error 0.1250")


def test_a_file_gets_plain_lines():
    text = watched(io.StringIO())
    assert "\r" not in text
    assert text.splitlines()[0].startswith("epoch 1 50%: 5000 rows in all")


def test_quiet_is_quiet():
    assert watched(Terminal(), quiet=True) == ""


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (75, "1:15"), (3700, "1:01:40")])
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_numbers_and_tables_are_short():
    assert [abbreviated(number) for number in (12, 34567, 2.34e6)] == ["12", "35k", "2.3M"]
    assert bar(None) == ""
    assert table(("a", "b"), [("long", 1), ("x", 22)]) == "a      b\nlong   1\nx     22"


class Heard(io.StringIO):
    """A stream that tells when something was written to it."""

    def __init__(self):
        super().__init__()
        self.line = threading.Event()

    def flush(self):
        self.line.set()


def test_the_step_that_takes_long_is_named():
    stream = Heard()
    with steps_shown("certify", " (--time-limit 60)", every=0.001, stream=stream):
        logging.getLogger("rosenblatt.prover").info("searching for the %s", "margin")
        while "searching for the margin, " not in stream.getvalue():
            assert stream.line.wait(60)
            stream.line.clear()
    assert stream.getvalue().splitlines()[-1].startswith("certify: searching for the margin, ")
    assert stream.getvalue().endswith(" s (--time-limit 60)\n")
    assert not logging.getLogger("rosenblatt").handlers


@pytest.mark.parametrize("options", [{"every": 3600.0}, {"every": 0.0, "quiet": True}])
def test_what_is_soon_over_or_quiet_says_nothing(options):
    stream = Heard()
    with steps_shown("certify", stream=stream, **options):
        logging.getLogger("rosenblatt.prover").info("searching")
    assert not stream.getvalue()
