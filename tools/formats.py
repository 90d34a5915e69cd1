"""Print the table of docs/reference/file-formats.md: python -m tools.formats, or --write to put it on the page."""

import sys
from pathlib import Path

from rosenblatt.files.formats import ALL

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "file-formats.md"
START, END = "<!-- formats -->\n", "<!-- end -->"
HEAD = ("format", "endings", "a row", "label", "what is refused", "written")


def table():
    """Return the lines of the table: all formats, from what they declare."""
    rows = [HEAD, ["---"] * len(HEAD)]
    for one in ALL.values():
        endings = ", ".join(f"`{ending}`" for ending in one.endings)
        rows.append((f"`{one.name}`", endings, one.row, one.label, one.refused, "yes" if one.write else ""))
    return [f"| {' | '.join(cells)} |" for cells in rows]


def on_page(text):
    """Return where the table begins and ends in the text of the page."""
    start = text.index(START) + len(START)
    return start, text.index(END, start)


if __name__ == "__main__":
    print("\n".join(table()))
    if "--write" in sys.argv:
        text = PAGE.read_text()
        start, end = on_page(text)
        PAGE.write_text(text[:start] + "\n" + "\n".join(table()) + "\n\n" + text[end:])
