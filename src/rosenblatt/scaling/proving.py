"""Certify the rows of all shards: the search sees a few rows, and its result is checked on all of them.

A working set of rows is certified. Each shard then looks, in exact arithmetic, for rows that contradict the result:
on the wrong side of the separator, closer to it than the margin, or outside the span of the support. Those with the
lowest margins join the working set, until no row contradicts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.labels import as_names
from rosenblatt.data.table import Table, as_table
from rosenblatt.engine.rows import Csr
from rosenblatt.errors import InvalidInput, TooLarge
from rosenblatt.prover.certificates.brackets import (
    ROUNDING_GUARD,
    Bracket,
    common_point,
    direction,
    mistake_bound,
    outer_radius,
    quotient,
)
from rosenblatt.prover.certificates.certificate import Certificate, sparse_bytes
from rosenblatt.prover.certificates.certificate_json import seal_of
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.exact.spans import null_basis
from rosenblatt.prover.search.certify import proved_claims
from rosenblatt.prover.search.witness import as_floats
from rosenblatt.training.algorithm import never
from rosenblatt.training.multiclass import check_kind
from rosenblatt.training.sharded import Shards
from rosenblatt.training.shards import Late, Shard

Array = npt.NDArray[Any]

# A row contradicts a margin if its own is lower by more than this share.
MARGIN_GAP = 1e-8
# Rows are compared with at most this many directions that vanish on a support.
MAX_DIRECTIONS = 1 << 10


class SomeRows(NamedTuple):
    """Rows of a working set, merged from those of the shards."""

    place: Array  # (n, 2) shard of each row, and its number there
    X: Any  # CSR matrix or array
    label: Array
    # The lowest value of each requested margin on all rows of the shards; None if there is no such row.
    lowest: tuple[Fraction | None, ...] = ()
    radius: float = 0.0  # largest norm of the rows of the shards

    def merge(self, other: Self) -> Self:
        """Return the rows of both."""
        both: Any = [self.X, other.X]
        X = sp.vstack(both, "csr") if sp.issparse(self.X) else np.concatenate(both)
        lowest = tuple(
            min((one for one in pair if one is not None), default=None)
            for pair in zip(self.lowest, other.lowest, strict=True)
        )
        place, label = (np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("place", "label"))
        return self._replace(place=place, X=X, label=label, lowest=lowest, radius=max(self.radius, other.radius))


class Extent(NamedTuple):
    """The number of rows of each shard, their labels and their columns."""

    classes: Array
    sizes: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    features: int
    sparse: bool

    def merge(self, other: Self) -> Self:
        """Return the extent of both."""
        if not self.features or not other.features:  # no rows
            return (self if self.features else other)._replace(sizes=self.sizes + other.sizes)
        if (self.features, self.names) != (other.features, other.names):
            raise InvalidInput(
                f"Some rows have {self.features} features, others {other.features}. Pass the same columns."
            )
        check_kind(self.classes, other.classes)
        classes = np.unique(np.concatenate([self.classes, other.classes]))
        sparse = self.sparse and other.sparse
        return self._replace(classes=classes, sizes=self.sizes + other.sizes, sparse=sparse)


def extent_of(shard: Shard, late: Late = never) -> Extent:
    """Return the extent of a single shard."""
    extent = Extent(np.empty(0), ((shard.number, 0),), (), 0, True)
    for block in shard.blocks:
        more = Extent(block.classes, (), shard.names, block.table.shape[1], isinstance(block.table.rows, Csr))
        sizes = ((shard.number, extent.sizes[0][1] + block.table.shape[0]),)
        extent = extent.merge(more)._replace(sizes=sizes)
    return extent


@dataclass(frozen=True)
class ShardWork:
    """The work on a shard: its methods are sent to the shards, and their results back."""

    classes: Array
    sparse: bool  # whether rows are sent as sparse ones
    most: int  # rows to report

    def parts(self, shard: Shard) -> Iterator[tuple[int, SignedRows]]:
        """Yield the blocks of a shard as signed rows, each with the number of its first row."""
        first = 0
        for block in shard.blocks:
            label = np.searchsorted(self.classes, block.classes)[block.label]
            if self.classes.size == 1:  # a single class counts as the second of two
                label = np.ones_like(label)
            yield first, SignedRows(block.table, label, max(self.classes.size, 2))
            first += block.table.shape[0]

    def taken(self, shard: Shard, first: int, signed: SignedRows, rows: Array, lowest: Any, radius: float) -> SomeRows:
        """Return some rows of a block, to be sent to the driver."""
        X = dense_or_sparse(signed.table.matrix()[rows], self.sparse)
        place = np.stack([np.full(rows.size, shard.number), first + rows], axis=1)
        return SomeRows(place, X, signed.label[rows], lowest, radius)

    def sample(self, shard: Shard, late: Late = never) -> SomeRows:
        """Return rows for the first working set: some evenly spread over the shard, and one of each class."""
        samples = []
        for first, signed in self.parts(shard):
            spread = np.arange(0, signed.samples, -(-signed.samples // self.most))
            rows = np.union1d(spread, np.unique(signed.label, return_index=True)[1])
            samples.append(self.taken(shard, first, signed, rows, (), outer_radius(signed)))
        return reduce(SomeRows.merge, samples)

    def contradictions(self, claims: Claims, shard: Shard, late: Late = never) -> SomeRows:
        """Return the rows of a shard that contradict the claims most, and the lowest margins of all its rows."""
        against = []
        with np.errstate(all="ignore"):
            for first, signed in self.parts(shard):
                rows = claims.contradicted(signed, self.most)
                against.append(self.taken(shard, first, signed, rows, claims.lowest(signed), 0.0))
        return reduce(SomeRows.merge, against)

    def zeros(self, w: Any, shard: Shard, late: Late = never) -> Array:
        """Return the numbers, in a shard, of the samples with a signed row on which the weights are zero."""
        rows = [
            first + np.unique(signed.split(np.flatnonzero(signed.signs(w) == 0))[0])
            for first, signed in self.parts(shard)
        ]
        return np.concatenate(rows)

    def label_bytes(self, shard: Shard, late: Late = never) -> bytes:
        """Return the bytes of the labels, for the digest of a certificate."""
        return b"".join(np.ascontiguousarray(signed.label, "<i8").tobytes() for _, signed in self.parts(shard))

    def row_bytes(self, shard: Shard, late: Late = never) -> bytes:
        """Return the bytes of the rows, for the digest of a certificate."""
        return b"".join(self._bytes(signed.table) for _, signed in self.parts(shard))

    def _bytes(self, table: Table) -> bytes:
        if isinstance(table.rows, Csr) and self.sparse:
            return sparse_bytes(np.diff(table.rows.indptr), table.rows.indices, table.rows.data)
        X: Array = dense_or_sparse(table.matrix(), sparse=False)
        return (X.astype("<f8", copy=False) + 0.0).tobytes()  # -0.0 becomes 0.0


def dense_or_sparse(X: Any, sparse: bool) -> Any:
    """Return rows as a CSR matrix or as an array."""
    if sparse:
        return sp.csr_matrix(X)
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)


@dataclass(frozen=True)
class Claims:
    """The claims of a working set that other rows may contradict."""

    strict: Any = None  # weights that are positive on every row
    weak: Any = None  # weights that are nowhere negative
    basis: tuple[Any, ...] = ()  # weights that vanish on every row on which `weak` vanishes; on every row if it is None
    # Weights, a class or None for both, and the lowest margin of the working set there.
    margins: tuple[tuple[Any, int | None, float], ...] = ()

    def contradicted(self, signed: SignedRows, most: int) -> Array:
        """Return the samples that contradict the claims most."""
        wrong: list[Array] = []
        for w, least in ((self.strict, 1), (self.weak, 0)):
            if w is not None:
                bad = np.flatnonzero(signed.signs(w) < least)
                wrong.append(_lowest(signed, w, bad, most))
        if self.basis:
            others = np.arange(signed.n) if self.weak is None else np.flatnonzero(signed.signs(self.weak) == 0)
            outside = [others[signed.signs(v)[others] != 0][:most] for v in self.basis]
            wrong.append(np.unique(np.concatenate(outside))[:most])
        for w, c, floor in self.margins:
            s = signed.margins(_floats(w))[0]
            low = np.flatnonzero(s < floor - MARGIN_GAP * abs(floor))
            wrong.append(_lowest(signed, w, low if c is None else low[signed.label[low] == c], most))
        if not wrong:
            return np.empty(0, np.int64)
        return np.unique(signed.split(np.concatenate(wrong).astype(np.int64))[0])

    def lowest(self, signed: SignedRows) -> tuple[Fraction | None, ...]:
        """Return lower bounds of the lowest margins."""
        margins: list[Fraction | None] = []
        for w, c, _ in self.margins:
            ids = np.arange(signed.n) if c is None else np.flatnonzero(signed.label == c)
            margins.append(signed.lowest_margin(w, ids) if ids.size else None)
        return tuple(margins)


def _floats(w: Any) -> Array:
    return w if isinstance(w, np.ndarray) else np.asarray(as_floats(w))


def _lowest(signed: SignedRows, w: Any, ids: Array, most: int) -> Array:
    return ids[np.argsort(signed.margins(_floats(w))[0][ids], kind="stable")[:most]]


# ---------------------------------------------------------------------------------------------------------- the driver


def certify_shards(shards: Shards, *, margin: bool = True, time_limit: float | None = None) -> Certificate:
    """Certify the rows of all shards; see `rosenblatt.scaling.dask.certify`."""
    clock = Deadline(time_limit)
    extent: Extent = shards.combine(extent_of)
    numbers = [number for number, size in extent.sizes if size]
    if not numbers:
        raise InvalidInput("There are no rows to certify. Pass data with at least one row.")
    shards.keep(numbers)
    return _Proof(shards, extent, margin, clock).certificate()


class _Proof:
    """A search for a certificate, and its state."""

    def __init__(self, shards: Shards, extent: Extent, margin: bool, clock: Deadline) -> None:
        self.shards, self.extent, self.margin, self.clock = shards, extent, margin, clock
        self.sizes = {number: size for number, size in extent.sizes if size}
        ends = np.cumsum([0, *self.sizes.values()])
        self.offset = dict(zip(self.sizes, ends[:-1].tolist(), strict=True))
        self.n_rows = int(ends[-1])
        self.classes = max(extent.classes.size, 2)
        width = (extent.features + 1) * (self.classes - 1)
        most = 4 * width // len(self.sizes) + 8  # four rows for each column from all shards, and eight of each shard
        self.work = ShardWork(extent.classes, extent.sparse, most)
        self.working: SomeRows = shards.combine(self.work.sample)
        self.radius = self.working.radius
        self.lowest: tuple[Fraction | None, ...] = ()

    def certificate(self) -> Certificate:
        """Return the certificate about all rows."""
        while True:
            signed, rows = self._signed()
            claimed = proved_claims(signed, tuple(range(self.classes)), self.margin, self.clock)
            if claimed["verdict"] == "undecided":
                return self._issue(signed, rows, claimed)
            try:
                claims = _claims(signed, claimed)
            except TooLarge as fault:
                return self._issue(signed, rows, {"verdict": "undecided", "reason": str(fault)})
            against: SomeRows = self.shards.combine(partial(self.work.contradictions, claims))
            self.lowest = against.lowest
            places = {tuple(place) for place in self.working.place.tolist()}
            new = [i for i, place in enumerate(against.place.tolist()) if tuple(place) not in places]
            if not new:
                return self._issue(signed, rows, claimed)
            added = SomeRows(against.place[new], against.X[new], against.label[new])
            self.working = self.working._replace(lowest=()).merge(added)

    def _signed(self) -> tuple[SignedRows, Array]:
        """Return the working set, and the number of each of its rows among all."""
        rows = np.array([self.offset[shard] + row for shard, row in self.working.place.tolist()])
        order = np.argsort(rows)
        X = self.working.X[order]
        return SignedRows(as_table(X), self.working.label[order], self.classes), rows[order]

    def _issue(self, signed: SignedRows, rows: Array, claimed: dict[str, Any]) -> Certificate:
        claims = dict(claimed)
        support = tuple(int(i) for i in claims.pop("support", ()))
        multipliers = tuple(int(v) for v in claims.pop("multipliers", ()))
        vector = claims.pop("vector", None)
        if vector is not None:
            exact = not any(isinstance(v, float) for v in vector)
            vector = tuple(Fraction(v) if exact else float(v) for v in vector)
        self._bound(claims, rows)
        augmented = claims.get("augmented")
        names = as_names(self.extent.classes)
        draft = Certificate(
            arithmetic="binary",
            shape=(self.n_rows, self.extent.features),
            classes=names if len(names) > 1 else (None, *names),
            layout="sparse" if self.extent.sparse else "dense",
            digest=self._digest(),
            radius=self.radius,
            vector=vector,
            boundary=self._boundary(vector) if claims["verdict"] == "quasi-separable" else (),
            support=tuple(int(rows[i]) for i in support),
            rivals=tuple(int(r) for r in claims.pop("rivals", ())),
            multipliers=multipliers,
            point=common_point(signed, support, multipliers) if support and self.classes == 2 else (),
            mistake_bound=None if augmented is None else mistake_bound(self.radius, augmented.lower),
            names=self.extent.names,
            **claims,
        )
        return replace(draft, seal=seal_of(draft.to_dict()))

    def _bound(self, claims: dict[str, Any], rows: Array) -> None:
        """Widen the brackets of margins to hold for all rows, and renumber their rows."""
        lowest = list(self.lowest)
        for name in ("margin", "augmented"):
            bracket: Bracket | None = claims.get(name)
            if bracket is None or not bracket.w:
                continue
            w = direction(bracket.w)
            own = lowest[:2] if name == "margin" else lowest[:1]
            del lowest[: len(own)]
            least = sum((one for one in own if one is not None), Fraction(0)) / len(own)
            lower = quotient(least, w[:-1] if name == "margin" else w)
            lower *= 1 - np.copysign(ROUNDING_GUARD, lower)
            claims[name] = replace(
                bracket, lower=min(bracket.lower, float(lower)), rows=tuple(int(rows[i]) for i in bracket.rows)
            )

    def _boundary(self, vector: Any) -> tuple[int, ...]:
        rows: list[int] = []
        zeros = self.shards.each(partial(self.work.zeros, direction(vector)))
        for number, zero in zip(self.sizes, zeros, strict=True):
            rows.extend((zero + self.offset[number]).tolist())
        return tuple(rows)

    def _digest(self) -> str:
        """Return the hash of all rows, which pass through the driver one shard at a time."""
        layout = "sparse" if self.extent.sparse else "dense"
        state = hashlib.sha256(f"rosenblatt\n{layout}\n{self.n_rows}\n{self.extent.features}\n".encode())
        for work in (self.work.label_bytes, self.work.row_bytes):
            for content in self.shards.each(work):
                state.update(content)
        return state.hexdigest()


def _claims(signed: SignedRows, claimed: dict[str, Any]) -> Claims:
    """Return the claims that no other row may contradict."""
    verdict, margins = claimed["verdict"], []
    if verdict == "separable":
        for name, sides in (("margin", (0, 1)), ("augmented", (None,))):
            bracket: Bracket | None = claimed.get(name)
            if bracket is not None and bracket.w:
                w = direction(bracket.w)
                s = signed.margins(_floats(w))[0]
                margins += [(w, c, float((s if c is None else s[signed.label == c]).min())) for c in sides]
        return Claims(strict=direction(claimed["vector"]), margins=tuple(margins))
    support = [int(signed.number(i, r)) for i, r in zip(claimed["support"], claimed["rivals"], strict=True)]
    basis = tuple(null_basis(signed, support, range(signed.width)))
    if len(basis) > MAX_DIRECTIONS:
        raise TooLarge(f"{len(basis)} directions vanish on the support, and rows are compared with {MAX_DIRECTIONS}")
    weak = None if claimed.get("vector") is None else direction(claimed["vector"])
    return Claims(weak=weak, basis=basis)
