"""Further changes of recordings that must not change what is said of them: what happens to clocks and files.

See :mod:`.changes`, which has the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from rocketproof.traces.format.kinds import OF_BROKERS, Kind

from .changed import Changed, one_file, retimed
from .recordings import Event, Recording, by_time, recorder_of

STEPS = (-5_000, -2_000, 2_000)
"""How far clocks are set in the middle, ms."""

HOUR = 3_600_000

PROMPT = 1_000
"""Delayed messages are delivered so soon after they are due, ms."""


def stepped_clocks(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """One recorder's clock is set in the middle, as NTP does, or as it begins anew after a restart."""
    span = recording.end - recording.begin
    for recorder in recording.recorders:
        for step in STEPS:
            since = _nothing_waits(recording, recorder, recording.begin + int(span * (0.2 + 0.6 * chance.random())))
            changed = _set(recording, recorder, step, since, recording.end + 1)
            yield Changed(change="stepped clock", how=f"{recorder} by {step} ms from {since} on", files=changed)


def suspended_machines(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """One recorder's machine was suspended: afterwards its clock is behind, until somebody sets it."""
    span = recording.end - recording.begin
    for recorder in recording.recorders:
        since = _nothing_waits(recording, recorder, recording.begin + int(span * (0.2 + 0.4 * chance.random())))
        until = since + chance.randint(1, max(1, span // 4))
        behind = chance.randint(1_000, 5_000)
        changed = _set(recording, recorder, -behind, since, until)
        yield Changed(
            change="suspended machine", how=f"{recorder} by {behind} ms from {since} to {until}", files=changed
        )


def _nothing_waits(recording: Recording, recorder: str, since: int) -> int:
    """The first time from then on at which no message waits at a broker.

    A broker delivers by its own clock: what waits while that is set back comes as much later.
    """
    waits = sorted(
        (event["time"], event["due"] + PROMPT)
        for event in recording.events
        if event["kind"] == Kind.DELAY_STORE and event.get("due") and recorder_of(event) == recorder
    )
    for begin, end in waits:
        if begin <= since <= end:
            since = end + 1
    return since


def _set(recording: Recording, recorder: str, step: int, since: int, until: int) -> Mapping[str, str]:
    def time(who: str, at: int) -> int:
        return at + step * (who == recorder and since <= at < until)

    return one_file(retimed(recording, time))


def other_zones(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """One file tells its times in another time zone."""
    for recorder in recording.recorders:
        off = chance.choice([-HOUR, HOUR])
        changed = retimed(recording, lambda who, at, whose=recorder, by=off: at + by * (who == whose))
        yield Changed(change="other time zone", how=f"{recorder} by {off} ms", files=one_file(changed))


def moved_times(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """A tool moved the times of a broker's events, and left those at which messages are due."""
    for recorder in sorted({recorder_of(event) for event in recording.events if event["kind"] == Kind.DELAY_DELIVER}):
        for by in (-5_000, -30, 3_000):
            events = [
                {**event, "time": event["time"] + by} if recorder_of(event) == recorder else event
                for event in recording.events
            ]
            files = one_file(replace(recording, events=by_time(events)))
            yield Changed(change="moved times", how=f"{recorder} by {by} ms", files=files)


def whole_seconds(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """All recorders, or one of them, know their times in seconds only."""
    for recorder in ("", *recording.recorders):
        events = [
            _in_whole_seconds(event) if not recorder or recorder_of(event) == recorder else event
            for event in recording.events
        ]
        files = one_file(replace(recording, events=by_time(events)))
        yield Changed(change="whole seconds", how=recorder or "all", files=files)


def _in_whole_seconds(event: Event) -> Event:
    times = {name: event[name] // 1_000 * 1_000 for name in ("time", "due") if event.get(name)}
    return {name: value for name, value in event.items() if name != "micros"} | times


def other_orders(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """The events of a file stand in another order than that in which they were counted."""
    numbered = [{**event, "seq": seq} for seq, event in enumerate(recording.events)]
    shuffled = chance.sample(numbered, len(numbered))
    for how, events in (("backwards", numbered[::-1]), ("shuffled", shuffled)):
        yield Changed(change="other order", how=how, files=one_file(replace(recording, events=events)))


def swapped_names(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """Recorders are called by each other's names, which say nothing of who they are."""
    names = recording.recorders
    for how, other in (("the next one's", [*names[1:], names[0]]), ("the last one's first", names[::-1])):
        called = dict(zip(names, other, strict=True))
        events = [{**event, "recorder": called[recorder_of(event)]} for event in recording.events]
        yield Changed(change="swapped names", how=how, files=one_file(replace(recording, events=events)))


def copies_in_part(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """Beside a file lies a copy of a part of it, as it was before it went on, or with the end that was kept."""
    events = [{**event, "seq": event.get("seq", seq)} for seq, event in enumerate(recording.events)]
    at = chance.randrange(1, max(2, len(events)))
    whole = replace(recording, events=events).text()
    for how, part in ((f"first {at}", events[:at]), (f"last {len(events) - at}", events[at:])):
        if part:
            files = {"a.jsonl": whole, "b.jsonl": replace(recording, events=part).text()}
            yield Changed(change="copy in part", how=how, files=files)


def broken_off(recording: Recording, chance: random.Random) -> Iterator[Changed]:
    """A file breaks off in the middle of a line, if there is one in the middle of a batch."""
    lines = recording.text().splitlines(keepends=True)
    places = [at for at in range(1, len(lines) - 1) if '"deliver"' in lines[at] and '"deliver"' in lines[at + 1]]
    for _ in range(2):
        at = chance.choice(places) if places else chance.randrange(1, len(lines))
        text = "".join(lines[: at + 1]) + lines[at + 1 if at + 1 < len(lines) else at][:20]
        yield Changed(
            change="broken off", how=f"line {at + 1}", files={"trace.jsonl": text}, may_hold=True, is_less=True
        )


def unsaid_groups(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """The header says nothing of groups."""
    header = {name: value for name, value in recording.header.items() if name != "groups"}
    if header != recording.header:
        yield Changed(
            change="unsaid groups",
            how="",
            files=one_file(replace(recording, header=header)),
            may_hold=True,
            is_less=True,
        )


def of_another_cluster(recording: Recording, _chance: random.Random) -> Iterator[Changed]:
    """A file of a broker of another cluster is among those of this one: other messages of topics called alike."""
    events: list[Event] = []
    for event in recording.events:
        if recorder_of(event) == event.get("broker") and (event["kind"] in OF_BROKERS or event["kind"] == Kind.COMMIT):
            other = {name: value for name, value in event.items() if name != "client"}
            other |= {"broker": f"{event['broker']}-of-another", "seq": len(events)}
            other |= {name: f"{event[name]}-of-another" for name in ("client", "key", "msg_id") if event.get(name)}
            if event.get("members"):
                other["members"] = [f"{member}-of-another" for member in event["members"]]
            if event.get("origin"):
                other["origin"] = event["origin"] ^ 1
            events.append(other)
    if events:
        said = {name: value for name, value in recording.header.items() if name != "groups"}
        header = {**said, "evidence": sorted({*OF_BROKERS, Kind.COMMIT})}
        other_file = replace(recording, header=header, events=events)
        files = {"a.jsonl": recording.text(), "b.jsonl": other_file.text()}
        yield Changed(change="another cluster's broker", how="", files=files)


FURTHER: tuple[Callable[[Recording, random.Random], Iterator[Changed]], ...] = (
    stepped_clocks,
    suspended_machines,
    other_zones,
    moved_times,
    whole_seconds,
    other_orders,
    swapped_names,
    copies_in_part,
    broken_off,
    unsaid_groups,
    of_another_cluster,
)
