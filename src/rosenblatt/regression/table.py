"""Estimates of several kinds side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rosenblatt.errors import InvalidInput
from rosenblatt.markup.records import Records, as_frame, as_html, as_text

if TYPE_CHECKING:
    from rosenblatt.regression.fits import FirthFit, Fit

INFINITE = {"+inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True, eq=False)
class EstimateTable:
    """The maximum-likelihood estimate of each coefficient, finite or not, beside Firth's.

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
    def rows(self) -> Records:
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
        """Return the table with the notes of the fits below it."""
        return as_text(self.rows, self.note)

    def _repr_html_(self) -> str:
        return as_html(self.rows)
