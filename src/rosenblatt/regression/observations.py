"""Check a design, the responses and their weights, and bring them into one form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_weights
from rosenblatt.data.matrices import column_names, dense_values, refuse_infinite
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.regression.families import FAMILIES
from rosenblatt.text import listed, short_repr

Array = npt.NDArray[Any]


class Observations(NamedTuple):
    """The rows of a design that count, with their responses.

    Attributes
    ----------
    design : array of shape (n_samples, n_columns)
    total, trials : array of shape (n_samples,)
        The sum of the responses of so many equal rows.
    offset : array of shape (n_samples,)
        What to add to the predictor of each row.
    names : tuple of str
        Of the columns.
    """

    design: Array
    total: Array
    trials: Array
    offset: Array
    names: tuple[str, ...]

    def rows(self, chosen: Array) -> Observations:
        """Return the chosen rows."""
        return Observations(
            self.design[chosen], self.total[chosen], self.trials[chosen], self.offset[chosen], self.names
        )


def observations(
    design: Any, y: Any, *, family: str, sample_weight: Any, offset: Any, names: Sequence[str]
) -> Observations:
    """Return checked observations. A row of weight zero has no trials.

    Raises
    ------
    InvalidInput
        If a value is missing or out of range, or lengths differ.
    """
    if family not in FAMILIES:
        raise InvalidArgument(f"family={short_repr(family)} is unknown. Choose one of {listed(FAMILIES)}.")
    if hasattr(design, "tocsr"):
        raise InvalidInput(f"The design is a sparse matrix of shape {design.shape}. Pass its toarray().")
    X = dense_values(design).astype(np.float64)
    faulty = ~np.isfinite(X).all(axis=1)
    if faulty.any():
        row = int(np.argmax(faulty))
        refuse_infinite(X[row], row)
    n_samples, n_columns = X.shape
    names = tuple(names) or column_names(design) or tuple(f"x{j}" for j in range(n_columns))
    if len(names) != n_columns:
        raise InvalidInput(f"There are {len(names)} names for {n_columns} columns. Pass one name for each column.")
    weight = as_weights(1.0 if sample_weight is None else sample_weight, n_samples)
    total, trials = _responses(y, n_samples, family)
    shift = np.zeros(n_samples) if offset is None else _numbers(offset, "offset")
    if shift.shape != (n_samples,):
        raise InvalidInput(f"offset has shape {shift.shape}, X has {n_samples} rows. Pass one number for each row.")
    trials = trials * weight
    if not trials.any():
        raise InvalidInput("y has no successes and no failures in any row with a weight. Pass their numbers.")
    return Observations(X, total * weight, trials, shift, names)


def _numbers(values: Any, what: str) -> Array:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} cannot be read as numbers ({error}). Pass one number for each row.") from None
    if not np.isfinite(found).all():
        raise InvalidInput(f"{what} has missing or infinite values. Leave out these rows.")
    return found


def _responses(y: Any, n_samples: int, family: str) -> tuple[Array, Array]:
    """Return the sum of the responses of each row, and their number."""
    values = _numbers(y, "y")
    grouped = family == "binomial" and values.ndim == 2 and values.shape[1] == 2
    if values.shape != ((n_samples, 2) if grouped else (n_samples,)):
        pairs = ", or a pair of successes and failures" if family == "binomial" else ""
        raise InvalidInput(
            f"y has shape {values.shape}, X has {n_samples} rows. Pass one response for each row{pairs}."
        )
    if values.min() < 0:
        raise InvalidInput(f"y has the value {values.min():g}: counts are not negative. Correct the row.")
    if grouped:
        return values[:, 0], values.sum(axis=1)
    if family == "binomial" and not np.isin(values, (0.0, 1.0)).all():
        wrong = values[~np.isin(values, (0.0, 1.0))][0]
        raise InvalidInput(
            f"y has the value {wrong:g}. Pass 1 for the class whose probability is modelled and 0 for the other, or a "
            "pair of successes and failures for each row."
        )
    return values, np.ones(n_samples)
