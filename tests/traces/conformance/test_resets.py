"""Resets of a 5.x group: by the broker, or by clients where the broker is told to leave it to them."""

from __future__ import annotations

from pathlib import Path

from rocketproof.traces.conformance import Conformance
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header, slave_of

from .recorded import event_of, of_events, of_lines, whys

READ = (
    "assign c0 offset=0 epoch=0",
    "pull c0 offset=0 epoch=0",
    "pull_result c0 result=found offset=0 next=1 count=1 epoch=0",
    "deliver c0 offset=0 count=1 epoch=0",
    "result c0 offset=0 result=ok epoch=0",
    "removed c0 offset=0 next=1 epoch=0",
    "commit_memory c0 offset=1",
    "commit c0 offset=1",
)
"""A client has read the first message."""

RESET = "reset c0 offset=0"
BEGUN = "revoke c0 path=reset epoch=0"
AGAIN = (
    "assign c0 offset=0 epoch=1",
    "pull c0 offset=0 epoch=1",
    "pull_result c0 result=found offset=0 next=1 count=1 epoch=1",
)


def test_clients_that_reset_drop_the_queue_and_send_the_offset(tmp_path: Path) -> None:
    assert whys(of_lines(tmp_path, *READ, RESET, BEGUN, "commit c0 offset=0 path=reset", *AGAIN)) == []


def test_they_send_no_other_offset_and_begin_nowhere_else(tmp_path: Path) -> None:
    wrong = of_lines(tmp_path, *READ, RESET, BEGUN, "commit c0 offset=2 path=reset")
    assert whys(wrong) == ["the client never had this offset in memory; it has none"]
    assert whys(of_lines(tmp_path, *READ, RESET, BEGUN, *AGAIN)) == ["it begins where the store says, at 1"]


def test_after_a_reset_by_the_broker_the_next_pull_finds_no_messages(tmp_path: Path) -> None:
    found = ("pull c0 offset=1 epoch=0", "pull_result c0 result=found offset=1 next=2 count=1 epoch=0")
    assert whys(of_lines(tmp_path, *READ, *found)) == []
    assert whys(of_lines(tmp_path, *READ, RESET, *found)) == ["the broker cannot find messages there"]
    moved = ("pull c0 offset=1 epoch=0", "pull_result c0 result=offset_illegal offset=1 next=0 epoch=0")
    assert whys(of_lines(tmp_path, *READ, RESET, *moved, "correct c0 offset=0", "commit c0 offset=0")) == []


def test_the_answer_that_tells_of_a_reset_may_come_to_a_window_that_is_dropped(tmp_path: Path) -> None:
    dropped = ("pull c0 offset=1 epoch=0", RESET, "revoke c0 path=removal epoch=0", "commit c0 offset=1 path=removal")
    moved = "pull_result c0 result=offset_illegal offset=1 next=0 epoch=0"
    sent = ("commit_memory c0 offset=0", "commit c0 offset=0 path=correction")
    assert whys(of_lines(tmp_path, *READ, *dropped, moved, "correct c0 offset=0", *sent, *AGAIN)) == []
    untold = of_lines(tmp_path, *READ, *dropped, "correct c0 offset=0")
    assert whys(untold) == ["no answer has told it to correct its offset"]
    again = of_lines(tmp_path, *READ, *dropped, moved, "correct c0 offset=0", "correct c0 offset=0")
    assert whys(again) == ["no answer has told it to correct its offset"]


def test_a_tool_stores_an_offset_that_no_client_had(tmp_path: Path) -> None:
    assert whys(of_lines(tmp_path, *READ, "commit - offset=7 path=reset", "commit c0 offset=1")) == []
    assert whys(of_lines(tmp_path, *READ, "commit - offset=7")) == [
        "the stored offset never had this value, and no client had it in memory"
    ]
    # Nobody can have an offset beyond the end of the queue.
    assert whys(of_lines(tmp_path, *READ, "store - offset=1", "commit - offset=7", "commit c0 offset=1")) == []


def test_an_answer_that_was_under_way_knows_nothing_of_the_reset(tmp_path: Path) -> None:
    pulls = ("pull c0 offset=1 epoch=0", "pull_result c0 result=found offset=1 next=2 count=1 epoch=0 time=1008010")
    then = ("pull c0 offset=2 epoch=0", "pull_result c0 result=offset_illegal offset=2 next=0 epoch=0")
    order = "reset c0 offset=0 time=1008000"
    assert whys(of_lines(tmp_path, *READ, pulls[0], order, pulls[1], *then)) == []


