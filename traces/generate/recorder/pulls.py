"""Pulls: requests and the broker's answers, as the client gets them (PL-1, PL-19, PL-23, PL-24).

The broker's answer is computed from its log, not from its effect on the window: a broken client that loses an answer
has nevertheless received it.
"""

from __future__ import annotations

from typing import Any

from ....model.process_queue import NO_OFFSET
from ....model.pull import carries
from ....model.tags import PATTERNS, Edition, asked_for, filtered, hash_code
from ...format.kinds import Kind, Path, Result
from .step import Transition
from .windows import Record, in_turn, leaves, store_of, table


def answered(now: Transition, result: Result, next_offset: int, count: int = 0) -> None:
    """The answer to the request of the window; with ``pulls=whole``, the request goes out in the same step."""
    if now.constants.pulls == "whole":
        send_pull(now)
    _answer(now, result, now.before("next_offset", now.c, now.q), next_offset, count)


def _answer(now: Transition, result: Result, offset: int, next_offset: int, count: int, **fields: Any) -> None:
    q = now.q
    low, high = now.start(q), now.end(q)
    told = {"result": result, "offset": offset, "next": next_offset, "min": low, "max": high, "count": count}
    now.by_client(Kind.PULL_RESULT, now.c, q, **told, **fields)


def found(now: Transition) -> None:
    """PL-23 FOUND: a batch from the position on; with expressions, the next message that passes the broker, or none."""
    offset = now.before("next_offset", now.c, now.q)
    if not filtered(now.constants):
        after = min(offset + int(now.constants.pull_batch), now.end(now.q))
        answered(now, Result.FOUND, after, after - offset)
        return
    passed = [m for m in range(offset, now.end(now.q)) if _broker_passes(now, m)]
    if not passed:
        answered(now, Result.NO_MATCHED_MESSAGE, now.end(now.q))
        return
    kept = now.after("stage", now.c, now.q, passed[0]) != 0
    answered(now, Result.FOUND, passed[0] + 1, int(kept))


def _broker_passes(now: Transition, m: int) -> bool:
    """FI-1: the broker compares the hash code of the tag with those of the expression that it has for the group."""
    if now.cluster.is_retry(now.q):
        return True
    pattern = PATTERNS[str(now.constants.tags)]
    words = asked_for(now.constants, Edition(now.before("group_edition")))
    return hash_code(pattern[m % len(pattern)]) in {hash_code(word) for word in words}


def removed(now: Transition) -> None:
    """PL-19 MESSAGE_WAS_REMOVING, which the client reads as NO_MATCHED_MSG."""
    answered(now, Result.NO_MATCHED_MESSAGE, now.before("next_offset", now.c, now.q) + 1)


def nothing_new(now: Transition) -> None:
    """PL-23 NO_NEW_MSG."""
    answered(now, Result.NO_NEW_MESSAGE, now.before("next_offset", now.c, now.q))


def send_pull(now: Transition) -> None:
    """PL-1: the request goes out, and carries an offset above 0 (PL-14)."""
    now.by_client(Kind.PULL, now.c, now.q, offset=now.before("next_offset", now.c, now.q))


def apply_carried(now: Transition) -> None:
    """PL-21: the offset that came with the request is stored."""
    if now.after("committed", now.q) != now.before("committed", now.q):
        now.by_client(Kind.COMMIT, now.c, now.q, offset=now.after("committed", now.q), path=Path.PIGGYBACK)


def answer_stale(now: Transition) -> None:
    """PL-24: the answer to a request of a window that no longer exists."""
    offset = now.before("stale", now.c, now.q)
    assert offset != NO_OFFSET
    epoch = now.recorder.old_epoch.get((now.c, now.q))
    if now.start(now.q) <= offset < now.end(now.q):
        _answer(now, Result.FOUND, offset, offset + 1, 1, epoch=epoch)
    elif offset == now.end(now.q):
        _answer(now, Result.NO_NEW_MESSAGE, offset, offset, 0, epoch=epoch)
    else:
        nearest = now.start(now.q) if offset < now.start(now.q) else now.end(now.q)
        _answer(now, Result.OFFSET_ILLEGAL, offset, nearest, 0, epoch=epoch)


def correct_offset(now: Transition) -> None:
    """PL-19, PL-23 OFFSET_ILLEGAL: the window is dropped, the corrected offset sent, the queue removed."""
    corrected = _corrected(now)
    answered(now, Result.OFFSET_ILLEGAL, corrected)
    now.by_client(Kind.CORRECT, now.c, now.q, offset=corrected)
    leaves(Path.CORRECTION)(now)


def _corrected(now: Transition) -> int:
    """PL-19: the offset that the step has stored; if it has stored nothing new, the nearer end of the queue."""
    c, q = now.c, now.q
    store = store_of(now, c, q)
    if now.after(*store) != now.before(*store):
        return now.after(*store)
    return now.start(q) if now.before("next_offset", c, q) < now.start(q) else now.end(q)


def answer_illegal(now: Transition) -> None:
    """PL-19: the answer; everything after it is left to a task."""
    answered(now, Result.OFFSET_ILLEGAL, now.after("target", now.c, now.q))
    table(now, Path.CORRECTION)


def overwritten(now: Transition) -> None:
    """PL-14: the commit of a request that is answered in the same step."""
    if now.constants.piggyback and not carries(now.constants):
        apply_carried(now)


ACTIONS: dict[str, Record] = {
    "pull": found,
    "pull_removed": removed,
    "pull_nothing": nothing_new,
    "send_pull": send_pull,
    "apply_carried": apply_carried,
    "answer_found": found,
    "answer_nothing": nothing_new,
    "answer_stale": answer_stale,
    "correct_offset": correct_offset,
    "answer_illegal": answer_illegal,
    "answer_reset": in_turn(overwritten, answer_illegal),  # PL-18, PL-21: it finds the note of a reset
}
"""Actions of this file, by name."""
