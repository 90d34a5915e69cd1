"""The server: for the lab's own page on this machine, and for nobody else."""

import json
import socket
import subprocess
import sys
import threading
import time
import warnings

import anyio
import httpx
import pytest
from safetensors.numpy import load

from rosenblatt.errors import InvalidInput
from rosenblatt.lab import server
from rosenblatt.lab.scene import Scene

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of Starlette, about the client's next version
    from starlette.testclient import TestClient

KEY = "a-secret"
HOST = "http://127.0.0.1:8000"
OWN = {"origin": HOST, "sec-fetch-site": "same-origin"}


@pytest.fixture
def client():
    return TestClient(server.create_app(KEY), base_url=HOST)


def post(client, kind, body, headers=OWN, **options):
    return client.post(f"/{KEY}/{kind}", json=body, headers=headers, **options)


def message(response):
    return response.json()["error"]


# ------------------------------------------------------------------------------------------------------------ answers


def test_the_page_and_its_parts_are_served(client):
    page = client.get(f"/{KEY}/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    script = client.get(f"/{KEY}/static/lab.js")
    assert script.headers["content-type"].startswith("text/javascript")
    found = client.get(f"/{KEY}/catalogue").json()
    assert len(found["chapters"]) == 5


def test_each_question_is_answered(client):
    run = load(post(client, "run", {"data": "or"}).content)
    assert run["W"][-1, 0].tolist() == [2, 2, -1]
    assert post(client, "certificate", {"data": "xor"}).json()["file"]["multipliers"] == ["1"] * 4
    assert load(post(client, "surface", {"data": "moons", "t": 9, "way": "average"}).content)["label"].shape == (4096,)
    assert post(client, "code", {"t": 3}).text.startswith("from rosenblatt import")
    page = post(client, "page", {"data": "xor", "t": 3})
    assert page.headers["content-type"].startswith("text/plain"), "a file to save, and not a page to open here"
    assert page.text.startswith("<!doctype html>")
    table = post(client, "table", {"text": "a,b,y\n1,2,u\n3,4,v\n"}).json()
    assert table["points"] == [[1.0, 2.0, 0], [3.0, 4.0, 1]]


def test_a_fit_that_does_not_converge_is_no_warning_for_the_terminal(client):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert post(client, "run", {"data": "overlap", "epochs": 2}).status_code == 200


@pytest.mark.parametrize("data", [{"data": "nor"}, {"learner": "Tree"}, {"data": "points", "points": [[0, 0, 0]]}])
def test_a_wrong_question_gets_400_and_a_message(client, data):
    for kind in ("run", "certificate", "code", "surface"):
        response = post(client, kind, data)
        assert response.status_code == 400
        assert message(response).endswith((".", "?"))


def test_an_unknown_question_gets_400_and_names_the_known_ones(client):
    response = post(client, "certificates", {})
    assert response.status_code == 400
    assert "Did you mean 'certificate'" in message(response)


def test_the_server_listens_before_the_engine_is_loaded():
    program = "import sys, rosenblatt.lab.server; print(sorted({'numpy', 'numba', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


# ----------------------------------------------------------------------------------------------------------- security


def test_every_answer_has_the_headers(client):
    answers = [client.get(f"/{KEY}/"), client.get("/"), client.get(f"/{KEY}/static/lab.js"), post(client, "run", {})]
    answers += [client.get(f"/{KEY}/nothing"), post(client, "run", {"data": "nor"}), client.put(f"/{KEY}/run")]
    for answer in answers:
        for name, value in server.HEADERS.items():
            assert answer.headers[name] == value
        assert not any(name.startswith("access-control") for name in answer.headers)
    for part in ("default-src 'none'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"):
        assert part in server.POLICY
    assert "unsafe" not in server.POLICY


@pytest.mark.parametrize(
    "path", ["/", "/static/lab.js", "/run", "/a-secre/", "/a-secret2/", "//a-secret/", "/%61-secret2/", "/é/"]
)
def test_without_the_key_there_is_nothing(client, path):
    response = client.get(path)
    assert response.status_code == 404
    assert "rosenblatt lab" in message(response)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "10.0.0.1", ""])
