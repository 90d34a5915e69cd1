"""The lab as a page of the site; and the directive `lab`: a run that plays on a page, in a file of its own.

    ```{lab} The caption of the run.
    data=or
    learner=Perceptron
    ```

The lines are the scene, as in the lab's URL after the #, with `t`, the first trial to show, and `view`, the view of
weight space. Readers of the Markdown file can choose the same settings in the lab. Neither needs a server or a network.
"""

from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from rosenblatt.errors import RosenblattError
from rosenblatt.lab.page import export_lab, one_file
from rosenblatt.lab.scene import Scene

FOLDER = "runs"
LAB = "lab"


class Playable(nodes.General, nodes.Element):
    """A run to be played: its scene, how to look at it, its caption and the name of its file."""


class Lab(SphinxDirective):
    """Place a run on the page."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the frame of the run with its caption."""
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
    """Write the file of the run, and its frame. Every time the page is written, so is the file: it is never stale."""
    folder = Path(self.builder.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    page = one_file(Scene.from_query(node["query"]), title=node["caption"], t=node["t"], view=node["view"])
    (folder / node["file"]).write_text(page, encoding="utf-8")
    root = "../" * self.builder.current_docname.count("/")
    place = f"{root}{FOLDER}/{node['file']}"
    state = escape(f"{node['query']}&t={node['t']}&view={node['view']}")
    title = escape(f"A run to be played: {node['caption']}")
    self.body.append(
        f'<iframe src="{place}" title="{title}" loading="lazy" sandbox="allow-scripts allow-downloads"></iframe>'
        f'<p class="alone"><a href="{place}">Open it on a separate page</a>, or '
        f'<a href="{root}{LAB}/index.html#{state}">in the lab</a>, where it can be changed</p>'
    )
    raise nodes.SkipNode


def write_lab(app: Sphinx, fault: Exception | None) -> None:
    """Write the lab into the site."""
    if fault is None and app.builder.format == "html":
        export_lab(Path(app.builder.outdir) / LAB)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive, its node, and the lab itself."""
    app.connect("build-finished", write_lab)
    app.add_directive("lab", Lab)
    app.add_node(Playable, html=(visit, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
