"""Load damaged and forged model files, and use what loads; run as a script, so that a crash is seen as an exit code.

Prints how many files were refused and how many gave a model, which was then put to use.
"""

import contextlib
import copy
import io
import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rosenblatt
from attacks.forge import content, join, split
from rosenblatt.errors import InvalidInput

VERSION_1 = Path(__file__).parents[1] / "storage" / "version_1"
RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, (24, 4)).astype(float)
Y = np.arange(24) % 3
WILD = [
    None,
    True,
    -1,
    0,
    1,
    5,
    2**31,
    2**53,
    2**63,
    10**30,
    -0.5,
    1e300,
    "",
    "ovo",
    "joint",
    "Run",
    "coef_",
    [],
    [[]],
    {},
]
WILD += [
    {"tensor": "coef_"},
    {"tensor": "nowhere"},
    {"float": "nan"},
    {"float": "inf"},
    {"tuple": []},
    {"os": "system"},
]
WILD += [{"enum": ["Stop", "SEPARATED"]}, {"scalar": ["int64", 3]}, {"dict": [["a", 1]]}, {"numbers": "coef_"}]
DTYPES = ["F64", "F32", "F16", "I64", "I32", "I8", "U8", "U32", "U64", "BOOL", "BF16", "C64", "", None, 3]


def originals(folder):
    """Yield the bytes of a file for each kind of state that there is, and of the files of version 1."""
    fresh = [
        rosenblatt.Perceptron(penalty="elasticnet"),
        rosenblatt.Perceptron(multiclass="ovo", random_state=np.random.RandomState(0)),
        rosenblatt.AveragedPerceptron(multiclass="joint", class_weight={0: 2.0, 1: 1.0, 2: 1.0}),
        rosenblatt.PassiveAggressive(C=np.inf, init=(np.ones(4), 0.5)),
        rosenblatt.SoftMargin(average=True),
        rosenblatt.AROW(),
        rosenblatt.AROW(covariance="full"),
        rosenblatt.Winnow(),
        rosenblatt.Winnow(balanced=False),
    ]
    models = [model.partial_fit(X, Y) for model in fresh]
    for rows in (X, sp.csr_array(X)):
        models.append(rosenblatt.VotedPerceptron().partial_fit(rows, np.array(["a", "b", "cc"])[Y]))
    models.append(rosenblatt.Perceptron().fit(X, np.array(["a", "b", "cc"], object)[Y]))
    models += [rosenblatt.PocketPerceptron(max_iter=3).fit(X, Y), rosenblatt.MaximumMargin().fit(X, Y)]
    for rows in (X, sp.csr_array(X)):
        models.append(rosenblatt.KernelPerceptron(kernel="laplacian", aggregate="vote").partial_fit(rows, Y))
    models.append(rosenblatt.KernelPerceptron(kernel="precomputed", aggregate="average", max_iter=3).fit(X @ X.T, Y))
    for rule in ("random", "forgetron", "projectron"):
        models.append(rosenblatt.KernelPerceptron(budget=4, budget_rule=rule, multiclass="ovo").partial_fit(X, Y))
    models += [rosenblatt.AssociationUnits(n_units=5, fan_in=fan_in).fit(X) for fan_in in (None, 2)]
    models += [rosenblatt.AdalineRegressor().fit(X, X[:, 0]), rosenblatt.Perceptron()]
    for model in models:
        rosenblatt.save(model, folder / "original")
        yield (folder / "original").read_bytes()
    for path in sorted(VERSION_1.glob("*.safetensors")):
        yield path.read_bytes()


def damage(data):
    """Change bytes, as a bad disk or a broken transfer does."""
    kind = RNG.integers(4)
    place = int(RNG.integers(len(data)))
    if kind == 0:
        return data[:place] + bytes([data[place] ^ 1 << int(RNG.integers(8))]) + data[place + 1 :]
    if kind == 1:
        return data[:place]
    if kind == 2:
        return data[:place] + RNG.bytes(int(RNG.integers(1, 20))) + data[place:]
    return RNG.bytes(8) + data[8:] if place % 2 else data + RNG.bytes(8)


