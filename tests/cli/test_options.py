"""Options as users write them."""

import os
import re
import threading

import click
import numpy as np
import pytest

from commands import mails, run, spawn
from rosenblatt.cli.main import COMMANDS as COMMANDS_OF_THE_PROGRAM
from rosenblatt.cli.options import column_kinds, ngram_range, plain, position_or_name
from rosenblatt.cli.spellings import EQUIVALENTS


@pytest.mark.parametrize(("text", "value"), [("1", (1, 1)), ("1-3", (1, 3)), ("none", None)])
def test_ranges_of_n_grams(text, value):
    assert ngram_range(text) == value


def test_kinds_of_columns():
    assert column_kinds("age=number,2=skip,a=b=text") == {"age": "number", 2: "skip", "a=b": "text"}
    for wrong in ("age", "age=float", "=number"):
        with pytest.raises(click.BadParameter):
            column_kinds(wrong)


@pytest.mark.parametrize(("text", "value"), [("3", 3), ("-1", -1), ("age", "age")])
def test_columns_by_position_or_name(text, value):
    assert position_or_name(text) == value


@pytest.mark.parametrize(("label", "value"), [(1.0, 1), (np.float64(-1.0), -1), (0.5, 0.5), (np.str_("a"), "a")])
def test_labels_look_as_in_the_file(label, value):
    assert plain(label) == value
    assert type(plain(label)) is type(value)


def test_help_has_sections():
    text = run("train", "--help").stdout
    for title in ("Learner:", "Training:", "Input:", "Features:", "Options:"):
        assert f"\n{title}\n" in text


PLAIN = ("serve", "lab", "demo", "completion")
COMMANDS_WITH_SECTIONS = [name for name in COMMANDS_OF_THE_PROGRAM if name not in PLAIN]


@pytest.mark.parametrize("name", COMMANDS_WITH_SECTIONS)
def test_help_is_short_and_help_all_has_the_rest(name):
    short, whole = (run(name, flag).stdout for flag in ("--help", "--help-all"))
    assert set(re.findall(r"^  (-.*?)(?:  |$)", short, re.M)) < set(re.findall(r"^  (-.*?)(?:  |$)", whole, re.M))
    assert not re.search(r"\b(float|int|str|bool|callable|None|True|False|INTEGER|RANGE)\b", short + whole)


@pytest.mark.parametrize("words", [["--help", "--learner", "arow"], ["--learner=arow", "--help"]])
def test_the_help_of_a_learner_has_its_parameters(words):
    text = run("train", *words).stdout
    assert "--covariance auto|diagonal|full" in text
    assert "--eta0" not in text


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("--epoch 3", "Did you mean '--epochs'?"),
        ("--zzz", "There is no option --zzz.\n"),
        ("-t", "use rosenblatt predict"),
        ("-f final.model", "use -m, --model FILE"),
        ("-i old.model", "use --from MODEL"),
        ("-p out", "--output FILE"),
        ("-c", "leave it out"),
        ("-d data.vw", "name the files without an option"),
        ("--learning_rate 2", "use --eta0"),
        ("--loss_function=logistic", "--learner soft-margin --loss logistic"),
        ("--bit_precision 20", "use -b, --bits"),
    ],
)
def test_a_wrong_option_is_answered_with_the_right_one(option, hint):
    assert hint in run("train", "data.vw", "--model", "m", *option.split(), code=2).stderr


