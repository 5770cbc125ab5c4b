"""Refinements: the machines of smaller scope allow whatever the larger ones do.

``consumption`` lets clients take and drop queues at any time, and ``orderly_lock`` leaves out messages: what holds
there should also hold with real rebalance, real members and real messages. This is checked here, step by step: in
every reachable state of some configurations of the larger machines, and by induction for any number of faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..model.assignment import assignment
from ..model.consume_queue import Message
from ..model.consumption import consumption
from ..model.everything import everything
from ..model.group import GroupState
from ..model.kernel import UNBOUNDED, IntLike, Machine, ite, not_, same
from ..model.kernel.refinement import Mapped, Refinement
from ..model.membership import Life
from ..model.orderly import Result, calls
from ..model.orderly_lock import Window, orderly_lock
from ..model.process_queue import NO_OFFSET, Orphan, Stage, drops_in_steps
from ..model.rebalance import divides
from .orderly_windows import ORDERLY_WINDOWS
from .property import Property
from .verdict import Verdict

Constants = Mapping[str, int | str]


@dataclass(frozen=True, kw_only=True)
class RefinementClaim:
    """A refinement between two machines, and the verdict it must have."""

    id: str
    statement: str  # what it means, in a sentence
    concrete: Machine
    constants: Constants  # the configuration of the concrete machine
    abstract: Machine
    as_concrete: tuple[str, ...] = ()  # constants of the abstract machine that have the values of the concrete machine
    abstract_constants: Constants = field(default_factory=dict)  # those that have other values
    mapping: Mapped
    steps: int = 1  # as in Refinement
    # whether it is shown by induction, of every state that the lemmas allow, rather than by a search
    inductive: bool = False
    lemmas: tuple[Property, ...] = ()  # what the induction may need besides what it finds
    rules: tuple[str, ...] = ()  # rules of RocketMQ on which it rests
    expected: Verdict = Verdict.HOLDS
    lesson: str = ""

    def refinement(self) -> Refinement:
        """The two configurations and their mapping."""
        concrete = self.concrete.configure(**self.constants)
        alike = {name: concrete.constants[name] for name in self.as_concrete}
        abstract = self.abstract.configure(**{**alike, **self.abstract_constants})
        return Refinement(concrete=concrete, abstract=abstract, mapping=self.mapping, steps=self.steps)


def _ownership(s: GroupState) -> dict[str, Any]:
    """No message was ever stored; a client that has not started, or is shutting down, maps to one that may do
    everything.
    """
    return {
        "owns": lambda c, q: s.owns[c, q],
        "life": lambda c: ite(s.life[c] == Life.GONE, Life.GONE, Life.UP),
        "next_offset": 0,
        "memory": lambda c, q: ite(s.owns[c, q], 0, NO_OFFSET),
        "stage": Stage.ABSENT,
        "log_end": 0,
        "handled": False,
        "committed" if divides(s.constants) else "file": 0,
    }


def _locked_ownership(s: GroupState) -> dict[str, Any]:
    """Like :func:`_ownership`, with the broker's lock table; a client that has a queue believes in its lock."""
    return {
        **_ownership(s),
        "holder_age": 0,
        "locked": lambda c, q: s.owns[c, q],
        "lock_age": 0,
        "dropped": False,
        "result": Result.NONE,
    }


def _without_membership(s: GroupState) -> dict[str, Any]:
    """Member lists and views are left out; a client that has not started maps to one that owns nothing yet."""
    return {"life": lambda c: ite(s.life[c] == Life.NEW, Life.UP, s.life[c])}


def _lock_alone(s: GroupState) -> dict[str, Any]:
    """Messages are left out, except for whether a listener is busy with some of them."""
    k = s.constants

    def window(c: IntLike, q: IntLike) -> IntLike:
        dropped = ite(s.dropped[c, q], Window.DROPPED, Window.OUT) if drops_in_steps(k) else Window.OUT
        return ite(s.owns[c, q], Window.IN, dropped)

    def outlived(c: IntLike, q: IntLike) -> Any:
        return s.exists(Message, lambda m: not_(same(s.orphan[c, q, m], Orphan.NONE)))

    mapped: dict[str, Any] = {
        "window": window,
        "runs": lambda c, q: calls(s, c, q),
        "batch_age": lambda c, q: ite(calls(s, c, q), s.call_age[c, q], 0),
    }
    return {**mapped, "outlived": outlived} if k.forced_unlock else mapped


