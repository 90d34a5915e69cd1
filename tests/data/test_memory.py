"""What needs more memory than there is, is refused before it is asked for."""

import subprocess
import sys

import pytest

from rosenblatt.data import memory
from rosenblatt.data.memory import check_memory, physical_memory
from rosenblatt.errors import TooLarge


def test_a_machine_has_memory_and_no_machine_has_an_exabyte():
    assert 1 << 27 < physical_memory() < 1 << 60


def test_what_does_not_fit_is_named_with_its_size_and_the_remedy():
    check_memory(1e6, "A small thing", "Nothing to do.")
    with pytest.raises(TooLarge, match=r"A large thing would take 1e\+05 GB of memory, of .* GB. Make it smaller."):
        check_memory(1e14, "A large thing", "Make it smaller.")
    with pytest.raises(TooLarge, match="would take far more memory than there is"):
        check_memory(10**400, "A thing beyond all numbers", "Make it smaller.")


def test_a_limit_of_the_process_counts():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32));"
        "from rosenblatt.data.memory import physical_memory; print(physical_memory() <= 1 << 32)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"


@pytest.mark.parametrize(("content", "expected"), [("268435456\n", 1 << 28), ("max\n", None), (None, None)])
def test_a_limit_of_the_container_counts(content, expected, monkeypatch, tmp_path):
    file = tmp_path / "memory.max"
    if content is not None:
        file.write_text(content)
    everything = physical_memory()
    monkeypatch.setattr(memory, "GROUP_LIMITS", (file, tmp_path / "none"))
    assert physical_memory() == (expected or everything)
