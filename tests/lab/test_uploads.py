"""Tables that somebody pastes: points, or a sentence, and nothing of them is run."""

import gzip
import os
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.scene import Scene
from rosenblatt.lab.uploads import MAX_TABLE_BYTES, points_of_file, points_of_text


def test_numbers_and_a_label_are_points():
    found = points_of_text("height,weight,kind\n1,2.5,cat\n3,4,dog\n1,2,cat\n")
    assert found["points"] == [[1.0, 2.5, 0], [3.0, 4.0, 1], [1.0, 2.0, 0]]
    assert found["names"] == ["height", "weight"]
    assert found["classes"] == ["cat", "dog"]
    assert found["sentence"] == "The table: 3 points, 2 features, 2 classes."
    assert Scene.from_dict({"data": "points", "points": found["points"]}).rows()[0].shape == (3, 2)


def test_tabs_semicolons_and_a_named_label_will_do():
    assert points_of_text("a\tb\ty\n1\t2\t0\n3\t4\t1\n")["classes"] == ["0", "1"]
    assert points_of_text("kind,a,b\nu,1,2\nv,3,4\n", label="kind")["points"] == [[1.0, 2.0, 0], [3.0, 4.0, 1]]


def test_a_column_called_y_is_a_coordinate_beside_one_called_x():
    assert points_of_text("x,y,kind\n0,1,a\n2,3,b\n")["points"] == [[0.0, 1.0, 0], [2.0, 3.0, 1]]
    assert points_of_text("a,b,y\n0,1,5\n2,3,6\n")["classes"] == ["5", "6"]


def test_more_features_than_two_are_taken_and_it_says_what_is_missing():
    found = points_of_text("a,b,c,y\n1,2,3,0\n4,5,6,1\n")
    assert len(found["points"][0]) == 4
    assert "cannot be drawn" in found["sentence"] or "can be drawn" in found["sentence"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no text"),
        ("   \n", "no text"),
        (None, "no text"),
        (["a"], "no text"),
        ("a,b,y\n", "."),
        ("a,b,y\n1,2,u\n", "1 class"),
        ("a,b,y\n" + "\n".join(f"{i},1,{i}" for i in range(9)), "9 classes"),
        ("a,b,y\n" + "\n".join(f"{i},1,{i % 2}" for i in range(2001)), "2001 rows"),
        ("\n".join([",".join("1" * 60) + ",0", ",".join("2" * 60) + ",1"]), "60 features"),
        ("a,b,y\n1e30,2,u\n3,4,v\n", "values beyond"),
        ("a,b,y\nred,2,u\nblue,4,v\n", "not numbers"),
        ("x" * (MAX_TABLE_BYTES + 1), "bytes"),
        ("\x00\x01\x02\xff" * 50, "."),
        ("PK\x03\x04" + "\x00" * 100, "."),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_rejected_without_the_name_of_a_file(text, says):
    with pytest.raises(InvalidInput, match=says) as caught:
        points_of_text(text)
    assert tempfile.gettempdir() not in str(caught.value)
    assert len(str(caught.value)) < 1000


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200) | st.text("0123456789.,;\n\tab\"'-", max_size=200))
def test_any_text_is_points_or_is_rejected_with_a_message(text):
    try:
        found = points_of_text(text)
    except InvalidInput:
        return
    assert np.isfinite(found["points"]).all()


def test_columns_without_names_are_coordinates():
    assert points_of_text("1,2,a\n3,4,b\n")["names"] == ["x1", "x2"]
    assert points_of_text("height,weight,kind\n1,2,a\n3,4,b\n")["names"] == ["height", "weight"]


def test_a_script_in_a_label_stays_text():
    found = points_of_text("a,b,y\n1,2,<script>alert(1)</script>\n3,4,v\n")
    assert "<script>alert(1)</script>" in found["classes"]


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    points_of_text("a,b,y\n1,2,u\n3,4,v\n")
    assert os.listdir(tmp_path) == []


def test_files_are_read_too(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x,y,label\n0,0,no\n1,1,yes\n")
    assert points_of_file(path)["classes"] == ["no", "yes"]
    with gzip.open(tmp_path / "points.csv.gz", "wt") as file:
        file.write("x1,x2,label\n0,0,no\n1,1,yes\n")
    assert points_of_file(tmp_path / "points.csv.gz")["names"] == ["x1", "x2"]
    with pytest.raises(InvalidInput):
        points_of_file(str(tmp_path / "none.csv"))


@pytest.mark.parametrize("cell", ["", "NA", "nan", "?", " "])
def test_a_missing_number_is_refused_with_its_row_and_column(cell):
    """It became a point at 0."""
    with pytest.raises(InvalidInput, match=r"has no number in row 2 of column 'width'. Fill it in"):
        points_of_text(f"length,width,kind\n1,2,a\n3,{cell},b\n5,6,a\n")
    with pytest.raises(InvalidInput, match=r"has no number in row 2 of column 2\. Fill"):
        points_of_text(f"1,2,a\n3,{cell},b\n5,6,a\n")
