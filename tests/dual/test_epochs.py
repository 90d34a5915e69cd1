"""When and why a run in the dual ends, and what its record says."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import KernelPerceptron
from rosenblatt.dual import blocks


def test_a_run_that_cannot_separate_gives_up_with_a_proof():
    X = np.repeat(np.linspace(-1, 1, 20)[:, None], 2, axis=0)
    y = np.tile([0, 1], 20)  # each point has both labels
    model = KernelPerceptron(tol=0.05, max_iter=2000).fit(X, y)
    assert model.run_.stop.name == "TRAINING"
    assert model.run_.ceiling <= 0.05 * model.run_.radius
    assert "no hyperplane of the kernel's space" in model.stop_reason_


def test_limits_of_epochs_time_and_callbacks_end_a_fit(capsys):
    X, y = make_moons(300, noise=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="larger max_iter"):
        KernelPerceptron(max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KernelPerceptron(max_iter=2, tol=None).fit(X, y).n_iter_ == 2
    seen = []
    model = KernelPerceptron(callback=lambda epoch: seen.append(epoch) or epoch.number == 3, verbose=1).fit(X, y)
    assert model.run_.stop.name == "CALLBACK"
    assert [epoch.mistakes for epoch in seen] == list(model.run_.mistakes)
    assert len(capsys.readouterr().out.splitlines()) == 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "ROWS_PER_BLOCK", 5)
        model = KernelPerceptron(max_seconds=1e-9).fit(X, y)
        assert model.run_.stop.name == "SECONDS"
        assert model.run_.trials == 5
