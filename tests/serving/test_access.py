"""Who may ask: names of the host, pages of other sites, tokens and their scopes, other hosts."""

import base64
import socket

import pytest

from commands import spawn
from rosenblatt.errors import InvalidInput
from rosenblatt.serving.app import check_host
from rosenblatt.serving.tokens import Tokens, add_token

from .conftest import opened

MODEL = "/v1/models/m"
ROW = {"x": [1, 2], "y": "a"}
ROUTES = {
    "predict": [
        *(("GET", path) for path in ("/", "/openapi.json", "/metrics", "/v1/models", MODEL, f"{MODEL}/file", "/v2")),
        *(("GET", path) for path in (f"{MODEL}/metrics", f"{MODEL}/snapshots", "/v2/models/m", "/v2/models/m/ready")),
        *(("POST", path) for path in (f"{MODEL}/predict", f"{MODEL}/explain", "/v2/models/m/infer")),
    ],
    "learn": [("POST", f"{MODEL}/learn"), ("POST", f"{MODEL}/labels")],
    "admin": [("PUT", MODEL), ("DELETE", MODEL), ("POST", f"{MODEL}/snapshots"), ("POST", f"{MODEL}/rollback")],
}


def kind(answer):
    return answer.json()["type"].removeprefix("/problems#")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "", "127.0.0.1.x"])
def test_names_of_other_hosts_are_refused(client, host):
    answer = client.get("/v1/models", headers={"host": host})
    assert (answer.status_code, kind(answer)) == (421, "wrong-host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080"])
def test_names_of_this_host_are_known(client, host):
    assert client.get("/v1/models", headers={"host": host}).status_code == 200


def test_a_name_that_was_allowed_is_known(tmp_path):
    with opened(tmp_path, hosts=["models.example"]) as client:
        assert client.get("/v1/models", headers={"host": "models.example"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost.evil.example"},
        {"origin": "http://localhost:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_pages_of_other_sites_neither_read_nor_learn(client, headers):
    client.put(MODEL, json={"learner": "perceptron"})
    for method, path in (("GET", "/v1/models"), ("POST", f"{MODEL}/learn"), ("PUT", "/v1/models/n")):
        answer = client.request(method, path, json=ROW, headers=headers)
        assert (answer.status_code, kind(answer)) == (403, "foreign-page")
    assert client.get(f"{MODEL}/metrics").json()["seq"] == 0


def test_a_link_on_another_site_leads_to_the_status_page_and_changes_nothing(client):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=headers).status_code == 200
    client.put(MODEL, json={"learner": "perceptron"})
    answer = client.post(f"{MODEL}/learn", json=ROW, headers=headers)
    assert (answer.status_code, kind(answer)) == (403, "foreign-page")


def test_the_own_page_may_ask(client):
    headers = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    assert client.get("/v1/models", headers=headers).status_code == 200


@pytest.fixture
def tokens(tmp_path):
    """A file of tokens, and a token for each scope."""
    path = tmp_path / "tokens"
    return path, {scope: add_token(path, f"{scope}er", scope) for scope in ROUTES}


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def test_each_scope_allows_its_routes_and_no_others(tmp_path, tokens):
    path, known = tokens
    allowed = {"predict": {"predict"}, "learn": {"learn"}, "admin": set(ROUTES)}
    with opened(tmp_path / "models", tokens=Tokens(path)) as client:
        for needed, routes in ROUTES.items():
            for method, route in routes:
                for scope, token in known.items():
                    status = client.request(method, route, headers=bearer(token)).status_code
                    assert (status == 403) == (needed not in allowed[scope]), (method, route, scope)
                    assert status != 401
                for headers in ({}, bearer("wrong"), bearer(""), {"authorization": known["admin"]}):
                    answer = client.request(method, route, headers=headers)
                    assert (answer.status_code, kind(answer)) == (401, "no-token")
                    assert "Bearer" in answer.headers["www-authenticate"]
        assert client.get("/v2/health/live").json() == {"live": True}
        assert client.get("/nothing").status_code == 401


def test_a_browser_sends_the_token_as_a_password(tmp_path, tokens):
    path, known = tokens
    with opened(tmp_path / "models", tokens=Tokens(path)) as client:
        for word, status in ((f"me:{known['predict']}", 200), (known["predict"], 401), (":", 401)):
            headers = {"authorization": "Basic " + base64.b64encode(word.encode()).decode()}
            assert client.get("/", headers=headers).status_code == status
        assert client.get("/", headers={"authorization": "Basic é".encode()}).status_code == 401


def test_keeping_rows_needs_the_scope_learn(tmp_path, tokens):
    path, known = tokens
    with opened(tmp_path / "models", tokens=Tokens(path)) as client:
        assert client.put(MODEL, json={"learner": "perceptron"}, headers=bearer(known["admin"])).status_code == 201
        assert client.post(f"{MODEL}/learn", json=ROW, headers=bearer(known["learn"])).status_code == 200
        asked = {"json": {"x": [1, 2]}, "headers": bearer(known["predict"])}
        assert client.post(f"{MODEL}/predict", **asked).status_code == 200
        asked["json"] = {"x": [1, 2], "id": 7}
        answer = client.post(f"{MODEL}/predict", **asked)
        assert (answer.status_code, kind(answer)) == (403, "no-scope")
        assert client.get(f"{MODEL}/metrics", headers=bearer(known["predict"])).json()["waiting"] == 0


def test_a_token_is_stored_as_its_hash_and_may_come_and_go_while_the_service_runs(tmp_path, tokens):
    path, known = tokens
    assert not any(token in path.read_text() for token in known.values())
    assert path.stat().st_mode & 0o077 == 0
    with opened(tmp_path / "models", tokens=Tokens(path)) as client:
        new = add_token(path, "later", "predict,learn")
        assert client.get("/v1/models", headers=bearer(new)).status_code == 200
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not line.startswith("later")))
        assert client.get("/v1/models", headers=bearer(new)).status_code == 401
        assert client.get("/v1/models", headers=bearer(known["admin"])).status_code == 200
        path.write_text("no tokens at all\n")
        assert client.get("/v1/models", headers=bearer(known["admin"])).status_code == 401
        path.unlink()
        assert client.get("/v1/models", headers=bearer(known["admin"])).status_code == 401


