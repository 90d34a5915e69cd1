"""Measure the tables of docs/how-to/choosing.md again: python -m tools.choosing, or --write to put them on the page.

Each table stands between the markers `<!-- measured: name -->` and `<!-- end -->`. It is measured on sets that come
with scikit-learn, or that are generated here, so that everybody gets the same figures: shares of test rows that are
classified rightly, in %, the mean of three splits.
"""

import argparse, warnings
from functools import cache
from math import log
from pathlib import Path
from statistics import fmean

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, normalize

from rosenblatt import (
    ALMA,
    AROW,
    Adaline,
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    PNormPerceptron,
    SoftMargin,
    Winnow,
)
from rosenblatt.datasets import noisy
from rosenblatt.learners import family

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "choosing.md"
SEEDS = 3
TUNED = ("C", "r", "factor", "approximation", "p", "alpha")
TOPICS, WORDS, COMMON = 20, 3_000, 0.8  # share of a text's words that say nothing of its topic

# ---------------------------------------------------------------------------------------------------------------- sets


def topics(n=2_000, seed=0):
    """Return texts of 20 to 60 words as counts of unit length: some words are common to all topics, some are not."""
    random = np.random.default_rng(seed)
    rank = 1.0 / np.arange(1, WORDS + 1)
    common = rank / rank.sum()
    own = np.array([random.permutation(rank) for _ in range(TOPICS)])
    shares = COMMON * common + (1 - COMMON) * own / own.sum(axis=1, keepdims=True)
    y = random.integers(0, TOPICS, n)
    counts = [random.multinomial(random.integers(20, 61), shares[topic]) for topic in y]
    return normalize(sp.csr_matrix(np.array(counts, dtype=float))), y


def few_relevant(n=1_000, d=1_000, seed=0):
    """Return rows of signs, labelled by the majority of the first three."""
    X = np.random.default_rng(seed).choice([-1.0, 1.0], (n, d))
    return X, (X[:, :3].sum(axis=1) > 0).astype(int)


def flipped(n=2_000, d=20, seed=0):
    """Return rows that a hyperplane labels, but for every tenth."""
    planted = noisy(n, d, flip=0.1, seed=seed)
    return planted.X, planted.y


def clouds(n=2_600, seed=0):
    """Return 26 clouds in 16 features."""
    return make_classification(
        n, 16, n_informative=14, n_redundant=0, n_classes=26, n_clusters_per_class=1, class_sep=2.0, random_state=seed
    )


