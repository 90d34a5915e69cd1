"""From scores of problems to classes."""

import numpy as np
import pytest

from rosenblatt.training.decisions import decision, winners
from rosenblatt.training.multiclass import MULTICLASS, code

modes = pytest.mark.parametrize("multiclass", MULTICLASS)


@modes
def test_votes_count_first_and_scores_decide_between_equals(multiclass):
    sign = code(3, multiclass)
    # Pairs (0, 1), (0, 2), (1, 2): each class has one vote; class 2 wins by the largest scores.
    scores = np.array([[1.0, -5.0, 2.0]])
    found = decision(scores, sign.shape[0], multiclass)
    if multiclass == "ovo":
        assert found.tolist() == [[-4.0, 1.0, 3.0]]
    elif multiclass == "ovo-vote":
        assert winners(found).tolist() == [2]
        assert np.abs(found - 0.0).max() < 1 / 3
        # Two votes beat any scores.
        assert winners(decision(np.array([[0.1, 0.1, 99.0]]), sign.shape[0], multiclass)).tolist() == [0]
    else:
        assert found is scores


def test_a_tie_of_two_classes_goes_to_the_negative_one():
    assert winners(np.array([[0.0], [1e-9], [-1.0]])).tolist() == [0, 1, 0]


@pytest.mark.parametrize("multiclass", ["ovo", "ovo-vote"])
@pytest.mark.parametrize("n_classes", [100, 101, 130])
def test_sums_by_class_are_the_product_with_the_table_of_signs(n_classes, multiclass):
    sign = code(n_classes, multiclass)
    scores = np.random.default_rng(0).integers(-9, 9, (3, sign.shape[1])).astype(float)
    sums = scores @ sign.T.astype(float)
    votes = np.where(scores > 0, 1.0, -1.0) @ sign.T.astype(float) / 2
    wanted = sums if multiclass == "ovo" else votes + sums / (3 * (np.abs(sums) + 1))
    np.testing.assert_array_equal(decision(scores, n_classes, multiclass), wanted)


def test_scores_of_very_many_classes_need_no_table():
    scores = np.zeros((1, 300_000))
    assert decision(scores, 300_000, "ovr") is scores
