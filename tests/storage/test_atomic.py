"""A file appears whole or not at all."""

import errno
import io
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.atomic import replace_file, source_of, target_of, write_to


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


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o604])
def test_what_is_being_written_is_never_more_readable_than_the_target(mode, tmp_path):
    (tmp_path / "x").write_bytes(b"secret")
    (tmp_path / "x").chmod(mode)
    seen = []

    def parts():
        for _ in range(3):
            seen.extend(stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir() if p.name != "x")
            yield b"more secrets"

    replace_file(tmp_path / "x", parts())
    assert len(seen) == 3
    assert all(found & ~mode & ~stat.S_IWUSR == 0 for found in seen)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode


KILLED = """
import sys, time
from pathlib import Path
from rosenblatt.storage.atomic import replace_file
def parts():
    yield b"half"
    print("writing", flush=True)
    time.sleep(60)
replace_file(Path(sys.argv[1]), parts())
"""


def test_what_a_killed_process_left_is_removed_by_the_next_and_what_a_living_one_writes_is_not(tmp_path):
    target = tmp_path / ("x" * 255)  # as long as a name can be
    (tmp_path / ".rosenblatt-other.tmp").write_bytes(b"of somebody else")
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(target)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n"
    replace_file(target, [b"1"])
    assert len(os.listdir(tmp_path)) == 3  # it still writes
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(os.listdir(tmp_path)) == 3
    time.sleep(0.01)
    replace_file(target, [b"2"])
    assert sorted(os.listdir(tmp_path)) == [".rosenblatt-other.tmp", target.name]
    assert target.read_bytes() == b"2"


def test_devices_pipes_and_directories_are_no_targets_and_links_are_followed(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to-pipe").symlink_to("pipe")
    for path in (os.devnull, tmp_path / "pipe", tmp_path / "to-pipe"):
        with pytest.raises(InvalidInput, match="a device, a pipe or a socket"):
            target_of(path)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with pytest.raises(InvalidInput, match="is a directory"):
        target_of(tmp_path)
    (tmp_path / "link").symlink_to("not-yet-there")
    assert target_of(str(tmp_path / "link")) == tmp_path.resolve() / "not-yet-there"
    with pytest.raises(InvalidInput, match="neither a path nor a file object"):
        target_of(3)


def test_file_objects_take_and_give_bytes():
    file = io.BytesIO()
    assert target_of(file) is file
    write_to(file, [b"one ", bytearray(b"two")])
    assert source_of(io.BytesIO(file.getvalue())) == ("This model", b"one two")
    assert source_of(memoryview(b"abc")) == ("This model", b"abc")
    with pytest.raises(InvalidInput, match="binary mode"):
        write_to(io.StringIO(), [b"one"])
    with pytest.raises(InvalidInput, match="binary mode"):
        source_of(io.StringIO("text"))
    with pytest.raises(InvalidInput, match="not a path, bytes or a file object"):
        source_of(3)
