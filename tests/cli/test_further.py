"""Training a model further: two days give the bytes of one training on both."""

import os
import signal
import subprocess
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import is_regressor

import rosenblatt
from commands import command, mixed_rows, run, svmlight, write_rows
from rosenblatt.datasets import load_svmlight
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions
from rosenblatt.files.tables import Moments
from rosenblatt.learners import trainable

NO_ROWS = Moments((0.0, 0.0), (0.0, 0.0), (0.0, 0.0))  # of the columns age and pay
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("days")
    for day in (1, 2):
        for format in FORMATS:
            write_rows(folder / f"{day}.{format}", mixed_rows(700, day))
        numbers = [{name: row[name] for name in ("age", "pay", "label")} for row in mixed_rows(700, day)]
        write_rows(folder / f"{day}-numbers.csv", numbers)
        svmlight(folder / f"{day}.svm", n=700, seed=day)
        svmlight(folder / f"{day}-four.svm", n=700, seed=day, classes=4, features=40 + 20 * day)
        words = [(row["label"], row["text"]) for row in mixed_rows(700, day)]
        (folder / f"{day}.txt").write_text("".join(f"{label}\t{text}\n" for label, text in words))
        (folder / f"{day}.vw").write_text("".join(f"{1 if y == 'yes' else -1} |w {text}\n" for y, text in words))
    return folder


def days(folder, name, *options, further=()):
    """Train on two days at once, and on one after the other; return both models as bytes."""
    first, second = folder / f"1{name}", folder / f"2{name}"
    one, two = folder / "one.model", folder / "two.model"
    run("train", first, second, "--passes", 1, "--model", one, "--overwrite", "--quiet", *options)
    run("train", first, "--passes", 1, "--model", two, "--overwrite", "--quiet", *options)
    run("train", second, "--from", two, "--quiet", *further)
    return one.read_bytes(), two.read_bytes()


@pytest.mark.parametrize("learner", trainable())
@pytest.mark.parametrize("name", [".svm", "-four.svm", "-numbers.csv"])
def test_two_days_give_the_bytes_of_one_training_for_every_learner(folder, learner, name):
    regression = is_regressor(trainable()[learner]()) and name == "-numbers.csv"
    options = ("--label", "pay", "--columns", "label=skip", "--standardise") if regression else ()
    one, two = days(folder, name, "--learner", learner, *options)
    assert one == two


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((f".{format}", ()) for format in (*FORMATS, "txt", "vw")),
        *((f".{format}", ("--dictionary", "--bits", 12, "--words", "1-2")) for format in ("csv", "jsonl", "txt")),
        (".vw", ("--dictionary", "--bits", 12)),
        *((f".{format}", ("--standardise", "--letters", "2-3")) for format in ("tsv", "parquet", "arrow")),
        ("-numbers.csv", ("--standardise", "--learner", "averaged")),
        *((name, ("--no-standardise",)) for name in (".csv", ".parquet", "-numbers.csv")),
        (".csv", ("--standardise", "--dictionary", "--class-weight", "yes=2", "--learner", "passive-aggressive")),
        ("-four.svm", ("--multiclass", "ovo")),
        ("-four.svm", ("--multiclass", "joint", "--learner", "perceptron", "--penalty", "l2")),
        (".svm", ("--learner", "soft-margin", "--loss", "logistic", "--normalise")),
    ],
)
def test_two_days_give_the_bytes_of_one_training_for_every_format(folder, name, options):
    one, two = days(folder, name, *options)
    assert one == two


def test_chunks_threads_caches_and_repeated_options_change_nothing(folder):
    options = ("--standardise", "--dictionary", "--label", "label")
    more = (
        "--chunk-bytes",
        700,
        "--threads",
        0,
        "--cache",
        folder / "rows.cache",
        "--bits",
        18,
        "--learner",
        "arow",
    )
    one, two = days(folder, ".csv", *options, further=(*options, *more))
    assert one == two
    one, two = days(folder, ".csv", *options, further=("--cache", folder / "rows.cache", "--passes", 1))
    assert one == two


