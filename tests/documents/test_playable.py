"""A run in a frame: packed so that it unpacks to the same page, and left out where it is too long."""

import base64
import re
import zlib

import numpy as np

from rosenblatt import Perceptron
from rosenblatt.documents.playable import MAX_ROWS, packed, playable


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
    assert playable(model, np.eye(3), np.array([0, 1, 1]), ["a", "b", "c"]) is None
    assert playable(model, np.zeros((MAX_ROWS + 1, 2)), np.zeros(MAX_ROWS + 1), ["a", "b"]) is None
