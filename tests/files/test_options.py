"""Options are checked, and decisions go through JSON."""

import json

import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.files.options import Column, FeatureOptions, Reading


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
        ("standardise", None),
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
