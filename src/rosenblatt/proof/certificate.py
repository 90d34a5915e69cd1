"""Certificates: what was proved about a data set, in a form that anybody can check in exact arithmetic.

A certificate holds the verdict and its witnesses: a separator, or points of the classes whose hulls meet.
`rosenblatt.proof.verify` checks it. The file format is described in docs/reference/certificates.md.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.epochs import Csr, Dense, gather
from rosenblatt.data.labels import as_labels, as_names
from rosenblatt.data.table import Table
from rosenblatt.errors import InvalidInput
from rosenblatt.exact.numbers import exact_table
from rosenblatt.exact.signed_rows import SignedRows
from rosenblatt.proof import certificate_json
from rosenblatt.proof.brackets import Bracket, common_point, direction, mistake_bound, outer_radius
from rosenblatt.proof.certificate_json import seal_of
from rosenblatt.storage.atomic import replace_file, target_of
from rosenblatt.words import brief

Array = npt.NDArray[Any]
Label = int | float | str | bool | None

MAX_FILE_BYTES = 1 << 31  # a longer file is no certificate
HASH_BLOCK_BYTES = 1 << 18  # bytes that are hashed at a time: they stay in the processor's cache
SHOWN_ITEMS = 6  # points, weights or samples that a printed proof names


# ------------------------------------------------------------------------------------------------------ the record


@dataclass(frozen=True)
class Certificate:
    """Is a data set linearly separable, and what proves it.

    With classes numbered in sorted order, a signed row is (e_y - e_r) (x) (x, 1) for a sample of class y and a rival
    class r, without the block of class 0; see `rosenblatt.exact.signed_rows`. With two classes that is y (x, 1).

    Attributes
    ----------
    verdict : str
        "separable": some w makes w.z > 0 for every signed row z. "quasi-separable": w.z >= 0 for all and > 0 for
        some, but never > 0 for all. "overlapping": neither. "undecided": nothing is claimed, see `reason`.
    arithmetic : str
        "binary": values are the floats that they are. "decimal": values are the shortest decimals that round to them.
        "rational": values are the integers and fractions that they are, some of which no float holds.
    shape : (int, int)
        Samples and features.
    classes : tuple
        Labels in sorted order. (None, label) where there is only one.
    vector : tuple of float or of Fraction, optional
        The separator, or the weak separator of quasi-separable data, of length (classes - 1) (features + 1); see
        `separator` for a handier form.
    boundary : tuple of int
        Quasi-separable: the samples with a signed row on which the separator is zero.
    support, rivals, multipliers : tuples of int
        Not separable: samples, the rival class of each, and positive integers; the signed rows times these integers
        add up to zero.
    point : tuple of float
        Two classes, not separable: the common point of the two hulls, each coordinate correctly rounded.
    null_basis : tuple of tuples of int
        Overlapping: the directions in which all signed rows vanish, if there are any.
    margin, augmented : Bracket, optional
        Separable, two classes: the geometric margin, half the distance of the hulls; and the largest
        min z.w / |w| with the bias part of w, the one in the perceptron's mistake bound.
    radius : float
        The largest |(x, 1)|, rounded up.
    mistake_bound : int, optional
        Mistakes that no perceptron run from zero exceeds: floor(radius^2 / augmented.lower^2).
    diverging : tuple of bool
        Coefficients, in the order of `vector`, that have no finite maximum-likelihood estimate in a logistic model;
        empty if unknown. Advice: `verify` cannot confirm it.
    reason : str
        Why the question is undecided; or what the verdict means for the kernel that was asked about. Advice as well.
    layout, digest : str
        "dense" or "sparse": which form of the data the digest, a SHA-256 in hexadecimal, is of.
    seal : str
        SHA-256 of everything else. Guards against accidents, not against lies.
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
    null_basis: tuple[tuple[int, ...], ...] = ()
    margin: Bracket | None = None
    augmented: Bracket | None = None
    mistake_bound: int | None = None
    diverging: tuple[bool, ...] = ()
    reason: str = ""
    seal: str = ""

    @property
    def separator(self) -> tuple[Any, Any] | None:
        """Weights and bias, or None.

        With two classes w of shape (n_features,) and a number b, positive for the second class; otherwise W of shape
        (n_classes, n_features) and b of shape (n_classes,), the first class being zero. float64, or Fractions in
        object arrays where no float would do.
        """
        if self.vector is None:
            return None
        kind = np.float64 if isinstance(self.vector[0], float) else object
        W = np.zeros((len(self.classes), self.shape[1] + 1), kind)
        W[1:] = np.array(self.vector, kind).reshape(len(self.classes) - 1, -1)
        return (W[1, :-1], W[1, -1]) if len(self.classes) == 2 else (W[:, :-1], W[:, -1])

    @property
    def extreme(self) -> tuple[int, ...]:
        """Samples whose fitted probability tends to 0 or 1 in a logistic model without a penalty.

        All if separable; if quasi-separable, those off the boundary; none if overlapping.
        """
        if self.verdict not in ("separable", "quasi-separable"):
            return ()
        bound = set(self.boundary)
        return tuple(i for i in range(self.shape[0]) if i not in bound)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON can hold it exactly."""
        return certificate_json.write({field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def from_dict(cls, data: Any) -> Certificate:
        """Read what `to_dict` returned.

        Raises
        ------
        InvalidInput
            If a field is missing, unknown or not of its form. Whether the claims hold is for `verify` to check.
        """
        return cls(**certificate_json.read(data, tuple(field.name for field in fields(cls))))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file; it appears whole or not at all."""
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
        size = os.path.getsize(path)
        if size > MAX_FILE_BYTES:
            raise InvalidInput(f"{path} has {size} bytes, too many for a certificate. Pass a file written by save.")
        try:
            data = json.loads(Path(path).read_bytes())
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{path} is not a certificate: {error}. Pass a file written by save.") from None
        return cls.from_dict(data)

    def __repr__(self) -> str:
        """Return the certificate in a few lines: of long witnesses the first numbers."""
        return brief(self)

    def __str__(self) -> str:
        """Describe the proof in words."""
        return _describe(self)


