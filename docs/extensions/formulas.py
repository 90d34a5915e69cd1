"""Write formulas as MathML, which browsers render without a script: the site works offline."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def visit_math(self, node):
    """Write an inline formula."""
    self.body.append(convert(node.astext()))
    raise SkipNode


def visit_math_block(self, node):
    """Write a formula on a line of its own."""
    self.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
