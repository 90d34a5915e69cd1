"""scikit-learn's callbacks: what they see of a fit, alone and inside of meta-estimators."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from members import FAMILY
from rosenblatt import (
    AROW,
    AdalineRegressor,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    Perceptron,
    load,
    save,
)

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")

X, Y = load_iris(return_X_y=True)
WATCHED = [
    *(model for model in FAMILY if type(model) is not MaximumMargin),
    AveragedPerceptron(shards=3),
    KernelPerceptron(),
    KernelPerceptron(aggregate="average"),
    KernelPerceptron(budget=10),
    KernelPerceptron(budget=10, budget_rule="forgetron"),
    KernelPerceptron(kernel=lambda x, z: float(x @ z)),
]
KEYS = [f"{model}" if not callable(getattr(model, "kernel", "")) else "KernelPerceptron(function)" for model in WATCHED]


class Notes:
    """A callback that writes down what it hears, and what the estimator of each epoch predicts."""

    def __init__(self, act=lambda task: None):
        self.heard, self.predicted, self.act = [], [], act

    def setup(self, estimator, context):
        self.heard.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.heard.append(f"end {context.task_name}")
        self.predicted.append(fitted_estimator.predict(X).tolist())
        return self.act(context.task_name)

    def teardown(self, estimator, context):
        self.heard.append("teardown")


class Silent(Notes):
    """A callback that asks for no estimator."""

    def on_fit_task_end(self, estimator, context):
        pass


@pytest.mark.parametrize("model", WATCHED, ids=KEYS)
def test_a_callback_sees_each_epoch_as_if_the_fit_had_ended_with_it(model):
    options = {"tol": None, "max_iter": 3}
    if "keep" in model.get_params():
        options["keep"] = "last"
    model, notes = clone(model).set_params(**options), Notes()
    watched = clone(model).set_callbacks(notes).fit(X, Y)
    epochs = [f"epoch {k}" for k in range(1, watched.n_iter_ + 1)]
    inside = [f"{event} {name}" for name in epochs for event in ("begin", "end")]
    assert notes.heard == ["setup", "begin fit", *inside, "end fit", "teardown"]
    fits = [clone(model).set_params(max_iter=k).fit(X, Y).predict(X).tolist() for k in range(1, len(epochs) + 1)]
    assert notes.predicted == [*fits, watched.predict(X).tolist()]
    assert watched.predict(X).tolist() == fits[-1]


def test_the_estimator_of_an_epoch_stays_as_it_is_and_is_stored_and_learns_on(tmp_path):
    kept = []

    class Keep(Notes):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            kept.append(fitted_estimator)

    for model in (Perceptron(tol=None, max_iter=3, keep="last"), KernelPerceptron(tol=None, max_iter=3)):
        kept.clear()
        clone(model).set_callbacks(Keep()).fit(X, Y)
        first = clone(model).set_params(max_iter=1).fit(X, Y)
        assert kept[0].predict(X).tolist() == first.predict(X).tolist()
        assert (kept[0].t_, kept[0].mistakes_, kept[0].n_iter_) == (first.t_, first.mistakes_, 1)
        save(kept[0], tmp_path / "epoch-1.model")
        assert load(tmp_path / "epoch-1.model").predict(X).tolist() == first.predict(X).tolist()
        kept[0].partial_fit(X, Y)
        first.partial_fit(X, Y)
        np.testing.assert_array_equal(kept[0].decision_function(X), first.decision_function(X))


def test_a_true_answer_ends_the_fit_and_both_kinds_of_callback_are_called():
    numbers = []
    model = Perceptron(tol=None, max_iter=9, callback=lambda epoch: numbers.append(epoch.number))
    model.set_callbacks(Notes(lambda name: name == "epoch 2")).fit(X, Y)
    assert (model.n_iter_, numbers) == (2, [1, 2])
    assert "the callback asked for it" in model.stop_reason_
    model.set_callbacks(Notes()).set_params(callback=lambda epoch: epoch.number == 3).fit(X, Y)
    assert model.n_iter_ == 3


@pytest.mark.parametrize("model", [Perceptron(), KernelPerceptron(), AdalineRegressor()], ids=str)
def test_a_callback_that_fails_is_torn_down_and_leaves_the_estimator_as_it_was(model):
    def fail(name):
        raise ZeroDivisionError(name)

    notes = Notes(fail)
    model = clone(model).set_callbacks(notes)
    with pytest.raises(ZeroDivisionError, match="epoch 1"):
        model.fit(X, Y)
    assert notes.heard == ["setup", "begin fit", "begin epoch 1", "end epoch 1", "teardown"]
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not [name for name in vars(model) if "callback_fit_ctx" in name or "teardown" in name]


def test_a_callback_cannot_change_the_columns_that_a_loop_reads():
    rows = sp.csr_matrix(X)
    expected = Perceptron(tol=None, max_iter=4).fit(rows.copy(), Y).coef_

    class Vandal(Silent):
        def on_fit_task_end(self, estimator, context):
            rows.indices[:] = 2**30

    found = Perceptron(tol=None, max_iter=4).set_callbacks(Vandal()).fit(rows, Y).coef_
    np.testing.assert_array_equal(found, expected)


def test_scores_of_each_epoch_reach_a_monitor_through_a_pipeline_and_a_search(capsys):
    monitor, bar = callback.ScoringMonitor(scoring="accuracy"), callback.ProgressBar(max_propagation_depth=None)
    learner = AROW(max_iter=4, tol=None).set_callbacks(monitor)
    search = GridSearchCV(make_pipeline(StandardScaler(), learner), {"arow__r": [0.1, 1.0]}, cv=2)
    search.set_callbacks(bar).fit(X, Y, arow__sample_weight=np.ones(len(Y)))
    scores = [row for row in monitor.get_logs().data if row["task_name"].startswith("epoch")]
    assert [row["task_name"] for row in scores] == [f"epoch {k}" for k in (1, 2, 3, 4)] * 5  # 2 values, 2 folds, refit
    final = search.best_estimator_.score(X, Y)
    assert scores[0]["estimator_name"] == "AROW"
    assert max(row["accuracy"] for row in scores) >= final > 0.8
    assert "AROW - fit" in capsys.readouterr().out
    assert search.best_estimator_[-1].n_iter_ == 4


def test_files_hold_what_was_learned_without_the_callbacks(tmp_path):
    scaler = StandardScaler().set_callbacks(Silent())
    for model in (AROW(), KernelPerceptron(), make_pipeline(scaler, Perceptron())):
        model.set_callbacks(callback.ProgressBar()).fit(X, Y)
        save(model, tmp_path / "a.model")
        assert load(tmp_path / "a.model").predict(X).tolist() == model.predict(X).tolist()


def test_processes_report_to_the_callback_of_the_first():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    learner = Perceptron(max_iter=2, tol=None).set_callbacks(monitor)
    GridSearchCV(learner, {"eta0": [0.1, 1.0]}, cv=2, n_jobs=2).fit(X, Y)
    assert sum(row["task_name"] == "epoch 2" for row in monitor.get_logs().data) == 5


def test_an_older_scikit_learn_has_no_callbacks_and_fits_as_before():
    script = (
        "import sklearn.model_selection, sklearn.callback as known\n"
        "del known.CallbackSupportMixin, known.with_callbacks\n"
        "from rosenblatt import Perceptron\n"
        "model = Perceptron().fit([[0.0], [1.0]], [0, 1])\n"
        "print(model.predict([[1.0]]).tolist(), hasattr(model, 'set_callbacks'))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split("\n")[0] == "[1] False"
