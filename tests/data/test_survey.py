"""What a look at some rows tells of the sizes of their values."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.survey import SURVEYED_ROWS, Survey, survey
from rosenblatt.data.table import ALL_ROWS, as_table
from strategies import integer_sets


def test_sizes_by_hand():
    X = [[3.0, 0.0, 0.0], [4.0, 0.0, 0.5]]
    # Lengths 3 and sqrt(16.25); three values; column 0 has 3 and 4, column 2 has 0.5, column 1 nothing.
    first, last = (9 + 16) / 2, 0.25
    expected = np.sqrt([25.25 / 2, 25.25 / 3, first, (first + last) / 2])
    length, value, column, column_value, median_value = survey(as_table(X))
    assert column == 0
    np.testing.assert_allclose([length, value, column_value, median_value], expected)


@given(integer_sets(), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_storage_does_not_matter_nor_do_stored_zeros(data, dtype, part):
    X = data[0].astype(dtype)
    stored = sp.csr_array((X.ravel(), np.tile(np.arange(X.shape[1]), len(X)), np.arange(len(X) + 1) * X.shape[1]))
    subset = np.arange(0, len(X), 2, dtype=np.int32) if part else ALL_ROWS
    found = [survey(as_table(rows), subset) for rows in (X, sp.csr_array(X), stored)]
    assert found[0] == found[1] == found[2]  # sums of integers are exact
    assert found[0] == survey(as_table(X[subset] if part else X))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_zeros_have_no_size(kind):
    assert survey(as_table(kind(np.zeros((3, 2))))) == Survey(0.0, 0.0, 0, 0.0, 0.0)


def test_rows_of_a_large_table_are_looked_at_evenly():
    X = np.ones((10 * SURVEYED_ROWS, 100))
    X[5 * SURVEYED_ROWS :, 70:] = 3.0
    for rows in (X, sp.csr_array(X)):
        found = survey(as_table(rows))
        assert found.column == 70
        assert found.column_value == pytest.approx(np.sqrt(5))


def test_many_columns_are_surveyed_as_few_are():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.5) * 10.0 ** np.arange(8)
    wide = np.zeros((30, 5000))
    wide[:, 17::700] = X
    few, many = survey(as_table(sp.csr_array(X))), survey(as_table(sp.csr_array(wide)))
    assert many == few._replace(column=17 + 700 * few.column)
