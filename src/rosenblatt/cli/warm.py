"""The command that compiles beforehand."""

from __future__ import annotations

import click


@click.command()
@click.argument("names", nargs=-1)
def warmup(names: tuple[str, ...]) -> None:
    """Compile the loops beforehand, so that no first use waits.

    NAMES are perceptron, certify, arow, kernel, ... or all; by default the perceptron and certify.
    """
    from rosenblatt import native
    from rosenblatt.estimators.warm import warmup as compile_named

    native.enable(uses=False)
    click.echo(compile_named(*names))
