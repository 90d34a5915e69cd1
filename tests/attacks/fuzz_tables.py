"""Write the same rows as several files, in every way people and tools write tables, and demand the same result.

    python tests/attacks/fuzz_tables.py 20000 1      # how many sets, and the seed

A set is a small table of numbers, categories and texts with labels. It is cut into files whose columns are in random
orders, and which differ in format, delimiter, quotes, encoding, ends of lines, packing and pandas' index. Some sets
have a file that does not fit. Every command must give what the library gives on the rows themselves, worked out here
without any reader, or end with an error in one sentence. Anything else is a silent difference.
"""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from click.testing import CliRunner

try:
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError:  # the other formats do without
    pyarrow = None

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]

import rosenblatt
from oracles import features
from rosenblatt.cli.main import commands as command_line
from rosenblatt.learners.sharding import fit_shards
from rosenblatt.scaling.partitions import FileRows, in_groups, resolve_files, shard_of_block
from rosenblatt.training.sharded import LocalShards

BITS, EPOCHS = 14, 2
NAMES = ["a", "b", "size", "x 1", "Größe", "height,cm", 'the "x"', "B", "w;idth", "p|q", "length", "age"]
CATEGORIES = ["red", "light blue", "größer", 'say "hi"', "a,b", "x;y", "p|q", "O'Neill", "Ärger"]
WORDS = ["the", "quick", "brown", "fox", "jumps", "größte", "lazy", "dogs", "and", "naïve", "cats", '"home"', "today,"]
LABEL_WORDS = [["ham", "spam"], ["no", "yes", "may be"], ["Ä", "B"], ['"a"', "b,c"]]
FORMATS = ["csv"] * 6 + ["tsv", "jsonl", "jsonl"] + ["parquet", "arrow"] * bool(pyarrow)
PACKINGS = [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
FAULTS = [
    *("rename", "drop", "add", "no header", "short row", "long row", "word", "twice", "latin-1", "utf-16"),
    *("only a header", "empty", "svmlight", "vw", "label of another kind"),
]
HARMLESS = ("only a header", "empty")  # the result must be that of the rows that there are


class Difference(AssertionError):
    """A result that is neither that of the rows nor an error."""


# ---------------------------------------------------------------------------------------------------------- the rows


class Rows:
    """Rows by name, with what a reader should make of them."""

    def __init__(self, rng):
        self.rng = rng
        numbers = list(rng.choice(NAMES, int(rng.integers(2, 5)), replace=False))
        if rng.random() < 0.15:
            numbers = [str(k) for k in range(len(numbers))]
        self.kinds = dict.fromkeys(map(str, numbers), "number")
        if rng.random() < 0.35:
            self.kinds["colour"] = "category"
        if rng.random() < 0.2:
            self.kinds["words"] = "text"
        size = int(rng.integers(8, 40))
        self.records = [self._record() for _ in range(size)]
        for k in (0, 1):  # a column of words has some
            for name, kind in self.kinds.items():
                if kind != "number" and self.records[k][name] is None:
                    self.records[k][name] = "red" if kind == "category" else "some words are here"
        self.label = str(rng.choice(["y", "label", "kind", "the class"]))
        self._add_labels()

    def _record(self):
        rng, found = self.rng, {}
        for name, kind in self.kinds.items():
            if kind == "number":
                number = [float(rng.normal()), float(rng.integers(-5, 6)), float(f"{rng.normal() * 1e3:.3g}")]
                found[name] = None if rng.random() < 0.03 else number[rng.integers(3)]
            elif kind == "category":
                found[name] = None if rng.random() < 0.05 else str(rng.choice(CATEGORIES))
            else:
                found[name] = None if rng.random() < 0.05 else " ".join(rng.choice(WORDS, 6))
        return found

    def _add_labels(self):
        rng = self.rng
        first = next(iter(self.kinds))
        score = np.array([(record[first] or 0.0) + rng.normal() * 0.3 for record in self.records])
        kind = rng.integers(9)
        if kind < 4:
            values = [[0, 1], [-1, 1], [1, 2, 3]][rng.integers(3)]
        elif kind == 4:
            values = [False, True]
        else:
            values = LABEL_WORDS[rng.integers(len(LABEL_WORDS))]
        place = np.digitize(score, np.quantile(score, np.linspace(0, 1, len(values) + 1)[1:-1]))
        place[: len(values)] = np.arange(len(values))
        for record, k in zip(self.records, place.tolist(), strict=True):
            record[self.label] = values[k]

    def labels(self, typed):
        """Give the labels; truth values are numbers in formats with types, and words in others."""
        labels = [record[self.label] for record in self.records]
        numbers = isinstance(labels[0], int) and (typed or not isinstance(labels[0], bool))
        return np.array(labels, float if numbers else str)

    def dense(self, order):
        """Give the table of numbers, with columns in this order."""
        return np.array([[record[name] or 0.0 for name in order] for record in self.records])

    def hashed(self):
        """Give the rows with hashed columns, as docs/reference/features.md says."""
        rows, columns, values = [], [], []
        for k, record in enumerate(self.records):
            found = {}
            for name, kind in self.kinds.items():
                value = record[name]
                if value is None or value == 0.0:
                    continue
                if kind == "number":
                    own = {features.number_column(name, BITS): value}
                elif kind == "category":
                    own = {features.category_column(name, value, BITS): 1.0}
                else:
                    seed = features.murmur(name.encode())
                    own = features.text_row(value.encode(), BITS, normalise=False, seed=seed)
                for column, number in own.items():
                    found[column] = found.get(column, 0.0) + number
            rows += [k] * len(found)
            columns += found
            values += found.values()
        X = sp.csr_array((values, (rows, columns)), shape=(len(self.records), 1 << BITS))
        X.sort_indices()
        return X

    def named(self):
        """Give a dense table in which every number, category and word has a column of its own."""
        place, entries = {}, []
        for k, record in enumerate(self.records):
            for name, kind in self.kinds.items():
                value = record[name]
                if value is None:
                    continue
                own = {(name,): value} if kind == "number" else {(name, value): 1.0}
                if kind == "text":
                    own = {}
                    for word in features.words(value.encode()):
                        own[name, word] = own.get((name, word), 0) + 1
                    own = {key: features.value(count, "log") for key, count in own.items()}
                entries += [(k, place.setdefault(key, len(place)), number) for key, number in own.items()]
        X = np.zeros((len(self.records), max(len(place), 1)))
        for k, column, number in entries:
            X[k, column] = number
        return X

    def matrix(self, order, dense):
        return self.dense(order) if dense else self.hashed()


# --------------------------------------------------------------------------------------------------------- the files


class Writer:
    """Write some records as a file, in a random way."""

    def __init__(self, rng, rows, folder):
        self.rng, self.rows, self.folder, self.count = rng, rows, folder, 0
        self.whole = False

    def chance(self, share):
        return self.rng.random() < share

    def write(self, records, *, label_last=False, fault=None, labelled=True, packed=True):
        """Write a file; return its path, its format and its columns in order."""
        rng, rows = self.rng, self.rows
        format = str(rng.choice(FORMATS))
        if fault in ("no header", "short row", "long row", "latin-1", "utf-16", "only a header"):
            format = str(rng.choice(["csv", "tsv"]))
        names = [*rows.kinds, *([rows.label] if labelled else [])]
        order = [names[k] for k in rng.permutation(len(names))]
        if label_last:
            order = [name for name in order if name != rows.label] + [rows.label]
        records = [dict(record) for record in records]
        order = self._damage(records, order, fault)
        self.count += 1
        path = self.folder / f"{self.count}.{format}"
        if not fault and self.chance(0.15):
            return self._by_pandas(records, order, format, path), format, order
        content = getattr(self, "_" + (format if format in ("jsonl", "parquet", "arrow") else "delimited"))(
            records, order, format, fault
        )
        if format in ("csv", "tsv", "jsonl"):
            if fault == "utf-16":
                content = content.decode().encode("utf-16")
            elif fault == "latin-1":
                content = content.decode("utf-8").encode("latin-1", "replace")
            elif self.chance(0.1):
                content = b"\xef\xbb\xbf" + content
            if packed and self.chance(0.1):
                suffix, pack = PACKINGS[rng.integers(len(PACKINGS))]
                path, content = path.with_name(path.name + suffix), pack(content)
        path.write_bytes(content)
        return path, format, order

    def _by_pandas(self, records, order, format, path):
        """Let pandas write the file, as people do."""
        frame = pd.DataFrame(records)[order]
        if self.chance(0.3):
            frame.index = self.rng.permutation(len(frame))
        if format == "jsonl":
            frame.to_json(path, orient="records", lines=True, double_precision=15)
            if [json.loads(line) for line in path.read_text().splitlines()] != [
                {name: record[name] for name in order} for record in records
            ]:  # it writes fewer digits than a number has
                path.write_bytes(self._jsonl(records, order, format, None))
        elif format == "parquet":
            frame.to_parquet(path)
        elif format == "arrow":
            frame.reset_index(drop=True).to_feather(path)
        else:
            delimiter = "\t" if format == "tsv" else str(self.rng.choice(list(",;|")))
            # pandas quotes in tab-separated files, too, where quotes have no meaning here.
            plain = {"quoting": csv.QUOTE_NONE, "escapechar": None} if format == "tsv" else {}
            with open(path, "w", newline="") as file:
                frame.to_csv(file, sep=delimiter, index=self.chance(0.5), na_rep=self._field(None, format), **plain)
        return path

    def _damage(self, records, order, fault):
        rng = self.rng
        name = str(rng.choice([one for one in order if one != self.rows.label]))
        if fault == "rename":
            new = name + "2"
            for record in records:
                record[new] = record.pop(name)
            return [new if one == name else one for one in order]
        if fault == "drop":
            return [one for one in order if one != name]
        if fault == "add":
            for record in records:
                record["new"] = float(rng.normal())
            return [*order, "new"]
        if fault == "twice":
            return [*order, name]
        if fault == "word":
            number = next(one for one, kind in self.rows.kinds.items() if kind == "number")
            records[int(rng.integers(len(records)))][number] = "oops"
        if fault == "label of another kind" and type(records[-1][self.rows.label]) is int:
            records[-1][self.rows.label] = "oops"
        return order

    def _field(self, value, format):
        if value is None:
            return str(self.rng.choice(["", "", "NA", "nan"]))
        if isinstance(value, float):
            whole = value.is_integer() and self.chance(0.5)
            return str(int(value)) if whole else repr(value)
        return str(value)

    def _delimited(self, records, order, format, fault):
        rng = self.rng
        if fault == "only a header":
            records = []
        table = [[self._field(record[name], format) for name in order] for record in records]
        head = list(order)
        if self.chance(0.25):
            head = [str(rng.choice(["", "Unnamed: 0"])), *head]
            start = int(rng.integers(0, 50)) if self.chance(0.3) else 0
            table = [[str(start + k), *row] for k, row in enumerate(table)]
        if self.chance(0.08):
            head, table = [*head, ""], [[*row, ""] for row in table]
        if fault in ("short row", "long row"):
            k = int(rng.integers(len(table)))
            table[k] = table[k][:-1] if fault == "short row" else [*table[k], "1"]
        if self.chance(0.1):
            head = [f" {name} " for name in head]
        lines = table if fault == "no header" else [head, *table]
        end = "\r\n" if self.chance(0.2) else "\n"
        if format == "tsv":
            text = "".join("\t".join(row) + end for row in lines)
        else:
            quoting = [csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL][rng.integers(3)]
            stream = io.StringIO()
            delimiter = str(rng.choice(list(",,,;\t|")))
            csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(lines)
            text = stream.getvalue()
        if self.chance(0.1):
            text = end + text.replace(end, end + end, 1)
        if self.chance(0.1) and lines:
            text = text.rstrip("\r\n")
        return text.encode()

    def _jsonl(self, records, order, format, fault):
        # An object without a name is not a file without it: files that do not fit are told by whole objects only.
        plain, nulls = self.chance(0.5), self.whole or self.chance(0.7)
        lines = []
        for record in records:
            kept = order[-1] == self.rows.label or self.chance(0.8)
            names = order if kept else [order[k] for k in self.rng.permutation(len(order))]
            found = {name: record[name] for name in names if nulls or record[name] is not None}
            lines.append(json.dumps(found, ensure_ascii=plain))
        return ("\n".join(lines) + "\n").encode()

    def _table(self, records, order):
        columns, names = [], []
        for name in order:
            values = [record[name] for record in records]
            if any(isinstance(value, str) for value in values):
                column = pyarrow.array([None if value is None else str(value) for value in values], pyarrow.string())
                columns.append(column.dictionary_encode() if self.chance(0.3) else column)
            else:
                columns.append(pyarrow.array(values))
            names.append(name)
        if self.chance(0.25):
            names.append("__index_level_0__")
            columns.append(pyarrow.array(range(len(records))))
        return pyarrow.Table.from_arrays(columns, names=names)

    def _parquet(self, records, order, format, fault):
        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(self._table(records, order), sink)
        return sink.getvalue().to_pybytes()

    def _arrow(self, records, order, format, fault):
        sink, table = pyarrow.BufferOutputStream(), self._table(records, order)
        make = pyarrow.ipc.new_file if self.chance(0.5) else pyarrow.ipc.new_stream
        with make(sink, table.schema) as file:
            file.write_table(table)
        return sink.getvalue().to_pybytes()


# -------------------------------------------------------------------------------------------------------- the checks


def run(*arguments):
    """Run a command; return its exit code, its output and what it printed on stderr."""
    done = CliRunner().invoke(command_line, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def feed(pipe, content):
    """Write to a pipe; an error in another file may close it before it is read."""
    with contextlib.suppress(BrokenPipeError):
        pipe.write_bytes(content)


def demand(holds, what, *found):
    if not holds:
        raise Difference(f"{what}: {found!r:.600}")


class Set:
    """A table in several files, and the commands on them."""

    def __init__(self, seed, folder):
        self.rng = np.random.default_rng(seed)
        self.folder, self.outcomes = folder, Counter()
        self.rows = Rows(self.rng)
        self.fault = str(self.rng.choice(FAULTS)) if self.rng.random() < 0.35 else None
        self.writer = Writer(self.rng, self.rows, folder)
        self.writer.whole = not self.fits
        self.given = self.rng.random() < 0.6  # the label, by its name
        self.split()
        self.bits = [] if self.dense else ["--bits", BITS]  # which a table of numbers alone does not take
        self.options = ["--label", self.rows.label] if self.given else []
        if self.rng.random() < 0.3:
            self.options += ["--chunk-bytes", int(self.rng.choice([1, 40, 300]))]
        if self.rng.random() < 0.8:
            self.options += ["--threads", 0]
        self.estimator = rosenblatt.AveragedPerceptron(keep="last", shuffle=False, max_iter=EPOCHS)

    def split(self):
        """Write the rows as files."""
        rng, size = self.rng, len(self.rows.records)
        count = int(rng.integers(2 if self.fault else 1, 5))
        ends = [*sorted(rng.choice(np.arange(1, size), count - 1, replace=False).tolist()), size]
        faulty = int(rng.integers(count))
        self.paths, self.counts, begin, formats = [], [], 0, set()
        for k, end in enumerate(ends):
            fault = self.fault if k == faulty else None
            extra = fault in ("only a header", "empty", "svmlight", "vw") and k > 0
            if extra:
                self._add_extra(fault)
            last = k == 0 and not self.given
            own = None if fault in ("only a header", "empty", "svmlight", "vw") else fault
            path, format, order = self.writer.write(self.rows.records[begin:end], label_last=last, fault=own)
            if k == 0:
                self.first, self.order = format, [name for name in order if name in self.rows.kinds]
            formats.add(format)
            self.paths.append(path)
            self.counts.append(end - begin)
            begin = end
        self.rows.y = self.rows.labels(typed=not formats & {"csv", "tsv"})
        kinds = set(self.rows.kinds.values())
        self.dense = kinds == {"number"} and self.first != "jsonl"

    def _add_extra(self, fault):
        path = self.folder / f"extra.{'csv' if fault in HARMLESS else {'svmlight': 'svm', 'vw': 'vw'}[fault]}"
        if fault == "only a header":
            path, _, _ = self.writer.write(self.rows.records[:1], fault=fault)
        else:
            path.write_text({"empty": "", "svmlight": "1 1:2 3:1\n0 2:1\n", "vw": "1 | a:2 b\n0 | c\n"}[fault])
        self.paths.append(path)
        self.counts.append(0)

    @property
    def fits(self):
        return self.fault is None or self.fault in HARMLESS

    def refused(self, what, code, error):
        """Note an error; say whether there was one."""
        if code == 0:
            return False
        demand(len(error.strip().splitlines()[-1]) > 30, f"{what}: no sentence", error)
        demand("Traceback" not in error, what, error)
        kind = "with a fault" if not self.fits else "without a fault"
        self.outcomes[f"{what}: refused {kind}"] += 1
        if self.fits:
            self.reasons = getattr(self, "reasons", [])
            self.reasons.append(f"{what}: {error.strip().splitlines()[-1]}")
        return True

    def matrix(self):
        return self.rows.matrix(self.order, self.dense)

    def check(self):
        """Train, and try another command."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.fitted = self.estimator.fit(self.matrix(), self.rows.y)
            if not self.train():
                return
            others = [
                self.evaluate,
                self.predict,
                self.predict_again,
                self.convert,
                self.scale,
                self.certify,
                self.report,
            ]
            others[self.rng.choice(len(others), p=[0.2, 0.15, 0.2, 0.2, 0.15, 0.09, 0.01])]()

    def same_model(self, what, model, fitted):
        W, labels = np.atleast_2d(fitted.coef_), fitted.classes_.tolist()
        demand(model.classes.tolist() == labels, f"{what}: labels", model.classes.tolist(), labels)
        demand(model.W.shape == W.shape and np.array_equal(model.W, W), f"{what}: weights", model.W, W)
        demand(np.array_equal(model.b, np.ravel(fitted.intercept_)), f"{what}: biases", model.b, fitted.intercept_)

    def train(self):
        self.model = self.folder / "model"
        files, arguments = list(self.paths), ["--epochs", EPOCHS, "--json", "--model", self.model, *self.options]
        arguments += [*self.bits, "--learner", "averaged", "--overwrite"]
        if "number" in self.rows.kinds.values() and self.first != "jsonl":
            arguments += ["--no-standardise"]
        pipe = None
        if self.rng.random() < 0.05:  # one of the files comes through a pipe
            k = int(self.rng.integers(len(files)))
            if files[k].suffix not in (".parquet", ".arrow"):
                pipe = self.folder / f"pipe{''.join(files[k].suffixes)}"
                os.mkfifo(pipe)
                content = files[k].read_bytes()
                threading.Thread(target=feed, args=[pipe, content], daemon=True).start()
                files[k] = pipe
                arguments += ["--cache", self.folder / "cache"]
        elif self.rng.random() < 0.1:
            self.train_twice(arguments)
            arguments += ["--cache", self.folder / "cache"]
            run("train", *files, *arguments)
        code, output, error = run("train", *files, *arguments)
        if self.refused("train", code, error):
            return False
        if self.fault == "word" and "'oops'" in error:
            self.outcomes["train: a word was pointed out"] += 1
            return False
        if self.fault == "latin-1" and "is not UTF-8" in error:
            self.outcomes["train: an encoding was pointed out"] += 1
            return False
        if self.fault == "label of another kind" and "oops" in output:
            self.outcomes["train: a label was shown"] += 1
            return False
        self.same_model("train", rosenblatt.load_linear(self.model), self.fitted)
        if pipe is None:
            found = json.loads(output)["files"]
            expected = {str(path): count for path, count in zip(self.paths, self.counts, strict=True)}
            demand(found == expected, "train: rows of files", found, expected)
        self.outcomes["train: the same"] += 1
        return True

    def train_twice(self, arguments):
        """Train with features that depend on the rows before, from the files and then from a cache."""
        option = ["--dictionary", "--standardise"][len(self.rows.records) % 2]
        found = []
        for _ in range(2):
            code, _, error = run("train", *self.paths, *arguments, option, "--cache", self.folder / "features")
            found.append((code, error, self.model.read_bytes() if code == 0 else None))
        demand(found[0] == found[1], "train from a cache", *(error for _, error, _ in found))
        self.outcomes[f"train twice: {'the same' if code == 0 else 'refused'}"] += 1

    def _predicted(self):
        return self.fitted.predict(self.matrix())

    def evaluate(self):
        code, output, error = run("evaluate", *self.paths, "--model", self.model, "--json")
        if self.refused("evaluate", code, error):
            return
        found, y = json.loads(output), self.rows.y
        wrong = int((self._predicted() != y).sum())
        demand((found["rows"], found["errors"]) == (y.size, wrong), "evaluate", found, wrong)
        demand(list(found["files"].values()) == self.counts, "evaluate: rows of files", found["files"], self.counts)
        self.outcomes["evaluate: the same"] += 1

    def _compare_predictions(self, what, paths, rows=slice(None)):
        code, output, error = run("predict", *paths, "--model", self.model)
        if self.refused(what, code, error):
            return
        expected = [str(int(one)) if isinstance(one, float) else one for one in self._predicted()[rows].tolist()]
        demand(output.split("\n")[:-1] == expected, what, output, expected)
        self.outcomes[f"{what}: the same"] += 1

    def predict(self):
        self._compare_predictions("predict", self.paths)

    def predict_again(self):
        """Predict the same rows, written anew, with further columns or without labels."""
        labelled, new = self.rng.random() < 0.6, "add" if self.rng.random() < 0.3 else None
        path, _, _ = self.writer.write(self.rows.records, labelled=labelled, fault=new)
        self._compare_predictions("predict other files", [path])

    def certify(self):
        code, output, error = run("certify", *self.paths, "--no-margin", "--json", *self.options)
        if self.refused("certify", code, error):
            return
        X = self.dense and self.rows.dense(self.order)
        expected = rosenblatt.certify(self.rows.named() if X is False else X, self.rows.y, margin=False).verdict
        demand(json.loads(output)["verdict"] == expected, "certify", output, expected)
        self.outcomes["certify: the same"] += 1

    def convert(self):
        kind = str(self.rng.choice(["csv", "jsonl", "parquet"] if pyarrow else ["csv", "jsonl"]))
        target = self.folder / f"converted.{kind}"
        label = ["--label", self.rows.label] if self.given else []
        code, _, error = run("convert", *self.paths, "--output", target, *label)
        if self.refused("convert", code, error):
            return
        if kind == "csv":
            with open(target, newline="", encoding="utf-8") as file:
                found = list(csv.DictReader(file))
        elif kind == "jsonl":
            found = [json.loads(line) for line in target.read_text().splitlines()]
        else:
            found = pyarrow.parquet.read_table(target).to_pylist()
        demand(len(found) == len(self.rows.records), "convert: rows", len(found), len(self.rows.records))
        for own, record in zip(found, self.rows.records, strict=True):
            plain = {name: self._plain(name, value) for name, value in own.items() if value not in ("", None)}
            wanted = {name: self._plain(name, value) for name, value in record.items() if value is not None}
            demand(plain == wanted, "convert", own, record)
        self.outcomes["convert: the same"] += 1

    def _plain(self, name, value):
        number = self.rows.kinds.get(name) == "number" or (name == self.rows.label and self.rows.y.dtype.kind == "f")
        return float({"True": 1, "False": 0}.get(value, value)) if number else str(value)

    def scale(self):
        """Train on shards; and read every file as a worker does."""
        shards = int(self.rng.integers(2, 4))
        model = self.folder / "sharded"
        arguments = ["--shards", shards, "--mixes", 1, "--n-jobs", 1, "--epochs", EPOCHS, "--json", "--model", model]
        code, _, error = run("train", *self.paths, *arguments, *self.options, *self.bits)
        if self.refused("scaling", code, error):
            return
        X, y, sizes = self.matrix(), self.rows.y, self.counts
        parameters = {"shards": shards, "mixes": 1, "max_iter": EPOCHS, "shuffle": False, "keep": "last", "n_jobs": 1}
        estimator = rosenblatt.AveragedPerceptron(**parameters)
        if len(self.paths) < shards:
            fitted = estimator.fit(X, y)
        else:
            ends = np.cumsum([0, *(sum(group) for group in in_groups(sizes, shards))])
            parts = [slice(a, b) for a, b in pairwise(ends)]
            found = [shard_of_block(k, X[part], y[part]) for k, part in enumerate(parts)]
            fitted = fit_shards(estimator, LocalShards(found, 1), rounds=EPOCHS)
        self.same_model("scaling", rosenblatt.load_linear(model), fitted)
        options = {"label": self.rows.label} if self.given else {}
        paths, reading, *_ = resolve_files(self.paths, options)
        labels = [chunk.label for path in paths for chunk in FileRows([path], reading).chunks()]
        demand(np.array_equal(np.concatenate(labels), y), "scaling: labels", labels, y)
        self.outcomes["scaling: the same"] += 1

    def report(self):
        target = self.folder / "report.html"
        code, _, error = run(
            "report", *self.paths, "--output", target, "--epochs", EPOCHS, "--no-shuffle", *self.options
        )
        if self.refused("report", code, error):
            return
        X = self.rows.dense(self.order) if self.dense else self.rows.named()
        demand(f"{X.shape[0]} rows, {X.shape[1]} feature" in error, "report", error, X.shape)
        self.outcomes["report: the same"] += 1


def main(count, seed, report=print):
    """Try so many sets; return what came out of them, and the silent differences in words."""
    outcomes, differences, reasons, start = Counter(), [], Counter(), time.monotonic()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # quicker than a disk, where there is such a folder
    with tempfile.TemporaryDirectory(dir=memory) as name:
        for k in range(count):
            own = Path(name) / str(k)
            own.mkdir()
            one = None
            try:
                one = Set([seed, k], own)
                one.check()
            except Exception as error:
                differences.append(f"set {seed},{k} ({one and one.fault}): {type(error).__name__}: {error}")
                report(differences[-1])
            if one is not None:
                outcomes.update(one.outcomes)
                reasons.update(reason.replace(str(own), "") for reason in getattr(one, "reasons", []))
            shutil.rmtree(own)
            if k % 500 == 499:
                report(f"{k + 1} sets, {len(differences)} differences, {time.monotonic() - start:.0f} s")
    for reason, times in reasons.most_common(30):
        report(f"{times} x {reason}")
    for what, times in sorted(outcomes.items()):
        report(f"{times:8} {what}")
    report(f"{count} sets, {len(differences)} silent differences, {time.monotonic() - start:.0f} s")
    return outcomes, differences


if __name__ == "__main__":
    _, found = main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, report=partial(print, flush=True))
    sys.exit(bool(found))
