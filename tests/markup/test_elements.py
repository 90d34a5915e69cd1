"""Nothing from data becomes markup."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.markup.elements import Markup, facts, joined, table, tag


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.attributes = [], [], []

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.attributes += attributes

    def handle_data(self, data):
        self.texts.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


texts = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=30)


@given(texts, texts)
def test_text_and_attributes_come_back_as_they_were_and_add_no_element(content, value):
    found = read(tag("p", content, title=value))
    assert found.tags == ["p"]
    assert "".join(found.texts) == content
    assert found.attributes == [("title", value)]


def test_a_script_in_a_label_is_text():
    evil = "<script>alert(1)</script>"
    for made in (tag("p", evil), table([evil], [[evil]]), facts([(evil, evil)]), joined([evil])):
        assert "script" not in read(made).tags
        assert evil in "".join(read(made).texts)


def test_markup_is_not_escaped_twice():
    assert tag("p", tag("b", "<"), Markup("&amp;")) == "<p><b>&lt;</b>&amp;</p>"


def test_what_no_document_may_contain_is_replaced():
    assert tag("p", "a\x00b\ud800c") == "<p>a\ufffdb\ufffdc</p>"


def test_names_of_attributes_lose_their_underscores_and_none_is_left_out():
    assert tag("path", stroke_width=1.50, class_="a", id=None) == '<path stroke-width="1.5" class="a"></path>'
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'
