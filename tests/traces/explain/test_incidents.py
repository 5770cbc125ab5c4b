from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.claims.obligations import Reason
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.engine.findings import ROW, Doubt
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.explain.incidents import (
    _LASTING,
    LEADS_TO,
    TOGETHER,
    Incident,
    _last_before,
    findings_in,
    in_words,
    incidents,
)
from rocketproof.traces.explain.story import stories
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import FOLDER

ASKED, BACK, AGAIN = "query-answers-what-is-stored", "offset-never-back-without-cause", "every-duplicate-has-a-cause"

FIRST, SECOND, OTHER = Slot("g", "orders", "a", 0), Slot("g", "orders", "a", 1), Slot("h", "orders", "a", 0)
TOPIC = Slot("g", "orders", "", -1)
SLOTS = (FIRST, SECOND, OTHER, TOPIC, Slot("g", "", "", -1))

PASSED = Path(__file__).parents[1] / "data" / "b7.jsonl.zst"
SAMPLE = FOLDER / "kill-9-mid-batch-5.3.3.jsonl.zst"


@pytest.fixture(scope="module")
def checked() -> CheckResult:
    return check_locally(open_trace([SAMPLE]), settings=Settings())


def found(
    checked: CheckResult,
    *rows: tuple[str, Slot | None, int] | tuple[str, Slot | None, int, dict[str, int]],
    events: list[dict[str, object]] | None = None,
) -> tuple[Incident, ...]:
    """The incidents of findings, each of a claim, at a place, at a time in ms."""
    names = Names()
    for slot in SLOTS:
        names.slot(slot)
    names.actor(Actor("c", 1))
    made = np.zeros(len(rows), ROW)
    for row, (claim, slot, time, *more) in zip(made, rows, strict=True):
        row["claim"], row["slot"], row["time"], row["since"] = CODE[claim], -1, time, time
        row["other"] = -1
        if slot is not None:
            row["slot"] = SLOTS.index(slot)
        for name, value in (more[0] if more else {}).items():
            row[name] = value
    context = replace(checked.context, events=ContextEvents.of(events or []).by_time())
    result = replace(checked, rows=made, names=names, context=context)
    backwards = incidents(replace(result, rows=made[::-1]))
    told = incidents(result)
    assert told == backwards
    assert findings_in(told) == len([row for row in made if not row["doubt"]])
    return told


def test_no_claim_leads_to_one_before_it():
    order = list(LEADS_TO)
    for at, claim in enumerate(order):
        assert {claim, *LEADS_TO[claim]} <= set(CODE)
        assert len(set(LEADS_TO[claim])) == len(LEADS_TO[claim])
        assert not set(LEADS_TO[claim]) & set(order[: at + 1]), claim
    assert set(CODE) >= _LASTING


def test_what_followed_on_the_same_queue(checked: CheckResult):
    told = found(
        checked,
        (ASKED, FIRST, 100),
        (BACK, FIRST, 110),
        (AGAIN, FIRST, 120),
        (AGAIN, FIRST, 130),
        (AGAIN, FIRST, 99),  # before it
        (AGAIN, SECOND, 120),  # on another queue
        (AGAIN, OTHER, 120),  # in another group
        ("nothing-skipped", FIRST, 105, {"doubt": int(Doubt.GAP)}),
    )
    assert [(each.claim, each.first, each.last, each.count, each.queues, dict(each.followed)) for each in told] == [
        (AGAIN, 99, 120, 3, 3, {}),
        (ASKED, 100, 100, 1, 1, {AGAIN: 2, BACK: 1}),
    ]
    assert told[0].where == "in 2 groups at a"
    assert in_words(told[1]) == [f"followed by 2 × {AGAIN}, 1 × {BACK}"]
    assert in_words(told[0]) == [
        "3 findings of this kind about 3 queues in 2 groups at a, until 1970-01-01 00:00:00.120"
    ]


