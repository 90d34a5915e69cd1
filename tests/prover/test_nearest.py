"""Coordinate descent and the active set against plain arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.prover.search import nearest
from rosenblatt.prover.search.nearest import APART, LIMIT, NEAREST, ORIGIN, ActiveSet, Frame


def stored(X, kind):
    if kind == "dense":
        return Dense(X)
    matrix = sp.csr_array(X)
    return Csr(matrix.data, matrix.indices, matrix.indptr)


def framed(X, kind, frame):
    """Rows as the loops see them: those of a sparse matrix are not moved."""
    moved = X - frame.centre if kind == "dense" else X
    return np.column_stack([moved * frame.inverse, np.ones(len(X))])


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_coordinate_descent_is_that_of_the_dual(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (20, 3)).astype(float)
    frame = Frame(X.mean(axis=0), np.array([0.5, 1.0, 2.0]))
    A = framed(X, kind, frame)
    sign, tied = rng.choice([-1.0, 1.0], 20), np.arange(20) == 4
    square = np.empty(20)
    getattr(nearest, f"squares_{kind}")(stored(X, kind), frame, square)
    assert np.allclose(square, (A**2).sum(axis=1))
    w, alpha, order = np.zeros(4), np.zeros(20), rng.permutation(20)
    expected_w, expected, wrong = np.zeros(4), np.zeros(20), 0
    for i in order:
        shortfall = 1.0 - sign[i] * (A[i] @ expected_w)
        wrong += shortfall >= 1.0
        step = (shortfall - 1.0 if tied[i] else max(shortfall, -expected[i] * square[i])) / square[i]
        if tied[i] or shortfall > 0 or expected[i] > 0:
            expected[i] += step
            expected_w += step * sign[i] * A[i]
    found = getattr(nearest, f"descend_{kind}")(stored(X, kind), sign, frame, square, tied, order, w, alpha)
    assert found == wrong
    assert np.allclose(alpha, expected)
    assert np.allclose(w, expected_w)


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
        monkeypatch.setattr(nearest, "OPERATIONS_TO_COMPILE", limit)
        active = empty(4)
        result = nearest.nearest_point(A, len(A), active, 0, 1e-12, 100, any_separator)
        found.append((result, [part.tobytes() for part in active]))
    assert found[0] == found[1]


def test_searches_are_compiled_when_they_have_become_much_work(monkeypatch):
    kinds = []
    monkeypatch.setattr(nearest, "_search", lambda *args: kinds.append("interpreted"))
    monkeypatch.setattr(nearest, "_search_compiled", lambda *args: kinds.append("compiled"))
    monkeypatch.setattr(nearest, "_interpreted", np.zeros(1))
    monkeypatch.setattr(nearest, "OPERATIONS_TO_COMPILE", 3 * nearest.OPERATIONS_PER_ENTRY * 40)
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
