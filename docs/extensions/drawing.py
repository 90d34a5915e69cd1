"""The directive `drawing`: a figure that the code in it draws when the site is built, with the code below it, folded.

    ```{drawing} The caption of the figure.
    from rosenblatt.plots import plot_trace
    ...
    ax = plot_trace(trace(X, y), X, y)
    ```

The code defines `ax`, axes of matplotlib. The caption is also the alternative text of the figure. The figure is written
twice, with the colours of light pages and of dark ones.
"""

from hashlib import sha256
from io import StringIO
from os.path import relpath
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from rosenblatt.markup import palette

PAPER, LIGHT_INK = "#131416", "#e2e2e2"
# Colours that are unreadable on a dark page, and their replacements.
DARK = {
    palette.INK: LIGHT_INK,
    "#000000": LIGHT_INK,
    palette.SOFT: "#9a9a9a",
    # Lines that a page draws itself.
    "#222222": LIGHT_INK,
    "#767676": "#9a9a9a",
    palette.PANEL: PAPER,
    palette.CLASSES[2]: "#a8956a",
    palette.CLASSES[7]: "#8b8ff0",
}


def draw(code: str) -> str:
    """Run the code of a drawing; return the figure as SVG, with a transparent background."""
    import matplotlib

    names: dict[str, Any] = {}
    exec(code, names)
    file = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "rosenblatt", "svg.fonttype": "path"}):
        names["ax"].figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return file.getvalue()


def dark(picture: str) -> str:
    """Return the same picture for a dark page."""
    for light, other in DARK.items():
        picture = picture.replace(light, other)
    # Black text has no fill attribute.
    return picture.replace("<svg ", f'<svg fill="{LIGHT_INK}" ', 1)


class Drawing(SphinxDirective):
    """Draw a figure with the code on the page."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the figure and its code."""
        code, caption = "\n".join(self.content), self.arguments[0]
        name = sha256(f"{code}{DARK}".encode()).hexdigest()[:16]
        folder = Path(self.env.app.doctreedir).parent / "drawings"
        folder.mkdir(parents=True, exist_ok=True)
        figure = nodes.figure(classes=["drawing"])
        picture = ""
        for look in ("light", "dark"):
            path = folder / f"{name}-{look}.svg"
            if not path.exists():
                picture = picture or draw(code)
                path.write_text(picture if look == "light" else dark(picture), encoding="utf-8")
            place = relpath(path, Path(self.env.doc2path(self.env.docname)).parent)
            image = nodes.image(uri=Path(place).as_posix(), alt=caption, classes=[f"only-{look}"])
            image["width"] = "70%"
            figure += image
        text, _ = self.parse_inline(caption)
        figure += nodes.caption(caption, "", *text)
        block = nodes.literal_block(code, code, language="python")
        opening = nodes.raw("", "<details><summary>Code of this figure</summary>", format="html")
        return [figure, opening, block, nodes.raw("", "</details>", format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("drawing", Drawing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
