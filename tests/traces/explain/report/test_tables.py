"""Tables have names instead of codes, and are equal for equal findings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from rocketproof.model.history import Cause, Regression
from rocketproof.traces.claims.obligations import Reason
from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.engine.findings import Doubt, Note
from rocketproof.traces.explain.report.tables import (
    FINDINGS,
    TABLES,
    findings,
    messages,
    named,
    offsets,
    ownership,
)
from rocketproof.traces.explain.report.tables import verdicts as verdict_table
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.monitors.groups.subscriptions import Unequal
from rocketproof.traces.monitors.groups.views import Differ
from rocketproof.traces.monitors.queues.commits import Jump
from rocketproof.traces.monitors.queues.ownership import End

from .examples import BEGIN, PATH, Rows, clean, troubled
from .examples import Path as Way

QUEUE = Slot("g", "T", "b", 3)
MINE = Slot("g", "T", "b", 3, "me@1")
ONE, TWO, BROKER = Actor("one@1", 2), Actor("two@1"), Actor("b", -1)


def only(rows: Rows) -> dict[str, object]:
    """The single row of a table, without what is null."""
    (row,) = named(rows.sorted(), rows.names).to_pylist()
    return {name: value for name, value in row.items() if value is not None}


def test_a_finding_has_names_and_numbers() -> None:
    rows = Rows(Names())
    rows.add(
        claim="every-duplicate-has-a-cause", cause=Cause.FAILED_SEND_BACK, slot=MINE, origin=-5, offset=17, actor=ONE,
        other=BROKER, since=1, time=BEGIN + 7, value=0, expected=-1, doubt=Doubt.SKEW | Doubt.EVIDENCE,
    )  # fmt: skip
    told = only(rows)
    assert [str(told.pop(name)) for name in ("since", "time")] == [
        "1970-01-01 00:00:00.001000+00:00",
        "2026-03-01 12:00:00.007000+00:00",
    ]
    assert told == {
        "claim": "every-duplicate-has-a-cause",
        "cause": "failed send back",
        "doubt": "skew+evidence",
        "group": "g",
        "topic": "T",
        "broker": "b",
        "queue": 3,
        "client": "me@1",
        "origin": -5,
        "offset": 17,
        "actor": "one@1#2",
        "other": "broker b",
        "value": 0,
        "expected": -1,
    }


def test_the_causes_of_a_decrease_are_those_of_decreases() -> None:
    rows = Rows(Names())
    rows.add(claim="offset-never-back-without-cause", cause=Regression.FAIL_OVER, slot=QUEUE)
    assert only(rows)["cause"] == "fail over"
    assert Cause(Regression.FAIL_OVER) is Cause.OVERLAP


def test_what_stands_for_a_whole_group_has_no_queue() -> None:
    rows = Rows(Names())
    rows.add(claim="views-agree", slot=Slot("g", "", "", -1), value=Differ.MEMBERS | Differ.QUEUES)
    assert only(rows) == {"claim": "views-agree", "group": "g", "reason": "members+queues", "value": 3}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"claim": "every-queue-moves", "value": Reason.NO_OWNER}, "no owner"),
        ({"claim": "same-subscriptions", "value": Unequal.EXPRESSION}, "expression"),
        ({"claim": "only-owners-commit", "value": PATH[Way.PIGGYBACK]}, "piggyback"),
        ({"claim": "nothing-skipped", "value": 3}, None),
        ({"claim": "nothing-skipped", "note": Note.SKIPPED, "value": Jump.FIRST_START}, "first start"),
        ({"note": Note.CHAIN, "value": MessageStatus.PENDING_RETRY}, "pending retry"),
        ({"note": Note.OFFSET, "value": 5, "expected": PATH[Way.PERIODIC]}, "periodic"),
        ({"note": Note.OFFSET, "value": 5, "expected": 0}, None),
        ({"note": Note.OWNERSHIP, "value": 0, "expected": End.CRASHED}, "crashed"),
        ({"note": Note.OWNERSHIP, "value": 0, "expected": End.REVOKED}, "revoked"),
        ({"note": Note.OWNERSHIP, "value": PATH[Way.LOCK], "expected": End.REVOKED}, "lock"),
        ({"note": Note.CHAIN, "value": 99}, None),
    ],
)
def test_a_code_has_its_word(given: dict[str, int], reason: str | None) -> None:
    rows = Rows(Names())
    rows.add(slot=QUEUE, **given)  # type: ignore[arg-type]
    assert only(rows).get("reason") == reason


def test_tables_of_equal_findings_are_equal_whatever_the_codes() -> None:
    def table(*, order: int) -> pa.Table:
        names = Names()
        for slot in (QUEUE, MINE, Slot("g", "U", "b", 0))[::order]:
            names.slot(slot)
        for actor in (ONE, TWO, BROKER)[::order]:
            names.actor(actor)
        rows = Rows(names)
        for place, slot in enumerate((QUEUE, MINE)):
            for actor in (ONE, TWO):
                rows.add(claim="nothing-skipped", slot=slot, actor=actor, offset=place, time=5)
        return named(rows.sorted(), names)

    assert table(order=1).equals(table(order=-1))
    assert table(order=1).num_rows == 4
    assert table(order=1).column("actor").to_pylist() == ["one@1#2", "two@1", "one@1#2", "two@1"]


def test_no_findings_give_an_empty_table_with_all_columns() -> None:
    table = named(Rows(Names()).sorted(), Names())
    assert (table.num_rows, table.schema) == (0, FINDINGS)


def test_a_time_that_no_calendar_has_is_kept() -> None:
    rows = Rows(Names())
    rows.add(claim="nothing-skipped", time=2**62)
    assert named(rows.sorted(), rows.names).column("time").cast(pa.int64()).to_pylist() == [2**62]


def test_verdicts_are_told_for_every_claim() -> None:
    result, _ = troubled()
    table = verdict_table(result)
    assert table.num_rows == len(result.verdicts)
    by_claim = {row["claim"]: row for row in table.to_pylist()}
    assert by_claim["every-queue-gets-an-owner"] | {"statement": ""} == {
        "claim": "every-queue-gets-an-owner",
        "verdict": "UNKNOWN",
        "judged": 1,
        "violated": 0,
        "doubtful": 1,
        "why": "what would excuse it may be lost",
        "statement": "",
        "rules": ["RB-1", "RB-20"],
    }
    assert by_claim["every-queue-is-readable"]["verdict"] == "NOT OBSERVABLE"


def test_each_kind_of_row_is_in_one_table() -> None:
    result, _ = troubled()
    tables = {"findings": findings, "ownership": ownership, "offsets": offsets, "messages": messages}
    counts = {name: table(result).num_rows for name, table in tables.items()}
    # 5 violations, 73 explained ones, 1 skip; 8 queues with 2 owners and 15 offsets each; 1 message.
    assert counts == {"findings": 79, "ownership": 16, "offsets": 120, "messages": 1}
    assert sum(counts.values()) == len(result.rows)
    assert ownership(result).slice(0, 4).select(["queue", "owner", "reason"]).to_pylist() == [
        {"queue": 0, "owner": "10.0.0.1@4711", "reason": "removal"},
        {"queue": 0, "owner": "10.0.0.1@4711", "reason": "open"},
        {"queue": 1, "owner": "10.0.0.2@4711", "reason": "removal"},
        {"queue": 1, "owner": "10.0.0.2@4711", "reason": "open"},
    ]
    assert messages(result).select(["status", "attempt", "origin"]).to_pylist() == [
        {"status": "pending retry", "attempt": 6, "origin": 42}
    ]


def test_a_clean_trace_has_empty_tables_and_all_verdicts() -> None:
    result = clean()
    assert {name: table(result).num_rows for name, table in TABLES.items()} == {
        "findings": 0,
        "verdicts": len(result.verdicts),
        "ownership": 0,
        "offsets": 0,
        "messages": 0,
    }


def test_rows_without_a_queue_or_process_are_told() -> None:
    rows = Rows(Names())
    rows.add(claim="level-as-the-count-says", origin=9, time=4, value=3, expected=5)
    row = only(rows)
    assert (row["origin"], row["value"], row["expected"]) == (9, 3, 5)
    assert not {"group", "topic", "broker", "queue", "actor"} & row.keys()
    assert np.all(rows.sorted()["slot"] == -1)
