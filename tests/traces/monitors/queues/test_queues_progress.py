"""Queues that stand still, pulls that are refused, and what becomes of messages that wait."""

from __future__ import annotations

from rocketproof.traces.claims.obligations import Reason
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.message_status import MessageStatus

from .queue_events import (
    BROADCASTING,
    EVERYTHING,
    ORDERLY,
    SECOND,
    Checked,
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
    heartbeat,
    result,
    revoke,
)

MOVES = "every-queue-moves"
CURRENT = "subscription-is-current"
MENDED = "illegal-offset-is-corrected"

HEARTBEATS = [heartbeat(t, "one", "T=*@1") for t in range(1_000, 400_000, 30_000)]
BEHIND = [assign(1_000, "one", 0), found(2_000, "one", 0, 2, log=50), *consumed(3_000, "one", 0, 1)]


def reasons(checked: Checked) -> list[Reason]:
    """Why the queue stands still."""
    return [Reason(int(row["value"])) for row in checked.rows(MOVES)]


def test_a_queue_that_moves() -> None:
    slow = [each for n in range(5) for each in consumed(3_000 + 50 * SECOND * n, "one", n)]
    checked = check(assign(1_000, "one", 0), found(2_000, "one", 0, 5, log=5), slow)
    assert checked.broken == {}
    assert checked.judged(MOVES) == 1


def test_nothing_left_is_no_standstill() -> None:
    polls = [answered(t, "one", "no_new_message", 2, 2, 2) for t in range(4_000, 900_000, 20_000)]
    done = [assign(1_000, "one", 0), found(2_000, "one", 0, 2), *consumed(3_000, "one", 0, 1)]
    assert check(done, polls, end=900_000).broken == {}
    # Who records only pulls that bring something records no more of them.
    assert check(done, end=900_000).broken == {}


def test_an_owner_that_does_not_pull() -> None:
    checked = check(BEHIND, end=300_000)
    assert checked.broken == {MOVES: (1, 0)}
    assert reasons(checked) == [Reason.NO_PULLS]
    (row,) = checked.rows(MOVES)
    assert (row["since"], row["time"], row["offset"], row["until"]) == (3_030, 300_000, 2, 50)
    assert checked.actor(row["actor"]) == "one"
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 2, MessageStatus.WAITING: 48}
    assert checked.chains() == [(2, 50, MessageStatus.WAITING)]


def test_a_queue_that_another_client_had_meanwhile_is_its_owners_still() -> None:
    guest = [assign(10_000, "two", 1), revoke(11_000, "two")]
    own = [assign(1_000, "one", 0), found(2_000, "one", 0, 1), *consumed(3_000, "one", 0)]
    for n in range(1, 8):
        own += [found(50_000 * n, "one", n, n + 1, log=n + 2), *consumed(50_000 * n + 100, "one", n)]
    assert check(own, guest, HEARTBEATS, end=380_000).broken == {}


def test_a_standstill_that_ended_is_told_too() -> None:
    checked = check(BEHIND, found(250_000, "one", 2, 50, log=50), consumed(250_100, "one", *range(2, 50)))
    assert checked.counts(MOVES) == (1, 0)
    assert checked.rows(MOVES)[0]["time"] == 250_000


def test_an_owner_that_stood_still_is_told_as_such() -> None:
    def told(*beats: int) -> list[Reason]:
        signs = [heartbeat(t, "one", "T=*@1") for t in beats]
        return reasons(
            check(BEHIND, signs, found(250_000, "one", 2, 50, log=50), consumed(250_100, "one", *range(2, 50)))
        )

    assert told(1_000, 3_000, 5_000, 250_000, 280_000) == [Reason.OWNER_STOOD_STILL]
    assert told(*range(1_000, 300_000, 30_000)) == [Reason.NO_PULLS]
    assert told(1_000, 3_000, 5_000, 120_000, 250_000) == [Reason.OWNER_STOOD_STILL]
    assert told(1_000, 250_000) == [Reason.NO_PULLS]  # whether all its heartbeats are recorded is not seen


