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
from ..model.kernel import BoolLike, all_of, any_of, implies, not_
from ..model.membership import Consumer, Life, alive
from ..model.process_queue import NO_OFFSET, in_table
from ..model.rebalance import idle, wanted
from ..model.route import Queue
from .assignment import disagreement_ends, partition_lemma
from .claim import Claim, Constants, claim_about
from .delivery import at_least_once, explained, nothing_skipped, offset_safe, progress
from .offsets import caused, stored, went_back
from .orderly import given_up_is_free, in_order, one_orderly_listener, staircase, used_or_given_up
from .property import always, eventually, settles, sometimes
from .retry import never_lost
from .settings import stop_commits
from .turns import not_sent_late, taken_once

FORGOTTEN = went_back(Regression.BROKER_RESTART, "The broker forgets the commits of its last seconds.", "OF-23")


@settles("stop-comes-to-its-end", "ST-8", assuming=("nobody else commits offsets of its queues meanwhile",))
def stop_ends(s: GroupState, c: Consumer) -> BoolLike:
    """A client that shuts down in order is eventually gone."""
    return s.life[c] != Life.STOPPING


@sometimes("queue-out-of-reach-is-left", "RB-40")
def left_for_later(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """If a client cannot ask a broker for the offset of a queue, its pass leaves the queue out."""
    return all_of(alive(s, c), idle(s, c), wanted(s, c, q), not_(s.owns[c, q]))


@always("queues-for-listed-members-only", "RB-20", "EN-10")
def listed(s: GroupState, c: Consumer) -> BoolLike:
    """A client that is not in the member list it uses has no queue, not even one of the retry topic."""
    return any_of(s.view[c].has(c), s.forall(Queue, lambda q: not_(s.owns[c, q])))


@always("queue-in-the-table-has-an-offset", "RB-40", "OF-1")
def begun(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client remembers an offset for each queue in its table, even for one that it is giving up."""
    return implies(in_table(s, c, q), s.memory[c, q] != NO_OFFSET)


@eventually(
    "what-is-done-is-committed",
    "G10",
    "OF-6",
    after=lambda s: s.exists(Consumer, lambda c: s.life[c] == Life.UP),
    assuming=progress.assuming,
)
def committed(s: GroupState) -> BoolLike:
    """The committed offset of every queue eventually reaches its end, if a client lives on."""
    return stored.holds(s)


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
        for property in (offset_safe, at_least_once, nothing_skipped, partition_lemma, progress):
            yield _claim(property, constants)
    for constants in (ALONE, CRASHES, CUT, RETRIES):
        yield _claim(disagreement_ends, constants)
        yield _claim(committed, constants)
    for constants in (ALONE, CRASHES):
        yield _claim(explained, constants)
    for property in (not_sent_late, taken_once):
        yield _claim(property, STOPS)
    for property in (stop_ends, stop_commits):
        yield _claim(property, ALONE)
    for property in (caused, FORGOTTEN, left_for_later):
        yield _claim(property, CUT)
    for property in (never_lost, listed):
        yield _claim(property, RETRIES)
    yield from _in_order()


def _in_order() -> Iterator[Claim]:
    """Orderly clients with real members: their locks follow real rebalance, and their messages the locks."""
    safe = (offset_safe, at_least_once, nothing_skipped, partition_lemma)
    kept = (in_order, staircase, one_orderly_listener, used_or_given_up, given_up_is_free)
    for constants in (BATCHES, {**ORDERLY, "crashes": 1}, ORDERLY_QUEUES, RENEWED, TICKING):
        for property in (*safe, progress, *kept, disagreement_ends, committed):
            yield _claim(property, constants)
    for property in (*safe, progress):
        yield _claim(property, {**ORDERLY, "leaves": 1})
    yield _claim(begun, {**ORDERLY, "crashes": 1})
