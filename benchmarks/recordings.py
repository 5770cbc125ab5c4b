"""Recordings that benchmarks change: the samples, pairs of them as one cluster's, simulated clusters, model's runs.

A recording is its header and its events, as dictionaries.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocketproof.checkers.simulate import random_run
from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.traces.format import kinds
from rocketproof.traces.format.kinds import OF_BROKERS, Kind
from rocketproof.traces.generate.recorder import record_run
from rocketproof.traces.generate.simulation import MUTANTS, Plan, simulate
from rocketproof.traces.io import Problems
from rocketproof.traces.io.compressed import pieces_of
from rocketproof.traces.io.writing import write_jsonl
from rocketproof.traces.samples import FOLDER

Event = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A recording in memory."""

    name: str  # what it is called
    header: Mapping[str, Any]  # its first line
    events: Sequence[Event]  # in the order of the file
    parts: Sequence[Recording] = ()  # those it was put together of
    # a known bug struck in it. Where less is seen of it, another claim may be the one that it violates
    has_bug: bool = False

    @classmethod
    def read(cls, file: Path) -> Recording:
        """The recording of a JSONL file, packed or not."""
        header, *lines = b"".join(pieces_of(file, Problems(strict=True))).decode().splitlines()
        return cls(
            name=file.name.partition(".jsonl")[0], header=json.loads(header), events=list(map(json.loads, lines))
        )

    @property
    def begin(self) -> int:
        """Time of the earliest event, ms."""
        return min(int(event["time"]) for event in self.events)

    @property
    def end(self) -> int:
        """Time of the latest event, ms."""
        return max(int(event["time"]) for event in self.events)

    @property
    def recorders(self) -> list[str]:
        """Who wrote its events, sorted."""
        return sorted({recorder_of(event) for event in self.events})

    @property
    def groups(self) -> list[str]:
        """The groups that its events name, sorted."""
        return sorted({event["group"] for event in self.events if event.get("group")})

    def text(self) -> str:
        """The recording as JSONL."""
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in (self.header, *self.events))


def recorder_of(event: Mapping[str, Any]) -> str:
    """Who wrote an event."""
    if event.get("recorder"):
        return str(event["recorder"])
    sent = event["kind"] == Kind.COMMIT and event.get("path") != kinds.Path.FILE  # else it is in the client's own file
    broker_wrote = event["kind"] in OF_BROKERS or sent or not event.get("client")
    if broker_wrote:
        return str(event.get("broker") or "")
    return f"{event['client']}#{event.get('incarnation') or 0}"


def by_time(events: Sequence[Event]) -> list[Event]:
    """Events as they would be joined by their stamps: what one recorder wrote stays in its order."""
    latest: dict[str, int] = {}
    stamped = []
    for event in events:
        recorder = recorder_of(event)
        latest[recorder] = max(int(event["time"]), latest.get(recorder, int(event["time"])))
        stamped.append((latest[recorder], event))
    return [{**event, "seq": seq} for seq, (_, event) in enumerate(sorted(stamped, key=lambda item: item[0]))]


def merged(one: Recording, other: Recording) -> Recording:
    """Two recordings as one cluster's: the second moved to the time of the first, its names told apart."""
    later = one.begin - other.begin

    text = other.text()
    names = {event["topic"] for event in other.events if event.get("topic") and event["topic"][0] != "%"}
    for name in sorted({*names, *other.groups}, key=len, reverse=True):
        for before in ('"', "%"):
            for after in ('"', "="):
                text = text.replace(f"{before}{name}{after}", f"{before}{name}-2{after}")
    for client in sorted({event["client"] for event in other.events if event.get("client")}):
        text = text.replace(f'"{client}"', f'"{client}-2"')
    for broker in sorted({event["broker"] for event in other.events if event.get("broker")}):
        text = text.replace(f'"{broker}"', f'"{broker}-2"').replace(f'"{broker}:', f'"{broker}-2:')
    header, *events = map(json.loads, text.splitlines())
    for event in events:
        for field in ("time", "due"):
            if event.get(field):
                event[field] += later
        if event.get("subscriptions"):  # their versions are times
            event["subscriptions"] = [
                re.sub(r"(?<=@)\d{13}$", lambda at: str(int(at[0]) + later), one) for one in event["subscriptions"]
            ]
    evidence = sorted({*one.header.get("evidence", ())} & {*header.get("evidence", ())})
    return Recording(
        name=f"{one.name}+{other.name}",
        header={
            **one.header,
            "evidence": evidence,
            "groups": {**one.header.get("groups", {}), **header.get("groups", {})},
            "complete": bool(one.header.get("complete") and header.get("complete")),
        },
        events=by_time(sorted([*one.events, *events], key=lambda event: int(event["time"]))),
        parts=(one, other),
    )


SIMULATED: Mapping[str, Mapping[str, Any]] = {
    "churn": {"churn": 6, "failure_rate": 0.05},
    "faults": {"churn": 3, "broker_restarts": 2, "resets": 2, "corrections": 2, "failure_rate": 0.05},
    "orderly": {"churn": 6, "group_kind": "orderly", "failure_rate": 0.02},
    "broadcasting": {"churn": 6, "group_kind": "broadcasting"},
} | {mutant.id: {"mutant": mutant.id, "group_kind": mutant.kinds[0], "mutant_places": 2} for mutant in MUTANTS.values()}
"""How small simulated clusters differ from the usual ones: healthy ones, and one with each known bug."""

