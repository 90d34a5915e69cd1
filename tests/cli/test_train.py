"""Training from the command line: models that do not depend on how the work was done."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

import rosenblatt
from commands import command, mails, run, spawn, svmlight
from rosenblatt.datasets import load_svmlight

OVERWRITE = ("train", "--overwrite")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    svmlight(folder / "two.svm")
    svmlight(folder / "four.svm", classes=4, seed=1)
    mails(folder / "mails.csv")
    return folder


def trained(folder, *arguments, name="two.svm"):
    model = folder / f"model-{abs(hash(arguments))}"
    run("train", "--overwrite", folder / name, "--model", model, "--quiet", *arguments)
    return model.read_bytes()


@pytest.mark.parametrize("name", ["two.svm", "four.svm"])
def test_the_model_does_not_depend_on_chunks_threads_or_caches(folder, name):
    wanted = trained(folder, name=name)
    for arguments in (
        ["--chunk-bytes", 1000],
        ["--threads", 0],
        ["--threads", 3, "--chunk-bytes", 5000],
        ["--cache", folder / f"{name}.cache"],
        ["--cache", folder / f"{name}.cache"],  # which is there now
        ["--no-cache"],
    ):
        assert trained(folder, *arguments, name=name) == wanted


@pytest.mark.parametrize("option", ["--standardise", "--dictionary", "--holdout=3"])
def test_a_training_from_the_cache_of_another_gives_its_model_and_says_the_same(folder, option):
    rows = [f"{100 + i % 7},{i / 9},{int(i % 7 > 3)}" for i in range(60)]
    data, model = folder / "raw.csv", folder / "raw.model"
    data.write_text("\n".join(["a,b,y", *rows, "NA,1,0", ""]))
    found = []
    for _ in range(2):
        done = run("train", "--overwrite", data, "--model", model, option, "--cache", folder / f"raw{option}.cache")
        told = [line for line in done.stderr.splitlines() if "The model is in" not in line]
        found.append((model.read_bytes(), done.stdout, told))
    assert found[0] == found[1]
    assert "1 value is missing." in found[1][2]


@pytest.mark.parametrize(
    ("learner", "estimator"),
    [
        ("averaged", rosenblatt.AveragedPerceptron(keep="last")),
        ("arow", rosenblatt.AROW(keep="last")),
        ("soft-margin", rosenblatt.SoftMargin()),
    ],
)
def test_the_model_is_that_of_the_library(folder, learner, estimator):
    X, y = load_svmlight(folder / "four.svm", n_features=1 << 18)
    estimator.set_params(max_iter=5, tol=None, shuffle=False, intercept_scaling=1.0).fit(X, y)
    model = folder / "same.model"
    options = ["--tol", "none", "--learner", learner, "--intercept-scaling", 1]
    run("train", "--overwrite", folder / "four.svm", "--model", model, "--quiet", *options)
    loaded = rosenblatt.load_linear(model)
    np.testing.assert_array_equal(loaded.W, estimator.coef_)
    np.testing.assert_array_equal(loaded.b, estimator.intercept_)
    assert rosenblatt.load(model).training["learner"] == loaded.origin["training"]["learner"] == learner


def test_training_and_predicting_import_no_scikit_learn(folder):
    lines = [
        "import sys",
        "from rosenblatt.cli.main import main",
        "sys.argv[1] == 'x'",
        "try:",
        "    main(sys.argv[1:])",
        "finally:",
        "    print('sklearn' in sys.modules, file=sys.stderr)",
    ]
    for arguments in (
        ["train", "two.svm", "--model", "m", "--quiet"],
        ["predict", "two.svm", "--model", "m", "-o", "predicted"],
        ["evaluate", "two.svm", "-m", "m"],
    ):
        process = [command()[0], "-c", "\n".join(lines), *arguments]
        done = subprocess.run(process, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert done.stderr.endswith("False\n")


def test_held_out_rows_choose_the_epoch_that_is_kept(folder):
    done = run(
        "train", "--overwrite", folder / "two.svm", "--model", folder / "h", "--holdout", 5, "--epochs", 8, "--json"
    )
    told = json.loads(done.stdout)
    assert told["errors"][told["kept"] - 1] == min(told["errors"])
    done = run(
        "train",
        "--overwrite",
        folder / "two.svm",
        "--model",
        folder / "h",
        "--validation",
        folder / "two.svm",
        "--json",
    )
    error = 1 - json.loads(run("evaluate", folder / "two.svm", "-m", folder / "h", "--json").stdout)["accuracy"]
    assert min(json.loads(done.stdout)["errors"]) == pytest.approx(error)


def test_a_dictionary_gives_the_columns_names(folder):
    run("train", folder / "mails.csv", "--label", "kind", "--dictionary", "--model", folder / "d", "--quiet")
    model = rosenblatt.load_linear(folder / "d")
    assert "subject=prize" in model.feature_names
    assert len(model.feature_names) == model.W.shape[1]
    predicted = run("predict", folder / "mails.csv", "--model", folder / "d").stdout.split()
    assert set(predicted) == {"ham", "spam"}


def test_standard_input_gives_the_model_of_the_file_in_one_pass_or_several(folder):
    for passes in (["--epochs", 1], []):
        with open(folder / "two.svm", "rb") as file:
            done = spawn("train", "--overwrite", "-", "--model", folder / "in", "--quiet", *passes, stdin=file)
        assert done.returncode == 0, done.stderr
        run("train", "--overwrite", folder / "two.svm", "--model", folder / "out", "--quiet", *passes)
        assert rosenblatt.load_linear(folder / "in").W.tobytes() == rosenblatt.load_linear(folder / "out").W.tobytes()
        assert not (folder / "in.cache").exists()
    with open(folder / "two.svm", "rb") as file:
        done = spawn("train", "--overwrite", "-", "--model", folder / "in", "--quiet", "--no-cache", stdin=file)
    assert done.returncode == 1
    assert "only once" in done.stderr


def test_tables_are_standardised_unless_told_not_to(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2)) * [1, 1e4]
    lines = [f"{a},{b},{int(a > 0)}" for a, b in X.tolist()]
    (tmp_path / "a.csv").write_text("\n".join(["small,large,y", *lines]) + "\n")
    accuracy = {}
    for option in (None, "--standardise", "--no-standardise"):
        run(
            "train",
            tmp_path / "a.csv",
            "--overwrite",
            "--model",
            tmp_path / "m",
            "--learner",
            "averaged",
            *[option] * bool(option),
        )
        accuracy[option] = json.loads(run("evaluate", tmp_path / "a.csv", "--model", tmp_path / "m", "--json").stdout)
    assert accuracy[None] == accuracy["--standardise"]
    assert accuracy[None]["accuracy"] > 0.9 > accuracy["--no-standardise"]["accuracy"]


def test_ids_are_left_out_with_a_note_and_used_on_request(tmp_path):
    lines = [f"u{k:03},{k + 100},{k % 7},{k % 2}" for k in range(120)]
    (tmp_path / "a.csv").write_text("\n".join(["user,number,x,y", *lines]) + "\n")
    told = run("train", tmp_path / "a.csv", "--model", tmp_path / "m").stderr
    assert told.count("has another value in each row, as an id has: it is left out") == 2
    assert "To use it, pass --columns user=category." in told
    columns = "user=category,number=number"
    told = run("train", tmp_path / "a.csv", "--model", tmp_path / "n", "--columns", columns).stderr
    assert "as an id has" not in told


def test_a_label_that_looks_like_an_id_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("\n".join(["x,name", *(f"{k % 7},u{k}" for k in range(60))]) + "\n")
    told = run("train", tmp_path / "a.csv", "--model", tmp_path / "m", code=1).stderr
    assert "Each of the first 60 rows has a different label, such as 'u0'" in told


def test_class_weights_and_classes_are_options(folder):
    weighted = trained(folder, "--class-weight", "0=3,1=1")
    assert weighted != trained(folder)
    assert trained(folder, "--class-weight", "balanced") != trained(folder)
    model = trained(folder, "--classes", "0,1,2")
    assert b"\x00" in model
    assert rosenblatt.load_linear(folder / f"model-{abs(hash(('--classes', '0,1,2')))}").classes.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "code", "fault"),
    [
        (["none.svm"], 1, "none.svm"),
        (["two.svm", "--model", "no/where"], 1, "does not exist"),
        (["two.svm", "--learner", "averaged", "--margin", "-1"], 2, "margin=-1"),
        (["two.svm", "--learner", "arow", "--margin", "1"], 2, "--margin is not an option of arow"),
        (["two.svm", "--learner", "winnow", "--multiclass", "joint"], 2, "does not exist for Winnow"),
        (["two.svm", "--resume"], 2, "--checkpoint"),
        (["two.svm", "--holdout", "5", "--validation", "two.svm"], 2, "Choose one"),
        (["two.svm", "--classes", "0,7"], 1, "not among the announced"),
        (["two.svm", "--words", "x"], 2, "n-grams"),
        (["two.svm", "--class-weight", "a=b"], 2, "LABEL=FACTOR"),
        (["two.svm", "--tol", "soon"], 2, "tol='soon'"),
        (["."], 1, "directory"),
    ],
)
def test_a_mistake_of_the_user_is_a_sentence_and_an_exit_code(folder, arguments, code, fault, monkeypatch):
    monkeypatch.chdir(folder)
    if "--model" not in arguments:
        arguments = [*arguments, "--model", "unwritten"]
    done = run("train", "--overwrite", *arguments, code=code)
    assert fault in done.stderr
    assert not (folder / "unwritten").exists()


def test_damaged_lines_are_errors_or_are_counted(folder):
    text = (folder / "two.svm").read_text().splitlines()
    (folder / "bad.svm").write_text("\n".join([*text[:50], "1 3:x", *text[50:]]))
    done = run("train", folder / "bad.svm", "--model", folder / "bad", code=1)
    assert "line 51" in done.stderr
    done = run("train", "--overwrite", folder / "bad.svm", "--model", folder / "bad", "--on-error", "skip")
    assert "Skipped 1 line" in done.stderr
    assert (folder / "bad").read_bytes() == trained(folder)


def test_rows_that_come_sorted_by_label_are_pointed_out(folder):
    lines = sorted((folder / "two.svm").read_text().splitlines())
    (folder / "sorted.svm").write_text("\n".join(lines) + "\n")
    assert "grouped by label" in run("train", "--overwrite", folder / "sorted.svm", "--model", folder / "s").stderr
    assert (
        "grouped by label"
        in run("train", "--overwrite", folder / "sorted.svm", "--model", folder / "s", "--chunk-bytes", 500).stderr
    )
    assert (
        "grouped by label"
        not in run("train", "--overwrite", folder / "sorted.svm", "--model", folder / "s", "--shuffle").stderr
    )
    assert "grouped by label" not in run("train", "--overwrite", folder / "two.svm", "--model", folder / "s").stderr


# --------------------------------------------------------------------------------------------- interruptions, accidents


@pytest.fixture(scope="module")
def long_task(folder):
    svmlight(folder / "long.svm", n=30000, seed=2)
    return ["--epochs", 12, "--tol", "none", "--chunk-bytes", 20000, "--quiet"]


@pytest.mark.parametrize(
    "more", [[], *(pytest.param(more, marks=pytest.mark.long) for more in (["--shuffle"], ["--holdout", 7]))], ids=str
)
def test_a_training_that_is_killed_and_resumed_writes_the_same_bytes(folder, long_task, more):
    options = [*long_task, *more]
    done = spawn("train", "--overwrite", folder / "long.svm", "--model", folder / "whole", *options)
    assert done.returncode == 0, done.stderr
    random, kills = np.random.default_rng(0), int(os.environ.get("ROSENBLATT_KILLS", "2"))
    model, checkpoint = folder / "killed", folder / "checkpoint"
    model.unlink(missing_ok=True)
    options += ["--checkpoint", checkpoint, "--checkpoint-every", 0.02, "--resume"]
    killed = 0
    while killed < kills:
        process = subprocess.Popen(command("train", "--overwrite", folder / "long.svm", "--model", model, *options))
        deadline = time.monotonic() + 60
        while not checkpoint.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(random.uniform(0, 0.4))
        finished = process.poll() is not None
        process.kill()
        process.wait()
        killed += 1
        if finished or killed % 5 == 0 or killed == kills:
            assert spawn("train", "--overwrite", folder / "long.svm", "--model", model, *options).returncode == 0
            assert model.read_bytes() == (folder / "whole").read_bytes()
            assert not checkpoint.exists()


@pytest.mark.parametrize("option", ["--standardise", "--dictionary", "--bits=10"])
def test_a_resumed_training_keeps_names_scaling_and_encoding(monkeypatch, tmp_path, option):
    """Of which the rows after the checkpoint need not show any more."""
    from rosenblatt.training.checkpoint import Checkpoint

    data, checkpoint = tmp_path / "a.csv", tmp_path / "checkpoint"
    rows = "".join(f"{i % 5},{'big' * (i % 3)},{i % 2}\n" for i in range(60))
    data.write_text(f"a,k,y\n{rows}7,größer,1\n{rows}", encoding="utf-8")
    options = [data, "--epochs", 2, "--chunk-bytes", 100, "--tol", "none", option]
    run("train", "--overwrite", "--model", tmp_path / "unbroken", *options)
    options += ["--model", tmp_path / "resumed", "--checkpoint", checkpoint, "--checkpoint-every", 0, "--resume"]
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "remove", lambda self: None)
        run("train", *options)
    (tmp_path / "resumed").unlink()
    assert "Resuming." in run("train", *options).stderr
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "unbroken").read_bytes()
    assert rosenblatt.load_linear(tmp_path / "resumed").origin["utf8"]


@pytest.mark.parametrize("more", [[], ["--holdout", 7]], ids=str)
def test_a_training_killed_after_the_last_chunk_of_an_epoch_goes_on(folder, more, monkeypatch, tmp_path):
    """The resumed process presents no row before its first epoch is over."""
    from rosenblatt.training.checkpoint import Checkpoint

    options = ["--epochs", 1, "--tol", "none", "--intercept-scaling", 1, *more]
    run("train", "--overwrite", folder / "two.svm", "--model", folder / "unbroken", *options)
    killed, checkpoint = tmp_path / "killed", tmp_path / "checkpoint"
    options += ["--checkpoint", checkpoint, "--checkpoint-every", 0, "--resume"]
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "remove", lambda self: None)  # as if killed before the file was removed
        run("train", folder / "two.svm", "--model", killed, *options)
    killed.unlink()
    assert "Resuming." in run("train", folder / "two.svm", "--model", killed, *options).stderr
    assert killed.read_bytes() == (folder / "unbroken").read_bytes()


def test_an_interruption_writes_the_model_so_far_and_says_so(folder, long_task):
    model, checkpoint = folder / "interrupted", folder / "interrupted.checkpoint"
    options = [option for option in long_task if option != "--quiet"]
    arguments = ["--model", model, *options, "--epochs", 100000, "--checkpoint", checkpoint, "--checkpoint-every", 0]
    process = subprocess.Popen(
        command("train", folder / "long.svm", *arguments), stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f"Interrupted: the model so far is in {model}." in told
    assert "Traceback" not in told
    assert rosenblatt.load_linear(model).W.any()
    assert checkpoint.exists()


def limited(size):
    import resource

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.parametrize(
    "more", [[], ["--cache", "full.cache"], ["--checkpoint", "full.checkpoint", "--checkpoint-every", "0"]]
)
def test_a_full_disk_is_an_error_and_the_old_model_stays(folder, more):
    (folder / "old").write_bytes(b"the old model")
    done = spawn(
        "train", "two.svm", "--model", "old", "--overwrite", "--quiet", *more, cwd=folder, preexec_fn=limited(500)
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in done.stderr
    assert (folder / "old").read_bytes() == b"the old model"
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_a_disk_that_is_full_at_a_checkpoint_does_not_end_the_training(tmp_path):
    """The model is smaller than a checkpoint, which has the best weights too, and fits."""
    data = svmlight(tmp_path / "wide.svm", features=400)  # so that weights, not their description, decide the sizes
    options = ["--bits", 12, "--epochs", 3, "--learner", "perceptron", "--holdout", 5, "--quiet"]
    assert spawn("train", "--overwrite", data, "--model", tmp_path / "unbroken", *options).returncode == 0
    size, checkpoint = (tmp_path / "unbroken").stat().st_size, tmp_path / "checkpoint"
    checkpoint.write_bytes(b"the last good one")
    told = spawn(
        *(
            "train",
            "--overwrite",
            data,
            "--model",
            tmp_path / "m",
            *options,
            "--checkpoint",
            checkpoint,
            "--checkpoint-every",
            0,
        ),
        preexec_fn=limited(size),
    )
    assert told.returncode == 0
    assert told.stderr.count("cannot be written") == 1
    assert "the last one is kept, and training continues" in told.stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "unbroken").read_bytes()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_what_killed_trainings_and_conversions_left_is_removed_by_the_next(folder, tmp_path):
    """A pipe that nobody closes holds each in the middle of its work, and SIGKILL ends it there."""
    rows = (folder / "two.svm").read_bytes()
    for words in (["train", "-", "--model", "m", "--cache", "c"], ["convert", "big.svm", "--output", "out.jsonl"]):
        (tmp_path / "big.svm").write_bytes(rows * 200)
        process = subprocess.Popen(command(*words), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path)
        if words[1] == "-":
            process.stdin.write(rows * 60)
            process.stdin.flush()
        while not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")] and process.poll() is None:
            time.sleep(0.01)
        run("train", "--overwrite", folder / "two.svm", "--model", tmp_path / "other", "--quiet")
        assert [name for name in os.listdir(tmp_path) if name.endswith(".tmp")], "a living process has lost its file"
        process.kill()
        process.communicate()
        run("train", "--overwrite", folder / "two.svm", "--model", tmp_path / "other", "--quiet")
        assert not [name for name in os.listdir(tmp_path) if name.endswith((".tmp", ".part"))]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no folder here in which nobody can write")
@pytest.mark.parametrize(
    "words",
    [
        "train two.svm --model {place}",
        "train two.svm --model m --cache {place}",
        "train two.svm --model m --checkpoint {place}",
        "convert two.svm --to jsonl --output {place}",
        "certify two.svm --output {place}",
        "report two.svm --output {place}",
        "predict two.svm --model no-such-model --output {place}",
    ],
)
def test_a_place_where_nothing_can_be_written_is_noticed_before_the_work(folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    option = words.split()[-2]
    for place, fault in (("/proc/self/x", "is not writable"), ("no/x", "does not exist")):
        told = run(*words.format(place=place).split(), code=1).stderr
        assert option in told
        assert fault in told
        assert "epoch" not in told
    assert sorted(os.listdir(folder)) == before


def test_the_rows_of_each_file_are_told(tmp_path):
    for k in range(30):
        (tmp_path / f"{k:02}.csv").write_text("a,y\n" + f"{k},0\n{k + 1},1\n" * (k + 1))
    told = run("train", "--overwrite", str(tmp_path / "*.csv"), "--model", tmp_path / "m").stderr
    assert f"{tmp_path / '03.csv'}: 8 rows\n" in told
    assert f"... and {sum(2 * (k + 1) for k in range(20, 30))} rows in 10 more files\n" in told
    shown = run(
        "train", "--overwrite", tmp_path / "03.csv", tmp_path / "04.csv", "--model", tmp_path / "m", "--json"
    ).stdout
    assert json.loads(shown)["files"] == {str(tmp_path / "03.csv"): 8, str(tmp_path / "04.csv"): 10}


def test_an_index_of_pandas_is_left_out_with_a_note(tmp_path):
    (tmp_path / "a.csv").write_text(",size,kind\n" + "".join(f"{k},{k % 7},{'xy'[k % 7 > 2]}\n" for k in range(40)))
    for more in ([], ["--label", "kind"], ["--json"]):
        done = run("train", "--overwrite", tmp_path / "a.csv", "--model", tmp_path / "m", *more)
        assert "a.csv: column 0 has no name, as pandas writes the index of a frame: it is left out." in done.stderr
        assert rosenblatt.load_linear(tmp_path / "m").feature_names == ("size",)
    assert not run("train", "--overwrite", tmp_path / "a.csv", "--model", tmp_path / "m", "--quiet").stderr


def test_names_of_held_out_files_are_those_of_the_training(tmp_path):
    """The words of a validation file had columns in the order in which that file has them."""
    (tmp_path / "a.csv").write_text("colour,n,y\nred,1,0\nblue,2,1\ngreen,3,0\nred,4,1\n")
    (tmp_path / "b.csv").write_text("y,n,colour\n0,1,green\n1,2,blue\n0,3,red\n1,4,red\n1,4,new\n")
    arguments = [tmp_path / "a.csv", "--validation", tmp_path / "b.csv", "--model", tmp_path / "m", "--json"]
    hashed, named = (
        json.loads(run("train", "--overwrite", *arguments, *more).stdout)["errors"] for more in ([], ["--dictionary"])
    )
    assert hashed == named
    run("train", tmp_path / "a.csv", "--validation", "-", "--model", tmp_path / "m", code=2)


def test_a_column_that_outweighs_the_others_is_named_with_a_cure(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 3)) * [1, 1e5, 1]
    lines = [f"{int(a > 0)} 1:{a:.4f} 2:{b:.1f} 3:{c:.4f}" for a, b, c in X.tolist()]
    (tmp_path / "a.svm").write_text("\n".join(lines) + "\n")
    table = [f"{a},{b},{c},{int(a > 0)}" for a, b, c in X.tolist()]
    (tmp_path / "a.csv").write_text("\n".join(["small,large,other,y", *table]) + "\n")
    options = ["--overwrite", "--model", tmp_path / "m", "--learner"]
    told = run("train", tmp_path / "a.svm", *options, "averaged").stderr
    assert "column 2 (root mean square" in told
    assert "Scale the columns of the file, or use --learner arow" in told
    assert "root mean square" not in run("train", tmp_path / "a.svm", *options, "arow").stderr
    told = run("train", tmp_path / "a.csv", *options, "averaged", "--no-standardise").stderr
    assert "large (root mean square" in told
    assert "Leave out --no-standardise" in told
    assert "root mean square" not in run("train", tmp_path / "a.csv", *options, "averaged").stderr
