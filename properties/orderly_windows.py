"""Invariants of orderly windows: what the refinement of ``orderly_lock`` by ``consumption`` rests on.

They are proven together with it, by induction, and are no guarantees for users: they say which states the variables of
windows, locks and calls may be in together.
"""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.group import GroupState
from ..model.kernel import BoolLike, all_of, any_of, implies, not_, same
from ..model.membership import Consumer, Life
from ..model.orderly import calls
from ..model.process_queue import Orphan, Stage, held, owned_or_leaving
from ..model.route import Queue
from .property import always
from .unbounded import closed, none_failed


@always("client-runs-stops-or-is-gone", "ST-8")
def lives(s: GroupState, c: Consumer) -> BoolLike:
    """A client runs from the beginning; only a stop or a death changes that."""
    ended = [s.life[c] == Life.GONE] if s.crashes or s.leaves else []
    return any_of(s.life[c] == Life.UP, *ended, *([s.life[c] == Life.STOPPING] if s.leaves else []))


@always("client-that-is-gone-has-nothing", "ST-8")
def gone(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client that is gone has no queue, and none of its listeners runs."""
    return implies(s.life[c] == Life.GONE, all_of(not_(owned_or_leaving(s, c, q)), not_(calls(s, c, q))))


@always("dropped-queue-is-not-owned", "RB-33")
def given_up(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A queue that waits for its lock to be given back is not in use."""
    return not_(all_of(s.owns[c, q], s.dropped[c, q]))


@always("lock-belongs-to-a-window", "RB-33", "PQ-10")
def lock_in_window(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Outside its table, a client believes in no lock and remembers no renewal."""
    return any_of(owned_or_leaving(s, c, q), all_of(not_(s.locked[c, q]), s.lock_age[c, q] == 0))


@always("window-holds-pulled-messages", "PL-1")
def held_was_pulled(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """Every message of a window lies below its pull position."""
    return implies(held(s, c, q, m), m < s.next_offset[c, q])


@always("no-call-no-age", "OR-6")
def idle(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The time of a call counts only while a listener runs."""
    return implies(all_of(s.life[c] != Life.GONE, not_(calls(s, c, q))), s.call_age[c, q] == 0)


@always("one-call-a-queue", "OR-4", "RB-33")
def one_call(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """Only a forced unlock lets a call outlive its window, and no other call of that message runs meanwhile."""
    outlived = all_of(same(s.orphan[c, q, m], Orphan.RUNNING), s.stage[c, q, m] != Stage.RUNNING)
    return any_of(s.orphan[c, q, m] == Orphan.NONE, outlived if s.forced_unlock else False)


ORDERLY_WINDOWS = (closed, none_failed, lives, gone, given_up, lock_in_window, held_was_pulled, idle, one_call)
"""All of them, with two that delivery rests on as well."""
