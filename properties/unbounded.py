"""What a window knows: the lemmas that prove safe delivery for any number of messages, queues, clients and faults.

A search visits the states of small configurations. Here the same machine is proven for all sizes, by induction over its
steps: the lemmas say what every window, every committed offset and every message between them have in common, each
action preserves them, and what users rely on follows. The lemmas are properties like any other: a search must find them
true in every state of every small configuration, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.consume_queue import Message, end
from ..model.consumption import consumption
from ..model.kernel import UNBOUNDED, BoolLike, IntLike, State, all_of, any_of, implies, not_
from ..model.membership import Consumer
from ..model.orderly import Result
from ..model.process_queue import Stage, held, owned_or_leaving
from ..model.rebalance import Queue
from .claim import Claim
from .delivery import AT_LEAST_ONCE, MARK, NOTHING_SKIPPED, OFFSET_SAFE, every_message, every_window
from .property import Kind, Property

Constants = dict[str, int | str]


def _every_table(s: State, holds: object) -> BoolLike:
    """Whether ``holds(c, q)`` is true of every client and queue, owned or not."""
    return s.forall(Consumer, lambda c: s.forall(Queue, lambda q: holds(c, q)))  # type: ignore[operator]


def _each_message(s: State, holds: object) -> BoolLike:
    """Whether ``holds(m)`` is true of every message of a queue."""
    return s.forall(Message, holds)  # type: ignore[arg-type]


def _offsets_at_broker(s: State, q: IntLike) -> list[IntLike]:
    """Every offset of ``q`` from which a window may start some time: the cell, its copy on disk, a commit under way."""
    return [
        s.committed[q],
        *([s.on_disk[q]] if s.broker_restarts else []),
        *([s.late[q]] if s.late_commits else []),
    ]


def _asks_nothing(s: State, c: IntLike, q: IntLike) -> BoolLike:
    return not_(s.asked[c, q]) if s.pulls == "fine" else True


def _known(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the window of ``c`` has ``m``, or a note of which task it belongs to."""
    return any_of(held(s, c, q, m), s.joined[c, q, m] if s.batch > 1 else False)


CLOSED = Property(
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
    rules=("RB-32", "PL-3"),
)
IN_LOG = Property(
    id="positions-inside-the-log",
    statement="No pull position, and no offset at the client or the broker, is beyond the end of the queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: all_of(
        _every_table(
            s,
            lambda c, q: all_of(
                s.next_offset[c, q] <= end(s, q),
                s.memory[c, q] <= end(s, q),
                s.stale[c, q] <= end(s, q) if s.pulls == "fine" else True,
            ),
        ),
        s.forall(Queue, lambda q: all_of(offset <= end(s, q) for offset in _offsets_at_broker(s, q))),
    ),
    rules=("PL-1", "OF-1", "OF-20"),
)
PULLED = Property(
    id="window-holds-what-was-pulled",
    statement="A window holds nothing from its pull position on.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(
        s, lambda c, q: _each_message(s, lambda m: implies(_known(s, c, q, m), m < s.next_offset[c, q]))
    ),
    rules=("PL-1", "PQ-1"),
)
LET_GO = Property(
    id="window-lets-go-of-handled-only",
    statement="What a window has behind its pull position and holds no more, or never held, is handled.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(
        s,
        lambda c, q: _each_message(s, lambda m: implies(_let_go(s, c, q, m), s.handled[q, m])),
    ),
    rules=("PQ-2", "CC-12", "CC-13"),
)


def _let_go(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return all_of(owned_or_leaving(s, c, q), m < s.next_offset[c, q], not_(held(s, c, q, m)))


MEMORY_SAFE = Property(
    id="in-memory-offset-is-safe",
    statement="Below the in-memory offset of a window, and below what an answer may still move it to, all is handled.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(
        s,
        lambda c, q: _each_message(
            s,
            lambda m: implies(any_of(m < s.memory[c, q], _below_stale(s, c, q, m)), s.handled[q, m]),
        ),
    ),
    rules=("CC-13", "PL-24"),
)


