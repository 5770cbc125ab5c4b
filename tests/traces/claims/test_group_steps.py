"""What a process does in its group follows from what it did before: each misstep is found, and a right life is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocketproof.traces.claims.claims import CODE, claim
from rocketproof.traces.claims.group_steps import LIFECYCLE, SHARES, GroupMisstep
from rocketproof.traces.clocks.clocks import Clock, Clocks, Run
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.explain.titles import title
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, slave_of

from ..monitors.groups.group_events import EVERYTHING, Event, Judged, event, heartbeat, rebalance, start

QUEUES = ["b:0", "b:1"]
ORDERLY = {"G": Group(listener="orderly", mode="clustering")}
BROADCASTING = {"G": Group(listener="concurrently", mode="broadcasting")}


def of_broker(time: int, kind: Kind, **fields: Any) -> Event:
    return {"time": time, "kind": str(kind), "broker": "b", **fields}


def route(time: int, *queues: str) -> Event:
    return event(time, Kind.ROUTE, "one", topic="T", queues=list(queues or QUEUES))


def taken(time: int, kind: Kind, queue: int, **fields: Any) -> Event:
    return event(time, kind, "one", topic="T", broker="b", queue=queue, **fields)


def members(time: int, *names: str) -> Event:
    return of_broker(time, Kind.MEMBERS, group="G", members=list(names))


def pass_(time: int, *assigned: str, **fields: Any) -> Event:
    return rebalance(time, "one", ["one"], QUEUES, assigned=list(assigned or QUEUES), **fields)


def leave(time: int) -> Event:
    return event(time, Kind.UNREGISTER, "one")


def stop(time: int) -> Event:
    return event(time, Kind.CLIENT_STOP, "one")


LOADED = of_broker(1, Kind.FILE_LOAD, result="ok")
BEGIN = [LOADED, of_broker(2, Kind.BROKER_START), start(100, "one"), route(200), members(300, "one")]
TOLD = [*BEGIN, heartbeat(310, "one", "T=*@7")]
OWNS = [
    *[*TOLD, pass_(400), taken(401, Kind.LOCK, 0, result="ok"), taken(402, Kind.LOCK, 1, result="ok")],
    *[taken(500, Kind.ASSIGN, 0), taken(500, Kind.ASSIGN, 1), heartbeat(30_000, "one", "T=*@7"), pass_(30_400)],
]
ENDS = [
    *[taken(60_000, Kind.UNLOCK, 0), taken(60_000, Kind.UNLOCK, 1), leave(60_001), members(60_010)],
    *[taken(60_020, Kind.REVOKE, queue, path="shutdown") for queue in (0, 1)],
]
RIGHT = [*OWNS, *ENDS, stop(60_021), of_broker(99_000, Kind.FILE_PERSIST), of_broker(99_999, Kind.BROKER_STOP)]


def judged(events: list[Event], *, groups: dict[str, Group] | None = None, **how: Any) -> Judged:
    return Judged(events, groups=groups, complete=True, **how)


def told(events: list[Event], **how: Any) -> list[GroupMisstep]:
    found = judged(events, **how)
    return [GroupMisstep(row["value"]) for name in (LIFECYCLE, SHARES) for row in found.rows(name)]


def without(kind: Kind, at: int = 0) -> list[Event]:
    place = [n for n, each in enumerate(RIGHT) if each["kind"] == kind][at]
    return RIGHT[:place] + RIGHT[place + 1 :]


def test_every_step_says_what_it_rests_on() -> None:
    for one in (row.step for row in GroupMisstep):
        assert one.claim in CODE
        assert one.rules
        assert one.needs
        assert one.statement.endswith(".")


def test_what_follows_step_by_step_is_healthy() -> None:
    for groups in (None, ORDERLY):
        found = judged(RIGHT, groups=groups)
        assert found.violated == []
        assert found.judged(LIFECYCLE) == found.judged(SHARES) == 1


def test_a_topic_may_be_subscribed_to_later() -> None:
    for version in (24_000, 29_990, 30_010):
        assert told([*OWNS, heartbeat(40_000, "one", "T=*@7", f"U=*@{version}"), *ENDS, stop(60_021)]) == []


def on_a_day(events: list[Event], version: int = 7) -> list[Event]:
    """The same ten days later, when versions of subscriptions are times."""
    later, told_of = 864_000_000, {str(Kind.HEARTBEAT)}
    return [
        {**each, "time": each["time"] + later}
        | ({"subscriptions": [f"T=*@{later + version}"]} if each["kind"] in told_of else {})
        for each in events
    ]


@pytest.mark.parametrize(("late", "found"), [(1_000, []), (1_001, [GroupMisstep.HAD_AT_STOP])])
def test_a_pass_may_give_up_a_queue_as_the_process_stops(late: int, found: list[GroupMisstep]) -> None:
    given_up = next(n for n, each in enumerate(RIGHT) if each["kind"] == Kind.REVOKE)
    removed = [pass_(60_021, "b:1"), stop(60_021), taken(60_021 + late, Kind.REVOKE, 0, path="removal")]
    later = [each for each in RIGHT[given_up + 1 :] if each["kind"] != Kind.CLIENT_STOP]
    events = sorted([*RIGHT[:given_up], *later, *removed], key=lambda each: each["time"])
    assert told(events) == found


def test_a_log_says_nothing_of_queues_that_a_shutdown_gives_up() -> None:
    kept = without(Kind.REVOKE)
    of_log = [{**each, "queues": None} if each["kind"] == Kind.REBALANCE else each for each in kept]
    assert (told(kept), told(of_log)) == ([GroupMisstep.HAD_AT_STOP], [])


def test_a_local_proxy_stops_its_broker_twice_and_starts_it_for_a_while() -> None:
    again = [*RIGHT, of_broker(100_020, Kind.BROKER_STOP)]
    assert told(again) == []
    loaded = [LOADED | {"time": 110_000}, of_broker(120_000, Kind.FILE_PERSIST), of_broker(125_000, Kind.BROKER_START)]
    assert told([*again, *loaded]) == []
    assert told([*again, *loaded[1:]]) != []
    assert told([*RIGHT, of_broker(140_000, Kind.BROKER_STOP)]) == [GroupMisstep.BROKER_TWICE]


def test_who_takes_queues_tells_a_newer_subscription() -> None:
    assert told(on_a_day(OWNS), groups=ORDERLY) == [GroupMisstep.NOT_NEWER]
    assert told(on_a_day(OWNS, 500), groups=ORDERLY) == []
    assert told(on_a_day(OWNS, 460), groups=ORDERLY) == []  # its ms are not those of its recorder
    # What was taken a moment ago may not be told yet.
    soon = [each | {"time": 9_000} if each["kind"] == Kind.HEARTBEAT and each["time"] > 500 else each for each in OWNS]
    assert told(on_a_day(soon), groups=ORDERLY) == []


def test_a_pass_may_come_before_the_heartbeat_of_a_new_subscription():
    soon = [*OWNS, heartbeat(40_000, "one", "U=*@6"), pass_(41_000), heartbeat(50_000, "one", "T=*@7", "U=*@6")]
    assert GroupMisstep.NOT_TOLD not in told([*soon, heartbeat(60_000, "one", "U=*@6")], groups=ORDERLY)


UNLISTED = [
    *[*BEGIN[:-1], members(300, "two"), *(heartbeat(time, "one", "T=*@7") for time in (310, 40_000, 80_000, 120_000))],
    *(rebalance(time, "one", ["two"], QUEUES, assigned=[]) for time in range(20_000, 160_000, 20_000)),
]
OTHER = event(30_500, Kind.ROUTE, "one", topic="U", queues=QUEUES)
STILL_HAD = [
    *(*OWNS, OTHER, *(heartbeat(time, "one", "U=*@30500") for time in (31_000, 60_000))),
    pass_(80_000, topic="U", detail="AVG"),
]
NOT_TAKEN = [*(each for each in OWNS if each["kind"] != Kind.ASSIGN or each["queue"] == 0), pass_(41_000)]
LATER = (60_000, 80_000, 100_500)
OTHER_LEAVES = event(61_000, Kind.UNREGISTER, "two", "H")
WRONG: dict[GroupMisstep, list[Event]] = {
    GroupMisstep.NOT_STARTED: [start(3, "two", "H"), *without(Kind.CLIENT_START)],
    GroupMisstep.STARTED_TWICE: [*OWNS, start(40_000, "one"), *ENDS, stop(60_021)],
    GroupMisstep.STOPPED_TWICE: [*RIGHT, stop(70_000)],
    GroupMisstep.ACTS_STOPPED: [*RIGHT, heartbeat(70_000, "one", "T=*@7")],
    GroupMisstep.NOT_UNREGISTERED: [
        *OWNS,
        *(taken(59_000, Kind.REVOKE, q, path="unsubscribe") for q in (0, 1)),
        stop(60_021),
        OTHER_LEAVES,
    ],
    GroupMisstep.NOT_STOPPED: without(Kind.CLIENT_STOP),
    GroupMisstep.HAD_AT_STOP: without(Kind.REVOKE),
    GroupMisstep.STARTED_IN_VAIN: [*BEGIN[:2], event(100, Kind.CLIENT_START, "one", "H"), *RIGHT[2:]],
    GroupMisstep.OLD_SUBSCRIPTION: [*OWNS, heartbeat(40_000, "one", "T=*@6")],
    GroupMisstep.NOT_ALL_TOLD: [*OWNS, heartbeat(40_000, "one", "T=*@7", "U=*@23000")],
    GroupMisstep.NOT_TOLD: [*OWNS, *(heartbeat(time, "one", "U=*@6") for time in (40_000, 51_001)), pass_(41_000)],
    GroupMisstep.BROKER_NOT_RUNNING: without(Kind.BROKER_START),
    GroupMisstep.BROKER_TWICE: [*OWNS, LOADED | {"time": 39_000}, of_broker(40_000, Kind.BROKER_START)],
    GroupMisstep.NOT_LOADED: [LOADED | {"result": "failed"}, *RIGHT[1:]],
    GroupMisstep.NOT_GIVEN: [*OWNS, pass_(40_000), taken(41_000, Kind.ASSIGN, 2)],
    GroupMisstep.STILL_GIVEN: [*OWNS, taken(41_000, Kind.REVOKE, 1, path="removal")],
    GroupMisstep.KEPT: [*OWNS, pass_(40_000, "b:0"), pass_(50_000, "b:0")],
    GroupMisstep.NOT_ENDING: [*OWNS, taken(41_000, Kind.REVOKE, 1, path="shutdown"), OTHER_LEAVES],
    GroupMisstep.OTHER_QUEUES: [*OWNS, route(35_000, "b:0"), pass_(41_000)],
    GroupMisstep.OTHER_MEMBERS: [*OWNS, members(32_000, "one", "two"), pass_(40_000)],
    GroupMisstep.OTHER_STRATEGY: [*OWNS, pass_(40_000, detail="AVG_BY_CIRCLE")],
    GroupMisstep.SILENT: [
        *OWNS,
        *(heartbeat(time, "one", "T=*@7") for time in (40_000, 50_000)),
        *(pass_(time) for time in range(60_000, 220_000, 20_000)),
    ],
    GroupMisstep.UNKNOWN_GIVEN: [*OWNS, pass_(40_000, "b:0", "b:9")],
    GroupMisstep.NOT_READ: [
        of_broker(0, Kind.FILE_LOAD, result="ok", detail="consumerOffset"),
        *RIGHT,
        of_broker(60_500, Kind.FILE_PERSIST, detail="delayOffset"),
    ],
    GroupMisstep.FILE_NOT_READ: RIGHT,
    GroupMisstep.NOT_TAKEN: NOT_TAKEN,
    GroupMisstep.UNLISTED: UNLISTED,
    GroupMisstep.STILL_HAD: STILL_HAD,
    GroupMisstep.NOT_NEWER: on_a_day(OWNS),
    GroupMisstep.OTHER_EXPRESSION: [*OWNS, heartbeat(40_000, "one", "T=A@7")],
    GroupMisstep.RETRIES_TOLD: [*OWNS, heartbeat(40_000, "one", "T=*@7", "%RETRY%G=*@7")],
    GroupMisstep.STILL_TOLD: [
        *(*OWNS, taken(41_000, Kind.REVOKE, 1, path="unsubscribe"), heartbeat(52_000, "one", "T=*@7")),
    ],
    GroupMisstep.UNWRITTEN: [
        *(*OWNS, *ENDS, stop(60_021), *(of_broker(time, Kind.FILE_PERSIST) for time in (10_000, 15_000))),
        of_broker(99_999, Kind.BROKER_STOP),
    ],
}
OF_GROUPS = {
    GroupMisstep.KEPT: None,
    GroupMisstep.NOT_TAKEN: None,
    GroupMisstep.UNLISTED: None,
    GroupMisstep.FILE_NOT_READ: {"G": Group(mode="broadcasting")},
    GroupMisstep.RETRIES_TOLD: {"G": Group(mode="broadcasting")},
}


@pytest.mark.parametrize("misstep", GroupMisstep)
def test_each_misstep_is_found_and_told_in_a_sentence(misstep: GroupMisstep) -> None:
    step = misstep.step
    found = judged(WRONG[misstep], groups=OF_GROUPS.get(misstep, ORDERLY))
    rows = [row for row in found.outcome.rows if row["value"] == misstep and row["claim"] == CODE[step.claim]]
    assert len(rows) == 1
    text = title(claim(step.claim), {column: int(rows[0][column]) for column in rows[0].dtype.names}, found.names)
    assert text.startswith(("one ", "broker b "))
    assert "{" not in text


@pytest.mark.parametrize("misstep", GroupMisstep)
def test_a_row_is_not_asked_where_a_kind_it_rests_on_was_not_recorded(misstep: GroupMisstep) -> None:
    for kind in misstep.step.needs:
        assert misstep not in told(WRONG[misstep], groups=OF_GROUPS.get(misstep, ORDERLY), evidence=EVERYTHING - {kind})


def test_a_recording_that_begins_later_asks_for_no_beginning() -> None:
    for at in range(len(RIGHT)):
        found = Judged(RIGHT[at:], groups=ORDERLY)
        assert (at, found.violated) == (at, [])


def test_a_table_that_could_not_be_written_is_not_written() -> None:
    def written(result: str) -> list[GroupMisstep]:
        tries = [of_broker(time, Kind.FILE_PERSIST, result=result) for time in range(20_000, 99_000, 10_000)]
        return told([*WRONG[GroupMisstep.UNWRITTEN], *tries], groups=ORDERLY)

    assert written("ok") == []
    assert written("error") == [GroupMisstep.UNWRITTEN]


def test_the_first_start_of_a_broker_may_be_that_of_an_empty_store() -> None:
    first = [each for each in BEGIN if each["kind"] != Kind.FILE_LOAD]
    assert len(first) < len(BEGIN)
    keeps = [of_broker(60_500, Kind.FILE_PERSIST, detail="consumerOffset"), of_broker(70_000, Kind.BROKER_STOP)]

    def restarts(table: str) -> list[GroupMisstep]:
        read = of_broker(79_000, Kind.FILE_LOAD, result="ok", detail=table)
        return told([*first, *keeps, read, of_broker(80_000, Kind.BROKER_START)], groups=ORDERLY)

    assert restarts("consumerOffset") == []
    assert restarts("delayOffset") == [GroupMisstep.NOT_READ]


def test_lists_of_brokers_are_not_asked_for_by_a_clock_of_which_nothing_is_known() -> None:
    """Where the broker was seen to be 9 s off, a process without causal pairs may be so too."""
    broker, other = Actor("b", -1), Actor("other", 0)
    off = Clock(recorder=other, pairs=9, runs=(Run(since=0, times=(0,), offsets=(9_000_000,)),), reference=broker)
    known = Clock(recorder=broker, pairs=9, reference=broker, slow=0, fast=0)
    wrong = WRONG[GroupMisstep.OTHER_MEMBERS]
    assert told(wrong, groups=ORDERLY, clocks=Clocks(clocks={broker: known, other: off})) == []
    one = replace(known, recorder=Actor("one", 0))
    bounded = Clocks(clocks={broker: known, other: off, one.recorder: one})
    assert told(wrong, groups=ORDERLY, clocks=bounded) == told(wrong, groups=ORDERLY)


def test_while_a_broker_is_away_a_slave_may_tell_who_is_there() -> None:
    """Until clients have learnt routes and divided queues again; a slave that was recorded has lists of its own."""
    wrong = WRONG[GroupMisstep.OTHER_MEMBERS]
    back = [LOADED | {"time": 31_400}, of_broker(31_500, Kind.BROKER_START)]
    away = [of_broker(31_000, Kind.BROKER_STOP), *back]
    early = [e for e in wrong if e["time"] < 31_000]
    again = [*early, *away, members(32_000, "one", "two")]
    assert told([*again, pass_(40_000)], groups=ORDERLY) == []
    assert GroupMisstep.OTHER_MEMBERS in told([*again, pass_(90_000)], groups=ORDERLY)
    slave = {**members(300, "one"), "broker": slave_of("b")}
    changed = members(32_000, "one", "two")
    assert GroupMisstep.OTHER_MEMBERS not in told([*early, slave, changed, pass_(40_000)], groups=ORDERLY)


def test_another_master_runs_from_when_it_is_elected() -> None:
    """Its slaves have one name, of which one starts after another without a stop."""
    dies = [*OWNS, of_broker(40_000, Kind.BROKER_CRASH)]
    elected = [of_broker(50_000, Kind.ROLE_CHANGE, result="master"), of_broker(60_000, Kind.FILE_PERSIST)]
    slaves = [{**of_broker(time, Kind.BROKER_START), "broker": slave_of("b")} for time in (10_000, 30_000)]
    assert told([*slaves, *dies, *elected], groups=ORDERLY) == []
    assert told([*slaves, *dies, *elected[1:]], groups=ORDERLY) == [GroupMisstep.BROKER_NOT_RUNNING]


def test_a_pass_may_have_looked_at_the_queues_before_the_route_was_learnt() -> None:
    # A client that was suspended learns a route and divides the topic at once when it goes on.
    learnt = [*OWNS, route(39_992, "b:0")]
    assert GroupMisstep.OTHER_QUEUES not in told([*learnt, pass_(40_000)], groups=ORDERLY)
    other = rebalance(40_000, "one", ["one"], ["b:0", "b:1", "b:9"], assigned=["b:0"])
    assert GroupMisstep.OTHER_QUEUES in told([*learnt, other], groups=ORDERLY)


def test_a_queue_that_passes_give_may_be_taken_late_or_have_been_taken_before() -> None:
    not_taken = [GroupMisstep.NOT_TAKEN]
    assert told(NOT_TAKEN) == not_taken
    assert told([*NOT_TAKEN[:-1], taken(39_000, Kind.ASSIGN, 1), pass_(41_000)]) == []
    assert told([*NOT_TAKEN[:-1], pass_(35_000, "b:0"), pass_(41_000)]) == []
    # An orderly client may be refused the lock.
    assert told(NOT_TAKEN, groups=ORDERLY) == not_taken
    assert told([*NOT_TAKEN, taken(20_000, Kind.LOCK, 1, result="failed")], groups=ORDERLY) == []
    # RB-35: what it had, and gave up while a listener ran, is in the way for a while.
    again = [*OWNS, taken(31_000, Kind.REVOKE, 1, path="lock"), *map(pass_, range(32_000, 192_000, 20_000))]
    beats = [heartbeat(time, "one", "T=*@7") for time in range(60_000, 220_000, 30_000)]
    assert told([*again, *beats], groups=ORDERLY) == []
    assert told([*again, *beats, pass_(192_000), pass_(212_000)], groups=ORDERLY) == not_taken


def test_a_broadcasting_client_whose_heartbeats_are_answered_takes_what_it_gives_itself() -> None:
    file = event(150, Kind.FILE_LOAD, "one")
    alone = [{**each, "members": None} if each["kind"] == Kind.REBALANCE else each for each in NOT_TAKEN]
    found = judged([file, *alone], groups=BROADCASTING).rows(SHARES)
    assert [(row["value"], row["doubt"] != 0) for row in found] == [(GroupMisstep.NOT_TAKEN, False)]
    unheard = [each for each in alone if each["kind"] != Kind.HEARTBEAT or each["time"] < 400]
    found = judged([file, *unheard], groups=BROADCASTING).rows(SHARES)
    assert [(row["value"], row["doubt"] != 0) for row in found] == [(GroupMisstep.NOT_TAKEN, True)]


def test_a_client_takes_what_it_gives_itself_at_each_broker_that_answers_its_heartbeats() -> None:
    both = ["b:0", "b:1", "c:0"]
    seen = [
        {**one, "queues": both, "assigned": both} if one["kind"] in (Kind.REBALANCE, Kind.ROUTE) else one
        for one in NOT_TAKEN
    ]

    def doubts(*brokers: str) -> list[bool]:
        beats = [{**heartbeat(20_000, "one", "T=*@7"), "broker": broker} for broker in brokers]
        found = judged([*seen, *beats])
        rows = [row for row in found.rows(SHARES) if row["value"] == GroupMisstep.NOT_TAKEN]
        return [bool(row["doubt"]) for row in rows]

    assert (doubts("b"), doubts("c"), doubts()) == ([False], [True], [True])


def test_a_topic_that_is_consumed_no_more_is_given_up() -> None:
    assert told(STILL_HAD, groups=ORDERLY) == [GroupMisstep.STILL_HAD]
    gone = [taken(45_000, Kind.REVOKE, queue, path="unsubscribe") for queue in (0, 1)]
    assert GroupMisstep.STILL_HAD not in told([*STILL_HAD, *gone], groups=ORDERLY)
    again = [heartbeat(45_000, "one", "T=*@40000", "U=*@30500")]
    assert GroupMisstep.STILL_HAD not in told([*STILL_HAD, *again], groups=ORDERLY)
    # The next rounds are not over.
    assert GroupMisstep.STILL_HAD not in told([*STILL_HAD[:-1], pass_(70_000, topic="U")], groups=ORDERLY)


def test_a_broker_names_who_tells_it_that_it_is_there() -> None:
    assert told(UNLISTED) == [GroupMisstep.UNLISTED]
    # It has named it meanwhile, or began anew and has to hear of it again.
    named = [members(69_000, "one", "two"), rebalance(70_000, "one", ["one", "two"], QUEUES), members(71_000, "two")]
    assert GroupMisstep.UNLISTED not in told([*UNLISTED, *named])
    anew = [of_broker(70_000, Kind.BROKER_STOP), LOADED | {"time": 70_001}, of_broker(70_002, Kind.BROKER_START)]
    assert GroupMisstep.UNLISTED not in told([*UNLISTED, *anew])
    # Who tells brokers nothing is forgotten.
    assert GroupMisstep.UNLISTED not in told([each for each in UNLISTED if each["time"] < 400 or "queues" in each])
    # A pass that stood still for long was answered by nobody in between.
    assert GroupMisstep.UNLISTED not in told([each for each in UNLISTED if each["time"] not in (60_000, 80_000)])
    # Who ran before the recording may have taken it then; unless a pass took it away.
    begun = [each for each in NOT_TAKEN if each["kind"] != Kind.CLIENT_START]
    assert GroupMisstep.NOT_TAKEN not in told(begun)
    assert GroupMisstep.NOT_TAKEN in told([*begun, pass_(50_000, "b:0"), *map(pass_, LATER)])


def test_whether_another_broker_could_be_asked_is_not_known() -> None:
    two = [{**each, "queues": [*QUEUES, "a:0"]} if "queues" in each else each for each in NOT_TAKEN]
    (row,) = judged(two).rows(SHARES)
    assert (row["value"], row["since"], row["time"], row["doubt"] != 0) == (GroupMisstep.NOT_TAKEN, 400, 41_000, True)


def test_a_process_that_died_owes_nothing() -> None:
    crash = event(60_000, Kind.CLIENT_CRASH, "one", None)
    assert told([*OWNS, crash, of_broker(99_000, Kind.FILE_PERSIST)], groups=ORDERLY) == []


def test_whether_a_process_stopped_that_was_not_recorded_further_is_not_known() -> None:
    (row,) = judged(without(Kind.CLIENT_STOP)).rows(LIFECYCLE)
    assert (row["value"], row["doubt"] != 0) == (GroupMisstep.NOT_STOPPED, True)


def test_a_pass_that_names_no_group_makes_no_group() -> None:
    nameless = {name: value for name, value in pass_(45_000).items() if name != "group"}
    whole = {name: value for name, value in stop(60_021).items() if name != "group"}
    assert told([*OWNS, nameless, *ENDS, whole, *RIGHT[-2:]]) == told(RIGHT) == []


def test_of_two_passes_at_once_each_is_acted_upon() -> None:
    gives_up = [*OWNS, pass_(35_000, "b:0"), taken(35_010, Kind.REVOKE, 1, path="removal")]
    after = [taken(55_100, Kind.ASSIGN, 1), pass_(58_000, "b:0"), taken(58_010, Kind.REVOKE, 1, path="removal")]
    assert told([*gives_up, pass_(55_000), pass_(55_002, "b:0"), *after]) == []
    assert told([*gives_up, pass_(53_000), pass_(55_002, "b:0"), *after]) == [GroupMisstep.NOT_GIVEN]
    kept = [taken(41_000, Kind.REVOKE, 1, path="removal")]
    assert told([*OWNS, pass_(40_000, "b:0"), pass_(40_002), *kept]) == []
    assert told([*OWNS, pass_(38_000, "b:0"), pass_(40_002), *kept]) == [GroupMisstep.STILL_GIVEN]


def test_a_first_pass_that_began_before_its_client_learnt_the_route_may_not_be_recorded() -> None:
    def taken_at(time: int) -> list[Event]:
        queues = [taken(time, Kind.ASSIGN, 0), taken(time, Kind.ASSIGN, 1)]
        return [*TOLD, *queues, heartbeat(30_000, "one", "T=*@7"), pass_(30_400), *ENDS, stop(60_021)]

    assert told(taken_at(5_200)) == []
    assert told(taken_at(5_201)) == [GroupMisstep.NOT_GIVEN]


def test_a_topic_that_is_consumed_again_is_told_again() -> None:
    dropped = [*OWNS, taken(41_000, Kind.REVOKE, 1, path="unsubscribe")]
    # A heartbeat to the next broker may be under way.
    assert told([*dropped, heartbeat(42_000, "one", "T=*@7")]) == []
    again = [heartbeat(time, "one", "T=*@9") for time in (55_000, 85_000)]
    assert told([*dropped, *again]) == []
    assert told([*dropped, heartbeat(85_000, "one", "T=*@7")]) == [GroupMisstep.STILL_TOLD]


def test_a_broadcasting_client_balances_while_it_reaches_no_broker() -> None:
    alone = [one | {"members": None} if one["kind"] == Kind.REBALANCE else one for one in WRONG[GroupMisstep.SILENT]]
    assert GroupMisstep.SILENT in told(alone, groups=ORDERLY)
    assert GroupMisstep.SILENT not in told(alone, groups={"G": Group(mode="broadcasting")})


def test_a_client_is_silent_when_brokers_may_forget_it() -> None:
    """ST-6: 120 s after its last heartbeat, not after its next pass."""
    beats = [*OWNS, *(heartbeat(time, "one", "T=*@7") for time in (40_000, 50_000))]
    assert told([*beats, *(pass_(time) for time in range(70_000, 171_000, 20_000))]) == []
    on_time = [pass_(time) for time in (69_000, 89_000, 109_000, 129_000, 149_000, 169_000, 171_000)]
    assert told([*beats, *on_time]) == [GroupMisstep.SILENT]
    # After a standstill it has to announce itself first.
    stood_still = [pass_(time) for time in (95_000, 115_000, 135_000, 155_000, 175_000)]
    assert told([*beats, *stood_still]) == []


def test_a_round_that_began_before_its_client_left_goes_on_to_other_brokers_and_topics() -> None:
    left = [*OWNS, *ENDS]
    rounds = [heartbeat(75_000, "one", "T=*@7") | {"broker": name} for name in ("b", "c")]
    passes = [pass_(76_000), pass_(77_000) | {"topic": "%RETRY%G"}]
    assert GroupMisstep.ACTS_STOPPED not in told([*left, *rounds, *passes, stop(80_000)])
    for again in (rounds[0] | {"time": 79_000}, passes[0] | {"time": 79_000}):
        assert GroupMisstep.ACTS_STOPPED in told([*left, *rounds, *passes, again, stop(80_000)])


def test_a_strategy_with_settings_may_name_a_queue_twice() -> None:
    def is_told(*given: str, by: str) -> bool:
        return GroupMisstep.UNKNOWN_GIVEN in told([*OWNS, pass_(40_000, *given, detail=by)])

    assert is_told("b:0", "b:0", by="AVG")
    assert not is_told("b:0", "b:0", by="CONFIG")
    assert is_told("b:0", "b:9", by="AVG")
    # AllocateMessageQueueByConfig answers its list for every topic, the retry topic included.
    assert not is_told("b:0", "b:9", by="CONFIG")
