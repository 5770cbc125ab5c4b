"""A strategy as a finite table, for machines that cannot call it: who owns what, for every set of members."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .message_queue import MessageQueue, sorted_ids
from .strategy import AllocationError, Strategy

AllocationTable: TypeAlias = Mapping[tuple[int, ...], Mapping[int, tuple[int, ...]]]
"""Members (positions in the ids, ascending, at least one) → member → positions of the queues it owns, ascending."""


def allocation_table(strategy: Strategy, queues: Sequence[MessageQueue], ids: Sequence[str]) -> AllocationTable:
    """Ask ``strategy`` for every member of every non-empty subset of ``ids``: ``table[(0, 2)][2] == (1, 5)``.

    Each subset is presented as clients present it, sorted (RB-6); positions refer to ``queues`` and ``ids`` as given.

    Raises:
        AllocationError: an id or queue comes twice, or the strategy refuses or answers something it was not given.
    """
    if len(set(ids)) != len(ids) or len(set(queues)) != len(queues):
        raise AllocationError("a table needs distinct queues and distinct client ids; one of them comes twice.")
    places = {queue: place for place, queue in enumerate(queues)}
    offered = sorted(queues)
    table: dict[tuple[int, ...], dict[int, tuple[int, ...]]] = {}
    for size in range(1, len(ids) + 1):
        for members in itertools.combinations(range(len(ids)), size):
            present = sorted_ids(ids[member] for member in members)
            answers = {member: strategy.allocate(ids[member], list(offered), list(present)) for member in members}
            for member, answer in answers.items():
                strange = [queue for queue in answer if queue not in places]
                if strange:
                    raise AllocationError(
                        f"{strategy.name} gives {ids[member]!r} of {present} the queue {strange[0]}, which it was not "
                        "offered; a table holds only offered queues."
                    )
            table[members] = {
                member: tuple(sorted({places[queue] for queue in answer})) for member, answer in answers.items()
            }
    return table
