"""Linear models without scikit-learn: they predict as the estimator that was saved."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor

from commands import run
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
from rosenblatt.training.model import finite_values


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
    with pytest.raises(InvalidInput, match="X has 2 features, the model has 1"):
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
        with pytest.raises(InvalidInput, match="cannot be merged"):
            model.merge([other])
    for shares in ((1,), (1, -1), (0, 0), (np.inf, 1)):
        with pytest.raises(InvalidInput, match="shares"):
            model.merge([model], shares)


def test_a_merged_model_keeps_its_number_type():
    model = LinearModel(np.ones((1, 2), np.float32), np.zeros(1, np.float32), np.array([0, 1]))
    assert model.merge([model]).W.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_good_values_are_not_copied(dtype):
    X = np.ones((3, 2), dtype)
    assert finite_values(X) is X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], "Expected 2D array"),
        (np.empty((0, 2)), "0 sample"),
        ([[1.0], [np.nan]], "NaN .row 1"),
        ([[1.0], [2.0], [-np.inf]], "infinity .row 2"),
        ([["a"]], "Column 0 of X has 'a', which is not a number"),
        ([[1j]], "Complex data"),
    ],
    ids=["one dimension", "no rows", "NaN", "infinity", "text", "complex"],
)
def test_bad_values_get_a_sentence(X, message):
    with pytest.raises(InvalidInput, match=message):
        finite_values(X)


def test_the_columns_of_a_frame_must_be_those_of_the_model_in_their_order():
    frame = pd.DataFrame([[0.0, 1.0], [1.0, 0.0]], columns=["a", "b"])
    model = LinearModel(np.array([[1.0, -1.0]]), np.zeros(1), np.array([0, 1]), feature_names=("a", "b"))
    assert model.predict(frame).tolist() == [0, 1]
    for wrong in (frame[["b", "a"]], frame.rename(columns={"b": "c"})):
        with pytest.raises(InvalidInput, match="the model has 'a' and 'b', in this order"):
            model.predict(wrong)
    assert model.predict(frame[["b", "a"]][list(model.feature_names)]).tolist() == [0, 1]


def test_a_model_of_standardised_columns_predicts_from_raw_rows_as_the_command_does(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal([5.0, 1000.0], [1.0, 100.0], (60, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.assign(y=np.where(X[:, 0] > X[:, 1] / 200, "u", "v")).to_csv(tmp_path / "t.csv", index=False)
    run("train", tmp_path / "t.csv", "--standardise", "--model", tmp_path / "m", "--quiet")
    told = run("predict", tmp_path / "t.csv", "--model", tmp_path / "m").stdout.split()
    model = load_linear(tmp_path / "m")
    assert model.predict(frame).tolist() == model.predict(X).tolist() == told
    with pytest.raises(InvalidInput, match="standardised columns"):
        model.predict(sp.csr_array(X))


NO_SCALINGS = (
    *("x", [[0.0]], [[0.0, 0.0], [1.0]], [["a", "b"], [1.0, 1.0]]),
    *([[0.0, 0.0], [np.inf, 1.0]], [[0, 0], [10**400, 1]]),
)


@pytest.mark.parametrize("scaling", NO_SCALINGS)
def test_a_scaling_that_is_none_is_refused(tmp_path, scaling):
    model = LinearModel(np.ones((1, 2)), np.zeros(1), np.array([0, 1]), origin={"scaling": scaling})
    with pytest.raises(InvalidInput, match="scaling of columns"):  # the same check as when a file is loaded
        model.save(tmp_path / "m")


def predicted(model, X):
    """What the estimator predicts by its weights."""
    return model.predict(X, aggregate="average") if isinstance(model, VotedPerceptron) else model.predict(X)


@pytest.mark.parametrize("model", FAMILY, ids=str)
@pytest.mark.parametrize("classes", [2, 4])
def test_weights_read_from_a_file_predict_as_the_estimator(model, classes, tmp_path):
    X, y = rows_of(classes)
    if is_regressor(model):
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


def test_predicting_from_a_file_does_not_load_scikit_learn(tmp_path):
    X, y = rows_of(3)
    estimator = fitted(Perceptron(), X, y)
    save(estimator, tmp_path / "m.safetensors")
    script = (
        "import sys, json\n"
        "from rosenblatt import load_linear\n"
        f"X = json.loads({json.dumps(json.dumps(X.tolist()))})\n"
        f"print(*load_linear({str(tmp_path / 'm.safetensors')!r}).predict(X))\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'sklearn', 'joblib', 'pandas', 'matplotlib'}, loaded\n"
        "assert not [n for n in sys.modules if n.startswith(('rosenblatt.learners', 'rosenblatt.prover'))]\n"
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
