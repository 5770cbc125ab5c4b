"""Listeners of concurrent consumption: calls, results, send-backs, and what leaves the window (CC-6 to CC-13)."""

from __future__ import annotations

from collections.abc import Callable

from ...model.membership import Life
from ...model.process_queue import Orphan, Stage
from ..format.kinds import FAILURES, Kind, Path, Result
from . import orderly, texts
from .behaviour import Impossible
from .events import Event
from .follow import Follower, Handler
from .unseen import REQUEST
from .windows import Window

UNKNOWN_WINDOW = "of windows that are not known"
LATE_REMOVALS = "removals from dropped windows, which nobody asks for"
SKIPPED = "after an interrupted thread of a client that is shutting down has sent nothing back"


def deliver(f: Follower, event: Event, c: int, found: Window) -> str | None:
    """CC-6: a listener is called, with the messages of one task; each has an event of its own."""
    m = f.at(event.offset)
    _same_message(f, event, m)
    if f.orderly:
        if orderly.is_stopping(f, c):
            return orderly.STOPPING
        orderly.deliver(f, event, c, m, found)
        return None
    if found is not f.sides[c].current:
        if m in found.called:
            return None
        raise Impossible("its window was dropped, and a dropped window delivers nothing (CC-3)")
    if _attempted_before(found, m):
        f.may("send_back_fails", c=c, m=m)
    if f.stage(c, m) is Stage.RUNNING and m in found.called:
        found.called.discard(m)  # with the first message of its task
        return None
    f.take("begin", _why_not_begin(f, c, m), c=c, m=m)
    if int(f.constants.batch) > 1:
        task = _task(f, c, m)
        found.called |= {*task[1:]}
        # A message that could not be sent back becomes a task of its own again, which the machine processes one by one
        # (CC-12).
        if event.count is not None and event.count != len(task) and m not in found.again:
            raise Impossible(f"the task has {len(task)} messages (CC-1)")
    found.results.pop(m, None)
    return None


def _attempted_before(found: Window, m: int) -> bool:
    """SB-5: whether both ways of sending it back have failed; it is then consumed again in 5 s."""
    attempts = found.sent.pop(m, [])
    failed = bool(attempts) and all(result is not Result.OK for _, result in attempts)
    if failed:
        found.again.add(m)
    return failed


def _why_not_begin(f: Follower, c: int, m: int) -> str:
    stage = f.stage(c, m) if m < int(f.constants.messages) else Stage.ABSENT
    return {
        Stage.ABSENT: "the window does not hold this message",
        Stage.RUNNING: "a listener has this message already",
        Stage.FAILED: "this message has failed and waits to be sent back",
        Stage.WAITING: "no task begins with this message (CC-1)",
    }[stage]


def _same_message(f: Follower, event: Event, m: int) -> None:
    """A delivered message is the stored one, with the count that was stored with it (SB-6)."""
    known = f.logs.get(m)
    if known is not None and known[0] and event.key and known[0] != event.key:
        raise Impossible(f"the message stored there is {known[0]}")


def result(f: Follower, event: Event, c: int, found: Window) -> str | None:
    """CC-9: a call ends. What comes of it shows next; in a dropped window, nothing does."""
    m = f.at(event.offset)
    if m in f.sides[c].outlives:
        f.sides[c].outlives.discard(m)
        return None
    if f.orderly:
        if orderly.is_stopping(f, c):
            return orderly.STOPPING
        orderly.returned(f, event, c, m, found)
        return None
    if m in found.expired and found is f.sides[c].current and f.stage(c, m) is Stage.RUNNING:
        found.expired.discard(m)  # PQ-9: it returns while it is being sent back, and has not left the window
        found.overdue.add(m)
    if found is not f.sides[c].current or m in found.expired:
        _returns_late(f, event, c, m, found)
        return None
    if f.stage(c, m) is not Stage.RUNNING:
        raise Impossible("no listener has this message")
    if m in found.results:
        raise Impossible("its listener has returned already")
    found.results[m] = event.result
    return None


