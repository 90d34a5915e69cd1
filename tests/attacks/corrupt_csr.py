"""Feed corrupt sparse matrices to every entry point; run as a script, so that a crash is seen as an exit code.

    python -m attacks.corrupt_csr 30000 [SEED]

Prints how many matrices were refused and how many were sound after all. Anything but an error of the package is a
failure; so is memory that is asked for before it is refused, beyond `MOST_BYTES`.
"""

import resource
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from rosenblatt import AROW, KernelPerceptron, Perceptron, certify, trace, train
from rosenblatt.errors import RosenblattError

WILD = [-1, -(2**31), 2**31 - 1, 10**6, 7, -(2**62), 2**62, 2**63 - 1, -(2**63)]
SIDES = [0, 1, 5, 12, 30, 2**31, 2**31 + 1, 2**40, 2**62, -1, 2.0, None]
TYPES = ["?", "i1", "u2", ">i4", "i8", "u8", "f2", "f4", ">f8", "f8", "f16", "c16", "O", "S3", "U3", "M8[s]", "m8[s]"]
FORMATS = ["csr", "csc", "bsr", "coo", "lil", "dia", "dok"]
# What a process may have on top of what it has when the first matrix comes.
MOST_BYTES = 1 << 32


def sound(rng, index):
    matrix = sp.random_array((12, 7), density=0.3, rng=rng, format="csr", data_sampler=rng.standard_normal)
    if rng.integers(2):
        matrix = sp.csr_matrix(matrix)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def wild(rng, dtype):
    """Return a number that leads outside, as far as its type goes."""
    number = WILD[rng.integers(len(WILD))]
    return np.array([number % (1 << 64) if dtype.kind == "u" else number]).astype(dtype)[0]


def corrupt(rng, matrix):
    """Damage one part of the matrix, behind scipy's back."""
    kind = rng.integers(9)
    if kind == 0:
        matrix.indices[rng.integers(matrix.nnz)] = wild(rng, matrix.indices.dtype)
    elif kind == 1:
        matrix.indptr[rng.integers(matrix.indptr.size)] = wild(rng, matrix.indptr.dtype)
    elif kind == 2:
        matrix.indptr = rng.permutation(matrix.indptr)
    elif kind == 3:
        matrix.indptr = matrix.indptr[: rng.integers(matrix.indptr.size)]
    elif kind == 4:
        matrix.indices = matrix.indices[: rng.integers(matrix.nnz)]
    elif kind == 5:
        matrix.data = matrix.data[: rng.integers(matrix.nnz)]
    elif kind == 6:
        matrix.data[rng.integers(matrix.nnz)] = rng.choice([np.nan, np.inf, -np.inf, 1e300])
    elif kind == 7:
        matrix.indices = matrix.indices.astype(float) * rng.choice([1.0, np.nan])
    else:
        matrix._shape = misshapen(rng)
    return matrix


def misshapen(rng):
    """Return what a shape may have become."""
    if rng.integers(2):
        return int(rng.integers(0, 30)), int(rng.integers(0, 9))
    return tuple(SIDES[rng.integers(len(SIDES))] for _ in range(rng.choice([1, 2, 2, 2, 3])))


def constructed(rng):
    """Build a matrix from wrong arrays through scipy's own constructors."""
    data, indices = rng.standard_normal(6), rng.integers(-3, 12, 6)
    indptr = np.sort(rng.integers(0, 9, 13)) if rng.random() < 0.5 else rng.integers(-2, 9, 13)
    kind = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_matrix][rng.integers(4)]
    if kind is sp.coo_matrix:
        matrix = sp.coo_matrix((data, (rng.integers(0, 12, 6), rng.integers(0, 7, 6))), shape=(12, 7))
        matrix.row[rng.integers(6)] = wild(rng, matrix.row.dtype)
        return matrix
    shape = (12, 7) if kind is not sp.csc_matrix else (7, 12)
    return kind((data, indices, indptr), shape=shape, copy=True)


