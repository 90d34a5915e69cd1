"""scikit-learn's part of the learners: its base classes and functions, imported here and nowhere else in this package.

Model files of pipelines import the classes of their steps; see `rosenblatt.learners.steps`.

Importing scikit-learn takes longer than all else that `rosenblatt train` does with a small file. A process of the
command line that only trains or predicts from files sets `rosenblatt.learners.SCIKIT_LEARN` to False before it imports
a learner: the learners then have plain base classes, and the same parameters, algorithms and files.

A class with a base of unknown type has a constructor of unknown parameters: a type checker would accept any. Therefore
type checkers see the declarations below, and Python sees scikit-learn.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from rosenblatt import learners

Method = TypeVar("Method")


# Before scikit-learn 1.9, and without it, there are no callbacks.
class CallbackSupportMixin:
    """Callbacks that watch a fit."""

    if TYPE_CHECKING:

        def set_callbacks(self, *callbacks: Any) -> Self: ...  # noqa: D102
        def _init_callback_context(self, *, max_subtasks: int | None) -> Any: ...


def with_callbacks(method: Method) -> Method:
    """Return the method as it is."""
    return method


if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    import numpy.typing as npt

    class BaseEstimator:
        """Parameters that can be read and set by name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def set_params(self, **params: Any) -> Self: ...  # noqa: D102
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """A score of classifiers: the accuracy."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...  # noqa: D102

    class RegressorMixin:
        """A score of regressors: the coefficient of determination."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...  # noqa: D102

    class TransformerMixin:
        """Fit and transform in one call."""

        def __init_subclass__(cls, auto_wrap_output_keys: tuple[str, ...] | None = ("transform",)) -> None: ...
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> npt.NDArray[Any]: ...  # noqa: D102

    class ClassNamePrefixFeaturesOutMixin:
        """Names of the features that come out."""

        def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]: ...  # noqa: D102

    class ConvergenceWarning(UserWarning):
        """A fit ended before it converged."""

    StratifiedShuffleSplit: Any
    check_is_fitted: Any
    check_random_state: Any
    clone: Any
    effective_n_jobs: Any
    validate_data: Any

elif learners.SCIKIT_LEARN:
    from joblib import effective_n_jobs
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        RegressorMixin,
        TransformerMixin,
        clone,
    )
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import StratifiedShuffleSplit
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data

    with suppress(ImportError):
        from sklearn.callback import CallbackSupportMixin, with_callbacks

else:
    import os

    class BaseEstimator:
        """Parameters that can be read by name."""

        def get_params(self, deep=True):  # noqa: D102
            return {name: getattr(self, name) for name in self.declared}

    class ClassifierMixin:
        """A classifier, without scikit-learn."""

    class RegressorMixin:
        """A regressor, without scikit-learn."""

    class TransformerMixin:
        """A transformer, without scikit-learn."""

        def __init_subclass__(cls, auto_wrap_output_keys=None):
            super().__init_subclass__()

    class ClassNamePrefixFeaturesOutMixin:
        """A transformer that names its features, without scikit-learn."""

    class ConvergenceWarning(UserWarning):
        """A fit ended before it converged."""

    def clone(estimator):
        """Return an estimator with the same parameters, not fitted."""
        return type(estimator)(**estimator.get_params())

    def effective_n_jobs(n_jobs):
        """Return the number of threads."""
        return 1 if n_jobs is None else n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)

    StratifiedShuffleSplit = check_is_fitted = check_random_state = validate_data = None  # of arrays, not of files

__all__ = [
    "BaseEstimator",
    "CallbackSupportMixin",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ConvergenceWarning",
    "RegressorMixin",
    "StratifiedShuffleSplit",
    "TransformerMixin",
    "check_is_fitted",
    "check_random_state",
    "clone",
    "effective_n_jobs",
    "validate_data",
    "with_callbacks",
]
