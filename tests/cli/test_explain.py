"""Predictions of files with their reasons: names, sums, and what models keep to name their columns."""

import json
from math import fsum

import numpy as np
import pytest

from commands import mails, run
from oracles.features import murmur
from rosenblatt import load_linear

WORDS = ["free", "prize", "winner", "click", "cash", "offer", "meeting", "lunch", "report", "tomorrow", "I", "a"]
COLOURS = ["red", "green", "blue"]


def invented(n, classes, seed=0):
    """Return rows with a label, numbers, a category and words; the label follows from them, with noise."""
    random = np.random.default_rng(seed)
    weight = random.normal(size=(classes, len(WORDS) + len(COLOURS) + 2))
    rows = []
    for _ in range(n):
        words = random.integers(0, len(WORDS), random.integers(1, 9))
        colour, numbers = random.integers(0, 3), random.normal(size=2).round(3)
        score = weight[:, words].sum(axis=1) + weight[:, len(WORDS) + colour] + weight[:, -2:] @ numbers
        label = f"class{np.argmax(score + random.normal(size=classes))}"
        # One number in other units, as in real tables.
        row = {"label": label, "small": numbers[0], "large": 1000 * numbers[1] + 5000, "colour": COLOURS[colour]}
        rows.append(row | {"text": " ".join(WORDS[k] for k in words)})
    return rows


def write(folder, form, rows):
    """Write rows in a format; return the path, and the options of `train`."""
    path = folder / f"rows.{form.partition('-')[0]}"
    kind = ["--label", "label"]
    columns = [*kind, "--columns", "text=text,colour=category"]
    if form.startswith("csv"):
        names = {"csv": list(rows[0]), "csv-numbers": ["label", "small", "large"]}.get(form, list(rows[0]))
        lines = [names, *([row[name] for name in names] for row in rows)]
        path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
        return path, kind if form == "csv-numbers" else columns
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path, columns
    if form in ("parquet", "arrow"):
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pyarrow.Table.from_pylist(rows)
        if form == "parquet":
            parquet.write_table(table, path)
        else:
            with pyarrow.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
        return path, columns
    lines = []
    for row in rows:
        number = row["label"].removeprefix("class")
        if form == "text":
            lines.append(f"{row['label']}\t{row['text']}")
        elif form == "vw":
            lines.append(
                f"{number} |n small:{row['small']} 7:{row['large'] / 1000} |c {row['colour']} |t {row['text']}"
            )
        else:
            words = sorted({WORDS.index(word) for word in row["text"].split()})
            lines.append(f"{number} " + " ".join(f"{k + 1}:{row['small'] + k}" for k in words))
    path.write_text("\n".join(lines) + "\n")
    return path, ["--label-type", "text"] if form == "vw" else []


FORMS = {
    "svm": [],
    "vw": [],
    "vw-cross": ["--cross", "c*t"],
    "text": [],
    "text-letters": ["--letters", "2-3", "--words", "1-2"],
    "csv": [],
    "csv-standardised": ["--standardise"],
    "csv-numbers": ["--standardise"],
    "csv-dictionary": ["--dictionary", "--standardise"],
    "csv-cross": ["--cross", "colour*text,colour*small"],
    "jsonl": [],
    "parquet": ["--standardise"],
    "arrow": ["--bits", "4"],  # so that names share columns
}


def explained(folder, form, extra, n, classes, top=3):
    """Train on invented rows, and return the scores of as many others with their explanations."""
    base = form.partition("-")[0]
    new = folder / "new"
    new.mkdir()
    path, options = write(folder, form if base == "csv" else base, invented(n, classes))
    other, _ = write(new, form if base == "csv" else base, invented(n, classes, seed=1))
    model = folder / "model"
    run("train", path, "--model", model, "--quiet", *options, *extra)
    lines = run(
        "predict", other, "--model", model, "--scores", "--explain", top, "--json", "--quiet"
    ).stdout.splitlines()
    return model, [json.loads(line) for line in lines]


