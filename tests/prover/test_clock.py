"""Time limits."""

import math
import random

import pytest

from rosenblatt.engine import jit
from rosenblatt.prover.exact.clock import Deadline, OutOfTime, check_time
from rosenblatt.prover.exact.rational import in_cone, null_space, null_vector, pivots, solve


def test_without_a_limit_there_is_always_time():
    clock = Deadline(None)
    assert clock.left == math.inf
    clock.check(1e300)


def test_a_limit_counts_down_and_raises():
    clock = Deadline(1000.0)
    first = clock.left
    assert clock.left <= first <= 1000.0
    clock.check(1.0)
    with pytest.raises(OutOfTime):
        clock.check(1001.0)
    with pytest.raises(OutOfTime):
        Deadline(-1.0).check()


def test_the_time_to_compile_does_not_count(monkeypatch):
    clock = Deadline(5.0)
    clock.end -= 100.0
    monkeypatch.setattr(jit.timer, "seconds", jit.timer.seconds + 98.0)
    clock.check()


def test_far_below_one_asks_the_clock_that_is_running():
    check_time()
    with Deadline(1000.0):
        check_time()
        with Deadline(-1.0), pytest.raises(OutOfTime, match="-1 seconds"):
            check_time()
        check_time()
    check_time()


def random_matrix(rows, columns):
    source = random.Random(0)
    return [[source.getrandbits(40) for _ in range(columns)] for _ in range(rows)]


@pytest.mark.parametrize("size", [3, 20])
@pytest.mark.parametrize(
    "step",
    [
        lambda A: solve(A, A[0]),
        lambda A: pivots(A),
        lambda A: null_space(A[:-1], len(A)),
        lambda A: null_vector([*A, A[0]]),
        lambda A: in_cone(A, A[0]),
    ],
)
def test_exact_arithmetic_ends_with_its_time(step, size):
    A = random_matrix(size, size)
    assert step(A) is not None
    with Deadline(-1.0), pytest.raises(OutOfTime):
        step(A)
