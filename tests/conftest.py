"""Settings shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

# Compilation makes the first example slow; the same examples on every machine make a failure reproducible. Loops that
# run as plain Python (`make nojit`) are a hundred times slower, and a few examples reach every line of them.
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
EXAMPLES = 5 if INTERPRETED else 100
settings.register_profile("project", deadline=None, derandomize=True, max_examples=EXAMPLES, print_blob=True)
settings.load_profile("project")


def pytest_configure(config):
    """Let loops that run as plain Python overflow silently, as compiled ones do: NumPy's scalars would warn."""
    if INTERPRETED:
        for what in ("overflow", "invalid value"):
            config.addinivalue_line("filterwarnings", f"ignore:{what} encountered:RuntimeWarning")
    elif fcntl is not None and hasattr(config, "workerinput"):
        _compile_in_turns(config.cache.mkdir("compiling"))


def pytest_collection_modifyitems(items):
    """Mark as long what a test repeats in single precision, for which every loop is compiled once more."""
    for item in items:
        if "float32" in getattr(getattr(item, "callspec", None), "id", ""):
            item.add_marker("long")


def _compile_in_turns(folder):
    """Let one worker compile a function at a time; the others wait, and load its code from the disk cache.

    Workers that start together need the same loops, and would each compile them.
    """
    from numba.core.caching import NullCache
    from numba.core.dispatcher import Dispatcher

    compile_or_load = Dispatcher.compile

    def compile_in_turn(self, signature):
        if isinstance(self._cache, NullCache):
            return compile_or_load(self, signature)
        with open(folder / f"{self.py_func.__module__}.{self.py_func.__qualname__}", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
            return compile_or_load(self, signature)

    Dispatcher.compile = compile_in_turn


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let a file of tests that cannot be imported fail.

    Examples of a module whose engine is not installed are left out, by an option of pyproject.toml. It would leave out
    tests as well, since pytest looks for examples in them, too: a name that has moved would end them without a word.
    """
    option = collector.config.option
    ignored, option.doctest_ignore_import_errors = option.doctest_ignore_import_errors, False
    try:
        return (yield)
    finally:
        option.doctest_ignore_import_errors = ignored


@pytest.fixture(autouse=True)
def _no_learners_left():
    """Forget the learners that a test defines: the lab lists them, and files may name them."""
    from rosenblatt.storage.registry import DEFINED

    before = dict(DEFINED)
    yield
    DEFINED.clear()
    DEFINED.update(before)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real data sets; tests that need it are skipped, saying so, where it is absent."""
    folder = Path(os.environ.get("ROSENBLATT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}; set ROSENBLATT_DATA")
    return folder
