"""The design of a regression model, as signed rows: what `certify` decides about and `verify` checks.

Maximum-likelihood estimates exist unless some direction of the coefficients raises the likelihood for ever. That is a
question about signed rows for many models. A row is a sample of class 1 if its response pulls its score upwards, of
class 0 if it pulls it downwards, and of both if it pulls both ways, so that such a direction must leave its score as it
is:

* labels: each row is a sample of its class; several classes are the multinomial model.
* shares, and pairs of successes and failures: a success pulls upwards, a failure downwards (Albert and Anderson 1984).
* counts (log link): every count pulls downwards, a positive one upwards as well (Correia, Guimaraes and Zylkin 2019).
* ordered classes: the thresholds beside the class of a row, see `rosenblatt.prover.transforms.against_thresholds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.formula import design
from rosenblatt.data.labels import as_labels, as_names, as_weights
from rosenblatt.data.matrices import as_csr, column_names, sp, unmasked
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact.numbers import exact_table
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.transforms import against_thresholds
from rosenblatt.text import count, listed, short_repr

Array = npt.NDArray[Any]
Label = int | float | str | bool | None

FAMILIES = ("binomial", "multinomial", "ordinal", "poisson")
MISSING = ("raise", "drop")
# The family that reads a response again as a certificate has it.
FAMILY_OF = {"labels": None, "shares": "binomial", "pairs": "binomial", "counts": "poisson", "ordered": "ordinal"}
# Models of statsmodels by their class; of a GLM the family counts.
STATSMODELS = {
    **dict.fromkeys(("Logit", "Probit", "Binomial"), "binomial"),
    **dict.fromkeys(("Poisson", "NegativeBinomial", "GeneralizedPoisson"), "poisson"),
    "MNLogit": "multinomial",
    "OrderedModel": "ordinal",
}
# Models and links of statsmodels whose estimates `rosenblatt.regression` has.
CANONICAL = {("Logit", "NoneType"), ("Poisson", "NoneType"), ("Binomial", "Logit"), ("Poisson", "Log")}
# Links of a GLM under which the likelihood is concave and rises towards its supremum where rows are separated.
LINKS = {
    "binomial": ("Logit", "Probit", "CLogLog", "LogLog", "Cauchy", "CDFLink"),
    "poisson": ("Log",),
}


class UsedRows(NamedTuple):
    """The rows that count, with features and responses as the caller has them."""

    X: Any
    y: Any
    names: tuple[str, ...]
    family: str | None
    intercept: bool
    rows: Array  # their numbers in the data
    total: int  # rows of the data
    note: str = ""
    weight: Array | None = None
    offset: Array | None = None
    canonical: bool = True  # whether the link is the logit or, of counts, the logarithm of a Poisson mean


class Design(NamedTuple):
    """Samples of a model, and how they follow from the data; see the fields of a `Certificate` of the same names."""

    signed: SignedRows
    classes: tuple[Label, ...]
    names: tuple[str, ...] = ()
    response: str = "labels"
    levels: tuple[Label, ...] = ()
    rows: tuple[int, ...] = ()
    source: UsedRows | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a certificate that say how the samples follow from the data."""
        return {"names": self.names, "response": self.response, "levels": self.levels, "rows": self.rows}

    @property
    def note(self) -> str:
        """What was left out of the data, in words."""
        return self.source.note if self.source else ""


def read_design(
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
    decimal: bool = False,
) -> Design:
    """Return the samples of a model; see `rosenblatt.certify` for the parameters."""
    if family is not None and family not in FAMILIES:
        raise InvalidInput(f"family={family!r} is not known. Choose one of {', '.join(FAMILIES)}.")
    if missing is not None and missing not in MISSING:
        raise InvalidInput(f"missing={missing!r} is not known. Choose one of {', '.join(MISSING)}.")
    if not isinstance(fit_intercept, bool | np.bool_):
        raise InvalidInput(f"fit_intercept={fit_intercept!r:.60} is neither True nor False. Pass one of the two.")
    source = _source(X, y, formula, family, bool(fit_intercept), missing, model)
    source = source if feature_names is None else _renamed(source, tuple(map(str, feature_names)))
    source = _used(source, missing or "raise", sample_weight)
    return _samples(source, decimal)


