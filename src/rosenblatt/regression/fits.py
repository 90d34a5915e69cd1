"""Firth's estimates with profile intervals, and maximum-likelihood estimates without the separated rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.special import chdtrc, chdtri

from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.markup.records import Records, as_frame, as_text
from rosenblatt.regression.columns import Basis, independent
from rosenblatt.regression.families import FAMILIES, Family
from rosenblatt.regression.maximise import Likelihood, Point, maximise, one_thread
from rosenblatt.regression.observations import Observations, observations
from rosenblatt.text import listed, short_repr

Array = npt.NDArray[Any]

# The last step to the end of an interval is taken from where the square root of twice the drop is this close to that
# of the quantile: the step leaves an error of about its square.
END = 1e-6
MAX_TRIALS = 100
# The largest change of a predictor, as a share of 1 + |predictor|, in a step along the path of a profile. With 1.0, one
# of twelve completely separated data sets ended in a lesser maximum.
STRIDE = 0.3


@dataclass(frozen=True, eq=False)
class Fit:
    """Estimates of the coefficients of a regression.

    Attributes
    ----------
    names : tuple of str
        Of the columns of the design.
    estimates, standard_errors : array of shape (n_columns,)
        NaN for coefficients that the rows do not identify. The errors come from the Fisher information.
    log_likelihood : float
        At the estimates; of `firth` with the penalty.
    converged : bool
    note : str
        What to know about the estimates, in words; empty if there is nothing.
    """

    names: tuple[str, ...]
    estimates: Array
    standard_errors: Array
    log_likelihood: float
    converged: bool
    note: str

    @property
    def rows(self) -> Records:
        """One entry per coefficient: its name, estimate and standard error."""
        columns = (self.names, self.estimates.tolist(), self.standard_errors.tolist())
        keys = ("coefficient", "estimate", "std. error")
        return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        return as_frame(self.rows)

    def __str__(self) -> str:
        """Return the table above the note."""
        return as_text(self.rows, self.note)


@dataclass(frozen=True, eq=False)
class FirthFit(Fit):
    """Firth's estimates, with intervals and tests by the profile of the penalised likelihood.

    Attributes
    ----------
    lower, upper : array of shape (n_columns,)
        Ends of the intervals; NaN for coefficients that are not identified.
    p_values : array of shape (n_columns,)
        Of the hypothesis that the coefficient is zero, by the likelihood ratio.
    level : float
        Confidence level of the intervals.
    """

    lower: Array = field(kw_only=True)
    upper: Array = field(kw_only=True)
    p_values: Array = field(kw_only=True)
    level: float = field(kw_only=True)

    @property
    def rows(self) -> Records:
        """One entry per coefficient: its name, estimate, standard error, interval and p-value."""
        ends = (f"{self.level:.4g} lower", f"{self.level:.4g} upper")
        further = zip(self.lower.tolist(), self.upper.tolist(), self.p_values.tolist(), strict=True)
        rows = zip(super().rows, further, strict=True)
        return [row | dict(zip((*ends, "p-value"), more, strict=True)) for row, more in rows]


def firth(
    design: Any,
    y: Any,
    *,
    family: str = "binomial",
    sample_weight: Any = None,
    offset: Any = None,
    names: Sequence[str] = (),
    level: float = 0.95,
) -> FirthFit:
    """Return Firth's estimates, which are finite for separated data too.

    They maximise the likelihood times the square root of the determinant of the Fisher information (Jeffreys' prior),
    which removes the leading term of the bias of maximum likelihood (Firth 1993). Intervals and p-values come from
    the profile of this penalised likelihood (Heinze and Schemper 2002). Units of the columns make no difference.

    Parameters
    ----------
    design : array-like of shape (n_samples, n_columns)
        All columns of the model. The intercept is a column of ones.
    y : array-like of shape (n_samples,) or (n_samples, 2)
        0 or 1, or a pair of successes and failures; counts for "poisson".
    family : {"binomial", "poisson"}, default="binomial"
        With the logit and the log link.
    sample_weight : array-like of shape (n_samples,), default=None
        How many equal rows each row stands for.
    offset : array-like of shape (n_samples,), default=None
        What to add to the predictor of each row, such as the logarithm of an exposure.
    names : sequence of str, default=()
        Names of the columns; by default those of a data frame, or x0, x1, ...
    level : float, default=0.95
        Confidence level of the intervals.

    Returns
    -------
    FirthFit
        Estimates, intervals and p-values.

    Raises
    ------
    InvalidInput
        If a value is missing or out of range, or lengths differ.

    Examples
    --------
    >>> fit = firth([[1, 1], [1, 2], [1, 3], [1, 4]], [0, 0, 1, 1], names=("intercept", "dose"))
    >>> print(fit)
    coefficient  estimate  std. error  0.95 lower  0.95 upper  p-value
    intercept    -3.27476  3.45813     -17.3398    1.22549     0.174184
    dose         1.3099    1.29345     -0.347842   6.6981      0.13781
    """
    if not (isinstance(level, float | int) and 0 < level < 1):
        raise InvalidArgument(f"level={short_repr(level)} is not between 0 and 1. Pass 0.95 for intervals of 95%.")
    data = observations(design, y, family=family, sample_weight=sample_weight, offset=offset, names=names)
    data = data.rows(data.trials > 0)
    basis = independent(data.design, range(len(data.names)))
    lower, upper, p_values = np.full((3, len(data.names)), math.nan)
    drop = math.sqrt(chdtri(1, 1 - level))
    with one_thread():
        found = _Maximum(data, basis, FAMILIES[family], penalised=True)
        for j, row in zip(basis.kept, found.inverse, strict=True):
            if found.point is not None:
                profile = _Profile(found.likelihood, found.point, row)
                lower[j], upper[j] = profile.end(-drop), profile.end(drop)
                p_values[j] = chdtrc(1, profile.drop(profile.at(0.0, profile.peak)) ** 2)
    lost = [data.names[j] for j in basis.kept if not np.isfinite([lower[j], upper[j], p_values[j]]).all()]
    notes = _notes(data.names, basis, found)
    if found.point is not None and lost:
        notes.append(f"The profile likelihood of {listed(lost)} could not be computed: missing ends and p-values.")
    columns = found.coefficients(basis.kept)
    return FirthFit(*columns, "\n".join(notes), lower=lower, upper=upper, p_values=p_values, level=level)


def maximum_likelihood(
    design: Any,
    y: Any,
    *,
    separated: Iterable[int] = (),
    family: str = "binomial",
    sample_weight: Any = None,
    offset: Any = None,
    names: Sequence[str] = (),
) -> Fit:
    """Return maximum-likelihood estimates, for separated data those in the limit in which the others are infinite.

    In the limit the separated rows have fitted probabilities of 0 or 1 (fitted counts of 0), and add nothing to the
    likelihood. The other rows determine the finite coefficients (Correia, Guimaraes and Zylkin 2019).

    Parameters
    ----------
    separated : iterable of int
        Rows whose fitted probability tends to 0 or 1: `Certificate.extreme`.
    design, y, family, sample_weight, offset, names
        As for `firth`.

    Raises
    ------
    InvalidInput
        If a value is missing or out of range, or lengths differ.

    Examples
    --------
    >>> design = [[1, 1, 0], [1, 2, 0], [1, 3, 0], [1, 4, 0], [1, 2, 1], [1, 3, 1]]
    >>> print(maximum_likelihood(design, [0, 1, 0, 1, 1, 1], separated=[4, 5], names=("intercept", "dose", "treated")))
    coefficient  estimate  std. error
    intercept    -2.27046  2.9344
    dose         0.908184  1.08519
    treated
    Only separated rows identify 'treated': infinite in the limit.
    """
    data = observations(design, y, family=family, sample_weight=sample_weight, offset=offset, names=names)
    separated = np.unique(np.fromiter(separated, dtype=np.intp))
    if separated.size and not 0 <= separated[0] <= separated[-1] < len(data.trials):
        raise InvalidInput(
            f"separated has the rows {separated[0]} to {separated[-1]}, X has {len(data.trials)} rows. "
            "Pass numbers of rows, such as Certificate.extreme."
        )
    counted = data.trials > 0
    everywhere = independent(data.design[counted], range(len(data.names)))
    counted[separated] = False
    data = data.rows(counted)
    basis = independent(data.design, everywhere.kept)
    with one_thread():
        found = _Maximum(data, basis, FAMILIES[family], penalised=False)
    infinite = np.setdiff1d(everywhere.kept, basis.identified())
    notes = _notes(data.names, everywhere, found)
    if infinite.size:
        lost = listed(data.names[j] for j in infinite)
        notes.append(f"Only separated rows identify {lost}: infinite in the limit.")
    return Fit(*found.coefficients(basis.identified()), "\n".join(notes))


class _Maximum:
    """The maximum of the likelihood of some observations."""

    def __init__(self, data: Observations, basis: Basis, family: Family, *, penalised: bool) -> None:
        self.names, self.basis = data.names, basis
        self.likelihood = Likelihood(basis.rows, data.total, data.trials, data.offset, family, penalised)
        self.point = maximise(self.likelihood, self.likelihood.start())
        self.inverse = solve_triangular(basis.triangle, np.eye(basis.kept.size))

    def coefficients(self, columns: Array) -> tuple[tuple[str, ...], Array, Array, float, bool]:
        """Return the names of all columns, the estimates and standard errors of some, and what is known of the fit.

        Without convergence there are no estimates: where the search ended depends on the units of the search alone.
        """
        estimates, errors = np.full((2, len(self.names)), math.nan)
        if self.point is None:
            return self.names, estimates, errors, math.nan, False
        wanted = np.isin(self.basis.kept, columns)
        roots = solve_triangular(self.point.root, self.inverse.T, trans="T")
        estimates[self.basis.kept[wanted]] = (self.inverse @ self.point.theta)[wanted]
        errors[self.basis.kept[wanted]] = np.linalg.norm(roots, axis=0)[wanted]
        # The penalty is 1/2 log det of the information about the coefficients, not about those of orthonormal columns.
        units = np.log(np.abs(np.diagonal(self.basis.triangle))).sum() if self.likelihood.penalised else 0.0
        return self.names, estimates, errors, float(self.point.value + units), True


class _Profile:
    """The largest likelihood for each value of one coefficient.

    The square root of twice the drop below the maximum is nearly linear in the coefficient: Newton's method on it takes
    few steps, and a bracket keeps it safe.
    """

    def __init__(self, likelihood: Likelihood, peak: Point, row: Array) -> None:
        self.likelihood, self.peak, self.row = likelihood, peak, row
        self.estimate = float(row @ peak.theta)

    def at(self, value: float, near: Point | None) -> Point | None:
        """Return the best parameters with this value of the coefficient, or None if the search fails.

        It follows the path of the best parameters from a point on it: from far off it could end in a lesser maximum.
        """
        for _ in range(MAX_TRIALS):
            if near is None:
                break
            rest = value - float(self.row @ near.theta)
            move = near.to_theta(near.tangent(self.row))
            change = np.max(np.abs(self.likelihood.rows @ move) / (1.0 + np.abs(near.predictors))) * abs(rest)
            if change <= STRIDE:
                return maximise(self.likelihood, self.likelihood.at(near.theta + rest * move), self.row)
            start = self.likelihood.at(near.theta + rest * STRIDE / change * move)
            near = maximise(self.likelihood, start, self.row)
        return None

    def drop(self, point: Point | None) -> float:
        """Return the square root of twice the drop below the maximum."""
        return math.nan if point is None else math.sqrt(max(2 * (self.peak.value - point.value), 0.0))

    def end(self, drop: float) -> float:
        """Return the value of the coefficient with this drop, above the estimate or, if negative, below it."""
        inside, outside = self.estimate, math.inf * drop
        tangent = self.peak.tangent(self.row)
        curvature = max(tangent @ self.peak.curvature @ tangent, tangent @ tangent / 4)
        value = self.estimate + drop / math.sqrt(curvature)
        near = self.peak
        for _ in range(MAX_TRIALS):
            point = self.at(value, near)
            found, target = self.drop(point), math.nan
            if point is not None:
                slope = float(point.gradient @ point.tangent(self.row))
                target = value - (abs(drop) - found) * found / slope if slope else math.nan
                if abs(found - abs(drop)) <= END:
                    return target
            if point is not None and found < abs(drop):
                inside, near = value, point
            else:  # or not to be computed so far out
                outside = value
            if not min(inside, outside) < target < max(inside, outside):
                target = (inside + outside) / 2 if math.isfinite(outside) else inside + 2 * (inside - self.estimate)
            value = target
        return math.nan


def _notes(names: Sequence[str], basis: Basis, found: _Maximum) -> list[str]:
    notes = []
    if basis.relations:
        columns = listed(names[j] for j in basis.relations)
        notes.append(f"Not identified, because it is a combination of columns before it: {columns}.")
    if found.point is None:
        notes.append(
            "The fit did not converge, so there are no estimates. If the likelihood has no maximum, "
            "`certify` says which rows are separated."
        )
    return notes
