"""The trace follows the protocol; the stream takes new classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from oracles import reference
from rosenblatt import trace, train
from rosenblatt.errors import InvalidInput
from rosenblatt.evaluation import perceptron_loss
from strategies import integer_sets


@given(integer_sets(), st.sampled_from(["cyclic", "shuffled", "random"]), st.booleans(), st.integers(0, 9))
def test_the_trace_is_the_run(data, order, sparse, seed):
    X, label = data
    rows = sp.csr_array(X) if sparse else X
    trials = list(trace(rows, label, order=order, max_iter=4, random_state=seed, eta0=0.5))
    run = train(rows, label, order=order, max_iter=trials[-1].epoch, random_state=seed, eta0=0.5, tol=None)
    assert trials[-1].w.tolist() == run.coef[0].tolist()
    assert trials[-1].b == run.intercept[0]
    per_epoch = [sum(t.mistake for t in trials if t.epoch == e) for e in range(1, trials[-1].epoch + 1)]
    assert per_epoch[: run.epochs] == list(run.mistakes)
    assert trials[-1].t == len(trials) == trials[-1].epoch * len(X)


@given(integer_sets())
def test_each_trial_is_scored_before_it_is_learned_from(data):
    X, label = data
    w, b, mistakes, total = np.zeros(X.shape[1]), 0.0, 0, 0.0
    for trial in trace(X, label, max_iter=3):
        score = reference.score(w.tolist(), b, X[trial.row].tolist())
        assert trial.label == 2 * label[trial.row] - 1
        assert trial.score == score
        assert trial.mistake == (trial.label * score <= 0)
        assert trial.loss == perceptron_loss(np.array([trial.label]), np.array([score]))[0]
        mistakes, total = mistakes + trial.mistake, total + trial.loss
        assert (trial.mistakes, trial.total_loss) == (mistakes, total)
        w, b = trial.w, trial.b


def test_a_trace_tells_two_classes_apart():
    with pytest.raises(InvalidInput, match="3 classes"):
        list(trace(np.eye(3), [0, 1, 2]))
