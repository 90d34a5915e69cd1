"""Sources of small files for tests."""

import numpy as np

from rosenblatt.engine.rows import Csr
from rosenblatt.files.opening import open_source


def matrix(chunk):
    """Give the rows of a chunk as lists of (column, value), or of values."""
    rows = chunk.table.rows
    if not isinstance(rows, Csr):
        return rows.X.tolist()
    spans = [slice(*rows.indptr[i : i + 2]) for i in range(chunk.table.shape[0])]
    return [list(zip(rows.indices[s].tolist(), rows.data[s].tolist(), strict=True)) for s in spans]


def content(source):
    """Give all rows, labels and weights of a source."""
    rows, labels, weights = [], [], []
    for chunk in source:
        rows += matrix(chunk)
        labels += chunk.label.tolist()
        weights += (np.ones(chunk.label.size) if chunk.weight is None else chunk.weight).tolist()
    return rows, labels, weights


def named(source):
    """Give each row as a dict from name to value."""
    rows = content(source)[0]
    return [{source.names[column]: value for column, value in row} for row in rows]


def read(path, **options):
    return content(open_source(path, **options))
