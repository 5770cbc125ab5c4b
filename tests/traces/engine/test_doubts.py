"""Which holes of a recording put a finding in doubt: those of whom it rests on, where and when it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rocketproof.traces.claims.claims import CLAIMS, CODE
from rocketproof.traces.claims.obligations import Reason
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.claims.steps import Misstep
from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.engine.doubts import doubted, hole_of
from rocketproof.traces.engine.findings import ROW, Doubt
from rocketproof.traces.format.coverage import ALL_KINDS, OF_CLIENTS, Coverage, Hole, evidence_mask
from rocketproof.traces.format.kinds import OF_BROKERS, Kind
from rocketproof.traces.monitors.fold import Outcome, nothing

ONE, TWO = "one", "two"
CLIENTS, BROKERS = ALL_KINDS & ~evidence_mask(OF_BROKERS), ALL_KINDS & ~evidence_mask(OF_CLIENTS)


def found(claim: str, value: int = 0, *, other: str = "", late: int = 0) -> tuple[Outcome, Names]:
    """One finding of a claim about queue 0 of broker-a: what ``one`` did from 100 to 200."""
    names = Names()
    slot = names.slot(Slot("orders", "order", "broker-a", 0))
    actor = names.actor(Actor(ONE))
    for broker in ("broker-a", "broker-b"):
        names.actor(Actor(broker, -1))
    outcome = nothing(1)
    rows = np.zeros(1, ROW)
    rows["claim"], rows["value"], rows["since"], rows["time"] = CODE[claim], value, 100, 200
    rows["late"] = late
    rows["slot"], rows["actor"], rows["other"] = slot, actor, names.actor(Actor(other)) if other else -1
    outcome.violated[CODE[claim]] = 1
    return Outcome(**{**vars_of(outcome), "rows": rows}), names


def vars_of(outcome: Outcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in ("judged", "violated", "doubtful", "statuses")}


def gap(who: str, since: int, until: int) -> Hole:
    """A gap of a member of the group, or of a broker."""
    of_broker = who.startswith("broker")
    where = {"broker": who, "kinds": BROKERS} if of_broker else {"group": "orders", "kinds": CLIENTS}
    return Hole(since=since, until=until, recorder=who, why="gap", **where)


def doubts(claim: str, value: int, *holes: Hole, late: int = 0) -> tuple[int, Hole | None]:
    outcome, names = found(claim, value, late=late)
    coverage = Coverage(recorded=ALL_KINDS, begin=0, end=300, holes=holes)
    (row,) = doubted(outcome, names, coverage, Settings()).rows
    return int(row["doubt"]), hole_of(CLAIMS[CODE[claim]], row, names, coverage, Settings())


@pytest.mark.parametrize("claim", ["every-queue-gets-an-owner", "every-queue-moves", "same-subscriptions"])
def test_what_happened_when_it_was_too_late_already_explains_nothing(claim: str) -> None:
    died = gap(ONE, 150, 160)
    assert doubts(claim, int(Reason.NO_OWNER), died, late=50) == (Doubt.GAP, died)
    assert doubts(claim, int(Reason.NO_OWNER), died, late=51) == (Doubt.NONE, None)


REFUSED = "steps-follow-each-other", int(Misstep.REFUSED_FREE)
"""It rests on the lock requests of all members."""


def test_a_member_that_was_not_recorded_may_have_had_the_lock() -> None:
    member = gap(TWO, 150, 160)
    assert doubts(*REFUSED, member) == (Doubt.GAP, member)
    assert doubts(*REFUSED, gap(TWO, 0, 90)) == (Doubt.NONE, None)


@pytest.mark.parametrize("before", [gap("broker-b", 110, 120), Hole(since=120, until=120, kinds=1, why="a line")])
def test_so_it_may_where_an_earlier_hole_says_nothing_of_it(before: Hole) -> None:
    member = gap(TWO, 150, 160)
    assert doubts(*REFUSED, before, member) == (Doubt.GAP, member)


def test_a_line_that_cannot_be_read_may_be_of_any_member() -> None:
    line = Hole(since=150, until=150, kinds=evidence_mask({Kind.LOCK}), why="a line")
    assert doubts(*REFUSED, line) == (Doubt.GAP, line)


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("offset-never-back-without-cause", 0),
        ("query-answers-what-is-stored", 0),
        ("every-queue-moves", int(Reason.NO_PULLS)),
        REFUSED,
    ],
)
def test_the_absence_of_a_broker_explains_nothing_of_the_queues_of_another(claim: str, value: int) -> None:
    own, other = gap("broker-a", 150, 160), gap("broker-b", 150, 160)
    assert doubts(claim, value, other) == (Doubt.NONE, None)
    assert doubts(claim, value, own, other) == (Doubt.GAP, own)


@pytest.mark.parametrize(
    "claim", ["every-copy-has-a-cause", "every-queue-gets-an-owner", "no-flapping", "overlaps-are-short"]
)
def test_but_copies_of_a_message_may_be_at_any_and_so_may_a_list_of_members(claim: str) -> None:
    other = gap("broker-b", 150, 160)
    assert doubts(claim, 0, other) == (Doubt.GAP, other)


def test_what_a_client_did_about_the_queues_of_one_broker_may_be_lost_alone() -> None:
    member = gap(TWO, 150, 160)
    of_queues = [replace(member, broker=broker) for broker in ("broker-a", "broker-b")]
    assert doubts("offset-never-back-without-cause", 0, of_queues[1]) == (Doubt.NONE, None)
    assert doubts("offset-never-back-without-cause", 0, of_queues[0]) == (Doubt.GAP, of_queues[0])


def test_what_another_client_did_does_not_matter_where_only_its_own_doing_would_excuse_one() -> None:
    """Also one of which nothing else is told, as nobody recorded it."""
    assert doubts("allocation-as-the-strategy-says", 0, gap(TWO, 150, 160)) == (Doubt.NONE, None)
    assert doubts("only-owners-commit", 0, gap(TWO, 150, 160)) == (Doubt.NONE, None)
    assert doubts("only-owners-commit", 0, gap(ONE, 150, 160)) == (Doubt.GAP, gap(ONE, 150, 160))


OF_OWNERS = (Reason.NO_PULLS, Reason.NOT_POLLED, Reason.PINNED, Reason.NOT_DELIVERED, Reason.NOT_IN_MEMORY)
"""What a queue waits for that its owner alone has to do."""


@pytest.mark.parametrize("reason", OF_OWNERS)
def test_a_member_that_died_does_not_explain_why_an_owner_does_not_what_it_has_to(reason: Reason) -> None:
    for outside in (False, True):
        other = replace(gap(TWO, 150, 160), outside=outside)
        assert doubts("every-queue-moves", int(reason), other) == (Doubt.NONE, None)
        assert doubts("every-queue-moves", int(Reason.NO_OWNER), other) == (Doubt.GAP, other)
        assert doubts("every-queue-moves", int(Reason.NOT_LOCKED), other) == (Doubt.GAP, other)
    own = gap(ONE, 150, 160)
    assert doubts("every-queue-moves", int(reason), own) == (Doubt.GAP, own)


def test_what_a_client_did_as_it_died_does_not_explain_what_a_broker_answered() -> None:
    """Its broker has recorded what it stored."""
    died, broker = replace(gap(TWO, 150, 160), outside=True), gap("broker-a", 150, 160)
    assert doubts("query-answers-what-is-stored", 0, died) == (Doubt.NONE, None)
    assert doubts("query-answers-what-is-stored", 0, gap(TWO, 150, 160)) == (Doubt.GAP, gap(TWO, 150, 160))
    assert doubts("query-answers-what-is-stored", 0, broker) == (Doubt.GAP, broker)
    assert doubts("offset-never-back-without-cause", 0, died) == (Doubt.GAP, died)