SETS = {
    "digits": lambda: load_digits(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "26 clouds": clouds,
    "20 topics": topics,
    "flipped labels": flipped,
    "few relevant": few_relevant,
}
STANDARDISED = {"breast cancer", "wine", "iris"}


@cache
def split(name, seed):
    """Return three quarters of a set to train on, a quarter to test on, and the labels of both."""
    X, y = SETS[name]()
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    if name in STANDARDISED:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    return X, X_test, y, y_test


def accuracy(model, name):
    """Return the accuracy of a model on test rows, in %."""
    found = []
    for seed in range(SEEDS):
        X, X_test, y, y_test = split(name, seed)
        found.append(100 * clone(model).fit(X, y).score(X_test, y_test))
    return fmean(found)


# -------------------------------------------------------------------------------------------------------------- tables


def line(*cells):
    """Return a line of a table."""
    return "| " + " | ".join(f"{cell:.1f}" if isinstance(cell, float) else cell for cell in cells) + " |"


def head(*cells):
    """Return the first two lines of a table."""
    return [line(*cells), "|---" * len(cells) + "|"]


def members():
    """Yield each classifier that is trained in epochs, with its defaults, on every set."""
    yield from head("", *SETS)
    for member in family():
        if {"max_iter", "multiclass"} <= member.declared.keys():
            yield line(f"`{member.__name__}`", *(accuracy(member(), name) for name in SETS))


def classics():
    """Yield two classics as they were published, and with what helps them against noise."""
    yield from head("", *SETS)
    soft = {"margin": 4, "max_updates": 8}
    for model in (
        *(Adaline(), Adaline(average=True), KernelPerceptron(), KernelPerceptron(aggregate="average")),
        *(KernelPerceptron(**soft), KernelPerceptron(**soft, multiclass="ovo-vote")),
    ):
        yield line(f"`{model}`".replace("'", '"'), *(accuracy(model, name) for name in SETS))


def settings():
    """Yield members with other values of their first parameter."""
    sets = ("digits", "breast cancer", "20 topics", "flipped labels", "few relevant")
    yield from head("", *sets)
    for model in (
        *(PassiveAggressive(C=C) for C in (0.001, 0.01, 0.1, 1.0)),
        *(AROW(r=r) for r in (0.1, 1.0, 10.0)),
        *(SoftMargin(alpha=alpha) for alpha in (1e-5, 1e-4, 1e-3, 1e-2)),
        *(Winnow(factor=factor) for factor in (1.1, 1.5, 2.0)),
        *(ALMA(approximation=share) for share in (0.2, 0.5, 0.9)),
        *(PNormPerceptron(p=p) for p in (2.0, 3.0, 6.0, round(2 * log(1_000), 1))),
    ):
        name, value = next((key, model.get_params()[key]) for key in TUNED if key in model.get_params())
        yield line(f"`{type(model).__name__}({name}={value!r})`", *(accuracy(model, one) for one in sets))


def biases():
    """Yield members with several constants of the bias."""
    constants = (1.0, 0.5, 0.25, 0.125, 0.0625)
    yield from head("set", "member", '`"auto"`', "c = 1", "1/2", "1/4", "1/8", "1/16")
    for name in ("20 topics", "digits", "breast cancer"):
        for member in (Perceptron, AveragedPerceptron, PassiveAggressive, AROW):
            first = name if member is Perceptron else ""
            found = (accuracy(member(intercept_scaling=c), name) for c in ("auto", *constants))
            yield line(first, f"`{member.__name__}`", *found)


def classes():
    """Yield the ways to learn several classes."""
    modes = ("ovr", "ovo", "ovo-vote", "joint")
    yield from head("set", "member", *(f'`"{mode}"`' for mode in modes))
    for name in ("digits", "26 clouds", "wine", "iris", "20 topics"):
        for member in (Perceptron, AveragedPerceptron, PassiveAggressive):
            first = name if member is Perceptron else ""
            found = (accuracy(member(multiclass=mode), name) for mode in modes)
            yield line(first, f"`{member.__name__}`", *found)


TABLES = {"members": members, "classics": classics, "settings": settings, "biases": biases, "classes": classes}


def measured(name):
    """Return a table as lines of Markdown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that end before they converge, which is measured, too
        return list(TABLES[name]())


def on_page(text, name):
    """Return where the table of a name begins and ends in the text of the page."""
    start = text.index(f"<!-- measured: {name} -->\n") + len(f"<!-- measured: {name} -->\n")
    return start, text.index("<!-- end -->", start)


def main():
    """Print the tables asked for, or write them to the page."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.choosing", description="Measure the tables on how to choose."
    )
    parser.add_argument("names", nargs="*", metavar="table", help=", ".join(TABLES))
    parser.add_argument("--write", action="store_true", help=f"write them to {PAGE.name}")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in TABLES]
    if unknown:
        parser.error(f"no table is called {', '.join(unknown)}: choose from {', '.join(TABLES)}")
    for name in options.names or TABLES:
        table = measured(name)
        print("\n".join(table))
        if options.write:
            text = PAGE.read_text()
            start, end = on_page(text, name)
            PAGE.write_text(text[:start] + "\n" + "\n".join(table) + "\n\n" + text[end:])


if __name__ == "__main__":
    main()
