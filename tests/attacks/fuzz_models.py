"""Load damaged and forged model files and checkpoints, and use what loads.

    NUMBA_BOUNDSCHECK=1 python -m attacks.fuzz_models --mutants 200000
    NUMBA_DISABLE_JIT=1 python -m attacks.fuzz_models --seconds 600 --seed 7

Every mutant follows from the seed and its number. A child process loads and uses them; this process watches it. What
is loaded learns, predicts, is saved, and has parameters and attributes set to what they should not be, in any order;
half of the mutants are sound files, so that this is what they are about. Checkpoints are resumed. What counts as a
failure: a crash, a mutant that takes more than `SECONDS` of processor time, an error that is not of the package,
memory beyond `BYTES_PER_FILE_BYTE` times the file (and beyond `FREE_BYTES`). With NUMBA_BOUNDSCHECK=1 a loop that reads
or writes outside of an array is an IndexError; of those that go by pointers only NUMBA_DISABLE_JIT=1 tells. Prints the
figures, then a line for each failure; the exit code says whether there was one. `--show K` writes mutant K to the
standard output.
"""

import argparse
import contextlib
import copy
import dataclasses
import io
import json
import math
import mmap
import os
import re
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from threading import Thread

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import rosenblatt
from attacks.forge import content, join, split
from chunk_source import MemorySource, job_of
from rosenblatt.errors import RosenblattError
from rosenblatt.training.checkpoint import Checkpoint
from rosenblatt.training.chunked import learn_chunks

# Processor time that a mutant may take, memory that it may take for each of its bytes, and that any may.
SECONDS = 20.0
BYTES_PER_FILE_BYTE = 10
FREE_BYTES = 1 << 26
# Memory beyond which the child gets a MemoryError, so that the machine does not suffer.
MOST_BYTES = 1 << 31
MOST_FAILURES = 20
# Where files are written without a disk, if there is such a place.
SHARED_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None

X = np.random.default_rng(0).integers(0, 3, (24, 4)).astype(float)
Y = np.arange(24) % 3
WILD = [
    *(None, True, -1, 0, 1, 5, 2**31, 2**53, 2**63, 10**30, 10**400, -0.5, 1e300, 5e-324),
    *("", "ovo", "ovo-vote", "joint", "Run", "coef_", "a" * 5000, [], [[]], {}, [0] * 5000),
    *({"tensor": "coef_"}, {"tensor": "nowhere"}, {"float": "nan"}, {"float": "inf"}, {"tuple": []}, {"os": "system"}),
    *({"enum": ["Stop", "SEPARATED"]}, {"scalar": ["int64", 3]}, {"scalar": ["str", "x"]}, {"scalar": ["bool", True]}),
    *({"dict": [["a", 1]]}, {"dict": [[1, 2], [1.0, 3]]}, {"numbers": "coef_"}, {"objects": [1, "a", None]}),
    *({"objects": []}, {"text": "learned.classes"}, {"strings": {"utf8": "x", "ends": "y"}}, {"tuple": [0] * 2000}),
]
DTYPES = ["F64", "F32", "F16", "I64", "I32", "I8", "U8", "U32", "U64", "BOOL", "BF16", "C64", "", None, 3]
NUMBERS = [np.nan, np.inf, -1.0, 1e300, 5e-324, np.int64(-1), np.int64(2**40), np.int64(7), np.int64(2**63 - 1)]


