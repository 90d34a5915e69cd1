"""Costs of classes."""

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.training.costs import class_costs


def test_class_costs_are_those_that_were_asked_for():
    classes, counts = np.array(["a", "b"]), np.array([3, 1])
    assert class_costs(None, classes).tolist() == [1, 1]
    assert class_costs({"b": 3}, classes).tolist() == [1, 3]
    assert class_costs({"b": 3, "z": 9}, classes).tolist() == [1, 3]  # a stream may meet z later
    assert class_costs("balanced", classes, counts).tolist() == [4 / 6, 2.0]


@pytest.mark.parametrize(
    ("class_weight", "counts", "message"),
    [
        ("balanced", None, "not supported for partial_fit"),
        ("heavy", None, "'heavy' is not known"),
        ([1, 2], None, "Pass a dict"),
        ({"z": 1.0}, np.array([1, 1]), "which y does not have"),
        ({"a": "x"}, None, "not a number"),
        ({"a": -1.0}, None, "negative"),
        ({"a": 0.0, "b": 0.0}, None, "all zero"),
    ],
    ids=str,
)
def test_impossible_class_weights_are_refused(class_weight, counts, message):
    with pytest.raises(InvalidInput, match=message):
        class_costs(class_weight, np.array(["a", "b"]), counts)
