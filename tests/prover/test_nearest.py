"""The active set against plain arrays, and how a search with floats ends."""

import numpy as np
import pytest

from rosenblatt.data.table import as_table
from rosenblatt.prover.exact.clock import Deadline, OutOfTime
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import limits, nearest
from rosenblatt.prover.search.coordinates import MatrixView, RowSpaceView
from rosenblatt.prover.search.nearest import (
    APART,
    LIMIT,
    NEAREST,
    ORIGIN,
    ActiveSet,
    WorkingSet,
    find_nearest_point,
    lowest_rows,
)


def hulls():
    """Rows around the origin and beside it, and rows that repeat and depend on one another."""
    A = np.random.default_rng(0).normal(size=(90, 4))
    dependent = np.column_stack([A[:, 0], A[:, 0], -A[:, 1], A[:, 2] * 1e-9])
    return {"around": A, "beside": A + np.array([1.0, 0.0, 0.0, 2.5]), "repeated": np.rint(A), "dependent": dependent}


@pytest.mark.parametrize("any_separator", [False, True])
@pytest.mark.parametrize("hull", hulls())
def test_a_search_over_few_rows_gives_the_same_bits_interpreted_and_compiled(hull, any_separator, monkeypatch):
    A, found = hulls()[hull], []
    for limit in (np.inf, 0.0):
        monkeypatch.setattr(limits, "OPERATIONS_TO_COMPILE", limit)
        active = empty(4)
        result = nearest.nearest_point(A, len(A), active, 0, 1e-12, 100, any_separator)
        found.append((result, [part.tobytes() for part in active]))
    assert found[0] == found[1]


def test_searches_are_compiled_when_they_have_become_much_work(monkeypatch):
    kinds = []
    monkeypatch.setattr(nearest, "_search", lambda *args: kinds.append("interpreted"))
    monkeypatch.setattr(nearest, "_search_compiled", lambda *args: kinds.append("compiled"))
    monkeypatch.setattr(nearest, "_interpreted", np.zeros(1))
    monkeypatch.setattr(limits, "OPERATIONS_TO_COMPILE", 3 * limits.OPERATIONS_PER_ENTRY * 40)
    for size in (10, 1000, 10, 10, 10, 10):
        nearest.nearest_point(np.zeros((size, 4)), size, empty(4), 0, 1e-12, 100, False)
    assert kinds == ["interpreted", "compiled", "interpreted", "interpreted", "compiled", "compiled"]


