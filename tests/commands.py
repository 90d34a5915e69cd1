"""Run the command line in tests: in this process, or in one of its own."""

import subprocess
import sys

import numpy as np
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
