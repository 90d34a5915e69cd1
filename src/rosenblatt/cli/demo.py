"""The demonstration: a perceptron learns two real data sets, with a short report and a picture.

It is seeded, and downloads nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import click
import numpy as np

from rosenblatt.cli.options import check_targets
from rosenblatt.cli.output import table
from rosenblatt.errors import InvalidInput
from rosenblatt.evaluation import accuracy
from rosenblatt.lab.catalogue import points_of
from rosenblatt.learners.perceptron import Perceptron
from rosenblatt.learners.sample_data import Split, digits, tumours
from rosenblatt.learners.shared import Multiclass
from rosenblatt.plots import new_figure, plot_boundary, plot_errors, plot_mistakes, plot_trace
from rosenblatt.plots.axes import INK
from rosenblatt.prover.search.certify import certify
from rosenblatt.text import count, rounded_down, rounded_up
from rosenblatt.training.plan import Epoch, Run
from rosenblatt.training.stopping import Stop
from rosenblatt.training.trace import trace

SEED = 0
CLEAR_LINE = "\r\x1b[2K"
WAYS: dict[Multiclass, str] = {
    "ovr": "each against rest",
    "ovo": "pairs, scores added",
    "ovo-vote": "pairs, by vote",
    "joint": "all ten at once",
}


def run_demo(output: Path | None, out: TextIO) -> int:
    """Train on two real data sets, print a report to `out`, and save a picture if `output` is a path; return 0.

    A terminal shows the epochs live, a file gets a few lines.
    """
    kind = "" if output is None else _check_output(output)
    for mode in WAYS:  # compiles every loop, to leave compiling out of the times in the table
        _fit_digits(mode)
    run = _tumours(out)
    _digits(out)
    if output is not None:
        _picture(run).savefig(output, format=kind)
        click.echo(f"The picture is in {bold(output.resolve())}", out)
    return 0


def bold(text: object) -> str:
    """Return a text that a terminal shows in bold; `click.echo` removes the codes elsewhere."""
    return click.style(str(text), bold=True)


def _check_output(output: Path) -> str:
    """Return the format of the picture; raise an error before any work if it cannot be saved."""
    check_targets((), output=str(output))
    kinds = new_figure().canvas.get_supported_filetypes()
    kind = output.suffix.lstrip(".").lower() or "png"
    if kind not in kinds:
        raise InvalidInput(f"{output.name}: .{kind} is not a format for pictures. Choose one of {', '.join(kinds)}.")
    return kind


# ---------------------------------------------------------------------------------------------------------- tumours


def _tumours(out: TextIO) -> Run:
    data = tumours(SEED)
    click.echo(f"{bold('1. Benign or malignant?')} 569 tumours, 30 measurements each", out)
    click.echo("A perceptron weighs the measurements, and corrects its weights only when wrong.", out)
    click.echo("It goes through the tumours again and again; each pass is an epoch.", out)
    model = _watched_fit(out, data)
    run: Run = model.run_
    bars = sparkline(run.mistakes, ascii_only=not (out.encoding or "utf-8").lower().startswith("utf"))
    click.echo(f"  mistakes per epoch   {bars}", out)
    for name, X, y in (("learned from", data.X, data.y), ("never seen", data.X_test, data.y_test)):
        share = f"{accuracy(y, model.predict(X)):.1%}"
        click.echo(f"  tumours {name:<12} {bold(share)} of {y.size} right", out)
    click.echo(f"  It stopped because {model.stop_reason_}", out)
    _geometry(out, model, data)
    click.echo(file=out)
    return run


def _watched_fit(out: TextIO, data: Split) -> Any:
    """Train, and show the epochs: live on a terminal, else in a few lines."""
    live = out.isatty()

    def show(epoch: Epoch) -> None:
        if live:
            click.echo(f"{CLEAR_LINE}  epoch {epoch.number}: {count(epoch.mistakes, 'mistake')}", out, nl=False)
        elif epoch.number in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
            plural = "" if epoch.mistakes == 1 else "s"
            click.echo(f"  epoch {epoch.number:>4}: {epoch.mistakes:>3} mistake{plural}", out)

    model = Perceptron(tol=None, keep="best", random_state=SEED, callback=show).fit(data.X, data.y)
    if live:
        click.echo(CLEAR_LINE, out, nl=False)
    return model


def _geometry(out: TextIO, model: Any, data: Split) -> None:
    """Report how hard the task was: radius, margin, and the bound on the mistakes."""
    run: Run = model.run_
    made = sum(run.mistakes)
    length = float(np.hypot(np.linalg.norm(model.coef_), model.intercept_[0]))
    margin = float((np.where(data.y > 0, 1, -1) * model.decision_function(data.X)).min()) / length
    click.echo(
        "How hard was it? A tumour is a point (the bias adds a coordinate that is always 1), the weights a boundary.",
        out,
    )
    farthest = rounded_up(run.radius, 5)
    click.echo(f"  radius           {farthest:>9}   distance of the farthest point from the origin", out)
    if run.ceiling is not None:
        most = rounded_up(run.ceiling, 5)
        click.echo(f"  margin, at most  {most:>9}   no boundary has a larger margin: the run proves it", out)
    if margin <= 0:
        click.echo("  Some points stayed on the wrong side: there is no margin, and no bound on the mistakes.", out)
        return
    limit = (run.radius / margin) ** 2
    reached = rounded_down(margin, 5)
    click.echo(f"  margin reached   {reached:>9}   distance of this boundary from the nearest point", out)
    click.echo(f"  Novikoff's theorem (1962) allows (radius/margin)^2 = {limit:,.0f} mistakes;", out)
    click.echo(f"  the run made {bold(f'{made:,}')}.", out)


# ----------------------------------------------------------------------------------------------------------- digits


def _fit_digits(mode: Multiclass) -> Any:
    data = digits(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the table shows why it stopped
        return Perceptron(multiclass=mode, random_state=SEED).fit(data.X, data.y)


def _digits(out: TextIO) -> None:
    data = digits(SEED)
    click.echo(f"{bold('2. Which digit?')} 1797 handwritten digits, 8 x 8 pixels each", out)
    click.echo(
        f"A perceptron separates two classes. Four ways to separate ten, tested on {data.y_test.size} new digits:",
        out,
    )
    rows, shares, sizes = [], {}, np.empty(0)
    for mode, way in WAYS.items():
        model = _fit_digits(mode)
        run = model.run_
        shares[mode] = accuracy(data.y_test, model.predict(data.X_test))
        if mode == "ovo":
            sizes = np.linalg.norm(model.coef_, axis=1)
        figures = f"{shares[mode]:.1%}", str(run.epochs), f"{run.seconds:.2f}"
        rows.append((f"{mode}: {way}", *figures, ends_in_words(run.stops)))
    click.echo(f"\n{table(('way', 'right', 'epochs', 'seconds', '<why it stopped'), rows)}\n", out)
    if min(shares, key=lambda mode: shares[mode]) == "ovo":
        click.echo(
            f"Why is ovo last? It adds up the scores of {sizes.size} boundaries, and the weights of some are "
            f"{sizes.max() / sizes.min():.0f} times as long as those",
            out,
        )
        click.echo("of others: a few decide alone. The same boundaries with a vote each (ovo-vote) do better.", out)


# ---------------------------------------------------------------------------------------------------------- picture


def _picture(run: Run) -> Any:
    """Draw the learning curve, mistakes against the bound, a run in the plane, and regions of four classes."""
    figure = new_figure(11, 9.6)
    axes = figure.subplots(2, 2)
    plot_errors(run, ax=axes[0, 0])
    _margins(axes[0, 1])
    X, y = points_of("clouds", n=60, margin=0.1)
    plot_trace(trace(X, y), X, y, ax=axes[1, 0])
    Z, z = points_of("four", n=120)
    plot_boundary(Perceptron(random_state=SEED).fit(Z, z), Z, z, ax=axes[1, 1])
    titles = (
        "Benign or malignant: errors by epoch",
        "The wider the margin, the fewer the mistakes",
        "One run, update by update",
        "Four classes, each against the rest",
    )
    for ax, title in zip(axes.flat, titles, strict=True):
        ax.set_title(title, loc="left", fontsize=11, color=INK)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
    return figure


def _margins(ax: Any) -> None:
    """Compare mistakes with their bound for three margins, on generated data."""
    tasks = [points_of("clouds", n=200, margin=margin) for margin in (0.3, 0.1, 0.02)]
    proofs: list[Any] = [certify(X, y) for X, y in tasks]  # of separable rows, so each has a margin
    labels = [f"margin {proof.augmented.lower:.2f}" for proof in proofs]
    plot_mistakes(
        *(list(trace(X, y)) for X, y in tasks), bound=[proof.mistake_bound for proof in proofs], labels=labels, ax=ax
    )


# ------------------------------------------------------------------------------------------------------- text

UNICODE_BARS, ASCII_BARS = "▁▂▃▄▅▆▇█", "_.:-=+*#"
MAX_BARS = 40
# Shorter than the sentences of `Stop`.
_ENDS = {
    Stop.SEPARATED: "separated",
    Stop.EPOCHS: "out of epochs",
    Stop.SECONDS: "out of time",
    Stop.TRAINING: "gave up",
    Stop.VALIDATION: "validation error rose",
    Stop.CYCLE: "went in circles",
    Stop.CALLBACK: "interrupted",
    Stop.DIVERGED: "diverged",
}


def sparkline(counts: Sequence[int], *, ascii_only: bool = False) -> str:
    """Return counts, at least one, as a line of bars, with the first and the last count.

    With many counts each bar is the mean of several, and the line says of how many.
    """
    bars = np.array_split(np.asarray(counts), min(MAX_BARS, len(counts)))
    means = [float(bar.mean()) for bar in bars]
    blocks = ASCII_BARS if ascii_only else UNICODE_BARS
    top = max([*means, 1.0])
    line = "".join(blocks[min(7, int(8 * mean / top))] for mean in means)
    note = "" if len(bars) == len(counts) else f" (a bar: about {len(counts) / len(bars):.0f} epochs)"
    return f"{line} {counts[0]} to {counts[-1]}{note}"


def end_in_words(stop: Stop) -> str:
    """Return in a few words why a problem stopped."""
    return _ENDS.get(stop) or stop.value.partition(":")[0]


def ends_in_words(stops: Sequence[Stop]) -> str:
    """Return in a few words why the problems of a run stopped."""
    if len(set(stops)) == 1:
        end = end_in_words(stops[0])
        return end if len(stops) == 1 else f"all {len(stops)} {end}"
    return ", ".join(f"{stops.count(stop)} {end_in_words(stop)}" for stop in reversed(Stop) if stop in stops)
