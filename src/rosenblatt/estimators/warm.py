"""Compile beforehand what a first use would wait for: in the image of a container, before a lesson."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.errors import InvalidInput
from rosenblatt.jit import watch
from rosenblatt.patience import compiling_all

Array = npt.NDArray[Any]

N_ROWS, N_FEATURES = 60, 4


def _rows() -> tuple[Array, Array, Array]:
    """Return rows, two noisy classes and three."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, N_FEATURES))
    noisy = X[:, 0] + random.normal(size=N_ROWS)
    return X, (noisy > 0).astype(int), np.digitize(noisy, [-0.5, 0.5])


def _fit(module: str, *names: str) -> Callable[[], None]:
    """Return a function that fits members of the family to dense and sparse rows of two and of three classes."""

    def compile_members() -> None:
        X, two, three = _rows()
        for name in names:
            member = getattr(import_module(f"rosenblatt.estimators.{module}"), name)
            for rows in (X, X.astype(np.float32), sp.csr_matrix(X)):
                for y in (two, three):
                    model = member().fit(rows, y)
                    model.predict(rows)
                    if hasattr(model, "learn_one"):
                        model.learn_one(X[0], y[0])

    return compile_members


def _certify() -> None:
    from rosenblatt.proof.verify import verify
    from rosenblatt.separability.certify import certify

    X, two, three = _rows()
    for rows in (X, sp.csr_matrix(X)):
        for y in (two, (X[:, 0] > 0).astype(int), three):
            verify(certify(rows, y), rows, y)


# What can be named, and what compiles it.
PARTS: dict[str, Callable[[], None]] = {
    "perceptron": _fit("perceptron", "Perceptron", "AveragedPerceptron"),
    "voted": _fit("voted", "VotedPerceptron"),
    "pocket": _fit("pocket", "PocketPerceptron"),
    "passive-aggressive": _fit("passive_aggressive", "PassiveAggressive"),
    "arow": _fit("arow", "AROW"),
    "winnow": _fit("winnow", "Winnow"),
    "alma": _fit("alma", "ALMA"),
    "romma": _fit("romma", "ROMMA"),
    "p-norm": _fit("p_norm", "PNormPerceptron"),
    "adaline": _fit("adaline", "Adaline"),
    "soft-margin": _fit("soft_margin", "SoftMargin"),
    "kernel": _fit("kernel_perceptron", "KernelPerceptron"),
    "maximum-margin": _fit("maximum_margin", "MaximumMargin"),
    "certify": _certify,
}
USUAL = ("perceptron", "certify")


def warmup(*names: str) -> str:
    """Compile what a first use would wait for; the code is kept on disk.

    Parameters
    ----------
    *names : str
        What to compile: "perceptron" (the averaged one, too), "voted", "pocket", "passive-aggressive", "arow",
        "winnow", "alma", "romma", "p-norm", "adaline", "soft-margin", "kernel", "maximum-margin", "certify", or "all".
        By default the perceptron and `certify`.

    Returns
    -------
    str
        A sentence: what was done, and how long it took.
    """
    chosen = tuple(PARTS) if "all" in names else tuple(dict.fromkeys(names)) or USUAL
    for name in chosen:
        if name not in PARTS:
            raise InvalidInput(f"{name!r} cannot be compiled by name. Choose from {', '.join(PARTS)}, all.")
    start, before = time.perf_counter(), watch.functions
    with warnings.catch_warnings(), compiling_all():
        warnings.simplefilter("ignore")  # the rows are there to be compiled for, not to be learned
        for name in chosen:
            PARTS[name]()
    seconds = time.perf_counter() - start
    listed = ", ".join(chosen)
    done = f"compiled {listed}" if watch.functions > before else f"{listed} had been compiled before"
    return f"{done} ({seconds:.1f} s); later processes load the code from disk."
