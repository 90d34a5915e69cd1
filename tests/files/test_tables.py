"""Kinds of columns, files whose columns are found by name, and scaling on line."""

import gzip
import itertools
import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from attacks import fuzz_tables
from files.common import content, named, read
from rosenblatt.errors import InvalidInput
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions
from rosenblatt.files.tables import Scaler, Scaling, joined_texts, kind_of, label_column, scale_rows


def test_kinds_are_known_by_values():
    assert kind_of([1.0, None, 2.5]) == "number"
    assert kind_of(["red", "blue", None, 3.0]) == "category"
    assert kind_of(["hello big world", "some more words"]) == "text"
    assert kind_of([]) == "number"


def test_the_label_is_a_column_of_that_name_or_the_last():
    assert label_column(["a", "Class", "b"], None, "required") == 1
    assert label_column(["a", "b"], None, "required") == 1
    assert label_column(["a", "b"], None, "none") is None
    assert label_column(["a", "b"], "c", "optional") is None


def test_scaling_on_line_ends_with_means_and_deviations_of_all_rows():
    X = np.random.default_rng(0).standard_normal((100, 3)) * [1, 10, 0] + 5
    X[3, 0] = np.nan
    scaler = Scaler(3)
    parts = np.concatenate([scaler.scaled(X[:7]), scaler.scaled(X[7:])])
    assert (parts == Scaler(3).scaled(X)).all()
    mean, deviation = scaler.moments().scaling()
    np.testing.assert_allclose(mean, np.nanmean(X, axis=0))
    np.testing.assert_allclose(deviation, np.nanstd(X, axis=0), atol=1e-12)
    given = Scaler(3, Scaling((5, 5, 5), (1, 10, 0))).scaled(X)
    np.testing.assert_allclose(given[:, 1], (X[:, 1] - 5) / 10)
    assert (given[3, 0], given[0, 2]) == (0, 0)
    with pytest.raises(InvalidInput, match="scaling"):
        Scaler(2, Scaling((1.0,), (1.0,)))


def test_texts_are_joined_with_a_newline_after_each():
    text, start, end = joined_texts([b"ab", b"", b"c\nd"])
    assert [text[i:j].tobytes() for i, j in zip(start, end, strict=True)] == [b"ab", b"", b"c\nd"]
    assert (text[end] == 10).all()


# ------------------------------------------------------------------------------------------------------- several files

FRAME = pd.DataFrame({"a": [1.5, 2, 3, 4], "b": [5, 6, 7.25, 8], "c": [9, 10, 11, 12.5], "kind": list("xyxy")})
NUMBERS = FRAME[["a", "b", "c"]].to_numpy().tolist()


def write_csv(frame, path, **options):
    frame.to_csv(path, index=False, **options)


WAYS = {
    "csv": write_csv,
    "semicolons.csv": lambda frame, path: write_csv(frame, path, sep=";"),
    "bars.csv": lambda frame, path: write_csv(frame, path, sep="|"),
    "tsv": lambda frame, path: write_csv(frame, path, sep="\t"),
    "quoted.csv": lambda frame, path: write_csv(frame, path, quoting=1),
    "mark.csv": lambda frame, path: write_csv(frame, path, encoding="utf-8-sig"),
    "windows.csv": lambda frame, path: write_csv(frame, path, lineterminator="\r\n"),
    "csv.gz": write_csv,
    "spaces.csv": lambda frame, path: write_csv(frame.rename(columns=" {} ".format), path),
    "index.csv": lambda frame, path: frame.to_csv(path),
    "again.csv": lambda frame, path: write_csv(frame.reset_index(names="Unnamed: 0"), path),
    "comma.csv": lambda frame, path: path.write_text(frame.to_csv(index=False).replace("\n", ",\n")),
    "blank.csv": lambda frame, path: path.write_text("\n\n" + frame.to_csv(index=False)),
    "nothing": lambda frame, path: write_csv(frame, path),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
}
if find_spec("pyarrow"):  # pandas writes these by it, and it reads them
    WAYS |= {
        "parquet": lambda frame, path: frame.to_parquet(path),
        "index.parquet": lambda frame, path: frame.set_index(np.array([7, 3, 5, 1])[: len(frame)]).to_parquet(path),
        "feather": lambda frame, path: frame.reset_index(drop=True).to_feather(path),
    }


