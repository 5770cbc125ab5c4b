from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.format.schema import Group

from .message_events import ALL, START, Script, check

ONLY, AGAIN = "only-failed-messages-are-sent-back", "sent-back-message-comes-again"


def test_a_success_is_sent_back():
    script = Script().deliver(0).result(10, "ok").send_back(12).delay_store(11, 1, 3, 10_011)
    (found,) = check(script).violations(ONLY)
    assert (found["value"], found["expected"], found["since"], found["doubt"]) == (0, 1, START, 0)


def test_a_message_without_a_delivery_is_sent_back():
    script = Script().client(0, Kind.CLIENT_START).expire(10).send_back(12, path="expired", level=3)
    (found,) = check(script).violations(ONLY)
    assert (found["expected"], found["doubt"]) == (0, 0)


def test_it_may_have_been_delivered_before_the_trace_began():
    assert check(Script().send_back(12)).doubtful == {ONLY: 1}


def test_what_ran_too_long_may_be_sent_back():
    script = Script().deliver(0).send_back(900_000, path="expired", level=3)
    assert ONLY not in check(script).violated
    assert check(Script().deliver(0).expire(900_000).send_back(900_001, path="expired")).judged(ONLY) == 1


def test_what_its_application_sends_back_fails_whatever_its_listener_answers():
    def sent_back(path: str) -> Script:
        script = Script().deliver(0).delay_store(11, 1, 2, 5_011).send_back(12, path=path, level=2).result(13, "ok")
        return script.delay_deliver(5_011, 1, 0).deliver(5_020, 1, offset=0).result(5_021, "ok", 1, offset=0)

    said = check(sent_back("application"))
    assert (said.violated, said.doubtful) == ({}, {})
    assert said.judged(ONLY) == 1
    assert check(sent_back("request")).violated == {ONLY: 1, "attempts-follow-each-other": 1}


def test_the_copy_of_what_its_application_sends_back_is_produced_at_any_broker_where_its_own_refuses():
    """SB-4: the client's own copy names no level; an application asks for one."""

    def sent_back(level: int | None) -> Script:
        script = Script().deliver(0).send_back(10, path="application", level=2, result="failed")
        script.delay_store(11, 1, 3, 10_011, broker="a").send_back(12, path="application", level=level).result(13, "ok")
        script.delay_deliver(10_011, 1, 0, broker="a").deliver(10_020, 1, offset=0, broker="a")
        return script.result(10_021, "ok", 1, offset=0, broker="a")

    said = check(sent_back(None), end=20_000)
    assert (said.violated, said.doubtful) == ({}, {})
    assert check(sent_back(3), end=20_000).violated == {AGAIN: 1}


def test_where_expiry_is_not_recorded_it_may_explain():
    assert check(Script().deliver(0).send_back(12), evidence=ALL - {Kind.EXPIRE}).doubtful == {ONLY: 1}


def test_the_failure_may_be_lost_in_a_gap():
    script = Script().deliver(0).send_back(12).add(10, Kind.GAP, due=START + 5)
    assert check(script).violations(ONLY)[0]["doubt"] == Doubt.GAP


def sent() -> Script:
    return Script().deliver(0).result(10, "later").send_back(12)


def test_nothing_is_stored_of_what_was_sent_back():
    assert check(sent(), end=8_012).violated == {}
    said = check(sent(), end=8_013)
    assert said.violated == {AGAIN: 1}
    assert [(row["value"], row["expected"]) for row in said.violations(AGAIN)] == [(0, 1)]
    assert said.chains == [(MessageStatus.LOST, 0, 0)]
    assert said.statuses == {MessageStatus.LOST: 1}


def test_a_copy_is_stored_by_another_broker_than_was_asked():
    said = check(sent().delay_store(11, 1, 3, 10_011, broker="a").delay_deliver(10_011, 1, 20, broker="a"), end=20_000)
    assert said.violated == {AGAIN: 1}
    assert [(row["value"], row["expected"], row["doubt"]) for row in said.violations(AGAIN)] == [(1, 1, Doubt.NONE)]
    right = sent().delay_store(11, 1, 3, 10_011).delay_deliver(10_011, 1, 20)
    assert check(right, end=20_000).violated == {}
    # Agents of brokers do not tell in which queue it will be.
    waits = sent().delay_store(11, 1, 3, 10_011, broker="a", queue=None, group="G")
    assert check(waits, end=20_000).violated == {AGAIN: 1}
    # When the broker was started, long ago, says nothing of now.
    for begun, doubtful in ((-70_000, {}), (-50_000, {AGAIN: 1})):
        assert check(waits, Script().broker(begun, Kind.BROKER_START), end=20_000).doubtful == doubtful


