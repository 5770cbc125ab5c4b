"""What was recorded for which group: the coverage of a trace, from the statements of its files and from what was
seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..claims.settings import CHANNEL_EXPIRY, CHANNEL_SCAN
from ..encoding.names import RETRY_PREFIX, Actor, Slot, group_of_topic
from ..format.coverage import (
    ALL_KINDS,
    EVIDENCE_BIT,
    OF_CLIENTS,
    TOLD,
    Coverage,
    Hole,
    evidence_mask,
    told_holes,
    unrecorded,
)
from ..format.kinds import CLIENT_ENDS, OF_BROKERS, Kind
from ..format.schema import STATIC, Header
from .clock_doubts import steps_as_holes
from .reading import Recorded
from .scan import Scan

_CLIENTS = evidence_mask((*OF_CLIENTS, Kind.PULL, Kind.PULL_RESULT))
_ANY_CLIENT = _CLIENTS | evidence_mask((Kind.HEARTBEAT, Kind.UNREGISTER, Kind.LOCK, Kind.UNLOCK, Kind.OFFSET_QUERY))
_OF_PROCESSES = _ANY_CLIENT | evidence_mask((Kind.CLIENT_START, *CLIENT_ENDS))

_OWNERSHIP = evidence_mask((Kind.REBALANCE, Kind.ASSIGN, Kind.REVOKE))
_BROADCASTING = "broadcasting"  # what passes of broadcasting clients say
_FILES, _LOCKS = evidence_mask((Kind.FILE_LOAD, Kind.FILE_PERSIST)), evidence_mask((Kind.LOCK,))
_PULLS = evidence_mask((Kind.PULL, Kind.PULL_RESULT))

_CLOCKS = 10_000
"""Assumed distance of the clocks of logs when membership is determined, ms."""

STATIC_TOPIC = "it consumes a static topic, whose queues clients call otherwise than brokers"
OTHER_RETRIES = "it consumes the retries of another group, where one message comes once for each of them"
NO_CLIENT = "only brokers tell of it: no client of it was recorded"
KEPT_BY_BROKER = (
    "it has no consumers: brokers of 5.x note below this name how far members of a broadcasting group have read"
)
IN_FILES = "its clients keep offsets in files, as in broadcasting, and the header does not name it: state its mode"
WITH_LOCKS = "its clients lock queues, as for orderly listeners, and the header does not name it: state its listener"
BY_POP = "it consumes by pop, through a proxy or as a pop consumer: only brokers tell of it"


def coverage_in(trace: Recorded, scanned: Scan, slots: Iterable[Slot]) -> Coverage:
    """The coverage of a trace that was read to its end; ``slots``: queues of events."""
    groups: dict[Actor, set[str]] = {}
    for _, group, who in scanned.kinds_of:
        if group:
            groups.setdefault(who, set()).add(group)
    holes = [*trace.holes(), *steps_as_holes(scanned.context.clocks, groups)]
    return coverage_of(scanned, trace.header, slots=slots, evidence=trace.evidence, holes=holes)


def coverage_of(
    scanned: Scan, header: Header, *, slots: Iterable[Slot], evidence: Sequence[frozenset[Kind]], holes: Iterable[Hole]
) -> Coverage:
    """The coverage of a trace.

    For a group, the kinds recorded by the files that mention it count, and those of brokers, which serve all groups. A
    group that only brokers mention, in a recording of clients, cannot be judged.

    Args:
        scanned: the first look.
        header: merged header of all files.
        slots: queues of events.
        evidence: what each file states that it records; empty if it does not state it.
        holes: what was lost in reading.
    """
    context = scanned.context
    seen: dict[str, int] = {slot.group: 0 for slot in slots if slot.group}
    recorded = _recorded_by(scanned, evidence)
    lacking = _lacking(scanned, header)
    of_groups: dict[str, int] = {}
    by_clients: dict[str, int] = {}  # a broker's log has heartbeats and locks of clients of which nobody recorded more
    told: dict[tuple[str, str, int], int] = {}
    processes: dict[tuple[str, str, int], int] = {}
    for (file, group, who), kinds in scanned.kinds_of.items():
        if group:
            seen[group] = seen.get(group, 0) | kinds
            by_clients[group] = by_clients.get(group, 0) | (kinds if recorded[file] & _CLIENTS else 0)
            of_groups[group] = of_groups.get(group, 0) | (recorded[file] & ~lacking.get((who.name, group), 0))
        said, key = evidence[file] if file < len(evidence) else (), (group, who.name, who.incarnation)
        processes[key] = processes.get(key, 0) | kinds
        told[key] = told.get(key, 0) | (evidence_mask(said) & ~lacking.get((who.name, group), 0))
    if header.complete:
        for group, mask in of_groups.items():
            of_groups[group] = mask & ~_presupposed(seen[group])
    of_static = {slot.group for slot in slots if slot.broker.startswith(STATIC)}
    shared = 0
    for mask in recorded.values():
        shared |= mask if not mask & _CLIENTS else 0
    not_judged = {
        group: _why(group, seen)
        for group in sorted(seen)
        if not by_clients.get(group, 0) & _ANY_CLIENT and context.evidence & _CLIENTS
    }
    not_judged |= dict.fromkeys(sorted(of_static & seen.keys()), STATIC_TOPIC)
    taken = set(context.events.different("group", "topic", kinds=(Kind.ASSIGN,)))
    takers = {group for group, _ in taken}
    # A broker that stores a retry in the topic of another group does not make its group consume that topic.
    of_others = {
        slot.group
        for slot in slots
        if _is_of_others(slot) and (slot.group not in takers or (slot.group, slot.topic) in taken)
    }
    not_judged |= dict.fromkeys(sorted(of_others & seen.keys()), OTHER_RETRIES)
    not_judged |= {name: group.differs for name, group in header.groups.items() if group.differs and name in seen}
    not_judged = _not_stated(scanned, header) | not_judged
    told_of = told_holes(header, context.events.of_kinds(*TOLD), begin=context.begin, end=context.end)
    less = {group: mask | shared for group, mask in of_groups.items() if (mask | shared) != context.evidence}
    return Coverage(
        recorded=context.evidence,
        begin=context.begin,
        end=context.end,
        holes=[
            *(*holes, *scanned.holes, *told_of),
            *(*_unrecorded_members(scanned), *_silent_members(scanned)),
            *(*_unrecorded_kinds(lacking), *_alike(scanned, header)),
            *_numbered_apart(scanned, evidence),
        ],
        of_groups={group: mask for group, mask in sorted(less.items()) if group not in not_judged},
        groups=[group for group in sorted(seen) if group not in not_judged],
        not_judged=not_judged,
        processes=processes,
        told=told,
    )


def _not_stated(scanned: Scan, header: Header) -> dict[str, str]:
    """Groups that the header does not name, and whose clients do what only broadcasting or orderly ones do, each with
    the reason why it is not judged.
    """
    of_clients: dict[str, int] = {}
    for (_, group, who), kinds in sorted(scanned.kinds_of.items()):
        if group and group not in header.groups and who.incarnation >= 0:
            of_clients[group] = of_clients.get(group, 0) | kinds
    with_locks = {group: WITH_LOCKS for group, kinds in of_clients.items() if kinds & _LOCKS}
    passes = scanned.context.events.different("group", "detail", kinds=(Kind.REBALANCE,))
    told = {group for group, how in passes if how == _BROADCASTING}
    in_files = {group for group, kinds in of_clients.items() if kinds & _FILES or group in told}
    return with_locks | dict.fromkeys(sorted(in_files), IN_FILES)


def _is_of_others(slot: Slot) -> bool:
    """EN-13: whether a group consumes the retries of another one; retry topics of pop consumers have a suffix after the
    group's name.
    """
    of = group_of_topic(slot.topic) if slot.topic.startswith(RETRY_PREFIX) else ""
    return bool(slot.group and of) and slot.group != of and not of.startswith(f"{slot.group}_")


def _recorded_in(scanned: Scan, kinds: int) -> dict[str, set[str]]:
    """The clients of which some of these kinds were recorded, by group; the group is empty for events without one."""
    clients: dict[str, set[str]] = {}
    for (_, group, who), recorded in scanned.kinds_of.items():
        if recorded & kinds and who.incarnation >= 0:
            clients.setdefault(group, set()).add(who.name)
    return clients


def _unrecorded_members(scanned: Scan) -> list[Hole]:
    """A hole for each group that divided queues among more members than were recorded.

    A client's log shows how many members a changed pass saw (``cidAllSize``, ``RebalanceImpl#rebalanceByTopic``), but
    not which ones. What the others had and stored is in no file, so the log settles nothing about them.
    """
    recorded = _recorded_in(scanned, _CLIENTS)
    since: dict[str, int] = {}
    until: dict[str, int] = {}
    for event in scanned.context.events.of_kinds(Kind.CLIENT_START, *CLIENT_ENDS):
        client = event.get("client") or ""
        if event["kind"] == Kind.CLIENT_START:
            since.setdefault(client, event["time"] - _CLOCKS)
            until.pop(client, None)
        else:
            stopped = event["kind"] == Kind.CLIENT_STOP  # ST-6: brokers may still list one that died for a while
            until[client] = event["time"] + (_CLOCKS if stopped else CHANNEL_EXPIRY + CHANNEL_SCAN)
    found: dict[str, Hole] = {}
    events = scanned.context.events
    counted = [places for (count,), places in events.places("count", kinds=(Kind.REBALANCE,)).items() if count]
    passes = np.sort(np.concatenate(counted)) if counted else ()
    for time, of, members, client in events.rows_at(passes, "time", "group", "count", "client"):
        group = of or ""
        if group in found:
            continue
        alive = sum(since.get(who, time) <= time <= until.get(who, time) for who in recorded.get(group, ()) if group)
        if members > alive:
            few = f"{alive} of them {'was' if alive == 1 else 'were'} recorded"
            why = f"{group} had {members} members as {client} divided queues, and {few}"
            found[group] = Hole(kinds=ALL_KINDS & ~evidence_mask(OF_BROKERS), group=group, why=why)
    return list(found.values())


def _silent_members(scanned: Scan) -> list[Hole]:
    """A hole for each process that is a member of a group with recorded clients, and of which nothing was recorded.

    Brokers know the members; what passes see counts where no list of a broker was recorded.
    """
    acted = _recorded_in(scanned, _OF_PROCESSES)
    members: dict[Kind, dict[str, set[str]]] = {Kind.MEMBERS: {}, Kind.REBALANCE: {}}
    for kind, group, told in scanned.context.events.different("kind", "group", "members", kinds=members):
        if told:
            members[Kind(kind)].setdefault(group or "", set()).update(told)
    listed = members[Kind.REBALANCE] | members[Kind.MEMBERS]
    kinds, why = ALL_KINDS & ~evidence_mask(OF_BROKERS), "nothing was recorded"
    return [
        Hole(kinds=kinds, group=group, recorder=name, why=why)
        for group, names in sorted(listed.items())
        if group in acted
        for name in sorted(names - acted[group] - acted.get("", set()))
    ]


def _alike(scanned: Scan, header: Header) -> list[Hole]:
    """A hole for each client of a broadcasting group that starts again without having ended, from then on.

    EN-7: all processes of a host have one client id there, and logs do not distinguish them. Consumers of other groups
    share the client of their process, and each of them may record a start of its own.
    """
    groups: dict[Actor, set[str]] = {}
    for _, group, who in scanned.kinds_of:
        if group in header.broadcasting:
            groups.setdefault(who, set()).add(group)
    alive: dict[Actor, set[str]] = {}
    since: dict[Actor, int] = {}
    for event in scanned.context.events.of_kinds(Kind.CLIENT_START, *CLIENT_ENDS):
        who = Actor(event.get("client") or "", event.get("incarnation") or 0)
        group = event.get("group") or ""
        if event["kind"] in CLIENT_ENDS:
            alive[who] = alive.get(who, set()) - {group} if group else set()
        elif event["kind"] == Kind.CLIENT_START and who in groups:
            if group in alive.setdefault(who, set()):
                since.setdefault(who, event["time"])
            alive[who].add(group)
    why = "it has started twice: processes of a host that consume in broadcasting have one client id"
    kinds = ALL_KINDS & ~evidence_mask(OF_BROKERS)
    return [
        Hole(since=time, kinds=kinds, group=group, recorder=who.name, why=why)
        for who, time in since.items()
        for group in sorted(groups[who])
    ]


def _numbered_apart(scanned: Scan, evidence: Sequence[frozenset[Kind]]) -> list[Hole]:
    """A hole for each client with several processes that is in a log, and in other files too.

    A log numbers the processes that it knows; which of these the other files mean is not known.
    """
    files: dict[str, set[int]] = {}
    numbers: dict[str, set[int]] = {}
    groups: dict[str, set[str]] = {}
    for file, group, who in scanned.kinds_of:
        if who.incarnation >= 0:
            files.setdefault(who.name, set()).add(file)
            numbers.setdefault(who.name, set()).add(who.incarnation)
            groups.setdefault(who.name, set()).update({group} - {""})
    logs = {file for file, kinds in enumerate(evidence) if kinds and Kind.CLIENT_CRASH not in kinds}
    why = "a log and other files number the processes of one client id, each by itself"
    kinds = ALL_KINDS & ~evidence_mask(OF_BROKERS)
    return [
        Hole(kinds=kinds, group=group, recorder=name, why=why)
        for name, told in files.items()
        if len(told) > 1 and told & logs and len(numbers[name]) > 1
        for group in sorted(groups[name])
    ]


def _lacking(scanned: Scan, header: Header) -> dict[tuple[str, str], int]:
    """What a client does not record for a group although others do: mask of kinds, by client and group.

    The header says so, or it shows in what its processes have recorded, see :func:`..format.coverage.unrecorded`.
    """
    lacking = {one: evidence_mask(kinds) for one, kinds in header.lacking.items()}
    seen: dict[tuple[str, Actor], int] = {}
    for (_, group, who), kinds in scanned.kinds_of.items():
        seen[group, who] = seen.get((group, who), 0) | kinds
    for (group, who), kinds in seen.items():
        unseen = unrecorded(kinds)
        if unseen:
            lacking[who.name, group] = lacking.get((who.name, group), 0) | unseen
    return lacking


def _unrecorded_kinds(lacking: Mapping[tuple[str, str], int]) -> list[Hole]:
    """A hole for each client that does not record for a group what others do."""
    return [
        Hole(
            kinds=kinds,
            group=group,
            recorder=client,
            why=f"no {' or '.join(kind for kind in Kind if EVIDENCE_BIT[kind] & kinds)} recorded",
        )
        for (client, group), kinds in sorted(lacking.items())
    ]


def _recorded_by(scanned: Scan, evidence: Sequence[frozenset[Kind]]) -> dict[int, int]:
    """What each file records: what it states, or what occurs in it if it states nothing."""
    occurring: dict[int, int] = {}
    for (file, *_), kinds in scanned.kinds_of.items():
        occurring[file] = occurring.get(file, 0) | kinds
    return {
        file: evidence_mask(evidence[file]) if file < len(evidence) and evidence[file] else kinds
        for file, kinds in occurring.items()
    }


def _presupposed(kinds: int) -> int:
    """Kinds that cannot have been recorded for a group from its beginning, as they never occur but must have
    happened.
    """
    never = 0
    if kinds & evidence_mask((Kind.DELIVER,)):
        for presupposed in (_OWNERSHIP, _PULLS):
            never |= presupposed if not kinds & presupposed else 0
    return never


def _why(group: str, seen: Mapping[str, int]) -> str:
    """Why a group cannot be judged. A group that pops has a retry topic for each of its topics, named after both.

    ``BroadcastOffsetManager#broadcastGroupId``: brokers of 5.x commit under a name that no group of consumers may have.
    """
    if group.endswith("@broadcast"):
        return KEPT_BY_BROKER
    others = any(other != group and other.startswith((f"{group}_", f"{group}+")) for other in seen)
    itself = any(other != group and group.startswith((f"{other}_", f"{other}+")) for other in seen)
    return BY_POP if others or itself else NO_CLIENT
