"""Model files: what comes back is what was saved, and nothing but a sound model comes out of any file."""

import dataclasses
import json
import os
import pickle
import re
import subprocess
import sys
from enum import Enum
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import safetensors
import safetensors.numpy
import scipy.sparse as sp
import sklearn.linear_model
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from attacks.forge import content, join, pruned, split
from members import FAMILY, STREAMS
from rosenblatt import (
    AROW,
    AdalineRegressor,
    AssociationUnits,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
    load,
    save,
)
from rosenblatt.errors import InvalidInput
from strategies import integer_sets

TESTS = Path(__file__).parents[1]
MORE = [
    Perceptron(penalty="l1", alpha=0.01, multiclass="ovo-vote"),
    Perceptron(penalty="elasticnet", early_stopping=True, n_jobs=2),
    Perceptron(margin=(2.0, 1.0), class_weight={0: 2.0, 1: 1.0, 2: 1.0}, keep="last"),
    AveragedPerceptron(multiclass="joint", schedule="1/t", shuffle="random"),
    PassiveAggressive(C=np.inf, init=([1.0, 0.0, 0.0, 0.0], 0.5)),
]
BUDGETS = [
    KernelPerceptron(budget=5, budget_rule=rule, kernel=kernel)
    for rule, kernel in (("random", "rbf"), ("forgetron", "quadratic"), ("projectron", "rbf"), ("arow", "rbf"))
]
DUALS = [
    *(KernelPerceptron(kernel=kernel, max_iter=4) for kernel in ("linear", "quadratic", "poly", "rbf", "cosine")),
    KernelPerceptron(kernel="laplacian", gamma="auto", aggregate="vote", multiclass="ovo"),
    KernelPerceptron(kernel="poly", degree=2, coef0=0.5, gamma=2.0, fit_intercept=True, multiclass="joint"),
    *BUDGETS,
]
LAYERS = [AssociationUnits(units=units, n_units=7) for units in ("step", "sigmoid", "relu", "cosine")]
LAYERS += [AssociationUnits(fan_in=2, n_units=9, gamma=0.5, random_state=np.random.RandomState(3))]


def name(model):
    """Name a test after its model, without addresses: all workers must collect the same tests."""
    return str(model).split(" at 0x")[0]


EVERY = list({str(model): model for model in [*FAMILY, *STREAMS, *MORE]}.values())


