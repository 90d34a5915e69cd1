"""Tokens of clients: a file with a line of name, scopes and SHA-256 for each."""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import secrets
from pathlib import Path

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.atomic import replace_file, target_of

# What a token allows. Who may learn need not be allowed to create and delete models.
SCOPES = ("predict", "learn", "admin")


log = logging.getLogger("rosenblatt.serving")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class Tokens:
    """The tokens of a file, which is read again when it changes.

    Tokens are random, so that a plain hash of one cannot be reversed by guessing.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._stamp: tuple[int, int] | None = None
        self._scopes: dict[str, frozenset[str]] = {}
        self._read()

    def _read(self) -> None:
        status = os.stat(self.path)
        stamp = status.st_mtime_ns, status.st_size
        if stamp != self._stamp:
            self._scopes, self._stamp = {}, None  # if the file is damaged now, no token is known
            self._scopes = _parsed(self.path)
            self._stamp = stamp

    def scopes(self, authorization: str) -> frozenset[str] | None:
        """Return what the token in an Authorization header allows; None if it is not known."""
        kind, _, given = authorization.partition(" ")
        token = given.strip()
        if kind.lower() == "basic":  # browsers ask for a name and a password: the password is the token
            try:
                token = base64.b64decode(token, validate=True).decode().partition(":")[2]
            except ValueError:
                return None
        elif kind.lower() != "bearer":
            return None
        try:
            self._read()
        except (OSError, InvalidInput) as error:
            log.error("The tokens cannot be read: %s", error)
            return None
        found, wanted = None, _digest(token)
        for known, scopes in self._scopes.items():
            if secrets.compare_digest(known, wanted):
                found = scopes
        return found


def _parsed(path: Path) -> dict[str, frozenset[str]]:
    """Return the scopes of each token by its hash."""
    found = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split()
        if len(parts) != 3 or len(parts[2]) != 64 or not set(parts[1].split(",")) <= {*SCOPES}:
            raise InvalidInput(
                f"{path}, line {number}: this is not a name, scopes of {', '.join(SCOPES)}, and a SHA-256. Write it "
                "with rosenblatt serve --new-token."
            )
        found[parts[2]] = frozenset(parts[1].split(","))
    return found


def add_token(path: Path, name: str, scopes: str) -> str:
    """Add a new token to a file, which is made if it does not exist, and return the token."""
    own = scopes.split(",")
    if not name.isidentifier() or not set(own) <= {*SCOPES}:
        raise InvalidInput(f"{name}:{scopes} is not NAME:SCOPES, with a word and some of {','.join(SCOPES)}.")
    before = path.read_text("utf-8") if path.exists() else ""
    if path.exists():
        _parsed(path)
    if any(line.split()[:1] == [name] for line in before.splitlines()):
        raise InvalidInput(f"{path} has a token of {name}. Remove its line first, or take another name.")
    token = secrets.token_urlsafe(32)
    target = target_of(path)
    if not path.exists():
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    replace_file(target, [f"{before}{name} {','.join(own)} {_digest(token)}\n".encode()])
    return token
