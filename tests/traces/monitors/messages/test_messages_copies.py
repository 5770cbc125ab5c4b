import pytest

from rocketproof.model.history import Cause
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.format.schema import Group

from .message_events import ALL, RETRY, SECOND, START, Script, check

COPY = "every-copy-has-a-cause"


def failed() -> Script:
    """Delivered, failed, sent back, stored."""
    return Script().deliver(0).result(10, "later").delay_store(11, 1, 3, 10_011).send_back(12)


def test_a_second_copy_without_a_cause():
    said = check(failed().delay_store(500, 1, 3, 10_500))
    assert said.violated == {COPY: 1}
    (found,) = said.violations(COPY)
    assert (found["value"], found["expected"], found["since"], found["time"]) == (1, 1, START, START + 500)


def test_the_copies_of_a_copy_are_not_told_again():
    script = failed().delay_store(500, 1, 3, 10_500).delay_deliver(10_011, 1, 20).delay_deliver(10_500, 1, 21)
    for time, offset in ((10_020, 20), (10_510, 21)):
        script.deliver(time, 1, offset=offset).result(time + 5, "later", 1, offset=offset)
        script.delay_store(time + 6, 2, 4, time + 30_006).send_back(time + 7, 1, offset=offset)
    assert check(script).violated == {COPY: 1}
    assert check(script).causes() == []


def test_without_send_backs_an_answer_may_have_been_lost():
    script = Script().deliver(0).result(10, "later").deliver(10_500, 1, offset=20).deliver(10_600, 1, offset=21)
    assert check(script, evidence={Kind.DELIVER, Kind.RESULT}).doubtful == {COPY: 1}


@pytest.mark.parametrize("second", [True, False])
def test_without_results_each_delivery_that_is_sent_back_has_failed(second):
    script = Script().deliver(0).delay_store(11, 1, 3, 10_011).send_back(12)
    if second:
        script.deliver(100, client="c2")
    script.delay_store(111, 1, 3, 10_111).send_back(112, client="c2" if second else "c1")
    said = check(script, evidence=ALL - {Kind.RESULT})
    assert said.violated.get(COPY, 0) == (not second)
    assert said.causes() == [(Cause.REBALANCE, 1)] * second


def test_without_results_deliveries_are_counted_that_came_before_the_first_send_back():
    script = Script().deliver(0).deliver(5, client="c2").send_back(12).delay_store(12, 1, 3, 10_012)
    said = check(script.send_back(112, client="c2").delay_store(112, 1, 3, 10_112), evidence=ALL - {Kind.RESULT})
    assert said.violated.get(COPY, 0) == 0
    assert said.causes() == [(Cause.REBALANCE, 1)]


def test_a_gap_may_hide_the_cause():
    script = failed().delay_store(500, 1, 3, 10_500).add(300, Kind.GAP, due=START + 200, count=1)
    (found,) = check(script).violations(COPY)
    assert found["doubt"] == Doubt.GAP


def test_a_request_that_stored_its_copy_and_seemed_to_fail():
    script = Script().deliver(0).result(10, "later").delay_store(11, 1, 3, 10_011).send_back(5_012, result="failed")
    said = check(script.delay_store(5_013, 1, 3, 15_013).send_back(5_014, path="fallback"))
    assert said.violated == {}
    assert said.causes() == [(Cause.STORED_BUT_REFUSED, 1)]


def test_the_messages_of_a_batch_that_a_client_produces_again_after_their_failure():
    """SB-8: a fallback may begin to count anew; and all messages of a batch have one key."""
    script = Script()
    for offset in range(4):
        script.deliver(offset, offset=offset).result(10 + offset, "later", offset=offset)
        script.send_back(100 + 10 * offset, offset=offset, result="failed")
        script.delay_store(101 + 10 * offset, 0, 3, 10_101 + 10 * offset)
        script.send_back(102 + 10 * offset, offset=offset, path="fallback", level=None, named=None)
    for number in range(4):
        at = 10_101 + 10 * number
        script.delay_deliver(at, 0, 20 + number).deliver(at + 1, topic=RETRY, offset=20 + number)
        script.result(at + 2, "ok", topic=RETRY, offset=20 + number)
    said = check(script)
    assert (said.violated, said.doubtful) == ({}, {})


