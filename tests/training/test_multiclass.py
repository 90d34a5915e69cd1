"""Several classes as binary problems."""

import itertools
import tracemalloc

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput, TooLarge
from rosenblatt.training.multiclass import (
    MULTICLASS,
    class_costs,
    coding_matrix,
    count_problems,
    decision,
    is_joint,
    make_task,
    winners,
)

modes = pytest.mark.parametrize("multiclass", MULTICLASS)


@modes
@pytest.mark.parametrize("classes", [1, 2, 3, 5])
def test_a_code_has_a_column_for_each_problem(multiclass, classes):
    sign = coding_matrix(classes, multiclass)
    assert sign.shape == (classes, count_problems(classes, multiclass))
    if classes > 2 and multiclass.startswith("ovo"):
        for column, (k, m) in zip(sign.T, itertools.combinations(range(classes), 2), strict=True):
            assert (column[k], column[m], np.abs(column).sum()) == (1, -1, 2)
    elif classes > 2:
        assert sign.tolist() == (2 * np.eye(classes) - 1).tolist()
    assert is_joint(sign, multiclass) == (multiclass == "joint" and classes > 2)


def test_an_unknown_mode_is_refused_with_those_there_are():
    with pytest.raises(InvalidInput, match=r"'all' is not known.*ovo-vote"):
        coding_matrix(3, "all")


def test_one_vs_all_weights_the_class_that_it_looks_for():
    costs = np.array([2.0, 3.0, 5.0])
    given_costs = {"class_cost": costs, "weight": np.empty(0), "bias": 1.0}
    task = make_task(np.zeros(1, np.int32), coding_matrix(3, "ovr"), "ovr", **given_costs)
    assert task.cost.tolist() == [[2, 1, 1], [1, 3, 1], [1, 1, 5]]
    pairs = make_task(np.zeros(1, np.int32), coding_matrix(3, "ovo"), "ovo", **given_costs)
    assert pairs.cost.tolist() == [[2, 2, 1], [3, 1, 3], [1, 5, 5]]


def test_more_problems_than_memory_holds_are_refused_before_it_is_asked_for():
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match=r"To learn 200000 classes as 19999900000 problems .* fewer problems"):
            coding_matrix(200_000, "ovo")
        with pytest.raises(TooLarge, match=r"To learn 3000000 classes .* Merge rare classes"):
            coding_matrix(3_000_000, "ovr")
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


def test_class_costs_are_those_that_were_asked_for():
    classes, counts = np.array(["a", "b"]), np.array([3, 1])
    assert class_costs(None, classes).tolist() == [1, 1]
    assert class_costs({"b": 3}, classes).tolist() == [1, 3]
    assert class_costs({"b": 3, "z": 9}, classes).tolist() == [1, 3]  # a stream may meet z later
    assert class_costs("balanced", classes, counts).tolist() == [4 / 6, 2.0]


@pytest.mark.parametrize(
    ("class_weight", "counts", "message"),
    [
        ("balanced", None, "not supported for partial_fit"),
        ("heavy", None, "'heavy' is not known"),
        ([1, 2], None, "Pass a dict"),
        ({"z": 1.0}, np.array([1, 1]), "which y does not have"),
        ({"a": "x"}, None, "not a number"),
        ({"a": -1.0}, None, "negative"),
        ({"a": 0.0, "b": 0.0}, None, "all zero"),
    ],
    ids=str,
)
def test_impossible_class_weights_are_refused(class_weight, counts, message):
    with pytest.raises(InvalidInput, match=message):
        class_costs(class_weight, np.array(["a", "b"]), counts)


@modes
def test_votes_count_first_and_scores_decide_between_equals(multiclass):
    sign = coding_matrix(3, multiclass)
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
    sign = coding_matrix(n_classes, multiclass)
    scores = np.random.default_rng(0).integers(-9, 9, (3, sign.shape[1])).astype(float)
    sums = scores @ sign.T.astype(float)
    votes = np.where(scores > 0, 1.0, -1.0) @ sign.T.astype(float) / 2
    wanted = sums if multiclass == "ovo" else votes + sums / (3 * (np.abs(sums) + 1))
    np.testing.assert_array_equal(decision(scores, n_classes, multiclass), wanted)


def test_scores_of_very_many_classes_need_no_table():
    scores = np.zeros((1, 300_000))
    assert decision(scores, 300_000, "ovr") is scores
