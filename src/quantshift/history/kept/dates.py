"""The date in the name of a batch, and the series that the batch belongs to."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

from quantshift.errors import UserError

ANY = "*"
"""Stands for the date in the name of a series."""

_DAY = re.compile(
    r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"(?:[T _](?P<hour>\d{2})(?:[:h]?(?P<minute>\d{2}))?(?::\d{2}(?:\.\d+)?)?"
    r"(?:Z|[+-]\d{2}:\d{2})?)?(?!\d)"
)
_WEEK = re.compile(r"(?<!\d)(?P<year>\d{4})-?W(?P<week>\d{2})(?!\d)")
_MONTH = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{2})(?!\d|-\d)")
_DIGITS = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})(?!\d)")
_YEAR = re.compile(r"(?P<year>(?:19|20)\d{2})")


def dated(name: str) -> tuple[str, datetime | None]:
    """The series of a batch, which is its name with * for the date, and when the batch begins.

    >>> dated("posts-2026-03-02.csv")
    ('posts-*.csv', datetime.datetime(2026, 3, 2, 0, 0, tzinfo=datetime.timezone.utc))
    >>> dated("2026-W10")[0], dated("north")
    ('*', ('north', None))
    """
    for match, moment in _candidates(name):
        return f"{name[: match.start()]}{ANY}{name[match.end() :]}", moment
    return name, None


FIRST_YEAR = 1000
"""Names of files have years of four digits."""


def moment_of(time: str | date) -> datetime:
    """A time or a date, in UTC unless it says otherwise.

    >>> moment_of("2026-03-02").isoformat()
    '2026-03-02T00:00:00+00:00'
    """
    if isinstance(time, date) and not isinstance(time, datetime):
        time = datetime(time.year, time.month, time.day)
    try:
        parsed = datetime.fromisoformat(time) if isinstance(time, str) else time
        if not isinstance(parsed, datetime):
            raise ValueError
        moment = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except ValueError:
        raise UserError(
            f"{time!r} is not a time; write 2026-03-02, or 2026-03-02T06:00:00"
        ) from None
    except OverflowError:
        moment = None
    if moment is None or moment.year < FIRST_YEAR:
        raise UserError(
            f"{str(time)!r} is outside the years {FIRST_YEAR} to 9999; write a time such as "
            "2026-03-02T06:00:00"
        )
    return moment


def _candidates(name: str) -> Iterator[tuple[re.Match[str], datetime]]:
    for pattern in (_DAY, _WEEK, _DIGITS, _MONTH):
        for match in pattern.finditer(name):
            moment = _moment(match)
            if moment is not None:
                yield match, moment
    if whole := _YEAR.fullmatch(name):
        yield whole, datetime(int(whole["year"]), 1, 1, tzinfo=UTC)


def _moment(match: re.Match[str]) -> datetime | None:
    parts = {name: int(value) for name, value in match.groupdict().items() if value is not None}
    try:
        if "week" in parts:
            moment = datetime.fromisocalendar(parts["year"], parts["week"], 1)
        else:
            moment = datetime(**{"month": 1, "day": 1, **parts})  # type: ignore[arg-type]
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC)