def issue(signed: SignedRows, classes: tuple[Label, ...], **claims: Any) -> Certificate:
    """Write a certificate on some data: add digest, radius, boundary, mistake bound, common point and seal.

    Parameters
    ----------
    signed : SignedRows
    classes : tuple
        As `prepare` returns them.
    **claims
        Fields of `Certificate`: the verdict and its witnesses, in any sequences. A `vector` with a float in it is one
        of floats, otherwise it is exact.

    Returns
    -------
    Certificate
    """
    layout = "sparse" if isinstance(signed.table.rows, Csr) else "dense"
    claims.setdefault("radius", outer_radius(signed))
    for name in ("support", "rivals", "multipliers"):
        claims[name] = tuple(int(v) for v in claims.get(name, ()))
    claims["null_basis"] = tuple(tuple(int(v) for v in vector) for vector in claims.get("null_basis", ()))
    claims["diverging"] = tuple(bool(v) for v in claims.get("diverging", ()))
    if claims.get("vector") is not None:
        kind = float if any(isinstance(v, float) for v in claims["vector"]) else Fraction
        claims["vector"] = tuple(kind(v) for v in claims["vector"])
    if claims["verdict"] == "quasi-separable":
        zero = np.flatnonzero(signed.signs(direction(claims["vector"])) == 0)
        claims["boundary"] = tuple(np.unique(signed.split(zero)[0]).tolist())
    augmented = claims.get("augmented")
    if augmented is not None:
        claims.setdefault("mistake_bound", mistake_bound(claims["radius"], augmented.lower))
    draft = Certificate(
        arithmetic=signed.arithmetic,
        shape=(signed.samples, signed.features),
        classes=classes,
        layout=layout,
        digest=digest(signed.table, signed.label, layout),
        **claims,
    )
    if draft.support and signed.classes == 2:
        draft = replace(draft, point=common_point(signed, draft.support, draft.multipliers))
    return replace(draft, seal=seal_of(draft.to_dict()))


def prepare(X: Any, y: Any, decimal: bool = False) -> tuple[SignedRows, tuple[Label, ...]]:
    """Validate labelled samples.

    Returns
    -------
    signed : SignedRows
    classes : tuple
        The labels in sorted order, as JSON can hold them; (None, label) where there is only one, and all samples are
        then of the second class.
    """
    table = exact_table(X, decimal=decimal)
    found, label = as_labels(y, table.shape[0])
    classes = as_names(found)
    if len(classes) == 1:
        return SignedRows(table, np.ones(table.shape[0], np.int64), 2, decimal=decimal), (None, *classes)
    return SignedRows(table, label, len(classes), decimal=decimal), classes


# ----------------------------------------------------------------------------------------------------------- digest


