"""The lab's stateless server on this machine. Its URL contains a secret token.

Only this module imports Starlette and uvicorn. The engine loads in a background thread, so the page opens at once.
"""

from __future__ import annotations

import json
import logging
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
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
MAX_HELD_BYTES = 3 * MAX_BODY_BYTES  # of all requests in memory
BODY_SECONDS = 10.0
MAX_WAITING = 4  # questions, besides the one being answered
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


class Rejected(Exception):
    """A request that is answered with an error status and a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def error_response(status: int, message: str) -> JSONResponse:
    """Return a response with an error message. The connection is closed if the request may not be read completely."""
    unread = {"connection": "close"} if status in (408, 413, 503) else None
    return JSONResponse({"error": message}, status, headers=unread)


# ----------------------------------------------------------------------------------------------------------- requests


class Gate:
    """Middleware that requires the key, accepts POST from the lab's own page only, and adds the security headers."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self.app, self.key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on."""
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
        except Rejected as error:
            await error_response(error.status, str(error))(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)

    def _check(self, scope: Scope) -> None:
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        if not secrets.compare_digest(first.encode(), self.key.encode()):
            raise Rejected(404, "There is nothing here. Open the address that `rosenblatt lab` printed.")
        headers = Headers(scope=scope)
        site = headers.get("sec-fetch-site")
        if scope["method"] in ("GET", "HEAD"):
            if site not in (None, "same-origin", "none") and headers.get("sec-fetch-mode") != "navigate":
                raise Rejected(403, "Only the lab's own page may ask.")
            return
        if scope["method"] != "POST":
            raise Rejected(405, f"{scope['method']} is not allowed here. Use GET or POST.")
        if headers.get("origin") != f"http://{headers.get('host')}" or site != "same-origin":
            raise Rejected(403, "Only the lab's own page may ask.")
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Rejected(415, "The content type is not JSON. Send application/json.")


class Bodies:
    """Reads the bodies of requests, within limits on their time and on their bytes in memory.

    Attributes
    ----------
    held : int
        Bytes in memory.
    """

    def __init__(self) -> None:
        self.held = 0

    @asynccontextmanager
    async def of(self, request: Request) -> AsyncIterator[dict[str, Any]]:
        """Yield the JSON object in a request; raise `Rejected` if it is too long, too slow, or not one."""
        content = bytearray()
        try:
            with move_on_after(BODY_SECONDS) as waiting:
                await self._read(request, content)
            if waiting.cancelled_caught:
                raise Rejected(408, f"The request did not arrive within {BODY_SECONDS:g} seconds. Try again.")
            yield _object_in(content)
        finally:
            self.held -= len(content)

    async def _read(self, request: Request, content: bytearray) -> None:
        too_long = Rejected(413, f"The request has more than {MAX_BODY_BYTES} bytes. Use fewer points.")
        declared = request.headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > MAX_BODY_BYTES:
            raise too_long
        async for part in request.stream():
            content += part
            self.held += len(part)
            if len(content) > MAX_BODY_BYTES:
                raise too_long
            if self.held > MAX_HELD_BYTES:
                raise Rejected(503, "The lab is reading too many requests at once. Try again in a moment.")


