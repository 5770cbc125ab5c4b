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
from .delivery import PROGRESS, every_message, every_window
from .property import Kind, Property


def every_queue(s: GroupState, holds: Callable[[IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(q)`` is true of every queue."""
    return s.forall(Queue, holds)


NEVER_BACK = Property[GroupState](
    id="offset-never-back",
    statement="The committed offset of a queue never decreases.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_queue(s, lambda q: s.went_back[q] == Regression.NONE),
    assuming=(
        "one window at a time, commits under way included",
        "the broker does not restart, fail over or lose its log",
        "no operator resets it",
    ),
    rules=("G7", "OF-20", "OF-23"),
)
CAUSED = Property[GroupState](
    id="every-regression-has-a-cause",
    statement="The committed offset decreases only for a recorded cause.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_queue(s, lambda q: s.went_back[q] != Regression.UNEXPLAINED),
    rules=("G7", "OF-20"),
)
OWNED_ONLY = Property[GroupState](
    id="offset-sent-by-owner-only",
    statement="A client sends an offset only for a queue in its table, or when it corrects or resets one.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.sent_unowned),
    rules=("U13", "OF-5", "OF-6"),
)
SAFE_FROM_START = Property[GroupState](
    id="offset-safe-from-first-start",
    statement="From the group's first starting point on, the committed offset never passes an unhandled message.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(
        s,
        lambda q, m: implies(all_of(s.group_start[q] <= m, m < s.committed[q], m < end(s, q)), s.handled[q, m]),
    ),
    rules=("G2", "RB-40", "CC-13"),
)
AT_THE_END = Property[GroupState](
    id="new-group-starts-at-the-end",
    statement="With CONSUME_FROM_LAST_OFFSET a new group starts at the end of every queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_queue(s, lambda q: any_of(s.group_start[q] == NO_OFFSET, s.group_start[q] == end(s, q))),
    rules=("RB-40",),
)


def _where_chosen(s: GroupState, q: IntLike) -> IntLike:
    """The start that RB-40 and RB-41 prescribe for a queue that does not grow, computed from the constants alone."""
    whole = end(s, q)
    if s.head_in_memory:
        return 0
    if is_retry(s.constants, q):
        return whole if s.from_where == "TIMESTAMP" else 0
    return {"LAST_OFFSET": whole, "FIRST_OFFSET": 0, "TIMESTAMP": minimum(s.timestamp_offset, whole)}[s.from_where]


WHERE_CHOSEN = Property[GroupState](
    id="new-group-starts-where-chosen",
    statement="A new group starts at 0 if the head of the queue is in memory, otherwise where ConsumeFromWhere says.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_queue(
        s, lambda q: any_of(s.group_start[q] == NO_OFFSET, s.group_start[q] == _where_chosen(s, q))
    ),
    assuming=("nothing is stored in the queue meanwhile",),
    rules=("RB-40", "RB-41", "OF-21"),
)
RETRY_FROM_BEGINNING = Property[GroupState](
    id="retry-queue-from-its-beginning",
    statement="A new group starts at the beginning of its retry queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: any_of(s.group_start[s.queues - 1] == NO_OFFSET, s.group_start[s.queues - 1] == 0),
    rules=("RB-40", "EN-11"),
)
RESET_LASTS = Property[GroupState](
    id="reset-comes-through",
    statement="When a reset is over, the committed offset has passed only what was handled after the reset.",
    kind=Kind.ALWAYS,
    holds=lambda s: implies(
        reset_over(s),
        every_message(s, lambda q, m: implies(all_of(m < s.committed[q], m < end(s, q)), s.handled[q, m])),
    ),
    rules=("OF-30", "OF-31", "G2"),
)
RESET_ENDS = Property[GroupState](
    id="reset-comes-to-its-end",
    statement="A reset that was ordered is completed at every client, if one lives.",
    kind=Kind.EVENTUALLY,
    after=lambda s: not_(reset_over(s)),
    holds=lambda s: any_of(reset_over(s), s.forall(Consumer, lambda c: s.life[c] != Life.UP)),
    assuming=PROGRESS.assuming,
    rules=("OF-30", "OF-31"),
)
CORRECTED_KEPT = Property[GroupState](
    id="corrected-offset-is-remembered",
    statement="Once a client has set a corrected offset, it remembers none below it.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer,
        lambda c: every_queue(
            s, lambda q: implies(all_of(s.target_set[c, q], s.zombie[c, q]), s.memory[c, q] >= s.target[c, q])
        ),
    ),
    assuming=("4.9.8, where a correction takes 10 s",),
    rules=("PL-23",),
)
FOREIGN_FORGOTTEN = Property[GroupState](
    id="foreign-offset-is-forgotten",
    statement="Eventually, a client remembers offsets of its own queues only.",
    kind=Kind.SETTLES,
    holds=lambda s: s.forall(
        Consumer, lambda c: every_queue(s, lambda q: any_of(in_table(s, c, q), s.memory[c, q] == NO_OFFSET))
    ),
    rules=("OF-6",),
)
RESET_PAUSES = Property[GroupState](
    id="reset-pauses-the-client",
    statement=(
        "While a client waits to set the offsets of a reset, it has no message that its listeners could be given."
    ),
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer,
        lambda c: implies(s.resetting[c], every_message(s, lambda q, m: s.stage[c, q, m] != Stage.WAITING)),
    ),
    assuming=("no pull was under way",),
    rules=("OF-31", "PL-6"),
)
ONE_PULL = Property[GroupState](
    id="one-pull-a-window",
    statement="A window holds nothing at or beyond its pull position: nobody else pulls for it.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(
        s, lambda c, q: s.forall(Message, lambda m: implies(held(s, c, q, m), m < s.next_offset[c, q]))
    ),
    rules=("U4", "PL-1"),
)
EMPTY_AGAIN = Property[GroupState](
    id="recreated-topic-is-empty",
    statement="A topic that was deleted and created again is empty at first, whatever it had before.",
    kind=Kind.SOMETIMES,
    holds=lambda s: all_of(s.recreations_left == 0, every_queue(s, lambda q: end(s, q) == 0)),
    rules=("OF-20",),
)
COUNTED = Property[GroupState](
    id="counter-counts-the-window",
    statement="The message counter of a window is the number of messages in it.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer,
        lambda c: every_queue(s, lambda q: s.counted[c, q] == s.count(Message, lambda m: held(s, c, q, m))),
    ),
    rules=("PQ-8", "PL-7"),
)
STORED = Property[GroupState](
    id="progress-is-stored",
    statement="The committed offset of every queue eventually reaches its end, if a client lives.",
    kind=Kind.EVENTUALLY,
    holds=lambda s: any_of(
        every_queue(s, lambda q: s.committed[q] == end(s, q)),
        s.forall(Consumer, lambda c: s.life[c] != Life.UP),
    ),
    assuming=PROGRESS.assuming,
    rules=("G10", "OF-6"),
)
ON_DISK = Property[GroupState](
    id="progress-reaches-the-disk",
    statement="The offset of every queue on the broker's disk eventually reaches its end, if a client lives.",
    kind=Kind.EVENTUALLY,
    holds=lambda s: any_of(
        every_queue(s, lambda q: s.on_disk[q] == end(s, q)),
        s.forall(Consumer, lambda c: s.life[c] != Life.UP),
    ),
    assuming=PROGRESS.assuming,
    rules=("OF-23",),
)
COPIED = Property[GroupState](
    id="slave-has-the-offsets",
    statement="Once nothing changes any more, the slave has the offsets of its master.",
    kind=Kind.SETTLES,
    holds=lambda s: all_of(not_(s.failed_over), every_queue(s, lambda q: s.other[q] == s.committed[q])),
    assuming=("a master that is away comes back",),
    rules=("OF-23",),
)
OLD_COPY_SERVES = Property[GroupState](
    id="slave-serves-an-old-copy",
    statement="While the master is away, its slave answers with an offset below what was committed.",
    kind=Kind.SOMETIMES,
    holds=lambda s: all_of(s.failed_over, s.exists(Queue, lambda q: s.committed[q] < s.other[q])),
    rules=("OF-4", "OF-23"),
)
PINNED = Property[GroupState](
    id="hung-message-pins-the-offset",
    statement=(
        "The committed offset never passes a message whose listener hangs, whatever is finished above that message."
    ),
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer, lambda c: every_message(s, lambda q, m: implies(s.hung[c, q, m], s.committed[q] <= m))
    ),
    assuming=("nobody else owns the queue",),
    rules=("PQ-2", "G10"),
)
QUIET_ONCE = Property[GroupState](
    id="quiet-group-has-no-duplicates",
    statement="Without faults and changes, no message has a reason to come again.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(s, lambda q, m: s.cause[q, m] == Cause.NONE),
    rules=("G3", "PQ-11"),
)


def went_back(cause: Regression, statement: str, *rules: str, how: str = "") -> Property:
    """The witness that the committed offset can go back because of ``cause``."""
    return Property[GroupState](
        id=f"offset-back-{how or cause.name.lower().replace('_', '-')}",
        statement=statement,
        kind=Kind.SOMETIMES,
        holds=lambda s: s.exists(Queue, lambda q: s.went_back[q] == cause),
        rules=("G7", *rules),
    )