def ways(*names):
    """Give those of some ways for which everything is installed."""
    return pytest.mark.parametrize("way", [name for name in names if name in WAYS])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("chunk_bytes", [1, 1 << 20])
def test_every_file_is_mapped_by_its_own_names(tmp_path, way, chunk_bytes):
    """Where two files had their columns in different orders, the second one was read by position."""
    write_csv(FRAME[:2], tmp_path / "first.csv")
    for order in itertools.permutations(FRAME.columns):
        WAYS[way](FRAME[2:][list(order)].reset_index(drop=True), tmp_path / f"second.{way}")
        paths = [tmp_path / "first.csv", tmp_path / f"second.{way}"]
        source = open_source(paths, chunk_bytes=chunk_bytes)
        assert content(source)[:2] == (NUMBERS, list("xyxy"))
        assert (source.names, source.file_rows) == (("a", "b", "c"), [2, 2])
        assert read(paths[1], reading=source.reading) == (NUMBERS[2:], list("xy"), [1, 1])


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("jsonl", "nothing")])
def test_what_pandas_writes_is_a_table_of_its_columns(tmp_path, way):
    path = tmp_path / f"table.{way}"
    WAYS[way](FRAME, path)
    for options in ({}, {"label": "kind"}):
        source = open_source(path, **options)
        assert source.names == ("a", "b", "c")
        assert content(source)[:2] == (NUMBERS, list("xyxy"))
        pointed_out = [note for note in source.problems.notes if "index of a frame" in note]
        assert len(pointed_out) == (way in ("index.csv", "again.csv", "index.parquet"))
    if way == "index.csv":
        assert read(path, columns={0: "number"})[0] == [[k, *row] for k, row in enumerate(NUMBERS)]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("label", ["kind", 3])
def test_columns_with_numbers_for_names_are_no_row(tmp_path, index, label):
    frame = FRAME.set_axis([0, 1, 2, label], axis=1)
    frame.to_csv(tmp_path / "a.csv", index=index)
    source = open_source(tmp_path / "a.csv")
    assert source.names == ("0", "1", "2")
    assert content(source)[:2] == (NUMBERS, list("xyxy"))


@pytest.mark.parametrize("commas", [",", ",,,"])
@pytest.mark.parametrize("header", [False, True])
def test_commas_at_the_end_of_each_line_are_no_columns(tmp_path, commas, header):
    write_csv(FRAME, tmp_path / "a.csv", header=header)
    write_csv(FRAME, tmp_path / "plain.csv", header=header)
    (tmp_path / "a.csv").write_text((tmp_path / "a.csv").read_text().replace("\n", f"{commas}\n"))
    assert read(tmp_path / "a.csv")[:2] == (NUMBERS, list("xyxy"))
    if header:
        assert read([tmp_path / "plain.csv", tmp_path / "a.csv"])[:2] == (NUMBERS * 2, list("xyxy") * 2)


def test_a_first_line_that_may_be_names_or_a_row_is_asked_for(tmp_path):
    path = tmp_path / "a.csv"
    for text in ("0,1,2\n3,1,0\n4,2,1\n", "0,1,a\n2,3,b\n", "0,kind\n1,a\n"):
        path.write_text(text)
        with pytest.raises(InvalidInput, match=r"a\.csv, line 1: .* may be names of columns, or a row. Pass --header"):
            open_source(path)
        rows = text.count("\n")
        assert [len(read(path, header=header)[1]) for header in (False, True)] == [rows, rows - 1]
    for text in ("0,1\n1,0\n0,0\n", "1,2,3\n4,5,6\n", "0,2,1\n5,3,1\n", "0,1,a\n2,3,a\n4,5,b\n"):
        path.write_text(text)
        assert len(read(path)[1]) == text.count("\n")


LATER = {
    "renamed": (FRAME.rename(columns={"b": "beta"}), r"has no column b, which .* has\. It has columns that .*: beta\."),
    "narrow": (FRAME.drop(columns=["a", "c"]), r"has no column a, c, which"),
    "wide": (FRAME.assign(d=1, e=2), r"has columns that .* does not have: d, e\."),
    "without labels": (FRAME.drop(columns="kind"), r"has no column kind"),
}


