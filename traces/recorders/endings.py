"""Endings: what is known about a recording that ends before the others do, without an orderly stop.

A process that lists of members leave out from then on is gone (ST-6), and so is one whose client id, or broker name,
begins anew: it was killed. Otherwise its recording may have ended early, and what it did later is not known. Only for a
client that no list ever names is nothing missing after its start: it gets no queues (RB-5).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..format.coverage import SILENT
from ..format.kinds import Kind
from .processes import Processes, killed, lists_of_members
from .recording import Event, Recording, gap
from .replicas import promoted_at

EARLY = 60_000
"""A client's recording that ends this long before the last one ends early, ms. A broker's always does: what it does at
the end, such as listing members, is done by no other.
"""


def endings(recordings: Sequence[Recording], processes: Processes, *, known: Sequence[Event] = ()) -> list[Event]:
    """Ends and gaps that follow from the recordings.

    Args:
        recordings: all of them.
        processes: the processes of the clients.
        known: ends that were reported.
    """
    end = max(int(recording.stamps.max()) for recording in recordings) // 1000
    told = {(e.get("client"), e.get("incarnation"), e.get("broker")) for e in known}
    lists = sorted(lists_of_members(recordings), key=lambda one: one[0])
    found: list[Event] = []
    for recording in recordings:
        last = _last(recording)
        if last >= end or recording.stopped_in_order or _never_joined(recording, recordings, lists):
            continue
        gone = _gone(recording, recordings, processes, lists)
        for who in processes.who(recording):
            if (who.get("client"), who.get("incarnation"), who.get("broker")) in told:
                continue
            if gone is not None:
                # A process that is named this long afterwards may have lived on, unrecorded.
                lived = any(
                    last + SILENT < time < gone and _names(who, group, members) for time, group, members in lists
                )
                time = gone if lived else min(gone, last + SILENT)
                found += killed(last, time, who)
            elif recording.of_broker or end - last > EARLY:
                found.append(gap(last, end, "its recording ends before the others", who))
    return found


def _never_joined(
    recording: Recording, recordings: Sequence[Recording], lists: Sequence[tuple[int, str, frozenset[str]]]
) -> bool:
    """Whether a client only started and learnt routes, and no broker knew it, for example because none of its topics
    exists.
    """
    if recording.of_broker or len(recording.rows((Kind.CLIENT_START, Kind.ROUTE))) < len(recording):
        return False
    told = any(one.of_broker and len(one.rows((Kind.MEMBERS,))) for one in recordings)
    named = {(group, client) for _, group, members in lists for client in members}
    return told and not any((group, client) in named for client, group in recording.clients)


def _gone(
    recording: Recording,
    recordings: Sequence[Recording],
    processes: Processes,
    lists: Sequence[tuple[int, str, frozenset[str]]],
) -> int | None:
    """When a process was seen to be gone after all that it recorded, ms; None if it was not.

    One of its clients is enough: broadcasting clients of a host have one name, and are not missing in lists.
    """
    own = [one for one in recordings if one.process == recording.process]
    others = [one for one in recordings if one.process != recording.process]
    last = max(map(_last, own))
    seen: list[int] = []
    for who in (who for one in own if not one.stopped_in_order for who in processes.who(one)):
        if "broker" in who:
            begins = [one for one in others if one.broker == who["broker"]]
            named = [(one, row, one.table.column("broker")[row].as_py()) for one in others for row in one.promoted]
            took_over = [promoted_at(one, row) for one, row, broker in named if broker == who["broker"]]
            seen += [time for time in took_over if time >= last]
        else:
            begins = [one for one in others if (who["client"], who["group"]) in one.clients]
            without = (group == who["group"] and not _names(who, group, members) for _, group, members in lists)
            seen += [time for (time, *_), is_without in zip(lists, without, strict=True) if is_without and time > last]
        seen += [began for one in begins if (began := int(one.stamps[0]) // 1000) >= last]
    return min(seen, default=None)


def _last(recording: Recording) -> int:
    """When a recording ends, ms."""
    return -(-int(recording.stamps[-1]) // 1000)


def _names(who: Event, group: str, members: frozenset[str]) -> bool:
    return who.get("group") == group and who.get("client") in members
