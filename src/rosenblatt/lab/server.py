"""The page's server: on this machine only, for those who know the secret part of its address, without a state.

Only this module imports Starlette and uvicorn. The engine is loaded in a thread: the page is there at once.
"""

from __future__ import annotations

import json
import logging
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rosenblatt.errors import InvalidInput, MissingExtra, RosenblattError

try:
    import uvicorn
    from anyio import CapacityLimiter, create_task_group, move_on_after, to_thread
    from starlette.applications import Starlette
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.middleware import Middleware
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import FileResponse, JSONResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError as error:
    raise MissingExtra(
        f'The lab\'s page needs Starlette and uvicorn ({error}). Run: pip install "rosenblatt[lab]"'
    ) from None

if TYPE_CHECKING:
    from rosenblatt.lab.scene import Scene

STATIC = Path(__file__).parent / "static"
LOOPBACK = "127.0.0.1"
MAX_BODY_BYTES = 6_000_000
MAX_HELD_BYTES = 3 * MAX_BODY_BYTES  # of all questions together
BODY_SECONDS = 10.0
MAX_WAITING = 4
GONE = "Whoever asked has gone away."
KINDS = ("run", "certificate", "surface", "table", "code", "trace")  # of questions
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Refused(Exception):
    """A request that gets a status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def refusal(status: int, sentence: str) -> JSONResponse:
    """Return an answer that says what is wrong; of what may not have been read to its end, nothing more is."""
    unread = {"connection": "close"} if status in (408, 413, 503) else None
    return JSONResponse({"sentence": sentence}, status, headers=unread)


# ----------------------------------------------------------------------------------------------------------- the gate


class Gate:
    """Lets in whoever knows the key, and the lab's own page alone may post. Every answer gets the headers."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self.app, self.key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and hand it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        try:
            self._check(scope)
        except Refused as refused:
            await refusal(refused.status, str(refused))(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)

    def _check(self, scope: Scope) -> None:
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        if not secrets.compare_digest(first.encode(), self.key.encode()):
            raise Refused(404, "There is nothing here. Open the address that `rosenblatt lab` printed.")
        headers = Headers(scope=scope)
        site = headers.get("sec-fetch-site")
        if scope["method"] in ("GET", "HEAD"):
            if site not in (None, "same-origin", "none") and headers.get("sec-fetch-mode") != "navigate":
                raise Refused(403, "Only the lab's own page may ask.")
            return
        if scope["method"] != "POST":
            raise Refused(405, f"{scope['method']} is not possible here.")
        if headers.get("origin") != f"http://{headers.get('host')}" or site != "same-origin":
            raise Refused(403, "Only the lab's own page may ask.")
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Refused(415, "A question to the lab is JSON.")


class Bodies:
    """Questions that are being read or answered: so many bytes in all, and each must arrive in some seconds.

    Attributes
    ----------
    held : int
        Bytes in memory.
    """

    def __init__(self) -> None:
        self.held = 0

    @asynccontextmanager
    async def of(self, request: Request) -> AsyncIterator[dict[str, Any]]:
        """Give the JSON of a request; raise `Refused` if it is too long, too late, too much with others, or none."""
        content = bytearray()
        try:
            with move_on_after(BODY_SECONDS) as waiting:
                await self._read(request, content)
            if waiting.cancelled_caught:
                raise Refused(408, f"The question did not arrive within {BODY_SECONDS:g} seconds. Ask again.")
            yield _object_in(content)
        finally:
            self.held -= len(content)

    async def _read(self, request: Request, content: bytearray) -> None:
        too_long = Refused(413, f"The question has more than {MAX_BODY_BYTES} bytes. Take fewer points.")
        declared = request.headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > MAX_BODY_BYTES:
            raise too_long
        async for part in request.stream():
            content += part
            self.held += len(part)
            if len(content) > MAX_BODY_BYTES:
                raise too_long
            if self.held > MAX_HELD_BYTES:
                raise Refused(503, "The lab is reading too many questions at once. Try again in a moment.")


def _object_in(content: bytearray) -> dict[str, Any]:
    try:
        found = json.loads(content, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"The question is not JSON ({str(error)[:100]}).") from None
    if not isinstance(found, dict):
        raise Refused(400, "The question is no JSON object.")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


# --------------------------------------------------------------------------------------------------------- answers


def answer(kind: str, body: dict[str, Any]) -> bytes | str | dict[str, Any]:
    """Return the answer to a question, once the engine is loaded."""
    from rosenblatt.lab.questions import answer as find

    return find(kind, body)


def contents() -> dict[str, Any]:
    """Return the catalogue, once the estimators are loaded."""
    from rosenblatt.lab.catalogue import catalogue

    return catalogue()