def test_nobody_gets_the_queue_of_an_owner_that_stands_still_before_its_broker_takes_it_for_dead() -> None:
    """ST-6: its broker closes its connection after 120 s, and looks every 10 s."""

    def broken(until: int) -> dict[str, tuple[int, int]]:
        signs = [heartbeat(t, "one", "T=*@1") for t in (1_000, 3_000, 5_000, until, until + 1_000)]
        goes_on = found(until, "one", 2, 50, log=50), consumed(until + 100, "one", *range(2, 50))
        return check(BEHIND, signs, *goes_on).broken

    assert (broken(130_000), broken(200_000)) == ({}, {MOVES: (1, 0)})


def test_a_pinned_minimum() -> None:
    # F4: everything behind the hung message is finished, and the window is full.
    hung = [assign(1_000, "one", 0), found(2_000, "one", 0, 3, log=50), deliver(2_500, "one", 0)]
    checked = check(
        hung, consumed(3_000, "one", 1, 2), answered(200_000, "one", "no_new_message", 3, 3, 50), end=300_000
    )
    assert reasons(checked) == [Reason.PINNED]
    (row,) = checked.rows(MOVES)
    assert row["offset"] == 0
    assert checked.actor(row["other"]) == "one"
    assert checked.statuses == {MessageStatus.ACKNOWLEDGED: 2, MessageStatus.WAITING: 47, MessageStatus.IN_LISTENER: 1}
    assert checked.chains() == [(0, 1, MessageStatus.IN_LISTENER), (3, 50, MessageStatus.WAITING)]


def test_a_call_that_never_ends() -> None:
    # F4: others go on, until the window is full.
    half_an_hour = 1_800_000
    busy = [each for n in range(40) for each in consumed(5_000 + 50 * SECOND * n, "one", n + 1)]
    called = [assign(1_000, "one", 0), found(2_000, "one", 0, 41), deliver(3_000, "one", 0)]
    checked = check(called, busy)
    assert reasons(checked) == [Reason.PINNED]
    assert checked.rows(MOVES)[0]["offset"] == 0
    late = result(4_000 + half_an_hour, "one", 0)
    assert reasons(check(called, busy, late)) == [Reason.PINNED]
    assert check(called, busy, result(half_an_hour, "one", 0)).broken == {}
    assert check(called, busy, crash(900_000, "one"), end=2_000_000).counts(MOVES) == (0, 0)


def test_a_message_that_is_put_off_for_ever() -> None:
    # E7: nothing is made of the result.
    put_off = [assign(1_000, "one", 0), found(2_000, "one", 0, 1), deliver(3_000, "one", 0)]
    checked = check(put_off, result(3_100, "one", 0, "suspend"), end=300_000, groups=ORDERLY)
    assert checked.broken == {MOVES: (1, 0)}
    assert reasons(checked) == [Reason.PINNED]


def test_a_retry_queue_that_nobody_takes() -> None:
    # D8
    retry = [
        {**event(5_000, Kind.DELAY_DELIVER), "group": None, "topic": "%RETRY%G", "offset": 0},
        {**event(5_000, Kind.DELAY_DELIVER), "group": None, "topic": "%DLQ%G", "offset": 0},
    ]
    checked = check(HEARTBEATS, retry, end=300_000)
    assert checked.broken == {MOVES: (1, 0)}
    assert reasons(checked) == [Reason.NO_OWNER]


