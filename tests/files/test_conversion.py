"""Every format is converted to every other and back, as far as both can hold it, by plain values."""

import itertools
import os
import sys
import threading
from dataclasses import replace

import pytest

from files.common import content, named
from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.conversion import convert
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions
from rosenblatt.files.records import Records, as_value, flat

NAMED = FeatureOptions(dictionary=True, normalise=False)
COUNTED = replace(NAMED, counts="count")
NUMBERS = {
    "svmlight": "1 1:0.5 3:-2\n-1 2:1e-7\n1 1:3 2:1\n",
    "vw": "1 | 1:0.5 3:-2\n-1 | 2:1e-7\n1 | 1:3 2\n",
    "csv": "label,1,2,3\n1,0.5,,-2\n-1,,1e-7,\n1,3,1,\n",
    "tsv": "label\t1\t2\t3\n1\t0.5\t\t-2\n-1\t\t1e-7\t\n1\t3\t1\t\n",
    "jsonl": '{"label": 1, "1": 0.5, "3": -2}\n{"label": -1, "2": 1e-7}\n{"label": 1, "1": 3, "2": 1}\n',
}
FEATURES = [{"1": 0.5, "3": -2}, {"2": 1e-7}, {"1": 3, "2": 1}]
TEXTS = {
    "text": 'spam\tWin money, "now" now\nham\tsee you at noon\n',
    "csv": 'label,text\nspam,"Win money, ""now"" now"\nham,see you at noon\n',
    "tsv": 'label\ttext\nspam\tWin money, "now" now\nham\tsee you at noon\n',
    "jsonl": '{"label": "spam", "text": "Win money, \\"now\\" now"}\n{"label": "ham", "text": "see you at noon"}\n',
}
WORDS = [{"win": 1, "money": 1, "now": 2}, {"see": 1, "you": 1, "at": 1, "noon": 1}]


def features_of(path, format, names=None):
    """Give label and named features of each row, without prefixes."""
    if format == "svmlight":
        source = open_source(path, format=format)
        rows, labels, _ = content(source)
        first = 0 if source.reading.zero_based else 1
        found = [{names[k] if names else str(k + first): value for k, value in row} for row in rows]
    else:
        label = "label" if format not in ("vw", "text") else None
        source = open_source(path, format=format, features=NAMED, label=label)
        if "counts" in source.parsers[0].options:
            source = open_source(path, format=format, features=COUNTED, label=label)
        found, labels = named(source), content(source)[1]
    plain = [{name.removeprefix("^").removeprefix("text="): value for name, value in row.items()} for row in found]
    return labels, plain


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(NUMBERS, 2)))
def test_numbers_go_from_each_format_to_each_other_and_back(tmp_path, one, other):
    (tmp_path / "a").write_text(NUMBERS[one])
    assert features_of(tmp_path / "a", one) == ([1, -1, 1], FEATURES)
    done = convert(tmp_path / "a", tmp_path / "b", to=other, format=one)
    assert (done.rows, done.skipped) == (3, 0)
    names = (tmp_path / "b.names").read_text().split("\n") if other == "svmlight" else None
    names = [name.removeprefix("^") for name in names] if names else None
    assert features_of(tmp_path / "b", other, names) == ([1, -1, 1], FEATURES)
    convert(tmp_path / "b", tmp_path / "c", to=one, format=other)
    if other != "svmlight" and one != "svmlight":
        assert features_of(tmp_path / "c", one) == ([1, -1, 1], FEATURES)


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(TEXTS, 2)))
def test_texts_go_from_each_format_to_each_other_and_back(tmp_path, one, other):
    (tmp_path / "a").write_text(TEXTS[one])
    convert(tmp_path / "a", tmp_path / "b", to=other, format=one)
    convert(tmp_path / "b", tmp_path / "c", to=one, format=other)
    assert (tmp_path / "c").read_text() == TEXTS[one]
    assert features_of(tmp_path / "b", other) == (["spam", "ham"], WORDS)


def test_words_go_to_features_and_back(tmp_path):
    (tmp_path / "a").write_text(TEXTS["text"])
    convert(tmp_path / "a", tmp_path / "b.vw", format="text")
    assert features_of(tmp_path / "b.vw", "vw") == (["spam", "ham"], WORDS)
    convert(tmp_path / "b.vw", tmp_path / "c", to="text", label_type="text")
    assert features_of(tmp_path / "c", "text") == (["spam", "ham"], WORDS)
    done = convert(tmp_path / "a", tmp_path / "d.svm", format="text")
    assert any("numbered in the order of appearance" in note for note in done.notes)
    assert (tmp_path / "d.svm.names").read_text().split() == ["win", "money", "now", "see", "you", "at", "noon"]
    assert (tmp_path / "d.svm").read_text() == "0 1:1 2:1 3:2\n1 4:1 5:1 6:1 7:1\n"


def test_names_with_spaces_and_bars_go_through_vowpal_wabbits_text(tmp_path):
    (tmp_path / "a.csv").write_text("colour,size,label\nlight red,2,1\na|b:c%,3,0\n")
    convert(tmp_path / "a.csv", tmp_path / "b.vw")
    convert(tmp_path / "b.vw", tmp_path / "c.jsonl")
    rows = features_of(tmp_path / "c.jsonl", "jsonl")[1]
    assert rows == [{"colour=light red": 1, "size": 2}, {"colour=a|b:c%": 1, "size": 3}]


