"""Vowpal Wabbit's text is read as Vowpal Wabbit reads it."""

import numpy as np
import pytest

from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions

pyvw = pytest.importorskip("vowpalwabbit.pyvw")

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
    # A bar right after text belongs to it, in Vowpal Wabbit's eyes: not so odd a syntax.
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