def test_broadcasting_members_that_are_told_of_a_reset_are_followed_from_their_next_window_on(tmp_path: Path) -> None:
    moved = "pull_result c0 result=offset_illegal offset=1 next=0 min=0 max=1 epoch=0"
    events = (*READ, "pull c0 offset=1 epoch=0", RESET, moved, "correct c0 offset=0")
    answer = of_lines(tmp_path, *events, mode="broadcasting")
    assert whys(answer) == []
    assert answer.passed_over["reset: of a broadcasting group"] == 2
    without = of_lines(tmp_path, *READ, "pull c0 offset=1 epoch=0", moved, mode="broadcasting")
    assert whys(without) == ["the offset is inside the queue"]


def beside_a_slave(folder: Path, *lines: str) -> Conformance:
    """As :func:`of_lines`, where a slave of the broker was recorded too."""
    slave = {"time": 999_000, "seq": 0, "kind": str(Kind.BROKER_START), "broker": slave_of("broker-0")}
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3", groups={"billing": Group()})
    return of_events(header, [slave, *(event_of(number, line) for number, line in enumerate(lines, 1))], folder)


def test_a_slave_that_answers_pulls_knows_nothing_of_a_reset(tmp_path: Path) -> None:
    found = ("pull c0 offset=1 epoch=0", "pull_result c0 result=found offset=1 next=2 count=1 epoch=0")
    assert whys(of_lines(tmp_path, *READ, RESET, *found)) == ["the broker cannot find messages there"]
    assert whys(beside_a_slave(tmp_path, *READ, RESET, *found)) == []


def test_a_slave_that_is_asked_for_the_offset_has_a_table_of_its_own(tmp_path: Path) -> None:
    asked = "offset_query c1 result=ok offset=2"
    assert whys(of_lines(tmp_path, *READ, asked)) == ["the store has 1"]
    assert whys(beside_a_slave(tmp_path, *READ, asked)) == []


BROKER_AWAY = ("broker_stop", "broker_start")


def test_a_queue_whose_topic_was_made_again_under_its_client_is_not_followed_any_further(tmp_path: Path) -> None:
    header = Header(
        source="a test",
        evidence=frozenset(Kind),
        groups={"billing": Group(mode="broadcasting", listener="concurrently")},
    )
    place = {"topic": "Orders", "broker": "broker-0", "queue": 0}

    def stored(number: int, offset: int, key: str) -> dict[str, object]:
        return {"time": 1_000_000 + 1_000 * number, "kind": "store", **place, "offset": offset, "key": key}

    read = [event_of(number, line) for number, line in enumerate(READ, 1) if not line.startswith("commit ")]
    later = event_of(30, "pull_result c0 result=offset_illegal offset=7 next=1 min=0 max=1 epoch=0")
    before = [stored(0, 0, "A"), *read]
    assert whys(of_events(header, [*before, later], tmp_path)) != []
    found = of_events(header, [*before, stored(20, 0, "B"), later], tmp_path)
    assert whys(found) == []
    assert found.passed_over["after their log began anew, which a client had not noticed"] == 2
    assert whys(of_events(header, [*before, stored(20, 0, "A"), later], tmp_path)) != []
    # The same where its broker was away meanwhile, and has come back with an empty store.
    away = [{"time": 1_015_000 + n, "kind": kind, "broker": "broker-0"} for n, kind in enumerate(BROKER_AWAY)]
    assert whys(of_events(header, [*before, *away, stored(20, 0, "B"), later], tmp_path)) == []


def test_messages_may_be_stored_between_an_answer_that_knows_of_none_of_them_and_its_arrival(tmp_path: Path) -> None:
    """PL-19: the position is below the beginning of the queue, whose end does not matter."""
    known = "pull_result c1 result=found offset=0 next=9 count=9 epoch=0"
    others = ("assign c1 offset=0 epoch=0", "pull c1 offset=0 epoch=0", known)
    moved = "pull_result c0 result=offset_illegal offset=1 next=5 min=5 max=8 epoch=0"
    events = (*READ, "pull c0 offset=1 epoch=0", *others, moved, "correct c0 offset=5")
    assert whys(of_lines(tmp_path, *events, mode="broadcasting")) == []


def test_what_is_stored_is_known_from_the_first_answer_on(tmp_path: Path) -> None:
    first = ("offset_query c0 result=ok offset=1", "assign c0 offset=1 epoch=0")
    assert whys(of_lines(tmp_path, *first, "offset_query c1 result=ok offset=1")) == []
    assert whys(of_lines(tmp_path, *first, "offset_query c1 result=ok offset=2")) == ["the store has 1"]
