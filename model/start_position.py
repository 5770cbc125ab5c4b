"""Start positions: where a window begins (RB-40 to RB-43), and where a group without a stored offset begins.

A stored offset decides, whatever ``ConsumeFromWhere`` says. If none is stored, the broker may answer 0 by itself
(OF-21); only if it does not, the client's choice counts. The choice is made queue by queue, so a queue that is added to
a topic later is started like one of a new group (G1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .consume_queue import end, is_retry, start
from .kernel import BoolLike, Constants, IntLike, Machine, State, all_of, any_of, constant, ite, minimum, not_, variable
from .membership import Consumer
from .offsets import broadcasting, may_be_missing, stored_offset
from .process_queue import NO_OFFSET
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

FROM_WHERE = ("LAST_OFFSET", "FIRST_OFFSET", "TIMESTAMP")

start_position = Machine("start_position", doc="Where windows begin, with a stored offset and without one.")


def starts_in_steps(k: Constants) -> bool:
    """Whether asking for the offset and asking for the position of the client's choice are two steps.

    In 4.9.8 the second request is never sent while the head of the queue is in memory, as the broker then answers 0.
    """
    always_zero = k.version == "4.9.8" and k.head_in_memory and not k.retentions
    return bool(k.starts == "steps" and may_be_missing(k) and not always_zero)


@start_position.state
class StartPositionState(State):
    """What decides where a window begins."""

    from_where = constant("LAST_OFFSET", choices=FROM_WHERE, doc="ConsumeFromWhere: start without an offset")
    timestamp_offset = constant(0, doc="offset that CONSUME_FROM_TIMESTAMP finds")
    head_in_memory = constant(0, high=1, doc="1: the first message of a queue is still in memory (OF-21)")
    starts = constant(
        "whole", choices=("whole", "steps"), doc="grain: steps lets messages come between query and choice"
    )
    unknown = variable(
        bool, Consumer, Queue, when=starts_in_steps, doc="the broker has answered that no offset is stored"
    )


@start_position.definition
def queried_offset(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """OF-3: the answer of QUERY_CONSUMER_OFFSET, or the client's own file; -1 if there is none."""
    return stored_offset(s, c, q)


@start_position.definition
def answers_zero(s: GroupState, q: IntLike) -> BoolLike:
    """OF-21: the broker answers 0 for a queue from whose head nothing has been deleted or pushed out of memory yet.

    ``ConsumerManageProcessor#queryConsumerOffset``. Up to 5.0 it is enough that the head is not only on disk, which is
    also true of an empty queue.
    """
    if broadcasting(s.constants):
        return False
    young, empty = start(s, q) == 0, end(s, q) == 0
    if s.version == "4.9.8":
        return all_of(young, any_of(empty, bool(s.head_in_memory)))
    return all_of(young, not_(empty), bool(s.head_in_memory))


@start_position.definition
def chosen_offset(s: GroupState, q: IntLike) -> IntLike:
    """RB-40: the position that ``ConsumeFromWhere`` selects; the rules for the retry queue differ, and are odd.

    ``RebalancePushImpl#computePullFromWhereWithException``.
    """
    retry = is_retry(s.constants, q)
    return {
        "LAST_OFFSET": 0 if retry else end(s, q),
        "FIRST_OFFSET": 0,
        "TIMESTAMP": end(s, q) if retry else minimum(s.timestamp_offset, end(s, q)),
    }[s.from_where]


def first_offset(s: GroupState, q: IntLike) -> IntLike:
    """RB-41: where a window over a queue without a stored offset begins: OF-21 takes precedence over the client's
    choice.
    """
    return ite(answers_zero(s, q), 0, chosen_offset(s, q))


@start_position.definition
def start_offset(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """RB-40: a new window starts at the stored offset if there is one, whatever ``ConsumeFromWhere`` says."""
    stored = queried_offset(s, c, q)
    return ite(stored != NO_OFFSET, stored, first_offset(s, q)) if may_be_missing(s.constants) else stored


def offset_answered(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether one answer of the broker is enough to start in ``q``."""
    if not starts_in_steps(s.constants):
        return True
    return any_of(queried_offset(s, c, q) != NO_OFFSET, answers_zero(s, q))


@start_position.mutant(
    "B4",
    "offset-goes-to-any-replica",
    of=queried_offset,
    killed_by="every-regression-has-a-cause",
    constants={"messages": 1, "consumers": 1, "moves": 1, "slaves": 1, "watch_offsets": 1},
)
def ask_any_replica(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """The first broker address of a hash map is used: perhaps that of a slave, whose copy is old (``replicas``).

    apache/rocketmq commit e2a4b37785, 4.9.3.
    """
    return s.other[q]


@start_position.mutant(
    "G1",
    "last-offset-skips-new-queues",
    of=answers_zero,
    killed_by="offset-never-past-unfinished",
    constants={"queues": 2, "group": "scaled", "messages": 1, "arriving": 1, "consumers": 1, "head_in_memory": 1},
)
def never_zero(s: GroupState, q: IntLike) -> BoolLike:
    """Nothing softens the client's choice: a queue added to a topic is started at its end, and its beginning skipped.

    apache/rocketmq#9307, #10955; rocketmq-flink#116.
    """
    return False


start_position.explanation(
    "G2",
    "last-offset-replays-history",
    naive="new-group-starts-at-the-end",
    exact="new-group-starts-where-chosen",
    constants={"group": "new", "head_in_memory": 1, "watch_starts": 1, "consumers": 1},
    doc="The broker answers 0 where the queue still begins at 0 and its head is in memory, so that nothing is skipped "
    "in a queue that was added a moment ago. A new group on a young topic therefore reads everything, although "
    "LAST_OFFSET was asked for. Set the offset of the group before its first start if that is not wanted. "
    "Source: #334, #4909.",
)
