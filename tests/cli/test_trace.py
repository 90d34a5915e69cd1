"""Every trial of the lectures' algorithm, as text and as JSON."""

import json

import rosenblatt
from commands import run

X, Y = [[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"]


def test_trials_are_those_of_the_library(tmp_path):
    (tmp_path / "or.csv").write_text("x1,x2,or\n0,0,no\n1,0,yes\n0,1,yes\n1,1,yes\n")
    wanted = list(rosenblatt.trace(X, Y))
    told = [json.loads(line) for line in run("trace", tmp_path / "or.csv", "--json").stdout.splitlines()]
    assert [(one["t"], one["row"], one["mistake"], one["w"], one["b"]) for one in told] == [
        (trial.t, trial.row, trial.mistake, trial.w.tolist(), trial.b) for trial in wanted
    ]
    mistakes = run("trace", tmp_path / "or.csv", "--mistakes-only").stdout.splitlines()
    assert len(mistakes) == 1 + sum(trial.mistake for trial in wanted)
    assert mistakes[0].split() == ["trial", "epoch", "row", "label", "score", "x1", "x2", "bias"]
    assert len(run("trace", tmp_path / "or.csv", "--trials", 3).stdout.splitlines()) == 4


def test_tables_for_the_classroom_are_those_of_the_library(tmp_path):
    (tmp_path / "or.csv").write_text("x1,x2,or\n0,0,no\n1,0,yes\n0,1,yes\n1,1,yes\n")
    for form in ("text", "markdown", "html", "latex"):
        told = run("trace", tmp_path / "or.csv", "--table", form).stdout.rstrip("\n")
        assert told == rosenblatt.trial_table(rosenblatt.trace(X, Y), form)
    short = run("trace", tmp_path / "or.csv", "--table", "text", "--mistakes-only", "--trials", 3).stdout
    assert short.splitlines()[-1] == "... 6 more trials"
    assert "Choose one" in run("trace", tmp_path / "or.csv", "--table", "html", "--json", code=2).stderr
