"""A cache gives the rows of its input, bit for bit, or it is as good as none."""

import errno
import json
import os

import numpy as np
import pytest

from files.common import content
from mutations import mutations
from rosenblatt.errors import InvalidInput
from rosenblatt.files import cache
from rosenblatt.files.cache import TAIL, _sum
from rosenblatt.files.chunks import Position
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions
from rosenblatt.storage.container import pack_arrays, unpack_arrays

FILES = {
    "a.svm": "".join(f"{i % 3} 1:{i / 7} {2 + i % 300}:0.5 900:-0\n" for i in range(300)),
    "ones.svm": "".join(f"{-1 if i % 2 else 1} {1 + i % 7}:1 {9 + i % 5}:1\n" for i in range(300)),
    "a.txt": "".join(f"{'spam' if i % 3 else 'ham'}\tthe word{i % 7} and {i}\n" for i in range(300)),
    "n.csv": "a,b,y\n" + "".join(f"{i},{i / 7},{i % 2}\n" for i in range(300)),
    "a.vw": "".join(f"{i % 2} {1 + i % 3} |a x{i % 9}:{i} |b y\n" for i in range(300)),
}


@pytest.fixture(params=FILES)
def path(request, tmp_path):
    (tmp_path / request.param).write_text(FILES[request.param])
    return tmp_path / request.param


def opened(path, **options):
    return open_source(path, chunk_bytes=400, cache=path.parent / "cache", **options)


def bits(source):
    """Give all numbers of a source as bytes."""
    found = []
    for chunk in source:
        found += [np.ascontiguousarray(part).tobytes() for part in (*chunk.table.rows, chunk.label)]
        found += [chunk.table.largest, chunk.after, None if chunk.weight is None else chunk.weight.tobytes()]
    return found


def test_rows_from_the_cache_are_those_of_the_file_bit_for_bit(path):
    source = opened(path)
    assert not source.cached
    first = bits(source)
    assert source.cached
    assert bits(source) == first
    again = opened(path)
    assert again.cached
    path.rename(path.with_suffix(".moved"))
    path.with_suffix(".moved").rename(path)
    assert bits(again) == first
    numbers = [chunk.label.tolist() for chunk in again]
    assert [again.chunk(k).label.tolist() for k in range(again.chunk_count)] == numbers


TOLD = {
    "one.csv": ("a,kind,y\n" + "1,größer,0\n,red,1\nx,red,0\n2,,1\n" * 3).encode("latin-1"),
    "two.csv": b",a,b,y\n" + b"".join(b"%d,%d,%d,%d\n" % (i, i, 100 + i % 5, i % 2) for i in range(40)),
    "a.txt": b"spam\ta few words\nham\tother words here\n" * 5 + b"no tab\n",
}


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("features", [{}, {"dictionary": True}, {"dictionary": True, "bits": 1}, {"standardise": True}])
def test_what_a_pass_found_besides_rows_is_in_the_cache(tmp_path, name, features):
    """Names and scaling belong to a model; notes and counts to what users are told."""
    if name == "a.txt" and "standardise" in features:
        pytest.skip("there are no numbers")
    path = tmp_path / name
    path.write_bytes(TOLD[name])
    options = {"on_error": "skip", "columns": {"a": "number"} if name == "one.csv" else {}}
    first, again = (opened(path, features=FeatureOptions(**features), **options) for _ in range(2))
    rows = bits(first)
    assert not again.cached
    again = opened(path, features=FeatureOptions(**features), **options)
    assert again.cached
    for _ in range(2):
        assert again.problems == first.problems != type(first.problems)()
        assert again.names == first.names
        assert again.scaling == first.scaling
        assert again.columns_used() == first.columns_used()
        assert bits(again) == rows


