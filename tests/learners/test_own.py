"""Learners that users write: rules and loops of one's own are members of the family like the others."""

# ruff: noqa: N802 (a learner is a class, and is named like one)

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

import rosenblatt
from rosenblatt import Perceptron, learner, load, load_linear, record, save
from rosenblatt.engine.jit import DISABLE_JIT
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.lab import explore
from rosenblatt.lab.answers import python_of
from rosenblatt.lab.page import one_file
from rosenblatt.lab.scene import Scene
from rosenblatt.storage.registry import DEFINED
from rosenblatt.training.stopping import Stop
from strategies import integer_sets

SOURCE = Path(rosenblatt.__file__).parents[1]
MODES = ("ovr", "ovo", "ovo-vote", "joint")
ONE = {"shuffle": False, "max_iter": 1, "tol": None}
FEW = {"shuffle": False, "max_iter": 4, "tol": None}
needs_the_compiler = pytest.mark.skipif(DISABLE_JIT, reason="the JIT is off")


@learner
def Relaxation(margin, norm, rate, overshoot=1.0):
    """Project the weights onto the half-space where the row has a margin of one (Agmon 1954)."""
    if margin >= 1.0 or norm == 0.0:
        return 0.0, 0.0
    return rate * overshoot * (1.0 - margin) / norm, 1.0 - margin


@learner(finite=True)
def Rosenblatt(margin, rate):
    if margin > 0.0:
        return 0.0, 0.0
    return rate, -margin


@learner
def Uneven(margin, rate, importance, sign, wide=2.0, power=1, caps=True):
    if margin > (wide if sign > 0 else 0.0):
        return 0.0, 0.0
    return rate * (min(importance, 3.0) if caps else importance) ** power, 1.0


@learner
def Timid(margin, rate):
    """Leaves rows alone that are far on the wrong side, as one does with wrong labels."""
    return (rate, -margin) if -1.0 < margin <= 0.0 else (0.0, max(0.0, -margin))


@learner
def Rows(X, y, order, weights, bias, importance, step=1.0, fit_intercept=True):
    """Rosenblatt's rule, row by row."""
    mistakes, loss = 0, 0.0
    for i in order:
        margin = y[i] * (np.dot(X[i], weights) + bias[0])
        if y[i] != 0.0 and margin <= 0.0:
            weights += step * importance[i] * y[i] * X[i]
            if fit_intercept:
                bias[0] += step * importance[i] * y[i]
            mistakes, loss = mistakes + 1, loss - margin
    return mistakes, mistakes, loss


OWN = dict(DEFINED)
DEFINED.clear()  # other files of tests know nothing of them


@pytest.fixture(autouse=True)
def _defined():
    DEFINED.update(OWN)


