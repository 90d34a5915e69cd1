"""Names of hashed features: in a row, and at the start of files."""

import csv
import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from files.common import content
from oracles.features import category_column, cross_column, grams, murmur, number_column
from rosenblatt.errors import InvalidInput
from rosenblatt.files.names import ENTRIES_PER_NAME, KeptNames, NameTable, is_hashed
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions

BITS = 5  # so that names share columns
TABLES = ("csv", "jsonl", "parquet", "arrow")
KINDS = {"age": "number", "colour": "category", "text": "text"}

texts = st.lists(st.sampled_from(["free", "prize", "a", "I", "Straße", "noon", "_x", "9"]), max_size=8).map(" ".join)
rows_of_tables = st.lists(
    st.fixed_dictionaries(
        {
            "label": st.sampled_from(["yes", "no"]),
            "age": st.sampled_from([0.0, 1.0, -2.5, 40.0]),
            "colour": st.sampled_from(["red", "green", "light blue"]),
            "text": texts,
        }
    ),
    min_size=1,
    max_size=6,
)


def names_in(row, letters=None):
    """Return the column of each name in a row of a table, by the rules of the documentation."""
    found = {"age": number_column("age", BITS)} if row["age"] else {}
    found[f"colour={row['colour']}"] = category_column("colour", row["colour"], BITS)
    seed = murmur(b"text")
    of_words, of_letters = grams(row["text"].encode(), letter_range=letters)
    found |= {f"text={word.decode()}": murmur(word, seed) % (1 << BITS) for word in of_words}
    seed = murmur(b"letters", seed)
    return found | {f"text=~{gram.decode()}": murmur(gram, seed) % (1 << BITS) for gram in of_letters}


def by_column(names):
    found = {}
    for name, column in names.items():
        found.setdefault(column, set()).add(name)
    return found


def written(folder, form, rows):
    path = folder / f"rows.{form}"
    if form == "csv":
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pyarrow.Table.from_pylist(rows)
        if form == "parquet":
            parquet.write_table(table, path)
        else:
            with pyarrow.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
    return path


def opened(path, **options):
    options.setdefault("columns", KINDS)
    return open_source([path], label="label", named=True, **options)


def found_in(source):
    """Return the names of each row by column, without the bars between them."""
    return [
        {column: set(names.split("|")) for column, names in chunk.named.row(i).items()}
        for chunk in source
        for i in range(chunk.label.size)
    ]


@settings(max_examples=25, deadline=None)
@given(rows=rows_of_tables, letters=st.sampled_from([None, (2, 3)]))
def test_the_names_of_a_row_are_those_that_its_columns_are_the_hashes_of(tmp_path_factory, rows, letters):
    folder = tmp_path_factory.mktemp("names")
    features = FeatureOptions(bits=BITS, letters=letters)
    expected = [by_column(names_in(row, letters)) for row in rows]
    for form in TABLES:
        path = written(folder, form, rows)
        for own, found in zip(expected, found_in(opened(path, features=features)), strict=True):
            # A zero has a name and no entry.
            assert {column: names - {"age"} for column, names in found.items() if names != {"age"}} == {
                column: names - {"age"} for column, names in own.items() if names != {"age"}
            }
            assert all("age" in found[column] for column, names in own.items() if "age" in names)
        plain = open_source([path], label="label", columns=KINDS, features=features)
        assert content(opened(path, features=features)) == content(plain)


def vw_column(space, feature, bits=BITS):
    """Return the column of a feature, by Vowpal Wabbit's rules: numbers are added to the hash of the namespace."""
    seed = 0 if not space else int(space) if space.isdigit() else murmur(space.encode())
    name, colon, text = feature.partition(":")
    hashed = seed + int(name) if name.isdigit() else murmur(name.encode(), seed)
    return (murmur(text.encode(), hashed % 2**32) if colon else hashed) % (1 << bits)


