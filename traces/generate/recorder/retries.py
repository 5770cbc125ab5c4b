"""Retries: failed messages that are sent back, and what the broker stores, delays, delivers and buries (SB-2 to
SB-17).

A request and its fallback are two events, each with an answer (``path``). What the broker stored is read from the
copies that exist after the step. If the machine does not follow copies, the first stop of a retry, the schedule topic,
is nevertheless recorded, as the rules require.
"""

from __future__ import annotations

from functools import partial

from ....model.delay import due_time, stored_level
from ....model.retry_policy import EXPIRY_LEVEL, copy_times, retry_level
from ...format.kinds import Kind, Path, Result
from .cluster import DEAD_LETTERS, GROUP, RETRY
from .listeners import left, returned
from .step import Transition, group_of
from .windows import Record, in_turn

RESUBMITTED = 5_000
"""CC-12: delay before a message that could not be sent back is consumed again (``submitConsumeRequestLater``), ms."""


def delayed(now: Transition, q: int, key: str, *, attempt: int, level: int, topic: str = RETRY) -> int:
    """The broker of ``q`` stores a copy that waits at ``level``; returns when it is due (DL-3)."""
    delay = now.recorder.pace.table(int(now.constants.levels)).delay(level)
    due = int(due_time(now.recorder.time, delay))
    place = {"broker": now.cluster.place(q)["broker"], "queue": 0, "topic": topic, "group": GROUP}
    now.recorder.write(Kind.DELAY_STORE, {**place, "key": key, "attempt": attempt, "level": level, "due": due})
    return due


def buried(now: Transition, q: int, key: str, *, attempt: int) -> None:
    """DQ-1: the broker of ``q`` stores a dead letter."""
    place = {"broker": now.cluster.place(q)["broker"], "queue": 0, "topic": DEAD_LETTERS, "group": GROUP}
    now.recorder.write(Kind.DEAD_LETTER, {**place, "offset": now.recorder.dead_letters, "key": key, "attempt": attempt})
    now.recorder.dead_letters += 1


def sends(now: Transition, m: int, path: Path, result: Result, *, level: int | None = None) -> None:
    """One attempt to send ``m`` of the action's queue back, with its answer."""
    c, q = now.c, now.q
    asked = int(now.constants.listener_level) if level is None else level
    now.by_client(
        Kind.SEND_BACK,
        c,
        q,
        offset=m,
        key=now.key(q, m),
        path=path,
        result=result,
        level=asked if path is not Path.FALLBACK else None,
        attempt=now.attempt(c, q, m),
        max_attempts=group_of(now.constants).maximum,
    )


def copies(now: Transition) -> None:
    """SB-14: the copies that this step has stored, each in the schedule topic or, without delay, in its own topic."""
    for k in range(int(now.constants.copies)):
        if not now.after("place", k) or now.before("place", k):
            continue
        times, level, dead = now.after("times", k), now.after("level", k), bool(now.after("dead", k))
        if level:
            topic = DEAD_LETTERS if dead else RETRY
            now.recorder.due[k] = delayed(now, now.q, now.root(k), attempt=times, level=level, topic=topic)
        elif dead:
            buried(now, now.q, now.root(k), attempt=times)


def by(*attempts: tuple[Path, Result]) -> Record:
    """A message is sent back in these ``attempts``, one after the other."""

    def requests(now: Transition) -> None:
        for path, result in attempts:
            sends(now, now.m, path, result)

    return in_turn(requests, copies, left)


by_request = by((Path.REQUEST, Result.OK))
by_fallback = by((Path.REQUEST, Result.FAILED), (Path.FALLBACK, Result.OK))
by_second_fallback = by((Path.REQUEST, Result.FAILED), (Path.FALLBACK, Result.FAILED), (Path.FALLBACK, Result.OK))


def abstract_send_back(now: Transition) -> None:
    """CC-12: if copies are not followed, the message waits in the schedule topic, and nothing more is recorded."""
    level = int(now.constants.listener_level)
    sends(now, now.m, Path.REQUEST, Result.OK)
    waits = int(stored_level(retry_level(0, level), int(now.constants.levels)))
    delayed(now, now.q, now.key(now.q, now.m), attempt=int(copy_times(0)), level=waits)
    left(now)


def both_fail(now: Transition) -> None:
    """SB-5, CC-12: consumed again in the same window, with a higher count in memory."""
    sends(now, now.m, Path.REQUEST, Result.FAILED)
    sends(now, now.m, Path.FALLBACK, Result.FAILED)
    left(now)
    now.recorder.resubmitted[now.c, now.q, now.m] = now.recorder.time + RESUBMITTED
    if now.after("stage", now.c, now.q, now.m):
        now.recorder.failed[now.c, now.q, now.m] += 1


def from_dropped_window(now: Transition) -> None:
    """CC-12: the drop came between check and send-back."""
    (by_request if now.constants.copies else abstract_send_back)(now)


def clean_expired(now: Transition) -> None:
    """PQ-9: sent back at level 3 because of its time, and removed; its listener continues to run."""
    key = now.key(now.q, now.m)
    now.by_client(Kind.EXPIRE, now.c, now.q, offset=now.m, key=key, attempt=now.attempt(now.c, now.q, now.m))
    sends(now, now.m, Path.EXPIRED, Result.OK, level=EXPIRY_LEVEL)
    copies(now)
    left(now)


def overdue_succeeds(now: Transition) -> None:
    """G3-7: the late result of a message that was sent back because of its time."""
    returned(now, Result.OK, [now.m])


def overdue_fails(now: Transition) -> None:
    """PQ-13: the late failure is ignored, unless the client sends the message back a second time."""
    returned(now, Result.LATER, [now.m])
    if any(now.after("place", k) and not now.before("place", k) for k in range(int(now.constants.copies))):
        sends(now, now.m, Path.REQUEST, Result.OK)
        copies(now)


# --- the schedule topic ---------------------------------------------------------------------------------------------


def deliver(now: Transition, result: Result = Result.NONE) -> None:
    """DL-6: the copy enters its own topic, at an offset there."""
    k, retry = now.k, now.queues[-1]
    times = now.after("times", k)
    if now.after("dead", k):
        buried(now, retry, now.root(k), attempt=times)
        return
    offset = now.before("log_end", retry)
    told = {"group": GROUP, "offset": offset, "key": now.root(k), "attempt": times, "level": now.after("level", k)}
    now.by_broker(Kind.DELAY_DELIVER, retry, due=now.recorder.due[k], result=result, **told)


ACTIONS: dict[str, Record] = {
    "send_back": abstract_send_back,
    "send_back_fails": both_fail,
    "orphan_sends_back": from_dropped_window,
    "send_back_by_request": by_request,
    "request_to_name_server": by_fallback,
    "send_back_to_nowhere": by_request,
    "send_back_twice": by_fallback,
    "send_back_by_fallback": by_fallback,
    "send_back_without_count": by_second_fallback,
    "fallback_stored_twice": by_second_fallback,
    "send_back_fails_twice": both_fail,
    "orphan_copied": from_dropped_window,
    "clean_expired": clean_expired,
    "overdue_succeeds": overdue_succeeds,
    "overdue_fails": overdue_fails,
    "ripen": lambda now: now.wait_until(now.recorder.due[now.k]),  # DL-3: time advances until the copy is due
    "deliver": deliver,
    "deliver_early": deliver,
    # DL-6, G3-9: the put happened, but the broker takes it for failed.
    "deliver_unsure": partial(deliver, result=Result.FAILED),
}
"""Actions of this file, by name."""
