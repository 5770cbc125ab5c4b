from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocketproof.traces.errors import TraceError
from rocketproof.traces.explain.message_story import MessageStory, message_story
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.format.schema import Group, Header, origin_of
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl

Event = dict[str, Any]

KEY = "7F000001126418B4AAC2464BCE59001F"
QUEUE = {"topic": "Orders", "broker": "broker-a", "queue": 3}
RETRY = {"topic": "%RETRY%G", "broker": "broker-a", "queue": 0}
ME = {"client": "c1", "group": "G"}


def story(
    folder: Path,
    events: list[Event],
    asked: str | int = KEY,
    *,
    group: Group | None = None,
    evidence: frozenset[Kind] = frozenset(Kind),
) -> MessageStory:
    write_jsonl(folder / "t.jsonl", Header(groups={"G": group or Group()}, evidence=evidence), events)
    return message_story(open_trace([folder / "t.jsonl"]), asked)


def stored(time: int, offset: int = 17, **fields: Any) -> Event:
    return {"time": time, "kind": "store", **QUEUE, "offset": offset, "key": KEY, **fields}


def delivered(time: int, attempt: int = 0, *, offset: int = 17, where: Event = QUEUE, **fields: Any) -> Event:
    return {"time": time, "kind": "deliver", **ME, **where, "offset": offset, "key": KEY, "attempt": attempt, **fields}


def ended(time: int, result: str, *, offset: int = 17, where: Event = QUEUE, **fields: Any) -> Event:
    return {"time": time, "kind": "result", **ME, **where, "offset": offset, "key": KEY, "result": result, **fields}


def sent_back(time: int, attempt: int, *, offset: int = 17, where: Event = QUEUE, **fields: Any) -> Event:
    given = {"result": "ok", "level": 0, "path": "request", **fields}
    return {"time": time, "kind": "send_back", **ME, **where, "offset": offset, "key": KEY, "attempt": attempt, **given}


def test_consumed_at_once(tmp_path: Path) -> None:
    told = story(tmp_path, [stored(0), delivered(50), ended(90, "ok")])
    (outcome,) = told.outcomes
    assert (outcome.group, outcome.status) == ("G", MessageStatus.ACKNOWLEDGED)
    assert outcome.told == "consumed by c1 at 00:00:00.090"
    assert (told.origins, told.keys) == ((origin_of(KEY),), (KEY,))
    assert told.copies == ("00:00:00.000 offset 17 of Orders@broker-a:3",)
    assert [sentence.place.number for sentence in told.sentences] == [2, 3, 4]
    assert str(told).splitlines()[:2] == [f"message {KEY}", "  group G: consumed by c1 at 00:00:00.090"]


def test_a_retry_with_its_level_and_its_wait(tmp_path: Path) -> None:
    told = story(
        tmp_path,
        [
            stored(0),
            delivered(50),
            ended(60, "later"),
            sent_back(70, 0),
            {"time": 75, "kind": "delay_store", "broker": "broker-a", "topic": "%RETRY%G", "key": KEY, "attempt": 1,
             "level": 3, "due": 10_075},
            {"time": 10_080, "kind": "delay_deliver", **RETRY, "offset": 4, "key": KEY, "attempt": 1},
            delivered(10_100, 1, offset=4, where=RETRY),
            ended(10_110, "ok", offset=4, where=RETRY),
        ],
    )  # fmt: skip
    (outcome,) = told.outcomes
    assert (outcome.status, outcome.told) == (
        MessageStatus.ACKNOWLEDGED,
        "consumed by c1 at 00:00:10.110, after 2 deliveries",
    )
    first, second = outcome.attempts
    assert (first.number, first.place, first.result, first.took) == (0, "offset 17 of Orders@broker-a:3", "later", 10)
    assert (first.asked, first.sent_back) == (0, "ok")
    assert (first.level, first.expected_level, first.expected_wait, first.waited) == (3, 3, 10_000, 10_040)
    assert (second.number, second.result, second.expected_level, second.waited) == (1, "ok", None, None)
    assert told.copies == (
        "00:00:00.000 offset 17 of Orders@broker-a:3",
        "00:00:10.080 offset 4 of %RETRY%G@broker-a:0",
    )


