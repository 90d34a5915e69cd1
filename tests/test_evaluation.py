"""Evaluation: values computed by hand, and scikit-learn's where it has the same measure."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from rosenblatt.errors import InvalidInput, RosenblattError
from rosenblatt.evaluation import (
    LOSSES,
    ClassificationMetrics,
    RegressionMetrics,
    accuracy,
    confusion,
    empirical_risk,
    hinge_loss,
    logistic_loss,
    perceptron_loss,
    zero_one_loss,
)

SIGNS = [-1, 1, 1, -1, 1]
SCORES = [-2.0, 3.0, 0.0, 0.5, -1.0]


def labelled(n=200, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(0, 4, n), random.integers(0, 4, n), random.random(n)


def test_accuracy_is_the_share_of_equal_labels():
    assert accuracy([1, 2, 3, 4], [1, 2, 0, 4]) == pytest.approx(3 / 4)
    assert accuracy(["a", "b"], ["b", "a"]) == 0.0


def test_accuracy_weights_the_rows():
    assert accuracy([0, 1, 1], [0, 0, 1], sample_weight=[1, 2, 1]) == pytest.approx(0.5)


def test_accuracy_is_that_of_scikit_learn():
    truth, predicted, weight = labelled()
    assert accuracy(truth, predicted) == pytest.approx(metrics.accuracy_score(truth, predicted))
    expected = metrics.accuracy_score(truth, predicted, sample_weight=weight)
    assert accuracy(truth, predicted, weight) == pytest.approx(expected)


def test_accuracy_survives_weights_whose_sum_overflows():
    assert accuracy([1, 0], [1, 1], sample_weight=[1e308, 1e308]) == pytest.approx(0.5)


def test_confusion_has_the_truth_in_its_rows():
    labels, matrix = confusion(["a", "a", "b", "c"], ["a", "b", "b", "a"])
    assert labels.tolist() == ["a", "b", "c"]
    assert matrix.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_confusion_follows_the_order_of_the_labels_given():
    labels, matrix = confusion([0, 0, 1], [0, 1, 1], labels=[1, 0, 7])
    assert labels.tolist() == [1, 0, 7]
    assert matrix.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0]]


def test_confusion_is_that_of_scikit_learn():
    truth, predicted, _ = labelled()
    assert np.array_equal(confusion(truth, predicted)[1], metrics.confusion_matrix(truth, predicted))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_confusion_counts_each_row_once_and_accuracy_is_its_diagonal(pairs):
    truth, predicted = zip(*pairs, strict=True)
    _, matrix = confusion(truth, predicted)
    assert matrix.sum() == len(pairs)
    assert np.trace(matrix) / len(pairs) == pytest.approx(accuracy(truth, predicted))


def test_a_tie_is_a_mistake():
    assert zero_one_loss(SIGNS, SCORES).tolist() == [0, 0, 1, 1, 1]
    assert zero_one_loss([-1, 1], [0.0, -0.0]).tolist() == [1, 1]


def test_perceptron_loss_is_the_depth_of_a_mistake():
    assert perceptron_loss(SIGNS, SCORES).tolist() == [0, 0, 0, 0.5, 1]


def test_the_perceptron_loss_of_a_tie_is_zero_without_a_sign():
    assert not np.signbit(perceptron_loss([1, -1], [0.0, -0.0])).any()


def test_hinge_loss_asks_for_a_margin_of_one():
    assert hinge_loss(SIGNS, SCORES).tolist() == [0, 0, 1, 1.5, 2]


def test_logistic_loss_is_the_log_of_the_odds():
    assert logistic_loss([1, -1], [0.0, 1.0]) == pytest.approx([math.log(2), math.log(1 + math.e)])
    assert logistic_loss([1, -1], [-1e6, -1e6]) == pytest.approx([1e6, 0.0])


def test_hinge_and_logistic_risk_are_those_of_scikit_learn():
    random = np.random.default_rng(1)
    signs, scores, weight = random.choice([-1, 1], 100), random.normal(size=100), random.random(100)
    hinge = metrics.hinge_loss(signs, scores, sample_weight=weight)
    assert empirical_risk("hinge", signs, scores, weight) == pytest.approx(hinge)
    chance = 1 / (1 + np.exp(-scores))
    log = metrics.log_loss(signs, np.column_stack([1 - chance, chance]))
    assert empirical_risk("logistic", signs, scores) == pytest.approx(log)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("labels", [[0, 1, 1, 0, 1], [False, True, True, False, True], [-1.0, 1.0, 1.0, -1.0, 1.0]])
def test_zero_one_and_boolean_labels_are_read_as_signs(loss, labels):
    assert LOSSES[loss](labels, SCORES).tolist() == LOSSES[loss](SIGNS, SCORES).tolist()
    assert empirical_risk(loss, labels, SCORES) == empirical_risk(loss, SIGNS, SCORES)


@given(st.lists(st.tuples(st.sampled_from([-1, 1]), st.floats(-50, 50)), min_size=1))
def test_hinge_is_above_both_the_step_and_the_perceptron_loss(rows):
    y, score = zip(*rows, strict=True)
    assert (hinge_loss(y, score) >= zero_one_loss(y, score)).all()
    assert (hinge_loss(y, score) >= perceptron_loss(y, score)).all()


def test_empirical_risk_is_the_weighted_mean_of_the_loss():
    assert empirical_risk("perceptron", SIGNS, SCORES) == pytest.approx(1.5 / 5)
    assert empirical_risk("perceptron", SIGNS, SCORES, [0, 0, 0, 2, 1]) == pytest.approx(2 / 3)


def test_empirical_risk_takes_any_function_of_signs_and_scores():
    def squared(y, score):
        return (y - np.asarray(score)) ** 2

    assert empirical_risk(squared, [0, 1], [0.0, 3.0]) == pytest.approx((1 + 4) / 2)


def test_rows_of_weight_zero_are_out_even_with_infinite_loss():
    assert empirical_risk("hinge", [1, 1], [-np.inf, 0.0], [0, 1]) == 1.0


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: accuracy([], []), "empty"),
        (lambda: accuracy([1, 2], [1]), "y_true has 2 values, y_pred has 1"),
        (lambda: accuracy([[1, 2]], [[1, 2]]), "shape"),
        (lambda: accuracy([1.0, np.nan], [1, 1]), "NaN"),
        (lambda: accuracy(["1"], [1]), "text never equals a number"),
        (lambda: accuracy([1, 2], [1, 2], [1]), "sample_weight has 1 values for 2 rows"),
        (lambda: accuracy([1, 2], [1, 2], [-1, 1]), "negative"),
        (lambda: accuracy([1, 2], [1, 2], [0, 0]), "zero everywhere"),
        (lambda: confusion([1, 2], [1, 2], labels=[1, 3]), "2 occurs, but is not in labels"),
        (lambda: confusion([1, 2], [1, 2], labels=[1, 2, 2]), "twice"),
        (lambda: confusion(np.array([1, "a"], object), np.array([1, "a"], object)), "cannot be sorted"),
        (lambda: zero_one_loss([1, 2], [0.0, 1.0]), "not two signs"),
        (lambda: zero_one_loss([-1, 0, 1], [0.0, 1.0, 2.0]), "not two signs"),
        (lambda: hinge_loss([1, -1], [0.0]), "y has 2 values, score has 1"),
        (lambda: hinge_loss([1, -1], [0.0, np.nan]), "NaN"),
        (lambda: hinge_loss([1, -1], ["a", "b"]), "not a real type"),
        (lambda: logistic_loss([], []), "empty"),
        (lambda: empirical_risk("squared", [1], [1.0]), "zero_one, perceptron, hinge, logistic"),
        (lambda: empirical_risk(lambda y, score: np.zeros(3), [1, 1], [1.0, 1.0]), "the loss has 3"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_with_its_fault(call, told):
    with pytest.raises(InvalidInput, match=told) as caught:
        call()
    assert isinstance(caught.value, RosenblattError)
    assert isinstance(caught.value, ValueError)


# ------------------------------------------------------------------------------------------------ rows in chunks


def rows_of(n_classes, n=300, seed=0):
    """Labels, predictions, probabilities and scores with many ties."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n)
    scores = (2.0 * np.eye(n_classes)[y] + random.normal(size=(n, n_classes))).round(1)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return y, scores.argmax(axis=1), p, scores[:, 1:] - scores[:, :1] if n_classes == 2 else scores


