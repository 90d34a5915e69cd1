"""Linear models from files, without scikit-learn and without what training needs."""

from __future__ import annotations

import os
from typing import BinaryIO

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.atomic import source_of
from rosenblatt.storage.container import open_container
from rosenblatt.storage.registry import expect
from rosenblatt.training.model import LinearModel


def load_linear(path: str | os.PathLike[str] | bytes | BinaryIO) -> LinearModel:
    """Read the weights of a linear model from a file, without scikit-learn and without what training needs.

    Parameters
    ----------
    path : str, path-like, bytes or binary file object
        A file, or the bytes of one, that `rosenblatt.save` or `LinearModel.save` wrote, of any linear member of the
        family.

    Returns
    -------
    LinearModel
        Predicts as the estimator does; that of the voted perceptron predicts by its average.

    Raises
    ------
    InvalidInput
        If the file is not a whole and sound model file, or holds a model without weights.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import Perceptron, load_linear, save
    >>> model = Perceptron().fit([[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/or.safetensors")
    ...     load_linear(f"{folder}/or.safetensors").predict([[0, 0], [1, 1]]).tolist()
    ['no', 'yes']
    """
    shown, source = source_of(path)
    try:
        opened = open_container(source)
        names = opened.names("attributes")
        expect("model" in names, f"it holds a {opened.text('class'):.60}, which is not fitted or has no weights")
        model = opened.value("attributes", "model")
        expect(type(model) is LinearModel, "its model is none")
    except InvalidInput as fault:
        found = str(fault).rstrip(".")
        raise InvalidInput(
            f"{shown} cannot be loaded: {found}. Pass a file that rosenblatt.save wrote, whole and unchanged."
        ) from None
    loaded: LinearModel = model
    return loaded
