from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group

from .message_events import ALL, RETRY, SECOND, START, Script, check

FOLLOW, WITHIN = "attempts-follow-each-other", "attempts-within-the-maximum"
CONFIGURED, EXACTLY = "maximum-as-configured", "dead-letter-exactly-at-the-maximum"
WAITS = "retry-waits-as-its-level-says"


def two_rounds() -> Script:
    return Script().fails(0, 0, 3, 10 * SECOND, moved_to=20).fails(10_050, 1, 4, 30 * SECOND, offset=20, moved_to=21)


def test_a_copy_comes_with_the_count_that_it_was_stored_with_at_least():
    less = two_rounds().deliver(40_100, 1, offset=21)
    (found,) = check(less).violations(FOLLOW)
    assert (found["value"], found["expected"], found["doubt"]) == (1, 2, 0)
    # A copy elsewhere has a count of its own.
    assert check(two_rounds().deliver(40_100, 1, offset=22)).violations(FOLLOW) == []


def test_a_chain_as_it_should_be():
    said = check(two_rounds().deliver(40_100, 2, offset=21).result(40_110, "ok", 2, offset=21))
    assert said.violated == said.doubtful == {}
    assert (said.judged(FOLLOW), said.judged(WITHIN), said.judged(WAITS)) == (2, 2, 2)


def test_an_attempt_that_no_listener_had():
    script = Script().fails(0, 0, 3, 10 * SECOND, moved_to=20)
    script.send_back(10_050, 1, offset=20).delay_store(10_051, 2, 4, 40_051)
    said = check(script.delay_deliver(40_060, 2, 21).deliver(40_100, 2, offset=21))
    assert said.violated == {FOLLOW: 1, "only-failed-messages-are-sent-back": 1}
    (found,) = said.violations(FOLLOW)
    assert (found["value"], found["expected"], found["time"]) == (2, 1, START + 10_051)


def test_one_of_two_copies_is_sent_back_unseen():
    script = Script().deliver(0).result(10, "later").delay_store(11, 1, 3, 10_011).send_back(5_012, result="failed")
    script.delay_store(5_013, 1, 3, 15_013).send_back(5_014, path="fallback")
    script.delay_deliver(10_011, 1, 20).delay_deliver(15_013, 1, 21)
    script.deliver(10_020, 1, offset=20).result(10_030, "later", 1, offset=20)
    script.delay_store(10_031, 2, 4, 40_031).send_back(10_032, 1, offset=20)
    assert check(script).violated == {}
    said = check(script.delay_store(15_020, 2, 4, 45_020).send_back(15_021, 1, offset=21))
    assert said.violated == {FOLLOW: 1, "only-failed-messages-are-sent-back": 1}


def test_a_retry_of_a_message_that_did_not_fail():
    script = Script().deliver(0).delay_store(20, 1, 3, 10_020).send_back(21)
    said = check(script.delay_deliver(10_020, 1, 20).deliver(10_030, 1, offset=20))
    assert said.violated == {FOLLOW: 1, "only-failed-messages-are-sent-back": 1}
    assert [(row["value"], row["expected"]) for row in said.violations(FOLLOW)] == [(1, 0)]


def test_a_retry_without_failure_may_be_one_that_took_too_long():
    script = Script().deliver(0).deliver(10_030, 1, offset=20)
    assert check(script, evidence=ALL - {Kind.EXPIRE}).doubtful == {FOLLOW: 1}
    assert check(script, evidence={Kind.DELIVER}).doubtful == {}
    assert check(script).violated == {FOLLOW: 1}


def test_a_broker_alone_does_not_see_listeners():
    script = Script().add(0, Kind.STORE, topic="T", broker="b", queue=0, offset=7, key="m", attempt=0)
    script.delay_store(20, 1, 3, 10_020).delay_deliver(10_020, 1, 20)
    script.delay_store(10_050, 2, 4, 40_050).delay_deliver(40_050, 2, 21)
    brokers = {Kind.STORE, Kind.DELAY_STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER, Kind.COMMIT}
    assert check(script, evidence=brokers).violated == {}
    assert check(script, evidence=brokers).doubtful == {FOLLOW: 1}
    assert check(script).violated == {FOLLOW: 1}


