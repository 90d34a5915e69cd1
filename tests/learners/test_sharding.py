"""From shards to a fitted estimator."""

import numpy as np
import pytest

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, SoftMargin
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.sharding import fit_shards
from rosenblatt.scaling.partitions import shard_of_block
from rosenblatt.training.sharded import LocalShards


def some_rows(classes=3):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    return X, (X @ random.normal(size=(4, classes)) + random.normal(size=(300, classes))).argmax(axis=1)


def shards_of(X, y, count=6, threads=1):
    parts = np.array_split(np.arange(len(X)), count)
    return LocalShards([shard_of_block(number, X[part], y[part]) for number, part in enumerate(parts)], threads)


@pytest.mark.parametrize(
    "member",
    [
        Perceptron(),
        Perceptron(multiclass="ovo", eta0=0.3),
        AveragedPerceptron(multiclass="joint"),
        AveragedPerceptron(class_weight="balanced"),
        AveragedPerceptron(class_weight={0: 2.0}),
        SoftMargin(),
    ],
    ids=str,
)
def test_shards_apart_learn_what_shards_of_a_table_learn(member):
    X, y = some_rows()
    X = X * 0.01  # small values, for which the constant of the bias is chosen
    there = fit_shards(member, shards_of(X, y), rounds=5)
    here = type(member)(**member.get_params() | {"shards": 6, "max_iter": 5}).fit(X, y)
    assert there.coef_.tobytes() == here.coef_.tobytes()
    assert there.intercept_scaling_ == here.intercept_scaling_
    assert there.run_.mistakes == here.run_.mistakes
    assert there.stop_reason_ == here.stop_reason_
    assert there.predict(X).tolist() == here.predict(X).tolist()


def test_float32_stays_float32_and_mixed_types_do_not():
    X, y = some_rows()
    assert fit_shards(Perceptron(), shards_of(X.astype(np.float32), y), rounds=1).coef_.dtype == np.float32
    mixed = shards_of(X.astype(np.float32), y)
    mixed.shards[2] = shards_of(X, y).shards[2]
    assert fit_shards(Perceptron(), mixed, rounds=1).coef_.dtype == np.float64


def test_mixing_by_mistakes_learns_as_well():
    X, y = some_rows()
    assert fit_shards(AveragedPerceptron(), shards_of(X, y), rounds=10, mixing="mistakes").score(X, y) > 0.6


def test_what_cannot_be_trained_is_refused():
    X, y = some_rows()
    with pytest.raises(InvalidInput, match="Expansions"):
        fit_shards(KernelPerceptron(), shards_of(X, y))
    with pytest.raises(InvalidInput, match="mixing='by rows'"):
        fit_shards(Perceptron(), shards_of(X, y), mixing="by rows")
    with pytest.raises(InvalidInput, match="one; got 1 class"):
        fit_shards(Perceptron(), shards_of(X, y * 0))
    with pytest.raises(InvalidInput, match="class_weight names"):
        fit_shards(Perceptron(class_weight={"a": 1.0}), shards_of(X, y))
