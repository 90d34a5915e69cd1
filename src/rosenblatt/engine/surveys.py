"""How large the values of columns are."""

import numpy as np

from rosenblatt.engine.jit import compiled


@compiled()
def survey_dense(X, rows, squares, counts):
    """Add up, column by column, the squares of the values of some rows, and how many of them are not zero."""
    for t in range(rows.size):
        for j in range(X.shape[1]):
            value = np.float64(X[rows[t], j])
            squares[j] += value * value
            counts[j] += value != 0.0


@compiled()
def survey_csr(data, indices, indptr, rows, squares, counts, columns):
    """Do the same for sparse rows, in time proportional to their entries; return how many columns have values.

    `squares` and `counts` have a zero for each column: memory that is all zeros costs nothing until it is written to.
    `columns`, with room for each entry of the rows, receives the columns that have values.
    """
    size = 0
    for t in range(rows.size):
        for k in range(indptr[rows[t]], indptr[rows[t] + 1]):
            j, value = indices[k], np.float64(data[k])
            if value != 0.0:
                if counts[j] == 0.0:
                    columns[size] = j
                    size += 1
                squares[j] += value * value
                counts[j] += 1.0
    return size
