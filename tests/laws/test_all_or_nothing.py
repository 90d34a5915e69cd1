"""A call that fails or is interrupted leaves the estimator as it was.

An interrupt may come between any two lines: a tracer raises one before the k-th line of the package that a call runs,
for a sample of all k; for more of them, run with INTERRUPTS=1000. What the estimator is afterwards is told by the file
that it is saved to.
"""

import io
import os
import sys
import warnings
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import rosenblatt
from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    Adaline,
    AdalineRegressor,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    PassiveAggressiveRegressor,
    Perceptron,
    PNormPerceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
)

PACKAGE = str(Path(rosenblatt.__file__).parent)
X = np.random.default_rng(0).integers(0, 3, (12, 3)).astype(float)
Y = np.arange(12) % 2
# Rows, labels: of the classes that are known, and with a new one.
KNOWN, NEW = (X[:4], Y[:4]), (X[:4], np.array([0, 1, 2, 2]))
# Interrupts for each call; as many again come where what was learned is kept.
SAMPLE = int(os.environ.get("INTERRUPTS", "5"))
LAST_LINES = 60

MEMBERS = [
    Perceptron(),
    Perceptron(multiclass="ovo", eta0=0.5),
    AveragedPerceptron(),
    VotedPerceptron(),
    PassiveAggressive(),
    SoftMargin(average=True),
    AROW(),
    Winnow(),
    ALMA(),
    ROMMA(),
    PNormPerceptron(),
    PocketPerceptron(max_iter=3),
    Adaline(),
    KernelPerceptron(),
    KernelPerceptron(budget=3),
    KernelPerceptron(budget=3, budget_rule="projectron"),
]


def saved(model):
    """Return all that is known of a model, as bytes; seconds are not what was learned."""
    model, file = deepcopy(model), io.BytesIO()
    model.run_ = replace(model.run_, seconds=0.0)
    rosenblatt.save(model, file)
    return file.getvalue()


class Interruption:
    """Raise an interrupt before the k-th line of the package; count lines if k is None."""

    def __init__(self, k=None):
        self.k, self.lines = k, 0

    def __enter__(self):
        sys.settrace(self.trace)
        return self

    def __exit__(self, *error):
        sys.settrace(None)

    def trace(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.k:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self.trace


def interrupted_everywhere(model, call, sample=SAMPLE):
    """Interrupt a call at a sample of its lines: it leaves the model as it was, or has come to its end."""
    for _ in range(2):  # what is loaded or compiled when it is first needed is not interrupted
        after = deepcopy(model)
        with Interruption() as counted:
            call(after)
    before, after = saved(model), saved(after)
    random = np.random.default_rng(counted.lines)
    last = random.integers(max(1, counted.lines - LAST_LINES), counted.lines + 1, sample)
    numbers = {counted.lines, *last.tolist(), *random.integers(1, counted.lines + 1, sample).tolist()}
    for k in sorted(numbers):
        trial = deepcopy(model)
        try:
            with Interruption(k):
                call(trial)
        except KeyboardInterrupt:
            pass
        now = saved(trial)
        assert now in (before, after), f"half changed by an interrupt at line {k} of {counted.lines}"
        call(trial) if now == before else None
        assert saved(trial) == after, f"not what it would be after an interrupt at line {k} of {counted.lines}"


@pytest.mark.parametrize("member", MEMBERS, ids=str)
@pytest.mark.parametrize("rows", [KNOWN, NEW], ids=["known classes", "new class"])
def test_an_interrupted_chunk_leaves_everything_as_it_was(member, rows):
    if not hasattr(member, "partial_fit"):
        pytest.skip("learns from all rows together")
    model = member.__class__(**member.get_params())
    if isinstance(member, PocketPerceptron):
        pytest.skip("learns from all rows together")
    model.partial_fit(X, Y, classes=[0, 1])
    interrupted_everywhere(model, lambda model: model.partial_fit(*rows))


def fitted(member):
    model = deepcopy(member)
    rows, labels = (X @ X.T if getattr(member, "kernel", "") == "precomputed" else X), Y
    return model.fit(rows, labels)


@pytest.mark.parametrize(
    "member",
    [
        *MEMBERS,
        MaximumMargin(),
        AdalineRegressor(),
        PassiveAggressiveRegressor(),
        Perceptron(warm_start=True),
        AROW(warm_start=True),
    ],
    ids=str,
)
def test_an_interrupted_fit_leaves_everything_as_it_was(member):
    interrupted_everywhere(fitted(member), lambda model: model.fit(X[2:], 1 - Y[2:]))


@pytest.mark.parametrize(
    "member", [Perceptron(), AveragedPerceptron(), AROW(), SoftMargin(), KernelPerceptron()], ids=str
)
@pytest.mark.parametrize(
    ("row", "label"), [(X[0], 1), (X[0], 5), (sp.csr_array(X[:1]), 1)], ids=["known", "new", "sparse"]
)
def test_an_interrupted_row_leaves_everything_as_it_was(member, row, label):
    if sp.issparse(row) and isinstance(member, KernelPerceptron):
        pytest.skip("takes arrays")
    model = deepcopy(member).partial_fit(X, Y)
    model.set_params(max_iter=7)  # so that it looks at its parameters anew
    interrupted_everywhere(model, lambda model: model.learn_one(row, label))


@pytest.mark.parametrize("member", [Perceptron(), AveragedPerceptron(), AROW(covariance="diagonal")], ids=str)
def test_an_interrupted_row_leaves_none_of_its_names(member):
    model = deepcopy(member)
    for k in range(6):
        model.learn_one({"a": k, "b": k % 2}, k % 2)
    interrupted_everywhere(model, lambda model: model.learn_one({"b": 1.0, "c": 2.0, "d": 3.0}, 0))


@pytest.mark.parametrize("member", [*MEMBERS, MaximumMargin(), AdalineRegressor(eta0=10.0)], ids=str)
def test_a_fit_that_ends_in_a_warning_as_an_error_leaves_everything_as_it_was(member):
    model = fitted(member)
    model.set_params(max_iter=1) if "max_iter" in model.get_params() else None
    before, failed = saved(model), 0
    for rows, labels in ((X, (X[:, 0] > X[:, 1]) ^ (X[:, 2] > 1)), (1e3 * X, np.arange(12) % 3 == 0)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                model.fit(rows, labels.astype(int))
            except Warning:
                failed += 1
                assert saved(model) == before
            else:
                before = saved(model)
    if not isinstance(member, Winnow | PocketPerceptron | KernelPerceptron | AdalineRegressor):
        assert failed, "no warning: this shows nothing"
