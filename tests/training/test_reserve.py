"""Classes that appear while a stream runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.training.multiclass import MULTICLASS, coding_matrix, growth, open_coding_matrix

modes = pytest.mark.parametrize("multiclass", MULTICLASS)


@modes
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_an_open_code_begins_with_the_code_and_ends_with_the_reserve_class(multiclass, classes):
    known, sign = coding_matrix(classes, multiclass), open_coding_matrix(classes, multiclass)
    assert sign[:, : known.shape[1]].tolist() == known.tolist()
    reserve = sign[:, known.shape[1] :]
    if multiclass == "joint":
        assert reserve.size == 0
    elif multiclass == "ovr":
        assert reserve.tolist() == [[-1]] * classes
    else:
        assert reserve.tolist() == np.eye(classes).tolist()


@given(st.sampled_from(["ovr", "ovo", "joint"]), st.integers(1, 4), st.data())
def test_growing_matches_the_codes(multiclass, classes, more):
    """Signs grow as weights do: the old classes keep their examples, and a new one is what the reserve class was."""
    known = sorted(more.draw(st.sets(st.integers(0, classes), min_size=1, max_size=classes)))
    change = growth(known, classes + 1, multiclass)
    old, new = open_coding_matrix(len(known), multiclass), open_coding_matrix(classes + 1, multiclass)
    assert change.shape == (new.shape[1], old.shape[1])
    grown = old @ change.T  # signs of the old classes in the new problems, by linearity
    if multiclass != "joint":
        assert grown.tolist() == new[known].tolist()
