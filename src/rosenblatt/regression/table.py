"""Estimates of several kinds side by side, and tables as text and as frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from rosenblatt.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from rosenblatt.regression.fits import FirthFit, Fit

Rows = list[dict[str, Any]]

DIGITS = 6
INFINITE = {"+inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True, eq=False)
class EstimateTable:
    """What becomes of each coefficient under maximum likelihood, beside Firth's estimate.

    Attributes
    ----------
    kinds : tuple of str
        For each column of the design "finite", "+inf", "-inf", "+/-inf" or "not identified", as a certificate proves.
    likelihood : Fit
        From `maximum_likelihood` without the separated rows: the estimates that are finite.
    penalised : FirthFit
        From `firth`.
    """

    kinds: Sequence[str]
    likelihood: Fit
    penalised: FirthFit

    def __post_init__(self) -> None:
        if not len(self.kinds) == len(self.likelihood.names) == len(self.penalised.names):
            raise InvalidInput(
                f"There are {len(self.kinds)} kinds of estimates for {len(self.likelihood.names)} and "
                f"{len(self.penalised.names)} coefficients. Pass those of one design."
            )

    @property
    def rows(self) -> Rows:
        """One entry per coefficient: maximum likelihood with its standard error, Firth with interval and p-value.

        The estimate by maximum likelihood is a number, which may be infinite, or "+/-inf" or "not identified".
        """
        found = []
        for kind, plain, penalised in zip(self.kinds, self.likelihood.rows, self.penalised.rows, strict=True):
            estimate = plain["estimate"] if kind == "finite" else INFINITE.get(kind, kind)
            error = plain["std. error"] if kind == "finite" else math.nan
            row = {"coefficient": plain["coefficient"], "max. likelihood": estimate, "std. error": error}
            further = {key: penalised[key] for key in list(penalised)[3:]}
            found.append(row | {"Firth": penalised["estimate"]} | further)
        return found

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        return as_frame(self.rows)

    @property
    def note(self) -> str:
        """What the fits say about their estimates; empty if there is nothing."""
        notes = [self.penalised.note] if self.likelihood.converged else [self.likelihood.note, self.penalised.note]
        return "\n".join(dict.fromkeys(filter(None, notes)))

    def __str__(self) -> str:
        """Return the table above what the fits say beside it."""
        return as_text(self.rows, self.note)

    def _repr_html_(self) -> str:
        head, *body = (
            "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
            for tag, row in zip(["th", *["td"] * len(self.kinds)], as_cells(self.rows), strict=True)
        )
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in body)}</tbody></table>"
        )


def as_frame(rows: Rows) -> Any:
    """Return rows of a table as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("to_frame needs pandas, which is not installed. Run: pip install pandas") from None
    return pd.DataFrame(rows)


def as_text(rows: Rows, note: str = "") -> str:
    """Return rows of a table as text, above a note."""
    cells = as_cells(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
    return "\n".join([*lines, *([note] if note else [])])


def as_cells(rows: Rows) -> list[list[str]]:
    """Return the heading and the rows of a table as text."""
    return [list(rows[0]), *([_shown(value) for value in row.values()] for row in rows)]


def _shown(value: Any) -> str:
    """Return a value as text; missing numbers are empty."""
    if not isinstance(value, float):
        return str(value)
    if math.isinf(value):
        return "+inf" if value > 0 else "-inf"
    return "" if math.isnan(value) else f"{value:.{DIGITS}g}"