WALKED: Mapping[str, Mapping[str, int | str]] = {
    "moves": {"messages": 3, "moves": 2, "crashes": 1, "failures": 2, "orphans": 1, "leaves": 1, "restarts": 1},
    "batches": {"messages": 4, "batch": 2, "pull_batch": 2, "failures": 3, "refusals": 1, "moves": 1, "orphans": 1},
    "retries": {"queues": 2, "messages": 3, "retry_room": 2, "copies": 3, "failures": 3, "attempts": 2, "moves": 1},
    "broker-restart": {"messages": 3, "broker_restarts": 1, "moves": 1, "crashes": 1},
    "reset": {"messages": 3, "resets": 1, "corrections": "steps", "piggyback": 1, "moves": 1},
    "orderly": {"listener": "orderly", "clock": "stopped", "messages": 3, "moves": 1},
}
"""Configurations of the model whose random runs are recorded."""

WALKS = 2
"""Runs of each."""

SEED = int(os.environ.get("ROCKETPROOF_TRUST_SEED", "1"))
"""What chance begins with: simulated clusters, walks of the model, changes of recordings."""


def with_memory(simulated: Recording) -> Recording:
    """A simulated recording as the agent would have made it: what a client stores was in its own table before, and
    what a broker delivers later has its due time.

    Without that nothing bounds how far the clocks of clients are ahead of those of brokers, and nothing shows by which
    clock due times are.
    """
    events: list[Event] = []
    due: dict[tuple[Any, ...], list[int]] = {}
    for event in simulated.events:
        if event["kind"] in (Kind.DELAY_STORE, Kind.DELAY_DELIVER):
            waiting = due.setdefault((event.get("broker"), event.get("origin"), event.get("attempt")), [])
            if event["kind"] == Kind.DELAY_STORE:
                waiting.append(event["due"])
            elif waiting:
                event = {**event, "due": waiting.pop(0)}
        if event["kind"] == Kind.COMMIT and event.get("client") and event.get("path") in _SENT:
            told = {name: value for name, value in event.items() if name != "path"}
            events.append({**told, "kind": str(Kind.COMMIT_MEMORY)})
        events.append(event)
    evidence = sorted({*simulated.header["evidence"], str(Kind.COMMIT_MEMORY)})
    numbered = [{**event, "seq": seq} for seq, event in enumerate(events)]
    return replace(simulated, header={**simulated.header, "evidence": evidence}, events=numbered)


_SENT = frozenset({"periodic", "piggyback", "removal", "shutdown", "file"})
"""Paths by which clients store offsets of their own accord."""


def _by_clients(found: Recording) -> Recording:
    """A recording in which clients wrote the offsets that they sent, if no broker wrote anything."""
    if any(event["kind"] in OF_BROKERS for event in found.events):
        return found
    events = [
        {**event, "recorder": f"{event['client']}#{event.get('incarnation') or 0}"}
        if event["kind"] == Kind.COMMIT and event.get("client")
        else event
        for event in found.events
    ]
    return replace(found, events=events)


def names() -> list[str]:
    """The names of all recordings, in order."""
    samples = {sample.name: sample for sample in map(Recording.read, sorted(FOLDER.glob("*.jsonl.zst")))}
    alike: dict[tuple[Any, Any], list[str]] = {}
    for name, sample in samples.items():
        alike.setdefault((sample.header.get("release"), sample.header.get("delays")), []).append(name)
    pairs = [f"{one}+{other}" for those in alike.values() for one, other in zip(those[::2], those[1::2], strict=False)]
    walks = [f"walked {name} {seed}" for name in WALKED for seed in range(SEED - 1, SEED - 1 + WALKS)]
    return [*samples, *pairs, *(f"simulated {name}" for name in SIMULATED), *walks]


def recording(name: str) -> Recording:
    """The recording of a name."""
    kind, _, which = name.partition(" ")
    with tempfile.TemporaryDirectory(prefix="rocketproof-recording-") as folder:
        if kind == "simulated":
            size = {"messages": 300, "consumers": 3, "queues": 4, "format": "jsonl", "seed": SEED}
            path = Path(simulate(Plan(out=Path(folder, "out"), **{**size, **SIMULATED[which]})).trace)
        elif kind == "walked":
            which, _, seed = which.partition(" ")
            machine = PlainMachine(lower(consumption.configure(**WALKED[which])))
            run = record_run(random_run(machine, int(seed), 400))
            path = Path(folder, "run.jsonl")
            write_jsonl(path, run.header, run.events)
        elif "+" in name:
            return merged(*map(recording, name.split("+")))
        else:
            path = FOLDER / f"{name}.jsonl.zst"
        found = replace(Recording.read(path), name=name)
    if kind != "simulated":
        return _by_clients(found)
    return with_memory(replace(found, has_bug="mutant" in SIMULATED[which]))
