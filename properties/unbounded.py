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
from .delivery import AT_LEAST_ONCE, MARK, NOTHING_SKIPPED, OFFSET_SAFE, every_message, every_window
from .property import Kind, Property


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


CLOSED = Property[GroupState](
    id="closed-window-is-empty",
    statement="A client has no message of a queue it does not own, and asks for none.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(
        s,
        lambda c, q: implies(
            not_(owned_or_leaving(s, c, q)),
            all_of(_each_message(s, lambda m: not_(_known(s, c, q, m))), _asks_nothing(s, c, q)),
        ),
    ),
    rules=("RB-32", "PL-3", "U7"),
)
IN_LOG = Property[GroupState](
    id="positions-inside-the-log",
    statement="No pull position, and no offset at the client or the broker, is beyond the end of the queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: all_of(
        _every_table(
            s,
            lambda c, q: all_of(offset <= end(s, q) for offset in (s.next_offset[c, q], *_offsets_at_client(s, c, q))),
        ),
        s.forall(Queue, lambda q: all_of(offset <= end(s, q) for offset in _offsets_at_broker(s, q))),
    ),
    rules=("PL-1", "OF-1", "OF-20"),
)
PULLED = Property[GroupState](
    id="window-holds-what-was-pulled",
    statement="A window holds nothing from its pull position on.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(
        s, lambda c, q: _each_message(s, lambda m: implies(_known(s, c, q, m), m < s.next_offset[c, q]))
    ),
    rules=("PL-1", "PQ-1"),
)
LET_GO = Property[GroupState](
    id="window-lets-go-of-handled-only",
    statement=(
        "Every message below a window's pull position that the window no longer holds, or never held, is handled."
    ),
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(
        s,
        lambda c, q: _each_message(s, lambda m: implies(_let_go(s, c, q, m), s.handled[q, m])),
    ),
    rules=("PQ-2", "CC-12", "CC-13"),
)


