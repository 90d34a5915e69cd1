"""A run as arrays: what the engine recorded, and nothing else."""

import json
import warnings

import numpy as np
import pytest
from safetensors.numpy import load as load_safetensors

from rosenblatt import trace
from rosenblatt.errors import InvalidInput
from rosenblatt.lab.catalogue import MAX_TRIALS, estimator_class, learner_names
from rosenblatt.lab.frames import (
    END_OF_EPOCH,
    MAX_BYTES,
    MISTAKE,
    UPDATE,
    Frames,
    as_added,
    frames,
    grid_points,
    record_scene,
    surface,
    votes,
)
from rosenblatt.lab.scene import Scene
from scenes import PER_LEARNER, random_scene

learners = pytest.mark.parametrize("name", learner_names())


def scene(text):
    return Scene.from_query(text)


def fitted(one):
    """A fit without a recorder, from the scene's own arguments."""
    X, y = one.rows()
    Z = one.mapped(X)[0]
    arguments = one.arguments(Z, np.unique(y).size)
    Z = as_added(one, Z)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator_class(one.learner)(**arguments).fit(Z, y), Z, y


def mean_at_the_end(run):
    """The average after the last trial, as the page computes it from the one at the beginning of a state."""
    at, W, mean = run.arrays["at"], run.arrays["W"], run.arrays["mean"]
    s, trials = at[-1], at.size
    first = int(np.argmax(at == s)) + 1
    begin = max([0, *run.about["average_begins"]])
    if s == 0 or begin >= first:
        return W[s]
    before = first - begin + (begin > 0)
    return (before * mean[s] + (trials - first) * W[s]) / (before + trials - first)


@learners
@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(k, marks=pytest.mark.long) for k in range(8, PER_LEARNER))])
def test_what_is_shown_is_what_a_fit_learns(name, seed):
    one = random_scene(name, seed)
    run = frames(one)
    model, Z, y = fitted(one)
    assert run.about["accuracy"] == np.mean(model.predict(Z) == y)
    if not one.traits.trials:
        np.testing.assert_array_equal(run.arrays["W"][0], np.column_stack([model.coef_, model.intercept_]))
        return
    assert run.arrays["row"].size == (model.run_.epochs if dict(one.params).get("batch") else model.run_.trials)
    assert run.about["reason"] == model.run_.reason
    assert len(run.about["epochs_end"]) == model.run_.epochs
    if one.traits.kernel:
        shown, learned = np.zeros((2, len(model.dual_coef_), len(y)))
        rows = run.arrays["slot_row"][run.arrays["slot"]]
        np.add.at(shown, (run.arrays["problem"], rows), run.arrays["step"])
        np.add.at(learned, (slice(None), model.support_), model.dual_coef_)
        np.testing.assert_allclose(shown, learned, atol=1e-12)  # on a budget, changes that add up
        return
    learned = np.column_stack([model.coef_, model.intercept_])
    np.testing.assert_array_equal(run.about["final"], learned)
    if name == "PocketPerceptron":  # its trials are the perceptron's, the weights in its pocket are not the last
        return
    if "mean" in run.arrays:
        np.testing.assert_allclose(mean_at_the_end(run), learned, rtol=1e-9, atol=1e-9)
    elif not model._algorithm().derives_weights and name != "VotedPerceptron":
        np.testing.assert_array_equal(run.arrays["W"][run.arrays["at"][-1]], learned)


@learners
def test_the_bytes_are_safetensors_and_hold_the_arrays(name):
    run = frames(random_scene(name, 3))
    content = run.to_bytes()
    found = load_safetensors(content)
    assert found.keys() == run.arrays.keys()
    for key, array in run.arrays.items():
        assert found[key].dtype == array.dtype
        np.testing.assert_array_equal(found[key], array)
    again = Frames.from_bytes(content)
    assert again.about == json.loads(json.dumps(run.about))
    assert all(np.array_equal(again.arrays[key], array, equal_nan=True) for key, array in run.arrays.items())


def test_arrays_begin_at_multiples_of_their_width():
    content = frames(scene("data=clouds&learner=AveragedPerceptron")).to_bytes()
    length = int.from_bytes(content[:8], "little")
    assert length % 8 == 0
    widths = {"F64": 8, "F32": 4, "I32": 4, "U8": 1}
    for key, entry in json.loads(content[8 : 8 + length]).items():
        if key != "__metadata__":
            assert entry["data_offsets"][0] % widths[entry["dtype"]] == 0


