"""The attempts of messages in a report: of those of violations, then of those with most attempts; and their drawing:
when each was delivered, how it ended, and when it was expected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from ....model.retry_policy import maximum_sent
from ...claims.claim import Monitor
from ...claims.claims import CLAIMS
from ...engine.findings import Note
from ...engine.result import CheckResult
from ...format.kinds import FAILURES, SUCCESSES, Result
from ...format.message_status import MessageStatus
from ...format.schema import Group
from ...io import Trace
from ..evidence import Question, collect
from ..message_attempts import Attempt, attempts_of
from ..sentences import Event
from .charts import Axis, box, mark, strip, told
from .tables import words_of
from .words import counted, span, utc

MOST = 8
"""Maximum number of such messages in a report."""

_LINE = 22

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
    drawn: list[Chain] = []
    for origin, events in zip(origins, found, strict=True):
        own = [each.event for each in events if each.origin == origin]
        for group in sorted({event["group"] for event in own if event.get("group")}):
            drawn += _chain(origin, group, own, result)
    return drawn


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


def draw(attempts: Sequence[Attempt]) -> Markup:
    """One line for each attempt: the expected wait as a bar, the delivery as a dot."""
    expected = list(_expected(attempts))
    times = [attempt.time for attempt in attempts] + [until for wait in expected if wait for until in wait]
    margin = max((max(times) - min(times)) // 50, 1)
    axis = Axis(min(times) - margin, max(times) + margin)
    lines = []
    for attempt, wait in zip(attempts, expected, strict=True):
        drawn = []
        if wait:
            since, until = wait
            tip = told(f"at least {span(until - since)} after the failure before", utc(until))
            drawn.append(box(axis.place(since), axis.place(until), top=8, height=6, css="wait", tip=tip))
        number = "?" if attempt.number is None else str(attempt.number)
        early = f"{span(wait[1] - attempt.time)} too early" if wait and attempt.time < wait[1] else ""
        tip = told(f"attempt {number} {attempt.result}".strip(), early, attempt.place, str(attempt.client),
                   utc(attempt.time))  # fmt: skip
        css = "early" if early else _colour(attempt.result)
        drawn.append(mark(axis.place(attempt.time), y=11, css=css, tip=tip, radius=5))
        name = Markup('<div class="name">attempt {} <small>{}</small></div>').format(number, attempt.result)
        lines.append(Markup('<div class="lane">{}{}</div>').format(name, strip(drawn, height=_LINE)))
    head = Markup('<div class="lane"><div class="name"></div>{}</div>').format(axis.draw())
    return Markup('<div class="lanes own-axis">{}{}</div>').format(head, Markup("").join(lines))


def _expected(attempts: Sequence[Attempt]) -> Iterator[tuple[int, int] | None]:
    """For each attempt, from when to when it had to wait; None for the first one, and if this is not known."""
    for before, _ in zip((None, *attempts), attempts, strict=False):
        if before is None or before.expected_wait is None:
            yield None
        else:
            failed = before.time + (before.took or 0)
            yield failed, failed + before.expected_wait


def _colour(result: str) -> str:
    words = {str(word) for word in FAILURES}
    if result in words | {str(Result.SUSPEND)}:
        return "failed"
    return "succeeded" if result in {str(word) for word in SUCCESSES} else "dim"
