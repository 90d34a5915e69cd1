"""Pointers to the elements of an array, in the order in which they lie."""

import subprocess
import sys

import numpy as np
import pytest

from rosenblatt.jit import compiled


@compiled()
def _double(array):
    elements = pointer(array)
    for k in range(array.size):
        elements[k] = 2.0 * elements[k] + k


@pytest.mark.parametrize("order", ["C", "F"])
def test_elements_are_read_and_written_as_they_lie(order):
    array = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    wanted = 2.0 * array + np.arange(6).reshape(2, 3, order=order)
    _double(array)
    np.testing.assert_array_equal(array, wanted)


def test_penalties_are_known_without_numba():
    script = "import sys, rosenblatt.verbs.penalties\nprint('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
