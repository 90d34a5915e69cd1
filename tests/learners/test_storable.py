"""What an estimator says of itself so that files can hold it."""

import io
import pickle
from typing import ClassVar

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import TransformerMixin

from members import EVERY_CLASS
from rosenblatt import (
    AdalineRegressor,
    AssociationUnits,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    Perceptron,
    PocketPerceptron,
    TextHasher,
    Winnow,
)
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.base import Estimator
from rosenblatt.training.stopping import Stop

CLASSES = pytest.mark.parametrize("cls", EVERY_CLASS, ids=lambda cls: cls.__name__)


class Box(Estimator):
    """An estimator with two things to keep, one of them only at times."""

    declared: ClassVar = {}
    stored_attributes = ("content",)
    at_times = ("lid",)

    def _check_learned(self):
        if self.content < 0:
            raise InvalidInput("the content is negative")


def test_only_what_is_there_goes_to_the_file():
    box = Box()
    assert box._to_file() == {}
    box.content, box.other = 3, 5
    assert box._to_file() == {"content": 3}
    box.lid = "red"
    assert box._to_file() == {"content": 3, "lid": "red"}


def test_what_comes_from_a_file_is_whole_and_known_and_fits():
    box = Box()
    box._from_file({"content": 4, "lid": "blue"})
    assert (box.content, box.lid) == (4, "blue")
    with pytest.raises(InvalidInput, match="it has other, which Box does not have"):
        Box()._from_file({"content": 4, "other": 1})
    with pytest.raises(InvalidInput, match="it has no content, as after a fit that failed"):
        Box()._from_file({"lid": "blue"})
    with pytest.raises(InvalidInput, match="negative"):
        Box()._from_file({"content": -1})


@CLASSES
def test_every_estimator_says_what_it_stores(cls):
    assert issubclass(cls, Estimator)
    assert cls.stored_attributes or cls is TextHasher  # which learns nothing
    assert cls()._to_file() == {}
    with pytest.raises(InvalidInput, match="it has strange, which"):
        cls()._from_file({"strange": 1})


@pytest.mark.parametrize(
    "model", [Perceptron(), KernelPerceptron(), AssociationUnits(n_units=3), MaximumMargin()], ids=str
)
def test_what_a_fit_leaves_goes_to_the_file_and_comes_back(model):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [0, 1, 1]
    stored = model.fit(X, y)._to_file()
    assert set(stored) >= set(model.stored_attributes)
    copied = type(model)(**model.get_params())
    copied.n_features_in_ = 2
    copied._from_file(dict(stored))
    use = "transform" if hasattr(model, "transform") else "predict"
    np.testing.assert_array_equal(getattr(copied, use)(X), getattr(model, use)(X))


# ------------------------------------------------------------------------------------------ the formats of other tools

ROWS = np.random.default_rng(0).standard_normal((40, 3))
LABELS = np.arange(40) % 3


def fitted(cls):
    model = cls()
    if issubclass(cls, TransformerMixin):
        return model.fit(given_to(model))
    rows = abs(ROWS) if cls is Winnow else ROWS
    return model.fit(rows, ROWS[:, 0] if cls is AdalineRegressor else LABELS)


def given_to(model):
    return ["some words", "other words"] if isinstance(model, TextHasher) else ROWS


def assert_same(model, again):
    use = "transform" if isinstance(model, TransformerMixin) else "predict"
    found, expected = (getattr(one, use)(given_to(model)) for one in (again, model))
    if sp.issparse(expected):
        found, expected = found.toarray(), expected.toarray()
    np.testing.assert_array_equal(found, expected)
    assert getattr(again, "run_", None) == getattr(model, "run_", None)
    if not isinstance(model, MaximumMargin | TransformerMixin | PocketPerceptron):
        labels = ROWS[:, 0] if isinstance(model, AdalineRegressor) else LABELS
        model.partial_fit(abs(ROWS), labels)
        again.partial_fit(abs(ROWS), labels)
        np.testing.assert_array_equal(again.predict(ROWS), model.predict(ROWS))


@pytest.mark.filterwarnings("ignore")
@CLASSES
def test_skops_brings_a_model_back_and_asks_to_trust_types_of_this_package_only(cls):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    model = fitted(cls)
    data = skops.dumps(model)
    types = skops.get_untrusted_types(data=data)
    assert all(name.startswith("rosenblatt.") for name in types)
    assert_same(model, skops.loads(data, trusted=types))


@pytest.mark.filterwarnings("ignore")
def test_skops_brings_a_proof_back():
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    model = Perceptron().fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    data = skops.dumps(model)
    again = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    assert again.run_ == model.run_
    assert again.run_.stop is model.run_.stop


@pytest.mark.filterwarnings("ignore")
@CLASSES
def test_joblib_and_pickle_bring_a_model_back(cls):
    file = io.BytesIO()
    model = fitted(cls)
    joblib.dump(model, file)
    file.seek(0)
    assert_same(pickle.loads(pickle.dumps(model)), joblib.load(file))


def test_what_is_pickled_does_not_depend_on_the_sentences():
    for stop in Stop:
        assert pickle.loads(pickle.dumps(stop)) is stop
        assert stop.value.encode() not in pickle.dumps(stop)
    with pytest.raises(ValueError, match="not a valid Stop"):
        Stop("nothing")


@pytest.mark.filterwarnings("ignore")
def test_the_default_format_of_mlflow_brings_a_model_back(tmp_path):
    mlflow = pytest.importorskip("mlflow.sklearn", reason="MLflow is too large to be installed for the tests")
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    model = fitted(AveragedPerceptron)
    types = skops.get_untrusted_types(data=skops.dumps(model))
    mlflow.save_model(model, tmp_path / "model", pip_requirements=[], skops_trusted_types=types)
    assert_same(model, mlflow.load_model(tmp_path / "model"))


@pytest.mark.filterwarnings("ignore")
def test_dask_learns_from_blocks_as_from_chunks():
    wrappers = pytest.importorskip("dask_ml.wrappers", reason="dask-ml is too large to be installed for the tests")
    da = pytest.importorskip("dask.array")
    X, y = da.from_array(ROWS, chunks=(10, 3)), da.from_array(LABELS, chunks=10)
    blocks = wrappers.Incremental(Perceptron(), shuffle_blocks=False).fit(X, y, classes=[0, 1, 2])
    chunks = Perceptron()
    for start in range(0, 40, 10):
        chunks.partial_fit(ROWS[start : start + 10], LABELS[start : start + 10], classes=[0, 1, 2])
    np.testing.assert_array_equal(blocks.estimator_.coef_, chunks.coef_)
