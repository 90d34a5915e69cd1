"""`rosenblatt certify` and `rosenblatt verify`."""

from __future__ import annotations

import logging
from typing import Any

import click
import numpy as np

from rosenblatt.cli.options import (
    INPUT_NAMES,
    FileData,
    Sections,
    check_targets,
    files_argument,
    input_options,
    json_option,
    note,
    option,
    print_json,
    quiet_option,
    read_all,
    reject_options,
    report_problems,
    take_input,
    together,
)
from rosenblatt.cli.output import steps_shown
from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats, tables
from rosenblatt.files.conversion import seekable
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import Reading
from rosenblatt.files.records import Records, flat
from rosenblatt.files.source import FileSource
from rosenblatt.prover.exact.clock import TIME_LIMIT
from rosenblatt.text import count, did_you_mean

log = logging.getLogger(__name__)

FAMILIES = ("binomial", "multinomial", "ordinal", "poisson")  # those of rosenblatt.prover.designs, which imports SciPy
# Options of reading that hold for a table whose columns a formula uses.
FORMULA_INPUT = ("format", "header", "columns", "on_error", "threads", "chunk_bytes")

_like = option(
    "-m",
    "--model",
    type=click.Path(dir_okay=False),
    help="Read the files the way the training files of this model were read.",
)
_design_options = together(
    option("--formula", metavar="TEXT", help='Labels and features by their columns: "ill ~ age + region*smoker".'),
    option("--family", type=click.Choice(FAMILIES), help="The regression model; by default that of the labels."),
    option("--no-intercept", is_flag=True, help="The model has no intercept."),
    option("--weight", metavar="NAME", help="Column of the weights; rows of weight zero are left out."),
    option(
        "--missing",
        type=click.Choice(("raise", "drop")),
        help="Stop at missing values, or leave such rows out, the default of formulas; else they count as zero.",
    ),
)


@click.command(cls=Sections)
@files_argument
@option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="File for the certificate, as JSON.")
@option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    default=TIME_LIMIT,
    show_default=True,
    help="Give up after this time; inf for never.",
)
@option("--no-margin", is_flag=True, help="Do not look for the largest margin.")
@option(
    "--estimates/--no-estimates",
    default=None,
    help="Whether to determine the estimates of a regression; by default for data of moderate size without words.",
)
@option(
    "--exact",
    type=click.Choice(("binary", "decimal")),
    default="binary",
    show_default=True,
    help="A value is the binary number itself, or the shortest decimal that rounds to it.",
)
@_design_options
@_like
@quiet_option
@json_option
@input_options
def certify(files: tuple[str, ...], **options: Any) -> None:
    """Decide whether data is linearly separable, with a proof.

    If the data is of moderate size, it also prints which coefficients of a regression have finite estimates, and
    estimates to report. All rows are read into memory. rosenblatt verify and the stand-alone checker check the
    certificate without trusting this command.

    \b
    rosenblatt certify mails.csv --output mails.certificate
    rosenblatt certify patients.csv --formula "ill ~ age + region*smoker"
    """  # noqa: D301
    from rosenblatt.prover.designs import read_design  # these import SciPy
    from rosenblatt.prover.search.certify import certify as decide
    from rosenblatt.regression.diagnosis import diagnosis_of

    output, limit, as_json = options.pop("output"), options.pop("time_limit"), options.pop("as_json")
    margin, exact, estimates = not options.pop("no_margin"), options.pop("exact"), options.pop("estimates")
    check_targets((*files, options["model"]), output=output)
    with steps_shown("certify", f" (--time-limit {limit:g})", quiet=options["quiet"]):
        design = {"family": options.pop("family"), "fit_intercept": not options.pop("no_intercept")}
        data, words = _read(files, options)
        design |= data
        wanted = False if words and estimates is None else estimates  # hundreds of words are no regression
        certificate = decide(**design, margin=margin, coefficients=wanted, exact=exact, time_limit=limit)
        found = diagnosis_of(certificate, read_design(**design)) if certificate.estimates else None
    if output is not None:
        certificate.save(output)
    if as_json:
        alone = {"verdict": certificate.verdict, "certificate": certificate.to_dict()}
        print_json(found.to_dict() if found else alone)
        return
    click.echo(f"{certificate.proof}\n\n{found}" if found else str(certificate))
    if not found and estimates is None and not words and certificate.separation.endswith("complete separation"):
        click.echo("Which estimates of a regression are finite was not determined: --estimates, with more time.")
    if output is not None:
        click.echo(f"The certificate is in {output}.")


@click.command(cls=Sections)
@files_argument
@option("--certificate", type=click.Path(dir_okay=False), metavar="FILE", required=True, help="Certificate to check.")
@_design_options
@_like
@quiet_option
@json_option
@input_options
@click.pass_context
def verify(context: click.Context, /, files: tuple[str, ...], certificate: str, **options: Any) -> None:
    """Check a proof.

    Pass the same options as to rosenblatt certify. The exit code is 0 if the certificate proves its verdict for the
    rows of DATA, else 1.

    \b
    rosenblatt verify mails.csv --certificate mails.certificate
    """  # noqa: D301
    from rosenblatt.prover.certificates.certificate import Certificate  # both import SciPy
    from rosenblatt.prover.certificates.verify import verify as check
    from rosenblatt.prover.designs import FAMILY_OF

    claimed, as_json = Certificate.load(certificate), options.pop("as_json")
    family, intercept = options.pop("family"), not options.pop("no_intercept")
    of_model = FAMILY_OF[claimed.response] in (None, family or FAMILY_OF[claimed.response])
    with steps_shown("verify", quiet=options["quiet"]):
        design, _ = _read(files, options)
        design.pop("feature_names", None)  # names are not proved
        log.info("checking every claim")
        holds = of_model and (intercept or not claimed.intercept) and bool(check(claimed, **design))
    if as_json:
        print_json({"holds": holds, "verdict": claimed.verdict})
    else:
        invalid = f"The certificate does not prove {claimed.verdict!r} for these rows."
        click.echo(f"The certificate holds: {claimed.verdict}." if holds else invalid)
    context.exit(0 if holds else 1)


