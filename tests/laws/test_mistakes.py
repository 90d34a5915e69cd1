"""Mistakes that a user can make, and the sentence that each gets: the value, the fault, the remedy.

No mistake may end in an exception of the machinery below: an AttributeError of None, an IndexError, a division by zero,
a typing error of Numba's, a conversion of NumPy's.
"""

import inspect
import re
import warnings
from contextlib import suppress
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import rosenblatt
from members import EVERY_CLASS
from rosenblatt import (
    ALMA,
    AROW,
    Adaline,
    AdalineRegressor,
    AssociationUnits,
    Certificate,
    KernelPerceptron,
    LinearModel,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    PNormPerceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
    bounds,
    certify,
    certify_cycle,
    certify_pairs,
    datasets,
    evaluation,
    load,
    load_linear,
    plots,
    record,
    save,
    theory,
    trace,
    train,
    verify,
)
from rosenblatt.errors import RosenblattError

pytestmark = pytest.mark.filterwarnings("ignore")

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((30, 4))
FOUR = np.arange(30) % 4
Y = (X[:, 0] > 0).astype(int)
HUGE = 10**400
MASKED = np.ma.masked_array(X, np.arange(X.size).reshape(X.shape) == 0)
NAMES = np.array(["no", "yes"], dtype=object)[Y]
MIXED = np.array([1 if v else "a" for v in Y], dtype=object)
SEED = "it must be a whole number from 0 to 4294967295, a numpy.random.RandomState or None."
WEIGHTS = "Weights are numbers from 0, one of them above it."


