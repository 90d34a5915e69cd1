"""What is kept of earlier weights."""

import numpy as np

from rosenblatt.engine.epoch import UpdateLog
from rosenblatt.engine.rows import Dense


def test_the_average_is_that_of_the_weights_after_each_trial():
    rows, random = Dense(np.eye(3)), np.random.default_rng(0)
    W, lag, scale, scale_sum = np.zeros((1, 3)), np.zeros((1, 3)), np.ones(1), np.zeros(1)
    b, lag_b, t, history = 0.0, np.zeros(1), np.zeros(1, np.int64), []
    for _ in range(20):
        i, factor = int(random.integers(3)), float(random.integers(-2, 3))
        note_step(Average(), i, factor, factor, lag_b, t, 0)
        shift_lag(Average(), rows, i, 0, scale_sum[0] * factor, lag, 0, W)
        W[0] += factor * rows.X[i]
        b += factor
        t[0] += 1
        pass_trial(Average(), scale_sum, scale, 0)
        history.append([*W[0], b])
    found = [*(scale_sum[0] * W[0] - lag[0]), t[0] * b - lag_b[0]]
    np.testing.assert_allclose(found, np.sum(history, axis=0))


def test_a_log_has_every_update_in_its_order():
    log = UpdateLog(np.zeros(3, int), np.zeros(3, int), np.zeros(3), np.zeros(3, int), np.zeros(1, int))
    for trial, (i, p) in enumerate([(5, 1), (2, 0)]):
        note_step(log, i, 0.5 * i, 0.0, None, np.full(2, trial), p)
    assert [column[: log.size[0]].tolist() for column in log[:-1]] == [[5, 2], [1, 0], [2.5, 1.0], [0, 1]]