def test_seven_failures_in_a_listener_log(tmp_path: Path) -> None:
    # Only the log of a listener: no queue, no send-back. Waits are of levels 3 to 8, and the next is level 9.
    events: list[Event] = []
    time = 0
    for attempt, wait in enumerate([0, 10, 30, 60, 120, 180, 240]):
        time += 1000 * wait
        common = {**ME, "topic": "rocket-mq-topic", "key": KEY, "attempt": attempt}
        events.append({"time": time, "kind": "deliver", **common})
        events.append({"time": time, "kind": "result", **common, "result": "exception"})
    (outcome,) = story(tmp_path, events).outcomes
    assert outcome.status is MessageStatus.PENDING_RETRY
    assert outcome.told == "waiting for retry 7 of 16, due at 00:15:40.000, after 7 deliveries"
    waits = [10_000, 30_000, 60_000, 120_000, 180_000, 240_000, 300_000]
    assert [attempt.expected_wait for attempt in outcome.attempts] == waits
    assert [attempt.waited for attempt in outcome.attempts] == [*waits[:-1], None]


def test_a_dead_letter(tmp_path: Path) -> None:
    dead = {"time": 90, "kind": "dead_letter", "group": "G", "topic": "%DLQ%G", "broker": "broker-a", "queue": 0}
    (outcome,) = story(
        tmp_path, [stored(0), delivered(50), ended(60, "later"), sent_back(70, 0, level=-1), {**dead, "key": KEY}]
    ).outcomes
    assert (outcome.status, outcome.told) == (
        MessageStatus.DEAD_LETTERED,
        "a dead letter since 00:00:00.090, after 1 delivery",
    )
    assert outcome.attempts[0].expected_level is None


def test_a_dead_letter_that_was_consumed_as_well(tmp_path: Path) -> None:
    dead = {"time": 90, "kind": "dead_letter", "group": "G", "topic": "%DLQ%G", "broker": "broker-a", "queue": 0}
    events = [stored(0), delivered(50), ended(60, "later"), sent_back(70, 0, level=-1), {**dead, "key": KEY}]
    (outcome,) = story(tmp_path, [*events, delivered(100), ended(110, "ok")]).outcomes
    assert (outcome.status, outcome.told) == (
        MessageStatus.DEAD_LETTERED,
        "a dead letter since 00:00:00.090, and consumed by c1 at 00:00:00.110, after 2 deliveries",
    )


def test_a_failure_at_the_maximum_without_a_dead_letter_in_the_trace(tmp_path: Path) -> None:
    group = Group(max_attempts=2)
    (outcome,) = story(tmp_path, [delivered(0, 2), ended(5, "later")], group=group).outcomes
    assert outcome.status is MessageStatus.NOT_OBSERVABLE
    assert outcome.maximum == 2


def test_deliveries_that_do_not_tell_their_group_have_an_outcome_too(tmp_path: Path) -> None:
    def without_group(event: Event) -> Event:
        return {name: value for name, value in event.items() if name != "group"}

    events = [stored(0), *map(without_group, [delivered(50), ended(60, "later"), sent_back(61, 1)])]
    (outcome,) = story(tmp_path, events).outcomes
    assert (outcome.group, outcome.client, len(outcome.attempts)) == ("", "", 1)
    assert outcome.told.startswith("waiting for retry 1 of 16")
    # A retry topic tells the group, also where the event does not.
    retried = [*events, without_group(delivered(10_100, 1, offset=4, where=RETRY))]
    named = {each.group: len(each.attempts) for each in story(tmp_path, retried).outcomes}
    assert named == {"": 1, "G": 1}


def test_a_listener_that_has_not_ended(tmp_path: Path) -> None:
    (outcome,) = story(tmp_path, [stored(0), delivered(50)]).outcomes
    assert (outcome.status, outcome.told) == (
        MessageStatus.IN_LISTENER,
        "given to c1 at 00:00:00.050, with no result in the trace",
    )


