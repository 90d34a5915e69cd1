"""Predictions are those of the library."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import rosenblatt
from commands import mails, run, svmlight
from rosenblatt.datasets import load_svmlight


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, classes in (("two", 2), ("four", 4)):
        svmlight(folder / f"{name}.svm", classes=classes)
        run("train", folder / f"{name}.svm", "--model", folder / name, "--quiet")
    return folder


@pytest.mark.parametrize("name", ["two", "four"])
def test_predictions_and_scores_are_those_of_the_model(folder, name):
    X, _ = load_svmlight(folder / f"{name}.svm", n_features=1 << 18)
    model = rosenblatt.load_linear(folder / name)
    lines = run("predict", folder / f"{name}.svm", "--model", folder / name, "--scores").stdout.splitlines()
    found = np.array([line.split("\t") for line in lines], dtype=float)
    np.testing.assert_array_equal(found[:, 0], model.predict(X))
    np.testing.assert_array_equal(found[:, 1:], model.class_scores(X))
    told = [
        json.loads(line)
        for line in run("predict", folder / f"{name}.svm", "--model", folder / name, "--json").stdout.splitlines()
    ]
    assert [one["prediction"] for one in told] == found[:, 0].tolist()


def test_the_output_appears_whole_or_not_at_all(folder):
    run("predict", folder / "two.svm", "--model", folder / "two", "-o", folder / "out")
    assert (folder / "out").read_text() == run("predict", folder / "two.svm", "--model", folder / "two").stdout
    (folder / "bad.svm").write_text("1 1:2\n1 x\n")
    run("predict", folder / "bad.svm", "--model", folder / "two", "-o", folder / "out", code=1)
    assert len((folder / "out").read_text().splitlines()) == 2000


def test_columns_and_labels_are_read_as_in_training(folder):
    mails(folder / "mails.csv")
    run("train", folder / "mails.csv", "--label", "kind", "--model", folder / "mails", "--quiet")
    header, *lines = (folder / "mails.csv").read_text().splitlines()
    (folder / "new.csv").write_text("\n".join([header, *("," + line.split(",", 1)[1] for line in lines)]) + "\n")
    unlabelled = run("predict", folder / "new.csv", "--model", folder / "mails").stdout
    assert unlabelled == run("predict", folder / "mails.csv", "--model", folder / "mails").stdout


def test_a_model_without_a_reading_and_what_is_no_model_are_refused(folder):
    rosenblatt.save(rosenblatt.Perceptron().fit([[0.0], [1.0]], [0, 1]), folder / "library")
    assert (
        "does not say how to read" in run("predict", folder / "two.svm", "--model", folder / "library", code=1).stderr
    )
    assert "cannot be loaded" in run("predict", folder / "two.svm", "--model", folder / "two.svm", code=1).stderr
    run("predict", folder / "two.svm", "--model", folder / "none", code=1)


# ------------------------------------------------------------------------------------------ ids, formats, probabilities


def predicted(*arguments):
    return [line.split("\t") for line in run("predict", *arguments).stdout.splitlines()]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The same rows as CSV, JSON lines and Parquet, with ids that are no features, and a calibrated model of them."""
    folder = tmp_path_factory.mktemp("tables")
    frame = pd.read_csv(mails(folder / "plain.csv"))
    frame.insert(0, "number", [f"{k:04}" for k in range(len(frame))])
    frame.to_csv(folder / "mails.csv", index=False)
    frame.to_json(folder / "mails.jsonl", orient="records", lines=True)
    frame.assign(number=frame["number"].astype(int)).to_parquet(folder / "mails.parquet")
    options = ["--label", "kind", "--columns", "number=skip", "--quiet"]
    run("train", folder / "mails.csv", *options, "--model", folder / "m", "--calibrate")
    run("train", folder / "mails.jsonl", *options, "--model", folder / "json.m")
    return folder


@pytest.mark.parametrize(("name", "model"), [("mails.csv", "m"), ("mails.jsonl", "json.m"), ("mails.parquet", "m")])
def test_the_value_of_a_column_stands_beside_the_prediction(tables, name, model):
    alone = predicted(tables / name, "-m", tables / model)
    found = predicted(tables / name, "-m", tables / model, "--id", "number")
    shown = [str(k) if name.endswith("parquet") else f"{k:04}" for k in range(300)]
    assert found == [[label, one] for (label,), one in zip(alone, shown, strict=True)]
    run("predict", tables / name, "-m", tables / model, "--id", "nummer", code=1)