@pytest.mark.parametrize("path", ["request", "fallback"])
def test_a_request_does_not_begin_to_count_anew(path):
    """SB-6: the broker raises the count that it has stored; only a fallback may leave it out (SB-8)."""
    script = Script().deliver(0).result(10, "later").send_back(14, path=path)
    script.delay_store(13, 0, 3, 10_013).delay_deliver(10_013, 0, 20)
    said = check(script.deliver(10_014, topic=RETRY, offset=20).result(10_015, "ok", topic=RETRY, offset=20))
    assert (said.violated, said.doubtful) == ({} if path == "fallback" else {COPY: 1}, {})
    if path == "request":
        (found,) = said.violations(COPY)
        assert (found["value"], found["expected"], found["time"]) == (0, 1, START + 10_014)


@pytest.mark.parametrize("late", [0, 50])
def test_the_refusal_may_come_after_its_copies_within_the_skew(late):
    """Brokers tell of copies, clients of answers: at the same ms either may be read first."""
    script = Script().deliver(0).result(10, "later").delay_store(11, 1, 3, 10_011).delay_store(12, 1, 3, 10_012)
    script.send_back(12 + late, result="failed").send_back(12 + late, path="fallback")
    said = check(script)
    assert (said.violated, said.doubtful) == ({}, {})
    assert said.causes() == [(Cause.STORED_BUT_REFUSED, 1)]


def test_a_refusal_beyond_the_skew_is_no_cause():
    script = Script().deliver(0).result(10, "later").delay_store(11, 1, 3, 10_011).delay_store(12, 1, 3, 10_012)
    said = check(script.send_back(63, result="failed").send_back(64, path="fallback"))
    assert said.violated == {COPY: 1}
    (found,) = said.violations(COPY)
    assert (found["value"], found["expected"], found["since"], found["time"]) == (1, 1, START, START + 12)


def test_more_copies_than_there_is_room_for_are_judged():
    script = Script().deliver(0).result(10, "later")
    for number in range(300):
        script.delay_store(11 + number // 100, 1, 3, 10_011)
    assert check(script).violated == {COPY: 299}


def test_the_copies_of_doubled_copies_share_their_cause():
    script = Script().deliver(0).result(10, "later").delay_store(11, 1, 3, 10_011).send_back(5_012, result="failed")
    script.delay_store(5_013, 1, 3, 15_013).send_back(5_014, path="fallback")
    script.delay_deliver(10_011, 1, 20).delay_deliver(15_013, 1, 21)
    for time, offset in ((10_020, 20), (15_020, 21)):
        script.deliver(time, 1, offset=offset).result(time + 5, "later", 1, offset=offset)
        script.delay_store(time + 6, 2, 4, time + 30_006).send_back(time + 7, 1, offset=offset)
    said = check(script)
    assert said.violated == {}
    assert said.causes() == [(Cause.STORED_BUT_REFUSED, 1), (Cause.STORED_BUT_REFUSED, 2)]


def test_a_listener_that_runs_too_long():
    script = Script().deliver(0).expire(900_000).delay_store(900_001, 1, 3, 910_001)
    script.send_back(900_002, path="expired", level=3).result(905_000, "ok")
    script.delay_deliver(910_001, 1, 20).deliver(910_010, 1, offset=20)
    said = check(script)
    assert said.violated == {}
    assert said.causes() == [(Cause.TIMEOUT, 1)]


def test_a_late_failure_is_sent_back_a_second_time():
    script = Script().deliver(0).expire(900_000).delay_store(900_001, 1, 3, 910_001)
    script.send_back(900_002, path="expired", level=3).result(905_000, "later")
    said = check(script.delay_store(905_001, 1, 3, 915_001).send_back(905_002))
    assert said.violated == {COPY: 1}
    assert said.causes() == [(Cause.TIMEOUT, 1)]


def test_what_ran_too_long_comes_again_from_its_queue_and_fails():
    script = Script().deliver(0).expire(900_000).delay_store(900_001, 1, 3, 910_001)
    script.send_back(900_002, path="expired", level=3).client(900_010, Kind.CLIENT_CRASH)
    script.deliver(905_000, client="c2").result(905_010, "later", client="c2").delay_store(905_011, 1, 3, 915_011)
    said = check(script.send_back(905_012, client="c2"))
    assert said.violated == {}
    assert said.causes() == [(Cause.TIMEOUT, 1), (Cause.TIMEOUT, 1)]


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        (None, Cause.REBALANCE),
        (Kind.CLIENT_CRASH, Cause.CRASH),
        (Kind.CLIENT_STOP, Cause.SHUTDOWN),
    ],
)
def test_a_message_that_comes_again_from_its_queue_and_fails_again(end: Kind | None, cause: Cause):
    script = failed()
    if end is not None:
        script.client(100, end)
    script.deliver(200, client="c2").result(210, "later", client="c2").delay_store(211, 1, 3, 10_211)
    said = check(script.send_back(212, client="c2"))
    assert said.violated == {}
    assert said.causes() == [(cause, 1)]


