"""Learned arrays replaced by hand: loops check no index, so none may run before the arrays were compared."""

from dataclasses import replace

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from rosenblatt import (
    ALMA,
    AROW,
    Adaline,
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    PNormPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
)
from rosenblatt.errors import InvalidInput
from rosenblatt.training.named_rows import NamedColumns

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (30, 5)).astype(float)
Y = RNG.integers(0, 3, 30)
MODELS = [
    Perceptron(),
    Perceptron(multiclass="joint"),
    AveragedPerceptron(),
    SoftMargin(average=False),
    SoftMargin(penalty="l1"),
    AROW(),
    AROW(covariance="full"),
    PNormPerceptron(),
    ALMA(),
    Winnow(),
    VotedPerceptron(),
    Adaline(),
]


def learned(model):
    """Return the model after a fit and single rows, so that compiled calls are bound to its arrays."""
    model = model.fit(X, Y)
    model.learn_one(X[0], 1)
    model.predict_one(X[0])
    return model


def narrow(array):
    """Return an array with the last side shorter by one."""
    return np.ascontiguousarray(array[..., :-1])


def fewer(array):
    """Return an array of one problem less."""
    return array[:-1].copy()


def other_dtype(array):
    """Return the same values in another type."""
    return array.astype(np.int32 if array.dtype.kind == "i" else np.float16)


def scattered(array):
    """Return the same values with gaps between them."""
    return np.repeat(array, 2, axis=-1)[..., ::2]


USES = {
    "partial_fit": lambda model: model.partial_fit(X[:3], Y[:3]),
    "partial_fit, sparse": lambda model: model.partial_fit(sp.csr_array(X[:3]), Y[:3]),
    "learn_one": lambda model: model.learn_one(X[0], Y[0]),
    "learn_one, sparse": lambda model: model.learn_one(sp.csr_array(X[:1]), Y[0]),
    "predict": lambda model: model.predict(X),
    "predict, sparse": lambda model: model.predict(sp.csr_array(X)),
    "predict_one": lambda model: model.predict_one(X[0]),
    "coef_": lambda model: model.coef_,
    "warm fit": lambda model: model.set_params(warm_start=True).fit(X, Y),
}


@pytest.mark.parametrize("change", [narrow, fewer, other_dtype, scattered], ids=lambda change: change.__name__)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_no_loop_runs_on_an_array_that_does_not_fit(model, change):
    stream = learned(model)._stream
    whole = stream.state
    for name, array in whole._asdict().items():
        changed = change(array) if array.size > 1 or change is not scattered else array
        if changed.shape == array.shape and changed.dtype == array.dtype and changed.strides == array.strides:
            continue
        for use, call in USES.items():
            if isinstance(model, VotedPerceptron) and ("one" in use or use.startswith(("predict", "coef_"))):
                continue  # reads the kept updates instead
            if use == "coef_" and name == "W" and change is narrow:
                continue  # sound weights of fewer features, if the state has no other matrix
            stream.state = whole._replace(**{name: changed})
            with pytest.raises(InvalidInput):
                call(model)
    stream.state = whole
    model.partial_fit(X, Y)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2], MODELS[3], AROW(covariance="diagonal")], ids=repr)
def test_a_sound_state_that_replaces_another_is_learned_from(model):
    fresh = clone(model).partial_fit(X[:9], Y[:9], classes=[0, 1, 2])
    learned(model)._stream.state = fresh._stream.state
    assert [model.predict_one(row) for row in X] == fresh.predict(X).tolist()
    before = fresh._stream.state.t.copy()
    model.learn_one(X[0], Y[0])
    assert np.array_equal(model._stream.state.t, before + 1)


