"""Members in river's pipelines: rows are dicts, and a model answers before it has learned."""

import pickle

import pytest

from rosenblatt import AROW, AdalineRegressor, KernelPerceptron, Perceptron, PocketPerceptron, SoftMargin, as_river
from rosenblatt.errors import InvalidInput

river = pytest.importorskip("river", reason="river is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the other packages

from river import datasets, evaluate, metrics, preprocessing  # noqa: E402


@pytest.mark.parametrize("model", [Perceptron(), AROW(), SoftMargin(loss="logistic")], ids=str)
def test_progressive_validation_of_a_pipeline(model):
    pipeline = preprocessing.StandardScaler() | as_river(model)
    score = evaluate.progressive_val_score(datasets.Phishing().take(300), pipeline, metrics.Accuracy())
    assert score.get() > 0.75


def test_several_classes_regressions_and_probabilities():
    scaler = preprocessing.StandardScaler
    segments = evaluate.progressive_val_score(
        datasets.ImageSegments().take(300), scaler() | as_river(AROW()), metrics.Accuracy()
    )
    assert segments.get() > 0.6
    error = evaluate.progressive_val_score(
        datasets.TrumpApproval().take(300), scaler() | as_river(AdalineRegressor()), metrics.MAE()
    )
    assert error.get() < 5
    loss = evaluate.progressive_val_score(
        datasets.Phishing().take(300), scaler() | as_river(SoftMargin(loss="logistic", alpha=0.01)), metrics.LogLoss()
    )
    assert loss.get() < 2


def test_a_model_answers_before_it_has_learned_and_a_clone_has_learned_nothing():
    model = as_river(SoftMargin(loss="logistic"))
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert as_river(AdalineRegressor()).predict_one({"a": 1.0}) == 0.0
    model.learn_one({"a": 1.0}, "yes")
    model.learn_one({"b": 1.0}, "no")
    for one in (model, pickle.loads(pickle.dumps(model))):
        assert one.predict_one({"a": 1.0, "new": 3.0}) == "yes"
        assert sum(one.predict_proba_one({"a": 1.0}).values()) == pytest.approx(1.0)
    fresh = model.clone()
    assert fresh.predict_one({"a": 1.0}) is None
    assert fresh.model.loss == "logistic"


def test_what_does_not_learn_row_by_row_is_refused():
    for model in (KernelPerceptron(), PocketPerceptron(), 3):
        with pytest.raises(InvalidInput, match="does not learn row by row from dicts"):
            as_river(model)
    with pytest.raises(NotImplementedError, match="Perceptron has no probabilities"):
        as_river(Perceptron()).predict_proba_one({})
