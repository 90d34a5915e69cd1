"""The sections of a report have their figures."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from rosenblatt import KernelPerceptron, PassiveAggressive, Perceptron, diagnose
from rosenblatt.datasets import logical, separable, two_moons
from rosenblatt.report.findings import examine
from rosenblatt.report.sections import heading, sections, summary_text


def text(markup):
    return unescape(re.sub(r"<[^>]*>", " ", str(markup)))


def by_title(found):
    return {re.search(r"<h2>(.*?)</h2>", part)[1]: part for part in sections(found)}


@pytest.fixture(scope="module")
def plain():
    X, y = logical("or")
    return examine(Perceptron(shuffle=False).fit(X, y), X, y)


def test_a_plain_perceptron_has_all_sections(plain):
    titles = ["In short", "The data", "The training", "The evaluation", "Largest weights", "Separable?"]
    further = ["A logistic regression without a penalty", "Mistakes against their bound"]
    assert list(by_title(plain)) == [*titles, *further]


def test_separated_rows_have_the_estimates_and_what_to_report():
    """The third column separates the rows that have it, so its coefficient alone is infinite."""
    X = pd.DataFrame({"dose": [1, 2, 3, 4, 2, 3, 4, 5], "<treated>": [0, 0, 0, 0, 1, 1, 1, 1]})
    y = ["no", "yes", "no", "yes", "yes", "yes", "yes", "yes"]
    found = examine(PassiveAggressive().fit(X, y), X, y)
    told = by_title(found)["A logistic regression without a penalty"]
    rows = [re.findall(r"<td.*?>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", str(told))[1:]]
    assert [(row[0], row[1] == "+inf") for row in rows] == [
        ("intercept", False),
        ("dose", False),
        ("&lt;treated&gt;", True),
    ]
    assert rows[2][3:] == [f"{v:.6g}" for v in list(diagnose(X, y).table.rows[2].values())[3:]]
    assert "Next: report the finite estimates" in text(told)


def test_rows_that_overlap_have_no_section_on_separation():
    X, y = logical("xor")
    assert "A logistic regression without a penalty" not in by_title(examine(Perceptron(max_iter=5).fit(X, y), X, y))


def test_the_training_says_why_it_stopped(plain):
    assert plain.run.reason in text(by_title(plain)["The training"])


def test_the_summary_keeps_the_names_in_the_reason():
    X, y = two_moons(60)
    found = examine(Perceptron(max_iter=20).fit(X, y), X, y)
    assert "KernelPerceptron" in found.run.reason
    assert found.run.reason[1:] in text(by_title(found)["In short"])


def test_the_bound_has_its_numbers(plain):
    said = " ".join(text(by_title(plain)["Mistakes against their bound"]).split())
    assert "at most 27" in said
    assert "mistakes 9" in said


def test_without_held_out_rows_the_evaluation_warns(plain):
    assert "No rows were held out" in text(by_title(plain)["The evaluation"])


def test_many_classes_get_their_most_common_confusions():
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 20
    found = examine(Perceptron(max_iter=2, tol=None).fit(X, y), X, y, time_limit=1.0)
    parts = by_title(found)
    assert "The most common confusions" in parts["The evaluation"]
    assert "14 more problems" in parts["Largest weights"]
    assert max(map(len, parts.values())) < 40_000


def test_kernels_have_no_weights_to_tell():
    X, y = two_moons(60)
    found = examine(KernelPerceptron(kernel="rbf").fit(X, y), X, y)
    assert "Largest weights" not in by_title(found)
    assert "fill-opacity" in by_title(found)["The data"]


def test_a_model_of_a_data_frame_is_drawn_without_a_warning():
    X, y = two_moons(60)
    frame = pd.DataFrame(X, columns=["a", "b"])
    found = examine(Perceptron(max_iter=5).fit(frame, y), frame, y)
    assert "a" in text(by_title(found)["The data"])


def test_the_heading_names_what_differs_from_the_defaults(plain):
    assert heading(plain) == ("Perceptron", "Perceptron with shuffle=False")


def test_words_fit_a_screen(plain):
    assert len(summary_text(plain).splitlines()) <= 6
    X, y = separable(50, 300, 0.5)
    assert "300 features" in summary_text(examine(Perceptron().fit(X, y), X, y))
