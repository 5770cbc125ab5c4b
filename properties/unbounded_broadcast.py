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
from .broadcast import FAULTS, RENAMED_TWICE, each_sees_all, everywhere, keeps_its_place, starts_again, was_called
from .claim import Claim, Constants
from .property import always
from .unbounded import closed, pulled


def _left(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the window of ``c`` has pulled ``m`` and no longer keeps it waiting."""
    return all_of(s.owns[c, q], m < s.next_offset[c, q], any_of(not_(held(s, c, q, m)), _runs(s, c, q, m)))


def _runs(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return s.stage[c, q, m] == Stage.RUNNING


def _filed(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the entry in the file of ``c``, or in its copy, is past ``m``."""
    return any_of(m < s.file[c, q], m < s.copy[c, q] if s.torn_writes else False)


@always("broadcast-lets-go-of-seen-only", "CC-6", "CC-13")
def left_was_called(s: GroupState) -> BoolLike:
    """A listener was called with everything that a window has pulled and does not keep waiting."""
    return everywhere(s, lambda c, q, m: implies(_left(s, c, q, m), was_called(s, c, q, m)))


@always("broadcast-memory-behind-seen", "CC-13")
def memory_was_called(s: GroupState) -> BoolLike:
    """A listener was called with everything below an in-memory offset."""
    return everywhere(s, lambda c, q, m: implies(m < s.memory[c, q], was_called(s, c, q, m)))


@always("broadcast-files-behind-seen", "OF-10")
def filed_was_called(s: GroupState) -> BoolLike:
    """A listener was called with everything below an entry of the file or of its copy."""
    return everywhere(s, lambda c, q, m: implies(_filed(s, c, q, m), was_called(s, c, q, m)))


@always("broadcast-files-have-all-entries", "OF-10", assuming=("the client has run before",))
def entries(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A file, or a copy, that can be read has an entry for every queue."""
    if not s.torn_writes:
        return s.file[c, q] >= 0
    return all_of(
        implies(s.file_is[c] == Content.OFFSETS, s.file[c, q] >= 0),
        implies(s.copy_is[c] == Content.OFFSETS, s.copy[c, q] >= 0),
    )


@always("broadcast-file-is-whole-or-missing", "OF-10", assuming=("4.9.8",))
def never_torn(s: GroupState, c: Consumer) -> BoolLike:
    """A file that is written beside the old one and renamed is never found empty or torn."""
    return any_of(s.file_is[c] == Content.OFFSETS, s.file_is[c] == Content.MISSING)


LEMMAS = (closed, pulled, left_was_called, memory_was_called, filed_was_called, entries)
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
    yield Claim(property=each_sees_all, machine=consumption, constants=ANY_SIZE, lemmas=LEMMAS)
    yield Claim(
        property=each_sees_all, machine=consumption, constants=RENAMED, lemmas=(*LEMMAS, keeps_its_place, never_torn)
    )
    yield Claim(property=starts_again, machine=consumption, constants=RENAMED, lemmas=(keeps_its_place, never_torn))
    for lemma in LEMMAS:
        yield Claim(property=lemma, machine=consumption, constants=FAULTS)
    for lemma in (*LEMMAS, never_torn):
        yield Claim(property=lemma, machine=consumption, constants=RENAMED_TWICE)
