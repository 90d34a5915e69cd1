"""A request that cannot be understood is refused with a problem, and nothing is learned from it."""

import asyncio
import json
import threading

import httpx
import numpy as np
import pyarrow as pa
import pytest

import rosenblatt
from rosenblatt.serving import app as limits
from rosenblatt.serving.problems import PROBLEMS
from served import contents

MODEL = "/v1/models/m"
ROW = {"x": [1.0, 2.0], "y": "a"}
OBJECT = {"x": {"pay": 1.0, "city": "Ulm"}, "y": "a"}
ARROW = "application/vnd.apache.arrow.stream"


def kind(answer):
    """The kind of a problem, whose answer has all members, and nothing of this machine."""
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    name = found["type"].removeprefix("/problems#")
    assert (found["status"], found["title"]) == PROBLEMS[name]
    assert found["status"] == answer.status_code
    assert found["detail"]
    assert "Traceback" not in answer.text
    assert "site-packages" not in answer.text
    assert "/tmp" not in answer.text
    return name


@pytest.fixture
def numbers(client):
    """A client of a model of numbers, which must be as it was when the test ends."""
    client.put(MODEL, json={"learner": "perceptron"})
    client.post(f"{MODEL}/learn", json=[ROW, {"x": [0.0, 1.0], "y": "b"}])
    before = contents(client.get(f"{MODEL}/file").content), client.get(f"{MODEL}/metrics").json()
    yield client
    assert (contents(client.get(f"{MODEL}/file").content), client.get(f"{MODEL}/metrics").json()) == before


BODIES = {
    "no body": ("", "not-json"),
    "not JSON": ("{", "not-json"),
    "not UTF-8": (b'{"x": "\xff", "y": "a"}', "not-json"),
    "deep": ('{"x": ' + "[" * 100_000, "not-json"),
    "deep and closed": ('{"y": "a", "x": ' + "[" * 10_000 + "]" * 10_000 + "}", "not-json"),
    "NaN": ('{"x": [NaN, 1], "y": "a"}', "not-json"),
    "infinite": ('{"x": [1, -Infinity], "y": "a"}', "not-json"),
    "too large for a number": ('{"x": [1, 1e999], "y": "a"}', "invalid-row"),
    "too large a label": ('{"x": [1, 2], "y": 1e999}', "invalid-row"),
    "too large an integer": ('{"x": [1, ' + "9" * 400 + '], "y": "a"}', "invalid-row"),
    "no rows": ("[]", "invalid-row"),
    "no label": ('{"x": [1, 2]}', "invalid-row"),
    "an unknown name": ('{"x": [1, 2], "y": "a", "z": 1}', "invalid-row"),
    "a negative weight": ('{"x": [1, 2], "y": "a", "weight": -1}', "invalid-row"),
    "a label that is null": ('{"x": [1, 2], "y": null}', "invalid-row"),
    "another length": ('{"x": [1, 2, 3], "y": "a"}', "invalid-row"),
    "two lengths": ('[{"x": [1, 2], "y": "a"}, {"x": [1], "y": "a"}]', "invalid-row"),
    "an empty row": ('{"x": [], "y": "a"}', "invalid-row"),
    "rows in a row": ('{"x": [[1, 2]], "y": "a"}', "invalid-row"),
    "texts": ('{"x": ["1", "b"], "y": "a"}', "invalid-row"),
    "a text": ('{"x": "1 2", "y": "a"}', "invalid-row"),
    "objects": ('{"x": {"a": "b"}, "y": "a"}', "invalid-row"),
    "numbers and objects": ('[{"x": [1, 2], "y": "a"}, {"x": {"a": 1}, "y": "a"}]', "invalid-row"),
    "a label of another type": ('{"x": [1, 2], "y": 7}', "invalid-row"),
    "a bad row after good ones": ('[{"x": [5, 5], "y": "b"}, {"x": [5, 5], "y": "c"}, {"x": [1], "y": "a"}]',
                                  "invalid-row"),
}  # fmt: skip


