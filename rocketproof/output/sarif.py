"""SARIF 2.1.0: remarks in the form that code-scanning services read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..traces.format.printable import json_text
from .row import Place, Remark, ReportRow, RowStatus, Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

Object = dict[str, Any]


def as_sarif(rows: Sequence[ReportRow], files: Sequence[str]) -> str:
    """A log of one run: a rule for each id with a remark, and a result for each remark.

    Rows that are fine are left out: nobody has to act on them. An unknown row is, besides its remarks, a notification
    of the run, so that it does not look like a pass; an accepted one is suppressed.
    """
    shown = [row for row in rows if row.remarks]
    rules: dict[str, ReportRow] = {}
    for row in shown:
        rules.setdefault(row.id, row)
    positions = {id: place for place, id in enumerate(rules)}
    notifications = [
        {
            "level": "warning",
            "message": {"text": row.message},
            "locations": [_location(row.place or row.remarks[0].place)],
            "associatedRule": {"id": row.id, "index": positions[row.id]},
        }
        for row in shown
        if row.status is RowStatus.UNKNOWN
    ]
    run = {
        "tool": {
            "driver": {
                "name": "rocketproof",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(row, shown) for row in rules.values()],
            }
        },
        "invocations": [{"executionSuccessful": not notifications, "toolExecutionNotifications": notifications}],
        "artifacts": [{"location": {"uri": _uri(file)}} for file in files],
        "columnKind": "unicodeCodePoints",
        "results": [_result(row, remark, positions[row.id]) for row in shown for remark in row.remarks],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(row: ReportRow, rows: Sequence[ReportRow]) -> Object:
    """The rule for a row; its usual level is the worst of what was found, or an error if that is open."""
    found = [remark.severity for other in rows if other.id == row.id for remark in other.remarks]
    worst = max(filter(None, found), default=Severity.ERROR)
    return {
        "id": row.id,
        "name": "".join(part.capitalize() for part in row.id.split("-")),
        "shortDescription": {"text": row.statement},
        "fullDescription": {"text": row.statement},
        "help": {"text": f"{row.statement} Rules of RocketMQ: {', '.join(row.rules) or 'none'}."},
        "defaultConfiguration": {"level": str(worst)},
        "properties": {"tags": ["rocketmq", *row.tags]},
    }


def _result(row: ReportRow, remark: Remark, index: int) -> Object:
    name = f"{remark.subject}::{row.id}"
    named = {"logicalLocations": [{"name": remark.subject, "fullyQualifiedName": name}]}
    result: Object = {
        "ruleId": row.id,
        "ruleIndex": index,
        "kind": "open" if remark.severity is None else "fail",
        "level": "none" if remark.severity is None else str(remark.severity),
        "message": {"text": remark.text},
        "locations": [_location(remark.place) | named],
        "partialFingerprints": {"check/v1": hashlib.sha256(f"{name}::{remark.identity}".encode()).hexdigest()},
    }
    if remark.steps:
        steps = [
            {"location": {**_location(step.place), "message": {"text": step.text}}, "executionOrder": number}
            for number, step in enumerate(remark.steps, start=1)
        ]
        flow = {"message": {"text": "What happens, step by step."}, "threadFlows": [{"locations": steps}]}
        result["codeFlows"] = [flow]
    if row.accepted:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": row.accepted}]
    return result


def _location(place: Place) -> Object:
    """A line of a file."""
    region = {"startLine": place.line}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": region}}


def _uri(file: str) -> str:
    """A file as a URI: absolute paths with their scheme, others as they are."""
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
