"""When a run in the dual ends: every row on its side, or a separator that would promise nothing."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification, make_moons

from rosenblatt import KernelPerceptron
from rosenblatt.training.stopping import FREE_TRIALS

NOISY = make_classification(600, 10, n_informative=5, flip_y=0.3, random_state=0)


def lengths(model):
    """Return |f| and the sum of the steps for each problem, from the expansion itself."""
    known = model._expansion
    gram = np.exp(-model.gamma_ * ((known.vectors[:, None, :] - known.vectors[None, :, :]) ** 2).sum(axis=2))
    return np.sqrt(((known.coef @ gram) * known.coef).sum(axis=1)), np.abs(known.coef).sum(axis=1)


@pytest.mark.parametrize("way", [{}, {"cache_size": 0}], ids=["whole", "blocks"])
def test_noise_ends_a_run_once_no_margin_promises_fewer_mistakes_than_there_are_rows(way):
    X, y = NOISY
    model = KernelPerceptron(**way).fit(X, y)
    assert model.run_.stop.name == "TRAINING"
    assert "would promise nothing of new rows, and no hyperplane" in model.stop_reason_
    length, steps = lengths(model)
    assert model.run_.ceiling == pytest.approx((length / steps)[0])
    assert (model.run_.radius / model.run_.ceiling) ** 2 >= len(y)
    # The epochs before patience began to run had promised something.
    before = KernelPerceptron(max_iter=model.n_iter_ - 6, tol=None, **way).fit(X, y) if model.n_iter_ > 6 else None
    if before is not None:
        length, steps = lengths(before)
        assert (model.run_.radius * steps[0] / length[0]) ** 2 < len(y)


def test_patience_is_the_number_of_epochs_that_promise_nothing():
    X, y = NOISY
    epochs = [KernelPerceptron(n_iter_no_change=patience).fit(X, y).n_iter_ for patience in (1, 3, 8)]
    assert np.diff(epochs).tolist() == [2, 5]


@pytest.mark.parametrize("tol", [0.0, 1e-3, 10.0, np.inf])
def test_a_run_that_promises_nothing_from_its_first_epoch_ends_whatever_tol_is(tol):
    X, y = make_moons(2000, noise=0.5, random_state=0)
    model = KernelPerceptron(tol=tol).fit(X, y)
    assert model.run_.stop.name == "TRAINING"
    assert model.n_iter_ <= 8


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_problems_end_one_by_one(multiclass):
    X, y = load_iris(return_X_y=True)
    model = KernelPerceptron(multiclass=multiclass).fit(X, y)
    stops = [stop.name for stop in model.run_.stops]
    if multiclass == "joint":
        assert stops == ["TRAINING"]
    else:
        assert sorted(stops) == ["SEPARATED", *["TRAINING"] * 2] or stops.count("SEPARATED") == 2
        assert len(set(model._expansion.trials.tolist())) > 1


def test_a_handful_of_rows_is_separated_even_if_that_promises_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8, 2)), np.arange(8) % 2
    model = KernelPerceptron(gamma=0.3, max_iter=1000).fit(X, y)
    assert model.run_.stop.name == "SEPARATED"
    assert len(y) < model.run_.trials < FREE_TRIALS
    assert (model.predict(X, "last") == y).all()


def test_a_warm_start_knows_the_mistakes_of_the_fits_before():
    X, y = NOISY
    first = KernelPerceptron(warm_start=True, max_iter=6, tol=None).fit(X, y)
    again = first.set_params(max_iter=100, tol=1e-3).fit(X, y)
    assert again.run_.epochs == 6  # one to begin with, and five that promise nothing
    length, steps = lengths(again)
    assert again.run_.ceiling == pytest.approx((length / steps)[0])


@pytest.mark.parametrize("shuffle", [True, "random"])
@pytest.mark.parametrize("way", [{}, {"cache_size": 0}], ids=["whole", "blocks"])
def test_with_a_limit_a_run_ends_when_no_update_is_left_to_make(way, shuffle):
    X, y = NOISY
    model = KernelPerceptron(margin=2.0, max_updates=3, shuffle=shuffle, **way).fit(X, y)
    assert model.run_.stop.name == "TRAINING"
    assert "no update was left to make" in model.stop_reason_
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.alpha_[0]
    assert set(alpha.tolist()) == {0.0, 1.0, 2.0, 3.0}
    excess = (2 * y - 1) * model.decision_function(X, "last") - 2.0
    if shuffle is True:
        assert ((excess > 0) | (alpha == 3)).all()
    assert (excess[alpha == 3] <= -2.0).any()  # rows that are mistaken still, and would be for ever
    assert model.mistakes_ > model.run_.updates - len(y) / 2 > 0


def test_a_limit_that_is_not_reached_leaves_rows_on_their_side():
    X, y = make_moons(300, noise=0.05, random_state=0)
    model = KernelPerceptron(gamma=2.0, margin=4.0, max_updates=50).fit(X, y)
    assert model.run_.stop.name == "SEPARATED"
    assert model.alpha_.max() < 50
    assert ((2 * y - 1) * model.decision_function(X, "last") > 4).all()


def test_all_epochs_are_run_where_they_are_asked_for():
    X, y = NOISY
    assert KernelPerceptron(max_iter=30, tol=None).fit(X, y).n_iter_ == 30
