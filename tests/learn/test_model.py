"""Linear models without scikit-learn: they predict as the estimator that was saved."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from members import FAMILY
from rosenblatt import (
    AssociationUnits,
    KernelPerceptron,
    LinearModel,
    Perceptron,
    VotedPerceptron,
    load,
    load_linear,
    save,
    train,
)
from rosenblatt.errors import InvalidInput

VERSION_1 = Path(__file__).parents[1] / "storage" / "version_1"
EXPECTED = json.loads((VERSION_1 / "expected.json").read_text())
WITHOUT_WEIGHTS = ("AssociationUnits", "KernelPerceptron")
OLD = [name for name in EXPECTED["models"] if not name.startswith(WITHOUT_WEIGHTS)]


def rows_of(classes, n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.standard_normal((n, d)))
    names = np.array(["ant", "bee", "cow", "dog"])[:classes]
    y = (X @ rng.standard_normal((d, classes)) + rng.standard_normal((n, classes))).argmax(1)
    y[:classes] = range(classes)
    return X, names[y]


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


def predicted(model, X):
    """What the estimator predicts by its weights."""
    return model.predict(X, aggregate="last") if isinstance(model, VotedPerceptron) else model.predict(X)


@pytest.mark.parametrize("model", FAMILY, ids=str)
@pytest.mark.parametrize("classes", [2, 4])
def test_weights_read_from_a_file_predict_as_the_estimator(model, classes, tmp_path):
    X, y = rows_of(classes)
    if type(model).__name__ == "AdalineRegressor":
        y = X @ [1.0, 2.0, -1.0, 0.5]
    estimator = fitted(model, pd.DataFrame(X, columns=list("pqrs")), y)
    save(estimator, tmp_path / "m.safetensors")
    found = load_linear(tmp_path / "m.safetensors")
    assert type(found) is LinearModel
    assert found.feature_names == tuple("pqrs")
    assert found.W.tolist() == np.atleast_2d(estimator.coef_).tolist()
    for rows in (X, sp.csr_array(X), X.astype(np.float32)):
        named = pd.DataFrame(rows, columns=list("pqrs")) if isinstance(rows, np.ndarray) else rows
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sparse rows have no names
            assert found.predict(rows).tolist() == predicted(estimator, named).tolist()
            if not isinstance(model, VotedPerceptron) and hasattr(estimator, "decision_function"):
                np.testing.assert_allclose(found.scores(rows), estimator.decision_function(named), rtol=1e-12)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "ovo-vote", "joint"])
def test_every_mode_decides_as_the_estimator_does(multiclass, tmp_path):
    X, y = rows_of(4)
    estimator = fitted(Perceptron(multiclass=multiclass), X, y)
    save(estimator, tmp_path / "m.safetensors")
    found = load_linear(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(found.scores(X), estimator.decision_function(X))
    assert found.predict(X).tolist() == estimator.predict(X).tolist()
    assert found.classes.tolist() == estimator.classes_.tolist()


@pytest.mark.parametrize("name", OLD)
def test_files_of_version_1_give_their_weights(name):
    found = load_linear(VERSION_1 / f"{name}.safetensors")
    expected, X = EXPECTED["models"][name], np.array(EXPECTED["X"])
    if name.startswith("VotedPerceptron"):  # the vote is not in the weights
        estimator = load(VERSION_1 / f"{name}.safetensors")
        assert found.predict(X).tolist() == estimator.predict(X, aggregate="last").tolist()
    else:
        assert found.predict(X).tolist() == expected["predict"]
    np.testing.assert_array_equal(found.W, np.atleast_2d(expected["coef"]))


def test_predicting_from_a_file_does_not_load_scikit_learn(tmp_path):
    X, y = rows_of(3)
    estimator = fitted(Perceptron(), X, y)
    save(estimator, tmp_path / "m.safetensors")
    old = VERSION_1 / "Perceptron_three.safetensors"
    script = (
        "import sys, json\n"
        "from rosenblatt import load_linear\n"
        f"X = json.loads({json.dumps(json.dumps(X.tolist()))})\n"
        f"print(*load_linear({str(tmp_path / 'm.safetensors')!r}).predict(X))\n"
        f"load_linear({str(old)!r})\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'sklearn', 'joblib', 'pandas', 'matplotlib'}, loaded\n"
        "assert not [n for n in sys.modules if n.startswith(('rosenblatt.estimators', 'rosenblatt.proof'))]\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == estimator.predict(X).tolist()


@pytest.mark.parametrize(
    "model",
    [KernelPerceptron(), AssociationUnits(n_units=3), Perceptron()],
    ids=["kernel", "units", "unfitted"],
)
def test_a_model_without_weights_is_refused_with_a_sentence(model, tmp_path):
    if not isinstance(model, Perceptron):
        model = fitted(model, *rows_of(2))
    save(model, tmp_path / "m.safetensors")
    with pytest.raises(
        InvalidInput, match=rf"cannot be loaded: it holds a {type(model).__name__}, which .* no weights"
    ):
        load_linear(tmp_path / "m.safetensors")


@pytest.mark.parametrize("name", ["KernelPerceptron_binary", "AssociationUnits", "Perceptron_unfitted"])
def test_an_old_model_without_weights_is_refused_too(name):
    with pytest.raises(InvalidInput, match="has no weights"):
        load_linear(VERSION_1 / f"{name}.safetensors")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_model_comes_back_from_its_file(dtype, classes, tmp_path):
    rng = np.random.default_rng(0)
    problems = classes if classes > 2 else 1
    W, b = rng.standard_normal((problems, 2)).astype(dtype), rng.standard_normal(problems).astype(dtype)
    model = LinearModel(W, b, np.arange(float(classes)), "ovr", ("left", "right"))
    for write, name in ((model.save, "a.safetensors"), (lambda path: save(model, path), "b.safetensors")):
        write(tmp_path / name)
        for read in (load_linear, load):
            found = read(tmp_path / name)
            assert type(found) is LinearModel
            assert found.W.dtype == dtype
            np.testing.assert_array_equal(found.W, W)
            np.testing.assert_array_equal(found.b, b)
            assert found.classes.tolist() == model.classes.tolist()
            assert (found.multiclass, found.feature_names) == ("ovr", ("left", "right"))
            assert found.predict([[1.0, 2.0]]).tolist() == model.predict([[1.0, 2.0]]).tolist()


def test_a_file_that_is_not_there_or_damaged_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_linear(tmp_path / "none.safetensors")
    path = tmp_path / "m.safetensors"
    train([[0.0], [1.0]], [0, 1]).model.save(path)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:40], b"", bytes([whole[0] ^ 1]) + whole[1:]):
        path.write_bytes(damaged)
        with pytest.raises(InvalidInput, match="cannot be loaded"):
            load_linear(path)


# ------------------------------------------------------------------------------------------------------------ the model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W": np.ones((2, 3))}, r"W has shape \(2, 3\)"),
        ({"W": np.ones(3)}, r"W has shape \(3,\)"),
        ({"b": np.ones(2)}, r"b \(2,\)"),
        ({"multiclass": "all"}, "multiclass='all'"),
        ({"feature_names": ("a",)}, "1 names for 3 features"),
        ({"classes": np.arange(3)}, r"\(3, n_features\)"),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_are_refused(change, message):
    parts = {"W": np.ones((1, 3)), "b": np.ones(1), "classes": np.array([0, 1])} | change
    with pytest.raises(InvalidInput, match=message):
        LinearModel(**parts)


def test_rows_of_another_width_are_refused():
    model = train([[0.0], [1.0]], [0, 1]).model
    with pytest.raises(InvalidInput, match="X has 2 features; the model has 1"):
        model.predict([[1.0, 2.0]])


def test_one_class_alone_is_predicted():
    model = LinearModel(np.ones((1, 2)), np.zeros(1), np.array(["only"]))
    assert model.predict([[1.0, 1.0], [-1.0, -1.0]]).tolist() == ["only", "only"]


@pytest.mark.parametrize("shares", [None, (1, 3, 0)], ids=str)
def test_a_merged_model_is_the_mean(shares):
    X, y = rows_of(3)
    models = [fitted(Perceptron(random_state=seed, tol=None, max_iter=2), X, y)._stream.model() for seed in range(3)]
    merged = models[0].merge(models[1:], shares)
    for part in ("W", "b"):
        mean = np.average([getattr(model, part) for model in models], axis=0, weights=shares)
        np.testing.assert_allclose(getattr(merged, part), mean, rtol=1e-14)
    np.testing.assert_allclose(
        merged.scores(X), np.average([m.scores(X) for m in models], axis=0, weights=shares), atol=1e-12
    )
    assert merged.classes.tolist() == models[0].classes.tolist()


def test_only_models_of_a_kind_are_merged():
    model = LinearModel(np.ones((1, 2)), np.zeros(1), np.array([0, 1]))
    for other in (
        LinearModel(np.ones((1, 3)), np.zeros(1), np.array([0, 1])),
        LinearModel(np.ones((1, 2)), np.zeros(1), np.array([0, 2])),
        LinearModel(np.ones((1, 2)), np.zeros(1), np.array([0, 1]), "ovo"),
        LinearModel(np.ones((1, 2)), np.zeros(1), np.array([0, 1]), "ovr", ("a", "b")),
    ):
        with pytest.raises(InvalidInput, match="same classes, mode and features"):
            model.merge([other])
    for shares in ((1,), (1, -1), (0, 0), (np.inf, 1)):
        with pytest.raises(InvalidInput, match="shares"):
            model.merge([model], shares)


def test_a_merged_model_keeps_its_number_type():
    model = LinearModel(np.ones((1, 2), np.float32), np.zeros(1, np.float32), np.array([0, 1]))
    assert model.merge([model]).W.dtype == np.float32
