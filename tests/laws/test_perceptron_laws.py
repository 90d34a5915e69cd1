"""Theorems and identities that hold for every data set."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import reference
from rosenblatt import Perceptron, trace, train
from strategies import integer_sets, separable_sets, small

ORDERS = st.sampled_from(["cyclic", "shuffled", "random"])


def augmented(X, u, c, y):
    """Radius, margin and unit normal of a separating hyperplane, in the space padded with a one."""
    length = np.sqrt(u @ u + c * c)
    gamma = (y * (X @ u + c)).min() / length
    return np.sqrt((X * X).sum(1).max() + 1), gamma, np.append(u, c) / length


@given(separable_sets(), ORDERS, st.integers(0, 99))
def test_novikoff_bounds_the_mistakes_in_any_order(data, order, seed):
    X, y, u, c = data
    if len(set(y)) < 2:
        return
    radius, gamma, _ = augmented(X, u, c, y)
    run = train(X, y, order=order, random_state=seed, max_iter=5000)
    assert run.updates <= (radius / gamma) ** 2 * (1 + 1e-9)
    assert run.stop.name == "SEPARATED"
    assert (y * (X @ run.coef[0] + run.intercept[0]) > 0).all()


def test_the_novikoff_test_notices_a_wrong_sign():
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0], [3.0, 1.0]]), np.array([1, -1, 1])
    radius, gamma, _ = augmented(X, np.array([1.0, 0.0]), 0.0, y)
    w, mistakes = np.zeros(3), 0
    for _ in range(50):
        for x, sign in zip(np.c_[X, np.ones(3)], y, strict=True):
            if sign * (w @ x) <= 0:
                w -= sign * x
                mistakes += 1
    assert mistakes > (radius / gamma) ** 2


@given(separable_sets(), st.lists(small, min_size=6, max_size=6))
def test_duda_and_hart_bound_the_corrections_from_any_start(data, start):
    X, y, u, c = data
    if len(set(y)) < 2:
        return
    radius, gamma, unit = augmented(X, u, c, y)
    a1 = np.array(start[: X.shape[1] + 1], float)
    run = train(X, y, order="cyclic", init=(a1[:-1], a1[-1]), max_iter=5000)
    k0 = ((a1 - radius**2 / gamma * unit) ** 2).sum() / radius**2
    assert run.updates <= k0 * (1 + 1e-9)


@given(separable_sets())
def test_the_two_quantities_of_the_proof(data):
    X, y, u, c = data
    if len(set(y)) < 2:
        return
    radius, gamma, unit = augmented(X, u, c, y)
    for trial in trace(X, y, max_iter=200):
        w = np.append(trial.w, trial.b)
        assert w @ unit >= trial.mistakes * gamma - 1e-9
        assert w @ w <= trial.mistakes * radius**2 + 1e-9


@given(separable_sets(), ORDERS)
def test_the_ceiling_is_above_the_margin_of_every_separator(data, order):
    X, y, u, c = data
    if len(set(y)) < 2:
        return
    _, gamma, _ = augmented(X, u, c, y)
    run = train(X, y, order=order, keep="best")
    assert run.ceiling >= gamma * (1 - 1e-9)
    assert np.isclose(run.radius, np.sqrt((X * X).sum(1).max() + 1))


@given(integer_sets(), st.integers(1, 6))
def test_padding_with_a_one_equals_the_bias(data, epochs):
    X, label = data
    plan = {"order": "cyclic", "max_iter": epochs, "tol": None}
    with_bias = train(X, label, **plan)
    padded = train(np.c_[X, np.ones(len(X))], label, fit_intercept=False, **plan)
    assert padded.coef[0, :-1].tolist() == with_bias.coef[0].tolist()
    assert padded.coef[0, -1] == with_bias.intercept[0]
    assert padded.mistakes == with_bias.mistakes


@given(integer_sets(), st.sampled_from([0.1, 0.3, 0.5, 2.0, 7.0]), st.integers(1, 6))
def test_the_learning_rate_scales_the_weights_and_nothing_else(data, eta, epochs):
    X, label = data
    plan = {"order": "cyclic", "max_iter": epochs, "tol": None}
    one, other = train(X, label, **plan), train(X, label, eta0=eta, **plan)
    assert other.mistakes == one.mistakes
    assert other.coef.tolist() == (eta * one.coef).tolist()
    assert other.intercept.tolist() == (eta * one.intercept).tolist()


@given(integer_sets(), st.randoms(use_true_random=False), st.booleans())
def test_permuting_the_features_permutes_the_weights(data, random, batch):
    X, label = data
    shuffled = random.sample(range(X.shape[1]), X.shape[1])
    plan = {"order": "cyclic", "max_iter": 5, "tol": None, "batch": batch}
    assert train(X[:, shuffled], label, **plan).coef.tolist() == train(X, label, **plan).coef[:, shuffled].tolist()


@given(integer_sets(), st.booleans())
def test_flipping_the_labels_flips_the_weights(data, batch):
    X, label = data
    plan = {"order": "cyclic", "max_iter": 5, "tol": None, "batch": batch}
    one, other = train(X, label, **plan), train(X, 1 - label, **plan)
    assert other.coef.tolist() == (-one.coef).tolist()
    assert other.intercept.tolist() == (-one.intercept).tolist()


@given(integer_sets(classes=3), st.sampled_from(["ovr", "ovo", "joint"]), ORDERS, st.integers(1, 4))
def test_dense_and_sparse_copies_give_the_same_model(data, multiclass, order, epochs):
    X, label = data
    plan = {"multiclass": multiclass, "order": order, "max_iter": epochs, "keep": "best"}
    dense, sparse = train(X, label, **plan), train(sp.csr_array(X), label, **plan)
    assert dense.coef.tolist() == sparse.coef.tolist()
    assert dense.intercept.tolist() == sparse.intercept.tolist()
    assert (dense.mistakes, dense.errors) == (sparse.mistakes, sparse.errors)


@given(integer_sets(classes=4, most_rows=30), st.sampled_from(["ovr", "ovo"]), st.integers(2, 5))
def test_the_number_of_threads_changes_nothing(data, multiclass, threads):
    X, label = data
    plan = {"multiclass": multiclass, "max_iter": 7}
    one, many = train(X, label, **plan), train(X, label, n_jobs=threads, **plan)
    assert one.coef.tolist() == many.coef.tolist()
    assert one.stops == many.stops


@given(integer_sets(most_rows=12, most_features=2))
@settings(max_examples=60)
def test_a_cyclic_run_on_integers_ends_in_a_separator_or_a_cycle(data):
    X, label = data
    run = train(X, label, order="cyclic", tol=None, max_iter=100_000)
    assert run.stop.name in ("SEPARATED", "CYCLE")
    if run.stop.name == "CYCLE":
        # The weights of the last epoch, reached by skipping whole cycles, repeat after one more cycle.
        more = train(X, label, order="cyclic", tol=None, max_iter=run.cycle, init=(run.coef, run.intercept))
        assert more.coef.tolist() == run.coef.tolist()
        orders = [range(len(X))] * run.cycle
        y = (2 * label - 1).tolist()
        w, b, mistakes = reference.perceptron(X.tolist(), y, orders, w0=run.coef[0].tolist(), b0=run.intercept[0])
        assert (w, b) == (run.coef[0].tolist(), run.intercept[0])
        assert min(mistakes) > 0


@given(integer_sets(most_rows=12, most_features=2), st.integers(1, 40))
@settings(max_examples=60)
def test_skipping_whole_cycles_gives_the_weights_of_the_last_epoch(data, epochs):
    X, label = data
    run = train(X, label, order="cyclic", tol=None, max_iter=epochs)
    y = (2 * label - 1).tolist()
    w, b, _ = reference.perceptron(X.tolist(), y, [range(len(X))] * epochs)
    assert (w, b) == (run.coef[0].tolist(), run.intercept[0])


@given(integer_sets(classes=3, most_rows=20), st.sampled_from(["ovr", "ovo", "joint"]), st.data())
def test_chunks_of_any_size_give_the_weights_of_one_pass(data, multiclass, more):
    X, label = data
    names = np.array(["b", "c", "a"])[label]
    whole = Perceptron(multiclass=multiclass, shuffle=False, max_iter=1, tol=None).fit(X, names)
    cuts = sorted(more.draw(st.lists(st.integers(0, len(X)), max_size=4)))
    stream = Perceptron(multiclass=multiclass)
    announced = {"classes": ["a", "b", "c"]} if multiclass == "joint" or more.draw(st.booleans()) else {}
    for start, end in zip([0, *cuts], [*cuts, len(X)], strict=True):
        if start < end:
            stream.partial_fit(sp.csr_array(X[start:end]) if more.draw(st.booleans()) else X[start:end],
                               names[start:end], **announced)  # fmt: skip
    assert stream.coef_.tolist() == whole.coef_.tolist()
    assert stream.intercept_.tolist() == whole.intercept_.tolist()
    assert stream.mistakes_ == whole.mistakes_ or not announced
    assert stream.t_ == len(X)
