"""Model files: any estimator of the family, fitted or not, saved and loaded.

A file can name only what the tables below hold. `load` believes nothing that it reads: a model is put together only if
its parts fit one another, so that no kernel will ever read outside an array. `save` holds a model to the same, so that
whatever it writes can be loaded. The format is described in docs/reference/model-files.md.
"""

from __future__ import annotations

import errno
import inspect
import math
import os
import stat
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp

from rosenblatt.compiled.epochs import Exponents, GaussianWeights, Pocket, Weights
from rosenblatt.dual.budget import BudgetState
from rosenblatt.dual.expansion import Expansion, Log
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators import adaline as minimisers
from rosenblatt.estimators import association
from rosenblatt.estimators import kernel_perceptron as kernelized
from rosenblatt.estimators import perceptron as estimators
from rosenblatt.estimators.base import require_one_of
from rosenblatt.learn.model import by_pairs, count_problems
from rosenblatt.learn.stopping import Stop
from rosenblatt.learn.trainer import Run
from rosenblatt.proof.certificate import Certificate
from rosenblatt.storage.container import Content, Fault, expect, fields, is_label, is_whole, read, write

# What may be among the attributes of a model, beside numbers, text and arrays.
_TYPES: dict[str, type] = {
    "Certificate": Certificate,
    "Run": Run,
    "Stop": Stop,
    "Weights": Weights,
    "Gaussian": GaussianWeights,
    "Exponents": Exponents,
    "Pocket": Pocket,
    "Expansion": Expansion,
    "Log": Log,
    "Memory": BudgetState,
}
# Parameters that may be a word, and those that may be more than one value; the others are a number or None.
_WORDS = {
    "aggregate",
    "budget_rule",
    "class_weight",
    "covariance",
    "gamma",
    "keep",
    "kernel",
    "loss",
    "multiclass",
    "penalty",
    "schedule",
    "shuffle",
    "units",
}
_COMPOUND = {"class_weight", "init", "margin"}
# What an estimator knows of its rows, also when a fit went no further.
_INPUT = ("n_features_in_", "feature_names_in_")
# Made anew when it is needed.
_DERIVED = {"_form", "_quick"}
# What is learned has a meaning with these parameters only, so that none can be set again after loading.
_ESSENTIAL = {
    "kernel": "Fit with the name of a built-in kernel, or with kernel='precomputed' on the similarities that the "
    "function gives",
}


