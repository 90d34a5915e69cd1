"""A model of the service is what the library learns from the same rows, whatever interrupted the service."""

import io

import numpy as np
import pyarrow as pa
import pytest

import rosenblatt
from rosenblatt.learners import trainable
from rosenblatt.learners.file_model import FileModel
from served import Server, contents

REGRESSIONS = [name for name, cls in trainable().items() if not hasattr(cls, "decision_function")]
CITIES = ["Ulm", "Bonn", "Kiel", "Jena"]
MODEL = "/v1/models/m"


class Plain:
    """The oracle: the same rows, one by one, in calls of the library."""

    def __init__(self, model):
        self.model = model

    def learn(self, row):
        x, y, weight = row["x"], row["y"], row.get("weight", 1.0)
        y = str(y).lower() if isinstance(y, bool) else y
        if isinstance(self.model, FileModel):
            self.model.partial_fit([x], [y], [weight])
        elif weight == 1.0:
            self.model.learn_one(x if isinstance(x, dict) else np.array(x, np.float64), y)
        else:
            self.model.partial_fit(np.array([x], np.float64), [y], sample_weight=[weight])

    @property
    def file(self):
        buffer = io.BytesIO()
        rosenblatt.save(self.model, buffer)
        return buffer.getvalue()

    @property
    def contents(self):
        return contents(self.file)


def rows_of(kind, n=30, weights=True):
    """Rows with noisy labels; every fifth has a weight."""
    random = np.random.default_rng(4)
    rows = []
    for k in range(n):
        x = random.normal(size=3).round(3).tolist()
        words = " ".join(random.choice(["win", "cash", "lunch", "noon", f"day{k}"], 4))
        score = x[0] + (words.count("win") - 0.5) + random.normal() / 3
        label = ["no", "yes", "maybe"][int(score > 0) + int(score > 2)]
        city = CITIES[k % 4]
        row = {
            "numbers": lambda x=x, label=label: {"x": x, "y": label},
            "number labels": lambda x=x, score=score: {"x": x, "y": int(score > 0) + int(score > 2)},
            "true or false": lambda x=x, score=score: {"x": x, "y": bool(score > 0)},
            "regression": lambda x=x, score=score: {"x": x, "y": round(float(score), 3)},
            "names": lambda x=x, label=label: {"x": dict(zip("abc", x, strict=True)), "y": label},
            "objects": lambda x=x, label=label, words=words, city=city: {
                "x": {"pay": x[0], "city": city, "text": words},
                "y": label,
            },
            "text": lambda label=label, words=words: {"x": words, "y": label},
            "columns": lambda x=x, label=label, city=city: {"x": {"age": 50 + 9 * x[0], "city": city}, "y": label},
        }[kind]()
        if weights and kind != "names" and k % 5 == 4:
            row["weight"] = 0.5 + k % 2
        rows.append(row)
    return rows


CASES = {
    **{
        name: ({"learner": name}, "regression" if name in REGRESSIONS else "numbers")
        for name in trainable()
    },
    "numbers as labels": ({"learner": "averaged"}, "number labels"),
    "true or false": ({"learner": "perceptron", "parameters": {"fit_intercept": False}}, "true or false"),
    "numbers by names": ({"learner": "perceptron", "format": "numbers"}, "names"),
    "objects": ({"learner": "averaged"}, "objects"),
    "objects, a dictionary": ({"learner": "arow", "dictionary": True}, "objects"),
    "text": ({"learner": "arow"}, "text"),
    "text, a dictionary": ({"learner": "passive-aggressive", "dictionary": True, "letters": [2, 3]}, "text"),
    "csv, standardised": (
        {"format": "csv", "columns": {"age": "number", "city": "category"}, "standardise": True},
        "columns",
    ),
}  # fmt: skip


def asked(client, method, path, **request):
    answer = client.request(method, MODEL + path, **request)
    assert answer.is_success, answer.text
    return answer.json()


