"""Values turn into JSON and tensors and back; only records that are registered can be named."""

import json
import math
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.registry import Fault, expect, stored
from rosenblatt.storage.values import Decoder, Encoder


def there_and_back(value, version="2"):
    encoder = Encoder()
    node = json.loads(json.dumps(encoder.node(value, "it"), allow_nan=False))
    return Decoder(encoder.tensors, version).value(node)


def decode(node, version="2", **tensors):
    return Decoder(tensors, version).value(node)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
keys = st.booleans() | st.integers() | st.text()
plain = st.recursive(
    scalars,
    lambda parts: st.lists(parts) | st.lists(parts).map(tuple) | st.dictionaries(keys, parts, max_size=4),
    max_leaves=30,
)


@given(plain)
def test_plain_values_come_back(value):
    back = there_and_back(value)
    assert back == value
    assert repr(back) == repr(value)  # 1 == 1.0 == True, but they are not the same


@pytest.mark.parametrize("length", [15, 16, 200])
@pytest.mark.parametrize("number", [7, 2.5, 2**70, math.inf])
def test_long_tuples_of_numbers_come_back(length, number):
    value = (number,) * length
    assert there_and_back(value) == value
    assert type(there_and_back(value)[0]) is type(number)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6.0).reshape(2, 3).T,
        np.ones((0, 3), np.float32),
        np.array([True, False]),
        np.array(3, np.uint16),
        np.arange(4, dtype=">i4"),
        np.array([np.nan, -0.0, np.inf]),
        np.array(["a", "", "Zürich 東京"]),
        np.array(["a", "bb", "\ud800\0"], object),
        np.array([], object),
        np.array([1, 10**30, "a", 2.5, True], object),
    ],
    ids=repr,
)
def test_arrays_come_back(array):
    back = there_and_back(array)
    assert back.shape == array.shape
    assert back.dtype == array.dtype.newbyteorder("=")
    assert repr(back.tolist()) == repr(array.tolist())
    assert back.flags.writeable


@pytest.mark.parametrize("value", [np.float32(0.1), np.int8(-3), np.True_, np.str_("x"), np.float64("inf")], ids=repr)
def test_scalars_come_back_in_their_type(value):
    back = there_and_back(value)
    assert type(back) is type(value)
    assert back == value


@pytest.mark.parametrize(
    ("kind", "shape"),
    [(sp.csr_matrix, (3, 2)), (sp.csr_array, (3, 2)), (sp.csc_matrix, (3, 2)), (sp.csr_matrix, (0, 2))],
)
def test_sparse_matrices_come_back(kind, shape):
    matrix = kind(np.arange(6.0).reshape(3, 2)[: shape[0]])
    back = there_and_back(matrix)
    assert type(back) is kind
    assert back.shape == shape
    assert (back != matrix).nnz == 0


def test_a_random_state_goes_on_where_it_was():
    random = np.random.RandomState(5)
    random.standard_normal(3)  # leaves one in store
    assert there_and_back(random).standard_normal(5).tolist() == random.standard_normal(5).tolist()
    with pytest.raises(Fault, match=r"it draws from PCG64.*Pass a seed"):
        there_and_back(np.random.RandomState(np.random.PCG64(0)))


def test_equal_arrays_are_stored_once_and_come_back_apart():
    one = np.arange(4.0)
    encoder = Encoder()
    node = encoder.node([one, one.copy(), one + 1, one.astype(int)], "it")
    assert list(encoder.tensors) == ["it.0", "it.2", "it.3"]
    first, second, *_ = Decoder(encoder.tensors, "2").value(node)
    assert first.tolist() == second.tolist() == one.tolist()
    assert not np.shares_memory(first, second)


def test_more_than_eight_equal_arrays_take_a_second_tensor():
    encoder = Encoder()
    node = encoder.node([np.ones(3)] * 9, "it")
    assert list(encoder.tensors) == ["it.0", "it.8"]
    assert len(Decoder(encoder.tensors, "2").value(node)) == 9
    with pytest.raises(Fault, match="used more than 8 times"):
        decode([{"tensor": "a"}] * 9, a=np.ones(3))


