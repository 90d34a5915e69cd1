"""Svmlight files are read as scikit-learn reads them, or refused with line and remedy."""

import gzip
import os
import re
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from mutations import mutations
from rosenblatt.datasets import load_svmlight
from rosenblatt.errors import InvalidInput


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"

    def write(content):
        path.write_bytes(content)
        return path

    return write


def read_slowly(path, zero_based="auto", n_features=None):
    """Give columns and values of each row, with plain Python."""
    rows, labels = [], []
    for line in path.read_bytes().split(b"\n"):
        label, *pairs = line.partition(b"#")[0].split() or [None]
        if label is not None:
            row = {}
            for index, value in (pair.split(b":") for pair in pairs):
                row[int(index)] = row.get(int(index), 0.0) + float(value)
            rows.append(row)
            labels.append(float(label))
    columns = [column for row in rows for column in row]
    base = int(zero_based is False or (zero_based == "auto" and min(columns) > 0))
    return [{j - base: row[j] for j in sorted(row)} for row in rows], labels, n_features or max(columns) - base + 1


def assert_read_right(path, **options):
    """Compare with plain Python, and with scikit-learn where it reads such a file; say whether it does."""
    X, y = load_svmlight(path, **options)
    rows, labels, width = read_slowly(path, **options)
    assert (y.dtype, X.dtype, X.indices.dtype, X.indptr.dtype) == (np.float64, np.float64, np.int32, np.int32)
    assert X.shape == (len(labels), width)
    assert y.tolist() == labels
    assert np.diff(X.indptr).tolist() == [len(row) for row in rows]
    assert X.indices.tolist() == [j for row in rows for j in row]
    # Repeated values may be added in another order.
    values = [row[j] for row in rows for j in row]
    np.testing.assert_allclose(X.data, values, rtol=1e-12, atol=1e-9)
    try:
        expected, labels = load_svmlight_file(str(path), **options)
    except ValueError as error:
        assert "sorted and unique" in str(error)  # noqa: PT017 - the only thing it may refuse
        return False
    assert y.tolist() == labels.tolist()
    for part in ("shape", "data", "indices", "indptr"):
        assert np.array_equal(getattr(X, part), getattr(expected, part))
    return True


NUMBERS = st.one_of(
    st.floats(-1e6, 1e6).map(repr),
    st.integers(-1000, 1000).map(str),
    st.sampled_from(["+1", "-1", "0", "3.5", "1.", ".5", "1e-3", "-2.5E+2", "007", "5e-324", "-0.0"]),
)
GAPS = st.sampled_from([" ", "  ", "\t", " \t "])
FILLERS = st.sampled_from(["", "", "", " ", "# nothing here\n", "\n", " \t\n"])
ENDS = st.sampled_from(["\n", "\r\n", " \n", " # qid:x 1:y\n", "#\n"])


@st.composite
def svmlight_texts(draw, base):
    """Give texts that are valid, in all the ways a text can be."""
    pair = st.tuples(GAPS, st.integers(base, 40), NUMBERS).map(lambda part: f"{part[0]}{part[1]}:{part[2]}")
    line = st.tuples(FILLERS, NUMBERS, st.lists(pair, max_size=6).map("".join), ENDS).map("".join)
    text = "".join(draw(st.lists(line, min_size=1, max_size=8)))
    return text + f"1 {base}:2" + draw(st.sampled_from(["", "\n", "\n\n"]))


@pytest.mark.parametrize(
    ("base", "options"),
    [
        (0, {}),
        (0, {"zero_based": True}),
        (0, {"n_features": 50}),
        (1, {}),
        (1, {"zero_based": True}),
        (1, {"zero_based": False}),
        (1, {"n_features": 50}),
    ],
    ids=str,
)
def test_svmlight_is_read_as_scikit_learn_reads_it(tmp_path_factory, base, options):
    path = tmp_path_factory.mktemp("svmlight") / "file"

    read = set()

    @settings(max_examples=60)
    @given(svmlight_texts(base))
    def check(text):
        path.write_bytes(text.encode())
        read.add(assert_read_right(path, **options))

    check()
    assert True in read


