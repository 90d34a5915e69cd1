"""Sparse matrices of any format, sound and damaged; SciPy is imported with the first of them."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import Perceptron, certify, train
from rosenblatt.data import matrices
from rosenblatt.data.matrices import as_dense, check_sparse
from rosenblatt.data.table import as_sparse_table, as_table
from rosenblatt.errors import InvalidInput, TooLarge

FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dia", "dok")


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_gives_the_same_rows(format):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 4.0]])
    table = as_sparse_table(sp.csr_array(X).asformat(format))
    assert table.matrix().toarray().tolist() == X.tolist()
    assert table.largest == 25.0


def damage(matrix):
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.indices[0] = 99
    elif matrix.format == "coo":
        matrix.coords[0][0] = 99
    elif matrix.format == "lil":
        matrix.rows[0] = [99]
    else:
        matrix.offsets = matrix.offsets[:1]
    return matrix


@pytest.mark.parametrize("format", FORMATS[:-1])
def test_what_leads_outside_is_refused(format):
    matrix = damage(sp.csr_array(np.eye(3) + np.eye(3, k=1)).asformat(format).copy())
    with pytest.raises(InvalidInput, match="damaged sparse matrix"):
        as_sparse_table(check_sparse(matrix))


def test_repeated_entries_of_a_sparse_row_add_up():
    twice = sp.csr_matrix((np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2))
    assert as_table(twice).largest == 4.0
    assert (
        train(twice, [0, 1], order="cyclic").coef.tolist()
        == train(twice.toarray(), [0, 1], order="cyclic").coef.tolist()
    )
    assert twice.nnz == 4


@pytest.mark.parametrize("kind", [sp.dia_array, sp.dia_matrix])
@pytest.mark.parametrize("offset", [-(2**63), -(2**62), -101, 101, 2**31, 2**63 - 1])
def test_diagonals_outside_of_the_matrix_are_refused(kind, offset):
    matrix = kind((np.ones((1, 100)), [0]), shape=(100, 100))
    matrix.offsets = np.array([offset])
    for use in (Perceptron().fit, certify, train):
        with pytest.raises(InvalidInput, match=r"its offsets go outside \[-100, 100\]"):
            use(matrix, np.arange(100) % 2)


def test_diagonals_just_outside_are_empty():
    matrix = sp.dia_array((np.ones((3, 4)), [-4, 1, 4]), shape=(4, 4))
    assert as_sparse_table(matrix).matrix().toarray().tolist() == np.eye(4, k=1).tolist()


def wide(format):
    n_columns = 2**40
    if format == "dia":
        return sp.dia_array((np.ones((1, 2)), [0]), shape=(2, n_columns))
    if format == "bsr":
        return sp.bsr_array((np.ones((1, 1, 2)), np.array([0]), np.array([0, 1, 1])), shape=(2, n_columns))
    matrix = sp.coo_array((np.ones(2), ([0, 1], [0, n_columns - 1])), shape=(2, n_columns))
    return matrix if format == "coo" else matrix.asformat(format)


@pytest.mark.parametrize("format", ["csr", "bsr", "coo", "lil", "dia", "dok"])
def test_more_columns_than_any_memory_holds_are_refused_before_it_is_asked_for(format):
    matrix = wide(format)
    assert matrix.format == format
    for use in (Perceptron().fit, Perceptron().partial_fit, certify, train):
        with pytest.raises(TooLarge, match=r"1099511627776 columns would take .* of memory, .* hash them into fewer"):
            use(matrix, [0, 1])
    with pytest.raises(TooLarge):
        as_dense(matrix)


def test_arrays_that_repeat_one_number_are_as_large_as_their_copies():
    many = np.broadcast_to(0, 2**45)
    matrix = sp.coo_array((np.ones(2), ([0, 1], [0, 1])), shape=(2, 2))
    matrix.data, matrix.coords = np.broadcast_to(1.0, 2**45), (many, many)
    with pytest.raises(TooLarge, match="entries would take"):
        as_sparse_table(matrix)
    with pytest.raises(TooLarge, match="A copy of X"):
        as_table(np.broadcast_to(1.0, (2, 2**45)))


def test_indices_without_values_are_refused():
    matrix = sp.csr_array(np.eye(3))
    matrix.indices = np.append(matrix.indices, 0)
    with pytest.raises(InvalidInput, match="it has 4 indices for 3 values"):
        as_sparse_table(matrix)
    matrix._shape = (3, None)
    with pytest.raises(InvalidInput, match="its shape is"):
        as_sparse_table(matrix)


def test_a_sparse_matrix_becomes_an_array_after_it_was_checked():
    assert as_dense(sp.coo_array(np.eye(3))).tolist() == np.eye(3).tolist()
    assert as_dense([[1]]) == [[1]]
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices[1] = 2**30
    with pytest.raises(InvalidInput, match="damaged sparse matrix"):
        as_dense(matrix)
    model = Perceptron().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(InvalidInput, match="damaged sparse matrix"):
        model.coef_ = matrix


def test_sparse_is_what_scipy_says():
    for X in (sp.csr_matrix((2, 2)), sp.coo_array((2, 2)), np.eye(2), [[1.0]], None):
        assert matrices.sp.issparse(X) == sp.issparse(X)
    assert matrices.sp.csr_matrix is sp.csr_matrix


def test_a_table_of_dense_rows_imports_no_scipy():
    program = (
        "import sys; from rosenblatt.data.table import as_table; as_table([[1.0, 2.0]]); "
        "assert 'scipy.sparse' not in sys.modules; from rosenblatt.data.matrices import sp; "
        "assert sp.issparse(sp.csr_matrix((2, 2)))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
