"""The compiled loops of the dual against plain Python, called directly, one block at a time."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import reference
from rosenblatt.kernels import loops
from strategies import integer_sets

few = settings(max_examples=30)


NO_SPANS = np.empty((0, 2, 2), np.int64)


def taught(sign, active):
    """What rows teach the active problems, without a margin and without a limit."""
    label, place = np.nonzero(sign[:, active])
    first = np.searchsorted(label, np.arange(len(sign) + 1))
    active = np.array(active, np.int64)[place]
    return loops.Problems(sign, np.ones(sign.shape), np.ones(len(sign)), active, first, False, 0.0, np.inf)


def binary():
    """Two classes, one problem."""
    return taught(np.array([[-1], [1]], np.int8), [0])


def one_vs_rest(classes, active):
    return taught((2 * np.eye(classes) - 1).astype(np.int8), list(active))


def joint(classes):
    return one_vs_rest(classes, range(classes))._replace(joint=True)


def new_progress(problems, rows=0):
    parts = 1 if problems.joint else problems.sign.shape[1]
    count = problems.sign.shape[1]
    counts = np.zeros((parts, rows), np.int32)
    return loops.Progress(np.zeros(count, np.int64), *np.zeros((3, parts)), *np.zeros((2, count)), counts)


def new_updates(capacity):
    whole = np.zeros((3, capacity), np.int64)
    return loops.UpdateBuffer(whole[0], whole[1], np.zeros(capacity), whole[2], np.zeros(1, np.int64))


def new_block(label, K, problems, scores=None):
    n = label.size
    scores = np.zeros((problems.sign.shape[1], n)) if scores is None else scores
    return loops.RowBlock(np.arange(n), label, np.ones(n), K, scores, np.arange(n), NO_SPANS)


def new_vectors(problems, budget):
    count = problems.sign.shape[1]
    return loops.BudgetVectors(
        coef=np.zeros((count, budget)),
        member=np.full(budget, -1),
        gram=np.zeros((budget, budget)),
        born=np.zeros(budget, np.int64),
        count=np.zeros(2, np.int64),
        damage=np.zeros(count),
        errors=np.zeros(count),
    )


def quadratic(x, z):
    return (1 + sum(a * b for a, b in zip(x, z, strict=True))) ** 2


def gaussian(x, z):
    return float(np.exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / 8))


def half_gaussian(x, z):
    return gaussian(x, z) / 2


def gram(kernel, X):
    return np.array([[kernel(x, z) for z in X.tolist()] for x in X.tolist()], float)


# ------------------------------------------------------------------------------------------------- without a budget


@given(integer_sets())
def test_a_block_is_one_epoch_of_the_lectures(data):
    X, label = data
    signs = (2 * label - 1).tolist()
    alpha, mistakes, history = reference.kernel_perceptron(X.tolist(), signs, quadratic, [range(len(X))])
    problems, updates = binary(), new_updates(len(X))
    block, progress = new_block(label, gram(quadratic, X), problems), new_progress(problems)
    assert loops.run_block(block, problems, np.arange(len(X)), 0, progress, updates) == len(X)
    size = updates.size[0]
    assert progress.mistakes.tolist() == mistakes
    assert progress.trials.tolist() == [len(X)]
    assert updates.row[:size].tolist() == updates.trial[:size].tolist() == [i for i, a in enumerate(alpha) if a]
    assert updates.step[:size].tolist() == [signs[i] for i, a in enumerate(alpha) if a]
    before = [[0] * len(X), *history[:-1]]
    scores = [reference.dual_score(a, X.tolist(), signs, quadratic, x) for a, x in zip(before, X.tolist(), strict=True)]
    assert block.scores[0].tolist() == scores
    assert progress.loss[0] == sum(-y * f for y, f in zip(signs, scores, strict=True) if y * f <= 0)


@given(integer_sets(classes=3), st.sampled_from(["ovr", "joint"]))
def test_a_block_stops_where_similarities_are_missing_and_resumes(data, mode):
    X, label = data
    n, K = len(X), gram(quadratic, X)
    problems = joint(3) if mode == "joint" else one_vs_rest(3, range(3))
    run = loops.run_joint_block if mode == "joint" else loops.run_block
    whole, parts = (
        (new_block(label, K.copy(), problems), new_progress(problems), new_updates(3 * n)) for _ in range(2)
    )
    assert run(whole[0], problems, np.arange(n), 0, *whole[1:]) == n
    column, at, filled, asked = np.full(n, -1), 0, 0, []
    parts[0].K[:] = np.nan
    while (at := run(parts[0], problems, column, at, *parts[1:])) < n:
        parts[0].K[filled] = K[at]
        column[at], filled = filled, filled + 1
        asked.append(at)
    assert sorted(set(whole[2].row[: whole[2].size[0]].tolist())) == asked
    for one, other in zip(whole, parts, strict=True):
        for name, array in one._asdict().items():
            if name != "K":
                assert array.tolist() == getattr(other, name).tolist()


@given(integer_sets(classes=3), st.sampled_from(["ovr", "joint"]), st.randoms(use_true_random=False))
def test_a_whole_block_in_any_order_is_the_block_of_its_rows_in_that_order(data, mode, random):
    X, label = data
    n, K = len(X), gram(quadratic, X)
    problems = joint(3) if mode == "joint" else one_vs_rest(3, range(3))
    run = loops.run_joint_block if mode == "joint" else loops.run_block
    order = np.array(random.sample(range(n), n))
    parts = (
        new_block(label[order], K[np.ix_(order, order)].copy(), problems),
        new_progress(problems),
        new_updates(3 * n),
    )
    whole = (
        new_block(label, K, problems)._replace(order=order, spans=np.tile([[[0, n], [0, 0]]], (3, 1, 1))),
        new_progress(problems),
        new_updates(3 * n),
    )
    for block, *rest in (parts, whole):
        assert run(block, problems, np.arange(n), 0, *rest) == n
    size = whole[2].size[0]
    assert whole[2].row[:size].tolist() == order[parts[2].row[:size]].tolist()
    for name in ("problem", "step", "trial", "size"):
        assert getattr(whole[2], name).tolist() == getattr(parts[2], name).tolist()
    coef = np.zeros((3, n))
    np.add.at(coef, (whole[2].problem[:size], whole[2].row[:size]), whole[2].step[:size])
    assert whole[0].scores.tolist() == (coef @ K).tolist()
    for progress in (whole[1], parts[1]):
        assert progress.square.tolist() == ((coef @ K) * coef).sum(axis=1).tolist()
        assert (
            progress.steps.tolist()
            == np.bincount(whole[2].problem[:size], np.abs(whole[2].step[:size]), minlength=3).tolist()
        )


@given(integer_sets(), st.sampled_from([0.0, 3.0, 40.0]), st.sampled_from([1.0, 2.0, np.inf]))
def test_a_row_is_updated_below_the_margin_and_up_to_the_limit(data, margin, most):
    X, label = data
    n, K, signs = len(X), gram(quadratic, X), (2 * label - 1).tolist()
    problems, updates = binary()._replace(margin=margin, most=most), new_updates(3 * n)
    progress = new_progress(problems, n if most < np.inf else 0)
    whole = new_block(label, K, problems)._replace(spans=np.array([[[0, n], [0, 0]]]))
    alpha, mistakes, loss = [0] * n, 0, 0.0
    for _ in range(3):
        for i in range(n):
            excess = signs[i] * sum(alpha[j] * signs[j] * K[j, i] for j in range(n)) - margin
            mistakes, loss = mistakes + (excess + margin <= 0), loss + max(0.0, -excess)
            alpha[i] += excess <= 0 and alpha[i] < most
        assert loops.run_block(whole, problems, np.arange(n), 0, progress, updates) == n
    assert np.bincount(updates.row[: updates.size[0]], minlength=n).tolist() == alpha
    assert (progress.mistakes.tolist(), progress.updates.tolist()) == ([mistakes], [sum(alpha)])
    assert progress.loss.tolist() == [loss]
    if most < np.inf:
        assert progress.counts[0].tolist() == alpha


@given(integer_sets(classes=3), st.sets(st.integers(0, 2), min_size=1))
def test_only_active_problems_learn(data, active):
    X, label = data
    problems, updates = one_vs_rest(3, sorted(active)), new_updates(3 * len(X))
    block, progress = new_block(label, gram(quadratic, X), problems), new_progress(problems)
    loops.run_block(block, problems, np.arange(len(X)), 0, progress, updates)
    for p in range(3):
        signs = [1 if c == p else -1 for c in label]
        _, mistakes, _ = reference.kernel_perceptron(X.tolist(), signs, quadratic, [range(len(X))])
        assert progress.mistakes[p] == (mistakes[0] if p in active else 0)
        assert progress.trials[p] == (len(X) if p in active else 0)


@given(integer_sets(classes=3))
def test_a_joint_block_is_ultraconservative(data):
    X, label = data
    K = X @ X.T + 1  # the oracle has a bias
    problems, updates = joint(3), new_updates(2 * len(X))
    progress = new_progress(problems)
    loops.run_joint_block(new_block(label, K, problems), problems, np.arange(len(X)), 0, progress, updates)
    W, b, mistakes = reference.joint(X.tolist(), label.tolist(), 3, [range(len(X))])
    size = updates.size[0]
    coef = np.zeros((3, len(X)))
    np.add.at(coef, (updates.problem[:size], updates.row[:size]), updates.step[:size])
    assert ((coef @ X).tolist(), coef.sum(axis=1).tolist()) == (W, b)
    assert progress.mistakes.tolist() == mistakes


@given(integer_sets(classes=3), st.sets(st.integers(0, 2), min_size=1), st.integers(0, 99))
def test_margins_are_the_smallest_over_the_problems(data, active, seed):
    _, label = data
    scores = np.random.default_rng(seed).integers(-3, 4, (3, label.size)).astype(float)
    out = np.full(label.size, np.nan)
    problems = one_vs_rest(3, sorted(active))
    block, progress = new_block(label, np.empty((0, 0)), problems, scores), new_progress(problems, label.size)
    loops.margins(block, problems, progress, 0, out)
    signed = [[f if c == p else -f for p, f in enumerate(line)] for c, line in zip(label, scores.T, strict=True)]
    assert out.tolist() == [min(line[p] for p in active) for line in signed]
    progress.counts[:, 0] = 2  # as often as a row may be updated
    loops.margins(block, problems._replace(margin=0.5, most=2.0), progress, 0, out)
    assert out.tolist() == [np.inf, *(min(line[p] for p in active) - 0.5 for line in signed[1:])]
    start = label.size // 2
    out[:] = np.nan
    loops.margins(block, joint(3), new_progress(joint(3)), start, out)
    wanted = [line[c] - max(np.delete(line, c)) for c, line in zip(label, scores.T, strict=True)]
    assert np.isnan(out[:start]).all()
    assert out[start:].tolist() == wanted[start:]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 2), st.integers(1, 5)), max_size=8), st.integers(0, 8))
def test_every_prefix_of_the_updates_votes_as_often_as_it_survived(updates, cut):
    K = np.random.default_rng(0).integers(-3, 4, (3, 4)).astype(float)
    parts = (updates[:cut], updates[cut:])
    slot, step, survived = (np.array([u[k] for u in updates], t) for k, t in enumerate((np.int64, float, float)))
    out = np.zeros((2, 4))
    loops.add_votes(K, slot, step, survived, np.array([0, len(parts[0]), len(updates)]), out)
    for p, j in np.ndindex(2, 4):
        prefixes = [parts[p][: k + 1] for k in range(len(parts[p]))]
        scores = [sum(factor * K[s, j] for s, factor, _ in prefix) for prefix in prefixes]
        votes = [u[2] if f > 0 else -u[2] for u, f in zip(parts[p], scores, strict=True)]
        assert out[p, j] == sum(votes)


# ------------------------------------------------------------------------------------------------------ on a budget


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
    loops.run_evicting_block(False, np.uint64(seed), block, columns, problems, vectors, progress)
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
    loops.run_evicting_block(True, np.uint64(0), new_block(label, K, problems), columns, problems, vectors, progress)
    size = vectors.count[0]
    by_age = np.argsort(vectors.born[:size])
    assert vectors.member[by_age].tolist() == active
    np.testing.assert_allclose(vectors.coef[0, by_age], weights, rtol=1e-6)
    member = vectors.member[:size]
    np.testing.assert_array_equal(vectors.gram[:size, :size], K[np.ix_(member, member)])
    assert vectors.damage[0] <= 15 / 32 * vectors.errors[0] + 1e-9


@few
@given(integer_sets(most_rows=24, most_features=4), st.integers(1, 6))
def test_the_projecting_block_solves_for_the_projection(data, budget):
    X, label = data
    K, residual = gram(gaussian, X), 0.3
    member, coef = [], np.zeros(0)
    for i in range(len(X)):
        sign = 2 * label[i] - 1
        score = coef @ K[member, i]
        if abs(score) < 1e-9 < np.abs(coef).sum():
            return  # rounding decides
        if sign * score > 0:
            continue
        share = np.linalg.solve(K[np.ix_(member, member)], K[member, i])
        distance = np.sqrt(max(0.0, 1 - K[member, i] @ share))
        if abs(distance - residual) < 1e-6:
            return  # rounding decides
        if distance > residual and len(member) < budget:
            member, coef = [*member, i], np.append(coef, sign)
        else:
            coef = coef + sign * share
    problems, vectors = binary(), new_vectors(binary(), budget)
    progress, columns = new_progress(problems), np.zeros((budget, len(X)))
    loops.run_projecting_block(residual, new_block(label, K, problems), columns, problems, vectors, progress)
    assert vectors.member[: vectors.count[0]].tolist() == member
    np.testing.assert_allclose(vectors.coef[0, : len(member)], coef, atol=1e-6)
    inverse = vectors.gram[: len(member), : len(member)]
    np.testing.assert_allclose(inverse @ K[np.ix_(member, member)], np.eye(len(member)), atol=1e-6)


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
    loops.run_evicting_block(False, np.uint64(0), new_block(label, K, problems), columns, problems, vectors, bound)
    wanted = np.zeros((3, n))
    size = updates.size[0]
    np.add.at(wanted, (updates.problem[:size], updates.row[:size]), updates.step[:size])
    found = np.zeros((3, n))
    found[:, vectors.member[: vectors.count[0]]] = vectors.coef[:, : vectors.count[0]]
    assert found.tolist() == wanted.tolist()
    for name in ("trials", "mistakes", "loss"):  # a budget has no use for lengths
        assert getattr(bound, name).tolist() == getattr(free, name).tolist()
    assert vectors.errors.tolist() == np.count_nonzero(wanted, axis=1).tolist()


def test_the_loops_run_as_plain_python():
    script = (
        "import numpy as np\n"
        "from rosenblatt import KernelPerceptron\n"
        "rng = np.random.default_rng(0)\n"
        "X, y = rng.standard_normal((30, 2)), np.arange(30) % 3\n"
        "for multiclass in ('ovr', 'joint'):\n"
        "    options = {'multiclass': multiclass, 'max_iter': 2, 'tol': None}\n"
        "    KernelPerceptron(**options).fit(X, y).predict(X, aggregate='vote')\n"
        "    for rule in ('random', 'forgetron', 'projectron'):\n"
        "        model = KernelPerceptron(budget=4, budget_rule=rule, **options).fit(X, y)\n"
        "        assert model.support_.size <= 4 and np.isfinite(model.dual_coef_).all()\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, env=environment)
