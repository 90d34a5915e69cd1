"""Names, collisions, and golden columns that must not change."""

import math

import numpy as np
import pytest

from oracles import features as oracle
from rosenblatt.errors import InvalidInput
from rosenblatt.files.features import (
    Dictionary,
    assemble,
    check_names,
    estimate_collisions,
    murmur,
    to_bytes,
    word_pieces,
)
from rosenblatt.files.options import FeatureOptions
from rosenblatt.files.tables import joined_texts

# Columns of 2^18, by the page docs/reference/features.md. A model that was trained on them depends on each.
GOLDEN = {
    b"free": 156782,
    b"the": 237410,
    "été".encode(): 222735,
    b"new york": 189888,
    b"": 0,
    b"a_1": 143848,
}


def test_golden_columns():
    assert {name: oracle.murmur(name) % (1 << 18) for name in GOLDEN} == GOLDEN
    assert {name: murmur(name) % (1 << 18) for name in GOLDEN} == GOLDEN


def test_a_golden_row():
    options = FeatureOptions(words=(1, 2), letters=(2, 2))
    rows = assemble(word_pieces(options, *joined_texts(["Free, FREE: Été!".encode()])), options, normalise=True)
    expected = oracle.text_row("Free, FREE: Été!".encode(), word_range=(1, 2), letter_range=(2, 2))
    assert rows.indices.tolist() == sorted(expected)
    assert rows.indices.size == 13
    np.testing.assert_allclose(rows.data, [expected[column] for column in sorted(expected)])
    assert math.isclose(np.square(rows.data).sum(), 1.0)


@pytest.mark.parametrize("features", [10, 1000, 20_000])
def test_collisions_are_estimated_from_the_columns_in_use(features):
    columns = np.random.default_rng(0).integers(0, 1 << 14, features)
    used, counts = np.unique(columns, return_counts=True)
    estimate = estimate_collisions(used.size, 1 << 14)
    assert abs(estimate.features - features) <= 0.05 * features + 1
    assert abs(estimate.collided - counts[counts > 1].sum()) <= 0.05 * features + 3
    assert estimate_collisions(8, 8).features == math.inf
    assert estimate_collisions(0, 8) == (0, 0)


def test_names_that_cannot_be_a_dictionary_are_refused():
    named = FeatureOptions(dictionary=True, bits=1)
    assert check_names(["a", "b"], named) == ("a", "b")
    for names, options in ((["a"], FeatureOptions()), (["a", "b", "c"], named), ([1], named)):
        with pytest.raises(InvalidInput, match="names"):
            check_names(names, options)
    with pytest.raises(InvalidInput, match="one name twice"):
        Dictionary(9, ("a", "a"))


def test_text_that_is_no_utf_8_keeps_its_bytes():
    assert to_bytes(b"a\xff".decode("utf-8", "surrogateescape")) == b"a\xff"
    assert to_bytes("a\ud800") == b"a\xed\xa0\x80"
    dictionary = Dictionary(9, (b"a\xff".decode("utf-8", "surrogateescape"),))
    assert dictionary.find(np.frombuffer(b"a\xff\n", np.uint8), np.array([0, 2])).tolist() == [0]