@pytest.mark.parametrize("data", ["or", "and", "xor", "spam"])
def test_every_trial_is_that_of_the_lectures_algorithm(data):
    one = scene(f"data={data}")
    run, (X, y) = frames(one).arrays, one.rows()
    trials = list(trace(X, y, max_iter=int(run["row"].size / len(y))))
    assert len(trials) == run["row"].size
    for k, trial in enumerate(trials):
        assert (trial.row, trial.mistake) == (run["row"][k], bool(run["mistake"][k] & MISTAKE))
        assert trial.score == run["score"][k, 0]
        np.testing.assert_array_equal([*trial.w, trial.b], run["W"][run["at"][k], 0])


def test_worked_examples_of_the_lectures():
    for data, updates, w, bound in [("or", 9, [2, 2, -1], 27), ("and", 18, [2, 3, -4], 51)]:
        run = frames(scene(f"data={data}"))
        assert np.count_nonzero(run.arrays["mistake"] & UPDATE) == updates
        assert run.arrays["W"][-1, 0].tolist() == w
        assert run.about["bound"] == bound
        assert run.about["epochs_end"][-1] == run.arrays["row"].size
    assert frames(scene("data=spam")).arrays["W"][-1, 0].tolist() == [0, 2, 0, -1, 1, 0]
    xor = frames(scene("data=xor")).about
    assert (xor["cycle"], xor["ending"], xor["gamma"], xor["bound"]) == (1, "cycle", None, None)


def test_the_two_quantities_of_the_proof_are_between_their_bounds():
    run = frames(scene("data=clouds&margin=0.2&param.eta0=0.5"))
    eta, R, gamma = (run.about[key] for key in ("eta", "R", "gamma"))
    mistakes = np.concatenate([[0], np.flatnonzero(np.diff(run.arrays["at"], prepend=0))]).size - 1
    assert mistakes == len(run.arrays["W"]) - 1
    M = np.arange(mistakes + 1)
    assert np.all(run.arrays["dot"] >= eta * M * gamma - 1e-9)
    assert np.all(run.arrays["norm2"] <= eta**2 * M * R**2 + 1e-9)
    assert np.all(run.arrays["dot"] <= np.sqrt(run.arrays["norm2"]) + 1e-9)
    assert mistakes <= run.about["bound"]
    signed = np.column_stack([run.arrays["X"], np.ones(60)]) * np.where(run.arrays["y"] == 1, 1, -1)[:, None]
    assert (signed @ run.about["w_star"]).min() == pytest.approx(gamma)


def test_a_bound_is_claimed_only_for_the_rule_that_has_it():
    for other in ["param.margin=1", "param.penalty=l2", "learner=PassiveAggressive", "param.schedule=1%2Ft"]:
        about = frames(scene(f"data=or&{other}")).about
        assert about["bound"] is None
        assert not about["plain"]
    assert frames(scene("data=or&learner=AveragedPerceptron")).about["bound"] == 27


def test_ends_of_epochs_are_marked():
    run = frames(scene("data=or"))
    ends = np.flatnonzero(run.arrays["mistake"] & END_OF_EPOCH) + 1
    assert ends.tolist() == run.about["epochs_end"] == [4, 8, 12, 16, 20, 24]


@pytest.mark.parametrize("mode", ["ovr", "ovo", "joint"])
def test_the_class_with_the_highest_effective_score_is_the_predicted_one(mode):
    one = scene(f"data=four&param.multiclass={mode}&epochs=3")
    run = frames(one)
    model, Z, _ = fitted(one)
    scores = Z @ run.arrays["E"][-1][:, :-1].T + run.arrays["E"][-1][:, -1]
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(Z))


@pytest.mark.parametrize("text", ["learner=KernelPerceptron", "features=quadratic", "features=units&units=15"])
def test_the_basis_on_the_grid_adds_up_to_the_score(text):
    one = scene(f"data=moons&n=30&{text}")
    run = frames(one)
    size = run.about["grid"]
    points = grid_points(run.about["box"], size)
    _, _, feature_map, _, model = record_scene(one)
    if one.traits.kernel:
        coef = np.bincount(run.arrays["slot"], run.arrays["step"], run.arrays["slot_row"].size)
        score = model.decision_function(points, aggregate="last")
    else:
        coef = run.arrays["W"][-1, 0]
        score = feature_map(points) @ coef[:-1] + coef[-1]
    assert run.arrays["phi"].shape == (coef.size, size * size)
    np.testing.assert_allclose(coef @ run.arrays["phi"].astype(float), score, rtol=1e-4, atol=1e-4)