def other_format(rng):
    """Damage the parts of a matrix of any format, behind scipy's back."""
    matrix = sound(rng, np.int64).asformat(FORMATS[rng.integers(len(FORMATS))])
    kind = rng.random()
    if kind < 0.1:
        return matrix
    if kind < 0.25:
        matrix._shape = misshapen(rng)
    elif kind < 0.35 and matrix.format not in ("lil", "dok"):
        matrix.data = matrix.data.astype(TYPES[rng.integers(len(TYPES))])
    elif kind < 0.35:
        matrix.dtype = np.dtype(TYPES[rng.integers(len(TYPES))])
    elif matrix.format == "lil":
        _damage_lists(rng, matrix)
    elif matrix.format == "dok":
        key = [(int(rng.choice(WILD)), 0), "key", (0, 0, 0), (0.5, 1), None][rng.integers(5)]
        matrix._dict[key] = [1.0, np.nan, "a", None, 10**400][rng.integers(5)]
    else:
        names = {"dia": ["offsets", "data"], "coo": ["row", "col", "data"]}
        name = rng.choice(names.get(matrix.format, ["indptr", "indices", "data"]))
        setattr(matrix, name, _damaged_array(rng, getattr(matrix, name)))
    return matrix


def _damage_lists(rng, matrix):
    row, part = rng.integers(12), rng.choice(["rows", "data"])
    kind = rng.integers(5)
    lists = getattr(matrix, part)
    if kind == 0:
        lists[row] = lists[row] + [int(rng.choice(WILD))] * int(rng.integers(1, 2000))
    elif kind == 1:
        lists[row] = lists[row][:-1]
    elif kind == 2:
        lists[row] = [None, (0,), "text", np.arange(3), 5][rng.integers(5)]
    elif kind == 3 and matrix.rows[row]:
        matrix.rows[row][0] = [int(rng.choice(WILD)), 0.5, "a", None, 10**30][rng.integers(5)]
    else:
        setattr(matrix, part, lists[: rng.integers(12)])


def _damaged_array(rng, array):
    kind = rng.integers(8)
    if kind == 0:
        return array[: rng.integers(len(array))]
    if kind == 1:
        return np.concatenate([array, array])
    if kind == 2:
        return array.astype(float) * np.nan
    if kind == 3:
        return [None, array.tolist(), array[None], array.reshape(-1)][rng.integers(4)]
    if kind == 4:
        return array.astype(TYPES[rng.integers(len(TYPES))])
    if kind == 5:  # much, that takes no memory
        return np.broadcast_to(array.reshape(-1)[0], [(2**20,), (2**40,), (2, 2**40)][rng.integers(3)])
    array = array.copy()
    array.reshape(-1)[rng.integers(array.size)] = wild(rng, array.dtype)
    return array


def labels(X):
    """Return labels for the rows, as many as there are or as one may have."""
    n_rows = X.shape[0] if X.shape and isinstance(X.shape[0], int) else 12
    return np.resize([0, 1], min(max(n_rows, 0), 1000))


def assign(model, X):
    """Let weights be what a matrix says."""
    model.coef_ = X
    model.partial_fit(np.ones((1, 7)), [0])


def uses():
    """Return the entry points, each a function of a matrix."""
    clean = np.ones((12, 7))
    rows, y = np.r_[clean[:6], -clean[6:]], np.arange(12) % 2
    model, kernel = Perceptron().fit(rows, y), KernelPerceptron().fit(rows, y)
    return [
        lambda X: Perceptron(max_iter=3).fit(X, labels(X)),
        lambda X: Perceptron().partial_fit(X, labels(X)),
        lambda X: AROW().fit(X, labels(X)),
        lambda X: train(X, labels(X), max_iter=3),
        lambda X: list(trace(X, labels(X), max_iter=2)),
        lambda X: certify(X, labels(X)),
        lambda X: certify(X, labels(X), exact="decimal"),
        lambda X: KernelPerceptron(max_iter=2).fit(X, labels(X)),
        lambda X: assign(Perceptron().fit(rows, y), X),
        lambda X: Perceptron().fit(rows, y).learn_one(X, 0),
        kernel.predict,
        model.predict,
        model.decision_function,
        model.distance,
    ]


def main(count, seed=0):
    entries = uses()
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MOST_BYTES, resource.RLIM_INFINITY))
    refused = accepted = failed = 0
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        try:
            if k % 3:
                X = other_format(rng)
            else:
                X = corrupt(rng, sound(rng, [np.int32, np.int64][k % 2])) if k % 4 else constructed(rng)
        except (ValueError, IndexError, TypeError, OverflowError, NotImplementedError):  # scipy refused to build it
            refused += 1
            continue
        try:
            entries[rng.integers(len(entries))](X)
            accepted += 1
        except RosenblattError as error:
            assert len(str(error)) > 40, error
            refused += 1
        except Exception:
            failed += 1
            print("FAILURE", k, X.format, traceback.format_exc(limit=-2), file=sys.stderr)
    print(refused, accepted, failed)
    sys.exit(failed > 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*map(int, sys.argv[1:]))
