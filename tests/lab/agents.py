"""Files as the agents write them, made by hand: what the tests of joining and capturing read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocketproof.traces.format.kinds import Kind

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
