"""Feed mutated files to every parser; run as a script, so that a crash or a hang is seen as an exit code.

Prints how many inputs were read, how many had lines that were refused, and how many were refused as a whole.
"""

import contextlib
import faulthandler
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from rosenblatt.engine.inspection import inspect_csr
from rosenblatt.engine.rows import Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.files.features import Dictionary
from rosenblatt.files.opening import Inputs, decide, open_source
from rosenblatt.files.opening import make_parser as parser_of
from rosenblatt.files.options import FeatureOptions, Opening, Reading
from rosenblatt.files.sniffing import recognise

HANG_SECONDS = 600  # the first inputs are compiled for
INPUTS_PER_PARSER = 50
INPUTS_PER_FILE = 7
MOST_MEGABYTES = 1500

SEEDS = {
    "svmlight": [
        b"+1 1:0.5 3:2 12:1e-3\n-1 2:1 # comment\n\n0 qid:3 5:3.25 7:1\n3.5\n1 1:1 1:2\n",
        b"1 1:0.1234567890123456789012345 2:9007199254740993 262144:1e308\n12345678901234567890123 3:5e-324\n",
    ],
    "vw": [
        b"1 2 0.5 'tag|a:2 b:3 c d:1e-3|b 17 x:foo :4 :5 z:0\n-1 | a a:-.5\n\n2 tag|n y|n z\r\n| q\n",
        b"1 |text the words:2.5 are|12 99999999999999999999:1 \xc3\xa9:1e400 ||\n",
    ],
    "csv": [
        b'age,colour,text,label\n33,red,"hello, ""big"" world\nand more",1\n,,"",0\n1e3,blue,x y z,1\n',
        b"1,2.5,a\n3,NA,b\n\n-1e-5,?,a\r\n",
        b'a,b,y\n1,"x\n,""y""\n",0\n2,"z",1\n"3","u",0\n4,"v\n5,w,1\n"6,""",0\n',
        b'\n\n"a",b,y\r\n"1",2,0\r\n3,"4",1\r\n"5","6","1"\r\n',
    ],
    "tsv": [b"a\tb\ty\n1\tx y z w\t0\n\t\t1\n", b"1\t2\t3\n4\t5\t6\n"],
    "text": [
        b"spam\tWin $$$ now \xc3\x89t\xc3\xa9 \xf0\x9f\x98\x80\nham\tsee you\r\n\n\xff\xfe\tx\n",
        b"1\ta b_c 9\n0\t\n",
    ],
    "jsonl": [
        b'{"label": 1, "x": 2.5, "t": "some words are here", "l": ["a", 3], "o": {"p": null, "q": true}}\n'
        b'\n{"label": 0}\n',
        b'{"label": "a", "x": -1e5, "c": "\\u00e9\\ud800"}\n{"label": "b", "x": 1}\n',
    ],
}
CROSSES = {"vw": ":*:,a*b", "csv": "age*colour,text*text", "tsv": "a*b", "text": "text*text", "jsonl": "x*t,t*t"}
ALPHABET = b"0123456789:+-.eE \t\n\r#,|\"'naifx_{}[]\x00\xc3\xa9\xf0\xff"
WILD = [
    b"9" * 30,
    b"1e999",
    b"-" * 5,
    b"\n" * 4,
    b" " * 9,
    b'"' * 3,
    b"|" * 5,
    b":" * 4,
    b"\xf0\x9f\x98",
    b"0" * 400,
    b"nan",
    b"qid:",
]


def mutated(random, content):
    """Change some bytes: single ones, wild pieces, pieces of itself, or its end."""
    changed = bytearray(content)
    for _ in range(random.integers(1, 5)):
        place, kind = int(random.integers(0, len(changed) + 1)), random.integers(6)
        if kind < 3:
            new = bytes(ALPHABET[k] for k in random.integers(0, len(ALPHABET), random.integers(0, 4)))
            changed[place : place + int(random.integers(0, 4))] = new
        elif kind == 3:
            changed[place:place] = WILD[random.integers(len(WILD))]
        elif kind == 4:
            begin = int(random.integers(0, len(changed) + 1))
            changed[place:place] = changed[begin : begin + int(random.integers(0, 40))]
        else:
            del changed[place:]
    return bytes(changed) + b"\n"


