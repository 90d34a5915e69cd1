"""SciPy's sparse matrices are imported when the first is met."""

import subprocess
import sys

import numpy as np
import scipy.sparse

from rosenblatt.data.scipy_sparse import sp


def test_sparse_is_what_scipy_says():
    for X in (scipy.sparse.csr_matrix((2, 2)), scipy.sparse.coo_array((2, 2)), np.eye(2), [[1.0]], None):
        assert sp.issparse(X) == scipy.sparse.issparse(X)
    assert sp.csr_matrix is scipy.sparse.csr_matrix


def test_a_table_of_dense_rows_imports_no_scipy():
    program = (
        "import sys; from rosenblatt.data.table import as_table; as_table([[1.0, 2.0]]); "
        "assert 'scipy.sparse' not in sys.modules; from rosenblatt.data.scipy_sparse import sp; "
        "assert sp.issparse(sp.csr_matrix((2, 2)))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
