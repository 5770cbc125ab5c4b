"""Times that the lesson about retries gives are those of the default delay table."""

import re

from rocketproof.model.delay import DEFAULT_LEVELS, DelayTable

from .console import ROOT

TEXT = (ROOT / "docs" / "learn" / "05-retry-and-dead-letter.md").read_text(encoding="utf-8")
UNITS = {"s": 1, "min": 60, "h": 3600}
FIRST_LEVEL = 3
"""Level of the first retry (SB-14)."""


def seconds(text: str) -> int:
    """``6 min 40 s`` in seconds."""
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+) (s|min|h)\b", text))


def waits() -> list[int]:
    """Seconds that each of the retries waits, the first one first."""
    table = DelayTable.parse(DEFAULT_LEVELS)
    return [delay // 1000 for delay in table.delays[FIRST_LEVEL - 1 :]]


def test_every_retry_waits_as_the_lesson_says() -> None:
    row = re.search(r"^\| waits \|(.*)\|$", TEXT, re.MULTILINE)
    assert row is not None
    assert [seconds(cell) for cell in row[1].split("|")] == waits()


def test_sums_of_waits_are_those_of_the_table() -> None:
    told = re.search(r"(\d+) retries are ([\w ]+), (\d+) are ([\w ]+)\.", TEXT)
    assert told is not None
    assert [seconds(told[2]), seconds(told[4])] == [sum(waits()[: int(told[number])]) for number in (1, 3)]
