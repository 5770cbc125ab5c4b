"""Time stamps of logs: the same moment, however it is written."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

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
