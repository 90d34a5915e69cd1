"""Functions that are interpreted while their work is small: the same bits either way."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rosenblatt import jit
from rosenblatt.compiled import cycle, gathering, modular, nearest, signs
from rosenblatt.compiled.signs import OPEN, LimbWeights, SignedIndex
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.jit import SmallFirst, compiled, small_first

pytestmark = pytest.mark.skipif(jit.DISABLE_JIT, reason="the JIT is off")


def rows_of(random):
    X = random.normal(size=(30, 4)) * 10.0 ** random.integers(-3, 4, (30, 1))
    X[random.random(X.shape) < 0.4] = 0.0
    indptr = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))])
    return Dense(X), Csr(X[X != 0], np.nonzero(X)[1], indptr)


def index_of(random):
    own = random.integers(0, 3, 20)
    return SignedIndex(random.integers(0, 30, 20), own, (own + 1) % 3)


def hulls(random):
    """Rows around the origin and beside it, and rows that repeat and depend on one another."""
    A = random.normal(size=(90, 4))
    return (
        A,
        A + np.array([1.0, 0.0, 0.0, 2.5]),
        np.rint(A),
        np.column_stack([A[:, 0], A[:, 0], -A[:, 1], A[:, 2] * 1e-9]),
    )


def search_of(A, any_separator):
    active = nearest.ActiveSet(
        np.zeros(6, np.int64), np.zeros(6), np.zeros((6, 5)), np.zeros((6, 6)), np.zeros(6), np.eye(5)[4]
    )
    return A, len(A), active, 0, 1e-12, 100, any_separator


def exact_calls():
    """Every function that is interpreted where that costs less, with arguments; all but the last are in and out."""
    random = np.random.default_rng(0)
    dense, csr = rows_of(random)
    index, W = index_of(random), np.vstack([np.zeros(5), random.normal(size=(2, 5))])
    limbs = LimbWeights(random.integers(-1000, 1000, (2, 3, 5)), 10, 20)
    s, a = random.normal(size=50), np.abs(random.normal(size=50))
    p, Z = 2097143.0, np.rint(random.normal(size=(9, 3)) * 3).astype(np.int64)
    M = np.rint(random.uniform(-1e6, 1e6, (5, 5)))
    state = np.array([0, 0, 1])
    gathered = np.arange(10)
    return [
        (signs.filter_signs, (np.append(s, [np.nan, np.inf]), np.append(a, [1, 1]), 0.5, 0.1, np.zeros(52, np.int8))),
        (signs.sum_dense, (dense, index, W, False, np.zeros(20), np.zeros(20))),
        (signs.sum_csr, (csr, index, W, True, np.zeros(20), np.zeros(20))),
        (signs.sign_dense, (Dense(np.rint(dense.X)), index, limbs, False, np.full(20, OPEN, np.int8))),
        (signs.sign_csr, (csr._replace(data=np.rint(csr.data)), 4, index, limbs, False, np.full(20, OPEN, np.int8))),
        (signs.gather_dense, (dense, index, gathered, np.zeros((20, 10)))),
        (signs.gather_csr, (csr, index, 4, gathered[:0], np.zeros((20, 10)))),
        (modular.find_pivots, (M.copy(), p, 0, 5, np.arange(5), *np.zeros((2, 5), np.int64), 0)),
        (modular.invert, (M.copy(), p, 0, 5, np.zeros(5, np.int64))),
        (modular.reduce_limbs, (random.integers(-(2**20), 2**20, (3, 4, 5)).astype(float), p, np.zeros((4, 5)))),
        (modular.congruent, (M.copy(), M + p * np.rint(M / 1e3), p)),
        (modular.lift_digits, (M.copy(), M.copy(), np.zeros((3, 5)) + M[0], p, np.zeros((4, 5)))),
        (modular.multiply, (np.ones((4, 3)), np.array([3.0, 5.0]), p, 0, 4, np.zeros(3), np.zeros((4, 3)))),
        (modular.add_products, (np.rint(M / 1e3), np.rint(M[:2] / 1e3), np.zeros((5, 3), np.int64))),
        (modular.all_zero, (np.zeros((3, 4), np.int64),)),
        (modular.decided_quotients, (1 << 40, (1 << 39) + 12345)),
        (
            cycle.run_epochs,
            (Z, np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(9, np.int64), state, 50, 1 << 40),
        ),
        (gathering.gather, (dense, np.arange(30), random.normal(size=30), np.zeros((30, 5)))),
        (gathering.gather, (csr, np.arange(30), random.normal(size=30), np.zeros((30, 5)))),
        *((nearest.search_few, search_of(A, stop)) for A in hulls(random) for stop in (False, True)),
    ]


def bits(value):
    """Everything in nested tuples of arrays and numbers, so that equal means equal to the last bit."""
    if isinstance(value, tuple):
        return [bits(part) for part in value]
    array = np.asarray(value)
    return (array.astype(float) + 0.0).tobytes() if array.dtype.kind in "fiub" else value


def copied(value):
    if isinstance(value, tuple):
        parts = [copied(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("loop", "arguments"), exact_calls(), ids=lambda value: getattr(value, "__name__", ""))
def test_interpreted_and_compiled_code_give_the_same_bits(loop, arguments):
    plain, machine = copied(arguments), copied(arguments)
    found = SmallFirst(loop.loop, loop.work, limit=np.inf)(*plain)
    assert bits(found) == bits(loop.loop(*machine))
    assert bits(plain) == bits(machine)


def test_every_such_function_is_in_that_test():
    modules = (cycle, gathering, modular, nearest, signs)
    found = {name for module in modules for name, value in vars(module).items() if isinstance(value, SmallFirst)}
    assert found == {loop.__name__ for loop, _ in exact_calls()}


def double(values):
    total = 0.0
    for k in range(values.size):
        total += 2.0 * values[k]
    return total


def test_what_is_called_often_is_compiled_in_the_end(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    loop = small_first(lambda values: values.size, limit=25.0)(compiled()(double))
    for calls in range(1, 5):
        assert loop(np.ones(10)) == 20.0
        assert bool(loop.loop.overloads) == (calls >= 3), "ten operations each: the third call is beyond 25"


def test_a_call_of_much_work_is_compiled_at_once(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    loop = small_first(lambda values: values.size, limit=25.0)(compiled()(double))
    assert loop(np.ones(100)) == 200.0
    assert loop.loop.overloads


def test_only_the_thread_that_interprets_does(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    inner = compiled()(double)

    def outer(values):
        with ThreadPoolExecutor(1) as pool:
            return inner(values), bool(vars(inner).get("dispatcher")), pool.submit(inner, values).result()

    found = SmallFirst(jit.Loop(outer, {}), lambda values: 1.0, limit=np.inf)(np.ones(3))
    assert found == (6.0, False, 6.0)
    assert inner.overloads, "the other thread compiled it"
