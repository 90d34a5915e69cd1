"""The interface is what /openapi.json says; /v2 is the Open Inference Protocol; /metrics is what Prometheus reads."""

import json
import os
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import one_of
from prometheus_client.parser import text_string_to_metric_families

import rosenblatt
from rosenblatt.serving.app import Api
from rosenblatt.serving.openapi import document

CASES = int(os.environ.get("CASES", "6"))  # of each operation and mode; `make fuzz` tries more
MODELS = {
    "numbers": ({"learner": "perceptron"}, [{"x": [1, 2], "y": "a"}, {"x": [2, 1], "y": "b"}]),
    "objects": ({"learner": "averaged"}, [{"x": {"pay": 1, "city": "Ulm"}, "y": "a"}, {"x": {"pay": 2}, "y": "b"}]),
    "texts": ({"learner": "arow"}, [{"x": "win cash", "y": "spam"}, {"x": "lunch", "y": "ham"}]),
    "heights": ({"learner": "adaline-regressor"}, [{"x": [1, 2], "y": 1.5}, {"x": [2, 1], "y": 2}]),
    "empty": ({}, []),
}


def fill(client):
    """Create the models that are not there."""
    for name, (model, rows) in MODELS.items():
        if client.get(f"/v1/models/{name}").status_code == 404:
            assert client.put(f"/v1/models/{name}", json=model).status_code == 201
            if rows:
                assert client.post(f"/v1/models/{name}/learn", json=rows).status_code == 200


def test_the_document_describes_the_routes_and_no_others(client):
    served = {(route.path, method) for route in Api(None, None).routes() for method in route.methods - {"HEAD"}}
    described = {(path, method.upper()) for path, methods in document()["paths"].items() for method in methods}
    assert described == served
    assert client.get("/openapi.json").json() == json.loads(json.dumps(document()))


