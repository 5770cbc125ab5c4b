"""CONSISTENT_HASH: clients and queues on a ring; a queue goes to the next client (RB-26)."""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..kernel import BoolLike, IntLike, ite, rule
from .message_queue import MessageQueue
from .strategy import AllocationError, index_of


@rule
def ring_slot(before: IntLike, nodes: IntLike) -> IntLike:
    """Which of the ``nodes`` (1 or more, sorted by hash) gets a queue whose hash has ``before`` nodes below it."""
    return ite(before < nodes, before, 0)


@rule
def ring_precedes(point: IntLike, hash: IntLike, other: IntLike) -> BoolLike:
    """Whether a walk around the ring that starts at ``point``, goes up and wraps to the bottom, meets ``hash``
    first.
    """
    return ite((hash >= point) == (other >= point), hash < other, hash >= point)


def ring_hash(key: str) -> int:
    """Place of a key on the ring: the first 4 bytes of the MD5 of its UTF-8 form (``ConsistentHashRouter.MD5Hash``)."""
    # Java writes a lone surrogate as "?", and so does "replace".
    digest = hashlib.md5(key.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big")


Hash = Callable[[str], int]


@dataclass(frozen=True)
class ConsistentHash:
    """``AllocateMessageQueueConsistentHash``.

    Attributes:
        virtual_nodes: places of each client on the ring; with 0 nobody gets anything.
        hash: place of a key on the ring.

    Raises:
        AllocationError: ``virtual_nodes`` is negative.
    """

    virtual_nodes: int = 10
    hash: Hash = ring_hash
    name: str = "CONSISTENT_HASH"

    def __post_init__(self) -> None:
        _check(self.virtual_nodes)

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        """The queues whose next node on the ring is one of ``own_id`` (RB-20, RB-26)."""
        if index_of(own_id, queues, ids) is None:
            return []
        nodes = ring(ids, self.virtual_nodes, self.hash)
        places = sorted(nodes)
        return [queue for queue in queues if places and nodes[self._next(places, queue)] == own_id]

    def _next(self, places: list[int], queue: MessageQueue) -> int:
        before = bisect.bisect_left(places, self.hash(str(queue)))
        return places[int(ring_slot(before, len(places)))]


def ring(ids: Sequence[str], virtual_nodes: int, hash: Hash = ring_hash) -> dict[int, str]:
    """The ring for the clients in the order given: hash → client (``ConsistentHashRouter#addNode``).

    A node replaces an earlier one with the same hash. An id that occurs twice gets twice as many nodes, or fewer if
    some of its first nodes have been replaced: its new nodes are numbered from the count of nodes that it still has.
    """
    nodes: dict[int, str] = {}
    for client in ids:
        have = sum(1 for owner in nodes.values() if owner == client)
        for replica in range(have, have + virtual_nodes):
            nodes[hash(f"{client}-{replica}")] = client
    return nodes


def _check(virtual_nodes: int) -> None:
    if virtual_nodes < 0:
        raise AllocationError(f"virtual_nodes is {virtual_nodes}; it must be 0 or more (RocketMQ's default is 10).")
