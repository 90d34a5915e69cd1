"""A service in this process, and one in a process of its own for each file of tests."""

import shutil
import warnings
from contextlib import contextmanager

import pytest

pytest.importorskip("starlette")
pytest.importorskip("msgspec")
pytest.importorskip("prometheus_client")

from served import Server

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # newer versions of Starlette prefer another package to httpx
    from starlette.testclient import TestClient

from rosenblatt.serving.app import create_app
from rosenblatt.serving.service import Service


@contextmanager
def opened(folder, **options):
    """A client of a service in this process."""
    app = create_app(Service(folder), **options)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def client(tmp_path):
    """A client of a service in this process, on an empty folder."""
    with opened(tmp_path / "models") as client:
        yield client


@pytest.fixture
def crashed(tmp_path):
    """Return what a service is after a crash at this moment: another one, on the files as they are now."""
    copies = []

    @contextmanager
    def after_crash():
        copies.append(tmp_path / f"crashed-{len(copies)}")
        shutil.copytree(tmp_path / "models", copies[-1])
        with opened(copies[-1]) as client:
            yield client

    return after_crash


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A service in a process of its own."""
    with Server(tmp_path_factory.mktemp("served") / "models") as server:
        yield server
        assert "Traceback" not in server.log