def _returns_late(f: Follower, event: Event, c: int, m: int, found: Window) -> None:
    if m in found.expired:
        f.run(texts.overdue_returns, "no listener has this message", c=c, m=m)
        found.expired.discard(m)
        found.overdue.add(m)
    elif f.orphan(c, m) is Orphan.RUNNING:
        action = "orphan_listener_fails" if event.result in FAILURES else "orphan_succeeds"
        f.take(action, "no listener has this message", c=c, m=m)
        f.leaves(c, m)
    elif f.get("life", c) == Life.STOPPING and f.stage(c, m) is Stage.RUNNING:
        return  # its queue is dropped with the last step of the shutdown
    elif f.orphan(c, m) is not Orphan.FAILED:
        raise Impossible("no listener of the dropped window has this message")


def send_back(f: Follower, event: Event, c: int, found: Window) -> str | None:
    """CC-12: one attempt to send a message back; the window changes when the message leaves it."""
    if event.path is Path.APPLICATION:
        return "send-backs that an application has asked for"
    m = f.at(event.offset)
    if f.orderly:
        orderly.sent_back(f, event, c, m, found)
        return None
    if event.path is Path.EXPIRED or m in found.expired:
        if event.path is Path.FALLBACK and event.result is not Result.OK:
            found.expired.discard(m)  # PQ-9: it stays in the window, and is cleaned again or returns
        return None
    if m in found.overdue and (f.constants.version == "4.9.8" or m not in found.results):
        return None  # PQ-13: it does not check whether the message is still there
    if f.orphan(c, m) is Orphan.FAILED and (found is not f.sides[c].current or m not in found.results):
        if event.result is Result.OK:
            f.take("orphan_sends_back", "it cannot send the message back", c=c, m=m)
        return None
    if found is not f.sides[c].current:
        if event.path is Path.FALLBACK and m in found.sent:
            return None  # SB-5: its request failed while the client had the queue
        if event.path is not Path.FALLBACK and _ends_meanwhile(f, event, c, m, found):
            found.sent.setdefault(m, []).append((event.path, event.result))
            return None
        raise Impossible("the result of a dropped window is thrown away, whatever it is (CC-9)")
    if f.stage(c, m) is Stage.RUNNING:
        head, first = _failed_from(f, c, m, found)
        if first == head:
            f.take("fail", "the task cannot fail", c=c, m=head)
        # Messages acknowledged in part stay in the window until the whole call is removed (CC-13).
    elif f.stage(c, m) is not Stage.FAILED:
        raise Impossible("only a message whose listener failed is sent back")
    found.sent.setdefault(m, []).append((event.path, event.result))
    return None


def _ends_meanwhile(f: Follower, event: Event, c: int, m: int, found: Window) -> bool:
    """ST-8: whether the listener had failed before the shutdown dropped the window, and its request was under way."""
    if found.ended is None or event.time - found.ended > REQUEST:
        return False
    return f.get("life", c) != Life.UP and found.results.get(m) in FAILURES


def settle(f: Follower, c: int, found: Window) -> None:
    """Calls that were partly acknowledged, and whose rest is being sent back, end before their window is dropped."""
    for m in sorted(found.sent):
        if has_returned(f, c, m, found):
            fails(f, c, m, found)


def fails(f: Follower, c: int, m: int, found: Window) -> None:
    """CC-10: the call that has ``m`` ends: messages before ``m`` have succeeded, ``m`` and those after it failed."""
    head, first = _failed_from(f, c, m, found)
    if first == head:
        f.take("fail", "the task cannot fail", c=c, m=head)
        return
    f.take("succeed_up_to", "the task cannot end so", c=c, m=head, last=first - 1)
    found.left |= {o for o in _task(f, c, head) if o < first}


