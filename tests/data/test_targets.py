"""Targets of a regression, announced classes."""

import numpy as np
import pytest

from rosenblatt.data.targets import as_classes, as_targets
from rosenblatt.errors import InvalidInput


def test_targets_are_numbers():
    assert as_targets(["1.5", "2"]).tolist() == [1.5, 2.0]
    assert as_targets([True, False]).tolist() == [1.0, 0.0]
    with pytest.raises(InvalidInput, match="regression needs numbers"):
        as_targets(["a", "b"])
    with pytest.raises(InvalidInput, match="NaN or infinity"):
        as_targets([1.0, np.inf])


def test_announced_classes_are_sorted_and_each_once():
    assert as_classes([2, 1, 2]).tolist() == [1, 2]
    assert as_classes(("b", "a")).tolist() == ["a", "b"]
    with pytest.raises(InvalidInput, match="not a list of labels"):
        as_classes([[1, 2], [3, 4]])