def models():
    """Yield a model for each kind of state that there is."""
    fresh = [
        rosenblatt.Perceptron(penalty="elasticnet"),
        rosenblatt.Perceptron(multiclass="ovo", random_state=np.random.RandomState(0)),
        rosenblatt.AveragedPerceptron(multiclass="joint", class_weight={0: 2.0, 1: 1.0, 2: 1.0}),
        rosenblatt.PassiveAggressive(C=np.inf, init=(np.ones(4), 0.5)),
        rosenblatt.SoftMargin(average=True),
        rosenblatt.AROW(),
        rosenblatt.AROW(covariance="full"),
        rosenblatt.Winnow(),
        rosenblatt.ALMA(),
        rosenblatt.ROMMA(),
        rosenblatt.PNormPerceptron(),
        rosenblatt.Winnow(balanced=False),
    ]
    yield from (model.partial_fit(X, Y) for model in fresh)
    wide = sp.csr_array((X.ravel(), (np.arange(96) // 4, np.arange(96) % 4 * 900)), shape=(24, 4000))
    yield from (model.partial_fit(wide, Y) for model in (rosenblatt.AveragedPerceptron(), rosenblatt.AROW()))
    for rows in (X, sp.csr_array(X)):
        yield rosenblatt.VotedPerceptron().partial_fit(rows, np.array(["a", "b", "cc"])[Y])
    yield rosenblatt.Perceptron().fit(X, np.array(["a", "b", "cc"], object)[Y])
    yield from (rosenblatt.PocketPerceptron(max_iter=3).fit(X, Y), rosenblatt.MaximumMargin().fit(X, Y))
    yield rosenblatt.Perceptron().fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])  # with a proof
    for rows in (X, sp.csr_array(X)):
        yield rosenblatt.KernelPerceptron(kernel="laplacian", aggregate="vote").partial_fit(rows, Y)
    yield rosenblatt.KernelPerceptron(kernel="precomputed", aggregate="average", max_iter=3).fit(X @ X.T, Y)
    for rule in ("random", "forgetron", "projectron"):
        yield rosenblatt.KernelPerceptron(budget=4, budget_rule=rule, multiclass="ovo").partial_fit(X, Y)
    yield from (rosenblatt.AssociationUnits(n_units=5, fan_in=fan_in).fit(X) for fan_in in (None, 2))
    named = rosenblatt.AveragedPerceptron()
    for row, label in zip(X, Y, strict=True):
        named.learn_one({"a": row[0], "b": row[1]}, int(label))
    yield from (named, rosenblatt.AdalineRegressor().fit(X, X[:, 0]), rosenblatt.Perceptron())


def originals():
    """Return the bytes of a file for each model, and of checkpoints."""
    found = []
    for model in models():
        file = io.BytesIO()
        rosenblatt.save(model, file)
        found.append(file.getvalue())
        if hasattr(model, "coef_") and len(found) % 4 == 0:
            file = io.BytesIO()
            model._named_model().save(file)
            found.append(file.getvalue())
    return found + [checkpoint(number) for number in range(len(CHECKPOINTS))]


# --------------------------------------------------------------------------------------------------------- checkpoints

# Learner, its parameters, more of the job: a checkpoint is taken of each.
CHECKPOINTS = [
    ("perceptron", {}, {}),
    ("perceptron", {}, {"batch": True, "keep": "best"}),
    ("averaged", {"eta0": 0.3}, {"hold_out": (5, 0), "keep": "best", "tol": 1e-3, "n_iter_no_change": 2}),
    ("averaged", {}, {"order": "shuffled"}),
    ("arow", {}, {"keep": "best"}),
    ("soft-margin", {"penalty": "elasticnet"}, {"tol": 1e-3}),
]


class Stopped(Exception):
    """A training that was cut off."""


def training(number, path, *, stop_after=None, resume=False):
    """Run a training with a checkpoint; cut it off after so many chunks, or resume it."""
    name, parameters, more = CHECKPOINTS[number]
    kept, chunks = Checkpoint(path, 1e9, f"training {number}"), []

    def after_chunk(runner):
        chunks.append(runner)
        if len(chunks) == stop_after:
            kept.write(runner)
            raise Stopped

    source = MemorySource(sp.csr_matrix(X), np.array(["a", "b", "cc"])[Y], rows=7)
    job = job_of(name, parameters, source, epochs=4, after_chunk=after_chunk, **more)
    return learn_chunks(job, kept.resume() if resume else None)


def checkpoint(number):
    """Return the bytes of a checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        with contextlib.suppress(Stopped):
            training(number, path, stop_after=6)
        return path.read_bytes()


def resume(data):
    """Go on from the bytes of a checkpoint."""
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as folder:
        path = Path(folder) / "checkpoint"
        path.write_bytes(data)
        number = re.search(rb"training (\d)", data)
        training(int(number[1]) % len(CHECKPOINTS) if number else 0, path, resume=True)


# ---------------------------------------------------------------------------------------------------------- mutations


def damage(data, random):
    """Change bytes, as a bad disk or a broken transfer does."""
    kind, place = random.integers(5), int(random.integers(len(data)))
    if kind == 0:
        return data[:place] + bytes([data[place] ^ 1 << int(random.integers(8))]) + data[place + 1 :]
    if kind == 1:
        return data[:place]
    if kind == 2:
        return data[:place] + random.bytes(int(random.integers(1, 20))) + data[place:]
    if kind == 3:  # the length of the header
        lengths = [0, 1, 7, len(data) - 8, len(data), 2**26, 2**63, 2**64 - 1]
        length = lengths[random.integers(len(lengths))]
        return struct.pack("<Q", length) + data[8:]
    return random.bytes(8) + data[8:] if place % 2 else data + random.bytes(8)


def places(node):
    """Yield every place in a tree of JSON, as its container and the key."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from places(node[key])


def edit_node(model, random):
    """Change a value of the model's JSON: to a wild one, to another one of the same file, or its number a little."""
    found = list(places(model))
    where, key = found[random.integers(len(found))]
    kind, old = random.integers(6), where[key]
    if kind == 0 and isinstance(where, dict):
        where[str(key) + "_"] = where.pop(key)
    elif kind == 1:
        source, other = found[random.integers(len(found))]
        with contextlib.suppress(KeyError, IndexError):
            where[key] = copy.deepcopy(source[other])
    elif kind == 2 and type(old) in (int, float) and abs(old) < 1e300:
        where[key] = [old + 1, old - 1, -old, old * 1000, float(old), int(old) if abs(old) < 1e9 else 0][
            random.integers(6)
        ]
    elif kind == 3 and isinstance(where, list):
        where.insert(key, copy.deepcopy(old)) if random.integers(2) else where.pop(key)
    else:
        where[key] = copy.deepcopy(WILD[random.integers(len(WILD))])


def edit_tensor(header, tensors, random):
    """Lie about the type, the shape or the place of a tensor, or change its numbers."""
    names = [name for name in header if name != "__metadata__"]
    if not names:
        return tensors
    kind, name = random.integers(6), names[random.integers(len(names))]
    entry = header[name]
    if kind == 0:
        entry["dtype"] = DTYPES[random.integers(len(DTYPES))]
    elif kind == 1:
        shape = entry["shape"]
        shapes = [shape[::-1], [*shape, 1], [int(np.prod(shape))], [-1], "x", [2**62] * 3, [0, *shape], [1] * 40]
        entry["shape"] = shapes[random.integers(len(shapes))]
    elif kind == 2:
        other = names[random.integers(len(names))]
        header[name], header[other] = header[other], header[name]
    elif kind == 3:
        place = int(random.integers(max(len(tensors) - 8, 1)))
        wild = np.array(NUMBERS[random.integers(len(NUMBERS))]).tobytes()
        return tensors[:place] + wild + tensors[place + 8 :]
    elif kind == 4:
        return miscount(header, tensors, random)
    else:
        entry["data_offsets"] = [int(n) for n in random.integers(-8, 200, 2)]
    return tensors


def miscount(header, tensors, random):
    """Change one of the whole numbers, to one that is just, or far, outside of what there is."""
    entries = [entry for entry in header.values() if entry.get("dtype") in ("I64", "I32") and 0 not in entry["shape"]]
    if not entries:
        return tensors
    entry = entries[random.integers(len(entries))]
    start, end = entry["data_offsets"]
    numbers = np.frombuffer(tensors[start:end], {"I64": "<i8", "I32": "<i4"}[entry["dtype"]]).copy()
    wild = [-1, 0, 3, 4, 5, 24, 2**30, int(numbers.max()) + 1, numbers.size]
    with np.errstate(over="ignore"):
        numbers[random.integers(numbers.size)] = np.array(wild[random.integers(len(wild))]).astype(numbers.dtype)
    return tensors[:start] + numbers.tobytes() + tensors[end:]


def edit_text(header, random):
    """Change a few letters of the model's JSON."""
    text = header["__metadata__"]["model"]
    place = int(random.integers(len(text)))
    letters = "".join(random.choice(list('[]{}",:0123456789.eE-\\u null'), random.integers(0, 4)))
    header["__metadata__"]["model"] = text[:place] + letters + text[place + int(random.integers(0, 4)) :]


def splice(model, files, random):
    """Take an entry of another file's model."""
    other = content(split(files[random.integers(len(files))])[0])
    section = str(random.choice(["parameters", "attributes"]))
    if isinstance(other.get(section), dict) and isinstance(model.get(section), dict) and other[section]:
        name = str(random.choice(list(other[section])))
        model[section][name] = other[section][name]
    elif random.integers(2):
        model["class"] = other["class"]


def forge(data, files, random):
    """Tell some lies under a seal that fits."""
    header, tensors = split(data)
    model = content(header)
    for _ in range(random.integers(1, 4)):
        kind = random.integers(8)
        if kind <= 3:
            edit_node(model, random)
        elif kind == 4:
            splice(model, files, random)
        elif isinstance(header, dict):
            with contextlib.suppress(TypeError, ValueError, KeyError):  # an earlier lie has made this one impossible
                tensors = edit_tensor(header, tensors, random)
    header["__metadata__"]["model"] = json.dumps(model)
    if random.integers(10) == 0:
        edit_text(header, random)
    return join(header, tensors)


def mutant(files, seed, k):
    """Return the bytes of a mutant: half of them sound, to be mistreated when they are loaded."""
    random = np.random.default_rng([seed, k])
    data = files[k % len(files)]
    kind = random.integers(8)
    return data if kind < 4 else forge(data, files, random) if kind < 7 else damage(data, random)


# --------------------------------------------------------------------------------------------------------------- use

# What a parameter or an attribute may be set to: sensible for one, and wild for the others.
VALUES = [
    *(
        None,
        True,
        False,
        -1,
        0,
        1,
        2,
        5,
        10**30,
        0.5,
        1e300,
        np.nan,
        np.inf,
        "",
        "auto",
        "balanced",
        "ovr",
        "ovo",
        "joint",
    ),
    *(
        "ovo-vote",
        "full",
        "diagonal",
        "hinge",
        "logistic",
        "l1",
        "l2",
        "random",
        "forgetron",
        "rbf",
        "linear",
        "vote",
        "best",
    ),
    *({0: 2.0}, {"a": 0.0}, [], [1.0], (np.ones(4), 0.5), (np.ones(9), np.ones(2)), np.random.RandomState(0)),
]
ARRAYS = [
    *(np.ones((1, 4)), np.ones((3, 4)), np.ones((4, 4)), np.ones(3), np.ones(4), np.zeros(0), np.ones((3, 4), "f4")),
    *(np.full((3, 4), np.nan), np.arange(3), np.arange(9), np.array(["a", "b"]), np.array(["a", 1, None], object)),
    *(np.ones((5, 4)), np.zeros((5, 5)), np.ones((3, 4, 2)), sp.csr_matrix(np.ones((3, 4))), 1e300 * np.ones((3, 4))),
]
ATTRIBUTES = [
    *("coef_", "intercept_", "classes_", "n_features_in_", "feature_names_in_", "t_", "mistakes_", "n_iter_", "run_"),
    *("intercept_scaling_", "covariance_", "averaged_", "gamma_", "dual_coef_"),
    *("support_", "support_vectors_", "weights_", "bias_", "stop_reason_", "margin_"),
]


def rows_for(model, random):
    """Return rows as a model takes them: dense or sparse, of its width or nearly."""
    width = getattr(model, "n_features_in_", None)
    width = model.W.shape[1] if hasattr(model, "W") else width
    width = width if isinstance(width, int) and 0 < width < 10**6 else 4
    rows = random.integers(0, 3, (3, width + int(random.integers(12) == 0))).astype(["f8", "f4"][random.integers(2)])
    return sp.csr_array(rows) if random.integers(3) == 0 else rows


def labels_for(model, random):
    """Return labels: of classes that are known, as a rule."""
    classes = getattr(model, "classes_", None)
    if not isinstance(classes, np.ndarray) or not classes.size or random.integers(4) == 0:
        return random.integers(0, 4, 3)
    return classes[random.integers(0, classes.size, 3)]


def predict(model, random):
    """Ask a model for everything that it says of rows."""
    rows = rows_for(model, random)
    json.dumps(repr(model))
    if hasattr(model, "transform"):
        model.transform(rows)
        return
    model.predict(rows)
    for name in ("decision_function", "distance", "predict_proba"):
        if hasattr(model, name) and random.integers(3) == 0:
            getattr(model, name)(rows)
    if hasattr(model, "predict_one") and not sp.issparse(rows) and random.integers(3) == 0:
        model.predict_one(rows[0])
    if hasattr(model, "alpha_") or type(model).__name__ == "VotedPerceptron":
        for way in ("last", "average", "vote"):
            model.predict(rows, way)
    if getattr(model, "run_", None) is not None:
        model.run_.guarantees()


def learn(model, random):
    """Let a model learn from a few rows."""
    if hasattr(model, "partial_fit"):
        model.partial_fit(rows_for(model, random), labels_for(model, random))


def learn_one(model, random):
    """Let a model learn from rows, one by one."""
    if hasattr(model, "learn_one"):
        rows, labels = rows_for(model, random), labels_for(model, random)
        named = random.integers(6) == 0
        for k in range(3):
            row = rows[[k]] if sp.issparse(rows) else rows[k]
            model.learn_one({"a": 1.0, f"n{k}": 2.0} if named else row, labels[k])


def fit(model, random):
    """Fit a model anew, for a few epochs."""
    if "max_iter" in getattr(model, "get_params", dict)():
        model.set_params(max_iter=2)
        model.fit(rows_for(model, random), [0, 1, 0])


def set_parameter(model, random):
    """Set a parameter to something."""
    if hasattr(model, "get_params"):
        names = sorted(model.get_params())
        if names:
            model.set_params(**{names[random.integers(len(names))]: VALUES[random.integers(len(VALUES))]})


def set_attribute(model, random):
    """Assign something to an attribute, where Python lets one."""
    name = ATTRIBUTES[random.integers(len(ATTRIBUTES))]
    if not hasattr(model, name):
        return
    values = ARRAYS if random.integers(3) else VALUES
    with contextlib.suppress(AttributeError):  # it cannot be assigned
        setattr(model, name, copy.deepcopy(values[random.integers(len(values))]))


def resized(array, random):
    """Return an array with other sides, another type, or gaps between its values."""
    kind = random.integers(5)
    if kind == 0:
        return array[..., :-1].copy() if array.ndim else array
    if kind == 1:
        return array[:-1].copy() if array.ndim else array
    if kind == 2:
        return array.astype([np.float32, np.float64, np.int64, np.int32][random.integers(4)])
    if kind == 3:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    return ARRAYS[random.integers(len(ARRAYS) - 1)]


def replace_learned(model, random):
    """Replace an array of the state, the columns of the names, the classes, or a part of an expansion."""
    if "_expansion" in vars(model):
        fields = ["coef", "rows", "trials"]
        name = fields[random.integers(3)]
        array = np.asarray(getattr(model._expansion, name))
        model._expansion = dataclasses.replace(model._expansion, **{name: resized(array, random)})
    stream = vars(model).get("_stream")
    if stream is None or stream.state is None:
        return
    kind = random.integers(6)
    if kind == 0 and stream.columns is not None:
        stream.columns = type(stream.columns)({name: int(random.integers(-9, 99)) for name in stream.columns})
    elif kind == 1:
        stream.classes = np.arange(random.integers(1, 6))[:: 1 if random.integers(2) else -1]
    else:
        name = stream.state._fields[random.integers(len(stream.state))]
        stream.state = stream.state._replace(**{name: resized(getattr(stream.state, name), random)})


def store(model, random):
    """Save a model and load it."""
    if hasattr(model, "get_params"):
        file = io.BytesIO()
        rosenblatt.save(model, file)
        rosenblatt.load(file.getvalue())


STEPS = (
    *(predict, predict, learn, learn, learn_one, learn_one, fit, set_parameter, set_parameter, set_attribute),
    *(replace_learned, store),
)


def use(model, random):
    """Do with a model what one does, and should not do, with a model; an error of the package ends no story."""
    refused = 0
    for number in random.integers(len(STEPS), size=5).tolist():
        try:
            STEPS[number](model, random)
        except (RosenblattError, NotFittedError):
            refused += 1
    return "loaded" if not refused else "loaded, some refused"


def outcome(data, seed=0):
    """Load and use a file; return what came of it, and the traceback of an error that is not of the package."""
    random = np.random.default_rng(seed)
    try:
        if b'"Checkpoint\\"' in data[:20000]:
            resume(data)
            return "resumed", None
        model = rosenblatt.load(data)
    except RosenblattError as error:
        return ("short", str(error)) if len(str(error)) < 60 else ("refused", None)
    except Exception:
        return "leaked", traceback.format_exc(limit=-3)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return use(model, random), None
    except Exception:
        return "failed in use", traceback.format_exc(limit=-4)


FINE = ("refused", "resumed", "loaded", "loaded, some refused")


def resident(field):
    """Return a figure of /proc/self/status in bytes; 0 where there is none."""
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field):
                return 1024 * int(line.split()[1])
    return 0


