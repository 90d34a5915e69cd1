"""Published tables, run again: ``python -m benchmarks.reproduce [names...]``.

A new table is a function with ``@table("name", "title")`` that yields rows.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import fmean, pstdev
from time import perf_counter
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text
from sklearn.linear_model import SGDClassifier

from benchmarks.harness import Skip, Table, machine, peak_growth
from benchmarks.report import MARK, amount
from benchmarks.tasks import DATA, Array
from rosenblatt import AROW, AveragedPerceptron, KernelPerceptron, PassiveAggressive, Perceptron, SoftMargin
from rosenblatt.datasets import MNIST_FILES, load_mnist, load_svmlight
from rosenblatt.kernels.rules import BUDGET_RULES

SOL = "SOL, README, table for mnist"
CL_ONLINE = "cl-online-learning, example/classification"
KERNEL_MNIST = "lfoscari/kernel-mnist"
KOL = "KOL, README: KOL -i a9a_train -t a9a_test -opt kernel-perceptron"
COVERTYPE = "scikit-learn, benchmarks/bench_covertype.py"


# --------------------------------------------------------------------------------------------------------- machinery


@dataclass(frozen=True)
class Split:
    """Rows to train on, and rows to test on."""

    X: Any
    y: Array
    X_test: Any
    y_test: Array


@dataclass(frozen=True)
class Goal:
    """The range in which a mean is to lie."""

    low: float = -float("inf")
    high: float = float("inf")

    def __str__(self) -> str:
        """Write it as an inequality, or as a range."""
        if self.low == -float("inf"):
            return f"<= {self.high:g}"
        return f">= {self.low:g}" if self.high == float("inf") else f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Row:
    """A line of a table: ours beside theirs.

    Attributes
    ----------
    learner : str
        Who learned.
    setting : str
        All that was not left at its default, and how it was chosen where it was not given.
    percent : tuple of float
        One figure for each seed.
    seconds : float
        The best time of a fit.
    published : str
        Their figure; empty where there is none.
    source : str
        Where they say so.
    goal : Goal or None
        What the mean is to reach.
    """

    learner: str
    setting: str
    percent: tuple[float, ...]
    seconds: float
    published: str = ""
    source: str = ""
    goal: Goal | None = None

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return fmean(self.percent)

    @property
    def deviation(self) -> float:
        """The standard deviation over the seeds."""
        return pstdev(self.percent)

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        return None if self.goal is None else self.goal.low <= self.mean <= self.goal.high


Yield = Row | Table | str


@dataclass
class Outcome:
    """What came of a table."""

    name: str
    title: str
    rows: list[Row] = field(default_factory=list)
    sheets: list[Table] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


TABLES: dict[str, tuple[str, Callable[[int], Iterator[Yield]]]] = {}


def table(name: str, title: str) -> Callable[[Callable[[int], Iterator[Yield]]], Callable[[int], Iterator[Yield]]]:
    """Enter the decorated function, which takes the number of seeds, into the list of tables."""

    def enter(run: Callable[[int], Iterator[Yield]]) -> Callable[[int], Iterator[Yield]]:
        TABLES[name] = title, run
        return run

    return enter


def accuracy(model: Any, X: Any, y: Array) -> float:
    """Give the share of rows that are classified correctly, in percent."""
    return 100.0 * float(np.mean(model.predict(X) == y))


def error(model: Any, X: Any, y: Array) -> float:
    """Give the share of rows that are classified wrongly, in percent."""
    return 100.0 - accuracy(model, X, y)


def measure(
    learner: Callable[..., Any],
    split: Split,
    seeds: int,
    settings: Mapping[str, Any],
    *,
    rate: Callable[[Any, Any, Array], float] = accuracy,
    note: str = "",
    name: str = "",
    **theirs: Any,
) -> Row:
    """Train once for each seed and give the line of the table.

    Parameters
    ----------
    learner : estimator class
    split : Split
    seeds : int
        How many shuffles; one where the settings leave nothing to chance.
    settings : mapping
        Parameters; `random_state` is added.
    rate : callable, default accuracy
        From a model and the test rows to a figure in percent.
    note : str, optional
        What else there is to say about the setting.
    name : str, optional
        In place of the learner's own name.
    **theirs
        The rest of the `Row`.
    """
    percent, best = [], float("inf")
    for seed in range(seeds if settings.get("shuffle", True) else 1):
        model = learner(**settings, random_state=seed)
        start = perf_counter()
        model.fit(split.X, split.y)
        best = min(best, perf_counter() - start)
        percent.append(rate(model, split.X_test, split.y_test))
    told = [f"{key}={value!r}" for key, value in settings.items() if (key, value) != ("tol", None)]
    setting = "; ".join(filter(None, [", ".join(told) or "defaults", note]))
    return Row(name or learner.__name__, setting, tuple(percent), best, **theirs)


def choose(
    learner: Callable[..., Any], split: Split, held: int, name: str, values: tuple[float, ...], **rest: Any
) -> Any:
    """Choose a parameter by the accuracy on the last training rows, held out; the test rows are not looked at."""
    X, y = split.X[:-held], split.y[:-held]
    found = {
        value: fmean(
            accuracy(learner(**{name: value}, **rest, random_state=seed).fit(X, y), split.X[-held:], split.y[-held:])
            for seed in range(3)
        )
        for value in values
    }
    return max(found, key=found.__getitem__)


# -------------------------------------------------------------------------------------------------------------- data


def needed(*names: str) -> list[Path]:
    """Give the paths of data files, or skip the table, saying which is missing."""
    paths = [DATA / name for name in names]
    for path in paths:
        if not path.exists():
            raise Skip(f"no {path}; set ROSENBLATT_DATA to a folder that has {', '.join(names)}.")
    return paths


@cache
def mnist() -> Split:
    """Read MNIST, pixels from 0 to 1 in float32."""
    files = needed(*(f"mnist/{name}-ubyte.gz" for name in MNIST_FILES))
    return Split(*load_mnist(files[0].parent))


@cache
def a9a() -> Split:
    """Read a9a and a9a.t."""
    train, test = needed("a9a/a9a", "a9a/a9a.t")
    return Split(*load_svmlight(train, n_features=123), *load_svmlight(test, n_features=123))


@cache
def covertype(scaled: int) -> Split:
    """Read the cover types with the shuffle and the split of scikit-learn's benchmark, and scale the first features."""
    (path,) = needed("covtype/covtype.csv.gz")
    with gzip.open(path) as file:
        width = file.readline().count(b",") + 1
        values = np.fromstring(file.read().replace(b"\n", b","), np.int32, sep=",").reshape(-1, width)
    values = values[np.random.RandomState(13).permutation(len(values))]  # as fetch_covtype does
    X, y, rows = values[:, :-1].astype(np.float32), values[:, -1], 522_911
    numbers = X[:, :scaled]
    numbers -= numbers[:rows].mean(axis=0, dtype=float)
    numbers /= numbers[:rows].std(axis=0, dtype=float)
    return Split(X[:rows], y[:rows], X[rows:], y[rows:])


