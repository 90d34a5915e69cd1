"""From shards, wherever they are, to a fitted estimator: what `fit` does with one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from rosenblatt.data.labels import as_names
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.linear import LinearClassifier
from rosenblatt.estimators.parameters import Declared
from rosenblatt.learn.costs import class_costs
from rosenblatt.learn.mixing import Lesson, check_mixing, mixes_for
from rosenblatt.learn.multiclass import code
from rosenblatt.learn.sharded import ShardedJob, Shards, learnable_dtype, run_shards, start_shards
from rosenblatt.learn.stream import Learned
from rosenblatt.learn.trainer import Clock
from rosenblatt.words import shown

Array = npt.NDArray[Any]


def check_member(estimator: Any) -> None:
    """Raise an error if an estimator cannot be trained on shards."""
    if not isinstance(estimator, Declared) or "shards" not in estimator.declared:
        reason = getattr(estimator, "without_shards", "") or "Pass a linear member of the family, unfitted."
        raise InvalidInput(f"{type(estimator).__name__} cannot be trained on shards. {reason}")
    if estimator.early_stopping or estimator.warm_start:  # type: ignore[attr-defined]
        raise InvalidInput(
            "early_stopping and warm_start are for one machine. Set them to False, and keep rows to validate on aside."
        )


def fit_shards(estimator: Any, shards: Shards, *, rounds: int | None = None, mixing: str = "uniform") -> Any:
    """Return a fitted copy of an estimator, trained on shards.

    Its parameter `shards` is their number: a fit on the same rows in memory gives the same weights, bit for bit, where
    the shards are cut as there.

    Parameters
    ----------
    estimator : estimator
        With the parameters of training; it stays as it is.
    shards : Shards
    rounds : int, optional
        Most epochs, instead of the estimator's `max_iter`; each has as many rounds as its `mixes` says.
    mixing : {"uniform", "mistakes"}
        Whether all shards count the same, or each by its mistakes.
    """
    check_member(estimator)
    model: LinearClassifier = clone(estimator)
    model.set_params(**{} if rounds is None else {"max_iter": rounds})
    model._check_parameters()
    check_mixing(model._method(), mixing)
    clock = Clock(model.max_seconds)
    census = shards.census()
    if census.classes.size < 2:
        raise InvalidInput(
            f"The number of classes has to be greater than one; got 1 class: {shown(census.classes[0])}. Add examples "
            "of another class."
        )
    model.n_features_in_ = census.features
    if census.names:
        model.feature_names_in_ = np.array(census.names, dtype=object)
    model._adapt(census.survey(), census.classes.size, warm=False)
    plan = model._plan()
    lesson = Lesson(
        method=model._method(),
        classes=census.classes,
        sign=code(census.classes.size, model.multiclass),
        class_cost=class_costs(model.class_weight, census.classes, census.counts),
        multiclass=model.multiclass,
        bias=model._bias(),
        dtype=learnable_dtype(census),
        order=plan.order,
        seed=plan.seed,
        mixing=mixing,
        mixes=mixes_for(model._method(), census, model.mixes),
        sizes=census.filled,
    )
    state = start_shards(lesson, census, model.init, lesson.method.rate_scale(plan.eta))
    names, unused = as_names(census.classes), int(census.counts.sum()) > census.n_rows
    run = run_shards(ShardedJob(shards, lesson, census, plan, names, clock=clock, leaves_out=unused), state)
    model.set_params(shards=len(census.sizes))
    learned = Learned(census.classes, state, run.trials, sum(run.mistakes), ())
    model._stream = model._make_stream(model._settings(), learned)
    model._store(run)
    if rounds is None:
        model._warn()
    return model
