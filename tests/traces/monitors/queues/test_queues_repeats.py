"""Messages that are delivered again from their queue: every cause of the closed list, and none."""

from __future__ import annotations

import pytest

from rocketproof.model.history import Cause
from rocketproof.traces.claims.presupposed import Unexplained
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind

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

CLAIM = "every-duplicate-has-a-cause"

ONE_HAS_IT = [assign(1_000, "one", 0), found(1_500, "one", 0, 3), *consumed(2_000, "one", 0, 1, 2)]


def causes(*events: Event | list[Event], **options: object) -> list[Cause]:
    """The causes of all repeats, none of which is a violation."""
    checked = check(*events, **options)  # type: ignore[arg-type]
    assert checked.counts(CLAIM) == (0, 0)
    return [Cause(cause) for _, cause in checked.causes(CLAIM)]


def test_a_clean_run_repeats_nothing() -> None:
    checked = check(ONE_HAS_IT, commit(6_000, "one", 3))
    assert checked.broken == {}
    assert checked.judged(CLAIM) == 3
    assert checked.causes(CLAIM) == []


def test_the_same_window_again_without_a_reason() -> None:
    checked = check(ONE_HAS_IT, deliver(7_000, "one", 1))
    assert checked.counts(CLAIM) == (1, 0)
    (row,) = checked.rows(CLAIM)
    assert (row["offset"], row["until"], row["since"], row["time"]) == (1, 2, 2_020, 7_000)
    assert checked.actor(row["actor"]) == checked.actor(row["other"]) == "one"
    assert (row["origin"], row["value"]) == (2, Unexplained.OTHER)


def test_an_owner_that_was_told_to_begin_below_what_was_stored() -> None:
    told = [commit(6_000, "one", 3), revoke(7_000, "one"), assign(8_000, "one", 0), deliver(8_500, "one", 1)]
    checked = check(ONE_HAS_IT, told)
    assert checked.counts(CLAIM) == (1, 0)
    assert [row["value"] for row in checked.rows(CLAIM)] == [Unexplained.TOLD]
    # An operator may have reset it.
    assert check(ONE_HAS_IT, told, evidence=EVERYTHING - {Kind.RESET}).counts(CLAIM) == (0, 1)


def test_rebalance() -> None:
    again = [revoke(4_000, "one"), assign(5_000, "two", 0), deliver(5_500, "two", 0), deliver(5_510, "two", 1)]
    assert causes(ONE_HAS_IT, again) == [Cause.REBALANCE] * 2


def test_taken_again_by_the_same_client() -> None:
    assert causes(ONE_HAS_IT, revoke(4_000, "one"), assign(5_000, "one", 0), deliver(5_500, "one", 0)) == [
        Cause.REBALANCE
    ]


@pytest.mark.parametrize(("end", "cause"), [(crash, Cause.CRASH), (stop, Cause.SHUTDOWN)])
def test_a_process_that_ended(end, cause) -> None:  # type: ignore[no-untyped-def]
    assert causes(ONE_HAS_IT, end(4_000, "one"), assign(5_000, "two", 0), deliver(5_500, "two", 2)) == [cause]


def test_queues_given_up_at_shutdown() -> None:
    again = [revoke(4_000, "one", "shutdown"), assign(5_000, "two", 0), deliver(5_500, "two", 2)]
    assert causes(ONE_HAS_IT, again) == [Cause.SHUTDOWN]


def test_overlap() -> None:
    both = [assign(1_600, "two", 0), deliver(2_500, "two", 0)]
    assert causes(ONE_HAS_IT, both, revoke(3_000, "one")) == [Cause.OVERLAP]
    assert causes(ONE_HAS_IT, both, revoke(2_400, "one")) == [Cause.REBALANCE]
    taken_meanwhile = [assign(3_000, "two", 0), deliver(3_500, "two", 0), revoke(4_000, "one")]
    assert causes(ONE_HAS_IT, taken_meanwhile) == [Cause.OVERLAP]


def test_a_send_back_that_failed() -> None:
    failed = [deliver(2_100, "one", 3), result(2_200, "one", 3, "later"), send_back(2_300, "one", 3, "failed")]
    assert causes(ONE_HAS_IT, failed, deliver(7_300, "one", 3)) == [Cause.FAILED_SEND_BACK]


