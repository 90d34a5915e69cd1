"""A file appears whole or not at all."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from rosenblatt.storage.atomic import replace_file


def test_the_parts_follow_one_another(tmp_path):
    replace_file(tmp_path / "x", [b"one ", bytearray(b"two "), memoryview(b"three")])
    assert (tmp_path / "x").read_bytes() == b"one two three"
    assert os.listdir(tmp_path) == ["x"]


def test_a_new_file_has_the_permissions_of_any_and_a_replaced_one_hands_its_own_on(tmp_path):
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "x", [b"1"])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640
    (tmp_path / "x").chmod(0o600)
    replace_file(tmp_path / "x", [b"2"])
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o600
    assert (tmp_path / "x").read_bytes() == b"2"


def parts_that_end_in_an_error():
    yield b"half"
    raise KeyboardInterrupt


def test_an_interrupted_write_leaves_what_was_there(tmp_path):
    (tmp_path / "x").write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt):
        replace_file(tmp_path / "x", parts_that_end_in_an_error())
    assert (tmp_path / "x").read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["x"]


FULL_DISK = """
import resource, sys
from pathlib import Path
from rosenblatt.storage.atomic import replace_file
for room in (0, 2000, 5000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        replace_file(Path(sys.argv[1]), [bytes(3000), bytes(3000)])
    except OSError as error:
        print(error.strerror)
"""


def test_a_full_disk_leaves_what_was_there(tmp_path):
    (tmp_path / "x").write_bytes(b"before")
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "x")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == [os.strerror(errno.EFBIG)] * 3
    assert (tmp_path / "x").read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["x"]
