"""From results to a table in the terminal, a JSON file and a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from benchmarks.harness import BANDWIDTH, COST, MEMORY, RATE, SPEED, Bench, Figure, Result

MARK = {True: ("met", "green"), False: ("missed", "bold red"), None: ("", "")}
COLOUR = {True: "#2a9d6f", False: "#d1495b", None: "#9aa5b1"}


def amount(value: float, unit: str) -> str:
    """Write a measurement with three digits."""
    if unit == "rows/s":
        return f"{value / 1e6:.3g} M rows/s" if value >= 1e6 else f"{value / 1e3:.3g} k rows/s"
    if unit != "s":
        return f"{value:.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"
    factor, name = next((f, n) for f, n in ((1.0, "s"), (1e3, "ms"), (1e6, "us")) if value * f >= 1 or n == "us")
    return f"{value * factor:.3g} {name}"


def ratio(value: float, unit: str) -> str:
    """Write the value of a figure."""
    number = f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 1 else f"{value:.2f}"
    return number + ("x" if unit == "x" else f" {unit}")


def goal(figure: Figure) -> str:
    """Write the target of a figure."""
    if figure.target is None:
        return ""
    sign = ">=" if figure.quantity.more_is_better else "<="
    return f"{sign} {figure.target:g}{'x' if figure.quantity.unit == 'x' else f' {figure.quantity.unit}'}"


def show(result: Result, console: Console) -> None:
    """Print what came of a case."""
    console.print(f"\n[bold]{result.name}[/]  {result.title}  [dim]({result.seconds:.0f} s)[/]", highlight=False)
    if result.figures:
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        grid.add_column("measured", min_width=34)
        grid.add_column("rosenblatt", justify="right", min_width=13)
        grid.add_column("peer", justify="right", min_width=13)
        grid.add_column("", style="dim", min_width=13)
        grid.add_column("figure", min_width=14)
        grid.add_column("target", justify="right", min_width=7)
        grid.add_column("", min_width=6)
        for figure in result.figures:
            grid.add_row(
                figure.what,
                amount(figure.ours, figure.unit),
                amount(figure.theirs, figure.unit),
                figure.peer,
                Text.assemble((ratio(figure.value, figure.quantity.unit), "bold"), f" {figure.quantity.brief}"),
                goal(figure),
                Text(*MARK[figure.met]),
            )
        console.print(grid)
    for table in result.tables:
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        for number, column in enumerate(table.columns):
            grid.add_column(column, no_wrap=number < len(table.columns) - 1)
        for row in table.rows:
            grid.add_row(*(Text(cell) for cell in row))
        console.print(grid)
    for remark in result.remarks:
        console.print(Text(f"  {remark}", style="yellow" if remark.startswith("Skipped") else ""))


def summary(results: list[Result]) -> str:
    """Count the targets, and name the missed ones."""
    judged = [(result.name, figure) for result in results for figure in result.figures if figure.met is not None]
    missed = [
        f"{name} ({figure.what}: {ratio(figure.value, figure.quantity.unit)}, {goal(figure)})"
        for name, figure in judged
        if not figure.met
    ]
    told = f"{len(judged) - len(missed)} of {len(judged)} targets met."
    return told + (f" Missed: {'; '.join(missed)}." if missed else "")


def write_json(path: Path, results: list[Result], bench: Bench, machine: dict[str, Any]) -> None:
    """Write everything measured."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cases = [
        {
            "case": result.name,
            "title": result.title,
            "seconds": result.seconds,
            "figures": [_plain(figure) for figure in result.figures],
            "tables": [[dict(zip(table.columns, row, strict=True)) for row in table.rows] for table in result.tables],
            "remarks": result.remarks,
        }
        for result in results
    ]
    content = {"machine": machine, "quick": bench.quick, "rounds": bench.rounds, "cases": cases}
    path.write_text(json.dumps(content, indent=1) + "\n")


