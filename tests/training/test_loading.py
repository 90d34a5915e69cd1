"""Linear models from files, without scikit-learn."""

import json
import subprocess
import sys
import warnings

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
    load_linear,
    save,
    train,
)
from rosenblatt.errors import InvalidInput


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
    return model.predict(X, aggregate="average") if isinstance(model, VotedPerceptron) else model.predict(X)


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
