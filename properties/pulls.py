"""Pulls: each request comes back, and what it finds, or finds gone, moves its window on (section 4 of the rules)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..model.consumption import consumption
from ..model.kernel import BoolLike, State, not_
from ..model.membership import Consumer
from ..model.rebalance import Queue
from .claim import Claim, claim_about
from .delivery import every_window
from .property import Kind, Property

Constants = dict[str, int | str]


def _under_way(s: State) -> BoolLike:
    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.asked[c, q]))


ANSWERED = Property(
    id="pull-request-comes-back",
    statement="Each pull request is answered some time, with messages or without, and is open no more.",
    kind=Kind.EVENTUALLY,
    after=_under_way,
    holds=lambda s: not_(_under_way(s)),
    assuming=("weak fairness of the broker's answers",),
    rules=("PL-1", "PL-23"),
)
MARK_PULLED = Property(
    id="mark-never-past-the-position",
    statement="A window remembers no offset beyond its pull position: what was not asked for is not acknowledged.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(s, lambda c, q: s.memory[c, q] <= s.next_offset[c, q]),
    assuming=("no late answer for a dropped window",),
    rules=("PL-23", "PQ-2"),
)
WAITING: Constants = {"messages": 1, "arriving": 1, "consumers": 1, "pulls": "fine"}
REMOVED: Constants = {"messages": 2, "consumers": 1, "removals": 1}
FILTERED: Constants = {"messages": 2, "consumers": 1, "expression": "C", "tags": "C,Aa"}

_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about requests and positions."""
    for constants in (WAITING, {**REMOVED, "pulls": "fine"}):
        yield _claim(ANSWERED, constants)
    for constants in (WAITING, REMOVED, {**REMOVED, "pulls": "fine"}, FILTERED):
        yield _claim(MARK_PULLED, constants)