def test_parquet_is_written_and_read(tmp_path):
    pytest.importorskip("pyarrow")
    for name, text in {**NUMBERS, **{f"t-{k}": v for k, v in TEXTS.items()}}.items():
        format = name.removeprefix("t-")
        (tmp_path / "a").write_text(text)
        convert(tmp_path / "a", tmp_path / "b.parquet", format=format)
        found = features_of(tmp_path / "b.parquet", "parquet")[1]
        assert found == (WORDS if name.startswith("t-") else FEATURES)
        convert(tmp_path / "b.parquet", tmp_path / "c", to="jsonl")
        assert features_of(tmp_path / "c", "jsonl")[1] == found


def test_what_a_format_cannot_hold_is_refused_and_leaves_no_file(tmp_path):
    (tmp_path / "a.svm").write_text(NUMBERS["svmlight"])
    with pytest.raises(InvalidInput, match="is not a word with a count"):
        convert(tmp_path / "a.svm", tmp_path / "b.txt", to="text")
    (tmp_path / "m.csv").write_text("age,text,label\n1,a b c d,0\n")
    with pytest.raises(InvalidInput, match="Raw text holds a label and a text; there are the columns age"):
        convert(tmp_path / "m.csv", tmp_path / "b.txt", to="text")
    with pytest.raises(InvalidInput, match="to="):
        convert(tmp_path / "a.svm", tmp_path / "b.xyz")
    with pytest.raises(InvalidInput, match="cannot be written"):
        convert(tmp_path / "a.svm", tmp_path / "missing" / "b.vw")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svm", "m.csv"]
    assert "parquet" in formats.names(lambda one: one.write)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_are_converted(tmp_path):
    for name in ("one", "two"):
        os.mkfifo(tmp_path / name)
        threading.Thread(target=(tmp_path / name).write_text, args=["a,y\n1,0\n2,1\n"]).start()
    assert convert([tmp_path / "one", tmp_path / "two"], tmp_path / "both.jsonl").rows == 4


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others on Windows")
def test_who_may_read_a_new_file_may_read_a_converted_one(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,1\n")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "b.jsonl")
    convert(tmp_path / "a.csv", tmp_path / "link.jsonl")
    assert (tmp_path / "b.jsonl").stat().st_mode == (tmp_path / "a.csv").stat().st_mode
    assert (tmp_path / "link.jsonl").is_symlink()


def test_fields_become_numbers_or_texts():
    assert [as_value(field) for field in ("3", " -2.5 ", "1e3", "NA", "", "x y", "1" * 30)] == [
        3, -2.5, 1000.0, None, None, "x y", 1.1111111111111111e29,
    ]  # fmt: skip


def test_objects_within_objects_are_flattened():
    assert flat({"a": 1, "b": {"c": "x", "d": None}, "e": ["p", "q"]}) == {"a": 1, "b.c": "x", "e": "p q"}


def test_names_of_json_are_those_of_all_rows(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"y": 1, "x": 2}\n' * 500 + '{"y": 0, "late": 3}\n')
    records = Records(open_source(tmp_path / "a.jsonl"))
    assert records.names() == ["y", "x", "late"]
    assert len(list(records)) == 501


def test_faulty_lines_are_told_or_skipped(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,0\n3,4\n5,6,1\n")
    with pytest.raises(InvalidInput, match=r"a\.csv, line 3: .* has fewer than 3 fields"):
        list(Records(open_source(tmp_path / "a.csv")))
    records = Records(open_source(tmp_path / "a.csv", on_error="skip"))
    assert list(records) == [{"a": 1, "b": 2, "y": 0}, {"a": 5, "b": 6, "y": 1}]
    assert records.skipped == 1


def test_a_field_may_be_longer_than_the_csv_module_allows(tmp_path):
    text = "word " * 40_000
    (tmp_path / "a.csv").write_text("label,text\n" + f'spam,"{text}"\nham,"short"\n' * 5)
    records = list(Records(open_source(tmp_path / "a.csv")))
    assert [len(record["text"]) for record in records] == [200_000, 5] * 5


@pytest.mark.parametrize("value", ["[[1]]", '{"x": ' * 20 + "1" + "}" * 20], ids=["lists", "deep"])
def test_json_that_is_no_row_is_refused_by_its_line_or_skipped(tmp_path, value):
    path = tmp_path / "a.jsonl"
    path.write_text('{"y": 1, "a": 2}\n{"y": 0, "a": ' + value + '}\n{"y": 0, "a": 3}\n')
    with pytest.raises(InvalidInput, match=r"a\.jsonl, line 2: .* is not a JSON object of numbers and texts"):
        convert(path, tmp_path / "a.csv")
    assert os.listdir(tmp_path) == ["a.jsonl"]
    done = convert(path, tmp_path / "a.csv", on_error="skip")
    assert (done.rows, done.skipped) == (2, 1)
