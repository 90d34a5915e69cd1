"""ONNX graphs: they decide as the models do, on ten sets of data, in every mode."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    Adaline,
    AdalineRegressor,
    AssociationUnits,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PNormPerceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
    register_onnx,
    to_onnx,
)
from rosenblatt.errors import InvalidInput, MissingExtra, TooLarge
from rosenblatt.kernels.rules import BUDGET_RULES
from rosenblatt.learners.association import UNITS
from rosenblatt.learners.kernel_perceptron import AGGREGATES, KERNELS

pytest.importorskip("skl2onnx", reason="the extra [onnx] is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="graphs cannot be run")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the other packages


def made(seed, classes):
    return make_classification(300, 12, n_informative=6, n_classes=classes, random_state=seed)


SETS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "logical or": lambda: (np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, float), np.array([0, 1, 1, 1] * 5)),
    **{f"made {seed}": lambda seed=seed: made(seed, 2 + seed % 3) for seed in range(5)},
}
SHORT = {"max_iter": 3, "tol": None}
MEMBERS = [
    Perceptron(**SHORT),
    Perceptron(multiclass="ovo", **SHORT),
    Perceptron(multiclass="ovo-vote", **SHORT),
    Perceptron(multiclass="joint", **SHORT),
    AveragedPerceptron(fit_intercept=False, **SHORT),
    SoftMargin(loss="logistic", **SHORT),
    SoftMargin(loss="logistic", multiclass="ovo", **SHORT),
    SoftMargin(loss="modified_huber", **SHORT),
    AROW(**SHORT),
]
OTHERS = [
    *(Adaline(**SHORT), PassiveAggressive(**SHORT), PocketPerceptron(max_iter=3), VotedPerceptron(**SHORT)),
    *(ALMA(**SHORT), ROMMA(**SHORT), PNormPerceptron(**SHORT), Winnow(**SHORT), MaximumMargin(max_seconds=5.0)),
]


def run(graph, X, name="X"):
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, {name: X}), strict=True))


def second(model, X):
    found = model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)
    return found if found.ndim == 2 else found[:, None]


def assert_same(model, X, dtype):
    X = X.astype(dtype)
    label, scores = run(to_onnx(model, dtype=dtype), X).values()
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(scores, second(model, X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("model", MEMBERS, ids=str)
def test_a_graph_decides_as_the_model_does(model, name):
    X, y = SETS[name]()
    model.fit(X, y)
    for dtype in (np.float32, np.float64):
        assert_same(model, X, dtype)


@pytest.mark.parametrize("model", OTHERS, ids=str)
@pytest.mark.parametrize("name", ["iris", "logical or"])
def test_so_does_that_of_every_other_member(model, name):
    X, y = SETS[name]()
    assert_same(model.fit(X, y), X, np.float64)


def test_a_model_of_single_precision_is_run_in_double():
    X, y = SETS["wine"]()
    X = StandardScaler().fit_transform(X).astype(np.float32)
    assert_same(AveragedPerceptron().fit(X, y), X, np.float32)


@pytest.mark.parametrize(
    "labels", [np.array([False, True]), np.array(["no", "yes"]), np.array(["no", "yes"], object), np.array([2.0, 3.0])]
)
def test_labels_keep_their_kind(labels):
    X, y = SETS["logical or"]()
    model = Perceptron().fit(X, labels[y])
    found = run(to_onnx(model), X.astype(np.float32))["label"]
    assert found.tolist() == model.predict(X).tolist()


def test_a_tie_goes_to_the_negative_class_and_the_only_class_always_wins():
    model = Perceptron().fit([[0.0], [1.0]], [0, 1])
    model.coef_, model.intercept_ = [[1.0]], [-0.5]
    assert run(to_onnx(model), np.array([[0.5], [0.75]], np.float32))["label"].tolist() == [0, 1]
    for one in (Perceptron(), SoftMargin(loss="logistic"), SoftMargin(loss="modified_huber")):
        one.learn_one(np.ones(1), "only")
        assert run(to_onnx(one), np.array([[-9.0], [9.0]], np.float32))["label"].tolist() == ["only", "only"]


def test_a_regression_returns_numbers():
    X, y = SETS["iris"]()
    model = AdalineRegressor().fit(X, y)
    np.testing.assert_allclose(run(to_onnx(model, dtype=np.float64), X)["variable"][:, 0], model.predict(X))


def test_pipelines_are_converted_once_the_members_are_registered():
    from skl2onnx import to_onnx as convert

    X, y = SETS["wine"]()
    model = make_pipeline(StandardScaler(), Perceptron()).fit(X, y)
    register_onnx()
    register_onnx()
    found = run(convert(model, X[:1]), X)
    np.testing.assert_array_equal(found["label"], model.predict(X))


# ------------------------------------------------------------------------------------------------------------- kernels


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "precomputed"])
@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("name", ["iris", "made 0", "made 2"])
def test_a_kernel_decides_as_the_model_does(kernel, aggregate, name):
    X, y = SETS[name]()
    X = StandardScaler().fit_transform(X)
    y = np.array(["a", "b", "c", "d"])[y]
    for multiclass, fit_intercept in (("ovr", False), ("ovo", True), ("ovo-vote", False), ("joint", True)):
        how = {"aggregate": aggregate, "multiclass": multiclass, "fit_intercept": fit_intercept}
        model = KernelPerceptron(kernel=kernel, gamma=0.2, coef0=0.5, **how, **SHORT).fit(X, y)
        assert_same(model, X, np.float64)
        # A row of single precision is scored as the same numbers in double precision.
        label, scores = run(to_onnx(model), X.astype(np.float32)).values()
        again = X.astype(np.float32).astype(np.float64)
        np.testing.assert_array_equal(label, model.predict(again))
        np.testing.assert_allclose(scores, second(model, again), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("rule", "aggregate"),
    [*((rule, "last") for rule in BUDGET_RULES), ("arow", "average"), ("projectron", "average")],
)
def test_so_does_one_on_a_budget(rule, aggregate):
    X, y = SETS["digits"]()
    model = KernelPerceptron(budget=40, budget_rule=rule, aggregate=aggregate).partial_fit(X / 16, y)
    assert_same(model, X / 16, np.float64)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_so_does_one_of_sparse_rows_and_of_single_precision(kernel):
    X, y = SETS["digits"]()
    X = X[:600] / 16
    model = KernelPerceptron(kernel=kernel, aggregate="average", **SHORT).fit(sp.csr_array(X), y[:600])
    assert_same(model, X, np.float64)
    single = KernelPerceptron(kernel=kernel, aggregate="average", **SHORT).fit(X.astype(np.float32), y[:600])
    label, scores = run(to_onnx(single), X.astype(np.float32)).values()
    np.testing.assert_array_equal(label, single.predict(X))
    np.testing.assert_allclose(scores, single.decision_function(X), rtol=1e-4, atol=1e-4)


def test_a_matrix_of_similarities_is_the_input_of_its_graph():
    X, y = SETS["iris"]()
    K = X @ X.T
    model = KernelPerceptron(kernel="precomputed", aggregate="vote", **SHORT).fit(K[:100, :100], y[:100])
    assert_same(model, K[:, :100], np.float64)


def test_whole_numbers_stay_exact_and_a_tie_is_a_tie():
    X, y = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 2], [3, -1]], float), np.array([0, 1, 1, 0, 1, 0])
    for degree in (0, 1, 2, 5):
        for aggregate in AGGREGATES:
            how = {"degree": degree, "aggregate": aggregate, "shuffle": False}
            model = KernelPerceptron(kernel="poly", **how, **SHORT).fit(X, y)
            label, scores = run(to_onnx(model, dtype=np.float64), X).values()
            assert scores[:, 0].tolist() == pytest.approx(model.decision_function(X).tolist(), rel=1e-15, abs=0)
            assert label.tolist() == model.predict(X).tolist()


def test_problems_without_an_update_abstain():
    X, y = SETS["made 2"]()
    weight = (y < 2).astype(float)  # nothing is learned of two of the four classes
    model = KernelPerceptron(multiclass="ovo", aggregate="vote", **SHORT).fit(X, y, sample_weight=weight)
    assert_same(model, X, np.float64)


def test_a_kernel_that_is_a_function_is_refused():
    X, y = SETS["iris"]()
    for model in (
        KernelPerceptron(kernel=lambda A, B: A @ B.T, **SHORT).fit(X, y),
        KernelPerceptron(kernel=lambda s, t: len(set(s) & set(t)), **SHORT).fit(["ab", "bc", "xy", "yz"], [0, 0, 1, 1]),
    ):
        with pytest.raises(InvalidInput, match="kernel that is a function cannot be converted"):
            to_onnx(model)


def test_a_model_that_no_file_holds_is_refused(monkeypatch):
    X, y = SETS["digits"]()
    model = KernelPerceptron(**SHORT).fit(X, y)
    monkeypatch.setattr("rosenblatt.learners.onnx.LARGEST_GRAPH", 1 << 10)
    with pytest.raises(TooLarge, match="ONNX file holds 2 GB"):
        to_onnx(model)


# ------------------------------------------------------------------------------------------------------- random units


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("fan_in", [None, 3])
def test_random_units_are_those_of_the_model(units, fan_in):
    X, _ = SETS["wine"]()
    X = StandardScaler().fit_transform(X)
    model = AssociationUnits(units=units, fan_in=fan_in, n_units=70).fit(X)
    graph = to_onnx(model, dtype=np.float64)
    np.testing.assert_allclose(run(graph, X)["variable"], model.transform(X), rtol=1e-12, atol=1e-12)
    assert [size.dim_value for size in graph.graph.output[0].type.tensor_type.shape.dim] == [0, 70]
    single = X.astype(np.float32)
    found = run(to_onnx(model), single)["variable"]
    np.testing.assert_allclose(found, model.transform(single.astype(float)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("last", [AROW(), AveragedPerceptron(**SHORT), KernelPerceptron(**SHORT)], ids=str)
def test_pipelines_with_scaling_and_random_units_are_converted(dtype, last):
    from skl2onnx import to_onnx as convert

    X, y = SETS["wine"]()
    y = np.array(["red", "rosé", "white"])[y]
    model = make_pipeline(StandardScaler(), AssociationUnits(units="cosine", n_units=60), last).fit(X, y)
    register_onnx()
    found = run(convert(model, X[:1].astype(dtype)), X.astype(dtype))
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["scores"], model.decision_function(X), rtol=1e-4, atol=1e-4)


def test_what_cannot_be_converted_is_refused_with_a_sentence(monkeypatch):
    with pytest.raises(InvalidInput, match=r"A Pipeline cannot be converted: .* call register_onnx"):
        to_onnx(make_pipeline(Perceptron()))
    with pytest.raises(InvalidInput, match=r"dtype=.* is invalid"):
        to_onnx(Perceptron(), dtype=np.int64)
    with pytest.raises(NotFittedError):
        to_onnx(Perceptron())
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rosenblatt\[onnx\]'"):
        register_onnx()
