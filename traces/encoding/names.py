"""Names and codes: monitors work with small numbers, people with names; this module maps between them.

A *slot* is a queue of a group: (group, topic, broker, queue id), and for broadcasting groups also the member. Events of
a producer or broker that concern all groups, such as storing a message, have a slot without a group. An *actor* is a
process: (client id, incarnation), or a broker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...machine_code.compiled import entry, int64
from ...machine_code.pair_table import enter, new_pairs, roomy
from ..format.schema import Group

RETRY_PREFIX = "%RETRY%"
DEAD_LETTER_PREFIX = "%DLQ%"

ORDERLY, BROADCASTING, RETRY_TOPIC, DEAD_LETTER_TOPIC, OF_A_TOPIC, NO_QUEUE = 1, 2, 4, 8, 16, 32
"""Flags of a slot: of an orderly group, a broadcasting group, a retry topic, a dead-letter topic, no group, and no
queue (its events do not name one).
"""


_BY_DEFAULT = Group()


def group_of_topic(topic: str) -> str:
    """The group whose retry or dead-letter topic this is; empty if it is neither."""
    return next((topic[len(one) :] for one in (RETRY_PREFIX, DEAD_LETTER_PREFIX) if topic.startswith(one)), "")


@dataclass(frozen=True, order=True)
class Slot:
    """A queue as one group, or one broadcasting client, sees it."""

    group: str  # consumer group; empty for events that concern all groups
    topic: str  # as consumed
    broker: str  # broker name
    queue: int  # queue id; -1 if the queue is not known, and ``broker`` is then empty
    client: str = ""  # client id in a broadcasting group, otherwise empty
    member: int = 0  # which process with that client id, as an incarnation: see :mod:`..recorders.members`

    def __str__(self) -> str:
        of = f" of {self.group}" if self.group else ""
        at = f" at {self.who}" if self.client else ""
        if self.queue < 0:
            return (f"{self.topic}{of}" if self.topic else self.group) + at
        return f"{self.topic}@{self.broker}:{self.queue}{of}{at}"

    @property
    def who(self) -> str:
        """The client of a broadcasting group, as named in texts; empty for other groups."""
        return str(Actor(self.client, self.member)) if self.client else ""


class Actor(NamedTuple):
    """A process."""

    name: str  # client id, or broker name
    incarnation: int = 0  # which process with that client id; -1 for a broker

    def __str__(self) -> str:
        if self.incarnation < 0:
            return f"broker {self.name}"
        return f"{self.name}#{self.incarnation}" if self.incarnation else self.name


class Words:
    """A growing list of distinct words; the code of a word is its position."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, word: str) -> int:
        """The code of a word; a new word gets a new code."""
        found = self._codes.get(word)
        if found is None:
            found = self._codes[word] = len(self.words)
            self.words.append(word)
        return found


class Names:
    """All names of a trace, in the order of their first appearance.

    ``members`` says which process of a broadcasting group replaces which; any other is a member of its own.
    """

    def __init__(self, groups: Mapping[str, Group] | None = None, members: Mapping[Actor, int] | None = None) -> None:
        self._members: Mapping[Actor, int] = dict(members or {})
        self.of_groups: Mapping[str, Group] = dict(groups or {})
        self.groups, self.topics, self.brokers, self.clients = Words(), Words(), Words(), Words()
        self.slots: list[Slot] = []
        self.flags: list[int] = []
        self.actors: list[Actor] = []
        self._slot_codes: dict[Slot, int] = {}
        self._actor_codes: dict[Actor, int] = {}

    def is_broadcasting(self, group: str) -> bool:
        """Whether each client of a group has offsets of its own."""
        return self.of_groups.get(group, _BY_DEFAULT).mode == "broadcasting"

    def is_orderly(self, group: str) -> bool:
        """Whether a group consumes each queue in order."""
        return self.of_groups.get(group, _BY_DEFAULT).listener == "orderly"

    def strategy(self, group: str) -> str:
        """The allocation strategy of a group; empty if nothing is stated about the group."""
        return self.of_groups[group].strategy if group in self.of_groups else ""

    def slot(self, slot: Slot) -> int:
        """The code of a slot; a new slot gets a new code."""
        if slot.client:
            slot = replace(slot, member=self.member(Actor(slot.client, slot.member)).incarnation)
        found = self._slot_codes.get(slot)
        if found is None:
            found = self._slot_codes[slot] = len(self.slots)
            self.slots.append(slot)
            self.flags.append(self._flags(slot))
        return found

    def member(self, actor: Actor) -> Actor:
        """The first process of the member to which a process of a broadcasting group belongs."""
        return Actor(actor.name, self._members.get(actor, actor.incarnation))

    def actor(self, actor: Actor) -> int:
        """The code of an actor; a new actor gets a new code."""
        found = self._actor_codes.get(actor)
        if found is None:
            found = self._actor_codes[actor] = len(self.actors)
            self.actors.append(actor)
        return found

    def slot_at(self, group: str, topic: str, broker: str, queue: int, client: str, member: int = 0) -> int:
        """The code of the slot of an event with these fields.

        The group is taken from the name of a retry or dead-letter topic if the event does not state it.
        """
        group = group or group_of_topic(topic)
        if self.is_broadcasting(group):
            return self.slot(Slot(group, topic, broker, queue, client, member))
        return self.slot(Slot(group, topic, broker, queue))

    def _flags(self, slot: Slot) -> int:
        flags = {
            ORDERLY: self.is_orderly(slot.group),
            BROADCASTING: self.is_broadcasting(slot.group),
            RETRY_TOPIC: slot.topic.startswith(RETRY_PREFIX),
            DEAD_LETTER_TOPIC: slot.topic.startswith(DEAD_LETTER_PREFIX),
            OF_A_TOPIC: not slot.group,
            NO_QUEUE: slot.queue < 0,
        }
        return sum(flag for flag, is_set in flags.items() if is_set)


_START = 1 << 10


class Combinations:
    """Codes of combinations of codes, looked up for whole columns at machine speed.

    A combination is one whole number from 0 on, computed from its parts by a compiled function of the caller.
    """

    def __init__(self) -> None:
        self._table = new_pairs(_START)
        self._count = 0
        self._reached = 0

    def add(self, key: int, code: int) -> None:
        """Assign a code to a combination."""
        self._table = roomy(self._table, self._count)
        _give(self._table, key, code)
        self._count += 1

    def resolve(self, function: Callable[..., int], columns: Sequence[Any], out: Any) -> int:
        """Let a compiled function write the codes of events to ``out``. Returns the first event whose combination has
        no code, or -1.

        The caller assigns a code to that combination and calls again: the function continues where it stopped.
        """
        reached = function(self._table, self._reached, out, *columns)
        done = reached == len(out)
        self._reached = 0 if done else reached
        return -1 if done else reached


@entry
def _give(table: Any, key: int, code: int) -> None:
    enter(table, key, int64(0), code)
