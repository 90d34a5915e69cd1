"""The HTTP interface: who may ask, limits, routes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rosenblatt.errors import InvalidInput, RosenblattError
from rosenblatt.serving import pages
from rosenblatt.serving.learner import finite, plain
from rosenblatt.serving.model import Change, Keep, Learn, LearnLate, Rollback, ServedModel, digest_of
from rosenblatt.serving.openapi import document, queries_of
from rosenblatt.serving.problems import Problem
from rosenblatt.serving.prometheus import Metrics
from rosenblatt.serving.requests import (
    ARROW,
    LINES,
    MAX_KEY,
    InferenceRequest,
    LateLabel,
    NewModel,
    RollbackTo,
    RowToExplain,
    RowToLearn,
    RowToPredict,
    arrow_rows,
    decoded,
    rows_in,
)
from rosenblatt.serving.service import Service
from rosenblatt.serving.tokens import Tokens
from rosenblatt.serving.writer import Writer
from rosenblatt.text import did_you_mean

MAX_BODY, MAX_FILE = 1 << 20, 1 << 26  # bytes of a request, and of a model file
MAX_HELD = 1 << 28  # bytes of all requests in memory
MAX_ROWS = 10_000
BODY_SECONDS = 30.0
LOCAL = ("localhost", "127.0.0.1", "[::1]")
FILE = "application/octet-stream"
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
log = logging.getLogger("rosenblatt.serving")
Handler = Callable[[Request], Awaitable[Response]]


def answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a value as JSON."""
    return Response(msgspec.json.encode(content), status, headers, "application/json")


def refusal(problem: Problem) -> Response:
    """Return a problem as an answer."""
    headers = {}
    if problem.status in (429, 503):
        headers["retry-after"] = "1"
    if problem.status == 401:
        headers["www-authenticate"] = 'Bearer realm="rosenblatt", Basic realm="rosenblatt"'
    if problem.status in (408, 413, 503):  # the body may not be read completely
        headers["connection"] = "close"
    content = msgspec.json.encode(problem.content())
    return Response(content, problem.status, headers, "application/problem+json")


class Guard:
    """Middleware: answers only to known host names, to pages of its own, and, if there are tokens, to those.

    Pages of other sites could otherwise ask through the browser of somebody on this machine.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], tokens: Tokens | None, metrics: Metrics) -> None:
        self.app, self.hosts, self.tokens, self.metrics = app, {host.lower() for host in hosts}, tokens, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        try:
            scope["scopes"] = self._check(scope)
        except Problem as problem:
            await refusal(problem)(scope, receive, sent)
        else:
            await self.app(scope, receive, sent)
        self.metrics.count(scope, status, time.perf_counter() - begun)

    def _check(self, scope: Scope) -> frozenset[str] | None:
        """Return what the token allows; None if there are no tokens."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if name.lower() not in self.hosts:
            raise Problem("wrong-host", f"{host!r:.100} is not a name of this service. Start it with --allow-host.")
        origin = headers.get("origin")
        # A link leads here: the page that has it sees nothing of the answer.
        follows = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if (headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not follows) or (
            origin is not None and urlsplit(origin).netloc.lower() != host.lower()
        ):
            raise Problem("foreign-page", "A page of another site asks. Ask from a program, or from the status page.")
        if self.tokens is None or scope["path"] in OPEN:
            return None
        scopes = self.tokens.scopes(headers.get("authorization", ""))
        if scopes is None:
            raise Problem("no-token", "The service needs a token. Send it as Authorization: Bearer TOKEN.")
        return scopes


_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
# Whoever restarts the process has no token.
OPEN = ("/v2/health/live", "/v2/health/ready")


class BodyReader:
    """Reads the bodies of requests, within limits on their size, their time, and their bytes in memory."""

    def __init__(self) -> None:
        self.held = 0

    @asynccontextmanager
    async def of(self, request: Request, most: int = MAX_BODY) -> AsyncIterator[bytes]:
        """Yield the body of a request."""
        content = bytearray()
        declared = request.headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > most:
            raise Problem("too-large", f"The body has more than {most} bytes. Send less at a time.")
        try:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    async for part in request.stream():
                        content += part
                        self.held += len(part)
                        if len(content) > most:
                            raise Problem("too-large", f"The body has more than {most} bytes. Send less at a time.")
                        if self.held > MAX_HELD:
                            raise Problem("busy", "Too many requests are being read. Try again after a moment.")
            except TimeoutError:
                raise Problem("slow-request", f"The body did not arrive within {BODY_SECONDS:g} seconds.") from None
            yield bytes(content)
        finally:
            self.held -= len(content)


