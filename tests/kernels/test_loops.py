"""The compiled loops of the dual against plain Python, called directly, one block at a time."""

import os
import subprocess
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_blocks import binary, gram, joint, new_block, new_progress, new_updates, one_vs_rest, quadratic
from oracles import reference
from rosenblatt.kernels import loops
from strategies import integer_sets

few = settings(max_examples=30)


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


def test_the_loops_run_as_plain_python():
    script = (
        "import numpy as np\n"
        "from rosenblatt import KernelPerceptron\n"
        "rng = np.random.default_rng(0)\n"
        "X, y = rng.standard_normal((30, 2)), np.arange(30) % 3\n"
        "for multiclass in ('ovr', 'joint'):\n"
        "    options = {'multiclass': multiclass, 'max_iter': 2, 'tol': None}\n"
        "    KernelPerceptron(**options).fit(X, y).predict(X, aggregate='vote')\n"
        "    for rule in ('arow', 'projectron', 'random', 'forgetron'):\n"
        "        model = KernelPerceptron(budget=4, budget_rule=rule, **options).fit(X, y)\n"
        "        assert model.support_.size <= 4 and np.isfinite(model.dual_coef_).all()\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, env=environment)
