"""Scores as sums over features: of every linear learner and model, for rows of every kind."""

import json
import warnings
from itertools import combinations
from math import fsum

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from members import FAMILY
from rosenblatt import AROW, LinearModel, Perceptron, VotedPerceptron
from rosenblatt.errors import InvalidInput

LINEAR = [model for model in FAMILY if hasattr(model, "explain")]


def rows(n=40, features=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, features)) * (rng.random((n, features)) < 0.7)
    return np.abs(X), rng.integers(0, classes, n)


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


def close(found, expected, terms=()):
    """Whether two sums agree to 1e-9, relative to the size of their terms."""
    return abs(found - expected) <= 1e-9 * max(abs(expected), fsum(map(abs, terms)))


def check(explanation, scores):
    """Check that each sum is that of its terms, and the score of the model."""
    assert len(explanation.sums) == len(scores)
    for one, score in zip(explanation.sums, scores, strict=True):
        terms = [part.contribution for part in one.contributions]
        assert close(one.score, fsum([*terms, one.others, one.bias]), terms)
        assert close(one.score, score, terms)
        assert [abs(term) for term in terms] == sorted(map(abs, terms), reverse=True)


def test_every_linear_learner_can_be_explained():
    assert [type(model).__name__ for model in FAMILY if not hasattr(model, "explain")] == []


