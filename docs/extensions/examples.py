"""Remove the empty line at the end of examples, which doctest needs to find the end of the output."""

import re

from sphinx.application import Sphinx


def shorten(app: Sphinx, page: str, content: list[str]) -> None:
    """Remove the last, empty line of each example on a page."""
    content[0] = re.sub(r"^(```python\n>>> .*?)\n\n([ ]*```)$", r"\1\n\2", content[0], flags=re.DOTALL | re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the event."""
    app.connect("source-read", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