def response_of(kind: str, found: bytes | str | dict[str, Any]) -> Response:
    """Return an answer as HTTP carries it."""
    if isinstance(found, bytes):
        return Response(found, media_type="application/octet-stream")
    if isinstance(found, str):
        return Response(found, media_type="text/csv" if kind == "trace" else "text/plain")
    return JSONResponse(found)


class Queue:
    """One computation at a time, and a few that wait for it."""

    def __init__(self) -> None:
        self.asked = 0
        self.limiter: CapacityLimiter | None = None

    async def run(self, work: Callable[[], Response]) -> Response:
        """Answer a question in a thread; raise `Refused` if too many wait."""
        if self.asked > MAX_WAITING:
            raise Refused(429, "The lab is still busy with earlier questions. Try again in a moment.")
        if self.limiter is None:
            self.limiter = CapacityLimiter(1)
        self.asked += 1
        try:
            return await to_thread.run_sync(work, limiter=self.limiter)
        finally:
            self.asked -= 1


async def in_words(ask: Callable[[], Awaitable[Response]]) -> Response:
    """Return an answer, or the sentence that says why there is none."""
    try:
        return await ask()
    except Refused as refused:
        return refusal(refused.status, str(refused))
    except RosenblattError as error:
        return refusal(400, str(error))
    except ClientDisconnect:
        return refusal(400, GONE)
    except Exception as error:
        logging.getLogger("rosenblatt.lab").exception("A question could not be answered.")
        return refusal(500, f"The lab failed ({type(error).__name__}). The terminal has the details.")


async def while_connected(request: Request, ask: Callable[[], Awaitable[Response]]) -> Response:
    """Return an answer; a question of somebody who has gone away meanwhile waits no longer."""
    found: Response = refusal(400, GONE)
    async with create_task_group() as tasks:

        async def listen() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(listen)
        found = await in_words(ask)
        tasks.cancel_scope.cancel()
    return found


def answering(kind: str, queue: Queue, bodies: Bodies) -> Callable[[Request], Any]:
    """Return what answers questions of a kind, also those that cannot be answered."""

    async def respond(request: Request) -> Response:
        async with bodies.of(request) as body:
            return await while_connected(request, lambda: queue.run(lambda: response_of(kind, answer(kind, body))))

    async def told(request: Request) -> Response:
        return await in_words(lambda: respond(request))

    return told


def create_app(key: str) -> Starlette:
    """Return the application.

    Parameters
    ----------
    key : str
        The secret first part of every path.
    """
    queue, bodies = Queue(), Bodies()

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html")

    async def listed(request: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(contents))

    async def missing(request: Request, error: Exception) -> Response:
        return refusal(404, "There is nothing here.")

    async def impossible(request: Request, error: Exception) -> Response:
        return refusal(405, f"{request.method} is not possible here.")

    packed = [Middleware(GZipMiddleware, minimum_size=1000)]
    routes = [
        Route("/", page, middleware=packed),
        Route("/catalogue", listed, middleware=packed),
        *(Route(f"/{kind}", answering(kind, queue, bodies), methods=["POST"]) for kind in KINDS),
        Mount("/static", StaticFiles(directory=STATIC), middleware=packed),
    ]
    app = Starlette(
        routes=[Mount(f"/{key}", routes=routes)],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[LOOPBACK, "localhost"], www_redirect=False),
            Middleware(Gate, key=key),
        ],
        exception_handlers={404: missing, 405: impossible},
    )
    app.state.queue, app.state.bodies = queue, bodies
    return app


# ----------------------------------------------------------------------------------------------------------- serving


def serve(
    scene: Scene | None = None,
    *,
    port: int = 0,
    browser: bool = True,
    announce: Callable[[str], object] | None = None,
) -> None:
    """Serve the lab on this machine until it is interrupted.

    Parameters
    ----------
    scene : Scene, optional
        What to show first.
    port : int, default 0
        0: a free one.
    browser : bool, default True
    announce : callable, optional
        Called with the address, once the server listens.
    """
    key = secrets.token_urlsafe(18)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        if sys.platform != "win32":  # there, it would let others listen to the same port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
        except OSError as error:
            raise InvalidInput(f"Port {port} cannot be used ({error.strerror}). Choose another, or 0.") from None
        listening.listen()
        address = f"http://{LOOPBACK}:{listening.getsockname()[1]}/{key}/"
        if scene is not None:
            address += f"#{scene.to_query()}"
        (announce or _say)(address)
        threading.Thread(target=import_module, args=["rosenblatt.lab.questions"], daemon=True).start()
        if browser:
            threading.Timer(0.3, webbrowser.open, [address]).start()
        config = uvicorn.Config(create_app(key), log_level="warning", access_log=False, ws="none")
        uvicorn.Server(config).run(sockets=[listening])


def _say(address: str) -> None:
    sys.stdout.write(f"The lab is at {address}\n")
    sys.stdout.flush()
