"""What may be relied on in broadcasting, and what may not (guarantee G8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..model.concurrently import concurrent
from ..model.consume_queue import Message, end, start
from ..model.consumption import consumption
from ..model.history import Had
from ..model.kernel import BoolLike, IntLike, State, all_of, any_of, implies, not_
from ..model.local_file import Source, may_load, read_entry, source
from ..model.membership import Consumer, Life
from ..model.process_queue import Orphan, Stage, held
from ..model.rebalance import Queue
from .claim import Claim
from .property import Kind, Property
from .verdict import Verdict

Constants = dict[str, int | str]


def everywhere(s: State, holds: Callable[[IntLike, IntLike, IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(c, q, m)`` is true of every client and every message."""
    return s.forall(Consumer, lambda c: s.forall(Queue, lambda q: s.forall(Message, lambda m: holds(c, q, m))))


def _passed(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the offset of ``c``, in memory or in its file, is past ``m``."""
    return any_of(all_of(s.owns[c, q], m < s.memory[c, q]), m < read_entry(s, c, q))


def _owed(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether ``m`` was not stored before ``c`` started for the first time."""
    return s.first_start[c, q] <= m if s.group != "known" else True


def _had(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return s.had[c, q, m] != Had.NOTHING


def _up(s: State, c: IntLike) -> BoolLike:
    return s.life[c] == Life.UP


def _outside(s: State, c: IntLike, q: IntLike) -> BoolLike:
    position = s.next_offset[c, q]
    return all_of(s.owns[c, q], any_of(position < start(s, q), position > end(s, q)))


EACH_SEES_ALL = Property(
    id="broadcast-each-sees-all",
    statement="No client's offset passes a message with which its listener was never called.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(s, lambda c, q, m: implies(_passed(s, c, q, m), _had(s, c, q, m))),
    rules=("G8", "OF-10"),
)
NOTHING_SKIPPED = Property(
    id="broadcast-nothing-skipped",
    statement="From a client's first start on, its offset passes no message with which its listener was never called.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(
        s, lambda c, q, m: implies(all_of(_passed(s, c, q, m), _owed(s, c, q, m)), _had(s, c, q, m))
    ),
    assuming=(
        "one client id for each process, the same after a restart",
        "the offset file is kept, and at most one death tears it (5.x)",
        "messages are kept until all have had them",
    ),
    rules=("G8", "OF-10", "EN-7"),
)
HANDLED_BY_EACH = Property(
    id="broadcast-handled-by-each",
    statement="No client's offset passes a message with which its listener did not succeed.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(
        s, lambda c, q, m: implies(all_of(_passed(s, c, q, m), _owed(s, c, q, m)), s.had[c, q, m] == Had.SUCCEEDED)
    ),
    assuming=(*NOTHING_SKIPPED.assuming, "no listener fails, and none runs longer than the consume timeout"),
    rules=("G8", "CC-11", "PQ-9"),
)
ONCE = Property(
    id="broadcast-once",
    statement="No listener is called with a message a second time.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.had_twice),
    assuming=("no client dies, stops, or drops a queue",),
    rules=("G8", "OF-10"),
)
STARTS_AGAIN = Property(
    id="broadcast-starts-again",
    statement="A client that is gone can be started again.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(Consumer, lambda c: implies(s.life[c] == Life.GONE, may_load(s, c))),
    assuming=("at most one death tears the offset file (5.x)",),
    rules=("OF-10", "ST-1"),
)
KEEPS_ITS_PLACE = Property(
    id="broadcast-keeps-its-place",
    statement="There is always an offset file, or a copy of it, that can be read.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer, lambda c: any_of(source(s, c) == Source.FILE, source(s, c) == Source.COPY)
    ),
    assuming=STARTS_AGAIN.assuming,
    rules=("OF-10",),
)
NO_SEND_BACK = Property(
    id="broadcast-no-send-back",
    statement="No message waits to be sent back: a listener that failed has had its only chance.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(s, lambda c, q, m: not_(_to_be_sent_back(s, c, q, m))),
    rules=("CC-11", "EN-10"),
)
STRAY_COPY = Property(
    id="broadcast-stray-copy",
    statement="A slow message is sent to a retry topic that nobody subscribes, and its offset is passed all the same.",
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(
        Consumer,
        lambda c: s.exists(
            Queue, lambda q: s.exists(Message, lambda m: all_of(_expired(s, c, q, m), _passed(s, c, q, m)))
        ),
    ),
    rules=("PQ-9", "EN-10"),
)
CORRECTION_ENDS = Property(
    id="broadcast-correction-ends",
    statement="A client whose offset is outside the log is set right, and not again and again.",
    kind=Kind.SETTLES,
    holds=lambda s: s.forall(Consumer, lambda c: s.forall(Queue, lambda q: not_(_outside(s, c, q)))),
    assuming=("the offset file can be written", "weak fairness of pulls and allocation"),
    rules=("PL-19", "PL-23", "OF-10"),
)
REACHES_ALL = Property(
    id="broadcast-reaches-all",
    statement="In the end the listener of every running client was called with every message since its first start.",
    kind=Kind.SETTLES,
    holds=lambda s: everywhere(
        s, lambda c, q, m: implies(all_of(_up(s, c), _owed(s, c, q, m), m < end(s, q)), _had(s, c, q, m))
    ),
    assuming=(*NOTHING_SKIPPED.assuming, "listeners return", "weak fairness of allocation, pulls and listeners"),
    rules=("G8", "G10"),
)
PROGRESS_SAVED = Property(
    id="broadcast-progress-saved",
    statement="In the end the file of every running client says that it is at the end of the log.",
    kind=Kind.SETTLES,
    holds=lambda s: s.forall(
        Consumer, lambda c: s.forall(Queue, lambda q: implies(_up(s, c), read_entry(s, c, q) == end(s, q)))
    ),
    assuming=("the offset file can be written", "weak fairness of allocation, pulls, listeners and writes"),
    rules=("OF-10", "PL-23"),
)


def _to_be_sent_back(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return s.stage[c, q, m] == Stage.FAILED if concurrent(s.constants) else False


def _expired(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the listener of ``c`` still runs with ``m``, which is no longer in the window."""
    return all_of(s.owns[c, q], s.orphan[c, q, m] == Orphan.RUNNING, not_(held(s, c, q, m)))
