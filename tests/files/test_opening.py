"""Sources give the same rows each time, at any size of chunks, on any threads, from any packing and any place."""

import bz2
import gzip
import lzma
import os
import random
import sys
import threading
import time

import numpy as np
import pytest

from files.common import content, matrix, named, read
from rosenblatt.errors import InvalidInput
from rosenblatt.files.chunks import Position
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions, Opening, Reading

SVMLIGHT = "".join(f"{i % 3} 1:{i} {2 + i % 5}:0.5 # {i}\n\n" for i in range(200))
TEXT = "".join(f"{'spam' if i % 3 else 'ham'}\tthe word{i % 7} and Été {i}\n" for i in range(200))
CSV = "age,colour,text,label\n" + "".join(
    f'{i % 50},{"red" if i % 2 else ""},"a, ""b"" {i}\n c",{i % 2}\n' for i in range(200)
)
NUMBERS = "a,b,y\n" + "".join(f"{i},{i / 7},{i % 2}\n" for i in range(200))
VW = "".join(f"{i % 2} {1 + i % 3} |a x{i % 9}:{i} |b y\n" for i in range(200))
JSON = "".join(f'{{"y": {i % 2}, "x": {i}, "t": "some words here {i % 5}", "c": "v{i % 3}"}}\n' for i in range(200))
FILES = {"a.svm": SVMLIGHT, "a.txt": TEXT, "a.csv": CSV, "n.csv": NUMBERS, "a.vw": VW, "a.jsonl": JSON}

every_file = pytest.mark.parametrize("name", FILES)


@pytest.fixture
def file(tmp_path):
    def write(name, content=None):
        path = tmp_path / name
        path.write_bytes(
            (FILES[name] if content is None else content).encode() if not isinstance(content, bytes) else content
        )
        return path

    return write


def options_for(name, seed):
    """Features for which rows depend on those before, where there are such."""
    if name == "a.svm":
        return {}
    words = (1, 1) if name in ("n.csv", "a.vw") else (1, 2)
    stateful = FeatureOptions(dictionary=name != "n.csv", standardise=name.endswith("csv") or None, words=words)
    return {"features": [FeatureOptions(), stateful][seed % 2]}


@every_file
@pytest.mark.parametrize("seed", [0, 1])
def test_rows_do_not_depend_on_chunks_threads_or_the_pass(file, name, seed):
    path, options = file(name), options_for(name, seed)
    expected = read(path, **options)
    assert len(expected[1]) == 200
    for chunking in ({"chunk_bytes": 300}, {"chunk_bytes": 64, "threads": 0}, {"chunk_rows": 7}, {"threads": 1}):
        source = open_source(path, **options | chunking)
        sizes = [chunk.label.size for chunk in source]
        assert sum(sizes) == 200
        if "chunk_rows" in chunking:
            assert sizes == [7] * 28 + [4]
        for _ in range(2):
            assert content(source) == expected


@every_file
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("packed", [False, True])
def test_reading_goes_on_where_it_stopped(file, name, seed, packed):
    path, options = file(name), options_for(name, seed)
    if packed:
        path = file(name + ".gz", gzip.compress(FILES[name].encode()))
    expected = read(path, **options)
    for chunking in ({"chunk_bytes": 300}, {"chunk_rows": 9, "chunk_bytes": 500}):
        source = open_source(path, **options | chunking)
        for chunk in source:
            rest = open_source(path, **options | chunking).read(Position(*list(chunk.after)))
            parts = content(rest)
            assert [part[chunk.after.row :] for part in expected] == list(parts)


