"""Every picture of the gallery comes from a few lines, and the command draws them all."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-to" / "gallery.md"


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "tools" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_picture_is_small_and_has_few_lines_of_code(gallery):
    found = list(gallery.pictures(PAGE.read_text()))
    assert len(found) >= 14
    for code, path in found:
        assert 1 <= len(code.splitlines()) <= 15, path
        assert (PAGE.parent / path).stat().st_size < 60_000, path


def test_every_function_that_draws_is_in_the_gallery():
    from rosenblatt import plots

    text = PAGE.read_text()
    assert not [name for name in plots.__all__ if f"{name}(" not in text]


def test_the_command_draws_every_picture(gallery, tmp_path):
    drawn = gallery.draw(tmp_path)
    assert {path.name for path in drawn} == {path.name for path in (ROOT / "docs" / "pictures").glob("*.png")} & {
        Path(path).name for _, path in gallery.pictures(PAGE.read_text())
    }
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
