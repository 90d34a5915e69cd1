"""A fixed random layer in front of a trained unit, as in Rosenblatt's machine: `AssociationUnits`."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.compiled.epochs import Dense
from rosenblatt.data.table import as_table
from rosenblatt.dual.kernels import is_sparse, width
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.base import check_sparse_first, require, require_one_of

Array = npt.NDArray[Any]

UNITS = ("step", "sigmoid", "relu", "cosine")


class AssociationUnits(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A layer of random units: features with which a linear learner can learn anything.

    Unit j computes phi(w_j.x + b_j) with random weights that are never trained. Sums of such units approximate every
    continuous function on a cube (Cybenko 1989). With more units than rows, they separate distinct rows under any
    labelling, with probability one. The trained part, the response unit, is any linear learner that follows.

    Parameters
    ----------
    units : {"step", "sigmoid", "relu", "cosine"}, default "step"
        phi: the step of Rosenblatt's units; 1 / (1 + e^-z); max(0, z); or sqrt(2 / n_units) cos z, whose inner
        products approximate the kernel exp(-gamma |x - z|^2).
    n_units : int, default 500
        Number of units.
    fan_in : int or None, default None
        Number of features that each unit is connected with, drawn at random; None for all. In Rosenblatt's machine
        they were few.
    gamma : float or "scale", default "scale"
        The weights are normal with variance 2 gamma, times n_features / fan_in. The larger it is, the finer the detail
        that the units can distinguish. "scale": 1 / (n_features * X.var()). The step does not depend on it.
    random_state : int, RandomState or None, default 0
        Seed of the weights and thresholds.

    Attributes
    ----------
    weights_ : array or CSC matrix of shape (n_features, n_units)
        Sparse if `fan_in` is given.
    bias_ : array of shape (n_units,)
        Chosen such that the plane w_j.x + b_j = 0 meets the segment between two random training rows; for "cosine"
        uniform in [0, 2 pi).
    gamma_ : float
        The gamma that is used.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Rosenblatt (1958), The perceptron: a probabilistic model for information storage and organization in the brain,
    Psychological Review 65. Rahimi and Recht (2007), Random features for large-scale kernel machines, NIPS 20.

    See Also
    --------
    KernelPerceptron : the infinite layer, by similarities.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import AssociationUnits, Perceptron
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0]
    >>> make_pipeline(AssociationUnits(n_units=50), Perceptron()).fit(X, y).predict(X).tolist()
    [0, 1, 1, 0]
    """

    weights_: Any
    bias_: Array
    gamma_: float
    n_features_in_: int

    def __init__(
        self,
        *,
        units: Any = "step",
        n_units: Any = 500,
        fan_in: Any = None,
        gamma: Any = "scale",
        random_state: Any = 0,
    ) -> None:
        self.units = units
        self.n_units = n_units
        self.fan_in = fan_in
        self.gamma = gamma
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        check_sparse_first(X)
        kinds = [np.float64, np.float32]
        checked = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=kinds, ensure_all_finite=False)
        table = as_table(checked)
        return table.rows.X if isinstance(table.rows, Dense) else sp.csr_matrix(table.rows, shape=table.shape)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the weights.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The thresholds are placed among these rows.
        y : ignored

        Returns
        -------
        self
        """
        require_one_of("units", self.units, UNITS)
        require("n_units", self.n_units, Integral, lambda v: v >= 1, "a whole number from 1")
        if not (isinstance(self.gamma, str) and self.gamma == "scale"):
            require("gamma", self.gamma, Real, lambda v: 0 < v < np.inf, 'a positive number or "scale"')
        rows = self._check_rows(X, reset=True)
        features, units = rows.shape[1], int(self.n_units)
        if self.fan_in is not None:
            require("fan_in", self.fan_in, Integral, lambda v: v >= 1, "a whole number from 1, or None")
            if self.fan_in > features:
                raise InvalidInput(f"fan_in={self.fan_in} is more than the {features} features of X. Use fan_in=None.")
        random = np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.gamma_ = width(self.gamma, rows)
        self.weights_ = self._connect(random, features, units)
        if self.units == "cosine":
            self.bias_ = random.uniform(0.0, 2.0 * np.pi, units)
        else:
            first = random.integers(0, rows.shape[0], units)
            second = (first + random.integers(1, max(rows.shape[0], 2), units)) % rows.shape[0]
            products = [_paired_products(rows[end], self.weights_) for end in (first, second)]
            share = random.random(units)
            # Two equal rows have no segment between them. The plane is moved away from them: on it, rounding would
            # decide the sign.
            aside = np.where(products[0] == products[1], share, 0.0)
            self.bias_ = aside - share * products[0] - (1.0 - share) * products[1]
        self._n_features_out = units
        return self

    def _connect(self, random: np.random.Generator, features: int, units: int) -> Any:
        """Draw the weights of all units."""
        if self.fan_in is None:
            return np.sqrt(2.0 * self.gamma_) * random.standard_normal((features, units))
        each = int(self.fan_in)
        chosen = np.concatenate([np.sort(random.choice(features, each, replace=False)) for _ in range(units)])
        values = np.sqrt(2.0 * self.gamma_ * features / each) * random.standard_normal(units * each)
        return sp.csc_matrix((values, chosen, each * np.arange(units + 1)), shape=(features, units))

    def transform(self, X: Any) -> Array:
        """Compute the outputs of the units.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_units)
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        product = rows @ self.weights_.astype(rows.dtype)
        Z = np.asarray(product.toarray() if is_sparse(product) else product)
        Z += self.bias_.astype(rows.dtype)
        if self.units == "step":
            return np.asarray(Z > 0, dtype=rows.dtype)
        if self.units == "relu":
            return np.asarray(np.maximum(Z, 0, out=Z))
        if self.units == "cosine":
            np.cos(Z, out=Z)
            Z *= np.sqrt(2.0 / self.bias_.size)
            return Z
        # 1 / (1 + e^-z) = (1 + tanh(z / 2)) / 2, which cannot overflow.
        Z *= 0.5
        np.tanh(Z, out=Z)
        Z += 1
        Z *= 0.5
        return Z


def _paired_products(rows: Any, weights: Any) -> Array:
    """Return the product of row j with column j of the weights, for each j."""
    if is_sparse(weights) or is_sparse(rows):
        return np.asarray(sp.csr_matrix(rows).multiply(weights.T).sum(axis=1)).reshape(-1)
    return np.asarray(np.einsum("jf,fj->j", rows, weights))