def _failed_from(f: Follower, c: int, m: int, found: Window) -> tuple[int, int]:
    """The first message of the call that has ``m``, and the first of those that failed.

    The recorded results say how a call ended for each message; or each of them has the status that the listener
    returned, and the messages behind the ackIndex are then recognised by being sent back.
    """
    head, task = _returned(f, c, m, found)
    first = min((o for o in task if found.results[o] in FAILURES), default=m)
    told = found.results[first]
    if first > m or (told not in FAILURES and told is not Result.TIMEOUT and f.batches[c] == 1):
        raise Impossible(f"its listener returned {found.results[m]}")
    return head, first


def has_returned(f: Follower, c: int, m: int, found: Window) -> bool:
    """Whether the call that has ``m`` has ended without consequences so far."""
    running = f.stage(c, m) is Stage.RUNNING
    return running and all(o in found.results for o in _task(f, c, _head(f, c, m)))


def _returned(f: Follower, c: int, m: int, found: Window) -> tuple[int, list[int]]:
    """The first message of the call that has ``m``, and all of them if the listener has returned for each."""
    head = _head(f, c, m)
    task = _task(f, c, head)
    open_ = [o for o in task if found.results.get(o) is None]
    if open_ == [m]:
        raise Impossible("its listener has not returned")
    if open_:
        raise Impossible(f"the listener has not returned with {', '.join(map(f.told, open_))} of the same task")
    return head, task


def _head(f: Follower, c: int, m: int) -> int:
    while f.get("joined", c, texts.Q, m):
        m -= 1
    return m


def _task(f: Follower, c: int, head: int) -> list[int]:
    task = [head]
    while task[-1] + 1 < int(f.constants.messages) and f.get("joined", c, texts.Q, task[-1] + 1):
        task.append(task[-1] + 1)
    return task


def removed(f: Follower, event: Event, c: int, found: Window) -> str | None:
    """CC-13, PQ-2: the message leaves the window; ``next`` is the low-water mark afterwards."""
    m = f.at(event.offset)
    if found is not f.sides[c].current:
        return LATE_REMOVALS
    if f.orderly and orderly.is_stopping(f, c):
        return orderly.STOPPING
    if f.orderly:
        orderly.removed(f, c, m, found)
    elif m in found.removed:
        found.removed.discard(m)  # with the first message of its task
    elif m in found.left:
        found.left.discard(m)
        f.run(texts.follow_mark, c=c)
    elif _is_skipped(f, c, m, found):
        f.lose(c, SKIPPED)
        return SKIPPED
    else:
        _leaves(f, event, c, m, found)
    # Messages of the same call: the mark is then that after all of them; actions of other threads may come in between.
    removal = next((later for later in f.later(event) if later.kind is Kind.REMOVED), None)
    more = removal is not None and removal.next == event.next
    if not more and event.next is not None and (mark := f.ask(texts.mark, c=c)) != f.at(event.next):
        # If the recording ends here, the others of the call may have been removed as well.
        ends = f.following(event) is None and _all_done(f, c, range(mark, f.at(event.next)), found)
        if not ends:
            raise Impossible(f"the low-water mark is {f.told(mark)}")
    f.leaves(c, m)
    return None


def _all_done(f: Follower, c: int, messages: range, found: Window) -> bool:
    """Whether there are any, and those that the window still holds have succeeded, or were sent back."""
    sent = {o for o, attempts in found.sent.items() if any(result is Result.OK for _, result in attempts)}
    done = found.left | sent | {o for o, told in found.results.items() if told not in FAILURES}
    return bool(messages) and all(f.stage(c, o) is Stage.ABSENT or o in done for o in messages)


def _is_skipped(f: Follower, c: int, m: int, found: Window) -> bool:
    """Whether a message that has failed leaves without being sent back, because its thread was interrupted.

    Since 5.1 a thread first checks whether the window holds the message; if the shutdown interrupts the check, the
    answer is no (``ProcessQueue#containsMessage``). The offset of the message is then no longer stored.
    """
    is_sent = any(answer is Result.OK for _, answer in found.sent.get(m, ()))
    return f.get("life", c) == Life.STOPPING and found.results.get(m) in FAILURES and not is_sent and not f.broadcasting


