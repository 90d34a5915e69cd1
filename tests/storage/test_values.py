"""Values turn into JSON and tensors and back; only records that are registered can be named."""

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.registry import Fault
from rosenblatt.storage.values import Decoder, Encoder


def there_and_back(value):
    encoder = Encoder()
    node = json.loads(json.dumps(encoder.node(value, "it"), allow_nan=False))
    return Decoder(encoder.tensors).value(node)


def decode(node, **tensors):
    return Decoder(tensors).value(node)


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
    first, second, *_ = Decoder(encoder.tensors).value(node)
    assert first.tolist() == second.tolist() == one.tolist()
    assert not np.shares_memory(first, second)


def test_more_than_eight_equal_arrays_take_a_second_tensor():
    encoder = Encoder()
    node = encoder.node([np.ones(3)] * 9, "it")
    assert list(encoder.tensors) == ["it.0", "it.8"]
    assert len(Decoder(encoder.tensors).value(node)) == 9
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
        ({"strings": {"utf8": "bad"}}, "other names than utf8, ends"),
        ({"objects": [None]}, "holds something else"),
        ({"csr_matrix": {}}, "other names than shape"),
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