def in_chunks(figures, *columns):
    for start, end in ((0, 1), (1, 120), (120, 120), (120, 300)):
        figures.add(*(column[start:end] for column in columns))
    return figures


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("text", [False, True])
def test_metrics_in_chunks_are_those_of_scikit_learn(n_classes, text):
    y, predicted, p, scores = rows_of(n_classes)
    names = np.array(["ant", "bee", "cat", "dog", "eel"])[:n_classes] if text else np.arange(n_classes)
    found = in_chunks(ClassificationMetrics(names), names[y], names[predicted], scores, p)
    two = n_classes == 2
    average = {"average": "binary", "pos_label": names[1]} if two else {"average": "macro"}
    assert found.rows == y.size
    assert found.errors == np.sum(y != predicted)
    assert found.accuracy == metrics.accuracy_score(y, predicted)
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y, predicted), rel=1e-12)
    assert found.f1 == pytest.approx(metrics.f1_score(names[y], names[predicted], **average), rel=1e-12)
    expected = metrics.roc_auc_score(y, scores[:, 0]) if two else metrics.roc_auc_score(y, p, multi_class="ovr")
    assert found.auc == pytest.approx(expected, rel=1e-12)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, p), rel=1e-12)
    brier = np.mean((p[:, 1] - y) ** 2) if two else np.mean(((p - np.eye(n_classes)[y]) ** 2).sum(axis=1))
    assert found.brier == pytest.approx(brier, rel=1e-12)
    label, share = found.baseline
    assert share == np.mean(names[y] == label) == max(np.mean(y == c) for c in range(n_classes))