def test_the_queues_of_a_broadcasting_client_are_its_own() -> None:
    held = [assign(1_000, "one", 0), found(2_000, "one", 0, 2, log=50), *consumed(3_000, "one", 0, 1)]
    others = [heartbeat(t, "two", "T=*@1") for t in range(1_000, 400_000, 30_000)]
    assert check(held, others, crash(5_000, "one"), end=400_000, groups=BROADCASTING).broken == {}
    assert check(held, others, HEARTBEATS, revoke(5_000, "one"), end=400_000, groups=BROADCASTING).broken == {
        MOVES: (1, 0),
        "every-queue-gets-an-owner": (1, 0),
    }


def test_a_queue_without_owner() -> None:
    checked = check(HEARTBEATS, BEHIND, revoke(5_000, "one"), end=400_000)
    assert reasons(checked) == [Reason.NO_OWNER]
    # Nobody consumes, nothing moves.
    assert check(BEHIND, revoke(5_000, "one"), end=400_000).counts(MOVES) == (0, 0)


def test_an_owner_from_before_the_recording_is_known_by_what_it_asks_for() -> None:
    # Two have the queue when the recording begins, one of them gives it up.
    gone = [*HEARTBEATS, assign(1_000, "one", 0), found(2_000, "one", 0, 2, log=2), revoke(5_000, "one")]

    def asks(who: str) -> Checked:
        pulls = [event(7_000, Kind.PULL, who, offset=2)]
        pulls += [answered(t, who, "no_new_message", 3, 3, 3) for t in range(20_000, 390_000, 20_000)]
        more = [event(6_000, Kind.STORE, offset=2, origin=7), found(8_000, who, 2, 3), commit(10_000, who, 3)]
        return check(gone, more, pulls, consumed(9_000, who, 2), end=400_000)

    assert reasons(asks("two")) == []
    assert reasons(asks("one")) == [Reason.NO_OWNER]


def test_a_lock_that_cannot_be_had() -> None:
    failed = [event(t, Kind.LOCK, "one", result="failed") for t in range(20_000, 300_000, 20_000)]
    assert reasons(check(BEHIND, failed, end=300_000)) == [Reason.NOT_LOCKED]
    # The lock of a client that has died lasts as long as one that is held.
    within = Settings().stuck + Settings().lock_life
    assert reasons(check(BEHIND, failed[:1], end=20_000 + within)) == []


def test_refused_pulls() -> None:
    refused = [answered(t, "one", "subscription_not_exist", 2, 2, 50) for t in range(20_000, 300_000, 20_000)]
    checked = check(BEHIND, refused, end=300_000)
    assert reasons(checked) == [Reason.REFUSED]
    assert checked.counts(CURRENT) == (1, 0)


def test_pulls_that_bring_nothing_to_a_listener() -> None:
    pulls = [found(t, "one", 2, 2, log=50) for t in range(20_000, 300_000, 20_000)]
    assert reasons(check(BEHIND, pulls, end=300_000)) == [Reason.UNKNOWN]


def test_a_stored_offset_that_does_not_follow() -> None:
    # B8
    done = [assign(1_000, "one", 0), found(2_000, "one", 0, 9), *consumed(3_000, "one", 0, 1), commit(5_000, "one", 2)]
    filtered = [answered(t, "one", "no_matched_message", 9, 40, 40) for t in range(10_000, 300_000, 20_000)]
    checked = check(done, consumed(6_000, "one", *range(2, 9)), filtered)
    assert checked.broken == {MOVES: (1, 0)}
    assert reasons(checked) == [Reason.NOT_COMMITTED]
    (row,) = checked.rows(MOVES)
    assert (row["offset"], row["until"], row["expected"], row["since"]) == (2, 3, 2, 6_010)
    stored = commit(20_000, "one", 40)
    assert check(done, consumed(6_000, "one", *range(2, 9)), filtered, stored).broken == {}


