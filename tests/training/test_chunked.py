"""Training from chunks: the same as in memory, wherever the chunks are cut."""

import numpy as np
import pytest
import scipy.sparse as sp

from chunk_source import MemorySource, job_of, rows
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import trainable
from rosenblatt.training.chunked import learn_chunks
from rosenblatt.training.stopping import Stop

PARAMETERS = [
    ("perceptron", {}),
    ("perceptron", {"penalty": "l2", "alpha": 0.01}),
    ("perceptron", {"penalty": "elasticnet", "alpha": 0.01, "schedule": "1/sqrt(t)", "eta0": 0.3}),
    ("perceptron", {"batch": True}),
    ("averaged", {"eta0": 0.1, "margin": 0.2}),
    ("passive-aggressive", {"loss": "squared_hinge", "average": True}),
    ("arow", {}),
    ("winnow", {}),
    ("alma", {}),
    ("romma", {"aggressive": True}),
    ("p-norm", {"p": 4.0}),
    ("adaline", {}),
    ("soft-margin", {"loss": "logistic"}),
]


def in_memory(name, parameters, X, y, weight=None, *, epochs=3, **more):
    more = {"keep": "last", "max_iter": epochs, "tol": None, "shuffle": False} | more
    if name not in ("winnow", "adaline-regressor"):
        more["intercept_scaling"] = 1.0
    if name == "adaline-regressor":
        more.pop("keep")
    return trainable()[name](**(more | parameters)).fit(X, y, sample_weight=weight)


def same(outcome, estimator):
    model = outcome.model()
    np.testing.assert_array_equal(model.W, np.atleast_2d(estimator.coef_))
    np.testing.assert_array_equal(model.b, np.atleast_1d(estimator.intercept_))
    assert outcome.run.mistakes == estimator.run_.mistakes
    assert outcome.run.losses == estimator.run_.losses
    assert outcome.run.radius == pytest.approx(estimator.run_.radius, rel=1e-14)  # few rows are summed by NumPy