# --------------------------------------------------------------------------------------------- what the caller passed


def _source(
    X: Any, y: Any, formula: str | None, family: str | None, intercept: bool, missing: str | None, model: Any
) -> UsedRows:
    frame = hasattr(X, "columns")  # whose columns may have any names
    if not frame and hasattr(getattr(X, "model", X), "exog"):
        if y is not None or formula is not None or model is not None:
            raise InvalidInput("A model of statsmodels has its own data. Pass it alone.")
        return _of_statsmodels(getattr(X, "model", X))
    if not frame and hasattr(X, "predict") and hasattr(X, "fit"):
        raise InvalidInput(
            f"{type(X).__name__} does not keep its data. Pass certify(X, y, model=...) with the data it was fitted on."
        )
    if formula is not None:
        total = len(next(iter(X.values()), ())) if isinstance(X, dict) else len(X)
        data = design(X, y, formula)
        if missing == "raise" and data.used.size < total:
            raise _missing_rows(np.setdiff1d(np.arange(total), data.used))
        left_out = _left_out(total - data.used.size, "a missing value")
        names = column_names(data.X)
        return UsedRows(data.X, data.y, names, family, intercept and data.intercept, data.used, total, left_out)
    names = column_names(X)
    if model is not None:
        X, names, intercept = _of_estimator(model, X, names)
    _refuse_text(X, names)
    X = as_csr(X) if sp.issparse(X) else X  # refuses shapes that are not true
    shape = getattr(X, "shape", None)
    n = shape[0] if shape else len(X) if shape is None and hasattr(X, "__len__") else exact_table(X).shape[0]
    return UsedRows(X, y, names, family, intercept, np.arange(n), n)


def _renamed(source: UsedRows, names: tuple[str, ...]) -> UsedRows:
    shape = np.shape(source.X)
    if len(shape) == 2 and len(names) != shape[1]:
        raise InvalidInput(f"There are {len(names)} feature_names for {count(shape[1], 'feature')}. Pass one for each.")
    return source._replace(names=names)


def _refuse_text(X: Any, names: tuple[str, ...]) -> None:
    """Raise an error for the first column of a data frame that has text."""
    for name in names if hasattr(X, "dtypes") else ():
        values = np.asarray(X[name])
        text = (
            [v for v in values.tolist() if isinstance(v, str)] if values.ndim == 1 and values.dtype.kind in "OU" else []
        )
        if text:
            raise InvalidInput(
                f'X has text in the column {name!r}, as {short_repr(text[0])}. Pass formula="y ~ {name}" with the '
                "data frame for categories, or one-hot encode them; convert text of numbers with astype."
            )


