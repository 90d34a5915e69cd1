"""Certificates: what was proved about a data set, in a form that anybody can check in exact arithmetic.

A certificate holds the verdict and its witnesses: a separator, or points of the classes whose hulls meet.
`rosenblatt.prover.certificates.verify` checks it. The file format is described in docs/reference/certificates.md.
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

from rosenblatt.data.labels import as_labels, as_names
from rosenblatt.data.table import Table
from rosenblatt.engine.reorder import gather
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.certificates import certificate_json, sentences
from rosenblatt.prover.certificates.brackets import Bracket, common_point, direction, mistake_bound, outer_radius
from rosenblatt.prover.certificates.certificate_json import (
    INFINITE,
    NEGATIVE,
    POSITIVE,
    UNIDENTIFIED,
    Combination,
    seal_of,
)
from rosenblatt.prover.certificates.coefficients import Coefficients
from rosenblatt.prover.exact.numbers import exact_table
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.storage.atomic import replace_file, target_of

Array = npt.NDArray[Any]
Label = int | float | str | bool | None

MAX_FILE_BYTES = 1 << 30  # a longer file is no certificate
HASH_BLOCK_BYTES = 1 << 18  # bytes that are hashed at a time: they stay in the processor's cache
# The verdicts in the words of Albert and Anderson (1984).
SEPARATIONS = {
    "separable": "complete separation",
    "quasi-separable": "quasi-complete separation",
    "overlapping": "overlap",
    "undecided": "undecided",
}


# ------------------------------------------------------------------------------------------------------ the record


@dataclass(frozen=True)
class Certificate:
    """Is a data set linearly separable, and what proves it.

    With classes numbered in sorted order, a signed row is (e_y - e_r) (x) (x, 1) for a sample of class y and a rival
    class r, without the block of class 0; see `rosenblatt.prover.exact.signed_rows`. With two classes that is y (x, 1).

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
        Quasi-separable: the samples with a signed row on which the separator is zero. Every other one has it zero there
        too: these signed rows are those in the span of the support.
    support, rivals, multipliers : tuples of int
        Not separable: samples, the rival class of each, and positive integers; the signed rows times these integers
        add up to zero.
    point : tuple of float
        Two classes, not separable: the common point of the two hulls, each coordinate correctly rounded.
    margin, augmented : Bracket, optional
        Separable, two classes: the geometric margin, half the distance of the hulls; and the largest
        min z.w / |w| with the bias part of w, the one in the perceptron's mistake bound.
    radius : float
        The largest |(x, 1)|, rounded up.
    mistake_bound : int, optional
        Mistakes that no perceptron run from zero exceeds: floor(radius^2 / augmented.lower^2).
    estimates : tuple of str
        What a logistic regression without a penalty would estimate for each coefficient, in the order of `vector`:
        "finite"; "+inf" or "-inf"; "+/-inf", if the likelihood does not even fix the sign; or "not identified", if the
        column depends on those before it. Empty if not asked for. See `coefficients` for a table.
    combinations : tuple of Combination or None
        For each coefficient at "+inf" or "-inf": signed rows whose sum, with these multipliers, has nothing but this
        coefficient.
    directions : tuple of vectors
        Weak separators, among which each coefficient at "+/-inf" has both signs.
    names : tuple of str
        The features, if the data came with names. Not proved.
    reason : str
        Why the question is undecided; or what the verdict means for the kernel that was asked about; or what dependent
        columns are made of. Advice as well. Not proved.
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
    margin: Bracket | None = None
    augmented: Bracket | None = None
    mistake_bound: int | None = None
    estimates: tuple[str, ...] = ()
    combinations: tuple[Combination | None, ...] = ()
    directions: tuple[tuple[float, ...] | tuple[Fraction, ...], ...] = ()
    names: tuple[str, ...] = ()
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

    @property
    def separation(self) -> str:
        """The verdict in the words of the literature on logistic regression (Albert and Anderson 1984)."""
        return SEPARATIONS[self.verdict]

    @property
    def diverging(self) -> tuple[bool, ...]:
        """Whether each coefficient has no finite estimate, in the order of `vector`; empty if not asked for."""
        return tuple(estimate in (POSITIVE, NEGATIVE, INFINITE) for estimate in self.estimates)

    @property
    def coefficients(self) -> Coefficients:
        """A table of the coefficients of a logistic regression, and what becomes of their estimates."""
        if not self.estimates and sentences.NO_ESTIMATES in self.reason:
            raise InvalidInput(f"{self.reason} Ask for them, and allow time: coefficients=True, time_limit=None.")
        if not self.estimates:
            raise InvalidInput(
                "This certificate says nothing about coefficients. Ask for them with certify(..., coefficients=True)."
            )
        note = self.reason if UNIDENTIFIED in self.estimates else ""
        return Coefficients(self.separation, self.classes, self.names, self.estimates, len(self.extreme), note)

    def to_frame(self) -> Any:
        """Return `coefficients` as a pandas data frame."""
        return self.coefficients.to_frame()

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
        try:
            data = certificate_json.parse(_read_file(path))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{path} is not a certificate: {error}. Pass a file written by save.") from None
        return cls.from_dict(data)

    def __str__(self) -> str:
        """Describe the proof in words."""
        return sentences.describe(self)

    def __repr__(self) -> str:
        n, d = self.shape
        return f"<Certificate: {self.verdict}, {sentences.counted(n, 'sample')}, {sentences.counted(d, 'feature')}>"

    def _repr_html_(self) -> str:
        return sentences.as_html(self)


