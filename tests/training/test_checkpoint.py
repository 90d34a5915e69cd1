"""Checkpoints: a training that is cut off anywhere and resumed ends as one that was not."""

import numpy as np
import pytest

from attacks.forge import content, join, split
from chunk_source import MemorySource, job_of, rows
from rosenblatt.errors import InvalidInput
from rosenblatt.training.checkpoint import Checkpoint
from rosenblatt.training.chunked import learn_chunks


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

    def after_chunk(runner):
        checkpoint.write(runner)
        seen.append(runner)
        if len(seen) == stop_after:
            raise Killed

    job = job_of(name, parameters, MemorySource(X, y, rows=40), epochs=4, after_chunk=after_chunk, **more)
    return learn_chunks(job, checkpoint.resume() if resume else None)


CASES = [
    ("perceptron", {}, 2, {}),
    ("perceptron", {}, 4, {"batch": True}),
    ("averaged", {}, 4, {"order": "shuffled"}),
    ("averaged", {"eta0": 0.3}, 2, {"hold_out": (5, 0), "keep": "best", "tol": 1e-3, "n_iter_no_change": 2}),
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
    with pytest.raises(InvalidInput, match="is not a checkpoint"):
        train(path, CASES[0], resume=True)


def test_a_checkpoint_that_was_removed_is_gone(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", 1.0, "x")
    checkpoint.remove()
    (tmp_path / "c").write_bytes(b"")
    checkpoint.remove()
    assert not (tmp_path / "c").exists()


# What a checkpoint may not say, by where it says it: an index out of range was written to, the rest were tracebacks,
# loops without an end, or memory without one.
EPOCHS = {"enum": ["Stop", "EPOCHS"]}
FORGERIES = [
    *((("rules", "active"), value) for value in ([-1], [5], [10**9], [], [0, 0], [None], None, {"tuple": [0]})),
    *((("rules", "stops"), value) for value in ([], {"dict": [[0, 1]]}, {"dict": [[0, EPOCHS]]})),
    *((("rules", "cycle_ends"), value) for value in (None, {"dict": [[7, 1]]}, {"dict": [[0, 0.5]]})),
    *((("trainer", "mistakes"), value) for value in ([], [1] * 9, [-1, 0], None)),
    *((("trainer", "losses"), value) for value in ([], ["x", "y"], [{"float": "nan"}] * 2)),
    *((("trainer", "errors"), value) for value in ([1.0], [None] * 7)),
    *((("trainer", "kept"), value) for value in (-1, 9, None)),
    *((("trainer", "fewest"), value) for value in ("x", {"float": "nan"})),
    *((("trainer", "updates"), value) for value in (10**30, -1)),
    (("trainer", "candidate"), 3),
    *((("runner", "epoch"), value) for value in (0, 1, 99, "1")),
    *((("runner", name), value) for name in ("trials", "chunks", "n_rows") for value in (-1, None, 0.5, 10**60)),
    *((("runner", "largest"), value) for value in (-1.0, {"float": "nan"}, {"float": "inf"}, None)),
    *((("position", "row"), value) for value in (-1, 0, None, 10**30)),
    *((("position", "file"), value) for value in (-2, None)),
    *((("rules", "lowest"), value) for value in ([], [None], [{"float": "nan"}])),
    *((("rules", "stale"), value) for value in ([], [-1], [0] * 5)),
    *((("cycle",), value) for value in (None, [], [0, 0], [1, 2], ["a", "b"])),
    *(((name,), value) for name in ("trainer", "rules", "runner", "position") for value in (None, [], [[], []])),
]


def forged(path, edit):
    """Change the checkpoint in a file, and seal it anew."""
    header, tensors = split(path.read_bytes())
    model = content(header)
    edit(model)
    path.write_bytes(join(header, tensors, model=model))


@pytest.fixture(scope="module")
def third_epoch(tmp_path_factory):
    """Return a checkpoint that was written in the third epoch."""
    path = tmp_path_factory.mktemp("checkpoints") / "checkpoint"
    with pytest.raises(Killed):
        train(path, CASES[0], 15)
    return path.read_bytes()


@pytest.mark.parametrize(("place", "value"), FORGERIES, ids=str)
def test_a_forged_checkpoint_is_refused_before_anything_runs(place, value, third_epoch, tmp_path):
    path = tmp_path / "forged"
    path.write_bytes(third_epoch)

    def edit(model):
        node = model["parameters"]
        for name in place[:-1]:
            node = node[name]["record"][1]
        assert place[-1] in node
        node[place[-1]] = value

    forged(path, edit)
    with pytest.raises(InvalidInput, match=r"(cannot be resumed|is not a checkpoint): .*Remove it, and train again\."):
        train(path, CASES[0], resume=True)


@pytest.mark.parametrize("section", ["parameters", "attributes"])
def test_a_checkpoint_that_lacks_something_is_refused(section, third_epoch, tmp_path):
    path = tmp_path / "forged"
    header, _ = split(third_epoch)
    path.write_bytes(third_epoch)
    forged(path, lambda model: model.pop(section))
    with pytest.raises(InvalidInput, match="Remove it, and train again"):
        train(path, CASES[0], resume=True)
    for name in content(header)[section]:
        path.write_bytes(third_epoch)
        forged(path, lambda model, name=name: model[section].pop(name))
        with pytest.raises(InvalidInput, match="Remove it, and train again"):
            train(path, CASES[0], resume=True)


@pytest.mark.parametrize(("name", "value"), [("classes", {"objects": ["ant"]}), ("classes", None), ("counts", [])])
def test_a_checkpoint_with_other_labels_than_the_rows_is_refused(name, value, third_epoch, tmp_path):
    path = tmp_path / "forged"
    path.write_bytes(third_epoch)
    forged(path, lambda model: model["attributes"].update({name: value}))
    with pytest.raises(InvalidInput, match="Remove it, and train again"):
        train(path, CASES[0], resume=True)