def _object_in(content: bytearray) -> dict[str, Any]:
    try:
        value = json.loads(content, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Rejected(400, f"The request is not JSON ({str(error)[:100]}).") from None
    if not isinstance(value, dict):
        raise Rejected(400, "The request is not a JSON object.")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


# --------------------------------------------------------------------------------------------------------- answers


def answer(kind: str, body: dict[str, Any]) -> bytes | str | dict[str, Any]:
    """Return the answer to a question; waits until the engine is loaded."""
    from rosenblatt.lab import answers

    return answers.answer(kind, body)


def contents() -> dict[str, Any]:
    """Return the catalogue; waits until the estimators are loaded."""
    from rosenblatt.lab.catalogue import catalogue

    return catalogue()


def response_of(content: bytes | str | dict[str, Any]) -> Response:
    """Return an answer as an HTTP response."""
    if isinstance(content, bytes):
        return Response(content, media_type="application/octet-stream")
    if isinstance(content, str):
        return Response(content, media_type="text/plain")
    return JSONResponse(content)


class Queue:
    """Runs one computation at a time; a few others may wait."""

    def __init__(self) -> None:
        self.asked = 0
        self.limiter: CapacityLimiter | None = None

    async def run(self, work: Callable[[], Response]) -> Response:
        """Return the result of work in a thread; raise `Rejected` if too many wait."""
        if self.asked > MAX_WAITING:
            raise Rejected(429, "The lab is still busy with earlier questions. Try again in a moment.")
        if self.limiter is None:
            self.limiter = CapacityLimiter(1)
        self.asked += 1
        try:
            return await to_thread.run_sync(work, limiter=self.limiter)
        finally:
            self.asked -= 1


async def or_error(ask: Callable[[], Awaitable[Response]]) -> Response:
    """Return the response of `ask`, or an error response if it raises."""
    try:
        return await ask()
    except Rejected as error:
        return error_response(error.status, str(error))
    except RosenblattError as error:
        return error_response(400, str(error))
    except ClientDisconnect:
        return error_response(400, "The client has disconnected.")
    except Exception as error:
        logging.getLogger("rosenblatt.lab").exception("A question could not be answered.")
        return error_response(500, f"The lab failed ({type(error).__name__}). See the terminal for details.")


async def while_connected(request: Request, ask: Callable[[], Awaitable[Response]]) -> Response:
    """Return the response of `ask`; stop waiting for it when the client disconnects."""
    response: Response = error_response(400, "The client has disconnected.")
    async with create_task_group() as tasks:

        async def listen() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(listen)
        response = await or_error(ask)
        tasks.cancel_scope.cancel()
    return response


def create_app(key: str) -> Starlette:
    """Return the application.

    Parameters
    ----------
    key : str
        The secret token, the first part of every path.
    """
    queue, bodies = Queue(), Bodies()

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html")

    async def listed(request: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(contents))

    async def respond(request: Request) -> Response:
        kind = request.path_params["kind"]
        async with bodies.of(request) as body:
            return await while_connected(request, lambda: queue.run(lambda: response_of(answer(kind, body))))

    async def question(request: Request) -> Response:
        return await or_error(lambda: respond(request))

    async def missing(request: Request, error: Exception) -> Response:
        return error_response(404, "There is nothing here.")

    async def wrong_method(request: Request, error: Exception) -> Response:
        return error_response(405, f"{request.method} is not allowed here. Ask questions by POST.")

    packed = [Middleware(GZipMiddleware, minimum_size=1000)]
    routes = [
        Route("/", page, middleware=packed),
        Route("/catalogue", listed, middleware=packed),
        Mount("/static", StaticFiles(directory=STATIC), middleware=packed),
        Route("/{kind}", question, methods=["POST"]),
    ]
    app = Starlette(
        routes=[Mount(f"/{key}", routes=routes)],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[LOOPBACK, "localhost"], www_redirect=False),
            Middleware(Gate, key=key),
        ],
        exception_handlers={404: missing, 405: wrong_method},
    )
    app.state.queue, app.state.bodies = queue, bodies
    return app


# ----------------------------------------------------------------------------------------------------------- serving


def serve(
    scene: Scene | None = None,
    *,
    look: Mapping[str, Any] | None = None,
    port: int = 0,
    browser: bool = True,
    announce: Callable[[str], object] | None = None,
) -> None:
    """Serve the lab on this machine until it is interrupted.

    Parameters
    ----------
    scene : Scene, optional
        The scene to start with.
    look : mapping, optional
        How to look at it: t, the first trial to show, and view, the view of weight space.
    port : int, default 0
        0 chooses a free port.
    browser : bool, default True
        Open a browser.
    announce : callable, optional
        Called with the URL as soon as the server listens; by default it is printed.
    """
    key = secrets.token_urlsafe(18)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        if sys.platform != "win32":  # where it would let other processes listen on the same port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
        except OSError as error:
            raise InvalidInput(f"Port {port} cannot be used ({error.strerror}). Choose another port, or 0.") from None
        listening.listen()
        address = f"http://{LOOPBACK}:{listening.getsockname()[1]}/{key}/"
        if scene is not None:
            address += "#" + "&".join([scene.to_query(), *(f"{name}={value}" for name, value in (look or {}).items())])
        (announce or _print_address)(address)
        threading.Thread(target=import_module, args=["rosenblatt.lab.answers"], daemon=True).start()
        if browser:
            threading.Timer(0.3, webbrowser.open, [address]).start()
        config = uvicorn.Config(create_app(key), log_level="warning", access_log=False, ws="none")
        uvicorn.Server(config).run(sockets=[listening])


def _print_address(address: str) -> None:
    sys.stdout.write(f"The lab is at {address}\n")
    sys.stdout.flush()
