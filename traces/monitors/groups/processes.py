"""One process for each client id: two at a time take the same share, and nobody takes the share of the second (A1).

In broadcasting nothing is divided, and all processes of a host have one client id (EN-7), which is no clash.

Two signs reveal a clash. Two incarnations of one id show signs of life alternately; or lists of members have the id
twice, since a list has an id for each connection (EN-2). The second sign alone may be a process that has reconnected,
until the broker has dropped its old connection (ST-6), so it counts only if it lasts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...encoding.names import Actor
from ...engine.findings import Doubt
from ...format.kinds import Kind
from ..notebook import Notebook, whole
from ..steps.state import APART
from .groups_seen import GroupsSeen
from .memberships import Memberships
from .runs import Run, Told

CLAIM = "one-process-for-each-client-id"

CONNECTION_LIMIT = 130_000
"""ST-6: a broker drops a connection without heartbeats after 120 s, and looks every 10 s; ms."""


def judge_processes(seen: GroupsSeen) -> None:
    """Record every clash of client ids, once for each group and id."""
    for group in seen.memberships.groups():
        if not seen.names.is_broadcasting(group):
            clashes = _overlapping_memberships(group, seen.memberships, seen.notebook)
            _doubled_ids(group, seen.told, clashes, _restarts(group, seen.memberships), seen.notebook)


def _overlapping_memberships(group: str, memberships: Memberships, notebook: Notebook) -> set[str]:
    by_id: dict[str, list[Actor]] = {}
    for membership in memberships.of(group):
        by_id.setdefault(membership.actor.name, []).append(membership.actor)
    notebook.judge(CLAIM, len(by_id))
    clashes = set()
    running: dict[str, dict[Actor, int]] = {}
    for membership in memberships.of(group):
        # The last sign of each process that was still running: those that ended before can no longer clash.
        others = running.setdefault(membership.actor.name, {})
        for actor in [actor for actor, last in others.items() if last <= membership.first]:
            del others[actor]
        last, other = max(
            ((last, actor) for actor, last in others.items() if actor != membership.actor), default=(0, None)
        )
        if other is not None:
            clashes.add(membership.actor.name)
            notebook.violation(
                CLAIM,
                slot=whole(group),
                since=membership.first,
                time=max(membership.first, min(last, membership.last)),
                actor=membership.actor,
                other=other,
                value=2,
                expected=1,
                doubt=Doubt.SKEW
                if last - membership.first <= memberships.order.apart(membership.actor, other)
                else Doubt.NONE,
            )
        others[membership.actor] = max(membership.last, others.get(membership.actor, membership.last))
    return clashes


def _restarts(group: str, memberships: Memberships) -> dict[str, list[int]]:
    """For each id, when another process of it began, after the first one: brokers may still list the one before."""
    began: dict[str, list[int]] = {}
    for membership in memberships.of(group):
        began.setdefault(membership.actor.name, []).append(membership.first)
    return {name: sorted(times)[1:] for name, times in began.items()}


@dataclass
class _Doubled:
    """An id that occurs more than once in the lists that one observer gets."""

    since: int
    last: int
    times: int


def _doubled_ids(
    group: str, told: Told, clashes: set[str], restarts: Mapping[str, Sequence[int]], notebook: Notebook
) -> None:
    longest: dict[str, tuple[int, _Doubled, bool]] = {}

    def note(id: str, doubled: _Doubled, over: bool) -> None:
        length = doubled.last - doubled.since
        if length > CONNECTION_LIMIT or not over:
            known = longest.get(id)
            if known is None or length > known[0]:
                longest[id] = length, doubled, over

    seen: dict[tuple[Actor, str], dict[str, _Doubled]] = {}
    for run in told.of(group, Kind.REBALANCE, Kind.MEMBERS):
        if run.members is None:
            continue
        doubled = seen.setdefault((run.actor, run.topic), {})
        now = more_than_once(run)
        for id in sorted(doubled.keys() - now.keys()):
            note(id, doubled.pop(id), True)
        for id, times in sorted(now.items()):
            known = doubled.setdefault(id, _Doubled(run.first, run.last, times))
            known.last = run.last
    for doubled in seen.values():
        for id, known in doubled.items():
            note(id, known, any(0 <= known.since - began + APART <= CONNECTION_LIMIT for began in restarts.get(id, ())))
    for id, (length, known, _) in sorted(longest.items()):
        if id in clashes:
            continue
        notebook.violation(
            CLAIM,
            slot=whole(group),
            since=known.since,
            time=known.last,
            actor=Actor(id),
            value=known.times,
            expected=1,
            doubt=Doubt.NONE if length > CONNECTION_LIMIT else Doubt.EVIDENCE,
        )


def more_than_once(run: Run) -> dict[str, int]:
    """The ids that a list of members has more than once, and how often."""
    members = run.members or ()
    if len(set(members)) == len(members):
        return {}
    return {id: times for id, times in Counter(members).items() if times > 1}