def file_of(client):
    answer = client.get(f"{MODEL}/file")
    assert answer.status_code == 200, answer.text
    return answer.content


def contents_of(client):
    return contents(file_of(client))


@pytest.mark.parametrize("case", CASES)
def test_what_is_learned_is_what_the_library_learns_and_survives_a_crash(case, client, crashed):
    settings, kind = CASES[case]
    rows = rows_of(kind)

    def same_after_crash():
        with crashed() as other:
            assert contents_of(other) == contents_of(client)
            assert asked(other, "GET", "/metrics") == asked(client, "GET", "/metrics")

    asked(client, "PUT", "", json=settings)
    asked(client, "POST", "/learn", json=rows[0])
    if "format" in asked(client, "GET", "") and asked(client, "GET", "")["reading"]:
        plain = Plain(rosenblatt.load(file_of(client)))  # its reading is tested below
    else:
        plain = Plain(trainable()[settings["learner"]](**settings.get("parameters", {})))
        plain.learn(rows[0])

    def learn(chosen, **request):
        found = asked(client, "POST", "/learn", json=chosen, **request)
        for row in chosen:
            plain.learn(row)
        return found

    assert contents_of(client) == plain.contents
    learn(rows[1:6])
    first = asked(client, "POST", "/snapshots")["snapshot"], plain.file
    same_after_crash()

    learn(rows[6:9], headers={"idempotency-key": "k"})
    waiting = [{"x": row["x"], "id": f"id-{k}"} for k, row in enumerate(rows[9:13])]
    predictions = asked(client, "POST", "/predict", json=waiting)["predictions"]
    assert [one["id"] for one in predictions] == [row["id"] for row in waiting]
    learn(rows[13:15])
    late = [{**rows[9 + k], "id": f"id-{k}"} for k in (3, 0)]
    for row in late:
        plain.learn(row)
    asked(client, "POST", "/labels", json=[{name: row[name] for name in row if name != "x"} for row in late])
    assert contents_of(client) == plain.contents
    same_after_crash()

    asked(client, "POST", "/snapshots")
    learn(rows[15:18])
    asked(client, "POST", "/rollback", json={"snapshot": first[0]})
    assert contents_of(client) == contents(first[1])
    same_after_crash()
    plain.model = rosenblatt.load(first[1])
    learn(rows[18:])
    plain.learn(rows[10])
    asked(client, "POST", "/labels", json={"id": "id-1", "y": rows[10]["y"], "weight": rows[10].get("weight", 1.0)})
    assert contents_of(client) == plain.contents
    same_after_crash()


LINES = {
    "text/plain": ({"format": "text"}, ["spam\twin cash", "ham\tlunch at noon", "spam\tcash cash", "ham\tnoon"]),
    "application/x-vw": ({}, ["1 |a x:0.5 y", "2 2.0 |a z", "1 |b y:3", "2 |a z:2 y"]),
    "application/x-svmlight": ({}, ["1 1:0.5 7:2", "-1 2:1", "1 1:2 3:1", "-1 9:1 20:0.25"]),
    "text/csv": (
        {"format": "csv", "columns": {"kind": "label", "age": "number", "city": "category"}},
        ["a,21,Ulm", "b,60,Bonn", "a,33,Kiel", "b,72.5,Ulm"],
    ),
}


