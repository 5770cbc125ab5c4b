"""One step after another: each misstep is found where it is sure, and what a right client does is none."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.traces.claims.claims import CODE, claim
from rocketproof.traces.claims.steps import STEPS, Misstep
from rocketproof.traces.explain.titles import title
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group

from ..monitors.queue_events import (
    EVERYTHING,
    Checked,
    broker_restart,
    check,
    commit,
    deliver,
    event,
    found,
    gap,
    result,
    revoke,
    stop,
)

STEPS_CLAIM, FIT, STORES = "steps-follow-each-other", "events-fit-each-other", "stores-follow-each-other"


def asked(time: int, offset: int) -> dict[str, Any]:
    return event(time, Kind.OFFSET_QUERY, "one", result="ok", offset=offset)


def assign(time: int, offset: int) -> dict[str, Any]:
    return event(time, Kind.ASSIGN, "one", offset=offset)


def pull(time: int, offset: int) -> dict[str, Any]:
    return event(time, Kind.PULL, "one", offset=offset)


def removed(time: int, offset: int, low: int) -> dict[str, Any]:
    return event(time, Kind.REMOVED, "one", offset=offset, next=low)


def memory(time: int, offset: int) -> dict[str, Any]:
    return event(time, Kind.COMMIT_MEMORY, "one", offset=offset)


def locked(time: int, kind: Kind = Kind.LOCK) -> dict[str, Any]:
    return event(time, kind, "one", result="ok")


def store(time: int, offset: int) -> dict[str, Any]:
    return event(time, Kind.STORE, group=None, offset=offset, attempt=0)


def done(time: int, offset: int, low: int) -> list[dict[str, Any]]:
    """A message that is consumed, leaves the window and moves the in-memory offset."""
    of = deliver(time, "one", offset, count=1, next=offset + 1), result(time + 1, "one", offset)
    return [*of, removed(time + 2, offset, low), memory(time + 3, low)]


ORDERLY = {"G": Group(listener="orderly")}
BEGIN = [asked(100, 0), memory(101, 0), assign(200, 0), pull(300, 0), found(400, "one", 0, 2), pull(410, 2)]
RIGHT = [*BEGIN, *done(500, 1, 0), *done(600, 0, 2), commit(700, "one", 2)]


def told(*parts: Any, name: str = STEPS_CLAIM, **how: Any) -> list[Misstep]:
    return [Misstep(int(row["value"])) for row in check(*parts, **how).rows(name) if row["doubt"] == 0]


def sentence(checked: Checked, name: str) -> str:
    (row,) = checked.rows(name)
    return title(claim(name), {column: int(row[column]) for column in row.dtype.names}, checked.names)


def test_every_step_says_what_it_rests_on_and_has_its_place() -> None:
    assert [one.misstep for one in STEPS] == list(Misstep)
    for one in STEPS:
        assert one.claim in CODE
        assert one.rules
        assert one.needs
        assert one.statement.endswith(".")


def test_what_follows_step_by_step_is_healthy() -> None:
    checked = check(RIGHT)
    assert checked.broken == {}
    assert checked.judged(STEPS_CLAIM) == checked.judged(FIT) == 1


WRONG: dict[Misstep, list[Any]] = {
    Misstep.NOT_ASKED: [*RIGHT, found(800, "one", 2, 3), found(900, "one", 2, 3)],
    Misstep.ELSEWHERE: [*RIGHT, found(800, "one", 2, 3), pull(900, 4)],
    Misstep.ASKED_TWICE: [*RIGHT, pull(800, 2)],
    Misstep.TAKEN_TWICE: [*RIGHT, asked(800, 2), assign(900, 2)],
    Misstep.NOT_HAD: [*RIGHT, revoke(800, "one"), revoke(900, "one")],
    Misstep.NO_QUERY: [*RIGHT, revoke(800, "one"), assign(900, 2)],
    Misstep.RETURNED_TWICE: [*BEGIN, deliver(500, "one", 0), result(501, "one", 0), result(502, "one", 0)],
    Misstep.NOT_RETURNED: [*BEGIN, deliver(500, "one", 0), removed(502, 0, 1), memory(503, 1)],
    Misstep.NOT_LEFT: [
        *(*BEGIN, deliver(500, "one", 0), result(501, "one", 0)),
        *(*done(600, 1, 2), commit(700, "one", 2), *(commit(t, "one", 2) for t in range(2_000, 8_000, 900))),
        removed(8_000, 0, 2),
    ],
    Misstep.NOT_IN_WINDOW: [*RIGHT, memory(800, 1)],
    Misstep.BEYOND_MEMORY: [*RIGHT, commit(800, "one", 5)],
    Misstep.KEPT: [*RIGHT, event(800, Kind.DISCARDED, "one", offset=1)],
    Misstep.OTHER_ANSWER: [*BEGIN, found(800, "one", 3, 4)],
    Misstep.OTHER_START: [asked(100, 3), assign(200, 0)],
    Misstep.OTHER_MESSAGE: [*BEGIN, deliver(500, "one", 0), result(501, "one", 0) | {"origin": 77}],
    Misstep.OTHER_COUNT: [*BEGIN, deliver(500, "one", 0), result(501, "one", 0) | {"attempt": 1}],
    Misstep.OTHER_NEXT: [*BEGIN, deliver(500, "one", 0, count=1, next=2)],
    Misstep.IMPOSSIBLE: [*BEGIN, found(800, "one", 2, 4, log=2)],
    Misstep.OTHER_BATCH: [*BEGIN, deliver(500, "one", 0, count=2, next=1)],
    Misstep.END_BACK: [*RIGHT, found(800, "one", 2, 3, log=9), pull(810, 3), found(820, "one", 3, 4, log=8)],
    Misstep.NOT_REMEMBERED: [
        *BEGIN,
        *done(500, 0, 1),
        *done(600, 1, 2)[:3],
        *(commit(t, "one", 1) for t in range(1_000, 15_000, 2_000)),
    ],
    Misstep.NEVER_RETURNED: [*BEGIN, deliver(500, "one", 0), event(600, Kind.DISCARDED, "one", offset=0)],
    Misstep.NO_SHUTDOWN: [*RIGHT, commit(800, "one", 2, path="shutdown"), commit(20_000, "one", 2)],
    Misstep.NO_REMOVAL: [*RIGHT, commit(800, "one", 2, path="removal"), commit(20_000, "one", 2)],
    Misstep.NOT_STORED: [store(100, 0), store(200, 2), store(2_000, 3)],
    Misstep.STORED_TWICE: [store(100, 0), store(200, 1), store(300, 0)],
    Misstep.FIRST_COUNT: [store(300, 0) | {"attempt": 1}],
    Misstep.OTHER_TOPIC: [event(300, Kind.DEAD_LETTER, offset=0, attempt=3)],
    Misstep.NOT_BROUGHT: [*BEGIN, *done(500, 0, 1), *done(600, 1, 2), deliver(700, "one", 1)],
    Misstep.NEVER_ASKED: [commit(100, "one", 2), commit(300, "one", 2)],
    Misstep.NOT_LOCKED: [locked(50), locked(1_500, Kind.UNLOCK), asked(2_000, 0), assign(2_100, 0)],
    Misstep.UNLOCKED_EARLY: [locked(50), *BEGIN, locked(800, Kind.UNLOCK), revoke(70_000, "one")],
    Misstep.LOCK_OVER: [locked(50), *BEGIN, locked(30_000) | {"result": "failed"}, *done(70_000, 0, 1)],
}
OF_ORDERLY = (Misstep.NOT_LOCKED, Misstep.UNLOCKED_EARLY, Misstep.LOCK_OVER)


def groups_of(misstep: Misstep) -> dict[str, Any]:
    return {"groups": ORDERLY} if misstep in OF_ORDERLY else {}


@pytest.mark.parametrize("misstep", list(Misstep))
def test_a_misstep_is_found_where_its_kinds_were_recorded(misstep: Misstep) -> None:
    step = STEPS[misstep]
    parts = WRONG[misstep]
    # The commit, the memory or the answer that follows may be wrong too.
    assert misstep in told(parts, name=step.claim, complete=misstep is Misstep.NEVER_ASKED, **groups_of(misstep))
    for kind in step.needs:
        less = EVERYTHING - {kind}
        assert misstep not in told(parts, name=step.claim, evidence=less, complete=True, **groups_of(misstep))


@pytest.mark.parametrize("misstep", list(Misstep))
def test_a_misstep_is_in_doubt_where_a_step_may_be_lost(misstep: Misstep) -> None:
    step = STEPS[misstep]
    lost, complete = gap(150, 160), misstep is Misstep.NEVER_ASKED
    checked = check(WRONG[misstep], lost, complete=complete, **groups_of(misstep))
    assert misstep in [row["value"] for row in checked.rows(step.claim)]
    assert told(WRONG[misstep], lost, name=step.claim, complete=complete, **groups_of(misstep)) == []


def test_it_is_told_in_a_sentence() -> None:
    assert sentence(check(WRONG[Misstep.ELSEWHERE]), STEPS_CLAIM) == (
        "one pulled T@b:0 from offset 4, and was to go on from 3"
    )
    assert sentence(check(WRONG[Misstep.OTHER_COUNT]), FIT) == (
        "one ended offset 0 of T@b:0 with another count than it was given, 0"
    )


def test_what_a_restart_of_the_broker_or_an_end_of_the_client_makes_right() -> None:
    back = WRONG[Misstep.END_BACK]
    assert told(*back, broker_restart(815), name=FIT) == []
    assert told(*WRONG[Misstep.STORED_TWICE], broker_restart(250), name=STORES) == []
    assert told(*WRONG[Misstep.NO_SHUTDOWN], stop(900, "one")) == []
    assert told(*WRONG[Misstep.NO_REMOVAL][:-1], revoke(900, "one")) == []


def test_a_queue_is_not_taken_whose_offset_could_not_be_read() -> None:
    failed = asked(800, 0) | {"result": "failed"}
    left = [*RIGHT, revoke(750, "one"), failed]
    assert told(left, assign(900, 2)) == [Misstep.NO_QUERY]
    assert told(left, asked(850, 2), assign(900, 2)) == []


def test_stores_of_several_threads_may_be_told_in_another_order() -> None:
    assert told(store(100, 0), store(200, 2), store(210, 1), store(5_000, 3), name=STORES) == []


def test_a_listener_that_commits_by_hand_tells_the_fate_of_messages_again() -> None:
    again = [result(510, "one", 0, "rollback"), deliver(520, "one", 0), result(530, "one", 0, "commit")]
    assert told(BEGIN, deliver(500, "one", 0), result(501, "one", 0), again) == []


def test_the_listener_of_an_earlier_window_may_run_still() -> None:
    again = [revoke(600, "one"), asked(700, 0), assign(800, 0), pull(900, 0), found(950, "one", 0, 2)]
    assert told(BEGIN, deliver(500, "one", 0), again, done(1_000, 0, 1), result(2_000, "one", 0)) == []


@pytest.mark.parametrize("first", ["of the window before", "of this window"])
def test_what_runs_in_two_windows_is_discarded_by_the_one_before(first: str) -> None:
    """Which of two listeners of one client has returned is not told."""
    again = [asked(600, 0), memory(601, 0), assign(610, 0), pull(620, 0), found(630, "one", 0, 2), pull(631, 2)]
    twice = [deliver(500, "one", 0, count=1, next=1), revoke(550, "one"), *again]
    twice.append(deliver(640, "one", 0, count=1, next=1))
    old, new = [result(0, "one", 0), event(1, Kind.DISCARDED, "one", offset=0)], [result(0, "one", 0), removed(1, 0, 1)]
    order = [*old, *new] if first == "of the window before" else [*new, *old]
    ends = [{**one, "time": one["time"] + 700 + 10 * number} for number, one in enumerate(order)]
    assert told(BEGIN, twice, ends) == []
    assert told(BEGIN, twice, ends, event(800, Kind.DISCARDED, "one", offset=0)) == [
        Misstep.KEPT,
        Misstep.NEVER_RETURNED,
    ]


def test_a_listener_that_commits_itself_leaves_messages_in_the_window_and_rolls_them_back() -> None:
    def ended(time: int, offset: int, how: str) -> dict[str, Any]:
        return event(time, Kind.RESULT, "one", offset=offset, result=how)

    given = [deliver(500, "one", 0, count=1, next=1), ended(501, 0, "ok"), deliver(502, "one", 1, count=1, next=2)]
    waits = event(60_000, Kind.PULL_RESULT, "one", result="no_new_message", offset=2, next=2, min=0, max=2)
    rolled = [*BEGIN, *given, ended(503, 1, "rollback"), ended(503, 0, "rollback")]
    assert told(rolled, waits, groups=ORDERLY) == []
    assert told(BEGIN, given[:2], waits, groups=ORDERLY) == []
    twice = [*given[:2], ended(503, 0, "ok")]
    assert told(BEGIN, twice, waits, groups=ORDERLY) == [Misstep.RETURNED_TWICE]


def test_a_thread_may_be_overtaken_by_many_others_before_it_sets_the_offset() -> None:
    begin = [asked(100, 0), memory(101, 0), assign(200, 0), pull(300, 0), found(400, "one", 0, 40), pull(410, 40)]
    all_ = [one for n in range(40) for one in done(500 + 10 * n, n, n + 1) if n != 3 or one["kind"] != "commit_memory"]
    assert told(begin, all_, memory(940, 4)) == []
    assert told(begin, all_, memory(9_400, 4)) == [Misstep.NOT_IN_WINDOW]


def test_the_thread_that_sets_the_offset_may_tell_so_after_the_one_that_stores_it() -> None:
    left = [*BEGIN, *done(500, 0, 1), *done(600, 1, 2)[:3]]
    assert told(left, commit(700, "one", 2), memory(1_500, 2)) == []
    assert told(left, commit(1_700, "one", 2), memory(1_800, 2)) == [Misstep.BEYOND_MEMORY]
    assert told(left, commit(700, "one", 3), memory(800, 2)) == [Misstep.BEYOND_MEMORY]


def test_a_client_that_resets_sets_the_offset_when_it_has_waited() -> None:
    ordered = [event(800, Kind.RESET, offset=0), found(850, "one", 2, 4), pull(900, 4), revoke(1_000, "one", "reset")]
    assert told(RIGHT, ordered, memory(11_000, 0)) == []
    assert told(RIGHT, ordered, memory(11_000, 1)) == [Misstep.NOT_IN_WINDOW]
