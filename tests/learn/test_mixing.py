"""Laws of iterative parameter mixing: parts add up along one tree, whoever computed them."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.mixing import (
    Learn,
    Lesson,
    Measure,
    Round,
    Shard,
    census_of,
    check_mixing,
    make_portion,
    merge,
    merge_tree,
    mix,
    rows_of_shards,
    shard_seed,
)
from rosenblatt.learn.multiclass import code
from rosenblatt.methods.covariance import Arow
from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.verbs.learning import PerceptronRule
from rosenblatt.verbs.penalties import ElasticNet, HarmonicRate, Ridge
from rosenblatt.verbs.rules import HingeRule

METHODS = [
    FirstOrder(PerceptronRule(0.0, 0.0)),
    FirstOrder(PerceptronRule(0.0, 0.0), averaged=True),
    FirstOrder(HingeRule(), Ridge(0.01), HarmonicRate(0.01, 10.0), averaged=True),
    FirstOrder(HingeRule(), ElasticNet(0.001, 0.01), HarmonicRate(0.01, 10.0)),
]


def some_rows(n=60, d=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, d)).astype(float)
    return X, np.where(X @ np.arange(1, d + 1) > random.normal(size=n), "yes", "no")


def shard(number, X, y, weight=()):
    portion = make_portion(as_table(X), y, np.asarray(weight, float))
    return Shard(number, [] if portion is None else [portion])


def lesson(method, n_classes=2, **changes):
    classes = np.array(["no", "yes", "why"][:n_classes])
    classes.sort()
    return Lesson(method, classes, code(n_classes, "ovr"), np.ones(n_classes), **changes)


def start(method, d, problems=1):
    state = method.start(problems, d, np.float64)
    return state, Round(1, state.W, state.b, state.t, np.arange(problems), 1.0)


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


def test_seeds_differ_by_round_shard_and_portion_and_are_always_the_same():
    seeds = {shard_seed(seed, *place) for seed in (0, 1) for place in np.ndindex(5, 7, 3)}
    assert len(seeds) == 2 * 5 * 7 * 3
    assert shard_seed(0, 1, 2, 3) == shard_seed(0, 1, 2, 3) < 1 << 63


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_one_shard_learns_what_the_loop_learns(method):
    X, y = some_rows()
    state, given_round = start(method, 5)
    part = Learn(lesson(method, order="cyclic"), given_round)(shard(0, X, y))
    mix(state, part)
    from rosenblatt.learn.stream import Settings, Stream

    stream = Stream(Settings(method, takes_new_classes=False))
    stream.learn(as_table(X), y, np.empty(0))
    W, b = method.hyperplanes(state)[:2]
    np.testing.assert_allclose(W, stream.model().W, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(b, stream.model().b, rtol=1e-12, atol=1e-13)
    assert (part.rows, part.mistakes.sum()) == (60, stream.mistakes)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_two_shards_of_the_same_rows_mix_to_what_one_learns(method):
    X, y = some_rows()
    work = Learn(lesson(method, order="cyclic"), start(method, 5)[1])
    one, both = start(method, 5)[0], start(method, 5)[0]
    mix(one, work(shard(0, X, y)))
    mix(both, work(shard(0, X, y)).merge(work(shard(1, X, y))))
    np.testing.assert_array_equal(one.W, both.W)
    np.testing.assert_allclose(method.hyperplanes(one).W, method.hyperplanes(both).W, rtol=1e-12)
    assert both.t.tolist() == [120]


def test_the_average_is_over_the_trials_of_all_shards_and_rounds():
    method = METHODS[1]
    X, y = some_rows()
    rule, state = lesson(method, order="cyclic"), start(method, 5)[0]
    total, trials, W, b = np.zeros(5), 0, np.zeros(5), 0.0
    sign = np.where(y == "yes", 1.0, -1.0)
    for number in (1, 2, 3):
        given_round = Round(number, state.W, state.b, state.t // 4, np.arange(1), 1.0)
        mix(state, merge_tree((Learn(rule, given_round)(shard(k, X[k::4], y[k::4])) for k in range(4)), merge))
        ends = []
        for k in range(4):
            w, c = W.copy(), b
            for x, s in zip(X[k::4], sign[k::4], strict=True):
                if s * (w @ x + c) <= 0:
                    w, c = w + s * x, c + s
                total, trials = total + w, trials + 1
            ends.append((w, c))
        W, b = np.mean([w for w, _ in ends], axis=0), float(np.mean([c for _, c in ends]))
    np.testing.assert_allclose(state.W[0], W)
    np.testing.assert_allclose(method.hyperplanes(state).W[0], total / trials)


def test_mixing_by_mistakes_weighs_each_shard_by_its_own():
    method = METHODS[0]
    X, y = some_rows()
    work = Learn(lesson(method, order="cyclic", mixing="mistakes"), start(method, 5)[1])
    parts = [work(shard(k, X[k::2], y[k::2])) for k in range(2)]
    plain = Learn(lesson(method, order="cyclic"), start(method, 5)[1])
    ends = [plain(shard(k, X[k::2], y[k::2])).change[0] for k in range(2)]
    share = [int(part.mistakes[0]) for part in parts]
    state = start(method, 5)[0]
    mix(state, parts[0].merge(parts[1]))
    np.testing.assert_allclose(state.W[0], np.average(ends, axis=0, weights=share))


def test_a_shard_may_have_one_class_or_miss_one():
    method, X = METHODS[0], np.eye(4)
    rule = lesson(method, 3)
    round_of = start(method, 4, 3)[1]
    part = Learn(rule, round_of)(shard(0, X, ["yes"] * 4)).merge(Learn(rule, round_of)(shard(1, X, ["no", "why"] * 2)))
    assert part.rows == 8
    assert np.isfinite(part.change).all()
    assert (
        part.change[np.searchsorted(rule.classes, "yes")].sum() > part.change[np.searchsorted(rule.classes, "no")].sum()
    )


def test_rows_of_weight_zero_are_left_out_and_a_shard_of_them_is_empty():
    X, y = some_rows(8)
    assert census_of(shard(3, X, y, np.zeros(8))).sizes == ((3, 0),)
    half = census_of(shard(3, X, y, [1.0, 0.0] * 4))
    assert half.sizes == ((3, 4),)
    method = METHODS[0]
    work = Learn(lesson(method, order="cyclic"), start(method, 5)[1])
    np.testing.assert_array_equal(work(shard(0, X, y, [1.0, 0.0] * 4)).change, work(shard(0, X[::2], y[::2])).change)


def test_censuses_add_up_and_do_not_mind_empty_shards():
    X, y = some_rows()
    whole = census_of(shard(0, X, y))
    parts = [census_of(shard(k, X[rows], y[rows])) for k, rows in rows_of_shards(60, np.empty(0, int), 7)]
    found = merge_tree([*parts, census_of(Shard(7, []))], merge)
    assert (found.classes.tolist(), found.counts.tolist()) == (whole.classes.tolist(), whole.counts.tolist())
    assert (found.n_rows, found.largest, found.numbers) == (60, whole.largest, tuple(range(7)))
    assert found.survey().value == pytest.approx(whole.survey().value)


def test_censuses_of_other_columns_or_kinds_of_labels_are_refused():
    X, y = some_rows()
    with pytest.raises(InvalidInput, match="features"):
        census_of(shard(0, X, y)).merge(census_of(shard(1, X[:, :3], y)))
    with pytest.raises(InvalidInput, match="texts"):
        census_of(shard(0, X, y)).merge(census_of(shard(1, X, y == "yes")))


def test_errors_add_up():
    X, y = some_rows()
    method = METHODS[0]
    state = start(method, 5)[0]
    state.W[0] = np.arange(1, 6)
    work = Measure(lesson(method), method.hyperplanes(state))
    parts = merge_tree((work(shard(k, X[k::4], y[k::4])) for k in range(4)), merge)
    assert parts == work(shard(0, X, y))
    assert parts.total == 60


def test_work_and_what_it_returns_can_be_pickled():
    X, y = some_rows()
    work = Learn(lesson(METHODS[1]), start(METHODS[1], 5)[1])
    first = pickle.loads(pickle.dumps(work))(shard(0, X, y))
    again = pickle.loads(pickle.dumps(first))
    assert all(np.array_equal(a, b) for a, b in zip(again, work(shard(0, X, y)), strict=True))


def test_what_has_no_mean_is_refused_with_a_reason():
    with pytest.raises(InvalidInput, match="no meaning that is known"):
        check_mixing(Arow(1.0, False))
    with pytest.raises(InvalidInput, match="uniform"):
        check_mixing(METHODS[0], "by size")


@pytest.mark.parametrize("features", [4, 6, 6000])
def test_rows_that_are_read_again_with_another_width_reach_no_loop(features):
    """An engine may compute a partition anew, from a source that has changed."""
    method = FirstOrder(PerceptronRule(0.0, 0.0))
    X, y = some_rows(d=features)
    rule, (state, given_round) = lesson(method, order="cyclic"), start(method, 5)
    for work in (Learn(rule, given_round), Measure(rule, method.hyperplanes(state))):
        with pytest.raises(InvalidInput, match=f"Rows have {features} features, and had 5"):
            work(shard(0, X, y))


def test_a_label_that_appears_between_two_rounds_is_not_taken_for_another():
    method = FirstOrder(PerceptronRule(0.0, 0.0))
    X, y = some_rows()
    with pytest.raises(InvalidInput, match="A label appeared after the first reading"):
        Learn(lesson(method, order="cyclic"), start(method, 5)[1])(
            shard(0, X, np.where(np.arange(len(y)) == 3, "zzz", y))
        )
