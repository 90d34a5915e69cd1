"""Is the data linearly separable? `certify` and `certify_pairs` put the parts together.

`decide` finds a separator or rules one out, `reduction` distinguishes quasi-separable from overlapping rows, `margin`
brackets the largest margin, and `rosenblatt.prover.certificates` writes the certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.dense import column_names
from rosenblatt.data.formula import design
from rosenblatt.errors import InvalidInput, TooLarge
from rosenblatt.prover.certificates.certificate import Certificate, draft, issue, prepare
from rosenblatt.prover.certificates.certificate_json import ARITHMETICS
from rosenblatt.prover.certificates.sentences import NO_ESTIMATES
from rosenblatt.prover.certificates.verify import confirmed
from rosenblatt.prover.exact.clock import TIME_LIMIT, Clock, OutOfTime
from rosenblatt.prover.exact.monomials import monomials
from rosenblatt.prover.exact.numbers import some_rows
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.equal_rows import contradiction
from rosenblatt.prover.search.estimates import FREE_SECONDS, estimate_claims, worthwhile
from rosenblatt.prover.search.margin import margin_claims
from rosenblatt.prover.search.reduction import inseparable_claims
from rosenblatt.prover.search.verdict import verdict_claims
from rosenblatt.prover.search.views import standardised
from rosenblatt.prover.search.witness import Witness

Array = npt.NDArray[Any]

KERNELS = ("linear", "quadratic", "poly", "rbf")


def certify(
    X: Any,
    y: Any = None,
    *,
    formula: str | None = None,
    margin: bool = True,
    coefficients: bool | None = None,
    exact: str = "binary",
    time_limit: float | None = TIME_LIMIT,
    kernel: str = "linear",
    degree: int = 3,
) -> Certificate:
    """Decide whether classes can be told apart by hyperplanes, and prove it.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Integers of any size, Fractions, Decimals and long doubles are taken as they are; text is refused.
    y : array-like of shape (n_samples,) or (n_samples, 1)
        Two classes; or more, which are then separated jointly: by one weight vector each, the own score being higher
        than every other.
    formula : str, optional
        Which columns of the data frame X are the labels and the features, instead of y: "ill ~ age + region". Needs
        the package formulaic. `verify` takes the same formula.
    margin : bool
        Whether to look for the largest margin too, where two classes are separable. It is bracketed between two proved
        numbers, as is the number of mistakes that a perceptron can make.
    coefficients : bool, optional
        Whether to determine which coefficients of a logistic regression without a penalty have finite estimates, and
        the signs of the others (`Certificate.coefficients`). By default where that takes little time, and for 5 seconds
        at most: for small data, and for data of moderate size whose columns have names and are fewer than the rows.
    exact : {"binary", "decimal"}
        What a float means: itself, or the shortest decimal that rounds to it in its precision (0.1 is then one tenth).
    time_limit : float or None
        Seconds for all of it, verification included; None: no limit. If they are over before there is a verdict, that
        is "undecided"; if later, the certificate has what was proved until then, and `reason` says what is missing.
    kernel : {"linear", "quadratic", "poly", "rbf"}
        The space to separate in. For a polynomial kernel the certificate is on the explicit features,
        ``rosenblatt.prover.exact.monomials.monomials(X, degree)``, and `verify` needs those. The features of the
        Gaussian kernel are not rational, so no separator can be written down: the verdict is "undecided", and `reason`
        says why. Only if two equal rows are of different classes, which no kernel separates, the certificate proves
        that they cannot be separated; its verdict, quasi-separable or overlapping, is then on X itself.
    degree : int
        Of the kernel "poly"; "quadratic" has 2.

    Returns
    -------
    Certificate
        Its claims hold in exact arithmetic, and were verified before it was returned: `verify` and the stand-alone
        checker confirm them without trusting it.

    Raises
    ------
    InvalidInput
        If X or y cannot be used, or an option has no meaning.
    UnprovedClaim
        If something was found that does not pass its verification: a defect of this package.

    Notes
    -----
    The default time limit is a minute. Without one the verdict is "undecided" only for more than 6,000 rows of more
    than 1,500 features that are not separable, where some tie between them is too large for the exact solver. The
    bracket of the margin is closed to 1e-6 of it, mostly to 1e-10. Data may be so ill-conditioned that no weights in
    floats come that close (columns of sizes that differ by many powers of ten, a margin that is tiny next to the rows).
    The search then runs on integers, for up to 24 features and 100,000 values; beyond that the bracket may stay wider,
    but is true all the same.

    References
    ----------
    Gordan (1873), Mathematische Annalen 6; Albert and Anderson (1984), Biometrika 71, for the three verdicts; Lawson
    and Hanson (1974) and Wolfe (1976) for the search.

    Examples
    --------
    >>> from rosenblatt import certify
    >>> certificate = certify([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0])
    >>> certificate.verdict, certificate.support, certificate.multipliers
    ('overlapping', (0, 1, 2, 3), (1, 1, 1, 1))
    """
    check_options(exact, time_limit, margin=margin, coefficients=coefficients)
    if kernel not in KERNELS:
        raise InvalidInput(f"kernel={kernel!r} is not known. Choose one of {', '.join(KERNELS)}.")
    clock = Clock(time_limit)
    if formula is not None:
        X, y = design(X, y, formula)
    decimal = exact == "decimal"
    names = column_names(X) if kernel in ("linear", "rbf") else ()
    if kernel in ("quadratic", "poly"):
        X = monomials(X, 2 if kernel == "quadratic" else degree, decimal=decimal)
    signed, classes = prepare(X, y, decimal=decimal)
    if kernel == "rbf":
        return _certify_gaussian(signed, classes, clock)
    return _certify(signed, classes, names, margin, coefficients, clock)


def certify_pairs(
    X: Any, y: Any, *, margin: bool = True, exact: str = "binary", time_limit: float | None = TIME_LIMIT
) -> dict[tuple[Any, Any], Certificate]:
    """Certify every pair of classes by itself.

    Parameters
    ----------
    X, y, margin, exact
        As for `certify`.
    time_limit : float or None
        Seconds for each pair; None: no limit.

    Returns
    -------
    dict
        For each pair of labels, in sorted order, a certificate on the rows of these two.
    """
    check_options(exact, time_limit, margin=margin)
    decimal = exact == "decimal"
    signed, classes = prepare(X, y, decimal=decimal)
    names = column_names(X)
    certificates = {}
    for a, b in combinations(range(signed.classes), 2):
        index = np.flatnonzero((signed.label == a) | (signed.label == b))
        rows = some_rows(signed.table, index, decimal=decimal)
        pair = SignedRows(rows, signed.label[index] == b, 2, decimal=decimal)
        labels = classes[a], classes[b]
        certificates[labels] = _certify(pair, labels, names, margin, None, Clock(time_limit))
    return certificates


def check_options(exact: Any, time_limit: Any, **flags: Any) -> None:
    """Raise InvalidInput for options that have no meaning; `flags` are true, false or None."""
    for name, value in flags.items():
        if value is not None and not (isinstance(value, int | np.bool_) and value in (0, 1)):
            raise InvalidInput(f"{name}={value!r:.60} is neither True nor False. Pass one of the two.")
    if exact not in ARITHMETICS:
        raise InvalidInput(f"exact={exact!r} is not known. Choose one of {', '.join(ARITHMETICS)}.")
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) > 0):
        raise InvalidInput(f"time_limit={time_limit!r} is not a positive number of seconds.")


def _certify(
    signed: SignedRows,
    classes: tuple[Any, ...],
    names: tuple[str, ...],
    margin: bool,
    coefficients: bool | None,
    clock: Clock,
) -> Certificate:
    claims = proved_claims(signed, classes, margin, clock, coefficients=coefficients, names=names)
    return issue(signed, classes, names=names, **claims)


def proved_claims(
    signed: SignedRows,
    classes: tuple[Any, ...],
    margin: bool,
    clock: Clock,
    *,
    coefficients: bool | None = False,
    names: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return what a certificate claims: the verdict first, then margins and coefficients, as far as time allows.

    Each part is verified as soon as it is found, so that what is found later takes no time from it. Parameters are
    those of `certify`.
    """
    claims: dict[str, Any] = {}

    def add(what: str, found: Callable[[], dict[str, Any]]) -> str:
        """Add claims that pass their verification; return why there are none, if time or space did not suffice."""
        try:
            more = claims | found()
            confirmed(draft(signed, classes, **more), signed, what)
        except (OutOfTime, TooLarge) as fault:
            return str(fault)
        claims.update(more)
        return ""

    # Values that leave the range of floats may mislead the search, but not the proof.
    with np.errstate(all="ignore"), clock:
        fault = add("verdict", lambda: verdict_claims(signed, clock))
        if fault:
            return {"verdict": "undecided", "reason": _undecided(fault)}
        if claims["verdict"] == "undecided":
            return claims
        if margin and claims["verdict"] == "separable" and signed.classes == 2:
            fault = add("margin", lambda: margin_claims(signed, claims["vector"], clock))
            if fault:  # the verdict stands without it
                claims["reason"] = f"The largest margin was not determined: {fault}."
        if worthwhile(signed, bool(names)) if coefficients is None else coefficients:
            own = Clock(min(FREE_SECONDS, clock.left)) if coefficients is None else clock
            with own:
                fault = add("table of coefficients", lambda: estimate_claims(signed, claims, names, own))
            if fault:  # here too
                why = fault if coefficients else f"nobody asked, and it takes more than {own.seconds:.2g} seconds"
                claims["reason"] = f"{claims.get('reason', '')} {NO_ESTIMATES}: {why}.".lstrip()
    return claims


