"""Tables in text: numbers as they are, names and values hashed, a clear choice for what is missing."""

import csv
import io
import json
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from files.common import content, named, read
from oracles import features as oracle
from rosenblatt import TableHasher
from rosenblatt.errors import InvalidInput
from rosenblatt.files.conversion import convert
from rosenblatt.files.formats import delimited
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions

MIXED = (
    'id,age,colour,text,label\n1,33,red,"hello, ""big"" world\nand more",spam\n2,,blue,nothing to see here,ham\n'
    "3, 44.5 ,NA,the end of it,ham\n4,1e3,red,again and again,spam\n"
)


@pytest.fixture
def file(tmp_path):
    def write(text, name="a.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return write


def test_a_table_of_numbers_is_dense_and_has_names(file):
    X = np.random.default_rng(0).standard_normal((50, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.arange(50) % 2)
    source = open_source(file(frame.to_csv(index=False)))
    assert (source.names, source.n_features) == (("a", "b", "c", "d"), 4)
    rows, labels, _ = content(source)
    assert (np.array(rows) == X).all()
    assert labels == frame.y.tolist()


def test_numbers_are_the_same_with_and_without_something_odd_in_the_block(file):
    X = np.random.default_rng(1).standard_normal((40, 3))
    lines = [",".join(map(repr, row)) + ",1\n" for row in X.tolist()]
    expected = content(open_source(file("".join(lines))))
    assert (np.array(expected[0]) == X).all()
    for odd in ("\n", ' 1,"2", 3 ,0\n', "1,,3,0\n", "1,2,3,0\r\n", "1e999,2,3,0\n"):
        rows, labels, _ = content(open_source(file("".join([*lines, odd, *lines])), on_error="skip"))
        assert rows[:40] == rows[-40:] == expected[0]
        assert len(labels) == 80 + (odd.strip() != "" and "999" not in odd)


def test_numbers_categories_and_words_are_named_and_hashed(file):
    options = {"columns": {"id": "skip"}, "features": FeatureOptions(dictionary=True, counts="count")}
    source = open_source(file(MIXED), **options)
    assert [column.kind for column in source.reading.columns] == ["skip", "number", "category", "text", "label"]
    assert named(source) == [
        {"age": 33, "colour=red": 1, "text=hello": 1, "text=big": 1, "text=world": 1, "text=and": 1, "text=more": 1},
        {"colour=blue": 1, "text=nothing": 1, "text=to": 1, "text=see": 1, "text=here": 1},
        {"age": 44.5, "text=the": 1, "text=end": 1, "text=of": 1, "text=it": 1},
        {"age": 1000, "colour=red": 1, "text=again": 2, "text=and": 1},
    ]
    assert source.problems.missing == 2
    rows = read(file(MIXED), columns={"id": "skip"})[0]
    words = oracle.text_row(b"again and again", normalise=False, seed=oracle.murmur(b"text"))
    expected = {oracle.number_column("age"): 1000.0, oracle.category_column("colour", "red"): 1.0, **words}
    assert dict(rows[3]) == pytest.approx(expected)


def test_files_and_the_transformer_give_the_same_rows(file):
    (chunk,) = open_source(file(MIXED), columns={"id": "skip"})
    frame = pd.read_csv(file(MIXED)).drop(columns="label")
    X = TableHasher(columns={"id": "skip"}).fit_transform(frame)
    assert (chunk.table.matrix() != X).nnz == 0


def test_the_label_is_found_by_name_or_position(file):
    path = file("y,a,b\n1,2,3\n0,4,5\n")
    assert read(path)[1] == [1, 0]
    assert read(path, label="b")[1] == [3, 5]
    assert read(path, label=-1)[1] == [3, 5]
    assert read(file("1,2,3\n4,5,6\n"))[1] == [3, 6]
    assert read(file("1,2,3\n4,5,6\n"), label=0)[0] == [[2, 3], [5, 6]]
    assert read(file("y,a,b\n1,2,3\n"), labels="none", label="missing")[0] == [[1, 2, 3]]
    for label in ("missing", 3, -4, 1.5):
        with pytest.raises(InvalidInput, match="label="):
            read(path, label=label)


def test_other_files_may_have_their_columns_elsewhere_and_no_label(file):
    for text, options in ((MIXED, {"columns": {"id": "skip"}}), ("a,b,y\n1,2,0\n3,4,1\n", {})):
        first = open_source(file(text), **options)
        expected = content(first)[0]
        frame = pd.read_csv(file(text))
        again = frame.drop(columns=frame.columns[-1])[frame.columns[-2::-1]].assign(new="x")
        path = file(again.to_csv(index=False), "again.csv")
        other = open_source(path, reading=first.reading, labels="optional")
        rows, labels, _ = content(other)
        assert rows == expected
        assert np.isnan(np.array(labels, float)).all()
        with pytest.raises(InvalidInput, match=r"again\.csv has no column"):
            open_source(path, reading=first.reading)
    plain = open_source(file("1,2,0\n3,4,1\n"))
    assert read(file("5,6\n", "again.csv"), reading=plain.reading, labels="none")[0] == [[5, 6]]


def test_headers_are_recognised(file):
    assert read(file("a,b,c\n1,2,3\n"))[0] == [[1, 2]]
    assert read(file("1,2,3\n1,2,3\n"))[0] == [[1, 2]] * 2
    assert read(file("text,label\nx y z w,spam\n"))[1] == ["spam"]
    assert read(file("1,2,3\n4,5,6\n"), header=True)[0] == [[4, 5]]
    assert len(read(file("a,b\nc,d\n"), header=False, label=1)[0]) == 2
    with pytest.raises(InvalidInput, match="two columns with the same name"):
        read(file("a,a,y\n1,2,3\n"), header=True)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_recognised(file, delimiter):
    text = "a,b,y\n1.5,2,0\n3,4,1\n".replace(",", delimiter)
    assert read(file(text))[0] == [[1.5, 2], [3, 4]]
    assert read(file(text.replace("\n", "\r\n")))[0] == [[1.5, 2], [3, 4]]
    assert read(file(b"\xef\xbb\xbf" + text.encode()))[0] == [[1.5, 2], [3, 4]]


def test_what_is_missing_is_zero_or_the_mean(file):
    path = file("a,b,y\n1,?,0\n,NA,1\n3,4,0\n")
    source = open_source(path)
    assert content(source)[0] == [[1, 0], [0, 0], [3, 4]]
    assert source.problems.missing == 3
    rows = content(open_source(path, features=FeatureOptions(standardise=True)))[0]
    assert np.allclose(rows, [[0, 0], [0, 0], [1, 0]])


@pytest.mark.parametrize(
    ("columns", "fault"),
    [({"u": "weight", "v": "weight"}, "several weights, u, v"), ({"y": "weight"}, "'y' is the label and cannot be")],
)
def test_one_column_is_the_weight_and_it_is_not_the_label(file, columns, fault):
    with pytest.raises(InvalidInput, match=fault):
        open_source([file("u,v,x,y\n1,2,3,a\n2,1,4,b\n")], columns=columns, label="y")


def test_weights_are_a_column(file):
    path = file("a,w,y\n1,2,0\n3,0.5,1\n5,-1,1\n")
    assert read(path, columns={"w": "weight"}, on_error="skip")[2] == [2, 0.5]
    with pytest.raises(InvalidInput, match="line 4: the weight is missing or negative"):
        read(path, columns={"w": "weight"})


def test_quotes_have_no_meaning_in_tsv(file):
    rows, labels, _ = read(file('a\tb\ty\n1\t"x\t0\n2\tz"\t1\n', "a.tsv"))
    assert labels == [0, 1]
    assert len(rows) == 2
    with pytest.raises(InvalidInput, match="columns="):
        read(file("a,y\n1,2\n"), columns={"b": "text"})
    with pytest.raises(InvalidInput, match="no column but the label"):
        read(file("y\n1\n2\n"))


def test_real_tables_are_read(real_data):
    for name, shape in {"sonar.csv": (208, 60), "wine.csv": (178, 13), "ionosphere.csv": (351, 34)}.items():
        (chunk,) = open_source(real_data / "uci" / name)
        assert chunk.table.shape == shape


def test_a_header_with_a_name_twice_is_told_and_not_read_as_a_row(tmp_path):
    (tmp_path / "a.csv").write_text("size,size,kind\n1,2,a\n3,4,b\n")
    with pytest.raises(InvalidInput, match="two columns with the same name: size, size, kind"):
        open_source(tmp_path / "a.csv")
    (tmp_path / "votes.csv").write_text("left,n,y,y\nright,y,y,n\nleft,n,n,y\n")  # no header, and values twice
    assert sum(chunk.label.size for chunk in open_source(tmp_path / "votes.csv", label=0)) == 3


@pytest.mark.parametrize("value", ["1,5", "-12,25", '"1,234"', '"1,234,567.5"'])
def test_numbers_with_commas_get_a_sentence(tmp_path, value):
    path = tmp_path / "data.csv"
    path.write_text(f"label;size;count\na;{value};1\nb;{value};2\n")
    with pytest.raises(InvalidInput, match="Column 'size' has numbers with commas"):
        open_source(path)
    assert open_source(path, columns={"size": "category"}).reading.columns[1].kind == "category"
    path.write_text(f"label;size;count\na;{value};1\nb;1,2,3;2\n")
    assert open_source(path).reading.columns[1].kind == "category"


STRAY_QUOTES = [
    b'a,b,y\n"1"x,"c\n"2,3,1\n4,5,0\n"6",7,1\n',
    b'a,b,y\n1,"x\n2,3,1\n4,"5",0\n',
    b'a,b,y\n1,2,3,"x\n5,6,1\n",0\n7,8,1\n',
    b'\xef\xbb\xbf"a\nb",c,y\n1,2,0\n3,4,1\n',
    b'\n\r\na,b,y\n1,2,0\n"3",4,1\n5,"6,1\n7,8,0',
]


@pytest.mark.parametrize("text", STRAY_QUOTES)
def test_rows_beside_stray_quotes_do_not_depend_on_the_blocks(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_bytes(text)
    options = {"format": "csv", "header": True, "label": "y", "columns": {0: "text", 1: "text"}, "on_error": "skip"}

    def everything(chunk_bytes):
        source = open_source(path, **options, chunk_bytes=chunk_bytes, threads=0)
        return content(source), source.problems

    expected = everything(1 << 20)
    assert expected[0][1]
    for chunk_bytes in range(1, len(text) + 2):
        assert everything(chunk_bytes) == expected


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="minutes long without compilation")
def test_one_stray_quote_in_a_large_file_costs_one_row(tmp_path):
    """It ran to the end of the file: 256 MB without a quote were refused, and 1.6 GB taken."""
    row, rows = b"0.123456789,1.987654321,-3.25,1\n", 600_000
    path = tmp_path / "a.csv"
    path.write_bytes(b'a,b,c,y\n1,"2,3,0\n' + row * rows)
    source = open_source(path, on_error="skip", columns={"b": "number"})
    assert sum(chunk.label.size for chunk in source) == rows
    assert source.problems.skipped == 1
    assert "line 2: '1,\"2,3,0' has a quote that is not closed" in source.problems.examples[0]
    with pytest.raises(InvalidInput, match=r"line 2: .* a quote that is not closed"):
        list(open_source(path, columns={"b": "number"}))


@pytest.mark.parametrize("text", STRAY_QUOTES)
def test_conversions_have_the_rows_that_are_trained_on(tmp_path, text):
    (tmp_path / "a.csv").write_bytes(text)
    options = {"header": True, "label": "y", "columns": {0: "text", 1: "text"}, "on_error": "skip"}
    source = open_source(tmp_path / "a.csv", **options)
    labels = content(source)[1]
    done = convert(tmp_path / "a.csv", tmp_path / "a.jsonl", **options)
    assert [json.loads(line)["y"] for line in (tmp_path / "a.jsonl").read_text().splitlines()] == labels
    assert done.skipped == source.problems.skipped


def test_decimal_commas_do_not_hide_the_delimiter(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("width;height;kind\n" + "".join(f"{k},5;{k % 3},25;{'xy'[k % 2]}\n" for k in range(20)))
    with pytest.raises(InvalidInput, match="Column 'width' has numbers with commas or other marks, as in '0,5'"):
        open_source(path)


FIELDS = st.one_of(st.text("ab 1.5é", max_size=6), st.text('a",\n;', max_size=6))

LONG = 1 << 20  # bytes within which quotes are closed


def split(text, width, quote=34):
    array = np.frombuffer(text, np.uint8)
    lines = text.count(b"\n")
    first, last = np.zeros((lines, width), np.int32), np.zeros((lines, width), np.int32)
    doubled, line = np.zeros((lines, width), np.uint8), np.zeros(lines, np.int32)
    rows, place, number, fault = delimited.split_fields(array, (0, 0, 0), 44, quote, LONG, first, last, doubled, line)
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
    assert fault == delimited.NO_FAULT
    assert place == len(text)
    assert [[part.decode() for part in row] for row in found] == expected
    array = np.frombuffer(text, np.uint8)
    assert delimited.last_record_end(array, 44, 34, LONG) == len(text)
    for cut in range(len(text)):  # wherever a block ends, whole records are cut off
        end = delimited.last_record_end(array[:cut], 44, 34, LONG)
        assert split(text[:end], len(rows[0]))[3] == delimited.NO_FAULT
        assert split(text[:end], len(rows[0]))[0] + split(text[end:], len(rows[0]))[0] == found


def ends_of_records(text, longest):
    """Give where each record ends, in all of a text."""
    array, ends = np.frombuffer(text, np.uint8), [0]
    while ends[-1] < len(text):
        ends.append(delimited._record_end(array, ends[-1], 44, 34, longest)[0])
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
        known = delimited.last_record_end(array[:cut], 44, 34, longest)
        assert known in ends
        # What is cut off at a record is read as it was; and what is not known yet is short.
        assert ends_of_records(text[:known], longest) == [end for end in ends if end <= known]
        assert cut - known <= longest + max(map(len, text.split(b"\n"))) + 2


def test_a_stray_quote_costs_its_own_line():
    text = b'1,"a\n2,b\n3,"c\nd"\n4,e"\n'
    assert ends_of_records(text, LONG) == [0, 5, 9, 17, 22]
    assert ends_of_records(text, 5) == [0, 5, 9, 14, 17, 22]


def test_faults_are_told_with_the_number_of_the_line():
    assert split(b'a,"x\ny"\n\r\nb,c\r\nd\n', 2)[1:] == (15, 4, delimited.TOO_FEW, [0, 3])
    assert split(b"a,b\nc,d,e\n", 2)[3] == delimited.TOO_MANY
    assert split(b'a,"b\n', 2)[3] == delimited.BAD_QUOTE
    assert split(b'a,"b"c\n', 2)[3] == delimited.BAD_QUOTE
    assert split(b'a,"b"c\n', 2, quote=-1)[0] == [[b"a", b'"b"c']]
    assert split(b'a,b"c"\n', 2)[0] == [[b"a", b'b"c"']]