@pytest.mark.parametrize("case", BODIES)
def test_nothing_is_learned_from_a_request_that_is_refused(numbers, case):
    body, wanted = BODIES[case]
    answer = numbers.post(f"{MODEL}/learn", content=body, headers={"content-type": "application/json"})
    assert kind(answer) == wanted, answer.text


@pytest.mark.parametrize("path", ["predict", "labels", "explain", "rollback"])
@pytest.mark.parametrize("body", ["", "{", "[", "7", '"x"', "[]", "{}", '{"x": 1e999}', "[" * 50_000])
def test_other_bodies_are_refused_as_well(numbers, path, body):
    answer = numbers.post(f"{MODEL}/{path}", content=body, headers={"content-type": "application/json"})
    assert kind(answer) in ("not-json", "invalid-row")


def test_a_fault_has_its_place(numbers):
    rows = [ROW, {**ROW, "weight": "heavy"}]
    assert numbers.post(f"{MODEL}/learn", json=rows).json()["place"] == "$[1].weight"
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    ndjson = {"content-type": "application/x-ndjson"}
    assert numbers.post(f"{MODEL}/learn", content=lines, headers=ndjson).json()["place"] == "line 2, $.weight"


@pytest.mark.parametrize("media", ["application/xml", "application/x-www-form-urlencoded", "text/csv", "x"])
def test_media_types_that_are_not_of_the_model_are_refused(numbers, media):
    answer = numbers.post(f"{MODEL}/learn", content="1,2,a", headers={"content-type": media})
    assert kind(answer) == "unknown-media-type"


def test_a_body_is_refused_by_its_size_declared_or_not(numbers):
    body = b" " * (limits.MAX_BODY + 1)
    assert kind(numbers.post(f"{MODEL}/learn", content=body)) == "too-large"
    parts = (body[k : k + 65536] for k in range(0, len(body), 65536))  # chunked
    assert kind(numbers.post(f"{MODEL}/learn", content=parts)) == "too-large"


def test_rows_keys_ids_labels_and_names_have_limits(numbers):
    rows = [ROW] * (limits.MAX_ROWS + 1)
    assert kind(numbers.post(f"{MODEL}/learn", json=rows)) == "too-large"
    key = {"idempotency-key": "k" * 201}
    assert kind(numbers.post(f"{MODEL}/learn", json=ROW, headers=key)) == "invalid-row"
    assert kind(numbers.post(f"{MODEL}/predict", json={"x": [1, 2], "id": "i" * 201})) == "invalid-row"
    assert kind(numbers.post(f"{MODEL}/predict", json={"x": [1, 2], "id": ""})) == "invalid-row"
    assert kind(numbers.post(f"{MODEL}/learn", json={**ROW, "y": "y" * 1001})) == "invalid-row"
    for name in ("M", "m" * 65, "-m", "_m", "m m", "é"):
        assert kind(numbers.put(f"/v1/models/{name}", json={})) == "invalid-row"


def test_a_model_has_no_more_classes_and_weights_than_the_limits(client):
    client.put(MODEL, json={"learner": "perceptron"})
    rows = [{"x": [1, 2], "y": f"class {k}"} for k in range(1001)]
    assert kind(client.post(f"{MODEL}/learn", json=rows)) == "too-many"
    assert client.post(f"{MODEL}/learn", json=rows[:1000]).status_code == 200
    assert kind(client.post(f"{MODEL}/learn", json=rows[1000])) == "too-many"
    wide = [{"x": [1] * 100_000, "y": f"class {k}"} for k in range(3)]
    client.put("/v1/models/wide", json={"learner": "perceptron"})
    for row in wide:
        assert client.post("/v1/models/wide/learn", json=row).status_code == 200
    many = [{"x": [], "y": f"more {k}"} for k in range(700)]
    client.put("/v1/models/bits", json={"learner": "perceptron", "bits": 24, "format": "jsonl"})
    rows = [{"x": {"a": 1}, "y": row["y"]} for row in many[:5]]
    assert kind(client.post("/v1/models/bits/learn", json=rows)) == "too-many"