def test_a_send_back_that_failed_altogether_and_was_stored_all_the_same():
    script = Script().deliver(0).result(10, "later").send_back(11, result="failed")
    script.delay_store(12, 1, 3, 10_012).send_back(3_012, result="failed", path="fallback")
    script.deliver(8_012, 1, topic="T").result(8_020, "later", 1, topic="T").delay_store(8_021, 1, 3, 18_021)
    said = check(script)
    assert said.violated == {}
    assert said.causes() == [(Cause.STORED_BUT_REFUSED, 1)]


def test_a_broker_that_goes_on_from_an_old_position_delivers_twice():
    script = failed().delay_deliver(10_011, 1, 20).broker(12_000, Kind.BROKER_CRASH).broker(20_000, Kind.BROKER_START)
    said = check(script.delay_deliver(21_000, 1, 20 + 1))
    assert said.violated == {}
    assert said.causes() == [(Cause.SCHEDULE_REPLAY, 1)]


def test_a_copy_that_is_replayed_beside_one_that_waited():
    script = Script().deliver(0).result(10, "later").delay_store(11, 1, 3, 10_011).send_back(5_012, result="failed")
    script.delay_store(5_013, 1, 3, 15_013).send_back(5_014, path="fallback").delay_deliver(10_011, 1, 20)
    script.broker(12_000, Kind.BROKER_CRASH).broker(20_000, Kind.BROKER_START)
    said = check(script.delay_deliver(21_000, 1, 21).delay_deliver(21_001, 1, 22))
    assert said.violated == {}
    assert said.causes() == [(Cause.STORED_BUT_REFUSED, 1), (Cause.SCHEDULE_REPLAY, 1)]


def test_a_broker_that_is_stopped_in_order_has_saved_its_positions():
    script = failed().delay_deliver(10_011, 1, 20).broker(12_000, Kind.BROKER_STOP).broker(20_000, Kind.BROKER_START)
    assert check(script.delay_deliver(21_000, 1, 21)).violated == {COPY: 1}


def test_a_replayed_copy_that_reaches_its_listener_as_the_first_one_comes_again():
    # Who stores and moves copies is not recorded: the clients' recording, and what the log of the broker tells.
    script = Script().deliver(0).result(10, "later").send_back(12).deliver(10_020, 1, offset=20)
    script.broker(20_000, Kind.BROKER_START).deliver(21_000, 1, offset=20).deliver(21_000, 1, offset=21)
    said = check(script, evidence=ALL - {Kind.DELAY_STORE, Kind.DELAY_DELIVER, Kind.STORE})
    assert said.violated == {}
    assert said.causes() == [(Cause.SCHEDULE_REPLAY, 1)]


