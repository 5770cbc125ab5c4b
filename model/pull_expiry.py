"""Pull expiry: a window that has not pulled for 120 s is dropped, and added again by the same or the next pass (PQ-11).

It repairs pull loops that were lost (PL-2), but it also punishes pull intervals that exceed the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kernel import BoolLike, Constants, IntLike, Machine, State, any_of, constant, same
from .membership import Consumer
from .offsets import stored_offset
from .process_queue import working
from .pull import asks
from .queue_table import change_table
from .route import Queue, nothing

if TYPE_CHECKING:
    from .group import GroupState

pull_expiry = Machine("pull_expiry", doc="Lost pull loops, and the repair of them.")


@pull_expiry.state
class PullExpiryState(State):
    """How often a pull loop may be lost."""

    idle_limit = constant(1, high=1, doc="0: windows that do not pull are never dropped")
    pull_interval = constant(
        "short", choices=("short", "beyond-limit"), doc="pullInterval, against the limit of 120 s (PQ-11)"
    )


def _expires(k: Constants) -> bool:
    return bool(k.idle_limit and (k.lost_pulls > 0 or k.pull_interval == "beyond-limit"))


def expired(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """PQ-11: whether the last pull of the window may be longer ago than the limit; the first pull always comes soon."""
    lost = s.loop_lost[c, q] if s.lost_pulls else False
    has_pulled = s.next_offset[c, q] != stored_offset(s, c, q)
    return any_of(lost, has_pulled) if s.pull_interval == "beyond-limit" else lost


@pull_expiry.action(budget="lost_pulls", tells="{c} loses its pull request for {q}")
def lose_pull(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-2: an exception in the callback, or a request for a group that is not known yet: the pull loop ends."""
    s.require(asks(s, c, q))
    s.loop_lost[c, q] = True


@pull_expiry.action(fair=True, tells="{c} drops {q}, which has not pulled for too long", when=_expires)
def drop_expired(s: GroupState, c: Consumer, q: Queue) -> None:
    """PQ-11, RB-32: ``RebalanceImpl#updateProcessQueueTableInRebalance`` drops it like a queue that others took."""
    s.require(working(s, c), s.owns[c, q], expired(s, c, q))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)


pull_expiry.misconfiguration(
    "A10",
    "pull-interval-above-idle-limit",
    killed_by="quiet-group-has-no-duplicates",
    constants={"messages": 1, "consumers": 1, "causes": 1},
    sets={"pull_interval": "beyond-limit"},
    doc="A pull interval longer than 120 s (rocketmq.client.pull.pullMaxIdleTime) makes every window look dead: it is "
    "dropped and added again for ever, and whatever its listeners have at that moment comes twice. Choose a shorter "
    "pullInterval, or raise the limit. Source: PQ-11.",
)
