"""What is known of registered classes."""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import pytest

from rosenblatt.storage.records import approve, fields_of, is_document, is_enum, is_record, registered
from rosenblatt.storage.registry import BY_CLASS, Fault, expect, stored


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
    ways = [(is_record(entry), is_enum(entry), is_document(entry)) for entry in map(BY_CLASS.get, (Box, Way, Text))]
    assert ways == [(True, False, False), (False, True, False), (False, False, True)]


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
    assert registered("records.Way", is_enum, "enumeration").cls is Way
    for name in ("records.Way", "records.Nothing"):
        with pytest.raises(Fault, match="no record"):
            registered(name, is_record, "record")
