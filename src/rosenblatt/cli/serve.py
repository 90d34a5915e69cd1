"""`rosenblatt serve`."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.text import count


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need --token-file.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port; 0: any free one.")
@click.option(
    "--token-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Answer to these tokens only."
)
@click.option(
    "--new-token",
    metavar="NAME:SCOPES",
    help="Add a token to --token-file, print it, and end. Scopes: predict, learn, admin, with commas between them.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name by which clients or a proxy ask; repeatable.",
)
def serve(
    folder: Path, host: str, port: int, token_file: Path | None, new_token: str | None, hosts: tuple[str, ...]
) -> None:
    """Serve models that predict and learn over HTTP, and lose nothing.

    FOLDER has the models, and is made if it does not exist. A file NAME.model in it, as `rosenblatt train` writes, is
    served as NAME. Every row that is learned is on disk before it is acknowledged.

    \b
    rosenblatt serve models/
    curl -X PUT localhost:8080/v1/models/spam
    curl --json '{"x": "win money now", "y": "spam"}' localhost:8080/v1/models/spam/learn
    curl --json '{"x": "money for you"}' localhost:8080/v1/models/spam/predict
    """  # noqa: D301
    if new_token is not None:
        from rosenblatt.serving.tokens import add_token

        if token_file is None:
            raise click.UsageError("--new-token needs the file to add it to. Add --token-file FILE.")
        name, _, scopes = new_token.partition(":")
        click.echo(add_token(token_file, name, scopes))
        return
    try:
        import uvicorn

        from rosenblatt.serving.app import check_host, create_app
        from rosenblatt.serving.service import Service
        from rosenblatt.serving.tokens import Tokens
    except ImportError as error:
        raise MissingExtra(f'The service needs more packages ({error}). Run: pip install "rosenblatt[serve]"') from None

    tokens = None if token_file is None else Tokens(token_file)
    check_host(host, tokens)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    _allow_files()
    with _listening(host, port) as sockets:
        service = Service(folder)
        for note in service.notes:
            click.echo(note, err=True)
        shown = f"[{host}]" if ":" in host else host
        app = create_app(service, (*hosts, shown), tokens)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, ws="none", server_header=False, timeout_graceful_shutdown=10
        )
        port = sockets[0].getsockname()[1]
        models = count(len(service.writers), "model")
        click.echo(f"Serving {models} of {folder} at http://{shown}:{port}/\nPress Ctrl-C to stop.")
        sys.stdout.flush()
        # Uvicorn raises the signal again once it has stopped, which is no failure.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        uvicorn.Server(config).run(sockets=sockets)


@contextmanager
def _listening(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        if sys.platform != "win32":  # where it would let other processes listen on the same port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise InvalidInput(f"{host}:{port} cannot be used ({error.strerror}). Choose another --port.") from None
        listening.listen(2048)
        yield [listening]


def _allow_files() -> None:
    """Allow as many open files as the system does: each model has its journal open."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