@pytest.fixture(scope="module")
def at(tmp_path_factory):
    """What the mistakes are made with: fitted models, and a folder of files."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "text").write_text("root:x:0:0:root:/root:/bin/sh\n" * 5)
    model = Perceptron().fit(X, Y)
    return SimpleNamespace(
        folder=folder,
        model=model,
        named=Perceptron().fit(X, NAMES),
        voted=VotedPerceptron().fit(X, Y),
        linear=train(X, Y).model,
        certificate=certify(X, Y),
    )


# ----------------------------------------------------------------------------------------- parameters of the estimators

# A class, one of its parameters with an impossible value, and how the sentence goes on after "name=value is ".
IMPOSSIBLE = [
    (Perceptron, {"max_iter": 0}, "invalid: it must be a whole number from 1."),
    (Perceptron, {"max_iter": 1e3}, "invalid: it must be a whole number from 1."),
    (Perceptron, {"max_iter": "10"}, "invalid: it must be a whole number from 1."),
    (Perceptron, {"tol": "x"}, "invalid: it must be a number, or None for all epochs."),
    (Perceptron, {"tol": np.nan}, "invalid: it must be a number, or None for all epochs."),
    (Perceptron, {"shuffle": "yes"}, "not known: choose one of True, False, 'random'."),
    (Perceptron, {"shuffle": "randon"}, "not known: choose one of True, False, 'random'. Did you mean 'random'?"),
    (Perceptron, {"shuffle": 1}, "not known: choose one of True, False, 'random'."),
    (Perceptron, {"random_state": "a"}, f"invalid: {SEED}"),
    (Perceptron, {"random_state": -1}, f"invalid: {SEED}"),
    (Perceptron, {"random_state": 2**40}, f"invalid: {SEED}"),
    (Perceptron, {"random_state": np.random.default_rng(0)}, f"invalid: {SEED}"),
    (KernelPerceptron, {"random_state": -1}, f"invalid: {SEED}"),
    (KernelPerceptron, {"random_state": 2**70}, f"invalid: {SEED}"),
    (AssociationUnits, {"random_state": -1}, f"invalid: {SEED}"),
    (Perceptron, {"early_stopping": "yes"}, "invalid: it must be True or False."),
    (Perceptron, {"fit_intercept": "no"}, "invalid: it must be True or False."),
    (KernelPerceptron, {"fit_intercept": "no"}, "invalid: it must be True or False."),
    (Perceptron, {"warm_start": 2}, "invalid: it must be True or False."),
    (Perceptron, {"validation_fraction": 2}, "invalid: it must be between 0 and 1."),
    (Perceptron, {"n_jobs": "all"}, "invalid: it must be a number of threads from 1, -1 for all processors"),
    (Perceptron, {"n_jobs": 0}, "invalid: it must be a number of threads from 1, -1 for all processors"),
    (Perceptron, {"multiclass": "crammer"}, "not known: choose one of 'ovr', 'ovo', 'ovo-vote', 'joint'."),
    (
        Perceptron,
        {"multiclass": "ovo_vote"},
        "not known: choose one of 'ovr', 'ovo', 'ovo-vote', 'joint'. Did you",
    ),
    (Perceptron, {"callback": 5}, "invalid: it must be a function of an Epoch, or None."),
    (Perceptron, {"schedule": "fast"}, "invalid: it must be one of 'constant', '1/t', '1/sqrt(t)', 'step', or a func"),
    (Perceptron, {"schedule": "Step"}, "invalid: it must be one of 'constant', '1/t', '1/sqrt(t)', 'step', or a func"),
    (Perceptron, {"eta0": 0}, "invalid: it must be a positive number."),
    (Perceptron, {"eta0": "a"}, "invalid: it must be a positive number."),
    (Perceptron, {"margin": -1}, "invalid: it must be a number from 0, or a pair of them"),
    (Perceptron, {"margin": "a"}, "invalid: it must be a number from 0, or a pair of them"),
    (Perceptron, {"margin": "1"}, "invalid: it must be a number from 0, or a pair of them"),
    (Perceptron, {"margin": (1,)}, "invalid: it must be a number from 0, or a pair of them"),
    (Perceptron, {"margin": [1, [2, 3]]}, "invalid: it must be a number from 0, or a pair of them"),
    (Perceptron, {"penalty": "L2"}, "not known: choose one of None, 'l2', 'l1', 'elasticnet'. Did you mean 'l2'?"),
    (Perceptron, {"alpha": -1}, "invalid: it must be a number from 0."),
    (SoftMargin, {"alpha": np.inf}, "invalid: it must be a number from 0."),
    (
        SoftMargin,
        {"loss": "hinge2"},
        "not known: choose one of 'hinge', 'squared_hinge', 'modified_huber', 'logistic', 'log_loss'. Did you mean",
    ),
    (SoftMargin, {"schedule": "pegasus"}, "invalid: it must be one of 'optimal', 'pegasos', 'constant'"),
    (PassiveAggressive, {"C": 0}, "invalid: it must be a positive number, infinity included."),
    (AROW, {"covariance": "ful"}, "not known: choose one of 'auto', 'diagonal', 'full'. Did you mean 'full'?"),
    (Perceptron, {"max_seconds": "1"}, "invalid: it must be a positive number or None."),
    (Perceptron, {"max_seconds": np.nan}, "invalid: it must be a positive number or None."),
    (MaximumMargin, {"max_seconds": -1}, "invalid: it must be a positive number or None."),
    (Perceptron, {"verbose": "x"}, "invalid: it must be True, False or a whole number from 0."),
    (Winnow, {"factor": 1}, "invalid: it must be a number above 1."),
    (PNormPerceptron, {"p": 1.5}, "invalid: it must be a number of at least 2."),
    (ALMA, {"approximation": 0}, "invalid: it must be a number above 0 and up to 1."),
    (KernelPerceptron, {"kernel": "gauss"}, "invalid: it must be one of 'linear', 'quadratic', 'poly', 'rbf'"),
    (KernelPerceptron, {"kernel": "lineal"}, "invalid: it must be one of 'linear', 'quadratic', 'poly', 'rbf'"),
    (KernelPerceptron, {"gamma": 0}, 'invalid: it must be a positive number, "scale", "auto" or None.'),
    (KernelPerceptron, {"budget": 0}, "invalid: it must be a whole number from 1, or None."),
    (KernelPerceptron, {"degree": -1}, "invalid: it must be a whole number from 0."),
    (AssociationUnits, {"n_units": 0}, "invalid: it must be a whole number from 1."),
    (Perceptron, {"class_weight": "balancd"}, "not known. Pass a dict, 'balanced' or None. Did you mean 'balanced'?"),
    (Perceptron, {"class_weight": 5}, "invalid. Pass a dict, 'balanced' or None."),
]


@pytest.mark.parametrize(("cls", "options", "sentence"), IMPOSSIBLE)
def test_an_impossible_value_is_named_with_what_is_possible(cls, options, sentence):
    (name,) = options
    with pytest.raises(RosenblattError, match=rf"^{name}=.* is {re.escape(sentence)}"):
        cls(**options).fit(X, Y)


# ---------------------------------------------------------------------------------------------------- calls, by subject


def kernel(function):
    return lambda at: KernelPerceptron(kernel=function).fit(X, Y)


def shrinking():
    calls = []

    def similarity(a, b):
        calls.append(1)
        return a @ b.T if len(calls) < 3 else (a @ b.T)[:1]

    return similarity


CALLS = {
    "names of parameters": [
        (lambda at: Perceptron(maxiter=5), "Perceptron has no parameter 'maxiter'. Did you mean 'max_iter'?"),
        (lambda at: Perceptron(zzz=5), "Perceptron has no parameter 'zzz'. It has batch, margin, penalty"),
        (lambda at: Perceptron("l2"), "'l2' stands without one. Write Perceptron(penalty='l2')."),
        (lambda at: Perceptron(1.0), "not by position: 1.0 stands without one. Write Perceptron(name=value)."),
        (lambda at: Perceptron().set_params(foo=1), "Perceptron has no parameter 'foo'. It has"),
        (lambda at: Perceptron().set_params(Tol=1), "Did you mean 'tol'?"),
        (lambda at: Adaline(multiclass="joint").fit(X, Y), "'joint' does not exist for Adaline: choose one of 'ovr'"),
        (lambda at: SoftMargin(alpha=0).fit(X, Y), "divides by alpha, which is 0. Choose schedule='constant'."),
        (lambda at: rosenblatt.foo, "module 'rosenblatt' has no attribute 'foo'. Its names are in rosenblatt.__all__."),
        (lambda at: rosenblatt.Percepton, "has no attribute 'Percepton'. Did you mean 'Perceptron'?"),
    ],
    "early stopping": [
        (
            lambda at: Perceptron(early_stopping=True).fit(X[:4], [0, 1, 0, 1]),
            "validation_fraction=0.1 holds out 1 of 4 rows, too few on one side for 2 classes. Choose another share",
        ),
        (
            lambda at: Perceptron(early_stopping=True).fit(X, np.r_[0, np.ones(29, int)]),
            "class 0 has only one. Add examples of it, or use early_stopping=False.",
        ),
    ],
    "weights of classes": [
        (lambda at: weighed({5: 1}), "class_weight names 5, which y does not have: its classes are 0 and 1."),
        (lambda at: weighed({0: -1, 1: 1}), f"has weights that are negative, not finite, or all zero. {WEIGHTS}"),
        (lambda at: weighed({0: 0, 1: 0}), f"has weights that are negative, not finite, or all zero. {WEIGHTS}"),
        (lambda at: weighed({0: np.nan, 1: 1}), f"has weights that are negative, not finite, or all zero. {WEIGHTS}"),
        (lambda at: weighed({0: np.inf, 1: 1}), f"has weights that are negative, not finite, or all zero. {WEIGHTS}"),
        (lambda at: weighed({0: "a", 1: 1}), "has a weight that is not a number (could not convert string to float"),
        (lambda at: Perceptron(class_weight="balanced").partial_fit(X, Y), "Compute the weights yourself"),
    ],
    "numbers that no float can hold": [
        (lambda at: weighed({0: HUGE}), "has a weight that is not a number (int too large to convert to float)."),
        (lambda at: fit([[HUGE], [1]], [0, 1]), "which is not a number (int too large to convert to float)."),
        (lambda at: fit([[Fraction(HUGE)], [1]], [0, 1]), "which is not a number (integer division result too large"),
        (lambda at: fit(pd.DataFrame({"size": [HUGE, 1]}), [0, 1]), "The column 'size' of X has 10"),
        (lambda at: at.model.predict([[HUGE] * 4]), "which is not a number (int too large to convert to float)."),
        (lambda at: train([[HUGE], [1]], [0, 1]), "which is not a number (int too large to convert to float)."),
        (
            lambda at: Perceptron().fit(X, Y, sample_weight=[HUGE] * 30),
            "sample_weight cannot be read as numbers (int too large",
        ),
        (lambda at: AdalineRegressor().fit(X, [HUGE] * 30), "y cannot be read as numbers (int too large"),
        (lambda at: Perceptron(init=([HUGE] * 4, 0)).fit(X, Y), "init is not a pair (w0, b0)"),
        (lambda at: Perceptron().learn_one({"size": HUGE}, 1), "x has a value that is not a number (int too large"),
        (lambda at: Perceptron().learn_one([HUGE], 1), "int too large to convert to float"),
        (lambda at: Perceptron().learn_one([1.3e154, 1.3e154], 1), "in row 0, whose squared norm overflows."),
        (lambda at: Perceptron().learn_one({"a": 1.3e154, "b": 1.3e154}, 1), "or values whose square overflows."),
        (lambda at: Perceptron().learn_one([1e200, 1e200], 1), "in row 0, whose squared norm overflows."),
        (lambda at: with_weights(HUGE).predict(X), "coef_ or intercept_ has values that are not numbers (int too"),
        (lambda at: Perceptron(eta0=Fraction(HUGE)).fit(X, Y), "is invalid: it must be a positive number."),
        (lambda at: Perceptron(eta0=Fraction(1, HUGE)).fit(X, Y), "is invalid: it must be a positive number."),
        (lambda at: train(X, Y, eta0=Fraction(1, HUGE)), "a positive number"),
        (lambda at: LinearModel.merge(at.linear, [at.linear], [HUGE, 1]), "is invalid: pass 2 weights from 0"),
        (lambda at: bounds.from_start([HUGE], [1], 1, 1), "start cannot be read as numbers (int too large"),
        (lambda at: KernelPerceptron(kernel=lambda a, b: HUGE).fit(X, Y), "is not a number (int too large"),
    ],
    "values that are missing, or yet to come": [
        (lambda at: fit(MASKED), "Input X contains NaN (row 0, column 0). Remove such rows or fill them in"),
        (lambda at: certify(MASKED, Y), "Input contains NaN or missing values"),
        (lambda at: verify(at.certificate, MASKED, Y), "Input contains NaN or missing values"),
        (lambda at: train(MASKED, Y), "Input X contains NaN (row 0, column 0)."),
        (lambda at: at.model.predict(MASKED), "Input X contains NaN (row 0, column 0)."),
        (lambda at: Perceptron().learn_one(MASKED[0], 1), "contains NaN"),
        (lambda at: fit(X, np.ma.masked_equal(Y, 1)), "Input y contains NaN (row"),
        (lambda at: Perceptron().fit(X, Y, sample_weight=abs(MASKED)[:, 0]), "that are negative or not finite."),
        (lambda at: fit(pl.DataFrame(X).lazy()), "whose rows have not been computed yet. Pass X.collect()."),
    ],
    "another kernel than before": [
        (
            lambda at: other_kernel("rbf", "precomputed", warm_start=True).fit(np.eye(30), Y),
            "kernel='precomputed' is not what the model was",
        ),
        (
            lambda at: other_kernel("linear", "rbf").partial_fit(X, Y),
            "fitted with, 'linear'. Set it back, or fit again.",
        ),
        (
            lambda at: other_kernel("linear", np.dot).partial_fit(X, Y),
            "kernel='a function' is not what the model was fitted",
        ),
        (lambda at: other_kernel("linear", "rbf").partial_fit(X, Y), "Set it back, or fit again."),
        (lambda at: other_kernel("linear", "rbf", warm_start=True).fit(X, Y), "Set it back, or fit again."),
        (
            lambda at: (
                KernelPerceptron()
                .fit(X, np.arange(30) % 4)
                .set_params(multiclass="ovo")
                .partial_fit(X, np.arange(30) % 4)
            ),
            "multiclass='ovo' is not what the model was fitted with, 'ovr'. Set it back, or fit again.",
        ),
        (
            lambda at: KernelPerceptron(warm_start=True).fit(X, Y).fit(X[:, :2], Y),
            "warm_start continues with 4 features, but X has 2. Fit again.",
        ),
        (lambda at: KernelPerceptron().fit(X, Y).partial_fit(X, Y.astype(str)), "Convert y to the same kind."),
        (lambda at: KernelPerceptron().partial_fit(X, Y, ["a", "b"]), "Convert y to the same kind."),
    ],
    "schedules": [
        (lambda at: Perceptron(schedule=lambda epoch: 0).fit(X, Y), "The schedule returned 0 for epoch 1"),
        (
            lambda at: Perceptron(schedule=lambda epoch: None).fit(X, Y),
            "returned None for epoch 1, which is not a learning",
        ),
        (lambda at: train(X, Y, schedule=lambda epoch: "1"), "It must return a positive number."),
    ],
    "rows": [
        (lambda at: fit(X[:, 0]), "Expected 2D array, got 1D array instead: X has shape (30,). Reshape your data"),
        (lambda at: fit(X[None]), "Expected 2D array, got 3D array instead"),
        (lambda at: fit(np.zeros((0, 4)), []), "Found array with 0 sample(s) (shape=(0, 4))"),
        (lambda at: fit(np.zeros((3, 0)), [0, 1, 0]), "Found array with 0 feature(s) (shape=(3, 0))"),
        (
            lambda at: fit(np.where(X > 1, np.nan, X)),
            "Input X contains NaN (row 1, column 2). Remove such rows or fill",
        ),
        (lambda at: fit(np.where(X > 1, np.inf, X)), "Input X contains infinity (row 1, column 2)."),
        (lambda at: fit(sp.csr_matrix(np.where(X > 1, np.inf, X))), "Input X contains infinity (row 1, column 2)."),
        (lambda at: fit(X * 1e200), "whose squared norm overflows. Scale the data, for example with StandardScaler."),
        (lambda at: fit([[1, None], [2, 3]], [0, 1]), "Input X contains NaN (row 0, column 1)."),
        (lambda at: fit([["a", "b"], ["c", "d"]], [0, 1]), "Column 0 of X has 'a', which is not a number. Turn text"),
        (lambda at: fit([[1, 2], [3]], [0, 1]), "its rows have from 1 to 2 values. Pass rows of the same length"),
        (lambda at: fit(pd.DataFrame({"a": [1, 2], "b": ["u", "v"]}), [0, 1]), "The column 'b' of X has 'u'"),
        (lambda at: fit(pd.DataFrame({"a": pd.Categorical(["u", "v"])}), [0, 1]), "The column 'a' of X has 'u'"),
        (
            lambda at: fit(pd.DataFrame({"a": pd.to_datetime(["2020", "2021"])}), [0, 1]),
            "The column 'a' of X has dtype",
        ),
        (
            lambda at: fit(np.array([["2020"], ["2021"]], "M8[D]"), [0, 1]),
            "Turn dates into numbers",
        ),
        (lambda at: fit(5), "got scalar array instead: X is 5, which has no rows. Pass an array, a data frame"),
        (lambda at: fit(None), "X is None, which has no rows."),
        (lambda at: fit({"a": [1]}), "X is {'a': [1]}, which has no rows."),
        (lambda at: fit(row for row in X), "X is <generator object"),
        (lambda at: train({1, 2}, Y), "X is {1, 2}, which has no rows."),
        (lambda at: fit(X * 1j), "Complex data not supported: X has dtype complex128. Pass its real part."),
        (lambda at: fit(sp.csr_matrix(X * 1j)), "Complex data not supported"),
        (
            lambda at: fit(np.array([[{}, 1]] * 30, dtype=object)),
            "Column 0 of X has {}, which is not a number (float()",
        ),
        (
            lambda at: at.model.predict(X[:, :2]),
            "X has 2 features, but Perceptron is expecting 4 features as input. Pass",
        ),
        (lambda at: at.model.predict(sp.csr_matrix(X[:, :2])), "X has 2 features, but Perceptron is expecting 4"),
        (lambda at: at.linear.predict(X[:, :2]), "X has 2 features, the model has 4. Pass the same columns."),
        (lambda at: Winnow(balanced=False).fit(X, Y), "X goes down to -2.33. Use balanced=True, or split each feature"),
    ],
    "labels": [
        (lambda at: fit(X, Y[:5]), "y has 5 values, X has 30 rows"),
        (lambda at: train(X, Y[:5]), "y has 5 values, X has 30 rows"),
        (lambda at: fit(X, np.zeros(30)), "got 1 class: 0.0. Add examples of another class."),
        (lambda at: train(X, np.zeros(30)), "y has one class only, 0.0. Add examples of another class."),
        (lambda at: fit(X, X[:, 0]), "y has values between whole numbers, such as those of a regression."),
        (lambda at: fit(X, np.where(Y, np.nan, 0)), "Input y contains NaN (row 0). Remove rows without a label"),
        (lambda at: fit(X, np.where(Y, np.inf, 0)), "Input y contains infinity (row 0)."),
        (lambda at: fit(X, np.array([None if v else "a" for v in Y], object)), "Input y contains None (row 0)."),
        (lambda at: fit(X, pd.Series([pd.NA if v else "a" for v in Y])), "Input y contains NaN (row 0)."),
        (lambda at: fit(X, MIXED), "y has labels of different types, 1 (int) and 'a' (str). Use one type for all"),
        (lambda at: fit(X, MIXED.tolist()), "y has labels of different types, 1 (int) and 'a' (str)."),
        (lambda at: train(X, MIXED), "y has labels of different types, 1 (int) and 'a' (str)."),
        (lambda at: certify(X, MIXED), "y has labels of different types, 1 (int) and 'a' (str)."),
        (lambda at: fit(X, [{}] * 30), "y has labels such as {}, which cannot be sorted. Use numbers or text."),
        (lambda at: fit(X, np.c_[Y, Y]), "y should be a 1d array, got an array of shape (30, 2) instead. Pass one"),
        (lambda at: fit(X, Y * 1j), "y has complex numbers."),
        (lambda at: AdalineRegressor().fit(X, ["a"] * 30), "y cannot be read as numbers"),
        (lambda at: AdalineRegressor().fit(X, np.c_[Y, Y]), "y should be a 1d array"),
        (lambda at: warm_start_on_other_classes(), "continues with the classes 0 and 1, but y has 1 and 2."),
        (lambda at: Perceptron().fit(X, Y, sample_weight=[1, 2]), "sample_weight has shape (2,), X has 30 rows."),
        (lambda at: Perceptron().fit(X, Y, sample_weight=-np.ones(30)), "negative or not finite."),
        (lambda at: Perceptron().fit(X, Y, sample_weight=["a"] * 30), "sample_weight cannot be read as numbers"),
        (lambda at: Perceptron().fit(X, Y, sample_weight=np.zeros(30)), "Give some row a weight above 0."),
        (lambda at: Perceptron().partial_fit(X, Y, classes=[[0, 1]]), "is not a list of labels. Pass all labels"),
    ],
    "single rows": [
        (lambda at: at.model.predict_one(X[0, :2]), "x has shape (2,); the model has 4 features. Pass one row"),
        (lambda at: at.model.predict_one(np.full(4, np.nan)), "contains NaN"),
        (lambda at: at.model.predict_one(["a"] * 4), "x cannot be read as numbers"),
        (lambda at: at.model.predict_one(X[:2]), "x has shape (2, 4); the model has 4 features. Pass one row"),
        (lambda at: at.model.learn_one(X[0, :2], 1), "x has shape (2,); the model has 4 features. Pass one row"),
        (lambda at: at.model.learn_one(np.full(4, np.nan), 1), "x contains NaN, infinity or values whose square"),
        (lambda at: at.model.learn_one(["a"] * 4, 1), "x cannot be read as numbers"),
        (lambda at: at.model.learn_one(X[0], [1]), "is not a label. Pass a number, a text"),
        (lambda at: at.model.learn_one(X[0], np.array(1)), "is not a label. Pass a number, a text"),
        (lambda at: Perceptron().learn_one([[1, 2], [3]], 1), "x cannot be read as numbers"),
    ],
    "methods that are not there": [
        (
            lambda at: PocketPerceptron().partial_fit,
            "which a stream does not keep. Use AveragedPerceptron for streams.",
        ),
        (lambda at: MaximumMargin().learn_one, "needs all rows at once. Use Perceptron(margin=...) for streams."),
        (lambda at: KernelPerceptron(kernel="precomputed").partial_fit, "Pass the kernel as a function, or fit on all"),
        (lambda at: at.model.predict_proba, "Perceptron has no probabilities. Use decision_function"),
        (lambda at: SoftMargin().fit(X, Y).predict_proba, "has no probabilities. Use loss='logistic' or"),
        (lambda at: VotedPerceptron().fit(X, Y, coef_init=np.zeros(4)), "The vote starts from zero: drop coef_init"),
        (lambda at: at.voted.predict(X, aggregate="mean"), "aggregate='mean' is not known: choose one of 'vote'"),
        (lambda at: at.voted.predict(X, "averge"), "Did you mean 'average'?"),
        (lambda at: Perceptron(max_iter=1).fit(np.zeros((2, 2)), [0, 1]).distance(np.zeros((2, 2))), "Train on more"),
    ],
    "kernels": [
        (lambda at: KernelPerceptron(kernel="precomputed").fit(X, Y), "X should be a square matrix of similarities"),
        (
            lambda at: KernelPerceptron(kernel="precomputed").fit(X @ X.T, Y).predict(np.eye(3)),
            "X has 3 features, but KernelPerceptron is expecting 30",
        ),
        (
            lambda at: KernelPerceptron(budget=10**12, budget_rule="random").fit(X, Y),
            "A budget of 1000000000000 vectors would take far more memory than there is",
        ),
        (lambda at: KernelPerceptron(budget=10**30).fit(X, Y), "vectors would take far more memory than there is"),
        (
            lambda at: KernelPerceptron(budget=10**6, budget_rule="forgetron").fit(X, Y),
            "A budget of 1000000 vectors would take 2.4e+04 GB",
        ),
        (kernel(lambda a, b: np.full((len(a), len(b)), np.nan)), "A similarity is a finite number."),
        (kernel(lambda a, b: np.ones((2, 3))), "It must give one of shape (1, 1)"),
        (kernel(lambda a, b: (a @ b.T) * 1j), "in complex numbers. A similarity is a real number."),
        (kernel(lambda a, b: "s"), "The kernel must give a similarity, but what it gave is not a number"),
        (kernel(lambda a, b: None), "A similarity is a finite number."),
        (
            kernel(lambda a, b: 1 / 0),
            "The kernel takes neither two blocks of rows (ZeroDivisionError: division by zero)",
        ),
        (
            lambda at: KernelPerceptron(kernel=shrinking()).fit(X, Y),
            "an array of shape (1, 30) for blocks of 30 and 30",
        ),
        (lambda at: KernelPerceptron(kernel="poly", degree=10**9).fit(X, Y), "Scale the data, for example with"),
        (lambda at: KernelPerceptron().fit(["a", "b"], [0, 1]), "X has 'a', which is not a number. Turn text"),
        (lambda at: AssociationUnits(n_units=10**12).fit(X), "for 4 features needs 3.2e+13 bytes. Choose fewer units."),
        (lambda at: AssociationUnits(n_units=10**30).fit(X), "for 4 features needs 3.2e+31 bytes. Choose fewer units."),
        (
            lambda at: AssociationUnits(fan_in=100).fit(X),
            "fan_in=100 is more than the 4 features of X. Use fan_in=None.",
        ),
        (
            lambda at: AssociationUnits(units="cosine", gamma=1e100).fit(X).transform(X.astype(np.float32)),
            "overflowed float32: gamma=1e+100 is too large for X. Lower it.",
        ),
    ],
    "train and trace": [
        (lambda at: train(X, Y, order="x"), "order='x' is not known: choose one of cyclic, shuffled, random."),
        (lambda at: train(X, Y, order="cycle"), "Did you mean 'cyclic'?"),
        (lambda at: train(X, Y, maxiter=3), "train has no parameter 'maxiter'. Did you mean 'max_iter'?"),
        (lambda at: train(X, Y, eta1=3), "train has no parameter 'eta1'. Did you mean 'eta0'?"),
        (lambda at: train(X, Y, zzz=3), "train has no parameter 'zzz'. It has order, schedule, eta0"),
        (lambda at: train(X, Y, max_iter="3"), "max_iter='3' is invalid: pass a whole number from 1."),
        (lambda at: train(X, Y, max_iter=2.5), "max_iter=2.5 is invalid: pass a whole number from 1."),
        (lambda at: train(X, Y, margin="a"), "margin='a' is invalid: pass a number from 0."),
        (lambda at: train(X, Y, margin=np.nan), "margin=nan is invalid: pass a number from 0."),
        (lambda at: train(X, Y, random_state=-1), "random_state=-1 is invalid: pass a whole number from 0."),
        (lambda at: train(X, Y, callback=5), "callback=5 is invalid: pass a function of an Epoch, or None."),
        (lambda at: train(X, Y, batch="no"), "batch='no' is invalid: pass True or False."),
        (lambda at: train(X, Y, fit_intercept="no"), "fit_intercept='no' is invalid: pass True or False."),
        (
            lambda at: train(X, Y, multiclass="x"),
            "multiclass='x' is not known. Choose one of ovr, ovo, ovo-vote, joint.",
        ),
        (lambda at: train(X, Y, validation=X), "validation=array of shape (30, 4) is not a pair. Pass (X, y)"),
        (lambda at: train(X, Y, validation=(X[:, :2], Y)), "The validation rows have 2 features, the training rows 4."),
        (lambda at: train(X, Y, init=5), "init is not a pair (w0, b0)"),
        (lambda at: [*trace(X, np.arange(30) % 3)], "y has 3 classes; a perceptron separates two. Pass estimator="),
        (lambda at: [*trace(X, np.zeros(30))], "y has 1 class; a perceptron separates two. Add examples of another."),
        (lambda at: [*trace(X, Y, max_iter=0)], "max_iter=0 is invalid: pass a whole number from 1."),
        (lambda at: [*trace(X, Y, estimator=5)], "int does not learn trial by trial"),
        (lambda at: record(5, X, Y), "int does not learn trial by trial"),
        (lambda at: record(MaximumMargin(), X, Y), "MaximumMargin does not learn trial by trial"),
        (lambda at: at.linear.merge([5]), "others has 5, not a LinearModel. Pass a list of models."),
        (lambda at: at.linear.merge([at.linear], ["a", "b"]), "is invalid: pass 2 weights from 0"),
        (lambda at: LinearModel(X, Y[:3], Y), "W has shape (30, 4)"),
        (lambda at: at.model.run_.guarantees(2), "delta=2 is not a probability"),
    ],
    "proofs": [
        (lambda at: certify(X, Y[:3]), "y has 3 values, X has 30 rows"),
        (lambda at: certify(X * np.nan, Y), "Input contains NaN or missing values in 30 rows"),
        (lambda at: certify([["a"]], [0]), "X has text, as 'a', where numbers belong"),
        (lambda at: certify(X, Y, time_limit=-1), "time_limit=-1 is not a positive number of seconds."),
        (lambda at: certify(X, Y, kernel="gauss"), "kernel='gauss' is not known."),
        (lambda at: certify_pairs(X, Y, exact="roughly"), "exact='roughly' is not known."),
        (lambda at: certify_cycle(X, Y, epochs=0), "epochs=0 is not a whole number from 1"),
        (lambda at: verify({}, X, Y), "dict is not a Certificate. Read files with Certificate.load."),
        (lambda at: verify(at.certificate, X, Y[:3]), "y has 3 values, X has 30 rows"),
        (lambda at: theory(X, Y, 5), "int is not a Perceptron, which the theorems are about."),
        (lambda at: theory(X, Y, Perceptron(margin=1.0)), "Set margin=0.0."),
        (lambda at: Certificate.load(at.folder / "text"), "is not a certificate"),
    ],
    "files": [
        (lambda at: save(at.model, at.folder), "is a directory. Give the name of a file in it."),
        (lambda at: load(at.folder), "is a directory. Give a model file."),
        (lambda at: save(at.model, None), "None is neither a path nor a file object. Give the name of a file."),
        (lambda at: load(None), "None is not a path, bytes or a file object. Give a model file."),
        (lambda at: at.certificate.save(at.folder), "is a directory. Give the name of a file in it."),
        (
            lambda at: save(fit(X, np.array(["2020", "2021"], dtype="M8[D]")[Y]), at.folder / "x"),
            "classes_ are not labels that files hold. Fit with numbers or texts, such as str(label).",
        ),
        (lambda at: save(object(), at.folder / "x"), "An object of type object cannot be saved: files hold ALMA"),
        (lambda at: save(sklearn.linear_model.Perceptron(), at.folder / "x"), "of type Perceptron cannot be saved"),
        (lambda at: load(at.folder / "text"), "Pass a file that rosenblatt.save wrote, whole and unchanged."),
        (lambda at: load_linear(at.folder / "text"), "Pass a file that rosenblatt.save wrote, whole and"),
    ],
    "pictures": [
        (lambda at: plots.plot_errors(5), "run is 5, not a Run. Pass model.run_"),
        (lambda at: plots.plot_errors(at.model.run_, ax=5), "ax is 5, not axes of matplotlib."),
        (lambda at: plots.plot_mistakes(5), "A trial is 5, not a Trial."),
        (lambda at: plots.plot_mistakes(at.model.run_, bound="a"), "bound='a' is not a number of mistakes."),
        (
            lambda at: plots.plot_trace([1], X[:, :2], Y),
            "A trial is 1, not a Trial. Pass what rosenblatt.trace yields.",
        ),
        (
            lambda at: plots.plot_boundary(5, X[:, :2], Y),
            "int has no predict. Pass a fitted classifier, or what train returns.",
        ),
        (lambda at: plots.plot_boundary(at.model, X, Y), "features; a plot of the plane needs 2."),
        (
            lambda at: plots.plot_certificate(5, X[:, :2], Y),
            "certificate is 5, not a Certificate. Pass what rosenblatt.",
        ),
        (lambda at: plots.plot_theory(5), "theory is 5, not a Theory. Pass what rosenblatt.theory returns."),
    ],
    "theorems, measures and data": [
        (lambda at: bounds.novikoff("a", 1), "radius='a' is not a number that a float can hold."),
        (lambda at: bounds.novikoff(-1, 1), "radius=-1 is not a positive number."),
        (lambda at: bounds.average_risk(1, 10, None), "delta=None is not a number"),
        (lambda at: bounds.from_start("ab", [1], 1, 1), "start cannot be read as numbers"),
        (lambda at: evaluation.accuracy([1, 2], [1]), "y_true has 2 values, y_pred has 1."),
        (lambda at: evaluation.accuracy([[1], [1, 2]], [1]), "y_true has rows of different lengths."),
        (lambda at: evaluation.empirical_risk("hing", Y, X[:, 0]), "Did you mean 'hinge'?"),
        (lambda at: datasets.separable(-1, 2, 0.1), "n_samples=-1 is invalid: it must be a whole number from 2."),
        (
            lambda at: datasets.separable(10, 2, 0.1, tight="no"),
            "tight='no' is invalid: it must be True or False.",
        ),
        (lambda at: datasets.logical("nand"), "name='nand' is invalid: it must be one of or, and, xor."),
    ],
}


def fit(X, y=Y):
    return Perceptron().fit(X, y)


def weighed(class_weight):
    return Perceptron(class_weight=class_weight).fit(X, Y)


def with_weights(value):
    model = Perceptron().fit(X, Y)
    model.coef_ = np.array([[value, 1, 2, 3]], dtype=object)
    return model


def other_kernel(before, after, **options):
    return KernelPerceptron(kernel=before, **options).fit(X, Y).set_params(kernel=after)


def warm_start_on_other_classes():
    return Perceptron(warm_start=True).fit(X, Y).fit(X, Y + 1)


def numbered(calls):
    return [pytest.param(*call, id=f"{subject}-{k}") for subject, part in calls.items() for k, call in enumerate(part)]


@pytest.mark.parametrize(("call", "sentence"), numbered(CALLS))
def test_a_mistake_gets_a_sentence_of_ours(call, sentence, at):
    with pytest.raises(RosenblattError) as found:
        call(at)
    told = str(found.value)
    assert sentence in told
    assert len(told) < 450
    assert told.endswith((".", "?"))
    assert "\n" not in told
    assert not re.search(r"np\.\w+\(|0x[0-9a-f]{6}", told.split(" (")[0])  # no words of the machinery


# ----------------------------------------------------------------------------- mistakes that somebody else must answer

# The call, what it raises, a part of the sentence, and why it is not ours.
ANSWERED_BY_OTHERS = [
    (lambda at: Perceptron().fit(X, None), ValueError, "requires y to be passed", "scikit-learn's checks demand it"),
    (lambda at: Perceptron().fit(X), TypeError, "missing 1 required positional argument: 'y'", "Python speaks first"),
    (lambda at: theory(5), TypeError, "missing 1 required positional argument: 'y'", "Python speaks first"),
    (lambda at: certify(X, Y, max_seconds=1), TypeError, "argument 'max_seconds'", "Python speaks first"),
    (lambda at: Perceptron().predict(X), NotFittedError, "not fitted yet", "scikit-learn's checks demand its type"),
    (lambda at: Perceptron().score(X, Y), NotFittedError, "not fitted yet", "scikit-learn's checks demand its type"),
    (lambda at: Perceptron().distance(X), NotFittedError, "not fitted yet", "the same for our own method"),
    (lambda at: KernelPerceptron().predict(X), NotFittedError, "not fitted yet", "scikit-learn's checks demand it"),
    (lambda at: MaximumMargin().predict(X), NotFittedError, "not fitted yet", "scikit-learn's checks demand its type"),
    (lambda at: AssociationUnits().transform(X), NotFittedError, "not fitted yet", "scikit-learn's checks demand it"),
    (lambda at: at.model.score(X, Y.astype(str)), ValueError, "Mix of label input types", "score is scikit-learn's"),
    (lambda at: save(at.model, at.folder / "no" / "x"), FileNotFoundError, "no", "the system's own error of files"),
    (lambda at: load(at.folder / "none"), FileNotFoundError, "none", "the system's own error of files"),
    (lambda at: load(""), FileNotFoundError, "", "the system's own error of files"),
    (lambda at: Certificate.load(at.folder), OSError, "", "the system's own error of files"),
    (lambda at: at.certificate.save(at.folder / "no" / "x"), OSError, "no", "the system's own error of files"),
]


@pytest.mark.parametrize(("call", "kind", "sentence", "why"), ANSWERED_BY_OTHERS, ids=range(len(ANSWERED_BY_OTHERS)))
def test_what_others_must_answer_they_answer_clearly(call, kind, sentence, why, at):
    assert why
    with pytest.raises(kind, match=re.escape(sentence)):
        call(at)


# --------------------------------------------------------------------------------------- what only looks like a mistake

# The call, and what must come of it.
NO_MISTAKES = [
    (lambda at: Perceptron(max_iter=10**20).fit(X, Y).score(X, Y), 1.0),
    (lambda at: Perceptron(shuffle=np.True_, early_stopping=np.False_).fit(X, Y).score(X, Y), 1.0),
    (lambda at: Perceptron(random_state=np.random.RandomState(0)).fit(X, Y).score(X, Y), 1.0),
    (lambda at: Perceptron().fit(X, Y[:, None]).score(X, Y), 1.0),
    (lambda at: Perceptron().fit(X, np.array(["2020", "2021"], "M8[D]")[Y]).predict(X)[0], np.datetime64("2021")),
    (lambda at: Perceptron().fit(X, np.array([b"a", b"b"])[Y]).predict(X)[0], b"b"),
    (lambda at: Perceptron().learn_one(X[0], 1), True),
    (lambda at: at.model.predict_one(sp.csr_matrix(X[:1])), 1),
    (lambda at: Perceptron().predict_one(X[0]), None),
    (lambda at: at.named.predict_one(X[0]), "yes"),
    (lambda at: at.model.score(X, Y + 7), 0.0),
    (lambda at: Perceptron().fit(X, Y, sample_weight=Y).predict(X[:1])[0], 1),
    (lambda at: KernelPerceptron(budget=1).fit(X, Y).support_.size, 1),
    (lambda at: KernelPerceptron(budget=1, budget_rule="forgetron").fit(X, Y).support_.size, 1),
    (lambda at: KernelPerceptron(budget=1, budget_rule="projectron").fit(X, Y).support_.size, 1),
    (lambda at: KernelPerceptron(kernel=lambda a, b: b @ a.T).fit(X, Y).score(X, Y), 1.0),  # of two rows: a number
    (lambda at: KernelPerceptron(kernel=lambda a, b: (a @ b.T).astype(object)).fit(X, Y).score(X, Y), 1.0),
    (lambda at: KernelPerceptron(cache_size=1e30, kernel=lambda a, b: a @ b.T).fit(X, Y).score(X, Y), 1.0),
    (lambda at: bool(np.isfinite(AssociationUnits(gamma=1e308).fit_transform(X)).all()), True),
    (lambda at: bool(np.isfinite(AssociationUnits(units="cosine", gamma=1e308).fit_transform(X * 1e3)).all()), True),
    (lambda at: AssociationUnits().fit_transform(np.ones((5, 3))).shape, (5, 2000)),
    (lambda at: AssociationUnits().fit_transform(np.ones((1, 3))).shape, (1, 2000)),
    (lambda at: SoftMargin(alpha=1e25).fit(X, Y).coef_.shape, (1, 4)),
]


@pytest.mark.parametrize(("call", "outcome"), NO_MISTAKES, ids=range(len(NO_MISTAKES)))
def test_what_only_looks_like_a_mistake_is_done(call, outcome, at):
    assert call(at) == outcome


@pytest.mark.parametrize("call", [lambda: stream_of(Y.astype(str)), lambda: Perceptron().partial_fit(X, Y, "ab")])
def test_labels_that_do_not_fit_a_stream_are_taken_or_refused_in_words(call):
    with suppress(RosenblattError):
        call()


def stream_of(second):
    return Perceptron().partial_fit(X, Y).partial_fit(X, second)


@pytest.mark.parametrize("model", [AdalineRegressor(eta0=5.0), Adaline(normalised=False, eta0=10.0)], ids=str)
def test_a_rate_that_diverges_is_warned_of(model):
    with pytest.warns(ConvergenceWarning, match="lower eta0"):
        model.fit(100 * X, Y)


def test_the_tables_have_every_mistake_that_was_collected():
    assert sum(map(len, (*CALLS.values(), IMPOSSIBLE, ANSWERED_BY_OTHERS, NO_MISTAKES))) + 4 >= 189
    assert all(why for *_, why in ANSWERED_BY_OTHERS)


# ------------------------------------------------------------------------------------------ brothers: the whole family

SMALL = np.abs(X[:8, :2]), np.array([0, 1] * 4)
GARBAGE = [object(), "nonsense", -7, np.nan, [], {}, (1, 2, 3), None, np.inf, 10**25, b"x", lambda *any: None, 1j]
NOT_ROWS = [
    *(None, 5, "text", {}, set(), object(), [], [[]], [1, 2], [[1, 2], [3]], [["a", "b"]] * 8, [[1, None]] * 8),
    *(SMALL[0] * 1j, SMALL[0][None], SMALL[0][:, 0], SMALL[0] * np.nan, SMALL[0] * 1e200, SMALL[0][:, :1]),
    *(np.zeros((0, 2)), np.zeros((8, 0)), np.array([["2020"]] * 8, "M8[D]"), np.array([[object()] * 2] * 8)),
    *(sp.csr_matrix((0, 2)), sp.csr_matrix(SMALL[0] * np.nan), sp.csr_matrix(SMALL[0] * 1j), [[{"a": 1}] * 2] * 8),
    pd.DataFrame({"a": list("abcdefgh"), "b": range(8)}),
    pd.DataFrame({"a": pd.Series([1, None] * 4, dtype="Int64"), "b": range(8)}),
]
NOT_LABELS = [
    *(5, "text", {}, set(), object(), [], [1], [1, "a"] * 4, [None, 1] * 4, [np.nan, 1] * 4, np.zeros((8, 2))),
    *(SMALL[1] * 1j, SMALL[1] + 0.5, [[1], [1, 2]], np.array([object()] * 8), pd.Series([pd.NA, 1] * 4), [{}] * 8),
    *(pd.Series(["a", None] * 4), np.array(["NaT", "2020"] * 4, "M8[D]"), sp.csr_matrix(SMALL[1]), SMALL[1][:5]),
]
classes = pytest.mark.parametrize("cls", EVERY_CLASS, ids=lambda cls: cls.__name__)


def answered(call):
    """Make a call that may be a mistake; nothing but our own error, or that of an unfitted model, may come of it."""
    with warnings.catch_warnings(), suppress(RosenblattError, NotFittedError):
        warnings.simplefilter("ignore")
        call()


def short(cls, **options):
    return cls(**({"max_iter": 3} if "max_iter" in cls.declared else {}) | options)


@classes
def test_every_parameter_of_every_member_refuses_nonsense_in_words(cls):
    for name in cls.declared:
        for value in GARBAGE:
            answered(lambda: short(cls, **{name: value}).fit(*SMALL))  # noqa: B023 (called at once)


@classes
def test_every_member_refuses_rows_that_are_none_in_words(cls):
    fitted = short(cls).fit(*SMALL)
    for rows in NOT_ROWS:
        for call in (short(cls).fit, getattr(short(cls), "partial_fit", None)):
            if call is not None:
                answered(lambda: call(rows, SMALL[1]))  # noqa: B023
        for method in ("predict", "decision_function", "transform", "distance", "predict_one"):
            if hasattr(fitted, method):
                answered(lambda: getattr(fitted, method)(rows))  # noqa: B023


@classes
def test_every_member_refuses_labels_and_weights_that_are_none_in_words(cls):
    for values in NOT_LABELS:
        answered(lambda: short(cls).fit(SMALL[0], values))  # noqa: B023
        if "sample_weight" in inspect.signature(cls.fit).parameters:
            answered(lambda: short(cls).fit(*SMALL, sample_weight=values))  # noqa: B023


@pytest.mark.parametrize("function", [train, trace, certify, certify_pairs, certify_cycle, theory])
def test_every_function_refuses_what_are_no_rows_and_no_labels_in_words(function):
    call = (lambda *data: [*trace(*data)]) if function is trace else function
    for rows in NOT_ROWS:
        answered(lambda: call(rows, SMALL[1]))  # noqa: B023
    for values in NOT_LABELS:
        answered(lambda: call(SMALL[0], values))  # noqa: B023


def test_every_setting_of_train_refuses_nonsense_in_words():
    names = [*inspect.signature(train).parameters, *rosenblatt.training.train.PLAN, "nonsense"]
    for name in set(names) - {"X", "y", "plan", "max_iter"}:
        for value in GARBAGE:
            answered(lambda: train(*SMALL, max_iter=3, **{name: value}))  # noqa: B023


@pytest.mark.parametrize("module", [bounds, evaluation, datasets], ids=lambda module: module.__name__)
def test_every_theorem_measure_and_generator_refuses_nonsense_in_words(module):
    usual = {"n_samples": 10, "n_features": 3, "margin": 0.1, "flip": 0.1, "name": "or", "radius": 1.0, "loss": "hinge"}
    any_value = {bounds: 0.5, evaluation: SMALL[1], datasets: 1}[module]
    public = [value for name, value in vars(module).items() if inspect.isfunction(value) and name[0] != "_"]
    for function in (value for value in public if value.__module__.startswith(module.__name__)):
        parameters = inspect.signature(function).parameters.values()
        needed = {one.name: usual.get(one.name, any_value) for one in parameters if one.default is one.empty}
        for one in parameters:
            for value in GARBAGE[:-4] if module is datasets else GARBAGE:
                if not function.__name__.startswith("load_"):  # of files, whose errors are the system's
                    answered(lambda: function(**needed | {one.name: value}))  # noqa: B023
