"""Files are opened, unpacked and cut into whole lines; threads keep the order, pass on errors and end."""

import contextlib
import gzip
import io
import os
import struct
import threading
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mutations import mutations
from rosenblatt.datasets import load_idx, load_svmlight
from rosenblatt.errors import InvalidInput
from rosenblatt.files import streams
from rosenblatt.files.formats import svmlight
from rosenblatt.files.streams import BlockReader, in_order, last_line_end

IDX_CODES = {"u1": 8, "i1": 9, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}


def idx_bytes(values):
    values = np.asarray(values)
    head = bytes([0, 0, IDX_CODES[values.dtype.str[1:]], values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    return head + values.astype(values.dtype.newbyteorder(">")).tobytes()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"

    def write(content):
        path.write_bytes(content)
        return path

    return write


def test_damaged_gzip_and_missing_files_are_refused(file, tmp_path):
    content = gzip.compress(idx_bytes(np.random.default_rng(0).integers(0, 99, 999, np.int32)))
    for damaged in (content[:-20], content[:300], content + b"rest", content[:100] + b"\xff" * 50 + content[150:]):
        with pytest.raises(InvalidInput, match="damaged"):
            load_idx(file(damaged))
    for load in (load_idx, load_svmlight):
        for path in (tmp_path / "missing", tmp_path, None, 3.5, "a\0b"):
            with pytest.raises(InvalidInput, match="cannot be opened"):
                load(path)


def test_random_bytes_are_refused(file):
    random = np.random.default_rng(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for attempt in range(2000):
            content = random.bytes(int(random.integers(0, 200)))
            if attempt % 4 == 0:
                content = b"\x1f\x8b\x08" + content
            for load in (load_svmlight, load_idx):
                with pytest.raises(InvalidInput):
                    load(file(content))


def test_edited_gzip_is_read_or_refused(file):
    good = gzip.compress(b"".join(b"%d %d:1\n" % (i % 2, 1 + i % 7) for i in range(99)))
    for content in mutations(good, 1000, seed=4):
        with contextlib.suppress(InvalidInput):
            load_svmlight(file(content))


def test_blocks_do_not_show(file, monkeypatch):
    text = b"".join(b"%d 3:%d 7:0.5 # %d\n\n" % (i % 3, i, i) for i in range(50))
    path = file(text)
    whole, y = load_svmlight(path)
    for size in (1, 2, 7, 64):
        monkeypatch.setattr(svmlight, "BLOCK_BYTES", size)
        X, labels = load_svmlight(path)
        assert (whole != X).nnz == 0
        assert labels.tolist() == y.tolist()
        with pytest.raises(InvalidInput, match=r"line 101: 'x'"):
            load_svmlight(file(text + b"1 x\n"))
        file(text)
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 100)
    with pytest.raises(InvalidInput, match="has a line of over 100 bytes, after byte 6"):
        load_svmlight(file(b"1 1:1\n" + b"1" * 500))


def test_a_long_line_takes_memory_in_proportion(file):
    path = file(b"1" + b" 1:1" * 200_000 + b"\n")
    tracemalloc.start()
    try:
        X, _ = load_svmlight(path)
        # The block that is read at once comes on top.
        assert tracemalloc.get_traced_memory()[1] < 2 * svmlight.BLOCK_BYTES + 100 * 200_000
    finally:
        tracemalloc.stop()
    assert X[0, 0] == 200_000


def test_bytes_are_read_as_far_as_there_are_any():
    assert streams.read_up_to(io.BytesIO(b"abc"), 2) == b"ab"
    assert streams.read_up_to(io.BytesIO(b"abc"), 2**60) == b"abc"


def test_a_pipe_that_nobody_reads_is_closed_with_its_owner(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[b"1 1:2\n"])
    writer.start()
    pipe = streams.StandardInput(path)
    writer.join()
    stream = pipe._stream
    del pipe
    assert stream.closed


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=50), st.integers(1, 20))
def test_blocks_are_whole_lines_that_make_up_the_file(tmp_path_factory, content, size):
    path = tmp_path_factory.mktemp("blocks") / "file"
    content = b"x" + content  # so that it is not packed
    path.write_bytes(content)
    found = list(BlockReader(path, size).blocks())
    assert b"".join(block.text.tobytes() for block in found).removesuffix(b"\n") == content.removesuffix(b"\n")
    assert all(block.text[-1] == 10 for block in found)
    assert not any(block.last for block in found[:-1])
    assert found[-1].last or content.endswith(b"\n")
    for block in found:  # reading may begin with any block
        again = b"".join(part.text.tobytes() for part in BlockReader(path, size).blocks(block.start))
        assert again.removesuffix(b"\n") == content[block.start :].removesuffix(b"\n")


def test_the_last_line_end_is_found_far_back():
    assert last_line_end(np.frombuffer(b"a\nb" + b"c" * 10_000, np.uint8)) == 2
    assert last_line_end(np.frombuffer(b"abc", np.uint8)) == 0


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 1000)
    (tmp_path / "long").write_bytes(b"a\n" + b"b" * 5000)
    with pytest.raises(InvalidInput, match="of over 1000 bytes, after byte 2"):
        list(BlockReader(tmp_path / "long", 100).blocks())


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
