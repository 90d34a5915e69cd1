"""`rosenblatt certify` and `rosenblatt verify`."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.options import (
    Sections,
    check_targets,
    files_argument,
    input_options,
    json_option,
    option,
    print_json,
    read_all,
)
from rosenblatt.cli.output import notice_while_waiting
from rosenblatt.prover.exact.clock import TIME_LIMIT

_like = option(
    "-m",
    "--model",
    type=click.Path(dir_okay=False),
    help="Read the files the way the training files of this model were read.",
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
    "--exact",
    type=click.Choice(("binary", "decimal")),
    default="binary",
    show_default=True,
    help="A value is the binary number itself, or the shortest decimal that rounds to it.",
)
@_like
@json_option
@input_options
def certify(files: tuple[str, ...], **options: Any) -> None:
    """Decide whether data is linearly separable, with a proof.

    All rows are read into memory. rosenblatt verify and the stand-alone checker check the certificate without trusting
    this command.

    \b
    rosenblatt certify mails.csv --output mails.certificate
    """  # noqa: D301
    from rosenblatt.prover.search.certify import certify as decide

    output, limit = options.pop("output"), options.pop("time_limit")
    check_targets((*files, options["model"]), output=output)
    X, y, _, _ = read_all(files, options.pop("model"), options)
    notice = f"certify: still searching after {{}} s; giving up after {limit:g} s (--time-limit)"
    with notice_while_waiting(notice):
        certificate = decide(X, y, margin=not options["no_margin"], exact=options["exact"], time_limit=limit)
    if output is not None:
        certificate.save(output)
    if options["as_json"]:
        print_json(certificate.to_dict())
    else:
        click.echo(str(certificate))
        if output is not None:
            click.echo(f"The certificate is in {output}.")


@click.command(cls=Sections)
@files_argument
@option("--certificate", type=click.Path(dir_okay=False), metavar="FILE", required=True, help="Certificate to check.")
@_like
@json_option
@input_options
@click.pass_context
def verify(context: click.Context, /, files: tuple[str, ...], certificate: str, **options: Any) -> None:
    """Check a proof.

    Pass the same reading options as to rosenblatt certify. The exit code is 0 if the certificate proves its verdict for
    the rows of DATA, else 1.

    \b
    rosenblatt verify mails.csv --certificate mails.certificate
    """  # noqa: D301
    from rosenblatt.prover.certificates.certificate import Certificate  # both import SciPy
    from rosenblatt.prover.certificates.verify import verify as check

    claimed = Certificate.load(certificate)
    X, y, _, _ = read_all(files, options.pop("model"), options)
    holds = bool(check(claimed, X, y))
    if options["as_json"]:
        print_json({"holds": holds, "verdict": claimed.verdict})
    else:
        invalid = f"The certificate does not prove {claimed.verdict!r} for these rows."
        click.echo(f"The certificate holds: {claimed.verdict}." if holds else invalid)
    context.exit(0 if holds else 1)