def test_options_of_vowpal_wabbit_have_equivalents_that_exist():
    texts = "".join(run(name, "--help-all").stdout for name in COMMANDS_WITH_SECTIONS)
    for name in EQUIVALENTS:
        for option in re.findall(r"--[a-z0-9-]+", EQUIVALENTS[name]):
            assert f"{option} " in texts or option in ("--from", "--cross", "--proba"), f"{name}: {option}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("train {data} --label kind --model {data}", "--model would overwrite"),
        ("train {data} --label kind --model m --cache {data}", "--cache would overwrite"),
        ("train {data} --label kind --model m --checkpoint {data}", "--checkpoint would overwrite"),
        ("train {pattern} --label kind --model m --checkpoint {data}", "--checkpoint would overwrite"),
        ("train {data} --label kind --model m --validation {other} --cache {other}", "--cache would overwrite"),
        ("train {data} --label kind --model m --checkpoint ./m", "--model and --checkpoint are the same file"),
        ("predict {data} --model {other} --output {data}", "--output would overwrite"),
        ("predict {data} --model {other} --output {other}", "--output would overwrite"),
        ("convert {data} --output {data}", "--output would overwrite"),
        ("report {data} --label kind --output {data}", "--output would overwrite"),
        ("report {data} --label kind --test {other} --output {other}", "--output would overwrite"),
        ("certify {data} --label kind --output {data}", "--output would overwrite"),
    ],
)
def test_no_command_writes_over_what_it_reads(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    names = {"data": mails(tmp_path / "mails.csv", 20), "other": mails(tmp_path / "other.csv", 20)}
    before = {name: path.read_bytes() for name, path in names.items()}
    words = [word.format(**names, pattern=tmp_path / "mail*.csv") for word in arguments.split()]
    assert sentence in run(*words, code=2).stderr
    assert {name: path.read_bytes() for name, path in names.items()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mails.csv", "other.csv"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    "arguments", ["predict {data} --model {model} -o {pipe}", "convert {data} --to jsonl -o {pipe}"]
)
def test_what_is_written_to_a_pipe_or_a_device_goes_there(tmp_path, arguments):
    """A file that takes its place would replace /dev/null for everybody."""
    data, model, pipe = mails(tmp_path / "mails.csv", 20), tmp_path / "m", tmp_path / "pipe"
    run("train", data, "--label", "kind", "--model", model, "--quiet")
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    run(*(word.format(data=data, model=model, pipe=pipe) for word in arguments.split()))
    reader.join()
    assert found[0].count("\n") == 20
    assert pipe.is_fifo()


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="this system has no /dev/stdout")
def test_the_output_may_be_named_as_a_device(tmp_path):
    data, model = mails(tmp_path / "mails.csv", 20), tmp_path / "m"
    run("train", data, "--label", "kind", "--model", model, "--quiet")
    for words in (("predict", data, "--model", model), ("convert", data, "--to", "jsonl", "--quiet")):
        assert spawn(*words, "-o", "/dev/stdout").stdout.count("\n") == 20


def test_a_cache_is_a_file(tmp_path):
    data = mails(tmp_path / "mails.csv", 20)
    assert (
        "is a folder, a device or a pipe"
        in run(*("train", data, "--label", "kind", "--model", tmp_path / "m", "--cache", os.devnull), code=1).stderr
    )


# --------------------------------------------------------------------------------------- options that change nothing

