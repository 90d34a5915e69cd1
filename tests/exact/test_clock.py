"""Time limits."""

import math

import pytest

from rosenblatt import jit
from rosenblatt.exact.clock import Clock, OutOfTime


def test_without_a_limit_there_is_always_time():
    clock = Clock(None)
    assert clock.left == math.inf
    clock.check(1e300)


def test_a_limit_counts_down_and_raises():
    clock = Clock(1000.0)
    first = clock.left
    assert clock.left <= first <= 1000.0
    clock.check(1.0)
    with pytest.raises(OutOfTime):
        clock.check(1001.0)
    with pytest.raises(OutOfTime):
        Clock(-1.0).check()


def test_the_time_to_compile_does_not_count(monkeypatch):
    clock = Clock(5.0)
    clock.end -= 100.0
    monkeypatch.setattr(jit.watch, "seconds", jit.watch.seconds + 98.0)
    clock.check()