def _below_stale(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether ``m`` is below the position of a dead window that held nothing (G2-9)."""
    return all_of(s.stale_empty[c, q], m < s.stale[c, q]) if s.pulls == "fine" else False


STARTS_SAFE = Property(
    id="no-start-behind-unhandled",
    statement="Below every offset at which a window may ever start (committed, on the broker's disk, or in a commit "
    "under way) all is handled.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(
        s, lambda q, m: implies(any_of(m < offset for offset in _offsets_at_broker(s, q)), s.handled[q, m])
    ),
    assuming=OFFSET_SAFE.assuming,
    rules=("G2", "OF-20", "OF-23", "OF-8", "RB-40"),
)
EXACT_MARK = Property(
    id="mark-is-the-lowest-unfinished",
    statement="The in-memory offset is the lowest offset that the window holds, or its pull position if it holds none.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(s, lambda c, q: _is_mark(s, c, q)),
    assuming=("no answer to a dropped window's pull arrives late (PL-24)",),
    rules=("U5", "PQ-2", "CC-13"),
)


def _is_mark(s: State, c: IntLike, q: IntLike) -> BoolLike:
    mark = s.memory[c, q]
    position = s.next_offset[c, q]
    lowest = _each_message(s, lambda m: implies(held(s, c, q, m), mark <= m))
    return all_of(0 <= mark, mark <= position, lowest, any_of(mark == position, held(s, c, q, mark)))


MARK_KEPT = Property(
    id="mark-never-back-in-a-window",
    statement="The in-memory offset of a window never decreases.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(s, lambda c, q: s.reached[c, q] <= s.memory[c, q]),
    assuming=("the offset is not reset",),
    rules=("U6", "CC-13"),
)

TAKEN_FIRST = Property(
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
NONE_FAILED = Property(
    id="orderly-sends-nothing-back",
    statement="An orderly window has no message that waits to be sent back.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(s, lambda c, q: _each_message(s, lambda m: s.stage[c, q, m] != Stage.FAILED)),
    rules=("OR-7",),
)
RESULT_TRUE = Property(
    id="result-speaks-of-what-was-taken",
    statement="A worker acts on a result only while it has messages taken, and on a success only if all were handled.",
    kind=Kind.ALWAYS,
    holds=lambda s: _every_table(s, lambda c, q: _result_true(s, c, q)),
    rules=("OR-6", "OR-7"),
)


def _result_true(s: State, c: IntLike, q: IntLike) -> BoolLike:
    def taken(m: IntLike) -> BoolLike:
        return s.stage[c, q, m] == Stage.RUNNING

    success = s.result[c, q] == Result.SUCCESS
    return all_of(
        implies(s.result[c, q] != Result.NONE, s.exists(Message, taken)),
        _each_message(s, lambda m: implies(all_of(success, taken(m)), s.handled[q, m])),
    )


NOTHING_YET = Property(
    id="nothing-pulled-before-the-lock",
    statement="A window whose start was not asked for again under the lock holds nothing.",
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

LEMMAS = (CLOSED, IN_LOG, PULLED, LET_GO, MEMORY_SAFE, STARTS_SAFE)
"""What a window knows: together they are preserved by every action."""

ORDERLY_LEMMAS = (*LEMMAS, TAKEN_FIRST, NONE_FAILED, RESULT_TRUE, NOTHING_YET)
"""What a window of an orderly listener knows besides."""

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
        ),
        UNBOUNDED,
    ),
}
NO_FIRST_OFFSET_ERRORS: Constants = {"version": "4.9.8", "failed_queries": 0}
"""4.9.8 where every offset query is answered: it takes an error for "no offset stored" (RB-42)."""

_CONCURRENT: Constants = {**ANY_SIZE, **ANY_FAULTS}
_ONE_QUEUE: Constants = {**_CONCURRENT, "queues": 1}
_ORDERLY: Constants = {**_ONE_QUEUE, "listener": "orderly"}
_SAFE = (OFFSET_SAFE, AT_LEAST_ONCE, NOTHING_SKIPPED, STARTS_SAFE)
_ROWS: tuple[tuple[Constants, tuple[Property, ...], tuple[Property, ...]], ...] = (
    ({**_CONCURRENT, "watch_marks": 1}, (*_SAFE, MARK, EXACT_MARK, MARK_KEPT), LEMMAS),
    ({**_CONCURRENT, "pulls": "fine", "watch_marks": 1}, (*_SAFE, MARK_KEPT), LEMMAS),
    ({**_ONE_QUEUE, "batch": 2, "pull_batch": 3}, _SAFE, LEMMAS),
    ({**_ONE_QUEUE, **NO_FIRST_OFFSET_ERRORS}, _SAFE, LEMMAS),
    ({**_ONE_QUEUE, "group": "new", "from_where": "FIRST_OFFSET"}, _SAFE, LEMMAS),
    ({**_ORDERLY, "pulls": "fine"}, _SAFE, ORDERLY_LEMMAS),
    ({**_ORDERLY, **NO_FIRST_OFFSET_ERRORS}, _SAFE, ORDERLY_LEMMAS),
)


def claims() -> Iterator[Claim]:
    """What is proven for every size; the rows of one configuration share one proof of their lemmas."""
    for constants, properties, lemmas in _ROWS:
        for property in properties:
            yield Claim(property=property, machine=consumption, constants=constants, lemmas=lemmas)
