"""First query: a client asks where to start in a queue, and the answer is an error, or that nothing is stored (RB-40).

"No offset is stored" and "the query failed" are different results. 5.x distinguishes them; 4.9.8 treats any error from
the broker as the former (RB-42). If nothing is stored, a second request asks for the position of the client's choice.
Messages stored between the two requests may already lie before that position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .any_assignment import may_enter
from .kernel import IntLike, Machine, not_, same
from .membership import Consumer
from .offsets import broadcasting
from .process_queue import NO_OFFSET
from .queue_table import change_table
from .route import Queue, nothing
from .start_position import answers_zero, chosen_offset, queried_offset, starts_in_steps

if TYPE_CHECKING:
    from .group import GroupState

first_query = Machine("first_query", doc="Offset queries that fail, or find nothing.")


def enter_at(s: GroupState, c: IntLike, q: IntLike, offset: IntLike) -> None:
    """RB-30.3: ``q`` enters the table of ``c``; its window begins at ``offset``."""
    change_table(s, c, lost=nothing, won=lambda p: same(p, q), start=lambda _: offset)


@first_query.definition
def after_failed_query(s: GroupState, c: IntLike, q: IntLike) -> None:
    """RB-40: the queue is left out of this pass, and the next one tries again; RB-42 [4.9.8]: read as "no offset"."""
    if s.version == "4.9.8":
        enter_at(s, c, q, chosen_offset(s, q))


@first_query.action(
    budget="failed_queries", tells="{c} cannot read the offset of {q}", when=lambda k: not broadcasting(k)
)
def query_fails(s: GroupState, c: Consumer, q: Queue) -> None:
    """QUERY_CONSUMER_OFFSET is answered with an error (OF-3: ``RemoteBrokerOffsetStore#readOffset``)."""
    s.require(may_enter(s, c, q))
    after_failed_query(s, c, q)


@first_query.action(fair=True, tells="{c} learns that no offset of {q} is stored", when=starts_in_steps)
def find_no_offset(s: GroupState, c: Consumer, q: Queue) -> None:
    """QUERY_NOT_FOUND: the first of two requests (OF-21)."""
    s.require(may_enter(s, c, q), not_(s.unknown[c, q]))
    s.require(queried_offset(s, c, q) == NO_OFFSET, not_(answers_zero(s, q)))
    s.unknown[c, q] = True


@first_query.action(fair=True, tells="{c} takes {q} where its ConsumeFromWhere says", when=starts_in_steps)
def take_where_chosen(s: GroupState, c: Consumer, q: Queue) -> None:
    """The second request: the current end of the queue, or the offset of a timestamp (RB-40)."""
    s.require(may_enter(s, c, q), s.unknown[c, q])
    enter_at(s, c, q, chosen_offset(s, q))
    s.unknown[c, q] = False


@first_query.mutant(
    "B1",
    "fetch-error-becomes-offset-zero",
    of=after_failed_query,
    killed_by="every-regression-has-a-cause",
    constants={"messages": 1, "consumers": 1, "moves": 1, "failed_queries": 1, "watch_offsets": 1},
)
def error_read_as_zero(s: GroupState, c: IntLike, q: IntLike) -> None:
    """A hiccup of the network starts the pull at the head of the queue, and that position is committed.

    apache/rocketmq#2708, fixed in 4.9.0 and 4.9.1; client-go#832.
    """
    enter_at(s, c, q, 0)
