"""Reset: the operator sets the offset of the group; the broker does it in 5.x, the clients in earlier versions.

[5.3.3] (OF-30) The broker notes the offset in a table of its own and in the cell. Until the next pull of the queue it
answers queries with it and ignores commits. That pull removes the note and is answered with OFFSET_ILLEGAL, so that the
client corrects its offset. But the same pull carries a commit, which overwrites the cell: until the client has sent the
corrected offset, nobody else knows of the reset.

[4.9.8] (OF-31) The broker sends the reset to every client. Each suspends itself, drops and clears its windows of the
topic, waits 10 s, sets the offset of every queue it has by then, sends it, removes the queue, and resumes. Requests
under way outlive the wait (PL-24). A window that was opened during the wait is removed from the table without being
dropped: a *ghost*, which pulls and updates the offset beside the window that is opened next, for as long as the process
lives.

The observer's ``handled`` begins anew: what a backward reset uncovers is to be handled once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .consume_queue import Message
from .correction import client_resets, corrects, drop_and_correct, reset_excludes_rebalance, server_resets
from .history import Cause, Regression, note_cause, note_commit
from .kernel import BoolLike, Int, IntLike, Machine, State, all_of, any_of, ite, maximum, not_, variable
from .membership import Consumer, Life
from .offsets import accepts_commit, stored_offset
from .process_queue import NO_OFFSET, in_table, working
from .pull import answers, carries, inside, may_ask, redirected
from .queue_table import Leaving, change_table
from .route import Queue, nothing
from .start_position import queried_offset

if TYPE_CHECKING:
    from .group import GroupState

reset = Machine("reset", doc="Resets of the offset, by broker or clients.")
reset.constraint(
    "resets", "mode", holds=lambda k: not k.resets or k.mode == "clustering", message="resets need a broker"
)
reset.constraint("resets", "copies", holds=lambda k: not k.resets or not k.copies, message="retry queues are not reset")
reset.constraint(
    "resets",
    "corrections",
    "version",
    holds=lambda k: not k.resets or k.corrections == "steps" or k.version == "4.9.8",
    message="a broker's reset is followed step by step, so corrections=steps",
)


@reset.state
class ResetState(State):
    """Resets under way."""

    reset_noted = variable(bool, Queue, when=server_resets, doc="the next pull is answered with OFFSET_ILLEGAL")
    reset_due = variable(bool, Consumer, when=client_resets, doc="told to reset, and has not begun")
    ghost = variable(
        Int(NO_OFFSET, "messages"), Consumer, Queue, when=client_resets, doc="offset of a ghost window; -1: none"
    )
    resetting = variable(bool, Consumer, when=client_resets, doc="suspended, with dropped windows")


@reset.action(budget="resets", tells="the operator resets the offset of {q}", when=server_resets)
def reset_at_broker(s: GroupState, q: Queue) -> None:
    """OF-30: ``AdminBrokerProcessor#resetOffsetInner``, ``ConsumerOffsetManager#assignResetOffset``."""
    s.reset_noted[q] = True
    note_commit(s, lambda p: p == q, lambda _: s.reset_to, because=lambda _: Regression.RESET)
    note_cause(s, Cause.RESET, lambda p, m: all_of(p == q, s.reset_to <= m))
    s.committed[q] = s.reset_to
    s.handled[q] = lambda m: all_of(s.handled[q, m], m < s.reset_to)


@reset.refine(accepts_commit)
def not_while_noted(s: GroupState, q: IntLike) -> BoolLike:
    """OF-22: the commit is answered with SUCCESS, and ignored."""
    return not_(s.reset_noted[q]) if server_resets(s.constants) else True