@pytest.mark.parametrize(
    "model", [Perceptron(), VotedPerceptron(), KernelPerceptron(), KernelPerceptron(budget=5)], ids=repr
)
def test_a_model_that_is_mapped_into_memory_is_a_model(model, tmp_path):
    joblib.dump(model.partial_fit(X, Y), tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    assert mapped.predict(X).tolist() == model.predict(X).tolist()
    assert mapped.partial_fit(X, Y).predict(X).tolist() == model.partial_fit(X, Y).predict(X).tolist()


def test_a_narrower_state_is_compared_with_the_rows():
    model = learned(Perceptron())
    state = model._stream.state
    model._stream.state = type(state)(*(part[:, :3].copy() if part.ndim == 2 and part.size else part for part in state))
    for use in ("partial_fit", "partial_fit, sparse", "learn_one", "predict", "predict, sparse"):
        with pytest.raises(InvalidInput, match="features"):
            USES[use](model)


def test_an_average_needs_the_arrays_of_one():
    model, other = learned(Perceptron()), learned(AveragedPerceptron())
    table = model._check_rows(X, reset=False)[0]
    model._stream.settings = other._stream.settings
    with pytest.raises(InvalidInput, match="other parameters"):
        model._stream.learn(table, Y, np.empty(0))
    model = learned(Perceptron())
    model._stream.settings.algorithm.averaged = True
    with pytest.raises(InvalidInput, match="other parameters"):
        model._stream.learn(table, Y, np.empty(0))


def test_other_classes_have_other_problems():
    for use in ("partial_fit", "learn_one", "predict", "predict_one", "coef_"):
        model = Perceptron().fit(X, Y)
        model._stream.classes = np.arange(5)
        with pytest.raises(InvalidInput, match="not those of the classes"):
            USES[use](model)
    for classes in ([2, 0, 1], [0, 0, 1]):  # no label has a number beyond those of the classes
        model._stream.classes = np.array(classes)
        with pytest.raises(InvalidInput, match="not those of the classes"):
            model.partial_fit(X, Y)


def test_columns_of_names_are_columns_of_the_weights():
    model = Perceptron()
    for row, label in zip(X, Y, strict=True):
        model.learn_one(dict(zip("abcde", row.tolist(), strict=True)), label)
    for number in (10**6, -(10**6)):
        model._stream.columns = NamedColumns({"a": number, "b": 1})
        with pytest.raises(InvalidInput):
            model._stream.problem_scores(model._stream.row_table({"a": 1.0, "b": 2.0}))
        for call in (model.predict_one, lambda row: model.learn_one(row, 1)):
            with pytest.raises(InvalidInput):
                call({"a": 1.0, "b": 2.0})


@pytest.mark.parametrize(
    "change",
    [
        lambda one: replace(one, coef=one.coef[:, :-1].copy()),
        lambda one: replace(one, rows=one.rows[:-1]),
        lambda one: replace(one, trials=one.trials[:-1]),
        lambda one: replace(one, vectors=one.vectors[:-1]),
        lambda one: replace(one, log=one.log._replace(slot=one.log.slot + 10**6)),
        lambda one: replace(one, log=one.log._replace(problem=one.log.problem - 10**6)),
        lambda one: replace(one, log=one.log._replace(step=one.log.step[:-1])),
    ],
)
def test_an_expansion_in_the_dual_fits_together(change):
    for use in ("partial_fit", "learn_one", "predict", "vote", "warm fit"):
        model = KernelPerceptron(kernel="rbf").fit(X, Y)
        model._expansion = change(model._expansion)
        with pytest.raises(InvalidInput, match="were replaced"):
            model.predict(X, "vote") if use == "vote" else USES[use](model)


@pytest.mark.parametrize("rule", ["arow", "projectron", "random", "forgetron"])
@pytest.mark.parametrize("name", ["gram", "born", "count", "damage", "errors", "lag", "variance"])
def test_the_memory_of_a_budget_fits_its_expansion(rule, name):
    model = KernelPerceptron(kernel="rbf", budget=5, budget_rule=rule).partial_fit(X, Y)
    before = getattr(model._memory, name)
    if not before.size:
        return
    model._memory = replace(model._memory, **{name: before[:-1]})
    with pytest.raises(InvalidInput):
        model.partial_fit(X, Y)