_SHARES: Constants = {"running": 0, "consumers": 2, "queues": 2, "crashes": 1, "leaves": 1}
_GROUP: Constants = {"running": 0, "consumers": 2, "queues": 1, "messages": 1, "orphans": 1}
_IN_ORDER: Constants = {"orderly": 1, "listener": "orderly", "steps": "fine", "clock": "stopped"}
_SAME = (
    *("consumers", "queues", "messages", "orphans", "copies", "retry_room", "attempts", "pulls", "causes", "version"),
    *("failures", "crashes", "leaves", "broker_restarts", "listener", "clock"),
)
_LOCKED_SHARES: Constants = {"running": 0, "consumers": 2, "queues": 2, "orderly": 1}
_ORDERLY: Constants = {"listener": "orderly", "clock": "stopped", "messages": 1, "arriving": 1, "moves": UNBOUNDED}
_LOCK: Constants = {
    "listener": "orderly",
    "client_window": 1,
    "broker_window": 2,
    "unlock_delay": 1,
    "call": 1,
    "messages": 1,
    "orphans": 1,
    "moves": 1,
}
_SAME_LOCK = (
    *("consumers", "queues", "client_window", "broker_window", "unlock_delay", "version"),
    *("crashes", "leaves", "pauses", "lock_losses"),
)
_ANY_FAULTS: Constants = {"crashes": UNBOUNDED, "leaves": UNBOUNDED}
_ANY_WINDOWS: Constants = {
    "client_window": UNBOUNDED,
    "broker_window": UNBOUNDED,
    "unlock_delay": UNBOUNDED,
    "moves": UNBOUNDED,
}


def _unlimited(constants: Constants) -> bool:
    return UNBOUNDED in constants.values()


