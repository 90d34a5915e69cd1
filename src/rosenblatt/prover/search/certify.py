"""Is the data linearly separable? `certify` and `certify_pairs` search for the answer and prove it.

`proved_claims` goes through these steps as far as time allows, and verifies each result before the next step:

1. `verdict.verdict_claims`: separable, quasi-separable or overlapping, with witnesses. Its own steps are listed there.
2. `margin.margin_claims`, for two separable classes: the largest margin between two proved numbers.
3. `estimates.estimate_claims`, if asked for or quick: which coefficients of a logistic regression diverge.

`rosenblatt.prover.certificates` then writes the certificate.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput, TooLarge
from rosenblatt.prover.certificates.certificate import Certificate, draft, issue
from rosenblatt.prover.certificates.certificate_json import ARITHMETICS
from rosenblatt.prover.certificates.describe import NO_ESTIMATES
from rosenblatt.prover.certificates.verify import confirmed
from rosenblatt.prover.designs import read_design
from rosenblatt.prover.exact.clock import TIME_LIMIT, Deadline, OutOfTime
from rosenblatt.prover.exact.numbers import some_rows
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import limits
from rosenblatt.prover.search.estimates import estimate_claims, worthwhile
from rosenblatt.prover.search.margin import margin_claims
from rosenblatt.prover.search.notes import rounding_notes
from rosenblatt.prover.search.verdict import contradiction, inseparable_claims, verdict_claims
from rosenblatt.prover.search.witness import Witness
from rosenblatt.prover.transforms import monomials

KERNELS = ("linear", "quadratic", "poly", "rbf")

log = logging.getLogger(__name__)  # the steps of a search, for whoever waits for it


def certify(
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
    margin: bool = True,
    coefficients: bool | None = None,
    exact: str = "binary",
    time_limit: float | None = TIME_LIMIT,
    kernel: str = "linear",
    degree: int = 3,
) -> Certificate:
    """Decide whether classes are linearly separable, and prove it.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Integers of any size, Fractions, Decimals and long doubles are read exactly; text is rejected. Or a model of
        statsmodels or its results, alone: its design, response, family and weights are taken.
    y : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, 2)
        Two classes; or more, which are then separated jointly, by one weight vector per class: on every row the score
        of its own class must be the highest. For other responses see `family`.
    formula : str, optional
        Which columns of the data frame X are the labels and the features, instead of y: "ill ~ age + region". With
        "0 +" or "- 1" the model has no intercept; "cbind(dead, alive) ~ dose" has successes and failures. Needs the
        package formulaic. `verify` takes the same formula.
    family : {"binomial", "multinomial", "ordinal", "poisson"}, optional
        The regression model whose estimates are asked about; by default that of the labels. "binomial": labels of two
        classes, shares from 0 to 1, or two columns of successes and failures. "ordinal": classes in their order, that
        of a categorical of pandas if it has one (cumulative logit or probit). "poisson": counts, with a log link.
    fit_intercept : bool
        Whether the model has an intercept.
    missing : {"raise", "drop"}, optional
        What to do with rows that have a missing value: name them in an error, the default, or leave them out, the
        default of formulas.
    sample_weight : array-like of shape (n_samples,), optional
        Frequencies or weights of the rows. Those of weight zero are left out; other weights change no verdict.
    model : classifier of scikit-learn, optional
        A fitted LogisticRegression, or a pipeline that ends in one: its steps transform X first.
    feature_names : sequence of str, optional
        Names of the columns of X; by default those of a data frame.
    margin : bool
        Whether to look for the largest margin too if two classes are separable. It is bracketed between two proved
        numbers, and so is the number of mistakes that a perceptron can make.
    coefficients : bool, optional
        Whether to determine which coefficients of a logistic regression without a penalty have finite estimates, and
        the signs of the others (`Certificate.coefficients`). The default does so for at most 5 seconds: for small data,
        and for data of moderate size with named columns that are fewer than the rows.
    exact : {"binary", "decimal"}
        What a float means: itself, or the shortest decimal that rounds to it in its precision (0.1 is then one tenth).
    time_limit : float or None
        Seconds for everything, verification included; None: no limit. Without a verdict by then the certificate is
        "undecided"; otherwise it has all claims proved by then, and `reason` says which are missing.
    kernel : {"linear", "quadratic", "poly", "rbf"}
        The space to separate in. For a polynomial kernel the certificate is on the explicit features,
        ``rosenblatt.prover.monomials(X, degree)``, and `verify` needs those. The features of the Gaussian kernel are
        not rational, so no separator can be written down: the verdict is "undecided", and `reason` says why. Only equal
        rows of different classes, which no kernel separates, prove that the rows cannot be separated; the verdict,
        quasi-separable or overlapping, is then on X itself.
    degree : int
        Degree of the kernel "poly"; that of "quadratic" is 2.

    Returns
    -------
    Certificate
        Its claims hold in exact arithmetic and were verified before they were returned. `verify` and the stand-alone
        checker confirm them independently.

    Raises
    ------
    InvalidInput
        If X or y cannot be used, or an option is not valid.
    UnprovedClaim
        If a result of the search fails its verification, which is a defect of this package.

    Notes
    -----
    The default time limit is a minute. Without one the verdict is "undecided" only for more than 6,000 rows of more
    than 1,500 features that are not separable, if ruling a separator out takes too large an exact system. The bracket
    of the margin is closed to 1e-6 of it, mostly to 1e-10. For ill-conditioned data (columns whose sizes differ by many
    powers of ten, a margin that is tiny next to the rows) no weights in floats come that close. The search then runs on
    integers, for up to 24 features and 100,000 values; beyond that the bracket may stay wider, but it is always true.

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
    deadline = Deadline(time_limit)
    decimal = exact == "decimal"
    if kernel != "linear":
        regression = (family, missing, sample_weight, model, formula if kernel != "rbf" else None)
        if not fit_intercept or any(option is not None for option in regression):
            raise InvalidInput(f"kernel={kernel!r} goes with X and labels alone. Drop the options of a regression.")
        missing = "raise"  # rows keep their numbers
    if kernel in ("quadratic", "poly"):
        X = monomials(X, 2 if kernel == "quadratic" else degree, decimal=decimal)
    design = read_design(
        X,
        y,
        formula=formula,
        family=family,
        fit_intercept=fit_intercept,
        missing=missing,
        sample_weight=sample_weight,
        model=model,
        feature_names=feature_names,
        decimal=decimal,
    )
    if kernel == "rbf":
        return _certify_gaussian(design.signed, design.classes, deadline)
    margin = margin and design.response == "labels"  # of other samples it has no meaning
    claims = proved_claims(
        design.signed, design.classes, margin, deadline, coefficients=coefficients, names=design.names
    )
    claims["reason"] = f"{claims.get('reason', '')} {design.note}".strip()
    return issue(design.signed, design.classes, **design.fields, **claims)


