"""A message whose listener runs too long is sent back and leaves its window, but only if that succeeds (PQ-9)."""

from __future__ import annotations

from pathlib import Path

from .recorded import of_lines, whys

BEGIN = (
    "assign c0 offset=0 epoch=1",
    "pull c0 offset=0 epoch=1",
    "pull_result c0 offset=0 epoch=1 result=found next=1 min=0 max=1 count=1",
    "deliver c0 offset=0 epoch=1 attempt=0 count=1 next=1",
    "expire c0 offset=0 attempt=0",
)
REFUSED = "send_back c0 offset=0 attempt=0 path=expired result=failed level=3 max_attempts=16"
NOT_SENT = "send_back c0 offset=0 attempt=0 path=fallback result=failed max_attempts=16"
SENT = "send_back c0 offset=0 attempt=0 path=expired result=ok level=3 max_attempts=16"
RETURNED = "result c0 offset=0 epoch=1 attempt=0 result=ok"
LEFT = "removed c0 offset=0 epoch=1 next=1"
STORED = "commit_memory c0 offset=1 epoch=1"


def test_a_message_that_could_not_be_sent_back_stays_until_its_listener_returns(tmp_path: Path) -> None:
    assert whys(of_lines(tmp_path, *BEGIN, REFUSED, NOT_SENT, RETURNED, LEFT, STORED)) == []
    assert whys(of_lines(tmp_path, *BEGIN, REFUSED, NOT_SENT, LEFT)) == ["its listener has not returned"]


def test_its_listener_may_return_while_it_is_being_sent_back(tmp_path: Path) -> None:
    assert whys(of_lines(tmp_path, *BEGIN, RETURNED, LEFT, STORED, REFUSED, NOT_SENT)) == []


def test_one_that_was_sent_back_leaves_before_its_listener_returns(tmp_path: Path) -> None:
    assert whys(of_lines(tmp_path, *BEGIN, SENT, LEFT, RETURNED)) == []