def alike(one, other):
    """Whether two values are the same in type, shape and every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape
        return same and (one.tolist() == other.tolist() if one.dtype == object else one.tobytes() == other.tobytes())
    if isinstance(one, np.random.RandomState):
        return alike(one.get_state(), other.get_state())
    if sp.issparse(one):
        return one.shape == other.shape and all(
            alike(getattr(one, p), getattr(other, p)) for p in ("data", "indices", "indptr")
        )
    if isinstance(one, Enum):
        return one is other
    if dataclasses.is_dataclass(one):
        return alike(vars(one), vars(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(alike(*pair) for pair in zip(one, other, strict=True))
    return one == other or (one != one and other != other)


def state(model):
    """Return all that a model is made of, without the time that the clock showed."""
    parts = {name: value for name, value in vars(model).items() if name != "_turn"}
    if "_stream" in parts:
        stream = parts.pop("_stream")
        parts |= {"learned": stream.learned, "updates": getattr(stream, "updates", None)}
    if "run_" in parts:
        parts["run_"] = dataclasses.replace(parts["run_"], seconds=0.0)
    return parts


def there_and_back(model, folder):
    save(model, folder / "model.safetensors")
    return load(folder / "model.safetensors")


def rows(dtype=np.float64, n=40):
    rng = np.random.default_rng(0)
    return (rng.integers(0, 3, (n, 4)) / 4).astype(dtype), np.arange(n) % 3


@pytest.mark.parametrize("model", [*EVERY, *DUALS, *LAYERS], ids=name)
def test_a_model_without_a_fit_comes_back_with_its_parameters(model, tmp_path):
    back = there_and_back(model, tmp_path)
    assert type(back) is type(model)
    assert alike(back.get_params(), model.get_params())
    assert vars(back).keys() == vars(model).keys()


@pytest.mark.long
@pytest.mark.parametrize("model", EVERY, ids=str)
@pytest.mark.parametrize(
    ("dtype", "index", "classes"),
    [(np.float64, None, 3), (np.float32, None, 2), (np.float64, np.int32, 2), (np.float32, np.int64, 3)],
    ids=["dense", "dense32", "csr", "csr32"],
)
def test_a_model_comes_back_as_it_was(model, dtype, index, classes, tmp_path):
    X, y = rows(dtype)
    y = y % classes
    stored = X
    if index is not None:
        stored = sp.csr_array(X)
        stored.indices, stored.indptr = stored.indices.astype(index), stored.indptr.astype(index)
    if isinstance(getattr(model, "class_weight", None), dict):
        model = clone(model).set_params(class_weight=dict.fromkeys(range(classes), 2.0))
    fitted = clone(model).fit(stored, y)
    before = pickle.loads(pickle.dumps(fitted))
    back = there_and_back(fitted, tmp_path)
    assert alike(state(back), state(before))
    assert alike(state(fitted), state(before))  # to save changes nothing
    assert alike(back.run_, fitted.run_) if hasattr(fitted, "run_") else isinstance(fitted, MaximumMargin)
    for other in (X, sp.csr_array(X), X.astype(np.float32)):
        assert alike(back.predict(other), fitted.predict(other))
        if hasattr(fitted, "decision_function"):
            assert alike(back.decision_function(other), fitted.decision_function(other))
    if isinstance(fitted, VotedPerceptron):
        for way in ("vote", "average", "last"):
            assert alike(back.decision_function(X, aggregate=way), fitted.decision_function(X, aggregate=way))


@pytest.mark.long
@pytest.mark.parametrize("model", [*STREAMS, *MORE, Winnow(balanced=False)], ids=str)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=integer_sets(classes=3, most_rows=16, most_features=4),
    multiclass=st.sampled_from(["ovr", "ovo", "ovo-vote", "joint"]),
    more=st.data(),
)
def test_a_stream_goes_on_as_if_nothing_had_happened(model, data, multiclass, more, tmp_path):
    X, label = data
    if not getattr(model, "balanced", True):
        X = np.abs(X)
    multiclass = multiclass if multiclass in model.modes else "ovr"
    stream = clone(model).set_params(multiclass=multiclass)
    if getattr(stream, "early_stopping", False):  # for fits only
        stream.set_params(early_stopping=False)
    if getattr(stream, "init", None) is not None:
        stream.set_params(init=(np.linspace(0, 1, X.shape[1]), 0.5))
    announced = {} if stream.supports_new_classes and more.draw(st.booleans()) else {"classes": [0, 1, 2]}
    cut = more.draw(st.integers(1, len(X) - 1))
    sparse = more.draw(st.booleans())
    stored = sp.csr_array(X) if sparse else X
    stream.partial_fit(stored[:cut], label[:cut], **announced)
    back = there_and_back(stream, tmp_path)
    for each in (stream, back):
        each.partial_fit(stored[cut:], label[cut:])
    assert alike(state(back), state(stream))
    again = there_and_back(back, tmp_path)
    for each in (stream, again):  # a class that nobody announced, and rows of the other storage
        labels = np.full(len(X), 7 if stream.supports_new_classes and not stream.class_weight else 1)
        each.partial_fit(X if sparse else sp.csr_array(X), labels)
    assert alike(state(again), state(stream))


STORAGES = {
    "dense": np.asarray,
    "dense32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
    "csr32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("model", DUALS, ids=str)
@pytest.mark.parametrize(
    "storage", ["dense", "csr", *(pytest.param(name, marks=pytest.mark.long) for name in ("dense32", "csr32"))]
)
def test_an_expansion_comes_back_as_it_was(model, storage, tmp_path):
    X, y = rows()
    fitted = clone(model).fit(STORAGES[storage](X), y)
    back = there_and_back(fitted, tmp_path)
    assert alike(state(back), state(fitted))
    assert alike(back.run_, fitted.run_)
    for way in ("last", "average", "vote") if model.budget is None else ("last",):
        for store in STORAGES.values():
            assert alike(back.decision_function(store(X), way), fitted.decision_function(store(X), way))
            assert alike(back.predict(store(X), way), fitted.predict(store(X), way))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_expansion_in_given_similarities_comes_back(dtype, tmp_path):
    X, y = rows(dtype)
    K = (1 + X @ X.T) ** 2
    fitted = KernelPerceptron(kernel="precomputed", warm_start=True, max_iter=3, tol=None).fit(K, y)
    back = there_and_back(fitted, tmp_path)
    assert alike(state(back), state(fitted))
    for way in ("last", "average", "vote"):
        assert alike(back.decision_function(K, way), fitted.decision_function(K, way))
    assert alike(state(back.fit(K, y)), state(fitted.fit(K, y)))


@pytest.mark.parametrize("model", [*BUDGETS, KernelPerceptron(), KernelPerceptron(kernel="laplacian")], ids=str)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=integer_sets(classes=3, most_rows=16, most_features=4),
    multiclass=st.sampled_from(["ovr", "ovo", "ovo-vote", "joint"]),
    sparse=st.booleans(),
    more=st.data(),
)
def test_a_stream_in_the_dual_goes_on_as_if_nothing_had_happened(model, data, multiclass, sparse, more, tmp_path):
    X, label = data
    stream = clone(model).set_params(multiclass=multiclass)
    cut = more.draw(st.integers(1, len(X) - 1))
    stored = sp.csr_array(X) if sparse else X
    stream.partial_fit(stored[:cut], label[:cut])
    back = there_and_back(stream, tmp_path)
    for each in (stream, back):
        each.partial_fit(stored[cut:], label[cut:])
    assert alike(state(back), state(stream))
    again = there_and_back(back, tmp_path)
    for each in (stream, again):  # a class that nobody announced, and rows of the other storage
        each.partial_fit(X if sparse else sp.csr_array(X), np.full(len(X), 7))
    assert alike(state(again), state(stream))
    assert alike(again.decision_function(X), stream.decision_function(X))


@pytest.mark.parametrize("model", LAYERS, ids=name)
@pytest.mark.parametrize("storage", STORAGES)
def test_a_layer_comes_back_as_it_was(model, storage, tmp_path):
    X, _ = rows()
    fitted = clone(model).fit(STORAGES[storage](X))
    back = there_and_back(fitted, tmp_path)
    for name in ("weights_", "bias_", "gamma_", "n_features_in_"):
        assert alike(vars(back)[name], vars(fitted)[name])
    for store in STORAGES.values():
        assert alike(back.transform(store(X)), fitted.transform(store(X)))
    assert back.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


def test_regression_and_warm_starts_go_on_too(tmp_path):
    X, y = rows()
    stream = AdalineRegressor().partial_fit(X, X[:, 0])
    back = there_and_back(stream, tmp_path)
    assert alike(state(back.partial_fit(X, X[:, 0])), state(stream.partial_fit(X, X[:, 0])))
    for model in (Perceptron(penalty="l2"), AveragedPerceptron(), AROW(), SoftMargin(average=True), Winnow()):
        fitted = model.set_params(warm_start=True, max_iter=3, tol=None).fit(X, y)
        back = there_and_back(fitted, tmp_path)
        assert alike(state(back.fit(X, y)), state(fitted.fit(X, y)))


def test_single_rows_go_on_too(tmp_path):
    X, y = rows()
    model = Perceptron().partial_fit(X, y % 2)
    for x, label in zip(X, y % 2, strict=True):
        model.learn_one(x, int(label))
    back = there_and_back(model, tmp_path)
    for x, label in zip(X[::-1], y[::-1] % 2, strict=True):
        assert back.learn_one(x, int(label)) == model.learn_one(x, int(label))
    model.partial_fit(X, y % 2)
    back.partial_fit(X, y % 2)
    assert alike(back.coef_, model.coef_)
    assert alike(back._stream.learned, model._stream.learned)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2],
        np.array([0, 1, 2], np.uint8),
        [-1.0, 0.0, 5.0],
        [False, True, True],
        ["", "no", "Zürich 東京"],
        np.array(["a", "b", "c"], "U40"),
        np.array(["a", "bb", "\ud800\0c"], object),
        np.array([1, 2, 10**30], object),
        np.array([True, False, True], object),
    ],
    ids=str,
)
def test_labels_of_any_type_come_back(labels, tmp_path):
    X, y = rows()
    model = PassiveAggressive().fit(X, np.asarray(labels)[y])
    back = there_and_back(model, tmp_path)
    assert alike(back.classes_, model.classes_)
    assert alike(back.predict(X), model.predict(X))


def test_names_of_features_come_back(tmp_path):
    X, y = rows()
    frame = pd.DataFrame(X, columns=["", "length", "Größe", "x" * 1000])
    back = there_and_back(Perceptron().fit(frame, y), tmp_path)
    assert back.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        back.predict(frame.rename(columns={"length": "width"}))


@pytest.mark.parametrize(
    "parameters",
    [
        {"random_state": None},
        {"random_state": 2**31, "max_iter": np.int64(7), "tol": np.float32(0.1), "shuffle": "random"},
        {"init": (np.arange(4.0)[::-1], np.float64(0.5)), "class_weight": {"a": 1, "b": np.float16(2.0)}},
        {"tol": -np.inf, "alpha": float("nan"), "class_weight": {1: 2.0, False: 1, np.str_("x"): 0}},
        {"margin": [1, 2.0], "class_weight": "balanced", "max_iter": 10**100, "verbose": np.True_},
    ],
    ids=str,
)
def test_parameters_come_back_in_value_and_type(parameters, tmp_path):
    back = there_and_back(Perceptron(**parameters), tmp_path)
    assert alike(back.get_params(), Perceptron(**parameters).get_params())


def test_a_random_state_goes_on_where_it_was(tmp_path):
    X, y = rows()
    model = Perceptron(random_state=np.random.RandomState(5), max_iter=3, tol=None).fit(X, y)
    model.random_state.standard_normal(3)  # leaves one in store
    back = there_and_back(model, tmp_path)
    assert back.random_state.standard_normal(5).tolist() == model.random_state.standard_normal(5).tolist()
    assert alike(back.fit(X, y).coef_, model.fit(X, y).coef_)
    with pytest.raises(InvalidInput, match=r"PCG64.*Pass a seed"):
        save(Perceptron(random_state=np.random.RandomState(np.random.PCG64(0))), tmp_path / "x")


def test_a_long_record_comes_back(tmp_path):
    X, y = rows()
    model = Perceptron(max_iter=500, tol=None).fit(X, y)
    assert len(model.run_.mistakes) == 500
    back = there_and_back(model, tmp_path)
    assert alike(back.run_, model.run_)
    assert back.run_.guarantees() == model.run_.guarantees()


def test_equal_arrays_are_stored_once_and_come_back_apart(tmp_path):
    X, y = rows()
    model = there_and_back(Perceptron().partial_fit(X, y % 2), tmp_path)
    header, _ = split((tmp_path / "model.safetensors").read_bytes())
    assert sum(entry["shape"] == [1, 4] for entry in header.values() if "shape" in entry) == 1
    held = model.coef_
    model.partial_fit(X, y % 2)
    assert not np.array_equal(model.coef_, held)


# ------------------------------------------------------------------------------------------------- what is not saved


@pytest.mark.parametrize("parameter", ["callback", "schedule"])
def test_functions_are_refused_by_name_with_the_remedy(parameter, tmp_path):
    model = Perceptron(**{parameter: lambda epoch: 1.0})
    with pytest.raises(InvalidInput, match=rf"{parameter}=.*set_params\({parameter}=") as caught:
        save(model, tmp_path / "x")
    assert not list(tmp_path.iterdir())
    remedy = re.search(r"set_params\((\w+)=(\w+|'\w+')\)", str(caught.value))
    model.set_params(**{parameter: None if remedy[2] == "None" else remedy[2].strip("'")})
    there_and_back(model.fit(*rows()), tmp_path)


def common(one, other):
    return len(set(one) & set(other))


@pytest.mark.parametrize(
    ("kernel", "X"),
    [(common, ["abc", "cab", "xyz", "xyw"]), (lambda A, B: A @ B.T, [[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 3.0]])],
    ids=["words", "vectors"],
)
def test_a_kernel_that_is_a_function_is_refused_with_a_remedy_that_works(kernel, X, tmp_path):
    model = KernelPerceptron(kernel=kernel)
    with pytest.raises(InvalidInput, match=r"kernel=.*set_params\(kernel='rbf'\)"):
        save(model, tmp_path / "x")
    y = [0, 0, 1, 1]
    model.fit(X, y)
    with pytest.raises(InvalidInput, match=r"kernel=<function.*kernel='precomputed' on the similarities"):
        save(model, tmp_path / "x")
    assert not list(tmp_path.iterdir())
    X = X if kernel is common else np.array(X)
    K = np.array([[common(a, b) for a in X] for b in X]) if kernel is common else kernel(X, X)
    back = there_and_back(KernelPerceptron(kernel="precomputed").fit(K, y), tmp_path)
    assert back.predict(K).tolist() == model.predict(X).tolist()
    if kernel is not common:  # what was left by the function is no hindrance
        assert there_and_back(model.set_params(kernel="rbf").fit(X, y), tmp_path).kernel == "rbf"


def test_a_budget_is_saved_only_with_what_it_remembers(tmp_path):
    X, y = rows()
    for before, after in ((5, None), (5, 6), (None, 5)):
        model = KernelPerceptron(budget=before).partial_fit(X, y).set_params(budget=after)
        with pytest.raises(InvalidInput, match=r"Set it|born of the memory"):
            save(model, tmp_path / "x")
    for rule in ("random", "projectron"):
        model = KernelPerceptron(budget=5, budget_rule="forgetron").partial_fit(X, y).set_params(budget_rule=rule)
        with pytest.raises(InvalidInput, match="the memory is one of the rule 'forgetron'"):
            save(model, tmp_path / "x")


class Own(Perceptron):
    pass


@pytest.mark.parametrize(
    "thing",
    [sklearn.linear_model.Perceptron(), StandardScaler(), Own(), Perceptron, 3],
    ids=str,
)
def test_what_is_not_of_the_family_is_refused(thing, tmp_path):
    with pytest.raises(InvalidInput, match="cannot be saved: files hold"):
        save(thing, tmp_path / "x")


def spoil(name, value):
    def change(model):
        setattr(model, name, value)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: setattr(model._stream, "classes", np.array([2, 1, 0])), "not sorted"),
        (spoil("n_features_in_", 7), "the weights are of 4 features"),
        (spoil("note", "mine"), "it has note"),
        (spoil("max_iter", 0), "max_iter=0"),
        (spoil("class_weight", [lambda: 1]), "class_weight.0 is or holds a function"),
        (spoil("max_iter", 10**5000), "max_iter"),
        (spoil("random_state", np.random.default_rng(0)), "random_state=Generator"),
        (lambda model: vars(model).pop("run_"), "no .*run_.*Fit it again"),
        (lambda model: model.class_weight.update(x=model.class_weight), "nested too deeply"),
    ],
)
def test_a_model_that_is_not_whole_is_not_saved(change, message, tmp_path):
    model = Perceptron(class_weight={0: 1.0, 1: 1.0, 2: 1.0}).fit(*rows())
    change(model)
    with pytest.raises(InvalidInput, match=message):
        save(model, tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_after_a_fit_that_failed_a_model_is_saved_if_it_is_whole(tmp_path):
    model = Perceptron()
    with pytest.raises(InvalidInput, match="one"):
        model.fit(np.eye(3), [1, 1, 1])
    assert not hasattr(there_and_back(model, tmp_path), "n_features_in_")
    model.fit(*rows())
    with pytest.raises(InvalidInput, match="one"):
        model.fit(np.eye(3), [1, 1, 1])
    assert there_and_back(model, tmp_path).n_features_in_ == 4  # as if that fit had not been tried


# ---------------------------------------------------------------------------------------------------------- the file


def test_the_safetensors_library_reads_the_file(tmp_path):
    X, y = rows(np.float32)
    model = AROW().fit(X, y)
    path = tmp_path / "model.safetensors"
    save(model, path)
    tensors = safetensors.numpy.load_file(path)
    assert alike(tensors["model.W"], model.coef_)
    assert alike(tensors["learned.state.V"], model._stream.state.V)


@pytest.mark.parametrize("as_path", [str, Path])
def test_paths_may_be_text_or_path(as_path, tmp_path):
    save(Perceptron(max_iter=3), as_path(tmp_path / "x"))
    assert load(as_path(tmp_path / "x")).max_iter == 3


def test_places_without_a_file_are_named(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    with pytest.raises(InvalidInput, match="is a directory"):
        load(tmp_path)
    with pytest.raises(InvalidInput, match="is a directory"):
        save(Perceptron(), tmp_path)
    with pytest.raises(FileNotFoundError, match="no such directory"):
        save(Perceptron(), tmp_path / "nowhere" / "x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="not a file"):  # and does not wait for a writer
        load(tmp_path / "pipe")


def test_a_link_stays_a_link_to_the_file_that_is_replaced(tmp_path):
    save(Perceptron(), tmp_path / "x")
    (tmp_path / "link").symlink_to("x")
    save(Perceptron(max_iter=5), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "x").max_iter == 5


# ------------------------------------------------------------------------------------------- files not to be trusted


@pytest.mark.parametrize("mutants", [500, pytest.param(1500, marks=pytest.mark.long)])
def test_no_damaged_or_forged_file_gives_anything_but_a_sound_model(mutants):
    command = [sys.executable, "-m", "attacks.fuzz_models", "--mutants", str(mutants)]
    # Loops as plain Python: whatever they read or wrote outside of an array would be an error.
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    result = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False, timeout=600, env=plain)
    assert result.returncode == 0, result.stdout + result.stderr
    counts = json.loads(result.stdout.splitlines()[0].partition(": ")[2])
    assert sum(counts.values()) == mutants
    assert counts["refused"] > mutants // 3
    assert counts["resumed"] > mutants // 50
    assert counts["loaded"] > mutants // 8  # else the lies are too coarse to get past the first check


@pytest.fixture
def forged(tmp_path):
    """Write a file that was changed by a function of its header, its model and its tensors; give what loading says."""

    def refused(change, model=None, prune=False):
        save(model or Perceptron(random_state=np.random.RandomState(0)).fit(*rows()), tmp_path / "x")
        header, tensors = split((tmp_path / "x").read_bytes())
        node = content(header)
        tensors = change(header, node, tensors) or tensors
        if prune:  # what is used by nothing now
            tensors = pruned(header, node, tensors)
        (tmp_path / "x").write_bytes(join(header, tensors, model=node))
        with pytest.raises(InvalidInput) as caught:
            load(tmp_path / "x")
        assert "Pass a file that rosenblatt.save wrote" in str(caught.value)
        return str(caught.value)

    return refused


@pytest.fixture
def saved(tmp_path):
    """Give the JSON that stands for a model."""

    def node(model):
        save(model, tmp_path / "x")
        return content(split((tmp_path / "x").read_bytes())[0])

    return node


def test_files_of_another_kind_are_refused(tmp_path):
    path = tmp_path / "x"
    for data in (b"", b"1234567", b"\xff" * 100, pickle.dumps(Perceptron()), b"\x02" + bytes(7) + b"{}"):
        path.write_bytes(data)
        with pytest.raises(InvalidInput, match="cannot be loaded"):
            load(path)
    safetensors.numpy.save_file({"coef_": np.ones(3)}, path)
    with pytest.raises(InvalidInput, match="not a model file of rosenblatt"):
        load(path)


def edit(*way, to):
    """Set a part of the model's JSON."""

    def change(header, node, tensors):
        for key in way[:-1]:
            node = node[key]
        node[way[-1]] = to

    return change


