"""Pulls: requests, and the broker's answers to them (PL-1, PL-19, PL-23, PL-24), and what it stores."""

from __future__ import annotations

from ...model.membership import Life
from ...model.process_queue import NO_OFFSET
from ..format.kinds import Kind, Result
from . import texts
from .behaviour import Impossible, ImpossibleAlone
from .events import Event
from .follow import Follower, Handler
from .ownership import begun_before
from .sorting_out import nothing_to_say

_REFUSED = frozenset({Result.SUBSCRIPTION_NOT_LATEST, Result.SUBSCRIPTION_NOT_EXIST, Result.ERROR, Result.FAILED})
STOPPING = "pulls of clients that are shutting down"
DROPPED = "pulls of windows that were dropped"


def pull(f: Follower, event: Event) -> str | None:
    """PL-1: a request of the window, from its position on; or the same one again after a failed one."""
    c = f.side_of(event)
    window = f.sides[c].window_of(event)
    if f.get("life", c) != Life.UP:
        return STOPPING
    if window is None or window is not f.sides[c].current or not f.owns(c):
        return DROPPED
    position = f.get("next_offset", c, texts.Q)
    if f.at(event.offset) != position and not _begins_later(f, event, c, position):
        raise Impossible(f"the next pull of the window starts at {f.told(position)}")
    if not f.get("asked", c, texts.Q):
        f.take("send_pull", "the window may not pull now: an orderly one pulls with the lock only (PL-10)", c=c)
    return None


def _begins_later(f: Follower, event: Event, c: int, position: int) -> bool:
    """PL-11: whether it is the first pull with the lock, whose query found nothing stored either: it starts at what by
    then is the end of the queue (RB-30).
    """
    side, offset = f.sides[c], f.at(event.offset)
    if not f.orderly or side.answered is not Result.MISSING or offset < position:
        return False
    side.answered = Result.NONE
    had = f.memory(c)
    f.run(texts.ask_again, c=c, offset=offset)
    if had == NO_OFFSET:
        f.run(texts.without_entry, c=c)
    return True


def pull_result(f: Follower, event: Event) -> str | None:
    """PL-19, PL-23: an answer."""
    c = f.side_of(event)
    side = f.sides[c]
    _as_the_log_says(event)
    if f.get("life", c) != Life.UP:
        return STOPPING
    window = side.window_of(event)
    if window is None or window is not side.current or not f.owns(c):
        return _stale(f, event, c)
    if event.result in _REFUSED:
        f.run(texts.answered_with_error, c=c)
        return None
    if event.result is Result.OFFSET_ILLEGAL and f.ordered and f.clamped(event.next) in f.ordered:
        f.lose(c, "after a reset of a broadcasting group, up to the next assignment")
        return "reset: of a broadcasting group"
    position = f.get("next_offset", c, texts.Q)
    if event.offset is not None and f.at(event.offset) != position:
        raise ImpossibleAlone(f"the request that is under way asks from {f.told(position)}")
    if not f.get("asked", c, texts.Q):
        if Kind.PULL in f.stream.header.evidence:
            raise ImpossibleAlone("no request of this window is under way")
        f.take("send_pull", "the window may not pull now", c=c)
    end = f.asked_before_reset.pop(c, None)
    just_reset = f.reset_at is not None and event.time - f.reset_at <= f.slack
    if end is not None and event.result is Result.FOUND and event.next is not None:
        just_reset |= f.at(event.next) <= end  # everything that it brings was there when the offset was set
    before_reset = (just_reset or f.stream.replicated) and f.get("reset_noted", texts.Q)
    if before_reset and event.result is not Result.OFFSET_ILLEGAL:
        # PL-18: it was under way when the offset was set, or is a slave's, which is not informed of resets.
        f.run(texts.note_reset, noted=False)
        _answer(f, event, c, position)
        f.run(texts.note_reset, noted=True)
    else:
        _answer(f, event, c, position)
    return None


