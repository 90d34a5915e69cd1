"""Threads change nothing but the time."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rosenblatt import KernelPerceptron
from rosenblatt.kernels.threads import Threads, pieces


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 70)).astype(np.float32)
    y = rng.integers(0, 3, 3000)
    one = KernelPerceptron(max_iter=2, tol=None).fit(X, y)
    with threadpool_limits(2, user_api="blas"):
        two = KernelPerceptron(max_iter=2, tol=None).fit(X, y)
        together = two.decision_function(X)
    assert one.dual_coef_.tolist() == two.dual_coef_.tolist()
    np.testing.assert_array_equal(together, one.decision_function(X))


@pytest.mark.parametrize("count", [1, 2])
def test_every_part_is_done_once_and_blas_gets_its_threads_back(count):
    def limits():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    done = np.zeros(50, int)

    def work(part):
        done[part] += 1

    with threadpool_limits(count, user_api="blas"):
        before = limits()
        with Threads(alone=False) as threads:
            assert set(limits()) == {1}
            threads.share(work, range(50))
            threads.share(work, [])
        assert limits() == before
    assert done.tolist() == [1] * 50


def test_a_users_function_stays_in_its_thread_and_keeps_blas():
    def limits():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    names = []
    before = limits()
    with Threads(alone=True) as threads:
        assert limits() == before
        threads.share(lambda part: names.append(threading.current_thread().name), range(9))
    assert names == [threading.current_thread().name] * 9


def test_an_exception_reaches_the_caller():
    with threadpool_limits(2, user_api="blas"), Threads(alone=False) as threads, pytest.raises(ZeroDivisionError):
        threads.share(lambda part: 1 / part, [2, 1, 0])


@pytest.mark.parametrize(("size", "length"), [(0, 3), (1, 3), (6, 3), (7, 3)])
def test_pieces_are_the_numbers_in_order(size, length):
    parts = [piece.tolist() for piece in pieces(size, length)]
    assert [number for part in parts for number in part] == list(range(size))
    assert all(len(part) == length for part in parts[:-1])