SETTINGS = [
    {"learner": "nobody"},
    {"learner": "perceptron", "parameters": {"nothing": 1}},
    {"learner": "perceptron", "parameters": {"eta0": -1}},
    {"learner": "perceptron", "parameters": {"eta0": "x"}},
    {"learner": "perceptron", "parameters": {"callback": "os.system"}},
    {"format": "parquet"},
    {"format": "nothing"},
    {"format": "csv"},
    {"format": "csv", "columns": {"a": "matrix"}},
    {"format": "numbers", "dictionary": True},
    {"format": "text", "columns": {"a": "number"}},
    {"format": "text", "words": [3, 1]},
    {"format": "text", "words": [1, 10**9]},
    {"format": "text", "counts": "many"},
    {"format": "text", "standardise": True},
    {"labels": "colours"},
    {"bits": 25},
    {"bits": 0},
    {"learner": "adaline-regressor", "labels": "text"},
    {"cross": ["a*b"], "format": "text"},
    {"cross": ["*"], "format": "csv", "columns": {"a": "category"}},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=map(str, SETTINGS))
def test_settings_that_no_model_can_have_are_refused_when_it_is_created(client, settings):
    assert kind(client.put(MODEL, json=settings)) == "invalid-row"
    assert client.get("/v1/models").json() == {"models": []}


@pytest.mark.parametrize(
    "parameters",
    [{"init": [[1], 2]}, {"init": "x"}, {"class_weight": {"a": "b"}}, {"random_state": "x"}],
    ids=str,
)
def test_parameters_that_do_not_fit_the_rows_are_refused_with_the_first_of_them(client, parameters):
    created = client.put(MODEL, json={"learner": "perceptron", "parameters": parameters})
    refused = created if created.status_code != 201 else client.post(f"{MODEL}/learn", json=ROW)
    assert kind(refused) == "invalid-row"


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "flipped", "pickle"])
def test_a_file_that_is_no_model_is_refused(client, tmp_path, damage):
    path = tmp_path / "m"
    rosenblatt.save(rosenblatt.Perceptron().fit(np.eye(2), [0, 1]), path)
    content = path.read_bytes()
    body = {
        "empty": b"",
        "text": b"not a model",
        "cut": content[:-1],
        "flipped": content[:900] + bytes([content[900] ^ 1]) + content[901:],
        "pickle": b"\x80\x04cos\nsystem\n(S'true'\ntR.",
    }[damage]
    answer = client.put(MODEL, content=body, headers={"content-type": "application/octet-stream"})
    assert kind(answer) == "invalid-row"
    assert client.get("/v1/models").json() == {"models": []}
    whole = client.put(MODEL, content=content, headers={"content-type": "application/octet-stream"})
    assert whole.status_code == 201


@pytest.fixture
def objects(client):
    """A client of a model of objects, which must be as it was when the test ends."""
    client.put(MODEL, json={"learner": "perceptron"})
    client.post(f"{MODEL}/learn", json=[OBJECT, {**OBJECT, "y": "b"}])
    before = contents(client.get(f"{MODEL}/file").content), client.get(f"{MODEL}/metrics").json()
    yield client
    assert (contents(client.get(f"{MODEL}/file").content), client.get(f"{MODEL}/metrics").json()) == before


def stream(table, **options):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


