"""What can be relied on if members subscribe to tags, and what cannot (FI-1 to FI-4, G2-7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..model.consume_queue import Message, end
from ..model.consumption import consumption
from ..model.filtering import asks_for
from ..model.group import GroupState
from ..model.kernel import UNBOUNDED, BoolLike, IntLike, all_of, any_of, implies, not_
from ..model.local_file import keeps_files, read_entry
from ..model.membership import Consumer, Life
from ..model.process_queue import held
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .delivery import OFFSET_SAFE, every_message
from .property import Kind, Property
from .unbounded import CLOSED, IN_LOG, PULLED


def _wanted(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    """Whether some running member asks for ``m``."""
    return s.exists(Consumer, lambda c: all_of(s.life[c] == Life.UP, asks_for(s, c, q, m)))


def _at_the_end(s: GroupState, q: IntLike) -> BoolLike:
    """Whether everything that is stored about ``q`` says that nothing is left in it."""
    if keeps_files(s.constants):
        return s.forall(Consumer, lambda c: implies(s.life[c] == Life.UP, read_entry(s, c, q) == end(s, q)))
    return s.committed[q] == end(s, q)


def _nobody_runs(s: GroupState) -> BoolLike:
    return s.forall(Consumer, lambda c: s.life[c] != Life.UP)


def _refused(s: GroupState) -> BoolLike:
    """Some running client's pulls are answered SUBSCRIPTION_NOT_LATEST."""
    return s.exists(Consumer, lambda c: all_of(s.life[c] == Life.UP, s.unannounced[c]))


PAST_WANTED = Property[GroupState](
    id="offset-never-past-wanted",
    statement="The committed offset never passes an unhandled message that a running member asks for.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(
        s, lambda q, m: implies(all_of(m < s.committed[q], _wanted(s, q, m)), s.handled[q, m])
    ),
    assuming=("all members of the group subscribe the same tags, and always have",),
    rules=("FI-3", "FI-4", "PL-17", "G2"),
)
NOTHING_MISSED = Property[GroupState](
    id="wanted-never-passed-over",
    statement="No pull passes over a message that the client that pulls asks for.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.missed),
    assuming=("no two running members subscribe different tags",),
    rules=("PL-16", "PL-17", "ST-5"),
)
ONLY_ASKED = Property[GroupState](
    id="unasked-never-delivered",
    statement="A window never holds a message that its client does not ask for.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer, lambda c: every_message(s, lambda q, m: implies(held(s, c, q, m), asks_for(s, c, q, m)))
    ),
    rules=("FI-1",),
)
END_COMMITTED = Property[GroupState](
    id="filtered-offset-committed",
    statement="Eventually, the stored offset is at the end of the queue, past everything that was filtered out.",
    kind=Kind.SETTLES,
    holds=lambda s: any_of(s.forall(Queue, lambda q: _at_the_end(s, q)), _nobody_runs(s)),
    assuming=("listeners return", "weak fairness of pulls, heartbeats, listeners and commits"),
    rules=("FI-3", "PL-23"),
)
REFUSAL_ENDS = Property[GroupState](
    id="refused-pulls-end",
    statement="A client whose pulls are refused because of its subscription is eventually served again.",
    kind=Kind.EVENTUALLY,
    after=_refused,
    holds=lambda s: not_(_refused(s)),
    assuming=("weak fairness of heartbeats",),
    rules=("PL-16", "RB-37", "ST-4"),
)

_EQUAL_TAGS = "all members of the group subscribe the same tags"