def certify_pairs(
    X: Any, y: Any, *, margin: bool = True, exact: str = "binary", time_limit: float | None = TIME_LIMIT
) -> dict[tuple[Any, Any], Certificate]:
    """Certify every pair of classes separately.

    Parameters
    ----------
    X, y, margin, exact
        As for `certify`.
    time_limit : float or None
        Seconds for each pair; None: no limit.

    Returns
    -------
    dict
        A certificate for each pair of labels, in sorted order, on the rows of these two classes.
    """
    check_options(exact, time_limit, margin=margin)
    decimal = exact == "decimal"
    design = read_design(X, y, decimal=decimal)
    signed, classes, names = design.signed, design.classes, design.names
    certificates = {}
    for a, b in combinations(range(signed.classes), 2):
        index = np.flatnonzero((signed.label == a) | (signed.label == b))
        rows = some_rows(signed.table, index, decimal=decimal)
        pair = SignedRows(rows, signed.label[index] == b, 2, decimal=decimal)
        labels = classes[a], classes[b]
        claims = proved_claims(pair, labels, margin, Deadline(time_limit), coefficients=None, names=names)
        certificates[labels] = issue(pair, labels, names=names, **claims)
    return certificates


def check_options(exact: Any, time_limit: Any, **flags: Any) -> None:
    """Raise InvalidInput for options that are not valid; `flags` must be true, false or None."""
    for name, value in flags.items():
        if value is not None and not (isinstance(value, int | np.bool_) and value in (0, 1)):
            raise InvalidInput(f"{name}={value!r:.60} is neither True nor False. Pass one of the two.")
    if exact not in ARITHMETICS:
        raise InvalidInput(f"exact={exact!r} is not known. Choose one of {', '.join(ARITHMETICS)}.")
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) > 0):
        raise InvalidInput(
            f"time_limit={time_limit!r} is not a positive number of seconds. Pass one, or None for no limit."
        )