def test_the_names_of_vowpal_wabbits_features_are_those_that_its_columns_are_the_hashes_of(tmp_path):
    path = tmp_path / "some.vw"
    path.write_text("1 |a x y:2 7 | z q^r |3 x\n-1 |a 12 city:Bern |b x:0 z:0.5\n1 | |b :3 :4\n")
    expected = [
        {
            "a^x": ("a", "x"),
            "a^y": ("a", "y"),
            "a^7": ("a", "7"),
            "^z": ("", "z"),
            "^q^r": ("", "q^r"),
            "3^x": ("3", "x"),
        },
        {"a^12": ("a", "12"), "a^city:Bern": ("a", "city:Bern"), "b^z": ("b", "z")},
        {"b^0": ("b", "0"), "b^1": ("b", "1")},
    ]
    source = open_source([path], named=True, features=FeatureOptions(bits=BITS))
    columns = [{name: vw_column(*parts) for name, parts in row.items()} for row in expected]
    assert found_in(source) == [by_column(row) for row in columns]
    plain = open_source([path], features=FeatureOptions(bits=BITS))
    assert content(source) == content(plain)


def test_crosses_are_named_like_those_of_a_dictionary(tmp_path):
    rows = [
        {"label": "yes", "age": 3.0, "colour": "red", "text": "b a c"},
        {"label": "no", "age": 0.0, "colour": "blue", "text": "c"},
    ]
    path = written(tmp_path, "csv", rows)
    crosses = ("colour*age", "text*text", "colour*text*text")
    exact = open_source(
        [path], label="label", columns=KINDS, features=FeatureOptions(bits=18, dictionary=True, cross=crosses)
    )
    expected = [{exact.names[column] for column, _ in row} for row in content(exact)[0]]
    source = opened(path, features=FeatureOptions(bits=18, cross=crosses))
    for own, found, (row, _) in zip(
        expected, found_in(source), zip(content(source)[0], rows, strict=True), strict=True
    ):
        assert {name for column, _ in row for name in found[column]} == own
    red, three = category_column("colour", "red"), number_column("age")
    assert found_in(source)[0][cross_column([red, three])] == {"colour=red*age"}


@pytest.mark.parametrize("form", TABLES)
def test_numbers_are_shown_as_they_are_in_the_file(tmp_path, form):
    rows = [{"label": "ab"[k % 2], "age": float(k), "colour": "rg"[k % 2], "text": "x y"} for k in range(8)]
    path = written(tmp_path, form, rows)
    kinds = KINDS | {"text": "skip"}
    scaled = {} if form == "jsonl" else {"standardise": True}
    source = opened(path, columns=kinds, features=FeatureOptions(**scaled))
    (chunk,) = source
    column = np.array([number_column("age"), category_column("colour", "g")])
    names, shown = chunk.named.describe(5, column, np.array([0.7, 1.0]))
    assert names == ["age", "colour=g"]
    assert shown == ([0.7, 1.0] if form == "jsonl" else [5.0, 1.0])  # an object's numbers are not scaled


def test_columns_without_names_have_their_number_in_the_file(tmp_path):
    (tmp_path / "one.svm").write_text("1 1:0.5 4:2\n-1 2:1\n")
    (tmp_path / "zero.svm").write_text("1 0:0.5 3:2\n-1 2:1\n")
    for name, expected in (("one", ["column 1", "column 4"]), ("zero", ["column 0", "column 3"])):
        (chunk,) = open_source([tmp_path / f"{name}.svm"], named=True)
        assert chunk.named.describe(0, np.array([0, 3]), np.array([0.5, 2.0])) == (expected, [0.5, 2.0])


# ------------------------------------------------------------------------------------------------------ start of files


def spelled(count, first=0):
    return " ".join(f"w{k}" for k in range(first, first + count))


