"""Bad input is refused with a sentence; good input is used in place."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from rosenblatt import AdalineRegressor, Perceptron, trace, train
from rosenblatt.data.table import as_table, learnable, with_own_indices
from rosenblatt.errors import InvalidInput

GOOD = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
LABELS = [0, 1, 0, 1]


def changed(value):
    X = GOOD.copy()
    X[2, 1] = value
    return X


def cut(part, change):
    matrix = sp.csr_matrix(GOOD)
    setattr(matrix, part, change(getattr(matrix, part)))
    return matrix


BAD_ROWS = {
    "NaN": (changed(np.nan), "NaN.*row 2"),
    "infinity": (changed(np.inf), "infinity.*row 2"),
    "too large": (changed(1e200), "overflow"),
    "sparse NaN": (sp.csr_matrix(changed(np.nan)), "NaN"),
    "sparse infinity": (sp.csr_array(changed(-np.inf)), "infinity"),
    "no rows": (np.empty((0, 2)), "0 sample"),
    "no features": (np.empty((4, 0)), "0 feature"),
    "text": (np.array([["a", "b"]] * 4), "(?s)(numbers|string).*"),
    "objects": (np.array([[object(), 1]] * 4), "(numbers|must be)"),
    "one-dimensional": (np.arange(4.0), "1D|1-dimensional"),
    "three-dimensional": (np.ones((4, 2, 2)), "3D|dim 3"),
    "complex": (GOOD + 1j, "Complex"),
    "dates": (np.array([["2020-01-01"] * 2] * 4, "datetime64[D]"), "(?i)numeric|dtype|datetime"),
    "index too large": (cut("indices", lambda a: a + 1), r"outside \[0, 2\)"),
    "negative index": (cut("indices", lambda a: a - 1), r"outside \[0, 2\)"),
    "falling pointers": (cut("indptr", lambda a: a[::-1].copy()), "indptr does not rise"),
    "pointers past the end": (cut("indptr", lambda a: a * 2), "past the"),
    "too few pointers": (cut("indptr", lambda a: a[:-1]), "indptr has 4 entries"),
    "too few indices": (cut("indices", lambda a: a[:-3]), "past the"),
    "too few values": (cut("data", lambda a: a[:-3]), "past the"),
    "indices of floats": (cut("indices", lambda a: a + 0.5), "integers"),
    "csc out of range": (sp.csc_matrix(GOOD), r"outside \[0, 4\)"),
    "coo out of range": (sp.coo_matrix(GOOD), r"outside \[0, 4\)"),
}
BAD_ROWS["csc out of range"][0].indices[0] = 99
BAD_ROWS["coo out of range"][0].row[0] = 99
bad_rows = pytest.mark.parametrize(("X", "message"), BAD_ROWS.values(), ids=BAD_ROWS.keys())


@bad_rows
@pytest.mark.parametrize(
    "use",
    [
        lambda X: Perceptron().fit(X, LABELS),
        lambda X: Perceptron().partial_fit(X, LABELS),
        lambda X: train(X, LABELS),
        lambda X: list(trace(X, LABELS)),
        lambda X: Perceptron().fit(GOOD, LABELS).predict(X),
        lambda X: Perceptron().fit(GOOD, LABELS).distance(X),
    ],
    ids=["fit", "partial_fit", "train", "trace", "predict", "distance"],
)
def test_bad_rows_are_refused_with_the_fault_named(use, X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        use(X)


@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.long)])
def test_corrupt_matrices_never_crash(count):
    command = [sys.executable, "-m", "attacks.corrupt_csr", str(count)]
    result = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    refused, accepted, failed = map(int, result.stdout.split())
    assert (refused + accepted, failed) == (count, 0)
    assert refused > count // 2
    assert accepted > count // 10


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_good_rows_are_used_in_place(dtype):
    X = np.asarray(GOOD, dtype)
    assert np.shares_memory(as_table(X).rows.X, X)
    for index in (np.int32, np.int64):
        matrix = sp.csr_array(X)
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        rows = as_table(matrix).rows
        assert np.shares_memory(rows.data, matrix.data)
        assert np.shares_memory(rows.indices, matrix.indices)
        assert np.shares_memory(rows.indptr, matrix.indptr)


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: X.astype(int),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(">f8"),
        lambda X: np.repeat(X, 2, axis=0)[::2],
        sp.csc_matrix,
        sp.coo_array,
        sp.lil_matrix,
        pd.DataFrame,
        lambda X: pl.DataFrame(X, schema=["a", "b"]),
    ],
    ids=["fortran", "int", "float16", "big-endian", "strided", "csc", "coo", "lil", "pandas", "polars"],
)
def test_every_container_gives_the_same_weights(convert):
    expected = train(GOOD, LABELS, max_iter=3, tol=None)
    given = train(convert(GOOD), LABELS, max_iter=3, tol=None)
    assert given.coef.tolist() == expected.coef.tolist()


def test_the_largest_norm_is_the_largest():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 7))
    expected = (X * X).sum(1).max()
    assert np.isclose(as_table(X).largest, expected)
    assert np.isclose(as_table(sp.csr_array(X)).largest, expected)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("size", [1e25, 1e-25])
def test_float32_rows_whose_products_overflow_or_vanish_are_learned_in_float64(kind, size):
    table = learnable(as_table(kind((size * GOOD).astype(np.float32))))
    assert table.dtype == np.float64
    np.testing.assert_allclose(table.values.max(), size * GOOD.max(), rtol=1e-6)
    kept = as_table(kind(GOOD.astype(np.float32)))
    assert learnable(kept) is kept


@pytest.mark.parametrize(("size", "fault"), [(1e145, "overflow"), (1e-145, "underflow"), (1e-308, "underflow")])
def test_rows_whose_products_float64_cannot_hold_are_refused(size, fault):
    with pytest.raises(InvalidInput, match=f"squared values {fault} float64 .*Scale"):
        learnable(as_table(size * GOOD))


def test_rows_of_zeros_and_single_tiny_rows_are_learnable():
    for X in (np.zeros((3, 2)), np.array([[1e-308, 0.0], [1.0, 2.0]])):
        assert learnable(as_table(X)).values.tolist() == X.tolist()


def test_indices_can_be_kept_from_others():
    matrix = sp.csr_array(np.asarray(GOOD, float))
    table = with_own_indices(as_table(matrix))
    assert np.shares_memory(table.rows.data, matrix.data)
    assert not np.shares_memory(table.rows.indices, matrix.indices)
    assert not np.shares_memory(table.rows.indptr, matrix.indptr)
    dense = as_table(np.asarray(GOOD, float))
    assert with_own_indices(dense) is dense


def overwrite(matrix):
    def callback(epoch):
        matrix.indices[:] = 2**30
        matrix.indptr[1:] = 2**30

    return callback


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y, f: Perceptron(callback=f, max_iter=5, tol=None).fit(X, y),
        lambda X, y, f: Perceptron(schedule=lambda t: f(t) or 1.0, max_iter=5, tol=None).fit(X, y),
        lambda X, y, f: AdalineRegressor(callback=f, max_iter=5, tol=None).fit(X, y),
        lambda X, y, f: train(X, y, callback=f, max_iter=5, tol=None),
    ],
    ids=["callback", "schedule", "regression", "train"],
)
def test_a_function_of_the_users_cannot_change_the_indices_that_a_fit_reads(fit):
    rng = np.random.default_rng(0)
    X, y = sp.random_array((40, 6), density=0.5, rng=rng, format="csr"), np.arange(40) % 2
    same = X.copy()
    first, second = fit(X, y, overwrite(X)), fit(same, y, lambda epoch: None)
    np.testing.assert_array_equal(getattr(first, "coef_", None), getattr(second, "coef_", None))