def media_type(request: Request) -> str:
    """Return the media type of the body, without its parameters."""
    return request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()


def is_on(request: Request, name: str) -> bool:
    """Return whether a switch of the query is on."""
    value = request.query_params.get(name, "false")
    if value not in ("true", "false"):
        raise Problem("invalid-row", f"{name}={value!r:.60} is neither true nor false.")
    return value == "true"


def idempotency(request: Request, body: bytes) -> dict[str, str]:
    """Return the idempotency key of a request with the digest of all that it asks."""
    key = request.headers.get("idempotency-key", "")
    if not key:
        return {}
    if len(key) > MAX_KEY:
        raise Problem("invalid-row", f"The idempotency key has more than {MAX_KEY} characters.")
    asked = (request.url.path, request.url.query, media_type(request))
    return {"key": key, "body": digest_of(*(part.encode() for part in asked), body)}


def check_rows(rows: list[Any]) -> list[Any]:
    """Return rows if there are some, and not too many."""
    if not rows:
        raise Problem("invalid-row", "The body has no rows. Send at least one.")
    if len(rows) > MAX_ROWS:
        raise Problem("too-large", f"The body has {len(rows)} rows; the most are {MAX_ROWS}.")
    return rows


def lines_of(body: bytes) -> list[str]:
    """Return the lines of a body."""
    try:
        return [line.rstrip("\r") for line in body.decode().split("\n") if line.strip()]
    except UnicodeDecodeError as error:
        raise Problem("not-json", f"The body is not UTF-8 ({error}).") from None


