"""Model files: any estimator of the family, fitted or not, alone or after other steps, saved and loaded.

A file can name only public estimators of this package, learners that a user has defined in the process, and the steps
of pipelines that `rosenblatt.learners.steps` lists. `load` validates everything that it reads: a model is built only if
its parts fit one another, and no loop will ever read outside an array. The checks of a part are declared beside it.
`save` applies the same checks: a file that it writes can be loaded. The format is described in
docs/reference/model-files.md.
"""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.learners import ALL, steps
from rosenblatt.learners.base import Estimator
from rosenblatt.learners.callbacks import ATTRIBUTES as CALLBACKS
from rosenblatt.learners.file_model import FileModel
from rosenblatt.learners.hashers import TableHasher, TextHasher
from rosenblatt.learners.linear import EpochLearner
from rosenblatt.learners.own import FAMILY
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.storage.atomic import source_of, target_of
from rosenblatt.storage.checks import check_record, entries, is_integer, is_of
from rosenblatt.storage.container import Content, open_container, write
from rosenblatt.storage.registry import DEFINED, Fault, expect, stored
from rosenblatt.training.model import LinearModel

stored("Certificate")(Certificate)

PIPELINE = "Pipeline"


@stored("Step")
class StoredStep(NamedTuple):
    """A step of a pipeline."""

    parameters: dict[str, Any]
    attributes: dict[str, Any]


# What an estimator knows of its rows, also when a fit went no further.
_INPUT = ("n_features_in_", "feature_names_in_")