def test_a_column_that_the_model_does_not_know_can_be_the_id(tables):
    pd.read_csv(tables / "mails.csv", dtype=str).rename(columns={"number": "key"}).to_csv(
        tables / "keys.csv", index=False
    )
    done = run("predict", tables / "keys.csv", "-m", tables / "m", "--id", "key")
    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == [f"{k:04}" for k in range(300)]
    assert "left out" not in done.stderr
    lines = [json.loads(line) for line in (tables / "mails.jsonl").read_text().splitlines()]
    (tables / "keys.jsonl").write_text(
        "".join(json.dumps({"key": f"k{k}"} | row) + "\n" for k, row in enumerate(lines))
    )
    scores = predicted(tables / "mails.jsonl", "-m", tables / "json.m", "--scores")
    found = predicted(tables / "keys.jsonl", "-m", tables / "json.m", "--scores", "--id", "key")
    assert found == [[*row, f"k{k}"] for k, row in enumerate(scores)]


def test_ids_stay_with_their_rows_where_lines_are_skipped(tables):
    header, *lines = (tables / "mails.csv").read_text().splitlines()
    (tables / "holes.csv").write_text("\n".join([header, *lines[:3], "damaged", *lines[3:5], "x,y", *lines[5:]]) + "\n")
    found = predicted(tables / "holes.csv", "-m", tables / "m", "--id", "number", "--on-error", "skip", "--quiet")
    assert found == predicted(tables / "mails.csv", "-m", tables / "m", "--id", "number")


def test_tags_are_echoed_as_vw_does(tmp_path):
    rows = ["1 |f a:2", "-1 |f b:2"] * 30
    (tmp_path / "train.vw").write_text("\n".join(rows) + "\n")
    run("train", tmp_path / "train.vw", "--model", tmp_path / "m", "--quiet")
    new = ["1 'x1|f a", "|f b", "-1 2.0 'x2 |f b", "x3|f a", "1 |f a", "drop\t1 'x4|f a", "'x5 |f b"]
    (tmp_path / "new.vw").write_text("\n".join(new) + "\n")
    found = [tuple(line) for line in predicted(tmp_path / "new.vw", "-m", tmp_path / "m")]
    assert found == [("1", "x1"), ("-1",), ("-1", "x2"), ("1", "x3"), ("1",), ("1", "x4"), ("-1", "x5")]
    run("predict", tmp_path / "new.vw", "-m", tmp_path / "m", "-o", tmp_path / "out.csv")
    ids = pd.read_csv(tmp_path / "out.csv")["id"].tolist()
    assert [one for one in ids if one == one] == ["x1", "x2", "x3", "x4", "x5"]
    assert "Tags are ids" in run("predict", tmp_path / "new.vw", "-m", tmp_path / "m", "--id", "a", code=1).stderr


def test_all_formats_have_the_same_content(tables):
    options = ["-m", tables / "m", "--id", "number", "--scores", "--proba"]
    names = ["id", "prediction", "proba_ham", "proba_spam", "score_spam"]
    plain = pd.DataFrame(predicted(tables / "mails.csv", *options), columns=[*names[1:], "id"])[names]
    plain[names[2:]] = plain[names[2:]].astype(float)
    for ending in ("csv", "ndjson", "parquet"):
        run("predict", tables / "mails.csv", *options, "-o", tables / f"out.{ending}")
    pd.testing.assert_frame_equal(pd.read_csv(tables / "out.csv", dtype={"id": str}), plain, check_exact=True)
    pd.testing.assert_frame_equal(pd.read_parquet(tables / "out.parquet"), plain, check_exact=True, check_dtype=False)
    rows = [json.loads(line) for line in (tables / "out.ndjson").read_text().splitlines()]
    assert [[row["id"], row["prediction"]] for row in rows] == plain[names[:2]].to_numpy().tolist()
    assert [row["probabilities"] for row in rows] == [
        {"ham": ham, "spam": spam} for ham, spam in plain[names[2:4]].to_numpy().tolist()
    ]
    assert [row["scores"]["spam"] for row in rows] == plain["score_spam"].tolist()
    assert run("predict", tables / "mails.csv", *options, "--json").stdout == (tables / "out.ndjson").read_text()
    told = run("predict", tables / "mails.csv", *options, "--output-format", "csv").stdout
    assert told == (tables / "out.csv").read_text()
    run("predict", tables / "mails.csv", *options, "--json", "-o", tables / "x.csv", code=2)
    run("predict", tables / "mails.csv", *options, "--json", "--output-format", "csv", code=2)