# ------------------------------------------------------------------------------------------------------------ public


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator of the family to a file, fitted or not, with all that it needs to go on learning.

    The file appears whole or not at all: whatever goes wrong, one that was there before stays as it was.

    Parameters
    ----------
    model : estimator
        Of one of this package's classes.
    path : str or path-like

    Raises
    ------
    InvalidInput
        If the model has something that a file cannot hold, such as a function for `callback`, `schedule` or `kernel`,
        or is not whole, as after a fit that failed.

    See Also
    --------
    load : the way back.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import Perceptron, load, save
    >>> model = Perceptron().fit([[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/or.safetensors")
    ...     load(f"{folder}/or.safetensors").predict([[0, 0], [1, 1]]).tolist()
    ['no', 'yes']
    """
    name = type(model).__name__
    kind = _KINDS.get(name)
    if kind is None or type(model) is not kind.cls:
        raise InvalidInput(
            f"A {name} cannot be saved: files hold {', '.join(_KINDS)}. Of a pipeline, save the last step."
        )
    target = Path(os.path.realpath(os.fspath(path)))
    if target.is_dir():
        raise InvalidInput(f"{target} is a directory. Give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such directory to save in", str(target.parent))
    try:
        write(target, _take_apart(model, kind), _TYPES)
    except InvalidInput as fault:
        raise InvalidInput(f"This {name} cannot be saved: {str(fault).rstrip('.')}.") from None


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator from a file that `save` wrote.

    It predicts as the one that was saved, bit for bit, and `partial_fit` goes on as if nothing had happened. Reading
    runs nothing that is in the file, and a file that was damaged or made up is refused.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator

    Raises
    ------
    InvalidInput
        If the file is not a whole and sound model file of a version that is known.
    FileNotFoundError
        If there is none.

    See Also
    --------
    save : with an example.
    """
    shown = os.fspath(path)
    mode = os.stat(shown).st_mode
    if not stat.S_ISREG(mode):
        raise InvalidInput(f"{shown} is {'a directory' if stat.S_ISDIR(mode) else 'not a file'}. Give a model file.")
    try:
        return _put_together(read(shown, _TYPES))
    except InvalidInput as fault:
        raise InvalidInput(
            f"{shown} cannot be loaded: {str(fault).rstrip('.')}. Pass a file that rosenblatt.save wrote, whole and "
            "unchanged."
        ) from None


class _Kind(NamedTuple):
    """A class that files may name, what a fit gives it, what must hold of that, and what it gives only at times."""

    cls: type
    fitted: tuple[str, ...]
    check: Callable[[Any], None]
    at_times: tuple[str, ...] = ()


def _take_apart(model: Any, kind: _Kind) -> Content:
    parameters = model.get_params(deep=False)
    learned = vars(model).keys() - {*parameters, *_DERIVED}
    for name, value in parameters.items():
        if callable(value):
            default = inspect.signature(kind.cls).parameters[name].default
            remedy = f"Call set_params({name}={default!r}) before saving, and set it again after loading"
            if name in _ESSENTIAL and not learned <= set(_INPUT):
                remedy = _ESSENTIAL[name]
            raise Fault(f"{name}={value!r} is a function, which no file can hold. {remedy}")
    # What has a public name first: equal tensors go by the name that comes first.
    attributes = {name: vars(model)[name] for name in sorted(learned, key=lambda name: (name.startswith("_"), name))}
    _build(kind, parameters, attributes)
    return {"class": kind.cls.__name__, "parameters": parameters, "attributes": attributes}


def _put_together(content: Any) -> Any:
    name, parameters, attributes = fields(content, "class", "parameters", "attributes")
    expect(isinstance(name, str) and name in _KINDS, f"it holds a {name!r:.60}, which is none of {', '.join(_KINDS)}")
    kind = _KINDS[name]
    wanted = set(inspect.signature(kind.cls).parameters)
    fits = isinstance(parameters, dict) and parameters.keys() == wanted
    expect(fits, f"the parameters of {name} are not {', '.join(sorted(wanted))}")
    expect(isinstance(attributes, dict), f"the attributes of {name} are missing")
    return _build(kind, parameters, attributes)


# ----------------------------------------------------------------------------------------- what must hold of a model


def _build(kind: _Kind, parameters: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """Give the model made of these parts; refuse one that is not whole, before it is written and after it was read."""
    for name, value in parameters.items():
        if not _is_possible(name, value):
            raise Fault(f"{name}={value!r:.60} is not possible")
    strange = attributes.keys() - {*_INPUT, *kind.fitted, *kind.at_times}
    expect(
        not strange, f"it has {', '.join(sorted(strange)):.60}, which {kind.cls.__name__} does not have. Remove that"
    )
    _check_input(attributes)
    model = kind.cls(**parameters)
    vars(model).update(attributes)
    if attributes.keys() <= set(_INPUT):
        return model
    missing = {"n_features_in_", *kind.fitted} - attributes.keys()
    expect(not missing, f"it has no {', '.join(sorted(missing))}, as after a fit that failed. Fit it again")
    kind.check(model)
    return model


def _is_possible(name: str, value: Any) -> bool:
    """Whether a parameter is of a kind that it may be; whether its value has a meaning is for `fit` to say."""
    if value is None:
        return True
    if name in ("callback", "n_jobs"):
        return name == "n_jobs" and isinstance(value, Integral)
    if isinstance(value, np.random.RandomState):
        return name == "random_state"
    if isinstance(value, str):
        return name in _WORDS
    return isinstance(value, Real | np.bool_) or (
        name in _COMPOUND and isinstance(value, tuple | list | dict | np.ndarray)
    )


def _check_input(attributes: dict[str, Any]) -> None:
    count = attributes.get("n_features_in_", 1)
    expect(is_whole(count, 1), f"n_features_in_={count!r} is not a number of features")
    names = attributes.get("feature_names_in_")
    if names is not None:
        fits = isinstance(names, np.ndarray) and names.dtype == object and names.shape == (count,)
        expect(fits and all(isinstance(name, str) for name in names), f"feature_names_in_ is not {count} names")


_NUMBERS = {"f": ("f4", "f8"), "d": ("f8",), "i": ("i4", "i8"), "l": ("i8",)}


def _check_array(name: str, array: Any, types: str, *shapes: tuple[int, ...], finite: bool = True) -> None:
    """Refuse what is not a finite array of one of the types and shapes."""
    expect(isinstance(array, np.ndarray), f"{name} is not an array")
    expect(array.dtype.str[1:] in _NUMBERS[types], f"{name} has dtype {array.dtype}, which does not belong there")
    wanted = " or ".join(map(str, shapes))
    expect(array.shape in shapes, f"{name} has shape {array.shape}, where {wanted} belongs. Fit again")
    if finite:
        expect(np.isfinite(array).all(), f"{name} has values that are not finite. Fit again")


def _check_counts(model: Any, *names: str) -> None:
    for name in names:
        value = getattr(model, name)
        expect(is_whole(value, 0, 1 << 62), f"{name}={value!r} is not a count")


def _check_classes(classes: Any) -> None:
    fits = isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.size and classes.dtype.kind in "biufUO"
    expect(fits, "classes_ are not labels")
    expect(all(is_label(label) for label in classes.tolist()), "classes_ are not labels")
    try:
        rising = bool(np.all(classes[1:] > classes[:-1]))
    except TypeError:
        rising = False
    expect(rising, "classes_ are not sorted")


def _check_rows(name: str, rows: Any, count: int, features: int) -> None:
    """Refuse what is neither a finite array nor a CSR matrix of so many rows and features."""
    if not isinstance(rows, sp.csr_matrix | sp.csr_array):
        _check_array(name, rows, "f", (count, features))
    expect(rows.shape == (count, features), f"{name} have another size")


def _check_record(name: str, record: Any, kind: type) -> None:
    """Refuse a record whose fields are not of the types that its class declares."""
    expect(type(record) is kind, f"{name} is not a {kind.__name__}")
    for field, hint in get_type_hints(kind).items():
        expect(_is_of(getattr(record, field), hint), f"{name}.{field} is not of type {hint}")


def _is_of(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    if get_origin(hint) in (Union, UnionType):
        return any(_is_of(value, choice) for choice in get_args(hint))
    if get_origin(hint) is tuple:
        return type(value) is tuple and all(_is_of(part, get_args(hint)[0]) for part in value)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool | np.bool_)
    return type(value) is (get_origin(hint) or hint)


def _check_run(run: Any, features: int) -> None:
    _check_record("run_", run, Run)
    expect(run.epochs >= 1 and run.trials >= 0, "run_ has no epochs")
    _check_array("run_.intercept", run.intercept, "f", run.intercept.shape[:1])
    _check_array("run_.coef", run.coef, "f", (run.intercept.size, features))


# The arrays of each state: the type, then the shapes, for p problems and d features, e = d + 1. What may be float32 is
# alike; "?" need not be finite.
_LAYOUTS: dict[type, dict[str, str]] = {
    Weights: {
        "W": "f pd",
        "b": "f p",
        "t": "l p",
        "scale": "d p",
        "owed": "d p",
        "paid": "d pd p0",
        "scale_sum": "d p",
        "lag": "d pd p0",
        "lag_b": "d p",
    },
    GaussianWeights: {"W": "f pd", "b": "f p", "t": "l p", "V": "d pd pee", "v": "d p"},
    Exponents: {"W": "f pd", "b": "f p", "t": "l p", "theta": "d pd", "theta_b": "d p"},
    Pocket: {
        "W": "f pd",
        "b": "f p",
        "t": "l p",
        "best_w": "f pd",
        "best_b": "f p",
        "run": "l p",
        "best_run": "l p",
        "errors": "d? p",
    },
}


def _check_state(state: Any, kind: type, counts: range, features: int) -> None:
    """Refuse a state whose arrays are not those of so many problems and features."""
    _check_record("the state", state, kind)
    expect(state.b.ndim == 1 and state.b.size in counts, f"the state has biases of shape {state.b.shape}. Fit again")
    sizes = {"p": state.b.size, "d": features, "e": features + 1, "0": 0}
    for name, layout in _LAYOUTS[kind].items():
        types, *shapes = layout.split()
        array = getattr(state, name)
        wanted = [tuple(sizes[side] for side in shape) for shape in shapes]
        _check_array(f"{name} of the state", array, types[0], *wanted, finite="?" not in types)
        expect("f" not in types or array.dtype == state.W.dtype, "the state mixes float32 with float64")
    expect(np.all(state.t >= 0), "the state has seen fewer than no trials")
    expect(kind is not Weights or np.all(state.scale > 0), "the state has scales that are not positive")


def _check_classifier(model: Any, state: type) -> None:
    _check_weights(model)
    model._check_parameters()
    _check_counts(model, "n_iter_", "t_", "mistakes_")
    expect(isinstance(model.stop_reason_, str), "stop_reason_ is not a sentence")
    features = model.n_features_in_
    _check_run(model.run_, features)
    trained = model._trained
    expect(type(trained) is tuple and len(trained) == 3, "what it was trained to is not known. Fit again")
    # A stream also trains strangers, at most one for each class.
    known = len(model.coef_)
    _check_state(trained[0], state, range(known, known + model.classes_.size + 1), features)
    # Validation against coef_ and intercept_, to see whether these were changed by hand.
    _check_array("the trained coef_", trained[1], "f", (known, features))
    _check_array("the trained intercept_", trained[2], "f", (known,))


def _check_weights(model: Any) -> None:
    _check_classes(model.classes_)
    expect(isinstance(model.multiclass, str), f"multiclass={model.multiclass!r} is not known")
    model._check_weights()
    _check_array("coef_", model.coef_, "f", np.shape(model.coef_))
    _check_array("intercept_", model.intercept_, "f", np.shape(model.intercept_))


def _check_voted(model: Any) -> None:
    _check_classifier(model, Weights)
    ballots, features = model._ballots, model.n_features_in_
    whole = type(ballots) is list and len(ballots) == model._trained[0].b.size
    expect(whole, "it has not kept its updates. Fit again")
    for ballot in ballots:
        expect(type(ballot) is tuple and len(ballot) == 3, "an update is not a row, a factor and a trial")
        vectors, factor, trial = ballot
        _check_array("the factors of the updates", factor, "d", np.shape(factor)[:1])
        _check_array("the trials of the updates", trial, "l", np.shape(factor))
        _check_rows("the rows of the updates", vectors, factor.size, features)


def _check_widest(model: Any) -> None:
    _check_weights(model)
    count = model.coef_.shape[:1]
    _check_array("margin_", model.margin_, "d", count, finite=False)
    _check_array("margin_ceiling_", model.margin_ceiling_, "d", count, finite=False)
    whole = type(model.support_) is list and len(model.support_) == count[0]
    expect(whole, "support_ is not one array for each problem")
    for rows in model.support_:
        _check_array("support_", rows, "i", np.shape(rows)[:1])
    expect(isinstance(model.stop_reason_, str), "stop_reason_ is not a sentence")


def _check_regressor(model: Any) -> None:
    model._check_common()
    _check_counts(model, "n_iter_", "t_")
    _check_run(model.run_, model.n_features_in_)
    _check_array("coef_", model.coef_, "f", (model.n_features_in_,))
    expect(isinstance(model.intercept_, float) and math.isfinite(model.intercept_), "intercept_ is not a number")
    expect(isinstance(model.stop_reason_, str), "stop_reason_ is not a sentence")


def _check_kernel_perceptron(model: Any) -> None:
    model._check_parameters()
    _check_classes(model.classes_)
    _check_counts(model, "n_iter_", "t_", "mistakes_")
    expect(isinstance(model.stop_reason_, str), "stop_reason_ is not a sentence")
    if model.kernel in ("poly", "rbf", "laplacian"):
        gamma = getattr(model, "gamma_", None)
        fits = isinstance(gamma, float) and 0 < gamma < math.inf
        expect(fits, f"gamma_={gamma!r} is not a width, which kernel={model.kernel!r} needs. Fit again")
    learned, classes = model._expansion, model.classes_.size
    _check_record("the expansion", learned, Expansion)
    known, count = count_problems(classes, model.multiclass), learned.rows.size
    # A stream also trains strangers; `code` is not asked, whose table of a forged number of classes could be vast.
    strangers = 0 if model.multiclass == "joint" or classes == 1 else classes if by_pairs(model.multiclass) else 1
    problems = learned.trials.size
    expect(problems in (known, known + strangers), f"the expansion has {problems} problems, not {known}. Fit again")
    _check_array("the trials", learned.trials, "l", (problems,))
    _check_array("the coefficients", learned.coef, "d", (problems, count))
    _check_array("the numbers of the support", learned.rows, "l", (count,))
    _check_support(model, "the vectors of the expansion", learned.vectors, count)
    expect(np.all(learned.trials >= 0) and np.all(learned.rows >= 0), "the expansion has trials or rows below zero")
    _check_log(learned)
    expect(
        (model.budget is None) == ("_memory" not in vars(model)),
        f"budget={model.budget} is not what it was trained with. Set that, or fit again",
    )
    if model.budget is None:
        used = np.unique(learned.log.slot[learned.log.problem < known]).size if problems > known else count
    else:
        _check_memory(model, problems, count)
        used = count
    _check_run(model.run_, count)
    _check_array("dual_coef_", model.dual_coef_, "d", (known, used))
    _check_array("support_", model.support_, "l", (used,))
    if model.kernel == "precomputed":
        _check_array("support_vectors_", model.support_vectors_, "d", (0, 0))
    else:
        _check_support(model, "support_vectors_", model.support_vectors_, used)


def _check_support(model: Any, name: str, vectors: Any, count: int) -> None:
    if model.kernel != "precomputed":
        _check_rows(name, vectors, count, model.n_features_in_)
        ordered = isinstance(vectors, np.ndarray) or vectors.has_canonical_format
        expect(ordered, f"{name} have columns out of order")
        return
    for numbers in (vectors, model._expansion.rows):  # both look up columns of the similarities
        _check_array(name, numbers, "l", (count,))
        inside = np.all((numbers >= 0) & (numbers < model.n_features_in_))
        expect(inside, f"{name} are not among the {model.n_features_in_} rows that there were")


def _check_log(learned: Expansion) -> None:
    """Refuse updates of vectors, problems or trials that there are not."""
    log = learned.log
    _check_record("the log", log, Log)
    length = (log.slot.size,)
    for name, limit in (("slot", learned.rows.size), ("problem", learned.trials.size)):
        numbers = getattr(log, name)
        _check_array(f"{name} of the log", numbers, "l", length)
        expect(np.all((numbers >= 0) & (numbers < limit)), f"{name} of the log goes beyond the {limit} that there are")
    _check_array("step of the log", log.step, "d", length)
    _check_array("trial of the log", log.trial, "l", length)
    inside = np.all((log.trial >= 0) & (log.trial < learned.trials[log.problem]))
    expect(inside, "trial of the log goes beyond the trials that there were")


def _check_memory(model: Any, problems: int, count: int) -> None:
    memory, size = model._memory, int(model.budget)
    _check_record("the memory", memory, BudgetState)
    expect(memory.rule == model.budget_rule, f"the memory is one of the rule {memory.rule!r}")
    side = 0 if memory.rule == "random" else size
    _check_array("gram of the memory", memory.gram, "d", (side, side))
    _check_array("born of the memory", memory.born, "l", (size,))
    _check_array("count of the memory", memory.count, "l", (2,))
    _check_array("damage of the memory", memory.damage, "d", (problems,))
    _check_array("errors of the memory", memory.errors, "d", (problems,))
    there, ever = memory.count.tolist()
    expect(there == count <= min(size, ever) and ever < 1 << 62, f"the memory counts {there} of {count} vectors")
    expect(np.all((memory.born >= 0) & (memory.born < max(ever, 1))), "the memory has vectors of the future")
    expect(not model._expansion.log.slot.size, "the memory has a log, where a budget keeps none")


def _check_association(model: Any) -> None:
    require_one_of("units", model.units, association.UNITS)
    units = model._n_features_out
    expect(is_whole(units, 1), f"_n_features_out={units!r} is not a number of units")
    _check_array("bias_", model.bias_, "d", (units,))
    shape = (model.n_features_in_, units)
    if isinstance(model.weights_, sp.csc_matrix):
        expect(model.weights_.shape == shape and model.weights_.dtype == np.float64, "weights_ have another size")
    else:
        _check_array("weights_", model.weights_, "d", shape)
    fits = isinstance(model.gamma_, float) and 0 < model.gamma_ < math.inf
    expect(fits, f"gamma_={model.gamma_!r} is not a width")


_RUN = ("coef_", "intercept_", "n_iter_", "run_", "stop_reason_", "t_")
_CLASSIFIER = (*_RUN, "classes_", "mistakes_", "_trained")
_WIDEST = ("coef_", "intercept_", "classes_", "margin_", "margin_ceiling_", "support_", "stop_reason_")
_DUAL = ("dual_coef_", "support_", "support_vectors_", "classes_", "n_iter_", "run_", "stop_reason_", "t_")
_FIRST_ORDER = (
    estimators.Perceptron,
    estimators.AveragedPerceptron,
    estimators.PassiveAggressive,
    minimisers.Adaline,
    minimisers.SoftMargin,
)

_KINDS: dict[str, _Kind] = {
    kind.cls.__name__: kind
    for kind in (
        *(_Kind(cls, _CLASSIFIER, partial(_check_classifier, state=Weights)) for cls in _FIRST_ORDER),
        _Kind(estimators.VotedPerceptron, (*_CLASSIFIER, "_ballots"), _check_voted),
        _Kind(estimators.PocketPerceptron, _CLASSIFIER, partial(_check_classifier, state=Pocket)),
        _Kind(estimators.AROW, _CLASSIFIER, partial(_check_classifier, state=GaussianWeights)),
        _Kind(estimators.Winnow, _CLASSIFIER, partial(_check_classifier, state=Exponents)),
        _Kind(minimisers.AdalineRegressor, _RUN, _check_regressor),
        _Kind(minimisers.MaximumMargin, _WIDEST, _check_widest),
        _Kind(
            kernelized.KernelPerceptron,
            (*_DUAL, "mistakes_", "_expansion"),
            _check_kernel_perceptron,
            at_times=("gamma_", "_memory"),
        ),
        _Kind(association.AssociationUnits, ("weights_", "bias_", "gamma_", "_n_features_out"), _check_association),
    )
}
