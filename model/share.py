"""Shares: which queues the configured strategy gives to a client with a certain view, as terms.

AVG and AVG_BY_CIRCLE are the rules of ``allocation`` over the view. The other four cannot be expressed in arithmetic
(hashes, names, lists); they are run once for every possible view, and the answers become a table. For these the machine
assumes: queues of the lower half are in room ``r0``, the others in ``r1``; MACHINE_ROOM allows ``r0`` only; even
consumers are in ``r0``, odd ones in ``r1``; MACHINE_ROOM_NEARBY divides a room by AVG; CONFIG lists queue ``q`` for
consumer ``q`` modulo the number of consumers.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

from .allocation import (
    Averagely,
    ByConfig,
    ByMachineRoom,
    ConsistentHash,
    MachineRoomNearby,
    MachineRooms,
    MessageQueue,
    Strategy,
    averagely_owns,
    circle_owns,
    sorted_ids,
)
from .kernel import BoolLike, ConfigurationError, Constants, IntLike, MemberSet, all_of, any_of, same

STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONFIG", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY", "CONSISTENT_HASH")
_RULES = {"AVG": averagely_owns, "AVG_BY_CIRCLE": circle_owns}

Table = Mapping[frozenset[int], frozenset[int]]
"""View (positions of the members) → positions of the queues that it gives to one client."""


def share(k: Constants, c: IntLike, view: MemberSet, queues: IntLike, q: IntLike) -> BoolLike:
    """Whether a pass of client ``c``, with members ``view`` and ``queues`` readable queues, gives it queue ``q``."""
    strategy = strategy_of(k, c)
    if strategy in _RULES:
        index, count = first_index(k, c, view), view.size()
        # Without members the strategy is not run (RB-5); the rules are defined for one member or more.
        return all_of(listed(k, c, view), q < queues, _RULES[strategy](q, index, queues, count))
    if not isinstance(k.queues, int):
        raise ConfigurationError(
            f"strategy {strategy} needs a number of queues; only AVG and AVG_BY_CIRCLE are formulas."
        )
    if isinstance(queues, int):
        return _looked_up(k, strategy, c, view, queues, q)
    return any_of(
        all_of(same(queues, size), _looked_up(k, strategy, c, view, size, q)) for size in range(1, k.queues + 1)
    )


def strategy_of(k: Constants, c: IntLike) -> str:
    """Name of the strategy that client ``c`` runs: the last client may be configured differently from the others."""
    different = k.last_strategy != "same" and c == k.consumers - 1
    return str(k.last_strategy if different else k.strategy)


def listed(k: Constants, c: IntLike, view: MemberSet) -> BoolLike:
    """Whether the id of ``c`` is in the member list; with ``same_id`` the clients 0 and 1 carry the same id (EN-2)."""
    return any_of(view.has(0), view.has(1)) if k.same_id and c < 2 else view.has(c)


def first_index(k: Constants, c: IntLike, view: MemberSet) -> IntLike:
    """Index of the first occurrence of the id of ``c`` in the sorted member list."""
    return view.rank(0 if k.same_id and c == 1 else c)


def ids_of(k: Constants) -> list[str]:
    """Client ids by position; their order is the order of the positions."""
    return ["c0" if k.same_id and c == 1 else f"c{c}" for c in range(k.consumers)]


def queues_of(k: Constants) -> list[MessageQueue]:
    """The queues of the topic by position; their sorted order is the order of the positions."""
    return [MessageQueue("T", "r0@b" if 2 * q < k.queues else "r1@b", q) for q in range(k.queues)]


def eligible(k: Constants, q: IntLike) -> bool:
    """Whether the strategy gives queue ``q`` to any client at all (MACHINE_ROOM leaves out the other rooms, RB-24)."""
    return k.strategy != "MACHINE_ROOM" or queues_of(k)[q].broker_name == "r0@b"


def _looked_up(k: Constants, strategy: str, c: Any, view: MemberSet, queues: int, q: IntLike) -> BoolLike:
    table = _table(strategy, c, tuple(ids_of(k)), tuple(queues_of(k)), queues)
    rows = []
    for members, owned in table.items():
        if owned:
            as_seen = all_of(same(view.has(d), d in members) for d in range(k.consumers))
            rows.append(all_of(as_seen, any_of(same(q, item) for item in sorted(owned))))
    return any_of(rows)


@functools.lru_cache(maxsize=256)
def _table(name: str, c: int, ids: tuple[str, ...], queues: tuple[MessageQueue, ...], count: int) -> Table:
    strategy = _strategy(name, c, len(ids), queues)
    offered = queues[:count]
    table = {}
    for size in range(1, len(ids) + 1):
        for members in itertools.combinations(range(len(ids)), size):
            answer = strategy.allocate(ids[c], offered, sorted_ids(ids[d] for d in members))
            table[frozenset(members)] = frozenset(queues.index(queue) for queue in answer)
    return table


def _strategy(name: str, c: int, consumers: int, queues: tuple[MessageQueue, ...]) -> Strategy:
    match name:
        case "CONFIG":
            return ByConfig(tuple(queue for place, queue in enumerate(queues) if place % consumers == c))
        case "MACHINE_ROOM":
            return ByMachineRoom(frozenset({"r0"}))
        case "MACHINE_ROOM_NEARBY":
            rooms = MachineRooms(
                of_queue=lambda queue: queue.broker_name.partition("@")[0],
                of_client=lambda client: f"r{int(client.removeprefix('c')) % 2}",
            )
            return MachineRoomNearby(Averagely(), rooms)
        case _:
            return ConsistentHash()
