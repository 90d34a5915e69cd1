"""Notes beside a verdict: columns that depend on others up to rounding, and what the other reading of floats says.

A verdict is about the numbers as they are stored. Where 0.1 * age + 0.1 was rounded it does not follow from age any
more, and a design of such columns may overlap by its rounding errors alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import TooLarge
from rosenblatt.prover.certificates.certificate import SEPARATIONS
from rosenblatt.prover.exact.clock import Deadline, OutOfTime
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.exact.spans import dependencies
from rosenblatt.prover.search.coordinates import CompactRows
from rosenblatt.prover.search.verdict import verdict_claims
from rosenblatt.text import listed

Array = npt.NDArray[Any]

# Share of a column that is left beside the columns before it, up to which it counts as their combination. Sums of a few
# rounded terms leave 1e-17 to 1e-15; columns of measured data that are this close by chance are not known.
ROUNDED_SHARE = 1e-11


def rounding_notes(signed: SignedRows, verdict: str, names: Sequence[str]) -> str:
    """Return what changes the verdict if rounding errors are taken away; empty if nothing does.

    The other reading of floats takes another search, and is tried on columns with names only.
    """
    notes = []
    near = nearly_dependent(signed)
    if near:
        shown = names or [f"x{j}" for j in range(signed.features)]
        kept = np.setdiff1d(np.arange(signed.features), near)
        found = _verdict(CompactRows(signed, columns=kept).signed) if kept.size else ""
        columns = listed([shown[j] for j in near])
        verb, pronoun = ("depends", "it does") if len(near) == 1 else ("depend", "they do")
        notes.append(f"Up to rounding, {columns} {verb} on earlier columns; read exactly, {pronoun} not.")
        if found:
            notes.append(f"Without {columns} the verdict is {SEPARATIONS[found]}.")
    found = verdict
    if names and signed.arithmetic == "binary" and signed.table.dtype == np.float64:
        intercept = bool(signed.constant)
        found = _verdict(SignedRows(signed.table, signed.label, signed.classes, decimal=True, intercept=intercept))
    if found not in (verdict, ""):
        notes.append(f'Read as decimals (exact="decimal") the verdict is {SEPARATIONS[found]}.')
    return " ".join(notes)


def nearly_dependent(signed: SignedRows) -> list[int]:
    """Return the features that depend on the constant and the features before them up to rounding, but not exactly."""
    X = np.column_stack([np.full(signed.samples, signed.constant), _dense(signed)])
    lengths = np.sqrt(np.einsum("ij,ij->j", X, X))
    columns = np.flatnonzero(lengths > 0)
    X = X[:, columns] / lengths[columns]
    near: list[int] = []
    while columns.size:
        left = np.abs(np.diagonal(np.linalg.qr(X, mode="r")))
        low = np.flatnonzero(left <= ROUNDED_SHARE)
        if not low.size:
            break
        near.append(int(columns[low[0]]) - 1)
        X, columns = np.delete(X, low[0], axis=1), np.delete(columns, low[0])
    return sorted(set(near) - set(dependencies(signed))) if near else []


def _dense(signed: SignedRows) -> Array:
    values = signed.table.matrix()
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64)


def _verdict(signed: SignedRows) -> str:
    """Return the verdict on some rows; empty if there is no time to find it."""
    try:
        found = str(verdict_claims(signed, Deadline(None))["verdict"])
    except (OutOfTime, TooLarge):
        return ""
    return "" if found == "undecided" else found