def test_an_attempt_may_be_lost_in_a_gap():
    script = Script().deliver(0).result(1, "later").deliver(50_000, 2, offset=20)
    script.add(30_000, Kind.GAP, due=START + 20_000, count=5)
    (found,) = check(script).violations(FOLLOW)
    assert found["doubt"] == Doubt.GAP


def test_a_trace_that_begins_in_the_middle():
    said = check(Script().deliver(0, 3).result(10, "later", 3).deliver(150_000, 4, offset=9))
    assert said.violated == said.doubtful == {}
    assert said.judged(FOLLOW) == 1


def test_the_store_of_a_retry_may_bear_an_earlier_time_than_the_failure():
    script = Script().deliver(0).delay_store(10, 1, 3, 10_010).result(40, "later").send_back(41)
    assert check(script.delay_deliver(10_010, 1, 20).deliver(10_020, 1, offset=20)).violated == {}


def test_local_retries_count_on_in_the_client_only():
    script = Script().deliver(0).result(10, "later").send_back(11, result="failed")
    script.send_back(12, result="failed", path="fallback")
    script.deliver(5_012, 1, topic="T").result(5_020, "later", 1, topic="T")
    script.send_back(5_030, 1, topic="T")
    script.delay_store(5_029, 1, 3, 15_029).delay_deliver(15_030, 1, 20).deliver(15_040, 1, offset=20)
    script.result(15_050, "ok", 1, offset=20)
    said = check(script, end=200_000)
    assert said.violated == said.doubtful == {}
    assert said.causes() == []
    assert said.judged(WAITS) == 1


def test_more_deliveries_than_the_maximum():
    script = Script().deliver(0, 2, offset=1).result(10, "later", 2, offset=1).deliver(70_000, 3, offset=2)
    said = check(script, groups={"G": Group(max_attempts=2)})
    assert said.violated == {WITHIN: 1}
    assert [(row["value"], row["expected"]) for row in said.violations(WITHIN)] == [(3, 2)]


def test_a_send_back_names_the_maximum_of_its_group():
    script = Script().deliver(0, 2, offset=1).result(10, "later", 2, offset=1).send_back(11, 2, offset=1, named=3)
    script.delay_store(12, 3, 5, 60_012).delay_deliver(60_012, 3, 2).deliver(70_000, 3, offset=2)
    # What a request asks for is no new truth where the header says what is configured.
    assert check(script, groups={"G": Group(max_attempts=2)}).violated == {WITHIN: 1, CONFIGURED: 1, EXACTLY: 1}
    assert check(script, groups={"G": Group(max_attempts=3)}).violated == {}
    assert check(script, groups={"G": Group()}).violated == {}
    assert check(script, groups={"G": Group()}).judged(CONFIGURED) == 0


def test_members_with_different_maxima_are_each_judged_by_their_own():
    group = {"G": Group(max_attempts=3, lowest_max_attempts=2)}
    script = Script().deliver(0, 2, offset=1).result(10, "later", 2, offset=1).send_back(11, 2, offset=1, named=3)
    script.delay_store(12, 3, 5, 60_012).delay_deliver(60_012, 3, 2).deliver(70_000, 3, offset=2)
    said = check(script, groups=group)
    assert (said.violated, said.judged(CONFIGURED), said.judged(WITHIN), said.judged(EXACTLY)) == ({}, 1, 2, 1)
    gives_up = Script().deliver(0, 2, offset=1).result(10, "later", 2, offset=1).send_back(11, 2, offset=1, named=2)
    gives_up.dead_letter(12, 3)
    assert check(gives_up, groups=group).violated == {}
    assert check(gives_up, groups={"G": Group(max_attempts=3)}).violated == {CONFIGURED: 1, EXACTLY: 1}
    other = Script().deliver(0).result(10, "later").send_back(11, named=16)
    assert check(other, groups=group).violated == {CONFIGURED: 1}


