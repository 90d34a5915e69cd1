"""`KernelPerceptron`: the perceptron of the lectures in the dual, its streams, its kernels, its messages."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import (
    load_iris,
    make_blobs,
    make_circles,
    make_classification,
    make_gaussian_quantiles,
    make_moons,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from oracles import reference
from rosenblatt import KernelPerceptron, Perceptron, VotedPerceptron
from rosenblatt.data.memory import physical_memory
from rosenblatt.datasets import load_mnist
from rosenblatt.errors import InvalidInput
from rosenblatt.kernels.rules import BUDGET_RULES
from rosenblatt.learners.kernel_perceptron import AGGREGATES
from strategies import integer_sets

IRIS = load_iris(return_X_y=True)
XOR = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float), np.array([0, 1, 1, 0])
MODES = ("ovr", "ovo", "joint")
few = settings(max_examples=20)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Keep to one thread: what is computed does not depend on it, and tiny shares cost more to hand out than to do."""
    with threadpool_limits(1, user_api="blas"):
        yield


def quadratic(x, z):
    return (1 + sum(a * b for a, b in zip(x, z, strict=True))) ** 2


def kmers(k):
    """Spectrum kernel: how many substrings of length k two strings have in common."""

    def count(s):
        parts = [s[i : i + k] for i in range(len(s) - k + 1)]
        return {part: parts.count(part) for part in parts}

    return lambda s, t: sum(n * count(t).get(part, 0) for part, n in count(s).items())


ORDER_MATTERS = (
    "a row of weight two moves f once, with a step of two; the row twice is two trials, of which the second may be no "
    "mistake"
)
COSTS_DO_NOT_MATTER = "a kernel that separates the rows does so in the end whatever they cost"


def expected_failures(estimator):
    expected = {}
    if estimator.kernel != "precomputed":
        for storage in ("dense", "sparse"):
            expected[f"check_sample_weight_equivalence_on_{storage}_data"] = ORDER_MATTERS
    if estimator.kernel == "poly" or (estimator.budget is not None and estimator.budget_rule == "arow"):
        expected["check_class_weight_classifiers"] = COSTS_DO_NOT_MATTER
    return expected


@pytest.mark.long
@parametrize_with_checks(
    [
        KernelPerceptron(),
        KernelPerceptron(kernel="poly", multiclass="ovo", aggregate="vote"),
        KernelPerceptron(kernel="laplacian", multiclass="joint", aggregate="average"),
        KernelPerceptron(kernel="precomputed", fit_intercept=True),
        KernelPerceptron(margin=4, max_updates=8, multiclass="ovo-vote"),
        KernelPerceptron(budget=100),
        KernelPerceptron(budget=100, budget_rule="projectron", aggregate="average"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


# --------------------------------------------------------------------------------------------------- the same algorithm


@given(data=integer_sets(most_rows=12, most_features=3), epochs=st.integers(1, 4))
def test_counts_average_and_vote_are_those_of_the_lectures(data, epochs):
    X, label = data
    rows, signs = X.astype(int).tolist(), (2 * label - 1).tolist()
    alpha, mistakes, history = reference.kernel_perceptron(rows, signs, quadratic, [range(len(X))] * epochs)
    model = KernelPerceptron(kernel="quadratic", shuffle=False, max_iter=epochs, tol=None).fit(X, label)
    assert list(model.run_.mistakes) == mistakes[: len(model.run_.mistakes)]
    assert dict(zip(model.support_.tolist(), model.alpha_[0].tolist(), strict=True)) == {
        i: a for i, a in enumerate(alpha) if a
    }
    history = history[: model.run_.trials]  # an epoch without a mistake ends the run
    scores = [[reference.dual_score(a, rows, signs, quadratic, x) for a in history] for x in rows]
    mean = [sum(line) / len(history) for line in scores]
    votes = [
        sum((f > 0) - (f <= 0) for f, a in zip(line, history, strict=True) if any(a)) / len(history) for line in scores
    ]
    np.testing.assert_allclose(model.decision_function(X, "average"), mean, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(X, "vote"), votes, atol=1e-12)
    assert model.predict(X, "last").tolist() == [int(line[-1] > 0) for line in scores]
    assert model.predict(X).tolist() == model.predict(X, "last").tolist()


@pytest.mark.parametrize("multiclass", MODES)
def test_vote_and_average_of_several_classes_are_those_of_the_voted_perceptron(multiclass):
    X, y = np.round(10 * IRIS[0]), IRIS[1]
    options = {"multiclass": multiclass, "max_iter": 5, "tol": None}
    ours = KernelPerceptron(kernel="linear", fit_intercept=True, **options).fit(X, y)
    voted = VotedPerceptron(**options).fit(X, y)
    for method in ("last", "average", "vote"):
        np.testing.assert_allclose(ours.decision_function(X, method), voted.decision_function(X, method), atol=1e-9)


@few
@given(integer_sets(classes=3))
def test_functions_and_matrices_equal_to_a_built_in_give_the_same_model(data):
    X, label = data
    options = {"shuffle": False, "max_iter": 3, "tol": None}
    wanted = KernelPerceptron(kernel="quadratic", **options).fit(X, label)
    gram = (1 + X @ X.T) ** 2
    others = {
        "blocks": (lambda A, B: (1 + A @ B.T) ** 2, X),
        "pairs": (lambda a, b: (1 + a @ b) ** 2, X),
        "objects": (quadratic, [tuple(row) for row in X.tolist()] if X.shape[1] < 2 else X),
        "matrix": ("precomputed", gram),
        "poly": ("poly", X),
        "sparse": ("quadratic", sp.csr_array(X)),
    }
    for kernel, given_rows in others.values():
        model = KernelPerceptron(kernel=kernel, degree=2, **options).fit(given_rows, label)
        assert model.support_.tolist() == wanted.support_.tolist()
        assert model.alpha_.tolist() == wanted.alpha_.tolist()
        for method in ("last", "vote"):
            assert model.decision_function(given_rows, method).tolist() == wanted.decision_function(X, method).tolist()


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine", "poly"])
def test_dense_sparse_and_single_precision_agree(kernel):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 20)) * (rng.random((300, 20)) < 0.3)
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    options = {"kernel": kernel, "max_iter": 3, "tol": None}
    dense = KernelPerceptron(**options).fit(X, y)
    sparse = KernelPerceptron(**options).fit(sp.csr_array(X), y)
    assert sp.issparse(sparse.support_vectors_)
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(sp.csr_array(X)), atol=1e-9)
    single = KernelPerceptron(**options).fit(X.astype(np.float32), y)
    assert single.support_vectors_.dtype == np.float32
    assert np.mean(single.predict(X) == dense.predict(X)) > 0.9


