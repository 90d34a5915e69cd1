"""One HTML file: styles and scripts inside, allowed by their hashes and nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

from rosenblatt.markup.elements import Markup, joined, safe, tag

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 62rem; background: #f7f7f4; color: #1c2024;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 0 0 .6rem; }
h3 { font-size: 1rem; margin: 1rem 0 .4rem; }
header p { color: #5d646c; margin: 0 0 1rem; overflow-wrap: anywhere; }
section { background: #fff; border: 1px solid #e3e4e1; border-radius: 8px; padding: 1rem 1.2rem; margin: 0 0 1rem; }
p { margin: 0 0 .6rem; overflow-wrap: anywhere; }
dl { display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; margin: 0 0 .8rem; }
dt { color: #5d646c; font-size: 13px; }
dd { margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; margin: 0 0 .8rem; font-size: 14px; }
th, td { text-align: right; padding: .15rem .7rem .15rem 0; border-bottom: 1px solid #e3e4e1; overflow-wrap: anywhere;
  max-width: 16rem; }
th { font-weight: 600; color: #5d646c; }
caption { text-align: left; color: #5d646c; padding: 0 0 .2rem; white-space: nowrap; }
.left { text-align: left; }
.hit { background: #ddecf6; }
.miss { background: #f3dcfb; }
.row { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
.wide { overflow-x: auto; }
.keys { font-size: 13px; color: #5d646c; }
.key { margin-right: 1rem; white-space: nowrap; }
.note { color: #5d646c; font-size: 13px; }
svg { max-width: 100%; height: auto; }
.key svg { vertical-align: -1px; }
iframe { width: 100%; height: 860px; border: 1px solid #e3e4e1; border-radius: 8px; background: #fff; }
footer { color: #5d646c; font-size: 13px; }
@media print {
  @page { margin: 15mm; }
  body { background: #fff; padding: 0; font-size: 10.5pt; max-width: none; }
  section { border: 0; border-top: 1px solid #8b9096; border-radius: 0; padding: .6rem 0 0; break-inside: avoid-page; }
  section.long { break-inside: auto; }
  h2, h3, caption { break-after: avoid; }
  figure, svg, tr { break-inside: avoid; }
  .hit, .miss { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .screen { display: none; }
}
""".strip()


def source(text: str) -> str:
    """Return an inline style or script as a Content-Security-Policy names it: by its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def document(
    title: str, body: Any, *, scripts: Sequence[str] = (), allowed: Sequence[str] = (), styles: Sequence[str] = ()
) -> str:
    """Return an HTML file that loads nothing, and runs nothing but what it is told here.

    Parameters
    ----------
    title : str
    body : Markup
    scripts : sequence of str
        Texts of scripts, at the end of the page.
    allowed, styles : sequence of str
        Hashes of scripts and of styles that a frame inside the page has.

    Returns
    -------
    str
    """
    for script in scripts:
        if "</script" in script.lower() or "<!--" in script:
            raise ValueError("a script would end before its end")
    running = " ".join([*map(source, scripts), *allowed]) or "'none'"
    looks = " ".join([source(STYLE), *styles])
    policy = (
        f"default-src 'none'; script-src {running}; style-src {looks}; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )
    head = joined(
        [
            tag("meta", charset="utf-8"),
            # Written by hand: the name of the attribute has a hyphen, and so has its value.
            Markup(f'<meta http-equiv="Content-Security-Policy" content="{safe(policy)}">'),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("title", title),
            Markup(f"<style>{STYLE}</style>"),
        ]
    )
    ends = [Markup(f"<script>{script}</script>") for script in scripts]
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{joined([body, *ends])}</body></html>\n'
