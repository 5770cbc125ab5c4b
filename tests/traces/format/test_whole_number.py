"""Whole numbers in texts: as Python reads them, and impossible ones of any length without its limit."""

from __future__ import annotations

import re

import pytest

from rocketproof.traces.format.whole_number import whole_field, whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        (" 17 ", 17),
        ("-3", -3),
        ("0" * 50 + "5", 5),
        ("9" * 5_000, 10**40 - 1),
        ("-" + "9" * 5_000, 1 - 10**40),
    ],
)
def test_numbers(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "x", "9" * 50 + "x", "--" + "9" * 50])
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|invalid literal"):
        whole_number(text)


@pytest.mark.parametrize("number", [0, -3, 2**63 - 1, -(2**63)])
def test_a_field_has_64_bits(number: int) -> None:
    assert whole_field("queue", str(number)) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "queue is '', not a whole number"),
        ("1.5", "queue is '1.5', not a whole number"),
        ("--1", "queue is '--1', not a whole number"),
        ("٣", "queue is '٣', not a whole number"),
        ("0" * 21, f"queue is '{'0' * 21}', not a whole number"),
        (str(2**63), f"queue is {2**63}, which has more than 64 bits"),
    ],
)
def test_what_a_field_cannot_be(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        whole_field("queue", text)
