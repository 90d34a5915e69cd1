"""Columns of dates: split into parts, alike in all formats."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import run
from files.common import named, read
from rosenblatt.errors import InvalidInput
from rosenblatt.files.dates import date_entries
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions
from rosenblatt.learners.saving import load

NAMES = FeatureOptions(dictionary=True)
MOMENTS = [datetime.datetime(2024, 1, 31, 15, 30), datetime.datetime(2000, 2, 29), datetime.datetime(1999, 12, 5, 0, 5)]
ROWS = [
    {"when.year": 2.4, "when.month=Jan": 1, "when.day=31": 1, "when.weekday=Wed": 1, "when.hour=15": 1},
    {"when.month=Feb": 1, "when.day=29": 1, "when.weekday=Tue": 1},
    {"when.year": -0.1, "when.month=Dec": 1, "when.day=5": 1, "when.weekday=Sun": 1},
]


def split(text, kind="date"):
    """Give the features of a date by name; None if it is not one."""
    found = date_entries("when", text.encode(), kind)
    return None if found is None else {(a + b"=" * bool(a) + b).decode(): value for a, b, value in found}


def expected(moment):
    """Give the features of a date by the calendar of Python's own formats."""
    parts = {"month": "%b", "day": "%d", "weekday": "%a", "hour": "%H"}
    found = {name: moment.strftime(form).lstrip("0") for name, form in parts.items()}
    year = {"when.year": (moment.year - 2000) / 10} if moment.year != 2000 else {}
    return year | {f"when.{name}={value}": 1.0 for name, value in found.items() if value}


@given(st.datetimes(datetime.datetime(1000, 1, 1)))
def test_all_ways_to_write_a_moment_are_the_same(moment):
    for form in (
        "%Y-%m-%d %H:%M",
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%dT%H:%M:%S.%f+02:00",
        "%Y/%m/%d %H:%M",
        "%d.%m.%Y %H:%M",
    ):
        assert split(moment.strftime(form)) == expected(moment)
    assert split(moment.strftime("%d/%m/%Y %H:%M"), "date-dmy") == expected(moment)
    assert split(moment.strftime("%m/%d/%Y %I:%M %p"), "date-mdy") == expected(moment)
    day = datetime.datetime.combine(moment.date(), datetime.time())
    assert split(str(moment.date())) == split(str(day)) == expected(day)


def test_what_is_no_date():
    for text in (
        "2024-02-30",
        "2024-13-01",
        "20240131",
        "2024-01-31 24:00",
        "1/2/2024",
        "tomorrow",
        "2024-01-31 13:00 PM",
    ):
        assert split(text) is None
    assert split("") == split("NA") == {}
    assert split("1/13/2024", "date-dmy") is None


def write(path, values):
    """Write a column of dates and labels, in the format of the path's ending."""
    frame = pd.DataFrame({"when": values, "label": [1, 0, 1]})
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"when": str(when), "label": 1}) + "\n" for when in values))
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_dates_are_alike_in_every_format(tmp_path, ending):
    path = write(tmp_path / f"a.{ending}", MOMENTS)
    assert named(open_source(path, columns={"when": "date"}, features=NAMES)) == ROWS
    plain = write(tmp_path / "plain.csv", MOMENTS)
    assert read(path, columns={"when": "date"})[0] == read(plain, columns={"when": "date"})[0]  # hashed alike, too


def test_slashes_go_by_the_first_rows_or_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    for rows, kind, day in (
        (["1/31/2024", "2/3/2024"], "date-mdy", "when.day=3"),
        (["31/1/2024", "2/3/2024"], "date-dmy", "when.day=2"),
    ):
        path.write_text("when,label\n" + "".join(f"{row},1\n" for row in rows))
        source = open_source(path, columns={"when": "date"}, features=NAMES)
        assert source.reading.columns[0].kind == kind
        assert day in named(source)[1]
    path.write_text("when,label\n1/2/2024,1\n3/4/2024,0\n")
    with pytest.raises(
        InvalidInput, match=r"'1/2/2024'.*whether the day or the month.*when=date-dmy, or when=date-mdy"
    ):
        open_source(path, columns={"when": "date"})
    assert "when.month=Feb" in named(open_source(path, columns={"when": "date-dmy"}, features=NAMES))[0]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_value_that_is_no_date_is_refused_by_its_line_or_skipped(tmp_path, ending):
    path = write(tmp_path / f"a.{ending}", ["2024-01-31", "2024-02-30", ""])
    with pytest.raises(InvalidInput, match=r"line 2|line 3") as error:
        read(path, columns={"when": "date"})
    assert "2024-02-30" in str(error.value)
    assert "is not a date" in str(error.value)
    source = open_source(path, columns={"when": "date"}, on_error="skip", features=NAMES)
    assert [len(row) for row in named(source)] == [4, 0]
    assert source.problems.skipped == 1


def test_dates_can_be_crossed(tmp_path):
    for path in (tmp_path / "a.csv", tmp_path / "a.jsonl"):
        write(path, MOMENTS)
        source = open_source(
            path, columns={"when": "date"}, features=FeatureOptions(dictionary=True, cross="when*when")
        )
        assert "when.day=31*when.weekday=Wed" in {"*".join(sorted(name.split("*"))) for name in named(source)[0]}


def test_the_note_on_dates_names_the_option(tmp_path):
    path = write(tmp_path / "a.csv", ["2024-01-31", "2024-02-28", "2024-01-31"])
    assert "pass --date when" in " ".join(open_source(path).problems.notes)
    many = tmp_path / "many.csv"
    days = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    many.write_text("when,x,label\n" + "".join(f"{day},{k % 7},{k % 2}\n" for k, day in enumerate(days)))
    notes = open_source(many, learns=True).problems.notes
    assert len(notes) == 1
    assert "it is left out. To use it, split the dates by --date when." in notes[0]


def test_a_model_of_dates_reads_frames_and_further_files(tmp_path):
    path, model = tmp_path / "a.csv", tmp_path / "a.model"
    days = pd.date_range("2024-01-01 06:00", periods=200, freq="19h")
    weekend = np.where(days.day_of_week >= 5, "yes", "no")
    text = pd.DataFrame({"when": days.strftime("%m/%d/%Y %H:%M"), "label": weekend})
    text.to_csv(path, index=False)
    run("train", path, "--date", "when", "--model", model, "--quiet")
    loaded = load(model)
    predicted = loaded.predict(text)
    assert (predicted == weekend).all()
    for frame in (
        pd.DataFrame({"when": days}),
        pl.DataFrame({"when": days.to_list()}),
        pl.DataFrame({"when": days.to_numpy().astype("M8[ns]")}),
    ):
        assert (loaded.decision_function(frame) == loaded.decision_function(text)).all()
    assert "when.weekday=Sat" in str(loaded.explain({"when": "2024-06-01"}))
    run("train", path, "--from", model, "--date", "when", "--quiet")
    assert "contradicts" in run("train", path, "--from", model, "--columns", "when=category", code=2).stderr