def test_a_broadcasting_group_drops_what_failed(tmp_path: Path) -> None:
    other = {"client": "c2"}
    events = [stored(0), delivered(50), ended(60, "later"), delivered(51, **other), ended(61, "ok", **other)]
    outcomes = story(tmp_path, events, group=Group(mode="broadcasting")).outcomes
    assert [(outcome.client, outcome.status) for outcome in outcomes] == [
        ("c1", MessageStatus.DROPPED),
        ("c2", MessageStatus.ACKNOWLEDGED),
    ]


def test_an_orderly_group_suspends(tmp_path: Path) -> None:
    events = [stored(0), delivered(50), ended(60, "suspend"), delivered(1060, 1), ended(1070, "suspend")]
    (outcome,) = story(tmp_path, events, group=Group(listener="orderly")).outcomes
    assert (outcome.status, outcome.attempts[0].waited) == (MessageStatus.PENDING_RETRY, 1000)
    assert outcome.told == "suspended by c1 after 2 deliveries; it is tried again in its queue"


SINCE = " since 00:00:00.000, when it is first heard of: it waits"
PASSED = {"time": 9_000, "kind": "commit", **ME, **QUEUE, "offset": 40, "path": "periodic"}


def pulled(first: int, next_: int, **fields: Any) -> Event:
    return {"time": 100, "kind": "pull_result", **ME, **QUEUE, "offset": first, "next": next_, **fields}


BEHIND = pulled(20, 40, result="found", count=20)


@pytest.mark.parametrize(
    ("events", "status", "told"),
    [
        (
            [pulled(10, 20, result="no_matched_message")],
            MessageStatus.FILTERED,
            "passed over at 00:00:00.100 by the expression",
        ),
        ([pulled(10, 20, result="found", count=3), PASSED], MessageStatus.FILTERED, "passed over at 00:00:00.100"),
        ([pulled(10, 20, result="found", count=10)], MessageStatus.WAITING, "pulled by c1 at 00:00:00.100"),
        ([BEHIND, PASSED], MessageStatus.LOST, "never delivered, and passed at 00:00:09.000 by offset 40 of c1"),
        (
            [{**PASSED, "offset": 17}],
            MessageStatus.WAITING,
            f"not delivered{SINCE}, and the stored offset is not past it",
        ),
        ([{**PASSED, "kind": "reset"}], MessageStatus.SKIPPED, "skipped at 00:00:09.000: the offset was set to 40"),
        (
            [{"time": 1, "kind": "assign", **ME, **QUEUE}],
            MessageStatus.NOT_OBSERVABLE,
            f"no delivery was recorded{SINCE} for c1, which has the queue, and",
        ),
    ],
)
def test_a_message_that_was_never_delivered(
    tmp_path: Path, events: list[Event], status: MessageStatus, told: str
) -> None:
    (outcome,) = story(tmp_path, [stored(0), *events]).outcomes
    assert outcome.status is status
    assert outcome.told.startswith(told)
    assert outcome.attempts == ()


LOST = "never delivered, and passed at 00:00:09.000 by offset 40 of c1"


def gap(since: int, until: int, **fields: Any) -> Event:
    return {"time": until, "due": since, "kind": "gap", "detail": "disk full", "count": 3, **fields}


def test_a_gap_may_hide_what_became_of_a_message_that_seems_lost(tmp_path: Path) -> None:
    (outcome,) = story(tmp_path, [stored(0), BEHIND, gap(200, 300, client="c1"), PASSED]).outcomes
    assert outcome.status is MessageStatus.NOT_OBSERVABLE
    hole = "what became of it may be hidden (a gap of the recording (disk full) of c1)"
    assert outcome.told == f"it cannot be told whether it is lost: {LOST}, but {hole}"


