"""Options as users write them."""

import click
import numpy as np
import pytest

from commands import run
from rosenblatt.cli.options import Columns, Range, plain, position_or_name


@pytest.mark.parametrize(("text", "value"), [("1", (1, 1)), ("1-3", (1, 3)), ("none", None)])
def test_ranges_of_n_grams(text, value):
    assert Range().convert(text, None, None) == value


def test_kinds_of_columns():
    assert Columns().convert("age=number,2=skip,a=b=text", None, None) == {"age": "number", 2: "skip", "a=b": "text"}
    for wrong in ("age", "age=float", "=number"):
        with pytest.raises(click.BadParameter):
            Columns().convert(wrong, None, None)


@pytest.mark.parametrize(("text", "value"), [("3", 3), ("-1", -1), ("age", "age")])
def test_columns_by_position_or_name(text, value):
    assert position_or_name(text) == value


@pytest.mark.parametrize(("label", "value"), [(1.0, 1), (np.float64(-1.0), -1), (0.5, 0.5), (np.str_("a"), "a")])
def test_labels_look_as_in_the_file(label, value):
    assert plain(label) == value
    assert type(plain(label)) is type(value)


def test_help_has_sections():
    text = run("train", "--help").stdout
    for title in ("Learner:", "Training:", "Input:", "Features:", "Options:"):
        assert f"\n{title}\n" in text
