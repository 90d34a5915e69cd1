"""What a report says is what the model does."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rosenblatt import AdalineRegressor, AveragedPerceptron, KernelPerceptron, Perceptron
from rosenblatt.datasets import logical, noisy
from rosenblatt.errors import InvalidInput
from rosenblatt.report import findings
from rosenblatt.report.findings import examine

X, Y = noisy(80, 4, flip=0.1)


def test_evaluations_count_what_is_predicted_on_all_rows_given():
    model = Perceptron(max_iter=5).fit(X[:50], Y[:50])
    found = examine(model, X[:50], Y[:50], X[50:], Y[50:])
    assert [one.name for one in found.evaluations] == ["training rows", "held-out rows"]
    for one, rows in zip(found.evaluations, (slice(50), slice(50, None)), strict=True):
        assert one.accuracy == pytest.approx(model.score(X[rows], Y[rows]))
        assert one.errors == (model.predict(X[rows]) != Y[rows]).sum()
        assert (one.margins > 0).sum() <= one.rows - one.errors


def test_a_plain_perceptron_comes_with_its_theory_and_others_with_a_certificate():
    model = Perceptron(shuffle=False).fit(*logical("or"))
    found = examine(model, *logical("or"))
    assert (found.theory.bound, found.theory.mistakes) == (27, 9)
    assert found.certificate is found.theory.certificate
    found = examine(Perceptron(penalty="l2").fit(*logical("or")), *logical("or"))
    assert (found.theory, found.certificate.verdict) == (None, "separable")
    found = examine(AveragedPerceptron().fit(*logical("xor")), *logical("xor"))
    assert (found.theory, found.certificate.verdict) == (None, "overlapping")


def test_a_pipeline_is_seen_through_its_last_step():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(StandardScaler(), Perceptron(max_iter=5)).fit(frame, Y)
    found = examine(model, frame, Y)
    assert type(found.model) is Perceptron
    assert found.names == list("abcd")
    assert np.allclose(found.rows, StandardScaler().fit_transform(X))
    assert found.run is model[-1].run_


def test_sparse_rows_stay_sparse():
    found = examine(Perceptron(max_iter=5).fit(sp.csr_matrix(X), Y), sp.csr_matrix(X), Y)
    assert sp.issparse(found.rows)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), SVC(decision_function_shape="ovo"), KernelPerceptron(kernel="rbf")]
)
def test_other_classifiers_are_described_as_far_as_they_go(model):
    labels = np.arange(80) % 4
    found = examine(model.fit(X, labels), X, labels)
    assert found.evaluations[0].rows == 80
    assert (found.run is None) == (not isinstance(model, KernelPerceptron))


def test_large_data_is_not_proved_in_passing(monkeypatch):
    monkeypatch.setattr(findings, "MAX_PROVED_ENTRIES", 100)
    found = examine(Perceptron(max_iter=2).fit(X, Y), X, Y)
    assert found.certificate is None
    assert "too many" in found.unproved


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: examine(Perceptron(), X, Y), "Fit it"),
        (lambda: examine(object(), X, Y), "no predict"),
        (lambda: examine(AdalineRegressor().fit(X, X[:, 0]), X, Y), "not a classifier"),
        (lambda: examine(Perceptron().fit(X, Y), X, Y, X), "Only one of X_test and y_test"),
        (lambda: examine(Perceptron().fit(X, Y), X, Y, names=["a"]), "1 names for 4"),
        (lambda: examine(Perceptron().fit(X, Y), X[:, :2], Y), "cannot predict"),
    ],
)
def test_what_cannot_be_reported_is_refused_with_its_fault(call, fault):
    with pytest.raises(InvalidInput, match=fault):
        call()
