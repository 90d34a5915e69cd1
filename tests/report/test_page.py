"""A page allows what it has, and nothing else."""

import base64
import hashlib
import re

import pytest

from rosenblatt.markup.elements import tag
from rosenblatt.report.page import STYLE, document, source


def policy(html):
    text = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#x27;", "'")
    return dict(part.strip().split(" ", 1) for part in text.split(";"))


def test_the_policy_names_the_hashes_of_what_is_inside():
    html = document("a title", tag("p", "text"), scripts=["let a = 1;"])
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    for text, directive in ((style, "style-src"), (script, "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy(html)[directive] == f"'sha256-{digest}'"
    assert policy(html)["default-src"] == "'none'"


def test_a_page_without_scripts_allows_none():
    assert policy(document("t", tag("p", "x")))["script-src"] == "'none'"


def test_titles_are_escaped_and_scripts_cannot_end_early():
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in document("</title><script>", "")
    with pytest.raises(ValueError, match="before its end"):
        document("t", "", scripts=["'</script>'"])


def test_the_style_has_no_address():
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    assert source("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
