"""Arguments that are not what they must be are named with their value."""

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.files.arguments import as_count, reject


@pytest.mark.parametrize("value", [0, 3, np.int64(3), 10**30])
def test_counts_are_returned_as_integers(value):
    assert as_count("n", value, least=0) == value
    assert type(as_count("n", value, least=0)) is int


@pytest.mark.parametrize("value", [-1, True, 2.0, "3", None])
def test_what_is_no_count_is_named(value):
    with pytest.raises(InvalidInput, match=r"^n=.* is not possible: it must be a whole number from 0\.$"):
        as_count("n", value, least=0)


def test_long_values_are_shortened():
    with pytest.raises(InvalidInput) as caught:
        reject("name", "x" * 1000, "short")
    assert len(str(caught.value)) < 130
