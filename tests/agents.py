"""Files as the agents write them, made by hand: what the tests of joining and capturing read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.io import open_trace
from rocketproof.traces.recorders.processes import Death

CLIENT_KINDS = (
    Kind.CLIENT_START,
    Kind.CLIENT_STOP,
    Kind.HEARTBEAT,
    Kind.REBALANCE,
    Kind.ASSIGN,
    Kind.REVOKE,
    Kind.OFFSET_QUERY,
    Kind.COMMIT,
    Kind.PULL,
    Kind.PULL_RESULT,
    Kind.DELIVER,
    Kind.RESULT,
    Kind.SEND_BACK,
    Kind.GAP,
)
BROKER_KINDS = (Kind.BROKER_START, Kind.BROKER_STOP, Kind.MEMBERS, Kind.COMMIT, Kind.STORE, Kind.GAP)
QUEUE = {"group": "orders", "topic": "order", "broker": "broker-a", "queue": 0}

Line = Mapping[str, Any]


def at(micros: int, kind: str, **fields: Any) -> Line:
    """An event so many µs after a second began."""
    return {"time": 1_700_000_000_000 + micros // 1000, "micros": micros % 1000, "kind": kind, **fields}


def client(name: str) -> dict[str, Any]:
    """Fields of what a client does with the one queue of these tests."""
    return {"client": name, **QUEUE}


def write(folder: Path, name: str, events: Sequence[Line], **header: Any) -> Path:
    """A file of an agent: header, then events, ``seq`` counted."""
    kinds = BROKER_KINDS if name.startswith("broker-") else CLIENT_KINDS
    stated = {"rocketproof_trace": 1, "source": "agent", "evidence": list(map(str, kinds)), **header}
    lines = [stated, *({**event, "seq": seq} for seq, event in enumerate(events))]
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Header and events of a trace in JSONL."""
    header, *events = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return header, events


def split_into_recordings(trace: Path, folder: Path) -> list[Death]:
    """A joined trace as the files that its agents may have written; returns the deaths in it.

    What a broker stored of the commits of a client was recorded by both.
    """
    header = open_trace([trace]).header
    files: dict[str, list[dict[str, Any]]] = {}
    processes: dict[tuple[str, int], int] = {}
    deaths: dict[int, Death] = {}

    def of_client(event: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        pid = processes.setdefault((event["client"], event.get("incarnation") or 0), 100 + len(processes))
        files.setdefault(f"client-{pid}-{event['group']}.jsonl", []).append({**fields})

    for batch in open_trace([trace]).sorted_batches():
        for row in batch.to_pylist():
            event = {name: value for name, value in row.items() if value is not None and name != "seq"}
            kind, micros = event["kind"], len(files) % 1000
            if kind in ("client_crash", "broker_crash", "gap"):
                if kind == "client_crash":
                    pid = processes[event["client"], event.get("incarnation") or 0]
                    deaths[pid] = Death(pid=pid, time=event["time"])
                continue
            event["micros"] = micros
            by_broker = kind in BROKER_KINDS or kind.startswith(("delay", "dead", "broker"))
            if "client" in event and (not by_broker or kind == "commit"):
                of_client(event, event)
            if by_broker:
                known = {name: value for name, value in event.items() if name not in ("incarnation", "epoch")}
                if known.get("path") not in ("piggyback", "file", "reset"):
                    known.pop("path", None)
                files.setdefault(f"broker-9-{event['broker']}.jsonl", []).append(known)
    for name, events in files.items():
        evidence = [str(kind) for kind in header.evidence if not str(kind).endswith("crash")]
        groups = {group: vars(known) for group, known in header.groups.items()}
        write(folder, name, events, evidence=evidence, groups=groups, release=header.release, delays=header.delays)
    return list(deaths.values())
