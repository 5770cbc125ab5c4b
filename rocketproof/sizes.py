"""Times and sizes as people write them: 50ms, 2s, 4GiB."""

from __future__ import annotations

import re

from .errors import InputError

_TIMES = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000}
_SIZES = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def read_time(option: str, text: str) -> int:
    """A time in ms.

    Raises:
        InputError: it is none.
    """
    found = re.fullmatch(r"(\d+) ?(\w+)", text.strip())
    if found is None or found[2] not in _TIMES:
        raise InputError(f"{option} {text!r} is no time. Write a whole number and one of {', '.join(_TIMES)}: 50ms.")
    return int(found[1]) * _TIMES[found[2]]


def read_size(option: str, text: str) -> int:
    """A size in bytes.

    Raises:
        InputError: it is none, or 0.
    """
    found = re.fullmatch(r"(\d+) ?(\w*)", text.strip())
    if found is None or found[2] not in _SIZES or not int(found[1]):
        units = ", ".join(unit for unit in _SIZES if unit)
        raise InputError(f"{option} {text!r} is no size. Write a whole number above 0 and one of {units}: 4GiB.")
    return int(found[1]) * _SIZES[found[2]]


def read_count(option: str, text: str) -> int:
    """A whole number, which may be written as 1e6 or 20_000.

    Raises:
        InputError: it is none, or below 1.
    """
    found = re.fullmatch(r"(\d[\d_]*)(?:e(\d{1,2}))?", text.strip())
    number = int(found[1]) * 10 ** int(found[2] or 0) if found else 0
    if number < 1:
        raise InputError(f"{option} {text!r} is no number of things. Write a whole number above 0, such as 1e6.")
    return number
