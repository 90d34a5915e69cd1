"""Reports as text."""

import io

import pytest
from rich.console import Console

from rosenblatt.report.text import end_in_words, ends_in_words, sparkline, text_table
from rosenblatt.training.stopping import Stop


def test_a_sparkline_falls_with_its_counts():
    assert sparkline((8, 4, 0)) == "█▅▁ 8 to 0"
    assert sparkline((0,)) == "▁ 0 to 0"
    assert sparkline((5,) * 400) == "█" * 40 + " 5 to 5 (a bar: about 10 epochs)"
    assert sparkline((8, 4, 0), ascii_only=True) == "#=_ 8 to 0"


def test_ends_are_told_in_a_few_words():
    assert ends_in_words((Stop.CYCLE,)) == "went in circles"
    assert ends_in_words((Stop.SEPARATED, Stop.EPOCHS, Stop.SEPARATED)) == "2 separated, 1 out of epochs"
    assert ends_in_words((Stop.SEPARATED,) * 45) == "all 45 separated"


@pytest.mark.parametrize("stop", Stop)
def test_every_end_has_its_few_words(stop):
    words = end_in_words(stop)
    assert 0 < len(words) < 40
    assert ends_in_words((stop,)) == words
    other = Stop.SEPARATED if stop is not Stop.SEPARATED else Stop.CYCLE
    assert f"2 {words}" in ends_in_words((stop, other, stop))


def test_a_proof_that_nothing_separates_is_an_end():
    assert ends_in_words((Stop.INSEPARABLE,)) == "proven not separable"
    assert ends_in_words((Stop.INSEPARABLE, Stop.SEPARATED)) == "1 separated, 1 proven not separable"


def test_a_table_has_its_columns_where_they_belong():
    stream = io.StringIO()
    table = text_table(("<way", "right"), [("a", "1"), ("bbb", "22.5")])
    Console(file=stream, width=40).print(table)
    lines = [line.rstrip() for line in stream.getvalue().splitlines() if line.strip()]
    assert lines[0].split() == ["way", "right"]
    assert lines[-2].startswith(" a ")
    assert lines[-1].endswith("22.5")
    assert len(lines[-2]) == len(lines[-1])