@pytest.mark.parametrize("fault", LATER)
@ways("csv", "semicolons.csv", "tsv", "jsonl", "parquet", "feather")
def test_a_later_file_that_does_not_fit_is_an_error_that_lists_why(tmp_path, fault, way):
    frame, sentence = LATER[fault]
    write_csv(FRAME, tmp_path / "first.csv")
    WAYS[way](frame, tmp_path / f"later.{way}")
    with pytest.raises(InvalidInput, match=rf"later\.{way} {sentence}"):
        open_source([tmp_path / "first.csv", tmp_path / f"later.{way}"])


def test_new_columns_of_later_files_are_skipped_if_users_say_so(tmp_path):
    write_csv(FRAME, tmp_path / "first.csv")
    write_csv(FRAME.assign(d="x", e=2)[["e", "d", "kind", "a", "c", "b"]], tmp_path / "later.csv")
    paths = [tmp_path / "first.csv", tmp_path / "later.csv"]
    source = open_source(paths, columns={"d": "skip", "e": "skip"})
    assert content(source)[0] == NUMBERS * 2
    assert read(paths[0], reading=source.reading)[0] == NUMBERS
    with pytest.raises(InvalidInput, match=r"columns='d' .* they are a, b, c, kind"):
        open_source(paths, columns={"d": "number"})


def test_a_later_file_is_not_dropped(tmp_path):
    """Every record that did not fit counted as the header, as long as no row was read."""
    write_csv(FRAME, tmp_path / "first.csv")
    later = tmp_path / "later.csv"
    write_csv(FRAME, later, header=False)
    with pytest.raises(InvalidInput, match=r"later\.csv, line 1: the file has no column names.* \(a, b, c, kind\)"):
        open_source([tmp_path / "first.csv", later])
    with pytest.raises(InvalidInput, match=r"first\.csv, line 1: the file has column names \(a, b, c, kind\)"):
        open_source([later, tmp_path / "first.csv"])
    later.write_text("a,b,c,kind\n1,2,3\n4,5,6\n")
    with pytest.raises(InvalidInput, match=r"later\.csv, line 2: '1,2,3' has fewer than 4 fields"):
        read([tmp_path / "first.csv", later])
    (tmp_path / "later.svm").write_text("1 1:2\n0 2:1\n")
    with pytest.raises(InvalidInput, match=r"later\.svm is svmlight, and the files before are tables"):
        open_source([tmp_path / "first.csv", tmp_path / "later.svm"])
    with pytest.raises(InvalidInput, match=r"first\.csv is csv, and .*later\.svm is svmlight"):
        open_source([tmp_path / "later.svm", tmp_path / "first.csv"])
    later.write_text("")
    source = open_source([tmp_path / "first.csv", later])
    assert content(source)[0] == NUMBERS
    assert source.file_rows == [4, 0]
    for header in (True, False):
        write_csv(FRAME, tmp_path / "first.csv", header=header)
        reading = open_source(tmp_path / "first.csv").reading
        assert read(later, reading=reading) == ([], [], [])


def test_files_without_names_must_have_as_many_columns(tmp_path):
    for name, columns in {"one": "abc", "two": "ab"}.items():
        write_csv(FRAME[list(columns)], tmp_path / f"{name}.csv", header=False)
    with pytest.raises(InvalidInput, match=r"two\.csv, line 1: there are 2 fields, and .*one\.csv has 3 columns"):
        open_source([tmp_path / "one.csv", tmp_path / "two.csv"])


def test_a_model_leaves_out_what_it_does_not_know(tmp_path):
    write_csv(FRAME, tmp_path / "first.csv")
    reading = open_source(tmp_path / "first.csv").reading
    write_csv(FRAME[["c", "a", "b"]].assign(new=1), tmp_path / "later.csv", sep=";")
    source = open_source(tmp_path / "later.csv", reading=reading, labels="optional")
    assert content(source)[0] == NUMBERS
    assert source.problems.notes == (
        f"{tmp_path / 'later.csv'}: the columns new are not known to the model, and are left out.",
    )
    with pytest.raises(InvalidInput, match="has no column kind, which the model has"):
        open_source(tmp_path / "later.csv", reading=reading)


