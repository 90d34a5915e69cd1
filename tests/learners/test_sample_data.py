"""Real data, split and scaled."""

import numpy as np
import pytest

from rosenblatt.learners.sample_data import digits, tumours


@pytest.mark.parametrize(("data", "shape", "classes"), [(tumours, (569, 30), 2), (digits, (1797, 64), 10)])
def test_every_row_is_on_one_side_of_the_split(data, shape, classes):
    split = data()
    assert (len(split.X) + len(split.X_test), split.X.shape[1]) == shape
    assert len(split.X) == len(split.y)
    assert len(split.X_test) == len(split.y_test)
    assert set(split.y.tolist()) == set(split.y_test.tolist()) == set(range(classes))
    assert split.X.tobytes() == data(0).X.tobytes() != data(1).X.tobytes()


def test_tumours_are_standardised_by_the_rows_to_learn_from():
    split = tumours()
    assert np.allclose(split.X.mean(axis=0), 0)
    assert np.allclose(split.X.std(axis=0), 1)
    assert not np.allclose(split.X_test.mean(axis=0), 0)


def test_pixels_of_digits_are_between_zero_and_one():
    split = digits()
    assert split.X.min() == 0
    assert split.X.max() == 1
