"""The drawing of ownership: a lane for each queue, a bar for each time that a client had it.

Two owners at the same time are drawn one below the other, and times without an owner are hatched. The most interesting
queues come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from ...encoding.names import Actor, Slot
from ...engine.result import CheckResult
from ..timelines import Ownership, ownerships
from .charts import COLOURS, Axis, box, legend, mark, strip, told
from .words import queue, span, utc

SHOWN = 30
"""Number of queues of a group that are shown at once; each click shows as many more."""

MOST = 200
"""Maximum number of queues of a group that are drawn."""

_TRACK = 14
_MOST_TRACKS = 4
_NARROW = 1000  # adjacent bars that are all narrower than this part of the axis are merged into one
_HARDLY = 200  # owners that overlap by less than this part of the axis stay on one line
_MOST_CLIENTS = 40
_MOST_MARKS = 20


@dataclass
class Lane:
    """What happened to one queue."""

    slot: Slot  # the queue
    owned: list[Ownership] = field(default_factory=list)  # its owners, by ``since``
    marks: list[tuple[int, str]] = field(default_factory=list)  # violations: time and claim

    def overlaps(self) -> list[tuple[int, int]]:
        """The times with two owners or more."""
        changes = sorted([(item.since, 1) for item in self.owned] + [(item.until, -1) for item in self.owned])
        found, owners, since = [], 0, 0
        for time, change in changes:
            if owners == 1 and change == 1:
                since = time
            if owners == 2 and change == -1 and time > since:
                found.append((since, time))
            owners += change
        return found

    def gaps(self, end: int) -> list[tuple[int, int]]:
        """The times without an owner, after the first one and up to ``end``."""
        found = []
        until = self.owned[0].until if self.owned else end
        for item in self.owned:
            if item.since > until:
                found.append((until, item.since))
            until = max(until, item.until)
        return found + ([(until, end)] if until < end else [])

    def score(self, end: int) -> tuple[int, int, int]:
        """How interesting the lane is: violations, time with two owners or none, changes of the owner."""
        odd = sum(until - since for since, until in self.overlaps() + self.gaps(end))
        return len(self.marks), odd, len(self.owned)


def lanes(result: CheckResult) -> dict[str, list[Lane]]:
    """The lanes of each group, the most interesting ones first."""
    by_slot: dict[Slot, Lane] = {}
    for item in ownerships(result.rows, result.names):
        by_slot.setdefault(item.slot, Lane(item.slot)).owned.append(item)
    for code, time, claim in result.violations[["slot", "time", "claim"]].tolist():
        lane = by_slot.get(result.names.slots[code]) if code >= 0 else None
        if lane is not None:
            lane.marks.append((time, result.verdicts[claim].claim.id))
    groups: dict[str, list[Lane]] = {}
    for lane in by_slot.values():
        lane.owned.sort(key=lambda item: (item.since, item.until, item.actor))
        groups.setdefault(lane.slot.group, []).append(lane)
    for group in groups.values():
        group.sort(key=lambda lane: (tuple(-part for part in lane.score(result.end)), lane.slot))
    return dict(
        sorted(groups.items(), key=lambda item: (tuple(-part for part in item[1][0].score(result.end)), item[0]))
    )


def colours(group: Iterable[Lane]) -> dict[Actor, str]:
    """A colour class for each client of a group, by name."""
    clients = sorted({item.actor for lane in group for item in lane.owned})
    return {client: f"k{place % COLOURS}" for place, client in enumerate(clients)}


def clients(colour: Mapping[Actor, str]) -> Markup:
    """The legend of a group."""
    entries = [(css, str(client)) for client, css in list(colour.items())[:_MOST_CLIENTS]]
    if len(colour) > _MOST_CLIENTS:
        entries.append(("many", f"and {len(colour) - _MOST_CLIENTS} more clients"))
    entries += [("gap", "no owner"), ("overlap", "two owners"), ("mark", "violation")]
    return legend(entries)


def draw(lane: Lane, axis: Axis, colour: Mapping[Actor, str], *, rounds: int) -> Markup:
    """One lane; times with two owners or none that are longer than ``rounds`` ms are drawn as mistakes."""
    tracks = _tracks(lane.owned, (axis.end - axis.begin) / _HARDLY)
    height = _TRACK * (max(tracks, default=0) + 1) + 4
    drawn = [
        _between(since, until, axis, top=2, height=height - 4, css="gap", text="no owner", rounds=rounds)
        for since, until in lane.gaps(axis.end)
    ]
    for many, track in _merged(lane.owned, tracks, (axis.end - axis.begin) / _NARROW):
        first, last = many[0], max(item.until for item in many)
        css = colour[first.actor] if len(many) == 1 else "many"
        place = axis.place(first.since), axis.place(last)
        drawn.append(box(*place, top=2 + track * _TRACK, height=_TRACK - 1, css=css, tip=_tip(many)))
        if len(many) == 1 and place[1] - place[0] > 8:
            drawn.append(
                Markup('<svg x="{:.3f}%" width="{:.3f}%"><text x="4" y="{}">{}</text></svg>').format(
                    place[0], place[1] - place[0], 12 + track * _TRACK, first.actor
                )
            )
    drawn += [
        _between(since, until, axis, top=0, height=height, css="overlap", text="two owners", rounds=rounds)
        for since, until in lane.overlaps()
    ]
    drawn += [
        mark(axis.place(time), y=height - 4, css="mark", tip=told(claim, utc(time)))
        for time, claim in lane.marks[:_MOST_MARKS]
    ]
    return strip(drawn, height=height)


def _between(
    since: int, until: int, axis: Axis, *, top: float, height: float, css: str, text: str, rounds: int
) -> Markup:
    long = " long" if until - since > rounds else ""
    tip = told(f"{text} for {span(until - since)}", f"{utc(since)} – {utc(until)}")
    return box(axis.place(since), axis.place(until), top=top, height=height, css=css + long, tip=tip)


def _tip(many: Sequence[Ownership]) -> str:
    first, last = many[0], max(item.until for item in many)
    when = f"{utc(first.since)} – {utc(last)} ({span(last - first.since)})"
    if len(many) > 1:
        return told(f"{len(many)} short times of ownership by {len({item.actor for item in many})} clients", when)
    start = f"from offset {first.start:,}" if first.start >= 0 else ""
    return told(str(first.actor), queue(first.slot), when, start, first.reason)


def _tracks(owned: Sequence[Ownership], hardly: float) -> list[int]:
    """The line on which each bar is drawn, so that none covers another by more than ``hardly`` ms."""
    free: list[int] = []
    tracks = []
    for item in owned:
        track = next((track for track, until in enumerate(free) if until <= item.since + hardly), len(free))
        if track == len(free):
            free.append(item.until)
        free[track] = item.until
        tracks.append(min(track, _MOST_TRACKS - 1))
    return tracks


def _merged(owned: Sequence[Ownership], tracks: Sequence[int], narrow: float) -> list[tuple[list[Ownership], int]]:
    """Neighbours on one line that are all too narrow to be seen, merged."""
    found: list[tuple[list[Ownership], int]] = []
    last_of: dict[int, int] = {}
    for item, track in zip(owned, tracks, strict=True):
        before = found[last_of[track]][0] if track in last_of else []
        tiny = item.until - item.since < narrow
        if before and tiny and before[-1].until - before[-1].since < narrow and item.since - before[-1].until < narrow:
            before.append(item)
        else:
            last_of[track] = len(found)
            found.append(([item], track))
    return found
