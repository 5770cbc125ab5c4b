"""A cause explains only where what would refute it was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.io import open_trace

Event = dict[str, Any]
SECOND = 1_000


def event(at: int, kind: Kind, client: str = "", **fields: Any) -> Event:
    who = {"client": client, "group": "G"} if client else {}
    return {"time": 1_700_000_000_000 + at, "kind": str(kind), **who, "topic": "T", "broker": "b", "queue": 0, **fields}


def broker(at: int, kind: Kind) -> Event:
    return {"time": 1_700_000_000_000 + at, "kind": str(kind), "broker": "b"}


def pulled(at: int, client: str, offset: int, until: int) -> Event:
    """The answer to a pull, which ends at the end of the queue."""
    how = "found" if until > offset else "no_new_message"
    counts = {"next": until, "min": 0, "max": until, "count": until - offset}
    return event(at, Kind.PULL_RESULT, client, offset=offset, result=how, **counts)


def handled(since: int, client: str, offsets: range) -> list[Event]:
    """Messages that a listener handles, one after another."""
    return [
        event(since + 20 * place + 10 * ended, kind, client, offset=offset, key=f"K{offset}", attempt=0, **result)
        for place, offset in enumerate(offsets)
        for ended, (kind, result) in enumerate([(Kind.DELIVER, {}), (Kind.RESULT, {"result": "ok"})])
    ]


OWNED = [
    event(SECOND, Kind.ASSIGN, "A", offset=0),
    event(SECOND, Kind.PULL, "A", offset=0),
    pulled(SECOND + 100, "A", 0, 10),
    *handled(2 * SECOND, "A", range(10)),
    event(4 * SECOND, Kind.COMMIT, "A", offset=10, path="periodic"),
]
TAKEN = [event(10 * SECOND, Kind.REVOKE, "A", path="removal"), event(11 * SECOND, Kind.ASSIGN, "B", offset=5)]

BEGUN_LOW = [broker(0, Kind.BROKER_START), *OWNED, *TAKEN, *handled(12 * SECOND, "B", range(5, 10))]
"""B begins below what is stored."""

READ_LOW = [
    *OWNED,
    broker(10 * SECOND, Kind.BROKER_STOP),
    broker(20 * SECOND, Kind.BROKER_START),
    event(30 * SECOND, Kind.COMMIT, "A", offset=5, path="periodic"),
]
"""A broker that was stopped in order comes back, and A stores less."""

SENT_LOW = [
    *OWNED,
    event(6 * SECOND, Kind.PULL, "A", offset=10),
    pulled(7 * SECOND, "A", 10, 10),
    event(10 * SECOND, Kind.REVOKE, "A", path="removal"),
    event(11 * SECOND, Kind.COMMIT, "A", offset=5, path="removal"),
]
"""A gives its queue up, and stores less than it knew to be stored."""


@pytest.mark.parametrize(
    ("events", "claim", "refuting"),
    [
        (BEGUN_LOW, "every-duplicate-has-a-cause", Kind.COMMIT),
        (READ_LOW, "offset-never-back-without-cause", Kind.BROKER_STOP),
        (SENT_LOW, "offset-never-back-without-cause", Kind.PULL_RESULT),
    ],
)
def test_what_only_a_missing_kind_would_refute_does_not_hold(
    events: list[Event], claim: str, refuting: Kind, tmp_path: Path
) -> None:
    def verdict(without: Kind | None) -> Verdict:
        evidence = sorted(kind for kind in Kind if kind is not without)
        header = {"rocketproof_trace": 1, "evidence": evidence, "complete": True}
        lines = [header, *({**one, "seq": at} for at, one in enumerate(events) if one["kind"] != without)]
        path = tmp_path / "trace.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
        return check_locally(open_trace([path]), settings=Settings()).verdict(claim).verdict

    assert verdict(None) is Verdict.VIOLATED
    assert verdict(refuting) in (Verdict.UNKNOWN, Verdict.NOT_OBSERVABLE)
