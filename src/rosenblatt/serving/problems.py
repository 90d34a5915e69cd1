"""Errors as answers: problem details of RFC 9457, whose types do not change."""

from __future__ import annotations

from typing import Any

# Each type with its status, and what it means.
PROBLEMS: dict[str, tuple[int, str]] = {
    "not-json": (400, "The body is not JSON, or not of the media type that it declares."),
    "no-token": (401, "The service needs a token: Authorization: Bearer TOKEN."),
    "no-scope": (403, "The token does not allow this."),
    "foreign-page": (403, "A page of another site asks."),
    "not-found": (404, "There is nothing at this address."),
    "no-model": (404, "There is no model of this name."),
    "no-snapshot": (404, "There is no snapshot of this number."),
    "unknown-id": (404, "No row waits for its label under this id: it has one already, or was never kept."),
    "wrong-method": (405, "The address does not take this method."),
    "slow-request": (408, "The body did not arrive in time."),
    "nothing-learned": (409, "The model has not learned any row yet."),
    "model-exists": (409, "There is a model of this name."),
    "other-body": (409, "The idempotency key belongs to another request."),
    "other-row": (409, "Another row waits under this id."),
    "too-large": (413, "The body has more bytes or rows than the service takes."),
    "unknown-media-type": (415, "The media type of the body is not understood here."),
    "wrong-host": (421, "The service does not answer to this host name."),
    "invalid-row": (422, "A row, a label or a parameter cannot be used; nothing was learned from the request."),
    "too-many": (422, "A limit of the service: models, classes, features or weights."),
    "busy": (429, "Too many requests wait. Try again after a moment."),
    "disk": (503, "The journal cannot be written, as when the disk is full; nothing was learned."),
    "stopping": (503, "The service is stopping. Try again after a moment."),
    "failed": (500, "The service failed; nothing was learned. Its log says more."),
}


class Problem(Exception):
    """A request that is refused.

    Attributes
    ----------
    kind : str
        One of `PROBLEMS`.
    detail : str
        What is wrong with this request.
    more : dict
        Further members of the answer, such as the place of the fault.
    """

    def __init__(self, kind: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.more = kind, detail, more

    @property
    def status(self) -> int:
        """The status code."""
        return PROBLEMS[self.kind][0]

    def content(self) -> dict[str, Any]:
        """Return the members of the answer."""
        status, title = PROBLEMS[self.kind]
        return {"type": f"/problems#{self.kind}", "title": title, "status": status, "detail": self.detail, **self.more}