class Api:
    """The routes of the service."""

    def __init__(self, service: Service, metrics: Metrics) -> None:
        self.service, self.metrics, self.bodies = service, metrics, BodyReader()

    def _writer(self, request: Request) -> Writer:
        return self.service.writer(request.path_params["model"])

    # ---------------------------------------------------------------------------------------------------------- models

    async def models(self, request: Request) -> Response:
        """List the models."""
        return answer({"models": [summary(name, one) for name, one in sorted(self.service.writers.items())]})

    async def model(self, request: Request) -> Response:
        """Describe a model."""
        return answer(summary(request.path_params["model"], self._writer(request)))

    async def create(self, request: Request) -> Response:
        """Create a model from settings, or from a model file."""
        name = request.path_params["model"]
        is_file = media_type(request) == FILE
        async with self.bodies.of(request, MAX_FILE if is_file else MAX_BODY) as body:
            settings = None if is_file else decoded(body or b"{}", NewModel)
            writer = await self.service.create(name, settings, body if is_file else None)
        return answer(summary(name, writer), 201, {"location": f"/v1/models/{name}"})

    async def delete(self, request: Request) -> Response:
        """Delete a model."""
        await self.service.delete(request.path_params["model"])
        return Response(status_code=204)

    async def file(self, request: Request) -> Response:
        """Return the model file, for `rosenblatt predict` and `rosenblatt.load`."""
        name, writer = request.path_params["model"], self._writer(request)
        seq, content = await writer.use(lambda model: (model.state.seq, model.known.save()), "save", MAX_ROWS)
        headers = {"content-disposition": f'attachment; filename="{name}.model"', "x-sequence": str(seq)}
        return Response(content, headers=headers, media_type=FILE)

    # ------------------------------------------------------------------------------------------------------------ rows

    async def learn(self, request: Request) -> Response:
        """Learn rows."""
        writer, media = self._writer(request), media_type(request)
        async with self.bodies.of(request) as body:
            settings = None
            if media in LINES:
                lines = check_rows(lines_of(body))
                settings, rows = await writer.use(lambda model: model.rows_on(lines, LINES[media]), "lines", len(lines))
            elif media == ARROW:
                rows = arrow_rows(body, request.query_params.get("label", "label"))
            else:
                rows = rows_in(body, media, RowToLearn)
            change = Learn(check_rows(rows), time.time(), **idempotency(request, body), settings=settings)
            return answer(await writer.change(change))

    async def predict(self, request: Request) -> Response:
        """Predict rows; keep those with an id."""
        writer, media = self._writer(request), media_type(request)
        asked = [name for name in ("scores", "probabilities") if is_on(request, name)]
        async with self.bodies.of(request) as body:
            rows: list[Any]
            if media in LINES:
                writer.model.check_format(LINES[media])
                rows = [RowToPredict(line) for line in lines_of(body)]
            elif media == ARROW:
                rows = arrow_rows(body, None)
            else:
                rows = rows_in(body, media, RowToPredict)
            rows = check_rows(rows)
            X = [row.x for row in rows]
            if any(row.id is not None for row in rows):
                if self._lacks(request, "learn"):
                    raise Problem("no-scope", "To keep rows for their labels the token needs the scope learn.")
                found = await writer.change(Keep(rows, time.time(), asked))
            else:
                found = await writer.use(lambda model: model.predicted(X, asked), f"predict {asked}", len(X))
        predictions: list[dict[str, Any]] = [{"y": y} for y in found["predictions"]]
        for number, row in enumerate(rows):
            if row.id is not None:
                predictions[number]["id"] = row.id
            predictions[number] |= {name: found[name][number] for name in asked}
        return answer({"seq": found["seq"], "predictions": predictions})

    async def labels(self, request: Request) -> Response:
        """Learn rows whose labels come late."""
        writer = self._writer(request)
        async with self.bodies.of(request) as body:
            rows = check_rows(rows_in(body, media_type(request), LateLabel))
            return answer(await writer.change(LearnLate(rows, time.time(), **idempotency(request, body))))

    async def explain(self, request: Request) -> Response:
        """Explain the scores of a row."""
        writer = self._writer(request)
        async with self.bodies.of(request) as body:
            row = decoded(body, RowToExplain)
            seq, found = await writer.use(
                lambda model: (model.state.seq, model.known.explain(row.x, row.top)), "explain", MAX_ROWS
            )
        return answer({"seq": seq, "text": str(found), "sums": finite(found.to_dict())})

    # ------------------------------------------------------------------------------------------------------- snapshots

    async def snapshots(self, request: Request) -> Response:
        """List the snapshots."""
        return answer({"snapshots": [one._asdict() for one in self._writer(request).store.snapshots()]})

    async def snapshot(self, request: Request) -> Response:
        """Write a snapshot now."""
        writer = self._writer(request)
        writer.model.known  # noqa: B018
        return answer(await writer.change(None), 201)

    async def rollback(self, request: Request) -> Response:
        """Return to what a snapshot had learned."""
        writer = self._writer(request)
        async with self.bodies.of(request) as body:
            to: RollbackTo = decoded(body, RollbackTo)
            change: Change = Rollback(to.snapshot, time.time(), **idempotency(request, body))
            return answer(await writer.change(change))

    async def metrics_of(self, request: Request) -> Response:
        """Return how well a model predicts rows before it learns them."""
        return answer(measures(self._writer(request)))

    # ------------------------------------------------------------------------------------------------------------ pages

    async def status(self, request: Request) -> Response:
        """Return the status page."""
        models = [(name, summary(name, one), one.model.state.record) for name, one in self.service.writers.items()]
        return Response(pages.status(sorted(models, key=lambda one: one[0])), media_type="text/html")

    async def problems(self, request: Request) -> Response:
        """Return the page of the types of problems."""
        return Response(pages.problems(), media_type="text/html")

    async def openapi(self, request: Request) -> Response:
        """Return the description of the interface."""
        return answer(document())

    async def prometheus(self, request: Request) -> Response:
        """Return the metrics for Prometheus."""
        return Response(self.metrics.text(self.service.writers), media_type=self.metrics.media)

    # --------------------------------------------------------------------------------- Open Inference Protocol, /v2

    async def live(self, request: Request) -> Response:
        """Say that the process lives."""
        return answer({"live": True})

    async def ready(self, request: Request) -> Response:
        """Say that the models are open."""
        return answer({"ready": True})

    async def server(self, request: Request) -> Response:
        """Describe the server, by the Open Inference Protocol."""
        return answer({"name": "rosenblatt", "version": pages.VERSION, "extensions": []})

    async def v2_model(self, request: Request) -> Response:
        """Describe a model, by the Open Inference Protocol."""
        name, writer = request.path_params["model"], self._writer(request)
        learner = writer.model.known
        form, width = ("BYTES", 1) if learner.reading is not None else ("FP64", learner.n_features)
        output = "FP64" if _are_numbers(writer.model) else "BYTES"
        return answer(
            {
                "name": name,
                "versions": [str(writer.model.state.seq)],
                "platform": "rosenblatt",
                "inputs": [{"name": "x", "datatype": form, "shape": [-1, width]}],
                "outputs": [{"name": "y", "datatype": output, "shape": [-1]}],
            }
        )

    async def v2_ready(self, request: Request) -> Response:
        """Say whether a model can predict."""
        self._writer(request).model.known  # noqa: B018
        return answer({"name": request.path_params["model"], "ready": True})

    async def infer(self, request: Request) -> Response:
        """Predict, by the Open Inference Protocol: one tensor of numbers, or of texts."""
        name, writer = request.path_params["model"], self._writer(request)
        async with self.bodies.of(request) as body:
            asked: InferenceRequest = decoded(body, InferenceRequest)
            rows = check_rows(rows_of_tensor(asked, writer.model))
            found = await writer.use(lambda model: model.predicted(rows), "predict", len(rows))
        numbers = _are_numbers(writer.model)
        data = found["predictions"] if numbers else [str(y) for y in found["predictions"]]
        output = {"name": "y", "datatype": "FP64" if numbers else "BYTES", "shape": [len(data)], "data": data}
        own = {} if asked.id is None else {"id": asked.id}
        return answer({"model_name": name, "model_version": str(found["seq"]), **own, "outputs": [output]})

    # ---------------------------------------------------------------------------------------------------------- routes

    def _lacks(self, request: Request, scope: str) -> bool:
        scopes = request.scope.get("scopes")
        return scopes is not None and scope not in scopes and "admin" not in scopes

    def _checked(self, handler: Handler, scope: str, queries: Collection[str]) -> Handler:
        """Return a handler whose errors are answers."""

        async def checked(request: Request) -> Response:
            try:
                if scope and self._lacks(request, scope):
                    raise Problem("no-scope", f"The token does not have the scope {scope}.")
                unknown = next((name for name in request.query_params if name not in queries), None)
                if unknown is not None:
                    raise Problem("invalid-row", f"?{unknown:.60} is unknown here.{did_you_mean(unknown, queries)}")
                return await handler(request)
            except Problem as problem:
                return refusal(problem)
            except (RosenblattError, RecursionError) as error:
                return refusal(Problem("invalid-row", str(error)))
            except ClientDisconnect:
                return refusal(Problem("slow-request", "The client has gone."))
            except Exception:
                log.exception("%s %s failed.", request.method, request.url.path)
                return refusal(Problem("failed", "The service failed. Its log says more."))

        checked.__doc__ = handler.__doc__
        return checked

    def routes(self) -> list[Route]:
        """Return all routes; what each needs is its scope."""
        model, v2 = "/v1/models/{model}", "/v2/models/{model}"
        table = [
            ("GET", "/", self.status, "predict"),
            ("GET", "/problems", self.problems, ""),
            ("GET", "/openapi.json", self.openapi, "predict"),
            ("GET", "/metrics", self.prometheus, "predict"),
            ("GET", "/v1/models", self.models, "predict"),
            ("GET", model, self.model, "predict"),
            ("PUT", model, self.create, "admin"),
            ("DELETE", model, self.delete, "admin"),
            ("GET", f"{model}/file", self.file, "predict"),
            ("POST", f"{model}/learn", self.learn, "learn"),
            ("POST", f"{model}/predict", self.predict, "predict"),
            ("POST", f"{model}/labels", self.labels, "learn"),
            ("POST", f"{model}/explain", self.explain, "predict"),
            ("GET", f"{model}/metrics", self.metrics_of, "predict"),
            ("GET", f"{model}/snapshots", self.snapshots, "predict"),
            ("POST", f"{model}/snapshots", self.snapshot, "admin"),
            ("POST", f"{model}/rollback", self.rollback, "admin"),
            ("GET", "/v2", self.server, "predict"),
            ("GET", "/v2/health/live", self.live, ""),
            ("GET", "/v2/health/ready", self.ready, ""),
            ("GET", v2, self.v2_model, "predict"),
            ("GET", f"{v2}/ready", self.v2_ready, "predict"),
            ("POST", f"{v2}/infer", self.infer, "predict"),
        ]
        return [
            Route(path, self._checked(own, scope, queries_of(path, method)), methods=[method])
            for method, path, own, scope in table
        ]


