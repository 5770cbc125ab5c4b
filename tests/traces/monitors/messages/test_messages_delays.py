import pytest

from rocketproof.model.delay import DelayTable
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.clocks.clocks import Clock, Clocks, Run
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind

from .message_events import ALL, SECOND, START, Script, check

LEVEL, BEFORE, WHEN = "level-as-the-count-says", "never-before-it-is-due", "delivered-when-due"
WAITS = "retry-waits-as-its-level-says"
BROKER = Actor("b", -1)
SHORT = Settings(delays=DelayTable.parse("1s 2s 3s 4s"), delays_told=True)


def stored(level: int, *, count: int = 1, asked: int | None = 0, path: str = "request", due: int = 0) -> Script:
    """A failure at ``count`` - 1 whose copy is stored at ``level``; the answer comes last, as it does."""
    table = Settings().delays
    script = Script().deliver(0, count - 1).result(10, "later", count - 1)
    script.delay_store(20, count, level, due or 20 + int(table.delay(level)))
    return script.send_back(21, count - 1, level=asked, path=path)


@pytest.mark.parametrize(
    ("level", "count", "asked", "path"),
    [
        (3, 1, 0, "request"),
        (9, 7, 0, "request"),
        (18, 16, 0, "request"),
        (18, 40, 0, "request"),
        (1, 1, 1, "request"),
        (18, 1, 99, "request"),
        (5, 3, 7, "fallback"),
        (3, 6, 3, "expired"),
    ],
)
def test_a_level_that_the_rules_give(level: int, count: int, asked: int, path: str):
    said = check(stored(level, count=count, asked=asked, path=path), end=100)
    assert LEVEL not in said.violated | said.doubtful
    assert said.judged(LEVEL) == 1


@pytest.mark.parametrize(
    ("level", "count", "asked", "path", "expected"),
    [(4, 1, 0, "request", 3), (3, 1, 1, "request", 1), (7, 3, 7, "fallback", 5), (5, 6, 3, "expired", 3)],
)
def test_a_level_that_they_do_not(level: int, count: int, asked: int, path: str, expected: int):
    said = check(stored(level, count=count, asked=asked, path=path), end=100)
    assert said.violated.get(LEVEL) == 1
    assert [(row["value"], row["expected"]) for row in said.violations(LEVEL)] == [(level, expected)]


def test_a_request_that_seemed_to_fail_may_be_what_is_stored():
    script = (
        Script().deliver(0).result(10, "later").delay_store(20, 1, 1, 1_020).send_back(21, level=1, result="failed")
    )
    script.send_back(30, path="fallback").delay_store(29, 1, 3, 10_029)
    assert LEVEL not in check(script, end=100).violated


def test_a_shorter_table_ends_all_levels():
    script = Script().deliver(0, 5).result(10, "later", 5).delay_store(20, 6, 4, 4_020).send_back(21, 5)
    assert check(script, settings=SHORT, end=100).violated == {}


def test_without_send_backs_a_listener_may_have_asked_for_the_level():
    script = stored(1)
    script.events = script.events[:-1]
    assert check(script, end=100, evidence=ALL - {Kind.SEND_BACK}).doubtful == {LEVEL: 1}
    assert check(script, end=100).violated == {LEVEL: 1}
    assert check(script.add(15, Kind.GAP, due=START + 12), end=100).violations(LEVEL)[0]["doubt"] == Doubt.GAP


def test_a_send_back_whose_level_is_not_told():
    assert check(stored(1, asked=None), end=100).doubtful == {LEVEL: 1}


def test_a_due_time_is_the_store_time_and_the_delay():
    said = check(stored(3, due=12_020), end=100)
    assert [(row["value"], row["expected"]) for row in said.violations(LEVEL)] == [(START + 12_020, START + 10_020)]
    assert LEVEL not in check(stored(3, due=10_060), end=100).violated


@pytest.mark.parametrize(("level", "due", "is_off"), [(4, 28_460, False), (4, 10_020, True), (3, 5_020, True)])
def test_a_message_may_be_appended_long_after_its_stamp_and_not_at_another_level(level: int, due: int, is_off: bool):
    assert (LEVEL in check(stored(level, count=level - 2, due=due), end=100).violated) == is_off


@pytest.mark.parametrize(("due", "is_off"), [(479, False), (130, False), (110, True), (20, True)])
def test_what_waits_a_second_may_be_appended_nearly_that_long_after_its_stamp(due: int, is_off: bool):
    assert (LEVEL in check(stored(1, asked=1, due=due), end=100).violated) == is_off


@pytest.mark.parametrize(("bend", "doubt"), [(1_900, 0), (2_000, Doubt.SKEW)])
def test_a_clock_that_is_corrected_otherwise_when_it_is_due_leaves_it_in_doubt(bend: int, doubt: int):
    run = Run(since=0, times=(0, 10**15), offsets=(0, bend * 1_000 - 1))
    bent = Clocks(clocks={BROKER: Clock(recorder=BROKER, pairs=1, runs=(run,), slow=0, fast=0)})
    (row,) = check(stored(3, due=12_050), end=100, clocks=bent).violations(LEVEL)
    assert row["doubt"] == doubt


