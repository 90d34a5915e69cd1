"""Labels and faults."""

import numpy as np

from rosenblatt.files.parsing import (
    EXAMPLES,
    PART_BYTES,
    LineFault,
    LineFaults,
    count_byte,
    numbers_in,
    stripped,
    texts_in,
)


def spans(*texts):
    text = np.frombuffer(b" ".join(texts) + b"\n", np.uint8)
    end = np.cumsum([len(part) + 1 for part in texts]) - 1
    return text, end - [len(part) for part in texts], end


def test_numbers_and_what_is_none():
    text, start, end = spans(b"1", b"x", b"1e999", b"0.1234567890123456789012345", b"", b"nan")
    number, wrong = numbers_in(text, start, end)
    assert wrong.tolist() == [1, 2, 4, 5]
    assert number[[0, 3]].tolist() == [1.0, 0.1234567890123456789012345]


def test_texts_of_any_length():
    texts = [b"spam", b"", "été".encode(), b"\xff", b"x" * 100]
    expected = ["spam", "", "été", "\\xff", "x" * 100]
    assert texts_in(*spans(*texts)).tolist() == expected
    assert texts_in(*spans(*texts[:-1])).tolist() == expected[:-1]
    assert texts_in(*spans(b"", b"")).tolist() == ["", ""]


def test_blanks_at_either_end_are_left_out():
    text = np.frombuffer(b" a b\t,\r\n", np.uint8)
    start, end = stripped(text, np.array([0, 6]), np.array([5, 7]))
    assert (start.tolist(), end.tolist()) == ([1, 7], [4, 7])


def test_faults_are_counted_and_the_first_are_kept():
    faults = LineFaults(skip=True)
    faults.add_rows(np.arange(9), lambda row: LineFault(row, "", "wrong"))
    assert (faults.count, len(faults.examples), faults.stop) == (9, EXAMPLES, False)
    first = LineFaults(skip=False)
    first.add_rows(np.arange(9), lambda row: LineFault(row, "", "wrong"))
    assert (first.count, first.stop) == (1, True)


def test_a_byte_is_counted_in_all_parts_of_a_text():
    text = np.random.default_rng(0).integers(0, 4, 2 * PART_BYTES + 5).astype(np.uint8)
    for part in (text, text[:0], text[:PART_BYTES], text[3:]):
        assert count_byte(part, 2) == part.tobytes().count(b"\x02")
