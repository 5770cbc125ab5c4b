"""Processes of one client id that a log and other files number, each by itself, are not told apart (EN-7)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.format.coverage import Hole
from rocketproof.traces.io import open_trace

QUEUE = {"group": "G", "topic": "T", "broker": "b", "queue": 0}
JOINED = ["client_start", "client_stop", "client_crash", "assign", "revoke", "commit"]
LOG = ["assign", "revoke", "commit"]


def file(path: Path, evidence: list[str], *events: dict[str, Any]) -> Path:
    lines = [{"rocketproof_trace": 1, "evidence": evidence}, *events]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def acts(time: int, kind: str, client: str, number: int = 0) -> dict[str, Any]:
    return {"time": time, "kind": kind, "client": client, "incarnation": number, **QUEUE}


def holes(*paths: Path) -> list[Hole]:
    found = check_locally(open_trace(list(paths)), settings=Settings()).coverage.holes
    return [hole for hole in found if hole.why.startswith("a log and other files")]


def test_a_client_id_of_several_processes_in_a_log_and_elsewhere_is_a_hole(tmp_path: Path) -> None:
    joined = file(
        tmp_path / "a.jsonl", JOINED, acts(1_000, "assign", "h@DEFAULT"), acts(2_000, "assign", "h@DEFAULT", 1)
    )
    log = file(tmp_path / "b.jsonl", LOG, acts(1_500, "revoke", "h@DEFAULT"))
    (hole,) = holes(joined, log)
    assert (hole.recorder, hole.group) == ("h@DEFAULT", "G")
    assert holes(joined) == holes(log) == []


def test_a_broker_that_names_who_committed_numbers_nothing(tmp_path: Path) -> None:
    pieces = [file(tmp_path / f"{n}.jsonl", JOINED, acts(1_000 * n, "assign", "two", n)) for n in (1, 2)]
    stored = (acts(1_000 * n + 1, "commit", "two", n) | {"offset": n} for n in (1, 2))
    assert holes(*pieces, file(tmp_path / "broker.jsonl", ["broker_start", "commit"], *stored)) == []


def test_one_process_or_files_that_number_alike_are_none(tmp_path: Path) -> None:
    one = file(tmp_path / "a.jsonl", JOINED, acts(1_000, "assign", "one"), acts(3_000, "commit", "one") | {"offset": 1})
    log = file(tmp_path / "b.jsonl", LOG, acts(1_500, "revoke", "one"))
    assert holes(one, log) == []
    pieces = [file(tmp_path / f"{n}.jsonl", JOINED, acts(1_000 * n, "assign", "two", n)) for n in (1, 2)]
    assert holes(*pieces) == []