def _of_statsmodels(model: Any) -> UsedRows:
    """Return the data of a model of statsmodels: its design, with a column of ones as the intercept."""
    kind = type(getattr(model, "family", model)).__name__
    family = STATSMODELS.get(kind)
    if family is None:
        raise InvalidInput(
            f"{kind} is not a model that certify knows. Pass one of {listed(sorted(STATSMODELS))}, or its data."
        )
    link = type(getattr(getattr(model, "family", None), "link", None)).__name__
    if link != "NoneType" and link not in LINKS[family]:
        raise InvalidInput(
            f"{kind} with the link {link} is not a model that certify knows. Pass one with {listed(LINKS[family])}."
        )
    X, names = np.asarray(model.exog), tuple(map(str, model.exog_names[: model.exog.shape[1]]))
    constant = np.flatnonzero((X[0] == X).all(axis=0) & (X[0] != 0))[:1]
    columns = np.setdiff1d(np.arange(X.shape[1]), constant)
    dropped = np.asarray(getattr(model.data, "missing_row_idx", None) or [], np.int64)
    total = X.shape[0] + dropped.size
    weight = np.ones(X.shape[0]) * getattr(model, "freq_weights", 1.0) * getattr(model, "var_weights", 1.0)
    used = np.flatnonzero(weight > 0)
    # statsmodels keeps the logarithm of an exposure.
    shifts = [np.asarray(v) for name in ("offset", "exposure") if (v := getattr(model, name, None)) is not None]
    offset = np.broadcast_to(sum(shifts), X.shape[:1])[used] if any(np.any(v) for v in shifts) else None
    trials = np.asarray(getattr(model, "n_trials", 1.0)) * np.ones(X.shape[0])
    y = np.asarray(model.endog)[used]
    if family == "binomial" and (trials > 1).any():
        y = np.column_stack([y, 1 - y]) * trials[used, None]
    notes = [
        _left_out(dropped.size, "a missing value"),
        _left_out(X.shape[0] - used.size, "a weight of zero"),
        "The offset does not change which estimates are finite." if offset is not None else "",
    ]
    return UsedRows(
        X=X[used][:, columns],
        y=y,
        names=tuple(names[j] for j in columns),
        family=family,
        intercept=constant.size > 0 or family == "ordinal",
        rows=np.setdiff1d(np.arange(total), dropped)[used],
        total=total,
        note=" ".join(filter(None, notes)),
        weight=weight[used] if (weight != 1).any() else None,
        offset=offset,
        canonical=(kind, link) in CANONICAL,
    )


def _of_estimator(model: Any, X: Any, names: tuple[str, ...]) -> tuple[Any, tuple[str, ...], bool]:
    """Return the features that a fitted classifier sees, their names, and whether it has an intercept."""
    if not hasattr(model, "predict"):
        raise InvalidInput(f"model={model!r:.60} is not a fitted classifier. Pass a LogisticRegression or a pipeline.")
    if not hasattr(model, "steps"):
        return X, names, bool(getattr(model, "fit_intercept", True))
    final = model.steps[-1][1]
    if len(model.steps) > 1:
        X = model[:-1].transform(X)
        try:
            names = tuple(map(str, model[:-1].get_feature_names_out()))
        except (AttributeError, ValueError):  # a step without names
            names = column_names(X)
    return X, names, bool(getattr(final, "fit_intercept", True))


# ------------------------------------------------------------------------------------------------ the rows that count


def _used(source: UsedRows, missing: str, sample_weight: Any) -> UsedRows:
    """Leave out rows without weight, and rows with missing values or raise an error for them."""
    weight = as_weights(sample_weight, source.total)
    keep = weight[source.rows] > 0 if weight.size else np.ones(source.rows.size, bool)
    weightless = int((~keep).sum())
    both = _missing(source.X), _missing(source.y)
    if any(one.shape != keep.shape for one in both):  # rows and labels of different number: `as_labels` says so
        return source
    empty = both[0] | both[1]
    if missing == "raise" and (empty & keep).any():
        raise _missing_rows(source.rows[empty & keep])
    lost = int((empty & keep).sum())
    if weight.size:
        source = source._replace(weight=weight[source.rows])
    if not (weightless or lost):
        return source
    index = np.flatnonzero(keep & ~empty)
    if not index.size:
        raise InvalidInput("Every row has a missing value or no weight. Pass at least one row that has all its values.")
    notes = [source.note, _left_out(weightless, "a weight of zero"), _left_out(lost, "a missing value")]
    return source._replace(
        X=_take(source.X, index),
        y=_take(source.y, index),
        rows=source.rows[index],
        note=" ".join(filter(None, notes)),
        weight=None if source.weight is None else source.weight[index],
    )


def _left_out(number: int, why: str) -> str:
    if not number:
        return ""
    return f"{count(number, 'row')} with {why} {'was' if number == 1 else 'were'} left out."


def _missing_rows(rows: Array) -> InvalidInput:
    return InvalidInput(
        f"Input contains NaN or missing values in {count(rows.size, 'row')}: {listed(rows.tolist())}. Fill them in, or "
        'leave such rows out with missing="drop".'
    )


