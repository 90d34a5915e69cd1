"""Quasi-separable or overlapping? Facial reduction, from a first support that rules a separator out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from rosenblatt.engine.rules import passive_aggressive
from rosenblatt.errors import TooLarge
from rosenblatt.prover.certificates.spans import spans
from rosenblatt.prover.exact.clock import Clock
from rosenblatt.prover.exact.rational import as_integers, null_space, null_vector, pivots, primitive, solve
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.decide import PREPARATION_EPOCHS
from rosenblatt.prover.search.integer_search import SubspaceSearch
from rosenblatt.prover.search.narrow import NarrowView, narrowed, widened
from rosenblatt.prover.search.nearest import ORIGIN
from rosenblatt.prover.search.search import coordinate_descent, find_nearest_point, joint_epochs, lowest_rows
from rosenblatt.prover.search.views import (
    ROW_SPACE_MAX_ROWS,
    RowSpaceView,
    SubspaceView,
    View,
    is_wide,
    reciprocal,
    rescale,
    standardised,
)
from rosenblatt.prover.search.witness import (
    Witness,
    as_vector,
    counts_to_multipliers,
    integer_matrix,
    longest,
    separator,
    solving_seconds,
)

Array = npt.NDArray[Any]


# Entries of a basis of what vanishes on a support, up to which it is computed.
MAX_BASIS_ENTRIES = 1 << 24
# Seconds of a factorisation with pivoting for each product.
FACTORING_SECONDS = 4e-9
# Passes over several classes of wide rows after which the support is made to vanish.
TIED_EPOCHS = (5, 20, PREPARATION_EPOCHS)


class Reduction(NamedTuple):
    """What keeps rows from being separated.

    Attributes
    ----------
    verdict : str
    witness : Witness
        Support and counts.
    weak : list of int or None
        A weak separator that is positive on every row outside the span of the support.
    """

    verdict: str
    witness: Witness
    weak: list[int] | None = None


def inseparable_claims(signed: SignedRows, view: View, witness: Witness, clock: Clock) -> dict[str, Any]:
    """Return the fields of a certificate on rows that the support of a witness keeps from being separated."""
    return reduction_claims(signed, reduce(signed, view, witness, clock))


def reduction_claims(signed: SignedRows, found: Reduction) -> dict[str, Any]:
    """Return the fields of a certificate that a reduction proves."""
    if found.verdict == "undecided":
        return {"verdict": "undecided", "reason": "no hyperplane separates, but whether one separates weakly is open"}
    support, counts = found.witness.support, found.witness.counts
    order = np.argsort(support)
    row, rival = signed.split(np.array(support)[order])
    multipliers = counts_to_multipliers(signed, support, counts)
    return {
        "verdict": found.verdict,
        "support": tuple(row.tolist()),
        "rivals": tuple(rival.tolist()),
        "multipliers": tuple(multipliers[t] for t in order),
        "vector": None if found.weak is None else as_vector(found.weak),
    }


def reduce(signed: SignedRows, view: View, witness: Witness, clock: Clock) -> Reduction:
    """Distinguish quasi-separable from overlapping rows (Albert and Anderson 1984) by exact facial reduction.

    Every w with Z w >= 0 vanishes on the support, so on all rows in its span. The other rows, restricted to the vectors
    that vanish on the support, are a smaller problem of the same kind: a separator of it is the weak separator of all
    rows, multipliers of it enlarge the support. Each round enlarges its span.
    """
    found = _reduced_at_once(signed, view, witness, clock)
    if found is not None:
        return found
    if isinstance(view, RowSpaceView):
        if signed.n > ROW_SPACE_MAX_ROWS:
            return Reduction("undecided", witness)
        view = RowSpaceView(signed, np.arange(signed.n))
    rest: SubspaceView | None = None
    added, before = witness.support, 0
    while True:
        clock.check()
        rank = len(pivots(integer_matrix(signed, witness.support))[0])
        if rank == signed.width:
            return Reduction("overlapping", witness)
        if rest is None or not np.isin(added, rest.ids).all():  # floats mistook a row for one in the span
            rest = SubspaceView.vanishing_on(view, np.array(witness.support), rank, clock)
        else:
            rest = rest.vanishing(np.array(added), rank - before)
        step = _reduced(signed, witness, rest, clock)
        if step is None:
            basis = _null_basis(signed, witness.support, rank, clock)
            # Whether no row leaves the span must be decided on integers: floats miss a row that leaves it by little.
            if not any(signed.signs(direction).any() for direction in basis):
                return Reduction("overlapping", witness)
            step = _reduced_exactly(signed, witness, basis, clock)
        if step is None:
            return Reduction("undecided", witness)
        if step.w is not None:
            return Reduction("quasi-separable", witness, step.w)
        added, before, witness = step.support[len(witness.support) :], rank, step


def _reduced_at_once(signed: SignedRows, view: View, witness: Witness, clock: Clock) -> Reduction | None:
    """Try what needs no search among wide rows: passes over them, and fewer columns."""
    if isinstance(view, RowSpaceView) and len(witness.support) < signed.n:
        weak = _descended(signed, witness, clock)
        if weak is not None:
            return Reduction("quasi-separable", witness, weak)
    return _reduced_narrow(signed, view, witness, clock)


def _reduced_narrow(signed: SignedRows, view: View, witness: Witness, clock: Clock) -> Reduction | None:
    """Decide without the columns that depend on others; None if there are none, or if it does not hold of them all."""
    if not isinstance(view, NarrowView):
        rows = narrowed(signed, clock)
        if rows is None:
            return None
        inside = rows.signed
        view = NarrowView(signed, rows, RowSpaceView(inside, np.arange(2)) if is_wide(inside) else standardised(inside))
    rows = view.rows
    found = reduce(rows.signed, view.inner, rows.from_witness(signed, witness), clock)
    lifted = widened(signed, rows, found.witness)
    if lifted is None:
        return None
    if found.verdict == "undecided":
        return Reduction("undecided", lifted)
    weak = None if found.weak is None else rows.to_weights(found.weak)
    if weak is not None and not _separates_rest(signed, lifted, weak):
        return None
    if weak is None and not spans(signed, lifted.support, np.arange(signed.n)):
        return None
    return Reduction(found.verdict, lifted, weak)


def _descended(signed: SignedRows, witness: Witness, clock: Clock) -> list[int] | None:
    """Look for a weak separator of wide rows by passes over them that keep the support at zero."""
    for w in _passed(signed, np.array(witness.support), clock):
        weak = _lifted(signed, witness, w, clock)
        if weak is not None and _separates_rest(signed, witness, weak):
            return weak
    return None


def _passed(signed: SignedRows, support: Array, clock: Clock) -> Iterator[Array]:
    """Yield weights after more and more passes over the rows, zero on a support up to rounding."""
    if signed.classes == 2:
        view = standardised(signed)
        yield view.to_weights(coordinate_descent(view, PREPARATION_EPOCHS, clock, tied=support)[0])
        return
    Z = signed.gather(support)
    for epochs in TIED_EPOCHS:
        w = joint_epochs(signed, passive_aggressive(C=np.inf), epochs, clock)
        yield w - Z.T @ np.linalg.lstsq(Z @ Z.T, Z @ w)[0]


def _reduced(signed: SignedRows, witness: Witness, rest: SubspaceView, clock: Clock) -> Witness | None:
    """Find a weak separator or a larger support with floats; None if neither holds exactly."""
    if not rest.n:
        return None
    first = lowest_rows(rest.margins(rest.Z.mean(axis=0)), rest.width)
    for to_optimum in (False, True):
        end, working = find_nearest_point(rest, first, clock, to_optimum=to_optimum)
        if end == ORIGIN:
            step = _enlarged(signed, witness, [int(i) for i in rest.ids[working.support]], clock)
        else:
            weak = _lifted(signed, witness, rest.to_weights(working.point), clock)
            step = separator(weak) if weak and _separates_rest(signed, witness, weak) else None
        if step is not None:
            return step
    return None


def _reduced_exactly(signed: SignedRows, witness: Witness, basis: list[list[int]], clock: Clock) -> Witness | None:
    """Find a weak separator or a larger support on integers, from a basis of what vanishes on the support."""
    search = SubspaceSearch(signed, basis)
    # A row that vanishes on a random combination of the basis vanishes on all of it, or fails the check below.
    random = np.random.default_rng(0)
    combination = search.to_weights(random.integers(1, 1 << 60, len(basis)).tolist())
    ids = np.flatnonzero(signed.signs(combination))
    if not ids.size:
        return None
    step = search.find_witness([int(ids[0])], ids, clock)
    if step is None or step.w is None:
        return step and _enlarged(signed, witness, step.support, clock)
    return step if _separates_rest(signed, witness, step.w) else None


def _separates_rest(signed: SignedRows, witness: Witness, weak: list[int]) -> bool:
    """Check exactly that weights are negative on no row, and zero on those in the span of the support only."""
    signs = signed.signs(weak)
    return bool(signs.min() >= 0 and signs.max() > 0) and spans(signed, witness.support, np.flatnonzero(signs == 0))


def _null_basis(signed: SignedRows, ids: list[int], rank: int, clock: Clock) -> list[list[int]]:
    """Compute a basis of the vectors that vanish on some rows."""
    vectors = signed.width - rank
    if vectors * signed.width > MAX_BASIS_ENTRIES:
        raise TooLarge(f"{vectors} directions of {signed.width} weights vanish on the support: too many to look at.")
    clock.check(solving_seconds(rank) * (1 + vectors / max(rank, 1)))
    entries = [signed.integers(i)[0] for i in ids]
    return null_space([[row.get(j, 0) for j in range(signed.width)] for row in entries], signed.width)


def _enlarged(signed: SignedRows, witness: Witness, added: list[int], clock: Clock) -> Witness | None:
    """Add rows whose remainders vanish together to a support, with positive counts for all.

    None if they do not, or if the span of the support does not grow: floats may take a rounding error of a row in the
    span for its remainder, and would again.
    """
    # From independent rows of the support, the dependence to be found is the only one.
    independent = pivots(integer_matrix(signed, witness.support))[0]
    matrix = integer_matrix(signed, [*(witness.support[a] for a in independent), *added])
    clock.check(solving_seconds(len(matrix), longest(matrix)))
    vector = null_vector(matrix)
    if vector is None:
        return None
    split = len(independent)
    sign = 1 if sum(vector[split:]) > 0 else -1
    old, new = [0] * len(witness.support), [sign * v for v in vector[split:]]
    for a, v in zip(independent, vector, strict=False):
        old[a] = sign * v
    if min(new) < 0:
        return None
    times = 1 + max(0, *(-(v // c) for v, c in zip(old, witness.counts, strict=True)))
    counts = [v + times * c for v, c in zip(old, witness.counts, strict=True)]
    kept = [(i, v) for i, v in zip(added, new, strict=True) if v]
    support = [*witness.support, *(i for i, _ in kept)]
    if len(pivots(integer_matrix(signed, support))[0]) == split:
        return None
    return Witness(None, support, primitive([*counts, *(v for _, v in kept)]))


def _lifted(signed: SignedRows, witness: Witness, w: Array, clock: Clock) -> list[int] | None:
    """Find integers near w, up to a factor, that vanish exactly on the support."""
    entries = [signed.integers(i)[0] for i in witness.support]
    minor, bound = _bound_columns(signed, witness, entries, clock)
    given = w.copy()
    given[bound] = 0.0
    values, _ = as_integers(rescale(given))
    right = [-sum(v * values[j] for j, v in entries[i].items()) for i in minor]
    solution = solve([[entries[i].get(j, 0) for j in bound] for i in minor], right)
    if solution is None:
        return None
    out = [solution[1] * v for v in values]
    for j, value in zip(bound, solution[0], strict=True):
        out[j] = value
    return primitive(out) if not any(sum(v * out[j] for j, v in row.items()) for row in entries) else None


def _bound_columns(
    signed: SignedRows, witness: Witness, entries: list[dict[int, int]], clock: Clock
) -> tuple[list[int], list[int]]:
    """Choose independent rows of a support, and as many columns that follow from the others if these rows vanish."""
    touched = signed.touched(np.array(witness.support))
    Z = signed.gather(np.array(witness.support), touched)
    distinct = _distinct_lines(Z)
    clock.check(solving_seconds(distinct.size) + FACTORING_SECONDS * distinct.size**2 * touched.size)
    Z = Z[distinct]
    # The columns that a pivoted factorisation takes first are well conditioned: they follow from the others.
    sizes = np.abs(Z).max(axis=0)
    order = touched[scipy.linalg.qr(Z * reciprocal(sizes), mode="r", pivoting=True)[1]].tolist()
    minor, columns = pivots([[entries[i].get(j, 0) for j in order] for i in distinct])
    return [int(distinct[a]) for a in minor], [order[a] for a in columns]


def _distinct_lines(Z: Array) -> Array:
    """Leave out rows that are equal to others or opposite to them, as the rows of a contradiction are."""
    leading = Z[np.arange(len(Z)), (Z != 0).argmax(axis=1)]
    turned = np.where(leading < 0, -1.0, 1.0)[:, None] * Z + 0.0  # -0.0 becomes 0.0
    first: dict[bytes, int] = {}
    for i, row in enumerate(turned):
        first.setdefault(row.tobytes(), i)
    return np.array(list(first.values()))
