"""Arrays of mostly one value take the room of their other entries, in files and in memory, and change no bit."""

import io
import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from attacks.forge import content, join, split
from rosenblatt import AROW, AveragedPerceptron, LinearModel, load, load_linear, save
from rosenblatt.errors import InvalidInput, TooLarge
from rosenblatt.storage.registry import Fault
from rosenblatt.storage.sparse import SparseArray, compress, from_columns
from rosenblatt.storage.values import Decoder, Encoder


def bits(array):
    return array.dtype, array.shape, np.ascontiguousarray(array).tobytes()


@st.composite
def arrays(draw):
    """Draw an array of mostly one value, of one to three dimensions, in either memory order."""
    shape = draw(st.sampled_from([(900,), (3, 700), (700, 3), (2, 5, 90)]))
    dtype = np.dtype(draw(st.sampled_from(["f8", "f4", "i4", "i8"])))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    fill = draw(st.sampled_from([0.0, -0.0, 1.0, 0.1, -3.0]))
    array = np.full(shape, dtype.type(fill), dtype)
    other = rng.random(shape) < draw(st.sampled_from([0.0, 0.01, 0.3, 0.6, 1.0]))
    array[other] = rng.choice([0, -0.0, 1, 2.5, -7], other.sum()).astype(dtype)
    return np.asarray(array, order=draw(st.sampled_from("CF")))


@given(arrays())
def test_an_array_comes_back_bit_for_bit_and_takes_no_more_room_than_before(array):
    encoder = Encoder()
    node = json.loads(json.dumps(encoder.node(array, "it")))
    back = Decoder(encoder.tensors).value(node)
    assert bits(back) == bits(array)
    assert back.flags.writeable
    taken = sum(tensor.nbytes for tensor in encoder.tensors.values())
    assert taken <= array.nbytes
    most = np.unique(array.ravel().view(f"u{array.itemsize}"), return_counts=True)[1].max()
    rows = array.size // array.shape[-1]
    if (array.size - most) * (array.itemsize + 4) + 8 * (rows + 1) + 512 < array.nbytes / 1.2:
        assert taken <= 1.2 * ((array.size - most) * (array.itemsize + 4) + 8 * (rows + 1))


@given(arrays(), st.integers(0, 99))
def test_a_sparse_array_acts_like_the_dense_one(array, seed):
    sparse = compress(array)
    if sparse is None:
        return
    assert (sparse.shape, sparse.dtype, sparse.ndim, sparse.size) == (array.shape, array.dtype, array.ndim, array.size)
    for row, own in zip(sparse, array, strict=True):
        assert bits(np.asarray(row)) == bits(np.asarray(own))
    if array.ndim == 2:
        columns = np.random.default_rng(seed).integers(0, array.shape[1], 7)
        assert bits(sparse[:, columns]) == bits(array[:, columns])
        assert bits(sparse[:, int(columns[0])]) == bits(array[:, columns[0]])
        assert "dense" not in vars(sparse)
    assert np.array_equal(sparse + 1, array + 1)
    assert np.array_equal(-sparse, -array)
    assert np.array_equal(np.asarray(sparse), array)
    assert np.array_equal(sparse.T, array.T)
    assert sparse.tolist() == array.tolist()
    assert sparse[..., -1].tolist() == array[..., -1].tolist()


@pytest.mark.parametrize("width", [100, 1 << 30])
def test_the_place_of_a_column_is_found_in_few_and_in_many(width):
    columns = np.array([0, 3, 4, 98])
    made = from_columns(np.array([[1.0, 0.0, 2.0, 3.0, 0.0], [0.0, 5.0, 0.0, 0.0, 0.0]]), columns, width)
    assert made.places(np.array([98, 0, 1, 99, 3], np.int32)).tolist() == [3, 0, 4, 4, 1]
    assert made[:, [4, 98, 50, 3]].tolist() == [[2.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 5.0]]


def test_columns_whose_rest_has_several_values_are_not_a_sparse_array():
    assert from_columns(np.array([[1.0, 0.0], [1.0, -0.0]]), np.array([3]), 100) is None


