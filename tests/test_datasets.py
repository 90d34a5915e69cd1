import contextlib
import gzip
import re
import struct
import time
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from rosenblatt import Perceptron, datasets, train
from rosenblatt.datasets import (
    SPAM_WORDS,
    Planted,
    circle_points,
    circles,
    drifting,
    load_idx,
    load_mnist,
    load_svmlight,
    logical,
    noisy,
    separable,
    spam,
    sparse_text,
    two_moons,
)
from rosenblatt.errors import InvalidInput

SEEDS = st.integers(0, 2**64)
FEATURES = st.integers(1, 30)
MARGINS = st.floats(1e-6, 1.0)
BIASES = st.floats(-0.99, 0.99)


def signed_distances(data):
    return data.y * (data.X @ data.w + data.b)


# ---------------------------------------------------------------------------------------------- planted hyperplanes


@given(st.integers(2, 60), FEATURES, MARGINS, BIASES, SEEDS)
def test_tight_rows_have_exactly_the_margin(n, d, margin, bias, seed):
    data = separable(n, d, margin, bias=bias, seed=seed)
    assert data.X.shape == (n, d)
    assert set(data.y.tolist()) == {-1, 1}
    assert abs(np.linalg.norm(data.w) - 1) < 1e-12
    assert abs(signed_distances(data).min() - margin) < 1e-12
    # No hyperplane has a larger margin than half the distance of the classes.
    closest = np.linalg.norm(data.X[data.y > 0][:, None] - data.X[data.y < 0][None], axis=2).min()
    assert abs(closest - 2 * margin) < 1e-12


@given(st.integers(1, 60), FEATURES, MARGINS, BIASES, SEEDS)
def test_loose_rows_have_at_least_the_margin_and_stay_in_a_ball(n, d, margin, bias, seed):
    data = separable(n, d, margin, bias=bias, tight=False, seed=seed)
    assert data.X.shape == (n, d)
    assert signed_distances(data).min() >= margin
    assert np.linalg.norm(data.X, axis=1).max() <= 1 + margin + 1e-12


@given(st.integers(2, 60), FEATURES, MARGINS, SEEDS)
def test_tight_rows_without_bias_stay_in_a_ball(n, d, margin, seed):
    assert np.linalg.norm(separable(n, d, margin, seed=seed).X, axis=1).max() <= 1 + margin + 1e-12


def test_mistakes_on_separable_rows_keep_the_bound():
    X, y = separable(200, 5, 0.1)
    run = train(X, y, fit_intercept=False)
    assert run.stop.name == "SEPARATED"
    assert run.updates <= (np.linalg.norm(X, axis=1).max() / 0.1) ** 2


def test_planted_unpacks_to_what_training_needs():
    data = separable(20, 3, 0.2)
    X, y = data
    assert isinstance(data, Planted)
    assert X is data.X
    assert y is data.y
    assert Perceptron().fit(*data).score(X, y) == 1


@given(st.integers(1, 80), FEATURES, st.floats(0, 1), st.floats(0.01, 1), SEEDS)
def test_the_share_of_flipped_labels_is_as_asked(n, d, flip, margin, seed):
    data = noisy(n, d, flip, margin=margin, seed=seed)
    distance = signed_distances(data)
    assert (distance < 0).sum() == round(flip * n)
    assert np.abs(distance).min() >= margin


@given(st.integers(1, 60), st.integers(2, 20), st.floats(-3, 3), st.floats(0.01, 1), SEEDS)
def test_drifting_hyperplanes_turn_at_the_speed_and_label_their_rows(n, d, speed, margin, seed):
    data = drifting(n, d, speed=speed, margin=margin, seed=seed)
    assert data.w.shape == data.X.shape == (n, d)
    assert (data.y * (data.X * data.w).sum(axis=1)).min() >= margin - 1e-12
    assert np.allclose((data.w**2).sum(axis=1), 1)
    assert np.allclose((data.w[1:] * data.w[:-1]).sum(axis=1), np.cos(speed))


