"""Separable, quasi-separable or overlapping? From rows to a verdict and its witnesses.

`verdict_claims` goes through these steps, and each result counts only after an exact check, so rounding may cost time
but never a wrong verdict:

1. One class only: the constant separates.
2. `CompactRows`: drop empty columns, and move columns that are far from zero.
3. `contradictions`: equal rows of different classes rule a separator out without a search.
4. `decide`: find a separator or rows that rule one out.
   a. passes over the rows (`descent`), or the largest margin of a sample if there are many rows;
   b. wide rows: without the columns that depend on others (`narrowed`), then in the space that the rows span;
   c. other rows: the nearest point of all rows with floats, then on integers.
5. `reduce`: if nothing separates, distinguish quasi-separable from overlapping rows by facial reduction.

The point nearest to the origin in the convex hull of the signed rows is a separator; or it is the origin, which proves
that there is none (Gordan 1873).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Dense
from rosenblatt.engine.rules import passive_aggressive, perceptron
from rosenblatt.errors import TooLarge
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.rational import (
    MAX_UNKNOWNS,
    as_integers,
    null_vector,
    pivots,
    primitive,
    solve,
    solving_seconds,
)
from rosenblatt.prover.exact.signed_rows import SignedRows, row_content
from rosenblatt.prover.exact.spans import null_basis, spans
from rosenblatt.prover.search import limits
from rosenblatt.prover.search.coordinates import (
    AffineView,
    CompactRows,
    RowSpaceView,
    SubspaceView,
    View,
    factoring_seconds,
    is_long,
    is_wide,
    narrowed,
    reciprocal,
    rescale,
    sample_rows,
    standardised,
    widened,
)
from rosenblatt.prover.search.descent import coordinate_descent, joint_epochs
from rosenblatt.prover.search.integer_search import StandardisedSearch, SubspaceSearch
from rosenblatt.prover.search.nearest import ORIGIN, WorkingSet, find_nearest_point, lowest_rows
from rosenblatt.prover.search.witness import (
    Witness,
    as_floats,
    as_vector,
    counts_to_multipliers,
    integer_matrix,
    longest,
    recounted,
    separates,
    separator,
    vanishing_sum,
)

Array = npt.NDArray[Any]

log = logging.getLogger(__name__)


def verdict_claims(signed: SignedRows, deadline: Deadline) -> dict[str, Any]:
    """Return the fields of a certificate on the verdict: the verdict itself and its witnesses."""
    if signed.constant and signed.classes == 2 and (signed.label == signed.label[0]).all():
        side = 1.0 if signed.label[0] else -1.0
        return {"verdict": "separable", "vector": (0.0,) * signed.features + (side,)}
    zero = np.empty(0, np.int64) if signed.constant else _zero_rows(signed.table)
    if zero.size:
        return _claims_beside_zero_rows(signed, zero, deadline)
    rows = CompactRows(signed)
    log.info("searching for a separator")
    witness, narrow = _start(rows.signed, deadline)
    if witness is None:
        return {"verdict": "undecided", "reason": _too_large(rows.signed)}
    if witness.w is not None:
        return {"verdict": "separable", "vector": _simplest(signed, rows.to_weights(witness.w))}
    log.info("searching for a weak separator")
    found = reduce(rows.signed, witness, deadline, narrow)
    if not rows.same:
        weak = None if found.weak is None else rows.to_weights(found.weak)
        found = found._replace(witness=recounted(found.witness, rows.signed, signed), weak=weak)
    return reduction_claims(signed, found)


def _zero_rows(table: Table) -> Array:
    """Return the samples without an entry."""
    if isinstance(table.rows, Dense):
        return np.flatnonzero(~table.rows.X.any(axis=1))
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.rows.indptr))
    return np.flatnonzero(np.bincount(row[table.rows.data != 0], minlength=table.shape[0]) == 0)


def _claims_beside_zero_rows(signed: SignedRows, zero: Array, deadline: Deadline) -> dict[str, Any]:
    """Return the claims of `verdict_claims` if some samples are zero, with a score of zero whatever the weights are.

    Such a sample rules a separator out by itself. What the others say of weak separators holds beside it.
    """
    kept = np.setdiff1d(np.arange(signed.samples), zero)
    claims = verdict_claims(signed.take(kept), deadline) if kept.size else {"verdict": "overlapping", "support": ()}
    if claims["verdict"] == "separable":
        claims["verdict"] = "quasi-separable"
    if claims.get("support"):
        return claims | {"support": tuple(kept[list(claims["support"])].tolist())}
    first = int(zero[0])
    witness = {"support": (first,), "rivals": (0 if signed.label[first] else 1,), "multipliers": (1,)}
    return claims if claims["verdict"] == "undecided" else claims | witness


def find_separator(signed: SignedRows, deadline: Deadline) -> tuple[Any, ...] | None:
    """Return weights that separate, as a certificate holds them; None if it is proved that there are none.

    Raises
    ------
    OutOfTime, TooLarge
        If the question stays undecided.
    """
    with deadline:
        rows = CompactRows(signed)
        witness, _ = _start(rows.signed, deadline)
        if witness is None:
            raise TooLarge(_too_large(rows.signed))
        return None if witness.w is None else _simplest(signed, rows.to_weights(witness.w))


def _too_large(signed: SignedRows) -> str:
    """Return why nothing was decided, and the remedy."""
    return (
        "the rows are too many and too long for the search: no separator was found, and ruling one out may take a sum "
        f"of {signed.width + 1} rows, where the exact solver handles {MAX_UNKNOWNS}. Use fewer columns, such as the "
        "most frequent features"
    )


def _start(signed: SignedRows, deadline: Deadline) -> tuple[Witness | None, CompactRows | None]:
    """Return what `decide` does, without a search if rows of different classes are equal."""
    pairs: list[tuple[int, int]] = []
    if is_wide(signed):  # all of them: in a reduction each would take a round, and wide rows are not many
        pairs = list(contradictions(signed.table, signed.label, deadline))
    elif signed.n * signed.width <= limits.COPIED_ENTRIES:
        pairs = list(islice(contradictions(signed.table, signed.label, deadline), 1))
    if not pairs:
        return decide(signed, deadline)
    ids = [int(signed.number(i, signed.label[j])) for a, b in pairs for i, j in ((a, b), (b, a))]
    return Witness(None, ids, [1] * len(ids)), None


def _simplest(signed: SignedRows, w: Any) -> tuple[Any, ...]:
    """Return a separator as a certificate holds it: in floats if they separate, else in Fractions."""
    rounded = w if isinstance(w, np.ndarray) else as_floats(w)
    return as_vector(rounded if rounded is w or separates(signed, rounded) else w)


# -------------------------------------------------------------------------------------------------------- equal rows


def contradiction(table: Table, label: Array, deadline: Deadline) -> tuple[int, int] | None:
    """Return two samples that are exactly equal and of different classes; None if there are none."""
    return next(contradictions(table, label, deadline), None)


def contradictions(table: Table, label: Array, deadline: Deadline) -> Iterator[tuple[int, int]]:
    """Yield pairs of samples that are exactly equal and of different classes, found by hashing.

    The first of equal samples is paired with the first of every other class.
    """
    hashes = _hashes(table, deadline)
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(hashes[order]) != 0))
    sides = label[order]
    mixed = np.minimum.reduceat(sides, starts) != np.maximum.reduceat(sides, starts)
    ends = np.append(starts[1:], order.size)
    for first, end in zip(starts[mixed], ends[mixed], strict=True):
        deadline.check()
        seen: dict[Any, dict[int, int]] = {}
        for i in order[first:end].tolist():  # ascending
            equal = seen.setdefault(row_content(table, i), {})
            if equal and label[i] not in equal:
                yield next(iter(equal.values())), i
            equal.setdefault(int(label[i]), i)


def _hashes(table: Table, deadline: Deadline) -> Array:
    """Hash every row by a sum over its nonzero values, which does not depend on how the rows are stored."""
    n, d = table.shape
    keys = np.random.default_rng(0).integers(0, 1 << 63, d, np.uint64) * np.uint64(2) + np.uint64(1)
    hashes, rows = np.empty(n, np.uint64), table.rows
    per_row = d if isinstance(rows, Dense) else max(1, rows.data.size // n)
    count = max(1, (1 << 17) // per_row)  # rows at a time, which stay in the processor's cache
    for start in range(0, n, count):
        deadline.check()
        stop = min(start + count, n)
        if isinstance(rows, Dense):
            hashes[start:stop] = _mixed(rows.X[start:stop], keys).sum(axis=1, dtype=np.uint64)
            continue
        pointers = rows.indptr[start : stop + 1]
        stored = slice(pointers[0], pointers[-1])
        sums = np.zeros(pointers[-1] - pointers[0] + 1, np.uint64)
        np.cumsum(_mixed(rows.data[stored], keys[rows.indices[stored]]), out=sums[1:])
        hashes[start:stop] = np.diff(sums[pointers - pointers[0]])
    return hashes


def _mixed(values: Array, keys: Array) -> Array:
    """Mix values and keys into 64-bit numbers whose sums differ for different rows; zero stays zero."""
    bits = np.add(values, 0.0, dtype=np.float64).view(np.uint64) * keys  # -0.0 becomes 0.0
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0x9E3779B97F4A7C15)  # odd: every bit of a number reaches the upper half
    bits ^= bits >> np.uint64(29)
    return bits


# -------------------------------------------------------------------------------------------------------- separable?


def decide(signed: SignedRows, deadline: Deadline) -> tuple[Witness | None, CompactRows | None]:
    """Find a separator or multipliers that rule one out, None if the search gave up.

    Return also the rows without the columns that depend on others, if they were searched instead.
    """
    view = standardised(signed)
    index = sample_rows(signed) if signed.classes == 2 else np.arange(signed.n)
    if index.size < signed.n:
        witness, w = _decide_sample(signed.take(index), deadline)
        if witness is not None:  # rows that cannot be separated stay so when more are added
            return witness._replace(support=index[witness.support].tolist()), None
        alpha = np.ones(signed.n)
    else:
        w, alpha = _prepare(signed, view, deadline)
    margins = signed.margins(w)[0]
    if margins.min() > 0 and separates(signed, w):
        return separator(w), None
    if not is_long(signed):
        return _decide_narrow(signed, view, margins, deadline), None
    rows = narrowed(signed, deadline)
    if rows is not None:
        witness = widened(signed, rows, decide(rows.signed, deadline)[0])
        if witness is not None:
            return witness, rows
    if signed.classes > 2:
        epochs = min(limits.PERCEPTRON_EPOCHS, limits.PERCEPTRON_ENTRIES // (signed.table.entries * signed.classes))
        w = rescale(joint_epochs(signed, perceptron(), epochs, deadline))
        if separates(signed, w):
            return separator(w), None
    return _decide_wide(signed, alpha, deadline), None


def _prepare(signed: SignedRows, view: AffineView, deadline: Deadline) -> tuple[Array, Array]:
    """Pass over the rows a few times; return the weights, and the multiplier of each row."""
    if signed.classes == 2:
        u, alpha = coordinate_descent(
            view, limits.PREPARATION_EPOCHS if is_long(signed) else limits.DESCENT_EPOCHS, deadline
        )
        return rescale(view.to_weights(u)), alpha
    w = rescale(joint_epochs(signed, passive_aggressive(C=np.inf), limits.PREPARATION_EPOCHS, deadline))
    return w, np.ones(signed.n)


def _decide_sample(signed: SignedRows, deadline: Deadline) -> tuple[Witness | None, Array]:
    """Find the weights of largest margin of a sample with floats; if nothing separates it, prove that."""
    view = standardised(signed)
    first = lowest_rows(view.margins(coordinate_descent(view, limits.DESCENT_EPOCHS, deadline)[0]), view.width)
    end, working = find_nearest_point(view, first, deadline, to_optimum=True)
    witness = vanishing_sum(signed, working.support.tolist(), deadline) if end == ORIGIN else None
    return witness, rescale(view.to_weights(working.point))


def _decide_narrow(signed: SignedRows, view: AffineView, margins: Array, deadline: Deadline) -> Witness | None:
    """Search all rows with floats, then on integers."""
    first = lowest_rows(margins / view.lengths, view.width)
    # Most data end with any separator, or at the origin. Next to an overlap rounding is taken for the origin, unless
    # nothing but zero is, and for a separator, unless the search goes on to the nearest point.
    for to_optimum, zero in ((False, limits.ZERO_SHARE), (True, 0.0)):
        end, working = find_nearest_point(view, first, deadline, to_optimum=to_optimum, zero=zero)
        witness = _proved(signed, view, end, working, deadline)
        if witness is not None:
            return witness
    support = [int(i) for i in working.support] or [0]
    exact = StandardisedSearch(signed, view).find_witness(support, np.arange(signed.n), deadline)
    return vanishing_sum(signed, exact.support, deadline) if exact and exact.support else exact


def _decide_wide(signed: SignedRows, alpha: Array, deadline: Deadline) -> Witness | None:
    """Decide for wide rows in the space that they span, starting from the rows with the largest multipliers."""
    ids = np.sort(np.argsort(-alpha, kind="stable")[: limits.ADDED_WIDE_ROWS])
    while True:
        deadline.check(factoring_seconds(ids.size))
        view = RowSpaceView(signed, ids)
        end, working = find_nearest_point(view, np.arange(view.n), deadline, to_optimum=False)
        witness = _proved(signed, view, end, working, deadline)
        if witness is not None:
            return witness
        margins = signed.margins(view.to_weights(working.point))[0]
        low = np.setdiff1d(np.flatnonzero(margins <= 0), ids)
        if end == ORIGIN or not low.size or ids.size >= limits.ROW_SPACE_MAX_ROWS:
            return None
        ids = np.union1d(ids, low[np.argsort(margins[low])[: limits.ADDED_WIDE_ROWS]])


def _proved(signed: SignedRows, view: View, end: int, working: WorkingSet, deadline: Deadline) -> Witness | None:
    """Turn the result of a search into a witness, if it holds exactly."""
    support = view.ids[working.support] if isinstance(view, RowSpaceView) else working.support
    if end == ORIGIN:
        return vanishing_sum(signed, support.tolist(), deadline)
    w = rescale(view.to_weights(working.point))
    if separates(signed, w):
        return separator(w)
    # Rounding may have stopped the point on its way to the origin, and left small shares that would be zero.
    likely = support[working.shares > limits.ZERO_SHARE_OF_LARGEST * working.shares.max(initial=0.0)]
    return vanishing_sum(signed, likely.tolist(), deadline) if likely.size else None


# ----------------------------------------------------------------------------------- quasi-separable or overlapping?


class Reduction(NamedTuple):
    """A verdict on rows that cannot be separated, and its witnesses."""

    verdict: str
    witness: Witness  # support and counts
    weak: list[int] | None = None  # a weak separator that is positive on every row outside the span of the support


def inseparable_claims(signed: SignedRows, witness: Witness, deadline: Deadline) -> dict[str, Any]:
    """Return the fields of a certificate on rows that the support of a witness proves inseparable."""
    return reduction_claims(signed, reduce(signed, witness, deadline))


def reduction_claims(signed: SignedRows, found: Reduction) -> dict[str, Any]:
    """Return the fields of a certificate that a reduction proves."""
    if found.verdict == "undecided":
        reason = "no hyperplane separates, but whether one separates weakly is not decided"
        return {"verdict": "undecided", "reason": reason}
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


def reduce(signed: SignedRows, witness: Witness, deadline: Deadline, narrow: CompactRows | None = None) -> Reduction:
    """Distinguish quasi-separable from overlapping rows (Albert and Anderson 1984) by exact facial reduction.

    Every w with Z w >= 0 vanishes on the support, hence on all rows in its span. The other rows, restricted to the
    vectors that vanish on the support, are a smaller problem of the same kind: a separator of it is a weak separator of
    all rows, and multipliers of it enlarge the support. Each round enlarges the span of the support. `narrow` has the
    rows without the columns that depend on others, if they are known.
    """
    view: View
    if is_long(signed):
        found = _reduced_at_once(signed, witness, deadline, narrow)
        if found is not None:
            return found
        if signed.n > limits.ROW_SPACE_MAX_ROWS:
            return Reduction("undecided", witness)
        view = RowSpaceView(signed, np.arange(signed.n))
    else:
        view = standardised(signed)
    rest: SubspaceView | None = None
    added, before = witness.support, 0
    while True:
        deadline.check()
        rank = len(pivots(integer_matrix(signed, witness.support))[0])
        if rank == signed.columns.size:
            return Reduction("overlapping", witness)
        if rest is None or not np.isin(added, rest.ids).all():  # rounding had put one of these rows into the span
            rest = SubspaceView.vanishing_on(view, np.array(witness.support), rank, deadline)
        else:
            rest = rest.vanishing(np.array(added), rank - before)
        step = _reduced(signed, witness, rest, deadline)
        if step is None:
            basis = _null_basis(signed, witness.support, rank, deadline)
            # Decide on integers whether all rows lie in the span: floats miss a row that leaves it by little.
            if not any(signed.signs(direction).any() for direction in basis):
                return Reduction("overlapping", witness)
            step = _reduced_exactly(signed, witness, basis, deadline)
        if step is None:
            return Reduction("undecided", witness)
        if step.w is not None:
            return Reduction("quasi-separable", witness, step.w)
        added, before, witness = step.support[len(witness.support) :], rank, step


def _reduced_at_once(
    signed: SignedRows, witness: Witness, deadline: Deadline, rows: CompactRows | None
) -> Reduction | None:
    """Try to decide long rows without facial reduction: by passes that keep the support at zero, or with fewer columns.

    None if there are no fewer columns, or if all columns refute the result.
    """
    if rows is None and len(witness.support) < signed.n:
        for w in _tied_weights(signed, np.array(witness.support), deadline):
            weak = _lifted(signed, witness, w, deadline)
            if weak is not None and _separates_rest(signed, witness, weak):
                return Reduction("quasi-separable", witness, weak)
    rows = rows or narrowed(signed, deadline)
    if rows is None:
        return None
    found = reduce(rows.signed, recounted(witness, signed, rows.signed), deadline)
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


def _tied_weights(signed: SignedRows, support: Array, deadline: Deadline) -> Iterator[Array]:
    """Yield weights after more and more passes over the rows, zero on a support up to rounding."""
    if signed.classes == 2:
        view = standardised(signed)
        yield view.to_weights(coordinate_descent(view, limits.PREPARATION_EPOCHS, deadline, tied=support)[0])
        return
    Z = signed.gather(support)
    for epochs in limits.TIED_EPOCHS:
        w = joint_epochs(signed, passive_aggressive(C=np.inf), epochs, deadline)
        yield w - Z.T @ np.linalg.lstsq(Z @ Z.T, Z @ w)[0]


def _reduced(signed: SignedRows, witness: Witness, rest: SubspaceView, deadline: Deadline) -> Witness | None:
    """Find a weak separator or a larger support with floats; None if neither holds exactly."""
    if not rest.n:
        return None
    first = lowest_rows(rest.margins(rest.Z.mean(axis=0)), rest.width)
    for to_optimum in (False, True):
        end, working = find_nearest_point(rest, first, deadline, to_optimum=to_optimum)
        if end == ORIGIN:
            step = _enlarged(signed, witness, [int(i) for i in rest.ids[working.support]], deadline)
        else:
            weak = _lifted(signed, witness, rest.to_weights(working.point), deadline)
            step = separator(weak) if weak and _separates_rest(signed, witness, weak) else None
        if step is not None:
            return step
    return None


def _reduced_exactly(
    signed: SignedRows, witness: Witness, basis: list[list[int]], deadline: Deadline
) -> Witness | None:
    """Find a weak separator or a larger support on integers, from a basis of the vectors that vanish on the support."""
    search = SubspaceSearch(signed, basis)
    # A row that vanishes on a random combination of the basis vanishes on all of it, or fails the check below.
    random = np.random.default_rng(0)
    combination = search.to_weights(random.integers(1, 1 << 60, len(basis)).tolist())
    ids = np.flatnonzero(signed.signs(combination))
    if not ids.size:
        return None
    step = search.find_witness([int(ids[0])], ids, deadline)
    if step is None or step.w is None:
        return step and _enlarged(signed, witness, step.support, deadline)
    return step if _separates_rest(signed, witness, step.w) else None


def _separates_rest(signed: SignedRows, witness: Witness, weak: list[int]) -> bool:
    """Check exactly that weights are negative on no row, and zero only on rows in the span of the support."""
    signs = signed.signs(weak)
    return bool(signs.min() >= 0 and signs.max() > 0) and spans(signed, witness.support, np.flatnonzero(signs == 0))


def _null_basis(signed: SignedRows, ids: list[int], rank: int, deadline: Deadline) -> list[list[int]]:
    """Compute a basis of the vectors that vanish on some rows."""
    vectors = signed.width - rank
    if vectors * signed.width > limits.MAX_BASIS_ENTRIES:
        raise TooLarge(f"{vectors} directions of {signed.width} weights vanish on the support: too many to search.")
    deadline.check(solving_seconds(rank) * (1 + vectors / max(rank, 1)))
    return null_basis(signed, ids, range(signed.width))


def _enlarged(signed: SignedRows, witness: Witness, added: list[int], deadline: Deadline) -> Witness | None:
    """Add rows whose remainders sum to zero to a support, with positive counts for all.

    None if they do not, or if the span of the support does not grow: floats then took the rounding error of a row in
    the span for its remainder, and would do so again.
    """
    # With independent rows of the support only, there is exactly one dependency to find.
    independent = pivots(integer_matrix(signed, witness.support))[0]
    matrix = integer_matrix(signed, [*(witness.support[a] for a in independent), *added])
    deadline.check(solving_seconds(len(matrix), longest(matrix)))
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


def _lifted(signed: SignedRows, witness: Witness, w: Array, deadline: Deadline) -> list[int] | None:
    """Find integers near w, up to a factor, that vanish exactly on the support."""
    entries = [signed.integers(i)[0] for i in witness.support]
    minor, bound = _bound_columns(signed, witness, entries, deadline)
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
    signed: SignedRows, witness: Witness, entries: list[dict[int, int]], deadline: Deadline
) -> tuple[list[int], list[int]]:
    """Choose independent rows of a support, and as many columns, determined by the others where these rows vanish."""
    touched = signed.touched(np.array(witness.support))
    Z = signed.gather(np.array(witness.support), touched)
    distinct = _distinct_lines(Z)
    deadline.check(solving_seconds(distinct.size) + limits.PIVOTING_SECONDS * distinct.size**2 * touched.size)
    Z = Z[distinct]
    # The columns that a pivoted factorisation takes first are well conditioned.
    sizes = np.abs(Z).max(axis=0)
    order = touched[scipy.linalg.qr(Z * reciprocal(sizes), mode="r", pivoting=True)[1]].tolist()
    minor, columns = pivots([[entries[i].get(j, 0) for j in order] for i in distinct])
    return [int(distinct[a]) for a in minor], [order[a] for a in columns]


def _distinct_lines(Z: Array) -> Array:
    """Return the rows that are neither equal nor opposite to an earlier one, as the rows of a contradiction are."""
    leading = Z[np.arange(len(Z)), (Z != 0).argmax(axis=1)]
    turned = np.where(leading < 0, -1.0, 1.0)[:, None] * Z + 0.0  # -0.0 becomes 0.0
    return np.sort(np.unique(turned, axis=0, return_index=True)[1])
