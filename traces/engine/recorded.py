"""What was recorded for which group: the coverage of a trace, from the statements of its files and from what was
seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_

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
_OF_MEMBERS = ALL_KINDS & ~evidence_mask(OF_BROKERS)

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
    holes = [*trace.holes(), *steps_as_holes(scanned.context.clocks, _groups_of(scanned))]
    return coverage_of(scanned, trace.header, slots=slots, evidence=trace.evidence, holes=holes)


def _groups_of(scanned: Scan) -> dict[Actor, set[str]]:
    """The groups in which each process acted."""
    groups: defaultdict[Actor, set[str]] = defaultdict(set)
    for _, group, who in scanned.kinds_of:
        groups[who] |= {group} - {""}
    return groups


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
    recorded, lacking = _recorded_by(scanned, evidence), _lacking(scanned, header)
    seen = defaultdict(int, {slot.group: 0 for slot in slots if slot.group})
    of_groups = defaultdict[str, int](int)
    by_clients = defaultdict[str, int](int)  # a broker's log has heartbeats and locks of clients not recorded otherwise
    told, processes = defaultdict[tuple[str, str, int], int](int), defaultdict[tuple[str, str, int], int](int)
    for (file, group, who), kinds in scanned.kinds_of.items():
        lacks = lacking.get((who.name, group), 0)
        if group:
            seen[group] |= kinds
            by_clients[group] |= kinds if recorded[file] & _CLIENTS else 0
            of_groups[group] |= recorded[file] & ~lacks
        said, key = evidence[file] if file < len(evidence) else (), (group, who.name, who.incarnation)
        processes[key] |= kinds
        told[key] |= evidence_mask(said) & ~lacks
    if header.complete:
        for group, mask in of_groups.items():
            of_groups[group] = mask & ~_presupposed(seen[group])
    of_static = {slot.group for slot in slots if slot.broker.startswith(STATIC)}
    shared = reduce(or_, (mask for mask in recorded.values() if not mask & _CLIENTS), 0)
    not_judged = {
        group: _why(group, seen, slots)
        for group in sorted(seen)
        if not by_clients[group] & _ANY_CLIENT and context.evidence & _CLIENTS
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
        processes=dict(processes),
        told=dict(told),
    )


def _not_stated(scanned: Scan, header: Header) -> dict[str, str]:
    """Groups that the header does not name, and whose clients do what only broadcasting or orderly ones do, each with
    the reason why it is not judged.
    """
    of_clients: defaultdict[str, int] = defaultdict(int)
    for (_, group, who), kinds in sorted(scanned.kinds_of.items()):
        if group and group not in header.groups and who.incarnation >= 0:
            of_clients[group] |= kinds
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
            found[group] = Hole(kinds=_OF_MEMBERS, group=group, why=why)
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
    return [
        Hole(kinds=_OF_MEMBERS, group=group, recorder=name, why=f"nothing {_elsewhere(name, acted[group])}was recorded")
        for group, names in sorted(listed.items())
        if group in acted
        for name in sorted(names - acted[group] - acted.get("", set()))
    ]


def _elsewhere(client: str, recorded: Iterable[str]) -> str:
    """Words about a client with the same process id: a message trace has the address from which it came."""
    own = [name for name in sorted(recorded) if name.split("@")[-1] == client.split("@")[-1].split("#")[0]]
    return f"but what {own[0]} did, which has its process id, " if own else ""


def _alike(scanned: Scan, header: Header) -> list[Hole]:
    """A hole for each client of a broadcasting group that starts again without having ended, from then on.

    EN-7: all processes of a host have one client id there, and logs do not distinguish them. Consumers of other groups
    share the client of their process, and each of them may record a start of its own.
    """
    groups = {who: own & header.broadcasting for who, own in _groups_of(scanned).items()}
    alive: dict[Actor, set[str]] = {}
    since: dict[Actor, int] = {}
    for event in scanned.context.events.of_kinds(Kind.CLIENT_START, *CLIENT_ENDS):
        who = Actor(event.get("client") or "", event.get("incarnation") or 0)
        group = event.get("group") or ""
        if event["kind"] in CLIENT_ENDS:
            alive[who] = alive.get(who, set()) - {group} if group else set()
        elif event["kind"] == Kind.CLIENT_START and groups.get(who):
            if group in alive.setdefault(who, set()):
                since.setdefault(who, event["time"])
            alive[who].add(group)
    why = "it has started twice: processes of a host that consume in broadcasting have one client id"
    return [
        Hole(since=time, kinds=_OF_MEMBERS, group=group, recorder=who.name, why=why)
        for who, time in since.items()
        for group in sorted(groups[who])
    ]


def _numbered_apart(scanned: Scan, evidence: Sequence[frozenset[Kind]]) -> list[Hole]:
    """A hole for each client with several processes that is in a log, and in other files too.

    A log numbers the processes that it knows; which of these the other files mean is not known. A broker that names who
    committed offsets numbers nothing.
    """
    files, numbers, groups = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set), _groups_of(scanned)
    for (file, _, who), kinds in scanned.kinds_of.items():
        if who.incarnation >= 0 and kinds & ~evidence_mask((Kind.COMMIT,)):
            files[who.name].add(file)
            numbers[who.name].add(who.incarnation)
    logs = {file for file, kinds in enumerate(evidence) if kinds and Kind.CLIENT_CRASH not in kinds}
    why = "a log and other files number the processes of one client id, each by itself"
    return [
        Hole(kinds=_OF_MEMBERS, group=group, recorder=name, why=why)
        for name, told in files.items()
        if len(told) > 1 and told & logs and len(numbers[name]) > 1
        for group in sorted(set[str]().union(*(groups[Actor(name, number)] for number in numbers[name])))
    ]


def _lacking(scanned: Scan, header: Header) -> dict[tuple[str, str], int]:
    """What a client does not record for a group although others do: mask of kinds, by client and group.

    The header says so, or it shows in what its processes have recorded, see :func:`..format.coverage.unrecorded`.
    """
    lacking = {one: evidence_mask(kinds) for one, kinds in header.lacking.items()}
    seen: defaultdict[tuple[str, Actor], int] = defaultdict(int)
    for (_, group, who), kinds in scanned.kinds_of.items():
        seen[group, who] |= kinds
    for (group, who), kinds in seen.items():
        if unseen := unrecorded(kinds):
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
    occurring: defaultdict[int, int] = defaultdict(int)
    for (file, *_), kinds in scanned.kinds_of.items():
        occurring[file] |= kinds
    return {
        file: evidence_mask(evidence[file]) if file < len(evidence) and evidence[file] else kinds
        for file, kinds in occurring.items()
    }


def _presupposed(kinds: int) -> int:
    """Kinds that cannot have been recorded for a group from its beginning, as they never occur but must have
    happened.
    """
    if not kinds & evidence_mask((Kind.DELIVER,)):
        return 0
    return sum(presupposed for presupposed in (_OWNERSHIP, _PULLS) if not kinds & presupposed)


def _why(group: str, seen: Collection[str], slots: Iterable[Slot]) -> str:
    """Why a group cannot be judged. A group that pops has a retry topic for each of its topics, named after both.

    ``BroadcastOffsetManager#broadcastGroupId``: brokers of 5.x commit under a name that no group of consumers may have.
    """
    if group.endswith("@broadcast"):
        return KEPT_BY_BROKER
    pops = any(
        group in (slot.group, retries) and retries in seen
        for slot in slots
        for retries in (f"{slot.group}_{slot.topic}", f"{slot.group}+{slot.topic}")
    )
    return BY_POP if pops else NO_CLIENT
