"""Lines, words, hashes and the dictionary are those of plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import features as oracle
from rosenblatt.files import tokens
from rosenblatt.files.features import Dictionary, assemble, murmur, word_pieces
from rosenblatt.files.formats.text import lines_of
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
    rows = assemble(word_pieces(options, *joined_texts(texts)), options, normalise)
    spans = [slice(*rows.indptr[i : i + 2]) for i in range(len(texts))]
    return [(rows.indices[span].tolist(), rows.data[span].tolist()) for span in spans]


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


@pytest.mark.parametrize("letter", ["a", "Z", "é", "字"])
def test_words_of_every_length_are_hashed_at_every_place_of_the_array(letter):
    """The bytes before and after a text would be letters; marks are made for 64 bytes, and looked at by eight."""
    texts = [(letter * length).encode()[shift:] for length in range(41) for shift in range(len(letter.encode()))]
    expected = [oracle.text_row(text, bits=30, counts="count", normalise=False) for text in texts]
    for before in range(70):
        for after in (1, 2, 9):
            for text, row in zip(texts[before % 7 :: 7], expected[before % 7 :: 7], strict=True):
                whole = np.frombuffer(b"x" * before + text + b"." + b"y" * (after - 1), np.uint8)
                spans = np.array([before], np.int64), np.array([before + len(text)], np.int64)
                (piece,) = word_pieces(FeatureOptions(bits=30), whole, *spans)
                assert piece.column.tolist() == [column for column, count in row.items() for _ in range(int(count))]


def test_long_spans_and_spans_out_of_order_are_hashed():
    random = np.random.default_rng(0)
    letters = np.frombuffer(b"aB9_ ,-", np.uint8)
    sizes = [(1 << 16) + 1, 3, 0, 1 << 17, 70, 0, 64, 63, 65, 4000]
    texts = [letters[random.integers(0, letters.size, size)].tobytes() for size in sizes]
    texts += [b"a " * tokens.BATCH, b"a" * 5000 + b" b"]
    text, start, end = joined_texts(texts)
    for order in (np.arange(start.size), np.arange(start.size)[::-1], random.permutation(start.size)):
        (piece,) = word_pieces(FeatureOptions(bits=30), text, start[order], end[order])
        for row, number in enumerate(order.tolist()):
            columns, counts = np.unique(piece.column[piece.indptr[row] : piece.indptr[row + 1]], return_counts=True)
            expected = oracle.text_row(texts[number], bits=30, counts="count", normalise=False)
            assert dict(zip(columns.tolist(), counts.tolist(), strict=True)) == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([b"", b"a", b"\t", b"ab\t\t", b"b" * 70, b"\r", b"\xff\t"]), min_size=1, max_size=200))
def test_lines_end_at_newlines_and_have_a_first_tab(parts):
    text = b"\n".join(parts) + b"\n"
    end, tab = lines_of(np.frombuffer(text, np.uint8))
    assert end.size == tab.size == len(parts)
    place = 0
    for k, part in enumerate(parts):
        assert end[k] == place + len(part)
        assert tab[k] == place + (part.index(b"\t") if b"\t" in part else len(part))
        place += len(part) + 1


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