def _missing(values: Any) -> Array:
    """Return which rows have a missing value: None, NaN, NaT, NA, or masked."""
    if sp.issparse(values):
        rows: Any = as_csr(values)
        bad = np.isnan(rows.data) if rows.data.dtype.kind == "f" else np.zeros(rows.data.size, bool)
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        return np.asarray(np.bincount(row[bad], minlength=rows.shape[0]) > 0)
    if hasattr(values, "get_columns"):
        return np.asarray(np.any([_missing(column.to_numpy()) for column in values.get_columns()], axis=0))
    if hasattr(values, "isna"):
        found = np.asarray(values.isna())
    elif isinstance(values, np.ma.MaskedArray):
        found = np.ma.getmaskarray(values)
    else:
        array = np.asarray(values) if hasattr(values, "dtype") else _objects(values)
        if array.dtype.kind == "f":
            found = np.isnan(array)
        elif array.dtype.kind == "O":
            found = np.array([_is_absent(v) for v in array.ravel()], bool).reshape(array.shape)
        else:
            found = np.zeros(array.shape, bool)
    return np.asarray(found.any(axis=1) if found.ndim > 1 else found)


def _is_absent(value: Any) -> bool:
    try:
        return value is None or value is np.ma.masked or bool(value != value)
    except (TypeError, ArithmeticError):  # the NA of pandas, and signalling decimals, refuse to be compared
        return True
    except ValueError:  # an array, which is refused later
        return False


def _objects(values: Any) -> Array:
    """Return a list as an array, without rounding its numbers; of no dimension if it has no shape."""
    try:
        return np.array(values, object)
    except ValueError:
        return np.zeros(len(values), bool)