@pytest.mark.parametrize(("name", "parameters"), PARAMETERS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("sparse", [False, True])
def test_chunks_of_any_size_give_the_weights_and_the_record_of_the_rows_in_memory(name, parameters, n_classes, sparse):
    X, y = rows(n_classes, sparse)
    weight = np.random.default_rng(1).integers(0, 4, y.size) / 2
    for given in (None, weight):
        wanted = in_memory(name, parameters, X, y, given)
        for size in (1, 50, 1000):
            same(learn_chunks(job_of(name, parameters, MemorySource(X, y, given, size))), wanted)


@pytest.mark.parametrize("multiclass", ["ovo", "joint"])
def test_all_modes_of_several_classes_are_those_of_memory(multiclass):
    X, y = rows(4, sparse=True)
    parameters = {"multiclass": multiclass}
    wanted = in_memory("averaged", parameters, X, y)
    same(learn_chunks(job_of("averaged", parameters, MemorySource(X, y), n_jobs=2)), wanted)


def test_labels_that_come_late_change_nothing():
    X, y = rows(4, sparse=True)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    wanted = in_memory("perceptron", {}, X, y)
    same(learn_chunks(job_of("perceptron", {}, MemorySource(X, y, rows=600))), wanted)
    late = MemorySource(sp.vstack([X] * 4).tocsr(), np.concatenate([y] * 4), rows=20)
    first = late.y == "doe"
    late.y[:600][first[:600]] = "cat"
    wanted = in_memory("perceptron", {}, late.X, late.y)
    same(learn_chunks(job_of("perceptron", {}, late)), wanted)


def test_labels_of_a_source_that_cannot_be_read_again_must_be_announced():
    X, y = rows(2, sparse=False, n=1300)
    y = np.sort(y)
    with pytest.raises(InvalidInput, match="Announce"):
        learn_chunks(job_of("perceptron", {}, MemorySource(X, y, rows=10, again=False), epochs=1))
    source = MemorySource(X, y, rows=10, again=False)
    same(
        learn_chunks(job_of("perceptron", {}, source, epochs=1, classes=np.array(["bee", "ant"]))),
        in_memory("perceptron", {}, X, y, epochs=1),
    )
    with pytest.raises(InvalidInput, match="not among the announced"):
        learn_chunks(job_of("perceptron", {}, MemorySource(X, y), classes=np.array(["ant", "cow"])))


def test_balanced_costs_are_those_of_all_rows():
    X, y = rows(4, sparse=True)
    parameters = {"class_weight": "balanced"}
    wanted = in_memory("perceptron", parameters, X, y)
    same(learn_chunks(job_of("perceptron", parameters, MemorySource(X, y), balanced=True)), wanted)


def test_a_regression_is_that_of_memory():
    X, _ = rows(2, sparse=True)
    y = np.asarray(X @ np.arange(7.0)).reshape(-1) + 1
    wanted = in_memory("adaline-regressor", {}, X, y)
    same(learn_chunks(job_of("adaline-regressor", {}, MemorySource(X, y), regression=True)), wanted)


def test_held_out_rows_teach_nothing_and_measure_the_error():
    X, y = rows(2, sparse=True)
    outside = (np.arange(y.size) - 2) % 5 == 0
    wanted = in_memory("averaged", {}, X[~outside], y[~outside], epochs=4)
    for size in (7, 1000):
        outcome = learn_chunks(job_of("averaged", {}, MemorySource(X, y, rows=size), epochs=4, hold_out=(5, 2)))
        np.testing.assert_array_equal(outcome.model().W, wanted.coef_)
        error = np.mean(outcome.model().predict(X[outside]) != y[outside])
        assert outcome.run.errors[-1] == error
    other = learn_chunks(
        job_of("averaged", {}, MemorySource(X[~outside], y[~outside]), epochs=4, validation=MemorySource(X, y))
    )
    np.testing.assert_array_equal(other.model().W, wanted.coef_)
    assert other.run.errors[-1] == np.mean(other.model().predict(X) != y)


def test_the_weighted_error_is_the_same_number_wherever_the_chunks_are_cut():
    X, y = rows(2, sparse=True)
    weight = np.random.default_rng(3).random(y.size)
    found = {
        learn_chunks(job_of("averaged", {}, MemorySource(X, y, weight, size), epochs=4, hold_out=(3, 0))).run.errors
        for size in (1, 2, 7, 50, 1000)
    }
    assert len(found) == 1


def test_training_ends_when_the_held_out_error_stops_falling_and_keeps_the_best():
    X, y = rows(2, sparse=False)
    outcome = learn_chunks(
        job_of(
            "perceptron", {}, MemorySource(X, y), epochs=50, hold_out=(3, 0), tol=1e-3, n_iter_no_change=4, keep="best"
        )
    )
    assert outcome.run.stop is Stop.VALIDATION
    assert outcome.run.epochs < 50
    held = np.arange(y.size) % 3 == 0
    assert np.mean(outcome.model().predict(X[held]) != y[held]) == min(outcome.run.errors)


def test_shuffled_epochs_learn_from_every_row_and_are_seeded():
    X, y = rows(2, sparse=True)

    def weights(seed, order):
        return (
            learn_chunks(job_of("averaged", {}, MemorySource(X, y, rows=20), order=order, random_state=seed)).model().W
        )

    assert (weights(0, "shuffled") == weights(0, "shuffled")).all()
    assert (weights(0, "shuffled") != weights(1, "shuffled")).any()
    assert (weights(0, "shuffled") != weights(0, "cyclic")).any()
    run = learn_chunks(job_of("averaged", {}, MemorySource(X, y, rows=20), order="shuffled")).run
    assert run.trials == 3 * y.size


def test_an_interruption_keeps_what_was_learned_so_far():
    X, y = rows(2, sparse=True)
    seen = []
    job = job_of(
        "averaged",
        {},
        MemorySource(X, y, rows=10),
        after_chunk=seen.append,
        interrupted=lambda: len(seen) == 5,
        callback=lambda epoch: len(seen) == 5,
    )
    outcome = learn_chunks(job)
    wanted = in_memory("averaged", {}, X[:50], y[:50], epochs=1)
    np.testing.assert_array_equal(outcome.model().W, wanted.coef_)
    assert outcome.run.stop is Stop.CALLBACK
    assert "interrupted" in outcome.run.reason


@pytest.mark.parametrize(
    ("y", "fault"), [(["a"] * 30, "All rows have the label 'a'"), ([np.nan] * 30, "NaN"), ([], "no rows")]
)
def test_what_cannot_be_learned_from_is_refused_in_a_sentence(y, fault):
    with pytest.raises(InvalidInput, match=fault):
        learn_chunks(job_of("perceptron", {}, MemorySource(np.ones((len(y), 2)), y)))
