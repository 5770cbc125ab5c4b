"""Coding: what becomes of words, queues and processes, also where a memo of them is in the way."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from rocketproof.traces.encoding import coding
from rocketproof.traces.encoding.coding import COLUMNS, Coded, Coder
from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.format.kinds import Result, codes
from rocketproof.traces.format.schema import ABSENT, ARROW, Group

GROUPS = {"wide": Group(mode="broadcasting")}


def batch_of(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    schema = pa.schema([ARROW.field(name) for name in COLUMNS])
    return pa.RecordBatch.from_pylist([{"time": 0, "kind": "deliver", **row} for row in rows], schema=schema)


def slots_of(coded: Coded, known: Names) -> list[Slot | None]:
    return [known.slots[code] if code >= 0 else None for code in coded.slot.tolist()]


def actors_of(coded: Coded, known: Names) -> list[Actor | None]:
    return [known.actors[code] if code >= 0 else None for code in coded.actor.tolist()]


def expected_slot(row: dict[str, Any]) -> Slot | None:
    group, topic = row["group"] or "", row["topic"] or ""
    actor = expected_actor(row)
    member = (actor.name, actor.incarnation) if actor and actor.incarnation >= 0 else ("", 0)
    own = member if group == "wide" else ("", 0)
    if row["queue"] is not None:
        return Slot(group, topic, row["broker"] or "", row["queue"], *own) if topic else None
    return Slot(group, topic, "", -1, *own) if (group or topic) and row["origin"] else None


def expected_actor(row: dict[str, Any]) -> Actor | None:
    if row["client"] and not (row["kind"] == "store" and row["broker"]):
        return Actor(row["client"], max(0, row["incarnation"] or 0))
    return Actor(row["broker"], -1) if row["broker"] else None


@pytest.mark.parametrize("seed", range(5))
def test_every_event_has_the_names_that_it_says(seed: int) -> None:
    chance = random.Random(seed)
    known = Names(GROUPS)
    coder = Coder(known)
    for _ in range(4):
        rows = [
            {
                "kind": chance.choice(["deliver", "store"]),
                "group": chance.choice([None, "", "wide", "g"]),
                "topic": chance.choice([None, "", "t", "u"]),
                "broker": chance.choice([None, "", "a", "b"]),
                "queue": chance.choice([None, 0, 1, 7, 258, 263]),
                "client": chance.choice([None, "", "x", "y"]),
                "incarnation": chance.choice([None, 0, 1]),
                "origin": chance.choice([None, 0, 5]),
            }
            for _ in range(2_000)
        ]
        coded = coder.code(batch_of(rows))
        assert slots_of(coded, known) == [expected_slot(row) for row in rows]
        assert actors_of(coded, known) == [expected_actor(row) for row in rows]


def test_what_an_event_does_not_have_is_absent() -> None:
    coded = Coder(Names()).code(batch_of([{"offset": 3}, {"kind": "new in a later version", "count": 2}]))
    assert coded.offset.tolist() == [3, ABSENT]
    assert coded.count.tolist() == [ABSENT, 2]
    assert coded.kind.tolist()[1] == coding.UNKNOWN_KIND
    assert coded.slot.tolist() == coded.actor.tolist() == [-1, -1]


def test_nobody_writes_to_a_column() -> None:
    coded = Coder(Names()).code(batch_of([{"offset": 3, "topic": "t", "queue": 0}]))
    assert not any(column.flags.writeable for column in vars(coded).values())


def test_a_send_back_without_a_result_was_sent_and_a_word_that_is_not_known_is_not() -> None:
    rows = [{"kind": "send_back", "result": result} for result in (None, "failed", "fine")] + [{"kind": "lock"}]
    assert Coder(Names({})).code(batch_of(rows)).result.tolist() == [
        codes(Result)[Result.OK],
        codes(Result)[Result.FAILED],
        0,
        0,
    ]
