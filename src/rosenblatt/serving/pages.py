"""The status page, and the page of the types of problems: plain HTML, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from rosenblatt.markup.charts import Chart
from rosenblatt.markup.elements import Markup, joined, safe, table, tag
from rosenblatt.markup.palette import CLASSES
from rosenblatt.serving.problems import PROBLEMS
from rosenblatt.serving.record import Record
from rosenblatt.text import count

VERSION = version("rosenblatt")
STYLE = """
:root { color-scheme: light dark; --soft: #667; --line: #8884; --panel: #8881; }
@media (prefers-color-scheme: dark) { :root { --soft: #aab; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.15rem; margin: 0 0 .3rem; }
section { border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1.1rem; margin: 1rem 0; }
section { display: flex; flex-wrap: wrap; gap: 1rem 2rem; justify-content: space-between; }
section div { min-width: 0; overflow-wrap: anywhere; flex: 1 1 18rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; }
table { border-collapse: collapse; }
td, th { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
svg { background: #fff; border-radius: .4rem; max-width: 100%; height: auto; }
code, pre { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: .92em; }
pre { background: var(--panel); padding: .8rem; border-radius: .4rem; overflow-x: auto; }
"""
FIRST = """curl -X PUT localhost:8080/v1/models/spam
curl -d '{"x": "win money now", "y": "spam"}' -H 'content-type: application/json' localhost:8080/v1/models/spam/learn"""


def _page(title: str, *body: Any) -> bytes:
    head = (
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Markup(STYLE)),
    )
    return ("<!DOCTYPE html>" + tag("html", tag("head", *head), tag("body", *body), lang="en")).encode()


def status(models: Sequence[tuple[str, dict[str, Any], Record]]) -> bytes:
    """Return the page of all models: rows learned, error over time, last snapshot."""
    links = joined(
        (tag("a", name, href=path) for name, path in (("openapi.json", "/openapi.json"), ("metrics", "/metrics"))), ", "
    )
    head = tag("p", f"rosenblatt {VERSION}, {count(len(models), 'model')}. ", links)
    parts = [_model(name, about, record) for name, about, record in models]
    if not parts:
        parts = [tag("p", "There is no model yet. Create one, and let it learn a row:"), tag("pre", FIRST)]
    return _page("Models", tag("h1", "Models"), head, *parts)


def _model(name: str, about: dict[str, Any], record: Record) -> Markup:
    found: list[tuple[str, Any]] = [("learner", about["learner"])]
    if "format" in about:
        found.append(("rows are", about["format"]))
        classes = about["classes"]
        shown = ", ".join(map(str, classes[:8])) + (f" and {len(classes) - 8} more" if len(classes) > 8 else "")
        found.append(("classes", shown or "numbers"))
    found.append(("rows learned", f"{record.rows:,}"))
    regression = "format" in about and not about["classes"]
    word = "mean absolute error" if regression else "error"
    if record.predicted:
        found.append((word, _rate(record.error, regression)))
        found.append((f"of the last {len(record.window):,}", _rate(record.windowed, regression)))
    if about["metrics"]["waiting"]:
        found.append(("wait for a label", f"{about['metrics']['waiting']:,}"))
    found.append(("last row", _time(record.last)))
    found.append(("last snapshot", f"{_time(about['snapshot']['time'])}, after change {about['snapshot']['seq']:,}"))
    facts = tag("dl", *(part for name, value in found for part in (tag("dt", name), tag("dd", value))))
    link = tag("h2", tag("a", name, href=f"/v1/models/{name}"))
    return tag("section", tag("div", link, facts), _chart(record, regression) or safe(""))


def _rate(value: float | None, regression: bool) -> str:
    return "" if value is None else f"{value:.4g}" if regression else f"{100 * value:.2f} %"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if seconds else "never"


def _chart(record: Record, regression: bool) -> Markup | None:
    """Return the error over the rows, as a chart."""
    if len(record.blocks) < 2:
        return None
    scale = 1.0 if regression else 100.0
    heights = [scale * block for block in record.blocks]
    rows = [record.size * (k + 1) for k in range(len(heights))]
    title = f"Error of {record.predicted:,} rows before each was learned"
    chart = Chart(
        (0, rows[-1]),
        (0, max(*heights, 1e-9)),
        title=title,
        xlabel="rows",
        ylabel="mean absolute error" if regression else "error in %",
    )
    chart.curve(rows, heights, CLASSES[0])
    return chart.svg()


def problems() -> bytes:
    """Return the page of the types of problems."""
    rows = [(tag("code", kind, id=kind), status, text) for kind, (status, text) in PROBLEMS.items()]
    intro = tag("p", "An error is answered with application/problem+json (RFC 9457). Its type is one of these.")
    return _page("Problems", tag("h1", "Problems"), intro, table(("type", "status", "meaning"), rows))
