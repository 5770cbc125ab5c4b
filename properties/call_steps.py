"""What a single step may do to a listener call that outlives its window, stands still, or never returns."""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, maximum, not_, same
from ..model.membership import Consumer, Life
from ..model.process_queue import NO_OFFSET, Orphan, Stage, in_table
from ..model.route import Queue
from .changes import had, lives, mark, stays, works
from .property import always, eventually, sometimes


@always("call-outlives-its-window", "CC-9", "CC-12")
def runs_on(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A call that is running when its window is dropped continues, and what has failed by then is still sent back;
    nothing else outlives a window.
    """
    left = all_of(s.was.owns[c, q], not_(s.owns[c, q]), lives(s, c))

    def in_turn(m: IntLike) -> BoolLike:
        was, now, stage = s.was.orphan[c, q, m], s.orphan[c, q, m], s.was.stage[c, q, m]
        running = all_of(left, stage == Stage.RUNNING, now == Orphan.RUNNING)
        failed = all_of(left, stage == Stage.FAILED, now == Orphan.FAILED)
        idle = all_of(stage != Stage.RUNNING, stage != Stage.FAILED)
        returns = all_of(was == Orphan.RUNNING, now == Orphan.NONE)
        sent_back = all_of(was == Orphan.FAILED, now == Orphan.NONE, any_of(s.handled[q, m], s.life[c] == Life.GONE))
        return all_of(
            any_of(same(was, now), running, failed, returns, sent_back), implies(left, any_of(running, failed, idle))
        )

    return s.forall(Message, in_turn)


@always("late-result-changes-no-window", "CC-9", "CC-13")
def counts_for_nothing(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The result of a call whose window is gone moves no offset, and changes nothing in the next window."""

    def ended(m: IntLike) -> BoolLike:
        return all_of(s.was.orphan[c, q, m] != Orphan.NONE, s.orphan[c, q, m] == Orphan.NONE, lives(s, c))

    window = all_of(
        same(s.owns[c, q], s.was.owns[c, q]),
        same(s.next_offset[c, q], s.was.next_offset[c, q]),
        same(s.memory[c, q], s.was.memory[c, q]),
        same(s.committed[q], s.was.committed[q]),
        s.forall(Message, lambda m: same(s.stage[c, q, m], s.was.stage[c, q, m])),
    )
    return implies(s.exists(Message, ended), window)


def _late_result(s: GroupState, c: IntLike, q: IntLike, handled: bool) -> BoolLike:
    def returned(m: IntLike) -> BoolLike:
        ended = all_of(s.was.orphan[c, q, m] == Orphan.RUNNING, s.orphan[c, q, m] == Orphan.NONE, works(s, c))
        return all_of(ended, not_(s.was.handled[q, m]), s.handled[q, m] if handled else not_(s.handled[q, m]))

    return s.exists(Message, returned)


@sometimes("late-success-is-told-to-nobody", "CC-9")
def done_for_nothing(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A listener may succeed with a message after its window was dropped: the work is done, and the message comes
    again.
    """
    return _late_result(s, c, q, True)


@sometimes("late-failure-leads-to-no-retry", "CC-9")
def failed_for_nothing(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A listener may fail with a message after its window was dropped: nothing is sent back."""
    return _late_result(s, c, q, False)


def _failed_in_a_dropped_window(s: GroupState) -> BoolLike:
    return s.exists(
        Consumer,
        lambda c: s.exists(Queue, lambda q: s.exists(Message, lambda m: s.orphan[c, q, m] == Orphan.FAILED)),
    )


@eventually("late-failure-is-sent-back", "CC-12", "SB-2", after=_failed_in_a_dropped_window)
def late_sent_back(s: GroupState) -> BoolLike:
    """A message that failed before its window was dropped is eventually sent back, unless the process ends."""
    return not_(_failed_in_a_dropped_window(s))


def _done_during_a_stop(s: GroupState, c: IntLike, q: IntLike, stage: Stage) -> BoolLike:
    """A client that was stopping, and still is, is done with a message that was in ``stage``."""
    lasts = all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.STOPPING)

    def done(m: IntLike) -> BoolLike:
        left = all_of(s.was.stage[c, q, m] == stage, s.stage[c, q, m] == Stage.ABSENT)
        return all_of(left, s.handled[q, m], not_(s.was.handled[q, m]))

    return all_of(lasts, s.was.memory[c, q] < s.memory[c, q], s.exists(Message, done))


@sometimes("listener-that-ends-during-a-stop-counts", "ST-8", "ST-9")
def counts_during_a_stop(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A listener that is running when its client begins to shut down may still succeed, and the offset follows."""
    return _done_during_a_stop(s, c, q, Stage.RUNNING)


@sometimes("failure-is-sent-back-during-a-stop", "CC-12", "ST-9")
def sent_back_during_a_stop(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A message that fails while its client shuts down may still be sent back."""
    return _done_during_a_stop(s, c, q, Stage.FAILED)


@always("message-is-handled-by-a-call", "CC-6", "CC-9")
def handled_by_a_call(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """A message is handled only by a listener that was called with it, even if the call's window is gone by then."""

    def called(c: IntLike) -> BoolLike:
        had_it = any_of(s.was.stage[c, q, m] == Stage.RUNNING, s.was.stage[c, q, m] == Stage.FAILED)
        return any_of(had_it, s.was.orphan[c, q, m] != Orphan.NONE)

    return implies(all_of(s.handled[q, m], not_(s.was.handled[q, m])), s.exists(Consumer, called))


@always("worker-that-stands-still-has-removed-its-messages", "CC-13", "OF-1")
def held_in_turn(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A worker that is suspended before it updates the offset has already removed its messages from the window. When it
    continues, it raises the offset to what the lowest unfinished offset was then, and never lowers it.
    """
    was, now = s.was.held_update[c, q], s.held_update[c, q]
    out = s.exists(Message, lambda m: all_of(s.was.stage[c, q, m] == Stage.RUNNING, s.stage[c, q, m] == Stage.ABSENT))
    kept = same(s.memory[c, q], s.was.memory[c, q])
    begins = all_of(was == NO_OFFSET, stays(s, c, q), out, now == mark(s, c, q), kept)
    ends = all_of(now == NO_OFFSET, s.memory[c, q] == maximum(s.was.memory[c, q], was))
    gone = all_of(now == NO_OFFSET, s.life[c] == Life.GONE)
    return any_of(same(was, now), begins, ends, gone)


@always("offset-of-a-foreign-queue-is-not-sent", "OF-6")
def forgotten(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An offset that a late worker leaves for a queue that its client no longer has is removed without being sent."""
    foreign = all_of(s.was.memory[c, q] != NO_OFFSET, not_(had(s, c, q)), not_(in_table(s, c, q)))
    forgets = all_of(s.memory[c, q] == NO_OFFSET, works(s, c), same(s.committed[q], s.was.committed[q]))
    raised = s.was.memory[c, q] <= s.memory[c, q]
    return implies(all_of(foreign, lives(s, c)), any_of(raised, forgets))


@always("hung-call-holds-its-messages", "G10", "PL-9")
def hangs(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A call that hangs keeps its messages running for as long as the window lives."""

    def for_good(m: IntLike) -> BoolLike:
        running = implies(s.hung[c, q, m], s.stage[c, q, m] == Stage.RUNNING)
        stuck = all_of(stays(s, c, q), s.was.hung[c, q, m])
        return all_of(running, implies(stuck, s.hung[c, q, m]))

    return s.forall(Message, for_good)
