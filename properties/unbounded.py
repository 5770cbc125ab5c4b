"""Invariants of a window: the lemmas that prove safe delivery for any number of messages, queues, clients and
faults.

A search visits the states of small configurations. Here the same machine is proven for all sizes, by induction over its
steps: the lemmas say what every window, every committed offset and every message between them have in common, each
action preserves them, and the guarantees for users follow. The lemmas are properties like any other: a search must also
find them true in every state of every small configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..model.consume_queue import Message, end
from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.kernel import UNBOUNDED, BoolLike, IntLike, all_of, any_of, implies, ite, not_
from ..model.membership import Consumer
from ..model.orderly import Result
from ..model.process_queue import NO_OFFSET, Stage, held, owned_or_leaving
from ..model.pull import carries
from ..model.route import Queue
from .claim import Claim, Constants
from .delivery import at_least_once, mark, nothing_skipped, offset_safe
from .property import Property, always


def _every_table(s: GroupState, holds: Callable[[IntLike, IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(c, q)`` is true of every client and queue, owned or not."""
    return s.forall(Consumer, lambda c: s.forall(Queue, lambda q: holds(c, q)))


def _each_message(s: GroupState, holds: Callable[[IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(m)`` is true of every message of a queue."""
    return s.forall(Message, holds)


def _offsets_at_broker(s: GroupState, q: IntLike) -> list[IntLike]:
    """Every offset of ``q`` from which a window may ever start: the broker's cell, its copy on disk, a commit under
    way.
    """
    return [
        s.committed[q],
        *([s.on_disk[q]] if s.broker_restarts else []),
        *([s.late[q]] if s.late_commits else []),
    ]


def _offsets_at_client(s: GroupState, c: IntLike, q: IntLike) -> list[IntLike]:
    """Every offset of ``q`` that ``c`` may ever commit: in memory, with a request (PL-14), or about to be written.

    The position of a dead window that held nothing is one of them: a late answer moves the in-memory offset there
    (G2-9).
    """
    stale = ite(s.stale_empty[c, q], s.stale[c, q], NO_OFFSET) if s.pulls == "fine" else NO_OFFSET
    return [
        s.memory[c, q],
        *([stale] if s.pulls == "fine" else []),
        *([s.carried[c, q]] if carries(s.constants) else []),
        *([s.held_update[c, q]] if s.held_updates else []),
    ]


def _asks_nothing(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    return not_(s.asked[c, q]) if s.pulls == "fine" else True


def _known(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the window of ``c`` holds ``m``, or a note of the task to which it belongs."""
    return any_of(held(s, c, q, m), s.joined[c, q, m] if s.batch > 1 else False)


@always("closed-window-is-empty", "RB-32", "PL-3", "U7")
def closed(s: GroupState) -> BoolLike:
    """A client has no message of a queue it does not own, and asks for none."""
    return _every_table(
        s,
        lambda c, q: implies(
            not_(owned_or_leaving(s, c, q)),
            all_of(_each_message(s, lambda m: not_(_known(s, c, q, m))), _asks_nothing(s, c, q)),
        ),
    )


@always("positions-inside-the-log", "PL-1", "OF-1", "OF-20")
def in_log(s: GroupState) -> BoolLike:
    """No pull position, and no offset at the client or the broker, is beyond the end of the queue."""
    return all_of(
        _every_table(
            s,
            lambda c, q: all_of(offset <= end(s, q) for offset in (s.next_offset[c, q], *_offsets_at_client(s, c, q))),
        ),
        s.forall(Queue, lambda q: all_of(offset <= end(s, q) for offset in _offsets_at_broker(s, q))),
    )


@always("window-holds-what-was-pulled", "PL-1", "PQ-1")
def pulled(s: GroupState) -> BoolLike:
    """A window holds nothing from its pull position on."""
    return _every_table(
        s, lambda c, q: _each_message(s, lambda m: implies(_known(s, c, q, m), m < s.next_offset[c, q]))
    )


@always("window-lets-go-of-handled-only", "PQ-2", "CC-12", "CC-13")
def let_go(s: GroupState) -> BoolLike:
    """Every message below a window's pull position that the window no longer holds, or never held, is handled."""
    return _every_table(
        s,
        lambda c, q: _each_message(s, lambda m: implies(_let_go(s, c, q, m), s.handled[q, m])),
    )


def _let_go(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return all_of(owned_or_leaving(s, c, q), m < s.next_offset[c, q], not_(held(s, c, q, m)))


@always("in-memory-offset-is-safe", "CC-13", "PL-14", "PL-24", "G2")
def memory_safe(s: GroupState) -> BoolLike:
    """Everything below the in-memory offset of a queue, and below whatever a client may still commit for it, is
    handled.
    """
    return _every_table(
        s,
        lambda c, q: _each_message(
            s, lambda m: implies(any_of(m < offset for offset in _offsets_at_client(s, c, q)), s.handled[q, m])
        ),
    )


@always("no-start-behind-unhandled", "G2", "OF-20", "OF-23", "OF-8", "RB-40", assuming=offset_safe.assuming)
def starts_safe(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """Everything below every offset at which a window may ever start (committed, on the broker's disk, or in a commit
    under way) is handled.
    """
    return implies(any_of(m < offset for offset in _offsets_at_broker(s, q)), s.handled[q, m])


@always(
    "mark-is-the-lowest-unfinished",
    "U5",
    "PQ-2",
    "CC-13",
    assuming=(
        "one message a task",
        "no answer to a dropped window's pull and no update of a worker comes late (PL-24, G2-9)",
    ),
)
def exact_mark(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The in-memory offset is the lowest offset that the window holds, or its pull position if it holds none."""
    return implies(s.owns[c, q], _is_mark(s, c, q))


def _is_mark(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    mark = s.memory[c, q]
    position = s.next_offset[c, q]
    lowest = _each_message(s, lambda m: implies(held(s, c, q, m), mark <= m))
    return all_of(0 <= mark, mark <= position, lowest, any_of(mark == position, held(s, c, q, mark)))


@always("mark-never-back-in-a-window", "U6", "CC-13", assuming=("the offset is not reset",))
def mark_kept(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The in-memory offset of a window never decreases."""
    return implies(s.owns[c, q], s.reached[c, q] <= s.memory[c, q])


@always("taken-comes-first", "PQ-4", "OR-6", assuming=("one message a batch", "autoCommit"))
def taken_first(s: GroupState) -> BoolLike:
    """The message that an orderly worker has taken is the lowest that its window holds."""
    return _every_table(
        s,
        lambda c, q: _each_message(
            s,
            lambda m: implies(
                s.stage[c, q, m] == Stage.RUNNING,
                _each_message(s, lambda o: implies(held(s, c, q, o), m <= o)),
            ),
        ),
    )


@always("orderly-sends-nothing-back", "OR-7")
def none_failed(s: GroupState) -> BoolLike:
    """An orderly window has no message that waits to be sent back."""
    return _every_table(s, lambda c, q: _each_message(s, lambda m: s.stage[c, q, m] != Stage.FAILED))


@always("result-speaks-of-what-was-taken", "OR-6", "OR-7")
def result_true(s: GroupState) -> BoolLike:
    """A worker acts on a result only while it has messages taken, and on a success only if all were handled."""
    return _every_table(s, lambda c, q: _result_true(s, c, q))


def _result_true(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    def taken(m: IntLike) -> BoolLike:
        return s.stage[c, q, m] == Stage.RUNNING

    success = s.result[c, q] == Result.SUCCESS
    return all_of(
        implies(s.result[c, q] != Result.NONE, s.exists(Message, taken)),
        _each_message(s, lambda m: implies(all_of(success, taken(m)), s.handled[q, m])),
    )


@always("nothing-pulled-before-the-lock", "PL-11")
def nothing_yet(s: GroupState) -> BoolLike:
    """A window whose start offset was not asked for again under the lock holds nothing."""
    return _every_table(
        s,
        lambda c, q: implies(
            not_(s.recomputed[c, q]),
            all_of(_each_message(s, lambda m: not_(held(s, c, q, m))), _asks_nothing(s, c, q)),
        ),
    )


LEMMAS = (closed, pulled, let_go, memory_safe, starts_safe)
"""Invariants of a window: together they are preserved by every action."""

ORDERLY_LEMMAS = (*LEMMAS, taken_first, none_failed, result_true, nothing_yet)
"""Further invariants of the window of an orderly listener."""

ANY_SIZE: Constants = {
    "consumers": UNBOUNDED,
    "queues": UNBOUNDED,
    "messages": UNBOUNDED,
}
ANY_FAULTS: Constants = {
    "orphans": 1,
    **dict.fromkeys(
        (
            "moves",
            "crashes",
            "leaves",
            "restarts",
            "pauses",
            "lost_commits",
            "late_commits",
            "broker_restarts",
            "failed_queries",
            "failures",
            "refusals",
            "hangs",
            "lost_pulls",
        ),
        UNBOUNDED,
    ),
}
LOCK_FAULTS: Constants = dict.fromkeys(("lock_losses", "late_locks", "reallocations"), UNBOUNDED)
OLD_VERSION: Constants = {"version": "4.9.8", "failed_queries": 0}
"""4.9.8 if every offset query is answered: it treats an error as "no offset stored" (RB-42)."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Properties that one induction proves for every size."""

    name: str  # what it covers, in a few words
    constants: Mapping[str, int | str]  # the configuration; what is unbounded in it is arbitrary
    properties: tuple[Property, ...]  # what is claimed
    lemmas: tuple[Property, ...] = LEMMAS  # what is proven along with them


_ANY: Constants = {**ANY_SIZE, **ANY_FAULTS}
_ONE_QUEUE: Constants = {**_ANY, "queues": 1}
_ORDERLY: Constants = {**_ONE_QUEUE, **LOCK_FAULTS, "listener": "orderly"}
_SAFE = (offset_safe, at_least_once, nothing_skipped, starts_safe)

PROOFS = (
    Proof(
        name="concurrent listeners",
        constants={**_ANY, "watch_marks": 1},
        properties=(*_SAFE, in_log, mark, exact_mark, mark_kept),
    ),
    Proof(
        name="late answers, late updates and commits that travel with requests",
        constants={**_ONE_QUEUE, "pulls": "fine", "piggyback": 1, "held_updates": UNBOUNDED, "watch_marks": 1},
        properties=(*_SAFE, mark_kept),
    ),
    Proof(
        name="batches",
        constants={**_ONE_QUEUE, "batch": 2, "pull_batch": 3},
        properties=_SAFE,
    ),
    Proof(
        name="4.9.8",
        constants={**_ONE_QUEUE, **OLD_VERSION},
        properties=_SAFE,
    ),
    Proof(
        name="a new group that starts at the first offset",
        constants={**_ONE_QUEUE, "group": "new", "from_where": "FIRST_OFFSET"},
        properties=_SAFE,
    ),
    Proof(
        name="orderly listeners",
        constants={**_ORDERLY, "pulls": "fine", "forced_unlock": 1},
        properties=_SAFE,
        lemmas=ORDERLY_LEMMAS,
    ),
    Proof(
        name="orderly listeners of 4.9.8",
        constants={**_ORDERLY, **OLD_VERSION},
        properties=_SAFE,
        lemmas=ORDERLY_LEMMAS,
    ),
)
"""All proofs; queues do not influence each other's offsets, so most speak of one queue."""


SMALL_OBSERVED: Mapping[str, int | str] = {"messages": 2, "moves": 1, "crashes": 1, "watch_marks": 1}
"""A small configuration in which the observer of marks is also searched."""


def claims() -> Iterator[Claim]:
    """What is proven for every size; the rows of one configuration share one proof of their lemmas."""
    for proof in PROOFS:
        for property in proof.properties:
            yield Claim(property=property, machine=consumption, constants=proof.constants, lemmas=proof.lemmas)
    yield Claim(property=mark_kept, machine=consumption, constants=SMALL_OBSERVED)