def test_a_copy_leaves_the_level_at_which_it_was_put():
    assert check(stored(3).delay_deliver(10_020, 1, 20, level=3)).violated == {}
    (found,) = check(stored(3).delay_deliver(10_020, 1, 20, level=4)).violations(LEVEL)
    assert (found["value"], found["expected"], found["doubt"]) == (4, 3, 0)
    # One that leaves again may be another one, whose store was not seen.
    again = stored(3).delay_deliver(10_020, 1, 20, level=3).delay_deliver(30_020, 1, 21, level=4)
    assert check(again).doubtful[LEVEL] == 1
    unseen = stored(3).add(19, Kind.GAP, due=START + 15).delay_deliver(10_020, 1, 20, level=4)
    assert check(unseen).doubtful[LEVEL] == 1


def test_a_copy_that_leaves_was_put_there():
    script = Script().deliver(0).result(10, "later").send_back(21).delay_deliver(10_020, 1, 20, level=3)
    (found,) = check(script, end=10_100).violations(LEVEL)
    assert (found["value"], found["expected"], found["doubt"]) == (0, 3, Doubt.EVIDENCE)
    (found,) = check(script, end=10_100, complete=True).violations(LEVEL)
    assert (found["value"], found["expected"], found["doubt"]) == (0, 3, 0)
    elsewhere = Script().delay_store(11, 1, 3, 10_011, topic="T", group="G")
    assert [row["value"] for row in check(script, elsewhere, end=10_100, complete=True).violations(LEVEL)] == [0]
    there = Script().delay_store(11, 1, 3, 10_011, group="G")
    assert LEVEL not in check(script, there, end=10_100, complete=True).violated
    # It may be of another failure, before; or put there where nobody has seen it.
    assert LEVEL not in check(Script().delay_deliver(10_020, 1, 20, level=3), complete=True).violated
    unseen = Script().add(15, Kind.GAP, due=START + 11)
    assert check(script, unseen, end=10_100, complete=True).doubtful[LEVEL] == 1
    assert LEVEL not in check(script, complete=True, evidence=ALL - {Kind.DELAY_STORE}).violated


def test_a_message_that_a_producer_delays():
    told = {"topic": "T", "broker": "b", "queue": 0, "attempt": 0, "key": "m"}
    script = Script().add(0, Kind.DELAY_STORE, level=2, due=START + 5_000, **told)
    said = check(script.add(5_000, Kind.DELAY_DELIVER, offset=3, **told))
    assert said.violated == {}
    assert (said.judged(LEVEL), said.judged(BEFORE), said.judged(WHEN)) == (1, 1, 1)
    assert said.chains == []
    script = Script().add(0, Kind.DELAY_STORE, level=19, due=START + 7_200_000, **told)
    assert check(script).violated == {LEVEL: 1}


def test_a_message_that_comes_to_another_topic_than_it_waits_for_does_not_come():
    told = {"broker": "b", "queue": 0, "attempt": 0, "key": "m"}
    script = Script().add(0, Kind.DELAY_STORE, level=2, due=START + 5_000, topic="T", **told)
    elsewhere = {**told, "topic": "U", "offset": 3}
    assert check(script.add(5_000, Kind.DELAY_DELIVER, **elsewhere), end=70_000).violated == {WHEN: 1}
    # One key may be that of two messages: where they wait for several topics, which of them came is not known.
    other = Script().add(1, Kind.DELAY_STORE, level=2, due=START + 5_001, topic="U", **told)
    assert WHEN not in check(script, other, end=60_000).violated


def test_a_message_delivered_before_it_is_due():
    (found,) = check(stored(3).delay_deliver(10_019, 1, 20)).violations(BEFORE)
    assert (found["value"], found["expected"], found["doubt"]) == (START + 10_019, START + 10_020, 0)
    assert BEFORE not in check(stored(3).delay_deliver(10_020, 1, 20)).violated


def test_another_broker_has_another_clock():
    (found,) = check(stored(3).delay_deliver(10_000, 1, 20, broker="b2")).violations(BEFORE)
    assert found["doubt"] == Doubt.SKEW


def test_a_clock_that_steps_back_before_the_store_delivers_at_once():
    assert BEFORE not in check(stored(3).delay_deliver(5, 1, 20)).violated


def test_of_two_copies_each_has_its_own_due_time():
    script = stored(3).delay_store(500, 1, 3, 10_500).delay_deliver(10_020, 1, 20).delay_deliver(10_500, 1, 21)
    assert BEFORE not in check(script).violated
    script = stored(3).delay_store(500, 1, 3, 10_500).delay_deliver(10_020, 1, 20)
    assert check(script.delay_deliver(10_400, 1, 21, due=START + 10_500)).violated[BEFORE] == 1


