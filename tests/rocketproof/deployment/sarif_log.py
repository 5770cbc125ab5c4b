"""The part of SARIF 2.1.0 that rocketproof writes, as a JSON Schema in words of our own: nothing else may occur."""

from typing import Any


def record(*required: str, **fields: Any) -> dict[str, Any]:
    """An object with these fields and no others; those named first must be there."""
    return {"type": "object", "required": list(required), "properties": fields, "additionalProperties": False}


def listing(item: dict[str, Any], at_least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": at_least}


TEXT = {"type": "string", "minLength": 1}
PLACE = {"type": "integer", "minimum": 0}
MESSAGE = record("text", text=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
ARTIFACT = record("uri", uri={"type": "string", "format": "uri-reference"})
PHYSICAL = record(
    "artifactLocation",
    "region",
    artifactLocation=ARTIFACT,
    region=record("startLine", startLine={"type": "integer", "minimum": 1}),
)
LOCATION = record(
    "physicalLocation",
    physicalLocation=PHYSICAL,
    message=MESSAGE,
    logicalLocations=listing(record("name", "fullyQualifiedName", name=TEXT, fullyQualifiedName=TEXT), 1),
)
RULE = record(
    "id",
    "shortDescription",
    "defaultConfiguration",
    id=TEXT,
    name=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=record("level", level=LEVEL),
    properties=record("tags", tags=listing(TEXT)),
)
STEP = record("location", "executionOrder", location=LOCATION, executionOrder={"type": "integer", "minimum": 1})
FLOW = record("threadFlows", message=MESSAGE, threadFlows=listing(record("locations", locations=listing(STEP, 1)), 1))
SUPPRESSION = record(
    "kind",
    "justification",
    kind={"enum": ["inSource", "external"]},
    status={"enum": ["accepted", "underReview", "rejected"]},
    justification=TEXT,
)
RESULT = {
    **record(
        "ruleId",
        "ruleIndex",
        "kind",
        "level",
        "message",
        "locations",
        "partialFingerprints",
        ruleId=TEXT,
        ruleIndex=PLACE,
        kind={"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
        level=LEVEL,
        message=MESSAGE,
        locations=listing(LOCATION, 1),
        partialFingerprints={"type": "object", "additionalProperties": TEXT},
        codeFlows=listing(FLOW, 1),
        suppressions=listing(SUPPRESSION, 1),
    ),
    # Only a failure has a level (section 3.27.10 of the specification).
    "if": {"properties": {"kind": {"not": {"const": "fail"}}}},
    "then": {"properties": {"level": {"const": "none"}}},
}
NOTIFICATION = record(
    "level",
    "message",
    "associatedRule",
    level=LEVEL,
    message=MESSAGE,
    locations=listing(LOCATION, 1),
    associatedRule=record("id", "index", id=TEXT, index=PLACE),
)
RUN = record(
    "tool",
    "invocations",
    "results",
    tool=record(
        "driver", driver=record("name", "rules", name=TEXT, version=TEXT, semanticVersion=TEXT, rules=listing(RULE))
    ),
    invocations=listing(
        record(
            "executionSuccessful",
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=listing(NOTIFICATION),
        ),
        1,
    ),
    artifacts=listing(record("location", location=ARTIFACT)),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=listing(RESULT),
)
LOG = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **record("version", "runs", **{"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": listing(RUN, 1)}),
}