# ------------------------------------------------------------------------------------------------------------- answers


def summary(name: str, writer: Writer) -> dict[str, Any]:
    """Describe a model."""
    model = writer.model
    state, learner = model.state, model.learner
    latest = writer.store.snapshots()[-1]
    found: dict[str, Any] = {"name": name, "seq": state.seq, "created": writer.store.created()}
    if learner is None:
        found |= {"learner": (state.settings or NewModel()).learner, "settings": state.settings}
    else:
        found |= {"learner": learner.name, "format": learner.format, "reading": learner.reading}
        found |= {"classes": learner.classes, "n_features": learner.n_features}
    return found | {"snapshot": latest._asdict(), "metrics": measures(writer)}


def measures(writer: Writer) -> dict[str, Any]:
    """Return how well a model predicts rows before it learns them."""
    state = writer.model.state
    record = state.record
    return {
        "seq": state.seq,
        "rows": record.rows,
        "predicted": record.predicted,
        "error": finite(record.error),
        "windowed": {"rows": len(record.window), "error": finite(record.windowed)},
        "since": record.since or None,
        "last": record.last or None,
        "waiting": len(state.waiting),
        "dropped": record.dropped,
        "queued": writer.queue.qsize(),
    }


# ------------------------------------------------------------------------------------------------------- /v2 inference


