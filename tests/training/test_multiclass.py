"""Several classes as binary problems."""

import itertools
import tracemalloc

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput, TooLarge
from rosenblatt.training.multiclass import MULTICLASS, code, count_problems, is_joint, make_task

modes = pytest.mark.parametrize("multiclass", MULTICLASS)


@modes
@pytest.mark.parametrize("classes", [1, 2, 3, 5])
def test_a_code_has_a_column_for_each_problem(multiclass, classes):
    sign = code(classes, multiclass)
    assert sign.shape == (classes, count_problems(classes, multiclass))
    if classes > 2 and multiclass.startswith("ovo"):
        for column, (k, m) in zip(sign.T, itertools.combinations(range(classes), 2), strict=True):
            assert (column[k], column[m], np.abs(column).sum()) == (1, -1, 2)
    elif classes > 2:
        assert sign.tolist() == (2 * np.eye(classes) - 1).tolist()
    assert is_joint(sign, multiclass) == (multiclass == "joint" and classes > 2)


def test_an_unknown_mode_is_refused_with_those_there_are():
    with pytest.raises(InvalidInput, match=r"'all' is not known.*ovo-vote"):
        code(3, "all")


def test_one_vs_all_weights_the_class_that_it_looks_for():
    costs = np.array([2.0, 3.0, 5.0])
    given_costs = {"class_cost": costs, "weight": np.empty(0), "bias": 1.0}
    task = make_task(np.zeros(1, np.int32), code(3, "ovr"), "ovr", **given_costs)
    assert task.cost.tolist() == [[2, 1, 1], [1, 3, 1], [1, 1, 5]]
    pairs = make_task(np.zeros(1, np.int32), code(3, "ovo"), "ovo", **given_costs)
    assert pairs.cost.tolist() == [[2, 2, 1], [3, 1, 3], [1, 5, 5]]


def test_more_problems_than_memory_holds_are_refused_before_it_is_asked_for():
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match=r"To learn 200000 classes as 19999900000 problems .* fewer problems"):
            code(200_000, "ovo")
        with pytest.raises(TooLarge, match=r"To learn 3000000 classes .* Merge rare classes"):
            code(3_000_000, "ovr")
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()
