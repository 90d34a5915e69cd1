"""Copies of some rows."""

from rosenblatt.jit import compiled
from rosenblatt.patience import patient
from rosenblatt.verbs.rows import Dense, add


@patient(lambda rows, subset, factor, out: 10 * out.size)
@compiled()
def gather(rows, subset, factor, out):
    """Copy the rows of `subset`, each times its `factor`, into the zeroed matrix out."""
    for t in range(subset.size):
        add(rows, subset[t], factor[t], out, t)


def _plain_gather(rows, subset, factor, out):
    if isinstance(rows, Dense):
        out[:, : rows.X.shape[1]] += factor[:, None].astype(out.dtype) * rows.X[subset]
        return
    for t, i in enumerate(subset.tolist()):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        out[t, rows.indices[part]] += out.dtype.type(factor[t]) * rows.data[part]