def test_warm_start_goes_on_where_it_stopped():
    X, y = np.round(10 * IRIS[0]), IRIS[1]
    options = {"kernel": "quadratic", "shuffle": False, "tol": None}
    whole = KernelPerceptron(max_iter=6, **options).fit(X, y)
    half = KernelPerceptron(max_iter=3, warm_start=True, **options).fit(X, y).fit(X, y)
    # The average counts one more epoch for a problem that had ended in the first half.
    np.testing.assert_allclose(half.decision_function(X, "last"), whole.decision_function(X, "last"), rtol=1e-12)
    with pytest.raises(InvalidInput, match="warm_start"):
        half.fit(X, y + 5)


def test_weights_are_factors_of_the_step():
    X, y = IRIS
    weight = (np.arange(150) % 3 > 0).astype(float)
    options = {"kernel": "quadratic", "shuffle": False, "max_iter": 4, "tol": None}
    with_zeros = KernelPerceptron(**options).fit(X, y, sample_weight=weight)
    without = KernelPerceptron(**options).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(with_zeros.decision_function(X), without.decision_function(X))
    kernel = {"kernel": "linear", "fit_intercept": True, "class_weight": {0: 3.0, 1: 0.5, 2: 1.0}}
    ours = KernelPerceptron(**options | kernel).fit(X, y, sample_weight=weight + 0.5)
    primal = Perceptron(shuffle=False, max_iter=4, tol=None, class_weight=kernel["class_weight"])
    primal.fit(X, y, sample_weight=weight + 0.5)
    np.testing.assert_allclose(ours.decision_function(X, "last"), primal.decision_function(X), rtol=1e-9, atol=1e-9)


# -------------------------------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize("multiclass", MODES)
@few
@given(data=integer_sets(classes=3, most_rows=30), cuts=st.lists(st.integers(1, 29), max_size=4))
def test_a_stream_in_chunks_is_one_pass(multiclass, data, cuts):
    X, label = data
    options = {"kernel": "quadratic", "multiclass": multiclass, "shuffle": False, "tol": None}
    whole = KernelPerceptron(max_iter=1, **options).fit(X, label)
    stream = KernelPerceptron(**options)
    for part in np.split(np.arange(len(X)), sorted(set(cuts))):
        if part.size:
            stream.partial_fit(X[part], label[part], classes=[0, 1, 2])
    assert stream.t_ == len(X)
    assert stream.mistakes_ == whole.mistakes_
    assert stream.support_.tolist() == whole.support_.tolist()
    for method in ("last", "average", "vote"):
        got, wanted = stream.decision_function(X, method), whole.decision_function(X, method)
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@few
@given(data=integer_sets(classes=4, most_rows=30))
def test_classes_may_appear_in_a_stream(multiclass, data):
    X, label = data
    order = np.argsort(label, kind="stable")
    announced, surprised = (KernelPerceptron(kernel="quadratic", multiclass=multiclass) for _ in range(2))
    for part in np.array_split(order, 7):
        if part.size:
            announced.partial_fit(X[part], label[part], classes=[0, 1, 2, 3])
            surprised.partial_fit(X[part], label[part])
    for method in ("last", "average", "vote"):
        got, wanted = surprised.decision_function(X, method), announced.decision_function(X, method)
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_joint_streams_take_new_classes_from_zero():
    X, y = IRIS
    model = KernelPerceptron(multiclass="joint", gamma=1.0)
    for part in np.array_split(np.argsort(y, kind="stable"), 5):
        model.partial_fit(X[part], y[part])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.dual_coef_.shape[0] == 3


