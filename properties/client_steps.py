"""What a single step may do to a client as a whole: its life, its pauses, and the subscription that it announces."""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.correction import client_resets, corrects, leaves_zombies
from ..model.filtering import edition
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.membership import Consumer, Life
from ..model.offsets import broadcasting
from ..model.orderly_ownership import unlocks_late
from ..model.process_queue import NO_OFFSET, Orphan, Stage, counts_send_backs
from ..model.route import Queue
from ..model.start_position import starts_in_steps
from .changes import fine, works
from .property import always


@always("stopping-client-begins-nothing", "ST-8", "ST-9")
def stopped(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client that shuts down no longer takes, drops or pulls anything, persists its offsets and ends; a client that
    has ended has nothing.
    """
    gone = all_of(not_(s.owns[c, q]), s.memory[c, q] == NO_OFFSET)
    lasts = all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.STOPPING)
    quiet = all_of(same(s.owns[c, q], s.was.owns[c, q]), same(s.next_offset[c, q], s.was.next_offset[c, q]))
    back = all_of(s.was.life[c] == Life.GONE, s.life[c] != Life.GONE)
    left = all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.GONE)
    cut_short = bool(s.crashes)
    return all_of(
        implies(s.life[c] == Life.GONE, gone),
        implies(lasts, quiet),
        implies(back, all_of(s.life[c] == Life.UP, bool(s.restarts))),
        implies(all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.UP), False),
        implies(all_of(s.life[c] == Life.STOPPING, s.was.life[c] != Life.STOPPING), s.was.life[c] == Life.UP),
        implies(left, any_of(s.was.persisted[c], cut_short)) if s.leaves else True,
    )


@always("process-that-stands-still-does-nothing", "OR-11")
def stands_still(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """In a suspended process nothing is pulled, handled or committed until it continues or dies."""
    asked = same(s.asked[c, q], s.was.asked[c, q]) if fine(s) else True
    stages = s.forall(Message, lambda m: same(s.stage[c, q, m], s.was.stage[c, q, m]))
    window = all_of(same(s.owns[c, q], s.was.owns[c, q]), same(s.next_offset[c, q], s.was.next_offset[c, q]))
    stored = (
        same(s.file[c, q], s.was.file[c, q]) if broadcasting(s.constants) else same(s.committed[q], s.was.committed[q])
    )
    same_offset = all_of(same(s.memory[c, q], s.was.memory[c, q]), any_of(stored, s.consumers > 1))
    still = all_of(s.was.paused[c], s.paused[c])
    begins = all_of(s.paused[c], not_(s.was.paused[c]))
    return all_of(
        implies(still, all_of(stages, window, same_offset, asked, same(s.life[c], s.was.life[c]))),
        implies(begins, works(s, c)),
    )


@always("subscription-is-announced-when-it-is-new", "ST-5", "RB-37")
def announces(s: GroupState, c: Consumer) -> BoolLike:
    """A client that starts, or whose queues change, has the newest subscription of its group. The broker takes it from
    the heartbeat that announces it, and from no other.
    """
    changed = s.exists(Queue, lambda q: not_(same(s.owns[c, q], s.was.owns[c, q])))
    starts = all_of(s.was.life[c] == Life.GONE, s.life[c] == Life.UP)
    ends = all_of(s.was.life[c] != Life.GONE, s.life[c] == Life.GONE)
    newest = all_of(s.unannounced[c], s.newest == c)
    told = all_of(s.was.unannounced[c], not_(s.unannounced[c]))
    others = s.exists(Consumer, lambda d: all_of(s.was.unannounced[d], not_(s.unannounced[d]), works(s, d)))
    superseded = s.exists(
        Consumer,
        lambda d: all_of(s.newest == d, s.was.unannounced[d], not_(s.unannounced[d]), s.group_edition == edition(s, d)),
    )
    return all_of(
        implies(any_of(changed, starts), newest),
        implies(told, any_of(s.group_edition == edition(s, c), superseded)),
        implies(not_(same(s.newest, s.was.newest)), any_of(s.newest != c, changed, starts, ends)),
        implies(not_(same(s.group_edition, s.was.group_edition)), others),
    )


@always("newest-subscription-settles-the-others", "ST-5", "RB-37")
def settled(s: GroupState, c: Consumer) -> BoolLike:
    """Once the newest subscription is announced, no older one can replace it: nobody else has one to announce."""
    newest_told = all_of(s.was.unannounced[c], not_(s.unannounced[c]), s.was.newest == c, works(s, c))
    others = s.forall(Consumer, lambda d: any_of(not_(s.unannounced[d]), s.life[d] == Life.GONE))
    return implies(newest_told, others)


@always("all-that-was-in-memory-dies", "ST-8", "EN-7")
def dies_with_its_process(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Nothing remains of what was only in the memory of a process that has ended: no window, call, request, correction
    or reset, and nothing that it had learnt.
    """
    k = s.constants
    windows = not_(any_of(s.owns[c, q], s.memory[c, q] != NO_OFFSET, s.next_offset[c, q] != 0))
    tasks = s.forall(Message, lambda m: all_of(s.stage[c, q, m] == Stage.ABSENT, _no_call(s, c, q, m)))
    requests = all_of(not_(s.asked[c, q]), s.stale[c, q] == NO_OFFSET, not_(s.stale_empty[c, q])) if fine(s) else True
    corrections = s.target[c, q] == NO_OFFSET if corrects(k) else True
    waiting = not_(s.zombie[c, q]) if leaves_zombies(k) else True
    resets = (
        all_of(not_(s.resetting[c]), not_(s.reset_due[c]), s.ghost[c, q] == NO_OFFSET) if client_resets(k) else True
    )
    late = s.held_update[c, q] == NO_OFFSET if s.held_updates else True
    start = not_(s.unknown[c, q]) if starts_in_steps(k) else True
    unlock = not_(s.unlocking[c, q]) if unlocks_late(k) else True
    pause = not_(s.paused[c]) if s.pauses else True
    loop = not_(s.loop_lost[c, q]) if s.lost_pulls else True
    nothing = all_of(windows, tasks, requests, corrections, waiting, resets, late, start, unlock, pause, loop)
    return implies(s.life[c] == Life.GONE, nothing)


def _no_call(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    outlives = s.orphan[c, q, m] == Orphan.NONE if s.orphans else True
    overdue = not_(s.overdue[c, q, m]) if s.copies and s.expiries else True
    hung = not_(s.hung[c, q, m]) if s.hangs else True
    counted = s.failed_send_backs[c, q, m] == 0 if counts_send_backs(s.constants) else True
    return all_of(outlives, overdue, hung, counted)
