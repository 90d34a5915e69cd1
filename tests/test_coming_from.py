"""What docs/how-to/coming-from.md says of other tools, held against the tools themselves."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, LinearSVC

from rosenblatt import (
    AdalineRegressor,
    AssociationUnits,
    AveragedPerceptron,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressive,
    Perceptron,
    SoftMargin,
    TextHasher,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # of the other packages

random = np.random.default_rng(0)
X = random.normal(size=(300, 4))
TARGET = X @ [1.0, -2.0, 0.5, 0.0] + 0.8
NUMBERS = TARGET + random.normal(size=300) / 2
LABELS = NUMBERS > 0
IN_ORDER = {"shuffle": False, "max_iter": 5, "tol": None}


# -------------------------------------------------------------------------------------------------------- scikit-learn


def passive_aggressive_of_scikit_learn(**settings):
    module = pytest.importorskip("sklearn.linear_model")
    if not hasattr(module, "PassiveAggressiveClassifier"):
        pytest.skip("scikit-learn 1.10 has removed the class")
    return module.PassiveAggressiveClassifier(**settings)


CONSTANT = {"learning_rate": "constant", "penalty": None}
SAME_WEIGHTS = [
    (lambda: TheirPerceptron(**IN_ORDER), Perceptron(keep="last", **IN_ORDER), LABELS),
    (
        lambda: SGDClassifier(loss="perceptron", average=True, eta0=1, **CONSTANT, **IN_ORDER),
        AveragedPerceptron(**IN_ORDER),
        LABELS,
    ),
    *(
        (
            lambda loss=loss: passive_aggressive_of_scikit_learn(C=0.5, loss=loss, fit_intercept=False, **IN_ORDER),
            PassiveAggressive(C=0.5, loss=loss, fit_intercept=False, keep="last", **IN_ORDER),
            LABELS,
        )
        for loss in ("hinge", "squared_hinge")
    ),
    (
        lambda: SGDRegressor(eta0=0.01, **CONSTANT, **IN_ORDER),
        AdalineRegressor(eta0=0.01, normalised=False, **IN_ORDER),
        NUMBERS,
    ),
]


@pytest.mark.parametrize(("make", "ours", "target"), SAME_WEIGHTS, ids=lambda value: type(value).__name__)
def test_weights_are_those_of_scikit_learn(make, ours, target):
    theirs = make().fit(X, target)
    ours.fit(X, target)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert np.allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)


def test_with_an_intercept_the_constant_counts_in_the_length_of_a_row():
    theirs = passive_aggressive_of_scikit_learn(C=100.0, shuffle=False, max_iter=1, tol=None).fit(X[:2], [0, 1])
    ours = PassiveAggressive(C=100.0, intercept_scaling=1, keep="last", shuffle=False, max_iter=1, tol=None)
    ours.fit(X[:2], [0, 1])
    assert not np.allclose(ours.coef_, theirs.coef_)
    # Ours projects the last row onto its margin of one; theirs, whose step moves the intercept too, goes beyond.
    assert ours.decision_function(X[1:2]) == pytest.approx([1.0])
    assert theirs.decision_function(X[1:2]) > 1.1


def penalised_loss(model, loss, alpha):
    margins = np.where(LABELS, 1, -1) * model.decision_function(X)
    losses = {
        "hinge": np.maximum(0, 1 - margins),
        "log_loss": np.log1p(np.exp(-margins)),
        "modified_huber": np.where(margins < -1, -4 * margins, np.maximum(0, 1 - margins) ** 2),
    }
    return losses[loss].mean() + alpha / 2 * np.sum(model.coef_**2)


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "modified_huber"])
def test_the_objective_of_sgd_is_minimised(loss):
    alpha = 0.01
    ours = SoftMargin(loss=loss, alpha=alpha, random_state=0).fit(X, LABELS)
    sgd = SGDClassifier(loss=loss, alpha=alpha, random_state=0, tol=None, max_iter=200).fit(X, LABELS)
    assert penalised_loss(ours, loss, alpha) < 1.02 * penalised_loss(sgd, loss, alpha)
    if loss == "log_loss":
        exact = LogisticRegression(C=1 / (len(X) * alpha)).fit(X, LABELS)
        assert penalised_loss(ours, loss, alpha) < 1.01 * penalised_loss(exact, loss, alpha)


def test_probabilities_of_the_same_scores_are_those_of_sgd():
    theirs = SGDClassifier(loss="modified_huber", random_state=0).fit(X, LABELS)
    ours = SoftMargin(loss="modified_huber").fit(X, LABELS)
    theirs.coef_, theirs.intercept_ = ours.coef_, ours.intercept_
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X))


def test_a_hard_margin_is_that_of_linear_svc():
    apart = np.abs(TARGET) > 0.3
    theirs = LinearSVC(C=1e10, max_iter=100_000).fit(X[apart], TARGET[apart] > 0)
    ours = MaximumMargin().fit(X[apart], TARGET[apart] > 0)
    both = [np.r_[model.coef_[0], model.intercept_] for model in (ours, theirs)]
    cosine = both[0] @ both[1] / np.linalg.norm(both[0]) / np.linalg.norm(both[1])
    assert cosine == pytest.approx(1.0, abs=1e-4)


def test_a_kernel_perceptron_is_about_as_accurate_as_svc():
    learned, new, labels, new_labels = train_test_split(*load_digits(return_X_y=True), random_state=0)
    ours = KernelPerceptron(margin=4, max_updates=4, multiclass="ovo-vote").fit(learned, labels)
    theirs = SVC(kernel="rbf", C=1).fit(learned, labels)
    assert ours.score(new, new_labels) == pytest.approx(theirs.score(new, new_labels), abs=0.01)


def test_hashed_texts_have_no_signs_and_logarithms_of_counts():
    text = ["money money money noon"]
    ours = TextHasher(normalise=False).fit_transform(text)
    theirs = HashingVectorizer(n_features=2**18, norm=None).transform(text)
    assert ours.shape == theirs.shape
    assert sorted(ours.data) == pytest.approx([1.0, 1 + np.log(3)])
    assert sorted(abs(theirs.data)) == [1.0, 3.0]


def test_units_approximate_the_kernel_of_rbf_sampler_as_closely():
    kernel = rbf_kernel(X, gamma=1 / (X.shape[1] * X.var()))
    errors = []
    for units in (AssociationUnits(), RBFSampler(n_components=2000, gamma="scale", random_state=0)):
        mapped = units.fit_transform(X)
        errors.append(np.sqrt(np.mean((mapped @ mapped.T - kernel) ** 2)))
    assert errors[0] < 1.1 * errors[1]


# --------------------------------------------------------------------------------------------------------------- river


def dicts():
    for row, label, number in zip(X.tolist(), LABELS.tolist(), NUMBERS.tolist(), strict=True):
        yield dict(zip("abcd", row, strict=True)), label, number


def streamed(theirs, ours, of_numbers=False):
    """Return the weights of both, with the intercept last, after a stream of dicts."""
    for row, label, number in dicts():
        for model in (theirs, ours):
            model.learn_one(row, number if of_numbers else label)
    return [*(theirs.weights[name] for name in "abcd"), theirs.intercept], [
        *ours.coef_.ravel(),
        *np.ravel(ours.intercept_),
    ]


def test_weights_are_those_of_river():
    models = pytest.importorskip("river.linear_model")
    sgd = pytest.importorskip("river.optim").SGD
    alone = {"fit_intercept": False}
    for theirs, ours in [
        (models.Perceptron(), Perceptron()),
        (models.PAClassifier(C=0.5, mode=1, learn_intercept=False), PassiveAggressive(C=0.5, **alone)),
        (
            models.PAClassifier(C=0.5, mode=2, learn_intercept=False),
            PassiveAggressive(C=0.5, loss="squared_hinge", **alone),
        ),
        (
            models.LogisticRegression(sgd(1e-3), intercept_lr=1e-3),
            SoftMargin(loss="logistic", penalty=None, schedule="constant", eta0=1e-3),
        ),
    ]:
        both = streamed(theirs, ours)
        assert both[0] == pytest.approx(both[1], rel=1e-5), ours
    regressions = models.LinearRegression(sgd(0.01), intercept_lr=0.01), AdalineRegressor(eta0=0.02, normalised=False)
    both = streamed(*regressions, of_numbers=True)
    assert both[0] == pytest.approx(both[1])


def test_long_steps_are_shortened_before_they_overshoot():
    models = pytest.importorskip("river.linear_model")
    theirs = models.LogisticRegression(pytest.importorskip("river.optim").SGD(100.0), intercept_lr=100.0)
    ours = SoftMargin(loss="logistic", penalty=None, schedule="constant", eta0=100.0)
    both = streamed(theirs, ours)
    assert np.linalg.norm(both[1]) < np.linalg.norm(both[0]) / 10


def test_with_the_default_schedule_eta0_has_no_effect():
    first, second = (SoftMargin(loss="logistic", eta0=eta0) for eta0 in (0.01, 1.0))
    for row, label, _ in dicts():
        first.learn_one(row, label)
        second.learn_one(row, label)
    assert np.array_equal(first.coef_, second.coef_)


def test_a_batch_is_one_step_in_river_and_rows_are_steps_here():
    perceptron = pytest.importorskip("river.linear_model").Perceptron
    frames = pytest.importorskip("pandas")
    theirs, ours, rows = perceptron(), Perceptron(), Perceptron()
    theirs.learn_many(frames.DataFrame(X, columns=list("abcd")), frames.Series(LABELS))
    ours.partial_fit(X, LABELS)
    singly = streamed(perceptron(), rows)[0]
    assert [*ours.coef_[0], *ours.intercept_] == pytest.approx(singly)
    assert [theirs.weights[name] for name in "abcd"] != pytest.approx(singly[:4], rel=0.1)


def test_before_the_first_row_there_is_no_class():
    theirs = pytest.importorskip("river.linear_model").Perceptron()
    assert theirs.predict_one({"a": 1.0}) is False
    assert Perceptron().predict_one({"a": 1.0}) is None


def test_several_classes_need_no_wrapper():
    models, wrappers = pytest.importorskip("river.linear_model"), pytest.importorskip("river.multiclass")
    theirs, ours = wrappers.OneVsRestClassifier(models.Perceptron()), Perceptron()
    images, digits = load_digits(return_X_y=True)
    right = np.zeros(2)
    for image, digit in zip(images[:600].tolist(), digits.tolist(), strict=False):
        row = {str(k): value for k, value in enumerate(image)}
        for k, model in enumerate((theirs, ours)):
            right[k] += model.predict_one(row) == digit
            model.learn_one(row, digit)
    assert right[1] >= right[0] - 6  # one in a hundred: ties go another way


# ------------------------------------------------------------------------------------------------------- Vowpal Wabbit


UNCLIPPED = "--min_prediction -100 --max_prediction 100"  # not to the labels seen so far


@pytest.mark.parametrize(
    ("theirs", "ours", "target"),
    [
        ("--loss_function hinge -l 1", "--learner perceptron --margin 1 --eta0 1", np.where(LABELS, 1, -1)),
        (
            f"--loss_function squared -l 0.01 {UNCLIPPED}",
            "--learner adaline-regressor --eta0 0.02 --normalised no",
            NUMBERS,
        ),
    ],
    ids=["hinge", "squared"],
)
def test_scores_are_those_of_vowpal_wabbit(theirs, ours, target, tmp_path):
    pytest.importorskip("vowpalwabbit", reason="pip install vowpalwabbit")
    rows = (" ".join(f"{name}:{value:.6f}" for name, value in row.items()) for row, *_ in dicts())
    lines = [f"{label} |f {row}\n" for label, row in zip(target, rows, strict=True)]
    (tmp_path / "data.vw").write_text("".join(lines))

    def run(package, *words):
        command = [sys.executable, "-m", package, *words]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    run("vowpalwabbit", *["-d", "data.vw", "-f", "theirs", "--quiet", "--sgd", "--power_t", "0"], *theirs.split())
    run("vowpalwabbit", *["-d", "data.vw", "-t", "-i", "theirs", "--quiet", "-r", "theirs.txt"])
    run("rosenblatt.cli.main", *["train", "data.vw", "--model", "ours", "--passes", "1", "--quiet"], *ours.split())
    scores = [] if "regressor" in ours else ["--scores"]
    run("rosenblatt.cli.main", *["predict", "data.vw", "--model", "ours", "--output", "ours.txt"], *scores)
    expected = [float(line) for line in (tmp_path / "theirs.txt").read_text().splitlines()]
    found = [float(line.split()[-1]) for line in (tmp_path / "ours.txt").read_text().splitlines()]
    assert len(found) == len(expected) == len(X)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)