# -------------------------------------------------------------------------------------------------------------- kernels


def test_gamma_has_scikit_learns_meaning():
    X, y = IRIS
    scale = 1 / (4 * X.var())
    assert KernelPerceptron().fit(X, y).gamma_ == pytest.approx(scale)
    assert KernelPerceptron(gamma="scale", kernel="poly", max_iter=2, tol=None).fit(X, y).gamma_ == pytest.approx(scale)
    assert KernelPerceptron().fit(sp.csr_array(X), y).gamma_ == pytest.approx(scale)
    assert KernelPerceptron(gamma="auto").fit(X, y).gamma_ == 0.25
    assert KernelPerceptron(kernel="poly", max_iter=2, tol=None).fit(X, y).gamma_ == 1.0


def test_a_spectrum_kernel_separates_two_families_of_strings():
    rng = np.random.default_rng(7)

    def family(motif):
        def one():
            letters = rng.choice(list("ACGT"), 30)
            at = rng.integers(0, 30 - len(motif))
            letters[at : at + len(motif)] = list(motif)
            return "".join(letters)

        return [one() for _ in range(60)]

    strings, y = family("GATTACAGAT") + family("CCGTTGCCAA"), ["gattaca"] * 60 + ["other"] * 60
    order = rng.permutation(120)
    strings, y = [strings[i] for i in order], [y[i] for i in order]
    model = KernelPerceptron(kernel=kmers(5), aggregate="average").fit(strings[:80], y[:80])
    assert model.run_.stop.name == "SEPARATED"
    assert np.mean(model.predict(strings[80:]) == y[80:]) > 0.9
    assert model.support_vectors_.tolist() == [strings[i] for i in model.support_]
    stream = KernelPerceptron(kernel=kmers(5))
    for i in range(0, 80, 9):
        stream.partial_fit(strings[i : min(i + 9, 80)], y[i : min(i + 9, 80)])
    one = KernelPerceptron(kernel=kmers(5), max_iter=1, tol=None, shuffle=False).fit(strings[:80], y[:80])
    assert stream.alpha_.tolist() == one.alpha_.tolist()


def test_a_precomputed_matrix_is_cut_by_cross_validation():
    X, y = IRIS
    X = X / X.std()
    gram = (1 + X @ X.T) ** 2
    found = cross_val_score(KernelPerceptron(kernel="precomputed", aggregate="average"), gram, y)
    wanted = cross_val_score(KernelPerceptron(kernel="quadratic", aggregate="average"), X, y)
    np.testing.assert_allclose(found, wanted)
    assert found.mean() > 0.9


# ------------------------------------------------------------------------------------------------------- what it learns


@pytest.mark.parametrize("kernel", ["quadratic", "poly", "rbf", "laplacian"])
def test_it_learns_what_no_hyperplane_separates(kernel):
    for X, y in (XOR, make_circles(200, noise=0.05, factor=0.5, random_state=0)):
        model = KernelPerceptron(kernel=kernel).fit(X, y)
        assert model.score(X, y) == 1.0
        assert model.run_.stop.name == "SEPARATED"
    X, y = make_moons(200, noise=0.1, random_state=0)
    if kernel != "quadratic":
        model = KernelPerceptron(kernel=kernel, gamma=2.0, aggregate="last", max_iter=5000, tol=None).fit(X, y)
        assert model.score(X, y) == 1.0


@given(st.integers(0, 2**32 - 1))
@few
def test_distinct_points_are_separable_under_any_labelling(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 2)), rng.integers(0, 2, 40)
    y[:2] = 0, 1
    options = {"gamma": 5.0, "fit_intercept": False, "aggregate": "last", "max_iter": 1000, "tol": None}
    model = KernelPerceptron(kernel="laplacian", **options).fit(X, y)
    assert model.score(X, y) == 1.0
    signs = 2 * y - 1
    length = np.sqrt(
        model.dual_coef_[0] @ pairwise.laplacian_kernel(*[model.support_vectors_] * 2, 5.0) @ model.dual_coef_[0]
    )
    margin = (signs * model.decision_function(X)).min() / length
    assert model.run_.updates <= (model.run_.radius / margin) ** 2 * (1 + 1e-9)


def test_labels_and_copies_survive():
    X, y = XOR[0], np.array(["no", "yes", "yes", "no"])
    for kernel in ("rbf", quadratic):
        model = KernelPerceptron(kernel=kernel).fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        assert copy.predict(X).tolist() == y.tolist()
        assert copy.partial_fit(X, y).classes_.tolist() == ["no", "yes"]