def _take(values: Any, index: Array) -> Any:
    """Return some rows of a frame, an array, a sparse matrix or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[index]
    if sp.issparse(values):
        return as_csr(values)[index]
    if hasattr(values, "get_columns") or isinstance(values, np.ndarray):
        return values[index]
    return [values[i] for i in index.tolist()]


# -------------------------------------------------------------------------------------------------------- the samples


def _samples(source: UsedRows, decimal: bool) -> Design:
    names, rows = source.names, source.rows
    if source.family == "ordinal":
        if not source.intercept:
            raise InvalidInput("An ordinal model has thresholds in place of an intercept. Drop fit_intercept=False.")
        return _ordered(source, decimal)
    table = exact_table(source.X, decimal=decimal)
    fixed = {"decimal": decimal, "intercept": source.intercept}
    both = _pulls(source, table.shape[0]) if source.family in ("binomial", "poisson") else None
    if both is None:
        shape = source.y.shape if hasattr(source.y, "shape") else _objects(source.y).shape
        if shape[1:] == (2,):
            raise InvalidInput('y has two columns. If they are successes and failures, pass family="binomial".')
        classes, label = named_labels(*as_labels(source.y, table.shape[0]))
        if source.family == "binomial" and len(classes) > 2:
            raise InvalidInput(
                f"y has {len(classes)} classes, {listed(classes)}, and a binomial model two. Pass family='multinomial'."
            )
        one = len(classes) == 1  # all samples are then of the second class
        label, classes = (np.ones(table.shape[0], np.int64), (None, *classes)) if one else (label, classes)
        signed = SignedRows(table, label, len(classes), **fixed)
        return Design(signed, classes, names, rows=_numbered(rows, source), source=source)
    response, down, up = both
    sample = np.repeat(np.arange(table.shape[0]), down.astype(int) + up)
    if not sample.size:
        raise InvalidInput("y has neither successes nor failures. Pass at least one row with a trial.")
    first = np.append(True, np.diff(sample) > 0)
    label = np.where(first & down[sample], 0, 1)
    own = np.array_equal(sample, np.arange(table.shape[0]))
    signed = SignedRows(table if own else table.take(sample), label, 2, **fixed)
    return Design(signed, (0, 1), names, response, rows=_numbered(rows[sample], source), source=source)


def named_labels(found: Array, label: Array) -> tuple[tuple[Any, ...], Array]:
    """Return the classes as JSON can hold them, in sorted order, and the class number of each row.

    Numbers, strings and booleans are kept; other labels, such as decimals and dates, are replaced by their strings.
    """
    names = as_names(found)
    if len({bool if isinstance(name, bool) else str if isinstance(name, str) else float for name in names}) > 1:
        names = tuple(map(str, names))
    if len(set(names)) < len(names):
        raise InvalidInput(f"y has different labels that print alike: {names!r:.100}. Use numbers or strings.")
    order = sorted(range(len(names)), key=names.__getitem__)
    return tuple(names[k] for k in order), np.argsort(order)[label]


def _numbered(rows: Array, source: UsedRows) -> tuple[int, ...]:
    """Return the row of each sample; empty if each row of the data is one sample."""
    return () if np.array_equal(rows, np.arange(source.total)) else tuple(rows.tolist())


def _pulls(source: UsedRows, n: int) -> tuple[str, Array, Array] | None:
    """Return the response, and which rows pull their score down and up; None if the rows have labels."""
    y = np.asarray(unmasked(source.y))
    if source.family == "binomial" and not (y.ndim == 2 and y.shape[1] == 2):
        numbers = _numbers(y) if y.dtype.kind in "fO" and y.size else None
        if numbers is None or not (np.rint(numbers) != numbers).any():
            return None
        if not ((numbers >= 0) & (numbers <= 1)).all():
            raise InvalidInput("y has fractions, but not all are shares from 0 to 1. Pass labels or shares.")
        return "shares", _column(numbers, n) < 1, _column(numbers, n) > 0
    numbers = _numbers(y)
    noun = "counts" if source.family == "poisson" else "successes and failures"
    if numbers is None or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise InvalidInput(f"y has values that are not {noun}. Pass numbers from 0.")
    if source.family == "poisson":
        return "counts", np.ones(n, bool), _column(numbers, n) > 0
    if len(numbers) != n:
        raise InvalidInput(f"y has {len(numbers)} rows, X has {n}. Pass a pair of successes and failures for each row.")
    return "pairs", numbers[:, 1] > 0, numbers[:, 0] > 0


def _numbers(y: Array) -> Array | None:
    try:
        return np.asarray(y, np.float64) if y.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        return None


def _column(values: Array, n: int) -> Array:
    column = values.reshape(-1) if values.ndim == 2 and values.shape[1] == 1 else values
    if column.shape != (n,):
        raise InvalidInput(f"y has shape {values.shape}, X has {n} rows. Pass one response for each row.")
    return column


def _ordered(source: UsedRows, decimal: bool) -> Design:
    """Return a sample for each threshold beside the level of a row."""
    levels = _levels(source.y)
    X, above = against_thresholds(source.X, source.y, order=levels)
    labels = as_labels(source.y, len(source.rows))[0].tolist() if levels is None else list(levels)
    names = column_names(X) or source.names or tuple(f"x{j}" for j in range(X.shape[1] - max(len(labels) - 2, 0)))
    if len(names) < X.shape[1]:
        names += tuple(f"threshold {a}|{b}" for a, b in pairwise(labels[1:]))
    inner = [1 + (0 < labels.index(v) < len(labels) - 1) for v in np.asarray(source.y).reshape(-1).tolist()]
    rows = np.repeat(source.rows, inner)
    signed = SignedRows(exact_table(X, decimal=decimal), above.astype(np.int64), 2, decimal=decimal)
    shown = tuple(as_names(np.array(labels, object)))
    return Design(signed, (0, 1), names, "ordered", shown, _numbered(rows, source), source)


def _levels(y: Any) -> Sequence[Any] | None:
    """Return the order of an ordered categorical that has all its levels; None for the order of the labels."""
    dtype: Any = getattr(y, "dtype", None)
    if not getattr(dtype, "ordered", False):
        return None
    present = set(np.asarray(y).tolist())
    return [level for level in dtype.categories.tolist() if level in present]
