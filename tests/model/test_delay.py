"""Delay tables as brokers read them, due times, and positions after a start."""

import pytest

from rocketproof.model.delay import (
    DEFAULT_LEVELS,
    DelayTable,
    corrected_due_time,
    due_time,
    is_due,
    loaded_position,
    stored_level,
)
from rocketproof.model.kernel import ConfigurationError

pytestmark = pytest.mark.smoke


def test_the_default_table_has_18_levels() -> None:
    table = DelayTable.parse(DEFAULT_LEVELS)
    seconds = [delay // 1000 for delay in table.delays]
    assert seconds == [1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200]
    assert (table.levels, table.is_monotone, table.distinct_retries()) == (18, True, 16)


@pytest.mark.parametrize(
    ("text", "delays"),
    [("10s", (10_000,)), ("1m 2h 1d", (60_000, 7_200_000, 86_400_000)), ("0s +5s  ", (0, 5_000))],
)
def test_units_and_blanks_as_a_broker_reads_them(text: str, delays: tuple[int, ...]) -> None:
    assert DelayTable.parse(text).delays == delays


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "level 1 is empty"),
        ("1s  5s", "level 2 is empty: entries are separated by exactly one blank"),
        (" 1s", "level 1 is empty"),
        ("1s 5x", "level 2 is '5x'"),
        ("1s -5s", "a negative delay, which a broker would accept and deliver at once"),
        ("s", "level 1 is 's'"),
        ("1.5s", "level 1 is '1.5s'"),
        ("10S", "level 1 is '10S'"),
        ("٣s", "level 1 is '٣s'"),
    ],
)
def test_a_broken_table_names_the_level_and_what_is_possible(text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        DelayTable.parse(text)
    assert reason in str(error.value)
    assert "a whole number and one of s, m, h, d" in str(error.value)


def test_a_table_without_levels_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="at least one level"):
        DelayTable(())


@pytest.mark.parametrize(("levels", "distinct"), [("1s", 0), ("1s 5s 10s", 1), ("1s 5s 10s 30s 1m", 3)])
def test_a_short_table_gives_later_retries_its_last_level(levels: str, distinct: int) -> None:
    table = DelayTable.parse(levels)
    assert table.distinct_retries() == distinct
    assert table.retry_delay(15) == table.delays[-1]


def test_a_level_the_table_does_not_have_waits_a_second() -> None:
    table = DelayTable.parse("1m 2m")
    assert [table.delay(level) for level in (0, 1, 2, 3)] == [1_000, 60_000, 120_000, 1_000]
    assert stored_level(3, table.levels) == 2


def test_a_table_may_shrink() -> None:
    assert not DelayTable.parse("10s 5s").is_monotone


@pytest.mark.parametrize(
    ("now", "delivered"),
    [
        (999, True),  # the clock stands before the store time: early
        (1_000, False),
        (10_999, False),
        (11_000, True),
    ],
)
def test_the_head_is_delivered_when_due_or_when_the_clock_was_stepped_back(now: int, delivered: bool) -> None:
    due = due_time(1_000, 10_000)
    assert is_due(due, now, 10_000) is delivered
    assert corrected_due_time(due, now, 10_000) == (now if now < 1_000 else 11_000)


@pytest.mark.parametrize(("saved", "position"), [(0, 3), (3, 3), (5, 5), (8, 8), (9, 8)])
def test_a_loaded_position_is_brought_into_the_queue(saved: int, position: int) -> None:
    assert loaded_position(saved, 3, 8) == position
