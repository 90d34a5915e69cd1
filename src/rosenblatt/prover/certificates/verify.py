"""Verification of certificates: every claim is computed again from the data, over the rationals.

Nothing in the certificate is trusted, and no code of the search is imported. This file relies on exact arithmetic
(`rosenblatt.prover.exact`), the bounds that witnesses prove (`brackets`) and the hash of the data.
tools/check_certificate.py does the same with nothing but the standard library.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput, UnprovedClaim
from rosenblatt.prover.certificates.brackets import (
    combine,
    common_point,
    direction,
    margin_bounds,
    mistake_bound,
    radius_holds,
)
from rosenblatt.prover.certificates.certificate import Certificate, digest
from rosenblatt.prover.certificates.certificate_json import (
    FINITE,
    INFINITE,
    NEGATIVE,
    POSITIVE,
    UNIDENTIFIED,
    Combination,
    seal_of,
)
from rosenblatt.prover.designs import FAMILY_OF, read_design
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.exact.spans import dependencies, null_basis, spans


def verify(
    certificate: Certificate,
    X: Any,
    y: Any = None,
    *,
    formula: str | None = None,
    missing: str | None = None,
    sample_weight: Any = None,
    model: Any = None,
) -> bool:
    """Check every claim of a certificate against the data in exact arithmetic, trusting nothing.

    Parameters
    ----------
    certificate : Certificate
        What to check, from anyone.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features); or a model of statsmodels
        The data, in any storage.
    y : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, 2)
        The labels or counts.
    formula, missing, sample_weight, model
        Those that the certificate was issued for, if there were any; see `certify`.

    Returns
    -------
    bool
        True if the certificate is intact, was issued for exactly this data, and all its claims are true. False for an
        undecided certificate, which proves nothing.

    Raises
    ------
    InvalidInput
        If X or y cannot be used at all.
    """
    if not isinstance(certificate, Certificate):
        raise InvalidInput(f"{type(certificate).__name__} is not a Certificate. Read files with Certificate.load.")
    given = partial(read_design, X, y, formula=formula, missing=missing, sample_weight=sample_weight, model=model)
    try:
        certificate = Certificate.from_dict(certificate.to_dict())
    except (InvalidInput, AttributeError, TypeError, ValueError):
        given()
        return False
    given = partial(given, family=FAMILY_OF[certificate.response], fit_intercept=certificate.intercept)
    try:
        found = given(decimal=certificate.arithmetic == "decimal")
    except InvalidInput:
        given(family=None, fit_intercept=True)  # raises the error unless the responses are of another kind
        return False
    if certificate.arithmetic == "rational" and certificate.digest != digest(
        found.signed.table, found.signed.label, certificate.layout
    ):
        found = given(decimal=True)  # floats among the exact numbers were read as decimals
    signed = found.signed
    return (
        certificate.seal == seal_of(certificate.to_dict())
        and certificate.shape == signed.table.shape
        and _same_labels(certificate.classes, found.classes)
        and _same_labels(certificate.levels, found.levels)
        and certificate.response == found.response
        and certificate.rows == found.rows
        and certificate.intercept == bool(signed.constant)
        and certificate.arithmetic == signed.arithmetic
        and certificate.digest == digest(signed.table, signed.label, certificate.layout)
        and all(holds(certificate, signed) for holds in CLAIMS.values())
    )


def confirmed(certificate: Certificate, signed: SignedRows, *parts: str) -> Certificate:
    """Return a certificate or a draft if its claims hold for the rows that it is on, else raise UnprovedClaim.

    An undecided one claims nothing. `parts` are the claims to check, keys of `CLAIMS`; all by default.
    """
    if certificate.verdict != "undecided":
        for name in parts or CLAIMS:
            if not CLAIMS[name](certificate, signed):
                raise UnprovedClaim(
                    f"The {name} that was found for {certificate.verdict} rows did not pass its verification. This is "
                    "a defect in rosenblatt, not in your data: please report it, with the data if you can."
                )
    return certificate


def _same_labels(claimed: tuple[Any, ...], found: tuple[Any, ...]) -> bool:
    """Compare labels, where True differs from 1."""
    return claimed == found and [isinstance(v, bool) for v in claimed] == [isinstance(v, bool) for v in found]


def _proves_separable(certificate: Certificate, signed: SignedRows) -> bool:
    """Check that the separator is positive on all signed rows, and that nothing else is claimed."""
    clear = not (certificate.support or certificate.boundary or certificate.point)
    return clear and certificate.vector is not None and bool((signed.signs(direction(certificate.vector)) > 0).all())


def _proves_quasi(certificate: Certificate, signed: SignedRows) -> bool:
    """Check that the weak separator is one, and that all others are zero on the rows on which it is."""
    if certificate.vector is None:
        return False
    signs = signed.signs(direction(certificate.vector))
    zero = np.flatnonzero(signs == 0)
    boundary = np.unique(signed.split(zero)[0])
    weak = bool((signs >= 0).all() and (signs > 0).any())
    return (
        weak
        and tuple(boundary.tolist()) == certificate.boundary
        and _vanishes(certificate, signed)
        and spans(signed, _support(certificate, signed), zero)
    )


def _proves_overlap(certificate: Certificate, signed: SignedRows) -> bool:
    """Check that the support spans all signed rows."""
    if certificate.vector is not None or certificate.boundary or not _vanishes(certificate, signed):
        return False
    return spans(signed, _support(certificate, signed), np.arange(signed.n))


def verdict_holds(certificate: Certificate, signed: SignedRows) -> bool:
    """Check that the witnesses prove the verdict; nothing proves an undecided one."""
    return certificate.verdict in _PROOFS and _PROOFS[certificate.verdict](certificate, signed)


_PROOFS = {
    "separable": _proves_separable,
    "quasi-separable": _proves_quasi,
    "overlapping": _proves_overlap,
}


def _support(certificate: Certificate, signed: SignedRows) -> list[int]:
    return [int(signed.number(i, r)) for i, r in zip(certificate.support, certificate.rivals, strict=True)]


def _vanishes(certificate: Certificate, signed: SignedRows) -> bool:
    """Check that positive multiples of signed rows add up to zero, so no w is positive on all of them (Gordan 1873)."""
    if not certificate.support or any(signed.label[list(certificate.support)] == certificate.rivals):
        return False
    sums, _ = combine(signed, _support(certificate, signed), certificate.multipliers)
    if sums:
        return False
    met = signed.classes == 2 and signed.constant  # without a constant the hulls need not meet
    point = common_point(signed, certificate.support, certificate.multipliers) if met else ()
    # A mean of zero is 0.0, not -0.0.
    return certificate.point == point and bool(np.array_equal(np.signbit(certificate.point), np.signbit(point)))


def bounds_hold(certificate: Certificate, signed: SignedRows) -> bool:
    """Check the radius, the bounds of margins by their witnesses, and that these give the mistake bound."""
    if not radius_holds(certificate.radius, signed):
        return False
    for augmented, claim in ((False, certificate.margin), (True, certificate.augmented)):
        if claim is None:
            continue
        if certificate.verdict != "separable" or signed.classes != 2 or not (augmented or signed.constant):
            return False
        try:
            lower, upper = margin_bounds(signed, claim.w, claim.rows, claim.weights, augmented=augmented)
            if claim.lower > lower:  # floats only bound the lowest margin from below; integers are exact
                w = [Fraction(v) for v in claim.w]
                lower, upper = margin_bounds(signed, w, claim.rows, claim.weights, augmented=augmented)
        except InvalidInput:
            return False
        if not claim.lower <= lower or not claim.upper >= upper:
            return False
    lower = certificate.augmented.lower if certificate.augmented else 0.0
    return certificate.mistake_bound == mistake_bound(certificate.radius, lower)


def estimates_hold(certificate: Certificate, signed: SignedRows) -> bool:
    """Check the claims on the coefficients of a logistic regression.

    The likelihood increases without end along the weak separators. The weight of a column that depends on others is
    zero.
    """
    claimed = certificate.estimates
    if not claimed:
        return not certificate.directions
    size = signed.features + 1
    dependent = dependencies(signed)
    kept = [j for j in range(signed.width) if j % size not in dependent]
    if {j for j, estimate in enumerate(claimed) if estimate != UNIDENTIFIED} != set(kept):
        return False
    if not _directions_hold(certificate, signed, set(kept)):
        return False
    free = _free(certificate, signed, kept)
    if free != {j for j in kept if claimed[j] != FINITE}:
        return False
    return all(
        (combination is None and _takes_both_signs(certificate, j, estimate))
        if estimate not in (POSITIVE, NEGATIVE)
        else (combination is not None and _isolates(combination, signed, kept, j, estimate))
        for j, (estimate, combination) in enumerate(zip(claimed, certificate.combinations, strict=True))
    )


CLAIMS = {"verdict": verdict_holds, "margin": bounds_hold, "table of coefficients": estimates_hold}


def _takes_both_signs(certificate: Certificate, j: int, estimate: str) -> bool:
    """Check that weight j is positive and negative among the directions, if that is claimed."""
    signs = {(w[j] > 0) - (w[j] < 0) for w in certificate.directions}
    return estimate != INFINITE or {-1, 1} <= signs


def _free(certificate: Certificate, signed: SignedRows, kept: list[int]) -> set[int]:
    """Return the kept weights that are not zero in every vector that vanishes on the support."""
    if certificate.verdict != "quasi-separable":
        return set(kept) if certificate.verdict == "separable" else set()
    basis = null_basis(signed, _support(certificate, signed), kept)
    return {j for vector in basis for j, value in zip(kept, vector, strict=True) if value}


def _directions_hold(certificate: Certificate, signed: SignedRows, kept: set[int]) -> bool:
    """Check that the directions are weak separators without weights on columns that depend on others."""
    return all(
        (signed.signs(direction(w)) >= 0).all() and all(j in kept for j, value in enumerate(w) if value)
        for w in certificate.directions
    )


def _isolates(combination: Combination, signed: SignedRows, kept: list[int], j: int, estimate: str) -> bool:
    """Check that positive multiples of signed rows add up to weight j alone, among the kept weights.

    That weight then has the same sign in every weak separator in which it is not zero (Farkas 1902).
    """
    support, rivals, multipliers = combination
    if not support or any(signed.label[list(support)] == rivals):
        return False
    ids = [int(signed.number(i, r)) for i, r in zip(support, rivals, strict=True)]
    sums, _ = combine(signed, ids, multipliers)
    left = {k for k in kept if sums.get(k, 0)}
    return left == {j} and (sums[j] > 0) == (estimate == POSITIVE)
