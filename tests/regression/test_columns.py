"""Independent columns, and what rows identify."""

import numpy as np
import pytest

from rosenblatt.regression.columns import independent


@pytest.mark.parametrize("seed", range(10))
def test_the_basis_spans_the_kept_columns_and_relations_give_the_others(seed):
    rng = np.random.default_rng(seed)
    design = rng.standard_normal((12, 6)) * 10.0 ** rng.integers(-8, 9, 6)
    lengths = np.linalg.norm(design, axis=0)
    design[:, 3] = lengths[3] * (design[:, 0] / lengths[0] - design[:, 2] / lengths[2])
    design[:, 5] = 0
    basis = independent(design, range(6))
    assert basis.kept.tolist() == [0, 1, 2, 4]
    kept = design[:, basis.kept]
    unit = kept / np.linalg.norm(kept, axis=0)
    np.testing.assert_allclose((basis.rows @ basis.triangle) / np.linalg.norm(kept, axis=0), unit, atol=1e-14)
    np.testing.assert_allclose(basis.rows.T @ basis.rows, np.eye(4), atol=1e-14)
    np.testing.assert_allclose(unit @ basis.relations[3], design[:, 3] / np.linalg.norm(design[:, 3]), atol=1e-12)
    assert not basis.relations[5].any()
    assert basis.identified().tolist() == [1, 4]


def test_columns_of_any_size_are_independent():
    design = np.array([[1e200, 1e-200], [1e200, 2e-200], [-1e200, 5e-200]])
    assert independent(design, range(2)).kept.tolist() == [0, 1]


def test_of_no_rows_no_column_is_independent():
    basis = independent(np.empty((0, 2)), range(2))
    assert basis.kept.size == basis.identified().size == 0
