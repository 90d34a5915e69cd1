"""The average of first-order weights: what it is of, where it begins anew, and that no state lies about it."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import AveragedPerceptron, SoftMargin
from rosenblatt.methods.averaging import average, begin_anew
from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.storage.registry import Fault
from rosenblatt.verbs.penalties import Ridge
from rosenblatt.verbs.rules import HingeRule


def rows(classes, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 3)), np.arange(12) % classes


def weights_after_each_trial(model, X, y, epochs):
    """Present the rows one by one, and return the weights and biases after each."""
    found = []
    for _ in range(epochs):
        for i in range(y.size):
            model.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.unique(y))
            found.append(np.column_stack([model.coef_, model.intercept_]))
    return found


@pytest.mark.parametrize("epochs", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("options", [{}, {"penalty": None, "schedule": "constant"}, {"loss": "logistic", "alpha": 0.5}])
def test_a_soft_margin_is_the_average_since_the_last_power_of_two(epochs, classes, layout, options):
    X, y = rows(classes)
    options = {"shuffle": False, **options}
    model = SoftMargin(max_iter=epochs, tol=None, **options).fit(layout(X), y)
    found = weights_after_each_trial(SoftMargin(average=False, **options), X, y, epochs)
    begin = 2 ** int(np.log2(epochs))
    # The weights that the average begins with count as those of a trial; those before the first epoch do not.
    wanted = np.mean(found[y.size * (begin - 1) - 1 :] if begin > 1 else found, axis=0)
    np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), wanted, rtol=1e-9, atol=1e-12)


def test_the_averaged_perceptron_is_the_average_over_all_trials():
    X, y = rows(2, 1)
    X, y = np.round(3 * X), np.roll(y, 1)
    model = AveragedPerceptron(max_iter=4, tol=None, shuffle=False).fit(X, y)
    assert model.n_iter_ == 4
    total, w = np.zeros(4), np.zeros(4)
    for _ in range(4):
        for x, c in zip(X, y, strict=True):
            x, sign = np.append(x, 1.0), 2 * c - 1
            if sign * (w @ x) <= 0:
                w = w + sign * x
            total += w
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), total / 48)


def test_an_average_that_begins_anew_is_the_weights_as_they_are():
    method = FirstOrder(HingeRule(), Ridge(0.1), averaged=True, late=True)
    state = method.start(2, 3, np.float64)
    state.W[:], state.b[:], state.t[:], state.scale[:] = 2.0, 3.0, [1, 5], [1.0, 0.5]
    begin_anew(state, [0, 1])
    method.check_state(state)
    found = average(method._folded(state))
    assert found.W.tolist() == [[2.0] * 3, [1.0] * 3]
    assert found.b.tolist() == [3.0, 3.0]


def test_a_problem_that_has_ended_keeps_its_average():
    method = FirstOrder(HingeRule(), averaged=True, late=True)
    state = method.start(2, 1, np.float64)
    state.W[:], state.t[:], state.scale_sum[:], state.lag[:] = 4.0, 4, 4.0, 6.0
    before = average(state).W[0, 0]
    method.begin_epoch(2, [1], state)
    assert average(state).W[:, 0].tolist() == [before, 4.0]
    method.begin_epoch(3, [0], state)
    assert average(state).W[0, 0] == before


@pytest.mark.parametrize("skipped", [-1, 6])
def test_a_state_that_skips_trials_that_were_not_made_is_refused(skipped):
    method = FirstOrder(HingeRule(), averaged=True, late=True)
    state = method.start(1, 2, np.float64)
    state.t[:], state.skipped[:] = 5, skipped
    with pytest.raises(Fault, match="skips trials"):
        method.check_state(state)
