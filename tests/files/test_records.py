"""Records are the rows of tables as plain values."""

import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.files.opening import open_source
from rosenblatt.files.records import Records, as_value, flat


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
