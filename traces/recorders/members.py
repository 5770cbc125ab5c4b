"""Members of broadcasting groups: which processes of one client id are successive instances of one member, and which
are two members.

A broadcasting consumer keeps the instance name DEFAULT, so all on a host have one client id (EN-7). Each has a window,
an in-memory offset and messages of its own. A process that begins when the previous one has ended takes its place, and
continues at the offset in the file. Two at a time overwrite each other's file (OF-11): from then on it is not known
whose offsets a new process finds there, so each is a member of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..encoding.context_events import ContextEvents
from ..encoding.names import Actor
from ..format.kinds import CLIENT_ENDS, Kind


@dataclass
class _Life:
    first: int
    last: int
    ended: int | None = None


def members_of(events: ContextEvents) -> dict[Actor, int]:
    """The member that each process is, named by the incarnation of its first process.

    Args:
        events: events of processes; missing events show no life.
    """
    lives: dict[str, dict[int, _Life]] = {}
    for kinds in (frozenset(Kind) - CLIENT_ENDS - {Kind.GAP}, CLIENT_ENDS):
        for (client, run), (first, last) in events.spans("client", "incarnation", kinds=kinds).items():
            if client:
                life = lives.setdefault(client, {}).setdefault(run or 0, _Life(first, 0))
                life.first = min(life.first, first)
                if kinds is CLIENT_ENDS:
                    life.ended = max(life.ended or last, last)
                else:
                    life.last = max(life.last, last)
    members: dict[Actor, int] = {}
    for client, of_client in lives.items():
        free, shared, member = -1, False, 0
        for number, life in sorted(of_client.items(), key=lambda item: (item[1].first, item[0])):
            shared = shared or life.first < free
            member = member if free >= 0 and not shared else number
            free = max(free, life.last if life.ended is None else max(life.ended, life.last))
            members[Actor(client, number)] = member
    return members