GOOD = pa.table({"pay": [1.0, 2.0], "city": ["Ulm", "Bonn"], "label": ["a", "b"]})
STREAMS = {
    "lz4": lambda: stream(GOOD, compression="lz4"),
    "zstd": lambda: stream(GOOD, compression="zstd"),
    "a dictionary": lambda: stream(GOOD.set_column(1, "city", GOOD["city"].dictionary_encode())),
    "lists": lambda: stream(GOOD.append_column("l", pa.array([[1], [2]]))),
    "run ends": lambda: stream(
        GOOD.append_column("l", pa.chunked_array([pa.RunEndEncodedArray.from_arrays([2], [1.0])]))
    ),
    "binary": lambda: stream(GOOD.append_column("l", pa.array([b"a", b"b"]))),
    "views": lambda: stream(GOOD.append_column("l", pa.array(["a", "b"], pa.string_view()))),
    "no label": lambda: stream(GOOD.drop(["label"])),
    "a value that is infinite": lambda: stream(GOOD.set_column(0, "pay", pa.array([1.0, float("inf")]))),
    "a label that is null": lambda: stream(GOOD.set_column(2, "label", pa.array(["a", None]))),
    "a label that is NaN": lambda: stream(GOOD.set_column(2, "label", pa.array([1.0, float("nan")]))),
    "a negative weight": lambda: stream(GOOD.append_column("weight", pa.array([1.0, -1.0]))),
    "two columns of a name": lambda: stream(
        pa.Table.from_arrays([*GOOD.columns, pa.array([1.0, 2.0])], names=["pay", "city", "label", "pay"])
    ),
    "no rows": lambda: stream(GOOD.slice(0, 0)),
    "not a stream": lambda: b"not a stream",
    "nothing": lambda: b"",
}


@pytest.mark.parametrize("case", STREAMS)
def test_streams_of_arrow_that_are_refused(objects, case):
    answer = objects.post(f"{MODEL}/learn", content=STREAMS[case](), headers={"content-type": ARROW})
    assert kind(answer) == "invalid-row"


def test_a_stream_of_arrow_that_is_cut_or_damaged_anywhere_is_refused_or_learned_as_rows(client):
    """What Arrow reads from damaged bytes is checked before anything follows its offsets."""
    client.put(MODEL, json={"learner": "perceptron"})
    client.post(f"{MODEL}/learn", json=[OBJECT, {**OBJECT, "y": "b"}])
    body = stream(GOOD)
    random = np.random.default_rng(0)
    damaged = [body[:size] for size in range(0, len(body), 40)]
    for _ in range(150):
        one = bytearray(body)
        for place in random.integers(len(body), size=2):
            one[place] = random.integers(256)
        damaged.append(bytes(one))
    for one in damaged:
        answer = client.post(f"{MODEL}/learn", content=one, headers={"content-type": ARROW})
        if answer.status_code == 200:
            assert answer.json()["learned"] <= 2
        else:
            assert kind(answer) in ("invalid-row", "too-many")


def test_a_body_that_does_not_arrive_is_not_waited_for(numbers, monkeypatch):
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.05)
    transport = httpx.ASGITransport(numbers.app)

    async def slowly():
        yield b'{"x": '
        await asyncio.sleep(1)
        yield b'[1, 2], "y": "a"}'

    async def ask():
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as one:
            return await one.post(f"{MODEL}/learn", content=slowly())

    assert kind(numbers.portal.call(ask)) == "slow-request"


def test_a_full_queue_is_said_and_nothing_of_it_is_learned(client):
    """Many requests at once: those that are refused are to be sent again, the others are learned once."""
    client.put(MODEL, json={"learner": "perceptron"})
    transport = httpx.ASGITransport(client.app)

    async def ask():
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as one:
            return await asyncio.gather(*(one.post(f"{MODEL}/learn", json=ROW) for _ in range(1500)))

    answers = client.portal.call(ask)
    refused = [answer for answer in answers if answer.status_code == 429]
    learned = [answer.json()["seq"] for answer in answers if answer.status_code == 200]
    assert refused
    assert len(refused) + len(learned) == 1500
    assert all(kind(answer) == "busy" and answer.headers["retry-after"] == "1" for answer in refused)
    assert sorted(learned) == list(range(1, len(learned) + 1))
    assert client.get(f"{MODEL}/metrics").json()["rows"] == len(learned)


