"""Pulls: each request comes back, and what it finds, or finds gone, moves its window forward (section 4 of the
rules).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.membership import Consumer
from ..model.process_queue import owned_or_leaving
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .property import always, eventually


def _under_way(s: GroupState) -> BoolLike:
    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.asked[c, q]))


@eventually(
    "pull-request-comes-back", "PL-1", "PL-23", after=_under_way, assuming=("weak fairness of the broker's answers",)
)
def answered(s: GroupState) -> BoolLike:
    """Each pull request is eventually answered, with or without messages, and is then no longer open."""
    return not_(_under_way(s))


@always("mark-never-past-the-position", "PL-23", "PQ-2", assuming=("no late answer for a dropped window",))
def mark_pulled(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A window remembers no offset beyond its pull position: what was not requested is not acknowledged."""
    return implies(s.owns[c, q], s.memory[c, q] <= s.next_offset[c, q])


@always("lost-loop-ends-with-its-window", "PL-1", "PL-2", "PQ-11")
def loop_ends(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A pull loop is lost only with a window that has one: a queue that is taken, or taken again, is pulled."""
    return implies(s.loop_lost[c, q], owned_or_leaving(s, c, q))


def _moved(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """The last step has moved the pull position of a window."""
    return all_of(s.owns[c, q], not_(same(s.next_offset[c, q], s.was.next_offset[c, q])))


@always("an-answer-ends-its-request", "PL-1", "PL-23")
def ends_its_request(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An answer that moves the pull position of a window ends the request: a request is answered once."""
    return implies(s.owns[c, q], implies(_moved(s, c, q), not_(s.asked[c, q])))


def _answered(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """The last step has moved the pull position of a window, or answered its request with "nothing new"."""
    ended = all_of(s.was.asked[c, q], not_(s.asked[c, q])) if s.pulls == "fine" else False
    return any_of(_moved(s, c, q), ended)


@always("nothing-is-pulled-before-a-reset-is-learnt", "OF-30", "PL-18", assuming=("one client",))
def nothing_before_the_reset(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """While the broker has a reset for a queue, the next answer to a pull is the reset."""
    return implies(s.owns[c, q], implies(all_of(s.was.reset_noted[q], s.reset_noted[q]), not_(_answered(s, c, q))))


WAITING: Constants = {"messages": 1, "arriving": 1, "consumers": 1, "pulls": "fine"}
REMOVED: Constants = {"messages": 2, "consumers": 1, "removals": 1}
LOST: Constants = {"messages": 2, "consumers": 1, "moves": 1, "lost_pulls": 1}
RESET: Constants = {"messages": 2, "consumers": 1, "resets": 1, "corrections": "steps", "watch_changes": 1}
FILTERED: Constants = {"messages": 2, "consumers": 1, "expression": "C", "tags": "C,Aa"}

_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about requests and positions."""
    for constants in (WAITING, {**REMOVED, "pulls": "fine"}):
        yield _claim(answered, constants)
    for constants in (WAITING, REMOVED, {**REMOVED, "pulls": "fine"}, FILTERED):
        yield _claim(mark_pulled, constants)
    yield _claim(ends_its_request, {**REMOVED, "pulls": "fine", "watch_changes": 1})
    yield _claim(loop_ends, {**LOST, "pulls": "fine"})
    for pulls in ("whole", "fine"):
        yield _claim(nothing_before_the_reset, {**RESET, "pulls": pulls})
