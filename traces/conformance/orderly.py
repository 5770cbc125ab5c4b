"""Orderly listeners: batches under the lock, their results, and what a worker does with them (OR-3 to OR-8)."""

from __future__ import annotations

from ...model.membership import Life
from ...model.orderly import Result as Returned
from ...model.process_queue import Orphan, Stage
from ..format.kinds import Kind, Path, Result
from . import texts
from .behaviour import Impossible
from .events import Event
from .follow import Follower
from .windows import Window

_ACTIONS = {
    Result.OK: "succeed_in_order",
    Result.COMMIT: "say_commit",
    Result.ROLLBACK: "say_rollback",
}
"""Result → what the listener did; everything else suspends the queue."""


STOPPING = "orderly calls of clients that are shutting down, whose commits may be interrupted"


def is_stopping(f: Follower, c: int) -> bool:
    """ST-8 (1): the pool interrupts its workers, and an interrupted commit (PQ-5) leaves the batch to the next one.

    ``ProcessQueue#commit`` can be interrupted while it waits for its lock. The machine has no such commit, so nothing
    is followed.
    """
    return f.get("life", c) == Life.STOPPING


def deliver(f: Follower, event: Event, c: int, m: int, found: Window) -> None:
    """OR-3 to OR-6: the worker takes the first messages of the window, under the lock."""
    if found is not f.sides[c].current:
        raise Impossible("its window was dropped, and a dropped window delivers nothing (OR-3)")
    if f.stage(c, m) is Stage.RUNNING and m in found.called:
        found.called.discard(m)  # with the first message of its batch
        return
    _acted_upon(f, c, m)
    before = {*f.taken(c)}
    f.take("begin_batch", _why_not(f, c, m), c=c)
    taken = {*f.taken(c)} - before
    # The members of a group may differ in consumeMessageBatchMaxSize, and the machine has one.
    beyond = frozenset(sorted(taken)[f.batches[c] :])
    if beyond:
        f.run(texts.not_taken, c=c, beyond=beyond)
        taken -= beyond
    if m != min(taken, default=-1):
        raise Impossible(f"the next batch begins with {f.told(min(taken))}")
    if event.count is not None and event.count < len(taken):
        raise Impossible(f"the batch has {len(taken)} messages")
    found.called = taken - {m}


def _why_not(f: Follower, c: int, m: int) -> str:
    if f.get("result", c, texts.Q) != Returned.NONE:
        return "the result of the batch before it was not acted upon"
    if f.locks and not f.get("locked", c, texts.Q):
        return "the client has no lock (OR-3)"
    if f.stage(c, m) is Stage.ABSENT:
        return "the window does not hold this message"
    if f.stage(c, m) is Stage.RUNNING:
        return "this message is in a batch already"
    return "a listener of this queue is running, or the lock has expired (OR-3, OR-4)"


def _acted_upon(f: Follower, c: int, m: int) -> None:
    """OR-7: what a worker does with a result shows only when something is removed, or by the next call.

    A batch that is given up without autoCommit stays until the next commit (OR-8): the next call has later messages.
    """
    result = Returned(f.get("result", c, texts.Q))
    if result is Returned.SUSPEND:
        is_kept = not f.constants.auto_commit and m not in f.taken(c)
        if not (is_kept and f.may("publish_batch", c=c)):
            f.may("put_batch_back", c=c) or f.may("publishing_fails", c=c)
    elif result is Returned.SUCCESS:
        f.may("keep_taken", c=c)
    elif result is Returned.ROLLBACK:
        f.may("roll_back", c=c)


def returned(f: Follower, event: Event, c: int, m: int, found: Window) -> None:
    """OR-6: the listener returns; each message of the batch has an event of its own."""
    if found is not f.sides[c].current:
        if f.orphan(c, m) is Orphan.RUNNING:
            f.take("return_to_dropped_window", "no listener runs", c=c, success=int(event.result in _ACTIONS))
            found.removed.add(m)
            return
        if f.get("dropped", c, texts.Q) and f.stage(c, m) is Stage.RUNNING:
            _returns(f, event, c, m, found)
            return
        if found.removed or m in found.results:
            return  # of the same batch
        raise Impossible("no listener of the dropped window has this message")
    _returns(f, event, c, m, found)


def _returns(f: Follower, event: Event, c: int, m: int, found: Window) -> None:
    if m in found.results:
        found.results.pop(m)
        return  # of the same batch
    if f.stage(c, m) is not Stage.RUNNING:
        raise Impossible("no listener has this message")
    batch = {o for o in f.taken(c) if not f.get("kept", c, texts.Q, o)}
    if event.result is Result.ROLLBACK:
        batch = {*f.taken(c)}
    action = _ACTIONS.get(event.result, "suspend")
    if event.result is Result.OK and "say_commit" in f.direct.actions and _leaves_at_once(f, event):
        action = "say_commit"  # OR-7: a listener may commit manually in one call, and automatically in another
    f.take(action, "no listener runs", c=c)
    found.results = dict.fromkeys(batch - {m}, event.result)


def _leaves_at_once(f: Follower, event: Event) -> bool:
    """Whether a batch leaves the window before a listener is called again."""
    kinds = (later.kind for later in f.later(event))
    return next((kind for kind in kinds if kind in (Kind.REMOVED, Kind.DELIVER)), None) is Kind.REMOVED


def removed(f: Follower, c: int, m: int, found: Window) -> None:
    """OR-7: the taken messages are committed, all at once."""
    if m in found.removed and f.stage(c, m) is Stage.ABSENT:
        return
    taken = {*f.taken(c)}
    if m not in taken:
        raise Impossible("this message was not taken from the window")
    if not f.may("commit_taken", c=c):
        f.take("publish_batch", "the batch has not succeeded", c=c)
    found.removed |= taken


def sent_back(f: Follower, event: Event, c: int, m: int, found: Window) -> None:
    """OR-8: a message that has failed too often is produced to the retry topic; what comes of it shows next."""
    if event.path is Path.REQUEST:
        raise Impossible("an orderly client produces a message of its own, it sends no request 36 (OR-8)")
    found.sent.setdefault(m, []).append((event.path, event.result))
