"""From rows to a verdict and its witnesses, in the coordinates of the user: what a certificate claims."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from rosenblatt.errors import TooLarge
from rosenblatt.prover.exact.clock import Clock
from rosenblatt.prover.exact.rational import MAX_UNKNOWNS
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.compact import CompactRows
from rosenblatt.prover.search.decide import decide
from rosenblatt.prover.search.equal_rows import contradictions
from rosenblatt.prover.search.reduction import Reduction, reduce, reduction_claims
from rosenblatt.prover.search.views import RowSpaceView, View, is_wide, standardised
from rosenblatt.prover.search.witness import (
    Witness,
    as_floats,
    as_vector,
    separates,
)

# Entries of signed rows up to which contradictions are looked for: the search that goes on from one copies the rows.
# Where there are more rows than that, for their length, the usual search soon rules a separator out.
COPIED_ENTRIES = 1 << 24


def verdict_claims(signed: SignedRows, clock: Clock) -> dict[str, Any]:
    """Find what a certificate claims: the verdict and its witnesses."""
    if (signed.label == 1).all() and signed.classes == 2:
        return {"verdict": "separable", "vector": (0.0,) * signed.features + (1.0,)}
    rows = CompactRows(signed)
    witness, view = _start(rows.signed, clock)
    if witness is None:
        return {"verdict": "undecided", "reason": _too_large(rows.signed)}
    if witness.w is not None:
        vector = as_vector(_simplest(signed, rows.to_weights(witness.w)))
        return {"verdict": "separable", "vector": vector}
    found = reduce(rows.signed, view, witness, clock)
    return reduction_claims(signed, _in_original(found, rows, signed))


def find_separator(signed: SignedRows, clock: Clock) -> tuple[Any, ...] | None:
    """Return weights that separate, as a certificate holds them; None if there are none.

    Raises
    ------
    OutOfTime, TooLarge
        If that was not decided.
    """
    with clock:
        rows = CompactRows(signed)
        witness, _ = _start(rows.signed, clock)
        if witness is None:
            raise TooLarge(_too_large(rows.signed))
        return None if witness.w is None else as_vector(_simplest(signed, rows.to_weights(witness.w)))


def _too_large(signed: SignedRows) -> str:
    """Return why nothing was decided, and what would help."""
    return (
        "the rows are too many and too long for the search: no separator was found, and to rule one out may take a sum "
        f"of as many rows as they have columns, {signed.width + 1}, where the exact solver takes {MAX_UNKNOWNS}. "
        "Fewer columns would help, such as the most frequent features"
    )


def _in_original(found: Reduction, rows: CompactRows, signed: SignedRows) -> Reduction:
    """Return what was found in compact coordinates in those of the original rows."""
    if rows.same:
        return found
    weak = None if found.weak is None else rows.to_weights(found.weak)
    return found._replace(witness=rows.to_witness(signed, found.witness), weak=weak)


def _start(signed: SignedRows, clock: Clock) -> tuple[Witness | None, View]:
    """Find a separator or what rules one out; equal rows of different classes do, without a search."""
    pairs: list[tuple[int, int]] = []
    if is_wide(signed):  # each is a round of its own in a search, and they are not more than that can take
        pairs = list(contradictions(signed.table, signed.label, clock))
    elif signed.n * signed.width <= COPIED_ENTRIES:
        pairs = list(islice(contradictions(signed.table, signed.label, clock), 1))
    if not pairs:
        return decide(signed, clock)
    ids = [int(signed.number(i, signed.label[j])) for a, b in pairs for i, j in ((a, b), (b, a))]
    view: View = RowSpaceView(signed, np.array(ids[:2])) if is_wide(signed) else standardised(signed)
    return Witness(None, ids, [1] * len(ids)), view


def _simplest(signed: SignedRows, w: Any) -> Any:
    """Return a separator in floats if floats separate, else as it is."""
    if isinstance(w, np.ndarray):
        return w
    rounded = as_floats(w)
    return rounded if separates(signed, rounded) else w
