"""IDX files, the format of MNIST."""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.files.options import reject
from rosenblatt.files.streams import Array, FilePath, open_unpacked, read_up_to

IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MAX_IDX_AXES = 64  # the maximum of NumPy
MNIST_FILES = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


def load_idx(path: FilePath) -> Array:
    """Read an array from an IDX file, the format of MNIST, plain or gzip.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    array
        In the shape and type that the file says, in the machine's byte order.

    Raises
    ------
    InvalidInput
        If the file is not IDX, or shorter or longer than its header says. Memory is not allocated before the size of
        the file is checked.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from rosenblatt.datasets import load_idx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels")
    ...     _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 4]))
    ...     load_idx(path).tolist()
    [5, 0, 4]
    """
    with open_unpacked(path) as (stream, held):
        magic = stream.read(4)
        if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in IDX_TYPES or magic[3] > MAX_IDX_AXES:
            raise InvalidInput(
                f"{path} starts with {magic!r}, which is not IDX: two bytes 0, a type out of "
                f"{', '.join(f'0x{code:02X}' for code in IDX_TYPES)}, and a number of dimensions up to {MAX_IDX_AXES}. "
                "Pass an IDX file, such as those of MNIST."
            )
        kind, axes = np.dtype(IDX_TYPES[magic[2]]), magic[3]
        sizes = stream.read(4 * axes)
        if len(sizes) < 4 * axes:
            raise InvalidInput(f"{path} ends within its header of {axes} dimensions. Fetch it again.")
        shape = struct.unpack(f">{axes}I", sizes)
        wanted = math.prod(shape) * kind.itemsize
        claim = f"{path} says that it holds {' x '.join(map(str, shape)) or 'one'} values of type {kind.name}"
        if wanted + 4 + 4 * axes > held:
            raise InvalidInput(f"{claim}, {wanted} bytes, but it is too short for that. Fetch it again.")
        content = read_up_to(stream, wanted + 1)
    if len(content) != wanted:
        found = f"only {len(content)}" if len(content) < wanted else "more"
        raise InvalidInput(f"{claim}, {wanted} bytes, but it has {found}. Fetch it again.")
    try:
        values = np.frombuffer(content, kind).reshape(shape)
    except ValueError as error:  # no values, but sizes whose product is too large for numpy
        raise InvalidInput(f"{claim}, which is not the shape of an array ({error}). Fetch it again.") from None
    return values.astype(kind.newbyteorder("="), copy=False)


def load_mnist(folder: FilePath, *, raw: bool = False) -> tuple[Array, Array, Array, Array]:
    """Read MNIST, or another data set in its four files, such as Fashion-MNIST.

    Parameters
    ----------
    folder : path-like
        Folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
        t10k-labels-idx1-ubyte, each plain or with the ending .gz.
    raw : bool, default False
        Keep the pixels as they are, uint8 from 0 to 255, instead of float32 from 0 to 1.

    Returns
    -------
    X_train, y_train, X_test, y_test : arrays
        One row of pixels for each image; labels as int64.

    Examples
    --------
    >>> from rosenblatt.datasets import load_mnist
    >>> X_train, y_train, X_test, y_test = load_mnist("mnist")  # doctest: +SKIP
    """
    parts: list[Array] = []
    for images_name, labels_name in zip(MNIST_FILES[::2], MNIST_FILES[1::2], strict=True):
        images, labels = load_idx(_mnist_file(folder, images_name)), load_idx(_mnist_file(folder, labels_name))
        if images.dtype != np.uint8 or images.ndim != 3 or labels.dtype != np.uint8 or labels.shape != images.shape[:1]:
            raise InvalidInput(
                f"{folder} has images of shape {images.shape} and type {images.dtype} with labels of shape "
                f"{labels.shape} and type {labels.dtype}; they must be (n, height, width) and (n,), of type uint8. "
                "Fetch the four files of one data set."
            )
        X = images.reshape(len(images), math.prod(images.shape[1:]))
        if not raw:
            X = X.astype(np.float32)
            X /= np.float32(255.0)
        parts += [X, labels.astype(np.int64)]
    X_train, y_train, X_test, y_test = parts
    if X_train.shape[1] != X_test.shape[1]:
        raise InvalidInput(
            f"{folder} has images of {X_train.shape[1]} pixels to train on and of {X_test.shape[1]} to test on. "
            "Fetch the four files of one data set."
        )
    return X_train, y_train, X_test, y_test


def _mnist_file(folder: FilePath, name: str) -> Path:
    try:
        place = Path(folder)
    except TypeError:
        reject("folder", folder, "the path of a folder")
    for ending in ("-ubyte", "-ubyte.gz"):
        for spelling in (name + ending, name.replace("-idx", ".idx") + ending):
            if os.path.isfile(place / spelling):
                return place / spelling
    raise InvalidInput(
        f"{folder} has no file {name}-ubyte or {name}-ubyte.gz. Pass the folder with MNIST's four files."
    )
