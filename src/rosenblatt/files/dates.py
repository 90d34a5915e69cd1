"""Dates in tables, split into what a linear model can use: year, month, day, weekday and hour."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from rosenblatt.errors import InvalidInput
from rosenblatt.files.features import to_bytes
from rosenblatt.files.parsing import MISSING

# 2024-01-31, 31.1.2024 or 1/31/2024, then perhaps a time, with AM or PM, and its zone.
DATE = re.compile(
    r"(?:(?P<year>[0-9]{4})([-/.])(?P<month>[0-9]{1,2})\2(?P<day>[0-9]{1,2})"
    r"|(?P<first>[0-9]{1,2})(?P<mark>[./])(?P<second>[0-9]{1,2})(?P=mark)(?P<last>[0-9]{4}))"
    r"(?:[T ](?P<hour>[0-9]{1,2}):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?"
    r"(?: ?(?P<half>[AaPp])[Mm])?(?: ?(?:Z|UTC|[-+][0-9]{2}:?(?:[0-9]{2})?))?)?"
)
NOT_A_DATE = " is not a date. Write 2024-01-31 or 2024-01-31 15:30, or leave it empty if it is missing."
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

Entry = tuple[bytes, bytes, float]  # the name of a category and its value, or nothing and the name of a number; a value


@lru_cache(1 << 16)
def date_entries(name: str, text: bytes, kind: str) -> tuple[Entry, ...] | None:
    """Return the features of a date: none if it is missing, and None if the text is not a date.

    The year counts decades from 2000, so that it is of the size of the others without a scaling. The other parts are
    categories. The hour from midnight on has no entry, so that a date without a time is the same as one at midnight.
    The zone of a time is ignored.
    """
    if text in MISSING:
        return ()
    parts = DATE.fullmatch(text.decode("utf-8", "replace"))
    if parts is None or (parts["mark"] == "/" and kind == "date"):
        return None
    year, month, day = parts["year"] or parts["last"], parts["month"] or parts["second"], parts["day"] or parts["first"]
    if parts["mark"] == "/" and kind == "date-mdy":
        month, day = day, month
    hour = int(parts["hour"] or 0)
    if parts["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if parts["half"] in "pP" else 0)
    try:
        moment = datetime.datetime(int(year), int(month), int(day), hour)
    except ValueError:
        return None
    decades = (moment.year - 2000) / 10
    found = {"month": MONTHS[moment.month - 1], "day": str(moment.day), "weekday": WEEKDAYS[moment.weekday()]}
    if hour:
        found["hour"] = str(hour)
    trend = [(b"", to_bytes(f"{name}.year"), decades)] if decades else []
    return (*trend, *((to_bytes(f"{name}.{part}"), value.encode(), 1.0) for part, value in found.items()))


def date_kind(name: str, values: Iterable[Any]) -> str:
    """Return the kind of a column of dates by its first values: with slashes, the day or the month comes first."""
    matches = [DATE.fullmatch(value.strip()) for value in values if isinstance(value, str)]
    slashes = [parts for parts in matches if parts is not None and parts["mark"] == "/"]
    if not slashes:
        return "date"
    day_first = any(int(parts["first"]) > 12 for parts in slashes)
    month_first = any(int(parts["second"]) > 12 for parts in slashes)
    if day_first == month_first:
        raise InvalidInput(
            f"Column {name!r} has dates such as {slashes[0][0]!r}, and its first rows do not show whether the day or "
            f"the month comes first. Say so: --columns {name}=date-dmy, or {name}=date-mdy."
        )
    return "date-dmy" if day_first else "date-mdy"
