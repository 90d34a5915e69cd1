"""Tables of trials: every line adds up, in text, Markdown, HTML and LaTeX."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from rosenblatt import AROW, Perceptron, record, trace, trial_table
from rosenblatt.datasets import logical, separable, spam
from rosenblatt.errors import InvalidInput


def cells(text):
    """The lines of a table of text, cell by cell."""
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()[1:]]


def vector(text):
    return np.array([float(part) for part in text.strip("()").split(",")])


def test_weights_after_a_trial_are_those_before_the_next():
    lines = [re.split(r"\s{2,}", line.strip()) for line in trial_table(trace(*logical("or"))).splitlines()]
    head, *body = lines
    assert head == ["t", "epoch", "row", "y", "w before", "b before", "f(x)", "y f(x)", "mistake", "w after", "b after"]
    X = logical("or")[0]
    last = np.zeros(2), 0.0
    for line in body:
        row, sign = int(line[2].removeprefix("x")) - 1, int(line[3])
        before, after = (vector(line[4]), float(line[5])), (vector(line[-2]), float(line[-1]))
        assert np.array_equal(before[0], last[0])
        assert before[1] == last[1]
        score = before[0] @ X[row] + before[1]
        assert (float(line[6]), float(line[7])) == (score, sign * score)
        assert (line[8] == "yes") == (sign * score <= 0)
        step = sign if sign * score <= 0 else 0
        assert np.array_equal(after[0], before[0] + step * X[row])
        last = after
    assert len(body) == 24
    assert last[0].tolist() == [2, 2]


def test_a_recording_knows_its_start():
    text = trial_table(record(Perceptron(shuffle=False, init=([1.0, -2.0], 0.5)), *logical("or")))
    assert text.splitlines()[1].split("  ")[-1]
    assert "(1, -2)" in text.splitlines()[1]


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, name, _):
        self.tags.append(name)

    def handle_data(self, data):
        self.texts.append(data)


def test_html_has_the_cells_of_the_text():
    reader = Cells()
    reader.feed(trial_table(trace(*logical("or")), "html", row_names=["<script>", "b", "c", "d"]))
    assert "script" not in reader.tags
    assert reader.texts.count("<script>") == 6
    assert reader.tags.count("tr") == 25


def test_markdown_has_the_cells_of_the_text_and_escapes_names():
    text = trial_table(trace(*logical("or")), "markdown", row_names=["a|b", "*c*", "d\ne", "f"])
    head, rule, *body = text.splitlines()
    assert set(rule) <= set("|-: ")
    wanted = cells(trial_table(trace(*logical("or")), row_names=["w", "x", "y", "z"]))
    assert len(body) == len(wanted) == 24
    for line in [head, rule, *body]:
        assert len(re.findall(r"(?<!\\)\|", line)) == 12
    for line, plain in zip(body, wanted, strict=True):
        found = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        assert found[2] == {"w": "a\\|b", "x": "\\*c\\*", "y": "d e", "z": "f"}[plain[2]]
        assert [cell for k, cell in enumerate(found) if k != 2 and cell] == [*plain[:2], *plain[3:]]
    assert trial_table(trace(*logical("or")), "markdown", most=3).endswith("\n\n... 21 more trials")


def test_latex_is_balanced_and_escapes_names():
    text = trial_table(trace(*spam()), "latex", row_names=[f"mail_{k} & 50%" for k in range(6)])
    body = text.splitlines()
    assert body[0] == r"\begin{tabular}{rrrrrrrrrrr}"
    assert body[-1] == r"\end{tabular}"
    rows = [line for line in body if line.startswith("$")][1:]
    assert len(rows) == 12
    for line in rows:
        assert len(re.findall(r"(?<!\\)&", line)) == 10
        assert len(re.findall(r"(?<!\\)\$", line)) % 2 == 0
        assert r"mail\_" in line
        assert r"50\%" in line


def test_rows_have_their_numbers_in_latex():
    assert "$x_{1}$" in trial_table(trace(*logical("or")), "latex")


def test_long_tables_say_how_many_trials_are_left_out():
    text = trial_table(trace(*logical("or")), most=3)
    assert text.splitlines()[-1] == "... 21 more trials"
    assert len(text.splitlines()) == 5


def test_one_trial_left_out_is_counted_in_the_singular():
    assert trial_table(trace(*logical("or"), max_iter=1), most=3).endswith("... 1 more trial")


def test_many_weights_are_left_out():
    text = trial_table(trace(*separable(10, 20, 0.5), max_iter=1))
    assert "before" not in text
    assert "mistake" in text
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 3
    assert "before" not in trial_table(record(AROW(max_iter=1), X, y))


def test_batches_have_no_row():
    text = trial_table(record(Perceptron(batch=True, max_iter=3, tol=None), *logical("or")))
    assert cells(text)[0][2] == "all"


def test_unknown_forms_are_refused():
    with pytest.raises(InvalidInput, match="Did you mean 'latex'"):
        trial_table(trace(*logical("or")), "latexx")
    with pytest.raises(InvalidInput, match="no trials"):
        trial_table([])
