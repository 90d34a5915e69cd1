"""Blocks are whole lines that make up the files; threads keep the order, pass on errors and end."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.errors import InvalidInput
from rosenblatt.files import blocks
from rosenblatt.files.blocks import BlockReader, in_order, last_line_end


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=50), min_size=1, max_size=3), st.integers(1, 20))
def test_blocks_are_whole_lines_that_make_up_the_files(tmp_path_factory, contents, size):
    folder = tmp_path_factory.mktemp("blocks")
    paths = []
    for k, content in enumerate(contents):
        (folder / str(k)).write_bytes(b"x" + content)  # whatever it is, not packed
        paths.append(folder / str(k))
    found = list(BlockReader(paths, size).blocks())
    for k, content in enumerate(contents):
        own = [block for block in found if block.file == k]
        joined = b"".join(block.text.tobytes() for block in own)
        assert joined.removesuffix(b"\n") == (b"x" + content).removesuffix(b"\n")
        assert all(block.text[-1] == 10 for block in own)
        assert [block.last for block in own] == [False] * (len(own) - 1) + [True]
        for block in own:  # reading may begin with any block
            again = [part for part in BlockReader(paths, size).blocks(k, block.start) if part.file == k]
            assert b"".join(part.text.tobytes() for part in again).removesuffix(b"\n") == (
                (b"x" + content)[block.start :].removesuffix(b"\n")
            )


def test_the_last_line_end_is_found_far_back():
    assert last_line_end(np.frombuffer(b"a\nb" + b"c" * 10_000, np.uint8)) == 2
    assert last_line_end(np.frombuffer(b"abc", np.uint8)) == 0


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "MAX_LINE_BYTES", 1000)
    (tmp_path / "long").write_bytes(b"a\n" + b"b" * 5000)
    with pytest.raises(InvalidInput, match="of over 1000 bytes, after byte 2"):
        list(BlockReader([tmp_path / "long"], 100).blocks())


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_results_come_in_order_and_errors_in_their_place(threads):
    assert list(in_order(range(100), lambda k: k * k, threads)) == [k * k for k in range(100)]
    results, found = in_order(range(5, -1, -1), lambda k: 1 / k, threads), []
    with pytest.raises(ZeroDivisionError):
        found.extend(results)
    assert found == [1 / k for k in range(5, 0, -1)]

    def broken():
        yield 1
        raise KeyError("reader")

    with pytest.raises(KeyError, match="reader"):
        list(in_order(broken(), lambda k: k, threads))


def test_only_a_few_items_are_under_way():
    taken, before = [], threading.active_count()

    def items():
        for k in range(1000):
            taken.append(k)
            yield k

    results = in_order(items(), lambda k: k, 2)
    for _ in range(10):
        next(results)
    assert len(taken) < 30
    results.close()
    assert threading.active_count() <= before + 1