def test_arrays_with_the_same_pattern_share_their_indices():
    W = np.zeros((2, 5000))
    W[:, ::50] = 1.5
    encoder = Encoder()
    encoder.node([W, 2 * W], "it")
    assert set(encoder.tensors) == {"it.0.data", "it.0.indices", "it.0.indptr", "it.1.data"}


# ------------------------------------------------------------------------------------------------ not to be trusted

PARTS = {"d": np.array([1.0, 2.0, 3.0]), "i": np.array([0, 4, 2], np.int32), "p": np.array([0, 2, 3])}
GOOD = {"fill": 0.0, "shape": [2, 5], "data": "d", "indices": "i", "indptr": "p"}


def test_the_parts_are_rows_of_entries():
    assert Decoder(dict(PARTS)).value({"sparse": GOOD}).tolist() == [[1, 0, 0, 0, 2], [0, 0, 3, 0, 0]]


@pytest.mark.parametrize(
    ("change", "parts", "message"),
    [
        ({"shape": [2, 4]}, {}, r"columns outside \[0, 4\)"),
        ({"shape": [3, 5]}, {}, "has other rows"),
        ({"shape": [2**60, 5]}, {}, "has no shape"),
        ({"shape": [2, 2**60]}, {}, "has no shape"),
        ({"shape": [2**30, 2**30]}, {}, "has no shape"),
        ({"shape": []}, {}, "has no shape"),
        ({"shape": [2.0, 5]}, {}, "has no shape"),
        ({"shape": [-2, 5]}, {}, "has no shape"),
        ({"shape": 5}, {}, "has no shape"),
        ({"fill": 0}, {}, "has the fill 0"),
        ({"fill": "0"}, {}, "has the fill '0'"),
        ({"fill": None}, {}, "has the fill None"),
        ({"fill": 0.1}, {"d": np.ones(3, np.float32)}, "0.1 is not of type float32"),
        ({"fill": 1e300}, {"d": np.ones(3, np.float32)}, "is not of type float32"),
        ({"fill": 300}, {"d": np.ones(3, np.int8)}, "300 is not of type int8"),
        ({}, {"d": np.ones(2)}, "do not fit its entries"),
        ({}, {"d": np.ones((3, 1))}, "do not belong there"),
        ({}, {"i": np.array([4, 0, 2], np.int32)}, "are not sorted"),
        ({}, {"i": np.array([4, 4, 2], np.int32)}, "are not sorted"),
        ({}, {"i": np.array([-1, 4, 2], np.int32)}, "columns outside"),
        ({}, {"i": np.array([0, 4, 5], np.int32)}, "columns outside"),
        ({}, {"i": np.array([0, 4, 2], np.int8)}, "parts of another type"),
        ({}, {"i": np.array([0.0, 4.0, 2.0])}, "parts of another type"),
        ({}, {"p": np.array([0, 4, 3])}, "do not fit its entries"),
        ({}, {"p": np.array([1, 2, 3])}, "do not fit its entries"),
        ({}, {"p": np.array([0, 2, 4])}, "do not fit its entries"),
        ({}, {"p": np.array([0, 2, 3], np.int32)}, "parts of another type"),
        ({}, {"p": np.array([], int)}, "has other rows"),
        ({"more": 1}, {}, "other names than fill"),
    ],
)
def test_forged_parts_are_faults(change, parts, message):
    with pytest.raises(Fault, match=message):
        Decoder(PARTS | parts).value({"sparse": GOOD | change})


def wide_file(model, columns):
    """Return the bytes of a file of a model of two columns in use, and with so many columns in its JSON."""
    X = sp.csr_array(([1.0, 1.0, 2.0], ([0, 1, 1], [5, 5, 9000])), shape=(2, 10_000))
    file = io.BytesIO()
    save(model.partial_fit(X, ["a", "b"]), file)
    header, tensors = split(file.getvalue())
    changed = json.dumps(content(header)).replace("10000", str(columns))
    return join(header, tensors, model=json.loads(changed))


