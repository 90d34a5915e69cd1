"""Fields of tables are those of Python's csv module; numbers are scaled by the rows up to each."""

import csv
import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.files import fields

FIELDS = st.one_of(st.text("ab 1.5é", max_size=6), st.text('a",\n;', max_size=6))

LONG = 1 << 20  # bytes within which quotes are closed


def split(text, width, quote=34):
    array = np.frombuffer(text, np.uint8)
    lines = text.count(b"\n")
    first, last = np.zeros((lines, width), np.int32), np.zeros((lines, width), np.int32)
    doubled, line = np.zeros((lines, width), np.uint8), np.zeros(lines, np.int32)
    rows, place, number, fault = fields.split_fields(array, (0, 0, 0), 44, quote, LONG, first, last, doubled, line)
    found = []
    for i in range(rows):
        cut = [text[first[i, j] : last[i, j]] for j in range(width)]
        found.append([part.replace(b'""', b'"') if doubled[i, j] else part for j, part in enumerate(cut)])
    return found, place, number, fault, line[:rows].tolist()


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(FIELDS, min_size=n, max_size=n), min_size=1, max_size=8)))
def test_what_the_csv_module_writes_is_read_as_it_reads_it(rows):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    text = file.getvalue().encode()
    expected = [row for row in csv.reader(io.StringIO(file.getvalue(), newline="")) if row]
    found, place, _, fault, _ = split(text, len(rows[0]))
    assert fault == fields.NO_FAULT
    assert place == len(text)
    assert [[part.decode() for part in row] for row in found] == expected
    array = np.frombuffer(text, np.uint8)
    assert fields.last_record_end(array, 44, 34, LONG) == len(text)
    for cut in range(len(text)):  # wherever a block ends, whole records are cut off
        end = fields.last_record_end(array[:cut], 44, 34, LONG)
        assert split(text[:end], len(rows[0]))[3] == fields.NO_FAULT
        assert split(text[:end], len(rows[0]))[0] + split(text[end:], len(rows[0]))[0] == found


def ends_of_records(text, longest):
    """Give where each record ends, in all of a text."""
    array, ends = np.frombuffer(text, np.uint8), [0]
    while ends[-1] < len(text):
        ends.append(fields.record_end(array, ends[-1], 44, 34, longest)[0])
    return ends


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.sampled_from([b'"', b'""', b",", b"\n", b"\r\n", b"\r", b"a", b"bcd"]), max_size=40), st.integers(1, 30)
)
def test_records_with_stray_quotes_do_not_depend_on_where_the_text_is_cut(parts, longest):
    text = b"".join([*parts, b"\n"])
    ends = ends_of_records(text, longest)
    array = np.frombuffer(text, np.uint8)
    for cut in range(len(text)):
        known = fields.last_record_end(array[:cut], 44, 34, longest)
        assert known in ends
        # What is cut off at a record is read as it was; and what is not known yet is short.
        assert ends_of_records(text[:known], longest) == [end for end in ends if end <= known]
        assert cut - known <= longest + max(map(len, text.split(b"\n"))) + 2


def test_a_stray_quote_costs_its_own_line():
    text = b'1,"a\n2,b\n3,"c\nd"\n4,e"\n'
    assert ends_of_records(text, LONG) == [0, 5, 9, 17, 22]
    assert ends_of_records(text, 5) == [0, 5, 9, 14, 17, 22]


def test_faults_are_told_with_the_number_of_the_line():
    assert split(b'a,"x\ny"\n\r\nb,c\r\nd\n', 2)[1:] == (15, 4, fields.TOO_FEW, [0, 3])
    assert split(b"a,b\nc,d,e\n", 2)[3] == fields.TOO_MANY
    assert split(b'a,"b\n', 2)[3] == fields.BAD_QUOTE
    assert split(b'a,"b"c\n', 2)[3] == fields.BAD_QUOTE
    assert split(b'a,"b"c\n', 2, quote=-1)[0] == [[b"a", b'"b"c']]
    assert split(b'a,b"c"\n', 2)[0] == [[b"a", b'b"c"']]


def test_rows_are_scaled_by_the_rows_up_to_them():
    X = np.random.default_rng(0).standard_normal((50, 3)) * [1, 5, 0] + [0, 100, 7]
    missing = np.random.default_rng(1).random((50, 3)) < 0.2
    count, mean, squares = np.zeros((3, 3))
    out = np.empty_like(X)
    fields.scale_rows(X, missing, count, mean, squares, out)
    for i in range(50):
        for j in range(3):
            known = X[: i + 1, j][~missing[: i + 1, j]]
            deviation = known.std() if known.size else 0.0
            scaled = (X[i, j] - known.mean()) / deviation if deviation > 1e-9 and not missing[i, j] else 0.0
            assert abs(out[i, j] - scaled) < 1e-9