def test_the_grid_goes_through_x_first_and_upwards():
    points = grid_points([0.0, 1.0, 10.0, 12.0], 2)
    assert points.tolist() == [[0, 10], [1, 10], [0, 12], [1, 12]]


@pytest.mark.parametrize(
    "text",
    ["data=moons&n=20&epochs=3", "data=four&n=20&epochs=6", "data=four&n=20&epochs=4&noise=0.6&param.multiclass=ovo"],
)
def test_the_vote_on_the_page_is_the_vote_of_the_estimator(text):
    for learner in ("VotedPerceptron", "KernelPerceptron"):
        one = scene(f"{text}&learner={learner}")
        model, _, _ = fitted(one)
        for way in ("vote", "average"):
            found = surface(one, 10**6, way)
            points = grid_points(found.about["box"], found.about["grid"])
            wanted = np.searchsorted(model.classes_, model.predict(points, aggregate=way))
            # A score of zero, or two that are equal, may be rounded either way.
            clear = np.abs(found.arrays["score"]) > 1e-9
            np.testing.assert_array_equal(found.arrays["label"][clear], wanted[clear])
            assert clear.mean() > 0.5


def test_votes_are_those_of_every_weight_by_itself():
    random = np.random.default_rng(0)
    changes = random.integers(-1, 2, (600, 2, 30)) * (random.random((600, 1, 30)) < 0.05)
    W, basis = np.cumsum(changes, axis=0).astype(float), random.standard_normal((30, 50))
    survived = random.integers(0, 3, (600, 2)).astype(float)
    wanted = sum(survived[s][:, None] * np.sign(W[s] @ basis) for s in range(600))
    assert np.abs(votes(W, survived, basis) - wanted).max() == 0


def test_a_surface_needs_a_plane_and_a_way():
    with pytest.raises(InvalidInput, match="in the plane"):
        surface(scene("data=spam"), 3, "vote")
    with pytest.raises(InvalidInput, match="way="):
        surface(scene("data=or"), 3, "mean")


def test_no_more_trials_than_a_page_can_show_and_it_says_so():
    run = frames(scene("data=overlap&n=2000&learner=SoftMargin&epochs=50&seed=1"))
    assert run.arrays["row"].size <= MAX_TRIALS
    assert len(run.to_bytes()) < 1.1 * MAX_BYTES
    if len(run.about["epochs_end"]) == 10:
        assert "at most 10 epochs" in run.about["stop"]


def test_a_long_run_of_wide_weights_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr("rosenblatt.lab.frames.MAX_BYTES", 60_000)
    one = scene("data=overlap&n=50&learner=Adaline&param.average=true&epochs=10&features=quadratic")
    run = frames(one, grid=32)
    assert 50_000 < sum(array.nbytes for array in run.arrays.values()) < 60_000
    kept, left = run.arrays["row"].size, run.about["trials_left_out"]
    assert left > 0
    assert kept + left == record_scene(one).recording.row.size
    assert run.arrays["at"][-1] + 1 == len(run.arrays["W"]) == len(run.arrays["mean"])


def test_more_than_two_features_have_no_plane_but_weights():
    run = frames(scene("data=spam"))
    assert run.about["box"] is None
    assert run.about["names"] == ["and", "viagra", "the", "of", "nigeria"]
    assert run.arrays["W"].shape == (5, 1, 6)


def test_classes_of_own_points_keep_their_numbers():
    run = frames(scene("data=points&p=0,0a;1,1c;0,1a"))
    assert run.about["classes"] == ["0", "2"]
    assert run.about["numbers"] == [0, 2]
    assert run.arrays["y"].tolist() == [0, 1, 0]


def test_nothing_in_the_metadata_is_infinite_or_unknown():
    for text in ["data=or", "data=xor", "data=labels&learner=KernelPerceptron", "data=four&learner=MaximumMargin"]:
        content = frames(scene(text)).to_bytes()
        length = int.from_bytes(content[:8], "little")
        about = json.loads(content[8 : 8 + length])["__metadata__"]["about"]
        assert not any(word in about for word in ("NaN", "Infinity"))