def largest_error(rows):
    """Return the largest difference between a sum and its score, relative to the score or to the sum's terms."""
    worst = 0.0
    for row in rows:
        assert len(row["explanation"]) == len(row["scores"])
        for one in row["explanation"]:
            terms = [part["contribution"] for part in one["contributions"]]
            score = row["scores"][str(one["label"])]
            assert one["score"] == pytest.approx(fsum([*terms, one["others"], one["bias"]]), rel=1e-9, abs=1e-12)
            size = max(abs(score), abs(one["bias"]), abs(one["others"]), *map(abs, terms), 1e-300)
            worst = max(worst, abs(one["score"] - score) / size)
    return worst


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("classes", "top"), [(2, 3), (3, 1000)])
def test_explanations_of_every_reader_add_up_to_the_scores(tmp_path, form, classes, top):
    _, rows = explained(tmp_path, form, FORMS[form], 60, classes, top)
    assert len(rows) == 60
    assert largest_error(rows) < 1e-9
    parts = [part["name"] for row in rows for one in row["explanation"] for part in one["contributions"]]
    names = {name for part in parts for name in part.split("|")}
    assert not any(name.startswith("column") for name in names) or form == "svm"
    expected = {
        "svm": "column 1",
        "vw": "t^prize",
        "vw-cross": "c^red*t^prize",
        "text": "prize",
        "text-letters": "~riz",
        "csv-numbers": "large",
        "csv-cross": "colour=red*text=prize",
    }
    assert top < 1000 or expected.get(form, "text=prize") in names


def test_standardised_numbers_are_shown_as_they_are_in_the_file(tmp_path):
    model, rows = explained(tmp_path, "csv-numbers", ["--standardise"], 60, 2)
    linear, data = load_linear(model), invented(60, 2, seed=1)
    mean, deviation = linear.origin["scaling"]
    for row, source in zip(rows, data, strict=True):
        for part in row["explanation"][0]["contributions"]:
            j = linear.feature_names.index(part["name"])
            assert part["value"] == pytest.approx(source[part["name"]])
            assert part["weight"] == linear.W[0, j]
            assert part["contribution"] == pytest.approx(linear.W[0, j] * (part["value"] - mean[j]) / deviation[j])


def test_ten_hashed_words_are_named_rightly(tmp_path):
    """The weight of each named word is that of the column which the word is the hash of."""
    mails(tmp_path / "mails.csv")
    model = tmp_path / "spam.model"
    run("train", tmp_path / "mails.csv", "--label", "kind", "--model", model, "--quiet")
    W, seeds = load_linear(model).W[0], {name: murmur(name.encode()) for name in ("subject", "body")}
    lines = run("predict", tmp_path / "mails.csv", "--model", model, "--explain", 100, "--json").stdout.splitlines()
    seen = {}
    for line in lines:
        for part in json.loads(line)["explanation"][0]["contributions"]:
            for name in part["name"].split("|"):
                seen[name] = part["weight"]
    assert len(seen) >= 10
    for name, weight in seen.items():
        column, _, word = name.partition("=")
        assert weight == W[murmur(word.encode(), seeds[column]) % W.size]