def save(model: Any, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write an estimator of the family, a pipeline or a `FileModel` to a file, with all that it needs to learn on.

    The file appears whole or not at all: whatever goes wrong, one that was there before stays as it was.

    Parameters
    ----------
    model : estimator, Pipeline or FileModel
        Of one of this package's classes, fitted or not. A pipeline of scikit-learn's may have its scalers, vectorizers,
        hashers, `SimpleImputer` and `OneHotEncoder` before one of these. If it is a `TextHasher` or `TableHasher` and a
        linear learner, `rosenblatt predict` reads the file, too.
    path : str, path-like or binary file object
        A link is followed. A device or a pipe is rejected; an open one may be passed as a file object.

    Raises
    ------
    InvalidInput
        If the model has something that a file cannot hold, such as a function for `callback`, `schedule`, `kernel` or
        `tokenizer`, or is not whole, as after a fit that failed. The message names the step of a pipeline.

    See Also
    --------
    load : The way back.

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
    if isinstance(model, LinearModel):
        model.save(path)
        return
    own = model.learner if isinstance(model, FileModel) else model
    name = type(own).__name__
    if not _is_pipeline(own) and _class(name) is not type(own):
        if name in DEFINED:
            raise InvalidInput(f"{name} was defined again after this model was made. Make it again, and save that one.")
        raise InvalidInput(
            f"An object of type {name} cannot be saved: files hold {', '.join(ALL)}, and pipelines that end in one."
        )
    target = target_of(path)
    try:
        content = _take_pipeline_apart(own) if _is_pipeline(own) else _take_apart(own)
        if isinstance(model, FileModel):
            content["attributes"]["model"] = model.linear()  # type: ignore[index]
            content["training"] = model.to_file()
        write(target, content)
    except InvalidInput as fault:
        raise InvalidInput(f"This {name} cannot be saved: {str(fault).rstrip('.')}.") from None


def load(path: str | os.PathLike[str] | bytes | BinaryIO) -> Any:
    """Read an estimator or a pipeline from a file that `save` wrote, or a `FileModel` that `rosenblatt train` wrote.

    It predicts as the one that was saved, bit for bit, and `partial_fit` goes on as if nothing had happened. Reading
    runs nothing that is in the file, and a damaged or forged file is rejected.

    Parameters
    ----------
    path : str, path-like, bytes or binary file object
        A file, or the bytes of one.

    Returns
    -------
    estimator, Pipeline or FileModel
        What was saved.

    Raises
    ------
    InvalidInput
        If the file is not a whole and sound model file of the format version that this package reads.
    FileNotFoundError
        If the file does not exist.

    See Also
    --------
    save : With an example.
    load_linear : The weights alone, without scikit-learn.
    """
    shown, source = source_of(path)
    try:
        opened = open_container(source)
        if opened.text("class") == PIPELINE:
            names = _step_names(opened.value("parameters", "steps"))
            for _, name in names:
                _class(name)
            return _put_pipeline_together(names, opened.content())
        _class(opened.text("class"))  # its module registers the records that the file may hold
        return _put_together(opened.content())
    except InvalidInput as fault:
        raise InvalidInput(
            f"{shown} cannot be loaded: {str(fault).rstrip('.')}. Pass a file that rosenblatt.save wrote, whole and "
            "unchanged."
        ) from None


def _class(name: str) -> type[Estimator] | None:
    """Return the learner of a name: one of this package, or one that the user has defined."""
    found: type[Estimator] | None = ALL[name] if name in ALL else DEFINED.get(name)
    return found


def _take_apart(model: Estimator) -> Content:
    cls, parameters = type(model), dict(sorted(model.get_params(deep=False).items()))
    belong = {"_turn", *CALLBACKS, *parameters, *_INPUT, *cls.stored_attributes, *cls.at_times, *cls.derived}
    strange = ", ".join(sorted(vars(model).keys() - belong))
    expect(not strange, f"it has {strange:.60}, which {cls.__name__} does not have. Remove that")
    attributes = model._to_file()
    known = {name: vars(model)[name] for name in _INPUT if name in vars(model)}
    for name, value in parameters.items():
        if callable(value):
            remedy = (
                f"Call set_params({name}={cls.declared[name].default!r}) before saving, and set it again after loading"
            )
            if name == "kernel" and attributes:  # the learned state is valid only for this kernel
                remedy = (
                    "Fit with the name of a built-in kernel, or with kernel='precomputed' on the similarities that the "
                    "function gives"
                )
            raise Fault(f"{name}={value!r} is a function, which no file can hold. {remedy}")
    _assemble(cls, parameters, known | attributes)
    return {"class": cls.__name__, "parameters": parameters, "attributes": known | attributes}


def _put_together(content: Any) -> Any:
    if isinstance(content, dict) and "training" in content:
        training = content.pop("training")
        linear = content.get("attributes", {}).get("model")
        learner = _put_together(content)
        expect(type(linear) is LinearModel and isinstance(learner, EpochLearner), "it does not hold a learner of files")
        return FileModel.from_file(learner, linear, training)
    name, parameters, attributes = entries(content, ("class", "parameters", "attributes"))
    expect(isinstance(attributes, dict), f"the attributes of {name!r:.60} are missing")
    if name == "LinearModel":
        (model,) = entries(attributes, ("model",))
        expect(type(model) is LinearModel and parameters == {}, "the file does not contain a LinearModel")
        return model
    cls = _class(name) if isinstance(name, str) else None
    if cls is None:
        own = sorted(parameters.keys() - FAMILY) if isinstance(parameters, dict) else []
        had = f"{', '.join(own) or 'none of its own':.200}"
        raise Fault(
            f"it holds a {name!r:.60}, which is not one of {', '.join(ALL)}. If that is a learner of your own, "
            f"define it first: with @rosenblatt.learner, by this name, with the parameters {had}"
        )
    return _assemble(cls, parameters, attributes)


def _assemble(cls: type[Estimator], parameters: Any, attributes: dict[str, Any]) -> Estimator:
    """Return the model made of these parts; raise a `Fault` if it is not whole."""
    wanted = cls.declared
    fits = isinstance(parameters, dict) and parameters.keys() == wanted.keys()
    expect(fits, f"the parameters of {cls.__name__} are not {', '.join(sorted(wanted))}")
    for name, value in parameters.items():
        if not wanted[name].stores(value):
            raise Fault(f"{name}={value!r:.60} is invalid")
    _check_input(attributes)
    model = cls(**parameters)
    for name in _INPUT:
        if name in attributes:
            setattr(model, name, attributes[name])
    learned = {name: value for name, value in attributes.items() if name not in _INPUT}
    if learned:
        expect("n_features_in_" in attributes, "it has no n_features_in_, as after a fit that failed. Fit it again")
        model._from_file(learned)
    return model


def _check_input(attributes: dict[str, Any]) -> None:
    count = attributes.get("n_features_in_", 1)
    expect(is_integer(count, 1), f"n_features_in_={count!r} is not a number of features")
    names = attributes.get("feature_names_in_")
    if names is not None:
        fits = isinstance(names, np.ndarray) and names.dtype == object and names.shape == (count,)
        expect(fits and all(isinstance(name, str) for name in names), f"feature_names_in_ is not {count} names")


# ---------------------------------------------------------------------------------------------------------- pipelines


def _is_pipeline(model: Any) -> bool:
    return type(model).__name__ == PIPELINE and type(model) is _pipeline()


def _pipeline() -> Any:
    return import_module("sklearn.pipeline").Pipeline  # only those who have one need it


def _take_pipeline_apart(pipeline: Any) -> Content:
    parameters = pipeline.get_params(deep=False)
    for name in parameters.keys() - {"steps", "verbose"}:
        expect(parameters[name] is None, f"{name}={parameters[name]!r:.60} is not stored. Call set_params({name}=None)")
    names = [[name, type(step).__name__] for name, step in pipeline.steps]
    _step_names(names)
    parts = [_take_step_apart(name, step) for name, step in pipeline.steps]
    _check_last(pipeline.steps[-1][1])
    attributes: dict[str, Any] = {"steps": parts}
    linear = _linear_model(pipeline, parts[-1].attributes.get("model"))
    if linear is not None:
        attributes["model"] = linear
    settings = {"steps": names, "verbose": bool(parameters["verbose"])}
    return {"class": PIPELINE, "parameters": settings, "attributes": attributes}


def _take_step_apart(label: str, step: Any) -> StoredStep:
    name = type(step).__name__
    try:
        if _class(name) is type(step):
            content: Any = _take_apart(step)
            return StoredStep(content["parameters"], content["attributes"])
        if steps.find(name) is not type(step):
            raise Fault(
                f"files hold {', '.join(steps.STEPS)} and estimators of this package. Apply this step to the rows "
                "before the pipeline, and save the rest"
            )
        return StoredStep(*steps.take_apart(step))
    except InvalidInput as fault:
        raise Fault(f"step {label!r:.60}, of type {name:.60}: {fault}") from None


def _linear_model(pipeline: Any, model: Any) -> LinearModel | None:
    """Return the weights with how to read files, if files give the rows that the pipeline makes."""
    hasher, learner = pipeline.steps[0][1], pipeline.steps[-1][1]
    # A voted perceptron, which files cannot train, predicts otherwise than its weights.
    votes = learner.facts is not None and not learner.facts.command
    if (
        len(pipeline.steps) != 2
        or not isinstance(hasher, TextHasher | TableHasher)
        or type(model) is not LinearModel
        or votes
    ):
        return None
    numbers = not model.classes.size or model.classes.dtype.kind in "biuf"
    reading = hasher._reading("number" if numbers else "text")
    return None if reading is None else replace(model, origin={"reading": reading.to_json()})


def _check_last(step: Any) -> None:
    own = isinstance(step, Estimator)
    expect(own, f"its last step is a {type(step).__name__}, which is not one of {', '.join(ALL)}. Add one of these")


def _step_names(names: Any) -> list[tuple[str, str]]:
    """Return the names and the classes of the steps of a pipeline."""
    fits = isinstance(names, list) and names and all(is_of(pair, list[str]) and len(pair) == 2 for pair in names)
    expect(fits, "its steps are not names of steps and of classes")
    expect(len({name for name, _ in names}) == len(names), "two of its steps have the same name")
    return [(name, kind) for name, kind in names]


def _put_pipeline_together(names: list[tuple[str, str]], content: Any) -> Any:
    _, parameters, attributes = entries(content, ("class", "parameters", "attributes"))
    verbose, _ = entries(parameters, ("verbose", "steps"))
    expect(isinstance(verbose, bool), f"verbose={verbose!r:.60} is invalid")
    parts = attributes.get("steps")
    fits = isinstance(parts, list) and len(parts) == len(names) and attributes.keys() <= {"steps", "model"}
    expect(fits, "its steps are not those that it names")
    made = [(label, _put_step_together(label, name, part)) for (label, name), part in zip(names, parts, strict=True)]
    _check_last(made[-1][1])
    return _pipeline()(made, verbose=verbose)


def _put_step_together(label: str, name: str, part: Any) -> Any:
    try:
        check_record("it", part, StoredStep)
        if name in steps.STEPS:
            return steps.put_together(name, *part)
        expect(name != LinearModel.__name__, "it is not a step")
        return _put_together({"class": name, "parameters": part.parameters, "attributes": part.attributes})
    except InvalidInput as fault:
        raise Fault(f"step {label!r:.60}, of type {name:.60}: {fault}") from None
