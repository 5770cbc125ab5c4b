"""Changes of recordings that must not change what is said of them: clocks, evidence, files.

A change answers another recording; what a check may say of that one follows from what it says of the first: see
:mod:`.trust`.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from rocketproof.traces.format.kinds import OF_BROKERS, Kind

from .changed import Changed, one_file, retimed
from .further_changes import FURTHER
from .recordings import Event, Recording, by_time, recorder_of

Change = Callable[[Recording, random.Random], Iterator[Changed]]

SHIFTS = (-5_000, -500, -30, -5, 5, 30, 500, 5_000)
"""How far clocks are set off, ms."""

_HOOK = frozenset({Kind.DELIVER, Kind.RESULT})
_LOG = frozenset({Kind.ASSIGN, Kind.REVOKE, Kind.COMMIT, Kind.OFFSET_QUERY})
_PULLS = frozenset({Kind.PULL, Kind.PULL_RESULT})

ONLY: Mapping[str, frozenset[Kind]] = {
    "hook": _HOOK,
    "log": _LOG,
    "pulls": _PULLS,
    "broker's requests": OF_BROKERS | {Kind.COMMIT},
    "hook and log": _HOOK | _LOG,
    "hook and offsets": _HOOK | {Kind.COMMIT},
    "hook and pulls": _HOOK | _PULLS,
    "hook and starts": _HOOK | {Kind.CLIENT_START, Kind.CLIENT_STOP},
    "membership": frozenset({Kind.CLIENT_START, Kind.CLIENT_STOP, Kind.HEARTBEAT, Kind.UNREGISTER, Kind.REBALANCE}),
}
"""What recorders record that know little."""

DRIFT = 200
"""How fast clocks drift, millionths."""


def shifted_clocks(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """One recorder's clock is off."""
    for recorder in recording.recorders:
        for shift in SHIFTS:
            changed = retimed(recording, lambda who, time, off=shift, whose=recorder: time + off * (who == whose))
            yield Changed(change="shifted clock", how=f"{recorder} by {shift} ms", files=one_file(changed))


