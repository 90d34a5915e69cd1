"""`rosenblatt lab`: a page on this machine."""

import subprocess
import sys

import pytest

from commands import run
from rosenblatt.lab import server


@pytest.fixture
def served(monkeypatch):
    found = []

    def serve(scene, *, port, browser, announce):
        found.append((scene, port, browser))
        announce("http://127.0.0.1:1/key/")

    monkeypatch.setattr(server, "serve", serve)
    return found


def test_it_prints_the_address(served):
    assert "http://127.0.0.1:1/key/" in run("lab").stdout
    assert served == [(None, 0, True)]


def test_a_port_and_no_browser(served):
    run("lab", "--port", 8123, "--no-browser")
    assert served == [(None, 8123, False)]
    run("lab", "--port", 70000, code=2)


def test_a_file_is_shown_first(served, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("kind,x,y\nno,0,0\nyes,1,1\nyes,1,0\n")
    told = run("lab", path, "--label", "kind")
    assert "3 points, 2 features, 2 classes" in told.stdout
    scene = served[0][0]
    assert scene.points == ((0.0, 0.0, 0), (1.0, 1.0, 1), (1.0, 0.0, 1))


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
