"""Feed corrupt sparse matrices to every entry point; run as a script, so that a crash is seen as an exit code.

Prints how many matrices were refused and how many were sound after all.
"""

import sys
import warnings

import numpy as np
import scipy.sparse as sp

from rosenblatt import Perceptron, trace, train

WILD = [-1, -(2**31), 2**31 - 1, 10**6, 7]


def sound(rng, index):
    matrix = sp.random_array((12, 7), density=0.3, rng=rng, format="csr", data_sampler=rng.standard_normal)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def corrupt(rng, matrix):
    """Damage one part of the matrix, behind scipy's back."""
    kind = rng.integers(9)
    if kind == 0:
        matrix.indices[rng.integers(matrix.nnz)] = rng.choice(WILD)
    elif kind == 1:
        matrix.indptr[rng.integers(matrix.indptr.size)] = rng.choice(WILD)
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
        matrix._shape = (int(rng.integers(0, 30)), int(rng.integers(0, 9)))
    return matrix


def constructed(rng):
    """Build a matrix from wrong arrays through scipy's own constructors."""
    data, indices = rng.standard_normal(6), rng.integers(-3, 12, 6)
    indptr = np.sort(rng.integers(0, 9, 13)) if rng.random() < 0.5 else rng.integers(-2, 9, 13)
    kind = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_matrix][rng.integers(4)]
    if kind is sp.coo_matrix:
        matrix = sp.coo_matrix((data, (rng.integers(0, 12, 6), rng.integers(0, 7, 6))), shape=(12, 7))
        matrix.row[rng.integers(6)] = rng.choice(WILD)
        return matrix
    shape = (12, 7) if kind is not sp.csc_matrix else (7, 12)
    return kind((data, indices, indptr), shape=shape, copy=True)


def other_format(rng):
    """Damage the parts of a matrix in one of the other formats, behind scipy's back."""
    matrix = sound(rng, np.int64).asformat(["lil", "dia", "dok", "bsr", "coo", "csc"][rng.integers(6)])
    if rng.random() < 0.1:
        return matrix
    if rng.random() < 0.15:
        matrix._shape = (int(rng.integers(0, 30)), int(rng.integers(0, 9)))
    elif matrix.format == "lil":
        _damage_lists(rng, matrix)
    elif matrix.format == "dok":
        matrix._dict[(int(rng.choice(WILD)), 0) if rng.random() < 0.7 else "key"] = rng.choice([1.0, np.nan])
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
    kind = rng.integers(5)
    if kind == 0:
        return array[: rng.integers(len(array))]
    if kind == 1:
        return np.concatenate([array, array])
    if kind == 2:
        return array.astype(float) * np.nan
    if kind == 3:
        return [None, array.tolist(), array[None], array.reshape(-1)][rng.integers(4)]
    array = array.copy()
    array.reshape(-1)[rng.integers(array.size)] = rng.choice(WILD)
    return array


def main(count):
    rng = np.random.default_rng(0)
    y = np.arange(12) % 2
    clean = np.ones((12, 7))
    model = Perceptron().fit(np.r_[clean[:6], -clean[6:]], y)
    uses = [
        lambda X: Perceptron(max_iter=3).fit(X, np.resize(y, X.shape[0])),
        lambda X: Perceptron().partial_fit(X, np.resize(y, X.shape[0])),
        lambda X: train(X, np.resize(y, X.shape[0]), epochs=3),
        lambda X: list(trace(X, np.resize(y, X.shape[0]), epochs=2)),
        model.predict,
        model.decision_function,
        model.distance,
    ]
    refused = accepted = 0
    for k in range(count):
        try:
            if k % 3 == 0:
                X = other_format(rng)
            else:
                X = corrupt(rng, sound(rng, [np.int32, np.int64][k % 2])) if k % 4 else constructed(rng)
        except (ValueError, IndexError, TypeError):  # scipy itself refused to build it
            refused += 1
            continue
        try:
            uses[k % len(uses)](X)
            accepted += 1
        except (ValueError, TypeError) as error:
            assert len(str(error)) > 20, error
            refused += 1
    print(refused, accepted)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]))
