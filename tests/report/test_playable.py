"""A run in a frame: packed so that it unpacks to the same page, and left out where it is too long."""

import base64
import importlib.util
import re
import zlib

import numpy as np
import pytest

from rosenblatt import AROW, Adaline, PassiveAggressive, Perceptron, record
from rosenblatt.datasets import noisy
from rosenblatt.report.playable import MAX_ROWS, _shorter, packed, playable


def test_what_is_packed_unpacks_to_the_same_page():
    html = "<!doctype html><p>äöü &amp; ' \" </p>" * 50
    found = packed(html, "'sha256-a'", "'sha256-b'", 10_000)
    text = re.search(r'id="packed-lab">([^<]*)<', found.body)[1]
    assert zlib.decompress(base64.b64decode(text), -15).decode() == html
    assert (found.allowed, found.styles) == (("'sha256-a'",), ("'sha256-b'",))
    assert 'sandbox="allow-scripts allow-downloads"' in found.body


def test_what_is_too_long_is_left_out():
    noise = base64.b64encode(np.random.default_rng(0).bytes(9000)).decode()
    assert packed(noise, "", "", 5000) is None


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


@pytest.mark.skipif(importlib.util.find_spec("rosenblatt.lab") is None, reason="the lab is not there")
def test_a_long_run_is_cut_to_the_room_that_there_is():
    X, y = noisy(60, 2, flip=0.2)
    model = PassiveAggressive(max_iter=40, tol=None).fit(X, y)
    whole = playable(model, X, y, ["a", "b"], epochs=40, room=10**7)
    cut = playable(model, X, y, ["a", "b"], epochs=40, room=len(whole.body) - 20_000)
    assert whole.epochs is None
    assert cut.epochs in (20, 10, 5, 2, 1)
    assert len(cut.body) <= len(whole.body) - 19_000
