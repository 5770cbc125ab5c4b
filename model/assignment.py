"""The assignment machine: membership and rebalance of one group on one topic, and which client owns which queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .kernel import Constants, Int, Machine, State, constant, variable
from .lock import uses_locks
from .membership import Consumer, membership
from .rebalance import begin_pass, divides, may_begin, owned_at_start, rebalance
from .route import Queue, queues_in_route
from .start_stop import start_stop

if TYPE_CHECKING:
    from .group import GroupState

assignment = Machine(
    "assignment",
    doc="Who owns which queue: member tables of the brokers, views of the clients, rebalance passes, joins, leaves, "
    "deaths, restarts, route changes.",
).include(membership, start_stop, rebalance)


def _holder_at_start(k: Constants, q: int) -> int:
    return next((c + 1 for c in range(k.consumers) if owned_at_start(k, c, q)), 0)


@assignment.state
class AssignmentState(State):
    """What only this machine follows: the holder of each queue, and steps."""

    mode = constant(
        "clustering", choices=("clustering", "broadcasting"), doc="broadcasting: each client consumes everything"
    )
    holder = variable(Int(0, "consumers"), Queue, init=_holder_at_start, when=uses_locks, doc="OR-1")
    watch_steps = constant(0, high=1, doc="1 to keep what there was before the last step")


assignment.constraint(
    "mode",
    "orderly",
    "running",
    "steps",
    "repairs",
    holds=lambda k: k.mode == "clustering" or (k.running + k.orderly + k.repairs == 0 and k.steps == "whole"),
    message="broadcasting clients start during the run, in whole passes; they lock and repair nothing here",
)


assignment.remember(
    *("life", "members", "owns", "view", "holder", "paused", "woken", "leftover", "route", "at"),
    when=lambda k: k.watch_steps == 1,
)


@assignment.action(fair=True, tells="{c} takes every queue of the topic", when=lambda k: not divides(k))
def take_all(s: GroupState, c: Consumer) -> None:
    """RB-7: a broadcasting client asks for no member list (``RebalanceImpl#rebalanceByTopic``)."""
    s.require(may_begin(s, c))
    begin_pass(s, c)
    s.owns[c] = lambda q: q < queues_in_route(s, c)


MOST_MEMBERS, MOST_QUEUES = 12, 64
"""Largest group that is stepped through. It may be larger than a group that is searched, as one run takes only one way.
"""

_ROOM = {"queues": MOST_QUEUES, "consumers": MOST_MEMBERS, "running": MOST_MEMBERS}
_LARGER = {name: replace(assignment.constants[name], high=most) for name, most in _ROOM.items()}
roomy_assignment = replace(assignment, constants={**assignment.constants, **_LARGER})
"""The same machine for runs that are stepped through, with room for :data:`MOST_MEMBERS` and :data:`MOST_QUEUES`."""