@pytest.mark.parametrize("content", ["me admin abc\n", f"me root {'0' * 64}\n", "me\n"])
def test_a_file_that_has_no_tokens_is_refused(tmp_path, content):
    (tmp_path / "tokens").write_text("# a comment\n" + content)
    with pytest.raises(InvalidInput, match=r"tokens, line 2"):
        Tokens(tmp_path / "tokens")


def test_another_host_needs_tokens(tmp_path):
    for host in ("0.0.0.0", "192.168.0.1", "::", "models.example"):
        with pytest.raises(InvalidInput, match="--token-file"):
            check_host(host, None)
    done = spawn("serve", tmp_path / "models", "--host", "0.0.0.0", "--port", 0, timeout=60)
    assert done.returncode != 0
    assert "--token-file" in done.stderr
    assert not (tmp_path / "models").exists()


def raw(server, request):
    """The first line and the rest of the answer to a request that no client would send."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
    return answer.split(b"\r\n", 1)


PATHS = ["/v1/models/..", "/v1/models/%2e%2e", "/v1/models/..%2f..%2fetc", "/v1/models/M", f"/v1/models/{'m' * 65}",
         "/v1/models/%00", "/v1/models/.lock", "/v1/models/m%0a", "/v1/models/-m", "/v1/models/%c3%a9",
         "/v1/models/../../etc/passwd", "//etc/passwd", "/v1/models/a%2fb", "/v1/models/m/../../x"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_out_of_the_folder(server, path):
    folders = sorted(path.name for path in server.folder.parent.iterdir())
    for method, body in (("PUT", b"{}"), ("GET", b""), ("DELETE", b"")):
        head = (
            f"{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        status, rest = raw(server, head.encode() + body)
        assert int(status.split()[1]) in (400, 404, 405, 422), (method, status)
        assert str(server.folder).encode() not in rest
    assert [one.name for one in server.folder.iterdir()] == [".lock"]
    assert sorted(path.name for path in server.folder.parent.iterdir()) == folders