def _let_go(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return all_of(owned_or_leaving(s, c, q), m < s.next_offset[c, q], not_(held(s, c, q, m)))


MEMORY_SAFE = Property[GroupState](
    id="in-memory-offset-is-safe",
    statement=(
        "Everything below the in-memory offset of a queue, and below whatever a client may still commit for it, "
        "is handled."
    ),
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(
        s,
        lambda c, q: _each_message(
            s, lambda m: implies(any_of(m < offset for offset in _offsets_at_client(s, c, q)), s.handled[q, m])
        ),
    ),
    rules=("CC-13", "PL-14", "PL-24", "G2"),
)
STARTS_SAFE = Property[GroupState](
    id="no-start-behind-unhandled",
    statement=(
        "Everything below every offset at which a window may ever start (committed, on the broker's disk, or in "
        "a commit under way) is handled."
    ),
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(
        s, lambda q, m: implies(any_of(m < offset for offset in _offsets_at_broker(s, q)), s.handled[q, m])
    ),
    assuming=OFFSET_SAFE.assuming,
    rules=("G2", "OF-20", "OF-23", "OF-8", "RB-40"),
)
EXACT_MARK = Property[GroupState](
    id="mark-is-the-lowest-unfinished",
    statement="The in-memory offset is the lowest offset that the window holds, or its pull position if it holds none.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(s, lambda c, q: _is_mark(s, c, q)),
    assuming=(
        "one message a task",
        "no answer to a dropped window's pull and no update of a worker comes late (PL-24, G2-9)",
    ),
    rules=("U5", "PQ-2", "CC-13"),
)


def _is_mark(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    mark = s.memory[c, q]
    position = s.next_offset[c, q]
    lowest = _each_message(s, lambda m: implies(held(s, c, q, m), mark <= m))
    return all_of(0 <= mark, mark <= position, lowest, any_of(mark == position, held(s, c, q, mark)))


MARK_KEPT = Property[GroupState](
    id="mark-never-back-in-a-window",
    statement="The in-memory offset of a window never decreases.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(s, lambda c, q: s.reached[c, q] <= s.memory[c, q]),
    assuming=("the offset is not reset",),
    rules=("U6", "CC-13"),
)

TAKEN_FIRST = Property[GroupState](
    id="taken-comes-first",
    statement="The message that an orderly worker has taken is the lowest that its window holds.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(
        s,
        lambda c, q: _each_message(
            s,
            lambda m: implies(
                s.stage[c, q, m] == Stage.RUNNING,
                _each_message(s, lambda o: implies(held(s, c, q, o), m <= o)),
            ),
        ),
    ),
    assuming=("one message a batch", "autoCommit"),
    rules=("PQ-4", "OR-6"),
)
NONE_FAILED = Property[GroupState](
    id="orderly-sends-nothing-back",
    statement="An orderly window has no message that waits to be sent back.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(s, lambda c, q: _each_message(s, lambda m: s.stage[c, q, m] != Stage.FAILED)),
    rules=("OR-7",),
)
RESULT_TRUE = Property[GroupState](
    id="result-speaks-of-what-was-taken",
    statement="A worker acts on a result only while it has messages taken, and on a success only if all were handled.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(s, lambda c, q: _result_true(s, c, q)),
    rules=("OR-6", "OR-7"),
)


def _result_true(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    def taken(m: IntLike) -> BoolLike:
        return s.stage[c, q, m] == Stage.RUNNING

    success = s.result[c, q] == Result.SUCCESS
    return all_of(
        implies(s.result[c, q] != Result.NONE, s.exists(Message, taken)),
        _each_message(s, lambda m: implies(all_of(success, taken(m)), s.handled[q, m])),
    )


NOTHING_YET = Property[GroupState](
    id="nothing-pulled-before-the-lock",
    statement="A window whose start offset was not asked for again under the lock holds nothing.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(
        s,
        lambda c, q: implies(
            not_(s.recomputed[c, q]),
            all_of(_each_message(s, lambda m: not_(held(s, c, q, m))), _asks_nothing(s, c, q)),
        ),
    ),
    rules=("PL-11",),
)

LEMMAS = (CLOSED, PULLED, LET_GO, MEMORY_SAFE, STARTS_SAFE)
"""Invariants of a window: together they are preserved by every action."""

ORDERLY_LEMMAS = (*LEMMAS, TAKEN_FIRST, NONE_FAILED, RESULT_TRUE, NOTHING_YET)
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
    """Properties that one induction proves for every size.

    Attributes:
        name: what it covers, in a few words.
        constants: the configuration; what is unbounded in it is arbitrary.
        properties: what is claimed.
        lemmas: what is proven along with them.
    """

    name: str
    constants: Mapping[str, int | str]
    properties: tuple[Property, ...]
    lemmas: tuple[Property, ...] = LEMMAS


_ANY: Constants = {**ANY_SIZE, **ANY_FAULTS}
_ONE_QUEUE: Constants = {**_ANY, "queues": 1}
_ORDERLY: Constants = {**_ONE_QUEUE, **LOCK_FAULTS, "listener": "orderly"}
_SAFE = (OFFSET_SAFE, AT_LEAST_ONCE, NOTHING_SKIPPED, STARTS_SAFE)

PROOFS = (
    Proof(
        name="concurrent listeners",
        constants={**_ANY, "watch_marks": 1},
        properties=(*_SAFE, IN_LOG, MARK, EXACT_MARK, MARK_KEPT),
    ),
    Proof(
        name="late answers, late updates and commits that travel with requests",
        constants={**_ONE_QUEUE, "pulls": "fine", "piggyback": 1, "held_updates": UNBOUNDED, "watch_marks": 1},
        properties=(*_SAFE, MARK_KEPT),
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
    yield Claim(property=MARK_KEPT, machine=consumption, constants=SMALL_OBSERVED)
