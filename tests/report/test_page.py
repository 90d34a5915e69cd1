"""A page allows the scripts and styles it has, and nothing else; a run in its frame unpacks to the same page."""

import base64
import hashlib
import re
import zlib

import numpy as np
import pytest

from rosenblatt import AROW, Adaline, PassiveAggressive, Perceptron, record
from rosenblatt.datasets import noisy
from rosenblatt.lab.page import pieces
from rosenblatt.markup.elements import Markup, tag
from rosenblatt.report.page import LOADER, MAX_ROWS, STYLE, Playable, _shorter, document, playable


def policy(html):
    text = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#x27;", "'")
    return dict(part.strip().split(" ", 1) for part in text.split(";"))


def test_the_policy_names_the_hashes_of_what_is_inside():
    run = Playable(Markup("<b>run</b>"), "'sha256-a'", "'sha256-b'", None)
    html = document("a title", tag("p", "text"), run)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    for text, directive, framed in ((style, "style-src", "'sha256-b'"), (script, "script-src", "'sha256-a'")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy(html)[directive] == f"'sha256-{digest}' {framed}"
    assert policy(html)["default-src"] == "'none'"


def test_a_page_without_scripts_allows_none():
    assert policy(document("t", tag("p", "x")))["script-src"] == "'none'"


def test_titles_are_escaped_and_the_script_cannot_end_early():
    html = document("</title><script>", "<b>")
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in html
    assert "<body>&lt;b&gt;</body>" in html
    assert "</script" not in LOADER.lower()
    assert "<!--" not in LOADER


def test_the_style_has_no_address():
    assert "url(" not in STYLE
    assert "@import" not in STYLE


# ------------------------------------------------------------------------------------------------------- playable runs


def test_a_run_unpacks_to_the_same_page_or_is_left_out():
    X, y = noisy(40, 2, flip=0.2)
    model = Perceptron(max_iter=3).fit(X, y)
    found = playable(model, X, y, ["a", "b"], epochs=3, room=10**7)
    text = re.search(r'id="packed-lab">([^<]*)<', found.body)[1]
    html = zlib.decompress(base64.b64decode(text), -15).decode()
    parts = pieces(model, X, y, names=["a", "b"])
    assert all(part in html for part in (parts.style, parts.script, parts.body))
    assert (found.script_hashes, found.style_hash) == parts.hashes
    assert 'sandbox="allow-scripts allow-downloads"' in found.body
    assert playable(model, X, y, ["a", "b"], epochs=3, room=1000) is None


def test_rows_that_are_not_in_the_plane_or_too_many_are_not_played():
    model = Perceptron()
    size = {"epochs": 1, "room": 10**6}
    assert playable(model, np.eye(3), np.array([0, 1, 1]), ["a", "b", "c"], **size) is None
    assert playable(model, np.zeros((MAX_ROWS + 1, 2)), np.zeros(MAX_ROWS + 1), ["a", "b"], **size) is None


@pytest.mark.parametrize("cls", [Perceptron, PassiveAggressive, AROW, Adaline])
def test_the_first_epochs_of_a_shorter_run_are_those_of_the_longer_one(cls):
    X, y = noisy(40, 2, flip=0.2)
    whole = cls(max_iter=8, tol=None)
    long, short = record(whole, X, y), record(_shorter(whole, 3), X, y)
    size = short.row.size
    assert short.run.epochs == 3
    assert np.array_equal(short.row, long.row[:size])
    assert np.array_equal(short.W[short.at], long.W[long.at[:size]])


def test_a_long_run_is_cut_to_the_room_that_there_is():
    X, y = noisy(60, 2, flip=0.2)
    model = PassiveAggressive(max_iter=40, tol=None).fit(X, y)
    whole = playable(model, X, y, ["a", "b"], epochs=40, room=10**7)
    cut = playable(model, X, y, ["a", "b"], epochs=40, room=len(whole.body) - 20_000)
    assert whole.epochs is None
    assert cut.epochs in (20, 10, 5, 2, 1)
    assert len(cut.body) <= len(whole.body) - 19_000
