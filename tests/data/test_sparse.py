"""Sparse matrices of any format, sound and damaged."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import train
from rosenblatt.data.sparse import as_sparse_table, check_sparse
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput

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
