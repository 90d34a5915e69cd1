"""The ways to learn: their states grow, widen, merge and are stored, and keep the weights they stand for."""

import numpy as np
import pytest

from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.methods.method import check_start, copy_state, new_counts, start_state
from ways import METHODS, STREAMING, trained

methods = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@methods
def test_the_state_that_a_method_starts_and_trains_is_one_that_a_file_may_hold(method):
    for dtype in (np.float32, np.float64):
        method.check_state(method.start(3, 4, dtype))
    method.check_state(trained(method)[0])
    assert isinstance(method.start(1, 2, np.float64), method.state_class)


@methods
def test_a_state_of_another_method_is_refused(method):
    others = [other for other in METHODS.values() if other.kind != method.kind and type(other) is type(method)]
    strange = [trained(other)[0] for other in others if other.state_class is not method.state_class]
    for state in strange:
        with pytest.raises(InvalidInput):
            method.check_state(state)
    negative = trained(method)[0]
    negative.t[0] = -1
    with pytest.raises(InvalidInput, match="fewer than no trials"):
        method.check_state(negative)


@methods
def test_growing_keeps_the_problems_their_signs_changed_or_not(method):
    state, _ = trained(method)
    same = method.grow(state, np.eye(3, dtype=np.int8))
    for name, old, new in zip(state._fields, method.hyperplanes(state), method.hyperplanes(same), strict=False):
        np.testing.assert_allclose(new, old, atol=1e-12, err_msg=name)
    change = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0]], np.int8)
    grown, before = method.hyperplanes(method.grow(state, change)), method.hyperplanes(state)
    fresh = method.hyperplanes(method.start(1, 4, np.float64))
    for p, (q, sign) in enumerate([(1, 1), (0, -1), (None, 0), (2, 1), (1, 1)]):
        W, b = (fresh.W[0], fresh.b[0]) if q is None else (sign * before.W[q], sign * before.b[q])
        np.testing.assert_allclose(grown.W[p], W, atol=1e-12)
        np.testing.assert_allclose(grown.b[p], b, atol=1e-12)


@methods
def test_a_wider_state_scores_as_before_and_learns_on(method):
    state, _ = trained(method)
    wider = method.widen(state, 7)
    method.check_state(wider)
    old, new, fresh = (method.hyperplanes(one) for one in (state, wider, method.start(3, 7, np.float64)))
    np.testing.assert_allclose(new.W[:, :4], old.W, atol=1e-15)
    np.testing.assert_allclose(new.W[:, 4:], fresh.W[:, 4:])
    np.testing.assert_allclose(new.b, old.b)


@pytest.mark.parametrize("method", STREAMING.values(), ids=STREAMING.keys())
def test_features_that_come_late_are_as_if_they_had_been_zero(method):
    narrow, shown = trained(method)
    padded = method.start(3, 6, np.float64)
    rows = as_table(np.hstack([shown.rows.X, np.zeros((25, 2))])).rows
    method.present(shown._replace(rows=rows, counts=new_counts(3)), padded, padded)
    for name, late, early in zip(padded._fields, method.widen(narrow, 6), padded, strict=True):
        np.testing.assert_allclose(late, early, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["AROW", "balanced Winnow"])
def test_what_cannot_be_merged_says_so(name):
    with pytest.raises(InvalidInput, match="has no meaning that is known"):
        METHODS[name].merge([], np.empty(0))


@methods
def test_a_copied_state_is_its_own(method):
    state, _ = trained(method)
    copied = copy_state(state)
    copied.W[:] = 99.0
    assert not (state.W == 99.0).any()
    copy_state(state, copied, slice(0, 1))
    assert copied.W[0].tolist() == state.W[0].tolist()
    assert (copied.W[1:] == 99.0).all()


def test_a_start_is_checked_and_spread_over_the_problems():
    W, b = check_start(([1.0, 2.0], 3.0), 3, 2)
    assert W.tolist() == [[1, 2]] * 3
    assert b.tolist() == [3, 3, 3]
    state = start_state(METHODS["perceptron"], 2, 2, np.float64, ([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]), 0.5)
    assert state.W.tolist() == [[2, 4], [6, 8]]
    assert state.b.tolist() == [10, 12]
    for wrong in (np.ones(2), ([1.0], 0.0), ("ab", 0.0), ([1.0, np.nan], 0.0), None, 3):
        with pytest.raises(InvalidInput, match="init"):
            check_start(wrong, 3, 2)
