"""Allocations: whether a client gives itself what its strategy computes from what the client saw (A6, A11, A14).

The strategies are those of the model. A recording contains their names, so other settings of a strategy must be the
defaults, or follow the name: ``CONSISTENT_HASH(20)`` for virtual nodes, ``MACHINE_ROOM(room1,room2)``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from ....model.allocation import (
    AllocationError,
    Averagely,
    AveragelyByCircle,
    ByMachineRoom,
    ConsistentHash,
    MessageQueue,
    Strategy,
    sorted_ids,
)
from ...encoding.names import Names
from ...engine.findings import Doubt
from ...format.kinds import FAILURES, Kind, Result
from ...format.whole_number import whole_number
from ..notebook import Notebook, whole
from .runs import Run, Told

CLAIM = "allocation-as-the-strategy-says"

NO_ANSWER = -1
"""Expected value of a finding if the strategy refuses its input: the pass fails, and nothing changes (RB-20)."""

_NAMED = re.compile(r"\s*([A-Za-z0-9_-]+)\s*(?:\(([^)]*)\))?\s*")
_FAILED = FAILURES | {Result.ERROR}

_MOST_NODES = 10_000
"""Maximum number of virtual nodes of a client (usually 10): more take memory and time, and are not followed."""


class Unreadable(ValueError):
    """A queue that is not written as broker:id."""


def queue_of(topic: str, text: str) -> MessageQueue:
    """The queue written as ``broker:id``.

    Raises:
        Unreadable: it is not written so.
    """
    broker, colon, number = text.rpartition(":")
    if not colon or not number.isdecimal():
        raise Unreadable(f"{text!r} is no queue; a queue is written as broker:id, such as broker-a:3.")
    return MessageQueue(topic, broker, whole_number(number))


def strategy_of(text: str) -> tuple[Strategy, bool] | None:
    """The strategy that a recording names, and whether all its settings are known; None if it is unknown.

    CONFIG and MACHINE_ROOM_NEARBY depend on settings of the user, as does any strategy of the user's own.
    """
    found = _NAMED.fullmatch(text)
    if found is None:
        return None
    name, given = found[1], found[2]
    if name == "AVG":
        return Averagely(), True
    if name == "AVG_BY_CIRCLE":
        return AveragelyByCircle(), True
    if name == "CONSISTENT_HASH":
        if given is None:
            return ConsistentHash(), False
        known = given.strip().isdecimal() and whole_number(given) <= _MOST_NODES
        return (ConsistentHash(whole_number(given)), True) if known else None
    if name == "MACHINE_ROOM" and given is not None:
        return ByMachineRoom(frozenset(room.strip() for room in given.split(","))), True
    return None


def queues_of(topic: str, texts: Iterable[str]) -> tuple[MessageQueue, ...]:
    """The queues written as ``broker:id``, each once, as a client sorts them (RB-6).

    Raises:
        Unreadable: one is not written so.
    """
    return _sorted(topic, tuple(texts))


@lru_cache(maxsize=1024)
def _sorted(topic: str, texts: tuple[str, ...]) -> tuple[MessageQueue, ...]:
    # Most passes see queues that others have already seen.
    return tuple(sorted({queue_of(topic, text) for text in texts}))


def expected_share(
    strategy: Strategy, *, own_id: str, topic: str, queues: list[str], members: list[str]
) -> frozenset[MessageQueue] | None:
    """What the strategy gives a client; None if it refuses, so that the pass fails and nothing changes (RB-20).

    Queues and ids are sorted as a client sorts them (RB-6).

    Raises:
        Unreadable: a queue is not written as broker:id.
    """
    ordered = queues_of(topic, queues)
    try:
        return frozenset(strategy.allocate(own_id, ordered, sorted_ids(members)))
    except AllocationError:
        return None


def answers_otherwise(run: Run, *, strategy: str, members: list[str], queues: list[str]) -> bool:
    """Whether the client's answer would have been different had it seen these members and queues.

    RocketMQ logs only passes that change something. A pass that had to change something is in any recording, if it took
    place.
    """
    known = strategy_of(run.detail or strategy or "AVG")
    if known is None or run.assigned is None:
        return False
    share = expected_share(known[0], own_id=run.actor.name, topic=run.topic, queues=queues, members=members)
    return share is not None and share != frozenset(queues_of(run.topic, run.assigned))


class Allocations:
    """Judges rebalance passes individually.

    Attributes:
        unjudged: number of passes that could not be judged, by reason: the strategy, or what was not recorded of the
            pass.
    """

    def __init__(self, told: Told, *, names: Names, notebook: Notebook) -> None:
        self.unjudged: Counter[str] = Counter()
        self._names = names
        self._notebook = notebook
        for group in told.by_group:
            for run in told.of(group, Kind.REBALANCE):
                self._judge(run)

    def _judge(self, run: Run) -> None:
        if not run.actor.name:
            self.unjudged["its client was not recorded"] += run.count
        elif run.queues is None or (run.members is None and not self._names.is_broadcasting(run.group)):
            self.unjudged["members or queues were not recorded"] += run.count
        elif run.assigned is None and run.result not in _FAILED and run.members and run.queues:
            self.unjudged["the answer was not recorded"] += run.count
        elif run.assigned is None or run.result in _FAILED:
            # The pass failed, and changed nothing.
            self._notebook.judge(CLAIM, run.count)
        else:
            try:
                self._compare(run)
            except Unreadable as error:
                self.unjudged[str(error)] += run.count

    def _compare(self, run: Run) -> None:
        given = run.detail or self._names.strategy(run.group)
        assigned = frozenset(queues_of(run.topic, run.assigned or ()))
        share: frozenset[MessageQueue] | None
        if self._names.is_broadcasting(run.group):
            # RB-7: every queue, without a strategy.
            share, certain = frozenset(queues_of(run.topic, run.queues or ())), True
        else:
            known = strategy_of(given or "AVG")
            if known is None:
                self.unjudged[f"strategy {given}"] += run.count
                return
            strategy, configured = known
            certain = configured and bool(given)
            share = expected_share(
                strategy, own_id=run.actor.name, topic=run.topic, queues=run.queues or [], members=run.members or []
            )
        self._notebook.judge(CLAIM, run.count)
        if share is not None and assigned == share:
            return
        # However a strategy is configured: without input it has no answer, and it gives nothing that it was not
        # offered.
        certain = certain or share is None or not set(run.assigned or ()) <= set(run.queues or ())
        self._notebook.violation(
            CLAIM,
            slot=whole(run.group, run.topic),
            since=run.first,
            time=run.last,
            actor=run.actor,
            value=len(assigned),
            expected=NO_ANSWER if share is None else len(share),
            doubt=Doubt.NONE if certain else Doubt.EVIDENCE,
        )
