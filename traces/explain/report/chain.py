"""Messages whose attempts a report draws: those of violations, then those with most attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....model.retry_policy import maximum_sent
from ...claims.claim import Monitor
from ...claims.claims import CLAIMS
from ...engine.findings import Note
from ...engine.result import CheckResult
from ...format.message_status import MessageStatus
from ...format.schema import Group
from ...io import Trace
from ..evidence import Question, collect
from ..message_attempts import Attempt, attempts_of
from ..sentences import Event
from .tables import words_of
from .words import counted

MOST = 8
"""Maximum number of such messages in a report."""

_OF_MESSAGES = [code for code, claim in enumerate(CLAIMS) if claim.monitor is Monitor.MESSAGES]
_BY_DEFAULT = Group()


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The attempts of a message for one group."""

    title: str  # the name to show
    attempts: Sequence[Attempt]  # its deliveries, by time; at least one


def chains(result: CheckResult, trace: Trace, *, most: int = MOST) -> list[Chain]:
    """The attempts of a few messages. Reads the trace once, unless there is no such message."""
    origins = _chosen(result, most)
    if not origins:
        return []
    found = collect(trace, [Question(origin=origin) for origin in origins], result.names)
    told = []
    for origin, events in zip(origins, found, strict=True):
        own = [each.event for each in events if each.origin == origin]
        for group in sorted({event["group"] for event in own if event.get("group")}):
            told += _chain(origin, group, own, result)
    return told


def _chosen(result: CheckResult, most: int) -> list[int]:
    """The first message of each violated claim, then the second of each, …; then those tried most often."""
    violations = result.violations
    violations = violations[np.isin(violations["claim"], _OF_MESSAGES) & (violations["origin"] != 0)]
    place = np.arange(len(violations)) - np.searchsorted(violations["claim"], violations["claim"])
    by_turns = violations[np.lexsort([violations["claim"], place])]["origin"]
    tried = result.rows[(result.rows["note"] == Note.CHAIN) & (result.rows["origin"] != 0)]
    tried = tried[np.lexsort([tried["origin"], -tried["expected"]])]["origin"]
    return list(dict.fromkeys(np.concatenate([by_turns[: most * most], tried[:most]]).tolist()))[:most]


def _chain(origin: int, group: str, events: Sequence[Event], result: CheckResult) -> list[Chain]:
    known = result.header.groups.get(group, _BY_DEFAULT)
    own = [event for event in events if event.get("group") in (group, None)]
    named = (int(maximum_sent(e["max_attempts"])) for e in own if e.get("max_attempts") is not None)
    attempts = attempts_of(own, next(named, known.maximum), result.settings, orderly=known.listener == "orderly")
    if not attempts:
        return []
    key = next((event["key"] for event in own if event.get("key")), str(origin))
    rows = result.rows
    noted = rows[(rows["note"] == Note.CHAIN) & (rows["origin"] == origin)]
    statuses = [
        words_of(MessageStatus)[int(row["value"])] for row in noted if result.names.slots[row["slot"]].group == group
    ]
    title = ", ".join([f"message {key} of {group}", counted(len(attempts), "delivery", "deliveries"), *statuses[:1]])
    return [Chain(title=title, attempts=attempts)]