def _answer(f: Follower, event: Event, c: int, position: int) -> None:
    after = None if event.next is None else f.at(event.next)
    if event.result is Result.FOUND and after is not None:
        _grow(f, after)
        if f.filtered:
            came = _came(f, event, position, after)
            f.put_in(c, came)
            f.run(texts.answer, "no request is under way", c=c, came=came, after=after)
            return
        if after <= position or (event.count is not None and event.count != after - position):
            raise Impossible("without an expression all messages from the position up to the next one come")
        f.put_in(c, range(position, after))
        why = "the broker cannot find messages there"
        f.take("answer_found", why, varied={"pull_batch": after - position}, c=c)
        if int(f.constants.batch) > 1:
            pulled = range(position, after)
            size = _size_of_tasks(f, event, c, pulled)
            left_over = after < int(f.constants.messages) and f.get("joined", c, texts.Q, after)
            if size != int(f.constants.batch) or left_over:
                f.run(texts.in_tasks_of, c=c, pulled=pulled, size=size)
    elif event.result is Result.NO_MATCHED_MESSAGE and after is not None:
        _grow(f, after)
        f.run(texts.answer, "no request is under way", c=c, came=frozenset(), after=after)
    elif event.result is Result.NO_NEW_MESSAGE:
        _grow(f, position)
        if not f.may("answer_nothing", c=c):
            f.run(texts.nothing_new, "no request is under way", c=c)
    elif event.result is Result.OFFSET_ILLEGAL and after is not None:
        _illegal(f, event, c, after)
    else:
        raise Impossible("there is no such answer")


def _size_of_tasks(f: Follower, event: Event, c: int, pulled: range) -> int:
    """CC-1: ``consumeMessageBatchMaxSize`` as these messages came, which may be set while a client runs: the largest
    of their first calls, or of all calls of the process if they have none.
    """
    size, uncalled = 0, set(pulled)
    for later in f.later(event):
        if later.kind is Kind.DELIVER and (m := f.clamped(later.offset)) in uncalled:
            size = max(size, later.count or f.batches[c])
            uncalled.discard(m)
            if not uncalled:
                break
    return size or f.batches[c]


def _came(f: Follower, event: Event, position: int, after: int) -> frozenset[int]:
    """With an expression, the answer says how many messages came; which ones shows when they are delivered."""
    if event.count == after - position:
        return frozenset(range(position, after))
    if event.count is not None and event.count > after - position:
        raise Impossible(f"there are no {event.count} messages from {f.told(position)} to {f.told(after)}")
    seen = {f.clamped(later.offset) for later in f.later(event) if later.kind is Kind.DELIVER}
    found = sorted(m for m in seen if m is not None and position <= m < after)
    if event.count is not None and len(found) > event.count:
        raise Impossible(f"{len(found)} messages of this answer are delivered, but {event.count} came")
    missing = (event.count or len(found)) - len(found)
    # Those that are never delivered were in the window when it ended: any will do, and the last ones hold back no mark.
    others = [m for m in range(after - 1, position - 1, -1) if m not in seen]
    return frozenset([*found, *others[:missing]])


def _illegal(f: Follower, event: Event, c: int, after: int) -> None:
    """PL-19, PL-23 OFFSET_ILLEGAL, PL-18: the position is outside the queue, or the offset was reset."""
    begun_before(f, event, c)
    if f.get("reset_noted", texts.Q):
        f.take("answer_reset", "there is no reset to tell of", varied={"reset_to": after}, c=c)
    else:
        low, high = f.clamped(event.min), f.clamped(event.max)
        if low is not None:
            while f.get("log_start", texts.Q) < low:
                _grow(f, f.get("log_start", texts.Q) + 1)
                f.take("delete_oldest", "the beginning of the log is known")
        if high is not None:
            _grow(f, high)
            # Where the position is below the beginning, what was stored since the answer does not matter.
            if f.get("next_offset", c, texts.Q) > high and not _loses_tail(f, high):
                raise Impossible(f"the log is known up to {f.told(f.get('log_end', texts.Q))}")
        f.take("answer_illegal", "the offset is inside the queue", c=c)
    target = f.get("target", c, texts.Q)
    if target != after:
        raise Impossible(f"the client is sent to {f.told(target)}")
    f.sides[c].values.add(target)


