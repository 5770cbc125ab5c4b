"""Answers of checks, made up: what a report shows does not depend on how it was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rocketproof.model.history import Cause, Regression
from rocketproof.traces.claims.claims import CODE, claim
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.engine.context import Context
from rocketproof.traces.engine.findings import ROW, Doubt, Note, sort_rows
from rocketproof.traces.engine.result import CheckResult, verdicts
from rocketproof.traces.explain.source_lines import Place
from rocketproof.traces.explain.story import CERTAIN, Sentence, Story
from rocketproof.traces.format.coverage import Coverage, evidence_mask
from rocketproof.traces.format.kinds import Kind, Path, codes
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.format.schema import ABSENT, Group, Header
from rocketproof.traces.io import Problems
from rocketproof.traces.monitors.fold import Outcome, nothing
from rocketproof.traces.monitors.queues.ownership import End

BEGIN = 1_772_366_400_000
"""2026-03-01 12:00 UTC."""

SECOND, MINUTE = 1000, 60_000
PATH = codes(Path)


class Rows:
    """Findings, written down one by one."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.kept: list[Any] = []

    def add(
        self,
        *,
        claim: str = "",
        note: Note = Note.NONE,
        cause: int = 0,
        doubt: Doubt = Doubt.NONE,
        slot: Slot | None = None,
        actor: Actor | None = None,
        other: Actor | None = None,
        **numbers: int,
    ) -> None:
        row = np.zeros((), ROW)
        row["claim"] = CODE[claim] if claim else -1
        row["note"], row["cause"], row["doubt"] = note, cause, doubt
        row["slot"] = self.names.slot(slot) if slot else -1
        row["actor"] = self.names.actor(actor) if actor else -1
        row["other"] = self.names.actor(other) if other else -1
        for name in ("offset", "until", "since", "time", "value", "expected"):
            row[name] = numbers.pop(name, ABSENT)
        row["origin"] = numbers.pop("origin", 0)
        assert not numbers, numbers
        self.kept.append(row)

    def sorted(self) -> Any:
        return sort_rows(np.array(self.kept, ROW)) if self.kept else np.empty(0, ROW)


def result(
    rows: Rows,
    *,
    judged: Mapping[str, int] | None = None,
    statuses: Mapping[MessageStatus, int] | None = None,
    evidence: Iterable[Kind] = Kind,
    events: Iterable[Mapping[str, Any]] = (),
    header: Header | None = None,
    problems: Problems | None = None,
    end: int = BEGIN + 30 * MINUTE,
    files: tuple[str, ...] = ("run.jsonl",),
) -> CheckResult:
    """The answer of a check that found ``rows``; every claim was judged once, or as often as is said."""
    found, names = rows.sorted(), rows.names
    outcome = nothing(len(names.slots))
    violations = found[(found["claim"] >= 0) & (found["note"] == Note.NONE) & (found["cause"] == 0)]
    table = outcome.statuses
    if statuses:
        table = np.zeros((max(len(names.slots), 1), len(MessageStatus)), np.int64)
        for status, count in statuses.items():
            table[0, status] = count
    outcome = Outcome(
        rows=found,
        judged=np.array([(judged or {}).get(id, 1) for id in CODE], np.int64),
        violated=np.bincount(violations[violations["doubt"] == 0]["claim"], minlength=len(CODE)),
        doubtful=np.bincount(violations[violations["doubt"] != 0]["claim"], minlength=len(CODE)),
        statuses=table,
    )
    mask = evidence_mask(evidence)
    coverage = Coverage(recorded=mask, begin=BEGIN, end=end)
    return CheckResult(
        header=header or Header(),
        files=files,
        events=12_345,
        begin=BEGIN,
        end=end,
        seconds=1.25,
        engine="local",
        problems=problems or Problems(),
        settings=Settings(),
        coverage=coverage,
        context=Context.of(ContextEvents.of(events), begin=BEGIN, end=end, evidence=mask),
        names=names,
        verdicts=verdicts(outcome, names, coverage, Settings()),
        rows=found,
        statuses=table,
    )


def clean() -> CheckResult:
    """A trace of which everything holds."""
    return result(Rows(Names()))


ORDERS = [Slot("billing", "Orders", "broker-a", queue) for queue in range(8)]
CLIENTS = [Actor(f"10.0.0.{last}@4711") for last in (1, 2, 3)]