def empty(width):
    active = ActiveSet(
        np.zeros(width + 2, np.int64),
        np.zeros(width + 2),
        np.zeros((width + 2, width + 1)),
        np.zeros((width + 2, width + 2)),
        np.zeros(width + 2),
        np.zeros(width + 1),
    )
    active.r[-1] = 1.0
    return active


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_point_satisfies_wolfes_criterion(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((150, 3)) + rng.choice([0.3, 3.0])
    active = empty(3)
    k, end, iterations = nearest.nearest_point(A, len(A), active, 0, 1e-12, 1000, False)
    shares, support = active.share[:k], active.support[:k]
    point = shares @ A[support]
    assert np.allclose(active.r, [*-point, 1 - shares.sum()], atol=1e-9)
    assert shares.min() > 0
    assert 0 < iterations < 1000
    point = point / shares.sum()
    if end == ORIGIN:
        assert np.abs(point).max() < 1e-9
    else:
        assert end == NEAREST
        # Wolfe (1976): the nearest point is the one on whose far side all rows lie.
        assert (A @ point).min() >= point @ point * (1 - 1e-9)


def test_a_search_ends_on_rows_that_overflow():
    active = ActiveSet(
        support=np.array([0, 1, 0, 0]),
        share=np.array([0.5, np.nan, 0.0, 0.0]),
        Q=np.eye(4, 3),
        R=np.eye(4) * 1e-320,
        c=np.array([1.0, -1.0, 0.0, 0.0]),
        r=np.array([0.0, 0.0, 1.0]),
    )
    k, _, _ = nearest.nearest_point(np.eye(2), 2, active, 2, 1e-12, 3, False)
    assert k <= 4


def test_a_search_stops_at_a_separator_or_at_its_limit_and_continues():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((200, 5)) + 3.0
    active = empty(5)
    k, end, _ = nearest.nearest_point(A, 200, active, 0, 1e-12, 1000, True)
    assert end == APART
    assert (A @ -active.r[:-1]).min() > 0
    active = empty(5)
    k, end, iterations = nearest.nearest_point(A, 200, active, 0, 1e-12, 1, False)
    assert (k, end, iterations) == (1, LIMIT, 1)
    k, end, _ = nearest.nearest_point(A, 200, active, k, 1e-12, 1000, False)
    assert end == NEAREST
    fresh = empty(5)
    nearest.nearest_point(A, 200, fresh, 0, 1e-12, 1000, False)
    assert np.allclose(active.r, fresh.r)


def test_only_the_first_rows_are_looked_at():
    A = np.array([[2.0, 1.0], [2.0, -1.0], [-9.0, -9.0]])
    active = empty(2)
    k, end, _ = nearest.nearest_point(A, 2, active, 0, 1e-12, 100, False)
    assert end == NEAREST
    assert sorted(active.support[:k].tolist()) == [0, 1]


def test_a_search_ends_where_margins_overflow():
    working = WorkingSet(MatrixView(np.eye(3)), np.arange(2))
    for margins in (np.full(3, np.nan), np.array([-1.0, -1.0, np.nan]), np.full(3, np.inf)):
        assert not working.extend(margins)
    assert working.extend(np.array([np.nan, np.nan, 0.5]))
    assert working.ids.tolist() == [0, 1, 2]
    assert not working.extend(np.zeros(3))  # nothing is left


def test_the_nearest_point_of_a_triangle_and_of_one_around_the_origin():
    Z = np.array([[1.0, 2.0], [1.0, -1.0], [3.0, 0.0]])
    end, working = find_nearest_point(MatrixView(Z), np.array([2]), Deadline(None), to_optimum=True)
    assert end == NEAREST
    assert np.allclose(working.point / working.shares.sum(), [1.0, 0.0])
    assert sorted(working.support.tolist()) == [0, 1]
    assert np.allclose(working.shares @ Z[working.support], working.point)
    Z = np.array([[1.0, 2.0], [1.0, -1.0], [-3.0, 0.0]])
    assert find_nearest_point(MatrixView(Z), np.arange(3), Deadline(None), to_optimum=False)[0] == ORIGIN
    with pytest.raises(OutOfTime):
        find_nearest_point(MatrixView(Z[:2]), np.arange(2), Deadline(-1.0), to_optimum=True)


def test_a_warm_start_needs_no_iteration():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((300, 6)) + 2.0
    _, working = find_nearest_point(MatrixView(Z), np.arange(300), Deadline(None), to_optimum=True)
    again = WorkingSet(MatrixView(Z), np.arange(300))
    again.start(working.support, working.shares)
    assert again.search(1, to_optimum=True) == NEAREST
    assert np.allclose(again.point, working.point)


def test_few_rows_are_all_taken_in_and_of_many_the_lowest():
    assert lowest_rows(np.arange(150.0), 3).tolist() == list(range(150))
    margins = np.random.default_rng(0).permutation(1000).astype(float)
    assert sorted(margins[lowest_rows(margins, 30)].tolist()) == list(range(300))


def test_a_start_with_the_basis_has_the_factors_that_the_rows_have():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2000))
    X[5] = X[4]
    signed = SignedRows(as_table(X), rng.random(30) < 0.5, 2)
    view = RowSpaceView(signed, np.arange(25), 10.0, normalise=False)
    share = rng.random(25)
    working = WorkingSet(view, np.arange(25))
    working.start_with_basis(view, share)
    columns, Q, R = (
        np.vstack([view.Z[view.basis].T, np.ones(24)]),
        working.active.Q[:24].T,
        working.active.R[:24, :24].T,
    )
    np.testing.assert_allclose(Q @ R, columns, atol=1e-14)
    np.testing.assert_allclose(Q.T @ Q, np.eye(24), atol=1e-14)
    assert not np.tril(R, -1).any()
    np.testing.assert_array_equal(working.active.c[:24], Q[-1])
    np.testing.assert_array_equal(working.shares, share[working.support])
    same = WorkingSet(view, np.arange(25))
    same.start(view.basis, share[view.basis])
    np.testing.assert_allclose(working.residual, same.residual, atol=1e-14)
