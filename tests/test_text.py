"""Values and names in few words."""

import math
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.text import brief, count, did_you_mean, listed, rounded_down, rounded_up, short_repr


class Colour(Enum):
    RED = "the colour of signals"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (np.float64(0.5), "0.5"),
        (np.array(7), "7"),
        (np.bool_(True), "True"),
        ("l2", "'l2'"),
        (None, "None"),
        ((1,), "(1,)"),
        ([], "[]"),
        ({"a": 1}, "{'a': 1}"),
        (tuple(range(100)), "(0, 1, 2, 3, 4, 5, ... 94 more)"),
        (["x" * 300, 1], "['xxxxx"),
        (np.arange(3), "array([0, 1, 2])"),
        (np.zeros((4, 2)), "array of shape (4, 2)"),
        (np.zeros((1, 2)), "array([[0., 0.]])"),
        (np.zeros(100), "array of shape (100,)"),
        (sp.csr_matrix((3, 4)), "csr_matrix of shape (3, 4)"),
        (pd.DataFrame({"a": [1]}), "DataFrame of shape (1, 1)"),
        (Colour.RED, "Colour.RED"),
    ],
    ids=str,
)
def test_a_value_is_shown_as_python_writes_it_or_by_its_size(value, text):
    assert short_repr(value).startswith(text)


values = st.recursive(
    st.one_of(st.integers(), st.floats(), st.text(), st.none(), st.binary()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner), st.tuples(inner, inner)),
)


@given(values)
def test_a_value_is_one_line_of_less_than_two_hundred_characters(value):
    assert len(short_repr(value)) < 200
    assert "\n" not in short_repr(value)


def test_names_are_listed_as_in_a_sentence():
    assert listed(["a"]) == "'a'"
    assert listed([1, 2, 3]) == "1, 2 and 3"
    assert listed(range(100)) == "0, 1, 2, 3, 4, 5 and 94 more"


@pytest.mark.parametrize(
    ("name", "meant"),
    [("maxiter", "max_iter"), ("L2", "l2"), ("Elastic", "elasticnet"), ("zzz", None), (5, None), (None, None)],
)
def test_what_was_meant_is_what_is_spelt_alike(name, meant):
    known = ["max_iter", "l2", "elasticnet", None, True]
    assert did_you_mean(name, known) == ("" if meant is None else f" Did you mean {meant!r}?")


def test_nouns_have_their_number():
    assert [count(k, "epoch") for k in range(3)] == ["0 epochs", "1 epoch", "2 epochs"]
    assert count(2, "class", "classes") == "2 classes"


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 15))
def test_bounds_are_rounded_to_the_side_on_which_they_are_true(value, digits):
    low, high = rounded_down(value, digits), rounded_up(value, digits)
    assert Decimal(low) <= Decimal(value) <= Decimal(high)
    for text in (low, high):  # and as closely as so many digits can
        assert len(Decimal(text).normalize().as_tuple().digits) <= digits
        assert abs(Decimal(text) - Decimal(value)) <= Decimal(10) ** (Decimal(value).adjusted() - digits + 1)


@given(st.integers(-(10**40), 10**40))
def test_integers_of_any_size_are_bounds(value):
    assert Decimal(rounded_down(value, 3)) <= value <= Decimal(rounded_up(value, 3))


def test_what_has_no_end_is_infinite():
    assert (rounded_up(math.inf), rounded_down(-math.inf), rounded_up(0.0)) == ("inf", "-inf", "0")


@dataclass
class Record:
    long: tuple
    array: object
    text: str = ""
    nothing: object = None
    number: float = 1 / 3
    inner: object = None


def test_a_record_is_brief():
    text = brief(Record(tuple(range(10**5)), np.zeros((10**5, 3)), "word " * 1000, inner=Record((), 0)), ["number"])
    assert text.startswith(
        "Record(\n    number=0.333333, long=(0, 1, 2, 3, 4, 5, ... 99994 more), array=array of shape"
    )
    assert "inner=Record(...)" in text
    assert "nothing" not in text
    assert max(map(len, text.splitlines())) <= 110
    assert len(text.splitlines()) < 12
    assert brief(Record((1,), 2)) == "Record(long=(1,), array=2, number=0.333333)"
