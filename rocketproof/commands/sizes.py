"""Times, sizes and deaths as people write them: 50ms, 2s, 4GiB, CLIENT@TIME."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ..errors import InputError
from ..traces.recorders.processes import Death

_TIMES = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000}
_SIZES = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def read_time(option: str, text: str) -> int:
    """A time in ms.

    Raises:
        InputError: it is no time.
    """
    found = re.fullmatch(r"(\d+) ?(\w+)", text.strip())
    if found is None or found[2] not in _TIMES:
        raise InputError(f"{option} {text!r} is no time. Write a whole number and one of {', '.join(_TIMES)}: 50ms.")
    return int(found[1]) * _TIMES[found[2]]


def read_death(text: str) -> Death:
    """A death as CLIENT@TIME: the client id, and the time as ISO 8601, in UTC unless stated otherwise, or as ms.

    Raises:
        InputError: it has another form.
    """
    client, _, when = text.rpartition("@")
    try:
        return Death(client=_named(client), time=int(when) if when.isdecimal() else iso_time(when))
    except (ValueError, OverflowError):
        raise InputError(
            f"--died {text!r} is not CLIENT@TIME. Write the client id and when the process was killed, as ISO 8601 or "
            "ms since 1970: 10.0.0.7@4711@2026-03-01T12:00:05Z."
        ) from None


def iso_time(text: str) -> int:
    """A time of ISO 8601 in ms since 1970, in UTC unless stated otherwise.

    Raises:
        ValueError, OverflowError: it is no such time.
    """
    time = datetime.fromisoformat(text)
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def _named(client: str) -> str:
    if not client:
        raise ValueError
    return client


def read_size(option: str, text: str) -> int:
    """A size in bytes.

    Raises:
        InputError: it is no size, or 0.
    """
    found = re.fullmatch(r"(\d+) ?(\w*)", text.strip())
    if found is None or found[2] not in _SIZES or not int(found[1]):
        units = ", ".join(unit for unit in _SIZES if unit)
        raise InputError(f"{option} {text!r} is no size. Write a whole number above 0 and one of {units}: 4GiB.")
    return int(found[1]) * _SIZES[found[2]]


def read_count(option: str, text: str) -> int:
    """A whole number, which may be written as 1e6 or 20_000.

    Raises:
        InputError: it is no whole number, or below 1.
    """
    found = re.fullmatch(r"(\d[\d_]*)(?:e(\d{1,2}))?", text.strip())
    number = int(found[1]) * 10 ** int(found[2] or 0) if found else 0
    if number < 1:
        raise InputError(f"{option} {text!r} is not a number. Write a whole number above 0, such as 1e6.")
    return number
