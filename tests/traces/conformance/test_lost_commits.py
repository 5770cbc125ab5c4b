"""Last commits of orderly windows that no broker took: it was away when the queue was given up."""

from __future__ import annotations

from pathlib import Path

import pytest

from .recorded import of_lines, whys

READ = (
    *["lock c0 result=ok", "offset_query c0 result=ok offset=0", "assign c0 offset=0 epoch=0"],
    *["pull c0 offset=0 epoch=0", "pull_result c0 result=found offset=0 next=2 count=2 epoch=0"],
    *["deliver c0 offset=0 count=1 epoch=0", "result c0 offset=0 result=ok epoch=0"],
    *["removed c0 offset=0 next=1 epoch=0", "commit_memory c0 offset=1", "commit c0 offset=1"],
    *["deliver c0 offset=1 count=1 epoch=0", "result c0 offset=1 result=ok epoch=0"],
    *["removed c0 offset=1 next=2 epoch=0", "commit_memory c0 offset=2", "lock c0 result=failed"],
)
"""A client has read two messages, and stored that it has read the first one."""
GIVEN_UP = "revoke c0 path=removal epoch=0"
AGAIN = ("lock c0 result=ok", "offset_query c0 result=ok offset={0}", "assign c0 offset={0} epoch=1")


def test_a_queue_that_is_given_up_while_its_broker_is_away_keeps_what_was_stored(tmp_path: Path) -> None:
    again = [line.format(1) for line in (*AGAIN, AGAIN[1])]
    assert whys(of_lines(tmp_path, *READ, GIVEN_UP, *again, listener="orderly")) == []


def test_an_offset_that_nobody_stored_is_no_answer(tmp_path: Path) -> None:
    again = [line.format(2) for line in AGAIN]
    assert whys(of_lines(tmp_path, *READ, GIVEN_UP, *again, listener="orderly")) == ["the store has 1"]


@pytest.mark.parametrize(("asked", "wrong"), [(1_008_900, []), (1_009_500, ["the store has 1"])])
def test_an_answer_may_tell_what_was_stored_when_the_client_asked(asked: int, wrong: list[str], tmp_path: Path) -> None:
    answered = AGAIN[1].format(0).replace("c0", "c1")
    lines = (*READ[:10], GIVEN_UP, f"{answered} due={asked}")
    assert whys(of_lines(tmp_path, *lines)) == wrong
    assert whys(of_lines(tmp_path, *lines[:-1], answered)) == ["the store has 1"]  # when it asked is not recorded