def clouds(classes=2, n=60, seed=0):
    """Whole numbers that no plane separates."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return np.rint(3 * rng.standard_normal((n, 3)) + 2 * np.eye(classes, 3)[y]), y


# ------------------------------------------------------------------------------------------------------ what is learned


@given(data=integer_sets())
def test_a_rule_is_its_plain_loop_trial_by_trial(data):
    X, label = data
    recording = record(Relaxation(overshoot=1.5, eta0=0.5, **FEW), X, label)
    w = np.zeros(X.shape[1] + 1)
    for k, i in enumerate(np.tile(np.arange(len(X)), recording.run.epochs)):
        x, y = np.append(X[i], 1.0), 2 * label[i] - 1
        margin = y * (w @ x)
        assert abs(margin) < 1e-9 or recording.mistakes[k] == (margin <= 0)
        if margin < 1:
            w += 0.5 * 1.5 * (1 - margin) / (x @ x) * y * x
        np.testing.assert_allclose(recording.W[recording.at[k], 0], w[:-1], atol=1e-9)
        np.testing.assert_allclose(recording.b[recording.at[k], 0], w[-1], atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_perceptron_written_oneself_is_the_perceptron(sparse, mode, classes):
    X, y = clouds(classes)
    X = sp.csr_matrix(X) if sparse else X
    mine, built_in = (cls(multiclass=mode, max_iter=50).fit(X, y) for cls in (Rosenblatt, Perceptron))
    np.testing.assert_array_equal(mine.coef_, built_in.coef_)
    np.testing.assert_array_equal(mine.intercept_, built_in.intercept_)
    assert mine.run_.mistakes == built_in.run_.mistakes
    assert mine.run_.stop is built_in.run_.stop


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("average", [False, True])
def test_dense_and_sparse_rows_give_the_same_and_chunks_and_single_rows_too(mode, average):
    X, y = clouds(3)
    settings = {"multiclass": mode, "average": average}
    fitted = Rosenblatt(**settings, **ONE).fit(X, y)
    ways = [
        Rosenblatt(**settings, **ONE).fit(sp.csr_matrix(X), y),
        Rosenblatt(**settings).partial_fit(X, y),
        Rosenblatt(**settings).partial_fit(X[:7], y[:7], classes=[0, 1, 2]).partial_fit(X[7:], y[7:]),
    ]
    single = Rosenblatt(**settings).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    for x, label in zip(X[1:], y[1:], strict=True):
        single.learn_one(x, label)
    for other in [*ways, single]:
        np.testing.assert_allclose(other.coef_, fitted.coef_, rtol=1e-12, atol=1e-12)
    assert single.mistakes_ == fitted.run_.mistakes[0]
    assert [single.predict_one(x) for x in X] == fitted.predict(X).tolist()


def test_an_average_is_that_of_the_weights_over_the_trials():
    X, y = clouds()
    recording = record(Relaxation(**FEW), X, y)
    average = Relaxation(average=True, **FEW).fit(X, y)
    np.testing.assert_allclose(average.coef_[0], recording.W[recording.at, 0].mean(axis=0))


@pytest.mark.parametrize("setting", [{"penalty": "l1"}, {"penalty": "l2", "alpha": 0.1}, {"schedule": "1/t"}])
def test_penalties_and_schedules_change_what_is_learned(setting):
    X, y = clouds()
    assert not np.array_equal(Relaxation(**setting, **FEW).fit(X, y).coef_, Relaxation(**FEW).fit(X, y).coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_early_stopping_shards_and_warm_starts_are_the_family_s():
    X, y = clouds(2, 200)
    assert Relaxation(early_stopping=True).fit(X, y).run_.stop is Stop.VALIDATION
    mixed = [Relaxation(shards=2, n_jobs=jobs, max_iter=5).fit(X, y).coef_ for jobs in (1, 2)]
    np.testing.assert_array_equal(*mixed)
    warm = Relaxation(warm_start=True, **ONE)
    np.testing.assert_array_equal(warm.fit(X, y).fit(X, y).coef_, Relaxation(**ONE | {"max_iter": 2}).fit(X, y).coef_)


# ----------------------------------------------------------------------------------------------------------- importance


def test_the_weight_of_a_row_multiplies_the_step_unless_the_rule_takes_it():
    X, y = np.array([[2.0], [-9.0]]), [1, 0]
    weighed = Rosenblatt(**ONE).fit(X, y, sample_weight=[5.0, 1.0])
    assert weighed.coef_.tolist() == [[10.0]]
    assert weighed.intercept_.tolist() == [5.0]
    capped = Uneven(**ONE).fit(X, y, sample_weight=[5.0, 1.0])
    assert (capped.coef_.tolist(), capped.intercept_.tolist()) == ([[6.0]], [3.0])
    squared = Uneven(power=2, caps=False, **ONE).fit(X, y, sample_weight=[5.0, 1.0])
    assert squared.coef_.tolist() == [[50.0]]
    classes = Rosenblatt(class_weight={1: 3.0}, **ONE).fit(X, y)
    assert classes.coef_.tolist() == [[6.0]]


def test_a_rule_knows_the_class_of_a_row():
    X, y = np.array([[1.0], [1.0], [-3.0], [-3.0]]), [1, 1, 0, 0]
    assert Uneven(wide=100.0, **ONE).fit(X, y).run_.updates == 2
    assert Uneven(wide=0.0, **ONE).fit(X, y).run_.updates == 1


# ------------------------------------------------------------------------------------------ mistakes that a rule leaves


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("classes", "mode"), [(2, "ovr"), (3, "ovr"), (3, "joint")])
def test_mistakes_that_a_rule_leaves_as_they_are_count_and_are_not_called_separated(sparse, classes, mode):
    @learner
    def Lazy(margin, norm):
        return 0.0, max(0.0, -margin)

    X, y = clouds(classes)
    model = Lazy(multiclass=mode).fit(sp.csr_matrix(X) if sparse else X, y)
    parts = 1 if classes == 2 or mode == "joint" else classes
    assert model.run_.mistakes == (len(y) * parts,)
    assert (model.run_.stop, model.run_.updates) == (Stop.TRAINING, 0)
    assert "an epoch passed without an update, but not without mistakes" in model.stop_reason_


def test_a_row_of_weight_zero_is_no_mistake():
    X, y = np.array([[1.0], [-1.0], [-1.0]]), [1, 0, 1]
    model = Rosenblatt(class_weight={0: 0.0}, shuffle=False).fit(X[:2], y[:2])
    assert model.run_.mistakes == (1, 0)
    assert Timid(shuffle=False, max_iter=3, tol=None).fit(X, y).run_.mistakes[-1] > 0


@needs_the_compiler
def test_proofs_are_not_made_of_steps_back():
    @learner(finite=True)
    def Back(margin, rate):
        return (rate if margin <= 0.0 else -rate if margin < 0.2 else 0.0), 0.0

    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    with pytest.raises(InvalidInput, match=r"Back returned a step .* negative, though finite=True"):
        Back().fit(X, X[:, 0] > 0)


def test_a_cycle_of_steps_that_may_be_broken_numbers_proves_nothing_by_itself():
    X, y = np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]]), [0, 1, 1, 0]
    with pytest.warns(match="as computed, no hyperplane separates the rows"):
        model = Rosenblatt(shuffle=False).fit(X, y)
    assert model.run_.stop is Stop.CYCLE


# ------------------------------------------------------------------------------------------------ as other estimators


def test_parameters_are_those_of_the_function_and_of_the_family():
    model = Uneven(wide=3, multiclass="ovo")
    assert list(model.get_params(deep=False)) == sorted(Uneven.declared)
    assert list(Uneven.declared)[:4] == ["wide", "power", "caps", "average"]
    assert {"max_iter", "eta0", "schedule", "penalty", "alpha", "shards"} <= Uneven.declared.keys()
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(wide=1.0, caps=False).wide == 1.0
    assert (Relaxation.__name__, Relaxation.__module__) == ("Relaxation", __name__)
    assert Relaxation.__doc__.startswith("Project the weights")
    assert "overshoot : float, default 1.0" in Relaxation.__doc__
    assert "coef_ : array" in Relaxation.__doc__
    assert "power : int, default 1" in Uneven.__doc__
    assert repr(Relaxation(overshoot=1.5)) == "Relaxation(overshoot=1.5)"


@pytest.mark.parametrize(
    ("chosen", "error", "words"),
    [
        ({"overshot": 1.0}, InvalidArgument, "has no parameter 'overshot'. Did you mean 'overshoot'"),
        ({"wide": "far"}, InvalidInput, "wide='far' is invalid: it must be a number"),
        ({"power": 1.5}, InvalidInput, "a whole number, as its default 1 is; write 1.0 there for any number"),
        ({"caps": "no"}, InvalidInput, "it must be True or False"),
    ],
)
def test_impossible_values_are_refused(chosen, error, words):
    cls = Uneven if "overshot" not in chosen else Relaxation
    with pytest.raises(error, match=words):
        cls(**chosen).fit(*clouds())


def test_values_of_numpy_do_what_numbers_do():
    X, y = clouds()
    plain, numpys = (
        Uneven(wide=2.0, power=2, caps=False, **FEW),
        Uneven(wide=np.float32(2), power=np.int16(2), caps=np.False_, **FEW),
    )
    np.testing.assert_array_equal(plain.fit(X, y).coef_, numpys.fit(X, y).coef_)


def test_pickles_copies_and_searches_work():
    X, y = clouds()
    model = Relaxation(overshoot=1.5, **FEW).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)
    loop = Rows(**FEW).fit(X, y)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(loop)).partial_fit(X, y).coef_, loop.partial_fit(X, y).coef_
    )
    search = GridSearchCV(Relaxation(**FEW), {"overshoot": [0.5, 1.5]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"overshoot"}
    threads = Relaxation(n_jobs=2, **FEW).fit(*clouds(4))
    np.testing.assert_array_equal(threads.coef_, Relaxation(**FEW).fit(*clouds(4)).coef_)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [Rosenblatt(), Rows()], ids=["rule", "loop"])
def test_scikit_learns_checks_pass(model):
    found = check_estimator(model, on_fail=None, on_skip=None)
    failed = {one["check_name"] for one in found if one["status"] == "failed"}
    # To see a row twice is not to see it once with weight two, in any order.
    assert {name for name in failed if "sample_weight_equivalence" not in name} == set()


# -------------------------------------------------------------------------------------------------------------- loops


@given(data=integer_sets())
def test_a_loop_is_the_algorithm_that_it_writes_down(data):
    X, label = data
    loop, rule = (cls(**ONE).fit(X, label) for cls in (Rows, Rosenblatt))
    np.testing.assert_array_equal(loop.coef_, rule.coef_)
    np.testing.assert_array_equal(loop.intercept_, rule.intercept_)
    assert loop.run_.mistakes == rule.run_.mistakes


@pytest.mark.parametrize("mode", MODES[:3])
def test_a_loop_learns_several_classes_weights_of_rows_chunks_and_single_rows(mode):
    X, y = clouds(3)
    weight = np.arange(len(y)) % 3.0
    loop, rule = (cls(multiclass=mode, **FEW).fit(X, y, sample_weight=weight) for cls in (Rows, Rosenblatt))
    np.testing.assert_array_equal(loop.coef_, rule.coef_)
    chunk, single = Rows(multiclass=mode).partial_fit(X, y), Rows(multiclass=mode)
    np.testing.assert_array_equal(chunk.coef_, Rows(multiclass=mode, **ONE).fit(X, y).coef_)
    single.partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    for x, label in zip(X[1:], y[1:], strict=True):
        single.learn_one(x, label)
    np.testing.assert_array_equal(single.coef_, chunk.coef_)
    assert Rows(fit_intercept=False, **FEW).fit(X, y).intercept_.tolist() == [0.0] * 3


def test_a_loop_refuses_what_it_cannot_do():
    @learner
    def Plain(X, y, order, weights, bias):
        for i in order:
            weights[0] += 0.0 * y[i] * X[i, 0]
        return 0, 0, 0.0

    @learner
    def Outside(X, y, order, weights, bias, past=0):
        weights[past] += 0.0
        return 1, 1, 0.0

    X, y = clouds()
    with pytest.raises(InvalidInput, match="Plain is a loop over dense rows, and X is sparse"):
        Plain().fit(sp.csr_matrix(X), y)
    with pytest.raises(InvalidInput, match="Plain takes no weights of rows or classes"):
        Plain().fit(X, y, sample_weight=np.full(len(y), 2.0))
    with pytest.raises(InvalidInput, match="Give it a parameter fit_intercept=True to receive the value"):
        Plain(fit_intercept=False).fit(X, y)
    with pytest.raises(InvalidArgument, match="shards"):
        Plain(shards=2)
    with pytest.raises(InvalidInput, match="'joint' does not exist for Plain"):
        Plain(multiclass="joint").fit(X, y)
    with pytest.raises(IndexError) as caught:
        Outside(past=3).fit(X, y)
    assert "It was raised in Outside." in caught.value.__notes__


# -------------------------------------------------------------------------------------------------------------- errors


def define(text):
    """Define a function that has no file, as in a console."""
    names = {"learner": learner, "np": np, "math": math, "__name__": __name__}
    exec(text, names)
    return names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "def Typo(marign, norm, rate): return 0.0, 0.0",
            "A rule takes margin, norm and rate, also importance and sign, and parameters with defaults; Typo takes "
            "`marign` without a default. Did you mean 'margin'?",
        ),
        ("def Bare(norm, rate): return 0.0, 0.0", "Bare takes no margin. Add it."),
        ("def Given(margin=1.0): return 0.0, 0.0", "gives margin a default, though each row has one"),
        ("def Stars(margin, *rest): return 0.0, 0.0", r"Stars takes `\*rest`. Write each by its name"),
        ("def Single(margin): return 1.0", "Single returned 1.0 for margin=-2.0. A rule returns two numbers"),
        ("def Three(margin): return 0.0, 0.0, 0.0", "A rule returns two numbers, the step and the loss"),
        ("def Text(margin, mode='fast'): return 0.0, 0.0", "Text has the default mode='fast'. Defaults are numbers"),
        ("def Taken(margin, alpha=1.0): return 0.0, 0.0", "Taken cannot call a parameter alpha"),
        ("def Batch(margin, batch=True): return 0.0, 0.0", "Batch cannot call a parameter batch"),
        ("def Fit(margin, fit=1.0): return 0.0, 0.0", "Fit cannot call a parameter fit"),
        ("def Perceptron(margin): return 0.0, 0.0", "rosenblatt has a Perceptron already"),
        ("def Fails(margin):\n    return [][1], 0.0", "Fails failed when it was tried with margin=-2.0, in line 3"),
        ("def Loop(X, y, weights): return 0, 0, 0.0", "A loop takes X, .*; Loop takes no order. Add it."),
        ("def Loop(X, y, order, weights, bias): return 0", "A loop returns three numbers"),
        ("def Loop(X, y, order, weights, bias): return X[7], 0, 0", "failed when it was tried with two rows"),
    ],
)
def test_what_is_no_rule_is_refused_when_it_is_defined(text, words):
    with pytest.raises(InvalidInput, match=words):
        define("@learner\n" + text)


def test_facts_are_of_rules_and_names_of_functions():
    with pytest.raises(InvalidInput, match="finite, zero_loss and remedy are facts of a rule"):
        define("@learner(finite=True)\ndef Loop(X, y, order, weights, bias): return 0, 0, 0.0")
    with pytest.raises(InvalidInput, match="a lambda has no name"):
        learner(lambda margin: (0.0, 0.0))
    with pytest.raises(InvalidInput, match="is not a function"):
        learner(Perceptron)


def helper(value):
    return 2.0 * value


@needs_the_compiler
def test_what_cannot_be_compiled_is_told_in_a_sentence_with_the_line():
    @learner
    def Calls(margin, rate):
        doubled = helper(margin)
        return (rate if doubled <= 0.0 else 0.0), 0.0

    @learner
    def Either(margin, rate):
        if margin > 100.0:
            return 0.0
        return rate, 0.0

    @learner
    def Classes(margin, rate):
        class Inner:
            pass

        return rate, 0.0

    @learner
    def Loop(X, y, order, weights, bias):
        return helper(0.0), 0.0, 0.0

    X, y = clouds()
    line = Calls.rule.function.__code__.co_firstlineno + 2
    with pytest.raises(InvalidInput) as caught:
        Calls().fit(X, y)
    assert f"Calls cannot be compiled, in line {line} (doubled = helper(margin)): Untyped global name" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(InvalidInput, match="Either cannot be compiled: Can't unify return type"):
        Either().partial_fit(X, y)
    with pytest.raises(InvalidInput, match=r"Classes cannot be compiled, in line \d+ \(class Inner:\)"):
        Classes().fit(X, y)
    with pytest.raises(InvalidInput, match=r"Loop cannot be compiled, in line \d+ \(return helper"):
        Loop().fit(X, y)
    assert not hasattr(Calls(), "coef_")


@needs_the_compiler
def test_a_rule_from_a_console_has_no_file_and_is_compiled_all_the_same():
    text = "@learner\ndef Typed(margin, rate):\n    return (rate if margin <= 0.0 else 0.0), 0.0\n"
    X, y = clouds()
    model = define(text)["Typed"](**FEW).fit(X, y)
    np.testing.assert_array_equal(model.coef_, Rosenblatt(**FEW).fit(X, y).coef_)


@needs_the_compiler
def test_a_step_that_is_not_finite_names_the_rule():
    @learner
    def Divides(margin, norm, rate):
        return rate / norm, 0.0

    X = np.array([[0.0], [1.0], [2.0]])
    with pytest.raises(
        InvalidInput, match="The weights overflowed float64 in epoch 1: Divides returned a step that is"
    ):
        Divides(fit_intercept=False).fit(X, [0, 0, 1])
    diverges = learner(remedy="do something else", zero_loss=0.5)(Divides.rule.function)
    with pytest.raises(InvalidInput, match="do something else"):
        diverges(fit_intercept=False).fit(X, [0, 0, 1])


def test_an_exception_of_the_rule_arrives_with_its_name():
    @learner
    def Raises(margin, norm, rate):
        if norm > 5.0:
            raise ValueError("too long")
        return (rate if margin <= 0.0 else 0.0), 0.0

    X, y = clouds()
    model = Raises()
    with pytest.raises(ValueError, match="too long") as caught:
        model.fit(X, y)
    assert "It was raised in Raises." in caught.value.__notes__
    assert not hasattr(model, "coef_")


# ----------------------------------------------------------------------------------------------------- never stale code

CELL = """
@learner
def Cell(margin, rate):
    return (rate * {factor} if margin <= 0.0 else 0.0), 0.0
