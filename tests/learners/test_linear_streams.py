"""Attributes that are those of a stream: one owner, snapshots, and the record of a chunk."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rosenblatt import AdalineRegressor, AveragedPerceptron, Perceptron, Winnow, load, save
from rosenblatt.errors import InvalidInput
from rosenblatt.training.stopping import Stop

X, Y = np.eye(4), np.array([0, 1, 0, 1])
ROWS, LABELS = np.random.default_rng(0).standard_normal((30, 3)), np.arange(30) % 2


@pytest.mark.parametrize("name", ["coef_", "intercept_", "classes_", "t_", "mistakes_"])
def test_before_a_fit_nothing_is_there_and_the_error_says_what_to_do(name):
    with pytest.raises(AttributeError, match=f"has no {name} yet. Call fit or partial_fit first"):
        getattr(Perceptron(), name)
    with pytest.raises(NotFittedError):
        Perceptron().predict(X)


def test_a_fit_that_fails_leaves_what_was_learned():
    model = Perceptron().fit(X, Y)
    before = model.coef_
    with pytest.raises(InvalidInput):
        model.fit(X, [1, 1, 1, 1])
    assert model.coef_ is before


@pytest.mark.parametrize("model", [Perceptron(), AveragedPerceptron(), AdalineRegressor()], ids=str)
def test_the_record_of_a_chunk_speaks_of_the_chunk(model):
    model.partial_fit(X, Y).partial_fit(X[:3], Y[:3])
    run = model.run_
    assert (run.stop, run.epochs, run.trials, len(run.mistakes)) == (Stop.CHUNK, 1, 3, 1)
    assert model.t_ == 7
    assert "the chunk of the stream was over (rows: 3, m" in model.stop_reason_
    for word in ("epoch", "separable"):
        assert word not in model.stop_reason_


def test_assigned_weights_are_where_learning_goes_on():
    model = Perceptron(shuffle=False).fit(X, Y)
    model.coef_ = np.full((1, 4), 8.0)
    assert model.coef_.tolist() == [[8.0] * 4]
    model.partial_fit(X[:1], [0])  # a mistake: the row is scored above zero
    assert model.coef_.tolist() == [[7.0, 8.0, 8.0, 8.0]]
    model.intercept_ = [3.0]
    assert model.intercept_.tolist() == [3.0]
    for wrong in ([[1.0, 2.0]], "no", [[np.nan] * 4]):
        with pytest.raises(InvalidInput):
            model.coef_ = wrong
    assert model.coef_.tolist() == [[7.0, 8.0, 8.0, 8.0]]


def test_a_regression_shows_a_vector_and_a_number():
    model = AdalineRegressor().fit(X, Y)
    assert model.coef_.shape == (4,)
    assert isinstance(model.intercept_, float)
    model.coef_ = np.zeros(4)
    model.intercept_ = 2.5
    assert model.predict(X).tolist() == [2.5] * 4


@pytest.mark.parametrize("changes", [{"fit_intercept": False}, {"margin": 1.0}, {"class_weight": {1: 2.0}}], ids=str)
def test_held_weights_stay_whatever_is_set(changes):
    model = Perceptron().partial_fit(ROWS[:10], LABELS[:10])
    held = model.coef_
    before = held.copy()
    model.set_params(**changes).partial_fit(ROWS, LABELS)
    assert held.tolist() == before.tolist()
    assert model.coef_.tolist() != before.tolist()


def test_assigned_weights_of_an_average_predict():
    model = AveragedPerceptron().partial_fit(ROWS, LABELS)
    model.coef_ = [[1.0, 2.0, 3.0]]
    assert model.coef_.tolist() == [[1.0, 2.0, 3.0]]


def test_a_chunk_that_overflows_brings_no_class():
    model = Perceptron().partial_fit(np.array([[1, 2], [-1, 1]], np.float32), [0, 1])
    before = model.coef_.tolist()
    large = np.array([[1e14, 0], [1e14, 0]], np.float32)
    with pytest.raises(InvalidInput, match="Nothing was learned"):
        model.partial_fit(large, [0, 2], sample_weight=[1e30, 2e30])
    assert model.classes_.tolist() == [0, 1]
    assert model.coef_.tolist() == before


def test_one_large_row_of_single_precision_is_learned_as_a_chunk_is():
    small, large = np.array([[1, 2], [-1, 1]], np.float32), np.array([1e14, 0], np.float32)
    chunks, single = (Perceptron().partial_fit(small, [0, 1]) for _ in range(2))
    chunks.partial_fit(large[None], [1])
    single.learn_one(large, 1)
    assert single.coef_.tolist() == chunks.coef_.tolist()


@pytest.mark.parametrize("value", ["x", float("nan"), None])
def test_a_dict_that_is_refused_names_no_feature(value):
    model = Perceptron()
    for label in (0, 1):
        model.learn_one({"a": 1.0}, label)
    with pytest.raises(InvalidInput):
        model.learn_one({"b": value}, 1)
    assert model.coef_.shape == (1, 1)
    assert model.feature_names_in_.tolist() == ["a"]


def test_a_first_row_without_features_gets_a_sentence():
    with pytest.raises(InvalidInput, match="x has no features"):
        Perceptron().learn_one({}, 0)


def test_the_mode_of_several_classes_cannot_change_mid_stream():
    model = Perceptron().partial_fit(ROWS, np.arange(30) % 3)
    with pytest.raises(InvalidInput, match="multiclass='ovo' is not how this stream began"):
        model.set_params(multiclass="ovo").partial_fit(ROWS[:1], [0])


def test_littlestones_winnow_starts_with_one_row_and_takes_no_negative_one():
    single, chunk = Winnow(balanced=False), Winnow(balanced=False)
    single.learn_one(np.array([1.0, 0.0]), 0)
    assert single.coef_.tolist() == chunk.partial_fit([[1.0, 0.0]], [0]).coef_.tolist()
    chunk.partial_fit([[0.0, 1.0]], [0])
    for row in (np.array([-1.0, 0.0]), [-1.0, 0.0], sp.csr_array([[-1.0, 0.0]])):
        with pytest.raises(InvalidInput, match="Negative"):
            chunk.learn_one(row, 0)


def test_a_row_too_large_for_the_stream_is_refused_without_a_warning():
    model = Perceptron().partial_fit(np.array([[1, 2], [-1, 1]], np.float32), [0, 1])
    with pytest.raises(InvalidInput, match="float32 cannot hold"):
        model.learn_one(np.array([1e100, 0.0]), 1)


@pytest.mark.parametrize("order", ["reversed", "every other", "unaligned", "big endian", "integers"])
def test_rows_in_any_memory_are_read_right(order):
    room = np.zeros(8 * 6 + 1, np.uint8)
    for row, label in zip(ROWS, LABELS, strict=True):
        given = {
            "reversed": row[::-1].copy()[::-1],
            "every other": np.repeat(row, 2)[::2],
            "unaligned": room[1:25].view(np.float64),
            "big endian": row.astype(">f8"),
            "integers": (10 * row).astype(int),
        }[order]
        if order == "unaligned":
            given[:] = row
        expected = Perceptron().partial_fit(ROWS, LABELS).partial_fit(np.array([given], float), [label])
        model = Perceptron().partial_fit(ROWS, LABELS)
        model.learn_one(given, label)
        assert model.coef_.tolist() == expected.coef_.tolist()


def test_single_sparse_rows_may_have_indices_of_any_width():
    models = Perceptron().partial_fit(ROWS, LABELS), Perceptron().partial_fit(ROWS, LABELS)
    for k, (row, label) in enumerate(zip(ROWS, LABELS, strict=True)):
        sparse = sp.csr_array(row[None])
        sparse.indices, sparse.indptr = (
            part.astype((np.int32, np.int64)[k % 2]) for part in (sparse.indices, sparse.indptr)
        )
        models[0].learn_one(sparse, label)
        models[1].learn_one(row, label)
    assert np.allclose(models[0].coef_, models[1].coef_, rtol=1e-12)
    assert models[0].mistakes_ == models[1].mistakes_


def test_single_sparse_rows_need_no_room_for_dense_ones():
    features, model = 1 << 16, Perceptron()
    for k in range(3):
        model.learn_one(sp.csr_array(([1.0], [k], [0, 1]), shape=(1, features)), k % 2)
    assert sum(part.nbytes for part in model._stream._learner.trial.task if isinstance(part, np.ndarray)) < features


def test_the_record_of_single_rows_speaks_of_them_and_is_saved():
    model = Perceptron().partial_fit(ROWS, LABELS)
    before = model.mistakes_
    for x, y in zip(ROWS[:5], LABELS[:5], strict=True):
        model.learn_one(x, y)
    made = model.mistakes_ - before
    file = io.BytesIO()
    save(model, file)
    for one in (model, load(file.getvalue()), pickle.loads(pickle.dumps(model))):
        assert one.stop_reason_ == f"rows came one by one (rows: 5, mistakes: {made}): the stream can continue."
        assert (one.run_.stop, one.run_.trials, one.run_.mistakes, one.n_iter_) == (Stop.CHUNK, 5, (made,), 1)
        assert one.run_.single_pass == (35, model.mistakes_)


@pytest.mark.parametrize("begin", ["nothing", "fit", "chunk"])
@pytest.mark.parametrize("model", [Perceptron(), AveragedPerceptron(multiclass="joint"), AdalineRegressor()], ids=str)
def test_a_record_does_not_depend_on_who_looked_at_it_before(model, begin):
    """Reading, saving and loading in between change nothing of what a stream says of itself."""

    def record(look):
        one = clone(model)
        if begin == "fit":
            one.fit(ROWS, LABELS)
        if begin == "chunk":
            one.partial_fit(ROWS, LABELS)
        for x, y in zip(ROWS[:10], LABELS[:10], strict=True):
            one.learn_one(x, y)
            one = look(one)
        return one.run_, one.stop_reason_, one.n_iter_, one.t_

    def read(one):
        return (one.run_, one.stop_reason_, one.n_iter_, one)[-1]

    def through_a_file(one):
        save(one, file := io.BytesIO())
        return load(file.getvalue())

    left_alone = record(lambda one: one)
    assert left_alone[1].startswith("rows came one by one (rows: 10")
    assert left_alone[2] == 1
    for look in (read, through_a_file, lambda one: pickle.loads(pickle.dumps(one))):
        assert record(look) == left_alone


def test_a_row_after_a_fit_ends_what_the_fit_said():
    fitted = Perceptron().fit([[0.0], [1.0]], [0, 1])
    assert fitted.stop_reason_.startswith("every row is on its side")
    fitted.learn_one(np.array([0.0]), 1)
    assert fitted.stop_reason_ == "rows came one by one (rows: 1, mistakes: 1): the stream can continue."
    assert fitted.run_.single_pass is None


@pytest.mark.parametrize("model", [Perceptron(early_stopping=True), Winnow(early_stopping=True)], ids=str)
def test_a_stream_cannot_hold_rows_out(model):
    for learn in (lambda: model.partial_fit(abs(ROWS), LABELS), lambda: model.learn_one(abs(ROWS[0]), 0)):
        with pytest.raises(InvalidInput, match="early_stopping=True holds out rows, which a stream cannot"):
            learn()


@pytest.mark.parametrize("model", [Perceptron(), AveragedPerceptron(multiclass="ovo"), AdalineRegressor()], ids=str)
def test_sparse_weights_are_the_same_weights_and_learning_goes_on(model):
    with pytest.raises(AttributeError, match="has no coef_ yet"):
        model.sparsify()
    model.fit(ROWS, np.arange(30) % 3)
    dense, predicted = np.atleast_2d(model.coef_), model.predict(ROWS)
    assert model.sparsify() is model
    assert sp.issparse(model.coef_)
    np.testing.assert_array_equal(model.coef_.toarray(), dense)
    np.testing.assert_array_equal(model.predict(ROWS), predicted)
    file = io.BytesIO()
    save(model, file)
    np.testing.assert_array_equal(np.atleast_2d(load(file.getvalue()).coef_), dense)
    model.coef_ = model.coef_ * 2
    np.testing.assert_array_equal(model.coef_.toarray(), 2 * dense)
    model.intercept_ = model.intercept_ * 2
    model.partial_fit(ROWS, np.arange(30) % 3)
    assert sp.issparse(model.coef_)
    assert isinstance(model.densify().coef_, np.ndarray)
    assert isinstance(model.sparsify().fit(ROWS, np.arange(30) % 3).coef_, np.ndarray)


def test_a_regression_learns_and_answers_row_by_row():
    one, chunk = AdalineRegressor(), AdalineRegressor().partial_fit(ROWS, ROWS[:, 0])
    assert one.predict_one(ROWS[0]) == 0.0
    for x in ROWS:
        assert one.learn_one(x, x[0]) is False
    np.testing.assert_array_equal(one.coef_, chunk.coef_)
    assert one.predict_one(ROWS[0]) == chunk.predict(ROWS[:1])[0]
    assert one.stop_reason_ == "rows came one by one (rows: 30): the stream can continue."
    named = AdalineRegressor()
    for x in ROWS:
        named.learn_one({"c": x[2], "a": x[0], "b": x[1]}, x[0])
    np.testing.assert_allclose(named.coef_, one.coef_[[2, 0, 1]])
    with pytest.raises(InvalidInput, match="contains NaN"):
        one.learn_one(ROWS[0], np.nan)


def test_rows_of_a_data_frame_go_by_their_names():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    y = (X[:, 0] > X[:, 1]).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    other = frame[["c", "b", "a"]]
    by_array, by_name = Perceptron(), Perceptron()
    for k in range(60):
        by_array.learn_one(X[k], y[k])
        by_name.learn_one((other if k % 2 else frame).iloc[k], y[k])
    assert by_name.feature_names_in_.tolist() == ["a", "b", "c"]
    assert by_name.coef_.tobytes() == by_array.coef_.tobytes()
    rows = [other.iloc[k] for k in range(60)]
    assert [by_name.predict_one(row) for row in rows] == by_array.predict(X).tolist()
    with pytest.raises(InvalidInput, match="features that the model does not have: 'd'"):
        by_name.learn_one(pd.Series({"a": 1.0, "d": 2.0}), 1)
    assert by_array.predict_one(rows[0]) in (0, 1), "a model without names takes them in their order"


def test_rows_of_a_data_frame_continue_a_stream_of_dicts():
    dicts, rows = Perceptron(), Perceptron()
    for k in range(20):
        row = {"a": float(k % 3), "b": float(k % 5)}
        dicts.learn_one(row, k % 2)
        rows.learn_one(row if k < 10 else pd.Series(row)[["b", "a"]], k % 2)
    assert rows.coef_.tobytes() == dicts.coef_.tobytes()


@pytest.mark.parametrize("saved", [False, True])
def test_after_a_fit_that_held_out_rows_a_stream_is_refused_in_chunks_and_row_by_row(saved):
    model = Perceptron(early_stopping=True).fit(ROWS, LABELS)
    if saved:
        save(model, file := io.BytesIO())
        model = load(file.getvalue())
    for learn in (lambda: model.learn_one(ROWS[0], 1), lambda: model.partial_fit(ROWS, LABELS)):
        with pytest.raises(InvalidInput, match="holds out rows, which a stream cannot"):
            learn()
    model.set_params(early_stopping=False).learn_one(ROWS[0], 1)


def test_a_parameter_that_becomes_invalid_between_two_chunks_is_refused():
    model = Perceptron().partial_fit(ROWS, LABELS).partial_fit(ROWS, LABELS)
    before = model.coef_
    for learn in (lambda: model.partial_fit(ROWS, LABELS), lambda: model.learn_one(ROWS[0], 1)):
        model.eta0 = -1.0
        with pytest.raises(InvalidInput, match=r"eta0=-1\.0"):
            learn()
    assert np.array_equal(model.coef_, before)


def test_a_constant_that_is_assigned_is_that_of_the_next_chunk():
    model = Perceptron().partial_fit(ROWS, LABELS)
    model.intercept_scaling_ = 0.5
    assert model.partial_fit(ROWS, LABELS)._stream.settings.bias == 0.25
