"""IDX files: what was written comes back, and no header is believed."""

import contextlib
import gzip
import struct
import tracemalloc

import numpy as np
import pytest

from mutations import mutations
from rosenblatt.datasets import MNIST_FILES, load_idx, load_mnist
from rosenblatt.errors import InvalidInput

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


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4), (2, 0, 5), (2, 3, 4), (1, 2, 1, 3, 2)], ids=str)
@pytest.mark.parametrize("kind", IDX_CODES)
def test_idx_gives_back_what_was_written(file, kind, shape, packed):
    random = np.random.default_rng(0)
    values = random.integers(0, 256, (*shape, np.dtype(kind).itemsize), np.uint8).view(kind).reshape(shape)
    content = idx_bytes(values)
    found = load_idx(file(gzip.compress(content) if packed else content))
    assert found.dtype == np.dtype(kind)
    assert found.dtype.isnative
    assert found.shape == shape
    assert found.tobytes() == values.tobytes()
    assert found.flags.writeable


def header(code, *shape):
    return bytes([0, 0, code, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "not IDX"),
        (b"\0\0\x08", "not IDX"),
        (b"\1\0\x08\1" + bytes(8), "not IDX"),
        (b"\0\0\x0a\1" + bytes(8), "not IDX"),
        (header(8, *[1] * 65) + b"\0", "not IDX"),
        (header(8, 5)[:-1], "within its header"),
        (header(8, 5) + bytes(4), "5 bytes, but it (is too short|has only 4)"),
        (header(8, 5) + bytes(6), "5 bytes, but it has more"),
        (header(0x0E, 2**32 - 1, 2**32 - 1) + bytes(100), "too short"),
        (header(8, 2**32 - 1) + bytes(100), "too short"),
        (header(8, *[2**32 - 1] * 64) + bytes(100), "too short"),
        (header(8, 0, *[2**32 - 1] * 5), "not the shape of an array"),
        (header(8, 30_000) + bytes(100), "too short|only 100"),
    ],
)
def test_hostile_idx_is_refused_without_taking_memory(file, pack, content, fault):
    path = file(pack(content))
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match=fault):
            load_idx(path)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_edited_idx_is_read_or_refused(file, pack):
    good = pack(idx_bytes(np.arange(24, dtype=np.int16).reshape(2, 3, 4)))
    read = 0
    for content in mutations(good, 1500, seed=1):
        with contextlib.suppress(InvalidInput):
            read += load_idx(file(content)) is not None
    assert 0 < read < 1500


def write_mnist(folder, train_images, train_labels, test_images, test_labels, names=MNIST_FILES):
    for name, values in zip(names, (train_images, train_labels, test_images, test_labels), strict=True):
        (folder / f"{name}-ubyte.gz").write_bytes(gzip.compress(idx_bytes(values)))


def test_mnist_folder_becomes_rows_of_pixels(tmp_path):
    random = np.random.default_rng(0)
    images, labels = random.integers(0, 256, (5, 4, 3), np.uint8), np.arange(5, dtype=np.uint8)
    write_mnist(tmp_path, images, labels, images[:2], labels[:2])
    (tmp_path / "train-labels-idx1-ubyte.gz").unlink()
    (tmp_path / "train-labels.idx1-ubyte").write_bytes(idx_bytes(labels))
    X, y, X_test, y_test = load_mnist(tmp_path)
    assert (X.dtype, y.dtype, X.shape, X_test.shape) == (np.float32, np.int64, (5, 12), (2, 12))
    assert (images.reshape(5, 12).astype(np.float32) / np.float32(255) == X).all()
    assert (y.tolist(), y_test.tolist()) == ([0, 1, 2, 3, 4], [0, 1])
    raw = load_mnist(str(tmp_path), raw=True)[0]
    assert raw.dtype == np.uint8
    assert (raw == images.reshape(5, 12)).all()


def test_mnist_files_that_do_not_belong_together_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="has no file train-images-idx3"):
        load_mnist(tmp_path)
    with pytest.raises(InvalidInput, match="folder=None"):
        load_mnist(None)
    images, labels = np.zeros((5, 4, 3), np.uint8), np.zeros(5, np.uint8)
    for parts in (
        (images, labels[:4], images, labels),
        (images.astype(np.int16), labels, images, labels),
        (images[0], labels, images, labels),
        (images, labels, images, labels.astype(np.int32)),
    ):
        write_mnist(tmp_path, *parts)
        with pytest.raises(InvalidInput, match="four files of one data set"):
            load_mnist(tmp_path)
    write_mnist(tmp_path, images, labels, images[:, :2], labels)
    with pytest.raises(InvalidInput, match="12 pixels to train on and of 6"):
        load_mnist(tmp_path)


def test_the_real_mnist_is_what_its_authors_say(real_data):
    X, y, X_test, y_test = load_mnist(real_data / "mnist", raw=True)
    assert (X.shape, X_test.shape) == ((60_000, 784), (10_000, 784))
    assert np.bincount(y).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(y_test).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert X.max() == 255