"""
PROCESS = """
import numpy as np
from rosenblatt import learner
{cell}
model = Cell(shuffle=False, max_iter=1, tol=None).fit(np.array([[1.0], [-3.0]]), [1, 0])
model.learn_one(np.array([-4.0]), 1)
print(model.coef_.tolist())
"""


def test_an_edited_cell_is_the_new_rule():
    X, y = np.array([[1.0], [-3.0]]), [1, 0]
    found = []
    for factor in (1.0, 3.0, 1.0):
        model = define(CELL.format(factor=factor))["Cell"](**ONE)
        found.append(model.fit(X, y).coef_.tolist())
    assert found == [[[1.0]], [[3.0]], [[1.0]]]


@pytest.mark.long
@needs_the_compiler
def test_an_edited_cell_is_the_new_rule_in_another_process_too(tmp_path):
    env = os.environ | {"PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    found = []
    for factor in (1.0, 3.0):
        file = tmp_path / "cell.py"
        file.write_text(PROCESS.format(cell=CELL.format(factor=factor)))
        os.utime(file, (1e9, 1e9))  # an edit that no time and no size tells of
        done = subprocess.run([sys.executable, str(file)], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.strip())
    assert found == ["[[-3.0]]", "[[-9.0]]"]
    assert not [path for path in (tmp_path / "cache").rglob("*.nbi") if "Cell" in path.name]


# -------------------------------------------------------------------------------------------------------------- files


def test_a_model_is_saved_by_the_name_of_its_rule_and_goes_on(tmp_path):
    X, y = clouds(3)
    for model in (Relaxation(overshoot=1.5, average=True), Uneven(power=2, caps=False), Rows(step=2.0)):
        save(model.partial_fit(X, y), tmp_path / "own.safetensors")
        again = load(tmp_path / "own.safetensors")
        assert type(again) is type(model)
        assert again.get_params() == model.get_params()
        np.testing.assert_array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)
    linear = load_linear(tmp_path / "own.safetensors")
    assert linear.predict(X).shape == y.shape
    assert b"margin" not in (tmp_path / "own.safetensors").read_bytes()


def test_a_rule_that_is_not_defined_is_asked_for(tmp_path):
    save(Uneven().fit(*clouds()), tmp_path / "own.safetensors")
    del DEFINED["Uneven"]
    words = "define it first: with @rosenblatt.learner, by this name, with the parameters caps, power, wide"
    with pytest.raises(InvalidInput, match=words):
        load(tmp_path / "own.safetensors")
    with pytest.raises(InvalidInput, match="'Uneven'"):
        load(tmp_path / "own.safetensors")


def test_a_rule_with_other_parameters_is_not_the_one_of_the_file(tmp_path):
    save(Relaxation().fit(*clouds()), tmp_path / "own.safetensors")
    define("@learner\ndef Relaxation(margin, rate, other=1.0): return rate, 0.0")
    with pytest.raises(InvalidInput, match="the parameters of Relaxation are not"):
        load(tmp_path / "own.safetensors")
    with pytest.raises(InvalidInput, match="Relaxation was defined again after this model was made"):
        save(Relaxation(), tmp_path / "own.safetensors")


# ------------------------------------------------------------------------------------------------------------- the lab


def test_the_lab_takes_a_learner_of_ones_own():
    X, y = clouds()
    lab = explore(X[:, :2], y, learner=Relaxation(overshoot=1.5))
    assert (lab.scene["learner"], lab.scene["params"]) == ("Relaxation", {"overshoot": 1.5})
    scene = Scene.from_dict(lab.scene)
    assert Scene.from_query(scene.to_query()) == scene
    (control,) = [one for one in scene.traits.params if one.name == "overshoot"]
    assert (control.kind, control.low, control.high) == ("float", 0.0, 10.0)
    assert "# and Relaxation, as you have defined it" in python_of(scene, 3)
    assert explore(learner=Uneven).scene["learner"] == "Uneven"
    assert explore(learner=Perceptron(eta0=2.0)).scene["params"] == {"eta0": 2.0}
    with pytest.raises(InvalidInput, match="learner='int' is not known"):
        explore(learner=3)


def test_a_recording_of_it_can_be_played():
    X, y = clouds()
    for model in (Relaxation(), Rows()):
        page = one_file(model, X[:, :2], y)
        assert page.startswith("<!doctype html>")
        assert type(model).__name__ in page


def test_a_learner_that_is_defined_anew_is_the_new_one_in_the_lab():
    assert Scene.from_dict({"learner": "Relaxation"}).traits.params[0].name == "overshoot"
    define("@learner\ndef Relaxation(margin, rate, other=-1): return rate, 0.0")
    (control, *_) = Scene.from_dict({"learner": "Relaxation"}).traits.params
    assert (control.name, control.kind, control.low, control.high) == ("other", "int", -10.0, 10.0)
