"""The page's modules joined into one, for notebooks; and the lab, or a run, as one HTML file, which needs no server.

Modules are concatenated, dependencies first. That works because they keep to a style, which is checked: named imports
of siblings without renaming, `export` only before declarations, and no name twice at the top level.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.data.matrices import as_dense
from rosenblatt.errors import InvalidInput
from rosenblatt.lab.answers import python_of
from rosenblatt.lab.catalogue import DATA, MAX_POINTS, ORDERS, catalogue, learner_names, learners, one_of
from rosenblatt.lab.frames import COARSE_GRID, Subject, frames
from rosenblatt.lab.scene import Scene
from rosenblatt.lab.theory import proof_of
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]

STATIC = Path(__file__).parent / "static"
# The entries of a saved run, of the lab as one file, and of a notebook. page.js is the entry of the served page.
RUN, LAB, WIDGET = "run.js", "standalone.js", "widget.js"
# With more rows, a file has no proof: searching for it would take too long.
MOST_PROVED_ROWS = 500

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|let|class) )", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)
_COMMENT = re.compile(
    r"^[ \t]*/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n"  # lines of their own
    r"|^[ \t]*//.*\n"
    r"|/\*\* @(?:[^*\n]|\*(?!/))*\*/ ?",  # a type, before an expression
    re.MULTILINE,
)


class Pieces(NamedTuple):
    """A playable run, as parts of an HTML document."""

    style: str  # for one <style>
    script: str  # for one <script type="module">
    body: str  # HTML
    hashes: tuple[str, str]  # for script-src and for style-src of a Content-Security-Policy


# ------------------------------------------------------------------------------------------------------------ joining


def joined(entry: str, folder: Path = STATIC) -> str:
    """Return a module and the modules that it imports as one text.

    Parameters
    ----------
    entry : str
    folder : Path

    Raises
    ------
    InvalidInput
        If a module does not keep to the style.
    """
    texts: dict[str, str] = {}
    _visit(entry, folder, texts, ())
    owners: dict[str, str] = {}
    for module, text in texts.items():
        for name in _TOP_LEVEL.findall(text):
            if name in owners:
                raise InvalidInput(f"{module} and {owners[name]} both define {name!r} at the top level. Rename one.")
            owners[name] = module
    return "\n".join(map(_squeezed, texts.values()))


def _visit(module: str, folder: Path, texts: dict[str, str], above: tuple[str, ...]) -> None:
    if module in texts:
        return
    if module in above:
        raise InvalidInput(f"The modules {' -> '.join((*above, module))} form an import cycle. Break it.")
    text = (folder / module).read_text(encoding="utf-8")
    for names, other in _IMPORT.findall(text):
        if " as " in names:
            raise InvalidInput(f"{module} renames an import from {other}. Keep its name: the modules are joined.")
        _visit(other, folder, texts, (*above, module))
    plain = _EXPORT.sub("", _IMPORT.sub("", text))
    if found := re.search(r"^\s*(?:import|export)\b.*|^await .*", plain, re.MULTILINE):
        raise InvalidInput(
            f"{module} has {found[0].strip()[:60]!r}, which cannot be joined. Use named imports and exports."
        )
    texts[module] = plain


def _squeezed(text: str) -> str:
    """Return code without comments, indentation and empty lines: half the size."""
    lines = (line.strip() for line in _COMMENT.sub("", text).splitlines())
    return "\n".join(line for line in lines if line)


@cache
def module_text(entry: str) -> str:
    """Return the joined modules."""
    return joined(entry)


@cache
def style_text() -> str:
    """Return the style sheet of the page."""
    return "\n".join(_squeezed(path.read_text(encoding="utf-8")) for path in sorted(STATIC.glob("*.css")))


# -------------------------------------------------------------------------------------------------------- one file

# Runs first in a saved page: it unpacks the modules, whose hash is in the policy too.
_LOADER = """
window.rosenblatt = { source: "<!doctype html>" + document.documentElement.outerHTML };
const unpacked = async (id) => {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
};
window.rosenblatt.data = await (await unpacked("data")).arrayBuffer();
const modules = document.createElement("script");
modules.type = "module";
modules.textContent = await (await unpacked("modules")).text();
document.body.append(modules);
"""


def packed(content: bytes) -> str:
    """Return bytes compressed, in Base64."""
    press = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(press.compress(content) + press.flush()).decode()


def pieces(what: Any, X: Any = None, y: Any = None, *, names: Any = None, t: int = 0, view: str = "sphere") -> Pieces:
    """Return a playable run to insert into an HTML document, at most one in each.

    Parameters
    ----------
    what : Scene or estimator
        A scene of the lab; or an estimator of the family: a copy of it is recorded on X and y.
    X : array-like of shape (n_samples, n_features), optional
    y : array-like of shape (n_samples,), optional
    names : sequence of str, optional
        Names of the features.
    t : int
        The first trial to show.
    view : {"sphere", "slice", "plane"}
        The first view of weight space.

    Returns
    -------
    Pieces

    Raises
    ------
    InvalidInput
        If there are more points than the lab can show, or the estimator is not one of its learners.
    """
    subject, scene = (None, what) if isinstance(what, Scene) else scene_of(what, X, y)
    scene = replace(scene, race=())
    run = frames(scene, grid=COARSE_GRID, subject=subject)
    if names is not None and len(names) == len(run.about["names"]):
        run.about["names"] = [str(name) for name in names]
    answers: dict[str, Any] = {}
    if subject is None:
        answers["code"] = python_of(scene, run.arrays["row"].size)
    if len(run.arrays["y"]) <= MOST_PROVED_ROWS and not scene.traits.kernel:
        answers["certificate"] = proof_of(scene, subject)
    options = {
        "catalogue": small_catalogue(scene),
        "scene": scene.as_dict() | {"view": view},
        "t": int(t),
        "editable": False,
        "address": False,
        "answers": answers,
    }
    return _pieces(options, run.to_bytes(), module_text(RUN))


def _pieces(scene: dict[str, Any], data: bytes, modules: str) -> Pieces:
    """Return a document that unpacks its data and its modules."""
    style = style_text()
    body = (
        '<div id="lab"></div>'
        f'<script type="application/json" id="scene">{_inside_script(scene)}</script>'
        f'<script type="application/octet-stream" id="data">{packed(data)}</script>'
        f'<script type="application/octet-stream" id="modules">{packed(modules.encode())}</script>'
    )
    hashes = (f"{policy_hash(_LOADER)} {policy_hash(modules)}", policy_hash(style))
    return Pieces(style, _LOADER, body, hashes)


def lab_file(scene: Scene | None = None, look: Mapping[str, Any] | None = None) -> str:
    """Return the whole lab as one HTML file: the learners of the lectures run in the page.

    It opens from a folder or from any web server, and loads nothing else.

    Parameters
    ----------
    scene : Scene, optional
        The scene to start with; an address with a # has precedence.
    look : mapping, optional
        How to look at it: t, the first trial to show, and view, the view of weight space.

    Returns
    -------
    str

    Examples
    --------
    >>> from rosenblatt.lab.page import lab_file
    >>> lab_file()[:15]
    '<!doctype html>'
    """
    data = json.dumps(catalogue(), allow_nan=False).encode()
    state = (scene or Scene()).as_dict() | dict(look or {})
    parts = _pieces(state, data, module_text(LAB))
    return _document(parts, "rosenblatt lab")


def export_lab(target: Path, scene: Scene | None = None, look: Mapping[str, Any] | None = None) -> Path:
    """Write the lab to an .html file, or as index.html into a folder; return the path of the file.

    Parameters
    ----------
    target : Path
    scene, look
        As for `lab_file`.
    """
    path = target if target.suffix.lower() in (".html", ".htm") else target / "index.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lab_file(scene, look), encoding="utf-8")
    return path


def one_file(
    what: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str = "A run",
    names: Any = None,
    t: int = 0,
    view: str = "sphere",
) -> str:
    """Return an HTML file that plays a run. It needs no server and no network, and runs no other scripts.

    Parameters
    ----------
    what, X, y, names, t, view
        As for `pieces`.
    title : str
    """
    return _document(pieces(what, X, y, names=names, t=t, view=view), title)


def _document(parts: Pieces, title: str) -> str:
    """Return an HTML file that may run its own scripts only, and load nothing."""
    policy = (
        f"default-src 'none'; script-src {parts.hashes[0]}; style-src {parts.hashes[1]}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{parts.style}</style></head><body>{parts.body}"
        f'<script type="module">{parts.script}</script></body></html>'
    )


def policy_hash(text: str) -> str:
    """Return the hash of an inline script or style for a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _inside_script(value: Any) -> str:
    """Return JSON in which no text can end a script element."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def small_catalogue(scene: Scene) -> dict[str, Any]:
    """Return only the entries of the catalogue that a scene uses."""
    whole = catalogue()
    data = [DATA[scene.data].described()] if scene.data in DATA else []
    return whole | {"data": data, "learners": [scene.traits.described()], "chapters": [], "exercises": []}


def scene_of(estimator: Any, X: Any, y: Any) -> tuple[Subject, Scene]:
    """Return a copy of an estimator with its data, and the scene that is closest to them."""
    name = type(estimator).__name__
    if name not in learner_names():
        raise InvalidInput(f"{name} is not a learner of the lab. Pass one of {', '.join(learner_names())}.")
    rows = np.ascontiguousarray(as_dense(X), dtype=np.float64)
    if rows.ndim != 2 or not 2 <= len(rows) <= MAX_POINTS:
        raise InvalidInput(f"X has shape {rows.shape}. Pass a table of 2 to {MAX_POINTS} rows.")
    classes, label = as_labels(y, len(rows))
    params = estimator.get_params()
    orders = {entry[0]: key for key, entry in ORDERS.items()}
    scene = Scene(
        data="points",
        points=tuple((*row, int(k)) for row, k in zip(rows.tolist(), label.tolist(), strict=True)),
        learner=name,
        params=shown_params(estimator),
        order=orders[params.get("shuffle", False)],
        epochs=int(params.get("max_iter", 1)),
    )
    changes = {"max_iter": scene.limit(len(rows)), "callback": None}
    copy = type(estimator)(**(params | {key: value for key, value in changes.items() if key in params}))
    return (copy, rows, classes[label]), scene


def shown_params(estimator: Any) -> tuple[tuple[str, Any], ...]:
    """Return the parameters of an estimator that the lab shows and that differ from the defaults."""
    changed = []
    for control in learners()[one_of("learner", type(estimator).__name__, learner_names())].params:
        value = getattr(estimator, control.name)
        if value is not None and not isinstance(value, bool | int | float | str):
            raise InvalidInput(
                f"{control.name}={short_repr(value)} is not a number or a string, so the lab cannot show it. Pass one."
            )
        if value != control.default:
            changed.append((control.name, value))
    return tuple(changed)


def widget_module() -> str:
    """Return the joined modules with the code that connects them to the kernel of a notebook."""
    return f"{module_text(WIDGET)}\nexport default widget;\n"