def test_digits_are_told_apart(real_data):
    X, y, X_test, y_test = load_mnist(real_data / "mnist")
    model = KernelPerceptron(kernel="poly", shuffle=False, max_iter=3, tol=None).fit(X[:4000], y[:4000])
    wrong = {
        method: np.mean(model.predict(X_test[:2000], method) != y_test[:2000]) for method in ("last", "average", "vote")
    }
    assert max(wrong.values()) < 0.085


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "sigmoid"}, "kernel='sigmoid'"),
        ({"degree": 1.5}, "degree=1.5"),
        ({"gamma": -1}, "gamma=-1"),
        ({"gamma": "wide"}, "gamma='wide'"),
        ({"coef0": np.inf}, "coef0"),
        ({"aggregate": "mean"}, "aggregate='mean'"),
        ({"budget": 0}, "budget=0"),
        ({"budget": 5, "aggregate": "vote"}, "drops some"),
        ({"budget_rule": "oldest"}, "budget_rule='oldest'"),
        ({"residual": 1.0}, "residual=1.0"),
        ({"cache_size": -1}, "cache_size=-1"),
        ({"kernel": lambda A, B: np.ones((2, 2))}, "neither two blocks"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "NaN"),
        ({"kernel": lambda A, B: np.ones((len(A), min(len(B), 3)))}, "It must give one of shape"),
        ({"kernel": lambda a, b: "alike" if a.ndim == 1 else None}, "not a number"),
        ({"kernel": "precomputed"}, "square"),
    ],
)
def test_impossible_parameters_are_refused_by_name(options, message):
    with pytest.raises(InvalidInput, match=message):
        KernelPerceptron(**options).fit(*IRIS)


def test_bad_objects_get_a_sentence():
    model = KernelPerceptron(kernel=kmers(2)).fit(["abab", "cdcd"], [0, 1])
    with pytest.raises(InvalidInput, match="other objects"):
        model.predict([[1.0, 2.0]])
    with pytest.raises(InvalidInput, match="0 sample"):
        model.predict([])
    with pytest.raises(InvalidInput, match="one label for each row"):
        KernelPerceptron(kernel=kmers(2)).fit(["a", "b"], [0, 1, 1])
    with pytest.raises(InvalidInput, match="sparse blocks"):
        KernelPerceptron(kernel=lambda a, b: float(a @ b)).fit(sp.csr_array(np.eye(3)), [0, 1, 1])
    with pytest.raises(InvalidInput, match="overflow"):
        KernelPerceptron(kernel="poly", degree=9, max_iter=2).fit(1e10 * np.ones((4, 3), np.float32), [0, 1, 0, 1])
    with pytest.raises(InvalidInput, match="aggregate='vote'"):
        KernelPerceptron(budget=5).fit(*IRIS).predict(IRIS[0], aggregate="vote")
    with pytest.raises(InvalidInput, match="Fit again"):
        KernelPerceptron(budget=5).fit(*IRIS).set_params(budget=6).partial_fit(*IRIS)
    with pytest.raises(AttributeError, match="has no stream"):
        KernelPerceptron(kernel="precomputed").partial_fit(np.eye(2), [0, 1])
    with pytest.raises(InvalidInput, match="balanced"):
        KernelPerceptron(class_weight="balanced").partial_fit(*IRIS)


@pytest.mark.parametrize("kind", ["array", "sparse", "object"])
@pytest.mark.parametrize("options", [{}, {"budget": 6}, {"budget": 6, "budget_rule": "random"}])
def test_one_row_is_predicted_and_learned_like_a_block_of_one(kind, options):
    rows = np.random.default_rng(0).integers(-3, 4, (40, 3)).astype(float)
    y = np.where(rows[:, 0] * rows[:, 1] > 0, "same", "other")
    one_row = {
        "array": rows.__getitem__,
        "sparse": lambda i: sp.csr_array(rows[[i]]),
        "object": lambda i: tuple(rows[i]),
    }
    block_of = {"array": lambda i: rows[[i]], "sparse": one_row["sparse"], "object": lambda i: [tuple(rows[i])]}
    kernel = "rbf" if kind != "object" else lambda a, b: float((1 + np.dot(a, b)) ** 2)
    one, block = (KernelPerceptron(kernel=kernel, gamma=0.5, **options) for _ in range(2))
    assert one.predict_one(one_row[kind](0)) is None
    for i in range(40):
        before = block.mistakes_ if i else 0
        block.partial_fit(block_of[kind](i), y[[i]])
        assert one.learn_one(one_row[kind](i), y[i]) == (block.mistakes_ > before)
        found = one.predict_one(one_row[kind](i))
        assert (found, type(found)) == (block.predict(block_of[kind](i))[0], str)
    assert one.dual_coef_.tolist() == block.dual_coef_.tolist()


class Graph:
    """A graph that has a length and items, as those of networkx do."""

    def __init__(self, *edges):
        self.adjacent = {v: [] for edge in edges for v in edge}
        for a, b in edges:
            self.adjacent[a].append(b)
            self.adjacent[b].append(a)

    def __len__(self):
        return len(self.adjacent)

    def __getitem__(self, v):
        return self.adjacent[v]

    @property
    def degrees(self):
        return np.bincount([len(others) for others in self.adjacent.values()], minlength=4)


def common_degrees(a, b):
    return float(a.degrees @ b.degrees)


