"""Last commits of orderly windows that no broker took: it was away when the queue was given up."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header

from .recorded import event_of, of_events, of_lines, whys

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


def test_a_broker_that_starts_with_an_empty_table_still_has_none_when_it_is_asked_again(tmp_path: Path) -> None:
    """An orderly client asks twice (PL-11); OF-21: the answer 0 may mean that nothing is stored."""
    header = Header(
        source="a test", evidence=frozenset(Kind), release="5.3.3", groups={"billing": Group(listener="orderly")}
    )
    place = {"broker": "broker-0", "group": "billing", "topic": "Orders", "queue": 0}

    def why(*before: dict[str, object]) -> list[str]:
        events = [{"time": 990_000 + n, "seq": n, **event} for n, event in enumerate(before)]
        begun = *READ[:3], READ[1]
        return whys(of_events(header, [*events, *(event_of(n, line) for n, line in enumerate(begun, 20))], tmp_path))

    from_file = {"kind": "commit", **place, "offset": 157, "path": "file"}
    restart = [{"kind": kind, "broker": "broker-0"} for kind in ("broker_stop", "broker_start")]
    assert why(from_file, *restart) == []
    assert why(*restart, from_file) == ["the store has 157"] * 2
    assert why(from_file) == ["the store has 157"] * 2
    removed = {"kind": "commit", **place, "path": "reset", "result": "none"}
    assert why(from_file, removed) == []
