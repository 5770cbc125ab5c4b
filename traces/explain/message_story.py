"""The story of one message: what happened to it, in words, for every group that handled it.

It is identified by its unique key, the message id of any of its copies, or its origin. All events about it are
collected first, then what happened to the queues where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..claims.settings import Settings
from ..format.kinds import Kind
from ..format.schema import Group
from ..io import Trace
from .evidence import Found, Question, collect, turning_points
from .message_attempts import spot_of
from .message_lookup import is_at, look_up
from .message_outcome import Outcome, consumers, outcome_of
from .sentences import clock
from .story import Sentence, sentences

_DEFAULT_GROUP = Group()
_MOST_SENTENCES = 200
_AFTER = 600_000  # how long, in ms, the stored offset of its queue is followed


@dataclass(frozen=True, kw_only=True)
class MessageStory:
    """What happened to a message."""

    asked: str  # the name by which it was requested
    origins: tuple[int, ...]  # its origins; several if the name fits several messages
    keys: tuple[str, ...]  # its unique keys, where they were recorded
    copies: tuple[str, ...]  # where each of its copies was stored, by time
    outcomes: tuple[Outcome, ...]  # for each group
    sentences: tuple[Sentence, ...]  # all its events, and what happened to its queues meanwhile
    left_out: int = 0  # number of events without a sentence

    def __str__(self) -> str:
        lines = [f"message {self.asked}"]
        for outcome in self.outcomes:
            lines.append(f"  group {outcome.group or 'unknown'}{outcome.at}: {outcome.told}")
        lines += [f"  {sentence}" for sentence in self.sentences]
        if self.left_out:
            lines.append(f"  … and {self.left_out:,} more events")
        return "\n".join(lines)


def message_story(trace: Trace, asked: str | int, *, settings: Settings | None = None) -> MessageStory:
    """What happened to the message with this unique key, message id or origin. Reads the trace twice.

    Raises:
        TraceError: no event names it.
    """
    settings = settings or Settings()
    located = look_up(trace, str(asked))
    questions = [Question(origin=origin) for origin in sorted(located.origins)]
    for slot, offset, since, until in located.spots:
        periods = ((since - settings.rounds, until + _AFTER),)
        questions.append(Question(slot=slot, offsets=((offset, offset + 1),), periods=periods))
    answers = collect(trace, questions, located.names)
    unique = {(each.place, id(each.event)): each for answer in answers for each in answer}
    found = sorted(unique.values(), key=lambda each: (each.event["time"], each.place))
    own = [each for each in found if each.origin in located.origins or is_at(each, located)]
    outcomes = tuple(
        outcome_of(
            group,
            client,
            own,
            found,
            located=located,
            known=trace.header.groups.get(group, _DEFAULT_GROUP),
            settings=settings,
        )
        for group, client in consumers(own, found, located)
    )
    turning = turning_points(found, min((offset for _, offset, _, _ in located.spots), default=None))
    told = _told(turning, own)
    stored = [each.event for each in own if each.event["kind"] in (Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER)]
    return MessageStory(
        asked=str(asked),
        origins=tuple(sorted(located.origins)),
        keys=tuple(sorted({each.event["key"] for each in own if each.event.get("key")})),
        copies=tuple(f"{clock(event['time'])} {spot_of(event)}" for event in stored),
        outcomes=outcomes,
        sentences=sentences(told),
        left_out=len(turning) - len(told),
    )


def _told(found: Sequence[Found], own: Sequence[Found]) -> list[Found]:
    """The events of the message, and around them as many events of its queues as there is room for."""
    mine = {id(each) for each in own}
    times = np.array([each.event["time"] for each in own], np.int64)

    def rank(at: int) -> tuple[bool, int, int]:
        away = int(np.abs(times - found[at].event["time"]).min()) if len(times) else 0
        return id(found[at]) not in mine, away, at

    return [found[at] for at in sorted(sorted(range(len(found)), key=rank)[:_MOST_SENTENCES])]
