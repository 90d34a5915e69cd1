"""Parquet and Arrow files give the rows of the same table in CSV; without pyarrow they are refused with a remedy."""

import sys

import pytest

from files.common import content, read
from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.files.chunks import Position
from rosenblatt.files.formats import arrow
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions

CSV = "age,colour,text,label\n" + "".join(
    f"{i if i % 7 else ''},{'red' if i % 2 else 'blue'},some words and {i},{'a' if i % 3 else 'b'}\n"
    for i in range(100)
)


@pytest.fixture
def tables(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    import pandas as pd
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet

    monkeypatch.setattr(arrow, "ROWS_PER_BLOCK", 16)
    (tmp_path / "a.csv").write_text(CSV)
    table = pyarrow.Table.from_pandas(pd.read_csv(tmp_path / "a.csv"))
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    with pyarrow.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as file:
        file.write_table(table)
    return tmp_path


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
@pytest.mark.parametrize("features", [FeatureOptions(), FeatureOptions(dictionary=True, standardise=True)])
def test_rows_are_those_of_the_same_table_in_csv(tables, name, features):
    expected = read(tables / "a.csv", features=features)
    source = open_source(tables / name, features=features)
    assert content(source) == expected
    for chunk in source:
        rest = content(source.read(Position(*list(chunk.after))))
        assert rest[1] == expected[1][chunk.after.row :]
    numbers = {"colour": "skip", "text": "skip"}
    assert read(tables / name, columns=numbers) == read(tables / "a.csv", columns=numbers)


def test_a_damaged_file_is_refused(tables):
    whole = (tables / "a.parquet").read_bytes()
    (tables / "a.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidInput, match="cannot be read as parquet"):
        read(tables / "a.parquet")


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtra, match=r"rosenblatt\[files\]"):
        open_source(tmp_path / "a.parquet")