# ------------------------------------------------------------------------------------------------------------- reading


def _read(files: tuple[str, ...], options: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the data of files as arguments of `rosenblatt.certify`, and whether words are among the features."""
    formula, weight, missing = options.pop("formula"), options.pop("weight"), options.pop("missing")
    quiet = options.pop("quiet")
    log.info("reading the files")
    if formula is not None:
        return _read_frame(files, formula, weight, options, quiet) | {"missing": missing}, False
    if weight is not None:
        options["columns"] = {weight: "weight"} | (options["columns"] or {})
    found = read_all(files, options.pop("model"), options, quiet)
    y = found.y
    if missing is not None:
        rows = _missing_rows(found, files)
        y = y.astype(object)
        y[rows] = None
    elif found.source.problems.missing and found.source.reading.columns:
        note("Missing values count as zero. To leave out their rows: --missing drop.", quiet)
    order = _in_order_of_file(found.names, found.source.reading) if found.names else None
    reading = found.source.reading
    words = formats.ALL[reading.format].kind == "text" or any(column.kind == "text" for column in reading.columns)
    data = {
        "X": found.X if order is None else found.X[:, order],
        "y": y,
        "feature_names": None if found.names is None or order is None else [found.names[j] for j in order],
        "sample_weight": found.weight,
        "missing": missing,
    }
    return data, words


def _in_order_of_file(names: list[str], reading: Reading) -> list[int]:
    """Return the numbers of the features in the order of the columns of the file, which their names start with."""
    place = {column.name: k for k, column in enumerate(reading.columns)}
    own = [min(place.get(name, len(place)), place.get(name.partition("=")[0], len(place))) for name in names]
    return sorted(range(len(names)), key=lambda j: (own[j], names[j] if "=" in names[j] else ""))


def _missing_rows(found: FileData, files: tuple[str, ...]) -> list[int]:
    """Return the numbers of the rows with a missing value."""
    if not found.source.problems.missing:
        return []
    if "-" in files or not found.source.reading.columns or found.source.problems.skipped:
        raise InvalidInput("--missing needs files of a table without lines that are skipped. Pass such files.")
    records = Records(found.source)
    names = set(records.names())
    return [i for i, record in enumerate(records) if not names <= record.keys()]


def _read_frame(
    files: tuple[str, ...], formula: str, weight: str | None, options: dict[str, Any], quiet: bool
) -> dict[str, Any]:
    """Return the columns of tables as arguments of `rosenblatt.certify` with a formula."""
    reject_options(["model"], "a formula says what the features are. Leave out one of the two.")
    others = [name for name in INPUT_NAMES if name not in (*FORMULA_INPUT, "date")]
    reject_options(others, "a formula names the labels and the features. Leave out one of the two.")
    del options["model"]
    with seekable(list(files)) as paths:
        source = open_source(paths, labels="none", **take_input(options))
        report_problems(source, quiet)
        columns = _columns(source, quiet)
    if weight is not None and weight not in columns:
        hint = did_you_mean(weight, columns) or f" The columns are {tables.listed(list(columns))}."
        raise InvalidInput(f"There is no column {weight!r} (--weight).{hint}")
    return {"X": columns, "formula": formula, "sample_weight": None if weight is None else columns.pop(weight)}


def _columns(source: FileSource, quiet: bool) -> dict[str, Any]:
    """Return the columns of tables by name: numbers, or texts with None for missing ones."""
    own = source.reading.format
    if formats.ALL[own].kind != "table":
        raise InvalidInput(f"A formula names columns, and a file of the format {own} has none. Pass a table.")
    records = Records(source)
    rows = list(map(flat, records))
    if not rows:
        raise InvalidInput("The files have no rows. Pass files with at least one row.")
    if records.skipped:
        note(f"Skipped {count(records.skipped, 'line')}.", quiet)
    return {name: _column(name, [row.get(name) for row in rows], records) for name in records.names()}


def _column(name: str, values: list[Any], records: Records) -> Any:
    """Return the values of a column as an array."""
    if records.kinds.get(name) in ("number", "weight"):
        values = [tables.number_of(value) if isinstance(value, str) else value for value in values]
        wrong = next((i for i, value in enumerate(values) if isinstance(value, str)), None)
        if wrong is not None:
            raise InvalidInput(
                f"Row {wrong} has {values[wrong]!r:.60} in column {name!r} of numbers. Correct it, or pass "
                f"--columns {name}=category."
            )
    present = [value for value in values if value is not None]
    if not all(isinstance(value, int | float) for value in present):
        return np.array(values, object)
    return np.array(values if len(present) == len(values) else [np.nan if v is None else v for v in values])