def test_a_dead_letter_is_stored_by_another_broker_than_was_asked():
    for broker, violated in (("b", {}), ("a", {AGAIN: 1})):
        script = Script().deliver(0).result(10, "later").send_back(12, named=0).dead_letter(11, 1)
        script.events[-1]["broker"] = broker
        assert check(script, groups={"G": Group(max_attempts=0)}, end=20_000).violated == violated


def test_a_copy_that_the_client_sends_itself_may_be_stored_by_any_broker():
    refused = Script().deliver(0).result(10, "later").send_back(12, result="failed").send_back(13, path="fallback")
    copy = refused.delay_store(14, 1, 3, 10_014, broker="a").delay_deliver(10_014, 1, 20, broker="a")
    assert check(copy, end=20_000).violated == {}


def test_what_acts_for_a_broker_that_is_away_may_store_a_copy_elsewhere():
    away = sent().broker(11, Kind.BROKER_STOP).broker(15_000, Kind.BROKER_START)
    copy = away.delay_store(11, 1, 3, 10_011, broker="a").delay_deliver(10_011, 1, 20, broker="a")
    assert check(copy, end=20_000).doubtful == {AGAIN: 1}


def test_one_of_two_copies_is_missing():
    script = sent().deliver(100, client="c2").result(110, "later", client="c2").send_back(111, client="c2")
    said = check(script.delay_store(11, 1, 3, 10_011).delay_deliver(10_011, 1, 20), end=100_000)
    assert said.violated == {AGAIN: 1}
    assert [(row["value"], row["expected"]) for row in said.violations(AGAIN)] == [(1, 2)]


def test_a_send_back_that_was_answered_with_an_error_need_not_come_again():
    script = Script().deliver(0).result(10, "later").send_back(12, result="failed")
    script.send_back(13, result="failed", path="fallback")
    assert check(script, end=100_000).violated == {}


def test_it_comes_again_as_a_retry_or_as_a_dead_letter():
    assert AGAIN not in check(sent().delay_store(11, 1, 3, 10_011), end=60_100).violated
    assert AGAIN not in check(sent().dead_letter(11, 1), end=60_100).violated
    assert AGAIN not in check(sent().deliver(10_020, 1, offset=20), end=60_100).violated


def test_a_fallback_that_begins_to_count_anew():
    script = Script().deliver(0, 4).result(10, "later", 4).send_back(11, 4, result="failed")
    script.delay_store(12, 0, 7, 180_012).send_back(13, 4, path="fallback")
    assert AGAIN not in check(script, end=100_000).violated


def test_the_store_may_not_be_recorded():
    said = check(sent(), end=200_000, evidence=ALL - {Kind.DELAY_STORE})
    assert said.doubtful == {AGAIN: 1}
    assert said.chains == [(MessageStatus.PENDING_RETRY, 0, 10_010)]


def test_a_gap_may_hide_the_store():
    assert check(sent().add(20, Kind.GAP, due=START + 5), end=100_000).doubtful == {AGAIN: 1}
    assert check(sent().add(90_000, Kind.GAP, due=START + 80_000), end=100_000).violated == {AGAIN: 1}


def test_what_a_broadcasting_client_sends_back_nobody_reads():
    script = Script().deliver(0).expire(900_000).send_back(900_001, path="expired", level=3)
    said = check(script, end=2_000_000, groups={"G": Group(mode="broadcasting")})
    assert said.violated == {}
    assert said.judged(AGAIN) == 0


def together(result: str) -> Script:
    """A message that is delivered in one call with another one, and is sent back and comes again."""
    place = {"topic": "T", "broker": "b", "queue": 0, "offset": 7, "attempt": 0, "client": "c1", "group": "G"}
    script = Script().add(0, Kind.DELIVER, **place, key="m", count=2).result(10, result).send_back(12)
    return script.delay_store(11, 1, 3, 10_011).delay_deliver(10_011, 1, 20).deliver(10_020, 1, offset=20)


def test_behind_the_ack_index_a_message_has_failed_though_its_call_went_well():
    literal, told = check(together("ok")), check(together("later"))
    assert literal.violated == told.violated == {}
    assert [literal.judged(claim) for claim in (ONLY, AGAIN)] == [told.judged(claim) for claim in (ONLY, AGAIN)]
    assert literal.statuses == told.statuses


def test_that_it_was_sent_back_need_not_be_recorded():
    events = [event for event in together("ok").events if event["kind"] is not Kind.SEND_BACK]
    assert check(Script(events=events)).violated == {}