def rows_of_tensor(asked: InferenceRequest, model: ServedModel) -> list[Any]:
    """Return the rows of a request."""
    if len(asked.inputs) != 1:
        raise Problem("invalid-row", f"There are {len(asked.inputs)} inputs. Send one, with a row for each prediction.")
    tensor = asked.inputs[0]
    if tensor.datatype == "BYTES":
        texts = [text for one in tensor.data for text in (one if isinstance(one, list) else [one])]
        if not all(isinstance(text, str) for text in texts):
            raise Problem("invalid-row", "The data of BYTES are not texts.")
        return [decoded(text.encode(), dict[str, Any]) if text[:1] == "{" else text for text in texts]
    try:
        rows = np.array(tensor.data, np.float64).reshape(tensor.shape)
    except (TypeError, ValueError, OverflowError):
        raise Problem("invalid-row", f"The data are not numbers of the shape {tensor.shape}.") from None
    if rows.ndim != 2:
        raise Problem("invalid-row", f"The shape {tensor.shape} is not rows of numbers.")
    found: list[Any] = rows.tolist()
    return found


def _are_numbers(model: ServedModel) -> bool:
    """Return whether predictions are numbers."""
    return all(isinstance(label, int | float) for label in map(plain, model.known.classes))


# --------------------------------------------------------------------------------------------------------- application


def create_app(service: Service, hosts: Collection[str] = (), tokens: Tokens | None = None) -> Starlette:
    """Return the application.

    Parameters
    ----------
    service : Service
        Is started and stopped with the application.
    hosts : collection of str
        Names of the service beside localhost.
    tokens : Tokens, optional
        Without them everyone who reaches the service may do everything.
    """
    metrics = Metrics()
    api = Api(service, metrics)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            await service.stop()

    async def missing(request: Request, error: Exception) -> Response:
        return refusal(Problem("not-found", f"There is nothing at {request.url.path:.200}. See /openapi.json."))

    async def wrong_method(request: Request, error: Exception) -> Response:
        return refusal(Problem("wrong-method", f"{request.url.path:.200} does not take {request.method}."))

    return Starlette(
        routes=api.routes(),
        middleware=[Middleware(Guard, hosts=(*LOCAL, *hosts), tokens=tokens, metrics=metrics)],
        exception_handlers={404: missing, 405: wrong_method},
        lifespan=life,
    )


def check_host(host: str, tokens: Tokens | None) -> None:
    """Raise an error if others could reach a service that asks for no token."""
    if host not in ("127.0.0.1", "localhost", "::1") and tokens is None:
        raise InvalidInput(
            f"--host {host} lets others on the network in. Add --token-file FILE, and make a token with --new-token."
        )
