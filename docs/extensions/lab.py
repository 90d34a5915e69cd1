"""The directive `lab`: a run that can be played on the page, in a file of its own that needs no server and no network.

    ```{lab} What to look for.
    data=or
    learner=Perceptron
    ```

The lines are the scene, as an address of the lab has it after its #, with `t`, the trial to begin with, and `view`, of
weight space. Where Markdown is shown without the site, they say what to choose in the lab.
"""

from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from rosenblatt.errors import RosenblattError
from rosenblatt.lab.page import one_file
from rosenblatt.lab.scene import Scene

FOLDER = "runs"


class Playable(nodes.General, nodes.Element):
    """A run to be played: its scene, how to look at it, its caption and the name of its file."""


class Lab(SphinxDirective):
    """Place a run on the page."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the frame of the run, with what to look for below it."""
        query = "&".join(line.strip() for line in self.content if line.strip())
        look = dict(parse_qsl(query))
        try:
            scene = Scene.from_query(query)
        except RosenblattError as fault:
            raise self.error(str(fault)) from fault
        number = self.env.new_serialno("lab") + 1
        name = f"{self.env.docname.replace('/', '-')}-{number}.html"
        caption = self.arguments[0]
        frame = Playable(query=scene.to_query(), caption=caption, file=name)
        frame["t"], frame["view"] = int(look.get("t", 0)), look.get("view", "sphere")
        text, _ = self.parse_inline(caption)
        return [nodes.figure("", frame, nodes.caption(caption, "", *text), classes=["lab"])]


def visit(self: Any, node: Playable) -> None:
    """Write the run's file and its frame. This is done with each page that is written, so that no file is stale."""
    folder = Path(self.builder.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    page = one_file(Scene.from_query(node["query"]), title=node["caption"], t=node["t"], view=node["view"])
    (folder / node["file"]).write_text(page, encoding="utf-8")
    place = "../" * self.builder.current_docname.count("/") + f"{FOLDER}/{node['file']}"
    title = escape(f"A run to be played: {node['caption']}")
    self.body.append(
        f'<iframe src="{place}" title="{title}" loading="lazy" sandbox="allow-scripts allow-downloads"></iframe>'
        f'<p class="alone"><a href="{place}">Open it in a page of its own</a></p>'
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive and the writer of its node."""
    app.add_directive("lab", Lab)
    app.add_node(Playable, html=(visit, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
