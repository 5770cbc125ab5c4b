"""SARIF 2.1.0: what findings of any kind have in common in the form that code-scanning services read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..traces.format.printable import json_text

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

Object = dict[str, Any]


def as_log(
    *, rules: Sequence[Object], results: Sequence[Object], files: Sequence[str], notifications: Sequence[Object] = ()
) -> str:
    """A log of one run.

    Args:
        rules: what was checked, see :func:`rule`.
        results: what was found, see :func:`result`.
        files: what was looked at.
        notifications: what could not be decided; the run is successful without any, see :func:`notification`.
    """
    run = {
        "tool": {
            "driver": {
                "name": "rocketproof",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": list(rules),
            }
        },
        "invocations": [{"executionSuccessful": not notifications, "toolExecutionNotifications": list(notifications)}],
        "artifacts": [{"location": {"uri": uri(file)}} for file in files],
        "columnKind": "unicodeCodePoints",
        "results": list(results),
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(log) + "\n"


def rule(id: str, statement: str, *, rests_on: Sequence[str], level: str, tags: Sequence[str]) -> Object:
    """One thing that is checked.

    Args:
        id: short name with dashes.
        statement: what is checked, in a sentence.
        rests_on: rules of RocketMQ.
        level: usual level of its results.
        tags: what it is about.
    """
    return {
        "id": id,
        "name": "".join(part.capitalize() for part in id.split("-")),
        "shortDescription": {"text": statement},
        "fullDescription": {"text": statement},
        "help": {"text": f"{statement} Rules of RocketMQ: {', '.join(rests_on) or 'none'}."},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": list(tags)},
    }


def result(
    rule: str, index: int, *, kind: str, level: str, text: str, where: Object, subject: str, identity: str
) -> Object:
    """One finding, or the statement that there is none.

    Args:
        rule: id of what was checked.
        index: place of it among the rules.
        kind: ``fail``, ``pass``, ``open`` or ``notApplicable``.
        level: ``error``, ``warning``, ``note`` or ``none``.
        text: what is to be said.
        where: its location.
        subject: what is concerned, such as a group or a queue.
        identity: what tells it from other findings of the same rule and subject, in this run and in later ones.
    """
    named = {"logicalLocations": [{"name": subject, "fullyQualifiedName": f"{subject}::{rule}"}]}
    return {
        "ruleId": rule,
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": {"text": text},
        "locations": [where | named],
        "partialFingerprints": {"check/v1": hashlib.sha256(f"{subject}::{rule}::{identity}".encode()).hexdigest()},
    }


def notification(rule: str, index: int, *, text: str, where: Object) -> Object:
    """Something that could not be decided, so that it is not taken for a pass."""
    return {
        "level": "warning",
        "message": {"text": text},
        "locations": [where],
        "associatedRule": {"id": rule, "index": index},
    }


def code_flow(text: str, steps: Sequence[tuple[Object, str]]) -> Object:
    """A run of events: each with its location and what happened."""
    locations = [
        {"location": {**where, "message": {"text": told}}, "executionOrder": place}
        for place, (where, told) in enumerate(steps, start=1)
    ]
    return {"message": {"text": text}, "threadFlows": [{"locations": locations}]}


def location(file: str, line: int) -> Object:
    """A line of a file."""
    return {"physicalLocation": {"artifactLocation": {"uri": uri(file)}, "region": {"startLine": line}}}


def uri(file: str) -> str:
    """A file as a URI: absolute paths with their scheme, others as they are."""
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
