"""What findings are about, in a form that the model can follow: a queue, a message with its retries, or a group.

All findings are prepared together, so the number of passes over a trace does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...model.delay import DEFAULT_LEVELS, DelayTable
from ...model.kernel import ConfigurationError
from ..claims.claim import Monitor
from ..conformance.along_group import AlongGroup, expressions, members
from ..conformance.along_queue import AlongQueue
from ..conformance.along_retries import AlongRetries, chain
from ..conformance.alongside import Following
from ..conformance.events import event_of
from ..conformance.excerpt import excerpt, recorded
from ..encoding.names import Names
from ..format.kinds import CLIENT_ENDS, Kind
from ..format.schema import Group, Header
from ..io import Trace
from .by_model import place_of
from .evidence import Found, Question, collect, turning_points
from .story import Story

MOST_ACTORS = 200
"""Number of processes and brokers in a recording up to which the members of a group are searched."""


def followings(trace: Trace, told: Mapping[str, Story], names: Names) -> dict[str, Following]:
    """For each finding, what can be followed, under the same keys. Reads the trace at most three times."""
    messages = {key: story for key, story in told.items() if story.claim.monitor is Monitor.MESSAGES}
    others = {key: story for key, story in told.items() if key not in messages}
    queues = {key: story for key, story in others.items() if place_of(story.row["slot"], names) is not None}
    groups = {key: story for key, story in others.items() if key not in queues}
    asked = {key: Question(origin=story.row["origin"]) for key, story in messages.items()}
    asked |= {key: question for key, story in groups.items() if (question := _of_members(story, names)) is not None}
    found = _answered(trace, asked, names)
    # Which processes had a message is known only once its events have been read.
    ended = _answered(trace, {key: _with_ends(messages[key], found[key], names) for key in messages}, names)
    followed = {
        **_queues(trace, queues, names),
        **{key: _message(messages[key], found[key], ended[key], trace.header) for key in messages},
        **{key: _group(groups[key], found[key]) for key in groups if key in found},
    }
    return {key: following for key in told if (following := followed.get(key)) is not None}


def _answered(trace: Trace, asked: Mapping[str, Question], names: Names) -> dict[str, Sequence[Found]]:
    return dict(zip(asked, collect(trace, list(asked.values()), names), strict=True)) if asked else {}


def _queues(trace: Trace, told: Mapping[str, Story], names: Names) -> dict[str, Following | None]:
    positions = {key: place for key, story in told.items() if (place := place_of(story.row["slot"], names)) is not None}
    streams = recorded(trace, set(positions.values())) if positions else {}
    found: dict[str, Following | None] = {}
    for key, place in positions.items():
        row = told[key].row
        named = [names.actors[row[role]] for role in ("actor", "other") if row[role] >= 0]
        actors = [(actor.name, actor.incarnation) for actor in named]
        chosen = excerpt(streams[place], row, actors) if place in streams else None
        found[key] = AlongQueue(chosen) if chosen is not None else None
    return found


def _with_ends(story: Story, own: Sequence[Found], names: Names) -> Question:
    """For a message, with the ends of the processes that had it."""
    row = story.row
    actors = tuple({names.actors[each.actor]: None for each in own if each.actor >= 0})
    return Question(origin=row["origin"], actors=actors, periods=((0, row["time"]),), kinds=CLIENT_ENDS)


def _message(story: Story, own: Sequence[Found], found: Sequence[Found], header: Header) -> Following | None:
    """A message with its retries; ``own`` are its events, ``found`` also the ends of the processes that had it."""
    group = next((each.event.get("group") for each in own if each.event["kind"] == Kind.DELIVER), None)
    if not group:
        return None
    events = [event_of(number, each.event) for number, each in enumerate(found)]
    try:
        table = DelayTable.parse(header.delays or DEFAULT_LEVELS)
    except ConfigurationError:
        return None
    chosen = chain(
        [event for event in events if event.group in (None, "", group)],
        next((event.key for event in events if event.key), "the message"),
        until=story.row["time"],
        group=header.groups.get(group, Group()),
        table=table,
        release=header.release,
    )
    return AlongRetries(chosen) if chosen is not None else None


def _of_members(story: Story, names: Names) -> Question | None:
    """For the members of a group; None if there is no group, or if there are too many processes."""
    slot, actors = story.slot, tuple(names.actors)
    if slot is None or not slot.group or len(actors) > MOST_ACTORS:
        return None
    return Question(actors=actors, group=slot.group, periods=((0, story.row["time"]),))


def _group(story: Story, found: Sequence[Found]) -> Following | None:
    """The members of a group, with those of their statements that changed."""
    row, slot = story.row, story.slot
    if slot is None:
        return None
    turning = turning_points(found, None, (row["since"], row["time"]))
    events = [event_of(number, each.event) for number, each in enumerate(turning)]
    told = {number: expressions(each.event.get("subscriptions")) for number, each in enumerate(turning)}
    chosen = members(events, told, group=slot.group, topic=slot.topic, until=row["time"])
    return AlongGroup(chosen) if chosen is not None else None
