"""Models of data files in Python: read as the command reads, predict as it prints, learn as it learns."""

from io import BytesIO

import numpy as np
import pandas as pd
import polars as pl
import pytest

from attacks.forge import content, join, split
from commands import mails, mixed_rows, run, svmlight, write_rows
from rosenblatt import AROW, AveragedPerceptron, FileModel, load, load_linear
from rosenblatt.cli.options import plain
from rosenblatt.datasets import load_svmlight
from rosenblatt.errors import InvalidInput, NotAvailable
from rosenblatt.files.options import Column, FeatureOptions, Reading


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def trained(data, *options):
    model = data.with_suffix(".model")
    run("train", data, "--model", model, "--overwrite", "--quiet", *options)
    return model


def printed(model, data):
    """The labels and the scores that the command prints."""
    by_option = "--model" in run("predict", "--help").stdout
    arguments = (data, "--model", model) if by_option else (model, data)
    lines = [line.split("\t") for line in run("predict", *arguments, "--scores").stdout.splitlines()]
    return [label for label, *_ in lines], np.array([list(map(float, scores)) for _, *scores in lines])


def same(model, X, labels, scores):
    assert [str(plain(label)) for label in model.predict(X)] == labels
    np.testing.assert_array_equal(np.asarray(model.decision_function(X)).reshape(scores.shape), scores)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("options", [(), ("--dictionary",), ("--standardise",)])
def test_frames_and_dicts_of_any_format_are_predicted_as_the_command_prints(folder, suffix, options):
    if suffix == "jsonl" and options == ("--standardise",):
        return  # its rows have names of their own, which cannot be standardised
    rows = mixed_rows(200, 1)
    data = write_rows(folder / f"rows.{suffix}", rows)
    path = trained(data, *options)
    labels, scores = printed(path, data)
    model = load(path)
    assert type(model) is FileModel
    frame = {"csv": pd.read_csv, "tsv": lambda path: pd.read_csv(path, sep="\t"), "parquet": pd.read_parquet}
    read = frame.get(suffix, lambda path: pd.DataFrame(rows))(data)
    same(model, read, labels, scores)
    same(model, read[read.columns[::-1]], labels, scores)  # columns go by their names
    same(model, rows, labels, scores)
    same(model, [{name: value for name, value in row.items() if value is not None} for row in rows], labels, scores)
    same(model, pl.DataFrame(rows), labels, scores)
    assert [str(plain(model.predict_one(row))) for row in rows[:20]] == labels[:20]
    assert model.predict_one(read.iloc[0]) == labels[0]
    np.testing.assert_array_equal(load_linear(path).b, model.learner.intercept_)


def test_a_table_of_numbers_is_an_array_too_and_missing_numbers_are_means(folder):
    rows = [{"age": row["age"], "pay": row["pay"], "label": row["label"]} for row in mixed_rows(300, 2)]
    data = write_rows(folder / "numbers.csv", rows)
    for options in ((), ("--standardise",)):
        path = trained(data, *options)
        labels, scores = printed(path, data)
        frame = pd.read_csv(data)
        same(load(path), frame, labels, scores)
        same(load(path), frame[["age", "pay"]].to_numpy(), labels, scores)


def test_lines_texts_and_matrices_are_read_as_the_files(folder):
    rows = mixed_rows(200, 3)
    texts = [row["text"] for row in rows]
    data = folder / "texts.txt"
    data.write_text("".join(f"{row['label']}\t{row['text']}\n" for row in rows))
    path = trained(data, "--words", "1-2")
    same(load(path), texts, *printed(path, data))
    same(load(path), np.array(texts), *printed(path, data))
    same(load(path), [text.encode() for text in texts], *printed(path, data))

    data = folder / "rows.vw"
    data.write_text(
        "".join(f"{1 + (row['label'] == 'yes')} |w {row['text']} |n age:{row['age'] or 0}\n" for row in rows)
    )
    path = trained(data)
    same(load(path), data.read_text().splitlines(), *printed(path, data))
    same(load(path), [line[2:] for line in data.read_text().splitlines()], *printed(path, data))  # without a label

    data = svmlight(folder / "rows.svm", n=300, classes=3)
    path = trained(data, "--normalise")
    X, _ = load_svmlight(data)
    for same_rows in (data.read_text().splitlines(), X):
        same(load(path), same_rows, *printed(path, data))
    # An array does not say which zeros were written in the file, and sums of fewer entries may round otherwise.
    np.testing.assert_allclose(load(path).decision_function(X.toarray()), printed(path, data)[1], rtol=1e-12)

    data = write_rows(folder / "lines.csv", rows)
    path = trained(data)
    same(load(path), data.read_text().splitlines()[1:], *printed(path, data))
    data = write_rows(folder / "lines.jsonl", rows)
    path = trained(data)
    same(load(path), data.read_text().splitlines(), *printed(path, data))


