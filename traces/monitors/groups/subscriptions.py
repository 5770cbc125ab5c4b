"""Subscriptions: what the members of a group consume, and whether it is the same (A2, A3, A7).

The broker keeps one table for a group, and the last heartbeat wins (ST-5); queues are divided among all members,
whether or not they consume the topic (EN-2). A lasting difference therefore leaves queues without a reader, or messages
filtered by another member's expression.
"""

from __future__ import annotations

import enum
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from ...claims.settings import REBALANCE_PERIOD, Settings
from ...encoding.names import RETRY_PREFIX, Actor
from ...engine.context import Context
from ...format.kinds import Kind
from ...format.whole_number import whole_number
from ..notebook import whole
from .agreement import Statement, disagreements, latest, statements
from .groups_seen import GroupsSeen
from .memberships import Memberships
from .runs import Told, told_by

CLAIM = "same-subscriptions"

EVERYTHING = "*"
"""EN-9: the expression for all messages; an empty one means the same."""


NUMBERED = 86_400_000
"""Versions on the first day of 1970 are no times, ms: simulated ones are numbered."""


class Unequal(enum.IntFlag):
    """How members differ; the value of a finding."""

    TOPIC = 1  # one consumes it, the other does not
    EXPRESSION = 2  # both consume it, with different expressions


@dataclass(frozen=True, kw_only=True)
class Subscribed:
    """What one member said about one topic for a while.

    Attributes:
        actor: the member.
        topic: the topic.
        expression: as it was written; empty means all.
        version: ``subVersion``, ms; None if it was not recorded.
        since: time of the first heartbeat that said so, ms.
        until: when it said something else or was gone; None if that was never seen.
        differs: whether some other member said something else about the topic meanwhile, or did not consume it.
    """

    actor: Actor
    topic: str
    expression: str
    version: int | None
    since: int
    until: int | None
    differs: bool = False


@lru_cache(maxsize=1 << 12)
def parse_subscription(text: str) -> tuple[str, str, int | None]:
    """Topic, expression and version of ``topic=expression@version``; the version may be missing."""
    topic, _, rest = text.partition("=")
    expression, at, version = rest.rpartition("@")
    if at and version.isdecimal():
        return topic.strip(), expression.strip(), whole_number(version)
    return topic.strip(), rest.strip(), None


@lru_cache(maxsize=1 << 12)
def asked_for(expression: str) -> str:
    """An expression in a form that is equal for equal filters (EN-9: ``FilterAPI#buildSubscriptionData``).

    The order of tags, surrounding blanks and repetitions do not matter. SQL expressions are compared as written.
    """
    tags = sorted({tag.strip() for tag in expression.split("||")} - {""})
    return "||".join(tags) if tags else EVERYTHING


def judge_subscriptions(seen: GroupsSeen) -> None:
    """Report every time at which two members of a group said different things for longer than two rounds.

    A finding has the topic in its slot if they differ about only one topic.
    """
    told, memberships, notebook = seen.told, seen.memberships, seen.notebook
    for group in memberships.groups():
        notebook.judge(CLAIM, sum(run.count for run in told.of(group, Kind.HEARTBEAT) if run.subscriptions is not None))
        beats = _beats(told, group, memberships)
        said = [replace(beat, value=_filters(beat)) for beat in beats]
        for difference in disagreements(said, settings=seen.settings, order=memberships.order):
            one, other = (
                dict(cast("_Filters", latest(said, actor, difference.until) or ()))
                for actor in (difference.actor, difference.other)
            )
            topics = sorted(topic for topic in one.keys() | other.keys() if one.get(topic) != other.get(topic))
            unequal = Unequal(0)
            for topic in topics:
                unequal |= Unequal.EXPRESSION if topic in one and topic in other else Unequal.TOPIC
            notebook.violation(
                CLAIM,
                slot=whole(group, topics[0] if len(topics) == 1 else ""),
                since=difference.since,
                time=difference.until,
                actor=difference.actor,
                other=difference.other,
                value=unequal,
                late=difference.late,
                doubt=difference.doubt,
            )


def subscription_table(context: Context, group: str, *, settings: Settings | None = None) -> tuple[Subscribed, ...]:
    """What each member of a group consumed and since when, sorted by topic, member and time."""
    told = context.events.once(told_by, 2 * REBALANCE_PERIOD)
    beats = _beats(told, group, context.once(Memberships.of_all, (settings or Settings()).skew))
    every = _Spells(beats)
    by_filter: dict[tuple[str, str], list[Statement]] = {}
    for beat in beats:
        for filter in _filters(beat):
            by_filter.setdefault(filter, []).append(beat)
    same = {filter: _Spells(alike) for filter, alike in by_filter.items()}
    rows: dict[tuple[str, Actor], list[Subscribed]] = {}
    for beat in beats:
        for topic, (expression, version) in _consumed(beat).items():
            earlier = rows.setdefault((topic, beat.actor), [])
            row = Subscribed(
                actor=beat.actor,
                topic=topic,
                expression=expression,
                version=version,
                since=beat.since,
                until=beat.possibly,
                # One member's statements follow each other, so an overlapping different statement is by another member.
                differs=every.during(beat) > same[topic, asked_for(expression)].during(beat),
            )
            before = earlier[-1] if earlier else None
            if before is not None and (before.until, before.expression) == (beat.since, expression):
                earlier[-1] = replace(row, since=before.since, differs=row.differs or before.differs)
            else:
                earlier.append(row)
    return tuple(
        replace(row, until=None) if row.until == context.end else row for key in sorted(rows) for row in rows[key]
    )


class _Spells:
    """Number of statements made at overlapping times."""

    def __init__(self, said: Sequence[Statement]) -> None:
        self._since = sorted(each.since for each in said)
        self._until = sorted(each.possibly for each in said)

    def during(self, beat: Statement) -> int:
        return bisect_left(self._since, beat.possibly) - bisect_right(self._until, beat.since)


_Consumed = Mapping[str, tuple[str, int | None]]
"""Topic → expression and version."""

_Filters = tuple[tuple[str, str], ...]
"""Topics with their filters, sorted."""


def _beats(told: Told, group: str, memberships: Memberships) -> list[Statement]:
    """What each member says that it consumes; heartbeats without subscriptions are left out."""
    runs = [run for run in told.of(group, Kind.HEARTBEAT) if run.subscriptions is not None]
    return statements(group, [(run.first, run.actor, tuple(run.subscriptions or ())) for run in runs], memberships)


def _consumed(beat: Statement) -> _Consumed:
    parsed = (parse_subscription(text) for text in cast("tuple[str, ...]", beat.value))
    # EN-10: the client adds the retry topic of its group by itself.
    return {topic: (text, version) for topic, text, version in parsed if not topic.startswith(RETRY_PREFIX)}


def _filters(beat: Statement) -> _Filters:
    """The filter of each topic."""
    return tuple(sorted((topic, asked_for(expression)) for topic, (expression, _) in _consumed(beat).items()))