@pytest.mark.parametrize(
    "value",
    [
        print,
        object(),
        1j,
        b"bytes",
        {1, 2},
        np.array([1j]),
        np.array([object()]),
        np.array(["a"], object).reshape(1, 1),
        np.datetime64("2020-01-01"),
        np.ma.ones(3),
        sp.coo_matrix(np.eye(2)),
        np.random.default_rng(0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_no_file_can_hold_is_named_with_the_way_to_it(value):
    with pytest.raises(Fault, match=r"it\.1\.0 is or holds an? .*Use numbers"):
        Encoder().node([0, (value,)], "it")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({}, "0 tags"),
        ({"a": 1, "b": 2}, "2 tags"),
        ({"os": "system"}, "unknown tag 'os'"),
        ({"tensor": "gone"}, "no tensor 'gone'"),
        ({"tensor": 3}, "no tensor 3"),
        ({"numbers": "matrix"}, "do not belong there"),
        ({"tuple": 3}, "a sequence is not one"),
        ({"dict": [[[], 1]]}, "keys and values"),
        ({"dict": [[1, 1], [1, 2]]}, "comes twice"),
        ({"float": "1e3"}, "'1e3' is not a number"),
        ({"scalar": ["int8", 300]}, "300 is not of kind int8"),
        ({"scalar": ["object", 1]}, "'object' is not a kind"),
        ({"scalar": [1]}, "a pair is not one"),
        ({"text": "matrix"}, "do not belong there"),
        ({"text": "points"}, "is not text"),
        ({"strings": {"utf8": "bad", "ends": "ends"}}, "'bad' is not text"),
        ({"strings": {"utf8": "short", "ends": "ends"}}, "are not those of it"),
        ({"strings": {"utf8": "bad"}}, "not just utf8, ends"),
        ({"objects": [None]}, "holds something else"),
        ({"csr_matrix": {}}, "not just shape"),
        ({"csr_matrix": {"shape": [1], "data": "v", "indices": "i", "indptr": "p"}}, "has no shape"),
        ({"csr_matrix": {"shape": [1, 1], "data": "v", "indices": "i", "indptr": "p"}}, "damaged"),
        ({"RandomState": {"key": "key", "pos": 625, "has_gauss": 0, "gauss": 0.0}}, "is not a state"),
        ({"RandomState": {"key": "key", "pos": 0, "has_gauss": 0, "gauss": {"float": "nan"}}}, "is not a state"),
        ({"record": ["Popen", {}]}, "no record 'Popen'"),
        ({"enum": ["Popen", "A"]}, "no enumeration 'Popen'"),
        ({"document": ["Popen", {}]}, "no document 'Popen'"),
        (math.inf, "too large"),
    ],
)
def test_nodes_that_stand_for_nothing_are_faults(node, message):
    tensors = {
        "matrix": np.ones((2, 2)),
        "points": np.full((1, 1), 0x110000, np.uint32),
        "bad": np.full(2, 255, np.uint8),
        "short": np.zeros(1, np.uint8),
        "ends": np.array([1, 2]),
        "v": np.ones(1),
        "i": np.array([1]),
        "p": np.array([0, 1]),
        "key": np.zeros(624, np.uint32),
    }
    with pytest.raises(InvalidInput, match=message):
        decode(node, **tensors)


# ------------------------------------------------------------------------------------------------------- the registry


def check_interval(interval):
    expect(interval.low <= interval.high, f"{interval.low} is above {interval.high}")


@stored("tests.Interval", check=check_interval, renamed={"lower": "low"})
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


def test_fields_of_version_1_have_their_names_of_today():
    old = {"record": ["tests.Interval", {"lower": 1, "high": 2}]}
    assert decode(old, version="1") == Interval(1, 2)
    with pytest.raises(Fault, match="not just low, high"):
        decode(old, version="2")
    with pytest.raises(Fault, match="comes twice"):
        decode({"record": ["tests.Interval", {"lower": 1, "low": 1, "high": 2}]}, version="1")


def drawing_without(*names):
    encoder = Encoder()
    tag, parts = encoder.node(DRAWING, "it")["record"]
    kept = {name: part for name, part in parts.items() if name not in names}
    return Decoder(encoder.tensors, "2").value({"record": [tag, kept]})


def test_a_field_with_a_default_may_be_missing():
    back = drawing_without("title", "tags")
    assert (back.title, back.tags) == ("untitled", [])
    with pytest.raises(Fault, match="not just points, colour, range"):
        drawing_without("colour")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"record": ["tests.Colour", {}]}, "no record 'tests.Colour'"),
        ({"record": ["tests.Paper", {}]}, "no record 'tests.Paper'"),
        ({"record": ["tests.Interval", []]}, "has no fields"),
        ({"record": ["tests.Interval", {"low": 1, "high": 2, "more": 3}]}, "not just low, high"),
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
