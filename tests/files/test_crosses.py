"""Crosses: the same features in every format, by the rules of docs/reference/features.md and of Vowpal Wabbit."""

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from files.common import content, named, read
from oracles import features as oracle
from rosenblatt import TableHasher, TextHasher
from rosenblatt.errors import InvalidInput
from rosenblatt.files import features
from rosenblatt.files.conversion import convert
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import Column, FeatureOptions, Reading

KINDS = {"age": "number", "size": "number", "user": "category", "ad": "category", "title": "text", "body": "text"}
BITS = 9  # so few that columns collide


def table_features(row):
    """Return the features of each column of a row, as name, column and value, without those that are missing or 0."""
    found = {name: [] for name in KINDS}
    for name, kind in KINDS.items():
        value = row.get(name)
        if value and kind == "number":
            found[name] = [(name, oracle.number_column(name, BITS), value)]
        elif value and kind == "category":
            found[name] = [(f"{name}={value}", oracle.category_column(name, value, BITS), 1.0)]
        elif value:
            words = value.split()
            for word in dict.fromkeys(words):
                column, count = oracle.category_column(name, word, BITS), float(words.count(word))
                found[name].append((f"{name}={word}", column, count))
    return found


def names_of(row, crosses):
    """Return a row as a dict from name to value."""
    own = table_features(row)
    found = {name: value for entries in own.values() for name, _, value in entries}
    for names in crosses:
        for parts in oracle.cross(own, names, squares=("age", "size")):
            found["*".join(name for name, _, _ in parts)] = math.prod(value for _, _, value in parts)
    return found


def columns_of(row, crosses):
    """Return a row as a dict from column to value; features that share a column add up, also before a cross."""
    own = {}
    for name, entries in table_features(row).items():
        total = {}
        for _, column, value in entries:
            total[column] = total.get(column, 0.0) + value
        own[name] = list(total.items())
    found = {}
    made = [[entry] for entries in own.values() for entry in entries]
    for names in crosses:
        made += oracle.cross(own, names, squares=("age", "size"))
    for parts in made:
        column = oracle.cross_column([column for column, _ in parts], BITS)
        found[column] = found.get(column, 0.0) + math.prod(value for _, value in parts)
    return found


def close(found, expected):
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        assert row == pytest.approx(other, rel=1e-12)


WORDS = st.lists(st.sampled_from(["red", "green", "blue", "x1", "y_2"]), max_size=7).map(" ".join)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"age": st.sampled_from([0.0, 1.0, 2.5, -3.0]), "size": st.sampled_from([1.0, 0.5])}
        | {"user": st.sampled_from(["u1", "u2", "u3"]), "ad": st.sampled_from(["a7", "", "a b*c"])}
        | {"title": WORDS, "body": WORDS}
    ),
    min_size=1,
    max_size=12,
)
SOME_NAMES = st.lists(st.sampled_from([*KINDS]), min_size=2, max_size=3)
CROSSES = st.lists(SOME_NAMES.filter(lambda names: names.count("user") < 2 and names.count("ad") < 2), max_size=3)


def written(folder, rows):
    """Write rows as CSV, JSON lines and Parquet."""
    labels = [{**row, "label": k % 2} for k, row in enumerate(rows)]
    frame = pd.DataFrame(labels)
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_parquet(folder / "a.parquet")
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    return [folder / name for name in ("a.csv", "a.parquet", "a.jsonl")]


@settings(max_examples=60, deadline=None)
@given(ROWS, CROSSES)
def test_every_format_gives_the_crosses_of_the_oracle(tmp_path_factory, rows, crosses):
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("crosses")
    options = {"counts": "count", "cross": ["*".join(names) for names in crosses], "normalise": False}
    made = FeatureOptions(**options).cross
    by_name, by_column = [names_of(row, made) for row in rows], [columns_of(row, made) for row in rows]
    for path in written(folder, rows):
        exact = FeatureOptions(dictionary=True, **options)
        close(named(open_source(path, columns=KINDS, features=exact)), by_name)
        hashed = read(path, columns=KINDS, features=FeatureOptions(bits=BITS, **options))[0]
        close([dict(row) for row in hashed], by_column)
    X = TableHasher(bits=BITS, columns=KINDS, **options).fit_transform(rows)
    close([dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in X], by_column)


