"""Settings shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Compilation makes the first example slow; the same examples on every machine make a failure reproducible.
settings.register_profile("project", deadline=None, derandomize=True, max_examples=100, print_blob=True)
settings.load_profile("project")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real data sets; tests that need it are skipped, saying so, where it is absent."""
    folder = Path(os.environ.get("ROSENBLATT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}; set ROSENBLATT_DATA")
    return folder
