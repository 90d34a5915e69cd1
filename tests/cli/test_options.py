"""Options as users write them."""

import os
import threading

import click
import numpy as np
import pytest

from commands import mails, run, spawn
from rosenblatt.cli.options import Columns, Range, plain, position_or_name


@pytest.mark.parametrize(("text", "value"), [("1", (1, 1)), ("1-3", (1, 3)), ("none", None)])
def test_ranges_of_n_grams(text, value):
    assert Range().convert(text, None, None) == value


def test_kinds_of_columns():
    assert Columns().convert("age=number,2=skip,a=b=text", None, None) == {"age": "number", 2: "skip", "a=b": "text"}
    for wrong in ("age", "age=float", "=number"):
        with pytest.raises(click.BadParameter):
            Columns().convert(wrong, None, None)


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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("train {data} --label kind --model {data}", "--model would write over"),
        ("train {data} --label kind --model m --cache {data}", "--cache would write over"),
        ("train {data} --label kind --model m --checkpoint {data}", "--checkpoint would write over"),
        ("train {pattern} --label kind --model m --checkpoint {data}", "--checkpoint would write over"),
        ("train {data} --label kind --model m --validation {other} --cache {other}", "--cache would write over"),
        ("train {data} --label kind --model m --checkpoint ./m", "--model and --checkpoint are one file"),
        ("predict {other} {data} --output {data}", "--output would write over"),
        ("predict {other} {data} --output {other}", "--output would write over"),
        ("convert {data} --output {data}", "--output would write over"),
        ("report {data} --label kind --output {data}", "--output would write over"),
        ("report {data} --label kind --test {other} --output {other}", "--output would write over"),
        ("certify {data} --label kind --output {data}", "--output would write over"),
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
@pytest.mark.parametrize("arguments", ["predict {model} {data} -o {pipe}", "convert {data} --to jsonl -o {pipe}"])
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
    for words in (("predict", model, data), ("convert", data, "--to", "jsonl", "--quiet")):
        assert spawn(*words, "-o", "/dev/stdout").stdout.count("\n") == 20


def test_a_cache_is_a_file(tmp_path):
    data = mails(tmp_path / "mails.csv", 20)
    assert (
        "is a folder, a device or a pipe"
        in run(*("train", data, "--label", "kind", "--model", tmp_path / "m", "--cache", os.devnull), code=1).stderr
    )