def test_the_brier_score_of_two_classes_is_that_of_scikit_learn():
    y, predicted, p, _ = rows_of(2)
    found = in_chunks(ClassificationMetrics([0, 1]), y, predicted, p[:, 1:], p)
    assert found.brier == pytest.approx(metrics.brier_score_loss(y, p[:, 1]), rel=1e-12)


def test_a_probability_of_zero_for_the_true_class_is_a_large_finite_loss():
    found = ClassificationMetrics(["a", "b"])
    found.add(["a", "b"], ["b", "b"], probabilities=[[0.0, 1.0], [0.0, 1.0]])
    assert found.log_loss == pytest.approx(metrics.log_loss([0, 1], [[0.0, 1.0], [0.0, 1.0]]))


def test_a_class_that_is_never_predicted_has_an_f1_of_zero():
    found = ClassificationMetrics([0, 1, 2])
    found.add([0, 1, 2, 2], [0, 0, 2, 0])
    assert found.f1 == pytest.approx(metrics.f1_score([0, 1, 2, 2], [0, 0, 2, 0], average="macro"))
    found = ClassificationMetrics([0, 1])
    found.add([0, 0], [0, 0])
    assert (found.f1, found.auc) == (0.0, None)


def test_labels_that_are_no_classes_leave_out_what_they_have_no_score_for():
    found = ClassificationMetrics([0, 1])
    found.add([0, 1, 7], [0, 1, 1], [[-1.0], [1.0], [2.0]], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
    assert (found.auc, found.log_loss, found.brier) == (None, None, None)
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.f1 == pytest.approx(metrics.f1_score([0, 1, 7], [0, 1, 1], average="macro"))


def test_scores_beyond_the_limit_are_not_kept(monkeypatch):
    monkeypatch.setattr("rosenblatt.evaluation.MAX_SCORES", 100)
    y, predicted, p, scores = rows_of(2)
    found = in_chunks(ClassificationMetrics([0, 1]), y, predicted, scores, p)
    assert found.auc is None
    assert found.log_loss == pytest.approx(metrics.log_loss(y, p))


def test_models_are_merged_by_their_rows_and_the_mean_of_their_areas():
    parts = [rows_of(3, seed=seed) for seed in range(2)]
    pooled, areas = ClassificationMetrics(), []
    for y, predicted, p, scores in parts:
        one = in_chunks(ClassificationMetrics(range(3)), y, predicted, scores, p)
        areas.append(one.auc)
        pooled.merge(one)
    y, predicted, p = (np.concatenate([part[k] for part in parts]) for k in range(3))
    assert pooled.accuracy == metrics.accuracy_score(y, predicted)
    assert pooled.log_loss == pytest.approx(metrics.log_loss(y, p))
    assert pooled.auc == pytest.approx(np.mean(areas))


@given(st.integers(0, 1 << 30), st.floats(-1e6, 1e6), st.integers(1, 40))
def test_errors_of_numbers_are_those_of_scikit_learn(seed, centre, n):
    random = np.random.default_rng(seed)
    target = centre + random.normal(size=n)
    predicted = target + random.normal(size=n)
    one, other = RegressionMetrics(), RegressionMetrics()
    cut = n // 3
    one.add(target[:cut], predicted[:cut])
    other.add(target[cut:], predicted[cut:])
    one.merge(other)
    assert one.mae == pytest.approx(metrics.mean_absolute_error(target, predicted))
    assert one.rmse == pytest.approx(metrics.root_mean_squared_error(target, predicted))
    assert one.baseline_rmse == pytest.approx(target.std(), abs=1e-9)
    if n > 1:
        assert one.r2 == pytest.approx(metrics.r2_score(target, predicted), rel=1e-6)


@pytest.mark.parametrize("predicted", [[2.0, 2.0], [2.0, 3.0]])
def test_constant_targets_have_an_r2_as_in_scikit_learn(predicted):
    found = RegressionMetrics()
    found.add([2.0, 2.0], predicted)
    assert found.r2 == metrics.r2_score([2.0, 2.0], predicted)