def test_namespaces_that_hold_the_same_features_give_the_same_columns(tmp_path):
    rows = [("u1", "a7", "win money now"), ("u2", "a7", "see you"), ("u1", "b9", "win")]
    (tmp_path / "a.csv").write_text(
        "user,ad,title,y\n" + "".join(f"{u},{a},{t},{k % 2}\n" for k, (u, a, t) in enumerate(rows))
    )
    (tmp_path / "a.vw").write_text(
        "".join(f"{k % 2} |user {u} |ad {a} |title {t}\n" for k, (u, a, t) in enumerate(rows))
    )
    options = FeatureOptions(cross="user*ad,title*user,user*ad*title", normalise=False)
    table = read(tmp_path / "a.csv", features=options, columns={"title": "text"})
    assert read(tmp_path / "a.vw", features=options) == table
    letters = FeatureOptions(cross=["u*a", "t*u", "u*a*t"], normalise=False)
    assert read(tmp_path / "a.vw", features=letters) == table


def audited(path, bits, *options):
    """Return the features of each line by Vowpal Wabbit, as dicts from name to column and value."""
    command = [sys.executable, "-m", "vowpalwabbit", "-d", str(path), "--audit", "--noconstant", "--quiet"]
    done = subprocess.run([*command, "-b", str(bits), *options], capture_output=True, text=True, check=True)
    found = []
    for line in done.stdout.split("\n"):
        if "\t" in line:
            parts = [feature.rsplit(":", 3) for feature in line.strip().split("\t")]
            found.append({name: (int(column), float(value)) for name, column, value, _ in parts})
    return found


@pytest.mark.parametrize("bits", [18, 6])
def test_columns_are_those_of_vowpal_wabbit(tmp_path, bits):
    pytest.importorskip("vowpalwabbit")
    random = np.random.default_rng(bits)
    lines = []
    for _ in range(60):
        spaces = []
        for space in ("user", "ad", "", "17"):
            chosen = random.choice(["x", "y", "5", "77", "word", "a.b", "é"], random.integers(1, 4), replace=False)
            values = [f"{name}:{random.integers(1, 9) / 4}" for name in chosen]
            spaces.append(f"|{space} {' '.join(values)}")
        lines.append("1 " + " ".join(random.permutation(spaces)) + "\n")
    (tmp_path / "a.vw").write_text("".join(lines))
    ours = FeatureOptions(bits=bits, cross=["user*ad", "1*a", " *u", "u*1*a"])
    theirs = audited(tmp_path / "a.vw", bits, "-q", "ua", "-q", "1a", "-q", " u", "--cubic", "u1a")
    rows = read(tmp_path / "a.vw", features=ours)[0]
    assert len(rows) == len(theirs) == 60
    for row, entries in zip(rows, theirs, strict=True):
        expected = {}
        for column, value in entries.values():
            expected[column] = expected.get(column, 0.0) + value
        assert dict(row) == pytest.approx(expected, rel=1e-5)


def test_pairs_within_a_namespace_are_those_of_vowpal_wabbit_in_any_order(tmp_path):
    """There the column of a pair depends on the order of its features in the line."""
    pytest.importorskip("vowpalwabbit")
    (tmp_path / "a.vw").write_text("1 |a x y:2 z |b u\n1 |b u |a z y:2 x\n")
    exact = FeatureOptions(dictionary=True, cross="a*a")
    ours = named(open_source(tmp_path / "a.vw", features=exact))
    theirs = [
        {"*".join(sorted(name.split("*"))): value for name, (_, value) in row.items()}
        for row in audited(tmp_path / "a.vw", 18, "-q", "aa")
    ]
    assert ours == theirs
    first, second = read(tmp_path / "a.vw", features=FeatureOptions(cross="a*a"))[0]
    assert first == second
    every = FeatureOptions(dictionary=True, cross=":*:")
    theirs = [
        {"*".join(sorted(name.split("*"))): value for name, (_, value) in row.items()}
        for row in audited(tmp_path / "a.vw", 18, "-q", "::")
    ]
    assert named(open_source(tmp_path / "a.vw", features=every)) == theirs


def test_words_of_raw_text_make_each_pair_once(tmp_path):
    (tmp_path / "a.txt").write_text("1\tb a c a\n0\ta b\n1\tone\n")
    options = {"cross": "text*text", "counts": "count", "normalise": False}
    rows = named(open_source(tmp_path / "a.txt", format="text", features=FeatureOptions(dictionary=True, **options)))
    assert rows[0] == {"a": 2, "b": 1, "c": 1, "a*b": 2, "a*c": 2, "b*c": 1}
    assert rows[1:] == [{"a": 1, "b": 1, "a*b": 1}, {"one": 1}]
    hashed = read(tmp_path / "a.txt", format="text", features=FeatureOptions(**options))[0]
    X = TextHasher(**options).transform(["b a c a", "a b", "one"])
    assert [dict(row) for row in hashed] == [dict(zip(r.indices.tolist(), r.data.tolist(), strict=True)) for r in X]
    pair = oracle.cross_column(sorted([oracle.murmur(b"a") % 2**18, oracle.murmur(b"b") % 2**18]))
    assert X[1, pair] == 1


