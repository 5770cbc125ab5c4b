"""What has to follow on a queue: defects are found, healthy twins are not, nor is anything without its evidence."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.claims.obligations import OBLIGATIONS, Reason
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.clocks.clocks import Clock, Clocks
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group

from ..monitors.queues.queue_events import (
    BROADCASTING,
    EVERYTHING,
    MINUTE,
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
    heartbeat,
    result,
    revoke,
    send_back,
)

MOVES, RESET, LOCKED, LATER, ANSWER = (
    "every-queue-moves",
    "reset-is-followed",
    "orderly-lock-is-renewed",
    "nothing-after-revoke",
    "query-answers-what-is-stored",
)
END = 10 * MINUTE

ALIVE = [heartbeat(t, "one", "T=*@1") for t in range(1_000, END, 30_000)]
TAKEN = [assign(1_000, "one", 0), found(2_000, "one", 0, 4)]


def polls(since: int, at: int, *, end: int = END, log: int | None = None) -> list[dict[str, Any]]:
    """Answers every 20 s that there is nothing beyond an offset."""
    log = at if log is None else log
    return [answered(t, "one", "no_new_message", at, at, log) for t in range(since, end, 20 * SECOND)]


def reasons(checked: Checked, claim: str = MOVES) -> list[Reason]:
    return [Reason(int(row["value"])) for row in checked.rows(claim)]


def test_every_obligation_belongs_to_a_claim_and_says_what_it_rests_on() -> None:
    for one in OBLIGATIONS:
        assert one.claim in CODE
        assert one.rules
        assert one.statement.endswith(".")
        assert one.within(Settings()) >= Settings().rebalance


def test_a_message_below_delivered_ones_that_is_never_delivered() -> None:
    missed = [TAKEN, consumed(3_000, "one", 0, 2, 3), polls(10_000, 4), ALIVE]
    checked = check(*missed, end=END)
    assert checked.broken == {MOVES: (1, 0)}
    assert reasons(checked) == [Reason.NOT_DELIVERED]
    (row,) = checked.rows(MOVES)
    assert (row["offset"], row["since"], row["time"]) == (1, 3_020, END)
    assert check(*missed, consumed(60_000, "one", 1), end=END).broken == {}
    assert check(*missed, consumed(70_000, "one", 1), end=END).broken == {MOVES: (1, 0)}
    # Whoever does not record pulls does not know that it was pulled.
    blind = EVERYTHING - {Kind.PULL, Kind.PULL_RESULT}
    assert check(assign(1_000, "one", 0), consumed(3_000, "one", 0, 2, 3), ALIVE, end=END, evidence=blind).broken == {}


def test_no_consume_timeout_ends_the_call_of_an_orderly_listener() -> None:
    runs = [*TAKEN, *consumed(3_000, "one", 0, 1, 2), deliver(4_000, "one", 3), *polls(10_000, 4), *ALIVE]
    short = Settings(consume_timeout=MINUTE)
    assert reasons(check(runs, end=END, settings=short)) == [Reason.PINNED]
    assert reasons(check(runs, end=END)) == []
    # Each group has its own, and one that says nothing that of all.
    group = runs[0]["group"]
    for timeouts, expected in (({group: MINUTE}, [Reason.PINNED]), ({"other": MINUTE}, []), ({group: 20 * MINUTE}, [])):
        assert reasons(check(runs, end=END, settings=Settings(consume_timeouts=timeouts))) == expected
    assert reasons(check(runs, end=END, settings=Settings(consume_timeout=MINUTE, consume_timeouts={group: END}))) == []
    locks = [event(t, "lock", "one", result="ok") for t in range(1_000, END, 20 * SECOND)]
    assert reasons(check(runs, locks, end=END, settings=short, groups=ORDERLY)) == []


def test_a_message_that_is_filtered_is_not_missed() -> None:
    filtered = [assign(1_000, "one", 0), found(2_000, "one", 0, 4, count=3), *consumed(3_000, "one", 0, 2, 3)]
    alive = [heartbeat(event["time"], "one", "T=a || b@1") for event in ALIVE]
    assert check(filtered, polls(10_000, 4), alive, end=END).broken == {}


def test_a_message_that_waits_in_a_window_that_ends_is_not_missed() -> None:
    missed = [*TAKEN, *consumed(3_000, "one", 0, 2, 3)]
    assert check(missed, revoke(60_000, "one"), end=70_000).broken == {}
    assert check(missed, crash(60_000, "one"), end=70_000).broken == {}


def test_a_failed_message_that_is_neither_sent_back_nor_tried_again() -> None:
    failed = [*TAKEN, deliver(3_000, "one", 0), result(3_100, "one", 0, "later"), *consumed(3_200, "one", 1, 2, 3)]
    around = [*polls(10_000, 4), *ALIVE]
    assert reasons(check(failed, around, end=END)) == [Reason.PINNED]
    assert check(failed, around, send_back(3_300, "one", 0), end=END).broken == {}
    again = [
        each for n in range(1, 119) for each in (deliver(5_000 * n, "one", 0), result(5_000 * n + 9, "one", 0, "later"))
    ]
    kept = [*again, *(send_back(5_000 * n + 20, "one", 0, "failed") for n in range(1, 119))]
    assert MOVES not in check(failed, around, kept, end=END).broken
    no_send_backs = EVERYTHING - {Kind.SEND_BACK}
    assert check(failed, around, end=END, evidence=no_send_backs).counts(MOVES)[0] == 0


def test_commits_of_an_old_value_are_no_progress() -> None:
    done = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), *polls(10_000, 4), *ALIVE]
    old = [commit(t, "one", 2) for t in range(5_000, END, 5_000)]
    checked = check(done, old, end=END)
    assert checked.broken == {MOVES: (1, 0)}
    assert reasons(checked) == [Reason.NOT_COMMITTED]
    (row,) = checked.rows(MOVES)
    assert (row["offset"], row["until"], row["expected"], row["time"]) == (2, 4, 2, END)
    right = [commit(t, "one", 2) if t < 30_000 else commit(t, "one", 4) for t in range(5_000, END, 5_000)]
    assert check(done, right, end=END).broken == {}
    assert check(done, end=END, evidence=EVERYTHING - {Kind.COMMIT}).broken == {}


def test_what_another_client_finished_is_not_finished_for_the_owner_that_is_given_it_again() -> None:
    before = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3)]
    over = [assign(4_000, "two", 0), commit(4_100, "one", 4, "removal"), revoke(4_200, "one")]
    slow = [found(5_000, "two", 0, 4), deliver(5_010, "two", 0), *consumed(5_020, "two", 1, 2, 3)]
    beats = [heartbeat(t, "two", "T=*@1") for t in range(1_000, END, 30_000)]
    kept = [commit(t, "two", 0) for t in range(10_000, END, 5_000)]
    assert MOVES not in check(before, over, slow, beats, kept, polls(10_000, 4), end=END).broken
    through = [result(20_000, "two", 0), commit(25_000, "two", 4)]
    again = [
        *consumed(30_000, "two", 4),
        found(29_000, "two", 4, 5),
        *(commit(t, "two", 4) for t in range(35_000, END, 5_000)),
    ]
    later = [*kept[:2], *through, *again, *polls(40_000, 5)]
    assert reasons(check(before, over, slow, beats, later, end=END)) == [Reason.NOT_COMMITTED]


@pytest.mark.parametrize("ended", [3_900, 4_500])
def test_what_a_client_that_leaves_finishes_last_is_still_to_be_given_to_the_next_one(ended: int) -> None:
    before = [*TAKEN, *consumed(3_000, "one", 0, 1), deliver(3_500, "one", 2), commit(3_600, "one", 2, "shutdown")]
    over = [assign(4_000, "two", 2), result(ended, "one", 2), revoke(4_600, "one", path="shutdown")]
    # The threads of the next one are busy with messages of other queues.
    waits = [found(5_000, "two", 2, 5), *(commit(t, "two", 2) for t in range(10_000, 60_000, 5_000))]
    beats = [heartbeat(t, "two", "T=*@1") for t in range(1_000, 60_000, 30_000)]
    assert MOVES not in check(before, over, waits, beats, end=60_000).broken


def test_a_client_that_never_commits_is_found_where_it_is_known_that_nothing_was_stored() -> None:
    asked = event(500, Kind.OFFSET_QUERY, "one", result="none", offset=None)
    done = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), *polls(10_000, 4), *ALIVE]
    assert reasons(check(asked, done, end=END)) == [Reason.NOT_COMMITTED]
    assert check(done, end=END).broken == {}


def test_an_in_memory_offset_that_stays_behind() -> None:
    done = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), *polls(10_000, 4), *ALIVE]
    memory = event(3_030, Kind.COMMIT_MEMORY, "one", offset=2)
    assert reasons(check(done, memory, end=END)) == [Reason.NOT_IN_MEMORY]
    stored = [commit(3_040, "one", 2), commit(3_090, "one", 4)]
    assert check(done, memory, event(3_080, Kind.COMMIT_MEMORY, "one", offset=4), stored, end=END).broken == {}
    # To move on is not enough: it must come as far as what is finished.
    late = 3_100 + Settings().commit_late
    steps = [event(time, Kind.COMMIT_MEMORY, "one", offset=at) for time, at in ((3_100, 2), (late - 1_000, 3))]
    until = [one for one in done if one["time"] <= late]
    assert reasons(check(until, steps, end=late + 1_000)) == [Reason.NOT_IN_MEMORY]
    # PQ-9: a message that was cleaned leaves the in-memory offset where it is until the next one is finished.
    expired = event(3_035, Kind.EXPIRE, "one", offset=3, origin=4)
    assert check(done, memory, expired, stored[:1], end=END).broken == {}


def test_a_broker_that_cannot_be_reached_cannot_be_told_offsets() -> None:
    done = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), *ALIVE, commit(4_000, "one", 2)]
    cut = [event(t, Kind.PULL, "one", offset=4) for t in range(5_000, END, 31_000)]
    assert check(done, cut, end=END).broken == {}
    assert reasons(check(done, polls(5_000, 4), end=END)) == [Reason.NOT_COMMITTED]


def test_a_pull_that_stops_after_one_answer() -> None:
    done = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), *ALIVE]
    seen = answered(10_000, "two", "no_new_message", 4, 4, 9)
    assert reasons(check(done, seen, end=END)) == [Reason.NO_PULLS]
    assert check(done, seen, found(60_000, "one", 4, 9), consumed(60_100, "one", 4, 5, 6, 7, 8), end=END).broken == {}
    # Nobody knows whether a client that falls silent lives.
    silent = [each for each in ALIVE if each["time"] < 60_000]
    last = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), seen]
    assert check(last, silent, end=END).doubts(MOVES) == [Doubt.EVIDENCE]


@pytest.mark.parametrize(("since", "until", "broken"), [(60_000, 550_000, False), (60_000, 70_000, True)])
def test_a_broker_that_is_down_answers_nothing(since: int, until: int, broken: bool) -> None:
    left = [assign(1_000, "one", 0), found(2_000, "one", 0, 4, log=9), *consumed(3_000, "one", 0, 1, 2, 3), *ALIVE]
    down = [{"time": since, "kind": "broker_stop", "broker": "b"}, broker_restart(until)]
    assert (check(left, down, end=END).counts(MOVES) == (1, 0)) is broken


def test_a_reset_that_the_owner_does_not_follow() -> None:
    done = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), commit(4_000, "one", 4), *polls(10_000, 4), *ALIVE]
    reset = event(30_000, Kind.RESET, offset=0)
    undone = [commit(t, "one", 4) for t in range(35_000, END, 5_000)]
    checked = check(done, reset, undone, end=END)
    assert checked.counts(RESET) == (1, 0)
    assert checked.rows(RESET)[0]["since"] == 50_000  # the first answer after it
    assert checked.judged(RESET) == 2  # as one that pulls on, and as any
    followed = [revoke(45_000, "one", "reset"), assign(46_000, "one", 0), found(47_000, "one", 0, 4)]
    assert RESET not in check(done, reset, followed, consumed(48_000, "one", 0, 1, 2, 3), end=END).broken
    assert RESET not in check(done, reset, undone, end=END, evidence=EVERYTHING - {Kind.ASSIGN}).broken


def test_who_goes_on_pulling_hears_of_a_reset_soon() -> None:
    reset = event(30_000, Kind.RESET, offset=0)
    done = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), commit(4_000, "one", 4), *ALIVE]

    def left(at: int, *, groups: dict[str, Group] | None = None, until: int = END) -> bool:
        gone = revoke(at, "one", "removal")
        polled = polls(10_000, 4, end=min(at, until))
        alone = [one for one in done if one["time"] < at]
        return RESET in check(alone, polled, reset, gone, end=at, groups=groups).broken

    assert left(111_000)
    assert not left(109_000)
    # The listener of an orderly queue may keep it from being taken anew (RB-35), and who does not pull is not told.
    assert not left(111_000, groups=ORDERLY)
    assert not left(111_000, until=31_000)


def test_a_lock_that_is_never_renewed() -> None:
    owned = [assign(1_000, "one", 0), *polls(2_000, 0), *ALIVE]
    renewed = [event(t, Kind.LOCK, "one", result="ok") for t in range(900, END, 20_000)]
    assert check(owned, renewed, end=END, groups=ORDERLY).broken == {}
    checked = check(owned, renewed[:1], end=END, groups=ORDERLY)
    assert checked.broken == {LOCKED: (1, 0)}
    assert (checked.rows(LOCKED)[0]["since"], checked.rows(LOCKED)[0]["time"]) == (1_000, END)
    assert check(owned, end=END).broken == {}
    assert check(owned, renewed[:1], end=END, groups=ORDERLY, evidence=EVERYTHING - {Kind.LOCK}).broken == {}


def test_a_queue_that_was_given_up_and_is_consumed_all_the_same() -> None:
    given_up = [*TAKEN, *consumed(3_000, "one", 0), revoke(10_000, "one"), assign(10_500, "two", 1)]
    others = [found(10_600, "two", 1, 4), *consumed(10_700, "two", 1, 2, 3)]
    assert LATER not in check(given_up, others, consumed(10_100, "one", 1)).broken
    checked = check(given_up, others, consumed(40_000, "one", 2))
    assert checked.counts(LATER) == (1, 0)
    (row,) = checked.rows(LATER)
    assert (row["offset"], row["since"], row["value"]) == (2, 10_000, 30_000)
    assert LATER not in check(given_up, others, assign(30_000, "one", 1), consumed(40_000, "one", 2)).broken
    unowned = EVERYTHING - {Kind.ASSIGN}
    assert check(given_up, others, consumed(40_000, "one", 2), evidence=unowned).counts(LATER)[0] == 0


def test_an_answer_that_is_not_what_was_stored() -> None:
    stored = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), commit(5_000, "one", 4)]

    def asked(time: int, offset: int) -> dict[str, Any]:
        return event(time, Kind.OFFSET_QUERY, "two", result="ok", offset=offset)

    assert check(stored, asked(60_000, 4)).judged(ANSWER) == 1
    assert ANSWER not in check(stored, asked(60_000, 4)).broken
    checked = check(stored, asked(60_000, 2))
    assert checked.counts(ANSWER) == (1, 0)
    (row,) = checked.rows(ANSWER)
    assert (row["value"], row["expected"], row["since"]) == (2, 4, 5_000)
    # A commit may be under way, and a broker starts with what it had written.
    assert ANSWER not in check(stored, asked(6_000, 2)).broken
    assert ANSWER not in check(stored, broker_restart(50_000), asked(60_000, 2)).broken
    assert check(stored, asked(60_000, 7)).doubts(ANSWER) == [Doubt.SKEW]


BY_BROKER = Clocks(clocks={Actor("b", -1): Clock(recorder=Actor("b", -1), pairs=0)})


def test_an_answer_older_than_what_was_under_way() -> None:
    steady = [commit(t, "one", t // 1_000) for t in range(5_000, 200_000, 1_000)]
    taken = [broker_restart(500), assign(1_000, "one", 0)]

    def told(offset: int | None, *others: dict[str, Any], clocks: Clocks | None = BY_BROKER) -> tuple[int, int]:
        result = "none" if offset is None else "ok"
        query = event(199_500, Kind.OFFSET_QUERY, "two", result=result, offset=offset)
        return check(taken, steady, list(others), query, clocks=clocks).counts(ANSWER)

    assert told(199) == told(196) == (0, 0)
    assert told(180) == told(None) == (1, 0)
    # What clients say that they have sent may not have come to the broker.
    assert told(180, clocks=None) == (0, 0)
    # A broker that starts anew has what was in its file, which it writes every few seconds.
    assert told(150, broker_restart(199_100)) == (0, 0)
    assert told(20, broker_restart(199_100)) == told(None, broker_restart(199_100)) == (1, 0)


def test_a_reset_that_the_next_query_does_not_answer() -> None:
    stored = [assign(1_000, "one", 0), *(commit(t, "one", 90) for t in range(5_000, 30_000, 5_000))]
    asked = event(60_000, Kind.OFFSET_QUERY, "one", result="ok", offset=90)
    checked = check(stored, event(30_000, Kind.RESET, offset=5), asked)
    assert checked.counts(ANSWER) == (1, 0)
    assert check(stored, event(59_000, Kind.RESET, offset=5), asked).counts(ANSWER) == (0, 0)


def test_pulls_that_stop_after_answers_with_messages() -> None:
    pulls = [
        [event(t, Kind.PULL, "one", offset=t // 1_000), found(t + 10, "one", t // 1_000, t // 1_000 + 1)]
        for t in range(1_000, 60_000, 1_000)
    ]
    all_done = [each for t in range(1_000, 60_000, 1_000) for each in consumed(t + 20, "one", t // 1_000)]
    stops = check(assign(500, "one", 1), *pulls, all_done, ALIVE, end=END)
    assert reasons(stops) == [Reason.NOT_POLLED]
    # Whoever records only the first pull of a window was not seen to ask again.
    assert check(assign(500, "one", 1), pulls[0], all_done[:3], ALIVE, end=END).counts(MOVES) == (0, 0)


def test_a_broadcasting_client_that_does_not_write_its_offset() -> None:
    done = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), *polls(10_000, 4), *ALIVE]
    moves = [event(t, Kind.COMMIT_MEMORY, "one", offset=at) for at, t in enumerate(range(3_100, 3_500, 100), 1)]
    written = [commit(t, "one", 4, "file") for t in range(5_000, END, 5_000)]
    assert check(done, moves, written, end=END, groups=BROADCASTING).broken == {}
    checked = check(done, moves, commit(3_200, "one", 2, "file"), end=END, groups=BROADCASTING)
    assert reasons(checked) == [Reason.NOT_COMMITTED]
    (row,) = checked.rows(MOVES)
    assert (row["offset"], row["until"], row["time"]) == (2, 3, END)
    # It was never written: it began at 0, as its file says.
    never = check(done, moves, commit(3_200, "two", 2, "file"), end=END, groups=BROADCASTING)
    assert never.doubts(MOVES) == [Doubt.NONE]
    unseen = check(done, moves, end=END, groups=BROADCASTING, evidence=EVERYTHING - {Kind.COMMIT})
    assert unseen.broken == {}


def test_what_a_broadcasting_client_fails_to_consume_is_dropped() -> None:
    failed = [*TAKEN, deliver(3_000, "one", 0), result(3_100, "one", 0, "later"), *consumed(3_200, "one", 1, 2, 3)]
    around = [*polls(10_000, 4), *ALIVE]

    def file(at: int) -> list[dict[str, Any]]:
        return [commit(t, "one", at, "file") for t in range(5_000, END, 5_000)]

    assert check(failed, around, file(4), end=END, groups=BROADCASTING).broken == {}
    checked = check(failed, around, file(0), end=END, groups=BROADCASTING)
    assert reasons(checked) == [Reason.NOT_COMMITTED]
    (row,) = checked.rows(MOVES)
    assert (row["offset"], row["until"], row["since"]) == (0, 1, 3_100)
    unseen = EVERYTHING - {Kind.RESULT}
    assert check(failed, around, file(0), end=END, groups=BROADCASTING, evidence=unseen).broken == {}


def test_an_in_memory_offset_of_a_broadcasting_client_that_stays_behind() -> None:
    done = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), *polls(10_000, 4), *ALIVE]
    moves = [event(t, Kind.COMMIT_MEMORY, "one", offset=2) for t in range(3_100, 3_500, 100)]
    written = [commit(t, "one", 2, "file") for t in range(5_000, END, 5_000)]
    assert reasons(check(done, moves, written, end=END, groups=BROADCASTING)) == [Reason.NOT_IN_MEMORY]
