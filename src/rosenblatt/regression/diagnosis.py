"""Diagnose a regression: whether its estimates exist, with proof, and estimates that can be reported if they do not."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import TooLarge
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.prover.certificates.describe import some
from rosenblatt.prover.designs import Design, read_design
from rosenblatt.prover.exact.clock import TIME_LIMIT
from rosenblatt.prover.exact.numbers import exact_table
from rosenblatt.prover.search.certify import certify
from rosenblatt.regression.fits import firth, maximum_likelihood
from rosenblatt.regression.table import EstimateTable

Array = npt.NDArray[Any]

log = logging.getLogger(__name__)

# Rows times cubed columns up to which Firth's estimates are computed: each interval takes some fits. Measured: 2,000
# rows of 20 columns take 0.35 seconds.
MAX_PRODUCTS = 2e7

NEXT_STEPS = {
    "separable": "report Firth's estimates with their profile intervals; maximum likelihood has no finite estimates. "
    "With few rows, exact logistic regression is another way.",
    "quasi-separable": "report the finite estimates, which are those in the limit; and for the others Firth's estimate "
    "with its profile interval.",
    "overlapping": "maximum likelihood has finite estimates. If a fit warns all the same, scale the columns, or allow "
    "more iterations.",
    "undecided": "allow more time (time_limit=None sets no limit), or pass fewer columns.",
}
WITHOUT_FIRTH = "merge levels, leave columns out, or fit with a penalty; finite estimates are those in the limit."


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Whether the estimates of a regression exist, and what to report.

    Attributes
    ----------
    certificate : Certificate
        The verdict, with its proof.
    table : EstimateTable or None
        For each coefficient the maximum-likelihood estimate, finite or not, beside Firth's with its interval. None for
        more than two classes, for ordered ones, for links other than logit and log, and for large designs: these have
        `certificate.coefficients` only.
    """

    certificate: Certificate
    table: EstimateTable | None

    @property
    def next_step(self) -> str:
        """What to do with such data."""
        if self.certificate.verdict in ("separable", "quasi-separable") and self.table is None:
            return WITHOUT_FIRTH
        return NEXT_STEPS[self.certificate.verdict]

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        return (self.table or self.certificate.coefficients).to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; infinite estimates are text, and missing numbers None."""
        certificate = self.certificate
        rows = self.table.rows if self.table else certificate.coefficients.rows if certificate.estimates else []
        return {
            "verdict": certificate.verdict,
            "separation": certificate.separation,
            "estimates": [{key: _plain(value) for key, value in row.items()} for row in rows],
            "separated_rows": list(certificate.extreme),
            "next_step": self.next_step,
            "certificate": certificate.to_dict(),
        }

    def __str__(self) -> str:
        """Return the verdict, the table, the separated rows, and the next step."""
        certificate = self.certificate
        if not certificate.estimates:
            return f"{certificate}\nNext: {self.next_step}"
        coefficients = certificate.coefficients
        lines = [f"{coefficients.summary()}\n\n{self.table}\n" if self.table else f"{coefficients}\n"]
        if certificate.verdict == "quasi-separable" and certificate.extreme:
            lines.append(f"Separated rows: {some(map(str, certificate.extreme))}.")
        if certificate.reason and certificate.reason not in lines[0]:
            lines.append(certificate.reason)
        return "\n".join([*lines, f"Next: {self.next_step}"])

    def _repr_html_(self) -> str:
        certificate = self.certificate
        shown = self.table or (certificate.coefficients if certificate.estimates else certificate)
        lines = [certificate.coefficients.summary()] if self.table else []
        lines += [certificate.reason, f"Next: {self.next_step}"]
        return "".join([shown._repr_html_(), *(f"<p>{escape(line)}</p>" for line in lines if line)])


def _plain(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return value if np.isfinite(value) else None if np.isnan(value) else f"{value:+}"


def diagnose(
    X: Any,
    y: Any = None,
    *,
    formula: str | None = None,
    family: str | None = None,
    fit_intercept: bool = True,
    missing: str | None = None,
    sample_weight: Any = None,
    model: Any = None,
    feature_names: Sequence[str] | None = None,
    level: float = 0.95,
    exact: str = "binary",
    time_limit: float | None = TIME_LIMIT,
) -> Diagnosis:
    """Say why a logistic or Poisson regression does not converge, and what to report.

    Parameters
    ----------
    X, y, formula, family, fit_intercept, missing, sample_weight, model, feature_names
        The regression, as for `certify`: a model or the results of statsmodels alone; rows and responses; or a data
        frame with a formula.
    level : float
        Confidence level of the intervals.
    exact, time_limit
        As for `certify`.

    Returns
    -------
    Diagnosis
        Print it for the verdict, a table of estimates, the separated rows and the next step.

    Examples
    --------
    >>> from rosenblatt import diagnose
    >>> print(diagnose([[1], [2], [3], [4]], [0, 0, 1, 1]))
    Complete separation: the likelihood has no maximum; in the limit 4 observations have a fitted probability of 0 or 1.
    <BLANKLINE>
    coefficient  max. likelihood  std. error  Firth     0.95 lower  0.95 upper  p-value
    intercept    -inf                         -3.27476  -17.3398    1.22549     0.174184
    x0           +inf                         1.3099    -0.347842   6.6981      0.13781
    <BLANKLINE>
    Next: report Firth's estimates with their profile intervals; maximum likelihood has no finite estimates. With few rows, exact logistic regression is another way.
    """  # noqa: E501
    options: dict[str, Any] = {
        "formula": formula,
        "family": family,
        "fit_intercept": fit_intercept,
        "missing": missing,
        "sample_weight": sample_weight,
        "model": model,
        "feature_names": feature_names,
    }
    certificate = certify(X, y, margin=False, coefficients=True, exact=exact, time_limit=time_limit, **options)
    return diagnosis_of(certificate, read_design(X, y, **options), level)


def diagnosis_of(certificate: Certificate, design: Design, level: float = 0.95) -> Diagnosis:
    """Return the diagnosis of a design whose certificate is known."""
    log.info("estimating by Firth's likelihood")
    return Diagnosis(certificate, _table(certificate, design, level) if certificate.estimates else None)


def is_separated(X: Any, y: Any = None, *, time_limit: float | None = TIME_LIMIT, **options: Any) -> bool:
    """Return whether some maximum-likelihood estimate of a regression is infinite.

    This is so under complete and quasi-complete separation.

    Parameters
    ----------
    X, y, time_limit
        As for `certify`.
    **options
        `formula`, `family`, `fit_intercept`, `missing`, `sample_weight`, `model`, `feature_names` and `exact`, as for
        `certify`.

    Returns
    -------
    bool
        Proved either way.

    Raises
    ------
    TooLarge
        If the question stays undecided.

    Examples
    --------
    >>> from rosenblatt import is_separated
    >>> is_separated([[1], [2], [3], [4]], [0, 0, 1, 1]), is_separated([[1], [2], [3], [4]], [0, 1, 0, 1])
    (True, False)
    """
    certificate = certify(X, y, margin=False, coefficients=False, time_limit=time_limit, **options)
    if certificate.verdict == "undecided":
        raise TooLarge(certificate.reason)
    return certificate.verdict != "overlapping"


def _table(certificate: Certificate, design: Design, level: float) -> EstimateTable | None:
    """Return the estimates side by side; None for models that have no Firth estimates here, and for large designs."""
    source, signed = design.source, design.signed
    assert source is not None
    if signed.classes > 2 or design.response == "ordered" or not source.canonical:
        return None
    features = exact_table(source.X).matrix()
    n, columns = features.shape[0], features.shape[1] + signed.constant
    if n * columns**3 > MAX_PRODUCTS:
        return None
    values = np.asarray(features.toarray() if hasattr(features, "toarray") else features, np.float64)
    names = design.names or tuple(f"x{j}" for j in range(features.shape[1]))
    kinds = certificate.estimates[:-1]
    if signed.constant:
        values = np.column_stack([np.ones(n), values])
        names, kinds = ("intercept", *names), (certificate.estimates[-1], *kinds)
    options: dict[str, Any] = {
        "family": "poisson" if design.response == "counts" else "binomial",
        "sample_weight": source.weight,
        "offset": source.offset,
        "names": names,
    }
    y = _responses(design)
    separated = np.flatnonzero(np.isin(source.rows, certificate.extreme))
    return EstimateTable(
        kinds,
        maximum_likelihood(values, y, separated=separated, **options),
        firth(values, y, level=level, **options),
    )


def _responses(design: Design) -> Array:
    """Return the responses of the rows: 0 or 1, counts, or successes and failures."""
    if design.response == "labels":
        return np.asarray(design.signed.label, np.float64)
    assert design.source is not None
    y = np.asarray(design.source.y, np.float64)
    if design.response == "pairs":
        return y
    y = y.reshape(-1)
    return np.column_stack([y, 1.0 - y]) if design.response == "shares" else y
