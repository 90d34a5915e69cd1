"""Certificates: what was proved about a data set, in a form that a stranger can check in exact arithmetic.

A certificate holds the verdict and its witnesses: a separator, or points of the classes whose hulls meet. `verify`
believes none of it: it computes every claim anew from the data, over the rationals. The file format is described in
docs/reference/certificates.md; tools/check_certificate.py checks such files with nothing but the standard library.
"""

from __future__ import annotations

import hashlib
import itertools
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
from rosenblatt.data.labels import as_labels
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.exact.rational import pivots
from rosenblatt.exact.signed_rows import SignedRows
from rosenblatt.proof.brackets import (
    Bracket,
    augmented,
    augmented_bracket,
    combine,
    direction,
    geometric,
    margin_bracket,
    mistake_bound,
    outer_radius,
    radius_holds,
    root_above,
    root_below,
)
from rosenblatt.proof.certificate_json import HASH, Reader, integer_text, real_text
from rosenblatt.storage.atomic import replace_file

__all__ = [
    "ARITHMETICS",
    "Bracket",
    "Certificate",
    "as_names",
    "augmented_bracket",
    "digest",
    "issue",
    "margin_bracket",
    "mistake_bound",
    "outer_radius",
    "prepare",
    "root_above",
    "root_below",
    "verify",
]

Array = npt.NDArray[Any]
Label = int | float | str | bool | None