@pytest.mark.parametrize("learner", ["averaged", "arow", "soft-margin", "winnow"])
def test_learning_in_python_is_learning_by_the_command(folder, learner):
    days = [write_rows(folder / f"{day}-{learner}.csv", mixed_rows(200, day)) for day in (1, 2)]
    options = ("--learner", learner, "--passes", 1, "--dictionary", "--standardise")
    path = trained(days[0], *options)
    chunks, rows = load(path), load(path)
    second = mixed_rows(200, 2)
    labels = [row["label"] for row in second]
    for begin in range(0, 200, 33):
        chunks.partial_fit(pd.DataFrame(second[begin : begin + 33]), labels[begin : begin + 33])
    mistakes = [rows.learn_one(row, row["label"]) for row in second]
    run("train", days[1], "--from", path, "--quiet")
    wanted = load(path)
    for model in (chunks, rows):
        # A stream has one problem more, for classes to come, and a loop over several problems may round otherwise.
        np.testing.assert_allclose(model.learner.coef_, wanted.learner.coef_, rtol=1e-10)
        np.testing.assert_allclose(model.learner.intercept_, wanted.learner.intercept_, rtol=1e-10)
        assert model.reader == wanted.reader
        assert model.training["trials"] == wanted.training["trials"] == 400
    assert sum(mistakes) == sum(wanted.training["mistakes"]) - rows.training["mistakes"][0]


def test_a_model_that_learned_in_python_is_saved_and_goes_on_in_both_ways(folder):
    data = mails(folder / "mails.csv")
    path, other = trained(data, "--label", "kind", "--dictionary", "--passes", 1), folder / "more.model"
    model = load(path)
    model.partial_fit([{"subject": "new words", "body": "here"}], ["odd"])  # a class, and names, that are new
    model.save(other)
    again = load(other)
    assert again.classes_.tolist() == ["ham", "odd", "spam"]
    assert again.training == model.training
    assert "subject=new" in load_linear(other).feature_names
    frame = pd.read_csv(data)
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    same(again, frame, *printed(other, data))
    run("train", data, "--from", other, "--quiet")
    further = load(other)
    assert further.training["mistakes"][:2] == model.training["mistakes"]
    assert further.training["rows"] == 601
    assert repr(further) == "FileModel(AROW, csv, 601 rows)"


def test_probabilities_where_the_learner_has_them_and_numbers_of_a_regression(folder):
    data = svmlight(folder / "logistic.svm", n=300)
    model = load(trained(data, "--learner", "soft-margin", "--loss", "logistic"))
    lines = data.read_text().splitlines()
    probability = model.predict_proba(lines)
    np.testing.assert_allclose(probability[:, 1], 1 / (1 + np.exp(-model.decision_function(lines))))
    with pytest.raises(NotAvailable, match="has scores, but no probabilities"):
        load(trained(data)).predict_proba(lines)
    model = load(trained(data, "--learner", "adaline-regressor"))
    np.testing.assert_array_equal(model.predict(lines), model.decision_function(lines))
    assert model.learn_one(lines[0], 1.5) is False


@pytest.mark.parametrize(
    ("rows", "labels", "told"),
    [
        ([{"age": "old"}], ["yes"], "'old' of 'age' is not a finite number"),
        (pd.DataFrame({"age": [1.0]}), ["yes"], "X has no column pay, city, text, which the model has"),
        ({"age": 1.0}, ["yes"], "X is one row. Pass a list"),
        ("a line", ["yes"], "X is one text. Pass a list"),
        (["1,2"], ["yes"], "X, row 0: '1,2' has fewer than 5 fields"),
        (["1,2,Ulm,win,yes", ""], ["yes", "no"], "X, row 1: the line is empty"),
        (np.zeros((2, 3)), ["yes", "no"], r"X has shape \(2, 3\). Pass a table with the columns age, pay, city, text"),
        ([{"age": 1e200}], ["yes"], "squares overflow"),
        ([{"age": 1.0}], ["yes", "no"], "y has 2|inconsistent"),
        ([{"age": 1.0}] * 2, ["yes", None], "y has None, not a string"),
        ([{"age": 1.0}] * 2, ["yes", float("nan")], "y has nan, not a string"),
    ],
)
def test_rows_that_are_refused_change_nothing(folder, rows, labels, told):
    path = trained(write_rows(folder / "refusing.csv", mixed_rows(100, 1)), "--dictionary")
    model, before = load(path), load(path)
    with pytest.raises((InvalidInput, ValueError), match=told):
        model.partial_fit(rows, labels)
    assert model.reader == before.reader
    assert model.training == before.training
    np.testing.assert_array_equal(model.learner.coef_, before.learner.coef_)


def test_words_for_missing_values_and_whole_floats_are_those_of_the_file(folder):
    lines = [
        "code,size,label",
        *(
            f"{code},{size},{label}"
            for code, size, label in [
                ("3", 1, "a"),
                ("?", 2, "b"),
                ("7", "NA", "a"),
                ("", 3, "b"),
                ("5", 2, "b"),
                ("x", "?", "a"),
            ]
            * 5
        ),
    ]
    data = folder / "odd.csv"
    data.write_text("\n".join(lines) + "\n")
    path = trained(data)
    same(load(path), pd.read_csv(data), *printed(path, data))
    same(load(path), pd.read_csv(data, dtype=str), *printed(path, data))