def test_a_list_in_json_makes_pairs(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"y": 1, "tags": ["b", "a", "c"], "in": {"x": 2}}\n{"y": 0, "tags": ["a"]}\n')
    exact = FeatureOptions(dictionary=True, cross=["tags*tags", "in.x*tags"])
    first, second = named(open_source(tmp_path / "a.jsonl", features=exact, columns={"tags": "category"}))
    assert {name: value for name, value in first.items() if "*" in name} == {
        "tags=a*tags=b": 1,
        "tags=a*tags=c": 1,
        "tags=b*tags=c": 1,
        "in.x*tags=a": 2,
        "in.x*tags=b": 2,
        "in.x*tags=c": 2,
    }
    assert second == {"tags=a": 1}


def test_n_grams_are_crossed_like_words(tmp_path):
    options = FeatureOptions(dictionary=True, words=(1, 2), letters=(3, 3), cross="text*text", counts="binary")
    (tmp_path / "a.txt").write_text("1\tab cd\n0\tab\n")
    row = named(open_source(tmp_path / "a.txt", format="text", features=options))[0]
    own = ["ab", "ab cd", "cd", "~ ab", "~ab ", "~ cd", "~cd "]
    pairs = {f"{a}*{b}" for k, a in enumerate(sorted(own)) for b in sorted(own)[k + 1 :]}
    assert row.keys() == {*own, *pairs}