ODD_NUMBERS = ("+1", "-1", "0", "3.5", "1.", ".5", "-.25", "1e-3", "-2.5E+2", "007", "5e-324", "-0.0", "1e22", "1e23")
ODD_NUMBERS += (
    "0.1000000000000000055511151231257827",
    "9007199254740993",
    "2.2250738585072014e-308",
    "1.7e+3",
    "00.50",
)
WAYS = ((0, {}), (0, {"zero_based": True}), (0, {"n_features": 90}), (1, {}), (1, {"zero_based": False}))
WAYS += ((1, {"zero_based": True}), (1, {"n_features": 90}))
ODD_FILES = 60 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 1000


def odd_number(random):
    """Return a number as somebody might write it."""
    forms = ("{!r}", "{:.3f}", "{:e}", "{:+.17g}", "{:G}")
    if random.random() < 0.3:
        return random.choice(ODD_NUMBERS)
    return random.choice(forms).format(random.choice((1.0, 1e-9, 1e9, 1e100, 1e-100)) * random.uniform(-2, 2))


def odd_text(random, base):
    """Return rows that scikit-learn reads too: columns rise, and whatever else is allowed happens."""
    lines = []
    for _ in range(random.randint(1, 12)):
        columns = sorted(random.sample(range(base, 80), random.randint(0, 12)))
        query = random.choice(("", "", f"{random.choice((' ', '  '))}qid:{random.randint(0, 99)}"))
        pairs = (f"{random.choice((' ', '  ', chr(9), ' ' + chr(9)))}{j}:{odd_number(random)}" for j in columns)
        before = random.choice(("", "", "", " ", "# a comment 1:2\n", "\n", " \t\n", "#\n\r\n"))
        after = random.choice(("", "", " ", "\t", "#", " # 3:4 qid:x", "  #é"))
        lines.append(before + odd_number(random) + query + "".join(pairs) + after + random.choice(("\n", "\r\n")))
    return "".join(lines) + f"1 {base}:2" + random.choice(("", "\n", "\n\n", "\r\n"))


def test_a_thousand_odd_files_are_read_to_the_last_bit_as_scikit_learn_reads_them(tmp_path):
    random, path = Random(0), tmp_path / "file"
    for number in range(ODD_FILES):
        base, options = WAYS[number % len(WAYS)]
        path.write_bytes(odd_text(random, base).encode())
        X, y = load_svmlight(path, **options)
        expected, labels = load_svmlight_file(str(path), **options)
        for part in ("shape", "data", "indices", "indptr"):
            assert np.array_equal(getattr(X, part), getattr(expected, part)), (number, options, path.read_text())
        assert np.array_equal(y, labels)
        assert np.array_equal(np.signbit(X.data), np.signbit(expected.data))