def drifting_clocks(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """One recorder's clock is too fast, or too slow."""
    begin = recording.begin
    for recorder in recording.recorders:
        for parts in (-DRIFT, DRIFT):

            def time(who: str, at: int, whose: str = recorder, rate: int = parts) -> int:
                return at + (at - begin) * rate // 1_000_000 * (who == whose)

            yield Changed(
                change="drifting clock", how=f"{recorder} by {parts} ppm", files=one_file(retimed(recording, time))
            )


def all_clocks(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """Every recorder's clock is off by something else."""
    for _ in range(4):
        off = {recorder: chance.randint(-5_000, 5_000) for recorder in recording.recorders}
        changed = retimed(recording, lambda who, time, by=off: time + by[who])
        yield Changed(change="all clocks shifted", how=str(off), files=one_file(changed))


def without_kinds(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """A kind is not recorded, and the header says so."""
    occurring = {event["kind"] for event in recording.events}
    for kind in sorted({*occurring, *recording.header.get("evidence", ())} - {Kind.GAP}):
        yield from _without(recording, {kind}, "removed kind")


def without_kind_pairs(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """Several kinds are not recorded."""
    occurring = sorted({event["kind"] for event in recording.events} - {Kind.GAP})
    for _ in range(12):
        gone = set(chance.sample(occurring, min(len(occurring) - 1, chance.randint(2, 8))))
        yield from _without(recording, gone, "removed kinds")


def _without(recording: Recording, gone: set[str], change: str) -> Iterator[Changed]:
    occurring = {event["kind"] for event in recording.events} - {Kind.GAP}
    header = {**recording.header, "evidence": sorted({*recording.header.get("evidence", occurring)} - gone)}
    events = [event for event in recording.events if event["kind"] not in gone]
    if events:
        files = one_file(replace(recording, header=header, events=events))
        yield Changed(change=change, how=", ".join(sorted(gone)), files=files, is_less=True)


def _unsaid(recording: Recording, events: Sequence[Event]) -> Recording:
    header = {name: value for name, value in recording.header.items() if name != "evidence"}
    return replace(recording, header=header, events=events)


def unsaid_kinds(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """A kind is not recorded, by nobody or not by one recorder, and the header says nothing of kinds."""
    for who in ("", *recording.recorders):
        theirs = [event for event in recording.events if not who or recorder_of(event) == who]
        for kind in sorted({event["kind"] for event in theirs} - {Kind.GAP}):
            gone = {id(event) for event in theirs if event["kind"] == kind}
            kept = [event for event in recording.events if id(event) not in gone]
            if kept:
                how = f"{kind} of {who}" if who else kind
                files = one_file(_unsaid(recording, kept))
                yield Changed(change="unsaid kind", how=how, files=files, may_hold=True, is_less=True)


def lesser_recorders(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """All recorders, or one of them, record only some kinds, and the header says nothing of kinds."""
    for what, kinds in ONLY.items():
        for who in ("", *recording.recorders):
            kept = [e for e in recording.events if e["kind"] in kinds or (who and recorder_of(e) != who)]
            if kept:
                files = one_file(_unsaid(recording, kept))
                how = f"{what} of {who or 'all'}"
                yield Changed(change="lesser recorder", how=how, files=files, may_hold=True, is_less=True)


def without_recorders(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """A recorder's file is missing; gaps say so, as joining writes them."""
    for recorder in recording.recorders:
        kept = [event for event in recording.events if recorder_of(event) != recorder]
        lost = [event for event in recording.events if recorder_of(event) == recorder]
        if not kept:
            continue
        gap = {"time": recording.end, "kind": "gap", "due": recording.begin, "detail": f"not recorded: {recorder}"}
        groups = sorted({event["group"] for event in lost if event.get("group")})
        gaps = [{**gap, "group": group} for group in groups] or [gap]
        if any(event["kind"] in OF_BROKERS for event in lost):
            gaps = [gap]
        # Of events without numbers equal ones would be one.
        numbered = [{**event, "seq": seq} for seq, event in enumerate([*kept, *gaps])]
        yield Changed(change="removed recorder", how=recorder, files=one_file(replace(recording, events=numbered)))


def without_groups(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """Nothing names a group any more."""
    for group in recording.groups:
        kept = [event for event in recording.events if event.get("group") != group]
        yield from _untold_group(recording, group, kept, "removed group")


def group_without_agent(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """Only the broker tells of a group: its clients have no agent."""
    for group in recording.groups:
        kept = [e for e in recording.events if e.get("group") != group or recorder_of(e) == e.get("broker")]
        if len(kept) < len(recording.events):
            yield from _untold_group(recording, group, kept, "group without agent")


def _untold_group(recording: Recording, group: str, kept: Sequence[Event], change: str) -> Iterator[Changed]:
    groups = {name: told for name, told in recording.header.get("groups", {}).items() if name != group}
    if kept:
        files = one_file(replace(recording, header={**recording.header, "groups": groups}, events=kept))
        yield Changed(change=change, how=group, files=files, may_hold=True)


def without_slices(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """Nothing was recorded for a while, and a gap says so."""
    span = recording.end - recording.begin
    for _ in range(8):
        since = recording.begin + chance.randint(0, span)
        until = min(recording.end, since + chance.randint(1, max(1, span // 4)))
        kept = [event for event in recording.events if not since <= event["time"] <= until]
        lost = len(recording.events) - len(kept)
        if not kept or not lost:
            continue
        gap = {"time": until, "kind": "gap", "due": since, "count": lost}
        changed = replace(recording, events=by_time(sorted([*kept, gap], key=lambda event: int(event["time"]))))
        how = f"{since} to {until}, {lost} events"
        yield Changed(change="removed time slice", how=how, files=one_file(changed), is_less=True)


def cut_starts(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """The recording begins in the middle, as rotated logs do."""
    return _cut(recording, chance, "cut start", lambda at: recording.events[at:])


def cut_ends(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """The recording ends in the middle."""
    return _cut(recording, chance, "cut end", lambda at: recording.events[:at])


def _cut(
    recording: Recording, chance: random.Random, change: str, kept: Callable[[int], Sequence[Event]]
) -> Iterator[Changed]:
    header = {**recording.header, "complete": False}
    for share in (0.1, 0.25, 0.5, 0.75, 0.9, chance.random(), chance.random()):
        events = kept(int(len(recording.events) * share))
        if events:
            files = one_file(replace(recording, header=header, events=events))
            yield Changed(change=change, how=f"{share:.2f}", files=files, may_hold=True, is_less=True)


def _says_something_else(right: str, damaged: str) -> bool:
    """Whether a damaged line is a good one still, with another value: nothing shows then that it is damaged."""
    try:
        said, before = json.loads(damaged), json.loads(right)
    except ValueError:
        return False
    return isinstance(said, dict) and said.keys() == before.keys() and said["kind"] == before["kind"]


def damaged_lines(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """A line cannot be read, or a word of it is unknown."""
    lines = recording.text().splitlines(keepends=True)
    for _ in range(8):
        at = chance.randrange(1, len(lines))
        how = chance.choice(["cut", "bits", "kind"])
        line = lines[at]
        if how == "cut":
            line = line[: chance.randrange(1, len(line))].rstrip("\n") + "\n"
        elif how == "bits":
            place = chance.randrange(len(line) - 1)
            line = line[:place] + chr(ord(line[place]) ^ (1 << chance.randrange(5))) + line[place + 1 :]
            line = line.replace("\n", " ").replace("\r", " ") + "\n"
        else:
            line = line.replace('"kind": "', '"kind": "x', 1)
        if _says_something_else(lines[at], line):
            continue
        text = "".join([*lines[:at], line, *lines[at + 1 :]])
        yield Changed(change="damaged line", how=f"line {at + 1}, {how}", files={"trace.jsonl": text}, is_less=True)


def repeated(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """The trace is given twice, or lines are repeated."""
    text = recording.text()
    yield Changed(change="given twice", how="", files={"one.jsonl": text, "two.jsonl": text})
    for share in (0.01, 0.2):
        events = [copy for event in recording.events for copy in [event] * (1 + (chance.random() < share))]
        yield Changed(change="repeated lines", how=f"{share}", files=one_file(replace(recording, events=events)))


def split_files(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """Each recorder has a file of its own."""
    files = {
        f"{n}.jsonl": replace(recording, events=[e for e in recording.events if recorder_of(e) == who]).text()
        for n, who in enumerate(recording.recorders)
    }
    yield Changed(change="a file for each recorder", how="", files=files)


def renamed(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """Groups, topics, brokers and clients have other names, in the same order."""
    text = recording.text()
    for group in recording.groups:
        # One name may be the beginning of another one.
        text = re.sub(rf'("|%RETRY%|%DLQ%){re.escape(group)}(?=["=:])', r"\g<0>x", text)
    yield Changed(change="renamed groups", how="", files={"trace.jsonl": text})


CHANGES: tuple[Change, ...] = (
    shifted_clocks,
    drifting_clocks,
    all_clocks,
    without_kinds,
    without_kind_pairs,
    unsaid_kinds,
    lesser_recorders,
    without_recorders,
    without_groups,
    group_without_agent,
    without_slices,
    cut_starts,
    cut_ends,
    damaged_lines,
    repeated,
    split_files,
    renamed,
    *FURTHER,
)
"""All changes of one recording."""