def test_a_send_back_that_failed_beside_one_of_another_owner() -> None:
    both = [assign(1_000, "one", 0), assign(1_000, "two", 0), deliver(2_000, "one", 0), deliver(2_010, "two", 0)]
    both += [result(2_100, "one", 0, "later"), send_back(2_110, "one", 0), result(2_200, "two", 0, "later")]
    both += [send_back(2_210, "two", 0, "failed"), deliver(7_200, "two", 0)]
    assert causes(both) == [Cause.OVERLAP, Cause.FAILED_SEND_BACK]


def test_a_send_back_that_succeeded_is_no_cause() -> None:
    failed = [deliver(2_100, "one", 3), result(2_200, "one", 3, "later"), send_back(2_300, "one", 3)]
    checked = check(ONE_HAS_IT, failed, deliver(7_300, "one", 3))
    assert checked.counts(CLAIM) == (1, 0)
    assert [row["value"] for row in checked.rows(CLAIM)] == [Unexplained.FAILED]


def test_suspended() -> None:
    put_off = [assign(1_000, "one", 0), deliver(2_000, "one", 0), result(2_100, "one", 0, "suspend")]
    again = [deliver(3_100, "one", 0), result(3_200, "one", 0)]
    assert causes(put_off, again, groups=ORDERLY) == [Cause.SUSPENDED]
    assert check(put_off, again).counts(CLAIM) == (1, 0)


def test_timeout() -> None:
    expired = [assign(1_000, "one", 0), deliver(2_000, "one", 0), event(9_000, Kind.EXPIRE, "one", offset=0)]
    assert causes(expired, deliver(9_500, "one", 0)) == [Cause.TIMEOUT]


def test_reset_and_correction() -> None:
    reset = event(5_000, Kind.RESET, offset=1)
    again = [revoke(5_100, "one", "reset"), assign(6_000, "one", 1), deliver(6_500, "one", 1)]
    assert causes(ONE_HAS_IT, reset, again) == [Cause.RESET]
    correct = event(5_000, Kind.CORRECT, "one", offset=1)
    assert causes(ONE_HAS_IT, correct, again) == [Cause.OFFSET_CORRECTED]


def test_an_offset_that_went_back() -> None:
    lost = [commit(3_000, "one", 3), broker_restart(3_500), commit(4_000, "one", 1)]
    again = [revoke(4_500, "one"), assign(5_000, "two", 1), deliver(5_500, "two", 1)]
    assert causes(ONE_HAS_IT, lost, again) == [Cause.BROKER_RESTART]
    two_owners = [assign(2_500, "two", 0), commit(3_000, "one", 3), commit(4_000, "two", 1)]
    again = [revoke(4_500, "one"), revoke(4_600, "two"), assign(5_000, "three", 1), deliver(5_500, "three", 1)]
    assert causes(ONE_HAS_IT, two_owners, again) == [Cause.OFFSET_WENT_BACK]


def test_below_the_stored_offset_nothing_is_explained() -> None:
    # B1: the query failed, and the client starts at 0.
    again = [commit(3_000, "one", 3), revoke(4_000, "one"), assign(5_000, "two", 0), deliver(5_500, "two", 1)]
    checked = check(ONE_HAS_IT, again)
    assert checked.broken == {CLAIM: (1, 0)}
    assert [int(row["expected"]) for row in checked.rows(CLAIM)] == [3]


def test_a_query_before_the_last_commit_arrived() -> None:
    late = [
        event(2_900, Kind.OFFSET_QUERY, "two", result="ok", offset=0),
        commit(3_000, "one", 3, "removal"),
        revoke(3_001, "one"),
        assign(3_100, "two", 0),
        deliver(3_500, "two", 1),
    ]
    assert causes(ONE_HAS_IT, commit(2_500, "one", 0), late) == [Cause.REBALANCE]


