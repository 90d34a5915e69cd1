"""Certificates on shards are those on all rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import certify, verify
from rosenblatt.errors import InvalidInput
from rosenblatt.scaling.partitions import shard_of_block
from rosenblatt.scaling.proving import certify_shards
from rosenblatt.training.sharded import LocalShards
from rosenblatt.training.shards import Shard

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(1500, 5))
HEIGHT = X @ RANDOM.normal(size=5)
GRID = RANDOM.integers(-3, 4, (1000, 4)).astype(float)
COIN = RANDOM.integers(0, 2, 1500)
TIED = np.where(GRID[:, 0] == 0, COIN[:1000], GRID[:, 0] > 0)
DEPENDENT = np.hstack([GRID, 2 * GRID[:, :1]])
FAR = np.abs(HEIGHT) > 0.05
FLIPPED = (HEIGHT > 0) ^ (np.arange(1500) == 17)

CASES = {
    "separable": (X[FAR], HEIGHT[FAR] > 0),
    "separable by texts": (X[FAR], np.where(HEIGHT[FAR] > 0, "up", "down")),
    "one row flipped": (X, FLIPPED),
    "overlapping": (X, COIN),
    "quasi-separable": (GRID, TIED),
    "quasi-separable, sparse": (sp.csr_matrix(GRID), TIED),
    "quasi-separable, dependent columns": (DEPENDENT, TIED),
    "overlapping, dependent columns": (DEPENDENT, COIN[:1000]),
    "three classes, separable": (X, (X @ RANDOM.normal(size=(5, 3))).argmax(axis=1)),
    "three classes, overlapping": (X, RANDOM.integers(0, 3, 1500)),
    "one class": (X[:40], np.ones(40, int)),
    "float32": (X[FAR].astype(np.float32), HEIGHT[FAR] > 0),
}


def shards_of(rows, y, count=7):
    parts = np.array_split(np.arange(rows.shape[0]), count)
    return LocalShards([shard_of_block(number, rows[part], np.asarray(y)[part]) for number, part in enumerate(parts)])


@pytest.mark.parametrize("name", CASES)
def test_a_certificate_on_shards_says_what_one_on_all_rows_says(name):
    rows, y = CASES[name]
    found, wanted = certify_shards(shards_of(rows, y)), certify(rows, y, coefficients=False)
    assert verify(found, rows, y)
    assert (found.verdict, found.digest, found.boundary) == (wanted.verdict, wanted.digest, wanted.boundary)
    assert found.classes == wanted.classes
    assert (found.margin is None) == (wanted.margin is None)
    if found.margin is not None:
        assert found.margin.lower == pytest.approx(wanted.margin.lower, rel=1e-6)
        assert found.mistake_bound == pytest.approx(wanted.mistake_bound, rel=1e-5)


def test_the_search_sees_few_rows():
    from rosenblatt.scaling import proving

    seen = []
    before = proving.proved_claims
    try:
        proving.proved_claims = lambda signed, *others: seen.append(signed.samples) or before(signed, *others)
        certify_shards(shards_of(*CASES["separable"]), margin=False)
    finally:
        proving.proved_claims = before
    assert max(seen) < 400


def test_out_of_time_is_undecided_and_no_rows_are_refused():
    found = certify_shards(shards_of(*CASES["three classes, overlapping"]), time_limit=1e-9)
    assert found.verdict == "undecided"
    assert found.reason
    with pytest.raises(InvalidInput, match="no rows to certify"):
        certify_shards(LocalShards([Shard(0, [])]))
