"""Times of a trace: numbers or stamps, as seconds since a public start.

No text quotes a cell.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np

from ._errors import CommandError
from ._tables import Table

_NO_START = (
    "times that are stamps need --start, the public moment that is second 0, such as "
    "2024-05-01T10:00Z. Never take it from the trace: it would tell when it began"
)


def read_times(table: Table, name: str, start: str | None, remedy: str) -> np.ndarray:
    """Seconds since the public start, from numbers or from stamps."""
    texts = table.labels(name, f"; {remedy}")
    if texts.dtype.kind == "M":  # of a Parquet file
        texts = texts.astype(str)
    try:
        numbers = np.array(texts, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = None
    if numbers is not None:
        first = 0.0 if start is None else _number(start)
        if first is None or not np.isfinite(numbers).all():
            raise CommandError(
                f"the times in {name!r} are numbers: --start must be a number, too, "
                "and all must be finite"
            )
        return numbers - first
    if start is None:
        raise CommandError(_NO_START)
    first_stamp = read_stamp(start)
    if first_stamp is None:
        raise CommandError(
            f"--start must be a stamp such as 2024-05-01T10:00Z, got {start!r}"
        )
    stamps = [read_stamp(str(text)) for text in texts]
    found = [stamp for stamp in stamps if stamp is not None]
    if len(found) < len(stamps):
        raise CommandError(
            f"the times in {name!r} must all be numbers or all be stamps such as "
            "2024-05-01T10:00:00Z"
        )
    _check_zone(start, first_stamp, found)
    origin = in_utc(first_stamp)
    return np.array([(in_utc(s) - origin).total_seconds() for s in found])


def read_stamp(text: str) -> datetime | None:
    """A moment, with its zone if it names one; None if the text is no stamp."""
    if _number(text) is not None:  # 20240501 could be either, and is a number here
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def in_utc(stamp: datetime) -> datetime:
    """The moment in UTC, which a stamp without a zone is taken to be."""
    return stamp.replace(tzinfo=UTC) if stamp.tzinfo is None else stamp.astimezone(UTC)


def _check_zone(start: str, first: datetime, stamps: list[datetime]) -> None:
    """Refuse a start that could be meant in another zone than the stamps."""
    offsets = {stamp.utcoffset() for stamp in stamps}
    if first.tzinfo is not None or offsets == {None}:
        return
    if _is_date(start) and offsets == {timedelta(0)}:
        return  # midnight where the stamps are, and the report says so
    time = f"{start}T00:00" if _is_date(start) else start
    raise CommandError(
        f"--start {start} names no zone, but the stamps of the file do: write {time}Z "
        f"for UTC, or another zone as in {time}+02:00; only where neither has one are "
        "both read as UTC"
    )


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None
