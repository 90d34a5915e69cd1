"""Certificates: proved claims about a data set, in a form that anybody can check in exact arithmetic.

A certificate holds the verdict and its witnesses: a separator, or points of the classes whose hulls meet.
`rosenblatt.prover.certificates.verify` checks it. docs/reference/certificates.md describes the file format.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Csr, Dense, gather
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.certificates import certificate_json, describe
from rosenblatt.prover.certificates.brackets import Bracket, common_point, direction, mistake_bound, outer_radius
from rosenblatt.prover.certificates.certificate_json import (
    INFINITE,
    NEGATIVE,
    POSITIVE,
    UNIDENTIFIED,
    Combination,
    seal_of,
)
from rosenblatt.prover.certificates.describe import Coefficients
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.storage.atomic import replace_file, target_of

Array = npt.NDArray[Any]
Label = int | float | str | bool | None

MAX_FILE_BYTES = 1 << 30  # longer files are rejected
HASH_BLOCK_BYTES = 1 << 18  # bytes that are hashed at a time: they stay in the processor's cache
# The verdicts in the terms of Albert and Anderson (1984).
SEPARATIONS = {
    "separable": "complete separation",
    "quasi-separable": "quasi-complete separation",
    "overlapping": "overlap",
    "undecided": "undecided",
}


# ------------------------------------------------------------------------------------------------------ the record


@dataclass(frozen=True)
class Certificate:
    """A proof that a data set is linearly separable, or that it is not.

    With classes numbered in sorted order, a signed row is (e_y - e_r) (x) (x, 1) for a sample of class y and a rival
    class r, without the block of class 0; see `rosenblatt.prover.exact.signed_rows`. With two classes that is y (x, 1).
    In a model without an intercept the constant is 0, and so is its weight.

    Attributes
    ----------
    verdict : str
        "separable": some w makes w.z > 0 for every signed row z. "quasi-separable": w.z >= 0 for all and > 0 for
        some, but never > 0 for all. "overlapping": neither. "undecided": nothing is claimed, see `reason`.
    arithmetic : str
        "binary": values are floats. "decimal": floats stand for the shortest decimals that round to them. "rational":
        values are integers and fractions, some of which no float holds.
    shape : (int, int)
        Samples and features.
    classes : tuple
        Labels in sorted order; (None, label) if there is only one.
    vector : tuple of float or of Fraction, optional
        The separator, or the weak separator of quasi-separable data, of length (classes - 1) (features + 1); see
        `separator` for a handier form.
    boundary : tuple of int
        Quasi-separable: the samples with a signed row on which the weak separator is zero. These signed rows are those
        in the span of the support, so every other weak separator is zero there, too.
    support, rivals, multipliers : tuples of int
        Not separable: samples, the rival class of each, and positive integers; the signed rows times these integers
        add up to zero.
    point : tuple of float
        Two classes, not separable: the common point of the two hulls, each coordinate correctly rounded.
    margin, augmented : Bracket, optional
        Separable, two classes: the geometric margin, half the distance of the hulls; and the largest min z.w / |w| with
        the bias as part of w, as in the perceptron's mistake bound.
    radius : float
        The largest |(x, 1)|, rounded up.
    mistake_bound : int, optional
        The most mistakes that a perceptron can make from zero weights: floor(radius^2 / augmented.lower^2).
    estimates : tuple of str
        The estimate of each coefficient in a logistic regression without a penalty, in the order of `vector`: "finite";
        "+inf" or "-inf"; "+/-inf", if the likelihood does not even determine the sign; or "not identified", if the
        column depends on those before it. Empty if not determined. See `coefficients` for a table.
    combinations : tuple of Combination or None
        For each coefficient at "+inf" or "-inf": signed rows whose sum, with these multipliers, is zero except at this
        coefficient.
    directions : tuple of vectors
        Weak separators, among which each coefficient at "+/-inf" has both signs.
    names : tuple of str
        Names of the features, if the data had names. Not proved.
    intercept : bool
        Whether the model has an intercept.
    response : str
        How the samples follow from the responses of the rows. "labels": each row is a sample of its class. "counts":
        a row is a sample of class 0, and if its count is positive of class 1, too. "shares": of class 0 unless the
        share is 1, and of class 1 unless it is 0. "pairs": of class 1 if it has successes, of class 0 if it has
        failures. "ordered": for each threshold beside its level, a sample with a column for each threshold after the
        first; of class 1 above the threshold.
    levels : tuple
        Ordered responses: the labels, lowest first. Else empty.
    rows : tuple of int
        The row of the data that each sample comes from; empty if they are the same.
    reason : str
        Why the question is undecided, how the verdict applies to a kernel, how dependent columns follow from others, or
        which claims are missing. Not proved.
    layout, digest : str
        SHA-256 of the data in hexadecimal, and the form of the data that was hashed, "dense" or "sparse".
    seal : str
        SHA-256 of all other fields. It detects accidental changes, not forgery.
    """

    verdict: str
    arithmetic: str
    shape: tuple[int, int]
    classes: tuple[Label, ...]
    layout: str
    digest: str
    radius: float
    vector: tuple[float, ...] | tuple[Fraction, ...] | None = None
    boundary: tuple[int, ...] = ()
    support: tuple[int, ...] = ()
    rivals: tuple[int, ...] = ()
    multipliers: tuple[int, ...] = ()
    point: tuple[float, ...] = ()
    margin: Bracket | None = None
    augmented: Bracket | None = None
    mistake_bound: int | None = None
    estimates: tuple[str, ...] = ()
    combinations: tuple[Combination | None, ...] = ()
    directions: tuple[tuple[float, ...] | tuple[Fraction, ...], ...] = ()
    names: tuple[str, ...] = ()
    intercept: bool = True
    response: str = "labels"
    levels: tuple[Label, ...] = ()
    rows: tuple[int, ...] = ()
    reason: str = ""
    seal: str = ""

    @property
    def separator(self) -> tuple[Any, Any] | None:
        """Weights and bias, or None.

        With two classes w of shape (n_features,) and a number b, positive for the second class; otherwise W of shape
        (n_classes, n_features) and b of shape (n_classes,), the first class being zero. float64; or Fractions in object
        arrays, if floats do not separate.
        """
        if self.vector is None:
            return None
        kind = np.float64 if isinstance(self.vector[0], float) else object
        W = np.zeros((len(self.classes), self.shape[1] + 1), kind)
        W[1:] = np.array(self.vector, kind).reshape(len(self.classes) - 1, -1)
        return (W[1, :-1], W[1, -1]) if len(self.classes) == 2 else (W[:, :-1], W[:, -1])

    @property
    def extreme(self) -> tuple[int, ...]:
        """Rows whose fitted probability tends to 0 or 1 in a logistic model without a penalty.

        All rows if separable, those without a sample on the boundary if quasi-separable, none if overlapping. Of
        counts, the rows whose fitted mean tends to zero.
        """
        if self.verdict not in ("separable", "quasi-separable"):
            return ()
        bound = {self.row(i) for i in self.boundary}
        return tuple(dict.fromkeys(i for i in self.rows or range(self.shape[0]) if i not in bound))

    def row(self, sample: int) -> int:
        """Return the row of the data that a sample comes from."""
        return self.rows[sample] if self.rows else sample

    @property
    def separation(self) -> str:
        """The verdict in the terms of the literature on logistic regression (Albert and Anderson 1984)."""
        return SEPARATIONS[self.verdict]

    @property
    def diverging(self) -> tuple[bool, ...]:
        """Whether each coefficient has no finite estimate, in the order of `vector`; empty if not determined."""
        return tuple(estimate in (POSITIVE, NEGATIVE, INFINITE) for estimate in self.estimates)

    @property
    def coefficients(self) -> Coefficients:
        """The coefficients of a logistic regression and their estimates, as a table."""
        if not self.estimates and describe.NO_ESTIMATES in self.reason:
            raise InvalidInput(f"{self.reason} Pass coefficients=True, time_limit=None to certify.")
        if not self.estimates:
            raise InvalidInput("This certificate has no coefficients. Pass coefficients=True to certify.")
        note = self.reason if UNIDENTIFIED in self.estimates else ""
        extreme, limit = len(self.extreme), "mean of 0" if self.response == "counts" else "probability of 0 or 1"
        return Coefficients(
            self.separation, self.classes, self.names, self.estimates, extreme, note, self.intercept, limit
        )

    def to_frame(self) -> Any:
        """Return `coefficients` as a pandas data frame."""
        return self.coefficients.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a dictionary that JSON can hold exactly."""
        return certificate_json.write({field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def from_dict(cls, data: Any) -> Certificate:
        """Read what `to_dict` returned.

        Raises
        ------
        InvalidInput
            If a field is missing, unknown or malformed. `verify` checks whether the claims hold.
        """
        return cls(**certificate_json.read(data, tuple(field.name for field in fields(cls))))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, atomically."""
        text = json.dumps(self.to_dict(), sort_keys=True, indent=1)
        replace_file(target_of(path), [f"{text}\n".encode()])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a file that `save` wrote.

        Raises
        ------
        InvalidInput
            If the file is not a certificate.
        """
        try:
            data = certificate_json.parse(_read_file(path))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{path} is not a certificate: {error}. Pass a file written by save.") from None
        return cls.from_dict(data)

    @property
    def proof(self) -> str:
        """The verdict and what proves it, in words, without the estimates."""
        return describe.describe_proof(self)

    def __str__(self) -> str:
        """Describe the proof in words."""
        return describe.describe(self)

    def __repr__(self) -> str:
        n, d = self.shape
        return f"<Certificate: {self.verdict}, {describe.counted(n, 'sample')}, {describe.counted(d, 'feature')}>"

    def _repr_html_(self) -> str:
        return describe.as_html(self)


def _read_file(path: str | os.PathLike[str]) -> bytes:
    """Read a regular file of a size that a certificate may have."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a regular file")
        if found.st_size > MAX_FILE_BYTES:
            raise ValueError(f"it has {found.st_size} bytes, more than the limit of {MAX_FILE_BYTES}")
        return file.read(MAX_FILE_BYTES)


def issue(signed: SignedRows, classes: tuple[Label, ...], **claims: Any) -> Certificate:
    """Return a certificate on some data: a `draft` with the digest of the data and the seal.

    Whether the claims hold is checked by `rosenblatt.prover.certificates.verify`, not here.
    """
    written = draft(signed, classes, **claims)
    written = replace(written, digest=digest(signed.table, signed.label, written.layout))
    return replace(written, seal=seal_of(written.to_dict()))


def draft(signed: SignedRows, classes: tuple[Label, ...], **claims: Any) -> Certificate:
    """Return a certificate without digest and seal: claims with their consequences, such as radius and mistake bound.

    `claims` are fields of `Certificate`: the verdict and its witnesses, in any sequences. A `vector` that contains a
    float is stored as floats, otherwise as Fractions.
    """
    layout = "sparse" if isinstance(signed.table.rows, Csr) else "dense"
    claims.setdefault("radius", outer_radius(signed))
    for name in ("support", "rivals", "multipliers"):
        claims[name] = tuple(int(v) for v in claims.get(name, ()))
    if claims.get("vector") is not None:
        claims["vector"] = _weights(claims["vector"])
    claims["directions"] = tuple(_weights(vector) for vector in claims.get("directions", ()))
    if claims["verdict"] == "quasi-separable":
        zero = np.flatnonzero(signed.signs(direction(claims["vector"])) == 0)
        claims["boundary"] = tuple(np.unique(signed.split(zero)[0]).tolist())
    augmented = claims.get("augmented")
    if augmented is not None:
        claims.setdefault("mistake_bound", mistake_bound(claims["radius"], augmented.lower))
    claims["rows"] = tuple(int(i) for i in claims.get("rows", ()))
    if claims["support"] and signed.classes == 2 and signed.constant:
        claims["point"] = common_point(signed, claims["support"], claims["multipliers"])
    shape = (signed.samples, signed.features)
    claims |= {"arithmetic": signed.arithmetic, "intercept": bool(signed.constant), "layout": layout}
    return Certificate(shape=shape, classes=classes, digest="", **claims)


def _weights(vector: Any) -> tuple[float, ...] | tuple[Fraction, ...]:
    if any(isinstance(v, float) for v in vector):
        return tuple(float(v) for v in vector)
    return tuple(Fraction(v) for v in vector)


# ----------------------------------------------------------------------------------------------------------- digest


def digest(table: Table, label: Array, layout: str) -> str:
    """Return the SHA-256 of the shape, class numbers and values of labelled samples, in hexadecimal.

    The layout, "dense" or "sparse", says which form of the rows is hashed; either can be computed from either storage.
    """
    n, d = table.shape
    state = hashlib.sha256(f"rosenblatt\n{layout}\n{n}\n{d}\n".encode())
    state.update(np.ascontiguousarray(label, "<i8").data)
    rows = table.rows
    if table.exact is not None:
        state.update(_rational_text(table, layout).encode())
        return state.hexdigest()
    if isinstance(rows, Csr) and layout == "sparse":
        count = max(1, HASH_BLOCK_BYTES * n // (rows.data.size + 1))
        for start in range(0, n, count):
            pointers = rows.indptr[start : start + count + 1]
            stored = slice(pointers[0], pointers[-1])
            state.update(sparse_bytes(np.diff(pointers), rows.indices[stored], rows.data[stored]))
        return state.hexdigest()
    count = max(1, HASH_BLOCK_BYTES // (8 * d))
    buffer = np.empty((min(count, n), d), "<f8")
    for start in range(0, n, count):
        block = buffer[: n - start]
        if isinstance(rows, Dense):
            np.add(rows.X[start : start + count], 0.0, out=block)  # -0.0 becomes 0.0
        else:
            block[:] = 0.0
            gather(rows, np.arange(start, start + len(block)), np.ones(len(block)), block)
            block += 0.0
        if layout == "dense":
            state.update(block.data)
        else:
            place = np.flatnonzero(block)
            lengths = np.bincount(place // d, minlength=len(block))
            state.update(sparse_bytes(lengths, place % d, block.reshape(-1)[place]))
    return state.hexdigest()


def _rational_text(table: Table, layout: str) -> str:
    """Return exact values in lowest terms as text, a line per row; sparse: with columns and without zeros."""
    n, d = table.shape
    lines = []
    exact = cast(Array, table.exact)
    for i in range(n):
        if isinstance(table.rows, Dense):
            values = dict(enumerate(exact[i].tolist()))
        else:
            place = slice(table.rows.indptr[i], table.rows.indptr[i + 1])
            values = dict(zip(table.rows.indices[place].tolist(), exact[place].tolist(), strict=True))
        if layout == "dense":
            cells = [str(values.get(j, 0)) for j in range(d)]
        else:
            cells = [f"{j}:{value}" for j, value in values.items() if value]
        lines.append(",".join(cells) + "\n")
    return "".join(lines)


def sparse_bytes(lengths: Array, columns: Array, values: Array) -> bytes:
    """Return rows as count, columns and values of eight bytes each, without stored zeros."""
    row = np.repeat(np.arange(lengths.size), lengths)
    kept = values != 0
    row, columns, values = row[kept], columns[kept], values[kept]
    lengths = np.bincount(row, minlength=lengths.size)
    before = np.cumsum(lengths) - lengths
    start = 2 * before + np.arange(lengths.size)
    out = np.empty(lengths.size + 2 * row.size, "<u8")
    out[start] = lengths
    place = start[row] + 1 + np.arange(row.size) - before[row]
    out[place] = columns
    out[place + lengths[row]] = values.astype("<f8").view("<u8")
    return out.tobytes()
