"""Runs that go along with a message and its retries, and with the members of a group."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.model.assignment import assignment
from rocketproof.model.consumption import consumption
from rocketproof.model.delay import DEFAULT_LEVELS, DelayTable
from rocketproof.traces.conformance.along_group import AlongGroup, expressions, members
from rocketproof.traces.conformance.along_retries import AlongRetries, chain
from rocketproof.traces.conformance.alongside import Alongside, alongside
from rocketproof.traces.conformance.events import Event, event_of
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group
from rocketproof.traces.generate.recorder import record_run

from .recorded import Walks
from .recorded import event_of as told_by

EVER = 1 << 60
TABLE = DelayTable.parse(DEFAULT_LEVELS)


def of_message(events: list[Event], maximum: int = -1) -> AlongRetries | None:
    group = Group(max_attempts=maximum)
    found = chain(events, "m", until=EVER, group=group, table=TABLE, release="5.3.3")
    return AlongRetries(found) if found is not None else None


def of_group(events: list[dict[str, Any]]) -> Alongside | None:
    told = {number: expressions(event.get("subscriptions")) for number, event in enumerate(events)}
    found = members(
        [event_of(number, event) for number, event in enumerate(events)], told, group="billing", topic="", until=EVER
    )
    return alongside(AlongGroup(found)) if found is not None else None


def retried(*lines: str, maximum: int = -1) -> Alongside:
    """A message of which these events are told, 20 s apart; ``retry`` stands for the retry topic."""
    events = []
    for number, line in enumerate(lines):
        told = told_by(number, line.replace("topic=retry", "topic=%RETRY%billing"))
        events.append(event_of(number, {**told, "time": 20_000 * number}))
    following = of_message(events, maximum)
    assert following is not None
    return alongside(following)


def test_every_random_run_of_retries_is_gone_along_with() -> None:
    constants = {"queues": 2, "messages": 4, "retry_room": 3, "copies": 3, "failures": 3, "attempts": 1, "refused": 1}
    walks = Walks(consumption.configure(consumers=1, lost_replies=1, **constants))
    followed, stopped = 0, {}
    for seed in range(8):
        recording = record_run(walks.run(seed, 40))
        events = [event_of(number, event) for number, event in enumerate(recording.events)]
        following = of_message([event for event in events if event.key is not None], maximum=1)
        if following is not None:
            followed += 1
            stopped[seed] = alongside(following).stopped_by
    assert followed > 4
    assert {seed: str(event) for seed, event in stopped.items() if event is not None} == {}


def test_every_random_run_of_a_group_is_gone_along_with() -> None:
    walks = Walks(assignment.configure(consumers=3, running=0, queues=3, crashes=1, route_changes=1, broker_restarts=1))
    followed, stopped = 0, {}
    for seed in range(8):
        answer = of_group(record_run(walks.run(seed, 30)).events)
        followed += answer is not None
        stopped[seed] = answer.stopped_by if answer is not None else None
    assert followed > 4
    assert {seed: str(event) for seed, event in stopped.items() if event is not None} == {}


FAILED = (
    "deliver c0 attempt=0",
    "result c0 result=later attempt=0",
    "delay_store c0 topic=retry attempt=1 level=3 due=50000",
    "send_back c0 path=request result=ok attempt=0",
)
FIRST = ("pull(c0, q0)", "begin(c0, q0, m0)", "fail(c0, q0, m0)", "send_back_by_request(c0, q0, m0)")


def test_a_retry_is_followed_to_the_dead_letter() -> None:
    run = retried(
        *FAILED,
        "delay_deliver c0 topic=retry attempt=1 due=50000",
        "deliver c1 topic=retry attempt=1",
        "result c1 result=later attempt=1",
        "dead_letter c1 topic=%DLQ%billing attempt=2",
        maximum=1,
    )
    assert run.stopped_by is None
    assert tuple(step for step in run.steps if not step.startswith("take")) == (
        *FIRST,
        *("ripen(k0)", "deliver(k0)", "pull(c1, q1)", "begin(c1, q1, m0)", "fail(c1, q1, m0)"),
        "send_back_by_request(c1, q1, m0)",
    )


@pytest.mark.parametrize(
    ("lines", "stopped_by"),
    [
        ((*FAILED[:2], FAILED[2].replace("level=3", "level=4")), "delay_store"),
        ((*FAILED, "delay_deliver c0 topic=retry attempt=1 due=95000"), "delay_deliver"),
        ((*FAILED, "deliver c0 topic=retry attempt=2"), "deliver"),
        ((FAILED[0], "result c0 result=ok attempt=0", FAILED[3]), "send_back"),
        ((*FAILED[:2], "dead_letter c0 topic=%DLQ%billing attempt=1"), "dead_letter"),
    ],
)
def test_a_retry_that_the_model_has_no_step_for_ends_the_run(lines: tuple[str, ...], stopped_by: str) -> None:
    event = retried(*lines).stopped_by
    assert event is not None
    assert (str(event.kind), event.number) == (stopped_by, len(lines) - 1)


def test_of_many_tries_the_last_are_followed_and_levels_are_told_from_there() -> None:
    lines = []
    for count in range(10):
        topic = "topic=retry " if count else ""
        lines += [f"deliver c0 {topic}attempt={count}", f"result c0 {topic}result=later attempt={count}"]
        lines += [f"delay_store c0 topic=retry attempt={count + 1} level={count + 3}"]
    found = chain(
        [event_of(number, {**told_by(number, line), "time": 10**7 * number}) for number, line in enumerate(lines)],
        "m",
        until=EVER,
        group=Group(),
        table=TABLE,
        release="5.3.3",
    )
    assert found is not None
    assert (found.first, found.maximum, found.level(10), found.constants()["attempts"]) == (6, 16, 4, 4)


def test_a_retry_with_which_the_chain_begins_may_be_delivered_once_more() -> None:
    again = [f"deliver c{number} topic=retry attempt=1" for number in range(2)]
    assert retried(*again).stopped_by is None


def test_what_was_never_delivered_is_not_followed_and_of_many_processes_the_last_are() -> None:
    assert of_message([event_of(0, told_by(0, "send_back c0 result=ok"))]) is None
    following = of_message([event_of(number, told_by(number, f"deliver c{number}")) for number in range(4)])
    assert following is not None
    assert following.names()[:3] == ["c0 is c1", "c1 is c2", "c2 is c3"]
    others = [event_of(number, told_by(number, f"result c{number} result=later")) for number in range(4)]
    assert of_message([event_of(0, told_by(0, "deliver c0")), *others]) is None


def passed(client: str, members: list[str], queues: int, *assigned: int, detail: str = "AVG") -> dict[str, Any]:
    return {
        "kind": Kind.REBALANCE,
        "client": client,
        "group": "billing",
        "topic": "Orders",
        "members": members,
        "queues": [f"b:{queue}" for queue in range(queues)],
        "assigned": [f"b:{queue}" for queue in assigned],
        "detail": detail,
    }


def group_of(*events: dict[str, Any]) -> Alongside | None:
    return of_group([{"time": 1_000 * number, **event} for number, event in enumerate(events)])


def beat(client: str, *subscriptions: str) -> dict[str, Any]:
    return {"kind": Kind.HEARTBEAT, "client": client, "group": "billing", "subscriptions": list(subscriptions)}


def test_a_share_that_the_strategy_does_not_give_ends_the_run() -> None:
    right = (passed("a", ["a"], 2, 0, 1), passed("b", ["a", "b"], 2, 1))
    followed = group_of(*right, passed("a", ["a", "b"], 2, 0))
    assert followed is not None
    assert followed.stopped_by is None
    assert followed.steps[-1] == "rebalance_pass(c0, b0)"
    wrong = group_of(*right, passed("a", ["a", "b"], 2, 0, 1))
    assert wrong is not None
    assert wrong.stopped_by is not None
    assert wrong.stopped_by.number == 2


def test_many_queues_are_named_together() -> None:
    for count, named in ((2, ["q0 is b:0", "q1 is b:1"]), (6, ["q0 to q5 are b:0 to b:5 in their order"])):
        event = event_of(0, {"time": 0, **passed("a", ["a"], count, *range(count))})
        found = members([event], {}, group="billing", topic="", until=EVER)
        assert found is not None
        assert AlongGroup(found).names() == ["c0 is a", *named]


def test_a_route_that_no_client_has_read_names_queues_too() -> None:
    route = event_of(0, {"time": 0, "kind": "route", "topic": "Orders", "queues": ["b:0", "b:1", "b:2"]})
    found = members(
        [route, event_of(1, {"time": 1, **passed("a", ["a"], 2, 0)})], {}, group="billing", topic="", until=EVER
    )
    assert found is not None
    assert found.queues == ("b:0", "b:1", "b:2")


def test_another_expression_than_that_of_others_ends_the_run() -> None:
    answer = group_of(beat("a", "Orders=A@1"), passed("a", ["a"], 1, 0), beat("b", "Orders=B@2"))
    assert answer is not None
    assert answer.stopped_by is not None
    assert answer.stopped_by.number == 2


def test_groups_that_the_machine_has_no_room_for_are_not_followed() -> None:
    names = [f"c{number:02}" for number in range(13)]
    assert group_of(passed("c00", ["c00"], 65, *range(65))) is None
    assert group_of(passed("c00", names, 1)) is None
    assert group_of(passed("c00", names[:12], 64, *range(6))) is not None
    assert group_of(passed("a", ["a"], 1, 0, detail="CONSISTENT_HASH")) is None