def digest(table: Table, label: Array, layout: str) -> str:
    """Hash labelled samples: SHA-256 of their shape, class numbers and values, in hexadecimal.

    Parameters
    ----------
    table : Table
    label : int array of shape (n_samples,)
        Class numbers.
    layout : {"dense", "sparse"}
        Which form of the rows to hash; either can be computed from either storage.
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
            state.update(_sparse_bytes(np.diff(pointers), rows.indices[stored], rows.data[stored]))
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
            state.update(_sparse_bytes(lengths, place % d, block.reshape(-1)[place]))
    return state.hexdigest()


def _rational_text(table: Table, layout: str) -> str:
    """Write exact values in lowest terms, a line for each row; with their columns and without zeros if sparse."""
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


def _sparse_bytes(lengths: Array, columns: Array, values: Array) -> bytes:
    """Lay out rows as count, columns, values, eight bytes each, without stored zeros."""
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


# ------------------------------------------------------------------------------------------------------------- words


def _describe(certificate: Certificate) -> str:
    """Describe a proof in a few sentences."""
    n, d = certificate.shape
    verdict = {"separable": "separable", "undecided": "undecided"}.get(
        certificate.verdict, f"not separable: {certificate.verdict}"
    )
    lines = [f"{n} samples, {d} features, {certificate.arithmetic} values: {verdict}."]
    if certificate.verdict == "undecided":
        return f"{lines[0]} {certificate.reason}".rstrip()
    if certificate.support:
        lines.append(_describe_support(certificate))
    if certificate.vector is not None:
        lines.append(_describe_separator(certificate))
    for name, bracket in (("margin", certificate.margin), ("augmented margin", certificate.augmented)):
        if bracket is not None and bracket.lower == math.inf:
            lines.append("There is one class only: the margin has no limit.")
        elif bracket is not None:
            lines.append(f"The {name} is between {bracket.lower:.9g} and {bracket.upper:.9g}.")
    if certificate.mistake_bound is not None:
        lines.append(
            f"All samples are within {certificate.radius:.6g} of the origin, so that a perceptron makes at most "
            f"{certificate.mistake_bound} mistakes."
        )
    if certificate.reason:
        lines.append(certificate.reason)
    return "\n".join(lines)


def _some(parts: Sequence[str], joint: str = ", ") -> str:
    """Join the first few."""
    rest = len(parts) - SHOWN_ITEMS
    return joint.join(parts[:SHOWN_ITEMS]) + (f"{joint}... ({rest} more)" if rest > 0 else "")


def _share(share: Fraction) -> str:
    """Write a weight: as a fraction while that is short."""
    if share == 1:
        return ""
    return f"{share} " if share.denominator <= 1000 else f"{float(share):.4g} "


def _describe_support(certificate: Certificate) -> str:
    """Describe at which point the hulls meet, or which signed rows cancel."""
    count = f"These {len(certificate.support)} rows prove it"
    if len(certificate.classes) > 2:
        cancelling = _describe_cancelling(certificate)
        return f"{count}: no weights can score all of them right, since their differences cancel: {cancelling}."
    where = f". The hulls of the two classes meet at ({_some([f'{v:.6g}' for v in certificate.point])})"
    return f"{count}: {_describe_meeting(certificate)}{where if certificate.point else ''}."


def _describe_cancelling(certificate: Certificate) -> str:
    """List the signed rows of several classes, with their shares of the sum that vanishes."""
    total = sum(certificate.multipliers)
    terms = zip(certificate.support, certificate.rivals, certificate.multipliers, strict=True)
    return _some([f"{_share(Fraction(m, total))}(row {i} against {certificate.classes[r]!r})" for i, r, m in terms])


def _describe_meeting(certificate: Certificate) -> str:
    """Describe the point that is a mean of rows of either class."""
    sides = [_shares(certificate, rival) for rival in (0, 1)]
    if all(len(side) == 1 for side in sides):
        return f"row {sides[0][0][0]} equals row {sides[1][0][0]}, which has the other label"
    if all(len(side) == 2 and side[0][1] == side[1][1] for side in sides):
        return " equals ".join(f"the midpoint of rows {side[0][0]} and {side[1][0]}" for side in sides)
    return " = ".join(_some([f"{_share(share)}x[{i}]" for i, share in side], " + ") for side in sides)


def _shares(certificate: Certificate, rival: int) -> list[tuple[int, Fraction]]:
    """Return the samples of one class in the support, with their shares of the common point."""
    terms = zip(certificate.support, certificate.rivals, certificate.multipliers, strict=True)
    own = [(i, m) for i, r, m in terms if r == rival]
    total = sum(m for _, m in own)
    return [(i, Fraction(m, total)) for i, m in own]


def _describe_separator(certificate: Certificate) -> str:
    """Describe the weights, and where they vanish."""
    w, b = cast(tuple[Any, Any], certificate.separator)
    kind = "weak separator" if certificate.verdict == "quasi-separable" else "separator"
    if len(certificate.classes) == 2:
        weights = f"The {kind} w = ({_some([f'{float(v):.6g}' for v in w])}), b = {float(b):.6g}"
        above = f"w.x + b > 0 for label {certificate.classes[1]!r} and < 0 for the others"
    else:
        weights = f"The {kind} has a weight vector for each of {len(certificate.classes)} classes"
        above = "own class wins"
    if certificate.verdict == "separable":
        return f"{weights}: {above}."
    zeros = _some([str(i) for i in certificate.boundary])
    return f"{weights} has no sample on its wrong side; {len(certificate.boundary)} are on it: {zeros}."