def test_what_was_given_before_the_recording_began_may_hold_the_stored_offset() -> None:
    # The recording begins in mid-run: message 2 was given to a listener before, and that listener still runs.
    begun = [commit(1_000, "one", 2), *(answered(t, "one", "no_new_message", 9, 9, 9) for t in (2_000, 20_000))]
    later = [commit(t, "one", 2) for t in range(30_000, 300_000, 5_000)]
    assert check(begun, later).counts(MOVES)[0] == 0
    # Once the stored offset has passed what was unknown, it has to follow again.
    followed = [commit(40_000, "one", 9), found(50_000, "one", 9, 12), *consumed(51_000, "one", 9, 10, 11)]
    checked = check(begun, followed, [commit(t, "one", 9) for t in range(60_000, 300_000, 5_000)])
    assert reasons(checked) == [Reason.NOT_COMMITTED]
    assert [(row["offset"], row["expected"]) for row in checked.rows(MOVES)] == [(9, 9)]


def test_doubts_about_progress() -> None:
    assert check(BEHIND, gap(100_000, 110_000), end=300_000).doubts(MOVES) == [Doubt.GAP]
    unowned = EVERYTHING - {Kind.ASSIGN, Kind.REVOKE}
    assert check(BEHIND, end=300_000, evidence=unowned).doubts(MOVES) == [Doubt.EVIDENCE]


# Refusals


def refusals(count: int, period: int = 1_000, result: str = "subscription_not_latest") -> list[dict[str, object]]:
    return [answered(10_000 + period * n, "one", result, 2, 2, -1) for n in range(count)]


def test_an_outdated_subscription() -> None:
    # A4
    checked = check(BEHIND, refusals(40))
    assert checked.broken == {CURRENT: (1, 0)}
    (row,) = checked.rows(CURRENT)
    assert (row["since"], row["time"], row["value"], row["expected"]) == (10_000, 49_000, 40, 35_000)
    # Until the heartbeat arrives, it is usual.
    assert check(BEHIND, refusals(30)).broken == {}
    interrupted = found(30_500, "one", 2, 2, log=50)
    assert check(BEHIND, refusals(40), interrupted).broken == {}
    # A broker that began anew meanwhile has to be told again.
    assert check(BEHIND, refusals(40), broker_restart(29_500)).broken == {}
    # It may have been answered meanwhile.
    assert check(BEHIND, refusals(40), gap(20_000, 20_500)).counts(CURRENT) == (0, 1)
    # It gave the queue up, and asked no more, until it took it again.
    again = [{**each, "time": each["time"] + 60_000} for each in refusals(20)]
    assert check(BEHIND, refusals(20), again).broken == {}


def test_heartbeats_wait_for_a_broker_that_does_not_answer() -> None:
    # A thread that sends heartbeats holds their lock until each broker has answered, or its request has timed out.
    def beats(broker: str, *seconds: int) -> list[dict[str, object]]:
        return [{**heartbeat(second * SECOND, "one", "T=*@1"), "broker": broker} for second in seconds]

    reached, other = beats("a", 1, 4, 31), beats("b", 1, 4)
    assert check(BEHIND, refusals(40), reached, other).broken == {}
    # A client that sends no heartbeat to anybody has another reason, and so has one that reaches every broker.
    assert check(BEHIND, refusals(40), reached[:2], other).counts(CURRENT) == (1, 0)
    assert check(BEHIND, refusals(40), reached, beats("b", 1, 4, 32)).counts(CURRENT) == (1, 0)


def test_an_illegal_offset() -> None:
    # G4
    checked = check(BEHIND, refusals(3, 20_000, "offset_illegal"))
    assert checked.broken == {MENDED: (1, 0)}
    (row,) = checked.rows(MENDED)
    assert (row["offset"], row["value"], row["since"], row["time"]) == (2, 3, 10_000, 50_000)
    assert checked.judged(MENDED) == 4
    assert check(BEHIND, refusals(2, 20_000, "offset_illegal")).broken == {}
    mended = answered(31_000, "one", "offset_illegal", 5, 5, -1)
    assert check(BEHIND, refusals(3, 20_000, "offset_illegal"), mended).broken == {}
