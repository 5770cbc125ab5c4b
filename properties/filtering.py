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
from .delivery import every_message, offset_safe
from .property import always, eventually, settles, sometimes
from .unbounded import closed, in_log, pulled


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


@always(
    "offset-never-past-wanted",
    "FI-3",
    "FI-4",
    "PL-17",
    "G2",
    assuming=("all members of the group subscribe the same tags, and always have",),
)
def past_wanted(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """The committed offset never passes an unhandled message that a running member asks for."""
    return implies(all_of(m < s.committed[q], _wanted(s, q, m)), s.handled[q, m])


@always(
    "wanted-never-passed-over", "PL-16", "PL-17", "ST-5", assuming=("no two running members subscribe different tags",)
)
def nothing_missed(s: GroupState) -> BoolLike:
    """No pull passes over a message that the client that pulls asks for."""
    return not_(s.missed)


@always("unasked-never-delivered", "FI-1")
def only_asked(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """A window never holds a message that its client does not ask for."""
    return implies(held(s, c, q, m), asks_for(s, c, q, m))


@settles(
    "filtered-offset-committed",
    "FI-3",
    "PL-23",
    assuming=("listeners return", "weak fairness of pulls, heartbeats, listeners and commits"),
)
def end_committed(s: GroupState) -> BoolLike:
    """Eventually, the stored offset is at the end of the queue, past everything that was filtered out."""
    return any_of(s.forall(Queue, lambda q: _at_the_end(s, q)), _nobody_runs(s))


@eventually("refused-pulls-end", "PL-16", "RB-37", "ST-4", after=_refused, assuming=("weak fairness of heartbeats",))
def refusal_ends(s: GroupState) -> BoolLike:
    """A client whose pulls are refused because of its subscription is eventually served again."""
    return not_(_refused(s))


_EQUAL_TAGS = "all members of the group subscribe the same tags"


def _every(s: GroupState, holds: Callable[[IntLike, IntLike, IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(c, q, m)`` is true of every message that the client ``c`` asks for."""
    return s.forall(Consumer, lambda c: every_message(s, lambda q, m: implies(asks_for(s, c, q, m), holds(c, q, m))))


def _let_go(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return all_of(s.owns[c, q], m < s.next_offset[c, q], not_(held(s, c, q, m)))


@always("wanted-let-go-is-handled", "FI-3", "CC-13", assuming=(_EQUAL_TAGS,))
def let_go_wanted(s: GroupState) -> BoolLike:
    """A message that a client asks for, and that its window has passed and no longer holds, or never held, is
    handled.
    """
    return _every(s, lambda c, q, m: implies(_let_go(s, c, q, m), s.handled[q, m]))


@always("wanted-below-memory-is-handled", "FI-3", "PL-23", assuming=(_EQUAL_TAGS,))
def memory_wanted(s: GroupState) -> BoolLike:
    """Every message below an in-memory offset that the client asks for is handled."""
    return _every(s, lambda c, q, m: implies(m < s.memory[c, q], s.handled[q, m]))


@always("wanted-below-committed-is-handled", "FI-3", "OF-20", assuming=(_EQUAL_TAGS,))
def committed_wanted(s: GroupState) -> BoolLike:
    """Every message below the committed offset that any client asks for, running or not, is handled."""
    return _every(s, lambda c, q, m: implies(m < s.committed[q], s.handled[q, m]))


@always("put-before-the-pull-position", "PQ-1", "FI-3")
def put_behind(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The last message that was put into a window lies before its pull position."""
    return s.put_end[c, q] <= s.next_offset[c, q]


LEMMAS = (closed, pulled, in_log, let_go_wanted, memory_wanted, committed_wanted, put_behind)
"""Invariants of windows over filtered queues: together they are preserved by every action."""


@always("gone-client-announces-nothing", "ST-4", "ST-5")
def gone_unannounced(s: GroupState, c: Consumer) -> BoolLike:
    """Nobody announces the subscription of a client that has ended until a client starts again."""
    return implies(s.life[c] == Life.GONE, s.unannounced[c])


@sometimes("colliding-tag-is-pulled", "FI-1", "FI-3")
def hash_only(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The broker also hands out a message whose tag merely has the same hash as one that is asked for."""
    empty = s.forall(Message, lambda m: not_(held(s, c, q, m)))
    return all_of(s.owns[c, q], s.next_offset[c, q] == 1, empty)


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
        offset_safe,
        EQUAL,
        (
            "What the filter leaves out is passed over: the offset promises something only about the messages "
            "that the group asks for."
        ),
    )
    yield _claim(
        past_wanted,
        DIFFERENT,
        "Members of one group that subscribe different tags lose each other's messages for good.",
    )
    yield _claim(past_wanted, OVERLAPPING, "One member that asks for less is enough to lose messages of the others.")
    yield _claim(past_wanted, UPGRADE, "A new expression is not retroactive: what was passed over stays passed over.")
    yield _claim(nothing_missed, DIFFERENT, "The broker filters everybody's pulls with the newest expression it knows.")
    yield _claim(nothing_missed, ROLLING, "During a rolling change of tags, members have different tags for a while.")
    for constants in (EQUAL, COLLIDING, FINE, ORDERLY):
        yield _claim(past_wanted, constants)
    for constants in (EQUAL, COLLIDING, FINE, UPGRADE, BROADCAST):
        yield _claim(nothing_missed, constants)
    for constants in (EQUAL, COLLIDING, DIFFERENT, ROLLING, BROADCAST, ORDERLY):
        yield _claim(only_asked, constants)
    for constants in (COLLIDING, DIFFERENT, ROLLING, BROADCAST, TAIL, FINE, ORDERLY):
        yield _claim(end_committed, constants)
    for constants in (UPGRADE, ROLLING):
        yield _claim(gone_unannounced, constants)
    yield _claim(hash_only, COLLIDING)
    yield _claim(refusal_ends, DIFFERENT)
    yield _claim(refusal_ends, ROLLING)
    for property in (past_wanted, nothing_missed):
        yield Claim(property=property, machine=consumption, constants=ANY_SIZE, lemmas=LEMMAS)
    yield _claim(only_asked, ANY_TAGS)
    for lemma in LEMMAS:
        yield _claim(lemma, EQUAL)
