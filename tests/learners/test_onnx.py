"""ONNX graphs of the linear members: they decide as the models do, on ten sets of data, in every mode."""

import sys

import numpy as np
import pytest
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
from rosenblatt.errors import InvalidInput, MissingExtra

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
    for one in (Perceptron(), SoftMargin(loss="logistic")):
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


def test_what_cannot_be_converted_is_refused_with_a_sentence(monkeypatch):
    with pytest.raises(InvalidInput, match="A KernelPerceptron cannot be converted"):
        to_onnx(KernelPerceptron())
    with pytest.raises(InvalidInput, match=r"dtype=.* is invalid"):
        to_onnx(Perceptron(), dtype=np.int64)
    with pytest.raises(NotFittedError):
        to_onnx(Perceptron())
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rosenblatt\[onnx\]'"):
        register_onnx()
