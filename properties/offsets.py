"""What can be relied on about offsets, and what cannot (guarantees G2 and G7).

A committed offset must not go back without a cause, must not pass a message that nobody has handled, and must start
where it should. ``offset_claims`` says under which conditions this holds.
"""

from __future__ import annotations

from collections.abc import Callable

from ..model.consume_queue import Message, end, is_retry
from ..model.group import GroupState
from ..model.history import Cause, Regression
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, minimum, not_
from ..model.membership import Consumer, Life
from ..model.process_queue import NO_OFFSET, Stage, held, in_table
from ..model.reset import reset_over
from ..model.route import Queue
from .delivery import every_message, progress
from .property import Kind, Property, always, eventually, settles, sometimes


def every_queue(s: GroupState, holds: Callable[[IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(q)`` is true of every queue."""
    return s.forall(Queue, holds)


@always(
    "offset-never-back",
    "G7",
    "OF-20",
    "OF-23",
    assuming=(
        "one window at a time, commits under way included",
        "the broker does not restart, fail over or lose its log",
        "no operator resets it",
    ),
)
def never_back(s: GroupState, q: Queue) -> BoolLike:
    """The committed offset of a queue never decreases."""
    return s.went_back[q] == Regression.NONE


@always("every-regression-has-a-cause", "G7", "OF-20")
def caused(s: GroupState, q: Queue) -> BoolLike:
    """The committed offset decreases only for a recorded cause."""
    return s.went_back[q] != Regression.UNEXPLAINED


@always("offset-sent-by-owner-only", "U13", "OF-5", "OF-6")
def owned_only(s: GroupState) -> BoolLike:
    """A client sends an offset only for a queue in its table, or when it corrects or resets one."""
    return not_(s.sent_unowned)


@always("offset-safe-from-first-start", "G2", "RB-40", "CC-13")
def safe_from_start(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """From the group's first starting point on, the committed offset never passes an unhandled message."""
    return implies(all_of(s.group_start[q] <= m, m < s.committed[q], m < end(s, q)), s.handled[q, m])


@always("new-group-starts-at-the-end", "RB-40")
def at_the_end(s: GroupState, q: Queue) -> BoolLike:
    """With CONSUME_FROM_LAST_OFFSET a new group starts at the end of every queue."""
    return any_of(s.group_start[q] == NO_OFFSET, s.group_start[q] == end(s, q))


def _where_chosen(s: GroupState, q: IntLike) -> IntLike:
    """The start that RB-40 and RB-41 prescribe for a queue that does not grow, computed from the constants alone."""
    whole = end(s, q)
    if s.head_in_memory:
        return 0
    if is_retry(s.constants, q):
        return whole if s.from_where == "TIMESTAMP" else 0
    return {"LAST_OFFSET": whole, "FIRST_OFFSET": 0, "TIMESTAMP": minimum(s.timestamp_offset, whole)}[s.from_where]


@always(
    "new-group-starts-where-chosen", "RB-40", "RB-41", "OF-21", assuming=("nothing is stored in the queue meanwhile",)
)
def where_chosen(s: GroupState, q: Queue) -> BoolLike:
    """A new group starts at 0 if the head of the queue is in memory, otherwise where ConsumeFromWhere says."""
    return any_of(s.group_start[q] == NO_OFFSET, s.group_start[q] == _where_chosen(s, q))


@always("retry-queue-from-its-beginning", "RB-40", "EN-11")
def retry_from_beginning(s: GroupState) -> BoolLike:
    """A new group starts at the beginning of its retry queue."""
    return any_of(s.group_start[s.queues - 1] == NO_OFFSET, s.group_start[s.queues - 1] == 0)


@always("reset-comes-through", "OF-30", "OF-31", "G2")
def reset_lasts(s: GroupState) -> BoolLike:
    """When a reset is over, the committed offset has passed only what was handled after the reset."""
    return implies(
        reset_over(s),
        every_message(s, lambda q, m: implies(all_of(m < s.committed[q], m < end(s, q)), s.handled[q, m])),
    )


@eventually("reset-comes-to-its-end", "OF-30", "OF-31", after=lambda s: not_(reset_over(s)), assuming=progress.assuming)
def reset_ends(s: GroupState) -> BoolLike:
    """A reset that was ordered is completed at every client, if one lives."""
    return any_of(reset_over(s), s.forall(Consumer, lambda c: s.life[c] != Life.UP))


@always("corrected-offset-is-remembered", "PL-23", assuming=("4.9.8, where a correction takes 10 s",))
def corrected_kept(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Once a client has set a corrected offset, it remembers none below it."""
    return implies(all_of(s.target_set[c, q], s.zombie[c, q]), s.memory[c, q] >= s.target[c, q])


@settles("foreign-offset-is-forgotten", "OF-6")
def foreign_forgotten(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Eventually, a client remembers offsets of its own queues only."""
    return any_of(in_table(s, c, q), s.memory[c, q] == NO_OFFSET)


@always("reset-pauses-the-client", "OF-31", "PL-6", assuming=("no pull was under way",))
def reset_pauses(s: GroupState, c: Consumer) -> BoolLike:
    """While a client waits to set the offsets of a reset, it has no message that its listeners could be given."""
    return implies(s.resetting[c], every_message(s, lambda q, m: s.stage[c, q, m] != Stage.WAITING))


@always("one-pull-a-window", "U4", "PL-1")
def one_pull(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A window holds nothing at or beyond its pull position: nobody else pulls for it."""
    return implies(s.owns[c, q], s.forall(Message, lambda m: implies(held(s, c, q, m), m < s.next_offset[c, q])))


@sometimes("recreated-topic-is-empty", "OF-20")
def empty_again(s: GroupState) -> BoolLike:
    """A topic that was deleted and created again is empty at first, whatever it had before."""
    return all_of(s.recreations_left == 0, every_queue(s, lambda q: end(s, q) == 0))


@always("counter-counts-the-window", "PQ-8", "PL-7")
def counted(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The message counter of a window is the number of messages in it."""
    return s.counted[c, q] == s.count(Message, lambda m: held(s, c, q, m))


@eventually("progress-is-stored", "G10", "OF-6", assuming=progress.assuming)
def stored(s: GroupState) -> BoolLike:
    """The committed offset of every queue eventually reaches its end, if a client lives."""
    return any_of(
        every_queue(s, lambda q: s.committed[q] == end(s, q)),
        s.forall(Consumer, lambda c: s.life[c] != Life.UP),
    )


@eventually("progress-reaches-the-disk", "OF-23", assuming=progress.assuming)
def on_disk(s: GroupState) -> BoolLike:
    """The offset of every queue on the broker's disk eventually reaches its end, if a client lives."""
    return any_of(
        every_queue(s, lambda q: s.on_disk[q] == end(s, q)),
        s.forall(Consumer, lambda c: s.life[c] != Life.UP),
    )


@settles("slave-has-the-offsets", "OF-23", assuming=("a master that is away comes back",))
def copied(s: GroupState) -> BoolLike:
    """Once nothing changes any more, the slave has the offsets of its master."""
    return all_of(not_(s.failed_over), every_queue(s, lambda q: s.other[q] == s.committed[q]))


@sometimes("slave-serves-an-old-copy", "OF-4", "OF-23")
def old_copy_serves(s: GroupState) -> BoolLike:
    """While the master is away, its slave answers with an offset below what was committed."""
    return all_of(s.failed_over, s.exists(Queue, lambda q: s.committed[q] < s.other[q]))


@always("hung-message-pins-the-offset", "PQ-2", "G10", assuming=("nobody else owns the queue",))
def pinned(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """The committed offset never passes a message whose listener hangs, whatever is finished above that message."""
    return implies(s.hung[c, q, m], s.committed[q] <= m)


@always("quiet-group-has-no-duplicates", "G3", "PQ-11")
def quiet_once(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """Without faults and changes, no message has a reason to come again."""
    return s.cause[q, m] == Cause.NONE


def went_back(cause: Regression, statement: str, *rules: str, how: str = "") -> Property:
    """The witness that the committed offset can go back because of ``cause``."""
    return Property[GroupState](
        id=f"offset-back-{how or cause.name.lower().replace('_', '-')}",
        statement=statement,
        kind=Kind.SOMETIMES,
        holds=lambda s: s.exists(Queue, lambda q: s.went_back[q] == cause),
        rules=("G7", *rules),
    )
