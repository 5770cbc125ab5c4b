"""The table of captured runs: its cells, its two forms."""

from __future__ import annotations

from typing import Any

from rocketproof.lab.table import as_markdown, as_text, row

MEASURED: dict[str, Any] = {
    "events": 12_345,
    "deliveries": 410,
    "duplicates": {"CRASH": 3, "OFFSET_WENT_BACK": 1, "OVERLAP": 3},
    "unexplained": 0,
    "losses": 2,
    "overlaps": {"count": 2, "longest": 1_250, "total": 2_000},
    "violated": ["same-subscriptions", "views-agree"],
}
QUIET: dict[str, Any] = {
    "events": 7,
    "deliveries": 2,
    "duplicates": {},
    "unexplained": 0,
    "losses": 0,
    "overlaps": {"count": 0, "longest": 0, "total": 0},
    "violated": [],
}


def test_a_row_says_why_messages_came_again_the_most_frequent_cause_first() -> None:
    assert row("some", "5.3.3", MEASURED, {"mismatches": 0}) == (
        "some",
        "5.3.3",
        "12,345",
        "410",
        "3 crash, 3 overlap, 1 offset went back",
        "0",
        "2",
        "2, up to 1,250 ms",
        "0",
        "same-subscriptions, views-agree",
    )


def test_what_was_not_looked_at_is_not_said_to_be_none() -> None:
    assert row("some", "4.9.8", QUIET, {})[4:] == ("0", "0", "0", "0", "", "")


def test_as_text_numbers_are_below_each_other() -> None:
    lines = as_text([("some", "12,345"), ("an-other", "7")], ("scenario", "events"))
    assert lines == ["scenario  events", "some      12,345", "an-other       7"]


def test_as_markdown_names_are_code() -> None:
    lines = as_markdown([("some", "7", "a, b"), ("other", "8", "")], ("scenario", "events", "violated"))
    assert lines == [
        "| scenario | events | violated |",
        "| --- | --: | --- |",
        "| `some` | 7 | `a`, `b` |",
        "| `other` | 8 |  |",
    ]