def test_a_replica_that_takes_over_delivers_from_an_older_position():
    script = failed().delay_deliver(10_011, 1, 20).broker(12_000, Kind.ROLE_CHANGE)
    assert check(script.delay_deliver(12_500, 1, 21)).causes() == [(Cause.SCHEDULE_REPLAY, 1)]


@pytest.mark.parametrize("end", [Kind.BROKER_CRASH, Kind.BROKER_STOP])
def test_a_slave_that_acts_as_master_delivers_what_its_master_has_delivered_to_another_broker(end):
    """It goes by positions that it took over a while ago; so does the master when it is there again, by its own."""
    script = failed().delay_deliver(10_011, 1, 20).deliver(10_020, 1, offset=20).result(10_030, "ok", 1, offset=20)
    assert check(script.deliver(14_000, 1, offset=3, broker="other")).violated == {COPY: 1}
    # It begins while its master still stops, which is recorded at its end, 6 s later on an idle machine.
    assert check(script).causes() == []
    script.broker(15_000, end)
    said = check(script)
    assert (said.causes(), said.violated, said.doubtful) == ([], {}, {COPY: 1})  # nothing shows that it has a slave
    script.broker(1_000, Kind.BROKER_START, "slave of b")
    assert check(script).causes() == [(Cause.SCHEDULE_REPLAY, 1)]
    assert check(script, end=100_000).violated == {}
    waiting = failed().broker(9_000, end).deliver(12_000, 1, offset=3, broker="other").broker(30_000, Kind.BROKER_START)
    waiting.delay_deliver(31_000, 1, 20).deliver(31_010, 1, offset=20)
    assert check(waiting).causes() == [(Cause.SCHEDULE_REPLAY, 1)]


@pytest.mark.parametrize("again", ["other", "b"])
@pytest.mark.parametrize("end", [Kind.BROKER_CRASH, Kind.BROKER_STOP])
def test_moves_of_a_slave_that_acts_as_master_are_seen_at_another_broker(again, end):
    first = failed().delay_deliver(10_011, 1, 20, broker="other" if again == "b" else "b")
    # It begins while its master still stops, and the time of a death is not known exactly.
    while_away = first.delay_deliver(15_000, 1, 3, broker=again)
    assert check(while_away).violated == {COPY: 1}
    while_away.broker(16_000, end).broker(17_000, Kind.BROKER_START)
    assert check(while_away).causes() == [(Cause.SCHEDULE_REPLAY, 1)]


def test_a_replayed_copy_stands_for_no_failure():
    script = failed().delay_deliver(10_011, 1, 20).broker(12_000, Kind.BROKER_CRASH).broker(20_000, Kind.BROKER_START)
    script.delay_deliver(21_000, 1, 21).deliver(22_000).result(22_010, "later").delay_store(22_011, 1, 3, 32_011)
    assert check(script).violated == {}
    # Nor does the move of the next copy count as another replay.
    once, due = script.events[:], {"level": 3, "due": START + 32_011}
    assert check(script.delay_deliver(32_011, 1, 22, **due)).violated == {}
    script.events[:] = once
    assert check(script.delay_store(22_500, 1, 3, 32_500)).violated == {COPY: 1}


def test_a_delayed_message_delivered_twice_without_a_restart():
    script = failed().delay_deliver(10_011, 1, 20).delay_deliver(10_111, 1, 21)
    assert check(script).violated == {COPY: 1}
    assert check(script.broker(10_050, Kind.BROKER_START, "other")).violated == {COPY: 1}
    silent = ALL - {Kind.BROKER_START, Kind.BROKER_CRASH, Kind.BROKER_STOP, Kind.ROLE_CHANGE}
    assert check(failed().delay_deliver(10_011, 1, 20).delay_deliver(10_111, 1, 21), evidence=silent).doubtful == {
        COPY: 1
    }


def test_a_put_that_the_broker_takes_for_failed():
    script = failed().delay_deliver(10_011, 1, 20, result="failed").delay_deliver(10_111, 1, 21)
    assert check(script).causes() == [(Cause.SCHEDULE_REPLAY, 1)]