def reset_peak():
    """Let the largest memory of this process be what it has now."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def declared(data):
    """Return the bytes that the sparse arrays of a file take when they are dense, up to the limit of this process."""
    try:
        shapes = [where[key].get("shape") for where, key in places(content(split(data)[0])) if key == "sparse"]
        return min(MOST_BYTES, 8 * sum(math.prod(shape) for shape in shapes))
    except (ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError):
        return 0


def measured(data, seed):
    """Return the outcome of a file, and the memory that it took."""
    reset_peak()
    before = resident("VmRSS")
    return *outcome(data, seed), resident("VmHWM") - before


# ------------------------------------------------------------------------------------------------------------ running


def work(files, seed, numbers, progress, report):
    """Go through mutants, in a child process: tell the number of each before it is tried, and what came of it."""
    warnings.simplefilter("ignore")
    size = resident("VmSize")
    if size:
        resource.setrlimit(resource.RLIMIT_AS, (size + MOST_BYTES, resource.RLIM_INFINITY))
    counts, most = {}, (0.0, 0, 0)
    for k in numbers:
        struct.pack_into("<q", progress, 0, k)
        data = mutant(files, seed, k)
        kind, text, taken = measured(data, [seed, k])
        if taken > FREE_BYTES:  # perhaps of the compiler, which comes once
            kind, text, taken = measured(data, [seed, k])
        most = max(most, (taken / len(data) if taken > FREE_BYTES else 0.0, taken, k))
        if taken > max(FREE_BYTES, BYTES_PER_FILE_BYTE * len(data)) + declared(data):
            kind, text = "memory", f"{taken} bytes for a file of {len(data)}"
        counts[kind] = counts.get(kind, 0) + 1
        if kind not in FINE:
            report.write(json.dumps(["failure", k, kind, text]) + "\n")
        if k % 64 == 0 or kind not in FINE:
            report.write(json.dumps(["counts", counts]) + "\n")
            report.flush()
            counts = {}
    report.write(json.dumps(["counts", counts]) + "\n")
    report.write(json.dumps(["most", most]) + "\n")
    report.flush()


def processor_seconds(child):
    """Return the processor time of a process, so that a busy machine is not taken for a mutant that hangs."""
    try:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(child, progress):
    """Wait for a child; return how it ended: None if well."""
    last, since = -1, 0.0
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            if os.WIFSIGNALED(status):
                return f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
            return None if os.WEXITSTATUS(status) == 0 else f"exit code {os.WEXITSTATUS(status)}"
        (now,) = struct.unpack_from("<q", progress, 0)
        spent = processor_seconds(child)
        if now != last:
            last, since = now, spent
        elif spent - since > SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"more than {SECONDS} s"
        time.sleep(0.05)


def fuzz(mutants, seconds, seed):
    """Try mutants until there were enough, or the time is over; return counts, failures and the largest memory."""
    files = originals()
    for data in files:  # what was not damaged must load: else this script shows nothing
        assert outcome(join(*split(data)))[0] in FINE, outcome(data)
    progress, counts, failures, start = mmap.mmap(-1, 8), {}, [], 0
    deadline = time.monotonic() + (seconds or 1e9)
    most = (0.0, 0, 0)
    while start < mutants and time.monotonic() < deadline and len(failures) < MOST_FAILURES:
        stop = mutants if seconds is None else min(mutants, start + 2000)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            with os.fdopen(write, "w") as report:
                code = 1
                try:
                    work(files, seed, range(start, stop), progress, report)
                    code = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    report.flush()
                    os._exit(code)
        os.close(write)
        with os.fdopen(read) as report:
            os.set_blocking(read, True)
            lines, end = drain(report, child, progress)
        for what, *rest in map(json.loads, lines):
            if what == "counts":
                for kind, count in rest[0].items():
                    counts[kind] = counts.get(kind, 0) + count
            elif what == "most":
                most = max(most, tuple(rest[0]))
            else:
                failures.append(rest)
        start = stop
        if end is not None:
            (k,) = struct.unpack_from("<q", progress, 0)
            failures.append([k, "crash", end])
            start = k + 1
    return counts, failures, most, start


def drain(report, child, progress):
    """Return what a child reported, and how it ended; reports are read as it runs, because a pipe is small."""
    lines = []
    reader = Thread(target=lambda: lines.extend(report.read().splitlines()))
    reader.start()
    end = watch(child, progress)
    reader.join()
    return lines, end


def main():
    parser = argparse.ArgumentParser(description="Load damaged and forged model files and checkpoints, and use them.")
    parser.add_argument("--mutants", type=int, default=10**12)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.show is not None:
        sys.stdout.buffer.write(mutant(originals(), options.seed, options.show))
        return
    began = time.monotonic()
    counts, failures, most, tried = fuzz(options.mutants, options.seconds, options.seed)
    print(f"{tried} mutants in {time.monotonic() - began:.0f} s: {json.dumps(counts, sort_keys=True)}")
    print(f"most memory: {most[1]} bytes (mutant {most[2]})")
    for failure in failures[:MOST_FAILURES]:
        print("FAILURE", *failure)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
