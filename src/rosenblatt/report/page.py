"""The HTML of a report: one file with its styles and scripts inside, and the run of the training to be played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rosenblatt.errors import RosenblattError
from rosenblatt.lab import page as lab_page
from rosenblatt.markup.elements import Markup, joined, safe, tag

MAX_ROWS = 500  # of a run that is worth playing

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

# Unpacks the lab into its frame, which inherits the policy of the page: only the lab's own scripts run there.
LOADER = """
(async () => {
  const packed = Uint8Array.from(atob(document.getElementById("packed-lab").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  document.getElementById("lab-frame").srcdoc = await new Response(stream).text();
})();
""".strip()


class Playable(NamedTuple):
    """A run that can be played in a report."""

    body: Markup  # the frame, and the packed lab
    script_hashes: str  # of the scripts in the frame, for the policy of the page
    style_hash: str
    epochs: int | None  # how many epochs of the run fit; None: all


def document(title: str, body: Markup, run: Playable | None = None) -> str:
    """Return an HTML file that loads nothing, and runs only the scripts of a playable run, which `body` contains."""
    scripts, styles, end = "'none'", lab_page.policy_hash(STYLE), ""
    if run is not None:
        scripts = f"{lab_page.policy_hash(LOADER)} {run.script_hashes}"
        styles += f" {run.style_hash}"
        end = f"<script>{LOADER}</script>"
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )
    head = joined(
        [
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("title", title),
            Markup(f"<style>{STYLE}</style>"),
        ]
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{safe(body)}{end}</body></html>\n'


def playable(estimator: Any, X: Any, y: Any, names: Sequence[str], *, epochs: int, room: int) -> Playable | None:
    """Return a run to play, recorded from a copy of an estimator; None if the lab cannot show it.

    If its `epochs` do not all fit into `room`, the bytes that it may add to a page, the run is cut to the first ones.
    """
    if X.shape[0] > MAX_ROWS or X.shape[1] != 2:
        return None
    run = _framed(estimator, X, y, names, room)
    fewer = epochs // 2
    while run is None and fewer and hasattr(estimator, "max_iter"):
        run = _framed(_shorter(estimator, fewer), X, y, names, room, fewer)
        fewer //= 2
    return run


def _shorter(estimator: Any, epochs: int) -> Any:
    """Return a copy of an estimator, not fitted, that stops after some epochs."""
    return type(estimator)(**(estimator.get_params(deep=False) | {"max_iter": epochs}))


def _framed(
    estimator: Any, X: Any, y: Any, names: Sequence[str], room: int, epochs: int | None = None
) -> Playable | None:
    """Return a run in a frame; None if the lab cannot show it, or it takes more bytes than there is room for."""
    try:
        pieces = lab_page.pieces(estimator, X, y, names=list(names))
    except RosenblattError:
        return None
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The run</title>'
        f"<style>{pieces.style}</style></head><body>{pieces.body}"
        f'<script type="module">{pieces.script}</script></body></html>'
    )
    packed = lab_page.packed(html.encode())
    if len(packed) > room:
        return None
    frame = tag("iframe", id="lab-frame", title="The run, to be played", sandbox="allow-scripts allow-downloads")
    data = Markup(f'<script type="application/octet-stream" id="packed-lab">{packed}</script>')
    return Playable(Markup(frame + data), *pieces.hashes, epochs)
