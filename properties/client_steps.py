"""What a single step may do to a client as a whole: its life, its pauses, and the subscription it announces."""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.filtering import edition
from ..model.kernel import BoolLike, IntLike, State, all_of, any_of, implies, not_, same
from ..model.membership import Consumer, Life
from ..model.offsets import broadcasting
from ..model.process_queue import NO_OFFSET
from ..model.rebalance import Queue
from .changes import fine, works
from .of_each import always

_always = always(Consumer, Queue)


def _stopped(s: State, c: IntLike, q: IntLike) -> BoolLike:
    gone = all_of(not_(s.owns[c, q]), s.memory[c, q] == NO_OFFSET)
    lasts = all_of(s.was_life[c] == Life.STOPPING, s.life[c] == Life.STOPPING)
    quiet = all_of(same(s.owns[c, q], s.was_owns[c, q]), same(s.next_offset[c, q], s.was_next_offset[c, q]))
    back = all_of(s.was_life[c] == Life.GONE, s.life[c] != Life.GONE)
    left = all_of(s.was_life[c] == Life.STOPPING, s.life[c] == Life.GONE)
    cut_short = bool(s.crashes)
    return all_of(
        implies(s.life[c] == Life.GONE, gone),
        implies(lasts, quiet),
        implies(back, all_of(s.life[c] == Life.UP, bool(s.restarts))),
        implies(all_of(s.was_life[c] == Life.STOPPING, s.life[c] == Life.UP), False),
        implies(all_of(s.life[c] == Life.STOPPING, s.was_life[c] != Life.STOPPING), s.was_life[c] == Life.UP),
        implies(left, any_of(s.was_persisted[c], cut_short)) if s.leaves else True,
    )


STOPPED = _always(
    "stopping-client-begins-nothing",
    "A client that shuts down takes, drops and pulls nothing any more, persists its offsets and ends; what is gone has "
    "nothing.",
    _stopped,
    "ST-8",
    "ST-9",
)


def _stands_still(s: State, c: IntLike, q: IntLike) -> BoolLike:
    asked = same(s.asked[c, q], s.was_asked[c, q]) if fine(s) else True
    stages = s.forall(Message, lambda m: same(s.stage[c, q, m], s.was_stage[c, q, m]))
    window = all_of(same(s.owns[c, q], s.was_owns[c, q]), same(s.next_offset[c, q], s.was_next_offset[c, q]))
    stored = (
        same(s.file[c, q], s.was_file[c, q]) if broadcasting(s.constants) else same(s.committed[q], s.was_committed[q])
    )
    same_offset = all_of(same(s.memory[c, q], s.was_memory[c, q]), any_of(stored, s.consumers > 1))
    still = all_of(s.was_paused[c], s.paused[c])
    begins = all_of(s.paused[c], not_(s.was_paused[c]))
    return all_of(
        implies(still, all_of(stages, window, same_offset, asked, same(s.life[c], s.was_life[c]))),
        implies(begins, works(s, c)),
    )


STANDS_STILL = _always(
    "process-that-stands-still-does-nothing",
    "In a process that stands still nothing is pulled, handled or committed, until it goes on or dies.",
    _stands_still,
    "OR-11",
)


def _announces(s: State, c: IntLike) -> BoolLike:
    changed = s.exists(Queue, lambda q: not_(same(s.owns[c, q], s.was_owns[c, q])))
    starts = all_of(s.was_life[c] == Life.GONE, s.life[c] == Life.UP)
    ends = all_of(s.was_life[c] != Life.GONE, s.life[c] == Life.GONE)
    newest = all_of(s.unannounced[c], s.newest == c)
    told = all_of(s.was_unannounced[c], not_(s.unannounced[c]))
    others = s.exists(Consumer, lambda d: all_of(s.was_unannounced[d], not_(s.unannounced[d]), works(s, d)))
    superseded = s.exists(Consumer, lambda d: all_of(s.newest == d, s.was_unannounced[d], not_(s.unannounced[d])))
    return all_of(
        implies(any_of(changed, starts), newest),
        implies(told, any_of(s.group_edition == edition(s, c), superseded)),
        implies(not_(same(s.newest, s.was_newest)), any_of(s.newest != c, changed, starts, ends)),
        implies(not_(same(s.group_edition, s.was_group_edition)), others),
    )


ANNOUNCES = always(Consumer)(
    "subscription-is-announced-when-it-is-new",
    "A client whose queues change, or which starts, has the newest subscription of its group; the broker takes it over "
    "with the heartbeat that announces it, and from no other.",
    _announces,
    "ST-5",
    "RB-37",
)