CYCLES = [Graph((0, 1), (1, 2), (2, 0)), Graph((0, 1), (1, 2), (2, 3), (3, 0))]
STARS = [Graph((0, 1), (0, 2), (0, 3)), Graph((0, 1))]


@pytest.mark.parametrize("options", [{}, {"budget": 3}, {"budget": 3, "budget_rule": "random"}], ids=str)
def test_objects_that_look_like_lists_are_learned_one_at_a_time(options):
    graphs, y = [*CYCLES, *STARS], ["cycle", "cycle", "star", "star"]
    whole = KernelPerceptron(kernel=common_degrees, **options).partial_fit(graphs, y)
    one = KernelPerceptron(kernel=common_degrees, **options)
    for graph, label in zip(graphs, y, strict=True):
        one.learn_one(graph, label)
    assert one.dual_coef_.tolist() == whole.dual_coef_.tolist()
    for graph, label in zip(graphs, whole.predict(graphs), strict=True):
        assert one.predict_one(graph) == label
        assert one.explain(graph).sums == whole.explain(graph).sums
    assert KernelPerceptron(kernel=common_degrees).fit(CYCLES[:1] + STARS[:1], y[1:3]).support_vectors_.ndim == 1


def test_objects_may_be_matrices_and_sequences_of_any_length():
    def trace(A, B):
        return float(np.trace(A) * np.trace(B))

    matrices = [np.eye(2), -np.eye(2), 2 * np.eye(2)]
    model = KernelPerceptron(kernel=trace).fit(matrices, [1, 0, 1])
    assert [model.predict_one(A) for A in matrices] == [1, 0, 1]
    assert [trace(np.eye(2), matrices[one.row]) for one in model.explain(np.eye(2)).sums[0].contributions] == [-4.0]

    def lengths(s, t):
        return float((len(s) - 2.5) * (len(t) - 2.5))

    sequences = [[1, 2], [1, 2, 3], [5, 6], [7, 8, 9]]
    model = KernelPerceptron(kernel=lengths).fit(sequences, [0, 1, 0, 1])
    assert model.predict(sequences[::2]).tolist() == [0, 0]  # of equal lengths, but not rows of numbers
    assert model.predict_one([4, 4, 4]) == 1