@given(st.integers(2, 40), st.integers(1, 60), st.data(), st.floats(0, 1), st.floats(0, 4), SEEDS)
def test_sparse_rows_have_the_words_the_norm_and_the_labels_promised(n, d, draw, positive, exponent, seed):
    k = draw.draw(st.integers(1, d))
    data = sparse_text(n, d, k, positive=positive, exponent=exponent, seed=seed)
    X = data.X
    assert X.format == "csr"
    assert (X.dtype, X.indices.dtype, X.indptr.dtype) == (np.float64, np.int32, np.int32)
    assert X.shape == (n, d)
    assert np.diff(X.indptr).tolist() == [k] * n
    assert all(len(set(row)) == k and sorted(row) == row for row in X.indices.reshape(n, k).tolist())
    assert X.indices.min() >= 0
    assert X.indices.max() < d
    assert np.allclose(X.multiply(X).sum(axis=1), 1)
    assert signed_distances(data).min() == pytest.approx(data.margin, abs=1e-12)
    if data.margin > 1e-9:
        assert (data.y > 0).sum() == min(max(round(positive * n), 1), n - 1)


def test_sparse_words_follow_zipf_with_and_without_repeated_draws():
    for nonzeros in (1, 40):
        X, _ = sparse_text(20_000 // nonzeros, 50, nonzeros, exponent=1.0, seed=3)
        share = np.bincount(X.indices, minlength=50) / X.shape[0]
        if nonzeros == 1:
            expected = 1 / np.arange(1, 51) / (1 / np.arange(1, 51)).sum()
            assert np.abs(share - expected).max() < 0.01
        assert share[:5].mean() > share[20:25].mean() > share[-5:].mean()
    flipped = sparse_text(1000, 100, 5, flip=0.2)
    assert (signed_distances(flipped) < 0).sum() == 200


MAKERS = {
    "separable": lambda seed: separable(30, 4, 0.1, bias=0.1, seed=seed),
    "loose": lambda seed: separable(30, 4, 0.1, tight=False, seed=seed),
    "noisy": lambda seed: noisy(30, 4, 0.2, seed=seed),
    "drifting": lambda seed: drifting(30, 4, speed=0.1, seed=seed),
    "sparse_text": lambda seed: sparse_text(30, 40, 5, seed=seed),
    "two_moons": lambda seed: two_moons(30, 0.1, seed),
    "circles": lambda seed: circles(30, 0.5, 0.1, seed),
    "circle_points": lambda seed: circle_points(30, seed=seed),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_the_seed_decides_everything(maker):
    def content(seed):
        X, y = maker(seed)
        assert y.dtype == np.int64
        assert set(y.tolist()) <= {-1, 1}
        return (X.toarray() if hasattr(X, "toarray") else X).tobytes(), y.tobytes()

    state = np.random.get_state()[1].copy()  # noqa: NPY002 - must not be touched
    assert content(5) == content(5)
    assert content(5) != content(6)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


# --------------------------------------------------------------------------------------------- figures in the plane


@given(st.integers(2, 60), SEEDS)
def test_moons_and_circles_without_noise_lie_on_their_curves(n, seed):
    X, y = two_moons(n, 0, seed)
    assert abs(y.sum()) == n % 2
    upper, lower = X[y < 0], X[y > 0]
    assert np.allclose(np.hypot(*upper.T), 1)
    assert upper[:, 1].min() >= 0
    assert np.allclose(np.hypot(*(lower - [1, 0.5]).T), 1)
    assert lower[:, 1].max() <= 0.5
    X, y = circles(n, 0.3, 0, seed)
    assert abs(y.sum()) == n % 2
    assert np.allclose(np.hypot(*X.T), np.where(y > 0, 0.3, 1))


def test_noise_has_the_deviation_asked_for():
    X, y = circles(20_000, 0.5, 0.01, seed=1)
    assert np.std(np.hypot(*X.T) - np.where(y > 0, 0.5, 1)) == pytest.approx(0.01, rel=0.05)


# ----------------------------------------------------------------------------------------------- lectures' examples


def test_spam_is_the_lectures_table():
    X, y = spam()
    assert SPAM_WORDS == ("and", "viagra", "the", "of", "nigeria")
    assert X.T.astype(int).tolist() == [
        [1, 0, 0, 1, 1, 1],
        [1, 0, 1, 0, 0, 0],
        [0, 1, 1, 0, 1, 1],
        [1, 1, 0, 1, 0, 1],
        [1, 0, 0, 0, 1, 0],
    ]
    assert y.tolist() == [1, -1, 1, -1, 1, -1]
    run = train(X, y, order="cyclic")
    assert (run.updates, run.coef.tolist(), run.intercept.tolist()) == (4, [[0, 2, 0, -1, 1]], [0])


@pytest.mark.parametrize(
    ("name", "y", "updates"), [("or", [-1, 1, 1, 1], 9), ("and", [-1, -1, -1, 1], 18), ("xor", [-1, 1, 1, -1], 4)]
)
def test_logical_functions_are_the_lectures_tables(name, y, updates):
    X, labels = logical(name)
    assert X.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert labels.tolist() == y
    assert train(X, labels, order="cyclic").updates == updates


@given(st.integers(1, 100), st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0, 0.9), SEEDS)
def test_squares_of_circle_points_are_separated_by_the_lectures_weights(n, first, second, gap, seed):
    X, y = circle_points(n, first, gap=gap, seed=seed)
    assert X.shape == (n, 2)
    assert abs(y.sum()) == n % 2
    radius = np.hypot(*X.T) / first
    assert np.abs(radius - 1).min() >= gap - 1e-12
    assert radius.max() <= 2 + 1e-12
    X, y = circle_points(n, (first, second), gap=gap + 0.01, seed=seed)
    assert (y * ((X**2) @ [first**-2, second**-2] - 1) > 0).all()


def test_a_perceptron_needs_the_squares_of_circle_points():
    X, y = circle_points()
    assert Perceptron().fit(X, y).score(X, y) < 1
    assert Perceptron().fit(X**2, y).score(X**2, y) == 1


# -------------------------------------------------------------------------------------------------- wrong arguments


@pytest.mark.parametrize(
    "call",
    [
        lambda: separable(1, 2, 0.1),
        lambda: separable(0, 2, 0.1, tight=False),
        lambda: separable(2.5, 2, 0.1),
        lambda: separable(True, 2, 0.1, tight=False),
        lambda: separable(10, 0, 0.1),
        lambda: separable(10, 2, 0.0),
        lambda: separable(10, 2, 1.5),
        lambda: separable(10, 2, np.nan),
        lambda: separable(10, 2, "0.1"),
        lambda: separable(10, 2, None),
        lambda: separable(10, 2, 0.1, bias=1.0),
        lambda: separable(10, 2, 0.1, seed=-1),
        lambda: separable(10, 2, 0.1, seed=None),
        lambda: noisy(10, 2, 1.1),
        lambda: noisy(10, 2, 0.1, margin=-0.1),
        lambda: noisy(10, 2, 0.1, bias=2),
        lambda: drifting(10, 1, speed=0.1),
        lambda: drifting(10, 2, speed=np.inf),
        lambda: drifting(10, 2, speed=10**400),
        lambda: two_moons(1),
        lambda: two_moons(10, -1),
        lambda: circles(10, 1.0),
        lambda: circles(10, 0.5, np.nan),
        lambda: sparse_text(1, 10, 2),
        lambda: sparse_text(10, 10, 11),
        lambda: sparse_text(10, 2**31, 5),
        lambda: sparse_text(10, 10, 0),
        lambda: sparse_text(10, 10, 2, positive=2),
        lambda: sparse_text(10, 10, 2, exponent=-1),
        lambda: circle_points(10, 0),
        lambda: circle_points(10, (1, 2, 3)),
        lambda: circle_points(10, (1, np.inf)),
        lambda: circle_points(10, gap=1),
        lambda: logical("nand"),
        lambda: logical(["or"]),
    ],
)
def test_wrong_arguments_are_named_with_value_and_remedy(call):
    with pytest.raises(InvalidInput, match=r"^\w+=.*(must be|Choose)"):
        call()


# -------------------------------------------------------------------------------------------------------------- IDX

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
        (header(8, 0, *[2**32 - 1] * 5), "no shape of an array"),
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


def test_damaged_gzip_and_missing_files_are_refused(file, tmp_path):
    content = gzip.compress(idx_bytes(np.random.default_rng(0).integers(0, 99, 999, np.int32)))
    for damaged in (content[:-20], content[:300], content + b"rest", content[:100] + b"\xff" * 50 + content[150:]):
        with pytest.raises(InvalidInput, match="damaged"):
            load_idx(file(damaged))
    for load in (load_idx, load_svmlight):
        for path in (tmp_path / "missing", tmp_path, None, 3.5, "a\0b"):
            with pytest.raises(InvalidInput, match="cannot be opened"):
                load(path)


def mutations(content, tries, seed, alphabet=None):
    """Give copies of some bytes with a few random changes each."""
    random = np.random.default_rng(seed)
    letters = np.frombuffer(alphabet or bytes(range(256)), np.uint8)
    for _ in range(tries):
        changed = bytearray(content)
        for _ in range(random.integers(1, 4)):
            place = int(random.integers(0, len(changed) + 1))
            new = random.choice(letters, random.integers(0, 4)).tobytes()
            changed[place : place + int(random.integers(0, 4))] = new
        if random.random() < 0.1:
            del changed[random.integers(0, len(changed) + 1) :]
        yield bytes(changed)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_edited_idx_is_read_or_refused(file, pack):
    good = pack(idx_bytes(np.arange(24, dtype=np.int16).reshape(2, 3, 4)))
    read = 0
    for content in mutations(good, 1500, seed=1):
        with contextlib.suppress(InvalidInput):
            read += load_idx(file(content)) is not None
    assert 0 < read < 1500


# ------------------------------------------------------------------------------------------------------------ MNIST


def write_mnist(folder, train_images, train_labels, test_images, test_labels, names=datasets.MNIST_FILES):
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


# --------------------------------------------------------------------------------------------------------- svmlight


def read_slowly(path, zero_based="auto", n_features=None):
    """Give columns and values of each row, with plain Python."""
    rows, labels = [], []
    for line in path.read_bytes().split(b"\n"):
        label, *pairs = line.partition(b"#")[0].split() or [None]
        if label is not None:
            row = {}
            for index, value in (pair.split(b":") for pair in pairs):
                row[int(index)] = row.get(int(index), 0.0) + float(value)
            rows.append(row)
            labels.append(float(label))
    columns = [column for row in rows for column in row]
    base = int(zero_based is False or (zero_based == "auto" and min(columns) > 0))
    return [{j - base: row[j] for j in sorted(row)} for row in rows], labels, n_features or max(columns) - base + 1


def assert_read_right(path, **options):
    """Compare with plain Python, and with scikit-learn where it reads such a file; say whether it does."""
    X, y = load_svmlight(path, **options)
    rows, labels, width = read_slowly(path, **options)
    assert (y.dtype, X.dtype, X.indices.dtype, X.indptr.dtype) == (np.float64, np.float64, np.int32, np.int32)
    assert X.shape == (len(labels), width)
    assert y.tolist() == labels
    assert np.diff(X.indptr).tolist() == [len(row) for row in rows]
    assert X.indices.tolist() == [j for row in rows for j in row]
    # Repeated values may be added in another order.
    values = [row[j] for row in rows for j in row]
    np.testing.assert_allclose(X.data, values, rtol=1e-12, atol=1e-9)
    try:
        expected, labels = load_svmlight_file(str(path), **options)
    except ValueError as error:
        assert "sorted and unique" in str(error)  # noqa: PT017 - the only thing it may refuse
        return False
    assert y.tolist() == labels.tolist()
    for part in ("shape", "data", "indices", "indptr"):
        assert np.array_equal(getattr(X, part), getattr(expected, part))
    return True


NUMBERS = st.one_of(
    st.floats(-1e6, 1e6).map(repr),
    st.integers(-1000, 1000).map(str),
    st.sampled_from(["+1", "-1", "0", "3.5", "1.", ".5", "1e-3", "-2.5E+2", "007", "5e-324", "-0.0"]),
)
GAPS = st.sampled_from([" ", "  ", "\t", " \t "])
FILLERS = st.sampled_from(["", "", "", " ", "# nothing here\n", "\n", " \t\n"])
ENDS = st.sampled_from(["\n", "\r\n", " \n", " # qid:x 1:y\n", "#\n"])


@st.composite
def svmlight_texts(draw, base):
    """Give texts that are valid, in all the ways a text can be."""
    pair = st.tuples(GAPS, st.integers(base, 40), NUMBERS).map(lambda part: f"{part[0]}{part[1]}:{part[2]}")
    line = st.tuples(FILLERS, NUMBERS, st.lists(pair, max_size=6).map("".join), ENDS).map("".join)
    text = "".join(draw(st.lists(line, min_size=1, max_size=8)))
    return text + f"1 {base}:2" + draw(st.sampled_from(["", "\n", "\n\n"]))


@pytest.mark.parametrize(
    ("base", "options"),
    [
        (0, {}),
        (0, {"zero_based": True}),
        (0, {"n_features": 50}),
        (1, {}),
        (1, {"zero_based": True}),
        (1, {"zero_based": False}),
        (1, {"n_features": 50}),
    ],
    ids=str,
)
def test_svmlight_is_read_as_scikit_learn_reads_it(tmp_path_factory, base, options):
    path = tmp_path_factory.mktemp("svmlight") / "file"

    read = set()

    @settings(max_examples=60)
    @given(svmlight_texts(base))
    def check(text):
        path.write_bytes(text.encode())
        read.add(assert_read_right(path, **options))

    check()
    assert True in read


def test_blocks_do_not_show(file, monkeypatch):
    text = b"".join(b"%d 3:%d 7:0.5 # %d\n\n" % (i % 3, i, i) for i in range(50))
    path = file(text)
    whole, y = load_svmlight(path)
    for size in (1, 2, 7, 64):
        monkeypatch.setattr(datasets, "BLOCK", size)
        X, labels = load_svmlight(path)
        assert (whole != X).nnz == 0
        assert labels.tolist() == y.tolist()
        with pytest.raises(InvalidInput, match=r"line 101: 'x'"):
            load_svmlight(file(text + b"1 x\n"))
        file(text)
    monkeypatch.setattr(datasets, "LONGEST_LINE", 100)
    with pytest.raises(InvalidInput, match="line 2 has more than 100 bytes"):
        load_svmlight(file(b"1 1:1\n" + b"1" * 500))


def test_gzip_marks_queries_and_repeated_indices_are_understood(file):
    text = b"\xef\xbb\xbf+1 qid:3 5:1 2:0.5 5:2\n\n-1\tqid:4\n0 qid:5 1:7 # qid:a\n"
    for content in (text, gzip.compress(text)):
        X, y = load_svmlight(file(content))
        assert X.toarray().tolist() == [[0, 0.5, 0, 0, 3], [0, 0, 0, 0, 0], [7, 0, 0, 0, 0]]
        assert y.tolist() == [1, -1, 0]
        assert X.indices.tolist() == [1, 4, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows"),
        ("# only a comment\n\n  \n", "has no rows"),
        ("1\n-1\n", "no index:value at all. Pass n_features"),
        ("1 1:1\nspam 1:1\n", "line 2: 'spam' is not a label"),
        ("1 1:1\n\n1,2 1:1\n", "line 3: '1,2' looks like several labels"),
        ("1 1:1\n 3:1 4:1\n", "line 2: '3:1' is there instead of a label"),
        ("1 1:1\n3:1 1\n", "line 2: '3:1' is there instead of a label"),
        ("1 1:1 2\n", "line 1: '2' is not index:value"),
        ("1 2 3\n1:1\n", "line 1: '2' is not index:value"),
        ("1 -1:1\n", "line 1: '-1:1' has an index that is not a whole number"),
        ("1 1.5:1\n", "line 1: '1.5:1' has an index"),
        ("1 :1\n", "line 1: ':1' has an index"),
        ("1 1:\n", "line 1: '1:' has a value"),
        ("1 1: 2\n", "line 1: '1:' has a value"),
        ("1 1:2:3\n", "line 1: '1:2:3' has a value"),
        ("1 1:nan\n", "line 1: '1:nan' has a value that is not a finite"),
        ("1 1:-inf\n", "line 1: '1:-inf' has a value"),
        ("1 1:1_0\n", "line 1: '1:1_0' has a value"),
        ("1 1:0x10\n", "line 1: '1:0x10' has a value"),
        ("1 1:1+2\n", r"line 1: '1:1\+2' has a value"),
        ("nan 1:1\n", "line 1: 'nan' is not a label"),
        ("1 qid:x 1:1\n", "line 1: 'qid:x' is not a query"),
        ("1 1:1\n1 1:1e999\n", "line 2: a value is too large"),
        ("1 1:1\n-1e999 1:1\n", "line 2: a label is too large"),
        ("1 1:1\n\n1 1:1 2147483647:1\n", "line 3: index 2147483647 is not below"),
        (
            "1 99999999999999999999999999:1\n",
            "line 1: index [0-9]{26,27} is not below 2147483647",
        ),
        ("1 1:1e308 1:1e308\n", "line 1: the values of a repeated index add up to infinity"),
        ("1 1:1\x00\n", "line 1: '1:1\\\\x00' has a value"),
        ("1\x0b1:1\n", "line 1: .* instead of a label"),
        ("1 1:1\r-1 1:1\n", "line 1: '-1' is not index:value"),
    ],
)
def test_faults_are_told_with_line_text_and_remedy(file, text, message):
    with pytest.raises(InvalidInput, match=message):
        load_svmlight(file(text.encode()))