def test_another_host_is_refused(client, host):
    assert client.get(f"/{KEY}/", headers={"host": host}).status_code == 400
    assert post(client, "run", {}, {**OWN, "host": host}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": HOST},
        {"sec-fetch-site": "same-origin"},
        {"origin": "http://evil.example", "sec-fetch-site": "same-origin"},
        {"origin": "http://127.0.0.1:9000", "sec-fetch-site": "same-origin"},
        {"origin": "https://127.0.0.1:8000", "sec-fetch-site": "same-origin"},
        {"origin": "null", "sec-fetch-site": "same-origin"},
        {"origin": HOST, "sec-fetch-site": "cross-site"},
        {"origin": HOST, "sec-fetch-site": "same-site"},
    ],
)
def test_only_the_own_page_may_post(client, headers):
    response = post(client, "run", {"data": "or"}, headers)
    assert response.status_code == 403
    assert message(response) == "Only the lab's own page may ask."


def test_other_sites_get_no_parts_but_a_link_works(client):
    other = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert client.get(f"/{KEY}/static/lab.js", headers=other).status_code == 403
    assert client.get(f"/{KEY}/", headers=other | {"sec-fetch-mode": "navigate"}).status_code == 200


def test_a_question_is_json(client):
    path = f"/{KEY}/run"
    form = client.post(path, data={"data": "or"}, headers=OWN)
    assert form.status_code == 415
    json_type = {**OWN, "content-type": "application/json"}
    for content in (b"", b"{", b"[]", b"3", b"\xff\xfe", b'{"data": NaN}', b"[" * 100_000):
        response = client.post(path, content=content, headers=json_type)
        assert response.status_code == 400
        assert "JSON" in message(response)


def test_other_methods_are_refused(client):
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert client.request(method, f"/{KEY}/run", headers=OWN).status_code == 405
    assert client.get(f"/{KEY}/run").status_code == 405


def test_a_huge_question_is_refused_before_it_is_read(client):
    large = b" " * (server.MAX_BODY_BYTES + 1)
    headers = {**OWN, "content-type": "application/json"}
    assert client.post(f"/{KEY}/run", content=large, headers=headers).status_code == 413

    def parts():  # without a length that says so beforehand
        for _ in range(7):
            yield b" " * 1_000_000

    assert client.post(f"/{KEY}/run", content=parts(), headers=headers).status_code == 413
    lying = client.post(f"/{KEY}/run", content=b"{}", headers={**headers, "content-length": "99999999999"})
    assert lying.status_code == 413


@pytest.mark.parametrize(
    "name", ["../server.py", "..%2fserver.py", "%2e%2e/server.py", "/etc/passwd", "....//server.py", "lab.js%00"]
)
def test_nothing_outside_the_folder_is_served(client, name):
    assert client.get(f"/{KEY}/static/{name}").status_code in (404, 405, 400)


def test_a_script_in_an_upload_comes_back_as_text_of_json(client):
    response = post(client, "table", {"text": "a,b,y\n1,2,<script>alert(1)</script>\n3,4,v\n"})
    assert response.headers["content-type"] == "application/json"
    assert "<script>alert(1)</script>" in json.loads(response.content)["classes"]
    broken = post(client, "run", {"data": "<img src=x onerror=alert(1)>"})
    assert broken.headers["content-type"] == "application/json"


def test_an_error_of_the_lab_itself_is_a_message_too(client, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(server, "answer", fail)
    response = post(client, "run", {})
    assert response.status_code == 500
    assert "secret detail" not in response.text


# ------------------------------------------------------------------------------------------------------------- limits


def test_one_question_at_a_time_four_wait_and_the_next_is_refused(monkeypatch):
    begun, go_on = threading.Semaphore(0), threading.Event()
    at_once = []

    def slow(kind, body):
        at_once.append(1)
        begun.release()
        go_on.wait(20)
        at_once.pop()
        return {"most": len(at_once)}

    monkeypatch.setattr(server, "answer", slow)
    with TestClient(server.create_app(KEY), base_url=HOST) as client:
        found = []
        threads = [threading.Thread(target=lambda: found.append(post(client, "run", {}))) for _ in range(5)]
        for thread in threads:
            thread.start()
        assert begun.acquire(timeout=20)
        deadline = time.monotonic() + 20
        refused = post(client, "run", {}) if _all_wait(client, deadline) else None
        assert refused is not None
        assert refused.status_code == 429
        assert "busy" in message(refused)
        assert len(at_once) == 1
        go_on.set()
        for thread in threads:
            thread.join(20)
    assert [one.status_code for one in found] == [200] * 5
    assert all(one.json() == {"most": 0} for one in found)


class Caller:
    """Somebody who posts a question to the application by hand, piece by piece."""

    def __init__(self, app, kind, pieces, then, whole=True):
        self.app, self.path, self.pieces = app, f"/{KEY}/{kind}", list(pieces)
        self.then, self.whole, self.status = then, whole, None

    async def receive(self):
        if self.pieces:
            piece = self.pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self.pieces) or not self.whole}
        if self.then == "silence":
            await anyio.sleep_forever()
        return {"type": "http.disconnect"}

    async def send(self, message):
        self.status = message.get("status", self.status)

    async def call(self):
        headers = OWN | {"host": "127.0.0.1:8000", "content-type": "application/json"}
        scope = {"type": "http", "method": "POST", "path": self.path, "raw_path": self.path.encode(), "root_path": ""}
        scope |= {"query_string": b"", "http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 8000)}
        scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]
        await self.app(scope, self.receive, self.send)