def test_doubt_by_skew() -> None:
    close = [
        commit(2_500, "one", 1),
        commit(4_000, "one", 3, "removal"),
        revoke(4_001, "one"),
        event(4_020, Kind.OFFSET_QUERY, "two", result="ok", offset=1),
        assign(4_100, "two", 1),
        deliver(4_200, "two", 1),
    ]
    checked = check(ONE_HAS_IT, close)
    assert checked.counts(CLAIM) == (0, 1)
    assert checked.doubts(CLAIM) == [Doubt.SKEW]


def test_an_answer_that_was_under_way_while_an_offset_was_stored() -> None:
    def checked(asked: int | None, answer: int = 1) -> Checked:
        last = [commit(900, "one", 1), commit(4_000, "one", 3, "removal"), revoke(4_001, "one")]
        query = event(4_250, Kind.OFFSET_QUERY, "two", result="ok", offset=answer, due=asked)
        taken = [assign(4_330, "two", answer), deliver(4_430, "two", answer)]
        return check(ONE_HAS_IT, last, query, taken, commit(4_450, "two", answer))

    both = CLAIM, "offset-never-back-without-cause"
    right = checked(3_950)
    assert right.broken == {}
    assert [row["cause"] for row in right.rows(CLAIM)] == [Cause.REBALANCE]
    # It asked later, and was told what was stored before.
    assert [checked(4_240).counts(claim) for claim in both] == [(1, 0), (1, 0)]
    assert [checked(3_950, answer=0).counts(claim) for claim in both] == [(1, 0), (1, 0)]
    # Nobody recorded when it asked.
    assert [checked(None).counts(claim) for claim in both] == [(0, 1), (0, 1)]
    assert checked(None).doubts(CLAIM) == [Doubt.SKEW]


def test_doubt_by_evidence() -> None:
    without = EVERYTHING - {Kind.ASSIGN, Kind.REVOKE}
    bare = [deliver(2_000, "one", 0), result(2_010, "one", 0), deliver(5_000, "two", 0)]
    checked = check(bare, evidence=without)
    assert checked.counts(CLAIM) == (0, 1)
    assert checked.doubts(CLAIM) == [Doubt.EVIDENCE]
    # A query that is not recorded may be older than the last commit.
    late = [commit(2_500, "one", 1), commit(4_000, "one", 3), revoke(4_001, "one"), assign(5_000, "two", 1)]
    checked = check(ONE_HAS_IT, late, deliver(5_200, "two", 1), evidence=EVERYTHING - {Kind.OFFSET_QUERY})
    assert checked.doubts(CLAIM) == [Doubt.EVIDENCE]


def test_doubt_by_gap() -> None:
    checked = check(ONE_HAS_IT, gap(3_000, 4_000), deliver(7_000, "one", 1))
    assert checked.doubts(CLAIM) == [Doubt.GAP]
    # What happened shortly before the first delivery may be behind it as well.
    assert check(ONE_HAS_IT, gap(1_000, 1_900), deliver(7_000, "one", 1)).counts(CLAIM) == (0, 1)
    assert check(ONE_HAS_IT, deliver(7_000, "one", 1), gap(8_000, 9_000)).counts(CLAIM) == (1, 0)


def test_broadcasting_clients_have_offsets_of_their_own() -> None:
    each = [
        event
        for client in ("one", "two")
        for event in (assign(1_000, client, 0), *consumed(2_000, client, 0), commit(3_000, client, 1, "file"))
    ]
    assert causes(each, groups=BROADCASTING) == []
    taken = [start(0, "one"), assign(1_000, "one", 0), *consumed(2_000, "one", 0)]
    died = [crash(4_000, "one"), start(10_000, "one#1"), deliver(4 * MINUTE, "one#1", 0)]
    assert causes(taken, died, groups=BROADCASTING) == [Cause.CRASH]


def test_a_batch_that_stays_whole_comes_again_from_its_beginning() -> None:
    """PL-26: of the batch from 0 to 3, two messages were consumed; the answer from 2 on has all four."""
    first = [assign(1_000, "one", 0), found(1_500, "one", 0, 4), *consumed(2_000, "one", 0, 1), commit(3_000, "one", 2)]
    left = [*first, revoke(4_000, "one"), assign(5_000, "two", 2)]

    def again(count: int) -> tuple[int, int]:
        whole = found(5_500, "two", 2, 4, count)
        return check(left, whole, deliver(6_000, "two", 0), deliver(6_000, "two", 1)).counts(CLAIM)

    assert causes(left, found(5_500, "two", 2, 4, 4), deliver(6_000, "two", 1)) == [Cause.REBALANCE]
    assert again(4) == (0, 0)
    assert again(3) == (1, 0)
    assert sum(again(2)) == 2


