"""Time stamps of logs: the same moment, however it is written."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from rocketproof.traces.io.importers.clock import millis_of

MOMENT = 1_714_557_604_123  # 2024-05-01 10:00:04.123 UTC


@pytest.mark.parametrize(
    ("stamp", "after"),
    [
        ("2024-05-01 10:00:04.123", 0),
        ("2024-05-01 10:00:04,123", 0),
        ("2024-05-01T10:00:04.123", 0),
        ("2024-05-01 12:00:04.123+02:00", 0),
        ("2024-05-01 10:00:04.123456", 0),
        ("2024-05-01 10:00:04", -123),
        ("2024-05-01 10:00:59.999", 55_876),
        ("2024-05-01 10:00", -4_123),
    ],
)
def test_moments(stamp: str, after: int) -> None:
    assert millis_of(stamp, UTC) == MOMENT + after
    west = timezone(timedelta(hours=-1))
    assert millis_of(stamp, west) == MOMENT + after + (0 if "+" in stamp else 3_600_000)


@pytest.mark.parametrize("stamp", ["2024-05-01 10:00:60.000", "2024-05-01 10:00:04.12x", "2024-13-01 10:00:04.123", ""])
def test_what_is_none(stamp: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        millis_of(stamp, UTC)


def test_an_hour_that_a_clock_goes_through_twice_is_the_second_one_once_times_have_gone_back() -> None:
    end = 1_729_990_800_000  # 2024-10-27 01:00 UTC, when 03:00 in Berlin becomes 02:00
    stamps = ["02:59:59.900", "02:00:00.000", "02:59:59.950", "02:00:00.100", "02:59:00.000", "03:00:00.000"]
    times, time = [], 0
    for stamp in stamps:
        time = millis_of(f"2024-10-27 {stamp}", ZoneInfo("Europe/Berlin"), time)
        times.append(time - end)
    assert times == [-100, 0, -50, 100, 3_540_000, 3_600_000]
