"""Weights with their uncertainty."""

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.learners.arow import Arow


def test_a_covariance_that_fills_the_memory_is_refused():
    with pytest.raises(InvalidInput, match=r"covariance='full' needs \d+ GiB for 100000 features"):
        Arow(1.0, full=True).start(1, 100_000, np.float64)