@pytest.mark.parametrize("options", [{}, {"budget": 6}, {"budget": 6, "budget_rule": "random"}], ids=str)
@pytest.mark.parametrize(
    ("kernel", "as_row"),  # for a function a dict may be any object
    [
        ("rbf", lambda frame, i: frame.iloc[i]),
        ("rbf", lambda frame, i: frame.iloc[i].to_dict()),
        (pairwise.rbf_kernel, lambda frame, i: frame.iloc[i]),
    ],
    ids=["row", "dict", "function"],
)
def test_a_row_of_a_data_frame_goes_by_its_names(kernel, options, as_row):
    pandas = pytest.importorskip("pandas")
    rows = np.random.default_rng(0).integers(-3, 4, (40, 3)).astype(float)
    y = np.where(rows[:, 0] * rows[:, 1] > 0, "same", "other")
    frame = pandas.DataFrame(rows, columns=["a", "b", "c"])
    turned = frame[["c", "a", "b"]]
    whole = KernelPerceptron(kernel=kernel, gamma=0.5, **options).partial_fit(frame, y)
    one = KernelPerceptron(kernel=kernel, gamma=0.5, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(40):
            one.learn_one(as_row(frame if i == 0 else turned, i), y[i])
        np.testing.assert_allclose(one.dual_coef_, whole.dual_coef_, rtol=1e-9)
        assert one.feature_names_in_.tolist() == ["a", "b", "c"]
        assert [one.predict_one(as_row(turned, i)) for i in range(40)] == whole.predict(frame).tolist()
        assert whole.predict_one(frame.iloc[[3]]) == whole.predict_one(
            {"a": rows[3, 0], "b": rows[3, 1], "c": rows[3, 2]}
        )
        assert one.explain(as_row(turned, 0)).sums == one.explain(frame.iloc[[0]]).sums
    for wrong, message in (
        ({"a": 1.0, "z": 2.0}, "does not have: 'z'"),
        ({"a": "one"}, "not a number"),
        (frame.iloc[:2], "x has 2 rows. Pass one row"),
    ):
        for call in (one.predict_one, one.explain, lambda x: one.learn_one(x, "same")):
            with pytest.raises(InvalidInput, match=message):
                call(wrong)
    with pytest.raises(InvalidInput, match="have no names"):
        KernelPerceptron().fit(rows, y).predict_one({"a": 1.0})


@pytest.mark.parametrize("options", [{}, *({"budget": 9, "budget_rule": rule} for rule in BUDGET_RULES)], ids=str)
def test_nothing_is_learned_from_similarities_that_overflow(options):
    rows, y = np.random.default_rng(0).standard_normal((60, 4)), np.arange(60) % 3
    for learn in ("fit", "partial_fit"):
        model = KernelPerceptron(kernel="poly", **options)
        with pytest.raises(InvalidInput, match=r"\(1 x.z \+ 1\)\^3 overflows float64"):
            getattr(model, learn)(1e60 * rows, y)
        assert not hasattr(model, "dual_coef_")
    model.partial_fit(rows, y)
    before = model.dual_coef_.tolist()
    for call in (model.predict, model.decision_function, model.explain, lambda x: model.partial_fit(x, [0])):
        with pytest.raises(InvalidInput, match="overflow"):
            call(np.full((1, 4), 1e110))
    assert model.dual_coef_.tolist() == before


@pytest.mark.parametrize("aggregate", ["last", "average"])
def test_a_score_that_overflows_is_refused(aggregate):
    model = KernelPerceptron(kernel="precomputed", aggregate=aggregate).fit(np.eye(3), [1, 1, 0])
    assert model.predict([[1e307, 1e307, 1.0]]) == 1
    with pytest.raises(InvalidInput, match="The scores overflowed"):
        model.predict([[1.5e308, 1.5e308, 1.0]])


@pytest.mark.parametrize(
    "later", [{"budget": None}, {"budget": 7}, {"budget_rule": "projectron"}, {"budget_rule": "arow"}]
)
def test_a_stream_does_not_go_on_with_another_budget(later):
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = KernelPerceptron(budget=5, budget_rule="forgetron").partial_fit(X, y)
    with pytest.raises(InvalidInput, match="not those that the model was trained with"):
        model.set_params(**later).partial_fit(X, y)


def test_the_indices_of_the_vectors_that_are_shown_cannot_be_overwritten():
    X, y = IRIS
    model = KernelPerceptron(max_iter=3).fit(sp.csr_array(X), y)
    before = model.predict(X)
    for part in ("indices", "indptr", "data"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model.support_vectors_, part)[:] = 10**6
    model.support_vectors_.indices = model.support_vectors_.indices + 10**6  # which changes only what is shown
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("budget", [10**400, 2**60])
def test_a_budget_that_no_memory_holds_is_refused(budget):
    with pytest.raises(InvalidInput, match="Choose a smaller budget"):
        KernelPerceptron(budget=budget).fit(*XOR)


@pytest.mark.parametrize("rule", BUDGET_RULES)
def test_the_memory_of_a_budget_includes_copies_and_blocks(rule):
    there = physical_memory()
    budget = there // 500 if rule == "random" else int(np.sqrt(there / 8 / 1.5))  # one copy of each array fits
    with pytest.raises(InvalidInput, match="Choose a smaller budget"):
        KernelPerceptron(budget=budget, budget_rule=rule).fit(*IRIS)


def test_a_cache_without_a_limit_takes_no_more_than_there_is():
    X = np.linspace(-1, 1, int(1.1 * np.sqrt(physical_memory() / 8))).reshape(-1, 1)  # a Gram matrix would not fit
    model = KernelPerceptron(kernel=lambda A, B: A @ B.T, cache_size=1e12, max_iter=2, tol=None).fit(X, X[:, 0] > 0)
    assert model.score(X, X[:, 0] > 0) > 0.999


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize(("part", "value"), [("indices", 10**6), ("indices", -5), ("indptr", 10**6), ("indptr", -5)])
def test_vectors_that_are_overwritten_in_place_are_refused(kernel, part, value):
    X, y = sp.csr_array(IRIS[0]), IRIS[1]
    model = KernelPerceptron(kernel=kernel, max_iter=3).fit(X, y)
    getattr(model._expansion.vectors, part)[:] = value
    for call in (model.predict, model.explain, lambda X: model.partial_fit(X, [0])):
        with pytest.raises(InvalidInput, match="The learned arrays were replaced: the vectors"):
            call(X[:1])


KERNELS = {
    "linear": lambda X: X @ X.T,
    "quadratic": lambda X: (1 + X @ X.T) ** 2,
    "rbf": lambda X: np.exp(-0.2 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)),
    "laplacian": lambda X: np.exp(-0.2 * np.abs(X[:, None, :] - X[None, :, :]).sum(axis=2)),
}
X = np.random.default_rng(0).standard_normal((60, 2))
Y = (X[:, 0] * X[:, 1] > 0.2).astype(int)


def noisy(classes=2):
    X, y = make_classification(300, 6, n_informative=4, n_classes=classes, flip_y=0.3, random_state=0)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_bias_is_a_one_in_the_kernel(fit_intercept):
    options = {"gamma": 1.0, "max_iter": 5, "tol": None}
    model = KernelPerceptron(fit_intercept=fit_intercept, **options).fit(X, Y)
    gram = np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)) + fit_intercept
    same = KernelPerceptron(kernel="precomputed", **options).fit(gram, Y)
    assert model.alpha_.tolist() == same.alpha_.tolist()
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(gram), rtol=1e-9)


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_a_chosen_aggregate_is_what_predictions_go_by(aggregate):
    model = KernelPerceptron(aggregate=aggregate).fit(X, Y)
    assert model.decision_function(X).tolist() == model.decision_function(X, aggregate).tolist()


