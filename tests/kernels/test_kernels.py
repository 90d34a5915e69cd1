"""Kernels against those of scikit-learn, and what is known of users' functions."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise

from rosenblatt.errors import InvalidInput
from rosenblatt.kernels import kernels
from rosenblatt.kernels.kernels import CsrBlock, city_block, city_block_csr


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("narrow", [0, 2048])
def test_built_in_kernels_are_scikit_learns(storage, narrow, monkeypatch):
    monkeypatch.setattr(kernels, "DENSE_PRODUCT_MAX_FEATURES", narrow)
    rng = np.random.default_rng(3)
    A, B = (rng.standard_normal((n, 9)) * (rng.random((n, 9)) < 0.5) for n in (7, 5))
    A[0] = 0.0
    wanted = {
        kernels.Polynomial(0.3, 2.0, 4): pairwise.polynomial_kernel(B, A, 4, 0.3, 2.0),
        kernels.Polynomial(0.3, 2.0, 0): np.ones((5, 7)),
        kernels.Polynomial(): pairwise.linear_kernel(B, A),
        kernels.Gaussian(0.7): pairwise.rbf_kernel(B, A, 0.7),
        kernels.Laplacian(0.7): pairwise.laplacian_kernel(B, A, 0.7),
        kernels.Cosine(): pairwise.cosine_similarity(B, A),
        kernels.Padded(kernels.Cosine()): pairwise.cosine_similarity(B, A) + 1,
    }
    for kernel, block in wanted.items():
        for first, second in ((storage(B), storage(A)), (storage(B), A), (B, storage(A))):
            np.testing.assert_allclose(kernel.columns(first, second), block, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(kernel.diagonal(storage(A)), np.diagonal(kernel.columns(A, A)), atol=1e-12)


def test_a_gaussian_is_one_at_distance_zero_and_hides_no_overflow():
    X = np.random.default_rng(4).integers(-9, 10, (30, 5)).astype(float)
    K = kernels.Gaussian(0.3).columns(X, X)
    assert (np.diagonal(K) == 1.0).all()
    assert (K == K.T).all()
    with np.errstate(over="ignore", invalid="ignore"):
        lost = kernels.Gaussian(0.3).columns(1e200 * X, 1e200 * X)
    assert np.isnan(np.diagonal(lost)).all()


class Shifted(kernels.Similarity):
    """A kernel that knows its columns only."""

    def columns(self, vectors, rows):
        return vectors @ rows.T + 3.0


@pytest.mark.parametrize("n", [1, 64, 65, 200])
def test_a_diagonal_is_cut_out_of_blocks(n):
    X = np.random.default_rng(0).integers(-3, 4, (n, 4)).astype(float)
    for rows in (X, sp.csr_array(X)):
        found = Shifted().diagonal(rows) if rows is X else kernels.Padded(kernels.Polynomial()).diagonal(rows)
        assert found.tolist() == ((X * X).sum(axis=1) + (3.0 if rows is X else 1.0)).tolist()


def test_a_width_is_that_of_the_parameter():
    X = np.array([[0.0, 2.0, 0.0], [4.0, 0.0, 6.0]])
    for rows in (X, sp.csr_matrix(X), X.astype(np.float32)):
        assert kernels.width("scale", rows) == pytest.approx(1 / (3 * X.var()))
        assert kernels.width("auto", rows) == 1 / 3
        assert kernels.width(np.float32(0.5), rows) == 0.5
    assert kernels.width("scale", np.full((4, 2), 7.0)) == 1.0  # no variance, no scale


def test_neighbours_are_taken_without_a_copy():
    X = np.arange(12.0).reshape(6, 2)
    for number in ([2], [1, 2, 3], [3, 2, 1], [0, 2, 3], [1, 1, 3], []):
        number = np.array(number, np.int64)
        part = kernels.take(X, number)
        assert part.tolist() == X[number].tolist()
        assert np.shares_memory(part, X) == (number.tolist() in ([2], [1, 2, 3]))


def test_joined_objects_are_sparse_if_either_is():
    X, Z = np.eye(3), 2 * np.eye(3)
    assert kernels.join(X, Z).tolist() == [*X.tolist(), *Z.tolist()]
    for pair in ((sp.csr_array(X), Z), (X, sp.csr_array(Z))):
        both = kernels.join(*pair)
        assert sp.issparse(both)
        assert both.toarray().tolist() == [*X.tolist(), *Z.tolist()]
    assert kernels.join(X[:0], Z) is Z
    assert kernels.join(X, sp.csr_array(Z)[:0]) is X


def test_a_users_function_is_recognised_by_trying():
    X = np.random.default_rng(1).standard_normal((5, 3))  # three features: a product of two vectors looks like a block
    by_blocks = kernels.from_function(lambda A, B: A @ B.T, X)
    by_pairs = kernels.from_function(lambda a, b: float(np.dot(a, b)), X)
    assert isinstance(by_blocks, kernels.BlockFunction)
    assert isinstance(by_pairs, kernels.PairFunction)
    np.testing.assert_allclose(by_blocks.columns(X[:2], X), X[:2] @ X.T)
    np.testing.assert_allclose(by_pairs.columns(X[:2], X), X[:2] @ X.T)
    np.testing.assert_allclose(by_pairs.diagonal(X), (X * X).sum(axis=1))
    assert by_blocks.user_defined
    assert by_pairs.user_defined
    assert kernels.Padded(by_pairs).expensive
    assert not kernels.Padded(by_blocks).expensive
    with pytest.raises(InvalidInput, match="neither two blocks"):
        kernels.from_function(lambda A, B: np.ones((7, 7)), X)


def test_a_precomputed_matrix_is_looked_up():
    matrix = np.arange(20.0).reshape(4, 5)
    kernel = kernels.Precomputed(matrix)
    assert kernel.columns(np.array([4, 0]), np.array([1, 2, 3])).tolist() == matrix[[1, 2, 3]][:, [4, 0]].T.tolist()
    assert kernel.diagonal(np.arange(4)).tolist() == np.diagonal(matrix).tolist()
    assert not kernel.worth_caching(np.arange(4))


def distances(A, B):
    return [[sum(abs(x - z) for x, z in zip(a, b, strict=True)) for b in B.tolist()] for a in A.tolist()]


def csr_block(X, index):
    matrix = sp.csr_array(X)
    length = np.abs(X).sum(axis=1).astype(np.float64)
    return CsrBlock(matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index), length)


@st.composite
def blocks(draw):
    """Two blocks of integers with the same features, zeros among them, and empty rows."""
    features = draw(st.integers(1, 6))
    row = st.lists(st.integers(-3, 3), min_size=features, max_size=features)
    return tuple(np.array(draw(st.lists(row, min_size=1, max_size=5)), float) for _ in range(2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(blocks())
def test_dense_and_csr_distances_of_integers_are_exact(dtype, pair):
    A, B = (part.astype(dtype) for part in pair)
    wanted = distances(A, B)
    out = np.full((len(A), len(B)), np.nan, dtype)
    city_block(A, B, out)
    assert out.tolist() == wanted
    for index in (np.int32, np.int64):
        out[:] = np.nan
        city_block_csr(csr_block(A, index), csr_block(B, index), out)
        assert out.tolist() == wanted


def test_a_csr_distance_is_never_negative():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30)) * 10.0 ** rng.integers(-8, 9, (200, 30))
    out = np.empty((200, 200))
    city_block_csr(csr_block(X, np.int32), csr_block(X, np.int32), out)
    assert (out >= 0).all()
    np.testing.assert_allclose(np.diagonal(out), 0, atol=1e-4)


def test_the_distances_run_as_plain_python():
    script = (
        "import numpy as np\n"
        "from rosenblatt.kernels.kernels import CsrBlock, city_block, city_block_csr\n"
        "out = np.empty((1, 1))\n"
        "city_block(np.array([[1.0, 0.0]]), np.array([[0.0, -2.0]]), out)\n"
        "assert out.tolist() == [[3.0]]\n"
        "A = CsrBlock(np.array([1.0, 5.0]), np.array([0, 2]), np.array([0, 2]), np.array([6.0]))\n"
        "B = CsrBlock(np.array([-2.0, 4.0]), np.array([1, 2]), np.array([0, 2]), np.array([6.0]))\n"
        "city_block_csr(A, B, out)\n"
        "assert out.tolist() == [[4.0]]\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, env=environment)
