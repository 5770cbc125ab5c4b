"""Agreement: processes of a group that should say the same thing, and how long they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TypeVar

from ...claims.settings import Settings
from ...clocks.order import Order
from ...encoding.names import Actor
from ...engine.findings import Doubt
from ...errors import TraceError
from .memberships import Memberships

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a process says for a while.

    Attributes:
        actor: the process.
        value: what it says.
        since: ms.
        surely: until when it certainly says so, ms; ``possibly``: until when it may say so, if its end is not known.
    """

    actor: Actor
    value: Hashable
    since: int
    surely: int
    possibly: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Two processes said different things for the whole time from ``since`` to ``until``."""

    since: int  # ms
    until: int  # ms
    actor: Actor  # the one that differs from most others
    other: Actor  # one of those it differs from
    pairs: int = 1  # number of pairs that differed for too long at overlapping times
    doubt: Doubt = Doubt.NONE  # why it may have been shorter
    late: int = 0  # for how long it had certainly been too long, ms


def statements(group: str, said: Sequence[tuple[int, Actor, Hashable]], memberships: Memberships) -> list[Statement]:
    """Each statement with its end: the next one of the same process, or the end of its membership.

    Args:
        group: the group.
        said: time, process and statement, in the order of time.
        memberships: of all processes.
    """
    found: list[Statement] = []
    following: dict[Actor, int] = {}
    for time, actor, value in reversed(said):
        membership = memberships.at(group, actor, time)
        if membership is None:
            continue
        later = following.get(actor, memberships.until(membership, certain=False))
        following[actor] = time
        surely, possibly = (min(later, memberships.until(membership, certain=certain)) for certain in (True, False))
        if time <= possibly:
            found.append(Statement(actor, value, time, surely, possibly))
    return found[::-1]


def disagreements(said: Sequence[Statement], *, settings: Settings, order: Order) -> list[Difference]:
    """Times at which two processes differed for longer than two rounds, one item for all pairs at overlapping times.

    Every two processes are compared separately: while a group is restarted one by one, there is always somebody who
    differs from somebody else, which does no harm as long as no two differ for long.
    """
    proven = _together(_pairs([(each.since, each.surely, each) for each in said], settings.rounds))
    possible = _pairs([(each.since, each.possibly, each) for each in said], settings.rounds)
    long = _together([p for p in possible if p.until - p.since > settings.rounds + order.apart(p.actor, p.other)])
    found = []
    for difference in _together(possible):
        doubt = Doubt.NONE
        known = _then(proven, difference)
        if not known:
            doubt |= Doubt.EVIDENCE
        if not _then(long, difference):
            doubt |= Doubt.SKEW
        too_long = min((one.since + settings.rounds for one in known), default=difference.until)
        found.append(replace(difference, doubt=doubt, late=max(difference.until - too_long, 0)))
    return found


def _then(others: Sequence[Difference], difference: Difference) -> list[Difference]:
    return [one for one in others if one.since <= difference.until and difference.since <= one.until]


def latest(said: Sequence[Statement], actor: Actor, before: int) -> Hashable:
    """What a process said last before a time; None if it had said nothing."""
    value = None
    for each in said:
        if each.actor == actor and each.since < before:
            value = each.value
    return value


_GONE = object()

MOST_COMPARED = 2_000_000
"""How many pairs of processes may begin or end to differ, besides :data:`PAIRS_OF_A_CHANGE` for each statement."""

PAIRS_OF_A_CHANGE = 500


def _pairs(spells: Iterable[tuple[int, int, Statement]], longer_than: int) -> list[Difference]:
    changes: dict[tuple[int, Actor], Hashable] = {}
    for since, until, statement in spells:
        if since < until:
            # A statement that begins when another one ends continues it: the process is not gone in between.
            changes.setdefault((until, statement.actor), _GONE)
            changes[since, statement.actor] = statement.value
    says: dict[Actor, Hashable] = {}
    saying: dict[Hashable, dict[Actor, None]] = {}
    apart: dict[tuple[Actor, Actor], int] = {}
    found: list[Difference] = []
    compared = 0
    for (time, actor), value in sorted(changes.items(), key=lambda item: item[0]):
        before = says.pop(actor, _GONE)
        if before == value:
            says[actor] = value
            continue
        if before is not _GONE:
            del saying[before][actor]
        # For those that say something else both before and after, nothing changes.
        if before is _GONE:
            began, ended = _others(saying, value), []
        elif value is _GONE:
            began, ended = [], _others(saying, before)
        else:
            began, ended = list(saying[before]), list(saying.get(value, ()))
        compared += len(began) + len(ended)
        if compared > MOST_COMPARED + PAIRS_OF_A_CHANGE * len(changes):
            raise TraceError(
                f"{len({each for _, each in changes}):,} processes of a group disagree too much to compare any two: "
                f"more than {compared - 1:,} pairs did. Leave their rebalance or heartbeat events out."
            )
        for other in began:
            apart[_pair(actor, other)] = time
        for other in ended:
            pair = _pair(actor, other)
            since = apart.pop(pair)
            if time - since > longer_than:
                found.append(Difference(since, time, *pair))
        if value is not _GONE:
            says[actor] = value
            saying.setdefault(value, {})[actor] = None
        if before is not _GONE and not saying[before]:
            del saying[before]
    return found


def _others(saying: Mapping[Hashable, Mapping[Actor, None]], value: Hashable) -> list[Actor]:
    """All processes except those that say a value."""
    return [actor for said, actors in saying.items() if said != value for actor in actors]


def _pair(one: Actor, other: Actor) -> tuple[Actor, Actor]:
    return (one, other) if one < other else (other, one)


def overlapping(items: Iterable[_Item], span: Callable[[_Item], tuple[int, int]]) -> list[list[_Item]]:
    """Items in the order of their beginnings, those at overlapping times in one list."""
    joined: list[list[_Item]] = []
    end = 0
    for item in items:
        since, until = span(item)
        if joined and since <= end:
            joined[-1].append(item)
            end = max(end, until)
        else:
            joined.append([item])
            end = until
    return joined


def _together(pairs: list[Difference]) -> list[Difference]:
    ordered = sorted(pairs, key=lambda pair: (pair.since, pair.until, pair.actor, pair.other))
    return [_one(each) for each in overlapping(ordered, attrgetter("since", "until"))]


def _one(pairs: list[Difference]) -> Difference:
    often = Counter(actor for pair in pairs for actor in (pair.actor, pair.other))
    actor = min(often, key=lambda actor: (-often[actor], actor))
    if len(often) == 2:
        # Of only two, neither is in the majority: the one that came later is named first.
        actor = max(often)
    other = min(
        pair.other if pair.actor == actor else pair.actor for pair in pairs if actor in (pair.actor, pair.other)
    )
    return Difference(min(p.since for p in pairs), max(p.until for p in pairs), actor, other, len(pairs))
