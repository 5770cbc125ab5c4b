"""The monitor by message as a fold: what it is fed with, in which order, and what became of messages."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.model.delay import DelayTable, stored_level
from rocketproof.model.retry_policy import copy_times, fallback_gives_up, fallback_level, is_dead_letter, retry_level
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.coding import Coder
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.format.kinds import Kind, Result
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.format.schema import Group
from rocketproof.traces.monitors.messages.messages import WITHOUT_COUNT, WITHOUT_ORIGIN, wanted

from .message_events import ALL, SECOND, START, Event, Script, batch_of, check

SPACING = (10, 30, 60, 120, 180, 240)
LOG = {Kind.DELIVER, Kind.RESULT}


def listener_log(spacing: tuple[int, ...] = SPACING) -> Script:
    """What the log of a listener container tells: no queue, no offset, no broker; failures and their counts."""
    script, time = Script(), 0
    for count in range(len(spacing) + 1):
        told = {"client": "17592", "topic": "T", "key": "m", "attempt": count}
        script.add(time, Kind.DELIVER, **told).add(time + 7, Kind.RESULT, result="exception", **told)
        time += (*spacing, 0)[count] * SECOND + 8
    return script


def test_a_log_of_seven_failures():
    said = check(listener_log(), evidence=LOG, groups={})
    assert said.violated == said.doubtful == {}
    assert said.judged("retry-waits-as-its-level-says") == said.judged("attempts-follow-each-other") == 6
    failed_at = sum(SPACING) * SECOND + 6 * 8 + 7
    assert said.chains == [(MessageStatus.PENDING_RETRY, 6, failed_at + 300 * SECOND)]


def test_a_log_whose_third_retry_comes_too_early():
    said = check(listener_log((10, 30, 59, 120)), evidence=LOG, groups={})
    assert said.doubtful == {"retry-waits-as-its-level-says": 1}


def test_the_last_attempt_without_a_record_of_dead_letters():
    table = Settings().delays
    spacing = tuple(int(table.retry_delay(count)) // SECOND for count in range(16))
    said = check(listener_log(spacing), evidence=LOG, groups={})
    assert said.chains == [(MessageStatus.NOT_OBSERVABLE, 16, 0)]


def test_a_message_that_succeeds_leaves_nothing_behind():
    said = check(Script().deliver(0).result(5, "ok"), Script("n").deliver(3, offset=8))
    assert said.chains == []
    assert said.statuses == {}
    assert said.outcome.rows.size == 0


def test_a_message_that_succeeds_as_a_retry():
    script = Script().fails(0, 0, 3, 10 * SECOND, moved_to=20).deliver(10_020, 1, offset=20)
    assert check(script).chains == [(MessageStatus.IN_LISTENER, 1, 0)]
    said = check(script.result(10_030, "ok", 1, offset=20))
    assert said.chains == [(MessageStatus.ACKNOWLEDGED, 1, 0)]
    assert said.statuses == {MessageStatus.ACKNOWLEDGED: 1}


def test_a_message_that_waits():
    said = check(Script().fails(0, 0, 3, 10 * SECOND, moved_to=20), end=5_000)
    assert said.chains == [(MessageStatus.PENDING_RETRY, 1, 10_011)]
    assert said.names.slots[np.flatnonzero(said.outcome.statuses.sum(axis=1))[0]].topic == "T"


def test_a_message_that_comes_again_from_its_queue_is_told_by_the_monitor_of_queues():
    script = Script().deliver(0).result(10, "later").deliver(500, client="c2")
    said = check(script)
    assert (said.chains, said.statuses) == ([], {})
    script.result(510, "later", client="c2")
    assert check(script).statuses == {}
    # Where send-backs are not recorded, the failure tells that it has left its queue; a new delivery, that it has not.
    assert check(script, evidence=ALL - {Kind.SEND_BACK}).statuses == {MessageStatus.PENDING_RETRY: 1}
    assert check(script.deliver(600), evidence=ALL - {Kind.SEND_BACK}).statuses == {}


def test_a_message_that_is_sent_back_is_told_by_the_monitor_of_messages_whoever_else_has_it():
    script = Script().deliver(0).deliver(5, client="c2").result(10, "later").send_back(11).result(20, "ok", client="c2")
    said = check(script, end=1_000)
    assert said.statuses == {MessageStatus.PENDING_RETRY: 1}
    # A producer that tried twice has stored the message twice: both places are told.
    assert check(script.deliver(30, offset=9).result(40, "later", offset=9).send_back(41, offset=9)).statuses == {
        MessageStatus.PENDING_RETRY: 2
    }


def test_messages_in_queues_that_are_not_told_have_a_fate_each():
    scripts = [Script(key) for key in "abcd"]
    for script in scripts[:3]:
        script.add(0, Kind.DELIVER, client="c1", group="G", topic="T", attempt=0, key=script.key)
    for script, result in zip(scripts[:2], ("ok", "later"), strict=True):
        script.add(9, Kind.RESULT, client="c1", group="G", topic="T", attempt=0, key=script.key, result=result)
    scripts[3].add(9, Kind.RESULT, client="c1", group="G", topic="T", attempt=0, key="d", result="ok")
    said = check(*scripts)
    assert [str(slot) for slot in said.names.slots] == ["T of G"]
    assert said.statuses == {
        MessageStatus.ACKNOWLEDGED: 2,
        MessageStatus.PENDING_RETRY: 1,
        MessageStatus.IN_LISTENER: 1,
    }
    assert check(*scripts, evidence={Kind.DELIVER}).statuses == {
        MessageStatus.ACKNOWLEDGED: 2,
        MessageStatus.PENDING_RETRY: 1,
        MessageStatus.NOT_OBSERVABLE: 1,
    }


def test_a_broadcasting_group_drops_what_fails():
    said = check(Script().deliver(0).result(10, "later"), end=900_000, groups={"G": Group(mode="broadcasting")})
    assert said.violated == {}
    assert said.chains == [(MessageStatus.DROPPED, 0, 0)]
    assert said.statuses == {}  # it is at its place: the monitor by queue counts it


def test_clients_of_a_broadcasting_group_have_a_message_each():
    script = Script().deliver(0).deliver(1, client="c2").result(10, "later").result(11, "later", client="c2")
    said = check(script, groups={"G": Group(mode="broadcasting")})
    assert said.chains == [(MessageStatus.DROPPED, 0, 0)] * 2


def test_events_that_name_no_message_or_no_count_are_counted():
    script = Script().add(0, Kind.DELIVER, client="c1", group="G", topic="T", broker="b", queue=0, offset=1, attempt=0)
    script.add(1, Kind.DELIVER, client="c1", group="G", topic="%RETRY%G", broker="b", queue=0, offset=1, key="m")
    said = check(script)
    assert said.outcome.passed_over == {WITHOUT_ORIGIN: 1, WITHOUT_COUNT: 1}


def test_the_count_of_a_result_is_that_of_the_delivery_at_its_place():
    script = Script().deliver(0, 4)
    script.add(10, Kind.RESULT, client="c1", topic="%RETRY%G", broker="b", queue=0, offset=7, key="m", result="later")
    said = check(script)
    assert WITHOUT_COUNT not in said.outcome.passed_over
    assert said.chains == [(MessageStatus.PENDING_RETRY, 4, 10 + 180 * SECOND)]


def test_which_events_it_wants() -> None:
    events = [
        {"time": START, "kind": kind, "result": result, "attempt": attempt, "offset": offset}
        for kind in Kind
        for result in (None, *Result)
        for attempt in (None, 0, 1)
        for offset in (None, 7)
    ]
    # Without first deliveries at a place that went well.
    assert wanted(Coder(Names()).code(batch_of(events))).sum() == 8 * 21 * 3 * 2 - 3


# --- any order of the keys, and correct chains ----------------------------------------------------------------------

LEVELS = DelayTable.parse("1s 2s 3s 5s 8s")


@st.composite
def chains(draw: st.DrawFn, key: str = "m", release: str = "5.3.3") -> Script:
    """A message that goes through failures, refusals, lost answers, redeliveries, as the rules say."""
    script, time, offset = Script(key), draw(st.integers(0, 500)), draw(st.integers(0, 50)) * 100
    maximum = draw(st.integers(0, 6))
    waiting = [(time, 0, offset, time)]  # when it is delivered, count, offset
    while waiting and len(script.events) < 150:
        time, count, place, _ = waiting.pop(0)
        client = draw(st.sampled_from(["c1", "c2"]))
        script.deliver(time, count, offset=place, client=client)
        if draw(st.integers(0, 3)) == 0:
            script.result(time + 1, "ok", count, offset=place, client=client)
            continue
        script.result(
            time + 1, draw(st.sampled_from(["later", "exception", "null"])), count, offset=place, client=client
        )
        asked = draw(st.sampled_from([0, 0, 0, 1, 4, 9, -1]))
        way = draw(st.sampled_from(["request", "request", "fallback", "twice"]))
        request = (is_dead_letter(count, maximum, asked), retry_level(count, asked))
        fallback = (fallback_gives_up(release, copy_times(count), maximum), fallback_level(count))
        told = {"offset": place, "client": client, "level": asked, "named": maximum}
        ways = {"request": [request], "fallback": [fallback], "twice": [request, fallback]}[way]
        if way != "request":
            script.send_back(time + 3, count, result="failed", **told)
        for number, (dead, wanted_level) in enumerate(ways):
            stored = time + 2 if way != "fallback" and number == 0 else time + 4
            copy = int(copy_times(count))
            if dead:
                script.dead_letter(stored, copy, offset=len(script.events))
                continue
            level = int(stored_level(wanted_level, LEVELS.levels))
            due = stored + int(LEVELS.delay(level))
            offset += 1
            script.delay_store(stored, copy, level, due).delay_deliver(due, copy, offset)
            waiting.append((due + draw(st.integers(0, 3)), copy, offset, due))
        script.send_back(time + 5, count, path="request" if way == "request" else "fallback", **told)
    return script


@given(chains())
def test_a_chain_that_follows_the_rules_violates_nothing(script: Script):
    said = check(script, settings=Settings(delays=LEVELS, delays_told=True))
    assert said.violated == said.doubtful == {}


@given(chains(release="4.9.8"))
def test_a_chain_of_4_9_8_that_follows_the_rules_violates_nothing(script: Script):
    said = check(script, settings=Settings(delays=LEVELS, delays_told=True), release="4.9.8")
    assert said.violated == said.doubtful == {}


@given(st.data())
def test_what_is_wrong_with_a_chain_is_found_at_any_place(data: st.DataObject):
    script = data.draw(chains())
    stored = [event for event in script.events if event["kind"] == Kind.DELAY_STORE]
    if stored:
        event = data.draw(st.sampled_from(stored))
        event["due"] += 1_000
        said = check(script, settings=Settings(delays=LEVELS, delays_told=True))
        assert said.violations("level-as-the-count-says")


@pytest.mark.parametrize("seed", range(3))
def test_events_interleaved_or_message_by_message_give_the_same_answer(seed: int):
    scripts = many(seed)
    together = check(*scripts, settings=Settings(delays=LEVELS, delays_told=True))
    chance = random.Random(seed)
    order = list(scripts)
    chance.shuffle(order)
    batches: list[list[Event]] = [sorted(script.events, key=lambda event: int(event["time"])) for script in order]
    one_by_one = check(*scripts, settings=Settings(delays=LEVELS, delays_told=True), batches=batches)
    assert _by_names(one_by_one) == _by_names(together)
    assert len(together.outcome.rows) > 60
    assert one_by_one.outcome.judged.tolist() == together.outcome.judged.tolist()
    assert one_by_one.violated == together.violated != {}
    assert one_by_one.statuses == together.statuses


def many(seed: int) -> list[Script]:
    """Forty messages: some as they should be, some with something wrong."""
    chance = random.Random(seed)
    scripts = []
    for number in range(40):
        script, begin = Script(f"m{number}"), chance.randrange(5_000)
        offset = number * 10
        script.fails(begin, 0, 3, 3_000, offset=offset, moved_to=offset + 1)
        script.fails(begin + 3_020, 1, 4, 5_000, offset=offset + 1, moved_to=offset + 2)
        if number % 3 == 0:
            script.delay_deliver(begin + 9_000, 2, offset + 3)
        if number % 4 == 0:
            script.deliver(begin + 2_000, 4, offset=offset + 4)
        if number % 5 == 0:
            script.dead_letter(begin + 4_000, 2, offset=number)
        scripts.append(script)
    return scripts


def _by_names(said: object) -> list[tuple[object, ...]]:
    outcome, names = said.outcome, said.names  # type: ignore[attr-defined]
    named = []
    for row in outcome.rows.tolist():
        values = dict(zip(outcome.rows.dtype.names, row, strict=True))
        values["slot"] = str(names.slots[values["slot"]]) if values["slot"] >= 0 else ""
        for who in ("actor", "other"):
            values[who] = str(names.actors[values[who]]) if values[who] >= 0 else ""
        named.append(tuple(values.values()))
    return sorted(named)