def test_gzip_marks_queries_and_repeated_indices_are_understood(file):
    text = b"\xef\xbb\xbf+1 qid:3 5:1 2:0.5 5:2\n\n-1\tqid:4\n0 qid:5 1:7 # qid:a\n"
    for content in (text, gzip.compress(text)):
        X, y = load_svmlight(file(content))
        assert X.toarray().tolist() == [[0, 0.5, 0, 0, 3], [0, 0, 0, 0, 0], [7, 0, 0, 0, 0]]
        assert y.tolist() == [1, -1, 0]
        assert X.indices.tolist() == [1, 4, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows"),
        ("# only a comment\n\n  \n", "has no rows"),
        ("1\n-1\n", "no index:value at all. Pass n_features"),
        ("1 1:1\nspam 1:1\n", "line 2: 'spam' is not a label"),
        ("1 1:1\n\n1,2 1:1\n", "line 3: '1,2' looks like several labels"),
        ("1 1:1\n 3:1 4:1\n", "line 2: '3:1' is there instead of a label"),
        ("1 1:1\n3:1 1\n", "line 2: '3:1' is there instead of a label"),
        ("1 1:1 2\n", "line 1: '2' is not index:value"),
        ("1 2 3\n1:1\n", "line 1: '2' is not index:value"),
        ("1 -1:1\n", "line 1: '-1:1' has an index that is not a whole number"),
        ("1 1.5:1\n", "line 1: '1.5:1' has an index"),
        ("1 :1\n", "line 1: ':1' has an index"),
        ("1 1:\n", "line 1: '1:' has a value"),
        ("1 1: 2\n", "line 1: '1:' has a value"),
        ("1 1:2:3\n", "line 1: '1:2:3' has a value"),
        ("1 1:nan\n", "line 1: '1:nan' has a value that is not a finite"),
        ("1 1:-inf\n", "line 1: '1:-inf' has a value"),
        ("1 1:1_0\n", "line 1: '1:1_0' has a value"),
        ("1 1:0x10\n", "line 1: '1:0x10' has a value"),
        ("1 1:1+2\n", r"line 1: '1:1\+2' has a value"),
        ("nan 1:1\n", "line 1: 'nan' is not a label"),
        ("1 qid:x 1:1\n", "line 1: 'qid:x' is not a query"),
        ("1 1:1\n1 1:1e999\n", "line 2: a value is too large"),
        ("1 1:1\n-1e999 1:1\n", "line 2: a label is too large"),
        ("1 1:1\n\n1 1:1 2147483647:1\n", "line 3: index 2147483647 is not below"),
        (
            "1 99999999999999999999999999:1\n",
            "line 1: index [0-9]{26,27} is not below 2147483647",
        ),
        ("1 1:1e308 1:1e308\n", "line 1: the values of a repeated index add up to infinity"),
        ("1 1:1\x00\n", "line 1: '1:1\\\\x00' has a value"),
        ("1\x0b1:1\n", "line 1: .* instead of a label"),
        ("1 1:1\r-1 1:1\n", "line 1: '-1' is not index:value"),
    ],
)
def test_faults_are_told_with_line_text_and_remedy(file, text, message):
    with pytest.raises(InvalidInput, match=message):
        load_svmlight(file(text.encode()))


def test_options_that_do_not_fit_the_file_are_refused(file):
    path = file(b"1 3:1\n\n-1 0:1 7:1\n")
    assert load_svmlight(path)[0].shape == (2, 8)
    assert load_svmlight(path, n_features=9)[0].shape == (2, 9)
    with pytest.raises(InvalidInput, match="line 3: index 0 is not among 1 to 7"):
        load_svmlight(path, zero_based=False)
    with pytest.raises(InvalidInput, match="line 3: index 7 is not among 0 to 6"):
        load_svmlight(path, n_features=7)
    for options in ({"n_features": 0}, {"n_features": 2**31}, {"zero_based": "maybe"}, {"zero_based": 1}):
        with pytest.raises(InvalidInput, match=re.escape(next(iter(options)))):
            load_svmlight(path, **options)
    X, y = load_svmlight(file(b"1\n-1\n"), n_features=3)
    assert (X.shape, X.nnz, y.tolist()) == ((2, 3), 0, [1, -1])
    X, _ = load_svmlight(file(b"1 2147483646:1"))
    assert (X.shape, X.indices.dtype) == ((1, 2147483646), np.int32)


def test_edited_svmlight_is_refused_or_read_as_scikit_learn_reads_it(file):
    good = b"+1 1:0.5 3:2 12:1e-3\n-1 2:1 # comment\n\n0 5:3.25 7:1\n3.5\n1 1:1\n"
    read = 0
    for content in mutations(good, 3000, seed=2, alphabet=b"0123456789:+-.eE \t\n\r#,naif_x"):
        path = file(content)
        try:
            load_svmlight(path)
        except InvalidInput:
            continue
        read += assert_read_right(path)
    assert 300 < read < 3000


def test_the_real_a9a_is_read_as_scikit_learn_reads_it(real_data):
    for name in ("a9a", "a9a.t"):
        assert assert_read_right(real_data / "a9a" / name)
    X, _ = load_svmlight(real_data / "a9a" / "a9a")
    assert X.shape == (32_561, 123)
