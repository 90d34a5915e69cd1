"""First-order rules with a learning rate for each column."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.learn.in_memory import Job, run
from rosenblatt.learn.multiclass import code, make_task
from rosenblatt.learn.plan import Plan
from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.methods.rated import GAIN, Rated
from rosenblatt.verbs.rules import NormalisedLmsRule

X = np.random.default_rng(0).standard_normal((40, 3)) * [1.0, 8.0, 0.125]
Y = (X.sum(axis=1) > 0).astype(np.int32)


def learned(method, rows, eta):
    table = as_table(rows)
    state = method.start(1, table.shape[1], table.dtype)
    task = make_task(Y, code(2, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    run(Job(method, table, task, Plan(order="cyclic", epochs=2, tol=None, eta=eta)), state)
    return state


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rates_stand_for_scaled_columns(kind, averaged):
    rates = (1.0, 2.0**-6, 2.0**6)
    found = learned(Rated(NormalisedLmsRule(1.0), averaged=averaged, column_rates=rates), kind(X), 0.1)
    scale = np.sqrt(rates)
    wanted = learned(FirstOrder(NormalisedLmsRule(1.0), averaged=averaged), kind(X * scale), GAIN * 0.1)
    np.testing.assert_allclose(found.W, wanted.W * scale, rtol=1e-10)
    np.testing.assert_allclose(found.lag, wanted.lag * scale if averaged else wanted.lag, rtol=1e-10)
    np.testing.assert_allclose(found.b, wanted.b, rtol=1e-10)


def test_features_that_appear_later_take_the_median():
    method, wide = Rated(NormalisedLmsRule(), column_rates=(4.0, 1.0, 2.0)), np.zeros((1, 5))
    assert method._rated(as_table(X).rows, wide).column_rate.tolist() == [4.0, 1.0, 2.0, 2.0, 2.0]
