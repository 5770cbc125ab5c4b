"""Invariants of a broadcasting client: the lemmas that prove that it skips nothing, for all sizes and fault counts.

The same induction as in ``unbounded``, with the client's own file in the place of the broker's cell. For 4.9.8 it
covers any number of deaths in the middle of a write: of file and copy, at least one is always good.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.kernel import UNBOUNDED, BoolLike, IntLike, all_of, any_of, implies, not_
from ..model.local_file import Content
from ..model.membership import Consumer
from ..model.process_queue import Stage, held
from ..model.route import Queue
from .broadcast import EACH_SEES_ALL, FAULTS, KEEPS_ITS_PLACE, RENAMED_TWICE, STARTS_AGAIN, everywhere, was_called
from .claim import Claim, Constants
from .property import Kind, Property
from .unbounded import CLOSED, PULLED


def _left(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the window of ``c`` has pulled ``m`` and no longer keeps it waiting."""
    return all_of(s.owns[c, q], m < s.next_offset[c, q], any_of(not_(held(s, c, q, m)), _runs(s, c, q, m)))


def _runs(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return s.stage[c, q, m] == Stage.RUNNING


def _filed(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the entry in the file of ``c``, or in its copy, is past ``m``."""
    return any_of(m < s.file[c, q], m < s.copy[c, q] if s.torn_writes else False)


def _has_entries(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    if not s.torn_writes:
        return s.file[c, q] >= 0
    return all_of(
        implies(s.file_is[c] == Content.OFFSETS, s.file[c, q] >= 0),
        implies(s.copy_is[c] == Content.OFFSETS, s.copy[c, q] >= 0),
    )


LEFT_WAS_CALLED = Property[GroupState](
    id="broadcast-lets-go-of-seen-only",
    statement="A listener was called with everything that a window has pulled and does not keep waiting.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(s, lambda c, q, m: implies(_left(s, c, q, m), was_called(s, c, q, m))),
    rules=("CC-6", "CC-13"),
)
MEMORY_WAS_CALLED = Property[GroupState](
    id="broadcast-memory-behind-seen",
    statement="A listener was called with everything below an in-memory offset.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(s, lambda c, q, m: implies(m < s.memory[c, q], was_called(s, c, q, m))),
    rules=("CC-13",),
)
FILED_WAS_CALLED = Property[GroupState](
    id="broadcast-files-behind-seen",
    statement="A listener was called with everything below an entry of the file or of its copy.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(s, lambda c, q, m: implies(_filed(s, c, q, m), was_called(s, c, q, m))),
    rules=("OF-10",),
)
ENTRIES = Property[GroupState](
    id="broadcast-files-have-all-entries",
    statement="A file, or a copy, that can be read has an entry for every queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(Consumer, lambda c: s.forall(Queue, lambda q: _has_entries(s, c, q))),
    assuming=("the client has run before",),
    rules=("OF-10",),
)
NEVER_TORN = Property[GroupState](
    id="broadcast-file-is-whole-or-missing",
    statement="A file that is written beside the old one and renamed is never found empty or torn.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer, lambda c: any_of(s.file_is[c] == Content.OFFSETS, s.file_is[c] == Content.MISSING)
    ),
    assuming=("4.9.8",),
    rules=("OF-10",),
)
LEMMAS = (CLOSED, PULLED, LEFT_WAS_CALLED, MEMORY_WAS_CALLED, FILED_WAS_CALLED, ENTRIES)
"""Invariants of a broadcasting client."""

ANY_SIZE: Constants = {
    "mode": "broadcasting",
    "watch_clients": 1,
    "orphans": 1,
    **dict.fromkeys(
        (
            "consumers",
            "queues",
            "messages",
            "moves",
            "crashes",
            "leaves",
            "restarts",
            "pauses",
            "failures",
            "expiries",
        ),
        UNBOUNDED,
    ),
}
RENAMED: Constants = {**ANY_SIZE, "expiries": 0, "version": "4.9.8", "torn_writes": UNBOUNDED}


def claims() -> Iterator[Claim]:
    """What is proven about broadcasting for all sizes; every lemma is also searched in small configurations."""
    yield Claim(property=EACH_SEES_ALL, machine=consumption, constants=ANY_SIZE, lemmas=LEMMAS)
    yield Claim(
        property=EACH_SEES_ALL, machine=consumption, constants=RENAMED, lemmas=(*LEMMAS, KEEPS_ITS_PLACE, NEVER_TORN)
    )
    yield Claim(property=STARTS_AGAIN, machine=consumption, constants=RENAMED, lemmas=(KEEPS_ITS_PLACE, NEVER_TORN))
    for lemma in LEMMAS:
        yield Claim(property=lemma, machine=consumption, constants=FAULTS)
    for lemma in (*LEMMAS, NEVER_TORN):
        yield Claim(property=lemma, machine=consumption, constants=RENAMED_TWICE)
