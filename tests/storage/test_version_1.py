"""Model files of format version 1, written before the modules moved into packages, give the models that they held."""

import json
from pathlib import Path

import numpy as np
import pytest

from attacks.forge import split
from rosenblatt import VotedPerceptron, load
from rosenblatt.storage.container import open_container

FOLDER = Path(__file__).parent / "version_1"
FILES = sorted(path.stem for path in FOLDER.glob("*.safetensors"))
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
MODELS = EXPECTED["models"]
X, THREE = np.array(EXPECTED["X"]), np.array(EXPECTED["y3"])
SEEN = 25  # rows that a stream had learned from when it was saved


def model(name):
    return load(FOLDER / f"{name}.safetensors")


def test_the_files_are_of_version_1_and_are_all_expected():
    assert MODELS.keys() == set(FILES) - {"Perceptron_proof", "Perceptron_unfitted"}
    for name in FILES:
        assert open_container(FOLDER / f"{name}.safetensors").version == "1"


def weights(found):
    """Return what was coef_ and intercept_ then: the last vectors, also of the vote, whose coef_ is the average now."""
    if not isinstance(found, VotedPerceptron):
        return found.coef_, found.intercept_
    last = [list(found.vectors(p))[-1] for p in range(len(found.coef_))]
    return np.array([vector[0] for vector in last]), np.array([vector[1] for vector in last])


@pytest.mark.parametrize("name", MODELS)
def test_a_model_predicts_as_it_did(name):
    found, expected = model(name), MODELS[name]
    if "transform" in expected:
        np.testing.assert_array_equal(found.transform(X[:3]), expected["transform"])
        return
    assert found.predict(X).tolist() == expected["predict"]
    if "coef" in expected:
        W, b = weights(found)
        np.testing.assert_array_equal(W, expected["coef"])
        np.testing.assert_array_equal(b, expected["intercept"])
    if expected["mistakes"] is not None:
        assert list(found.run_.mistakes) == expected["mistakes"]


# Its steps against the hinge became shorter in 0.1.0, and streams go on by the rule of the version that reads them.
CHANGED = {"SoftMargin_stream"}
STREAMS = {name for name in MODELS if name.endswith("_stream")}


@pytest.mark.parametrize("name", sorted(STREAMS - CHANGED))
def test_a_stream_goes_on_as_it_did(name):
    found, expected = model(name), MODELS[name]
    found.partial_fit(X[SEEN:], THREE[SEEN:])
    assert found.predict(X).tolist() == expected["after"]
    if "coef_after" in expected:
        # Another version of Numba, or another processor, may round the new updates differently.
        np.testing.assert_allclose(weights(found)[0], expected["coef_after"], rtol=1e-12)


@pytest.mark.parametrize("name", sorted(CHANGED))
def test_a_stream_whose_rule_has_changed_goes_on_from_its_weights(name):
    found, before = model(name), model(name)
    found.partial_fit(X[SEEN:], THREE[SEEN:])
    assert found.t_ - before.t_ == len(X) - SEEN
    assert found.score(X, THREE) >= before.score(X, THREE)


def test_a_proof_and_parameters_without_a_fit_come_back():
    assert model("Perceptron_proof").run_.certificate.to_dict()["verdict"]
    unfitted = model("Perceptron_unfitted")
    assert not hasattr(unfitted, "coef_")
    header, _ = split((FOLDER / "Perceptron_unfitted.safetensors").read_bytes())
    parameters = json.loads(header["__metadata__"]["model"])["parameters"]
    assert unfitted.get_params()["max_iter"] == parameters["max_iter"]


def test_a_parameter_that_files_did_not_have_is_what_it_was_in_effect():
    assert model("Perceptron_binary").intercept_scaling == model("Perceptron_unfitted").intercept_scaling == 1
