"""HTML and SVG elements. Whatever is not `Markup` is text, and is escaped.

Attributes are plain: without styles and event handlers, so a page's policy may forbid both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

# Elements without content and without an end tag.
VOID = {"meta", "br", "hr", "img"}


class Markup(str):
    """A string of HTML or SVG, which needs no escaping."""

    __slots__ = ()


def safe(value: Any) -> Markup:
    """Return a value as markup: text is escaped, markup is unchanged.

    Examples
    --------
    >>> safe("a < b"), safe(Markup("<b>")), safe(3)
    ('a &lt; b', '<b>', '3')
    """
    return value if isinstance(value, Markup) else Markup(escape(_printable(str(value)), quote=True))


def _printable(text: str) -> str:
    """Replace what no document may contain: control characters and lone surrogates."""
    valid = (char in "\t\n" or (char >= " " and not "\ud800" <= char <= "\udfff") for char in text)
    return "".join(char if ok else "\ufffd" for char, ok in zip(text, valid, strict=True))


def joined(parts: Iterable[Any], between: str = "") -> Markup:
    """Return parts as one piece of markup."""
    return Markup(between.join(safe(part) for part in parts))


def tag(name: str, /, *content: Any, **attributes: Any) -> Markup:
    """Return an element with content: markup, or text, which is escaped.

    None is skipped in the content and the attributes. A trailing underscore of a name is dropped; other underscores
    become hyphens.

    Examples
    --------
    >>> tag("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    words = [name]
    for key, value in attributes.items():
        if value is not None:
            words.append(f'{key.rstrip("_").replace("_", "-")}="{safe(_number(value))}"')
    start = f"<{' '.join(words)}>"
    if name in VOID:
        return Markup(start)
    return Markup(f"{start}{joined(part for part in content if part is not None)}</{name}>")


def _number(value: Any) -> Any:
    """Return a float with two decimals, enough for pixels."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def table(columns: Sequence[Any], rows: Iterable[Sequence[Any]], *, caption: str | None = None) -> Markup:
    """Return a table. A heading that begins with < aligns its column to the left; the sign is not shown."""
    left = [isinstance(name, str) and not isinstance(name, Markup) and name.startswith("<") for name in columns]
    names = [name[1:] if mark else name for name, mark in zip(columns, left, strict=True)]
    sides = ["left" if mark else None for mark in left]
    head = tag("tr", *(tag("th", name, scope="col", class_=side) for name, side in zip(names, sides, strict=True)))
    body = [tag("tr", *(tag("td", cell, class_=side) for cell, side in zip(row, sides, strict=True))) for row in rows]
    title = None if caption is None else tag("caption", caption)
    return tag("table", title, tag("thead", head), tag("tbody", *body))


def facts(pairs: Iterable[tuple[Any, Any]]) -> Markup:
    """Return names and their values as a description list."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs))
