"""Time zones for imported files: log lines contain none, so it comes from the layout or from the user."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...errors import TraceError

_OFFSET = re.compile(r"^(?:GMT|UTC)?([+-])(\d{1,2})(?::?(\d\d))?$")


def zone_of(name: str) -> tzinfo:
    """The zone with a name: UTC, an offset such as +08:00 or GMT+8, or a name such as Asia/Shanghai.

    Raises:
        TraceError: there is no such zone.
    """
    if name in ("UTC", "GMT", "Z"):
        return UTC
    offset = _OFFSET.match(name)
    if offset:
        sign, hours, minutes = offset.groups(default="0")
        span = timedelta(hours=int(hours), minutes=int(minutes))
        if span < timedelta(hours=24):
            return timezone(-span if sign == "-" else span)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise TraceError(
            f"There is no time zone {name!r}. Possible: UTC, an offset such as +08:00, or a name such as Asia/Shanghai."
        ) from None


def millis_of(stamp: str, zone: tzinfo, after: int = 0) -> int:
    """Milliseconds since 1970 UTC of a time stamp such as ``2024-05-01 10:00:00.123``; a zone in it takes
    precedence.

    Args:
        stamp: date and time.
        zone: where it was read from a clock.
        after: the time of the line before, ms since 1970 UTC. When daylight saving ends, clocks go through an hour
            twice: once times have gone back by more than a minute, it is the second time.

    Raises:
        ValueError: it is no date and time.
    """
    time = _read_millis(stamp, zone, 0)
    return time if time + 60_000 >= after else _read_millis(stamp, zone, 1)


def _read_millis(stamp: str, zone: tzinfo, fold: int) -> int:
    if len(stamp) == _TO_THE_MILLISECOND and stamp[19] in ",." and stamp[17:19] < "60" and stamp[20:].isdigit():
        return _minute(stamp[:16], zone, fold) + 1_000 * int(stamp[17:19]) + int(stamp[20:])
    when = datetime.fromisoformat(stamp.replace(",", "."))
    if when.tzinfo is None:
        when = when.replace(tzinfo=zone, fold=fold)
    return (when - _EPOCH) // _MILLISECOND


@lru_cache(1 << 10)
def _minute(stamp: str, zone: tzinfo, fold: int) -> int:
    """The same for a minute, of which a log has many lines."""
    return (datetime.fromisoformat(stamp).replace(tzinfo=zone, fold=fold) - _EPOCH) // _MILLISECOND


_TO_THE_MILLISECOND = len("2024-05-01 10:00:00.123")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
