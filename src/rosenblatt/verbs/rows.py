"""Rows, what they teach, and what a loop does with one: `dot`, `add` and their like. Dense rows are here.

A row store (`Dense`, `Csr`) is a NamedTuple, and its type chooses the body of each verb when a loop is compiled. With
the JIT off the same bodies run as Python. The bodies for sparse rows are loaded when the first sparse row comes.

Nothing here checks bounds; `rosenblatt.data` validates each array before it arrives.

Short names, defined in docs/explanation/notation.md: i row, j feature, p problem (one weight vector),
c class, t trial, W weights (problems, features), b biases (problems,).
"""

from importlib import import_module
from typing import NamedTuple

import numpy as np

from rosenblatt.jit import compiled, overload

# Sums may be reordered and fused, which is what vectorises a dot product; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}

# Used for calls made once per row. If LLVM does not inline such a call, Numba updates the reference count of every
# array argument with atomic instructions.
INLINED = {"forceinline": True}

# Rows ahead of the one in use that are prefetched when the order jumps.
ROWS_AHEAD = 4
# The same for the weights that it is multiplied with, in any order.
WEIGHTS_AHEAD = 2


class Dense(NamedTuple):
    """Rows of a matrix in memory order."""

    X: np.ndarray  # (n, d), C-contiguous


class Csr(NamedTuple):
    """Rows stored by their nonzeros: row i is entries indptr[i] to indptr[i + 1]."""

    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,) columns, ascending within a row
    indptr: np.ndarray  # (n + 1,)


class Task(NamedTuple):
    """What each row teaches each problem.

    A row of class c is a positive (+1), a negative (-1) or no example (0) of problem p, as `sign[c, p]` says;
    one-vs-all and one-vs-one differ in this table only. For regression, `target` holds a number for each row.
    """

    label: np.ndarray  # (n,) class of each row
    sign: np.ndarray  # (classes, problems) int8
    cost: np.ndarray  # (classes, problems) factor of the step
    class_cost: np.ndarray  # (classes,) what an error on a row of the class counts
    sample_weight: np.ndarray  # (n,) factor of the step and of an error, or empty: all one
    target: np.ndarray  # (n,) for regression, else empty
    bias: float  # square of the constant that pads each row: 1, or 0 for no bias


class Counts(NamedTuple):
    """What an epoch counts, per problem."""

    mistakes: np.ndarray  # trials with y f(x) <= 0
    updates: np.ndarray  # trials that changed the weights
    loss: np.ndarray  # loss summed over the trials
    step: np.ndarray  # steps summed: the weights moved by a sum of that many rows


class Hyperplanes(NamedTuple):
    """Weights ready for use: problem p scores W[p].x + b[p]."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    scale: np.ndarray  # (problems,) ones


# ---------------------------------------------------------------------------------------------- choosing code by type


# Bodies for sparse rows with the weights of a feature side by side, by verb.
BY_FEATURE = {}


def _load(kind):
    """Load the bodies of a row store that lie in a file of their own."""
    if kind is Csr:
        import_module("rosenblatt.verbs.csr")


def by_type(bodies, kind):
    """Body for a NamedTuple instance, or for Numba's type of one."""
    # numba.types.NamedTuple.instance_class is undocumented; this is the one place that relies on it.
    kind = getattr(kind, "instance_class", type(kind))
    if kind not in bodies:
        _load(kind)
    return bodies.get(kind)


def by_layout(verb, else_):
    """Return a choice of code: one for sparse rows with the weights of a feature side by side, one for all else."""

    def choose(rows, W):
        layout = W.layout if hasattr(W, "layout") else "CF"[W.flags.f_contiguous and not W.flags.c_contiguous]
        if layout != "F" or getattr(rows, "instance_class", type(rows)) is not Csr:
            return else_
        _load(Csr)
        return BY_FEATURE.get(verb)

    return choose


# --------------------------------------------------------------------------------------------------------- one vector


# The verbs take the matrix W and the number of a weight vector, not the vector: Numba would count references to a view
# for each row, atomically, at a quarter of the time of a short row.


@compiled(forceinline=True, fastmath=FASTMATH)
def _dot_dense(X, i, W, p):
    total = W.dtype.type(0)
    for j in range(X.shape[1]):
        total += X[i, j] * W[p, j]
    return total


@compiled(forceinline=True, fastmath=FASTMATH)
def _add_dense(X, i, factor, W, p):
    step = W.dtype.type(factor)
    for j in range(X.shape[1]):
        W[p, j] += step * X[i, j]


def _request_dense(rows, near, far):
    # The hardware finds the rest of a dense row by itself; asking for it was measured to cost more than it gave.
    pass


@compiled(forceinline=True, fastmath=FASTMATH)
def _square_dense(X, i):
    total = 0.0
    for j in range(X.shape[1]):
        value = np.float64(X[i, j])  # the square of a float32 may overflow
        total += value * value
    return total


