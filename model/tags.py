"""Tags and expressions: which messages a member asks for, and which ones the broker takes them to be.

The broker compares hash codes (FI-1: ``ExpressionMessageFilter``); the client compares the tags themselves
(``PullAPIWrapper#processPullResult``). ``Aa`` and ``BB`` have the same hash code in Java, so a member that asks for
``Aa`` gets ``BB`` over the wire, and drops it. Retry queues are subscribed to with ``*`` (EN-10, FI-6).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from .consume_queue import is_retry
from .kernel import BoolLike, Constants, IntLike, Machine, State, all_of, any_of, constant

if TYPE_CHECKING:
    from .group import GroupState


class Tag(IntEnum):
    """The tag that a producer gave a message; 2112 is the hash code of both ``Aa`` and ``BB``."""

    Aa = 0
    BB = 1
    C = 2


class Edition(IntEnum):
    """Which of the configured expressions a member has."""

    USUAL = 0
    OTHER = 1
    NEXT = 2


EXPRESSIONS: dict[str, frozenset[Tag]] = {
    "*": frozenset(Tag),
    "Aa": frozenset({Tag.Aa}),
    "BB": frozenset({Tag.BB}),
    "C": frozenset({Tag.C}),
    "Aa||C": frozenset({Tag.Aa, Tag.C}),
}
"""What an expression asks for."""

PATTERNS: dict[str, tuple[Tag, ...]] = {
    "Aa": (Tag.Aa,),
    "Aa,C": (Tag.Aa, Tag.C),
    "C,Aa": (Tag.C, Tag.Aa),
    "Aa,BB": (Tag.Aa, Tag.BB),
    "BB,Aa": (Tag.BB, Tag.Aa),
    "Aa,C,C": (Tag.Aa, Tag.C, Tag.C),
    "C,BB,Aa": (Tag.C, Tag.BB, Tag.Aa),
}
"""Tags of the messages of a queue by offset, repeated for as long as there are messages."""

tags = Machine("tags", doc="Tags of messages, and expressions of members.")


@tags.state
class TagsState(State):
    """Tags of messages, and what members ask for."""

    expression = constant("*", choices=tuple(EXPRESSIONS), doc="tags that members subscribe")
    other_expression = constant("same", choices=("same", *EXPRESSIONS), doc="those of the last member")
    next_expression = constant("same", choices=("same", *EXPRESSIONS), doc="those of members started later")
    tags = constant("Aa", choices=tuple(PATTERNS), doc="tags of the messages of each queue, repeated")


def filtered(k: Constants) -> bool:
    """Whether some member does not ask for everything."""
    return not {k.expression, k.other_expression, k.next_expression} <= {"*", "same"}


def upgrades(k: Constants) -> bool:
    """Whether members that start later bring another expression."""
    return bool(filtered(k) and k.next_expression != "same")


def hash_code(tag: Tag) -> Tag:
    """The tag that stands for all tags with this one's hash code."""
    return Tag.Aa if tag is Tag.BB else tag


def asked_for(k: Constants, edition: Edition) -> frozenset[Tag]:
    """The tags to which members with this edition of the expression subscribe."""
    named = {Edition.USUAL: k.expression, Edition.OTHER: k.other_expression, Edition.NEXT: k.next_expression}
    return EXPRESSIONS[k.expression if named[edition] == "same" else str(named[edition])]


def _tagged(s: GroupState, q: IntLike, m: IntLike, chosen: frozenset[Tag]) -> BoolLike:
    """Whether the tag of ``m`` is one of ``chosen``."""
    pattern = PATTERNS[s.tags]
    if is_retry(s.constants, q) or set(pattern) <= chosen:
        return True
    return any_of(m % len(pattern) == at for at, tag in enumerate(pattern) if tag in chosen)


def edition_asks(s: GroupState, edition: IntLike, q: IntLike, m: IntLike, *, by_hash: bool = False) -> BoolLike:
    """Whether the expression in this ``edition`` asks for ``m``, as the client compares tags or by hash code."""

    def wanted(item: Edition) -> BoolLike:
        words = asked_for(s.constants, item)
        codes = {hash_code(tag) for tag in words}
        chosen = frozenset(tag for tag in Tag if hash_code(tag) in codes) if by_hash else words
        return _tagged(s, q, m, chosen)

    return any_of(all_of(edition == item, wanted(item)) for item in Edition)
