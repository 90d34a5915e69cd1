"""Labels, weights and targets of rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron, train
from rosenblatt.data.labels import as_classes, as_labels, as_names, as_targets, as_weights, used_rows
from rosenblatt.data.table import ALL_ROWS
from rosenblatt.errors import InvalidInput

GOOD = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])


@pytest.mark.parametrize(
    "y",
    [
        [3, 1, 2, 1],
        [True, False, True, True],
        ["b", "a", "c", "b"],
        [2.0, -1.0, 2.0, 7.0],
        np.array([5, 5, 9], np.uint8),
        pd.Series(["x", "y", "x"], dtype="string"),
        pd.Series(["x", "y", "x"], dtype="category"),
        np.array(["one", "two"], dtype=object),
        np.array(["two", "one"], dtype=np.dtypes.StringDType()),
    ],
    ids=repr,
)
def test_classes_are_sorted_and_give_the_labels_back(y):
    classes, label = as_labels(y, len(y))
    assert classes.tolist() == sorted(set(np.asarray(y).tolist()))
    assert classes[label].tolist() == np.asarray(y).tolist()
    assert label.dtype == np.int32


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, "1"], r"different types, 1 \(int\) and '1' \(str\)"),
        (np.array([1, "a"], dtype=object), "different types"),
        ([None, 1], r"contains None \(row 0\)"),
        (np.array([None, "a"], dtype=object), r"contains None \(row 0\)"),
        (np.array(["a", np.nan], dtype=object), r"contains NaN \(row 1\)"),
        (pd.Series(["a", None], dtype="string"), r"contains .*\(row 1\)"),
    ],
    ids=repr,
)
def test_labels_that_cannot_be_compared_are_refused(y, message):
    with pytest.raises(InvalidInput, match=message):
        as_labels(y, 2)


def test_a_table_of_one_column_is_a_list_of_labels():
    assert as_labels(np.array([[1], [2]]), 2)[0].tolist() == [1, 2]
    assert as_labels(pd.DataFrame({"y": ["a", "b"]}), 2)[0].tolist() == ["a", "b"]
    with pytest.raises(InvalidInput, match="1d array"):
        as_labels(np.ones((2, 2)), 2)


@given(st.lists(st.integers(-2, 2), min_size=1, max_size=9), st.sampled_from([np.int64, np.float32, np.int8]))
def test_two_numbers_are_found_as_several_are(values, dtype):
    y = np.array(values, dtype)
    classes, label = as_labels(y, y.size)
    expected, inverse = np.unique(y, return_inverse=True)
    assert classes.tolist() == expected.tolist()
    assert classes.dtype == dtype
    assert label.tolist() == inverse.tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 0], "inconsistent"),
        ([0, 0, 0, 0], "class"),
        ([0, 1, 0, np.nan], "NaN"),
        ([0.5, 1.5, 0.25, 1.0], "Unknown label type"),
        ([[0, 1], [1, 0], [0, 1], [1, 0]], "(?i)shape|1d"),
    ],
    ids=["too few", "one class", "NaN", "continuous", "two columns"],
)
@pytest.mark.parametrize("use", [train, Perceptron().fit], ids=["train", "fit"])
def test_bad_labels_are_refused(use, y, message):
    with pytest.raises(ValueError, match=message):
        use(GOOD, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], r"shape \(2,\).*3 rows"),
        ([1, -1, 1], "negative"),
        ([1, np.nan, 1], "not finite"),
        ([0, 0, 0], "zero everywhere"),
        (0, "zero everywhere"),
    ],
    ids=repr,
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(InvalidInput, match=message):
        as_weights(weight, 3)


def test_weights_are_one_by_default_and_a_number_is_for_all():
    assert as_weights(None, 3).size == 0
    assert as_weights(2, 3).tolist() == [2.0, 2.0, 2.0]


def test_the_used_rows_are_those_of_a_weight():
    assert used_rows(np.array([0.0, 1.0, 0.0, 2.0])).tolist() == [1, 3]
    assert used_rows(np.array([1.0, 2.0])) is ALL_ROWS
    assert used_rows(np.empty(0)) is ALL_ROWS


def test_names_are_plain_values():
    for classes in (np.array([0, 1]), np.array(["a", "b"]), np.array([False, True]), np.array([1.0, 2.5])):
        names = as_names(classes)
        assert names == tuple(classes.tolist())
        assert all(type(name) in (int, str, bool, float) for name in names)


@pytest.mark.parametrize("kind", [list, tuple, lambda y: np.array(y, object), pd.Series])
@pytest.mark.parametrize("label", ["a\0", "\0", b"a\0"])
def test_texts_that_an_array_would_cut_short_are_refused(kind, label):
    y = kind([b"b" if isinstance(label, bytes) else "b", label])
    with pytest.raises(InvalidInput, match=r"row 1, which ends with NUL"):
        as_labels(y, 2)


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