def _stale(f: Follower, event: Event, c: int) -> str | None:
    """PL-24: the answer for a dropped window; the machine follows the last one.

    G2-9, FI-3: without messages, an empty dead window moves the in-memory offset, even of a queue that is not owned.
    """
    if event.result in (Result.NO_NEW_MESSAGE, Result.NO_MATCHED_MESSAGE) and event.next is not None:
        f.sides[c].values.add(f.at(event.next))
    if event.result is Result.OFFSET_ILLEGAL and event.next is not None:
        # PL-23: nobody asks whether the window is dropped. The client corrects the offset of a queue that it has not,
        # and the broker has told somebody of a reset (PL-18).
        f.sides[c].sent_to = f.at(event.next)
        f.sides[c].values.add(f.at(event.next))
        f.run(texts.note_reset, noted=False)
    stale = f.get("stale", c, texts.Q)
    if event.offset is not None and stale != NO_OFFSET and f.clamped(event.offset) == stale:
        if event.result is Result.FOUND and event.next is not None:
            _grow(f, f.at(event.next))
        f.take("answer_stale", "no such answer is under way", c=c)
        return None
    return DROPPED


def _grow(f: Follower, end: int) -> None:
    """The log is known up to ``end``: everything below must have been stored."""
    while f.get("log_end", texts.Q) < end:
        f.take("produce", "no message can be stored there")


def _as_the_log_says(event: Event) -> None:
    """PL-19: the answer that follows from the offset, and from the beginning and end of the queue."""
    offset, low, high = event.offset, event.min, event.max
    if offset is None or low is None or high is None or event.next is None:
        return
    if event.result is Result.FOUND and not low <= offset < high:
        raise Impossible(f"from {low} to {high} there is no message at {offset} (PL-19)")
    if event.result is Result.NO_NEW_MESSAGE and offset != high and not (high == 0 or offset == 0):
        raise Impossible(f"the log ends at {high}, so there are messages, or the offset is illegal (PL-19)")


def stored(f: Follower, event: Event) -> str | None:
    """A message is stored; the message at an offset never changes, unless the log was cut (G2-4)."""
    if event.offset is None:
        return nothing_to_say(event.kind)
    m = f.at(event.offset)
    key = str(event.key or event.origin or "")
    before = f.logs.get(m)
    if before is not None and before[0] != key:
        # The topic may have been made again, or the broker was away and has lost the log from there on.
        if f.get("log_end", texts.Q) > m and not (
            (m == 0 and f.may("recreate")) or (f.truncated and _loses_tail(f, m))
        ):
            if m == 0:
                f.over = "after their log began anew, which a client had not noticed"
                return f.over
            if f.truncated:
                raise Impossible("a client has a message that is not in the log any more")
            raise Impossible(f"another message is stored there, {before[0]}")
        f.logs = {other: told for other, told in f.logs.items() if other < m}
    f.logs[m] = (key, event.attempt)
    f.truncated = False
    return None


def _loses_tail(f: Follower, end: int) -> bool:
    """G2-4: the broker has lost the log from ``end`` on; not possible if a client has a message of it."""
    while f.get("log_end", texts.Q) > end:
        if not f.may("lose_tail"):
            return False
    return True


HANDLERS: dict[Kind, Handler] = {
    Kind.PULL: pull,
    Kind.PULL_RESULT: pull_result,
    Kind.STORE: stored,
    Kind.DELAY_DELIVER: stored,
}
"""Kinds of this file."""