@every_file
def test_packings_are_known_by_content(file, name):
    expected = read(file(name))
    for packing in (gzip.compress, bz2.compress, lzma.compress):
        path = file(name + ".gz", packing(FILES[name].encode()))
        assert read(path) == expected
        whole = path.read_bytes()
        with pytest.raises(InvalidInput, match=r"damaged or cut short|no rows"):
            read(file(name + ".gz", whole[: len(whole) // 2]))


def test_zstandard_is_unpacked_where_it_is_installed(file):
    zstandard = pytest.importorskip("zstandard")
    assert read(file("a.svm.zst", zstandard.compress(SVMLIGHT.encode()))) == read(file("a.svm"))


@every_file
def test_a_reading_reads_other_files_in_the_same_way(file, name):
    source = open_source(file(name))
    reading = Reading.from_json(source.reading.to_json())
    assert reading == source.reading
    part = FILES[name].splitlines(keepends=True)
    head = part[:1] if name.endswith("csv") else []
    (chunk,) = open_source(file("part", "".join(head + part[-2:])), reading=reading)
    last = content(source)[0][-chunk.label.size :]
    assert matrix(chunk) == last


def test_several_files_and_patterns_are_read_in_order(file, tmp_path):
    for k in range(3):
        file(f"part{k}.csv", f"a,b,y\n{k},1,0\n{k},2,1\n")
    rows, labels, _ = read(str(tmp_path / "part*.csv"), chunk_bytes=8)
    assert rows == [[k, b] for k in range(3) for b in (1, 2)]
    assert labels == [0, 1] * 3
    assert read([tmp_path / "part2.csv", tmp_path / "part0.csv"])[0][:2] == [[2, 1], [2, 2]]
    with pytest.raises(InvalidInput, match="No file matches"):
        open_source(str(tmp_path / "none*.csv"))
    with pytest.raises(InvalidInput, match="cannot be opened"):
        open_source(tmp_path / "missing.csv")
    file("part1.csv", "a,b,y\n1,1,0\n1,x,1\n")
    with pytest.raises(InvalidInput, match=r"part1\.csv, line 3"):
        read(str(tmp_path / "part*.csv"))


@pytest.fixture
def pipe(monkeypatch):
    opened = []

    def write(content):
        reader, writer = os.pipe()
        threading.Thread(target=lambda: (os.write(writer, content), os.close(writer))).start()
        opened.append(open(reader))  # noqa: SIM115
        monkeypatch.setattr(sys, "stdin", opened[-1])

    yield write
    for stream in opened:
        stream.close()


LONG = "many words of a long text " * 6_000
LONG_LINES = {
    "wide.csv": ",".join(f"gene{j}" for j in range(20_000)) + ",y\n" + (",".join(["1.5"] * 20_000) + ",0\n") * 12,
    "long.csv": "kind,text\n" + "".join(f'{"ab"[k % 2]},"{LONG}, {k}"\n' for k in range(12)),
    "long.txt": "".join(f"{'ab'[k % 2]}\t{LONG} {k}\n" for k in range(12)),
    "long.jsonl": "".join(f'{{"text": "{LONG} {k}", "label": "{"ab"[k % 2]}"}}\n' for k in range(12)),
}


@pytest.mark.parametrize("name", LONG_LINES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
@pytest.mark.parametrize("piped", [False, True], ids=["file", "pipe"])
def test_lines_that_are_longer_than_a_sample_are_read(file, pipe, name, pack, piped):
    packed, kind = pack(LONG_LINES[name].encode()), name.partition(".")[2].replace("txt", "text")
    path = file(name, packed)
    if piped:
        pipe(packed)
    with open_source("-" if piped else path, format=kind) as source:
        assert sum(chunk.table.shape[0] for chunk in source) == 12
        assert source.n_features == (20_000 if name == "wide.csv" else 1 << 18)


@pytest.mark.parametrize("packing", [bytes, gzip.compress])
def test_standard_input_is_read_once(pipe, file, packing):
    pipe(packing(SVMLIGHT.encode()))
    with open_source("-", chunk_bytes=256) as source:
        assert content(source) == read(file("a.svm"))
        assert not source.again
        assert source.progress().bytes_total is None
        with pytest.raises(InvalidInput, match="only once"):
            list(source)


@pytest.fixture
def named_pipe(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    threads = []

    def make(name, content):
        os.mkfifo(tmp_path / name)
        threads.append(threading.Thread(target=(tmp_path / name).write_bytes, args=[content]))
        threads[-1].start()
        return tmp_path / name

    yield make
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("packing", [bytes, gzip.compress])
def test_a_pipe_with_a_name_is_read_from_its_start(named_pipe, file, packing):
    """As a shell makes them for <(command); the sample at the start was lost, where the pipe was opened again."""
    text = "a,b,y\n" + "".join(f"{i},{i / 7},{i % 2}\n" for i in range(20_000))
    with open_source(named_pipe("pipe", packing(text.encode()))) as source:
        assert content(source) == read(file("n.csv", text))
        assert not source.again


def test_two_pipes_are_refused(named_pipe, tmp_path):
    os.mkfifo(tmp_path / "one")
    with pytest.raises(InvalidInput, match="one and - are standard input or pipes; only one of them can be read"):
        open_source([tmp_path / "one", "-"])


def test_standard_input_is_read_again_from_a_cache(pipe, tmp_path):
    pipe(SVMLIGHT.encode())
    with open_source("-", cache=tmp_path / "cache") as source:
        assert content(source) == content(source)
        assert source.again
    assert not (tmp_path / "cache").exists()
    pipe(SVMLIGHT.encode())
    rows = content(open_source("-", cache=tmp_path / "cache"))[0]  # and is killed before it removes the cache
    pipe(SVMLIGHT.encode() * 2)
    with open_source("-", cache=tmp_path / "cache") as source:
        assert content(source)[0] == rows * 2
    pipe(SVMLIGHT.encode())
    with open_source("-") as source, pytest.raises(InvalidInput, match="standard input"):
        source.read(Position(5, 0, 9, 1))


FAULTY = {
    "a.svm": ("1 1:1\n", "1 1:x\n", "line {}: '1:x' has a value"),
    "a.txt": ("a\tb c d\n", "no tab here\n", "line {}: there is no label"),
    "a.csv": ("1,red,a b c d,0\n", "1,red,0\n", "line {}: '1,red,0' has fewer than 4 fields"),
    "n.csv": ("1,2,0\n", "1,x,0\n", "line {}: 'x' in column 'b' is not a finite number"),
    "a.vw": ("1 | a\n", "1 | a:1x\n", "line {}: '1x' is not a finite number"),
    "a.jsonl": ('{"y": 1, "x": 2}\n', '["y", 1]\n', "line {}: '.\"y\", 1.' is not a JSON object"),
}


@every_file
@pytest.mark.parametrize("chunk_bytes", [50, 1 << 20])
def test_a_faulty_line_is_told_with_file_and_line_or_skipped_and_counted(file, name, chunk_bytes):
    good, bad, message = FAULTY[name]
    text, picked = FILES[name], random.Random(0)
    header = text.splitlines(keepends=True)[0] if name.endswith("csv") else ""
    lines = [bad if picked.random() < 0.1 else good for _ in range(200)]
    path = file(name, header + good + "".join(lines))
    first = lines.index(bad) + 2 + bool(header)
    options = {"chunk_bytes": chunk_bytes, "label_type": "text" if name == "a.txt" else "number"}
    if name == "a.csv":
        options["columns"] = {"text": "text"}
    if name == "n.csv":
        options["columns"] = {"b": "number"}
    with pytest.raises(InvalidInput, match=message.format(first)) as error:
        read(path, **options)
    assert name in str(error.value)
    source = open_source(path, on_error="skip", **options)
    labels = content(source)[1]
    assert len(labels) == 1 + lines.count(good)
    assert source.problems.skipped == lines.count(bad)
    assert len(source.problems.examples) == 5
    assert source.problems.examples[0] == str(error.value)


def test_labels_may_be_missing_or_none(file):
    cases = {
        "a.svm": "1:1 2:1\n",
        "a.txt": "\ta b c\n",
        "a.csv": "1,red,a b c d,\n",
        "a.vw": "| a\n",
        "a.jsonl": '{"x": 1}\n',
    }
    for name, line in cases.items():
        path = file("more-" + name, FILES[name] + line)
        with pytest.raises(InvalidInput, match="label"):
            read(path, label="y" if name == "a.jsonl" else None)
        label = open_source(path, labels="optional", label="y" if name == "a.jsonl" else None)
        last = content(label)[1][-1]
        assert last == "" or np.isnan(last)
    for name in ("a.svm", "a.vw"):
        assert np.isnan(read(file(name), labels="none")[1]).all()
    path = file("only.txt", "words without a label\n")
    assert len(read(path, format="text", labels="none")[0][0]) == 4


def test_the_type_of_labels_is_that_of_the_first_ones(file):
    path = file("labels.txt", "1\ta b c\n" * 20_000 + "spam\ta b c\n")
    with pytest.raises(InvalidInput, match=r"line 20001: 'spam' is not a number.*label_type='text'"):
        read(path)
    assert set(read(path, label_type="text")[1]) == {"1", "spam"}


def test_columns_of_svmlight_are_its_indices(file):
    rows = read(file("z.svm", "1 0:2 5:1\n"))[0]
    assert rows == [[(0, 2.0), (5, 1.0)]]
    assert read(file("o.svm", "1 1:2 5:1 5:0.5 3:1\n"))[0] == [[(0, 2.0), (2, 1.0), (4, 1.5)]]
    path = file("w.svm", "1 1:1\n1 300000:1\n")
    with pytest.raises(InvalidInput, match=r"line 2: index 300000 is not among 1 to 262144.*pass bits=19"):
        read(path)
    assert read(path, features=FeatureOptions(bits=19))[0][1] == [(299999, 1.0)]
    with pytest.raises(InvalidInput, match=r"index 0 is not among.*pass zero_based=True"):
        read(file("b.svm", "1 1:1\n" * 20_000 + "1 0:1\n"))


def test_names_of_a_dictionary_are_frozen_for_other_files(file):
    options = {"features": FeatureOptions(dictionary=True, counts="count", normalise=False)}
    first = open_source(file("first.txt", "1\ta b a\n0\tc the b\n"), **options)
    assert named(first) == [{"a": 2.0, "b": 1.0}, {"b": 1.0, "c": 1.0, "the": 1.0}]
    other = open_source(file("other.txt", "1\tthe new c\n"), reading=first.reading, names=first.names)
    assert other.names == first.names
    assert named(other) == [{"c": 1.0, "the": 1.0}]
    small = open_source(file("first.txt", "1\ta b c\n0\td e\n"), features=FeatureOptions(dictionary=True, bits=1))
    assert [len(row) for row in content(small)[0]] == [2, 0]
    assert "dictionary is full: 3 entries" in small.problems.notes[0]


def test_scaling_of_one_file_is_used_for_another(file):
    options = {"features": FeatureOptions(standardise=True)}
    first = open_source(file("n.csv"), **options)
    list(first)
    x = np.arange(200)
    assert np.allclose(first.scaling.mean[0], x.mean())
    assert np.allclose(first.scaling.deviation[0], x.std())
    rows = content(open_source(file("m.csv", "a,b,y\n99.5,,1\n"), reading=first.reading, scaling=first.scaling))[0]
    assert np.allclose(rows, [[0, 0]])


def test_threads_end_when_the_consumer_stops(file):
    path = file("long.svm", SVMLIGHT * 200)
    before = threading.active_count()
    for _ in range(5):
        iterator = iter(open_source(path, chunk_bytes=1000))
        next(iterator)
        iterator.close()
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.05)
    assert threading.active_count() <= before


def test_progress_and_columns_in_use_are_counted(file):
    source = open_source(file("a.svm"), chunk_bytes=200, threads=0)
    seen = [source.progress() for _ in source]
    assert [p.rows for p in seen] == sorted(p.rows for p in seen)
    assert seen[-1].bytes_read == seen[-1].bytes_total == len(SVMLIGHT)
    assert source.columns_used() == 6


def test_the_digest_changes_with_file_and_options(file):
    path = file("a.svm")
    digest = open_source(path).digest()
    assert open_source(path).digest() == digest
    assert open_source(path, features=FeatureOptions(bits=19)).digest() != digest
    path.write_text(SVMLIGHT + "1 1:1\n")
    assert open_source(path).digest() != digest


@pytest.mark.parametrize(
    "options",
    [
        {"format": "xml"},
        {"labels": "some"},
        {"on_error": "ignore"},
        {"label_type": "float"},
        {"header": "maybe"},
        {"chunk_bytes": 0},
        {"chunk_rows": 0},
        {"threads": -1},
        {"features": 18},
        {"names": ["a"]},
        {"cache": "x", "cache_bytes": 0},
    ],
)
def test_options_that_cannot_be_used_are_refused(file, options):
    with pytest.raises(InvalidInput, match=list(options)[-1]):
        open_source(file("a.svm"), **options)


def test_unknown_options_are_refused_by_name(file):
    with pytest.raises(TypeError, match="chunk_size"):
        open_source(file("a.svm"), chunk_size=3)
    with pytest.raises(InvalidInput, match="at least one path"):
        open_source([])
    with pytest.raises(InvalidInput, match="paths=3"):
        open_source([3])
    assert Opening().threads == 2


# ------------------------------------------------------------------------------------------------------ several passes


def parsed_blocks(source, monkeypatch):
    """Return a list that grows by one with each block that a source parses."""
    blocks, parse = [], source.parsers[0].parse
    monkeypatch.setattr(source.parsers[0], "parse", lambda *args: (blocks.append(args), parse(*args))[1])
    return blocks


def test_a_file_of_one_chunk_is_parsed_once_unless_it_changes(tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\nnonsense\n-1 2:1\n")
    source = open_source(path, on_error="skip")
    blocks = parsed_blocks(source, monkeypatch)
    first, second = ([(chunk.label.tolist(), source.problems) for chunk in source] for _ in range(2))
    assert first == second == [([1.0, -1.0], source.problems)]
    assert source.problems.skipped == 1
    assert len(blocks) == 1
    path.write_text("1 1:1\n1 2:1\n-1 3:1\n")
    assert [chunk.label.tolist() for chunk in source] == [[1.0, 1.0, -1.0]]
    assert source.problems.skipped == 0
    assert len(blocks) == 2


def test_a_file_of_several_chunks_is_not_kept_in_memory(tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n-1 2:1\n" * 50)
    source = open_source(path, chunk_bytes=64, threads=0)
    blocks = parsed_blocks(source, monkeypatch)
    chunks = len(list(source))
    assert len(list(source)) == chunks > 1
    assert len(blocks) == 2 * chunks
