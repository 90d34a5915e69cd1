"""`rosenblatt lab`: a page on this machine."""

import json
import subprocess
import sys

import pytest

from commands import run
from rosenblatt.lab import server


@pytest.fixture
def served(monkeypatch):
    found = []

    def serve(scene, *, look, port, browser, announce):
        found.append((scene, port, browser, look))
        announce("http://127.0.0.1:1/key/")

    monkeypatch.setattr(server, "serve", serve)
    return found


def test_it_prints_the_address(served):
    assert "http://127.0.0.1:1/key/" in run("lab").stdout
    assert served == [(None, 0, True, {})]


def test_a_port_and_no_browser(served):
    run("lab", "--port", 8123, "--no-browser")
    assert served == [(None, 8123, False, {})]
    run("lab", "--port", 70000, code=2)


def test_a_file_is_shown_first(served, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("kind,x,y\nno,0,0\nyes,1,1\nyes,1,0\n")
    told = run("lab", path, "--label", "kind")
    assert "3 points, 2 features, 2 classes" in told.stdout
    scene = served[0][0]
    assert scene.points == ((0.0, 0.0, 0), (1.0, 1.0, 1), (1.0, 0.0, 1))


def test_a_saved_scene_is_opened_at_its_trial(served, tmp_path):
    path = tmp_path / "scene.json"
    path.write_text(json.dumps({"data": "xor", "learner": "Adaline", "params": {"eta0": 0.5}, "t": 7, "view": "slice"}))
    run("lab", path)
    scene, _, _, look = served[0]
    assert (scene.data, scene.learner, dict(scene.params)) == ("xor", "Adaline", {"eta0": 0.5})
    assert look == {"t": 7, "view": "slice"}
    for text, fault in [("{", "not a scene"), ("[1]", "not a scene"), ('{"data": "xor", "t": -1}', "not a trial")]:
        path.write_text(text)
        assert fault in run("lab", path, code=1).stderr


def test_the_lab_is_exported_to_a_folder_or_a_file_without_a_server(served, tmp_path):
    assert str(tmp_path / "site" / "index.html") in run("lab", "--export", tmp_path / "site").stdout
    scene = tmp_path / "scene.json"
    scene.write_text(json.dumps({"data": "xor", "t": 3}))
    run("lab", scene, "--export", tmp_path / "lab.html")
    text = (tmp_path / "lab.html").read_text()
    assert text.startswith("<!doctype html>")
    assert '"data": "xor"' in text
    assert served == []


def test_a_file_that_cannot_be_shown_is_an_error_in_one_sentence(served, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x,y,kind\n0,0,a\n")
    assert "1 class" in run("lab", path, code=1).stderr
    run("lab", tmp_path / "none.csv", code=2)
    assert served == []


def test_there_is_no_way_to_listen_to_other_machines(served):
    run("lab", "--host", "0.0.0.0", code=2)


def test_without_the_extra_the_error_names_it():
    program = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'starlette': raise ImportError('No module named starlette')\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from rosenblatt.cli.main import main\n"
        "main(['lab'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert 'pip install "rosenblatt[lab]"' in done.stderr
