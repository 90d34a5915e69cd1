"""Laws of iterative parameter mixing: parts add up along one tree, whoever computed them."""

import pickle
from functools import partial
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import AveragedPerceptron
from rosenblatt.bounds import parameter_mixing
from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.arow import Arow
from rosenblatt.learners.soft_margin import hinge
from rosenblatt.training import mixing
from rosenblatt.training.first_order import FirstOrder, HarmonicRate
from rosenblatt.training.mixing import (
    Round,
    ShardSpec,
    check_mixing,
    measure_shard,
    merge,
    merge_tree,
    mix,
    mixes_for,
    shard_seed,
    train_shard,
)
from rosenblatt.training.multiclass import coding_matrix
from rosenblatt.training.shards import Shard, make_block, spans_of_shards, stats_of

METHODS = [
    FirstOrder(perceptron()),
    FirstOrder(perceptron(), averaged=True),
    FirstOrder(hinge(), l2=0.01, rate=HarmonicRate(0.01, 10.0), averaged=True),
    FirstOrder(hinge(), l1=0.001, l2=0.01, rate=HarmonicRate(0.01, 10.0)),
]


def some_rows(n=60, d=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, d)).astype(float)
    return X, np.where(X @ np.arange(1, d + 1) > random.normal(size=n), "yes", "no")


def shard(number, X, y, weight=()):
    block = make_block(as_table(X), y, np.asarray(weight, float))
    return Shard(number, [] if block is None else [block])


def spec(algorithm, n_classes=2, **changes):
    classes = np.array(["no", "yes", "why"][:n_classes])
    classes.sort()
    return ShardSpec(algorithm, classes, coding_matrix(n_classes, "ovr"), np.ones(n_classes), **changes)


def start(algorithm, d, problems=1):
    state = algorithm.start(problems, d, np.float64)
    return state, Round(1, 0, state.W, state.b, state.t, np.arange(problems), 1.0)


def parenthesised(parts):
    """The tree by its definition: neighbours by twos, level by level."""
    while len(parts) > 1:
        parts = [f"({''.join(parts[i : i + 2])})" if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0]


@given(st.integers(1, 200))
def test_the_tree_merges_neighbours_by_twos_level_by_level(size):
    parts = [f"{number}," for number in range(size)]
    assert merge_tree(iter(parts), lambda a, b: f"({a}{b})") == parenthesised(parts)


def test_a_tree_of_nothing_is_refused():
    with pytest.raises(InvalidInput, match="no shard has any"):
        merge_tree([], merge)


def test_seeds_differ_by_round_shard_and_block_and_are_always_the_same():
    seeds = {shard_seed(seed, *place) for seed in (0, 1) for place in np.ndindex(5, 7, 3)}
    assert len(seeds) == 2 * 5 * 7 * 3
    assert shard_seed(0, 1, 2, 3) == shard_seed(0, 1, 2, 3) < 1 << 63


