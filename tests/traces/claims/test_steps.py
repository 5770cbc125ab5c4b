"""One step after another: each misstep is found where it is sure, and what a right client does is none."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.traces.claims.claims import CODE, claim
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.claims.steps import Misstep
from rocketproof.traces.clocks.clocks import Clock, Clocks
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.explain.titles import title
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, slave_of

from ..monitors.queues.queue_events import (
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


def written(time: int) -> dict[str, Any]:
    """The broker lives."""
    return event(time, Kind.FILE_PERSIST, group=None, topic=None, queue=None)


def done(time: int, offset: int, low: int) -> list[dict[str, Any]]:
    """A message that is consumed, leaves the window and moves the in-memory offset."""
    of = deliver(time, "one", offset, count=1, next=offset + 1), result(time + 1, "one", offset)
    return [*of, removed(time + 2, offset, low), memory(time + 3, low)]


def beats(time: int, client: str = "one", expression: str = "*") -> dict[str, Any]:
    subscriptions = [f"T={expression}@7"]
    return event(time, Kind.HEARTBEAT, client, topic=None, broker=None, queue=None, subscriptions=subscriptions)


def passes(time: int, *, client: str = "one", queues: tuple[str, ...] = ("b:0",)) -> dict[str, Any]:
    return event(time, Kind.REBALANCE, client, broker=None, queue=None, members=["one"], queues=list(queues))


def nothing(time: int) -> dict[str, Any]:
    return found(time, "one", 2, 2) | {"result": "no_new_message", "count": 0}


def unanswered(time: int) -> list[dict[str, Any]]:
    error = event(time + 30_000, Kind.PULL_RESULT, "one", offset=2, result="error")
    return [pull(time, 2), error, passes(time + 20_000)]


def denied(time: int, end: int = 4) -> dict[str, Any]:
    return found(time, "one", 2, 2, count=0, log=end) | {"result": "no_new_message"}


def led(time: int, after: int, end: int) -> dict[str, Any]:
    return found(time, "one", 2, after, count=0, log=end) | {"result": "no_matched_message"}


def put_off(time: int, path: str) -> dict[str, Any]:
    return event(time, Kind.FLOW_CONTROL, "one", path=path)


def full(messages: int) -> list[dict[str, Any]]:
    """A window with so many messages."""
    return [*BEGIN[:-2], found(400, "one", 0, messages)]


def unsent(time: int, path: str, offset: int = 0) -> dict[str, Any]:
    failed = {"result": "failed", "origin": offset + 1, "attempt": 0}
    return event(time, Kind.SEND_BACK, "one", offset=offset, path=path, **failed)


def moved(time: int, offset: int, due: int, level: int = 3) -> dict[str, Any]:
    """A retry comes from its level."""
    return event(time, Kind.DELAY_DELIVER, topic="%RETRY%G", offset=offset, attempt=1, level=level, due=due)


def illegal(time: int, offset: int, end: int) -> dict[str, Any]:
    return found(time, "one", offset, end, count=0, log=end) | {"result": "offset_illegal"}


def woken(*lates: int) -> list[dict[str, Any]]:
    """Pulls that wait, each for a message that comes a second later, and are answered so much later, ms."""
    parts = [beats(50), *BEGIN, store(60, 0), store(70, 1), written(500_000)]
    for n, late in enumerate(lates):
        stored = 20_000 * n + 11_000
        parts += [store(stored, 2 + n), found(stored + late, "one", 2 + n, 3 + n), pull(stored + late + 5, 3 + n)]
        parts.append(passes(stored + 2_000))
    return parts


def told_of_nothing(*lates: int) -> list[dict[str, Any]]:
    """The same, where the pulls are answered every second that there is nothing."""
    parts = woken(*lates)
    for n, late in enumerate(lates):
        for time in range(20_000 * n + 11_900, 20_000 * n + 11_000 + late, 1_000):
            none = found(time, "one", 2 + n, 2 + n, count=0, log=2 + n) | {"result": "no_new_message"}
            parts += [none, pull(time + 1, 2 + n)]
    return parts


ORDERLY = {"G": Group(listener="orderly")}
TIMEOUT_TOLD = Settings(consume_timeout_told=True)
BEGIN = [asked(100, 0), memory(101, 0), assign(200, 0), pull(300, 0), found(400, "one", 0, 2), pull(410, 2)]
RIGHT = [*BEGIN, *done(500, 1, 0), *done(600, 0, 2), commit(700, "one", 2)]


def told(*parts: Any, name: str = STEPS_CLAIM, **how: Any) -> list[Misstep]:
    return [Misstep(int(row["value"])) for row in check(*parts, **how).rows(name) if row["doubt"] == 0]


def sentence(checked: Checked, name: str) -> str:
    (row,) = checked.rows(name)
    return title(claim(name), {column: int(row[column]) for column in row.dtype.names}, checked.names)


def test_every_step_says_what_it_rests_on() -> None:
    for one in (row.step for row in Misstep):
        assert one.claim in CODE
        assert one.rules
        assert one.needs
        assert one.statement.endswith(".")


def test_what_follows_step_by_step_is_healthy() -> None:
    checked = check(RIGHT)
    assert checked.broken == {}
    assert checked.judged(STEPS_CLAIM) == checked.judged(FIT) == 1


@pytest.mark.parametrize(("kind", "field"), [("pull_result", "count"), ("pull_result", "next"), ("removed", "next")])
def test_what_an_event_does_not_tell_is_no_misstep(kind: str, field: str) -> None:
    """A recorder may leave out everything but the offset: how much is cached, and the marks, are then not known."""
    untold = [each | {field: None} if each["kind"] == kind else each for each in [*RIGHT, nothing(800), memory(801, 2)]]
    checked = check([*untold, pull(810, 2)])
    assert checked.broken == {}
    assert checked.judged(STEPS_CLAIM) == 1


def test_a_pull_from_nowhere_is_answered_as_well() -> None:
    """RB-42: a 4.9 client that could not learn where to begin asks from -1, which counts as not known."""
    nowhere = event(700, Kind.PULL, "one")
    illegal = event(800, Kind.PULL_RESULT, "one", result="offset_illegal", next=0)
    checked = check(asked(200, 0), assign(300, 0), nowhere, illegal)
    assert checked.broken == {}


def test_a_broadcasting_client_sets_what_its_file_holds_when_it_takes_a_queue_again() -> None:
    """OF-3: the correction was in memory only, as 4.9 writes only queues that it has."""

    def refused(time: int) -> list[dict[str, Any]]:
        answer = event(time + 10, Kind.PULL_RESULT, "one", result="offset_illegal", offset=2, next=9, min=9, max=20)
        return [pull(time, 2), answer, revoke(time + 10, "one", path="correction")]

    events = [
        event(0, Kind.CLIENT_START, "one", topic=None, broker=None, queue=None),
        *(memory(90, 2), assign(100, 2), *refused(200), commit(5_000, "one", 2, path="file")),
        *(event(10_300, Kind.CORRECT, "one", offset=9), memory(10_301, 9)),
        *(memory(20_000, 2), assign(20_001, 2), *refused(20_100)),
        *(event(30_200, Kind.CORRECT, "one", offset=9), memory(30_201, 9), commit(30_300, "one", 9, path="file")),
        *(memory(40_000, 9), assign(40_001, 9), pull(40_100, 9), found(40_200, "one", 9, 10), *done(40_300, 9, 10)),
    ]
    assert told(events, groups={"G": Group(mode="broadcasting")}) == []
    late = [each | {"offset": 3} if each["time"] == 20_000 else each for each in events]
    assert told(late, groups={"G": Group(mode="broadcasting")}) == [Misstep.NOT_IN_WINDOW]


RESET_TO_1 = [*RIGHT, event(900, Kind.RESET, offset=1), revoke(910, "one", path="reset")]


def unheard(until: int, *parts: dict[str, Any]) -> list[Any]:
    """One sends heartbeats to another broker only, and pulls from this one as well."""
    told_both = [beats(50) | {"broker": name} for name in ("b", "c")]
    to_c = [beats(time) | {"broker": "c"} for time in range(30_000, until, 30_000)]
    polls = [one for time in range(15_000, until, 15_000) for one in (nothing(time), pull(time + 10, 2))]
    return [*told_both, *RIGHT, *to_c, *polls, *parts]


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
    Misstep.STORED_TWICE: [store(100, 0), store(200, 1), store(300, 1)],
    Misstep.FIRST_COUNT: [store(300, 0) | {"attempt": 1}],
    Misstep.OTHER_TOPIC: [event(300, Kind.DEAD_LETTER, offset=0, attempt=3)],
    Misstep.NOT_BROUGHT: [*BEGIN, *done(500, 0, 1), *done(600, 1, 2), deliver(700, "one", 1)],
    Misstep.NEVER_ASKED: [commit(100, "one", 2), commit(300, "one", 2)],
    Misstep.NOT_LOCKED: [locked(50), locked(1_500, Kind.UNLOCK), asked(2_000, 0), assign(2_100, 0)],
    Misstep.UNLOCKED_EARLY: [locked(50), *BEGIN, locked(800, Kind.UNLOCK), revoke(70_000, "one")],
    Misstep.LOCK_OVER: [locked(50), *BEGIN, locked(30_000) | {"result": "failed"}, *done(70_000, 0, 1)],
    Misstep.LEFT_UNSTORED: [*RIGHT[:-1], revoke(2_000, "one", path="removal"), commit(20_000, "two", 0)],
    Misstep.PULLED_LEFT: [*RIGHT, revoke(2_000, "one"), commit(6_000, "one", 2), pull(9_000, 2)],
    Misstep.TWO_AT_ONCE: [locked(50), *BEGIN, *(deliver(500 + n, "one", n, count=1, next=n + 1) for n in (0, 1))],
    Misstep.NOT_PULLED_ON: [
        *RIGHT,
        found(800, "one", 2, 2) | {"result": "no_new_message", "count": 0},
        event(5_000, Kind.REBALANCE, "one", broker=None, queue=None),
        revoke(29_000, "one"),
    ],
    Misstep.PASSED_OVER: [*RIGHT[:-1], pull(30_000, 2), commit(30_010, "one", 2)],
    Misstep.NOT_WRITTEN: [*RIGHT[:-1], revoke(2_000, "one", path="shutdown"), store(20_000, 0)],
    Misstep.NOT_UNLOCKED: [
        *[locked(50), *RIGHT, revoke(2_000, "one", path="removal"), locked(80_000) | {"client": "two"}],
        event(60_000, Kind.REBALANCE, "one", broker=None, queue=None),
    ],
    Misstep.NOT_DISCARDED: [
        *[*BEGIN, deliver(500, "one", 0), revoke(600, "one"), result(9_000, "one", 0)],
        *(removed(9_500, 0, 1) | {"client": "two"}, commit(30_000, "two", 1)),
    ],
    Misstep.LOCKED_TWICE: [locked(50), *BEGIN, locked(20_000) | {"client": "two"}],
    Misstep.BELOW_WINDOW: [*RIGHT, pull(1_900, 2), deliver(5_000, "one", 1)],
    Misstep.TOO_SOON: [
        *[locked(50), *BEGIN, deliver(500, "one", 0), result(510, "one", 0, "suspend")],
        *(deliver(512, "one", 0), result(520, "one", 0), removed(521, 0, 1)),
    ],
    Misstep.NOT_HANDED: [
        *(*BEGIN, *done(500, 1, 0), found(600, "one", 2, 9), pull(610, 9)),
        *(event for offset in range(2, 9) for event in done(2_000 * offset, offset, 0)),
    ],
    Misstep.LEFT_OUT: [beats(50), *RIGHT, found(800, "one", 2, 6, count=3), pull(810, 6)],
    Misstep.NOT_ANSWERED: [*RIGHT, *unanswered(2_000), pull(32_010, 2), nothing(33_000), *unanswered(34_000)],
    Misstep.EXPIRED_EARLY: [*BEGIN, deliver(500, "one", 0), event(30_000, Kind.EXPIRE, "one", offset=0)],
    Misstep.NOT_RENEWED: [
        *(locked(50), *RIGHT, *(nothing(time) for time in (15_000, 24_000)), locked(31_000, Kind.LOCK_LOST)),
        *(pull(time, 2) for time in (15_010, 24_010)),
    ],
    Misstep.REFUSED_FREE: [
        *(locked(50), locked(2_000, Kind.UNLOCK)),
        *(locked(time) | {"client": "two", "result": "failed"} for time in (2_100, 14_000, 20_000)),
        *(passes(1_990), passes(13_000, client="two")),
    ],
    Misstep.DENIED: [*RIGHT, *(denied(time) for time in (1_000, 3_000, 6_500)), pull(6_510, 2)],
    Misstep.NOT_FIRST_QUEUE: [event(300, Kind.DEAD_LETTER, topic="%DLQ%G", queue=1, offset=0, attempt=3)],
    Misstep.END_AHEAD: [*RIGHT, found(800, "one", 2, 3, log=9), store(300, 2), written(20_000)],
    Misstep.END_BEHIND: [*RIGHT, store(300, 2), written(20_000), nothing(130_000)],
    Misstep.IDLE_EARLY: [*RIGHT, nothing(15_500), pull(15_510, 2), revoke(40_000, "one", path="expired")],
    Misstep.LED_BEYOND: [*RIGHT, led(800, 3, 2), pull(810, 3), illegal(820, 3, 2)],
    Misstep.NOT_SET: [*RESET_TO_1, asked(11_000, 2), assign(11_010, 2)],
    Misstep.NOT_PERSISTED: [
        *(*RIGHT, *(commit(time, "one", 2, path="periodic") for time in (900, 5_900)), beats(30_000), beats(60_000)),
        *(commit(time, "one", 2, path="piggyback") for time in range(4_000, 64_000, 4_000)),
    ],
    Misstep.BATCH_ABOVE: [
        *(*BEGIN[:-2], found(400, "one", 0, 8), pull(410, 8)),
        *(
            deliver(500 + first, "one", offset, count=2, next=first + 2)
            for first in (0, 2)
            for offset in (first, first + 1)
        ),
        *(deliver(510, "one", offset, count=3, next=7) for offset in (4, 5, 6)),
    ],
    Misstep.NOTHING_CACHED: [*RIGHT, put_off(800, "count")],
    Misstep.OTHER_CONTROL: [*RIGHT, put_off(800, "orderly")],
    Misstep.TOO_FULL: [*full(70_000), pull(900, 70_000)],
    Misstep.CLEANED_ORDERLY: [*BEGIN, deliver(500, "one", 0), event(70_000, Kind.EXPIRE, "one", offset=0)],
    Misstep.CLEANED_BEHIND: [
        *(*RIGHT, found(800, "one", 2, 5), pull(810, 5), *done(820, 2, 3)),
        *(deliver(900 + offset, "one", offset) for offset in (3, 4)),
        event(70_000, Kind.EXPIRE, "one", offset=4),
    ],
    Misstep.SENT_NOTHING: [*BEGIN, commit(800, "one", 0, path="piggyback")],
    Misstep.NO_BROADCAST: [*RIGHT, commit(800, "one", 2, path="piggyback")],
    Misstep.ASKED_UNLOCKED: [asked(40, 0), locked(50), assign(200, 0), pull(300, 0)],
    Misstep.PULLED_UNLOCKED: [
        *(locked(50), *RIGHT, nothing(800), pull(810, 2)),
        *(locked(time) | {"result": "failed"} for time in (20_000, 45_000)),
        locked(20_001) | {"kind": str(Kind.LOCK_LOST), "result": None},
        *(event for time in range(15_000, 80_000, 4_000) for event in (nothing(time), pull(time + 10, 2))),
    ],
    Misstep.NEVER_RESET: [*RIGHT, revoke(800, "one", path="reset")],
    Misstep.NOTHING_WRONG: [*RIGHT, event(800, Kind.CORRECT, "one", offset=1)],
    Misstep.OTHER_REASON: [*RIGHT, revoke(800, "one", path="lock")],
    Misstep.AGAIN_AT_ONCE: [
        *(*BEGIN, deliver(500, "one", 0), result(510, "one", 0, "later")),
        *(unsent(600 + n, way) for n, way in enumerate(("request", "fallback"))),
        deliver(2_000, "one", 0) | {"attempt": 1},
    ],
    Misstep.AGAIN_UNCOUNTED: [
        *(*BEGIN, deliver(500, "one", 0), result(510, "one", 0, "later")),
        *(unsent(600 + n, way) for n, way in enumerate(("request", "fallback"))),
        deliver(5_700, "one", 0) | {"attempt": 0},
    ],
    Misstep.LEGAL: [*RIGHT, illegal(800, 2, 4)],
    Misstep.MARK_LEFT: [*BEGIN, *done(500, 0, 0)],
    Misstep.GIVEN_COUNT: [*BEGIN, deliver(500, "one", 0) | {"attempt": 2}],
    Misstep.PUT_OFF_UNCOUNTED: [
        *[locked(50), *BEGIN, deliver(500, "one", 0, count=1), result(510, "one", 0, "suspend")],
        *(deliver(1_512, "one", 0, count=1), result(1_520, "one", 0), removed(1_521, 0, 1)),
    ],
    Misstep.OTHER_LEVEL: [
        *(*BEGIN, deliver(500, "one", 0), result(510, "one", 0, "later") | {"level": 2}),
        unsent(600, "request") | {"result": "ok", "level": 0},
    ],
    Misstep.OUT_OF_TURN: [moved(20_000, 0, 9_000), moved(20_010, 1, 8_000)],
    Misstep.TARDY: [moved(20_000 * n, n, 20_000 * n - 9_000) for n in range(1, 6)],
    Misstep.WOKEN_LATE: woken(7_000, 6_000, 8_000),
    Misstep.SENT_FINISHED: [
        *(*BEGIN, deliver(500, "one", 0, count=2, next=2), deliver(500, "one", 1, count=2, next=2)),
        *(result(510, "one", 0), result(510, "one", 1, "later"), unsent(520, "request") | {"result": "ok"}),
    ],
    Misstep.STORED_ELSEWHERE: [
        *(store(60, 0) | {"origin": 7}, store(70, 0) | {"origin": 1, "queue": 1}, *BEGIN, deliver(500, "one", 0)),
    ],
    Misstep.OLD_OFFSET: [*RIGHT, commit(15_700, "one", 1)],
    Misstep.LOCKED_LEFT: [
        *(locked(50), *RIGHT, locked(800, Kind.UNLOCK), revoke(810, "one", path="removal")),
        *(locked(20_000), locked(40_000)),
    ],
    Misstep.UNLOCKED_BUSY: [
        *(locked(50), *BEGIN, deliver(500, "one", 0), revoke(600, "one", path="removal")),
        *(locked(700, Kind.UNLOCK), result(900, "one", 0)),
    ],
    Misstep.NO_HEARTBEAT: unheard(200_000),
    Misstep.NOT_HELD: [
        *BEGIN[:-2],
        *(one for n in range(51) for one in (pull(400 + 20 * n, 0), nothing(410 + 20 * n))),
    ],
}
OF_ORDERLY = (
    Misstep.LOCKED_LEFT,
    Misstep.UNLOCKED_BUSY,
    Misstep.NOT_LOCKED,
    Misstep.UNLOCKED_EARLY,
    Misstep.LOCK_OVER,
    Misstep.TWO_AT_ONCE,
    Misstep.NOT_UNLOCKED,
    Misstep.TOO_SOON,
    Misstep.PUT_OFF_UNCOUNTED,
    Misstep.NOT_RENEWED,
    Misstep.REFUSED_FREE,
    Misstep.CLEANED_ORDERLY,
    Misstep.ASKED_UNLOCKED,
    Misstep.PULLED_UNLOCKED,
)


def groups_of(misstep: Misstep) -> dict[str, Any]:
    if misstep in (Misstep.NOT_WRITTEN, Misstep.NO_BROADCAST):
        return {"groups": {"G": Group(mode="broadcasting")}}
    if misstep is Misstep.LOCKED_TWICE:
        return {"groups": ORDERLY, "settings": Settings(lock_life_told=True)}
    if misstep is Misstep.EXPIRED_EARLY:
        return {"settings": TIMEOUT_TOLD}
    return {"groups": ORDERLY} if misstep in OF_ORDERLY else {}


BY_QUEUE = [one for one in Misstep if one is not Misstep.STORED_ELSEWHERE]
"""Found by the folds by queue; for the other one, see ``tests/traces/monitors/messages/test_stored_elsewhere.py``."""


@pytest.mark.parametrize("misstep", BY_QUEUE)
def test_a_misstep_is_found_where_its_kinds_were_recorded(misstep: Misstep) -> None:
    step = misstep.step
    parts = WRONG[misstep]
    # The commit, the memory or the answer that follows may be wrong too.
    assert misstep in told(parts, name=step.claim, complete=misstep.step.complete, **groups_of(misstep))
    for kind in step.needs:
        less = EVERYTHING - {kind}
        assert misstep not in told(parts, name=step.claim, evidence=less, complete=True, **groups_of(misstep))


@pytest.mark.parametrize("misstep", BY_QUEUE)
def test_a_misstep_is_in_doubt_where_a_step_may_be_lost(misstep: Misstep) -> None:
    step = misstep.step
    lost, complete = gap(150, 160), misstep.step.complete
    checked = check(WRONG[misstep], lost, complete=complete, **groups_of(misstep))
    assert misstep in [row["value"] for row in checked.rows(step.claim)]
    assert told(WRONG[misstep], lost, name=step.claim, complete=complete, **groups_of(misstep)) == []


def test_what_another_broker_lost_leaves_no_doubt_of_what_a_process_did() -> None:
    wrong, other = WRONG[Misstep.ELSEWHERE], store(120, 0) | {"broker": "c"}
    assert told(wrong, other, gap(150, 160) | {"broker": "c"}) == [Misstep.ELSEWHERE]
    assert told(wrong, other, gap(150, 160) | {"broker": "b"}) == told(wrong, other, gap(150, 160)) == []


def test_it_is_told_in_a_sentence() -> None:
    assert sentence(check(WRONG[Misstep.ELSEWHERE]), STEPS_CLAIM) == ("one pulled T@b:0 from offset 4 instead of 3")
    assert sentence(check(WRONG[Misstep.OTHER_COUNT]), FIT) == (
        "one ended or sent back offset 0 of T@b:0 with a different count than the one it was given, 0"
    )


def test_messages_of_a_pull_may_be_handed_after_later_ones_for_a_while() -> None:
    overtaken = [*BEGIN, *done(500, 1, 0), found(600, "one", 2, 4), *done(700, 2, 0)]
    assert told(overtaken, done(10_000, 0, 3), done(30_000, 3, 4)) == []
    assert told(overtaken, event(10_900, Kind.EXPIRE, "one", offset=1), done(11_000, 3, 0)) == []
    assert told(overtaken, revoke(5_000, "one"), commit(20_000, "one", 0)) == []


def test_a_pull_may_bring_less_where_messages_are_filtered_or_removed() -> None:
    left_out = WRONG[Misstep.LEFT_OUT]
    assert told(left_out) == [Misstep.LEFT_OUT]
    assert told(left_out, beats(60, "two", "a || b")) == []
    assert told([beats(50, expression="a"), *left_out[1:]]) == []
    later = found(900, "one", 6, 7, log=9) | {"min": 4}
    assert told(left_out, later) == []
    # It was told of them by a pull long before: a compacted topic may have lost some since.
    for log, late in ((3, 800), (2, 61_000)):
        old = [beats(50), *BEGIN[:4], found(400, "one", 0, 2, log=log), *done(500, 1, 0), *done(600, 0, 2)]
        old += [commit(700, "one", 2), pull(late - 100, 2), found(late, "one", 2, 6, count=3), pull(late + 10, 6)]
        (row,) = check(old).rows(STEPS_CLAIM)
        assert (row["value"], row["doubt"]) == (Misstep.LEFT_OUT, Doubt.EVIDENCE)
    # The beginning of the queue has moved since the last answer: its oldest messages are being deleted.
    deleting = [beats(50), *RIGHT, found(800, "one", 2, 6, count=3) | {"min": 1}, pull(810, 6)]
    (row,) = check(deleting).rows(STEPS_CLAIM)
    assert (row["value"], row["doubt"]) == (Misstep.LEFT_OUT, Doubt.EVIDENCE)
    assert told([beats(50), *RIGHT, found(800, "one", 2, 6, count=4), pull(810, 6)]) == []
    # Of two such answers, the one that nothing excuses is told.
    excused = [found(61_000, "one", 2, 6, log=6, count=3), pull(61_010, 6)]
    certain = [found(61_100, "one", 6, 9, count=2), pull(61_110, 9)]
    assert told([beats(50), *RIGHT, *excused, *certain]) == [Misstep.LEFT_OUT]


def test_pull_results_are_judged_without_the_beginning_of_the_queue() -> None:
    def without_min(*events: dict[str, Any]) -> list[dict[str, Any]]:
        return [{name: value for name, value in one.items() if name != "min"} for one in events]

    assert told(without_min(*RIGHT)) == []
    assert told(without_min(*WRONG[Misstep.LEFT_OUT])) == [Misstep.LEFT_OUT]
    beyond = [beats(50), *RIGHT, found(800, "one", 2, 4, log=3, count=1), pull(810, 4)]
    assert told(without_min(*beyond)) == told(beyond) == [Misstep.LEFT_OUT]


def test_a_window_that_begins_within_a_batch_is_given_all_of_it() -> None:
    """PL-26: asked from 2 on, the answer has the batch from 0 to 3, and says nothing of its beginning."""

    def begins(count: int, *given: int) -> list[dict[str, Any]]:
        answer = found(400, "one", 2, 4, count=count, log=4)
        calls = [deliver(5_000 + 10 * n, "one", offset, count=1, next=offset + 1) for n, offset in enumerate(given)]
        return [asked(100, 2), memory(101, 2), assign(200, 2), pull(300, 2), answer, pull(410, 4), *calls]

    whole = begins(4, 0, 1, 2, 3)
    assert (told(whole), told(whole, name=FIT)) == ([], [])
    assert told(begins(4, 2, 3), name=FIT) == [Misstep.IMPOSSIBLE]
    assert told(begins(3, 0, 1, 2, 3), name=FIT) == []
    assert told(begins(3, 0), name=FIT) == [Misstep.IMPOSSIBLE]


def test_a_call_that_ends_after_its_queue_was_given_up_has_some_time_to_be_discarded() -> None:
    wrong = WRONG[Misstep.NOT_DISCARDED][:-1]
    assert told(wrong, commit(19_000, "two", 1)) == []
    assert told(wrong, commit(19_001, "two", 1)) == [Misstep.NOT_DISCARDED]


def test_a_client_that_is_refused_all_the_time_is_told_of_no_message() -> None:
    def refused(until: int, every: int = 10_000) -> list[dict[str, Any]]:
        times = range(1_000, until, every)
        asked_on = [event for time in times for event in (pull(time - 10, 2), nothing(time) | {"result": "error"})]
        return [*RIGHT[:5], *RIGHT[6:], store(300, 2), written(20_000), passes(60_000), *asked_on]

    assert told(refused(140_000), name=STORES) == [Misstep.END_BEHIND]
    assert told(refused(110_000), name=STORES) == []
    # Where it does not ask on, it may be held up by what it has.
    assert told(refused(180_000, every=40_000), name=STORES) == []
    assert told(refused(140_000), nothing(70_000), name=STORES) == []
    # The network may be cut: nothing else shows that the broker was reached.
    unheard = [event for event in refused(140_000) if event["kind"] != Kind.REBALANCE]
    (row,) = check(unheard).rows(STORES)
    assert (row["value"], row["doubt"]) == (Misstep.END_BEHIND, Doubt.EVIDENCE)


def test_a_group_that_is_refused_all_the_time_is_told_of_no_message_whoever_asks() -> None:
    def refused(since: int, until: int, who: str, last: str = "error") -> list[dict[str, Any]]:
        times = range(since, until, 10_000)
        asked_on = [(pull(time - 10, 2), nothing(time) | {"result": "error"}) for time in times]
        asked_on[-1][1]["result"] = last
        named = [event | {"client": who} for one in asked_on for event in one]
        return [*named, passes((since + until) // 2, client=who)]

    stores = [store(300, 2), written(20_000)]
    # It was never told of any end, but asks from where nothing was stored before.
    others = [refused(1_000, 71_000, "two"), refused(71_000, 150_000, "three")]
    assert told([*stores, *others[0], *others[1]], name=STORES) == [Misstep.END_BEHIND]
    assert told([*stores, *refused(1_000, 71_000, "two", "no_new_message"), *others[1]], name=STORES) == []
    assert told([*stores, *refused(1_000, 31_000, "two"), *others[1]], name=STORES) == []
    # The network may have been cut for the first of them.
    unheard = [event for event in others[0] if event["kind"] != Kind.REBALANCE]
    assert [row["doubt"] for row in check([*stores, *unheard, *others[1]]).rows(STORES)] == [Doubt.EVIDENCE]


def test_what_was_stored_while_a_client_was_refused_counts_two_minutes_later() -> None:
    """However often more is stored: each of the last ends of a queue is remembered."""
    ends = [store(time, 2 + at) for at, time in enumerate(range(21_000, 101_000, 20_000))]
    refused = [nothing(time) | {"result": "error"} for time in range(1_000, 175_000, 10_000)]
    asked_on = [event for one in refused for event in (pull(one["time"] - 10, 2), one)]
    found = check([written(20_000), *ends, passes(60_000), *asked_on]).rows(STORES)
    assert [(row["value"], row["expected"]) for row in found] == [(Misstep.END_BEHIND, 4)]


def test_a_pull_that_brings_none_of_what_was_just_stored() -> None:
    def brings_none(late: int) -> list[dict[str, Any]]:
        removing = found(late, "one", 2, 6, count=0) | {"result": "no_matched_message"}
        return [beats(50), *RIGHT, removing, pull(late + 10, 6)]

    assert told(brings_none(800)) == [Misstep.LEFT_OUT]
    # Older ones may just be removed.
    assert told(brings_none(61_000)) == []
    assert told([beats(50, expression="a"), *brings_none(800)[1:]]) == []


def test_a_pull_is_given_up_where_the_broker_is_not_heard_of() -> None:
    silent = WRONG[Misstep.NOT_ANSWERED]
    assert told(silent) == [Misstep.NOT_ANSWERED]
    assert told(silent, broker_restart(20_000)) == []
    # It was heard of while one of them waited.
    assert told([one for one in silent if one["time"] != 22_000]) == []
    several = [one | {"queues": ["b:0", "c:0"]} if one["kind"] == Kind.REBALANCE else one for one in silent]
    assert told(several) == []
    answered = [beats(time) | {"broker": "b"} for time in (22_000, 54_000)]
    assert told(several, answered) == [Misstep.NOT_ANSWERED]
    assert told(several, [one | {"broker": "c"} for one in answered]) == []
    assert told(RIGHT, unanswered(2_000)) == []
    assert told(RIGHT, unanswered(2_000), unanswered(200_000)) == []


def test_a_message_is_cleaned_after_a_minute_at_least() -> None:
    given = [*BEGIN, deliver(500, "one", 0)]
    assert told(given, event(60_400, Kind.EXPIRE, "one", offset=0), settings=TIMEOUT_TOLD) == []
    assert told(WRONG[Misstep.EXPIRED_EARLY]) == []
    # Its time runs from when it was given first: the client may have looked at it before it gave it again.
    again = [result(50_000, "one", 0, "later"), deliver(61_000, "one", 0), event(61_100, Kind.EXPIRE, "one", offset=0)]
    assert told(given, again, settings=TIMEOUT_TOLD) == []


def test_a_message_that_was_sent_back_because_it_took_too_long_leaves_at_once() -> None:
    given = [*BEGIN, deliver(500, "one", 0), event(61_000, Kind.EXPIRE, "one", offset=0)]
    sent = unsent(61_010, "expired") | {"result": "ok", "level": 3}
    late = [*(commit(t, "one", 0) for t in range(62_000, 70_000, 900))]
    late += [result(70_000, "one", 0), removed(70_001, 0, 1), memory(70_002, 1)]
    assert told(given, sent, late) == [Misstep.NOT_LEFT]
    assert told(given, sent, removed(61_020, 0, 1), memory(61_021, 1), late[-3]) == []
    assert told(given, sent | {"result": "failed"}, late) == []
    meanwhile = [result(61_005, "one", 0), sent, removed(61_020, 0, 1), memory(61_021, 1)]
    assert told(given, meanwhile) == []


def test_the_low_water_mark_never_passes_a_message_whose_listener_runs() -> None:
    given = [*BEGIN, deliver(500, "one", 0), deliver(501, "one", 1)]
    first, both = result(502, "one", 0), [removed(504, 0, 2), memory(504, 2), removed(506, 1, 2), memory(506, 2)]
    assert told(given, first, result(503, "one", 1), both) == []  # a thread may be recorded later than it removes
    assert told(given, first, result(505, "one", 1), both) == [Misstep.NOT_RETURNED]
    cleaned = event(61_000, Kind.EXPIRE, "one", offset=1), unsent(61_001, "expired") | {"result": "ok", "level": 3}
    late = [one | {"time": one["time"] + 61_000} for one in (first, *both[:2])]
    assert Misstep.NOT_RETURNED not in told(given, *cleaned, late)


def test_the_one_thread_of_an_orderly_queue_sets_what_it_has_just_removed() -> None:
    first = [*BEGIN, *done(500, 0, 1)[:-1], memory(503, 1), deliver(600, "one", 1), result(601, "one", 1)]
    second = [*first, removed(602, 1, 2)]
    assert told(second, memory(603, 2), groups=ORDERLY) == []
    assert told(second, memory(603, 1), groups=ORDERLY) == [Misstep.NOT_IN_WINDOW]
    assert told(second, memory(603, 1)) == []  # of two threads, one may be late


def test_a_result_after_its_queue_was_given_up_takes_no_message_out_of_the_window() -> None:
    given = [*BEGIN, deliver(500, "one", 0), revoke(600, "one")]
    kept = [result(9_000, "one", 0, "later"), unsent(9_001, "request") | {"result": "ok"}, removed(9_002, 0, 1)]
    assert told(given, kept) == [Misstep.NOT_DISCARDED]
    assert Misstep.NOT_DISCARDED not in told(given, kept, groups=ORDERLY)
    assert told(given, kept[:1], event(9_001, Kind.DISCARDED, "one", offset=0)) == []
    assert told([*BEGIN, deliver(500, "one", 0), result(590, "one", 0), revoke(600, "one"), removed(601, 0, 1)]) == []


def test_a_call_of_an_earlier_window_may_be_discarded_after_the_one_of_this_window_has_returned() -> None:
    again = [revoke(600, "one"), asked(700, 0), assign(800, 0), pull(900, 0), found(1_000, "one", 0, 2)]
    both = [
        deliver(500, "one", 0),
        *again,
        deliver(1_100, "one", 0),
        result(60_000, "one", 0),
        result(60_002, "one", 0),
    ]
    ignored = event(60_003, Kind.DISCARDED, "one", offset=0)
    assert told(BEGIN, both, ignored, removed(60_004, 0, 1), memory(60_005, 1)) == []
    assert told(BEGIN, both, ignored, removed(60_004, 1, 0)) == [Misstep.NOT_RETURNED]


def test_a_lock_is_refused_while_somebody_may_have_it() -> None:
    free = WRONG[Misstep.REFUSED_FREE]
    assert told(free, groups=ORDERLY) == [Misstep.REFUSED_FREE]
    assert told(free, locked(2_200) | {"client": "three"}, groups=ORDERLY) == []
    assert told(free[:3], passes(2_900, client="two"), groups=ORDERLY) == []
    # A broker may have granted a request whose answer was lost.
    assert told(free, locked(2_200) | {"client": "three", "result": "error"}, groups=ORDERLY) == []
    # Nobody knows whether the broker was reached, by who was refused or by who gave the lock back.
    assert told(free[:-1], groups=ORDERLY) == told(free[:-2], free[-1:], groups=ORDERLY) == []
    assert told(free, broker_restart(9_000), groups=ORDERLY) == []


def test_a_late_answer_for_a_window_that_has_ended_may_set_the_in_memory_offset() -> None:
    again = [*RIGHT, revoke(800, "one"), asked(900, 2), assign(1_000, 2)]
    assert told(again, nothing(20_000), memory(20_001, 2)) == []
    assert told(again, nothing(20_000), memory(20_001, 3)) == [Misstep.NOT_IN_WINDOW]


def test_the_in_memory_offset_is_not_set_to_the_end_of_messages_that_were_only_pulled() -> None:
    goes_on = [*RIGHT, found(800, "one", 2, 3), pull(810, 3)]
    assert told(goes_on, memory(820, 3), done(830, 2, 3)) == [Misstep.NOT_IN_WINDOW]
    assert told(goes_on, done(830, 2, 3)) == []
    none = found(800, "one", 2, 3) | {"result": "no_matched_message", "count": 0}
    assert told(RIGHT, none, memory(820, 3), pull(830, 3)) == []


def test_a_shutdown_gives_back_the_lock_of_a_queue_that_is_about_to_be_taken() -> None:
    locks = [locked(50), asked(100, 0), locked(2_000, Kind.UNLOCK)]
    assert told(locks, assign(4_000, 0), groups=ORDERLY) == []
    assert told(locks, asked(3_000, 0), assign(4_000, 0), groups=ORDERLY) == [Misstep.NOT_LOCKED]


def test_a_lock_that_is_refused_for_longer_shows_that_its_broker_answers() -> None:
    free = WRONG[Misstep.REFUSED_FREE][:-1]
    later = [locked(55_000) | {"client": "two", "result": "failed"}]
    answered = beats(40_000, "two") | {"broker": "b"}
    assert told(free, answered, groups=ORDERLY) == []
    assert told(free, answered, later, groups=ORDERLY) == [Misstep.REFUSED_FREE]
    assert told(free, answered | {"broker": "c"}, later, groups=ORDERLY) == []
    assert told(free, answered, [one | {"time": 70_000} for one in later], groups=ORDERLY) == []


def test_a_lock_is_not_refused_to_the_client_that_has_it() -> None:
    refused = locked(20_000) | {"result": "failed"}
    assert told(RIGHT, locked(50), refused, passes(19_000), groups=ORDERLY) == [Misstep.REFUSED_FREE]
    # It may have run out, been given back, or gone to another one; or the broker did not answer at all.
    assert told(RIGHT, locked(50), refused | {"time": refused["time"] + 9_000}, passes(19_000), groups=ORDERLY) == []
    others = locked(9_000) | {"client": "two"}
    assert told(RIGHT, locked(50), others, refused, passes(19_000), groups=ORDERLY) == []
    assert told(RIGHT, locked(50), refused, groups=ORDERLY) == []
    assert told(RIGHT, locked(50), refused, passes(19_000), broker_restart(9_000), groups=ORDERLY) == []


def test_a_thread_that_stood_still_pulls_a_queue_that_was_given_up_once() -> None:
    left = [*RIGHT, revoke(2_000, "one"), pull(20_000, 2)]
    assert told(left, nothing(20_010)) == []
    assert told(left, nothing(34_990), pull(35_000, 2)) == [Misstep.PULLED_LEFT]


def test_what_is_sent_back_has_the_count_with_which_it_was_given() -> None:
    given = [*BEGIN, deliver(500, "one", 0), result(501, "one", 0, "later")]
    back = {"result": "ok", "path": "request", "origin": 1}
    assert told(given, event(502, Kind.SEND_BACK, "one", offset=0, attempt=0, **back), name=FIT) == []
    again = event(502, Kind.SEND_BACK, "one", offset=0, attempt=1, **back)
    assert told(given, again, name=FIT) == [Misstep.OTHER_COUNT]


def test_all_messages_of_a_call_tell_how_many_they_are_and_as_many_are_given() -> None:
    def called(*counts: int) -> list[int]:
        return told(BEGIN, *(deliver(500, "one", at, count=n, next=3) for at, n in enumerate(counts)), name=FIT)

    assert called(3, 3, 3) == []
    assert called(2, 2, 2) == called(3, 3, 2) == [Misstep.OTHER_BATCH]
    # The last two of three come again, in a call of their own.
    ended = [result(501, "one", offset, "later") for offset in range(3)]
    first = [deliver(500, "one", offset, count=3, next=3) for offset in range(3)]
    again = [deliver(6_000, "one", offset, count=2, next=3) | {"attempt": 1} for offset in (1, 2)]
    assert told(BEGIN, first, ended, again, name=FIT) == []


def test_a_lock_that_has_run_out_is_free_where_its_life_is_known() -> None:
    over = [*(locked(time) | {"client": "two", "result": "failed"} for time in (59_000, 75_000)), locked(50)]
    over += [passes(72_000, client="two")]
    told_life = Settings(lock_life_told=True)
    assert told(over, groups=ORDERLY, settings=told_life) == [Misstep.REFUSED_FREE]
    assert told(over, groups=ORDERLY) == []
    assert told(over, locked(20_000), groups=ORDERLY, settings=told_life) == []


def test_a_lock_that_nobody_was_seen_to_have_is_free_when_it_must_have_run_out() -> None:
    def refused(*times: int) -> list[dict[str, Any]]:
        return [locked(time) | {"client": "two", "result": "failed"} for time in times]

    told_life = {"groups": ORDERLY, "settings": Settings(lock_life_told=True)}
    never = [*refused(1_000, 40_000, 80_000), passes(75_000, client="two")]
    assert told(never, **told_life) == [Misstep.REFUSED_FREE]
    assert told(never, groups=ORDERLY) == []
    # Somebody else may have had it, and renewed it; or it was asked for when the earlier one had just run out.
    assert told(never, locked(30_000), **told_life) == []
    assert told(refused(1_000, 40_000, 70_000), passes(69_000, client="two"), **told_life) == []


def test_a_queue_is_given_back_when_its_listener_has_returned() -> None:
    begun = [locked(50), *BEGIN, deliver(500, "one", 0)]
    left = [revoke(15_000, "one", path="removal"), locked(15_010, Kind.UNLOCK), result(18_000, "one", 0)]
    assert told(begun, left, groups=ORDERLY) == [Misstep.UNLOCKED_BUSY]
    # The listener had returned; or the lock was not renewed for 20 s; or the process has ended.
    assert told(begun, result(14_000, "one", 0), left[:-1], groups=ORDERLY) == []
    assert told(begun, [one | {"time": one["time"] + 5_000} for one in left], groups=ORDERLY) == []
    ends = event(15_500, Kind.UNREGISTER, "one", queue=None, topic=None, broker=None)
    assert told(begun, left, ends, groups=ORDERLY) == []


def test_a_client_that_ends_gives_back_the_locks_of_the_queues_it_has() -> None:
    mine = event(1_000, Kind.REBALANCE, "one", broker=None, queue=None, assigned=["b:0"])
    ends = [locked(50), *RIGHT, mine, revoke(20_000, "one", path="shutdown"), locked(80_000) | {"client": "two"}]
    assert told(ends, groups=ORDERLY) == [Misstep.NOT_UNLOCKED]
    assert told(ends, locked(19_900, Kind.UNLOCK), groups=ORDERLY) == []
    assert told(ends, mine | {"time": 19_000, "assigned": []}, groups=ORDERLY) == []
    assert told(ends, broker_restart(19_500), groups=ORDERLY) == []
    # It took the queue while it ended.
    late = [one | {"time": one["time"] + 15_000} for one in ends[:-3]]
    assert told(late, ends[-3:], groups=ORDERLY) == []


def test_a_client_asks_for_its_locks_as_long_as_it_lives() -> None:
    lost = WRONG[Misstep.NOT_RENEWED]
    assert told(lost, groups=ORDERLY) == [Misstep.NOT_RENEWED]
    for answer in ("ok", "failed"):
        assert told(lost, locked(29_000) | {"result": answer}, groups=ORDERLY) == []
    # It stood still until just now.
    slept = [one | {"time": one["time"] + 6_000} if 24_000 <= one["time"] < 31_000 else one for one in lost]
    assert told(slept, groups=ORDERLY) == []


def test_a_broker_that_answers_nobody_holds_up_the_locks_of_the_others() -> None:
    lost = WRONG[Misstep.NOT_RENEWED]
    often = [*range(-20_000, 5_001, 5_000), *range(30_000, 50_000, 5_000)]
    persists = [event(time, Kind.FILE_PERSIST, broker="other", queue=None, topic=None) for time in often]
    assert told(lost, persists, groups=ORDERLY) == []
    all_along = [event(time, Kind.FILE_PERSIST, broker="other") for time in range(-20_000, 50_000, 5_000)]
    assert told(lost, all_along, groups=ORDERLY) == [Misstep.NOT_RENEWED]


def test_what_a_restart_of_the_broker_or_an_end_of_the_client_makes_right() -> None:
    back = WRONG[Misstep.END_BACK]
    assert told(*back, broker_restart(815), name=FIT) == []
    # A slave of the broker answers as well, and is behind it.
    slave = event(50, Kind.BROKER_START, group=None, topic=None, queue=None, broker=slave_of("b"))
    assert told(*back, slave, name=FIT) == []
    assert told(*back, slave | {"broker": slave_of("c")}, name=FIT) == [Misstep.END_BACK]
    beats = [event(60, Kind.HEARTBEAT, "one", broker=name, queue=None, detail="to 10.0.0.1") for name in ("b", None)]
    assert told(*back, *beats, name=FIT) == []  # one of them reached a slave that nobody recorded
    assert [told(*back, beat, name=FIT) for beat in beats] == [[Misstep.END_BACK]] * 2
    assert told(*WRONG[Misstep.STORED_TWICE], broker_restart(250), name=STORES) == []
    crash = event(500, Kind.BROKER_CRASH, group=None, topic=None, queue=None)
    assert told(*WRONG[Misstep.END_AHEAD], crash, name=STORES) == []
    assert told(*WRONG[Misstep.NOT_UNLOCKED], broker_restart(1_500), groups=ORDERLY) == []
    gone = event(1_000, Kind.REBALANCE, "one", broker=None, queue=None, members=["one"], queues=["c:0"])
    assert told(*WRONG[Misstep.NOT_UNLOCKED], gone, groups=ORDERLY) == []
    assert told(*WRONG[Misstep.NO_SHUTDOWN], stop(900, "one")) == []
    assert told(*WRONG[Misstep.NO_SHUTDOWN], stop(900, "one") | {"group": "other"}) == [Misstep.NO_SHUTDOWN]
    left = WRONG[Misstep.LEFT_UNSTORED]
    assert told(*left, broker_restart(3_000)) == told(*left, commit(2_100, "one", 2)) == []
    # A broker that stops leaves the route first, and goes on for a while: a client knows no address of it any more.
    for brokers, expected in ((["b"], [Misstep.LEFT_UNSTORED]), (["c"], []), (["b", "c"], [Misstep.LEFT_UNSTORED])):
        queues = [f"{broker}:0" for broker in brokers]
        passed = event(1_999, Kind.REBALANCE, "one", broker=None, queue=None, members=["one"], queues=queues)
        assert told(*left, passed) == expected
        unlocked = told(*WRONG[Misstep.NOT_UNLOCKED], passed, groups=ORDERLY)
        assert unlocked == ([Misstep.NOT_UNLOCKED] if expected else [])
    # It closes its connections, too, and is done later; who goes on learns of the route without it.
    soon, late = (event(time, Kind.BROKER_STOP, group=None, topic=None, queue=None) for time in (30_000, 40_000))
    goes_on = event(33_000, Kind.REBALANCE, "one", broker=None, queue=None, members=["one"], queues=["c:0"])
    assert [told(*left, stops, goes_on) for stops in (soon, late)] == [[], [Misstep.LEFT_UNSTORED]]
    assert told(*left, soon) == [Misstep.LEFT_UNSTORED]
    # A process that ends meanwhile makes no pass any more; that its pulls fail shows that the broker stops already.
    for failed, excused in ((800, [soon]), (1_900, [])):  # as it ends itself, its pulls fail too
        fails = event(failed, Kind.PULL_RESULT, "one", offset=2, result="error")
        for stops in (soon, late):
            expected = [] if stops in excused else [Misstep.LEFT_UNSTORED]
            assert told(*left, fails, stops, stop(2_010, "one")) == expected
            assert told(*left, fails, stops, stop(22_010, "one")) == [Misstep.LEFT_UNSTORED]
    # It closes its own connections only after it has left its group; another queue of that broker shows the same.
    leaves = event(2_005, Kind.UNREGISTER, "one", topic=None, broker=None, queue=None)
    for failed, expected in ((1_900, []), (2_007, [Misstep.LEFT_UNSTORED])):
        for queue in (0, 1):
            pulls = event(1_000, Kind.PULL, "one", queue=1, offset=2)
            fails = event(failed, Kind.PULL_RESULT, "one", queue=queue, offset=2, result="error")
            assert told(*left, pulls, fails, soon, leaves, stop(2_010, "one")) == expected
    elsewhere = [pulls | {"broker": "c"}, fails | {"broker": "c", "time": 1_900}]
    assert told(*left, elsewhere, soon, leaves, stop(2_010, "one")) == [Misstep.LEFT_UNSTORED]

    # RB-40: what was set in memory after the queue was given up is removed before it is taken again.
    def taken(time: int) -> list[dict[str, Any]]:
        query = event(time, Kind.OFFSET_QUERY, "one", result="none")
        return [query, assign(time + 100, 0), pull(time + 200, 0), revoke(time + 10_000, "one", path="removal")]

    empty = found(12_000, "one", 0, 0, count=0, log=0) | {"result": "no_new_message"}
    assert told(taken(100), empty, memory(12_001, 0), taken(20_000), commit(60_000, "two", 0)) == []
    set_again = memory(25_000, 0), commit(60_000, "two", 0)
    assert told(taken(100), empty, memory(12_001, 0), taken(20_000), *set_again) == [Misstep.LEFT_UNSTORED]
    # What is set while the queue is given up may miss what is stored for it; but something is stored.
    given_up = *RIGHT[:-1], revoke(604, "one", path="removal"), commit(20_000, "two", 0)
    assert told(*given_up) == [Misstep.LEFT_UNSTORED]
    assert told(*given_up, commit(606, "one", 0)) == []


def test_what_is_stored_is_told_to_who_asks_two_minutes_later() -> None:
    def row(*parts: Any) -> list[tuple[int, int, int]]:
        found_rows = check([*RIGHT, written(20_000)], *parts).rows(STORES)
        return [(row["offset"], row["expected"], row["since"]) for row in found_rows]

    assert row(store(300, 2), nothing(130_000)) == [(2, 3, 300)]
    assert row(store(300, 2), nothing(119_000)) == row(store(50_000, 2), nothing(130_000)) == []
    # More and more is stored; of what is told, what was there long before counts.
    more = [store(1_000 * second, 2 + second) for second in range(400)]
    assert row(more, nothing(390_000)) == [(2, 244, 242_000)]
    assert row(more, found(389_000, "one", 2, 302), nothing(390_000)) == []
    # Copies are stored for their group.
    retries = [one | {"topic": "%RETRY%G"} if one.get("topic") else one for one in [*RIGHT, nothing(130_000)]]
    copy = event(300, Kind.DELAY_DELIVER, topic="%RETRY%G", offset=2, attempt=1)
    assert [found["value"] for found in check(retries, written(20_000), copy).rows(STORES)] == [Misstep.END_BEHIND]
    # A broker that began anew may have lost it, and so may one whose topic was made again.
    assert row(store(300, 2), broker_restart(400), broker_restart(500), nothing(130_000)) == []
    stopped = {"time": 450, "kind": str(Kind.BROKER_STOP), "broker": "b"}
    assert row(store(300, 2), broker_restart(400), stopped, broker_restart(500), nothing(130_000)) == [(2, 3, 300)]
    assert row(store(300, 2), store(400, 0), nothing(130_000)) == []


def test_what_listeners_finish_when_their_process_leaves_need_not_be_stored() -> None:
    before = [*BEGIN, *done(500, 1, 0), commit(600, "one", 0, "shutdown")]
    after = [*done(700, 0, 2), revoke(4_000, "one", path="shutdown"), commit(20_000, "two", 0)]
    left = event(590, Kind.UNREGISTER, "one", topic=None, broker=None, queue=None)
    for groups in ({}, {"G": Group(mode="broadcasting")}):
        expected = [Misstep.NOT_WRITTEN if groups else Misstep.LEFT_UNSTORED]
        assert told(before, after, left, groups=groups) == []
        assert told(before, after, left | {"time": 3_900}, groups=groups) == expected
        without = EVERYTHING - {Kind.UNREGISTER}
        assert told(before, after, evidence=without, groups=groups) == []


def test_a_broker_tells_at_the_end_only_that_there_is_nothing() -> None:
    wrong = WRONG[Misstep.DENIED]
    assert told(wrong, name=FIT) == [Misstep.DENIED]
    assert told(RIGHT, *(denied(time, 2) for time in (1_000, 3_000, 6_500)), name=FIT) == []
    assert told(wrong[:-2], denied(5_900), name=FIT) == []
    matched = denied(4_000) | {"result": "no_matched_message"}
    assert told(wrong, matched, name=FIT) == []
    assert told(wrong, evidence=EVERYTHING - {Kind.PULL_RESULT}, name=FIT) == []


def test_of_what_a_client_is_told_each_message_was_stored() -> None:
    stored, told_of = [store(100, 0), store(101, 1)], found(300, "one", 0, 2, log=3)
    assert told(stored, told_of, store(299, 2), written(20_000), name=STORES, complete=True) == []
    # The broker may have stored more when nothing was recorded of it any more; and what was stored first is not known.
    assert told(stored, told_of, name=STORES, complete=True) == []
    assert told(told_of, written(20_000), name=STORES, complete=True) == []
    checked = check(stored, told_of, found(400, "two", 0, 2, log=4), written(20_000), complete=True)
    assert sentence(checked, STORES) == (
        "two was told that T@b:0 ends at offset 4, and nothing was stored from offset 2 on"
    )


@pytest.mark.parametrize("why", ["suspend", "exception", "null", "rollback"])
def test_what_was_put_off_comes_after_a_pause(why: str) -> None:
    def is_told(after: int, *, listener: str = "orderly", again: int = 0) -> bool:
        first = deliver(500, "one", 0), result(510, "one", 0, why)
        later = deliver(after, "one", again), result(after + 10, "one", again), removed(after + 11, again, again + 1)
        groups = {"G": Group(listener=listener)}
        return Misstep.TOO_SOON in told(locked(50), *BEGIN, *first, *later, groups=groups)

    assert is_told(510)
    assert is_told(514)
    assert not is_told(520)
    assert not is_told(510, again=1)
    assert not is_told(510, listener="concurrently")


def test_how_long_a_pause_within_a_second_was_is_not_known() -> None:
    events = deliver(1_000, "one", 0), result(1_000, "one", 0, "suspend"), deliver(1_000, "one", 0)
    assert Misstep.TOO_SOON not in told(locked(50), *BEGIN, *events, groups={"G": Group(listener="orderly")})


@pytest.mark.parametrize("why", ["suspend", "exception", "null"])
def test_what_was_put_off_alone_comes_with_a_higher_count(why: str) -> None:
    def is_told(attempt: int, *, count: int = 1, of: str = "orderly", why: str = why) -> bool:
        calls = [(500, 0, why), (1_600, attempt, "ok")]
        each = [
            (
                deliver(time, "one", 0, count=count, next=count) | {"attempt": times},
                result(time + 10, "one", 0, status) | {"attempt": times},
            )
            for time, times, status in calls
        ]
        groups = {"G": Group(listener=of)}
        left = removed(1_611, 0, 1)
        return Misstep.PUT_OFF_UNCOUNTED in told(
            locked(50), *BEGIN, *(e for one in each for e in one), left, groups=groups
        )

    assert is_told(0)
    assert not is_told(1)
    assert not is_told(2)  # the call between was not recorded
    assert not is_told(0, count=2)
    assert not is_told(0, of="concurrently")
    assert not is_told(0, why="rollback")


def test_a_message_goes_back_with_the_level_that_its_listener_asked_for() -> None:
    def is_told(asked: int | None, sent: int, path: str = "request") -> bool:
        failed = deliver(500, "one", 0), result(510, "one", 0, "later") | {"level": asked}
        return Misstep.OTHER_LEVEL in told(*BEGIN, *failed, unsent(600, path) | {"result": "ok", "level": sent})

    assert is_told(2, 0)
    assert is_told(-1, 0)
    assert is_told(0, 3)
    assert not is_told(3, 3)
    assert not is_told(None, 3)
    assert not is_told(0, 3, "expired")  # PQ-9: always 3
    assert is_told(None, 0, "expired")
    assert is_told(4, 4, "expired")


def test_a_lock_that_was_not_given_back_is_told_though_the_queue_is_taken_again() -> None:
    def is_told(again: int, *parts: Any) -> bool:
        left = [locked(50), *RIGHT, revoke(2_000, "one", path="removal")]
        taken = [locked(again), asked(again + 10, 2), assign(again + 20, 2)]
        balances = [event(time, Kind.REBALANCE, "one", broker=None, queue=None) for time in (1_000, 60_000)]
        return Misstep.NOT_UNLOCKED in told(left, taken, balances, *parts, store(80_000, 0), groups=ORDERLY)

    assert is_told(40_000)
    assert not is_told(20_000)
    assert not is_told(40_000, locked(2_100, Kind.UNLOCK))


def test_a_queue_is_locked_for_as_long_as_its_listener_runs_though_it_is_dropped() -> None:
    """Before 5.0, rounds for all locks leave out none, and a queue is unlocked in the first pass after its listener."""
    begun = [locked(50), *BEGIN, deliver(500, "one", 0), revoke(600, "one", path="removal")]
    rounds = [locked(20_000), locked(40_000), event(50_000, Kind.REBALANCE, "one", broker=None, queue=None)]
    returned = [result(60_000, "one", 0), event(60_001, Kind.DISCARDED, "one", offset=0)]
    end = store(99_000, 0)
    assert told(begun, rounds, end, groups=ORDERLY) == []
    assert told(begun, rounds, returned, locked(80_500, Kind.UNLOCK), end, groups=ORDERLY) == []
    unlocked = [locked(600, Kind.UNLOCK), *returned]
    assert told(begun, rounds, unlocked, end, groups=ORDERLY) == [Misstep.LOCKED_LEFT, Misstep.UNLOCKED_BUSY]


def test_a_queue_may_be_unlocked_late_for_an_earlier_window() -> None:
    """``unlockDelay``: the window that has begun since goes on until the locks are renewed."""
    left = [locked(50), *RIGHT, revoke(2_000, "one", path="removal")]
    again = [locked(12_000), asked(12_010, 2), assign(12_020, 2), pull(12_030, 2), found(12_040, "one", 2, 9)]
    goes_on = [memory(1_000 * second, 2) for second in range(14, 60, 4)]
    given = [*done(29_000, 2, 3), locked(32_000), locked(52_000)]
    late = told(left, again, locked(22_000, Kind.UNLOCK), goes_on, given, groups=ORDERLY)
    assert Misstep.LOCK_OVER not in late
    assert Misstep.UNLOCKED_EARLY not in late
    early = told(left, again, locked(50_000, Kind.UNLOCK), goes_on, done(56_000, 2, 3), groups=ORDERLY)
    assert Misstep.LOCK_OVER in early


def test_a_queue_that_was_unlocked_for_a_moment_is_told_when_its_lock_is_renewed() -> None:
    begun = [locked(50), *RIGHT]

    def is_told(unlocked: int, *locks: int) -> bool:
        parts = locked(unlocked, Kind.UNLOCK), [locked(time) for time in locks]
        return Misstep.UNLOCKED_EARLY in told(begun, *parts, groups=ORDERLY)

    assert is_told(45_000, 47_000, 67_000)
    # A client that stops may lock it once more, a moment later.
    assert not is_told(45_000, 47_000)


def test_a_log_that_records_the_first_renewal_of_a_lock_does_not_record_the_others() -> None:
    """Before 4.9.5 a client learnt of its first lock from the next round, and says so once."""

    def is_told(*locks: int) -> bool:
        goes_on = [memory(1_000 * second, 0) for second in range(20, 100, 4)]
        given = [locked(time) for time in locks], goes_on, done(80_000, 0, 1)
        return Misstep.LOCK_OVER in told(locked(50), BEGIN, *given, groups=ORDERLY)

    assert not is_told(19_000)
    assert is_told(19_000, 39_000)


def test_a_consumer_that_is_suspended_does_not_pull_and_divides_again_when_it_is_resumed() -> None:
    idle = [*RIGHT, found(800, "one", 2, 2) | {"result": "no_new_message", "count": 0}]
    assert told(idle, passes(28_999), revoke(29_000, "one")) == []
    assert told(idle, passes(20_000), revoke(29_000, "one")) == [Misstep.NOT_PULLED_ON]


def test_a_window_that_was_never_pulled_is_empty_whatever_earlier_ones_still_hold() -> None:
    held = [*BEGIN[:-1], revoke(500, "one", path="shutdown"), asked(600, 0), memory(601, 0), assign(700, 0)]
    assert told(held, passes(20_000), revoke(120_800, "one", path="expired")) == [Misstep.NOT_PULLED_ON]
    pulled = [pull(1_200, 0), found(1_300, "one", 0, 2)]
    assert told(held, pulled, passes(20_000), revoke(29_000, "one")) == []


def test_a_pull_of_which_nothing_is_heard_is_given_up_and_repeated() -> None:
    asks = [*RIGHT, nothing(800), pull(810, 2)]
    given_up = [*(passes(time) for time in range(20_000, 130_000, 20_000)), revoke(122_000, "one", path="expired")]
    assert told(*asks, *given_up) == [Misstep.NOT_PULLED_ON]
    again = [event for time in range(20_000, 120_000, 20_000) for event in (nothing(time), pull(time + 1, 2))]
    assert told(*asks, *again, *given_up[:-1], revoke(122_000, "one")) == []


def test_a_restart_of_the_broker_excuses_only_the_time_around_it() -> None:
    idle = [*RIGHT, found(800, "one", 2, 2) | {"result": "no_new_message", "count": 0}]
    stopped = {"time": 40_000, "kind": "broker_stop", "broker": "b"}
    before = [*idle, passes(5_000), passes(20_000), revoke(55_000, "one")]
    assert told(before, stopped, broker_restart(50_000)) == [Misstep.NOT_PULLED_ON]
    assert told(before, stopped | {"time": 6_000}, broker_restart(50_000)) == []
    assert told(idle, passes(70_000), revoke(90_000, "one"), broker_restart(50_000)) == [Misstep.NOT_PULLED_ON]
    # One that stops soon after tells until when it has served.
    ends = [*idle, passes(12_000), revoke(14_000, "one"), stopped | {"time": 15_000}]
    assert told(ends, passes(3_000)) == [Misstep.NOT_PULLED_ON]
    assert told(idle, passes(3_000), revoke(14_000, "one"), stopped | {"time": 15_000}) == []
    # Of one that was killed nobody knows since when it was down.
    assert told(idle, passes(20_000), revoke(45_000, "one"), broker_restart(40_000)) == []


def test_a_client_corrects_its_offset_to_the_one_that_the_broker_named() -> None:
    def is_told(to: int, named: int = 5) -> bool:
        refused = found(800, "one", 2, named, count=0, log=9) | {"result": "offset_illegal", "min": 5}
        return Misstep.NOTHING_WRONG in told(*RIGHT, refused, event(810, Kind.CORRECT, "one", offset=to))

    assert is_told(9)
    assert is_told(2)
    assert not is_told(5)
    assert not is_told(9, named=9)


def test_a_pull_that_failed_is_repeated() -> None:
    def is_told(how: str, until: int) -> bool:
        failed = nothing(800) | {"result": how}
        return Misstep.NOT_PULLED_ON in told(*RIGHT, failed, passes(until - 5_500), revoke(until, "one"))

    assert is_told("error", 125_000)
    assert is_told("subscription_not_latest", 125_000)
    assert is_told("no_new_message", 125_000)
    assert not is_told("error", 7_000)
    assert not is_told("offset_illegal", 125_000)


def test_an_answer_to_the_window_before_may_come_first_and_look_like_that_to_this_one() -> None:
    # Both windows have asked from 2 on: the empty answer belongs to the pull of the first.
    late = found(3_000, "one", 2, 2) | {"result": "no_new_message", "count": 0}
    again = [revoke(1_000, "one"), asked(2_000, 2), assign(2_100, 2), pull(2_200, 2), late]
    assert told(RIGHT, again, found(4_000, "one", 2, 3), pull(4_001, 3), *done(4_010, 2, 3)) == []
    both = [found(4_000, "one", 2, 3), pull(4_001, 3), *done(4_010, 2, 3), *done(4_100, 3, 4)]
    assert told(RIGHT, again, both) == [Misstep.NOT_BROUGHT]


def test_an_orderly_offset_is_behind_the_last_message_whatever_was_filtered_after_it() -> None:
    # ``ProcessQueue#commit``: offset 1 was filtered, so the window begins at 2 and the offset is 1 (OR-7).
    calls = deliver(500, "one", 0, count=1, next=1), result(501, "one", 0), removed(502, 0, 2), memory(503, 1)
    assert told(locked(50), BEGIN, calls, groups=ORDERLY) == []
    assert told(BEGIN, calls) == [Misstep.NOT_IN_WINDOW]


def test_who_was_refused_the_lock_does_not_take_the_queue() -> None:
    refused = locked(50) | {"result": "failed"}
    taken = asked(100, 0), assign(200, 0)
    assert told(refused, *taken, groups=ORDERLY) == [Misstep.NOT_LOCKED]
    assert told(refused, locked(60), *taken, groups=ORDERLY) == []


def test_an_orderly_window_without_a_stored_offset_begins_where_the_queue_ends_at_its_second_query() -> None:
    unknown = [asked(time, 0) | {"result": "none", "offset": None} for time in (100, 250)]
    begins = locked(50), unknown[0], assign(200, 0)
    assert told(begins, unknown[1], pull(300, 2), groups=ORDERLY) == []
    assert told(begins, pull(300, 2), groups=ORDERLY) == [Misstep.ELSEWHERE]
    assert told(begins, unknown[1], pull(300, 2), found(400, "one", 2, 3), pull(500, 4), groups=ORDERLY) == [
        Misstep.ELSEWHERE
    ]
    assert told(locked(50), unknown[0], assign(200, 2), unknown[1], pull(300, 0), groups=ORDERLY) == [Misstep.ELSEWHERE]


def test_an_offset_is_left_to_a_slave_or_refused_for_a_reset() -> None:
    def is_told(*before: Any, queue_at: int = 2) -> bool:
        polled = found(59_000, "one", queue_at, queue_at) | {"result": "no_new_message", "count": 0}
        end = pull(59_010, queue_at), revoke(60_000, "one", path="removal"), commit(80_000, "two", 0)
        return Misstep.LEFT_UNSTORED in told(*RIGHT[:-1], *before, polled, *end)

    assert is_told()
    assert is_told(broker_restart(10_000))
    assert not is_told(broker_restart(30_000))  # clients ask for routes every 30 s
    waits = event(3_000, Kind.RESET, offset=0)
    more = [found(40_000, "one", 2, 3), pull(40_010, 3), *done(40_100, 2, 3)]
    assert is_told(*more, queue_at=3)
    assert not is_told(waits, *more, queue_at=3)
    assert is_told(waits, commit(20_000, "two", 0), *more, queue_at=3)


def test_a_client_that_takes_a_queue_before_its_turn_of_a_reset_sets_the_offset_all_the_same() -> None:
    def by(client: str, *events: Any) -> list[Any]:
        return [one | {"client": client} for one in events]

    reset = event(900, Kind.RESET, offset=0)
    taken = asked(1_000, 2), memory(1_001, 2), assign(1_010, 2), revoke(1_020, "one", path="reset")
    later = *taken, memory(11_020, 0), commit(11_021, "one", 0, path="reset")
    assert told(RIGHT, reset, by("two", *later)) == []
    assert told(RIGHT, by("two", *later)) == [Misstep.NEVER_RESET, Misstep.NOT_IN_WINDOW]


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


@pytest.mark.parametrize(("path", "wrong"), [("request", [Misstep.NO_BROADCAST]), ("expired", [])])
def test_a_broadcasting_client_sends_back_only_what_it_cleans(path: str, wrong: list[Misstep]) -> None:
    sent = [*BEGIN, deliver(500, "one", 0), unsent(950_000, path) | {"result": "ok"}]
    assert [one for one in told(sent, **groups_of(Misstep.NO_BROADCAST)) if one is Misstep.NO_BROADCAST] == wrong


def test_what_returns_after_it_was_cleaned_may_be_discarded() -> None:
    cleaned = [*BEGIN, deliver(500, "one", 0), event(61_000, Kind.EXPIRE, "one", offset=0), removed(61_000, 0, 1)]
    returned = [result(62_000, "one", 0), event(62_001, Kind.DISCARDED, "one", offset=0)]
    assert Misstep.NEVER_RETURNED not in told(cleaned, returned)
    assert Misstep.NEVER_RETURNED in told(cleaned, returned, event(62_002, Kind.DISCARDED, "one", offset=0))


def test_what_leaves_a_window_that_has_ended_sets_no_offset_in_the_next_one() -> None:
    gone = [revoke(700, "one"), removed(710, 1, 2), asked(800, 1), assign(810, 1), pull(820, 1)]
    later = [commit(t, "one", 1) for t in range(1_000, 15_000, 2_000)]
    run = [*BEGIN, *done(500, 0, 1), *done(600, 1, 2)[:2]]
    assert Misstep.NOT_REMEMBERED not in told(run, gone, later)


def test_what_need_not_be_set_is_told_from_what_must_when_a_queue_begins_again_further_back() -> None:
    """An equal in-memory offset of the same ms counts as a repetition: as the mark stood still, none is missing."""
    before = [*RIGHT, revoke(710, "one"), asked(800, 0), memory(801, 0), assign(810, 0), pull(820, 0)]
    again = [found(830, "one", 0, 2), pull(831, 2), *done(840, 1, 0)[:3], *done(850, 0, 2)]
    later = [commit(t, "one", 2) for t in range(1_000, 15_000, 2_000)]
    assert Misstep.NOT_REMEMBERED not in told(before, again, later)
    assert Misstep.NOT_REMEMBERED in told(before, again[:-1], later)


def test_a_commit_by_hand_takes_several_messages_and_sets_the_in_memory_offset_once() -> None:
    first = [removed(600, 0, 2), removed(600, 1, 2), memory(601, 2), commit(700, "one", 2)]
    later = [found(20_000, "one", 2, 4), pull(20_001, 4), *(deliver(20_010 + n, "one", 2 + n) for n in range(2))]
    later += [*(result(20_020 + n, "one", 2 + n) for n in range(2)), removed(20_030, 2, 4), removed(20_030, 3, 4)]
    both = [*(deliver(500 + n, "one", n) for n in range(2)), *(result(510 + n, "one", n) for n in range(2))]
    assert told(BEGIN, both, first, later, memory(20_031, 4), commit(40_000, "one", 4)) == []


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


def test_a_queue_begins_anew_when_its_topic_is_deleted_and_made_again() -> None:
    first = [store(100 + n, n) for n in range(5)]
    again = [store(9_000 + n, n) for n in range(3)]
    assert told(*first, *again, store(12_000, 3), name=STORES) == []
    assert told(*first, *again, store(12_000, 1), name=STORES) == [Misstep.STORED_TWICE]
    # What clients were told of before was stored before.
    assert told(*RIGHT, *first, found(800, "one", 2, 3, log=5), *again, written(30_000), name=STORES) == []


def test_the_end_of_a_queue_goes_back_when_its_topic_is_made_again() -> None:
    back = [*RIGHT, found(800, "one", 2, 3, log=5), revoke(850, "one"), found(15_000, "one", 0, 1, count=1, log=1)]
    first = [store(100 + n, n) for n in range(5)]
    assert Misstep.END_BACK in told(*back, *first, name=FIT)
    assert told(*back, *first, store(14_000, 0), name=FIT) == []
    # It had ended before where the client was told that it ended.
    assert Misstep.END_BACK in told(*back, *first[:3], store(14_000, 0), name=FIT)


def test_what_a_broker_lost_in_a_crash_is_stored_anew_however_late() -> None:
    before, after = [store(100 + n, n) for n in range(5)], store(90_000, 3)
    assert told(*before, after, name=STORES) == [Misstep.STORED_TWICE]
    assert told(*before, broker_restart(9_000), after, name=STORES) == []
    assert told(*before, broker_restart(9_000), store(90_000, 7), store(99_000, 8), name=STORES) == []


def test_an_offset_that_is_stored_twice_does_not_stand_for_one_that_is_left_out() -> None:
    """Threads may be recorded in another order; then all are there in the end."""
    assert told([store(100 + n, n) for n in (0, 2, 1, 3)], store(9_000, 4), name=STORES) == []
    twice = [store(100 + n, n) for n in (0, 2, 2, 3)]
    assert told(twice, store(9_000, 4), name=STORES) == [Misstep.NOT_STORED, Misstep.STORED_TWICE]


def test_producers_of_a_queue_share_its_offsets() -> None:
    """The event may name the producer; it is the broker that stores."""
    named = [store(100 + n, n) | {"client": f"producer-{n % 2}"} for n in range(5)]
    assert told(named, store(9_000, 5), name=STORES) == []
    assert told(named[:3], named[4], store(9_000, 5), name=STORES) == [Misstep.NOT_STORED]


def test_a_lock_is_given_to_another_when_it_is_over_or_given_back_and_where_its_life_is_known() -> None:
    wrong = WRONG[Misstep.LOCKED_TWICE]
    told_life = Settings(lock_life_told=True)
    assert told(wrong, groups=ORDERLY) == []
    assert told(*wrong[:-1], wrong[-1] | {"time": 61_000}, groups=ORDERLY, settings=told_life) == []
    given_back = [locked(19_000, Kind.UNLOCK), revoke(18_000, "one")]
    assert told(*wrong, *given_back, groups=ORDERLY, settings=told_life) == []
    # By the clocks of the two, the one that gets it may seem to do so before.
    late = [[locked(time, Kind.UNLOCK), revoke(18_000, "one")] for time in (20_010, 22_000)]
    assert [told(*wrong, *each, groups=ORDERLY, settings=told_life) for each in late] == [[], [Misstep.LOCKED_TWICE]]
    # The broker may handle what gives it back after a renewal that was sent a moment later.
    assert told(*wrong, *given_back, locked(19_300), groups=ORDERLY, settings=told_life) == []
    both = told(*wrong, *given_back, locked(24_000), groups=ORDERLY, settings=told_life)
    assert both == [Misstep.LOCKED_TWICE]


def test_who_had_a_lock_may_have_given_it_back_where_its_recording_has_a_gap() -> None:
    def is_told(*more: Any) -> bool:
        return Misstep.LOCKED_TWICE in told(
            WRONG[Misstep.LOCKED_TWICE], *more, groups=ORDERLY, settings=Settings(lock_life_told=True)
        )

    assert is_told()
    assert not is_told(gap(5_000, 15_000) | {"client": "one"})
    assert is_told(gap(5_000, 15_000) | {"client": "three"})


def at_broker(time: int, kind: Kind, name: str) -> dict[str, Any]:
    return event(time, kind, group=None, topic=None, queue=None, broker=name)


def test_a_slave_that_acts_as_master_grants_locks_until_clients_learn_that_its_master_is_back() -> None:
    locks = [locked(50), *BEGIN, locked(10_000), locked(20_000) | {"client": "two"}]
    how: dict[str, Any] = {"groups": ORDERLY, "settings": Settings(lock_life_told=True)}
    back, slave = broker_restart(5_000), at_broker(10, Kind.FILE_PERSIST, slave_of("b"))
    assert told(locks, back, **how) == [Misstep.LOCKED_TWICE]
    assert told(locks, back, slave, **how) == []
    assert told(locks, back, slave | {"broker": slave_of("c")}, **how) == [Misstep.LOCKED_TWICE]
    assert told(locks, slave, **how) == [Misstep.LOCKED_TWICE]


def test_a_slave_that_acts_as_master_delivers_in_its_own_turn_to_another_broker() -> None:
    wrong = WRONG[Misstep.OUT_OF_TURN]
    away = [at_broker(15_000, Kind.BROKER_STOP, "c"), at_broker(30_000, Kind.BROKER_START, "c")]
    slave = at_broker(10, Kind.FILE_PERSIST, slave_of("c"))
    assert told(wrong, away, name=STORES) == [Misstep.OUT_OF_TURN]
    assert told(wrong, slave, name=STORES) == [Misstep.OUT_OF_TURN]
    assert told(wrong, away, slave, name=STORES) == []


def test_a_client_that_reaches_a_broker_again_sends_it_heartbeats_soon() -> None:
    assert Misstep.NO_HEARTBEAT in told(unheard(200_000))
    # Its broker closes the connection after 120 s, and looks for such connections every 10 s.
    assert [Misstep.NO_HEARTBEAT in told(unheard(time)) for time in (131_000, 140_000)] == [False, True]
    assert Misstep.NO_HEARTBEAT not in told(unheard(200_000, beats(100_000) | {"broker": "b"}))
    cut = nothing(199_000) | {"result": "error"}
    assert Misstep.NO_HEARTBEAT not in told(unheard(200_000, cut, pull(199_010, 2), nothing(199_500)))
    assert Misstep.NO_HEARTBEAT not in told(unheard(200_000), broker_restart(190_000))


def test_a_lock_whose_life_is_not_stated_lasts_from_one_renewal_to_the_next() -> None:
    def is_told(another: int, *renewed: int) -> bool:
        locks = [locked(50), *BEGIN, *map(locked, renewed), locked(another) | {"client": "two"}]
        return Misstep.LOCKED_TWICE in told(*locks, groups=ORDERLY)

    assert [is_told(time, 1_000, 21_000, 41_000) for time in (59_000, 61_000)] == [True, False]
    # It may have expired during one long interval.
    assert not is_told(59_000, 21_000, 41_000)
    assert not is_told(48_000, 1_000, 21_000, 26_000, 41_000)


def test_an_orderly_listener_that_commits_several_messages_by_hand_sets_one_offset_for_them() -> None:
    pages = []
    for at, time in ((0, 500), (2, 20_000)):
        given = [deliver(time + n, "one", at + n, count=1, next=at + n + 1) for n in (0, 1)]
        ended = [result(time, "one", at), result(time + 1, "one", at + 1) | {"result": "commit"}]
        left = [removed(time + 2 + n, at + n, at + 2) for n in (0, 1)]
        sets = [memory(time + 4, at + 2), commit(time + 5, "one", at + 2)]
        pages += [*given[:1], *ended[:1], *given[1:], *ended[1:], *left, *sets]
    again = [found(19_000, "one", 2, 4), pull(19_010, 4)]
    assert told(locked(50), BEGIN, pages, again, commit(40_000, "one", 4), groups=ORDERLY) == []


def cut(time: int, first: int, *sizes: int) -> list[dict[str, Any]]:
    """A pull that is cut into calls of so many messages, and what comes of them."""
    end = first + sum(sizes)
    pages = [found(time, "one", first, end), pull(time + 1, end)]
    for size in sizes:
        pages += [deliver(time + 2, "one", first + n, count=size, next=first + size) for n in range(size)]
        pages += [result(time + 3, "one", first + n) for n in range(size)]
        pages += [removed(time + 4, first + n, first + size) for n in range(size)]
        pages += [memory(time + 5, first + size)]
        time, first = time + 4, first + size
    return pages


@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 2)])
def test_the_size_of_batches_may_be_set_once_while_a_client_runs(before: int, after: int) -> None:
    changed = [*BEGIN[:-2], *cut(400, 0, before, before, 1), *cut(20_000, 2 * before + 1, after, after, 1)]
    last = 2 * (before + after) + 2
    told_of = [*changed, *cut(30_000, last, after, after)]
    assert Misstep.BATCH_ABOVE not in told(told_of)
    assert Misstep.BATCH_ABOVE in told([*changed, *cut(30_000, last, before, before)])


def test_whether_it_was_set_before_any_pull_was_cut_is_in_doubt() -> None:
    changed = [*BEGIN[:-2], *cut(400, 0, 3), *cut(20_000, 3, 2, 2, 1)]
    (row,) = check(changed).rows(STEPS_CLAIM)
    assert (row["value"], row["doubt"]) == (Misstep.BATCH_ABOVE, Doubt.EVIDENCE)
    assert Misstep.BATCH_ABOVE in told([*changed, *cut(30_000, 8, 3)])


def test_a_queue_is_given_up_for_want_of_pulls_after_120_s() -> None:
    early = WRONG[Misstep.IDLE_EARLY]
    assert told(early) == [Misstep.IDLE_EARLY]
    assert told(early[:-1], revoke(136_000, "one", path="expired")) == []
    assert told(early[:-1], revoke(40_000, "one")) == []
    # Who took the queue just before has its time, too.
    assert told([asked(100, 2), assign(200, 2), pull(300, 2), revoke(90_000, "one", path="expired")]) == [
        Misstep.IDLE_EARLY
    ]


def test_a_legal_offset_may_be_found_illegal_once_it_was_reset() -> None:
    found_illegal = WRONG[Misstep.LEGAL]
    assert told(found_illegal, complete=True) == [Misstep.LEGAL]
    assert told(found_illegal) == [Misstep.LEGAL]
    at_first = [asked(100, 2), memory(101, 2), assign(200, 2), pull(300, 2), illegal(400, 2, 4)]
    assert told(at_first, complete=True) == [Misstep.LEGAL]
    assert told(at_first) == []  # a reset from before the recording waits for the first pull
    # By another clock the reset may come after the answer.
    for at in (790, 810):
        assert told(found_illegal, event(at, Kind.RESET, offset=0), complete=True) == []


def test_an_answer_may_lead_to_what_is_stored_meanwhile_but_not_beyond_that() -> None:
    beyond = WRONG[Misstep.LED_BEYOND]
    assert told(beyond, name=FIT) == [Misstep.LED_BEYOND]
    assert sentence(check(beyond), FIT) == (
        "one was told to continue T@b:0 at offset 3, although the queue ended at 2 when it did"
    )
    right = [*RIGHT, led(800, 3, 2), pull(810, 3)]
    assert told(right, found(820, "one", 3, 3, count=0, log=3) | {"result": "no_new_message"}, name=FIT) == []
    # A topic that was deleted and made again ends before, and so may a queue whose broker began anew.
    assert told([*RIGHT, led(800, 3, 3), pull(810, 3), illegal(820, 3, 0)], name=FIT) == []
    assert told(beyond, broker_restart(805), name=FIT) == []


def test_offsets_that_go_with_pulls_do_not_stand_for_those_every_5_s() -> None:
    alone = WRONG[Misstep.NOT_PERSISTED]
    assert told(alone) == [Misstep.NOT_PERSISTED]
    assert told([one for one in alone if one["time"] != 5_900]) == []  # its interval may be a longer one
    # Its thread was held up, or it stood still, or it has the queue for a short while; or it never tells why it stores.
    assert told([one for one in alone if one["kind"] != Kind.HEARTBEAT], beats(950)) == []
    assert told([one for one in alone if not 4_000 < one["time"] < 50_000]) == []
    assert told([one for one in alone if one["time"] < 50_000]) == []
    assert told([one for one in alone if one.get("path") != "periodic"]) == []
    assert told(alone, commit(30_100, "one", 2, path="periodic")) == []
    # Of a queue of which nothing else happens meanwhile, an offset in memory has to be stored all the same.
    often = [one for one in alone if one.get("path") != "piggyback"]
    rare = [
        (memory(time, time), commit(time + 11_000, "one", time, path="piggyback"))
        for time in range(6_000, 60_000, 11_010)
    ]
    changed = [one for both in rare for one in both]
    assert Misstep.NOT_PERSISTED in told(often, changed)
    assert Misstep.NOT_PERSISTED not in told(often, [one for one in changed if one["kind"] != Kind.COMMIT_MEMORY])
    # A process that stood still may send the heartbeat that is overdue first.
    assert Misstep.NOT_PERSISTED not in told(often[:-2], beats(60_900), changed)


def test_a_broker_that_a_client_does_not_reach_gets_none_of_its_offsets() -> None:
    alone = WRONG[Misstep.NOT_PERSISTED]
    refused = [pull(39_000, 2), event(39_900, Kind.PULL_RESULT, "one", offset=2, result="error")]
    assert Misstep.NOT_PERSISTED not in told(alone, refused)
    assert Misstep.NOT_PERSISTED in told(alone, [one | {"time": one["time"] - 35_000} for one in refused])
    # Its slave, which takes them meanwhile, may answer pulls as well.
    for broker, excused in (("b", True), ("c", False)):
        away = [at_broker(20_000, Kind.BROKER_STOP, broker), at_broker(50_000, Kind.BROKER_START, broker)]
        assert (Misstep.NOT_PERSISTED not in told(alone, away)) == excused


def test_when_the_listener_of_a_cleaned_message_returns_the_in_memory_offset_follows_the_mark() -> None:
    cleaned = [event(61_000, Kind.EXPIRE, "one", offset=0), event(61_100, Kind.SEND_BACK, "one", offset=0, result="ok")]
    cleaned = [*BEGIN, deliver(500, "one", 0), deliver(501, "one", 1), *cleaned, removed(61_101, 0, 1)]
    late = [result(90_000, "one", 0, "timeout"), memory(90_001, 1)]
    # An empty answer has set it before, for the message that was cleaned.
    assert told(cleaned, nothing(70_000), memory(70_001, 1), late) == []
    assert told(cleaned, nothing(70_000), memory(70_001, 1), late[1:]) == [Misstep.NOT_IN_WINDOW]


def test_a_queue_is_taken_again_where_a_reset_has_set_it() -> None:
    assert told(WRONG[Misstep.NOT_SET]) == [Misstep.NOT_SET]
    assert sentence(check(WRONG[Misstep.NOT_SET]), STEPS_CLAIM) == (
        "one took T@b:0 at offset 2 although it had dropped it for a reset to 1"
    )
    again = [memory(10_910, 1), commit(10_911, "one", 1, path="reset"), asked(11_000, 1), assign(11_010, 1)]
    assert told(RESET_TO_1, again) == []
    other = [one | {"client": "two"} for one in (asked(5_000, 2), assign(5_010, 2))]
    assert told(WRONG[Misstep.NOT_SET], other) == []
    # It may have given it up again by then; what another client had before does not matter.
    assert told(WRONG[Misstep.NOT_SET], other, revoke(9_000, "two")) == []
    before = [one | {"client": "two", "time": one["time"] // 100} for one in other]
    assert told(before, revoke(60, "two"), WRONG[Misstep.NOT_SET]) == [Misstep.NOT_SET]
    assert told(WRONG[Misstep.NOT_SET], broker_restart(6_000)) == []


def test_an_in_memory_offset_does_not_stay_where_a_query_or_a_reset_has_set_it() -> None:
    again = [memory(10_910, 1), commit(10_911, "one", 1, path="reset"), asked(11_000, 1), memory(11_001, 1)]
    again += [assign(11_010, 1), pull(11_020, 1), found(11_030, "one", 1, 2), pull(11_040, 2)]
    assert told(RESET_TO_1, again, done(11_100, 1, 2)) == []
    stays = [*done(30_000, 1, 2)[:-1], memory(30_003, 1)]
    assert told(RESET_TO_1, again, stays) == [Misstep.NOT_IN_WINDOW]


def test_a_listener_is_given_nothing_without_the_lock() -> None:
    begun = [locked(50), *BEGIN]
    refused, error = (locked(30_000) | {"result": word} for word in ("failed", "error"))
    lost = locked(30_000, Kind.LOCK_LOST)
    goes_on = [memory(1_000 * second, 0) for second in range(26, 100, 4)]

    def given(time: int, *before: dict[str, Any]) -> bool:
        return Misstep.LOCK_OVER in told(begun, *before, goes_on, done(time, 0, 1), groups=ORDERLY)

    # Its listener may have been about to be called.
    assert [given(time, lost) for time in (34_000, 36_000)] == [False, True]
    assert not given(36_000, lost, locked(35_000))
    # The window goes on with what it has until it is told that it lost the lock, or that has run out.
    for vain in (refused, error):
        assert [given(time, vain) for time in (34_000, 36_000)] == [False, True]
        assert not given(61_000, vain, locked(50_000))
    # Whether it has asked again is not known.
    assert not given(61_000)


def test_what_waits_at_a_level_is_not_late_again_and_again() -> None:
    late = WRONG[Misstep.TARDY]
    assert told(late, name=STORES) == [Misstep.TARDY]
    (row,) = check(late).rows(STORES)
    assert (row["since"], row["time"], row["offset"], row["expected"]) == (20_000, 100_000, 5, 5)
    assert told(late[:4], name=STORES) == []
    # One is in time, or those of another level are late.
    in_time = [one | {"due": one["time"] - 100} if n == 2 else one for n, one in enumerate(late)]
    assert told(in_time, name=STORES) == []
    levels = [one | {"level": 3 + n % 2} for n, one in enumerate(late)]
    assert told(levels, name=STORES) == []
    # They come all at once when the broker goes on.
    assert told([moved(100_000 + n, n, 15_000 * n) for n in range(6)], name=STORES) == []
    assert told(late, broker_restart(30_000), name=STORES) == []


def test_a_commit_may_wait_at_its_broker() -> None:
    later = [*RIGHT[:-1], *done(9_000, 2, 3), commit(9_500, "one", 3, "piggyback")]
    assert Misstep.OLD_OFFSET not in told(later, commit(18_000, "one", 2))
    assert Misstep.OLD_OFFSET in told(later, commit(20_000, "one", 2))
    # A pull may be sent long after it has read the offset.
    assert Misstep.OLD_OFFSET not in told(later, commit(20_000, "one", 2, "piggyback"))
    # A broker that stood still stores it when it goes on.
    signs = [written(time) for time in (-6_000, -1_000, 4_000, 9_000)]
    assert Misstep.OLD_OFFSET not in told(later, signs, commit(30_000, "one", 2), written(30_010))
    often = [written(time) for time in range(14_000, 30_000, 5_000)]
    assert Misstep.OLD_OFFSET in told(later, signs, often, commit(30_000, "one", 2), written(30_010))
    # An operator has taken it back.
    reset = event(15_000, Kind.RESET, offset=1)
    assert Misstep.OLD_OFFSET not in told(later, reset, commit(20_000, "one", 2))


def test_a_pull_that_waits_is_answered_when_there_is_a_message() -> None:
    def late(*parts: Any) -> bool:
        return Misstep.WOKEN_LATE in told(*parts, name=STORES)

    assert late(woken(7_000, 6_000, 8_000))
    # It may be told again and again that there is nothing, and ask at once.
    assert late(told_of_nothing(7_000, 6_000, 8_000))
    assert not late(told_of_nothing(2_000, 3_000, 2_000))
    # A process may be stopped once or twice.
    assert not late(woken(10, 7_000, 20, 8_000, 30))
    assert not late(woken(7_000, 6_000, 8_000, 10, 20, 30, 40))
    # The broker, or the network, may be away.
    assert not late([one for one in woken(7_000, 6_000, 8_000) if one["kind"] != Kind.REBALANCE])
    assert not late(woken(7_000, 6_000, 8_000), broker_restart(90), broker_restart(30_000))
    # One that is stopped in an orderly way has lost nothing.
    stopped = {"time": 29_000, "kind": str(Kind.BROKER_STOP), "broker": "b"}
    assert late(woken(7_000, 6_000, 8_000), broker_restart(90), stopped, broker_restart(30_000))
    # Only the clocks of the client and its broker matter, whatever is known of others.
    others = {
        Actor("b", -1): Clock(recorder=Actor("b", -1), pairs=9, reference=Actor("b", -1), slow=0, fast=0, closest=0),
        Actor("one", 0): Clock(recorder=Actor("one", 0), pairs=9, reference=Actor("b", -1), slow=5, fast=5, closest=5),
        Actor("far", 0): Clock(recorder=Actor("far", 0), pairs=3, reference=Actor("b", -1), slow=9_000, closest=9_000),
    }
    for known, expected in ((others, True), ({**others, Actor("one", 0): others[Actor("far", 0)]}, False)):
        checked = check(woken(7_000, 6_000, 8_000), clocks=Clocks(clocks=known))
        assert [row["doubt"] for row in checked.rows(STORES)] == [0] * expected
    # What is filtered out wakes no pull.
    assert not late([beats(55, "two", "a"), *woken(7_000, 6_000, 8_000)])
    (row,) = check(woken(7_000, 6_000, 10, 8_000)).rows(STORES)
    assert (row["offset"], row["expected"], row["since"], row["time"]) == (5, 4, 71_000, 77_950)


def test_what_was_acknowledged_of_a_call_is_not_sent_back() -> None:
    def sent(first: str, second: str, offset: int, path: str = "request") -> bool:
        given = [deliver(500, "one", n, count=2, next=2) for n in range(2)]
        back = unsent(520, path, offset) | {"result": "ok"}
        returned = result(510, "one", 0, first), result(510, "one", 1, second)
        return Misstep.SENT_FINISHED in told(BEGIN, given, *returned, back)

    assert sent("ok", "later", 0)
    assert not sent("ok", "later", 1)
    assert not sent("ok", "later", 0, "expired")
    # What the call returned may be told of all of them.
    assert not sent("ok", "ok", 0)
    assert not sent("later", "later", 0)


def test_a_queue_is_pulled_on_after_a_pause_that_nothing_explains() -> None:
    def paused(*parts: Any, after: int = 90_000, **how: Any) -> list[Misstep]:
        right = [*RIGHT[:5], *RIGHT[6:]]  # without the pull that waits
        return told(right, *parts, pull(700 + after, 2), nothing(900 + after), **how)

    went_on = passes(30_000), passes(60_000)
    assert paused(*went_on) == [Misstep.NOT_PULLED_ON]
    assert paused(*went_on, after=79_000) == []
    # Its application has suspended it, or its broker was away.
    assert paused() == []
    assert paused(*went_on, broker_restart(40_000)) == []
    assert paused(passes(30_000, queues=("b:0", "c:0")), passes(60_000, queues=("b:0", "c:0"))) == []
    assert paused(*went_on, groups=ORDERLY) == []


def test_the_mark_of_an_orderly_batch_is_behind_its_last_message() -> None:
    """What lies between that one and the next was filtered out, and may be passed or not."""

    def remembered(offset: int) -> list[Misstep]:
        taken = [locked(50), *BEGIN[:4], found(400, "one", 0, 5, count=3), pull(410, 5)]
        given = [deliver(500, "one", at, count=3, next=3) for at in range(3)]
        gone = [event(511, Kind.REMOVED, "one", offset=at, next=5) for at in range(3)]
        returned = [result(510, "one", at) for at in range(3)]
        return told(taken, given, returned, gone, memory(512, offset), commit(700, "one", offset), groups=ORDERLY)

    assert [remembered(offset) for offset in (1, 2, 3, 5)] == [[Misstep.NOT_IN_WINDOW]] * 2 + [[]] * 2


def test_a_client_that_never_stores_offsets_by_itself_is_told_when_it_had_long_to() -> None:
    def carried(until: int, *parts: Any) -> bool:
        beating = [beats(time) for time in range(10_000, until, 30_000)]
        pulls = [commit(time, "one", 2, "piggyback") for time in range(5_000, until, 4_000)]
        return Misstep.NOT_PERSISTED in told([*RIGHT[:-1]], beating, pulls, *parts)

    assert carried(190_000)
    # Its interval may be another one.
    assert not carried(170_000)
    assert not carried(190_000, commit(100_000, "one", 2))
    # Its broker knows the offset, and not on which way it came.
    assert not carried(190_000, commit(100_000, "one", 2, ""))


def test_a_lock_that_nobody_granted_or_refused_while_the_broker_was_away_is_not_refused() -> None:
    """The first agents recorded a request that fails as one that is refused."""
    wrong = WRONG[Misstep.PULLED_UNLOCKED]
    away = [event(time, kind, broker="b") for time, kind in ((30_000, Kind.BROKER_STOP), (50_000, Kind.BROKER_START))]
    assert told(wrong, groups=ORDERLY) == [Misstep.PULLED_UNLOCKED]
    assert Misstep.PULLED_UNLOCKED not in told(wrong, away, groups=ORDERLY)