def test_days_after_several_passes_are_one_pass_again(folder):
    base, one, two = (folder / f"{name}.base" for name in ("base", "one", "two"))
    run("train", folder / "1.svm", "--model", base, "--passes", 3, "--tol", "none")
    run("train", folder / "1.svm", folder / "2.svm", "--from", base, "--model", one, "--passes", 1)
    run("train", folder / "1.svm", "--from", base, "--model", two, "--passes", 1)
    run("train", folder / "2.svm", "--from", two)
    assert one.read_bytes() == two.read_bytes()
    before, after = (rosenblatt.load(path).training for path in (base, two))
    assert after["mistakes"][:3] == before["mistakes"]
    assert (after["epochs"], after["rows"], after["trials"]) == (4, 2100, 2100 + 1400)


def test_several_passes_go_on_from_the_weights_and_add_to_the_record(folder):
    first, second = folder / "p1.model", folder / "p2.model"
    run("train", folder / "1.svm", "--model", first, "--passes", 2, "--tol", "none")
    run("train", folder / "2.svm", "--from", first, "--model", second)
    before, after = rosenblatt.load(first), rosenblatt.load(second)
    X, y = load_svmlight(folder / "2.svm", n_features=1 << 18)
    for _ in range(2):
        before.learner.partial_fit(X, y)
    np.testing.assert_array_equal(before.learner.coef_, after.learner.coef_)
    assert after.training["epochs"] == len(after.training["mistakes"]) == 4
    assert after.learner.t_ == 2800


def test_an_announced_class_that_comes_on_the_second_day_has_the_weights_of_one_training(folder):
    lines = (folder / "1-four.svm").read_text().splitlines()
    (folder / "1-late.svm").write_text("".join(f"{line}\n" for line in lines if line[0] != "3"))
    (folder / "2-late.svm").write_text((folder / "2-four.svm").read_text())
    one, two = folder / "one.late", folder / "two.late"
    run("train", folder / "1-late.svm", folder / "2-late.svm", "--passes", 1, "--model", one)
    run("train", folder / "1-late.svm", "--passes", 1, "--model", two, "--classes", "0,1,2,3")
    run("train", folder / "2-late.svm", "--from", two)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_a_new_class_starts_from_zero_wherever_it_appears(folder, multiclass):
    for day, known in ((1, "01"), (2, "0123")):
        lines = (folder / f"{day}-four.svm").read_text().splitlines()
        (folder / f"{day}-new.svm").write_text("".join(f"{line}\n" for line in lines if line[0] in known))
    model, found = folder / "new.model", []
    options = ("--passes", 1, "--learner", "averaged", "--multiclass", multiclass)
    for size in (300, 1 << 20):
        run("train", folder / "1-new.svm", "--model", model, "--overwrite", *options)
        done = run("train", folder / "2-new.svm", "--from", model, "--chunk-bytes", size)
        assert "New labels: 2, 3. They start from zero weights" in done.stderr
        found.append(model.read_bytes())
    assert found[0] == found[1]
    assert rosenblatt.load(model).classes_.tolist() == [0, 1, 2, 3]
    new = rosenblatt.load(model).learner
    if multiclass == "ovr":  # the oracle: one perceptron for the new class, which has seen the second day only
        X, y = load_svmlight(folder / "2-new.svm", n_features=1 << 18)
        alone = rosenblatt.AveragedPerceptron().partial_fit(X, y == 3)
        np.testing.assert_array_equal(new.coef_[3], alone.coef_[0])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--learner", "arow"), "--learner arow contradicts the model of --from, which was trained with --learner"),
        (("--bits", 12), "--bits contradicts the model of --from"),
        (("--no-standardise",), "--standardise contradicts"),
        (("--label", "age"), "--label contradicts"),
        (("--columns", "age=category"), "--columns contradicts"),
        (("--eta0", 0.5), "--eta0 0.5 contradicts the model of --from, which was trained with --eta0 1.0"),
        (
            ("--class-weight", "yes=2"),
            "--class-weight yes=2 contradicts the model of --from, which was trained without it",
        ),
        (("--r", 2), "--r is not an option of averaged"),
        (("--shards", 2), "--from has no effect"),
    ],
)
def test_options_that_contradict_the_model_are_refused_by_name(folder, options, told):
    model = folder / "refusing.model"
    run("train", folder / "1.csv", "--learner", "averaged", "--model", model, "--overwrite")
    before = model.read_bytes()
    assert told in run("train", folder / "2.csv", "--from", model, *options, code=2).stderr
    assert model.read_bytes() == before