@pytest.mark.parametrize("rows", [10, 60, 300])
@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf", "laplacian"])
@pytest.mark.parametrize("tol", [1e-3, None])
def test_the_defaults_are_the_kernel_perceptron_of_the_lectures_whatever_the_data(kernel, rows, tol):
    X, y = noisy()
    X, y = X[:rows], y[:rows]
    model = KernelPerceptron(kernel=kernel, gamma=0.2, shuffle=False, max_iter=8, tol=tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    gram = KERNELS[kernel](X)
    alpha, signs = np.zeros(rows), 2 * y - 1
    for _ in range(model.n_iter_):
        for i in range(rows):
            alpha[i] += signs[i] * (gram[i] @ (alpha * signs)) <= 0
    found = np.zeros(rows)
    found[model.support_] = model.alpha_[0]
    assert found.tolist() == alpha.tolist()
    assert model.run_.updates == sum(model.run_.mistakes) == alpha.sum()
    np.testing.assert_allclose(model.decision_function(X), gram @ (alpha * signs), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"kernel": "quadratic"}, {"budget": 50}])
def test_several_classes_are_learned_one_against_the_rest(options):
    model = KernelPerceptron(max_iter=3, tol=None, **options).fit(*noisy(4))
    assert model.dual_coef_.shape[0] == 4


def test_a_stream_has_the_margin_but_no_limit():
    X, y = noisy()
    stream = KernelPerceptron(gamma=0.2).partial_fit(X, y)
    assert stream.run_.updates == stream.mistakes_
    assert KernelPerceptron(gamma=0.2, margin=1.0).partial_fit(X, y).run_.updates > stream.mistakes_


def test_where_it_does_not_converge_the_remedy_for_noise_is_named():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="use margin=4, max_updates=8"):
        KernelPerceptron(max_iter=2).fit(X, y)
    assert "margin=4 and max_updates=8 may help" in KernelPerceptron().fit(X, y).stop_reason_
    with pytest.warns(ConvergenceWarning) as seen:
        KernelPerceptron(max_iter=2, margin=4, max_updates=8).fit(X, y)
    assert not any("noisy" in str(one.message) for one in seen)


@pytest.mark.parametrize("options", [{"margin": 1.0}, {"max_updates": 3}])
def test_a_budget_has_neither_margin_nor_limit(options):
    with pytest.raises(InvalidInput, match="have no meaning on a budget"):
        KernelPerceptron(budget=9, **options).fit(X, Y)
    assert KernelPerceptron(budget=9).fit(X, Y).support_.size <= 9


def test_the_projectron_takes_a_margin():
    none, one = (KernelPerceptron(budget=9, budget_rule="projectron", margin=m).partial_fit(X, Y) for m in (0.0, 1.0))
    assert one.run_.updates > none.run_.updates


# Sets on which the perceptron of the lectures, or one class against all others, falls short of it.
HARD = {
    "noise": make_classification(400, 10, n_informative=5, flip_y=0.4, random_state=3),
    "few": make_classification(130, 8, n_informative=3, flip_y=0.3, random_state=1),
    "rings": make_gaussian_quantiles(n_samples=400, n_features=4, n_classes=3, random_state=1),
    "moons": make_moons(400, noise=0.4, random_state=1),
    "blobs": make_blobs(400, centers=5, cluster_std=3.0, random_state=1),
}


@pytest.mark.parametrize("name", HARD)
def test_a_soft_margin_by_pairs_is_close_to_a_support_vector_machine(name):
    ours, theirs = (
        cross_val_score(
            make_pipeline(StandardScaler(), model), *HARD[name], cv=ShuffleSplit(12, test_size=0.25, random_state=0)
        ).mean()
        for model in (KernelPerceptron(margin=4, max_updates=8, multiclass="ovo-vote"), SVC())
    )
    assert ours > theirs - 0.02