def test_findings_a_minute_apart_are_two_incidents(checked: CheckResult):
    told = found(checked, (ASKED, FIRST, 0), (ASKED, SECOND, TOGETHER), (ASKED, FIRST, 2 * TOGETHER + 1))
    assert [(each.first, each.count) for each in told] == [(0, 2), (2 * TOGETHER + 1, 1)]
    # What follows belongs to the last one before it.
    told = found(checked, (ASKED, FIRST, 0), (ASKED, FIRST, 2 * TOGETHER), (AGAIN, FIRST, 3 * TOGETHER))
    assert [dict(each.followed) for each in told] == [{}, {AGAIN: 1}]


def test_kinds_of_one_claim_are_apart(checked: CheckResult):
    moves = "every-queue-moves"
    told = found(
        checked,
        (moves, FIRST, 200_000, {"since": 0, "value": Reason.NO_PULLS}),
        (moves, SECOND, 200_000, {"since": 5, "value": Reason.PINNED}),
    )
    assert [(each.first, each.count) for each in told] == [(0, 1), (5, 1)]


def test_topics_and_groups_contain_their_queues(checked: CheckResult):
    owner, balanced = "every-queue-gets-an-owner", "every-topic-is-balanced"
    told = found(
        checked,
        (balanced, TOPIC, 90_000, {"since": 1_000}),
        (owner, FIRST, 80_000, {"since": 2_000}),
        ("every-queue-moves", FIRST, 85_000, {"since": 2_500}),
        (owner, OTHER, 80_000, {"since": 2_000}),
    )
    assert [(each.claim, each.first, dict(each.followed)) for each in told] == [
        (balanced, 1_000, {owner: 1, "every-queue-moves": 1}),
        (owner, 2_000, {}),
    ]
    told = found(checked, ("one-process-for-each-client-id", SLOTS[4], 10), (owner, FIRST, 80_000, {"since": 5}))
    assert [dict(each.followed) for each in told] == [{owner: 1}]


def test_findings_about_one_message(checked: CheckResult):
    level, waits = "level-as-the-count-says", "retry-waits-as-its-level-says"
    told = found(
        checked,
        (level, None, 10, {"origin": 7}),
        (waits, None, 20, {"origin": 7}),
        (waits, None, 20, {"origin": 8}),
    )
    assert [(each.claim, each.queues, each.where, dict(each.followed)) for each in told] == [
        (level, 0, "", {waits: 1}),
        (waits, 0, "", {}),
    ]


def test_what_happened_shortly_before(checked: CheckResult):
    start = {"kind": Kind.BROKER_START, "broker": "a"}
    events = [{**start, "time": 1_000}, {**start, "time": 90_000}, {**start, "time": 95_000, "broker": "b"}]
    (told,) = found(checked, (ASKED, FIRST, 100_000), events=list(events))
    assert told.after == (90_000, "broker a starts")
    (told,) = found(checked, (ASKED, FIRST, 90_000 - 1), events=list(events))
    assert told.after is None or told.after[0] == 1_000
    (told,) = found(checked, (ASKED, FIRST, 151_000), events=list(events))
    assert told.after is None
    joined = {"kind": Kind.CLIENT_START, "client": "c", "group": "g", "time": 99_000}
    (told,) = found(checked, (ASKED, FIRST, 100_000), events=[*events, joined])
    assert told.after == (99_000, "c starts")


def test_nothing_wrong_has_no_incident(checked: CheckResult):
    assert incidents(checked) == ()


def test_titles_are_those_of_stories():
    trace = open_trace([PASSED])
    result = check_locally(trace, settings=Settings())
    told = stories(trace, result.rows, result.names, most=1)
    assert {each.title for each in incidents(result, told)} >= {told[0].title}


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=12),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=6),
)
def test_the_last_before_is_the_one_a_plain_search_finds(roots: list[tuple[int, int]], asked: list[tuple[int, int]]):
    roots.sort(key=lambda root: root[1])
    places, begins = (np.array([root[at] for root in roots], np.int64) for at in (0, 1))
    own, until = (np.array([each[at] for each in asked], np.int64) for at in (0, 1))
    got = _last_before(places, begins, own, until)
    for at, (place, time) in enumerate(asked):
        earlier = [begin for other, begin in roots if other == place and begin <= time]
        assert (got[at] < 0) == (not earlier)
        assert not earlier or (places[got[at]], begins[got[at]]) == (place, max(earlier))
