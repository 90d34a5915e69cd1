"""The coefficients of a logistic regression without a penalty, as a table: which have a finite estimate."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from rosenblatt.errors import MissingExtra

INTERCEPT = "intercept"


class Coefficients(NamedTuple):
    """What maximum likelihood would estimate for each coefficient, as R's detectseparation reports it.

    Attributes
    ----------
    separation : str
        "complete separation", "quasi-complete separation" or "overlap" (Albert and Anderson 1984).
    classes : tuple
        The labels; each but the first has coefficients of its own, against the first.
    names : tuple of str
        The features; empty: x0, x1, ...
    estimates : tuple of str
        For each class but the first: for each feature, and last for the intercept.
    extreme : int
        Observations whose fitted probability tends to 0 or 1.
    note : str
        What the columns that are not identified are made of.
    """

    separation: str
    classes: tuple[Any, ...]
    names: tuple[str, ...]
    estimates: tuple[str, ...]
    extreme: int
    note: str = ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """An entry for each coefficient, the intercept first: its estimate, and its class if there are several."""
        size = len(self.estimates) // (len(self.classes) - 1)
        names = [*(self.names or (f"x{j}" for j in range(size - 1))), INTERCEPT]
        order = [size - 1, *range(size - 1)]
        found = []
        for c, label in enumerate(self.classes[1:]):
            place = {"class": label} if len(self.classes) > 2 else {}
            found += [place | {"coefficient": names[j], "estimate": self.estimates[c * size + j]} for j in order]
        return found

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra(
                "to_frame returns a data frame of pandas, which is not there. Run: pip install pandas"
            ) from None
        return pd.DataFrame(self.rows)

    def __str__(self) -> str:
        """Write the table below a sentence."""
        rows = self.rows
        table = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]
        return "\n".join([self.sentence(), *lines, *([self.note] if self.note else [])])

    def sentence(self) -> str:
        """Describe what kind of separation there is, and on how many observations."""
        if self.separation == "overlap":
            return "Overlap: the likelihood has a maximum."
        where = f"{self.extreme} observation{'s have' if self.extreme != 1 else ' has'} a fitted probability of 0 or 1"
        return f"{self.separation.capitalize()}: the likelihood has no maximum; in the limit {where}."

    def _repr_html_(self) -> str:
        rows = self.rows
        head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
        body = "".join(f"<tr>{''.join(f'<td>{escape(str(v))}</td>' for v in row.values())}</tr>" for row in rows)
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(self.sentence())}</p>{table}{note}"