def test_impossible_choices_are_refused_by_name():
    for name, value in (
        ("aggregate", "mean"),
        ("tol", "small"),
        ("margin", -1.0),
        ("max_updates", 0),
        ("multiclass", "all"),
    ):
        assert name in KernelPerceptron.declared
        with pytest.raises(InvalidInput, match=name):
            KernelPerceptron(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("rule", BUDGET_RULES)
def test_a_memory_that_is_overwritten_in_place_is_refused(rule):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = KernelPerceptron(budget=5, budget_rule=rule, max_iter=1).partial_fit(X, X[:, 0] > 0)
    model._memory.count[0] = 10**6
    with pytest.raises(InvalidInput, match="1000000 of"):
        model.learn_one(X[0], True)


# -------------------------------------------------------------------------------------------------------- explanations

WAYS_TO_LEARN = [
    {},
    {"aggregate": "average"},
    {"fit_intercept": True},
    {"kernel": "laplacian", "margin": 1.0, "max_updates": 2.0},
    *({"budget": 12, "budget_rule": rule} for rule in BUDGET_RULES),
    *({"budget": 12, "budget_rule": rule, "aggregate": "average"} for rule in ("arow", "projectron")),
]


@pytest.mark.parametrize("options", WAYS_TO_LEARN, ids=str)
@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
@pytest.mark.parametrize("classes", [2, 3])
def test_an_explanation_adds_up_similarities_with_training_rows(options, multiclass, classes):
    X, y = IRIS[0][50 * (3 - classes) :], IRIS[1][50 * (3 - classes) :]
    model = KernelPerceptron(multiclass=multiclass, max_iter=5, tol=None, gamma=0.3, **options).fit(X, y)
    for x in X[::20]:
        sums = model.explain(x).sums
        scores = np.ravel(model.decision_function([x]))
        assert [one.label for one in sums] == model.classes_[-scores.size :].tolist()
        for one, score in zip(sums, scores, strict=True):
            for part in one.contributions:
                distance = np.subtract(X[part.row], x)
                laplacian = options.get("kernel") == "laplacian"
                power = np.abs(distance).sum() if laplacian else distance @ distance
                assert part.label == y[part.row]
                assert part.similarity == pytest.approx(np.exp(-0.3 * power))
                assert part.contribution == part.coefficient * part.similarity
            assert sorted(part.row for part in one.contributions) == sorted(model.support_.tolist())
            total = sum(part.contribution for part in one.contributions) + one.bias
            assert total == pytest.approx(score, rel=1e-9, abs=1e-9)
            assert one.score == pytest.approx(score, rel=1e-9, abs=1e-9)
            bias = sum(part.coefficient for part in one.contributions) if options.get("fit_intercept") else 0.0
            assert one.bias == pytest.approx(bias)


def test_the_coefficients_of_an_explanation_are_the_counts_with_the_signs_of_the_labels():
    model = KernelPerceptron(kernel=quadratic, shuffle=False).fit(XOR[0], XOR[1])
    (one,) = model.explain(np.array([2.0, 3.0]), top=3).sums
    parts = [(count * (2 * y - 1), quadratic(x, (2, 3))) for count, x, y in zip(model.alpha_[0], *XOR, strict=True)]
    parts.sort(key=lambda part: -abs(part[0] * part[1]))
    assert [(part.coefficient, part.similarity) for part in one.contributions] == parts[:3]
    assert one.others == parts[3][0] * parts[3][1]
    assert str(one).startswith("1 ")
    assert f"row 3 (0) {one.contributions[0].contribution:.3g}" in str(one)


@pytest.mark.parametrize("options", [{}, {"budget": 6}, {"budget": 6, "budget_rule": "forgetron"}], ids=str)
@pytest.mark.parametrize("multiclass", MODES)
def test_the_stored_rows_keep_their_labels_while_classes_appear(options, multiclass):
    X, y = IRIS[0], np.array(["b", "c", "a"])[IRIS[1]]  # a new class may sort before those that are known
    model = KernelPerceptron(multiclass=multiclass, gamma=0.3, **options)
    for start in range(0, 150, 7):
        model.partial_fit(X[start : start + 7], y[start : start + 7])
        if model.classes_.size > 1:
            (*_, one) = model.explain(X[start]).sums
            assert [part.label for part in one.contributions] == [y[part.row] for part in one.contributions]


@pytest.mark.parametrize("options", [{}, {"budget": 6}, {"budget": 6, "budget_rule": "random"}], ids=str)
def test_a_warm_start_keeps_the_labels_of_the_rows_before(options):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 2)), rng.integers(0, 2, 16)
    label_of = {tuple(x): label for x, label in zip(X, y, strict=True)}
    model = KernelPerceptron(warm_start=True, max_iter=1, tol=None, gamma=1.0, **options).fit(X[:8], y[:8])
    model.fit(X[8:], y[8:])
    assert len(model.support_vectors_) > 4
    for vector in model.support_vectors_:
        (itself,) = [part for part in model.explain(vector).sums[0].contributions if part.similarity > 1 - 1e-12]
        assert itself.label == label_of[tuple(vector)]


def test_any_objects_and_a_matrix_of_similarities_are_explained():
    words = ["banana", "ananas", "bandana", "rhythm", "myth", "thyme"]
    y = ["fruit"] * 3 + ["word"] * 3
    similarity = kmers(2)
    model = KernelPerceptron(kernel=similarity).fit(words, y)
    K = [[similarity(s, t) for t in words] for s in [*words, "cabana"]]
    by_matrix = KernelPerceptron(kernel="precomputed").fit(K[:-1], y)
    assert str(model.explain("cabana")) == str(by_matrix.explain(K[-1]))
    for part in model.explain("cabana").sums[0].contributions:
        assert part.similarity == similarity(words[part.row], "cabana")


def test_what_cannot_be_explained_is_refused_with_a_sentence():
    model = KernelPerceptron(aggregate="vote").fit(*IRIS)
    with pytest.raises(InvalidInput, match="vote of many f is not a sum over rows"):
        model.explain(IRIS[0][0])
    assert len(model.explain(IRIS[0][:1], aggregate="average").sums) == 3
    with pytest.raises(InvalidInput, match="x has 2 rows"):
        model.explain(IRIS[0][:2], aggregate="last")
    with pytest.raises(InvalidInput, match="top=-1"):
        model.explain(IRIS[0][0], top=-1, aggregate="last")