def _undecided(fault: str) -> str:
    """Return why there is no verdict, as a sentence with what to do about it."""
    remedy = " Allow more time, with time_limit=None as long as it takes, or take fewer rows or columns."
    return f"{fault[0].upper()}{fault[1:]}." + remedy * ("time limit" in fault)


# ---------------------------------------------------------------------------------------------------- Gaussian kernel


def _certify_gaussian(signed: SignedRows, classes: tuple[Any, ...], clock: Clock) -> Certificate:
    """Certify what can be proved of rows in the feature space of a Gaussian kernel."""
    try:
        pair = contradiction(signed.table, signed.label, clock)
    except OutOfTime as fault:
        return issue(signed, classes, verdict="undecided", reason=_undecided(str(fault)))
    if pair is None:
        reason = (
            "no equal rows are of different classes, so that a Gaussian kernel separates them by a theorem (Micchelli "
            "1986: its matrix is positive definite); the weights are not rational, and no witness of them can be "
            "written"
        )
        return issue(signed, classes, verdict="undecided", reason=reason)
    i, j = pair
    reason = f"rows {i} and {j} are equal and of different classes, so that no kernel separates them"
    ids = [int(signed.number(i, signed.label[j])), int(signed.number(j, signed.label[i]))]
    claims: dict[str, Any] = {"verdict": "undecided"}
    with np.errstate(all="ignore"), suppress(OutOfTime, TooLarge), clock:
        found = inseparable_claims(signed, standardised(signed), Witness(None, ids, [1, 1]), clock)
        confirmed(draft(signed, classes, **found), signed)
        claims = found
    return issue(signed, classes, **claims | {"reason": reason})