def drop(*way):
    def change(header, node, tensors):
        for key in way[:-1]:
            node = node[key]
        del node[way[-1]]

    return change


HELD = ("attributes", "learned", "record", 1)
STATE = (*HELD, "state", "record", 1)
DRAWN = ("parameters", "random_state", "RandomState")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit("class", to="os.system"), "'os.system', which is not one of"),
        (edit("class", to="sklearn.svm.SVC"), "which is not one of"),
        (edit("class", to={}), "it has no text 'class'"),
        (edit("class", to="AROW"), "the parameters of AROW are not"),
        (edit("parameters", to="x"), "belong to nothing"),
        (edit("more", to={}), "other names than class, parameters, attributes"),
        (drop("attributes"), "belong to nothing"),
        (drop("parameters", "alpha"), "the parameters of Perceptron are not"),
        (edit("parameters", "callback", to="print"), "callback='print' is invalid"),
        (edit("parameters", "n_jobs", to={"os": "system"}), "the unknown tag 'os'"),
        (edit("parameters", "n_jobs", to={}), "0 tags"),
        (edit("parameters", "n_jobs", to=[1]), "n_jobs=[1] is invalid"),
        (
            edit("parameters", "multiclass", to="ovo"),
            None,
        ),  # three classes have three pairs: the size fits, the code too
        (edit("parameters", "multiclass", to=3), "multiclass=3"),
        (edit("parameters", "max_iter", to=-1), "max_iter=-1"),
        (edit(*DRAWN, "pos", to=10**6), "random_state is not a state"),
        (edit(*DRAWN, "pos", to=-1), "random_state is not a state"),
        (edit(*DRAWN, "key", to="model.W"), "do not belong there"),
        (edit("attributes", "__class__", to=1), "__class__, which Perceptron does not have"),
        (edit("attributes", "max_iter", to=1), "max_iter, which Perceptron does not have"),
        (drop("attributes", "n_features_in_"), "no n_features_in_"),
        (edit("attributes", "n_features_in_", to=10**6), "the weights are of 4 features"),
        (edit("attributes", "model", to=1.0), "the file does not contain a LinearModel"),
        (edit(*HELD, "classes", to={"text": "model.W"}), "do not belong there"),
        (edit(*HELD, "classes", to={"objects": [1, "a", 2.5]}), "not sorted"),
        (edit(*HELD, "classes", to={"objects": [None, None]}), "labels"),
        (edit(*HELD, "trials", to=-1), "trials=-1 is not a count"),
        (edit(*HELD, "names", to={"tuple": ["a"]}), "features"),
        (edit("attributes", "stop_reason_", to=7), "stop_reason_=7 is not what a fit would set"),
        (edit("attributes", "feature_names_in_", to={"objects": ["a", "b"]}), "is not 4 names"),
        (edit("attributes", "run_", to={"record": ["Popen", {}]}), "no record 'Popen'"),
        (edit("attributes", "run_", "record", 1, "stop", to={"enum": ["Stop", "NEVER"]}), "no Stop 'NEVER'"),
        (edit("attributes", "run_", "record", 1, "stop", to="SEPARATED"), "a Run.stop is not of type"),
        (edit("attributes", "run_", "record", 1, "stops", to={"tuple": ["a"]}), "a Run.stops is not of type"),
        (edit("attributes", "run_", "record", 1, "epochs", to=0), "a run has no epochs"),
        (drop("attributes", "run_", "record", 1, "kept"), "an entry has other names than"),
        (edit("attributes", "learned", to=[]), "belong to nothing"),
        (edit(*STATE, "W", to={"tensor": "learned.state.paid"}), "the weights are of 0 features"),
        (edit(*STATE, "b", to={"tensor": "model.W"}), "biases of shape"),
        (edit(*STATE, "W", to={"tensor": "gone"}), "no tensor 'gone'"),
        (edit("parameters", "init", to={"tuple": [{"tensor": "model.W"}] * 9}), "used more than 8 times"),
    ],
)
def test_a_lie_under_a_true_seal_is_refused(change, message, forged):
    if message is None:
        with pytest.raises(pytest.fail.Exception):
            forged(change)
    else:
        assert message in forged(change)