@pytest.fixture
def text(tmp_path):
    lines = [f"{'ab'[k % 2]}\t{spelled(3, 2 * k)}" for k in range(300)]
    path = tmp_path / "words.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_first_names_are_kept_with_their_columns(text):
    kept = open_source([text]).first_names(10)
    assert kept.name == tuple(f"w{k}" for k in range(10))
    assert kept.column == tuple(murmur(name.encode()) % (1 << 18) for name in kept.name)
    assert open_source([text]).first_names(0) == KeptNames()
    everything = open_source([text]).first_names(10_000)
    assert (len(everything.name), everything.entries) == (601, 900)
    assert everything.by_column()[murmur(b"w7") % (1 << 18)] == "w7"


def test_names_do_not_depend_on_chunks_or_on_the_kind_of_input(text, monkeypatch):
    expected = open_source([text]).first_names(400)
    for options in ({"chunk_bytes": 100}, {"chunk_rows": 7}, {"threads": 0}):
        assert open_source([text], **options).first_names(400) == expected
    with open(text) as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", file)
        source = open_source(["-"])
    with source:
        assert source.first_names(400) == expected
        assert sum(chunk.label.size for chunk in source) == 300  # its start is not lost


def test_two_days_keep_the_names_of_one_run(text, tmp_path):
    other = tmp_path / "more.txt"
    other.write_text("".join(f"a\t{spelled(3, 5000 + k)}\nb\tx\n" for k in range(50)))
    for most in (20, 610, 10_000):
        first = open_source([text]).first_names(most)
        assert open_source([other]).first_names(most, first) == open_source([text, other]).first_names(most)


def test_it_ends_where_names_repeat(tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("a\tx y\nb\ty x\n" * 100_000)
    kept = open_source([path]).first_names(5)
    assert kept.name == ("x", "y")
    assert 5 * ENTRIES_PER_NAME <= kept.entries < 400_000


def test_lines_with_faults_are_left_to_the_pass_over_all_rows(tmp_path):
    path = tmp_path / "bad.vw"
    path.write_text("1 | good\nno bar\n-1 | better\n")
    source = open_source([path])
    assert source.first_names(10).name == ("^good", "^better")
    with pytest.raises(InvalidInput, match="line 2"):
        list(source)


def test_names_that_a_model_knows_anyway_are_not_kept(tmp_path):
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("label,x,y\n1,2,3\n0,1,2\n")
    svmlight = tmp_path / "some.svm"
    svmlight.write_text("1 1:2\n-1 2:3\n")
    text = tmp_path / "some.txt"
    text.write_text("a\tone two\nb\tthree four\n")
    for source in (
        open_source([numbers]),
        open_source([svmlight]),
        open_source([text], features=FeatureOptions(dictionary=True)),
    ):
        assert not is_hashed(source.reading)
        assert source.first_names(10) == KeptNames()


def test_the_commonest_names_of_a_column_come_first(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("a\trare often often\nb\toften more more\na\tonce\n")
    table = NameTable(100)
    for chunk in open_source([path], features=FeatureOptions(bits=1, counts="count"), named=True):
        table.add(chunk.named)
    words = {"often": 3, "more": 2, "rare": 1, "once": 1}
    for column, names in table.commonest().items():
        own = [word for word in words if murmur(word.encode()) % 2 == column]
        assert names.split("|") == own[:3]


def test_kept_names_survive_json_and_damage_is_refused():
    kept = KeptNames(("a", "ü\udcff"), (3, 70), 9)
    plain = json.loads(json.dumps(kept.to_json()))
    assert KeptNames.from_json(plain) == kept
    for part in (
        {"name": ["a"]},
        {"name": ["a", "a"]},
        {"name": "ab"},
        {"name": ["a", 1]},
        {"column": [3, -1]},
        {"column": [3, 1 << 30]},
        {"column": [3, 1.0]},
        {"column": [3, True]},
        {"entries": -1},
        {"entries": "9"},
        {"more": 1},
    ):
        with pytest.raises(InvalidInput):
            KeptNames.from_json(plain | part)
    with pytest.raises(InvalidInput):
        KeptNames.from_json([])
