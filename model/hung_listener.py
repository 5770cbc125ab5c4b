"""Hung listeners: a call that never returns (G10, PL-9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .concurrently import comes_back, concurrent, in_task, starts_task
from .consume_queue import Message
from .kernel import BoolLike, IntLike, Machine, State, any_of, constant, not_, variable
from .membership import Consumer
from .process_queue import WINDOW, Stage, working
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

hung_listener = Machine("hung_listener", doc="Listener calls that never return.")


@hung_listener.state
class HungListenerState(State):
    """Listener calls that never return."""

    hangs = constant(0, high=2, doc="how many listener calls may never return")
    hung = variable(
        bool,
        Consumer,
        Queue,
        Message,
        when=lambda k: k.hangs > 0,
        lives_in=WINDOW,
        doc="the listener that has it does not return",
    )


hung_listener.constraint(
    "hangs",
    "orphans",
    holds=lambda k: not k.hangs or not k.orphans,
    message="a call that hangs is followed for as long as its window lives",
)


@hung_listener.action(budget="hangs", tells="the listener of {c} hangs with {m} of {q}", when=concurrent)
def hang(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """A lock, a remote call without a timeout, or a loop: the pool loses the thread, and the window the message."""
    s.require(working(s, c), starts_task(s, c, q, m, Stage.RUNNING))
    s.hung[c, q] = lambda o: any_of(s.hung[c, q, o], in_task(s, c, q, m, o))


@hung_listener.refine(comes_back)
def not_hung(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """A call that hangs does not return."""
    return not_(s.hung[c, q, m]) if s.hangs else True


hung_listener.misconfiguration(
    "F4",
    "hung-listener-pins-offset",
    killed_by="every-message-is-handled",
    constants={"messages": 2, "consumers": 1, "span": 1},
    sets={"hangs": 1},
    doc="One call that never returns pins the offset: what is finished above it is not committed and comes again after "
    "a restart, and once the span is used up (2000 by default) nothing is pulled any more. Give remote calls in "
    "listeners a timeout. Source: #1190, #3937, #7134.",
)
