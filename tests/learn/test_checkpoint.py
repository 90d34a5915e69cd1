"""Checkpoints: a training that is cut off anywhere and resumed ends as one that was not."""

import numpy as np
import pytest

from chunk_source import MemorySource, job_of, rows
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.checkpoint import Checkpoint
from rosenblatt.learn.chunked import learn_chunks


class Killed(Exception):
    pass


def train(path, case, stop_after=None, *, resume=False, identity="this"):
    name, parameters, n_classes, more = case
    X, y = rows(n_classes, sparse=True)
    if "late" in parameters:
        parameters = {}
        y = np.sort(y)
    checkpoint = Checkpoint(path, 0.0, identity)
    seen = []

    def after_chunk(presenter):
        checkpoint.write(presenter)
        seen.append(presenter)
        if len(seen) == stop_after:
            raise Killed

    job = job_of(name, parameters, MemorySource(X, y, rows=40), epochs=4, after_chunk=after_chunk, **more)
    return learn_chunks(job, checkpoint.resume() if resume else None)


CASES = [
    ("perceptron", {}, 2, {}),
    ("perceptron", {}, 4, {"batch": True}),
    ("averaged", {}, 4, {"order": "shuffled"}),
    ("averaged", {"eta0": 0.3}, 2, {"hold_out": (5, 0), "keep": "best", "tol": 1e-3, "patience": 2}),
    ("arow", {}, 2, {"keep": "best"}),
    ("winnow", {}, 2, {}),
    ("alma", {}, 2, {}),
    ("romma", {}, 2, {}),
    ("p-norm", {}, 2, {}),
    ("soft-margin", {"penalty": "elasticnet"}, 4, {}),
    ("perceptron", {"late": True}, 4, {}),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_training_resumed_from_any_chunk_ends_with_the_same_state_and_record(case, tmp_path):
    whole = train(tmp_path / "whole", case)
    for stop_after in (1, 3, 7, 13, 19):
        path = tmp_path / str(stop_after)
        with pytest.raises(Killed):
            train(path, case, stop_after)
        resumed = train(path, case, resume=True)
        for a, b in zip(resumed.learned.state, whole.learned.state, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.flags.f_contiguous == b.flags.f_contiguous
        assert resumed.run.mistakes == whole.run.mistakes
        assert (resumed.run.losses, resumed.run.errors, resumed.run.reason, resumed.run.kept) == (
            (whole.run.losses, whole.run.errors, whole.run.reason, whole.run.kept)
        )


def test_without_a_checkpoint_a_resumed_training_begins(tmp_path):
    assert Checkpoint(tmp_path / "none", 1.0, "x").resume() is None


def test_a_checkpoint_of_another_training_or_a_damaged_one_is_refused(tmp_path):
    path = tmp_path / "checkpoint"
    with pytest.raises(Killed):
        train(path, CASES[0], 3)
    with pytest.raises(InvalidInput, match="another training"):
        train(path, CASES[0], resume=True, identity="other")
    with pytest.raises(InvalidInput, match="cannot be resumed"):
        train(path, CASES[3], resume=True)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="is no checkpoint"):
        train(path, CASES[0], resume=True)


def test_a_checkpoint_that_was_removed_is_gone(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", 1.0, "x")
    checkpoint.remove()
    (tmp_path / "c").write_bytes(b"")
    checkpoint.remove()
    assert not (tmp_path / "c").exists()
