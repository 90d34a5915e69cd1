"""The version is the one that is installed."""

from importlib.metadata import version

import pytest

from rosenblatt.version import package_version


@pytest.fixture
def path(monkeypatch, tmp_path):
    """A path for imports before all others."""
    monkeypatch.syspath_prepend(tmp_path)
    package_version.cache_clear()
    yield tmp_path
    package_version.cache_clear()


def add(folder, name, number):
    (folder / name).mkdir()
    for file in ("METADATA", "PKG-INFO"):
        (folder / name / file).write_text(f"Metadata-Version: 2.1\nName: rosenblatt\nVersion: {number}\n")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("nothing", None),
        ("rosenblatt-7.1.dev2+local.dist-info", "7.1.dev2+local"),
        ("rosenblatt.egg-info", "7.2"),
        ("rosenblatt-7.3-py3.11.egg-info", "7.3"),
        ("rosenblatt_plus-7.4.dist-info", None),
    ],
)
def test_it_is_what_importlib_says(path, name, number):
    add(path, name, number or "1")
    assert package_version() == version("rosenblatt")
    assert number is None or package_version() == number


def test_a_place_that_is_not_there_is_passed_over(path, monkeypatch):
    monkeypatch.syspath_prepend(path / "nowhere")
    add(path, "rosenblatt-7.5.dist-info", "7.5")
    assert package_version() == version("rosenblatt") == "7.5"