# ------------------------------------------------------------------------------------------------------------ tables


@table("mnist-one-pass", "MNIST, pixels from 0 to 1, one pass: test accuracy")
def mnist_one_pass(seeds: int) -> Iterator[Yield]:
    """Compare what one look at each row gives."""
    data = mnist()
    once = {"max_iter": 1, "tol": None}
    learners: tuple[tuple[Any, dict[str, Any]], ...] = (
        (Perceptron, {"published": "86.7 +- 1.6", "source": SOL, "goal": Goal(84.7, 88.7)}),
        (PassiveAggressive, {"published": "87.5 +- 1.6", "source": SOL, "goal": Goal(87.5)}),
        (AveragedPerceptron, {}),
    )
    for learner, theirs in learners:
        for multiclass in ("ovr", "joint"):
            yield measure(learner, data, seeds, once | {"multiclass": multiclass}, **theirs)
    grids: tuple[tuple[Any, str, tuple[float, ...], dict[str, Any], dict[str, Any]], ...] = (
        (PassiveAggressive, "C", (1e-3, 3e-3, 1e-2, 1e-1, 1.0), {"multiclass": "joint"}, learners[1][1]),
        (
            AROW,
            "r",
            (0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
            {"multiclass": "joint"},
            {"published": "92.3 +- 0.1", "source": SOL, "goal": Goal(92.0)},
        ),
    )
    for learner, name, values, rest, theirs in grids:
        if learner is AROW:
            yield measure(AROW, data, seeds, once)
            yield measure(AROW, data, seeds, once | rest, **theirs)
        best = choose(learner, data, 10_000, name, values, **once, **rest)
        note = f"{name} chosen on the last 10,000 training rows"
        yield measure(learner, data, seeds, once | rest | {name: best}, note=note, **theirs)
    yield (
        "SOL chooses its parameters by cross-validation on the training rows. Its learners correct the true class and "
        'the best wrong one, as "joint" does.'
    )


@table("mnist-ovo", "MNIST, one-vs-one, ten passes: test accuracy")
def mnist_ovo(seeds: int) -> Iterator[Yield]:
    """Compare the 45 pairs."""
    data = mnist()
    ten = {"max_iter": 10, "tol": None}
    learners: tuple[tuple[Any, dict[str, Any], str, float], ...] = (
        (Perceptron, {}, "91.8", 91.5),
        (Perceptron, {"shuffle": False}, "91.8", 91.5),
        (AROW, {}, "94.65", 94.3),
        (AROW, {"shuffle": False, "r": 10.0}, "94.65", 94.3),
    )
    for learner, own, published, low in learners:
        theirs = {"published": published, "source": f"{CL_ONLINE}/mnist.lisp", "goal": Goal(low)}
        yield measure(learner, data, seeds, ten | own | {"multiclass": "ovo-vote"}, **theirs)
        yield measure(learner, data, seeds, ten | own | {"multiclass": "ovo"})
    yield (
        "The published runs vote, and have r=10 and the rows in their order. Both modes have the same weights; "
        '"ovo" adds up the scores of the pairs, as the lectures do.'
    )


@table("a9a", "a9a: test accuracy")
def a9a_table(seeds: int) -> Iterator[Yield]:
    """Compare on data that is not separable."""
    data, source = a9a(), f"{CL_ONLINE}/a9a.lisp"
    learners: tuple[tuple[Any, dict[str, Any], dict[str, Any]], ...] = (
        (Perceptron, {}, {"published": "79.7", "source": source}),
        (AveragedPerceptron, {}, {"goal": Goal(84.0)}),
        (AROW, {"r": 10.0}, {"published": "85.0", "source": source, "goal": Goal(84.8)}),
    )
    theirs_own = {"max_iter": 1000, "tol": None, "shuffle": False}
    for learner, own, theirs in learners:
        yield measure(learner, data, seeds, {}, **theirs)
        yield measure(learner, data, seeds, {"max_iter": 1, "tol": None}, **theirs)
        if theirs.get("published"):
            yield measure(learner, data, seeds, theirs_own | own, note="as published", **theirs)


@table("covtype", "forest cover types, one class against the rest: test error")
def covtype(seeds: int) -> Iterator[Yield]:
    """Compare on half a million rows."""
    learners: tuple[tuple[Any, dict[str, Any]], ...] = (
        (SoftMargin, {"alpha": 1e-3}),
        (SoftMargin, {}),
        (SoftMargin, {"average": True, "max_iter": 20, "tol": None}),
        (SoftMargin, {"keep": "best", "max_iter": 100, "tol": None}),
        (AveragedPerceptron, {}),
        (AROW, {}),
    )
    for positive, scaled in ((1, 10), (2, 54)):
        data = covertype(scaled)
        split = Split(data.X, data.y == positive, data.X_test, data.y_test == positive)
        theirs = {"published": "23.0", "source": COVERTYPE} if positive == 1 else {}
        about: dict[str, Any] = {"rate": error, "note": f"class {positive} against the rest"}
        for learner, own in learners:
            yield measure(learner, split, seeds, own, goal=Goal(high=23.5), **about, **theirs)
        if positive == 2:
            longest = {"keep": "best", "max_iter": 100, "tol": None}
            best = choose(SoftMargin, split, 50_000, "alpha", (1e-5, 3e-5, 1e-4, 3e-4), **longest)
            chosen = about | {"note": "class 2; alpha chosen on the last 50,000 training rows"}
            yield measure(SoftMargin, split, seeds, longest | {"alpha": best}, goal=Goal(high=23.5), **chosen)
        yield measure(SGDClassifier, split, seeds, {"alpha": 1e-3}, name="scikit-learn's SGD", **about, **theirs)
    yield (
        "The split is that of scikit-learn's benchmark, whose 23.0 % are for class 1, with the ten features scaled "
        "that are not 0 or 1. For class 2 all features are standardised. Its learner, run here, is the last line of "
        "each half."
    )


@table("kol", "a9a, one pass, kernel exp(-|x - z|^2 / 100): mistakes online and on the test rows, %")
def kol(seeds: int) -> Iterator[Yield]:
    """Repeat what KOL prints of the kernel perceptron; and run the rules of a budget over shuffles."""
    data, settings = a9a(), {"gamma": 0.01}

    def learned(order: Array, **own: Any) -> tuple[KernelPerceptron, float]:
        start = perf_counter()
        model = KernelPerceptron(**settings, **own).partial_fit(data.X[order], data.y[order])
        return model, perf_counter() - start

    def online(model: KernelPerceptron) -> float:
        return 100.0 * model.mistakes_ / model.t_

    model, seconds = learned(np.arange(len(data.y)))
    wrong, setting = error(model, data.X_test, data.y_test), f"order of the file; {model.support_.size:,} vectors"
    yield Row("online", setting, (online(model),), seconds, "21.148", KOL, Goal(21.143, 21.153))
    yield Row("test rows", setting, (wrong,), seconds, "29.261", KOL, Goal(29.256, 29.266))
    for rule in BUDGET_RULES:
        orders = (np.random.default_rng(seed).permutation(len(data.y)) for seed in range(seeds))
        runs = [learned(order, budget=100, budget_rule=rule, residual=0.0) for order in orders]
        percent, times = tuple(online(model) for model, _ in runs), [seconds for _, seconds in runs]
        yield Row("online", f"shuffled; budget=100, budget_rule={rule!r}, residual=0", percent, min(times))
    yield "KOL, too, has 6,887 vectors. It counts one mistake fewer, as the score of the first row is zero."


EPOCHS = (0.1, 1.0, 2.0, 3.0, 4.0, 10.0)
METHODS = ("last", "average", "vote")


def _until(model: Any, trials: int) -> Any:
    """Give the model as it was after so many trials, by cutting the log of its updates."""
    whole = model._expansion
    made = whole.log.trial < trials
    log = type(whole.log)(*(column[made] for column in whole.log))
    used, slot = np.unique(log.slot, return_inverse=True)
    coef = np.zeros((whole.trials.size, used.size))
    np.add.at(coef, (log.problem, slot), log.step)
    cut = copy.copy(model)
    cut._expansion = replace(
        whole,
        vectors=whole.vectors[used],
        rows=whole.rows[used],
        coef=coef,
        trials=np.minimum(whole.trials, trials),
        log=log._replace(slot=slot),
    )
    return cut


@table("voted-mnist", "MNIST, kernel (1 + x.z)^d, one-vs-rest, rows in their order: test error, %")
def voted_mnist(seeds: int) -> Iterator[Yield]:
    """Repeat the table of the voted perceptron: degrees, epochs, and the three ways to predict."""
    data = mnist()
    settings: dict[str, Any] = {"kernel": "poly", "shuffle": False, "max_iter": 10, "tol": None}
    KernelPerceptron(**settings).fit(data.X[:500], data.y[:500])  # compiles
    published = {("last", 3): ("1.91", 1.9), ("average", 3): ("1.61", 1.6)}
    lines, curves = [], {}
    for degree in range(1, 6):
        model = KernelPerceptron(degree=degree, **settings)
        growth = peak_growth(lambda model=model: model.fit(data.X, data.y))
        yield f"Degree {degree}: {model.run_.seconds:.1f} s, memory rose by {growth / 2**30:.2f} GiB."
        for epochs in EPOCHS:
            then = _until(model, int(epochs * len(data.y)))
            wrong = {m: 100.0 * float(np.mean(then.predict(data.X_test, m) != data.y_test)) for m in METHODS}
            curves[degree, epochs] = wrong
            updates, vectors = then._expansion.log.slot.size, then._expansion.rows.size
            figures = (f"{wrong[m]:.2f}" for m in METHODS)
            lines.append((str(degree), f"{epochs:g}", *figures, f"{updates:,}", f"{vectors:,}"))
        for method in METHODS:
            theirs, high = published.get((method, degree), ("", None))
            yield Row(
                "KernelPerceptron",
                f"degree={degree}, method={method!r}, 10 epochs",
                (curves[degree, 10.0][method],),
                model.run_.seconds,
                theirs,
                KERNEL_MNIST if theirs else "",
                None if high is None else Goal(high=high),
            )
    yield Table(("degree", "epochs", *METHODS, "mistakes", "support vectors"), lines)
    yield _draw_voted(curves)


def _draw_voted(curves: Mapping[tuple[int, float], Mapping[str, float]]) -> str:
    """Draw error against epochs, a panel for each way to predict; say where."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "No picture: matplotlib is not installed; pip install rosenblatt[plots]"
    figure = Figure(figsize=(11, 4), layout="constrained")
    panels = figure.subplots(1, len(METHODS), sharey=True)
    for panel, method in zip(panels, METHODS, strict=True):
        for degree in sorted({degree for degree, _ in curves}):
            panel.plot(EPOCHS, [curves[degree, e][method] for e in EPOCHS], marker="o", label=f"degree {degree}")
        panel.set(title=method, xlabel="epochs", xscale="log", yscale="log")
    panels[0].set_ylabel("test error, %")
    panels[-1].legend()
    path = Path(__file__).parent / "results" / "voted-mnist.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)
    return f"Picture: {path}"


# ------------------------------------------------------------------------------------------------------------ report


def show(outcome: Outcome, console: Console) -> None:
    """Print a table."""
    console.print(f"\n[bold]{outcome.name}[/]  {outcome.title}", highlight=False)
    if outcome.rows:
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        grid.add_column("learner", no_wrap=True)
        grid.add_column("setting", style="dim")
        for column in ("ours, %", "fit", "published, %", "target"):
            grid.add_column(column, justify="right", no_wrap=True)
        grid.add_column("", no_wrap=True)
        for row in outcome.rows:
            spread = f" +- {row.deviation:.2f}" if len(row.percent) > 1 else ""
            ours = Text.assemble((f"{row.mean:.2f}", "bold"), spread)
            goal = "" if row.goal is None else str(row.goal)
            took = amount(row.seconds, "s")
            grid.add_row(row.learner, Text(row.setting), ours, took, row.published, goal, Text(*MARK[row.met]))
        console.print(grid)
        for source in dict.fromkeys(row.source for row in outcome.rows if row.source):
            console.print(f"  Published: {source}", highlight=False, markup=False)
    for sheet in outcome.sheets:
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in sheet.columns:
            grid.add_column(column, justify="right", no_wrap=True)
        for line in sheet.rows:
            grid.add_row(*line)
        console.print(grid)
    for remark in outcome.remarks:
        console.print(Text(f"  {remark}", style="yellow" if remark.startswith("Skipped") else ""))


def write_json(path: Path, outcomes: list[Outcome], seeds: int, about: dict[str, Any]) -> None:
    """Write everything measured."""
    tables = [
        {
            "table": outcome.name,
            "title": outcome.title,
            "rows": [
                {
                    "learner": row.learner,
                    "setting": row.setting,
                    "percent": row.percent,
                    "mean": row.mean,
                    "deviation": row.deviation,
                    "seconds": row.seconds,
                    "published": row.published,
                    "source": row.source,
                    "target": None if row.goal is None else str(row.goal),
                    "met": row.met,
                }
                for row in outcome.rows
            ],
            "sheets": [{"columns": sheet.columns, "rows": sheet.rows} for sheet in outcome.sheets],
            "remarks": outcome.remarks,
        }
        for outcome in outcomes
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": about, "seeds": seeds, "tables": tables}, indent=1) + "\n")


def run(name: str, seeds: int) -> Outcome:
    """Run a table again."""
    title, rows = TABLES[name]
    outcome = Outcome(name, title)
    try:
        for item in rows(seeds):
            if isinstance(item, Row):
                outcome.rows.append(item)
            elif isinstance(item, Table):
                outcome.sheets.append(item)
            else:
                outcome.remarks.append(item)
    except Skip as reason:
        outcome.remarks.append(f"Skipped: {reason}")
    return outcome


def main() -> None:
    """Run the tables asked for, and report."""
    about = "Run published tables again and print ours beside theirs."
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduce", description=about)
    parser.add_argument("names", nargs="*", metavar="table", help=f"out of {', '.join(TABLES)}; all by default")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="shuffles to take the mean over (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there, too")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in TABLES]
    if unknown:
        parser.error(f"no table is called {', '.join(unknown)}: choose from {', '.join(TABLES)}")
    if options.seeds < 1:
        parser.error(f"--seeds {options.seeds} is not possible: it must be at least 1")
    console = Console() if sys.stdout.isatty() else Console(width=140)
    outcomes: list[Outcome] = []
    for name in options.names or list(TABLES):
        with console.status(f"{name}: {TABLES[name][0]}"):
            outcomes.append(run(name, options.seeds))
        show(outcomes[-1], console)
        if options.json is not None:
            write_json(options.json, outcomes, options.seeds, machine())
    judged = [row for outcome in outcomes for row in outcome.rows if row.met is not None]
    console.print(f"\n{sum(row.met is True for row in judged)} of {len(judged)} lines with a target meet it.")
    if options.json is not None:
        console.print(f"Written: {options.json}", highlight=False, markup=False)


if __name__ == "__main__":
    main()
