"""The run that can be played in a report: the lab in a frame of the page, packed, without a network.

This is the one place where a report meets the lab.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from rosenblatt.errors import RosenblattError
from rosenblatt.lab import page
from rosenblatt.markup.elements import Markup, tag

# Rows and features up to which a run is worth playing.
MAX_ROWS, FEATURES = 500, 2

# Unpacks the lab and puts it into its frame, which inherits the page's policy: only the lab's own script runs there.
LOADER = """
(async () => {
  const packed = Uint8Array.from(atob(document.getElementById("packed-lab").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  document.getElementById("lab-frame").srcdoc = await new Response(stream).text();
})();
""".strip()


@dataclass(frozen=True)
class Playable:
    """A run that can be played, as parts of a page.

    Attributes
    ----------
    body : Markup
        The frame, and the packed lab.
    scripts : tuple of str
        For the page.
    allowed, styles : tuples of str
        Hashes of the script and of the style in the frame.
    epochs : int or None
        How many of the run's epochs there was room for; None if for all.
    """

    body: Markup
    scripts: tuple[str, ...]
    allowed: tuple[str, ...]
    styles: tuple[str, ...]
    epochs: int | None = None


def playable(estimator: Any, X: Any, y: Any, names: Any, *, epochs: int, room: int) -> Playable | None:
    """Return a run to play, or None where the lab cannot show it.

    Parameters
    ----------
    estimator : estimator of the family
        A copy of it is recorded.
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    names : sequence of str
        Of the features.
    epochs : int
        Of its run. If there is no room for all of them, the first ones are taken, which are the same in a shorter run.
    room : int
        Bytes that the run may add to a page.
    """
    if X.shape[0] > MAX_ROWS or X.shape[1] != FEATURES:
        return None
    found = _framed(estimator, X, y, names, room)
    fewer = epochs // 2
    while found is None and fewer and hasattr(estimator, "max_iter"):
        found = _framed(_shorter(estimator, fewer), X, y, names, room, fewer)
        fewer //= 2
    return found


def _shorter(estimator: Any, epochs: int) -> Any:
    """Return a copy of an estimator, not fitted, that ends after so many epochs."""
    return type(estimator)(**(estimator.get_params(deep=False) | {"max_iter": epochs}))


def _framed(estimator: Any, X: Any, y: Any, names: Any, room: int, epochs: int | None = None) -> Playable | None:
    try:
        pieces = page.pieces(estimator, X, y, names=list(names))
    except RosenblattError:
        return None
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The run</title>'
        f"<style>{pieces.style}</style></head><body>{pieces.body}"
        f'<script type="module">{pieces.script}</script></body></html>'
    )
    found = packed(html, pieces.hashes[0], pieces.hashes[1], room)
    return None if found is None else replace(found, epochs=epochs)


def packed(html: str, script_hash: str, style_hash: str, most: int) -> Playable | None:
    """Return a page as a frame of another, squeezed; None if that is still longer than so many bytes."""
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    text = base64.b64encode(squeezed.compress(html.encode()) + squeezed.flush()).decode()
    if len(text) > most:
        return None
    frame = tag("iframe", id="lab-frame", title="The run, to be played", sandbox="allow-scripts allow-downloads")
    data = Markup(f'<script type="application/octet-stream" id="packed-lab">{escape(text)}</script>')
    return Playable(Markup(frame + data), (LOADER,), (script_hash,), (style_hash,))