def test_a_copy_that_leaves_again_is_not_the_one_that_still_waits():
    script = Script().deliver(0).result(10, "later").delay_store(11, 1, 3, 10_011).send_back(5_012, result="failed")
    script.delay_store(5_013, 1, 3, 15_013).send_back(5_014, path="fallback")
    script.delay_deliver(10_011, 1, 20).delay_deliver(10_111, 1, 21).delay_deliver(15_013, 1, 22)
    assert check(script).violated == {"every-copy-has-a-cause": 1}


def test_a_message_delivered_long_after_it_was_due():
    (found,) = check(stored(3).delay_deliver(70_021, 1, 20)).violations(WHEN)
    assert (found["value"], found["expected"]) == (START + 70_021, START + 10_020)
    assert WHEN not in check(stored(3).delay_deliver(70_020, 1, 20)).violated


def test_a_message_never_delivered():
    assert check(stored(3), end=70_020).violated == {}
    said = check(stored(3), end=70_021)
    assert said.violated == {WHEN: 1}
    assert [(row["value"], row["expected"]) for row in said.violations(WHEN)] == [(0, START + 10_020)]
    assert check(stored(3).add(40_000, Kind.GAP, due=START + 30_000), end=70_021).doubtful == {WHEN: 1}
    assert check(stored(3).add(70_020, Kind.GAP, due=START + 70_019), end=70_021).doubtful == {WHEN: 1}
    # What happened after it was late already explains nothing.
    assert check(stored(3).add(90_000, Kind.GAP, due=START + 70_500), end=100_000).violated == {WHEN: 1}


def test_a_broker_that_was_down_may_deliver_later():
    script = stored(3).broker(8_000, Kind.BROKER_CRASH).broker(300_000, Kind.BROKER_START)
    assert WHEN not in check(script.delay_deliver(310_000, 1, 20)).violated
    script = stored(3).broker(8_000, Kind.BROKER_CRASH).broker(300_000, Kind.BROKER_START)
    assert check(script, end=300_000 + 60 * SECOND).violated == {}
    assert check(script, end=300_001 + 60 * SECOND).violated == {WHEN: 1}
    assert check(stored(3).broker(8_000, Kind.BROKER_CRASH), end=10_000_000).violated == {}


def test_a_broker_that_stood_still_may_deliver_when_it_goes_on():
    def said(*persisted: int) -> int:
        script = stored(3)
        for time in persisted:
            script.add(time, Kind.FILE_PERSIST, group=None, client=None, broker=BROKER.name, detail="consumerOffset")
        return check(script.delay_deliver(130_000, 1, 20)).violated.get(WHEN, 0)

    assert said(100, 5_100, 10_100, 129_000, 134_000) == 0
    assert said(100, 5_100, 10_100, *range(30_000, 134_000, 5_000)) == 1
    assert said(*range(100, 134_000, 5_000)) == 1


def test_where_restarts_are_not_recorded_a_late_delivery_is_in_doubt():
    silent = ALL - {Kind.BROKER_START, Kind.BROKER_CRASH, Kind.BROKER_STOP, Kind.ROLE_CHANGE}
    assert check(stored(3).delay_deliver(80_000, 1, 20), evidence=silent).doubtful == {WHEN: 1}


def test_without_their_levels_a_wait_that_clients_alone_tell_of_is_in_doubt():
    # The broker has its level 3 at 3 s, and nobody recorded it.
    clients = {Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK, Kind.EXPIRE}
    script = Script().deliver(0).result(10, "later").send_back(11).deliver(3_050, 1, offset=2)
    (found,) = check(script, evidence=clients, settings=Settings()).violations(WAITS)
    assert found["doubt"] & Doubt.LEVELS
    assert check(script, settings=Settings().with_delays("1s 2s 3s")).violated == {}
    assert check(script, settings=Settings().with_delays("1s 5s 10s")).violated == {WAITS: 1}


def test_what_a_broker_says_is_due_needs_no_levels():
    script = Script().deliver(0).result(10, "later").send_back(12).delay_store(11, 1, 3, 10_011)
    assert check(script.deliver(3_050, 1, offset=2), settings=Settings()).violated == {WAITS: 1}
    off = check(Script().delay_store(11, 1, 3, 3_011), settings=Settings())
    assert (off.violated, off.doubtful[LEVEL]) == ({}, 1)


def test_a_message_that_is_due_later_than_its_level_allows_is_delivered_at_once():
    """By a clock that was set back it is yet to be stored, which the recording has later."""
    early = Script().delay_deliver(5, 1, 20, level=3, due=START + 10_011).delay_store(11, 1, 3, 10_011)
    assert BEFORE not in check(early).violated
    soon = Script().delay_deliver(15, 1, 20, level=3, due=START + 10_011)
    assert check(soon).violated[BEFORE] == 1
