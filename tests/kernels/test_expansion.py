"""Expansions: their sums, averages and votes, written out from the log."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.kernels import expansion
from rosenblatt.kernels.expansion import Expansion, Log, expand, vote
from rosenblatt.kernels.kernels import Polynomial

LINEAR = Polynomial()


@st.composite
def expansions(draw):
    """An expansion of one to three problems in vectors of small integers, with a log that explains it."""
    problems, vectors, trials = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    happened = np.argwhere(rng.random((trials, problems)) < 0.4)
    slot, step = rng.integers(0, vectors, len(happened)), rng.choice([-2.0, -1.0, 1.0, 2.0], len(happened))
    log = Log(slot, happened[:, 1], step, happened[:, 0])
    coef = np.zeros((problems, vectors))
    np.add.at(coef, (log.problem, log.slot), log.step)
    X = rng.integers(-3, 4, (vectors, 2)).astype(float)
    return Expansion(X, np.arange(vectors), coef, np.full(problems, trials), log)


def after_each_trial(learned, p):
    """Return the coefficients of problem p after each of its trials."""
    history, coef = [], np.zeros(learned.coef.shape[1])
    for trial in range(learned.trials[p]):
        for k in np.flatnonzero((learned.log.problem == p) & (learned.log.trial == trial)):
            coef[learned.log.slot[k]] += learned.log.step[k]
        history.append(coef.copy())
    return history


ROWS = np.random.default_rng(1).integers(-3, 4, (7, 2)).astype(float)


@given(expansions())
def test_the_summed_coefficients_are_those_of_all_trials(learned):
    for p in range(learned.trials.size):
        assert learned.summed()[p].tolist() == sum(after_each_trial(learned, p)).tolist()


@given(expansions())
def test_every_trial_votes_unless_f_is_zero(learned):
    found = vote(LINEAR, learned, ROWS)
    for p in range(learned.trials.size):
        steps = learned.log.trial[learned.log.problem == p]
        begun = steps.min() if steps.size else np.inf
        votes = [
            np.where(ROWS @ (coef @ learned.vectors) > 0, 1, -1) if trial >= begun else np.zeros(len(ROWS))
            for trial, coef in enumerate(after_each_trial(learned, p))
        ]
        np.testing.assert_allclose(found[p], np.mean(votes, axis=0), atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 512])
@given(learned=expansions())
def test_shares_and_tiles_do_not_change_scores_and_votes(size, learned):
    whole = vote(LINEAR, learned, ROWS)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ROWS_PER_SHARE", "VOTED_ROWS_PER_SHARE", "VECTORS_PER_TILE"):
            patch.setattr(expansion, name, size)
        scores = expand(LINEAR, learned.vectors, ROWS, learned.coef)
        assert scores.tolist() == (learned.coef @ learned.vectors @ ROWS.T).tolist()
        assert vote(LINEAR, learned, ROWS).tolist() == whole.tolist()


@given(expansions(), st.integers(0, 999))
def test_growing_continues_old_problems_with_their_signs_and_starts_new_ones(learned, seed):
    rng = np.random.default_rng(seed)
    old = learned.trials.size
    change = np.zeros((old + 1, old), np.int8)
    chosen, signs = rng.integers(-1, old, old + 1), rng.choice([-1, 1], old + 1)
    for p, (source, sign) in enumerate(zip(chosen, signs, strict=True)):
        if source >= 0:
            change[p, source] = sign
    grown = learned.grow(change)
    assert grown.vectors is learned.vectors
    for p, (source, sign) in enumerate(zip(chosen, signs, strict=True)):
        if source < 0:
            assert grown.trials[p] == 0
            assert not grown.coef[p].any()
            continue
        assert grown.trials[p] == learned.trials[source]
        assert grown.coef[p].tolist() == (sign * learned.coef[source]).tolist()
        assert grown.summed()[p].tolist() == (sign * learned.summed()[source]).tolist()


def test_the_empty_expansion_is_zero_and_abstains():
    learned = Expansion.empty(ROWS, 2)
    assert not expand(LINEAR, learned.vectors, ROWS, learned.coef).any()
    assert not vote(LINEAR, learned, ROWS).any()
    assert learned.summed().shape == (2, 0)
