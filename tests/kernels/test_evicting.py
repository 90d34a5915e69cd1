"""Budgets that drop vectors, against plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_blocks import (
    binary,
    gaussian,
    gram,
    half_gaussian,
    joint,
    new_block,
    new_progress,
    new_updates,
    one_vs_rest,
    quadratic,
)
from oracles import reference
from rosenblatt.kernels import evicting, loops
from strategies import integer_sets

few = settings(max_examples=30)


def new_vectors(problems, budget):
    count = problems.sign.shape[1]
    return evicting.BudgetVectors(
        coef=np.zeros((count, budget)),
        member=np.full(budget, -1),
        gram=np.zeros((budget, budget)),
        born=np.zeros(budget, np.int64),
        count=np.zeros(2, np.int64),
        damage=np.zeros(count),
        errors=np.zeros(count),
    )


def splitmix(seed, count, size):
    """Number `count` of the generator splitmix64, below `size`, in integers of Python."""
    mask = (1 << 64) - 1
    z = (seed + (count + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return (z ^ (z >> 31)) % size


@few
@given(integer_sets(most_rows=40), st.integers(1, 6), st.integers(0, 2**63))
def test_random_eviction_is_that_of_plain_python(data, budget, seed):
    X, label = data
    rows, signs = X.tolist(), (2 * label - 1).tolist()
    slots, entered, mistakes = [], 0, 0
    for i, x in enumerate(rows):
        if signs[i] * sum(signs[k] * quadratic(rows[k], x) for k in slots) > 0:
            continue
        mistakes += 1
        if len(slots) < budget:
            slots.append(i)
        else:
            slots[splitmix(seed, entered, budget)] = i
        entered += 1
    problems, vectors = binary(), new_vectors(binary(), budget)
    progress, columns = new_progress(problems), np.full((budget, len(X)), np.nan)
    block = new_block(label, gram(quadratic, X), problems)
    evicting.run_evicting_block(False, np.uint64(seed), block, columns, problems, vectors, progress)
    assert vectors.member[: vectors.count[0]].tolist() == slots
    assert vectors.coef[0, : len(slots)].tolist() == [signs[k] for k in slots]
    assert vectors.count.tolist() == [len(slots), entered]
    assert progress.mistakes.tolist() == [mistakes]
    assert columns[: len(slots)].tolist() == block.K[slots].tolist()


@pytest.mark.parametrize("kernel", [gaussian, half_gaussian])
@few
@given(data=integer_sets(most_rows=40, most_features=3), budget=st.integers(1, 6))
def test_shrinking_eviction_is_the_forgetron(kernel, data, budget):
    X, label = data
    X = X + np.random.default_rng(0).random(X.shape) / 10  # no score is zero, where rounding would decide
    active, weights = reference.forgetron(X.tolist(), (2 * label - 1).tolist(), kernel, budget)
    problems, vectors = binary(), new_vectors(binary(), budget)
    K = gram(kernel, X)
    columns = np.zeros((budget, len(X)))
    progress = new_progress(problems)
    evicting.run_evicting_block(True, np.uint64(0), new_block(label, K, problems), columns, problems, vectors, progress)
    size = vectors.count[0]
    by_age = np.argsort(vectors.born[:size])
    assert vectors.member[by_age].tolist() == active
    np.testing.assert_allclose(vectors.coef[0, by_age], weights, rtol=1e-6)
    member = vectors.member[:size]
    np.testing.assert_array_equal(vectors.gram[:size, :size], K[np.ix_(member, member)])
    assert vectors.damage[0] <= 15 / 32 * vectors.errors[0] + 1e-9


@pytest.mark.parametrize("mode", ["ovr", "joint"])
@few
@given(data=integer_sets(classes=3, most_rows=30))
def test_a_budget_that_is_never_full_makes_the_updates_of_a_block(mode, data):
    X, label = data
    n, K = len(X), gram(quadratic, X)
    problems = joint(3) if mode == "joint" else one_vs_rest(3, range(3))
    updates, free, bound = new_updates(3 * n), new_progress(problems), new_progress(problems)
    run = loops.run_joint_block if mode == "joint" else loops.run_block
    run(new_block(label, K, problems), problems, np.arange(n), 0, free, updates)
    vectors, columns = new_vectors(problems, n), np.zeros((n, n))
    evicting.run_evicting_block(False, np.uint64(0), new_block(label, K, problems), columns, problems, vectors, bound)
    wanted = np.zeros((3, n))
    size = updates.size[0]
    np.add.at(wanted, (updates.problem[:size], updates.row[:size]), updates.step[:size])
    found = np.zeros((3, n))
    found[:, vectors.member[: vectors.count[0]]] = vectors.coef[:, : vectors.count[0]]
    assert found.tolist() == wanted.tolist()
    for name in ("trials", "mistakes", "loss"):  # a budget has no use for lengths
        assert getattr(bound, name).tolist() == getattr(free, name).tolist()
    assert vectors.errors.tolist() == np.count_nonzero(wanted, axis=1).tolist()