def test_numbers_are_crossed_as_they_are_scaled(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n" + "".join(f"{k},{k * k % 7},{k % 2}\n" for k in range(20)))
    scaled = read(tmp_path / "a.csv", features=FeatureOptions(standardise=True))[0]
    options = FeatureOptions(standardise=True, cross="a*b,a*a", dictionary=True)
    for row, (a, b) in zip(named(open_source(tmp_path / "a.csv", features=options)), scaled, strict=True):
        expected = {"a": a, "b": b, "a*b": a * b, "a*a": a * a}
        assert row == {name: value for name, value in expected.items() if value}


@pytest.mark.parametrize("exact", [False, True])
def test_crosses_do_not_depend_on_chunks(tmp_path, exact):
    random = np.random.default_rng(0)
    words = [" ".join(random.choice(["a", "b", "c", "dd", "eee"], 3)) for _ in range(200)]
    texts = {
        "a.csv": "u,t,y\n" + "".join(f"u{k % 9},{text},{k % 2}\n" for k, text in enumerate(words)),
        "a.vw": "".join(f"{k % 2} |u u{k % 9} |t {text}\n" for k, text in enumerate(words)),
        "a.jsonl": "".join(json.dumps({"y": k % 2, "u": f"u{k % 9}", "t": t}) + "\n" for k, t in enumerate(words)),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        options = {"features": FeatureOptions(dictionary=exact, cross="u*t,t*t")}
        sources = [open_source(tmp_path / name, chunk_bytes=size, **options) for size in (100, 1000, 1 << 20)]
        found = [(content(source), source.names) for source in sources]
        assert found[0] == found[1] == found[2]


def test_crosses_that_cannot_be_made_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("age,user,ad,w,y\n3,u1,a7,1,1\n2,u2,a8,2,0\n")
    (tmp_path / "a.vw").write_text("1 |user u1 |ad a7\n0 |user u2 |age 3\n")
    (tmp_path / "a.txt").write_text("1\tsome words here\n0\tother words\n")
    (tmp_path / "a.svm").write_text("1 1:2\n0 2:3\n")
    for name, cross, message in [
        ("a.csv", "usr*ad", "no column 'usr'. Did you mean 'user'?"),
        ("a.csv", "user*y", "'y' is the label"),
        ("a.csv", "user*w", "'w' is the weight"),
        ("a.csv", "user*ad*age", "'age' is left out"),
        ("a.csv", "user*user", "one value of the category 'user'"),
        ("a.vw", "usr*ad", "no namespace 'usr'. Did you mean 'user'?"),
        ("a.vw", "a*age", "'a' stands for 'age', too"),
        ("a.vw", ":*user", "':' stands for 'user', too"),
        ("a.txt", "word*word", "no column 'word'"),
        ("a.svm", "1*2", "would change nothing"),
    ]:
        columns = {"columns": {"w": "weight", "age": "skip"}} if name == "a.csv" else {}
        with pytest.raises(InvalidInput) as caught:
            open_source(tmp_path / name, features=FeatureOptions(cross=cross), **columns)
        assert message in str(caught.value)
    with pytest.raises(InvalidInput, match="no column 'usr'"):
        TableHasher(cross="usr*ad").fit([{"user": "u1", "ad": "a7"}])
    with pytest.raises(InvalidInput, match="no column 'word'"):
        TextHasher(cross="word*word").fit()
    with pytest.raises(InvalidInput, match="cross would change nothing"):
        convert(tmp_path / "a.csv", tmp_path / "b.vw", features=FeatureOptions(cross="user*ad"))


def test_a_namespace_that_may_come_later_is_told(tmp_path):
    rare = "0 |rare x |a y\n"
    (tmp_path / "a.vw").write_text("1 |a x |b y\n" * 10_000 + rare)
    source = open_source(tmp_path / "a.vw", features=FeatureOptions(dictionary=True, cross="a*rare"))
    assert "the first lines have no namespace 'rare'" in source.problems.notes[0]
    assert "a^y*rare^x" in named(source)[-1]


@pytest.mark.parametrize("value", ["a", "a*", "*", ["a", "b"], [("a",)], [("a", 1)], [("a", "")], 3, {"a": "b"}, [3]])
def test_what_is_no_cross_is_refused(value):
    with pytest.raises(InvalidInput, match="cross"):
        FeatureOptions(cross=value)


def test_crosses_are_normal_forms():
    assert FeatureOptions(cross=None).cross == ()
    assert FeatureOptions(cross="a*b, c * d,b*a").cross == (("a", "b"), ("c", "d"))
    assert FeatureOptions(cross=["a*b*a", ("x,y", "p*q")]).cross == (("a", "a", "b"), ("x,y", "p*q"))
    assert FeatureOptions(cross=" *b").cross == ((" ", "b"),)


def test_models_keep_crosses():
    columns = (Column("a", "category"), Column("b", "text"), Column("y", "label"))
    reading = Reading("csv", FeatureOptions(cross=["a*b", "b*b"]), header=True, columns=columns)
    stored = json.loads(json.dumps(reading.to_json()))
    assert Reading.from_json(stored) == reading
    for forged in ("a", [["a"]], [[1, 2]], 7, [["a", "b"], "c"]):
        with pytest.raises(InvalidInput, match="cross"):
            Reading.from_json({**stored, "features": {**stored["features"], "cross": forged}})
    numbers = (Column("a", "number"), Column("b", "number"), Column("y", "label"))
    assert Reading("csv", columns=numbers).numeric
    assert not Reading("csv", FeatureOptions(cross="a*b"), columns=numbers).numeric


@pytest.mark.parametrize(("limit", "exact"), [("MOST_CROSSED", False), ("MOST_NAMED_CROSSES", True)])
def test_more_crosses_than_memory_holds_are_refused_with_their_numbers(tmp_path, monkeypatch, limit, exact):
    monkeypatch.setattr(features, limit, 40)
    (tmp_path / "a.csv").write_text("t,u,y\na b c d e f g,u1,1\na b c d e,u2,0\n")
    for cross, message in [
        ("t*u", None),
        ("t*u,t*t", "'t*t' would make 31 features of 2 rows at once, 21 of the longest row, and there is room for 28"),
        ("t*t*t", "'t*t*t' would make 45 features of 2 rows at once, 35 of the longest row, and there is room for 40"),
    ]:
        options = {"columns": {"t": "text"}, "features": FeatureOptions(cross=cross, dictionary=exact)}
        if message:
            with pytest.raises(InvalidInput) as caught:
                read(tmp_path / "a.csv", **options)
            assert message in str(caught.value)
        assert len(read(tmp_path / "a.csv", chunk_bytes=20, **options)[0]) == 2


def test_golden_columns():
    """Those of the page, the first of which Vowpal Wabbit printed."""
    assert oracle.cross_column([63954, 40316]) == 121066
    user, ad = oracle.category_column("user", "u1"), oracle.category_column("ad", "a7")
    assert oracle.cross_column([user, ad]) == 123450


def test_damaged_crosses_of_a_reading_read_nothing_outside(tmp_path):
    """Names that a forged model has, and no file, make no features."""
    (tmp_path / "a.vw").write_text("1 |a x |b y\n")
    reading = Reading("vw", FeatureOptions(cross=["zz*qq", "a*zz", "zz*zz*zz", ":*a"]))
    rows, _, _ = read(tmp_path / "a.vw", reading=reading)
    assert len(rows[0]) > 2
