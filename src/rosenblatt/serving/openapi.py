"""The description of the interface, made from the declarations that check requests."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from rosenblatt.serving.problems import PROBLEMS
from rosenblatt.serving.requests import (
    ARROW,
    LINES,
    MAX_KEY,
    NDJSON,
    InferenceRequest,
    LateLabel,
    NewModel,
    RollbackTo,
    RowToExplain,
    RowToLearn,
    RowToPredict,
)

BODIES = (RowToLearn, RowToPredict, LateLabel, RowToExplain, RollbackTo, NewModel, InferenceRequest)
NAME = {
    "name": "model",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,63}$"},
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request that is sent again with its key is answered as before, and learned once.",
    "schema": {"type": "string", "maxLength": MAX_KEY},
}


def _query(name: str, text: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": text, "schema": schema}


def _body(kind: type, *, several: bool, lines: bool = False, required: bool = True) -> dict[str, Any]:
    """Return the body of a request: an object, and if there may be several, a list of them or another media type."""
    one: dict[str, Any] = {"$ref": f"#/components/schemas/{kind.__name__}"}
    whole = {"oneOf": [one, {"type": "array", "items": one, "minItems": 1}]} if several else one
    content: dict[str, Any] = {"application/json": {"schema": whole}}
    text = {"schema": {"type": "string"}}
    if several:
        content[NDJSON] = text
    if lines:
        content |= dict.fromkeys(LINES, text) | {ARROW: {"schema": {"type": "string", "format": "binary"}}}
    return {"required": required, "content": content}


def _operation(
    summary: str,
    *parameters: dict[str, Any],
    body: dict[str, Any] | None = None,
    status: int = 200,
    media: str = "application/json",
    refused: tuple[int, ...] = (),
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"} if media == "application/json" else {"type": "string"}
    done: dict[str, Any] = {"description": summary}
    if status != 204:
        done["content"] = {media: {"schema": schema}}
    problem = {"$ref": "#/components/responses/Problem"}
    codes = {401, 403, 421, 422, 500, *refused, *((400, 408, 409, 413, 415, 429, 503) if body else ())}
    found: dict[str, Any] = {
        "summary": summary,
        "responses": {str(status): done, **{str(code): problem for code in sorted(codes)}},
    }
    if parameters:
        found["parameters"] = list(parameters)
    if body:
        found["requestBody"] = body
    return found


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    _, schemas = msgspec.json.schema_components(BODIES, ref_template="#/components/schemas/{name}")
    learn = _body(RowToLearn, several=True, lines=True)
    predict = _body(RowToPredict, several=True, lines=True)
    create = _body(NewModel, several=False, required=False)
    create["content"]["application/octet-stream"] = {"schema": {"type": "string", "format": "binary"}}
    label = _query("label", "The column of an Arrow stream that has the labels.", {"type": "string"})
    switch = {"type": "string", "enum": ["true", "false"]}
    scores = _query("scores", "Whether to answer with scores, too.", switch)
    chances = _query("probabilities", "Whether to answer with the probability of each class, too.", switch)
    model, v2, gone = "/v1/models/{model}", "/v2/models/{model}", (404,)
    paths: dict[str, dict[str, Any]] = {
        "/": {"get": _operation("The status page.", media="text/html")},
        "/problems": {"get": _operation("The types of problems.", media="text/html")},
        "/openapi.json": {"get": _operation("This description.")},
        "/metrics": {"get": _operation("Metrics for Prometheus.", media="text/plain")},
        "/v1/models": {"get": _operation("The models.")},
        model: {
            "get": _operation("A model.", NAME, refused=gone),
            "put": _operation("Create a model from settings, or from a model file.", NAME, body=create, status=201),
            "delete": _operation("Delete a model with its snapshots.", NAME, status=204, refused=gone),
        },
        f"{model}/file": {
            "get": _operation("The model file.", NAME, media="application/octet-stream", refused=(404, 409))
        },
        f"{model}/learn": {
            "post": _operation("Learn rows, all of them or none.", NAME, KEY, label, body=learn, refused=gone)
        },
        f"{model}/predict": {
            "post": _operation(
                "Predict rows; keep those with an id.", NAME, scores, chances, body=predict, refused=gone
            )
        },
        f"{model}/labels": {
            "post": _operation(
                "Learn rows that were kept.", NAME, KEY, body=_body(LateLabel, several=True), refused=gone
            )
        },
        f"{model}/explain": {
            "post": _operation(
                "The scores of a row as sums over its features.",
                NAME,
                body=_body(RowToExplain, several=False),
                refused=gone,
            )
        },
        f"{model}/metrics": {
            "get": _operation("How well a model predicts rows before it learns them.", NAME, refused=gone)
        },
        f"{model}/snapshots": {
            "get": _operation("The snapshots to return to.", NAME, refused=gone),
            "post": _operation("Write a snapshot now.", NAME, status=201, refused=(404, 409, 429, 503)),
        },
        f"{model}/rollback": {
            "post": _operation(
                "Return to what a snapshot had learned.", NAME, KEY, body=_body(RollbackTo, several=False), refused=gone
            )
        },
        "/v2": {"get": _operation("The server, by the Open Inference Protocol.")},
        "/v2/health/live": {"get": _operation("Whether the process lives.")},
        "/v2/health/ready": {"get": _operation("Whether the models are open.")},
        v2: {"get": _operation("A model, by the Open Inference Protocol.", NAME, refused=(404, 409))},
        f"{v2}/ready": {"get": _operation("Whether a model can predict.", NAME, refused=(404, 409))},
        f"{v2}/infer": {
            "post": _operation(
                "Predict, by the Open Inference Protocol.",
                NAME,
                body=_body(InferenceRequest, several=False),
                refused=gone,
            )
        },
    }
    kinds = {"type": "string", "enum": [f"/problems#{kind}" for kind in PROBLEMS]}
    problem = {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": kinds,
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "place": {"type": "string"},
        },
    }
    refused = {
        "description": "The request was refused, and nothing was learned from it.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "rosenblatt serve", "version": "1", "description": "Models that learn over HTTP."},
        "paths": paths,
        "components": {"schemas": schemas | {"Problem": problem}, "responses": {"Problem": refused}},
    }


def queries_of(path: str, method: str) -> list[str]:
    """Return the names that the query of a request may have."""
    parameters = document()["paths"][path][method.lower()].get("parameters", ())
    return [one["name"] for one in parameters if one["in"] == "query"]
