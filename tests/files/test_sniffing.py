"""Formats are recognised by name and content, quickly whatever the content."""

import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.files.opening import open_source
from rosenblatt.files.sniffing import format_by_name, label_type, recognise


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (b"+1 1:0.5 3:2\n-1 2:1 # c\n", "data", "svmlight"),
        (b"1 qid:3 1:0.5\n\n# nothing\n2 qid:4 1:1\n", "-", "svmlight"),
        (b"1:1 2:1\n3:1\n", "data", "svmlight"),
        (b"1 |a b c:2\n-1 2 'tag|x y\n", "data", "vw"),
        (b"| only features\n", "data.txt", "vw"),
        (b'{"label": 1}\n{"label": 2}\n', "data", "jsonl"),
        (b"spam\twin money now\nham\tsee you at noon\n", "SMSSpamCollection", "text"),
        (b"1\tsome words here\n0\tand more words\n", "imdb.tsv.gz", "text"),
        (b"a\tb\tc\n1\t2\t3\n", "data", "tsv"),
        (b"a\tb\tc\n1\t2\t3\n", "data.tsv", "tsv"),
        (b"a,b,c\n1,2,3\n", "data", "csv"),
        (b"1;2;3\n4;5;6\n", "data", "csv"),
        (b"anything", "data.csv.gz", "csv"),
        (b"1 1:1\n", "data.vw", "vw"),
        (b"1 1:1\n", "data.svmlight.bz2", "svmlight"),
        (b"PAR1xxx", "data", "parquet"),
        (b"ARROW1xxx", "data.csv", "arrow"),
    ],
)
def test_formats_are_recognised(content, name, expected):
    assert recognise(content, name) == expected


def test_quotes_between_tabs_mean_what_the_name_says(tmp_path):
    content = b'a\tb\ty\n1\t"x"\tno\n2\t"z"\tyes\n3\tx\tno\n'
    for name in ("a", "-"):
        with pytest.raises(InvalidInput, match="has fields in quotes between tabs"):
            recognise(content, name)
    assert [recognise(content, name) for name in ("a.tsv", "a.csv")] == ["tsv", "csv"]
    (tmp_path / "first.csv").write_bytes(b"a,b,y\n1,x,no\n2,z,yes\n")
    (tmp_path / "later").write_bytes(content)
    with pytest.raises(InvalidInput, match="has fields in quotes between tabs"):
        open_source([tmp_path / "first.csv", tmp_path / "later"])


def test_what_is_not_known_is_refused_with_its_start():
    with pytest.raises(InvalidInput, match=r"begins with b'just words', which looks like no format"):
        recognise(b"just words\nand more\n", "data")
    with pytest.raises(InvalidInput, match="has no rows"):
        recognise(b"\n\n", "data")


@pytest.mark.parametrize(
    "piece", [b"0", b"1 ", b"1:1 ", b"1.5e", b"'", b" ", b"a|", b"\t", b"{", b"1:1.", b"1 1 1 1", b"0:"]
)
def test_no_content_takes_time_beyond_its_length(piece):  # with nested repetitions this would not end
    for end in (b"", b"x", b"|", b":", b"#"):
        try:
            recognise(piece * (60_000 // len(piece)) + end + b"\n", "data")
        except InvalidInput:
            continue


def test_names_and_labels():
    assert (format_by_name("a/b.vw.gz"), format_by_name("a.b/c"), format_by_name("x.CSV")) == ("vw", None, "csv")
    assert label_type([b"1", b" -2.5", b""], "auto") == "number"
    assert label_type([b"1", b"x"], "auto") == "text"
    assert label_type([b"1"], "text") == "text"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,y\n1,0\n2,1\n".encode("utf-16"), "is text in UTF-16. Save it as UTF-8"),
        (b"a,y\r1,0\r2,1\r", "has lines that end in a carriage return alone."),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a"])
def test_texts_that_no_reader_takes_are_told(tmp_path, content, sentence, name):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=sentence):
        open_source(tmp_path / name)
