"""The machine of one queue: ``consumption`` with the constants of a recording, without limits on how often things
happen.

Anything that may happen in a cluster may happen here any number of times. Parts of the machine about other queues,
retry copies and an observer's history are switched off; offsets are counted from the lowest one that occurs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ...model.consumption import consumption
from ...model.kernel import UNBOUNDED, Machine
from ...model.kernel.direct import Direct
from ..format.kinds import Kind, Result
from ..format.schema import MOST_ATTEMPTS
from .events import Event
from .streams import Stream

MANY = 1 << 62
"""Number of messages that a queue may have: practically unlimited."""

_SOME_CLUSTER = ("moves", "crashes", "leaves", "failures", "restarts", "retentions", "removals")
_SOME_CLUSTERING = ("lost_commits", "truncations", "recreations", "refusals", "resets")
_SOME_ORDERLY = ("reallocations", "late_locks", "lock_losses", "pauses")

_SIZES = frozenset({"consumers", "queues", "messages", "arriving", "retry_room", "copies", "attempts", "tags"})
_OBSERVERS = frozenset({"causes", "watch_clients", "watch_offsets", "watch_retries"})
_OLD = "4."


def _without_bounds(machine: Machine) -> Machine:
    """The machine without upper limits on its constants: searches need these, following does not."""
    constants = {name: dataclasses.replace(constant, high=None) for name, constant in machine.constants.items()}
    return dataclasses.replace(machine, constants=constants)


_MACHINE = _without_bounds(consumption)


class Machines:
    """Machines by their constants: making one takes as long as following a thousand events.

    With ``mutant``, all of them have the known bug with this id.

    Raises:
        ConfigurationError: there is no such bug.
    """

    def __init__(self, mutant: str = "") -> None:
        self._machine = _without_bounds(consumption.mutated(mutant)) if mutant else _MACHINE
        # What a bug needs in order to happen, such as a replica, but no sizes and no budgets.
        passed_over = _SIZES | _OBSERVERS | consumption.budgets
        needed = consumption.mutants[mutant].wrong_constants if mutant else {}
        self._of_mutant = {name: value for name, value in needed.items() if name not in passed_over}
        self._made: dict[tuple[tuple[str, int | str], ...], Direct] = {}

    def of(self, constants: Mapping[str, int | str]) -> Direct:
        """The machine with these constants, in its initial state.

        Raises:
            ConfigurationError: the constants are impossible.
        """
        key = tuple(sorted({**self._of_mutant, **constants}.items()))
        if key not in self._made:
            self._made[key] = Direct(self._machine.configure(**dict(key)))
        self._made[key].restart()
        return self._made[key]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Offsets:
    """The offsets of a queue that occur in a recording: from ``low`` on, ``count`` of them."""

    low: int
    count: int


def offsets_of(stream: Stream) -> Offsets:
    """The offsets that occur in the recording of a queue."""
    low: int | None = None
    high = 0
    for event in stream.events:
        for offset in _named(event):
            low = offset if low is None else min(low, offset)
            high = max(high, offset)
    return Offsets(low=low or 0, count=max(high - (low or 0), 1))


def _named(event: Event) -> list[int]:
    """Offsets that an event names; a message also occupies the offset after its own, as the end of the log."""
    kind = event.kind
    found = []
    if kind is Kind.PULL_RESULT and event.result not in (
        Result.FOUND,
        Result.NO_NEW_MESSAGE,
        Result.NO_MATCHED_MESSAGE,
        Result.OFFSET_ILLEGAL,
    ):
        return []
    if event.offset is not None and kind not in (Kind.FILE_LOAD, Kind.FILE_PERSIST):
        message = kind in (Kind.STORE, Kind.DELAY_DELIVER, Kind.DELIVER, Kind.RESULT, Kind.REMOVED)
        found += [event.offset, event.offset + message]
    if event.next is not None and kind in (Kind.PULL_RESULT, Kind.DELIVER, Kind.REMOVED):
        found.append(event.next)
    return found


def batches_of(stream: Stream) -> dict[int, int]:
    """CC-1: process → the messages of its largest call."""
    sizes: dict[int, int] = {}
    for event in stream.events:
        if event.kind is Kind.DELIVER and event.actor is not None and event.count:
            c = stream.actors[event.actor]
            sizes[c] = max(event.count, sizes.get(c, 1))
    return sizes


def is_filtered(stream: Stream) -> bool:
    """Whether some answer to a pull passes over messages."""
    return any(
        event.kind is Kind.PULL_RESULT
        and event.result in (Result.FOUND, Result.NO_MATCHED_MESSAGE)
        and event.next is not None
        and event.offset is not None
        and (event.count or 0) != event.next - event.offset
        for event in stream.events
    )


def machine_of(stream: Stream, machines: Machines) -> Direct:
    """The machine of a queue, in its initial state.

    If ``machines`` has one with the same constants, it is used again.

    Raises:
        ConfigurationError: what the header states about the group is impossible.
    """
    group = stream.group
    clustering, orderly = group.mode == "clustering", group.listener == "orderly"
    old = stream.header.release.startswith(_OLD)
    sizes = batches_of(stream)
    manual = any(event.result in (Result.COMMIT, Result.ROLLBACK) for event in stream.events)
    constants: dict[str, int | str] = {
        "consumers": max(stream.processes, 1),
        "messages": MANY,
        "arriving": MANY,
        "mode": group.mode,
        "listener": group.listener,
        "version": "4.9.8" if old else "5.3.3",
        "group": "new",
        "head_in_memory": 1,
        "pulls": "fine",
        "corrections": "steps",
        "batch": max(sizes.values(), default=1),
        "orphans": 1,
    }
    constants.update(dict.fromkeys(_SOME_CLUSTER, UNBOUNDED))
    constants["expiries"] = 0 if clustering else UNBOUNDED
    if clustering:
        constants.update(dict.fromkeys(_SOME_CLUSTERING, UNBOUNDED))
    if orderly:
        constants["auto_commit"] = 0 if manual else 1
        # A member with a higher maximum than others consumes again, as if its message could not be sent off.
        if 0 <= group.lowest_maximum < MOST_ATTEMPTS:
            constants.update(give_up="attempts", attempts=group.lowest_maximum)
    if orderly and clustering:
        constants.update(dict.fromkeys(_SOME_ORDERLY, UNBOUNDED))
        # Time is given by the events: a lock lives as long as they say.
        constants.update(client_window=1, broker_window=1, unlock_delay=0, call=1, forced_unlock=int(not old))
    if is_filtered(stream):
        constants["expression"] = "Aa"  # which one does not matter: the events say what came
        constants["batch"] = 1
    return machines.of(constants)
