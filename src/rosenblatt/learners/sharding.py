"""Fit an estimator to rows in shards, wherever these are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_names, check_several
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.base import Estimator
from rosenblatt.learners.contract import clone
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.training.mixing import ShardSpec, check_mixing, mixes_for
from rosenblatt.training.multiclass import class_costs, coding_matrix
from rosenblatt.training.sharded import Shards, learnable_dtype, run_shards, start_shards
from rosenblatt.training.stream import Learned
from rosenblatt.training.trainer import RunClock

Array = npt.NDArray[Any]


def check_member(estimator: Any) -> None:
    """Raise an error if an estimator cannot be trained on shards."""
    if not isinstance(estimator, Estimator) or "shards" not in estimator.declared:
        reason = getattr(estimator, "without_shards", "") or "Pass a linear member of the family, unfitted."
        raise InvalidInput(f"{type(estimator).__name__} cannot be trained on shards. {reason}")
    if estimator.early_stopping or estimator.warm_start:
        raise InvalidInput(
            "early_stopping and warm_start are for one machine. Set them to False, and keep rows to validate on aside."
        )


def fit_shards(estimator: Any, shards: Shards, *, rounds: int | None = None, mixing: str = "uniform") -> Any:
    """Return a fitted copy of an estimator, trained on shards for `rounds` epochs at most, by default `max_iter`.

    Its parameter `shards` is their number: a fit on the same rows in memory gives the same weights, bit for bit, where
    the shards are cut as there. With `mixing="mistakes"` a shard counts by its mistakes, and not like all others.
    """
    check_member(estimator)
    model: LinearClassifier = clone(estimator)
    model.set_params(**{} if rounds is None else {"max_iter": rounds})
    model._check_parameters()
    check_mixing(model._algorithm(), mixing)
    clock = RunClock(model.max_seconds)
    stats = shards.stats()
    check_several(stats.classes)
    model.n_features_in_ = stats.features
    if stats.names:
        model.feature_names_in_ = np.array(stats.names, dtype=object)
    model._adapt(stats.survey(), stats.classes.size, warm=False)
    plan = model._plan()
    spec = ShardSpec(
        algorithm=model._algorithm(),
        classes=stats.classes,
        sign=coding_matrix(stats.classes.size, model.multiclass),
        class_cost=class_costs(model.class_weight, stats.classes, stats.counts),
        multiclass=model.multiclass,
        bias=model._bias(),
        dtype=learnable_dtype(stats),
        order=plan.order,
        seed=plan.random_state,
        mixing=mixing,
        mixes=mixes_for(model._algorithm(), stats, model.mixes),
        sizes=stats.filled,
    )
    state = start_shards(spec, stats, model.init, spec.algorithm.rate_scale(plan.eta0))
    names, unused = as_names(stats.classes), int(stats.counts.sum()) > stats.n_rows
    run = run_shards(shards, spec, stats, plan, state, names=names, clock=clock, leaves_out=unused)
    model.set_params(shards=len(stats.sizes))
    learned = Learned(stats.classes, state, run.trials, sum(run.mistakes), ())
    model._stream = model._make_stream(model._settings(), learned)
    model.run_ = run
    if rounds is None:
        model._warn()
    return model
