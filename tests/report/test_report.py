"""A report is one safe file: nothing loaded, nothing from data executed, small."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from rosenblatt import Perceptron, Report
from rosenblatt.datasets import separable, spam
from rosenblatt.errors import InvalidInput

EVIL = ["<script>alert(1)</script>", "\"><img src=x onerror='alert(2)'>"]


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.texts = [], []

    def handle_starttag(self, name, attributes):
        self.found.append((name, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


def read(html):
    reader = Elements()
    reader.feed(html)
    reader.close()
    return reader


@pytest.fixture(scope="module")
def hostile():
    X, y = separable(100, 2, 0.1, seed=2)
    labels = np.array(EVIL)[(y > 0).astype(int)]
    model = Perceptron().fit(X[:80], labels[:80])
    names = ["</style><script>", "a\x00b"]
    return Report(model, X[:80], labels[:80], X[80:], labels[80:], title="</title><svg onload=1>", feature_names=names)


def test_nothing_from_data_becomes_an_element_or_a_handler(hostile):
    read_back = read(hostile.html)
    scripts = [attributes for name, attributes in read_back.found if name == "script"]
    # At most the loader of the lab, and its packed data.
    assert all(attributes.get("type") == "application/octet-stream" or not attributes for attributes in scripts)
    assert len(scripts) in (0, 2)
    for name, attributes in read_back.found:
        assert name not in ("img", "object", "embed", "form", "link", "base", "input")
        assert not any(key.startswith("on") or key in ("style", "href", "src") for key in attributes)
    assert EVIL[0] in "".join(read_back.texts)


def test_nothing_is_loaded_from_anywhere(hostile):
    addresses = set(re.findall(r"https?://[^\s\"'<]+", hostile.html))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "default-src &#x27;none&#x27;" in hostile.html


def test_a_report_on_a_hundred_rows_is_small(hostile):
    assert len(hostile.html.encode()) <= 150_000


def test_a_report_has_every_part(hostile):
    said = "".join(read(hostile.html).texts)
    for part in ("held-out rows", hostile.findings.run.reason, "separable", "at most", "Largest weights"):
        assert part in said


def test_save_writes_what_html_is(tmp_path, hostile):
    hostile.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == hostile.html


def test_a_report_in_a_notebook_is_a_frame_and_in_a_terminal_a_few_lines(hostile):
    (frame, attributes), *others = read(hostile._repr_html_()).found
    assert (frame, others) == ("iframe", [])
    assert attributes["srcdoc"] == hostile.html.replace("\r", "")
    assert repr(hostile) == "Report(Perceptron, 80 rows, 2 features)"
    assert len(str(hostile).splitlines()) <= 8


def test_the_same_fit_gives_the_same_page():
    X, y = spam()
    first, second = (Report(Perceptron(shuffle=False).fit(X, y), X, y).html for _ in range(2))
    timeless = [re.sub(r"seconds</dt><dd>[^<]*", "", html) for html in (first, second)]
    assert timeless[0] == timeless[1]


def test_what_is_not_fitted_is_refused():
    with pytest.raises(InvalidInput, match="Fit it on X and y first"):
        Report(Perceptron(), *spam())