def test_options_that_do_not_fit_the_file_are_refused(file):
    path = file(b"1 3:1\n\n-1 0:1 7:1\n")
    assert load_svmlight(path)[0].shape == (2, 8)
    assert load_svmlight(path, n_features=9)[0].shape == (2, 9)
    with pytest.raises(InvalidInput, match="line 3: index 0 is not among 1 to 7"):
        load_svmlight(path, zero_based=False)
    with pytest.raises(InvalidInput, match="line 3: index 7 is not among 0 to 6"):
        load_svmlight(path, n_features=7)
    for options in ({"n_features": 0}, {"n_features": 2**31}, {"zero_based": "maybe"}, {"zero_based": 1}):
        with pytest.raises(InvalidInput, match=re.escape(next(iter(options)))):
            load_svmlight(path, **options)
    X, y = load_svmlight(file(b"1\n-1\n"), n_features=3)
    assert (X.shape, X.nnz, y.tolist()) == ((2, 3), 0, [1, -1])
    X, _ = load_svmlight(file(b"1 2147483646:1"))
    assert (X.shape, X.indices.dtype) == ((1, 2147483646), np.int32)


def test_edited_svmlight_is_refused_or_read_as_scikit_learn_reads_it(file):
    good = b"+1 1:0.5 3:2 12:1e-3\n-1 2:1 # comment\n\n0 5:3.25 7:1\n3.5\n1 1:1\n"
    read = 0
    for content in mutations(good, 3000, seed=2, alphabet=b"0123456789:+-.eE \t\n\r#,naif_x"):
        path = file(content)
        try:
            load_svmlight(path)
        except InvalidInput:
            continue
        read += assert_read_right(path)
    assert 300 < read < 3000


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


def test_a_long_line_takes_memory_in_proportion(file):
    path = file(b"1" + b" 1:1" * 200_000 + b"\n")
    tracemalloc.start()
    try:
        X, _ = load_svmlight(path)
        # The block that is read at once comes on top.
        assert tracemalloc.get_traced_memory()[1] < 2 * datasets.BLOCK + 100 * 200_000
    finally:
        tracemalloc.stop()
    assert X[0, 0] == 200_000


def test_the_real_a9a_is_read_as_scikit_learn_reads_it_and_fast(real_data):
    for name in ("a9a", "a9a.t"):
        assert assert_read_right(real_data / "a9a" / name)
    started = time.process_time()
    X, _ = load_svmlight(real_data / "a9a" / "a9a")
    assert time.process_time() - started < 2  # about 0.4 s on an idle machine
    assert X.shape == (32_561, 123)
