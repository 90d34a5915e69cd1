"""Runs as arrays and bytes for the page. Its own engine, static/local.js, gives the same for the lectures' learners."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import sp
from rosenblatt.errors import InvalidInput
from rosenblatt.lab.catalogue import estimator_class
from rosenblatt.lab.scene import Scene
from rosenblatt.lab.theory import follows_theorem, mistake_bound, rate
from rosenblatt.storage.container import pack_arrays, unpack_arrays
from rosenblatt.text import count
from rosenblatt.training.multiclass import coding_matrix, decision, winners
from rosenblatt.training.record import Recording, record

Array = npt.NDArray[Any]

MAX_BYTES = 8_000_000  # of a message; a longer run is cut, and the page shows that it is
RUN_SECONDS = 5.0
GRID, COARSE_GRID = 64, 32
MAX_FINE_COLUMNS = 300  # a basis with more columns gets the coarse grid
BOX_SHARE = 0.18  # of the width, left empty on each side
STATES_PER_PRODUCT = 256  # after so many states, scores are computed from scratch
MISTAKE, UPDATE, END_OF_EPOCH, DROPPED = 1, 2, 4, 8
WAYS = ("vote", "average")

Subject = tuple[Any, Array, Array]  # an estimator, rows and labels


@dataclass(frozen=True)
class Frames:
    """A run as the page reads it.

    Attributes
    ----------
    about : dict
        JSON values.
    arrays : dict
    """

    about: dict[str, Any]
    arrays: dict[str, Array]

    def to_bytes(self) -> bytes:
        """Return the run in the layout of safetensors."""
        return pack_arrays(json.dumps(self.about, allow_nan=False), self.arrays)

    @classmethod
    def from_bytes(cls, content: bytes) -> Frames:
        """Return the run in bytes from `to_bytes`."""
        about, arrays = unpack_arrays(content)
        return cls(json.loads(about), arrays)


class Recorded(NamedTuple):
    """The run of a scene."""

    X: Array  # the points
    y: Array  # their labels
    feature_map: Callable[[Array], Array]
    recording: Recording | None  # None if the learner has no trials
    estimator: Any  # fitted

    def basis(self, points: Array) -> Array:
        """Return the matrix whose product with the weights gives the scores of points: a column for each point."""
        vectors = None if self.recording is None else self.recording.vectors
        if vectors is None:
            return np.column_stack([self.feature_map(points), np.ones(len(points))]).T
        return np.asarray(self.estimator._similarity(None).columns(self.X[vectors], points))


def record_scene(scene: Scene, subject: Subject | None = None) -> Recorded:
    """Train the learner of a scene, or the subject instead, and record every trial."""
    if subject is None:
        X, y = scene.rows()
        Z, feature_map = scene.mapped(X)
        arguments = scene.arguments(Z, np.unique(y).size) | {"max_seconds": RUN_SECONDS}
        estimator = estimator_class(scene.learner)(**arguments)
        Z = as_added(scene, Z)
    else:
        estimator, Z, y = subject
        X, feature_map = Z, _identity
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows whether the run converged
        if not scene.traits.trials:
            return Recorded(X, y, feature_map, None, estimator.fit(Z, y))
        recording = record(estimator, Z, y)
    return Recorded(X, y, feature_map, recording, estimator)


def as_added(scene: Scene, Z: Array) -> Any:
    """Return mapped rows as sparse ones for a linear learner.

    The sums of sparse rows have a fixed order, and no product is fused with a sum: they are the same numbers on every
    machine, and in the page's own engine.
    """
    return Z if scene.traits.kernel or not scene.traits.trials else sp.csr_matrix(Z)


def _identity(rows: Array) -> Array:
    return rows


def frames(scene: Scene, *, grid: int = GRID, subject: Subject | None = None) -> Frames:
    """Record the run of a scene.

    Parameters
    ----------
    scene : Scene
    grid : int
        Points on each side of the grid of surfaces.
    subject : (estimator, X, y), optional
        Recorded instead of the learner and the data of the scene.

    Returns
    -------
    Frames

    Raises
    ------
    InvalidInput
        If the learner cannot learn from these points.
    """
    recorded = record_scene(scene, subject)
    X, y, feature_map, recording, estimator = recorded
    classes, label = np.unique(y, return_inverse=True)
    Z = feature_map(X)
    theory = mistake_bound(scene, Z, y)
    plain = follows_theorem(scene) and (subject is None or _is_plain(estimator))
    sign = coding_matrix(classes.size, estimator.multiclass)
    arrays: dict[str, Array] = {"X": X.astype(np.float64), "y": label.astype(np.int32)}
    arrays |= _trials(recording, sign.shape[1])
    arrays |= _log(recording) if scene.traits.kernel else _weights(recording, estimator, theory.separator)
    if "W" in arrays and classes.size > 2 and estimator.multiclass != "ovo-vote":
        arrays["E"] = _by_class(arrays["W"], sign, estimator.multiclass)
    box = _box(X)
    if box is not None and (scene.traits.kernel or scene.features != "none"):
        arrays["phi"], grid = _on_grid(recorded, box, grid)
    arrays, left_out = _fitting(arrays)
    about = {
        "scene": scene.as_dict(),
        "classes": [_name(label, classes) for label in classes.tolist()],
        "numbers": _numbers(scene, classes, subject),
        "names": list(scene.columns()),
        "columns": list(scene.learned_columns()),
        "signs": sign.astype(int).tolist(),
        "rule": scene.traits.rule,
        "eta": rate(scene),
        "plain": plain,
        "box": box,
        "grid": grid,
        "R": theory.radius,
        "gamma": theory.margin,
        "bound": theory.bound if plain else None,
        "w_star": theory.separator_list,
        "names_of_rows": f"x1..x{len(y)}",
        "linear": not scene.traits.kernel and scene.features == "none",
        "trials_left_out": left_out,
        "version": version("rosenblatt"),
    }
    learned = Z if subject is not None else as_added(scene, Z)
    return Frames(about | _ending(scene, recording, estimator, learned, y), arrays)


def _numbers(scene: Scene, classes: Array, subject: Subject | None) -> list[int]:
    """Return the number of each class on the page; drawn points keep theirs."""
    drawn = scene.data == "points" and subject is None
    return [int(label) for label in classes] if drawn else list(range(classes.size))


def _is_plain(estimator: Any) -> bool:
    """Return whether an estimator follows the theorem in the parameters that no scene has."""
    from_zero = estimator.class_weight is None and getattr(estimator, "init", None) is None
    return from_zero and estimator.intercept_scaling_ == 1.0 and not getattr(estimator, "early_stopping", False)


def _name(label: Any, classes: Array) -> str:
    signed = classes.dtype.kind == "i" and classes.min() < 0
    return f"{label:+d}" if signed and label else str(label)


def _ending(scene: Scene, recording: Recording | None, estimator: Any, Z: Array, y: Array) -> dict[str, Any]:
    """Return how a run ended."""
    run = estimator.run_
    ends = [] if recording is None else (np.flatnonzero(np.diff(recording.epoch, append=-1)) + 1).tolist()
    sentence = run.reason[:1].upper() + run.reason[1:]
    cut = scene.limit(len(y)) if scene.traits.trials else scene.epochs
    if cut < scene.epochs and run.epochs == cut:
        sentence += f" The lab shows at most {count(cut, 'epoch')} of this many points."
    return {
        "epochs_end": ends,
        "average_begins": _begins(recording, estimator),
        "reason": run.reason,
        "stop": sentence,
        "ending": run.stop.name.lower(),
        "cycle": run.cycle,
        "accuracy": float(np.mean(estimator.predict(Z) == y)),
        "final": None if scene.traits.kernel else np.column_stack([estimator.coef_, estimator.intercept_]).tolist(),
    }


# ------------------------------------------------------------------------------------------------------------- arrays


def _trials(recording: Recording | None, problems: int) -> dict[str, Array]:
    if recording is None:
        none = np.zeros(0, np.int32)
        empty: dict[str, Array] = {
            "score": np.zeros((0, problems)),
            "loss": np.zeros(0),
            "mistake": np.zeros(0, np.uint8),
        }
        return {"row": none, "at": none} | empty
    ends = np.diff(recording.epoch, append=-1) != 0
    bits = MISTAKE * (recording.mistakes > 0) + UPDATE * (recording.updates > 0) + END_OF_EPOCH * ends
    if recording.vectors is not None:
        bits += DROPPED * _drops(recording)
    return {
        "row": recording.row.astype(np.int32),
        "at": recording.at.astype(np.int32),
        "score": recording.score.astype(np.float64),
        "loss": recording.loss.astype(np.float64),
        "mistake": bits.astype(np.uint8),
    }


def _drops(recording: Recording) -> Array:
    """Return for each trial whether a row was dropped, as a budget may do."""
    vectors = np.asarray(recording.W.any(axis=1))
    left = np.r_[False, (vectors[:-1] & ~vectors[1:]).any(axis=1)]
    return np.asarray(left[recording.at] & (np.diff(recording.at, prepend=0) > 0))


def _weights(recording: Recording | None, estimator: Any, separator: Array | None) -> dict[str, Array]:
    """Return the distinct weights with the bias last, their averages, and the quantities of the proof."""
    if recording is None:
        W = np.column_stack([estimator.coef_, estimator.intercept_])[None]
    else:
        W = np.concatenate([recording.W, recording.b[..., None]], axis=2)
    found = {"W": W.astype(np.float64), "norm2": (W**2).sum(axis=(1, 2))}
    if recording is not None and W.shape[1] == 1 and _averages(estimator):
        found["mean"] = averages(W, recording.at, _begins(recording, estimator))
    if separator is not None:
        found["dot"] = W[:, 0] @ separator
    return found


def _averages(estimator: Any) -> bool:
    """Return whether the estimator predicts by an average of its weights, or can do so."""
    algorithm = estimator._algorithm()
    return bool(getattr(algorithm, "averaged", False)) or type(algorithm).__name__ == "Voted"


def _begins(recording: Recording | None, estimator: Any) -> list[int]:
    """Return the trials at which an average restarts: the last before epochs 2, 4, 8, ..."""
    if recording is None or not hasattr(estimator, "_algorithm") or not getattr(estimator._algorithm(), "late", False):
        return []
    powers = [2**k for k in range(1, 64) if 2**k <= recording.epoch[-1]]
    return [int(np.searchsorted(recording.epoch, epoch)) for epoch in powers]


def averages(W: Array, at: Array, begins: list[int]) -> Array:
    """Return for each state the mean of the weights over the trials up to and including the one that led to it.

    The mean restarts at each of `begins`. If mean[s] is over m trials, then after n more trials in state s the mean is
    (m mean[s] + n W[s]) / (m + n).
    """
    survived = np.bincount(at, minlength=len(W)).astype(np.float64)
    first = np.full(len(W), 0)
    first[at[::-1]] = np.arange(at.size, 0, -1)
    weighted = survived[:, None, None] * W
    before = np.cumsum(weighted, axis=0) - weighted
    mean = np.array(W, dtype=np.float64)
    for begin, end in pairwise([0, *begins, at.size]):
        states = (first > max(begin, 1)) & (first <= end)
        left_out, trials = 0.0, first[states]
        if begin:
            state = at[begin - 1]
            left_out, trials = before[state] + (begin - first[state]) * W[state], trials - begin + 1
        mean[states] = (before[states] + W[states] - left_out) / trials[:, None, None]
    return mean


def _by_class(W: Array, sign: Array, mode: str) -> Array:
    """Return the weights of each class: the class with the highest score wins."""
    return W if mode != "ovo" else np.einsum("cp,spj->scj", sign.astype(np.float64), W)


def _log(recording: Recording | None) -> dict[str, Array]:
    """Return the updates of a kernel learner: their vector, problem, step and trial."""
    assert recording is not None
    change = np.diff(recording.W, axis=0)
    state, problem, slot = np.nonzero(change)
    first = np.full(len(recording.W), 0)
    first[recording.at[::-1]] = np.arange(recording.at.size, 0, -1)
    return {
        "slot": slot.astype(np.int32),
        "problem": problem.astype(np.int32),
        "step": change[state, problem, slot].astype(np.float64),
        "when": first[state + 1].astype(np.int32),
        "slot_row": np.asarray(recording.vectors).astype(np.int32),
    }


def _fitting(arrays: dict[str, Array]) -> tuple[dict[str, Array], int]:
    """Return the arrays of the trials that fit in a message, and how many were left out."""
    trials = arrays["row"].size
    size = sum(array.nbytes for array in arrays.values())
    if size <= MAX_BYTES or not trials:
        return arrays, 0
    # Points and grid are not cut; the log of a kernel learner is short.
    fixed = sum(arrays[name].nbytes for name in ("X", "y", "phi") if name in arrays)
    kept = max(1, int(trials * max(0.0, (MAX_BYTES - fixed) / (size - fixed))))
    states = int(arrays["at"][kept - 1]) + 1
    cut = {name: array[:kept] for name, array in arrays.items() if name in ("row", "at", "score", "loss", "mistake")}
    cut |= {name: arrays[name][:states] for name in ("W", "mean", "E", "norm2", "dot") if name in arrays}
    return arrays | cut, trials - kept


# --------------------------------------------------------------------------------------------------------- the plane


def _box(X: Array) -> list[float] | None:
    """Return the limits of the plane, a square: x low, x high, y low, y high."""
    if X.shape[1] != 2:
        return None
    low, high = X.min(axis=0), X.max(axis=0)
    half = max(float((high - low).max()) / 2, 0.5) * (1 + 2 * BOX_SHARE)
    middle = (low + high) / 2
    return [float(middle[0] - half), float(middle[0] + half), float(middle[1] - half), float(middle[1] + half)]


def grid_points(box: list[float], size: int) -> Array:
    """Return a grid of points, x fastest, both ascending."""
    across, up = np.linspace(box[0], box[1], size), np.linspace(box[2], box[3], size)
    return np.column_stack([part.ravel() for part in np.meshgrid(across, up)])


def _grid_size(recorded: Recorded, grid: int) -> int:
    """Return the points per side of the grid: fewer if the basis has many rows."""
    return grid if len(recorded.basis(recorded.X[:1])) <= MAX_FINE_COLUMNS else min(grid, COARSE_GRID)


def _on_grid(recorded: Recorded, box: list[float], grid: int) -> tuple[Array, int]:
    """Return the basis on a grid, and the size of the grid."""
    size = _grid_size(recorded, grid)
    return np.ascontiguousarray(recorded.basis(grid_points(box, size)), dtype=np.float32), size


def surface(scene: Scene, t: int, way: str) -> Frames:
    """Return the decision of all weights up to a trial on a grid, by vote or by their average.

    Parameters
    ----------
    scene : Scene
        With points in the plane.
    t : int
        The trial; a number beyond the last means the last.
    way : {"vote", "average"}
    """
    if way not in WAYS:
        raise InvalidInput(f"way={way!r:.60} is not known. Choose one of {', '.join(WAYS)}.")
    recorded = record_scene(scene)
    X, y, _, recording, estimator = recorded
    box = _box(X)
    if box is None or recording is None:
        raise InvalidInput("The scene has no surface. Choose points in the plane, and a learner with trials.")
    t = min(max(int(t), 0), recording.row.size)
    grid = _grid_size(recorded, GRID)
    basis = recorded.basis(grid_points(box, grid))
    W = recording.W if scene.traits.kernel else np.concatenate([recording.W, recording.b[..., None]], axis=2)
    survived = _survived(recording, estimator, y, t)
    scores = np.einsum("sp,spj->pj", survived, W) @ basis if way == "average" else votes(W, survived, basis)
    scores /= np.maximum(survived.sum(axis=0), 1.0)[:, None]
    decided = decision(scores.T, np.unique(y).size, estimator.multiclass)
    label = winners(decided)
    top = decided[:, 0] if decided.shape[1] == 1 else _lead(decided)
    about = {"t": t, "way": way, "box": box, "grid": grid}
    return Frames(about, {"label": label.astype(np.uint8), "score": top.astype(np.float32)})


def votes(W: Array, survived: Array, basis: Array) -> Array:
    """Return the sum of the signs of the scores of all weights, each times the trials that the weights survived.

    Only the columns in which weights differ from the previous ones are multiplied. From time to time all are, since
    rounding errors would add up.
    """
    total = scores = np.zeros((W.shape[1], basis.shape[1]))
    for s in range(int(np.flatnonzero(survived.any(axis=1))[-1]) + 1 if survived.any() else 0):
        changed = np.flatnonzero((W[s] != W[s - 1]).any(axis=0))
        if s % STATES_PER_PRODUCT == 0 or 2 * changed.size > W.shape[2]:
            scores = W[s] @ basis
        else:
            scores = scores + (W[s] - W[s - 1])[:, changed] @ basis[changed]
        if survived[s].any():
            total = total + survived[s][:, None] * np.sign(scores)
    return total


def _survived(recording: Recording, estimator: Any, y: Array, t: int) -> Array:
    """Return how many of the first t trials of each problem ended with each of the weights.

    Rows of a third class are not trials of a pair of classes, and a problem that has stopped has no more trials.
    """
    classes, label = np.unique(y, return_inverse=True)
    sign = coding_matrix(classes.size, estimator.multiclass)
    takes_part = sign[label[recording.row]] != 0
    if recording.row.size and recording.row[0] < 0:  # a batch is a trial of each problem
        takes_part[:] = True
    expansion = getattr(estimator, "_expansion", None)
    total = estimator._stream.state.t[: sign.shape[1]] if expansion is None else expansion.trials
    counted = takes_part & (np.cumsum(takes_part, axis=0) <= np.maximum(total, 1))
    survived = np.zeros((len(recording.W), sign.shape[1]))
    np.add.at(survived, recording.at[:t], counted[:t].astype(np.float64))
    return survived


def _lead(scores: Array) -> Array:
    """Return by how much the best class is ahead of the second best."""
    ordered = np.sort(scores, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])