def _plain(figure: Figure) -> dict[str, Any]:
    return {
        "measured": figure.what,
        "rosenblatt": figure.ours,
        "peer": figure.theirs,
        "unit": figure.unit,
        "peer_name": figure.peer,
        "figure": figure.value,
        "figure_unit": figure.quantity.unit,
        "meaning": figure.quantity.meaning,
        "more_is_better": figure.quantity.more_is_better,
        "target": figure.target,
        "met": figure.met,
    }


def draw(path: Path, results: list[Result], bench: Bench, machine: dict[str, Any]) -> None:
    """Draw the figures as bars, one panel for each quantity, each target as a black line."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    drawn = [(result.name, figure) for result in results for figure in result.figures if figure.drawn]
    panels = [
        (quantity, chosen)
        for quantity in (SPEED, RATE, BANDWIDTH, COST, MEMORY)
        if (chosen := [pair for pair in drawn if pair[1].quantity is quantity])
    ]
    if not panels:
        return
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 10}):
        # Bars are equally high in all panels; beside them there is room for titles and axes.
        bars = [len(chosen) for _, chosen in panels]
        canvas = Canvas(figsize=(12, 0.3 * sum(bars) + 0.75 * len(panels) + 1.1), layout="constrained")
        canvas.get_layout_engine().set(h_pad=0.1, w_pad=0.1)
        grid = canvas.subplots(len(panels), 1, squeeze=False, height_ratios=bars)[:, 0]
        for axes, (_, chosen) in zip(grid, panels, strict=True):
            _panel(axes, chosen)
        packages = machine["packages"]
        title = f"rosenblatt {packages['rosenblatt']} and its peers"
        canvas.suptitle(
            title + (" (--quick: no measure of anything)" if bench.quick else ""), fontsize=14, weight="bold"
        )
        about = (
            f"{machine['cpu']}, {machine['cores']} cores; Python {machine['python']}, scikit-learn "
            f"{packages['scikit-learn']}, numba {packages['numba']}; best of {bench.rounds} rounds"
        )
        handles = [
            Patch(color=COLOUR[True], label="target met"),
            Patch(color=COLOUR[False], label="target missed"),
            Patch(color=COLOUR[None], label="no target"),
            Line2D([], [], color="black", linewidth=2, label="target"),
        ]
        canvas.legend(
            handles=handles, loc="outside lower center", ncols=4, frameon=False, title=about, title_fontsize=9
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        canvas.savefig(path, dpi=150)


def _panel(axes: Any, chosen: list[tuple[str, Figure]]) -> None:
    quantity = chosen[0][1].quantity
    values = [figure.value for _, figure in chosen]
    reach = max(values + [figure.target for _, figure in chosen if figure.target is not None])
    wide = reach > 50 * min(values) > 0  # from a few times to hundreds
    if wide:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlim(min(1.0, 0.5 * min(values)), reach * 2)
    else:
        axes.set_xlim(0, reach * 1.12)
    for place, (_, figure) in enumerate(chosen):
        axes.barh(place, figure.value, height=0.68, color=COLOUR[figure.met])
        end = figure.value
        if figure.target is not None:
            axes.plot([figure.target] * 2, [place - 0.45, place + 0.45], color="black", linewidth=2)
            # A line just beyond the end of the bar would cross the number there.
            if end < figure.target < (2 * end if wide else end + 0.1 * reach):
                end = figure.target
        axes.annotate(
            ratio(figure.value, quantity.unit),
            (end, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    labels = [figure.what if quantity is RATE else f"{name}: {figure.what}" for name, figure in chosen]
    named = [
        f"{label}, against {figure.peer}" if quantity is RATE or labels.count(label) > 1 else label
        for label, (_, figure) in zip(labels, chosen, strict=True)
    ]
    axes.set_yticks(range(len(chosen)), named)
    axes.set_ylim(len(chosen) - 0.4, -0.6)
    direction = "more" if quantity.more_is_better else "less"
    axes.set_title(f"{quantity.meaning} ({direction} is better)", loc="left", fontsize=10.5, weight="bold")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e3e6ea")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
