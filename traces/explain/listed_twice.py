"""Clients that lists of members name twice, while a queue has no owner: a share of the queues is given to nobody then.

A broker keeps the connection of a client that has connected anew until it finds it dead, and names the client once for
each (ST-6, ``ConsumerGroupInfo#getAllClientId``). Strategies divide among as many as the list has, and a client takes
the share of its first place (RB-21).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..claims.settings import REBALANCE_PERIOD
from ..encoding.names import Names
from ..format.kinds import Kind
from .evidence import Found, Question
from .sentences import clock

OWNED = "every-queue-gets-an-owner"


def lists_of(row: Mapping[str, int], names: Names) -> Question:
    """The lists that all members of the group divided its queues by, around the time of a finding."""
    slot = names.slots[row["slot"]]
    return Question(
        periods=((row["since"] - REBALANCE_PERIOD, row["time"] + REBALANCE_PERIOD),),
        actors=tuple(actor for actor in names.actors if actor.incarnation >= 0),
        group=slot.group,
        topic=slot.topic,
        kinds=frozenset({Kind.REBALANCE}),
    )


def listed_twice(row: Mapping[str, int], lists: Sequence[Found]) -> str:
    """Who was named twice for more than half of the time without an owner, as the end of a sentence; empty: nobody.

    Broadcasting clients of a host have one name, and divide nothing.
    """
    times: dict[str, list[int]] = {}
    for each in lists:
        members = each.event.get("members") or []
        for name in {name for name in members if members.count(name) > 1}:
            times.setdefault(name, []).append(each.event["time"])
    for name, seen in sorted(times.items()):
        covered = min(seen[-1], row["time"]) - max(seen[0], row["since"])
        if 2 * covered > row["time"] - row["since"]:
            return f": lists of members had {name} twice from {clock(seen[0])} to {clock(seen[-1])}"
    return ""