def test_every_answer_has_the_headers_that_keep_browsers_out(client):
    for path in ("/", "/v1/models", "/nothing", "/problems"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_prometheus_reads_the_metrics(client):
    fill(client)
    client.post("/v1/models/texts/predict", json={"x": "cash"})
    client.get("/v1/models/nobody/file")
    client.get("/anything/at/all")
    families = {one.name: one for one in text_string_to_metric_families(client.get("/metrics").text)}
    rows = {sample.labels["model"]: sample.value for sample in families["rosenblatt_model_rows"].samples}
    assert rows == {name: len(rows) for name, (_, rows) in MODELS.items()}
    counted = {
        (one.labels["route"], one.labels["status"]): one.value
        for one in families["rosenblatt_requests"].samples
        if one.name.endswith("_total")
    }
    assert counted["/v1/models/{model}/predict", "200"] == 1
    assert counted["/v1/models/{model}/file", "404"] == 1
    assert counted["other", "404"] == 1
    assert "nobody" not in str(counted)


def test_the_error_is_that_of_predictions_before_each_row_is_learned(client):
    random = np.random.default_rng(0)
    rows = [{"x": random.normal(size=3).tolist(), "y": str(random.choice(["a", "b"]))} for _ in range(50)]
    client.put("/v1/models/m", json={"learner": "perceptron"})
    model, wrong = rosenblatt.Perceptron(), 0
    for k, row in enumerate(rows):
        wrong += k > 0 and model.predict_one(np.array(row["x"])) != row["y"]
        model.learn_one(np.array(row["x"]), row["y"])
    for part in (slice(0, 1), slice(1, 30), slice(30, 50)):
        client.post("/v1/models/m/learn", json=rows[part])
    found = client.get("/v1/models/m/metrics").json()
    assert (found["rows"], found["predicted"]) == (50, 49)
    assert found["error"] == wrong / 49
    assert found["windowed"] == {"rows": 49, "error": wrong / 49}


def infer(client, name, tensor, **more):
    return client.post(f"/v2/models/{name}/infer", json={"inputs": [tensor], **more})


def test_the_open_inference_protocol_predicts_as_the_own_routes_do(client):
    fill(client)
    assert client.get("/v2").json()["name"] == "rosenblatt"
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json() == {"ready": True}
    cases = {
        "numbers": ({"datatype": "FP64", "shape": [2, 2], "data": [[1, 2], [2, 1]]}, [[1, 2], [2, 1]], "BYTES"),
        "heights": ({"datatype": "FP32", "shape": [2, 2], "data": [1, 2, 2, 1]}, [[1, 2], [2, 1]], "FP64"),
        "texts": ({"datatype": "BYTES", "shape": [2], "data": ["win", "lunch"]}, ["win", "lunch"], "BYTES"),
        "objects": ({"datatype": "BYTES", "shape": [1], "data": ['{"pay": 2}']}, [{"pay": 2}], "BYTES"),
    }
    for name, (tensor, rows, datatype) in cases.items():
        about = client.get(f"/v2/models/{name}").json()
        assert about["outputs"][0]["datatype"] == datatype
        assert client.get(f"/v2/models/{name}/ready").json() == {"name": name, "ready": True}
        found = infer(client, name, {"name": "x", **tensor}, id="7").json()
        own = client.post(f"/v1/models/{name}/predict", json=[{"x": row} for row in rows]).json()
        wanted = [one["y"] for one in own["predictions"]]
        assert found == {
            "model_name": name,
            "model_version": str(own["seq"]),
            "id": "7",
            "outputs": [{"name": "y", "datatype": datatype, "shape": [len(rows)], "data": wanted}],
        }
    assert client.get("/v2/models/empty/ready").status_code == 409


@pytest.mark.parametrize(
    "tensor",
    [
        {"datatype": "FP64", "shape": [2, 2], "data": [1, 2, 3]},
        {"datatype": "FP64", "shape": [-1, 2], "data": [1, 2, 3]},
        {"datatype": "FP64", "shape": [2], "data": [1, 2]},
        {"datatype": "FP64", "shape": [1, 0], "data": []},
        {"datatype": "FP64", "shape": [1, 2], "data": ["a", None]},
        {"datatype": "FP64", "shape": [10**12, 10**12], "data": [1]},
        {"datatype": "FP64", "shape": [1, 3], "data": [1, 2, 3]},
        {"datatype": "BYTES", "shape": [1], "data": ["win"]},
        {"datatype": "BYTES", "shape": [1], "data": [7]},
        {"datatype": "BYTES", "shape": [1], "data": ["{"]},
    ],
    ids=str,
)
def test_tensors_that_are_no_rows_of_the_model_are_refused(client, tensor):
    fill(client)
    answer = infer(client, "numbers", {"name": "x", **tensor})
    assert answer.status_code in (400, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_explanations_add_up_to_the_scores(client):
    fill(client)
    found = client.post("/v1/models/texts/explain", json={"x": "win lunch"}).json()
    assert re.search(r"win|lunch", found["text"])
    assert found["seq"] == 1
    score = client.post("/v1/models/texts/predict?scores=true", json={"x": "win lunch"}).json()
    assert score["predictions"][0]["scores"] is not None


@pytest.mark.long
def test_the_service_does_what_its_description_says(server):
    schemathesis = pytest.importorskip("schemathesis")
    schema = schemathesis.openapi.from_url(f"{server.address}openapi.json")

    # Which rows suit a model is not in the description: it follows from what the model has learned.
    left_out = [schemathesis.checks.CHECKS.get_one("positive_data_acceptance")]
    for operation in schema.get_all_operations():
        about = operation.ok()
        names = [{"model": name} for name in (*MODELS, "nobody")] if "{model}" in about.path else [None]
        for mode in list(schemathesis.GenerationMode)[: 2 if about.body or about.query else 1]:

            @given(one_of([about.as_strategy(generation_mode=mode, path_parameters=name) for name in names]))
            @settings(max_examples=CASES, suppress_health_check=list(HealthCheck))
            def ask(case):
                fill(server.client)
                case.call_and_validate(excluded_checks=left_out)

            ask()
