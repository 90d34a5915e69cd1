"""Profiles of data sets on which a search for the end of an interval can go astray."""

import numpy as np
import pytest

from rosenblatt.regression import firth


def nearly_separable(seed):
    """Complete separation by a hyperplane of several features, whose profiles are flat far out."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 100)), int(rng.integers(3, 6))
    features = rng.standard_normal((n, k))
    score = features @ rng.standard_normal(k)
    return np.column_stack([np.ones(n), features]), score > np.median(score)


@pytest.mark.parametrize("seed", range(12))
def test_a_coefficient_fixed_at_the_end_of_its_interval_has_a_p_value_of_one_less_the_level(seed):
    # Fixing a coefficient is an offset: then its hypothesis is that it is zero besides.
    design, y = nearly_separable(seed)
    fit = firth(design, y)
    assert not fit.note
    for end in (fit.lower, fit.upper):
        shifted = firth(design, y, offset=design[:, 1] * end[1])
        assert shifted.p_values[1] == pytest.approx(0.05, abs=1e-7)