def test_json_objects_need_not_have_every_name_but_a_name_that_all_have(tmp_path):
    for name, records in {
        "one": [{"y": 0, "a": 1, "b": 2}, {"y": 1, "a": 3}],
        "two": [{"y": 0, "a": 1, "c": 2}, {"y": 1, "a": 3}],
        "renamed": [{"y": 0, "alpha": 1}, {"y": 1, "alpha": 3}],
    }.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    named_rows = FeatureOptions(dictionary=True)
    source = open_source([tmp_path / "one.jsonl", tmp_path / "two.jsonl"], features=named_rows)
    assert named(source) == [{"a": 1, "b": 2}, {"a": 3}, {"a": 1, "c": 2}, {"a": 3}]
    with pytest.raises(InvalidInput, match=r"renamed\.jsonl has no column a, .* does not have: alpha"):
        open_source([tmp_path / "one.jsonl", tmp_path / "renamed.jsonl"])


def test_weights_of_later_files_are_not_lost(tmp_path):
    write_csv(FRAME.rename(columns={"c": "w"}), tmp_path / "first.csv")
    write_csv(FRAME.drop(columns="c"), tmp_path / "later.csv")
    paths = [tmp_path / "first.csv", tmp_path / "later.csv"]
    with pytest.raises(InvalidInput, match="has no column w"):
        open_source(paths, columns={"w": "weight"})


def test_a_name_that_is_there_twice_is_refused_in_every_format(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "a.csv").write_text("a,b,a,y\n1,2,3,0\n4,5,6,1\n")
    (tmp_path / "a.jsonl").write_text('{"a": 1, "y": 0}\n{"a": 1, "b": 2, "a": 3, "y": 0}\n')
    table = pyarrow.Table.from_arrays([pyarrow.array([1, 2])] * 3, names=["a", "b", "a"])
    parquet.write_table(table, tmp_path / "a.parquet")
    write_csv(FRAME, tmp_path / "first.csv")
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        for paths in ([tmp_path / name], [tmp_path / "first.csv", tmp_path / name]):
            with pytest.raises(
                InvalidInput, match=r"two columns with the same name|line 2: a name is there twice: a, b, a, y"
            ):
                open_source(paths)


def test_files_without_columns_are_not_refused_for_looking_like_nothing(tmp_path):
    (tmp_path / "a").write_text("1 1:2\n0 2:1\n" * 10)
    (tmp_path / "b").write_text("1\n0\n")
    assert open_source([tmp_path / "a", tmp_path / "b"]).reading.format == "svmlight"
    assert len(read([tmp_path / "a", tmp_path / "b"])[1]) == 22
    (tmp_path / "c").write_text("spam\tmany words are here\nham\tand here too\n")
    (tmp_path / "d").write_text("spam\tfew\nham\ttoo\n")
    assert len(read([tmp_path / "c", tmp_path / "d"])[1]) == 4
    (tmp_path / "e").write_text("a\tb\ty\n1\t2\t0\n")
    with pytest.raises(InvalidInput, match=r"e is tsv, and .*c is text"):
        open_source([tmp_path / "c", tmp_path / "e"])


# --------------------------------------------------------------------------------------------------- words and numbers