def test_a_request_that_is_sent_twice_at_once_is_learned_once(server):
    server.client.put(MODEL, json={"learner": "perceptron"})
    before = server.client.get(f"{MODEL}/metrics").json()["rows"]
    answers = []

    def send():
        key = {"idempotency-key": "the same"}
        answers.append(httpx.post(f"{server.address}v1/models/m/learn", json=ROW, headers=key).json())

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert all(answer == answers[0] for answer in answers)
    assert server.client.get(f"{MODEL}/metrics").json()["rows"] == before + 1


def test_a_key_with_another_body_path_or_media_type_is_refused(numbers):
    numbers.put("/v1/models/n", json={"learner": "perceptron"})
    learn, key = "/v1/models/n/learn", {"idempotency-key": "k"}
    first = numbers.post(learn, json=ROW, headers=key).json()
    assert numbers.post(learn, json=ROW, headers=key).json() == first
    assert kind(numbers.post(learn, json=[ROW], headers=key)) == "other-body"
    assert kind(numbers.post(f"{learn}?label=y", json=ROW, headers=key)) == "other-body"
    late = {"id": 1, "y": "a"}
    assert kind(numbers.post("/v1/models/n/labels", json=late, headers=key)) == "other-body"
    assert numbers.get("/v1/models/n/metrics").json()["seq"] == 1


def test_late_labels_are_refused_as_a_whole(numbers):
    assert kind(numbers.post(f"{MODEL}/labels", json={"id": "unknown", "y": "a"})) == "unknown-id"


def test_rows_that_wait_are_not_replaced_by_others(client):
    client.put(MODEL, json={"learner": "perceptron"})
    client.post(f"{MODEL}/learn", json=ROW)
    keep = f"{MODEL}/predict"
    assert client.post(keep, json={"x": [1, 2], "id": 7}).status_code == 200
    assert client.post(keep, json={"x": [1, 2], "id": 7}).status_code == 200  # sent again
    assert kind(client.post(keep, json={"x": [3, 4], "id": 7})) == "other-row"
    assert kind(client.post(keep, json=[{"x": [1, 2], "id": 8}, {"x": [3, 4], "id": 8}])) == "other-row"
    assert client.post(keep, json={"x": [3, 4], "id": "7"}).status_code == 200  # a text is another id
    labels = [{"id": 7, "y": "a"}, {"id": 9, "y": "a"}]
    assert kind(client.post(f"{MODEL}/labels", json=labels)) == "unknown-id"
    assert kind(client.post(f"{MODEL}/labels", json=[labels[0]] * 2)) == "invalid-row"
    assert client.get(f"{MODEL}/metrics").json()["waiting"] == 2
    assert client.post(f"{MODEL}/labels", json=labels[0]).status_code == 200
    assert kind(client.post(f"{MODEL}/labels", json=labels[0])) == "unknown-id"


def test_a_model_that_has_learned_nothing_says_so(client):
    client.put(MODEL, json={})
    for method, path in (("GET", "file"), ("POST", "snapshots")):
        assert kind(client.request(method, f"{MODEL}/{path}")) == "nothing-learned"
    for path, body in (("predict", {"x": "a"}), ("predict", {"x": "a", "id": 1}), ("explain", {"x": "a"})):
        assert kind(client.post(f"{MODEL}/{path}", json=body)) == "nothing-learned"


def test_models_that_are_not_there_and_those_that_are(numbers):
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/learn"), ("POST", "/predict"), ("GET", "/file")):
        assert kind(numbers.request(method, f"/v1/models/other{path}", json=ROW)) == "no-model"
    assert kind(numbers.put(MODEL, json={})) == "model-exists"
    assert kind(numbers.get("/nothing")) == "not-found"
    assert kind(numbers.patch(MODEL)) == "wrong-method"