@pytest.mark.parametrize(
    "found",
    [{}, {"problems": []}, {"names": 3}, {"names": ["a", "a"]}, {"names": [1]}, {"scaling": [[1], [1]]}, {"used": "x"}],
    ids=str,
)
def test_a_cache_of_which_anything_else_is_wrong_is_not_used(tmp_path, found):
    path = tmp_path / "n.csv"
    path.write_text(FILES["n.csv"])
    features = FeatureOptions(dictionary=True, standardise=True)
    expected = bits(opened(path, features=features))

    def edit(index, content):
        index["found"] = index["found"] | found if found else {}
        return content

    forge(tmp_path / "cache", edit)
    source = opened(path, features=features)
    assert not source.cached
    assert bits(source) == expected
    assert source.names == ("a", "b")


def test_a_cache_of_another_version_is_not_used(path, monkeypatch):
    opened(path).build_cache()
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.0")
    assert not opened(path).cached


def test_reading_goes_on_in_a_cache_at_any_row(path):
    source = opened(path)
    source.build_cache()
    rows, labels, weights = content(source)
    for row in (0, 1, 17, 299):
        assert content(source.read(Position(row, 0, 12345, 9))) == (rows[row:], labels[row:], weights[row:])


def test_a_pass_that_did_not_end_leaves_no_cache(path):
    source = opened(path)
    iterator = iter(source)
    next(iterator)
    iterator.close()
    assert not source.cached
    assert os.listdir(path.parent) == [path.name]
    list(source.read(next(iter(source)).after))
    assert not source.cached
    source.build_cache()
    assert source.cached


def test_a_cache_of_another_input_is_not_used(path):
    opened(path).build_cache()
    assert opened(path).cached
    assert not opened(path, labels="none").cached
    assert not opened(
        path, features=FeatureOptions(**{"dictionary": True} if path.name == "n.csv" else {"bits": 19})
    ).cached
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    assert not opened(path).cached
    source = opened(path)
    assert len(content(source)[1]) == 301
    assert source.cached


def test_a_cache_that_becomes_too_large_is_given_up(path):
    source = open_source(path, chunk_bytes=400, cache=path.parent / "cache", cache_bytes=1000)
    rows = content(source)
    assert "would take more than 1000 bytes" in source.problems.notes[0]
    assert os.listdir(path.parent) == [path.name]
    assert content(source) == rows


def test_a_full_disk_is_told_and_reading_goes_on(path, monkeypatch):
    class Full:
        def __init__(self, *arguments):
            self.file = None

        def add(self, chunk):
            raise OSError(errno.ENOSPC, "No space left on device")

        def discard(self):
            pass

    monkeypatch.setattr(cache, "_Writer", Full)
    source = opened(path)
    assert len(content(source)[1]) == 300
    assert "No space left" in source.problems.notes[0]
    assert not source.cached


def test_a_folder_that_cannot_be_written_is_told(path):
    source = open_source(path, cache=path.parent / "missing" / "cache")
    assert len(content(source)[1]) == 300
    assert "cannot be written" in source.problems.notes[0]


def test_a_damaged_cache_is_refused_or_not_used_and_never_misleads(path):
    source = opened(path)
    expected = content(source)
    file = path.parent / "cache"
    whole = file.read_bytes()
    refused = unused = same = 0
    for damaged in mutations(whole, 150, seed=1):
        file.write_bytes(damaged)
        again = opened(path)
        if not again.cached:
            unused += 1
            continue
        try:
            same += content(again.cache.chunks()) == expected
        except InvalidInput as error:
            refused += "cache is damaged" in str(error)
    assert refused + unused + same == 150
    assert refused + unused > 100


def test_values_are_kept_in_the_narrowest_type_that_holds_them():
    for values, dtype in [([1, 255], "u1"), ([1, 256], "u2"), ([-1, 70000], "i4"), ([0.5, 1], "f4"), ([0.1], "f8")]:
        assert cache._narrowed(np.array(values, float), cache.NARROW).dtype == dtype
    assert cache._narrowed(np.array([-0.0, 1.0]), cache.NARROW).dtype == "f4"


def test_a_cache_never_takes_the_place_of_what_is_read(path):
    with pytest.raises(InvalidInput, match="is one of the files that are read"):
        open_source(path, cache=path.parent / "." / path.name)


