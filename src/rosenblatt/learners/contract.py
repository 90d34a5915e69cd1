"""scikit-learn's base classes, with the types that scikit-learn does not ship.

A class with a base of unknown type has a constructor of unknown parameters: a type checker would accept any. Therefore
type checkers see what stands here, and Python sees scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> npt.NDArray[Any]: ...  # noqa: D102

    class ClassNamePrefixFeaturesOutMixin:
        """Names of the features that come out."""

        def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]: ...  # noqa: D102

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        RegressorMixin,
        TransformerMixin,
    )

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "ClassifierMixin", "RegressorMixin", "TransformerMixin"]
