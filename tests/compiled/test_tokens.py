"""Words, hashes, sorting and the dictionary are those of plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import features as oracle
from rosenblatt.compiled import tokens
from rosenblatt.files.features import Assembler, Dictionary, murmur
from rosenblatt.files.options import FeatureOptions
from rosenblatt.files.tables import joined_texts

TEXTS = st.lists(
    st.one_of(
        st.text(st.sampled_from("aBc9_ ,.'éÉßΣςσİıжЖ字१ा😀\t\n-\u0301ǅ"), max_size=40).map(str.encode),
        st.binary(max_size=20),
        st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass")),
    ),
    min_size=1,
    max_size=6,
)


def rows_of(texts, options, normalise):
    assembler = Assembler(options, normalise)
    entries = assembler.rows(assembler.hashed(assembler.words.pieces(*joined_texts(texts))))
    spans = [slice(*entries.indptr[i : i + 2]) for i in range(len(texts))]
    return [(entries.column[span].tolist(), entries.value[span].tolist()) for span in spans]


@pytest.mark.parametrize(
    ("data", "seed", "expected"),
    [  # published with the algorithm, and by its users
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"\xff\xff\xff\xff", 0, 0x76293B50),
        (b"!Ce\x87", 0, 0xF55B516B),
        (b"!Ce\x87", 0x5082EDEE, 0x2362F9DE),
        (b"!Ce", 0, 0x7E4A8634),
        (b"!C", 0, 0xA0F7B07A),
        (b"!", 0, 0x72661CF4),
        (b"Hello, world!", 0x9747B28C, 0x24884CBA),
        (b"The quick brown fox jumps over the lazy dog", 0x9747B28C, 0x2FA826CD),
    ],
)
def test_murmur_has_the_published_values(data, seed, expected):
    assert oracle.murmur(data, seed) == expected
    assert murmur(data, seed) == expected


@settings(max_examples=300)
@given(st.binary(max_size=40), st.integers(0, 2**32 - 1))
def test_murmur_is_that_of_plain_python(data, seed):
    assert murmur(data, seed) == oracle.murmur(data, seed)


@settings(max_examples=300, deadline=None)
@given(
    TEXTS,
    st.sampled_from([(1, 1), (1, 2), (2, 3)]),
    st.sampled_from([None, (1, 2), (3, 3)]),
    st.booleans(),
    st.sampled_from(["binary", "count", "log"]),
    st.sampled_from([3, 18, 22]),
)
def test_rows_of_texts_are_those_of_plain_python(texts, words, letters, lowercase, counts, bits):
    options = FeatureOptions(bits=bits, words=words, letters=letters, lowercase=lowercase, counts=counts)
    kind = {"word_range": words, "letter_range": letters, "lowercase": lowercase}
    for text, (columns, values) in zip(texts, rows_of(texts, options, True), strict=True):
        expected = oracle.text_row(text, bits=bits, counts=counts, **kind)
        assert columns == sorted(expected)
        np.testing.assert_allclose(values, [expected[column] for column in columns], rtol=1e-12)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.booleans())
def test_words_that_are_hashed_at_once_are_those_that_are_written_out(texts, lowercase):
    fast = FeatureOptions(bits=30, lowercase=lowercase, counts="count")
    for text, (columns, values) in zip(texts, rows_of(texts, fast, False), strict=True):
        expected = oracle.text_row(text, bits=30, counts="count", normalise=False, lowercase=lowercase)
        assert dict(zip(columns, values, strict=True)) == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.integers(-1, 600), max_size=120), min_size=1, max_size=5), st.integers(0, 2**32))
def test_entries_are_sorted_and_added_up_in_order(rows, seed):
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    column = np.array([c for row in rows for c in row], np.int32)
    value = np.random.default_rng(seed).standard_normal(column.size)
    expected = []
    for i, row in enumerate(rows):
        found = {}
        for c, v in zip(row, value[indptr[i] : indptr[i + 1]].tolist(), strict=True):
            if c >= 0:
                found[c] = found[c] + v if c in found else v
        expected.append(sorted(found.items()))
    size = tokens.add_columns(indptr, column, value, 10, np.empty(120), np.empty(240 + tokens.PLACES, np.int64))
    assert size == indptr[-1]
    for i, row in enumerate(expected):
        span = slice(indptr[i], indptr[i + 1])
        assert list(zip(column[span].tolist(), value[span].tolist(), strict=True)) == row


@pytest.mark.parametrize("shape", ["hashes", "one bucket", "rising", "falling"])
def test_long_rows_are_sorted_whatever_their_columns(shape):
    random = np.random.default_rng(0)
    keys = {
        "hashes": random.integers(0, 1 << 18, 5000),
        "one bucket": random.integers(0, 64, 5000),
        "rising": np.arange(5000),
        "falling": np.arange(5000)[::-1],
    }[shape].astype(np.int32)
    indptr, value = np.array([0, 5000], np.int32), np.ones(5000)
    columns, counts = np.unique(keys, return_counts=True)
    column = keys.copy()
    size = tokens.add_columns(indptr, column, value, 18, np.empty(5000), np.empty(10000 + tokens.PLACES, np.int64))
    assert (column[:size].tolist(), value[:size].tolist()) == (columns.tolist(), counts.tolist())
    indptr, column = np.array([0, 5000], np.int32), keys.copy()
    rooms = np.empty(5000, np.int32), np.empty(5000 + tokens.PLACES, np.int64), np.empty(63)
    size = tokens.count_columns(indptr, column, value, 18, False, False, *rooms)
    assert (column[:size].tolist(), value[:size].tolist()) == (columns.tolist(), counts.tolist())


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.text("abé", max_size=3), max_size=30), max_size=4), st.sampled_from([1, 4, 1 << 18]))
def test_a_dictionary_gives_numbers_in_the_order_of_appearance(batches, most):
    dictionary, expected = Dictionary(most), {}
    for batch in batches:
        encoded = [name.encode() for name in batch]
        ends = np.cumsum([0, *map(len, encoded)])
        found = dictionary.find(np.frombuffer(b"".join(encoded) + b"\n", np.uint8), ends)
        for name, column in zip(batch, found.tolist(), strict=True):
            if name not in expected and len(expected) < most:
                expected[name] = len(expected)
            assert column == expected.get(name, -1)
    assert dictionary.names() == tuple(expected)


def test_a_dictionary_grows_and_can_be_made_again():
    names = [f"name {k} {'x' * (k % 50)}" for k in range(5000)]
    encoded = [name.encode() for name in names]
    text, ends = np.frombuffer(b"".join(encoded) + b"\n", np.uint8), np.cumsum([0, *map(len, encoded)])
    dictionary = Dictionary(1 << 18)
    assert dictionary.find(text, ends).tolist() == list(range(5000))
    assert dictionary.names() == tuple(names)
    again = Dictionary(1 << 18, dictionary.names())
    assert again.find(text, ends).tolist() == list(range(5000))
    assert again.find(np.frombuffer(b"new\n", np.uint8), np.array([0, 3])).tolist() == [-1]