def troubled(*, flood: int = 0) -> tuple[CheckResult, list[Story]]:
    """A trace with a bit of everything, and stories of it; ``flood`` more findings of one claim."""
    rows = Rows(Names())
    one, two, three = CLIENTS
    for place, slot in enumerate(ORDERS):
        owner = (one, two)[place % 2]
        rows.add(note=Note.OWNERSHIP, slot=slot, actor=owner, since=BEGIN, time=BEGIN + 10 * MINUTE,
                 value=PATH[Path.REMOVAL], expected=End.REVOKED)  # fmt: skip
        later = (one, two, three)[place % 3]
        begin = BEGIN + (12 if place == 2 else 10) * MINUTE - (MINUTE if place == 3 else 0)
        rows.add(note=Note.OWNERSHIP, slot=slot, actor=later, since=begin, time=BEGIN + 30 * MINUTE, value=0,
                 expected=End.OPEN)  # fmt: skip
        for minute in range(0, 30, 2):
            offset = 1000 + 40 * minute
            if place == 1 and minute >= 20:
                offset -= 600
            path = Path.RESET if place == 4 and minute == 14 else Path.PERIODIC
            rows.add(note=Note.OFFSET, slot=slot, actor=owner if minute < 10 else later, time=BEGIN + minute * MINUTE,
                     value=offset + (500 if place == 4 and minute >= 14 else 0), expected=PATH[path],
                     until=1200 + 45 * minute + (500 if place == 4 else 0))  # fmt: skip
    rows.add(claim="offset-never-back-without-cause", slot=ORDERS[1], actor=two, other=one, value=1200, expected=1720,
             since=BEGIN + 18 * MINUTE, time=BEGIN + 20 * MINUTE)  # fmt: skip
    rows.add(claim="offset-never-back-without-cause", slot=ORDERS[4], actor=two, cause=Regression.RESET, value=5,
             expected=9, since=BEGIN, time=BEGIN + MINUTE)  # fmt: skip
    rows.add(claim="overlaps-are-short", slot=ORDERS[3], actor=one, other=two, since=BEGIN + 9 * MINUTE,
             time=BEGIN + 10 * MINUTE)  # fmt: skip
    rows.add(claim="every-queue-gets-an-owner", slot=ORDERS[2], since=BEGIN + 10 * MINUTE, time=BEGIN + 12 * MINUTE,
             actor=one, doubt=Doubt.GAP)  # fmt: skip
    rows.add(claim="never-before-it-is-due", slot=ORDERS[0], origin=-77, offset=1003, since=BEGIN, time=BEGIN + 5,
             actor=one, other=two, value=5, expected=30, doubt=Doubt.SKEW | Doubt.EVIDENCE)  # fmt: skip
    for cause, count in ((Cause.REBALANCE, 57), (Cause.CRASH, 12), (Cause.TIMEOUT, 3)):
        for place in range(count):
            rows.add(claim="every-duplicate-has-a-cause", cause=cause, slot=ORDERS[place % 8], offset=1100 + place,
                     origin=500 + place, actor=one, other=two, since=BEGIN, time=BEGIN + place * SECOND)  # fmt: skip
    rows.add(claim="every-duplicate-has-a-cause", slot=ORDERS[5], offset=1177, origin=42, actor=three, other=three,
             since=BEGIN + 3 * MINUTE, time=BEGIN + 4 * MINUTE)  # fmt: skip
    for place in range(flood):
        rows.add(claim="nothing-skipped", slot=ORDERS[place % 8], offset=2000 + place, until=2001 + place, actor=one,
                 since=BEGIN, time=BEGIN + place)  # fmt: skip
    rows.add(note=Note.SKIPPED, claim="nothing-skipped", slot=ORDERS[4], offset=1400, until=1900, actor=two,
             time=BEGIN + 14 * MINUTE)  # fmt: skip
    rows.add(note=Note.CHAIN, slot=ORDERS[0], origin=42, offset=1003, value=MessageStatus.PENDING_RETRY, expected=6,
             until=BEGIN + 40 * MINUTE, time=BEGIN + 29 * MINUTE)  # fmt: skip
    problems = Problems()
    problems.add("day/a.jsonl", 17, "the line is no JSON: Expecting value at column 1")
    events = [
        {"kind": Kind.HEARTBEAT, "group": "billing", "client": client.name, "time": BEGIN + place * SECOND,
         "subscriptions": [f"Orders={'*' if place else 'paid || open'}@{BEGIN}"]}
        for place, client in enumerate(CLIENTS)
    ]  # fmt: skip
    queues = [f"broker-a:{place}" for place in range(8)]
    for time, members in ((0, CLIENTS[:2]), (10 * MINUTE, CLIENTS)):
        events += [
            {"kind": Kind.REBALANCE, "group": "billing", "topic": "Orders", "client": client.name, "detail": "AVG",
             "time": BEGIN + time + place, "members": [member.name for member in members], "queues": queues,
             "assigned": queues[place :: len(members)]}
            for place, client in enumerate(members)
        ]  # fmt: skip
    check = result(
        rows,
        judged={"every-queue-is-readable": 0},
        statuses={
            MessageStatus.ACKNOWLEDGED: 11_800,
            MessageStatus.PENDING_RETRY: 12,
            MessageStatus.SKIPPED: 500,
            MessageStatus.WAITING: 33,
        },
        evidence=frozenset(Kind) - {Kind.LOCK, Kind.UNLOCK, Kind.DEAD_LETTER, Kind.STORE},
        events=events,
        header=Header(source="listener hook of <billing>", groups={"billing": Group(max_attempts=16)}),
        problems=problems,
        files=("day/a.jsonl", "day/b.jsonl"),
    )
    story = Story(
        claim=claim("offset-never-back-without-cause"),
        title="The stored offset of Orders@broker-a:1 went back from 1720 to 1200, for no known reason",
        certainty=CERTAIN,
        sentences=(
            Sentence(
                BEGIN + 18 * MINUTE,
                "12:18:00.000 10.0.0.1@4711 stores offset 1720 of Orders@broker-a:1 (periodic)",
                Place("day/a.jsonl", 9_001, "line"),
            ),
            Sentence(
                BEGIN + 20 * MINUTE,
                "12:20:00.000 10.0.0.2@4711 stores offset 1200 of Orders@broker-a:1 (periodic)",
                Place("day/b.parquet", 8_877, "row"),
            ),
        ),
        left_out=7,
        row={},
        slot=ORDERS[1],
    )
    return check, [story]
