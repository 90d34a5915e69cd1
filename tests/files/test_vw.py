"""Vowpal Wabbit's text: names, weights, and what is refused. Its own parser is held against in tests/compiled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from files.common import named, read
from rosenblatt.errors import InvalidInput
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions


@pytest.fixture
def file(tmp_path):
    def write(text):
        (tmp_path / "a.vw").write_text(text)
        return tmp_path / "a.vw"

    return write


def test_names_have_their_namespace(file):
    text = "1 2 'tag|a:2 b:3 c |text word x:red\n-1 | b ^:2\n"
    source = open_source(file(text), features=FeatureOptions(dictionary=True))
    assert named(source) == [{"a^b": 6, "a^c": 2, "text^word": 1, "text^x:red": 1}, {"^b": 1, "^^": 2}]
    rows, labels, weights = read(file(text))
    assert (labels, weights) == ([1, -1], [2, 1])
    assert [len(row) for row in rows] == [4, 2]


def test_features_without_a_name_are_numbered_in_their_namespace(file):
    text = "1 |a :2 b :0 :3 |c :4 :5\n-1 | :7 0:1\n1 |a 2:9 " + ":1 " * 12 + "\n"
    rows = named(open_source(file(text), features=FeatureOptions(dictionary=True)))
    assert rows[0] == {"a^0": 2, "a^b": 1, "a^2": 3, "c^0": 4, "c^1": 5}
    assert rows[1] == {"^0": 8}
    assert rows[2] == {f"a^{k}": 1 + 9 * (k == 2) for k in range(12)}
    hashed, _, _ = read(file(text))
    assert [sorted(value for _, value in row) for row in hashed] == [sorted(row.values()) for row in rows]


def test_labels_may_be_texts(file):
    assert read(file("spam |a b\nham 2 |a c\n"), format="vw")[1] == ["spam", "ham"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 a b", "'1 a b' has no bar"),
        ("1 1 1 1 | a", "'1' is one word too many before the bar"),
        ("x | a", "'x' is not a number"),
        ("1 -2 | a", "'-2' is not an importance"),
        ("1 y | a", "'y' is not an importance"),
        ("1 |:2 a", "':2' is not a namespace"),
        ("1 |n:x a", "'x' is not a namespace"),
        ("1 | a:", "'a:' is not a feature"),
        ("1 | a:1x b", "'1x' is not a finite number"),
        ("1 | a:nan b", "'nan' is not a finite number"),
        ("1 | a:1e999", "'1e999' is not a finite number"),
        ("| a", "there is no label"),
    ],
)
def test_faults_are_told_with_line_and_piece(file, line, message):
    path = file("1 | a\n\n" + line + "\n1 | a:1e-7\n")
    with pytest.raises(InvalidInput, match=f"a.vw, line 3: {message}"):
        read(path, format="vw", label_type="number")
    rows = read(path, format="vw", label_type="number", on_error="skip")[0]
    assert [[value for _, value in row] for row in rows] == [[1.0], [1e-7]]


NUMBERS = st.tuples(st.text("0123456789", min_size=1, max_size=20), st.sampled_from(["", "-"]))
DECIMALS = st.tuples(NUMBERS, st.sampled_from(["", ".", ".0", ".5", ".25", ".1234567890123456", "e2", "|"]))
PAIRS = st.tuples(st.text("0123456789", min_size=1, max_size=21), DECIMALS).map(
    lambda pair: f"{pair[0]}:{pair[1][0][1]}{pair[1][0][0]}{pair[1][1]}".replace("|", "")
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PAIRS, min_size=1, max_size=30), st.sampled_from(["", "a", "b:-0.1", "17:3"]))
def test_numbers_after_spaces_are_read_as_those_after_tabs(tmp_path_factory, pairs, space):
    """Runs of numbers after single spaces have a loop of their own."""
    path, found = tmp_path_factory.mktemp("vw") / "rows.vw", []
    for gap in (" ", "\t"):
        path.write_text(f"1 |{space}{gap}{gap.join(pairs)}\n-1 | a\n")
        (chunk,) = open_source(path, format="vw")
        rows = chunk.table.rows
        found.append((rows.indptr.tolist(), rows.indices.tolist(), rows.data.tobytes()))
    assert found[0] == found[1]


NAMES = [
    "a",
    "b",
    "x9",
    "17",
    "0",
    "007",
    "99999999999999999999",
    "é",
    "long_feature_name",
    "A.B-c",
    "a=b",
    "^",
    "w+",
    "'q",
]
VALUES = [
    "",
    "",
    "",
    ":1",
    ":0.5",
    ":-2",
    ":+3",
    ":.25",
    ":2.",
    ":1e-3",
    ":1E2",
    ":-0.125",
    ":0",
    ":12345.678",
    ":word",
]
SPACES = ["", "", "a", "text", "17", "n^s", "é", "a:2", "text:0.5", "b:-1", "z:0"]
LABELS = ["1 ", "-1 ", "0.5 ", "2 0.25 ", "1 2 0.5 ", "-1 'tag", "1 2 tag", "1 'tag ", "3 1 0 'x", "1e1 ", "  1  2  "]
GAPS = [" ", "  ", " \t", "   "]


def lines(count, seed):
    """Give lines of odd but legal syntax."""
    random = np.random.default_rng(seed)

    def any_of(texts):
        return texts[random.integers(len(texts))]

    for _ in range(count):
        spaces = []
        for _ in range(random.integers(1, 4)):
            features = [any_of(NAMES) + any_of(VALUES) for _ in range(random.integers(0, 6))]
            if random.random() < 0.15:
                features.append(any_of([":3", ":0.5 :7"]))
            spaces.append("|" + any_of(SPACES) + "".join(any_of(GAPS) + feature for feature in features))
        yield any_of(LABELS) + any_of(["", " "]).join(spaces) + any_of(["", " ", "  "])


def parsed_by_vw(workspace, line, mask):
    example = workspace.example(line)
    found = {}
    for space in range(example.num_namespaces()):
        for k in range(example.num_features_in(space)):
            column = example.feature(space, k) & mask
            found[column] = found.get(column, 0.0) + example.feature_weight(space, k)
    label = example.get_simplelabel_label(), example.get_simplelabel_weight()
    workspace.finish_example(example)
    return {column: value for column, value in found.items() if value}, *label


@pytest.mark.parametrize("bits", [18, 5])
def test_columns_values_labels_and_weights_are_those_of_vowpal_wabbit(tmp_path, bits):
    pyvw = pytest.importorskip("vowpalwabbit.pyvw")
    # A bar right after text belongs to it, in Vowpal Wabbit: such lines are left out.
    texts = [line for line in lines(700, bits) if ":word|" not in line][:500]
    (tmp_path / "odd.vw").write_text("\n".join(texts) + "\n")
    workspace = pyvw.Workspace(f"--quiet -b {bits} --noconstant")
    (chunk,) = open_source(tmp_path / "odd.vw", features=FeatureOptions(bits=bits))
    rows = chunk.table.rows
    assert chunk.label.size == len(texts) == 500
    for i, line in enumerate(texts):
        span = slice(rows.indptr[i], rows.indptr[i + 1])
        pairs = zip(rows.indices[span].tolist(), rows.data[span].tolist(), strict=True)
        found = {column: value for column, value in pairs if abs(value) > 1e-12}
        expected, label, weight = parsed_by_vw(workspace, line, (1 << bits) - 1)
        expected = {column: value for column, value in expected.items() if abs(value) > 1e-6}
        assert found.keys() == expected.keys(), line
        for column, value in found.items():
            assert abs(value - expected[column]) <= 1e-5 * (1 + abs(value)), line
        assert (chunk.label[i], chunk.weight[i]) == (np.float32(label), np.float32(weight)), line
    workspace.finish()
