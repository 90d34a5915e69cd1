"""Links into the repository. Pages link to files by their relative paths, which also work in the Markdown files.

On the site, a link to a page of the site leads to that page, and a link to any other file leads to the file itself,
with its syntax highlighted. A folder becomes a list of its files.
"""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Files outside docs/ that pages of the site include.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changes.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/README.md": "explanation/benchmarks.md",
    "examples/README.md": "learn/examples.md",
}
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]+)?(?=\))")


def rewritten(text: str, folder: Path) -> str:
    """Return Markdown with links for the site, from Markdown with links for the repository."""

    def target(match: re.Match[str]) -> str:
        path, fragment = (folder / match[1]).resolve(), match[2] or ""
        if path.is_relative_to(DOCS) and folder.is_relative_to(DOCS):
            return match[0]
        if path.is_relative_to(DOCS) and path.suffix == ".md":
            return f"/{path.relative_to(DOCS).as_posix()}{fragment}"
        if not path.is_relative_to(ROOT):
            return match[0]
        name = path.relative_to(ROOT).as_posix()
        return f"/{PAGES[name]}{fragment}" if name in PAGES else f"repository:{name}{fragment}"

    return LINK.sub(target, text)


def read_page(app: Sphinx, page: str, content: list[str]) -> None:
    """Rewrite the links of a page."""
    path = Path(app.env.doc2path(page))
    if path.suffix == ".md":
        content[0] = rewritten(content[0], path.parent)


def read_included(app: Sphinx, path: Path, parent: str, content: list[str]) -> None:
    """Rewrite the links of a file that a page includes."""
    if path.suffix == ".md":
        content[0] = rewritten(content[0], (DOCS / path).resolve().parent)


def resolve(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Point the links of a page to the pages of their files."""
    for reference in doctree.findall(nodes.reference):
        uri = reference.get("refuri", "")
        if uri.startswith("repository:"):
            name, _, fragment = uri.removeprefix("repository:").partition("#")
            if not hasattr(app.env, "repository_files"):
                app.env.repository_files = set()
            app.env.repository_files.add(name)
            reference["refuri"] = app.builder.get_relative_uri(page, f"source/{name}") + (fragment and f"#{fragment}")


def as_html(path: Path) -> str:
    """Return a file, or the list of a folder's files, as HTML."""
    if path.is_dir():
        names = sorted(child.name for child in path.iterdir() if child.suffix in (".py", ".md", ".json"))
        return "<ul>" + "".join(f"<li><code>{escape(name)}</code></li>" for name in names) + "</ul>"
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return highlight(path.read_text(encoding="utf-8"), lexer, HtmlFormatter(lineanchors="L", anchorlinenos=True))


def collect(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield a page for each file that was linked to."""
    for name in sorted(getattr(app.env, "repository_files", ())):
        title = f"<h1><code>{escape(name)}</code></h1>"
        body = title + as_html(ROOT / name)
        yield f"source/{name}", {"title": name, "body": body, "toc": ""}, "page.html"


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the events."""
    app.connect("source-read", read_page)
    app.connect("include-read", read_included)
    app.connect("doctree-resolved", resolve)
    app.connect("html-collect-pages", collect)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
