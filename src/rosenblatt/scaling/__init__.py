"""Train on several machines: merge models trained apart, or use Dask or Spark.

`rosenblatt.scaling.dask` and `rosenblatt.scaling.spark` need the extras of these names.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from rosenblatt.errors import InvalidInput
from rosenblatt.learners.linear import stream_record
from rosenblatt.learners.sharding import check_member
from rosenblatt.training.stopping import Stop

__all__ = ["merge"]


def merge(models: Sequence[Any], shares: Sequence[float] | None = None) -> Any:
    """Return the mean of several models, each trained by `partial_fit` on rows of its own.

    Averages are over the trials of all models, and trials and mistakes add up. A class that a model has not seen is
    added to it first, with the weights that it would have if it had been announced at the start. The merged model can
    be trained further.

    Parameters
    ----------
    models : sequence of estimators
        Fitted estimators of the same class, with the same parameters. They are not changed.
    shares : sequence of float, optional
        Weight of each model; equal by default.

    Returns
    -------
    estimator

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.scaling import merge
    >>> here = Perceptron().partial_fit([[1.0, 0.0], [-1.0, 0.0]], ["a", "b"])
    >>> there = Perceptron().partial_fit([[0.0, 1.0], [-1.0, 0.0]], ["c", "b"])
    >>> both = merge([here, there])
    >>> both.classes_.tolist(), both.t_
    (['a', 'b', 'c'], 4)
    """
    if not models:
        raise InvalidInput("There are no models to merge. Pass at least one.")
    for model in models:
        check_member(model)
        model._learned("weights")
        if type(model) is not type(models[0]):
            raise InvalidInput(
                f"The models are of different classes, {type(models[0]).__name__} and {type(model).__name__}. Merge "
                "models of one class."
            )
    merged = copy.copy(models[0])
    first, *others = (copy.deepcopy(model._stream) for model in models)
    merged._stream = first.merge(others, shares)
    streams = [model.run_.stop is Stop.CHUNK and model.run_.single_pass is not None for model in models]
    stream = merged._stream
    seen = (stream.trials, stream.mistakes) if all(streams) else None
    merged.run_ = stream_record("streams were merged", stream.trials, stream.mistakes, stream, seen)
    return merged
