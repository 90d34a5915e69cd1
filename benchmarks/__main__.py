"""The command line: ``python -m benchmarks [names...]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from benchmarks import report
from benchmarks.harness import CASES, Bench, Result, machine

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Run the cases asked for, and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure rosenblatt against its peers.")
    parser.add_argument("names", nargs="*", metavar="case", help="cases to run; by default all that are not long")
    parser.add_argument("--list", action="store_true", help="list the cases and end")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows and 2 rounds: to try things out")
    parser.add_argument("--repeat", type=int, metavar="N", help="rounds, of which the best counts (7; quick: 2)")
    parser.add_argument("--json", type=Path, default=RESULTS / "benchmarks.json", metavar="FILE")
    parser.add_argument("--picture", type=Path, default=RESULTS / "benchmarks.png", metavar="FILE")
    options = parser.parse_args()

    # These fill CASES; late, since --help need not wait for scikit-learn.
    import benchmarks.crosses
    import benchmarks.defaults
    import benchmarks.first_try
    import benchmarks.first_use
    import benchmarks.lab
    import benchmarks.model_files
    import benchmarks.proofs
    import benchmarks.separation
    import benchmarks.serving
    import benchmarks.sparse
    import benchmarks.tasks  # noqa: F401

    if options.list:
        for case in CASES.values():
            print(f"{case.name:10} {case.title}")
        return
    unknown = [name for name in options.names if name not in CASES]
    if unknown:
        parser.error(f"no case is called {', '.join(unknown)}: choose from {', '.join(CASES)}")
    if options.repeat is not None and options.repeat < 1:
        parser.error(f"--repeat {options.repeat} is not possible: it must be at least 1")
    bench = Bench(options.repeat or (2 if options.quick else 7), options.quick)
    usual = [case.name for case in CASES.values() if not case.alone]
    run(options.names or usual, bench, options.json, options.picture)


def run(names: list[str], bench: Bench, json: Path, picture: Path) -> None:
    """Run the cases and write the reports."""
    console = Console() if sys.stdout.isatty() else Console(width=120)
    about = machine()
    versions = ", ".join(f"{name} {number or 'missing'}" for name, number in about["packages"].items())
    console.print(f"{about['cpu']}, {about['cores']} cores, Python {about['python']}; {versions}", highlight=False)
    if bench.quick:
        console.print("[yellow]--quick: shrunken data and few rounds; the figures are no measure of anything.[/]")
    results: list[Result] = []
    for name in names:
        with console.status(f"{name}: {CASES[name].title}"):
            results.append(CASES[name].result(bench))
        report.show(results[-1], console)
        report.write_json(json, results, bench, about)  # after each case: a later one may fail or be interrupted
    console.print(f"\n{report.summary(results)}", highlight=False)
    console.print(f"Written: {json}", highlight=False)
    try:
        report.draw(picture, results, bench, about)
    except ImportError as error:
        console.print(f"No picture: {error.name} is not installed; pip install rosenblatt[bench]", markup=False)
    else:
        console.print(f"Drawn: {picture}", highlight=False)


if __name__ == "__main__":
    main()
