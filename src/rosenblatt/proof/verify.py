"""Verification of certificates: every claim is computed anew from the data, over the rationals.

Nothing of the certificate is believed, and nothing of the search is imported. What this file relies on is exact
arithmetic (`rosenblatt.exact`), the bounds that witnesses prove (`rosenblatt.proof.brackets`) and the hash of the data.
tools/check_certificate.py does the same with nothing but the standard library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.exact.rational import pivots
from rosenblatt.exact.signed_rows import SignedRows
from rosenblatt.proof.brackets import (
    augmented_bounds,
    combine,
    common_point,
    direction,
    geometric_bounds,
    mistake_bound,
    radius_holds,
)
from rosenblatt.proof.certificate import Certificate, digest, prepare
from rosenblatt.proof.certificate_json import seal_of


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
    if certificate.arithmetic == "rational" and certificate.digest != digest(
        signed.table, signed.label, certificate.layout
    ):
        signed, classes = prepare(X, y, decimal=True)  # floats among the other numbers were read as decimals
    return (
        certificate.seal == seal_of(certificate.to_dict())
        and certificate.shape == signed.table.shape
        and certificate.classes == classes
        and certificate.arithmetic == signed.arithmetic
        and certificate.digest == digest(signed.table, signed.label, certificate.layout)
        and _PROOFS[certificate.verdict](certificate, signed)
        and radius_holds(certificate.radius, signed)
        and _brackets_hold(certificate, signed)
    )


def _proves_separable(certificate: Certificate, signed: SignedRows) -> bool:
    """Check that the separator is positive on all signed rows, and that nothing else is claimed."""
    clear = not (certificate.support or certificate.boundary or certificate.null_basis or certificate.point)
    return clear and certificate.vector is not None and bool((signed.signs(direction(certificate.vector)) > 0).all())


def _proves_quasi(certificate: Certificate, signed: SignedRows) -> bool:
    """Check that the weak separator is one, that it vanishes where it is said to, and that no strict one exists."""
    if certificate.vector is None or certificate.null_basis:
        return False
    signs = signed.signs(direction(certificate.vector))
    boundary = np.unique(signed.split(np.flatnonzero(signs == 0))[0])
    weak = bool((signs >= 0).all() and (signs > 0).any())
    return weak and tuple(boundary.tolist()) == certificate.boundary and _vanishes(certificate, signed)


def _proves_overlap(certificate: Certificate, signed: SignedRows) -> bool:
    """Check that the support spans all directions in which the signed rows differ from zero."""
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
    """Check that positive multiples of signed rows add up to zero, so no w is positive on all of them (Gordan 1873)."""
    if not certificate.support or any(signed.label[list(certificate.support)] == certificate.rivals):
        return False
    sums, _ = combine(signed, _support(certificate, signed), certificate.multipliers)
    if sums:
        return False
    point = common_point(signed, certificate.support, certificate.multipliers) if signed.classes == 2 else ()
    return certificate.point == point


def _brackets_hold(certificate: Certificate, signed: SignedRows) -> bool:
    """Check that the witnesses prove the bounds, and that the mistake bound follows from them."""
    for bounds, claim in ((geometric_bounds, certificate.margin), (augmented_bounds, certificate.augmented)):
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