def _read_file(path: str | os.PathLike[str]) -> bytes:
    """Read a regular file of a size that a certificate may have."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no regular file")
        if found.st_size > MAX_FILE_BYTES:
            raise ValueError(f"it has {found.st_size} bytes, and at most {MAX_FILE_BYTES} are read")
        return file.read(MAX_FILE_BYTES)


def issue(signed: SignedRows, classes: tuple[Label, ...], **claims: Any) -> Certificate:
    """Write a certificate on some data: add to a `draft` the digest of the data and the seal.

    Whether the claims hold is for `rosenblatt.prover.certificates.verify` to say.
    """
    written = draft(signed, classes, **claims)
    written = replace(written, digest=digest(signed.table, signed.label, written.layout))
    return replace(written, seal=seal_of(written.to_dict()))


def draft(signed: SignedRows, classes: tuple[Label, ...], **claims: Any) -> Certificate:
    """Write down claims on some data, and what follows from them: radius, boundary, mistake bound, common point.

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
        Without digest and seal.
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
    if claims["support"] and signed.classes == 2:
        claims["point"] = common_point(signed, claims["support"], claims["multipliers"])
    shape = (signed.samples, signed.features)
    return Certificate(arithmetic=signed.arithmetic, shape=shape, classes=classes, layout=layout, digest="", **claims)


def _weights(vector: Any) -> tuple[float, ...] | tuple[Fraction, ...]:
    if any(isinstance(v, float) for v in vector):
        return tuple(float(v) for v in vector)
    return tuple(Fraction(v) for v in vector)


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
    classes, label = _named(*as_labels(y, table.shape[0]))
    if len(classes) == 1:
        return SignedRows(table, np.ones(table.shape[0], np.int64), 2, decimal=decimal), (None, *classes)
    return SignedRows(table, label, len(classes), decimal=decimal), classes


def _named(found: Array, label: Array) -> tuple[tuple[Any, ...], Array]:
    """Return classes in the order of what JSON can hold of them, and the class number of each row.

    Numbers, texts and truth values are what they are; others, as decimals and dates, go by their texts.
    """
    names = as_names(found)
    if len({bool if isinstance(name, bool) else str if isinstance(name, str) else float for name in names}) > 1:
        names = tuple(map(str, names))
    if len(set(names)) < len(names):
        raise InvalidInput(f"y has different labels that print alike: {names!r:.100}. Use numbers or texts.")
    order = sorted(range(len(names)), key=names.__getitem__)
    return tuple(names[k] for k in order), np.argsort(order)[label]


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


def sparse_bytes(lengths: Array, columns: Array, values: Array) -> bytes:
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