def refinement_claims() -> Iterator[RefinementClaim]:
    """All refinements, and one that is wrong on purpose."""
    shares: tuple[Constants, ...] = (
        _SHARES,
        {**_SHARES, "steps": "fine"},
        {**_SHARES, "strategy": "AVG_BY_CIRCLE"},
        {**_SHARES, "strategy": "CONSISTENT_HASH"},
        {**_SHARES, "orderly": 1},
        {**_SHARES, "brokers": 2, "broker_restarts": 1, "cuts": 1, "leaves": 0},
        {**_SHARES, "mode": "broadcasting", "route_changes": 1},
        {**_SHARES, **_ANY_FAULTS},
        {**_SHARES, **_ANY_FAULTS, "orderly": 1},
    )
    for constants in shares:
        yield RefinementClaim(
            id="shares-are-any-assignment",
            statement="However clients divide queues, clients that take and drop queues at will may do the same.",
            concrete=assignment,
            constants=constants,
            abstract=consumption,
            as_concrete=("consumers", "queues", "mode"),
            abstract_constants={"messages": 1, "arriving": 1, "moves": UNBOUNDED, "crashes": UNBOUNDED},
            mapping=_ownership,
            steps=4,
            inductive=_unlimited(constants),
            rules=("RB-30",),
        )
    yield from _locked_shares()
    groups: tuple[Constants, ...] = (
        {**_GROUP, "crashes": 1, "leaves": 1, "broker_restarts": 1},
        {**_GROUP, "crashes": 1, "causes": 1, "pulls": "fine"},
        {**_GROUP, "crashes": 1, "queues": 2},
        {**_GROUP, "queues": 2, "messages": 2, "retry_room": 1, "copies": 1, "failures": 1, "attempts": 1},
        {**_GROUP, **_IN_ORDER, "failures": 1},
        {**_GROUP, **_IN_ORDER, "crashes": 1},
        {**_GROUP, **_ANY_FAULTS, "broker_restarts": UNBOUNDED, "failures": UNBOUNDED},
        {**_GROUP, **_IN_ORDER, **_ANY_FAULTS, "broker_restarts": UNBOUNDED, "failures": UNBOUNDED},
    )
    for constants in groups:
        yield RefinementClaim(
            id="everything-is-consumption",
            statement=(
                "What a group with real members and rebalance does to messages, the machine consumption may do."
            ),
            concrete=everything,
            constants=constants,
            abstract=consumption,
            as_concrete=_SAME,
            abstract_constants={"moves": UNBOUNDED, "lock_losses": UNBOUNDED},
            mapping=_without_membership,
            steps=4,
            inductive=_unlimited(constants),
            rules=("RB-30", "ST-8"),
        )
    locks: tuple[Constants, ...] = (
        {**_LOCK, "crashes": 1, "lock_losses": 1},
        {**_LOCK, "leaves": 1},
        {**_LOCK, "pauses": 1},
        {**_LOCK, "forced_unlock": 1, "moves": 2},
        {**_LOCK, "forced_unlock": 1, "reallocations": 1},
        {**_LOCK, **_ANY_WINDOWS, **_ANY_FAULTS, "lock_losses": UNBOUNDED},
    )
    for constants in locks:
        yield RefinementClaim(
            id="orderly-consumption-is-orderly-lock",
            statement="What orderly clients do to locks, windows and listeners, the lock machine may do.",
            concrete=consumption,
            constants=constants,
            abstract=orderly_lock,
            as_concrete=_SAME_LOCK,
            abstract_constants={"batch": 1, "await_listeners": 0, "force": constants.get("forced_unlock", 0)},
            mapping=_lock_alone,
            inductive=_unlimited(constants),
            lemmas=ORDERLY_WINDOWS,
            rules=("RB-30", "RB-33", "OR-9"),
        )
    yield RefinementClaim(
        id="orderly-consumption-is-orderly-lock",
        statement="What orderly clients do to locks, windows and listeners, the lock machine may do.",
        concrete=consumption,
        constants={**_LOCK, "leaves": 1},
        abstract=orderly_lock,
        as_concrete=_SAME_LOCK,
        abstract_constants={"batch": 1, "await_listeners": 1},
        mapping=_lock_alone,
        rules=("ST-8",),
        expected=Verdict.VIOLATED,
        lesson="A stop does not wait for listeners unless awaitTerminationMillisWhenShutdown says so.",
    )


def _locked_shares() -> Iterator[RefinementClaim]:
    """Orderly clients with real members and rebalance: how they lock, take and give up queues."""
    forgets: Constants = {"crashes": UNBOUNDED, "lock_losses": UNBOUNDED}
    cases: tuple[tuple[Constants, Constants, str], ...] = (
        ({**_LOCKED_SHARES, "consumers": 3, "queues": 3}, {}, ""),
        ({**_LOCKED_SHARES, "steps": "fine", "broker_restarts": 1}, forgets, ""),
        # With one queue, an expired lock is equivalent to one that the broker has forgotten.
        ({**_LOCKED_SHARES, "consumers": 3, "queues": 1, "crashes": 1}, forgets, ""),
        ({**_LOCKED_SHARES, "broker_restarts": 1}, forgets, ""),
        (
            {**_LOCKED_SHARES, "broker_restarts": 1},
            {},
            "A broker that restarts forgets locks that clients believe in: nothing that clients do has that effect.",
        ),
    )
    for constants, abstract, lesson in cases:
        yield RefinementClaim(
            id="locked-shares-are-orderly-consumption",
            statement="However orderly clients lock and divide queues, those that consume in order may do the same.",
            concrete=assignment,
            constants=constants,
            abstract=consumption,
            as_concrete=("consumers", "queues"),
            abstract_constants={**_ORDERLY, **abstract},
            mapping=_locked_ownership,
            steps=6,
            rules=("RB-30", "RB-33", "OR-1"),
            expected=Verdict.VIOLATED if lesson else Verdict.HOLDS,
            lesson=lesson,
        )
