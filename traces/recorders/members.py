"""Members of broadcasting groups: which processes of one client id are successive instances of one member, and which
are two members.

A broadcasting consumer keeps the instance name DEFAULT, so all on a host have one client id (EN-7). Each has a window,
an in-memory offset and messages of its own. A process that begins when the previous one has ended takes its place, and
continues at the offset in the file. Two at a time overwrite each other's file (OF-11): from then on it is not known
whose offsets a new process finds there, so each is a member of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..encoding.names import Actor
from ..format.kinds import CLIENT_ENDS, Kind


@dataclass
class _Life:
    first: int
    last: int
    ended: int | None = None


def members_of(events: Iterable[Mapping[str, Any]]) -> dict[Actor, int]:
    """The member that each process is, named by the incarnation of its first process.

    Args:
        events: events of processes, with the fields of the schema; missing events show no life.
    """
    lives: dict[str, dict[int, _Life]] = {}
    for event in events:
        client, kind, time = event.get("client"), event["kind"], event["time"]
        if not client or kind == Kind.GAP:
            continue
        of_client, number = lives.setdefault(client, {}), event.get("incarnation") or 0
        life = of_client.get(number)
        if life is None:
            life = of_client[number] = _Life(time, 0)
        elif time < life.first:
            life.first = time
        if kind in CLIENT_ENDS:
            life.ended = time
        elif time > life.last:
            life.last = time
    members: dict[Actor, int] = {}
    for client, of_client in lives.items():
        free, shared, member = -1, False, 0
        for number, life in sorted(of_client.items(), key=lambda item: (item[1].first, item[0])):
            shared = shared or life.first < free
            member = member if free >= 0 and not shared else number
            free = max(free, life.last if life.ended is None else max(life.ended, life.last))
            members[Actor(client, number)] = member
    return members
