"""`rosenblatt lab`. Without a file, nothing is imported but the server: the page opens at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rosenblatt.lab.scene import Scene


@click.command()
@click.argument("data", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; 0 (default): any free port.")
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
@click.option("-l", "--label", metavar="NAME", help="Column of DATA with the labels; the last by default.")
@click.option(
    "--export",
    "target",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Write the lab as a page that needs no Python, to FOLDER/index.html or to a file that ends in .html.",
)
def lab(data: str | None, port: int, no_browser: bool, label: str | None, target: Path | None) -> None:
    """Explore the perceptron and its family in a browser: draw points, step through every trial, forwards and back.

    DATA is a table of at most 2,000 points with up to four classes, or a scene.json that the lab has saved; without it
    the lab starts with OR. The page is served on this machine only, at an address with a secret token. Press Ctrl-C to
    stop.

    \b
    rosenblatt lab
    rosenblatt lab points.csv --no-browser
    rosenblatt lab scene.json
    rosenblatt lab --export lab.html
    """  # noqa: D301
    if label is not None and (data is None or data.lower().endswith(".json")):
        raise click.UsageError("--label has no effect: it is for a table. Add a table, or leave it out.")
    if target is not None and (port or no_browser):
        flag = "--port" if port else "--no-browser"
        raise click.UsageError(f"{flag} has no effect: --export starts no server. Leave out one of them.")
    scene, look = _opened(data, label) if data is not None else (None, {})
    if target is not None:
        from rosenblatt.lab.page import export_lab

        click.echo(f"The lab is in {export_lab(target, scene, look)}")
        return
    from rosenblatt.lab.server import serve

    def announce(address: str) -> None:
        click.echo(f"The lab is at {address}\nPress Ctrl-C to stop it.")

    serve(scene, look=look, port=port, browser=not no_browser, announce=announce)


def _opened(path: str, label: str | None) -> tuple[Scene, dict[str, Any]]:
    """Return the scene of a file, a table or a saved scene, and how to look at it."""
    from rosenblatt.lab.answers import read_scene
    from rosenblatt.lab.scene import Scene
    from rosenblatt.lab.uploads import points_of_file

    if path.lower().endswith(".json"):
        return read_scene(Path(path))
    points = points_of_file(path, label)
    click.echo(points["sentence"])
    return Scene.from_dict({"data": "points", "points": points["points"]}), {}
