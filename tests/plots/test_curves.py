"""Curves of runs show what the record says."""

from dataclasses import replace

import numpy as np
import pytest

from rosenblatt import Perceptron, record, trace, train
from rosenblatt.datasets import SPAM_WORDS, noisy, separable, spam
from rosenblatt.errors import InvalidInput
from rosenblatt.plots import plot_errors, plot_learning_curve, plot_mistakes, plot_weights

OR = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([-1, 1, 1, 1])
XOR = OR[0], np.array([-1, 1, 1, -1])


def three_classes(n=60):
    random = np.random.default_rng(0)
    y = np.arange(n) % 3
    return np.array([[0, 2], [-2, -1], [2, -1]])[y] + 0.3 * random.normal(size=(n, 2)), y


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_errors_draw_mistakes_and_errors_as_shares_of_the_rows():
    run = Perceptron(shuffle=False).fit(*OR).run_
    ax = plot_errors(run)
    mistakes, errors = ax.lines[:2]
    assert mistakes.get_ydata().tolist() == [count / 4 for count in run.mistakes]
    measured = {epoch: error for epoch, error in enumerate(run.errors, 1) if error is not None}
    assert 0 < len(measured) < run.epochs
    assert (errors.get_xdata().tolist(), errors.get_ydata().tolist()) == ([*measured], [*measured.values()])
    assert mistakes.get_xdata().tolist() == list(range(1, run.epochs + 1))
    assert legend(ax) == ["mistakes during the epoch", "error at its end", f"stopped and kept: epoch {run.epochs}"]


def test_errors_without_measurement_draw_the_mistakes_only():
    run = train(*OR, order="cyclic")
    assert run.errors == ()
    ax = plot_errors(run)
    assert legend(ax) == ["mistakes during the epoch", f"stopped and kept: epoch {run.epochs}"]


def test_errors_mark_the_stopping_point_and_the_epoch_kept():
    best_first = [0.5, 0.25, 0.5, 0.75]
    run = train(*XOR, keep="best", max_iter=4, tol=None, random_state=3)
    run = replace(run, errors=tuple(best_first), kept=2)
    ax = plot_errors(run)
    assert legend(ax)[2:] == ["kept: epoch 2", "stopped: epoch 4"]
    assert [list(line.get_xdata()) for line in ax.lines[-2:]] == [[2], [4, 4]]
    assert list(ax.lines[-2].get_ydata()) == [0.25]


def test_errors_of_a_long_run_are_smoothed_around_their_mean():
    run = train(*XOR, max_iter=200, tol=None, order="shuffled")
    ax = plot_errors(run)
    raw, smooth = (np.asarray(line.get_ydata()) for line in ax.lines[:2])
    assert raw.size == smooth.size == 200
    assert smooth.min() >= raw.min()
    assert smooth.max() <= raw.max()
    assert smooth[100] == pytest.approx(raw[95:106].mean())


def test_mistakes_of_a_run_and_of_its_trace_end_at_the_same_point():
    run, trials = train(*OR, order="cyclic"), list(trace(*OR))
    ax = plot_mistakes(run, trials, labels=["run", "trace"])
    assert legend(ax) == ["run", "trace"]
    ends = {(line.get_xdata()[-1], line.get_ydata()[-1]) for line in ax.lines}
    assert ends == {(24, 9)}


def test_mistakes_stay_below_a_bound_that_is_drawn():
    ax = plot_mistakes(train(*OR, order="cyclic"), bound=30)
    (bound,) = [line for line in ax.lines if list(line.get_ydata()) == [30, 30]]
    assert bound.get_linestyle() == "--"
    assert legend(ax) == ["mistakes made", "at most 30"]
    assert ax.get_ylim()[1] > 30
    assert ax.get_yscale() == "linear"


def test_mistakes_are_counted_on_a_logarithmic_scale_where_the_bound_is_far_away():
    runs = [train(*OR, order="cyclic"), train(*OR, random_state=1)]
    ax = plot_mistakes(*runs, bound=[100, 1e6])
    assert ax.get_yscale() == "log"
    assert legend(ax)[1::2] == ["at most 100", "at most 1,000,000"]


def test_a_shared_bound_is_drawn_once():
    runs = [train(*OR, order="cyclic"), train(*OR, random_state=1)]
    assert legend(plot_mistakes(*runs, bound=np.float64(50))).count("at most 50") == 1


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: plot_mistakes(), "0 records"),
        (lambda: plot_mistakes([]), "no trials"),
        (lambda: plot_mistakes(train(*OR), bound=[1, 2]), "1 records, 2 bounds"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_its_fault(call, fault):
    with pytest.raises(InvalidInput, match=fault):
        call()


def test_training_error_is_drawn_beside_the_validation_error():
    X, y = noisy(120, 6, flip=0.1)
    training = []

    def measure(epoch):
        training.append(np.mean(y[:80] * (X[:80] @ epoch.coef[0] + epoch.intercept[0]) <= 0))

    run = train(X[:80], y[:80], validation=(X[80:], y[80:]), keep="best", callback=measure)
    ax = plot_errors(run, training=training)
    assert legend(ax)[:2] == ["training error", "validation error"]
    assert ax.lines[0].get_ydata().tolist() == training
    with pytest.raises(InvalidInput, match="one error for each epoch"):
        plot_errors(run, training=training[1:])


def test_the_learning_curve_fits_copies_on_the_first_rows():
    X, y = noisy(100, 4, flip=0.1)
    model = Perceptron(random_state=0)
    ax = plot_learning_curve(model, X[:60], y[:60], X[60:], y[60:], [20, 60])
    assert not hasattr(model, "coef_")
    errors = [1 - Perceptron(random_state=0).fit(X[:n], y[:n]).score(X[60:], y[60:]) for n in (20, 60)]
    assert ax.lines[1].get_ydata().tolist() == pytest.approx(errors)
    with pytest.raises(InvalidInput, match="from 1 to 60"):
        plot_learning_curve(model, X[:60], y[:60], X[60:], y[60:], [61])


def test_weights_over_time_end_with_those_of_the_fit():
    recording = record(Perceptron(shuffle=False), *spam())
    ax = plot_weights(recording, feature_names=SPAM_WORDS)
    ends = {line.get_label(): line.get_ydata()[-1] for line in ax.lines}
    assert [ends[word] for word in SPAM_WORDS] == recording.estimator.coef_[0].tolist()
    assert legend(plot_weights(recording))[0] == "$w_{2}$"


def test_short_and_long_runs_are_compared_on_a_logarithmic_scale():
    runs = [train(*separable(50, 5, margin), order="cyclic") for margin in (0.5, 0.01)]
    assert runs[1].trials > 10 * runs[0].trials
    assert plot_mistakes(*runs).get_xscale() == "log"
