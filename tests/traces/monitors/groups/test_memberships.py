from __future__ import annotations

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.monitors.groups.memberships import Membership, Memberships
from rocketproof.traces.monitors.groups.runs import told_by

from .group_events import EVERYTHING, WITHOUT_ENDS, Event, context_of, crash, event, heartbeat, start, stop

C1 = Actor("c1", 0)


def memberships_of(events: list[Event], *, evidence: frozenset[Kind] = EVERYTHING, end: int = 1_000_000) -> Memberships:
    context = context_of(events, evidence=evidence, end=end)
    return Memberships(told_by(context.events), context=context, skew=Settings().skew)


def test_from_start_to_stop() -> None:
    memberships = memberships_of(
        [start(0, "c1", None), heartbeat(10, "c1", "T=*"), heartbeat(500, "c1", "T=*"), stop(900, "c1")]
    )
    assert memberships.of("G") == [Membership("G", C1, 0, 900, 900)]
    assert memberships.groups() == ["G"]


def test_a_death_is_no_sign_of_life() -> None:
    assert memberships_of([heartbeat(10, "c1", "T=*"), crash(900, "c1")]).of("G") == [Membership("G", C1, 10, 10, 900)]


def test_leaving_one_group_is_no_end_in_another() -> None:
    events = [heartbeat(0, "c1", "T=*"), heartbeat(0, "c1", "T=*", group="H"), event(50, Kind.UNREGISTER, "c1")]
    memberships = memberships_of(events)
    assert [membership.end for membership in memberships.of("G")] == [50]
    assert [membership.end for membership in memberships.of("H")] == [None]


def test_what_comes_just_after_the_end_is_no_new_life() -> None:
    events = [heartbeat(0, "c1", "T=*"), event(1_000, Kind.UNREGISTER, "c1"), heartbeat(1_040, "c1", "U=*")]
    assert len(memberships_of(events).of("G")) == 1
    again = memberships_of([*events, heartbeat(9_000, "c1", "T=*")]).of("G")
    assert [(membership.first, membership.last, membership.end) for membership in again] == [
        (0, 1_000, 1_000),
        (9_000, 9_000, None),
    ]


def test_a_quick_restart_of_the_same_process_is() -> None:
    events = [heartbeat(0, "c1", "T=*"), stop(1_000, "c1"), start(1_010, "c1"), heartbeat(1_020, "c1", "T=*")]
    assert [(membership.first, membership.end) for membership in memberships_of(events).of("G")] == [
        (0, 1_000),
        (1_010, None),
    ]


def test_until_when_a_process_without_an_end_lives() -> None:
    events = [heartbeat(0, "c1", "T=*"), heartbeat(30_000, "c1", "T=*")]
    (membership,) = memberships_of(events).of("G")
    assert memberships_of(events).until(membership, certain=True) == 1_000_000
    unsure = memberships_of(events, evidence=WITHOUT_ENDS)
    assert [unsure.until(membership, certain=certain) for certain in (True, False)] == [30_000, 1_000_000]


def test_the_life_at_a_time() -> None:
    memberships = memberships_of(
        [heartbeat(10, "c1", "T=*"), stop(20, "c1"), start(500, "c1"), heartbeat(510, "c1", "T=*")]
    )
    found = [memberships.at("G", C1, time) for time in (5, 10, 400, 500)]
    assert [membership and membership.first for membership in found] == [None, 10, 10, 500]
    assert memberships.at("H", C1, 10) is None


def test_a_process_ended_before_the_next_one_of_its_client_began() -> None:
    following = {**heartbeat(90_000, "c1", "T=*"), "incarnation": 1}
    memberships = memberships_of([heartbeat(0, "c1", "T=*"), heartbeat(30_000, "c1", "T=*"), following])
    first, second = memberships.of("G")
    assert [memberships.until(first, certain=certain) for certain in (True, False)] == [30_000, 1_000_000]
    assert memberships.until(second, certain=True) == 1_000_000
