"""Ownership: queues that enter and leave tables, where windows begin, and the locks of orderly clients."""

from __future__ import annotations

from ...model.membership import Life
from ...model.process_queue import NO_OFFSET, Orphan, Stage
from ...model.start_position import start_offset
from ..format.kinds import Kind, Path, Result
from . import texts
from .behaviour import Impossible
from .events import Event
from .follow import Follower, Handler
from .listeners import fails, has_returned, settle
from .processes import begins_to_stop
from .unseen import REQUEST
from .windows import BEFORE, Held

_SENT = frozenset({Path.REQUEST, Path.FALLBACK, Path.NONE})
EXPIRED = 30_000
"""How long a client takes a lock for its own (``ProcessQueue#REBALANCE_LOCK_MAX_LIVE_TIME``), ms."""

LATE = frozenset({Result.LATER, Result.EXCEPTION, Result.NULL, Result.FAILED})
"""Results with which a message is sent back (CC-7)."""


def queried(f: Follower, event: Event) -> None:
    """OF-3, OF-21: the broker's answer about the stored offset; PL-11: the second query of an orderly client.

    The answer may be an offset that was stored when the client sent the query: at ``due``, if it is recorded.
    """
    c = f.side_of(event)
    since = event.time if event.due is None else min(event.due, event.time)
    side = f.sides[c]
    side.answered, side.answer = event.result, None
    if event.result is Result.OK:
        offset = f.at(event.offset)
        first = event.offset == 0 and f.was_stored(c, NO_OFFSET, since)  # OF-21
        by_slave = f.stream.replicated and not f.was_stored(c, offset, since)
        if by_slave:  # OF-4: clients that believe the master is gone ask a slave, whose table is different
            f.assumed = f.assumed or "a slave may have told what it has stored"
        elif not first and not f.was_stored(c, offset, since):
            raise Impossible(f"the store has {f.told(f.stored_offset(c))}")
        side.answer = offset
        side.values.add(offset)
        if not by_slave:
            adopt(f, c, offset, first=first)
        if f.owns(c) and f.orderly:
            f.run(texts.ask_again, c=c, offset=offset)
    elif event.result is Result.MISSING and not f.stream.replicated and not f.was_stored(c, NO_OFFSET, since):
        raise Impossible(f"the store has {f.told(f.stored_offset(c))}")


def adopt(f: Follower, c: int, offset: int, *, first: bool = False) -> None:
    """The stored offset is known from an answer on, also after a restart; nothing is stored for a ``first`` window."""
    place = f.place_of_store(c)
    stored = NO_OFFSET if first else offset
    if not f.store.known[place] or (f.store.doubtful and f.stored_offset(c) != stored):
        f.assumed = f.assumed or "what was stored before is not known"
        f.run(texts.store_offset, c=c, offset=stored)
    f.store.known[place] = True
    f.store.doubtful = False


def assign(f: Follower, event: Event) -> str | None:
    """RB-30.3, RB-40: the queue enters the table, and the window begins at the offset from the store."""
    c = f.side_of(event)
    side = f.sides[c]
    _settle(f, c)
    if f.owns(c):
        raise Impossible("the queue is in the table of the client already")
    if _is_stopping(f, event, c):
        side.unseen = "of windows that began during a shutdown"
        return "assignments of clients that are shutting down"
    if f.get("life", c) != Life.UP:
        raise Impossible("the client is gone")
    if event.offset is None:
        side.unseen = "of windows that begin nobody knows where"
        return "assignments that do not say where they begin"
    offset = f.at(event.offset)
    lost = side.unseen not in ("", BEFORE)
    if f.locks and not lost:
        _lock_free(f, c)
    if side.answered is Result.OK and side.answer != offset:
        raise Impossible(f"the broker has answered {f.told(NO_OFFSET if side.answer is None else side.answer)}")
    place = f.place_of_store(c)
    nothing_stored = f.stored_offset(c) == NO_OFFSET or side.answered in (Result.MISSING, Result.ERROR)
    if lost or not f.store.known[place]:
        if f.locks and lost:
            f.run(texts.unlocked, holder=0)
        f.run(texts.take_at, "it cannot take the queue", c=c, offset=offset)
        adopt(f, c, offset, first=nothing_stored)
    elif side.answered is not Result.MISSING and f.ask(start_offset, c=c, q=texts.Q) == offset:
        f.take("take", "it cannot take the queue", c=c)
    elif f.was_stored(c, offset) or nothing_stored or side.answer == offset:
        if offset != f.stored_offset(c) and event.offset != 0:  # at the beginning nothing is passed over
            f.assumed = f.assumed or "where a window begins that finds nothing stored is not known"
        f.run(texts.take_at, "it cannot take the queue", c=c, offset=offset)
        if f.store.doubtful and not nothing_stored:
            adopt(f, c, offset)
    else:
        raise Impossible(f"it begins where the store says, at {f.told(f.stored_offset(c))}")
    if side.answered is Result.MISSING:
        f.run(texts.without_entry, c=c)
    side.answered = Result.NONE
    f.begins(c, event.epoch)
    return None