def test_a_broadcasting_member_whose_file_may_be_gone() -> None:
    taken = [start(0, "one"), assign(1_000, "one", 0), *consumed(2_000, "one", 0), commit(3_000, "one", 1, "file")]
    anew = [stop(4_000, "one"), start(10_000, "one#1"), assign(11_000, "one#1", 0), deliver(12_000, "one#1", 0)]
    # No broker has its offsets: that one was started again explains nothing.
    for between in ([], [broker_restart(6_000)]):
        checked = check(taken, between, anew, groups=BROADCASTING)
        assert checked.counts(CLAIM) == (0, 1)
        assert checked.doubts(CLAIM) == [Doubt.EVIDENCE]


def test_a_broadcasting_member_whose_file_may_have_lost_a_queue_that_was_away() -> None:
    """OF-10: 4.9.4 writes only the queues that it has, so one that it gives up and takes again begins anew."""
    old = Settings(offsets_kept=False)
    stored = [*ONE_HAS_IT, commit(6_000, "one", 3, path="file")]
    again = [assign(40_000, "one", 0), deliver(41_000, "one", 0)]
    left = check(stored, revoke(20_000, "one"), again, groups=BROADCASTING, settings=old)
    assert left.counts(CLAIM) == (0, 1)
    (row,) = left.rows(CLAIM)
    assert row["doubt"] == Doubt.EVIDENCE
    kept = check(stored, revoke(20_000, "one", path="correction"), again, groups=BROADCASTING, settings=old)
    assert kept.counts(CLAIM) == (1, 0)
    assert check(stored, revoke(20_000, "one"), again, groups=BROADCASTING).counts(CLAIM) == (1, 0)


def test_a_log_that_lost_its_end_uses_offsets_again() -> None:
    lost = [answered(20 * SECOND, "one", "no_new_message", 1, 1, 1), found(30 * SECOND, "one", 1, 2)]
    lost += [deliver(30 * SECOND + 1, "one", 1)]
    assert causes(ONE_HAS_IT, lost) == [Cause.BROKER_RESTART]


def test_an_answer_of_before_is_no_log_that_lost_its_end() -> None:
    # Two twins: each is answered in its own time, and the answer to a pull may be looked at late.
    both = [assign(1_000, "one", 0), assign(1_100, "two", 0)]
    asked = event(1_400, Kind.PULL, "two", offset=0)
    first = [found(1_500, "one", 0, 3), *consumed(2_000, "one", 0, 1, 2)]
    old = [found(2_300, "two", 0, 1), *consumed(2_400, "two", 0, 1)]
    assert causes(both, asked, first, old) == [Cause.OVERLAP, Cause.OVERLAP]
    anew = event(2_200, Kind.PULL, "two", offset=0)
    assert causes(both, anew, first, old) == [Cause.OVERLAP, Cause.BROKER_RESTART]
    unseen = EVERYTHING - {Kind.PULL}
    assert causes(both, first, old, evidence=unseen) == [Cause.OVERLAP, Cause.OVERLAP]


def test_who_took_the_queue_in_a_gap_shows_itself_soon_after_it() -> None:
    unseen = {**gap(10_000, MINUTE), "client": "two", "incarnation": 0, "group": "G"}
    two = [*consumed(MINUTE + 500, "two", 3), *consumed(2 * MINUTE, "two", 4)]
    both = [assign(100_000, "one", 3), *consumed(2 * MINUTE + 5, "one", 4)]
    events = sorted([*ONE_HAS_IT, revoke(9_000, "one"), unseen, *two, *both], key=lambda event: event["time"])
    assert causes(events, complete=True) == [Cause.OVERLAP]
    late = [event for event in events if event["time"] != MINUTE + 500 and event["time"] != MINUTE + 510]
    assert check(late, complete=True).counts(CLAIM)[0] == 1