@pytest.mark.parametrize("algorithm", METHODS, ids=str)
def test_one_shard_learns_what_the_loop_learns(algorithm):
    X, y = some_rows()
    state, given_round = start(algorithm, 5)
    rule = spec(algorithm, order="cyclic")
    part = train_shard(rule, given_round, shard(0, X, y))
    mix(state, part, rule)
    from rosenblatt.training.stream import Settings, Stream

    stream = Stream(Settings(algorithm, supports_new_classes=False))
    stream.learn(as_table(X), y, np.empty(0))
    W, b = algorithm.hyperplanes(state)[:2]
    np.testing.assert_allclose(W, stream.model().W, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(b, stream.model().b, rtol=1e-12, atol=1e-13)
    assert (part.rows, part.mistakes.sum()) == (60, stream.mistakes)


@pytest.mark.parametrize("algorithm", METHODS, ids=str)
def test_two_shards_of_the_same_rows_mix_to_what_one_learns(algorithm):
    X, y = some_rows()
    work = partial(train_shard, spec(algorithm, order="cyclic"), start(algorithm, 5)[1])
    one, both = start(algorithm, 5)[0], start(algorithm, 5)[0]
    assert mix(one, work(shard(0, X, y)), work.args[0]) == 1.0
    assert mix(both, work(shard(0, X, y)).merge(work(shard(1, X, y))), work.args[0]) == pytest.approx(1.0)
    np.testing.assert_allclose(one.W, both.W, rtol=1e-12)
    np.testing.assert_allclose(algorithm.hyperplanes(one).W, algorithm.hyperplanes(both).W, rtol=1e-12)
    assert both.t.tolist() == [120]


def by_hand(X, sign, shards, mixes, epochs, averaged, bias=1.0):
    """The mixing in plain Python: rows in their order, and the weight of the constant sqrt(bias) last.

    Returns the weights, their average over all trials, the mistakes times shares and factors, and the factors.
    """
    rows = np.hstack([X, np.full((len(X), 1), bias**0.5)])
    w, total, trials, weighted, factors = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), 0, 0.0, []
    parts = [part for part in np.array_split(np.arange(len(X)), shards) if part.size]
    for _, number in product(range(epochs), range(mixes)):
        changes, mistakes = [], 0
        for part in parts:
            own = w.copy()
            for i in part[len(part) * number // mixes : len(part) * (number + 1) // mixes]:
                if sign[i] * (own @ rows[i]) <= 0:
                    own, mistakes = own + sign[i] * rows[i], mistakes + 1
                total, trials = total + own, trials + 1
            changes.append(own - w)
        mean = sum(changes) / len(parts)
        lengths = sum(change @ change for change in changes) / len(parts)
        c = min(max(lengths / (mean @ mean), 1.0), len(parts)) if averaged and mean @ mean > 0 else 1.0
        w, weighted = w + c * mean, weighted + c * mistakes / len(parts)
        factors.append(c)
    return w, total / trials, weighted, factors


@given(st.integers(0, 99), st.integers(1, 6), st.integers(1, 5), st.integers(1, 4), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_mixing_is_what_plain_python_does(seed, shards, mixes, epochs, averaged, biased):
    X, y = some_rows(23, seed=seed)
    X = X + np.random.default_rng(seed).normal(size=X.shape)  # no margin of zero, which rounding would decide
    algorithm, sign, bias = METHODS[int(averaged)], np.where(y == "yes", 1.0, -1.0), 1.0 if biased else 0.0
    parts = [(k, np.array(rows)) for k, rows in spans_of_shards(len(X), shards)]
    sizes = tuple((k, len(rows)) for k, rows in parts)
    rule = spec(algorithm, order="cyclic", mixes=mixes, sizes=sizes, bias=bias)
    state, factors = start(algorithm, 5)[0], []
    for epoch, number in product(range(1, epochs + 1), range(mixes)):
        given_round = Round(epoch, number, state.W, state.b, state.t // shards, np.arange(1), 1.0)
        work = partial(train_shard, rule, given_round)
        part = merge_tree((work(shard(k, X[rows], y[rows])) for k, rows in parts), merge)
        factors += mix(state, part, rule).tolist()
    w, average, _, wanted = by_hand(X, sign, shards, mixes, epochs, averaged, bias)
    np.testing.assert_allclose(factors, wanted, rtol=1e-9)
    np.testing.assert_allclose([*state.W[0], state.b[0]], [*w[:-1], w[-1] * bias**0.5], rtol=1e-9, atol=1e-9)
    planes = algorithm.hyperplanes(state)
    wanted = average if averaged else w
    np.testing.assert_allclose(planes.W[0], wanted[:-1], rtol=1e-9, atol=1e-9)
    assert state.t.tolist() == [epochs * len(X)]


@given(st.integers(0, 199), st.integers(1, 8), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_mistakes_times_shares_and_factors_keep_the_bound_of_mixing(seed, shards, mixes):
    X = np.random.default_rng(seed).normal(size=(60, 4))
    truth = np.random.default_rng(seed + 1).normal(size=4)
    truth /= np.linalg.norm(truth)
    X = X[np.abs(X @ truth) > 0.2]
    sign = np.where(X @ truth > 0, 1.0, -1.0)
    margin = (sign * (X @ truth)).min()
    w, _, weighted, factors = by_hand(X, sign, shards, mixes, 30, averaged=True, bias=0.0)
    radius = np.linalg.norm(X, axis=1).max()
    assert all(1.0 <= factor <= shards for factor in factors)
    assert w @ w <= radius**2 * weighted * (1 + 1e-9)
    assert truth @ w[:-1] >= margin * weighted * (1 - 1e-9)
    assert weighted <= parameter_mixing(radius, margin) * (1 + 1e-9)


def test_last_weights_move_by_the_mean_and_averages_as_far_as_the_bound_allows():
    rows = {0: [[4.0, 0.0]], 1: [[0.0, 2.0]]}  # orthogonal: what both learned adds up
    for algorithm, wanted in zip(METHODS[:2], ([2.0, 1.0], [4.0, 2.0]), strict=True):
        rule = spec(algorithm, order="cyclic", sizes=((0, 1), (1, 1)), bias=0.0)
        state, given_round = start(algorithm, 2)
        work = partial(train_shard, rule, given_round)
        mix(state, work(shard(0, rows[0], ["yes"])).merge(work(shard(1, rows[1], ["yes"]))), rule)
        assert state.W[0].tolist() == wanted


def test_a_round_presents_its_share_of_the_rows_and_all_rounds_present_each_row_once():
    X, y = some_rows(29)
    algorithm = METHODS[1]
    for order, mixes in product(("cyclic", "shuffled"), (1, 3, 40)):
        rule = spec(algorithm, order=order, mixes=mixes, sizes=((0, 29),))
        state = start(algorithm, 5)[0]
        seen = 0
        whole = [make_block(as_table(X[k : k + 10]), y[k : k + 10], np.empty(0)) for k in (0, 10, 20)]
        for number in range(mixes):
            work = partial(train_shard, rule, Round(1, number, state.W, state.b, state.t, np.arange(1), 1.0))
            part = work(Shard(0, whole))
            mix(state, part, rule)
            seen += part.rows
            assert part.complete
        assert seen == 29 == int(state.t[0])
        once = start(algorithm, 5)[0]
        alone = spec(algorithm, order=order, sizes=((0, 29),))
        mix(once, train_shard(alone, start(algorithm, 5)[1], Shard(0, whole)), alone)
        np.testing.assert_allclose(state.W, once.W)  # one shard: nothing depends on where it was cut


def stats(rows=200_000, features=47_000, shards=2, in_several_blocks=False):
    found = stats_of(shard(0, *some_rows()))
    sizes = tuple((k, rows // shards) for k in range(shards))
    return found._replace(features=features, sizes=sizes, in_several_blocks=in_several_blocks)


def test_averages_of_wide_rows_mix_the_more_often_the_more_rows_a_shard_has_for_each_weight_that_is_sent():
    averaged, last, soft = METHODS[1], METHODS[0], METHODS[2]
    assert mixes_for(averaged, stats()) == 4
    found = [mixes_for(averaged, stats(features=width)) for width in (391, 47_000, 120_000, 1 << 20)]
    assert found == [4, 4, 3, 1]
    assert [mixes_for(averaged, stats(features=width)) for width in (1, 100, 390)] == [1, 1, 1]  # narrow rows
    assert mixes_for(averaged, stats(shards=8)) == mixes_for(averaged, stats(in_several_blocks=True)) == 1
    assert mixes_for(last, stats()) == mixes_for(soft, stats()) == 1
    assert mixes_for(last, stats(), 7) == mixes_for(averaged, stats(), 7) == 7


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_as_they_are_stored_are_learned_from_in_views_of_them_in_whatever_pieces(sparse, monkeypatch):
    X, y = some_rows(41)
    algorithm, weight = METHODS[1], np.arange(1.0, 42.0)
    found = set()
    for look in (1, 30, 1 << 23):
        monkeypatch.setattr(mixing, "ENTRIES_PER_CHECK", look)
        for mixes, numbered in product((1, 3), (False, True)):
            rule = spec(algorithm, order="cyclic", mixes=mixes, sizes=((0, 41),))
            state = start(algorithm, 5)[0]
            block = make_block(as_table(sp.csr_matrix(X) if sparse else X), y, weight)
            block = block._replace(rows=np.arange(41, dtype=np.int32)) if numbered else block
            for number in range(mixes):
                given_round = Round(1, number, state.W, state.b, state.t, np.arange(1), 1.0)
                mix(state, train_shard(rule, given_round, Shard(0, [block])), rule)
            found.add((mixes, state.W.tobytes(), state.lag.tobytes()))
    assert len(found) == 2  # to mix changes the rounding of one shard; pieces, views and numbers change nothing


def test_mixing_by_mistakes_weighs_each_shard_by_its_own():
    algorithm = METHODS[0]
    X, y = some_rows()
    work = partial(train_shard, spec(algorithm, order="cyclic", mixing="mistakes"), start(algorithm, 5)[1])
    parts = [work(shard(k, X[k::2], y[k::2])) for k in range(2)]
    plain = partial(train_shard, spec(algorithm, order="cyclic"), start(algorithm, 5)[1])
    ends = [plain(shard(k, X[k::2], y[k::2])).change[0] for k in range(2)]
    share = [int(part.mistakes[0]) for part in parts]
    state = start(algorithm, 5)[0]
    mix(state, parts[0].merge(parts[1]), work.args[0])
    np.testing.assert_allclose(state.W[0], np.average(ends, axis=0, weights=share))


def test_a_shard_may_have_one_class_or_miss_one():
    algorithm, X = METHODS[0], np.eye(4)
    rule = spec(algorithm, 3)
    round_of = start(algorithm, 4, 3)[1]
    first = train_shard(rule, round_of, shard(0, X, ["yes"] * 4))
    part = first.merge(train_shard(rule, round_of, shard(1, X, ["no", "why"] * 2)))
    assert part.rows == 8
    assert np.isfinite(part.change).all()
    assert (
        part.change[np.searchsorted(rule.classes, "yes")].sum() > part.change[np.searchsorted(rule.classes, "no")].sum()
    )


def test_rows_of_weight_zero_are_left_out():
    X, y = some_rows(8)
    algorithm = METHODS[0]
    work = partial(train_shard, spec(algorithm, order="cyclic"), start(algorithm, 5)[1])
    np.testing.assert_array_equal(work(shard(0, X, y, [1.0, 0.0] * 4)).change, work(shard(0, X[::2], y[::2])).change)


def test_errors_add_up():
    X, y = some_rows()
    algorithm = METHODS[0]
    state = start(algorithm, 5)[0]
    state.W[0] = np.arange(1, 6)
    work = partial(measure_shard, spec(algorithm), algorithm.hyperplanes(state))
    parts = merge_tree((work(shard(k, X[k::4], y[k::4])) for k in range(4)), merge)
    assert parts == work(shard(0, X, y))
    assert parts.total == 60


def test_work_and_what_it_returns_can_be_pickled():
    X, y = some_rows()
    work = partial(train_shard, spec(METHODS[1]), start(METHODS[1], 5)[1])
    first = pickle.loads(pickle.dumps(work))(shard(0, X, y))
    again = pickle.loads(pickle.dumps(first))
    assert all(np.array_equal(a, b) for a, b in zip(again, work(shard(0, X, y)), strict=True))


def test_what_has_no_mean_is_refused_with_a_reason():
    with pytest.raises(InvalidInput, match="No meaningful mean"):
        check_mixing(Arow(1.0, False))
    with pytest.raises(InvalidInput, match="uniform"):
        check_mixing(METHODS[0], "by size")


@pytest.mark.parametrize("features", [4, 6, 6000])
def test_rows_that_are_read_again_with_another_width_reach_no_loop(features):
    """An engine may compute a partition anew, from a source that has changed."""
    algorithm = FirstOrder(perceptron())
    X, y = some_rows(d=features)
    rule, (state, given_round) = spec(algorithm, order="cyclic"), start(algorithm, 5)
    for work in (partial(train_shard, rule, given_round), partial(measure_shard, rule, algorithm.hyperplanes(state))):
        with pytest.raises(InvalidInput, match=f"Rows have {features} features, and had 5"):
            work(shard(0, X, y))


def test_a_label_that_appears_between_two_rounds_is_not_taken_for_another():
    algorithm = FirstOrder(perceptron())
    X, y = some_rows()
    with pytest.raises(InvalidInput, match="A label appeared after the first reading"):
        partial(train_shard, spec(algorithm, order="cyclic"), start(algorithm, 5)[1])(
            shard(0, X, np.where(np.arange(len(y)) == 3, "zzz", y))
        )


def test_shards_mix_no_more_often_than_they_have_rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(22, 3))
    y = (X[:, 0] > 0).astype(int)
    fitted = [AveragedPerceptron(shards=4, mixes=mixes, max_iter=2, tol=None).fit(X, y) for mixes in (6, 10**12)]
    np.testing.assert_array_equal(fitted[0].coef_, fitted[1].coef_)