def test_a_damaged_line_may_hide_what_became_of_it(tmp_path: Path) -> None:
    story(tmp_path, [stored(0), BEHIND, PASSED])
    file = tmp_path / "t.jsonl"
    header, store, pull, last = file.read_text().splitlines()
    file.write_text("\n".join([header, store, '{"time":50,"kind":"deliv', pull, last, ""]))
    (outcome,) = message_story(open_trace([file]), KEY).outcomes
    assert outcome.status is MessageStatus.NOT_OBSERVABLE
    assert f"({file}:3: " in outcome.told


@pytest.mark.parametrize("other", [gap(10, 50, client="c1"), gap(200, 300, group="H", client="d1")])
def test_a_gap_elsewhere_hides_nothing_of_it(tmp_path: Path, other: Event) -> None:
    outcomes = story(tmp_path, sorted([stored(60), BEHIND, other, PASSED], key=lambda event: event["time"])).outcomes
    assert [(outcome.status, outcome.told) for outcome in outcomes] == [(MessageStatus.LOST, LOST)]


def test_without_pull_results_it_may_have_been_filtered(tmp_path: Path) -> None:
    (outcome,) = story(tmp_path, [stored(0), BEHIND, PASSED], evidence=frozenset(Kind) - {Kind.PULL_RESULT}).outcomes
    assert outcome.status is MessageStatus.NOT_OBSERVABLE
    assert outcome.told == f"it cannot be told whether it is lost: {LOST}, but no pull_result events were recorded"


def test_by_message_id_of_a_copy_and_by_origin(tmp_path: Path) -> None:
    events = [stored(0, msg_id="0A01"), delivered(50), ended(60, "ok")]
    for asked in ("0A01", origin_of(KEY), str(origin_of(KEY)), KEY):
        assert [outcome.status for outcome in story(tmp_path, events, asked).outcomes] == [MessageStatus.ACKNOWLEDGED]


def test_a_result_without_the_key_belongs_to_its_offset(tmp_path: Path) -> None:
    (outcome,) = story(tmp_path, [stored(0), delivered(50), {**ended(60, "ok"), "key": None}]).outcomes
    assert outcome.status is MessageStatus.ACKNOWLEDGED


def test_other_messages_are_no_part_of_it(tmp_path: Path) -> None:
    other = {**delivered(55, offset=18), "key": "other"}
    told = story(tmp_path, [stored(0), delivered(50), other, {**ended(60, "ok", offset=18), "key": "other"}])
    assert told.outcomes[0].status is MessageStatus.IN_LISTENER
    assert [sentence.place.number for sentence in told.sentences] == [2, 3]


def test_a_message_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no event names the message nobody"):
        story(tmp_path, [stored(0)], "nobody")


def test_every_group_of_the_queue_has_an_answer_and_no_other(tmp_path: Path) -> None:
    passed = {**PASSED, "group": "H", "client": "d1"}
    elsewhere = {**PASSED, "group": "I", "client": "e1", "queue": 4}
    pull = {**BEHIND, "group": "H", "client": "d1"}
    told = story(tmp_path, [stored(0), delivered(50), ended(60, "ok"), pull, passed, elsewhere])
    assert [(outcome.group, outcome.status) for outcome in told.outcomes] == [
        ("G", MessageStatus.ACKNOWLEDGED),
        ("H", MessageStatus.LOST),
    ]


def test_offsets_that_just_move_on_are_not_told(tmp_path: Path) -> None:
    commits = [{**PASSED, "time": 100 * n, "offset": n, "seq": n} for n in range(1, 40)]
    told = story(tmp_path, [stored(0), *commits, {**PASSED, "time": 5_000, "offset": 9, "path": "removal"}])
    assert [sentence.text for sentence in told.sentences] == [
        "00:00:00.000 offset 17 of Orders@broker-a:3 is stored with key " + KEY,
        "00:00:01.800 c1 stores offset 18 of Orders@broker-a:3 (periodic)",
        "00:00:05.000 c1 stores offset 9 of Orders@broker-a:3 (removal)",
    ]
    assert told.left_out == 0
