"""Winnow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rosenblatt.compiled.epochs import BalancedWinnowRule, WinnowRule
from rosenblatt.data.table import Table
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.base import UNCHECKED
from rosenblatt.estimators.linear import LinearClassifier
from rosenblatt.estimators.parameters import (
    ForClasses,
    InEpochs,
    OnThreads,
    WithKeep,
    WithValidation,
    WithWarmStart,
    flag,
    real,
)
from rosenblatt.methods.method import Method
from rosenblatt.methods.multiplicative import Multiplicative


class Winnow(InEpochs, ForClasses, OnThreads, WithValidation, WithWarmStart, WithKeep, LinearClassifier):
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

    balanced: bool = flag(default=True, text="Whether features may be of either sign.")
    factor: float = real(
        default=1.5, text="What a promotion multiplies by; above 1.", above=1, wanted="a number above 1"
    )
    threshold: float | None = real(
        default=None,
        text="What w.x is held against without `balanced`; None: half the number of features.",
        above=0,
        wanted="a positive number or None",
        optional=True,
    )
    eliminate: bool = flag(
        default=False, text="Whether a demotion sets weights to zero (Winnow1) rather than dividing them (Winnow2)."
    )

    modes = ("ovr", "ovo", "ovo-vote")
    minds_scale = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.balanced
        # Littlestone's form is for features that are there or not; on others it promises little.
        tags.classifier_tags.poor_score = not self.balanced
        return tags

    @property
    def takes_new_classes(self) -> bool:  # type: ignore[override]
        """Whether a class may lend its weights, with their signs changed, to one that appears."""
        return bool(self.balanced)

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

    def _bias(self) -> float:
        return super()._bias() if self.balanced else 0.0

    def _method(self) -> Method:
        if self.balanced:
            return Multiplicative(BalancedWinnowRule(float(self.factor)))
        if self.threshold is None:
            return Multiplicative(WinnowRule(float(self.factor), bool(self.eliminate)), self.n_features_in_ / 2)
        return Multiplicative(WinnowRule(float(self.factor), bool(self.eliminate)), float(self.threshold))
