"""The maximum of a likelihood, with or without Firth's penalty, by Newton's method.

Firth (1993) adds 1/2 log det I(theta) to the log-likelihood, where I is the Fisher information. With the cumulants of
the responses and the leverages g = x' I^-1 x of the rows, the derivative by the predictor of a row is

    residual + 1/2 third g,

and the negative second derivative in coordinates in which I is the identity, with rows v,

    1 - 1/2 sum(fourth g v v') + 1/2 sum(third third' (v.v')^2 v v'),

where the last sum is over all pairs of rows.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from threadpoolctl import ThreadpoolController

from rosenblatt.regression.families import Family

Array = npt.NDArray[Any]

MAX_STEPS = 200
MAX_HALVINGS = 60
# A fit has converged once a step changes no predictor by more than this share of 1 + |predictor|. Steps converge
# quadratically, and the last one is taken.
SETTLED = 1e-9
# Where no row has a larger leverage, the second derivative of the penalty is left out of the steps: there are a few
# more of them, and each is much cheaper if there are many columns.
SMALL_LEVERAGE = 0.1
# The largest such share of a step. Where the likelihood is nearly flat Newton's steps have any length.
LONGEST = 5.0


class Point(NamedTuple):
    """The value and the derivatives of a likelihood at some parameters.

    Attributes
    ----------
    theta : array of shape (n_parameters,)
    value : float
        The log-likelihood, with the penalty if there is one; -inf where it cannot be computed.
    predictors : array of shape (n_samples,)
    root : array of shape (n_parameters, n_parameters)
        Triangular; the Fisher information is root' root.
    gradient : array of shape (n_parameters,)
    curvature : array of shape (n_parameters, n_parameters)
        The negative second derivative. It, the gradient and all steps are in the coordinates root @ theta.
    """

    theta: Array
    value: float
    predictors: Array
    root: Array
    gradient: Array
    curvature: Array

    def step(self, fixed: Array | None = None) -> Array:
        """Return Newton's step to the maximum, of all parameters or of those with the same product fixed @ theta."""
        if fixed is None:
            return _solve(self.curvature, self.gradient)
        unit, _ = self._normal(fixed)
        along = self.gradient - unit * (unit @ self.gradient)
        return _solve(_across(self.curvature, unit), along)

    def tangent(self, fixed: Array) -> Array:
        """Return the step from a maximum with a fixed product to the one where fixed @ theta is larger by 1."""
        unit, size = self._normal(fixed)
        pull = self.curvature @ unit
        return (unit - _solve(_across(self.curvature, unit), pull - unit * (unit @ pull))) / size

    def _normal(self, fixed: Array) -> tuple[Array, float]:
        """Return the direction in which fixed @ theta grows fastest, and by how much."""
        normal = solve_triangular(self.root, fixed, trans="T", check_finite=False)
        size = float(np.linalg.norm(normal))
        return normal / size, size

    def to_theta(self, step: Array) -> Array:
        """Return a step in the coordinates root @ theta as a step of theta."""
        return solve_triangular(self.root, step, check_finite=False)


class Likelihood(NamedTuple):
    """The likelihood of responses given theta, with predictors offset + rows @ theta.

    Attributes
    ----------
    rows : array of shape (n_samples, n_parameters)
        With orthonormal columns.
    total, trials, offset : array of shape (n_samples,)
    family : Family
    penalised : bool
        Whether to add Firth's penalty.
    """

    rows: Array
    total: Array
    trials: Array
    offset: Array
    family: Family
    penalised: bool

    def at(self, theta: Array) -> Point | None:
        """Return the likelihood and its derivatives, or None where numbers overflow or the information vanishes."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            eta = self.offset + self.rows @ theta
            moments = self.family.moments(eta, self.total, self.trials)
            weighted = np.sqrt(moments.variance)[:, None] * self.rows
        if not (np.isfinite(moments.log_likelihood) and np.isfinite(weighted).all()):
            return None
        root = np.asarray(np.linalg.qr(weighted, mode="r"))
        diagonal = np.abs(np.diagonal(root))
        if not diagonal.all():
            return None
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            rows = solve_triangular(root, self.rows.T, trans="T", check_finite=False).T
            score, curvature, penalty = moments.residuals, np.eye(theta.size), 0.0
            if self.penalised:
                leverage = np.einsum("ij,ij->i", rows, rows)
                score = score + 0.5 * moments.third * leverage
                if np.max(moments.variance * leverage) > SMALL_LEVERAGE:
                    pairs = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
                    thirds = pairs.T @ (moments.third[:, None] * rows)
                    curvature += 0.5 * (thirds.T @ thirds - (rows * (moments.fourth * leverage)[:, None]).T @ rows)
                penalty = float(np.log(diagonal).sum())
            gradient = rows.T @ score
        if not (np.isfinite(gradient).all() and np.isfinite(curvature).all()):
            return None
        return Point(theta, moments.log_likelihood + penalty, eta, root, gradient, curvature)

    def start(self) -> Point | None:
        """Return a point from which to begin: a linear regression on the responses, or else zero."""
        guess = self.family.guess(self.total, self.trials) - self.offset
        return self.at(self.rows.T @ guess) or self.at(np.zeros(self.rows.shape[1]))


@cache
def _blas() -> Any:
    """Return the controller of the BLAS libraries, cached as finding them takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")


def one_thread() -> Any:
    """Return a context in which BLAS has one thread: with more it takes many times as long for such small products."""
    return _blas().limit(limits=1)


def maximise(likelihood: Likelihood, start: Point | None, fixed: Array | None = None) -> Point | None:
    """Return the maximum, or None if the search does not converge.

    With `fixed` the maximum is the one among the parameters with the same product fixed @ theta as the start.
    """
    point = start
    for _ in range(MAX_STEPS):
        if point is None:
            break
        step = point.step(fixed)
        move = point.to_theta(step)
        change = float(np.max(np.abs(likelihood.rows @ move) / (1.0 + np.abs(point.predictors)), initial=0.0))
        if change <= SETTLED:
            return likelihood.at(point.theta + move)
        limit = min(1.0, LONGEST / change)
        point = _climb(likelihood, point, limit * move, limit * float(point.gradient @ step))
    return None


def _climb(likelihood: Likelihood, point: Point, move: Array, slope: float) -> Point | None:
    """Return the first point at 1, 1/2, 1/4, ... of a move that is high enough, or None if none is."""
    for size in 0.5 ** np.arange(MAX_HALVINGS):
        found = likelihood.at(point.theta + size * move)
        # Of a short step the gain is less than the rounding of the value.
        if found is not None and found.value >= point.value + 1e-4 * size * slope - 1e-14 * abs(point.value):
            return found
    return None


def _across(curvature: Array, unit: Array) -> Array:
    """Return the curvature across a direction, and 1 along it."""
    projection = np.eye(unit.size) - np.outer(unit, unit)
    return np.asarray(projection @ curvature @ projection + np.outer(unit, unit))


def _solve(curvature: Array, right: Array) -> Array:
    """Return the solution of a system with a curvature, or its right side where the likelihood is not concave.

    There the gradient, which is the step of Fisher's scoring in these coordinates, still leads upwards.
    """
    try:
        return np.asarray(cho_solve(cho_factor(curvature, check_finite=False), right, check_finite=False))
    except LinAlgError:
        return right
