"""The page on serving, tried as a reader would: a service, its commands in a shell, and what they print."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("msgspec", reason='the service: pip install "rosenblatt[serve]"')
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serving.md"


def sessions(page):
    """The commands of the page in their order, each with what it prints."""
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed.strip()


@pytest.fixture
def address(tmp_path):
    """The address of a service in a folder of its own."""
    command = [sys.executable, "-m", "rosenblatt", "serve", str(tmp_path / "models"), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield re.search(r"http://([\d.:]+)/", process.stdout.readline())[1]
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("curl") is None or os.name == "nt", reason="the page has a shell with curl")
def test_the_commands_print_what_the_page_shows(address, tmp_path):
    page = PAGE.read_text()
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    tried = 0
    for command, printed in sessions(page):
        ran = subprocess.run(
            command.replace("localhost:8080", address),
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=os.environ | {"PATH": binaries},
        )
        assert ran.returncode == 0, ran.stderr
        pattern = re.escape(printed).replace(re.escape("..."), ".*")
        assert re.match(pattern, ran.stdout.strip(), re.DOTALL), (command, ran.stdout)
        tried += 1
    assert tried > 15
    python = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1].replace("localhost:8080", address)
    ran = subprocess.run([sys.executable, "-c", python], capture_output=True, text=True, check=True)
    assert "'y': 'spam'" in ran.stdout