@pytest.mark.parametrize("model", [AveragedPerceptron(), AROW()], ids=repr)
def test_a_small_file_that_declares_a_huge_array_is_refused_where_that_must_be_dense(model):
    assert load(wide_file(model, 10_000)).n_features_in_ == 10_000
    with pytest.raises(InvalidInput, match=r"its arrays would take .* GB of memory, more than half of the .* load_lin"):
        load(wide_file(model, 1 << 44))
    with pytest.raises(InvalidInput, match="has no shape"):
        load(wide_file(model, 1 << 60))


def test_a_model_of_very_many_columns_predicts_without_the_memory_of_them():
    few, many = (load_linear(wide_file(AROW(), columns)) for columns in (10_000, 1 << 26))
    entries = [2.0, 1.0, 3.0], ([0, 1, 2], [9000, 7, 5])
    rows, wide = (sp.csr_array(entries, shape=(3, columns)) for columns in (10_000, 1 << 26))
    assert many.scores(wide).tolist() == few.scores(rows).tolist()
    assert many.W.shape == (1, 1 << 26)
    assert "dense" not in vars(many.W)
    with pytest.raises(TooLarge, match=r"would take .* GB"):
        np.asarray(load_linear(wide_file(AROW(), 1 << 44)).W)


def test_weights_that_are_not_finite_are_refused():
    W = SparseArray((1, 4 << 20), 0.0, np.array([np.nan]), np.array([7], np.int32), np.array([0, 1]))
    with pytest.raises(InvalidInput, match="not finite"):
        LinearModel(W, np.zeros(1), np.array([0, 1])).save(io.BytesIO())


# ---------------------------------------------------------------------------------------------- models in memory

WIDTH = 1 << 20


def models(problems):
    """Return weights in few of many columns, dense and as a file gives them back."""
    rng = np.random.default_rng(problems)
    W = np.zeros((problems, WIDTH))
    used = np.sort(rng.choice(WIDTH, 300, replace=False))
    W[:, used] = np.where(rng.random((problems, 300)) < 0.5, rng.normal(size=(problems, 300)), 0.0)
    dense = LinearModel(W, rng.normal(size=problems), np.arange(problems))
    file = io.BytesIO()
    dense.save(file)
    return dense, load_linear(file.getvalue()), used, file.getvalue()


@pytest.mark.parametrize("change", ["places", "block"])
def test_weights_that_are_changed_in_memory_never_lead_outside_of_their_arrays(change):
    _, sparse, used, _ = models(3)
    X = sp.csr_array((np.ones(2), ([0, 1], used[:2])), shape=(2, WIDTH))
    sparse.predict(X)
    if change == "places":
        sparse.W._place[:] = 1 << 30
    else:
        sparse.W.block = sparse.W.block[:, :1]
        X = sp.csr_array((np.ones(2), ([0, 1], used[-2:])), shape=(2, WIDTH))
    with pytest.raises(InvalidInput, match="no longer fit their columns"):
        sparse.predict(X)


@pytest.mark.parametrize("problems", [3, 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_of_sparse_weights_are_those_of_dense_ones_bit_for_bit(problems, dtype):
    dense, sparse, used, _ = models(problems)
    rng = np.random.default_rng(0)
    columns = np.where(rng.random((50, 9)) < 0.6, rng.choice(used, (50, 9)), rng.integers(0, WIDTH, (50, 9)))
    row = np.repeat(np.arange(50), 9)
    X = sp.csr_array((rng.normal(size=450).astype(dtype), (row, columns.ravel())), shape=(50, WIDTH))
    assert isinstance(sparse.W, SparseArray)
    assert bits(sparse.scores(X)) == bits(dense.scores(X))
    assert sparse.predict(X).tolist() == dense.predict(X).tolist()
    assert "dense" not in vars(sparse.W)
    few = X[:2].toarray()
    assert bits(sparse.scores(few)) == bits(dense.scores(few))


def test_a_sparse_model_is_written_as_the_dense_one_and_is_small():
    dense, sparse, _, data = models(20)
    file = io.BytesIO()
    sparse.save(file)
    assert file.getvalue() == data
    assert len(data) <= 1.2 * 12 * np.count_nonzero(dense.W)
    assert "SparseArray of shape (20, 1048576)" in repr(sparse)
    merged = sparse.merge([dense])
    assert np.array_equal(merged.W, dense.W)
