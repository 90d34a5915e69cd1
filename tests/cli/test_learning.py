"""Lines are answered by the model that has learned those before them, and a crash loses or repeats none."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rosenblatt
from commands import command, run

# Runs a command with a small journal, and kills itself when it calls one of these functions for the n-th time.
KILLED = """
import os, signal, sys
from rosenblatt.cli import learning
from rosenblatt.cli.main import main
learning.MAX_JOURNAL_BYTES = 3000
left = int(sys.argv.pop(1))
def dying(function):
    def call(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return call
if left:
    for name in ("write", "fsync", "replace", "read"):
        setattr(os, name, dying(getattr(os, name)))
main()
"""


def rows_of(n, seed=0):
    """Dicts of a number, a category, words and a label; every seventh has no label."""
    random = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        age, city = round(float(random.normal(40, 15)), 2), str(random.choice(["Ulm", "Bonn", "Kiel"]))
        words = " ".join(random.choice(["win", "cash", "lunch", "noon", "call"], 4))
        good = (age - 40) / 10 + (city == "Ulm") + words.count("win") + random.normal() > 1
        row = {"key": f"k{k}", "age": age, "city": city, "text": words, "label": "yes" if good else "no"}
        rows.append(row)
    return rows


def as_vw(row, k):
    label = {"yes": "1 ", "no": "-1 ", "maybe": "2 "}.get(row.get("label"), "")
    weight = "2.5 " if label and k % 5 == 0 else ""
    return f"{label}{weight}'{row['key']}|c {row['city']} |w age:{row['age']} {row['text']}"


def unlabelled(rows):
    return [{**row, "label": None} if k % 7 == 3 else row for k, row in enumerate(rows)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines")
    rows = rows_of(300)
    (folder / "a.vw").write_text("".join(as_vw(row, 1) + "\n" for row in rows))
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = list(rows[0])
    (folder / "a.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in [names, *map(dict.values, rows)]))
    skip = ["--columns", "key=skip", "--passes", 1, "--quiet"]
    run("train", folder / "a.vw", "--model", folder / "vw", "--passes", 1, "--quiet")
    run("train", folder / "a.vw", "--dictionary", "--model", folder / "names", "--passes", 1, "--quiet")
    run("train", folder / "a.jsonl", "--model", folder / "json", *skip)
    run("train", folder / "a.csv", "--standardise", "--learner", "arow", "--model", folder / "csv", *skip)
    logistic = ["--learner", "soft-margin", "--loss", "logistic"]
    run("train", folder / "a.csv", *logistic, "--model", folder / "logistic", *skip)
    return folder


def lines_for(name, n=120):
    rows = unlabelled(rows_of(n, seed=1))
    if name in ("vw", "names"):
        return [as_vw(row, k) for k, row in enumerate(rows)], rows
    return [json.dumps({key: value for key, value in row.items() if value is not None}) for row in rows], rows


def answered(model, lines, *options, journal=None):
    """The answers of a process to lines that come all at once."""
    options = [*options, *(["--journal", journal] if journal else [])]
    words = command("predict", "-", "--model", model, "--learn", *options)
    done = subprocess.run(words, input="".join(f"{line}\n" for line in lines), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def copied(model, target):
    target.write_bytes(model.read_bytes())
    return target


@pytest.mark.parametrize("name", ["vw", "names", "json", "csv"])
def test_answers_are_those_of_predict_one_then_learn_one(folder, tmp_path, name):
    lines, rows = lines_for(name)
    by_hand, expected = rosenblatt.load(folder / name), []
    for k, (line, row) in enumerate(zip(lines, rows, strict=True)):
        x = line if name in ("vw", "names") else {key: row[key] for key in ("age", "city", "text")}
        expected.append(by_hand.predict_one(x))
        if row["label"] is not None:
            number = {"yes": 1, "no": -1}[row["label"]]
            weighted = name in ("vw", "names") and k % 5 == 0
            label = number if name in ("vw", "names") else row["label"]
            by_hand.partial_fit([x], [label], [2.5] if weighted else None)
    model = copied(folder / name, tmp_path / "m")
    found = answered(model, lines)
    if name in ("vw", "names"):
        assert found == [f"{int(label)}\t{row['key']}" for label, row in zip(expected, rows, strict=True)]
    else:
        assert found == expected
    learned = rosenblatt.load(model)
    assert learned.learner._stream.trials == by_hand.learner._stream.trials
    for mine, theirs in zip(learned.learner._stream.state, by_hand.learner._stream.state, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert learned.reader.moments == by_hand.reader.moments
    assert learned.reader.names == by_hand.reader.names


@pytest.mark.parametrize("name", ["vw", "csv"])
def test_each_line_is_answered_before_the_next_one_is_sent(folder, tmp_path, name):
    lines, _ = lines_for(name, n=30)
    expected = answered(copied(folder / name, tmp_path / "whole"), lines)
    words = command("predict", "-", "--model", copied(folder / name, tmp_path / "m"), "--learn", "--journal")
    with subprocess.Popen([*words, str(tmp_path / "j")], stdin=-1, stdout=-1, text=True, bufsize=1) as process:
        found = []
        for line in lines:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            found.append(process.stdout.readline().rstrip("\n"))
        process.stdin.close()
        assert process.wait() == 0
    assert found == expected
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert len((tmp_path / "j").read_bytes().splitlines()) == 1


def test_scores_probabilities_and_ids_are_those_of_files(folder, tmp_path):
    lines, _ = lines_for("csv", n=20)
    unlabelled = [json.dumps({k: v for k, v in json.loads(line).items() if k != "label"}) for line in lines]
    (tmp_path / "new.jsonl").write_text("".join(f"{line}\n" for line in unlabelled))
    options = ["--scores", "--proba", "--json", "--id", "key"]
    expected = run("predict", tmp_path / "new.jsonl", "-m", folder / "logistic", *options).stdout.splitlines()
    found = answered(folder / "logistic", unlabelled, *options)
    for one, other in zip(map(json.loads, found), map(json.loads, expected), strict=True):
        assert (one["id"], one["prediction"]) == (other["id"], other["prediction"])
        assert one["scores"] == pytest.approx(other["scores"], rel=1e-12)
        assert one["probabilities"] == pytest.approx(other["probabilities"], rel=1e-12)
    before = (folder / "csv").read_bytes()
    answered(folder / "csv", unlabelled)  # nothing to learn
    assert (folder / "csv").read_bytes() == before


def test_a_new_class_is_learned(folder, tmp_path):
    model = copied(folder / "json", tmp_path / "m")
    row = {"age": 1.0, "city": "Rom", "text": "ciao ciao", "label": "maybe"}
    found = answered(model, [json.dumps(row)] * 30 + [json.dumps({**row, "label": None})], "--scores", "--json")
    assert json.loads(found[-1])["prediction"] == "maybe"
    assert list(json.loads(found[-1])["scores"]) == ["maybe", "no", "yes"]
    assert rosenblatt.load(model).classes_.tolist() == ["maybe", "no", "yes"]


def test_a_damaged_line_ends_the_run_after_those_before_it(folder, tmp_path):
    lines, _ = lines_for("vw", n=20)
    expected = answered(copied(folder / "vw", tmp_path / "ten"), lines[:10])
    words = command("predict", "-", "--model", copied(folder / "vw", tmp_path / "m"), "--learn")
    bad = [*lines[:10], "1 there is no bar", *lines[10:]]
    done = subprocess.run(words, input="\n".join(bad), capture_output=True, text=True)
    assert done.returncode == 1
    assert "line 11: " in done.stderr
    assert done.stdout.splitlines() == expected
    assert (tmp_path / "m").read_bytes() == (tmp_path / "ten").read_bytes()
    done = subprocess.run([*words, "--on-error", "skip"], input="\n".join(bad), capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.splitlines()[10] == ""
    assert len(done.stdout.splitlines()) == 21


def test_lines_behind_one_that_ends_the_run_get_no_answer(folder, tmp_path):
    lines, _ = lines_for("vw", n=20)
    words = command("predict", "-", "--model", copied(folder / "vw", tmp_path / "m"), "--learn", "--on-error", "skip")
    bad = [*lines[:5], "1 there is no bar", *lines[5:10], "1 |f a:1e200", *lines[10:]]
    done = subprocess.run(words, input="\n".join(bad), capture_output=True, text=True)
    assert done.returncode == 1
    assert "line 12: the values are too large" in done.stderr
    assert len(done.stdout.splitlines()) == 11
    assert done.stdout.splitlines()[5] == ""


@pytest.mark.parametrize("options", [(), ("--dictionary",)])
def test_a_number_whose_deviation_overflows_is_refused_and_changes_nothing(tmp_path, options):
    """The column was constant so far, so that the number is no feature of the row that is predicted."""
    (tmp_path / "a.csv").write_text("a,b,y\n" + "".join(f"1,c{k % 5},{k % 2}\n" for k in range(20)))
    run("train", tmp_path / "a.csv", *options, "--model", tmp_path / "m", "--passes", 1, "--quiet")
    answered(copied(tmp_path / "m", tmp_path / "one"), ["1,c2,0"])
    words = command("predict", "-", "--model", tmp_path / "m", "--learn")
    done = subprocess.run(words, input="1,c2,0\n1e200,new,0\n", capture_output=True, text=True)
    assert done.returncode == 1
    assert "line 2: the values are too large. Scale them." in done.stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "one").read_bytes()


def test_signals_end_the_run_and_keep_what_was_learned(folder, tmp_path):
    lines, _ = lines_for("vw", n=20)
    answered(copied(folder / "vw", tmp_path / "whole"), lines)
    words = command("predict", "-", "--model", copied(folder / "vw", tmp_path / "m"), "--learn")
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True) as process:
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        for _ in lines:
            process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_what_does_not_fit_is_refused(folder, tmp_path):
    run("predict", "-", "-m", folder / "vw", "--journal", tmp_path / "j", code=2)
    run("predict", folder / "a.vw", "-m", folder / "vw", "--learn", code=2)
    run("predict", "-", "-m", folder / "vw", "--learn", "-o", tmp_path / "out", code=2)
    run("predict", "-", "-m", folder / "vw", "--learn", "--output-format", "csv", code=2)
    run("predict", "-", "-m", folder / "vw", "--learn", "--proba", code=1)
    rosenblatt.save(rosenblatt.Perceptron().fit([[0.0], [1.0]], [0, 1]), tmp_path / "library")
    assert "not trained by" in run("predict", "-", "-m", tmp_path / "library", "--learn", code=1).stderr


# -------------------------------------------------------------------------------------------------------------- crashes


class Client:
    """Sends lines to a process that dies, starts it again, and notes the answers."""

    def __init__(self, model, journal, lines):
        self.model, self.journal, self.lines = model, journal, lines
        self.before = rosenblatt.load(model).learner._stream.trials
        self.answers = {}  # by the number of the line

    def run(self, calls, rest):
        """Send the lines from `rest` on; kill at a call, or if that is 0, at any moment."""
        words = [
            sys.executable,
            "-c",
            KILLED,
            str(max(calls, 0)),
            "predict",
            "-",
            "--model",
            str(self.model),
            "--learn",
        ]
        with subprocess.Popen(
            [*words, "--journal", str(self.journal)], stdin=-1, stdout=-1, stderr=-1, bufsize=0
        ) as process:
            os.set_blocking(process.stdout.fileno(), False)
            printed = b""
            try:
                for k in range(rest, len(self.lines), 4):  # in groups of four
                    process.stdin.write("".join(f"{line}\n" for line in self.lines[k : k + 4]).encode())
                    process.stdin.flush()
                    while printed.count(b"\n") < min(k + 4, len(self.lines)) - rest and process.poll() is None:
                        select.select([process.stdout], [], [], 0.05)
                        printed += process.stdout.read() or b""
                        if calls < 0 and printed.count(b"\n") >= -calls:
                            process.kill()
                process.stdin.close()
            except BrokenPipeError:
                pass
            code = process.wait()
            printed += process.stdout.read() or b""
            told = process.stderr.read().decode()
        for k, answer in enumerate(printed.decode().splitlines(keepends=True)):
            if answer.endswith("\n"):
                self.answers.setdefault(rest + k, answer.rstrip("\n"))
        return code, told


def rows_on_disk(client):
    from rosenblatt.cli.learning import digest
    from rosenblatt.storage.journal import recover

    content = Path(client.model).read_bytes()
    rows = rosenblatt.load(content).learner._stream.trials - client.before
    if client.journal.exists():
        found = recover(client.journal.read_bytes(), client.journal)
        if found.model == digest(content):
            return rows + len(found.rows)
        assert found.wrote == digest(content)  # the journal's rows are in the model
    return rows


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kills", [2, pytest.param(8, marks=pytest.mark.long)])
def test_no_answered_row_is_lost_and_none_is_learned_twice_by_kills_at_any_moment(folder, tmp_path, kills):
    lines = [line for line, row in zip(*lines_for("vw", n=300), strict=True) if row["label"] is not None]
    expected = answered(copied(folder / "vw", tmp_path / "whole"), lines)
    client = Client(copied(folder / "vw", tmp_path / "m"), tmp_path / "j", lines)
    random = np.random.default_rng(0)
    calls = [13, -int(random.integers(1, 60)), 2, 7, 12, 26, 31, -int(random.integers(1, 60))]
    done = 0
    for call in calls[:kills]:
        code, _ = client.run(int(call), done)
        assert code == -signal.SIGKILL
        now = rows_on_disk(client)
        assert now >= max(client.answers, default=-1) + 1  # what was answered is on disk
        assert now <= len(lines)
        assert now >= done
        done = now
    code, _ = client.run(0, done)
    assert code == 0
    assert [client.answers[k] for k in sorted(client.answers)] == [expected[k] for k in sorted(client.answers)]
    # Not the bytes: the record of the training has an entry for each time that the model was written.
    found, whole = (rosenblatt.load(tmp_path / name).learner._stream for name in ("m", "whole"))
    assert (found.trials, found.mistakes) == (whole.trials, whole.mistakes)
    assert all(mine.tobytes() == theirs.tobytes() for mine, theirs in zip(found.state, whole.state, strict=True))
    assert len((tmp_path / "j").read_bytes().splitlines()) == 1


def test_a_journal_of_another_model_is_refused(folder, tmp_path):
    lines, _ = lines_for("vw", n=10)
    words = command("predict", "-", "--model", copied(folder / "vw", tmp_path / "m"), "--learn", "--journal")
    with subprocess.Popen([*words, str(tmp_path / "j")], stdin=-1, stdout=-1, text=True) as process:
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        for _ in lines:
            process.stdout.readline()
        process.kill()
    copied(folder / "names", tmp_path / "m")
    done = subprocess.run([*words, str(tmp_path / "j")], input="", capture_output=True, text=True)
    assert done.returncode == 1
    assert "another state of the model" in done.stderr