def test_parquet_keeps_ids_and_labels_that_are_whole_numbers(tables, folder):
    run("predict", tables / "mails.parquet", "-m", tables / "m", "--id", "number", "-o", tables / "ids.parquet")
    assert pd.read_parquet(tables / "ids.parquet")["id"].tolist() == list(range(300))
    run("predict", folder / "two.svm", "-m", folder / "two", "-o", tables / "two.parquet")
    assert pd.read_parquet(tables / "two.parquet")["prediction"].dtype == np.int64
    header = (tables / "mails.csv").read_text().splitlines()[0]
    (tables / "empty.csv").write_text(header + "\n")
    for ending, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        run("predict", tables / "empty.csv", "-m", tables / "m", "--proba", "-o", tables / f"none.{ending}")
        assert list(read(tables / f"none.{ending}").columns) == ["prediction", "proba_ham", "proba_spam"]


def test_calibrated_probabilities_are_those_of_the_loaded_model(tables, folder):
    X, y = load_svmlight(folder / "four.svm", n_features=1 << 18)
    run("train", folder / "four.svm", "--model", folder / "c", "--calibrate", "--quiet")
    found = np.array(predicted(folder / "four.svm", "-m", folder / "c", "--proba"), float)[:, 1:]
    model = rosenblatt.load_linear(folder / "c")
    np.testing.assert_array_equal(found, model.predict_proba(X))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    told = json.loads(run("evaluate", folder / "four.svm", "-m", folder / "c", "--json").stdout)
    assert told["log_loss"] == pytest.approx(metrics.log_loss(y, found))
    assert told["auc"] == pytest.approx(metrics.roc_auc_score(y, found, multi_class="ovr"))


def test_the_logistic_loss_has_probabilities_by_itself(folder):
    options = ["--learner", "soft-margin", "--loss", "logistic"]
    for name in ("two", "four"):
        run("train", folder / f"{name}.svm", *options, "--model", folder / "l", "--overwrite", "--quiet")
        X, _ = load_svmlight(folder / f"{name}.svm", n_features=1 << 18)
        scores = rosenblatt.load_linear(folder / "l").class_scores(X)
        positive = 1 / (1 + np.exp(-scores))
        expected = np.hstack([1 - positive, positive]) if name == "two" else positive / positive.sum(1, keepdims=True)
        found = np.array(predicted(folder / f"{name}.svm", "-m", folder / "l", "--proba"), float)[:, 1:]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_scores_are_not_probabilities(folder):
    told = run("predict", folder / "two.svm", "-m", folder / "two", "--proba", code=1).stderr
    assert "--calibrate" in told
    assert "logistic" in told
    run("train", folder / "two.svm", "--learner", "adaline-regressor", "--model", folder / "r", "--quiet")
    assert "numbers" in run("predict", folder / "two.svm", "-m", folder / "r", "--proba", code=1).stderr
    run("predict", folder / "two.svm", "-m", folder / "r", "--scores", code=2)
    run("train", folder / "two.svm", "--learner", "adaline-regressor", "--model", folder / "r", "--calibrate", code=2)


def test_a_calibrated_model_that_is_trained_further_keeps_its_probabilities_until_labels_are_new(tmp_path):
    model, rows = tmp_path / "m", ["1 |a x", "2 |a y", "1 |a x"] * 50
    for name, lines in (("two.vw", rows), ("three.vw", [*rows, "3 |a z"])):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    run("train", tmp_path / "two.vw", "--model", model, "--calibrate", "--quiet")
    assert "probability calibrated on held-out rows" in run("info", model).stdout
    before = rosenblatt.load_linear(model).sigmoids
    told = run("train", tmp_path / "two.vw", "--from", model).stderr
    assert "Probabilities are those that were calibrated before; add --calibrate to fit them again." in told
    assert rosenblatt.load_linear(model).sigmoids == before
    assert "calibrated before" not in run("train", tmp_path / "two.vw", "--from", model, "--calibrate").stderr
    assert "do not fit the new labels" in run("train", tmp_path / "three.vw", "--from", model).stderr
    assert "probability" not in run("info", model).stdout
    assert "--calibrate" in run("predict", tmp_path / "two.vw", "--model", model, "--proba", code=1).stderr
