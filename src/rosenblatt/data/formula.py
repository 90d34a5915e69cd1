"""Read features and labels from a data frame by a formula such as "ill ~ age + region"."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput, MissingExtra

CONSTANT = "Intercept"


def design(data: Any, y: Any, formula: Any) -> tuple[Any, Any]:
    """Return the features and the labels that a formula names, using the package formulaic.

    Parameters
    ----------
    y : None
        Must be None: the formula names the labels.
    formula : str
        Labels, "~", and the features: columns, factors, interactions.

    Returns
    -------
    X : data frame of shape (n_samples, n_features)
        Without the column of ones: every separator has a bias already.
    y : array-like of shape (n_samples,)

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
        from formulaic import Formula
    except ImportError:
        raise MissingExtra(
            'Formulas need formulaic, which is not installed. Run: pip install "rosenblatt[formula]"'
        ) from None
    labels = formula.split("~")[0].strip()
    try:
        parsed = Formula(formula)
        X = parsed.rhs.get_model_matrix(data, na_action="raise")
        named = labels in list(getattr(data, "columns", ()))
        target = data[labels] if named else parsed.lhs.get_model_matrix(data, na_action="raise")
    except Exception as error:  # formulaic raises many kinds of errors, some from the data frame
        fault = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidInput(
            f"The formula {formula!r} does not match the data: {fault} Correct the formula or the data."
        ) from None
    if CONSTANT not in X.columns:
        raise InvalidInput(
            f"The formula {formula!r} has no intercept, but every separator has one. Leave out 0 and -1."
        )
    values = np.asarray(target)
    if values.ndim == 2 and values.shape[1] != 1:
        raise InvalidInput(
            f"{labels!r} gives {values.shape[1]} columns, but labels are a single column. Name a column of the data."
        )
    return X[[name for name in X.columns if name != CONSTANT]], values.reshape(-1)