def forge(file, edit):
    """Change the index of a cache and the content of its first chunk, with sums that fit."""
    data = file.read_bytes()
    length, _ = TAIL.unpack(data[-TAIL.size :])
    index = json.loads(data[-TAIL.size - length : -TAIL.size])
    entry = index["chunks"][0]
    content = edit(index, data[entry["begin"] : entry["end"]])
    rest = data[: -TAIL.size - length]
    entry |= {"begin": len(rest), "end": len(rest) + len(content), "sum": _sum(content)}
    text = json.dumps(index).encode()
    file.write_bytes(rest + content + text + TAIL.pack(len(text), sum(text)))


@pytest.fixture
def sparse_cache(tmp_path):
    """Return the path of a file of three sparse rows that has a cache."""
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1 3:2\n-1 2:1 3:1\n1 1:2\n")
    bits(opened(path))
    return path


def test_how_many_columns_there_are_is_not_what_a_cache_says(sparse_cache):
    def edit(index, content):
        index["n_features"] = 2**31
        return content

    width = opened(sparse_cache).n_features
    forge(sparse_cache.parent / "cache", edit)
    source = opened(sparse_cache)
    assert source.cached
    assert {chunk.table.shape[1] for chunk in source} == {width}


@pytest.mark.parametrize(
    "counts",
    [[2**63 - 1, 2**63 - 1, 7], [2**62, 2**62, 2**63 - 1], [-1, 4, 2], [5, 0], [6, 0, 0]],
    ids=str,
)
def test_counts_that_only_add_up_to_the_entries_are_refused(sparse_cache, counts):
    def edit(index, content):
        about, arrays = unpack_arrays(content)
        return pack_arrays(about, arrays | {"count": np.array(counts)})

    forge(sparse_cache.parent / "cache", edit)
    with pytest.raises(InvalidInput, match="the cache is damaged"):
        list(opened(sparse_cache))


@pytest.mark.parametrize("name", ["label", "count", "column", "value"])
@pytest.mark.parametrize("change", [None, np.float16, np.uint64, np.bool_, "column", "short"], ids=str)
def test_a_cache_with_other_arrays_is_refused_or_has_rows_that_a_loop_may_read(sparse_cache, name, change):
    def edit(index, content):
        about, arrays = unpack_arrays(content)
        array = arrays.pop(name)
        if change == "column":
            arrays[name] = array.reshape(-1, 1)
        elif change == "short":
            arrays[name] = array[:-1]
        elif change is not None:
            arrays[name] = array.astype(change)
        return pack_arrays(about, arrays)

    forge(sparse_cache.parent / "cache", edit)
    source = opened(sparse_cache)
    other = change is np.bool_ and name in ("count", "column")  # which has no 2, and none is in order
    if change in ("column", "short") or (change is None and name != "value") or other:
        with pytest.raises(InvalidInput, match="the cache is damaged"):
            list(source)
        return
    (chunk,) = source
    X = chunk.table.matrix()
    X.check_format()
    assert X.shape[0] == chunk.label.size == 3
    assert chunk.label.dtype == X.data.dtype == np.float64


@pytest.mark.parametrize("about", ["", "[]", "3", "{}", '{"after": 3}', '{"after": [1, "x"]}', '{"after": null'])
def test_a_cache_whose_chunk_says_something_else_is_refused(sparse_cache, about):
    forge(sparse_cache.parent / "cache", lambda index, content: pack_arrays(about, unpack_arrays(content)[1]))
    with pytest.raises(InvalidInput, match="the cache is damaged"):
        list(opened(sparse_cache))


@pytest.mark.parametrize("content", [b"", b"x", bytes(8), b"\xff" * 40, (2).to_bytes(8, "little") + b"{}"], ids=repr)
def test_a_cache_whose_chunk_has_no_arrays_is_refused(sparse_cache, content):
    forge(sparse_cache.parent / "cache", lambda index, _: content)
    with pytest.raises(InvalidInput, match="the cache is damaged"):
        list(opened(sparse_cache))