@pytest.mark.parametrize("media", LINES)
def test_lines_are_learned_as_the_library_learns_them(media, client, crashed):
    settings, lines = LINES[media]
    asked(client, "PUT", "", json={"learner": "arow", **settings})
    asked(client, "POST", "/learn", content=lines[0], headers={"content-type": media})
    plain = rosenblatt.load(file_of(client))
    labels, weights = plain.reader.labels(lines) if media != "text/plain" else (["spam", "ham"] * 2, None)
    found = asked(client, "POST", "/learn", content="\r\n".join(lines[1:]) + "\n", headers={"content-type": media})
    assert found["learned"] == 3
    texts = [line.partition("\t")[2] for line in lines] if media == "text/plain" else lines
    plain.partial_fit(texts[1:], labels[1:], None if weights is None else weights[1:])
    assert contents_of(client) == Plain(plain).contents
    with crashed() as other:
        assert contents_of(other) == contents_of(client)
    found = asked(client, "POST", "/predict", content="\n".join(texts), headers={"content-type": media})
    assert [one["y"] for one in found["predictions"]] == plain.predict(texts).tolist()


def test_a_stream_of_arrow_is_learned_as_its_rows_are(client, crashed):
    rows = rows_of("objects", weights=False)
    table = pa.Table.from_pylist([row["x"] | {"kind": row["y"], "weight": 2.0} for row in rows])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    asked(client, "PUT", "", json={"learner": "averaged"})
    arrow = {"content-type": "application/vnd.apache.arrow.stream"}
    found = asked(client, "POST", "/learn?label=kind", content=sink.getvalue().to_pybytes(), headers=arrow)
    assert found["learned"] == len(rows)
    client.put("/v1/models/n", json={"learner": "averaged"})
    as_json = [row | {"weight": 2.0} for row in rows]
    assert client.post("/v1/models/n/learn", json=as_json).json() == found
    assert contents(client.get("/v1/models/n/file").content) == contents_of(client)
    with crashed() as other:
        assert contents_of(other) == contents_of(client)


def test_a_model_begins_with_the_reading_that_train_would_choose(client, tmp_path):
    """The first row of a text model: what `rosenblatt train` learns from a file of that line."""
    from commands import run

    line = "spam\twin cash now\n"
    data, model = tmp_path / "one.txt", tmp_path / "one.model"
    data.write_text(line + "ham\tlunch\n")
    run("train", data, "--format", "text", "--learner", "arow", "--epochs", 1, "--model", model)
    trained = rosenblatt.load(model)
    asked(client, "PUT", "", json={"learner": "arow"})
    asked(client, "POST", "/learn", json=[{"x": "win cash now", "y": "spam"}, {"x": "lunch", "y": "ham"}])
    served = rosenblatt.load(file_of(client))
    assert served.reader.reading == trained.reader.reading


def test_kill_9_loses_nothing_and_forgets_no_key(tmp_path):
    rows = {"perceptron": rows_of("numbers"), "averaged": rows_of("objects"), "arow": rows_of("text")}

    def learn(server, name, part, key):
        answer = server.client.post(f"/v1/models/{name}/learn", json=rows[name][part], headers={"idempotency-key": key})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def files(server):
        return {name: contents(server.client.get(f"/v1/models/{name}/file").content) for name in rows}

    with Server(tmp_path / "killed") as server, Server(tmp_path / "whole") as whole:
        for name in rows:
            for one in (server, whole):
                assert one.client.put(f"/v1/models/{name}", json={"learner": name}).status_code == 201
        first = {name: learn(server, name, slice(0, 7), "first") for name in rows}
        assert first == {name: learn(whole, name, slice(0, 7), "first") for name in rows}
        for name in rows:
            assert server.client.post(f"/v1/models/{name}/snapshots").status_code == 201
        second = {name: learn(server, name, slice(7, 12), "second") for name in rows}
        before = files(server)
        server.kill()
        with Server(tmp_path / "killed") as again:
            assert files(again) == before
            for name in rows:  # one key is in the snapshot, one in the journal
                assert learn(again, name, slice(0, 7), "first") == first[name]
                assert learn(again, name, slice(7, 12), "second") == second[name]
            assert files(again) == before
            for name in rows:
                learn(again, name, slice(12, 30), "third")
                learn(whole, name, slice(7, 12), "second")
                learn(whole, name, slice(12, 30), "third")
            assert files(again) == files(whole)
