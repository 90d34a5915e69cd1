"""What passes a check may be used without looking; what fails it is a fault that names the value."""

from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.checks import (
    check_array,
    check_classes,
    check_layout,
    check_record,
    check_rows,
    entries,
    is_integer,
    is_label,
    is_of,
)
from rosenblatt.storage.registry import Fault, expect


def test_an_alias_of_a_type_stands_for_the_type():
    alias = pytest.importorskip("typing_extensions").TypeAliasType("Array", np.ndarray[Any, np.dtype[Any]])
    assert is_of(np.zeros(2), alias)
    assert not is_of([0.0, 0.0], alias)
    assert is_of((np.zeros(2),), tuple[alias, ...])


def test_a_fault_is_invalid_input_and_has_no_full_stop():
    expect(1, "never")
    with pytest.raises(Fault) as caught:
        expect([], "it is empty")
    assert isinstance(caught.value, InvalidInput)
    assert str(caught.value) == "it is empty"


@pytest.mark.parametrize(
    ("value", "fits"),
    [(0, True), (7, True), (-1, False), (True, False), (1.0, False), (np.int64(1), False), ("1", False)],
)
def test_integers_are_python_integers_in_a_range(value, fits):
    assert is_integer(value) is fits
    assert not is_integer(value, 8)
    assert not is_integer(value, -1, -1) or value == -1


@pytest.mark.parametrize(
    ("value", "fits"),
    [(1, True), ("a", True), (2.5, True), (np.str_("a"), True), (float("nan"), False), (None, False), ((1,), False)],
)
def test_labels_are_numbers_or_text_that_equal_themselves(value, fits):
    assert is_label(value) is fits


@pytest.mark.parametrize(
    ("value", "hint", "fits"),
    [
        (object(), Any, True),
        (3, int, True),
        (np.int32(3), int, True),
        (True, int, False),
        (3, float, True),
        (np.bool_(True), float, False),
        ("3", float, False),
        (None, int | None, True),
        ("x", int | None, False),
        ((1, 2), tuple[int, ...], True),
        ((), tuple[int, ...], True),
        ((1, "2"), tuple[int, ...], False),
        ([1, 2], tuple[int, ...], False),
        ((1, "2"), tuple[int, str], True),
        ((1, 2), tuple[int, str], False),
        ((1,), tuple[int, str], False),
        ("l1", Literal["l1", "l2"], True),
        ("l3", Literal["l1", "l2"], False),
        (True, Literal[1], False),
        ([1], list[int], True),
        ({}, dict[str, int], True),
        (np.ones(2), np.ndarray, True),
        (np.ma.ones(2), np.ndarray, False),
    ],
)
def test_a_value_is_held_against_its_annotation(value, hint, fits):
    assert is_of(value, hint) is fits


class Interval(NamedTuple):
    low: float
    high: float | None


def test_fields_of_a_record_have_the_types_that_it_declares():
    check_record("it", Interval(1.0, None), Interval)
    with pytest.raises(Fault, match="it is not a Interval"):
        check_record("it", (1.0, None), Interval)
    with pytest.raises(Fault, match=r"it\.high is not of type"):
        check_record("it", Interval(1.0, "2"), Interval)


def test_entries_are_those_named_and_no_others():
    assert entries({"b": 1, "a": 2}, ("a", "b")) == [2, 1]
    for node in ({"a": 1}, {"a": 1, "b": 2, "c": 3}, [1, 2], None):
        with pytest.raises(Fault, match="an entry has other names than a, b"):
            entries(node, ("a", "b"))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([1.0, 2.0], "w is not an array"),
        (np.ones(2, int), "w has dtype int64"),
        (np.ones(3), r"w has shape \(3,\), where \(2,\) or \(2, 2\) belongs"),
        (np.array([1.0, np.nan]), "not finite"),
    ],
)
def test_arrays_of_another_kind_are_faults(array, message):
    with pytest.raises(Fault, match=message):
        check_array("w", array, "f", (2,), (2, 2))


def test_arrays_that_fit_pass():
    check_array("w", np.ones((2, 2), np.float32), "f", (2,), (2, 2))
    check_array("w", np.array([np.inf, np.nan]), "d", (2,), finite=False)
    check_array("w", np.ones(2, np.int32), "i", (2,))
    for types, dtype in (("d", np.float32), ("l", np.int32), ("f", np.float16)):
        with pytest.raises(Fault, match="dtype"):
            check_array("w", np.ones(2, dtype), types, (2,))


LAYOUTS = {"W": "f pd", "b": "f p", "lag": "d pd p0", "V": "d pee", "errors": "d? p"}


def state(**changes):
    arrays = {"W": np.ones((2, 3)), "b": np.ones(2), "lag": np.ones((2, 0)), "V": np.ones((2, 4, 4))}
    return SimpleNamespace(**(arrays | {"errors": np.full(2, np.inf)} | changes))


def test_a_layout_says_type_and_shapes():
    sizes = {"p": 2, "d": 3, "e": 4}
    check_layout(state(), LAYOUTS, sizes)
    check_layout(state(lag=np.ones((2, 3))), LAYOUTS, sizes)
    for changes, message in (
        ({"lag": np.ones((2, 1))}, r"lag of the state has shape \(2, 1\), where \(2, 3\) or \(2, 0\) belongs"),
        ({"V": np.ones((2, 4, 3))}, "V of the state has shape"),
        ({"b": np.array([1.0, np.inf])}, "b of the state has values that are not finite"),
        ({"b": np.ones(2, np.float32)}, "the state mixes float32 with float64"),
        ({"errors": None}, "errors of the state is not an array"),
    ):
        with pytest.raises(Fault, match=message):
            check_layout(state(**changes), LAYOUTS, sizes)
    with pytest.raises(Fault, match="W of the pocket has shape"):
        check_layout(state(), LAYOUTS, sizes | {"d": 5}, "the pocket")


def test_rows_are_finite_arrays_or_csr_of_the_size():
    for rows in (np.ones((2, 3)), sp.csr_matrix(np.ones((2, 3))), sp.csr_array(np.ones((2, 3)))):
        check_rows("rows", rows, 2, 3)
        with pytest.raises(Fault):
            check_rows("rows", rows, 3, 2)
    with pytest.raises(Fault, match="rows is not an array"):
        check_rows("rows", sp.csc_matrix(np.ones((2, 3))), 2, 3)


def test_classes_are_sorted_labels():
    for classes in ([0], [0, 1, 5], ["a", "b"], [False, True], np.array(["a", "b"], object)):
        check_classes(np.asarray(classes))
    for classes, message in (
        ([1, 0], "not sorted"),
        ([0, 0], "not sorted"),
        ([], "not labels"),
        ([[0, 1]], "not labels"),
        ([0.0, np.nan], "not labels"),
        (np.array([1, "a"], object), "not sorted"),
        (np.array([None, None]), "not labels"),
        (np.array([b"a"]), "not labels"),
    ):
        with pytest.raises(Fault, match=message):
            check_classes(np.asarray(classes))
    with pytest.raises(Fault, match="not labels"):
        check_classes([0, 1])