def test_names_that_meet_in_a_column_are_both_named(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("yes\tprize money\nno\tnoon lunch\n" * 5)
    model = tmp_path / "model"
    run("train", path, "--model", model, "--quiet", "--bits", 1)
    words = ["prize", "money", "noon", "lunch"]
    for line, own in zip(
        run("predict", path, "--model", model, "--explain", 5, "--json").stdout.splitlines()[:2],
        (words[:2], words[2:]),
        strict=True,
    ):
        found = {part["name"] for part in json.loads(line)["explanation"][0]["contributions"]}
        groups = {}
        for word in own:
            groups.setdefault(murmur(word.encode()) % 2, []).append(word)
        assert found == {"|".join(group) for group in groups.values()}


def test_lines_explain_the_classes_with_the_highest_scores(tmp_path):
    path, options = write(tmp_path, "text", invented(80, 5))
    model = tmp_path / "model"
    run("train", path, "--model", model, "--quiet", *options)
    lines = run("predict", path, "--model", model, "--explain", 2, "--quiet").stdout.splitlines()
    assert len(lines) == 5 * 80
    for label, *reasons in (lines[k : k + 5] for k in range(0, len(lines), 5)):
        assert reasons[0].startswith(f"  {label} ")
        assert reasons[3] == "  ... 2 more classes"
        scores = [float(reason.split()[1]) for reason in reasons[:3]]
        assert scores == sorted(scores, reverse=True)
        assert all(", bias " in reason or "= bias" in reason for reason in reasons[:3])


def test_a_regression_is_explained(tmp_path):
    rows = [(x, y, 3 * x - 2 * y + 1) for x in range(4) for y in range(4)]
    path = tmp_path / "numbers.csv"
    path.write_text("x,y,label\n" + "".join(f"{x},{y},{z}\n" for x, y, z in rows))
    model = tmp_path / "model"
    run("train", path, "--model", model, "--quiet", "--learner", "adaline-regressor", "--epochs", 50)
    for line in run("predict", path, "--model", model, "--explain", 2, "--json").stdout.splitlines():
        row = json.loads(line)
        assert row["explanation"][0]["score"] == pytest.approx(row["prediction"], rel=1e-9, abs=1e-12)
        assert row["explanation"][0]["label"] is None


def test_tables_of_predictions_have_a_column_of_reasons(tmp_path):
    path, options = write(tmp_path, "csv", invented(20, 3))
    model = tmp_path / "model"
    run("train", path, "--model", model, "--quiet", *options)
    lines = run("predict", path, "--model", model, "--explain", 1, "--output-format", "csv").stdout.splitlines()
    assert lines[0] == "prediction,explanation"
    assert all(line.count("; class") == 2 for line in lines[1:])
    parquet = pytest.importorskip("pyarrow.parquet")
    run("predict", path, "--model", model, "--explain", 1, "--output", tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet").column_names == ["prediction", "explanation"]


# ----------------------------------------------------------------------------------------------------- names in models


def test_info_names_columns_without_further_files(tmp_path):
    path = mails(tmp_path / "mails.csv")
    run("train", path, "--label", "kind", "--model", tmp_path / "kept", "--quiet")
    kept = json.loads(run("info", tmp_path / "kept", "--json").stdout)["top"]
    looked_up = json.loads(run("info", tmp_path / "kept", "--names", path, "--json").stdout)["top"]
    assert kept == looked_up
    assert {name.split("=")[0] for name, _ in kept["spam"]} == {"subject", "body"}
    run("train", path, "--label", "kind", "--model", tmp_path / "bare", "--quiet", "--keep-names", 0)
    bare = json.loads(run("info", tmp_path / "bare", "--json").stdout)["top"]
    assert all(name.startswith("column ") for name, _ in bare["spam"])
    assert [weight for _, weight in bare["spam"]] == [weight for _, weight in kept["spam"]]


def test_a_sparse_row_is_explained_by_the_names_that_the_model_keeps(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("yes\tprize money\nno\tnoon lunch\n" * 5)
    run("train", path, "--model", tmp_path / "model", "--quiet")
    model = load_linear(tmp_path / "model")
    row = np.zeros(1 << 18)
    row[murmur(b"prize") % (1 << 18)] = 1.0
    (one,) = model.explain(row).sums
    assert [part.name for part in one.contributions] == ["prize"]


def test_shards_keep_names(tmp_path):
    path = mails(tmp_path / "mails.csv")
    run("train", path, "--label", "kind", "--model", tmp_path / "one", "--quiet")
    run("train", path, "--label", "kind", "--model", tmp_path / "two", "--quiet", "--shards", 2)
    assert load_linear(tmp_path / "two").origin["names"] == load_linear(tmp_path / "one").origin["names"]
