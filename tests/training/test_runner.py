"""Rows in memory: what is presented does not depend on threads, pieces or clocks."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning

from members import FAMILY
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    MaximumMargin,
    Perceptron,
    SoftMargin,
    Winnow,
    train,
)
from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import pocket
from rosenblatt.learners.arow import Arow
from rosenblatt.learners.pocket import PocketAlgorithm
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import coding_matrix, make_task
from rosenblatt.training.plan import Plan
from rosenblatt.training.runner import InMemory, Job
from rosenblatt.training.stopping import BATCH_WORDS, LOSS_WORDS, PERCEPTRON_WORDS, Stop
from rosenblatt.training.trainer import RunClock, Trainer


def noisy(n=400, d=3, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, :classes] + rng.standard_normal((n, classes))).argmax(1)


def separable(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X = X[np.abs(X[:, 0]) > 0.1]
    return X, np.sign(X[:, 0])


def test_a_time_limit_does_not_change_the_run():
    X, y = noisy(100_000, seed=3)
    one, other = train(X, y, max_iter=2, tol=None), train(X, y, max_iter=2, tol=None, max_seconds=1000.0)
    assert one.coef.tolist() == other.coef.tolist()
    assert one.mistakes == other.mistakes


def test_random_draws_do_not_claim_what_they_have_not_seen():
    # Row 0 contradicts the others; an epoch of draws may well miss it.
    X = np.r_[[[1.0]], np.linspace(1, 2, 30)[:, None], -np.linspace(1, 2, 30)[:, None]]
    y = np.r_[-1, np.ones(30), -np.ones(30)]
    for seed in range(20):
        run = train(X, y, order="random", random_state=seed, max_iter=10, tol=None)
        assert run.stop.name == "EPOCHS"


def test_updates_of_the_batch_perceptron_are_one_per_epoch():
    X, y = separable()
    run = train(X, y, batch=True, order="cyclic")
    assert run.stop.name == "SEPARATED"
    assert run.updates == run.epochs - 1


def test_overflowing_weights_are_refused():
    X = np.array([[1e14, 0], [0, 1e14]], np.float32)
    with pytest.raises(InvalidInput, match="overflowed float32"):
        train(X, [0, 1], sample_weight=[1e30, 1e30])


def test_a_penalty_cannot_be_batched():
    with pytest.raises(InvalidInput, match="batch"):
        Perceptron(penalty="l2", batch=True).fit(*separable())


@pytest.mark.parametrize("model", [Perceptron(), AROW(), Winnow(), SoftMargin(alpha=0.01)], ids=str)
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_threads_share_the_problems_and_change_nothing(model, multiclass):
    X, y = noisy(200, 4, classes=4)
    one, three = (
        type(model)(**model.get_params()).set_params(multiclass=multiclass, n_jobs=jobs, max_iter=5, tol=None).fit(X, y)
        for jobs in (1, 3)
    )
    assert three.coef_.tolist() == one.coef_.tolist()
    assert three.run_.mistakes == one.run_.mistakes


def test_pieces_between_two_looks_at_the_clock_change_nothing(monkeypatch):
    X, y = noisy(300)
    whole = train(X, y, max_iter=3, tol=None)
    monkeypatch.setattr("rosenblatt.training.runner.ENTRIES_PER_CHECK", 3 * 7)
    pieces = train(X, y, max_iter=3, tol=None, max_seconds=1000.0)
    assert pieces.coef.tolist() == whole.coef.tolist()
    assert pieces.trials == whole.trials


def test_the_clock_ends_a_run_within_an_epoch(monkeypatch):
    X, y = noisy(300)
    monkeypatch.setattr("rosenblatt.training.runner.ENTRIES_PER_CHECK", 3 * 7)
    run = train(X, y, max_iter=3, tol=None, max_seconds=1e-9)
    assert (run.stop, run.epochs, run.trials) == (Stop.SECONDS, 1, 7)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Perceptron(), PERCEPTRON_WORDS),
        (Perceptron(batch=True), BATCH_WORDS),
        (Perceptron(penalty="l2"), LOSS_WORDS),
        (AROW(), LOSS_WORDS),
        (SoftMargin(), LOSS_WORDS),
    ],
    ids=str,
)
def test_the_words_are_those_of_what_is_learned(model, words):
    model.set_params(max_iter=1, tol=None, keep="last").fit(*noisy())
    figures = {"mistakes": model.run_.mistakes[-1], "epochs": 1, "loss": model.run_.losses[-1]}
    figures |= {"wrong": f"{model.run_.mistakes[-1]} rows"}
    figures |= {"fewer_mistakes": ": allow more epochs", "less_loss": ": allow more epochs"}
    assert model.stop_reason_ == words[Stop.EPOCHS].format(**figures) + "."


XOR = [[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, -1]


def test_a_cycle_on_whole_numbers_proves_that_no_hyperplane_separates():
    run = train(*XOR, order="cyclic")
    assert run.stop is Stop.CYCLE
    assert run.reason.startswith("no hyperplane separates the rows: the weights came back")
    assert "AveragedPerceptron" in run.reason
    alone = train(*XOR, order="cyclic", fit_intercept=False)
    assert alone.reason.startswith("no hyperplane through the origin separates")
    assert "a bias (fit_intercept=True)" in alone.reason


@pytest.mark.parametrize(
    "change", [lambda X: X * 0.1, lambda X: X + 0.5, lambda X: (X * 2.0**23).astype(np.float32)], ids=range(3)
)
def test_a_cycle_of_rounded_sums_is_a_cycle_as_computed(change):
    X, y = np.array(XOR[0], float), XOR[1]
    run = train(change(X), y, order="cyclic", tol=None, max_iter=10**6)
    assert run.stop is Stop.CYCLE
    assert "as computed, no hyperplane separates the rows, and certify decides it" in run.reason


def test_what_a_run_does_already_is_not_advised():
    with pytest.warns(ConvergenceWarning, match="Not converged: no hyperplane separates the rows"):
        model = AveragedPerceptron(shuffle=False).fit(*XOR)
    assert "Averaged" not in model.stop_reason_
    assert "shuffle" not in model.stop_reason_
    long = train(*XOR, max_iter=300, tol=None)
    assert "more epochs will hardly help; a kernel" in long.reason
    assert "allow more" not in long.reason


def test_the_radius_counts_the_bias():
    assert train([[3.0], [-4.0]], [0, 1]).radius == np.sqrt(17)
    assert train([[3.0], [-4.0]], [0, 1], fit_intercept=False).radius == 4


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("member", [m for m in FAMILY if type(m) is not MaximumMargin and not is_regressor(m)], ids=str)
def test_the_pieces_in_which_rows_are_presented_do_not_change_a_bit(monkeypatch, member, kind):
    X, y = noisy(90, seed=4, classes=3 if "multiclass" in member.get_params() else 2)
    X = np.abs(X)
    whole = clone(member).set_params(max_iter=4, tol=None, random_state=0).fit(kind(X), y)
    monkeypatch.setattr("rosenblatt.training.runner.ENTRIES_PER_CHECK", 20)
    monkeypatch.setattr(pocket, "ENTRIES_PER_SLICE", 20)
    pieces = clone(member).set_params(max_iter=4, tol=None, random_state=0).fit(kind(X), y)
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    assert pieces.intercept_.tolist() == whole.intercept_.tolist()
    assert (pieces.run_.mistakes, pieces.run_.losses) == (whole.run_.mistakes, whole.run_.losses)


class Late(RunClock):
    """A clock whose limit is over after so many looks at it."""

    def __init__(self, looks):
        super().__init__(1e9)
        self.looks = looks

    @property
    def left(self):
        self.looks -= 1
        return float(self.looks)


def job_of(X, y, algorithm, **plan):
    task = make_task(y.astype(np.int32), coding_matrix(2, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    return Job(algorithm, as_table(X), task, Plan(**plan))


@pytest.mark.parametrize(
    "algorithm",
    [FirstOrder(perceptron()), Arow(1.0, full=True), PocketAlgorithm()],
    ids=lambda algorithm: type(algorithm).__name__,
)
def test_a_run_ends_in_the_middle_of_an_epoch_and_says_so(monkeypatch, algorithm):
    monkeypatch.setattr("rosenblatt.training.runner.ENTRIES_PER_CHECK", 1)
    X, y = noisy(400)
    job = job_of(X, y, algorithm, max_seconds=5.0, keep="best")
    state = algorithm.start(1, 3, np.float64)
    run = Trainer(job.plan, InMemory(job, state), Late(50)).run()
    assert run.stop is Stop.SECONDS
    assert "5.0 s, in epoch 1" in run.reason
    assert 0 < run.trials < 400
    assert run.trials == state.t[0]


def test_without_time_to_measure_the_best_weights_the_last_ones_are_kept():
    X, y = noisy(400)
    algorithm = FirstOrder(perceptron())
    job = job_of(X, y, algorithm, max_seconds=5.0, keep="best", tol=None)
    runner = InMemory(job, algorithm.start(1, 3, np.float64))
    late = RunClock(1e-9)
    late.start -= 1.0
    assert runner.error(late) is None
    assert not runner.fits(0, late)
    run = Trainer(job.plan, runner, late).run()
    assert (run.stop, run.kept, run.errors) == (Stop.SECONDS, 1, ())


def test_no_search_is_begun_after_the_limit():
    X, y = noisy(400)
    algorithm = FirstOrder(perceptron())
    job = job_of(X, y, algorithm)
    runner = InMemory(job, algorithm.start(1, 3, np.float64))
    runner.run_epoch(1, [0], RunClock(None))
    late = RunClock(1e-9)
    late.start -= 1.0
    assert runner.give_up([0], 0.0, 1, late) == {}
    assert runner.bound.certificate is None
