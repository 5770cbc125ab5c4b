"""SARIF 2.1.0: the answers in the form that code-scanning services read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..checkers.run import told
from .judge import Answer, Check, Level
from .report import explanation, first_text

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Level.OK: "none", Level.NOTE: "note", Level.WARNING: "warning", Level.ERROR: "error", Level.UNKNOWN: "none"}
_KINDS = {Level.OK: "pass", Level.UNKNOWN: "open"}


def as_sarif(answers: Sequence[Answer], file: str) -> str:
    """A SARIF log with one rule for each kind of check and a result for each answer.

    A result that is fine has kind ``pass``, an unknown one kind ``open`` and a notification of the run, so that it is
    not taken for a pass; an accepted one is suppressed. The location is the line of the file, a story a code flow.
    """
    rules: dict[str, Check] = {}
    for answer in answers:
        rules.setdefault(answer.check.id, answer.check)
    places = {name: place for place, name in enumerate(rules)}
    unknown = [answer for answer in answers if answer.level is Level.UNKNOWN]
    run = {
        "tool": {
            "driver": {
                "name": "rocketproof",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(check, answers) for check in rules.values()],
            }
        },
        "invocations": [
            {
                "executionSuccessful": not unknown,
                "toolExecutionNotifications": [
                    {
                        "level": "warning",
                        "message": {"text": first_text(answer)},
                        "locations": [_location(file, answer.line)],
                        "associatedRule": {"id": answer.check.id, "index": places[answer.check.id]},
                    }
                    for answer in unknown
                ],
            }
        ],
        "artifacts": [{"location": {"uri": _uri(file)}}],
        "columnKind": "unicodeCodePoints",
        "results": [result for answer in answers for result in _results(answer, file, places)],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def _rule(check: Check, answers: Sequence[Answer]) -> dict[str, Any]:
    worst = max(
        (answer.level for answer in answers if answer.check.id == check.id and answer.level is not Level.UNKNOWN),
        default=Level.OK,
    )
    kind = "property" if check.is_property else "misconfiguration"
    return {
        "id": check.id,
        "name": "".join(part.capitalize() for part in check.id.split("-")),
        "shortDescription": {"text": check.statement},
        "fullDescription": {"text": check.statement},
        "help": {"text": f"{check.statement} Rules of RocketMQ: {', '.join(check.rules) or 'none'}."},
        "defaultConfiguration": {"level": _LEVELS[worst] if worst is not Level.OK else "error"},
        "properties": {"tags": ["rocketmq", kind]},
    }


def _results(answer: Answer, file: str, places: dict[str, int]) -> list[dict[str, Any]]:
    """A result for each reason of a mistake, and one for everything else: each points to a line of its own."""
    if answer.check.is_property or not answer.reasons:
        text = f"{answer.check.subject}: {answer.check.statement}"
        if answer.level not in (Level.OK,):
            text = explanation(answer, file)
        return [_result(answer, answer.level, answer.line, text, file, places)]
    return [
        _result(
            answer,
            Level(reason.severity),
            reason.line,
            f"{answer.check.subject}: {reason.text}\nfix: {reason.fix}",
            file,
            places,
        )
        for reason in answer.reasons
    ]


def _result(answer: Answer, level: Level, line: int, text: str, file: str, places: dict[str, int]) -> dict[str, Any]:
    check = answer.check
    result: dict[str, Any] = {
        "ruleId": check.id,
        "ruleIndex": places[check.id],
        "kind": _KINDS.get(level, "fail"),
        "level": _LEVELS[level],
        "message": {"text": text},
        "locations": [
            {
                **_location(file, line),
                "logicalLocations": [{"name": check.subject, "fullyQualifiedName": f"{check.subject}::{check.id}"}],
            }
        ],
        "partialFingerprints": {
            "check/v1": hashlib.sha256(f"{check.subject}::{check.id}::{text}".encode()).hexdigest()
        },
    }
    flow = _flow(answer, file, line)
    if flow and level not in _KINDS:
        result["codeFlows"] = [flow]
    if answer.accepted:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": answer.accepted}]
    return result


def _flow(answer: Answer, file: str, line: int) -> dict[str, Any] | None:
    """The story of a run, step by step; all steps belong to the line that describes the group."""
    run = answer.outcome.result.run if answer.outcome is not None else None
    if run is None:
        return None
    steps = []
    for place, (sentence, changes) in enumerate(told(run).steps):
        text = "\n".join([f"{place + 1}. {sentence}", *changes])
        steps.append({"location": {**_location(file, line), "message": {"text": text}}, "executionOrder": place + 1})
    if not steps:
        steps.append({"location": {**_location(file, line), "message": {"text": "It is so from the start."}}})
    return {"message": {"text": "A run of the model that shows it."}, "threadFlows": [{"locations": steps}]}


def _location(file: str, line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": line}}}


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