def _leaves(f: Follower, event: Event, c: int, m: int, found: Window) -> None:
    stage = f.stage(c, m)
    if stage is Stage.ABSENT:
        raise Impossible("the window does not hold this message")
    if stage is Stage.WAITING:
        raise Impossible("no listener has had this message")
    told = found.results.get(m)
    if stage is Stage.RUNNING and told is None:
        if _expires(f, c, m, found):
            return
        raise Impossible("its listener has not returned")
    if f.broadcasting and stage is Stage.RUNNING:
        _all_leave(f, c, m, found)  # CC-11: failed messages are dropped
        return
    task = _task(f, c, _head(f, c, m)) if stage is Stage.RUNNING else []
    failed = [o for o in task if found.results.get(o) in FAILURES or o in found.sent]
    if failed:
        fails(f, c, min(failed), found)
        stage = f.stage(c, m)
        if m in found.left:
            found.left.discard(m)
            f.run(texts.follow_mark, c=c)
            return
    if stage is Stage.FAILED:
        attempts = found.sent.pop(m, [])
        if not any(answer is Result.OK for _, answer in attempts) and Kind.SEND_BACK in f.stream.header.evidence:
            raise Impossible("the message has failed, and was not sent back")
        f.take("send_back", "the message cannot be sent back", c=c, m=m)
        found.results.pop(m, None)
        return
    _all_leave(f, c, m, found)


def _all_leave(f: Follower, c: int, m: int, found: Window) -> None:
    head, task = _returned(f, c, m, found)
    f.take("succeed", "the task cannot end so", c=c, m=head)
    found.removed |= set(task) - {m}
    for o in task:
        found.results.pop(o, None)


def _expires(f: Follower, c: int, m: int, found: Window) -> bool:
    """PQ-9: it was sent back because of its time, and its listener continues to run."""
    if m not in found.expired:
        return False
    f.run(texts.expire, "only the first message of a window is cleaned, while its listener runs (PQ-9)", c=c, m=m)
    return True


def expire(f: Follower, event: Event, c: int, found: Window) -> None:
    """PQ-9: a message whose listener runs too long; it leaves once it was sent back."""
    m = f.at(event.offset)
    if f.orderly or f.stage(c, m) is not Stage.RUNNING:
        raise Impossible("only a message that a listener has is cleaned (PQ-9)")
    found.expired.add(m)


def discarded(f: Follower, event: Event, c: int, found: Window) -> None:
    """CC-9: discarded, because the window was dropped."""
    if found is f.sides[c].current and f.owns(c):
        raise Impossible("the window was not dropped")
    if f.orderly:
        return
    m = f.at(event.offset)
    if f.orphan(c, m) is Orphan.RUNNING and m in found.results:
        action = "orphan_listener_fails" if found.results[m] in FAILURES else "orphan_succeeds"
        f.take(action, "no listener has this message", c=c, m=m)


def _in_window(follow: Callable[[Follower, Event, int, Window], str | None]) -> Handler:
    """Follows events of known windows, and passes over the others."""

    def handler(f: Follower, event: Event) -> str | None:
        c = f.side_of(event)
        found = f.sides[c].window_of(event)
        if found is None:
            return UNKNOWN_WINDOW
        return follow(f, event, c, found)

    return handler


HANDLERS: dict[Kind, Handler] = {
    Kind.DELIVER: _in_window(deliver),
    Kind.RESULT: _in_window(result),
    Kind.SEND_BACK: _in_window(send_back),
    Kind.REMOVED: _in_window(removed),
    Kind.EXPIRE: _in_window(expire),
    Kind.DISCARDED: _in_window(discarded),
}
"""Kinds of this file; those of orderly listeners are in ``orderly``."""