def make_parser(random, name, content, folder):
    """Give a parser for a format, with random options, or None if the content is refused."""
    features = FeatureOptions(
        bits=int(random.choice([1, 5, 18])),
        dictionary=name != "svmlight" and bool(random.integers(2)),
        words=[(1, 1), (1, 2), (2, 3)][random.integers(3)],
        letters=[None, (1, 3)][random.integers(2)],
        lowercase=bool(random.integers(2)),
        counts=str(random.choice(["binary", "count", "log"])),
        normalise=[None, True][random.integers(2)],
        standardise=bool(random.integers(2)),
        cross=CROSSES.get(name, ()) if random.integers(2) else (),
    )
    labels = str(random.choice(["required", "optional", "none"]))
    opening = Opening(format=name, labels=labels, features=features)
    recognised = False
    with contextlib.suppress(InvalidInput):
        recognised = bool(recognise(content, "file"))
    for sample in [content] * recognised + [SEEDS[name][0]]:
        (folder / "sample").write_bytes(sample)
        with contextlib.suppress(InvalidInput):
            reading, (layout,), _ = decide(Inputs(folder / "sample"), opening)
            how = replace(opening, on_error="skip" if random.integers(4) else "raise")
            return parser_of(Reading.from_json(reading.to_json()), how, layout)
    return None


def check(parser, parsed, text):
    """See that what was parsed is what loops may read."""
    rows = parsed.label.size
    assert parsed.line.size == rows
    assert parsed.weight is None or parsed.weight.size == rows
    assert parsed.lines == np.count_nonzero(text == 10)
    dictionary = Dictionary(parser.n_features) if parser.reading.features.dictionary else None
    found = parser.rows(parsed, dictionary=dictionary)
    if isinstance(found, Dense):
        assert found.X.shape == (rows, parser.n_features)
        return
    value, column, indptr = found
    assert indptr.size == rows + 1
    assert indptr[0] == 0
    assert (np.diff(indptr) >= 0).all()
    assert indptr[-1] == column.size == value.size
    _, outside, infinite, disorder = inspect_csr(value, column, indptr, parser.n_features, -1.0)
    assert (outside, disorder) == (-1, -1)
    overflows = bool(parser.reading.features.cross) and infinite >= 0  # products, whose sum may be anything
    assert overflows or not np.isnan(value).any()


def all_of(path, **options):
    """Give what is read of a file whose faulty lines are skipped: rows, labels, and what is told of the faults."""
    source = open_source(path, on_error="skip", threads=0, **options)
    found = []
    for chunk in source:
        matrix = chunk.table.matrix()
        rows = matrix.tolist() if not hasattr(matrix, "indptr") else [row.todok().items() for row in matrix]
        found += [(list(row), label) for row, label in zip(rows, map(repr, chunk.label.tolist()), strict=True)]
    return found, source.problems


def whole_file(random, folder, name, content):
    """Read a mutated file in blocks of several sizes: what is read does not depend on them, nor on the pass."""
    path = folder / "file"
    path.write_bytes(content)
    expected = all_of(path, format=name, chunk_bytes=1 << 20)
    for size in (1, int(random.integers(2, 99))):
        assert all_of(path, format=name, chunk_bytes=size) == expected, (name, size, content)


def main(count, seed):
    random, formats = np.random.default_rng(seed), sorted(SEEDS)
    read = faulty = refused = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k in range(count):
            format = formats[k // INPUTS_PER_PARSER % len(formats)]
            content = mutated(random, SEEDS[format][random.integers(len(SEEDS[format]))])
            if k % INPUTS_PER_PARSER == 0:
                faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
                parser = make_parser(random, format, content, folder)
            if k % INPUTS_PER_FILE == 0:
                try:
                    whole_file(random, folder, format, content)
                except InvalidInput as error:
                    assert len(str(error)) > 40, error
            if parser is None:
                refused += 1
                continue
            text = np.frombuffer(content, np.uint8)
            try:
                parsed = parser.parse(text)
            except InvalidInput:
                refused += 1
                continue
            check(parser, parsed, text)
            read += parsed.faults.count == 0
            faulty += parsed.faults.count > 0
    faulthandler.cancel_dump_traceback_later()
    # Not getrusage, which counts the process that started this one, too.
    status = Path("/proc/self/status").read_text()
    used = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024
    assert used < MOST_MEGABYTES, f"{used} MB"
    print(read, faulty, refused)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