def _is_stopping(f: Follower, event: Event, c: int) -> bool:
    """Whether a pass, or a ``lockAll``, that began before the shutdown may be under way: in the machine they end
    earlier.

    Their threads end with ST-8 (5), after the last commit, or not even then if other groups of the process continue.
    Whatever is under way gets its answer, or gives up, within the time of a request.
    """
    stopped = f.sides[c].stopped
    return f.get("life", c) == Life.STOPPING or (stopped is not None and event.time - stopped <= REQUEST)


def _settle(f: Follower, c: int) -> None:
    """What was begun with the last window, and ends without an event of its own."""
    if f.get("resetting", c):
        f.may("end_reset", c=c)
    if f.get("dropped", c, texts.Q):
        stored = f.stored_offset(c)
        f.may("pull_expires", c=c)
        any(f.may(name, c=c) for name in ("remove", "remove_and_unlock_later", "remove_by_force"))
        if f.get("dropped", c, texts.Q):
            _ticks(f, lambda: f.may("remove_by_force", c=c))
        if f.stored_offset(c) != stored and Kind.COMMIT in f.stream.told():
            f.run(texts.store_offset, c=c, offset=stored)  # RB-33: its last commit was sent long ago, or was lost
    if f.get("zombie", c, texts.Q):
        f.may("lose_dropped", c=c)  # the task that corrects the offset shows when it runs


def _lock_free(f: Follower, c: int) -> None:
    """OR-1: a lock that was granted to another client than its holder has expired."""
    if f.get("holder", texts.Q) not in (0, c + 1):
        _ticks(f, lambda: f.get("holder_age", texts.Q) > int(f.constants.broker_window))


def _ticks(f: Follower, until: object) -> None:
    """Time passes; processes that would have something to do stand still."""
    paused = [d for d in range(len(f.sides)) if f.may("pause", c=d)]
    for _ in range(4):
        if until() or not f.may("tick"):  # type: ignore[operator]
            break
    for d in paused:
        f.may("resume", c=d)


def revoke(f: Follower, event: Event) -> None:
    """RB-30.1: the queue is marked as dropped; the last commit is recorded separately (RB-32)."""
    c = f.side_of(event)
    side = f.sides[c]
    if side.current is not None and not f.orderly:
        settle(f, c, side.current)
    if event.path is Path.SHUTDOWN or f.get("life", c) == Life.STOPPING:
        begins_to_stop(f, c)
        side.drop(event.time)
        return
    if event.path is Path.CORRECTION:
        if f.owns(c):
            raise Impossible("no answer has told it to correct its offset")
        side.drop(event.time)
        return
    if not f.owns(c):
        if f.get("dropped", c, texts.Q) or f.get("zombie", c, texts.Q) or _is_stopping(f, event, c):
            side.drop(event.time)
            return
        raise Impossible("the queue is not in the table of the client")
    begun_before(f, event, c)
    if event.path is Path.RESET and "begin_reset" in f.direct.actions:
        if not f.get("reset_due", c):
            raise Impossible("nobody has ordered a reset")
        f.take("begin_reset", "it cannot begin to reset its offset", c=c)
    elif f.locks:
        f.take("drop_in_order", "it cannot drop the queue", c=c)
    elif not f.may("drop_losing_commit", c=c):
        f.take("drop", "it cannot drop the queue", c=c)
    side.live = Held(m for m in side.live if f.orphan(c, m) is not Orphan.NONE or f.stage(c, m) is not Stage.ABSENT)
    side.drop(event.time)


