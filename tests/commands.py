"""Run the command line in tests: in this process, or in one of its own."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from click.testing import CliRunner

from rosenblatt.cli.main import commands


def run(*arguments, code=0, stdin=None):
    """Run a command in this process; return what it printed on its output and on stderr."""
    done = CliRunner().invoke(commands, [str(argument) for argument in arguments], input=stdin)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.stderr
    return done


def command(*arguments):
    """The words of a process that runs a command."""
    return [sys.executable, "-m", "rosenblatt.cli.main", *map(str, arguments)]


def spawn(*arguments, **options):
    return subprocess.run(command(*arguments), capture_output=True, text=True, encoding="utf-8", **options)


def mails(path, n=300, seed=0):
    """Write a CSV of invented mails."""
    random = np.random.default_rng(seed)
    ham = ["meeting", "lunch", "report", "tomorrow", "thanks", "agenda", "project", "call", "home", "later"]
    spam = ["free", "prize", "winner", "click", "cash", "offer", "urgent", "claim", "viagra", "credit"]
    lines = ["kind,subject,body"]
    for _ in range(n):
        is_spam = random.random() < 0.4
        words = [random.choice(spam if is_spam and random.random() < 0.6 else ham) for _ in range(12)]
        lines.append(f'{"spam" if is_spam else "ham"},{" ".join(words[:3])},"{" ".join(words[3:])}, bye"')
    path.write_text("\n".join(lines) + "\n")
    return path


def svmlight(path, n=2000, features=50, seed=0, classes=2):
    """Write random rows with noisy labels."""
    random = np.random.default_rng(seed)
    w = random.normal(size=(classes, features))
    with open(path, "w") as file:
        for _ in range(n):
            columns = np.sort(random.choice(features, 8, replace=False))
            x = random.normal(size=8).round(3)
            label = int(np.argmax(w[:, columns] @ x + random.normal(size=classes)))
            pairs = " ".join(f"{c + 1}:{v}" for c, v in zip(columns, x, strict=True))
            file.write(f"{label} {pairs}\n")
    return path


def mixed_rows(n, seed):
    """Rows of numbers, categories and words, some of them missing, and their labels."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        age, city = float(random.integers(18, 80)), str(random.choice(["Ulm", "Bonn", "Kiel", f"Dorf {seed}"]))
        words = " ".join(random.choice(["win", "cash", "lunch", "noon", "call", f"day{seed}"], 4))
        score = (age - 50) / 10 + 3 * (city == "Ulm") + words.count("win") + random.normal()
        row = {"age": age, "pay": round(100 * random.normal() + 1000 * seed, 2), "city": city, "text": words}
        row |= {"label": "yes" if score > 1 else "no"}
        if random.random() < 0.1:
            row[str(random.choice(["age", "city"]))] = None
        rows.append(row)
    return rows


def write_rows(path, rows):
    """Write rows as a file of the format of its name."""
    format, names = path.suffix[1:], list(rows[0])
    if format == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif format in ("csv", "tsv"):
        mark = "," if format == "csv" else "\t"
        lines = [names, *(["" if row[name] is None else str(row[name]) for name in names] for row in rows)]
        path.write_text("".join(mark.join(line) + "\n" for line in lines))
    else:
        frame = pa.Table.from_pylist(rows)
        if format == "parquet":
            pa.parquet.write_table(frame, path)
        else:
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, frame.schema) as writer:
                writer.write_table(frame)
    return path