def test_a_switch_that_is_neither_true_nor_false_is_refused(numbers):
    for query in ("scores=1", "scores=maybe", "probabilities="):
        assert kind(numbers.post(f"{MODEL}/predict?{query}", json={"x": [1, 2]})) == "invalid-row"


def test_a_query_that_is_unknown_is_refused(numbers):
    answer = numbers.post(f"{MODEL}/predict?score=true", json={"x": [1, 2]})
    assert kind(answer) == "invalid-row"
    assert "scores" in answer.json()["detail"]
    assert kind(numbers.get("/v1/models?page=2")) == "invalid-row"


ODD = [[[1], {}], [[1, 2], [3]], {"a": 10**400}, {"a": -(10**400)}, {"a": [10**400]}, [10**400, 1]]


@pytest.mark.parametrize("format", ["numbers", "jsonl", "text", "vw"])
@pytest.mark.parametrize("x", ODD, ids=lambda x: f"{x!s:.20}")
def test_rows_of_odd_content_are_refused_first_and_later(client, format, x):
    good = {"numbers": {"a": 1.0}, "jsonl": {"a": 1}, "text": "a b", "vw": "|n a"}[format]
    client.put(MODEL, json={"format": format, "learner": "perceptron"})
    first = client.post(f"{MODEL}/learn", json={"x": x, "y": "a"})
    assert first.status_code == 200 or kind(first) == "invalid-row"
    client.put("/v1/models/n", json={"format": format, "learner": "perceptron"})
    rows = [{"x": good, "y": "a"}, {"x": good, "y": "b"}]
    assert client.post("/v1/models/n/learn", json=rows).status_code == 200
    for path in ("learn", "predict", "explain"):
        answer = client.post(f"/v1/models/n/{path}", json={"x": x} | ({"y": "a"} if path == "learn" else {}))
        assert answer.status_code == 200 or kind(answer) == "invalid-row"


@pytest.mark.parametrize("digits", [400, 5000])
@pytest.mark.parametrize("body", ['{"x": [1, %s], "y": "a"}', '{"x": [1, 2], "y": %s}', '{"x": {"a": [%s]}, "y": "a"}'])
def test_integers_of_many_digits_are_refused(numbers, body, digits):
    answer = numbers.post(f"{MODEL}/learn", content=body % ("9" * digits), headers={"content-type": "application/json"})
    assert kind(answer) in ("invalid-row", "not-json")


def test_lines_of_another_format_are_no_rows_to_predict(client):
    client.put("/v1/models/lines")
    client.post("/v1/models/lines/learn", json={"x": "a b", "y": "p"})
    answer = client.post("/v1/models/lines/predict", content="a,b\n", headers={"content-type": "text/csv"})
    assert answer.status_code == 415
    assert answer.json()["type"] == "/problems#unknown-media-type"
    answer = client.post("/v1/models/lines/predict", content="a b\n", headers={"content-type": "text/plain"})
    assert answer.json()["predictions"] == [{"y": "p"}]


def test_a_kept_row_has_its_scores_of_the_same_moment(client):
    client.put("/v1/models/kept")
    client.post(
        "/v1/models/kept/learn", json=[{"x": [1, 0], "y": "a"}, {"x": [0, 1], "y": "b"}, {"x": [1, 1], "y": "c"}]
    )
    answer = client.post("/v1/models/kept/predict?scores=true", json=[{"x": [1, 0], "id": 1}, {"x": [0, 1]}]).json()
    assert answer["seq"] == 2
    assert [{*one["scores"]} for one in answer["predictions"]] == [{"a", "b", "c"}] * 2
    assert all(one["y"] == max(one["scores"], key=one["scores"].get) for one in answer["predictions"])
