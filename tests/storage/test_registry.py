"""Records that files may name: how each is stored, its fields, and its checks."""

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.registry import BY_CLASS, Fault, expect, stored
from rosenblatt.storage.values import Decoder, Encoder, approve, fields_of, registered


def there_and_back(value):
    encoder = Encoder()
    node = json.loads(json.dumps(encoder.node(value, "it"), allow_nan=False))
    return Decoder(encoder.tensors).value(node)


def decode(node, **tensors):
    return Decoder(tensors).value(node)


def check_interval(interval):
    expect(interval.low <= interval.high, f"{interval.low} is above {interval.high}")


@stored("tests.Interval", check=check_interval)
class Interval(NamedTuple):
    low: float
    high: float


@stored("tests.Colour")
class Colour(Enum):
    RED = "a"
    BLUE = "b"


@stored("tests.Drawing")
@dataclass(frozen=True)
class Drawing:
    points: np.ndarray
    colour: Colour
    range: Interval
    title: str = "untitled"
    tags: list = field(default_factory=list)


@stored("tests.Paper")
class Paper:
    def __init__(self, text):
        self.text = text

    def to_dict(self):
        return {"text": self.text}

    @classmethod
    def from_dict(cls, parts):
        if not isinstance(parts, dict):
            raise InvalidInput(f"{parts!r} is no paper.")
        return cls(parts["text"])


class Unknown(NamedTuple):
    low: float


DRAWING = Drawing(np.arange(3), Colour.BLUE, Interval(0.0, 1.0), "two", ["x"])


def test_registered_records_come_back():
    back = there_and_back([DRAWING, Colour.RED, Interval(1, 2), Paper("x")])
    assert back[0].points.tolist() == [0, 1, 2]
    assert (back[0].colour, back[0].range, back[0].title, back[0].tags) == (Colour.BLUE, (0.0, 1.0), "two", ["x"])
    assert type(back[0].range) is Interval
    assert back[1] is Colour.RED
    assert back[2] == Interval(1, 2)
    assert back[3].text == "x"


def test_a_class_defined_elsewhere_is_registered_by_a_call():
    class Elsewhere(NamedTuple):
        number: int

    with pytest.raises(Fault, match="it is or holds a Elsewhere"):
        Encoder().node(Elsewhere(3), "it")
    assert stored("tests.Elsewhere")(Elsewhere) is Elsewhere
    assert there_and_back(Elsewhere(3)) == Elsewhere(3)


def test_a_name_stands_for_one_class():
    with pytest.raises(ValueError, match=r"Files call Interval 'tests\.Interval' already"):
        stored("tests.Interval")(Unknown)


def test_records_that_are_not_registered_are_not_written():
    with pytest.raises(Fault, match="it is or holds a Unknown"):
        Encoder().node(Unknown(1.0), "it")


def test_a_check_is_made_before_writing_and_after_reading():
    with pytest.raises(Fault, match="2 is above 1"):
        Encoder().node([Interval(2, 1)], "it")
    with pytest.raises(Fault, match="2 is above 1"):
        decode({"record": ["tests.Interval", {"low": 2, "high": 1}]})


def test_a_check_sees_only_fields_of_the_types_declared():
    for low in ("2", None, [1], {"tuple": [1]}):
        with pytest.raises(Fault, match=r"a tests\.Interval\.low is not of type"):
            decode({"record": ["tests.Interval", {"low": low, "high": 1}]})
    with pytest.raises(Fault, match=r"a tests\.Interval\.high is not of type"):
        Encoder().node(Interval(1, "2"), "it")


@pytest.mark.parametrize("name", ["colour", "title", "tags"])
def test_every_field_must_be_there_also_one_with_a_default(name):
    encoder = Encoder()
    tag, parts = encoder.node(DRAWING, "it")["record"]
    del parts[name]
    with pytest.raises(Fault, match="other names than points, colour, range, title, tags"):
        Decoder(encoder.tensors).value({"record": [tag, parts]})


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"record": ["tests.Colour", {}]}, "no record 'tests.Colour'"),
        ({"record": ["tests.Paper", {}]}, "no record 'tests.Paper'"),
        ({"record": ["tests.Interval", []]}, "has no fields"),
        ({"record": ["tests.Interval", {"low": 1, "high": 2, "more": 3}]}, "other names than low, high"),
        ({"enum": ["tests.Interval", "low"]}, "no enumeration 'tests.Interval'"),
        ({"enum": ["tests.Colour", "GREEN"]}, "no tests.Colour 'GREEN'"),
        ({"enum": ["tests.Colour", ["RED"]]}, "no tests.Colour"),
        ({"document": ["tests.Interval", {}]}, "no document 'tests.Interval'"),
        ({"document": ["tests.Paper", 3]}, "its tests.Paper cannot be read: 3 is no paper$"),
    ],
)
def test_records_of_another_form_are_faults(node, message):
    with pytest.raises(Fault, match=message):
        decode(node)


@stored("records.Pair", check=lambda pair: expect(pair.low <= pair.high, "turned around"))
class Pair(NamedTuple):
    low: float
    high: float = 0.0


@stored("records.Box")
@dataclass
class Box:
    size: int
    tags: list = field(default_factory=list)


@stored("records.Way")
class Way(Enum):
    UP = 1


@stored("records.Text")
class Text:
    @classmethod
    def from_dict(cls, parts):
        return cls()


def test_a_class_is_stored_in_one_of_three_ways():
    assert [BY_CLASS[cls].kind for cls in (Box, Way, Text)] == ["record", "enumeration", "document"]


def test_the_fields_are_those_of_the_constructor():
    assert fields_of(BY_CLASS[Pair]) == ("low", "high")
    assert fields_of(BY_CLASS[Box]) == ("size", "tags")


def test_a_record_is_approved_if_its_check_passes_and_its_types_fit():
    pair = Pair(-1.0)
    assert approve(BY_CLASS[Pair], pair) is pair
    for wrong in (Pair(1.0), Pair("a")):
        with pytest.raises(Fault):
            approve(BY_CLASS[Pair], wrong)


def test_a_name_of_another_kind_is_none():
    assert registered("records.Way", "enumeration").cls is Way
    for name in ("records.Way", "records.Nothing"):
        with pytest.raises(Fault, match="no record"):
            registered(name, "record")
