"""Following retries: which steps of the model correspond to the events of one message, from its failure to the dead
letter.

A message may be tried 16 times, but a configuration that can be stepped through has only four tries. Therefore only the
last deliveries are followed: counts, the maximum and the levels are reduced by the count of the first of them, which
changes no decision of the broker (SB-14, DL-2). The model has no clock: a delay counts as over once it is over by the
times of the recording.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model.consumption import consumption
from ...model.delay import DelayTable
from ...model.kernel.lowered import Instance
from ...model.kernel.plain import StateTuple
from ...model.membership import Life
from ...model.process_queue import Orphan, Stage
from ...model.retry_copy import Place
from ..format.kinds import CLIENT_ENDS, SUCCESSES, Kind, Path, Result
from ..format.schema import MOST_ATTEMPTS, Group
from .alongside import Following, Shows, possible
from .events import Actor, Event

MOST_DELIVERIES = 4
"""Maximum number of deliveries of a message that are followed: as many as the counts of the machine allow."""

MOST_PROCESSES = 3
"""Maximum number of processes that had the message; if there were more, fewer deliveries are followed."""

MOST_LEVEL = 6
"""The highest level to which the fourth delivery leads, if no listener requests another one."""

SLACK = 1_000
"""How far clocks may be apart before a delivery counts as too early, ms."""

DEFAULT_MAXIMUM = 16
"""SB-2: ``maxReconsumeTimes`` of -1."""

_DEAD_LETTERS, _RETRIES = "%DLQ%", "%RETRY%"
_STORES = frozenset({Kind.DELAY_STORE, Kind.DEAD_LETTER})
_OF_LISTENERS = frozenset({Kind.DELIVER, Kind.RESULT, Kind.DISCARDED, Kind.SEND_BACK, Kind.EXPIRE})
_TOLD = frozenset({*_OF_LISTENERS, Kind.DELAY_DELIVER, *_STORES, *CLIENT_ENDS})
_ASKED = "send_back_by_request send_back_to_nowhere send_back_twice orphan_copied"
_PRODUCED = "send_back_by_fallback send_back_without_count fallback_stored_twice"
_SEND_BACKS = frozenset(f"{_ASKED} {_PRODUCED} clean_expired overdue_fails".split())
_GOOD = frozenset({"succeed", "orphan_succeeds", "overdue_succeeds"})
_BAD = frozenset({"fail", "orphan_listener_fails", "overdue_fails"})


@dataclass(frozen=True, kw_only=True)
class Chain:
    """What was recorded about a message and its retries."""

    key: str  # the name of the message
    events: tuple[Event, ...]  # its last deliveries and what became of them, in their order
    actors: Mapping[Actor, int]  # process → its number here
    first: int  # count of the first delivery that is followed
    maximum: int  # ``maxReconsumeTimes``
    table: DelayTable  # the delay levels of the broker
    release: str  # release of RocketMQ

    @property
    def asked(self) -> int:
        """The delay level that the listener requests; 0 leaves it to the broker."""
        levels = [event.level for event in self.events if event.kind is Kind.SEND_BACK and event.path is Path.REQUEST]
        return next((level for level in levels if level), 0)

    @property
    def levels(self) -> int:
        """Number of levels in the table of the configuration."""
        left = self.table.levels if self.asked > 0 else max(self.table.levels - self.first, 1)
        return min(left, max(MOST_LEVEL, self.asked))

    def level(self, recorded: int | None) -> int | None:
        """The level of the configuration that corresponds to a recorded one; None if there is none."""
        if recorded is None or (self.first and self.asked):
            return None
        return recorded - (0 if self.asked else self.table.levels - max(self.table.levels - self.first, 1))

    def constants(self) -> dict[str, int | str]:
        """The configuration of ``consumption``: faults that happened in the chain may happen as often in it."""
        kinds = [event.kind for event in self.events]
        answers = [(event.path, event.result) for event in self.events if event.kind is Kind.SEND_BACK]
        refused = answers.count((Path.REQUEST, Result.FAILED))
        stores = sum(kind in _STORES for kind in kinds)
        sent = sum(result is Result.OK for _, result in answers)
        copies = min(max(stores, sent + min(refused, 2), 1), 8)
        delivered = [event for event in self.events if event.kind is Kind.DELIVER]
        moves = sum(one.actor != other.actor for one, other in itertools.pairwise(delivered))
        again = sum(one.attempt == other.attempt for one, other in itertools.pairwise(delivered))
        constants: dict[str, int | str] = {
            "consumers": max(len(self.actors), 1),
            "queues": 2,
            "messages": copies + 1,
            "retry_room": copies,
            "copies": copies,
            "version": "4.9.8" if self.release.startswith("4.") else "5.3.3",
            "levels": self.levels,
            "listener_level": self.asked,
            "attempts": max(self.maximum - self.first, 0),
            "failures": sum(event.kind is Kind.RESULT and event.result not in SUCCESSES for event in self.events),
            "refused": refused,
            "lost_replies": refused,
            "count_resets": answers.count((Path.FALLBACK, Result.FAILED)),
            "repeated_fallbacks": answers.count((Path.FALLBACK, Result.FAILED)),
            "refusals": answers.count((Path.FALLBACK, Result.FAILED)),
            "expiries": kinds.count(Kind.EXPIRE),
            "crashes": kinds.count(Kind.CLIENT_CRASH),
            "leaves": kinds.count(Kind.CLIENT_STOP),
            "moves": max(moves, again, kinds.count(Kind.DISCARDED)),
            "orphans": 1,
            "watch_retries": 1,
        }
        return possible(consumption, constants)


def chain(
    events: Sequence[Event], key: str, *, until: int, group: Group, table: DelayTable, release: str
) -> Chain | None:
    """What was recorded about a message in one group; None if it was never delivered, too many processes had it, they
    name different maxima, or its application has sent it back, which no client of the model does.

    Args:
        events: events of the message, and ends of the processes that had it.
        key: the name of the message.
        until: time of the finding, ms.
        group: what is known about the group.
        table: the delay levels.
        release: release of RocketMQ.
    """
    told = [event for event in events if event.time <= until and event.kind in _TOLD and not _of_producer(event)]
    deliveries = [event for event in told if event.kind is Kind.DELIVER]
    if not deliveries or any(event.path is Path.APPLICATION for event in told):
        return None
    for begin in deliveries[-MOST_DELIVERIES:]:
        kept = told[told.index(begin) :]
        had = dict.fromkeys(event.actor for event in kept if event.kind not in CLIENT_ENDS and event.actor is not None)
        if len(had) <= MOST_PROCESSES:
            break
    else:
        return None
    actors = {actor: number for number, actor in enumerate(had)}
    named = {event.max_attempts for event in kept if event.kind is Kind.SEND_BACK and event.max_attempts is not None}
    is_open = group.max_attempts is None or group.lowest_max_attempts is not None
    if is_open and len(named) > 1:
        return None
    maximum = group.maximum_of(named.pop()) if is_open and named else group.maximum
    return Chain(
        key=key,
        events=tuple(event for event in kept if event.kind not in CLIENT_ENDS or event.actor in actors),
        actors=actors,
        first=begin.attempt or 0,
        maximum=maximum if 0 <= maximum < MOST_ATTEMPTS else DEFAULT_MAXIMUM,
        table=table,
        release=release,
    )


def _of_producer(event: Event) -> bool:
    """Whether it is about the delay that the producer of a message requested."""
    scheduled = event.kind in (Kind.DELAY_STORE, Kind.DELAY_DELIVER)
    return scheduled and event.topic is not None and not event.topic.startswith((_RETRIES, _DEAD_LETTERS))


class AlongRetries(Following):
    """Follows a message and its retries through ``consumption``."""

    def __init__(self, found: Chain) -> None:
        super().__init__(found.events, found.actors, consumption, found.constants())
        self._chain = found
        self._copies = [f"k{number}" for number in range(int(self.constants["copies"]))]
        self._messages = [f"m{number}" for number in range(int(self.constants["messages"]))]
        moved = any(event.kind is Kind.DELAY_DELIVER for event in found.events)
        self._quiet = frozenset({"take", "drop", "pull", "ripen", *(() if moved else ("deliver",))})
        # How many events of its kind there were up to an event, by its number.
        self._nth: dict[int, int] = {}
        stored, sent, delivered = itertools.count(1), itertools.count(1), itertools.count(1)
        waiting = False
        for event in found.events:
            if event.kind is Kind.DELAY_STORE or (event.kind is Kind.DEAD_LETTER and not waiting):
                self._nth[event.number] = next(stored)
                waiting |= _is_dead(event) and event.kind is Kind.DELAY_STORE
            elif event.kind is Kind.SEND_BACK and event.result is Result.OK:
                self._nth[event.number] = next(sent)
            elif event.kind is Kind.DELAY_DELIVER:
                self._nth[event.number] = next(delivered)

    def names(self) -> list[str]:
        """See :class:`Following`."""
        count = self._chain.first
        message = (
            f"m0 of q0 is {self._chain.key}{f' at count {count}, from which counts are told here' if count else ''}"
        )
        return [*self.processes(), message, "q1 is the retry queue of its group"]

    def unrecorded(self, event: Event) -> frozenset[str]:
        """See :class:`Following`."""
        return self._quiet | {"stop", "unregister"} if event.kind is Kind.CLIENT_STOP else self._quiet

    def goals(self, event: Event, c: int | None) -> Iterator[tuple[list[Instance], Shows]]:
        """See :class:`Following`."""
        kind = event.kind
        if kind is Kind.DELIVER and c is not None:
            queues = self._queues(event)
            early = queues == ("q1",) and self._due(event) - SLACK > event.time
            own = [] if early else self.own({"begin"}, c=c, q=0 if queues == ("q0",) else None)
            yield own, lambda s, p: p is not None and any(self._begun(s, p, f"c{c}", q, event) for q in queues)
        elif kind is Kind.RESULT and c is not None:
            returns = _GOOD if event.result in SUCCESSES else _BAD
            yield self.own(returns, c=c), lambda s, p: p is not None and self._running(s, c) < self._running(p, c)
        elif kind is Kind.SEND_BACK and c is not None:
            yield from self._sent_back(event, c)
        elif kind in _STORES and event.number in self._nth:
            copy = f"k{self._nth[event.number] - 1}"
            yield self.own(_SEND_BACKS), lambda s, p: self._is(s, copy, event)
        elif kind is Kind.DEAD_LETTER:
            yield (
                self.own({"deliver"}),
                lambda s, p: any(
                    self.get(s, "dead", k) and self.get(s, "place", k) == Place.DELIVERED for k in self._copies
                ),
            )
        elif kind is Kind.DELAY_DELIVER:
            early = event.due is not None and event.due - SLACK > event.time
            count = self._nth[event.number]
            own = [] if early else self.own({"deliver", "deliver_unsure"})
            yield own, lambda s, p: p is not None and self._moved(s) >= count
        elif kind in CLIENT_ENDS and c is not None:
            ends = {"end_stop"} if kind is Kind.CLIENT_STOP else {"die"}
            yield self.own(ends, c=c), lambda s, p: self.get(s, "life", f"c{c}") == Life.GONE

    def _sent_back(self, event: Event, c: int) -> Iterator[tuple[list[Instance], Shows]]:
        """SB-4, CC-12: what a request or its fallback has led to, once its answer is known."""
        if event.result is Result.OK:
            count = self._nth[event.number]

            def gone(s: StateTuple, p: StateTuple | None) -> bool:
                return self._stored(s) >= count and not self._failed(s, c)

            yield self.own(_SEND_BACKS, c=c), gone
        elif event.path is Path.FALLBACK and not self._sent_after(event):
            yield self.own({"send_back_fails_twice"}, c=c), lambda s, p: p is not None

    def _sent_after(self, event: Event) -> bool:
        """SB-8: whether the fallback was tried once more, and succeeded."""
        later = [one for one in self.events if one.number > event.number and one.actor == event.actor]
        following = next((one for one in later if one.kind in (Kind.SEND_BACK, Kind.DELIVER)), None)
        return following is not None and following.kind is Kind.SEND_BACK and following.path is Path.FALLBACK

    def _queues(self, event: Event) -> tuple[str, ...]:
        """Where the message of a delivery may be: if the chain begins with a retry, that is the message of q0 here."""
        first = self.events[0]
        if event is first or not _is_retry(event):
            return ("q0",)
        return ("q0", "q1") if _is_retry(first) and event.attempt == first.attempt else ("q1",)

    def _due(self, event: Event) -> int:
        """The earliest due time of the retry that is delivered, if it was recorded; otherwise 0."""
        before = [one for one in self.events if one.number < event.number and one.attempt is not None]
        stored = [one.due for one in before if one.kind is Kind.DELAY_STORE and one.attempt == event.attempt]
        known = [due for due in stored if due is not None]
        if known or event.attempt is None or self._chain.asked:
            return min(known, default=0)
        failed = [one.time for one in before if one.kind is Kind.RESULT and one.attempt == event.attempt - 1]
        return min(failed, default=0) + (int(self._chain.table.retry_delay(event.attempt - 1)) if failed else 0)

    def _begun(self, s: StateTuple, p: StateTuple, c: str, q: str, event: Event) -> bool:
        """Whether a listener of a client got a message with the count in an event."""
        return any(
            self.get(s, "stage", c, q, m) == Stage.RUNNING != self.get(p, "stage", c, q, m)
            and (event.attempt is None or self._times(s, c, q, m) == event.attempt - self._chain.first)
            for m in self._messages
        )

    def _times(self, s: StateTuple, c: str, q: str, m: str) -> int:
        """SB-6: the stored count plus the failed send-backs since."""
        stored = self.get(s, "times", f"k{self.get(s, 'content', m)}") if q == "q1" else 0
        return stored + self.get(s, "failed_send_backs", c, q, m)

    def _running(self, s: StateTuple, c: int) -> int:
        return sum(
            self.get(s, "stage", *place) == Stage.RUNNING
            or self.get(s, "orphan", *place) == Orphan.RUNNING
            or self.get(s, "overdue", *place)
            for place in self._places(c)
        )

    def _failed(self, s: StateTuple, c: int) -> bool:
        return any(
            self.get(s, "stage", *place) == Stage.FAILED or self.get(s, "orphan", *place) == Orphan.FAILED
            for place in self._places(c)
        )

    def _places(self, c: int) -> Iterator[tuple[str, str, str]]:
        return itertools.product([f"c{c}"], ("q0", "q1"), self._messages)

    def _stored(self, s: StateTuple) -> int:
        return sum(self.get(s, "place", k) != Place.NONE for k in self._copies)

    def _moved(self, s: StateTuple) -> int:
        return sum(self.get(s, "place", k) == Place.DELIVERED and self.get(s, "level", k) > 0 for k in self._copies)

    def _is(self, s: StateTuple, k: str, event: Event) -> bool:
        """SB-14, DL-2: whether a copy is the one that the broker has stored."""
        level = self._chain.level(event.level)
        return (
            self.get(s, "place", k) != Place.NONE
            and self.get(s, "dead", k) == _is_dead(event)
            and (event.attempt is None or self.get(s, "times", k) == event.attempt - self._chain.first)
            and (event.kind is Kind.DEAD_LETTER or level is None or self.get(s, "level", k) == level)
        )


def _is_retry(event: Event) -> bool:
    return (event.topic or "").startswith(_RETRIES)


def _is_dead(event: Event) -> bool:
    return event.kind is Kind.DEAD_LETTER or (event.topic or "").startswith(_DEAD_LETTERS)
