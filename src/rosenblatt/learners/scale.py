"""Columns of very different size: who minds them says so."""

from __future__ import annotations

import warnings
from typing import Any

from rosenblatt.data.survey import Survey
from rosenblatt.errors import ScaleWarning

# Times the median from which a column is said to outweigh the others. Measured: raw data that a scaler helps has
# 300 to 4,000 (wine, spambase, forest cover types, breast cancer); counts, texts, pixels and scaled data up to 20.
OUTWEIGHS = 100.0


def warn_of_scale(sizes: Survey, names: Any, stacklevel: int) -> None:
    """Warn if the values of a column are far larger than those of the others.

    Parameters
    ----------
    sizes : Survey
    names : array-like of str, or None
        Of the columns.
    stacklevel : int
        Of the caller, as for `warnings.warn`.
    """
    if not sizes.column_value > OUTWEIGHS * sizes.median_value:
        return
    name = sizes.column if names is None else repr(str(names[sizes.column]))
    warnings.warn(
        f"Column {name} (root mean square {sizes.column_value:.2g}) outweighs the others (median "
        f"{sizes.median_value:.2g}): scale the columns, for example with StandardScaler or MaxAbsScaler, or use AROW, "
        "which does not mind.",
        ScaleWarning,
        stacklevel=stacklevel + 1,
    )
