"""Winnow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rosenblatt.data.table import Table
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.base import UNCHECKED
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.linear_parameters import ForWinnow


class Winnow(ForWinnow, LinearClassifier):
    """Winnow: on a mistake multiply the weights instead of adding to them; few relevant features among many.

    Littlestone's Winnow (``balanced=False``) takes features that are not negative: it starts from weights of one,
    predicts w.x > threshold, and multiplies w_j by factor^(y x_j), or eliminates it for good in a demotion. The
    balanced form, for any features, has weights factor^theta - factor^-theta with theta += y x, and learns a bias.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    A disjunction of k of n features is learned with at most 2 k log2(n) + 2 mistakes (factor 2, threshold n/2,
    elimination): `rosenblatt.bounds.winnow1`, `winnow2`.

    References
    ----------
    Littlestone (1988), Learning quickly when irrelevant attributes abound, Machine Learning 2, 285-318.

    Examples
    --------
    >>> from rosenblatt import Winnow
    >>> X = [[1, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 1], [0, 0, 1, 0]]
    >>> Winnow(balanced=False, factor=2.0).fit(X, [1, 0, 1, 0]).score(X, [1, 0, 1, 0])
    1.0
    """

    scale_sensitive = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.balanced
        # Littlestone's form is for features that are there or not; on others it promises little.
        tags.classifier_tags.poor_score = not self.balanced
        return tags

    def _check_rows(self, X: Any, y: Any = UNCHECKED, *, reset: bool) -> tuple[Table, Any]:
        table, labels = super()._check_rows(X, y, reset=reset)
        if not self.balanced and table.entries and table.values.min() < 0:
            raise InvalidInput(
                f"Negative values in data passed to Winnow: X goes down to {table.values.min():.3g}. Use "
                "balanced=True, or split each feature into its positive and its negative part."
            )
        return table, labels

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row of a stream; see `Perceptron.learn_one`."""
        if not self.balanced:
            values = [*x.values()] if isinstance(x, Mapping) else getattr(x, "data", x) if hasattr(x, "tocsr") else x
            if len(values) and np.min(values) < 0:
                raise InvalidInput("Negative values in a row passed to Winnow. Use balanced=True.")
        return super().learn_one(x, y)
