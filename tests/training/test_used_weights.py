"""Weights that are derived for the columns in use are those that are derived for all."""

import numpy as np
import pytest
import scipy.sparse as sp

import rosenblatt
from rosenblatt.storage.sparse import SparseArray
from rosenblatt.training.scores import used_weights

WIDTH = 1 << 20
RNG = np.random.default_rng(0)
X = sp.csr_array(
    (RNG.integers(1, 4, 240).astype(float), (np.repeat(np.arange(40), 6), RNG.integers(0, WIDTH, 240))),
    shape=(40, WIDTH),
)
Y = np.arange(40) % 3


@pytest.mark.parametrize(
    "model",
    [
        rosenblatt.Perceptron(eta0=0.3),
        rosenblatt.Perceptron(penalty="elasticnet"),
        rosenblatt.AveragedPerceptron(),
        rosenblatt.AveragedPerceptron(multiclass="ovo"),
        rosenblatt.AROW(),
        rosenblatt.Winnow(),
        rosenblatt.Winnow(balanced=False),
        rosenblatt.ALMA(),
        rosenblatt.ROMMA(),
        rosenblatt.PNormPerceptron(),
        rosenblatt.PassiveAggressive(),
        rosenblatt.SoftMargin(average=True),
    ],
    ids=repr,
)
def test_the_weights_of_columns_in_use_are_those_of_all(model):
    stream = model.partial_fit(X, Y)._stream
    planes = stream.settings.hyperplanes(stream.state)
    W, b = used_weights(stream.settings, stream.state)
    assert isinstance(W, SparseArray)
    assert np.array_equal(W.toarray().view(np.uint64), np.array(planes.W, order="C").view(np.uint64))
    assert np.array_equal(b, planes.b)
    assert not np.may_share_memory(b, stream.state.b)


def test_weights_that_are_dense_stay_so():
    model = rosenblatt.AveragedPerceptron().fit(X[:, :500].toarray() + 1, Y)
    W, _ = used_weights(model._stream.settings, model._stream.state)
    assert np.array_equal(W, model.coef_)
