"""What the mistakes of a first pass promise."""

import numpy as np

from rosenblatt import VotedPerceptron, train


def test_the_mistakes_of_the_first_pass_bound_the_error_on_new_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    y = np.where(X[:, 0] + 0.1 * rng.standard_normal(20_000) > 0, 1, -1)
    run = train(X[:10_000], y[:10_000], epochs=3, tol=None)
    average, vote = run.guarantees(delta=0.01)
    slack = np.sqrt(2 * np.log(100) / 10_000)
    assert np.isclose(average.risk, run.mistakes[0] / 10_000 + slack)
    assert np.isclose(vote.risk, 2 * average.risk)
    assert (average.confidence, vote.confidence) == (0.99, 0.99)
    model = VotedPerceptron(max_iter=1, tol=None).fit(X[:10_000], y[:10_000])
    assert 1 - model.score(X[10_000:], y[10_000:]) <= vote.risk
    assert train(X[:90], np.arange(90) % 3).guarantees() == ()
