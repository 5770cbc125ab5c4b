"""Commits that two sides have recorded: which one stays, and what it says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from rocketproof.traces.recorders.confirming import BROKER_NOT_RECORDED, NEVER_APPLIED, TOLD_AGAIN
from rocketproof.traces.recorders.joining import join
from rocketproof.traces.recorders.recording import Recording
from rocketproof.traces.recorders.sharing import MANY

from ...agents import QUEUE, Line, at, client

CLIENT, OTHER, BROKER = "client-7-orders.jsonl", "client-9-orders.jsonl", "broker-8-broker-a.jsonl"


STOPPED = at(30_000_000, "broker_stop", broker="broker-a")


def commit(micros: int, offset: int, name: str = "c", **fields: Any) -> Line:
    return at(micros, "commit", **client(name), offset=offset, **fields)


def outcome(files: dict[str, list[Line]]) -> tuple[list[tuple[Any, ...]], Counter[str]]:
    joined = join([Recording.of_events(file, events) for file, events in files.items()])
    commits = [
        (
            1000 * event["time"] + event["micros"] - 1_700_000_000_000_000,
            event["offset"],
            event["client"],
            event["incarnation"],
            event["path"],
        )
        for event in joined.table.to_pylist()
        if event["kind"] in ("commit", "reset")
    ]
    return commits, joined.left_out


def test_a_commit_counts_when_it_is_applied_and_says_how_it_was_sent() -> None:
    commits, counts = outcome({CLIENT: [commit(100, 5, path="periodic", epoch=3)], BROKER: [commit(900, 5)]})
    assert commits == [(900, 5, "c", 0, "periodic")]
    assert counts == {}


def test_a_client_may_note_its_sending_a_little_after_the_broker() -> None:
    commits, _ = outcome({CLIENT: [commit(1_000_100, 5, path="removal")], BROKER: [commit(100, 5)]})
    assert commits == [(100, 5, "c", 0, "removal")]


def test_but_not_long_after() -> None:
    commits, counts = outcome({CLIENT: [commit(1_000_101, 5, path="removal")], BROKER: [commit(100, 5), STOPPED]})
    assert commits == [(100, 5, "c", 0, None)]
    assert counts == {NEVER_APPLIED: 1}


def written(micros: int, what: str) -> Line:
    return at(micros, "file_persist", broker="broker-a", detail=what)


@pytest.mark.parametrize(
    ("written_too", "kept", "counted"),
    [
        ([], [(100, 5, "c", 0, "periodic")], BROKER_NOT_RECORDED),
        ([written(5_000_001, "consumerOffset")], [], NEVER_APPLIED),
        ([commit(5_000_001, 3, "d")], [(5_000_001, 3, "d", 0, None)], NEVER_APPLIED),
    ],
    ids=["in RocksDB", "in a file", "in RocksDB, seen"],
)
def test_a_broker_whose_offsets_its_agent_does_not_see_refuses_none(
    written_too: list[Line], kept: list[tuple[Any, ...]], counted: str
) -> None:
    broker = [at(0, "broker_start", broker="broker-a"), written(5_000_000, "delayOffset"), *written_too, STOPPED]
    assert outcome({CLIENT: [commit(100, 5, path="periodic")], BROKER: broker}) == (kept, Counter({counted: 1}))


def test_what_came_with_a_pull_is_told_from_what_was_sent_alone() -> None:
    sent = [commit(100, 5, path="piggyback"), commit(200, 5, path="periodic")]
    applied = [commit(300, 5), commit(400, 5, path="piggyback")]
    commits, _ = outcome({CLIENT: sent, BROKER: applied})
    assert commits == [(300, 5, "c", 0, "periodic"), (400, 5, "c", 0, "piggyback")]


def test_two_processes_with_one_client_id_keep_what_each_has_sent() -> None:
    commits, _ = outcome(
        {
            CLIENT: [commit(100, 5, path="periodic")],
            OTHER: [commit(150, 3, path="shutdown")],
            BROKER: [at(0, "broker_start", broker="broker-a"), commit(200, 3), commit(300, 5), commit(400, 7)],
        }
    )
    assert commits == [
        (200, 3, "c", 1, "shutdown"),
        (300, 5, "c", 0, "periodic"),
        (400, 7, "c", 1, None),  # nobody noted that: the process that began last
    ]


def test_a_client_whose_connection_the_broker_has_given_up_is_known_by_what_it_sent() -> None:
    unnamed = {name: value for name, value in commit(300, 5).items() if name != "client"}
    sent = [commit(100, 5, path="periodic"), commit(150, 6, path="periodic")]
    for late in (0, 500):
        moved = [{**event, "micros": event["micros"] + late} for event in sent]
        commits, counts = outcome(
            {CLIENT: moved, OTHER: [commit(50, 6, "d")], BROKER: [commit(0, 6, "d"), unnamed, STOPPED]}
        )
        assert (300, 5, "c", 0, "periodic") in commits
        assert (0, 6, "d", 0, None) in commits
        assert counts == {NEVER_APPLIED: 1}


def test_what_a_broker_stores_by_itself_is_not_what_a_client_sends_a_moment_later() -> None:
    """Of a group that goes from pop to pull, the broker stores what was acknowledged, and the client the same again."""
    sent = [commit(600_000, 5, path="periodic", epoch=1)]
    for first in (100, 600_050):
        by_itself = {name: value for name, value in commit(first, 5).items() if name != "client"}
        commits, counts = outcome({CLIENT: sent, BROKER: [by_itself, commit(600_100, 5)]})
        assert commits == [(first, 5, None, None, None), (600_100, 5, "c", 0, "periodic")]
        assert counts == {}


def test_what_no_broker_applied_is_left_out_and_counted() -> None:
    sent = [commit(100, 5, path="periodic"), commit(200, 6, path="periodic")]
    commits, counts = outcome({CLIENT: sent, BROKER: [at(0, "broker_start", broker="broker-a"), commit(300, 6)]})
    assert commits == [(300, 6, "c", 0, "periodic")]
    assert counts == {NEVER_APPLIED: 1}


def test_without_a_recording_of_the_broker_what_was_sent_stays() -> None:
    commits, counts = outcome({CLIENT: [commit(100, 5, path="periodic")]})
    assert commits == [(100, 5, "c", 0, "periodic")]
    assert counts == {}


def test_so_it_does_before_the_recording_of_the_broker_and_in_its_gaps() -> None:
    broker = [at(1_000, "broker_start", broker="broker-a"), at(9_000, "gap", due=1_700_000_000_004, count=2), STOPPED]
    sent = [commit(500, 5), commit(2_000, 6), commit(5_000, 7), commit(10_000, 8)]
    commits, counts = outcome({CLIENT: sent, BROKER: broker})
    assert [offset for _, offset, *_ in commits] == [5, 7]
    assert counts == {NEVER_APPLIED: 2, BROKER_NOT_RECORDED: 2}


def test_and_after_it_unless_it_tells_the_end_of_the_broker() -> None:
    broker = [at(0, "broker_start", broker="broker-a"), at(1_000, "members", group="orders", members=["c"])]
    commits, counts = outcome({CLIENT: [commit(2_000, 5)], BROKER: broker})
    assert [offset for _, offset, *_ in commits] == [5]
    assert counts == {BROKER_NOT_RECORDED: 1}


def pulled(seconds: int) -> Line:
    return at(seconds * 1_000_000, "pull_result", **client("c"), result="no_new_message")


def test_between_two_processes_of_a_broker_it_counts_whether_it_answered_anybody() -> None:
    """A third one, that nobody recorded, may have applied what was sent; one that did not run has not."""
    end = at(10_000_000, "broker_stop", broker="broker-a")
    second = [at(60_000_000, "broker_start", broker="broker-a"), at(70_000_000, "broker_stop", broker="broker-a")]
    files = {BROKER: [at(0, "broker_start", broker="broker-a"), end], "broker-9-broker-a.jsonl": second}
    sent = [commit(30_000_000, 5), commit(65_000_000, 6)]
    for answers, kept in ([pulled(20), pulled(25), pulled(40)], [5]), ([], []):
        lines = sorted([*sent, *answers], key=lambda line: (line["time"], line["micros"]))
        commits, counts = outcome({CLIENT: lines, **files})
        assert [offset for _, offset, *_ in commits] == kept
        assert counts == Counter({NEVER_APPLIED: 2 - len(kept)}) + Counter({BROKER_NOT_RECORDED: len(kept)})


def test_the_end_of_an_earlier_process_of_a_broker_is_not_that_of_the_last_one() -> None:
    first = [at(0, "broker_start", broker="broker-a"), at(1_000, "broker_stop", broker="broker-a")]
    second = [at(5_000, "broker_start", broker="broker-a"), at(6_000, "members", group="orders", members=["c"])]
    files = {CLIENT: [commit(7_000, 5)], BROKER: first, "broker-9-broker-a.jsonl": second}
    commits, counts = outcome(files)
    assert [offset for _, offset, *_ in commits] == [5]
    assert counts == {BROKER_NOT_RECORDED: 1}


def test_of_another_broker_too() -> None:
    sent = [commit(500, 5), {**commit(600, 6), "broker": "broker-b"}]
    commits, counts = outcome({CLIENT: sent, BROKER: [at(0, "broker_start", broker="broker-a"), STOPPED]})
    assert [offset for _, offset, *_ in commits] == [6]
    assert counts == {NEVER_APPLIED: 1, BROKER_NOT_RECORDED: 1}


def test_offsets_that_nobody_sends_stay_as_they_are() -> None:
    loaded = at(100, "commit", **QUEUE, offset=4, path="file")
    local = commit(200, 5, path="file")
    commits, counts = outcome({CLIENT: [local], BROKER: [at(0, "broker_start", broker="broker-a"), loaded]})
    assert commits == [(100, 4, None, None, "file"), (200, 5, "c", 0, "file")]
    assert counts == {}


def reset(micros: int, offset: int) -> Line:
    return at(micros, "reset", **QUEUE, offset=offset)


def test_a_reset_that_the_broker_recorded_is_there_once() -> None:
    broker = [at(0, "broker_start", broker="broker-a"), reset(100, 3)]
    commits, counts = outcome({CLIENT: [reset(300, 3)], OTHER: [reset(900, 3)], BROKER: broker})
    assert commits == [(100, 3, None, None, None)]
    assert counts == {TOLD_AGAIN: 2}


def test_where_it_did_not_the_first_client_that_was_told_counts() -> None:
    commits, counts = outcome(
        {CLIENT: [reset(300, 3), reset(20_000_000, 3)], OTHER: [reset(900, 3), reset(950, 4), reset(9_999_000, 3)]}
    )
    assert [(stamp, offset) for stamp, offset, *_ in commits] == [(300, 3), (950, 4), (20_000_000, 3)]
    assert counts == {TOLD_AGAIN: 2}


def test_offsets_that_nobody_sends_show_that_members_take_messages_by_pop() -> None:
    def popping(count: int) -> set[str]:
        of_broker = [at(1_000 * n, "commit", **QUEUE, offset=n) for n in range(count)]
        own = [at(500, "heartbeat", client="c", group="orders"), commit(1_200, 1, path="periodic")]
        files = {CLIENT: own, BROKER: of_broker}
        return set(join([Recording.of_events(file, events) for file, events in files.items()]).popping)

    assert popping(MANY + 1) == {"orders"}  # one of them the client has sent
    assert popping(MANY) == set()


def test_a_tool_stores_the_offset_of_a_reset_before_it_orders_it() -> None:
    by_tool = [at(200, "commit", **QUEUE, offset=1), at(300, "reset", **QUEUE, offset=1)]
    by_nobody = at(400, "commit", **QUEUE, offset=2)
    commits, _ = outcome({CLIENT: [commit(50, 5, path="periodic")], BROKER: [commit(100, 5), *by_tool, by_nobody]})
    assert commits == [
        (100, 5, "c", 0, "periodic"),
        (200, 1, None, None, "reset"),
        (300, 1, None, None, None),
        (400, 2, None, None, None),
    ]