FORMAT, VERSION = "rosenblatt-certificate", 1
VERDICTS = ("separable", "quasi-separable", "overlapping", "undecided")
LAYOUTS = ("dense", "sparse")
ARITHMETICS = ("binary", "decimal")
MOST_BYTES = 1 << 31  # a longer file is no certificate
BLOCK = 1 << 18  # bytes that are hashed at a time: they stay in the processor's cache
FEW = 6  # points that a printed proof names


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
        Why the question is undecided.
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
        """Give the certificate as JSON can hold it exactly."""
        body: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        for field in fields(self):
            body[field.name] = _plain(field.name, getattr(self, field.name))
        return body

    @classmethod
    def from_dict(cls, data: Any) -> Certificate:
        """Read what `to_dict` gave.

        Raises
        ------
        InvalidInput
            If a field is missing, unknown or not of its form. Whether the claims hold is for `verify` to say.
        """
        return _read(data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file; it appears whole or not at all."""
        text = json.dumps(self.to_dict(), sort_keys=True, indent=1)
        replace_file(Path(path), [f"{text}\n".encode()])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a file that `save` wrote.

        Raises
        ------
        InvalidInput
            If the file is not a certificate.
        """
        size = os.path.getsize(path)
        if size > MOST_BYTES:
            raise InvalidInput(f"{path} has {size} bytes, too many for a certificate. Pass a file written by save.")
        try:
            data = json.loads(Path(path).read_bytes())
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{path} is not a certificate: {error}. Pass a file written by save.") from None
        return cls.from_dict(data)

    def __str__(self) -> str:
        """Tell the proof in words."""
        return _tell(self)


def issue(signed: SignedRows, classes: tuple[Label, ...], **claims: Any) -> Certificate:
    """Write a certificate on some data: add digest, radius, boundary, mistake bound, common point and seal.

    Parameters
    ----------
    signed : SignedRows
    classes : tuple
        As `prepare` gave them.
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
        arithmetic=ARITHMETICS[signed.decimal],
        shape=(signed.samples, signed.features),
        classes=classes,
        layout=layout,
        digest=digest(signed.table, signed.label, layout),
        **claims,
    )
    if draft.support and signed.classes == 2:
        draft = replace(draft, point=_common_point(draft, signed))
    return replace(draft, seal=_seal(draft.to_dict()))


def prepare(X: Any, y: Any, decimal: bool = False) -> tuple[SignedRows, tuple[Label, ...]]:
    """Validate labelled samples.

    Returns
    -------
    signed : SignedRows
    classes : tuple
        The labels in sorted order, as JSON can hold them; (None, label) where there is only one, and all samples are
        then of the second class.
    """
    table = as_table(X)
    found, label = as_labels(y, table.shape[0])
    classes = as_names(found)
    if len(classes) == 1:
        return SignedRows(table, np.ones(table.shape[0], np.int64), 2, decimal=decimal), (None, *classes)
    return SignedRows(table, label, len(classes), decimal=decimal), classes


def as_names(classes: Array) -> tuple[Label, ...]:
    """Give labels as JSON can hold them."""
    return tuple(name if isinstance(name, int | float | str) else str(name) for name in classes.tolist())


# -------------------------------------------------------------------------------------------------- digest and seal


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
    if isinstance(rows, Csr) and layout == "sparse":
        count = max(1, BLOCK * n // (rows.data.size + 1))
        for start in range(0, n, count):
            pointers = rows.indptr[start : start + count + 1]
            stored = slice(pointers[0], pointers[-1])
            state.update(_sparse_bytes(np.diff(pointers), rows.indices[stored], rows.data[stored]))
        return state.hexdigest()
    count = max(1, BLOCK // (8 * d))
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


def _seal(body: dict[str, Any]) -> str:
    """Hash all fields but the seal in canonical JSON."""
    rest = {key: value for key, value in body.items() if key != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


# ---------------------------------------------------------------------------------------------- writing and reading


def _plain(name: str, value: Any) -> Any:
    """Give the value of a field as JSON can hold it."""
    if isinstance(value, Bracket):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return {key: _plain(f"{name}.{key}", part) for key, part in parts.items()}
    if name in ("radius", "margin.lower", "margin.upper", "augmented.lower", "augmented.upper"):
        return real_text(value)
    if value is None or name == "mistake_bound":
        return value if value is None else integer_text(value)
    if name == "multipliers":
        return [integer_text(v) for v in value]
    if name == "null_basis":
        return [[integer_text(v) for v in vector] for vector in value]
    if name in ("vector", "point", "margin.w", "margin.weights", "augmented.w", "augmented.weights"):
        return [real_text(v) for v in value]
    return list(value) if isinstance(value, tuple) else value


def _read(data: Any) -> Certificate:
    """Read every field of a certificate, strictly."""
    names = {"format", "version", *(field.name for field in fields(Certificate))}
    if not isinstance(data, dict) or set(data) != names or data["format"] != FORMAT or data["version"] != VERSION:
        found = sorted(map(str, data))[:8] if isinstance(data, dict) else type(data).__name__
        raise InvalidInput(
            f"{found} is not a certificate of version {VERSION}: it must have the fields {', '.join(sorted(names))}. "
            "Pass a file written by Certificate.save."
        )
    read = Reader(data)
    shape = read.numbers("shape", 1 << 62, (2,))
    if min(shape) < 1:
        raise read.refuse("shape", "two positive numbers")
    classes = read.items("classes")
    plain = all(type(name) in (int, float, str, bool) for name in classes[len(classes) == 2 and classes[0] is None :])
    if len(classes) < 2 or not plain:
        raise read.refuse("classes", "two or more labels")
    samples, width = shape[0], (len(classes) - 1) * (shape[1] + 1)
    support = read.numbers("support", samples)
    multipliers = tuple(read.integer("multipliers", v) for v in read.items("multipliers", (len(support),)))
    if not all(v > 0 for v in multipliers):
        raise read.refuse("multipliers", "positive")
    basis = [vector for vector in read.items("null_basis") if isinstance(vector, list) and len(vector) == width]
    if len(basis) != len(data["null_basis"]) or len(basis) > width:
        raise read.refuse("null_basis", f"at most {width} lists of {width} integers")
    boundary = read.numbers("boundary", samples)
    if any(j <= i for i, j in itertools.pairwise(boundary)):
        raise read.refuse("boundary", "ascending")
    diverging = read.items("diverging", (0, width))
    if not all(isinstance(v, bool) for v in diverging):
        raise read.refuse("diverging", "true and false")
    bound = None if data["mistake_bound"] is None else read.integer("mistake_bound", data["mistake_bound"])
    radius = read.real("radius", data["radius"])
    if not 1 <= radius < math.inf or (bound is not None and bound < 0):
        raise read.refuse("radius", "at least 1 and finite, and the mistake bound not negative")
    return Certificate(
        verdict=read.choice("verdict", VERDICTS),
        arithmetic=read.choice("arithmetic", ARITHMETICS),
        shape=(shape[0], shape[1]),
        classes=tuple(classes),
        layout=read.choice("layout", LAYOUTS),
        digest=read.text("digest", HASH),
        radius=radius,
        vector=None if data["vector"] is None else read.vector("vector", (width,)),
        boundary=boundary,
        support=support,
        rivals=read.numbers("rivals", len(classes), (len(support),)),
        multipliers=multipliers,
        point=read.reals("point", (0, shape[1])),
        null_basis=tuple(tuple(read.integer("null_basis", v) for v in vector) for vector in basis),
        margin=read.bracket("margin", samples, width),
        augmented=read.bracket("augmented", samples, width),
        mistake_bound=bound,
        diverging=tuple(diverging),
        reason=read.text("reason"),
        seal=read.text("seal", HASH),
    )


# ------------------------------------------------------------------------------------------------------ verification


def verify(certificate: Certificate, X: Any, y: Any) -> bool:
    """Check every claim of a certificate against the data, in exact arithmetic, trusting nothing.

    Parameters
    ----------
    certificate : Certificate
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The data, stored in any form.
    y : array-like of shape (n_samples,)

    Returns
    -------
    bool
        True if the certificate is intact, was issued for this very data, and all that it claims is true. An undecided
        one claims nothing and proves nothing: False.

    Raises
    ------
    InvalidInput
        If X or y cannot be used at all.
    """
    if not isinstance(certificate, Certificate):
        raise InvalidInput(f"{type(certificate).__name__} is not a Certificate. Read files with Certificate.load.")
    try:
        certificate = Certificate.from_dict(certificate.to_dict())
    except (InvalidInput, AttributeError, TypeError, ValueError):
        prepare(X, y)
        return False
    signed, classes = prepare(X, y, certificate.arithmetic == "decimal")
    return (
        certificate.seal == _seal(certificate.to_dict())
        and certificate.shape == signed.table.shape
        and certificate.classes == classes
        and certificate.digest == digest(signed.table, signed.label, certificate.layout)
        and _PROOFS[certificate.verdict](certificate, signed)
        and radius_holds(certificate.radius, signed)
        and _brackets_hold(certificate, signed)
    )


def _proves_separable(certificate: Certificate, signed: SignedRows) -> bool:
    """Whether the separator is positive on all signed rows, and nothing contradicts it."""
    clear = not (certificate.support or certificate.boundary or certificate.null_basis or certificate.point)
    return clear and certificate.vector is not None and bool((signed.signs(direction(certificate.vector)) > 0).all())


def _proves_quasi(certificate: Certificate, signed: SignedRows) -> bool:
    """Whether the weak separator is one, vanishes where it is said to, and no strict one exists."""
    if certificate.vector is None or certificate.null_basis:
        return False
    signs = signed.signs(direction(certificate.vector))
    boundary = np.unique(signed.split(np.flatnonzero(signs == 0))[0])
    weak = bool((signs >= 0).all() and (signs > 0).any())
    return weak and tuple(boundary.tolist()) == certificate.boundary and _vanishes(certificate, signed)


def _proves_overlap(certificate: Certificate, signed: SignedRows) -> bool:
    """Whether the support spans all directions in which the signed rows differ from zero."""
    if certificate.vector is not None or certificate.boundary or not _vanishes(certificate, signed):
        return False
    basis = certificate.null_basis
    if any(signed.signs(list(v)).any() for v in basis):
        return False
    rows = [signed.integers(k)[0] for k in _support(certificate, signed)]
    columns = sorted(set().union(*rows))  # those of wide, sparse data that matter
    spanned = [[row.get(j, 0) for j in columns] for row in rows]
    # A rank found modulo a prime is never too large, and all of it is needed.
    return _rank(spanned) + len(basis) == signed.width and _rank([list(v) for v in basis]) == len(basis)


def _proves_nothing(certificate: Certificate, signed: SignedRows) -> bool:
    return False


_PROOFS = {
    "separable": _proves_separable,
    "quasi-separable": _proves_quasi,
    "overlapping": _proves_overlap,
    "undecided": _proves_nothing,
}


def _rank(rows: list[list[int]]) -> int:
    return len(pivots(rows)[0]) if rows else 0


def _support(certificate: Certificate, signed: SignedRows) -> list[int]:
    return [int(signed.number(i, r)) for i, r in zip(certificate.support, certificate.rivals, strict=True)]


def _vanishes(certificate: Certificate, signed: SignedRows) -> bool:
    """Gordan (1873): whether positive multiples of signed rows add up to zero, so that no w is positive on them all."""
    if not certificate.support or any(signed.label[list(certificate.support)] == certificate.rivals):
        return False
    sums, _ = combine(signed, _support(certificate, signed), certificate.multipliers)
    if sums:
        return False
    return certificate.point == (_common_point(certificate, signed) if signed.classes == 2 else ())


def _common_point(certificate: Certificate, signed: SignedRows) -> tuple[float, ...]:
    """Give the point at which the support shows that the hulls meet, each coordinate rounded once."""
    own = [t for t, i in enumerate(certificate.support) if signed.label[i] == 1]
    factors = [certificate.multipliers[t] for t in own]
    sums, scale = combine(signed, [certificate.support[t] for t in own], factors)
    return tuple(float(sums.get(j, 0) * scale / sum(factors)) for j in range(signed.features))


def _brackets_hold(certificate: Certificate, signed: SignedRows) -> bool:
    """Whether the witnesses prove the bounds, and the mistake bound follows from them."""
    for bounds, claim in ((geometric, certificate.margin), (augmented, certificate.augmented)):
        if claim is None:
            continue
        if certificate.verdict != "separable" or signed.classes != 2:
            return False
        try:
            lower, upper = bounds(signed, claim.w, claim.rows, claim.weights)
        except InvalidInput:
            return False
        if not claim.lower <= lower or not claim.upper >= upper:
            return False
    lower = certificate.augmented.lower if certificate.augmented else 0.0
    return certificate.mistake_bound == mistake_bound(certificate.radius, lower)


# ------------------------------------------------------------------------------------------------------------- words


def _tell(certificate: Certificate) -> str:
    """Tell a proof in a few sentences."""
    n, d = certificate.shape
    told = {"separable": "separable", "undecided": "undecided"}.get(certificate.verdict, "not separable")
    if told == "not separable":
        told += f": {certificate.verdict}"
    lines = [f"{n} samples, {d} features, {certificate.arithmetic} values: {told}."]
    if certificate.verdict == "undecided":
        return f"{lines[0]} {certificate.reason}".rstrip()
    if certificate.support:
        lines.append(_tell_support(certificate))
    if certificate.vector is not None:
        lines.append(_tell_separator(certificate))
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
    return "\n".join(lines)


def _some(parts: Sequence[str], joint: str = ", ") -> str:
    """Join the first few."""
    rest = len(parts) - FEW
    return joint.join(parts[:FEW]) + (f"{joint}... ({rest} more)" if rest > 0 else "")


def _share(share: Fraction) -> str:
    """Write a weight: as a fraction while that is short."""
    if share == 1:
        return ""
    return f"{share} " if share.denominator <= 1000 else f"{float(share):.4g} "


def _tell_support(certificate: Certificate) -> str:
    """Tell at which point the hulls meet, or which signed rows cancel."""
    terms = list(zip(certificate.support, certificate.rivals, certificate.multipliers, strict=True))
    count = f"These {len(terms)} rows prove it"
    if len(certificate.classes) > 2:
        total = sum(certificate.multipliers)
        shown = _some(
            [f"{_share(Fraction(m, total))}(row {i} against {certificate.classes[r]!r})" for i, r, m in terms]
        )
        return f"{count}: no weights can score all of them right, since their differences cancel: {shown}."
    sides = []
    for rival in (0, 1):
        own = [(i, m) for i, r, m in terms if r == rival]
        total = sum(m for _, m in own)
        sides.append([(i, Fraction(m, total)) for i, m in own])
    if all(len(side) == 1 for side in sides):
        told = f"row {sides[0][0][0]} equals row {sides[1][0][0]}, which has the other label"
    elif all(len(side) == 2 and side[0][1] == side[1][1] for side in sides):
        pairs = [f"the midpoint of rows {side[0][0]} and {side[1][0]}" for side in sides]
        told = " equals ".join(pairs)
    else:
        told = " = ".join(_some([f"{_share(share)}x[{i}]" for i, share in side], " + ") for side in sides)
    where = f". The hulls of the two classes meet at ({_some([f'{v:.6g}' for v in certificate.point])})"
    return f"{count}: {told}{where if certificate.point else ''}."


def _tell_separator(certificate: Certificate) -> str:
    """Tell the weights, and where they vanish."""
    w, b = cast(tuple[Any, Any], certificate.separator)
    kind = "weak separator" if certificate.verdict == "quasi-separable" else "separator"
    if len(certificate.classes) == 2:
        told = f"The {kind} w = ({_some([f'{float(v):.6g}' for v in w])}), b = {float(b):.6g}"
        above = f"w.x + b > 0 for label {certificate.classes[1]!r} and < 0 for the others"
    else:
        told, above = f"The {kind} has a weight vector for each of {len(certificate.classes)} classes", "own class wins"
    if certificate.verdict == "separable":
        return f"{told}: {above}."
    zeros = _some([str(i) for i in certificate.boundary])
    return f"{told} has no sample on its wrong side; {len(certificate.boundary)} are on it: {zeros}."