def begun_before(f: Follower, event: Event, c: int) -> None:
    """CC-3, CC-9: calls, and send-backs, that checked ``dropped`` before it was set, and that show afterwards."""
    window = f.sides[c].current
    if window is None or f.orderly:
        return
    for later in f.later(event):
        m = f.clamped(later.offset)
        if later.kind is Kind.DELIVER and later.time <= event.time + f.slack and m is not None:
            f.may("begin", c=c, m=m)
            window.called.add(m)
    ended = {m for m, result in window.results.items() if result in LATE or f.batches[c] > 1}
    for later in f.later(event, any_window=True):
        m = f.clamped(later.offset)
        if m not in ended or m is None:
            continue
        if later.kind is Kind.SEND_BACK and later.path in _SENT and has_returned(f, c, m, window):
            fails(f, c, m, window)
        if later.kind in (Kind.SEND_BACK, Kind.RESULT, Kind.DISCARDED):
            ended.discard(m)


def lock(f: Follower, event: Event) -> str | None:
    """OR-1, OR-9: a lock request and its answer."""
    c = f.side_of(event)
    if not f.locks:
        return "lock: of a group without locks"
    if event.result is Result.ERROR:
        return "lock: the request failed"
    side = f.sides[c]
    if event.result is not Result.OK:
        # OR-4: a worker whose lock has expired asks for itself, and its refusal leaves the window locked
        # (``RebalanceImpl#lock``).
        is_expired = side.locked_at is not None and event.time - side.locked_at > EXPIRED
        if is_expired and f.owns(c) and f.get("locked", c, texts.Q):
            return "lock: refused for a worker whose lock had expired"
        free = f.get("holder", texts.Q) in (0, c + 1)
        if free or not f.may("renew", c=c):
            return "lock: refused for a reason that is not recorded"
        return None
    side.locked_at = event.time
    _lock_free(f, c)
    stopping = _is_stopping(f, event, c)
    if f.get("life", c) == Life.GONE and not stopping:
        raise Impossible("the client is gone")
    holder = f.get("holder", texts.Q)
    if holder not in (0, c + 1) and Kind.ROLE_CHANGE in f.stream.kinds():
        f.over = "after another master had granted their lock"
        return f.over
    if stopping and holder in (0, c + 1):
        # ST-8 (1): a request of the periodic lockAll was under way while the shutdown unlocked; the lock stays.
        f.run(texts.unlocked, holder=c + 1)
        return None
    why = f"the lock is {f.lock_holder()}"
    if f.owns(c) or (f.get("dropped", c, texts.Q) and f.may("renew", c=c)):
        f.take("renew", why, c=c)
    elif holder != c + 1 and not f.may("lock_late", c=c):
        _settle(f, c)  # it was given up without an unlock: no broker was known then
        f.take("lock_late", why, c=c)
    return None


def unlock(f: Follower, event: Event) -> None:
    """RB-33, ST-8 (1): the lock is given back."""
    c = f.side_of(event)
    if f.get("dropped", c, texts.Q):
        for _ in range(2):
            if f.may("remove", c=c) or f.may("unlock_later", c=c):
                return
            if (f.may("remove_and_unlock_later", c=c) and f.may("unlock_later", c=c)) or f.may("remove_by_force", c=c):
                return
            f.may("pull_expires", c=c)
            _ticks(f, lambda: f.may("remove_by_force", c=c))
            if not f.get("dropped", c, texts.Q):
                return
        raise Impossible("a listener is running, which keeps the consume lock")
    if f.get("unlocking", c, texts.Q):
        f.take("unlock_later", "it cannot unlock", c=c)
    elif f.owns(c):
        begins_to_stop(f, c)
    elif f.get("holder", texts.Q) == c + 1:
        f.run(texts.unlocked, holder=0)  # of a window whose beginning nobody has seen


HANDLERS: dict[Kind, Handler] = {
    Kind.OFFSET_QUERY: queried,
    Kind.ASSIGN: assign,
    Kind.REVOKE: revoke,
    Kind.LOCK: lock,
    Kind.UNLOCK: unlock,
}
"""Kinds of this file."""
