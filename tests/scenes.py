"""Scenes of the lab, by lot: for the tests that hold whatever is shown."""

import numpy as np

from rosenblatt.lab.catalogue import DATA, learner_names, learners
from rosenblatt.lab.scene import Scene

PER_LEARNER = 20
learners()  # imported here, and not by a strategy, where nothing may touch a source of random numbers


def random_value(control, random):
    if control.kind == "choice":
        return control.choices[random.integers(len(control.choices))]
    if control.kind == "bool":
        return bool(random.integers(2))
    if control.kind == "int":
        return int(random.integers(control.low, control.high + 1))
    if control.log:
        return float(np.exp(random.uniform(np.log(control.low), np.log(control.high))))
    return float(np.round(random.uniform(control.low, control.high), 2))


def random_points(random, n_classes):
    n = int(random.integers(2 * n_classes, 14))
    X = np.round(random.normal(0, 1.5, (n, 2)), 2) + 0.0
    return [[*row, k % n_classes] for k, row in enumerate(X.tolist())]


def random_params(name, random):
    """Some parameters of a learner, by lot, without those that do not go together."""
    controls = [control for control in learners()[name].params if random.random() < 0.4]
    params = {control.name: random_value(control, random) for control in controls}
    if params.get("penalty") or params.get("margin"):
        params.pop("batch", None)
    if params.get("budget"):
        params.pop("margin", None)
    if name in ("AROW", "SoftMargin") and params.get("multiclass") == "joint":
        params.pop("multiclass")
    if name == "Winnow":  # the other form takes no negative features
        params["balanced"] = True
        params["factor"] = 1.2
    if name == "Adaline":
        params |= {"eta0": 0.1, "normalised": True}
    return params


def random_scene(name, seed):
    """A scene with a learner: a small set, or points, and parameters by lot."""
    random = np.random.default_rng([seed, learner_names().index(name)])
    data = str(random.choice(["or", "and", "xor", "clouds", "overlap", "moons", "circle", "four", "points", "spam"]))
    scene = {"data": data, "learner": name, "params": random_params(name, random), "epochs": int(random.integers(1, 9))}
    scene["order"] = str(random.choice(["cyclic", "shuffled", "random"]))
    scene["seed"] = int(random.integers(100))
    if data == "points":
        scene["points"] = random_points(random, int(random.integers(2, 5)))
    if data in DATA and DATA[data].controls:
        scene |= {"n": int(random.integers(8, 30)), "data_seed": int(random.integers(100))}
    if not learners()[name].kernel and random.random() < 0.3 and data != "spam":
        scene |= {"features": str(random.choice(["quadratic", "cubic", "units"])), "units": 12}
    return Scene.from_dict(scene)
