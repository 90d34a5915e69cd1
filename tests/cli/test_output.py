"""What is printed while a training runs."""

import io
from types import SimpleNamespace

import pytest

from rosenblatt.cli.output import Watch, bar, count, duration, table


class Terminal(io.StringIO):
    def isatty(self):
        return True


def watched(stream, chunks=3, quiet=False):
    progress = SimpleNamespace(bytes_read=50, bytes_total=100)
    watch = Watch(SimpleNamespace(progress=lambda: progress), 2, quiet, stream)
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
    assert [count(number) for number in (12, 34567, 2.34e6)] == ["12", "35k", "2.3M"]
    assert bar(None) == ""
    assert table(("a", "b"), [("long", 1), ("x", 22)]) == "a      b\nlong   1\nx     22"
