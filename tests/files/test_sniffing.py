"""Formats are recognised by name and content, quickly whatever the content."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import pytest

from rosenblatt import Perceptron, load_linear, save
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
    with pytest.raises(InvalidInput, match=r"begins with b'just words', which is not a format that is recognised"):
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
        ("a,y\n1,0\n2,1\n".encode("utf-16-be"), r"is text in UTF-16, .* iconv -f UTF-16BE"),
        ("a,y\n1,0\n2,1\n".encode("utf-32"), "is text in UTF-32. Save it as UTF-8"),
        (b"a,y\r1,0\r2,1\r", "has lines that end in a carriage return alone."),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a"])
def test_texts_that_no_reader_takes_are_told(tmp_path, content, sentence, name):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=sentence):
        open_source(tmp_path / name)


def zipped(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "a,b\n1,2\n")
    return file.getvalue()


def saved(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


OTHER_FILES = {
    "book.xlsx": (zipped("[Content_Types].xml", "xl/workbook.xml"), "is an Excel workbook .* Save the table as CSV"),
    "data.zip": (zipped("data.csv"), "is a zip archive, .* Unpack it"),
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "is an Excel workbook"),
    "a.npy": (saved(lambda file: np.save(file, np.zeros((3, 2)))), "is a NumPy array"),
    "a.npz": (saved(lambda file: np.savez(file, a=np.zeros(3))), "is a set of NumPy arrays"),
    "a.pkl": (pickle.dumps({"a": [1]}), "is a pickle"),
    "a.joblib": (pickle.dumps({"a": [1]}, protocol=2), "is a pickle"),
    "a.pdf": (b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n", "is a PDF document"),
    "a.png": (b"\x89PNG\r\n\x1a\n" + bytes(50), "is a picture"),
    "a.jpg": (b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(50), "is a picture"),
    "a.h5": (b"\x89HDF\r\n\x1a\n" + bytes(50), "is an HDF5 file"),
    "a.db": (b"SQLite format 3\x00" + bytes(50), "is an SQLite database"),
    "a.tar": (b"data.csv" + bytes(249) + b"ustar\x0000" + bytes(500), "is an archive"),
    "a.csv": (b"\n<!DOCTYPE html>\n<html><body>Sign in, please</body></html>\n", "is a web page .* may need a login"),
    "b.csv": (b"<?xml version='1.0'?>\n<rows a='1,2'/>\n", "is XML"),
    "c.csv": ("a,b,y\n1,2,0\n".encode("utf-16-le"), "is text in UTF-16"),
    "d.csv": ("a,b,y\n1,2,0\n".encode("utf-16"), "is text in UTF-16"),
    "e.csv": (bytes(range(256)) + bytes(256), "is a binary file"),
    "array.json": (b'[{"a": 1, "y": 0}, {"a": 2, "y": 1}]', "is one JSON array. Write an object on each line"),
    "array.jsonl": (b'[\n  {"a": 1, "y": 0},\n  {"a": 2, "y": 1}\n]\n', "is one JSON array"),
    "object.json": (b'{\n  "a": 1,\n  "y": 0\n}\n', "is one JSON object over several lines"),
}


@pytest.mark.parametrize("name", OTHER_FILES)
def test_other_files_are_called_what_they_are(tmp_path, name):
    content, sentence = OTHER_FILES[name]
    (tmp_path / name).write_bytes(content)
    for packed in (content, gzip.compress(content)):
        (tmp_path / name).write_bytes(packed)
        with pytest.raises(InvalidInput, match=f"{name} {sentence}"):
            open_source(tmp_path / name)


def test_models_are_no_data_and_data_no_models(tmp_path):
    model, data = tmp_path / "a.model", tmp_path / "a.csv"
    save(Perceptron().fit([[0, 1], [1, 0]], [0, 1]), model)
    data.write_text("a,b,y\n1,2,0\n3,4,1\n")
    with pytest.raises(InvalidInput, match=r"a.model is a model, which is not read here. Pass data files"):
        open_source(model)
    with pytest.raises(InvalidInput, match=r"a.csv cannot be loaded: it is a text file, and not a model of rosenblatt"):
        load_linear(data)
    for name, (content, _) in OTHER_FILES.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidInput, match=r"cannot be loaded: it is (a|no|text|XML)"):
            load_linear(tmp_path / name)
    model.write_bytes(model.read_bytes()[:100])
    with pytest.raises(InvalidInput, match="it is cut short"):
        load_linear(model)


def test_tables_that_begin_like_other_files_are_read(tmp_path):
    texts = ["BMW,1,2\nAudi,3,4\n", "pk,b,y\n1,2,0\n", "<b>,1\n<i>,2\n", "[a],1\n[b],2\n", "gif8,1\nx,2\n"]
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.csv"
        path.write_text(text)
        assert sum(chunk.label.size for chunk in open_source(path, header=False)) == 2
