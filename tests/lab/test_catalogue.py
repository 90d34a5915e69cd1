"""The catalogue: what the page offers is what the estimators declare."""

import json

import numpy as np
import pytest
from sklearn.base import is_classifier

from rosenblatt import certify
from rosenblatt.errors import InvalidInput
from rosenblatt.lab.catalogue import (
    DATA,
    FEATURES,
    MAX_POINTS,
    ORDERS,
    Control,
    catalogue,
    clouds,
    estimator_class,
    learner_names,
    learners,
    mapped,
    points_of,
    polynomial,
    written,
)
from rosenblatt.learners import ALL


def test_every_classifier_is_there():
    classifiers = {name for name, cls in ALL.items() if is_classifier(cls())}
    assert set(learner_names()) == set(learners()) == classifiers


@pytest.mark.parametrize("name", learner_names())
def test_parameters_are_declared_and_their_ranges_are_possible(name):
    declared = estimator_class(name).declared
    for control in learners()[name].params:
        parameter = declared[control.name]
        assert control.sentence == parameter.text
        assert control.default == parameter.default
        ends = control.choices or ((True, False) if control.kind == "bool" else (control.low, control.high))
        for value in ends:
            assert parameter.accepts(int(value) if control.kind == "int" else value), (control.name, value)
            assert control.checked(value) == value
        assert control.kind in ("bool", "choice") or control.low < control.high


def test_every_choice_offers_something():
    controls = [(name, control) for name in learner_names() for control in learners()[name].params]
    assert not [(name, control.name) for name, control in controls if control.kind == "choice" and not control.choices]


@pytest.mark.parametrize("name", learner_names())
def test_what_is_not_shown_is_set_by_the_lab_or_changes_no_trial(name):
    """A parameter that an estimator gets one day must be shown, or be listed as one that is not."""
    shown = {control.name for control in learners()[name].params}
    hidden = set(estimator_class(name).declared) - shown
    if name == "KernelPerceptron":  # has no soft margin on a budget
        hidden -= {"margin", "max_updates"}
    assert hidden <= {
        "max_iter", "tol", "shuffle", "verbose", "random_state", "n_iter_no_change", "max_seconds", "callback",
        "class_weight", "intercept_scaling", "n_jobs", "shards", "mixes", "early_stopping", "validation_fraction",
        "warm_start", "init", "keep", "cache_size", "budget", "budget_rule", "residual", "aggregate",
    }  # fmt: skip


def test_the_catalogue_is_plain_json_with_what_the_page_reads():
    found = json.loads(json.dumps(catalogue(), allow_nan=False))
    assert [one["name"] for one in found["data"]] == list(DATA)
    assert [one["name"] for one in found["orders"]] == list(ORDERS)
    assert [one["name"] for one in found["features"]] == list(FEATURES)
    for learner in found["learners"]:
        assert {"title", "lecture", "kernel", "multiclass", "trials", "params"} <= learner.keys()
    for entry in [*found["data"], *found["orders"], *found["features"]]:
        assert entry["title"]
        assert entry["sentence"].endswith(".")


@pytest.mark.parametrize("name", DATA)
def test_sets_have_the_classes_that_they_promise_and_the_same_points_each_time(name):
    X, y = points_of(name)
    again = points_of(name)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert np.unique(y).size == DATA[name].classes
    assert X.shape == (y.size, len(DATA[name].columns))
    np.testing.assert_array_equal(X, np.round(X, 2))


@pytest.mark.parametrize("name", [name for name, data in DATA.items() if data.controls])
def test_controls_of_sets_work_at_both_ends(name):
    for control in DATA[name].controls:
        for value in (control.low, control.high):
            if control.kind == "int":
                value = int(value)
            if control.name == "n":
                value = min(value, 300)
            X, y = points_of(name, **{control.name: value})
            assert len(X) == len(y)
            assert np.isfinite(X).all()


@pytest.mark.parametrize("margin", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_clouds_keep_their_distance_from_a_line(margin, seed):
    X, y = clouds(80, margin, 0.0, seed)
    certificate = certify(X, y)
    assert certificate.verdict == "separable"
    assert certificate.margin.upper >= margin
    assert abs(int(y.sum())) <= 1


def test_flipped_labels_are_as_many_as_asked_for():
    plain, noisy = clouds(50, 0.1, 0.0, 1)[1], clouds(50, 0.1, 0.2, 1)[1]
    assert np.count_nonzero(plain != noisy) == 10


def test_unknown_sets_and_controls_are_rejected_with_a_message():
    with pytest.raises(InvalidInput, match="Did you mean 'moons'"):
        points_of("moon")
    with pytest.raises(InvalidInput, match="It has none"):
        points_of("or", n=3)
    with pytest.raises(InvalidInput, match=f"to {MAX_POINTS}"):
        points_of("moons", n=MAX_POINTS + 1)


def test_the_maps_of_features():
    X = np.array([[2.0, 3.0], [1.0, -1.0]])
    assert polynomial(X, 2).tolist() == [[2, 3, 4, 6, 9], [1, -1, 1, -1, 1]]
    assert polynomial(X, 3)[0].tolist() == [2, 3, 4, 6, 9, 8, 12, 18, 27]
    for features in FEATURES:
        Z, feature_map = mapped(X, features, 5, 0)
        np.testing.assert_array_equal(feature_map(X), Z)


def test_a_value_in_an_address_is_read_back():
    control = Control("c", "choice", None, "Text.", choices=(None, True, "mean"))
    for value in control.choices:
        assert control.read(written(value)) is value
    number = Control("x", "float", 1.0, "Text.", 0.0, 10.0, 0.1)
    for value in (0.1, 1.0, 1e-7, 1 / 3):
        assert number.read(written(value)) == value
    for text in ("nan", "inf", "1_0", "٣", "", "11"):
        with pytest.raises(InvalidInput):
            number.read(text)