@pytest.mark.parametrize("model", LINEAR, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_contributions_add_up_to_the_score(model, classes):
    X, y = rows(classes=classes)
    way = {"aggregate": "average"} if isinstance(model, VotedPerceptron) else {}
    model = fitted(model, X, y)
    for x in X[:10]:
        score = model.decision_function([x], **way) if is_classifier(model) else model.predict([x])
        for top in (None, 0, 2):
            check(model.explain(x, top=top, **way), np.ravel(score))
            assert all(
                len(one.contributions) == min(top, np.count_nonzero(x))
                for one in model.explain(x, top=top, **way).sums
                if top is not None
            )


def test_a_contribution_is_the_weight_times_the_value():
    X, y = rows()
    model = fitted(Perceptron(), X, y)
    for c, one in enumerate(model.explain(X[0]).sums):
        assert one.label == c
        assert one.bias == model.intercept_[c]
        for part in one.contributions:
            j = int(part.name[1:]) - 1
            assert (part.value, part.weight) == (X[0, j], model.coef_[c, j])
            assert part.contribution == part.value * part.weight


def test_rows_of_every_kind_are_explained_alike():
    X, y = rows()
    frame = pd.DataFrame(X, columns=[*"abcdef"])
    model = fitted(Perceptron(), frame, y)
    model_of_arrays = fitted(Perceptron(), X, y)
    weights = model._named_model()
    expected = model.explain(frame.iloc[3])
    assert {part.name for part in expected.sums[0].contributions} <= {*"abcdef"}
    dictionary = {name: value for name, value in frame.iloc[3].items() if value}
    for explained in (model, weights):
        for row in (frame.iloc[[3]], frame.iloc[3], dictionary):
            assert explained.explain(row) == expected
    plain = model_of_arrays.explain(X[3])
    for explained in (model_of_arrays, model_of_arrays._named_model()):
        for row in (X[3], X[3].tolist(), X[3:4], sp.csr_matrix(X[3:4]), sp.csr_array(X[3:4])):
            assert explained.explain(row) == plain
    for one, other in zip(plain.sums, expected.sums, strict=True):
        letters = {f"x{place}": letter for place, letter in enumerate("abcdef", 1)}
        assert [letters[part.name] for part in one.contributions] == [part.name for part in other.contributions]
        assert one.score == other.score


def test_a_stream_of_dicts_is_explained_by_its_names():
    model = AROW()
    for k in range(20):
        model.learn_one({"a": k % 3, "b": 1.0, f"c{k}": 2.0}, "yes" if k % 3 else "no")
    row = {"a": 2.0, "c7": 1.0, "never": 5.0}
    (one,) = model.explain(row).sums
    assert {part.name for part in one.contributions} == {"a", "c7"}
    assert (one.label, one.score > 0) == ("yes", model.predict_one(row) == "yes")


def test_pairs_are_added_up_where_they_are_and_explained_one_by_one_where_they_vote():
    X, y = rows(classes=4)
    summed = fitted(Perceptron(multiclass="ovo"), X, y)
    check(summed.explain(X[0]), summed.decision_function(X[:1])[0])
    voting = fitted(Perceptron(multiclass="ovo-vote"), X, y)
    explanation = voting.explain(X[0])
    assert [one.label for one in explanation.sums] == [f"{a} over {b}" for a, b in combinations(range(4), 2)]
    check(explanation, voting.coef_ @ X[0] + voting.intercept_)
    votes = [0] * 4
    for (a, b), one in zip(combinations(range(4), 2), explanation.sums, strict=True):
        votes[a if one.score > 0 else b] += 1
    assert votes[voting.predict(X[:1])[0]] == max(votes)


def test_a_vote_of_vectors_is_not_a_sum():
    X, y = rows()
    model = fitted(VotedPerceptron(), X, y)
    with pytest.raises(InvalidInput, match="aggregate='average'"):
        model.explain(X[0])
    check(model.explain(X[0], aggregate="last"), model.decision_function(X[:1], aggregate="last")[0])


def test_standardised_columns_are_shown_as_they_are_in_the_data():
    scaling = {"scaling": [[10.0, 0.0, 3.0], [2.0, 1.0, 0.0]]}
    W, b = np.array([[1.5, -2.0, 7.0]]), np.array([0.5])
    model = LinearModel(W, b, np.array(["no", "yes"]), feature_names=("age", "height", "constant"), origin=scaling)
    (one,) = model.explain([16.0, 1.5, 3.0]).sums
    assert [tuple(part) for part in one.contributions] == [("age", 16.0, 1.5, 4.5), ("height", 1.5, -2.0, -3.0)]
    assert one.score == 2.0 == model.scores([[16.0, 1.5, 3.0]])[0]
    with pytest.raises(InvalidInput, match="standardised"):
        model.explain(sp.csr_matrix([[16.0, 1.5, 3.0]]))


def test_an_explanation_prints_as_a_line_for_each_class_the_highest_first():
    W, b = np.array([[3.2, 2.1, 0.0, 0.1], [-1.0, 0.0, 4.0, 0.0], [0.0, 0.0, 0.0, 9.0]]), np.array([-0.6, 0.25, 0.0])
    model = LinearModel(W, b, np.array(["a", "spam", "z"]), feature_names=("prize", "money", "home", "now"))
    explanation = model.explain({"prize": 1.0, "money": 1.0, "now": 0.5}, top=2)
    assert str(explanation) == repr(explanation)
    assert str(explanation).splitlines() == [
        "a 4.75 = prize 3.2, money 2.1, others 0.05, bias -0.6",
        "z 4.5 = now 4.5, bias 0",
        "spam -0.75 = prize -1, bias 0.25",
    ]
    plain = json.loads(json.dumps(explanation.to_dict()))
    assert [one["label"] for one in plain] == ["a", "spam", "z"]
    assert plain[0]["contributions"][0] == {"name": "prize", "value": 1.0, "weight": 3.2, "contribution": 3.2}


@pytest.mark.parametrize("top", [-1, 1.5, "all"])
def test_an_invalid_top_is_refused(top):
    X, y = rows()
    with pytest.raises(InvalidInput, match="top="):
        fitted(Perceptron(), X, y).explain(X[0], top=top)


def test_anything_but_one_row_is_refused():
    X, y = rows()
    model = fitted(Perceptron(), X, y)
    for explained in (model, model._named_model()):
        for row in (X[:2], sp.csr_matrix(X[:2]), X[0, :3]):
            with pytest.raises(InvalidInput):
                explained.explain(row)
        with pytest.raises(InvalidInput, match=r"names|dict"):
            explained.explain({"a": 1.0})
