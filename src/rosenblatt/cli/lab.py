"""`rosenblatt lab`."""

from __future__ import annotations

import click


@click.command()
@click.argument("data", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; 0, the default: a free one.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@click.option("--label", metavar="NAME", help="Column of DATA that has the labels; by default the last.")
def lab(data: str | None, port: int, no_browser: bool, label: str | None) -> None:
    """Explore the perceptron and its family in a browser: draw points, step through every trial, forwards and back.

    DATA is a table of at most 2,000 points with up to four classes. Without it the lab begins with OR. The page is
    served on this machine only, to whoever knows the address; Ctrl-C ends it.

    \b
    rosenblatt lab
    rosenblatt lab points.csv --no-browser
    """  # noqa: D301
    from rosenblatt.lab.server import serve

    scene = None
    if data is not None:
        from rosenblatt.lab.scene import Scene
        from rosenblatt.lab.uploads import points_of_file

        found = points_of_file(data, label)
        click.echo(found["sentence"])
        scene = Scene.from_dict({"data": "points", "points": found["points"]})

    def announce(address: str) -> None:
        click.echo(f"The lab is at {address}\nPress Ctrl-C to end it.")

    serve(scene, port=port, browser=not no_browser, announce=announce)
