"""Tables of records, such as one for each coefficient: as text, as HTML and as a data frame."""

from __future__ import annotations

import math
from typing import Any

from rosenblatt.errors import MissingExtra
from rosenblatt.markup.elements import Markup, table
from rosenblatt.text import in_columns

Records = list[dict[str, Any]]

DIGITS = 6


def as_text(records: Records, note: str = "") -> str:
    """Return a table as text, above a note."""
    lines = in_columns([list(records[0]), *_cells(records)], left=range(len(records[0])))
    return "\n".join([lines, *([note] if note else [])])


def as_html(records: Records) -> Markup:
    """Return a table as HTML, with its first column aligned left."""
    first, *others = records[0]
    return table([f"<{first}", *others], _cells(records))


def as_frame(records: Records) -> Any:
    """Return a table as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("to_frame needs pandas, which is not installed. Run: pip install pandas") from None
    return pd.DataFrame(records)


def _cells(records: Records) -> list[list[str]]:
    return [[_shown(value) for value in record.values()] for record in records]


def _shown(value: Any) -> str:
    """Return a value as text; missing numbers are empty."""
    if not isinstance(value, float):
        return str(value)
    if math.isinf(value):
        return "+inf" if value > 0 else "-inf"
    return "" if math.isnan(value) else f"{value:.{DIGITS}g}"