def test_a_forged_model_of_files_is_refused(folder):
    path = trained(svmlight(folder / "forged.svm", n=50), "--passes", 1)
    whole = path.read_bytes()
    for change in (
        lambda model: model["training"].pop("pass"),
        lambda model: model["training"].update(moments=3),
        lambda model: model["training"].update(before={"dict": []}),
        lambda model: model["training"].update({"pass": {"record": ["Stop", {}]}}),
        lambda model: model["attributes"].pop("model"),
        lambda model: model.update(training="text"),
    ):
        header, tensors = split(whole)
        forged = content(header)
        change(forged)
        with pytest.raises(InvalidInput, match="cannot be loaded"):
            load(join(header, tensors, model=forged))
    assert type(load(whole)) is FileModel


READINGS = {
    "jsonl": Reading("jsonl", FeatureOptions(bits=8, standardise=False), "text", columns=(Column("text", "text"),)),
    "dictionary": Reading("jsonl", FeatureOptions(bits=6, dictionary=True, standardise=False), "text"),
    "scaled": Reading(
        "csv",
        FeatureOptions(bits=8, standardise=True),
        "text",
        header=True,
        columns=(Column("age", "number"), Column("city", "category")),
    ),
}


@pytest.mark.parametrize("learner", [AROW, AveragedPerceptron])
@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
def test_predicting_before_learning_is_one_row_after_the_other(reading, learner):
    given = mixed_rows(60, 1)
    names = [column.name for column in reading.columns if reading.format == "csv"] or ["age", "city", "text"]
    rows = [{name: row[name] for name in names if row[name] is not None} for row in given]
    labels = [row["label"] for row in given]
    weights = [1.0, 2.0] * (len(rows) // 2)
    together, single = (FileModel.begin("x", learner(), reading) for _ in range(2))
    found = together.predict_then_learn(rows[:1], labels[:1], weights[:1])
    found += together.predict_then_learn(rows[1:], labels[1:], weights[1:])
    expected = [None]
    for k, (row, label, weight) in enumerate(zip(rows, labels, weights, strict=True)):
        if k:
            expected.append(single.predict_one(row))
        single.partial_fit([row], [label], [weight])
    assert found == expected
    np.testing.assert_array_equal(together.linear().W, single.linear().W)
    assert load(saved(together)).predict(rows).tolist() == single.predict(rows).tolist()
    assert together.training["rows"] == len(rows)


def saved(model):
    buffer = BytesIO()
    model.save(buffer)
    return buffer.getvalue()


def test_a_model_that_begins_empty_says_so_and_learns_all_rows_or_none():
    model = FileModel.begin("arow", AROW(), READINGS["dictionary"])
    assert model.classes_.size == 0
    with pytest.raises(InvalidInput, match="has not learned any row yet"):
        model.predict_one({"a": 1})
    with pytest.raises(InvalidInput, match="not a string"):
        model.predict_then_learn([{"a": 1}, {"b": 2}], ["x", 3])
    assert model.classes_.size == 0
    assert model.learn_one({"a": 1}, "x") in (True, False)
    before = saved(model)
    with pytest.raises(InvalidInput, match="finite"):
        model.predict_then_learn([{"c": 1}, {"a": float("inf")}], ["y", "x"])
    assert saved(model) == before


def test_lists_are_rows_of_numbers_and_no_lines():
    """The kind of an array without a dtype is "", which is in "US"."""
    model = FileModel.begin("arow", AROW(), Reading("svmlight", FeatureOptions(bits=4, standardise=False), "text"))
    model.partial_fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    assert model.predict([[1, 0], [0, 2]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
def test_frames_are_predicted_and_learned_and_every_row_has_a_label(reading):
    names = [column.name for column in reading.columns if reading.format == "csv"] or ["age", "text"]
    given = [row for row in mixed_rows(40, 2) if None not in row.values()]
    rows, labels = [{name: row[name] for name in names} for row in given], [row["label"] for row in given]
    as_dicts, as_frame = (FileModel.begin("arow", AROW(), reading) for _ in range(2))
    assert as_dicts.predict_then_learn(rows, labels) == as_frame.predict_then_learn(pd.DataFrame(rows), labels)
    np.testing.assert_array_equal(as_dicts.linear().W, as_frame.linear().W)
    before = as_dicts.predict(rows).tolist(), as_dicts.training
    for X, y in ((rows, labels[:-1]), (rows[:-1], labels)):
        with pytest.raises(InvalidInput, match="Pass a label for each row"):
            as_dicts.predict_then_learn(X, y)
    assert (as_dicts.predict(rows).tolist(), as_dicts.training) == before
