"""Options are checked, and decisions go through JSON."""

import json
from dataclasses import fields

import numpy as np
import pytest

from files.common import content
from rosenblatt.errors import InvalidInput
from rosenblatt.files.conversion import convert
from rosenblatt.files.formats import ALL
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import Column, FeatureOptions, Reading, as_count, purposes, reject


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bits", 0),
        ("bits", 31),
        ("bits", 1.5),
        ("words", (2, 1)),
        ("words", (0, 1)),
        ("words", None),
        ("letters", (1, 99)),
        ("letters", 3),
        ("counts", "tfidf"),
        ("dictionary", 1),
        ("lowercase", "no"),
        ("normalise", "l2"),
        ("standardise", "yes"),
        ("cross", "user"),
    ],
)
def test_features_that_cannot_be_made_are_refused_by_name(name, value):
    with pytest.raises(InvalidInput, match=name):
        FeatureOptions(**{name: value})


def test_a_reading_goes_through_json():
    columns = (Column("a", "number"), Column("b", "text"), Column("y", "label"))
    features = FeatureOptions(bits=20, words=[1, 2], letters=(3, 4))
    reading = Reading("csv", features, "text", delimiter=";", header=True, columns=columns)
    assert Reading.from_json(json.loads(json.dumps(reading.to_json()))) == reading
    assert not reading.numeric
    assert Reading("csv", columns=columns[::2]).numeric
    for name, value in [
        ("format", "xml"),
        ("columns", [["a"]]),
        ("delimiter", ",,"),
        ("header", 1),
        ("label_type", "x"),
    ]:
        with pytest.raises(InvalidInput, match=name):
            Reading.from_json(reading.to_json() | {name: value})
    with pytest.raises(InvalidInput, match="Reading has the fields"):
        Reading.from_json({"format": "csv"})


# ------------------------------------------------------------------------------------------------ options and formats

# A small file of each format, on which every option that the format takes changes something.
SAMPLES = {
    "a.svm": "1 1:2 2:1\n0 1:3 5:4\n",
    "a.vw": "1 |a Word:2 word |b x\n-1 | word:3\n",
    "a.txt": "1\tThe the word is there\n0\tno the word\n",
    "text.csv": "x,c,t,y\n1,2,The the word is there,1\n2,3,no the word at all,0\n5,3,no the word,1\n",
    "numbers.csv": "x,z,y\n1,2,1\n2,3,0\n5,1,1\n",
    "text.tsv": "x\tc\tt\ty\n1\t2\tThe the word is there\t1\n2\t3\tno the word at all\t0\n",
    "a.jsonl": '{"x": 1, "c": 2, "t": "The the word is there", "y": 1}\n{"x": 2, "c": 3, "t": "no the word", "y": 0}\n',
}
# A value that is not the default, for each option. Those of a column are its name where there are names.
VALUES = {
    "label": "x",
    "label_type": "text",
    "header": False,
    "columns": {"x": "skip"},
    "zero_based": True,
    "bits": 5,
    "dictionary": True,
    "words": (1, 2),
    "letters": (2, 3),
    "lowercase": False,
    "counts": "binary",
    "normalise": True,
    "standardise": True,
    "cross": ("t*t",),
}
# Crosses by the names that each file has.
CROSSES = {"a.vw": ("a*b",), "a.txt": ("text*text",), "numbers.csv": ("x*z",)}


OTHERS = [f"other{one.endings[0]}" for one in ALL.values() if one.endings and f"a{one.endings[0]}" not in SAMPLES]
FILES = [*SAMPLES, *(name for name in OTHERS if name not in ("other.csv", "other.tsv"))]


def sample(folder, name):
    path = folder / name
    if name in SAMPLES:
        path.write_text(SAMPLES[name])
    elif name == "other.arrow":
        convert(sample(folder, "text.csv"), folder / "a.parquet")
        table = pytest.importorskip("pyarrow.parquet").read_table(folder / "a.parquet")
        pytest.importorskip("pyarrow.feather").write_feather(table, str(path), compression="uncompressed")
    else:
        convert(sample(folder, "text.csv"), path)
    return path


def what_is_read(path, name=None):
    value = CROSSES.get(path.name, VALUES[name]) if name == "cross" else VALUES.get(name)
    own = name in {field.name for field in fields(FeatureOptions)}
    options = {} if name is None else {"features": FeatureOptions(**{name: value})} if own else {name: value}
    source = open_source(path, threads=0, **options)
    return content(source), source.names, source.n_features


def refusal(path, name):
    """Return the sentence that refuses an option; empty if it changes what is read."""
    plain = what_is_read(path)
    try:
        assert what_is_read(path, name) != plain, name
    except InvalidInput as error:
        return str(error)
    return ""


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", VALUES)
def test_an_option_changes_something_or_is_refused(tmp_path, file, name):
    if (file, name) == ("a.txt", "normalise"):
        pytest.skip("rows of words have length one by default")
    path = sample(tmp_path, file)
    sentence = refusal(path, name)
    if sentence and (file, name) not in {("a.svm", "label_type"), ("text.csv", "header"), ("text.tsv", "header")}:
        flag = "--keep-case" if name == "lowercase" else "--" + name.replace("_", "-")
        value = (("t", "t"),) if name == "cross" else VALUES[name]
        assert sentence.startswith(f"{name}={value!r} ({flag}) would change nothing: {path} is ")


def test_purposes_name_what_takes_an_option(tmp_path):
    """The sentence that refuses an option names the formats that take it."""
    taken = {name: set() for name in VALUES}
    for file in FILES:
        source = open_source(sample(tmp_path, file), threads=0)
        for name in source.parsers[0].options:
            taken[name].add(source.reading.format)
    for name in ("label", "header", "columns", "zero_based"):
        assert all(format in purposes()[name] for format in taken[name])
        assert not any(format in purposes()[name] for format in {*ALL} - taken[name])
    tables = {name for name, one in ALL.items() if one.kind == "table"}
    assert taken["label_type"] == {*ALL}
    assert taken["cross"] == taken["dictionary"] == {name for name, one in ALL.items() if not one.numbered}
    assert taken["standardise"] == {name for name in tables if not ALL[name].ragged}
    assert taken["words"] == {"text", *tables}
    assert set(purposes()) == set(VALUES)


@pytest.mark.parametrize(
    ("file", "to", "name"),
    [("text.csv", "out.jsonl", "words"), ("a.txt", "out.csv", "letters"), ("text.csv", "out.svm", "counts")]
    + [("text.csv", "out.vw", name) for name in ("bits", "dictionary", "normalise", "standardise", "cross")],
)
def test_conversions_refuse_options_of_features_that_they_do_not_use(tmp_path, file, to, name):
    with pytest.raises(InvalidInput, match=f"{name} would change nothing"):
        convert(sample(tmp_path, file), tmp_path / to, features=FeatureOptions(**{name: VALUES[name]}))
    assert not (tmp_path / to).exists()


@pytest.mark.parametrize("value", [0, 3, np.int64(3), 10**30])
def test_counts_are_returned_as_integers(value):
    assert as_count("n", value, least=0) == value
    assert type(as_count("n", value, least=0)) is int


@pytest.mark.parametrize("value", [-1, True, 2.0, "3", None])
def test_what_is_no_count_is_named(value):
    with pytest.raises(InvalidInput, match=r"^n=.* is invalid: it must be a whole number from 0\.$"):
        as_count("n", value, least=0)


def test_long_values_are_shortened():
    with pytest.raises(InvalidInput) as caught:
        reject("name", "x" * 1000, "short")
    assert len(str(caught.value)) < 130
