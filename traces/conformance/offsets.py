"""Offsets: those that clients have in memory and send, those in the store, and those that operators and answers set."""

from __future__ import annotations

from ...model.membership import Life
from ...model.process_queue import NO_OFFSET, Stage
from ..format.kinds import Kind, Path, Result
from . import orderly, texts
from .behaviour import Impossible
from .events import Event
from .follow import Follower, Handler
from .ownership import adopt
from .processes import begins_to_stop
from .windows import BEFORE

NOT_FOLLOWED = "commits of windows that are not followed"


def commit_memory(f: Follower, event: Event) -> str | None:
    """OF-1, CC-13: the in-memory offset has a value that the window's mark has had.

    Workers write one after the other, each a little after its messages were removed, so a recorded value may be behind.
    An orderly queue has one worker, which writes what it has just removed (OR-7).
    """
    c = f.side_of(event)
    side = f.sides[c]
    offset = f.at(event.offset)
    window = side.current
    if f.orderly and orderly.is_stopping(f, c):
        side.values.add(offset)
        return orderly.STOPPING
    if window is None or not f.owns(c):
        # OF-3, OF-10: it may come from the store if the answer is not recorded; reading a file never is.
        is_asked = f.broadcasting or Kind.OFFSET_QUERY not in f.stream.told()
        if offset not in side.values and offset != side.answer and not (is_asked and f.was_stored(c, offset)):
            raise Impossible(f"its in-memory offset never was {f.told(offset)}")
        return None
    if offset not in window.marks:
        # Its pulls, which are no longer followed, still get answers, and those without messages set the offset.
        if offset > f.memory(c) and f.get("life", c) == Life.STOPPING:
            side.values.add(offset)
            return "in-memory offsets of clients that are shutting down"
        if _taken_along(f, event, c, offset):
            side.values.add(offset)
        if offset not in side.values or offset == side.answer:
            raise Impossible(f"the in-memory offset is {f.told(f.memory(c))}")
        f.run(texts.late_update, c=c, offset=offset)
    elif f.orderly and offset < window.marks[-1]:
        raise Impossible(f"the in-memory offset is {f.told(window.marks[-1])}")
    if window.shown is not None and offset < window.shown[0] and window.shown[1] < event.time - f.slack:
        raise Impossible(f"the in-memory offset of a window never decreases, and was {f.told(window.shown[0])}")
    window.shown = (offset, event.time)
    return None


def _taken_along(f: Follower, event: Event, c: int, offset: int) -> bool:
    """FI-3: an answer without messages found the window empty; the thread that emptied it records this later."""
    if offset != f.get("next_offset", c, texts.Q) or f.get("asked", c, texts.Q):
        return False
    leaving = {
        f.at(later.offset)
        for later in f.later(event, any_window=True)
        if later.kind is Kind.REMOVED and later.time - event.time <= f.slack
    }
    held = {m for m in f.sides[c].live if f.stage(c, m) is not Stage.ABSENT}
    return bool(held) and held <= leaving


def commit(f: Follower, event: Event) -> str | None:
    """OF-20: the stored offset becomes what a client sent, now or before; or what the broker found in its file."""
    if event.actor is None and event.result is Result.MISSING:
        f.run(texts.store_offset, c=0, offset=NO_OFFSET)
        f.store.known[0] = True
        return None
    offset = f.at(event.offset)
    if event.actor is None:
        c = 0
        had = f.store.ever_had(0, offset)
        # The broker may not know who has sent it, for example after a connection was lost and re-established.
        # A tool stores any offset, and its broker then refuses to reset to it (DefaultMQAdminExtImpl).
        beyond = offset > max(f.logs, default=offset) + 1
        sent = event.path is Path.RESET or beyond or any(offset in side.values for side in f.sides)
        is_new = f.store.known[0] and not had and not sent
        if is_new and all(side.unseen in ("", BEFORE) for side in f.sides):
            raise Impossible("the stored offset never had this value, and no client had it in memory")
        adopt(f, c, offset)
        f.run(texts.store_offset, c=c, offset=offset)
        return NOT_FOLLOWED if is_new else None
    c = f.side_of(event)
    side = f.sides[c]
    if event.path is Path.SHUTDOWN:
        begins_to_stop(f, c)
    if event.path is Path.RESET and f.get("resetting", c):
        f.take("end_reset", "it is not in a reset", varied={"reset_to": offset}, c=c)
    if offset not in side.values and not side.unseen:
        raise Impossible(f"the client never had this offset in memory; it has {f.told(f.memory(c))}")
    f.store.known[f.place_of_store(c)] = True
    if offset not in side.values:
        f.run(texts.store_offset, c=c, offset=offset)
        f.assumed = f.assumed or "offsets come from windows that are not known"
        return NOT_FOLLOWED
    name = "persist_at_stop" if event.path is Path.SHUTDOWN else "commit"
    if f.memory(c) != offset or not f.may(name, c=c):
        f.run(texts.store_offset, c=c, offset=offset)
    f.store.doubtful = False
    return None


def correct(f: Follower, event: Event) -> None:
    """PL-23: the corrected offset is set and sent."""
    c = f.side_of(event)
    offset = f.at(event.offset)
    target = f.get("target", c, texts.Q) if f.direct.has("target") else NO_OFFSET
    if target == NO_OFFSET and f.sides[c].sent_to == offset:
        f.sides[c].sent_to = None
        return
    if target == NO_OFFSET:
        raise Impossible("no answer has told it to correct its offset")
    if target != offset:
        raise Impossible(f"the answer sent it to {f.told(target)}")
    f.sides[c].values.add(offset)
    f.run(texts.end_correction, c=c)


def reset(f: Follower, event: Event) -> str | None:
    """OF-30, OF-31: an operator sets the offset of the group."""
    offset = f.at(event.offset)
    varied = {"reset_to": offset}
    f.reset_at = event.time
    end = max(f.logs, default=NO_OFFSET) + 1
    f.asked_before_reset = {c: end for c in range(len(f.sides)) if f.get("asked", c, texts.Q)}
    if f.broadcasting:
        # The broker informs whichever client pulls next, which no machine of broadcasting has.
        f.ordered.add(offset)
        return "reset: of a broadcasting group"
    if "order_reset" in f.direct.actions:
        f.take("order_reset", "there is no such reset", varied=varied)
    elif not _by_clients(f):
        f.take("reset_at_broker", "there is no such reset", varied=varied)
        f.store.known[0] = True
    for side in f.sides:
        side.values.add(offset)
    return None


def _by_clients(f: Follower) -> bool:
    """OF-31: without ``useServerSideResetOffset`` clients also reset in 5.x, which the machine has only for 4.x.

    The steps are then followed one by one: queues that are dropped, and commits of the offset that was set.
    """
    return any(event.kind is Kind.REVOKE and event.path is Path.RESET for event in f.stream.events)


HANDLERS: dict[Kind, Handler] = {
    Kind.COMMIT_MEMORY: commit_memory,
    Kind.COMMIT: commit,
    Kind.CORRECT: correct,
    Kind.RESET: reset,
}
"""Kinds of this file."""