def places(node):
    """Give every place in a tree of JSON, as its container and the key."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from places(node[key])


def forge(data):
    """Tell a lie under a seal that fits."""
    header, tensors = split(data)
    model = content(header)
    names = [name for name in header if name != "__metadata__"]
    kind = RNG.integers(9) if names else 0
    if kind <= 2:
        found = list(places(model))
        where, key = found[RNG.integers(len(found))]
        where[key] = copy.deepcopy(WILD[RNG.integers(len(WILD))])
        if kind == 2 and isinstance(where, dict):
            where[str(key) + "_"] = where.pop(key)
    elif kind == 3:
        entry = header[names[RNG.integers(len(names))]]
        entry["dtype"] = DTYPES[RNG.integers(len(DTYPES))]
    elif kind == 4:
        entry = header[names[RNG.integers(len(names))]]
        entry["shape"] = [
            entry["shape"][::-1],
            [*entry["shape"], 1],
            [int(np.prod(entry["shape"]))],
            [-1],
            "x",
            [2**62] * 3,
        ][RNG.integers(6)]
    elif kind == 5:
        one, other = (names[i] for i in RNG.integers(len(names), size=2))
        header[one], header[other] = header[other], header[one]
    elif kind == 6:
        place = int(RNG.integers(max(len(tensors) - 8, 1)))
        wild = [np.nan, np.inf, -1.0, 1e300, np.int64(-1), np.int64(2**40), np.int64(7)][RNG.integers(7)]
        tensors = tensors[:place] + np.array(wild).tobytes() + tensors[place + 8 :]
    elif kind == 7:
        tensors = miscount(header, tensors)
    else:
        header[names[RNG.integers(len(names))]]["data_offsets"] = [int(n) for n in RNG.integers(-8, 200, 2)]
    return join(header, tensors, model=model)


def miscount(header, tensors):
    """Change one of the whole numbers, to one that is just, or far, outside of what there is."""
    entries = [entry for entry in header.values() if entry.get("dtype") in ("I64", "I32") and 0 not in entry["shape"]]
    if not entries:
        return tensors
    entry = entries[RNG.integers(len(entries))]
    start, end = entry["data_offsets"]
    numbers = np.frombuffer(tensors[start:end], {"I64": "<i8", "I32": "<i4"}[entry["dtype"]]).copy()
    wild = [-1, 0, 3, 4, 5, 24, 2**30, int(numbers.max()) + 1, numbers.size]
    numbers[RNG.integers(numbers.size)] = wild[RNG.integers(len(wild))]
    return tensors[:start] + numbers.tobytes() + tensors[end:]


def use(model):
    """Do with a model what one does with a model."""
    count = getattr(model, "n_features_in_", 4)
    rows = np.ones((3, min(count, 10**6)))
    if hasattr(model, "transform"):
        model.transform(rows)
        model.transform(sp.csr_array(rows))
        return
    model.predict(rows)
    if hasattr(model, "alpha_") and model.budget is None:
        for method in ("last", "average", "vote"):
            model.predict(rows, method)
    if getattr(model, "kernel", None) == "precomputed":
        return
    model.predict(sp.csr_array(rows))
    if hasattr(model, "decision_function"):
        model.decision_function(sp.csr_array(rows))
    if hasattr(model, "partial_fit"):
        model.partial_fit(sp.csr_array(rows), model.classes_[[0, 0, 0]] if hasattr(model, "classes_") else [0, 1, 0])
        model.predict(rows)


def main(count):
    refused = accepted = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = list(originals(folder))
        for data in files:  # what was not damaged must load: else this script shows nothing
            (folder / "model").write_bytes(join(*split(data)))
            rosenblatt.load(folder / "model")
        for k in range(count):
            data = files[k % len(files)]
            (folder / "model").write_bytes((forge if k % 3 else damage)(data))
            try:
                model = rosenblatt.load(folder / "model")
            except InvalidInput as error:
                assert len(str(error)) > 60, error
                refused += 1
                continue
            accepted += 1
            with contextlib.suppress(ValueError), contextlib.redirect_stdout(io.StringIO()):
                use(model)
            json.dumps(repr(model))
    print(refused, accepted)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]))
