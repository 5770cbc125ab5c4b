"""Whole numbers in texts: as Python reads them, and impossible ones of any length without its limit."""

from __future__ import annotations

import pytest

from rocketproof.traces.format.whole_number import whole_number


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