VW = "1 |a word:2 other |b x\n-1 | word:3\n" * 10
COMMANDS = {
    "train": ("--model", "{folder}/m"),
    "evaluate": ("--folds", "2"),
    "convert": ("--output", "{folder}/out.jsonl"),
    "certify": (),
    "trace": (),
    "info": (),
    "report": ("--output", "{folder}/out.html"),
}
OF_OTHER_FORMATS = {
    "--label": "kind",
    "--header": "yes",
    "--columns": "a=text",
    "--zero-based": "yes",
    "--words": "1-2",
    "--letters": "2-3",
    "--keep-case": None,
    "--counts": "binary",
    "--standardise": None,
}
# Their default values change nothing, either.
OF_OTHER_FORMATS_BY_DEFAULT = {
    "--header": "auto",
    "--zero-based": "auto",
    "--words": "1",
    "--lowercase": None,
    "--counts": "log",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_takes_an_option_that_its_file_does_not(tmp_path, name):
    data = tmp_path / "data.vw"
    data.write_text(VW)
    own = [word.format(folder=tmp_path) for word in COMMANDS[name]]
    for flag, value in (*OF_OTHER_FORMATS.items(), *OF_OTHER_FORMATS_BY_DEFAULT.items()):
        unknown = name == "convert" and flag in ("--counts", "--standardise")  # which no conversion has
        done = run(name, data, *own, flag, *([value] if value else []), code=2 if unknown else 1)
        assert flag in done.stderr
        assert unknown or f"{data} is Vowpal Wabbit's text" in done.stderr
    assert os.listdir(tmp_path) == ["data.vw"]


def test_a_learning_rate_of_vowpal_wabbit_is_no_label(tmp_path):
    data = tmp_path / "data.vw"
    data.write_text(VW)
    error = run("train", data, "-l", "0.5", "--model", tmp_path / "m", code=1).stderr
    assert "label='0.5' (--label)" in error
    assert "is --eta0 here" in error


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        ("evaluate {data} --model {model} --words 1-2", "--words"),
        ("evaluate {data} --model {model} --label kind", "--label"),
        ("evaluate {data} --model {model} --learner arow", "--learner"),
        ("evaluate {data} --model {model} --max-iter 3", "--epochs"),
        ("evaluate {data} --model {model} --keep-case", "--keep-case"),
        ("evaluate {data} --label kind --progressive --max-iter 3", "--epochs"),
        ("evaluate {data} --label kind --progressive --shuffle", "--shuffle"),
        ("evaluate {data} --label kind --folds 2 --shards 2", "--shards"),
        ("evaluate {data} --label kind --folds 2 --shuffle", "--shuffle"),
        ("train {data} --label kind --model m --no-cache --shuffle", "--shuffle"),
        ("certify {data} --model {model} --words 1-2", "--words"),
        ("certify {data} --label kind --bits 10", "--bits"),
        ("info {model} --words 1-2", "--words"),
        ("info {data} --top 3", "--top"),
        ("train {data} --label kind --model m --checkpoint-every 5", "--checkpoint-every"),
        ("train {data} --label kind --model m --mixes 2", "--mixes"),
        ("train {data} --label kind --model m --no-cache --cache c", "--cache"),
        ("train {data} --label kind --model m --no-cache --cache-bytes 9", "--cache-bytes"),
        ("train {data} --label kind --model m --shards 2 --checkpoint-every 5", "--checkpoint-every"),
        ("train {data} --label kind --model m --learner arow --eta0 3", "--eta0"),
        ("train {numbers} --model m --learner adaline-regressor --class-weight 1=2", "--class-weight"),
        ("train {numbers} --model m --learner adaline-regressor --classes 0,1", "--classes"),
        ("train {numbers} --model m --learner perceptron --alpha 0.1", "--alpha"),
        ("train {numbers} --model m --learner soft-margin --l1-ratio 0.1", "--l1-ratio"),
        ("train {numbers} --model m --learner soft-margin --eta0 0.1", "--eta0"),
        ("train {numbers} --model m --learner winnow --threshold 3", "--threshold"),
        ("train {numbers} --model m --tol none --n-iter-no-change 3", "--n-iter-no-change"),
        ("train {numbers} --model m --random-state 3", "--random-state"),
        ("train {numbers} --model m --epochs 1 --shuffle", "--shuffle"),
        ("train {numbers} --model m --cache-bytes 1000000", "--cache-bytes"),
        ("evaluate {numbers} --folds 2 --random-state 3", "--random-state"),
        ("report {numbers} --output r.html --no-shuffle --random-state 3", "--random-state"),
        ("lab --label kind", "--label"),
        ("lab --export lab.html --port 8000", "--port"),
        ("lab --export lab.html --no-browser", "--no-browser"),
        ("demo --output d.png --no-picture", "--output"),
    ],
)
def test_options_that_other_options_leave_without_effect_are_refused(tmp_path, monkeypatch, arguments, flag):
    monkeypatch.chdir(tmp_path)
    names = {"data": mails(tmp_path / "mails.csv", 20), "model": tmp_path / "a.model", "numbers": tmp_path / "n.csv"}
    names["numbers"].write_text("x,y\n1,0\n2,1\n")
    run("train", names["data"], "--label", "kind", "--model", names["model"], "--quiet")
    before = sorted(os.listdir(tmp_path))
    done = run(*(word.format(**names) for word in arguments.split()), code=2)
    assert f"{flag} " in done.stderr
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize(("more", "code"), [("", 2), ("--classes ham,spam", 2), ("--shards 2", 1)])
def test_a_factor_of_a_label_that_no_row_has_is_refused(tmp_path, more, code):
    data = mails(tmp_path / "mails.csv", 40)
    words = ("--label", "kind", "--class-weight", "ja=2,spam=3", *more.split())
    done = run("train", data, "--model", tmp_path / "m", *words, code=code)
    assert "names 'ja'" in done.stderr
    assert re.search("ham.*spam", done.stderr)
    assert os.listdir(tmp_path) == ["mails.csv"]
    run("train", data, "--model", tmp_path / "m", *[word.replace("ja", "ham") for word in words])


@pytest.mark.parametrize("way", [("--folds", "2"), ("--progressive",)])
def test_evaluations_refuse_such_a_factor_too(tmp_path, way):
    data = mails(tmp_path / "mails.csv", 200)
    done = run("evaluate", data, "--label", "kind", *way, "--class-weight", "ja=2", code=2)
    assert "--class-weight names 'ja'" in done.stderr
