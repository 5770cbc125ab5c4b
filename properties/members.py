"""What can be relied on about messages and offsets if queues change hands because of real members.

``consumption`` lets clients take and drop queues at any time, so whatever never happens there never happens here
(``refinements``). The claims here are that things do happen eventually, and that a stop and a cut have the effects that
they should.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..model.everything import everything
from ..model.group import GroupState
from ..model.history import Regression
from ..model.kernel import all_of, any_of, not_
from ..model.membership import Consumer, Life, alive
from ..model.rebalance import idle, wanted
from ..model.route import Queue
from .assignment import DISAGREEMENT_ENDS, PARTITION_LEMMA
from .claim import Claim, Constants, claim_about
from .delivery import AT_LEAST_ONCE, EXPLAINED, NOTHING_SKIPPED, OFFSET_SAFE, PROGRESS
from .offsets import CAUSED, STORED, went_back
from .orderly import GIVEN_UP_IS_FREE, IN_ORDER, ONE_ORDERLY_LISTENER, STAIRCASE, USED_OR_GIVEN_UP
from .property import Kind, Property
from .retry import NEVER_LOST
from .settings import STOP_COMMITS
from .turns import NOT_SENT_LATE, TAKEN_ONCE

FORGOTTEN = went_back(Regression.BROKER_RESTART, "The broker forgets the commits of its last seconds.", "OF-23")
STOP_ENDS = Property[GroupState](
    id="stop-comes-to-its-end",
    statement="A client that shuts down in order is eventually gone.",
    kind=Kind.SETTLES,
    holds=lambda s: s.forall(Consumer, lambda c: s.life[c] != Life.STOPPING),
    assuming=("nobody else commits offsets of its queues meanwhile",),
    rules=("ST-8",),
)
LEFT_FOR_LATER = Property[GroupState](
    id="queue-out-of-reach-is-left",
    statement="If a client cannot ask a broker for the offset of a queue, its pass leaves the queue out.",
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(
        Consumer,
        lambda c: s.exists(Queue, lambda q: all_of(alive(s, c), idle(s, c), wanted(s, c, q), not_(s.owns[c, q]))),
    ),
    rules=("RB-40",),
)

LISTED = Property[GroupState](
    id="queues-for-listed-members-only",
    statement="A client that is not in the member list it uses has no queue, not even one of the retry topic.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer, lambda c: any_of(s.view[c].has(c), s.forall(Queue, lambda q: not_(s.owns[c, q])))
    ),
    rules=("RB-20", "EN-10"),
)
COMMITTED = Property[GroupState](
    id="what-is-done-is-committed",
    statement="The committed offset of every queue eventually reaches its end, if a client lives on.",
    kind=Kind.EVENTUALLY,
    after=lambda s: s.exists(Consumer, lambda c: s.life[c] == Life.UP),
    holds=STORED.holds,
    assuming=PROGRESS.assuming,
    rules=("G10", "OF-6"),
)

GROUP: Constants = {"running": 0, "consumers": 2, "queues": 1, "messages": 1}
STOPS: Constants = {**GROUP, "leaves": 1, "watch_windows": 1}
ALONE: Constants = {**GROUP, "consumers": 1, "leaves": 1, "causes": 1}
CRASHES: Constants = {**GROUP, "crashes": 1, "causes": 1}
CUT: Constants = {
    **GROUP,
    "consumers": 1,
    "queues": 2,
    "brokers": 2,
    "cuts": 1,
    "broker_restarts": 1,
    "watch_offsets": 1,
}
RETRIES: Constants = {
    **GROUP,
    "queues": 2,
    "messages": 2,
    "retry_room": 1,
    "copies": 1,
    "failures": 1,
    "attempts": 1,
}
ORDERLY: Constants = {**GROUP, "orderly": 1, "listener": "orderly", "steps": "fine", "clock": "stopped"}
BATCHES: Constants = {**ORDERLY, "messages": 2, "failures": 1}
ORDERLY_QUEUES: Constants = {**ORDERLY, "queues": 2, "crashes": 1}
TICKING: Constants = {**ORDERLY, "clock": "ticking"}
RENEWED: Constants = {**TICKING, "renewals": "certain", "crashes": 1}

_claim = partial(claim_about, everything)


def claims() -> Iterator[Claim]:
    """All claims about groups with real members."""
    for constants in (STOPS, ALONE, CRASHES, CUT, RETRIES):
        for property in (OFFSET_SAFE, AT_LEAST_ONCE, NOTHING_SKIPPED, PARTITION_LEMMA, PROGRESS):
            yield _claim(property, constants)
    for constants in (ALONE, CRASHES, CUT, RETRIES):
        yield _claim(DISAGREEMENT_ENDS, constants)
        yield _claim(COMMITTED, constants)
    for constants in (ALONE, CRASHES):
        yield _claim(EXPLAINED, constants)
    for property in (NOT_SENT_LATE, TAKEN_ONCE):
        yield _claim(property, STOPS)
    for property in (STOP_ENDS, STOP_COMMITS):
        yield _claim(property, ALONE)
    for property in (CAUSED, FORGOTTEN, LEFT_FOR_LATER):
        yield _claim(property, CUT)
    for property in (NEVER_LOST, LISTED):
        yield _claim(property, RETRIES)
    yield from _in_order()


def _in_order() -> Iterator[Claim]:
    """Orderly clients with real members: their locks follow real rebalance, and their messages the locks."""
    safe = (OFFSET_SAFE, AT_LEAST_ONCE, NOTHING_SKIPPED, PARTITION_LEMMA)
    in_order = (IN_ORDER, STAIRCASE, ONE_ORDERLY_LISTENER, USED_OR_GIVEN_UP, GIVEN_UP_IS_FREE)
    for constants in (BATCHES, {**ORDERLY, "crashes": 1}, ORDERLY_QUEUES, RENEWED):
        for property in (*safe, PROGRESS, *in_order, DISAGREEMENT_ENDS, COMMITTED):
            yield _claim(property, constants)
    for property in (*safe, PROGRESS):
        yield _claim(property, {**ORDERLY, "leaves": 1})
    # Without its renewals a lock expires again and again, so only what must never happen is claimed here.
    for property in (*safe, *in_order):
        yield _claim(property, TICKING)
