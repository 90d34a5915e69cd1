"""The compiled city-block distances against plain Python."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.kernels.distances import CsrBlock, city_block, city_block_csr


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
        "from rosenblatt.kernels.distances import CsrBlock, city_block, city_block_csr\n"
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