DOT = {Dense: lambda rows, i, W, p: _dot_dense(rows.X, i, W, p)}
ADD = {Dense: lambda rows, i, factor, W, p: _add_dense(rows.X, i, factor, W, p)}
REQUEST = {Dense: _request_dense}
SQUARE = {Dense: lambda rows, i: _square_dense(rows.X, i)}
ENTRIES = {Dense: lambda rows, i: (0, rows.X.shape[1])}
ENTRY = {Dense: lambda rows, i, k: (k, rows.X[i, k])}
ROW_COUNT = {Dense: lambda rows: rows.X.shape[0]}
# As `rosenblatt.data.table.SQUARED_LENGTHS`.
LONGEST = {Dense: lambda rows: 1e30 if rows.X.itemsize == 4 else 1e280}


def dot(rows, i, W, p):
    """Inner product of row i with W[p]."""
    return by_type(DOT, rows)(rows, i, W, p)


def add(rows, i, factor, W, p):
    """Add `factor` times row i to W[p]."""
    return by_type(ADD, rows)(rows, i, factor, W, p)


def request(rows, near, far):
    """Prefetch row `near`, which comes soon, and what leads to row `far`, which comes after it."""
    return by_type(REQUEST, rows)(rows, near, far)


def square(rows, i):
    """Squared norm of row i."""
    return by_type(SQUARE, rows)(rows, i)


def entries(rows, i):
    """First and last-plus-one position of the stored entries of row i."""
    return by_type(ENTRIES, rows)(rows, i)


def entry(rows, i, k):
    """Column and value of the entry of row i at position k."""
    return by_type(ENTRY, rows)(rows, i, k)


def row_count(rows):
    """Return the number of rows."""
    return by_type(ROW_COUNT, rows)(rows)


def longest(rows):
    """Return the largest squared norm of a row whose sums of products do not overflow, by the type of its values."""
    return by_type(LONGEST, rows)(rows)


overload(dot, jit_options=INLINED)(lambda rows, i, W, p: by_type(DOT, rows))
overload(add, jit_options=INLINED)(lambda rows, i, factor, W, p: by_type(ADD, rows))
overload(request, jit_options=INLINED)(lambda rows, near, far: by_type(REQUEST, rows))
overload(square, jit_options=INLINED)(lambda rows, i: by_type(SQUARE, rows))
overload(entries)(lambda rows, i: by_type(ENTRIES, rows))
overload(entry)(lambda rows, i, k: by_type(ENTRY, rows))
overload(longest)(lambda rows: by_type(LONGEST, rows))
overload(row_count)(lambda rows: by_type(ROW_COUNT, rows))


# --------------------------------------------------------------------------------------- all vectors, if that is faster


# Where all products of a row are computed at once, all its updates are made at once, too: they wait in `steps`, a row
# for the weights and a row for the lag of their average, or one for each trial of it.


def _dots_later(rows, i, soon, W, active, out):
    pass  # each product is computed when it is asked for


def _shift_now(rows, i, factor, W, p, steps):
    add(rows, i, factor, W, p)


_choose_room = by_layout("room_for_dots", lambda rows, W, b: b)
_choose_dots = by_layout("dots", _dots_later)
_choose_product = by_layout("product", lambda rows, i, W, p, out: dot(rows, i, W, p))
_choose_steps = by_layout("room_for_steps", lambda rows, W: W)
_choose_shift = by_layout("shift", _shift_now)
_choose_finish = by_layout("finish_shifts", lambda rows, i, W, lag, active, steps: None)


def room_for_dots(rows, W, b):
    """Return an array for `dots`."""
    return _choose_room(rows, W)(rows, W, b)


def dots(rows, i, soon, W, active, out):
    """Compute products of row i, if all at once is faster; prefetch for row `soon`; return its `square`, or None."""
    return _choose_dots(rows, W)(rows, i, soon, W, active, out)


def product(rows, i, W, p, out):
    """Return the inner product of row i with W[p], after `dots`."""
    return _choose_product(rows, W)(rows, i, W, p, out)


def room_for_steps(rows, W):
    """Return an array for the updates of a row, where they wait for each other."""
    return _choose_steps(rows, W)(rows, W)


def shift(rows, i, factor, W, p, steps):
    """Add `factor` times row i to W[p], at once or with the other updates of the row."""
    return _choose_shift(rows, W)(rows, i, factor, W, p, steps)


def finish_shifts(rows, i, W, lag, active, steps):
    """Make the updates of row i that wait."""
    return _choose_finish(rows, W)(rows, i, W, lag, active, steps)


overload(room_for_dots)(lambda rows, W, b: _choose_room(rows, W))
overload(dots, jit_options=INLINED)(lambda rows, i, soon, W, active, out: _choose_dots(rows, W))
overload(product, jit_options=INLINED)(lambda rows, i, W, p, out: _choose_product(rows, W))
overload(room_for_steps)(lambda rows, W: _choose_steps(rows, W))
overload(shift, jit_options=INLINED)(lambda rows, i, factor, W, p, steps: _choose_shift(rows, W))
overload(finish_shifts, jit_options=INLINED)(lambda rows, i, W, lag, active, steps: _choose_finish(rows, W))


@compiled(forceinline=True)
def best_wrong(rows, i, soon, c, W, b, scale, every, products):
    """Score of class c on row i, and the highest score of another class with that class."""
    own, best, wrong = 0.0, -np.inf, 0
    dots(rows, i, soon, W, every, products)
    for k in range(W.shape[0]):
        score = scale[k] * product(rows, i, W, k, products) + b[k]
        if k == c:
            own = score
        elif not score <= best:
            best, wrong = score, k
    return own, best, wrong
