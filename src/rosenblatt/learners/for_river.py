"""Members of the family as models of river, for its pipelines and its progressive validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.learners.contract import RegressorMixin, clone
from rosenblatt.learners.linear import EpochLearner

if TYPE_CHECKING:

    class _Classifier:
        """Of river."""

    _Regressor = _Classifier
else:
    try:
        from river.base import Classifier as _Classifier
        from river.base import Regressor as _Regressor
    except ImportError:  # `as_river` says so
        _Classifier, _Regressor = object, type("_Regressor", (), {})


class _FromRosenblatt:
    """Shared by classifiers and regressors."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._learns = clone(model)

    def _get_params(self) -> dict[str, Any]:
        return {"model": clone(self.model)}

    def learn_one(self, x: dict[str, float], y: Any) -> None:
        """Learn from a row; features and classes may appear at any time."""
        self._learns.learn_one(x, y)


class RiverClassifier(_FromRosenblatt, _Classifier):
    """A classifier of the family as one of river's."""

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_one(self, x: dict[str, float]) -> Any:
        """Return the class of a row; None before the first one was learned."""
        return self._learns.predict_one(x)

    def predict_proba_one(self, x: dict[str, float]) -> dict[Any, float]:
        """Return the probability of each class, where the model has them; empty before the first row was learned."""
        if not hasattr(self._learns, "predict_proba_one"):
            raise NotImplementedError(f"{type(self.model).__name__} has no probabilities.")
        return dict(self._learns.predict_proba_one(x))


class RiverRegressor(_FromRosenblatt, _Regressor):
    """A regressor of the family as one of river's."""

    def predict_one(self, x: dict[str, float]) -> float:
        """Predict the target of one row; 0 before any training."""
        return float(self._learns.predict_one(x))


def as_river(model: Any) -> Any:
    """Return a member of the family as a model of river, for its pipelines, metrics and evaluation.

    Rows are dicts. As river wants it, a model answers before it has learned: with None, or 0 in a regression.

    Parameters
    ----------
    model : estimator
        Any member with `learn_one`. Its parameters are used, not its learned weights.

    Returns
    -------
    river.base.Classifier or river.base.Regressor
        A model that has learned nothing yet.

    Raises
    ------
    MissingExtra
        If river is not installed.
    """
    if not isinstance(model, EpochLearner) or not hasattr(model, "learn_one"):
        raise InvalidInput(
            f"A {type(model).__name__} does not learn row by row from dicts. Choose a linear member with learn_one."
        )
    if _Classifier is object:
        raise MissingExtra("as_river needs river. Install it with: pip install river")
    return (RiverRegressor if isinstance(model, RegressorMixin) else RiverClassifier)(model)