def test_a_default_that_is_stated_is_what_a_send_back_names():
    script = Script().deliver(0).result(10, "later").send_back(11, named=3)
    script.delay_store(12, 1, 3, 10_012).delay_deliver(10_012, 1, 2).deliver(10_040, 1, offset=2)
    said = check(script, groups={"G": Group(max_attempts=-1)})
    assert [(row["value"], row["expected"]) for row in said.violations(CONFIGURED)] == [(3, 16)]
    sixteen = Script().deliver(0).result(10, "later").send_back(11, named=16)
    assert check(sixteen, groups={"G": Group(max_attempts=-1)}).violated == {}


def test_the_default_of_an_orderly_listener_is_without_end():
    assert Group(listener="orderly", max_attempts=-1).maximum == 2**31 - 1
    assert (Group(max_attempts=-1).maximum, Group().maximum, Group(max_attempts=3).maximum) == (16, 16, 3)


def test_without_a_known_maximum_only_what_is_above_the_default_is_in_doubt():
    groups: dict[str, Group] = {}
    few = check(Script().deliver(0, 16), groups=groups)
    assert (few.judged(WITHIN), few.doubtful) == (0, {})
    many = check(Script().deliver(0, 17), groups=groups)
    assert (many.judged(WITHIN), many.doubtful) == (1, {WITHIN: 1})


def test_an_orderly_listener_without_a_maximum_tries_for_ever():
    script = Script()
    for count in range(40):
        script.deliver(count * SECOND, count, topic="T").result(count * SECOND + 5, "suspend", count, topic="T")
    said = check(script, groups={"G": Group(listener="orderly")})
    assert said.violated == said.doubtful == {}
    said = check(script, groups={"G": Group(listener="orderly", max_attempts=37)})
    assert said.violated == {WITHIN: 2}


def test_no_table_ends_the_tries_of_an_orderly_listener():
    script = Script().deliver(0, 5_000, topic="T").result(5, "suspend", 5_000, topic="T")
    script.deliver(SECOND, 5_001, topic="T").result(SECOND + 5, "ok", 5_001, topic="T")
    said = check(script, groups={"G": Group(listener="orderly")})
    assert said.violated == said.doubtful == {}
    assert said.judged(WITHIN) == 2


def test_a_retry_that_comes_too_early():
    script = Script().deliver(0).result(10, "later").send_back(11, level=1).deliver(900, 1, offset=20)
    (found,) = check(script).violations(WAITS)
    assert (found["time"], found["value"], found["expected"], found["doubt"]) == (
        START + 900,
        START + 900,
        START + 1_010,
        0,
    )


def test_a_retry_that_comes_when_it_may():
    script = Script().deliver(0).result(10, "later").send_back(11, level=1).deliver(1_010, 1, offset=20)
    assert WAITS not in check(script).violated


def test_two_clocks_may_disagree_within_the_skew():
    script = Script().deliver(0).result(10, "later").send_back(11, level=1).deliver(960, 1, offset=20, client="c2")
    assert WAITS not in check(script).violated
    assert check(script, settings=Settings(skew=40, delays_told=True)).violated == {WAITS: 1}


def test_without_send_backs_the_listener_may_have_asked_for_another_level():
    script = Script().deliver(0).result(10, "later").deliver(5_500, 1, offset=20)
    evidence = {Kind.DELIVER, Kind.RESULT}
    assert check(script, evidence=evidence).doubtful == {WAITS: 1}


def test_a_message_in_a_retry_topic_knows_its_group_by_the_topic():
    script = Script().deliver(0).result(10, "later").send_back(11, level=1)
    script.add(900, Kind.DELIVER, client="c1", topic=RETRY, broker="b", queue=0, offset=20, key="m", attempt=1)
    assert check(script).violated == {WAITS: 1}


def test_dead_letters_of_other_groups_begin_with_the_count_they_died_with():
    # One key, as it failed for two groups; who consumes their dead letters is a third.
    script = Script().deliver(0, 1, offset=3, topic="%DLQ%A").result(1, "ok", 1, offset=3, topic="%DLQ%A")
    script.deliver(2, 2, offset=4, topic="%DLQ%B").result(3, "ok", 2, offset=4, topic="%DLQ%B")
    script.deliver(4, 2, offset=9, topic="%DLQ%C").result(5, "ok", 2, offset=9, topic="%DLQ%C")
    said = check(script, groups={"G": Group(max_attempts=1)})
    assert said.violated == said.doubtful == {}
