"""Numbers in text are those that Python's float reads, bit for bit."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.files.decimals import FINE, LONG, MALFORMED, read_numbers


def read(texts):
    encoded = [text.encode() for text in texts]
    start = np.cumsum([0, *(len(text) + 1 for text in encoded)])[:-1]
    end = start + [len(text) for text in encoded]
    number, fault = np.empty(len(texts)), np.empty(len(texts), np.uint8)
    read_numbers(np.frombuffer(b" ".join(encoded) + b"\n", np.uint8), start, end, number, fault)
    return number, fault


def assert_right(texts, most_long=0.0):
    number, fault = read(texts)
    for text, value, code in zip(texts, number.tolist(), fault.tolist(), strict=True):
        if code == FINE:
            assert struct.pack("d", value) == struct.pack("d", float(text)), text
        else:
            assert code == LONG
            assert sum(c.isdigit() for c in text.lower().partition("e")[0].lstrip("-+0.")) > 19, text
    assert np.mean(fault == LONG) <= most_long


def test_short_and_long_numbers_of_all_sizes():
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**64, 20_000, np.uint64).view(np.float64)
    finite = bits[np.isfinite(bits)].tolist()
    assert_right([repr(value) for value in finite])
    assert_right([f"{value:.18e}" for value in finite])
    assert_right([f"{value:.4f}" for value in random.standard_normal(20_000)])
    assert_right([repr(float(value)) for value in random.standard_normal(20_000)])


def test_numbers_half_way_between_two_floats_and_at_the_ends_of_the_range():
    cases = ["0", "-0", "+0", "00.000", "1.", ".5", "1e23", "9007199254740993", "9007199254740992.5", "1e22", "1e-22"]
    cases += ["9007199254740991.5", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "1e400"]
    cases += ["1.7976931348623157e308", "1.7976931348623159e308", "2.2250738585072011e-308", "5e-324", "1e-323"]
    cases += ["6631236846766476e-316", "3237883913302901e-313", "179769313486231580793e289", "1E+2", "1e0000000000005"]
    cases += ["0.000000000000000000000000000000000001234", "100000000000000000000000", "7205759403792793e1"]
    for k in range(2000):  # between neighbours that differ by two
        cases.append(str(2**53 + 2 * k + 1))
    assert_right(cases, most_long=0.01)


@settings(max_examples=500)
@given(st.from_regex(r"[-+]?(?:[0-9]{1,25}(?:\.[0-9]{0,25})?|\.[0-9]{1,25})(?:[eE][-+]?[0-9]{1,4})?", fullmatch=True))
def test_whatever_has_the_form_of_a_number_is_read(text):
    number, fault = read([text])
    assert fault[0] == LONG or struct.pack("d", number[0]) == struct.pack("d", float(text))


@pytest.mark.parametrize(
    "text", ["", "-", "+", ".", "e5", "1e", "1e+", "1..2", "1x", "0x10", "nan", "inf", "1_0", "--1"]
)
def test_anything_else_is_not(text):
    assert read([text])[1].tolist() == [MALFORMED]