def test_two_originals_were_sent_twice():
    script = Script().deliver(0, offset=7).deliver(5, offset=8, queue=1, client="c2")
    said = check(script)
    assert said.violated == {}
    assert said.causes() == [(Cause.SENT_TWICE, 0)]


def batch() -> Script:
    """Two messages that were sent as one batch, so that they have one key; both fail, and are stored again."""
    script = Script()
    for offset in (7, 8):
        script.deliver(0, offset=offset).result(5, "later", offset=offset)
    for offset in (7, 8):
        script.delay_store(7, 1, 3, 10_007).send_back(8, offset=offset)
    return script


def test_messages_of_a_batch_share_a_key_and_have_a_copy_each():
    script = batch()
    for offset in (20, 21):
        script.delay_deliver(10_011, 1, offset).deliver(10_020, 1, offset=offset).result(10_030, "ok", 1, offset=offset)
    said = check(script)
    assert (said.violated, said.doubtful, said.causes()) == ({}, {}, [])
    assert said.statuses == {MessageStatus.ACKNOWLEDGED: 2}


def test_a_lost_copy_of_one_of_them_is_not_consumed():
    script = batch().delay_deliver(10_011, 1, 20).deliver(10_020, 1, offset=20).result(10_030, "ok", 1, offset=20)
    said = check(script)
    assert said.statuses == {MessageStatus.ACKNOWLEDGED: 1, MessageStatus.PENDING_RETRY: 1}
    assert said.causes() == []


def test_one_copy_more_than_there_are_messages_needs_a_cause():
    assert check(batch().delay_store(12, 1, 3, 10_012)).violated == {COPY: 1}


def test_a_message_that_comes_again_from_its_queue_is_no_copy():
    said = check(Script().deliver(0).deliver(500, client="c2").deliver(900))
    assert said.judged(COPY) == 0
    assert said.causes() == []


def test_a_message_that_a_producer_delays_may_be_delivered_twice_by_the_broker():
    script = Script()
    told = {"topic": "T", "broker": "b", "queue": 0, "attempt": 0, "key": "m"}
    script.add(0, Kind.DELAY_STORE, level=1, due=START + SECOND, **told)
    script.add(1_000, Kind.DELAY_DELIVER, offset=7, **told).broker(2_000, Kind.BROKER_START)
    script.add(2_100, Kind.DELAY_DELIVER, offset=9, **told).deliver(1_010).deliver(2_110, offset=9)
    said = check(script)
    assert said.violated == {}
    assert said.causes() == [(Cause.SCHEDULE_REPLAY, 0)]
    script.events = [event for event in script.events if event["kind"] != Kind.BROKER_START]
    said = check(script)
    assert said.violated == {COPY: 1}
    assert said.causes() == []


def test_groups_consume_the_same_message_each_for_itself():
    script = Script().deliver(0)
    script.add(3, Kind.DELIVER, client="d1", group="H", topic="T", broker="b", queue=0, offset=7, key="m", attempt=0)
    script.result(10, "later").delay_store(11, 1, 3, 10_011).send_back(12)
    other = {
        "client": "d1",
        "group": "H",
        "topic": "T",
        "broker": "b",
        "queue": 0,
        "offset": 7,
        "key": "m",
        "attempt": 0,
    }
    script.add(20, Kind.RESULT, result="later", **other)
    script.add(
        21, Kind.DELAY_STORE, topic="%RETRY%H", broker="b", queue=0, attempt=1, key="m", level=3, due=START + 10_021
    )
    script.add(22, Kind.SEND_BACK, result="ok", path="request", level=0, max_attempts=16, **other)
    said = check(script, groups={"G": Group(), "H": Group()})
    assert said.violated == {}
    assert said.causes() == []
    assert len(said.chains) == 2


def test_without_a_place_a_second_copy_cannot_be_told_from_a_second_delivery():
    script = Script().deliver(0, offset=None).result(5, "ok", offset=None).deliver(900, offset=None)
    assert check(script, evidence={Kind.DELIVER, Kind.RESULT}).doubtful == {COPY: 1}
