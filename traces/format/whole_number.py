"""Whole numbers in texts: names of queues, versions, log lines."""

from __future__ import annotations

_ENOUGH = 40
"""Number of digits of no number of RocketMQ's, which have 64 bits; Python itself refuses more than 4,300."""


def whole_number(text: str) -> int:
    """The number that decimal digits stand for, with or without a sign.

    Of a number longer than any that RocketMQ writes, only the first digits are used: it remains just as impossible.

    Raises:
        ValueError: the text is no number.
    """
    digits = text.strip()
    if len(digits) <= _ENOUGH:
        return int(digits)
    sign = digits[:1] if digits[:1] in "+-" else ""
    digits = digits[len(sign) :]
    if not digits.isdecimal():
        raise ValueError(f"no number: {text[:_ENOUGH]!r}…")
    return int(sign + (digits.lstrip("0")[:_ENOUGH] or "0"))


def whole_field(what: str, value: str) -> int:
    """The number in a field called ``what``.

    Raises:
        ValueError: it is not a 64-bit integer.
    """
    if not (value.removeprefix("-").isascii() and value.removeprefix("-").isdigit() and len(value) <= 20):
        raise ValueError(f"{what} is {value[:40]!r}, not a whole number")
    if not -(2**63) <= int(value) < 2**63:
        raise ValueError(f"{what} is {value}, which has more than 64 bits")
    return int(value)
