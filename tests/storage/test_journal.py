"""A journal has every row that was appended, whatever was cut off its end, and no other."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.journal import Journal, recover

MODEL, NEXT, OTHER = "a" * 64, "b" * 64, "c" * 64
rows = st.lists(st.binary(max_size=20).map(lambda row: row.replace(b"\n", b" ")), max_size=5)


def rows_of(path, model=MODEL):
    journal = Journal(path, model)
    journal.close()
    return journal.rows


def written(path, groups):
    """The bytes of a journal with groups of rows, and its size after each."""
    path.unlink(missing_ok=True)
    journal = Journal(path, MODEL)
    sizes = [path.stat().st_size]
    for group in groups:
        journal.append(group)
        sizes.append(path.stat().st_size)
        assert sizes[-1] == journal.size
    journal.close()
    return path.read_bytes(), sizes


@given(st.lists(rows, max_size=4), st.data())
def test_a_journal_that_is_cut_anywhere_has_all_rows_that_were_on_disk(tmp_path_factory, groups, data):
    path = tmp_path_factory.mktemp("journal") / "j"
    content, sizes = written(path, groups)
    assert rows_of(path) == [row for group in groups for row in group]
    cut = data.draw(st.integers(sizes[0], len(content)))
    path.write_bytes(content[:cut])
    kept = rows_of(path)
    every = [row for group in groups for row in group]
    answered = [row for group, size in zip(groups, sizes[1:], strict=True) if size <= cut for row in group]
    assert kept == every[: len(kept)]
    assert len(kept) >= len(answered)
    journal = Journal(path, MODEL)  # and it goes on from there
    journal.append([b"more"])
    journal.close()
    assert rows_of(path) == [*kept, b"more"]


@given(st.lists(rows, min_size=1, max_size=4), st.data())
def test_damage_never_loses_an_answered_row_silently(tmp_path_factory, groups, data):
    path = tmp_path_factory.mktemp("journal") / "j"
    content, _ = written(path, groups)
    place = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[place]))
    damaged = content[:place] + bytes([byte]) + content[place + 1 :]
    every = [row for group in groups for row in group]
    answered_before_last = sum(map(len, groups[: max((k for k, group in enumerate(groups) if group), default=0)]))
    try:
        found = recover(damaged, "j").rows
    except InvalidInput:
        return
    assert found == every[: len(found)]
    assert len(found) >= answered_before_last  # only rows of the last group look like torn ones


@pytest.mark.parametrize("byte", [b" ", b"0", b"\x00"])
def test_a_damaged_newline_does_not_make_two_groups_look_like_one_torn_line(tmp_path, byte):
    content, sizes = written(tmp_path / "j", [[b"first"], [b"second"], [b"third"]])
    for size in sizes[1:-1]:  # the newline behind a row that others follow
        with pytest.raises(InvalidInput, match="damaged"):
            recover(content[: size - 1] + byte + content[size:], "j")


def test_pages_of_the_last_group_that_never_reached_the_disk_are_dropped(tmp_path):
    content, _ = written(tmp_path / "j", [[b"one", b"two"], [b"three", b"four", b"five"]])
    lines = content.splitlines(keepends=True)
    torn = b"".join([*lines[:4], b"\0" * (len(lines[4]) - 1) + b"\n", lines[5]])  # four is lost, five is there
    (tmp_path / "j").write_bytes(torn)
    assert rows_of(tmp_path / "j") == [b"one", b"two", b"three"]
    inside = b"".join([*lines[:2], b"x" + lines[2][1:], *lines[3:]])  # two was answered
    (tmp_path / "j").write_bytes(inside)
    with pytest.raises(InvalidInput, match=r"line 3: the journal is damaged.*answered"):
        Journal(tmp_path / "j", MODEL)
    assert (tmp_path / "j").read_bytes() == inside


def test_rows_are_learned_by_the_old_model_or_are_in_the_new_one(tmp_path):
    journal = Journal(tmp_path / "j", MODEL)
    journal.append([b"one"])
    journal.note_model(NEXT)
    journal.close()
    assert rows_of(tmp_path / "j") == [b"one"]  # killed before the model was replaced
    assert rows_of(tmp_path / "j", NEXT) == []  # killed after that
    with pytest.raises(InvalidInput, match="another state"):
        Journal(tmp_path / "j", OTHER)
    assert rows_of(tmp_path / "j", NEXT) == []


def test_rows_after_an_abandoned_model_are_in_neither(tmp_path):
    journal = Journal(tmp_path / "j", MODEL)
    journal.append([b"one"])
    journal.note_model(NEXT)
    journal.append([b"two"])
    journal.close()
    with pytest.raises(InvalidInput, match="another state"):
        Journal(tmp_path / "j", NEXT)
    assert rows_of(tmp_path / "j") == [b"one", b"two"]


def test_other_files_are_not_touched(tmp_path):
    for content in (b"my notes", b"my notes\n", b"\n", b"0" * 100 + b"\n"):
        (tmp_path / "notes").write_bytes(content)
        with pytest.raises(InvalidInput, match="not a journal"):
            Journal(tmp_path / "notes", MODEL)
        assert (tmp_path / "notes").read_bytes() == content
    (tmp_path / "empty").touch()
    assert rows_of(tmp_path / "empty") == []


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks")
def test_one_process_at_a_time_has_a_journal(tmp_path):
    journal = Journal(tmp_path / "j", MODEL)
    code = f"from rosenblatt.storage.journal import Journal; Journal({str(tmp_path / 'j')!r}, {MODEL!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "in use by another process" in done.stderr
    journal.restart(NEXT)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "in use by another process" in done.stderr
    journal.close()


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on the size of a file is that of Unix")
def test_what_a_full_disk_refused_does_not_come_back(tmp_path):
    """A limit on the size of files is a disk that is full, for one process."""
    code = f"""
import resource, signal
from rosenblatt.storage.journal import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal({str(tmp_path / "j")!r}, {MODEL!r})
journal.append([b"kept"])
resource.setrlimit(resource.RLIMIT_FSIZE, (journal.size + 60, resource.RLIM_INFINITY))
try:
    journal.append([b"short", b"x" * 100])
    raise SystemExit("there was room")
except OSError:
    pass
assert (journal.path.stat().st_size) == journal.size
journal.append([b"after"])
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert rows_of(tmp_path / "j") == [b"kept", b"after"]