@ways("csv", "jsonl", "parquet")
def test_a_word_among_numbers_is_pointed_out(tmp_path, way):
    path = tmp_path / f"table.{way}"
    column = [1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    frame = pd.DataFrame({"a": [str(value) for value in column] if way == "parquet" else column, "y": [0, 1] * 5})
    frame["a"] = frame["a"].astype(object)
    frame.loc[3, "a"] = "unknown"
    WAYS[way](frame, path)
    line = 5 if way == "csv" else 4
    with pytest.raises(InvalidInput, match=rf"table\.{way}, line {line}: 'unknown' in column 'a' is not a number"):
        open_source(path)
    assert open_source(path, columns={"a": "category"}).reading.columns[0].kind == "category"
    assert len(read(path, on_error="skip")[1]) == 9
    frame.loc[:2, "a"] = "low"  # words are many: they may be meant
    WAYS[way](frame, path)
    source = open_source(path)
    assert source.reading.columns[0].kind == "category"
    assert "'low' in column 'a' is not a number, as most are" in source.problems.notes[0]


def test_a_word_among_labels_that_are_numbers_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n" + "1,0\n2,1\n" * 10 + "3,oops\n")
    with pytest.raises(InvalidInput, match=r"a\.csv, line 22: 'oops' in column 'y', which has the labels"):
        open_source(tmp_path / "a.csv")
    assert set(read(tmp_path / "a.csv", label_type="text")[1]) == {"0", "1", "oops"}
    assert len(read(tmp_path / "a.csv", on_error="skip")[1]) == 20


def test_the_first_rows_of_all_files_decide_what_columns_are(tmp_path):
    whole = pd.DataFrame(
        {"t": ["two words", "many words are in this", "and in this one too"], "n": [1, 2, 3], "y": [0, 1, 0]}
    )
    write_csv(whole, tmp_path / "whole.csv")
    write_csv(whole[:1], tmp_path / "one.csv")
    write_csv(whole[1:], tmp_path / "two.csv")
    assert read([tmp_path / "one.csv", tmp_path / "two.csv"]) == read(tmp_path / "whole.csv")


@pytest.mark.parametrize("label", ["missing", 9])
def test_a_label_that_is_not_there_is_told_with_the_columns(tmp_path, label):
    write_csv(FRAME, tmp_path / "a.csv")
    with pytest.raises(InvalidInput, match=r"a, b, c, kind|position from -4 to 3"):
        open_source(tmp_path / "a.csv", label=label)


def test_a_number_that_is_a_name_and_another_position_is_asked_for(tmp_path):
    FRAME.set_axis([0, 1, 2, 3], axis=1).to_csv(tmp_path / "a.csv")
    with pytest.raises(InvalidInput, match="it is the name of one and the position of another; -1 is the first"):
        open_source(tmp_path / "a.csv", label=3)
    assert read(tmp_path / "a.csv", label=-1)[1] == read(tmp_path / "a.csv", label="3")[1] == list("xyxy")


# ----------------------------------------------------------------------------------------------- the same in any format


def test_quotes_in_a_field_are_there_once_however_they_are_written(tmp_path):
    values = ['say "hi"', '"', 'a""b', "plain"]
    frame = pd.DataFrame({"c": values, "n": range(4), "y": ['"a"', "b", '"a"', "b"]})
    options = {"features": FeatureOptions(dictionary=True)}
    expected = None
    for way in {"csv", "quoted.csv", "jsonl", "parquet"} & WAYS.keys():
        WAYS[way](frame, tmp_path / f"a.{way}")
        source = open_source(tmp_path / f"a.{way}", **options)
        found = named(source), content(source)[1]
        assert expected is None or found == expected
        expected = found
    assert expected[1] == ['"a"', "b", '"a"', "b"]
    assert [name for row in expected[0] for name in row if name.startswith("c=")] == [f"c={value}" for value in values]


def test_files_of_two_encodings_are_refused_and_one_of_another_is_noted(tmp_path):
    text = "colour,n,y\ngrün,1,0\nrot,2,1\n"
    (tmp_path / "utf-8.csv").write_bytes(text.encode())
    (tmp_path / "latin.csv").write_bytes(text.encode("latin-1"))
    WAYS["jsonl"](pd.DataFrame({"colour": ["rot"], "n": [1], "y": [0]}), tmp_path / "b.jsonl")
    for other in ("utf-8.csv", "b.jsonl"):
        for paths in itertools.permutations([tmp_path / "latin.csv", tmp_path / other]):
            with pytest.raises(InvalidInput, match=r"latin\.csv is not UTF-8, and .* is\. Convert it"):
                read(list(paths))
    latin, utf8 = tmp_path / "latin.svm", tmp_path / "utf-8.svm"
    latin.write_bytes("1 1:2 # grün\n".encode("latin-1"))  # comments are no words
    utf8.write_bytes("0 2:1 # grün\n".encode())
    assert read([latin, utf8])[1] == [1, 0]
    source = open_source(tmp_path / "latin.csv")
    assert len(content(source)[1]) == 2
    assert "latin.csv is not UTF-8" in source.problems.notes[0]


def test_the_cache_knows_the_layout_of_every_file(tmp_path):
    write_csv(FRAME, tmp_path / "a.csv")
    write_csv(FRAME[["kind", "c", "b", "a"]], tmp_path / "b.csv")
    paths, options = [tmp_path / "a.csv", tmp_path / "b.csv"], {"cache": tmp_path / "cache"}
    first = open_source(paths, **options)
    assert content(first)[0] == NUMBERS + NUMBERS
    again = open_source(paths, **options)
    assert again.cached
    assert content(again)[0] == NUMBERS + NUMBERS
    assert again.file_rows == [4, 4]
    (tmp_path / "b.csv").write_bytes(gzip.compress((tmp_path / "b.csv").read_bytes()))
    assert not open_source(paths, **options).cached


@pytest.mark.parametrize("trained", ["utf-8", "latin-1"])
def test_text_in_another_encoding_than_that_of_the_training_is_refused(tmp_path, trained):
    """A model of words in Latin-1 took the same words in UTF-8 for others, and evaluated labels as unknown ones."""
    other = {"utf-8": "latin-1", "latin-1": "utf-8"}[trained]
    for encoding in (trained, other):
        (tmp_path / encoding).write_text("a,k,y\n1,größer,1\n2,klein,0\n", encoding=encoding)
    first = open_source(tmp_path / trained, format="csv")
    assert first.utf8 is None
    rows = read(tmp_path / trained, format="csv")
    assert content(first) == rows
    assert first.utf8 is (trained == "utf-8")
    like = {"reading": first.reading, "utf8": first.utf8}
    assert read(tmp_path / trained, **like) == rows
    with pytest.raises(InvalidInput, match=r"is (not )?UTF-8, and the text of the training is( not)?[.:]"):
        read(tmp_path / other, **like)
    (tmp_path / "ascii").write_text("a,k,y\n1,big,1\n2,klein,0\n")
    assert read(tmp_path / "ascii", **like) == read(tmp_path / "ascii", reading=first.reading)


def test_the_encoding_is_found_where_the_last_rows_do_not_show_it(tmp_path):
    (tmp_path / "a.csv").write_text("a,k,y\n1,größer,1\n2,klein,0\n", encoding="latin-1")
    source = open_source(tmp_path / "a.csv", chunk_bytes=1)
    place = next(iter(open_source(tmp_path / "a.csv", chunk_bytes=1))).after
    assert len(content(source.read(place))[1]) == 1
    assert source.utf8 is None
    source.find_encoding()
    assert source.utf8 is False


def of_two_files(tmp_path, first, second, formats=("csv", "csv"), **options):
    paths = [tmp_path / f"{k}.{format}" for k, format in enumerate(formats)]
    for path, frame in zip(paths, (first, second), strict=True):
        write = {"csv": write_csv, "parquet": pd.DataFrame.to_parquet}[path.suffix[1:]]
        write(frame, path)
    source = open_source(paths, **options)
    return content(source)[1], source


@pytest.mark.parametrize("words", [["no", "yes"], ["False", "True"]])
@pytest.mark.parametrize("swapped", [False, True])
def test_labels_that_are_numbers_in_one_file_and_words_in_another_are_refused(tmp_path, words, swapped):
    """They became four classes."""
    other = FRAME.assign(kind=[words[k % 2] for k in range(len(FRAME))])
    numbers = FRAME.assign(kind=np.arange(len(FRAME)) % 2)
    files = [other, numbers] if swapped else [numbers, other]
    with pytest.raises(
        InvalidInput, match=r"is not a number, as those in .* are\. Write the labels of all files alike"
    ):
        of_two_files(tmp_path, *files, label="kind")
    labels, _ = of_two_files(tmp_path, *files, label="kind", label_type="text")
    assert set(labels) == {"0", "1", *words}


@pytest.mark.skipif(not find_spec("pyarrow"), reason="pyarrow is not installed")
def test_truth_values_are_labels_in_every_format(tmp_path):
    truth = FRAME.assign(kind=np.arange(len(FRAME)) % 2 == 1)
    assert set(of_two_files(tmp_path, truth, truth, ("parquet", "csv"), label="kind")[0]) == {"False", "True"}
    words = truth.assign(kind=np.where(truth.kind, "yes", "no"))
    numbers = truth.assign(kind=truth.kind.astype(int))
    assert set(of_two_files(tmp_path, truth, numbers, ("parquet", "csv"), label="kind")[0]) == {0, 1}
    for first, second in [(truth, words), (numbers, truth)]:
        with pytest.raises(InvalidInput, match="Write the labels of all files alike"):
            of_two_files(tmp_path, first, second, ("parquet", "csv"), label="kind")


def test_a_column_of_numbers_in_one_file_and_words_in_another_is_noted(tmp_path):
    words = pd.concat([FRAME] * 4).assign(b="low")
    _, source = of_two_files(tmp_path, FRAME, words, label="kind")
    assert any("'low' in column 'b' is not a number, as all in" in note for note in source.problems.notes)


@pytest.mark.parametrize(
    "number", ["0,{}", "1.234,{}", "1 23{}", "1'23{}", "1_00{}", "'{}'", "-$-{}", "1,2{}", "12,3{}"]
)
def test_numbers_with_marks_that_may_mean_two_things_are_refused(tmp_path, number):
    write_csv(FRAME.assign(b=[number.format(k % 10) for k in range(len(FRAME))]), tmp_path / "a.csv")
    with pytest.raises(InvalidInput, match="Column 'b' has numbers with commas or other marks, as in"):
        open_source(tmp_path / "a.csv", label="kind")
    assert open_source(tmp_path / "a.csv", label="kind", columns={"b": "category"})


AMOUNTS = {
    "1,23{}.5": 1230.5,
    "12,34{}": 12340,
    "{}%": 0,
    "{} %": 0,
    "${}": 0,
    "-${}": 0,
    "$-{}.25": -0.25,
    "{} €": 0,
    "\u2212{}.5": -0.5,
    "$1,000,00{}.50": 1000000.5,
}


@pytest.mark.parametrize(("text", "first"), AMOUNTS.items())
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", *["parquet"] * bool(find_spec("pyarrow"))])
def test_money_percent_and_thousands_are_read_as_numbers(tmp_path, text, first, ending):
    amounts = FRAME.assign(b=[text.format(k) for k in range(len(FRAME))])
    sign = -1 if set("-\u2212") & set(text) else 1
    plain = FRAME.assign(b=[float(first + sign * k) for k in range(len(FRAME))])
    write = {
        "csv": write_csv,
        "tsv": lambda frame, path: write_csv(frame, path, sep="\t"),
        "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
        "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    }[ending]
    for frame, name in ((amounts, "amounts"), (plain, "plain")):
        write(frame, tmp_path / f"{name}.{ending}")
    source = open_source(tmp_path / f"amounts.{ending}", label="kind")
    assert content(source) == read(tmp_path / f"plain.{ending}", label="kind")
    assert ["in column 'b' is read as the number" in note for note in source.problems.notes] == [True]


@pytest.mark.parametrize("values", [(1.0, 2.0, 1e200), (1e200, -1e200, 1.0), (1.7e308, -1.7e308, 1.0)])
def test_a_number_whose_deviation_overflows_is_refused_and_does_not_erase_its_column(tmp_path, values):
    (tmp_path / "a.csv").write_text("a,b,y\n" + "".join(f"{value},{k},{k % 2}\n" for k, value in enumerate(values)))
    with pytest.raises(InvalidInput, match=r"line \d: the values are so large that their squares overflow"):
        list(open_source(tmp_path / "a.csv", learns=True))


def test_commas_between_semicolons_may_be_decimal_ones_and_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a;b;y\n" + "".join(f"{k};1,23{k};{k % 2}\n" for k in range(10)))
    with pytest.raises(InvalidInput, match="Column 'b' has numbers with commas"):
        open_source(tmp_path / "a.csv")


def test_quotes_of_pandas_between_tabs_are_refused_or_noted(tmp_path):
    path = tmp_path / "a.tsv"
    write_csv(FRAME, path, sep="\t", quoting=1)
    with pytest.raises(InvalidInput, match="Quotes belong to the fields of TSV: pass --format csv if they do not"):
        open_source(path)
    assert len(read(path, format="csv", label="kind")[1]) == len(FRAME)
    path.write_text('a\tk\ty\n1\t"say ""hi"""\t0\n2\tb\t1\n')
    assert "line 2: the quotes of" in open_source(path).problems.notes[0]
    assert not open_source(path, format="csv").problems.notes
    path.write_text('a\tk\ty\n1\tsay "hi"\t0\n2\tb\t1\n')
    assert not open_source(path).problems.notes


def test_dates_are_noted_and_written_in_one_way(tmp_path):
    days = FRAME.assign(b=pd.date_range("2020-01-01", periods=len(FRAME)))
    _, source = of_two_files(tmp_path, days, days, label="kind")
    assert ["has dates; it is read as a category" in note for note in source.problems.notes] == [True]
    hours = FRAME.assign(b=pd.date_range("2020-01-01", periods=len(FRAME), freq="h"))
    with pytest.raises(InvalidInput, match=r"has dates in two ways.* '2020-01-01' in .*, and '2020-01-01 00:00:00' in"):
        of_two_files(tmp_path, days, hours, label="kind")


@pytest.mark.skipif(not find_spec("pyarrow"), reason="pyarrow is not installed")
def test_an_index_with_a_name_is_noted(tmp_path):
    frame = FRAME.set_index(pd.Index([7, 3, 5, 4], name="id"))
    frame.to_parquet(tmp_path / "a.parquet")
    assert "column 'id' was the index of a frame" in open_source(tmp_path / "a.parquet", label="kind").problems.notes[0]
    assert not open_source(tmp_path / "a.parquet", label="kind", columns={"id": "skip"}).problems.notes
    assert not open_source(tmp_path / "a.parquet", label="id").problems.notes


@pytest.mark.parametrize(
    ("name", "encoding", "why"),
    [("gro\u0308ße", "utf-8", "has other code points there"), ("größe", "latin-1", "Not all of these names are UTF-8")],
)
def test_names_that_look_alike_are_told_apart(tmp_path, name, encoding, why):
    write_csv(FRAME.rename(columns={"a": "größe"}), tmp_path / "1.csv")
    write_csv(FRAME.rename(columns={"a": name}), tmp_path / "2.csv", encoding=encoding)
    with pytest.raises(InvalidInput, match=why):
        open_source([tmp_path / "1.csv", tmp_path / "2.csv"], label="kind")


def test_the_same_rows_in_several_files_give_the_same_results():
    """A small share of `make fuzz`, which tries 20,000 sets."""
    outcomes, differences = fuzz_tables.main(60, 7, report=lambda text: None)
    assert not differences
    assert outcomes["train: the same"] > 30
    assert outcomes["train: refused with a fault"] > 5


def test_reading_goes_on_in_files_of_different_layouts(tmp_path):
    paths = []
    fourth = "parquet" if "parquet" in WAYS else "csv.gz"
    for k, way in enumerate(["csv", "semicolons.csv", "index.csv", "jsonl", fourth, "tsv", "blank.csv"]):
        order = list(FRAME.columns[k % 4 :]) + list(FRAME.columns[: k % 4])
        paths.append(tmp_path / f"{k}.{way}")
        WAYS[way](FRAME[order], paths[-1])
    options = {"chunk_bytes": 20, "label": "kind"}
    expected = content(open_source(paths, **options))
    assert expected[0] == NUMBERS * 7
    for chunk in open_source(paths, **options):
        rest = content(open_source(paths, **options).read(chunk.after))
        assert [part[chunk.after.row :] for part in expected] == list(rest)
    faulty = (tmp_path / "6.blank.csv").read_text().replace("7.25", "x")
    (tmp_path / "6.blank.csv").write_text(faulty)
    with pytest.raises(InvalidInput, match=r"6\.blank\.csv, line 6: 'x' in column 'b' is not a finite number"):
        content(open_source(paths, columns={"b": "number"}, **options))


def test_rows_are_scaled_by_the_rows_up_to_them():
    X = np.random.default_rng(0).standard_normal((50, 3)) * [1, 5, 0] + [0, 100, 7]
    missing = np.random.default_rng(1).random((50, 3)) < 0.2
    count, mean, squares = np.zeros((3, 3))
    out = np.empty_like(X)
    scale_rows(X, missing, count, mean, squares, out)
    for i in range(50):
        for j in range(3):
            known = X[: i + 1, j][~missing[: i + 1, j]]
            deviation = known.std() if known.size else 0.0
            scaled = (X[i, j] - known.mean()) / deviation if deviation > 1e-9 and not missing[i, j] else 0.0
            assert abs(out[i, j] - scaled) < 1e-9
