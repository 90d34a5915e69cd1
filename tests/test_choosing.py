"""The tables on how to choose are what is measured."""

import importlib.util
import re
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("choosing", Path(__file__).parents[1] / "tools" / "choosing.py")
choosing = importlib.util.module_from_spec(spec)
spec.loader.exec_module(choosing)

# Percentage points by which another machine's rounding may change an accuracy: three rows of the smallest test sets.
MOST_POINTS = 3.0


def figures(lines):
    return [float(figure) for figure in re.findall(r"(?<=\| )\d+\.\d(?= \|)", "\n".join(lines))]


def words(lines):
    return [re.sub(r"(?<=\| )\d+\.\d(?= \|)", "", line) for line in lines]


@pytest.mark.long
@pytest.mark.parametrize("name", choosing.TABLES)
def test_a_table_on_the_page_is_what_is_measured(name):
    text = choosing.PAGE.read_text()
    start, end = choosing.on_page(text, name)
    there, here = text[start:end].strip().splitlines(), choosing.measured(name)
    assert words(there) == words(here), "write the table again: python -m tools.choosing --write"
    assert figures(there) == pytest.approx(figures(here), abs=MOST_POINTS)
    assert len(figures(here)) > 20


def test_every_table_that_says_so_can_be_measured():
    assert sorted(re.findall(r"<!-- measured: (\w+) -->", choosing.PAGE.read_text())) == sorted(choosing.TABLES)