def proved_claims(
    signed: SignedRows,
    classes: tuple[Any, ...],
    margin: bool,
    deadline: Deadline,
    *,
    coefficients: bool | None = False,
    names: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the claims of a certificate: the verdict first, then margins and coefficients, as far as time allows.

    Each claim is verified as soon as it is found, before the next search can use up the time. Parameters are those of
    `certify`.
    """
    claims: dict[str, Any] = {}

    def add(what: str, found: Callable[[], dict[str, Any]]) -> str:
        """Add claims that pass their verification; return the reason if time or space did not suffice for them."""
        try:
            log.info("%s", what)  # until a step of it has a name of its own
            more = claims | found()
            log.info("verifying the %s", what)
            confirmed(draft(signed, classes, **more), signed, what)
        except (OutOfTime, TooLarge) as fault:
            return str(fault)
        claims.update(more)
        return ""

    # Overflow may mislead the search, but not the proof.
    with np.errstate(all="ignore"), deadline:
        fault = add("verdict", lambda: verdict_claims(signed, deadline))
        if fault:
            return {"verdict": "undecided", "reason": _undecided(fault)}
        if claims["verdict"] == "undecided":
            return claims
        if margin and claims["verdict"] == "separable" and signed.classes == 2:
            fault = add("margin", lambda: margin_claims(signed, claims["vector"], deadline))
            if fault:  # the verdict stands without it
                claims["reason"] = f"The largest margin was not determined: {fault}."
        if worthwhile(signed, bool(names)) if coefficients is None else coefficients:
            own = Deadline(min(limits.FREE_SECONDS, deadline.left)) if coefficients is None else deadline
            with own:
                fault = add("table of coefficients", lambda: estimate_claims(signed, claims, names, own))
            if fault:  # the other claims stand without it
                why = fault if coefficients else f"by default it may take {own.seconds:.2g} seconds"
                claims["reason"] = f"{claims.get('reason', '')} {NO_ESTIMATES}: {why}.".lstrip()
        if coefficients is not False and worthwhile(signed, bool(names)):
            log.info("looking for rounding errors in the columns")
            own = Deadline(min(limits.FREE_SECONDS, deadline.left))
            with suppress(OutOfTime, TooLarge), own:
                note = rounding_notes(signed, claims["verdict"], names)
                claims["reason"] = f"{claims.get('reason', '')} {note}".strip()
    return claims


def _undecided(fault: str) -> str:
    """Return why there is no verdict, and the remedy."""
    remedy = " Allow more time (time_limit=None sets no limit), or pass fewer rows or columns."
    return f"{fault[0].upper()}{fault[1:]}." + remedy * ("time limit" in fault)


# ---------------------------------------------------------------------------------------------------- Gaussian kernel


def _certify_gaussian(signed: SignedRows, classes: tuple[Any, ...], deadline: Deadline) -> Certificate:
    """Certify that no kernel separates equal rows of different classes; other rows stay undecided."""
    try:
        pair = contradiction(signed.table, signed.label, deadline)
    except OutOfTime as fault:
        return issue(signed, classes, verdict="undecided", reason=_undecided(str(fault)))
    if pair is None:
        reason = (
            "no equal rows are of different classes, so a Gaussian kernel separates them by a theorem (Micchelli 1986: "
            "its matrix is positive definite); the weights are not rational, so no witness can be written down"
        )
        return issue(signed, classes, verdict="undecided", reason=reason)
    i, j = pair
    reason = f"rows {i} and {j} are equal and of different classes, so no kernel separates them"
    ids = [int(signed.number(i, signed.label[j])), int(signed.number(j, signed.label[i]))]
    claims: dict[str, Any] = {"verdict": "undecided"}
    with np.errstate(all="ignore"), suppress(OutOfTime, TooLarge), deadline:
        found = inseparable_claims(signed, Witness(None, ids, [1, 1]), deadline)
        confirmed(draft(signed, classes, **found), signed)
        claims = found
    return issue(signed, classes, **claims | {"reason": reason})
