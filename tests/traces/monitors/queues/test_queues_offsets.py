"""The stored offset of a queue: why it goes back, what it passes, and who writes it."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.model.history import Regression
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.clocks.clocks import Clock, Clocks
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.findings import Doubt, Note
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.monitors.queues.commits import Jump

from .queue_events import (
    BROADCASTING,
    EVERYTHING,
    MINUTE,
    ORDERLY,
    SECOND,
    Checked,
    Event,
    answered,
    assign,
    broker_restart,
    check,
    commit,
    consumed,
    crash,
    deliver,
    event,
    found,
    gap,
    result,
    revoke,
    send_back,
    start,
    stop,
)

BACK = "offset-never-back-without-cause"
UNFINISHED = "offset-never-past-unfinished"
SKIPPED = "nothing-skipped"
FAILED = "failed-message-comes-again"
OWNERS = "only-owners-commit"
ANSWERS = "query-answers-what-is-stored"

RETRIES = "%RETRY%G"

ONE_HAS_IT = [
    assign(1_000, "one", 0),
    found(1_500, "one", 0, 10),
    *consumed(2_000, "one", *range(10)),
]
STORED = [*ONE_HAS_IT, commit(5_000, "one", 4), commit(10_000, "one", 10)]


def reasons(*events, **options) -> list[Regression]:  # type: ignore[no-untyped-def]
    """The reasons of all decreases, none of which is a violation."""
    checked = check(*events, **options)
    assert checked.counts(BACK) == (0, 0)
    return [Regression(reason) for _, reason in checked.causes(BACK)]


# Going back


def test_a_clean_run() -> None:
    checked = check(STORED)
    assert checked.broken == {}
    for claim in (BACK, UNFINISHED, SKIPPED, FAILED, OWNERS):
        assert checked.judged(claim) == 2
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 10}
    assert checked.chains() == []


def test_back_without_a_reason() -> None:
    checked = check(STORED, commit(60_000, "one", 3))
    assert checked.broken == {BACK: (1, 0)}
    (row,) = checked.rows(BACK)
    assert (row["value"], row["expected"], row["since"], row["time"]) == (3, 10, 10_000, 60_000)
    assert checked.actor(row["actor"]) == checked.actor(row["other"]) == "one"


def test_back_by_a_new_owner_that_started_too_low() -> None:
    # B1: as long as it owns the queue alone, only its start can be the reason.
    new = [revoke(20_000, "one"), assign(21_000, "two", 0), commit(26_000, "two", 1)]
    assert check(STORED, new).counts(BACK) == (1, 0)
    itself = [revoke(20_000, "one"), assign(20_100, "one", 0), commit(20_200, "one", 0)]
    assert check(STORED, itself).counts(BACK) == (1, 0)
    # B4: an old offset was answered.
    answer = event(20_050, Kind.OFFSET_QUERY, "one", result="ok", offset=0)
    assert check(STORED, itself, answer).counts(BACK) == (1, 0)


def test_reset_correction_and_restart() -> None:
    assert reasons(STORED, commit(60_000, "one", 3, "reset")) == [Regression.RESET]
    assert reasons(STORED, event(60_000, Kind.RESET, offset=3)) == [Regression.RESET]
    assert reasons(STORED, commit(60_000, "one", 3, "correction")) == [Regression.CORRECTED]
    assert reasons(STORED, broker_restart(50_000), commit(60_000, "one", 3)) == [Regression.BROKER_RESTART]
    assert check(STORED, broker_restart(9_000), commit(60_000, "one", 3)).counts(BACK) == (1, 0)
    switch = {"time": 50_000, "kind": "role_change", "broker": "b", "result": "master"}
    assert reasons(STORED, switch, commit(60_000, None, 3, "replica")) == [Regression.FAIL_OVER]


def test_a_replica_without_a_switch_of_roles() -> None:
    # B4: the master overwrites what was written to a replica.
    assert check(STORED, commit(60_000, None, 3, "replica")).counts(BACK) == (1, 0)


def test_a_wrong_correction() -> None:
    # B2: beyond the end the answer is the end, not the beginning.
    wrong = [answered(50_000, "one", "offset_illegal", 10, 0, 8), event(50_100, Kind.CORRECT, "one", offset=0)]
    assert check(STORED, wrong, commit(50_200, "one", 0, "correction")).counts(BACK) == (1, 0)
    assert check(STORED, broker_restart(49_000), wrong, commit(50_200, "one", 0, "correction")).counts(BACK) == (1, 0)
    right = [answered(50_000, "one", "offset_illegal", 10, 8, 8), event(50_100, Kind.CORRECT, "one", offset=8)]
    assert reasons(STORED, right, commit(50_200, "one", 8, "correction")) == [Regression.CORRECTED]


def test_a_correction_that_jumps_over_what_is_there() -> None:
    # PL-19: below the beginning the answer is the beginning, not the end.
    def mended(to: int, **groups: Any) -> Checked:
        told = answered(50_000, "one", "offset_illegal", 10, to, 90, low=20)
        mends = [event(50_100, Kind.CORRECT, "one", offset=to), commit(50_200, "one", to, "correction")]
        return check(STORED, told, mends, **groups)

    assert mended(20).broken == {}
    checked = mended(90)
    assert checked.counts(SKIPPED) == (1, 0)
    (row,) = checked.rows(SKIPPED)
    assert (row["offset"], row["until"], row["time"]) == (10, 90, 50_100)
    # PL-18: where a broker keeps the offset of a broadcasting client it may tell that.
    assert SKIPPED not in mended(90, groups=BROADCASTING).broken


@pytest.mark.parametrize(("later", "violated"), [(10_010, 0), (40_000, 1)])
def test_a_correction_may_be_told_after_its_commit(later: int, violated: int) -> None:
    # PL-23: a log says that the offset was mended when that was stored, and by another clock that may be later.
    # PL-18: a broker that was told to reset answers so inside the queue.
    told = answered(50_000, "one", "offset_illegal", 10, 5, 10)
    mended = event(50_000 + later + 20, Kind.CORRECT, "one", offset=5)
    assert check(STORED, told, commit(50_000 + later, "one", 5), mended).counts(BACK) == (violated, 0)


def test_a_correction_may_be_answered_before_its_commit_is_seen() -> None:
    def counts(asked: int, told: int = 8) -> tuple[int, int]:
        wrong = [answered(50_000, "one", "offset_illegal", 10, 8, 8), event(50_100, Kind.CORRECT, "one", offset=8)]
        query = event(asked, Kind.OFFSET_QUERY, "one", result="ok", offset=told)
        return check(STORED, wrong, query, commit(90_000, "one", told, "correction")).counts(ANSWERS)

    assert counts(50_101) == (0, 0)
    assert counts(50_101, told=7) == (1, 0)
    assert counts(80_000) == (1, 0)


def test_a_broker_that_is_stopped_in_an_orderly_way_forgets_no_offset() -> None:
    by_broker = Clocks(clocks={Actor("b", -1): Clock(recorder=Actor("b", -1), pairs=0)})
    asked = event(60_000, Kind.OFFSET_QUERY, "two", result="ok", offset=4)

    def again(kind: Kind, *events: Event, **how: Any) -> Checked:
        return check(STORED, {"time": 40_000, "kind": str(kind), "broker": "b"}, broker_restart(50_000), *events, **how)

    assert again(Kind.BROKER_CRASH, asked, clocks=by_broker).counts(ANSWERS) == (0, 0)
    assert again(Kind.BROKER_STOP, asked, clocks=by_broker).counts(ANSWERS) == (1, 0)
    assert again(Kind.BROKER_STOP, asked | {"offset": 10}, clocks=by_broker).counts(ANSWERS) == (0, 0)
    # It may have died and been started before that, or its clients alone say what they sent to it.
    died = [{"time": 20_000, "kind": "broker_crash", "broker": "b"}, broker_restart(30_000)]
    assert again(Kind.BROKER_STOP, *died, asked, clocks=by_broker).counts(ANSWERS) == (0, 0)
    assert again(Kind.BROKER_STOP, asked).counts(ANSWERS) == (0, 0)
    back = commit(60_000, "one", 3)
    assert again(Kind.BROKER_CRASH, back, clocks=by_broker).counts(BACK) == (0, 0)
    assert again(Kind.BROKER_STOP, back, clocks=by_broker).counts(BACK) == (1, 0)
    # What it reads from its file then is no late commit of the client that left.
    read = [revoke(39_000, "one", path="shutdown"), commit(50_001, None, 9, "file")]
    assert again(Kind.BROKER_CRASH, *read, clocks=by_broker).counts(BACK) == (0, 0)
    assert again(Kind.BROKER_STOP, *read, clocks=by_broker).counts(BACK) == (1, 0)


def test_overlap_and_late_commits() -> None:
    two_owners = [assign(3_000, "two", 0), commit(15_000, "two", 4)]
    assert reasons(STORED, two_owners) == [Regression.OVERLAP]
    taken_twice = [assign(2_000, "two", 0), revoke(2_900, "two"), assign(3_000, "two", 0), commit(15_000, "two", 4)]
    assert reasons(STORED, taken_twice) == [Regression.OVERLAP]
    late = [revoke(11_000, "one"), assign(12_000, "two", 10), found(12_500, "two", 10, 12)]
    late += [*consumed(13_000, "two", 10, 11), commit(14_000, "two", 12), commit(14_500, "one", 10, "removal")]
    assert reasons(STORED, late) == [Regression.LATE_COMMIT]
    # What it stored itself before its last pull was answered is behind it: a late commit is no lower.
    left = [found(9_000, "one", 10, 12), revoke(11_000, "one", path="shutdown")]
    assert reasons(STORED, left, commit(12_000, "one", 4)) == [Regression.LATE_COMMIT]
    assert check(STORED, left, commit(12_000, "one", 3)).counts(BACK) == (1, 0)
    # Two commits of one client overtake each other.
    assert reasons(STORED, commit(10_100, "one", 9, "piggyback")) == [Regression.LATE_COMMIT]
    assert check(STORED, commit(10_100, "one", 3, "piggyback")).counts(BACK) == (1, 0)


def test_an_offset_that_a_pull_carries_late() -> None:
    # The pull thread read offset 3 when it had the answer, and sent it after the ones that were stored meanwhile.
    answered_at_three = [*ONE_HAS_IT, commit(1_400, "one", 3), found(4_000, "one", 10, 12), commit(5_000, "one", 10)]
    pulls = event(20_000, Kind.PULL, "one", offset=12)
    assert reasons(answered_at_three, pulls, commit(24_000, "one", 4, "piggyback")) == [Regression.LATE_COMMIT]
    late = commit(24_000, "one", 4, "piggyback")
    assert check(answered_at_three, late).counts(BACK) == (1, 0)
    assert check(answered_at_three, pulls, commit(24_000, "one", 2, "piggyback")).counts(BACK) == (1, 0)
    assert check(answered_at_three, pulls, commit(24_000, "one", 4)).counts(BACK) == (1, 0)
    # A pull carries one offset.
    twice = [pulls, commit(21_000, "one", 11, "piggyback"), late]
    assert check(answered_at_three, twice).counts(BACK) == (1, 0)
    without = EVERYTHING - {Kind.PULL_RESULT}
    assert check(answered_at_three, pulls, late, evidence=without).doubts(BACK) == [Doubt.EVIDENCE]


def test_a_topic_that_was_made_anew() -> None:
    assert reasons(STORED, answered(50_000, "one", "no_new_message", 2, 2, 2), commit(60_000, "one", 2)) == [
        Regression.RECREATED
    ]


def test_a_retry_topic_that_was_deleted_with_its_group_and_made_again() -> None:
    def copy(time: int, offset: int) -> Event:
        return event(time, Kind.DELAY_DELIVER, broker="b", topic=RETRIES, offset=offset, attempt=1, key=f"K{time}")

    def of_retries(*events: Any) -> list[Event]:
        return [{**one, "topic": RETRIES} for part in events for one in (part if isinstance(part, list) else [part])]

    copies = [copy(500 + offset, offset) for offset in range(10)]
    asks = event(59_000, Kind.OFFSET_QUERY, "two", result="ok", offset=0)
    later = of_retries(revoke(40_000, "one"), asks, assign(59_010, "two", 0), commit(60_000, "two", 0))
    made_again = [*copies, *of_retries(STORED), copy(50_000, 0), *later]
    assert reasons(made_again) == [Regression.RECREATED]
    assert check(made_again).counts(ANSWERS) == (0, 0)
    goes_on = [*copies, *of_retries(STORED), copy(50_000, 10), *later]
    assert (check(goes_on).counts(BACK), check(goes_on).counts(ANSWERS)) == ((1, 0), (1, 0))


def test_of_what_clients_sent_a_broker_for_minutes_it_took_some() -> None:
    sent = [commit(time, "one", 10) for time in range(15_000, 200_000, 5_000)]

    def asks(time: int, **told: Any) -> tuple[int, int]:
        return check(STORED, sent, event(time, Kind.OFFSET_QUERY, "two", **told)).counts(ANSWERS)

    # The last one was sent a moment ago; what was stored minutes ago is no answer, and what came just before may be.
    assert asks(196_000, result="none") == asks(196_000, result="ok", offset=4) == (1, 0)
    assert asks(196_000, result="ok", offset=10) == (0, 0)
    # Those of a minute may all be lost.
    assert asks(56_000, result="none") == (0, 0)


def test_an_offset_that_was_removed_is_stored_no_more_and_who_asks_begins_anew() -> None:
    removed = event(15_000, Kind.COMMIT, path="reset", result="none")
    asks = event(20_000, Kind.OFFSET_QUERY, "two", result="none")
    assert check(STORED, asks).counts(ANSWERS) == (1, 0)
    assert check(STORED, removed, asks).counts(ANSWERS) == (0, 0)
    # It begins at the end of the queue, where its settings say.
    begins = [revoke(16_000, "one"), asks, assign(20_010, "two", 30), found(20_020, "two", 30, 31)]
    goes_on = [*begins, *consumed(20_030, "two", 30), commit(25_000, "two", 31)]
    assert check(STORED, goes_on).counts(SKIPPED) == (1, 0)
    checked = check(STORED, removed, goes_on)
    assert (checked.counts(SKIPPED), checked.counts(BACK)) == ((0, 0), (0, 0))


def test_a_tool_may_store_an_offset_beyond_the_end_and_nothing_is_skipped_by_that() -> None:
    tools = event(15_000, Kind.COMMIT, offset=100_000)
    checked = check(STORED, tools, found(16_000, "one", 10, 12), consumed(17_000, "one", 10, 11))
    assert checked.counts(SKIPPED) == (0, 0)
    assert checked.counts(UNFINISHED) == (0, 0)


def test_who_was_told_an_offset_just_before_it_was_set_may_have_asked_after_that() -> None:
    for time, doubt in ((60_010, Doubt.SKEW), (60_500, Doubt.NONE)):
        was_told = event(60_000, Kind.OFFSET_QUERY, "two", offset=3, result="ok")
        assert check(STORED, was_told, event(time, Kind.RESET, offset=3)).doubts(ANSWERS) == [doubt]
        other = event(time, Kind.RESET, offset=4)
        assert check(STORED, was_told, other).doubts(ANSWERS) == [Doubt.NONE]


def test_who_is_about_to_take_a_queue_stores_what_it_was_told() -> None:
    # A pass asks for several queues, and windows begin when all answers are there; offsets are sent meanwhile.
    def asks(*, offset: int, stores: int) -> list[Event]:
        query = event(9_000, Kind.OFFSET_QUERY, "two", result="ok", offset=offset)
        return [query, commit(11_000, "two", stores), assign(12_000, "two", offset)]

    assert reasons(STORED, asks(offset=4, stores=4)) == [Regression.OVERLAP]
    # OF-21: a broker that has nothing stored tells 0.
    untold = [event(4_000, Kind.OFFSET_QUERY, "two", result="ok", offset=0), commit(6_000, "two", 0)]
    assert reasons(ONE_HAS_IT, commit(5_000, "one", 4), untold, assign(7_000, "two", 0)) == [Regression.OVERLAP]
    assert check(STORED, asks(offset=4, stores=3)).counts(BACK) == (1, 0)
    late = [commit(80_000, "two", 4), event(9_000, Kind.OFFSET_QUERY, "two", result="ok", offset=4)]
    assert check(STORED, late).counts(BACK) == (1, 0)


def test_a_pass_takes_a_queue_long_after_it_was_told_the_offset() -> None:
    def taken(at: int) -> Checked:
        query = event(4_000, Kind.OFFSET_QUERY, "two", result="ok", offset=0)
        new = [query, commit(at - 300, "two", 0), assign(at, "two", 0), found(at + 500, "two", 0, 10)]
        return check(STORED, commit(3_000, "one", 0), new, deliver(at + 1_000, "two", 0))

    assert taken(11_000).broken == {}
    assert taken(11_000 + MINUTE).broken == {BACK: (1, 0), OWNERS: (1, 0)}


@pytest.mark.parametrize("first", ["two", "three"])
def test_two_clients_ask_before_either_takes_the_queue(first: str) -> None:
    asked = [
        event(4_000 + at, Kind.OFFSET_QUERY, who, result="ok", offset=0) for at, who in enumerate(("two", "three"))
    ]
    new = [commit(10_700, first, 0), assign(11_000, first, 0), found(11_500, first, 0, 10), deliver(12_000, first, 0)]
    assert check(STORED, commit(3_000, "one", 0), asked, new).broken == {}


def test_doubts_about_going_back() -> None:
    assert check(STORED, gap(20_000, 30_000), commit(60_000, "one", 3)).doubts(BACK) == [Doubt.GAP]
    without = EVERYTHING - {Kind.ASSIGN, Kind.REVOKE}
    assert check(STORED, commit(60_000, "one", 3), evidence=without).doubts(BACK) == [Doubt.EVIDENCE]
    fleeting = [commit(9_990, "one", 4), commit(10_000, "two", 10), commit(10_020, "three", 4)]
    assert check(ONE_HAS_IT, fleeting).doubts(BACK) == [Doubt.SKEW]


def test_a_client_that_broadcasts_to_itself() -> None:
    stored = [assign(1_000, "one", 0), *consumed(2_000, "one", 0, 1), commit(5_000, "one", 2, "file")]
    again = commit(60_000, "one#1", 1, "file")
    anew = [start(0, "one"), start(55_000, "one#1")]
    died = crash(50_000, "one")
    assert reasons(stored, died, anew, again, groups=BROADCASTING) == [Regression.BROKER_RESTART]
    assert check(stored, anew, again, groups=BROADCASTING).counts(BACK) == (1, 0)
    # Who ends in order has written its file; that the file is there still is not told.
    assert check(stored, stop(50_000, "one"), anew, again, groups=BROADCASTING).doubts(BACK) == [Doubt.EVIDENCE]


# Passing


def test_past_a_running_listener() -> None:
    # B7
    running = [deliver(3_000, "one", 10), *consumed(3_100, "one", 11), commit(5_000, "one", 12)]
    checked = check(ONE_HAS_IT, found(2_500, "one", 10, 12), running)
    assert checked.broken == {UNFINISHED: (1, 0)}
    (row,) = checked.rows(UNFINISHED)
    assert (row["offset"], row["until"], row["since"], row["time"]) == (10, 11, 3_000, 5_000)
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 11, MessageStatus.LOST: 1}
    assert checked.chains() == [(10, 11, MessageStatus.LOST)]


def test_past_it_once_is_told_once() -> None:
    running = [deliver(3_000, "one", 10), commit(5_000, "one", 11), commit(6_000, "one", 11), result(7_000, "one", 10)]
    checked = check(ONE_HAS_IT, found(2_500, "one", 10, 11), running)
    assert checked.counts(UNFINISHED) == (1, 0)
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 11}


def test_past_a_listener_that_returned_at_about_the_same_time() -> None:
    pulled = found(2_500, "one", 10, 11)
    close = [deliver(3_000, "one", 10), commit(5_000, None, 11), result(5_030, "one", 10)]
    checked = check(ONE_HAS_IT, pulled, close)
    assert checked.counts(UNFINISHED) == (0, 1)
    assert checked.doubts(UNFINISHED) == [Doubt.SKEW]
    # The order of one client is certain.
    sure = [deliver(3_000, "one", 10), commit(5_000, "one", 11), result(5_030, "one", 10)]
    assert check(ONE_HAS_IT, pulled, sure).counts(UNFINISHED) == (1, 0)
    assert check(ONE_HAS_IT, pulled, close, settings=Settings(skew=20)).counts(UNFINISHED) == (1, 0)


def test_past_several_listeners_within_the_skew() -> None:
    """The commit that comes next passes others, and takes nothing back of what the one before passed."""
    pulled = found(2_500, "one", 10, 12)
    given = [deliver(3_000, "one", 10), deliver(3_000, "one", 11), commit(5_000, None, 11), commit(5_010, None, 12)]
    close = [result(5_030, "one", 10), result(5_040, "one", 11)]
    assert check(ONE_HAS_IT, pulled, given, close).counts(UNFINISHED) == (0, 2)


def test_doubts_about_running_listeners() -> None:
    running = [found(2_500, "one", 10, 11), deliver(3_000, "one", 10), commit(5_000, "one", 11)]
    assert check(ONE_HAS_IT, running, gap(3_500, 4_000)).doubts(UNFINISHED) == [Doubt.GAP]
    checked = check(ONE_HAS_IT, running, evidence=EVERYTHING - {Kind.RESULT})
    assert checked.counts(UNFINISHED) == (0, 0)
    assert checked.statuses[MessageStatus.ACKNOWLEDGED] == 10


def test_past_a_failed_message() -> None:
    # D1
    failed = [found(2_500, "one", 10, 11), deliver(3_000, "one", 10), result(3_100, "one", 10, "later")]
    refused = [send_back(3_200, "one", 10, "failed"), commit(5_000, "one", 11)]
    checked = check(ONE_HAS_IT, failed, refused)
    assert checked.broken == {FAILED: (1, 0)}
    assert checked.rows(FAILED)[0]["offset"] == 10
    accepted = [send_back(3_300, "one", 10), commit(5_000, "one", 11)]
    assert check(ONE_HAS_IT, failed, accepted).broken == {}
    fell_back = [send_back(3_200, "one", 10, "failed"), send_back(3_300, "one", 10), commit(5_000, "one", 11)]
    assert check(ONE_HAS_IT, failed, fell_back).broken == {}
    again = [send_back(3_200, "one", 10, "failed"), *consumed(8_200, "one", 10), commit(9_000, "one", 11)]
    assert check(ONE_HAS_IT, failed, again).broken == {}
    # Whoever failed is followed by the monitor of messages.
    assert check(ONE_HAS_IT, failed, accepted).statuses == {MessageStatus.ACKNOWLEDGED: 10}


def test_past_a_suspended_message() -> None:
    # E6
    put_off = [found(2_500, "one", 10, 12), deliver(3_000, "one", 10), result(3_100, "one", 10, "suspend")]
    lost = [*consumed(4_100, "one", 11), commit(5_000, "one", 12)]
    checked = check(ONE_HAS_IT, put_off, lost, groups=ORDERLY)
    assert checked.broken == {FAILED: (1, 0), "orderly-in-order": (1, 0)}


def test_doubts_about_failed_messages() -> None:
    failed = [found(2_500, "one", 10, 11), deliver(3_000, "one", 10), result(3_100, "one", 10, "null")]
    passed = commit(5_000, "one", 11)
    assert check(ONE_HAS_IT, failed, passed, gap(4_000, 4_500)).doubts(FAILED) == [Doubt.GAP]
    assert check(ONE_HAS_IT, failed, passed, evidence=EVERYTHING - {Kind.SEND_BACK}).counts(FAILED) == (0, 0)
    close = [commit(5_000, None, 11), send_back(5_020, "one", 10)]
    assert check(ONE_HAS_IT, failed, close).doubts(FAILED) == [Doubt.SKEW]


def test_broadcasting_drops_what_fails() -> None:
    # G5: known behaviour, no violation.
    failed = [assign(1_000, "one", 0), found(1_500, "one", 0, 1), deliver(2_000, "one", 0)]
    checked = check(failed, result(2_100, "one", 0, "later"), commit(3_000, "one", 1, "file"), groups=BROADCASTING)
    assert checked.broken == {}
    assert checked.statuses == {MessageStatus.DROPPED: 1}


def test_past_messages_that_nobody_got() -> None:
    # B9: pulled by an old window, passed by the new one.
    gone = [found(3_000, "one", 10, 14), *consumed(4_000, "one", 14, 15), found(3_500, "one", 14, 16)]
    checked = check(ONE_HAS_IT, gone, commit(6_000, "one", 16))
    assert checked.broken == {SKIPPED: (1, 0)}
    (row,) = checked.rows(SKIPPED)
    assert (row["offset"], row["until"], row["value"], row["time"]) == (10, 14, 4, 6_000)
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 12, MessageStatus.LOST: 4}
    assert checked.chains() == [(10, 14, MessageStatus.LOST)]


def test_a_jump_over_millions() -> None:
    checked = check(ONE_HAS_IT, commit(6_000, "one", 50_000_000))
    assert [(row["offset"], row["until"]) for row in checked.rows(SKIPPED)] == [(10, 50_000_000)]
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 10, MessageStatus.LOST: 49_999_990}


def test_more_violations_in_one_commit_than_there_is_room_for() -> None:
    many = [deliver(3_000, "one", offset) for offset in range(10, 5_010, 2)]
    checked = check(ONE_HAS_IT, found(2_500, "one", 10, 5_010), many, commit(9_000, "one", 5_010))
    assert checked.broken == {UNFINISHED: (2_500, 0), SKIPPED: (2_500, 0)}
    assert [row["offset"] for row in checked.rows(UNFINISHED)] == list(range(10, 5_010, 2))
    assert [(row["offset"], row["until"]) for row in checked.rows(SKIPPED)] == [
        (offset, offset + 1) for offset in range(11, 5_010, 2)
    ]
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 10, MessageStatus.LOST: 5_000}


def test_filtered_messages_are_not_skipped() -> None:
    none_matched = answered(3_000, "one", "no_matched_message", 10, 800, 800)
    checked = check(ONE_HAS_IT, none_matched, commit(6_000, "one", 800))
    assert checked.broken == {}
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 10, MessageStatus.FILTERED: 790}
    assert checked.chains() == [(10, 800, MessageStatus.FILTERED)]
    some = [found(3_000, "one", 10, 20, count=2), *consumed(4_000, "one", 13, 17), commit(6_000, "one", 20)]
    checked = check(ONE_HAS_IT, some)
    assert checked.broken == {}
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 12, MessageStatus.FILTERED: 8}


def test_one_of_a_filtered_range_that_came_and_was_not_delivered() -> None:
    some = [found(3_000, "one", 10, 20, count=3), *consumed(4_000, "one", 13, 17), commit(6_000, "one", 20)]
    checked = check(ONE_HAS_IT, some)
    assert checked.broken == {SKIPPED: (1, 0)}
    (row,) = checked.rows(SKIPPED)
    assert (row["offset"], row["until"], row["value"]) == (10, 20, 1)
    # It may be above what is stored.
    some = [found(3_000, "one", 10, 20, count=3), *consumed(4_000, "one", 13, 17), commit(6_000, "one", 19)]
    assert check(ONE_HAS_IT, some).broken == {}


def test_jumps_that_are_meant() -> None:
    for jump, far in (
        (Jump.RESET, commit(16_000, "one", 100, "reset")),
        (Jump.RESET, event(16_000, Kind.RESET, offset=100)),
        (Jump.CORRECTION, commit(16_000, "one", 100, "correction")),
        (Jump.CORRECTION, event(16_000, Kind.CORRECT, "one", offset=100)),
    ):
        checked = check(STORED, far)
        assert checked.broken == {}
        (note,) = checked.notes(Note.SKIPPED)
        assert (note["offset"], note["until"], note["value"]) == (10, 100, jump)
        assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 10, MessageStatus.SKIPPED: 90}


def test_a_new_group_that_starts_at_the_end() -> None:
    # G1: whether the group is known elsewhere, the merge decides.
    new = [
        event(1_000, Kind.OFFSET_QUERY, "one", result="none"),
        assign(1_100, "one", 50),
        answered(1_200, "one", "no_new_message", 50, 50, 50, low=20),
    ]
    checked = check(new)
    assert checked.broken == {}
    (note,) = checked.notes(Note.SKIPPED)
    assert (note["offset"], note["until"], note["value"]) == (20, 50, Jump.FIRST_START)
    assert checked.statuses == {MessageStatus.SKIPPED: 30}


@pytest.mark.parametrize("evidence", [EVERYTHING, EVERYTHING - {Kind.PULL}])
def test_a_broadcasting_member_is_to_be_given_what_comes_after_its_start(evidence: frozenset[Kind]) -> None:
    first = [
        start(900, "one"),
        assign(1_000, "one", 24),
        event(1_500, Kind.PULL, "one", offset=24),
        stop(15_000, "one"),
    ]
    again = [start(29_000, "one#1"), assign(30_000, "one#1", 97)]
    again += [found(30_500, "one#1", 97, 99), *consumed(31_000, "one#1", 97, 98)]
    parts = [each for each in first if Kind(each["kind"]) in evidence], again, commit(35_000, "one#1", 99, "file")
    checked = check(*parts, groups=BROADCASTING, evidence=evidence)
    (row,) = checked.rows(SKIPPED)
    assert (row["offset"], row["until"], checked.counts(SKIPPED)) == (24, 97, (1, 0))


def test_doubts_about_skipped_messages() -> None:
    gone = [found(3_000, "one", 10, 11), commit(6_000, "one", 11)]
    assert check(ONE_HAS_IT, gone, gap(3_500, 4_000)).doubts(SKIPPED) == [Doubt.GAP]
    assert check(ONE_HAS_IT, gone, evidence=EVERYTHING - {Kind.PULL_RESULT}).counts(SKIPPED) == (0, 0)
    close = [found(3_000, "one", 10, 11), commit(6_000, None, 11), *consumed(6_020, "one", 10)]
    assert check(ONE_HAS_IT, close).doubts(SKIPPED) == [Doubt.SKEW]


def test_a_trace_that_begins_in_the_middle() -> None:
    late = [
        deliver(1_000, "one", 105),
        result(1_010, "one", 103),
        result(1_020, "one", 105),
        found(1_500, "one", 110, 112),
        commit(2_000, "one", 110),
        *consumed(2_100, "one", 110, 111),
        commit(7_000, "one", 112),
    ]
    assert check(late).broken == {}


# Writers


def test_a_writer_that_does_not_own_the_queue() -> None:
    # B3
    foreign = commit(2 * MINUTE, "two", 10)
    assert check(STORED, foreign).broken == {OWNERS: (1, 0)}
    long_gone = [revoke(20_000, "one"), assign(20_500, "two", 10), commit(2 * MINUTE, "one", 10)]
    assert check(STORED, long_gone).broken == {OWNERS: (1, 0)}
    late = [revoke(20_000, "one"), assign(20_500, "two", 10), commit(20_600, "one", 10, "removal")]
    assert check(STORED, late).broken == {}


def test_an_orderly_queue_is_kept_until_its_listener_returns() -> None:
    # RB-33
    busy = [*STORED, found(19_000, "one", 10, 11), deliver(19_500, "one", 10), revoke(20_000, "one", "removal")]
    after = [result(2 * MINUTE, "one", 10), commit(2 * MINUTE + SECOND, "one", 10, "shutdown")]
    assert check(busy, after, groups=ORDERLY).counts(OWNERS) == (0, 0)
    assert check(busy, after).counts(OWNERS) == (1, 0)
    late = commit(3 * MINUTE, "one", 10, "shutdown")
    assert check(busy, after[0], late, groups=ORDERLY).counts(OWNERS) == (1, 0)


def test_whoever_has_asked_for_the_offset_may_stop_before_it_takes_the_queue() -> None:
    asked = event(2 * MINUTE - SECOND, Kind.OFFSET_QUERY, "two", result="ok", offset=10)
    foreign = commit(2 * MINUTE, "two", 10, "shutdown")
    assert check(STORED, asked, foreign).broken == {}
    assert check(STORED, {**asked, "client": "three"}, foreign).broken == {OWNERS: (1, 0)}


def test_a_stranger_at_the_beginning_of_a_complete_recording_owns_nothing() -> None:
    foreign = commit(10_000, "two", 10)
    assert check(STORED, foreign).broken == {}  # it may have had the queue before
    assert check(STORED, foreign, complete=True).counts(OWNERS) == (1, 0)
    # By the broker's clock a first commit may come before the assignment that it follows.
    early = [revoke(20_000, "one"), commit(20_490, "two", 10), assign(20_500, "two", 10)]
    assert check(STORED, early, complete=True).counts(OWNERS) == (0, 1)
    # So may several: the one that is further away than clocks are taken to be apart is another's.
    several = [revoke(20_000, "one"), *(commit(at, "two", 10) for at in (20_440, 20_460, 20_480)), *early[2:]]
    assert check(STORED, several, complete=True).counts(OWNERS) == (1, 2)


def test_doubts_about_writers() -> None:
    foreign = commit(2 * MINUTE, "two", 10)
    assert check(STORED, foreign, gap(MINUTE, 90 * SECOND)).doubts(OWNERS) == [Doubt.GAP]
    assert check(STORED, foreign, evidence=EVERYTHING - {Kind.REVOKE}).judged(OWNERS) == 0
    pulls = {Kind.PULL, Kind.PULL_RESULT}
    assert check(STORED, foreign, evidence=EVERYTHING - pulls).doubts(OWNERS) == [Doubt.EVIDENCE]
    border = [revoke(20_000, "one"), assign(20_500, "two", 10), commit(60_030, "one", 10)]
    assert check(STORED, border).doubts(OWNERS) == [Doubt.SKEW]


# The timeline


def test_the_timeline_has_every_decrease_and_few_other_points() -> None:
    forth = [commit(10_000 + 10 * n, "one", 10 if n % 100 else 9, "reset") for n in range(1, 10_000)]
    checked = check(STORED, forth)
    points = checked.notes(Note.OFFSET)
    back = [row for row in points if row["value"] == 9]
    assert len(back) == 99
    assert 1_000 <= len(points) <= 1_200
    assert (points[0]["time"], points[0]["value"]) == (5_000, 4)


def test_the_timeline_knows_where_the_queue_ended() -> None:
    taken = [assign(0, "one", 0), commit(500, "one", 0, "removal")]
    first = [found(1_000, "one", 0, 4, log=30), *consumed(1_100, "one", 0, 1, 2, 3), commit(6_000, "one", 4)]
    last = [found(6_500, "one", 4, 5, log=40), commit(7_000, "one", 4), found(13_000, "one", 5, 6, log=50)]
    points = check([*taken, *first, *last]).notes(Note.OFFSET)
    # The last point is that of the end of the trace, where more is known of the queue than when it was stored.
    assert [(row["time"], row["value"], row["until"]) for row in points] == [
        (500, 0, -1),
        (6_000, 4, 30),
        (7_000, 4, 40),
    ]


@pytest.mark.parametrize("offset", [0, 1 << 40, (1 << 62) + 5])
def test_offsets_may_be_huge(offset: int) -> None:
    far = [
        assign(1_000, "one", offset),
        found(1_500, "one", offset, offset + 3),
        *consumed(2_000, "one", offset, offset + 1, offset + 2),
        commit(5_000, "one", offset + 2),
        deliver(6_000, "one", offset + 1),
    ]
    checked = check(far)
    assert checked.broken == {"every-duplicate-has-a-cause": (1, 0)}
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 3}


@pytest.mark.parametrize("between", [[], [2**60], [300, 2**40, 2**60]])
def test_offsets_as_far_away_as_numbers_can_be_take_no_time(between: list[int]) -> None:
    far = 2**61
    partly = event(1_500, Kind.PULL_RESULT, "one", result="found", offset=0, next=far, min=0, max=far, count=5)
    events = [assign(1_000, "one", 0), partly, *consumed(2_000, "one", 0, *between)]
    for told in (check(events), check(events, commit(5_000, "one", far))):
        assert told.statuses[MessageStatus.ACKNOWLEDGED] == 1 + len(between)
        assert sum(told.statuses.values()) == far
