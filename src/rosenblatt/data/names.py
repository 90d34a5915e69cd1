"""Names of columns, from frames and from the design matrices that formulas make."""

from __future__ import annotations

from typing import Any


def column_names(X: Any) -> tuple[str, ...]:
    """Return the names of the columns of a data frame (pandas, polars) or a design matrix (patsy); empty if none."""
    described = getattr(X, "design_info", None)
    found = getattr(described, "column_names", None) if described is not None else getattr(X, "columns", None)
    names = tuple(found) if found is not None else ()
    return tuple(map(str, names)) if all(isinstance(name, str) for name in names) else ()
