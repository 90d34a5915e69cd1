"""Streams: one row is a chunk of one, what was handed out stays, and what was learned is there once."""

import copy
import gc
import pickle
import types

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer

from members import STREAMS, others_long
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
)
from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.adaline import least_mean_squares
from rosenblatt.learners.arow import Arow
from rosenblatt.training import stream as module
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import regression_task
from rosenblatt.training.stream import NO_CLASSES, Learned, RegressionStream, Settings, Stream
from strategies import integer_sets

UNWEIGHTED = np.empty(0)
# The voted perceptron keeps the rows of its updates, and takes arrays only when it learns one by one.
TAKES_ANY_ROW = [model for model in STREAMS if not isinstance(model, VotedPerceptron)]
streams = pytest.mark.parametrize("model", STREAMS, ids=str)


ROWS = {
    "array": lambda x: x,
    "list": lambda x: x.tolist(),
    "sparse": lambda x: sp.csr_array(x[None]),
    "coo": lambda x: sp.coo_array(x[None]),
}


def rows_of(classes, n=40, d=5, seed=0, integers=True):
    """Rows of the classes 0, 1, ..., of which the last appears in the second half only."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float) if integers else rng.standard_normal((n, d))
    y = np.r_[rng.integers(0, classes - 1, n // 2), rng.integers(0, classes, n - n // 2)]
    y[:2], y[-1] = [0, classes - 2], classes - 1
    return X, y


def learned_one_by_one(model, X, y, row=lambda x: x):
    fresh = clone(model)
    mistakes = [fresh.learn_one(row(x), label) for x, label in zip(X, np.asarray(y).tolist(), strict=True)]
    assert all(isinstance(mistake, bool) for mistake in mistakes)
    return fresh


def learned_in_chunks(model, X, y, *cuts):
    fresh = clone(model)
    for start, end in zip([0, *cuts], [*cuts, len(X)], strict=True):
        fresh.partial_fit(X[start:end], y[start:end])
    return fresh


def assert_same(one, other, exact=False):
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.t_ == other.t_
    assert one.coef_.dtype == other.coef_.dtype
    tolerance = 0.0 if exact else 1e-12
    scale = 1.0 + np.abs(other.coef_).max()
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=tolerance, atol=tolerance * scale)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=tolerance, atol=tolerance * scale)


# --------------------------------------------------------------------------------------- one row is a chunk of one row


@streams
@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
@pytest.mark.parametrize("classes", [2, 3])
def test_one_by_one_is_the_same_as_in_chunks_with_classes_that_appear(model, multiclass, classes):
    if multiclass not in model.modes:
        pytest.skip(f"{model} has no mode {multiclass}")
    model = clone(model).set_params(multiclass=multiclass)
    for integers in (True, False):
        X, y = rows_of(classes, integers=integers)
        single = learned_one_by_one(model, X, y)
        exact = integers and type(model) in (Perceptron, AveragedPerceptron, VotedPerceptron)
        chunks = learned_in_chunks(model, X, y, *range(1, len(X)))
        assert_same(single, chunks, exact)
        assert single.mistakes_ == chunks.mistakes_
        if multiclass != "joint":  # which gives a new class no weights: where a chunk ends matters
            assert_same(single, learned_in_chunks(model, X, y, 7, 8, 30), exact)
        assert single.predict(X).tolist() == chunks.predict(X).tolist()
        assert [single.predict_one(x) for x in X] == [single.predict(x[None])[0] for x in X]


@pytest.mark.long
@pytest.mark.parametrize("model", TAKES_ANY_ROW, ids=str)
def test_sparse_rows_and_dicts_teach_what_arrays_teach(model):
    X, y = rows_of(3, integers=type(model) is not PassiveAggressive)
    X[np.random.default_rng(1).random(X.shape) < 0.4] = 0.0
    X[0] = 1.0  # every feature is named in the first row, in order
    expected = learned_one_by_one(model, X, y)
    for row in (ROWS["sparse"], lambda x: {f"f{j}": x[j] for j in np.flatnonzero(x)}):
        assert_same(learned_one_by_one(model, X, y, row), expected)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
@pytest.mark.parametrize(
    ("multiclass", "dtype"),
    [
        ("ovr", np.float64),
        ("ovr", np.float32),
        ("joint", np.float64),
        pytest.param("joint", np.float32, marks=pytest.mark.long),  # compiles the loops of the others once more
    ],
)
def test_rows_of_every_kind_and_number_type_are_taken(row, dtype, multiclass):
    X, y = rows_of(3)
    model = Perceptron(multiclass=multiclass)
    expected = learned_in_chunks(model, X.astype(dtype), y, *range(1, len(X)))
    found = clone(model).partial_fit(X[:1].astype(dtype), y[:1])
    for x, label in zip(X[1:].astype(dtype), y[1:].tolist(), strict=True):
        found.learn_one(row(x), label)
    assert_same(found, expected, exact=True)
    assert [found.predict_one(row(x)) for x in X] == expected.predict(X).tolist()


@pytest.mark.long  # every loop is compiled once more
@pytest.mark.parametrize("model", STREAMS, ids=str)
def test_single_precision_rows_make_single_precision_streams(model):
    X, y = rows_of(2)
    X = X.astype(np.float32)
    chunks = learned_in_chunks(model, X, y, *range(1, len(X)))
    single = clone(model).partial_fit(X[:1], y[:1])
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        single.learn_one(x, label)
    assert chunks.coef_.dtype == single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, chunks.coef_, rtol=1e-5, atol=1e-5)


@given(integer_sets(classes=3, most_rows=20), st.integers(1, 19), st.sampled_from(["ovr", "ovo", "ovo-vote", "joint"]))
@settings(max_examples=60)
def test_chunks_and_single_rows_may_take_turns(data, cut, multiclass):
    X, label = data
    cut = min(cut, len(X) - 1)
    model = AveragedPerceptron(multiclass=multiclass)
    mixed = learned_one_by_one(model, X[:cut], label[:cut]).partial_fit(X[cut:], label[cut:])
    other = clone(model).partial_fit(X[:cut], label[:cut])
    for x, y in zip(X[cut:], label[cut:].tolist(), strict=True):
        other.learn_one(x, y)
    expected = learned_in_chunks(model, X, label, *range(1, len(X)))
    if multiclass != "joint":
        assert_same(mixed, expected, exact=True)
        assert_same(other, expected, exact=True)
    else:
        assert_same(mixed, learned_in_chunks(model, X, label, *range(1, cut + 1)), exact=True)
        assert_same(other, learned_in_chunks(model, X, label, *range(cut, len(X))), exact=True)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_a_class_that_appears_after_single_rows_has_the_weights_it_would_have_had(multiclass):
    X, y = rows_of(3, seed=3)
    announced = Perceptron(multiclass=multiclass).partial_fit(X, y, classes=[0, 1, 2])
    single = learned_one_by_one(Perceptron(multiclass=multiclass), X, y)
    assert_same(single, announced, exact=True)
    half = learned_one_by_one(Perceptron(multiclass=multiclass), X[:20], y[:20])
    assert_same(half.partial_fit(X[20:], y[20:]), announced, exact=True)


def test_every_order_in_which_classes_appear_gives_the_same_stream():
    X, y = rows_of(4, n=60, seed=5)
    for labels in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        names = np.array(labels)[y]
        for multiclass in ("ovr", "ovo"):
            model = Perceptron(multiclass=multiclass)
            announced = clone(model).partial_fit(X, names, classes=[0, 1, 2, 3])
            assert_same(learned_one_by_one(model, X, names), announced, exact=True)


LABELS = {
    "int": [0, 1, 2],
    "negative": [-5, 0, 7],
    "text": ["no", "perhaps", "yes"],
    "float": [0.0, 1.0, 2.0],
    "bool": [False, True],
    "numpy int": list(np.array([3, 4, 5], np.int16)),
    "numpy text": list(np.array(["a", "bb", "ccc"])),
    "numpy bool": list(np.array([False, True])),
    "pandas text": list(pd.Series(["k", "l", "m"], dtype="string")),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
@pytest.mark.parametrize("model", [Perceptron(), AROW(), VotedPerceptron()], ids=str)
def test_labels_of_every_kind_are_taken(labels, model):
    X, y = rows_of(len(labels))
    named = [labels[k] for k in y]
    single, chunks = clone(model), clone(model)
    for x, label in zip(X, named, strict=True):
        single.learn_one(x, label)
        chunks.partial_fit(x[None], [label])
    assert_same(single, chunks)
    assert single.classes_.tolist() == sorted(labels)
    predicted = single.predict_one(X[0])
    assert predicted == single.predict(X[:1])[0]
    assert type(predicted) in (int, float, bool, str)


@pytest.mark.parametrize("label", [np.nan, [1], {}, 0.5], ids=repr)
def test_what_is_no_label_is_refused(label):
    model = Perceptron().partial_fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(InvalidInput, match=r"label|class"):
        model.learn_one(np.ones(1), label)
    assert model.t_ == 2
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (np.ones(3), "2 features"),
        (np.ones((1, 2)), "shape"),
        (sp.csr_array(np.ones((2, 2))), "one row"),
        (np.array([np.nan, 1.0]), "NaN"),
        (np.array([np.inf, 1.0]), "infinity"),
        ([1.0, "a"], "numbers"),
        (np.array(["a", "b"]), "numbers"),
        ({"a": 1.0}, "arrays without names"),
    ],
    ids=repr,
)
def test_a_row_that_does_not_fit_is_refused_and_changes_nothing(row, message):
    model = Perceptron().partial_fit([[1.0, 0.0], [2.0, 1.0]], [0, 1])
    before = model.coef_.tolist(), model.t_, model.mistakes_
    with pytest.raises(InvalidInput, match=message):
        model.learn_one(row, 1)
    assert (model.coef_.tolist(), model.t_, model.mistakes_) == before


def test_a_class_that_appears_late_is_learned():
    rng = np.random.default_rng(0)
    centres = np.array([[4.0, 0.0], [-4.0, 0.0], [0.0, 4.0]])
    y = np.r_[rng.integers(0, 2, 200), rng.integers(0, 3, 300)]
    X = centres[y] + rng.standard_normal((500, 2)) * 0.5
    for multiclass in ("ovr", "ovo", "joint"):
        model = Perceptron(multiclass=multiclass)
        for i in range(0, 500, 10):
            model.partial_fit(X[i : i + 10], y[i : i + 10])
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.score(X, y) > 0.9


def test_one_class_alone_predicts_itself():
    model = Perceptron().partial_fit([[1.0, 2.0]], ["only"])
    assert model.predict([[0.0, 0.0], [-5.0, 1.0]]).tolist() == ["only", "only"]
    model.partial_fit([[-1.0, -2.0]], ["other"])
    assert model.predict([[1.0, 2.0], [-1.0, -2.0]]).tolist() == ["only", "other"]


# ------------------------------------------------------------------------------------------------------ rows with names


@pytest.mark.parametrize("model", others_long(TAKES_ANY_ROW), ids=str)
def test_dicts_are_the_matrix_that_a_vectorizer_makes_of_them(model):
    rng = np.random.default_rng(0)
    rows = [{f"w{k}": rng.uniform(0.5, 4.0) for k in rng.choice(4 + i // 3, size=3, replace=False)} for i in range(40)]
    labels = rng.integers(0, 3, 40)
    stream = clone(model)
    for row, label in zip(rows, labels.tolist(), strict=True):
        stream.learn_one(row, label)
    vectorizer = DictVectorizer(sparse=False).fit(rows)
    chunks = learned_in_chunks(model, vectorizer.transform(rows), labels, *range(1, 40))
    assert sorted(stream.feature_names_in_) == vectorizer.get_feature_names_out().tolist()
    place = [stream.feature_names_in_.tolist().index(name) for name in vectorizer.get_feature_names_out()]
    scale = 1.0 + np.abs(chunks.coef_).max()
    np.testing.assert_allclose(stream.coef_[:, place], chunks.coef_, atol=1e-12 * scale)
    np.testing.assert_allclose(stream.intercept_, chunks.intercept_, atol=1e-12 * scale)
    assert [stream.predict_one(row) for row in rows] == chunks.predict(vectorizer.transform(rows)).tolist()


def test_names_that_a_stream_does_not_know_count_as_zero_in_a_prediction_and_stay_unknown():
    model = Perceptron()
    for row, label in (({"good": 1}, "ham"), ({"bad": 2}, "spam"), ({"bad": 1, "good": 1}, "ham")):
        model.learn_one(row, label)
    assert model.predict_one({"bad": 5, "never seen": 1e9}) == model.predict_one({"bad": 5})
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["good", "bad"]
    assert model.coef_.shape == (1, 2)


def test_dicts_name_the_columns_of_a_data_frame():
    X = pd.DataFrame({"length": [0.0, 1.0, 2.0, -1.0], "width": [1.0, 0.0, 1.0, 0.0]})
    y = [0, 1, 1, 0]
    by_dict, by_array = (Perceptron().partial_fit(X, y) for _ in range(2))
    by_dict.learn_one({"width": 3.0}, 0)
    by_array.learn_one(np.array([0.0, 3.0]), 0)
    assert_same(by_dict, by_array, exact=True)
    assert by_dict.predict_one({"length": 9.0}) == by_array.predict_one(np.array([9.0, 0.0]))
    with pytest.raises(InvalidInput, match="'height'"):
        by_dict.learn_one({"height": 1.0}, 1)


def test_a_stream_of_dicts_takes_no_arrays():
    model = Perceptron()
    model.learn_one({"a": 1.0}, 0)
    with pytest.raises(InvalidInput, match="rows of this stream are dicts"):
        model.learn_one(np.ones(1), 1)


# --------------------------------------------------------------------------------- what was handed out stays as it was


@streams
def test_weights_that_were_read_do_not_change_when_the_stream_goes_on(model):
    X, y = rows_of(3)
    model = clone(model).partial_fit(X[:10], y[:10])
    for go_on in (
        lambda: model.learn_one(X[11], int(y[11])),
        lambda: model.partial_fit(X[20:30], y[20:30]),
        lambda: model.partial_fit(X[30:], y[30:]),  # with a new class
    ):
        held, biases = model.coef_, model.intercept_
        before, before_biases = held.copy(), biases.copy()
        handed = model._stream.model()
        go_on()
        assert held.tolist() == before.tolist()
        assert biases.tolist() == before_biases.tolist()
        assert handed.W is held
    assert not np.array_equal(model.coef_[: len(before)], before)


@streams
def test_weights_cannot_be_written_to(model):
    model = clone(model).partial_fit(*rows_of(2))
    for array in (model.coef_, model.intercept_):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("model", [Perceptron(), PassiveAggressive(), AROW(), SoftMargin()], ids=str)
def test_weights_can_be_assigned(model):
    X, y = rows_of(2)
    model = clone(model).partial_fit(X, y)
    W = np.arange(5.0)[None]
    model.coef_ = W
    assert model.coef_.tolist() == W.tolist()
    model.intercept_ = [2.5]
    assert (model.coef_.tolist(), model.intercept_.tolist()) == (W.tolist(), [2.5])
    W[:] = 99.0  # the model has its own
    assert model.coef_.tolist() == [[0, 1, 2, 3, 4]]


def test_an_assignment_starts_anew_from_the_weights():
    X, y = rows_of(2)
    W, b = np.arange(5.0)[None], np.array([1.0])
    changed = Perceptron().partial_fit(X, y)
    changed.coef_, changed.intercept_ = W, b
    started = Perceptron(init=(W[0], b[0])).partial_fit(X[:20], y[:20], classes=[0, 1])
    changed.partial_fit(X[:20], y[:20])
    assert changed.coef_.tolist() == started.coef_.tolist()
    assert changed.intercept_.tolist() == started.intercept_.tolist()


@pytest.mark.parametrize("W", [np.ones((2, 5)), [["a"] * 5], [[np.nan] * 5], np.ones(5)], ids=repr)
def test_weights_that_do_not_fit_are_refused(W):
    X, y = rows_of(2)
    model = Perceptron().partial_fit(X, y)
    before = model.coef_
    with pytest.raises(InvalidInput, match="coef_"):
        model.coef_ = W
    assert model.coef_ is before


@streams
def test_single_rows_leave_the_record_of_a_chunk_alone_and_have_one_of_their_own(model):
    X, y = rows_of(2)
    model = clone(model).partial_fit(X[:20], y[:20])
    record, before = model.run_, pickle.dumps(model.run_)
    count = model.t_
    for number, (x, label) in enumerate(zip(X[20:-1], y[20:-1].tolist(), strict=True), 1):
        if not isinstance(model, VotedPerceptron):
            model.learn_one(x, label)
            assert model.run_.trials == number, "of all single rows, however often it was looked at"
            assert model.run_ is not record
    assert pickle.dumps(record) == before
    assert model.t_ == (count if isinstance(model, VotedPerceptron) else count + 19)


def test_a_fit_goes_on_as_a_stream_and_its_record_is_not_changed():
    X, y = rows_of(2)
    model = Perceptron(max_iter=3, tol=None).fit(X, y)
    weights, record = model.coef_.copy(), model.run_
    kept = pickle.dumps(record)
    for x, label in zip(X, y.tolist(), strict=True):
        model.learn_one(x, label)
    assert pickle.dumps(record) == kept
    assert model.run_.trials == len(X), "the rows after the fit have a record of their own"
    chunks = Perceptron(max_iter=3, tol=None).fit(X, y).partial_fit(X, y)
    assert model.coef_.tolist() == chunks.coef_.tolist() != weights.tolist()


# ------------------------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (Perceptron(), {"eta0": 0.25}),
        (Perceptron(), {"margin": 3.0}),
        (Perceptron(), {"fit_intercept": False}),
        (Perceptron(), {"class_weight": {1: 5.0}}),
        (Perceptron(), {"penalty": "l2", "alpha": 0.1}),
        (AveragedPerceptron(), {"eta0": 2.0}),
        (PassiveAggressive(), {"C": 0.01}),
        (PassiveAggressive(), {"average": True}),
        (AROW(), {"r": 50.0}),
        (AROW(), {"covariance": "full"}),
        (Winnow(), {"factor": 1.1}),
        (PassiveAggressive(), {"loss": "squared_hinge"}),
        (SoftMargin(), {"loss": "logistic"}),
    ],
    ids=str,
)
def test_parameters_that_are_set_between_two_rows_take_effect(model, changes):
    X, y = rows_of(2, n=60, integers=False)
    changed, chunks, plain = (learned_one_by_one(model, X[:30], y[:30]) for _ in range(3))
    changed.set_params(**changes)
    chunks.set_params(**changes)
    for x, label in zip(X[30:], y[30:].tolist(), strict=True):
        changed.learn_one(x, label)
        chunks.partial_fit(x[None], [label])
        plain.learn_one(x, label)
    assert_same(changed, chunks)
    assert not np.allclose(changed.coef_, plain.coef_)


def test_an_impossible_parameter_is_refused_at_the_next_row():
    model = Perceptron().partial_fit([[1.0], [2.0]], [0, 1]).set_params(eta0=-1)
    with pytest.raises(InvalidInput, match="eta0=-1"):
        model.learn_one(np.ones(1), 1)


def test_the_rate_may_change_without_changing_what_was_learned():
    X, y = rows_of(2)
    model = Perceptron(eta0=1.0).partial_fit(X, y)
    before = model.coef_.copy()
    model.set_params(eta0=0.5).partial_fit(X[:1] * 0.0, [int(model.predict(X[:1] * 0.0)[0])])
    assert model.coef_.tolist() == before.tolist()


@pytest.mark.parametrize("learn", ["learn_one", "partial_fit"])
def test_single_precision_rows_do_not_change_a_double_precision_stream(learn):
    X, y = rows_of(2, integers=False)
    model, expected = (Perceptron().partial_fit(X[:20], y[:20]) for _ in range(2))
    rows = X[20:].astype(np.float32)
    expected.partial_fit(rows.astype(float), y[20:])
    if learn == "partial_fit":
        model.partial_fit(rows, y[20:])
    else:
        for x, label in zip(rows, y[20:].tolist(), strict=True):
            model.learn_one(x, label)
    assert model.coef_.dtype == np.float64
    assert_same(model, expected, exact=True)


LARGE = np.array([[1e14, 0.0], [1e14, 0.0]], np.float32)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", [Perceptron(), AveragedPerceptron(), Perceptron(alpha=0.01, penalty="l1")], ids=str)
def test_a_chunk_that_overflows_leaves_the_stream_as_it_was(model, storage):
    rows, y = np.array([[1.0, 2.0], [-1.0, 1.0], [0.5, -2.0]], np.float32), np.array([0, 1, 1])
    stream = clone(model).partial_fit(rows, y)
    expected = clone(model).partial_fit(rows, y)
    before = copy.deepcopy(stream._stream.learned)
    with (
        np.errstate(over="ignore", invalid="ignore"),  # compiled code does not warn; the same code as plain Python does
        pytest.raises(InvalidInput, match=r"overflowed float32.*Nothing was learned"),
    ):
        stream.partial_fit(storage(LARGE), [0, 1], sample_weight=[1e27, 2e27])
    after = stream._stream.learned
    for name, old, new in zip(before.state._fields, before.state, after.state, strict=True):
        np.testing.assert_array_equal(new, old, err_msg=name)
    assert (after.classes.tolist(), after[2:]) == (before.classes.tolist(), before[2:])
    assert_same(stream.partial_fit(rows, y), expected.partial_fit(rows, y), exact=True)


# ------------------------------------------------------------------------------------------------------------- merging


def streams_of(algorithm, X, y, parts, **options):
    found = []
    for part in np.array_split(np.arange(len(X)), parts):
        found.append(Stream(Settings(algorithm, **options)))
        found[-1].learn(as_table(X[part]), y[part], UNWEIGHTED)
    return found


def first_order(averaged=False):
    return FirstOrder(perceptron(), averaged=averaged)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
@pytest.mark.parametrize("shares", [None, [1.0, 2.0, 5.0]], ids=str)
def test_the_merged_weights_are_the_mean_of_the_weights(multiclass, shares):
    X, y = rows_of(3, n=60)
    parts = streams_of(first_order(), X, y, 3, multiclass=multiclass)
    for stream in parts:
        stream.meet(np.array([0, 1, 2]))
    W = np.array([stream.model().W for stream in parts])
    b = np.array([stream.model().b for stream in parts])
    merged = parts[0].merge(parts[1:], shares)
    np.testing.assert_allclose(merged.model().W, np.average(W, axis=0, weights=shares), rtol=1e-14)
    np.testing.assert_allclose(merged.model().b, np.average(b, axis=0, weights=shares), rtol=1e-14)
    assert merged.trials == 60
    assert merged.mistakes == sum(stream.mistakes for stream in parts)


@given(integer_sets(classes=3, most_rows=24), st.sampled_from(["ovr", "ovo", "joint"]), st.integers(2, 4))
@settings(max_examples=40)
def test_the_merged_average_is_that_over_the_trials_of_all(data, multiclass, count):
    X, label = data
    if len(X) < count:
        return
    parts = streams_of(first_order(averaged=True), X, label, count, multiclass=multiclass)
    every = np.unique(label)
    for stream in parts:
        stream.meet(every)
    total = [stream.state.t[:, None] * stream.settings.algorithm.hyperplanes(stream.state).W for stream in parts]
    total_b = [stream.state.t * stream.settings.algorithm.hyperplanes(stream.state).b for stream in parts]
    merged = parts[0].merge(parts[1:])
    planes, t = merged.settings.algorithm.hyperplanes(merged.state), np.maximum(merged.state.t, 1)
    assert merged.state.t.tolist() == sum(stream.state.t for stream in parts).tolist()
    np.testing.assert_allclose(planes.W, sum(total) / t[:, None], atol=1e-12)
    np.testing.assert_allclose(planes.b, sum(total_b) / t, atol=1e-12)
    merged.learn(as_table(X), label, UNWEIGHTED)  # and it goes on


def test_a_stream_merged_with_copies_of_itself_learns_on_as_it_would():
    X, y = rows_of(3)
    one = streams_of(first_order(), X, y, 1)[0]
    merged = one.merge([copy.deepcopy(one), copy.deepcopy(one)])
    for stream in (one, merged):
        stream.learn(as_table(X), y, UNWEIGHTED)
    assert merged.model().W.tolist() == one.model().W.tolist()


def test_classes_that_only_some_know_are_added_before_merging():
    X, y = rows_of(3, n=40)
    parts = streams_of(first_order(), X, y, 2)
    assert [stream.classes.size for stream in parts] == [2, 3]
    merged = parts[0].merge(parts[1:])
    assert merged.classes.tolist() == [0, 1, 2]
    assert merged.model().W.shape == (3, 5)


def test_streams_that_differ_are_not_merged():
    X, y = rows_of(2)
    one, other = streams_of(first_order(), X, y, 2)
    for wrong in (Stream(one.settings), streams_of(first_order(averaged=True), X, y, 1)[0]):
        with pytest.raises(InvalidInput, match="same settings"):
            one.merge([wrong])
    for shares in ([1.0], [1.0, -1.0], [0.0, 0.0], [1.0, np.nan]):
        with pytest.raises(InvalidInput, match="shares"):
            one.merge([other], shares)
    gaussian = [AROW().partial_fit(X, y)._stream for _ in range(2)]
    with pytest.raises(InvalidInput, match="No meaningful mean of states of Arow"):
        gaussian[0].merge(gaussian[1:])


# --------------------------------------------------------------------------------------------------- copies and memory


@streams
def test_a_pickled_stream_goes_on_as_if_nothing_had_happened(model):
    X, y = rows_of(3)
    stream = learned_one_by_one(model, X[:30], y[:30])
    _ = stream.coef_, stream.predict(X)
    for copied in (pickle.loads(pickle.dumps(stream)), copy.deepcopy(stream)):
        for x, label in zip(X[30:], y[30:].tolist(), strict=True):
            copied.learn_one(x, label)
        assert_same(copied, learned_in_chunks(model, X, y, *range(1, len(X))))
        assert copied.t_ == len(X) == stream.t_ + 10  # the first is as it was


def buffers(*roots):
    """The memory blocks of all arrays that can be reached from objects, by their addresses."""
    found, seen, waiting = {}, set(), list(roots)
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, (type, types.ModuleType, types.FunctionType)):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            while isinstance(value.base, np.ndarray):
                value = value.base
            found[id(value)] = value.nbytes
        else:
            waiting.extend(gc.get_referents(value))
            waiting.extend(getattr(value, "__dict__", {}).values())
    return found


@pytest.mark.parametrize("model", [Perceptron(), AveragedPerceptron()], ids=str)
def test_a_model_of_a_million_features_holds_its_weights_once(model):
    features = 1 << 20
    rows = sp.csr_array(([1.0, 2.0, -1.0, 1.0], [5, features - 1, 5, 77], [0, 2, 3, 4]), shape=(3, features))
    y = np.array([0, 1, 1])

    def ratio():
        needed = buffers(model.coef_, model.intercept_, model._stream.state)
        return sum(buffers(vars(model)).values()) / sum(needed.values())

    for use in (
        lambda: model.fit(rows, y),
        lambda: model.predict(rows),
        lambda: model.coef_,
        lambda: model.partial_fit(rows, y),
        lambda: model.predict(rows),
    ):
        use()
        assert ratio() <= 1.3
    weights = model.coef_.nbytes
    state = sum(array.nbytes for array in model._stream.state)
    assert sum(buffers(vars(model)).values()) <= 1.3 * (weights + state)


def test_the_walker_finds_a_second_copy():
    model = Perceptron().partial_fit(np.ones((2, 1000)), [0, 1])
    weights = model.coef_.copy()
    before = sum(buffers(vars(model)).values())
    model.__dict__["hidden"] = ({"deep": [weights[:, ::2]]},)
    assert sum(buffers(vars(model)).values()) == before + 8000


def single_rows(*rows):
    model = Perceptron()
    for k, row in enumerate(rows):
        model.learn_one(row, k % 2)
    return model._stream


def test_streams_of_the_same_names_are_merged_and_of_other_widths_not():
    one, other = single_rows({"a": 1.0, "b": 1.0}, {"a": 1.0}), single_rows({"a": 1.0}, {"b": 1.0})
    assert one.merge([other]).model().W.shape == (1, 2)
    with pytest.raises(InvalidInput, match="features"):
        single_rows(np.ones(2), np.ones(2)).merge([single_rows(np.ones(1), np.ones(1))])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0, 1], ["0", "a"]),
        (["a", "b"], [0, 1]),
        ([True, False], ["True", "x"]),
        ([0.0, 1.0], np.array(["a", "b"], object)),
    ],
    ids=str,
)
def test_texts_among_numbers_are_refused_and_leave_the_stream_as_it_was(first, second):
    model = Perceptron().partial_fit(np.eye(2), first)
    before, classes = model.coef_, model.classes_
    for learn in (lambda: model.partial_fit(np.eye(2), second), lambda: model.learn_one(np.ones(2), second[0])):
        with pytest.raises(InvalidInput, match=r"which are (texts|numbers), where the classes of this stream"):
            learn()
    with pytest.raises(InvalidInput, match="Convert y to the same kind"):
        model.partial_fit(np.eye(2), first, classes=second)
    assert model.classes_ is classes
    np.testing.assert_array_equal(model.coef_, before)


def test_numbers_of_different_types_are_the_same_classes():
    model = Perceptron().partial_fit(np.eye(2), [0, 1])
    for label in (1.0, True, np.int8(1), np.float32(1)):
        model.learn_one(np.ones(2), label)
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    "labels", [["no", "yes"], pd.Series(["no", "yes"]), pd.Series(["no", "yes"], dtype="category")]
)
def test_labels_of_pandas_are_answered_as_plain_texts(labels):
    model = Perceptron().partial_fit(np.eye(2), labels)
    model.learn_one(np.eye(2)[0], labels[0])
    assert type(model.predict_one(np.eye(2)[0])) is str
    one_class = Perceptron()
    one_class.learn_one(np.ones(2), labels[1])
    assert one_class.predict_one(np.zeros(2)) == "yes"


def test_a_chunk_in_single_precision_does_not_make_the_stream_so():
    model = Perceptron().partial_fit(np.eye(2), [0, 1]).partial_fit(np.eye(2, dtype=np.float32), [0, 1])
    assert model.coef_.dtype == np.float64


def test_parameters_that_are_set_hold_from_the_next_row_on():
    model = PassiveAggressive(C=1.0)
    for x, y in zip(np.eye(2), (0, 1), strict=True):
        model.learn_one(x, y)
    before = model.coef_
    model.set_params(C=1e-9).learn_one(np.eye(2)[0], 1)
    np.testing.assert_allclose(model.coef_, before, atol=1e-8)


def test_the_updates_of_rows_that_were_refused_are_not_kept():
    model = VotedPerceptron(class_weight={0: 1e300, 1: 1e300}).partial_fit(np.eye(2), [0, 1])
    kept = [updates.factor.size for updates in model._stream.updates]
    with pytest.raises(InvalidInput, match="overflowed"):
        model.partial_fit([[-1e130, 1e130], [1e130, 1e130]] * 3, [1, 0] * 3)
    assert model._stream.settings.algorithm.log.columns == []
    assert [updates.factor.size for updates in model._stream.updates] == kept


@pytest.mark.parametrize("before", ["ovr", "ovo", "joint"])
@pytest.mark.parametrize("after", ["ovr", "ovo", "joint"])
def test_another_mode_of_two_classes_brings_its_own_reserve_class(before, after):
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    stream = Stream(Settings(FirstOrder(perceptron()), before))
    stream.learn(as_table(X), y, np.empty(0))
    weights = stream.model().W.copy()
    stream.reconfigure(Settings(FirstOrder(perceptron()), after))
    np.testing.assert_array_equal(stream.model().W, weights)
    stream.learn_one(X[0], 1)
    stream.learn(as_table(X), y, np.empty(0))
    assert stream.state.b.size == 1 + {"ovr": 1, "ovo": 2, "joint": 0}[after]
    stream.learn(as_table(X), np.array([0, 1, 2, 2]), np.empty(0))
    assert stream.model().W.shape == (3, 4)


@pytest.mark.parametrize("model", [Perceptron(), AROW(), VotedPerceptron(), KernelPerceptron()], ids=str)
@pytest.mark.parametrize("width", [1, 9])
def test_a_width_that_is_assigned_leads_no_loop_outside_of_the_weights(model, width):
    X, y = rows_of(2)
    model = clone(model).fit(X, y)
    model.n_features_in_ = width
    for rows in (np.ones((2, width)), sp.csr_array(np.ones((2, width)))):
        if width > X.shape[1] or isinstance(rows, np.ndarray):
            with pytest.raises(InvalidInput, match=r"features?, (the model|the vectors of the model) "):
                model.partial_fit(rows, y[:2])
            with pytest.raises(InvalidInput, match=r"features?, (the model|the vectors of the model) "):
                model.predict(rows)


def test_a_regression_has_no_classes_and_one_problem():
    X = np.random.default_rng(0).standard_normal((30, 2))
    stream = RegressionStream(Settings(FirstOrder(least_mean_squares()), eta=0.1))
    stream.learn(as_table(X), X[:, 0] - X[:, 1], UNWEIGHTED)
    assert (stream.classes.size, stream.known, stream.model().W.shape) == (0, 1, (1, 2))
    stream.check()


def test_one_step_of_least_mean_squares():
    stream = RegressionStream(Settings(FirstOrder(least_mean_squares()), eta=0.5))
    stream.learn(as_table([[2.0, 0.0]]), [3.0], UNWEIGHTED)
    model = stream.model()
    assert (model.W.tolist(), model.b.tolist()) == ([[3.0, 0.0]], [1.5])  # eta (y - 0) x, and eta (y - 0)


def test_a_regression_from_a_file_that_has_classes_is_refused():
    algorithm = FirstOrder(least_mean_squares())
    learned = Learned(np.array([0, 1]), algorithm.start(1, 2, np.float64), 0, 0, ())
    with pytest.raises(InvalidInput, match="a regression has classes"):
        RegressionStream(Settings(algorithm), learned).check()
    RegressionStream(Settings(algorithm), learned._replace(classes=NO_CLASSES)).check()


def test_the_task_of_numbers():
    task = regression_task(np.array([1.0, 2.0]), UNWEIGHTED, 1.0)
    assert (task.target.tolist(), task.sign.tolist(), task.label.tolist()) == ([1, 2], [[1]], [0, 0])


@pytest.mark.parametrize("algorithm", [FirstOrder(perceptron(), averaged=True), Arow(1.0)], ids=str)
def test_pieces_of_any_size_change_no_bit(algorithm, monkeypatch):
    rng = np.random.default_rng(0)
    table, y = as_table(rng.normal(size=(40, 3))), rng.integers(0, 3, 40)

    def learned(entries):
        monkeypatch.setattr(module, "PIECE_ENTRIES", entries)
        stream = Stream(Settings(algorithm))
        counts = stream.learn(table, y, UNWEIGHTED)
        return [array.tobytes() for array in stream.state], counts.mistakes.tolist()

    at_once = learned(1 << 27)
    assert sum(at_once[1]) > 0
    for entries in (1, 30, 100):
        assert learned(entries) == at_once
