"""Kinds of columns, and scaling on line."""

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.files.tables import Scaler, Scaling, joined_texts, kind_of, label_column


def test_kinds_are_known_by_values():
    assert kind_of([1.0, None, 2.5]) == "number"
    assert kind_of(["red", "blue", None, 3.0]) == "category"
    assert kind_of(["hello big world", "some more words"]) == "text"
    assert kind_of([]) == "number"


def test_the_label_is_a_column_of_that_name_or_the_last():
    assert label_column(["a", "Class", "b"], None, "required") == 1
    assert label_column(["a", "b"], None, "required") == 1
    assert label_column(["a", "b"], None, "none") is None
    assert label_column(["a", "b"], "c", "optional") is None


def test_scaling_on_line_ends_with_means_and_deviations_of_all_rows():
    X = np.random.default_rng(0).standard_normal((100, 3)) * [1, 10, 0] + 5
    X[3, 0] = np.nan
    scaler = Scaler(3)
    parts = np.concatenate([scaler.scaled(X[:7]), scaler.scaled(X[7:])])
    assert (parts == Scaler(3).scaled(X)).all()
    mean, deviation = scaler.scaling()
    np.testing.assert_allclose(mean, np.nanmean(X, axis=0))
    np.testing.assert_allclose(deviation, np.nanstd(X, axis=0), atol=1e-12)
    given = Scaler(3, Scaling((5, 5, 5), (1, 10, 0))).scaled(X)
    np.testing.assert_allclose(given[:, 1], (X[:, 1] - 5) / 10)
    assert (given[3, 0], given[0, 2]) == (0, 0)
    with pytest.raises(InvalidInput, match="scaling"):
        Scaler(2, Scaling((1.0,), (1.0,)))


def test_texts_are_joined_with_a_newline_after_each():
    text, start, end = joined_texts([b"ab", b"", b"c\nd"])
    assert [text[i:j].tobytes() for i, j in zip(start, end, strict=True)] == [b"ab", b"", b"c\nd"]
    assert (text[end] == 10).all()