def _every(s: GroupState, holds: Callable[[IntLike, IntLike, IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(c, q, m)`` is true of every message that the client ``c`` asks for."""
    return s.forall(Consumer, lambda c: every_message(s, lambda q, m: implies(asks_for(s, c, q, m), holds(c, q, m))))


def _let_go(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return all_of(s.owns[c, q], m < s.next_offset[c, q], not_(held(s, c, q, m)))


def _pulled_only(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether a window has passed the first message, and nothing else, and is empty."""
    empty = s.forall(Message, lambda m: not_(held(s, c, q, m)))
    return all_of(s.owns[c, q], s.next_offset[c, q] == 1, empty)


LET_GO_WANTED = Property[GroupState](
    id="wanted-let-go-is-handled",
    statement=(
        "A message that a client asks for, and that its window has passed and no longer holds, or never held, "
        "is handled."
    ),
    kind=Kind.ALWAYS,
    holds=lambda s: _every(s, lambda c, q, m: implies(_let_go(s, c, q, m), s.handled[q, m])),
    assuming=(_EQUAL_TAGS,),
    rules=("FI-3", "CC-13"),
)
MEMORY_WANTED = Property[GroupState](
    id="wanted-below-memory-is-handled",
    statement="Every message below an in-memory offset that the client asks for is handled.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every(s, lambda c, q, m: implies(m < s.memory[c, q], s.handled[q, m])),
    assuming=(_EQUAL_TAGS,),
    rules=("FI-3", "PL-23"),
)
COMMITTED_WANTED = Property[GroupState](
    id="wanted-below-committed-is-handled",
    statement="Every message below the committed offset that any client asks for, running or not, is handled.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every(s, lambda c, q, m: implies(m < s.committed[q], s.handled[q, m])),
    assuming=(_EQUAL_TAGS,),
    rules=("FI-3", "OF-20"),
)
PUT_BEHIND = Property[GroupState](
    id="put-before-the-pull-position",
    statement="The last message that was put into a window lies before its pull position.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(Consumer, lambda c: s.forall(Queue, lambda q: s.put_end[c, q] <= s.next_offset[c, q])),
    rules=("PQ-1", "FI-3"),
)
LEMMAS = (CLOSED, PULLED, IN_LOG, LET_GO_WANTED, MEMORY_WANTED, COMMITTED_WANTED, PUT_BEHIND)
"""Invariants of windows over filtered queues: together they are preserved by every action."""

GONE_UNANNOUNCED = Property[GroupState](
    id="gone-client-announces-nothing",
    statement="Nobody announces the subscription of a client that has ended until a client starts again.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(Consumer, lambda c: implies(s.life[c] == Life.GONE, s.unannounced[c])),
    rules=("ST-4", "ST-5"),
)
HASH_ONLY = Property[GroupState](
    id="colliding-tag-is-pulled",
    statement="The broker also hands out a message whose tag merely has the same hash as one that is asked for.",
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(Consumer, lambda c: s.exists(Queue, lambda q: _pulled_only(s, c, q))),
    rules=("FI-1", "FI-3"),
)

EQUAL: Constants = {"messages": 2, "expression": "Aa", "tags": "Aa,C", "moves": 1, "crashes": 1, "failures": 1}
COLLIDING: Constants = {"messages": 2, "expression": "Aa", "tags": "BB,Aa", "moves": 1, "crashes": 1}
ANY_SIZE: Constants = {
    "expression": "Aa",
    "tags": "Aa,C",
    **dict.fromkeys(
        ("consumers", "queues", "messages", "moves", "crashes", "restarts", "failures", "refusals"), UNBOUNDED
    ),
}
ANY_TAGS: Constants = {**ANY_SIZE, "consumers": 2, "other_expression": "C"}
DIFFERENT: Constants = {"messages": 2, "expression": "Aa", "other_expression": "C", "tags": "Aa,C", "moves": 1}
OVERLAPPING: Constants = {**DIFFERENT, "other_expression": "Aa||C"}
UPGRADE: Constants = {
    "consumers": 1,
    "messages": 2,
    "expression": "Aa",
    "next_expression": "C",
    "tags": "Aa,C",
    "crashes": 1,
    "restarts": 1,
}
ROLLING: Constants = {**UPGRADE, "consumers": 2}
BROADCAST: Constants = {"mode": "broadcasting", "messages": 3, "expression": "C", "tags": "C,BB,Aa"}
FINE: Constants = {**EQUAL, "failures": 0, "pulls": "fine"}
ORDERLY: Constants = {**EQUAL, "crashes": 0, "listener": "orderly", "clock": "stopped"}
TAIL: Constants = {"messages": 3, "expression": "Aa", "tags": "Aa,C,C", "crashes": 1}


_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about filtering by tag, naive ones first."""
    yield _claim(
        OFFSET_SAFE,
        EQUAL,
        (
            "What the filter leaves out is passed over: the offset promises something only about the messages "
            "that the group asks for."
        ),
    )
    yield _claim(
        PAST_WANTED,
        DIFFERENT,
        "Members of one group that subscribe different tags lose each other's messages for good.",
    )
    yield _claim(PAST_WANTED, OVERLAPPING, "One member that asks for less is enough to lose messages of the others.")
    yield _claim(PAST_WANTED, UPGRADE, "A new expression is not retroactive: what was passed over stays passed over.")
    yield _claim(NOTHING_MISSED, DIFFERENT, "The broker filters everybody's pulls with the newest expression it knows.")
    yield _claim(NOTHING_MISSED, ROLLING, "During a rolling change of tags, members have different tags for a while.")
    for constants in (EQUAL, COLLIDING, FINE, ORDERLY):
        yield _claim(PAST_WANTED, constants)
    for constants in (EQUAL, COLLIDING, FINE, UPGRADE, BROADCAST):
        yield _claim(NOTHING_MISSED, constants)
    for constants in (EQUAL, COLLIDING, DIFFERENT, ROLLING, BROADCAST, ORDERLY):
        yield _claim(ONLY_ASKED, constants)
    for constants in (COLLIDING, DIFFERENT, ROLLING, BROADCAST, TAIL, FINE, ORDERLY):
        yield _claim(END_COMMITTED, constants)
    for constants in (UPGRADE, ROLLING):
        yield _claim(GONE_UNANNOUNCED, constants)
    yield _claim(HASH_ONLY, COLLIDING)
    yield _claim(REFUSAL_ENDS, DIFFERENT)
    yield _claim(REFUSAL_ENDS, ROLLING)
    for property in (PAST_WANTED, NOTHING_MISSED):
        yield Claim(property=property, machine=consumption, constants=ANY_SIZE, lemmas=LEMMAS)
    yield _claim(ONLY_ASKED, ANY_TAGS)
    for lemma in LEMMAS:
        yield _claim(lemma, EQUAL)
