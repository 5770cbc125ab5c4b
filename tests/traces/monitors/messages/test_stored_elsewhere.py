"""Where messages were stored, and where listeners are given them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rocketproof.traces.claims.steps import Misstep
from rocketproof.traces.format.kinds import Kind

from .message_events import Script, check

STORES = "stores-follow-each-other"


def stored(time: int, offset: int, **place: Any) -> Script:
    fields = {"topic": "T", "broker": "b", "queue": 0, "key": "m", "attempt": 0, "offset": offset, **place}
    return Script().add(time, Kind.STORE, **fields)


def given(time: int, offset: int, **place: Any) -> Script:
    return Script().deliver(time, offset=offset, **place).result(time + 1, "ok", offset=offset, **place)


def elsewhere(*scripts: Script, **terms: Any) -> list[tuple[int, int, int]]:
    """Findings: the row, where the message was given, and where it was stored."""
    found = check(*scripts, **terms).violations(STORES)
    return [(row["value"], row["offset"], row["expected"]) for row in found if not row["doubt"]]


def test_a_message_is_given_where_it_was_stored() -> None:
    assert elsewhere(stored(0, 7), given(100, 7)) == []
    assert elsewhere(stored(0, 8), given(100, 7)) == [(Misstep.STORED_ELSEWHERE, 7, 8)]
    assert elsewhere(stored(0, 7, queue=1), given(100, 7)) == [(Misstep.STORED_ELSEWHERE, 7, 7)]
    # It is given again, in the place of another one.
    assert elsewhere(stored(0, 7), given(100, 7), given(200, 8)) == [(Misstep.STORED_ELSEWHERE, 8, 7)]
    # Every group is given it there.
    other = replace(given(100, 8), events=[event | {"group": "H"} for event in given(100, 8).events])
    assert len(elsewhere(stored(0, 7), given(100, 7), other)) == 1


def test_a_message_that_nobody_has_stored_is_given_to_nobody() -> None:
    told = [Script().add(10, Kind.MEMBERS, broker="b", group="G", members=["c1"]), Script("n").deliver(100)]
    (found,) = check(*told, complete=True).violations(STORES)
    assert (found["value"], found["offset"], found["expected"]) == (Misstep.STORED_ELSEWHERE, 7, -1)
    # It may have been stored before, or at a broker that records nothing.
    assert check(*told).violations(STORES) == check(*told[1:], complete=True).violations(STORES) == []
    unrecorded = frozenset(Kind) - {Kind.STORE}
    assert check(*told, complete=True, evidence=unrecorded).violations(STORES) == []


def test_a_retry_is_given_where_the_broker_has_moved_it() -> None:
    def moved(to: int, *again: int) -> list[tuple[int, int, int]]:
        failed = Script().fails(0, 0, 3, 10_000, moved_to=to)
        for time, offset in enumerate(again):
            failed.delay_deliver(10_020 + time, 1, offset)
        return elsewhere(failed.deliver(10_100, 1, offset=2))

    assert moved(2) == []
    assert moved(3) == [(Misstep.STORED_ELSEWHERE, 2, 3)]
    assert moved(3, 4) == []


def test_of_messages_that_were_stored_at_several_places_nothing_is_known() -> None:
    assert elsewhere(stored(0, 7), stored(1, 8), given(100, 9)) == []
    # A copy in another topic has a place of its own, as has a retry.
    assert elsewhere(stored(0, 8, topic="U"), given(100, 7)) == []
    retry = Script().deliver(100, 1, offset=3).result(101, "ok", 1, offset=3)
    assert elsewhere(stored(0, 7), retry) == []
    # Nor where it is not known, or was stored later by another clock.
    assert elsewhere(stored(200, 8), given(100, 7)) == []
    assert elsewhere(stored(0, 8), Script().deliver(100, offset=None).result(101, "ok", offset=None)) == []


def test_it_may_have_been_stored_again_where_nobody_recorded_it() -> None:
    lost = Script().add(50, Kind.GAP, broker="b", due=1_000_040)
    assert elsewhere(stored(0, 8), given(100, 7), lost) == []
    said = check(stored(0, 7), given(100, 7))
    assert not said.outcome.passed_over
    unnamed = Script().add(0, Kind.STORE, topic="T", broker="b", queue=0, attempt=0, offset=3)
    assert not check(unnamed).outcome.passed_over