@reset.refine(queried_offset)
def note_before_cell(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """OF-30: as long as the broker has noted a reset, queries are answered with it."""
    stored = stored_offset(s, c, q)
    return ite(s.reset_noted[q], s.reset_to, stored) if server_resets(s.constants) else stored


@reset.refine(redirected)
def while_noted(s: GroupState, q: IntLike) -> BoolLike:
    """PL-18: the pull that finds the noted reset is not answered with messages."""
    return s.reset_noted[q] if server_resets(s.constants) else False


@reset.action(fair=True, tells="{c} pulls from {q} and learns of the reset", when=server_resets)
def answer_reset(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-18, PL-21: ``queryThenEraseResetOffset``; the commit in the same request is applied nevertheless."""
    s.require(answers(s, c, q), s.reset_noted[q], s.target[c, q] == NO_OFFSET)
    s.reset_noted[q] = False
    drop_and_correct(s, c, q, s.reset_to)
    if s.piggyback and not carries(s.constants):
        _overwrite(s, c, q)


def _overwrite(s: GroupState, c: IntLike, q: IntLike) -> None:
    """PL-14, PL-21: only an offset above 0 is sent with a pull."""
    with s.when(s.memory[c, q] > 0):
        s.committed[q] = s.memory[c, q]


@reset.action(budget="resets", tells="the operator has all clients reset the offset", when=client_resets)
def order_reset(s: GroupState) -> None:
    """OF-31: ``Broker2Client#resetOffset`` sends the offsets to every member."""
    s.reset_due = lambda c: any_of(s.reset_due[c], s.life[c] == Life.UP)
    note_cause(s, Cause.RESET, lambda q, m: s.reset_to <= m)
    s.handled = lambda q, m: all_of(s.handled[q, m], m < s.reset_to)


@reset.action(fair=True, tells="{c} suspends itself and clears its windows, for the reset", when=client_resets)
def begin_reset(s: GroupState, c: Consumer) -> None:
    """``MQClientInstance#resetOffset``, first half; a client does one reset at a time (``synchronized``)."""
    s.require(working(s, c), s.reset_due[c], not_(s.resetting[c]))
    leaving = Leaving(cause=Cause.RESET, persists=False, keeps_entry=True, clears=True)
    change_table(s, c, lost=lambda q: s.owns[c, q], won=nothing, leaving=leaving)
    s.zombie[c] = lambda q: any_of(s.zombie[c, q], s.owns[c, q])
    s.reset_due[c] = False
    s.resetting[c] = True


@reset.action(fair=True, tells="{c} sets and sends the offset of the reset, and goes on", when=client_resets)
def end_reset(s: GroupState, c: Consumer) -> None:
    """``MQClientInstance#resetOffset``, second half, 10 s later, for all queues that are in the table by then."""
    s.require(working(s, c), s.resetting[c])
    s.resetting[c] = False
    s.zombie[c] = lambda q: False
    if reset_excludes_rebalance(s):
        leaving = Leaving(cause=Cause.RESET, offset=lambda _: s.reset_to, because=lambda _: Regression.RESET)
        change_table(s, c, lost=lambda q: in_table(s, c, q), won=nothing, leaving=leaving)
        s.ghost[c] = lambda q: ite(s.owns[c, q], maximum(s.ghost[c, q], s.memory[c, q]), s.ghost[c, q])
        return
    note_commit(s, lambda q: s.zombie[c, q], lambda _: s.reset_to, because=lambda _: Regression.RESET)
    s.committed = lambda q: ite(s.zombie[c, q], s.reset_to, s.committed[q])
    s.memory[c] = lambda q: ite(s.zombie[c, q], ite(s.owns[c, q], s.reset_to, NO_OFFSET), s.memory[c, q])


@reset.action(tells="a ghost of {c} handles {m} of {q}", when=client_resets)
def ghost_handles(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """A window that is in no table, but not dropped: the checks of CC-13 pass, and it writes the offset of its
    queue. A reset that follows stops its pulls, and not its listeners.
    """
    s.require(working(s, c), s.ghost[c, q] == m, inside(s, q, m))
    s.handled[q, m] = True
    s.ghost[c, q] = m + 1
    s.memory[c, q] = maximum(s.memory[c, q], m + 1)


@reset.refine(may_ask)
def not_suspended(s: GroupState, c: IntLike) -> BoolLike:
    """PL-6: ``DefaultMQPushConsumerImpl#suspend``."""
    return not_(s.resetting[c]) if client_resets(s.constants) else True


def reset_over(s: GroupState) -> BoolLike:
    """Whether every reset that was ordered has ended at every client, and no correction is under way."""
    quiet: BoolLike = True
    if server_resets(s.constants):
        quiet = s.forall(Queue, lambda q: not_(s.reset_noted[q]))
    if client_resets(s.constants):
        quiet = s.forall(Consumer, lambda c: not_(any_of(s.reset_due[c], s.resetting[c])))
    if corrects(s.constants):
        corrected = s.forall(Consumer, lambda c: s.forall(Queue, lambda q: s.target[c, q] == NO_OFFSET))
        return all_of(quiet, corrected)
    return quiet
