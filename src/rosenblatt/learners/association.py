"""A fixed random layer in front of a trained unit, as in Rosenblatt's machine: `AssociationUnits`."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import check_sparse, sp
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput, TooLarge
from rosenblatt.kernels.kernels import is_sparse, width
from rosenblatt.learners.base import Estimator, Facts, validated
from rosenblatt.learners.contract import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_is_fitted,
    check_random_state,
)
from rosenblatt.learners.parameters import choice, integer, real, seed
from rosenblatt.learners.shared import RandomState
from rosenblatt.storage.checks import check_array, is_integer
from rosenblatt.storage.registry import expect

Array = npt.NDArray[Any]

UNITS = ("step", "sigmoid", "relu", "cosine")


class AssociationUnits(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A layer of random units: features with which a linear learner can learn anything.

    Unit j gives phi(w_j.x + b_j) with random weights that are never trained. Sums of such units approximate every
    continuous function on a cube (Cybenko 1989), and with more units than rows they separate distinct rows under any
    labelling, with probability one. The trained part, the response unit, is any linear learner after it.

    ``units="step"`` is Rosenblatt's machine. The default, cosines, follows a smooth boundary with fewer units.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    weights_ : array or CSC matrix of shape (n_features, n_units)
        Sparse if `fan_in` is given.
    bias_ : array of shape (n_units,)
        Such that the plane w_j.x + b_j = 0 meets the segment between two random training rows; for "cosine" uniform in
        [0, 2 pi).
    gamma_ : float
        The gamma that is used.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    KernelPerceptron : The infinite layer, by similarities.

    References
    ----------
    Rosenblatt (1958), The perceptron: a probabilistic model for information storage and organization in the brain,
    Psychological Review 65. Rahimi and Recht (2007), Random features for large-scale kernel machines, NIPS 20.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import AssociationUnits, Perceptron
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0]
    >>> make_pipeline(AssociationUnits(units="step", n_units=50), Perceptron()).fit(X, y).predict(X).tolist()
    [0, 1, 1, 0]
    """

    units: Literal["step", "sigmoid", "relu", "cosine"] = choice(
        default="cosine",
        text="phi: the step of Rosenblatt's units; 1 / (1 + e^-z); max(0, z); or sqrt(2 / n_units) cos z, "
        "whose inner products approximate the kernel exp(-gamma |x - z|^2).",
        choices=UNITS,
    )
    n_units: int = integer(
        default=2000,
        text="Number of units.",
        least=1,
    )
    fan_in: int | None = integer(
        default=None,
        text="Features that each unit is connected with, drawn at random; None for all. In Rosenblatt's "
        "machine there were few.",
        least=1,
        optional=True,
    )
    gamma: float | Literal["scale"] = real(
        default="scale",
        text="The weights are normal with variance 2 gamma, times n_features / fan_in: the larger, the finer "
        'the detail. "scale": 1 / (n_features * X.var()). The step does not depend on it.',
        above=0,
        words=("scale",),
    )
    random_state: RandomState = seed(default=0, text="Seed of the weights and thresholds.")

    facts = Facts(
        published=1958,
        does="a fixed random layer in front of any of them",
        when="no hyperplane will do, and there are very many rows",
    )
    stored_attributes = ("weights_", "bias_", "gamma_", "_n_features_out")
    meaning = ("units",)
    derived = ("_fitted_with",)

    def _check_learned(self) -> None:
        self._check_parameters()
        self._check_units()
        self._note_meaning()

    def _check_units(self) -> None:
        """Raise a `Fault` unless weights and thresholds, from a file or assigned, fit one another."""
        units = self._n_features_out
        expect(is_integer(units, 1), f"_n_features_out={units!r} is not a number of units")
        check_array("bias_", self.bias_, "d", (units,))
        shape = (self.n_features_in_, units)
        if isinstance(self.weights_, sp.csc_matrix):
            fits = check_sparse(self.weights_).shape == shape and self.weights_.dtype == np.float64
            expect(fits, "weights_ have another size")
        else:
            check_array("weights_", self.weights_, "d", shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return as_table(validated(self, X, reset=reset, accept_sparse="csr", ensure_all_finite=False)).matrix()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the weights.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The thresholds are chosen between these rows.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = self._rows(X, reset=True)
        features, units = rows.shape[1], int(self.n_units)
        if self.fan_in is not None and self.fan_in > features:
            raise InvalidInput(f"fan_in={self.fan_in} is more than the {features} features of X. Use fan_in=None.")
        random = np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.gamma_ = width(self.gamma, rows)
        self.weights_ = self._connect(random, features, units)
        if self.units == "cosine":
            self.bias_ = random.uniform(0.0, 2.0 * np.pi, units)
        else:
            one = random.integers(0, rows.shape[0], units)
            other = (one + random.integers(1, max(rows.shape[0], 2), units)) % rows.shape[0]
            scores = [_paired(rows[end], self.weights_) for end in (one, other)]
            share = random.random(units)
            # Between equal rows there is no segment: the plane must miss them, or rounding would decide.
            aside = np.where(scores[0] == scores[1], share, 0.0)
            self.bias_ = aside - share * scores[0] - (1.0 - share) * scores[1]
        self._n_features_out = units
        self._note_meaning()
        return self

    def _connect(self, random: np.random.Generator, features: int, units: int) -> Any:
        """Draw the weights of all units."""
        deviation = np.sqrt(2.0) * np.sqrt(self.gamma_)  # the square of a large one may be infinite
        if self.fan_in is None:
            return deviation * _normal(random, features, units)
        each = int(self.fan_in)
        chosen = np.concatenate([np.sort(random.choice(features, each, replace=False)) for _ in range(units)])
        values = deviation * np.sqrt(features / each) * random.standard_normal(units * each)
        return sp.csc_matrix((values, chosen, each * np.arange(units + 1)), shape=(features, units))

    def transform(self, X: Any) -> Array:
        """Return the output of the units for the rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_units)
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        self._check_units()
        product = rows @ self.weights_.astype(rows.dtype)
        Z = np.asarray(product.toarray() if is_sparse(product) else product)
        Z += self.bias_.astype(rows.dtype)
        if not np.isfinite(Z).all():
            raise InvalidInput(
                f"The sums of the units overflowed {rows.dtype}: gamma={self.gamma_:.3g} is too large for X. Lower it."
            )
        units = self._as_fitted().units
        if units == "step":
            return np.asarray(Z > 0, dtype=rows.dtype)
        if units == "relu":
            return np.asarray(np.maximum(Z, 0, out=Z))
        if units == "cosine":
            np.cos(Z, out=Z)
            Z *= np.sqrt(2.0 / self.bias_.size)
            return Z
        # 1 / (1 + e^-z) without an overflow.
        Z *= 0.5
        np.tanh(Z, out=Z)
        Z += 1
        Z *= 0.5
        return Z


def _normal(random: np.random.Generator, features: int, units: int) -> Array:
    """Return a matrix of normal numbers, or raise an error if the memory does not hold it."""
    try:
        return random.standard_normal((features, units))
    except (MemoryError, ValueError, OverflowError):
        raise TooLarge(
            f"n_units={units} for {features} features needs {8 * features * units:.3g} bytes. Choose fewer units."
        ) from None


def _paired(rows: Any, weights: Any) -> Array:
    """Return row j times column j of the weights, for each j."""
    if is_sparse(weights) or is_sparse(rows):
        return np.asarray(sp.csr_matrix(rows).multiply(weights.T).sum(axis=1)).reshape(-1)
    return np.asarray(np.einsum("jf,fj->j", rows, weights))