def entry(name, **changes):
    def change(header, node, tensors):
        header[name].update(changes)

    return change


def replace(name, value):
    """Put other bytes into a tensor."""

    def change(header, node, tensors):
        start, end = header[name]["data_offsets"]
        return (
            tensors[:start]
            + np.resize(np.array(value), (end - start) // np.array(value).nbytes).tobytes()
            + tensors[end:]
        )

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (entry("learned.state.t", dtype="F64"), "t of the state has dtype"),
        (entry("model.W", shape=[4, 3]), "W has shape (4, 3)"),
        (replace("model.W", np.nan), "W has values that are not finite"),
        (replace("learned.state.scale", np.inf), "scale of the state has values that are not finite"),
        (replace("learned.state.scale", 0.0), "scales that are not positive"),
        (replace("learned.state.t", -5), "fewer than no trials"),
        (replace("model.classes", 3), "classes_ are not sorted"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(change, message, forged):
    assert message in forged(change)


def test_updates_that_do_not_fit_are_refused(forged):
    X, y = rows()
    for stored in (X, sp.csr_array(X)):
        model = VotedPerceptron(max_iter=2).fit(stored, y)
        way = ("attributes", "updates", 0, "record", 1)
        assert "belong to nothing" in forged(edit(*way, "factor", to={"tensor": "model.b"}), model)
        assert "kept its updates" in forged(drop("attributes", "updates", 0), model, prune=True)
        assert "an entry has other names than" in forged(drop(*way, "trial"), model, prune=True)
        assert "trials of the updates has" in forged(entry("updates.0.trial", dtype="F64"), model)
    size = model._stream.updates[0].factor.size
    assert "damaged" in forged(replace("updates.0.rows.indices", np.int32(4)), model)
    assert "damaged" in forged(replace("updates.0.rows.indices", np.int32(-1)), model)
    assert "damaged" in forged(replace("updates.0.rows.indptr", np.int32(5)), model)
    assert "NaN" in forged(replace("updates.0.rows.data", np.nan), model)
    assert "have another size" in forged(edit(*way, "rows", "csr_matrix", "shape", to=[size, 5]), model)


LEARNED = ("attributes", "_expansion", "record", 1)
LOGGED = (*LEARNED, "log", "record", 1)


def test_expansions_that_do_not_fit_are_refused(forged):
    X, y = rows()
    stream = KernelPerceptron(kernel="rbf", multiclass="ovr").partial_fit(X, y)
    count = stream._expansion.rows.size
    for wild in (count, -1, 2**40):
        assert "slot of the log is beyond" in forged(replace("_expansion.log.slot", wild), stream)
    for wild in (4, -1, 2**40):  # three classes and the reserve class
        assert "problem of the log is beyond" in forged(replace("_expansion.log.problem", wild), stream)
    for wild in (-1, 2**40):
        assert "trial of the log is beyond" in forged(replace("_expansion.log.trial", wild), stream)
    assert "step of the log has values" in forged(replace("_expansion.log.step", np.nan), stream)
    assert "slot of the log has dtype" in forged(entry("_expansion.log.slot", dtype="F64"), stream)
    assert "problem of the log has shape" in forged(
        edit(*LOGGED, "problem", to={"tensor": "_expansion.trials"}), stream, prune=True
    )
    assert "the expansion has 4 problems, not 3" in forged(edit("parameters", "multiclass", to="joint"), stream)
    assert "coefficients has shape" in forged(
        edit(*LEARNED, "rows", to={"tensor": "_expansion.coef"}), stream, prune=True
    )
    assert "numbers of the support has shape" in forged(entry("_expansion.rows", shape=[count, 1]), stream)
    assert "trials has dtype" in forged(entry("_expansion.trials", dtype="F64"), stream)
    assert "below zero" in forged(replace("_expansion.trials", -3), stream)
    assert "coefficients has values" in forged(replace("_expansion.coef", np.inf), stream)
    assert "the coefficients has shape" in forged(entry("_expansion.coef", shape=[count, 4]), stream)
    assert "vectors of the expansion has shape" in forged(edit("attributes", "n_features_in_", to=5), stream)
    assert "gamma_=None" in forged(drop("attributes", "gamma_"), stream)
    assert "gamma_=-1.0" in forged(edit("attributes", "gamma_", to=-1.0), stream)
    assert "vectors of the expansion has dtype" in forged(edit("parameters", "kernel", to="precomputed"), stream)
    assert "the expansion is not a Expansion" in forged(edit("attributes", "_expansion", to=3), stream, prune=True)
    assert "budget=3 is not" in forged(edit("parameters", "budget", to=3), stream)


def test_sparse_expansions_that_do_not_fit_are_refused(forged, saved):
    X, y = rows()
    stream = KernelPerceptron(kernel="laplacian").partial_fit(sp.csr_array(X), y)
    name = saved(stream)["attributes"]["_expansion"]["record"][1]["vectors"]["csr_matrix"]["indices"]
    for wild in (4, -1):
        assert "damaged" in forged(replace(name, np.int32(wild)), stream)
    assert "damaged" in forged(replace(name.replace("indices", "indptr"), np.int32(5)), stream)
    assert "NaN" in forged(replace(name.replace("indices", "data"), np.nan), stream)
    assert "have columns out of order" in forged(replace(name, np.int32(2)), stream)
    vectors = ("attributes", "_expansion", "record", 1, "vectors")
    tall = stream._expansion.rows.size
    assert "another size" in forged(edit(*vectors, "csr_matrix", "shape", to=[tall, 5]), stream)
    made = {"csc_matrix": {**saved(stream)["attributes"]["_expansion"]["record"][1]["vectors"]["csr_matrix"]}}
    made["csc_matrix"]["shape"] = [4, tall]
    assert "vectors of the expansion is not an array" in forged(edit(*vectors, to=made), stream)


def test_numbers_of_similarities_that_are_not_there_are_refused(forged):
    X, y = rows()
    model = KernelPerceptron(kernel="precomputed", max_iter=3).fit(X @ X.T, y)
    assert "are not among the 40 rows" in forged(replace("_expansion.vectors", 40), model)
    assert "below zero" in forged(replace("_expansion.vectors", -1), model)
    assert "are not among the 3 rows" in forged(edit("attributes", "n_features_in_", to=3), model)
    assert "vectors of the expansion has dtype" in forged(edit("parameters", "kernel", to="linear"), model)


@pytest.mark.parametrize("model", BUDGETS, ids=str)
def test_memories_that_do_not_fit_are_refused(model, forged):
    X, y = rows()
    stream = clone(model)
    for _ in range(3):  # so that vectors were not born with every row
        stream.partial_fit(X, y)
    memory = ("attributes", "_memory", "record", 1)
    assert "the memory counts 6" in forged(replace("_memory.count", 6), stream)
    assert "the memory counts -1" in forged(replace("_memory.count", -1), stream)
    if model.budget_rule in ("random", "forgetron"):
        assert "vectors of the future" in forged(replace("_memory.born", 2**40), stream)
        assert "vectors of the future" in forged(replace("_memory.born", -1), stream)
    else:
        assert "factor of the memory is singular" in forged(replace("_memory.gram", 0.0), stream)
        assert "lag of the memory has values" in forged(replace("_memory.lag", np.nan), stream)
        narrow = edit(*memory, "lag", to={"tensor": "_memory.damage"})
        assert "lag of the memory has shape" in forged(narrow, stream, prune=True)
    if model.budget_rule == "arow":
        assert "variances below zero" in forged(replace("_memory.variance", -1.0), stream)
    assert " of the memory has shape" in forged(edit("parameters", "budget", to=2**31), stream)
    assert "budget=None is not" in forged(edit("parameters", "budget", to=None), stream)
    assert "budget=5 is not" in forged(drop("attributes", "_memory"), stream, prune=True)
    assert "errors of the memory has dtype" in forged(
        edit(*memory, "errors", to={"tensor": "_memory.count"}), stream, prune=True
    )
    assert "the memory.rule is not of type" in forged(edit(*memory, "rule", to=1), stream)
    for rule in {"arow", "projectron", "random", "forgetron"} - {model.budget_rule}:
        assert "one of the rule" in forged(edit("parameters", "budget_rule", to=rule), stream)
        assert "one of the rule" in forged(edit(*memory, "rule", to=rule), stream)
    if model.budget_rule != "random":
        assert "gram of the memory has values" in forged(replace("_memory.gram", np.nan), stream)
        assert "gram of the memory has shape" in forged(entry("_memory.gram", shape=[25, 1]), stream)


def test_layers_that_do_not_fit_are_refused(forged, saved):
    X, _ = rows()
    dense, sparse = AssociationUnits(n_units=6).fit(X), AssociationUnits(n_units=6, fan_in=2).fit(X)
    assert "weights_ has shape" in forged(edit("attributes", "n_features_in_", to=5), dense)
    assert "weights_ has shape" in forged(entry("weights_", shape=[6, 4]), dense)
    assert "weights_ has values" in forged(replace("weights_", np.inf), dense)
    assert "bias_ has shape" in forged(edit("attributes", "_n_features_out", to=5), dense)
    assert "units='ovo'" in forged(edit("parameters", "units", to="ovo"), dense)
    assert "gamma_=0.0" in forged(edit("attributes", "gamma_", to=0.0), dense)
    for wild in (4, -1):
        assert "damaged" in forged(replace("weights_.indices", np.int32(wild)), sparse)
    assert "damaged" in forged(replace("weights_.indptr", np.int32(13)), sparse)
    assert "weights_ have another size" in forged(
        edit("attributes", "weights_", "csc_matrix", "shape", to=[5, 6]), sparse
    )
    way = ("attributes", "weights_")
    turned = {**saved(sparse)["attributes"]["weights_"]["csc_matrix"], "shape": [6, 4]}
    assert "weights_ is not an array" in forged(edit(*way, to={"csr_matrix": turned}), sparse)


def test_pickle_and_clone_go_on_working(tmp_path):
    X, y = rows()
    back = there_and_back(VotedPerceptron().fit(X, y), tmp_path)
    assert alike(state(pickle.loads(pickle.dumps(back))), state(back))
    assert alike(clone(back).get_params(), back.get_params())
    assert isinstance(there_and_back(PocketPerceptron().fit(X, y), tmp_path).score(X, y), float)
