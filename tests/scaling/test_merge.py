"""Models that were trained apart become one."""

import numpy as np
import pytest

from rosenblatt import AROW, AveragedPerceptron, Perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.scaling import merge


def rows(seed, labels):
    random = np.random.default_rng(seed)
    return random.normal(size=(40, 3)), random.choice(labels, 40)


def test_weights_are_the_mean_and_counts_add_up():
    models = [Perceptron().partial_fit(*rows(seed, ["a", "b"])) for seed in range(3)]
    before = models[0].coef_.copy()
    merged = merge(models)
    np.testing.assert_allclose(merged.coef_, np.mean([model.coef_ for model in models], axis=0))
    assert (merged.t_, merged.mistakes_) == (120, sum(model.mistakes_ for model in models))
    merged.partial_fit(*rows(9, ["a", "b"]))
    np.testing.assert_array_equal(models[0].coef_, before)


def test_averages_are_over_all_trials_and_shares_count():
    short = AveragedPerceptron().partial_fit(*rows(0, ["a", "b"]))
    long = AveragedPerceptron().partial_fit(*rows(1, ["a", "b"])).partial_fit(*rows(2, ["a", "b"]))
    np.testing.assert_allclose(merge([short, long]).coef_, (short.coef_ + 2 * long.coef_) / 3)
    plain = [Perceptron().partial_fit(*rows(seed, ["a", "b"])) for seed in range(2)]
    np.testing.assert_allclose(merge(plain, [3, 1]).coef_, (3 * plain[0].coef_ + plain[1].coef_) / 4)


def test_a_class_that_some_have_not_met_is_added_to_them():
    merged = merge([Perceptron().partial_fit(*rows(0, ["a", "b"])), Perceptron().partial_fit(*rows(1, ["b", "c"]))])
    assert merged.classes_.tolist() == ["a", "b", "c"]
    assert merged.coef_.shape == (3, 3)


def test_what_has_no_mean_is_refused():
    with pytest.raises(InvalidInput, match="no models"):
        merge([])
    with pytest.raises(InvalidInput, match="no mean"):
        merge([AROW().partial_fit(*rows(0, ["a", "b"]))])
    with pytest.raises(InvalidInput, match="different classes"):
        merge([model.partial_fit(*rows(0, ["a", "b"])) for model in (Perceptron(), AveragedPerceptron())])
    with pytest.raises(AttributeError, match="no weights yet"):
        merge([Perceptron()])


def test_the_record_of_a_merged_model_speaks_of_all_rows():
    (X, y), here, there = rows(3, ["a", "b"]), Perceptron(), Perceptron()
    for x, label in zip(X, y, strict=True):
        here.learn_one(x, label)
        there.learn_one(-x, label)
    both = merge([here, there])
    counts = here.t_ + there.t_, here.mistakes_ + there.mistakes_
    assert both.run_.single_pass == counts
    assert both.stop_reason_ == "streams were merged (rows: {}, mistakes: {}): the stream can continue.".format(*counts)
    # The rows of a fit are seen more than once: they promise nothing.
    assert merge([here, Perceptron().fit(X, y)]).run_.single_pass is None