def test_half_a_question_is_not_waited_for_and_many_take_no_more_memory_than_a_few(monkeypatch):
    monkeypatch.setattr(server, "BODY_SECONDS", 0.2)
    monkeypatch.setattr(server, "MAX_HELD_BYTES", 10_000)
    app = server.create_app(KEY)
    callers = [Caller(app, "run", [b" " * 1000] * 3, "silence", whole=False) for _ in range(50)]

    async def all_call():
        async with anyio.create_task_group() as tasks:
            for caller in callers:
                tasks.start_soon(caller.call)
        assert app.state.bodies.held == 0
        last = Caller(app, "code", [b'{"data": "or"}'], "silence")
        await last.call()
        return last.status

    assert anyio.run(all_call) == 200
    assert {caller.status for caller in callers} == {408, 503}
    assert sum(caller.status == 408 for caller in callers) <= 10


def test_whoever_goes_away_while_waiting_is_not_answered(monkeypatch, caplog):
    begun, go_on, answered = threading.Event(), threading.Event(), []

    def slow(kind, body):
        answered.append(body["n"])
        begun.set()
        go_on.wait(20)
        return {}

    monkeypatch.setattr(server, "answer", slow)
    app = server.create_app(KEY)

    async def all_call():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Caller(app, "run", [b'{"n": 1}'], "silence").call)
            await anyio.to_thread.run_sync(begun.wait, 20)
            await Caller(app, "run", [b'{"n": 2}'], "gone").call()
            await Caller(app, "run", [b'{"n":'], "gone", whole=False).call()
            go_on.set()

    anyio.run(all_call)
    assert answered == [1]
    assert app.state.queue.asked == app.state.bodies.held == 0
    assert not caplog.records  # that somebody has gone is no failure of the lab


def _all_wait(client, deadline):
    """Whether all questions have arrived."""
    while time.monotonic() < deadline:
        if client.app.state.queue.asked == 5:
            return True
        time.sleep(0.01)
    return False


# ------------------------------------------------------------------------------------------------------------ serving


def test_it_listens_on_this_machine_alone_at_a_secret_address(monkeypatch):
    said, opened = [], []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    running = []

    class Once(server.uvicorn.Server):
        def __init__(self, config):
            super().__init__(config)
            running.append(self)

        def run(self, sockets=None):
            assert [one.getsockname()[0] for one in sockets] == ["127.0.0.1"]
            super().run(sockets)

    monkeypatch.setattr(server.uvicorn, "Server", Once)
    scene = Scene.from_query("data=moons&n=40")
    thread = threading.Thread(target=server.serve, args=(scene,), kwargs={"announce": said.append, "browser": False})
    thread.start()
    deadline = time.monotonic() + 20
    while not (said and running and running[0].started) and time.monotonic() < deadline:
        time.sleep(0.02)
    address = said[0]
    assert address.startswith("http://127.0.0.1:")
    assert address.endswith(f"#{scene.to_query()}")
    assert len(address.split("/")[3]) >= 24
    assert httpx.get(address.partition("#")[0]).status_code == 200
    assert httpx.get("/".join(address.split("/")[:3])).status_code == 404
    running[0].should_exit = True
    thread.join(20)
    assert not thread.is_alive()
    assert opened == []


def test_a_port_that_is_taken_is_rejected_with_a_message():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"Port {port} cannot be used"):
            server.serve(port=port, browser=False)
