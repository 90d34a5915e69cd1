"""Model files: any estimator of the family, fitted or not, saved and loaded.

A file can name only public estimators of this package, and learners that a user has defined in the process. `load`
validates everything that it reads: a model is built only if its parts fit one another, and no loop will ever read
outside an array. The checks of a part are declared beside it. `save` applies the same checks: a file that it writes can
be loaded. The format is described in docs/reference/model-files.md.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.learners import ALL
from rosenblatt.learners.base import Estimator
from rosenblatt.learners.epoch_learner import EpochLearner
from rosenblatt.learners.file_model import FileModel
from rosenblatt.learners.own import FAMILY
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.storage.atomic import source_of, target_of
from rosenblatt.storage.checks import entries, is_integer
from rosenblatt.storage.container import Content, open_container, write
from rosenblatt.storage.registry import DEFINED, Fault, expect, stored
from rosenblatt.training.model import LinearModel

stored("Certificate")(Certificate)

# What an estimator knows of its rows, also when a fit went no further.
_INPUT = ("n_features_in_", "feature_names_in_")


def save(model: Any, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write an estimator of the family, or a `FileModel`, to a file, with all that it needs to go on learning.

    The file appears whole or not at all: whatever goes wrong, one that was there before stays as it was.

    Parameters
    ----------
    model : estimator or FileModel
        Of one of this package's classes, fitted or not.
    path : str, path-like or binary file object
        A link is followed. A device or a pipe is rejected; an open one may be passed as a file object.

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
    if isinstance(model, LinearModel):
        model.save(path)
        return
    own = model.learner if isinstance(model, FileModel) else model
    name = type(own).__name__
    if _class(name) is not type(own):
        if name in DEFINED:
            raise InvalidInput(f"{name} was defined again after this model was made. Make it again, and save that one.")
        raise InvalidInput(
            f"An object of type {name} cannot be saved: files hold {', '.join(ALL)}. Of a pipeline, save the last step."
        )
    target = target_of(path)
    try:
        content = _take_apart(own)
        if isinstance(model, FileModel):
            content["attributes"]["model"] = model.linear()  # type: ignore[index]
            content["training"] = model.to_file()
        write(target, content)
    except InvalidInput as fault:
        raise InvalidInput(f"This {name} cannot be saved: {str(fault).rstrip('.')}.") from None


def load(path: str | os.PathLike[str] | bytes | BinaryIO) -> Any:
    """Read an estimator from a file that `save` wrote, or a `FileModel` that `rosenblatt train` wrote.

    It predicts as the one that was saved, bit for bit, and `partial_fit` goes on as if nothing had happened. Reading
    runs nothing that is in the file, and a damaged or forged file is rejected.

    Parameters
    ----------
    path : str, path-like, bytes or binary file object
        A file, or the bytes of one.

    Returns
    -------
    estimator or FileModel

    Raises
    ------
    InvalidInput
        If the file is not a whole and sound model file of the format version that this package reads.
    FileNotFoundError
        If the file does not exist.

    See Also
    --------
    save : with an example.
    load_linear : the weights alone, without scikit-learn.
    """
    shown, source = source_of(path)
    try:
        opened = open_container(source)
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
    belong = {"_turn", *parameters, *_INPUT, *cls.stored_attributes, *cls.at_times, *cls.derived}
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