def test_a_model_is_replaced_only_on_request(folder):
    model, other = folder / "kept.model", folder / "other.model"
    run("train", folder / "1.svm", "--model", model)
    before = model.read_bytes()
    done = run("train", folder / "2.svm", "--model", model, code=2)
    assert f"{model} exists. To replace it, add --overwrite; to train it further, add --from {model}." in done.stderr
    run("train", folder / "2.svm", "--model", other)
    assert "exists" in run("train", folder / "2.svm", "--from", model, "--model", other, code=2).stderr
    assert model.read_bytes() == before
    run("train", folder / "2.svm", "--model", model, "--overwrite")
    assert model.read_bytes() != before
    assert "Missing option" in run("train", folder / "2.svm", code=2).stderr


def test_files_that_do_not_fit_and_other_models_get_clear_errors(folder):
    model = folder / "fits.model"
    run("train", folder / "1.csv", "--model", model, "--overwrite")
    odd = folder / "odd.csv"
    odd.write_text("age,pay,city,text,label\nold,1,Ulm,win,yes\n")
    assert "'old' in column 'age' is not a finite number" in run("train", odd, "--from", model, code=1).stderr
    assert "has no column" in run("train", folder / "1-numbers.csv", "--from", model, code=1).stderr
    plain = folder / "plain.model"
    rosenblatt.save(rosenblatt.Perceptron().fit([[0.0], [1.0]], [0, 1]), plain)
    assert "was not trained by rosenblatt train" in run("train", folder / "2.csv", "--from", plain, code=1).stderr


@pytest.mark.parametrize("most", [2, pytest.param(20, marks=pytest.mark.long)])
def test_after_many_kills_two_days_still_equal_one_training(tmp_path, most):
    big = {day: svmlight(tmp_path / f"{day}.svm", n=6000, seed=day) for day in (1, 2)}
    one, two, point = tmp_path / "one", tmp_path / "two", tmp_path / "checkpoint"
    run("train", big[1], big[2], "--passes", 1, "--model", one)
    run("train", big[1], "--passes", 1, "--model", two)
    checkpoints = ("--checkpoint", point, "--checkpoint-every", 0, "--resume")
    words = command("train", big[2], "--from", two, *checkpoints, "--chunk-bytes", 2000)
    kills = 0
    while kills < most:
        before = point.read_bytes() if point.exists() else b""
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        while process.poll() is None and (not point.exists() or point.read_bytes() == before):
            time.sleep(0.001)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    if point.exists() or not kills:
        assert subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0
    assert kills == most
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("option", ["--standardise", "--no-standardise"])
def test_the_reader_of_a_model_reads_as_the_source_does(folder, option):
    run("train", folder / "1.csv", "--model", folder / "r.model", "--overwrite", option, "--bits", 12)
    reader = rosenblatt.load(folder / "r.model").reader
    features = FeatureOptions(bits=12, standardise=option == "--standardise")
    learned = open_source(folder / "1.csv", learns=True, features=features)
    rows = np.concatenate([chunk.table.matrix().toarray() for chunk in learned])
    assert learned.reading == reader.reading
    found = replace(reader, moments=reader.moments and NO_ROWS).table(mixed_rows(700, 1), learn=True).matrix()
    np.testing.assert_array_equal(found.toarray(), rows)
    later = open_source(folder / "2.csv", reading=learned.reading, scaling=learned.scaling)
    rows = np.concatenate([chunk.table.matrix().toarray() for chunk in later])
    np.testing.assert_array_equal(reader.table(mixed_rows(700, 2)).matrix().toarray(), rows)
