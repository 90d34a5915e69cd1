"""Read features and labels from a data frame by a formula such as "ill ~ age + region"."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.text import did_you_mean, listed

Array = npt.NDArray[Any]

CONSTANT = "Intercept"


class FormulaData(NamedTuple):
    """What a formula names in a data frame."""

    X: Any  # data frame of the features, without the column of ones
    y: Array  # (n_samples,) or, for successes and failures, (n_samples, 2)
    intercept: bool
    used: Array  # numbers of the rows whose variables all have a value


def design(data: Any, y: Any, formula: Any) -> FormulaData:
    """Return the features and the labels that a formula names, using the package formulaic.

    Rows in which a variable of the formula is missing are left out.

    Parameters
    ----------
    data : data frame or dict of columns
    y : None
        Must be None: the formula names the labels.
    formula : str
        Labels, "~", and the features: columns, factors, interactions; `0 +` or `- 1` for no intercept. Successes and
        failures are written "cbind(dead, alive) ~ dose".

    Raises
    ------
    MissingExtra
        If formulaic is not installed.
    InvalidInput
        If the formula does not match the data.
    """
    if y is not None:
        raise InvalidInput(
            "y was passed together with a formula, which names the labels itself. Leave out one of the two."
        )
    if not isinstance(formula, str) or formula.count("~") != 1:
        raise InvalidInput(f'formula={formula!r} is not of the form "labels ~ features", such as "ill ~ age + region".')
    try:
        import pandas as pd
        from formulaic import Formula
    except ImportError:
        raise MissingExtra(
            'Formulas need formulaic, which is not installed. Run: pip install "rosenblatt[formula]"'
        ) from None
    labels, features = (side.strip() for side in formula.split("~"))
    pair = re.fullmatch(r"cbind\((.*),(.*)\)", labels)
    labels = f"{pair[1].strip()} + {pair[2].strip()}" if pair else labels
    known: list[str] = []
    unknown: list[str] = []
    try:
        frame = data.to_pandas() if hasattr(data, "to_pandas") else pd.DataFrame(data)
        frame = frame.reset_index(drop=True)
        parsed = Formula(f"{labels} ~ {features}")
        variables = [name for name in frame.columns if name in parsed.required_variables]
        known = list(map(str, frame.columns))
        unknown = sorted(set(map(str, parsed.required_variables)) - set(known))
        used = np.flatnonzero(frame[variables].notna().all(axis=1))
        frame = frame.iloc[used]
        X = parsed.rhs.get_model_matrix(frame, na_action="raise")
        target = frame[labels] if labels in variables else parsed.lhs.get_model_matrix(frame, na_action="raise")
    except Exception as error:  # formulaic raises many kinds of errors, some from the data frame
        fault = (str(error).splitlines() or [type(error).__name__])[0]
        if unknown:
            hint = did_you_mean(unknown[0], known) or f" The columns are {listed(known)}."
            fault = f"there is no column {listed(unknown)}.{hint}"
        raise InvalidInput(
            f"The formula {formula!r} does not match the data: {fault} Correct the formula or the data."
        ) from None
    values = np.asarray(target)
    kept = [j for j, name in enumerate(target.columns) if name != CONSTANT] if values.ndim == 2 else []
    values = values[:, kept] if values.ndim == 2 else values
    if values.ndim == 2 and values.shape[1] != (2 if pair else 1):
        raise InvalidInput(
            f"{labels!r} gives {values.shape[1]} columns, but labels are a single column. Name a column of the data, "
            "or write cbind(successes, failures)."
        )
    named = [name for name in X.columns if name != CONSTANT]
    if not named:
        raise InvalidInput(f"The formula {formula!r} has no features. Name a column of the data.")
    return FormulaData(X[named], values if pair else values.reshape(-1), CONSTANT in X.columns, used)
